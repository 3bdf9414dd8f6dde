#![doc = include_str!("t_closeness.md")]

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::group::{Demand, Group};
use crate::privacy::distance::Reference;
use crate::privacy::parameters::needed;
use crate::privacy::{Closure, Distance, Fraction, Parameter, Parameters, PrivacyModel, Sensitive};

/// No group's distribution is farther than t from that of all rows, by the earth mover's distance.
///
/// Merge-closed by rows and against one reference: the distance is convex, and a union's distribution lies between those of
/// its parts.
#[derive(Debug, Clone)]
pub struct Closeness {
    sensitive: Sensitive,
    t: Fraction,
    distance: Arc<Distance>,
    reference: Reference,
}

impl Closeness {
    pub(super) fn new(parameters: &Parameters) -> Result<Self> {
        let t = needed(parameters.t, Parameter::T)?;
        if t > Fraction::ONE {
            return Err(Error::input(format!("t is {t}, which is above 1"))
                .with_hint("distances are from 0 (as in all rows) to 1; common choices are 0.1 to 0.3"));
        }
        let sensitive = parameters.sensitive()?;
        let distance = parameters.distance.clone().unwrap_or_else(Distance::equal);
        let reference = Reference::new(&distance, sensitive.overall())?;
        Ok(Closeness { sensitive, t, distance: Arc::new(distance), reference })
    }
}

impl PrivacyModel for Closeness {
    fn describe(&self) -> String {
        format!("{}-closeness of `{}` by {} distances", self.t, self.sensitive.name(), self.distance.name())
    }

    fn closure(&self) -> Closure {
        self.sensitive.closure_of_shares()
    }

    fn demand(&self) -> Demand {
        self.sensitive.demand()
    }

    fn admits(&self, group: Group<'_>) -> Result<bool> {
        let (part, of) = self.reference.distance(&self.sensitive.counts(group)?)?;
        Ok(self.t.compare(part, of).is_le())
    }

    fn compares_with(&self) -> Option<&Sensitive> {
        Some(&self.sensitive)
    }

    fn compared_with(&self, counts: &[u64]) -> Result<Option<Box<dyn PrivacyModel>>> {
        let reference = Reference::new(&self.distance, counts)?;
        Ok(Some(Box::new(Closeness { reference, ..self.clone() })))
    }
}
