//! A job that has been checked against its data.
//!
//! Building a [`Plan`] reads the data and the hierarchies and checks every name, number and role. Mistakes are
//! collected and reported together, as far as they can be found without each other: settings first (a typo should
//! not cost the time to read the data), then columns, then hierarchies.

use std::collections::BTreeMap;
use std::path::PathBuf;

use incog_core::algorithm::{MARKINGS, Search};
use incog_core::check::{self, Problem};
use incog_core::frequency::{FrequencySource, Rows};
use incog_core::hierarchy::{Attribute, Attributes};
use incog_core::metric::{self, Costs, MAX_WEIGHT, MIN_WEIGHT, Metric};
use incog_core::privacy::{Budget, KAnonymity, Policy, PrivacyModel};
use incog_core::registry::{Entry, find, nearest};
use incog_core::table::label::EMPTY_TEXT;
use incog_core::table::{Column, Role, Table};
use incog_core::{Error, Result, Watch, hash};
use rayon::prelude::*;

use crate::checkers::CheckerChoice;
use crate::decide::{DECIDE, Decide};
use crate::hierarchies;
use crate::job::{ColumnJob, CountOrText, Job, MissingUnit, RoleJob, listed};
use crate::local::{AlgorithmChoice, LocalSearch, NodeSearch};
use crate::mask_length::{self, Holders};
use crate::orders;
use crate::record::{Key, Record};
use crate::requirements::{self, Models};
use crate::source::{Data, Format, Stamps};
use crate::spill::{Memory, Spilled};

/// Data, policy and search, all checked.
pub struct Plan {
    pub(crate) job: Job,
    pub(crate) table: Table,
    /// How the input's cells are written, and so the release's.
    pub(crate) format: Format,
    /// The files of the data.
    pub(crate) files: Vec<PathBuf>,
    pub(crate) attributes: Attributes,
    pub(crate) rows: Box<dyn FrequencySource>,
    /// The rows of the table, where they did not fit the memory.
    pub(crate) spilled: Option<Spilled>,
    /// The files of hierarchies as they were before they were read.
    hierarchy_stamps: Stamps,
    pub(crate) policy: Policy,
    /// The part of it that generalizations are chosen by, if not the whole.
    pub(crate) decided_by: Option<Policy>,
    pub(crate) search: Search,
    /// How to find one node instead, if not by a traversal.
    pub(crate) node: Option<NodeSearch>,
    /// How to search instead, where recoding is not by whole columns.
    pub(crate) local: Option<LocalSearch>,
    pub(crate) names: Names,
    pub(crate) metric: &'static dyn Metric,
    pub(crate) weights: Vec<f64>,
}

/// What the parts of a search are called, for reports.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Names {
    pub(crate) checker: &'static str,
    pub(crate) marking: &'static str,
    pub(crate) metric: &'static str,
    pub(crate) decide: &'static str,
}

impl std::fmt::Debug for Plan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Plan")
            .field("policy", &self.policy)
            .field("search", &self.search)
            .finish_non_exhaustive()
    }
}

/// More threads than this are a typing error.
const MAX_THREADS: usize = 1024;

/// Mistakes found so far.
#[derive(Debug, Default)]
pub(crate) struct Mistakes(Vec<Error>);

impl Mistakes {
    /// The value, or a default with the mistake noted.
    pub(crate) fn note<T>(&mut self, result: Result<T>) -> Option<T> {
        result.map_err(|error| self.0.push(error)).ok()
    }

    /// Those of another list too, each with a prefix that says where.
    pub(crate) fn take(&mut self, others: &Mistakes, prefix: &str) {
        self.0.extend(others.0.iter().map(|error| error.prefixed(prefix)));
    }

    /// Fails if there were any: with the one, or with all of them, a line each, and the first hint.
    pub(crate) fn stop(self) -> Result<()> {
        let Some(first) = self.0.first() else {
            return Ok(());
        };
        if self.0.len() == 1 {
            return Err(first.clone());
        }
        let lines = listed(self.0.iter().map(ToString::to_string), "mistake", "mistakes");
        let error = Error::new(first.kind(), lines.join("\n"));
        Err(match self.0.iter().find_map(Error::hint) {
            Some(hint) => error.with_hint(hint),
            None => error,
        })
    }
}

