//! The best node that holds, without finding all the others.
//!
//! A publisher needs one node: the best by the metric. Three facts let most of the lattice go unjudged.
//!
//! - *What lies below a node that fails, fails.* Generalizing only merges groups, so this holds wherever
//!   [pruning](crate::privacy::Policy::pruning) is sound.
//! - *A node is never better than its levels alone.* Suppressing a row costs at least as much as releasing it, so the
//!   score of the levels with nothing suppressed bounds the score of the node. A node whose bound does not beat the best
//!   one so far need not be judged. This holds for metrics that need no more than levels and suppression
//!   ([`Needs`]); `tests/laws.rs` checks it.
//! - *What is suppressed at a node is suppressed below it.* So once a node is known to hold with some rows suppressed, what
//!   lies below it costs at least those rows besides its own levels: a bound that is much higher where the budget counts.
//!
//! 1. On a path from the bottom to the top that trades detail for cost well, find by bisection where failing turns to
//!    holding: a first, good answer.
//! 2. *Open* are the nodes that could beat it and are not known to fail. Judge the node, open or not, for which the chance
//!    that it fails times the number of open nodes below it is greatest: if it fails, all of those are done. The chance is
//!    guessed from how many groups its labels could make, and corrected by every verdict.
//! 3. A node that holds may be the new best, and then fewer are open. Open nodes that are known to hold are judged
//!    in the end, best bound first.
//! 4. Stop when nothing is open. The answer is the same as [`metric::best`](crate::metric::best) of every node that holds, ties
//!    included: guesses decide what is judged, never what is concluded.
//!
//! How many open nodes lie below a node is counted when it is about to be chosen; until then an older number stands, which
//! can only be too large.
//!
//! Cost: Adult, k = 5, by loss: some 50 nodes judged of 12,960 at no suppression and 100 at 5 %; memory: some 20 bytes a
//! node of the lattice, and the sets of groups that [`Kept`](crate::check::CheckerKind::Kept) keeps.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::ops::Range;

use crate::algorithm::cover::first_holding;
use crate::check::{Keep, Problem, Suppressing, Verdict, suppressing};
use crate::error::{Error, ErrorKind, Result};
use crate::frequency::{FrequencySet, Method};
use crate::hierarchy::Attributes;
use crate::lattice::{Grid, Lattice, Marks};
use crate::metric::{Costs, Metric, Needs, Ranking, Scored, Spreads, Statistics};
use crate::privacy::{Policy, Pruning};
use crate::watch::Watch;

/// Lattices with more nodes are left to searches that need no number a node.
const MAX_NODES: usize = 1 << 24;

/// Can [`optimum`] answer for this policy, metric and lattice?
pub fn has_optimum_search(policy: &Policy, metric: &dyn Metric, heights: &[u8]) -> bool {
    policy.pruning() == Pruning::Sound
        && metric.needs() != Needs::Groups
        && Lattice::new(heights).is_ok_and(|lattice| lattice.n_nodes() <= MAX_NODES)
}

/// The best node by a metric, and what was judged to know that.
#[derive(Debug, Clone)]
pub struct Optimum {
    /// The best node; `None` when no node holds.
    pub best: Option<Scored>,
    /// Every node that was judged, with the rows that would be suppressed there, if all were counted.
    pub judged: Vec<(usize, Option<u64>)>,
    /// The groups of the best node.
    pub groups: Option<FrequencySet>,
}

