//! A job that has been checked against its data.
//!
//! Building a [`Plan`] reads the data and the hierarchies and checks every name, number and role; after that a
//! search can only fail by being cancelled or by asking for something that does not go together.

use std::path::{Path, PathBuf};
use std::time::Instant;

use incog_core::algorithm::{self, MARKINGS, Search};
use incog_core::check::{self, CheckerKind, CubeOptions, Materialize, Problem};
use incog_core::frequency::Rows;
use incog_core::hierarchy::{Attribute, Attributes, Hierarchy};
use incog_core::metric::{self, Costs, Metric};
use incog_core::privacy::{Budget, Policy};
use incog_core::registry::{Entry, find, nearest};
use incog_core::table::{Role, Table};
use incog_core::{Error, Result, Watch};

use crate::job::{CountOrText, HierarchyJob, Job, RoleJob};
use crate::report::SearchReport;
use crate::source;

/// Which nodes a report lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listing {
    /// The minimal ones.
    Minimal,
    /// Every node that holds, too.
    All,
}

/// Data, policy and search, all checked.
pub struct Plan {
    pub(crate) rows: Rows,
    pub(crate) attributes: Attributes,
    pub(crate) policy: Policy,
    pub(crate) search: Search,
    pub(crate) names: Names,
    pub(crate) metric: &'static dyn Metric,
    weights: Vec<f64>,
}

/// What the parts of a search are called, for reports.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Names {
    pub(crate) algorithm: &'static str,
    pub(crate) checker: &'static str,
    pub(crate) marking: &'static str,
    pub(crate) metric: &'static str,
}

impl std::fmt::Debug for Plan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Plan")
            .field("policy", &self.policy)
            .field("search", &self.search)
            .finish_non_exhaustive()
    }
}

impl Plan {
    /// Checks a job and reads its data.
    pub fn new(job: &Job) -> Result<Self> {
        // Settings first: a typo should not cost the time to read the data.
        let algorithm =
            named(algorithm::ALL, "algorithm", job.search.algorithm.as_deref().unwrap_or("incognito"))?;
        let checker = match &job.search.checker {
            Some(name) => named(check::ALL, "checker", name)?,
            None => check::ALL
                .iter()
                .find(|entry| entry.item == check::choose())
                .expect("the default is registered"),
        };
        let marking = named(MARKINGS, "marking", job.search.marking.as_deref().unwrap_or("transitive"))?;
        let metric = named(metric::ALL, "metric", job.search.metric.as_deref().unwrap_or("loss"))?;
        let search = Search {
            algorithm: algorithm.item,
            checker: cube_options(job, checker.item)?,
            marking: marking.item,
            threads: threads(job)?,
            ..Search::default()
        };
        let names = Names {
            algorithm: algorithm.name,
            checker: checker.name,
            marking: marking.name,
            metric: metric.name,
        };
        let policy =
            Policy::k_anonymity(u64::try_from(job.policy.k).map_err(|_| Error::input("k is negative"))?)?;
        let budget = budget(job)?;
        let table = read_table(job)?;
        let budget_rows = budget.rows(table.n_rows() as u64);
        if budget_rows > table.n_rows() as u64 {
            return Err(Error::input(format!(
                "suppression of {budget_rows} rows is over 100 %: the table has {}",
                table.n_rows()
            )));
        }
        let attributes = attributes(job, &table)?;
        let weights = weights(job, &attributes, metric)?;
        let rows = Rows::new(&table, &attributes)?;
        let policy = policy.with_budget(budget_rows);
        Ok(Plan { rows, attributes, policy, search, names, metric: metric.item, weights })
    }

