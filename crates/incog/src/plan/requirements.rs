//! From what a job requires beyond k to privacy models.
//!
//! Two steps, so that a typing error does not cost the time to read the data: [`check`] finds what is wrong without them
//! (unknown models, parameters that are missing or too many, numbers out of range, roles of columns), [`build`] the rest
//! (values that do not occur, thresholds that the data cannot meet). Every mistake has the line of its key; none repeats a
//! value.
//!
//! No model and no parameter is named here: what is read for which key follows from the kind that the model's entry gives
//! it ([`ParameterKind`]).

use std::collections::BTreeMap;
use std::path::PathBuf;

use incog_core::frequency::FrequencySource;
use incog_core::privacy::{
    self, Distance, Fraction, Model, Parameter, ParameterKind, Parameters, PrivacyModel, Sensitive, Unit,
    Value,
};
use incog_core::registry::nearest;
use incog_core::table::{Column, Table};
use incog_core::{Error, Result};
use incog_verify::RequirementValues;
use serde::{Deserialize, Serialize};

use crate::file::Stamps;
use crate::job::Mistakes;
use crate::job::{HierarchyJob, Job, PUBLISH_VALUES, RequireJob, RoleJob};
use crate::plan::hierarchies;

/// A requirement whose model and numbers make sense.
#[derive(Debug)]
pub(crate) struct Requirement<'a> {
    /// Its number in the job, from 1.
    number: String,
    job: &'a RequireJob,
    model: &'static Model,
    /// All parameters that need no data.
    parameters: Parameters,
}

impl Requirement<'_> {
    /// The mistake that a key of the requirement makes.
    fn at(&self, job: &Job, key: &str, error: &Error) -> Error {
        job.at(&["policy", "require", &self.number, key], error)
    }

    /// The key of the number that matters most: the last of those that the model needs.
    fn main_key(&self) -> &'static str {
        self.model.required.last().map_or("model", |parameter| parameter.name)
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
    if name == privacy::ALL[0].name {
        return Err(mistake(
            "model",
            "`k-anonymity` is required already",
            "it is what `k` in [policy] asks for",
        ));
    }
    let given = require.given();
    if let Err(error) = model.check(name, &given) {
        let other = given.iter().find(|key| model.parameter(key).is_none());
        return Err(at(other.copied().unwrap_or("model"), &error));
    }
    if let Some((key, error)) = misplaced(require, model) {
        return Err(at(key, &error));
    }
    let lists_values = model.parameters().any(|parameter| {
        matches!(parameter.kind, ParameterKind::Values) && require.list(parameter.name).is_some()
    });
    if require.publish_values && !lists_values {
        return Err(mistake(
            PUBLISH_VALUES,
            "`publish_values` is for requirements that list `values`",
            "leave it out: there is no value to publish",
        ));
    }
    let mut parameters = Parameters::default();
    for parameter in model.parameters() {
        match value(require, parameter) {
            Ok(Some(value)) => parameters.set(parameter.name, value),
            Ok(None) => {}
            Err(error) => return Err(at(parameter.name, &error)),
        }
    }
    // The model itself says which numbers it takes: asked with a column that has no rows.
    parameters.sensitive =
        require.sensitive.as_deref().map(|column| Sensitive::counted(column, 0, Vec::new()));
    let requirement = Requirement { number, job: require, model, parameters };
    privacy::build(name, &requirement.parameters)
        .map_err(|error| requirement.at(job, requirement.main_key(), &error))?;
    Ok(requirement)
}

/// What stands for a parameter before the data are known; codes of values and distances are put in their places later.
fn value(require: &RequireJob, parameter: &Parameter) -> Result<Option<Value>> {
    let key = parameter.name;
    let unreadable = |what: &str, hint: &str| {
        Error::input(format!("`{key}` is no {what}")).with_hint(format!("write {}{hint}", parameter.expects))
    };
    match parameter.kind {
        ParameterKind::Column | ParameterKind::Order | ParameterKind::Hierarchy => Ok(None),
        ParameterKind::Whole => require.one(key).map_or(Ok(None), |text| {
            text.parse().map(|number| Some(Value::Whole(number))).map_err(|_| unreadable("whole number", ""))
        }),
        ParameterKind::Number => require.one(key).map_or(Ok(None), |text| {
            text.parse().map(|number: Fraction| Some(Value::Number(number))).map_err(|_| {
                unreadable("number that can be read exactly", "; also 29% or 1/3, of at most 18 digits")
            })
        }),
        ParameterKind::Values => {
            Ok(require.list(key).map(|values| Value::Values((0..values.len() as u32).collect())))
        }
        ParameterKind::Choice(choice) => {
            let name = require.one(key);
            Ok(name.and_then(|name| choice.find(&name)).map(Value::Name))
        }
        ParameterKind::Distance(_) => Ok(require.one(key).map(|_| Value::Distance(Distance::equal()))),
    }
}

