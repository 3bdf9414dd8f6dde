//! A job that has been checked against its data.
//!
//! Building a [`Plan`] reads the data and the hierarchies and checks every name, number and role. Mistakes are
//! collected and reported together, as far as they can be found without each other: settings first (a typo should
//! not cost the time to read the data), then columns, then hierarchies.

pub(crate) mod by_counts;
mod columns;
mod cube_file;
pub(crate) mod judges;
pub(crate) mod decide;
pub(crate) mod hierarchies;
pub(crate) mod level_name;
pub(crate) mod mask_length;
pub(crate) mod notation;
pub(crate) mod orders;
mod preset;
pub(crate) mod replace;
pub(crate) mod requirements;
pub(crate) mod route;
mod settings;

pub(crate) use columns::{WithoutQuasi, check_columns, check_roles, role};
pub(crate) use route::{Chosen, Question, Route};
pub(crate) use settings::budget;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use incog_core::algorithm::{Algorithm, Search};
use incog_core::frequency::{FrequencySource, KeyLayout, Rows};
use incog_core::hierarchy::{Attribute, Attributes};
use incog_core::judge::Problem;
use incog_core::metric::{Costs, Metric};
use incog_core::privacy::{Policy, PrivacyModel};
use incog_core::recoding::Domains;
use incog_core::registry::Entry;
use incog_core::table::{Column, Role, Table};
use incog_core::{Error, ErrorKind, Progress, Result};
use rayon::prelude::*;

use crate::file::Stamps;
use crate::job::{ColumnJob, Job, Mistakes, RoleJob, patterns};
use crate::plan::columns::{DECLARE, check_unit};
use crate::plan::decide::Decide;
use crate::plan::mask_length::Holders;
use crate::plan::replace::{Pseudonyms, ReplacedColumn};
use crate::plan::requirements::{CountedBy, Models};
use crate::plan::route::AlgorithmChoice;
use crate::plan::settings::Settings;
use crate::source::spill::Spilled;
use crate::source::sql::SqlTable;
use crate::source::{
    Bindings, Elsewhere, Format, Input, Loaded, Opened, ReadOptions, RowsOfDatabase, engine,
};

/// Data, policy and search, all checked.
pub(crate) struct Plan {
    pub(crate) job: Job,
    pub(crate) table: Table,
    /// How the input's cells are written, and so the release's.
    pub(crate) format: Format,
    /// The files of the data.
    pub(crate) files: Vec<PathBuf>,
    pub(crate) attributes: Attributes,
    pub(crate) rows: Box<dyn FrequencySource>,
    /// The rows of the table, where they did not fit the memory.
    pub(crate) spilled: Option<Arc<Spilled>>,
    /// What has the rows of the table, where they stay where they are.
    pub(crate) elsewhere: Option<Elsewhere>,
    /// The table of a database that the rows are in, or were copied from.
    pub(crate) sql: Option<Arc<SqlTable>>,
    /// Columns of pseudonyms.
    pub(crate) replaced: Vec<ReplacedColumn>,
    /// The files of hierarchies as they were before they were read.
    hierarchy_stamps: Stamps,
    pub(crate) policy: Policy,
    /// The part of it that generalizations are chosen by, if not the whole.
    pub(crate) decided_by: Option<Policy>,
    /// The way to a recoding.
    pub(crate) route: Route,
    pub(crate) names: Names,
    pub(crate) metric: &'static dyn Metric,
    pub(crate) weights: Vec<f64>,
    /// What was found out of the data, a line each.
    pub(crate) notes: Vec<String>,
    /// Are the levels those of an earlier release?
    pub(crate) is_replayed: bool,
}

/// What the parts of a search are called, for reports.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Names {
    pub(crate) marking: &'static str,
    pub(crate) metric: &'static str,
    pub(crate) decide: &'static str,
}

