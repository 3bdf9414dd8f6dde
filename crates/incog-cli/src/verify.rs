//! `incog verify`.

use std::path::PathBuf;
use std::process::ExitCode;

use incog::unstable::checker::{Claims, Fraction, Labels, SensitiveClaim};
use incog::{Anonymizer, AnyJob, Error, Key, PublicKey, Result, Verifier};

use crate::output::{Format, is_quiet, print, print_text};
use crate::signals::show_progress;

/// What a job says itself, or does not claim.
const WITHOUT_JOB: [&str; 11] = [
    "qi",
    "k",
    "combinations",
    "sensitive",
    "alpha",
    "values",
    "distinct_l",
    "entropy_l",
    "recursive",
    "t",
    "ordered",
];

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The released file; of a database, the folder; with a job whose output is a table of PostgreSQL, the table's name
    release: PathBuf,
    /// The release is this table of PostgreSQL, and RELEASE is the server's URL
    #[arg(long, value_name = "NAME")]
    table: Option<String>,
    /// What separates the fields of a CSV file [default: the job's, or found out]
    #[arg(long, value_name = "CHARACTER", value_parser = delimiter)]
    delimiter: Option<u8>,
    /// The job it was made by
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = WITHOUT_JOB
    )]
    job: Option<PathBuf>,
    /// The release record [default: the one beside the release, where neither a job nor columns are given]: everything in it that follows from the release or from its other parts is recomputed. Without --job nobody
    /// can check how many rows the data have, the levels, persons of a group, losses, precision and distortion, and
    /// what is required of listed values; without --key not the digests of data, job and hierarchies
    #[arg(long, value_name = "FILE", conflicts_with_all = WITHOUT_JOB)]
    record: Option<PathBuf>,
    /// The publisher's key: the record's seal is checked, and with --job also its digests of the data, the job and the
    /// hierarchies
    #[arg(long, value_name = "FILE", conflicts_with_all = WITHOUT_JOB)]
    key: Option<PathBuf>,
    /// The publisher's public key: the record must be signed with the private key of the pair
    #[arg(long, value_name = "FILE", conflicts_with_all = WITHOUT_JOB)]
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
    /// Not all quasi-identifiers together but every combination of at most N of them is k-anonymous
    #[arg(long, value_name = "N", requires = "qi")]
    combinations: Option<usize>,
    /// Sensitive columns, separated by commas: alpha, l and t are measured, and compared with what follows
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    sensitive: Vec<String>,
    /// No value has a greater share of a group than this: 0.5, 50% or 1/2
    #[arg(long, value_name = "SHARE", requires = "sensitive", value_parser = share)]
    alpha: Option<Fraction>,
    /// The values that alpha is about, together as if they were one (the simple model), separated by |. Without it alpha is about
    /// each value (the general model)
    #[arg(long, value_name = "VALUES", value_delimiter = '|', requires = "alpha")]
    values: Vec<String>,
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
    /// How to print what was found
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Measure t by the order of values, which must be numbers; otherwise all values are equally far apart
    #[arg(long, requires = "t")]
    ordered: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let progress = show_progress()?;
    arguments.check_combinations()?;
    if !arguments.values.is_empty() && arguments.table.is_none() {
        let released = incog::unstable::cli::read_release(&arguments.release, arguments.delimiter)?;
        arguments.check_values(&*released)?;
    }
    let mut verifier = Verifier::new(&arguments.release);
    if !arguments.qi.is_empty() {
        verifier = verifier.claims(claims(arguments));
    }
    if arguments.job.is_some() && arguments.record.is_none() {
        let wants_record =
            [("--key", arguments.key.is_some()), ("--publisher", arguments.publisher.is_some())];
        if let Some((flag, _)) = wants_record.into_iter().find(|(_, is_given)| *is_given) {
            return Err(Error::input(format!("{flag} is about a record, and none is given beside --job"))
                .with_hint("give it with --record"));
        }
    }
    if let Some(path) = &arguments.key {
        verifier = verifier.key(Key::read(path)?);
    }
    if let Some(path) = &arguments.publisher {
        verifier = verifier.publisher(PublicKey::read(path)?);
    }
    if let Some(path) = &arguments.job {
        let anonymizer = Anonymizer::from_job(AnyJob::read(path)?);
        verifier = verifier.against(anonymizer.progress(progress.shared()));
    }
    if let Some(path) = &arguments.record {
        verifier = verifier.record(path);
    }
    if let Some(table) = &arguments.table {
        verifier = verifier.table(table);
    }
    if let Some(delimiter) = arguments.delimiter {
        verifier = verifier.delimiter(delimiter);
    }
    if arguments.local {
        verifier = verifier.local();
    }
    let examined = verifier.examine()?;
    progress.done();
    match arguments.format {
        Format::Json => print(&(examined.to_json() + "\n"))?,
        Format::Text if is_quiet() => print_text(&format!("verdict: {}\n", examined.verdict()))?,
        Format::Text => print_text(&examined.to_string())?,
    }
    let report = &examined.report;
    // What could not be checked is no forgery, if it is all that does not hold.
    if report.is_undecided() {
        return Err(incog::unstable::cli::not_checked(&report.undecided).with_hint("all other claims hold"));
    }
    Ok(if report.holds() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

impl Arguments {
    /// Fails if the combinations are of more columns than there are, or of none.
    fn check_combinations(&self) -> Result<()> {
        match self.combinations {
            Some(0) => Err(Error::input("--combinations is 0")
                .with_hint("give how many quasi-identifiers are looked at together, such as 3")),
            Some(most) if most > self.qi.len() => Err(Error::input(format!(
                "--combinations is {most}, and --qi names {} columns",
                self.qi.len()
            ))
            .with_hint("leave it out to check all of them together")),
            _ => Ok(()),
        }
    }

    /// Fails if a value that alpha is about is in no row: whoever mistypes a value would find it rare.
    fn check_values(&self, release: &dyn Labels) -> Result<()> {
        let header = release.header();
        let places: Vec<usize> = self
            .sensitive
            .iter()
            .filter_map(|name| header.iter().position(|column| column == name))
            .collect();
        // A column that is not there is found later, with the other claims.
        if places.len() < self.sensitive.len() {
            return Ok(());
        }
        let occurs = |value: &String| {
            places.iter().any(|&at| {
                let column = release.column(at);
                let code = |&code: &u32| column.labels[code as usize] == value;
                column.codes.iter().any(code)
            })
        };
        match self.values.iter().position(|value| !occurs(value)) {
            None => Ok(()),
            Some(at) => Err(Error::input(format!(
                "entry {} of --values is in no row of {}",
                at + 1,
                self.sensitive.join(", ")
            ))
            .with_hint("values are compared letter by letter, as they stand in the release; entries are separated by |")),
        }
    }
}

/// What is claimed of a file of which there is neither a job nor a record.
fn claims(arguments: &Arguments) -> Claims<'static> {
    let claim = |column: &String| SensitiveClaim {
        column: column.clone(),
        alpha: arguments.alpha.filter(|_| arguments.values.is_empty()),
        pooled_alpha: arguments
            .alpha
            .filter(|_| !arguments.values.is_empty())
            .map(|alpha| (alpha, arguments.values.clone())),
        distinct_l: arguments.distinct_l,
        entropy_l: arguments.entropy_l,
        recursive: arguments.recursive,
        t: arguments.t,
        ordered: arguments.ordered,
        ..SensitiveClaim::default()
    };
    Claims {
        quasi_identifiers: arguments.qi.clone(),
        k: arguments.k.unwrap_or(1),
        combinations: arguments.combinations,
        columns: None,
        sensitive: arguments.sensitive.iter().map(claim).collect(),
        source: None,
    }
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
