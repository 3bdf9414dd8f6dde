//! The record of a database release: `release.incog.json` in its folder.
//!
//! Canonical JSON like the record of one table (see [`Record`](crate::Record)), with a part for each table. Anybody can
//! recompute files, classes and what sensitive columns reach; with the job and the data also what was removed and what it
//! cost. It contains no cell and no key.

use std::collections::BTreeMap;
use std::path::Path;

use incog_core::{Error, Result};
use incog_verify::Report;
use serde::{Deserialize, Serialize};

use crate::database::plan::DatabasePlan;
use crate::database::score::Scores;
use crate::job::{DatabaseJob, Lines, ReleaseKind, TableFormat};
use crate::plan::requirements::{self, RequirePart};
use crate::publish::record::{
    JobText, Key, PrivateKey, SensitivePart, Trust, VERSION, difference, fill_in, hex, hierarchies, loss,
    sealed, sensitive, unsealed,
};

/// The name of the record in the folder of a release.
pub const RECORD: &str = "release.incog.json";

/// The record of a database release.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DatabaseRecord {
    /// The layout of the record.
    pub record: u32,
    /// What made the release.
    pub tool: String,
    /// What is released: generalized or anatomized tables.
    pub release: ReleaseKind,
    /// What clustered the persons.
    pub algorithm: String,
    /// Each table.
    pub tables: BTreeMap<String, TablePart>,
    /// What the release was asked for, and reaches.
    pub claims: DatabaseClaimsPart,
    /// How many classes have how many persons: [persons, classes], ascending; none if the release is anatomized.
    pub class_sizes: Vec<(u64, u64)>,
    /// Persons who were left out.
    pub suppressed_persons: u64,
    /// What it cost: `loss`, and `discernibility` of persons.
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

/// One table of a release.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
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
    /// What its quasi-identifiers lost, between 0 and 1.
    pub loss: String,
}

/// A file of a release.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FilePart {
    /// Its name.
    pub name: String,
    /// SHA-256 of its bytes.
    pub sha256: String,
    /// How many rows it has.
    pub rows: u64,
    /// Its columns.
    pub columns: Vec<String>,
}

/// What a database release was asked for, and reaches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DatabaseClaimsPart {
    /// The k that was asked for. An anatomized release does not claim it.
    pub k: u64,
    /// What else was asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requires: Vec<RequirePart>,
    /// Persons of the smallest class.
    pub smallest_class: Option<u64>,
}

/// A file of a release as it was written or found.
#[derive(Debug, Clone)]
pub(crate) struct SeenFile {
    pub(crate) name: String,
    pub(crate) sha256: [u8; 32],
    pub(crate) rows: u64,
    pub(crate) columns: Vec<String>,
}

impl SeenFile {
    fn part(&self) -> FilePart {
        FilePart {
            name: self.name.clone(),
            sha256: hex(&self.sha256),
            rows: self.rows,
            columns: self.columns.clone(),
        }
    }
}

/// The files of a table as they were written or found, those of sensitive columns with their names.
#[derive(Debug, Clone)]
pub(crate) struct SeenTable {
    pub(crate) rows: SeenFile,
    pub(crate) sensitive: Vec<(String, SeenFile)>,
}

