//! Finds one node of minimal height that holds, by binary search on the height
//! (Samarati: *Protecting respondents' identities in microdata release*, TKDE 2001; section 2.2 of the Incognito
//! paper). The suppression budget is her MaxSup.
//!
//! 1. If a node of height h holds, so does one of every greater height (any generalization of it): the least
//!    height can be bisected.
//! 2. At a height, nodes are judged in column order until one holds.
//!
//! Differs from the paper: (1) nodes are judged by group-by, as in LeFevre et al., not with a matrix of distance
//! vectors between tuples; (2) of several nodes of minimal height the first in column order is returned.
//! Refuses policies without sound pruning: step 1 would be wrong. Cost: at most all nodes of log(height) heights.

use crate::algorithm::contract::{Algorithm, Traversal, best_of_all};
use crate::algorithm::{Run, Traversed};
use crate::error::{Error, ErrorKind, Result};
use crate::judge::Keep;
use crate::lattice::NodeSet;
use crate::privacy::Pruning;
use crate::registry::{Entry, Status};

pub(super) fn search(run: &Run<'_>) -> Result<Traversed> {
    if run.problem.policy.pruning() == Pruning::Unsound {
        return Err(Error::new(
            ErrorKind::Policy,
            format!(
                "`samarati` cannot search for {} with a suppression budget of {} rows: a node may hold and its \
                 generalizations not",
                run.problem.policy.describe(),
                run.problem.policy.budget()
            ),
        )
        .with_hint("use `incognito` or `bottom-up`, which then judge every node that k-anonymity leaves open, or set suppression to 0"));
    }
    let lattice = run.lattice;
    run.progress.expect(lattice.n_nodes() as u64);
    // Heights are visited in no order and nodes of one height do not help each other: nothing is worth keeping.
    let mut judge = run.judges.open(lattice, &[0], Keep::Nothing)?;
    let mut first_at = |height: usize| -> Result<Option<usize>> {
        for node in lattice.nodes_at_height(height) {
            run.progress.judged()?;
            if judge.judge(node)? {
                return Ok(Some(node));
            }
        }
        Ok(None)
    };
    // Below `low` nothing holds; at `high` something may, and does once `found` is set.
    let (mut low, mut high) = (0, lattice.max_height());
    let mut found = None;
    while low < high {
        let middle = low.midpoint(high);
        match first_at(middle)? {
            Some(node) => {
                found = Some(node);
                high = middle;
            }
            None => low = middle + 1,
        }
    }
    if found.is_none() {
        found = first_at(high)?;
    }
    let mut holding = NodeSet::empty(lattice);
    if let Some(node) = found {
        holding.insert(node);
    }
    Ok(Traversed::in_one_iteration(lattice, holding, judge.work()))
}

/// How it is listed and run.
pub(super) const ENTRY: Entry<Algorithm> = Entry {
    name: "samarati",
    summary: "binary search on the height; finds one node of minimal height",
    reference: "Samarati: Protecting respondents' identities in microdata release, TKDE 2001",
    doc: include_str!("samarati.md"),
    status: Status::Preview,
    item: Algorithm::of_traversal(Traversal::Samarati, |task| best_of_all(task, Traversal::Samarati)),
};
