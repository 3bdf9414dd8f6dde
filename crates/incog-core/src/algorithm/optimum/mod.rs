//! The best node that holds, without finding all the others.
//!
//! A publisher needs one node: the best by the metric. Four facts let most of the lattice go unjudged.
//!
//! - *What lies below a node that fails, fails.* Generalizing only merges groups, so this holds wherever
//!   [pruning](crate::privacy::Policy::pruning) is sound. Where it is not, it holds for the [absorbing
//!   part](crate::privacy::Policy::absorbing) of the policy, and what fails by that fails by the whole.
//! - *A node is never better than its levels alone.* NodeJudge a row costs at least as much as releasing it, so the
//!   score of the levels with nothing suppressed bounds the score of the node. A node whose bound does not beat the best
//!   one so far need not be judged. This holds for metrics that need no more than levels and suppression
//!   ([`Needs`]), whatever the policy; `tests/optimum.rs` checks it.
//! - *What is suppressed at a node is suppressed below it.* So once a node is known to hold with some rows suppressed, what
//!   lies below it costs at least those rows besides its own levels: a bound that is much higher where the budget counts. Where
//!   pruning is unsound, this goes for the rows that the absorbing part refuses.
//! - *Groups merge upward.* For metrics that need groups, those of a node bound the cost of all nodes above it
//!   ([`GroupBounds`](crate::metric::GroupBounds) has the proof).
//!
//! 1. On a path from the bottom to the top that trades detail for cost well, find by bisection where failing turns to
//!    holding: a first, good answer.
//! 2. *Open* are the nodes that could beat it and are not known to fail. Judge the node, open or not, for which the chance
//!    that it fails times the number of open nodes below it is greatest: if it fails, all of those are done. The chance is
//!    [guessed](guess) from how many groups its labels could make, and corrected by every verdict. Before that, the judge is told
//!    which nodes will be asked about, most likely, and may prepare for them.
//! 3. A node that holds may be the new best, and then fewer are open. So after every new best, where that promises to close more, a
//!    node or two are judged for how much better they would be. Open nodes that are known to hold are judged in the
//!    end, best bound first.
//! 4. Stop when nothing is open. The answer is the same as [`metric::best`](crate::metric::best) of every node that holds, ties
//!    included: guesses decide what is judged, never what is concluded.
//!
//! Where pruning is unsound, steps 1 and 2 ask the absorbing part alone, which is often cheaper too; the first answer is
//! looked for on the same path with the whole policy, and improved by lowering one attribute at a time. What the absorbing part
//! leaves open is judged by the whole policy, best bound first: each of these nodes must be, whose bound beats the answer.
//!
//! Cost: Adult, k = 5, by loss: some 50 nodes judged of 12,960 at no suppression and 100 at 5 %; memory: some 20 bytes a
//! node of the lattice, 40 where the metric needs groups, and the sets of groups that
//! [`Snapshots`](crate::judge::JudgeKind::Snapshots) keeps.

pub(crate) mod tuning;
mod bounds;
mod node_boxes;
mod open;
mod guess;

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BinaryHeap};

use crate::algorithm::cover::first_holding;
use crate::error::{Error, ErrorKind, Result};
use crate::frequency::FrequencySet;
use crate::hierarchy::Attributes;
use crate::judge::{Detail, Forecast, Keep, NodeJudge, Problem, node_judge};
use crate::lattice::{Grid, Lattice, Marks};
use crate::metric::{Costs, Metric, Needs, NodeSums, Ranking, Scored, Statistics};
use crate::privacy::{Policy, Pruning};
use crate::progress::Progress;

pub use node_boxes::{BestFirst, best_first, has_best_first_search, is_quicker_best_first};

use bounds::Bounds;
use guess::{Guess, step};

/// Nodes. Larger lattices are left to searches that need no number for each node.
const MAX_NODES: usize = 1 << 24;

/// Can [`optimum`] answer for a lattice of these heights?
pub fn has_optimum_search(heights: &[u8]) -> bool {
    Lattice::new(heights).is_ok_and(|lattice| lattice.n_nodes() <= MAX_NODES)
}

