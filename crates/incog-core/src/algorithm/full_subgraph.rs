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
use std::ops::Range;

use crate::algorithm::Aim;
use crate::algorithm::contract::{Algorithm, Answer, Claimed, ColumnNeeds, Family, Task};
use crate::algorithm::groups::Regions;
use crate::algorithm::optimum::{has_quick_optimum_search, optimum};
use crate::algorithm::quality::Found;
use crate::algorithm::vectors::{Ground, Ladder, Sums, budget, check, check_limit};
use crate::error::Result;
use crate::group::ChangingGroup;
use crate::hierarchy::Attributes;
use crate::judge::Problem;
use crate::progress::Progress;
use crate::recoding::PerGroup;
use crate::registry::{Entry, Status};

/// How to search.
#[derive(Debug, Clone, Copy)]
pub struct FullSubgraphOptions<'a> {
    /// What to choose steps by.
    pub aim: Aim<'a>,
    /// The most boxes that are specialized from each start; `None` for no limit.
    pub max_steps: Option<u64>,
}

/// Cuts the domain of value vectors into boxes that the policy admits.
///
/// `None` if the policy refuses the table with every attribute at its top, by more rows than the budget, and no full-domain
/// generalization holds. Fails when the policy is not closed under merging, when the source has counts only, or when it is
/// cancelled.
pub fn full_subgraph(
    problem: Problem<'_>,
    attributes: &Attributes,
    options: FullSubgraphOptions<'_>,
    progress: &Progress,
) -> Result<Option<Found<PerGroup>>> {
    let max_steps = check_limit("full-subgraph", options.max_steps)?;
    check(problem, "full-subgraph")?;
    let node = best_node(problem, attributes, options.aim, progress)?;
    let ground = Ground::new(problem, attributes, options.aim, Ladder::All, "full-subgraph")?;
    let Some(regions) = boxes(&ground, node.as_deref(), max_steps, progress)? else { return Ok(None) };
    ground.found(&regions).map(Some)
}

/// The levels of the best full-domain generalization, where they can be searched. That takes memory, so it comes before
/// anything else is there.
pub(super) fn best_node(
    problem: Problem<'_>,
    attributes: &Attributes,
    aim: Aim<'_>,
    progress: &Progress,
) -> Result<Option<Vec<u8>>> {
    let can_search = problem.policy.budget() == budget(problem.policy)
        && has_quick_optimum_search(problem.policy, aim.metric, &attributes.heights());
    if !can_search {
        return Ok(None);
    }
    let found = optimum(problem, attributes, aim.costs, aim.metric, progress)?;
    Ok(found.best.map(|best| best.statistics.levels))
}

/// The boxes of the answer, without those left out. `node` is a full-domain generalization to start from, too.
pub(super) fn boxes(
    ground: &Ground<'_>,
    node: Option<&[u8]>,
    max_steps: u64,
    progress: &Progress,
) -> Result<Option<Regions>> {
    let mut best: Option<(Sums, Regions)> = None;
    let top = ground.top();
    for start in [Some(top.as_slice()), node].into_iter().flatten() {
        let search = RegionSearch {
            ground,
            order: Vec::new(),
            sorted: Vec::new(),
            scratch: ground.no_rows(),
            progress,
        };
        let Some((sums, regions)) = search.run(start, max_steps)? else { continue };
        if best.as_ref().is_none_or(|(best, _)| ground.compare(&sums, best).is_lt()) {
            best = Some((sums, regions));
        }
    }
    Ok(best.map(|(_, regions)| regions))
}

struct RegionSearch<'a, 'b> {
    ground: &'a Ground<'b>,
    /// All vectors that are not left out; those of a box stand in a row.
    order: Vec<u32>,
    /// The vectors of one box with their labels one step down, sorted.
    sorted: Vec<(u32, u32)>,
    scratch: ChangingGroup,
    progress: &'a Progress,
}

/// A box with its vectors, never none.
#[derive(Debug)]
struct Region {
    steps: Box<[u8]>,
    /// Where they stand in the order of all.
    start: u32,
    end: u32,
}

