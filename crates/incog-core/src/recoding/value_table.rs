//! The table by its combinations of values: what searches for a level for each value need.
//!
//! Records with equal values are one *cell*. Values of an attribute are numbered in the order of its tree (*slots*), so
//! that the values below a label stand side by side. A value is its label at the lowest level that may be chosen: where
//! level 0 is ruled out, values that share their lowest label are one.
//!
//! Groups are what a reader of the release sees: cells with equal *texts*. A text may stand at several levels of a
//! hierarchy (a branch that stays as it is while others rise, or a city that is called like its state), and then cells at
//! different levels are in one group.
//!
//! Cost: one scan; then every judgement is a pass over the cells for each attribute. Memory: a number a cell and
//! attribute, and what the policy counts.

use std::collections::BTreeMap;

use crate::error::{Error, ErrorKind, Result};
use crate::frequency::FrequencySet;
use crate::group::Measures;
use crate::hash;
use crate::hierarchy::{Attribute, Attributes};
use crate::judge::Problem;
use crate::lattice::Grouping;
use crate::recoding::Side;

/// For each attribute, the level of each slot.
pub(crate) type Levels = Vec<Vec<u8>>;

/// All cells, and the values that they are made of.
#[derive(Debug)]
pub(crate) struct ValueTable {
    /// The cells: the groups with every attribute at its lowest level.
    pub(crate) set: FrequencySet,
    /// For each attribute, the slot of each cell.
    pub(crate) slots: Vec<Vec<u32>>,
    pub(crate) domains: Vec<ValueDomain>,
}

/// The values of one attribute.
#[derive(Debug, Clone)]
pub(crate) struct ValueDomain {
    pub(crate) height: u8,
    /// For each level, the label of each slot.
    pub(crate) labels: Vec<Vec<u32>>,
    /// For each level, a number for the text of each slot's label. Equal texts have equal numbers, whatever the level.
    pub(crate) texts: Vec<Vec<u32>>,
    n_texts: usize,
    /// For each level, how many leaves beside itself each slot's label stands for.
    pub(crate) excess_leaves: Vec<Vec<u64>>,
    /// For each level, what each slot's label weighs by the metric of the search; empty if that contributes no weights.
    pub(crate) weights: Vec<Vec<u64>>,
    /// For each level, its number in the whole hierarchy.
    pub(crate) numbers: Vec<u8>,
    /// The slot of each value code of the column.
    slot_of_value: Vec<u32>,
    /// The rows of each slot.
    pub(crate) rows: Vec<u64>,
}

/// What the policy says of a recoding, and the sums that metrics need.
#[derive(Debug, Clone)]
pub(crate) struct Judged {
    /// Are the rows that would be suppressed within the budget?
    pub(crate) holds: bool,
    /// Whether each group is refused.
    pub(crate) is_refused: Vec<bool>,
    /// The group of each cell.
    pub(crate) group_of: Vec<u32>,
    pub(crate) sums: Sums,
}

/// Sums over what is released.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Sums {
    pub(crate) suppressed_rows: u64,
    pub(crate) n_groups: u64,
    /// Rows of the smallest group.
    pub(crate) smallest_group: Option<u64>,
    pub(crate) sum_of_squares: u128,
    pub(crate) cells: Vec<CellSums>,
    /// For each attribute, the weights that the metric contributes; empty if it contributes none.
    pub(crate) weighed: Vec<u128>,
}

/// Sums over the released cells of one attribute.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct CellSums {
    /// The numbers of their levels in the whole hierarchy.
    pub(crate) climbed: u128,
    /// Leaves under the label − 1.
    pub(crate) excess_leaves: u128,
}

/// A number for each cell, equal where what was looked at is equal; and how many numbers there are. Numbers are given in the
/// order of the cells.
#[derive(Debug, Clone)]
pub(crate) struct Numbers {
    pub(crate) of_cell: Vec<u32>,
    pub(crate) n: usize,
}

impl ValueTable {
    pub(crate) fn new(problem: Problem<'_>, attributes: &Attributes) -> Result<Self> {
        problem.policy.check_without_labels("a level for each value")?;
        let bottom = Grouping::of_levels(&vec![0; attributes.len()]);
        if problem.source.layout().heights() != attributes.heights() {
            return Err(Error::new(ErrorKind::Internal, "attributes and source do not belong together"));
        }
        let set = problem.count(&bottom)?;
        let mut domains: Vec<ValueDomain> = attributes.iter().map(ValueDomain::new).collect();
        let mut slots = Vec::with_capacity(domains.len());
        for (at, (domain, attribute)) in domains.iter_mut().zip(attributes.iter()).enumerate() {
            let mut slot_of_label = vec![u32::MAX; attribute.hierarchy().labels(0).len()];
            for (&label, slot) in domain.labels[0].iter().zip(0..) {
                slot_of_label[label as usize] = slot;
            }
            let slots_here: Vec<u32> = (0..set.n_groups())
                .map(|cell| slot_of_label.get(set.label(cell, at) as usize).copied().unwrap_or(u32::MAX))
                .collect();
            if slots_here.contains(&u32::MAX) {
                return Err(Error::new(ErrorKind::Internal, "a source counted a label that no value has"));
            }
            for (&slot, &rows) in slots_here.iter().zip(set.measures().rows()) {
                domain.rows[slot as usize] += rows;
            }
            slots.push(slots_here);
        }
        Ok(ValueTable { set, slots, domains })
    }

