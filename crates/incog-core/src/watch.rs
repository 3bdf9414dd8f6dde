//! How far is the search, and should it stop?
//!
//! One [`Watch`] is shared between whoever started a search and the search itself: the search reports every
//! node it judges and asks whether to go on; the other side reads the counters and may cancel. No clock, no
//! callback: a progress bar polls. Watching never changes a result.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use crate::error::{Error, ErrorKind, Result};

/// Progress out, cancellation in.
#[derive(Debug, Default)]
pub struct Watch {
    cancelled: AtomicBool,
    judged: AtomicU64,
    open: AtomicU64,
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

    /// How many nodes have been judged so far.
    pub fn nodes_judged(&self) -> u64 {
        self.judged.load(Relaxed)
    }

    /// At most this many nodes of the current stage are still to be judged.
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
