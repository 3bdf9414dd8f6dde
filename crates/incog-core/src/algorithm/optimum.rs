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

use crate::check::{Keep, Problem, Suppressing, Verdict, suppressing};
use crate::error::{Error, ErrorKind, Result};
use crate::frequency::Method;
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
        if self.guess.is_far_off {
            self.guess.spread(self.lattice);
        }
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
        [Reach::Near, Reach::All].into_iter().find_map(|reach| self.choose_within(reach))
    }

    fn choose_within(&mut self, reach: Reach) -> Option<usize> {
        if self.guess.n_counted > MAX_COUNTED {
            self.guess.count_open(self.lattice, &self.grid, &self.open);
        }
        let (grid, undecided) = (&self.grid, &self.undecided);
        self.guess.gather(reach, |node| grid.contains(undecided, node));
        let mut best: Option<Candidate> = None;
        // First whatever promises most by old numbers: by the new number, most others are out of the question.
        let first = self.guess.candidates.iter().copied().max()?;
        let first = self.counted(first);
        if first.promise > 0.0 {
            best = Some(first);
        }
        let mut rest = std::mem::take(&mut self.guess.candidates);
        rest.retain(|candidate| candidate.node != first.node && Some(*candidate) > best);
        let mut rest = BinaryHeap::from(rest);
        while let Some(candidate) = rest.pop().filter(|candidate| Some(*candidate) > best) {
            let candidate = self.counted(candidate);
            if candidate.promise > 0.0 {
                best = best.max(Some(candidate));
            }
        }
        self.guess.candidates = rest.into_vec();
        best.map(|candidate| candidate.node as usize)
    }

    /// A candidate with the number of nodes that are open below it now.
    fn counted(&mut self, candidate: Candidate) -> Candidate {
        let node = candidate.node as usize;
        let n_open = self.grid.count_below(&self.open, node) as u32;
        self.guess.n_open[node] = n_open;
        self.guess.n_counted += 1;
        Candidate { promise: self.guess.chance(node) * n_open as f32, ..candidate }
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
    /// Undecided nodes that may have open ones below them, by steps of extents. Others leave when they are met.
    by_extent: Vec<Vec<u32>>,
    /// Those that could be judged next.
    candidates: Vec<Candidate>,
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
            by_extent: Vec::new(),
            candidates: Vec::new(),
        };
        guess.spread(lattice);
        guess
    }

    /// Computes the extents of all nodes from those of the levels, and the threshold that fits the verdicts best.
    fn spread(&mut self, lattice: &Lattice) {
        self.is_far_off = false;
        self.extents = lattice.sums(0.0, |position, level| self.parts[position][level], |a, b| a + b);
        let n_steps = self.extents.iter().map(|&extent| step(extent)).max().unwrap_or(0) + 1;
        let mut sizes = vec![0; n_steps];
        for &extent in &self.extents {
            sizes[step(extent)] += 1;
        }
        self.by_extent = sizes.into_iter().map(Vec::with_capacity).collect();
        for (node, &extent) in self.extents.iter().enumerate() {
            self.by_extent[step(extent)].push(node as u32);
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

    /// Gathers the nodes that may have open ones below them, with what they promise.
    fn gather(&mut self, reach: Reach, is_undecided: impl Fn(usize) -> bool) {
        self.candidates.clear();
        let n_steps = self.by_extent.len();
        let steps = match reach {
            Reach::Near => {
                step(self.threshold - NEAR).min(n_steps)..(step(self.threshold + NEAR) + 1).min(n_steps)
            }
            Reach::All => 0..n_steps,
        };
        for step in steps {
            let chance = chance(step, self.threshold);
            self.by_extent[step].retain(|&node| {
                let n_open = self.n_open[node as usize];
                let stays = n_open > 0 && is_undecided(node as usize);
                if stays {
                    self.candidates.push(Candidate { promise: chance * n_open as f32, node });
                }
                stays
            });
        }
    }
}

fn step(extent: f32) -> usize {
    (extent.max(0.0) * STEPS) as usize
}

/// The chance that a node of a step of extents fails.
fn chance(step: usize, threshold: f32) -> f32 {
    1.0 / (1.0 + ((threshold - step as f32 / STEPS) / SCALE).exp())
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