impl std::fmt::Debug for Plan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Plan")
            .field("policy", &self.policy)
            .field("route", &self.route.chosen().name())
            .finish_non_exhaustive()
    }
}

/// What is asked of a job, beside what it says itself.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) question: Question,
    /// The levels of an earlier release: there is nothing else to choose.
    pub(crate) levels: Option<&'a BTreeMap<String, u8>>,
    /// Whether identifiers are replaced by pseudonyms where the job says so.
    pub(crate) pseudonyms: Pseudonyms,
    /// An algorithm that is in no list, in the place of what the job names.
    pub(crate) algorithm: Option<&'static Entry<Algorithm>>,
    /// Whether the rows of a database are needed here.
    pub(crate) rows: RowsOfDatabase,
}

impl Asked<'_> {
    /// One release, found as the job says.
    pub(crate) const ONE: Asked<'static> = Asked {
        question: Question::One,
        levels: None,
        pseudonyms: Pseudonyms::Hidden,
        algorithm: None,
        rows: RowsOfDatabase::Here,
    };
    /// Every generalization.
    pub(crate) const EVERY: Asked<'static> =
        Asked { question: Question::Every, rows: RowsOfDatabase::MayStay, ..Asked::ONE };
    /// One recoding, which need not be applied here.
    pub(crate) const COUNTED: Asked<'static> = Asked { rows: RowsOfDatabase::MayStay, ..Asked::ONE };
}

impl Plan {
    /// Checks a job and reads its data. Stops when it is cancelled.
    pub(crate) fn new(mut own: Job, input: Input, asked: Asked<'_>, progress: &Progress) -> Result<Self> {
        let (mut mistakes, mut notes) = (Mistakes::default(), Vec::new());
        let opened = named(&mut own, input, &mut mistakes, &mut notes, progress)?;
        let job = &own;
        let settings = Settings::of(job, asked.algorithm, &mut mistakes);
        let opened = mistakes.note(opened);
        if let Some(opened) = &opened {
            check_columns(job, opened.header(), DECLARE, &mut mistakes);
        }
        mistakes.stop()?;
        let (Some(settings), Some(opened)) = (settings, opened) else {
            return Err(Error::new(ErrorKind::Internal, "a mistake in the settings was not told"));
        };
        let hierarchy_stamps = requirements::stamps_of(job);
        let is_asked = |name: &str| {
            matches!(role(job, name), Role::QuasiIdentifier | Role::Sensitive)
                || job.policy.require.iter().any(|require| require.sensitive.as_deref() == Some(name))
        };
        let rows = asked.rows_of(job);
        let mut data =
            opened.read(settings.memory.clone(), rows, |name| role(job, name), is_asked, progress)?;
        notes.append(&mut data.format.notes);
        let mut mistakes = Mistakes::default();
        notes.extend(notation::settle(job, &mut data.table, &mut mistakes));
        let replaced = replace::settle(job, &mut data, asked.pseudonyms, &mut mistakes)?;
        notes.extend(replace::notes(&replaced));
        mistakes.stop()?;
        if let Some(spilled) = &data.spilled {
            check_spilled(job, spilled, &settings.algorithm)?;
        }
        let Bound { attributes, rows, policy } = Bound::new(job, &settings, &data, asked.levels)?;
        let rows = cube_file::with_cube(job, settings.judge, rows, &attributes, &policy, progress)?;
        let decided_by = if settings.decide.item == Decide::KOnly { policy.k_only() } else { None };
        let deciding = Problem { source: &*rows, policy: decided_by.as_ref().unwrap_or(&policy) };
        let search = Search {
            marking: settings.marking.item,
            one_label: settings.one_label,
            threads: settings.threads,
            ..Search::default()
        };
        let route = settings.algorithm.settle(
            asked.question,
            settings.judge,
            search,
            deciding,
            &attributes,
            settings.metric.item,
        )?;
        route::check_one_label(job, &route)?;
        if route.local().is_some() {
            replace::refuse_local(job, &replaced)?;
        }
        let weight = |attribute: &Attribute| job.search.weights.get(attribute.name()).copied().unwrap_or(1.0);
        Ok(Plan {
            weights: attributes.iter().map(weight).collect(),
            route,
            names: Names {
                marking: settings.marking.name,
                metric: settings.metric.name,
                decide: settings.decide.name,
            },
            metric: settings.metric.item,
            job: own,
            format: data.format,
            files: data.files,
            table: data.table,
            spilled: data.spilled.map(Arc::new),
            elsewhere: data.elsewhere,
            sql: data.sql,
            policy,
            decided_by,
            attributes,
            rows,
            hierarchy_stamps,
            replaced,
            notes,
            is_replayed: asked.levels.is_some(),
        })
    }

