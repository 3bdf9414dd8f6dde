//! One step: specialize a group by one attribute, one level down.
//!
//! [`Step::best`] tries every attribute and says which is best; [`split`] does it. Nothing here depends on anything but
//! the group's own rows.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::algorithm::top_down::LookAhead;
use crate::algorithm::top_down::ground::Ground;
use crate::algorithm::top_down::queue::{Candidate, Queue, compare_shares, least_shares};
use crate::error::Result;
use crate::group::{ChangingGroup, RowFacts};
use crate::privacy::Policy;
use crate::progress::Progress;

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
    attribute: usize,
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
    look_ahead: LookAhead,
    progress: &'a Progress,
    /// One for each attribute.
    trials: Vec<Trial>,
    /// The rows at the parent, of the trial that is looked at.
    parent: ChangingGroup,
    /// How many rows of each part are taken back.
    taken: Vec<u32>,
}

/// A group specialized by one attribute.
struct Trial {
    attribute: usize,
    /// The branch of each child of the label that is specialized; [`NONE`] if no row is there.
    branch_of_child: Vec<u32>,
    branches: Vec<Branch>,
    n_branches: usize,
    /// Rows of each child that are counted but in no branch yet, and which children have such rows.
    counts: Vec<u64>,
    counted: Vec<u32>,
}

const NONE: u32 = u32::MAX;

struct Branch {
    child: u32,
    /// Does the policy admit all rows of the branch?
    is_admitted: bool,
    /// Are its rows specialized?
    is_kept: bool,
    group: ChangingGroup,
}

impl Trial {
    fn new(attribute: usize, most_children: usize) -> Self {
        Trial {
            attribute,
            branch_of_child: vec![NONE; most_children],
            branches: Vec::new(),
            n_branches: 0,
            counts: vec![0; most_children],
            counted: Vec::new(),
        }
    }

    fn branches(&self) -> &[Branch] {
        &self.branches[..self.n_branches]
    }

    fn clear(&mut self) {
        for branch in &self.branches[..self.n_branches] {
            self.branch_of_child[branch.child as usize] = NONE;
        }
        self.n_branches = 0;
    }

    /// The rows counted so far are alike; they go into their branches.
    fn flush(&mut self, facts: RowFacts<'_>, policy: &Policy) {
        for child in self.counted.drain(..) {
            let at = &mut self.branch_of_child[child as usize];
            if *at == NONE {
                *at = self.n_branches as u32;
                if self.n_branches == self.branches.len() {
                    let group = ChangingGroup::new(&policy.demand());
                    self.branches.push(Branch { child, is_admitted: false, is_kept: false, group });
                }
                let branch = &mut self.branches[self.n_branches];
                branch.child = child;
                branch.group.clear();
                self.n_branches += 1;
            }
            let n = std::mem::take(&mut self.counts[child as usize]);
            self.branches[*at as usize].group.push(facts, n);
        }
    }

    fn judge(&mut self, policy: &Policy) -> Result<()> {
        for branch in &mut self.branches[..self.n_branches] {
            branch.group.settle();
            branch.is_admitted = policy.admits(branch.group.group())?;
            branch.is_kept = branch.is_admitted;
        }
        Ok(())
    }

    /// The rows of refused branches go back to the parent.
    fn collect_parent(&self, parent: &mut ChangingGroup) {
        parent.clear();
        for branch in self.branches().iter().filter(|branch| !branch.is_kept) {
            parent.push_all(&branch.group);
        }
        parent.settle();
    }

    fn kept(&self) -> impl Iterator<Item = &Branch> {
        self.branches().iter().filter(|branch| branch.is_kept)
    }

    fn rows_kept(&self) -> u64 {
        self.kept().map(|branch| branch.group.rows()).sum()
    }

    /// What the step does as things are now.
    fn outcome(&self, taken: Vec<(u32, u32)>) -> Outcome {
        let mut branches: Vec<u32> = self.kept().map(|branch| branch.child).collect();
        branches.sort_unstable();
        Outcome { attribute: self.attribute, rows: self.rows_kept(), branches, taken }
    }

