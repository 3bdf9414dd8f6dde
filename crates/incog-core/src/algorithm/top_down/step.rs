//! One step: specialize a group by one attribute, one level down.
//!
//! [`Step::best`] tries every attribute and says which is best; [`split`] does it. Nothing here depends on anything but
//! the group's own rows.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use crate::algorithm::top_down::ground::Ground;
use crate::error::Result;
use crate::group::{ChangingGroup, RowFacts};
use crate::privacy::Policy;

/// Rows with equal labels.
#[derive(Debug, Clone)]
pub(super) struct LocalGroup {
    /// The level of each attribute.
    pub(super) levels: Box<[u8]>,
    /// Sorted by cell, then by the first row.
    pub(super) parts: Vec<Part>,
}

/// Some rows of a cell: from its `first` to before its `end`, counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Part {
    pub(super) cell: u32,
    pub(super) first: u32,
    pub(super) end: u32,
}

impl Part {
    pub(super) fn rows(self) -> u32 {
        self.end - self.first
    }
}

impl LocalGroup {
    pub(super) fn rows(&self) -> u64 {
        self.parts.iter().map(|part| u64::from(part.rows())).sum()
    }

    /// Lowers every attribute as far as all rows agree. A step into a single branch specializes all rows and cannot be
    /// beaten, so all such steps are done at once.
    pub(super) fn lower(&mut self, ground: &Ground) {
        let Some((first, others)) = self.parts.split_first() else { return };
        for (attribute, level) in self.levels.iter_mut().enumerate() {
            while *level > 0 {
                let label = ground.label(first.cell, attribute, *level - 1);
                if others.iter().any(|part| ground.label(part.cell, attribute, *level - 1) != label) {
                    break;
                }
                *level -= 1;
            }
        }
    }

    /// The levels and labels: groups with equal names are one in the release.
    pub(super) fn name(&self, ground: &Ground) -> Box<[u32]> {
        let Some(part) = self.parts.first() else { return Box::default() };
        let levels = self.levels.iter().enumerate();
        levels.flat_map(|(at, &level)| [u32::from(level), ground.label(part.cell, at, level)]).collect()
    }
}

/// What a step does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Outcome {
    pub(super) attribute: usize,
    /// How many rows are specialized.
    rows: u64,
    /// The branches they are in, as positions among the children; ascending.
    branches: Vec<u32>,
    /// Parts of those branches whose last rows go back, with how many; ascending.
    taken: Vec<(u32, u32)>,
}

/// The memory of a worker, used again from step to step.
pub(super) struct Step<'a> {
    ground: &'a Ground,
    policy: &'a Policy,
    /// The branch of each child of the label that is specialized; [`NONE`] if no row is there.
    branch_of_child: Vec<u32>,
    branch_of_part: Vec<u32>,
    branches: Vec<Branch>,
    n_branches: usize,
    parent: ChangingGroup,
    /// For each attribute and child: would its branch be admitted?
    admitted: Vec<Vec<bool>>,
    /// How many rows of each part are taken back.
    taken: Vec<u32>,
}

const NONE: u32 = u32::MAX;

struct Branch {
    child: u32,
    is_kept: bool,
    group: ChangingGroup,
}

/// A part that could go back to the parent. The greatest goes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    depth: Reverse<u32>,
    lateness: u64,
    first: u32,
    part: u32,
}

/// The parts with equal sensitive values, in the order in which they go back.
struct Queue {
    /// A cell with these values.
    cell: u32,
    in_group: u64,
    at_parent: u64,
    candidates: BinaryHeap<Candidate>,
}

impl<'a> Step<'a> {
    pub(super) fn new(ground: &'a Ground, policy: &'a Policy) -> Self {
        let most_children = ground.trees.iter().map(|tree| tree.most_children).max().unwrap_or(0);
        Step {
            ground,
            policy,
            branch_of_child: vec![NONE; most_children],
            branch_of_part: Vec::new(),
            branches: Vec::new(),
            n_branches: 0,
            parent: ChangingGroup::new(&policy.demand()),
            admitted: ground.trees.iter().map(|tree| vec![false; tree.most_children]).collect(),
            taken: Vec::new(),
        }
    }

