//! Greedy specialization: from some cut through the trees downwards, one label after the other.
//!
//! A step takes a label of one attribute that the cut goes through and replaces it by its children, for everything below
//! it. It is possible if the policy holds then, with what is refused left out; it is wanted if the metric is better then,
//! or no worse and no group is split (below a label with a single child there may be more to gain).
//!
//! Which of the wanted steps? A step spends privacy by splitting groups. The entropy of the split, Σ rows · ln(group/part),
//! says how much: it adds up over steps, and no recoding with groups of at least k rows can spend more than n · ln(n/k).
//! So the step with the greatest gain *per entropy* is taken ([`Order::PerEntropy`]); or simply that with the greatest
//! gain ([`Order::Gain`]). Neither is always better.
//!
//! Cells, not rows, are looked at, and only those below the label. Where [pruning](crate::privacy::Policy::pruning) is
//! sound, a step that the policy refuses once it refuses for ever. Cost: for each step, at most one pass over the cells a
//! attribute, over all labels that can still be specialized.

use std::ops::Range;

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::algorithm::single::Aim;
use crate::check::Problem;
use crate::error::Result;
use crate::group::Measures;
use crate::metric::Statistics;
use crate::privacy::Pruning;
use crate::recoding::{Levels, Sums, ValueDomain, ValueTable};
use crate::watch::Watch;

/// Which step comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// The one that gains most.
    Gain,
    /// The one that gains most for the privacy that it spends.
    PerEntropy,
}

pub(super) struct Descent<'a> {
    problem: Problem<'a>,
    values: &'a ValueTable,
    aim: Aim<'a>,
    watch: &'a Watch,
    /// For each attribute, the cells in the order of their slots, and where each slot's begin.
    cells_by_slot: Vec<(Vec<u32>, Vec<usize>)>,
    /// Does a label of the attribute stand for other values than all labels that are written otherwise?
    is_plain: Vec<bool>,
    /// Can groups be judged one by one?
    judges_groups_alone: bool,
}

/// Where a descent is.
struct State {
    levels: Levels,
    group_of: Vec<u32>,
    rows: Vec<u64>,
    is_refused: Vec<bool>,
    sums: Sums,
    statistics: Statistics,
}

/// A label that could be specialized.
#[derive(Debug, Clone)]
struct Label {
    attribute: usize,
    level: u8,
    slots: Range<usize>,
}

/// What specializing a label would do.
struct Step {
    sums: Sums,
    statistics: Statistics,
    gain: f64,
    /// The entropy of the split.
    spent: f64,
    /// What becomes of groups: (group, rows, is it refused?), a part for each child.
    parts: Vec<(u32, u64, bool)>,
    /// The part of each cell below the label.
    part_of: Vec<u32>,
}

enum Tried {
    Wanted(Box<Step>),
    /// The policy refuses.
    Refused,
    /// The metric does.
    Unwanted,
}

/// Where a (group, child) pair has its part.
#[derive(Default)]
struct Scratch {
    dense: Vec<u32>,
    sparse: FxHashMap<u64, u32>,
}

/// Tables of parts with more entries are hashed.
const MAX_DENSE: usize = 1 << 22;

impl<'a> Descent<'a> {
    pub(super) fn new(problem: Problem<'a>, values: &'a ValueTable, aim: Aim<'a>, watch: &'a Watch) -> Self {
        let sorted = |(at, domain): (usize, &ValueDomain)| {
            let slots = &values.slots[at];
            let mut starts = vec![0; domain.rows.len() + 1];
            for &slot in slots {
                starts[slot as usize + 1] += 1;
            }
            for slot in 0..domain.rows.len() {
                starts[slot + 1] += starts[slot];
            }
            let mut next = starts.clone();
            let mut cells = vec![0; slots.len()];
            for (&slot, cell) in slots.iter().zip(0..) {
                cells[next[slot as usize]] = cell;
                next[slot as usize] += 1;
            }
            (cells, starts)
        };
        Descent {
            problem,
            values,
            aim,
            watch,
            cells_by_slot: values.domains.iter().enumerate().map(sorted).collect(),
            is_plain: values.domains.iter().map(ValueDomain::is_plain).collect(),
            judges_groups_alone: problem.policy.budget() == 0 || !problem.policy.compares(),
        }
    }

