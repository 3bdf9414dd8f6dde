//! Groups as packed keys with small counters: all that a search for k needs.
//!
//! Whether groups reach k can be told from counters that stop at their greatest number, as long as that is at least k: a
//! counter below k is exact. So a byte a group is enough up to k = 255 ([`Count`]), four bytes otherwise, and the counters
//! of 2¹⁶ cells fit the second-level cache four times. What is lost is the size of groups that are large enough.
//!
//! Keys in, masked keys with counts out, one of three ways; all find the same groups ([`Counters::merge`]):
//!
//! - *dense*: the kept bits, pushed together, number a counter ([`Compress`]). The first key of a counter becomes a group;
//!   in the end the groups collect their counters and leave zeros. Few cells are touched, so there may be many more of them
//!   than keys.
//! - *hash*: a table of group numbers, presized to the keys at hand.
//! - *dealt out*: as long as keys would fill more than the cache, they are first dealt out to parts by their hash.
//!
//! Keys need not be distinct, so the records themselves are groups of one row each ([`Lot::records`]): nothing has to be
//! grouped before searching starts.
//!
//! Where there are very many keys, several threads share the work ([`shared`]); keys that are not in memory come in parts
//! ([`parts`]); and where only a verdict is asked, no groups are made ([`below_k`]).
//!
//! Groups come out in the order of their first key, or part by part; parts are by a hash with a seed, so nobody may rest on the
//! order. Cost: about 2 ns a key where the counters fit the cache; memory: the counters, and the groups.

mod parts;
mod shared;
mod below_k;

use incog_kernels::{Compress, CompressWide};

use crate::frequency::tuning;
use crate::hash::Mixer;
use parts::Gathered;
use shared::Team;

/// A number of rows that stops at its greatest value.
pub(crate) trait Count: Copy + Default + PartialEq + Send + Sync + std::fmt::Debug + 'static {
    /// Whether groups reach k can be told for k up to this.
    const MOST: u64;
    /// A counter of `rows` rows, or the greatest number.
    fn of(rows: u64) -> Self;
    /// The sum, or the greatest number.
    fn plus(self, other: Self) -> Self;
    /// The rows, if they are fewer than the greatest number.
    fn rows(self) -> u64;
    /// Counters of a byte each as bytes; others are not.
    fn bytes(counters: &[Self]) -> Option<&[u8]>;
    /// The same, to be changed.
    fn bytes_mut(counters: &mut [Self]) -> Option<&mut [u8]>;
}

macro_rules! count_of {
    ($number:ty, |$counters:ident| $bytes:expr) => {
        impl Count for $number {
            const MOST: u64 = <$number>::MAX as u64;

            #[inline]
            fn of(rows: u64) -> Self {
                <$number>::try_from(rows).unwrap_or(<$number>::MAX)
            }

            #[inline]
            fn plus(self, other: Self) -> Self {
                self.saturating_add(other)
            }

            #[inline]
            fn rows(self) -> u64 {
                u64::from(self)
            }

            #[inline]
            fn bytes($counters: &[Self]) -> Option<&[u8]> {
                $bytes
            }

            #[inline]
            fn bytes_mut($counters: &mut [Self]) -> Option<&mut [u8]> {
                $bytes
            }
        }
    };
}

count_of!(u8, |counters| Some(counters));
count_of!(u32, |_counters| None);

/// A packed key: 64 or 128 bits.
pub(crate) trait Word:
    Copy + Default + PartialEq + std::ops::BitAnd<Output = Self> + Send + Sync + std::fmt::Debug + 'static
{
    /// A hash with all bits well mixed.
    fn hash(self, mixer: Mixer) -> u64;
    /// How many bits are set.
    fn n_ones(self) -> u32;
    /// Of each key, the bits under the mask, which has at most 32, pushed together; some keys at a time.
    fn compress(keys: &[Self], mask: Self, visit: impl FnMut(&[Self], &[u32]));
    /// The same one by one, with the rows of each key.
    fn for_each_cell<C>(keys: &[Self], mask: Self, rows: impl Iterator<Item = C>, visit: impl FnMut(u32, C));
    /// The masked keys of which these are the bits.
    fn expand(cells: &[u32], mask: Self, to: &mut [Self]);
    /// Keys of 64 bits as words; others are not.
    fn words(keys: &[Self]) -> Option<&[u64]>;
    /// The same, to be changed.
    fn words_mut(keys: &mut [Self]) -> Option<&mut [u64]>;
}

