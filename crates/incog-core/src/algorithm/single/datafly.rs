//! Datafly: full-domain generalization, greedily (Sweeney: *Guaranteeing anonymity when sharing medical data, the Datafly
//! system*, AMIA 1997).
//!
//! *Promise*: the policy holds at the levels returned. They need not be minimal.
//!
//! 1. Group the records as collected.
//! 2. While more rows are refused than may be suppressed, generalize the attribute with most different labels by one level
//!    (the first of several), and group again.
//!
//! Differs from the paper: (1) any policy; (2) the budget is the policy's, not k rows; (3) attributes at their top are not
//! asked any more. Cost: a scan, then a roll-up a step, and at most as many steps as the heights add up to.

use crate::algorithm::contract::{Algorithm, Answer, Claimed, ColumnNeeds, Family, Task};
use crate::algorithm::quality::{Found, Quality};
use crate::error::Result;
use crate::frequency::Scratch;
use crate::hierarchy::Attributes;
use crate::judge::Problem;
use crate::lattice::Grouping;
use crate::progress::Progress;
use crate::registry::{Entry, Status};

/// How to search: there is nothing to choose.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DataflyOptions {}

/// Finds a node by generalizing the attribute with most labels. `None` if the policy holds at no node on the way; where it
/// allows [pruning](crate::privacy::Policy::pruning), no node holds then.
pub fn datafly(
    problem: Problem<'_>,
    attributes: &Attributes,
    _options: DataflyOptions,
    progress: &Progress,
) -> Result<Option<Found<Vec<u8>>>> {
    let policy = problem.policy;
    let mut levels = vec![0; attributes.len()];
    let mut set = problem.count(&Grouping::of_levels(&levels))?;
    let mut scratch = Scratch::default();
    loop {
        progress.judged()?;
        if policy.judge(&set)?.holds {
            return Ok(Some(Found { recoding: levels, quality: Quality::Heuristic }));
        }
        let n_labels = |at: usize| {
            let mut labels: Vec<u32> = (0..set.n_groups()).map(|group| set.label(group, at)).collect();
            labels.sort_unstable();
            labels.dedup();
            labels.len()
        };
        let can_rise = (0..levels.len()).filter(|&at| levels[at] < attributes[at].height());
        let most = can_rise.map(|at| (n_labels(at), std::cmp::Reverse(at))).max();
        // Where one label is left in each, generalizing merges nothing any more.
        let Some((2.., std::cmp::Reverse(at))) = most else { return Ok(None) };
        levels[at] += 1;
        set = set.roll_up(&Grouping::of_levels(&levels), &mut scratch);
    }
}

/// How it is listed and run.
pub(in crate::algorithm) const ENTRY: Entry<Algorithm> = Entry {
    name: "datafly",
    summary: "full-domain, greedy: generalizes the attribute with most values until the policy holds",
    reference: "Sweeney: Guaranteeing anonymity when sharing medical data, the Datafly system, AMIA 1997",
    doc: include_str!("datafly.md"),
    status: Status::Preview,
    item: Algorithm {
        family: Family::SingleDimension,
        columns: ColumnNeeds::Nothing,
        settings: &[],
        claim: |_| Claimed::Levels,
        traversal: None,
        run,
    },
};

fn run(task: &Task<'_>) -> Result<Option<Answer>> {
    let found = datafly(task.problem, task.attributes, DataflyOptions::default(), task.progress)?;
    found.map(|found| Answer::of_levels(task, found)).transpose()
}
