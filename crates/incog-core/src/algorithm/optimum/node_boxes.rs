//! The best node of a lattice too large to keep a number for each node.
//!
//! Nothing is ever stored for each node, so 4^20 of them are as good as 4^8. What is open is a list of *boxes*: all nodes between
//! a lowest and a highest one, `lo` and `hi`. By the same facts as in the [search with a number for each node](super),
//!
//! - the cost of `lo`'s levels bounds all nodes of a box;
//! - a box that lies below a failing node is done;
//! - what is suppressed at a node that holds and lies above `hi` is suppressed in the whole box, and raises its bound.
//!
//! 1. On a path from the bottom to the top find where failing turns to holding, then lower one attribute at a time as long as
//!    that is better: a first, good answer.
//! 2. Take the box with the least bound; at first there is one, of all nodes. What no longer could beat the answer is done.
//! 3. Whoever is not below a failing node F has paid for a step above F's level in some attribute. Failing nodes that demand
//!    steps in different attributes add up: that raises the bound (`bound_by_failing`).
//! 4. Judge `hi`, if nobody knows it: if it fails, the box is done; if it holds, what is suppressed there may raise the bound.
//! 5. Take all levels that the bound has paid for. If that node fails, it is the beginning of another failing node that nobody
//!    has paid for. On a path from there to `hi`, taking the cheapest steps first, look for the border, and *lift* the last
//!    that fails: raise each attribute as long as it fails, those first whose next step costs least. What is left are expensive
//!    steps, so the bound rises most. Back to 2.
//! 6. If it holds, *split* the box by a failing node F above `lo`: one box for each attribute that can be above F's level, the
//!    others before it being capped at F's level, so that boxes do not overlap. The attribute whose step costs most comes
//!    first: the cheaper a box, the more of its others are capped. If there is no such F, `lo` holds and was judged, and F
//!    is `lo`.
//!    Where there is no limit, a box is split by the first F that is known: raising its bound before would take more judgements
//!    than it saves.
//! 7. Stop when no box is left: the answer is the best node, ties included. Or at a limit: the least bound of a box says how
//!    far the answer is from the best at most.
//!
//! Where pruning is unsound, steps 3 to 6 ask the absorbing part of the policy alone, and a `lo` that holds by that is judged by the
//! whole. Each node is then judged for itself, where it could win.
//!
//! This is how weighted hitting sets are solved by their implicit cores, with boxes in place of an integer program; the
//! nodes that fail are the cores. Metrics that are no sum over attributes have no bound here.
//!
//! Cost: a merge of groups a judgement; a comparison with each failing node a box. Memory: at most some hundred
//! megabytes of boxes.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use super::open::{Failing, LevelVectors, Open, is_below};
use super::tuning;
use crate::algorithm::quality::{Limits, Quality};
use crate::error::{Error, ErrorKind, Result};
use crate::frequency::FrequencySet;
use crate::hierarchy::Attributes;
use crate::judge::{Detail, Keep, NodeJudge, Problem, node_judge};
use crate::lattice::Grouping;
use crate::metric::{Costs, Metric, Needs, NodeSums, Ranking, Statistics};
use crate::privacy::Pruning;
use crate::progress::Progress;

/// Nodes that are judged unless the caller sets another limit.
const MAX_JUDGED: u64 = 20_000;
/// Nodes. Lattices with at most this many are searched until the best node is known.
const EXACT_NODES: u64 = 10_000_000;
/// Bytes that the boxes take at most.
const MAX_BYTES: usize = 1 << 28;
/// Boxes that are looked at for every node that may be judged: a box takes about a thousandth of a judgement's time.
const BOXES_A_JUDGEMENT: u64 = 1_000;

/// The best node that was found.
#[derive(Debug, Clone)]
pub struct BestFirst {
    /// Its levels, and sums over its groups; `None` when no node was found to hold.
    pub best: Option<Statistics>,
    /// The groups of the best node.
    pub groups: Option<FrequencySet>,
    /// Whether it is the best of all, or how far from that at most. Without one, whether it is known that no node holds.
    pub quality: Quality,
    /// How many nodes were judged.
    pub n_judged: u64,
    /// Of those, how many by the whole policy because pruning is unsound. `None` where it is sound.
    pub left_open: Option<u64>,
    /// Nodes with the rows that would be suppressed there, as far as they were counted.
    pub known: Vec<(Vec<u8>, u64)>,
}

