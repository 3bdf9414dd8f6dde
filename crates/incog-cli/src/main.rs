//! The command line: parses arguments, calls the library, prints. stdout is data, stderr is for people.
//!
//! Exit codes: 0 done, 1 nothing satisfies the policy, 2 error.
#![forbid(unsafe_code)]

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand, ValueEnum};
use incog::{Error, ErrorKind, Job, Listing, Plan, Result, Watch};

/// Publishes microdata that cannot be joined back to people, and proves it.
#[derive(Debug, Parser)]
#[command(name = "incog", version, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Find every generalization that satisfies the policy
    ///
    /// Prints which combinations of levels satisfy the job's policy, the minimal ones among them, and the best by
    /// the job's metric. Exit code 0 if there are any, 1 if there are none, 2 on errors.
    Search(SearchArguments),
}

#[derive(Debug, clap::Args)]
struct SearchArguments {
    /// The job file (TOML)
    job: PathBuf,
    /// How to print the result
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// List every generalization that satisfies the policy, not only the minimal ones
    #[arg(long)]
    all: bool,
    /// exhaustive, bottom-up, samarati or incognito [default: incognito]
    #[arg(long, value_name = "NAME")]
    algorithm: Option<String>,
    /// scan, sort, roll-up, super-roots or cube [default: super-roots]
    #[arg(long, value_name = "NAME")]
    checker: Option<String>,
    /// direct or transitive [default: transitive]
    #[arg(long, value_name = "NAME")]
    marking: Option<String>,
    /// How the best one is picked: loss, geometric-loss, height, weighted-height, precision, discernibility or
    /// average-group-size [default: loss]
    #[arg(long, value_name = "NAME")]
    metric: Option<String>,
    /// Size of the smallest group, instead of the job's
    #[arg(short, long, allow_negative_numbers = true)]
    k: Option<i64>,
    /// How many families to search at a time [default: 1]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A readable table
    Text,
    /// One JSON object
    Json,
}

fn main() -> ExitCode {
    let Arguments { command } = Arguments::parse();
    let done = match command {
        Command::Search(arguments) => search(arguments),
    };
    done.unwrap_or_else(|error| {
        for line in error.to_string().lines() {
            complain(&format!("error: {line}"));
        }
        if let Some(hint) = error.hint() {
            complain(&format!("\nhint: {hint}"));
        }
        ExitCode::from(2)
    })
}

fn search(arguments: SearchArguments) -> Result<ExitCode> {
    let mut job = Job::read(&arguments.job)?;
    let settings = &mut job.search;
    for (flag, setting) in [
        (arguments.algorithm, &mut settings.algorithm),
        (arguments.checker, &mut settings.checker),
        (arguments.marking, &mut settings.marking),
        (arguments.metric, &mut settings.metric),
    ] {
        if flag.is_some() {
            *setting = flag;
        }
    }
    settings.threads = arguments.threads.or(settings.threads);
    job.policy.k = arguments.k.unwrap_or(job.policy.k);

    let plan = Plan::new(&job)?;
    let listing = if arguments.all { Listing::All } else { Listing::Minimal };
    let report = plan.search(listing, &Watch::new())?;
    print(&match arguments.format {
        Format::Json => report.to_json() + "\n",
        Format::Text => report.to_string(),
    })?;
    Ok(if report.satisfying == 0 { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

/// Writes data to stdout. A reader that has seen enough (`| head`) is no error.
fn print(text: &str) -> Result<()> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Error::new(ErrorKind::Io, format!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Writes a line for people to stderr. If even that fails there is nobody left to tell.
fn complain(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}
