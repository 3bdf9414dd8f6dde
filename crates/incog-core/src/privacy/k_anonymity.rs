#![doc = include_str!("k_anonymity.md")]

use crate::error::{Error, Result};
use crate::frequency::FrequencySet;
use crate::group::{Demand, Group};
use crate::privacy::{Closure, Model, Parameter, ParameterKind, Parameters, PrivacyModel, Unit};
use crate::registry::{Entry, Status};

/// The model in the registry.
pub(super) const ENTRY: Entry<Model> = Entry {
    name: "k-anonymity",
    summary: "every person looks like at least k - 1 others",
    reference: "Samarati, Sweeney: Protecting privacy when disclosing information, 1998",
    doc: include_str!("k_anonymity.md"),
    status: Status::Preview,
    item: Model {
        required: &[K],
        optional: &[],
        build: |parameters| Ok(Box::new(KAnonymity::from_parameters(parameters)?)),
    },
};

const K: Parameter = Parameter {
    name: "k",
    kind: ParameterKind::Whole,
    expects: "a whole number from 1",
    about: "How many look alike at least.",
    samples: &["1", "2", "3", "5"],
};

/// Groups of at least k.
///
/// Absorbing: a group of k stays one of at least k whatever joins it, rows or persons.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KAnonymity {
    k: u64,
    unit: Unit,
}

impl KAnonymity {
    /// Groups of at least `k` rows.
    pub fn new(k: u64) -> Result<Self> {
        if k == 0 {
            return Err(Error::input("k is 0")
                .with_hint("k = 1 asks for nothing; common choices are 3, 5, 11 and 20"));
        }
        Ok(KAnonymity { k, unit: Unit::Rows })
    }

    pub(super) fn from_parameters(parameters: &Parameters) -> Result<Self> {
        let k = parameters.whole(&K)?;
        match parameters.unit {
            Unit::Rows => KAnonymity::new(k),
            Unit::Persons => KAnonymity::of_persons(k),
        }
    }

    /// Groups of at least `k` distinct persons, where one person may have several rows.
    pub fn of_persons(k: u64) -> Result<Self> {
        Ok(KAnonymity { unit: Unit::Persons, ..KAnonymity::new(k)? })
    }
}

impl PrivacyModel for KAnonymity {
    fn describe(&self) -> String {
        format!("{}-anonymity", self.k)
    }

    fn closure(&self) -> Closure {
        Closure::Absorbing
    }

    fn demand(&self) -> Demand {
        Demand { persons: self.unit == Unit::Persons, ..Demand::default() }
    }

    fn admits(&self, group: Group<'_>) -> Result<bool> {
        Ok(match self.unit {
            Unit::Rows => group.rows() >= self.k,
            // Persons are demanded, so they are counted.
            Unit::Persons => group.persons().is_some_and(|persons| persons >= self.k),
        })
    }

    fn refused_rows(&self, set: &FrequencySet) -> Result<u64> {
        match self.unit {
            // Without a branch: most searches spend their time on sets where some groups fail and some do not.
            Unit::Rows => {
                Ok(set.measures().rows().iter().map(|&rows| if rows < self.k { rows } else { 0 }).sum())
            }
            Unit::Persons => {
                let refused = set.measures().groups().filter(|group| group.persons().unwrap_or(0) < self.k);
                Ok(refused.map(|group| group.rows()).sum())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn k_must_be_positive() {
        assert_eq!(KAnonymity::new(0).unwrap_err().to_string(), "k is 0");
        assert_eq!(KAnonymity::of_persons(3).unwrap().describe(), "3-anonymity");
    }
}
