//! What must hold of a release as a whole?
//!
//! A [`Policy`] is one or more models, on one or more sensitive columns, with one joint suppression budget. A group is
//! *refused* when some model refuses it; a node *holds* when the rows of refused groups are within the budget.
//!
//! **Models that compare with all rows.** t-closeness and its relatives compare a group with all rows: what the reader of
//! the release will see, so those of the release. Leaving groups out changes them. Hence, with a budget:
//!
//! 1. judge every group against the input;
//! 2. leave out the refused groups, and judge the others against what is left;
//! 3. repeat until no further group is refused, or the budget is exceeded. Groups once left out stay out.
//!
//! What is left then satisfies the policy against itself. The order is fixed, so every judge, the metrics and the release
//! agree. It may leave out more than would be needed: whether a smaller set would do is a search of its own.
//!
//! **Where pruning is unsound**, the absorbing part of a policy still prunes: the groups that it refuses are refused by the
//! whole policy too, so where they exceed the budget the whole policy fails ([`Policy::absorbing`]).
//!
//! **Deciding by k alone.** Choosing a node by sensitive values tells something about them. [`Policy::k_only`] is the part
//! of a policy that sees none. With it, choose a node and score it; then make the release with the whole policy
//! ([`PerLevel::new`](crate::recoding::PerLevel::new) leaves out what that refuses, and fails if it exceeds the budget). The
//! levels then do not depend on sensitive values; which groups are missing still does.
//!
//! **Combinations.** A policy may ask its k of every [few quasi-identifiers](crate::privacy::combinations) instead of all of
//! them together ([`Policy::with_combinations`]).

use std::sync::Arc;

use crate::error::{Error, ErrorKind, Result};
use crate::frequency::FrequencySet;
use crate::group::{Demand, Group, Measures};
use crate::privacy::{Closure, KAnonymity, PrivacyModel, combinations};

/// May a search conclude from one node to the nodes above and below it?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pruning {
    /// A node that holds vouches for all its generalizations and for all its subsets.
    Sound,
    /// Every node must be judged for itself.
    Unsound,
}

/// All models that a release must satisfy, and how many rows may be left out of it.
///
/// # Invariants
/// At least one model.
#[derive(Debug, Clone)]
pub struct Policy {
    models: Vec<Arc<dyn PrivacyModel>>,
    budget: u64,
    /// How many quasi-identifiers are looked at together, if not all.
    combinations: Option<usize>,
}

/// What a policy says of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Judgement {
    /// Are the rows in refused groups within the budget?
    pub holds: bool,
    /// Rows in refused groups: they would be suppressed. Where they exceed the budget, it may be more.
    pub refused_rows: u64,
}

impl Policy {
    /// k-anonymity of the rows without suppression.
    pub fn k_anonymity(k: u64) -> Result<Self> {
        Policy::new(vec![Box::new(KAnonymity::new(k)?)], 0)
    }

    /// A policy of these models; at most `budget` rows may be left out, for all of them together.
    pub fn new(models: Vec<Box<dyn PrivacyModel>>, budget: u64) -> Result<Self> {
        if models.is_empty() {
            return Err(Error::input("the policy asks for nothing").with_hint("give k in [policy]"));
        }
        Ok(Policy { models: models.into_iter().map(Arc::from).collect(), budget, combinations: None })
    }

    /// The same policy, asked of every `most` of `n_attributes` quasi-identifiers instead of all together
    /// ([`combinations`]).
    ///
    /// Fails if there are not as many, if there are too many sets of them, or if a model asks for more than how large groups are.
    pub fn with_combinations(mut self, most: usize, n_attributes: usize) -> Result<Self> {
        combinations::check(n_attributes, most)?;
        let is_of_sizes = |model: &dyn PrivacyModel| {
            let demand = model.demand();
            model.closure() == Closure::Absorbing
                && demand.histograms.is_empty()
                && demand.persons_by_value.is_empty()
        };
        if let Some(model) = self.models().find(|model| !is_of_sizes(*model)) {
            let mistake =
                format!("`combinations` is about k alone, and the policy asks for {} too", model.describe());
            return Err(Error::new(ErrorKind::Policy, mistake)
                .with_hint("leave out the other requirement, or `combinations`"));
        }
        self.combinations = Some(most);
        Ok(self)
    }

    /// How many quasi-identifiers are looked at together, if not all.
    pub fn combinations(&self) -> Option<usize> {
        self.combinations
    }

    /// The same policy with another suppression budget.
    #[must_use]
    pub fn with_budget(mut self, rows: u64) -> Self {
        self.budget = rows;
        self
    }

    /// How many rows may be left out.
    pub fn budget(&self) -> u64 {
        self.budget
    }