/// Finds the best node.
///
/// Fails when [`has_optimum_search`] says no, when the watch is cancelled or when the source cannot count.
pub fn optimum(
    problem: Problem<'_>,
    attributes: &Attributes,
    costs: &Costs,
    metric: &dyn Metric,
    watch: &Watch,
) -> Result<Optimum> {
    let heights = attributes.heights();
    if !has_optimum_search(problem.policy, metric, &heights) {
        return Err(Error::new(ErrorKind::Internal, "the best node cannot be found without all others"));
    }
    let lattice = Lattice::new(&heights)?;
    let grid = Grid::new(&lattice);
    let ranking = Ranking::new(&lattice, costs, metric);
    let layout = problem.source.layout();
    let mut hunt = Hunt {
        watch,
        lattice: &lattice,
        bounds: ranking.bounds(),
        ranking,
        judge: suppressing(problem, &lattice, Keep::Nothing)?,
        spreads: Spreads::new(layout, attributes),
        undecided: grid.all(),
        open: grid.all(),
        guess: Guess::new(problem, &lattice, costs),
        grid,
        judged: Vec::new(),
    };
    watch.begin_stage(lattice.n_nodes() as u64);
    if hunt.bisect()? {
        hunt.prove()?;
    }
    watch.begin_stage(0);
    let judged = hunt.judged;
    let mut best = hunt.ranking.into_best();
    let mut groups = None;
    if let Some(best) = &mut best {
        // What metrics do not need was not counted on the way.
        let set =
            problem.source.count(&lattice.grouping(best.node), &problem.policy.demand(), Method::Auto)?;
        let levels = best.statistics.levels.clone();
        best.statistics = Statistics::new(problem, attributes, levels, &set)?;
        groups = Some(set);
    }
    Ok(Optimum { best, judged, groups })
}

struct Hunt<'a> {
    watch: &'a Watch,
    lattice: &'a Lattice,
    grid: Grid,
    /// The cost of each node's levels with nothing suppressed.
    bounds: Vec<f64>,
    ranking: Ranking<'a>,
    judge: Box<dyn Suppressing + 'a>,
    spreads: Spreads<'a>,
    /// Nodes neither known to fail nor known to hold.
    undecided: Marks,
    /// Nodes that could beat the best, are not known to fail and have not been judged.
    open: Marks,
    guess: Guess,
    /// Judged nodes with the rows that would be suppressed there, if all were counted.
    judged: Vec<(usize, Option<u64>)>,
}

impl Hunt<'_> {
    /// Finds the border on one path. Does anything hold?
    fn bisect(&mut self) -> Result<bool> {
        let path = self.path();
        let first = first_holding(&path, |node| self.judge(node))?;
        let border = path[first.min(path.len() - 1)];
        self.guess.threshold = self.guess.extents[border];
        if self.guess.is_far_off {
            self.guess.spread(self.lattice);
        }
        Ok(first < path.len())
    }

    /// From the bottom to the top, always by the step that costs least for how much it merges.
    fn path(&self) -> Vec<usize> {
        let mut path = vec![0];
        let mut node = 0;
        loop {
            let price = |&up: &usize| {
                let merged = self.guess.extents[node] - self.guess.extents[up];
                (self.bounds[up] - self.bounds[node]) / f64::from(merged).max(1e-9)
            };
            let up = self.lattice.generalizations(node).min_by(|a, b| price(a).total_cmp(&price(b)));
            let Some(up) = up else {
                return path;
            };
            path.push(up);
            node = up;
        }
    }

    /// Judges until nothing is open.
    fn prove(&mut self) -> Result<()> {
        self.guess.count_open(self.lattice, &self.grid, &self.open);
        while let Some(node) = self.choose() {
            self.watch.begin_stage(self.open.len() as u64);
            let holds = self.judge(node)?;
            self.guess.correct(node, holds);
            if self.guess.is_far_off {
                self.guess.spread(self.lattice);
            }
        }
        // What is still open is known to hold; how good it is, is not known.
        let mut rest: Vec<usize> = self.grid.iter(&self.open).collect();
        rest.sort_by(|&a, &b| self.bounds[a].total_cmp(&self.bounds[b]).then(a.cmp(&b)));
        for node in rest {
            if self.grid.contains(&self.open, node) {
                self.judge(node)?;
            }
        }
        debug_assert!(self.open.is_empty());
        Ok(())
    }

    /// The undecided node that promises to close the most; `None` if it is known of every open node whether it holds.
    fn choose(&mut self) -> Option<usize> {
        if self.guess.n_counted > MAX_COUNTED {
            self.guess.count_open(self.lattice, &self.grid, &self.open);
        }
        let (grid, open, undecided) = (&self.grid, &self.open, &self.undecided);
        let is_undecided = |node| grid.contains(undecided, node);
        let n_open = |node| grid.count_below(open, node) as u32;
        // Looking far from the threshold rarely finds better, and takes longer.
        let near = step(self.guess.threshold - NEAR)..step(self.guess.threshold + NEAR) + 1;
        let found = self.guess.choose(near, is_undecided, n_open);
        found.or_else(|| self.guess.choose(0..usize::MAX, is_undecided, n_open))
    }

    /// Does a node hold? Remembers what follows from that, and the best.
    fn judge(&mut self, node: usize) -> Result<bool> {
        self.watch.judged()?;
        let verdict = self.judge.verdict(node)?;
        self.judged.push((node, verdict.refused_rows));
        self.guess.observe(self.lattice, node, verdict);
        if !verdict.holds {
            self.grid.remove_below(&mut self.undecided, node);
            self.grid.remove_below(&mut self.open, node);
            return Ok(false);
        }
        self.grid.remove_above(&mut self.undecided, node);
        self.grid.remove(&mut self.open, node);
        let levels: Vec<u8> = self.lattice.levels(node).collect();
        let statistics = match verdict.refused_rows {
            Some(0) => Statistics::of_levels(levels),
            _ => self.spreads.statistics(levels, &self.judge.refused()?),
        };
        if self.ranking.offer(node, &statistics) {
            self.close();
        }
        self.raise(node, &statistics);
        Ok(true)
    }

    /// Raises the bounds below a node that holds, and takes out of the open nodes those that cannot beat the best any more.
    fn raise(&mut self, node: usize, statistics: &Statistics) {
        let Some(terms) = self.ranking.terms_below(statistics) else {
            return;
        };
        for below in self.grid.nodes_below(&self.open, node) {
            let levels = self.lattice.levels(below).enumerate();
            let bound: f64 = levels.map(|(position, level)| terms[position][usize::from(level)]).sum();
            if bound > self.bounds[below] {
                self.bounds[below] = bound;
                if !self.ranking.can_win(below, bound) {
                    self.grid.remove(&mut self.open, below);
                }
            }
        }
    }

    /// Takes out of the open nodes those that cannot beat the best any more.
    fn close(&mut self) {
        let (ranking, bounds) = (&self.ranking, &self.bounds);
        self.grid.retain(&mut self.open, |node| ranking.can_win(node, bounds[node]));
    }
}