    /// The branch of a part.
    fn at(&self, part: Part, group: &LocalGroup, ground: &Ground) -> usize {
        let child = ground.child(part.cell, self.attribute, group.levels[self.attribute]);
        self.branch_of_child[child as usize] as usize
    }
}

impl<'a> Step<'a> {
    pub(super) fn new(
        ground: &'a Ground,
        policy: &'a Policy,
        look_ahead: LookAhead,
        progress: &'a Progress,
    ) -> Self {
        let trials = ground.trees.iter().enumerate().map(|(at, tree)| Trial::new(at, tree.most_children));
        Step {
            ground,
            policy,
            look_ahead,
            progress,
            trials: trials.collect(),
            parent: ChangingGroup::new(&policy.demand()),
            taken: Vec::new(),
        }
    }

    /// The best step of a group that is [lowered](LocalGroup::lower): most rows specialized, then fewest branches, then
    /// least by `tie`. `None` if no attribute can be specialized.
    pub(super) fn best(&mut self, group: &LocalGroup, tie: impl Fn(usize) -> u64) -> Result<Option<Outcome>> {
        self.branch_out(group)?;
        type Rank = (Reverse<u64>, usize, u64, usize);
        let rank =
            |rows, n_branches, attribute| -> Rank { (Reverse(rows), n_branches, tie(attribute), attribute) };
        let mut best: Option<(Rank, Option<Outcome>)> = None;
        let mut to_repair: Vec<(Reverse<u64>, usize)> = Vec::new();
        for trial in &self.trials {
            let n_kept = trial.kept().count();
            if n_kept == 0 {
                continue;
            }
            let rows = trial.rows_kept();
            trial.collect_parent(&mut self.parent);
            if self.parent.rows() > 0 && !self.policy.admits(self.parent.group())? {
                // At least one row will have to go back.
                to_repair.push((Reverse(rows - 1), trial.attribute));
                continue;
            }
            let rank = rank(rows, n_kept, trial.attribute);
            if best.as_ref().is_none_or(|(best, _)| rank < *best) {
                best = Some((rank, None));
            }
        }
        to_repair.sort_unstable();
        for (at_most, attribute) in to_repair {
            if best.as_ref().is_some_and(|((rows, ..), _)| *rows < at_most) {
                break;
            }
            if let Some(outcome) = self.repair(group, attribute)? {
                let rank = rank(outcome.rows, outcome.branches.len(), attribute);
                if best.as_ref().is_none_or(|(best, _)| rank < *best) {
                    best = Some((rank, Some(outcome)));
                }
            }
        }
        Ok(best.map(|((.., attribute), outcome)| {
            outcome.unwrap_or_else(|| self.trials[attribute].outcome(Vec::new()))
        }))
    }

    /// Sorts the rows into the branches of every attribute, and judges each branch.
    fn branch_out(&mut self, group: &LocalGroup) -> Result<()> {
        let ground = self.ground;
        let tables: Vec<(usize, &[u32])> = group
            .levels
            .iter()
            .enumerate()
            .filter(|&(_, &level)| level > 0)
            .map(|(attribute, &level)| (attribute, ground.children(attribute, level)))
            .collect();
        for trial in &mut self.trials {
            trial.clear();
        }
        let mut trials: Vec<&mut Trial> =
            self.trials.iter_mut().filter(|trial| group.levels[trial.attribute] > 0).collect();
        // Rows that are alike to the policy stand together, and are counted before they go into their branches.
        for alike in group.parts.chunk_by(|a, b| ground.are_alike(a.cell, b.cell)) {
            for part in alike {
                let leaves = ground.leaves(part.cell);
                for (trial, &(attribute, table)) in trials.iter_mut().zip(&tables) {
                    let child = table[leaves[attribute] as usize];
                    let count = &mut trial.counts[child as usize];
                    if *count == 0 {
                        trial.counted.push(child);
                    }
                    *count += u64::from(part.rows());
                }
            }
            for trial in &mut trials {
                trial.flush(ground.facts(alike[0].cell), self.policy);
            }
        }
        for trial in trials {
            trial.judge(self.policy)?;
        }
        Ok(())
    }

