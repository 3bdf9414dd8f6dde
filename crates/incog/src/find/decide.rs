//! Does a generalization that was chosen by k alone satisfy the whole policy?

use incog_core::Result;
use incog_core::lattice::Grouping;
use incog_core::metric::Statistics;
use incog_core::words::counted;

use crate::find::obstacle::{Obstacle, need};
use crate::plan::Plan;

/// What the whole policy says of the generalization that was chosen by a part of it.
pub(crate) enum WholePolicy {
    /// It holds; what is known of the release.
    Holds(Statistics),
    /// It does not: what is in the way.
    Fails(Obstacle),
}

/// Leaves out what the rest of the policy refuses at a node that was chosen.
pub(crate) fn settle(plan: &Plan, chosen: &Statistics) -> Result<WholePolicy> {
    if plan.decided_by.is_none() {
        return Ok(WholePolicy::Holds(chosen.clone()));
    }
    let levels = &chosen.levels;
    let set = plan.problem().count(&Grouping::of_levels(levels))?;
    if plan.policy.judge(&set)?.holds {
        return Ok(WholePolicy::Holds(Statistics::new(
            plan.problem(),
            &plan.attributes,
            levels.clone(),
            &set,
        )?));
    }
    let decided = format!("decided by {} alone: ", plan.deciding().describe());
    let hint = "\nhint: decide = \"all\" looks for another generalization; or allow more suppression";
    Ok(WholePolicy::Fails(need(plan, levels)?.after(&decided).and(hint)))
}

/// What there is to say about the search: where nodes were judged one by one, and what a decision by k alone left over.
pub(crate) fn notes(plan: &Plan, left_open: Option<u64>, chosen: u64, released: u64) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(n_open) = left_open {
        notes.push(judged_one_by_one(n_open));
    }
    if plan.decided_by.is_some() {
        notes.push(format!(
            "decided by {} alone, which leaves out {}; the other models leave out {} more",
            plan.deciding().describe(),
            counted(chosen, "row", "rows"),
            released.saturating_sub(chosen)
        ));
    }
    notes
}

/// Why open nodes were judged one by one.
pub(crate) fn judged_one_by_one(n_open: u64) -> String {
    let nodes = match n_open {
        1 => "1 generalization was".to_owned(),
        n => format!("{n} generalizations were"),
    };
    format!(
        "pruning is unsound for this policy, what holds may fail when generalized further: {nodes} judged one by one"
    )
}
