//! Cell generalization (LeFevre, DeWitt, Ramakrishnan, SIGMOD 2005, section 5.2): local recoding steered by a metric.
//!
//! *Promise*: every group of the release is one that the policy admits, at most as many rows as its budget are left out, and
//! every group has the lowest labels that its records have in common. ([`top_down`](super::top_down()) is the third algorithm
//! for this model; it is steered by no metric.)
//!
//! Ways to find groups:
//!
//! - [`CellMethod::Clusters`]: greedy clusters of records (k-member; see the module `clusters`), of the whole table or
//!   within the boxes of the [full-subgraph](super::full_subgraph()) answer: whichever is better. Those within a box are
//!   never worse than the box. [`CellMethod::Refined`] does the same within the groups of the
//!   [unrestricted](super::unrestricted_multi()) answer, which takes longer and is better.
//! - [`CellMethod::Rounds`]: the best full-domain generalization, with a budget; the rows that it leaves out are a table of
//!   their own, for which the best full-domain generalization is found again, and so on until nothing more can be
//!   published. What is left then is merged with the nearest groups. All this twice: with the policy's own budget in the
//!   first round, so that the answer is never worse than the full-domain optimum, and with as many rows as the metric likes
//!   to leave out. The better one is the answer. Finally each group goes down to its lowest common labels.
//!
//! Rounds need the best node. Where the policy does not allow to search it with a budget, its absorbing part chooses the
//! node, and the whole policy decides what is published there.
//!
//! Sound because groups are admitted one by one and, closed under merging, also when they come to have the same labels.
//!
//! Cost of clusters: for each record a look at each candidate. Of rounds: a search for the best node each. Memory: some
//! numbers a record.

use crate::algorithm::Aim;
use crate::algorithm::clusters::{clusters, clusters_within, lowest_steps, merge_rest};
use crate::algorithm::contract::{Algorithm, Answer, Claimed, ColumnNeeds, Family, Setting, Task};
use crate::algorithm::full_subgraph::{best_node, boxes};
use crate::algorithm::groups::{Regions, RowGroups, n_rows};
use crate::algorithm::optimum::{has_quick_optimum_search, optimum};
use crate::algorithm::quality::{Found, Quality};
use crate::algorithm::unrestricted_multi::regions;
use crate::algorithm::vectors::{Ground, Ladder, check, records_of};
use crate::error::{Error, Result};
use crate::frequency::FrequencySource;
use crate::hierarchy::Attributes;
use crate::judge::Problem;
use crate::metric::{self, Costs, Metric};
use crate::privacy::{Closure, Policy};
use crate::progress::Progress;
use crate::recoding::PerGroup;
use crate::registry::{Entry, Status};

/// What messages call the algorithm.
const NAME: &str = "cell-generalization";

/// How to search.
#[derive(Debug, Clone, Copy)]
pub struct CellGeneralizationOptions<'a> {
    /// What makes a recoding good.
    pub aim: Aim<'a>,
    /// How groups are found.
    pub method: CellMethod,
}

/// How groups are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CellMethod {
    /// Greedy clusters, each of records chosen from this number of candidates.
    Clusters {
        /// How many records a cluster looks at. Where the table has no more, all are looked at.
        candidates: usize,
    },
    /// The same within the groups of the unrestricted multi-dimension answer, or of the whole table.
    Refined {
        /// How many records a cluster looks at.
        candidates: usize,
    },
    /// Full-domain generalization of what the one before has left out, round by round.
    Rounds,
}

impl Default for CellMethod {
    fn default() -> Self {
        CellMethod::CLUSTERS
    }
}

impl CellMethod {
    /// Clusters with as many candidates as are worth their time: on Adult 16 times as many take 8 times as long and gain
    /// 2 % of the loss with k = 10, 1 % with k = 100.
    pub const CLUSTERS: CellMethod = CellMethod::Clusters { candidates: 512 };
    /// The same within finer groups.
    pub const REFINED: CellMethod = CellMethod::Refined { candidates: 512 };
}