    /// The same with what labels weigh, which is asked for by attribute, level and label.
    pub(crate) fn weighed(mut self, weight: impl Fn(usize, u8, u32) -> u64) -> Self {
        for (at, domain) in self.domains.iter_mut().enumerate() {
            let of_level = |(labels, level): (&Vec<u32>, u8)| {
                labels.iter().map(|&label| weight(at, level, label)).collect()
            };
            domain.weights = domain.labels.iter().zip(0..).map(of_level).collect();
        }
        self
    }

    /// The same with cells of equal numbers merged. For recodings that tell none of those apart.
    pub(crate) fn merged(&self, numbers: &Numbers) -> ValueTable {
        let mut rows = vec![0; numbers.n];
        let mut first = Vec::with_capacity(numbers.n);
        for (cell, (&number, &n)) in numbers.of_cell.iter().zip(self.rows()).enumerate() {
            rows[number as usize] += n;
            if number as usize == first.len() {
                first.push(cell);
            }
        }
        ValueTable {
            set: self.set.merged(rows, &numbers.of_cell),
            slots: self.slots.iter().map(|slots| first.iter().map(|&cell| slots[cell]).collect()).collect(),
            domains: self.domains.clone(),
        }
    }

    pub(crate) fn n_cells(&self) -> usize {
        self.set.n_groups()
    }

    pub(crate) fn rows(&self) -> &[u64] {
        self.set.measures().rows()
    }

    /// Every value at the level of its attribute.
    pub(crate) fn at_levels(&self, levels: &[u8]) -> Levels {
        self.domains.iter().zip(levels).map(|(domain, &level)| vec![level; domain.rows.len()]).collect()
    }

    /// Every value at its top.
    pub(crate) fn top(&self) -> Levels {
        let heights: Vec<u8> = self.domains.iter().map(|domain| domain.height).collect();
        self.at_levels(&heights)
    }

    /// Levels by slot as levels by value code.
    pub(crate) fn by_value(&self, levels: &Levels) -> Vec<Vec<u8>> {
        let of_attribute = |(domain, levels): (&ValueDomain, &Vec<u8>)| {
            domain.slot_of_value.iter().map(|&slot| levels[slot as usize]).collect()
        };
        self.domains.iter().zip(levels).map(of_attribute).collect()
    }

    /// Levels by value code as levels by slot. Fails where they do not fit.
    pub(crate) fn by_slot(&self, levels: &[Vec<u8>]) -> Result<Levels> {
        let wrong = |what| Err(Error::new(ErrorKind::Internal, what));
        if levels.len() != self.domains.len() {
            return wrong("a recoding has not levels for each attribute");
        }
        let mut by_slot = Vec::with_capacity(levels.len());
        for (domain, levels) in self.domains.iter().zip(levels) {
            if levels.len() != domain.slot_of_value.len() || levels.iter().any(|&level| level > domain.height)
            {
                return wrong("a recoding has not a level for each value");
            }
            let mut of_slots = vec![0; domain.rows.len()];
            for (&slot, &level) in domain.slot_of_value.iter().zip(levels) {
                of_slots[slot as usize] = level;
            }
            let is_lost = |(&slot, &level): (&u32, &u8)| of_slots[slot as usize] != level;
            if domain.slot_of_value.iter().zip(levels).any(is_lost) {
                return wrong("values that cannot be told apart have different levels");
            }
            by_slot.push(of_slots);
        }
        Ok(by_slot)
    }

    /// A number for each combination of released texts, of all attributes but one.
    pub(crate) fn numbers_without(&self, levels: &Levels, without: Option<usize>) -> Numbers {
        let mut numbers = Numbers { of_cell: vec![0; self.n_cells()], n: 1 };
        for (attribute, levels) in levels.iter().enumerate() {
            if Some(attribute) != without {
                self.tell_apart(&mut numbers, attribute, levels);
            }
        }
        numbers
    }

