//! Groups from the records, at every node.
//!
//! The plainest judge: one pass over the table per node, with a hash table or by sorting. Remembers nothing,
//! so it is right whatever is asked in whatever order; everything else is measured against it.
//! Cost: a scan per node. Where memory is limited and a node has more groups than fit, they are judged in parts, a scan each.

use crate::error::Result;
use crate::frequency::{Method, count_within};
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
        let grouping = self.family.grouping(node);
        self.work.count_node();
        self.work.table_scans += 1;
        match count_within(source, &grouping, &policy.demand(), self.method)? {
            Ok(set) => Ok(policy.judge(&set)?.holds),
            Err(too_many) => {
                let (holds, n_scans) = self.problem.judge_parts(&grouping, too_many, "the search")?;
                self.work.table_scans += n_scans;
                Ok(holds)
            }
        }
    }

    fn work(&self) -> Work {
        self.work
    }
}
