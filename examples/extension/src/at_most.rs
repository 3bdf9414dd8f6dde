//! *At most m rows of a value*: a model with a number that no other model has, with its own entry.

use incog::Result;
use incog::unstable::engine::group::{Demand, Group};
use incog::unstable::engine::privacy::{Closure, Model, Parameter, ParameterKind, PrivacyModel, Sensitive};
use incog::unstable::engine::registry::{Entry, Status};

/// Every group has at most m rows of each value.
#[derive(Debug)]
struct AtMost {
    sensitive: Sensitive,
    m: u64,
}

const M: Parameter = Parameter {
    name: "m",
    kind: ParameterKind::Whole,
    expects: "a whole number from 1",
    about: "How many rows of a value a group may have.",
    samples: &["1", "3"],
};

/// Its entry.
pub const AT_MOST: Entry<Model> = Entry {
    name: "at-most-m",
    summary: "no group has more than m rows of a value",
    reference: "made up",
    doc: "",
    status: Status::Preview,
    item: Model {
        required: &[Parameter::SENSITIVE, M],
        optional: &[],
        build: |parameters| {
            let (sensitive, m) = (parameters.sensitive()?, parameters.whole(&M)?);
            Ok(Box::new(AtMost { sensitive, m }))
        },
    },
};

impl PrivacyModel for AtMost {
    fn describe(&self) -> String {
        format!("at most {} rows of each value of `{}`", self.m, self.sensitive.name())
    }

    fn closure(&self) -> Closure {
        Closure::None
    }

    fn demand(&self) -> Demand {
        self.sensitive.demand()
    }

    fn admits(&self, group: Group<'_>) -> Result<bool> {
        Ok(self.sensitive.counts(group)?.iter().all(|&(_, n)| n <= self.m))
    }
}
