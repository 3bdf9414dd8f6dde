//! A level for some of the attributes: the GROUP BY of one node.
//!
//! Nodes of different families can be compared as groupings: one that leaves an attribute out, or has it at a
//! higher level, only ever merges the groups of the other.

use std::fmt;

use crate::hierarchy::MAX_ATTRIBUTES;

const ABSENT: u8 = u8::MAX;

/// Which attributes are grouped by, and at which level. Small and `Copy`, so that nothing is allocated per node.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Grouping {
    levels: [u8; MAX_ATTRIBUTES],
}

impl Grouping {
    /// No attribute at all: everybody in one group.
    pub const NOTHING: Grouping = Grouping { levels: [ABSENT; MAX_ATTRIBUTES] };

    /// Attribute `i` at level `levels[i]`.
    pub fn of_levels(levels: &[u8]) -> Self {
        let mut grouping = Grouping::NOTHING;
        for (attribute, &level) in levels.iter().enumerate() {
            grouping.set(attribute, level);
        }
        grouping
    }

    /// One attribute at one level.
    pub fn single(attribute: usize, level: u8) -> Self {
        let mut grouping = Grouping::NOTHING;
        grouping.set(attribute, level);
        grouping
    }

    /// Groups by `attribute` at `level`.
    pub fn set(&mut self, attribute: usize, level: u8) {
        debug_assert!(level != ABSENT);
        self.levels[attribute] = level;
    }

    /// Leaves an attribute out.
    pub fn clear(&mut self, attribute: usize) {
        self.levels[attribute] = ABSENT;
    }

    /// The level of an attribute, if it is grouped by.
    pub fn level(&self, attribute: usize) -> Option<u8> {
        Some(self.levels[attribute]).filter(|&level| level != ABSENT)
    }

    /// The attributes that are grouped by, with their levels.
    pub fn iter(&self) -> impl Iterator<Item = (usize, u8)> + use<'_> {
        self.levels.iter().copied().enumerate().filter(|&(_, level)| level != ABSENT)
    }

    /// Could the groups of `self` be made from those of `other` by merging?
    pub fn generalizes(&self, other: &Grouping) -> bool {
        // Absent is the greatest level, and leaving out merges most.
        self.levels.iter().zip(&other.levels).all(|(mine, theirs)| mine >= theirs)
    }
}

impl fmt::Debug for Grouping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaving_out_and_rising_generalize() {
        let fine = Grouping::of_levels(&[0, 1, 2]);
        let mut dropped = fine;
        dropped.clear(1);
        assert!(dropped.generalizes(&fine) && !fine.generalizes(&dropped));
        assert!(Grouping::of_levels(&[0, 2, 2]).generalizes(&fine));
        assert!(!Grouping::of_levels(&[1, 0, 2]).generalizes(&fine));
        assert!(Grouping::NOTHING.generalizes(&fine) && fine.generalizes(&fine));
        assert_eq!(dropped.iter().collect::<Vec<_>>(), [(0, 0), (2, 2)]);
        assert_eq!(dropped.level(1), None);
    }
}
