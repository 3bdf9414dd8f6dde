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

pub(super) mod attribute_suppression;
mod branch;
pub(super) mod datafly;
mod descent;
mod exact;
mod full_domain;
pub(super) mod full_subtree;
pub(in crate::algorithm) mod genetic;
pub(super) mod unrestricted;

pub use attribute_suppression::{AttributeSuppressionOptions, attribute_suppression};
pub use datafly::{DataflyOptions, datafly};
pub use full_subtree::{FullSubtreeOptions, full_subtree};
pub use genetic::{GeneticOptions, genetic};
pub use unrestricted::{UnrestrictedOptions, unrestricted};

use std::cmp::Ordering;

use crate::algorithm::Aim;
use crate::algorithm::contract::{Answer, Task};
use crate::algorithm::quality::Found;
use crate::error::Result;
use crate::hierarchy::Attributes;
use crate::judge::Problem;
use crate::metric::{Direction, Needs, Statistics};
use crate::privacy::Policy;
use crate::recoding::{PerValue, Recoding, Sums, ValueTable};

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

/// Levels of values as an answer.
fn of_values(task: &Task<'_>, found: Found<PerValue>) -> Answer {
    let n_partial: u64 = (0..task.attributes.len()).map(|at| found.recoding.partial_labels(at)).sum();
    let notes = match n_partial {
        0 => Vec::new(),
        n => vec![format!(
            "{n} labels stand beside values that they cover: whoever has the label has none of these"
        )],
    };
    Answer::Recoding { recoding: Box::new(Recoding::PerValue(found.recoding)), quality: found.quality, notes }
}
