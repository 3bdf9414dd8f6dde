//! Rounds: the best full-domain generalization of the rows that are left, where leaving rows out costs nothing.
//!
//! A round must publish at least a share of the rows that are left ([`LEAST_SHARE`]): with no share, it would publish the one
//! group that is best; with all, it would be the full-domain generalization. The node is the one whose levels cost least among
//! those that refuse few enough rows.

use std::cmp::Ordering;

use crate::algorithm::clusters::merge_rest;
use crate::algorithm::groups::{Regions, RowGroups, n_rows};
use crate::algorithm::local::NAME;
use crate::algorithm::optimum::{has_quick_optimum_search, optimum};
use crate::algorithm::vectors::{Ground, records_of};
use crate::error::Result;
use crate::frequency::FrequencySource;
use crate::hierarchy::Attributes;
use crate::judge::Problem;
use crate::metric::{self, Costs, Direction, Metric, Needs, Statistics};
use crate::privacy::{Closure, Policy};
use crate::progress::Progress;

/// A round publishes at least this share of the rows that are left, in thousandths. On Adult (9 columns, k = 5) with 5 the loss after all
/// is 0.0462, with 10 it is 0.0464, and rounds take half as long.
const LEAST_SHARE: u64 = 10;

/// Of which rows a round must publish a share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Share {
    /// Of those that are left.
    OfLeft,
    /// Of all, as far as there are as many left.
    OfAll,
}

/// The table, as rounds see it.
pub(super) struct Start<'a, 'b> {
    pub(super) ground: &'a Ground<'b>,
    pub(super) problem: Problem<'a>,
    pub(super) attributes: &'a Attributes,
    pub(super) share: Share,
    pub(super) progress: &'a Progress,
}

/// What rounds publish, and the vectors that they leave.
pub(super) fn rounds(start: &Start<'_, '_>) -> Result<(Regions, Vec<u32>)> {
    let ground = start.ground;
    let mut published = Regions::new(ground.trees.len());
    let mut open: Vec<u32> = (0..ground.n_vectors()).collect();
    let mut is_open = vec![true; open.len()];
    let mut scratch = ground.no_rows();
    while !open.is_empty() {
        start.progress.check()?;
        let Some(levels) = start.best_levels(&is_open, &open)? else { break };
        let n_before = published.len();
        for vectors in ground.by_labels(open.iter().copied(), &levels) {
            if ground.admits(vectors.iter().copied(), &mut scratch)? {
                vectors.iter().for_each(|&vector| is_open[vector as usize] = false);
                published.push(&levels, vectors);
            }
        }
        if published.len() == n_before {
            break;
        }
        open.retain(|&vector| is_open[vector as usize]);
    }
    Ok((published, open))
}

impl Start<'_, '_> {
    /// The levels that cost least for the rows that are open, among those that admit enough of them.
    fn best_levels(&self, is_open: &[bool], open: &[u32]) -> Result<Option<Vec<u8>>> {
        let ground = self.ground;
        let of_cell = |&cell: &u32| is_open[ground.vector_of[cell as usize] as usize];
        let is_kept: Vec<bool> = ground.cells.of_record.iter().map(of_cell).collect();
        let source = records_of(self.problem, NAME)?.some_records(&is_kept);
        let source: &dyn FrequencySource = &*source;
        let n_open = ground.rows_of_all(open);
        let rows = match self.share {
            Share::OfLeft => n_open,
            Share::OfAll => ground.n_rows(),
        };
        let least = (rows * LEAST_SHARE).div_ceil(1000).clamp(1, n_open);
        let policy = searchable(ground.policy, n_open - least);
        let problem = Problem { source, policy: &policy };
        let metric = Free(match ground.aim.metric.needs() {
            Needs::Groups => metric::ALL[0].item,
            _ => ground.aim.metric,
        });
        let heights = self.attributes.heights();
        if !has_quick_optimum_search(&policy, &metric, &heights) {
            return Ok(Some(heights));
        }
        let costs = Costs::new(problem, self.attributes)?.with_weights(ground.aim.costs.weights.clone())?;
        let found = optimum(problem, self.attributes, &costs, &metric, self.progress)?;
        Ok(found.best.map(|best| best.statistics.levels))
    }

