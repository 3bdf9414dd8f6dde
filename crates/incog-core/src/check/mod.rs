//! Does this node satisfy the policy?
//!
//! A [`Checker`] answers for single nodes; it never sees which traversal asks. For each family of nodes (the
//! whole lattice, or one of Incognito's attribute subsets) it opens a [`Judge`], which keeps what it learnt from
//! one node to the next. Checkers differ only in where the groups of a node come from:
//!
//! | name | groups of a node come from |
//! |---|---|
//! | `scan` | the records, with a hash table |
//! | `sort` | the records, by sorting |
//! | `roll-up` | a direct specialization judged before; the records where there is none |
//! | `super-roots` | the same; where there is none, one scan per family below all its roots |
//! | `cube` | the same; where there is none, frequency sets of all subsets computed beforehand |
//! | `bitmap` | intersections of a set of records per label |
//! | `kept` | the smallest set kept below, made halfway from another where that is far |

mod scan;
mod roll_up;
mod cube;
mod bitmap;
mod kept;
mod choose;

pub use bitmap::{BitmapOptions, Intersect, Stop};
pub use choose::{Estimates, choose, estimate};
pub use cube::{CubeOptions, Materialize};
pub use kept::refused_rows;
pub(crate) use kept::{Counted, Forecast, Sizes, Suppressing, Verdict, suppressing};

use std::mem::discriminant;

use crate::error::Result;
use crate::frequency::{FrequencySet, FrequencySource, Method, counted};
use crate::lattice::{Grouping, Lattice};
use crate::privacy::Policy;
use crate::registry::{Entry, Status};
use crate::watch::Watch;

/// What is to be solved: counts and a policy.
#[derive(Clone, Copy)]
pub struct Problem<'a> {
    /// Where counts come from.
    pub source: &'a dyn FrequencySource,
    /// What a release must satisfy.
    pub policy: &'a Policy,
}

impl Problem<'_> {
    /// The groups of all records at a grouping, with what the policy demands.
    ///
    /// Fails when the source cannot count, or when what it answers is not that: other groups, other measures, or rows that do
    /// not add up to all.
    pub fn count(&self, grouping: &Grouping) -> Result<FrequencySet> {
        counted(self.source, grouping, &self.policy.demand(), Method::Auto)
    }

    /// Does the generalization to these levels satisfy the policy? For those who ask seldom: searches have a [`Judge`].
    pub fn holds(&self, levels: &[u8]) -> Result<bool> {
        Ok(self.policy.judge(&self.count(&Grouping::of_levels(levels))?)?.holds)
    }
}

/// Work done, in units that do not depend on the machine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Work {
    /// Nodes whose status was decided by a check (not by a mark).
    pub nodes_checked: u64,
    /// Passes over all records.
    pub table_scans: u64,
    /// Groups read while rolling up or projecting frequency sets.
    pub groups_touched: u64,
    /// Sets of records intersected (`bitmap`).
    pub ands: u64,
    /// Sets of records united with another (`bitmap`).
    pub ors: u64,
    /// Sets of records, or intersections of two, whose size was asked for (`bitmap`).
    pub counts: u64,
    /// Records of small sets whose labels were looked up (`bitmap`).
    pub look_ups: u64,
}

impl std::ops::AddAssign for Work {
    fn add_assign(&mut self, other: Work) {
        self.nodes_checked += other.nodes_checked;
        self.table_scans += other.table_scans;
        self.groups_touched += other.groups_touched;
        self.ands += other.ands;
        self.ors += other.ors;
        self.counts += other.counts;
        self.look_ups += other.look_ups;
    }
}

/// Opens judges.
pub trait Checker: Sync {
    /// A judge for the nodes of `family` that are one of `roots` or lie above one of them.
    fn open<'a>(&'a self, family: &'a Lattice, roots: &[usize], keep: Keep) -> Result<Box<dyn Judge + 'a>>;

    /// What was done before the first judge was opened.
    fn preparation(&self) -> Work {
        Work::default()
    }

    /// The most bytes that sets of records, and the records' labels, have taken so far (`bitmap`).
    fn peak_bytes(&self) -> u64 {
        0
    }
}

/// Answers for the nodes of one family.
pub trait Judge {
    /// Does the node hold?
    fn judge(&mut self, node: usize) -> Result<bool>;

    /// No node will be asked about whose direct specializations are lower than `height`: what is known of lower
    /// nodes can go.
    fn forget_below(&mut self, _height: usize) {}

    /// What was done so far.
    fn work(&self) -> Work;
}