/// Does [`best_first`] have bounds for a metric?
pub fn has_best_first_search(metric: &dyn Metric) -> bool {
    metric.needs() != Needs::Groups
}

/// Is it quicker than a search with a number for each node, for a lattice of these heights?
pub fn is_quicker_best_first(heights: &[u8]) -> bool {
    n_nodes(heights) > tuning::FEW_NODES.get()
}

fn n_nodes(heights: &[u8]) -> u64 {
    heights.iter().fold(1, |n, &height| n.saturating_mul(u64::from(height) + 1))
}

/// Finds the best node, or the best until a limit is reached. A step of the limit is a node that is judged; without a limit
/// 20,000 are, or as many as it takes where there are at most ten million.
///
/// Fails when [`has_best_first_search`] says no, when it is cancelled or when the source cannot count.
pub fn best_first(
    problem: Problem<'_>,
    attributes: &Attributes,
    costs: &Costs,
    metric: &dyn Metric,
    limits: Limits,
    progress: &Progress,
) -> Result<BestFirst> {
    let heights = attributes.heights();
    let ranking = Ranking::new(costs, metric);
    let Some(terms) = ranking.terms(&heights).filter(|_| has_best_first_search(metric)) else {
        return Err(Error::new(ErrorKind::Limit, "there are too many generalizations for this metric")
            .with_hint("use fewer quasi-identifiers or levels, or another metric, such as loss"));
    };
    let pruning = problem.policy.pruning();
    let absorbing = match pruning {
        Pruning::Sound => None,
        Pruning::Unsound => problem.policy.absorbing(),
    };
    let pruned_by = absorbing.as_ref().map(|policy| Problem { source: problem.source, policy });
    let part = match pruned_by {
        Some(part) => Some(node_judge(part, Keep::Nothing, Detail::Verdicts)?),
        None => None,
    };
    let keep = if pruning == Pruning::Sound { Keep::Nothing } else { Keep::Everything };
    let layout = problem.source.layout();
    let n_labels = |at: usize, level: u8| (layout.n_labels(at, level).max(1) as f64).log2();
    let extents = |(at, &height): (usize, &u8)| (0..=height).map(|level| n_labels(at, level)).collect();
    let is_exact = n_nodes(&heights) <= EXACT_NODES;
    let max_judged = limits.steps(if is_exact { u64::MAX } else { MAX_JUDGED });
    let mut hunt = Hunt {
        progress,
        ranking,
        extents: heights.iter().enumerate().map(extents).collect(),
        terms,
        judge: node_judge(problem, keep, Detail::Verdicts)?,
        part,
        pruning,
        aim: if max_judged == u64::MAX && limits.deadline.is_none() { Aim::Proof } else { Aim::Bound },
        node_sums: NodeSums::new(layout, attributes, costs, metric),
        counts_suppression: metric.needs() == Needs::Suppression && problem.policy.budget() > 0,
        failing: LevelVectors::new(heights.len()),
        holding: LevelVectors::new(heights.len()),
        raises: Vec::new(),
        raise_at: HashMap::new(),
        judged: HashMap::new(),
        known: Vec::new(),
        queue: BinaryHeap::new(),
        n_looked: 0,
        n_judged: 0,
        max_judged,
        max_looked: max_judged.saturating_mul(BOXES_A_JUDGEMENT),
        max_boxes: if is_exact { usize::MAX } else { MAX_BYTES / (2 * heights.len() + 64) },
        limits,
        heights,
    };
    let ended = hunt.run()?;
    progress.expect(0);
    let quality = hunt.quality(ended, metric, costs);
    let left_open = (pruning == Pruning::Unsound).then_some(hunt.judged.len() as u64);
    let (n_judged, known) = (hunt.n_judged, hunt.known);
    let (mut best, mut groups) = (hunt.ranking.best().cloned(), None);
    if let Some(best) = &mut best {
        (*best, groups) = Statistics::of_node(problem, attributes, best.levels.clone())?;
    }
    Ok(BestFirst { best, groups, quality, n_judged, left_open, known })
}

/// What judgements are spent on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Aim {
    /// To know the best node with as few as possible.
    Proof,
    /// To have a good bound when a limit is reached.
    Bound,
}

