//! Groups whose rows come and go, with what they cost.

use std::collections::BTreeSet;

use crate::algorithm::clusters::lowest_steps;
use crate::algorithm::groups::RowGroups;
use crate::algorithm::vectors::{Ground, Measured};
use crate::error::Result;

/// In a group of more cells than this, nobody looks whether its labels become lower without one of them: another has the same label,
/// most likely. They are found anew at the end.
const MANY_CELLS: usize = 256;

/// All groups.
///
/// # Invariants
/// The rows of each cell that are in a group are in `groups_of` of the cell; a group without rows has no cells and costs nothing.
/// Its labels cover all its rows.
pub(super) struct Parts<'a, 'b> {
    pub(super) ground: &'a Ground<'b>,
    n: usize,
    /// The steps of each group.
    steps: Vec<u8>,
    /// The leaves of one of its cells.
    leaves: Vec<u32>,
    /// What a row of the group costs.
    costs: Vec<f64>,
    cells: Vec<Vec<(u32, u32)>>,
    measured: Vec<Measured>,
    /// The groups that have rows of each cell.
    pub(super) groups_of: Vec<Vec<u32>>,
}

impl<'a, 'b> Parts<'a, 'b> {
    pub(super) fn new(ground: &'a Ground<'b>, groups: &RowGroups) -> Self {
        let mut parts = Parts {
            ground,
            n: ground.trees.len(),
            steps: Vec::new(),
            leaves: Vec::new(),
            costs: Vec::new(),
            cells: Vec::new(),
            measured: Vec::new(),
            groups_of: vec![Vec::new(); ground.cells.rows.len()],
        };
        for (_, rows) in groups.iter() {
            parts.push(rows.to_vec());
        }
        parts
    }

    /// One more group. Its number.
    pub(super) fn push(&mut self, rows: Vec<(u32, u32)>) -> u32 {
        let group = self.cells.len() as u32;
        let mut measured = self.ground.unmeasured();
        for &(cell, n) in &rows {
            measured.add_rows(self.ground.facts(cell), n.into());
            self.groups_of[cell as usize].push(group);
        }
        let steps = lowest_steps(self.ground, &rows);
        let leaves = self.ground.leaves(rows[0].0);
        self.costs.push(self.cost_at(&steps, leaves));
        self.steps.extend_from_slice(&steps);
        self.leaves.extend_from_slice(leaves);
        self.cells.push(rows);
        self.measured.push(measured);
        group
    }

    pub(super) fn len(&self) -> usize {
        self.cells.len()
    }

    pub(super) fn cells(&self, group: u32) -> &[(u32, u32)] {
        &self.cells[group as usize]
    }

    pub(super) fn rows(&self, group: u32) -> u64 {
        self.measured[group as usize].rows()
    }

    /// What a row of a group costs.
    pub(super) fn cost(&self, group: u32) -> f64 {
        self.costs[group as usize]
    }

    /// What all its rows cost.
    pub(super) fn all_cost(&self, group: u32) -> f64 {
        self.cost(group) * self.rows(group) as f64
    }

    pub(super) fn steps(&self, group: u32) -> &[u8] {
        &self.steps[group as usize * self.n..][..self.n]
    }

    fn leaves(&self, group: u32) -> &[u32] {
        &self.leaves[group as usize * self.n..][..self.n]
    }

    /// What all groups cost.
    pub(super) fn total(&self) -> f64 {
        (0..self.len() as u32).map(|group| self.all_cost(group)).sum()
    }

    pub(super) fn cost_at(&self, steps: &[u8], leaves: &[u32]) -> f64 {
        let columns = self.ground.trees.iter().zip(steps).zip(leaves);
        columns.map(|((tree, &step), &leaf)| tree.cost(step, leaf)).sum()
    }

    /// What a row of a group would cost with a cell in it; `None` if they have no label in common, or if it would be `most` or more.
    pub(super) fn cost_with(&self, group: u32, cell: u32, most: f64) -> Option<f64> {
        let (steps, mine, theirs) = (self.steps(group), self.leaves(group), self.ground.leaves(cell));
        let mut cost = 0.0;
        for (at, tree) in self.ground.trees.iter().enumerate() {
            let step = tree.meet(steps[at], mine[at], theirs[at])?;
            cost += tree.cost(step, mine[at]);
            if cost >= most {
                return None;
            }
        }
        Some(cost)
    }

    /// What a row of a group would cost without a cell, and with another one where there is one. `None` if nothing else is in it, or there is no
    /// label in common.
    pub(super) fn cost_without(&self, group: u32, cell: u32, with: Option<u32>) -> Option<f64> {
        let ground = self.ground;
        let mut others = self.cells(group).iter().map(|&(other, _)| other).filter(|&other| other != cell);
        let first = others.next()?;
        let of = ground.leaves(first);
        let is_large = self.cells(group).len() > MANY_CELLS;
        let mut steps: Box<[u8]> = if is_large { self.steps(group).into() } else { vec![0; self.n].into() };
        let others = others.take(if is_large { 0 } else { usize::MAX });
        for other in others.chain(with) {
            let theirs = ground.leaves(other);
            for (at, tree) in ground.trees.iter().enumerate() {
                steps[at] = tree.meet(steps[at], of[at], theirs[at])?;
            }
        }
        Some(self.cost_at(&steps, of))
    }