/// Recodes every group of records as little as the policy allows, greedily.
///
/// `None` if the policy refuses what is left, with everything at its top and more rows than the budget. Fails when the
/// policy is not closed under merging, when the source has counts only, or when it is cancelled.
pub fn cell_generalization(
    problem: Problem<'_>,
    attributes: &Attributes,
    options: CellGeneralizationOptions<'_>,
    progress: &Progress,
) -> Result<Option<Found<PerGroup>>> {
    check(problem, NAME)?;
    let node = match options.method {
        CellMethod::Clusters { candidates } | CellMethod::Refined { candidates } => {
            checked(NAME, candidates)?;
            best_node(problem, attributes, options.aim, progress)?
        }
        CellMethod::Rounds => None,
    };
    let ground = Ground::new(problem, attributes, options.aim, Ladder::All, NAME)?;
    let groups = match options.method {
        CellMethod::Clusters { candidates } => {
            let regions = boxes(&ground, node.as_deref(), u64::MAX, progress)?;
            best_clusters(&ground, regions, candidates, progress)?
        }
        CellMethod::Refined { candidates } => {
            let regions = regions(&ground, node.as_deref(), u64::MAX, progress)?;
            best_clusters(&ground, regions, candidates, progress)?
        }
        CellMethod::Rounds => Rounds { ground: &ground, problem, attributes, progress }.best()?,
    };
    groups.map(|groups| answer(&ground, groups)).transpose()
}

/// Clusters of the whole table, or within groups that were found already: whichever are better.
pub(super) fn best_clusters(
    ground: &Ground<'_>,
    regions: Option<Regions>,
    candidates: usize,
    progress: &Progress,
) -> Result<Option<RowGroups>> {
    let whole = clusters(ground, candidates, progress)?;
    let Some(regions) = regions else { return Ok(whole) };
    let within = clusters_within(ground, &regions, candidates, progress)?;
    let is_better = |whole: &RowGroups| ground.compare(&ground.sums(whole), &ground.sums(&within)).is_lt();
    Ok(Some(whole.filter(is_better).unwrap_or(within)))
}

/// At least one candidate.
pub(super) fn checked(name: &str, candidates: usize) -> Result<usize> {
    match candidates {
        0 => Err(Error::input(format!("{name} may look at 0 candidates, so it cannot choose"))
            .with_hint("give at least 1, or leave it out")),
        candidates => Ok(candidates),
    }
}

/// Groups at the lowest labels that their records have in common.
pub(super) fn answer(ground: &Ground<'_>, mut groups: RowGroups) -> Result<Found<PerGroup>> {
    groups.set_steps(|rows| lowest_steps(ground, rows));
    let steps = groups.iter().flat_map(|(steps, _)| steps).copied();
    let is_untouched = ground.is_untouched(steps, groups.all_rows());
    let quality = if is_untouched { Quality::Optimal } else { Quality::Heuristic };
    Ok(Found { recoding: ground.recoding(&groups)?, quality })
}

struct Rounds<'a, 'b> {
    ground: &'a Ground<'b>,
    problem: Problem<'a>,
    attributes: &'a Attributes,
    progress: &'a Progress,
}

/// How many rows a first round may leave out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Leave {
    /// Those of the policy's budget.
    Budget,
    /// As many as the metric likes.
    Any,
}

impl Rounds<'_, '_> {
    fn best(&self) -> Result<Option<RowGroups>> {
        let ground = self.ground;
        let mut best: Option<RowGroups> = None;
        for leave in [Leave::Budget, Leave::Any] {
            let Some(mut groups) = self.run(leave)? else { continue };
            groups.set_steps(|rows| lowest_steps(ground, rows));
            let is_better =
                |best: &RowGroups| ground.compare(&ground.sums(&groups), &ground.sums(best)).is_lt();
            if best.as_ref().is_none_or(is_better) {
                best = Some(groups);
            }
        }
        Ok(best)
    }

