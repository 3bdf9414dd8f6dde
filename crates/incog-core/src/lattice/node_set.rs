//! A set of nodes of one lattice: a bit per node, with marks that spread.

use fixedbitset::FixedBitSet;

use crate::lattice::Lattice;

/// A set of nodes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeSet {
    bits: FixedBitSet,
}

impl NodeSet {
    /// The empty set.
    pub fn empty(lattice: &Lattice) -> Self {
        NodeSet { bits: FixedBitSet::with_capacity(lattice.n_nodes()) }
    }

    /// Every node.
    pub fn all(lattice: &Lattice) -> Self {
        let mut set = NodeSet::empty(lattice);
        set.bits.insert_range(..);
        set
    }

    /// Is the node in the set?
    pub fn contains(&self, node: usize) -> bool {
        self.bits.contains(node)
    }

    /// Adds a node; `true` if it was not in the set.
    pub fn insert(&mut self, node: usize) -> bool {
        !self.bits.put(node)
    }

    /// Takes a node out.
    pub fn remove(&mut self, node: usize) {
        self.bits.remove(node);
    }

    /// How many nodes are in the set. Counts them.
    pub fn len(&self) -> usize {
        self.bits.count_ones(..)
    }

    /// Is no node in the set?
    pub fn is_empty(&self) -> bool {
        self.bits.is_clear()
    }

    /// The nodes, ascending: in column order of their levels.
    pub fn iter(&self) -> impl Iterator<Item = usize> + use<'_> {
        self.bits.ones()
    }

    /// Adds all generalizations of `node`, not the node itself.
    ///
    /// Stops at nodes already in the set, so a set must only ever be filled by this method: then everything
    /// above a member is a member, and all calls together visit each node once. `stack` is scratch memory.
    pub fn spread_above(&mut self, lattice: &Lattice, node: usize, stack: &mut Vec<usize>) {
        debug_assert!(stack.is_empty());
        stack.push(node);
        while let Some(node) = stack.pop() {
            for up in lattice.generalizations(node) {
                if self.insert(up) {
                    stack.push(up);
                }
            }
        }
    }

    /// The members that have no member directly below them, ascending. In a set that is closed upward these are
    /// its minimal members.
    pub fn lowest(&self, lattice: &Lattice) -> Vec<usize> {
        self.iter().filter(|&node| !lattice.specializations(node).any(|down| self.contains(down))).collect()
    }

    /// The members that have no other member anywhere below them, ascending.
    ///
    /// Looks through gaps, at the price of visiting every node: the set need not be closed upward.
    pub fn minimal(&self, lattice: &Lattice) -> Vec<usize> {
        // Index order visits every specialization of a node before the node.
        let mut has_member_below = NodeSet::empty(lattice);
        let mut minimal = Vec::new();
        for node in 0..lattice.n_nodes() {
            if lattice
                .specializations(node)
                .any(|down| self.contains(down) || has_member_below.contains(down))
            {
                has_member_below.insert(node);
            } else if self.contains(node) {
                minimal.push(node);
            }
        }
        minimal
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_spread_to_all_generalizations_and_no_further() {
        let lattice = Lattice::new(&[2, 2]).unwrap();
        let mut marks = NodeSet::empty(&lattice);
        marks.spread_above(&lattice, lattice.node(&[1, 1]), &mut Vec::new());
        let marked: Vec<Vec<u8>> = marks.iter().map(|node| lattice.levels(node).collect()).collect();
        assert_eq!(marked, [[1, 2], [2, 1], [2, 2]]);
    }

    #[test]
    fn minimal_members_are_found_through_gaps() {
        let lattice = Lattice::new(&[2, 2]).unwrap();
        let mut set = NodeSet::empty(&lattice);
        for levels in [[0, 1], [2, 0], [2, 2]] {
            set.insert(lattice.node(&levels));
        }
        // <2,2> lies above <0,1> although nothing between them is a member.
        assert_eq!(set.minimal(&lattice), [lattice.node(&[0, 1]), lattice.node(&[2, 0])]);
        assert_eq!(set.lowest(&lattice), [0, 1, 2].map(|at| lattice.node(&[[0, 1], [2, 0], [2, 2]][at])));
        assert_eq!(NodeSet::all(&lattice).minimal(&lattice), [0]);
        assert_eq!(NodeSet::all(&lattice).lowest(&lattice), [0]);
        assert_eq!(NodeSet::all(&lattice).len(), 9);
    }
}
