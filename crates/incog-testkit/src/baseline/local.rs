//! Each table for itself (section 3.2 of the paper), an approach that fails.
//!
//! Every table is k-anonymized on its own: its rows fall into groups of at least k. *Why it fails*: the foreign keys still
//! tell which rows belong together. A row of courses may look like any other science course, and yet only one student
//! takes two of science and one of history. Hiding each row says nothing about the set of rows that is a person.
//!
//! Cost: one search a table.

use crate::baseline::{FullDomain, best_levels, highest};
use incog_core::error::Result;
use incog_core::progress::Progress;
use incog_core::relational::Database;

/// Generalizes each table until each of its groups has at least k rows.
///
/// A table with rows, but fewer than k, is generalized as far as possible and named in
/// [`short_tables`](FullDomain::short_tables). Tables without rows or without quasi-identifiers have nothing to hide.
pub fn local(database: &Database, k: usize, progress: &Progress) -> Result<FullDomain> {
    let mut levels = Vec::with_capacity(database.relations().len());
    let mut short_tables = Vec::new();
    for (table, relation) in database.relations().iter().enumerate() {
        if relation.attributes.is_empty() || relation.table.n_rows() == 0 {
            levels.push(vec![0; relation.attributes.len()]);
            continue;
        }
        let found = best_levels(&relation.table, relation.attributes.clone(), k, progress)?;
        levels.push(found.unwrap_or_else(|| {
            short_tables.push(table);
            highest(database, table)
        }));
    }
    Ok(FullDomain::new(database, levels, short_tables))
}
