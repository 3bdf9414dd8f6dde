//! Greedy specialization: from some cut through the trees downwards, one label after the other.
//!
//! A step takes a label of one attribute that the cut goes through and replaces it by its children, for everything below
//! it. It is possible if the policy holds then, with what is refused left out; it is wanted if the metric is better then,
//! or no worse and no group is split (below a label with a single child there may be more to gain).
//!
//! Which of the wanted steps? A step spends privacy by splitting groups. The entropy of the split, Σ rows · ln(group/part),
//! says how much: it adds up over steps, and no recoding with groups of at least k rows can spend more than n · ln(n/k).
//! So the step with the greatest gain *per entropy* is taken ([`StepOrder::PerEntropy`]); or simply that with the greatest
//! gain ([`StepOrder::Gain`]). Neither is always better.
//!
//! Cells, not rows, are looked at, and only those below the label. Where [pruning](crate::privacy::Policy::pruning) is
//! sound, a step that the policy refuses once it refuses for ever. Cost: for each step, at most one pass over the cells a
//! attribute, over all labels that can still be specialized.

use std::ops::Range;

use rayon::prelude::*;

use crate::algorithm::single::Aim;
use crate::error::Result;
use crate::group::Measures;
use crate::judge::Problem;
use crate::metric::Statistics;
use crate::privacy::Pruning;
use crate::progress::Progress;
use crate::recoding::{Levels, Sums, ValueDomain, ValueTable};

/// Which step comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StepOrder {
    /// The one that gains most.
    Gain,
    /// The one that gains most for the privacy that it spends.
    PerEntropy,
}

pub(super) struct Descent<'a> {
    problem: Problem<'a>,
    values: &'a ValueTable,
    aim: Aim<'a>,
    progress: &'a Progress,
    /// For each attribute, the cells in the order of their slots, and where each slot's begin.
    cells_by_slot: Vec<(Vec<u32>, Vec<usize>)>,
    /// Does a label of the attribute stand for other values than all labels that are written otherwise?
    is_plain: Vec<bool>,
    /// Do the cells of a group have the same labels? In a cut they do where all attributes are plain.
    has_plain_groups: bool,
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
    /// What becomes of the groups below the label.
    parts: Vec<Part>,
}

/// The records of a group that are below one child.
#[derive(Debug, Clone, Copy)]
struct Part {
    group: u32,
    rows: u64,
    /// One of its cells.
    cell: u32,
    is_refused: bool,
}

enum Tried {
    Wanted(Box<Step>),
    /// The policy refuses.
    Refused,
    /// The metric does.
    Unwanted,
}

/// A number for each group, 0 between uses.
#[derive(Default)]
struct Scratch(Vec<u64>);

impl Scratch {
    fn of_groups(&mut self, n_groups: usize) -> &mut [u64] {
        if self.0.len() < n_groups {
            self.0.resize(n_groups, 0);
        }
        &mut self.0
    }
}

impl<'a> Descent<'a> {
    pub(super) fn new(
        problem: Problem<'a>,
        values: &'a ValueTable,
        aim: Aim<'a>,
        progress: &'a Progress,
    ) -> Self {
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
        let is_plain: Vec<bool> = values.domains.iter().map(ValueDomain::is_plain).collect();
        Descent {
            problem,
            values,
            aim,
            progress,
            cells_by_slot: values.domains.iter().enumerate().map(sorted).collect(),
            has_plain_groups: is_plain.iter().all(|&is_plain| is_plain),
            is_plain,
            judges_groups_alone: problem.policy.budget() == 0 || !problem.policy.compares(),
        }
    }