    /// Tells cells apart by their texts in one more attribute.
    pub(crate) fn tell_apart(&self, numbers: &mut Numbers, attribute: usize, levels: &[u8]) {
        let domain = &self.domains[attribute];
        let texts = domain.released(levels);
        let slots = &self.slots[attribute];
        let mut next = 0;
        let mut number = |known: &mut u32| {
            if *known == u32::MAX {
                *known = next;
                next += 1;
            }
            *known
        };
        let n_entries = numbers.n.saturating_mul(domain.n_texts);
        if n_entries <= self.n_cells().saturating_mul(16) {
            let mut known = vec![u32::MAX; n_entries];
            for (of_cell, &slot) in numbers.of_cell.iter_mut().zip(slots) {
                let entry = *of_cell as usize * domain.n_texts + texts[slot as usize] as usize;
                *of_cell = number(&mut known[entry]);
            }
        } else {
            let mut known: hash::Map<u64, u32> = hash::Map::default();
            for (of_cell, &slot) in numbers.of_cell.iter_mut().zip(slots) {
                let entry = u64::from(*of_cell) << 32 | u64::from(texts[slot as usize]);
                *of_cell = number(known.entry(entry).or_insert(u32::MAX));
            }
        }
        numbers.n = next as usize;
    }

    /// What the policy says of a recoding.
    pub(crate) fn judge(&self, problem: Problem<'_>, levels: &Levels) -> Result<Judged> {
        self.judge_groups(problem, levels, self.numbers_without(levels, None))
    }

    /// The same, given the groups.
    pub(crate) fn judge_groups(
        &self,
        problem: Problem<'_>,
        levels: &Levels,
        groups: Numbers,
    ) -> Result<Judged> {
        let n_groups = if self.n_cells() == 0 { 0 } else { groups.n };
        let group_of = groups.of_cell;
        let mut rows = vec![0; n_groups];
        for (&group, &n) in group_of.iter().zip(self.rows()) {
            rows[group as usize] += n;
        }
        let measures = if self.set.measures().is_rows_only() {
            Measures::of_rows(rows)
        } else {
            self.set.measures().merge(rows, &group_of)
        };
        let mut is_refused = vec![false; n_groups];
        for group in problem.policy.refused_among(&measures)? {
            is_refused[group as usize] = true;
        }
        let mut sums = self.unsuppressed(levels);
        for (&rows, &is_refused) in measures.rows().iter().zip(&is_refused) {
            if is_refused {
                sums.suppressed_rows += rows;
            } else {
                sums.n_groups += 1;
                sums.sum_of_squares += u128::from(rows) * u128::from(rows);
                sums.smallest_group = Some(sums.smallest_group.map_or(rows, |least| least.min(rows)));
            }
        }
        if sums.suppressed_rows > 0 {
            for cell in (0..self.n_cells()).filter(|&cell| is_refused[group_of[cell] as usize]) {
                let rows = self.rows()[cell];
                self.change_sums(&mut sums, levels, cell, rows, |sum, part| *sum -= part);
            }
        }
        let holds = sums.suppressed_rows <= problem.policy.budget();
        Ok(Judged { holds, is_refused, group_of, sums })
    }

    /// What some rows with the labels of a cell add to the sums of each attribute, or take from them.
    pub(crate) fn change_sums(
        &self,
        sums: &mut Sums,
        levels: &Levels,
        cell: usize,
        rows: u64,
        change: impl Fn(&mut u128, u128),
    ) {
        let rows = u128::from(rows);
        for (at, domain) in self.domains.iter().enumerate() {
            let slot = self.slots[at][cell] as usize;
            let level = usize::from(levels[at][slot]);
            change(&mut sums.cells[at].climbed, rows * u128::from(domain.numbers[level]));
            change(&mut sums.cells[at].excess_leaves, rows * u128::from(domain.excess_leaves[level][slot]));
            if let Some(sum) = sums.weighed.get_mut(at) {
                change(sum, rows * u128::from(domain.weights[level][slot]));
            }
        }
    }

    /// The sums over the cells if nothing were suppressed; groups are not looked at.
    pub(crate) fn unsuppressed(&self, levels: &Levels) -> Sums {
        let cells = self.domains.iter().zip(levels).map(|(domain, levels)| domain.sums(levels)).collect();
        let weighed = self.domains.iter().zip(levels).filter_map(|(domain, levels)| domain.weighed(levels));
        Sums { cells, weighed: weighed.collect(), ..Sums::default() }
    }

    /// For each attribute, how many released rows have which label of which level, ascending.
    pub(crate) fn released(&self, levels: &Levels, judged: &Judged) -> Vec<Vec<(Side, u64)>> {
        let of_attribute = |(at, domain): (usize, &ValueDomain)| {
            let mut sides: BTreeMap<Side, u64> = BTreeMap::new();
            for (cell, &rows) in self.rows().iter().enumerate() {
                if !judged.is_refused[judged.group_of[cell] as usize] {
                    let slot = self.slots[at][cell] as usize;
                    let level = levels[at][slot];
                    let label = domain.labels[usize::from(level)][slot];
                    *sides.entry(Side::Label { level, label }).or_insert(0) += rows;
                }
            }
            sides.into_iter().collect()
        };
        self.domains.iter().enumerate().map(of_attribute).collect()
    }
}