/// Does it judge few nodes? Not where each node that could be best must be judged for itself.
pub(crate) fn has_quick_optimum_search(policy: &Policy, metric: &dyn Metric, heights: &[u8]) -> bool {
    policy.pruning() == Pruning::Sound && metric.needs() != Needs::Groups && has_optimum_search(heights)
}

/// The best node by a metric, and what was judged to know that.
#[derive(Debug, Clone)]
pub struct Optimum {
    /// The best node; `None` when no node holds.
    pub best: Option<Scored>,
    /// Every node that was judged, with the rows that would be suppressed there, if all were counted.
    pub judged: Vec<(usize, Option<u64>)>,
    /// Of those, how many were judged by the whole policy because pruning is unsound. `None` where it is sound.
    pub left_open: Option<u64>,
    /// The groups of the best node.
    pub groups: Option<FrequencySet>,
}

/// Finds the best node.
///
/// Fails when [`has_optimum_search`] says no, when it is cancelled or when the source cannot count.
pub fn optimum(
    problem: Problem<'_>,
    attributes: &Attributes,
    costs: &Costs,
    metric: &dyn Metric,
    progress: &Progress,
) -> Result<Optimum> {
    let heights = attributes.heights();
    if !has_optimum_search(&heights) {
        return Err(Error::new(ErrorKind::Internal, "the best node cannot be found without all others"));
    }
    let lattice = Lattice::new(&heights)?;
    let grid = Grid::new(&lattice);
    let ranking = Ranking::new(costs, metric);
    let pruning = problem.policy.pruning();
    let absorbing = match pruning {
        Pruning::Sound => None,
        Pruning::Unsound => problem.policy.absorbing(),
    };
    let pruned_by = absorbing.as_ref().map(|policy| Problem { source: problem.source, policy });
    let counted = if metric.needs() == Needs::Groups { Detail::Sizes } else { Detail::Verdicts };
    let (keep, part) = match (pruning, pruned_by) {
        (Pruning::Sound, _) => (Keep::Nothing, Part::Whole),
        // What holds may fail further up, and is asked about there.
        (Pruning::Unsound, None) => (Keep::Everything, Part::None),
        (Pruning::Unsound, Some(part)) => {
            (Keep::Everything, Part::Absorbing(node_judge(part, Keep::Nothing, Detail::Verdicts)?))
        }
    };
    let mut hunt = Hunt {
        progress,
        lattice: &lattice,
        bounds: Bounds::new(problem, &lattice, costs, metric, &ranking)?,
        ranking,
        judge: node_judge(problem, keep, counted)?,
        node_sums: NodeSums::new(problem.source.layout(), attributes, costs, metric),
        undecided: if matches!(part, Part::None) { grid.none() } else { grid.all() },
        part,
        open: grid.all(),
        guess: Guess::new(pruned_by.unwrap_or(problem), &lattice, costs),
        grid,
        asked: Vec::new(),
        judged: Vec::new(),
        budget: problem.policy.budget(),
        usual_suppression: 0.0,
        n_hopes: tuning::HOPES.get(),
    };
    progress.expect(lattice.n_nodes() as u64);
    hunt.run()?;
    progress.expect(0);
    let mut judged: BTreeMap<usize, Option<u64>> = hunt.asked.iter().map(|&node| (node, None)).collect();
    judged.extend(hunt.judged.iter().copied());
    let left_open = (pruning == Pruning::Unsound).then_some(hunt.judged.len() as u64);
    let mut best = hunt.ranking.into_best(&lattice);
    let mut groups = None;
    if let Some(best) = &mut best {
        // What metrics do not need was not counted on the way.
        (best.statistics, groups) = Statistics::of_node(problem, attributes, best.statistics.levels.clone())?;
    }
    Ok(Optimum { best, judged: judged.into_iter().collect(), left_open, groups })
}

/// What may be concluded from one node to others.
enum Part<'a> {
    /// Everything: pruning is sound.
    Whole,
    /// What a part of the policy says, for which pruning is sound.
    Absorbing(Box<dyn NodeJudge + 'a>),
    /// Nothing.
    None,
}

