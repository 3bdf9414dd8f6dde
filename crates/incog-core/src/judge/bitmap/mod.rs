//! Groups as intersections of bitmaps (bitmap-based Incognito).
//!
//! 1. Index once: a set of records for every label of every level ([`index`]); OR generalizes.
//! 2. The groups of a node are the non-empty intersections of one label of each attribute; their sizes are bit counts.
//! 3. Stop as soon as the rows of refused groups exceed the budget (the paper's *pruning*; without suppression: at the first
//!    group below k). An empty intersection is no group, and no failure.
//!
//! How intersections are made can be chosen ([`Intersect`]): the paper's *1-level*, which ANDs the sets of single
//! attributes afresh for every combination of labels; its *reusing* ([`reuse`]), which keeps the sets of groups; or
//! depth-first over the attributes ([`walk`]), which keeps one intersection per attribute on the way down and skips whatever
//! lies below an empty one.
//!
//! Differs from the paper: (1) rare labels come first, and attributes with few labels; (2) depth-first, a set that is too
//! small already for k-anonymity is refused with all its groups, without looking at them, and the last attribute is
//! counted, not intersected; (3) a set whose records are all accounted for is not intersected with further labels; (4)
//! sparse sets are lists; (5) policies about sensitive values are judged too ([`sensitive`]), by rows.
//!
//! Where the source limits memory and the index does not fit, nodes are judged a block of records at a time ([`blocks`]).
//!
//! Cost: for each node, up to the product of its labels' numbers of ANDs, each n / 64 words or a short list. Memory: the
//! index, at most 4 bytes a record, attribute and level, and one set per attribute; with *reusing* up to 4 bytes a record
//! for every node kept.

mod blocks;
mod codes;
mod index;
mod ledger;
mod records;
mod reuse;
mod sensitive;
mod walk;

pub(super) use index::fits;

use std::sync::Arc;

use crate::error::{Error, ErrorKind, Result};
use crate::frequency::records_for;
use crate::hash;
use crate::judge::{Judge, Judges, Keep, Problem, Work};
use crate::lattice::Lattice;
use blocks::Blocks;
use index::Index;
use ledger::Ledger;
use reuse::{Groups, Maker, Store};
use sensitive::Sensitive;
use walk::{Buffer, Dimension, View, Walk};

/// How bitmaps are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BitmapOptions {
    /// How intersections are made.
    pub intersect: Intersect,
    /// When a node's judgement ends.
    pub stop: Stop,
    /// The bytes that what is kept may take; `None` for no bound. The sets of the node that is being judged come on top. If
    /// the index alone takes more, that is an error. With several threads, what is kept up to the bound depends on which
    /// comes first: verdicts do not, counts of operations do.
    pub memory: Option<u64>,
}

/// How intersections are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Intersect {
    /// Afresh from the sets of single attributes, for every combination of labels: the paper's 1-level optimization.
    OneLevel,
    /// From groups that were kept: OR generalizes those of a failing node, AND refines those of the previous subset. The
    /// paper's reusing optimization.
    Reusing,
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

/// What was done with sets.
#[derive(Debug, Clone, Copy, Default)]
struct Operations {
    ands: u64,
    ors: u64,
    counts: u64,
    look_ups: u64,
}

/// Judges nodes by intersecting the sets of their labels.
pub(super) struct Bitmap<'a> {
    problem: Problem<'a>,
    options: BitmapOptions,
    index: Index,
    ledger: Arc<Ledger>,
    store: Store,
    /// Sensitive columns, if the policy asks for them.
    sensitive: Option<Sensitive>,
    /// The fewest rows of a group that the policy may admit.
    least: u64,
}

impl<'a> Bitmap<'a> {
    /// Ready to judge: with an index of all records, or block by block where the source limits memory and that does not fit.
    pub(super) fn prepare(problem: Problem<'a>, options: BitmapOptions) -> Result<Box<dyn Judges + 'a>> {
        let Some(room) = problem.source.room() else {
            return Ok(Box::new(Bitmap::build(problem, options)?));
        };
        let room = room / 2;
        let asks_for_less = options.memory.is_some_and(|memory| memory < room);
        let least = problem.policy.least_admitted(problem.source.n_rows())?;
        let is_possible = problem.source.records().is_some() && fits(problem.source, room)?;
        let options = BitmapOptions { memory: options.memory.into_iter().chain([room]).min(), ..options };
        if let Some(least) = least
            && !is_possible
            && !asks_for_less
            && options.intersect == Intersect::DepthFirst
            && let Some(blocks) = Blocks::new(problem, options.stop, least)
        {
            return Ok(Box::new(blocks));
        }
        Ok(Box::new(Bitmap::build(problem, options)?))
    }

    fn build(problem: Problem<'a>, options: BitmapOptions) -> Result<Self> {
        let Problem { source, policy } = problem;
        let demand = policy.demand();
        let refused =
            |what: &str| Err(Error::new(ErrorKind::Policy, what).with_hint("set checker = \"roll-up\""));
        if demand.persons || !demand.persons_by_value.is_empty() {
            return refused("`bitmap` counts rows, not persons");
        }
        if demand.labels {
            return refused("`bitmap` does not know the labels of groups");
        }
        if policy.budget() > 0 && policy.compares() {
            return refused("`bitmap` cannot compare groups with what suppression leaves");
        }
        // Only what k-anonymity alone says can be said of a set by its size.
        let by_size = match policy.k_only() {
            Some(policy) => policy.least_admitted(source.n_rows())?,
            None => None,
        };
        if by_size.is_none() && demand.is_rows_only() {
            return refused("`bitmap` judges models that more rows satisfy more easily");
        }
        let least = by_size.unwrap_or(1);
        let ledger = Arc::new(Ledger::default());
        let records = records_for(source, "`bitmap`", "choose checker = \"roll-up\"")?;
        let index = Index::build(source, records, options.memory, &ledger)?;
        let sensitive = Sensitive::build(records, policy, &ledger)?;
        if let Some(memory) = options.memory.filter(|memory| ledger.now() > *memory) {
            let message = format!(
                "bitmaps with those of the sensitive columns take {} bytes; the bound is {memory}",
                ledger.now()
            );
            return Err(Error::new(ErrorKind::Limit, message)
                .with_hint("raise the bound, or set checker = \"roll-up\""));
        }
        Ok(Bitmap { problem, options, index, sensitive, ledger, store: Store::default(), least })
    }

    /// May what is there now be kept?
    fn has_room(&self) -> bool {
        self.options.memory.is_none_or(|memory| self.ledger.now() <= memory)
    }
}

impl Judges for Bitmap<'_> {
    fn open<'a>(&'a self, family: &'a Lattice, _: &[usize], keep: Keep) -> Result<Box<dyn Judge + 'a>> {
        self.store.forget_for(family.attributes().len());
        Ok(Box::new(BitmapJudge {
            bitmap: self,
            family,
            keep,
            kept: hash::Map::default(),
            buffers: Vec::new(),
            work: Work::default(),
        }))
    }

