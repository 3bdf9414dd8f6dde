//! `best`: what runs where a job names no algorithm.
//!
//! A release needs one node, the best by the metric. Two searches find it without all the others, and this is where it is decided
//! which: [`optimum`] has a number for every node and so an order to judge them in; [`best_first`] has boxes of nodes, needs no
//! memory a node, and can be cut short. Where neither applies (a metric of groups on a lattice too large to be written down),
//! the job is refused with what would help.

use crate::algorithm::contract::{
    Algorithm, Answer, Claimed, ColumnNeeds, Family, NodeAnswer, Setting, Task,
};
use crate::algorithm::optimum::{
    best_first, has_best_first_search, has_optimum_search, is_quicker_best_first, optimum,
};
use crate::algorithm::quality::{Judged, Quality};
use crate::error::{Error, ErrorKind, Result};
use crate::lattice::Lattice;
use crate::metric::Metric;
use crate::registry::{Entry, Status};

/// How it is listed and run.
pub(super) const ENTRY: Entry<Algorithm> = Entry {
    name: "best",
    summary: "the best full-domain generalization, without finding all others; what runs unless another is named",
    reference: "own; bounds as in branch and bound, sets of groups as in Kohlmayer et al.: Flash, PASSAT 2012",
    doc: include_str!("best.md"),
    status: Status::Preview,
    item: Algorithm {
        family: Family::FullDomain,
        columns: ColumnNeeds::Nothing,
        settings: &[Setting::Decide, Setting::TimeLimit, Setting::MaxSteps],
        claim: |_| Claimed::Levels,
        traversal: None,
        run,
    },
};

/// Can `best` answer for a lattice of these heights by this metric?
pub fn has_best(heights: &[u8], metric: &dyn Metric) -> bool {
    has_best_first_search(metric) || has_optimum_search(heights)
}

fn run(task: &Task<'_>) -> Result<Option<Answer>> {
    let heights = task.attributes.heights();
    let limits = task.settings.limits;
    let is_limited = limits.max_steps.is_some() || limits.deadline.is_some();
    let has_bounds = has_best_first_search(task.aim.metric);
    if has_bounds && (is_limited || is_quicker_best_first(&heights)) {
        return run_best_first(task, &heights);
    }
    if is_limited {
        let mistake = format!("the search for the best by `{}` cannot be cut short", task.metric);
        return Err(Error::input(mistake).with_hint("leave out `max_steps` and `time_limit`"));
    }
    if !has_optimum_search(&heights) {
        let mistake = "there are too many generalizations for this metric";
        return Err(Error::new(ErrorKind::Limit, mistake)
            .with_hint("use fewer quasi-identifiers or levels, or another metric, such as loss"));
    }
    let found = optimum(task.problem, task.attributes, task.aim.costs, task.aim.metric, task.progress)?;
    let lattice = Lattice::new(&heights)?;
    let known = found.judged.iter().filter_map(|&(node, rows)| Some((node, rows?)));
    let known = known.map(|(node, rows)| (lattice.levels(node).collect(), rows)).collect();
    let n_judged = Some(found.judged.len() as u64);
    Ok(found.best.map(|best| {
        Answer::Node(Box::new(NodeAnswer {
            statistics: best.statistics,
            quality: Quality::Optimal,
            n_judged,
            left_open: found.left_open,
            known,
            groups: found.groups,
        }))
    }))
}

/// The best node that is found until a limit, where there are too many nodes or where the job gives one.
fn run_best_first(task: &Task<'_>, heights: &[u8]) -> Result<Option<Answer>> {
    let limits = task.settings.limits;
    let found =
        best_first(task.problem, task.attributes, task.aim.costs, task.aim.metric, limits, task.progress)?;
    match (found.best, found.quality) {
        (Some(statistics), quality) => Ok(Some(Answer::Node(Box::new(NodeAnswer {
            statistics,
            quality,
            n_judged: Some(found.n_judged),
            left_open: found.left_open,
            known: found.known,
            groups: found.groups,
        })))),
        (None, Quality::Optimal) => Ok(None),
        (None, _) => {
            let policy = task.problem.policy.describe();
            let judged = Judged::of(found.n_judged, heights);
            let problem = format!("nothing that satisfies {policy} was found ({judged})");
            Err(Error::new(ErrorKind::Limit, problem).with_hint(
                "allow more `max_steps` or a longer `time_limit` in [search], or use fewer levels",
            ))
        }
    }
}
