//! Merging by several threads, where there are many keys.
//!
//! - *dense*: each thread counts a share of the keys in counters of its own; their groups are then merged once more.
//! - *dealt out*: each thread deals a share of the keys to parts by their hash; then each takes some of the parts, from all shares.
//! - *some groups*: each thread picks them from a share of the keys; if they are still many, they are dealt out.
//!
//! The groups are those of one thread, in another order.

use rayon::prelude::*;

use super::{Count, Counters, Dealer, Dealt, Lot, Word};
use crate::frequency::tuning;

/// What the threads work with.
#[derive(Debug, Default)]
pub(super) struct Team<W, C> {
    dealers: Vec<Dealer<W, C>>,
    members: Vec<Counters<W, C>>,
}

/// How many threads share `n_keys` keys, if it is worth their while.
fn threads_for(n_keys: usize) -> Option<usize> {
    let n_threads = rayon::current_num_threads();
    (n_threads > 1 && n_keys >= tuning::TALLY_SHARED_FROM.get()).then_some(n_threads)
}

/// The same where each thread has a counter for every cell of `n_bits` bits.
fn threads_for_cells(n_keys: usize, n_bits: u32) -> Option<usize> {
    let is_little_to_merge = n_bits <= tuning::TALLY_SHARED_BITS.get()
        || n_keys >> n_bits >= tuning::TALLY_SHARED_KEYS_PER_CELL.get();
    threads_for(n_keys).filter(|_| is_little_to_merge)
}

impl<'a, W: Word, C: Count> Lot<'a, W, C> {
    fn slice(self, share: std::ops::Range<usize>) -> Lot<'a, W, C> {
        Lot { keys: &self.keys[share.clone()], rows: self.rows.map(|rows| &rows[share]) }
    }
}

impl<W: Word, C: Count> Counters<W, C> {
    /// Groups keys by the bits of `mask`, if that is worth several threads.
    pub(super) fn merges_shared(&mut self, lot: Lot<'_, W, C>, mask: W) -> bool {
        let n_bits = mask.n_ones();
        if n_bits > tuning::TALLY_DENSE_BITS.get() {
            return self.deals_shared(lot, mask);
        }
        let Some(n_threads) = threads_for_cells(lot.len(), n_bits) else {
            return false;
        };
        self.dense_shared(lot, mask, n_threads);
        true
    }

    /// The same without a counter for every cell.
    pub(super) fn deals_shared(&mut self, lot: Lot<'_, W, C>, mask: W) -> bool {
        let n_threads = threads_for(lot.len());
        n_threads.inspect(|&n_threads| self.dealt_shared(lot, mask, n_threads)).is_some()
    }

    /// Picks the keys for which `is_in` says so, if that is worth several threads.
    pub(super) fn picks_shared(
        lot: Lot<'_, W, C>,
        is_in: impl Fn(W) -> bool + Sync,
        to: &mut Dealt<W, C>,
    ) -> bool {
        let Some(n_threads) = threads_for(lot.len()) else {
            return false;
        };
        let n_keys = lot.len().div_ceil(n_threads);
        let starts: Vec<usize> = (0..lot.len()).step_by(n_keys).collect();
        let picked = starts.into_par_iter().map(|start| {
            let mut picked = Dealt::default();
            picked.pick(lot.slice(start..lot.len().min(start + n_keys)), &is_in);
            picked
        });
        for mut picked in picked.collect::<Vec<Dealt<W, C>>>() {
            to.keys.append(&mut picked.keys);
            to.rows.append(&mut picked.rows);
        }
        true
    }

    fn dense_shared(&mut self, lot: Lot<'_, W, C>, mask: W, n_threads: usize) {
        self.n_groups = 0;
        self.count_by_members(lot, mask, n_threads);
        self.collect(self.n_groups);
    }

    /// Adds keys to the counters of their cells, if that is worth several threads.
    pub(super) fn counts_shared(&mut self, lot: Lot<'_, W, C>, mask: W) -> bool {
        let Some(n_threads) = threads_for_cells(lot.len(), mask.n_ones()) else {
            return false;
        };
        self.count_by_members(lot, mask, n_threads);
        true
    }

