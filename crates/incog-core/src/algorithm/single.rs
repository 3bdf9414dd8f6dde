//! Single-dimension recoding: an attribute's values are recoded alike in every record.
//!
//! The models of section 5.1 of the Incognito paper that go by hierarchies, from strict to free, with what else answers
//! with the levels of a node:
//!
//! | name | a recoding gives | answer |
//! |---|---|---|
//! | [`attribute_suppression`] | an attribute 0 or its top | levels |
//! | (full-domain) | an attribute a level | levels |
//! | [`datafly`], [`genetic`] | the same, found greedily or at random | levels |
//! | [`full_subtree`] | each label of a cut through the tree everything below it | [`PerValue`] |
//! | [`unrestricted`] | each value a level | [`PerValue`] |
//!
//! All are steered by an [`Aim`], except Datafly, and judge what they look at by the policy itself, budget included: they
//! need no property of the policy to be right, and use [`Policy::pruning`](crate::privacy::Policy::pruning) to be fast.

mod attribute_suppression;
mod branch;
mod datafly;
mod descent;
mod exact;
mod full_domain;
mod full_subtree;
mod genetic;
mod unrestricted;

pub use attribute_suppression::{AttributeSuppressionOptions, attribute_suppression};
pub use datafly::{DataflyOptions, datafly};
pub use full_subtree::{FullSubtreeOptions, full_subtree};
pub use genetic::{GeneticOptions, genetic};
pub use unrestricted::{UnrestrictedOptions, unrestricted};

use std::cmp::Ordering;

use crate::algorithm::Aim;
use crate::algorithm::found::{Found, Limits};
use crate::check::Problem;
use crate::error::Result;
use crate::hierarchy::Attributes;
use crate::metric::{Direction, Needs, Statistics};
use crate::privacy::Policy;
use crate::recoding::{PerValue, Sums, ValueTable};
use crate::registry::{Entry, Status};
use crate::watch::Watch;

impl Aim<'_> {
    /// The table by its values, with what labels weigh if the metric contributes weights.
    fn values(&self, problem: Problem<'_>, attributes: &Attributes) -> Result<ValueTable> {
        let values = ValueTable::new(problem, attributes)?;
        let Some(contribution) = self.metric.contributes() else {
            return Ok(values);
        };
        let weights = self.costs.weights_of(contribution);
        Ok(values.weighed(|at, level, label| weights.of_labels[at][usize::from(level)][label as usize]))
    }

    /// `Less` if the first is better.
    fn compare(&self, a: &Statistics, b: &Statistics) -> Ordering {
        self.metric.compare(self.costs, a, b)
    }

    /// A score as a cost.
    fn cost(&self, statistics: &Statistics) -> f64 {
        let score = self.metric.score(self.costs, statistics);
        match self.metric.direction() {
            Direction::LowerIsBetter => score,
            Direction::HigherIsBetter => -score,
        }
    }

    /// Is a recoding never better than its levels with nothing suppressed? Where suppression costs at least as much as
    /// releasing. Heights are means over the released rows: leaving out those that climbed would lower them.
    fn is_bounded_by_levels(&self, policy: &Policy) -> bool {
        match self.metric.needs() {
            Needs::Suppression => true,
            Needs::Levels => policy.budget() == 0,
            Needs::Groups => false,
        }
    }

    /// Would these levels be better than `best` if nothing were suppressed? `true` where that says nothing.
    fn can_beat(&self, policy: &Policy, unsuppressed: Sums, best: &Statistics) -> bool {
        !self.is_bounded_by_levels(policy) || self.compare(&Statistics::of_sums(unsuppressed), best).is_lt()
    }
}

/// Which algorithm for single-dimension recoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Single {
    /// [`attribute_suppression`].
    AttributeSuppression,
    /// [`datafly`].
    Datafly,
    /// [`genetic`].
    Genetic,
    /// [`full_subtree`].
    FullSubtree,
    /// [`unrestricted`].
    Unrestricted,
}

