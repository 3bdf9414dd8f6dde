#![doc = include_str!("beta_likeness.md")]

use crate::error::{Error, Result};
use crate::group::{Demand, Group};
use crate::privacy::parameters::Overall;
use crate::privacy::{
    Choice, Closure, Fraction, Model, Parameter, ParameterKind, Parameters, PrivacyModel, Sensitive,
};
use crate::registry::{Entry, Status};

/// The model in the registry.
pub(super) const ENTRY: Entry<Model> = Entry {
    name: "beta-likeness",
    summary: "no share of a sensitive value grows by more than beta of itself",
    reference: "Cao, Karras: Publishing microdata with a robust privacy guarantee, VLDB 2012",
    doc: include_str!("beta_likeness.md"),
    status: Status::Preview,
    item: Model {
        required: &[Parameter::SENSITIVE, BETA],
        optional: &[LIKENESS],
        build: |parameters| Ok(Box::new(BetaLikeness::new(parameters)?)),
    },
};

const BETA: Parameter = Parameter {
    name: "beta",
    kind: ParameterKind::Number,
    expects: "a number above 0, such as 2",
    about: "By what part of itself a share may grow.",
    samples: &["0.1", "0.5", "1", "4/3", "2", "5"],
};

const LIKENESS: Parameter = Parameter {
    name: "likeness",
    kind: ParameterKind::Choice(Choice {
        about: "Which bound beta-likeness sets.",
        names: &[
            ("basic", "A share grows by at most beta of itself."),
            (
                "enhanced",
                "Also by at most the negative logarithm of itself: frequent values are bounded too.",
            ),
        ],
    }),
    expects: "basic or enhanced",
    about: "Which bound by `beta`; the enhanced one unless given.",
    samples: &[],
};

/// Floats are off by far less than this part of a logarithm.
const MARGIN: f64 = 1e-12;
/// And by less than this part of a sum.
const ROUNDING: f64 = 1e-15;

/// Which bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Likeness {
    /// A share grows by at most β of itself.
    Basic,
    /// And by at most −ln p of itself, where p is the share: frequent values may not become near certain.
    Enhanced,
}

impl Likeness {
    /// What a job may write.
    pub const NAMES: [&str; 2] = ["basic", "enhanced"];

    /// The bound of that name.
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "basic" => Some(Likeness::Basic),
            "enhanced" => Some(Likeness::Enhanced),
            _ => None,
        }
    }

    /// The name in a job.
    pub fn name(self) -> &'static str {
        Likeness::NAMES[self as usize]
    }
}

/// In every group the share of every value is at most a bound times that in all rows.
///
/// The bound is 1 + β, exactly; for the enhanced likeness 1 − ln p if that is less, replaced by a fraction just below it.
/// Merge-closed by rows and against one reference: a union's share lies between those of its parts.
#[derive(Debug, Clone)]
pub struct BetaLikeness {
    sensitive: Sensitive,
    beta: Fraction,
    likeness: Likeness,
    overall: Overall,
}

impl BetaLikeness {
    pub(super) fn new(parameters: &Parameters) -> Result<Self> {
        let beta = parameters.number(&BETA)?;
        if beta.is_zero() {
            return Err(Error::input("beta is 0").with_hint("beta is above 0, such as 2"));
        }
        let sensitive = parameters.sensitive()?;
        let likeness = parameters.name(&LIKENESS)?.and_then(Likeness::parse).unwrap_or(Likeness::Enhanced);
        Ok(BetaLikeness { overall: Overall::new(sensitive.overall()), sensitive, beta, likeness })
    }

    /// How many times as great as in all rows a share may be that `all` have there.
    fn bound(&self, all: u64) -> Fraction {
        let basic = self.beta.plus_one();
        if self.likeness == Likeness::Basic {
            return basic;
        }
        // −ln (all/size) = ln (1 + (size − all)/all).
        let others = self.overall.size - u128::from(all);
        let grows = (others as f64 / all as f64).ln_1p() * (1.0 - MARGIN);
        let enhanced = Fraction::at_most((1.0 + grows) * (1.0 - ROUNDING)).max(Fraction::ONE);
        basic.min(enhanced)
    }
}

impl PrivacyModel for BetaLikeness {
    fn describe(&self) -> String {
        format!("{} {}-likeness of `{}`", self.likeness.name(), self.beta, self.sensitive.name())
    }

    fn closure(&self) -> Closure {
        self.sensitive.closure_of_shares()
    }

    fn demand(&self) -> Demand {
        self.sensitive.demand()
    }

    fn admits(&self, group: Group<'_>) -> Result<bool> {
        let counts = self.sensitive.counts(group)?;
        let size: u128 = counts.iter().map(|&(_, n)| u128::from(n)).sum();
        for &(value, n) in counts.iter() {
            let all = self.overall.count(value)?;
            let (here, there) = (u128::from(n) * self.overall.size, u128::from(all) * size);
            // The bound takes a logarithm; most shares have not grown.
            if here > there && self.bound(all).compare(here, there).is_gt() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn compares_with(&self) -> Option<&Sensitive> {
        Some(&self.sensitive)
    }

    fn compared_with(&self, counts: &[u64]) -> Result<Option<Box<dyn PrivacyModel>>> {
        Ok(Some(Box::new(BetaLikeness { overall: Overall::new(counts), ..self.clone() })))
    }
}
