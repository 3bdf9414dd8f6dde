//! `incog anonymize`.

use std::path::PathBuf;
use std::process::ExitCode;

use incog::{Anonymized, Job, Plan, Result};

use crate::output::complain;
use crate::overrides::Overrides;
use crate::signals::watch;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The job file (TOML)
    job: PathBuf,
    /// Where to write the release, instead of where the job says; `-` is standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    overrides: Overrides,
}

pub(crate) fn run(arguments: Arguments) -> Result<ExitCode> {
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