    /// The table as it was collected: without pseudonyms.
    pub(crate) fn collected(&self) -> Result<Cow<'_, Table>> {
        replace::collected(&self.table, &self.replaced)
    }

    /// Gives up a plan whose process is about to end: the system takes back its memory faster than a hundred thousand columns do one
    /// by one. Files are closed as ever.
    pub(crate) fn leave(self) {
        if self.spilled.is_none() && self.elsewhere.is_none() {
            std::mem::forget(self);
        }
    }

    /// What the data are called: the names of their files.
    pub(crate) fn data_name(&self) -> String {
        let name = |path: &PathBuf| path.file_name().map(|name| name.to_string_lossy().into_owned());
        let names: Vec<String> = self.files.iter().filter_map(name).collect();
        match names.len() {
            0 => "a table in memory".to_owned(),
            1 | 2 => names.join(" and "),
            n => format!("{} and {} more files", names[0], n - 1),
        }
    }

    /// The part of the policy that generalizations are chosen by.
    pub(crate) fn deciding(&self) -> &Policy {
        self.decided_by.as_ref().unwrap_or(&self.policy)
    }

    /// What a search of the lattice has to solve.
    pub(crate) fn deciding_problem(&self) -> Problem<'_> {
        Problem { source: &*self.rows, policy: self.deciding() }
    }

    /// The orders that an algorithm goes by; none unless it makes boxes.
    pub(crate) fn domains(&self, chosen: Option<&Chosen>) -> Result<Domains> {
        match chosen {
            Some(chosen) if chosen.goes_by_order() => {
                orders::domains(&self.job, &self.table, &self.attributes)
            }
            _ => Ok(vec![None; self.attributes.len()]),
        }
    }

    /// Fails if a hierarchy file is another than the one that was read: a record would name the wrong one.
    pub(crate) fn check_hierarchies(&self) -> Result<()> {
        self.hierarchy_stamps.check("a hierarchy")
    }

    /// What is to be solved.
    pub(crate) fn problem(&self) -> Problem<'_> {
        Problem { source: &*self.rows, policy: &self.policy }
    }

    /// Fails if the rows of the table are not in memory, where `what` needs them.
    pub(crate) fn in_memory(&self, what: &str) -> Result<()> {
        self.here(what)?;
        match &self.spilled {
            Some(spilled) => Err(spilled.memory.refuse(what)),
            None => Ok(()),
        }
    }

    /// Fails if the rows of the table are in an engine, where `what` needs them.
    pub(crate) fn here(&self, what: &str) -> Result<()> {
        if self.elsewhere.is_some() { Err(engine::refuse(what)) } else { Ok(()) }
    }

    /// What generalization costs in this table.
    pub(crate) fn costs(&self) -> Result<Costs> {
        Costs::new(self.problem(), &self.attributes)?.with_weights(self.weights.clone())
    }
}

impl Asked<'_> {
    /// Whether the rows of a job's database are needed here: pseudonyms are made where rows are in memory.
    fn rows_of(&self, job: &Job) -> RowsOfDatabase {
        let is_replaced = job.columns.values().any(|column| column.replace.is_some());
        if is_replaced { RowsOfDatabase::Here } else { self.rows }
    }
}