    fn run(&self, leave: Leave) -> Result<Option<RowGroups>> {
        let ground = self.ground;
        let mut groups = RowGroups::new(ground.trees.len());
        let mut is_open = vec![true; ground.n_vectors() as usize];
        let mut scratch = ground.no_rows();
        let mut leave = leave;
        loop {
            self.progress.check()?;
            let open: Vec<u32> = (0..ground.n_vectors()).filter(|&vector| is_open[vector as usize]).collect();
            let Some(levels) = self.best_levels(&is_open, &open, leave)? else { break };
            leave = Leave::Any;
            let n_before = groups.len();
            for vectors in ground.by_labels(open.iter().copied(), &levels) {
                if ground.admits(vectors.iter().copied(), &mut scratch)? {
                    groups.push(&levels, ground.whole(&vectors));
                    vectors.iter().for_each(|&vector| is_open[vector as usize] = false);
                }
            }
            if groups.len() == n_before {
                break;
            }
        }
        // Only rows with a label in common can be merged.
        let top = ground.top();
        let mut done = RowGroups::new(ground.trees.len());
        let mut budget = ground.budget;
        let of_top = |leaves: &[u32]| ground.labels(leaves, &top);
        for vectors in ground.by_labels(0..ground.n_vectors(), &top) {
            let labels = of_top(ground.leaves_of_vector(vectors[0]));
            let mut part = RowGroups::new(ground.trees.len());
            for (steps, rows) in groups.iter().filter(|(_, rows)| of_top(ground.leaves(rows[0].0)) == labels)
            {
                part.push(steps, rows.iter().copied());
            }
            let rest: Vec<u32> = vectors.into_iter().filter(|&vector| is_open[vector as usize]).collect();
            let rest: Vec<(u32, u32)> = ground.whole(&rest).collect();
            let n_published = part.all_rows();
            let Some(merged) = merge_rest(ground, part, &rest, budget, self.progress)? else {
                return Ok(None);
            };
            budget -= n_published + n_rows(&rest) - merged.all_rows();
            done.append(merged);
        }
        Ok(Some(done))
    }

    /// The levels of the best node for the vectors that are open, if some node holds.
    fn best_levels(&self, is_open: &[bool], open: &[u32], leave: Leave) -> Result<Option<Vec<u8>>> {
        let ground = self.ground;
        if open.is_empty() {
            return Ok(None);
        }
        let n_rows = ground.rows_of_all(open);
        let is_kept: Vec<bool> = ground
            .cells
            .of_record
            .iter()
            .map(|&cell| is_open[ground.vector_of[cell as usize] as usize])
            .collect();
        let source = records_of(self.problem, NAME)?.some_records(&is_kept);
        let source: &dyn FrequencySource = &*source;
        let budget = match leave {
            Leave::Budget => ground.budget,
            Leave::Any => n_rows,
        };
        let policy = searchable(ground.policy, budget);
        let metric = self.metric();
        let problem = Problem { source, policy: &policy };
        let heights = self.attributes.heights();
        if !has_quick_optimum_search(&policy, metric, &heights) {
            return Ok(Some(heights));
        }
        let costs = Costs::new(problem, self.attributes)?.with_weights(ground.aim.costs.weights.clone())?;
        let found = optimum(problem, self.attributes, &costs, metric, self.progress)?;
        Ok(found.best.map(|best| best.statistics.levels))
    }

    /// The metric, or loss where the best node by it cannot be searched.
    fn metric(&self) -> &dyn Metric {
        match self.ground.aim.metric.needs() {
            metric::Needs::Groups => metric::ALL[0].item,
            _ => self.ground.aim.metric,
        }
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

/// How it is listed and run.
pub(super) const ENTRY: Entry<Algorithm> = Entry {
    name: "cell-generalization",
    summary: "local recoding: clusters of similar rows get their lowest common labels",
    reference: "Byun, Kamra, Bertino, Li: Efficient k-anonymization using clustering techniques, DASFAA 2007",
    doc: include_str!("cell_generalization.md"),
    status: Status::Preview,
    item: Algorithm {
        family: Family::MultiDimension,
        columns: ColumnNeeds::SomeHierarchy,
        settings: &[Setting::CellMethod],
        claim: |_| Claimed::Local,
        traversal: None,
        run,
    },
};

fn run(task: &Task<'_>) -> Result<Option<Answer>> {
    let options = CellGeneralizationOptions { aim: task.aim, method: task.settings.cell_method };
    let found = cell_generalization(task.problem, task.attributes, options, task.progress)?;
    Ok(found.map(Answer::of_groups))
}
