//! Does a released column hold keys of the original?
//!
//! New keys are worth nothing if the old ones stand in another column: a child's copy of the person's id, say. Nobody declares
//! such a column as a key, so it is told by its values, which are compared as labels (`7`, `007` and `7.0` are one).
//!
//! 1. A column *copies* the keys of its own table or of one above if it has the key of the row itself, or of the row above
//!    it there, in more than half of the original's rows that have a value.
//! 2. A column also holds keys if its values in the original are nearly all different, and nearly all are keys of one table,
//!    whichever: nine in ten.
//! 3. Such a column is refused if more than half of its released cells are keys. If it was generalized, few are.
//! 4. So is a column that holds keys in another form, or in fewer rows ([`disguised`](super::disguised)), if a tenth of its released values
//!    are those that hold them.
//!
//! Whole numbers can be keys by coincidence: a quantity of 1 to 10 beside keys from 1 to 1000. So a copy takes
//! [`COINCIDENCE`] different numbers. And numbers that are nearly all different are keys only if few other numbers between them
//! are, or if they are at least half of all keys.

use crate::hash;

use super::disguised::{FoldedKeys, fold};
use super::forest::Forest;
use super::shape::{Columns, Shape};
use crate::{ClaimKind, Finding, LabelColumn, Labels};

/// Fewer numbers that are keys may be a coincidence.
pub(super) const COINCIDENCE: usize = 8;

/// Fewer other values that are keys may be one.
const FEW: usize = 4;

/// Numbers are keys by chance with a probability of less than one in two to the power of this.
const BITS: f64 = 20.0;

/// No key.
const NONE: u32 = u32::MAX;

/// A column of a release, and the column of the original that it comes from.
pub(super) struct Released<'a> {
    pub(super) table: usize,
    /// What it is called in messages.
    pub(super) name: String,
    pub(super) labels: LabelColumn<'a>,
    pub(super) original: LabelColumn<'a>,
}

/// The keys of a table.
struct TableKeys<'a> {
    numbers: hash::Map<&'a str, u32>,
    /// The number of each row's key.
    of_row: Vec<u32>,
    /// All that are whole numbers, ascending.
    whole: Vec<u64>,
    folded: FoldedKeys,
}

impl<'a> TableKeys<'a> {
    fn new(column: &LabelColumn<'a>) -> Self {
        let mut numbers: hash::Map<&str, u32> = hash::Map::default();
        let mut whole = Vec::new();
        let mut of_row = Vec::with_capacity(column.codes.len());
        for &code in &*column.codes {
            let key = canonical(column.labels[code as usize]);
            let next = numbers.len() as u32;
            let number = *numbers.entry(key).or_insert(next);
            if number == next {
                whole.extend(whole_number(key));
            }
            of_row.push(number);
        }
        whole.sort_unstable();
        TableKeys { numbers, of_row, whole, folded: FoldedKeys::new(column) }
    }

    /// The number of the key that each label is, if it is one.
    fn find(&self, labels: &[&str]) -> Vec<u32> {
        labels.iter().map(|label| self.numbers.get(canonical(label)).copied().unwrap_or(NONE)).collect()
    }

    /// Can these keys equal keys of the original by coincidence?
    fn may_be_coincidence(&self, keys: &hash::Set<&str>) -> bool {
        let numbers: Vec<u64> = keys.iter().filter_map(|key| whole_number(key)).collect();
        let (Some(&least), Some(&most)) = (numbers.iter().min(), numbers.iter().max()) else {
            return keys.len() < FEW;
        };
        if numbers.len() < keys.len() {
            return keys.len() < FEW;
        }
        if keys.len() < COINCIDENCE {
            return true;
        }
        let n_keys =
            self.whole.partition_point(|&key| key <= most) - self.whole.partition_point(|&key| key < least);
        let n_numbers = (most - least) as f64 + 1.0;
        let bits = keys.len() as f64 * (n_numbers / n_keys.max(1) as f64).log2();
        bits < BITS && 2 * keys.len() < self.numbers.len()
    }
}

