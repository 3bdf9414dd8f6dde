//! A database job that has been checked against its data.
//!
//! As for one table, mistakes are collected and told together as far as they can be found without each other: settings and
//! keys first, then the columns of every table, then hierarchies and requirements, last how the tables hold together.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use incog_core::hierarchy::Attribute;
use incog_core::privacy::{Budget, Fraction};
use incog_core::registry::{find, nearest};
use incog_core::relational::{
    self, Cost, Database, Enforcement, ForeignKey, Matching, Options, Pairing, Relation, RelationalKind,
    Requirements,
};
use incog_core::table::{Role, Table};
use incog_core::{Error, ErrorKind, Progress, Result};

use crate::database::copies;
use crate::database::hashed;
use crate::file::{STANDARD, Stamps};
use crate::job::{
    ColumnJob, CostJob, CountOrText, DatabaseJob, DiversityJob, Job, MatchingJob, PairingJob, ParentJob,
    ReleaseKind, RoleJob,
};
use crate::job::{Mistakes, patterns};
use crate::plan;
use crate::plan::hierarchies;
use crate::plan::mask_length::{self, Holders, NOBODY, SharedLength};
use crate::plan::notation;
use crate::plan::orders;
use crate::plan::requirements::{self, CountedBy, Models, Requirement};
use crate::source::{Format, Input, Opened, ReadOptions, Rows};

/// Tables, policy and search, all checked.
pub(crate) struct DatabasePlan {
    pub(crate) job: DatabaseJob,
    /// What is known of each table beside its rows, in the order of the database's.
    pub(crate) tables: Vec<TablePlan>,
    pub(crate) database: Arc<Database>,
    /// The algorithm's name.
    pub(crate) algorithm: &'static str,
    pub(crate) kind: RelationalKind,
    pub(crate) options: Options,
    pub(crate) enforcement: Enforcement,
    pub(crate) requirements: Vec<Requirements>,
    /// How many persons may be left out; as many as it takes unless given.
    pub(crate) budget: Option<u64>,
    /// The files of hierarchies as they were before they were read.
    hierarchy_stamps: Stamps,
    /// What there is to say of values that are longer than their masks.
    pub(crate) notes: Vec<String>,
}

/// What is known of a table beside its rows.
pub(crate) struct TablePlan {
    /// What the job says of it.
    pub(crate) job: Job,
    pub(crate) format: Format,
    pub(crate) files: Vec<PathBuf>,
}

impl std::fmt::Debug for DatabasePlan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DatabasePlan").field("options", &self.options).finish_non_exhaustive()
    }
}

/// Tables that are in memory, by name, in the place of what the job says of their paths.
pub(crate) type Inputs = BTreeMap<String, Input>;

/// What to do about a column that nobody has declared.
const DECLARE: &str = "declare every column of a table as columns.NAME = { role = \"identifier\", \"quasi-identifier\", \
     \"sensitive\" or \"other\" }; one that holds the key of another table as parent = { table = ..., column = ... }";

/// The same job with the columns of the data in the place of patterns; nothing where it has none.
fn named(job: &DatabaseJob, inputs: &Inputs) -> Result<Option<DatabaseJob>> {
    if !job.tables.values().any(|table| table.columns.keys().any(|name| patterns::is_pattern(name))) {
        return Ok(None);
    }
    let (mut named, mut mistakes) = (job.clone(), Mistakes::default());
    for (name, table) in &mut named.tables {
        let mut of_table = job.of_table(name)?;
        let mut own = Mistakes::default();
        let options = ReadOptions::of_job(&of_table);
        let input = inputs.get(name).cloned().unwrap_or_else(|| Input::files(of_table.inputs()));
        let data = own.note(options.and_then(|options| input.open(options)));
        if let Some(data) = data {
            patterns::resolve(&mut of_table, data.header(), &mut own);
        }
        mistakes.take(&own, &in_table(name));
        // A key has its role already, unless the job gives it one, which is told elsewhere.
        let said = std::mem::take(&mut table.columns);
        let is_said = |column: &String| said.contains_key(column) || !table.is_key(column);
        table.columns = of_table.columns.into_iter().filter(|(column, _)| is_said(column)).collect();
        let columns = of_table.lines;
        named.lines.take_below(&columns, name);
    }
    mistakes.stop()?;
    Ok(Some(named))
}

