//! Which nodes of the next larger subsets can still satisfy the policy?
//!
//! Graph generation of Incognito (section 3.1.2): from the surviving nodes S of all attribute subsets of size
//! i − 1, the candidates C of size i and the edges E between them.
//!
//! 1. *Join.* Two survivors that agree in all but their last attribute, p's coming first, combine: p and the
//!    last attribute of q.
//! 2. *Prune.* A candidate of which some (i − 1)-subset did not survive is deleted.
//! 3. *Edges.* From a candidate to each candidate one level higher in one attribute.
//!
//! Differs from the paper: (1) candidates are kept per family (attribute subset), as a bitset over the family's
//! lattice; a node's index there takes the place of the relational ID, and both parents follow from it by
//! arithmetic. (2) Edges are not joined from the edges of the parents and then freed of implied ones, but
//! computed: survivors are closed upward, so the paper's query yields exactly the single steps between
//! candidates. `tests/candidates.rs` compares with a literal transcription of the three SQL statements.
//!
//! Cost: for each joined node one bit test per attribute; memory: two bits per node of the families of two sizes.

use crate::error::Result;
use crate::hash;
use crate::lattice::{Lattice, NodeSet};
use crate::progress::Progress;

/// The candidates of one family.
#[derive(Debug, Clone)]
pub struct Candidates {
    /// The family's lattice.
    pub family: Lattice,
    /// The nodes that can still satisfy the policy. Closed upward.
    pub nodes: NodeSet,
}

impl Candidates {
    /// Candidates without an edge directed to them, in index order.
    pub fn roots(&self) -> Vec<usize> {
        self.nodes.lowest(&self.family)
    }

    /// All edges, each from a candidate to a direct generalization of it.
    pub fn edges(&self) -> impl Iterator<Item = (usize, usize)> + use<'_> {
        self.nodes.iter().flat_map(|node| {
            debug_assert!(self.family.generalizations(node).all(|up| self.nodes.contains(up)));
            self.family.generalizations(node).map(move |up| (node, up))
        })
    }
}

/// The first iteration's candidates: every level of every attribute.
fn singles(heights: &[u8]) -> Result<Vec<Candidates>> {
    (0..heights.len())
        .map(|attribute| {
            let family = Lattice::of_family(vec![attribute], heights)?;
            Ok(Candidates { nodes: NodeSet::all(&family), family })
        })
        .collect()
}

/// The candidates of all families one attribute larger than those of `survivors`, in column order.
///
/// `survivors` has the nodes that satisfy the policy of each family of one size (families may be missing: they
/// have none), and is empty for the first iteration.
pub fn generate(
    survivors: &[(Lattice, NodeSet)],
    heights: &[u8],
    progress: &Progress,
) -> Result<Vec<Candidates>> {
    let Some((first, _)) = survivors.first() else {
        return singles(heights);
    };
    let size = first.attributes().len() + 1;
    let by_attributes: hash::Map<&[usize], &NodeSet> =
        survivors.iter().map(|(family, nodes)| (family.attributes(), nodes)).collect();
    let mut generated = Vec::new();
    for (at, (p, p_nodes)) in survivors.iter().enumerate() {
        // Families come in column order, so those that share all but the last attribute are neighbours.
        let prefix = &p.attributes()[..size - 2];
        for (q, q_nodes) in survivors[at + 1..].iter().take_while(|(q, _)| q.attributes().starts_with(prefix))
        {
            progress.check()?;
            let mut attributes = p.attributes().to_vec();
            attributes.push(q.attributes()[size - 2]);
            let others: Option<Vec<&NodeSet>> = (0..size - 2)
                .map(|position| {
                    let mut subset = attributes.clone();
                    subset.remove(position);
                    by_attributes.get(subset.as_slice()).copied()
                })
                .collect();
            let Some(others) = others else {
                continue;
            };
            let family = Lattice::of_family(attributes, heights)?;
            let mut nodes = NodeSet::empty(&family);
            let (p_last, q_last) = (p.n_levels[size - 2], q.n_levels[size - 2]);
            for parent in p_nodes.iter() {
                for level in 0..q_last {
                    // The first parent lacks the last attribute, the second the one before it.
                    let node = parent * q_last + level;
                    let second_parent = parent / p_last * q_last + level;
                    debug_assert_eq!(family.without(node, size - 1), parent);
                    debug_assert_eq!(family.without(node, size - 2), second_parent);
                    let is_joined = q_nodes.contains(second_parent);
                    let is_kept = others
                        .iter()
                        .enumerate()
                        .all(|(position, set)| set.contains(family.without(node, position)));
                    if is_joined && is_kept {
                        nodes.insert(node);
                    }
                }
            }
            if !nodes.is_empty() {
                generated.push(Candidates { family, nodes });
            }
        }
    }
    Ok(generated)
}
