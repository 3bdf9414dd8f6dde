//! What a record says of tables, files, claims and recodings.

use std::collections::BTreeMap;

use incog_verify::{Labels, Measured};
use serde::{Deserialize, Serialize};

use crate::claim::measured::{LocalColumn, LocalRelease};
use crate::job::ReleaseKind;
use crate::plan::Plan;
use crate::plan::requirements::RequirePart;
use crate::publish::record::Key;
use crate::publish::record::hex::hex;
use crate::source::sql::place_of_url;

/// One table of a release.
///
/// ```
/// # use incog::{Anonymizer, Hierarchy};
/// # let table = [("zip", vec!["53715", "53715", "53703", "53706"]), ("ill", vec!["flu", "cold", "flu", "none"])];
/// # let anonymizer = Anonymizer::new(table).quasi_identifier("zip", Hierarchy::mask_right()).sensitive("ill").k(2);
/// let record = anonymizer.anonymize()?.record()?;
/// let table = record.tables.values().next().unwrap();
/// assert_eq!((table.input_rows, table.quasi_identifiers.as_slice()), (4, &["zip".to_owned()][..]));
/// # Ok::<(), incog::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct TablePart {
    /// Its file.
    pub file: FilePart,
    /// The files of its sensitive columns, if the release is anatomized.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sensitive_files: BTreeMap<String, FilePart>,
    /// The columns that all claims are relative to.
    pub quasi_identifiers: Vec<String>,
    /// Rows of the smallest set that nobody can tell apart.
    pub smallest_set: Option<u64>,
    /// What is reached on each sensitive column.
    pub sensitive: BTreeMap<String, SensitivePart>,
    /// Rows of the data.
    pub input_rows: u64,
    /// HMAC-SHA-256 of its columns, with the publisher's key.
    pub input_hmac_sha256: String,
    /// Rows that were removed.
    pub removed_rows: u64,
    /// What its quasi-identifiers lost, between 0 and 1, where there are other tables. Of one table it is in the scores.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss: Option<String>,
}

/// Where data and release are, where one of them is in a database. Without whoever logged in, and without passwords.
///
/// ```no_run
/// use incog::{Record, Trust};
///
/// let record = Record::read("release.incog.json".as_ref(), Trust::default())?;
/// assert_eq!(record.places.unwrap().verified_in, "PostgreSQL");
/// # Ok::<(), incog::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct PlacesPart {
    /// The database of the data, and the table or "the query".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<(String, String)>,
    /// The database of the release, and its table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<(String, String)>,
    /// Where groups were counted: the database's kind, or "memory".
    pub counted_in: String,
    /// Where the release was verified: the database's kind, or "memory".
    pub verified_in: String,
}

impl PlacesPart {
    /// Where the data of a plan are and its release goes; nothing to say of files.
    pub(crate) fn of(plan: &Plan) -> Option<Self> {
        let input = plan.sql.as_ref().map(|sql| (sql.place().to_owned(), sql.name().to_owned()));
        let output = plan
            .job
            .output
            .as_ref()
            .and_then(|output| Some((place_of_url(output.url.as_deref()?)?, output.table.clone()?)));
        if input.is_none() && output.is_none() {
            return None;
        }
        let engine = if plan.elsewhere.is_some() { "PostgreSQL" } else { "memory" };
        Some(PlacesPart { input, output, counted_in: engine.to_owned(), verified_in: engine.to_owned() })
    }
}

/// A released file.
///
/// ```
/// # use incog::{Anonymizer, Hierarchy};
/// # let table = [("zip", vec!["53715", "53715", "53703", "53706"]), ("ill", vec!["flu", "cold", "flu", "none"])];
/// # let anonymizer = Anonymizer::new(table).quasi_identifier("zip", Hierarchy::mask_right()).sensitive("ill").k(2);
/// let record = anonymizer.anonymize()?.record()?;
/// let file = &record.tables.values().next().unwrap().file;
/// assert_eq!((file.rows, file.sha256.len()), (4, 64));
/// # Ok::<(), incog::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct FilePart {
    /// Its name in the folder of a database. One table may be anywhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// SHA-256 of its bytes.
    pub sha256: String,
    /// How many rows it has.
    pub rows: u64,
    /// Its columns.
    pub columns: Vec<String>,
}

