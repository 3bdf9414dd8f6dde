//! Sets of nodes in words, for searches that mark whole boxes of the lattice.
//!
//! What lies above a node, or below it, is a box: for each attribute a range of levels. The last attributes together have at
//! most 64 level combinations; they number the bits of a word, the others number the words. So a box is a range of words in
//! each of the first attributes, and in every word the same bits: marking or counting it takes a step a word, not a node.
//!
//! Cost: Adult's 12,960 nodes are 240 words; a box takes some hundred nanoseconds.

use incog_kernels::{count_under, counts_under};

use crate::lattice::{Lattice, NodeSet};

/// How the nodes of a lattice lie in words.
#[derive(Debug, Clone)]
pub(crate) struct Grid {
    n_nodes: usize,
    /// Bits used of a word.
    n_bits: usize,
    /// How many levels the attributes have that number the words.
    n_levels: Vec<usize>,
    /// For each bit, those of the level combinations above it, and below it; itself included.
    above: Vec<u64>,
    below: Vec<u64>,
}

/// A set of nodes, by a [`Grid`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Marks {
    words: Vec<u64>,
}

impl Grid {
    pub(crate) fn new(lattice: &Lattice) -> Self {
        let mut n_bits = 1;
        let mut n_first = lattice.n_levels.len();
        while n_first > 0 && n_bits * lattice.n_levels[n_first - 1] <= 64 {
            n_first -= 1;
            n_bits *= lattice.n_levels[n_first];
        }
        let all = u64::MAX >> (64 - n_bits);
        let (mut above, mut below) = (vec![all; n_bits], vec![all; n_bits]);
        for position in n_first..lattice.n_levels.len() {
            // For each level, the bits at that level.
            let mut at_level = vec![0_u64; lattice.n_levels[position]];
            for bit in 0..n_bits {
                at_level[usize::from(lattice.level(bit, position))] |= 1 << bit;
            }
            let union = |levels: &[u64]| levels.iter().fold(0, |bits, more| bits | more);
            for bit in 0..n_bits {
                let level = usize::from(lattice.level(bit, position));
                below[bit] &= union(&at_level[..=level]);
                above[bit] &= union(&at_level[level..]);
            }
        }
        Grid {
            n_nodes: lattice.n_nodes(),
            n_bits,
            n_levels: lattice.n_levels[..n_first].to_vec(),
            above,
            below,
        }
    }

    /// No node.
    pub(crate) fn none(&self) -> Marks {
        Marks { words: vec![0; self.n_nodes / self.n_bits] }
    }

    /// Every node.
    pub(crate) fn all(&self) -> Marks {
        Marks { words: vec![u64::MAX >> (64 - self.n_bits); self.n_nodes / self.n_bits] }
    }

    pub(crate) fn contains(&self, marks: &Marks, node: usize) -> bool {
        marks.words[node / self.n_bits] >> (node % self.n_bits) & 1 == 1
    }

    /// Adds a node.
    #[cfg(test)]
    pub(crate) fn insert(&self, marks: &mut Marks, node: usize) {
        marks.words[node / self.n_bits] |= 1 << (node % self.n_bits);
    }

    /// Takes a node out.
    pub(crate) fn remove(&self, marks: &mut Marks, node: usize) {
        marks.words[node / self.n_bits] &= !(1 << (node % self.n_bits));
    }

    /// Adds a node and all its generalizations.
    pub(crate) fn insert_above(&self, marks: &mut Marks, node: usize) {
        let bits = self.above[node % self.n_bits];
        self.visit_above(node, |words| marks.words[words].iter_mut().for_each(|word| *word |= bits));
    }

    /// Takes out a node and all its generalizations.
    pub(crate) fn remove_above(&self, marks: &mut Marks, node: usize) {
        let bits = !self.above[node % self.n_bits];
        self.visit_above(node, |words| marks.words[words].iter_mut().for_each(|word| *word &= bits));
    }

    /// Takes out a node and all its specializations.
    pub(crate) fn remove_below(&self, marks: &mut Marks, node: usize) {
        let bits = !self.below[node % self.n_bits];
        self.visit_below(node, |words| marks.words[words].iter_mut().for_each(|word| *word &= bits));
    }

