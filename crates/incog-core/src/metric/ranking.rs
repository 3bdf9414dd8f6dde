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
    best_cost: f64,
}

impl<'a> Ranking<'a> {
    pub(crate) fn new(lattice: &'a Lattice, costs: &'a Costs, metric: &'a dyn Metric) -> Self {
        Ranking { lattice, costs, metric, best: None, best_cost: f64::INFINITY }
    }

    /// The cost of a node's levels with nothing suppressed.
    pub(crate) fn bound(&self, node: usize) -> f64 {
        self.cost(&self.levels(node))
    }

    /// The bounds of all nodes.
    pub(crate) fn bounds(&self) -> Vec<f64> {
        let top: Vec<u8> = self.lattice.levels(self.lattice.n_nodes() - 1).collect();
        let term = |position: usize, level: u8| {
            let mut levels = top.clone();
            levels[position] = level;
            self.metric.term(self.costs, position, &Statistics::of_levels(levels))
        };
        let of_levels = |(position, &highest): (usize, &u8)| -> Option<Vec<f64>> {
            (0..=highest).map(|level| term(position, level)).collect()
        };
        let terms: Option<Vec<Vec<f64>>> = top.iter().enumerate().map(of_levels).collect();
        match terms {
            Some(terms) => self.lattice.sums(0.0, |position, level| terms[position][level], |a, b| a + b),
            None => (0..self.lattice.n_nodes()).map(|node| self.bound(node)).collect(),
        }
    }

    /// What nodes below one that holds cost at least, for each attribute and level; to be added up. `None` if the metric is
    /// not a sum, or if nothing is suppressed there: then they cost what their levels cost.
    ///
    /// The rows that are suppressed at a node are suppressed below it too, wherever less merging never admits more: where
    /// [pruning](crate::privacy::Policy::pruning) is sound.
    pub(crate) fn terms_below(&self, holds: &Statistics) -> Option<Vec<Vec<f64>>> {
        if holds.suppressed_rows == 0 {
            return None;
        }
        let of_levels = |(position, &highest): (usize, &u8)| -> Option<Vec<f64>> {
            let term =
                |level| self.metric.term(self.costs, position, &holds.lowered(self.costs, position, level));
            (0..=highest).map(term).collect()
        };
        holds.levels.iter().enumerate().map(of_levels).collect()
    }

    /// Could a node of this bound beat the best one so far?
    pub(crate) fn can_win(&self, node: usize, bound: f64) -> bool {
        let Some(best) = &self.best else {
            return true;
        };
        let best_cost = self.best_cost;
        let margin = 1e-9 * (bound.abs() + best_cost.abs());
        if (bound - best_cost).abs() > margin {
            return bound < best_cost;
        }
        self.order(node, &self.levels(node), best).is_lt()
    }

    /// Is a bound so clearly worse than the best one so far that no larger one can win?
    pub(crate) fn is_beyond(&self, bound: f64) -> bool {
        self.best.is_some() && bound > self.best_cost + 1e-9 * (bound.abs() + self.best_cost.abs())
    }

    /// A node that holds: is it the new best?
    pub(crate) fn offer(&mut self, node: usize, statistics: &Statistics) -> bool {
        let is_best = self.best.as_ref().is_none_or(|best| self.order(node, statistics, best).is_lt());
        if is_best {
            let height = self.lattice.height(node);
            self.best_cost = self.cost(statistics);
            self.best = Some(Scored { node, height, statistics: statistics.clone() });
        }
        is_best
    }

    pub(crate) fn into_best(self) -> Option<Scored> {
        self.best
    }

    fn levels(&self, node: usize) -> Statistics {
        Statistics::of_levels(self.lattice.levels(node).collect())
    }

    /// A score as a cost: what bounds are compared by.
    fn cost(&self, statistics: &Statistics) -> f64 {
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

    fn order(&self, node: usize, statistics: &Statistics, best: &Scored) -> Ordering {
        self.metric
            .compare(self.costs, statistics, &best.statistics)
            .then(self.height(statistics).cmp(&self.height(&best.statistics)))
            .then(node.cmp(&best.node))
    }
}
