#![doc = include_str!("t_closeness.md")]

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::group::{Demand, Group};
use crate::privacy::distance::Reference;
use crate::privacy::{
    Choice, Closure, Distance, Fraction, Model, Parameter, ParameterKind, Parameters, PrivacyModel, Sensitive,
};
use crate::registry::{Entry, Status};

/// The model in the registry.
pub(super) const ENTRY: Entry<Model> = Entry {
    name: "t-closeness",
    summary: "sensitive values are spread in every group almost as in all rows",
    reference: "Li, Li, Venkatasubramanian: t-Closeness, ICDE 2007",
    doc: include_str!("t_closeness.md"),
    status: Status::Preview,
    item: Model {
        required: &[Parameter::SENSITIVE, T],
        optional: &[DISTANCE, ORDER, HIERARCHY],
        build: |parameters| Ok(Box::new(Closeness::new(parameters)?)),
    },
};

const T: Parameter = Parameter {
    name: "t",
    kind: ParameterKind::Number,
    expects: "a number from 0 to 1, such as 0.2",
    about: "How far a group's distribution may be from that of all rows, from 0 to 1.",
    samples: &["0", "0.1", "1/6", "0.25", "1/3", "0.4", "0.5", "2/3", "1"],
};

const DISTANCE: Parameter = Parameter {
    name: "distance",
    kind: ParameterKind::Distance(Choice {
        about: "How far the values of a sensitive column are apart.",
        names: &[
            ("equal", "All alike."),
            ("ordered", "By their places in the order."),
            ("hierarchical", "By the level at which they first have one label."),
        ],
    }),
    expects: "equal, ordered or hierarchical",
    about: "How far values are apart; equally unless given.",
    samples: &[],
};

const ORDER: Parameter = Parameter {
    name: "order",
    kind: ParameterKind::Order,
    expects: "a list of all values, from the lowest to the highest",
    about: "With `distance = \"ordered\"`: every value, from the lowest to the highest. Numbers need no list.",
    samples: &[],
};

const HIERARCHY: Parameter = Parameter {
    name: "hierarchy",
    kind: ParameterKind::Hierarchy,
    expects: "a hierarchy, written as for a column",
    about: "With `distance = \"hierarchical\"`: the labels of the values, written as for a column.",
    samples: &[],
};

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
        let t = parameters.number(&T)?;
        if t > Fraction::ONE {
            return Err(Error::input(format!("t is {t}, which is above 1"))
                .with_hint("distances are from 0 (as in all rows) to 1; common choices are 0.1 to 0.3"));
        }
        let sensitive = parameters.sensitive()?;
        let distance = parameters.distance(&DISTANCE)?.cloned().unwrap_or_else(Distance::equal);
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
