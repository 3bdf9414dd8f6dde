//! Groups as intersections of bitmaps (bitmap-based Incognito).
//!
//! 1. Index once: a set of records for every label of every level ([`index`]); OR generalizes.
//! 2. The groups of a node are the non-empty intersections of one label of each attribute; their sizes are bit counts.
//! 3. Stop as soon as the rows of refused groups exceed the budget (the paper's *pruning*; without suppression: at the first
//!    group below k). An empty intersection is no group, and no failure.
//!
//! How intersections are made can be chosen ([`Intersect`]): the paper's *1-level*, which ANDs the sets of single
//! attributes afresh for every combination of labels, or depth-first over the attributes, which keeps one intersection per
//! attribute on the way down and skips whatever lies below an empty one.
//!
//! Differs from the paper: (1) rare labels come first, and attributes with few labels; (2) a set that is too small already
//! is refused with all its groups, without looking at them (so only policies that a larger group satisfies more easily
//! are judged, and only by rows); (3) the last attribute is counted, not intersected; (4) sparse sets are lists; (5) the
//! paper's *reusing*, which keeps the bitmaps of a node's specialization, is not there yet.
//!
//! Cost: for each node, up to the product of its labels' numbers of ANDs, each n / 64 words or a short list. Memory: the
//! index, at most 4 bytes a record, attribute and level, and one set per attribute.

mod index;

use crate::check::{Checker, Judge, Keep, Problem, Work};
use crate::error::{Error, ErrorKind, Result};
use crate::group::Measures;
use crate::lattice::Lattice;
use crate::privacy::{Closure, Policy};
use index::{Index, Records};

/// How bitmaps are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BitmapOptions {
    /// How intersections are made.
    pub intersect: Intersect,
    /// When a node's judgement ends.
    pub stop: Stop,
    /// The sets may take so many bytes; no bound unless given.
    pub memory: Option<u64>,
}

/// How intersections are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Intersect {
    /// Afresh from the sets of single attributes, for every combination of labels: the paper's 1-level optimization.
    OneLevel,
    /// Depth-first over the attributes: the intersection of the first ones is used for all labels of the next.
    DepthFirst,
}

/// When a node's judgement ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// Once the rows of refused groups exceed the budget: the paper's pruning optimization.
    Early,
    /// When all groups are counted.
    AtTheEnd,
}

impl BitmapOptions {
    /// Depth-first, stopping early, without a bound.
    pub const BEST: BitmapOptions =
        BitmapOptions { intersect: Intersect::DepthFirst, stop: Stop::Early, memory: None };
}

/// Judges nodes by intersecting the sets of their labels.
pub(super) struct Bitmap<'a> {
    problem: Problem<'a>,
    options: BitmapOptions,
    index: Index,
    /// The fewest rows of a group that the policy admits.
    least: u64,
}

impl<'a> Bitmap<'a> {
    pub(super) fn build(problem: Problem<'a>, options: BitmapOptions) -> Result<Self> {
        let least = least_admitted(problem.policy, problem.source.n_rows())?;
        Ok(Bitmap { problem, options, index: Index::build(problem.source, options.memory)?, least })
    }
}

/// The fewest rows of a group that a policy admits; more than there are, if it admits none.
fn least_admitted(policy: &Policy, n_rows: u64) -> Result<u64> {
    if policy.closure() != Closure::Absorbing || !policy.demand().is_rows_only() {
        return Err(Error::new(ErrorKind::Policy, "the checker `bitmap` judges k-anonymity of rows only")
            .with_hint("choose another checker: super-roots"));
    }
    // Absorbing: what is admitted stays so as it grows.
    let (mut refused, mut admitted) = (0, n_rows + 1);
    while refused + 1 < admitted {
        let middle = refused + (admitted - refused) / 2;
        if policy.admits(Measures::of_rows(vec![middle]).group(0))? {
            admitted = middle;
        } else {
            refused = middle;
        }
    }
    Ok(admitted)
}

