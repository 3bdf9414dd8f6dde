//! Which rows are equal?
//!
//! 1. Each column's labels get numbers of our own ([`Numbers`]), equal labels equal ones: one hash per label, not per
//!    row. Whose codes they came under does not matter.
//! 2. A row's key folds its numbers, column after column, as digits of a mixed-radix number. Where the next column
//!    would not fit 64 bits, the keys so far are replaced by numbers in order of first appearance, and folding goes on.
//! 3. In the end equal keys get equal dense numbers ([`Groups`]).
//!
//! Exact: different rows never share a key. Memory: 8 bytes a row while folding, for a moment 20 while grouping, 4 a row
//! and 4 a group after it.
//! Columns come one at a time ([`Keys::fold`]) or some rows of all of them at a time ([`Keys::fold_rows`]), which leaves the keys in
//! the processor's cache; rows are shared out among threads. Numbers do not depend on how many there are.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use rayon::prelude::*;

use crate::hash::{self, Salt};

/// More rows than this cannot be told apart by the numbers used here.
pub(crate) const MAX_ROWS: usize = (u32::MAX - 1) as usize;

/// An array is used instead of a hash map up to this many keys.
const MAX_CELLS: u64 = 1 << 26;

/// Rows that share a hash table, about.
const PART_ROWS: usize = 1 << 14;

/// Rows that are worth a thread's while, at least.
const SHARE: usize = 1 << 15;

/// How many rows a thread looks at at a time.
pub(crate) const BLOCK: usize = 1 << 13;

/// Equal labels get equal numbers, from 0 upward in order of first appearance.
#[derive(Default)]
pub(crate) struct Numbers<'a> {
    numbers: hash::Map<&'a str, u32>,
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

    /// Each label with its number, in no order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&'a str, u32)> {
        self.numbers.iter().map(|(label, number)| (*label, *number))
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
            part.par_iter_mut().zip(codes).with_min_len(SHARE).for_each(|(key, &code)| {
                *key = *key * radix + u64::from(numbers[code as usize]);
            });
            keys = rest;
        }
        assert!(keys.is_empty(), "a column has a code for every row");
    }

    /// Takes columns into account, some rows of all of them at a time. `numbers_of` a column are asked for, from a row on and as
    /// many as there is room for; those of column i are below `radices[i]`.
    pub(crate) fn fold_rows(
        &mut self,
        radices: &[usize],
        numbers_of: impl Fn(usize, usize, &mut [u32]) + Sync,
    ) {
        let mut next = 0;
        while next < radices.len() {
            let first = next;
            let before = self.bound;
            while let Some(bound) =
                radices.get(next).and_then(|&radix| self.bound.checked_mul(radix.max(1) as u64))
            {
                self.bound = bound;
                next += 1;
            }
            if next == first {
                // Then it fits: at most 2³² numbers of rows, and as many of labels.
                self.bound = before;
                self.compress();
                continue;
            }
            let blocks = self.keys.par_chunks_mut(BLOCK).enumerate();
            blocks.for_each_init(
                || vec![0; BLOCK],
                |numbers, (at, keys)| {
                    let numbers = &mut numbers[..keys.len()];
                    for column in (first..next).filter(|&column| radices[column] > 1) {
                        numbers_of(column, at * BLOCK, numbers);
                        for (key, &number) in keys.iter_mut().zip(&*numbers) {
                            *key = *key * radices[column] as u64 + u64::from(number);
                        }
                    }
                },
            );
        }
    }

    /// Equal keys get equal numbers, in order of first appearance.
    pub(crate) fn into_groups(self) -> Groups {
        if self.bound <= MAX_CELLS && self.bound <= 4 * self.keys.len() as u64 {
            return self.groups_by_array();
        }
        let mut of_row = self.first_rows_by_hash();
        let mut first_rows = Vec::new();
        for row_idx in 0..of_row.len() {
            let first = of_row[row_idx] as usize;
            // The first row of a group comes before all others, so that it has its number already.
            of_row[row_idx] = if first == row_idx {
                first_rows.push(row_idx as u32);
                first_rows.len() as u32 - 1
            } else {
                of_row[first]
            };
        }
        Groups { of_row, first_rows }
    }

    fn compress(&mut self) {
        let keys = std::mem::take(&mut self.keys);
        let groups = Keys { keys, bound: self.bound }.into_groups();
        self.bound = groups.len().max(1) as u64;
        self.keys = groups.of_row.into_iter().map(u64::from).collect();
    }

    fn groups_by_array(self) -> Groups {
        let mut numbers = vec![u32::MAX; self.bound as usize];
        let mut first_rows = Vec::new();
        let number = |(row_idx, &key): (usize, &u64)| {
            let number = &mut numbers[key as usize];
            if *number == u32::MAX {
                *number = first_rows.len() as u32;
                first_rows.push(row_idx as u32);
            }
            *number
        };
        let of_row = self.keys.iter().enumerate().map(number).collect();
        Groups { of_row, first_rows }
    }

    /// For each row the first one with the same key, with many small hash tables: one large one would not fit the processor's cache. Each thread deals some rows to
    /// the tables; then each takes a table, with its rows in order, at a time.
    fn first_rows_by_hash(self) -> Vec<u32> {
        let n_all = self.keys.len();
        let bits = n_all.div_ceil(PART_ROWS).next_power_of_two().ilog2().min(10);
        let n_rows = n_all.div_ceil(rayon::current_num_threads()).max(SHARE);
        let shares = self.keys.par_chunks(n_rows).enumerate();
        let dealt: Vec<Dealt> = shares.map(|(at, keys)| Dealt::new(keys, at * n_rows, bits)).collect();
        // They have been dealt.
        drop(self.keys);
        let firsts: Vec<AtomicU32> =
            (0..n_all).into_par_iter().with_min_len(SHARE).map(|_| AtomicU32::new(0)).collect();
        let salt = Salt::drawn();
        (0..1_usize << bits).into_par_iter().for_each_init(Vec::new, |slots: &mut Vec<(u64, u32)>, part| {
            let n_keys: usize = dealt.iter().map(|dealt| dealt.place(part).len()).sum();
            let n_slots = (2 * n_keys).next_power_of_two();
            slots.clear();
            slots.resize(n_slots, (0, u32::MAX));
            for (key, row_idx) in dealt.iter().flat_map(|dealt| dealt.part(part)) {
                let mut slot = salt.hash(key) as usize & (n_slots - 1);
                while slots[slot].1 != u32::MAX && slots[slot].0 != key {
                    slot = (slot + 1) & (n_slots - 1);
                }
                if slots[slot].1 == u32::MAX {
                    slots[slot] = (key, row_idx);
                }
                // Every row is in one part only: nobody else writes there.
                firsts[row_idx as usize].store(slots[slot].1, Relaxed);
            }
        });
        firsts.into_iter().map(AtomicU32::into_inner).collect()
    }
}

