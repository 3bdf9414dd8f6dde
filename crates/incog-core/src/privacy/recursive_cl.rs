#![doc = include_str!("recursive_cl.md")]

use crate::error::{Error, Result};
use crate::group::{Demand, Group};
use crate::privacy::distinct_l::L;
use crate::privacy::{
    Closure, Fraction, Model, Parameter, ParameterKind, Parameters, PrivacyModel, Sensitive, Unit,
};
use crate::registry::{Entry, Status};

/// The model in the registry.
pub(super) const ENTRY: Entry<Model> = Entry {
    name: "recursive-cl",
    summary: "no group's most frequent value outweighs c times its rarer ones",
    reference: "Machanavajjhala, Gehrke, Kifer, Venkitasubramaniam: l-Diversity, ICDE 2006",
    doc: include_str!("recursive_cl.md"),
    status: Status::Preview,
    item: Model {
        required: &[Parameter::SENSITIVE, C, L],
        optional: &[],
        build: |parameters| Ok(Box::new(RecursiveDiversity::new(parameters)?)),
    },
};

const C: Parameter = Parameter {
    name: "c",
    kind: ParameterKind::Number,
    expects: "a number above 0, such as 2",
    about: "How many times as frequent as the rarer ones the most frequent value may be.",
    samples: &["0.5", "1", "2", "4/3", "5"],
};

/// The most frequent value of a group is less than c times as frequent as all from the ℓ-th on, together.
///
/// Merge-closed by rows: the first of a union has at most the sum of both firsts, and what is left of the union after its
/// ℓ − 1 most frequent values has at least the sum of what is left of both.
#[derive(Debug, Clone)]
pub struct RecursiveDiversity {
    sensitive: Sensitive,
    c: Fraction,
    l: usize,
}

impl RecursiveDiversity {
    pub(super) fn new(parameters: &Parameters) -> Result<Self> {
        let (c, l) = (parameters.number(&C)?, parameters.number(&L)?);
        if c.is_zero() {
            return Err(Error::input("c is 0").with_hint("c is above 0; the greater, the weaker the demand"));
        }
        let sensitive = parameters.sensitive()?;
        sensitive.check_l(l)?;
        let l = l.whole().and_then(|l| usize::try_from(l).ok()).ok_or_else(|| {
            Error::input(format!("l is {l}, not a whole number")).with_hint("`recursive-cl` counts values")
        })?;
        Ok(RecursiveDiversity { sensitive, c, l })
    }

    /// The most frequent value's count, and that of all from the ℓ-th on.
    fn first_and_rest(&self, mut counts: Vec<u64>) -> (u64, u64) {
        counts.sort_unstable_by(|a, b| b.cmp(a));
        (counts.first().copied().unwrap_or(0), counts.iter().skip(self.l - 1).sum())
    }

    /// r₁ < c·(r_ℓ + … + r_m).
    fn holds(&self, (first, rest): (u64, u64)) -> bool {
        u128::from(first) * u128::from(self.c.denominator())
            < u128::from(self.c.numerator()) * u128::from(rest)
    }
}

impl PrivacyModel for RecursiveDiversity {
    fn describe(&self) -> String {
        format!("recursive ({}, {})-diversity of `{}`", self.c, self.l, self.sensitive.name())
    }

    fn closure(&self) -> Closure {
        self.sensitive.closure_of_shares()
    }

    fn demand(&self) -> Demand {
        self.sensitive.demand()
    }

    fn admits(&self, group: Group<'_>) -> Result<bool> {
        let counts = self.sensitive.counts(group)?.iter().map(|&(_, n)| n).collect();
        Ok(self.holds(self.first_and_rest(counts)))
    }

    /// Without suppression the groups merge to the whole table, which must be diverse then.
    fn feasible(&self, n_rows: u64, budget: u64) -> Result<()> {
        if self.sensitive.unit() == Unit::Persons || budget > 0 || n_rows == 0 {
            return Ok(());
        }
        let (first, rest) = self.first_and_rest(self.sensitive.overall().to_vec());
        if self.holds((first, rest)) {
            return Ok(());
        }
        Err(Error::input(format!(
            "c is {} and l is {}, but {first} of {n_rows} rows have the most frequent value of `{}`, and {rest} all from \
             the {}. on together",
            self.c,
            self.l,
            self.sensitive.name(),
            self.l
        ))
        .with_hint("no generalization without suppression can do better than the whole table: raise c or lower l"))
    }
}
