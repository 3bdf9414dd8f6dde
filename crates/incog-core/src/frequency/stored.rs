//! Counts from records that do not fit the memory.
//!
//! Every record's key is packed once, as for [`Rows`](super::Rows), and put into a [`Store`], which somebody else keeps on a
//! disk. From there on each question that has to look at the records reads all keys, some at a time, and puts the groups of
//! the parts together ([`Gathered`]). Searches keep groups, so few questions have to.
//!
//! For policies about numbers of rows only, and keys of at most 128 bits: nothing else is stored.
//!
//! Cost: reading 8 or 16 bytes a record and question. Memory: the groups that are asked for, up to three times; searches are told
//! how much they may keep ([`FrequencySource::room`]).

use std::sync::Arc;

use crate::error::{Error, ErrorKind, Result};
use crate::frequency::layout::{Packed, Target};
use crate::frequency::regroup::{Assignment, Regrouped, regroup};
use crate::frequency::rows::{check_number, count_values};
use crate::frequency::tuning;
use crate::frequency::{
    BitKey, Counters, FrequencySet, FrequencySource, KeyLayout, KeyWidth, Lot, Method, PackedKeys,
    PackedWord, RecordKeys, Scratch,
};
use crate::group::{Demand, Measures};
use crate::hierarchy::Attributes;
use crate::lattice::Grouping;

/// A place for long lists of bytes outside of memory.
pub trait Store: Send + Sync {
    /// Adds bytes at the end.
    fn append(&mut self, bytes: &[u8]) -> Result<()>;

    /// Reads bytes that were added, from a place on: as many as there is room for.
    fn read(&self, place: u64, to: &mut [u8]) -> Result<()>;
}

/// All records as packed keys, in a store.
pub struct Stored {
    layout: Arc<KeyLayout>,
    n_rows: usize,
    store: Box<dyn Store>,
    room: u64,
    /// Keys that are read at a time.
    n_keys: usize,
    /// For each attribute whose lowest level is ruled out, the records of each value.
    values: Vec<Option<Vec<u64>>>,
}

impl std::fmt::Debug for Stored {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stored")
            .field("n_rows", &self.n_rows)
            .field("room", &self.room)
            .finish_non_exhaustive()
    }
}

impl Stored {
    /// Puts the keys of all records into an empty store; `read` brings the value codes of an attribute for the records from a
    /// number on, as many as there is room for. Searches may keep `room` bytes of groups.
    pub fn new(
        attributes: &Attributes,
        n_rows: usize,
        mut store: Box<dyn Store>,
        room: u64,
        read: impl Fn(usize, usize, &mut [u32]) -> Result<()> + Sync,
    ) -> Result<Self> {
        check_number(n_rows)?;
        let layout = Arc::new(KeyLayout::at_least(attributes, KeyWidth::U64));
        // An eighth of the room, for a key and its bytes.
        let n_keys =
            (room / 8 / 32).clamp(tuning::LEAST_STORED_KEYS.get(), tuning::MOST_STORED_KEYS.get()) as usize;
        match layout.width() {
            KeyWidth::U64 => fill(layout.packed_u64(), n_rows, n_keys, store.as_mut(), &read)?,
            KeyWidth::U128 => fill(layout.packed_u128(), n_rows, n_keys, store.as_mut(), &read)?,
            KeyWidth::Wide => {
                return Err(Error::new(
                    ErrorKind::Limit,
                    format!(
                        "the quasi-identifiers take {} bits a record; with so little memory 128 are possible",
                        layout.n_bits()
                    ),
                )
                .with_hint("allow more memory, or use fewer quasi-identifiers"));
            }
        }
        let values = count_values(attributes, n_rows, read)?;
        Ok(Stored { layout, n_rows, store, room, n_keys, values })
    }

    /// Shows all keys, a part at a time.
    fn visit_keys<W: PackedWord>(&self, visit: &mut dyn FnMut(&[W]) -> Result<()>) -> Result<()> {
        let mut bytes = Vec::new();
        let mut keys: Vec<W> = Vec::new();
        for first in (0..self.n_rows).step_by(self.n_keys) {
            bytes.resize(self.n_keys.min(self.n_rows - first) * size_of::<W>(), 0);
            self.store.read((first * size_of::<W>()) as u64, &mut bytes)?;
            W::read_bytes(&bytes, &mut keys);
            visit(&keys)?;
        }
        Ok(())
    }

    /// The groups of all records.
    fn group<W: PackedWord>(
        &self,
        packed: &Packed<W>,
        grouping: &Grouping,
        method: Method,
    ) -> Result<FrequencySet> {
        if method != Method::Sort {
            return self.tally::<W>(grouping);
        }
        let target = packed.target(&self.layout, grouping);
        let mut gathered = Gathered::default();
        let mut scratch = Scratch::default();
        self.visit_keys(&mut |keys: &[W]| {
            let groups = regroup(keys, None, &target, method, Assignment::Skip, &mut scratch);
            gathered.add(groups, &target, &mut scratch);
            Ok(())
        })?;
        let grouped = gathered.finish(&target, &mut scratch);
        Ok(FrequencySet {
            layout: Arc::clone(&self.layout),
            grouping: *grouping,
            keys: W::wrap(grouped.keys),
            measures: Measures::of_rows(grouped.rows),
        })
    }