impl Plan {
    /// Checks a job and reads its data. Stops when the watch is cancelled.
    pub fn new(job: &Job, watch: &Watch) -> Result<Self> {
        Plan::of(job.clone(), watch)
    }

    /// The same for a job that nobody else needs.
    pub fn of(job: Job, watch: &Watch) -> Result<Self> {
        Plan::with_levels(job, None, watch)
    }

    /// Gives up a plan whose process is about to end: the system takes back its memory faster than a hundred thousand columns do one
    /// by one. Files are closed as ever.
    pub fn leave(self) {
        if self.spilled.is_none() {
            std::mem::forget(self);
        }
    }

    /// The same with the levels of an earlier release: there is nothing else to choose. With the key that its record is sealed
    /// with, hierarchies must be those of that release; without it nobody can tell.
    pub fn like(job: &Job, record: &Record, key: Option<&Key>, watch: &Watch) -> Result<Self> {
        let is_quasi = |name: &String| {
            job.columns.get(name).is_some_and(|column| column.role == RoleJob::QuasiIdentifier)
        };
        let n_quasi = job.columns.values().filter(|column| column.role == RoleJob::QuasiIdentifier).count();
        if record.local.is_some() {
            // A local release has no levels that another could have.
            let is_other = record.quasi_identifiers.len() != n_quasi;
            if is_other || !record.quasi_identifiers.iter().all(is_quasi) {
                return Err(other_quasi_identifiers());
            }
            key.map_or(Ok(()), |key| record.check_hierarchies(job, key))?;
            return Plan::new(job, watch);
        }
        if record.levels.len() != n_quasi || !record.levels.keys().all(is_quasi) {
            return Err(other_quasi_identifiers());
        }
        key.map_or(Ok(()), |key| record.check_hierarchies(job, key))?;
        Plan::with_levels(job.clone(), Some(&record.levels), watch)
    }

