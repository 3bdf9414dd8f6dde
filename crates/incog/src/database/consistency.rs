//! Is the record of a database what its release alone can tell? As for one table
//! ([`consistency`](crate::publish::record::consistency)): what follows from the files or from other parts is computed anew.
//!
//! Not checked, because it takes the job, its hierarchies and the data: how many rows the data have, losses, and what is required
//! of listed values. Not checked without the publisher's key: the digests of data, job and hierarchies.

use std::collections::BTreeMap;

use incog_verify::Report;

use crate::database::plan;
use crate::database::record::{SeenTable, extension, found, requires};
use crate::job::DatabaseJob;
use crate::publish::record::consistency::{discernibility, is_share};
use crate::publish::record::job_text::{JobText, hierarchies};
use crate::publish::record::{RecodingPart, Record, TablePart};

/// The first thing in this record that contradicts the released files or another part of it. `seen` are the tables of
/// its job, in that order.
pub(crate) fn against_release(
    record: &Record,
    job: &DatabaseJob,
    seen: &[SeenTable],
    report: &Report,
) -> Option<String> {
    contradiction(record, job).or_else(|| record.first_difference(&with_seen(record, job, seen, report)))
}

/// The same record with everything that can be recomputed put in its place.
fn with_seen(of: &Record, job: &DatabaseJob, seen: &[SeenTable], report: &Report) -> Record {
    let mut record = of.clone();
    record.tables.retain(|name, _| job.tables.contains_key(name));
    let mut digests = BTreeMap::new();
    for (at, (name, table)) in job.tables.iter().enumerate() {
        let SeenTable { rows, sensitive: sensitive_files } = seen[at].clone();
        let (smallest_set, sensitive) = found(report, at);
        if let Some(part) = record.tables.get_mut(name) {
            part.removed_rows = part.input_rows.saturating_sub(rows.rows);
            (part.file, part.sensitive_files, part.sensitive) = (rows, sensitive_files, sensitive);
            part.smallest_set = smallest_set;
            part.quasi_identifiers = table.quasi_identifiers();
        }
        let of_table = job.of_table(name).and_then(|table| hierarchies(&table, Some(name), None));
        digests.extend(of_table.unwrap_or_default());
    }
    record.hierarchies = digests;
    let extension = extension(job.database.format);
    record.job = JobText::of_database(job, extension, None).map(|job| job.text).unwrap_or_default();
    record.recoding =
        RecodingPart::Clusters { release: job.database.release, algorithm: plan::algorithm(job).to_owned() };
    record.claims.k = job.policy.k.unsigned_abs();
    record.claims.requires = requires(job).unwrap_or_default();
    record.claims.smallest_group = report.smallest_group;
    record.group_sizes.clone_from(&report.group_sizes);
    let person = &job.database.person;
    let persons = of.tables.get(person).map_or(0, |table| table.input_rows);
    let released = record.tables.get(person).map_or(0, |table| table.file.rows);
    record.suppressed = persons.saturating_sub(released);
    if let Some(score) = record.scores.get_mut("discernibility") {
        *score = discernibility(&report.group_sizes, record.suppressed, persons).to_string();
    }
    record
}

/// What is out of the bounds that other parts give.
fn contradiction(record: &Record, job: &DatabaseJob) -> Option<String> {
    for (name, table) in &record.tables {
        if table.input_rows < table.file.rows {
            let rows = table.file.rows;
            return Some(format!("tables.{name}.input_rows: fewer than the {rows} of the release"));
        }
        if !is_share(table.loss.as_deref().unwrap_or_default()) {
            return Some(format!("tables.{name}.loss: it is not between 0 and 1"));
        }
    }
    let persons = record.tables.get(&job.database.person).map_or(0, |table| table.input_rows);
    let budget = plan::budget(job).ok().flatten().map(|budget| budget.rows(persons));
    if let Some(budget) = budget.filter(|&budget| record.suppressed > budget) {
        return Some(format!("suppressed_persons: more than the {budget} that could be left out"));
    }
    let of_tables = record.tables.iter();
    let of_tables =
        of_tables.map(|(name, table)| (format!("tables.{name}.input_hmac_sha256"), &table.input_hmac_sha256));
    record.contradiction_in_digests(of_tables).or_else(|| {
        let loss = record.scores.get("loss")?;
        if !is_share(loss) {
            return Some("scores.loss: it is not between 0 and 1".to_owned());
        }
        (!is_mean(record, job, loss)).then(|| "scores.loss: it is not the mean of the tables'".to_owned())
    })
}

/// Whether a loss is that of all cells, given those of the tables, which are rounded.
fn is_mean(record: &Record, job: &DatabaseJob, loss: &str) -> bool {
    let of_table = |(name, table): (&String, &TablePart)| {
        let n_columns = job.tables.get(name).map_or(0, |table| table.quasi_identifiers().len());
        let cells = table.input_rows as f64 * n_columns as f64;
        (cells, cells * table.loss.as_deref().and_then(|loss| loss.parse().ok()).unwrap_or(f64::NAN))
    };
    let (cells, costs) =
        record.tables.iter().map(of_table).fold((0.0, 0.0), |sum, table| (sum.0 + table.0, sum.1 + table.1));
    let mean = if cells == 0.0 { 0.0 } else { costs / cells };
    loss.parse::<f64>().is_ok_and(|loss| (loss - mean).abs() <= 1e-4)
}
