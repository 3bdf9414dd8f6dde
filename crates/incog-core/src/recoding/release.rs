//! A table as it would be published: labels instead of values.
//!
//! A view: it points into the table and the hierarchies and copies no text.

use crate::hierarchy::Attribute;
use crate::table::{Column, Role, Table};

/// What leaves the house, if it passes verification.
#[derive(Debug)]
pub struct Release<'a> {
    columns: Vec<ReleasedColumn<'a>>,
    /// The records that are released, as row indexes of the table.
    rows: Vec<u32>,
}

#[derive(Debug)]
enum ReleasedColumn<'a> {
    /// As collected.
    Kept(&'a Column),
    /// Every value replaced by its label at a level.
    Generalized(&'a Column, &'a Attribute, u8),
}

impl<'a> Release<'a> {
    pub(super) fn new(table: &'a Table, levels: &[(&'a Attribute, u8)], rows: Vec<u32>) -> Self {
        let columns = table
            .columns()
            .iter()
            .filter(|column| column.role() != Role::Identifier)
            .map(|column| match levels.iter().find(|(attribute, _)| attribute.name() == column.name()) {
                Some(&(attribute, level)) => ReleasedColumn::Generalized(column, attribute, level),
                None => ReleasedColumn::Kept(column),
            })
            .collect();
        Release { columns, rows }
    }

    /// The released columns' names, in the order of the table.
    pub fn header(&self) -> Vec<&str> {
        let name = |column: &ReleasedColumn<'a>| match column {
            ReleasedColumn::Kept(column) | ReleasedColumn::Generalized(column, _, _) => column.name(),
        };
        self.columns.iter().map(name).collect()
    }

    /// How many records are released.
    pub fn n_rows(&self) -> usize {
        self.rows.len()
    }

    /// All labels that a column may have, by their codes; some may stand in no released record.
    pub fn labels(&self, column_idx: usize) -> impl ExactSizeIterator<Item = &str> {
        match &self.columns[column_idx] {
            ReleasedColumn::Kept(column) => column.dictionary().values(),
            ReleasedColumn::Generalized(_, attribute, level) => attribute.hierarchy().labels(*level).values(),
        }
    }

    /// The code of each released record's label.
    pub fn codes(&self, column_idx: usize) -> Vec<u32> {
        match &self.columns[column_idx] {
            ReleasedColumn::Kept(column) => {
                let codes = column.codes();
                self.rows.iter().map(|&row_idx| codes[row_idx as usize]).collect()
            }
            ReleasedColumn::Generalized(column, attribute, level) => {
                let (codes, labels) = (column.codes(), attribute.labels_at(*level));
                self.rows.iter().map(|&row_idx| labels[codes[row_idx as usize] as usize]).collect()
            }
        }
    }

    /// A released cell.
    pub fn cell(&self, row_idx: usize, column_idx: usize) -> &str {
        let row_idx = self.rows[row_idx] as usize;
        match &self.columns[column_idx] {
            ReleasedColumn::Kept(column) => column.cell(row_idx),
            ReleasedColumn::Generalized(column, attribute, level) => {
                let label = attribute.labels_at(*level)[column.codes()[row_idx] as usize];
                attribute.hierarchy().labels(*level).value(label)
            }
        }
    }
}
