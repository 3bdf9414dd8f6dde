//! Prec (Sweeney 2002): how much of its hierarchy did a cell keep?
//!
//! 1 − the mean over all cells of level / height of the attribute's hierarchy, a suppressed cell counting 1. An
//! attribute that cannot be generalized loses nothing unless suppressed. With weights, the mean over attributes
//! is weighted. 1 is the table as collected, 0 a table of top labels; higher is better.

use std::cmp::Ordering;

use crate::metric::costs::ratio;
use crate::metric::{Costs, Direction, Metric, Needs, Statistics, compare_weighted};
use crate::registry::{Entry, Status};

/// The metric in the registry.
pub(super) const ENTRY: Entry<&'static dyn Metric> = Entry {
    name: "precision",
    summary: "Prec: 1 less the mean share of its hierarchy that a cell climbed (higher is better)",
    reference: "Sweeney: Achieving k-anonymity privacy protection using generalization and suppression, 2002",
    doc: include_str!("precision.md"),
    status: Status::Preview,
    item: &Precision,
};

struct Precision;

impl Metric for Precision {
    fn score(&self, costs: &Costs, node: &Statistics) -> f64 {
        if costs.n_rows == 0 {
            return 1.0;
        }
        let lost = costs.weights.iter().enumerate().map(|(at, weight)| {
            let (climbed, height) = total_climb(costs, at, node);
            weight * ratio(climbed, u128::from(costs.n_rows) * height)
        });
        1.0 - lost.sum::<f64>() / costs.weights.iter().sum::<f64>()
    }

    fn compare(&self, costs: &Costs, a: &Statistics, b: &Statistics) -> Ordering {
        compare_weighted(self, costs, a, b, |at| {
            let ((of_a, height), (of_b, _)) = (total_climb(costs, at, a), total_climb(costs, at, b));
            (of_a, of_b, height)
        })
    }

    fn term(&self, costs: &Costs, attribute: usize, node: &Statistics) -> Option<f64> {
        let (climbed, height) = total_climb(costs, attribute, node);
        Some(costs.weights[attribute] * ratio(climbed, u128::from(costs.n_rows.max(1)) * height))
    }

    fn of_sum(&self, costs: &Costs, sum: f64) -> f64 {
        1.0 - sum / costs.weights.iter().sum::<f64>()
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

/// The levels that the cells of an attribute climbed, all rows together, and the height of its hierarchy.
fn total_climb(costs: &Costs, attribute: usize, node: &Statistics) -> (u128, u128) {
    let height = u128::from(costs.heights[attribute]).max(1);
    (costs.released_climb(attribute, node) + u128::from(node.suppressed_rows) * height, height)
}
