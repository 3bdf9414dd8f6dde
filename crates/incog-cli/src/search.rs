//! `incog search`.

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::process::ExitCode;

use incog::{Anonymizer, Error, Listing, Result};

use crate::output::{Format, print, print_text};
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
    /// Tell of every subset of the quasi-identifiers which generalizations satisfy the policy
    #[arg(long, conflicts_with_all = ["all", "chart"])]
    subsets: bool,
    /// With --subsets: how many columns the largest subsets have [default: all]
    #[arg(long, value_name = "N", requires = "subsets")]
    max_subset: Option<usize>,
    /// Tell how Incognito finds the generalizations: candidates, checks, marks and survivors of each iteration. For small lattices
    #[arg(long, conflicts_with_all = ["all", "chart", "subsets"])]
    trace: bool,
    /// With a range of k: where to write a chart of the best score for each k: as PNG where the name ends in .png, as SVG
    /// otherwise
    #[arg(long, visible_alias = "svg", value_name = "FILE")]
    chart: Option<PathBuf>,
}

pub(crate) fn run(mut arguments: Arguments) -> Result<ExitCode> {
    if let Some(range) = arguments.job.take_range() {
        if arguments.subsets || arguments.trace {
            return Err(
                Error::input("--subsets and --trace are for one k").with_hint("give one k, such as -k 5")
            );
        }
        return every_k(arguments, range);
    }
    if arguments.chart.is_some() {
        return Err(Error::input("--chart is for a range of k").with_hint("add -k 2..100"));
    }
    if arguments.subsets {
        return subsets(arguments);
    }
    if arguments.trace {
        return trace(arguments);
    }
    let progress = show_progress()?;
    let listing = if arguments.all { Listing::All } else { Listing::Minimal };
    let report =
        Anonymizer::from_job(arguments.job.job()?).progress(progress.shared()).search_listing(listing)?;
    progress.done();
    match arguments.format {
        Format::Json => print(&(report.to_json() + "\n"))?,
        Format::Text => print_text(&report.to_string())?,
    }
    Ok(if report.obstacle.is_some() { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

/// What satisfies the policy, subset by subset.
fn subsets(arguments: Arguments) -> Result<ExitCode> {
    if arguments.max_subset == Some(0) {
        return Err(Error::input("--max-subset is 0")
            .with_hint("give how many columns are looked at together, such as 3"));
    }
    let progress = show_progress()?;
    let anonymizer = Anonymizer::from_job(arguments.job.job()?).progress(progress.shared());
    let report = anonymizer.search_subsets(arguments.max_subset)?;
    progress.done();
    match arguments.format {
        Format::Json => print(&(report.to_json() + "\n"))?,
        Format::Text => print_text(&report.to_string())?,
    }
    Ok(if report.is_any() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// How the search went.
fn trace(arguments: Arguments) -> Result<ExitCode> {
    let progress = show_progress()?;
    let report = Anonymizer::from_job(arguments.job.job()?).progress(progress.shared()).trace()?;
    progress.done();
    match arguments.format {
        Format::Json => print(&(report.to_json() + "\n"))?,
        Format::Text => print_text(&report.to_string())?,
    }
    Ok(if report.is_any() { ExitCode::SUCCESS } else { ExitCode::from(1) })
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
    match arguments.format {
        Format::Json => print(&(report.to_json() + "\n"))?,
        Format::Text => print_text(&report.to_string())?,
    }
    Ok(if report.is_any() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}
