//! How good is an answer, and by what?

use std::fmt;

use crate::metric::{Costs, Metric};

/// An answer, and whether there is a better one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found<R> {
    /// The answer.
    pub recoding: R,
    /// How good it is.
    pub quality: Quality,
}

/// How good an answer is, within its model and by its metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quality {
    /// There is no better one.
    Optimal,
    /// There may be a better one.
    Heuristic,
}

/// What makes one recoding better than another: a metric, with the costs (and weights) that it counts.
#[derive(Clone, Copy)]
pub struct Aim<'a> {
    /// The metric.
    pub metric: &'a dyn Metric,
    /// The costs of the table, with the user's weights.
    pub costs: &'a Costs,
}

impl fmt::Debug for Aim<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Aim").field("weights", &self.costs.weights).finish_non_exhaustive()
    }
}
