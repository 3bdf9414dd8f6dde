//! A privacy model and its parameters as a job would write them: text.
//!
//! Read twice: [`Require::build`] makes the engine's model of it, [`naive::admits`](crate::naive::admits) takes it at its word.

use incog_core::Result;
use incog_core::hierarchy::{Attribute, ExplicitHierarchy};
use incog_core::privacy::{self, Distance, Fraction, Likeness, Parameters, PrivacyModel, Sensitive, Unit};
use incog_core::table::Table;
use serde::Deserialize;

/// One model that is required.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Require {
    /// The model's name.
    pub model: String,
    /// k.
    pub k: Option<u64>,
    /// The sensitive column.
    pub sensitive: Option<String>,
    /// α.
    pub alpha: Option<String>,
    /// The values that α is about.
    pub values: Option<Vec<String>>,
    /// ℓ.
    pub l: Option<String>,
    /// c.
    pub c: Option<String>,
    /// t.
    pub t: Option<String>,
    /// The ground distance.
    pub distance: Option<String>,
    /// The order of the values, for ordered distances; by number, if not given.
    pub order: Option<Vec<String>>,
    /// The values and their labels level by level, for hierarchical distances.
    pub hierarchy: Option<Vec<Vec<String>>>,
    /// δ.
    pub delta: Option<String>,
    /// β.
    pub beta: Option<String>,
    /// The bound by β.
    pub likeness: Option<String>,
}

impl Require {
    /// k-anonymity.
    pub fn k_anonymity(k: u64) -> Self {
        Require { model: "k-anonymity".into(), k: Some(k), ..Require::default() }
    }

    /// A model of a sensitive column, without its numbers.
    pub fn of(model: &str, sensitive: &str) -> Self {
        Require { model: model.into(), sensitive: Some(sensitive.into()), ..Require::default() }
    }

    /// The engine's parameters; `columns` are the sensitive ones in the order in which the source has them.
    ///
    /// Text that is no number panics: it is a mistake of the test.
    pub fn parameters(&self, table: &Table, columns: &[&str], unit: Option<&str>) -> Result<Parameters> {
        let number = |text: &Option<String>| text.as_ref().map(|text| text.parse::<Fraction>().unwrap());
        let mut parameters = Parameters {
            unit: if unit.is_some() { Unit::Persons } else { Unit::Rows },
            k: self.k,
            alpha: number(&self.alpha),
            l: number(&self.l),
            c: number(&self.c),
            t: number(&self.t),
            delta: number(&self.delta),
            beta: number(&self.beta),
            likeness: self.likeness.as_deref().map(|name| Likeness::parse(name).unwrap()),
            ..Parameters::default()
        };
        if let Some(name) = &self.sensitive {
            let position = columns.iter().position(|column| column == name).unwrap();
            let column = table.column(name).unwrap();
            parameters.sensitive = Some(match unit {
                None => Sensitive::of_rows(position, column),
                Some(unit) => Sensitive::of_persons(position, column, table.column(unit).unwrap()),
            });
            parameters.values = self.values.as_ref().map(|values| {
                values
                    .iter()
                    .map(|value| column.dictionary().code(value).expect("the value occurs"))
                    .collect()
            });
            parameters.distance = match self.distance.as_deref() {
                None => None,
                Some("equal") => Some(Distance::equal()),
                Some("ordered") => Some(match &self.order {
                    None => Distance::by_number(column)?,
                    Some(order) => Distance::by_list(column, order.iter().map(String::as_str))?,
                }),
                Some("hierarchical") => {
                    let mut rows = ExplicitHierarchy::new(name, "require");
                    for (at, row) in self.hierarchy.iter().flatten().enumerate() {
                        rows.push(at as u64 + 1, row.iter().map(String::as_str))?;
                    }
                    Some(Distance::hierarchical(&Attribute::bind(column, rows.finish()?, "require")?))
                }
                Some(other) => panic!("there is no distance {other}"),
            };
        }
        Ok(parameters)
    }

    /// The engine's model.
    pub fn build(
        &self,
        table: &Table,
        columns: &[&str],
        unit: Option<&str>,
    ) -> Result<Box<dyn PrivacyModel>> {
        privacy::build(&self.model, &self.parameters(table, columns, unit)?)
    }
}