/// Of which nodes will generalizations be asked about?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// Of none: nodes are asked about in no order.
    Nothing,
    /// Only of failing ones: the traversal marks what lies above a node that holds.
    Failing,
    /// Of any.
    Everything,
}

/// Which checker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckerKind {
    /// A hash group-by of the records at every node.
    Scan,
    /// A sort-based group-by of the records at every node.
    Sort,
    /// Roll-up from failing specializations.
    RollUp,
    /// Roll-up, with one scan per family.
    SuperRoots,
    /// Roll-up from precomputed frequency sets.
    Cube(CubeOptions),
    /// Intersections of bitmaps.
    Bitmap(BitmapOptions),
    /// Merging from the smallest set kept below.
    Kept,
}

/// All checkers, in the order of the table above.
pub const ALL: &[Entry<CheckerKind>] = &[
    Entry {
        name: "scan",
        summary: "a hash group-by of the records at every node",
        reference: "LeFevre, DeWitt, Ramakrishnan, SIGMOD 2005, section 2.2",
        doc: include_str!("scan.md"),
        status: Status::Preview,
        item: CheckerKind::Scan,
    },
    Entry {
        name: "sort",
        summary: "a sort-based group-by of the records at every node, as databases did",
        reference: "LeFevre, DeWitt, Ramakrishnan, SIGMOD 2005, section 2.2",
        doc: include_str!("sort.md"),
        status: Status::Preview,
        item: CheckerKind::Sort,
    },
    Entry {
        name: "roll-up",
        summary: "merges the groups of a failing specialization; scans the records at roots",
        reference: "LeFevre, DeWitt, Ramakrishnan, SIGMOD 2005, section 3.1 (Basic Incognito)",
        doc: include_str!("roll_up.md"),
        status: Status::Preview,
        item: CheckerKind::RollUp,
    },
    Entry {
        name: "super-roots",
        summary: "roll-up with one scan per family, at the component-wise minimum of its roots",
        reference: "LeFevre, DeWitt, Ramakrishnan, SIGMOD 2005, section 3.3.1",
        doc: include_str!("super_roots.md"),
        status: Status::Preview,
        item: CheckerKind::SuperRoots,
    },
    Entry {
        name: "cube",
        summary: "roll-up from zero-generalization frequency sets of all subsets, computed beforehand",
        reference: "LeFevre, DeWitt, Ramakrishnan, SIGMOD 2005, section 3.3.2",
        doc: include_str!("cube.md"),
        status: Status::Preview,
        item: CheckerKind::Cube(CubeOptions::ZERO_LEVEL),
    },
    Entry {
        name: "bitmap",
        summary: "intersects a set of records per label; rows, not persons",
        reference: "the paper on bitmap-based Incognito, sections 3 and 4",
        doc: include_str!("bitmap.md"),
        status: Status::Preview,
        item: CheckerKind::Bitmap(BitmapOptions::BEST),
    },
    Entry {
        name: "kept",
        summary: "merges the smallest set of groups kept below, wherever that is; small counters where only k counts",
        reference: "own; after the snapshots of ARX (Kohlmayer, Prasser et al.: Flash, PASSAT 2012)",
        doc: include_str!("kept.md"),
        status: Status::Preview,
        item: CheckerKind::Kept,
    },
];

impl CheckerKind {
    /// What the checker is called, whatever its options.
    pub fn name(self) -> &'static str {
        let is_same = |entry: &&Entry<CheckerKind>| discriminant(&entry.item) == discriminant(&self);
        ALL.iter().find(is_same).expect("every checker is registered").name
    }

    /// Gets the checker ready for a problem; only `cube` and `bitmap` have anything to do.
    pub fn prepare<'a>(self, problem: Problem<'a>, watch: &Watch) -> Result<Box<dyn Checker + 'a>> {
        Ok(match self {
            CheckerKind::Scan => Box::new(scan::Scan { problem, method: Method::Hash }),
            CheckerKind::Sort => Box::new(scan::Scan { problem, method: Method::Sort }),
            CheckerKind::RollUp => Box::new(roll_up::RollUp { problem }),
            CheckerKind::SuperRoots => Box::new(roll_up::SuperRoots { problem }),
            CheckerKind::Cube(options) => Box::new(cube::Cube::build(problem, options, watch)?),
            CheckerKind::Bitmap(options) => Box::new(bitmap::Bitmap::build(problem, options)?),
            CheckerKind::Kept => Box::new(kept::Kept { problem }),
        })
    }
}
