//! Graph generation equals the paper's SQL, transcribed statement by statement.

use std::collections::BTreeSet;

use incog_core::Progress;
use incog_core::lattice::{Candidates, Lattice, NodeSet, generate};
use incog_testkit::relational::Graph;
use proptest::prelude::*;

type Dims = Vec<(usize, u8)>;

fn dims(family: &Lattice, node: usize) -> Dims {
    family.attributes().iter().copied().zip(family.levels(node)).collect()
}

/// Nodes and edges of all families, in terms of (attribute, level) pairs.
fn relations(families: &[Candidates]) -> (BTreeSet<Dims>, BTreeSet<(Dims, Dims)>) {
    let mut nodes = BTreeSet::new();
    let mut edges = BTreeSet::new();
    for family in families {
        nodes.extend(family.nodes.iter().map(|node| dims(&family.family, node)));
        edges.extend(family.edges().map(|(from, to)| (dims(&family.family, from), dims(&family.family, to))));
    }
    (nodes, edges)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Survivors are chosen at random but closed upward, as a search leaves them.
    #[test]
    fn candidates_and_edges_are_those_of_the_papers_sql(
        heights in proptest::collection::vec(0..=2_u8, 1..=4),
        picks in proptest::collection::vec(any::<bool>(), 1..40),
    ) {
        let mut picks = picks.iter().copied().cycle();
        let mut graph = Graph::first(&heights);
        let mut survivors: Vec<(Lattice, NodeSet)> = Vec::new();
        for size in 1..=heights.len() {
            let families = generate(&survivors, &heights, &Progress::new()).unwrap();
            let (nodes, edges) = relations(&families);
            let expected_nodes: BTreeSet<Dims> = graph.nodes.iter().map(|node| node.dims.clone()).collect();
            let name = |id: usize| graph.nodes[id].dims.clone();
            let expected_edges = graph.edges.iter().map(|&(from, to)| (name(from), name(to))).collect();
            prop_assert_eq!(&nodes, &expected_nodes, "nodes of size {}", size);
            prop_assert_eq!(&edges, &expected_edges, "edges of size {}", size);
            for family in &families {
                let with_edge: BTreeSet<usize> = family.edges().map(|(_, to)| to).collect();
                let roots: Vec<usize> = family.nodes.iter().filter(|node| !with_edge.contains(node)).collect();
                prop_assert_eq!(family.roots(), roots);
            }

            survivors = families
                .into_iter()
                .map(|Candidates { family, nodes }| {
                    let mut kept = NodeSet::empty(&family);
                    for node in nodes.iter() {
                        let is_above = family.specializations(node).any(|down| kept.contains(down));
                        if is_above || picks.next().unwrap() {
                            kept.insert(node);
                        }
                    }
                    (family, kept)
                })
                .filter(|(_, kept)| !kept.is_empty())
                .collect();
            let surviving: BTreeSet<Dims> =
                survivors.iter().flat_map(|(family, kept)| kept.iter().map(|node| dims(family, node))).collect();
            let ids = (0..graph.nodes.len()).filter(|&id| surviving.contains(&graph.nodes[id].dims)).collect();
            if survivors.is_empty() {
                break;
            }
            graph = graph.next(&ids);
        }
    }
}
