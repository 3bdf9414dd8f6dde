//! Groups from the records, at every node.
//!
//! The plainest judge: one pass over the table per node, with a hash table or by sorting. Remembers nothing,
//! so it is right whatever is asked in whatever order; everything else is measured against it.
//! Cost: a scan per node.

use crate::error::Result;
use crate::frequency::{Method, counted};
use crate::judge::{Judge, Judges, Keep, Problem, Work};
use crate::lattice::Lattice;

pub(super) struct Scan<'a> {
    pub(super) problem: Problem<'a>,
    pub(super) method: Method,
}

impl Judges for Scan<'_> {
    fn open<'a>(&'a self, family: &'a Lattice, _: &[usize], _: Keep) -> Result<Box<dyn Judge + 'a>> {
        Ok(Box::new(ScanJudge { problem: self.problem, method: self.method, family, work: Work::default() }))
    }
}

struct ScanJudge<'a> {
    problem: Problem<'a>,
    method: Method,
    family: &'a Lattice,
    work: Work,
}

impl Judge for ScanJudge<'_> {
    fn judge(&mut self, node: usize) -> Result<bool> {
        let Problem { source, policy } = self.problem;
        let set = counted(source, &self.family.grouping(node), &policy.demand(), self.method)?;
        self.work.count_node();
        self.work.table_scans += 1;
        Ok(policy.judge(&set)?.holds)
    }

    fn work(&self) -> Work {
        self.work
    }
}
