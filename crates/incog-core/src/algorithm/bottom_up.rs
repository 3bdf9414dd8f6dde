//! Finds every node that holds by one breadth-first search from the bottom of the lattice
//! (LeFevre, DeWitt, Ramakrishnan, SIGMOD 2005, section 2.2, run exhaustively).
//!
//! The naive peer of Incognito: no subsets, so nothing is pruned before a node of all attributes is judged.
//! Without roll-up it is this traversal with the judge `scan` or `sort`, with roll-up with `roll-up`.
//! Only run where [`Policy::pruning`](crate::privacy::Policy::pruning) is sound.
//! Cost: a check for every node that fails, and for the lowest that hold.

use crate::algorithm::breadth_first::breadth_first;
use crate::algorithm::contract::{Algorithm, Traversal, best_of_all};
use crate::algorithm::{Run, Traversed};
use crate::error::Result;
use crate::judge::Keep;
use crate::lattice::NodeSet;
use crate::registry::{Entry, Status};

pub(super) fn search(run: &Run<'_>) -> Result<Traversed> {
    run.progress.expect(run.lattice.n_nodes() as u64);
    let mut holding = NodeSet::all(run.lattice);
    let mut judge = run.judges.open(run.lattice, &[0], Keep::Failing)?;
    breadth_first(run.lattice, &mut holding, &[0], run.search.marking, &mut *judge, run.progress)?;
    Ok(Traversed::in_one_iteration(run.lattice, holding, judge.work()))
}

/// How it is listed and run.
pub(super) const ENTRY: Entry<Algorithm> = Entry {
    name: "bottom-up",
    summary: "breadth-first from the bottom of the lattice, skipping what lies above a node that holds",
    reference: "LeFevre, DeWitt, Ramakrishnan, SIGMOD 2005, section 2.2",
    doc: include_str!("bottom_up.md"),
    status: Status::Preview,
    item: Algorithm::of_traversal(Traversal::BottomUp, |task| best_of_all(task, Traversal::BottomUp)),
};