/// How a search ended.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Ended {
    /// Nothing is open.
    Proven,
    /// With open nodes that cost at least this.
    AtLimit(f64),
}

struct Hunt<'a> {
    progress: &'a Progress,
    heights: Vec<u8>,
    ranking: Ranking<'a>,
    /// What each level of each attribute costs with nothing suppressed.
    terms: Vec<Vec<f64>>,
    /// The logarithm of the labels of each level.
    extents: Vec<Vec<f64>>,
    judge: Box<dyn NodeJudge + 'a>,
    /// The absorbing part of the policy, where pruning is unsound and there is one.
    part: Option<Box<dyn NodeJudge + 'a>>,
    pruning: Pruning,
    aim: Aim,
    node_sums: NodeSums<'a>,
    /// Does it matter what is suppressed?
    counts_suppression: bool,
    /// The highest nodes known to fail, by the part of the policy that prunes;
    failing: LevelVectors,
    /// the lowest known to hold.
    holding: LevelVectors,
    /// What nodes below some that hold cost at least.
    raises: Vec<Vec<Vec<f64>>>,
    /// Which of those belongs to a node that was judged and holds, if any does.
    raise_at: HashMap<Vec<u8>, Option<u32>>,
    /// Nodes that were judged by the whole policy, where pruning is unsound.
    judged: HashMap<Vec<u8>, bool>,
    known: Vec<(Vec<u8>, u64)>,
    queue: BinaryHeap<Reverse<Open>>,
    /// Boxes that were looked at.
    n_looked: u64,
    n_judged: u64,
    max_judged: u64,
    max_looked: u64,
    max_boxes: usize,
    limits: Limits,
}

