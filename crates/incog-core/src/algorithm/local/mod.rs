//! Local recoding that is polished: groups of similar records, moved about until no move helps.
//!
//! *Promise*: every group of the release is one that the policy admits, at most as many rows as its budget are left out,
//! every group has the lowest labels that its records have in common, and the release is never worse by the metric than the
//! best full-domain generalization, where that can be searched.
//!
//! 1. *Rounds* ([`rounds`]), as ARX makes local recodings (Prasser, Eicher, Spengler, Bild, Kuhn: Flexible data anonymization
//!    using ARX, Software: Practice and Experience 2020): the best full-domain generalization where leaving rows out costs
//!    nothing, but at least a share of the rows must stay; the same for the rows that it leaves out, until none are left.
//! 2. Within each group of a round, greedy clusters (the module `clusters`): groups of 2k rows and more come apart.
//!    Small tables start from clusters of the whole table and of the [unrestricted](super::unrestricted_multi()) answer, too, and the best answer
//!    counts.
//! 3. *Passes* ([`polish`]): every row is offered to groups nearby, and goes where the whole loses least, if the group that it
//!    leaves can do without it, or gets another row for it; a group whose rows lose less elsewhere is dissolved; a group that
//!    can be cut is cut; two small groups are divided anew.
//! 4. Stop when a pass gains too little, or after a number of passes.
//!
//! Differs from ARX: (1) everything from step 2 on; (2) what no round can publish goes to the nearest groups; (3) any policy that
//! is closed under merging, person units, and any metric: what single cells cost by it steers the moves, and the metric itself
//! decides between the answers before and after; (4) a round publishes a share of the rows that are left, not of all.
//!
//! Sound because a move is made only if the policy admits both groups after it. Deterministic: limits count passes, never
//! seconds, and ties go to the group that comes first, so the same table gives the same release on any machine. The order of
//! rows matters only where ties are concerned.
//!
//! Cost: a full-domain search for each round; then for each record and pass a look at some hundred neighbours. Memory: eight
//! bytes a record for each attribute and order of the records, of which there are two an attribute.

mod near;
mod parts;
mod polish;
mod rounds;

use crate::algorithm::Aim;
use crate::algorithm::cell_generalization::answer;
use crate::algorithm::clusters::{clusters, clusters_within};
use crate::algorithm::contract::{Algorithm, Answer, Claimed, ColumnNeeds, Family, Setting, Task};
use crate::algorithm::full_subgraph::best_node;
use crate::algorithm::groups::RowGroups;
use crate::algorithm::quality::{Found, Limits, Quality};
use crate::algorithm::unrestricted_multi::regions;
use crate::algorithm::vectors::{Ground, Ladder, check, check_limit};
use crate::error::Result;
use crate::hierarchy::Attributes;
use crate::judge::Problem;
use crate::progress::Progress;
use crate::recoding::PerGroup;
use crate::registry::{Entry, Status};

use polish::polish;
use rounds::{Share, Start, rounds};

/// What messages call the algorithm.
const NAME: &str = "local";

/// How many records a cluster within the groups of a round chooses from.
const CANDIDATES: usize = 512;

/// Tables of up to this many unlike records are searched from other starts than rounds, too.
const FEW_RECORDS: usize = 4096;

/// How to search.
#[derive(Debug, Clone, Copy)]
pub struct LocalOptions<'a> {
    /// What makes a recoding good.
    pub aim: Aim<'a>,
    /// When to stop. A step is a pass over all records; with a deadline, passes are made until it is over.
    pub limits: Limits,
    /// Whether to polish. Without, the answer is what the rounds publish, as they publish it: the stand-in for ARX in benchmarks.
    pub polish: bool,
}

/// Finds groups by rounds and polishes them.
///
/// `None` if the policy refuses what is left, with everything at its top and more rows than the budget. Fails when the
/// policy is not closed under merging, when the source has counts only, or when it is cancelled.
pub fn local(
    problem: Problem<'_>,
    attributes: &Attributes,
    options: LocalOptions<'_>,
    progress: &Progress,
) -> Result<Option<Found<PerGroup>>> {
    check_limit(NAME, options.limits.max_steps)?;
    check(problem, NAME)?;
    let node = match options.polish {
        true => best_node(problem, attributes, options.aim, progress)?,
        false => None,
    };
    let ground = Ground::new(problem, attributes, options.aim, Ladder::All, NAME)?;
    let share = if options.polish { Share::OfLeft } else { Share::OfAll };
    let start = Start { ground: &ground, problem, attributes, share, progress };
    let (published, rest) = rounds(&start)?;
    if !options.polish {
        let found = start.place(&start.whole(&published), &rest)?;
        let found = found.map(|groups| ground.recoding(&groups)).transpose()?;
        return Ok(found.map(|recoding| Found { recoding, quality: Quality::Heuristic }));
    }
    let within = clusters_within(&ground, &published, CANDIDATES, progress)?;
    let of_rounds = start.place(&within, &rest)?;
    let mut starts = vec![of_rounds];
    if ground.cells.rows.len() <= FEW_RECORDS {
        starts.push(clusters(&ground, CANDIDATES, progress)?);
        let of_values = regions(&ground, node.as_deref(), u64::MAX, progress)?;
        let within = of_values.map(|regions| clusters_within(&ground, &regions, CANDIDATES, progress));
        starts.push(within.transpose()?);
    }
    let mut best: Option<RowGroups> = None;
    for groups in starts.into_iter().flatten() {
        let polished = polish(&ground, groups, options.limits, progress)?;
        let is_better =
            |best: &RowGroups| ground.compare(&ground.sums(&polished), &ground.sums(best)).is_lt();
        if best.as_ref().is_none_or(is_better) {
            best = Some(polished);
        }
    }
    let Some(found) = best else { return Ok(None) };
    let full_domain = node.map(|levels| start.at_levels(&levels)).transpose()?;
    let is_better = |other: &RowGroups| ground.compare(&ground.sums(other), &ground.sums(&found)).is_lt();
    answer(&ground, full_domain.filter(is_better).unwrap_or(found)).map(Some)
}

/// How it is listed and run.
pub(super) const ENTRY: Entry<Algorithm> = Entry {
    name: NAME,
    summary: "local recoding: rounds of full-domain generalization, then rows move until no move helps",
    reference: "Prasser, Kohlmayer, Kuhn: the iterative local recoding of ARX; polished here",
    doc: include_str!("../local.md"),
    status: Status::Preview,
    item: Algorithm {
        family: Family::MultiDimension,
        columns: ColumnNeeds::SomeHierarchy,
        settings: &[Setting::MaxSteps, Setting::TimeLimit],
        claim: |_| Claimed::Local,
        traversal: None,
        run,
    },
};

fn run(task: &Task<'_>) -> Result<Option<Answer>> {
    let options = LocalOptions { aim: task.aim, limits: task.settings.limits, polish: true };
    Ok(local(task.problem, task.attributes, options, task.progress)?.map(Answer::of_groups))
}