struct Hunt<'a> {
    progress: &'a Progress,
    lattice: &'a Lattice,
    grid: Grid,
    bounds: Bounds,
    ranking: Ranking<'a>,
    judge: Box<dyn NodeJudge + 'a>,
    part: Part<'a>,
    node_sums: NodeSums<'a>,
    /// Nodes neither known to fail nor known to hold, by the part of the policy that prunes.
    undecided: Marks,
    /// Nodes that could beat the best, are not known to fail and have not been judged.
    open: Marks,
    guess: Guess,
    /// Nodes that were judged by the absorbing part of the policy.
    asked: Vec<usize>,
    /// Judged nodes with the rows that would be suppressed there, if all were counted.
    judged: Vec<(usize, Option<u64>)>,
    budget: u64,
    /// What suppression cost lately at a node where there was much of it.
    usual_suppression: f64,
    /// How many more nodes are judged in the hope of a better one, before there is a better one.
    n_hopes: u32,
}

impl Hunt<'_> {
    fn run(&mut self) -> Result<()> {
        let path = self.path();
        self.expect(|_| path.clone(), (path.len() as f32).log2())?;
        let first = match self.part {
            Part::None => 0,
            _ => self.bisect(&path)?,
        };
        if first == path.len() {
            // The top fails, and so does everything below it.
            return Ok(());
        }
        if !matches!(self.part, Part::Whole) {
            // As if what lies above what holds held: it mostly does.
            first_holding(&path[first..], |node| self.judge(node))?;
            self.descend()?;
        }
        self.cover()?;
        self.judge_rest()
    }

    /// Finds the border on a path: the first node that holds, by the part of the policy that prunes.
    fn bisect(&mut self, path: &[usize]) -> Result<usize> {
        let first = first_holding(path, |node| self.ask(node))?;
        let border = path[first.min(path.len() - 1)];
        self.guess.threshold = self.guess.extents[border];
        if self.guess.is_far_off {
            self.guess.refit(self.lattice);
        }
        Ok(first)
    }

    /// Tells the judge of the part that prunes which nodes will be asked about, most likely, and about how many, if it is of any use.
    fn expect(&mut self, nodes: impl FnOnce(&Self) -> Vec<usize>, n_asked: f32) -> Result<()> {
        let uses_forecasts = match &self.part {
            Part::Absorbing(part) => part.uses_forecasts(),
            Part::Whole | Part::None => self.judge.uses_forecasts(),
        };
        if !uses_forecasts {
            return Ok(());
        }
        let nodes = nodes(self).into_iter().map(|node| self.lattice.grouping(node)).collect();
        let forecast = Forecast { nodes, n_asked, extents: self.guess.parts() };
        match &mut self.part {
            Part::Absorbing(part) => part.expect(&forecast),
            Part::Whole | Part::None => self.judge.expect(&forecast),
        }
    }

    /// From the bottom to the top, always by the step that costs least for how much it merges.
    fn path(&self) -> Vec<usize> {
        let mut path = vec![0];
        let mut node = 0;
        loop {
            let price = |&up: &usize| {
                let merged = self.guess.extents[node] - self.guess.extents[up];
                (self.bounds.of(up) - self.bounds.of(node)) / f64::from(merged).max(1e-9)
            };
            let up = self.lattice.generalizations(node).min_by(|a, b| price(a).total_cmp(&price(b)));
            let Some(up) = up else {
                return path;
            };
            path.push(up);
            node = up;
        }
    }

    /// From the best node, always to one right below it that is better, as long as there is one.
    fn descend(&mut self) -> Result<()> {
        while let Some(best) = self.ranking.best().map(|best| self.lattice.node(&best.levels)) {
            let mut below: Vec<usize> = self.lattice.specializations(best).collect();
            below.sort_by(|&a, &b| self.bounds.of(a).total_cmp(&self.bounds.of(b)).then(a.cmp(&b)));
            for node in below {
                if self.grid.contains(&self.open, node) {
                    self.judge(node)?;
                }
            }
            if self.ranking.best().is_none_or(|now| self.lattice.node(&now.levels) == best) {
                break;
            }
        }
        Ok(())
    }

    /// Judges until it is known of every open node whether it holds, by the part of the policy that prunes.
    fn cover(&mut self) -> Result<()> {
        if matches!(self.part, Part::None) {
            return Ok(());
        }
        self.guess.count_open(&self.grid, &self.open);
        let likely = |hunt: &Self| {
            hunt.guess.likely(tuning::LIKELY.get(), |node| hunt.grid.contains(&hunt.undecided, node))
        };
        self.expect(likely, tuning::ASKED.get())?;
        while let Some(node) = self.choose() {
            self.progress.expect(self.open.len() as u64);
            let holds = self.ask(node)?;
            self.guess.correct(node, holds);
            if self.guess.is_far_off {
                self.guess.refit(self.lattice);
            }
        }
        Ok(())
    }

    /// Judges what is still open, best bound first: how good it is, is not known.
    fn judge_rest(&mut self) -> Result<()> {
        self.progress.expect(self.open.len() as u64);
        let mut rest: BinaryHeap<Reverse<Next>> =
            self.grid.iter(&self.open).map(|node| self.next(node)).collect();
        while let Some(Reverse(Next { bound, node })) = rest.pop() {
            if !self.grid.contains(&self.open, node) {
                continue;
            }
            if self.bounds.of(node) > bound {
                rest.push(self.next(node));
                continue;
            }
            self.judge(node)?;
        }
        debug_assert!(self.open.is_empty());
        Ok(())
    }

    fn next(&self, node: usize) -> Reverse<Next> {
        Reverse(Next { bound: self.bounds.of(node), node })
    }

    /// The undecided node that promises to close the most; `None` if it is known of every open node whether it holds.
    fn choose(&mut self) -> Option<usize> {
        if self.guess.is_out_of_date() {
            self.guess.count_open(&self.grid, &self.open);
        }
        let (grid, open, undecided) = (&self.grid, &self.open, &self.undecided);
        let is_undecided = |node| grid.contains(undecided, node);
        let n_open = |node| grid.count_below(open, node) as u32;
        // Looking far from the threshold rarely finds better, and takes longer.
        let near = step(self.guess.threshold - tuning::NEAR.get())
            ..step(self.guess.threshold + tuning::NEAR.get()) + 1;
        let found = self.guess.choose(near, is_undecided, n_open);
        let found = found.or_else(|| self.guess.choose(0..usize::MAX, is_undecided, n_open))?;
        Some(self.hope(found).unwrap_or(found))
    }

    /// A node that promises to be so much better than the best that this would close more than another if that fails; a few
    /// times, as long as none was better.
    fn hope(&mut self, other: usize) -> Option<usize> {
        let best = self.ranking.best_cost()?;
        // What groups cost is not known before they are counted; a part of the policy finds no best; and where nothing may be
        // suppressed, the first answer is mostly near the best.
        let is_worth_it =
            self.budget > 0 && matches!(self.part, Part::Whole) && self.bounds.least().is_none();
        if self.n_hopes == 0 || !is_worth_it || self.open.len() < tuning::FEW_OPEN.get() {
            return None;
        }
        let open: Vec<(f64, usize)> =
            self.grid.iter(&self.open).map(|node| (self.bounds.of(node), node)).collect();
        let least = open.iter().map(|&(bound, _)| bound).fold(best, f64::min);
        let bin = |bound: f64| {
            (((bound - least) / (best - least) * tuning::BINS as f64) as usize).min(tuning::BINS)
        };
        // How many open nodes cost at least as much as each bin.
        let mut beyond = [0_u32; tuning::BINS + 1];
        open.iter().for_each(|&(bound, _)| beyond[bin(bound)] += 1);
        for at in (0..tuning::BINS).rev() {
            beyond[at] += beyond[at + 1];
        }
        let promise = |&(bound, node): &(f64, usize)| {
            let next = bin(bound + self.usual_suppression) + 1;
            let beyond = beyond.get(next).copied().unwrap_or(0);
            tuning::HOPE.get() * beyond as f32 * (1.0 - self.guess.chance(node))
        };
        let undecided = open.iter().filter(|&&(_, node)| self.grid.contains(&self.undecided, node));
        let hopes = undecided.map(|open| (promise(open), open.1));
        let best = hopes.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
        let closes = self.grid.count_below(&self.open, other) as f32 * self.guess.chance(other);
        let found = best.filter(|&(promise, _)| promise > closes);
        self.n_hopes = if found.is_some() { self.n_hopes - 1 } else { 0 };
        found.map(|(_, node)| node)
    }

    /// Does a node hold, by the part of the policy that prunes? Remembers what follows from that.
    fn ask(&mut self, node: usize) -> Result<bool> {
        let Part::Absorbing(part) = &mut self.part else {
            return self.judge(node);
        };
        self.progress.judged()?;
        let verdict = part.verdict(&self.lattice.grouping(node))?;
        self.asked.push(node);
        self.guess.observe(self.lattice, node, verdict);
        if !verdict.holds {
            self.fails_below(node);
            return Ok(false);
        }
        self.grid.remove_above(&mut self.undecided, node);
        if verdict.refused_rows != Some(0) {
            let levels = self.lattice.levels(node).collect();
            let suppressed = self.node_sums.statistics(levels, &part.refused()?);
            self.raise_below(node, &suppressed);
        }
        Ok(true)
    }

    /// Does a node hold? Remembers what follows from that, and the best.
    fn judge(&mut self, node: usize) -> Result<bool> {
        self.progress.judged()?;
        let verdict = self.judge.verdict(&self.lattice.grouping(node))?;
        self.judged.push((node, verdict.refused_rows));
        let prunes = matches!(self.part, Part::Whole);
        if prunes {
            self.guess.observe(self.lattice, node, verdict);
        }
        if verdict.holds {
            if prunes {
                self.grid.remove_above(&mut self.undecided, node);
            }
            self.grid.remove(&mut self.open, node);
        } else if prunes {
            self.fails_below(node);
        } else {
            self.grid.remove(&mut self.open, node);
        }
        let sizes = match (self.bounds.least(), verdict.refused_rows) {
            (Some(least), Some(_)) => Some(self.judge.sizes(least)?),
            _ => None,
        };
        if verdict.holds {
            let levels: Vec<u8> = self.lattice.levels(node).collect();
            let statistics = match (verdict.refused_rows, &sizes) {
                (Some(rows), Some(sizes)) => Statistics::of_sizes(levels, rows, sizes),
                (Some(0), None) => Statistics::of_levels(levels),
                _ => self.node_sums.statistics(levels, &self.judge.refused()?),
            };
            if statistics.suppressed_rows * 2 > self.budget {
                let levels = Statistics::of_levels(statistics.levels.clone());
                self.usual_suppression = self.ranking.cost(&statistics) - self.ranking.cost(&levels);
            }
            if self.ranking.offer(&statistics) {
                self.n_hopes = tuning::HOPES.get();
                self.close();
            }
            if prunes {
                self.raise_below(node, &statistics);
            }
        }
        if let Some(sizes) = sizes {
            let raised = self.bounds.groups_of(&self.grid, &self.open, node, &sizes);
            self.close_some(&raised);
        }
        Ok(verdict.holds)
    }

    /// A node fails, and what lies below it.
    fn fails_below(&mut self, node: usize) {
        self.grid.remove_below(&mut self.undecided, node);
        self.grid.remove_below(&mut self.open, node);
    }

    /// Raises the bounds below a node at which rows are suppressed.
    fn raise_below(&mut self, node: usize, suppressed: &Statistics) {
        let place = (self.lattice, &self.grid, &self.open);
        let raised = self.bounds.suppressed_below(place, node, &self.ranking, suppressed);
        self.close_some(&raised);
    }

    /// Takes those of some nodes out of the open ones that cannot beat the best any more.
    fn close_some(&mut self, nodes: &[usize]) {
        for &node in nodes {
            if !can_win(&self.ranking, &self.bounds, self.lattice, node) {
                self.grid.remove(&mut self.open, node);
            }
        }
    }

    /// Takes out of the open nodes those that cannot beat the best any more.
    fn close(&mut self) {
        let (ranking, bounds, lattice) = (&self.ranking, &self.bounds, self.lattice);
        self.grid.retain(&mut self.open, |node| can_win(ranking, bounds, lattice, node));
    }
}

/// Could a node beat the best?
fn can_win(ranking: &Ranking<'_>, bounds: &Bounds, lattice: &Lattice, node: usize) -> bool {
    ranking.can_win(bounds.of(node), || lattice.levels(node).collect())
}

/// A node to be judged, by its bound at some time.
struct Next {
    bound: f64,
    node: usize,
}

impl PartialEq for Next {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Next {}

impl PartialOrd for Next {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Next {
    fn cmp(&self, other: &Self) -> Ordering {
        self.bound.total_cmp(&other.bound).then(self.node.cmp(&other.node))
    }
}
