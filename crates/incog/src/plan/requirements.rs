//! From what a job requires beyond k to privacy models.
//!
//! Two steps, so that a typing error does not cost the time to read the data: [`check`] finds what is wrong without them
//! (unknown models, parameters that are missing or too many, numbers out of range, roles of columns), [`build`] the rest
//! (values that do not occur, thresholds that the data cannot meet). Every mistake has the line of its key; none repeats a
//! value.

use std::collections::BTreeMap;
use std::path::PathBuf;

use incog_core::privacy::{
    self, Distance, Fraction, Likeness, Model, Parameter, Parameters, PrivacyModel, Sensitive, Unit,
};
use incog_core::registry::nearest;
use incog_core::table::{Column, Table};
use incog_core::{Error, ErrorKind, Result};
use serde::{Deserialize, Serialize};

use crate::file::Stamps;
use crate::job::Mistakes;
use crate::job::{DistanceJob, HierarchyJob, Job, LikenessJob, NumberOrText, RequireJob, RoleJob};
use crate::plan::hierarchies;

/// A requirement whose model and numbers make sense.
#[derive(Debug)]
pub(crate) struct Requirement<'a> {
    /// Its number in the job, from 1.
    number: String,
    job: &'a RequireJob,
    model: &'static Model,
    column: &'a str,
    parameters: Parameters,
}

impl Requirement<'_> {
    /// The mistake that a key of the requirement makes.
    fn at(&self, job: &Job, key: &str, error: &Error) -> Error {
        job.at(&["policy", "require", &self.number, key], error)
    }

    /// The key of the number that matters most: the last of those that the model needs.
    fn main_key(&self) -> &'static str {
        self.model.required.last().map_or("model", |parameter| parameter.name())
    }
}

/// Checks all requirements of a job as far as that is possible without the data.
pub(crate) fn check<'a>(job: &'a Job, mistakes: &mut Mistakes) -> Vec<Requirement<'a>> {
    let mut requirements = Vec::new();
    for (at, require) in job.policy.require.iter().enumerate() {
        let number = (at + 1).to_string();
        if let Some(column) = &require.sensitive {
            mistakes.note(check_column(job, &number, column));
        }
        requirements.extend(mistakes.note(settle(job, number, require)));
    }
    requirements
}

fn settle<'a>(job: &Job, number: String, require: &'a RequireJob) -> Result<Requirement<'a>> {
    let at = |key: &str, error: &Error| job.at(&["policy", "require", &number, key], error);
    let mistake = |key: &str, mistake: &str, hint: &str| at(key, &Error::input(mistake).with_hint(hint));
    let name = require.model.as_str();
    let model = Model::find(name).map_err(|error| at("model", &error))?;
    if model.takes(Parameter::K) {
        return Err(mistake(
            "model",
            "`k-anonymity` is required already",
            "it is what `k` in [policy] asks for",
        ));
    }
    let given = require.given();
    if let Err(error) = model.check(name, &given) {
        let other = given.iter().find(|&&parameter| !model.takes(parameter));
        return Err(at(other.map_or("model", |parameter| parameter.name()), &error));
    }
    match (require.distance, &require.order, &require.hierarchy) {
        (Some(DistanceJob::Ordered), _, None) | (_, None, None) => {}
        (Some(DistanceJob::Hierarchical), None, Some(_)) => {}
        (_, Some(_), _) => {
            return Err(mistake("order", "`order` is for ordered distances", "write distance = \"ordered\""));
        }
        (_, None, Some(_)) => {
            let hint = "write distance = \"hierarchical\"; sensitive columns are not generalized";
            return Err(mistake("hierarchy", "`hierarchy` is for hierarchical distances", hint));
        }
    }
    if require.distance == Some(DistanceJob::Hierarchical) && require.hierarchy.is_none() {
        let hint = "give the labels of the values, for example hierarchy = { file = \"illness.csv\" }";
        return Err(mistake("distance", "`hierarchical` distances need a `hierarchy`", hint));
    }
    let mut parameters = numbers(require).map_err(|(parameter, error)| at(parameter.name(), &error))?;
    let column = require.sensitive.as_deref().unwrap_or_default();
    // The model itself says which numbers it takes: asked with a column that has no rows.
    parameters.sensitive = Some(Sensitive::counted(column, 0, Vec::new()));
    parameters.values = require.values.as_ref().map(|values| (0..values.len() as u32).collect());
    let requirement = Requirement { number, job: require, model, column, parameters };
    privacy::build(name, &requirement.parameters)
        .map_err(|error| requirement.at(job, requirement.main_key(), &error))?;
    Ok(requirement)
}

