//! Which columns hold keys, although nobody declared them so?
//!
//! Keys are replaced by new ones. A child's copy of the person's id would be released as it is, and undo that. So columns
//! that are to be released are compared with all keys, as labels (`7`, `007` and `7.0` are one):
//!
//! 1. A column that has the key of its own row, or of the row above it in some table, in more than half of the rows with a
//!    value is a copy.
//! 2. So is one whose values are keys of one table and different in nine of ten rows.
//!
//! Whole numbers may be keys by coincidence, such as a quantity of 1 to 10 beside keys from 1 to 1000. A copy
//! takes [`COINCIDENCE`] different numbers; those of the second rule must be half of all keys, or most numbers between them no keys.
//!
//! Other forms of a key, and copies in a part of the rows, are the business of [`hidden_keys`](super::hidden_keys). The checker has all
//! these rules, too, and code of its own.

use std::collections::{HashMap, HashSet};

use incog_core::relational::Database;
use incog_core::table::Column;

use super::hidden_keys::{Cells, Forms};
use crate::database::plan::in_table;

/// Fewer numbers may be keys by coincidence.
pub(super) const COINCIDENCE: usize = 8;

/// Fewer other values may be.
const FEW: usize = 4;

/// Numbers are keys by chance with a probability of less than one in two to the power of this.
const BITS: f64 = 20.0;

/// What to do about such a column.
pub(super) const HINT: &str = "declare the column as role = \"identifier\": it is dropped, and keys that are declared \
     as `key` or `parent` still lead from table to table, with new values";

/// The values of a column, numbers written in one way; missing ones are empty.
fn values(column: &Column) -> Vec<&str> {
    column.dictionary().values().map(plain).collect()
}

/// The keys of a table, by row.
struct Keys<'a> {
    table: usize,
    of_row: Vec<&'a str>,
    all: HashSet<&'a str>,
    forms: Forms<'a>,
}

/// What is wrong with the columns of a table that are to be released, by their places.
pub(super) fn copies(database: &Database, table: usize, released: &[usize]) -> Vec<String> {
    let relations = database.relations();
    let keys: Vec<Keys<'_>> = (0..relations.len())
        .filter_map(|table| {
            let relation = &relations[table];
            let column = relation.key.as_ref().and_then(|key| relation.table.column(key))?;
            let values = values(column);
            let of_row: Vec<&str> = column.codes().iter().map(|&code| values[code as usize]).collect();
            Some(Keys { table, all: of_row.iter().copied().collect(), forms: Forms::new(&of_row), of_row })
        })
        .collect();
    let relation = &relations[table];
    let mut found = Vec::new();
    for &at in released {
        let column = &relation.table.columns()[at];
        let values = values(column);
        let cells: Vec<&str> = column.codes().iter().map(|&code| values[code as usize]).collect();
        let n_values = cells.iter().filter(|cell| !cell.is_empty()).count();
        for keys in &keys {
            let rows = rows_above(database, table, keys.table);
            let n_rows = rows
                .as_deref()
                .and_then(|rows| n_copied(keys, rows, &cells, n_values))
                .or_else(|| n_distinct(keys, &cells, n_values))
                .or_else(|| {
                    let cells = Cells { values: &values, codes: column.codes() };
                    keys.forms.n_held(&cells, rows.as_deref())
                });
            if let Some(n_rows) = n_rows {
                found.push(format!(
                    "{}column `{}` holds keys of table `{}` in {n_rows} of {} rows, and would be released with them",
                    in_table(&relation.name),
                    column.name(),
                    relations[keys.table].name,
                    cells.len(),
                ));
                break;
            }
        }
    }
    found
}

/// For each row of a table, the row above it in another, if that is one above.
fn rows_above(database: &Database, table: usize, above: usize) -> Option<Vec<u32>> {
    let mut rows: Vec<u32> = (0..database.relations()[table].table.n_rows() as u32).collect();
    let mut at = table;
    while at != above {
        let parent_rows = database.parent_rows(at);
        at = database.parent(at)?;
        rows.iter_mut().for_each(|row| *row = parent_rows[*row as usize]);
    }
    Some(rows)
}

/// In how many rows a column has the key of its own row or the one above it, if those are most.
fn n_copied(keys: &Keys<'_>, rows: &[u32], cells: &[&str], n_values: usize) -> Option<usize> {
    let equal = cells.iter().zip(rows).filter(|(cell, row)| **cell == keys.of_row[**row as usize]);
    let equal: Vec<&str> = equal.map(|(cell, _)| *cell).collect();
    let different: HashSet<&str> = equal.iter().copied().collect();
    let are_numbers = different.iter().all(|cell| number(cell).is_some());
    let is_coincidence = different.len() < if are_numbers { COINCIDENCE } else { 2 };
    (2 * equal.len() > n_values && !is_coincidence).then_some(equal.len())
}

/// In how many rows a column has a key, if nearly all are different ones.
fn n_distinct(keys: &Keys<'_>, cells: &[&str], n_values: usize) -> Option<usize> {
    let mut times: HashMap<&str, usize> = HashMap::new();
    for cell in cells.iter().filter(|cell| keys.all.contains(*cell)) {
        *times.entry(cell).or_insert(0) += 1;
    }
    let is_copy = n_values > 0 && 10 * times.len() >= 9 * n_values && !may_be_coincidence(&times, keys);
    is_copy.then(|| times.values().sum())
}

/// May values equal keys by coincidence, because they are numbers in a range full of keys?
fn may_be_coincidence(values: &HashMap<&str, usize>, keys: &Keys<'_>) -> bool {
    let numbers: Vec<u64> = values.keys().filter_map(|value| number(value)).collect();
    let (Some(&least), Some(&most), true) =
        (numbers.iter().min(), numbers.iter().max(), numbers.len() == values.len())
    else {
        return values.len() < FEW;
    };
    let is_between = |key: &&&str| number(key).is_some_and(|key| (least..=most).contains(&key));
    let n_keys = keys.all.iter().filter(is_between).count().max(1);
    let bits = values.len() as f64 * (((most - least) as f64 + 1.0) / n_keys as f64).log2();
    values.len() < COINCIDENCE || (bits < BITS && 2 * values.len() < keys.all.len())
}

/// A value without spaces around it and, if it is a whole number, zeros before it and behind its point.
pub(super) fn plain(value: &str) -> &str {
    let value = value.trim();
    let whole = match value.split_once('.') {
        Some((whole, behind)) if behind.bytes().all(|byte| byte == b'0') => whole,
        _ => value,
    };
    if whole.is_empty() || whole.bytes().any(|byte| !byte.is_ascii_digit()) {
        return value;
    }
    let digits = whole.trim_start_matches('0');
    if digits.is_empty() { &whole[..1] } else { digits }
}

pub(super) fn number(plain: &str) -> Option<u64> {
    plain.parse().ok().filter(|_| !plain.starts_with('+'))
}
