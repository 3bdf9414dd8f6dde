//! The release record: what was published, how, and what was measured, for everybody to recompute.
//!
//! `<release>.incog.json` is canonical JSON ([`json`]): keys sorted, no white space, whole numbers and text only, so that
//! equal records are equal bytes. It contains no cell. What it says is believed by nobody: [`Record::first_difference`]
//! compares it with one that was made anew, [`Record::against_release`] with what the release alone can tell.
//!
//! One type serves the release of one table and that of a database, which has several. Their files differ ([`layout`]); of a
//! database's, anybody can recompute files, classes and what sensitive columns reach, and with the job and the data also what was
//! removed and what it cost.
//!
//! For each part of a file of one table: who can recompute it, and what could follow from it about a row that was suppressed.
//!
//! | key | what | who can recompute it | what it tells beyond the release |
//! |---|---|---|---|
//! | `release` | SHA-256, rows and columns of the released file | anybody | nothing |
//! | `quasi_identifiers`, `claims` | k (of combinations of quasi-identifiers, where it is), α, ℓ and t as asked for and as reached | anybody; persons and requirements that list values with the job and the data | what was asked for; persons of the group with the fewest |
//! | `group_sizes` | how many groups have how many rows | anybody | nothing |
//! | `input.rows`, `suppressed_rows` | rows of the data, rows left out | with the data | how many rows were left out, not whose |
//! | `input.hmac_sha256` | a *keyed* digest of the data | the publisher, with the key | nothing without the key |
//! | `places` | where data and release are, and where groups were counted and the release verified, if one of them is in a database | nobody; digests of what nobody has read as bytes are empty then | names of the server, the database and the tables, without whoever logged in |
//! | `levels` | the generalization | with the job and the data | that no finer one that is better could be published; at the top of a mask without `length`, its length (below) |
//! | `local` | instead of `levels`: how many rows of a column stand at which level, a *keyed* digest of the seed | with the job and the data; the digest with the key | nothing that a reader with the hierarchies cannot count; levels of a mask as above |
//! | `scores` | the cost by every metric | those of levels and group sizes anybody, the others with the job and the data | losses count the values below a label, also those that only suppressed rows have: they are rounded to four decimals, which says little, but not nothing. Precision and distortion depend on how high hierarchies are, and so tell the length of a mask (below) |
//! | `job` | the job without paths, seed, and lists of values or labels | nobody needs to | the rules as they were written: names of columns, widths, bounds. The length of a mask that the job leaves open stands there only where the column is not released as collected |
//! | `job_hmac_sha256` | a *keyed* digest of the whole job, lists included | the publisher, with the key and the job | nothing without the key |
//! | `hierarchies` | a *keyed* digest of each hierarchy's file or rule | the publisher, with the key and the files | nothing without the key |
//! | `publisher`, `signature` | a public key, and a signature by the other one of the pair | who has the public key can check it | who signed |
//! | `checksum`, `seal` | SHA-256 of all the rest, and the same keyed | anybody; the publisher | nothing |
//!
//! The length of a mask that the job leaves open is the greatest that at least k rows (persons, where they are counted) have or exceed
//! (`mask_length`). So it says: at least k are as long, and fewer than k are longer. It does not say how long those are, how many, or
//! whether there are any. The k rows need not be *released* ones: which rows are left out depends on the hierarchy, and so on the
//! length. If all of them are left out, in groups that are too small, the length still tells that there are k such rows or more. That is a
//! statement about k rows, as a group of the release is one; who knows k - 1 of them learns of the last, as in any group of k. Where this is
//! too much, the job gives `length`, and then nothing follows.
//!
//! Why keyed: a plain digest of something small confirms guesses, and the values of a hierarchy file may be those of
//! suppressed rows. Who has neither key nor files cannot tell whether a hierarchy is the one that was used; the labels in the release
//! are what counts for them.