    /// The best step of a group that is [lowered](LocalGroup::lower): most rows specialized, then fewest branches, then
    /// least by `tie`. `None` if no attribute can be specialized.
    pub(super) fn best(&mut self, group: &LocalGroup, tie: impl Fn(usize) -> u64) -> Result<Option<Outcome>> {
        let mut best: Option<Outcome> = None;
        let mut to_repair: Vec<(Reverse<u64>, usize)> = Vec::new();
        let is_better = |outcome: &Outcome, best: &Option<Outcome>| {
            let rank = |outcome: &Outcome| {
                (Reverse(outcome.rows), outcome.branches.len(), tie(outcome.attribute), outcome.attribute)
            };
            best.as_ref().is_none_or(|best| rank(outcome) < rank(best))
        };
        for (attribute, &level) in group.levels.iter().enumerate() {
            if level == 0 {
                continue;
            }
            self.branch_out(group, attribute)?;
            for branch in &self.branches[..self.n_branches] {
                self.admitted[attribute][branch.child as usize] = branch.is_kept;
            }
            if self.branches[..self.n_branches].iter().all(|branch| !branch.is_kept) {
                continue;
            }
            self.collect_parent();
            let outcome = self.outcome(attribute);
            if self.parent.rows() == 0 || self.policy.admits(self.parent.group())? {
                if is_better(&outcome, &best) {
                    best = Some(outcome);
                }
            } else {
                // At least one row will have to go back.
                to_repair.push((Reverse(outcome.rows - 1), attribute));
            }
        }
        to_repair.sort_unstable();
        for (Reverse(at_most), attribute) in to_repair {
            if best.as_ref().is_some_and(|best| best.rows > at_most) {
                break;
            }
            self.branch_out(group, attribute)?;
            self.collect_parent();
            if let Some(outcome) = self.repair(group, attribute)? {
                if is_better(&outcome, &best) {
                    best = Some(outcome);
                }
            }
        }
        Ok(best)
    }

    /// Sorts the rows into branches and judges each.
    fn branch_out(&mut self, group: &LocalGroup, attribute: usize) -> Result<()> {
        let level = group.levels[attribute];
        self.n_branches = 0;
        self.branch_of_part.clear();
        for part in &group.parts {
            let child = self.ground.child(part.cell, attribute, level);
            let mut at = self.branch_of_child[child as usize];
            if at == NONE {
                at = self.n_branches as u32;
                self.branch_of_child[child as usize] = at;
                self.open_branch(child);
            }
            self.branch_of_part.push(at);
            self.branches[at as usize].group.push(self.ground.facts(part.cell), u64::from(part.rows()));
        }
        for branch in &mut self.branches[..self.n_branches] {
            self.branch_of_child[branch.child as usize] = NONE;
            branch.group.settle();
            branch.is_kept = self.policy.admits(branch.group.group())?;
        }
        Ok(())
    }

    fn open_branch(&mut self, child: u32) {
        if self.n_branches == self.branches.len() {
            let group = ChangingGroup::new(&self.policy.demand());
            self.branches.push(Branch { child, is_kept: false, group });
        }
        let branch = &mut self.branches[self.n_branches];
        branch.child = child;
        branch.group.clear();
        self.n_branches += 1;
    }

    /// The rows of refused branches go back to the parent.
    fn collect_parent(&mut self) {
        self.parent.clear();
        for branch in self.branches[..self.n_branches].iter().filter(|branch| !branch.is_kept) {
            self.parent.push_all(&branch.group);
        }
        self.parent.settle();
    }

    /// What the step does as things are now.
    fn outcome(&self, attribute: usize) -> Outcome {
        let kept = self.branches[..self.n_branches].iter().filter(|branch| branch.is_kept);
        let mut branches: Vec<u32> = kept.clone().map(|branch| branch.child).collect();
        branches.sort_unstable();
        Outcome { attribute, rows: kept.map(|branch| branch.group.rows()).sum(), branches, taken: Vec::new() }
    }