/// Looks for columns that hold keys. `columns` and `forest` are the original's.
pub(super) fn check(
    released: &[Released<'_>],
    originals: &[&dyn Labels],
    columns: &[Columns],
    shape: &Shape,
    forest: &Forest,
    names: &[&str],
) -> Finding {
    let keys: Vec<Option<LabelColumn<'_>>> = originals
        .iter()
        .zip(columns)
        .map(|(original, columns)| columns.key.map(|key| original.column(key)))
        .collect();
    let keys: Vec<Option<TableKeys<'_>>> = keys.iter().map(|key| key.as_ref().map(TableKeys::new)).collect();
    let mut found = Vec::new();
    for column in released {
        let first = |holding: fn(&Released<'_>, Option<&[u32]>, &TableKeys<'_>) -> Option<usize>| {
            (0..keys.len()).find_map(|of| {
                let rows = rows_above(column.table, of, shape, forest);
                holding(column, rows.as_deref(), keys[of].as_ref()?).map(|n_keys| (of, n_keys))
            })
        };
        // Keys as they are tell of which table they are; in disguise the keys of two tables may look alike.
        if let Some((of, n_rows)) = first(n_copied).or_else(|| first(n_disguised)) {
            found.push(format!(
                "column {} of {} holds keys of {} in {n_rows} of {} rows: it is an identifier",
                column.name,
                names[column.table],
                names[of],
                column.labels.codes.len()
            ));
        }
    }
    Finding {
        kind: ClaimKind::Keys,
        claim: "no other column repeats the keys of its rows, of rows above them, or of a table row by row"
            .into(),
        holds: found.is_empty(),
        found: if found.is_empty() { "none does".into() } else { found.join("; ") },
    }
}

/// The row in another table above each row of a table, if it is one above.
fn rows_above(mut table: usize, of: usize, shape: &Shape, forest: &Forest) -> Option<Vec<u32>> {
    let mut rows: Vec<u32> = (0..forest.n_rows[table] as u32).collect();
    while table != of {
        let parent = shape.parents[table]?;
        for row in &mut rows {
            *row = forest.parent_rows[table][*row as usize];
        }
        table = parent;
    }
    Some(rows)
}

/// How many released cells are keys, if they are most, and the column of the original holds keys as they are.
fn n_copied(column: &Released<'_>, rows: Option<&[u32]>, keys: &TableKeys<'_>) -> Option<usize> {
    let is_key = keys.find(&column.labels.labels);
    let n_keys = column.labels.codes.iter().filter(|&&code| is_key[code as usize] != NONE).count();
    if 2 * n_keys <= n_values(&column.labels) {
        return None;
    }
    let holds =
        rows.is_some_and(|rows| copies(column, rows, keys)) || are_nearly_distinct(&column.original, keys);
    holds.then_some(n_keys)
}

/// How many released cells hold keys in another form, if they are a tenth.
fn n_disguised(column: &Released<'_>, rows: Option<&[u32]>, keys: &TableKeys<'_>) -> Option<usize> {
    let held = keys.folded.held_by(&column.original, rows)?;
    let is_held: Vec<bool> = column.labels.labels.iter().map(|label| held.contains(&fold(label))).collect();
    let n_held = column.labels.codes.iter().filter(|&&code| is_held[code as usize]).count();
    (n_held > 0 && 10 * n_held >= n_values(&column.labels)).then_some(n_held)
}

/// Has a column of the original the key of its row, or of the row above it in a table, in most rows?
fn copies(column: &Released<'_>, rows: &[u32], keys: &TableKeys<'_>) -> bool {
    let numbers = keys.find(&column.original.labels);
    let mut equal: hash::Set<&str> = hash::Set::default();
    let mut n_equal = 0;
    for (&row, &code) in rows.iter().zip(&*column.original.codes) {
        if numbers[code as usize] == keys.of_row[row as usize] {
            n_equal += 1;
            equal.insert(canonical(column.original.labels[code as usize]));
        }
    }
    let are_numbers = equal.iter().all(|key| whole_number(key).is_some());
    let is_coincidence = equal.len() < if are_numbers { COINCIDENCE } else { 2 };
    2 * n_equal > n_values(&column.original) && !is_coincidence
}

/// Are nearly all values of a column different keys, and not by coincidence?
fn are_nearly_distinct(column: &LabelColumn<'_>, keys: &TableKeys<'_>) -> bool {
    let labels = column.codes.iter().map(|&code| canonical(column.labels[code as usize]));
    let distinct: hash::Set<&str> = labels.filter(|label| keys.numbers.contains_key(label)).collect();
    10 * distinct.len() >= 9 * n_values(column) && !keys.may_be_coincidence(&distinct)
}

/// In how many rows does a column have a value?
fn n_values(column: &LabelColumn<'_>) -> usize {
    let is_missing: Vec<bool> = column.labels.iter().map(|label| canonical(label).is_empty()).collect();
    column.codes.iter().filter(|&&code| !is_missing[code as usize]).count()
}

/// A label without what a number may be written with: spaces around it, zeros before it or behind its point.
pub(super) fn canonical(label: &str) -> &str {
    let label = label.trim();
    let digits = label.find('.').map_or(label, |point| {
        if label[point + 1..].bytes().all(|byte| byte == b'0') { &label[..point] } else { label }
    });
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return label;
    }
    let digits = digits.trim_start_matches('0');
    if digits.is_empty() { "0" } else { digits }
}

