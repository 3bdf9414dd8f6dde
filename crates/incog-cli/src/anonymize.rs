//! `incog anonymize`.

use std::error::Error as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use incog::unstable::cli::{key_of, warnings_to_json};
use incog::{Anonymizer, AnyJob, Error, ErrorKind, Record, Result, Trust};

use crate::destination::OutputArguments;
use crate::output::{Format, eprint_error, eprint_text, is_quiet, print};
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
    /// Check the job against the data and tell all mistakes and warnings; nothing is searched or written
    #[arg(long, conflicts_with = "replay")]
    check: bool,
    /// How to print the summary: text goes to standard error; JSON to standard output, unless the release does
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

pub(crate) fn run(arguments: Arguments) -> Result<ExitCode> {
    let progress = show_progress()?;
    let Arguments { job, output, replay, format, check } = arguments;
    if check {
        return checked(job, output, format, progress);
    }
    let anonymizer = match replay {
        None => {
            let mut job = job.any_job()?;
            output.apply(&mut job)?;
            Anonymizer::from_job(job)
        }
        Some(path) => replayed(job, output, &path)?,
    };
    match anonymizer.progress(progress.shared()).is_last().publish() {
        Ok(published) => {
            progress.done();
            // Standard output may be the release itself.
            match format {
                Format::Json if published.path != Path::new("-") => print(&(published.to_json() + "\n"))?,
                Format::Json => eprint_error(&published.to_json()),
                Format::Text if is_quiet() => eprint_error(&published.verdict()),
                Format::Text => eprint_error(published.to_string().trim_end()),
            }
            Ok(ExitCode::SUCCESS)
        }
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

/// What there is to say of a job before it is run.
fn checked(
    job: JobArguments,
    output: OutputArguments,
    format: Format,
    progress: ShownProgress,
) -> Result<ExitCode> {
    let mut job = job.any_job()?;
    output.apply(&mut job)?;
    let warnings = Anonymizer::from_job(job).progress(progress.shared()).warnings()?;
    progress.done();
    match format {
        Format::Json => print(&(warnings_to_json(&warnings) + "\n"))?,
        Format::Text => {
            warnings.iter().for_each(|warning| eprint_error(warning));
            let found = match warnings.len() {
                0 => "no mistakes, and nothing to warn of".to_owned(),
                1 => "no mistakes, and 1 warning above".to_owned(),
                n => format!("no mistakes, and {n} warnings above"),
            };
            eprint_error(&format!("{found}; nothing was searched or written"));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The job that does to other data what was done to the release of a record.
fn replayed(job: JobArguments, output: OutputArguments, path: &Path) -> Result<Anonymizer> {
    if job.is_about_database()? {
        return Err(Error::input(
            "the release of a database cannot be replayed: its clusters are of its persons",
        )
        .with_hint("run the job on the new data"));
    }
    let record = Record::read(path, Trust::default())?;
    if record.local().is_some() {
        return Err(Error::input(
            "a local recoding cannot be replayed: its levels belong to the rows it was made from",
        )
        .with_hint("run the same search on the new data: incog anonymize JOB --input DATA"));
    }
    let mut job = AnyJob::Table(job.replayed(&record, &from_here(path.to_owned())?)?);
    output.apply(&mut job)?;
    let job = job.table().ok_or_else(|| Error::new(ErrorKind::Internal, "a job has changed its kind"))?;
    if job.output.as_ref().is_none_or(|output| output.path.is_none()) {
        return Err(
            Error::input("a replay does not know where to write the release").with_hint("give --output")
        );
    }
    let key = key_of(&job)?;
    let key =
        key.as_ref().filter(|&key| Record::read(path, Trust { key: Some(key), publisher: None }).is_ok());
    if key.is_none() {
        eprint_text(
            "note: whether the hierarchies are those of the record cannot be told without the key that it is sealed with",
        );
    }
    Anonymizer::from_job(job).like(&record, key)
}
