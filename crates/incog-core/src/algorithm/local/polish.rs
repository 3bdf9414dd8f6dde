//! Passes: rows move between groups for as long as that helps.
//!
//! A pass looks at each group once:
//!
//! 1. *Cut*: a group that can be two is cut at a label of one attribute, where that gains most.
//! 2. *Move*: rows of a cell go to the group nearby where all groups together cost least, if the rest may stay a group.
//! 3. *Swap*: where the rest may not, a row of that group comes back for it.
//! 4. *Divide*, in small tables: the few rows of this group and of one nearby are divided between the two in the best of all ways.
//! 5. *Dissolve*: all rows of a group go to groups nearby, if that costs less than the group does.
//!
//! Each is made only if it gains, so passes end.

use crate::algorithm::clusters::lowest_steps;
use crate::algorithm::groups::RowGroups;
use crate::algorithm::local::near::Near;
use crate::algorithm::local::parts::Parts;
use crate::algorithm::quality::Limits;
use crate::algorithm::vectors::Ground;
use crate::error::Result;
use crate::progress::Progress;

/// The most passes, unless a job says otherwise.
const MAX_PASSES: u64 = 6;

/// Passes end when one gains less than this share of what all groups cost. In small tables they end when one gains nothing.
const LEAST_GAIN: f64 = 0.001;

/// Tables of up to this many groups are small.
const FEW_GROUPS: usize = 1000;

/// Two groups of no more cells than this together are divided anew, with this many of the nearest groups. In small tables only: there it
/// takes the mean excess over the optimum from 8 % to 1 %, together with the second start; Adult gains 0.1 %, and takes twice as long.
const DIVIDED: (usize, usize) = (8, 4);

/// How far away in each order the groups are that a row is offered to, in records. With three times as many the loss of Adult falls by
/// 0.4 % (9 columns, k = 5), and passes take twice as long.
const REACH: usize = 8;

/// How many of the nearest groups a row may be swapped with.
const SWAPPED: usize = 6;

/// Gains of less are rounding.
const ROUNDING: f64 = 1e-9;

/// Groups that cost no more than these, from the same rows.
pub(super) fn polish(
    ground: &Ground<'_>,
    groups: RowGroups,
    limits: Limits,
    progress: &Progress,
) -> Result<RowGroups> {
    let max_passes = limits.steps(MAX_PASSES);
    let mut passes = Passes {
        parts: Parts::new(ground, &groups),
        near: Near::new(ground),
        offered: Vec::new(),
        ranked: Vec::new(),
        progress,
    };
    let mut cost = passes.parts.total();
    for _ in 0..max_passes {
        if limits.is_time_up() || !passes.run(&limits)? {
            break;
        }
        let before = std::mem::replace(&mut cost, passes.parts.total());
        let least = if passes.parts.len() <= FEW_GROUPS { 0.0 } else { LEAST_GAIN * before };
        if before - cost <= least.max(ROUNDING) {
            break;
        }
    }
    let mut polished = passes.parts.groups();
    polished.set_steps(|rows| lowest_steps(ground, rows));
    let is_better = ground.compare(&ground.sums(&polished), &ground.sums(&groups)).is_lt();
    Ok(if is_better { polished } else { groups })
}

struct Passes<'a, 'b> {
    parts: Parts<'a, 'b>,
    near: Near,
    /// Groups that something is offered to.
    offered: Vec<u32>,
    /// The same with what they would cost more.
    ranked: Vec<(f64, u32)>,
    progress: &'a Progress,
}

impl Passes<'_, '_> {
    /// One pass. `false` if time was up.
    fn run(&mut self, limits: &Limits) -> Result<bool> {
        for group in 0..self.parts.len() as u32 {
            self.progress.spend(64 * self.parts.cells(group).len() as u64)?;
            if group % 64 == 0 && limits.is_time_up() {
                return Ok(false);
            }
            while self.cut(group)? {}
            self.relocate(group)?;
            if self.parts.len() <= FEW_GROUPS {
                self.divide(group)?;
            }
            self.dissolve(group)?;
        }
        Ok(true)
    }