pub(crate) mod consistency;
mod hex;
pub(crate) mod job_text;
mod json;
mod key;
mod layout;
mod parts;
mod seal;
mod signature;

pub use key::Key;
pub use parts::{
    ClaimsPart, FilePart, LocalColumnPart, LocalPart, PlacesPart, RecodingPart, SensitivePart, TablePart,
};
pub use seal::Trust;
pub use signature::{PrivateKey, PublicKey};

pub(crate) use hex::hex;
pub(crate) use job_text::{JobText, hierarchies};
pub(crate) use json::difference;
pub(crate) use seal::{sealed, unsealed};

use std::collections::BTreeMap;
use std::path::Path;

use incog_core::hierarchy::Attribute;
use incog_core::metric::{self, Costs, Metric, Statistics};
use incog_core::{Error, ErrorKind, Result};
use incog_verify::{Measured, Report};
use sha2::{Digest, Sha256};

use crate::claim::measured::LocalRelease;
use crate::file;
use crate::job::{AnyJob, DatabaseJob, Job, Lines, Mistakes, patterns};
use crate::plan::Plan;
use crate::plan::requirements;

/// The layout of records that this version writes and reads.
pub(crate) const VERSION: u32 = 2;

/// What a record's file name adds to the release's.
pub(crate) const ENDING: &str = ".incog.json";

/// The name of the record in the folder of a database's release.
pub(crate) const RECORD: &str = "release.incog.json";

/// A release record: of one table, or of all tables of a database.
///
/// ```
/// # use incog::{Anonymizer, Hierarchy};
/// # let table = [("zip", vec!["53715", "53715", "53703", "53706"]), ("ill", vec!["flu", "cold", "flu", "none"])];
/// # let anonymizer = Anonymizer::new(table).quasi_identifier("zip", Hierarchy::mask_right()).sensitive("ill").k(2);
/// let record = anonymizer.anonymize()?.record()?;
/// assert_eq!((record.claims.k, record.suppressed, record.is_of_database()), (2, 0, false));
/// # Ok::<(), incog::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Record {
    /// The layout of the record's file.
    pub record: u32,
    /// What made the release.
    pub tool: String,
    /// Each table of a database, by its name; a release of one table has that one, and it has no name.
    pub tables: BTreeMap<String, TablePart>,
    /// How it was recoded.
    pub recoding: RecodingPart,
    /// What the release was asked for, and reaches.
    pub claims: ClaimsPart,
    /// How many groups have how many rows, ascending: [rows, groups]. Of a database: persons, and classes of them; none if it is
    /// anatomized.
    pub group_sizes: Vec<(u64, u64)>,
    /// How many rows were left out; of a database, persons.
    pub suppressed: u64,
    /// The score by every metric. Of a database: `loss`, and `discernibility` of persons.
    pub scores: BTreeMap<String, String>,
    /// HMAC-SHA-256 of each hierarchy's file, or of its rule, with the publisher's key.
    pub hierarchies: BTreeMap<String, String>,
    /// The job without paths and lists of values, as TOML.
    pub job: String,
    /// HMAC-SHA-256 of the job with its lists of values, with the publisher's key.
    pub job_hmac_sha256: String,
    /// Where data and release are, where one of them is in a database.
    pub places: Option<PlacesPart>,
    /// The public key of who signed it, if anybody did.
    pub publisher: Option<String>,
}

/// What anybody can recompute from the released file.
#[derive(Debug)]
pub(crate) struct Observed<'a> {
    /// What the checker found.
    pub(crate) report: &'a Report,
    /// The released columns.
    pub(crate) columns: Vec<String>,
    /// SHA-256 of the file; of a table in a database there is none.
    pub(crate) sha256: Option<[u8; 32]>,
    /// The keyed digest of the input, if it has been made.
    pub(crate) input: Option<[u8; 32]>,
}

/// What a release cost, and by what kind of recoding.
pub(crate) struct Cost<'a> {
    pub(crate) costs: &'a Costs,
    pub(crate) statistics: &'a Statistics,
    /// What is known of a local recoding.
    pub(crate) local: Option<&'a LocalRelease>,
}

