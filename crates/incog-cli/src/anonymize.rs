//! `incog anonymize`.

use std::error::Error as _;
use std::path::PathBuf;
use std::process::ExitCode;

use incog::unstable::cli::key_of;
use incog::unstable::database::{AnonymizedDatabase, DatabasePlan};
use incog::unstable::job::DatabaseJob;
use incog::{Anonymizer, Error, ErrorKind, Published, Record, Result, Trust};

use crate::destination::OutputArguments;
use crate::output::eprint_error;
use crate::overrides::{JobArguments, from_here};
use crate::signals::{ShownProgress, show_progress};

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    job: JobArguments,
    #[command(flatten)]
    output: OutputArguments,
    /// Apply the levels of this record's release to DATA; rows are suppressed and verified anew
    #[arg(long, value_name = "RECORD")]
    replay: Option<PathBuf>,
}

pub(crate) fn run(arguments: Arguments) -> Result<ExitCode> {
    let progress = show_progress()?;
    let Arguments { job, output, replay } = arguments;
    if let Some(mut database) = job.database()? {
        if replay.is_some() {
            return Err(Error::input(
                "the release of a database cannot be replayed: its clusters are of its persons",
            )
            .with_hint("run the job on the new data"));
        }
        output.apply_to_database(&mut database)?;
        return run_database(&database, progress);
    }
    let anonymizer = match replay {
        None => {
            let mut job = job.job()?;
            output.apply(&mut job)?;
            Anonymizer::from_job(job)
        }
        Some(path) => {
            let record = Record::read(&path, Trust::default())?;
            if record.local.is_some() {
                return Err(Error::input(
                    "a local recoding cannot be replayed: its levels belong to the rows it was made from",
                )
                .with_hint("run the same search on the new data: incog anonymize JOB --input DATA"));
            }
            let mut job = job.replayed(&record, &from_here(path.clone())?)?;
            output.apply(&mut job)?;
            if job.output.as_ref().is_none_or(|output| output.path.is_none()) {
                return Err(Error::input("a replay does not know where to write the release")
                    .with_hint("give --output"));
            }
            let key = key_of(&job)?;
            let key = key
                .as_ref()
                .filter(|&key| Record::read(&path, Trust { key: Some(key), publisher: None }).is_ok());
            if key.is_none() {
                eprint_error(
                    "note: whether the hierarchies are those of the record cannot be told without the key that it is sealed with",
                );
            }
            Anonymizer::from_job(job).like(&record, key)?
        }
    };
    let published = anonymizer.progress(progress.shared()).is_last().publish();
    // Standard output may be the release itself: the summary is for people.
    summarize(progress, published.map(|published: Published| published.to_string()))
}

/// Prints what came of a job.
fn summarize(progress: ShownProgress, published: Result<String>) -> Result<ExitCode> {
    match published {
        Ok(summary) => Ok(done(progress, &summary)),
        Err(error) if error.kind() == ErrorKind::Impossible => {
            progress.done();
            eprint_error("nothing satisfies the policy, nothing was written");
            // Whoever wrote the job knows the policy.
            eprint_error(&error.source().map_or(String::new(), ToString::to_string));
            Ok(ExitCode::from(1))
        }
        Err(error) => Err(error),
    }
}

fn run_database(job: &DatabaseJob, progress: ShownProgress) -> Result<ExitCode> {
    match DatabasePlan::new(job, &progress)?.anonymize(&progress)? {
        AnonymizedDatabase::Published(published) => Ok(done(progress, &published.to_string())),
        AnonymizedDatabase::Impossible(obstacle) => Ok(impossible(progress, &obstacle)),
    }
}

fn done(progress: ShownProgress, summary: &str) -> ExitCode {
    progress.done();
    eprint_error(summary.trim_end());
    ExitCode::SUCCESS
}

fn impossible(progress: ShownProgress, obstacle: &str) -> ExitCode {
    progress.done();
    eprint_error("nothing satisfies the policy, nothing was written");
    eprint_error(obstacle);
    ExitCode::from(1)
}
