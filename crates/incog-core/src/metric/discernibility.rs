//! DM (Bayardo and Agrawal 2005): from how many rows can a row not be told apart?
//!
//! Each released row costs the rows of its group, each suppressed row the rows of the whole table:
//! Σ |group|² + suppressed · n.

use crate::metric::{Costs, Grows, Metric, Needs, Statistics};
use crate::registry::{Entry, Status};

/// The metric in the registry.
pub(super) const ENTRY: Entry<&'static dyn Metric> = Entry {
    name: "discernibility",
    summary: "DM: each released row costs the size of its group, each suppressed one the whole table",
    reference: "Bayardo, Agrawal: Data privacy through optimal k-anonymization, ICDE 2005",
    doc: include_str!("discernibility.md"),
    status: Status::Preview,
    item: &Discernibility,
};

struct Discernibility;

impl Metric for Discernibility {
    fn score(&self, costs: &Costs, node: &Statistics) -> f64 {
        (node.sum_of_squares + u128::from(node.suppressed_rows) * u128::from(costs.n_rows)) as f64
    }

    fn needs(&self) -> Needs {
        Needs::Groups
    }

    fn grows(&self) -> Option<Grows> {
        Some(Grows::WithSquares)
    }
}
