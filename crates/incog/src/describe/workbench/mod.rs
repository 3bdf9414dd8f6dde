//! What does a hierarchy say, is it sound, and how is it written down?
//!
//! A [`Bench`] holds hierarchies from wherever they come: the columns of a job, a file, or a rule on its own. Each is a
//! [`Subject`] that can be shown ([`Subject::show`]), checked ([`Subject::check`]: all problems of a file, not only
//! the first) and made ([`Subject::make`]: as a file).
//!
//! `show` and `make` print values, which is what they are for. `check` and every error speak of columns, lines, levels
//! and counts only.

mod containment;
mod check;
mod show;
mod make;

pub use check::{Finding, HierarchyReport, Verdict};
pub use make::HierarchyFile;

use std::cmp::Ordering;
use std::path::{Path, PathBuf};

use incog_core::hierarchy::Hierarchy;
use incog_core::hierarchy::spec::{Decimal, Spec};
use incog_core::registry::nearest;
use incog_core::table::label::EMPTY_TEXT;
use incog_core::table::{Column, Role, Table};
use incog_core::{Error, Progress, Result};

use crate::job::{ColumnJob, HierarchyJob, Job, Mistakes, Paths, RoleJob, patterns};
use crate::plan::by_counts;
use crate::plan::hierarchies;
use crate::plan::mask_length::{self, Holders, SharedLength};
use crate::plan::notation;
use crate::source::{self, Data, ReadOptions};

/// Declared domains with more values than this are not written out.
const MAX_DECLARED: u64 = 10_000;

/// Hierarchies to look at, with the data they are for.
#[derive(Debug)]
pub struct Bench {
    job: Job,
    columns: Vec<String>,
    table: Option<Table>,
}

/// One hierarchy, with the column it is for.
#[derive(Debug)]
pub struct Subject<'a> {
    job: &'a Job,
    name: &'a str,
    spec: HierarchyJob,
    data: Option<&'a Column>,
    /// The length of a mask whose length the job leaves open.
    shared: Option<SharedLength>,
}

impl Bench {
    /// The hierarchies of all quasi-identifiers of a job, or of one.
    pub fn of_job(job: &Job, column: Option<&str>, progress: &Progress) -> Result<Self> {
        let named = named(job)?;
        let job = named.as_ref().unwrap_or(job);
        let names: Vec<&str> = job
            .columns
            .iter()
            .filter(|(_, column)| column.role == RoleJob::QuasiIdentifier)
            .map(|(name, _)| name.as_str())
            .collect();
        let columns = match column {
            None if names.is_empty() => {
                return Err(job
                    .mistake(&["columns"], "no column is a quasi-identifier")
                    .with_hint("declare at least one column with role = \"quasi-identifier\""));
            }
            None => names.iter().map(|&name| name.to_owned()).collect(),
            Some(column) if names.contains(&column) => vec![column.to_owned()],
            Some(column) => {
                let advice = nearest(names.iter().copied(), column)
                    .map_or(String::new(), |near| format!("; did you mean `{near}`?"));
                return Err(Error::input(format!("`{column}` is no quasi-identifier of the job{advice}"))
                    .with_hint(format!("there are: {}", names.join(", "))));
            }
        };
        let mut table = read(&job.inputs(), ReadOptions::of_job(job)?, &columns, progress)?;
        let mut mistakes = Mistakes::default();
        notation::settle(job, &mut table, &mut mistakes);
        mistakes.stop()?;
        Ok(Bench { job: job.clone(), columns, table: Some(table) })
    }

    /// The hierarchy in a file, for a column of the data, where data is given. The column is called like the file
    /// unless said otherwise.
    pub fn of_file(
        path: &Path,
        column: Option<&str>,
        against: Option<&Path>,
        progress: &Progress,
    ) -> Result<Self> {
        let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let spec = HierarchyJob { file: Some(path.to_owned()), ..HierarchyJob::default() };
        Bench::of_one(column.unwrap_or(&stem), spec, against, progress)
    }

    /// The hierarchy that a rule makes for a column of the data. The rule is written as in a job file. Data is not
    /// needed where the rule says itself which values there are: a tree, or intervals with bounds.
    pub fn of_rule(rule: &str, column: &str, against: Option<&Path>, progress: &Progress) -> Result<Self> {
        Bench::of_one(column, HierarchyJob::parse(rule)?, against, progress)
    }

    /// A job of one column: everything else works on jobs.
    fn of_one(column: &str, spec: HierarchyJob, against: Option<&Path>, progress: &Progress) -> Result<Self> {
        // Nothing but the column is ever asked for.
        let mut job = Job::parse("[input]\npath = \"-\"\n[policy]\nk = 1\n")?;
        let columns = vec![column.to_owned()];
        job.columns.insert(
            column.to_owned(),
            ColumnJob { hierarchy: Some(spec), ..ColumnJob::new(RoleJob::QuasiIdentifier) },
        );
        if let Some(path) = against {
            job.input.path = Paths::One(path.to_owned());
        }
        let read = |path: &Path| read(&[path.to_owned()], ReadOptions::of_job(&job)?, &columns, progress);
        let table = against.map(read).transpose()?;
        Ok(Bench { job, columns, table })
    }

