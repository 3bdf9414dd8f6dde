#![doc = include_str!("delta_disclosure.md")]

use crate::error::{Error, Result};
use crate::group::{Demand, Group};
use crate::privacy::parameters::Overall;
use crate::privacy::{
    Closure, Fraction, Model, Parameter, ParameterKind, Parameters, PrivacyModel, Sensitive,
};
use crate::registry::{Entry, Status};

/// The model in the registry.
pub(super) const ENTRY: Entry<Model> = Entry {
    name: "delta-disclosure",
    summary: "no share of a sensitive value moves by a factor of e^delta",
    reference: "Brickell, Shmatikov: The cost of privacy, KDD 2008",
    doc: include_str!("delta_disclosure.md"),
    status: Status::Preview,
    item: Model {
        required: &[Parameter::SENSITIVE, DELTA],
        optional: &[],
        build: |parameters| Ok(Box::new(DeltaDisclosure::new(parameters)?)),
    },
};

const DELTA: Parameter = Parameter {
    name: "delta",
    kind: ParameterKind::Number,
    expects: "a number above 0, such as 1.5",
    about: "How far the logarithm of a share may move.",
    samples: &["0.1", "0.5", "1", "1.5", "3"],
};

/// Floats are off by far less than this part of e^δ.
const MARGIN: f64 = 1e-12;
/// e to this is more than a share can grow: tables have fewer rows.
const MAX_DELTA: f64 = 40.0;

/// In every group every value's share is less than e^δ times as great or as small as in all rows.
///
/// e^δ is irrational and is replaced by a fraction just below it, so a group is refused that misses the threshold by a
/// part in 10¹²; all else is decided exactly. Merge-closed by rows and against one reference: a union's share lies between
/// those of its parts.
#[derive(Debug, Clone)]
pub struct DeltaDisclosure {
    sensitive: Sensitive,
    delta: Fraction,
    /// Just below e^δ, and at least 1.
    most: Fraction,
    overall: Overall,
}

impl DeltaDisclosure {
    pub(super) fn new(parameters: &Parameters) -> Result<Self> {
        let delta = parameters.number(&DELTA)?;
        if delta.is_zero() {
            return Err(Error::input("delta is 0").with_hint("delta is above 0, such as 1.5"));
        }
        let sensitive = parameters.sensitive()?;
        let below = Fraction::at_most(delta.to_f64().min(MAX_DELTA).exp() * (1.0 - MARGIN));
        let overall = Overall::new(sensitive.overall());
        Ok(DeltaDisclosure { most: below.max(Fraction::ONE), sensitive, delta, overall })
    }
}

impl PrivacyModel for DeltaDisclosure {
    fn describe(&self) -> String {
        format!("{}-disclosure of `{}`", self.delta, self.sensitive.name())
    }

    fn closure(&self) -> Closure {
        self.sensitive.closure_of_shares()
    }

    fn demand(&self) -> Demand {
        self.sensitive.demand()
    }

    fn admits(&self, group: Group<'_>) -> Result<bool> {
        let counts = self.sensitive.counts(group)?;
        // The logarithm of no share at all is not bounded.
        if counts.len() < self.overall.n_values {
            return Ok(false);
        }
        let size: u128 = counts.iter().map(|&(_, n)| u128::from(n)).sum();
        for &(value, n) in counts.iter() {
            let all = self.overall.count(value)?;
            let (here, there) = (u128::from(n) * self.overall.size, u128::from(all) * size);
            if self.most.compare(here.max(there), here.min(there)).is_gt() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn compares_with(&self) -> Option<&Sensitive> {
        Some(&self.sensitive)
    }

    fn compared_with(&self, counts: &[u64]) -> Result<Option<Box<dyn PrivacyModel>>> {
        Ok(Some(Box::new(DeltaDisclosure { overall: Overall::new(counts), ..self.clone() })))
    }
}
