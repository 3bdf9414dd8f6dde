//! The release record: what was published, how, and what was measured, for everybody to recompute.
//!
//! `<release>.incog.json` is canonical JSON ([`json`]): keys sorted, no white space, whole numbers and text only, so that
//! equal records are equal bytes. It contains no cell. What it says is believed by nobody: [`Record::first_difference`]
//! compares it with one that was made anew, [`Record::against_release`] with what the release alone can tell.
//!
//! For each part: who can recompute it, and what could follow from it about a row that was suppressed.
//!
//! | key | what | who can recompute it | what it tells beyond the release |
//! |---|---|---|---|
//! | `release` | SHA-256, rows and columns of the released file | anybody | nothing |
//! | `quasi_identifiers`, `claims` | k, α, ℓ and t as asked for and as reached | anybody; persons and requirements that list values with the job and the data | what was asked for; persons of the group with the fewest |
//! | `group_sizes` | how many groups have how many rows | anybody | nothing |
//! | `input.rows`, `suppressed_rows` | rows of the data, rows left out | with the data | how many rows were left out, not whose |
//! | `input.hmac_sha256` | a *keyed* digest of the data | the publisher, with the key | nothing without the key |
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
mod seal;
mod signature;

pub use key::Key;
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
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::claim::measured::{LocalColumn, LocalRelease};
use crate::file;
use crate::job::{Job, Lines};
use crate::plan::Plan;
use crate::plan::requirements::{self, RequirePart};

/// The layout of records that this version writes and reads.
pub(crate) const VERSION: u32 = 2;

/// What a record's file name adds to the release's.
pub(crate) const ENDING: &str = ".incog.json";

/// A release record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// The layout of the record.
    pub record: u32,
    /// What made the release.
    pub tool: String,
    /// The released file.
    pub release: ReleasePart,
    /// The columns that all claims are relative to.
    pub quasi_identifiers: Vec<String>,
    /// What the release reaches.
    pub claims: ClaimsPart,
    /// How many groups have how many rows: [rows, groups], ascending.
    pub group_sizes: Vec<(u64, u64)>,
    /// The data.
    pub input: InputPart,
    /// Rows that were left out.
    pub suppressed_rows: u64,
    /// The level of each quasi-identifier; none where recoding is local.
    pub levels: BTreeMap<String, u8>,
    /// What is known of a local recoding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub local: Option<LocalPart>,
    /// The score by every metric.
    pub scores: BTreeMap<String, String>,
    /// HMAC-SHA-256 of each hierarchy's file, or of its rule, with the publisher's key.
    pub hierarchies: BTreeMap<String, String>,
    /// The job without paths and lists of values, as TOML.
    pub job: String,
    /// HMAC-SHA-256 of the job with its lists of values, with the publisher's key.
    pub job_hmac_sha256: String,
    /// The public key of who signed it, if anybody did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub publisher: Option<String>,
}

/// The released file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReleasePart {
    /// SHA-256 of its bytes.
    pub sha256: String,
    /// How many rows it has.
    pub rows: u64,
    /// Its columns.
    pub columns: Vec<String>,
}

/// The data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InputPart {
    /// How many rows it has.
    pub rows: u64,
    /// HMAC-SHA-256 of its columns, with the publisher's key.
    pub hmac_sha256: String,
}

/// A local recoding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LocalPart {
    /// What made it.
    pub algorithm: String,
    /// HMAC-SHA-256 of the seed, with the publisher's key, if ties were broken at random.
    pub seed_hmac_sha256: Option<String>,
    /// Each quasi-identifier.
    pub columns: BTreeMap<String, LocalColumnPart>,
}

/// A column of a local recoding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LocalColumnPart {
    /// How many released rows stand at which level: [level, rows], ascending. By an order: 0 for single values, 1 else.
    pub rows: Vec<(u8, u64)>,
    /// How many different intervals there are, where the column is recoded by its order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intervals: Option<u64>,
    /// The distortion ratio of the column.
    pub distortion: String,
}

