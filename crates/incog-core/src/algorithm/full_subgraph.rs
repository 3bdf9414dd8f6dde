//! Multi-dimension full-subgraph recoding (LeFevre, DeWitt, Ramakrishnan, SIGMOD 2005, section 5.1.3), top down.
//!
//! *Promise*: the answer is a function of value vectors; if it takes a vector to a generalized vector g, it takes every
//! vector below g to g. So the images are disjoint boxes, each a product of subtrees. The policy admits every group, at most
//! as many rows as its budget are left out, always whole boxes, and no box could be specialized any more without the policy
//! or the metric objecting. The answer is never worse than the best full-domain generalization where
//! [`optimum`](super::optimum()) can find that.
//!
//! 1. Start with one box: every attribute at its top (or with a box for each group of the best full-domain node).
//! 2. *Step*: specialize one attribute of one box into the children of its label. Boxes stay disjoint. Children that the
//!    policy refuses are left out if the budget allows; otherwise the step is not possible.
//! 3. For each box the step that is best by the metric; among boxes the one whose step gains most goes first, since
//!    they share the budget. A step that makes the recoding worse is not made.
//! 4. The better of both starts is the answer.
//!
//! Differs from the paper, which defines the model and gives no algorithm. Only partitions that can be cut box by box are
//! reached (guillotine partitions), and those greedily. Sound because a step replaces a box by boxes that the policy
//! admits, and a policy that is closed under merging admits what boxes with equal labels come to.
//!
//! Cost: each step sorts the vectors of a box once for each attribute. Memory: some numbers a vector, and the boxes.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::algorithm::Aim;
use crate::algorithm::found::{Found, Quality};
use crate::algorithm::optimum::{has_optimum_search, optimum};
use crate::algorithm::vectors::{Ground, Ladder, RowGroup, Sums, check_limit};
use crate::check::Problem;
use crate::error::Result;
use crate::group::ChangingGroup;
use crate::hierarchy::Attributes;
use crate::recoding::PerGroup;
use crate::watch::Watch;

/// How to search.
#[derive(Debug, Clone, Copy)]
pub struct FullSubgraphOptions<'a> {
    /// What to choose steps by.
    pub aim: Aim<'a>,
    /// At most so many boxes are specialized, from each start; no limit without.
    pub max_steps: Option<u64>,
}

/// Cuts the domain of value vectors into boxes that the policy admits.
///
/// `None` if the policy refuses the table with every attribute at its top, by more rows than the budget, and no full-domain
/// generalization holds. Fails when the policy is not closed under merging, when the source has counts only, or when the
/// watch is cancelled.
pub fn full_subgraph(
    problem: Problem<'_>,
    attributes: &Attributes,
    options: FullSubgraphOptions<'_>,
    watch: &Watch,
) -> Result<Option<Found<PerGroup>>> {
    let ground = Ground::new(problem, attributes, options.aim, Ladder::All, "full-subgraph")?;
    let max_steps = check_limit("full-subgraph", options.max_steps)?;
    let Some(boxes) = boxes(&ground, problem, attributes, max_steps, watch)? else { return Ok(None) };
    let groups: Vec<RowGroup> =
        boxes.iter().map(|region| ground.whole(&region.steps, &region.vectors)).collect();
    let quality = if ground.is_untouched(&groups) { Quality::Optimal } else { Quality::Heuristic };
    Ok(Some(Found { recoding: ground.recoding(&groups)?, quality }))
}

/// A box with its vectors, never none.
#[derive(Debug, Clone)]
pub(super) struct Region {
    pub(super) steps: Box<[u8]>,
    pub(super) vectors: Vec<u32>,
}

/// The boxes of the answer, without those left out.
pub(super) fn boxes(
    ground: &Ground<'_>,
    problem: Problem<'_>,
    attributes: &Attributes,
    max_steps: u64,
    watch: &Watch,
) -> Result<Option<Vec<Region>>> {
    let mut best: Option<(Sums, Vec<Region>)> = None;
    let mut starts = vec![ground.top()];
    let heights = attributes.heights();
    if ground.ladder == Ladder::All
        && problem.policy.budget() == ground.budget
        && has_optimum_search(problem.policy, ground.aim.metric, &heights)
    {
        let found = optimum(problem, attributes, ground.aim.costs, ground.aim.metric, watch)?;
        starts.extend(found.best.map(|best| best.statistics.levels));
    }
    for start in starts {
        let mut search = Search { ground, scratch: ground.no_rows(), watch };
        let Some((sums, regions)) = search.run(&start, max_steps)? else { continue };
        if best.as_ref().is_none_or(|(best, _)| ground.compare(&sums, best).is_lt()) {
            best = Some((sums, regions));
        }
    }
    Ok(best.map(|(_, regions)| regions))
}

struct Search<'a, 'b> {
    ground: &'a Ground<'b>,
    scratch: ChangingGroup,
    watch: &'a Watch,
}