    fn with_levels(own: Job, fixed: Option<&BTreeMap<String, u8>>, watch: &Watch) -> Result<Self> {
        let job = &own;
        let mut mistakes = Mistakes::default();
        let algorithm = mistakes.note(AlgorithmChoice::new(job));
        let checker = match &job.search.checker {
            None => mistakes.note(CheckerChoice::new(job, None)),
            Some(name) => mistakes.note(
                named(job, check::ALL, "checker", &job.search.checker, name)
                    .and_then(|named| CheckerChoice::new(job, Some(named))),
            ),
        };
        let marking = mistakes.note(named(job, MARKINGS, "marking", &job.search.marking, "transitive"));
        let metric = mistakes.note(named(job, metric::ALL, "metric", &job.search.metric, "loss"));
        let decide = mistakes.note(named(job, DECIDE, "decide", &job.search.decide, "all"));
        let threads = mistakes.note(threads(job));
        let model = mistakes.note(k_anonymity(job));
        let budget = mistakes.note(budget(job));
        if let Some(metric) = metric {
            mistakes.note(check_weights(job, metric));
        }
        mistakes.note(check_roles(job, WithoutQuasi::Refused));
        orders::check(job, &mut mistakes);
        let requirements = requirements::check(job, &mut mistakes);
        let memory = mistakes.note(Memory::of(job)).flatten();
        let delimiter = mistakes.note(delimiter(job));
        let data = delimiter.and_then(|delimiter| mistakes.note(Data::open(&job.inputs(), delimiter)));
        if let Some(data) = &data {
            check_columns(job, data.header(), DECLARE, &mut mistakes);
        }
        mistakes.stop()?;
        let everything = (algorithm, checker, marking, metric, decide, threads, model, budget, data);
        let (
            Some(algorithm),
            Some(checker),
            Some(marking),
            Some(metric),
            Some(decide),
            Some(threads),
            Some(model),
            Some(budget),
            Some(data),
        ) = everything
        else {
            unreachable!("whatever is missing was a mistake");
        };

        let files = data.files().to_vec();
        let hierarchy_stamps = requirements::stamps_of(job);
        let (table, format, spilled) = match memory {
            Some(memory) => data.read_within(memory, |name| role(job, name), watch)?,
            None => {
                let (table, format) = data.read(|name| role(job, name), watch)?;
                (table, format, None)
            }
        };
        if let Some(spilled) = &spilled {
            check_spilled(job, spilled, &algorithm)?;
        }
        let budget_rows = budget.rows(table.n_rows() as u64);
        let mut mistakes = Mistakes::default();
        if budget_rows > table.n_rows() as u64 {
            mistakes.0.push(
                job.mistake(
                    &["policy", "suppression"],
                    format!(
                        "suppression of {budget_rows} rows is over 100 %: the table has {}",
                        table.n_rows()
                    ),
                )
                .with_hint("write a smaller number of rows or a percentage (\"1%\")"),
            );
        }
        let is_quasi = |(_, column): &(&String, &ColumnJob)| column.role == RoleJob::QuasiIdentifier;
        let quasi_identifiers: Vec<(&String, &ColumnJob)> = job.columns.iter().filter(is_quasi).collect();
        let persons = mask_length::persons(job, &table);
        let holders = Holders::of(spilled.as_ref(), &table, persons.as_deref());
        let attributes = quasi_identifiers.into_par_iter().map(|(name, column)| {
            let data = table.column(name).expect("every declared column is in the table");
            let fixed = fixed.and_then(|levels| levels.get(name)).copied();
            hierarchies::attribute(job, name, column, (data, holders), fixed)
        });
        // In the order of the columns, whichever thread was first.
        let attributes: Vec<Result<Attribute>> = attributes.collect();
        let attributes: Vec<Attribute> =
            attributes.into_iter().filter_map(|attribute| mistakes.note(attribute)).collect();
        // Models look at the rows of their columns, which must be there.
        let required = match &spilled {
            None => None,
            Some(spilled) => {
                let names = job.policy.require.iter().filter_map(|require| require.sensitive.as_ref());
                let mut columns: Vec<Column> = Vec::new();
                for name in names {
                    if columns.iter().all(|column| column.name() != name) {
                        columns.push(spilled.column(&table, name)?);
                    }
                }
                Some(Table::new(columns)?)
            }
        };
        let seen = required.as_ref().unwrap_or(&table);
        mistakes.note(check_unit(job, &table));
        let Models { columns, models } =
            requirements::build(job, &requirements, seen, budget_rows, &mut mistakes);
        mistakes.stop()?;
        let attributes = Attributes::new(attributes)?;
        let rows: Box<dyn FrequencySource> = match &spilled {
            None => {
                let mut rows = Rows::new(&table, &attributes)?;
                if let Some(unit) = &job.policy.unit {
                    rows = rows.with_unit(&table, unit)?;
                }
                if !columns.is_empty() {
                    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
                    rows = rows.with_sensitive(&table, &columns)?;
                }
                Box::new(rows)
            }
            Some(spilled) => {
                let codes =
                    |name: &String| seen.column(name).map_or(Vec::new(), |column| column.codes().to_vec());
                spilled.source(&table, &attributes, columns.iter().map(codes).collect())?
            }
        };
        let k_anonymity: Box<dyn PrivacyModel> = Box::new(model);
        let policy = Policy::new([k_anonymity].into_iter().chain(models).collect(), budget_rows)?;
        policy.feasible(table.n_rows() as u64)?;
        let decided_by = if decide.item == Decide::KOnly { policy.k_only() } else { None };
        let any = Search::default().algorithm;
        let (algorithm, node, local) = match algorithm {
            AlgorithmChoice::Free => (checker.algorithm(&attributes.heights()), None, None),
            AlgorithmChoice::FullDomain(algorithm) => (algorithm, None, None),
            AlgorithmChoice::Node(node) => (any, Some(node), None),
            AlgorithmChoice::Local(local) => (any, None, Some(local)),
        };
        let deciding = Problem { source: &*rows, policy: decided_by.as_ref().unwrap_or(&policy) };
        let (checker_name, checker) = match (node, local) {
            (None, None) => checker.settle(deciding, algorithm)?,
            _ => ("none", Search::default().checker),
        };
        Ok(Plan {
            weights: attributes
                .iter()
                .map(|attribute| job.search.weights.get(attribute.name()).copied().unwrap_or(1.0))
                .collect(),
            policy,
            decided_by,
            search: Search { algorithm, checker, marking: marking.item, threads, ..Search::default() },
            node,
            local,
            names: Names {
                checker: checker_name,
                marking: marking.name,
                metric: metric.name,
                decide: decide.name,
            },
            metric: metric.item,
            job: own,
            format,
            files,
            table,
            attributes,
            rows,
            spilled,
            hierarchy_stamps,
        })
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
        match &self.spilled {
            Some(spilled) => Err(spilled.memory.refuse(what)),
            None => Ok(()),
        }
    }