/// Opens the data of a job, which from then on names every column that it has a role for; or why they cannot be opened.
fn named(
    job: &mut Job,
    input: Input,
    mistakes: &mut Mistakes,
    notes: &mut Vec<String>,
    progress: &Progress,
) -> Result<Result<Opened>> {
    // Only a preset looks at the data twice.
    let again = job.preset.map(|_| input.clone());
    let opened = ReadOptions::of_job(job).and_then(|options| input.open(options));
    let Ok(header) = opened.as_ref().map(Opened::header) else {
        return Ok(opened);
    };
    patterns::resolve(job, header, mistakes);
    if let Some(role) = job.rest {
        let unit = job.policy.unit.clone();
        for name in header.iter().filter(|name| unit.as_ref() != Some(name)) {
            job.columns.entry(name.clone()).or_insert_with(|| ColumnJob::new(role));
        }
    }
    if let Some(input) = &again {
        notes.extend(preset::settle(job, input, mistakes, progress)?);
    }
    Ok(opened)
}

/// A job's hierarchies and policy, tied to its data.
struct Bound {
    attributes: Attributes,
    rows: Box<dyn FrequencySource>,
    policy: Policy,
}

impl Bound {
    fn new(
        job: &Job,
        settings: &Settings<'_>,
        data: &Loaded,
        fixed: Option<&BTreeMap<String, u8>>,
    ) -> Result<Self> {
        let Loaded { table, spilled, elsewhere, .. } = data;
        let n_rows = table.n_rows() as u64;
        let budget = settings.budget.rows(n_rows);
        let mut mistakes = Mistakes::default();
        if budget > n_rows {
            let mistake = format!("suppression of {budget} rows is over 100 %: the table has {n_rows}");
            let mistake = job.mistake(&["policy", "suppression"], mistake);
            mistakes.add(mistake.with_hint("write a smaller number of rows or a percentage (\"1%\")"));
        }
        let attributes = attributes(job, data, fixed, &mut mistakes);
        mistakes.note(check_unit(job, table, elsewhere.as_ref()));
        if let Some(elsewhere) = elsewhere {
            mistakes.stop()?;
            return Bound::elsewhere(job, settings, (table, elsewhere), Attributes::new(attributes)?, budget);
        }
        // Models look at the rows of their columns, which must be there.
        let required = spilled.as_ref().map(|spilled| required_columns(job, table, spilled)).transpose()?;
        let seen = required.as_ref().unwrap_or(table);
        let Models { columns, models } =
            requirements::build(job, &settings.requirements, (seen, CountedBy::Rows), budget, &mut mistakes);
        mistakes.stop()?;
        let attributes = Attributes::new(attributes)?;
        let rows: Box<dyn FrequencySource> = match spilled {
            None => {
                let mut rows = Rows::new(table, &attributes)?;
                if let Some(unit) = &job.policy.unit {
                    rows = rows.with_unit(table, unit)?;
                }
                if !columns.is_empty() {
                    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
                    rows = rows.with_sensitive(table, &columns)?;
                }
                Box::new(rows)
            }
            Some(spilled) => {
                let codes =
                    |name: &String| seen.column(name).map_or(Vec::new(), |column| column.codes().to_vec());
                let sensitive = columns.iter().map(codes).collect();
                spilled.source(table, &attributes, sensitive, settings.algorithm.takes_cells())?
            }
        };
        Ok(Bound { attributes, rows, policy: policy(job, settings, models, budget, n_rows)? })
    }