    /// What the policy promises, for messages.
    pub fn describe(&self) -> String {
        let models: Vec<String> = self.models.iter().map(|model| model.describe()).collect();
        match self.combinations {
            None => models.join(" and "),
            Some(most) => {
                format!("{} of every combination of at most {most} quasi-identifiers", models.join(" and "))
            }
        }
    }

    /// The models, in the order in which they were given.
    pub fn models(&self) -> impl Iterator<Item = &dyn PrivacyModel> {
        self.models.iter().map(|model| &**model)
    }

    /// What the models need to know of a group.
    pub fn demand(&self) -> Demand {
        // Combinations are of labels.
        let labels = Demand { labels: self.combinations.is_some(), ..Demand::default() };
        self.models.iter().fold(labels, |demand, model| demand.union(&model.demand()))
    }

    /// The weakest closure of the models.
    pub fn closure(&self) -> Closure {
        self.models.iter().map(|model| model.closure()).min().unwrap_or(Closure::None)
    }

    /// May a search prune?
    ///
    /// With a budget only absorbing models allow it: the rows in groups that such a model refuses can only
    /// become fewer by merging. Under a merely merge-closed model, merging an admitted group with a refused
    /// one may refuse both, so a node may hold and its generalization not.
    pub fn pruning(&self) -> Pruning {
        match (self.closure(), self.budget) {
            (Closure::Absorbing, _) | (Closure::Merge, 0) => Pruning::Sound,
            (Closure::Merge | Closure::None, _) => Pruning::Unsound,
        }
    }

    /// The absorbing models alone, with the same budget; `None` if there is none.
    ///
    /// Pruning is sound for them with any budget, and a node that fails for them fails for the whole policy.
    pub fn absorbing(&self) -> Option<Policy> {
        self.part(|model| model.closure() == Closure::Absorbing)
    }

    /// The models that see no sensitive value, k-anonymity that is, with the same budget; `None` if there is none.
    pub fn k_only(&self) -> Option<Policy> {
        self.part(|model| {
            let demand = model.demand();
            demand.histograms.is_empty() && demand.persons_by_value.is_empty()
        })
    }

    fn part(&self, belongs: impl Fn(&dyn PrivacyModel) -> bool) -> Option<Policy> {
        let models: Vec<_> = self.models.iter().filter(|model| belongs(&***model)).cloned().collect();
        (!models.is_empty()).then_some(Policy { models, ..*self })
    }

    /// Does a model compare groups with all rows of the release?
    pub fn compares(&self) -> bool {
        self.models.iter().any(|model| model.compares_with().is_some())
    }

    /// Fails if a model asks for the labels of groups: `algorithm` judges them before they have any.
    pub(crate) fn check_without_labels(&self, algorithm: &str) -> Result<()> {
        if !self.demand().labels {
            return Ok(());
        }
        let model = self.models.iter().find(|model| model.demand().labels);
        let what = format!(
            "{algorithm} cannot promise {}: it judges groups before they have labels",
            model.map_or_else(|| self.describe(), |model| model.describe())
        );
        Err(Error::new(ErrorKind::Policy, what).with_hint("choose a full-domain algorithm such as incognito"))
    }

    /// Can any recoding of a table of `n_rows` rows satisfy the policy? Fails with what is in the way, where that is known
    /// before searching.
    pub fn feasible(&self, n_rows: u64) -> Result<()> {
        self.models.iter().try_for_each(|model| model.feasible(n_rows, self.budget))
    }

