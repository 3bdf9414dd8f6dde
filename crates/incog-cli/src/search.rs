//! `incog search`.

use std::process::ExitCode;

use clap::ValueEnum;
use incog::{Listing, Plan, Result};

use crate::output::print;
use crate::overrides::JobArguments;
use crate::signals::watch;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    job: JobArguments,
    /// How to print the result
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// List every generalization that satisfies the policy, not only the minimal ones
    #[arg(long)]
    all: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A readable table
    Text,
    /// One JSON object
    Json,
}

pub(crate) fn run(arguments: Arguments) -> Result<ExitCode> {
    let watch = watch()?;
    let plan = Plan::new(&arguments.job.job()?, &watch)?;
    let listing = if arguments.all { Listing::All } else { Listing::Minimal };
    let report = plan.search(listing, &watch)?;
    watch.done();
    print(&match arguments.format {
        Format::Json => report.to_json() + "\n",
        Format::Text => report.to_string(),
    })?;
    Ok(if report.obstacle.is_some() { ExitCode::from(1) } else { ExitCode::SUCCESS })
}