/// How a release was recoded.
///
/// ```
/// # use incog::{Anonymizer, Hierarchy};
/// # let table = [("zip", vec!["53715", "53715", "53703", "53706"]), ("ill", vec!["flu", "cold", "flu", "none"])];
/// # let anonymizer = Anonymizer::new(table).quasi_identifier("zip", Hierarchy::mask_right()).sensitive("ill").k(2);
/// use incog::record::RecodingPart;
///
/// let record = anonymizer.anonymize()?.record()?;
/// assert!(matches!(record.recoding, RecodingPart::Levels(levels) if levels["zip"] == 1));
/// # Ok::<(), incog::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RecodingPart {
    /// Each quasi-identifier has one level.
    Levels(BTreeMap<String, u8>),
    /// Rows of one column stand at different levels.
    Local(LocalPart),
    /// Persons of a database share trees of rows.
    Clusters {
        /// What is released: generalized or anatomized tables.
        release: ReleaseKind,
        /// What clustered the persons.
        algorithm: String,
    },
}

/// A local recoding.
///
/// ```
/// # use incog::{Anonymizer, Hierarchy};
/// # let table = [("zip", vec!["53715", "53715", "53703", "53706"]), ("ill", vec!["flu", "cold", "flu", "none"])];
/// # let anonymizer = Anonymizer::new(table).quasi_identifier("zip", Hierarchy::mask_right()).sensitive("ill").k(2);
/// let record = anonymizer.algorithm("top-down").anonymize()?.record()?;
/// assert_eq!(record.local().unwrap().algorithm, "top-down");
/// # Ok::<(), incog::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct LocalPart {
    /// What made it.
    pub algorithm: String,
    /// HMAC-SHA-256 of the seed, with the publisher's key, if ties were broken at random.
    pub seed_hmac_sha256: Option<String>,
    /// Each quasi-identifier.
    pub columns: BTreeMap<String, LocalColumnPart>,
}

/// A column of a local recoding.
///
/// ```
/// # use incog::{Anonymizer, Hierarchy};
/// # let table = [("zip", vec!["53715", "53715", "53703", "53706"]), ("ill", vec!["flu", "cold", "flu", "none"])];
/// # let anonymizer = Anonymizer::new(table).quasi_identifier("zip", Hierarchy::mask_right()).sensitive("ill").k(2);
/// let record = anonymizer.algorithm("top-down").anonymize()?.record()?;
/// let rows: u64 = record.local().unwrap().columns["zip"].rows.iter().map(|(_, rows)| rows).sum();
/// assert_eq!(rows, 4);
/// # Ok::<(), incog::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
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
///
/// ```
/// # use incog::{Anonymizer, Hierarchy};
/// # let table = [("zip", vec!["53715", "53715", "53703", "53706"]), ("ill", vec!["flu", "cold", "flu", "none"])];
/// # let anonymizer = Anonymizer::new(table).quasi_identifier("zip", Hierarchy::mask_right()).sensitive("ill").k(2);
/// let record = anonymizer.anonymize()?.record()?;
/// assert_eq!((record.claims.k, record.claims.smallest_group), (2, Some(2)));
/// # Ok::<(), incog::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClaimsPart {
    /// The k that was asked for. An anatomized release does not claim it.
    pub k: u64,
    /// How many quasi-identifiers k was asked of together, if not all.
    pub combinations: Option<u64>,
    /// Who k counts, if not rows.
    pub unit: Option<String>,
    /// How many rows could have been left out. The job of a database has it.
    pub suppression_budget: Option<u64>,
    /// What else was asked for.
    pub requires: Vec<RequirePart>,
    /// Rows of the smallest group; of a database, persons of the smallest class.
    pub smallest_group: Option<u64>,
    /// Persons of the group with the fewest, where persons of one table are counted.
    pub fewest_persons: Option<u64>,
}

/// What a release reaches on a sensitive column.
///
/// ```
/// # use incog::{Anonymizer, Hierarchy};
/// # let table = [("zip", vec!["53715", "53715", "53703", "53706"]), ("ill", vec!["flu", "cold", "flu", "none"])];
/// # let anonymizer = Anonymizer::new(table).quasi_identifier("zip", Hierarchy::mask_right()).sensitive("ill").k(2);
/// let record = anonymizer.anonymize()?.record()?;
/// let ill = &record.tables.values().next().unwrap().sensitive["ill"];
/// assert_eq!((ill.alpha.as_deref(), ill.distinct_l), (Some("1/2"), Some(2)));
/// # Ok::<(), incog::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
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

impl FilePart {
    /// A file with these rows and this digest.
    pub(crate) fn of(name: Option<String>, sha256: &[u8; 32], rows: &dyn Labels) -> Self {
        FilePart {
            name,
            sha256: hex(sha256),
            rows: rows.n_rows() as u64,
            columns: rows.header().iter().map(|&name| name.to_owned()).collect(),
        }
    }
}

impl LocalPart {
    pub(super) fn new(algorithm: &str, seed: Option<u64>, local: &LocalRelease, key: Option<&Key>) -> Self {
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
        LocalPart {
            algorithm: algorithm.to_owned(),
            seed_hmac_sha256: seed.map(digest),
            columns: local.columns.iter().map(column).collect(),
        }
    }
}
