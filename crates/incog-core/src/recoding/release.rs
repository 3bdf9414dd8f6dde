//! A table as it would be published: labels instead of values.
//!
//! A view: it points into the table and the hierarchies and copies no text, but the labels of boxes.

use crate::hierarchy::{Attribute, Attributes};
use crate::table::{Column, Role, Table};

/// What leaves the house, if it passes verification.
#[derive(Debug)]
pub struct Release<'a> {
    columns: Vec<ReleasedColumn<'a>>,
    /// The records that are released, as row indexes of the table.
    rows: Vec<u32>,
}

#[derive(Debug)]
struct ReleasedColumn<'a> {
    column: &'a Column,
    /// How it is generalized; `None` if it is as collected.
    generalized: Option<(&'a Attribute, Generalized)>,
}

/// At which level a column's labels are.
#[derive(Debug)]
pub(super) enum Generalized {
    /// All at one level.
    Alike(u8),
    /// Each released record at a level of its own. The labels of all levels stand one after the other, lowest first.
    ByRow(Vec<u8>),
    /// At no level: labels of its own, and the code of each released record's.
    Named {
        /// Distinct labels.
        labels: Vec<String>,
        /// For each released record the position of its label.
        codes: Vec<u32>,
    },
}

impl<'a> Release<'a> {
    /// `levels` has an entry for each attribute, `rows` the released records.
    pub(super) fn new(
        table: &'a Table,
        attributes: &'a Attributes,
        levels: Vec<Generalized>,
        rows: Vec<u32>,
    ) -> Self {
        let mut levels: Vec<Option<(&Attribute, Generalized)>> =
            attributes.iter().zip(levels).map(Some).collect();
        let columns = table
            .columns()
            .iter()
            .filter(|column| column.role() != Role::Identifier)
            .map(|column| ReleasedColumn {
                column,
                generalized: attributes
                    .iter()
                    .position(|attribute| attribute.name() == column.name())
                    .and_then(|at| levels[at].take()),
            })
            .collect();
        Release { columns, rows }
    }

    /// The released columns' names, in the order of the table.
    pub fn header(&self) -> Vec<&str> {
        self.columns.iter().map(|released| released.column.name()).collect()
    }

    /// How many records are released.
    pub fn n_rows(&self) -> usize {
        self.rows.len()
    }

    /// The records that are released, as row indexes of the table, in its order.
    pub fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// All labels that a column may have, by their codes; some may stand in no released record, and some may stand twice
    /// where records have different levels.
    pub fn labels(&self, column_idx: usize) -> impl ExactSizeIterator<Item = &str> {
        let ReleasedColumn { column, generalized } = &self.columns[column_idx];
        let labels: Vec<&str> = match generalized {
            None => column.dictionary().values().collect(),
            Some((attribute, Generalized::Alike(level))) => {
                attribute.hierarchy().labels(*level).values().collect()
            }
            Some((attribute, Generalized::ByRow(_))) => (0..=attribute.height())
                .flat_map(|level| attribute.hierarchy().labels(level).values())
                .collect(),
            Some((_, Generalized::Named { labels, .. })) => labels.iter().map(String::as_str).collect(),
        };
        labels.into_iter()
    }

    /// The code of each released record's label.
    pub fn codes(&self, column_idx: usize) -> Vec<u32> {
        let ReleasedColumn { column, generalized } = &self.columns[column_idx];
        let values = self.rows.iter().map(|&row_idx| column.codes()[row_idx as usize]);
        match generalized {
            None => values.collect(),
            Some((attribute, Generalized::Alike(level))) => {
                let labels = attribute.labels_at(*level);
                values.map(|value| labels[value as usize]).collect()
            }
            Some((attribute, Generalized::ByRow(levels))) => {
                let mut first_code = 0;
                let by_level: Vec<(u32, &[u32])> = (0..=attribute.height())
                    .map(|level| {
                        let labels = (first_code, attribute.labels_at(level));
                        first_code += attribute.hierarchy().labels(level).len() as u32;
                        labels
                    })
                    .collect();
                let code = |(value, &level): (u32, &u8)| {
                    let (first_code, labels) = by_level[usize::from(level)];
                    first_code + labels[value as usize]
                };
                values.zip(levels).map(code).collect()
            }
            Some((_, Generalized::Named { codes, .. })) => codes.clone(),
        }
    }

    /// A released cell.
    pub fn cell(&self, row_idx: usize, column_idx: usize) -> &str {
        let ReleasedColumn { column, generalized } = &self.columns[column_idx];
        let value = column.codes()[self.rows[row_idx] as usize];
        let (attribute, level) = match generalized {
            None => return column.dictionary().value(value),
            Some((attribute, Generalized::Alike(level))) => (attribute, *level),
            Some((attribute, Generalized::ByRow(levels))) => (attribute, levels[row_idx]),
            Some((_, Generalized::Named { labels, codes })) => return &labels[codes[row_idx] as usize],
        };
        attribute.hierarchy().labels(level).value(attribute.labels_at(level)[value as usize])
    }
}
