//! Which nodes fail, most likely, and which of them to judge next?
//!
//! A node's *extent* is how many groups its labels could make if attributes were independent, as a logarithm: the more, the more
//! likely it fails. Where rows may be suppressed, labels count by how evenly the rows are spread over them (Rényi's entropy of
//! order 1/2: a few frequent labels make few small groups, many rare ones make many). Every verdict corrects where failing turns
//! to holding, and numbers of groups that surprise correct what levels add: attributes often follow from others. No conclusion
//! rests on any of this.
//!
//! How many open nodes lie below a node is counted when it is about to be chosen; until then an older number stands, which
//! can only be too large.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::ops::Range;

use super::tuning;
use crate::judge::{Problem, Verdict};
use crate::lattice::{Grid, Lattice, Marks};
use crate::metric::Costs;

/// Which nodes fail, most likely.
pub(super) struct Guess {
    /// What each level adds to the extent of a node. At first as if attributes were independent; corrected where nodes have
    /// clearly fewer groups than that, or more, compared with others.
    parts: Vec<Vec<f32>>,
    /// The sum for each node: the larger, the more likely it fails.
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
    n_counted: usize,
    /// All nodes, by steps of extents; ascending within each.
    by_step: Vec<u32>,
    steps: Vec<Step>,
}

impl Guess {
    pub(super) fn new(problem: Problem<'_>, lattice: &Lattice, costs: &Costs) -> Self {
        let n_rows = problem.source.n_rows().max(1) as f64;
        let layout = problem.source.layout();
        let part = |attribute: usize, level: usize| {
            if problem.policy.budget() > 0 {
                // Shares of the rows, their roots added up: from 1, if there is one label, to the root of their number.
                return 2.0 * (costs.sqrt_mass[attribute][level] / n_rows.sqrt()).max(1.0).log2();
            }
            // Where nothing may be suppressed, the smallest group decides, and that has rare labels.
            let labels = layout.n_labels(attribute, level as u8).max(1) as f64;
            let rarest = costs.rarest_rows[attribute][level].max(1) as f64;
            labels.log2() + tuning::RARITY.get() * (n_rows / rarest).log2()
        };
        let levels = |&attribute: &usize| {
            let height = usize::from(layout.heights()[attribute]);
            (0..=height).map(|level| part(attribute, level) as f32).collect()
        };
        let mut guess = Guess {
            parts: lattice.attributes().iter().map(levels).collect(),
            extents: Vec::new(),
            usual: None,
            // The smallest group says more, but most nodes fail and all of those have a small one.
            learns: problem.policy.budget() > 0,
            most_groups: n_rows.log2() as f32 - 2.0,
            verdicts: Vec::new(),
            is_far_off: false,
            threshold: 0.0,
            n_open: Vec::new(),
            n_counted: 0,
            by_step: Vec::new(),
            steps: Vec::new(),
        };
        guess.refit(lattice);
        guess
    }

