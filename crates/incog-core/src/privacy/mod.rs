//! Which groups may be published?
//!
//! A [`PrivacyModel`] looks at one group and admits or refuses it. A [`Policy`] is one or more models with one
//! joint suppression budget: a node of the lattice *holds* when the rows in refused groups are within the
//! budget, and those rows are left out of the release.
//!
//! **Closure decides pruning.** Generalizing and dropping an attribute only ever merge groups, so how a model
//! behaves under merging ([`Closure`]) decides whether a search may conclude from one node to others.
//! [`Policy::pruning`] is the only place where that is decided; pruning where it is unsound returns wrong nodes
//! silently.

mod k_anonymity;

pub use k_anonymity::KAnonymity;

use std::fmt::Debug;

use crate::error::{Error, Result};
use crate::frequency::FrequencySet;
use crate::group::{Demand, Group};
use crate::registry::{Entry, Status};

/// What stays true when groups merge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Closure {
    /// Nothing.
    None,
    /// Two admitted groups merge to an admitted one.
    Merge,
    /// An admitted group stays admitted whatever it merges with. Implies `Merge`.
    Absorbing,
}

/// May a search conclude from one node to the nodes above and below it?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pruning {
    /// A node that holds vouches for all its generalizations and for all its subsets.
    Sound,
    /// Every node must be judged for itself.
    Unsound,
}

/// Decides whether a group may be published.
pub trait PrivacyModel: Debug + Send + Sync {
    /// What this model promises, with its parameters, for messages: "5-anonymity".
    fn describe(&self) -> String;

    /// What happens to admitted groups under merging. Tests check the claim on random groups.
    fn closure(&self) -> Closure;

    /// What the model needs to know of a group beyond its rows.
    fn demand(&self) -> Demand {
        Demand::default()
    }

    /// May the group be published?
    fn admits(&self, group: Group<'_>) -> Result<bool>;

    /// How many rows are in refused groups. Overridden where there is a faster way to the same number.
    fn refused_rows(&self, set: &FrequencySet) -> Result<u64> {
        let mut refused = 0;
        for group in set.measures().groups() {
            if !self.admits(group)? {
                refused += group.rows();
            }
        }
        Ok(refused)
    }
}

/// Makes a model from its parameter.
pub type Build = fn(u64) -> Result<Box<dyn PrivacyModel>>;

/// The models that a job file can name, with the one that `k = ...` stands for first.
pub const ALL: &[Entry<Build>] = &[Entry {
    name: "k-anonymity",
    summary: "every person looks like at least k - 1 others",
    reference: "Samarati, Sweeney: Protecting privacy when disclosing information, 1998",
    doc: include_str!("k_anonymity.md"),
    status: Status::Preview,
    item: |k| Ok(Box::new(KAnonymity::new(k)?)),
}];

/// How many rows may be left out of a release.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Budget {
    /// So many rows.
    Rows(u64),
    /// A share of all rows, as an exact fraction; rounded down to rows.
    Share {
        /// Dividend, at most `of`.
        part: u64,
        /// Divisor, not 0.
        of: u64,
    },
}

impl Budget {
    /// No row may be left out.
    pub const NONE: Budget = Budget::Rows(0);

    /// Reads a count of rows (`5`) or a share (`1%`, `0.25%`), exactly.
    pub fn parse(text: &str) -> Result<Self> {
        let unreadable = || {
            Error::input("suppression is neither a count of rows nor a share")
                .with_hint("write a whole number of rows (5) or a percentage (\"1%\")")
        };
        let text = text.trim();
        let Some(percent) = text.strip_suffix('%') else {
            return text.parse().map(Budget::Rows).map_err(|_| unreadable());
        };
        let percent = percent.trim_end();
        let (whole, decimals) = percent.split_once('.').unwrap_or((percent, ""));
        let digits = format!("{whole}{decimals}");
        if whole.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) || decimals.len() > 12 {
            return Err(unreadable());
        }
        let of = 100 * 10_u64.pow(decimals.len() as u32);
        let part: u64 = digits.parse().map_err(|_| unreadable())?;
        if part > of {
            return Err(Error::input("suppression is over 100 %")
                .with_hint("at 100% every row may be left out; most releases stay below 5%"));
        }
        Ok(Budget::Share { part, of })
    }

    /// The budget in rows of a table.
    pub fn rows(&self, n_rows: u64) -> u64 {
        match *self {
            Budget::Rows(rows) => rows,
            Budget::Share { part, of } => (u128::from(n_rows) * u128::from(part) / u128::from(of)) as u64,
        }
    }
}

/// All models that a release must satisfy, and how many rows may be left out of it.
///
/// # Invariants
/// At least one model.
#[derive(Debug)]
pub struct Policy {
    models: Vec<Box<dyn PrivacyModel>>,
    budget: u64,
}

/// What a policy says of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Judgement {
    /// Are the rows in refused groups within the budget?
    pub holds: bool,
    /// Rows in refused groups: they would be suppressed.
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
        Ok(Policy { models, budget })
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
        models.join(" and ")
    }

    /// What the models need to know of a group.
    pub fn demand(&self) -> Demand {
        self.models.iter().fold(Demand::default(), |demand, model| demand.union(&model.demand()))
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

    /// Do all models admit the group?
    pub fn admits(&self, group: Group<'_>) -> Result<bool> {
        for model in &self.models {
            if !model.admits(group)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Does the node whose groups these are satisfy the policy?
    pub fn judge(&self, set: &FrequencySet) -> Result<Judgement> {
        let refused_rows = match self.models.as_slice() {
            [model] => model.refused_rows(set)?,
            _ => self.refused(set)?.iter().map(|&group_idx| set.measures().rows()[group_idx as usize]).sum(),
        };
        Ok(Judgement { holds: refused_rows <= self.budget, refused_rows })
    }

    /// The groups that some model refuses.
    pub fn refused(&self, set: &FrequencySet) -> Result<Vec<u32>> {
        let mut refused = Vec::new();
        for (group_idx, group) in set.measures().groups().enumerate() {
            if !self.admits(group)? {
                refused.push(group_idx as u32);
            }
        }
        Ok(refused)
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

    #[test]
    fn a_share_is_rounded_down_exactly() {
        let rows = |text: &str, n_rows| Budget::parse(text).unwrap().rows(n_rows);
        assert_eq!(rows("1%", 45_222), 452);
        assert_eq!(rows("0.29%", 10_000), 29, "as a float 0.29 * 100 is 28.999");
        assert_eq!(rows(" 12.5 % ", 8), 1);
        assert_eq!(rows("100%", 7), 7);
        assert_eq!(rows("5", 3), 5);
        assert_eq!(rows("100%", u64::MAX), u64::MAX);
    }

    #[test]
    fn what_is_no_budget_is_refused() {
        for text in ["", "%", "-1", "-1%", "1e2", "0.01", ".5%", "1.2.3%", "five", "1,5%", "0.1234567890123%"]
        {
            assert!(Budget::parse(text).is_err(), "{text}");
        }
        assert_eq!(Budget::parse("100.01%").unwrap_err().to_string(), "suppression is over 100 %");
    }
}
