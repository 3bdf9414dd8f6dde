//! Which nodes fail, most likely, and which of them to judge next?
//!
//! A node's *extent* is about the logarithm of the number of its groups, guessed from the labels of its levels: the more
//! groups, the more likely it fails. Every verdict corrects where failing turns to holding, and numbers of groups that
//! surprise correct what levels add. No conclusion rests on any of this.
//!
//! How many open nodes lie below a node is counted when it is about to be chosen; until then an older number stands, which
//! can only be too large.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::ops::Range;

use crate::check::{Problem, Verdict};
use crate::lattice::{Grid, Lattice, Marks};
use crate::metric::Costs;

/// Which nodes fail, most likely.
pub(super) struct Guess {
    /// What each level adds to the extent of a node. At first the logarithm of its labels, as if attributes were independent;
    /// corrected where nodes have clearly fewer groups than that, or more, compared with others.
    parts: Vec<Vec<f32>>,
    /// The sum for each node, about the logarithm of its groups: the more, the more likely it fails.
    pub(super) extents: Vec<f32>,
    /// How much larger the logarithm of the groups was than the extent, lately.
    usual: Option<f32>,
    /// Are parts corrected?
    learns: bool,
    /// More groups than this are nearly all that there can be: that says little.
    most_groups: f32,
    /// Verdicts so far.
    verdicts: Vec<(u32, bool)>,
    /// Do the extents not fit the parts any more?
    pub(super) is_far_off: bool,
    /// Where failing and holding are equally likely.
    pub(super) threshold: f32,
    /// How many open nodes were below each, or it, when that was last counted: not fewer than now.
    n_open: Vec<u32>,
    /// How often that was counted for single nodes, since it was counted for all.
    pub(super) n_counted: usize,
    /// Nodes that may have open ones below them, by steps of extents.
    steps: Vec<Step>,
}

/// How much the extent has to differ for the odds to change e-fold.
const SCALE: f32 = 0.5;
/// How far a verdict that was not expected at all moves the threshold.
const CORRECTION: f32 = 0.5;
/// By how many powers of two the number of groups is surprising.
const SURPRISE: f32 = 1.0;
/// How much the logarithm of a level's rarest label counts, against that of the number of labels.
const RARITY: f32 = 0.3;
/// Steps of extents to a power of two.
const STEPS: f32 = 8.0;
/// How far from the threshold nodes are near.
pub(super) const NEAR: f32 = 1.5;
/// Counting for all nodes takes as long as for about so many single ones.
pub(super) const MAX_COUNTED: usize = 600;

impl Guess {
    pub(super) fn new(problem: Problem<'_>, lattice: &Lattice, costs: &Costs) -> Self {
        let (layout, n_rows) = (problem.source.layout(), problem.source.n_rows());
        let labels = |attribute: usize, level: u8| (layout.n_labels(attribute, level).max(1) as f32).log2();
        // Where nothing may be suppressed, the smallest group decides, and that has rare labels.
        let share_of_rarity = if problem.policy.budget() == 0 { RARITY } else { 0.0 };
        let rarity = |attribute: usize, level: u8| {
            let rows = costs.rarest[attribute][usize::from(level)].max(1);
            (n_rows.max(1) as f32 / rows as f32).log2()
        };
        let levels = |&attribute: &usize| {
            let height = layout.heights()[attribute];
            let part = |level| labels(attribute, level) + share_of_rarity * rarity(attribute, level);
            (0..=height).map(part).collect()
        };
        let mut guess = Guess {
            parts: lattice.attributes().iter().map(levels).collect(),
            extents: Vec::new(),
            usual: None,
            // The smallest group says more, but most nodes fail and all of those have a small one.
            learns: problem.policy.budget() > 0,
            most_groups: (n_rows.max(1) as f32).log2() - 2.0,
            verdicts: Vec::new(),
            is_far_off: false,
            n_open: Vec::new(),
            n_counted: 0,
            threshold: 0.0,
            steps: Vec::new(),
        };
        guess.spread(lattice);
        guess
    }

    /// Computes the extents of all nodes from those of the levels, and the threshold that fits the verdicts best.
    pub(super) fn spread(&mut self, lattice: &Lattice) {
        self.is_far_off = false;
        self.extents = lattice.sums(0.0, |position, level| self.parts[position][level], |a, b| a + b);
        if !self.n_open.is_empty() {
            self.deal_out();
        }
        self.fit();
    }

    /// Sets the threshold between the verdicts: as few as possible that hold above it and fail below it.
    fn fit(&mut self) {
        let mut verdicts: Vec<(f32, bool)> =
            self.verdicts.iter().map(|&(node, holds)| (self.extents[node as usize], holds)).collect();
        verdicts.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut n_wrong = verdicts.iter().filter(|(_, holds)| *holds).count();
        let Some(&(first, _)) = verdicts.first() else { return };
        let (mut least, mut below) = (n_wrong, first);
        self.threshold = first;
        for &(extent, holds) in &verdicts {
            if n_wrong < least || (n_wrong == least && self.threshold == below) {
                least = n_wrong;
                self.threshold = (below + extent) / 2.0;
            }
            n_wrong = if holds { n_wrong - 1 } else { n_wrong + 1 };
            below = extent;
        }
        if n_wrong < least {
            self.threshold = below;
        }
    }

