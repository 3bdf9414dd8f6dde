//! What did it cost?
//!
//! A [`Metric`] scores a release, so that the best of all nodes that hold can be picked by the user's own idea
//! of minimality. Every metric here is a function of a node's levels and of a few sums over its groups
//! ([`Statistics`]): no metric sees a group, and the sums are integers, so a score does not depend on the order
//! in which groups were found. A metric that needs sums of its own contributes them ([`Contribution`]). `tests/laws.rs` recomputes each from the released labels.
//!
//! Conventions: a suppressed row costs 1 per cell (loss, precision) and n in discernibility; an attribute with a
//! single leaf costs 0 unless suppressed; leaves are those of the hierarchy, whether or not they occur in the
//! data. Ties go to the lower height, then to the level vector in column order.
//!
//! Local recoding is scored by the same formulas, from its [`LabelCounts`]: where all rows have the levels of a node it has the
//! node's scores. Its height is the mean over the released rows.

mod fraction;
mod label_counts;
mod contribution;
mod label_tally;
mod costs;
mod statistics;
mod ranking;
mod group_bounds;
mod survey;
mod height;
mod precision;
mod loss;
mod discernibility;
mod group_size;
mod distortion;
mod non_uniform_entropy;

pub(crate) use contribution::Weights;
pub use contribution::{Contribution, Covers};
pub use costs::{Costs, MAX_WEIGHT, MIN_WEIGHT, is_weight};
pub use distortion::Distortion;
pub(crate) use group_bounds::GroupBounds;
pub use label_counts::LabelCounts;
pub(crate) use ranking::Ranking;
pub(crate) use statistics::NodeSums;
pub use statistics::Statistics;
pub use survey::{Scored, best, describe};

use std::cmp::Ordering;

use crate::registry::Entry;

/// Scores a release.
pub trait Metric: Sync {
    /// The score of a node.
    fn score(&self, costs: &Costs, node: &Statistics) -> f64;

    /// Which of two nodes is better: `Less` if the first is. Exact where the metric is a sum of fractions; rounded
    /// scores of equal nodes may differ in their last digit.
    fn compare(&self, costs: &Costs, a: &Statistics, b: &Statistics) -> Ordering {
        self.direction().compare(self.score(costs, a), self.score(costs, b))
    }

    /// What an attribute adds to the cost of a node, if nodes are ordered by the sum of that over all attributes. `None` if
    /// they are not. For bounds of many nodes at once; what is nearly equal is compared by [`compare`](Metric::compare).
    fn term(&self, costs: &Costs, attribute: usize, node: &Statistics) -> Option<f64> {
        let _ = (costs, attribute, node);
        None
    }

    /// The score of a node whose [terms](Metric::term) have this sum.
    fn of_sum(&self, costs: &Costs, sum: f64) -> f64 {
        let _ = costs;
        sum
    }

    /// Which end of the scale is better?
    fn direction(&self) -> Direction {
        Direction::LowerIsBetter
    }

    /// What must be known of a node?
    fn needs(&self) -> Needs;

    /// What labels weigh, for metrics that are made of such weights: see [`Contribution`]. All metrics that are a sum over cells
    /// can be written with it and without another change.
    fn contributes(&self) -> Option<&'static Contribution> {
        None
    }

    /// Does the score depend on how many rows have which value, suppressed ones included? Then a record tells it with fewer
    /// digits.
    fn depends_on_values(&self) -> bool {
        self.contributes().is_some()
    }

    /// What bounds the cost of a node from groups of others, for metrics that need groups.
    fn grows(&self) -> Option<Grows> {
        None
    }

    /// Do the user's weights of the attributes count?
    fn uses_weights(&self) -> bool {
        false
    }
}

/// Which of two nodes costs less, if the sums of their [terms](Metric::term) tell them apart clearly: all terms are at least 0, so that a sum
/// is as exact as its terms.
fn clear_order(metric: &dyn Metric, costs: &Costs, a: &Statistics, b: &Statistics) -> Option<Ordering> {
    let sum = |node: &Statistics| -> Option<f64> {
        (0..costs.weights.len()).map(|at| metric.term(costs, at, node)).sum()
    };
    let (a, b) = (sum(a)?, sum(b)?);
    ((a - b).abs() > 1e-9 * (a + b)).then(|| a.total_cmp(&b))
}

/// The same where each term is a weight times a fraction: exactly, if it is a close call. For each attribute the two numerators and their
/// common divisor.
fn compare_weighted(
    metric: &dyn Metric,
    costs: &Costs,
    a: &Statistics,
    b: &Statistics,
    term: impl Fn(usize) -> (u128, u128, u128),
) -> Ordering {
    clear_order(metric, costs, a, b)
        .unwrap_or_else(|| fraction::compare_sums(&fraction::whole_weights(&costs.weights), term))
}

/// Which end of a scale is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// A cost.
    LowerIsBetter,
    /// A quality.
    HigherIsBetter,
}

/// What a metric must know of a node. The less, the cheaper it is to rank many.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Needs {
    /// The levels.
    Levels,
    /// Which groups are suppressed, too. Nothing more than the levels where nothing may be.
    Suppression,
    /// The sizes of all groups.
    Groups,
}

/// What a cost grows by as groups merge, for metrics that need groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grows {
    /// It is the sum of the squares of the released groups' rows, and the rows of the table for each suppressed row.
    WithSquares,
    /// It is the released rows by the released groups; the rows of the table if there is no such group.
    WithFewerGroups,
}

/// All metrics, the one that is taken unless told otherwise first.
pub const ALL: &[Entry<&'static dyn Metric>] = &[
    loss::ENTRY,
    loss::GEOMETRIC,
    height::ENTRY,
    height::WEIGHTED,
    precision::ENTRY,
    discernibility::ENTRY,
    group_size::ENTRY,
    distortion::ENTRY,
    non_uniform_entropy::ENTRY,
];

impl Direction {
    /// `Less` when the first score is the better one.
    pub fn compare(self, a: f64, b: f64) -> Ordering {
        match self {
            Direction::LowerIsBetter => a.total_cmp(&b),
            Direction::HigherIsBetter => b.total_cmp(&a),
        }
    }
}
