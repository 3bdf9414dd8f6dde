#![doc = include_str!("distinct_l.md")]

use crate::error::{Error, Result};
use crate::group::{Demand, Group};
use crate::privacy::{Closure, Model, Parameter, ParameterKind, Parameters, PrivacyModel, Sensitive};
use crate::registry::{Entry, Status};

/// The model in the registry.
pub(super) const ENTRY: Entry<Model> = Entry {
    name: "distinct-l",
    summary: "every group has at least l different sensitive values",
    reference: "Machanavajjhala, Gehrke, Kifer, Venkitasubramaniam: l-Diversity, ICDE 2006",
    doc: include_str!("distinct_l.md"),
    status: Status::Preview,
    item: Model {
        required: &[Parameter::SENSITIVE, L],
        optional: &[],
        build: |parameters| Ok(Box::new(DistinctDiversity::new(parameters)?)),
    },
};

pub(super) const L: Parameter = Parameter {
    name: "l",
    kind: ParameterKind::Number,
    expects: "a number from 1, such as 3",
    about: "How many values a group has, in the sense of the model.",
    samples: &["1", "2", "3"],
};

/// Every group has at least ℓ different values.
///
/// Absorbing: values of a group are not lost when others join it. It makes no difference whether rows or persons have
/// them; values of rows that are about nobody are none, where persons count.
#[derive(Debug, Clone)]
pub struct DistinctDiversity {
    sensitive: Sensitive,
    l: u64,
}

impl DistinctDiversity {
    pub(super) fn new(parameters: &Parameters) -> Result<Self> {
        let l = parameters.number(&L)?;
        let sensitive = parameters.sensitive()?;
        sensitive.check_l(l)?;
        let l = l.whole().ok_or_else(|| {
            Error::input(format!("l is {l}, not a whole number"))
                .with_hint("`distinct-l` counts values; `entropy-l` takes any number from 1")
        })?;
        Ok(DistinctDiversity { sensitive, l })
    }
}

impl PrivacyModel for DistinctDiversity {
    fn describe(&self) -> String {
        format!("distinct {}-diversity of `{}`", self.l, self.sensitive.name())
    }

    fn closure(&self) -> Closure {
        Closure::Absorbing
    }

    fn demand(&self) -> Demand {
        self.sensitive.demand_of_rows()
    }

    fn admits(&self, group: Group<'_>) -> Result<bool> {
        Ok(self.sensitive.row_counts(group)?.len() as u64 >= self.l)
    }
}
