//! Does this node satisfy the policy?
//!
//! A [`Judge`] answers for the nodes of one family (the whole lattice, or one of Incognito's attribute subsets). It never sees
//! which traversal asks, and it may keep what it learnt from one node for the next. [`Judges`] is one way to judge, ready for a
//! problem: it opens a judge for each family. The ways differ only in where the groups of a node come from:
//!
//! | name | groups of a node come from | standing |
//! |---|---|---|
//! | `snapshots` | the smallest set of groups kept below the node; one is made halfway where that is far | product |
//! | `bitmap` | no groups: intersections of a set of records for each label | product |
//! | `roll-up` | a direct specialization judged before; the records where there is none | reference |
//! | `super-roots` | the same; where there is none, one scan for each family, below all its roots | reference |
//! | `cube` | the same; where there is none, frequency sets of all subsets computed beforehand | reference |
//! | `scan` | the records, with a hash table | reference |
//! | `sort` | the records, by sorting | reference |
//!
//! The product is what searches use where a job leaves the choice to us. The references are the papers' own ways, to compare
//! with and to run Incognito as it was published ([`Standing`]). [`choose`] picks for Incognito, and may pick a reference.

pub(crate) mod tuning;
mod snapshots;
mod bitmap;
mod roll_up;
mod cube;
mod scan;
mod choose;

pub use bitmap::{BitmapOptions, Intersect, Stop};
pub use choose::{Estimates, choose, estimate};
pub use cube::{CubeOptions, Materialize, cube_sets};
pub use snapshots::refused_rows;
pub(crate) use snapshots::{Detail, Forecast, NodeJudge, Sizes, Verdict, node_judge};

use std::mem::discriminant;

use crate::error::Result;
use crate::frequency::{FrequencySet, FrequencySource, Method, TooMany, count_within, counted, visit_parts};
use crate::lattice::{Grouping, Lattice};
use crate::privacy::Policy;
use crate::progress::Progress;
use crate::registry::{Entry, Status};

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

    /// The same, if there is room for them: where the source limits memory, only few groups may be there at once.
    pub(crate) fn count_within(
        &self,
        grouping: &Grouping,
    ) -> Result<std::result::Result<FrequencySet, TooMany>> {
        count_within(self.source, grouping, &self.policy.demand(), Method::Auto)
    }

    /// Shows the groups of a grouping, of which there are too many, a part at a time, until `visit` has seen enough. Refused where
    /// the policy asks for more than the rows of each group; `who` is told to the user.
    pub(crate) fn visit_parts(
        &self,
        grouping: &Grouping,
        too_many: TooMany,
        who: &str,
        visit: &mut dyn FnMut(&FrequencySet) -> Result<bool>,
    ) -> Result<()> {
        if self.policy.least_admitted(self.source.n_rows())?.is_none() {
            return Err(too_many.refuse(
                who,
                "allow more memory, use fewer quasi-identifiers, or ask for k-anonymity alone",
            ));
        }
        visit_parts(self.source, grouping, too_many, visit)
    }

    /// Does a node hold whose groups are too many to be there at once? Returns that, and how often the records were read.
    fn judge_parts(&self, grouping: &Grouping, too_many: TooMany, who: &str) -> Result<(bool, u64)> {
        let (mut refused, mut n_scans) = (0, 0);
        self.visit_parts(grouping, too_many, who, &mut |set| {
            n_scans += 1;
            refused += self.policy.refused_rows_of(set)?;
            Ok(refused <= self.policy.budget())
        })?;
        Ok((refused <= self.policy.budget(), n_scans))
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
    /// Of those, the nodes whose groups were counted. The others took over the verdict of a smaller subset
    /// ([`OneLabel::TakeOver`](crate::algorithm::OneLabel)).
    pub nodes_grouped: u64,
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

impl Work {
    /// One more node was checked by counting its groups.
    fn count_node(&mut self) {
        self.nodes_checked += 1;
        self.nodes_grouped += 1;
    }
}

impl std::ops::AddAssign for Work {
    fn add_assign(&mut self, other: Work) {
        self.nodes_checked += other.nodes_checked;
        self.nodes_grouped += other.nodes_grouped;
        self.table_scans += other.table_scans;
        self.groups_touched += other.groups_touched;
        self.ands += other.ands;
        self.ors += other.ors;
        self.counts += other.counts;
        self.look_ups += other.look_ups;
    }
}

/// One way to judge, ready for a problem: opens a judge for each family.
pub trait Judges: Sync {
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

/// Which way to judge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JudgeKind {
    /// Merges the groups of the smallest set kept below a node.
    Snapshots,
    /// Intersects bitmaps.
    Bitmap(BitmapOptions),
    /// Rolls up from failing specializations.
    RollUp,
    /// Rolls up, with one scan for each family.
    SuperRoots,
    /// Rolls up from frequency sets computed beforehand.
    Cube(CubeOptions),
    /// Groups the records by hash at every node.
    Scan,
    /// Groups the records by sorting at every node.
    Sort,
}

/// What a way to judge is there for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Searches use it.
    Product,
    /// A paper's own way, to compare with.
    Reference,
}