/// The parameters that need no data.
fn numbers(require: &RequireJob) -> std::result::Result<Parameters, (Parameter, Error)> {
    let mut parameters = Parameters {
        distance: require.distance.map(|_| Distance::equal()),
        likeness: require.likeness.map(|likeness| match likeness {
            LikenessJob::Basic => Likeness::Basic,
            LikenessJob::Enhanced => Likeness::Enhanced,
        }),
        ..Parameters::default()
    };
    for (parameter, text) in require.numbers() {
        let number: Fraction = text.to_string().parse().map_err(|_| {
            let error = Error::input(format!("`{}` is no number that can be read exactly", parameter.name()));
            let expected = parameter.expects();
            (parameter, error.with_hint(format!("write {expected}; also 29% or 1/3, of at most 18 digits")))
        })?;
        match parameter {
            Parameter::Alpha => parameters.alpha = Some(number),
            Parameter::L => parameters.l = Some(number),
            Parameter::C => parameters.c = Some(number),
            Parameter::T => parameters.t = Some(number),
            Parameter::Delta => parameters.delta = Some(number),
            Parameter::Beta => parameters.beta = Some(number),
            _ => return Err((parameter, Error::new(ErrorKind::Internal, "a parameter is not a number"))),
        }
    }
    Ok(parameters)
}

/// Is the column declared, and sensitive?
fn check_column(job: &Job, number: &str, column: &str) -> Result<()> {
    let key = ["policy", "require", number, "sensitive"];
    if job.policy.unit.as_deref() == Some(column) {
        return Err(job
            .mistake(&key, format!("the sensitive column `{column}` is the unit"))
            .with_hint("the unit says whom a row is about and is never released"));
    }
    match job.columns.get(column).map(|column| column.role) {
        Some(RoleJob::Sensitive) => Ok(()),
        Some(RoleJob::QuasiIdentifier) => Err(job
            .mistake(&key, format!("the sensitive column `{column}` is also a quasi-identifier"))
            .with_hint(
                "what others know of a person cannot be hidden from them: a column is one or the other",
            )),
        Some(_) => Err(job
            .mistake(&key, format!("column `{column}` is not declared as sensitive"))
            .with_hint(format!("give it role = \"sensitive\" under [columns], or --sensitive {column}"))),
        None => {
            let near = nearest(job.columns.keys().map(String::as_str), column);
            let advice = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
            Err(job
                .mistake(&key, format!("the job has no column `{column}`{advice}"))
                .with_hint("declare it under [columns] with role = \"sensitive\""))
        }
    }
}

/// The models, and the sensitive columns that they see, in the order of their positions.
#[derive(Debug, Default)]
pub(crate) struct Models {
    pub(crate) columns: Vec<String>,
    pub(crate) models: Vec<Box<dyn PrivacyModel>>,
}

/// Makes the models of checked requirements. `budget` rows may be left out, for all of them together.
pub(crate) fn build(
    job: &Job,
    requirements: &[Requirement<'_>],
    table: &Table,
    budget: u64,
    mistakes: &mut Mistakes,
) -> Models {
    let mut built = Models::default();
    for requirement in requirements {
        let position = built.columns.iter().position(|column| column == requirement.column);
        let position = position.unwrap_or_else(|| {
            built.columns.push(requirement.column.to_owned());
            built.columns.len() - 1
        });
        built.models.extend(mistakes.note(model(job, requirement, position, table, budget)));
    }
    built
}

fn model(
    job: &Job,
    requirement: &Requirement<'_>,
    position: usize,
    table: &Table,
    budget: u64,
) -> Result<Box<dyn PrivacyModel>> {
    let column = column(table, requirement.column)?;
    let mut parameters = requirement.parameters.clone();
    (parameters.unit, parameters.sensitive) = match &job.policy.unit {
        None => (Unit::Rows, Some(Sensitive::of_rows(position, column))),
        Some(unit) => {
            (Unit::Persons, Some(Sensitive::of_persons(position, column, self::column(table, unit)?)))
        }
    };
    parameters.values = values(requirement, column).map_err(|error| requirement.at(job, "values", &error))?;
    parameters.distance = distance(job, requirement, column)?;
    let model = privacy::build(&requirement.job.model, &parameters)
        .and_then(|model| model.feasible(table.n_rows() as u64, budget).map(|()| model));
    model.map_err(|error| requirement.at(job, requirement.main_key(), &error))
}

fn column<'a>(table: &'a Table, name: &str) -> Result<&'a Column> {
    table.column(name).ok_or_else(|| Error::input(format!("the data has no column `{name}`")))
}

