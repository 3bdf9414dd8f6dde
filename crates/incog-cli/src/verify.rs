//! `incog verify`.

use std::path::PathBuf;
use std::process::ExitCode;

use incog::unstable::checker::{ClaimKind, Claims, Finding, Fraction, RecodingClaim, SensitiveClaim};
use incog::unstable::database::{DatabasePlan, DatabaseRecord};
use incog::unstable::job::{AnyJob, DatabaseJob};
use incog::{Anonymizer, Error, Job, Key, PublicKey, Record, Result, Trust};

use crate::output::print;
use crate::signals::{ShownProgress, show_progress};

/// What a job says itself, or does not claim.
const WITHOUT_JOB: [&str; 9] =
    ["qi", "k", "sensitive", "alpha", "distinct_l", "entropy_l", "recursive", "t", "ordered"];

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The released file; of a database, the folder
    release: PathBuf,
    /// What separates the fields of a CSV file [default: the job's, or found out]
    #[arg(long, value_name = "CHARACTER", value_parser = delimiter)]
    delimiter: Option<u8>,
    /// The job it was made by
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = WITHOUT_JOB,
        required_unless_present_any = ["qi", "record"]
    )]
    job: Option<PathBuf>,
    /// The release record: everything in it that follows from the release or from its other parts is recomputed. Without --job nobody
    /// can check how many rows the data have, the levels, persons of a group, losses, precision and distortion, and
    /// what is required of listed values; without --key not the digests of data, job and hierarchies
    #[arg(long, value_name = "FILE", conflicts_with_all = WITHOUT_JOB)]
    record: Option<PathBuf>,
    /// The publisher's key: the record's seal is checked, and with --job also its digests of the data, the job and the
    /// hierarchies
    #[arg(long, value_name = "FILE", requires = "record", conflicts_with_all = WITHOUT_JOB)]
    key: Option<PathBuf>,
    /// The publisher's public key: the record must be signed with the private key of the pair
    #[arg(long, value_name = "FILE", requires = "record", conflicts_with_all = WITHOUT_JOB)]
    publisher: Option<PathBuf>,
    /// The release was generalized cell by cell, not column by column: each row must have an input row of its own. Not
    /// needed where the job or the record says so
    #[arg(long, requires = "job", conflicts_with_all = WITHOUT_JOB, conflicts_with = "record")]
    local: bool,
    /// The quasi-identifiers, separated by commas
    #[arg(long, value_name = "NAMES", value_delimiter = ',', requires = "k")]
    qi: Vec<String>,
    /// Size of the smallest group
    #[arg(short, long, value_parser = clap::value_parser!(u64).range(1..))]
    k: Option<u64>,
    /// Sensitive columns, separated by commas: alpha, l and t are measured, and compared with what follows
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    sensitive: Vec<String>,
    /// No value has a greater share of a group than this: 0.5, 50% or 1/2
    #[arg(long, value_name = "SHARE", requires = "sensitive", value_parser = share)]
    alpha: Option<Fraction>,
    /// Every group has at least L distinct values
    #[arg(long, value_name = "L", requires = "sensitive", value_parser = clap::value_parser!(u64).range(1..))]
    distinct_l: Option<u64>,
    /// Every group's entropy is at least that of L equal shares
    #[arg(long, value_name = "L", requires = "sensitive", value_parser = at_least_one)]
    entropy_l: Option<Fraction>,
    /// A group's most frequent value has less than C times the rows of all values from the L-th on: 3,2
    #[arg(long, value_name = "C,L", requires = "sensitive", value_parser = c_and_l)]
    recursive: Option<(Fraction, u64)>,
    /// No group's distribution of values is farther than this from the whole file's: 0 to 1
    #[arg(long, value_name = "DISTANCE", requires = "sensitive", value_parser = share)]
    t: Option<Fraction>,
    /// Measure t by the order of values, which must be numbers; otherwise all values are equally far apart
    #[arg(long, requires = "t")]
    ordered: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let progress = show_progress()?;
    let recoding = if arguments.local { RecodingClaim::Local } else { RecodingClaim::FullDomain };
    let key = arguments.key.as_deref().map(Key::read).transpose()?;
    let publisher = arguments.publisher.as_deref().map(PublicKey::read).transpose()?;
    let trust = Trust { key: key.as_ref(), publisher: publisher.as_ref() };
    let job = arguments.job.as_deref().map(AnyJob::read).transpose()?;
    let is_database = match &job {
        Some(AnyJob::Database(_)) => true,
        Some(AnyJob::Table(_)) => false,
        None => arguments.release.is_dir(),
    };
    if is_database {
        return run_database(arguments, job.and_then(AnyJob::database), trust, progress);
    }
    let record = arguments.record.as_deref().map(|path| Record::read(path, trust)).transpose()?;
    let job: Option<Job> = job.and_then(AnyJob::table);
    let anonymizer = |job: Job| Anonymizer::from_job(job).progress(progress.shared());
    let (release, delimiter) = (arguments.release.as_path(), arguments.delimiter);
    let mut report = match (job, &record) {
        (Some(job), None) => anonymizer(job).verify_file(release, delimiter, recoding)?,
        (Some(job), Some(record)) => anonymizer(job).verify_record(release, delimiter, record, trust.key)?,
        (None, Some(record)) => incog::check_against_record(release, record, delimiter)?,
        (None, None) => {
            let claim = |column: &String| SensitiveClaim {
                column: column.clone(),
                alpha: arguments.alpha,
                distinct_l: arguments.distinct_l,
                entropy_l: arguments.entropy_l,
                recursive: arguments.recursive,
                t: arguments.t,
                ordered: arguments.ordered,
                ..SensitiveClaim::default()
            };
            let claims = Claims {
                quasi_identifiers: arguments.qi.clone(),
                k: arguments.k.unwrap_or(1),
                columns: None,
                sensitive: arguments.sensitive.iter().map(claim).collect(),
                source: None,
            };
            incog::unstable::checker::check(
                &*incog::unstable::cli::read_release(release, delimiter)?,
                &claims,
            )
        }
    };
    report.findings.extend(record.and_then(|record| signed(record.publisher, trust)));
    progress.done();
    print(&incog::unstable::cli::render_report(&report))?;
    verdict(report.holds(), report.is_undecided(), &report.undecided)
}

