//! What can a model be asked for?
//!
//! Each model lists the [`Parameter`]s that it takes. Whoever reads a job fills in [`Parameters`], as far as the job
//! names them; [`build`] refuses what the model does not take, misses what it needs, and makes the model. Text has
//! become exact numbers and codes by then: no model parses anything, and no message has a cell in it.

use crate::error::{Error, Result};
use crate::frequency::{FrequencySource, Method, counted};
use crate::group::{Demand, Group, Measures, NOBODY, persons_of};
use crate::lattice::Grouping;
use crate::privacy::{ALL, Closure, Distance, Fraction, Likeness, PrivacyModel};
use crate::registry::{find, nearest};
use crate::table::Column;

/// Something that a job may say of a model; the name is the key there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parameter {
    /// `k`: how many look alike at least.
    K,
    /// `sensitive`: the column whose values are protected.
    Sensitive,
    /// `alpha`: the greatest share of a value in a group.
    Alpha,
    /// `values`: the values that `alpha` is about, as one.
    Values,
    /// `l`: how many values a group has, in the sense of the model.
    L,
    /// `c`: how many times as frequent as the rare ones the most frequent value may be.
    C,
    /// `t`: how far a group may be from all rows.
    T,
    /// `distance`: how far values are apart.
    Distance,
    /// `delta`: how far the logarithm of a share may move.
    Delta,
    /// `beta`: by what part of itself a share may grow.
    Beta,
    /// `likeness`: which of the two bounds by `beta`.
    Likeness,
}

impl Parameter {
    /// All parameters.
    pub const ALL: [Parameter; 11] = [
        Parameter::K,
        Parameter::Sensitive,
        Parameter::Alpha,
        Parameter::Values,
        Parameter::L,
        Parameter::C,
        Parameter::T,
        Parameter::Distance,
        Parameter::Delta,
        Parameter::Beta,
        Parameter::Likeness,
    ];

    /// The key in a job file.
    pub fn name(self) -> &'static str {
        match self {
            Parameter::K => "k",
            Parameter::Sensitive => "sensitive",
            Parameter::Alpha => "alpha",
            Parameter::Values => "values",
            Parameter::L => "l",
            Parameter::C => "c",
            Parameter::T => "t",
            Parameter::Distance => "distance",
            Parameter::Delta => "delta",
            Parameter::Beta => "beta",
            Parameter::Likeness => "likeness",
        }
    }

    /// What may be written there.
    pub fn expects(self) -> &'static str {
        match self {
            Parameter::K => "a whole number from 1",
            Parameter::Sensitive => "the name of a sensitive column",
            Parameter::Alpha => "a number above 0 and at most 1, such as 0.5",
            Parameter::Values => "a list of values of the sensitive column",
            Parameter::L => "a number from 1, such as 3",
            Parameter::C => "a number above 0, such as 2",
            Parameter::T => "a number from 0 to 1, such as 0.2",
            Parameter::Distance => "equal, ordered or hierarchical",
            Parameter::Delta => "a number above 0, such as 1.5",
            Parameter::Beta => "a number above 0, such as 2",
            Parameter::Likeness => "basic or enhanced",
        }
    }
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
    /// k.
    pub k: Option<u64>,
    /// α.
    pub alpha: Option<Fraction>,
    /// The codes of the values that α is about.
    pub values: Option<Vec<u32>>,
    /// ℓ.
    pub l: Option<Fraction>,
    /// c.
    pub c: Option<Fraction>,
    /// t.
    pub t: Option<Fraction>,
    /// How far values are apart; all equally unless given.
    pub distance: Option<Distance>,
    /// δ.
    pub delta: Option<Fraction>,
    /// β.
    pub beta: Option<Fraction>,
    /// Which bound; the enhanced one unless given.
    pub likeness: Option<Likeness>,
}

impl Parameters {
    /// Those that were given.
    pub fn given(&self) -> impl Iterator<Item = Parameter> {
        Parameter::ALL.into_iter().filter(|parameter| match parameter {
            Parameter::K => self.k.is_some(),
            Parameter::Sensitive => self.sensitive.is_some(),
            Parameter::Alpha => self.alpha.is_some(),
            Parameter::Values => self.values.is_some(),
            Parameter::L => self.l.is_some(),
            Parameter::C => self.c.is_some(),
            Parameter::T => self.t.is_some(),
            Parameter::Distance => self.distance.is_some(),
            Parameter::Delta => self.delta.is_some(),
            Parameter::Beta => self.beta.is_some(),
            Parameter::Likeness => self.likeness.is_some(),
        })
    }