macro_rules! word_of {
    ($word:ty, $compress:ty, $hash:ident, |$keys:ident| $words:expr) => {
        impl Word for $word {
            #[inline]
            fn hash(self, mixer: Mixer) -> u64 {
                mixer.$hash(self)
            }

            #[inline]
            fn n_ones(self) -> u32 {
                self.count_ones()
            }

            #[inline]
            fn compress(keys: &[Self], mask: Self, mut visit: impl FnMut(&[Self], &[u32])) {
                let compress = <$compress>::new(mask);
                let mut numbers = [0_u32; tuning::BLOCK];
                for some in keys.chunks(tuning::BLOCK) {
                    let numbers = &mut numbers[..some.len()];
                    compress.words(some, numbers);
                    visit(some, numbers);
                }
            }

            #[inline]
            fn for_each_cell<C>(
                keys: &[Self],
                mask: Self,
                rows: impl Iterator<Item = C>,
                visit: impl FnMut(u32, C),
            ) {
                <$compress>::new(mask).for_each(keys, rows, visit);
            }

            fn expand(cells: &[u32], mask: Self, to: &mut [Self]) {
                let compress = <$compress>::new(mask);
                cells.iter().zip(to).for_each(|(&cell, key)| *key = compress.expand(cell));
            }

            fn words($keys: &[Self]) -> Option<&[u64]> {
                $words
            }

            fn words_mut($keys: &mut [Self]) -> Option<&mut [u64]> {
                $words
            }
        }
    };
}

word_of!(u64, Compress, word, |keys| Some(keys));
word_of!(u128, CompressWide, wide, |_keys| None);

/// The groups of one grouping, kept to be merged further.
#[derive(Debug, Clone)]
pub(crate) struct Tally<W, C> {
    keys: Vec<W>,
    rows: Vec<C>,
}

impl<W: Word, C: Count> Tally<W, C> {
    pub(crate) fn lot(&self) -> Lot<'_, W, C> {
        Lot { keys: &self.keys, rows: Some(&self.rows) }
    }
}

/// Keys, each with its number of rows; without numbers, each is one row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lot<'a, W, C> {
    keys: &'a [W],
    rows: Option<&'a [C]>,
}

impl<'a, W: Word, C: Count> Lot<'a, W, C> {
    /// The keys of records: a row each.
    pub(crate) fn records(keys: &'a [W]) -> Self {
        Lot { keys, rows: None }
    }

    /// Keys that stand for as many rows each.
    pub(crate) fn counted(keys: &'a [W], rows: &'a [C]) -> Self {
        debug_assert_eq!(keys.len(), rows.len());
        Lot { keys, rows: Some(rows) }
    }

    pub(crate) fn len(&self) -> usize {
        self.keys.len()
    }

    /// Every `n`th key.
    pub(crate) fn every(&self, n: usize) -> Vec<W> {
        self.keys.iter().copied().step_by(n.max(1)).collect()
    }

    #[inline]
    fn rows(&self, at: usize) -> C {
        self.rows.map_or(C::of(1), |rows| rows[at])
    }
}

/// An odd constant with its bits spread out, and not the one of other tables: keys that come in the order of one table fill
/// another of the same hash slot by slot.
const SPREAD: u64 = 0xD6E8_FEB8_6659_FD93;

/// The memory for merging, and the groups of the last merge.
#[derive(Debug, Default)]
pub(crate) struct Counters<W, C> {
    /// All zero between uses.
    cells: Vec<C>,
    /// Group numbers plus one, by hash.
    slots: Vec<u32>,
    /// The cells of the groups.
    numbers: Vec<u32>,
    keys: Vec<W>,
    rows: Vec<C>,
    n_groups: usize,
    dealer: Dealer<W, C>,
    some: Dealt<W, C>,
    team: Team<W, C>,
    gathered: Gathered<W, C>,
    /// With more bits there is no counter for every cell, if that is limited.
    most_bits: Option<u32>,
}

/// Keys in the order of their parts, or some of them.
#[derive(Debug, Default)]
struct Dealt<W, C> {
    keys: Vec<W>,
    rows: Vec<C>,
}