    /// Specializes from `start` as long as it gains. `None` if the policy refuses the start.
    pub(super) fn run(&self, start: Levels, order: StepOrder) -> Result<Option<(Levels, Statistics)>> {
        let Some(mut state) = self.state(start)? else { return Ok(None) };
        let mut labels = self.labels(&state.levels);
        let forgets = self.problem.policy.pruning() == Pruning::Sound && self.has_plain_groups;
        while !labels.is_empty() {
            self.progress.check()?;
            let tried: Vec<Tried> = labels
                .par_iter()
                .map_init(Scratch::default, |scratch, label| self.attempt(&state, label, scratch))
                .collect::<Result<_>>()?;
            let worth = |step: &Step| match order {
                StepOrder::Gain => step.gain,
                StepOrder::PerEntropy if step.spent == 0.0 => f64::INFINITY,
                StepOrder::PerEntropy => step.gain / step.spent,
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

    /// The cells below each child of a label, those of small children first: these are refused most often.
    fn cells_of_children(&self, label: &Label) -> Vec<&[u32]> {
        let Label { attribute, level, slots } = label;
        let below = &self.values.domains[*attribute].labels[usize::from(*level) - 1][slots.clone()];
        let (cells, starts) = &self.cells_by_slot[*attribute];
        let mut slot = slots.start;
        let mut children: Vec<&[u32]> = below
            .chunk_by(|a, b| a == b)
            .map(|child| {
                slot += child.len();
                &cells[starts[slot - child.len()]..starts[slot]]
            })
            .collect();
        children.sort_by_key(|cells| cells.len());
        children
    }

    /// What would specializing a label do?
    fn attempt(&self, state: &State, label: &Label, scratch: &mut Scratch) -> Result<Tried> {
        let (values, policy) = (self.values, self.problem.policy);
        let is_judged_alone = self.is_plain[label.attribute] && self.judges_groups_alone;
        let counts_rows = values.set.measures().is_rows_only();
        let children = self.cells_of_children(label);
        let mut parts: Vec<Part> = Vec::new();
        let mut refused_rows = 0;
        for cells in &children {
            let first = parts.len();
            self.count_parts(state, cells, scratch, &mut parts);
            if is_judged_alone && counts_rows {
                refused_rows += self.judge_by_rows(&mut parts[first..])?;
                if refused_rows > policy.budget() {
                    return Ok(Tried::Refused);
                }
            }
        }
        // The entropy of the split: only meant as an estimate where texts are not plain.
        let spent: f64 = parts
            .iter()
            .filter(|part| part.rows < state.rows[part.group as usize])
            .map(|part| part.rows as f64 * (state.rows[part.group as usize] as f64 / part.rows as f64).ln())
            .sum();

        let sums = if is_judged_alone {
            if !counts_rows && !self.judge_parts(state, &children, scratch, &mut parts)? {
                return Ok(Tried::Refused);
            }
            self.sums(state, label, &children, &parts, scratch)
        } else {
            let mut finer = state.levels.clone();
            finer[label.attribute][label.slots.clone()].fill(label.level - 1);
            let judged = values.judge(self.problem, &finer)?;
            if !judged.holds {
                return Ok(Tried::Refused);
            }
            judged.sums
        };
        if sums.suppressed_rows > policy.budget() {
            return Ok(Tried::Refused);
        }
        let statistics = Statistics::of_sums(sums.clone());
        match self.aim.compare(&statistics, &state.statistics) {
            std::cmp::Ordering::Less => {}
            std::cmp::Ordering::Equal if spent == 0.0 => {}
            _ => return Ok(Tried::Unwanted),
        }
        let gain = self.aim.cost(&state.statistics) - self.aim.cost(&statistics);
        Ok(Tried::Wanted(Box::new(Step { sums, statistics, gain, spent, parts })))
    }

    /// The parts of groups that some cells make up.
    fn count_parts(&self, state: &State, cells: &[u32], scratch: &mut Scratch, parts: &mut Vec<Part>) {
        let rows = self.values.rows();
        let counted = scratch.of_groups(state.rows.len());
        let first = parts.len();
        for &cell in cells {
            let group = state.group_of[cell as usize];
            let known = &mut counted[group as usize];
            if *known == 0 {
                parts.push(Part { group, rows: 0, cell, is_refused: false });
            }
            *known += rows[cell as usize];
        }
        for part in &mut parts[first..] {
            part.rows = std::mem::take(&mut counted[part.group as usize]);
        }
    }

    /// Judges parts by nothing but their rows; the rows of those that are refused.
    fn judge_by_rows(&self, parts: &mut [Part]) -> Result<u64> {
        let measures = Measures::of_rows(parts.iter().map(|part| part.rows).collect());
        let mut refused_rows = 0;
        for (part, group) in parts.iter_mut().zip(measures.groups()) {
            part.is_refused = !self.problem.policy.admits(group)?;
            refused_rows += if part.is_refused { part.rows } else { 0 };
        }
        Ok(refused_rows)
    }

    /// Judges parts by all that the policy looks at. Are those that are refused within the budget?
    fn judge_parts(
        &self,
        state: &State,
        children: &[&[u32]],
        scratch: &mut Scratch,
        parts: &mut [Part],
    ) -> Result<bool> {
        let policy = self.problem.policy;
        let rows = parts.iter().map(|part| part.rows).collect();
        let part_of = part_of_cells(state, children, parts, scratch);
        let measures = self.values.set.measures().merge_some(rows, &children.concat(), &part_of);
        let mut refused_rows = 0;
        for (part, group) in parts.iter_mut().zip(measures.groups()) {
            part.is_refused = !policy.admits(group)?;
            refused_rows += if part.is_refused { part.rows } else { 0 };
            if refused_rows > policy.budget() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The sums after a step whose parts are judged. Every group that the label is in is whole below it.
    fn sums(
        &self,
        state: &State,
        label: &Label,
        children: &[&[u32]],
        parts: &[Part],
        scratch: &mut Scratch,
    ) -> Sums {
        let mut sums = Sums { smallest_group: None, ..state.sums.clone() };
        let mut has_refused = false;
        let is_counted = scratch.of_groups(state.rows.len());
        for part in parts {
            let was_refused = state.is_refused[part.group as usize];
            has_refused |= part.is_refused || was_refused;
            let before = state.rows[part.group as usize];
            // Each group counts once, at its first part.
            if std::mem::replace(&mut is_counted[part.group as usize], 1) == 0 {
                if was_refused {
                    sums.suppressed_rows -= before;
                } else {
                    sums.n_groups -= 1;
                    sums.sum_of_squares -= u128::from(before) * u128::from(before);
                }
            }
            if part.is_refused {
                sums.suppressed_rows += part.rows;
            } else {
                sums.n_groups += 1;
                sums.sum_of_squares += u128::from(part.rows) * u128::from(part.rows);
            }
        }
        parts.iter().for_each(|part| is_counted[part.group as usize] = 0);
        if !has_refused {
            let rows = &self.values.domains[label.attribute].rows;
            label.slots.clone().for_each(|slot| self.lower(&mut sums, label, slot, rows[slot]));
        } else if self.has_plain_groups {
            parts.iter().for_each(|part| self.change_sums(&mut sums, state, label, *part));
        } else {
            let part_of = part_of_cells(state, children, parts, scratch);
            for (cell, part) in children.concat().into_iter().zip(part_of) {
                let rows = self.values.rows()[cell as usize];
                self.change_sums(&mut sums, state, label, Part { cell, rows, ..parts[part as usize] });
            }
        }
        sums
    }

    /// What becomes of the cells of a part, which all have the same labels: released ones go down in one attribute, others
    /// go in or out of the sums.
    fn change_sums(&self, sums: &mut Sums, state: &State, label: &Label, part: Part) {
        let Part { group, rows, cell, is_refused } = part;
        let (cell, was_refused) = (cell as usize, state.is_refused[group as usize]);
        if !was_refused && is_refused {
            self.values.change_sums(sums, &state.levels, cell, rows, |sum, part| *sum -= part);
        }
        if was_refused && !is_refused {
            self.values.change_sums(sums, &state.levels, cell, rows, |sum, part| *sum += part);
        }
        if !is_refused {
            self.lower(sums, label, self.values.slots[label.attribute][cell] as usize, rows);
        }
    }

    /// Takes rows of a slot down from a label to its child.
    fn lower(&self, sums: &mut Sums, label: &Label, slot: usize, rows: u64) {
        let domain = &self.values.domains[label.attribute];
        let (level, down) = (usize::from(label.level), usize::from(label.level) - 1);
        let (of, rows) = (&mut sums.cells[label.attribute], u128::from(rows));
        of.climbed -= rows * u128::from(domain.numbers[level] - domain.numbers[down]);
        of.excess_leaves -=
            rows * u128::from(domain.excess_leaves[level][slot] - domain.excess_leaves[down][slot]);
        if let Some(sum) = sums.weighed.get_mut(label.attribute) {
            *sum -= rows * u128::from(domain.weights[level][slot] - domain.weights[down][slot]);
        }
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
        let children = self.cells_of_children(label);
        let part_of = part_of_cells(state, &children, &step.parts, &mut Scratch::default());
        // The first part of a group keeps its number.
        let mut is_taken = vec![false; state.rows.len()];
        let mut numbers = Vec::with_capacity(step.parts.len());
        for Part { group, rows, is_refused, .. } in step.parts {
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
        for (cell, part) in children.into_iter().flatten().zip(part_of) {
            state.group_of[*cell as usize] = numbers[part as usize];
        }
        state.sums = step.sums;
        state.statistics = step.statistics;
        Ok(())
    }
}

/// The part of each cell, child by child. `parts` are in the order in which the cells show them.
fn part_of_cells(state: &State, children: &[&[u32]], parts: &[Part], scratch: &mut Scratch) -> Vec<u32> {
    let known = scratch.of_groups(state.rows.len());
    let mut part_of = Vec::with_capacity(children.iter().map(|cells| cells.len()).sum());
    let mut n_parts = 0;
    for cells in children {
        let first = n_parts;
        for &cell in *cells {
            let number = &mut known[state.group_of[cell as usize] as usize];
            if *number == 0 {
                n_parts += 1;
                *number = n_parts;
            }
            part_of.push(*number as u32 - 1);
        }
        parts[first as usize..n_parts as usize].iter().for_each(|part| known[part.group as usize] = 0);
    }
    part_of
}
