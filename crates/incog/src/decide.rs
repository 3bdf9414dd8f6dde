//! By what is the generalization chosen?
//!
//! By all that is required, or by k-anonymity and the metric alone. In the second case the groups that the other models
//! refuse are left out afterwards: how far each column is generalized then does not depend on sensitive values. See the
//! texts of [`DECIDE`].

use incog_core::Result;
use incog_core::check::Problem;
use incog_core::frequency::Method;
use incog_core::lattice::Grouping;
use incog_core::metric::Statistics;
use incog_core::privacy::Policy;
use incog_core::registry::{Entry, Status};

use crate::plan::Plan;

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

/// What the whole policy says of the generalization that was chosen by a part of it.
pub(crate) enum Settled {
    /// It holds; what is known of the release.
    Holds(Statistics),
    /// It does not: what is in the way.
    Fails(String),
}

impl Plan {
    /// The part of the policy that generalizations are chosen by.
    pub(crate) fn deciding(&self) -> &Policy {
        self.decided_by.as_ref().unwrap_or(&self.policy)
    }

    /// What a search has to solve.
    pub(crate) fn deciding_problem(&self) -> Problem<'_> {
        Problem { source: &*self.rows, policy: self.deciding() }
    }

    /// Leaves out what the rest of the policy refuses at a node that was chosen.
    pub(crate) fn settle(&self, chosen: &Statistics) -> Result<Settled> {
        if self.decided_by.is_none() {
            return Ok(Settled::Holds(chosen.clone()));
        }
        let Problem { source, policy } = self.problem();
        let levels = &chosen.levels;
        let set = source.count(&Grouping::of_levels(levels), &policy.demand(), Method::Auto)?;
        if policy.judge(&set)?.holds {
            return Ok(Settled::Holds(Statistics::new(
                self.problem(),
                &self.attributes,
                levels.clone(),
                &set,
            )?));
        }
        Ok(Settled::Fails(format!(
            "decided by {} alone: {}\nhint: decide = \"all\" looks for another generalization; or allow more suppression",
            self.deciding().describe(),
            self.need(levels)?
        )))
    }

    /// How many rows a release at these levels would have to leave out, and which model refuses how many.
    pub(crate) fn need(&self, levels: &[u8]) -> Result<String> {
        let Problem { source, policy } = self.problem();
        let set = source.count(&Grouping::of_levels(levels), &policy.demand(), Method::Auto)?;
        let needed = policy.judge(&set)?.refused_rows;
        let named: Vec<String> = self
            .attributes
            .iter()
            .zip(levels)
            .map(|(attribute, &level)| format!("{}={}", attribute.name(), attribute.level_number(level)))
            .collect();
        let n_rows = self.table.n_rows();
        let share = |rows: u64| 100.0 * rows as f64 / n_rows.max(1) as f64;
        let mut text = format!(
            "{} would need {needed} of {n_rows} rows suppressed ({:.1} %); the budget is {} rows ({:.1} %)",
            named.join(", "),
            share(needed),
            policy.budget(),
            share(policy.budget())
        );
        let models: Vec<_> = policy.models().collect();
        if models.len() > 1 {
            for model in models {
                let refused = match model.refused_rows(&set)? {
                    0 => "nothing".to_owned(),
                    1 => "1 row".to_owned(),
                    rows => format!("{rows} rows"),
                };
                text.push_str(&format!("\n  {} refuses {refused} there", model.describe()));
            }
        }
        Ok(text)
    }

    /// What there is to say about the search: where nodes were judged one by one, and what a decision by k alone left over.
    pub(crate) fn notes(&self, left_open: Option<u64>, chosen: u64, released: u64) -> Vec<String> {
        let mut notes = Vec::new();
        if let Some(n_open) = left_open {
            notes.push(judged_one_by_one(n_open));
        }
        if self.decided_by.is_some() {
            notes.push(format!(
                "decided by {} alone, which leaves out {chosen} rows; the other models leave out {} more",
                self.deciding().describe(),
                released.saturating_sub(chosen)
            ));
        }
        notes
    }
}

/// Why so many nodes were judged.
pub(crate) fn judged_one_by_one(n_open: u64) -> String {
    let nodes = match n_open {
        1 => "1 generalization was".to_owned(),
        n => format!("{n} generalizations were"),
    };
    format!(
        "pruning is unsound for this policy, what holds may fail when generalized further: {nodes} judged one by one"
    )
}