    /// The hierarchies, in the order of the job.
    pub fn subjects(&self) -> Result<Vec<Subject<'_>>> {
        self.columns.iter().map(|name| self.subject(name)).collect()
    }

    fn subject<'a>(&'a self, name: &'a str) -> Result<Subject<'a>> {
        let column = self.job.columns.get(name);
        let spec = column.and_then(|column| column.hierarchy.clone()).unwrap_or_default();
        hierarchies::check(&self.job, name, &spec)?;
        let data = self.table.as_ref().and_then(|table| table.column(name));
        let shared = match (&self.table, data) {
            (Some(table), Some(data)) => {
                let persons = mask_length::persons(&self.job, table);
                let holders = Holders::of(None, table, persons.as_deref());
                SharedLength::of(&spec, data, holders, self.job.policy.k.unsigned_abs())?
            }
            _ => None,
        };
        Ok(Subject { job: &self.job, name, spec, data, shared })
    }

    /// The one hierarchy, if there is only one.
    pub fn only_subject(&self) -> Result<Subject<'_>> {
        let mut subjects = self.subjects()?;
        match (subjects.pop(), subjects.is_empty()) {
            (Some(subject), true) => Ok(subject),
            _ => Err(Error::input("the job has several quasi-identifiers")
                .with_hint(format!("choose one with --column: {}", self.columns.join(", ")))),
        }
    }
}

/// The same job with the columns of the data in the place of patterns; nothing where it has none.
fn named(job: &Job) -> Result<Option<Job>> {
    if !job.columns.keys().any(|name| patterns::is_pattern(name)) {
        return Ok(None);
    }
    let data = Data::open(&job.inputs(), ReadOptions::of_job(job)?)?;
    let (mut named, mut mistakes) = (job.clone(), Mistakes::default());
    patterns::resolve(&mut named, data.header(), &mut mistakes);
    mistakes.stop()?;
    Ok(Some(named))
}

/// The data, which must have these columns.
fn read(paths: &[PathBuf], options: ReadOptions, columns: &[String], progress: &Progress) -> Result<Table> {
    let data = Data::open(paths, options)?;
    for name in columns {
        if !data.header().contains(name) {
            let path = &data.files()[0];
            // What else stands in the first line may be somebody's cells: it is not repeated.
            return Err(Error::input(format!("data file `{}` has no column `{name}`", path.display()))
                .with_hint(
                    "name the column with --column; the first line of the data must name the columns",
                ));
        }
    }
    Ok(data.read(|_| Role::QuasiIdentifier, progress)?.0)
}

impl Subject<'_> {
    /// The column's name.
    pub fn name(&self) -> &str {
        self.name
    }

    /// Where the hierarchy comes from, for people.
    fn origin(&self) -> String {
        match &self.spec.file {
            Some(file) => format!("`{}`", self.job.resolve(file).display()),
            None => "a rule".to_owned(),
        }
    }

    /// The hierarchy with a leaf for every value it knows of.
    fn hierarchy(&self) -> Result<Hierarchy> {
        if by_counts::is_by_counts(&self.spec) {
            let key = ["columns", self.name, "hierarchy"];
            let data = self.data.ok_or_else(|| self.needs_data())?;
            return by_counts::hierarchy(self.job, &key, &self.spec, data, Holders::Rows);
        }
        if let Some(file) = &self.spec.file {
            return source::read_hierarchy(&self.job.resolve(file), self.name);
        }
        self.build(&hierarchies::rule(self.job, self.name, &self.spec, self.shared)?)
    }

    fn needs_data(&self) -> Error {
        Error::input(format!("column `{}`: the rule needs the values of the data", self.name))
            .with_hint("name the data with --against DATA")
    }

    /// What a rule makes of the values of the data and of those that it declares itself.
    fn build(&self, rule: &Spec) -> Result<Hierarchy> {
        let declared = rule.declared_values(MAX_DECLARED);
        if self.data.is_none() && declared.is_none() {
            return Err(self.needs_data());
        }
        let mut values = match self.data {
            Some(data) => data.clone(),
            None => Column::new(self.name, Role::QuasiIdentifier),
        };
        for value in declared.iter().flatten() {
            values.push(value)?;
        }
        rule.build(&values, self.spec.missing.as_deref())
            .map_err(|error| self.job.at(&["columns", self.name, "hierarchy"], &error))
    }
}

/// A value with its label at each level, one per leaf: numbers by value, then everything else by text; the missing
/// value first.
fn paths(hierarchy: &Hierarchy) -> Vec<Vec<&str>> {
    let mut paths: Vec<Vec<&str>> = (0..hierarchy.labels(0).len() as u32)
        .map(|leaf| {
            (0..=hierarchy.height())
                .map(|level| hierarchy.labels(level).value(hierarchy.generalize(leaf, 0, level)))
                .collect()
        })
        .collect();
    paths.sort_by(|a, b| natural(a[0], b[0]));
    paths
}

fn natural(a: &str, b: &str) -> Ordering {
    let kind = |value: &str, number: &Option<Decimal>| match number {
        _ if value.is_empty() => 0,
        _ if value == EMPTY_TEXT => 1,
        Some(_) => 2,
        None => 3,
    };
    let (number_a, number_b) = (Decimal::parse(a), Decimal::parse(b));
    kind(a, &number_a).cmp(&kind(b, &number_b)).then_with(|| number_a.cmp(&number_b)).then_with(|| a.cmp(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_sorted_as_people_would() {
        let mut values = vec!["b", "10", "", "9", "-1", "9.5", "09", "a"];
        values.sort_by(|a, b| natural(a, b));
        assert_eq!(values, ["", "-1", "09", "9", "9.5", "10", "a", "b"]);
    }
}