    /// Do all models admit the group, as long as nothing is left out? With [`combinations`](Self::combinations) the group must be one of a
    /// combination.
    pub fn admits(&self, group: Group<'_>) -> Result<bool> {
        for model in &self.models {
            if !model.admits(group)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The fewest rows of a group that the policy admits; more than there are, if it admits none. `None` where it asks for more
    /// than numbers of rows, the more the better.
    pub(crate) fn least_admitted(&self, n_rows: u64) -> Result<Option<u64>> {
        if self.closure() != Closure::Absorbing || !self.demand().is_rows_only() {
            return Ok(None);
        }
        // Absorbing: what is admitted stays so as it grows.
        let (mut refused, mut admitted) = (0, n_rows + 1);
        while refused + 1 < admitted {
            let middle = refused + (admitted - refused) / 2;
            if self.admits(Measures::of_rows(vec![middle]).group(0))? {
                admitted = middle;
            } else {
                refused = middle;
            }
        }
        Ok(Some(admitted))
    }

    /// The rows of those groups that are refused one by one, whatever others there are.
    pub(crate) fn refused_rows_of(&self, set: &FrequencySet) -> Result<u64> {
        let mut refused = 0;
        for group in set.measures().groups() {
            refused += if self.admits(group)? { 0 } else { group.rows() };
        }
        Ok(refused)
    }

    /// Does the node whose groups these are satisfy the policy?
    pub fn judge(&self, set: &FrequencySet) -> Result<Judgement> {
        if let Some(most) = self.combinations
            && self.budget == 0
            && combinations::hold(self, set, most)?
        {
            return Ok(Judgement { holds: true, refused_rows: 0 });
        }
        let refused_rows = match self.models.as_slice() {
            [model]
                if self.combinations.is_none() && (self.budget == 0 || model.compares_with().is_none()) =>
            {
                model.refused_rows(set)?
            }
            _ => self.refused(set)?.iter().map(|&group_idx| set.measures().rows()[group_idx as usize]).sum(),
        };
        Ok(Judgement { holds: refused_rows <= self.budget, refused_rows })
    }

    /// The groups that are left out, ascending: those that some model refuses, against the input and against what is left
    /// (see above).
    pub fn refused(&self, set: &FrequencySet) -> Result<Vec<u32>> {
        if let Some(most) = self.combinations {
            return combinations::refused(self, set, most);
        }
        self.refused_of(set.measures(), |group_idx| set.group(group_idx))
    }

    /// The same for groups that are no node's: they have no labels.
    pub(crate) fn refused_among(&self, measures: &Measures) -> Result<Vec<u32>> {
        self.refused_of(measures, |group_idx| measures.group(group_idx))
    }

    fn refused_of<'a>(&self, measures: &'a Measures, group: impl Fn(usize) -> Group<'a>) -> Result<Vec<u32>> {
        let mut refused = Refused { is_refused: vec![false; measures.n_groups()], rows: 0 };
        refused.add(&group, |group| Ok(!self.admits(group)?))?;
        let mut rows_before = 0;
        while rows_before < refused.rows && refused.rows <= self.budget {
            rows_before = refused.rows;
            let against_the_rest = self.compared_with_the_rest(measures, &refused)?;
            refused.add(&group, |group| {
                for model in &against_the_rest {
                    if !model.admits(group)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            })?;
        }
        let is_refused = refused.is_refused.iter().enumerate().filter(|(_, is_refused)| **is_refused);
        Ok(is_refused.map(|(group_idx, _)| group_idx as u32).collect())
    }

    /// The models that compare, each against the groups that are not refused.
    fn compared_with_the_rest(
        &self,
        measures: &Measures,
        refused: &Refused,
    ) -> Result<Vec<Box<dyn PrivacyModel>>> {
        let mut models = Vec::new();
        for model in &self.models {
            if let Some(sensitive) = model.compares_with() {
                let rest = (0..measures.n_groups()).filter(|&group_idx| !refused.is_refused[group_idx]);
                models.extend(model.compared_with(&sensitive.counts_in(measures, rest)?)?);
            }
        }
        Ok(models)
    }
}

/// Which groups are refused so far, and their rows.
struct Refused {
    is_refused: Vec<bool>,
    rows: u64,
}

impl Refused {
    /// Adds the groups that `refuses` says.
    fn add<'a>(
        &mut self,
        group: impl Fn(usize) -> Group<'a>,
        mut refuses: impl FnMut(Group<'a>) -> Result<bool>,
    ) -> Result<()> {
        for (group_idx, is_refused) in self.is_refused.iter_mut().enumerate() {
            let group = group(group_idx);
            if !*is_refused && refuses(group)? {
                *is_refused = true;
                self.rows += group.rows();
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Claims(Closure);

    impl PrivacyModel for Claims {
        fn describe(&self) -> String {
            "a claim".into()
        }

        fn closure(&self) -> Closure {
            self.0
        }

        fn admits(&self, _: Group<'_>) -> Result<bool> {
            Ok(true)
        }
    }

    #[test]
    fn a_policy_prunes_as_far_as_its_weakest_model_allows() {
        use Closure::{Absorbing, Merge, None};
        use Pruning::{Sound, Unsound};
        let check = |closures: &[Closure], budget| {
            let models = closures.iter().map(|&closure| Box::new(Claims(closure)) as Box<dyn PrivacyModel>);
            Policy::new(models.collect(), budget).unwrap().pruning()
        };
        assert_eq!([check(&[Absorbing], 0), check(&[Absorbing], 9)], [Sound, Sound]);
        assert_eq!([check(&[Absorbing, Merge], 0), check(&[Merge, Absorbing], 9)], [Sound, Unsound]);
        assert_eq!([check(&[Merge, None, Absorbing], 0), check(&[None], 9)], [Unsound, Unsound]);
    }

    #[test]
    fn a_policy_of_no_models_is_refused() {
        assert!(Policy::new(vec![], 0).is_err());
    }
}