/// What an algorithm for single-dimension recoding answers with.
#[derive(Debug, Clone)]
pub enum SingleAnswer {
    /// The level of each attribute.
    Levels(Vec<u8>),
    /// A level for each value.
    Values(Box<PerValue>),
}

impl Single {
    /// Finds a recoding. `None` if it finds none. `seed` and `limits` are for `genetic`, whose steps are nodes judged; the
    /// others have the limits that they have by default.
    pub fn run(
        self,
        problem: Problem<'_>,
        attributes: &Attributes,
        aim: Aim<'_>,
        seed: u64,
        limits: Limits,
        watch: &Watch,
    ) -> Result<Option<Found<SingleAnswer>>> {
        let levels = |found: Option<Found<Vec<u8>>>| found.map(|found| found.map(SingleAnswer::Levels));
        let values = |found: Option<Found<PerValue>>| {
            found.map(|found| found.map(|values| SingleAnswer::Values(Box::new(values))))
        };
        Ok(match self {
            Single::AttributeSuppression => levels(attribute_suppression(
                problem,
                attributes,
                AttributeSuppressionOptions::new(aim),
                watch,
            )?),
            Single::Datafly => levels(datafly(problem, attributes, DataflyOptions::default(), watch)?),
            Single::Genetic => levels(genetic(
                problem,
                attributes,
                GeneticOptions {
                    seed,
                    max_evaluations: limits.steps(genetic::MAX_EVALUATIONS),
                    deadline: limits.deadline,
                    ..GeneticOptions::new(aim)
                },
                watch,
            )?),
            Single::FullSubtree => {
                values(full_subtree(problem, attributes, FullSubtreeOptions::new(aim), watch)?)
            }
            Single::Unrestricted => {
                values(unrestricted(problem, attributes, UnrestrictedOptions::new(aim), watch)?)
            }
        })
    }
}

/// All algorithms for single-dimension recoding beside the traversals of the lattice.
pub const SINGLE: &[Entry<Single>] = &[
    Entry {
        name: "attribute-suppression",
        summary: "each attribute as collected or not at all; the best choice",
        reference: "Meyerson, Williams: On the complexity of optimal k-anonymity, PODS 2004",
        doc: include_str!("single/attribute_suppression.md"),
        status: Status::Preview,
        item: Single::AttributeSuppression,
    },
    Entry {
        name: "datafly",
        summary: "full-domain, greedy: generalizes the attribute with most values until the policy holds",
        reference: "Sweeney: Guaranteeing anonymity when sharing medical data, the Datafly system, AMIA 1997",
        doc: include_str!("single/datafly.md"),
        status: Status::Preview,
        item: Single::Datafly,
    },
    Entry {
        name: "genetic",
        summary: "full-domain, at random: for lattices too large to classify",
        reference: "Iyengar: Transforming data to satisfy privacy constraints, KDD 2002",
        doc: include_str!("single/genetic.md"),
        status: Status::Preview,
        item: Single::Genetic,
    },
    Entry {
        name: "full-subtree",
        summary: "single-dimension: specializes labels one by one, each with everything below it",
        reference: "Fung, Wang, Yu: Top-down specialization, ICDE 2005; the model: Iyengar, KDD 2002",
        doc: include_str!("single/full_subtree.md"),
        status: Status::Preview,
        item: Single::FullSubtree,
    },
    Entry {
        name: "unrestricted",
        summary: "single-dimension: each value itself or any ancestor",
        reference: "LeFevre, DeWitt, Ramakrishnan, SIGMOD 2005, section 5.1.1",
        doc: include_str!("single/unrestricted.md"),
        status: Status::Preview,
        item: Single::Unrestricted,
    },
];

impl<R> Found<R> {
    /// The same answer in another form.
    fn map<S>(self, change: impl FnOnce(R) -> S) -> Found<S> {
        Found { recoding: change(self.recoding), quality: self.quality }
    }
}
