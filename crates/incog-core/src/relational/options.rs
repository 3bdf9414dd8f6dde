//! How are persons clustered?

use crate::error::{Error, Result};
use crate::privacy::Fraction;
use crate::relational::Database;

/// How to cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// How many persons share a tree, at least.
    pub k: usize,
    /// A person farther than this from every open cluster opens a new one; from 0 to 1.
    pub threshold: Fraction,
    /// Clusters that may be open at a time, at least 1.
    pub cluster_limit: usize,
    /// By what children are paired.
    pub pairing: Pairing,
    /// How well children are paired.
    pub matching: Matching,
    /// What a label costs.
    pub cost: Cost,
    /// With how many clusters a person is compared, at least 1: those that are the most promising by their vectors. `None`:
    /// with as many as it takes to find the nearest.
    pub candidates: Option<usize>,
}

/// By what the children of two records are paired.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pairing {
    /// By the cost of their whole subtrees: MiRaCle.
    Subtree,
    /// By the cost of the records alone: MiRaCleX.
    Record,
    /// Level by level, as section 4.3 of the paper sketches: first those with equal labels, then those whose labels are
    /// equal one level up, and so on. For children that are more than the levels of each of their hierarchies; others are
    /// paired as by [`Pairing::Record`].
    Level,
}

/// How well children are paired.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Matching {
    /// One after the other picks the cheapest that is left, as in the paper.
    Greedy,
    /// The pairs of least total cost. Not with [`Pairing::Level`].
    Optimal,
}

/// What a label costs. A cell that is removed costs 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cost {
    /// LM: (m − 1) / (L − 1) if it covers m of L leaves.
    Loss,
    /// Its level by the height of the hierarchy, and nothing if the height is 0.
    Precision,
}

impl Options {
    /// The paper's settings: MiRaCleX with a threshold of 0.3 and at most 150 open clusters.
    pub fn new(k: usize) -> Self {
        Options {
            k,
            threshold: Fraction::new(3, 10).unwrap_or(Fraction::ONE),
            cluster_limit: 150,
            pairing: Pairing::Record,
            matching: Matching::Greedy,
            cost: Cost::Loss,
            candidates: None,
        }
    }

    /// Can a database be clustered like that?
    pub(super) fn check(&self, database: &Database) -> Result<()> {
        if self.k == 0 {
            return Err(
                Error::input("k is 0").with_hint("k is the least number of persons that share a tree")
            );
        }
        if self.cluster_limit == 0 {
            return Err(Error::input("the cluster limit is 0").with_hint("allow at least 1 open cluster"));
        }
        if self.threshold > Fraction::ONE {
            return Err(Error::input("the threshold is above 1").with_hint("distances lie between 0 and 1"));
        }
        if self.pairing == Pairing::Level && self.matching == Matching::Optimal {
            return Err(Error::input("pairing level by level leaves nothing to match optimally")
                .with_hint("choose another pairing, or the greedy matching"));
        }
        if self.candidates == Some(0) {
            return Err(Error::input("the number of candidates is 0")
                .with_hint("compare each person with at least 1 cluster, or do not limit the candidates"));
        }
        let n_persons = database.n_persons();
        if n_persons < self.k {
            let person = &database.relations()[database.person()].name;
            return Err(Error::input(format!(
                "table `{person}` has {n_persons} persons, fewer than k = {}",
                self.k
            ))
            .with_hint(
                "no release can hide a person among more persons than there are; choose a smaller k",
            ));
        }
        Ok(())
    }
}