impl<W: Word, C: Count> Dealt<W, C> {
    /// Adds the keys for which `is_in` says so.
    fn pick(&mut self, lot: Lot<'_, W, C>, is_in: impl Fn(W) -> bool) {
        for (at, &key) in lot.keys.iter().enumerate() {
            if is_in(key) {
                self.keys.push(key);
                if lot.rows.is_some() {
                    self.rows.push(lot.rows(at));
                }
            }
        }
    }
}

/// Why the keys of some groups are picked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Picking {
    /// To tell from them what the others are like. Which groups they are must not depend on a seed, because what is judged next does on what
    /// they tell. Whoever aims at them makes a sample that is no use, and takes no more time than looking at all keys.
    Sample,
    /// The others come after them: parts must be even, whoever made the keys.
    All,
}

/// The keys of some groups, all that these groups have.
#[derive(Debug, Default)]
pub(crate) struct Picked<W, C>(Dealt<W, C>);

/// To which of `of` parts a group belongs whose masked key this is; parts are even, whoever made the keys. A power of two.
pub(crate) fn part_of<W: Word>(key: W, of: u64) -> u64 {
    key.hash(Mixer::new(SPREAD)) >> 24 & (of - 1)
}

impl<W: Word, C: Count> Picked<W, C> {
    pub(crate) fn clear(&mut self) {
        self.0.keys.clear();
        self.0.rows.clear();
    }

    /// Adds the keys of part `part` out of `of` parts, a power of two; keys of one group are in one part. Either all lots have
    /// rows or none.
    pub(crate) fn pick(&mut self, lot: Lot<'_, W, C>, mask: W, part: u64, of: u64, picking: Picking) {
        debug_assert!(of.is_power_of_two());
        // Bits from the middle: parts are by the low ones, slots by the high ones.
        let mixer = match picking {
            Picking::Sample => Mixer::known(SPREAD),
            Picking::All => Mixer::new(SPREAD),
        };
        let is_in = |key: W| (key & mask).hash(mixer) >> 24 & (of - 1) == part;
        if !Counters::picks_shared(lot, is_in, &mut self.0) {
            self.0.pick(lot, is_in);
        }
    }

    pub(crate) fn lot(&self) -> Lot<'_, W, C> {
        let Dealt { keys, rows } = &self.0;
        Lot { keys, rows: (rows.len() == keys.len()).then_some(rows) }
    }
}

impl<W: Word, C: Count> Counters<W, C> {
    /// The groups of the last merge: their keys,
    pub(crate) fn keys(&self) -> &[W] {
        &self.keys[..self.n_groups]
    }

    /// and their rows.
    pub(crate) fn rows(&self) -> &[C] {
        &self.rows[..self.n_groups]
    }

    /// The groups of the last merge, to be kept.
    pub(crate) fn tally(&self) -> Tally<W, C> {
        Tally { keys: self.keys().to_vec(), rows: self.rows().to_vec() }
    }

    /// The rows in groups of fewer than `k` rows, which must be at most [`Count::MOST`].
    pub(crate) fn rows_below(&self, k: u64) -> u64 {
        debug_assert!(k <= C::MOST);
        self.rows().iter().map(|rows| rows.rows()).map(|rows| if rows < k { rows } else { 0 }).sum()
    }

    /// Groups that somebody else has counted become those of the last merge.
    pub(crate) fn load(&mut self, keys: &[W], rows: impl Iterator<Item = u64>) {
        self.make_room(keys.len());
        self.keys[..keys.len()].copy_from_slice(keys);
        self.n_groups = keys.len();
        for (to, rows) in self.rows.iter_mut().zip(rows) {
            *to = C::of(rows);
        }
    }

    /// For a table of `n_rows` rows: counters for every cell take no more memory than the table.
    pub(crate) fn for_rows(n_rows: u64) -> Self {
        let most_bits = n_rows.max(1).ilog2() + tuning::TALLY_CELLS_PER_ROW.get().ilog2();
        Counters { most_bits: Some(most_bits), ..Counters::default() }
    }

    /// Where memory is limited: counters for every cell take at most about `bytes`.
    pub(crate) fn within(bytes: u64) -> Self {
        let most_bits = (bytes / size_of::<C>() as u64).max(1).ilog2();
        Counters { most_bits: Some(most_bits), ..Counters::default() }
    }

