//! Groups of keys that come in parts, because they are not in memory at once.
//!
//! [`begin`](Counters::begin), [`add`](Counters::add) every part, [`end`](Counters::end); the groups are then those of all keys.
//!
//! - *dense*: the counters stay as they are from one part to the next.
//! - *hash*: the groups of the parts are gathered, and equal ones put together as often as their number has doubled.
//!
//! Memory: the groups, up to three times, and what one part takes.

use super::{Count, Counters, Dealt, Lot, Word};
use crate::frequency::tuning;

/// Groups of the parts so far; some of them may be equal.
#[derive(Debug, Default)]
pub(super) struct Gathered<W, C> {
    groups: Dealt<W, C>,
    /// How many of them are known to be different.
    n_distinct: usize,
}

impl<W: Word, C: Count> Counters<W, C> {
    /// No part has come yet.
    pub(crate) fn begin(&mut self) {
        self.n_groups = 0;
        // The room stays: fresh pages take as long as what is put there.
        self.gathered.groups.keys.clear();
        self.gathered.groups.rows.clear();
        self.gathered.n_distinct = 0;
    }

    /// Adds a part. The mask is the same for all parts.
    pub(crate) fn add(&mut self, lot: Lot<'_, W, C>, mask: W) {
        if self.has_cells(mask) {
            if self.counts_shared(lot, mask) {
                return;
            }
            self.n_groups = self.count_cells(lot, mask, self.n_groups);
            return;
        }
        self.merge(lot, mask);
        let Gathered { groups, n_distinct } = &mut self.gathered;
        groups.keys.extend_from_slice(&self.keys[..self.n_groups]);
        groups.rows.extend_from_slice(&self.rows[..self.n_groups]);
        if groups.keys.len() > 2 * *n_distinct + self.n_groups {
            self.put_together(mask);
        }
    }

    /// All parts have come.
    pub(crate) fn end(&mut self, mask: W) {
        if self.has_cells(mask) {
            self.collect(self.n_groups);
            return;
        }
        let groups = std::mem::take(&mut self.gathered.groups);
        self.merge(Lot { keys: &groups.keys, rows: Some(&groups.rows) }, mask);
        self.gathered.groups = groups;
    }

    /// Is there a counter for every cell of the mask, from one part to the next?
    fn has_cells(&self, mask: W) -> bool {
        let most = self.most_bits.unwrap_or(u32::MAX).min(tuning::TALLY_DENSE_BITS.get());
        mask.n_ones() <= most
    }

    /// How many groups there are so far, not fewer than that.
    pub(crate) fn n_so_far(&self) -> usize {
        self.n_groups.max(self.gathered.n_distinct)
    }

    fn put_together(&mut self, mask: W) {
        let mut gathered = std::mem::take(&mut self.gathered);
        self.merge(Lot { keys: &gathered.groups.keys, rows: Some(&gathered.groups.rows) }, mask);
        gathered.groups.keys.clear();
        gathered.groups.keys.extend_from_slice(self.keys());
        gathered.groups.rows.clear();
        gathered.groups.rows.extend_from_slice(self.rows());
        gathered.n_distinct = self.n_groups;
        self.gathered = gathered;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn parts_make_the_groups_of_the_whole() {
        let mut state = 7_u64;
        let mut draw = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state ^ state >> 29
        };
        let keys: Vec<u64> = (0..20_000).map(|_| draw() & draw()).collect();
        for mask in [0, 0xFF, 0xF0F0_0000_000F, 0xFFFF_FFF0, u64::MAX] {
            let mut expected: BTreeMap<u64, u64> = BTreeMap::new();
            for key in &keys {
                *expected.entry(key & mask).or_insert(0) += 1;
            }
            let mut counters = Counters::<u64, u8>::default();
            // Twice: the first time must leave nothing behind.
            for n_keys in [20_000, 7_000, 130, 1] {
                counters.begin();
                keys.chunks(n_keys).for_each(|part| counters.add(Lot::records(part), mask));
                counters.end(mask);
                let groups =
                    counters.keys().iter().copied().zip(counters.rows().iter().map(|rows| rows.rows()));
                let found: BTreeMap<u64, u64> = groups.collect();
                assert_eq!(found.len(), counters.keys().len(), "no group comes twice");
                let expected: BTreeMap<u64, u64> =
                    expected.iter().map(|(&key, &rows)| (key, rows.min(255))).collect();
                assert_eq!(found, expected, "{n_keys} at a time, mask {mask:x}");
            }
        }
        let mut counters = Counters::<u64, u8>::default();
        counters.begin();
        counters.end(u64::MAX);
        assert!(counters.keys().is_empty(), "no part, no group");
    }
}
