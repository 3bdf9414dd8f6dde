//! What can a model be asked for?
//!
//! The entry of a model describes each [`Parameter`] that it takes: its key in a job file, what kind of thing is written
//! there, and some samples. All that reads, checks, records or lists parameters goes by that description; no other place names
//! them. Whoever reads a job fills in [`Parameters`], as far as the job names them; [`build`] refuses what the model does
//! not take, misses what it needs, and makes the model. Text has become exact numbers and codes by then: no model parses
//! anything, and no message has a cell in it.

use std::collections::BTreeMap;

use crate::error::{Error, ErrorKind, Result};
use crate::frequency::{FrequencySource, Method, counted};
use crate::group::{Demand, Group, Measures, NOBODY, persons_of};
use crate::lattice::Grouping;
use crate::privacy::{ALL, Closure, Distance, Fraction, PrivacyModel};
use crate::registry::{Entry, find, nearest};
use crate::table::Column;

/// Something that a job may say of a model. Two parameters of one name are the same parameter, whichever models take it.
#[derive(Debug, Clone, Copy)]
pub struct Parameter {
    /// The key in a job file.
    pub name: &'static str,
    /// What is written there.
    pub kind: ParameterKind,
    /// What may be written there, for messages: "a number above 0, such as 2".
    pub expects: &'static str,
    /// What it means, for whoever writes a job.
    pub about: &'static str,
    /// Numbers that make sense, for tests of all models: some of them strict, some lax. Only numbers need samples.
    pub samples: &'static [&'static str],
}

/// What kind of thing is written for a parameter.
#[derive(Debug, Clone, Copy)]
pub enum ParameterKind {
    /// The name of the sensitive column.
    Column,
    /// A whole number.
    Whole,
    /// A number, read exactly: 0.5, 50% or 1/2.
    Number,
    /// Some values of the sensitive column.
    Values,
    /// One of some names.
    Choice(Choice),
    /// One of the names of [distances](Distance), which a parameter of kind `Order` or `Hierarchy` completes.
    Distance(Choice),
    /// All values of the sensitive column from the lowest to the highest, for ordered distances.
    Order,
    /// The labels of the values of the sensitive column, for hierarchical distances.
    Hierarchy,
}

/// Names to choose from.
#[derive(Debug, Clone, Copy)]
pub struct Choice {
    /// What is chosen.
    pub about: &'static str,
    /// Each name, and what it means.
    pub names: &'static [(&'static str, &'static str)],
}

impl Choice {
    /// The names alone.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.names.iter().map(|&(name, _)| name)
    }

    /// That name as the choice has it, if it is one.
    pub fn find(&self, name: &str) -> Option<&'static str> {
        self.names().find(|known| *known == name)
    }
}

impl Parameter {
    /// `sensitive`: the column whose values are protected.
    pub const SENSITIVE: Parameter = Parameter {
        name: "sensitive",
        kind: ParameterKind::Column,
        expects: "the name of a sensitive column",
        about: "The column whose values are protected; its role is \"sensitive\".",
        samples: &[],
    };
}

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Unit {
    /// Rows.
    #[default]
    Rows,
    /// Distinct persons, where one person may have several rows.
    Persons,
}

/// What a job says of a model.
#[derive(Debug, Clone, Default)]
pub struct Parameters {
    /// What is counted; the policy's `unit`, not a parameter of a single model.
    pub unit: Unit,
    /// The sensitive column.
    pub sensitive: Option<Sensitive>,
    /// All others, by name.
    given: BTreeMap<&'static str, Value>,
}

/// What is given for a parameter.
#[derive(Debug, Clone)]
pub enum Value {
    /// For [`ParameterKind::Whole`].
    Whole(u64),
    /// For [`ParameterKind::Number`].
    Number(Fraction),
    /// For [`ParameterKind::Values`]: their codes.
    Values(Vec<u32>),
    /// For [`ParameterKind::Choice`].
    Name(&'static str),
    /// For [`ParameterKind::Distance`].
    Distance(Distance),
}

macro_rules! into_value {
    ($($from:ty => $variant:ident),*) => {$(
        impl From<$from> for Value {
            fn from(value: $from) -> Value {
                Value::$variant(value)
            }
        }
    )*};
}
into_value!(u64 => Whole, Fraction => Number, Vec<u32> => Values, &'static str => Name, Distance => Distance);

impl Parameters {
    /// Nothing yet but what is counted.
    pub fn counting(unit: Unit) -> Self {
        Parameters { unit, ..Parameters::default() }
    }

    /// A sensitive column, counted as it is, and nothing else yet.
    pub fn of(sensitive: Sensitive) -> Self {
        Parameters { unit: sensitive.unit(), sensitive: Some(sensitive), given: BTreeMap::new() }
    }

    /// The same with one more parameter.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<Value>) -> Self {
        self.set(name, value);
        self
    }

    /// Gives a parameter.
    pub fn set(&mut self, name: &'static str, value: impl Into<Value>) {
        self.given.insert(name, value.into());
    }

    /// The names of those that are given.
    pub fn given(&self) -> impl Iterator<Item = &'static str> {
        let sensitive = self.sensitive.as_ref().map(|_| Parameter::SENSITIVE.name);
        sensitive.into_iter().chain(self.given.keys().copied())
    }