/// What a search says once its settings make sense.
struct Settings {
    algorithm: &'static str,
    kind: RelationalKind,
    options: Options,
    enforcement: Enforcement,
    budget: Option<Budget>,
}

impl DatabasePlan {
    /// Checks a job and reads its tables. Stops when it is cancelled.
    pub(crate) fn new(job: &DatabaseJob, inputs: Inputs, progress: &Progress) -> Result<Self> {
        let plan = DatabasePlan::for_verification(job, inputs, progress)?;
        let job = &plan.job;
        let mut mistakes = Mistakes::default();
        for table in 0..plan.tables.len() {
            let said = &job.tables[&plan.database.relations()[table].name];
            let columns = plan.database.relations()[table].table.columns();
            let is_no_key = |at: &usize| !said.is_key(columns[*at].name());
            let released: Vec<usize> = plan.released_columns(table).into_iter().filter(is_no_key).collect();
            for problem in copies::copies(&plan.database, table, &released) {
                mistakes.note::<()>(Err(Error::input(problem).with_hint(copies::HINT)));
            }
        }
        mistakes.stop()?;
        Ok(plan)
    }

    /// The same, but for columns that hold keys: the checker tells whether a release does.
    pub(crate) fn for_verification(job: &DatabaseJob, inputs: Inputs, progress: &Progress) -> Result<Self> {
        let named = named(job, &inputs)?;
        let job = named.as_ref().unwrap_or(job);
        let mut mistakes = Mistakes::default();
        let settings = settings(job, &mut mistakes);
        check_tables(job, &inputs, &mut mistakes);
        for at in 0..job.policy.require.len() {
            mistakes.note(job.required_column(at));
        }
        mistakes.stop()?;
        let Some(settings) = settings else {
            return Err(Error::new(ErrorKind::Internal, "a setting is missing and no mistake"));
        };
        let jobs: Vec<(&String, Job)> =
            job.tables.keys().map(|name| Ok((name, job.of_table(name)?))).collect::<Result<_>>()?;
        let opened = opened(&jobs, inputs)?;
        // Tables belong together: none may change before all are read, and no hierarchy before the record is made.
        let (mut data_stamps, mut hierarchy_stamps) = (Stamps::default(), Stamps::default());
        for table in &opened {
            data_stamps.add(table.data.stamps());
            hierarchy_stamps.add(requirements::stamps_of(table.job));
        }
        let read = opened.into_iter().map(|table| table.read(job, progress)).collect::<Result<Vec<_>>>()?;
        let tables = read.iter().map(ReadTable::plan).collect();
        let Bound { relations, requirements, notes } = bound(job, read)?;
        data_stamps.check("the data file")?;
        let database = Database::new(relations, &job.database.person)?;
        let n_persons = database.n_persons() as u64;
        Ok(DatabasePlan {
            budget: settings.budget.map(|budget| budget.rows(n_persons)),
            job: job.clone(),
            tables,
            database: Arc::new(database),
            algorithm: settings.algorithm,
            kind: settings.kind,
            options: settings.options,
            enforcement: settings.enforcement,
            requirements,
            hierarchy_stamps,
            notes,
        })
    }

    /// Fails if a hierarchy file is another than the one that was read: a record would name the wrong one.
    pub(crate) fn check_hierarchies(&self) -> Result<()> {
        self.hierarchy_stamps.check("a hierarchy")
    }

    /// The columns of a table that are released, by their places: all but identifiers, and keys, which get new values.
    pub(crate) fn released_columns(&self, table: usize) -> Vec<usize> {
        let relation = &self.database.relations()[table];
        let said = &self.job.tables[&relation.name];
        let columns = relation.table.columns().iter().enumerate();
        columns
            .filter(|(_, column)| column.role() != Role::Identifier || said.is_key(column.name()))
            .map(|(at, _)| at)
            .collect()
    }
}

/// A table whose columns are known by name.
struct OpenedTable<'a> {
    name: &'a str,
    job: &'a Job,
    required: Vec<Requirement<'a>>,
    data: Opened,
}