    /// Takes rows back until the parent is admitted. `None` if that takes all.
    fn repair(&mut self, group: &LocalGroup, attribute: usize) -> Result<Option<Outcome>> {
        self.taken.clear();
        self.taken.resize(group.parts.len(), 0);
        let mut order = Vec::new();
        if !self.take_spare_rows(group, attribute, &mut order)? {
            self.take_whole_branches()?;
            if self.branches[..self.n_branches].iter().all(|branch| !branch.is_kept) {
                return Ok(None);
            }
            self.give_back(group, &order)?;
        }
        let mut outcome = self.outcome(attribute);
        let mut first = 0;
        for same_cell in group.parts.chunk_by(|a, b| a.cell == b.cell) {
            let parts = first..first + same_cell.len();
            first = parts.end;
            let mut rows: u32 = self.taken[parts.clone()].iter().sum();
            if rows == 0 || !self.branches[self.branch_of_part[parts.start] as usize].is_kept {
                continue;
            }
            // Whichever were given back: of equal rows the latest stay at the parent.
            let from = outcome.taken.len();
            for part in parts.rev() {
                let taken = rows.min(group.parts[part].rows());
                rows -= taken;
                if taken > 0 {
                    outcome.taken.push((part as u32, taken));
                }
            }
            outcome.taken[from..].reverse();
        }
        Ok(Some(outcome))
    }

    /// Takes back rows that their branches can spare, noting the part of each in `order`. Is the parent admitted then?
    fn take_spare_rows(
        &mut self,
        group: &LocalGroup,
        attribute: usize,
        order: &mut Vec<u32>,
    ) -> Result<bool> {
        let mut queues = self.queues(group, attribute);
        loop {
            let mut next: Option<(Candidate, usize)> = None;
            let mut is_last = false;
            for (at, queue) in queues.iter_mut().enumerate() {
                if queue.candidates.is_empty() || !self.would_repair(queue.cell)? {
                    continue;
                }
                if let Some(candidate) = self.front(group, queue)? {
                    is_last = true;
                    if next.is_none_or(|(best, _)| candidate > best) {
                        next = Some((candidate, at));
                    }
                }
            }
            while next.is_none() {
                let waiting = queues.iter().enumerate().filter(|(_, queue)| !queue.candidates.is_empty());
                let Some(at) = waiting.min_by(|a, b| compare_shares(a.1, b.1)).map(|(at, _)| at) else {
                    return Ok(false);
                };
                next = self.front(group, &mut queues[at])?.map(|candidate| (candidate, at));
            }
            let Some((candidate, at)) = next else { return Ok(false) };
            let facts = self.ground.facts(group.parts[candidate.part as usize].cell);
            self.branches[self.branch_of_part[candidate.part as usize] as usize].group.remove(facts);
            self.parent.add(facts);
            self.taken[candidate.part as usize] += 1;
            queues[at].at_parent += 1;
            order.push(candidate.part);
            if is_last {
                return Ok(true);
            }
        }
    }

    /// The rows of branches that are kept, by their sensitive values.
    fn queues(&self, group: &LocalGroup, attribute: usize) -> Vec<Queue> {
        let mut queues = Vec::new();
        let parts: Vec<u32> = (0..group.parts.len() as u32).collect();
        let kind = |part: u32| self.ground.kinds[group.parts[part as usize].cell as usize];
        for alike in parts.chunk_by(|&a, &b| kind(a) == kind(b)) {
            let mut queue = Queue {
                cell: group.parts[alike[0] as usize].cell,
                in_group: 0,
                at_parent: 0,
                candidates: BinaryHeap::new(),
            };
            let mut candidates = Vec::new();
            for &at in alike {
                let part = group.parts[at as usize];
                queue.in_group += u64::from(part.rows());
                if self.branches[self.branch_of_part[at as usize] as usize].is_kept {
                    candidates.push(Candidate {
                        depth: Reverse(self.depth(group, attribute, part.cell)),
                        lateness: self.ground.lateness[part.cell as usize],
                        first: part.first,
                        part: at,
                    });
                } else {
                    queue.at_parent += u64::from(part.rows());
                }
            }
            queue.candidates = BinaryHeap::from(candidates);
            queues.push(queue);
        }
        queues
    }

    /// Look-ahead: by how many other attributes could the row be specialized?
    fn depth(&self, group: &LocalGroup, attribute: usize, cell: u32) -> u32 {
        let is_open = |at: usize, level: u8| self.admitted[at][self.ground.child(cell, at, level) as usize];
        let others = group.levels.iter().enumerate().filter(|&(at, &level)| at != attribute && level > 0);
        others.filter(|&(at, &level)| is_open(at, level)).count() as u32
    }