/// The codes of the values that are named.
fn values(requirement: &Requirement<'_>, column: &Column) -> Result<Option<Vec<u32>>> {
    let Some(values) = &requirement.job.values else {
        return Ok(None);
    };
    let codes = values.iter().enumerate().map(|(at, value)| {
        column.dictionary().code(&value.to_string()).ok_or_else(|| {
            // Perhaps a typing error in somebody's secret: it is not repeated.
            Error::input(format!(
                "entry {} of `values` is none of the {} values of column `{}`",
                at + 1,
                column.dictionary().len(),
                column.name()
            ))
            .with_hint("values are compared letter by letter, as they stand in the data")
        })
    });
    codes.collect::<Result<_>>().map(Some)
}

fn distance(job: &Job, requirement: &Requirement<'_>, column: &Column) -> Result<Option<Distance>> {
    let require = requirement.job;
    match (require.distance, &require.order, &require.hierarchy) {
        (None, ..) => Ok(None),
        (Some(DistanceJob::Ordered), Some(order), _) => {
            let order: Vec<String> = order.iter().map(ToString::to_string).collect();
            Distance::by_list(column, order.iter().map(String::as_str))
                .map(Some)
                .map_err(|error| requirement.at(job, "order", &error))
        }
        (Some(DistanceJob::Ordered), None, _) => {
            let located = |error: Error| {
                let error = Error::new(error.kind(), error.to_string()).with_hint(
                    "list all values in `order`, from the lowest to the highest; or use equal distances",
                );
                requirement.at(job, "distance", &error)
            };
            Distance::by_number(column).map(Some).map_err(located)
        }
        (Some(DistanceJob::Hierarchical), _, Some(hierarchy)) => {
            let key = ["policy", "require", &requirement.number, "hierarchy"];
            let attribute =
                hierarchies::attribute_at(job, &key, requirement.column, hierarchy, column, None)?;
            Ok(Some(Distance::hierarchical(&attribute)))
        }
        (Some(DistanceJob::Equal | DistanceJob::Hierarchical), ..) => Ok(Some(Distance::equal())),
    }
}

/// The cells that a requirement speaks of, for the checker.
#[derive(Debug, Default)]
pub(crate) struct Cells {
    /// The pooled values.
    pub(crate) values: Vec<String>,
    /// The values in their order.
    pub(crate) order: Vec<String>,
    /// The labels of each value, by level.
    pub(crate) paths: Vec<Vec<String>>,
}

/// The cells of the job's requirement of this index.
pub(crate) fn cells(job: &Job, at: usize, table: &Table) -> Result<Cells> {
    let require = &job.policy.require[at];
    let texts = |list: &Option<Vec<NumberOrText>>| list.iter().flatten().map(ToString::to_string).collect();
    let mut cells = Cells { values: texts(&require.values), order: texts(&require.order), paths: Vec::new() };
    if let (Some(hierarchy), Some(name)) = (&require.hierarchy, &require.sensitive) {
        let column = column(table, name)?;
        let key = ["policy", "require", &(at + 1).to_string(), "hierarchy"];
        let attribute = hierarchies::attribute_at(job, &key, name, hierarchy, column, None)?;
        // Level 0 of a path is the value itself, also where the hierarchy may not keep it.
        let row = |(code, value): (usize, &str)| {
            let path = hierarchies::path(&attribute, code);
            std::iter::once(value.to_owned()).chain(path.into_iter().skip(1)).collect()
        };
        cells.paths = column.dictionary().values().enumerate().map(row).collect();
    }
    Ok(cells)
}