impl Region {
    fn range(&self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// Specializes an attribute of a box.
struct Step {
    at: usize,
    /// How many rows of its children are left out.
    suppressed: u64,
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

impl RegionSearch<'_, '_> {
    fn run(mut self, start: &[u8], max_steps: u64) -> Result<Option<(Sums, Regions)>> {
        let ground = self.ground;
        let mut sums = Sums::new(ground);
        let mut fresh = Vec::new();
        for vectors in ground.by_labels(0..ground.n_vectors(), start) {
            let rows = ground.rows_of_all(&vectors);
            if ground.admits(vectors.iter().copied(), &mut self.scratch)? {
                sums.add(ground, start, ground.leaves_of_vector(vectors[0]), rows);
                let n_before = self.order.len() as u32;
                self.order.extend(vectors);
                fresh.push(Region { steps: start.into(), start: n_before, end: self.order.len() as u32 });
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
                self.progress.check()?;
                match self.best_step(&region, &sums)? {
                    None => finished.push(region),
                    Some((step, after)) => {
                        let gain = ground.cost(&sums) - ground.cost(&after);
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
            let mut kept = Vec::new();
            let after = self.specialize(&region, step.at, &sums, &mut kept)?;
            let Some((after, suppressed)) =
                after.filter(|(after, suppressed)| !is_worse(ground.compare(after, &sums), *suppressed))
            else {
                finished.push(region);
                continue;
            };
            debug_assert_eq!(suppressed, step.suppressed);
            n_steps += 1;
            sums = after;
            for (vector, &(_, sorted)) in self.order[region.range()].iter_mut().zip(&self.sorted) {
                *vector = sorted;
            }
            let mut steps = region.steps;
            steps[step.at] -= 1;
            for child in kept {
                let (start, end) = (region.start + child.start, region.start + child.end);
                fresh.push(Region { steps: steps.clone(), start, end });
            }
        }
        let mut regions = Regions::new(ground.trees.len());
        for region in finished {
            regions.push(&region.steps, self.order[region.range()].iter().copied());
        }
        Ok(Some((sums, regions)))
    }

    /// The step of a box that is best by the metric, if it is not worse than none, and the sums after it.
    fn best_step(&mut self, region: &Region, sums: &Sums) -> Result<Option<(Step, Sums)>> {
        let ground = self.ground;
        let mut best: Option<(Step, Sums)> = None;
        let mut kept = Vec::new();
        for at in (0..ground.trees.len()).filter(|&at| region.steps[at] > 0) {
            kept.clear();
            let Some((after, suppressed)) = self.specialize(region, at, sums, &mut kept)? else { continue };
            if !is_worse(ground.compare(&after, sums), suppressed)
                && best.as_ref().is_none_or(|(_, best)| ground.compare(&after, best).is_lt())
            {
                best = Some((Step { at, suppressed }, after));
            }
        }
        Ok(best)
    }

    /// Sorts the vectors of a box by their labels one step down and says which of them are kept. The sums after it and the
    /// number of rows left out; `None` if those are too many.
    fn specialize(
        &mut self,
        region: &Region,
        at: usize,
        sums: &Sums,
        kept: &mut Vec<Range<u32>>,
    ) -> Result<Option<(Sums, u64)>> {
        let RegionSearch { ground, order, sorted, scratch, .. } = self;
        let vectors = &order[region.range()];
        let (tree, step) = (&ground.trees[at], region.steps[at] - 1);
        let mut steps = region.steps.clone();
        steps[at] = step;
        sorted.clear();
        sorted.extend(
            vectors.iter().map(|&vector| (tree.label(step, ground.leaves_of_vector(vector)[at]), vector)),
        );
        sorted.sort_unstable();
        let mut after = sums.clone();
        after.remove(ground, &region.steps, ground.leaves_of_vector(vectors[0]), ground.rows_of_all(vectors));
        let (mut suppressed, mut end) = (0, 0);
        for child in sorted.chunk_by(|a, b| a.0 == b.0) {
            let start = end;
            end += child.len() as u32;
            let vectors = || child.iter().map(|&(_, vector)| vector);
            let rows = vectors().map(|vector| ground.rows_of(vector)).sum();
            if ground.admits(vectors(), scratch)? {
                after.add(ground, &steps, ground.leaves_of_vector(child[0].1), rows);
                kept.push(start..end);
            } else {
                suppressed += rows;
                if sums.suppressed + suppressed > ground.budget {
                    return Ok(None);
                }
            }
        }
        after.suppressed += suppressed;
        Ok(Some((after, suppressed)))
    }
}

/// A step that leaves nothing out need not be better, only lower.
fn is_worse(ordering: Ordering, suppressed: u64) -> bool {
    match suppressed {
        0 => ordering.is_gt(),
        _ => ordering.is_ge(),
    }
}

/// How it is listed and run.
pub(super) const ENTRY: Entry<Algorithm> = Entry {
    name: "full-subgraph",
    summary: "cuts the combinations of values into disjoint boxes, each with labels of its own",
    reference: "LeFevre, DeWitt, Ramakrishnan, SIGMOD 2005, section 5.1.3",
    doc: include_str!("full_subgraph.md"),
    status: Status::Preview,
    item: Algorithm {
        family: Family::MultiDimension,
        columns: ColumnNeeds::SomeHierarchy,
        settings: &[],
        claim: |_| Claimed::Local,
        traversal: None,
        run,
    },
};

fn run(task: &Task<'_>) -> Result<Option<Answer>> {
    let options = FullSubgraphOptions { aim: task.aim, max_steps: None };
    let found = full_subgraph(task.problem, task.attributes, options, task.progress)?;
    Ok(found.map(Answer::of_groups))
}
