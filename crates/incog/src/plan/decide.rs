//! By what may a generalization be chosen?
//!
//! By all that is required, or by k-anonymity and the metric alone. In the second case the groups that the other models
//! refuse are left out afterwards: how far each column is generalized then does not depend on sensitive values. See the
//! texts of [`DECIDE`].

use incog_core::registry::{Entry, Status};

/// What the generalization is chosen by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decide {
    /// All that is required.
    All,
    /// k-anonymity and the metric.
    KOnly,
}

/// Both ways to decide.
pub const DECIDE: &[Entry<Decide>] = &[
    Entry {
        name: "all",
        summary: "the best generalization of all that satisfy everything that is required",
        reference: "own",
        doc: include_str!("decide_all.md"),
        status: Status::Preview,
        item: Decide::All,
    },
    Entry {
        name: "k-only",
        summary: "the best generalization by k-anonymity alone; groups that fail other models are left out",
        reference: "Wong, Fu, Wang, Pei: Minimality attack in privacy preserving data publishing, VLDB 2007",
        doc: include_str!("decide_k_only.md"),
        status: Status::Preview,
        item: Decide::KOnly,
    },
];