impl Checker for Bitmap<'_> {
    fn open<'a>(&'a self, family: &'a Lattice, _: &[usize], _: Keep) -> Result<Box<dyn Judge + 'a>> {
        Ok(Box::new(BitmapJudge { bitmap: self, family, work: Work::default() }))
    }

    fn preparation(&self) -> Work {
        Work { table_scans: 1, ..Work::default() }
    }
}

struct BitmapJudge<'a> {
    bitmap: &'a Bitmap<'a>,
    family: &'a Lattice,
    work: Work,
}

impl Judge for BitmapJudge<'_> {
    fn judge(&mut self, node: usize) -> Result<bool> {
        let Bitmap { problem, options, index, least } = self.bitmap;
        self.work.nodes_checked += 1;
        let levels = self.family.attributes().iter().zip(self.family.levels(node));
        let mut attributes: Vec<&[Records]> =
            levels.map(|(&attribute, level)| index.labels(attribute, level)).collect();
        // Few labels first: an intersection serves all labels of the next. One label changes nothing.
        attributes.retain(|labels| labels.len() > 1);
        attributes.sort_by_key(|labels| labels.len());
        let mut walk = Walk {
            least: *least,
            budget: problem.policy.budget(),
            stop: options.stop,
            refused: 0,
            n_sets: 0,
        };
        match (options.intersect, attributes.as_slice()) {
            // All records are one group.
            (_, []) => walk.group(index.n_records() as u64),
            (Intersect::DepthFirst, [first, rest @ ..]) => walk.descend(first, rest),
            (Intersect::OneLevel, attributes) => walk.afresh(attributes, &mut Vec::new()),
        };
        self.work.groups_touched += walk.n_sets;
        Ok(walk.refused <= walk.budget)
    }

    fn work(&self) -> Work {
        self.work
    }
}

/// The judgement of one node.
struct Walk {
    least: u64,
    budget: u64,
    stop: Stop,
    /// Rows of refused groups so far.
    refused: u64,
    /// Intersections and counts made.
    n_sets: u64,
}

impl Walk {
    /// One group more. Says whether to go on.
    fn group(&mut self, rows: u64) -> bool {
        if rows < self.least {
            self.refused += rows;
        }
        self.stop == Stop::AtTheEnd || self.refused <= self.budget
    }

    /// All groups of the attributes from the first set of labels on. Says whether to go on.
    fn descend(&mut self, labels: &[Records], rest: &[&[Records]]) -> bool {
        labels.iter().all(|label| {
            let count = label.count();
            self.n_sets += 1;
            match rest {
                _ if count < self.least => self.group(count),
                [] => self.group(count),
                [next, rest @ ..] => self.below(label, next, rest),
            }
        })
    }

    /// All groups within a set of records.
    fn below(&mut self, set: &Records, labels: &[Records], rest: &[&[Records]]) -> bool {
        labels.iter().all(|label| {
            self.n_sets += 1;
            let [next, rest @ ..] = rest else {
                return self.group(set.and_count(label));
            };
            let both = set.and(label);
            match both.count() {
                0 => true,
                // Whatever is in it is too small too.
                count if count < self.least => self.group(count),
                _ => self.below(&both, next, rest),
            }
        })
    }

    /// Every combination of labels, intersected from single attributes.
    fn afresh<'r>(&mut self, attributes: &[&'r [Records]], chosen: &mut Vec<&'r Records>) -> bool {
        if let [labels, rest @ ..] = attributes {
            return labels.iter().all(|label| {
                chosen.push(label);
                let goes_on = self.afresh(rest, chosen);
                chosen.pop();
                goes_on
            });
        }
        self.n_sets += chosen.len() as u64;
        let rows = match chosen.as_slice() {
            [] => return true,
            [only] => only.count(),
            [first, middle @ .., last] => {
                let mut set: Option<Records> = None;
                for label in middle {
                    set = Some(set.as_ref().unwrap_or(first).and(label));
                }
                set.as_ref().unwrap_or(first).and_count(last)
            }
        };
        self.group(rows)
    }
}