    /// Groups keys by the bits of `mask`.
    pub(crate) fn merge(&mut self, lot: Lot<'_, W, C>, mask: W) {
        if self.merges_shared(lot, mask) {
            return;
        }
        let n_bits = mask.n_ones();
        let n_cells = 1_usize << n_bits.min(tuning::TALLY_MOST_DENSE_BITS.get());
        let is_dense = self.most_bits.is_none_or(|most| n_bits <= most)
            && (n_bits <= tuning::TALLY_DENSE_BITS.get()
                || (n_bits <= tuning::TALLY_MOST_DENSE_BITS.get()
                    && n_cells <= tuning::TALLY_CELLS_PER_KEY.get().saturating_mul(lot.len())));
        if is_dense {
            self.dense(lot, mask);
        } else {
            self.by_hash(lot, mask);
        }
    }

    fn by_hash(&mut self, lot: Lot<'_, W, C>, mask: W) {
        if lot.len() < tuning::DEAL_FROM.get() {
            self.make_room(lot.len());
            self.n_groups = 0;
            self.hash(lot, mask);
        } else if !self.deals_shared(lot, mask) {
            self.deal_out(lot, mask);
        }
    }

    /// The same for about one in `of` groups, a power of two. What is refused among some groups is refused among all.
    pub(crate) fn merge_some(&mut self, lot: Lot<'_, W, C>, mask: W, of: u64) {
        let mut some = Picked::default();
        std::mem::swap(&mut some.0, &mut self.some);
        some.clear();
        some.pick(lot, mask, 0, of, Picking::Sample);
        self.by_hash(some.lot(), mask);
        self.some = some.0;
    }

    /// The same for what was picked.
    pub(crate) fn merge_picked(&mut self, some: &Picked<W, C>, mask: W) {
        self.by_hash(some.lot(), mask);
    }

    /// Room for a group a key, and one more to write to in vain.
    fn make_room(&mut self, n_keys: usize) {
        if self.keys.len() <= n_keys {
            self.keys.resize(n_keys + 1, W::default());
            self.rows.resize(n_keys + 1, C::default());
        }
    }

    fn dense(&mut self, lot: Lot<'_, W, C>, mask: W) {
        let n_groups = self.count_cells(lot, mask, 0);
        self.collect(n_groups);
    }

    /// Adds keys to the counters of their cells, where there are `n_groups` groups already. Returns how many there are then.
    fn count_cells(&mut self, lot: Lot<'_, W, C>, mask: W, mut n_groups: usize) -> usize {
        let n_cells = 1_usize << mask.n_ones();
        if self.cells.len() < n_cells {
            debug_assert_eq!(n_groups, 0, "all parts have the same cells");
            self.cells = vec![C::default(); n_cells];
        }
        let cells = &mut self.cells[..n_cells];
        let (keys, numbers) = (&mut self.keys, &mut self.numbers);
        let mut add = |some: &[W], block: &[u32], rows: Option<&[C]>| {
            // Room for a group a key, and one more to write to in vain; not for all keys at once, which may be many more.
            let room = n_groups + some.len() + 1;
            if keys.len() < room {
                keys.resize(room, W::default());
            }
            if numbers.len() < room {
                numbers.resize(room, 0);
            }
            let (keys, numbers) = (&mut keys[..], &mut numbers[..]);
            let mut add = |key: W, number: u32, rows: C| {
                let cell = &mut cells[number as usize];
                // Written whether or not it is a new group: no branch to foresee.
                keys[n_groups] = key & mask;
                numbers[n_groups] = number;
                n_groups += usize::from(*cell == C::default());
                *cell = cell.plus(rows);
            };
            match rows {
                None => some.iter().zip(block).for_each(|(&key, &number)| add(key, number, C::of(1))),
                Some(rows) => {
                    for ((&key, &number), &rows) in some.iter().zip(block).zip(rows) {
                        add(key, number, rows);
                    }
                }
            }
        };
        let mut rows = lot.rows;
        W::compress(lot.keys, mask, |some, block| {
            let (now, later) = rows.map(|rows| rows.split_at(some.len())).unzip();
            rows = later;
            add(some, block, now);
        });
        n_groups
    }

