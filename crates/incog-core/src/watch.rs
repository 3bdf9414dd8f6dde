//! How far is the work, and should it stop?
//!
//! One [`Watch`] is shared between whoever started the work and the work itself: it says which [`Stage`] it is in,
//! counts rows and nodes and asks whether to go on; the other side reads the counters and may cancel. No clock, no
//! callback: a progress bar polls. Watching never changes a result.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering::Relaxed};

use crate::error::{Error, ErrorKind, Result};

/// Progress out, cancellation in.
#[derive(Debug, Default)]
pub struct Watch {
    cancelled: AtomicBool,
    stage: AtomicU8,
    rows: AtomicU64,
    judged: AtomicU64,
    open: AtomicU64,
}

/// What is being done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Rows are read.
    Reading,
    /// Nodes are judged.
    Searching,
    /// Persons are put into clusters: so many rows of the person table are done.
    Clustering,
    /// Clusters that a policy refuses are merged.
    Merging,
    /// The best of the nodes that hold is looked for.
    Ranking,
    /// The release is checked.
    Verifying,
    /// Rows are written.
    Writing,
}

impl Stage {
    const ALL: [Stage; 7] = [
        Stage::Reading,
        Stage::Searching,
        Stage::Clustering,
        Stage::Merging,
        Stage::Ranking,
        Stage::Verifying,
        Stage::Writing,
    ];
}

impl Watch {
    /// A watch that nobody has cancelled.
    pub fn new() -> Self {
        Watch::default()
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

    /// A stage begins: no row of it is done yet.
    pub fn enter(&self, stage: Stage) {
        self.rows.store(0, Relaxed);
        self.stage.store(stage as u8 + 1, Relaxed);
    }

    /// The current stage, once one has begun.
    pub fn stage(&self) -> Option<Stage> {
        Stage::ALL.get(usize::from(self.stage.load(Relaxed)).checked_sub(1)?).copied()
    }

    /// So many more rows are read or written, or persons placed.
    pub fn count_rows(&self, n: u64) {
        self.rows.fetch_add(n, Relaxed);
    }

    /// How many rows have been read or written in this stage, or persons placed.
    pub fn rows(&self) -> u64 {
        self.rows.load(Relaxed)
    }

    /// How many nodes have been judged so far.
    pub fn nodes_judged(&self) -> u64 {
        self.judged.load(Relaxed)
    }

    /// At most this many nodes of the current stage are still to be judged; or persons to be placed, or clusters to be
    /// merged.
    pub fn nodes_open(&self) -> u64 {
        self.open.load(Relaxed)
    }

    /// A stage begins in which at most `nodes` will be judged.
    pub(crate) fn begin_stage(&self, nodes: u64) {
        self.open.store(nodes, Relaxed);
    }

    /// One more node is judged. Fails when the search has been cancelled.
    pub(crate) fn judged(&self) -> Result<()> {
        self.judged.fetch_add(1, Relaxed);
        self.settled(1)
    }

    /// `nodes` need no judgement any more. Fails when the search has been cancelled.
    pub(crate) fn settled(&self, nodes: u64) -> Result<()> {
        // Saturating: a stage's estimate is an upper bound, not a promise.
        let _ = self.open.fetch_update(Relaxed, Relaxed, |open| Some(open.saturating_sub(nodes)));
        self.check()
    }

    /// Fails when the search has been cancelled.
    pub fn check(&self) -> Result<()> {
        if self.is_cancelled() {
            return Err(Error::new(ErrorKind::Cancelled, "cancelled"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stage_starts_with_no_rows_done() {
        let watch = Watch::new();
        assert_eq!((watch.stage(), watch.rows()), (None, 0));
        for stage in Stage::ALL {
            watch.enter(stage);
            assert_eq!((watch.stage(), watch.rows()), (Some(stage), 0));
            watch.count_rows(2);
            assert_eq!(watch.rows(), 2);
        }
    }
}