    /// Takes rows back until the parent is admitted. `None` if that takes all.
    fn repair(&mut self, group: &LocalGroup, attribute: usize) -> Result<Option<Outcome>> {
        self.taken.clear();
        self.taken.resize(group.parts.len(), 0);
        self.trials[attribute].collect_parent(&mut self.parent);
        let mut order = Vec::new();
        if !self.take_spare_rows(group, attribute, &mut order)? {
            self.take_whole_branches(attribute)?;
            if self.trials[attribute].kept().next().is_none() {
                return Ok(None);
            }
            self.give_back(group, attribute, &order)?;
        }
        let trial = &self.trials[attribute];
        let mut taken = Vec::new();
        let mut first = 0;
        for same_cell in group.parts.chunk_by(|a, b| a.cell == b.cell) {
            let parts = first..first + same_cell.len();
            first = parts.end;
            let mut rows: u32 = self.taken[parts.clone()].iter().sum();
            if rows == 0 || !trial.branches[trial.at(same_cell[0], group, self.ground)].is_kept {
                continue;
            }
            // Whichever were given back: of equal rows the latest stay at the parent.
            let from = taken.len();
            for part in parts.rev() {
                let n = rows.min(group.parts[part].rows());
                rows -= n;
                if n > 0 {
                    taken.push((part as u32, n));
                }
            }
            taken[from..].reverse();
        }
        Ok(Some(trial.outcome(taken)))
    }

    /// Takes back rows that their branches can spare, noting the part of each in `order`. Is the parent admitted then?
    fn take_spare_rows(
        &mut self,
        group: &LocalGroup,
        attribute: usize,
        order: &mut Vec<u32>,
    ) -> Result<bool> {
        let depths = match self.look_ahead {
            LookAhead::Step => None,
            LookAhead::Full => Some(self.depths(group, attribute)?),
        };
        let mut queues = self.queues(group, attribute, depths.as_deref());
        loop {
            let mut next: Option<(Candidate, usize)> = None;
            let mut is_last = false;
            for at in least_shares(&queues) {
                if !self.would_repair(queues[at].cell)? {
                    continue;
                }
                if let Some(candidate) = self.front(group, attribute, &mut queues[at])? {
                    is_last = true;
                    if next.is_none_or(|(best, _)| candidate > best) {
                        next = Some((candidate, at));
                    }
                }
            }
            while next.is_none() {
                let waiting = queues.iter().enumerate().filter(|(_, queue)| !queue.candidates.is_empty());
                let Some((at, _)) = waiting.min_by(|a, b| compare_shares(a.1, b.1)) else { return Ok(false) };
                next = self.front(group, attribute, &mut queues[at])?.map(|candidate| (candidate, at));
            }
            let Some((candidate, at)) = next else { return Ok(false) };
            let facts = self.ground.facts(group.parts[candidate.part as usize].cell);
            self.trials[attribute].branches[candidate.branch as usize].group.remove(facts);
            self.parent.add(facts);
            self.taken[candidate.part as usize] += 1;
            queues[at].at_parent += 1;
            order.push(candidate.part);
            if is_last {
                return Ok(true);
            }
        }
    }

    /// The rows of branches that are kept, by their sensitive values. `depths` has how far each part gets, if that is known.
    fn queues(&self, group: &LocalGroup, attribute: usize, depths: Option<&[u32]>) -> Vec<Queue> {
        let trial = &self.trials[attribute];
        let kind = |part: &Part| self.ground.kinds[part.cell as usize];
        let mut queues = Vec::new();
        let mut first = 0;
        for alike in group.parts.chunk_by(|a, b| kind(a) == kind(b)) {
            let (mut in_group, mut at_parent) = (0, 0);
            let mut candidates = Vec::new();
            for (&part, at) in alike.iter().zip(first..) {
                in_group += u64::from(part.rows());
                let branch = trial.at(part, group, self.ground);
                if trial.branches[branch].is_kept {
                    candidates.push(Candidate {
                        depth: Reverse(match depths {
                            Some(depths) => depths[at as usize],
                            None => self.depth(group, attribute, part),
                        }),
                        lateness: self.ground.lateness[part.cell as usize],
                        first: part.first,
                        part: at,
                        branch: branch as u32,
                    });
                } else {
                    at_parent += u64::from(part.rows());
                }
            }
            first += alike.len() as u32;
            let candidates = BinaryHeap::from(candidates);
            queues.push(Queue { cell: alike[0].cell, in_group, at_parent, candidates });
        }
        queues
    }