impl Record {
    /// The record of a release of this plan. Without the key, digests that take it are left empty.
    pub(crate) fn new(plan: &Plan, seen: &Observed<'_>, cost: &Cost<'_>, key: Option<&Key>) -> Result<Self> {
        let (job, report) = (&plan.job, seen.report);
        let Cost { costs, statistics, local } = *cost;
        let length = |name: &str| {
            let at = plan.attributes.iter().position(|attribute| attribute.name() == name)?;
            shown_length(&plan.attributes[at], at, cost)
        };
        let JobText { text, hmac_sha256 } = JobText::of_table(job, length, key)?;
        let levels = plan.attributes.iter().zip(&statistics.levels);
        let levels = levels
            .map(|(attribute, &level)| (attribute.name().to_owned(), attribute.level_number(level)))
            .collect();
        let table = TablePart {
            file: FilePart {
                name: None,
                sha256: seen.sha256.as_ref().map_or_else(String::new, |digest| hex(digest)),
                rows: costs.n_rows - statistics.suppressed_rows,
                columns: seen.columns.clone(),
            },
            sensitive_files: BTreeMap::new(),
            quasi_identifiers: plan.attributes.iter().map(|attribute| attribute.name().to_owned()).collect(),
            smallest_set: report.smallest_group,
            sensitive: sensitive(&report.measured),
            input_rows: costs.n_rows,
            input_hmac_sha256: match (seen.input, key) {
                (Some(digest), _) => hex(&digest),
                // What never was here, or not whole, has no digest.
                (None, Some(_)) if plan.sql.is_some() => String::new(),
                (None, Some(key)) => hex(&key.digest_of(&*plan.collected()?, plan.spilled.as_deref())?),
                (None, None) => String::new(),
            },
            removed_rows: statistics.suppressed_rows,
            loss: None,
        };
        Ok(Record {
            record: VERSION,
            tool: tool(),
            tables: BTreeMap::from([(String::new(), table)]),
            recoding: match (plan.route.local(), local) {
                (Some(chosen), Some(local)) => {
                    RecodingPart::Local(LocalPart::new(chosen.name(), chosen.seed(), local, key))
                }
                _ => RecodingPart::Levels(levels),
            },
            claims: ClaimsPart {
                k: job.policy.k.unsigned_abs(),
                combinations: job.policy.combinations.map(i64::unsigned_abs),
                unit: job.policy.unit.clone(),
                suppression_budget: Some(plan.policy.budget()),
                requires: requirements::parts(job)?,
                smallest_group: report.smallest_group,
                fewest_persons: report.fewest_persons,
            },
            group_sizes: report.group_sizes.clone(),
            suppressed: statistics.suppressed_rows,
            scores: metric::ALL
                .iter()
                .map(|entry| (entry.name.to_owned(), score(entry.item, entry.item.score(costs, statistics))))
                .collect(),
            hierarchies: hierarchies(job, None, key)?,
            job_hmac_sha256: hmac_sha256,
            job: text,
            places: PlacesPart::of(plan),
            publisher: None,
        })
    }

    /// Is it of the tables of a database?
    pub fn is_of_database(&self) -> bool {
        matches!(self.recoding, RecodingPart::Clusters { .. })
    }

    /// The table, if the release is of one.
    pub(crate) fn table(&self) -> Option<&TablePart> {
        self.tables.values().next().filter(|_| !self.is_of_database())
    }

    /// What is known of a local recoding, if it is one.
    pub fn local(&self) -> Option<&LocalPart> {
        match &self.recoding {
            RecodingPart::Local(local) => Some(local),
            RecodingPart::Levels(_) | RecodingPart::Clusters { .. } => None,
        }
    }

    /// The content of its file as one JSON object, without seal, signature and checksum, which take the publisher's keys.
    pub fn to_json(&self) -> String {
        json::canonical(&self.to_value())
    }

