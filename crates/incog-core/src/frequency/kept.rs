//! Frequency sets that outlive a run.
//!
//! **Promise.** A set that was [written](FrequencySet::write) and [read](FrequencySet::read) is the same set, whatever wrote it last is what
//! is read, and bytes that are no set of the layout are refused: no panic, whatever they are.
//!
//! **Essence.** The levels of the grouping, the number of groups, and for each group its packed key and its rows, in the order of the
//! keys. Persons and sensitive values are not written: sets that have them are refused.
//!
//! [`WithSets`] is a source that has such sets beside its records; a judge may begin with them
//! ([`FrequencySource::kept_sets`]).
//!
//! Cost: linear in the groups.

use std::sync::Arc;

use crate::error::{Error, ErrorKind, Result};
use crate::frequency::{
    BitKey, FrequencySet, FrequencySource, KeyLayout, KeyWidth, Keys, Method, PackedWord, RecordKeys, Records,
};
use crate::group::{Demand, Measures};
use crate::lattice::Grouping;

/// Stands for an attribute that is left out.
const ABSENT: u8 = u8::MAX;

impl FrequencySet {
    /// Appends the set as bytes. Fails where groups have more than rows, or keys of more than 128 bits.
    pub fn write(&self, to: &mut Vec<u8>) -> Result<()> {
        if !self.measures.is_rows_only() {
            return Err(Error::new(
                ErrorKind::Policy,
                "only groups that have nothing but rows can be written",
            ));
        }
        let sorted = self.sorted();
        let levels = 0..self.layout.heights().len();
        to.extend(levels.map(|attribute| self.grouping.level(attribute).unwrap_or(ABSENT)));
        to.extend((sorted.n_groups() as u64).to_le_bytes());
        match &sorted.keys {
            Keys::U64(keys) => u64::write_bytes(keys, to),
            Keys::U128(keys) => u128::write_bytes(keys, to),
            Keys::Wide(_) => return Err(too_wide()),
        }
        to.extend(sorted.measures.rows().iter().flat_map(|rows| rows.to_le_bytes()));
        Ok(())
    }

    /// Takes a set of this layout from the beginning of some bytes. `None` where they do not begin with one.
    pub fn read(layout: &Arc<KeyLayout>, bytes: &mut &[u8]) -> Option<FrequencySet> {
        let heights = layout.heights();
        let mut grouping = Grouping::NOTHING;
        for ((attribute, &height), &level) in heights.iter().enumerate().zip(take(bytes, heights.len())?) {
            match level {
                ABSENT => {}
                level if level <= height => grouping.set(attribute, level),
                _ => return None,
            }
        }
        let n_groups = u64::from_le_bytes(take(bytes, 8)?.try_into().ok()?);
        let n_groups = usize::try_from(n_groups).ok()?;
        let keys = match layout.width() {
            KeyWidth::U64 => read_keys::<u64>(layout, &grouping, n_groups, bytes)?,
            KeyWidth::U128 => read_keys::<u128>(layout, &grouping, n_groups, bytes)?,
            KeyWidth::Wide => return None,
        };
        let rows = take(bytes, n_groups.checked_mul(8)?)?.as_chunks::<8>().0;
        let rows: Vec<u64> = rows.iter().map(|&rows| u64::from_le_bytes(rows)).collect();
        if rows.contains(&0) {
            return None;
        }
        Some(FrequencySet { layout: Arc::clone(layout), grouping, keys, measures: Measures::of_rows(rows) })
    }

    /// How many rows all groups have together; `None` if that is no number of 64 bits.
    pub fn n_rows(&self) -> Option<u64> {
        self.measures.rows().iter().try_fold(0_u64, |sum, &rows| sum.checked_add(rows))
    }
}

fn too_wide() -> Error {
    Error::new(ErrorKind::Limit, "groups whose keys have more than 128 bits cannot be written")
        .with_hint("use fewer quasi-identifiers")
}

/// The keys of groups, which must be those of the grouping, ascending.
fn read_keys<W: PackedWord + BitKey>(
    layout: &KeyLayout,
    grouping: &Grouping,
    n_groups: usize,
    bytes: &mut &[u8],
) -> Option<Keys> {
    let mask = W::mask(layout, grouping);
    let mut keys: Vec<W> = Vec::new();
    W::read_bytes(take(bytes, n_groups.checked_mul(size_of::<W>())?)?, &mut keys);
    let are_masked = keys.iter().all(|&key| key & mask == key);
    (are_masked && keys.is_sorted_by(|a, b| a < b)).then(|| W::wrap(keys))
}

fn take<'a>(bytes: &mut &'a [u8], n: usize) -> Option<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(n)?;
    *bytes = rest;
    Some(taken)
}

/// A source with frequency sets that were computed before.
pub struct WithSets {
    source: Box<dyn FrequencySource>,
    sets: Vec<Arc<FrequencySet>>,
}

impl std::fmt::Debug for WithSets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WithSets").field("n_sets", &self.sets.len()).finish_non_exhaustive()
    }
}

impl WithSets {
    /// Fails where a set is of another layout, or has not as many rows as the source.
    pub fn new(source: Box<dyn FrequencySource>, sets: Vec<Arc<FrequencySet>>) -> Result<Self> {
        let is_of_source = |set: &Arc<FrequencySet>| {
            Arc::ptr_eq(&set.layout, source.layout()) && set.n_rows() == Some(source.n_rows())
        };
        if !sets.iter().all(is_of_source) {
            return Err(Error::input("frequency sets that were kept are of other records"));
        }
        Ok(WithSets { source, sets })
    }
}

impl FrequencySource for WithSets {
    fn layout(&self) -> &Arc<KeyLayout> {
        self.source.layout()
    }

    fn n_rows(&self) -> u64 {
        self.source.n_rows()
    }

    fn count(&self, grouping: &Grouping, demand: &Demand, method: Method) -> Result<FrequencySet> {
        self.source.count(grouping, demand, method)
    }

    fn room(&self) -> Option<u64> {
        self.source.room()
    }

    fn rows_of_values(&self, attribute: usize) -> Option<&[u64]> {
        self.source.rows_of_values(attribute)
    }

    fn keys(&self) -> Option<&dyn RecordKeys> {
        self.source.keys()
    }

    fn records(&self) -> Option<&dyn Records> {
        self.source.records()
    }

    fn kept_sets(&self) -> &[Arc<FrequencySet>] {
        &self.sets
    }
}
