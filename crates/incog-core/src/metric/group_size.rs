//! How large is a group on average?
//!
//! Released rows by released groups (C_AVG of LeFevre et al. 2006 before it is divided by k). If no group is
//! released, all rows are as good as one group: n. Suppression is not charged beyond that, so on its own this
//! metric favours leaving rows out.

use crate::metric::costs::ratio;
use crate::metric::{Costs, Grows, Metric, Needs, Statistics};
use crate::registry::{Entry, Status};

/// The metric in the registry.
pub(super) const ENTRY: Entry<&'static dyn Metric> = Entry {
    name: "average-group-size",
    summary: "released rows by released groups",
    reference: "LeFevre, DeWitt, Ramakrishnan: Mondrian, ICDE 2006 (C_AVG, not divided by k)",
    doc: include_str!("average_group_size.md"),
    status: Status::Preview,
    item: &AverageGroupSize,
};

struct AverageGroupSize;

impl Metric for AverageGroupSize {
    fn score(&self, costs: &Costs, node: &Statistics) -> f64 {
        if node.n_groups == 0 {
            return costs.n_rows as f64;
        }
        ratio(u128::from(costs.n_rows - node.suppressed_rows), u128::from(node.n_groups))
    }

    fn needs(&self) -> Needs {
        Needs::Groups
    }

    fn grows(&self) -> Option<Grows> {
        Some(Grows::WithFewerGroups)
    }
}