    /// Full look-ahead: how many times the rows of each part are specialized if the branches that are kept go down to the end. Of equal
    /// rows that fare differently, the fewest times.
    fn depths(&self, group: &LocalGroup, attribute: usize) -> Result<Vec<u32>> {
        let trial = &self.trials[attribute];
        let mut levels = group.levels.clone();
        levels[attribute] -= 1;
        let mut waiting: Vec<LocalGroup> = Vec::new();
        for (at, _) in trial.branches().iter().enumerate().filter(|(_, branch)| branch.is_kept) {
            let is_there = |part: &&Part| trial.at(**part, group, self.ground) == at;
            let parts = group.parts.iter().filter(is_there).copied().collect();
            waiting.push(LocalGroup { levels: levels.clone(), parts });
        }
        let mut depths = vec![u32::MAX; group.parts.len()];
        let mut step = Step::new(self.ground, self.policy, LookAhead::Step, self.progress);
        while let Some(mut branch) = waiting.pop() {
            self.progress.check()?;
            branch.lower(self.ground);
            if let Some(outcome) = step.best(&branch, |_| 0)? {
                waiting.extend(split(&branch, &outcome, self.ground));
                continue;
            }
            let lowered = levels.iter().zip(&*branch.levels).map(|(from, to)| u32::from(from - to)).sum();
            for part in &branch.parts {
                let after = group.parts.partition_point(|of| (of.cell, of.first) <= (part.cell, part.first));
                let depth = &mut depths[after - 1];
                *depth = (*depth).min(lowered);
            }
        }
        Ok(depths)
    }

    /// Look-ahead: by how many other attributes could the row be specialized?
    fn depth(&self, group: &LocalGroup, attribute: usize, part: Part) -> u32 {
        let others = self.trials.iter().filter(|trial| trial.attribute != attribute && trial.n_branches > 0);
        let is_open = |trial: &&Trial| trial.branches[trial.at(part, group, self.ground)].is_admitted;
        others.filter(is_open).count() as u32
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
    fn front(
        &mut self,
        group: &LocalGroup,
        attribute: usize,
        queue: &mut Queue,
    ) -> Result<Option<Candidate>> {
        while let Some(&candidate) = queue.candidates.peek() {
            let at = candidate.part as usize;
            let facts = self.ground.facts(group.parts[at].cell);
            if self.taken[at] < group.parts[at].rows()
                && !self.parent.gains_nobody(facts.person)
                && can_spare(
                    &mut self.trials[attribute].branches[candidate.branch as usize],
                    facts,
                    self.policy,
                )?
            {
                return Ok(Some(candidate));
            }
            queue.candidates.pop();
        }
        Ok(None)
    }

    /// Takes back whole branches, smallest first, until the parent is admitted: at worst with all of them.
    fn take_whole_branches(&mut self, attribute: usize) -> Result<()> {
        let trial = &mut self.trials[attribute];
        let branches = &mut trial.branches[..trial.n_branches];
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
    fn give_back(&mut self, group: &LocalGroup, attribute: usize, order: &[u32]) -> Result<()> {
        let trial = &mut self.trials[attribute];
        for &at in order.iter().rev() {
            let part = group.parts[at as usize];
            let branch = trial.at(part, group, self.ground);
            let branch = &mut trial.branches[branch];
            if !branch.is_kept {
                continue;
            }
            let facts = self.ground.facts(part.cell);
            self.parent.remove(facts);
            branch.group.add(facts);
            if self.policy.admits(self.parent.group())? && self.policy.admits(branch.group.group())? {
                self.taken[at as usize] -= 1;
            } else {
                branch.group.remove(facts);
                self.parent.add(facts);
            }
        }
        Ok(())
    }
}

fn can_spare(branch: &mut Branch, facts: RowFacts<'_>, policy: &Policy) -> Result<bool> {
    if branch.group.rows() == 1 {
        return Ok(false);
    }
    branch.group.remove(facts);
    let is_admitted = policy.admits(branch.group.group());
    branch.group.add(facts);
    is_admitted
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
