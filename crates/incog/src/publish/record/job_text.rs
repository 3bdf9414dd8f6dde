//! The job as a record has it: what was asked for, and nothing that could be somebody's cell.
//!
//! Taken out are paths (of hierarchy files, all but the name), the seed, the limit of memory, and every list of values or labels:
//! trees in the job, values and orders of requirements, orders of columns. What a list said is in a digest that takes the
//! publisher's key ([`Key`]). Values of a requirement stay where the job says `publish_values = true`.

use std::collections::BTreeMap;

use incog_core::privacy::ParameterKind;
use incog_core::{Error, ErrorKind, Result};
use serde::Serialize;

use crate::job::{
    ColumnJob, DatabaseJob, HierarchyJob, Job, NumberOrText, OrderJob, Paths, RequireJob, RoleJob, TreeJob,
    Written,
};
use crate::plan::requirements;
use crate::publish::record::Key;
use crate::publish::record::hex::hex;

/// Stands for a list that is written in the job itself.
const IN_THE_JOB: &str = "in the job";

/// A job as a record has it.
pub(crate) struct JobText {
    /// TOML without paths and lists.
    pub(crate) text: String,
    /// A keyed digest of the same with its lists; empty without the key.
    pub(crate) hmac_sha256: String,
}

impl JobText {
    /// The text of a job about one table. `length` tells how long the values of a column with a mask are, where the release shows it and
    /// the job does not say it: the same is done to other data then.
    pub(crate) fn of_table(
        job: &Job,
        length: impl Fn(&str) -> Option<usize>,
        key: Option<&Key>,
    ) -> Result<Self> {
        let mut job = job.clone();
        job.input.path = Paths::One("-".into());
        // Where the rows are is said elsewhere, and who may read them nowhere.
        (job.input.url, job.input.table, job.input.query, job.input.engine) = (None, None, None, None);
        // What is released does not depend on it.
        job.input.memory = None;
        job.search.cube_file = None;
        job.output = None;
        job.search.seed = None;
        job.columns.values_mut().for_each(without_paths);
        job.policy.require.iter_mut().for_each(|require| {
            require.hierarchy_mut().into_iter().for_each(without_path);
        });
        let hmac_sha256 = digest(&job, key)?;
        for (name, column) in &mut job.columns {
            strip_column(column, || length(name));
        }
        job.policy.require.iter_mut().for_each(strip_requirement);
        Ok(JobText { text: toml_of(&job)?, hmac_sha256 })
    }

    /// The same for a job about a database, whose files end in `extension`. Nothing is ever done to other data by it.
    pub(crate) fn of_database(job: &DatabaseJob, extension: &str, key: Option<&Key>) -> Result<Self> {
        let mut job = job.clone();
        let database = &mut job.database;
        (database.output, database.key, database.record, database.sign) = (None, None, None, None);
        for (name, table) in &mut job.tables {
            table.path = Paths::One(format!("{name}{extension}").into());
            table.columns.values_mut().for_each(without_paths);
        }
        job.policy.require.iter_mut().for_each(|require| {
            require.hierarchy_mut().into_iter().for_each(without_path);
        });
        let hmac_sha256 = digest(&job, key)?;
        for column in job.tables.values_mut().flat_map(|table| table.columns.values_mut()) {
            strip_column(column, || None);
        }
        job.policy.require.iter_mut().for_each(strip_requirement);
        Ok(JobText { text: toml_of(&job)?, hmac_sha256 })
    }
}

fn digest(job: &impl Serialize, key: Option<&Key>) -> Result<String> {
    let Some(key) = key else {
        return Ok(String::new());
    };
    Ok(hex(&key.digest("job", &[toml_of(job)?.as_bytes()])))
}

pub(crate) fn toml_of(value: &impl Serialize) -> Result<String> {
    toml::to_string(value)
        .map_err(|error| Error::new(ErrorKind::Internal, format!("the job cannot be written: {error}")))
}

/// Leaves of paths their last part.
fn without_paths(column: &mut ColumnJob) {
    column.hierarchy.iter_mut().for_each(without_path);
}

fn without_path(hierarchy: &mut HierarchyJob) {
    if let Some(file) = hierarchy.files_mut() {
        *file = file.file_name().unwrap_or_default().into();
    }
}

/// Takes lists out of what a job says of a column; `length` is that of a mask's values, where it may be told.
fn strip_column(column: &mut ColumnJob, length: impl Fn() -> Option<usize>) {
    if let Some(OrderJob::Categories(categories)) = &mut column.order {
        // Some may be values of suppressed rows, and how many they are says how many values there are.
        *categories = vec![IN_THE_JOB.to_owned()];
    }
    let Some(hierarchy) = &mut column.hierarchy else {
        return;
    };
    strip_tree(hierarchy);
    if hierarchy.mask.is_some() && hierarchy.length.is_none() {
        hierarchy.length = length();
    }
}

/// The leaves of a tree may be values of suppressed rows.
fn strip_tree(hierarchy: &mut HierarchyJob) {
    if let Some(TreeJob::Branches(_)) = &hierarchy.tree {
        hierarchy.tree = Some(TreeJob::File(IN_THE_JOB.into()));
    }
}

fn strip_requirement(require: &mut RequireJob) {
    let publishes_values = require.publish_values;
    let placeholder = || NumberOrText::Text(IN_THE_JOB.to_owned());
    for (parameter, written) in require.written_mut() {
        match (written, parameter.kind) {
            (Written::One(_), _) => {}
            // How many values there are is nobody's business.
            (Written::List(order), ParameterKind::Order) => *order = vec![placeholder()],
            // The publisher wants them to be known.
            (Written::List(_), ParameterKind::Values) if publishes_values => {}
            // As many as there were: how many values are pooled is part of the claim.
            (Written::List(values), _) => values.fill(placeholder()),
            (Written::Hierarchy(hierarchy), _) => strip_tree(hierarchy),
        }
    }
}

/// A keyed digest of each hierarchy of a job: of its file, or of its rule. Empty without the key. Names begin with that of the
/// table, where there are several.
pub(crate) fn hierarchies(
    job: &Job,
    table: Option<&str>,
    key: Option<&Key>,
) -> Result<BTreeMap<String, String>> {
    let digest = |name: &str, hierarchy: &HierarchyJob| -> Result<(String, String)> {
        let name = table.map_or(name.to_owned(), |table| format!("{table}.{name}"));
        let Some(key) = key else {
            return Ok((name, String::new()));
        };
        let mut rule = hierarchy.clone();
        // Which levels may be chosen, and how long values are, is the job's business.
        (rule.levels, rule.length) = (None, None);
        let mut content = Vec::new();
        if let Some(file) = rule.files_mut() {
            let path = job.resolve(file);
            *file = "file".into();
            content = std::fs::read(&path).map_err(|error| {
                Error::new(ErrorKind::Io, format!("cannot read the hierarchy `{}`: {error}", path.display()))
            })?;
        }
        let rule = toml_of(&rule)?;
        let digest = key.digest("hierarchy", &[name.as_bytes(), &content, rule.as_bytes()]);
        Ok((name, hex(&digest)))
    };
    let is_quasi = |(_, column): &(&String, &ColumnJob)| column.role == RoleJob::QuasiIdentifier;
    let quasi_identifiers = job.columns.iter().filter(is_quasi);
    quasi_identifiers
        .map(|(name, column)| digest(name, &column.hierarchy.clone().unwrap_or_default()))
        .chain(requirements::hierarchies_of(job).map(|(name, hierarchy)| digest(&name, hierarchy)))
        .collect()
}
