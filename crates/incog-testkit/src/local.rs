//! Top-Down local recoding, row by row on strings.
//!
//! Follows the text of `incog_core::algorithm::top_down` without cells, counters or bounds: every attribute of every
//! group is tried to the end. Slow, and shares nothing with the engine.

use std::collections::BTreeMap;

use crate::Sample;

/// Rows with their levels.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct LocalGroup {
    /// The level of each column.
    pub levels: Vec<u8>,
    /// The rows, ascending.
    pub rows: Vec<usize>,
}

/// What a policy looks at, and what it admits.
pub struct Rules<'a> {
    /// Does it count persons?
    pub persons: bool,
    /// Does it count illnesses?
    pub illnesses: bool,
    /// May these rows be a group?
    pub admits: &'a dyn Fn(&[usize]) -> bool,
}

/// A step that can be made.
struct PossibleStep {
    attribute: usize,
    branches: Vec<Vec<usize>>,
    parent: Vec<usize>,
}

/// Top-Down on a sample.
pub struct TopDown<'a> {
    sample: &'a Sample,
    rules: Rules<'a>,
    /// For each row and column, the label at every level.
    paths: Vec<Vec<&'a [String]>>,
}

impl<'a> TopDown<'a> {
    /// Prepares the reference.
    pub fn new(sample: &'a Sample, rules: Rules<'a>) -> Self {
        let path = |row_idx: usize, column: &'a crate::SampleColumn| {
            column.hierarchy.iter().find(|path| path[0] == column.cells[row_idx]).unwrap().as_slice()
        };
        let paths = (0..sample.n_rows())
            .map(|row_idx| sample.columns.iter().map(|column| path(row_idx, column)).collect())
            .collect();
        TopDown { sample, rules, paths }
    }

    /// All groups in the end, sorted; `None` if more than `budget` rows are refused at the top.
    pub fn run(&self, budget: usize) -> Option<Vec<LocalGroup>> {
        let top = self.sample.heights();
        let mut groups: BTreeMap<Vec<&str>, Vec<usize>> = BTreeMap::new();
        for row_idx in 0..self.sample.n_rows() {
            groups.entry(self.labels(row_idx, &top)).or_default().push(row_idx);
        }
        let mut waiting: Vec<LocalGroup> =
            groups.into_values().map(|rows| LocalGroup { levels: top.clone(), rows }).collect();
        let n_rows = |groups: &[LocalGroup]| groups.iter().map(|group| group.rows.len()).sum::<usize>();
        let n_before = n_rows(&waiting);
        waiting.retain(|group| (self.rules.admits)(&group.rows));
        if n_before - n_rows(&waiting) > budget {
            return None;
        }
        let mut finished: BTreeMap<(Vec<u8>, Vec<&str>), LocalGroup> = BTreeMap::new();
        while !waiting.is_empty() {
            let mut joined = BTreeMap::new();
            for mut group in self.descend(waiting) {
                let name = (group.levels.clone(), self.labels(group.rows[0], &group.levels));
                match finished.remove(&name).or_else(|| joined.remove(&name)) {
                    None => finished.insert(name, group),
                    Some(LocalGroup { rows, .. }) => {
                        group.rows.extend(rows);
                        group.rows.sort_unstable();
                        joined.insert(name, group)
                    }
                };
            }
            waiting = joined.into_values().collect();
        }
        let mut groups: Vec<LocalGroup> = finished.into_values().collect();
        groups.sort();
        Some(groups)
    }

    /// Could the group be specialized, by any attribute?
    pub fn can_be_specialized(&self, group: &LocalGroup) -> bool {
        (0..group.levels.len())
            .any(|attribute| group.levels[attribute] > 0 && self.step(group, attribute).is_some())
    }

    fn labels(&self, row_idx: usize, levels: &[u8]) -> Vec<&'a str> {
        let label = |(path, &level): (&&'a [String], &u8)| path[usize::from(level)].as_str();
        self.paths[row_idx].iter().zip(levels).map(label).collect()
    }

    fn descend(&self, mut waiting: Vec<LocalGroup>) -> Vec<LocalGroup> {
        let mut finished = Vec::new();
        while let Some(mut group) = waiting.pop() {
            // Steps with one branch first: nothing specializes more rows into fewer branches.
            for attribute in 0..group.levels.len() {
                while group.levels[attribute] > 0 && self.branches(&group, attribute).len() == 1 {
                    group.levels[attribute] -= 1;
                }
            }
            let steps = (0..group.levels.len())
                .filter(|&attribute| group.levels[attribute] > 0)
                .filter_map(|attribute| self.step(&group, attribute));
            // The first of equals is taken by `min_by_key`.
            let Some(best) = steps.min_by_key(|made| (made.parent.len(), made.branches.len())) else {
                finished.push(group);
                continue;
            };
            let mut levels = group.levels.clone();
            levels[best.attribute] -= 1;
            let branches = best.branches.into_iter();
            waiting.extend(branches.map(|rows| LocalGroup { levels: levels.clone(), rows }));
            if !best.parent.is_empty() {
                waiting.push(LocalGroup { rows: best.parent, ..group });
            }
        }
        finished
    }

    /// The rows by their label one level down, in the order of the hierarchy.
    fn branches(&self, group: &LocalGroup, attribute: usize) -> Vec<Vec<usize>> {
        let level = usize::from(group.levels[attribute]) - 1;
        let hierarchy = &self.sample.columns[attribute].hierarchy;
        let mut branches: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for &row_idx in &group.rows {
            let label = &self.paths[row_idx][attribute][level];
            let position = hierarchy.iter().position(|path| path[level] == *label).unwrap();
            branches.entry(position).or_default().push(row_idx);
        }
        branches.into_values().collect()
    }

    fn admits(&self, rows: &[usize]) -> bool {
        !rows.is_empty() && (self.rules.admits)(rows)
    }

    /// The illness as the policy sees it.
    fn kind(&self, row_idx: usize) -> usize {
        let illnesses = &self.sample.illnesses;
        if !self.rules.illnesses {
            return 0;
        }
        // What nobody has is no illness, and comes after all.
        if self.rules.persons && self.sample.persons[row_idx].is_empty() {
            return usize::MAX;
        }
        illnesses.iter().position(|illness| *illness == illnesses[row_idx]).unwrap()
    }

    /// Would a row bring nobody new to others, where persons count?
    fn brings_nobody(&self, row_idx: usize, others: &[usize]) -> bool {
        let person = &self.sample.persons[row_idx];
        let is_there = others.iter().any(|&other| self.sample.persons[other] == *person);
        self.rules.persons && (person.is_empty() || is_there)
    }

    /// The first row of the table that nobody could tell from this one.
    fn cell(&self, row_idx: usize) -> usize {
        let is_same = |other: &usize| {
            self.paths[*other] == self.paths[row_idx]
                && self.kind(*other) == self.kind(row_idx)
                && (!self.rules.persons || self.sample.persons[*other] == self.sample.persons[row_idx])
        };
        (0..self.sample.n_rows()).find(is_same).unwrap()
    }

    /// By how many other attributes could the row be specialized?
    fn depth(&self, group: &LocalGroup, attribute: usize, row_idx: usize) -> usize {
        (0..group.levels.len())
            .filter(|&other| other != attribute && group.levels[other] > 0)
            .filter(|&other| {
                let branches = self.branches(group, other);
                self.admits(branches.iter().find(|rows| rows.contains(&row_idx)).unwrap())
            })
            .count()
    }

    fn step(&self, group: &LocalGroup, attribute: usize) -> Option<PossibleStep> {
        let (mut kept, refused): (Vec<_>, Vec<_>) =
            self.branches(group, attribute).into_iter().partition(|rows| self.admits(rows));
        let mut parent = refused.concat();
        if !parent.is_empty() && !kept.is_empty() && !self.admits(&parent) {
            self.repair(group, attribute, &mut kept, &mut parent);
        }
        if kept.is_empty() {
            return None;
        }
        // Of equal rows the latest are at the parent.
        for branch in &mut kept {
            let mut by_cell: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
            for &row_idx in &group.rows {
                if branch.iter().any(|other| self.cell(*other) == self.cell(row_idx)) {
                    by_cell.entry(self.cell(row_idx)).or_default().push(row_idx);
                }
            }
            for rows in by_cell.into_values() {
                let n_kept = branch.iter().filter(|row_idx| rows.contains(row_idx)).count();
                branch.retain(|row_idx| !rows.contains(row_idx));
                branch.extend(&rows[..n_kept]);
            }
            branch.sort_unstable();
        }
        let stays = |row_idx: &usize| !kept.iter().any(|rows| rows.contains(row_idx));
        let parent = group.rows.iter().copied().filter(stays).collect();
        Some(PossibleStep { attribute, branches: kept, parent })
    }

    fn repair(
        &self,
        group: &LocalGroup,
        attribute: usize,
        kept: &mut Vec<Vec<usize>>,
        parent: &mut Vec<usize>,
    ) {
        // Queues by illness, the best row to take back first.
        let mut queues: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for &row_idx in kept.iter().flatten() {
            queues.entry(self.kind(row_idx)).or_default().push(row_idx);
        }
        let goodness = |row_idx: usize| {
            (self.depth(group, attribute, row_idx), usize::MAX - self.cell(row_idx), usize::MAX - row_idx)
        };
        for queue in queues.values_mut() {
            queue.sort_by_key(|&row_idx| goodness(row_idx));
        }
        let mut taken: Vec<usize> = Vec::new();
        let without = |rows: &[usize], row_idx: usize| -> Vec<usize> {
            rows.iter().copied().filter(|&other| other != row_idx).collect()
        };
        loop {
            // Drops rows from the front of a queue that cannot go back; returns the first that can.
            let front = |queue: &mut Vec<usize>, kept: &[Vec<usize>], parent: &[usize]| {
                while let Some(&row_idx) = queue.first() {
                    let branch = kept.iter().find(|rows| rows.contains(&row_idx)).unwrap();
                    if !self.brings_nobody(row_idx, parent) && self.admits(&without(branch, row_idx)) {
                        return Some(row_idx);
                    }
                    queue.remove(0);
                }
                None
            };
            let share = |kind: usize, parent: &[usize]| {
                let count =
                    |rows: &[usize]| rows.iter().filter(|&&row_idx| self.kind(row_idx) == kind).count();
                // As a number that can be compared: no two fractions of such small numbers are nearer.
                ((count(parent) + 1) << 32) / count(&group.rows)
            };
            let mut tried: Vec<usize> =
                queues.iter().filter(|(_, queue)| !queue.is_empty()).map(|(&kind, _)| kind).collect();
            tried.sort_by_key(|&kind| (share(kind, parent), kind));
            tried.truncate(32);
            let mut next: Option<usize> = None;
            for kind in tried {
                let queue = queues.get_mut(&kind).unwrap();
                // With a row of somebody who is not at the parent; which one does not matter.
                let Some(&some_row) = queue.iter().find(|&&row_idx| !self.brings_nobody(row_idx, parent))
                else {
                    continue;
                };
                if self.admits(&[parent.as_slice(), &[some_row]].concat()) {
                    let candidate = front(queue, kept, parent);
                    next = [next, candidate].into_iter().flatten().min_by_key(|&row_idx| goodness(row_idx));
                }
            }
            while next.is_none() {
                let waiting = queues.iter().filter(|(_, queue)| !queue.is_empty()).map(|(&kind, _)| kind);
                let least = waiting.min_by_key(|&kind| (share(kind, parent), kind));
                let Some(kind) = least else { break };
                next = front(queues.get_mut(&kind).unwrap(), kept, parent);
            }
            let Some(row_idx) = next else { break };
            let branch = kept.iter_mut().find(|rows| rows.contains(&row_idx)).unwrap();
            *branch = without(branch, row_idx);
            parent.push(row_idx);
            taken.push(row_idx);
            for queue in queues.values_mut() {
                queue.retain(|&other| other != row_idx);
            }
            if self.admits(parent) {
                return;
            }
        }
        // Whole branches, smallest first; of equals the last.
        while !kept.is_empty() && !self.admits(parent) {
            let at = (0..kept.len()).min_by_key(|&at| (kept[at].len(), kept.len() - at)).unwrap();
            parent.extend(kept.remove(at));
        }
        // Which of the rows taken are not needed?
        for &row_idx in taken.iter().rev() {
            let level = usize::from(group.levels[attribute]) - 1;
            let label = |row_idx: usize| &self.paths[row_idx][attribute][level];
            let Some(branch) = kept.iter_mut().find(|rows| label(rows[0]) == label(row_idx)) else {
                continue;
            };
            let rest = without(parent, row_idx);
            let more = [branch.as_slice(), &[row_idx]].concat();
            if self.admits(&rest) && self.admits(&more) {
                *parent = rest;
                *branch = more;
            }
        }
    }
}
