//! How many look the same at a node?
//!
//! A [`FrequencySet`] is the answer of `SELECT COUNT(*) ... GROUP BY` for one [`Grouping`]: the groups with
//! their measures. It can be made in three ways, which all agree (`tests/laws.rs`):
//!
//! - *scan*: from the records, through a [`FrequencySource`], which may have them counted by somebody else
//!   ([`FrequencySet::from_counted`]);
//! - *roll up*: from a set at lower levels, by merging groups (the paper's rollup property);
//! - *project*: from a set with more attributes, also by merging groups.
//!
//! The last two are one operation here, [`FrequencySet::roll_up`], because of how groups are named: each
//! attribute's value is a *hierarchical prefix code* (a child's code starts with its parent's bits), all of them
//! packed into one key. Generalizing or leaving out an attribute clears bits: a key AND a mask.
//!
//! **No search touches a record except through [`FrequencySource`].** Counts come from rows in memory ([`Rows`]) or from
//! keys on a disk ([`Stored`]); a database answers the same question with a query. How to write such a source is told
//! there.

pub(crate) mod tuning;
mod key;
mod layout;
mod source;
mod counted;
mod bottom;
mod regroup;
mod rows;
mod stored;
mod tally;
mod within;
mod cells;
mod kept;

pub use bottom::Bottom;
pub(crate) use cells::cells_for;
pub use counted::CountedGroup;
pub use kept::WithSets;
#[cfg(test)]
pub(crate) use layout::tests::masked_numbers;
pub use layout::{KeyLayout, KeyWidth};
pub use regroup::{Method, Scratch};
pub use rows::Rows;
pub use source::{DistinctRecords, FrequencySource, PackedKeys, RecordKeys, Records};
pub(crate) use source::{counted, records_for};
pub use stored::{Store, Stored};
pub(crate) use tally::{Count, Counters, Lot, Picked, Picking, Tally, Word, part_of};
pub(crate) use within::{TooMany, count_within, visit_parts};

use std::sync::Arc;

use rayon::prelude::*;

use crate::group::{Group, Measures, Names};
use crate::lattice::Grouping;
use key::{BitKey, Wide};
use layout::Packed;
use regroup::regroup;

/// The groups of the table at one grouping, with what is known of each.
#[derive(Debug, Clone)]
pub struct FrequencySet {
    layout: Arc<KeyLayout>,
    grouping: Grouping,
    keys: Keys,
    measures: Measures,
}

/// The names of the groups, in the narrowest key type that holds them.
#[derive(Debug, Clone)]
pub(crate) enum Keys {
    U64(Vec<u64>),
    U128(Vec<u128>),
    Wide(Vec<Wide>),
}

/// A key that fits a machine word or two, with the way to and from those of unknown width.
pub(crate) trait PackedWord: BitKey + Word {
    /// The keys, if they are of this type.
    fn of(keys: &Keys) -> Option<&[Self]>;
    /// The same of records.
    fn of_records(keys: PackedKeys<'_>) -> Option<&[Self]>;
    /// What a grouping keeps of a key of this type.
    fn mask(layout: &KeyLayout, grouping: &Grouping) -> Self;
    /// Appends keys as bytes.
    fn write_bytes(keys: &[Self], to: &mut Vec<u8>);
    /// The keys that were written so, in place of those that are there.
    fn read_bytes(bytes: &[u8], to: &mut Vec<Self>);
}

macro_rules! packed_word {
    ($word:ty, $variant:ident, $packed:ident) => {
        impl PackedWord for $word {
            fn of(keys: &Keys) -> Option<&[Self]> {
                match keys {
                    Keys::$variant(keys) => Some(keys),
                    _ => None,
                }
            }

            fn of_records(keys: PackedKeys<'_>) -> Option<&[Self]> {
                match keys {
                    PackedKeys::$variant(keys) => Some(keys),
                    _ => None,
                }
            }

            fn mask(layout: &KeyLayout, grouping: &Grouping) -> Self {
                layout.$packed().mask(grouping)
            }

            fn write_bytes(keys: &[Self], to: &mut Vec<u8>) {
                to.extend(keys.iter().flat_map(|key| key.to_le_bytes()));
            }

            fn read_bytes(bytes: &[u8], to: &mut Vec<Self>) {
                let words = bytes.chunks_exact(size_of::<Self>());
                to.clear();
                to.extend(
                    words.map(|word| <$word>::from_le_bytes(word.try_into().expect("as long as a key"))),
                );
            }
        }
    };
}

packed_word!(u64, U64, packed_u64);
packed_word!(u128, U128, packed_u128);

/// Runs `$body` with `$keys` bound to the vector of keys and `$packed` to the packing of the same key type.
macro_rules! with_keys {
    ($layout:expr, $keys_enum:expr, |$keys:ident, $packed:ident| $body:expr) => {
        match $keys_enum {
            $crate::frequency::Keys::U64($keys) => {
                let $packed = $layout.packed_u64();
                $body
            }
            $crate::frequency::Keys::U128($keys) => {
                let $packed = $layout.packed_u128();
                $body
            }
            $crate::frequency::Keys::Wide($keys) => {
                let $packed = $layout.packed_wide();
                $body
            }
        }
    };
}
pub(crate) use with_keys;

impl FrequencySet {
    /// Which attributes at which levels the groups share.
    pub fn grouping(&self) -> &Grouping {
        &self.grouping
    }