    /// How many of the nodes are this one or below it.
    pub(crate) fn count_below(&self, marks: &Marks, node: usize) -> usize {
        /// Runs that are counted at a time.
        const SOME: usize = 64;
        let bits = self.below[node % self.n_bits];
        let (mut count, mut n_runs) = (0, 0);
        let mut runs = [(0, 0); SOME];
        self.visit_below(node, |words| {
            runs[n_runs] = (words.start as u32, words.end as u32);
            n_runs += 1;
            if n_runs == SOME {
                count += count_under(&marks.words, bits, &runs);
                n_runs = 0;
            }
        });
        (count + count_under(&marks.words, bits, &runs[..n_runs])) as usize
    }

    /// The same for every node.
    pub(crate) fn counts_below(&self, marks: &Marks, counts: &mut Vec<u32>) {
        counts.resize(self.n_nodes, 0);
        // Within each word, and then along each of the attributes that number the words.
        counts_under(&marks.words, &self.below, counts);
        let mut stride = self.n_bits;
        for &n_levels in self.n_levels.iter().rev() {
            for line in counts.chunks_mut(n_levels * stride) {
                for level in 1..n_levels {
                    let (below, here) = line.split_at_mut(level * stride);
                    let below = &below[(level - 1) * stride..];
                    here.iter_mut().zip(below).for_each(|(count, below)| *count += below);
                }
            }
            stride *= n_levels;
        }
    }

    /// Takes out the nodes for which `stays` says no.
    pub(crate) fn retain(&self, marks: &mut Marks, mut stays: impl FnMut(usize) -> bool) {
        for (at, word) in marks.words.iter_mut().enumerate() {
            let mut rest = *word;
            while rest != 0 {
                let bit = rest.trailing_zeros();
                *word &= !(u64::from(!stays(at * self.n_bits + bit as usize)) << bit);
                rest &= rest - 1;
            }
        }
    }

    /// Those of the nodes that are this one or below it.
    pub(crate) fn nodes_below(&self, marks: &Marks, node: usize) -> Vec<usize> {
        let mut nodes = Vec::new();
        let bits = self.below[node % self.n_bits];
        self.visit_below(node, |words| self.collect(marks, words, bits, &mut nodes));
        nodes
    }

    /// Those of the nodes that are this one or above it.
    pub(crate) fn nodes_above(&self, marks: &Marks, node: usize) -> Vec<usize> {
        let mut nodes = Vec::new();
        let bits = self.above[node % self.n_bits];
        self.visit_above(node, |words| self.collect(marks, words, bits, &mut nodes));
        nodes
    }

    /// Adds those of the nodes that are in some words at some bits.
    fn collect(&self, marks: &Marks, words: std::ops::Range<usize>, bits: u64, nodes: &mut Vec<usize>) {
        for at in words {
            let mut rest = marks.words[at] & bits;
            while rest != 0 {
                nodes.push(at * self.n_bits + rest.trailing_zeros() as usize);
                rest &= rest - 1;
            }
        }
    }

    /// The nodes, ascending.
    pub(crate) fn iter<'a>(&self, marks: &'a Marks) -> impl Iterator<Item = usize> + use<'a> {
        let n_bits = self.n_bits;
        marks.words.iter().enumerate().flat_map(move |(at, &word)| {
            let ones = std::iter::successors((word != 0).then_some(word), |rest| {
                let rest = rest & (rest - 1);
                (rest != 0).then_some(rest)
            });
            ones.map(move |rest| at * n_bits + rest.trailing_zeros() as usize)
        })
    }

    /// The nodes as a set of another kind.
    pub(crate) fn node_set(&self, lattice: &Lattice, marks: &Marks) -> NodeSet {
        let mut set = NodeSet::empty(lattice);
        for node in self.iter(marks) {
            set.insert(node);
        }
        set
    }

    fn visit_above(&self, node: usize, visit: impl FnMut(std::ops::Range<usize>)) {
        self.visit(node, |level, n_levels| (level, n_levels - 1), visit);
    }

    fn visit_below(&self, node: usize, visit: impl FnMut(std::ops::Range<usize>)) {
        self.visit(node, |level, _| (0, level), visit);
    }

    /// The words of a box, some that stand together at a time: in each attribute the levels from the first number to the
    /// second, given the node's level and how many there are.
    fn visit(
        &self,
        node: usize,
        range: impl Fn(usize, usize) -> (usize, usize),
        mut visit: impl FnMut(std::ops::Range<usize>),
    ) {
        /// Attributes with several levels; more would be more nodes than a lattice may have.
        const MOST: usize = 32;
        let mut rest = node / self.n_bits;
        // For each attribute from the last to the first: stride, lowest and highest level.
        let mut sides = [(0_usize, 0_usize, 0_usize); MOST];
        let (mut n_sides, mut stride, mut first) = (0, 1, 0);
        for &n_levels in self.n_levels.iter().rev().filter(|&&n_levels| n_levels > 1) {
            let (low, high) = range(rest % n_levels, n_levels);
            rest /= n_levels;
            sides[n_sides] = (stride, low, high);
            first += stride * low;
            n_sides += 1;
            stride *= n_levels;
        }
        let Some(((_, low, high), others)) = sides[..n_sides].split_first() else {
            return visit(0..1);
        };
        let n_together = high - low + 1;
        let mut levels = [0_usize; MOST];
        let mut at = first;
        loop {
            visit(at..at + n_together);
            let mut position = 0;
            loop {
                let Some(&(stride, low, high)) = others.get(position) else {
                    return;
                };
                if levels[position] < high - low {
                    levels[position] += 1;
                    at += stride;
                    break;
                }
                at -= stride * levels[position];
                levels[position] = 0;
                position += 1;
            }
        }
    }
}

