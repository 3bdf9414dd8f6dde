#![doc = include_str!("alpha_k.md")]

use crate::error::{Error, Result};
use crate::group::{Demand, Group};
use crate::privacy::{
    Closure, Fraction, Model, Parameter, ParameterKind, Parameters, PrivacyModel, Sensitive, Unit,
};
use crate::registry::{Entry, Status};

/// The model in the registry.
pub(super) const ENTRY: Entry<Model> = Entry {
    name: "alpha-k",
    summary: "no sensitive value has a greater share of a group than alpha",
    reference: "Wong, Li, Fu, Wang: (alpha,k)-Anonymity, KDD 2006",
    doc: include_str!("alpha_k.md"),
    status: Status::Preview,
    item: Model {
        required: &[Parameter::SENSITIVE, ALPHA],
        optional: &[VALUES],
        build: |parameters| Ok(Box::new(AlphaDeassociation::new(parameters)?)),
    },
};

const ALPHA: Parameter = Parameter {
    name: "alpha",
    kind: ParameterKind::Number,
    expects: "a number above 0 and at most 1, such as 0.5",
    about: "The greatest share of a group that a value may have: 0.5, \"50%\" or \"1/2\".",
    samples: &["0.5", "1/3", "0.25", "0.4", "2/3", "0.75", "1"],
};

const VALUES: Parameter = Parameter {
    name: "values",
    kind: ParameterKind::Values,
    expects: "a list of values of the sensitive column",
    about: "The values that `alpha` is about, as if they were one; every value for itself unless given.",
    samples: &[],
};

/// No value has a greater share of a group than α (α-deassociation).
///
/// Merge-closed by rows: the share in a union lies between the shares in its parts.
#[derive(Debug, Clone)]
pub struct AlphaDeassociation {
    sensitive: Sensitive,
    alpha: Fraction,
    /// The values that α is about, sorted, as one; every value for itself, if `None`.
    pooled: Option<Vec<u32>>,
}

impl AlphaDeassociation {
    pub(super) fn new(parameters: &Parameters) -> Result<Self> {
        let alpha = parameters.number(&ALPHA)?;
        if alpha.is_zero() || alpha > Fraction::ONE {
            return Err(Error::input(format!("alpha is {alpha}, which is not above 0 and at most 1"))
                .with_hint("alpha is the greatest share that a value may have of a group, such as 0.5"));
        }
        let pooled = parameters.values(&VALUES)?.map(|values| {
            let mut values = values.to_vec();
            values.sort_unstable();
            values.dedup();
            values
        });
        if pooled.as_ref().is_some_and(Vec::is_empty) {
            return Err(Error::input("`values` is empty").with_hint(
                "name the values that alpha is about, or leave `values` out to mean each of them",
            ));
        }
        Ok(AlphaDeassociation { sensitive: parameters.sensitive()?, alpha, pooled })
    }

    /// How many of a group have the value that matters: the pooled ones, or the most frequent.
    fn most(&self, group: Group<'_>) -> Result<u64> {
        match &self.pooled {
            Some(values) => self.sensitive.pooled(group, values),
            None => Ok(self.sensitive.counts(group)?.iter().map(|&(_, n)| n).max().unwrap_or(0)),
        }
    }

    fn is_within(&self, n: u64, of: u64) -> bool {
        u128::from(n) * u128::from(self.alpha.denominator())
            <= u128::from(self.alpha.numerator()) * u128::from(of)
    }
}

impl PrivacyModel for AlphaDeassociation {
    fn describe(&self) -> String {
        let Self { sensitive, alpha, pooled } = self;
        match pooled.as_ref().map(Vec::len) {
            None => format!("alpha {alpha} of `{}`", sensitive.name()),
            Some(1) => format!("alpha {alpha} of one value of `{}`", sensitive.name()),
            Some(n) => format!("alpha {alpha} of {n} values of `{}` together", sensitive.name()),
        }
    }

    fn closure(&self) -> Closure {
        self.sensitive.closure_of_shares()
    }

    fn demand(&self) -> Demand {
        self.sensitive.demand()
    }

    fn admits(&self, group: Group<'_>) -> Result<bool> {
        Ok(self.is_within(self.most(group)?, self.sensitive.size(group)))
    }

    /// Lemma 1 of the paper: some group has at least the share of the whole table. With a budget, the rows left out may all
    /// have the value. Persons may be ill in one group and well in another: the lemma is about rows.
    fn feasible(&self, n_rows: u64, budget: u64) -> Result<()> {
        if self.sensitive.unit() == Unit::Persons || budget >= n_rows {
            return Ok(());
        }
        let overall = self.sensitive.overall();
        let (n, who) = match &self.pooled {
            None => (overall.iter().copied().max().unwrap_or(0), "the most frequent value".to_owned()),
            Some(values) => {
                let n = values.iter().filter_map(|&value| overall.get(value as usize)).sum();
                let who = if values.len() == 1 {
                    "the given value".to_owned()
                } else {
                    format!("one of the {} given values", values.len())
                };
                (n, who)
            }
        };
        if self.is_within(n.saturating_sub(budget), n_rows - budget) {
            return Ok(());
        }
        let share = 100.0 * n as f64 / n_rows as f64;
        let left_out = match budget {
            0 => String::new(),
            _ => format!("; leaving out {budget} rows is not enough"),
        };
        Err(Error::input(format!(
            "alpha is {}, but {n} of {n_rows} rows ({share:.1} %) have {who} of `{}`{left_out}",
            self.alpha,
            self.sensitive.name()
        ))
        .with_hint(
            "some group has at least the share of the whole table, whatever is generalized: raise alpha",
        ))
    }
}