    /// The sensitive column, which the model needs.
    pub fn sensitive(&self) -> Result<Sensitive> {
        self.sensitive.clone().ok_or_else(|| missing(&Parameter::SENSITIVE))
    }

    /// A number that the model needs.
    pub fn number(&self, parameter: &Parameter) -> Result<Fraction> {
        match self.given.get(parameter.name) {
            Some(Value::Number(number)) => Ok(*number),
            Some(Value::Whole(number)) => Ok(Fraction::from(*number)),
            Some(_) => Err(of_another_kind()),
            None => Err(missing(parameter)),
        }
    }

    /// A whole number that the model needs.
    pub fn whole(&self, parameter: &Parameter) -> Result<u64> {
        match self.given.get(parameter.name) {
            Some(Value::Whole(number)) => Ok(*number),
            Some(_) => Err(of_another_kind()),
            None => Err(missing(parameter)),
        }
    }

    /// Some values, by their codes.
    pub fn values(&self, parameter: &Parameter) -> Result<Option<&[u32]>> {
        match self.given.get(parameter.name) {
            Some(Value::Values(values)) => Ok(Some(values)),
            Some(_) => Err(of_another_kind()),
            None => Ok(None),
        }
    }

    /// The name that was chosen.
    pub fn name(&self, parameter: &Parameter) -> Result<Option<&'static str>> {
        match self.given.get(parameter.name) {
            Some(Value::Name(name)) => Ok(Some(name)),
            Some(_) => Err(of_another_kind()),
            None => Ok(None),
        }
    }

    /// How far values are apart.
    pub fn distance(&self, parameter: &Parameter) -> Result<Option<&Distance>> {
        match self.given.get(parameter.name) {
            Some(Value::Distance(distance)) => Ok(Some(distance)),
            Some(_) => Err(of_another_kind()),
            None => Ok(None),
        }
    }
}

fn missing(parameter: &Parameter) -> Error {
    Error::input(format!("`{}` is missing", parameter.name)).with_hint(format!("give {}", parameter.expects))
}

/// Whoever filled in the parameters did not look at the kind.
fn of_another_kind() -> Error {
    Error::new(ErrorKind::Internal, "a parameter is given as what it is not")
}

/// A privacy model as the registry has it: what it takes, and how it is made.
#[derive(Debug, Clone, Copy)]
pub struct Model {
    /// Parameters that must be given. The last is the number that matters most: mistakes that are no single key's are told
    /// there.
    pub required: &'static [Parameter],
    /// Parameters that may be given.
    pub optional: &'static [Parameter],
    /// Makes the model, given what it takes.
    pub build: fn(&Parameters) -> Result<Box<dyn PrivacyModel>>,
}

impl Model {
    /// All parameters, those first that must be given.
    pub fn parameters(&self) -> impl Iterator<Item = &'static Parameter> + use<> {
        self.required.iter().chain(self.optional)
    }

    /// The parameter of that name, if the model takes it.
    pub fn parameter(&self, name: &str) -> Option<&'static Parameter> {
        self.parameters().find(|parameter| parameter.name == name)
    }

    /// Are all parameters given that the model needs, and no other? To be asked as soon as a job has been read.
    ///
    /// `name` is the model's, for the message.
    pub fn check(&self, name: &str, given: &[&str]) -> Result<()> {
        if let Some(other) = given.iter().find(|given| self.parameter(given).is_none()) {
            let taken: Vec<&str> = self.parameters().map(|parameter| parameter.name).collect();
            return Err(Error::input(format!("`{name}` takes no `{other}`"))
                .with_hint(format!("it takes: {}", taken.join(", "))));
        }
        match self.required.iter().find(|parameter| !given.contains(&parameter.name)) {
            None => Ok(()),
            Some(parameter) => Err(Error::input(format!("`{name}` needs `{}`", parameter.name))
                .with_hint(format!("give {}", parameter.expects))),
        }
    }

    /// The model of that name.
    pub fn find(name: &str) -> Result<&'static Model> {
        find(ALL, name).map(|entry| &entry.item).ok_or_else(|| {
            let names: Vec<&str> = ALL.iter().map(|entry| entry.name).collect();
            let advice = nearest(names.iter().copied(), name)
                .map_or(String::new(), |near| format!("; did you mean `{near}`?"));
            Error::input(format!("unknown privacy model `{name}`{advice}"))
                .with_hint(format!("there are: {}", names.join(", ")))
        })
    }
}