/// What could not be checked is no forgery, if it is all that does not hold.
fn verdict(holds: bool, is_undecided: bool, undecided: &[Finding]) -> Result<ExitCode> {
    if is_undecided {
        return Err(incog::unstable::cli::not_checked(undecided).with_hint("all other claims hold"));
    }
    Ok(if holds { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// The folder of a database release.
fn run_database(
    arguments: &Arguments,
    job: Option<DatabaseJob>,
    trust: Trust<'_>,
    progress: ShownProgress,
) -> Result<ExitCode> {
    let record = arguments.record.as_deref().map(|path| DatabaseRecord::read(path, trust)).transpose()?;
    let (release, delimiter) = (&arguments.release, arguments.delimiter);
    if arguments.local {
        return Err(Error::input(
            "--local is for one table: the rows of a database are recoded person by person",
        ));
    }
    let mut report = match (job, &record) {
        (Some(job), None) => DatabasePlan::for_verification(&job, &progress)?.verify(release, delimiter)?,
        (Some(job), Some(record)) => DatabasePlan::for_verification(&job, &progress)?
            .verify_record(release, delimiter, record, trust.key)?,
        (None, Some(record)) => {
            incog::unstable::database::verify_database_against(release, record, delimiter)?
        }
        (None, None) => {
            return Err(Error::input(
                "the release is a folder; columns alone do not say how its tables belong together",
            )
            .with_hint("give --job, or the --record in the folder"));
        }
    };
    report.findings.extend(record.and_then(|record| signed(record.publisher, trust)));
    progress.done();
    print(&incog::unstable::cli::render_report(&report))?;
    verdict(report.holds(), report.is_undecided(), &report.undecided)
}

/// What there is to say of a record's signature, which was found to be right when it was read.
fn signed(publisher: Option<String>, trust: Trust<'_>) -> Option<Finding> {
    let key = publisher?;
    Some(Finding {
        kind: ClaimKind::Signature,
        claim: "the record is signed".into(),
        found: match trust.publisher {
            Some(_) => "with the publisher's key".into(),
            None => format!("with {key}; whether that is the publisher's, --publisher tells"),
        },
        holds: true,
    })
}

fn delimiter(text: &str) -> std::result::Result<u8, String> {
    match text.as_bytes() {
        [byte] if byte.is_ascii() && !b"\"\r\n".contains(byte) => Ok(*byte),
        _ => Err("not one ASCII character that is neither a quote nor a line break".into()),
    }
}

fn share(text: &str) -> std::result::Result<Fraction, String> {
    let share: Fraction = text.parse()?;
    if share > Fraction::from(1) {
        return Err("more than 1; a share or distance lies between 0 and 1, or 0% and 100%".into());
    }
    Ok(share)
}

fn at_least_one(text: &str) -> std::result::Result<Fraction, String> {
    let number: Fraction = text.parse()?;
    if number < Fraction::from(1) {
        return Err("less than 1; every group has at least one value".into());
    }
    Ok(number)
}

fn c_and_l(text: &str) -> std::result::Result<(Fraction, u64), String> {
    let (c, l) = text.split_once(',').ok_or("not two numbers with a comma between them, like 3,2")?;
    let c: Fraction = c.parse().map_err(|problem| format!("c is {problem}"))?;
    if c == Fraction::from(0) {
        return Err("c is 0; it must be greater".into());
    }
    let l = l.parse().ok().filter(|&l: &u64| l >= 1).ok_or("l is not a whole number of at least 1")?;
    Ok((c, l))
}
