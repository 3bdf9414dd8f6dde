//! Are the sensitive values of a cluster spread enough?
//!
//! A *matched set* is the records of one node of a cluster's tree. Whoever finds a person's cluster knows that the person's
//! sensitive value is one of the set's, so each set must satisfy the models that are [required](Requirements) of its table:
//! the paper's ℓ-diversity (Definition 10), or any other that looks at single groups of rows. A cluster is *diverse* if all its
//! matched sets are.
//!
//! Models that compare a group with all rows (t-closeness and its kin) compare with the rows that are released, as the
//! verifier does. Which these are is known only at the end; see [`dmiracle()`](super::dmiracle()).
//!
//! Cost: a sort of k values for each node and column.

use crate::error::{Error, ErrorKind, Result};
use crate::group::Measures;
use crate::privacy::PrivacyModel;
use crate::relational::Database;
use crate::relational::flat::{Flat, Layout};
use crate::table::Column;

/// What the matched sets of one table must satisfy.
#[derive(Debug)]
pub struct Requirements {
    /// The table's number.
    pub table: usize,
    /// The sensitive columns: position p of a model is column `columns[p]` of the table.
    pub columns: Vec<usize>,
    /// The models. They count rows: a matched set has one row of each person.
    pub models: Vec<Box<dyn PrivacyModel>>,
}

/// How clusters are made diverse.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Enforcement {
    /// Clusters that are not are merged with each other until they are; a last one is suppressed. The paper's Algorithm 6.
    Merge,
    /// Persons with values that a cluster already has are farther from it; clusters that are not diverse are suppressed.
    Distance,
    /// Clusters that are not diverse are suppressed.
    Suppress,
}

/// The values of the columns that something is required of.
#[derive(Debug)]
pub(super) struct Values<'a> {
    tables: Vec<TableValues<'a>>,
}

#[derive(Debug)]
struct TableValues<'a> {
    /// The place of the table in trees.
    t: usize,
    /// The codes of each column, by row.
    columns: Vec<&'a [u32]>,
}

impl<'a> Values<'a> {
    /// Checks what is required, and finds the columns.
    pub(super) fn new(
        database: &'a Database,
        layout: &Layout,
        requirements: &[Requirements],
    ) -> Result<Self> {
        let of_table = |required: &Requirements| {
            let t = layout.tables.iter().position(|table| table.number == required.table);
            let Some((t, relation)) = t.zip(database.relations().get(required.table)) else {
                return Err(wrong("a requirement names a table that does not exist"));
            };
            let column = |&at: &usize| {
                let column = relation.table.columns().get(at);
                column
                    .map(Column::codes)
                    .ok_or_else(|| wrong("a requirement names a column that does not exist"))
            };
            for model in &required.models {
                let demand = model.demand();
                if demand.persons || !demand.persons_by_value.is_empty() {
                    return Err(Error::input(format!(
                        "table `{}`: {} counts persons",
                        relation.name,
                        model.describe()
                    ))
                    .with_hint("the matched sets of a database have one row of each person: count rows"));
                }
                if demand.labels {
                    return Err(crate::group::unnamed());
                }
                if demand.histograms.iter().any(|&position| position >= required.columns.len()) {
                    return Err(wrong("a model needs a column that its requirement does not name"));
                }
            }
            Ok(TableValues { t, columns: required.columns.iter().map(column).collect::<Result<_>>()? })
        };
        Ok(Values { tables: requirements.iter().map(of_table).collect::<Result<_>>()? })
    }

    /// Of the cells of the second tree that are paired, how many have a value that the first tree's node has already; and
    /// how many there are. `pairs` are those of the nodes, table by table.
    pub(super) fn shared(&self, first: &Flat, second: &Flat, pairs: &[Vec<(u32, u32)>]) -> (u64, u64) {
        let (mut same, mut all) = (0, 0);
        for TableValues { t, columns } in &self.tables {
            for &(i, j) in &pairs[*t] {
                let (of_first, of_second) = (first.records(*t, i as usize), second.records(*t, j as usize));
                for column in columns {
                    let value = |record: u32| column[record as usize];
                    for &record in of_second {
                        all += 1;
                        same += u64::from(of_first.iter().any(|&other| value(other) == value(record)));
                    }
                }
            }
        }
        (same, all)
    }
}

/// Says which clusters are diverse.
#[derive(Debug)]
pub(super) struct Judge<'a> {
    values: &'a Values<'a>,
    requirements: &'a [Requirements],
    /// For each requirement and model, the model compared with the released rows, if it compares and they are known.
    compared: Vec<Vec<Option<Box<dyn PrivacyModel>>>>,
}

impl<'a> Judge<'a> {
    /// Compares with what the models were given.
    pub(super) fn new(values: &'a Values<'a>, requirements: &'a [Requirements]) -> Self {
        let none = |required: &Requirements| required.models.iter().map(|_| None).collect();
        Judge { values, requirements, compared: requirements.iter().map(none).collect() }
    }

    /// Does any model compare with all rows?
    pub(super) fn compares(&self) -> bool {
        self.requirements
            .iter()
            .flat_map(|required| &required.models)
            .any(|model| model.compares_with().is_some())
    }

    /// From now on models that compare do so with the records of these clusters.
    pub(super) fn compare_with(&mut self, database: &Database, clusters: &[Flat]) -> Result<()> {
        for ((required, of_table), compared) in
            self.requirements.iter().zip(&self.values.tables).zip(&mut self.compared)
        {
            let table = &database.relations()[required.table].table;
            for (model, compared) in required.models.iter().zip(compared) {
                let Some(sensitive) = model.compares_with() else { continue };
                let position = sensitive.position();
                let n_values = table.columns()[required.columns[position]].dictionary().len();
                let mut counts = vec![0_u64; n_values];
                for cluster in clusters {
                    for node in 0..cluster.n_nodes(of_table.t) {
                        for &record in cluster.records(of_table.t, node) {
                            counts[of_table.columns[position][record as usize] as usize] += 1;
                        }
                    }
                }
                *compared = model.compared_with(&counts)?;
            }
        }
        Ok(())
    }

    /// Do all matched sets of a cluster satisfy all that is required?
    pub(super) fn is_diverse(&self, cluster: &Flat) -> Result<bool> {
        for ((required, of_table), compared) in
            self.requirements.iter().zip(&self.values.tables).zip(&self.compared)
        {
            for node in 0..cluster.n_nodes(of_table.t) {
                let records = cluster.records(of_table.t, node);
                let histograms = of_table.columns.iter().map(|column| histogram(column, records)).enumerate();
                let measures = Measures::of_one(records.len() as u64, histograms.collect());
                for (model, compared) in required.models.iter().zip(compared) {
                    if !compared.as_ref().unwrap_or(model).admits(measures.group(0))? {
                        return Ok(false);
                    }
                }
            }
        }
        Ok(true)
    }
}

/// The values of some records with their counts, sorted.
fn histogram(column: &[u32], records: &[u32]) -> Vec<(u32, u64)> {
    let mut values: Vec<u32> = records.iter().map(|&record| column[record as usize]).collect();
    values.sort_unstable();
    values.chunk_by(|a, b| a == b).map(|same| (same[0], same.len() as u64)).collect()
}

fn wrong(message: &str) -> Error {
    Error::new(ErrorKind::Internal, message)
}
