//! The command line: parses arguments, calls the library, prints. stdout is data, stderr is for people.
//!
//! Exit codes: 0 done, 1 nothing satisfies the policy (or a check says no), 2 error.
#![forbid(unsafe_code)]

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Parser, Subcommand, ValueEnum};
use incog::registry::Entry;
use incog::verify::Claims;
use incog::{Anonymized, Error, ErrorKind, Job, Listing, Plan, Result, Watch};

/// Publishes microdata that cannot be joined back to people, and proves it.
#[derive(Debug, Parser)]
#[command(name = "incog", version, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Find the best generalization, verify the release and write it
    ///
    /// Picks the generalization that satisfies the job's policy and is best by its metric, applies it, has the result
    /// checked independently, and only then writes it. Exit code 0 if written, 1 if nothing satisfies the policy,
    /// 2 on errors.
    Anonymize(AnonymizeArguments),
    /// Find every generalization that satisfies the policy
    ///
    /// Prints which combinations of levels satisfy the job's policy, the minimal ones among them, and the best by
    /// the job's metric. Exit code 0 if there are any, 1 if there are none, 2 on errors.
    Search(SearchArguments),
    /// Check a released file, from whatever tool
    ///
    /// With --job, against the job and its data: columns, k, persons, every row, what was suppressed. With --qi and
    /// -k alone, what can be seen from the file itself. Exit code 0 if all claims hold, 1 if not, 2 if it could not be
    /// checked.
    Verify(VerifyArguments),
    /// List every algorithm, checker, marking, metric and privacy model
    List,
    /// Print the JSON Schema of job files, for editors
    Schema,
}

#[derive(Debug, clap::Args)]
struct AnonymizeArguments {
    /// The job file (TOML)
    job: PathBuf,
    /// Where to write the release, instead of where the job says; `-` is standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    overrides: Overrides,
}

#[derive(Debug, clap::Args)]
struct VerifyArguments {
    /// The released CSV file
    release: PathBuf,
    /// The job it was made by
    #[arg(long, value_name = "FILE", conflicts_with_all = ["qi", "k", "sensitive"], required_unless_present = "qi")]
    job: Option<PathBuf>,
    /// The quasi-identifiers, separated by commas
    #[arg(long, value_name = "NAMES", value_delimiter = ',', requires = "k")]
    qi: Vec<String>,
    /// Size of the smallest group
    #[arg(short, long)]
    k: Option<u64>,
    /// Sensitive columns, separated by commas: alpha, l and t are measured
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    sensitive: Vec<String>,
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
    #[command(flatten)]
    overrides: Overrides,
}

/// Settings that take the place of the job's.
#[derive(Debug, clap::Args)]
struct Overrides {
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

impl Overrides {
    fn apply(self, job: &mut Job) {
        let settings = &mut job.search;
        for (key, flag, setting) in [
            ("algorithm", self.algorithm, &mut settings.algorithm),
            ("checker", self.checker, &mut settings.checker),
            ("marking", self.marking, &mut settings.marking),
            ("metric", self.metric, &mut settings.metric),
        ] {
            if flag.is_some() {
                *setting = flag;
                job.lines.forget(&["search", key]);
            }
        }
        if self.threads.is_some() {
            settings.threads = self.threads;
            job.lines.forget(&["search", "threads"]);
        }
        if let Some(k) = self.k {
            job.policy.k = k;
            job.lines.forget(&["policy", "k"]);
        }
    }
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
        Command::Anonymize(arguments) => anonymize(arguments),
        Command::Search(arguments) => search(arguments),
        Command::Verify(arguments) => verify(&arguments),
        Command::List => list(),
        Command::Schema => print(&(Job::schema() + "\n")).map(|()| ExitCode::SUCCESS),
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

/// The one watch of this run: a signal cancels it, so that nothing half-written is left behind. A second one ends the
/// process at once, should it hang in a read.
fn watch() -> Result<Arc<Watch>> {
    let watch = Arc::new(Watch::new());
    let cancelled = Arc::clone(&watch);
    let handler = move || {
        if cancelled.is_cancelled() {
            std::process::exit(2);
        }
        cancelled.cancel();
    };
    ctrlc::set_handler(handler)
        .map_err(|error| Error::new(ErrorKind::Io, format!("cannot listen for signals: {error}")))?;
    Ok(watch)
}

fn anonymize(arguments: AnonymizeArguments) -> Result<ExitCode> {
    let watch = watch()?;
    let mut job = Job::read(&arguments.job)?;
    arguments.overrides.apply(&mut job);
    let plan = Plan::new(&job, &watch)?;
    match plan.anonymize(arguments.output.as_deref(), &watch)? {
        Anonymized::Published(published) => {
            // Standard output may be the release itself: the summary is for people.
            complain(published.to_string().trim_end());
            Ok(ExitCode::SUCCESS)
        }
        Anonymized::Impossible(obstacle) => {
            complain("nothing satisfies the policy, nothing was written");
            complain(&obstacle);
            Ok(ExitCode::from(1))
        }
    }
}

fn search(arguments: SearchArguments) -> Result<ExitCode> {
    let watch = watch()?;
    let mut job = Job::read(&arguments.job)?;
    arguments.overrides.apply(&mut job);
    let plan = Plan::new(&job, &watch)?;
    let listing = if arguments.all { Listing::All } else { Listing::Minimal };
    let report = plan.search(listing, &watch)?;
    print(&match arguments.format {
        Format::Json => report.to_json() + "\n",
        Format::Text => report.to_string(),
    })?;
    Ok(if report.satisfying == 0 { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

fn verify(arguments: &VerifyArguments) -> Result<ExitCode> {
    let report = match &arguments.job {
        Some(job) => Plan::new(&Job::read(job)?, &Watch::new())?.verify(&arguments.release)?,
        None => {
            let claims = Claims {
                quasi_identifiers: arguments.qi.clone(),
                k: arguments.k.unwrap_or(1),
                columns: None,
                sensitive: arguments.sensitive.clone(),
                source: None,
            };
            incog::verify::check(&incog::read_strings(&arguments.release, None)?, &claims)
        }
    };
    print(&incog::render_report(&report))?;
    Ok(if report.holds() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn list() -> Result<ExitCode> {
    let mut text = String::new();
    section(&mut text, "privacy models", incog::privacy::ALL);
    section(&mut text, "algorithms", incog::algorithm::ALL);
    section(&mut text, "checkers", incog::check::ALL);
    section(&mut text, "marking", incog::algorithm::MARKINGS);
    section(&mut text, "metrics", incog::metric::ALL);
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn section<T>(text: &mut String, title: &str, entries: &[Entry<T>]) {
    text.push_str(&format!("{title}\n"));
    for entry in entries {
        text.push_str(&format!("  {:<20}{}\n{:22}{}\n", entry.name, entry.summary, "", entry.reference));
    }
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