    /// Computes the extents of all nodes from those of the levels, and the threshold that fits the verdicts best.
    pub(super) fn refit(&mut self, lattice: &Lattice) {
        self.is_far_off = false;
        self.extents = lattice.sums(0.0, |position, level| self.parts[position][level], |a, b| a + b);
        (self.by_step, self.steps) = deal_out(&self.extents);
        if !self.n_open.is_empty() {
            self.begin_steps();
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
        if surprise.abs() > tuning::SURPRISE.get() {
            let factor = (1.0 + surprise / extent).clamp(0.5, 2.0);
            for (position, level) in levels() {
                self.parts[position][level] *= factor;
            }
            self.is_far_off = true;
        }
    }

    /// Were they counted for single nodes so often that it would have been as quick for all?
    pub(super) fn is_out_of_date(&self) -> bool {
        self.n_counted > tuning::COUNTED_NODES.get()
    }

    /// Counts the open nodes below every node.
    pub(super) fn count_open(&mut self, grid: &Grid, open: &Marks) {
        self.n_counted = 0;
        grid.counts_below(open, &mut self.n_open);
        self.begin_steps();
    }

    /// Puts no nodes in order yet, but knows the most open ones below one of each step.
    fn begin_steps(&mut self) {
        for step in &mut self.steps {
            let n_open = self.by_step[step.nodes.clone()].iter().map(|&node| self.n_open[node as usize]);
            step.most = n_open.max().unwrap_or(0);
            step.in_order = None;
        }
    }

    /// What each level of each attribute adds to the extent of a node.
    pub(super) fn parts(&self) -> &[Vec<f32>] {
        &self.parts
    }

    /// Up to `n` undecided nodes that are likely to be chosen. That is likelier near the threshold, and where many open nodes lie below,
    /// but each one that fails leaves fewer for its neighbours: so by the root of their number.
    pub(super) fn likely(&self, n: usize, is_undecided: impl Fn(usize) -> bool) -> Vec<usize> {
        let weigh = |visit: &mut dyn FnMut(usize, f64)| {
            let near = step(self.threshold - tuning::NEAR.get())
                ..(step(self.threshold + tuning::NEAR.get()) + 1).min(self.steps.len());
            for at in near {
                let chance = chance(at, self.threshold);
                for node in self.by_step[self.steps[at].nodes.clone()].iter().map(|&node| node as usize) {
                    let n_open = self.n_open[node];
                    if n_open > 0 && is_undecided(node) {
                        visit(node, f64::from(chance * (1.0 - chance) * (n_open as f32).sqrt()));
                    }
                }
            }
        };
        // Twice, rather than with a number for each: first how much all weigh, then the nodes at even distances.
        let mut all = 0.0;
        weigh(&mut |_, weight| all += weight);
        let (mut nodes, mut so_far) = (Vec::new(), 0.0);
        weigh(&mut |node, weight| {
            so_far += weight;
            while nodes.len() < n && so_far * n as f64 > (nodes.len() as f64 + 0.5) * all {
                nodes.push(node);
            }
        });
        nodes
    }

    /// The chance that a node fails.
    pub(super) fn chance(&self, node: usize) -> f32 {
        chance(step(self.extents[node]), self.threshold)
    }

    /// Learns from a verdict.
    pub(super) fn correct(&mut self, node: usize, holds: bool) {
        let chance = self.chance(node);
        self.threshold +=
            if holds { tuning::CORRECTION.get() * chance } else { tuning::CORRECTION.get() * (chance - 1.0) };
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
            let Some(candidate) = step.first(&self.by_step, &self.n_open) else {
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
    // Below 0 is the first step; no more labels than there are can make more steps than such a number has.
    (extent * tuning::STEPS.get()) as u16 as usize
}

/// The chance that a node of a step of extents fails.
fn chance(step: usize, threshold: f32) -> f32 {
    1.0 / (1.0 + ((threshold - step as f32 / tuning::STEPS.get()) / tuning::SCALE.get()).exp())
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
#[derive(Debug)]
struct Step {
    /// Where they are among all.
    nodes: Range<usize>,
    /// The most open nodes below one of them.
    most: u32,
    /// Those with some. Not before one is asked for: of most steps none is.
    in_order: Option<BinaryHeap<Candidate>>,
}

impl Step {
    /// The node with the most open ones below it, if any has some.
    fn first(&mut self, by_step: &[u32], n_open: &[u32]) -> Option<Candidate> {
        let in_order = self.in_order.get_or_insert_with(|| {
            let nodes = by_step[self.nodes.clone()].iter();
            let candidates = nodes.map(|&node| Candidate { n_open: n_open[node as usize], node });
            candidates.filter(|candidate| candidate.n_open > 0).collect()
        });
        in_order.peek().copied()
    }

    /// The first node has fewer open ones below it; without any it leaves.
    fn replace_first(&mut self, n_open: u32) {
        let Some(in_order) = &mut self.in_order else { return };
        if let Some(mut first) = in_order.peek_mut() {
            if n_open > 0 {
                first.n_open = n_open;
            } else {
                PeekMut::pop(first);
            }
        }
        self.most = in_order.peek().map_or(0, |first| first.n_open);
    }
}

/// All nodes by steps of extents.
fn deal_out(extents: &[f32]) -> (Vec<u32>, Vec<Step>) {
    let step_of: Vec<u32> = extents.iter().map(|&extent| step(extent) as u32).collect();
    let n_steps = step_of.iter().max().map_or(0, |&most| most as usize + 1);
    let mut ends = vec![0_u32; n_steps];
    step_of.iter().for_each(|&step| ends[step as usize] += 1);
    let mut start = 0;
    let mut next = |size: u32| {
        start += size as usize;
        Step { nodes: start - size as usize..start, most: 0, in_order: None }
    };
    let steps: Vec<Step> = ends.iter().map(|&size| next(size)).collect();
    for (end, step) in ends.iter_mut().zip(&steps) {
        *end = step.nodes.start as u32;
    }
    let mut by_step = vec![0; extents.len()];
    for (node, &step) in (0..).zip(&step_of) {
        let end = &mut ends[step as usize];
        by_step[*end as usize] = node;
        *end += 1;
    }
    (by_step, steps)
}