    /// Specializes from `start` as long as it gains. `None` if the policy refuses the start.
    pub(super) fn run(&self, start: Levels, order: Order) -> Result<Option<(Levels, Statistics)>> {
        let Some(mut state) = self.state(start)? else { return Ok(None) };
        let mut labels = self.labels(&state.levels);
        let forgets =
            self.problem.policy.pruning() == Pruning::Sound && self.is_plain.iter().all(|&is_plain| is_plain);
        while !labels.is_empty() {
            self.watch.check()?;
            let tried: Vec<Tried> = labels
                .par_iter()
                .map_init(Scratch::default, |scratch, label| self.attempt(&state, label, scratch))
                .collect::<Result<_>>()?;
            let worth = |step: &Step| match order {
                Order::Gain => step.gain,
                Order::PerEntropy if step.spent == 0.0 => f64::INFINITY,
                Order::PerEntropy => step.gain / step.spent,
            };
            let mut best: Option<(usize, Box<Step>)> = None;
            let mut keep = Vec::with_capacity(labels.len());
            for (at, tried) in tried.into_iter().enumerate() {
                keep.push(!(forgets && matches!(tried, Tried::Refused)));
                if let Tried::Wanted(step) = tried
                    && best.as_ref().is_none_or(|(_, best)| worth(&step) > worth(best))
                {
                    best = Some((at, step));
                }
            }
            let Some((chosen, step)) = best else { break };
            let label = labels[chosen].clone();
            keep[chosen] = false;
            let mut keep = keep.into_iter();
            labels.retain(|_| keep.next() == Some(true));
            self.apply(&mut state, &label, *step)?;
            labels.extend(self.children(&label));
            labels.sort_by_key(|label| (label.attribute, label.slots.start));
        }
        debug_assert_eq!(
            Some(Sums { smallest_group: None, ..state.sums.clone() }),
            self.state(state.levels.clone())?.map(|known| Sums { smallest_group: None, ..known.sums }),
            "sums that were kept up to date are those of the recoding"
        );
        Ok(Some((state.levels, state.statistics)))
    }

    fn state(&self, levels: Levels) -> Result<Option<State>> {
        let judged = self.values.judge(self.problem, &levels)?;
        if !judged.holds {
            return Ok(None);
        }
        let mut rows = vec![0; judged.is_refused.len()];
        for (&group, &n) in judged.group_of.iter().zip(self.values.rows()) {
            rows[group as usize] += n;
        }
        Ok(Some(State {
            levels,
            group_of: judged.group_of,
            rows,
            is_refused: judged.is_refused,
            statistics: Statistics::of_sums(judged.sums.clone()),
            sums: judged.sums,
        }))
    }

    /// The labels of a cut that have something below them.
    fn labels(&self, levels: &Levels) -> Vec<Label> {
        let mut labels = Vec::new();
        for (attribute, levels) in levels.iter().enumerate() {
            let mut slot = 0;
            while slot < levels.len() {
                let level = levels[slot];
                let slots = self.values.domains[attribute].subtree(level, slot);
                slot = slots.end;
                if level > 0 {
                    labels.push(Label { attribute, level, slots });
                }
            }
        }
        labels
    }

    /// The labels below a label that have something below them themselves.
    fn children(&self, label: &Label) -> Vec<Label> {
        let mut children = Vec::new();
        let mut slot = label.slots.start;
        while label.level > 1 && slot < label.slots.end {
            let slots = self.values.domains[label.attribute].subtree(label.level - 1, slot);
            slot = slots.end;
            children.push(Label { attribute: label.attribute, level: label.level - 1, slots });
        }
        children
    }

