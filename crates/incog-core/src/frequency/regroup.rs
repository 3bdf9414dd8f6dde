//! Grouping keys, four ways.
//!
//! Given keys (of records or of finer groups) and the bits to keep, find the distinct masked keys and add up
//! their rows. Which kernel is fastest depends on how many cells there could be and how many keys come in:
//!
//! - *dense*: the kept bits, pushed together, number a cell of an array. Taken when there are few cells for the
//!   keys at hand. Where only records are counted, each adds one to its cell, and the groups are read off the
//!   array; otherwise the array has the number of each cell's group.
//! - *hash*: the general case.
//! - *partitioned hash*: for hundreds of thousands of keys that are mostly different, where every probe of one
//!   large table would miss the cache. Keys are first dealt out by some bits of their hash, so that each part's
//!   table is small.
//! - *sort*: as databases did; only where it is asked for.
//!
//! Groups come out sorted, in the order of their first key, or part by part, and parts are by a hash with a seed:
//! nobody may rest on the order. The dense array lives in a [`Scratch`], clean from one use to the next.

use crate::frequency::key::{self, BitKey};
use crate::frequency::layout::{Run, Target};
use crate::frequency::tuning;
use crate::hash::Mixer;

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

/// Groups `keys` by the bits of `target`. Each key stands for one row, or for `weights` rows.
pub(crate) fn regroup<K: BitKey>(
    keys: &[K],
    weights: Option<&[u64]>,
    target: &Target<K>,
    method: Method,
    assignment: Assignment,
    scratch: &mut Scratch,
) -> Regrouped<K> {
    debug_assert!(keys.len() < u32::MAX as usize, "groups are numbered by u32; sources refuse larger tables");
    debug_assert!(weights.is_none_or(|weights| weights.len() == keys.len()));
    let job = Job { keys, weights, target, assignment };
    match method {
        Method::Sort => job.sort(),
        Method::Hash => job.hash(),
        Method::Auto if target.n_bits <= tuning::REGROUP_MOST_DENSE_BITS.get() => {
            let n_cells = 1_usize << target.n_bits;
            if target.n_bits <= tuning::REGROUP_DENSE_BITS.get()
                || n_cells / tuning::REGROUP_CELLS_PER_KEY.get() <= keys.len()
            {
                job.dense(scratch)
            } else {
                job.hash()
            }
        }
        Method::Auto if keys.len() >= tuning::PARTITION_FROM.get() && job.is_mostly_distinct() => {
            job.partitioned_hash()
        }
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
    debug_assert_eq!(cells.len(), tuning::LANES * n_cells);
    let (a, rest) = cells.split_at_mut(n_cells);
    let (b, rest) = rest.split_at_mut(n_cells);
    let (c, d) = rest.split_at_mut(n_cells);
    let quads = numbers.chunks_exact(tuning::LANES);
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
fn cell_of<K: BitKey>(key: &K, runs: &[Run]) -> usize {
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

impl<K: BitKey> Job<'_, K> {
    /// Are most keys in a class of their own, judging by a sample spread over all of them?
    ///
    /// Attributes are often correlated: 38 bits may tell apart a few thousand groups only, and then a hash table
    /// stays in the cache.
    fn is_mostly_distinct(&self) -> bool {
        let sample = self.keys.iter().step_by(self.keys.len() / tuning::DISTINCT_SAMPLE.get());
        let mut sample: Vec<K> = sample.map(|key| key.masked(&self.target.mask)).collect();
        let n_sampled = sample.len();
        sample.sort_unstable();
        sample.dedup();
        sample.len() > n_sampled / 4 * 3
    }

    fn dense(&self, scratch: &mut Scratch) -> Regrouped<K> {
        // A fixed number of runs lets the compiler unroll.
        match self.target.runs().len() {
            0 => self.dense_with::<0>(scratch),
            1 => self.dense_with::<1>(scratch),
            2 => self.dense_with::<2>(scratch),
            3 => self.dense_with::<3>(scratch),
            4 => self.dense_with::<4>(scratch),
            5 => self.dense_with::<5>(scratch),
            6 => self.dense_with::<6>(scratch),
            7 => self.dense_with::<7>(scratch),
            8 => self.dense_with::<8>(scratch),
            _ => {
                let runs = self.target.runs();
                self.dense_by(scratch, |key| cell_of(key, runs))
            }
        }
    }

    fn dense_with<const N: usize>(&self, scratch: &mut Scratch) -> Regrouped<K> {
        let mut runs = [Run::default(); N];
        runs.copy_from_slice(self.target.runs());
        self.dense_by(scratch, |key| cell_of(key, &runs))
    }

    fn dense_by(&self, scratch: &mut Scratch, cell_of: impl Fn(&K) -> usize) -> Regrouped<K> {
        let n_cells = 1_usize << self.target.n_bits;
        let n_counters = if n_cells <= tuning::LANE_CELLS.get() { n_cells * tuning::LANES } else { n_cells };
        if scratch.cells.len() < n_counters {
            scratch.cells.resize(n_counters, 0);
        }
        let cells = &mut scratch.cells[..n_counters];
        // Reading groups off the array means looking at every cell: not if there are more cells than keys.
        if self.weights.is_none()
            && self.assignment == Assignment::Skip
            && n_cells <= tuning::REGROUP_CELLS_PER_KEY.get() * self.keys.len()
        {
            self.count_cells(cells, cell_of)
        } else {
            self.number_cells(cells, cell_of)
        }
    }

    /// Adds one to the cell of each key, then reads the groups off the array.
    fn count_cells(&self, cells: &mut [u32], cell_of: impl Fn(&K) -> usize) -> Regrouped<K> {
        let n_cells = 1 << self.target.n_bits;
        if !K::compress(self.keys, &self.target.mask, |numbers| count(numbers, cells, n_cells)) {
            let mut numbers = [0_u32; tuning::BLOCK];
            for keys in self.keys.chunks(tuning::BLOCK) {
                let numbers = &mut numbers[..keys.len()];
                for (key, number) in keys.iter().zip(&mut *numbers) {
                    *number = cell_of(key) as u32;
                }
                count(numbers, cells, n_cells);
            }
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
        for (first, cells) in (0..).step_by(tuning::LINE).zip(cells.chunks_mut(tuning::LINE)) {
            // Most cells are of no group: all of a line are looked at together.
            if cells.iter().fold(0, |any, &count| any | count) == 0 {
                continue;
            }
            for (cell, count) in (first..).zip(cells) {
                if *count > 0 {
                    let mut key = K::zeros(self.target.n_key_bits);
                    for run in self.target.runs() {
                        key.put(run.down, cell & run.mask);
                    }
                    keys.push(key);
                    rows.push(u64::from(*count));
                    *count = 0;
                }
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
        let mut index = Index::new();
        let mut rows: Vec<u64> = Vec::new();
        let mut assignment = Vec::new();
        for (at, key) in self.keys.iter().enumerate() {
            let group = index.group_of(key.masked(mask));
            let n = self.weights.map_or(1, |weights| weights[at]);
            match rows.get_mut(group as usize) {
                Some(rows) => *rows += n,
                None => rows.push(n),
            }
            if self.assignment == Assignment::Record {
                assignment.push(group);
            }
        }
        let assignment = (self.assignment == Assignment::Record).then_some(assignment);
        Regrouped { keys: index.keys, rows, assignment }
    }

    fn partitioned_hash(&self) -> Regrouped<K> {
        if self.assignment == Assignment::Record {
            return self.hash();
        }
        match self.weights {
            None => self.dealt_out(self.keys.iter().map(|key| (key, ())), |()| 1),
            Some(weights) => self.dealt_out(self.keys.iter().zip(weights.iter().copied()), |n| n),
        }
    }

    /// Groups keys with something attached that says how many rows each stands for.
    fn dealt_out<'k, W: Copy + Default>(
        &self,
        keys: impl Iterator<Item = (&'k K, W)>,
        rows_of: impl Fn(W) -> u64,
    ) -> Regrouped<K>
    where
        K: 'k,
    {
        let mask = &self.target.mask;
        // A table's slots are numbered by the highest bits of the hash, so parts are by the lowest.
        let mixer = key::mixer();
        let part_of = |key: &K| key.mix(mixer) as usize % tuning::PARTS;
        let mut sizes = [0_usize; tuning::PARTS];
        for key in self.keys {
            sizes[part_of(&key.masked(mask))] += 1;
        }
        let mut next = [0_usize; tuning::PARTS];
        for part in 1..tuning::PARTS {
            next[part] = next[part - 1] + sizes[part - 1];
        }
        let mut dealt = vec![(K::zeros(self.target.n_key_bits), W::default()); self.keys.len()];
        for (key, weight) in keys {
            let key = key.masked(mask);
            let next = &mut next[part_of(&key)];
            dealt[*next] = (key, weight);
            *next += 1;
        }
        // Where a part's next key would go is now where the part ends.
        let ends = next;
        let mut grouped = Regrouped { keys: Vec::new(), rows: Vec::new(), assignment: None };
        let mut index = Index::new();
        let mut start = 0;
        for end in ends {
            let before = grouped.rows.len();
            for (key, weight) in &dealt[start..end] {
                let group = before + index.group_of(key.clone()) as usize;
                match grouped.rows.get_mut(group) {
                    Some(rows) => *rows += rows_of(*weight),
                    None => grouped.rows.push(rows_of(*weight)),
                }
            }
            index.empty_into(&mut grouped.keys);
            start = end;
        }
        grouped
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

/// Numbers distinct keys in order of first appearance: a hash table with linear probing.
///
/// A slot has 32 bits of the hash beside the group, so that a probe reads a key only when it is almost surely the
/// right one. The keys lie in a vector of their own: tables are filled in that order, never in the order of
/// another table's slots, which would pile up (the same hash in a smaller table).
struct Index<K> {
    keys: Vec<K>,
    /// The hash's low half above the group's number plus one; 0 is free.
    slots: Vec<u64>,
    /// How far the hash moves down to number a slot.
    shift: u32,
    mixer: Mixer,
}

impl<K: BitKey> Index<K> {
    fn new() -> Self {
        Index {
            keys: Vec::new(),
            slots: vec![0; 1 << tuning::FIRST_SLOT_BITS.get()],
            shift: 64 - tuning::FIRST_SLOT_BITS.get(),
            mixer: key::mixer(),
        }
    }

    #[inline]
    fn group_of(&mut self, key: K) -> u32 {
        let hash = key.mix(self.mixer);
        let last = self.slots.len() - 1;
        let mut at = (hash >> self.shift) as usize;
        loop {
            let slot = self.slots[at];
            if slot == 0 {
                break;
            }
            let group = slot as u32 - 1;
            if (slot >> 32) as u32 == hash as u32 && self.keys[group as usize] == key {
                return group;
            }
            at = (at + 1) & last;
        }
        self.keys.push(key);
        let number = self.keys.len() as u32;
        self.slots[at] = hash << 32 | u64::from(number);
        if self.keys.len() * 2 > self.slots.len() {
            self.grow();
        }
        number - 1
    }

    /// Moves the keys out and forgets them; the slots stay as many as they were.
    fn empty_into(&mut self, keys: &mut Vec<K>) {
        keys.append(&mut self.keys);
        self.slots.fill(0);
    }

    #[cold]
    fn grow(&mut self) {
        let n_slots = self.slots.len() * 4;
        self.slots = vec![0; n_slots];
        self.shift -= 2;
        for (group, key) in self.keys.iter().enumerate() {
            let hash = key.mix(self.mixer);
            let mut at = (hash >> self.shift) as usize;
            while self.slots[at] != 0 {
                at = (at + 1) & (n_slots - 1);
            }
            self.slots[at] = hash << 32 | (group as u64 + 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Groups by bits 4..8 and 20..28 with each kernel; returns sorted (key, rows) of each.
    fn check(keys: &[u64], weights: Option<&[u64]>, assignment: Assignment) {
        let runs = [Run { down: 16, mask: 0xFF0 }, Run { down: 4, mask: 0xF }];
        let target = Target::for_tests(0x0FF0_00F0, 12, 44, &runs);
        let mut naive = std::collections::BTreeMap::new();
        for (at, key) in keys.iter().enumerate() {
            *naive.entry(key & target.mask).or_insert(0) += weights.map_or(1, |weights| weights[at]);
        }
        let mut scratch = Scratch::default();
        let job = Job { keys, weights, target: &target, assignment };
        let groupings = [
            job.dense(&mut scratch),
            job.dense(&mut scratch),
            job.hash(),
            job.partitioned_hash(),
            job.sort(),
        ];
        for grouped in groupings {
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

    /// Keys that all fell into one slot when hashes had no seed.
    #[test]
    fn keys_crafted_against_a_known_hash_are_found_after_a_few_looks() {
        use crate::hash::hostile::{crafted, n_looks};
        const N: usize = 1 << 12;
        let known = |key: &u64| {
            let product = u128::from(*key) * u128::from(0x9E37_79B9_7F4A_7C15_u64);
            product as u64 ^ (product >> 64) as u64
        };
        // Slots were told apart by the highest bits.
        let bits = 64 - (2 * N).trailing_zeros();
        let keys = crafted(1.., known, u64::MAX << bits, N);
        let before = n_looks(keys.iter().map(|key| (known(key) >> bits) as usize));
        assert!(before > N * N / 3, "{before} looks: crafted in vain");
        let mut index = Index::new();
        keys.iter().for_each(|&key| _ = index.group_of(key));
        let last = index.slots.len() - 1;
        let looks = |(at, &slot): (usize, &u64)| {
            let key = keys[(slot as u32 - 1) as usize];
            (at.wrapping_sub((key.mix(index.mixer) >> index.shift) as usize) & last) + 1
        };
        let looks: usize = index.slots.iter().enumerate().filter(|(_, slot)| **slot != 0).map(looks).sum();
        assert!(looks < 3 * N, "{looks} looks for {N} keys");
    }

    /// Large enough for the choice between one table and many, with few groups and with many.
    #[test]
    fn large_groupings_pick_their_kernel_and_agree() {
        let n_keys = tuning::PARTITION_FROM.get() as u64 + 1000;
        for n_groups in [50, n_keys - 7] {
            let keys: Vec<u64> =
                (0..n_keys).map(|n| (n % n_groups).wrapping_mul(0x9E37_79B9) << 20).collect();
            // Too many bits for an array.
            let target = Target::for_tests(u64::MAX, 64, 64, &[]);
            let job = Job { keys: &keys, weights: None, target: &target, assignment: Assignment::Skip };
            assert_eq!(job.is_mostly_distinct(), n_groups > 50);
            let mut scratch = Scratch::default();
            let weights = vec![2; keys.len()];
            for (weights, each) in [(None, 1), (Some(weights.as_slice()), 2)] {
                let auto = regroup(&keys, weights, &target, Method::Auto, Assignment::Skip, &mut scratch);
                let mut pairs: Vec<(u64, u64)> = auto.keys.into_iter().zip(auto.rows).collect();
                let is_dealt_out = !pairs.iter().map(|pair| pair.0).eq(keys[..pairs.len()].iter().copied());
                assert_eq!(is_dealt_out, n_groups > 50, "one table numbers groups in order of appearance");
                pairs.sort_unstable();
                let sorted = Job { weights, ..job }.sort();
                assert_eq!(pairs, sorted.keys.into_iter().zip(sorted.rows).collect::<Vec<_>>());
                assert_eq!(pairs.iter().map(|pair| pair.1).sum::<u64>(), each * n_keys);
            }
        }
    }
}
