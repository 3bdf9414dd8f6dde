//! A privacy model and its parameters as a job would write them: text.
//!
//! Read twice: [`Require::build`] makes the engine's model of it, [`naive::admits`](crate::naive::admits) takes it at its word.

use std::collections::BTreeMap;

use incog_core::Result;
use incog_core::hierarchy::{Attribute, ExplicitHierarchy};
use incog_core::privacy::{
    self, Distance, Fraction, ParameterKind, Parameters, PrivacyModel, Sensitive, Unit,
};
use incog_core::table::{Column, Table};
use serde::Deserialize;

/// One model that is required.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
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
    /// Any other parameter, by its name: a new model needs no field of its own.
    #[serde(flatten)]
    pub others: BTreeMap<String, String>,
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

    /// The number or the name that is given for a parameter.
    pub fn text(&self, name: &str) -> Option<&str> {
        let known = match name {
            "alpha" => &self.alpha,
            "l" => &self.l,
            "c" => &self.c,
            "t" => &self.t,
            "distance" => &self.distance,
            "delta" => &self.delta,
            "beta" => &self.beta,
            "likeness" => &self.likeness,
            _ => return self.others.get(name).map(String::as_str),
        };
        known.as_deref()
    }

    /// The names of all numbers and names that are given.
    fn given(&self) -> impl Iterator<Item = &str> {
        let known = ["alpha", "l", "c", "t", "distance", "delta", "beta", "likeness"];
        let known = known.into_iter().filter(|name| self.text(name).is_some());
        known.chain(self.others.keys().map(String::as_str))
    }

    /// The parameters as a record states them: text, and that a list is there.
    pub fn stated(&self) -> BTreeMap<String, String> {
        let texts = self.given().map(|name| (name, self.text(name).unwrap().to_owned()));
        let values = self.values.as_ref().map(|values| ("values", values.len().to_string()));
        let is_ordered = self.distance.as_deref() == Some("ordered");
        let order = self.order.as_ref().filter(|_| is_ordered).map(|_| ("order", "listed".to_owned()));
        texts.chain(values).chain(order).map(|(name, text)| (name.to_owned(), text)).collect()
    }

    /// The engine's parameters; `columns` are the sensitive ones in the order in which the source has them. What each text
    /// means is what the models' entries say of the parameter.
    ///
    /// Text that is no number panics: it is a mistake of the test.
    pub fn parameters(&self, table: &Table, columns: &[&str], unit: Option<&str>) -> Result<Parameters> {
        let mut parameters = Parameters::counting(if unit.is_some() { Unit::Persons } else { Unit::Rows });
        if let Some(k) = self.k {
            parameters.set("k", k);
        }
        let column = self.sensitive.as_ref().map(|name| table.column(name).unwrap());
        if let (Some(column), Some(name)) = (column, &self.sensitive) {
            let position = columns.iter().position(|column| column == name).unwrap();
            parameters.sensitive = Some(match unit {
                None => Sensitive::of_rows(position, column),
                Some(unit) => Sensitive::of_persons(position, column, table.column(unit).unwrap()),
            });
        }
        for name in self.given() {
            let text = self.text(name).unwrap();
            let known = privacy::parameters().into_iter().find(|parameter| parameter.name == name);
            let parameter = known.unwrap_or_else(|| panic!("no model takes `{name}`"));
            match parameter.kind {
                ParameterKind::Whole => parameters.set(parameter.name, text.parse::<u64>().unwrap()),
                ParameterKind::Number => parameters.set(parameter.name, text.parse::<Fraction>().unwrap()),
                ParameterKind::Choice(choice) => parameters.set(parameter.name, choice.find(text).unwrap()),
                ParameterKind::Distance(_) => {
                    if let Some(column) = column {
                        parameters.set(parameter.name, self.distance(text, column)?);
                    }
                }
                ParameterKind::Column
                | ParameterKind::Values
                | ParameterKind::Order
                | ParameterKind::Hierarchy => panic!("`{name}` is no text"),
            }
        }
        if let (Some(values), Some(column)) = (&self.values, column) {
            let code = |value: &String| column.dictionary().code(value).expect("the value occurs");
            parameters.set("values", values.iter().map(code).collect::<Vec<u32>>());
        }
        Ok(parameters)
    }

    fn distance(&self, name: &str, column: &Column) -> Result<Distance> {
        match (name, &self.order) {
            ("equal", _) => Ok(Distance::equal()),
            ("ordered", None) => Distance::by_number(column),
            ("ordered", Some(order)) => Distance::by_list(column, order.iter().map(String::as_str)),
            ("hierarchical", _) => {
                let mut rows = ExplicitHierarchy::new(column.name(), "require");
                for (at, row) in self.hierarchy.iter().flatten().enumerate() {
                    rows.push(at as u64 + 1, row.iter().map(String::as_str))?;
                }
                Ok(Distance::hierarchical(&Attribute::bind(column, rows.finish()?, "require")?))
            }
            (other, _) => panic!("there is no distance {other}"),
        }
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