    /// What would specializing a label do?
    fn attempt(&self, state: &State, label: &Label, scratch: &mut Scratch) -> Result<Tried> {
        let (values, policy) = (self.values, self.problem.policy);
        let Label { attribute, level, slots } = label;
        let domain = &values.domains[*attribute];
        let below = &domain.labels[usize::from(*level) - 1][slots.clone()];
        // Which child each slot is below.
        let mut child = 0;
        let children: Vec<u32> = (0..below.len())
            .map(|at| {
                child += u32::from(at > 0 && below[at] != below[at - 1]);
                child
            })
            .collect();
        let n_children = child as usize + 1;
        let (cells, starts) = &self.cells_by_slot[*attribute];
        let cells = &cells[starts[slots.start]..starts[slots.end]];

        let mut parts: Vec<(u32, u64, bool)> = Vec::new();
        let mut keys: Vec<usize> = Vec::new();
        let mut part_of = Vec::with_capacity(cells.len());
        let is_dense = state.rows.len().saturating_mul(n_children) <= MAX_DENSE;
        if is_dense && scratch.dense.len() < state.rows.len() * n_children {
            scratch.dense.resize(state.rows.len() * n_children, u32::MAX);
        }
        scratch.sparse.clear();
        for &cell in cells {
            let group = state.group_of[cell as usize];
            let slot = values.slots[*attribute][cell as usize] as usize;
            let key = group as usize * n_children + children[slot - slots.start] as usize;
            let part = if is_dense {
                &mut scratch.dense[key]
            } else {
                scratch.sparse.entry(key as u64).or_insert(u32::MAX)
            };
            if *part == u32::MAX {
                *part = parts.len() as u32;
                parts.push((group, 0, false));
                keys.push(key);
            }
            parts[*part as usize].1 += values.rows()[cell as usize];
            part_of.push(*part);
        }
        if is_dense {
            keys.iter().for_each(|&key| scratch.dense[key] = u32::MAX);
        }
        // The entropy of the split: only meant as an estimate where texts are not plain.
        let spent: f64 = parts
            .iter()
            .filter(|&&(group, rows, _)| rows < state.rows[group as usize])
            .map(|&(group, rows, _)| rows as f64 * (state.rows[group as usize] as f64 / rows as f64).ln())
            .sum();

        let mut levels = None;
        let sums = if self.is_plain[*attribute] && self.judges_groups_alone {
            let rows: Vec<u64> = parts.iter().map(|&(_, rows, _)| rows).collect();
            let measures = if values.set.measures().is_rows_only() {
                Measures::of_rows(rows)
            } else {
                values.set.measures().merge_some(rows, cells, &part_of)
            };
            let mut refused_rows = 0;
            for (part, group) in parts.iter_mut().zip(measures.groups()) {
                part.2 = !policy.admits(group)?;
                refused_rows += if part.2 { part.1 } else { 0 };
                if refused_rows > policy.budget() {
                    return Ok(Tried::Refused);
                }
            }
            self.sums(state, label, cells, &parts, &part_of)
        } else {
            let mut finer = state.levels.clone();
            finer[*attribute][slots.clone()].fill(level - 1);
            let judged = values.judge(self.problem, &finer)?;
            levels = Some(judged.holds);
            judged.sums
        };
        if sums.suppressed_rows > policy.budget() || levels == Some(false) {
            return Ok(Tried::Refused);
        }
        let statistics = Statistics::of_sums(sums.clone());
        match self.aim.compare(&statistics, &state.statistics) {
            std::cmp::Ordering::Less => {}
            std::cmp::Ordering::Equal if spent == 0.0 => {}
            _ => return Ok(Tried::Unwanted),
        }
        let gain = self.aim.cost(&state.statistics) - self.aim.cost(&statistics);
        Ok(Tried::Wanted(Box::new(Step { sums, statistics, gain, spent, parts, part_of })))
    }