impl Standing {
    /// Both, the product first.
    pub const ALL: [Standing; 2] = [Standing::Product, Standing::Reference];

    /// What `incog list` calls its section; `checker` is the key in job files.
    pub fn title(self) -> &'static str {
        match self {
            Standing::Product => "judges of nodes (checker): the product",
            Standing::Reference => "judges of nodes (checker): reference implementations of the papers' own",
        }
    }

    /// What `incog explain` calls one of them.
    pub fn kind(self) -> &'static str {
        match self {
            Standing::Product => "judge of nodes (checker), the product",
            Standing::Reference => "judge of nodes (checker), a paper's reference implementation",
        }
    }
}

/// All ways to judge, in the order of the table above.
pub const ALL: &[Entry<JudgeKind>] = &[
    Entry {
        name: "snapshots",
        summary: "merges the smallest set of groups kept from an earlier node; counters of a byte where only k counts",
        reference: "own; after the snapshots of ARX (Kohlmayer, Prasser et al.: Flash, PASSAT 2012)",
        doc: include_str!("snapshots.md"),
        status: Status::Preview,
        item: JudgeKind::Snapshots,
    },
    Entry {
        name: "bitmap",
        summary: "intersects a set of records per label; rows, not persons",
        reference: "the paper on bitmap-based Incognito, sections 3 and 4",
        doc: include_str!("bitmap.md"),
        status: Status::Preview,
        item: JudgeKind::Bitmap(BitmapOptions::BEST),
    },
    Entry {
        name: "roll-up",
        summary: "merges the groups of a failing specialization; scans the records at roots",
        reference: "LeFevre, DeWitt, Ramakrishnan, SIGMOD 2005, section 3.1 (Basic Incognito)",
        doc: include_str!("roll_up.md"),
        status: Status::Preview,
        item: JudgeKind::RollUp,
    },
    Entry {
        name: "super-roots",
        summary: "roll-up with one scan per family, at the component-wise minimum of its roots",
        reference: "LeFevre, DeWitt, Ramakrishnan, SIGMOD 2005, section 3.3.1",
        doc: include_str!("super_roots.md"),
        status: Status::Preview,
        item: JudgeKind::SuperRoots,
    },
    Entry {
        name: "cube",
        summary: "roll-up from zero-generalization frequency sets of all subsets, computed beforehand",
        reference: "LeFevre, DeWitt, Ramakrishnan, SIGMOD 2005, section 3.3.2",
        doc: include_str!("cube.md"),
        status: Status::Preview,
        item: JudgeKind::Cube(CubeOptions::ZERO_LEVEL),
    },
    Entry {
        name: "scan",
        summary: "a hash group-by of the records at every node",
        reference: "LeFevre, DeWitt, Ramakrishnan, SIGMOD 2005, section 2.2",
        doc: include_str!("scan.md"),
        status: Status::Preview,
        item: JudgeKind::Scan,
    },
    Entry {
        name: "sort",
        summary: "a sort-based group-by of the records at every node, as databases did",
        reference: "LeFevre, DeWitt, Ramakrishnan, SIGMOD 2005, section 2.2",
        doc: include_str!("sort.md"),
        status: Status::Preview,
        item: JudgeKind::Sort,
    },
];

impl JudgeKind {
    /// Is it what searches use, or a paper's own way?
    pub fn standing(self) -> Standing {
        match self {
            JudgeKind::Snapshots | JudgeKind::Bitmap(_) => Standing::Product,
            JudgeKind::RollUp
            | JudgeKind::SuperRoots
            | JudgeKind::Cube(_)
            | JudgeKind::Scan
            | JudgeKind::Sort => Standing::Reference,
        }
    }

    /// Its name in job files, whatever its options.
    pub fn name(self) -> &'static str {
        let is_same = |entry: &&Entry<JudgeKind>| discriminant(&entry.item) == discriminant(&self);
        ALL.iter().find(is_same).expect("every way to judge is registered").name
    }

    /// Gets ready for a problem; only `cube` and `bitmap` have anything to do.
    pub fn prepare<'a>(self, problem: Problem<'a>, progress: &Progress) -> Result<Box<dyn Judges + 'a>> {
        Ok(match self {
            JudgeKind::Scan => Box::new(scan::Scan { problem, method: Method::Hash }),
            JudgeKind::Sort => Box::new(scan::Scan { problem, method: Method::Sort }),
            JudgeKind::RollUp => Box::new(roll_up::RollUp::new(problem)),
            JudgeKind::SuperRoots => Box::new(roll_up::SuperRoots::new(problem)),
            JudgeKind::Cube(options) => Box::new(cube::Cube::build(problem, options, progress)?),
            JudgeKind::Bitmap(options) => bitmap::Bitmap::prepare(problem, options)?,
            JudgeKind::Snapshots => Box::new(snapshots::Snapshots { problem }),
        })
    }
}