/// The key of a model that has a certain kind.
fn key_of(model: &Model, is_meant: impl Fn(ParameterKind) -> bool) -> Option<&'static str> {
    model.parameters().find(|parameter| is_meant(parameter.kind)).map(|parameter| parameter.name)
}

/// How far values are apart, by name; with the order and the hierarchy, each with its key if the model takes it.
struct Apart<'a> {
    distance: Option<(&'static str, String)>,
    order: Option<(&'static str, Vec<String>)>,
    hierarchy: Option<(&'static str, &'a HierarchyJob)>,
}

impl<'a> Apart<'a> {
    fn of(require: &'a RequireJob, model: &Model) -> Self {
        let distance = key_of(model, |kind| matches!(kind, ParameterKind::Distance(_)));
        let order = key_of(model, |kind| matches!(kind, ParameterKind::Order));
        let hierarchy = key_of(model, |kind| matches!(kind, ParameterKind::Hierarchy));
        Apart {
            distance: distance.and_then(|key| Some((key, require.one(key)?))),
            order: order.and_then(|key| Some((key, require.list(key)?))),
            hierarchy: hierarchy.and_then(|key| Some((key, require.hierarchy()?))),
        }
    }

    fn is(&self, name: &str) -> bool {
        self.distance.as_ref().is_some_and(|(_, distance)| distance == name)
    }
}

/// An order or a hierarchy without the distance that it is for, or the other way round: the key and what is wrong with it.
fn misplaced(require: &RequireJob, model: &Model) -> Option<(&'static str, Error)> {
    let apart = Apart::of(require, model);
    let mistake = |what: &str, hint: &str| Error::input(what).with_hint(hint);
    match (&apart.order, &apart.hierarchy) {
        (Some((key, _)), hierarchy) if !apart.is("ordered") || hierarchy.is_some() => Some((
            *key,
            mistake(&format!("`{key}` is for ordered distances"), "write distance = \"ordered\""),
        )),
        (None, Some((key, _))) if !apart.is("hierarchical") => {
            let hint = "write distance = \"hierarchical\"; sensitive columns are not generalized";
            Some((*key, mistake(&format!("`{key}` is for hierarchical distances"), hint)))
        }
        (_, None) if apart.is("hierarchical") => {
            let hint = "give the labels of the values, for example hierarchy = { file = \"illness.csv\" }";
            let (key, _) = apart.distance?;
            Some((key, mistake("`hierarchical` distances need a `hierarchy`", hint)))
        }
        _ => None,
    }
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

/// The sensitive columns that requirements are about, each once.
pub(crate) fn columns(requirements: &[Requirement<'_>]) -> Vec<String> {
    let mut columns: Vec<String> = Vec::new();
    for name in requirements.iter().filter_map(|requirement| requirement.job.sensitive.as_ref()) {
        if !columns.contains(name) {
            columns.push(name.clone());
        }
    }
    columns
}

/// Where the values of sensitive columns are counted.
#[derive(Clone, Copy)]
pub(crate) enum CountedBy<'a> {
    /// Their rows are in the table.
    Rows,
    /// A source that was given those [`columns`], in this order, counts them.
    Source(&'a dyn FrequencySource),
}

/// Makes the models of checked requirements. `budget` rows may be left out, for all of them together.
pub(crate) fn build(
    job: &Job,
    requirements: &[Requirement<'_>],
    (table, counted): (&Table, CountedBy<'_>),
    budget: u64,
    mistakes: &mut Mistakes,
) -> Models {
    let mut built = Models { columns: columns(requirements), models: Vec::new() };
    for requirement in requirements {
        let name = requirement.job.sensitive.as_ref();
        let position = name.and_then(|name| built.columns.iter().position(|column| column == name));
        let model = model(job, requirement, position, (table, counted), budget);
        built.models.extend(mistakes.note(model));
    }
    built
}

/// `position` is that of the sensitive column, if the model has one.
fn model(
    job: &Job,
    requirement: &Requirement<'_>,
    position: Option<usize>,
    (table, counted): (&Table, CountedBy<'_>),
    budget: u64,
) -> Result<Box<dyn PrivacyModel>> {
    let mut parameters = requirement.parameters.clone();
    parameters.unit = if job.policy.unit.is_some() { Unit::Persons } else { Unit::Rows };
    if let (Some(position), Some(name)) = (position, &requirement.job.sensitive) {
        let column = column(table, name)?;
        parameters.sensitive = Some(match (counted, &job.policy.unit) {
            (CountedBy::Rows, None) => Sensitive::of_rows(position, column),
            (CountedBy::Rows, Some(unit)) => {
                Sensitive::of_persons(position, column, self::column(table, unit)?)
            }
            (CountedBy::Source(source), _) => {
                let n_values = column.dictionary().len();
                Sensitive::of_source(source, name, position, parameters.unit, n_values)?
            }
        });
        for parameter in requirement.model.parameters() {
            let key = parameter.name;
            match parameter.kind {
                ParameterKind::Values => {
                    let codes = values(requirement.job, key, column);
                    if let Some(codes) = codes.map_err(|error| requirement.at(job, key, &error))? {
                        parameters.set(key, codes);
                    }
                }
                ParameterKind::Distance(_) => {
                    if let Some(distance) = distance(job, requirement, column)? {
                        parameters.set(key, distance);
                    }
                }
                _ => {}
            }
        }
    }
    let model = privacy::build(&requirement.job.model, &parameters)
        .and_then(|model| model.feasible(table.n_rows() as u64, budget).map(|()| model));
    model.map_err(|error| requirement.at(job, requirement.main_key(), &error))
}

fn column<'a>(table: &'a Table, name: &str) -> Result<&'a Column> {
    table.column(name).ok_or_else(|| Error::input(format!("the data has no column `{name}`")))
}

/// The codes of the values that are listed for a key.
fn values(require: &RequireJob, key: &str, column: &Column) -> Result<Option<Vec<u32>>> {
    let Some(values) = require.list(key) else {
        return Ok(None);
    };
    let codes = values.iter().enumerate().map(|(at, value)| {
        column.dictionary().code(value).ok_or_else(|| {
            // Perhaps a typing error in somebody's secret: it is not repeated.
            Error::input(format!(
                "entry {} of `{key}` is none of the {} values of column `{}`",
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
    let apart = Apart::of(requirement.job, requirement.model);
    let Some((distance_key, distance)) = &apart.distance else {
        return Ok(None);
    };
    match (distance.as_str(), &apart.order, &apart.hierarchy) {
        ("ordered", Some((key, order)), _) => Distance::by_list(column, order.iter().map(String::as_str))
            .map_err(|error| requirement.at(job, key, &error)),
        ("ordered", None, _) => Distance::by_number(column).map_err(|error| {
            let hint = if column.dictionary().code("").is_some() {
                "a missing value is no number either: leave rows without one out; or use equal distances"
            } else {
                "list all values in `order`, from the lowest to the highest; or name what stands for a missing value in `missing`; \
                 or use equal distances"
            };
            let error = Error::new(error.kind(), error.to_string()).with_hint(hint);
            requirement.at(job, distance_key, &error)
        }),
        ("hierarchical", _, Some((key, hierarchy))) => {
            let key = ["policy", "require", &requirement.number, key];
            let attribute = hierarchies::attribute_at(job, &key, column.name(), hierarchy, column, None)?;
            Ok(Distance::hierarchical(&attribute))
        }
        _ => Ok(Distance::equal()),
    }
    .map(Some)
}

/// The cells of the job's requirement of this index, for the checker.
pub(crate) fn cells(job: &Job, at: usize, table: &Table) -> Result<RequirementValues> {
    let require = &job.policy.require[at];
    let model = Model::find(&require.model)?;
    let list = |is_meant: fn(ParameterKind) -> bool| {
        key_of(model, is_meant).and_then(|key| require.list(key)).unwrap_or_default()
    };
    let mut cells = RequirementValues {
        values: list(|kind| matches!(kind, ParameterKind::Values)),
        order: list(|kind| matches!(kind, ParameterKind::Order)),
        paths: Vec::new(),
    };
    if let (Some((key, hierarchy)), Some(name)) = (Apart::of(require, model).hierarchy, &require.sensitive) {
        let column = column(table, name)?;
        let key = ["policy", "require", &(at + 1).to_string(), key];
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

/// A requirement as the release record states it: no path, and no value unless the job publishes them.
///
/// ```
/// # use incog::{Anonymizer, Hierarchy};
/// # let table = [("zip", vec!["53715", "53715", "53703", "53706"]), ("ill", vec!["flu", "cold", "flu", "none"])];
/// # let anonymizer = Anonymizer::new(table).quasi_identifier("zip", Hierarchy::mask_right()).sensitive("ill").k(2);
/// use incog::Model;
///
/// let record = anonymizer.require(Model::distinct_l("ill", 2)).anonymize()?.record()?;
/// assert_eq!(record.claims.requires[0].parameters["l"], "2");
/// # Ok::<(), incog::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct RequirePart {
    /// The model's name.
    pub model: String,
    /// The sensitive column.
    pub sensitive: String,
    /// Numbers as exact fractions, names, and how many values are pooled where values are listed.
    pub parameters: BTreeMap<String, String>,
    /// The values that it is about, where the job publishes them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub values: Option<Vec<String>>,
}

/// The requirements of a job, as the record states them.
pub(crate) fn parts(job: &Job) -> Result<Vec<RequirePart>> {
    job.policy.require.iter().map(part).collect()
}

/// Stands for an order that a job lists.
const LISTED: &str = "listed";

pub(crate) fn part(require: &RequireJob) -> Result<RequirePart> {
    let mut parameters = BTreeMap::new();
    let model = Model::find(&require.model)?;
    for parameter in model.parameters() {
        let key = parameter.name;
        let stated = match parameter.kind {
            ParameterKind::Column | ParameterKind::Hierarchy => None,
            ParameterKind::Whole | ParameterKind::Choice(_) | ParameterKind::Distance(_) => require.one(key),
            ParameterKind::Number => match require.one(key) {
                Some(text) => Some(text.parse::<Fraction>()?.to_string()),
                None => None,
            },
            ParameterKind::Values => require.list(key).map(|values| values.len().to_string()),
            ParameterKind::Order => require.list(key).map(|_| LISTED.to_owned()),
        };
        parameters.extend(stated.map(|stated| (key.to_owned(), stated)));
    }
    Ok(RequirePart {
        model: require.model.clone(),
        sensitive: require.sensitive.clone().unwrap_or_default(),
        parameters,
        values: key_of(model, |kind| matches!(kind, ParameterKind::Values))
            .filter(|_| require.publish_values)
            .and_then(|key| require.list(key)),
    })
}

/// The hierarchies of requirements, each with its name in records and messages.
pub(crate) fn hierarchies_of(job: &Job) -> impl Iterator<Item = (String, &HierarchyJob)> {
    let requires = job.policy.require.iter().enumerate();
    requires.filter_map(|(at, require)| Some((format!("policy.require.{}", at + 1), require.hierarchy()?)))
}

/// The files of all hierarchies of a job, as they are now.
pub(crate) fn stamps_of(job: &Job) -> Stamps {
    let of_columns = job.columns.values().filter_map(|column| column.hierarchy.as_ref());
    let hierarchies = of_columns.chain(job.policy.require.iter().filter_map(RequireJob::hierarchy));
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
        if require.has_lists() && !require.publish_values {
            return Err(Error::input(format!(
                "`{}` lists values, which a record does not tell",
                require.model
            ))
            .with_hint("give the job file that the record was made with instead of the data"));
        }
        let model = require.model.clone();
        let Some(file) = require.hierarchy_mut().and_then(HierarchyJob::files_mut) else {
            continue;
        };
        let Some(found) = folders.iter().map(|folder| folder.join(&*file)).find(|path| path.is_file()) else {
            return Err(Error::input(format!(
                "the hierarchy file `{}` of `{}` is not there",
                file.display(),
                model
            ))
            .with_hint("say in which folder it is with --hierarchies"));
        };
        *file = found;
    }
    Ok(())
}
