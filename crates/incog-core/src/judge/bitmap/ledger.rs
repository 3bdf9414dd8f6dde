//! How much memory sets take, from the moment they are kept until the last owner lets go.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::records::Records;

/// Adds up what sets take.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    now: AtomicU64,
    peak: AtomicU64,
}

/// A set that is in the ledger as long as it lives.
#[derive(Debug)]
pub(super) struct Set {
    records: Records,
    ledger: Arc<Ledger>,
}

impl Ledger {
    /// Enters a set.
    pub(super) fn enter(self: &Arc<Self>, records: Records) -> Arc<Set> {
        self.add(records.n_bytes());
        Arc::new(Set { records, ledger: Arc::clone(self) })
    }

    /// Adds what stays for good.
    pub(super) fn add(&self, bytes: u64) {
        let now = self.now.fetch_add(bytes, Ordering::Relaxed) + bytes;
        self.peak.fetch_max(now, Ordering::Relaxed);
    }

    /// What all sets take now.
    pub(super) fn now(&self) -> u64 {
        self.now.load(Ordering::Relaxed)
    }

    /// The most they have taken.
    pub(super) fn peak(&self) -> u64 {
        self.peak.load(Ordering::Relaxed)
    }
}

impl Deref for Set {
    type Target = Records;

    fn deref(&self) -> &Records {
        &self.records
    }
}

impl Drop for Set {
    fn drop(&mut self) {
        self.ledger.now.fetch_sub(self.records.n_bytes(), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_counts_until_its_last_owner_lets_go() {
        let ledger = Arc::new(Ledger::default());
        let first = ledger.enter(Records::List(vec![1, 2, 3]));
        let second = ledger.enter(Records::List(vec![4]));
        let shared = Arc::clone(&first);
        drop(first);
        assert_eq!((ledger.now(), ledger.peak()), (16, 16));
        drop(shared);
        drop(second);
        assert_eq!((ledger.now(), ledger.peak()), (0, 16));
    }
}
