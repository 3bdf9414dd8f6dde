//! The best node that holds, without finding all the others.
//!
//! A publisher needs one node: the best by the metric. Two facts let most of the lattice go unjudged.
//!
//! - *What lies below a node that fails, fails.* Generalizing only merges groups, so this holds wherever
//!   [pruning](crate::privacy::Policy::pruning) is sound.
//! - *A node is never better than its levels alone.* Suppressing a row costs at least as much as releasing it, so the
//!   score of the levels with nothing suppressed bounds the score of the node. A node whose bound does not beat the best
//!   one so far need not be judged. This holds for metrics that need no more than levels and suppression
//!   ([`Needs`]); `tests/laws.rs` checks it.
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
//! Cost: Adult, k = 5, by loss: some 50 nodes judged of 12,960 at no suppression and 200 at 5 %; memory: some 20 bytes a
//! node of the lattice, and the sets of groups that [`Kept`](crate::check::CheckerKind::Kept) keeps.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::check::{Keep, Problem, Suppressing, suppressing};
use crate::error::{Error, ErrorKind, Result};
use crate::frequency::{KeyLayout, Method};
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
        guess: Guess::new(layout, &lattice),
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
    if let Some(best) = &mut best {
        // What metrics do not need was not counted on the way.
        let set =
            problem.source.count(&lattice.grouping(best.node), &problem.policy.demand(), Method::Auto)?;
        let levels = best.statistics.levels.clone();
        best.statistics = Statistics::new(problem, attributes, levels, &set)?;
    }
    Ok(Optimum { best, judged })
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
        let (mut low, mut high) = (0, path.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if self.judge(path[middle])? {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        let border = path[high.min(path.len() - 1)];
        self.guess.threshold = self.guess.extents[border];
        Ok(high < path.len())
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
        for reach in [Reach::Near, Reach::All] {
            let candidates = self.guess.candidates(reach, |node| self.grid.contains(&self.undecided, node));
            let mut candidates = BinaryHeap::from(candidates);
            while let Some(mut candidate) = candidates.pop() {
                let node = candidate.node as usize;
                let n_open = self.grid.count_below(&self.open, node) as u32;
                candidate.promise = self.guess.chance(node) * n_open as f32;
                self.guess.n_open[node] = n_open;
                if n_open == 0 {
                    continue;
                }
                if candidates.peek().is_none_or(|next| candidate.promise >= next.promise) {
                    return Some(node);
                }
                candidates.push(candidate);
            }
        }
        None
    }

    /// Does a node hold? Remembers what follows from that, and the best.
    fn judge(&mut self, node: usize) -> Result<bool> {
        self.watch.judged()?;
        let verdict = self.judge.verdict(node)?;
        self.judged.push((node, verdict.refused_rows));
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
        Ok(true)
    }

    /// Takes out of the open nodes those that cannot beat the best any more.
    fn close(&mut self) {
        let closed: Vec<usize> = self
            .grid
            .iter(&self.open)
            .filter(|&node| !self.ranking.can_win(node, self.bounds[node]))
            .collect();
        for node in closed {
            self.grid.remove(&mut self.open, node);
        }
    }
}

/// Which nodes fail, most likely.
struct Guess {
    /// How many groups the labels of each node could make, as a power of two: the more, the more likely it fails.
    extents: Vec<f32>,
    /// Where failing and holding are equally likely.
    threshold: f32,
    /// How many open nodes were below each, or it, when that was last counted: not fewer than now.
    n_open: Vec<u32>,
    /// Nodes by their extent, the smallest first, and where each step of extents ends among them.
    by_extent: Vec<u32>,
    ends: Vec<usize>,
}

/// How far from the threshold to look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    Near,
    All,
}

/// How much the extent has to differ for the odds to change e-fold.
const SCALE: f32 = 0.5;
/// How far a verdict that was not expected at all moves the threshold.
const CORRECTION: f32 = 0.5;
/// Steps of extents to a power of two.
const STEPS: f32 = 4.0;
/// How far from the threshold nodes are near.
const NEAR: f32 = 3.0;

impl Guess {
    fn new(layout: &KeyLayout, lattice: &Lattice) -> Self {
        let labels = |position, level| {
            (layout.n_labels(lattice.attributes()[position], level as u8).max(1) as f32).log2()
        };
        let extents = lattice.sums(0.0, labels, |a, b| a + b);
        let step = |extent: f32| (extent * STEPS) as usize;
        let n_steps = extents.first().map_or(0, |&most| step(most)) + 2;
        let mut ends = vec![0; n_steps];
        for &extent in &extents {
            ends[step(extent) + 1] += 1;
        }
        for at in 1..n_steps {
            ends[at] += ends[at - 1];
        }
        let mut by_extent = vec![0; extents.len()];
        for (node, &extent) in extents.iter().enumerate() {
            let next = &mut ends[step(extent)];
            by_extent[*next] = node as u32;
            *next += 1;
        }
        Guess { n_open: Vec::new(), threshold: 0.0, extents, by_extent, ends }
    }

    /// Counts the open nodes below every node.
    fn count_open(&mut self, lattice: &Lattice, grid: &Grid, open: &Marks) {
        self.n_open = vec![0; lattice.n_nodes()];
        for node in grid.iter(open) {
            self.n_open[node] = 1;
        }
        lattice.add_up(&mut self.n_open);
    }

    /// The chance that a node fails.
    fn chance(&self, node: usize) -> f32 {
        1.0 / (1.0 + ((self.threshold - self.extents[node]) / SCALE).exp())
    }

    /// Learns from a verdict.
    fn correct(&mut self, node: usize, holds: bool) {
        let chance = self.chance(node);
        self.threshold += if holds { CORRECTION * chance } else { CORRECTION * (chance - 1.0) };
    }

    /// Nodes that may have open ones below them, with what they promise.
    fn candidates(&self, reach: Reach, is_wanted: impl Fn(usize) -> bool) -> Vec<Candidate> {
        let end = |extent: f32| {
            let step = (extent.max(0.0) * STEPS) as usize;
            self.ends[step.min(self.ends.len() - 1)]
        };
        let range = match reach {
            Reach::Near => end(self.threshold - NEAR - 1.0 / STEPS)..end(self.threshold + NEAR),
            Reach::All => 0..self.by_extent.len(),
        };
        let nodes = self.by_extent[range].iter().map(|&node| node as usize);
        let open = nodes.filter(|&node| self.n_open[node] > 0 && is_wanted(node));
        let promise = |node: usize| self.chance(node) * self.n_open[node] as f32;
        open.map(|node| Candidate { promise: promise(node), node: node as u32 }).collect()
    }
}

/// A node that could be judged next. Ordered by what it promises, then the first node.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    promise: f32,
    node: u32,
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Candidate {}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        self.promise.total_cmp(&other.promise).then(other.node.cmp(&self.node))
    }
}