    /// Cuts a group in two where that gains most. Could it be cut?
    fn cut(&mut self, group: u32) -> Result<bool> {
        let parts = &self.parts;
        let trees = &parts.ground.trees;
        if parts.cells(group).len() < 2 {
            return Ok(false);
        }
        let (all_cost, all_rows) = (parts.all_cost(group), parts.rows(group));
        let mut best: Option<(f64, Vec<(u32, u32)>)> = None;
        for (at, tree) in trees.iter().enumerate() {
            let Some(below) = parts.steps(group)[at].checked_sub(1) else { continue };
            let mut sorted: Vec<(u32, u32, u32)> = parts
                .cells(group)
                .iter()
                .map(|&(cell, n)| (tree.label(below, parts.ground.leaves(cell)[at]), cell, n))
                .collect();
            sorted.sort_unstable();
            let children: Vec<Vec<(u32, u32)>> = sorted
                .chunk_by(|a, b| a.0 == b.0)
                .map(|child| child.iter().map(|&(_, cell, n)| (cell, n)).collect())
                .collect();
            // Of two children one off is the other off.
            let n_tried = if children.len() == 2 { 1 } else { children.len() };
            for off in children.iter().take(n_tried) {
                let n_off: u64 = off.iter().map(|&(_, n)| u64::from(n)).sum();
                if n_off == all_rows || !parts.admits_rows(off)? {
                    continue;
                }
                let rest: Vec<(u32, u32)> =
                    children.iter().filter(|&child| child != off).flatten().copied().collect();
                if !parts.admits_rows(&rest)? {
                    continue;
                }
                let cost = self.cost_of(off) * n_off as f64 + self.cost_of(&rest) * (all_rows - n_off) as f64;
                if best.as_ref().map_or(cost < all_cost - ROUNDING, |(least, _)| cost < *least) {
                    best = Some((cost, off.clone()));
                }
            }
        }
        let Some((_, off)) = best else { return Ok(false) };
        self.parts.cut(group, off);
        Ok(true)
    }

    /// What a row of these would cost if they were a group.
    fn cost_of(&self, rows: &[(u32, u32)]) -> f64 {
        let ground = self.parts.ground;
        let steps = lowest_steps(ground, rows);
        self.parts.cost_at(&steps, ground.leaves(rows[0].0))
    }

    /// Offers each cell of a group to groups nearby.
    fn relocate(&mut self, group: u32) -> Result<()> {
        for (cell, n) in self.parts.cells(group).to_vec() {
            // A swap before may have taken it away.
            if !self.parts.cells(group).contains(&(cell, n)) || self.parts.cost(group) <= ROUNDING {
                continue;
            }
            let spare = self.parts.spare(group, cell, n)?;
            let without = self.parts.cost_without(group, cell, None);
            let (cost, rows) = (self.parts.cost(group), self.parts.rows(group) as f64);
            if spare == 0 {
                // What the group saves at most, if what comes is like the others.
                if without.is_some_and(|without| (cost - without) * rows > ROUNDING) {
                    self.rank(cell, group, n, cost * rows);
                    self.swap(cell, n, group)?;
                }
                continue;
            }
            let after = if spare == n { without.unwrap_or(0.0) } else { cost };
            let saved = cost * rows - after * (rows - f64::from(spare));
            if saved > ROUNDING {
                self.rank(cell, group, spare, saved - ROUNDING);
                self.relocate_cell(cell, spare, group)?;
            }
        }
        Ok(())
    }

    /// Finds the groups near a cell, those first that `n` rows of it would cost least, and none that they
    /// would cost `most` or more.
    fn rank(&mut self, cell: u32, group: u32, n: u32, most: f64) {
        let parts = &self.parts;
        self.near.groups(cell, group, REACH, &parts.groups_of, parts.len(), &mut self.offered);
        self.ranked.clear();
        for &other in &self.offered {
            let rows = parts.rows(other) as f64;
            let bound = (most + parts.all_cost(other)) / (rows + f64::from(n));
            if let Some(cost) = parts.cost_with(other, cell, bound) {
                self.ranked.push((cost * (rows + f64::from(n)) - parts.all_cost(other), other));
            }
        }
        self.ranked.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    }

    /// Moves rows of a cell to the best of the ranked groups that the policy admits with them.
    fn relocate_cell(&mut self, cell: u32, n: u32, group: u32) -> Result<()> {
        for &(_, other) in &self.ranked {
            if self.parts.admits_with(other, cell, n)? {
                self.parts.transfer(cell, n, group, other);
                break;
            }
        }
        Ok(())
    }

    /// Gives a cell away for another one with as many rows, if that gains.
    fn swap(&mut self, cell: u32, n: u32, group: u32) -> Result<()> {
        let parts = &self.parts;
        let rows = parts.rows(group) as f64;
        let mut best: Option<(f64, u32, u32)> = None;
        for &(_, other) in self.ranked.iter().take(SWAPPED) {
            let others = parts.rows(other) as f64;
            let before = parts.all_cost(group) + parts.all_cost(other);
            for &(back, n_back) in parts.cells(other) {
                if n_back != n {
                    continue;
                }
                let most = before / rows;
                let Some(mine) = parts.cost_without(group, cell, Some(back)).filter(|cost| *cost < most)
                else {
                    continue;
                };
                let gain_so_far = before - mine * rows;
                if best.is_some_and(|(gain, ..)| gain_so_far <= gain) || gain_so_far <= ROUNDING {
                    continue;
                }
                let Some(theirs) = parts.cost_without(other, back, Some(cell)) else { continue };
                let gain = gain_so_far - theirs * others;
                if gain > ROUNDING && best.is_none_or(|(most, ..)| gain > most) {
                    best = Some((gain, other, back));
                }
            }
        }
        let Some((_, other, back)) = best else { return Ok(()) };
        self.parts.transfer(cell, n, group, other);
        self.parts.transfer(back, n, other, group);
        if !(self.parts.admits(group)? && self.parts.admits(other)?) {
            self.parts.transfer(back, n, group, other);
            self.parts.transfer(cell, n, other, group);
        }
        Ok(())
    }