    /// Searches, and looks at the nodes to be listed.
    pub fn search(&self, listing: Listing, watch: &Watch) -> Result<SearchReport> {
        let problem = Problem { source: &self.rows, policy: &self.policy };
        let start = Instant::now();
        let outcome = self.search.run(problem, watch)?;
        let search_time = start.elapsed();
        let costs = Costs::new(problem, &self.attributes)?.with_weights(self.weights.clone())?;
        let describe =
            |nodes: &[usize]| metric::describe(problem, &self.attributes, &outcome.lattice, nodes, watch);
        let minimal = describe(&outcome.minimal)?;
        let all = match listing {
            Listing::Minimal => None,
            Listing::All => Some(describe(&outcome.holding.iter().collect::<Vec<_>>())?),
        };
        let best = metric::best(
            problem,
            &self.attributes,
            &outcome.lattice,
            &outcome.holding,
            &costs,
            self.metric,
            watch,
        )?;
        Ok(SearchReport::new(self, &outcome, &costs, search_time, &minimal, all.as_deref(), best.as_ref()))
    }
}

/// The entry of that name, or the nearest one as a hint.
fn named<T>(entries: &'static [Entry<T>], what: &str, name: &str) -> Result<&'static Entry<T>> {
    find(entries, name).ok_or_else(|| {
        let names: Vec<&str> = entries.iter().map(|entry| entry.name).collect();
        let error = match nearest(names.iter().copied(), name) {
            Some(near) => format!("unknown {what} `{name}`; did you mean `{near}`?"),
            None => format!("unknown {what} `{name}`"),
        };
        Error::input(error).with_hint(format!("there are: {}", names.join(", ")))
    })
}

fn threads(job: &Job) -> Result<usize> {
    match job.search.threads {
        Some(0) => Err(Error::input("threads is 0").with_hint("1 is the default")),
        threads => Ok(threads.unwrap_or(1)),
    }
}

fn cube_options(job: &Job, checker: CheckerKind) -> Result<CheckerKind> {
    let CheckerKind::Cube(_) = checker else {
        if job.search.cube_memory.is_some() || job.search.cube_levels.is_some() {
            return Err(Error::input("`cube_memory` and `cube_levels` are for the checker `cube`"));
        }
        return Ok(checker);
    };
    let materialize = match job.search.cube_levels.as_deref() {
        None | Some("zero-level") => Materialize::ZeroLevel,
        Some("every-level") => Materialize::EveryLevel,
        Some(_) => return Err(Error::input("`cube_levels` is neither `zero-level` nor `every-level`")),
    };
    let memory = job.search.cube_memory.as_ref().map(bytes).transpose()?;
    Ok(CheckerKind::Cube(CubeOptions { materialize, memory }))
}

/// A number of bytes: `1048576`, `"512 MiB"`, `"2GiB"`.
fn bytes(size: &CountOrText) -> Result<u64> {
    let unreadable = || {
        Error::input("`cube_memory` is not a size").with_hint("write bytes or a number with KiB, MiB or GiB")
    };
    match size {
        CountOrText::Count(bytes) => u64::try_from(*bytes).map_err(|_| unreadable()),
        CountOrText::Text(text) => {
            let text = text.trim();
            let units = [("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("", 1)];
            let (number, unit) = units
                .iter()
                .find_map(|&(suffix, unit)| text.strip_suffix(suffix).map(|number| (number.trim(), unit)))
                .ok_or_else(unreadable)?;
            number.parse::<u64>().ok().and_then(|number| number.checked_mul(unit)).ok_or_else(unreadable)
        }
    }
}

fn budget(job: &Job) -> Result<Budget> {
    match &job.policy.suppression {
        None => Ok(Budget::NONE),
        Some(CountOrText::Text(text)) => Budget::parse(text),
        Some(CountOrText::Count(rows)) => u64::try_from(*rows).map(Budget::Rows).map_err(|_| {
            Error::input("suppression is negative")
                .with_hint("write a number of rows (5) or a percentage (\"1%\")")
        }),
    }
}

fn read_table(job: &Job) -> Result<Table> {
    let path = job.folder.join(&job.input.path);
    let delimiter = match job.input.delimiter {
        None => b',',
        Some(delimiter) => u8::try_from(delimiter)
            .ok()
            .filter(u8::is_ascii)
            .ok_or_else(|| Error::input("the delimiter is not an ASCII character"))?,
    };
    let header = source::read_header(&path, delimiter)?;
    check_columns(job, &path, &header)?;
    source::read_table(&path, delimiter, |name| match job.columns.get(name).map(|column| column.role) {
        Some(RoleJob::Identifier) => Role::Identifier,
        Some(RoleJob::QuasiIdentifier) => Role::QuasiIdentifier,
        Some(RoleJob::Sensitive) => Role::Sensitive,
        Some(RoleJob::Other) | None => Role::Other,
    })
}

/// Every column of the file is declared, and every declared column is in the file.
fn check_columns(job: &Job, path: &Path, header: &[String]) -> Result<()> {
    let missing: Vec<&str> = job
        .columns
        .keys()
        .map(String::as_str)
        .filter(|name| !header.iter().any(|column| column == name))
        .collect();
    if let Some(&first) = missing.first() {
        let hint = if header.len() == 1 && job.columns.len() > 1 {
            "the header is a single column: set `delimiter` in [input] if fields are not separated by commas"
                .to_owned()
        } else if let Some(near) = nearest(header.iter().map(String::as_str), first) {
            format!("did you mean `{near}`?")
        } else {
            format!("its columns are: {}", header.join(", "))
        };
        return Err(Error::input(format!(
            "data file `{}` has no column {}",
            path.display(),
            quoted(&missing)
        ))
        .with_hint(hint));
    }
    let undeclared: Vec<&str> =
        header.iter().map(String::as_str).filter(|name| !job.columns.contains_key(*name)).collect();
    if !undeclared.is_empty() {
        return Err(Error::input(format!(
            "the job says nothing about column {} of `{}`",
            quoted(&undeclared),
            path.display()
        ))
        .with_hint(
            "declare every column under [columns] with role \"identifier\", \"quasi-identifier\", \"sensitive\" or \"other\"",
        ));
    }
    Ok(())
}

fn quoted(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn attributes(job: &Job, table: &Table) -> Result<Attributes> {
    let mut attributes = Vec::new();
    for (name, column) in &job.columns {
        if column.role != RoleJob::QuasiIdentifier {
            if column.hierarchy.is_some() {
                return Err(Error::input(format!(
                    "column `{name}` has a hierarchy and is no quasi-identifier"
                ))
                .with_hint("only quasi-identifiers are generalized"));
            }
            continue;
        }
        let data = table.column(name).expect("every declared column is in the table");
        attributes.push(match &column.hierarchy {
            None => Attribute::bind(data, Hierarchy::suppression(data.dictionary().values()), "suppression")?,
            Some(HierarchyJob { file }) => {
                let path: PathBuf = job.folder.join(file);
                Attribute::bind(data, source::read_hierarchy(&path, name)?, &path.display().to_string())?
            }
        });
    }
    Attributes::new(attributes)
}

fn weights(job: &Job, attributes: &Attributes, metric: &Entry<&'static dyn Metric>) -> Result<Vec<f64>> {
    let mut weights = vec![1.0; attributes.len()];
    for (name, &weight) in &job.search.weights {
        let Some(at) = attributes.iter().position(|attribute| attribute.name() == name) else {
            return Err(Error::input(format!("`weights` names `{name}`, which is no quasi-identifier")));
        };
        if !weight.is_finite() || weight < 0.0 {
            return Err(Error::input(format!("the weight of `{name}` is negative or not a number")));
        }
        weights[at] = weight;
    }
    if !job.search.weights.is_empty() && !metric.item.uses_weights() {
        let weighted: Vec<&str> =
            metric::ALL.iter().filter(|entry| entry.item.uses_weights()).map(|entry| entry.name).collect();
        return Err(Error::input(format!("the metric `{}` knows no weights", metric.name))
            .with_hint(format!("weights count in: {}", weighted.join(", "))));
    }
    Ok(weights)
}
