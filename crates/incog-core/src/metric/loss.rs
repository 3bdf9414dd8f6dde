//! LM (Iyengar 2002): how much vaguer did cells become?
//!
//! A cell whose label covers `m` of its hierarchy's `L` leaves costs (m − 1) / (L − 1): 0 as collected, 1 at a
//! top that covers everything. A suppressed cell costs 1. An attribute with one leaf costs 0 unless suppressed.
//!
//! *Loss* is the mean over all cells of the quasi-identifier. *Geometric loss* takes the mean x of each attribute
//! and combines them as (Π (1 + x))^(1/q) − 1, which is what ARX optimizes: its normalized sum of shares,
//! (Σ m/L − n/L) / (n − n/L), is the same x. With weights w, loss is Σ w·x / Σ w and geometric loss
//! (Π (1 + x)^w)^(1/Σw) − 1.

use std::cmp::Ordering;

use crate::metric::{Costs, Metric, Needs, Statistics, clear_order, compare_weighted};
use crate::registry::{Entry, Status};

/// The metric in the registry.
pub(super) const ENTRY: Entry<&'static dyn Metric> = Entry {
    name: "loss",
    summary: "LM: share of a hierarchy's leaves that a cell could be, mean over all cells",
    reference: "Iyengar: Transforming data to satisfy privacy constraints, KDD 2002",
    doc: include_str!("loss.md"),
    status: Status::Preview,
    item: &Loss,
};

struct Loss;

impl Metric for Loss {
    fn score(&self, costs: &Costs, node: &Statistics) -> f64 {
        let sum: f64 =
            costs.weights.iter().enumerate().map(|(at, weight)| weight * costs.loss_of(at, node)).sum();
        sum / costs.weights.iter().sum::<f64>()
    }

    fn compare(&self, costs: &Costs, a: &Statistics, b: &Statistics) -> Ordering {
        compare_weighted(self, costs, a, b, |at| {
            let ((of_a, divisor), (of_b, _)) = (costs.total_loss_of(at, a), costs.total_loss_of(at, b));
            (of_a, of_b, divisor)
        })
    }

    fn term(&self, costs: &Costs, attribute: usize, node: &Statistics) -> Option<f64> {
        Some(costs.weights[attribute] * costs.loss_of(attribute, node))
    }

    fn of_sum(&self, costs: &Costs, sum: f64) -> f64 {
        sum / costs.weights.iter().sum::<f64>()
    }

    fn needs(&self) -> Needs {
        Needs::Suppression
    }

    fn depends_on_values(&self) -> bool {
        true
    }

    fn uses_weights(&self) -> bool {
        true
    }
}

/// `geometric-loss` in the registry.
pub(super) const GEOMETRIC: Entry<&'static dyn Metric> = Entry {
    name: "geometric-loss",
    summary: "LM per attribute, combined as a geometric mean; what ARX optimizes",
    reference: "Prasser et al.: ARX, the `loss` measure with its default aggregate",
    doc: include_str!("geometric_loss.md"),
    status: Status::Preview,
    item: &GeometricLoss,
};

struct GeometricLoss;

impl Metric for GeometricLoss {
    fn score(&self, costs: &Costs, node: &Statistics) -> f64 {
        // Logarithms: a product of powers would overflow with large weights. Sorted, so that attributes which
        // change places give the same sum to the last digit.
        let mut terms: Vec<f64> = costs
            .weights
            .iter()
            .enumerate()
            .map(|(at, weight)| weight * costs.loss_of(at, node).ln_1p())
            .collect();
        terms.sort_by(f64::total_cmp);
        (terms.iter().sum::<f64>() / costs.weights.iter().sum::<f64>()).exp_m1()
    }

    fn compare(&self, costs: &Costs, a: &Statistics, b: &Statistics) -> Ordering {
        clear_order(self, costs, a, b).unwrap_or_else(|| {
            // What is alike cancels before it is added up: beside a weight of 10⁹ it would hide one of 10⁻⁹.
            let difference = |(at, weight): (usize, &f64)| {
                weight * (costs.loss_of(at, a).ln_1p() - costs.loss_of(at, b).ln_1p())
            };
            let mut differences: Vec<f64> = costs.weights.iter().enumerate().map(difference).collect();
            differences.sort_by(|a, b| a.abs().total_cmp(&b.abs()).then(a.total_cmp(b)));
            differences.iter().sum::<f64>().partial_cmp(&0.0).unwrap_or(Ordering::Equal)
        })
    }

    fn term(&self, costs: &Costs, attribute: usize, node: &Statistics) -> Option<f64> {
        Some(costs.weights[attribute] * costs.loss_of(attribute, node).ln_1p())
    }

    fn of_sum(&self, costs: &Costs, sum: f64) -> f64 {
        (sum / costs.weights.iter().sum::<f64>()).exp_m1()
    }

    fn needs(&self) -> Needs {
        Needs::Suppression
    }

    fn depends_on_values(&self) -> bool {
        true
    }

    fn uses_weights(&self) -> bool {
        true
    }
}
