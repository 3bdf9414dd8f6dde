//! Hierarchies that depend on how many rows have a value: `frequent` and `rare`.
//!
//! Rows are counted, whether or not the job counts persons: what is promised of such a hierarchy is promised of rows, and what is promised of
//! persons is judged afterwards, as ever.

use incog_core::hierarchy::{Attribute, Hierarchy, by_counts};
use incog_core::table::Column;
use incog_core::{Error, Result};

use crate::job::{HierarchyJob, Job};
use crate::plan::hierarchies::{check_markers, one_kind, rule_at, with_levels};
use crate::plan::mask_length::Holders;
use crate::source;

/// Does a hierarchy depend on how many rows have a value?
pub(crate) fn is_by_counts(spec: &HierarchyJob) -> bool {
    spec.frequent.is_some() || spec.rare.is_some()
}

/// The attribute of such a hierarchy.
pub(super) fn attribute(
    job: &Job,
    key: &[&str],
    spec: &HierarchyJob,
    (data, holders): (&Column, Holders<'_>),
    fixed: Option<u8>,
) -> Result<Attribute> {
    let hierarchy = hierarchy(job, key, spec, data, holders)?;
    let attribute = Attribute::bind(data, hierarchy, "rule")?;
    check_markers(job, key, data, attribute.hierarchy())?;
    with_levels(job, key, attribute, spec, fixed)
}

/// The hierarchy itself.
pub(crate) fn hierarchy(
    job: &Job,
    key: &[&str],
    spec: &HierarchyJob,
    data: &Column,
    holders: Holders<'_>,
) -> Result<Hierarchy> {
    let name = data.name();
    one_kind(name, spec).map_err(|error| job.at(key, &error))?;
    let missing = spec.missing.as_deref();
    let counts = counts(data, holders).map_err(|error| job.at(key, &error))?;
    let of_job = |error: Error| job.at(key, &error);
    if let Some(n) = spec.frequent {
        return by_counts::frequent(data, &counts, usize::try_from(n).unwrap_or(usize::MAX), missing)
            .map_err(of_job);
    }
    let base = match &spec.file {
        Some(file) => source::read_hierarchy(&job.resolve(file), name)?,
        None => rule_at(job, key, name, spec, None)?.build(data, missing).map_err(of_job)?,
    };
    by_counts::rare(data, &base, &counts, spec.rare.unwrap_or_default(), missing).map_err(of_job)
}

/// How many rows have each value.
fn counts(data: &Column, holders: Holders<'_>) -> Result<Vec<u64>> {
    let mut counts = vec![0_u64; data.dictionary().len()];
    match holders {
        Holders::Rows | Holders::Persons(_) => {
            data.codes().iter().for_each(|&code| counts[code as usize] += 1);
        }
        Holders::Spilled(spilled, table) => {
            spilled.each_code(table, data.name(), |code| counts[code as usize] += 1)?;
        }
        Holders::Elsewhere(elsewhere) => counts = elsewhere.rows_of_values(data.name()).to_vec(),
        Holders::PersonsElsewhere => {
            let message = format!(
                "column `{}`: `frequent` and `rare` are not counted in an engine by persons",
                data.name()
            );
            return Err(Error::input(message).with_hint("write the hierarchy as a tree or a file"));
        }
    }
    Ok(counts)
}

/// What to tell who runs the job.
pub(super) fn note(name: &str, spec: &HierarchyJob) -> Option<String> {
    let rule = match (spec.frequent, spec.rare) {
        (Some(1), _) => "which value is the most frequent".to_owned(),
        (Some(n), _) => format!("which {n} values are frequent"),
        (_, Some(n)) => format!("which labels have fewer than {n} rows"),
        _ => return None,
    };
    Some(format!(
        "column `{name}`: its hierarchy depends on the data, and a release tells {rule}; another table has another hierarchy"
    ))
}