    /// Divides the cells of a group and of one nearby anew, if that gains.
    fn divide(&mut self, group: u32) -> Result<()> {
        let Some(&(first, n)) = self.parts.cells(group).first() else { return Ok(()) };
        let (most_cells, most_groups) = DIVIDED;
        if self.parts.cost(group) <= ROUNDING || self.parts.cells(group).len() >= most_cells {
            return Ok(());
        }
        self.rank(first, group, n, f64::INFINITY);
        let nearest: Vec<u32> = self.ranked.iter().map(|&(_, other)| other).collect();
        let mut n_tried = 0;
        for other in nearest {
            let parts = &self.parts;
            let n_cells = parts.cells(group).len() + parts.cells(other).len();
            if parts.cells(other).is_empty() || n_cells > most_cells || parts.cells(group).is_empty() {
                continue;
            }
            n_tried += 1;
            if n_tried > most_groups {
                break;
            }
            let mut all: Vec<(u32, u32)> = parts.cells(group).to_vec();
            for &(cell, n) in parts.cells(other) {
                match all.iter_mut().find(|(mine, _)| *mine == cell) {
                    Some((_, rows)) => *rows += n,
                    None => all.push((cell, n)),
                }
            }
            let mut least = parts.all_cost(group) + parts.all_cost(other) - ROUNDING;
            let mut best: Option<u32> = None;
            // The first cell stays; what a bit stands for goes to the other group.
            for ways in 0..1_u32 << (all.len() - 1) {
                let [stays, goes] = divided(&all, ways);
                let cost = self.cost_of_all(&stays) + self.cost_of_all(&goes);
                if cost < least && parts.admits_rows(&stays)? && parts.admits_rows(&goes)? {
                    (least, best) = (cost, Some(ways));
                }
            }
            if let Some(ways) = best {
                let [stays, goes] = divided(&all, ways);
                self.parts.replace(group, stays);
                self.parts.replace(other, goes);
            }
        }
        Ok(())
    }

    /// What these rows would cost as a group.
    fn cost_of_all(&self, rows: &[(u32, u32)]) -> f64 {
        match rows {
            [] => 0.0,
            rows => self.cost_of(rows) * rows.iter().map(|&(_, n)| f64::from(n)).sum::<f64>(),
        }
    }

    /// Gives all rows of a group away, if that gains.
    fn dissolve(&mut self, group: u32) -> Result<()> {
        let cells = self.parts.cells(group).to_vec();
        let before = self.parts.all_cost(group);
        if before <= ROUNDING || cells.len() > 64 {
            return Ok(());
        }
        let mut added = 0.0;
        let mut moves: Vec<(u32, u32, u32)> = Vec::new();
        let mut is_possible = true;
        for &(cell, n) in &cells {
            self.rank(cell, group, n, before - added);
            let parts = &mut self.parts;
            let mut place = None;
            for &(cost, other) in &self.ranked {
                if parts.admits_with(other, cell, n)? {
                    place = Some((cost, other));
                    break;
                }
            }
            let Some((cost, other)) = place else {
                is_possible = false;
                break;
            };
            added += cost;
            if added >= before - ROUNDING {
                is_possible = false;
                break;
            }
            parts.transfer(cell, n, group, other);
            // `transfer` has changed what the group costs; what it cost before is in `before`.
            moves.push((cell, n, other));
        }
        if !is_possible {
            for &(cell, n, other) in moves.iter().rev() {
                self.parts.transfer(cell, n, other, group);
            }
        }
        Ok(())
    }
}

/// Cells in two parts: the first one stays, and of the others those without a bit.
fn divided(cells: &[(u32, u32)], ways: u32) -> [Vec<(u32, u32)>; 2] {
    let mut parts = [Vec::new(), Vec::new()];
    for (at, &cell) in cells.iter().enumerate() {
        let goes = at > 0 && ways >> (at - 1) & 1 == 1;
        parts[usize::from(goes)].push(cell);
    }
    parts
}
