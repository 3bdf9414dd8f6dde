//! Rows that could go back to the parent, by their sensitive values, and which values go first.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// Where there are more sensitive values than this, not all are tried: each row taken back would cost a judgement of the
/// parent for each of them.
const MAX_TRIED: usize = 32;

/// A part that could go back to the parent. The greatest goes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Candidate {
    pub(super) depth: Reverse<u32>,
    pub(super) lateness: u64,
    pub(super) first: u32,
    pub(super) part: u32,
    pub(super) branch: u32,
}

/// The parts with equal sensitive values, in the order in which they go back.
pub(super) struct Queue {
    /// A cell with these values.
    pub(super) cell: u32,
    pub(super) in_group: u64,
    pub(super) at_parent: u64,
    pub(super) candidates: BinaryHeap<Candidate>,
}

/// Which values would, with one row more, have the smaller share of their rows at the parent (D'Hondt's rule)? The parent
/// thus comes to look like the group as a whole, which is admitted.
pub(super) fn compare_shares(a: &Queue, b: &Queue) -> Ordering {
    let share = |a: &Queue, b: &Queue| u128::from(a.at_parent + 1) * u128::from(b.in_group);
    share(a, b).cmp(&share(b, a))
}

/// The queues that are tried for a row that is enough: all but the empty ones, and of many those with the least shares.
pub(super) fn least_shares(queues: &[Queue]) -> Vec<usize> {
    let mut least: Vec<usize> = (0..queues.len()).filter(|&at| !queues[at].candidates.is_empty()).collect();
    if least.len() > MAX_TRIED {
        least.select_nth_unstable_by(MAX_TRIED, |&a, &b| {
            compare_shares(&queues[a], &queues[b]).then(a.cmp(&b))
        });
        least.truncate(MAX_TRIED);
    }
    least
}
