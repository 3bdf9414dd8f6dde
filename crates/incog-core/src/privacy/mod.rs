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
//!
//! | model | a group is admitted when | closure by rows |
//! |---|---|---|
//! | `k-anonymity` | it has at least k rows | absorbing |
//! | `distinct-l` | it has at least ℓ values | absorbing |
//! | `alpha-k` | no value has a greater share than α | merge |
//! | `entropy-l` | its entropy is at least ln ℓ | merge |
//! | `recursive-cl` | its first value has less than c times the rows of all from the ℓ-th on | merge |
//! | `t-closeness` | its distribution is at most t from that of all rows | merge |
//! | `delta-disclosure` | the logarithm of every share moved by less than δ | merge |
//! | `beta-likeness` | no share grew by more than β of itself | merge |
//!
//! Counted by persons, those that merge are closed under nothing: a person may be ill in one group and well in another.
//!
//! **All rows** are those of the release, for the last three. Without suppression they are those of the input. With it, see
//! [`Policy::refused`].

mod fraction;
pub(crate) mod natural;
mod distance;
mod parameters;
mod k_anonymity;
mod alpha_k;
mod distinct_l;
mod entropy_l;
mod recursive_cl;
mod t_closeness;
mod delta_disclosure;
mod beta_likeness;
pub mod combinations;
mod policy;

pub use alpha_k::AlphaDeassociation;
pub use beta_likeness::{BetaLikeness, Likeness};
pub use delta_disclosure::DeltaDisclosure;
pub use distance::Distance;
pub use distinct_l::DistinctDiversity;
pub use entropy_l::EntropyDiversity;
pub use fraction::Fraction;
pub(crate) use fraction::compare as compare_fractions;
pub use k_anonymity::KAnonymity;
pub use parameters::{Choice, Model, Parameter, ParameterKind, Parameters, Sensitive, Unit, Value, build};
pub use policy::{Judgement, Policy, Pruning};
pub use recursive_cl::RecursiveDiversity;
pub use t_closeness::Closeness;

use std::fmt::Debug;

use crate::error::{Error, ErrorKind, Result};
use crate::frequency::FrequencySet;
use crate::group::{Demand, Group};
use crate::registry::Entry;

/// What stays true when groups merge.
///
/// For a model that looks at [labels](Demand::labels), groups merge as generalizing merges them: the merged group has the more
/// general labels, or lacks those of an attribute that is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Closure {
    /// Nothing.
    None,
    /// Two admitted groups merge to an admitted one.
    Merge,
    /// An admitted group stays admitted whatever it merges with. Implies `Merge`.
    Absorbing,
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
        for group in set.groups() {
            if !self.admits(group)? {
                refused += group.rows();
            }
        }
        Ok(refused)
    }

    /// Can any recoding of a table of `n_rows` rows be admitted, with at most `budget` rows left out? Says what is in the
    /// way, where that is known before searching.
    fn feasible(&self, n_rows: u64, budget: u64) -> Result<()> {
        let _ = (n_rows, budget);
        Ok(())
    }

    /// The sensitive column whose values in all rows are compared with those of a group, if the model compares.
    fn compares_with(&self) -> Option<&Sensitive> {
        None
    }

    /// The same model where that column has these counts, by code; `None` if the model does not compare.
    fn compared_with(&self, counts: &[u64]) -> Result<Option<Box<dyn PrivacyModel>>> {
        let _ = counts;
        Ok(None)
    }
}

/// The models that a job file can name, with the one that `k = ...` stands for first.
pub const ALL: &[Entry<Model>] = &[
    k_anonymity::ENTRY,
    alpha_k::ENTRY,
    distinct_l::ENTRY,
    entropy_l::ENTRY,
    recursive_cl::ENTRY,
    t_closeness::ENTRY,
    delta_disclosure::ENTRY,
    beta_likeness::ENTRY,
];

/// Every parameter that some model takes, once, in the order of the models. The first model is not among them: `k` in `[policy]`
/// asks for it.
pub fn parameters() -> Vec<&'static Parameter> {
    let mut all: Vec<&'static Parameter> = Vec::new();
    for parameter in ALL.iter().skip(1).flat_map(|entry| entry.item.parameters()) {
        if all.iter().all(|known| known.name != parameter.name) {
            all.push(parameter);
        }
    }
    all
}

/// A group has a value, or more of it, that the rows lack with which it is compared: they are not all rows.
fn unknown_value() -> Error {
    Error::new(ErrorKind::Internal, "a group has values that the whole table lacks")
}

/// How many rows may be left out of a release.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Budget {
    /// A number of rows.
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

#[cfg(test)]
mod tests {
    use super::*;

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
