//! Which rows are equal?
//!
//! 1. Each column's labels get numbers of our own ([`Numbers`]), equal labels equal ones: one hash per label, not per
//!    row. Whose codes they came under does not matter.
//! 2. A row's key folds its numbers, column after column, as digits of a mixed-radix number. Where the next column
//!    would not fit 64 bits, the keys so far are replaced by numbers in order of first appearance, and folding goes on.
//! 3. In the end equal keys get equal dense numbers ([`Groups`]).
//!
//! Exact: different rows never share a key. Memory: 8 bytes a row while folding, 4 bytes a row and 8 a group after it.
//! Columns come one at a time.

use rustc_hash::FxHashMap;

/// More rows than this cannot be told apart by the numbers used here.
pub(crate) const MAX_ROWS: usize = (u32::MAX - 1) as usize;

/// An array is used instead of a hash map up to this many keys.
const MAX_CELLS: u64 = 1 << 26;

/// Equal labels get equal numbers, from 0 upward in order of first appearance.
#[derive(Default)]
pub(crate) struct Numbers<'a> {
    numbers: FxHashMap<&'a str, u32>,
}

impl<'a> Numbers<'a> {
    pub(crate) fn number(&mut self, label: &'a str) -> u32 {
        let next = self.numbers.len() as u32;
        *self.numbers.entry(label).or_insert(next)
    }

    pub(crate) fn all(&mut self, labels: impl IntoIterator<Item = &'a str>) -> Vec<u32> {
        labels.into_iter().map(|label| self.number(label)).collect()
    }

    /// The number of a label that was given one.
    pub(crate) fn find(&self, label: &str) -> Option<u32> {
        self.numbers.get(label).copied()
    }

    pub(crate) fn len(&self) -> usize {
        self.numbers.len()
    }
}

/// A key per row, so far.
pub(crate) struct Keys {
    keys: Vec<u64>,
    /// All keys are below.
    bound: u64,
}

impl Keys {
    /// All rows are equal as long as no column is looked at.
    pub(crate) fn new(n_rows: usize) -> Self {
        Keys { keys: vec![0; n_rows], bound: 1 }
    }

    /// Starts from keys below `bound`.
    pub(crate) fn from_numbers(numbers: impl IntoIterator<Item = u32>, bound: usize) -> Self {
        Keys { keys: numbers.into_iter().map(u64::from).collect(), bound: bound.max(1) as u64 }
    }

    /// Takes a column into account: part after part of the rows, the number of a row is `numbers[codes[row]]`, and all
    /// numbers are below `n_numbers`.
    pub(crate) fn fold(&mut self, parts: &[(&[u32], &[u32])], n_numbers: usize) {
        let radix = n_numbers as u64;
        if radix <= 1 {
            return;
        }
        if self.bound.checked_mul(radix).is_none() {
            self.compress();
        }
        // Fits: at most 2³² numbers of rows, and as many of labels.
        self.bound *= radix;
        let mut keys = self.keys.as_mut_slice();
        for &(codes, numbers) in parts {
            let (part, rest) = keys.split_at_mut(codes.len());
            for (key, &code) in part.iter_mut().zip(codes) {
                *key = *key * radix + u64::from(numbers[code as usize]);
            }
            keys = rest;
        }
        assert!(keys.is_empty(), "a column has a code for every row");
    }

    /// Equal keys get equal numbers, in order of first appearance.
    pub(crate) fn into_groups(self) -> Groups {
        let mut of_row = Vec::with_capacity(self.keys.len());
        let first_rows = self.number(|number| of_row.push(number));
        Groups { of_row, first_rows }
    }

    fn compress(&mut self) {
        let mut numbers = Vec::with_capacity(self.keys.len());
        self.bound = self.number(|number| numbers.push(number)).len().max(1) as u64;
        for (key, number) in self.keys.iter_mut().zip(numbers) {
            *key = u64::from(number);
        }
    }

    /// Calls `tell` with the number of each row's key; returns the first row of each number.
    fn number(&self, mut tell: impl FnMut(u32)) -> Vec<u32> {
        let mut first_rows: Vec<u32> = Vec::new();
        if self.bound <= MAX_CELLS && self.bound <= 4 * self.keys.len() as u64 {
            let mut numbers = vec![u32::MAX; self.bound as usize];
            for (row_idx, &key) in self.keys.iter().enumerate() {
                let number = &mut numbers[key as usize];
                if *number == u32::MAX {
                    *number = first_rows.len() as u32;
                    first_rows.push(row_idx as u32);
                }
                tell(*number);
            }
        } else {
            let mut numbers: FxHashMap<u64, u32> = FxHashMap::default();
            for (row_idx, &key) in self.keys.iter().enumerate() {
                let number = *numbers.entry(key).or_insert_with(|| {
                    first_rows.push(row_idx as u32);
                    first_rows.len() as u32 - 1
                });
                tell(number);
            }
        }
        first_rows
    }
}

/// Rows that are equal, as groups numbered in order of first appearance.
pub(crate) struct Groups {
    /// The group of each row.
    pub(crate) of_row: Vec<u32>,
    /// The first row of each group.
    pub(crate) first_rows: Vec<u32>,
}

impl Groups {
    pub(crate) fn len(&self) -> usize {
        self.first_rows.len()
    }

    /// Rows of each group.
    pub(crate) fn sizes(&self) -> Vec<u32> {
        count(&self.of_row, self.len())
    }
}

/// How often each number below `n_numbers` occurs.
pub(crate) fn count(numbers: &[u32], n_numbers: usize) -> Vec<u32> {
    let mut counts = vec![0; n_numbers];
    for &number in numbers {
        counts[number as usize] += 1;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    /// Groups of rows given as columns of numbers, by the definition.
    fn naive(columns: &[Vec<u32>], n_rows: usize) -> Vec<u32> {
        let mut seen: HashMap<Vec<u32>, u32> = HashMap::new();
        (0..n_rows)
            .map(|row_idx| {
                let next = seen.len() as u32;
                *seen.entry(columns.iter().map(|column| column[row_idx]).collect()).or_insert(next)
            })
            .collect()
    }

    #[test]
    fn equal_rows_get_equal_numbers_with_arrays_hash_maps_and_keys_that_overflow() {
        let mut state = 1_u64;
        let mut random = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        for (n_columns, radix) in [(0, 1), (1, 1), (2, 3), (3, 50), (9, 4_000_000_000), (70, 2), (5, 1 << 30)]
        {
            let n_rows = 500;
            // Rows repeat: the first half is drawn, the second half copies rows of it.
            let mut columns: Vec<Vec<u32>> = (0..n_columns)
                .map(|_| (0..n_rows / 2).map(|_| random(radix.min(7)) as u32).collect())
                .collect();
            for _ in n_rows / 2..n_rows {
                let copied = random(n_rows as u64 / 2) as usize;
                for column in &mut columns {
                    column.push(column[copied]);
                }
            }
            let mut keys = Keys::new(n_rows);
            let identity: Vec<u32> = (0..7).collect();
            for column in &columns {
                let (first, second) = column.split_at(123);
                keys.fold(&[(first, &identity), (second, &identity)], radix as usize);
            }
            let groups = keys.into_groups();
            assert_eq!(groups.of_row, naive(&columns, n_rows), "{n_columns} columns of {radix}");
            for (group, &row_idx) in groups.first_rows.iter().enumerate() {
                assert_eq!(groups.of_row.iter().position(|&of| of == group as u32), Some(row_idx as usize));
            }
            assert_eq!(groups.sizes().iter().sum::<u32>(), n_rows as u32);
        }
    }
}