    /// The groups as they were published.
    pub(super) fn whole(&self, published: &Regions) -> RowGroups {
        let mut groups = RowGroups::new(self.ground.trees.len());
        for (steps, vectors) in published.iter() {
            groups.push(steps, self.ground.whole(vectors));
        }
        groups
    }

    /// A full-domain generalization.
    pub(super) fn at_levels(&self, levels: &[u8]) -> Result<RowGroups> {
        let ground = self.ground;
        let mut groups = RowGroups::new(ground.trees.len());
        let mut scratch = ground.no_rows();
        for vectors in ground.by_labels(0..ground.n_vectors(), levels) {
            if ground.admits(vectors.iter().copied(), &mut scratch)? {
                groups.push(levels, ground.whole(&vectors));
            }
        }
        Ok(groups)
    }

    /// Groups with what they leave put into the nearest of them. `None` if there is no place for it.
    pub(super) fn place(&self, groups: &RowGroups, rest: &[u32]) -> Result<Option<RowGroups>> {
        let ground = self.ground;
        // Only rows with a label in common can be merged.
        let top = ground.top();
        let of_top = |leaves: &[u32]| ground.labels(leaves, &top);
        let mut done = RowGroups::new(ground.trees.len());
        let mut budget = ground.budget;
        for vectors in ground.by_labels(0..ground.n_vectors(), &top) {
            let labels = of_top(ground.leaves_of_vector(vectors[0]));
            let mut part = RowGroups::new(ground.trees.len());
            for (steps, rows) in groups.iter().filter(|(_, rows)| of_top(ground.leaves(rows[0].0)) == labels)
            {
                part.push(steps, rows.iter().copied());
            }
            let of_part = rest.iter().filter(|&&vector| of_top(ground.leaves_of_vector(vector)) == labels);
            let of_part: Vec<u32> = of_part.copied().collect();
            let left: Vec<(u32, u32)> = ground.whole(&of_part).collect();
            let n_published = part.all_rows();
            let Some(merged) = merge_rest(ground, part, &left, budget, self.progress)? else {
                return Ok(None);
            };
            budget -= n_published + n_rows(&left) - merged.all_rows();
            done.append(merged);
        }
        Ok(Some(done))
    }
}

/// A policy whose best node can be searched with a budget.
fn searchable(policy: &Policy, budget: u64) -> Policy {
    match (policy.closure(), budget) {
        (Closure::Absorbing, _) | (_, 0) => policy.clone().with_budget(budget),
        _ => match policy.absorbing() {
            Some(part) => part.with_budget(budget),
            None => policy.clone().with_budget(0),
        },
    }
}

/// A metric for which rows that are left out cost nothing: that of the levels.
struct Free<'a>(&'a dyn Metric);

impl Free<'_> {
    fn levels(node: &Statistics) -> Statistics {
        Statistics::of_levels(node.levels.clone())
    }
}

impl Metric for Free<'_> {
    fn score(&self, costs: &Costs, node: &Statistics) -> f64 {
        self.0.score(costs, &Free::levels(node))
    }

    fn compare(&self, costs: &Costs, a: &Statistics, b: &Statistics) -> Ordering {
        self.0.compare(costs, &Free::levels(a), &Free::levels(b))
    }

    fn term(&self, costs: &Costs, attribute: usize, node: &Statistics) -> Option<f64> {
        self.0.term(costs, attribute, &Free::levels(node))
    }

    fn of_sum(&self, costs: &Costs, sum: f64) -> f64 {
        self.0.of_sum(costs, sum)
    }

    fn direction(&self) -> Direction {
        self.0.direction()
    }

    fn needs(&self) -> Needs {
        Needs::Levels
    }

    fn uses_weights(&self) -> bool {
        self.0.uses_weights()
    }
}
