//! The command line: parses arguments, calls the library, prints. stdout is data, stderr is for people.
//!
//! Exit codes: 0 done, 1 nothing satisfies the policy (or a check says no), 2 error; 130, 143 and 129 when a signal ended it (Ctrl-C,
//! SIGTERM, SIGHUP).
#![forbid(unsafe_code)]

mod init;
mod init_json;
mod key;
mod anonymize;
mod search;
mod compare;
mod verify;
mod hierarchy;
mod list;
mod explain;
mod words;
mod schema;
mod shell;
mod destination;
mod names;
mod overrides;
mod signals;
mod threads;
mod output;

use std::process::ExitCode;

use crate::output::eprint_error;
use clap::{CommandFactory, Parser, Subcommand};

/// Columns of millions of rows are mostly memory that is touched for the first time.
#[global_allocator]
static ALLOCATOR: incog_kernels::LargePages = incog_kernels::LargePages;

/// Publishes microdata that cannot be joined back to people, and proves it.
#[derive(Debug, Parser)]
#[command(
    name = "incog",
    version,
    arg_required_else_help = true,
    after_help = "Exit codes: 0 done, 1 nothing satisfies the policy or a check says no, 2 error, 130, 143 and 129 when a \
                  signal ended it (Ctrl-C, SIGTERM, SIGHUP)."
)]
struct Arguments {
    /// Print what was asked for and errors, nothing else: no progress, no notes, of a summary the last line alone
    #[arg(short, long, global = true)]
    quiet: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Profile a data file, propose roles and hierarchies, and write a job file
    ///
    /// Counts what is in each column and which few columns single people out, and writes a job with a role, a hierarchy
    /// and the reason for each column. Where it cannot tell, the role is `decide`, and `anonymize` waits for you to
    /// replace it. No cell of the data gets into the job or onto the screen. Exit code 0 if written, 2 on errors.
    Init(init::Arguments),
    /// Find the best generalization, verify the release and write it
    ///
    /// Picks the generalization that satisfies the job's policy and is best by its metric, applies it, has the result
    /// checked independently, and only then writes it. With `--algorithm top-down` rows of one column stand at different
    /// levels. A job with `[database]` is about persons in many tables, and its release is a folder. Exit code 0 if written,
    /// 1 if nothing satisfies the policy, 2 on errors.
    Anonymize(anonymize::Arguments),
    /// Find every generalization that satisfies the policy
    ///
    /// Prints which combinations of levels satisfy the job's policy, the minimal ones among them, and the best by
    /// the job's metric. With a range of k (`-k 2..100`) it prints the best generalization for each k instead:
    /// what one more person in a group costs. Exit code 0 if there are any, 1 if there are none, 2 on errors.
    Search(search::Arguments),
    /// Compare recoding models on the same data
    ///
    /// Makes and verifies a release by each model, measures it and prints one table; no release is written. Exit code
    /// 0 if any model has a release, 1 if none has, 2 on errors.
    Compare(compare::Arguments),
    /// Check a released file, from whatever tool
    ///
    /// With --job, against the job and its data: columns, k, persons, every row, what was suppressed. With --qi and
    /// -k, what can be seen from the file itself; with --sensitive also how much it tells of sensitive values, compared
    /// with thresholds where any are given. The folder of a database release takes --job or --record. Exit code 0 if all claims hold, 1 if not, 2 if it could not be checked.
    Verify(verify::Arguments),
    /// Make keys that sign releases
    Key(key::Arguments),
    /// Show, check or make hierarchies: what values may become
    ///
    /// Works on the columns of a job, on a hierarchy file, or on a rule written as in a job file.
    Hierarchy(hierarchy::Arguments),
    /// List every privacy model, algorithm, checker, marking, metric and way to decide
    List(list::Arguments),
    /// Explain a name that `incog list` prints, or a word of job files
    ///
    /// Prints its kind and status, what it promises, when to use it, an example, its limits and where it comes from. Also
    /// explains every key and value of job files, words such as quasi-identifier, role, level and risk, and other names that they
    /// go by. Exit code 2 if there is nothing of that name.
    Explain(explain::Arguments),
    /// Print the JSON Schema of job files, for editors, or of what a command prints with --format json
    ///
    /// Each JSON object that a command prints says in its first field, `schema`, by which schema and version it is written.
    Schema(schema::Arguments),
    /// Print a script that completes commands and flags in a shell
    ///
    /// Put what it prints where the shell looks for completions: for bash the file
    /// /usr/share/bash-completion/completions/incog, for zsh a file _incog in a folder of fpath, for fish
    /// ~/.config/fish/completions/incog.fish.
    Completions(shell::CompletionsArguments),
    /// Print the manual page of incog or of one command
    ///
    /// Read it with `incog man | man -l -`, or put it into a folder of your MANPATH.
    Man(shell::ManArguments),
}

/// Hashes have a seed of their own in each process, so that nobody can prepare data for it; nothing depends on it. Tests set it to show
/// that.
fn fix_hash_seed() {
    if let Some(seed) = std::env::var("INCOG_HASH_SEED").ok().and_then(|seed| seed.parse().ok()) {
        incog::unstable::cli::set_hash_seed(seed);
    }
}

fn main() -> ExitCode {
    signals::outlive_file_limits();
    threads::expect_memory_to_end();
    fix_hash_seed();
    let Arguments { command, quiet } = Arguments::parse();
    output::be_quiet(quiet);
    let done = match command {
        Command::Init(arguments) => init::run(&arguments),
        Command::Anonymize(arguments) => anonymize::run(arguments),
        Command::Search(arguments) => search::run(arguments),
        Command::Compare(arguments) => compare::run(arguments),
        Command::Verify(arguments) => verify::run(&arguments),
        Command::Key(arguments) => key::run(&arguments),
        Command::Hierarchy(arguments) => hierarchy::run(&arguments),
        Command::List(arguments) => list::run(&arguments),
        Command::Explain(arguments) => explain::run(&arguments),
        Command::Schema(arguments) => schema::run(&arguments),
        Command::Completions(arguments) => shell::completions(&arguments, Arguments::command()),
        Command::Man(arguments) => shell::man(&arguments, Arguments::command()),
    };
    done.unwrap_or_else(|error| {
        for line in error.to_string().lines() {
            eprint_error(&format!("error: {line}"));
        }
        if let Some(hint) = error.hint() {
            eprint_error(&format!("\nhint: {hint}"));
        }
        ExitCode::from(2)
    })
}
