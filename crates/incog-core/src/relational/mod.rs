//! What if one person is in many tables?
//!
//! *Promise*: the persons of a cluster, at least k of them, have one and the same tree of labels. Whoever knows all of a
//! person's quasi-identifiers, in all tables and with their connections, is left with the whole cluster (Nergiz, Clifton,
//! Nergiz: Multirelational k-Anonymity, TKDE 2009).
//!
//! 1. A [`Database`] is a person table with child tables, each with one foreign key, nested to any depth. It exists only
//!    if its keys hold together.
//! 2. Each person is a tree of records ([`Trees`]): the root is the row of the person table, and the children of a record
//!    are the rows that refer to it, table by table.
//! 3. Two trees have a common anonymization ([`Matcher`]): paired records share the lowest common labels, and what finds no
//!    partner is removed. What that costs is how far apart the two are.
//! 4. Persons are collected into clusters by that distance ([`miracle()`]). The answer is a value, [`Clustering`]: for each
//!    cluster the common tree, and which record of which member each of its nodes stands for.
//! 5. Where sensitive values must be spread, clusters are merged or suppressed until they are ([`dmiracle()`]).
//! 6. From it come what is released of each table ([`Release`]) and what that costs ([`measure()`]).
//!
//! Differs from the paper: (1) a cluster is full with k members, not with more than k; (2) what finds no partner is
//! removed, not left in place as `*`, since the number of children is knowledge too; (3) keys are of no interest here: a
//! release mints new ones.
//!
//! Sound because two trees are only ever replaced by one tree that both map into: every member of a cluster has exactly
//! the nodes of the common tree, and none besides.
//!
//! Cost: for each person a short vector a cluster, of which about as many are open as the cluster limit, and a comparison
//! with the few that the vectors leave (see `bound`). With n children a record and d levels of tables a comparison takes
//! n^(2d) steps if whole subtrees decide the pairs, and n^(d+1) if records alone do. Memory: four bytes a row for the links
//! and four for the trees, and the common trees. 100,000 students with 1.4 million records: 1 s and 105 MB, tables included.

mod database;
mod options;
mod tree;
mod labels;
mod flat;
mod compare;
mod pairing;
mod matching;
mod bound;
mod diversity;
mod nearest;
mod miracle;
mod dmiracle;
mod release;
mod measure;

pub use database::{Database, ForeignKey, Relation};
pub use diversity::{Enforcement, Requirements};
pub use dmiracle::dmiracle;
pub use matching::{Matcher, TreeDistance};
pub use measure::{Measured, TableLoss, measure};
pub use miracle::{Clustering, miracle};
pub use options::{Cost, Matching, Options, Pairing};
pub use release::{Release, ReleasedTable};
pub use tree::{Label, Node, Trees};

use crate::registry::{Entry, Status};

/// Which algorithm for persons in many tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RelationalKind {
    /// [`miracle()`] with [`Pairing::Subtree`].
    Miracle,
    /// [`miracle()`] with [`Pairing::Record`].
    MiracleX,
    /// [`dmiracle()`], on top of either.
    Diverse,
}

impl RelationalKind {
    /// How it pairs children unless told otherwise.
    pub fn pairing(self) -> Pairing {
        match self {
            RelationalKind::Miracle => Pairing::Subtree,
            RelationalKind::MiracleX | RelationalKind::Diverse => Pairing::Record,
        }
    }

    /// Does it enforce what is required of sensitive values?
    pub fn enforces_diversity(self) -> bool {
        self == RelationalKind::Diverse
    }
}

/// All algorithms for persons in many tables.
pub const ALL: &[Entry<RelationalKind>] = &[
    Entry {
        name: "miracle",
        summary: "persons in many tables: clusters of at least k, rows paired with all that hangs on them",
        reference: "Nergiz, Clifton, Nergiz: Multirelational k-Anonymity, TKDE 2009, section 4.2",
        doc: include_str!("miracle.md"),
        status: Status::Preview,
        item: RelationalKind::Miracle,
    },
    Entry {
        name: "miraclex",
        summary: "persons in many tables: clusters of at least k, rows paired by their own labels",
        reference: "Nergiz, Clifton, Nergiz: Multirelational k-Anonymity, TKDE 2009, section 4.3",
        doc: include_str!("miraclex.md"),
        status: Status::Preview,
        item: RelationalKind::MiracleX,
    },
    Entry {
        name: "dmiracle",
        summary: "persons in many tables: clusters whose sensitive values are spread as the policy requires",
        reference: "Nergiz, Clifton, Nergiz: Multirelational k-Anonymity, TKDE 2009, section 5.2",
        doc: include_str!("dmiracle.md"),
        status: Status::Preview,
        item: RelationalKind::Diverse,
    },
];

#[cfg(test)]
mod samples;
