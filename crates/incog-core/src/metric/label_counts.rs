//! At which label of which level, or in which range of an ordered domain, do the cells of a local recoding stand?
//!
//! All that metrics need to know of it beside the sizes of its groups. Counted from the recoding, or from released labels
//! alone: then a label that several levels have counts at the lowest. That is where top-down leaves it, unless a label has
//! several children of which one bears its own name.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::error::{Error, ErrorKind, Result};
use crate::hash;
use crate::hierarchy::{Attribute, Attributes};
use crate::metric::costs::climbed;
use crate::recoding::{Domain, Domains, PerGroup, Side};
use crate::table::{Column, Table};

/// For each attribute, how many released cells have which label of which level, or which range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelCounts {
    /// How many rows have which side.
    columns: Vec<BTreeMap<Side, u64>>,
    domains: Domains,
}

impl LabelCounts {
    /// Counts the labels of a recoding of a table.
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
                let label = labels[usize::from(level)][code as usize];
                *counts.entry(Side::Label { level, label }).or_insert(0) += 1;
            }
            Ok(counts)
        };
        Ok(LabelCounts {
            columns: attributes.iter().enumerate().map(column).collect::<Result<_>>()?,
            domains: vec![None; attributes.len()],
        })
    }

    /// The cells of a release, given how many rows have which label in the column of each attribute, and which attributes
    /// are ordered domains. `None` if a label is at no level of its hierarchy, or no range of its domain.
    pub fn of_labels<'a, C>(
        attributes: &Attributes,
        domains: &Domains,
        columns: impl IntoIterator<Item = C>,
    ) -> Option<Self>
    where
        C: IntoIterator<Item = (&'a str, u64)>,
    {
        let column = |((attribute, domain), labels): ((&Attribute, &Option<Arc<Domain>>), C)| {
            let lowest = if domain.is_none() { lowest(attribute) } else { hash::Map::default() };
            let mut counts = BTreeMap::new();
            for (label, rows) in labels.into_iter().filter(|&(_, rows)| rows > 0) {
                let side = match domain {
                    Some(domain) => domain.side(label)?,
                    None => *lowest.get(label)?,
                };
                *counts.entry(side).or_insert(0) += rows;
            }
            Some(counts)
        };
        let columns = attributes.iter().zip(domains).zip(columns).map(column).collect::<Option<_>>()?;
        Some(LabelCounts { columns, domains: domains.clone() })
    }

    /// The order of an attribute's values; `None` where its hierarchy is used.
    pub fn domain(&self, attribute: usize) -> Option<&Domain> {
        self.domains[attribute].as_deref()
    }

    /// The sides of an attribute's released cells, with their rows.
    pub fn counts(&self, attribute: usize) -> impl Iterator<Item = (Side, u64)> {
        self.columns[attribute].iter().map(|(&side, &rows)| (side, rows))
    }

    /// How many different labels an attribute's released cells have.
    pub fn n_labels(&self, attribute: usize) -> usize {
        self.columns[attribute].len()
    }

    /// How many released cells of an attribute stand at which level of its whole hierarchy, ascending; an ordered domain has
    /// two, as collected or not. Levels without rows are left out.
    pub fn rows_by_level(&self, at: usize, attribute: &Attribute) -> Vec<(u8, u64)> {
        let mut rows: BTreeMap<u8, u64> = BTreeMap::new();
        for (side, n) in self.counts(at) {
            *rows.entry(climbed(side, attribute, self.domain(at))).or_insert(0) += n;
        }
        rows.into_iter().collect()
    }
}

/// The lowest level that has a label, and its code there.
fn lowest(attribute: &Attribute) -> hash::Map<&str, Side> {
    let mut lowest = hash::Map::default();
    for level in 0..=attribute.height() {
        for (text, label) in attribute.hierarchy().labels(level).values().zip(0..) {
            lowest.entry(text).or_insert(Side::Label { level, label });
        }
    }
    lowest
}