    /// The sensitive column, which the model needs.
    pub(super) fn sensitive(&self) -> Result<Sensitive> {
        self.sensitive.clone().ok_or_else(|| missing(Parameter::Sensitive))
    }
}

/// The number that a model needs.
pub(super) fn needed<T>(value: Option<T>, parameter: Parameter) -> Result<T> {
    value.ok_or_else(|| missing(parameter))
}

fn missing(parameter: Parameter) -> Error {
    Error::input(format!("`{}` is missing", parameter.name()))
        .with_hint(format!("give {}", parameter.expects()))
}

/// A privacy model as the registry has it: what it takes, and how it is made.
#[derive(Debug, Clone, Copy)]
pub struct Model {
    /// Parameters that must be given.
    pub required: &'static [Parameter],
    /// Parameters that may be given.
    pub optional: &'static [Parameter],
    pub(super) build: fn(&Parameters) -> Result<Box<dyn PrivacyModel>>,
}

impl Model {
    /// Does the model take the parameter?
    pub fn takes(&self, parameter: Parameter) -> bool {
        self.required.contains(&parameter) || self.optional.contains(&parameter)
    }

    /// Are all parameters given that the model needs, and no other? To be asked as soon as a job has been read.
    ///
    /// `name` is the model's, for the message.
    pub fn check(&self, name: &str, given: &[Parameter]) -> Result<()> {
        if let Some(other) = given.iter().find(|&&parameter| !self.takes(parameter)) {
            let taken: Vec<&str> =
                self.required.iter().chain(self.optional).map(|parameter| parameter.name()).collect();
            return Err(Error::input(format!("`{name}` takes no `{}`", other.name()))
                .with_hint(format!("it takes: {}", taken.join(", "))));
        }
        match self.required.iter().find(|parameter| !given.contains(parameter)) {
            None => Ok(()),
            Some(parameter) => Err(Error::input(format!("`{name}` needs `{}`", parameter.name()))
                .with_hint(format!("give {}", parameter.expects()))),
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

/// Makes the model of that name.
pub fn build(name: &str, parameters: &Parameters) -> Result<Box<dyn PrivacyModel>> {
    let model = Model::find(name)?;
    let given: Vec<Parameter> = parameters.given().collect();
    model.check(name, &given)?;
    (model.build)(parameters)
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
    pub(super) fn closure_of_shares(&self) -> Closure {
        match self.unit {
            Unit::Rows => Closure::Merge,
            Unit::Persons => Closure::None,
        }
    }

    /// How often each value occurs, by code.
    pub(super) fn overall(&self) -> &[u64] {
        &self.counts
    }

    /// How many different values occur.
    pub(super) fn n_values(&self) -> u64 {
        self.counts.iter().filter(|&&n| n > 0).count() as u64
    }

    /// What a group must tell for [`counts`](Self::counts) and [`size`](Self::size).
    pub(super) fn demand(&self) -> Demand {
        match self.unit {
            Unit::Rows => Demand { histograms: vec![self.position], ..Demand::default() },
            Unit::Persons => {
                Demand { persons: true, persons_by_value: vec![self.position], ..Demand::default() }
            }
        }
    }

    /// What a group must tell of its rows.
    pub(super) fn demand_of_rows(&self) -> Demand {
        Demand { histograms: vec![self.position], ..Demand::default() }
    }

    /// The values of a group's rows, sorted by code.
    pub(super) fn row_counts<'a>(&self, group: Group<'a>) -> Result<&'a [(u32, u64)]> {
        group.histogram(self.position)
    }

    /// How often a group has each of its values, sorted by code.
    pub(super) fn counts<'a>(&self, group: Group<'a>) -> Result<std::borrow::Cow<'a, [(u32, u64)]>> {
        Ok(match self.unit {
            Unit::Rows => group.histogram(self.position)?.into(),
            Unit::Persons => group.persons_by_value(self.position)?.into(),
        })
    }

    /// How large a group is.
    pub(super) fn size(&self, group: Group<'_>) -> u64 {
        match self.unit {
            Unit::Rows => group.rows(),
            Unit::Persons => group.size(),
        }
    }

    /// How many of a group have one of these values, which are sorted.
    pub(super) fn pooled(&self, group: Group<'_>, values: &[u32]) -> Result<u64> {
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

    /// Is ℓ at least 1, and can a group have so many values?
    pub(super) fn check_l(&self, l: Fraction) -> Result<()> {
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