    /// Learns from the groups of a node: if they are unusually few or many, its levels are to blame, each by its part.
    pub(super) fn observe(&mut self, lattice: &Lattice, node: usize, verdict: Verdict) {
        self.verdicts.push((node as u32, verdict.holds));
        let found = (verdict.n_groups.max(1) as f32).log2();
        let levels =
            || lattice.levels(node).enumerate().map(|(position, level)| (position, usize::from(level)));
        let extent: f32 = levels().map(|(position, level)| self.parts[position][level]).sum();
        if !self.learns || found > self.most_groups || extent <= 0.0 {
            return;
        }
        let usual = self.usual.unwrap_or(found - extent);
        let surprise = found - extent - usual;
        self.usual = Some(usual + surprise / 4.0);
        if surprise.abs() > SURPRISE {
            let factor = (1.0 + surprise / extent).clamp(0.5, 2.0);
            for (position, level) in levels() {
                self.parts[position][level] *= factor;
            }
            self.is_far_off = true;
        }
    }

    /// Counts the open nodes below every node.
    pub(super) fn count_open(&mut self, lattice: &Lattice, grid: &Grid, open: &Marks) {
        self.n_counted = 0;
        self.n_open.clear();
        self.n_open.resize(lattice.n_nodes(), 0);
        for node in grid.iter(open) {
            self.n_open[node] = 1;
        }
        lattice.add_up(&mut self.n_open);
        self.deal_out();
    }

    /// Deals out the nodes to steps of extents.
    fn deal_out(&mut self) {
        self.steps.iter_mut().for_each(Step::clear);
        for (node, (&extent, &n_open)) in self.extents.iter().zip(&self.n_open).enumerate() {
            if n_open > 0 {
                let step = step(extent);
                if step >= self.steps.len() {
                    self.steps.resize_with(step + 1, Step::default);
                }
                self.steps[step].push(Candidate { n_open, node: node as u32 });
            }
        }
    }

    /// The chance that a node fails.
    fn chance(&self, node: usize) -> f32 {
        chance(step(self.extents[node]), self.threshold)
    }

    /// Learns from a verdict.
    pub(super) fn correct(&mut self, node: usize, holds: bool) {
        let chance = self.chance(node);
        self.threshold += if holds { CORRECTION * chance } else { CORRECTION * (chance - 1.0) };
    }

    /// The undecided node of some steps for which the chance that it fails times the number of open nodes below it is
    /// greatest.
    ///
    /// Old numbers are too large or right. So what promises most by old numbers, and just as much by its new one, promises
    /// most of all; what promises less goes back to where it belongs.
    pub(super) fn choose(
        &mut self,
        within: Range<usize>,
        is_undecided: impl Fn(usize) -> bool,
        n_open: impl Fn(usize) -> u32,
    ) -> Option<usize> {
        let threshold = self.threshold;
        let promise =
            |at: usize, most: u32| Promise { promise: chance(at, threshold) * most as f32, step: at };
        let within = within.start.min(self.steps.len())..within.end.min(self.steps.len());
        let steps = within.map(|at| (at, self.steps[at].most)).filter(|&(_, most)| most > 0);
        let mut best: BinaryHeap<Promise> = steps.map(|(at, most)| promise(at, most)).collect();
        while let Some(mut top) = best.peek_mut() {
            let step = &mut self.steps[top.step];
            let Some(candidate) = step.first() else {
                PeekMut::pop(top);
                continue;
            };
            let node = candidate.node as usize;
            let now = if is_undecided(node) {
                self.n_counted += 1;
                n_open(node)
            } else {
                0
            };
            if now == candidate.n_open {
                return Some(node);
            }
            self.n_open[node] = now;
            step.replace_first(now);
            *top = promise(top.step, step.most);
        }
        None
    }
}

pub(super) fn step(extent: f32) -> usize {
    (extent.max(0.0) * STEPS) as usize
}

/// The chance that a node of a step of extents fails.
fn chance(step: usize, threshold: f32) -> f32 {
    1.0 / (1.0 + ((threshold - step as f32 / STEPS) / SCALE).exp())
}

/// What the best node of a step promises. Ordered by that, then the first step.
#[derive(Debug, Clone, Copy)]
struct Promise {
    promise: f32,
    step: usize,
}

impl PartialEq for Promise {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Promise {}

impl PartialOrd for Promise {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Promise {
    fn cmp(&self, other: &Self) -> Ordering {
        self.promise.total_cmp(&other.promise).then(other.step.cmp(&self.step))
    }
}

/// A node that could be judged next, with the open nodes below it when they were last counted: more first, then the first
/// node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Candidate {
    n_open: u32,
    node: u32,
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        self.n_open.cmp(&other.n_open).then(other.node.cmp(&self.node))
    }
}

/// Nodes of about the same extent.
#[derive(Debug, Default)]
struct Step {
    /// The most open nodes below one of them.
    most: u32,
    /// Not in order before one of them is asked for: of most steps none is.
    loose: Vec<Candidate>,
    in_order: BinaryHeap<Candidate>,
}

impl Step {
    fn clear(&mut self) {
        self.most = 0;
        self.loose.clear();
        self.in_order.clear();
    }

    fn push(&mut self, candidate: Candidate) {
        self.most = self.most.max(candidate.n_open);
        self.loose.push(candidate);
    }

    /// The node with the most open ones below it, if any has some.
    fn first(&mut self) -> Option<Candidate> {
        if !self.loose.is_empty() {
            let mut all = std::mem::take(&mut self.in_order).into_vec();
            all.append(&mut self.loose);
            self.in_order = BinaryHeap::from(all);
        }
        self.in_order.peek().copied()
    }

    /// The first node has fewer open ones below it; without any it leaves.
    fn replace_first(&mut self, n_open: u32) {
        if let Some(mut first) = self.in_order.peek_mut() {
            if n_open > 0 {
                first.n_open = n_open;
            } else {
                PeekMut::pop(first);
            }
        }
        self.most = self.in_order.peek().map_or(0, |first| first.n_open);
    }
}