impl Entry<Model> {
    /// Makes the model.
    pub fn build(&self, parameters: &Parameters) -> Result<Box<dyn PrivacyModel>> {
        let given: Vec<&str> = parameters.given().collect();
        self.item.check(self.name, &given)?;
        (self.item.build)(parameters)
    }
}

/// Makes the model of that name.
pub fn build(name: &str, parameters: &Parameters) -> Result<Box<dyn PrivacyModel>> {
    // For the message, should there be none.
    Model::find(name)?;
    find(ALL, name).expect("just found").build(parameters)
}

/// A sensitive column: where it is, and how often each of its values occurs.
#[derive(Debug, Clone)]
pub struct Sensitive {
    name: String,
    position: usize,
    unit: Unit,
    /// By code; counts of (person, value) pairs where persons are counted.
    counts: Vec<u64>,
}

impl Sensitive {
    /// The column at `position` of the list that the [source](crate::frequency::Rows::with_sensitive) was given.
    pub fn of_rows(position: usize, column: &Column) -> Self {
        let mut counts = vec![0; column.dictionary().len()];
        for &code in column.codes() {
            counts[code as usize] += 1;
        }
        Sensitive { name: column.name().to_owned(), position, unit: Unit::Rows, counts }
    }

    /// The same where a value counts once for each person of the `unit` column who has it. What nobody has does not count.
    pub fn of_persons(position: usize, column: &Column, unit: &Column) -> Self {
        let rows = column.codes().iter().copied().zip(persons_of(unit));
        let mut pairs: Vec<(u32, u32)> = rows.filter(|&(_, person)| person != NOBODY).collect();
        pairs.sort_unstable();
        pairs.dedup();
        let mut counts = vec![0; column.dictionary().len()];
        for (code, _) in pairs {
            counts[code as usize] += 1;
        }
        Sensitive { name: column.name().to_owned(), position, unit: Unit::Persons, counts }
    }

    /// Counts of rows by code, from a source that has no column in memory.
    pub fn counted(name: impl Into<String>, position: usize, counts: Vec<u64>) -> Self {
        Sensitive { name: name.into(), position, unit: Unit::Rows, counts }
    }

    /// The same as [`of_rows`](Self::of_rows) or [`of_persons`](Self::of_persons) where there is no column in memory: asks the
    /// source once, for all records together. `n_values` is how many values the column's dictionary has.
    ///
    /// Fails when the source cannot count the column, or counts a value beyond those.
    pub fn of_source(
        source: &dyn FrequencySource,
        name: impl Into<String>,
        position: usize,
        unit: Unit,
        n_values: usize,
    ) -> Result<Self> {
        let uncounted = Sensitive { name: name.into(), position, unit, counts: vec![0; n_values] };
        let set = counted(source, &Grouping::NOTHING, &uncounted.demand(), Method::Auto)?;
        let everybody = 0..set.n_groups();
        Ok(Sensitive { counts: uncounted.counts_in(set.measures(), everybody)?, ..uncounted })
    }

    /// The column's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where the column stands in the list that the source was given.
    pub(crate) fn position(&self) -> usize {
        self.position
    }

    /// What is counted.
    pub fn unit(&self) -> Unit {
        self.unit
    }

    /// What merging leaves of a bound on shares: counted by persons nothing, since a person may be ill in one group and well
    /// in another.
    pub fn closure_of_shares(&self) -> Closure {
        match self.unit {
            Unit::Rows => Closure::Merge,
            Unit::Persons => Closure::None,
        }
    }

    /// How often each value occurs, by code.
    pub fn overall(&self) -> &[u64] {
        &self.counts
    }

    /// How many different values occur.
    pub fn n_values(&self) -> u64 {
        self.counts.iter().filter(|&&n| n > 0).count() as u64
    }

