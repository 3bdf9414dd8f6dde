//! Counts from records in memory.
//!
//! Every record's key is packed once; after that the text, the dictionaries and the columns are not needed for
//! searching. Memory: one key a record (8 bytes in the common case), plus a code per record for the unit and
//! for each sensitive column that may be asked for.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use rayon::prelude::*;

use crate::error::{Error, ErrorKind, Result};
use crate::frequency::layout::{Packed, Target};
use crate::frequency::regroup::{Assignment, Regrouped, regroup};
use crate::frequency::stored::Gathered;
use crate::frequency::tuning;
use crate::frequency::{
    BitKey, Counters, DistinctRecords, FrequencySet, FrequencySource, KeyLayout, KeyWidth, Keys, Lot, Method,
    PackedKeys, PackedWord, RecordKeys, Records, Scratch, with_keys,
};
use crate::group::{Demand, Measures, NOBODY, Pairs, persons_of};
use crate::hash;
use crate::hierarchy::Attributes;
use crate::lattice::Grouping;
use crate::table::{Column, Table};

/// All records as packed keys.
#[derive(Debug)]
pub struct Rows {
    layout: Arc<KeyLayout>,
    n_rows: usize,
    keys: Keys,
    /// For each attribute whose lowest level is ruled out, the records of each value.
    values: Vec<Option<Vec<u64>>>,
    persons: Option<Vec<u32>>,
    sensitive: Vec<Vec<u32>>,
    /// The values of each sensitive column with the persons who have them, made when first asked for.
    pairs: Vec<OnceLock<Pairs>>,
    /// Scratch memory that is not in use: fresh pages for every scan would cost as much as the scan.
    scratch: Mutex<Vec<Scratch>>,
    /// How many bytes of groups a search may keep, if that is limited.
    room: Option<u64>,
}

impl Rows {
    /// The records of `table` as seen through `attributes`, which must be bound to its columns.
    pub fn new(table: &Table, attributes: &Attributes) -> Result<Self> {
        Rows::with_width(table, attributes, KeyWidth::U64)
    }

    /// The same with keys no narrower than `width`.
    pub fn with_width(table: &Table, attributes: &Attributes, width: KeyWidth) -> Result<Self> {
        check_number(table.with_codes()?.n_rows())?;
        let layout = Arc::new(KeyLayout::at_least(attributes, width));
        let columns: Vec<&[u32]> = attributes
            .iter()
            .map(|attribute| {
                column(table, attribute.name()).and_then(|column| {
                    if column.dictionary().len() == attribute.n_values() {
                        Ok(column.codes())
                    } else {
                        Err(Error::new(ErrorKind::Internal, "an attribute is bound to another table"))
                    }
                })
            })
            .collect::<Result<_>>()?;
        let n_rows = table.n_rows();
        let values = count_values(attributes, n_rows, |at, first, to| {
            to.copy_from_slice(&columns[at][first..first + to.len()]);
            Ok(())
        })?;
        let keys = match layout.width() {
            KeyWidth::U64 => Keys::U64(layout.packed_u64().pack_columns(n_rows, &columns)),
            KeyWidth::U128 => Keys::U128(layout.packed_u128().pack_columns(n_rows, &columns)),
            KeyWidth::Wide => Keys::Wide(layout.packed_wide().pack_columns(n_rows, &columns)),
        };
        Ok(Rows { values, ..Rows::of_keys(layout, n_rows, keys) })
    }

    /// The records of a table that is elsewhere: `read` brings the value codes of an attribute for the records from a number
    /// on, as many as there is room for. With a list of value codes for each sensitive column that may be asked for.
    pub fn of_parts(
        attributes: &Attributes,
        n_rows: usize,
        sensitive: Vec<Vec<u32>>,
        read: impl Fn(usize, usize, &mut [u32]) -> Result<()> + Sync,
    ) -> Result<Self> {
        check_number(n_rows)?;
        let layout = Arc::new(KeyLayout::at_least(attributes, KeyWidth::U64));
        let keys = match layout.width() {
            KeyWidth::U64 => Keys::U64(layout.packed_u64().pack_parts(n_rows, &read)?),
            KeyWidth::U128 => Keys::U128(layout.packed_u128().pack_parts(n_rows, &read)?),
            KeyWidth::Wide => Keys::Wide(layout.packed_wide().pack_parts(n_rows, &read)?),
        };
        let pairs = sensitive.iter().map(|_| OnceLock::new()).collect();
        let values = count_values(attributes, n_rows, read)?;
        Ok(Rows { sensitive, pairs, values, ..Rows::of_keys(layout, n_rows, keys) })
    }

