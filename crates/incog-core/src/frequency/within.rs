//! What if the groups of a node do not fit the memory?
//!
//! **Promise.** Whoever counts through [`count_within`] and [`visit_parts`] takes about half of the source's
//! [room](FrequencySource::room), however many groups there are.
//!
//! **Essence.**
//! 1. Groups are gathered while the keys of the records are read, until all are there or they are more than there is room for.
//!    Then about how many there are follows from how many keys were read.
//! 2. Too many are looked at in parts. A group belongs to the part that a hash of its key says, so each part has whole groups,
//!    and what is added up over all parts is what all groups add up to.
//!
//! A source without a limit, and one that has no keys, is asked for all groups at once. Where a policy demands more than numbers
//! of rows, groups cannot be had in parts; if there are too many, whoever asked refuses.
//!
//! **Cost.** Each part reads all keys once.

use crate::error::{Error, ErrorKind, Result};
use crate::frequency::{
    Counters, FrequencySet, FrequencySource, KeyWidth, Lot, Method, PackedWord, Picked, Picking, RecordKeys,
    counted, tuning,
};
use crate::group::Demand;
use crate::lattice::Grouping;

/// A number of groups that is too large.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooMany {
    /// About how many there are.
    pub(crate) n_groups: usize,
    /// What they would take, in bytes.
    pub(crate) need: u64,
    /// What they may take.
    pub(crate) room: u64,
}

impl TooMany {
    /// Why whoever needs all groups at once cannot go on; `who` begins the message.
    pub(crate) fn refuse(self, who: &str, hint: &str) -> Error {
        let megabytes = |bytes: u64| bytes.div_ceil(1_000_000);
        let TooMany { n_groups, need, room } = self;
        let message = format!(
            "{who} needs all groups of a generalization at once: about {n_groups}, which take {} MB; there is room for {} MB",
            megabytes(need),
            megabytes(room),
        );
        Error::new(ErrorKind::Limit, message).with_hint(hint)
    }
}

/// The bytes that a group takes while groups are gathered.
fn bytes_a_group<W>() -> u64 {
    tuning::TIMES_COUNTED.get() * (size_of::<W>() + size_of::<u32>()) as u64
}

/// How many groups may be gathered at a time.
fn most_groups<W>(room: u64) -> usize {
    usize::try_from(room / 2 / bytes_a_group::<W>()).unwrap_or(usize::MAX).max(tuning::LEAST_COUNTED.get())
}

/// The groups of a source, if there is room for them.
pub(crate) fn count_within(
    source: &dyn FrequencySource,
    grouping: &Grouping,
    demand: &Demand,
    method: Method,
) -> Result<std::result::Result<FrequencySet, TooMany>> {
    let (Some(room), Some(keys)) = (source.room(), source.keys()) else {
        return counted(source, grouping, demand, method).map(Ok);
    };
    let found = match source.layout().width() {
        KeyWidth::U64 => gather::<u64>(source, keys, room, grouping)?,
        _ => gather::<u128>(source, keys, room, grouping)?,
    };
    match found {
        Err(too_many) => Ok(Err(too_many)),
        Ok(set) if demand.counts_rows_only() && method != Method::Sort => Ok(Ok(set)),
        Ok(_) => counted(source, grouping, demand, method).map(Ok),
    }
}

/// Shows the groups of a source, of which there are too many for the memory, a part at a time, until `visit` says that it has seen
/// enough. Groups have nothing but rows.
pub(crate) fn visit_parts(
    source: &dyn FrequencySource,
    grouping: &Grouping,
    too_many: TooMany,
    visit: &mut dyn FnMut(&FrequencySet) -> Result<bool>,
) -> Result<()> {
    let Some(keys) = source.keys() else {
        return Err(Error::new(ErrorKind::Internal, "groups of a source without keys are shown in parts"));
    };
    match source.layout().width() {
        KeyWidth::U64 => parts::<u64>(source, keys, grouping, too_many, visit),
        _ => parts::<u128>(source, keys, grouping, too_many, visit),
    }
}

fn gather<W: PackedWord>(
    source: &dyn FrequencySource,
    keys: &dyn RecordKeys,
    room: u64,
    grouping: &Grouping,
) -> Result<std::result::Result<FrequencySet, TooMany>> {
    let mask = W::mask(source.layout(), grouping);
    let most = most_groups::<W>(room);
    let mut counters = Counters::<W, u32>::within(room / 8);
    let (mut n_seen, mut n_groups) = (0_u64, 0);
    counters.begin();
    visit_keys::<W>(keys, &mut |keys| {
        // What is too much stays too much.
        if n_groups <= most {
            // No more at a time than there is room for.
            for keys in keys.chunks(most) {
                counters.add(Lot::records(keys), mask);
            }
            n_seen += keys.len() as u64;
            n_groups = counters.n_so_far();
        }
        Ok(())
    })?;
    counters.end(mask);
    n_groups = n_groups.max(counters.keys().len());
    if n_groups <= most {
        return Ok(Ok(set_of(source, grouping, &counters)));
    }
    let all = u128::from(source.n_rows()) * n_groups as u128 / u128::from(n_seen.max(1));
    let n_groups = usize::try_from(all).unwrap_or(usize::MAX);
    let need = (n_groups as u64).saturating_mul(bytes_a_group::<W>());
    Ok(Err(TooMany { n_groups, need, room: room / 2 }))
}

fn parts<W: PackedWord>(
    source: &dyn FrequencySource,
    keys: &dyn RecordKeys,
    grouping: &Grouping,
    too_many: TooMany,
    visit: &mut dyn FnMut(&FrequencySet) -> Result<bool>,
) -> Result<()> {
    let mask = W::mask(source.layout(), grouping);
    let most = most_groups::<W>(2 * too_many.room);
    // Half as many as there is room for: parts are not quite alike.
    let of = too_many.n_groups.div_ceil((most / 2).max(1)).next_power_of_two() as u64;
    let mut counters = Counters::<W, u32>::within(too_many.room / 4);
    let mut picked = Picked::default();
    for part in 0..of {
        counters.begin();
        visit_keys::<W>(keys, &mut |keys| {
            for keys in keys.chunks(most) {
                picked.clear();
                picked.pick(Lot::records(keys), mask, part, of, Picking::All);
                counters.add(picked.lot(), mask);
            }
            Ok(())
        })?;
        counters.end(mask);
        if !visit(&set_of(source, grouping, &counters))? {
            return Ok(());
        }
    }
    Ok(())
}

fn set_of<W: PackedWord>(
    source: &dyn FrequencySource,
    grouping: &Grouping,
    counters: &Counters<W, u32>,
) -> FrequencySet {
    let rows = counters.rows().iter().map(|&rows| u64::from(rows));
    FrequencySet::of_packed_keys(source.layout(), grouping, counters.keys().iter().copied().zip(rows))
}

/// Shows the keys of all records, as those of this type.
pub(super) fn visit_keys<W: PackedWord>(
    keys: &dyn RecordKeys,
    visit: &mut dyn FnMut(&[W]) -> Result<()>,
) -> Result<()> {
    keys.visit(&mut |keys| match W::of_records(keys) {
        Some(keys) => visit(keys),
        None => Err(Error::new(ErrorKind::Internal, "records have keys of another width")),
    })
}
