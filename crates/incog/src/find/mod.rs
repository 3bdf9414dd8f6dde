//! Which recoding?
//!
//! Runs the plan's route and says what came of it: a recoding with its quality and costs, or what stands in the way. Everything
//! that depends on the kind of search ends here; whoever has a [`FoundRecoding`] can apply, verify, measure and write it.
//!
//! 1. The algorithm of the route answers with a node or with another recoding.
//! 2. A node that was chosen by k alone is held against the whole policy ([`decide`]).
//! 3. A node becomes a recoding that leaves out the groups which the policy refuses there.
//! 4. Where there is no answer, [`obstacle`] says how far the closest generalization is from the policy.

mod better;
pub(crate) mod decide;
pub(crate) mod obstacle;

pub use better::Better;
pub(crate) use better::better;
use obstacle::Obstacle;

use incog_core::algorithm::{Aim, Answer, Judged, NodeAnswer, Quality, Task};
use incog_core::metric::{Costs, Statistics};
use incog_core::recoding::{Domains, PerLevel, Recoding};
use incog_core::{Error, ErrorKind, Progress, Result, Stage};

use crate::find::decide::WholePolicy;
use crate::plan::{Chosen, Plan, Route};

/// What came of a search.
pub(crate) enum Outcome {
    /// A recoding.
    Found(Box<FoundRecoding>),
    /// Nothing satisfies the policy: what stands in the way.
    Nothing(Obstacle),
}

/// A recoding, and what is known of it before it is applied.
pub(crate) struct FoundRecoding {
    pub(crate) recoding: Recoding,
    /// The algorithm, where recoding is not by whole columns.
    pub(crate) local: Option<Chosen>,
    /// The orders that boxes go by; none where columns are recoded by hierarchies.
    pub(crate) domains: Domains,
    /// Of a node: its levels, and sums over its groups. Other recodings are measured from their labels.
    pub(crate) statistics: Option<Statistics>,
    /// What it is scored by.
    pub(crate) costs: Costs,
    pub(crate) quality: Quality,
    /// How many nodes were judged, of how many.
    pub(crate) judged: Option<Judged>,
    /// Nodes with the rows that would be suppressed there, as far as they are known.
    pub(crate) known: Vec<(Vec<u8>, u64)>,
    /// What else there is to say, a line each.
    pub(crate) notes: Vec<String>,
}

/// Goes a route to its end.
pub(crate) fn find(plan: &Plan, route: &Route, progress: &Progress) -> Result<Outcome> {
    progress.enter(Stage::Searching);
    let chosen = route.chosen();
    let costs = plan.costs()?;
    let domains = plan.domains(Some(chosen))?;
    let Some(answer) = answer(plan, route, &costs, &domains, progress)? else {
        return Ok(Outcome::Nothing(if chosen.is_local() {
            obstacle::at_the_top(plan)?
        } else {
            obstacle::closest(plan, progress)?
        }));
    };
    let node = match answer {
        Answer::Recoding { recoding, quality, notes } => {
            return Ok(Outcome::Found(Box::new(FoundRecoding {
                recoding: *recoding,
                local: Some(chosen.clone()),
                costs: costs.with_domains(&domains),
                domains,
                statistics: None,
                quality,
                judged: None,
                known: Vec::new(),
                notes,
            })));
        }
        Answer::Node(node) => *node,
    };
    // Only searches of the lattice can be told to decide by k alone.
    let settled = match route {
        Route::Every(..) | Route::Best(_) => decide::settle(plan, &node.statistics)?,
        Route::Recode(_) => WholePolicy::Holds(node.statistics.clone()),
    };
    match settled {
        WholePolicy::Holds(statistics) => of_node(plan, node, statistics, costs, domains),
        WholePolicy::Fails(obstacle) => Ok(Outcome::Nothing(obstacle)),
    }
}

/// What the algorithm of a route answers.
fn answer(
    plan: &Plan,
    route: &Route,
    costs: &Costs,
    domains: &Domains,
    progress: &Progress,
) -> Result<Option<Answer>> {
    let chosen = route.chosen();
    let settings = chosen.starting_now();
    let task = Task {
        problem: match route {
            Route::Every(..) | Route::Best(_) => plan.deciding_problem(),
            Route::Recode(_) => plan.problem(),
        },
        attributes: &plan.attributes,
        aim: Aim { metric: plan.metric, costs },
        metric: plan.names.metric,
        domains,
        settings: &settings,
        progress,
    };
    let run = || (chosen.algorithm().run)(&task);
    match (route, chosen.threads) {
        (Route::Recode(_), Some(threads)) => in_threads(threads, run)?,
        _ => run(),
    }
}

/// Runs something on a pool of `threads` threads.
fn in_threads<T: Send>(threads: usize, run: impl FnOnce() -> T + Send) -> Result<T> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().map_err(|error| {
        Error::new(ErrorKind::Limit, format!("cannot start {threads} threads: {error}"))
            .with_hint("set fewer `threads`")
    })?;
    Ok(pool.install(run))
}

/// The recoding of a node that holds.
fn of_node(
    plan: &Plan,
    node: NodeAnswer,
    statistics: Statistics,
    costs: Costs,
    domains: Domains,
) -> Result<Outcome> {
    let recoding = match &node.groups {
        // What was decided by and what is published are the same.
        Some(groups) if plan.decided_by.is_none() => {
            PerLevel::of_groups(&plan.policy, &statistics.levels, groups)
        }
        _ => PerLevel::new(plan.problem(), &statistics.levels),
    }?;
    let (chosen, released) = (node.statistics.suppressed_rows, statistics.suppressed_rows);
    Ok(Outcome::Found(Box::new(FoundRecoding {
        recoding: Recoding::PerLevel(recoding),
        local: None,
        domains,
        costs,
        // Chosen by k alone, another might be better with all that is required.
        quality: if plan.decided_by.is_some() { Quality::Heuristic } else { node.quality },
        judged: node.n_judged.map(|nodes| Judged::of(nodes, &plan.attributes.heights())),
        known: node.known,
        notes: decide::notes(plan, node.left_open, chosen, released),
        statistics: Some(statistics),
    })))
}