    /// The first key in which this record, which somebody wrote, differs from one that was made anew. Digests that take the
    /// publisher's key are compared only where they were made anew.
    pub fn first_difference(&self, anew: &Record) -> Option<String> {
        let mut anew = anew.clone();
        for (name, table) in &mut anew.tables {
            if let (true, Some(mine)) = (table.input_hmac_sha256.is_empty(), self.tables.get(name)) {
                table.input_hmac_sha256.clone_from(&mine.input_hmac_sha256);
            }
        }
        if anew.job_hmac_sha256.is_empty() {
            anew.job_hmac_sha256.clone_from(&self.job_hmac_sha256);
        }
        fill_in(&mut anew.hierarchies, &self.hierarchies);
        if let (RecodingPart::Local(anew), RecodingPart::Local(mine)) = (&mut anew.recoding, &self.recoding)
            && anew.seed_hmac_sha256.as_deref() == Some("")
            && mine.seed_hmac_sha256.is_some()
        {
            anew.seed_hmac_sha256.clone_from(&mine.seed_hmac_sha256);
        }
        // Another version of incog may have written it, and whoever signed it has signed it; that is no difference.
        anew.tool.clone_from(&self.tool);
        anew.publisher.clone_from(&self.publisher);
        // A release may be copied, and its data may move.
        anew.places.clone_from(&self.places);
        difference(&self.to_value(), &anew.to_value(), "")
    }

    /// The job that the release was made by, without its paths.
    pub fn job(&self) -> Result<AnyJob> {
        let job = if self.is_of_database() {
            DatabaseJob::parse(&self.job).map(AnyJob::Database)
        } else {
            Job::parse(&self.job).map(AnyJob::Table)
        };
        let mut job =
            job.map_err(|error| Error::input(format!("the record's job: {error}")).with_source(error))?;
        // Its lines are in no file that anybody could open.
        *job.lines_mut() = Lines::default();
        Ok(job)
    }

    /// The names of all files of a folder that it lists, itself included.
    pub(crate) fn files(&self) -> Vec<String> {
        let of_table = |table: &TablePart| {
            let files = std::iter::once(&table.file).chain(table.sensitive_files.values());
            files.filter_map(|file| file.name.clone()).collect::<Vec<_>>()
        };
        self.tables.values().flat_map(of_table).chain([RECORD.to_owned()]).collect()
    }

    /// The levels that another release of this job would have if it were made like this one; none if recoding is local. Fails if the
    /// job has other quasi-identifiers, or, as far as the key can tell, other hierarchies.
    pub(crate) fn levels_for(&self, job: &Job, key: Option<&Key>) -> Result<Option<&BTreeMap<String, u8>>> {
        // The record's job names the columns that patterns had.
        let mut named = job.clone();
        if let Ok(AnyJob::Table(recorded)) = self.job() {
            let header: Vec<String> = recorded.columns.keys().cloned().collect();
            patterns::resolve(&mut named, &header, &mut Mistakes::default());
        }
        let job = &named;
        let quasi = job.quasi_identifiers();
        let is_alike = match &self.recoding {
            RecodingPart::Levels(levels) => {
                levels.len() == quasi.len() && quasi.iter().all(|name| levels.contains_key(name))
            }
            RecodingPart::Local(_) => self.table().is_some_and(|table| {
                let mine = &table.quasi_identifiers;
                mine.len() == quasi.len() && mine.iter().all(|name| quasi.contains(name))
            }),
            RecodingPart::Clusters { .. } => return Err(not_of_one_table()),
        };
        if !is_alike {
            return Err(Error::input("the record has other quasi-identifiers than the job")
                .with_hint("use the job that the record was made with"));
        }
        key.map_or(Ok(()), |key| self.check_hierarchies(job, key))?;
        // A local release has no levels that another could have.
        Ok(match &self.recoding {
            RecodingPart::Levels(levels) => Some(levels),
            RecodingPart::Local(_) | RecodingPart::Clusters { .. } => None,
        })
    }