    /// What generalization costs in this table.
    pub(crate) fn costs(&self) -> Result<Costs> {
        Costs::new(self.problem(), &self.attributes)?.with_weights(self.weights.clone())
    }
}

/// Fails where rows do not say whom they are about, unless the job says what they are.
fn check_unit(job: &Job, table: &Table) -> Result<()> {
    let unit = job.policy.unit.as_deref();
    let Some((unit, column)) = unit.and_then(|unit| Some((unit, table.column(unit)?))) else {
        return Ok(());
    };
    if job.policy.missing_unit == Some(MissingUnit::Nobody) {
        return Ok(());
    }
    // An empty text names nobody either.
    let nobody = ["", EMPTY_TEXT].map(|label| column.dictionary().code(label));
    let mut without = column.codes().iter().enumerate().filter(|(_, code)| nobody.contains(&Some(**code)));
    let Some((first, _)) = without.next() else {
        return Ok(());
    };
    let n_rows = without.count() + 1;
    let problem = format!(
        "column `{unit}`: {n_rows} rows do not say whom they are about (first in record {})",
        first + 1
    );
    Err(job.mistake(&["policy", "unit"], problem).with_hint(
        "they may be anybody's: fill in the column, leave the rows out, or write missing_unit = \"nobody\" in [policy] to count \
         them as no person",
    ))
}

/// What takes all rows at once cannot be done to rows that are not in memory.
fn check_spilled(job: &Job, spilled: &Spilled, algorithm: &AlgorithmChoice) -> Result<()> {
    if job.policy.unit.is_some() {
        return Err(spilled.memory.refuse("persons with several rows are counted in memory"));
    }
    match algorithm {
        AlgorithmChoice::Free | AlgorithmChoice::FullDomain(_) => Ok(()),
        AlgorithmChoice::Node(_) | AlgorithmChoice::Local(_) => {
            Err(spilled.memory.refuse("the algorithm that the job names takes all rows at once"))
        }
    }
}

fn other_quasi_identifiers() -> Error {
    Error::input("the record has other quasi-identifiers than the job")
        .with_hint("use the job that the record was made with")
}

/// The entry that a setting names, or the nearest name as advice.
fn named<T>(
    job: &Job,
    entries: &'static [Entry<T>],
    key: &str,
    setting: &Option<String>,
    default: &str,
) -> Result<&'static Entry<T>> {
    let name = setting.as_deref().unwrap_or(default);
    find(entries, name).ok_or_else(|| {
        let names: Vec<&str> = entries.iter().map(|entry| entry.name).collect();
        let error = match nearest(names.iter().copied(), name) {
            Some(near) => format!("unknown {key} `{name}`; did you mean `{near}`?"),
            None => format!("unknown {key} `{name}`"),
        };
        job.mistake(&["search", key], error).with_hint(format!("there are: {}", names.join(", ")))
    })
}

fn threads(job: &Job) -> Result<usize> {
    match job.search.threads {
        Some(threads) if !(1..=MAX_THREADS).contains(&threads) => {
            let mistake = format!("threads is not from 1 to {MAX_THREADS}");
            Err(job.mistake(&["search", "threads"], mistake).with_hint("1 is the default"))
        }
        threads => Ok(threads.unwrap_or(1)),
    }
}