    /// The same for a table in an engine: models ask it for counts.
    fn elsewhere(
        job: &Job,
        settings: &Settings<'_>,
        (table, elsewhere): (&Table, &Elsewhere),
        attributes: Attributes,
        budget: u64,
    ) -> Result<Self> {
        let column = |name: &str| table.column(name).expect("every declared column is in the table");
        let columns = requirements::columns(&settings.requirements);
        let rows = elsewhere.source(&Bindings {
            attributes: &attributes,
            layout: Arc::new(KeyLayout::new(&attributes)),
            quasi_identifiers: attributes.iter().map(|attribute| column(attribute.name())).collect(),
            sensitive: columns.iter().map(|name| column(name)).collect(),
            unit: job.policy.unit.as_deref(),
        })?;
        let mut mistakes = Mistakes::default();
        let counted = (table, CountedBy::Source(&*rows));
        let Models { models, .. } =
            requirements::build(job, &settings.requirements, counted, budget, &mut mistakes);
        mistakes.stop()?;
        let policy = policy(job, settings, models, budget, table.n_rows() as u64)?;
        Ok(Bound { attributes, rows, policy })
    }
}

/// What is asked of a table with this number of rows.
fn policy(
    job: &Job,
    settings: &Settings<'_>,
    models: Vec<Box<dyn PrivacyModel>>,
    budget: u64,
    n_rows: u64,
) -> Result<Policy> {
    let k_anonymity: Box<dyn PrivacyModel> = Box::new(settings.k_anonymity);
    let mut policy = Policy::new([k_anonymity].into_iter().chain(models).collect(), budget)?;
    if let Some(most) = settings.combinations {
        policy = policy
            .with_combinations(most, job.quasi_identifiers().len())
            .map_err(|error| job.at(&["policy", "combinations"], &error))?;
    }
    policy.feasible(n_rows)?;
    Ok(policy)
}

/// The quasi-identifiers of a job, each tied to its column, in the order of the job.
fn attributes(
    job: &Job,
    data: &Loaded,
    fixed: Option<&BTreeMap<String, u8>>,
    mistakes: &mut Mistakes,
) -> Vec<Attribute> {
    let is_quasi = |(_, column): &(&String, &ColumnJob)| column.role == RoleJob::QuasiIdentifier;
    let quasi_identifiers: Vec<(&String, &ColumnJob)> = job.columns.iter().filter(is_quasi).collect();
    let Loaded { table, spilled, elsewhere, .. } = data;
    let persons = mask_length::persons(job, table);
    let holders = match (elsewhere, &job.policy.unit) {
        (None, _) => Holders::of(spilled.as_ref(), table, persons.as_deref()),
        (Some(elsewhere), None) => Holders::Elsewhere(elsewhere),
        (Some(_), Some(_)) => Holders::PersonsElsewhere,
    };
    let attributes = quasi_identifiers.into_par_iter().map(|(name, column)| {
        let data = table.column(name).expect("every declared column is in the table");
        let fixed = fixed.and_then(|levels| levels.get(name)).copied();
        hierarchies::attribute(job, name, column, (data, holders), fixed)
    });
    // In the order of the columns, whichever thread was first.
    let attributes: Vec<Result<Attribute>> = attributes.collect();
    attributes.into_iter().filter_map(|attribute| mistakes.note(attribute)).collect()
}

/// The columns that a job's requirements are about, of a table whose rows are elsewhere.
fn required_columns(job: &Job, table: &Table, spilled: &Spilled) -> Result<Table> {
    let names = job.policy.require.iter().filter_map(|require| require.sensitive.as_ref());
    let mut columns: Vec<Column> = Vec::new();
    for name in names {
        if columns.iter().all(|column| column.name() != name) {
            columns.push(spilled.column(table, name)?);
        }
    }
    Table::new(columns)
}

/// What takes all rows at once cannot be done to rows that are not in memory.
fn check_spilled(job: &Job, spilled: &Spilled, algorithm: &AlgorithmChoice) -> Result<()> {
    if job.policy.unit.is_some() {
        return Err(spilled.memory.refuse("persons with several rows are counted in memory"));
    }
    if algorithm.takes_all_rows() {
        return Err(spilled.memory.refuse("the algorithm that the job names takes all rows at once"));
    }
    Ok(())
}