    /// What a group must tell for [`counts`](Self::counts) and [`size`](Self::size).
    pub fn demand(&self) -> Demand {
        match self.unit {
            Unit::Rows => Demand { histograms: vec![self.position], ..Demand::default() },
            Unit::Persons => {
                Demand { persons: true, persons_by_value: vec![self.position], ..Demand::default() }
            }
        }
    }

    /// What a group must tell of its rows.
    pub fn demand_of_rows(&self) -> Demand {
        Demand { histograms: vec![self.position], ..Demand::default() }
    }

    /// The values of a group's rows, sorted by code.
    pub(super) fn row_counts<'a>(&self, group: Group<'a>) -> Result<&'a [(u32, u64)]> {
        group.histogram(self.position)
    }

    /// How often a group has each of its values, sorted by code.
    pub fn counts<'a>(&self, group: Group<'a>) -> Result<std::borrow::Cow<'a, [(u32, u64)]>> {
        Ok(match self.unit {
            Unit::Rows => group.histogram(self.position)?.into(),
            Unit::Persons => group.persons_by_value(self.position)?.into(),
        })
    }

    /// How large a group is.
    pub fn size(&self, group: Group<'_>) -> u64 {
        match self.unit {
            Unit::Rows => group.rows(),
            Unit::Persons => group.size(),
        }
    }

    /// How many of a group have one of these values, which are sorted.
    pub fn pooled(&self, group: Group<'_>, values: &[u32]) -> Result<u64> {
        let is_meant = |value: &u32| values.binary_search(value).is_ok();
        match self.unit {
            Unit::Rows => {
                let counts = group.histogram(self.position)?.iter();
                Ok(counts.filter(|(value, _)| is_meant(value)).map(|&(_, n)| n).sum())
            }
            Unit::Persons => {
                // A person with two of the values is one person.
                let mut persons: Vec<u32> = group
                    .values_with_persons(self.position)?
                    .filter(|(value, _)| is_meant(value))
                    .map(|(_, person)| person)
                    .collect();
                persons.sort_unstable();
                persons.dedup();
                Ok(persons.len() as u64)
            }
        }
    }

    /// How often each value occurs in some of the groups together.
    pub(super) fn counts_in(
        &self,
        measures: &Measures,
        groups: impl Iterator<Item = usize>,
    ) -> Result<Vec<u64>> {
        let mut counts = vec![0; self.counts.len()];
        let mut pairs = Vec::new();
        for group_idx in groups {
            let group = measures.group(group_idx);
            match self.unit {
                Unit::Rows => {
                    for &(value, n) in group.histogram(self.position)? {
                        *at(&mut counts, value)? += n;
                    }
                }
                Unit::Persons => pairs.extend(group.values_with_persons(self.position)?),
            }
        }
        // A person may have rows with one value in several groups.
        pairs.sort_unstable();
        pairs.dedup();
        for (value, _) in pairs {
            *at(&mut counts, value)? += 1;
        }
        Ok(counts)
    }

    /// Is ℓ at least 1, and can a group have ℓ values?
    pub fn check_l(&self, l: Fraction) -> Result<()> {
        if l < Fraction::ONE {
            return Err(Error::input(format!("l is {l}"))
                .with_hint("l = 1 asks for nothing; it counts the values of a group"));
        }
        let n_values = self.n_values();
        // Without rows nobody is exposed.
        if n_values > 0 && l > Fraction::from(n_values) {
            return Err(Error::input(format!(
                "l is {l}, but column `{}` has only {n_values} different values",
                self.name
            ))
            .with_hint(format!("choose l of at most {n_values}")));
        }
        Ok(())
    }
}

/// How often each value occurs in the rows that groups are compared with.
#[derive(Debug, Clone)]
pub(super) struct Overall {
    counts: Vec<u64>,
    /// Their sum.
    pub(super) size: u128,
    /// How many values occur.
    pub(super) n_values: usize,
}

impl Overall {
    /// From counts by code.
    pub(super) fn new(counts: &[u64]) -> Self {
        let occurring = counts.iter().filter(|&&n| n > 0);
        Overall {
            counts: counts.to_vec(),
            size: occurring.clone().map(|&n| u128::from(n)).sum(),
            n_values: occurring.count(),
        }
    }

    /// How often a value occurs that some group has.
    pub(super) fn count(&self, value: u32) -> Result<u64> {
        self.counts.get(value as usize).copied().filter(|&n| n > 0).ok_or_else(super::unknown_value)
    }
}

fn at(counts: &mut [u64], value: u32) -> Result<&mut u64> {
    counts.get_mut(value as usize).ok_or_else(super::unknown_value)
}