fn k_anonymity(job: &Job) -> Result<KAnonymity> {
    let key = ["policy", "k"];
    let k = u64::try_from(job.policy.k)
        .map_err(|_| job.mistake(&key, "k is negative").with_hint("common choices are 3, 5, 11 and 20"))?;
    let model = if job.policy.unit.is_some() { KAnonymity::of_persons(k) } else { KAnonymity::new(k) };
    model.map_err(|error| job.at(&key, &error))
}

pub(crate) fn budget(job: &Job) -> Result<Budget> {
    let key = ["policy", "suppression"];
    match &job.policy.suppression {
        None => Ok(Budget::NONE),
        Some(CountOrText::Text(text)) => Budget::parse(text).map_err(|error| job.at(&key, &error)),
        Some(CountOrText::Count(rows)) => u64::try_from(*rows).map(Budget::Rows).map_err(|_| {
            job.mistake(&key, "suppression is negative")
                .with_hint("write a number of rows (5) or a percentage (\"1%\")")
        }),
    }
}

pub(crate) fn delimiter(job: &Job) -> Result<Option<u8>> {
    job.input
        .delimiter
        .map(|delimiter| {
            u8::try_from(delimiter)
                .ok()
                .filter(|byte| byte.is_ascii() && !b"\"\r\n".contains(byte))
                .ok_or_else(|| {
                    job.mistake(
                        &["input", "delimiter"],
                        "the delimiter is a quote, a line break or not ASCII",
                    )
                })
        })
        .transpose()
}

pub(crate) fn role(job: &Job, column: &str) -> Role {
    if job.policy.unit.as_deref() == Some(column) {
        return Role::Identifier;
    }
    match job.columns.get(column).map(|column| column.role) {
        Some(RoleJob::Identifier) => Role::Identifier,
        Some(RoleJob::QuasiIdentifier) => Role::QuasiIdentifier,
        Some(RoleJob::Sensitive) => Role::Sensitive,
        Some(RoleJob::Other | RoleJob::Decide) | None => Role::Other,
    }
}

/// Whether a table may have no quasi-identifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WithoutQuasi {
    /// One of several tables may.
    Allowed,
    /// A table on its own needs one.
    Refused,
}

/// Roles that do not go together.
pub(crate) fn check_roles(job: &Job, without_quasi: WithoutQuasi) -> Result<()> {
    let mut mistakes = Mistakes::default();
    for (name, column) in &job.columns {
        let key = ["columns", name.as_str(), "role"];
        match column.role {
            RoleJob::Decide => mistakes.0.push(
                job.mistake(&key, format!("the role of column `{name}` is not decided yet")).with_hint(
                    "write identifier, quasi-identifier, sensitive or other instead of decide; \
                         in a job by `incog init` the comment above the column says what to think of",
                ),
            ),
            RoleJob::QuasiIdentifier => {}
            _ if column.hierarchy.is_some() => mistakes.0.push(
                job.mistake(
                    &["columns", name, "hierarchy"],
                    format!("column `{name}` has a hierarchy and is no quasi-identifier"),
                )
                .with_hint("only quasi-identifiers are generalized"),
            ),
            _ => {}
        }
    }
    let has_quasi = job.columns.values().any(|column| column.role == RoleJob::QuasiIdentifier);
    if !has_quasi && without_quasi == WithoutQuasi::Refused && mistakes.0.is_empty() {
        mistakes.0.push(
            job.mistake(&["columns"], "no column is a quasi-identifier")
                .with_hint("declare at least one column with role = \"quasi-identifier\""),
        );
    }
    if job.policy.missing_unit.is_some() && job.policy.unit.is_none() {
        mistakes.0.push(
            job.mistake(&["policy", "missing_unit"], "`missing_unit` is given without `unit`")
                .with_hint("name the column that says whom a row is about, or leave `missing_unit` out"),
        );
    }
    if let Some(unit) = &job.policy.unit
        && job.columns.get(unit).is_some_and(|column| column.role == RoleJob::QuasiIdentifier)
    {
        mistakes.0.push(
            job.mistake(&["policy", "unit"], format!("the unit `{unit}` is a quasi-identifier"))
                .with_hint("the unit says whom a row is about and is never released: make it an identifier"),
        );
    }
    mistakes.stop()
}