    fn of_keys(layout: Arc<KeyLayout>, n_rows: usize, keys: Keys) -> Self {
        Rows {
            layout,
            n_rows,
            keys,
            values: Vec::new(),
            persons: None,
            sensitive: Vec::new(),
            pairs: Vec::new(),
            scratch: Mutex::default(),
            room: None,
        }
    }

    /// Some records, by their packed keys.
    pub(crate) fn of_packed<W: PackedWord>(layout: &Arc<KeyLayout>, keys: &[W]) -> Self {
        Rows::of_keys(Arc::clone(layout), keys.len(), W::wrap(keys.to_vec()))
    }

    /// The same with a limit on how many bytes of groups a search may keep.
    #[must_use]
    pub fn with_room(self, bytes: u64) -> Self {
        Rows { room: Some(bytes), ..self }
    }

    /// Lets groups be measured in distinct values of the `unit` column: one person, several rows. A row in which it is
    /// missing is about nobody: it counts as a row, but its sensitive values do not.
    pub fn with_unit(mut self, table: &Table, unit: &str) -> Result<Self> {
        self.persons = Some(persons_of(column(table, unit)?));
        self.forget_values_of_nobody();
        self.pairs = self.sensitive.iter().map(|_| OnceLock::new()).collect();
        Ok(self)
    }

    /// Lets histograms of these columns be asked for; a [`Demand`] names them by their position in this list.
    pub fn with_sensitive(mut self, table: &Table, names: &[&str]) -> Result<Self> {
        self.sensitive =
            names.iter().map(|name| Ok(column(table, name)?.codes().to_vec())).collect::<Result<_>>()?;
        self.forget_values_of_nobody();
        self.pairs = self.sensitive.iter().map(|_| OnceLock::new()).collect();
        Ok(self)
    }

    /// Where persons count, a value that nobody has is none.
    fn forget_values_of_nobody(&mut self) {
        let Some(persons) = self.persons.as_ref().filter(|persons| persons.contains(&NOBODY)) else {
            return;
        };
        for values in &mut self.sensitive {
            for (value, _) in values.iter_mut().zip(persons).filter(|&(_, &person)| person == NOBODY) {
                *value = NOBODY;
            }
        }
    }

    /// How many records may be looked at at a time, if not all: dealing them out would take as much memory as they do.
    fn at_a_time(&self) -> Option<usize> {
        let most = match self.room {
            Some(room) => (room / tuning::BYTES_DEALT.get())
                .clamp(tuning::LEAST_ROWS_AT_A_TIME.get(), tuning::ROWS_AT_A_TIME.get() as u64)
                as usize,
            None if self.n_rows > tuning::MANY_ROWS.get() => tuning::ROWS_AT_A_TIME.get(),
            None => return None,
        };
        (self.n_rows > most).then_some(most)
    }

    fn pairs(&self, at: usize) -> Result<&Pairs> {
        let persons = self.persons.as_ref().ok_or_else(|| not_loaded("the unit column"))?;
        let (values, pairs) =
            self.sensitive.get(at).zip(self.pairs.get(at)).ok_or_else(|| not_loaded("a sensitive column"))?;
        Ok(pairs.get_or_init(|| Pairs::new(values, persons)))
    }

    fn pool(&self) -> MutexGuard<'_, Vec<Scratch>> {
        // A thread that panicked never had the pool locked while changing it.
        self.scratch.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn group<K: BitKey>(
        &self,
        keys: &[K],
        packed: &Packed<K>,
        grouping: &Grouping,
        demand: &Demand,
        method: Method,
    ) -> Result<FrequencySet> {
        let target = packed.target(&self.layout, grouping);
        let assignment = if demand.counts_rows_only() { Assignment::Skip } else { Assignment::Record };
        let grouped = match self.group_shared(keys, &target, method, assignment) {
            Some(grouped) => grouped,
            None => {
                let mut scratch = self.pool().pop().unwrap_or_default();
                let grouped = regroup(keys, None, &target, method, assignment, &mut scratch);
                self.pool().push(scratch);
                grouped
            }
        };
        let measures = match &grouped.assignment {
            None => Measures::of_rows(grouped.rows),
            Some(assignment) => {
                let (persons, sensitive) = (self.persons_for(demand)?, self.sensitive_for(demand)?);
                let pairs: Vec<(usize, &Pairs)> = demand
                    .persons_by_value
                    .iter()
                    .map(|&at| Ok((at, self.pairs(at)?)))
                    .collect::<Result<_>>()?;
                Measures::of_assignment(grouped.rows, assignment, persons, sensitive, pairs)
            }
        };
        Ok(FrequencySet {
            layout: Arc::clone(&self.layout),
            grouping: *grouping,
            keys: K::wrap(grouped.keys),
            measures,
        })
    }