/// A table with its rows.
struct ReadTable<'a> {
    name: &'a str,
    job: &'a Job,
    required: Vec<Requirement<'a>>,
    table: Table,
    format: Format,
    files: Vec<PathBuf>,
}

/// Checks what can be checked of each table without its rows.
fn opened<'a>(jobs: &'a [(&'a String, Job)], mut inputs: Inputs) -> Result<Vec<OpenedTable<'a>>> {
    let mut mistakes = Mistakes::default();
    let mut opened = Vec::new();
    for (name, job) in jobs {
        let mut of_table = Mistakes::default();
        of_table.note(plan::check_roles(job, plan::WithoutQuasi::Allowed));
        orders::refuse(job, &mut of_table);
        let required = requirements::check(job, &mut of_table);
        let options = ReadOptions::of_job(job);
        let input = inputs.remove(*name).unwrap_or_else(|| Input::files(job.inputs()));
        let data = of_table.note(options.and_then(|options| input.open(options)));
        if let Some(data) = &data {
            plan::check_columns(job, data.header(), DECLARE, &mut of_table);
        }
        mistakes.take(&of_table, &in_table(name));
        opened.extend(data.map(|data| OpenedTable { name, job, required, data }));
    }
    mistakes.stop()?;
    Ok(opened)
}

impl<'a> OpenedTable<'a> {
    fn read(self, database: &DatabaseJob, progress: &Progress) -> Result<ReadTable<'a>> {
        let OpenedTable { name, job, required, data } = self;
        let role = |column: &str| plan::role(job, column);
        // Nobody may have a row in a child table.
        let rows = if name == database.database.person { Rows::Some } else { Rows::Any };
        let made = data.read_whole(rows, role, progress);
        let (mut table, mut format, files) = made.map_err(|error| match error.kind() {
            ErrorKind::Cancelled => error,
            _ => error.prefixed(&in_table(name)),
        })?;
        let mut mistakes = Mistakes::default();
        let found = notation::settle(job, &mut table, &mut mistakes);
        mistakes.stop().map_err(|error| error.prefixed(&in_table(name)))?;
        format.notes.extend(found);
        Ok(ReadTable { name, job, required, table, format, files })
    }
}

impl ReadTable<'_> {
    fn plan(&self) -> TablePlan {
        TablePlan { job: self.job.clone(), format: self.format.clone(), files: self.files.clone() }
    }

    /// Its quasi-identifiers, each tied to its hierarchy, and what there is to say of them.
    fn attributes(
        &self,
        persons: &[u32],
        mistakes: &mut Mistakes,
        notes: &mut Vec<String>,
    ) -> Result<Vec<Attribute>> {
        let holders = Holders::Persons(persons);
        let quasi = self.job.columns.iter().filter(|(_, column)| column.role == RoleJob::QuasiIdentifier);
        notes.extend(self.format.notes.iter().cloned());
        let mut attributes = Vec::new();
        for (column, said) in quasi {
            let Some(data) = self.table.column(column) else {
                return Err(Error::new(ErrorKind::Internal, "a declared column is not in the table"));
            };
            notes.extend(
                said.hierarchy.as_ref().and_then(|rule| hierarchies::uneven_digits(column, rule, data)),
            );
            let attribute = hierarchies::attribute(self.job, column, said, (data, holders), None);
            attributes.extend(mistakes.note(attribute));
            let k = self.job.policy.k.unsigned_abs();
            let shared = said.hierarchy.as_ref().map(|rule| SharedLength::of(rule, data, holders, k));
            let shared = shared.transpose()?.flatten();
            let note = shared.and_then(|shared| shared.note(column, "persons"));
            notes.extend(note.map(|note| in_table(self.name) + &note));
        }
        Ok(attributes)
    }
}

/// All tables, tied to their hierarchies and to what is required of them.
struct Bound {
    relations: Vec<Relation>,
    requirements: Vec<Requirements>,
    notes: Vec<String>,
}

