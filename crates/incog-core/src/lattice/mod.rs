//! Which level combinations exist?
//!
//! A full-domain generalization picks one level per attribute: a *node*. Nodes form a lattice ordered by "at
//! least as general in every attribute". A node is a mixed-radix number, the first attribute being the most
//! significant digit, so that the order of node indexes is the order of level vectors in column order; one step
//! up in an attribute adds its stride. Nothing is stored per node: sets of nodes are bitsets ([`NodeSet`]).
//!
//! The same type serves the whole quasi-identifier and Incognito's *families* (generalizations of a subset of
//! the attributes). A [`Grouping`] names a node across families: a level for each attribute, or none.

mod candidates;
mod grid;
mod grouping;
mod node_set;

pub use candidates::{Candidates, generate};
pub(crate) use grid::{Grid, Marks};
pub use grouping::Grouping;
pub use node_set::NodeSet;

use crate::error::{Error, ErrorKind, Result};

/// A lattice with more nodes than this is refused: a bitset over it would take 128 MiB.
pub const MAX_NODES: usize = 1 << 30;

/// All level combinations of some attributes.
///
/// # Invariants
/// `attributes` ascend. `strides[i]` is the product of `n_levels[i + 1..]`; their overall product is `n_nodes`,
/// at most [`MAX_NODES`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lattice {
    attributes: Vec<usize>,
    n_levels: Vec<usize>,
    strides: Vec<usize>,
    n_nodes: usize,
}

impl Lattice {
    /// The lattice of all attributes, given their heights.
    pub fn new(heights: &[u8]) -> Result<Self> {
        Lattice::of_family((0..heights.len()).collect(), heights)
    }

    /// The lattice of a subset of the attributes; `heights` are those of all attributes.
    pub fn of_family(attributes: Vec<usize>, heights: &[u8]) -> Result<Self> {
        debug_assert!(attributes.is_sorted());
        let n_levels: Vec<usize> = attributes.iter().map(|&a| usize::from(heights[a]) + 1).collect();
        let mut strides = vec![1; attributes.len()];
        let mut n_nodes = 1_usize;
        for at in (0..attributes.len()).rev() {
            strides[at] = n_nodes;
            n_nodes = n_nodes.checked_mul(n_levels[at]).filter(|&n| n <= MAX_NODES).ok_or_else(|| {
                Error::new(ErrorKind::Limit, format!("the lattice has more than {MAX_NODES} nodes"))
                    .with_hint(
                        "use fewer quasi-identifiers or levels, `incog anonymize` without a named algorithm and by a metric such \
                         as loss, or an algorithm that needs no lattice: genetic, datafly, mondrian",
                    )
            })?;
        }
        Ok(Lattice { attributes, n_levels, strides, n_nodes })
    }

    /// The attributes, ascending.
    pub fn attributes(&self) -> &[usize] {
        &self.attributes
    }

    /// How many nodes there are.
    pub fn n_nodes(&self) -> usize {
        self.n_nodes
    }

    /// The height of the top node.
    pub fn max_height(&self) -> usize {
        self.n_levels.iter().map(|n| n - 1).sum()
    }

    /// The level of the attribute at `position` of [`attributes`](Self::attributes).
    pub fn level(&self, node: usize, position: usize) -> u8 {
        // Below 2^30 nodes; a 32-bit division takes half the time of a 64-bit one, and searches do millions.
        (node as u32 / self.strides[position] as u32 % self.n_levels[position] as u32) as u8
    }

    /// The level of every attribute.
    pub fn levels(&self, node: usize) -> impl ExactSizeIterator<Item = u8> {
        (0..self.attributes.len()).map(move |position| self.level(node, position))
    }

    /// The sum of all levels.
    pub fn height(&self, node: usize) -> usize {
        self.levels(node).map(usize::from).sum()
    }

    /// The node with these levels.
    ///
    /// # Panics
    /// When a level does not exist or their number is wrong.
    pub fn node(&self, levels: &[u8]) -> usize {
        assert_eq!(levels.len(), self.attributes.len());
        let mut node = 0;
        for (position, &level) in levels.iter().enumerate() {
            assert!(usize::from(level) < self.n_levels[position], "no such level");
            node += usize::from(level) * self.strides[position];
        }
        node
    }

    /// The node as a level for each attribute of the family and none for the others.
    pub fn grouping(&self, node: usize) -> Grouping {
        let mut grouping = Grouping::NOTHING;
        for (position, level) in self.levels(node).enumerate() {
            grouping.set(self.attributes[position], level);
        }
        grouping
    }