pub(super) fn whole_number(canonical: &str) -> Option<u64> {
    if canonical.starts_with('+') { None } else { canonical.parse().ok() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_compared_however_they_are_written() {
        for (label, expected) in [
            ("7", "7"),
            (" 007 ", "7"),
            ("7.0", "7"),
            ("0", "0"),
            ("00.00", "0"),
            ("7.50", "7.50"),
            ("S07", "S07"),
            ("", ""),
            (".", "."),
            ("-7", "-7"),
        ] {
            assert_eq!(canonical(label), expected, "{label}");
        }
        assert_eq!([whole_number("7"), whole_number("+7"), whole_number("x")], [Some(7), None, None]);
    }

    #[test]
    fn numbers_among_numbers_are_no_keys_unless_few_others_are() {
        let labels: Vec<String> = (1..=1000).map(|key| key.to_string()).collect();
        let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
        let codes: Vec<u32> = (0..1000).collect();
        let dense = TableKeys::new(&LabelColumn { labels: labels.clone(), codes: codes.clone().into() });
        let sparse: Vec<String> = (1..=1000).map(|key: u64| (key * 997 + 100_000).to_string()).collect();
        let sparse: Vec<&str> = sparse.iter().map(String::as_str).collect();
        let sparse_keys = TableKeys::new(&LabelColumn { labels: sparse.clone(), codes: codes.into() });
        let some = |labels: &[&'static str]| labels.iter().copied().collect::<hash::Set<&str>>();
        assert!(dense.may_be_coincidence(&some(&["1", "2", "3", "4", "5", "6", "7", "8", "9", "10"])));
        assert!(dense.may_be_coincidence(&labels[..499].iter().copied().collect()));
        assert!(!dense.may_be_coincidence(&labels[..500].iter().copied().collect()), "half of all");
        assert!(!sparse_keys.may_be_coincidence(&sparse[..8].iter().copied().collect()));
        assert!(sparse_keys.may_be_coincidence(&sparse[..7].iter().copied().collect()));
        assert!(dense.may_be_coincidence(&some(&["a", "b", "c"])));
        assert!(!dense.may_be_coincidence(&some(&["a", "b", "c", "d"])));
    }
}