    /// The same by counters of four bytes: there are no more records than these can hold.
    fn tally<W: PackedWord>(&self, grouping: &Grouping) -> Result<FrequencySet> {
        let mask = W::mask(&self.layout, grouping);
        let mut counters = Counters::<W, u32>::within(self.room / 4);
        counters.begin();
        self.visit_keys(&mut |keys: &[W]| {
            counters.add(Lot::records(keys), mask);
            Ok(())
        })?;
        counters.end(mask);
        let rows = counters.rows().iter().map(|&rows| u64::from(rows));
        Ok(FrequencySet::of_packed_keys(&self.layout, grouping, counters.keys().iter().copied().zip(rows)))
    }
}

/// Packs all records and stores their keys.
fn fill<W: PackedWord>(
    packed: &Packed<W>,
    n_rows: usize,
    n_keys: usize,
    store: &mut dyn Store,
    read: &(impl Fn(usize, usize, &mut [u32]) -> Result<()> + Sync),
) -> Result<()> {
    let mut bytes = Vec::new();
    for first in (0..n_rows).step_by(n_keys) {
        let read = |attribute: usize, from: usize, to: &mut [u32]| read(attribute, first + from, to);
        let keys = packed.pack_parts(n_keys.min(n_rows - first), &read)?;
        bytes.clear();
        W::write_bytes(&keys, &mut bytes);
        store.append(&bytes)?;
    }
    Ok(())
}

impl FrequencySource for Stored {
    fn layout(&self) -> &Arc<KeyLayout> {
        &self.layout
    }

    fn n_rows(&self) -> u64 {
        self.n_rows as u64
    }

    fn rows_of_values(&self, attribute: usize) -> Option<&[u64]> {
        self.values.get(attribute)?.as_deref()
    }

    fn count(&self, grouping: &Grouping, demand: &Demand, method: Method) -> Result<FrequencySet> {
        rows_only(demand)?;
        match self.layout.width() {
            KeyWidth::U64 => self.group(self.layout.packed_u64(), grouping, method),
            _ => self.group(self.layout.packed_u128(), grouping, method),
        }
    }

    fn room(&self) -> Option<u64> {
        Some(self.room)
    }

    fn keys(&self) -> Option<&dyn RecordKeys> {
        Some(self)
    }
}

impl RecordKeys for Stored {
    fn at_once(&self) -> Option<PackedKeys<'_>> {
        None
    }

    fn visit(&self, visit: &mut dyn FnMut(PackedKeys<'_>) -> Result<()>) -> Result<()> {
        match self.layout.width() {
            KeyWidth::U64 => self.visit_keys(&mut |keys: &[u64]| visit(PackedKeys::U64(keys))),
            _ => self.visit_keys(&mut |keys: &[u128]| visit(PackedKeys::U128(keys))),
        }
    }
}

fn rows_only(demand: &Demand) -> Result<()> {
    if demand.counts_rows_only() {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Internal, "a policy demands more than rows, which was not stored"))
}

/// Groups that come in parts: the same group may be in several.
#[derive(Debug)]
pub(super) struct Gathered<K> {
    keys: Vec<K>,
    rows: Vec<u64>,
    /// How many of them are known to be different.
    n_distinct: usize,
}

impl<K> Default for Gathered<K> {
    fn default() -> Self {
        Gathered { keys: Vec::new(), rows: Vec::new(), n_distinct: 0 }
    }
}

impl<K: BitKey> Gathered<K> {
    /// Adds the groups of a part. As often as their number doubles, equal ones are put together.
    pub(super) fn add(&mut self, groups: Regrouped<K>, target: &Target<K>, scratch: &mut Scratch) {
        let n_new = groups.keys.len();
        self.keys.extend(groups.keys);
        self.rows.extend(groups.rows);
        if self.keys.len() > 2 * self.n_distinct + n_new {
            self.put_together(target, scratch);
        }
    }

    fn put_together(&mut self, target: &Target<K>, scratch: &mut Scratch) {
        let (keys, rows) = (std::mem::take(&mut self.keys), std::mem::take(&mut self.rows));
        let merged = regroup(&keys, Some(&rows), target, Method::Auto, Assignment::Skip, scratch);
        self.n_distinct = merged.keys.len();
        (self.keys, self.rows) = (merged.keys, merged.rows);
    }

    /// All groups.
    pub(super) fn finish(mut self, target: &Target<K>, scratch: &mut Scratch) -> Regrouped<K> {
        if self.n_distinct < self.keys.len() {
            self.put_together(target, scratch);
        }
        Regrouped { keys: self.keys, rows: self.rows, assignment: None }
    }
}
