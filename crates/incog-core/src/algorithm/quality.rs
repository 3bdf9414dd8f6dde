//! How good is an answer, and by what?

use std::time::Instant;

use std::fmt;

use crate::metric::{Costs, Metric};

/// An answer, and whether there is a better one.
#[derive(Debug, Clone, PartialEq)]
pub struct Found<R> {
    /// The answer.
    pub recoding: R,
    /// How good it is.
    pub quality: Quality,
}

/// How good an answer is, within its model and by its metric.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Quality {
    /// There is no better one.
    Optimal,
    /// There may be a better one, but not by much.
    Within {
        /// By what share of the larger of two scores at most, its own and the bound's.
        gap: f64,
        /// The score that none can be better than.
        bound: f64,
    },
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

/// When a search stops although there is more to look at, and says so.
#[derive(Debug, Clone, Copy, Default)]
pub struct Limits {
    /// The most steps; what a step is, each search says. With `None` the search's own default holds or, where there is a
    /// deadline, the time alone.
    pub max_steps: Option<u64>,
    /// As soon as it is over, with what was found until then: at least what a first, quick look finds.
    pub deadline: Option<Instant>,
}

impl Limits {
    /// How many steps to make, given how many are made by default.
    pub(crate) fn steps(&self, by_default: u64) -> u64 {
        self.max_steps.unwrap_or(if self.deadline.is_some() { u64::MAX } else { by_default })
    }

    /// Is it too late?
    pub(crate) fn is_time_up(&self) -> bool {
        is_past(self.deadline)
    }
}

/// Is that moment over? Never, where there is none.
pub(crate) fn is_past(moment: Option<Instant>) -> bool {
    moment.is_some_and(|moment| Instant::now() >= moment)
}

/// How much of a lattice was judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Judged {
    /// Nodes that were judged.
    pub nodes: u64,
    /// Nodes that there are; if there are more than this can hold, the most it can.
    pub of: u128,
}

impl Judged {
    /// Nodes that were judged of a lattice of these heights.
    pub fn of(nodes: u64, heights: &[u8]) -> Self {
        let of = heights.iter().fold(1_u128, |n, &height| n.saturating_mul(u128::from(height) + 1));
        Judged { nodes, of }
    }
}

impl fmt::Display for Judged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Judged { nodes, of } = self;
        if *of < 1_000_000_000 {
            write!(f, "{nodes} of {of} nodes judged")
        } else {
            write!(f, "{nodes} of {:.1e} nodes judged", *of as f64)
        }
    }
}