    /// Groups many records, of which nothing but the number counts.
    fn count_many<W: PackedWord>(&self, keys: &[W], grouping: &Grouping) -> FrequencySet {
        // There are no more records than such a counter can hold.
        let mut counters =
            self.room.map_or_else(Counters::<W, u32>::default, |room| Counters::within(room / 4));
        let mask = W::mask(&self.layout, grouping);
        match self.at_a_time() {
            None => counters.merge(Lot::records(keys), mask),
            Some(n_keys) => {
                counters.begin();
                keys.chunks(n_keys).for_each(|keys| counters.add(Lot::records(keys), mask));
                counters.end(mask);
            }
        }
        let rows = counters.rows().iter().map(|&rows| u64::from(rows));
        FrequencySet::of_packed_keys(&self.layout, grouping, counters.keys().iter().copied().zip(rows))
    }

    /// Groups many records by several threads: each a share, and then their groups once more. `None` where that would take
    /// longer.
    fn group_shared<K: BitKey>(
        &self,
        keys: &[K],
        target: &Target<K>,
        method: Method,
        assignment: Assignment,
    ) -> Option<Regrouped<K>> {
        let n_threads = rayon::current_num_threads();
        let is_counting = method == Method::Auto && assignment == Assignment::Skip;
        let is_much = self.at_a_time().is_some_and(|n_keys| keys.len() > n_keys);
        let is_worth_it = is_much || (n_threads > 1 && keys.len() >= tuning::ROWS_SHARED_FROM.get());
        if !is_worth_it || !is_counting {
            return None;
        }
        let group = |keys: &[K], rows: Option<&[u64]>| {
            regroup(keys, rows, target, method, Assignment::Skip, &mut Scratch::default())
        };
        if let Some(n_keys) = self.at_a_time().filter(|&n_keys| keys.len() > n_keys) {
            let mut gathered = Gathered::default();
            let mut scratch = Scratch::default();
            for keys in keys.chunks(n_keys) {
                let shares = keys.par_chunks(keys.len().div_ceil(n_threads)).map(|keys| group(keys, None));
                for share in shares.collect::<Vec<_>>() {
                    gathered.add(share, target, &mut scratch);
                }
            }
            return Some(gathered.finish(target, &mut scratch));
        }
        // A share has about as many groups for its records, or fewer.
        let n_sample = tuning::ROWS_SHARED_FROM.get() / 8;
        if group(&keys[..n_sample], None).rows.len() > n_sample / 2 {
            return None;
        }
        let shares: Vec<Regrouped<K>> =
            keys.par_chunks(keys.len().div_ceil(n_threads)).map(|keys| group(keys, None)).collect();
        let rows: Vec<u64> = shares.iter().flat_map(|share| share.rows.iter().copied()).collect();
        let keys: Vec<K> = shares.into_iter().flat_map(|share| share.keys).collect();
        Some(group(&keys, Some(&rows)))
    }

    /// The code of each record's person, if that is demanded.
    fn persons_for(&self, demand: &Demand) -> Result<Option<&[u32]>> {
        match (&self.persons, demand.persons) {
            (_, false) => Ok(None),
            (Some(persons), true) => Ok(Some(persons)),
            (None, true) => Err(not_loaded("the unit column")),
        }
    }

    /// The positions and codes of the sensitive columns that are demanded.
    fn sensitive_for(&self, demand: &Demand) -> Result<Vec<(usize, &[u32])>> {
        let codes_of = |&at: &usize| {
            let codes = self.sensitive.get(at).ok_or_else(|| not_loaded("a sensitive column"))?;
            Ok((at, codes.as_slice()))
        };
        demand.histograms.iter().map(codes_of).collect()
    }