fn bound(job: &DatabaseJob, read: Vec<ReadTable<'_>>) -> Result<Bound> {
    let mut mistakes = Mistakes::default();
    let mut bound = Bound { relations: Vec::new(), requirements: Vec::new(), notes: Vec::new() };
    // How long a mask is depends on how many persons have long values.
    let by_name = read.iter().map(|table| (table.name, &table.table)).collect();
    let is_open = |column: &ColumnJob| column.hierarchy.as_ref().is_some_and(mask_length::is_open);
    let persons = read.iter().map(|table| {
        let is_needed = table.job.columns.values().any(is_open);
        if is_needed { persons(job, &by_name, table.name) } else { Vec::new() }
    });
    let persons: Vec<Vec<u32>> = persons.collect();
    for (table, persons) in read.into_iter().zip(persons) {
        let mut of_table = Mistakes::default();
        let attributes = table.attributes(&persons, &mut of_table, &mut bound.notes)?;
        let ReadTable { name, job: table_job, required, table, .. } = table;
        let Models { columns, models } =
            requirements::build(table_job, &required, (&table, CountedBy::Rows), u64::MAX, &mut of_table);
        mistakes.take(&of_table, &in_table(name));
        if !models.is_empty() {
            let position = |name: &String| table.columns().iter().position(|column| column.name() == name);
            let columns = columns.iter().filter_map(position).collect();
            bound.requirements.push(Requirements { table: bound.relations.len(), columns, models });
        }
        let said = &job.tables[name];
        let foreign_key =
            |parent: &ParentJob| ForeignKey { column: parent.column.clone(), table: parent.table.clone() };
        bound.relations.push(Relation {
            name: name.to_owned(),
            table,
            key: said.key.clone(),
            foreign_keys: said.parents().iter().map(foreign_key).collect(),
            attributes,
        });
    }
    mistakes.stop()?;
    Ok(bound)
}

/// Can it be part of a file's name?
pub(crate) fn is_file_name(name: &str) -> bool {
    !name.is_empty() && !name.contains(['/', '\\', '\0'])
}

/// What a message about a table begins with.
pub(crate) fn in_table(name: &str) -> String {
    format!("table `{name}`: ")
}

/// The name of the algorithm that a job asks for.
pub(crate) fn algorithm(job: &DatabaseJob) -> &str {
    let default = if job.policy.require.is_empty() { "miraclex" } else { "dmiracle" };
    job.search.algorithm.as_deref().unwrap_or(default)
}

/// How many persons may be left out; `None` is as many as it takes.
pub(crate) fn budget(job: &DatabaseJob) -> Result<Option<Budget>> {
    let key = ["policy", "suppression"];
    match &job.policy.suppression {
        None => Ok(None),
        Some(CountOrText::Text(text)) => Budget::parse(text).map(Some).map_err(|error| job.at(&key, &error)),
        Some(CountOrText::Count(persons)) => {
            u64::try_from(*persons).map(|persons| Some(Budget::Rows(persons))).map_err(|_| {
                job.mistake(&key, "suppression is negative")
                    .with_hint("write a number of persons (5) or a percentage (\"1%\")")
            })
        }
    }
}

/// For each row of a table, the row of its person, as far as keys tell: whether they hold together is for [`Database`] to say.
fn persons(job: &DatabaseJob, tables: &BTreeMap<&str, &Table>, name: &str) -> Vec<u32> {
    let mut rows: Vec<u32> = (0..tables[name].n_rows() as u32).collect();
    let mut name = name;
    // Where keys run in a cycle, no row leads to a person.
    for _ in 0..=tables.len() {
        if name == job.database.person {
            return rows;
        }
        let step = || {
            let parent = job.tables.get(name)?.parents().first()?;
            let keys = tables.get(parent.table.as_str())?.column(job.tables[&parent.table].key.as_ref()?)?;
            let mut row_of = vec![NOBODY; keys.dictionary().len()];
            (0..).zip(keys.codes()).for_each(|(row, &code)| row_of[code as usize] = row);
            let column = tables[name].column(&parent.column)?;
            let parent_row =
                |value: &str| keys.dictionary().code(value).map_or(NOBODY, |code| row_of[code as usize]);
            let by_value: Vec<u32> = column.dictionary().values().map(parent_row).collect();
            Some((parent.table.as_str(), column.codes(), by_value))
        };
        let Some((parent, codes, by_value)) = step() else { break };
        let up = |row: &mut u32| *row = by_value[codes[*row as usize] as usize];
        rows.iter_mut().filter(|row| **row != NOBODY).for_each(up);
        name = parent;
    }
    vec![NOBODY; rows.len()]
}

