//! Single-dimension recoding: each value of an attribute goes to a level of its own, the same in every record.

use crate::error::{Error, ErrorKind, Result};
use crate::frequency::FrequencySet;
use crate::hash;
use crate::hierarchy::Attributes;
use crate::judge::Problem;
use crate::recoding::PerGroup;
use crate::recoding::value_table::{Levels, ValueTable};
use crate::table::{Column, Table};

/// For each value of each attribute the level it goes to, and the records that are left out.
///
/// # Invariants
/// The policy that it was made for holds: groups of equal released labels that it refuses are left out, within the budget.
#[derive(Debug, Clone)]
pub struct PerValue {
    /// For each attribute, the level of each value code of its column.
    levels: Vec<Vec<u8>>,
    /// The combinations of values whose records are left out, sorted.
    suppressed: FrequencySet,
    /// For each attribute, how many released rows are at each level.
    rows_by_level: Vec<Vec<u64>>,
    /// For each attribute, how many released labels stand beside one of their own descendants.
    partial_labels: Vec<u64>,
}

impl PerValue {
    /// Generalizes each value to its level (for each attribute, for each value code of its column) and leaves out the
    /// groups that the policy refuses then.
    ///
    /// Fails when those have more rows than the policy's budget.
    pub fn new(problem: Problem<'_>, attributes: &Attributes, levels: &[Vec<u8>]) -> Result<Self> {
        let values = ValueTable::new(problem, attributes)?;
        let by_slot = values.by_slot(levels)?;
        PerValue::of_slots(problem, &values, &by_slot)
    }

    pub(crate) fn of_slots(problem: Problem<'_>, values: &ValueTable, levels: &Levels) -> Result<Self> {
        let judged = values.judge(problem, levels)?;
        if !judged.holds {
            return Err(Error::new(ErrorKind::Policy, "the generalization does not satisfy the policy"));
        }
        let is_out = |cell: usize| judged.is_refused[judged.group_of[cell] as usize];
        let suppressed: Vec<u32> =
            (0..values.n_cells()).filter(|&cell| is_out(cell)).map(|cell| cell as u32).collect();
        let mut rows_by_level = Vec::new();
        let mut partial_labels = Vec::new();
        for (at, domain) in values.domains.iter().enumerate() {
            let mut rows_of_slot = vec![0; domain.rows.len()];
            for cell in (0..values.n_cells()).filter(|&cell| !is_out(cell)) {
                rows_of_slot[values.slots[at][cell] as usize] += values.rows()[cell];
            }
            let mut by_level = vec![0; usize::from(domain.height) + 1];
            for (&level, &rows) in levels[at].iter().zip(&rows_of_slot) {
                by_level[usize::from(level)] += rows;
            }
            rows_by_level.push(by_level);
            let texts = domain.released(&levels[at]);
            // The texts of released labels below which a released value has another text at a lower level.
            let mut partial: Vec<u32> = Vec::new();
            let released = || (0..levels[at].len()).filter(|&slot| rows_of_slot[slot] > 0);
            for slot in released() {
                let level = levels[at][slot];
                let mut below = domain.subtree(level, slot);
                if below.any(|other| {
                    rows_of_slot[other] > 0 && levels[at][other] < level && texts[other] != texts[slot]
                }) {
                    partial.push(texts[slot]);
                }
            }
            partial.sort_unstable();
            partial.dedup();
            partial_labels.push(partial.len() as u64);
        }
        Ok(PerValue {
            levels: values.by_value(levels),
            suppressed: values.set.select(&suppressed).sorted(),
            rows_by_level,
            partial_labels,
        })
    }

    /// The level of each value code of an attribute's column.
    pub fn levels(&self, attribute: usize) -> &[u8] {
        &self.levels[attribute]
    }

    /// How many attributes there are.
    pub fn n_attributes(&self) -> usize {
        self.levels.len()
    }

    /// How many records are left out.
    pub fn suppressed_rows(&self) -> u64 {
        self.suppressed.measures().rows().iter().sum()
    }

    /// How many released records are at each level of an attribute.
    pub fn rows_by_level(&self, attribute: usize) -> &[u64] {
        &self.rows_by_level[attribute]
    }

    /// How many labels of an attribute are *partial sibling generalizations*: released beside one of their own descendants
    /// (`Person` beside `Female`; footnote 3 of the Incognito paper). A reader concludes that a `Person` is no `Female`.
    pub fn partial_labels(&self, attribute: usize) -> u64 {
        self.partial_labels[attribute]
    }

    /// The same as local recoding: records with equal levels and labels are a group. Where a label stands at several
    /// levels, two groups may have the same labels.
    pub fn groups(&self, table: &Table, attributes: &Attributes) -> Result<PerGroup> {
        let codes: Vec<&[u32]> = attributes
            .iter()
            .map(|attribute| {
                table
                    .column(attribute.name())
                    .map(Column::codes)
                    .ok_or_else(|| Error::input(format!("the table has no column `{}`", attribute.name())))
            })
            .collect::<Result<_>>()?;
        let fits = |(at, levels): (usize, &Vec<u8>)| {
            codes[at].iter().all(|&code| (code as usize) < levels.len())
                && levels.iter().all(|&level| level <= attributes[at].height())
        };
        if self.levels.len() != attributes.len() || !self.levels.iter().enumerate().all(fits) {
            return Err(Error::new(ErrorKind::Internal, "a recoding is applied to another table"));
        }
        let n_rows = u32::try_from(table.n_rows())
            .map_err(|_| Error::new(ErrorKind::Limit, "the table has more than 4,294,967,295 rows"))?;
        let mut is_released = vec![false; table.n_rows()];
        for record in self.suppressed.records_outside(n_rows, &codes) {
            is_released[record as usize] = true;
        }
        // Numbers of the records' groups so far, told apart by one attribute after the other.
        let mut numbers = vec![0_u32; table.n_rows()];
        for (at, attribute) in attributes.iter().enumerate() {
            let mut known: hash::Map<(u32, u8, u32), u32> = hash::Map::default();
            for (number, &code) in numbers.iter_mut().zip(codes[at]) {
                let level = self.levels[at][code as usize];
                let label = attribute.labels_at(level)[code as usize];
                let next = known.len() as u32;
                *number = *known.entry((*number, level, label)).or_insert(next);
            }
        }
        let n_groups = numbers.iter().max().map_or(0, |&most| most as usize + 1);
        let mut levels: Vec<Vec<u8>> = vec![vec![0; attributes.len()]; n_groups];
        for (record, &number) in numbers.iter().enumerate() {
            for (at, level) in levels[number as usize].iter_mut().enumerate() {
                *level = self.levels[at][codes[at][record] as usize];
            }
        }
        let of_record = numbers.iter().zip(&is_released).map(|(&number, &is_in)| is_in.then_some(number));
        PerGroup::new(attributes.len(), &levels, of_record)
    }
}
