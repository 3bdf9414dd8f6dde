//! What the record of a database's release has to say: `release.incog.json` in its folder.

use std::collections::BTreeMap;

use incog_core::Result;
use incog_verify::Report;

use crate::database::plan::DatabasePlan;
use crate::database::score::Scores;
use crate::job::{DatabaseJob, TableFormat};
use crate::plan::requirements::{self, RequirePart};
use crate::publish::record::{
    ClaimsPart, FilePart, JobText, Key, RecodingPart, Record, SensitivePart, TablePart, VERSION, hex,
    hierarchies, loss, sensitive, tool,
};

/// The files of a table as they were written or found, those of sensitive columns with their names.
#[derive(Debug, Clone)]
pub(crate) struct SeenTable {
    pub(crate) rows: FilePart,
    pub(crate) sensitive: BTreeMap<String, FilePart>,
}

/// The record of a release of this plan. `seen` are its tables in the order of the database's.
pub(crate) fn record_of(
    plan: &DatabasePlan,
    seen: &[SeenTable],
    report: &Report,
    scores: &Scores,
    key: Option<&Key>,
) -> Result<Record> {
    let extension = extension(plan.job.database.format);
    let JobText { text, hmac_sha256 } = JobText::of_database(&plan.job, extension, key)?;
    let mut tables = BTreeMap::new();
    let mut digests = BTreeMap::new();
    for (at, relation) in plan.database.relations().iter().enumerate() {
        let SeenTable { rows, sensitive: sensitive_files } = seen[at].clone();
        let (smallest_set, sensitive) = found(report, at);
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
            loss: Some(loss(scores.tables[at])),
        };
        tables.insert(relation.name.clone(), part);
        digests.extend(hierarchies(&plan.tables[at].job, Some(&relation.name), key)?);
    }
    let discernibility = scores.discernibility.map(|dm| ("discernibility".to_owned(), dm.to_string()));
    let loss = ("loss".to_owned(), loss(scores.loss));
    Ok(Record {
        record: VERSION,
        tool: tool(),
        tables,
        recoding: RecodingPart::Clusters {
            release: plan.job.database.release,
            algorithm: plan.algorithm.to_owned(),
        },
        claims: ClaimsPart {
            k: plan.job.policy.k.unsigned_abs(),
            combinations: None,
            unit: None,
            suppression_budget: None,
            requires: requires(&plan.job)?,
            smallest_group: report.smallest_group,
            fewest_persons: None,
        },
        group_sizes: report.group_sizes.clone(),
        suppressed: scores.suppressed_persons,
        scores: std::iter::once(loss).chain(discernibility).collect(),
        hierarchies: digests,
        job_hmac_sha256: hmac_sha256,
        job: text,
        places: None,
        publisher: None,
    })
}

/// What the checker found about a table: rows of the smallest set, and what sensitive columns reach.
pub(super) fn found(report: &Report, at: usize) -> (Option<u64>, BTreeMap<String, SensitivePart>) {
    let table = report.tables.get(at);
    let reached = table.map(|table| sensitive(&table.measured)).unwrap_or_default();
    (table.and_then(|table| table.smallest_set), reached)
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