/// Which nodes fail, most likely.
struct Guess {
    /// What each level adds to the extent of a node. At first the logarithm of its labels, as if attributes were independent;
    /// corrected where nodes have clearly fewer groups than that, or more, compared with others.
    parts: Vec<Vec<f32>>,
    /// The sum for each node, about the logarithm of its groups: the more, the more likely it fails.
    extents: Vec<f32>,
    /// How much larger the logarithm of the groups was than the extent, lately.
    usual: Option<f32>,
    /// Are parts corrected?
    learns: bool,
    /// More groups than this are nearly all that there can be: that says little.
    most_groups: f32,
    /// Verdicts so far.
    verdicts: Vec<(u32, bool)>,
    /// Do the extents not fit the parts any more?
    is_far_off: bool,
    /// Where failing and holding are equally likely.
    threshold: f32,
    /// How many open nodes were below each, or it, when that was last counted: not fewer than now.
    n_open: Vec<u32>,
    /// How often that was counted for single nodes, since it was counted for all.
    n_counted: usize,
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
const NEAR: f32 = 1.5;
/// Counting for all nodes takes as long as for about so many single ones.
const MAX_COUNTED: usize = 600;

impl Guess {
    fn new(problem: Problem<'_>, lattice: &Lattice, costs: &Costs) -> Self {
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
    fn spread(&mut self, lattice: &Lattice) {
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
    fn observe(&mut self, lattice: &Lattice, node: usize, verdict: Verdict) {
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
    fn count_open(&mut self, lattice: &Lattice, grid: &Grid, open: &Marks) {
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
    fn correct(&mut self, node: usize, holds: bool) {
        let chance = self.chance(node);
        self.threshold += if holds { CORRECTION * chance } else { CORRECTION * (chance - 1.0) };
    }

    /// The undecided node of some steps for which the chance that it fails times the number of open nodes below it is
    /// greatest.
    ///
    /// Old numbers are too large or right. So what promises most by old numbers, and just as much by its new one, promises
    /// most of all; what promises less goes back to where it belongs.
    fn choose(
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

fn step(extent: f32) -> usize {
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