/// What to do about a column that nobody has declared.
const DECLARE: &str = "declare every column under [columns] with role \"identifier\", \"quasi-identifier\", \"sensitive\" or \
     \"other\"; or with --qi, --identifier, --sensitive, --other, and --rest for all others";

/// So many unknown names get advice.
const MOST_ADVISED: usize = 10;

/// Every column of the file is declared, and every declared column is in the file; `declare` says how.
pub(crate) fn check_columns(job: &Job, header: &[String], declare: &str, mistakes: &mut Mistakes) {
    let there: hash::Set<&str> = header.iter().map(String::as_str).collect();
    let is_there = |name: &str| there.contains(name);
    if !job.columns.is_empty() && !job.columns.keys().any(|name| is_there(name)) {
        // What stands there may be somebody's cells: it is not repeated.
        mistakes.0.push(
            job.mistake(
                &["input", "path"],
                format!(
                    "none of the job's {} columns is among the {} of the data",
                    job.columns.len(),
                    header.len()
                ),
            )
            .with_hint(
                "the first line of the data must name the columns; if it does, set `delimiter` in [input] or --delimiter",
            ),
        );
        return;
    }
    let named = job.columns.keys().map(|name| (["columns", name.as_str()], name));
    let unit = job.policy.unit.iter().map(|name| (["policy", "unit"], name));
    let mut n_advised = 0;
    for (key, name) in named.chain(unit) {
        if !is_there(name) {
            // Advice takes a look at every column, so not for all of very many.
            n_advised += 1;
            let near = if n_advised <= MOST_ADVISED {
                nearest(header.iter().map(String::as_str), name)
            } else {
                None
            };
            let advice = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
            mistakes.0.push(job.mistake(&key, format!("the data has no column `{name}`{advice}")));
        }
    }
    let is_declared = |name: &str| job.columns.contains_key(name) || job.policy.unit.as_deref() == Some(name);
    let undeclared: Vec<&String> = header.iter().filter(|name| !is_declared(name)).collect();
    let undeclared = listed(undeclared.into_iter().map(|name| format!("`{name}`")), "column", "columns");
    if !undeclared.is_empty() {
        mistakes.0.push(
            Error::input(format!("the job says nothing about column {}", undeclared.join(", ")))
                .with_hint(declare),
        );
    }
}

fn check_weights(job: &Job, metric: &Entry<&'static dyn Metric>) -> Result<()> {
    let weights = &job.search.weights;
    for (name, &weight) in weights {
        let key = ["search", "weights", name.as_str()];
        if job.columns.get(name).is_none_or(|column| column.role != RoleJob::QuasiIdentifier) {
            return Err(job.mistake(&key, format!("`weights` names `{name}`, which is no quasi-identifier")));
        }
        if !metric::is_weight(weight) {
            let mistake = format!("the weight of `{name}` is negative, too small, too large or not a number");
            return Err(job
                .mistake(&key, mistake)
                .with_hint(format!("weights are 0, or from {MIN_WEIGHT:e} to {MAX_WEIGHT:e}")));
        }
    }
    let key = ["search", "weights"];
    let n_quasi_identifiers =
        job.columns.values().filter(|column| column.role == RoleJob::QuasiIdentifier).count();
    if weights.len() == n_quasi_identifiers
        && weights.values().all(|&weight| weight == 0.0)
        && !weights.is_empty()
    {
        return Err(job
            .mistake(&key, "every weight is 0")
            .with_hint("leave `weights` out to weigh all alike"));
    }
    if !weights.is_empty() && !metric.item.uses_weights() {
        let weighted: Vec<&str> =
            metric::ALL.iter().filter(|entry| entry.item.uses_weights()).map(|entry| entry.name).collect();
        return Err(job
            .mistake(&key, format!("the metric `{}` knows no weights", metric.name))
            .with_hint(format!("weights count in: {}", weighted.join(", "))));
    }
    Ok(())
}