    /// Would one more row with these sensitive values be enough?
    fn would_repair(&mut self, cell: u32) -> Result<bool> {
        let facts = self.ground.facts_of_stranger(cell);
        self.parent.add(facts);
        let is_admitted = self.policy.admits(self.parent.group());
        self.parent.remove(facts);
        is_admitted
    }

    /// The first of a queue that its branch can spare. Those before it stay where they are for good.
    fn front(&mut self, group: &LocalGroup, queue: &mut Queue) -> Result<Option<Candidate>> {
        while let Some(&candidate) = queue.candidates.peek() {
            let at = candidate.part as usize;
            let facts = self.ground.facts(group.parts[at].cell);
            if self.taken[at] < group.parts[at].rows()
                && !self.parent.has_person(facts.person)
                && self.can_spare(self.branch_of_part[at] as usize, facts)?
            {
                return Ok(Some(candidate));
            }
            queue.candidates.pop();
        }
        Ok(None)
    }

    fn can_spare(&mut self, branch: usize, facts: RowFacts<'_>) -> Result<bool> {
        let group = &mut self.branches[branch].group;
        if group.rows() == 1 {
            return Ok(false);
        }
        group.remove(facts);
        let is_admitted = self.policy.admits(group.group());
        group.add(facts);
        is_admitted
    }

    /// Takes back whole branches, smallest first, until the parent is admitted: at worst with all of them.
    fn take_whole_branches(&mut self) -> Result<()> {
        let branches = &mut self.branches[..self.n_branches];
        let mut kept: Vec<usize> = (0..branches.len()).filter(|&at| branches[at].is_kept).collect();
        kept.sort_unstable_by_key(|&at| (branches[at].group.rows(), Reverse(branches[at].child)));
        for at in kept {
            branches[at].is_kept = false;
            self.parent.push_all(&branches[at].group);
            self.parent.settle();
            if self.policy.admits(self.parent.group())? {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Gives rows back to their branches, the last taken first, if neither the parent nor the branch minds: a whole
    /// branch may have made them superfluous.
    fn give_back(&mut self, group: &LocalGroup, order: &[u32]) -> Result<()> {
        for &part in order.iter().rev() {
            let branch = &mut self.branches[self.branch_of_part[part as usize] as usize];
            if !branch.is_kept {
                continue;
            }
            let facts = self.ground.facts(group.parts[part as usize].cell);
            self.parent.remove(facts);
            branch.group.add(facts);
            if self.policy.admits(self.parent.group())? && self.policy.admits(branch.group.group())? {
                self.taken[part as usize] -= 1;
            } else {
                branch.group.remove(facts);
                self.parent.add(facts);
            }
        }
        Ok(())
    }
}

/// Which values would, with one row more, have the smaller share of their rows at the parent (D'Hondt's rule)? The parent
/// thus comes to look like the group as a whole, which is admitted.
fn compare_shares(a: &Queue, b: &Queue) -> Ordering {
    let share = |a: &Queue, b: &Queue| u128::from(a.at_parent + 1) * u128::from(b.in_group);
    share(a, b).cmp(&share(b, a))
}

/// Does what a step says: the branches, in the order of their labels, then the rows left at the parent.
pub(super) fn split(group: &LocalGroup, outcome: &Outcome, ground: &Ground) -> Vec<LocalGroup> {
    let Outcome { attribute, branches, taken, .. } = outcome;
    let level = group.levels[*attribute];
    let mut lower = group.levels.clone();
    lower[*attribute] = level - 1;
    let mut parts: Vec<Vec<Part>> = vec![Vec::new(); branches.len() + 1];
    let mut taken = taken.iter().copied().peekable();
    for (at, &part) in group.parts.iter().enumerate() {
        let child = ground.child(part.cell, *attribute, level);
        let Ok(branch) = branches.binary_search(&child) else {
            parts[branches.len()].push(part);
            continue;
        };
        let back = taken.next_if(|&(taken, _)| taken as usize == at).map_or(0, |(_, rows)| rows);
        let cut = part.end - back;
        if cut > part.first {
            parts[branch].push(Part { end: cut, ..part });
        }
        if back > 0 {
            parts[branches.len()].push(Part { first: cut, ..part });
        }
    }
    let groups = parts.into_iter().enumerate().map(|(at, parts)| {
        let levels = if at < branches.len() { lower.clone() } else { group.levels.clone() };
        LocalGroup { levels, parts }
    });
    groups.filter(|group| !group.parts.is_empty()).collect()
}
