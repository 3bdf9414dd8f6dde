//! `incog search`.

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::ValueEnum;
use incog::{Anonymizer, Error, Listing, Result};

use crate::output::print;
use crate::overrides::JobArguments;
use crate::signals::show_progress;

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
    /// With a range of k: where to write a chart of the best score for each k, as SVG
    #[arg(long, visible_alias = "svg", value_name = "FILE")]
    chart: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A readable table
    Text,
    /// One JSON object
    Json,
}

pub(crate) fn run(mut arguments: Arguments) -> Result<ExitCode> {
    if let Some(range) = arguments.job.take_range() {
        return every_k(arguments, range);
    }
    if arguments.chart.is_some() {
        return Err(Error::input("--chart is for a range of k").with_hint("add -k 2..100"));
    }
    let progress = show_progress()?;
    let listing = if arguments.all { Listing::All } else { Listing::Minimal };
    let report =
        Anonymizer::from_job(arguments.job.job()?).progress(progress.shared()).search_listing(listing)?;
    progress.done();
    print(&match arguments.format {
        Format::Json => report.to_json() + "\n",
        Format::Text => report.to_string(),
    })?;
    Ok(if report.obstacle.is_some() { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

/// The best generalization for each k of a range.
fn every_k(arguments: Arguments, range: RangeInclusive<u64>) -> Result<ExitCode> {
    if *range.start() == 0 {
        return Err(Error::input("k is 0").with_hint("start the range at 2: k = 1 asks for nothing"));
    }
    if range.is_empty() {
        return Err(Error::input("the range of k ends before it starts").with_hint("write it as 2..100"));
    }
    if arguments.all {
        return Err(Error::input("--all is for one k").with_hint("give one k, such as -k 5"));
    }
    let progress = show_progress()?;
    let report = Anonymizer::from_job(arguments.job.job()?).progress(progress.shared()).frontier(range)?;
    progress.done();
    if let Some(path) = &arguments.chart {
        report.write_chart(path)?;
    }
    print(&match arguments.format {
        Format::Json => report.to_json() + "\n",
        Format::Text => report.to_string(),
    })?;
    Ok(if report.is_any() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}
