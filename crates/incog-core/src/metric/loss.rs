//! LM (Iyengar 2002): how much vaguer did cells become?
//!
//! A cell whose label covers `m` of its hierarchy's `L` leaves costs (m − 1) / (L − 1): 0 as collected, 1 at a
//! top that covers everything. A suppressed cell costs 1. An attribute with one leaf costs 0 unless suppressed.
//!
//! *Loss* is the mean over all cells of the quasi-identifier. *Geometric loss* takes the mean x of each attribute
//! and combines them as (Π (1 + x))^(1/q) − 1, which is what ARX optimizes: its normalized sum of shares,
//! (Σ m/L − n/L) / (n − n/L), is the same x. With weights w, loss is Σ w·x / Σ w and geometric loss
//! (Π (1 + x)^w)^(1/Σw) − 1.

use crate::metric::{Costs, Metric, Needs, Statistics};

pub(super) struct Loss;

impl Metric for Loss {
    fn score(&self, costs: &Costs, node: &Statistics) -> f64 {
        let sum: f64 =
            costs.weights.iter().enumerate().map(|(at, weight)| weight * costs.loss_of(at, node)).sum();
        sum / costs.weights.iter().sum::<f64>()
    }

    fn needs(&self) -> Needs {
        Needs::Suppression
    }

    fn uses_weights(&self) -> bool {
        true
    }
}

pub(super) struct GeometricLoss;

impl Metric for GeometricLoss {
    fn score(&self, costs: &Costs, node: &Statistics) -> f64 {
        let product: f64 = costs
            .weights
            .iter()
            .enumerate()
            .map(|(at, &weight)| {
                let factor = 1.0 + costs.loss_of(at, node);
                // The unweighted case without a detour through powers, to lose no digit.
                if weight == 1.0 { factor } else { factor.powf(weight) }
            })
            .product();
        product.powf(1.0 / costs.weights.iter().sum::<f64>()) - 1.0
    }

    fn needs(&self) -> Needs {
        Needs::Suppression
    }

    fn uses_weights(&self) -> bool {
        true
    }
}