    /// Takes the counters of `n_groups` groups, and leaves zeros.
    fn collect(&mut self, n_groups: usize) {
        if self.rows.len() < self.keys.len() {
            self.rows.resize(self.keys.len(), C::default());
        }
        for (to, &number) in self.rows.iter_mut().zip(&self.numbers[..n_groups]) {
            *to = std::mem::take(&mut self.cells[number as usize]);
        }
        self.n_groups = n_groups;
    }

    /// Adds groups to those that are there, which must be others.
    fn hash(&mut self, lot: Lot<'_, W, C>, mask: W) {
        let n_slots = (lot.len() * 2).next_power_of_two().max(2);
        if self.slots.len() < n_slots {
            self.slots.resize(n_slots, 0);
        }
        let slots = &mut self.slots[..n_slots];
        slots.fill(0);
        let shift = 64 - n_slots.trailing_zeros();
        let mixer = Mixer::new(SPREAD);
        let (keys, rows) = (&mut self.keys[..], &mut self.rows[..]);
        let before = self.n_groups;
        let mut n_groups = before;
        for (at, &key) in lot.keys.iter().enumerate() {
            let key = key & mask;
            // Written as if it were a new group; it stays if it is one. Whether it is cannot be foreseen, so nothing branches on
            // it, only on a slot that another group has.
            keys[n_groups] = key;
            rows[n_groups] = C::default();
            let mut slot = (key.hash(mixer) >> shift) as usize;
            loop {
                let in_slot = slots[slot];
                let is_new = usize::from(in_slot == 0);
                let if_new = is_new.wrapping_neg();
                let group = (n_groups & if_new) | ((before + in_slot as usize).wrapping_sub(1) & !if_new);
                if keys[group] == key {
                    slots[slot] = (group - before + 1) as u32;
                    rows[group] = rows[group].plus(lot.rows(at));
                    n_groups += is_new;
                    break;
                }
                slot = (slot + 1) & (n_slots - 1);
            }
        }
        self.n_groups = n_groups;
    }

    fn deal_out(&mut self, lot: Lot<'_, W, C>, mask: W) {
        let mut dealer = std::mem::take(&mut self.dealer);
        let n_parts = (lot.len() / tuning::DEAL_PART.get()).next_power_of_two();
        dealer.deal(lot, mask, n_parts);
        self.n_groups = 0;
        for part in 0..n_parts {
            let part = dealer.part(part);
            self.make_room(self.n_groups + part.len());
            let rows = lot.rows.is_some().then(|| &dealer.dealt.rows[part.clone()]);
            self.hash(Lot { keys: &dealer.dealt.keys[part], rows }, mask);
        }
        self.dealer = dealer;
    }
}

/// Keys in the order of their parts.
#[derive(Debug, Default)]
struct Dealer<W, C> {
    dealt: Dealt<W, C>,
    /// Where each part ends.
    ends: Vec<u32>,
}

impl<W: Word, C: Count> Dealer<W, C> {
    /// Deals keys to parts by the lowest bits of the hash, because slots are by the highest.
    fn deal(&mut self, lot: Lot<'_, W, C>, mask: W, n_parts: usize) {
        let Dealer { dealt, ends } = self;
        let mixer = Mixer::new(SPREAD);
        let part_of = |key: W| (key & mask).hash(mixer) as usize & (n_parts - 1);
        ends.clear();
        ends.resize(n_parts, 0);
        for &key in lot.keys {
            ends[part_of(key)] += 1;
        }
        let mut start = 0;
        for end in ends.iter_mut() {
            start += std::mem::replace(end, start);
        }
        if dealt.keys.len() < lot.len() {
            dealt.keys.resize(lot.len(), W::default());
        }
        if lot.rows.is_some() && dealt.rows.len() < lot.len() {
            dealt.rows.resize(lot.len(), C::default());
        }
        for (at, &key) in lot.keys.iter().enumerate() {
            let next = &mut ends[part_of(key)];
            dealt.keys[*next as usize] = key;
            if let Some(rows) = lot.rows {
                dealt.rows[*next as usize] = rows[at];
            }
            *next += 1;
        }
        // Where a part's next key would go is now where the part ends.
    }

    fn part(&self, part: usize) -> std::ops::Range<usize> {
        let start = if part == 0 { 0 } else { self.ends[part - 1] };
        start as usize..self.ends[part] as usize
    }
}

#[cfg(test)]
mod tests;
