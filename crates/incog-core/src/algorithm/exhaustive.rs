//! Judges every node of the lattice: the oracle that every other search must agree with.
//!
//! Needs no property of the policy. Cost: one check per node.

use crate::algorithm::breadth_first::judge_each;
use crate::algorithm::contract::{Algorithm, Traversal, best_of_all};
use crate::algorithm::{Run, Traversed};
use crate::error::Result;
use crate::judge::Keep;
use crate::lattice::NodeSet;
use crate::registry::{Entry, Status};

pub(super) fn search(run: &Run<'_>) -> Result<Traversed> {
    run.progress.expect(run.lattice.n_nodes() as u64);
    let mut judge = run.judges.open(run.lattice, &[0], Keep::Everything)?;
    let holding = judge_each(run.lattice, &NodeSet::all(run.lattice), &mut *judge, run.progress)?;
    Ok(Traversed::in_one_iteration(run.lattice, holding, judge.work()))
}

/// How it is listed and run.
pub(super) const ENTRY: Entry<Algorithm> = Entry {
    name: "exhaustive",
    summary: "judges every node; the oracle for all others",
    reference: "own",
    doc: include_str!("exhaustive.md"),
    status: Status::Preview,
    item: Algorithm::of_traversal(Traversal::Exhaustive, |task| best_of_all(task, Traversal::Exhaustive)),
};