/// A requirement as the release record states it: no value, no path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RequirePart {
    /// The model's name.
    pub model: String,
    /// The sensitive column.
    pub sensitive: String,
    /// Numbers as exact fractions, names, and how many values are pooled where values are listed.
    pub parameters: BTreeMap<String, String>,
}

/// The requirements of a job, as the record states them.
pub(crate) fn parts(job: &Job) -> Result<Vec<RequirePart>> {
    job.policy.require.iter().map(part).collect()
}

/// Stands for an order that a job lists.
const LISTED: &str = "listed";

fn part(require: &RequireJob) -> Result<RequirePart> {
    let mut parameters = BTreeMap::new();
    for (parameter, text) in require.numbers() {
        let number: Fraction = text.to_string().parse()?;
        parameters.insert(parameter.name().to_owned(), number.to_string());
    }
    let distance = require.distance.map(|distance| Distance::NAMES[distance as usize].to_owned());
    let likeness = require.likeness.map(|likeness| Likeness::NAMES[likeness as usize].to_owned());
    let values = require.values.as_ref().map(|values| values.len().to_string());
    let order = require.order.as_ref().map(|_| LISTED.to_owned());
    for (key, value) in [("distance", distance), ("likeness", likeness), ("values", values), ("order", order)]
    {
        parameters.extend(value.map(|value| (key.to_owned(), value)));
    }
    Ok(RequirePart {
        model: require.model.clone(),
        sensitive: require.sensitive.clone().unwrap_or_default(),
        parameters,
    })
}

/// The hierarchies of requirements, each with its name in records and messages.
pub(crate) fn hierarchies_of(job: &Job) -> impl Iterator<Item = (String, &HierarchyJob)> {
    let requires = job.policy.require.iter().enumerate();
    requires
        .filter_map(|(at, require)| Some((format!("policy.require.{}", at + 1), require.hierarchy.as_ref()?)))
}

/// The files of all hierarchies of a job, as they are now.
pub(crate) fn stamps_of(job: &Job) -> Stamps {
    let of_columns = job.columns.values().filter_map(|column| column.hierarchy.as_ref());
    let hierarchies =
        of_columns.chain(job.policy.require.iter().filter_map(|require| require.hierarchy.as_ref()));
    let files: Vec<PathBuf> =
        hierarchies.filter_map(|hierarchy| Some(job.resolve(hierarchy.file()?))).collect();
    Stamps::of(files.iter().map(PathBuf::as_path))
}

/// Looks for the hierarchy files, of which only the names are known, in these folders, one after the other.
pub fn find_hierarchies(job: &mut Job, folders: &[PathBuf]) -> Result<()> {
    for (name, column) in &mut job.columns {
        let Some(file) = column.hierarchy.as_mut().and_then(HierarchyJob::files_mut) else {
            continue;
        };
        let Some(found) = folders.iter().map(|folder| folder.join(&*file)).find(|path| path.is_file()) else {
            return Err(Error::input(format!(
                "the hierarchy file `{}` of column `{name}` is not there",
                file.display()
            ))
            .with_hint("say in which folder it is with --hierarchies"));
        };
        *file = found;
    }
    find_required(job, folders)
}

/// Looks for the hierarchy files of requirements, of which only the names are known. What a record does not tell must be
/// there: it has no values.
fn find_required(job: &mut Job, folders: &[PathBuf]) -> Result<()> {
    for require in &mut job.policy.require {
        if require.values.is_some() || require.order.is_some() {
            return Err(Error::input(format!(
                "`{}` lists values, which a record does not tell",
                require.model
            ))
            .with_hint("give the job file that the record was made with instead of the data"));
        }
        let Some(file) = require.hierarchy.as_mut().and_then(HierarchyJob::files_mut) else {
            continue;
        };
        let Some(found) = folders.iter().map(|folder| folder.join(&*file)).find(|path| path.is_file()) else {
            return Err(Error::input(format!(
                "the hierarchy file `{}` of `{}` is not there",
                file.display(),
                require.model
            ))
            .with_hint("say in which folder it is with --hierarchies"));
        };
        *file = found;
    }
    Ok(())
}