    fn preparation(&self) -> Work {
        Work { table_scans: 1, ors: self.index.n_unions, ..Work::default() }
    }

    fn peak_bytes(&self) -> u64 {
        self.ledger.peak()
    }
}

struct BitmapJudge<'a> {
    bitmap: &'a Bitmap<'a>,
    family: &'a Lattice,
    keep: Keep,
    kept: hash::Map<usize, Arc<Groups>>,
    buffers: Vec<Buffer>,
    work: Work,
}

impl BitmapJudge<'_> {
    /// Judges a node by groups that were kept, and keeps its own.
    fn reuse(&mut self, node: usize, walk: &mut Walk<'_>) {
        let bitmap = self.bitmap;
        let attributes = self.family.attributes();
        let maker = Maker { index: &bitmap.index, ledger: &bitmap.ledger, store: &bitmap.store, attributes };
        let levels: Vec<u8> = self.family.levels(node).collect();
        let below = self.family.specializations(node).filter_map(|down| self.kept.get(&down));
        let groups = match below.min_by_key(|groups| groups.n_groups()) {
            Some(groups) => maker.generalize(groups, &levels, walk),
            None => maker.intersect(&levels, walk),
        };
        let Some(groups) = groups.filter(|_| bitmap.has_room()).map(Arc::new) else {
            return;
        };
        let n_attributes = bitmap.problem.source.layout().heights().len();
        if walk.holds() && attributes.len() < n_attributes {
            bitmap.store.keep(attributes, &groups);
        }
        if self.keep == Keep::Everything || (self.keep == Keep::Failing && !walk.holds()) {
            self.kept.insert(node, groups);
        }
    }
}

impl Judge for BitmapJudge<'_> {
    fn judge(&mut self, node: usize) -> Result<bool> {
        let Bitmap { problem, options, index, sensitive, least, .. } = self.bitmap;
        self.work.count_node();
        let mut walk = Walk {
            least: *least,
            budget: problem.policy.budget(),
            stop: options.stop,
            refused: 0,
            operations: Operations::default(),
            beyond: sensitive.as_ref().map(|sensitive| (problem.policy, sensitive)),
            error: None,
        };
        let levels = self.family.attributes().iter().zip(self.family.levels(node));
        let mut attributes: Vec<Dimension<'_>> = levels
            .map(|(&attribute, number)| {
                let level = index.level(attribute, number);
                Dimension {
                    labels: &level.labels,
                    codes: index.codes(attribute),
                    up: &level.up,
                    end: level.end,
                }
            })
            .collect();
        // Few labels first: an intersection serves all labels of the next. One label changes nothing.
        attributes.retain(|attribute| attribute.labels.len() > 1);
        attributes.sort_by_key(|attribute| attribute.labels.len());
        match options.intersect {
            // All records are one group.
            _ if attributes.is_empty() && sensitive.is_none() => _ = walk.group(index.n_records as u64),
            _ if attributes.is_empty() => {
                let all: Vec<u32> = (0..index.n_records as u32).collect();
                _ = all.is_empty() || walk.set(View::List(&all));
            }
            Intersect::DepthFirst => _ = walk.descend(&attributes, &mut self.buffers),
            Intersect::OneLevel => _ = walk.afresh(&attributes, &mut Vec::new(), &mut self.buffers),
            Intersect::Reusing => self.reuse(node, &mut walk),
        }
        self.work.ands += walk.operations.ands;
        self.work.ors += walk.operations.ors;
        self.work.counts += walk.operations.counts;
        self.work.look_ups += walk.operations.look_ups;
        match walk.error.take() {
            Some(error) => Err(error),
            None => Ok(walk.holds()),
        }
    }

    fn forget_below(&mut self, height: usize) {
        self.kept.retain(|&node, _| self.family.height(node) >= height);
    }

    fn work(&self) -> Work {
        self.work
    }
}