/// What would become of a box.
struct Step {
    kept: Vec<Region>,
    suppressed: u64,
    /// The sums of the whole recoding after it, when it was looked for.
    sums: Sums,
}

/// A box with its best step.
struct Waiting {
    gain: f64,
    /// Which came first.
    number: u64,
    region: Region,
    step: Step,
}

impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> Ordering {
        self.gain.total_cmp(&other.gain).then(other.number.cmp(&self.number))
    }
}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Waiting {}

impl Search<'_, '_> {
    fn run(&mut self, start: &[u8], max_steps: u64) -> Result<Option<(Sums, Vec<Region>)>> {
        let ground = self.ground;
        let mut sums = Sums::new(ground.trees.len());
        let mut fresh = Vec::new();
        for vectors in ground.by_labels(0..ground.n_vectors(), start) {
            let rows = self.n_rows(&vectors);
            if ground.admits(vectors.iter().copied(), &mut self.scratch)? {
                sums.add(ground, start, ground.leaves_of_vector(vectors[0]), rows);
                fresh.push(Region { steps: start.into(), vectors });
            } else {
                sums.suppressed += rows;
            }
        }
        if sums.suppressed > ground.budget {
            return Ok(None);
        }
        let mut finished = Vec::new();
        let mut waiting = BinaryHeap::new();
        let (mut number, mut n_steps) = (0, 0);
        loop {
            for region in fresh.drain(..) {
                self.watch.check()?;
                match self.best_step(&region, &sums)? {
                    None => finished.push(region),
                    Some(step) => {
                        let gain = ground.cost(&sums) - ground.cost(&step.sums);
                        number += 1;
                        waiting.push(Waiting { gain, number, region, step });
                    }
                }
            }
            let Some(Waiting { region, step, .. }) = waiting.pop() else { break };
            if n_steps == max_steps {
                finished.push(region);
                continue;
            }
            if sums.suppressed + step.suppressed > ground.budget {
                // Others have used the budget up; look for a step that does with less.
                fresh.push(region);
                continue;
            }
            let after = self.after(&region, &step, &sums);
            if is_worse(ground.compare(&after, &sums), step.suppressed) {
                finished.push(region);
                continue;
            }
            n_steps += 1;
            sums = after;
            fresh.extend(step.kept);
        }
        Ok(Some((sums, finished)))
    }

    fn n_rows(&self, vectors: &[u32]) -> u64 {
        vectors.iter().map(|&vector| self.ground.rows_of_vector[vector as usize]).sum()
    }

    /// The step of a box that is best by the metric, if it is not worse than none.
    fn best_step(&mut self, region: &Region, sums: &Sums) -> Result<Option<Step>> {
        let ground = self.ground;
        let mut best: Option<Step> = None;
        for (at, tree) in ground.trees.iter().enumerate() {
            if region.steps[at] == 0 {
                continue;
            }
            let mut steps = region.steps.clone();
            steps[at] -= 1;
            let label = |&vector: &u32| tree.label(steps[at], ground.leaves_of_vector(vector)[at]);
            let mut sorted: Vec<(u32, u32)> =
                region.vectors.iter().map(|vector| (label(vector), *vector)).collect();
            sorted.sort_unstable();
            let (mut kept, mut suppressed) = (Vec::new(), 0);
            for child in sorted.chunk_by(|a, b| a.0 == b.0) {
                let vectors: Vec<u32> = child.iter().map(|&(_, vector)| vector).collect();
                if ground.admits(vectors.iter().copied(), &mut self.scratch)? {
                    kept.push(Region { steps: steps.clone(), vectors });
                } else {
                    suppressed += self.n_rows(&vectors);
                    if sums.suppressed + suppressed > ground.budget {
                        break;
                    }
                }
            }
            if sums.suppressed + suppressed > ground.budget {
                continue;
            }
            let mut step = Step { kept, suppressed, sums: Sums::new(0) };
            step.sums = self.after(region, &step, sums);
            if !is_worse(ground.compare(&step.sums, sums), suppressed)
                && best.as_ref().is_none_or(|best| ground.compare(&step.sums, &best.sums).is_lt())
            {
                best = Some(step);
            }
        }
        Ok(best)
    }

    fn after(&self, region: &Region, step: &Step, sums: &Sums) -> Sums {
        let ground = self.ground;
        let leaves = |region: &Region| ground.leaves_of_vector(region.vectors[0]);
        let mut after = sums.clone();
        after.remove(ground, &region.steps, leaves(region), self.n_rows(&region.vectors));
        for child in &step.kept {
            after.add(ground, &child.steps, leaves(child), self.n_rows(&child.vectors));
        }
        after.suppressed += step.suppressed;
        after
    }
}

/// A step that leaves nothing out need not be better, only lower.
fn is_worse(ordering: Ordering, suppressed: u64) -> bool {
    match suppressed {
        0 => ordering.is_gt(),
        _ => ordering.is_ge(),
    }
}