    /// Each thread counts a share of the keys; their groups are then added to those that there are.
    fn count_by_members(&mut self, lot: Lot<'_, W, C>, mask: W, n_threads: usize) {
        let mut team = std::mem::take(&mut self.team);
        team.members.resize_with(n_threads, Counters::default);
        let n_keys = lot.len().div_ceil(n_threads);
        team.members.par_iter_mut().enumerate().for_each(|(at, member)| {
            let start = lot.len().min(at * n_keys);
            member.dense(lot.slice(start..lot.len().min(start + n_keys)), mask);
        });
        for member in &team.members {
            let groups = Lot { keys: member.keys(), rows: Some(member.rows()) };
            self.n_groups = self.count_cells(groups, mask, self.n_groups);
        }
        self.team = team;
    }

    fn dealt_shared(&mut self, lot: Lot<'_, W, C>, mask: W, n_threads: usize) {
        let mut team = std::mem::take(&mut self.team);
        team.dealers.resize_with(n_threads, Dealer::default);
        team.members.resize_with(n_threads, Counters::default);
        let n_parts = (lot.len() / tuning::DEAL_PART.get()).max(n_threads).next_power_of_two();
        let n_keys = lot.len().div_ceil(n_threads);
        team.dealers.par_iter_mut().enumerate().for_each(|(at, dealer)| {
            let start = lot.len().min(at * n_keys);
            dealer.deal(lot.slice(start..lot.len().min(start + n_keys)), mask, n_parts);
        });
        let (dealers, has_rows) = (&team.dealers, lot.rows.is_some());
        team.members.par_iter_mut().enumerate().for_each(|(at, member)| {
            let parts = at * n_parts / n_threads..(at + 1) * n_parts / n_threads;
            member.take_parts(dealers, parts, mask, has_rows);
        });
        let n_groups = team.members.iter().map(|member| member.n_groups).sum();
        self.make_room(n_groups);
        let mut at = 0;
        for member in &team.members {
            let groups = at..at + member.n_groups;
            self.keys[groups.clone()].copy_from_slice(member.keys());
            self.rows[groups.clone()].copy_from_slice(member.rows());
            at = groups.end;
        }
        self.n_groups = n_groups;
        self.team = team;
    }

    /// Groups the keys of some parts.
    fn take_parts(
        &mut self,
        dealers: &[Dealer<W, C>],
        parts: std::ops::Range<usize>,
        mask: W,
        has_rows: bool,
    ) {
        self.n_groups = 0;
        let mut dealt = std::mem::take(&mut self.some);
        for part in parts {
            // Room for what there is and this part: memory that was never used costs more than what is put there.
            let n_keys: usize = dealers.iter().map(|dealer| dealer.part(part).len()).sum();
            self.make_room(self.n_groups + n_keys);
            dealt.keys.clear();
            dealt.rows.clear();
            for dealer in dealers {
                dealt.keys.extend_from_slice(&dealer.dealt.keys[dealer.part(part)]);
                if has_rows {
                    dealt.rows.extend_from_slice(&dealer.dealt.rows[dealer.part(part)]);
                }
            }
            self.hash(Lot { keys: &dealt.keys, rows: has_rows.then_some(&dealt.rows) }, mask);
        }
        self.some = dealt;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn groups<C: Count>(counters: &Counters<u64, C>) -> Vec<(u64, u64)> {
        let rows = counters.rows().iter().map(|rows| rows.rows());
        let mut groups: Vec<(u64, u64)> = counters.keys().iter().copied().zip(rows).collect();
        groups.sort_unstable();
        groups
    }

    #[test]
    fn several_threads_find_the_groups_of_one() {
        let mut state = 3_u64;
        let mut draw = |n: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 20) % n
        };
        // Enough keys that 19 bits have a counter for every cell, and a part of the groups is dealt out.
        let keys: Vec<u64> = (0..(1 << 20) + 12_345).map(|_| draw(1 << 40) & draw(1 << 40)).collect();
        let rows: Vec<u8> = (0..keys.len()).map(|_| 1 + draw(3) as u8).collect();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let (mut shared, mut single) = (Counters::<u64, u8>::default(), Counters::<u64, u8>::default());
        for mask in [0, 0xF0F, 0xFF_FF00, (1 << 19) - 1, (1 << 30) - 1, u64::MAX] {
            for lot in [Lot::records(&keys), Lot { keys: &keys, rows: Some(&rows) }] {
                pool.install(|| shared.merge(lot, mask));
                alone.install(|| single.merge(lot, mask));
                assert_eq!(groups(&shared), groups(&single), "mask {mask:x}");
                pool.install(|| shared.merge_some(lot, mask, 4));
                alone.install(|| single.merge_some(lot, mask, 4));
                assert_eq!(groups(&shared), groups(&single), "one in 4, mask {mask:x}");
            }
        }
    }
}
