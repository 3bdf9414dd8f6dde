//! Incognito's graph generation as the three SQL statements of section 3.1.2, on relations of tuples.
//!
//! Nested loops over tables, nothing else: an oracle for `incog_core::lattice::generate`.

use std::collections::BTreeSet;

/// A row of the nodes relation: (dimension, index) pairs in dimension order, and the IDs of its parents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeRow {
    /// The attributes and their levels.
    pub dims: Vec<(usize, u8)>,
    /// The IDs of the two nodes that were joined.
    pub parents: Option<(usize, usize)>,
}

/// Nodes (the ID is the position) and edges from start to end.
#[derive(Debug, Clone, Default)]
pub struct Graph {
    /// C.
    pub nodes: Vec<NodeRow>,
    /// E.
    pub edges: BTreeSet<(usize, usize)>,
}

impl Graph {
    /// C1 and E1: the nodes and edges of the domain generalization hierarchies.
    pub fn first(heights: &[u8]) -> Graph {
        let mut graph = Graph::default();
        for (dim, &height) in heights.iter().enumerate() {
            for index in 0..=height {
                if index > 0 {
                    graph.edges.insert((graph.nodes.len() - 1, graph.nodes.len()));
                }
                graph.nodes.push(NodeRow { dims: vec![(dim, index)], parents: None });
            }
        }
        graph
    }

    /// The next graph, from this one and the IDs of its nodes that survived.
    pub fn next(&self, survivors: &BTreeSet<usize>) -> Graph {
        // Join phase.
        let mut joined = Vec::new();
        for &p in survivors {
            for &q in survivors {
                let (a, b) = (&self.nodes[p].dims, &self.nodes[q].dims);
                let last = a.len() - 1;
                if a[..last] == b[..last] && a[last].0 < b[last].0 {
                    let dims = [a.as_slice(), &[b[last]]].concat();
                    joined.push(NodeRow { dims, parents: Some((p, q)) });
                }
            }
        }
        // Prune phase.
        let surviving: BTreeSet<&Vec<(usize, u8)>> =
            survivors.iter().map(|&id| &self.nodes[id].dims).collect();
        let nodes: Vec<NodeRow> = joined
            .into_iter()
            .filter(|node| {
                (0..node.dims.len()).all(|without| {
                    let mut subset = node.dims.clone();
                    subset.remove(without);
                    surviving.contains(&subset)
                })
            })
            .collect();
        // Edge generation: candidate edges, then all that are not implied by two of them.
        let mut candidates = BTreeSet::new();
        for (p, a) in nodes.iter().enumerate() {
            for (q, b) in nodes.iter().enumerate() {
                let ((p1, p2), (q1, q2)) = (a.parents.unwrap(), b.parents.unwrap());
                let (first, second) = (self.edges.contains(&(p1, q1)), self.edges.contains(&(p2, q2)));
                let cases = [first && second, first && p2 == q2, second && p1 == q1];
                if cases.contains(&true) {
                    candidates.insert((p, q));
                }
            }
        }
        let mut edges = candidates.clone();
        for &(start, middle) in &candidates {
            for &(_, end) in candidates.range((middle, 0)..(middle + 1, 0)) {
                edges.remove(&(start, end));
            }
        }
        Graph { nodes, edges }
    }
}