    /// For every node the sum over its levels, added up from the first attribute to the last.
    pub(crate) fn sums<T: Copy>(
        &self,
        zero: T,
        term: impl Fn(usize, usize) -> T,
        add: impl Fn(T, T) -> T,
    ) -> Vec<T> {
        let mut sums = vec![zero];
        for (position, &n_levels) in self.n_levels.iter().enumerate() {
            let terms: Vec<T> = (0..n_levels).map(|level| term(position, level)).collect();
            sums = sums
                .iter()
                .flat_map(|&sum| terms.iter().map(move |&term| (sum, term)))
                .map(|(a, b)| add(a, b))
                .collect();
        }
        sums
    }

    /// Every generalization of a node, and the node.
    pub(crate) fn visit_above(&self, node: usize, visit: impl FnMut(usize)) {
        let levels: Vec<usize> = self.levels(node).map(usize::from).collect();
        self.visit_box(&levels, &self.n_levels.iter().map(|n| n - 1).collect::<Vec<_>>(), visit);
    }

    /// Every specialization of a node, and the node.
    pub(crate) fn visit_below(&self, node: usize, visit: impl FnMut(usize)) {
        let levels: Vec<usize> = self.levels(node).map(usize::from).collect();
        self.visit_box(&vec![0; levels.len()], &levels, visit);
    }

    /// The nodes between two levels in every attribute.
    fn visit_box(&self, low: &[usize], high: &[usize], mut visit: impl FnMut(usize)) {
        let mut levels = low.to_vec();
        let mut node: usize = levels.iter().zip(&self.strides).map(|(level, stride)| level * stride).sum();
        loop {
            visit(node);
            let mut position = levels.len();
            loop {
                if position == 0 {
                    return;
                }
                position -= 1;
                if levels[position] < high[position] {
                    levels[position] += 1;
                    node += self.strides[position];
                    break;
                }
                node -= (levels[position] - low[position]) * self.strides[position];
                levels[position] = low[position];
            }
        }
    }

    /// One level up in one attribute.
    pub fn generalizations(&self, node: usize) -> impl Iterator<Item = usize> + use<'_> {
        (0..self.attributes.len())
            .filter(move |&position| usize::from(self.level(node, position)) + 1 < self.n_levels[position])
            .map(move |position| node + self.strides[position])
    }

    /// One level down in one attribute.
    pub fn specializations(&self, node: usize) -> impl Iterator<Item = usize> + use<'_> {
        (0..self.attributes.len())
            .filter(move |&position| self.level(node, position) > 0)
            .map(move |position| node - self.strides[position])
    }

    /// The most general node below both: the component-wise minimum of the levels.
    pub fn meet(&self, a: usize, b: usize) -> usize {
        (0..self.attributes.len())
            .map(|position| {
                usize::from(self.level(a, position).min(self.level(b, position))) * self.strides[position]
            })
            .sum()
    }

    /// The index of the node, less the attribute at `position`, in the family without that attribute.
    pub(crate) fn without(&self, node: usize, position: usize) -> usize {
        let stride = self.strides[position];
        node / (stride * self.n_levels[position]) * stride + node % stride
    }

    /// All nodes of a height, in column order of their levels.
    pub fn nodes_at_height(&self, height: usize) -> NodesAtHeight<'_> {
        let mut room = vec![0; self.attributes.len() + 1];
        for position in (0..self.attributes.len()).rev() {
            room[position] = room[position + 1] + self.n_levels[position] - 1;
        }
        let mut nodes =
            NodesAtHeight { lattice: self, room, levels: vec![0; self.attributes.len()], state: State::Done };
        if height <= nodes.room[0] {
            nodes.fill(0, height);
            nodes.state = State::Ready;
        }
        nodes
    }
}

/// Iterates over the nodes of one height; made by [`Lattice::nodes_at_height`].
#[derive(Debug)]
pub struct NodesAtHeight<'a> {
    lattice: &'a Lattice,
    /// How much height the attributes from a position on can take.
    room: Vec<usize>,
    levels: Vec<usize>,
    state: State,
}

#[derive(Debug, PartialEq, Eq)]
enum State {
    Ready,
    Done,
}

impl NodesAtHeight<'_> {
    /// Gives `height` to the attributes from `start` on, as late as possible: the least level vector.
    fn fill(&mut self, start: usize, mut height: usize) {
        for position in start..self.levels.len() {
            self.levels[position] = height.saturating_sub(self.room[position + 1]);
            height -= self.levels[position];
        }
        debug_assert_eq!(height, 0);
    }
}

