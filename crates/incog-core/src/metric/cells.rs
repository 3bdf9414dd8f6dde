//! At which label of which level do the cells of a local recoding stand?
//!
//! All that metrics need to know of it beside the sizes of its groups. Counted from the recoding, or from released labels
//! alone: then a label that several levels have counts at the lowest. That is where top-down leaves it, unless a label has
//! several children of which one bears its own name.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::error::{Error, ErrorKind, Result};
use crate::hierarchy::{Attribute, Attributes};
use crate::recoding::PerGroup;
use crate::table::{Column, Table};

/// For each attribute, how many released cells have which label of which level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cells {
    /// (level, label) -> rows.
    columns: Vec<BTreeMap<(u8, u32), u64>>,
}

impl Cells {
    /// The cells of a recoding of a table.
    pub fn of_recoding(recoding: &PerGroup, table: &Table, attributes: &Attributes) -> Result<Self> {
        if recoding.n_records() != table.n_rows() {
            return Err(Error::new(ErrorKind::Internal, "a recoding is measured on another table"));
        }
        let column = |(at, attribute): (usize, &Attribute)| {
            let codes = table
                .column(attribute.name())
                .map(Column::codes)
                .ok_or_else(|| Error::input(format!("the table has no column `{}`", attribute.name())))?;
            let labels: Vec<&[u32]> =
                (0..=attribute.height()).map(|level| attribute.labels_at(level)).collect();
            let mut counts = BTreeMap::new();
            for (row_idx, &code) in codes.iter().enumerate() {
                let Some(group) = recoding.group_of(row_idx) else { continue };
                let level = recoding.levels(group)[at];
                *counts.entry((level, labels[usize::from(level)][code as usize])).or_insert(0) += 1;
            }
            Ok(counts)
        };
        Ok(Cells { columns: attributes.iter().enumerate().map(column).collect::<Result<_>>()? })
    }

    /// The cells of a release, given how many rows have which label in the column of each attribute. `None` if a label is
    /// at no level of its hierarchy.
    pub fn of_labels<'a, C>(attributes: &Attributes, columns: impl IntoIterator<Item = C>) -> Option<Self>
    where
        C: IntoIterator<Item = (&'a str, u64)>,
    {
        let column = |(attribute, labels): (&Attribute, C)| {
            let lowest = lowest(attribute);
            let mut counts = BTreeMap::new();
            for (label, rows) in labels.into_iter().filter(|&(_, rows)| rows > 0) {
                *counts.entry(*lowest.get(label)?).or_insert(0) += rows;
            }
            Some(counts)
        };
        Some(Cells { columns: attributes.iter().zip(columns).map(column).collect::<Option<_>>()? })
    }

    /// The labels of an attribute's released cells: level, label, rows.
    pub fn counts(&self, attribute: usize) -> impl Iterator<Item = (u8, u32, u64)> {
        self.columns[attribute].iter().map(|(&(level, label), &rows)| (level, label, rows))
    }

    /// How many released cells of an attribute are at each of its levels, from level 0 on.
    pub fn rows_by_level(&self, attribute: usize, height: u8) -> Vec<u64> {
        let mut rows = vec![0; usize::from(height) + 1];
        for (level, _, n) in self.counts(attribute) {
            rows[usize::from(level)] += n;
        }
        rows
    }
}

/// The lowest level that has a label, and its code there.
fn lowest(attribute: &Attribute) -> FxHashMap<&str, (u8, u32)> {
    let mut lowest = FxHashMap::default();
    for level in 0..=attribute.height() {
        for (label, code) in attribute.hierarchy().labels(level).values().zip(0..) {
            lowest.entry(label).or_insert((level, code));
        }
    }
    lowest
}