impl ValueDomain {
    fn new(attribute: &Attribute) -> Self {
        let height = attribute.height();
        let hierarchy = attribute.hierarchy();
        // The labels of a value from the top down: in their order, a subtree stands side by side.
        let path = |&value: &u32| -> Vec<u32> {
            (0..=height).rev().map(|level| attribute.labels_at(level)[value as usize]).collect()
        };
        let mut values: Vec<u32> = (0..attribute.n_values() as u32).collect();
        values.sort_by_cached_key(path);
        let lowest = attribute.labels_at(0);
        let mut slot_of_value = vec![0; values.len()];
        let mut first_values: Vec<u32> = Vec::new();
        for &value in &values {
            let is_new =
                first_values.last().is_none_or(|&last| lowest[last as usize] != lowest[value as usize]);
            if is_new {
                first_values.push(value);
            }
            slot_of_value[value as usize] = first_values.len() as u32 - 1;
        }
        let labels: Vec<Vec<u32>> = (0..=height)
            .map(|level| {
                first_values.iter().map(|&value| attribute.labels_at(level)[value as usize]).collect()
            })
            .collect();
        let mut known: hash::Map<&str, u32> = hash::Map::default();
        let mut texts = Vec::with_capacity(labels.len());
        for (level, labels) in (0..=height).zip(&labels) {
            let mut text = |&label: &u32| {
                let next = known.len() as u32;
                *known.entry(hierarchy.labels(level).value(label)).or_insert(next)
            };
            texts.push(labels.iter().map(&mut text).collect());
        }
        let excess_leaves_at = |(level, labels): (u8, &Vec<u32>)| {
            labels.iter().map(|&label| hierarchy.leaves_under(level, label) - 1).collect()
        };
        ValueDomain {
            height,
            excess_leaves: (0..=height).zip(&labels).map(excess_leaves_at).collect(),
            weights: Vec::new(),
            numbers: (0..=height).map(|level| attribute.level_number(level)).collect(),
            rows: vec![0; first_values.len()],
            n_texts: known.len(),
            texts,
            labels,
            slot_of_value,
        }
    }

    /// The text that each slot is released with.
    pub(crate) fn released(&self, levels: &[u8]) -> Vec<u32> {
        levels.iter().enumerate().map(|(slot, &level)| self.texts[usize::from(level)][slot]).collect()
    }

    /// Do equal texts always stand for the same values? Then a label differs from every other that is not above or below
    /// it on a single branch.
    pub(crate) fn is_plain(&self) -> bool {
        // The slots of each text: where its label first stood, from and to.
        let mut ranges: Vec<Option<(usize, usize)>> = vec![None; self.n_texts];
        let mut is_plain = true;
        for (labels, texts) in self.labels.iter().zip(&self.texts) {
            let mut start = 0;
            for same in labels.chunk_by(|a, b| a == b) {
                let range = (start, start + same.len());
                let known = ranges[texts[start] as usize].get_or_insert(range);
                is_plain &= *known == range;
                start = range.1;
            }
        }
        is_plain
    }

    /// The slots below the label that a slot has at a level.
    pub(crate) fn subtree(&self, level: u8, slot: usize) -> std::ops::Range<usize> {
        let labels = &self.labels[usize::from(level)];
        let label = labels[slot];
        let first = labels[..slot].iter().rposition(|&other| other != label).map_or(0, |at| at + 1);
        let end =
            labels[slot..].iter().position(|&other| other != label).map_or(labels.len(), |at| slot + at);
        first..end
    }

    /// What all rows weigh; `None` if nothing is weighed.
    fn weighed(&self, levels: &[u8]) -> Option<u128> {
        if self.weights.is_empty() {
            return None;
        }
        let slots = levels.iter().zip(&self.rows).enumerate();
        let weight = |(slot, (&level, &rows)): (usize, (&u8, &u64))| {
            u128::from(rows) * u128::from(self.weights[usize::from(level)][slot])
        };
        Some(slots.map(weight).sum())
    }

    fn sums(&self, levels: &[u8]) -> CellSums {
        let mut sums = CellSums::default();
        for (slot, &level) in levels.iter().enumerate() {
            let (level, rows) = (usize::from(level), u128::from(self.rows[slot]));
            sums.climbed += rows * u128::from(self.numbers[level]);
            sums.excess_leaves += rows * u128::from(self.excess_leaves[level][slot]);
        }
        sums
    }
}
