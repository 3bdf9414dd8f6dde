//! How far is the work, and should it stop?
//!
//! One [`Progress`] is shared between the work and whoever started it. The work says which [`Stage`] it is in, counts rows and
//! nodes, and asks whether to go on. Whoever started it reads the counters and may cancel. There is no clock and no callback: a
//! progress bar polls. Whether anybody reads the counters never changes a result.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering::Relaxed};

use crate::error::{Error, ErrorKind, Result};

/// How far the work is, and whether it was cancelled.
#[derive(Debug, Default)]
pub struct Progress {
    cancelled: AtomicBool,
    stage: AtomicU8,
    rows: AtomicU64,
    judged: AtomicU64,
    open: AtomicU64,
    /// How often it was asked whether to go on, since the limit was set.
    steps: AtomicU64,
    /// How often it may be, at most; 0 is no limit.
    limit: AtomicU64,
}

/// What is being done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stage {
    /// Rows are read.
    Reading,
    /// Nodes are judged.
    Searching,
    /// Persons are put into clusters. The rows counted are those of the person table.
    Clustering,
    /// Clusters that a policy refuses are merged.
    Merging,
    /// The best of the nodes that hold is looked for.
    Ranking,
    /// The release is checked.
    Verifying,
    /// Rows are written.
    Writing,
    /// Columns are described. What is counted is columns.
    Describing,
    /// Columns are combined, to see which single people out. What is counted is combinations.
    Combining,
}

impl Stage {
    const ALL: [Stage; 9] = [
        Stage::Reading,
        Stage::Searching,
        Stage::Clustering,
        Stage::Merging,
        Stage::Ranking,
        Stage::Verifying,
        Stage::Writing,
        Stage::Describing,
        Stage::Combining,
    ];
}

impl Progress {
    /// The progress of work that has not begun and that nobody has cancelled.
    pub fn new() -> Self {
        Progress::default()
    }

    /// Asks the search to stop at the next node; it then returns an error of kind
    /// [`Cancelled`](ErrorKind::Cancelled).
    pub fn cancel(&self) {
        self.cancelled.store(true, Relaxed);
    }

    /// Has somebody asked to stop?
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Relaxed)
    }

    /// A stage begins. The count of rows starts at 0 again.
    pub fn enter(&self, stage: Stage) {
        self.rows.store(0, Relaxed);
        self.stage.store(stage as u8 + 1, Relaxed);
    }

    /// The current stage, once one has begun.
    pub fn stage(&self) -> Option<Stage> {
        Stage::ALL.get(usize::from(self.stage.load(Relaxed)).checked_sub(1)?).copied()
    }

    /// `n` more rows are read or written, or `n` more persons are placed.
    pub fn count_rows(&self, n: u64) {
        self.rows.fetch_add(n, Relaxed);
    }

    /// The rows read or written in this stage; while clustering, the persons placed.
    pub fn rows(&self) -> u64 {
        self.rows.load(Relaxed)
    }

    /// How many nodes have been judged so far.
    pub fn nodes_judged(&self) -> u64 {
        self.judged.load(Relaxed)
    }

    /// The most nodes that are still to be judged; while clustering the persons still to be placed, while merging the clusters.
    pub fn nodes_open(&self) -> u64 {
        self.open.load(Relaxed)
    }

    /// From now on, at most `nodes` will be judged.
    pub(crate) fn expect(&self, nodes: u64) {
        self.open.store(nodes, Relaxed);
    }

    /// One more node is judged. Fails when the search has been cancelled.
    pub(crate) fn judged(&self) -> Result<()> {
        self.judged.fetch_add(1, Relaxed);
        self.done(1)
    }

    /// `nodes` more are decided, judged or not. Fails when the search has been cancelled.
    pub(crate) fn done(&self, nodes: u64) -> Result<()> {
        // Saturating: what was expected is an estimate, not a promise.
        let _ = self.open.fetch_update(Relaxed, Relaxed, |open| Some(open.saturating_sub(nodes)));
        self.check()
    }

    /// From now on, work ends after this number of steps with an error of kind [`Limit`](ErrorKind::Limit). A step is about as much as looking
    /// at one record, and at least one for each look at the progress. Steps are counted from 0 again.
    pub fn limit(&self, steps: Option<u64>) {
        self.steps.store(0, Relaxed);
        self.limit.store(steps.unwrap_or(0), Relaxed);
    }

    /// The steps since a limit was set; 0 without one.
    pub fn steps(&self) -> u64 {
        self.steps.load(Relaxed)
    }

    /// Fails when the search has been cancelled, or when a limit is reached.
    pub fn check(&self) -> Result<()> {
        self.spend(1)
    }

    /// The same, before work of about this number of steps.
    pub(crate) fn spend(&self, steps: u64) -> Result<()> {
        if self.is_cancelled() {
            return Err(Error::new(ErrorKind::Cancelled, "cancelled"));
        }
        let limit = self.limit.load(Relaxed);
        if limit > 0 && self.steps.fetch_add(steps, Relaxed) >= limit {
            return Err(Error::new(
                ErrorKind::Limit,
                format!("no release within the limit of {limit} steps of work"),
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_ends_at_its_limit_and_not_before() {
        let progress = Progress::new();
        progress.limit(Some(10));
        assert!(progress.check().is_ok() && progress.spend(9).is_ok());
        assert_eq!(progress.steps(), 10);
        assert_eq!(progress.check().unwrap_err().kind(), ErrorKind::Limit);
        progress.limit(None);
        assert!(progress.spend(1000).is_ok());
        assert_eq!(progress.steps(), 0, "nothing is counted without a limit");
    }

    #[test]
    fn a_stage_starts_with_no_rows_done() {
        let progress = Progress::new();
        assert_eq!((progress.stage(), progress.rows()), (None, 0));
        for stage in Stage::ALL {
            progress.enter(stage);
            assert_eq!((progress.stage(), progress.rows()), (Some(stage), 0));
            progress.count_rows(2);
            assert_eq!(progress.rows(), 2);
        }
    }
}