    /// What is known of each group.
    pub fn measures(&self) -> &Measures {
        &self.measures
    }

    /// How many groups there are.
    pub fn n_groups(&self) -> usize {
        self.measures.n_groups()
    }

    /// One group, with its labels.
    pub fn group(&self, group_idx: usize) -> Group<'_> {
        self.measures.named_group(group_idx, self)
    }

    /// All groups, with their labels.
    pub fn groups(&self) -> impl ExactSizeIterator<Item = Group<'_>> {
        (0..self.n_groups()).map(|group_idx| self.group(group_idx))
    }

    /// How much memory the groups take, in bytes.
    pub fn n_bytes(&self) -> u64 {
        let n_key_bytes = match &self.keys {
            Keys::U64(keys) => size_of_val(keys.as_slice()),
            Keys::U128(keys) => size_of_val(keys.as_slice()),
            Keys::Wide(keys) => {
                keys.len() * (size_of::<Wide>() + self.layout.n_bits().div_ceil(64) as usize * 8)
            }
        };
        (n_key_bytes + self.measures.n_bytes()) as u64
    }

    /// The groups at a more general grouping, by merging: levels may rise and attributes may be left out.
    ///
    /// # Panics
    /// When `to` does not generalize this set's grouping.
    pub fn roll_up(&self, to: &Grouping, scratch: &mut Scratch) -> FrequencySet {
        assert!(to.generalizes(&self.grouping), "roll-up only ever merges groups");
        let wanted = self.assignment();
        with_keys!(self.layout, &self.keys, |keys, packed| self.merge(keys, packed, to, wanted, scratch)).0
    }

    /// The same, and the new group of each old one.
    pub(crate) fn roll_up_assigned(&self, to: &Grouping, scratch: &mut Scratch) -> (FrequencySet, Vec<u32>) {
        assert!(to.generalizes(&self.grouping), "roll-up only ever merges groups");
        let wanted = regroup::Assignment::Record;
        let (set, assignment) =
            with_keys!(self.layout, &self.keys, |keys, packed| self.merge(keys, packed, to, wanted, scratch));
        (set, assignment.expect("it was asked for"))
    }

    fn merge<K: BitKey>(
        &self,
        keys: &[K],
        packed: &Packed<K>,
        to: &Grouping,
        wanted: regroup::Assignment,
        scratch: &mut Scratch,
    ) -> (FrequencySet, Option<Vec<u32>>) {
        let target = packed.target(&self.layout, to);
        let merged = regroup(keys, Some(&self.measures.rows), &target, Method::Auto, wanted, scratch);
        let measures = match &merged.assignment {
            Some(assignment) => self.measures.merge(merged.rows, assignment),
            None => Measures::of_rows(merged.rows),
        };
        let layout = Arc::clone(&self.layout);
        let set = FrequencySet { layout, grouping: *to, keys: K::wrap(merged.keys), measures };
        (set, merged.assignment)
    }

    fn assignment(&self) -> regroup::Assignment {
        if self.measures.is_rows_only() { regroup::Assignment::Skip } else { regroup::Assignment::Record }
    }

    /// The keys, which must be of this type.
    pub(crate) fn packed_keys<W: PackedWord>(&self) -> &[W] {
        W::of(&self.keys).expect("all keys of a layout have one width")
    }

    /// Groups by their keys, which must be distinct and as wide as the layout says, with their rows.
    pub(crate) fn of_packed_keys<W: PackedWord>(
        layout: &Arc<KeyLayout>,
        grouping: &Grouping,
        groups: impl Iterator<Item = (W, u64)>,
    ) -> FrequencySet {
        let (keys, rows) = groups.unzip();
        FrequencySet {
            layout: Arc::clone(layout),
            grouping: *grouping,
            keys: W::wrap(keys),
            measures: Measures::of_rows(rows),
        }
    }

    /// No group, with nothing but rows to come.
    pub(crate) fn empty(layout: &Arc<KeyLayout>, grouping: &Grouping) -> FrequencySet {
        let keys = match layout.width() {
            KeyWidth::U64 => Keys::U64(Vec::new()),
            KeyWidth::U128 => Keys::U128(Vec::new()),
            KeyWidth::Wide => Keys::Wide(Vec::new()),
        };
        FrequencySet {
            layout: Arc::clone(layout),
            grouping: *grouping,
            keys,
            measures: Measures::of_rows(Vec::new()),
        }
    }

    /// Adds other groups of the same grouping, of which nothing but rows is known.
    pub(crate) fn append(&mut self, others: FrequencySet) {
        debug_assert_eq!(self.grouping, others.grouping);
        match (&mut self.keys, others.keys) {
            (Keys::U64(keys), Keys::U64(more)) => keys.extend(more),
            (Keys::U128(keys), Keys::U128(more)) => keys.extend(more),
            (Keys::Wide(keys), Keys::Wide(more)) => keys.extend(more),
            _ => unreachable!("all keys of a layout have one width"),
        }
        let rows = [self.measures.rows(), others.measures.rows()].concat();
        self.measures = Measures::of_rows(rows);
    }

    /// Shows a code of each group for an attribute, many at a time: those that
    /// [`KeyLayout::labels_of_codes`] knows.
    pub(crate) fn visit_codes(&self, attribute: usize, visit: &mut dyn FnMut(&[u32])) {
        with_keys!(self.layout, &self.keys, |keys, packed| {
            packed.visit_codes(&self.layout, keys, attribute, visit);
        });
    }

    /// The label code, at this set's level, of an attribute in a group.
    ///
    /// # Panics
    /// When the attribute is not grouped by.
    pub fn label(&self, group_idx: usize, attribute: usize) -> u32 {
        let level = self.grouping.level(attribute).expect("the attribute is grouped by");
        with_keys!(self.layout, &self.keys, |keys, packed| packed.label(
            &self.layout,
            &keys[group_idx],
            attribute,
            level
        ))
    }

    /// The same groups, sorted by key: in column order of their labels' codes.
    #[must_use]
    pub fn sorted(&self) -> FrequencySet {
        let mut order: Vec<u32> = (0..self.n_groups() as u32).collect();
        with_keys!(self.layout, &self.keys, |keys, _packed| {
            order.sort_unstable_by(|&a, &b| keys[a as usize].cmp(&keys[b as usize]));
        });
        self.select(&order)
    }

    /// The groups with these indexes, in this order.
    pub(crate) fn select(&self, group_idxs: &[u32]) -> FrequencySet {
        FrequencySet {
            layout: Arc::clone(&self.layout),
            grouping: self.grouping,
            keys: with_keys!(self.layout, &self.keys, |keys, _packed| pick(keys, group_idxs)),
            measures: self.measures.reordered(group_idxs),
        }
    }

    /// Groups merged: group `i` goes to `assignment[i]`, which bears the name of the first that goes there. Numbers are given
    /// in the order in which groups come to them, and `rows` has the sums already.
    pub(crate) fn merged(&self, rows: Vec<u64>, assignment: &[u32]) -> FrequencySet {
        let mut first = Vec::with_capacity(rows.len());
        for (&to, group) in assignment.iter().zip(0..) {
            if to as usize == first.len() {
                first.push(group);
            }
        }
        FrequencySet {
            layout: Arc::clone(&self.layout),
            grouping: self.grouping,
            keys: with_keys!(self.layout, &self.keys, |keys, _packed| pick(keys, &first)),
            measures: self.measures.merge(rows, assignment),
        }
    }

    /// The records that are in none of the groups, given a column of value codes per attribute. The set must be
    /// [`sorted`](Self::sorted).
    pub(crate) fn records_outside(&self, n_records: u32, columns: &[&[u32]]) -> Vec<u32> {
        if self.n_groups() == 0 {
            return (0..n_records).collect();
        }
        with_keys!(self.layout, &self.keys, |keys, packed| {
            let mask = packed.target(&self.layout, &self.grouping).mask;
            // Most records are in none: a bit for each hash that a group has spares them the search.
            let n_bits = (16 * keys.len()).next_power_of_two();
            let mixer = key::mixer();
            let bit = |key: &_| BitKey::mix(key, mixer) as usize & (n_bits - 1);
            let mut is_taken = vec![0_u64; n_bits.div_ceil(64)];
            for key in keys {
                is_taken[bit(key) / 64] |= 1 << (bit(key) % 64);
            }
            let is_outside = |&record: &u32| {
                let codes = columns.iter().map(|codes| codes[record as usize]);
                let key = packed.pack(codes).masked(&mask);
                let bit = bit(&key);
                is_taken[bit / 64] >> (bit % 64) & 1 == 0 || keys.binary_search(&key).is_err()
            };
            (0..n_records).into_par_iter().filter(is_outside).collect()
        })
    }
}

impl Names for FrequencySet {
    fn name(&self, group_idx: usize, attribute: usize) -> Option<(u8, u32)> {
        let level = self.grouping.level(attribute)?;
        Some((level, self.label(group_idx, attribute)))
    }
}

fn pick<K: BitKey>(keys: &[K], group_idxs: &[u32]) -> Keys {
    K::wrap(group_idxs.iter().map(|&at| keys[at as usize].clone()).collect())
}
