//! Grouping keys, three ways.
//!
//! Given keys (of records or of finer groups) and the bits to keep, find the distinct masked keys and add up
//! their rows. Which kernel is fastest depends on how many cells there could be and how many keys come in:
//!
//! - *dense*: the kept bits, pushed together, number a cell of an array. Taken when there are few cells for the
//!   keys at hand. Where only records are counted, each adds one to its cell, and the groups are read off the
//!   array; otherwise the array has the number of each cell's group.
//! - *hash*: the general case.
//! - *sort*: for millions of keys that are nearly all different, where a hash table misses the cache each time.
//!
//! Groups come out sorted or in the order of their first key. Neither depends on the hash function, so results
//! are the same on every run. The dense array lives in a [`Scratch`], clean from one use to the next.

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use crate::frequency::key::Key;
use crate::frequency::layout::{Run, Target};

/// How to group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Whatever is fastest for the sizes at hand.
    Auto,
    /// With a hash table.
    Hash,
    /// By sorting, as databases did when the paper was written.
    Sort,
}

/// Should the new group of each incoming key be recorded?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Assignment {
    Record,
    Skip,
}

/// Memory that is used again from one grouping to the next.
#[derive(Debug, Default)]
pub struct Scratch {
    /// For each cell its count, or its group index plus one; all zero between uses.
    cells: Vec<u32>,
}

/// Groups with their row counts, and the group of each incoming key where it was asked for.
pub(crate) struct Regrouped<K> {
    pub(crate) keys: Vec<K>,
    pub(crate) rows: Vec<u64>,
    pub(crate) assignment: Option<Vec<u32>>,
}

/// Up to this many bits the dense array (256 KiB) fits the second-level cache: always dense.
const DENSE_BITS: u32 = 16;
/// Up to this many bits dense is possible at all: an array of 64 MiB.
const MAX_DENSE_BITS: u32 = 24;
/// Beyond the cache, dense still wins while there are not many more cells than keys.
const CELLS_PER_KEY: usize = 8;
/// Arrays that are counted in at a time, where they are small.
const LANES: usize = 4;
/// Up to this many cells are counted in lanes: all together fit the first-level cache.
const LANE_CELLS: usize = 1 << 11;
/// Keys whose cells are computed at a time.
const BLOCK: usize = 1024;
/// From this many keys on, sorting beats hashing when most keys are different.
const SORT_FROM: usize = 1 << 18;

/// Groups `keys` by the bits of `target`. Each key stands for one row, or for `weights` rows.
pub(crate) fn regroup<K: Key>(
    keys: &[K],
    weights: Option<&[u64]>,
    target: &Target<K>,
    method: Method,
    assignment: Assignment,
    scratch: &mut Scratch,
) -> Regrouped<K> {
    assert!(keys.len() < u32::MAX as usize, "more than 4,294,967,294 keys");
    debug_assert!(weights.is_none_or(|weights| weights.len() == keys.len()));
    let job = Job { keys, weights, target, assignment };
    match method {
        Method::Sort => job.sort(),
        Method::Hash => job.hash(),
        Method::Auto if target.n_bits <= MAX_DENSE_BITS => {
            let n_cells = 1_usize << target.n_bits;
            if target.n_bits <= DENSE_BITS || n_cells / CELLS_PER_KEY <= keys.len() {
                job.dense(scratch)
            } else {
                job.hash()
            }
        }
        Method::Auto if keys.len() >= SORT_FROM && assignment == Assignment::Skip => job.sort(),
        Method::Auto => job.hash(),
    }
}

/// Adds one to the counter of each cell number. Where there is room for several lanes of `n_cells`, neighbours
/// count in arrays of their own: in skewed data they often fall into one cell, and each increment would wait for
/// the one before it.
fn count(numbers: &[u32], cells: &mut [u32], n_cells: usize) {
    if cells.len() == n_cells {
        for &cell in numbers {
            cells[cell as usize] += 1;
        }
        return;
    }
    debug_assert_eq!(cells.len(), LANES * n_cells);
    let (a, rest) = cells.split_at_mut(n_cells);
    let (b, rest) = rest.split_at_mut(n_cells);
    let (c, d) = rest.split_at_mut(n_cells);
    let quads = numbers.chunks_exact(LANES);
    for &cell in quads.remainder() {
        a[cell as usize] += 1;
    }
    for quad in quads {
        a[quad[0] as usize] += 1;
        b[quad[1] as usize] += 1;
        c[quad[2] as usize] += 1;
        d[quad[3] as usize] += 1;
    }
}