fn settings(job: &DatabaseJob, mistakes: &mut Mistakes) -> Option<Settings> {
    let search = &job.search;
    let entry = mistakes.note({
        let name = algorithm(job);
        find(relational::ALL, name).ok_or_else(|| {
            let names: Vec<&str> = relational::ALL.iter().map(|entry| entry.name).collect();
            let near = nearest(names.iter().copied(), name);
            let advice = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
            let mistake = format!("unknown algorithm for databases `{name}`{advice}");
            job.mistake(&["search", "algorithm"], mistake)
                .with_hint(format!("there are: {}", names.join(", ")))
        })
    });
    let k = mistakes.note(u64::try_from(job.policy.k).ok().filter(|&k| k > 0).ok_or_else(|| {
        let problem = if job.policy.k == 0 { "k is 0" } else { "k is negative" };
        job.mistake(&["policy", "k"], problem).with_hint(
            "k is the least number of persons that share a tree; common choices are 3, 5, 11 and 20",
        )
    }));
    let budget = mistakes.note(budget(job));
    let threshold = mistakes.note(threshold(job));
    for (key, limit) in [("cluster_limit", search.cluster_limit), ("candidates", search.candidates)] {
        if limit == Some(0) {
            let mistake = job.mistake(&["search", key], format!("`{key}` is 0"));
            mistakes.note::<()>(Err(mistake.with_hint("it is at least 1; leave it out for the default")));
        }
    }
    let (Some(entry), Some(k), Some(budget), Some(threshold)) = (entry, k, budget, threshold) else {
        return None;
    };
    mistakes.note(check_combination(job, entry.item, entry.name));
    let defaults = Options::new(usize::try_from(k).unwrap_or(usize::MAX));
    let options = Options {
        threshold: threshold.unwrap_or(defaults.threshold),
        cluster_limit: search.cluster_limit.unwrap_or(defaults.cluster_limit),
        pairing: match search.pairing {
            None => entry.item.pairing(),
            Some(PairingJob::Subtree) => Pairing::Subtree,
            Some(PairingJob::Record) => Pairing::Record,
            Some(PairingJob::Level) => Pairing::Level,
        },
        matching: match search.matching {
            None | Some(MatchingJob::Greedy) => Matching::Greedy,
            Some(MatchingJob::Optimal) => Matching::Optimal,
        },
        cost: match search.metric {
            None | Some(CostJob::Loss) => Cost::Loss,
            Some(CostJob::Precision) => Cost::Precision,
        },
        candidates: search.candidates,
        ..defaults
    };
    let enforcement = match search.diversity {
        None | Some(DiversityJob::Merge) => Enforcement::Merge,
        Some(DiversityJob::Distance) => Enforcement::Distance,
        Some(DiversityJob::Suppress) => Enforcement::Suppress,
    };
    Some(Settings { algorithm: entry.name, kind: entry.item, options, enforcement, budget })
}

fn threshold(job: &DatabaseJob) -> Result<Option<Fraction>> {
    let Some(text) = &job.search.threshold else {
        return Ok(None);
    };
    let hint = "distances lie between 0 and 1; 0.3 is the default";
    let threshold: Fraction = text.to_string().parse().map_err(|_| {
        job.mistake(&["search", "threshold"], "`threshold` is no number that can be read exactly")
            .with_hint(hint)
    })?;
    if threshold > Fraction::ONE {
        return Err(job.mistake(&["search", "threshold"], "the threshold is above 1").with_hint(hint));
    }
    Ok(Some(threshold))
}