impl Iterator for NodesAtHeight<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        if self.state == State::Done {
            return None;
        }
        let node = self.levels.iter().zip(&self.lattice.strides).map(|(level, stride)| level * stride).sum();
        // The next vector raises the last level that can rise at the expense of later ones.
        let mut later = 0;
        for position in (0..self.levels.len()).rev() {
            if later > 0 && self.levels[position] + 1 < self.lattice.n_levels[position] {
                self.levels[position] += 1;
                self.fill(position + 1, later - 1);
                return Some(node);
            }
            later += self.levels[position];
        }
        self.state = State::Done;
        Some(node)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The paper's quasi-identifier: birthdate, sex and zipcode with heights 1, 1 and 2.
    fn patients() -> Lattice {
        Lattice::new(&[1, 1, 2]).unwrap()
    }

    #[test]
    fn index_order_is_column_order_of_the_levels() {
        let lattice = patients();
        assert_eq!((lattice.n_nodes(), lattice.max_height()), (12, 4));
        let levels: Vec<Vec<u8>> = (0..12).map(|node| lattice.levels(node).collect()).collect();
        assert!(levels.is_sorted());
        for (node, levels) in levels.iter().enumerate() {
            assert_eq!(lattice.node(levels), node);
        }
    }

    #[test]
    fn one_step_up_and_one_step_down_are_inverse() {
        let lattice = patients();
        for node in 0..12 {
            for up in lattice.generalizations(node) {
                assert_eq!(lattice.height(up), lattice.height(node) + 1);
                assert!(lattice.specializations(up).any(|down| down == node));
            }
        }
        let edges: usize = (0..12).map(|node| lattice.generalizations(node).count()).sum();
        // A 2 x 2 x 3 grid has 1*2*3 + 2*1*3 + 2*2*2 edges.
        assert_eq!(edges, 20);
    }

    #[test]
    fn every_node_has_exactly_one_height() {
        let lattice = Lattice::new(&[2, 0, 1, 3]).unwrap();
        let mut seen = Vec::new();
        for height in 0..=lattice.max_height() {
            let nodes: Vec<usize> = lattice.nodes_at_height(height).collect();
            assert!(nodes.is_sorted() && nodes.iter().all(|&node| lattice.height(node) == height));
            seen.extend(nodes);
        }
        seen.sort_unstable();
        assert_eq!(seen, (0..24).collect::<Vec<_>>());
        assert_eq!(lattice.nodes_at_height(7).count(), 0);
        assert_eq!(Lattice::new(&[]).unwrap().nodes_at_height(0).collect::<Vec<_>>(), [0]);
    }

    #[test]
    fn the_meet_of_the_papers_roots_is_its_super_root() {
        // Section 3.3.1: <B1,S1,Z0>, <B1,S0,Z2> and <B0,S1,Z2> have the super-root <B0,S0,Z0>.
        let lattice = patients();
        let roots = [[1, 1, 0], [1, 0, 2], [0, 1, 2]].map(|levels| lattice.node(&levels));
        assert_eq!(roots.into_iter().reduce(|a, b| lattice.meet(a, b)), Some(0));
        assert_eq!(
            lattice.meet(lattice.node(&[1, 0, 2]), lattice.node(&[1, 1, 1])),
            lattice.node(&[1, 0, 1])
        );
    }

    #[test]
    fn leaving_an_attribute_out_keeps_the_other_levels() {
        let lattice = Lattice::new(&[1, 2, 3]).unwrap();
        for position in 0..3 {
            let rest: Vec<usize> = (0..3).filter(|&at| at != position).collect();
            let family = Lattice::of_family(rest.clone(), &[1, 2, 3]).unwrap();
            for node in 0..lattice.n_nodes() {
                let expected: Vec<u8> = rest.iter().map(|&at| lattice.level(node, at)).collect();
                assert_eq!(lattice.without(node, position), family.node(&expected));
            }
        }
    }

    #[test]
    fn sums_are_those_of_the_levels() {
        let lattice = Lattice::new(&[2, 0, 1, 3]).unwrap();
        let heights = lattice.sums(0, |_, level| level, |a, b| a + b);
        assert!((0..24).all(|node| heights[node] == lattice.height(node)));
    }

    #[test]
    fn too_many_nodes_are_an_error_not_a_crash() {
        assert_eq!(Lattice::new(&[9; 30]).unwrap_err().kind(), ErrorKind::Limit);
    }
}