/// What a release was asked for, and reaches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClaimsPart {
    /// The k that was asked for.
    pub k: u64,
    /// Who k counts, if not rows.
    pub unit: Option<String>,
    /// How many rows could have been left out.
    pub suppression_budget: u64,
    /// What else was asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requires: Vec<RequirePart>,
    /// Rows of the smallest group.
    pub smallest_group: Option<u64>,
    /// Persons of the group with the fewest, where persons are counted.
    pub fewest_persons: Option<u64>,
    /// What is reached on each sensitive column.
    pub sensitive: BTreeMap<String, SensitivePart>,
}

/// What a release reaches on a sensitive column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SensitivePart {
    /// The greatest share of one value in a group.
    pub alpha: Option<String>,
    /// The least number of distinct values in a group.
    pub distinct_l: Option<u64>,
    /// The least e to the entropy of a group.
    pub entropy_l: Option<String>,
    /// For l = 2, 3, ...: recursive (c, l)-diverse for every c above.
    pub recursive_c: Vec<String>,
    /// The greatest distance of a group's distribution from the release's, all values equally far apart.
    pub t: Option<String>,
    /// The same with numbers in their order.
    pub ordered_t: Option<String>,
    /// Groups in which everybody has the same value.
    pub uniform_groups: u64,
}

impl From<&Measured> for SensitivePart {
    fn from(measured: &Measured) -> Self {
        SensitivePart {
            alpha: measured.alpha.map(|(n, of)| format!("{n}/{of}")),
            distinct_l: measured.distinct_l,
            entropy_l: measured.entropy_l.map(|l| format!("{l:.6}")),
            recursive_c: measured.recursive_c.iter().map(ToString::to_string).collect(),
            t: measured.t.map(|t| t.to_string()),
            ordered_t: measured.ordered_t.map(|t| t.to_string()),
            uniform_groups: measured.uniform_groups,
        }
    }
}

