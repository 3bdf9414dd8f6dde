//! How high is the node?
//!
//! *Height*: the sum of the levels, Samarati's minimality. *Weighted height*: the sum of weight × level, the
//! paper's way to say "keep gender intact if at all possible": a large weight makes every step of that attribute
//! cost more than any number of steps of the others. Suppressed rows cost nothing in either.
//! With local recoding, both are means over the released rows.

use std::cmp::Ordering;

use crate::metric::{Costs, Metric, Needs, Statistics, compare_weighted};
use crate::registry::{Entry, Status};

/// The metric in the registry.
pub(super) const ENTRY: Entry<&'static dyn Metric> = Entry {
    name: "height",
    summary: "sum of the levels",
    reference: "Samarati: Protecting respondents' identities in microdata release, TKDE 2001",
    doc: include_str!("height.md"),
    status: Status::Preview,
    item: &Height,
};

struct Height;

impl Metric for Height {
    fn score(&self, costs: &Costs, node: &Statistics) -> f64 {
        (0..costs.heights.len()).map(|at| costs.mean_climb(at, node)).sum()
    }

    fn term(&self, costs: &Costs, attribute: usize, node: &Statistics) -> Option<f64> {
        Some(costs.mean_climb(attribute, node))
    }

    fn needs(&self) -> Needs {
        Needs::Levels
    }
}

/// `weighted-height` in the registry.
pub(super) const WEIGHTED: Entry<&'static dyn Metric> = Entry {
    name: "weighted-height",
    summary: "sum of the levels, each times the user's weight of the attribute",
    reference: "LeFevre, DeWitt, Ramakrishnan, SIGMOD 2005, section 2.1",
    doc: include_str!("weighted_height.md"),
    status: Status::Preview,
    item: &WeightedHeight,
};

struct WeightedHeight;

impl Metric for WeightedHeight {
    fn score(&self, costs: &Costs, node: &Statistics) -> f64 {
        costs.weights.iter().enumerate().map(|(at, weight)| costs.mean_climb(at, node) * weight).sum()
    }

    fn compare(&self, costs: &Costs, a: &Statistics, b: &Statistics) -> Ordering {
        compare_weighted(self, costs, a, b, |at| {
            let ((of_a, rows_a), (of_b, rows_b)) = (costs.climb_of_rows(at, a), costs.climb_of_rows(at, b));
            (of_a * rows_b, of_b * rows_a, rows_a * rows_b)
        })
    }

    fn term(&self, costs: &Costs, attribute: usize, node: &Statistics) -> Option<f64> {
        Some(costs.weights[attribute] * costs.mean_climb(attribute, node))
    }

    fn needs(&self) -> Needs {
        Needs::Levels
    }

    fn uses_weights(&self) -> bool {
        true
    }
}
