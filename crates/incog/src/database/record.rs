//! The record of a database release: `release.incog.json` in its folder.
//!
//! Canonical JSON like the record of one table (see [`Record`](crate::Record)), with a part for each table. Anybody can
//! recompute files, classes and what sensitive columns reach; with the job and the data also what was removed and what it
//! cost. It contains no cell and no key.

use std::collections::BTreeMap;
use std::path::Path;

use incog_core::{Error, ErrorKind, Result};
use incog_verify::DatabaseReport;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::database::plan::DatabasePlan;
use crate::database::score::Scores;
use crate::job::{DatabaseJob, Lines, Paths, ReleaseKind, TableFormat};
use crate::record::{
    IN_THE_JOB, Key, SensitivePart, VERSION, difference, hex, hierarchies, sealed, sensitive, unsealed,
    without_path,
};
use crate::requirements::{self, RequirePart};

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
    /// The SHA-256 of each hierarchy's file, or of its rule.
    pub hierarchies: BTreeMap<String, String>,
    /// The job without paths, as TOML.
    pub job: String,
    /// The SHA-256 of `job`.
    pub job_sha256: String,
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
        report: &DatabaseReport,
        scores: &Scores,
        key: Option<&Key>,
    ) -> Result<Self> {
        let job_text = without_paths(plan)?;
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
                loss: format!("{:.9}", scores.tables[at]),
            };
            tables.insert(relation.name.clone(), part);
            let of_table = hierarchies(&plan.tables[at].job)?;
            digests.extend(
                of_table.into_iter().map(|(name, digest)| (format!("{}.{name}", relation.name), digest)),
            );
        }
        let discernibility = scores.discernibility.map(|dm| ("discernibility".to_owned(), dm.to_string()));
        let loss = ("loss".to_owned(), format!("{:.9}", scores.loss));
        Ok(DatabaseRecord {
            record: VERSION,
            tool: format!("incog {}", env!("CARGO_PKG_VERSION")),
            release: plan.job.database.release,
            algorithm: plan.algorithm.to_owned(),
            tables,
            claims: DatabaseClaimsPart {
                k: plan.job.policy.k.unsigned_abs(),
                requires: requires(&plan.job)?,
                smallest_class: report.smallest_class,
            },
            class_sizes: report.class_sizes.clone(),
            suppressed_persons: scores.suppressed_persons,
            scores: std::iter::once(loss).chain(discernibility).collect(),
            hierarchies: digests,
            job_sha256: hex(&Sha256::digest(&job_text).into()),
            job: job_text,
        })
    }

    /// The same record with everything that can be seen from the released files put in its place. `tables` are the names
    /// of those that were seen.
    #[must_use]
    pub(crate) fn with_seen(&self, tables: &[String], seen: &[SeenTable], report: &DatabaseReport) -> Self {
        let mut record = self.clone();
        for (at, name) in tables.iter().enumerate() {
            let TableSeen { rows, sensitive_files, smallest_set, sensitive } =
                TableSeen::of(&seen[at], report, at);
            if let Some(part) = record.tables.get_mut(name) {
                part.removed_rows = part.input_rows.saturating_sub(rows.rows);
                (part.file, part.sensitive_files, part.sensitive) = (rows, sensitive_files, sensitive);
                part.smallest_set = smallest_set;
            }
        }
        if let Ok(job) = self.job() {
            for (name, table) in &job.tables {
                if let Some(part) = record.tables.get_mut(name) {
                    part.quasi_identifiers = table.quasi_identifiers();
                }
            }
            record.claims.k = job.policy.k.unsigned_abs();
            record.claims.requires = requires(&job).unwrap_or_default();
            record.release = job.database.release;
        }
        record.claims.smallest_class = report.smallest_class;
        record.class_sizes.clone_from(&report.class_sizes);
        record.job_sha256 = hex(&Sha256::digest(&self.job).into());
        record
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
        // Another version of incog may have written it; that is no difference.
        anew.tool.clone_from(&self.tool);
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

    /// The file's text, sealed with the publisher's key.
    pub(crate) fn to_json(&self, key: &Key) -> String {
        sealed(serde_json::to_value(self).expect("a record is plain data"), key)
    }

    /// Reads a record. One that was edited is refused: by its checksum, and by its seal where the key is given.
    pub fn read(path: &Path, key: Option<&Key>) -> Result<Self> {
        unsealed(path, key)
    }
}

/// What anybody can recompute of a table.
struct TableSeen {
    rows: FilePart,
    sensitive_files: BTreeMap<String, FilePart>,
    smallest_set: Option<u64>,
    sensitive: BTreeMap<String, SensitivePart>,
}

impl TableSeen {
    fn of(seen: &SeenTable, report: &DatabaseReport, at: usize) -> Self {
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

/// The job as TOML, without its paths.
fn without_paths(plan: &DatabasePlan) -> Result<String> {
    let mut job = plan.job.clone();
    (job.database.output, job.database.key, job.database.record) = (None, None, None);
    for (at, relation) in plan.database.relations().iter().enumerate() {
        let Some(table) = job.tables.get_mut(&relation.name) else {
            return Err(Error::new(ErrorKind::Internal, "a table is not declared"));
        };
        let extension = extension(plan.job.database.format);
        table.path = Paths::One(format!("{}{extension}", relation.name).into());
        for (name, column) in &mut table.columns {
            let mut attributes = plan.database.attributes(at).iter();
            without_path(column, attributes.find(|attribute| attribute.name() == name));
        }
    }
    for require in &mut job.policy.require {
        requirements::without_cells(require, IN_THE_JOB);
    }
    toml::to_string(&job)
        .map_err(|error| Error::new(ErrorKind::Internal, format!("the job cannot be written: {error}")))
}

/// How the name of a released file ends.
pub(crate) fn extension(format: TableFormat) -> &'static str {
    match format {
        TableFormat::Csv => ".csv",
        TableFormat::Parquet => ".parquet",
    }
}
