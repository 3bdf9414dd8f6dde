//! *Loss, contributed*: LM once more, from weights of labels. Every search must find by it what it finds by the engine's own.

use incog::unstable::engine::metric::{Contribution, Costs, Metric, Needs, Statistics};

/// LM from weights: leaves under the label less one.
#[derive(Debug)]
pub struct ContributedLoss;

static OTHER_LEAVES: Contribution = Contribution { name: "other leaves", weight: |covers| covers.leaves - 1 };

impl ContributedLoss {
    /// What cells have lost, and the most that they could lose; a single leaf loses 1 where it is suppressed.
    fn lost(costs: &Costs, at: usize, node: &Statistics) -> (u128, u128) {
        match costs.most_weight(&OTHER_LEAVES, at) {
            0 => (node.suppressed_rows.into(), u128::from(costs.n_rows)),
            most => (costs.weighed(&OTHER_LEAVES, at, node), most),
        }
    }
}

impl Metric for ContributedLoss {
    fn score(&self, costs: &Costs, node: &Statistics) -> f64 {
        let terms = (0..costs.weights.len()).map(|at| self.term(costs, at, node).unwrap_or_default());
        terms.sum::<f64>() / costs.weights.iter().sum::<f64>()
    }

    fn term(&self, costs: &Costs, at: usize, node: &Statistics) -> Option<f64> {
        let (lost, most) = ContributedLoss::lost(costs, at, node);
        Some(costs.weights[at] * if most == 0 { 0.0 } else { lost as f64 / most as f64 })
    }

    fn of_sum(&self, costs: &Costs, sum: f64) -> f64 {
        sum / costs.weights.iter().sum::<f64>()
    }

    fn contributes(&self) -> Option<&'static Contribution> {
        Some(&OTHER_LEAVES)
    }

    fn needs(&self) -> Needs {
        Needs::Suppression
    }

    fn uses_weights(&self) -> bool {
        true
    }
}
