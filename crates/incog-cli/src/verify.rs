//! `incog verify`.

use std::path::PathBuf;
use std::process::ExitCode;

use incog::verify::{Claims, SensitiveClaim};
use incog::{Job, Plan, Result, Watch};

use crate::output::print;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
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

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let report = match &arguments.job {
        Some(job) => Plan::new(&Job::read(job)?, &Watch::new())?.verify(&arguments.release)?,
        None => {
            let claims = Claims {
                quasi_identifiers: arguments.qi.clone(),
                k: arguments.k.unwrap_or(1),
                columns: None,
                sensitive: arguments.sensitive.iter().cloned().map(SensitiveClaim::measured).collect(),
                source: None,
            };
            incog::verify::check(&incog::read_strings(&arguments.release, None)?, &claims)
        }
    };
    print(&incog::render_report(&report))?;
    Ok(if report.holds() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}