    /// Fails if a hierarchy is another one than the release was made with. Only the publisher's key can tell.
    fn check_hierarchies(&self, job: &Job, key: &Key) -> Result<()> {
        for (name, digest) in hierarchies(job, None, Some(key))? {
            if self.hierarchies.get(&name) != Some(&digest) {
                return Err(Error::input(format!(
                    "the hierarchy of column `{name}` is another one than the record's"
                ))
                .with_hint("use the hierarchies that the release was made with"));
            }
        }
        Ok(())
    }

    /// The file's text, sealed with the publisher's key, and signed where there is a key for that.
    pub(crate) fn signed(mut self, key: &Key, sign: Option<&PrivateKey>) -> String {
        self.publisher = sign.map(|key| key.public().to_string());
        sealed(self.to_value(), key, sign)
    }

    /// Reads a record. One that was edited is refused: by its checksum, by its seal where the key is given, and by its
    /// signature if it has one or the publisher's public key is given.
    pub fn read(path: &Path, trust: Trust<'_>) -> Result<Self> {
        unsealed(path, trust)
    }
}

/// Why the record of a database does not serve a job about one table.
pub(crate) fn not_of_one_table() -> Error {
    Error::input("the record is of a database, and the job is about one table")
        .with_hint("use the job that the record was made with")
}

/// What makes releases, as records have it.
pub(crate) fn tool() -> String {
    format!("incog {}", env!("CARGO_PKG_VERSION"))
}

/// How many characters the values of a mask have at most, where the released labels show it.
fn shown_length(attribute: &Attribute, at: usize, cost: &Cost<'_>) -> Option<usize> {
    let height = attribute.full_height();
    let is_shown = match cost.local {
        Some(local) => local.columns.iter().any(|column| {
            column.name == attribute.name()
                && column.intervals.is_none()
                && column.rows.iter().any(|&(level, rows)| level > 0 && rows > 0)
        }),
        None => attribute.level_number(cost.statistics.levels[at]) > 0,
    };
    is_shown.then_some(usize::from(height))
}

/// A score as text. Losses depend on values that only suppressed rows may have: few digits say less about those.
fn score(metric: &dyn Metric, score: f64) -> String {
    if metric.depends_on_values() { loss(score) } else { format!("{score:.9}") }
}

/// A loss as text.
pub(crate) fn loss(loss: f64) -> String {
    format!("{loss:.4}")
}

/// Puts digits that nobody could make anew in the place of empty ones.
pub(crate) fn fill_in(anew: &mut BTreeMap<String, String>, given: &BTreeMap<String, String>) {
    for (name, digest) in anew.iter_mut().filter(|(_, digest)| digest.is_empty()) {
        if let Some(given) = given.get(name) {
            digest.clone_from(given);
        }
    }
}

pub(crate) fn sensitive(measured: &[Measured]) -> BTreeMap<String, SensitivePart> {
    measured.iter().map(|measured| (measured.column.clone(), measured.into())).collect()
}

/// The SHA-256 of a file.
pub(crate) fn sha256_of(path: &Path) -> Result<[u8; 32]> {
    if path.as_os_str() == file::STANDARD {
        return Err(Error::input("a release from standard input cannot be compared with its record")
            .with_hint("save it to a file first"));
    }
    let failed = |error: std::io::Error| {
        Error::new(ErrorKind::Io, format!("cannot read the release `{}`: {error}", path.display()))
    };
    let mut file = std::fs::File::open(path).map_err(failed)?;
    let mut sha256 = Sha256::new();
    let mut buffer = vec![0; 1 << 20];
    loop {
        match std::io::Read::read(&mut file, &mut buffer).map_err(failed)? {
            0 => return Ok(sha256.finalize().into()),
            n => sha256.update(&buffer[..n]),
        }
    }
}
