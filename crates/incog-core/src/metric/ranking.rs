//! The best node so far, and which nodes could still beat it.
//!
//! A node is better by the metric, then lower, then earlier in column order. Before its groups are known, the score of
//! its levels with nothing suppressed bounds its score, if the metric needs no more than levels and suppression.
//! Bounds are compared as floats where they differ clearly and exactly where they do not.

use std::cmp::Ordering;

use crate::lattice::Lattice;
use crate::metric::{Costs, Direction, Metric, Scored, Statistics};

pub(crate) struct Ranking<'a> {
    lattice: &'a Lattice,
    costs: &'a Costs,
    metric: &'a dyn Metric,
    best: Option<Scored>,
}

impl<'a> Ranking<'a> {
    pub(crate) fn new(lattice: &'a Lattice, costs: &'a Costs, metric: &'a dyn Metric) -> Self {
        Ranking { lattice, costs, metric, best: None }
    }

    /// The cost of a node's levels with nothing suppressed.
    pub(crate) fn bound(&self, node: usize) -> f64 {
        self.cost(&self.levels(node))
    }

    /// Could a node of this bound beat the best one so far?
    pub(crate) fn can_win(&self, node: usize, bound: f64) -> bool {
        let Some(best) = &self.best else {
            return true;
        };
        let best_cost = self.cost(&best.statistics);
        let margin = 1e-9 * (bound.abs() + best_cost.abs());
        if (bound - best_cost).abs() > margin {
            return bound < best_cost;
        }
        self.order(node, &self.levels(node), best).is_lt()
    }

    /// A node that holds: is it the new best?
    pub(crate) fn offer(&mut self, node: usize, statistics: &Statistics) {
        if self.best.as_ref().is_none_or(|best| self.order(node, statistics, best).is_lt()) {
            let height = self.lattice.height(node);
            self.best = Some(Scored { node, height, statistics: statistics.clone() });
        }
    }

    pub(crate) fn best(&self) -> Option<&Scored> {
        self.best.as_ref()
    }

    pub(crate) fn into_best(self) -> Option<Scored> {
        self.best
    }

    fn levels(&self, node: usize) -> Statistics {
        Statistics::of_levels(self.lattice.levels(node).collect())
    }

    /// A score as a cost.
    fn cost(&self, statistics: &Statistics) -> f64 {
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

    fn order(&self, node: usize, statistics: &Statistics, best: &Scored) -> Ordering {
        self.metric
            .compare(self.costs, statistics, &best.statistics)
            .then(self.height(statistics).cmp(&self.height(&best.statistics)))
            .then(node.cmp(&best.node))
    }
}