impl Marks {
    pub(crate) fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    /// How many nodes there are.
    pub(crate) fn len(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(heights: &[u8]) {
        let lattice = Lattice::new(heights).unwrap();
        let grid = Grid::new(&lattice);
        let lies_below = |a: usize, b: usize| lattice.levels(a).zip(lattice.levels(b)).all(|(a, b)| a <= b);
        let some: Vec<usize> = (0..lattice.n_nodes()).filter(|node| node * 7 % 3 == 1).collect();
        let mut set = grid.none();
        some.iter().for_each(|&node| grid.insert(&mut set, node));
        assert_eq!(grid.iter(&set).collect::<Vec<_>>(), some);
        assert_eq!(grid.node_set(&lattice, &set).iter().collect::<Vec<_>>(), some);
        assert_eq!((set.len(), grid.all().len()), (some.len(), lattice.n_nodes()));
        let mut marks = set.clone();
        grid.retain(&mut marks, |node| node % 4 != 1);
        assert!(grid.iter(&marks).eq(some.iter().copied().filter(|node| node % 4 != 1)));
        let mut counts = vec![3; 5];
        grid.counts_below(&set, &mut counts);
        assert!(
            counts
                .into_iter()
                .map(|n| n as usize)
                .eq((0..lattice.n_nodes()).map(|node| grid.count_below(&set, node)))
        );
        for node in 0..lattice.n_nodes() {
            let below = |other: &usize| lies_below(*other, node);
            let above = |other: &usize| lies_below(node, *other);
            assert_eq!(grid.count_below(&set, node), some.iter().filter(|other| below(other)).count());
            let mut found = grid.nodes_below(&set, node);
            found.sort_unstable();
            assert!(found.into_iter().eq(some.iter().copied().filter(below)));
            let mut found = grid.nodes_above(&set, node);
            found.sort_unstable();
            assert!(found.into_iter().eq(some.iter().copied().filter(above)));
            let mut marks = set.clone();
            grid.remove_below(&mut marks, node);
            assert!(grid.iter(&marks).eq(some.iter().copied().filter(|other| !below(other))));
            let mut marks = set.clone();
            grid.remove_above(&mut marks, node);
            assert!(grid.iter(&marks).eq(some.iter().copied().filter(|other| !above(other))));
            let mut marks = grid.none();
            grid.insert_above(&mut marks, node);
            assert!(grid.iter(&marks).eq((0..lattice.n_nodes()).filter(above)));
            assert!(!marks.is_empty());
            grid.remove_above(&mut marks, node);
            assert!(marks.is_empty());
            let mut marks = set.clone();
            grid.insert(&mut marks, node);
            assert!(grid.contains(&marks, node));
            grid.remove(&mut marks, node);
            assert!(!grid.contains(&marks, node));
        }
    }

    #[test]
    fn boxes_are_what_lies_above_and_below() {
        check(&[]);
        check(&[3]);
        check(&[1, 1, 2]);
        check(&[4, 0, 3, 2, 2, 1]);
        // More than a word holds in the last attribute.
        check(&[1, 70]);
        check(&[2, 2, 7, 7]);
    }
}