/// The number of a key's cell: its kept bits, pushed together.
#[inline]
fn cell_of<K: Key>(key: &K, runs: &[Run]) -> usize {
    let mut cell = 0;
    for run in runs {
        cell |= key.extract(run.down, run.mask);
    }
    cell as usize
}

struct Job<'a, K> {
    keys: &'a [K],
    weights: Option<&'a [u64]>,
    target: &'a Target<K>,
    assignment: Assignment,
}

impl<K: Key> Job<'_, K> {
    fn dense(&self, scratch: &mut Scratch) -> Regrouped<K> {
        // A fixed number of runs lets the compiler unroll.
        match self.target.runs.len() {
            0 => self.dense_with::<0>(scratch),
            1 => self.dense_with::<1>(scratch),
            2 => self.dense_with::<2>(scratch),
            3 => self.dense_with::<3>(scratch),
            4 => self.dense_with::<4>(scratch),
            5 => self.dense_with::<5>(scratch),
            6 => self.dense_with::<6>(scratch),
            _ => {
                let runs = self.target.runs.as_slice();
                self.dense_by(scratch, |key| cell_of(key, runs))
            }
        }
    }

    fn dense_with<const N: usize>(&self, scratch: &mut Scratch) -> Regrouped<K> {
        let mut runs = [Run::default(); N];
        runs.copy_from_slice(&self.target.runs);
        self.dense_by(scratch, |key| cell_of(key, &runs))
    }

    fn dense_by(&self, scratch: &mut Scratch, cell_of: impl Fn(&K) -> usize) -> Regrouped<K> {
        let n_cells = 1_usize << self.target.n_bits;
        let n_counters = if n_cells <= LANE_CELLS { n_cells * LANES } else { n_cells };
        if scratch.cells.len() < n_counters {
            scratch.cells.resize(n_counters, 0);
        }
        let cells = &mut scratch.cells[..n_counters];
        // Reading groups off the array means looking at every cell: not if there are more cells than keys.
        if self.weights.is_none() && self.assignment == Assignment::Skip && n_cells <= 2 * self.keys.len() {
            self.count_cells(cells, cell_of)
        } else {
            self.number_cells(cells, cell_of)
        }
    }

    /// Adds one to the cell of each key, then reads the groups off the array.
    fn count_cells(&self, cells: &mut [u32], cell_of: impl Fn(&K) -> usize) -> Regrouped<K> {
        let n_cells = 1 << self.target.n_bits;
        let mut numbers = [0_u32; BLOCK];
        for keys in self.keys.chunks(BLOCK) {
            let numbers = &mut numbers[..keys.len()];
            for (key, number) in keys.iter().zip(&mut *numbers) {
                *number = cell_of(key) as u32;
            }
            count(numbers, cells, n_cells);
        }
        let (cells, others) = cells.split_at_mut(n_cells);
        for lane in others.chunks_mut(n_cells) {
            for (cell, count) in cells.iter_mut().zip(lane) {
                *cell += std::mem::take(count);
            }
        }
        let n_groups = cells.iter().filter(|&&count| count > 0).count();
        let mut keys = Vec::with_capacity(n_groups);
        let mut rows = Vec::with_capacity(n_groups);
        for (cell, count) in cells.iter_mut().enumerate() {
            if *count > 0 {
                let mut key = K::zeros(self.target.n_key_bits);
                for run in &self.target.runs {
                    key.put(run.down, cell as u32 & run.mask);
                }
                keys.push(key);
                rows.push(u64::from(*count));
                *count = 0;
            }
        }
        Regrouped { keys, rows, assignment: None }
    }

    /// Numbers the cells in order of their first key.
    fn number_cells(&self, cells: &mut [u32], cell_of: impl Fn(&K) -> usize) -> Regrouped<K> {
        let mask = &self.target.mask;
        let mut keys: Vec<K> = Vec::new();
        let mut rows: Vec<u64> = Vec::new();
        let mut assignment = Vec::new();
        for (at, key) in self.keys.iter().enumerate() {
            let cell = &mut cells[cell_of(key)];
            if *cell == 0 {
                keys.push(key.masked(mask));
                rows.push(0);
                *cell = keys.len() as u32;
            }
            let group = *cell - 1;
            rows[group as usize] += self.weights.map_or(1, |weights| weights[at]);
            if self.assignment == Assignment::Record {
                assignment.push(group);
            }
        }
        // Through the groups found, not through all cells: there may be many more.
        for key in &keys {
            cells[cell_of(key)] = 0;
        }
        let assignment = (self.assignment == Assignment::Record).then_some(assignment);
        Regrouped { keys, rows, assignment }
    }

    fn hash(&self) -> Regrouped<K> {
        let mask = &self.target.mask;
        let mut table: HashTable<u32> = HashTable::new();
        let mut keys: Vec<K> = Vec::new();
        let mut rows: Vec<u64> = Vec::new();
        let mut assignment = Vec::new();
        for (at, key) in self.keys.iter().enumerate() {
            let key = key.masked(mask);
            let entry = table.entry(
                key.mix(),
                |&group| keys[group as usize] == key,
                |&group| keys[group as usize].mix(),
            );
            let group = match entry {
                Entry::Occupied(entry) => *entry.get(),
                Entry::Vacant(entry) => {
                    let group = rows.len() as u32;
                    entry.insert(group);
                    keys.push(key);
                    rows.push(0);
                    group
                }
            };
            rows[group as usize] += self.weights.map_or(1, |weights| weights[at]);
            if self.assignment == Assignment::Record {
                assignment.push(group);
            }
        }
        let assignment = (self.assignment == Assignment::Record).then_some(assignment);
        Regrouped { keys, rows, assignment }
    }

    fn sort(&self) -> Regrouped<K> {
        let masked = self.keys.iter().map(|key| key.masked(&self.target.mask));
        match (self.assignment, self.weights) {
            (Assignment::Skip, None) => {
                let mut keys: Vec<K> = masked.collect();
                keys.sort_unstable();
                let rows = keys.chunk_by(K::eq).map(|same| same.len() as u64).collect();
                keys.dedup();
                Regrouped { keys, rows, assignment: None }
            }
            (Assignment::Skip, Some(weights)) => {
                let mut pairs: Vec<(K, u64)> = masked.zip(weights.iter().copied()).collect();
                pairs.sort_unstable_by(|a, b| a.0.cmp(&b.0));
                let rows = pairs
                    .chunk_by(|a, b| a.0 == b.0)
                    .map(|same| same.iter().map(|&(_, n)| n).sum())
                    .collect();
                pairs.dedup_by(|a, b| a.0 == b.0);
                Regrouped { keys: pairs.into_iter().map(|(key, _)| key).collect(), rows, assignment: None }
            }
            (Assignment::Record, weights) => {
                let mut pairs: Vec<(K, u32)> = masked.zip(0..).collect();
                pairs.sort_unstable();
                let mut assignment = vec![0; pairs.len()];
                let mut rows = Vec::new();
                for same in pairs.chunk_by(|a, b| a.0 == b.0) {
                    let group = rows.len() as u32;
                    rows.push(
                        same.iter().map(|&(_, at)| weights.map_or(1, |weights| weights[at as usize])).sum(),
                    );
                    for &(_, at) in same {
                        assignment[at as usize] = group;
                    }
                }
                pairs.dedup_by(|a, b| a.0 == b.0);
                let keys = pairs.into_iter().map(|(key, _)| key).collect();
                Regrouped { keys, rows, assignment: Some(assignment) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Groups by bits 4..8 and 20..28 with each kernel; returns sorted (key, rows) of each.
    fn check(keys: &[u64], weights: Option<&[u64]>, assignment: Assignment) {
        let runs = vec![Run { down: 16, mask: 0xFF0 }, Run { down: 4, mask: 0xF }];
        let target = Target { mask: 0x0FF0_00F0, n_bits: 12, n_key_bits: 44, runs };
        let mut naive = std::collections::BTreeMap::new();
        for (at, key) in keys.iter().enumerate() {
            *naive.entry(key & target.mask).or_insert(0) += weights.map_or(1, |weights| weights[at]);
        }
        let mut scratch = Scratch::default();
        let job = Job { keys, weights, target: &target, assignment };
        for grouped in [job.dense(&mut scratch), job.dense(&mut scratch), job.hash(), job.sort()] {
            if let Some(assignment) = &grouped.assignment {
                for (key, &group) in keys.iter().zip(assignment) {
                    assert_eq!(grouped.keys[group as usize], key & target.mask);
                }
            }
            assert_eq!(grouped.assignment.is_some(), assignment == Assignment::Record);
            let pairs: std::collections::BTreeMap<u64, u64> =
                grouped.keys.into_iter().zip(grouped.rows).collect();
            assert_eq!(pairs, naive);
        }
        assert!(scratch.cells.iter().all(|&cell| cell == 0), "scratch is clean for the next grouping");
    }

    #[test]
    fn all_kernels_find_the_same_groups() {
        let mut state = 7_u64;
        let keys: Vec<u64> = (0..5000)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                state >> 20
            })
            .collect();
        let weights: Vec<u64> = (1..=5000).collect();
        for assignment in [Assignment::Skip, Assignment::Record] {
            check(&keys, None, assignment);
            check(&keys, Some(&weights), assignment);
            check(&[], None, assignment);
        }
    }
}