    fn collect_cells<K: BitKey>(
        &self,
        keys: &[K],
        packed: &Packed<K>,
        demand: &Demand,
    ) -> Result<DistinctRecords> {
        let (persons, sensitive) = (self.persons_for(demand)?, self.sensitive_for(demand)?);
        let heights = self.layout.heights();
        let target = packed.target(&self.layout, &Grouping::of_levels(&vec![0; heights.len()]));
        let mut scratch = self.pool().pop().unwrap_or_default();
        let grouped = regroup(keys, None, &target, Method::Auto, Assignment::Record, &mut scratch);
        self.pool().push(scratch);
        let mut numbers = grouped.assignment.expect("the assignment was asked for");
        let mut n_numbers = grouped.rows.len();
        for codes in sensitive.iter().map(|&(_, codes)| codes).chain(persons) {
            n_numbers = tell_apart(&mut numbers, n_numbers, codes);
        }

        let mut cell_of = vec![u32::MAX; n_numbers];
        let mut first_records: Vec<usize> = Vec::with_capacity(n_numbers);
        let mut rows: Vec<u32> = Vec::with_capacity(n_numbers);
        for (record, number) in numbers.iter_mut().enumerate() {
            let cell = &mut cell_of[*number as usize];
            if *cell == u32::MAX {
                *cell = rows.len() as u32;
                first_records.push(record);
                rows.push(0);
            }
            rows[*cell as usize] += 1;
            *number = *cell;
        }
        let labels = first_records.iter().flat_map(|&record| {
            (0..heights.len()).map(move |at| packed.label(&self.layout, &keys[record], at, 0))
        });
        let of_cells = |codes: &[u32]| first_records.iter().map(|&record| codes[record]).collect();
        Ok(DistinctRecords {
            labels: labels.collect(),
            persons: persons.map(of_cells),
            sensitive: sensitive.iter().map(|&(_, codes)| of_cells(codes)).collect(),
            of_record: numbers,
            rows,
        })
    }
}

impl FrequencySource for Rows {
    fn layout(&self) -> &Arc<KeyLayout> {
        &self.layout
    }

    fn n_rows(&self) -> u64 {
        self.n_rows as u64
    }

    fn count(&self, grouping: &Grouping, demand: &Demand, method: Method) -> Result<FrequencySet> {
        // With few bits there is a counter for every group; with many, records are dealt out, which takes longer than to look up
        // groups as long as those fit the cache.
        let has_few_bits = self.n_rows >= tuning::ROWS_SHARED_FROM.get()
            && self.layout.n_bits_at(grouping) <= tuning::ROWS_DENSE_BITS.get();
        let counts_all = has_few_bits || self.at_a_time().is_some();
        if counts_all && demand.counts_rows_only() && method == Method::Auto {
            match &self.keys {
                Keys::U64(keys) => return Ok(self.count_many(keys, grouping)),
                Keys::U128(keys) => return Ok(self.count_many(keys, grouping)),
                Keys::Wide(_) => {}
            }
        }
        with_keys!(self.layout, &self.keys, |keys, packed| self.group(keys, packed, grouping, demand, method))
    }

    fn room(&self) -> Option<u64> {
        self.room
    }

    fn rows_of_values(&self, attribute: usize) -> Option<&[u64]> {
        self.values.get(attribute)?.as_deref()
    }

    fn keys(&self) -> Option<&dyn RecordKeys> {
        match &self.keys {
            Keys::U64(_) | Keys::U128(_) => Some(self),
            Keys::Wide(_) => None,
        }
    }

    fn records(&self) -> Option<&dyn Records> {
        Some(self)
    }
}

impl RecordKeys for Rows {
    fn at_once(&self) -> Option<PackedKeys<'_>> {
        match &self.keys {
            _ if self.at_a_time().is_some() => None,
            Keys::U64(keys) => Some(PackedKeys::U64(keys)),
            Keys::U128(keys) => Some(PackedKeys::U128(keys)),
            Keys::Wide(_) => None,
        }
    }

    fn visit(&self, visit: &mut dyn FnMut(PackedKeys<'_>) -> Result<()>) -> Result<()> {
        let n_keys = self.at_a_time().unwrap_or(self.n_rows).max(1);
        match &self.keys {
            Keys::U64(keys) => keys.chunks(n_keys).try_for_each(|keys| visit(PackedKeys::U64(keys))),
            Keys::U128(keys) => keys.chunks(n_keys).try_for_each(|keys| visit(PackedKeys::U128(keys))),
            Keys::Wide(_) => Err(Error::new(ErrorKind::Internal, "keys of more than 128 bits are not shown")),
        }
    }
}

impl Records for Rows {
    fn visit_sensitive(&self, column: usize, visit: &mut dyn FnMut(&[u32])) -> Result<()> {
        visit(self.sensitive.get(column).ok_or_else(|| not_loaded("a sensitive column"))?);
        Ok(())
    }

