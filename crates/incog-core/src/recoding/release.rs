//! A table as it would be published: labels instead of values.
//!
//! A view: it shares the columns and the hierarchies and copies no text, but the labels of boxes.

use std::sync::Arc;

use rayon::prelude::*;

use crate::hierarchy::{Attribute, Attributes};
use crate::table::{Column, Role, Table};

/// How many records a thread looks up at a time.
const BLOCK: usize = 1 << 15;

/// What leaves the house, if it passes verification.
#[derive(Debug)]
pub struct Release {
    /// All columns of the table.
    columns: Arc<[Column]>,
    attributes: Attributes,
    /// Those that are released, in the order of the table.
    released: Vec<ReleasedColumn>,
    /// The records that are released, as row indexes of the table.
    rows: Vec<u32>,
}

#[derive(Debug)]
struct ReleasedColumn {
    /// Where it stands in the table.
    place: usize,
    /// Which attribute it is, and how that is generalized; `None` if it is as collected.
    generalized: Option<(usize, Generalized)>,
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

impl Release {
    /// `levels` has an entry for each attribute, `rows` the released records.
    pub(super) fn new(
        table: &Table,
        attributes: &Attributes,
        levels: Vec<Generalized>,
        rows: Vec<u32>,
    ) -> Self {
        let mut levels: Vec<Option<Generalized>> = levels.into_iter().map(Some).collect();
        let released = table
            .columns()
            .iter()
            .enumerate()
            .filter(|(_, column)| column.role() != Role::Identifier)
            .map(|(place, column)| ReleasedColumn {
                place,
                generalized: attributes
                    .iter()
                    .position(|attribute| attribute.name() == column.name())
                    .and_then(|at| Some((at, levels[at].take()?))),
            })
            .collect();
        Release { columns: table.shared_columns(), attributes: attributes.clone(), released, rows }
    }

    /// A released column as it was collected, and how it is generalized.
    fn column(&self, column_idx: usize) -> (&Column, Option<(&Attribute, &Generalized)>) {
        let ReleasedColumn { place, generalized } = &self.released[column_idx];
        let generalized = generalized.as_ref().map(|(at, how)| (&self.attributes[*at], how));
        (&self.columns[*place], generalized)
    }

    /// The same records in another order: place `i` has what was the record `order[i]`.
    ///
    /// # Panics
    /// When `order` does not name every released record once.
    #[must_use]
    pub fn arranged(mut self, order: &[u32]) -> Self {
        fn in_order<T: Copy>(of: &[T], order: &[u32]) -> Vec<T> {
            order.iter().map(|&at| of[at as usize]).collect()
        }
        let mut is_named = vec![false; self.rows.len()];
        order.iter().for_each(|&at| is_named[at as usize] = true);
        let is_order = order.len() == self.rows.len() && is_named.into_iter().all(|is_named| is_named);
        assert!(is_order, "an order names every record once");
        self.rows = in_order(&self.rows, order);
        for released in &mut self.released {
            match &mut released.generalized {
                None | Some((_, Generalized::Alike(_))) => {}
                Some((_, Generalized::ByRow(levels))) => *levels = in_order(levels, order),
                Some((_, Generalized::Named { codes, .. })) => *codes = in_order(codes, order),
            }
        }
        self
    }

    /// The released columns' names, in the order of the table.
    pub fn header(&self) -> Vec<&str> {
        self.released.iter().map(|released| self.columns[released.place].name()).collect()
    }

    /// How many records are released.
    pub fn n_rows(&self) -> usize {
        self.rows.len()
    }

    /// The records that are released, as row indexes of the table; in its order unless they were [arranged](Self::arranged).
    pub fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// All labels that a column may have, by their codes; some may stand in no released record, and some may stand twice
    /// where records have different levels.
    pub fn labels(&self, column_idx: usize) -> impl ExactSizeIterator<Item = &str> {
        let (column, generalized) = self.column(column_idx);
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
        let mut codes = vec![0; self.rows.len()];
        let blocks = codes.par_chunks_mut(BLOCK).enumerate();
        blocks.for_each(|(at, block)| self.codes_from(column_idx, at * BLOCK, block));
        codes
    }

    /// The same for released records that follow each other, from the record `first` on: as many as there is room for.
    ///
    /// # Panics
    /// When fewer records follow than there is room for.
    pub fn codes_from(&self, column_idx: usize, first: usize, to: &mut [u32]) {
        let (column, generalized) = self.column(column_idx);
        let records = first..first + to.len();
        let rows = &self.rows[records.clone()];
        let values = rows.iter().map(|&row_idx| column.codes()[row_idx as usize]);
        match generalized {
            None => put(to, values),
            Some((attribute, Generalized::Alike(level))) => {
                let labels = attribute.labels_at(*level);
                put(to, values.map(|value| labels[value as usize]));
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
                put(to, values.zip(&levels[records]).map(code));
            }
            Some((_, Generalized::Named { codes, .. })) => to.copy_from_slice(&codes[records]),
        }
    }

    /// A released cell.
    pub fn cell(&self, row_idx: usize, column_idx: usize) -> &str {
        let (column, generalized) = self.column(column_idx);
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

fn put(to: &mut [u32], codes: impl Iterator<Item = u32>) {
    for (to, code) in to.iter_mut().zip(codes) {
        *to = code;
    }
}