/// What anybody can recompute from the released file.
#[derive(Debug)]
pub(crate) struct Observed<'a> {
    /// What the checker found.
    pub(crate) report: &'a Report,
    /// The released columns.
    pub(crate) columns: Vec<String>,
    /// SHA-256 of the file.
    pub(crate) sha256: [u8; 32],
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
        let record = Record {
            record: VERSION,
            tool: format!("incog {}", env!("CARGO_PKG_VERSION")),
            release: ReleasePart {
                sha256: hex(&seen.sha256),
                rows: costs.n_rows - statistics.suppressed_rows,
                columns: seen.columns.clone(),
            },
            quasi_identifiers: plan.attributes.iter().map(|attribute| attribute.name().to_owned()).collect(),
            claims: ClaimsPart {
                k: job.policy.k.unsigned_abs(),
                unit: job.policy.unit.clone(),
                suppression_budget: plan.policy.budget(),
                requires: requirements::parts(job)?,
                smallest_group: report.smallest_group,
                fewest_persons: report.fewest_persons,
                sensitive: sensitive(&report.measured),
            },
            group_sizes: report.group_sizes.clone(),
            input: InputPart {
                rows: costs.n_rows,
                hmac_sha256: match (seen.input, key) {
                    (Some(digest), _) => hex(&digest),
                    (None, Some(key)) => hex(&key.digest_of(&plan.table, plan.spilled.as_deref())?),
                    (None, None) => String::new(),
                },
            },
            suppressed_rows: statistics.suppressed_rows,
            levels: plan
                .attributes
                .iter()
                .zip(&statistics.levels)
                .map(|(attribute, &level)| (attribute.name().to_owned(), attribute.level_number(level)))
                .collect(),
            local: None,
            scores: metric::ALL
                .iter()
                .map(|entry| (entry.name.to_owned(), score(entry.item, entry.item.score(costs, statistics))))
                .collect(),
            hierarchies: hierarchies(job, None, key)?,
            job_hmac_sha256: hmac_sha256,
            job: text,
            publisher: None,
        };
        Ok(match (plan.route.local(), local) {
            (Some(chosen), Some(local)) => record.with_local(chosen.name(), chosen.seed(), local, key),
            _ => record,
        })
    }

    /// The same record, of a local recoding.
    fn with_local(
        mut self,
        algorithm: &str,
        seed: Option<u64>,
        local: &LocalRelease,
        key: Option<&Key>,
    ) -> Self {
        // Without the key there is nothing to compare the digest with.
        let digest =
            |seed: u64| key.map_or_else(String::new, |key| hex(&key.digest("seed", &[&seed.to_le_bytes()])));
        let column = |column: &LocalColumn| {
            let part = LocalColumnPart {
                rows: column.rows.clone(),
                intervals: column.intervals,
                distortion: format!("{:.9}", column.distortion),
            };
            (column.name.clone(), part)
        };
        self.local = Some(LocalPart {
            algorithm: algorithm.to_owned(),
            seed_hmac_sha256: seed.map(digest),
            columns: local.columns.iter().map(column).collect(),
        });
        self
    }

    /// The same record, to be signed with this key.
    #[must_use]
    pub(crate) fn by(mut self, publisher: Option<&PrivateKey>) -> Self {
        self.publisher = publisher.map(|key| key.public().to_string());
        self
    }

    /// The first key in which this record, which somebody wrote, differs from one that was made anew. Digests that take the
    /// publisher's key are compared only where they were made anew.
    pub fn first_difference(&self, anew: &Record) -> Option<String> {
        let mut anew = anew.clone();
        if anew.input.hmac_sha256.is_empty() {
            anew.input.hmac_sha256.clone_from(&self.input.hmac_sha256);
        }
        if anew.job_hmac_sha256.is_empty() {
            anew.job_hmac_sha256.clone_from(&self.job_hmac_sha256);
        }
        fill_in(&mut anew.hierarchies, &self.hierarchies);
        if let (Some(anew), Some(mine)) = (&mut anew.local, &self.local)
            && anew.seed_hmac_sha256.as_deref() == Some("")
            && mine.seed_hmac_sha256.is_some()
        {
            anew.seed_hmac_sha256.clone_from(&mine.seed_hmac_sha256);
        }
        // Another version of incog may have written it, and whoever signed it has signed it; that is no difference.
        anew.tool.clone_from(&self.tool);
        anew.publisher.clone_from(&self.publisher);
        let [mine, theirs] =
            [self, &anew].map(|record| serde_json::to_value(record).expect("a record is plain data"));
        difference(&mine, &theirs, "")
    }

    /// The job that the release was made by, without its paths.
    pub fn job(&self) -> Result<Job> {
        let mut job =
            Job::parse(&self.job).map_err(|error| Error::input(format!("the record's job: {error}")))?;
        // Its lines are in no file that anybody could open.
        job.lines = Lines::default();
        Ok(job)
    }

    /// The levels that another release of this job would have if it were made like this one; none if recoding is local. Fails if the
    /// job has other quasi-identifiers, or, as far as the key can tell, other hierarchies.
    pub(crate) fn levels_for(&self, job: &Job, key: Option<&Key>) -> Result<Option<&BTreeMap<String, u8>>> {
        let quasi = job.quasi_identifiers();
        let is_alike = match &self.local {
            Some(_) => {
                self.quasi_identifiers.len() == quasi.len()
                    && self.quasi_identifiers.iter().all(|name| quasi.contains(name))
            }
            None => {
                self.levels.len() == quasi.len() && quasi.iter().all(|name| self.levels.contains_key(name))
            }
        };
        if !is_alike {
            return Err(Error::input("the record has other quasi-identifiers than the job")
                .with_hint("use the job that the record was made with"));
        }
        key.map_or(Ok(()), |key| self.check_hierarchies(job, key))?;
        // A local release has no levels that another could have.
        Ok(Some(&self.levels).filter(|_| self.local.is_none()))
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
    pub(crate) fn to_json(&self, key: &Key, sign: Option<&PrivateKey>) -> String {
        sealed(serde_json::to_value(self).expect("a record is plain data"), key, sign)
    }

    /// Reads a record. One that was edited is refused: by its checksum, by its seal where the key is given, and by its
    /// signature if it has one or the publisher's public key is given.
    pub fn read(path: &Path, trust: Trust<'_>) -> Result<Self> {
        unsealed(path, trust)
    }
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