/// Some rows, sorted by the hash table that they belong to, otherwise in their order.
struct Dealt {
    keys: Vec<u64>,
    /// The row of each key.
    rows: Vec<u32>,
    /// Where each part ends.
    ends: Vec<usize>,
}

impl Dealt {
    /// Deals rows from `first_row` on to 2 to the power of `bits` parts.
    fn new(keys: &[u64], first_row: usize, bits: u32) -> Self {
        let salt = Salt::drawn();
        let part = |key: u64| (salt.hash(key) >> 32 & ((1 << bits) - 1)) as usize;
        let mut ends = vec![0_usize; 1 << bits];
        for &key in keys {
            ends[part(key)] += 1;
        }
        let mut start = 0;
        for end in &mut ends {
            start += std::mem::replace(end, start);
        }
        let (mut sorted, mut rows) = (vec![0_u64; keys.len()], vec![0_u32; keys.len()]);
        for (at, &key) in keys.iter().enumerate() {
            let end = &mut ends[part(key)];
            sorted[*end] = key;
            rows[*end] = (first_row + at) as u32;
            *end += 1;
        }
        Dealt { keys: sorted, rows, ends }
    }

    fn place(&self, part: usize) -> Range<usize> {
        if part == 0 { 0..self.ends[0] } else { self.ends[part - 1]..self.ends[part] }
    }

    /// The keys of a part with their rows.
    fn part(&self, part: usize) -> impl Iterator<Item = (u64, u32)> {
        let place = self.place(part);
        self.keys[place.clone()].iter().copied().zip(self.rows[place].iter().copied())
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
            // With many rows there are several hash tables.
            let n_rows = if n_columns == 9 { 100_000 } else { 500 };
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
            let mut keys = Keys::new(n_rows);
            keys.fold_rows(&vec![radix as usize; n_columns], |column, first, to| {
                to.copy_from_slice(&columns[column][first..first + to.len()]);
            });
            assert_eq!(keys.into_groups().of_row, groups.of_row, "{n_columns} columns of {radix}, by blocks");
            let mut seen = std::collections::HashSet::new();
            let firsts: Vec<u32> =
                (0..n_rows as u32).filter(|&row_idx| seen.insert(groups.of_row[row_idx as usize])).collect();
            assert_eq!(groups.first_rows, firsts);
            assert_eq!(groups.sizes().iter().sum::<u32>(), n_rows as u32);
        }
    }
}