/// Settings that do not go together.
fn check_combination(job: &DatabaseJob, kind: RelationalKind, name: &str) -> Result<()> {
    let is_diverse = kind.enforces_diversity();
    if !is_diverse && !job.policy.require.is_empty() {
        return Err(job
            .mistake(&["search", "algorithm"], format!("`{name}` knows k only, and the policy requires more"))
            .with_hint("algorithm = \"dmiracle\" sees to [[policy.require]]"));
    }
    if is_diverse && job.policy.require.is_empty() {
        return Err(job
            .mistake(&["search", "algorithm"], "`dmiracle` is for policies that require more than k")
            .with_hint("add [[policy.require]], or use miraclex"));
    }
    if !is_diverse && job.search.diversity.is_some() {
        return Err(job.mistake(&["search", "diversity"], "`diversity` is for the algorithm `dmiracle`"));
    }
    if job.database.release == ReleaseKind::Anatomized && job.policy.require.is_empty() {
        return Err(job
            .mistake(
                &["database", "release"],
                "an anatomized release claims what is required, and nothing is",
            )
            .with_hint(
                "its quasi-identifiers stay exact, so it is not k-anonymous: add [[policy.require]]",
            ));
    }
    if job.search.pairing == Some(PairingJob::Level) && job.search.matching == Some(MatchingJob::Optimal) {
        return Err(job
            .mistake(
                &["search", "matching"],
                "rows that are paired level by level cannot be paired optimally",
            )
            .with_hint("leave `matching` out, or use pairing = \"record\""));
    }
    Ok(())
}

/// What can be said of tables without reading them.
fn check_tables(job: &DatabaseJob, inputs: &Inputs, mistakes: &mut Mistakes) {
    if !job.tables.contains_key(&job.database.person) {
        let near = nearest(job.tables.keys().map(String::as_str), &job.database.person);
        let advice = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
        let mistake = format!("there is no table `{}` to be the person table{advice}", job.database.person);
        mistakes.note::<()>(Err(job
            .mistake(&["database", "person"], mistake)
            .with_hint("name one of the tables under [tables]")));
    }
    let mut is_quasi_somewhere = false;
    for (name, table) in &job.tables {
        hashed::refuse_others(job, name, table, mistakes);
        let at = |key: &[&str]| -> Vec<String> {
            ["tables", name].iter().chain(key).map(|&key| key.to_owned()).collect()
        };
        let mut mistake = |key: &[&str], text: String, hint: &str| {
            let key = at(key);
            let key: Vec<&str> = key.iter().map(String::as_str).collect();
            mistakes.note::<()>(Err(job.mistake(&key, in_table(name) + &text).with_hint(hint)));
        };
        // Table names become file names.
        if !is_file_name(name) || name.starts_with('.') || name.contains(char::is_control) {
            mistake(&[], "its name cannot be a file's".into(), "a release has a file named after each table");
        }
        let is_in_memory = inputs.contains_key(name);
        if !is_in_memory && table.path.all().iter().any(|path| path.as_os_str() == STANDARD) {
            mistake(
                &["path"],
                "a database is not read from standard input".into(),
                "name a file for each table",
            );
        }
        if table.parents().len() > 1 {
            let text = format!("has {} foreign keys; one is allowed", table.parents().len());
            mistake(&["parent"], text, "keep the one that leads to the person");
        }
        if let ([parent, ..], Some(key)) = (table.parents(), &table.key)
            && parent.column == *key
        {
            let text = format!("column `{key}` is both its key and its foreign key");
            mistake(&["key"], text, "leave `key` out if no table refers to this one");
        }
        for (column, said) in &table.columns {
            is_quasi_somewhere |= said.role == RoleJob::QuasiIdentifier;
            if !table.is_key(column) {
                continue;
            }
            let key = ["columns", column.as_str(), "role"];
            let hint =
                "keys are replaced by new ones; remove the column's role, or name another column as key";
            match said.role {
                RoleJob::QuasiIdentifier => {
                    mistake(&key, format!("column `{column}`: a key cannot be a quasi-identifier"), hint);
                }
                RoleJob::Sensitive => {
                    mistake(&key, format!("column `{column}`: a key cannot be sensitive"), hint);
                }
                RoleJob::Identifier | RoleJob::Other | RoleJob::Decide => {}
            }
        }
    }
    if !is_quasi_somewhere {
        mistakes.note::<()>(Err(job
            .mistake(&["tables"], "no column of any table is a quasi-identifier")
            .with_hint("declare at least one column with role = \"quasi-identifier\"")));
    }
}
