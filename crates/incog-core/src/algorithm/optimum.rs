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
//! 1. Walk down from the top, always to the child with the best bound that holds: a first, good answer.
//! 2. What is left are nodes that could beat it. Judge those first that have most of the others below them: if one
//!    fails, all of those are done; if it holds, it is the new best, and the bound has become tighter.
//! 3. Stop when nothing is left. The answer is the same as [`metric::best`] of every node that holds, ties included.
//!
//! A node that fails by far is seen to fail from some of its groups ([`count_some`](crate::frequency::FrequencySource::count_some)).
//! Several nodes are judged at a time, one a thread; the answer does not depend on how many. Cost: one scan a node
//! judged; memory: the groups of as many nodes as there are threads, and a number a node of the lattice.

use rayon::prelude::*;

use crate::check::Problem;
use crate::error::{Error, ErrorKind, Result};
use crate::frequency::Method;
use crate::hierarchy::Attributes;
use crate::lattice::{Grouping, Lattice};
use crate::metric::{Costs, Metric, Needs, Ranking, Scored, Statistics};
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
    let ranking = Ranking::new(&lattice, costs, metric);
    let bounds = (0..lattice.n_nodes()).map(|node| ranking.bound(node)).collect();
    let mut hunt = Hunt {
        problem,
        attributes,
        watch,
        lattice: &lattice,
        bounds,
        ranking,
        judged: Vec::new(),
        failed: Vec::new(),
    };
    hunt.descend()?;
    hunt.prove()?;
    watch.begin_stage(0);
    Ok(Optimum { judged: hunt.judged, best: hunt.ranking.into_best() })
}

struct Hunt<'a> {
    problem: Problem<'a>,
    attributes: &'a Attributes,
    watch: &'a Watch,
    lattice: &'a Lattice,
    /// The cost of each node's levels with nothing suppressed.
    bounds: Vec<f64>,
    ranking: Ranking<'a>,
    /// Judged nodes with the rows that would be suppressed there, if all were counted.
    judged: Vec<(usize, Option<u64>)>,
    /// Of those, the ones that do not hold.
    failed: Vec<usize>,
}

impl Hunt<'_> {
    /// From the top down to a node none of whose specializations holds.
    fn descend(&mut self) -> Result<()> {
        let mut current = self.lattice.n_nodes() - 1;
        self.watch.begin_stage(self.lattice.n_nodes() as u64);
        if !self.judge(&[current])?[0] {
            return Ok(());
        }
        loop {
            let mut below: Vec<usize> = self.lattice.specializations(current).collect();
            below.retain(|&node| !self.fails_below(node, &self.failed));
            below.sort_by(|&a, &b| self.bounds[a].total_cmp(&self.bounds[b]));
            let mut next = None;
            for some in below.chunks(rayon::current_num_threads()) {
                let verdicts = self.judge(some)?;
                next = some.iter().zip(&verdicts).find(|(_, holds)| **holds).map(|(&node, _)| node);
                if next.is_some() {
                    break;
                }
            }
            match next {
                Some(node) => current = node,
                None => return Ok(()),
            }
        }
    }

    /// Judges whatever could still beat the best node.
    fn prove(&mut self) -> Result<()> {
        if self.ranking.best().is_none() {
            return Ok(());
        }
        let mut open: Vec<usize> = (0..self.lattice.n_nodes())
            .filter(|&node| self.can_win(node) && !self.fails_below(node, &self.failed))
            .filter(|&node| !self.judged.iter().any(|&(judged, _)| judged == node))
            .collect();
        // Most general first: nodes with many others below them.
        let weight =
            |node: usize| -> f64 { self.lattice.levels(node).map(|level| f64::from(level) + 1.0).product() };
        open.sort_by(|&a, &b| weight(b).total_cmp(&weight(a)).then(a.cmp(&b)));
        while !open.is_empty() {
            self.watch.begin_stage(open.len() as u64);
            // Nodes below one another would be judged in vain.
            let mut some: Vec<usize> = Vec::new();
            for &node in open.iter().take(64) {
                if some.len() < rayon::current_num_threads()
                    && !some.iter().any(|&above| self.lies_below(node, above))
                {
                    some.push(node);
                }
            }
            let n_failed = self.failed.len();
            self.judge(&some)?;
            let failed = &self.failed[n_failed..];
            open.retain(|&node| {
                !some.contains(&node) && !self.fails_below(node, failed) && self.can_win(node)
            });
        }
        Ok(())
    }

    /// Does a node fail because it lies below one that does?
    fn fails_below(&self, node: usize, failed: &[usize]) -> bool {
        failed.iter().any(|&above| self.lies_below(node, above))
    }

    fn lies_below(&self, node: usize, above: usize) -> bool {
        self.lattice.levels(node).zip(self.lattice.levels(above)).all(|(low, high)| low <= high)
    }

    /// Could a node beat the best one so far, judging by its levels?
    fn can_win(&self, node: usize) -> bool {
        self.ranking.can_win(node, self.bounds[node])
    }

    /// Which of these nodes hold; the best is remembered.
    fn judge(&mut self, nodes: &[usize]) -> Result<Vec<bool>> {
        let verdicts: Vec<(Option<u64>, Option<Statistics>)> =
            nodes.par_iter().map(|&node| self.statistics(node)).collect::<Result<_>>()?;
        for (&node, (refused_rows, statistics)) in nodes.iter().zip(&verdicts) {
            self.judged.push((node, *refused_rows));
            match statistics {
                None => self.failed.push(node),
                Some(statistics) => self.ranking.offer(node, statistics),
            }
        }
        Ok(verdicts.iter().map(|(_, statistics)| statistics.is_some()).collect())
    }

    /// The rows that would be suppressed at a node, if all were counted, and sums over its groups, if it holds.
    fn statistics(&self, node: usize) -> Result<(Option<u64>, Option<Statistics>)> {
        let Problem { source, policy } = self.problem;
        let grouping = self.lattice.grouping(node);
        self.watch.judged()?;
        if self.fails_early(&grouping)? {
            return Ok((None, None));
        }
        let set = source.count(&grouping, &policy.demand(), Method::Auto)?;
        let judgement = policy.judge(&set)?;
        if !judgement.holds {
            return Ok((Some(judgement.refused_rows), None));
        }
        let levels = self.lattice.levels(node).collect();
        let statistics = Statistics::new(self.problem, self.attributes, levels, &set)?;
        Ok((Some(judgement.refused_rows), Some(statistics)))
    }

    /// Does a node fail by so much that some of its groups show it? Only asked once there is an answer to beat: before,
    /// most nodes hold.
    fn fails_early(&self, grouping: &Grouping) -> Result<bool> {
        let Problem { source, policy } = self.problem;
        if self.ranking.best().is_none() {
            return Ok(false);
        }
        for parts in [16, 4] {
            let Some(some) = source.count_some(grouping, &policy.demand(), parts)? else {
                return Ok(false);
            };
            let refused = policy.judge(&some)?.refused_rows;
            if refused > policy.budget() {
                return Ok(true);
            }
            // A larger part will not be enough either.
            if refused.saturating_mul(u64::from(parts)) < 4 * policy.budget() {
                return Ok(false);
            }
        }
        Ok(false)
    }
}
