//! What if the records of a table do not fit the memory, and its cells do?
//!
//! **Promise.** Cells are those of [`Records::cells`](super::Records::cells): the same numbers, in the same order. Where the source limits memory, all that
//! is made of them takes no more than its [room](FrequencySource::room), or whoever asked is refused with what it needs.
//!
//! **Essence.** The groups at level 0 are counted ([`count_within`]); if there is room for them, and for a few numbers a record, the keys are read once
//! more, and each record learns the number of its key. Sensitive values tell records of a key apart, column after column.
//!
//! **Cost.** Each key is read twice.

use std::hash::Hash;

use crate::error::{Error, ErrorKind, Result};
use crate::frequency::layout::Packed;
use crate::frequency::within::visit_keys;
use crate::frequency::{
    DistinctRecords, FrequencySource, KeyLayout, KeyWidth, Method, PackedWord, RecordKeys, count_within,
    records_for,
};
use crate::group::Demand;
use crate::hash;
use crate::lattice::Grouping;

/// The records as cells, for somebody called `who` in messages; `instead` says what to do where the source has counts only.
pub(crate) fn cells_for(
    source: &dyn FrequencySource,
    demand: &Demand,
    who: &str,
    instead: &str,
) -> Result<DistinctRecords> {
    let counts_persons = demand.persons || !demand.persons_by_value.is_empty();
    let (Some(room), Some(keys), false) = (source.room(), source.keys(), counts_persons) else {
        return records_for(source, who, instead)?.cells(demand);
    };
    let layout = source.layout();
    let room = Room { who, instead, source, demand, bytes: room };
    let bottom = Grouping::of_levels(&vec![0; layout.heights().len()]);
    let n_cells = match count_within(source, &bottom, &Demand::default(), Method::Auto)? {
        Ok(set) => set.n_groups(),
        Err(too_many) => too_many.n_groups,
    };
    room.check(n_cells)?;
    match layout.width() {
        KeyWidth::U64 => gather(&room, keys, layout.packed_u64(), n_cells),
        _ => gather(&room, keys, layout.packed_u128(), n_cells),
    }
}

/// How much there is room for, and for whom.
struct Room<'a> {
    who: &'a str,
    instead: &'a str,
    source: &'a dyn FrequencySource,
    demand: &'a Demand,
    bytes: u64,
}

impl Room<'_> {
    /// Fails where this number of cells, and what is made of them, do not fit.
    fn check(&self, n_cells: usize) -> Result<()> {
        let layout: &KeyLayout = self.source.layout();
        // A record has the number of its cell, and then of its group, and some of both while one becomes the other.
        let of_records = 3 * size_of::<u32>() as u64 * self.source.n_rows();
        // A cell has a key, which is also in a table; twice its labels and values; and it is part of groups that come and go. (Measured: 230 bytes for each
        // of 220,000 cells of four attributes.)
        let key = if layout.width() == KeyWidth::U64 { size_of::<u64>() } else { size_of::<u128>() };
        let codes = layout.heights().len() + self.demand.histograms.len();
        let a_cell = 5 * key + (2 * codes + 45) * size_of::<u32>();
        let need = of_records + (a_cell * n_cells) as u64;
        if need <= self.bytes {
            return Ok(());
        }
        let megabytes = |bytes: u64| bytes.div_ceil(1_000_000);
        let (who, n_rows) = (self.who, self.source.n_rows());
        let message = format!(
            "{who} needs {} MB for {n_rows} records in {n_cells} cells (a cell is all equal records); there is room for {} MB",
            megabytes(need),
            megabytes(self.bytes),
        );
        let hint = format!("allow more memory, or {}", self.instead);
        Err(Error::new(ErrorKind::Limit, message).with_hint(hint))
    }
}

fn gather<W: PackedWord + Hash>(
    room: &Room<'_>,
    keys: &dyn RecordKeys,
    packed: &Packed<W>,
    n_cells: usize,
) -> Result<DistinctRecords> {
    let n_rows = usize::try_from(room.source.n_rows()).unwrap_or(usize::MAX);
    let mut cells = DistinctRecords { of_record: Vec::with_capacity(n_rows), ..DistinctRecords::default() };
    let mut distinct: Vec<W> = Vec::with_capacity(n_cells);
    let mut numbers: hash::Map<W, u32> = hash::Map::default();
    numbers.reserve(n_cells);
    visit_keys::<W>(keys, &mut |keys| {
        for key in keys {
            let next = distinct.len() as u32;
            let cell = *numbers.entry(*key).or_insert(next);
            if cell == next {
                distinct.push(*key);
                cells.rows.push(0);
            }
            cells.rows[cell as usize] += 1;
            cells.of_record.push(cell);
        }
        Ok(())
    })?;
    drop(numbers);
    // Where each cell's key stands.
    let mut places: Vec<u32> = (0..distinct.len() as u32).collect();
    for &column in &room.demand.histograms {
        tell_apart(room, column, &mut cells, &mut places)?;
    }
    let layout = room.source.layout();
    let n_attributes = layout.heights().len();
    let labels = places.iter().flat_map(|&place| {
        let key = &distinct[place as usize];
        (0..n_attributes).map(move |at| packed.label(layout, key, at, 0))
    });
    cells.labels = labels.collect();
    Ok(cells)
}

/// Divides cells whose records differ in a sensitive column.
fn tell_apart(
    room: &Room<'_>,
    column: usize,
    cells: &mut DistinctRecords,
    places: &mut Vec<u32>,
) -> Result<()> {
    let records = records_for(room.source, room.who, room.instead)?;
    let before = std::mem::take(&mut cells.sensitive);
    let of_key = std::mem::take(places);
    cells.sensitive = vec![Vec::new(); before.len() + 1];
    cells.rows.clear();
    let mut numbers: hash::Map<u64, u32> = hash::Map::default();
    let mut record = 0;
    records.visit_sensitive(column, &mut |codes| {
        for &code in codes {
            let cell = &mut cells.of_record[record];
            record += 1;
            let next = places.len() as u32;
            let number = *numbers.entry(u64::from(*cell) << 32 | u64::from(code)).or_insert(next);
            if number == next {
                places.push(of_key[*cell as usize]);
                cells.rows.push(0);
                for (values, before) in cells.sensitive.iter_mut().zip(&before) {
                    values.push(before[*cell as usize]);
                }
                cells.sensitive[before.len()].push(code);
            }
            cells.rows[number as usize] += 1;
            *cell = number;
        }
    })?;
    room.check(places.len())
}