    fn visit_codes(&self, attribute: usize, visit: &mut dyn FnMut(&[u32])) {
        with_keys!(self.layout, &self.keys, |keys, packed| {
            packed.visit_codes(&self.layout, keys, attribute, visit);
        });
    }

    fn cells(&self, demand: &Demand) -> Result<DistinctRecords> {
        with_keys!(self.layout, &self.keys, |keys, packed| self.collect_cells(keys, packed, demand))
    }

    fn some_records(&self, is_kept: &[bool]) -> Box<dyn FrequencySource> {
        fn kept<T: Clone>(all: &[T], is_kept: &[bool]) -> Vec<T> {
            all.iter().zip(is_kept).filter(|(_, is_kept)| **is_kept).map(|(one, _)| one.clone()).collect()
        }
        let keys = match &self.keys {
            Keys::U64(keys) => Keys::U64(kept(keys, is_kept)),
            Keys::U128(keys) => Keys::U128(kept(keys, is_kept)),
            Keys::Wide(keys) => Keys::Wide(kept(keys, is_kept)),
        };
        let n_kept = is_kept.iter().take(self.n_rows).filter(|is_kept| **is_kept).count();
        Box::new(Rows {
            layout: Arc::clone(&self.layout),
            n_rows: n_kept,
            keys,
            // Only those of the whole table are asked for.
            values: Vec::new(),
            persons: self.persons.as_ref().map(|persons| kept(persons, is_kept)),
            sensitive: self.sensitive.iter().map(|codes| kept(codes, is_kept)).collect(),
            pairs: self.sensitive.iter().map(|_| OnceLock::new()).collect(),
            scratch: Mutex::default(),
            room: self.room,
        })
    }
}

/// Numbers records anew so that equal ones have equal numbers and equal codes. Returns how many numbers there are.
fn tell_apart(numbers: &mut [u32], n_numbers: usize, codes: &[u32]) -> usize {
    let n_codes = codes.iter().max().map_or(0, |&most| most as usize + 1);
    let mut n_new = 0_u32;
    let mut next = || {
        n_new += 1;
        n_new - 1
    };
    let n_entries = n_numbers.saturating_mul(n_codes);
    if n_entries <= numbers.len().saturating_mul(tuning::ENTRIES_PER_RECORD.get()) {
        let mut known = vec![u32::MAX; n_entries];
        for (number, &code) in numbers.iter_mut().zip(codes) {
            let new = &mut known[*number as usize * n_codes + code as usize];
            if *new == u32::MAX {
                *new = next();
            }
            *number = *new;
        }
    } else {
        let mut known: hash::Map<u64, u32> = hash::Map::default();
        for (number, &code) in numbers.iter_mut().zip(codes) {
            *number = *known.entry(u64::from(*number) << 32 | u64::from(code)).or_insert_with(&mut next);
        }
    }
    n_new as usize
}

/// How many records have each value, for attributes whose lowest level is ruled out. `read` brings the value codes of an
/// attribute for the records from a number on.
pub(super) fn count_values(
    attributes: &Attributes,
    n_rows: usize,
    read: impl Fn(usize, usize, &mut [u32]) -> Result<()>,
) -> Result<Vec<Option<Vec<u64>>>> {
    let mut all = Vec::with_capacity(attributes.len());
    for (at, attribute) in attributes.iter().enumerate() {
        if attribute.level_number(0) == 0 {
            all.push(None);
            continue;
        }
        let mut rows = vec![0; attribute.n_values()];
        let mut codes = vec![0; n_rows.min(tuning::CODES_AT_A_TIME.get())];
        for first in (0..n_rows).step_by(tuning::CODES_AT_A_TIME.get()) {
            codes.truncate(n_rows - first);
            read(at, first, &mut codes)?;
            codes.iter().for_each(|&code| rows[code as usize] += 1);
        }
        all.push(Some(rows));
    }
    Ok(all)
}

/// Records are numbered by `u32`.
pub(super) fn check_number(n_rows: usize) -> Result<()> {
    if n_rows < u32::MAX as usize {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Limit, "the table has more than 4,294,967,294 rows"))
}

fn column<'a>(table: &'a Table, name: &str) -> Result<&'a Column> {
    table.column(name).ok_or_else(|| Error::input(format!("the table has no column `{name}`")))
}

fn not_loaded(what: &str) -> Error {
    Error::new(ErrorKind::Internal, format!("a policy demands {what}, which was not loaded"))
}
