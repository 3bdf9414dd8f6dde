//! Boxes of nodes that are open, and vectors of levels that failed.

use std::cmp::Ordering;

/// All nodes between two, and what they cost at least.
pub(super) struct Open {
    pub(super) bound: f64,
    /// The levels of the lowest node, then those of the highest.
    pub(super) levels: Box<[u8]>,
    /// What raises its bound, if anything does.
    pub(super) raise: Option<u32>,
}

impl Open {
    pub(super) fn lo(&self) -> &[u8] {
        &self.levels[..self.levels.len() / 2]
    }

    pub(super) fn hi(&self) -> &[u8] {
        &self.levels[self.levels.len() / 2..]
    }
}

impl PartialEq for Open {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Open {}

impl PartialOrd for Open {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Open {
    fn cmp(&self, other: &Self) -> Ordering {
        self.bound.total_cmp(&other.bound).then_with(|| self.levels.cmp(&other.levels))
    }
}

/// What failing nodes say of a box.
pub(super) struct Failing {
    /// What its nodes cost at least.
    pub(super) bound: f64,
    /// The highest node of the box whose levels are paid for by that. It lies below no node that is known to fail.
    pub(super) free: Vec<u8>,
}

/// Level vectors, side by side.
pub(super) struct LevelVectors {
    width: usize,
    pub(super) levels: Vec<u8>,
}

impl LevelVectors {
    pub(super) fn new(width: usize) -> Self {
        LevelVectors { width: width.max(1), levels: Vec::new() }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.levels.chunks_exact(self.width)
    }

    /// Adds a vector, and forgets those for which `is_useless` says so.
    pub(super) fn add(&mut self, levels: &[u8], is_useless: impl Fn(&[u8]) -> bool) {
        let width = self.width;
        let mut end = 0;
        for start in (0..self.levels.len()).step_by(width) {
            if !is_useless(&self.levels[start..start + width]) {
                self.levels.copy_within(start..start + width, end);
                end += width;
            }
        }
        self.levels.truncate(end);
        self.levels.extend_from_slice(levels);
    }
}

/// Is a node another, or below it?
pub(super) fn is_below(low: &[u8], high: &[u8]) -> bool {
    // No early end: side by side, bytes are compared by the dozen.
    low.iter().zip(high).fold(true, |is_below, (low, high)| is_below & (low <= high))
}
