//! The best node so far, and which nodes could still beat it.
//!
//! A node is better by the metric, then lower, then earlier in column order. Nodes are level vectors: no lattice is needed.
//! Before its groups are known, the score of a node's levels with nothing suppressed bounds its score, if the metric needs no
//! more than levels and suppression. Those bounds are compared as floats where they differ clearly and exactly where they do
//! not. Bounds of metrics that need groups ([`GroupBounds`](crate::metric::GroupBounds)) are never above the score as a float.

use std::cmp::Ordering;

use crate::lattice::Lattice;
use crate::metric::{Costs, Direction, Metric, Needs, Scored, Statistics};

pub(crate) struct Ranking<'a> {
    costs: &'a Costs,
    metric: &'a dyn Metric,
    best: Option<Statistics>,
    best_cost: f64,
}

impl<'a> Ranking<'a> {
    pub(crate) fn new(costs: &'a Costs, metric: &'a dyn Metric) -> Self {
        Ranking { costs, metric, best: None, best_cost: f64::INFINITY }
    }

    /// The cost of levels with nothing suppressed.
    pub(crate) fn bound(&self, levels: Vec<u8>) -> f64 {
        self.cost(&Statistics::of_levels(levels))
    }

    /// What each level of each attribute costs with nothing suppressed, to be added up. `None` if the metric is not a sum.
    pub(crate) fn terms(&self, heights: &[u8]) -> Option<Vec<Vec<f64>>> {
        let term = |position: usize, level: u8| {
            let mut levels = heights.to_vec();
            levels[position] = level;
            self.metric.term(self.costs, position, &Statistics::of_levels(levels))
        };
        let of_levels = |(position, &highest): (usize, &u8)| -> Option<Vec<f64>> {
            (0..=highest).map(|level| term(position, level)).collect()
        };
        heights.iter().enumerate().map(of_levels).collect()
    }

    /// The bounds of all nodes.
    pub(crate) fn bounds(&self, lattice: &Lattice) -> Vec<f64> {
        let top: Vec<u8> = lattice.levels(lattice.n_nodes() - 1).collect();
        match self.terms(&top) {
            Some(terms) => lattice.sums(0.0, |position, level| terms[position][level], |a, b| a + b),
            None => (0..lattice.n_nodes()).map(|node| self.bound(lattice.levels(node).collect())).collect(),
        }
    }

    /// What nodes below one cost at least, for each attribute and level, given the rows that are suppressed at it and
    /// below it; to be added up. `None` if the metric is not a sum, or if nothing is suppressed: then they cost what their
    /// levels cost.
    ///
    /// The rows that absorbing models refuse at a node they refuse below it too; and so do all models where
    /// [pruning](crate::privacy::Policy::pruning) is sound and the node holds.
    pub(crate) fn terms_below(&self, suppressed: &Statistics) -> Option<Vec<Vec<f64>>> {
        if suppressed.suppressed_rows == 0 {
            return None;
        }
        let of_levels = |(position, &highest): (usize, &u8)| -> Option<Vec<f64>> {
            let lowered = |level| suppressed.lowered(self.costs, self.metric, position, level);
            (0..=highest).map(|level| self.metric.term(self.costs, position, &lowered(level))).collect()
        };
        suppressed.levels.iter().enumerate().map(of_levels).collect()
    }

    /// Could a node of this bound beat the best one so far? Its levels are asked for if that is a close call.
    pub(crate) fn can_win(&self, bound: f64, levels: impl FnOnce() -> Vec<u8>) -> bool {
        let Some(best) = &self.best else {
            return true;
        };
        let best_cost = self.best_cost;
        if self.metric.needs() == Needs::Groups {
            // Never above the score: an equal bound wins only if an equal score would.
            return match bound.total_cmp(&best_cost) {
                Ordering::Equal => self.order_of_ties(&Statistics::of_levels(levels()), best).is_lt(),
                order => order.is_lt(),
            };
        }
        if self.differs(bound) {
            return bound < best_cost;
        }
        self.order(&Statistics::of_levels(levels()), best).is_lt()
    }

    /// Is a bound so clearly worse than the best one so far that no larger one can win?
    pub(crate) fn is_beyond(&self, bound: f64) -> bool {
        self.best.is_some() && self.differs(bound) && bound > self.best_cost
    }

    /// Does a bound differ clearly from the cost of the best?
    fn differs(&self, bound: f64) -> bool {
        (bound - self.best_cost).abs() > 1e-9 * (bound.abs() + self.best_cost.abs())
    }

    /// A node that holds: is it the new best?
    pub(crate) fn offer(&mut self, statistics: &Statistics) -> bool {
        let is_best = self.best.as_ref().is_none_or(|best| self.order(statistics, best).is_lt());
        if is_best {
            self.best_cost = self.cost(statistics);
            self.best = Some(statistics.clone());
        }
        is_best
    }

    /// What the best one so far costs.
    pub(crate) fn best_cost(&self) -> Option<f64> {
        self.best.as_ref().map(|_| self.best_cost)
    }

    pub(crate) fn best(&self) -> Option<&Statistics> {
        self.best.as_ref()
    }

    pub(crate) fn into_best(self, lattice: &Lattice) -> Option<Scored> {
        self.best.map(|statistics| {
            let node = lattice.node(&statistics.levels);
            Scored { node, height: lattice.height(node), statistics }
        })
    }

    /// A score as a cost: what bounds are compared by.
    pub(crate) fn cost(&self, statistics: &Statistics) -> f64 {
        let terms = (0..statistics.levels.len()).map(|at| self.metric.term(self.costs, at, statistics));
        if let Some(cost) = terms.sum::<Option<f64>>() {
            return cost;
        }
        let score = self.metric.score(self.costs, statistics);
        match self.metric.direction() {
            Direction::LowerIsBetter => score,
            Direction::HigherIsBetter => -score,
        }
    }

    /// The height as people read it: levels by their numbers in the whole hierarchy, whichever may be chosen.
    fn height(&self, statistics: &Statistics) -> usize {
        (0..statistics.levels.len()).map(|at| usize::from(self.costs.climbed(at, statistics))).sum()
    }

    fn order(&self, statistics: &Statistics, best: &Statistics) -> Ordering {
        self.metric.compare(self.costs, statistics, best).then_with(|| self.order_of_ties(statistics, best))
    }

    fn order_of_ties(&self, statistics: &Statistics, best: &Statistics) -> Ordering {
        self.height(statistics).cmp(&self.height(best)).then_with(|| statistics.levels.cmp(&best.levels))
    }
}