impl DatabaseRecord {
    /// The record of a release of this plan. `seen` are its tables in the order of the database's.
    pub(crate) fn new(
        plan: &DatabasePlan,
        seen: &[SeenTable],
        report: &Report,
        scores: &Scores,
        key: Option<&Key>,
    ) -> Result<Self> {
        let extension = extension(plan.job.database.format);
        let JobText { text, hmac_sha256 } = JobText::of_database(&plan.job, extension, key)?;
        let mut tables = BTreeMap::new();
        let mut digests = BTreeMap::new();
        for (at, relation) in plan.database.relations().iter().enumerate() {
            let TableSeen { rows, sensitive_files, smallest_set, sensitive } =
                TableSeen::of(&seen[at], report, at);
            let input_rows = relation.table.n_rows() as u64;
            let part = TablePart {
                removed_rows: input_rows.saturating_sub(rows.rows),
                file: rows,
                sensitive_files,
                quasi_identifiers: plan
                    .database
                    .attributes(at)
                    .iter()
                    .map(|attribute| attribute.name().to_owned())
                    .collect(),
                smallest_set,
                sensitive,
                input_rows,
                input_hmac_sha256: match key {
                    Some(key) => hex(&key.digest_of(&relation.table, None)?),
                    None => String::new(),
                },
                loss: loss(scores.tables[at]),
            };
            tables.insert(relation.name.clone(), part);
            digests.extend(hierarchies(&plan.tables[at].job, Some(&relation.name), key)?);
        }
        let discernibility = scores.discernibility.map(|dm| ("discernibility".to_owned(), dm.to_string()));
        let loss = ("loss".to_owned(), loss(scores.loss));
        Ok(DatabaseRecord {
            record: VERSION,
            tool: format!("incog {}", env!("CARGO_PKG_VERSION")),
            release: plan.job.database.release,
            algorithm: plan.algorithm.to_owned(),
            tables,
            claims: DatabaseClaimsPart {
                k: plan.job.policy.k.unsigned_abs(),
                requires: requires(&plan.job)?,
                smallest_class: report.smallest_group,
            },
            class_sizes: report.group_sizes.clone(),
            suppressed_persons: scores.suppressed_persons,
            scores: std::iter::once(loss).chain(discernibility).collect(),
            hierarchies: digests,
            job_hmac_sha256: hmac_sha256,
            job: text,
            publisher: None,
        })
    }

    /// The same record, to be signed with this key.
    #[must_use]
    pub(crate) fn by(mut self, publisher: Option<&PrivateKey>) -> Self {
        self.publisher = publisher.map(|key| key.public().to_string());
        self
    }

    /// The first key in which this record, which somebody wrote, differs from one that was made anew. The digests of the
    /// data are compared only where they were made anew.
    pub fn first_difference(&self, anew: &DatabaseRecord) -> Option<String> {
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
        // Another version of incog may have written it, and whoever signed it has signed it; that is no difference.
        anew.tool.clone_from(&self.tool);
        anew.publisher.clone_from(&self.publisher);
        let [mine, theirs] =
            [self, &anew].map(|record| serde_json::to_value(record).expect("a record is plain data"));
        difference(&mine, &theirs, "")
    }

    /// The job that the release was made by, without its paths.
    pub fn job(&self) -> Result<DatabaseJob> {
        let mut job = DatabaseJob::parse(&self.job)
            .map_err(|error| Error::input(format!("the record's job: {error}")))?;
        // Its lines are in no file that anybody could open.
        job.lines = Lines::default();
        Ok(job)
    }

    /// The names of all files that it lists, itself included.
    pub(crate) fn files(&self) -> Vec<String> {
        let of_table = |table: &TablePart| {
            let names = std::iter::once(&table.file).chain(table.sensitive_files.values());
            names.map(|file| file.name.clone()).collect::<Vec<_>>()
        };
        self.tables.values().flat_map(of_table).chain([RECORD.to_owned()]).collect()
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

/// What anybody can recompute of a table.
pub(super) struct TableSeen {
    pub(super) rows: FilePart,
    pub(super) sensitive_files: BTreeMap<String, FilePart>,
    pub(super) smallest_set: Option<u64>,
    pub(super) sensitive: BTreeMap<String, SensitivePart>,
}

impl TableSeen {
    pub(super) fn of(seen: &SeenTable, report: &Report, at: usize) -> Self {
        let table = report.tables.get(at);
        TableSeen {
            rows: seen.rows.part(),
            sensitive_files: seen.sensitive.iter().map(|(name, file)| (name.clone(), file.part())).collect(),
            smallest_set: table.and_then(|table| table.smallest_set),
            sensitive: table.map(|table| sensitive(&table.measured)).unwrap_or_default(),
        }
    }
}

/// What a job requires beyond k, with the tables of sensitive columns.
pub(crate) fn requires(job: &DatabaseJob) -> Result<Vec<RequirePart>> {
    let mut parts = Vec::new();
    for name in job.tables.keys() {
        for part in requirements::parts(&job.of_table(name)?)? {
            parts.push(RequirePart { sensitive: format!("{name}.{}", part.sensitive), ..part });
        }
    }
    Ok(parts)
}

/// How the name of a released file ends.
pub(crate) fn extension(format: TableFormat) -> &'static str {
    match format {
        TableFormat::Csv => ".csv",
        TableFormat::Parquet => ".parquet",
    }
}