    /// The sums after a step whose parts are judged. Every group that the label is in is whole below it.
    fn sums(
        &self,
        state: &State,
        label: &Label,
        cells: &[u32],
        parts: &[(u32, u64, bool)],
        part_of: &[u32],
    ) -> Sums {
        let mut sums = Sums { smallest_group: None, ..state.sums.clone() };
        let mut has_refused = false;
        // Each group counts once, at its first part: parts of one group need not stand together.
        let mut seen: FxHashMap<u32, ()> = FxHashMap::default();
        for &(group, rows, is_refused) in parts {
            let was_refused = state.is_refused[group as usize];
            has_refused |= is_refused || was_refused;
            let before = state.rows[group as usize];
            // A group that is not split is its own only part.
            if rows == before && is_refused == was_refused {
                continue;
            }
            if rows == before || seen.insert(group, ()).is_none() {
                if was_refused {
                    sums.suppressed_rows -= before;
                } else {
                    sums.n_groups -= 1;
                    sums.sum_of_squares -= u128::from(before) * u128::from(before);
                }
            }
            if is_refused {
                sums.suppressed_rows += rows;
            } else {
                sums.n_groups += 1;
                sums.sum_of_squares += u128::from(rows) * u128::from(rows);
            }
        }
        let Label { attribute, level, slots } = label;
        let domain = &self.values.domains[*attribute];
        let (level, down) = (usize::from(*level), usize::from(*level) - 1);
        if !has_refused {
            let of = &mut sums.cells[*attribute];
            for slot in slots.clone() {
                let rows = u128::from(domain.rows[slot]);
                of.climbed -= rows * u128::from(domain.numbers[level] - domain.numbers[down]);
                of.spread -= rows * u128::from(domain.spread[level][slot] - domain.spread[down][slot]);
            }
            return sums;
        }
        for (&cell, &part) in cells.iter().zip(part_of) {
            let (group, _, is_refused) = parts[part as usize];
            let (cell, was_refused) = (cell as usize, state.is_refused[group as usize]);
            if !was_refused {
                self.values.change_sums(&mut sums, &state.levels, cell, |sum, part| *sum -= part);
            }
            if !is_refused {
                self.values.change_sums(&mut sums, &state.levels, cell, |sum, part| *sum += part);
                let slot = self.values.slots[*attribute][cell] as usize;
                let rows = u128::from(self.values.rows()[cell]);
                let of = &mut sums.cells[*attribute];
                of.climbed -= rows * u128::from(domain.numbers[level] - domain.numbers[down]);
                of.spread -= rows * u128::from(domain.spread[level][slot] - domain.spread[down][slot]);
            }
        }
        sums
    }

    fn apply(&self, state: &mut State, label: &Label, step: Step) -> Result<()> {
        let Label { attribute, level, slots } = label;
        state.levels[*attribute][slots.clone()].fill(level - 1);
        if !self.is_plain[*attribute] || !self.judges_groups_alone {
            let levels = std::mem::take(&mut state.levels);
            if let Some(next) = self.state(levels)? {
                *state = next;
            }
            return Ok(());
        }
        // The first part of a group keeps its number.
        let mut is_taken = vec![false; state.rows.len()];
        let mut numbers = Vec::with_capacity(step.parts.len());
        for (group, rows, is_refused) in step.parts {
            let number = if is_taken[group as usize] {
                state.rows.push(0);
                state.is_refused.push(false);
                state.rows.len() as u32 - 1
            } else {
                is_taken[group as usize] = true;
                group
            };
            state.rows[number as usize] = rows;
            state.is_refused[number as usize] = is_refused;
            numbers.push(number);
        }
        let (cells, starts) = &self.cells_by_slot[*attribute];
        for (&cell, part) in cells[starts[slots.start]..starts[slots.end]].iter().zip(step.part_of) {
            state.group_of[cell as usize] = numbers[part as usize];
        }
        state.sums = step.sums;
        state.statistics = step.statistics;
        Ok(())
    }
}
