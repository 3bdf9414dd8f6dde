//! How high is the node?
//!
//! *Height*: the sum of the levels, Samarati's minimality. *Weighted height*: the sum of weight × level, the
//! paper's way to say "keep gender intact if at all possible": a large weight makes every step of that attribute
//! cost more than any number of steps of the others. Suppressed rows cost nothing in either.

use crate::metric::{Costs, Metric, Needs, Statistics};

pub(super) struct Height;

impl Metric for Height {
    fn score(&self, costs: &Costs, node: &Statistics) -> f64 {
        (0..node.levels.len()).map(|at| f64::from(costs.climbed(at, node))).sum()
    }

    fn needs(&self) -> Needs {
        Needs::Levels
    }
}

pub(super) struct WeightedHeight;

impl Metric for WeightedHeight {
    fn score(&self, costs: &Costs, node: &Statistics) -> f64 {
        costs.weights.iter().enumerate().map(|(at, weight)| f64::from(costs.climbed(at, node)) * weight).sum()
    }

    fn needs(&self) -> Needs {
        Needs::Levels
    }

    fn uses_weights(&self) -> bool {
        true
    }
}