    /// How many of the rows of a cell a group can do without.
    pub(super) fn spare(&mut self, group: u32, cell: u32, n: u32) -> Result<u32> {
        if self.admits_without(group, cell, n)? {
            return Ok(n);
        }
        // Its labels stay, since some rows of the cell stay.
        let mut fewer = 0;
        for less in [1, 2, 4, 8, 16] {
            if less >= n || !self.admits_without(group, cell, less)? {
                break;
            }
            fewer = less;
        }
        Ok(fewer)
    }

    fn admits_without(&mut self, group: u32, cell: u32, n: u32) -> Result<bool> {
        let facts = self.ground.facts(cell);
        let measured = &mut self.measured[group as usize];
        measured.remove_rows(facts, n.into());
        let admits = self.ground.admits_changing(measured);
        self.measured[group as usize].add_rows(facts, n.into());
        admits
    }

    /// Would the policy admit a group with more rows?
    pub(super) fn admits_with(&mut self, group: u32, cell: u32, n: u32) -> Result<bool> {
        let facts = self.ground.facts(cell);
        let measured = &mut self.measured[group as usize];
        measured.add_rows(facts, n.into());
        let admits = self.ground.admits_changing(measured);
        self.measured[group as usize].remove_rows(facts, n.into());
        admits
    }

    /// Does the policy admit the group as it is?
    pub(super) fn admits(&self, group: u32) -> Result<bool> {
        self.ground.admits_changing(&self.measured[group as usize])
    }

    /// Does the policy admit these rows as a group?
    pub(super) fn admits_rows(&self, rows: &[(u32, u32)]) -> Result<bool> {
        let mut measured = self.ground.unmeasured();
        for &(cell, n) in rows {
            measured.add_rows(self.ground.facts(cell), n.into());
        }
        self.ground.admits_changing(&measured)
    }

    /// Moves `n` rows of a cell, whether or not the policy likes it.
    pub(super) fn transfer(&mut self, cell: u32, n: u32, from: u32, to: u32) {
        let ground = self.ground;
        let facts = ground.facts(cell);
        let mine = &mut self.cells[from as usize];
        if let Some(at) = mine.iter().position(|&(other, _)| other == cell) {
            mine[at].1 -= n;
            if mine[at].1 == 0 {
                mine.remove(at);
                self.groups_of[cell as usize].retain(|&group| group != from);
                self.relabel(from);
            }
        }
        self.measured[from as usize].remove_rows(facts, n.into());
        self.measured[to as usize].add_rows(facts, n.into());
        let theirs = &mut self.cells[to as usize];
        match theirs.iter_mut().find(|(other, _)| *other == cell) {
            Some((_, rows)) => *rows += n,
            None => {
                theirs.push((cell, n));
                self.groups_of[cell as usize].push(to);
                self.widen(to, cell);
            }
        }
    }

    /// The labels of a group come to cover a cell.
    fn widen(&mut self, group: u32, cell: u32) {
        let ground = self.ground;
        let start = group as usize * self.n;
        let theirs = ground.leaves(cell);
        if self.cells[group as usize].len() == 1 {
            self.leaves[start..][..self.n].copy_from_slice(theirs);
            self.steps[start..][..self.n].fill(0);
        }
        for (at, tree) in ground.trees.iter().enumerate() {
            let step = &mut self.steps[start + at];
            *step = tree.meet(*step, self.leaves[start + at], theirs[at]).unwrap_or(tree.top());
        }
        self.costs[group as usize] = self.cost_at(self.steps(group), self.leaves(group));
    }

    /// The labels of a group after a cell has gone.
    fn relabel(&mut self, group: u32) {
        let start = group as usize * self.n;
        let cells = &self.cells[group as usize];
        let Some(&(first, _)) = cells.first() else {
            self.costs[group as usize] = 0.0;
            return;
        };
        self.leaves[start..][..self.n].copy_from_slice(self.ground.leaves(first));
        if cells.len() <= MANY_CELLS {
            let steps = lowest_steps(self.ground, cells);
            self.steps[start..][..self.n].copy_from_slice(&steps);
            self.costs[group as usize] = self.cost_at(self.steps(group), self.leaves(group));
        }
    }

    /// Takes a group apart: its rows become a group of some and a group of the others.
    pub(super) fn cut(&mut self, group: u32, off: Vec<(u32, u32)>) -> u32 {
        for &(cell, n) in &off {
            let facts = self.ground.facts(cell);
            self.measured[group as usize].remove_rows(facts, n.into());
            self.groups_of[cell as usize].retain(|&other| other != group);
        }
        let is_off: BTreeSet<u32> = off.iter().map(|&(cell, _)| cell).collect();
        self.cells[group as usize].retain(|(cell, _)| !is_off.contains(cell));
        self.relabel(group);
        self.push(off)
    }

    /// Gives a group other rows.
    pub(super) fn replace(&mut self, group: u32, rows: Vec<(u32, u32)>) {
        for (cell, _) in std::mem::take(&mut self.cells[group as usize]) {
            self.groups_of[cell as usize].retain(|&other| other != group);
        }
        let mut measured = self.ground.unmeasured();
        for &(cell, n) in &rows {
            measured.add_rows(self.ground.facts(cell), n.into());
            self.groups_of[cell as usize].push(group);
        }
        self.measured[group as usize] = measured;
        self.cells[group as usize] = rows;
        self.relabel(group);
    }

    /// The groups that have rows.
    pub(super) fn groups(&self) -> RowGroups {
        let mut groups = RowGroups::new(self.n);
        for group in 0..self.len() as u32 {
            if !self.cells(group).is_empty() {
                groups.push(self.steps(group), self.cells(group).iter().copied());
            }
        }
        groups
    }
}
