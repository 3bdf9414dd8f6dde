//! Prec (Sweeney 2002): how much of its hierarchy did a cell keep?
//!
//! 1 − the mean over all cells of level / height of the attribute's hierarchy, a suppressed cell counting 1. An
//! attribute that cannot be generalized loses nothing unless suppressed. With weights, the mean over attributes
//! is weighted. 1 is the table as collected, 0 a table of top labels; higher is better.

use crate::metric::statistics::ratio;
use crate::metric::{Costs, Direction, Metric, Needs, Statistics};

pub(super) struct Precision;

impl Metric for Precision {
    fn score(&self, costs: &Costs, node: &Statistics) -> f64 {
        if costs.n_rows == 0 {
            return 1.0;
        }
        let suppressed = u128::from(node.suppressed_rows);
        let released = u128::from(costs.n_rows) - suppressed;
        let mut lost = 0.0;
        for (at, weight) in costs.weights.iter().enumerate() {
            let height = u128::from(costs.heights[at]).max(1);
            let climbed = released * u128::from(costs.climbed(at, node)) + suppressed * height;
            lost += weight * ratio(climbed, u128::from(costs.n_rows) * height);
        }
        1.0 - lost / costs.weights.iter().sum::<f64>()
    }

    fn direction(&self) -> Direction {
        Direction::HigherIsBetter
    }

    fn needs(&self) -> Needs {
        Needs::Suppression
    }

    fn uses_weights(&self) -> bool {
        true
    }
}