impl Hunt<'_> {
    fn run(&mut self) -> Result<Ended> {
        let top = self.heights.clone();
        let bottom = vec![0; top.len()];
        if !self.asks(&top)? {
            return Ok(Ended::Proven);
        }
        self.first_answer(&bottom)?;
        let bound = self.cost(&bottom, None);
        let levels = [bottom, top].concat().into_boxed_slice();
        self.queue.push(Reverse(Open { bound, levels, raise: None }));
        while let Some(Reverse(open)) = self.queue.pop() {
            if !self.ranking.can_win(open.bound, || open.lo().to_vec()) {
                continue;
            }
            self.n_looked += 1;
            if self.is_over() {
                return Ok(Ended::AtLimit(open.bound));
            }
            self.progress.check()?;
            self.look_into(open)?;
        }
        Ok(Ended::Proven)
    }

    fn is_over(&self) -> bool {
        self.n_judged >= self.max_judged
            || self.n_looked >= self.max_looked
            || self.queue.len() >= self.max_boxes
            || self.limits.is_time_up()
    }

    fn quality(&self, ended: Ended, metric: &dyn Metric, costs: &Costs) -> Quality {
        match (ended, self.ranking.best()) {
            (Ended::Proven, _) => Quality::Optimal,
            (Ended::AtLimit(_), None) => Quality::Heuristic,
            (Ended::AtLimit(bound), Some(best)) => {
                let (score, bound) = (metric.score(costs, best), metric.of_sum(costs, bound));
                let larger = score.abs().max(bound.abs());
                let gap = if larger > 0.0 { (score - bound).abs() / larger } else { 0.0 };
                Quality::Within { gap, bound }
            }
        }
    }

    /// A first answer, by the border of one path and by lowering one attribute at a time from there.
    fn first_answer(&mut self, bottom: &[u8]) -> Result<()> {
        let top = self.heights.clone();
        let price = |hunt: &Self, levels: &[u8], at: usize| {
            let level = usize::from(levels[at]);
            let merged = hunt.extents[at][level] - hunt.extents[at][level + 1];
            (hunt.terms[at][level + 1] - hunt.terms[at][level]) / merged.max(1e-9)
        };
        let path = self.path(bottom, &top, price);
        let first = self.border(&path)?;
        if self.pruning == Pruning::Unsound {
            // As if what lies above what holds held: it mostly does.
            let (mut low, mut high) = (first, path.len() - 1);
            while low < high {
                let middle = low + (high - low) / 2;
                if self.judges(&path[middle])? {
                    high = middle;
                } else {
                    low = middle + 1;
                }
            }
            self.judges(&path[high])?;
        }
        while let Some(best) = self.ranking.best().map(|best| best.levels.clone()) {
            for at in 0..best.len() {
                if best[at] > 0 && !self.is_over() {
                    let mut below = best.clone();
                    below[at] -= 1;
                    let bound = self.cost(&below, None);
                    if self.ranking.can_win(bound, || below.clone()) && self.asks(&below)? {
                        self.judges(&below)?;
                    }
                }
            }
            if self.ranking.best().is_none_or(|now| now.levels == best) {
                break;
            }
        }
        Ok(())
    }

    /// Closes a box, or splits it, or raises its bound.
    fn look_into(&mut self, open: Open) -> Result<()> {
        if self.aim == Aim::Proof
            && let Some(fails) = self.known_failing(open.lo())
        {
            self.split(&open, &fails);
            return Ok(());
        }
        let Some(Failing { bound, free }) = self.bound_by_failing(&open) else {
            return Ok(());
        };
        if bound > open.bound {
            if self.ranking.can_win(bound, || open.lo().to_vec()) {
                self.queue.push(Reverse(Open { bound, ..open }));
            }
            return Ok(());
        }
        let (lo, hi) = (open.lo().to_vec(), open.hi().to_vec());
        if !self.asks(&hi)? {
            self.lift(hi)?;
            return Ok(());
        }
        if self.counts_suppression && self.prunes() && !self.raise_at.contains_key(&hi) {
            self.judges_part(&hi)?;
        }
        if let Some(&Some(raise)) = self.raise_at.get(&hi)
            && open.raise != Some(raise)
            && self.cost(&lo, Some(raise)) > open.bound
        {
            self.push(lo, hi, Some(raise));
            return Ok(());
        }
        // Where nothing is known above `lo`, it rarely holds, and the border is looked for at once.
        if self.aim == Aim::Proof || !self.asks(&free)? {
            let path = self.path(&free, &hi, |hunt, levels, at| {
                hunt.terms[at][usize::from(levels[at]) + 1] - hunt.terms[at][usize::from(free[at])]
            });
            let first = self.border(&path)?;
            if first > 0 {
                // One more failing node, for which nobody has paid yet: the bound rises.
                self.lift(path[first - 1].clone())?;
                self.queue.push(Reverse(open));
                return Ok(());
            }
        }
        // Where steps cost nothing, what was asked about may lie above `lo`.
        if self.asks(&lo)? {
            self.judges(&lo)?;
            self.split(&open, &lo);
        } else if let Some(fails) = self.known_failing(&lo) {
            self.split(&open, &fails);
        }
        Ok(())
    }

    /// Is there a part of the policy that prunes?
    fn prunes(&self) -> bool {
        self.pruning == Pruning::Sound || self.part.is_some()
    }

    /// What the nodes of a box cost at least, given the nodes that are known to fail; `None` if all nodes of the box lie below
    /// one of them.
    ///
    /// Who is not below F has taken a step above F's level in some attribute. Several such F demand several steps, and
    /// what a step costs is dealt out among them: each F takes the most that is left in all of its attributes, at all levels
    /// above its own. So nobody pays more than once, and what was taken adds up.
    fn bound_by_failing(&self, open: &Open) -> Option<Failing> {
        let (lo, hi) = (open.lo(), open.hi());
        let terms = open.raise.map_or(&self.terms, |raise| &self.raises[raise as usize]);
        let cost = |at: usize, level: u8| terms[at][usize::from(level)] - terms[at][usize::from(lo[at])];
        let mut cuts: Vec<(f64, &[u8])> = Vec::new();
        for fails in self.failing.iter().filter(|fails| is_below(lo, fails)) {
            let steps = (0..lo.len()).filter(|&at| fails[at] < hi[at]);
            let cheapest = steps.map(|at| cost(at, fails[at] + 1)).fold(f64::INFINITY, f64::min);
            if cheapest == f64::INFINITY {
                return None;
            }
            cuts.push((cheapest, fails));
        }
        let base: f64 = lo.iter().zip(terms).map(|(&level, terms)| terms[usize::from(level)]).sum();
        cuts.sort_by(|a, b| b.0.total_cmp(&a.0));
        // What is left of the cost of each level, the levels of all attributes side by side.
        let mut starts = Vec::with_capacity(lo.len());
        let mut left = Vec::new();
        for at in 0..lo.len() {
            starts.push(left.len());
            left.extend((0..=hi[at]).map(|level| if level < lo[at] { 0.0 } else { cost(at, level) }));
        }
        let above = |fails: &[u8], at: usize| {
            starts[at] + usize::from(fails[at]) + 1..starts[at] + usize::from(hi[at]) + 1
        };
        let mut sum = base;
        for (_, fails) in &cuts {
            let steps = || (0..lo.len()).filter(|&at| fails[at] < hi[at]);
            let most = |at: usize| left[above(fails, at)].iter().copied().fold(f64::INFINITY, f64::min);
            let taken = steps().map(most).fold(f64::INFINITY, f64::min);
            if taken > 0.0 {
                sum += taken;
                for at in steps() {
                    left[above(fails, at)].iter_mut().for_each(|left| *left -= taken);
                }
            }
        }
        let highest_free = |at: usize| {
            let levels = (lo[at]..=hi[at]).rev();
            let left_at = |level: u8| left[starts[at] + usize::from(level)];
            levels.into_iter().find(|&level| left_at(level) <= 0.0).unwrap_or(lo[at])
        };
        Some(Failing { bound: sum, free: (0..lo.len()).map(highest_free).collect() })
    }

    /// A node known to fail, above one: that for which the cheapest step out of it costs most.
    fn known_failing(&self, lo: &[u8]) -> Option<Vec<u8>> {
        let mut best: Option<(f64, &[u8])> = None;
        for fails in self.failing.iter().filter(|fails| is_below(lo, fails)) {
            let cheapest = self.cheapest_step(lo, fails);
            if best.is_none_or(|(most, _)| cheapest > most) {
                best = Some((cheapest, fails));
            }
        }
        best.map(|(_, fails)| fails.to_vec())
    }

    /// What it costs at least to get from one node above another.
    fn cheapest_step(&self, lo: &[u8], fails: &[u8]) -> f64 {
        let steps = (0..lo.len()).filter(|&at| fails[at] < self.heights[at]);
        let costs =
            steps.map(|at| self.terms[at][usize::from(fails[at]) + 1] - self.terms[at][usize::from(lo[at])]);
        costs.fold(f64::INFINITY, f64::min)
    }

    /// Puts the nodes of a box that are not below another into boxes.
    fn split(&mut self, open: &Open, other: &[u8]) {
        let step = |at: usize| {
            self.terms[at][usize::from(other[at]) + 1] - self.terms[at][usize::from(open.lo()[at])]
        };
        let mut steps: Vec<(f64, usize)> =
            (0..other.len()).filter(|&at| open.hi()[at] > other[at]).map(|at| (step(at), at)).collect();
        steps.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let mut hi = open.hi().to_vec();
        for (_, at) in steps {
            let mut lo = open.lo().to_vec();
            lo[at] = other[at] + 1;
            self.push(lo, hi.clone(), open.raise);
            hi[at] = other[at];
        }
    }

    /// Adds a box, if it could beat the answer.
    fn push(&mut self, lo: Vec<u8>, hi: Vec<u8>, raise: Option<u32>) {
        let bound = self.cost(&lo, raise);
        if self.ranking.can_win(bound, || lo.clone()) {
            let levels = [lo, hi].concat().into_boxed_slice();
            self.queue.push(Reverse(Open { bound, levels, raise }));
        }
    }

    /// Raises each attribute of a failing node as long as it fails, those first whose next step costs least.
    fn lift(&mut self, mut fails: Vec<u8>) -> Result<Vec<u8>> {
        let mut can_rise: Vec<bool> = (0..fails.len()).map(|at| fails[at] < self.heights[at]).collect();
        loop {
            let step = |at: usize| {
                self.terms[at][usize::from(fails[at]) + 1] - self.terms[at][usize::from(fails[at])]
            };
            let next =
                (0..fails.len()).filter(|&at| can_rise[at]).min_by(|&a, &b| step(a).total_cmp(&step(b)));
            let Some(at) = next else { break };
            fails[at] += 1;
            if self.is_over() || self.asks(&fails)? {
                fails[at] -= 1;
                can_rise[at] = false;
            } else {
                can_rise[at] = fails[at] < self.heights[at];
            }
        }
        Ok(fails)
    }

    /// From one node up to another, always by the step of the least price.
    fn path(&self, lo: &[u8], hi: &[u8], price: impl Fn(&Self, &[u8], usize) -> f64) -> Vec<Vec<u8>> {
        let mut levels = lo.to_vec();
        let mut path = vec![levels.clone()];
        loop {
            let steps = (0..levels.len()).filter(|&at| levels[at] < hi[at]);
            let prices = steps.map(|at| (price(self, &levels, at), at));
            let Some((_, at)) = prices.min_by(|a, b| a.0.total_cmp(&b.0)) else {
                return path;
            };
            levels[at] += 1;
            path.push(levels.clone());
        }
    }

    /// Where the first node is that holds, on a path whose last does.
    fn border(&mut self, path: &[Vec<u8>]) -> Result<usize> {
        let (mut low, mut high) = (0, path.len() - 1);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.asks(&path[middle])? {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        Ok(high)
    }

    /// What a node costs at least.
    fn cost(&self, levels: &[u8], raise: Option<u32>) -> f64 {
        let sum = |terms: &[Vec<f64>]| -> f64 {
            levels.iter().zip(terms).map(|(&level, terms)| terms[usize::from(level)]).sum()
        };
        let bound = sum(&self.terms);
        raise.map_or(bound, |raise| bound.max(sum(&self.raises[raise as usize])))
    }

    /// Does a node hold, by the part of the policy that prunes?
    fn asks(&mut self, node: &[u8]) -> Result<bool> {
        if self.pruning == Pruning::Unsound && self.part.is_none() {
            return Ok(true);
        }
        if self.failing.iter().any(|fails| is_below(node, fails)) {
            return Ok(false);
        }
        if self.holding.iter().any(|holds| is_below(holds, node)) {
            return Ok(true);
        }
        self.judges_part(node)
    }

    /// The same, judged even if it is known, for what is suppressed. Remembers what follows; where that part is the whole
    /// policy, the best too.
    fn judges_part(&mut self, node: &[u8]) -> Result<bool> {
        self.progress.judged()?;
        self.n_judged += 1;
        let judge = self.part.as_mut().unwrap_or(&mut self.judge);
        let verdict = judge.verdict(&Grouping::of_levels(node))?;
        if self.part.is_none() {
            self.known.extend(verdict.refused_rows.map(|rows| (node.to_vec(), rows)));
        }
        if !verdict.holds {
            self.failing.add(node, |other| is_below(other, node));
            return Ok(false);
        }
        if !self.holding.iter().any(|holds| is_below(holds, node)) {
            self.holding.add(node, |other| is_below(node, other));
        }
        let judge = self.part.as_ref().unwrap_or(&self.judge);
        let statistics = match verdict.refused_rows {
            Some(0) => Statistics::of_levels(node.to_vec()),
            _ => self.node_sums.statistics(node.to_vec(), &judge.refused()?),
        };
        let raise = self.ranking.terms_below(&statistics).map(|terms| {
            self.raises.push(terms);
            (self.raises.len() - 1) as u32
        });
        self.raise_at.insert(node.to_vec(), raise);
        if self.part.is_none() {
            self.ranking.offer(&statistics);
        }
        Ok(true)
    }

    /// Does a node hold, by the whole policy? It is known to by the part of it that prunes. Remembers the best.
    fn judges(&mut self, node: &[u8]) -> Result<bool> {
        if self.pruning == Pruning::Sound {
            if self.raise_at.contains_key(node) {
                return Ok(true);
            }
            if self.counts_suppression {
                return self.judges_part(node);
            }
            self.ranking.offer(&Statistics::of_levels(node.to_vec()));
            return Ok(true);
        }
        if let Some(&holds) = self.judged.get(node) {
            return Ok(holds);
        }
        self.progress.judged()?;
        self.n_judged += 1;
        let verdict = self.judge.verdict(&Grouping::of_levels(node))?;
        self.judged.insert(node.to_vec(), verdict.holds);
        self.known.extend(verdict.refused_rows.map(|rows| (node.to_vec(), rows)));
        if verdict.holds {
            let statistics = match verdict.refused_rows {
                Some(0) => Statistics::of_levels(node.to_vec()),
                _ => self.node_sums.statistics(node.to_vec(), &self.judge.refused()?),
            };
            self.ranking.offer(&statistics);
        }
        Ok(verdict.holds)
    }
}
