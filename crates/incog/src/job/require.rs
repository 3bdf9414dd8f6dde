//! What a job requires of a release beyond k: `[[policy.require]]`.
//!
//! One table a model, with the model's name as in `incog list` and its parameters. Which keys there are, and what may be
//! written for each, is what the registered models say ([`Parameter`]); the JSON Schema is made of the same. Which parameters
//! belong to which model is for `plan::requirements` to check: here is only how they are written.

use std::borrow::Cow;
use std::fmt;

use indexmap::IndexMap;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};

use incog_core::privacy::{self, Choice, Parameter, ParameterKind};
use incog_core::registry::nearest;
use incog_core::{Error, Result};

use crate::job::{HierarchyJob, NumberOrText};

/// A privacy model that the release must satisfy, with its parameters.
#[derive(Debug, Clone, Default)]
pub struct RequireJob {
    /// The model, by its name in `incog list`.
    pub model: String,
    /// The column whose values are protected; its role is "sensitive".
    pub sensitive: Option<String>,
    /// Whether the record of a release tells the `values`, so that everybody can check what is required of them.
    pub publish_values: bool,
    /// The other parameters, by their keys.
    pub(crate) written: IndexMap<&'static str, Written>,
}

/// What is written for a parameter.
#[derive(Debug, Clone)]
pub(crate) enum Written {
    /// A number or a name.
    One(NumberOrText),
    /// Values, in the order in which they are listed.
    List(Vec<NumberOrText>),
    /// A hierarchy.
    Hierarchy(Box<HierarchyJob>),
}

const MODEL: &str = "model";
const SENSITIVE: &str = Parameter::SENSITIVE.name;
/// The only key that is no parameter of a model.
pub(crate) const PUBLISH_VALUES: &str = "publish_values";

/// The parameter of that key, whichever model takes it.
fn parameter(key: &str) -> Option<&'static Parameter> {
    privacy::parameters().into_iter().find(|parameter| parameter.name == key)
}

/// The names that may be written for a parameter, if it is a choice.
fn choice(parameter: &Parameter) -> Option<Choice> {
    match parameter.kind {
        ParameterKind::Choice(choice) | ParameterKind::Distance(choice) => Some(choice),
        _ => None,
    }
}

impl RequireJob {
    /// Sets a parameter. Fails if no model has such a key.
    pub(crate) fn set(&mut self, key: &str, written: Written) -> Result<()> {
        let Some(parameter) = parameter(key) else {
            let near = nearest(privacy::parameters().into_iter().map(|parameter| parameter.name), key);
            let near = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
            return Err(Error::input(format!("unknown parameter `{key}`{near}")));
        };
        self.written.insert(parameter.name, written);
        Ok(())
    }
}

impl Serialize for RequireJob {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry(MODEL, &self.model)?;
        if let Some(sensitive) = &self.sensitive {
            map.serialize_entry(SENSITIVE, sensitive)?;
        }
        // In the order of the registry, whatever the order in the job.
        for parameter in privacy::parameters() {
            match self.written.get(parameter.name) {
                None => {}
                Some(Written::One(one)) => map.serialize_entry(parameter.name, one)?,
                Some(Written::List(list)) => map.serialize_entry(parameter.name, list)?,
                Some(Written::Hierarchy(hierarchy)) => map.serialize_entry(parameter.name, hierarchy)?,
            }
        }
        if self.publish_values {
            map.serialize_entry(PUBLISH_VALUES, &true)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for RequireJob {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_map(Table)
    }
}

/// Reads the table of a requirement.
struct Table;

impl<'de> Visitor<'de> for Table {
    type Value = RequireJob;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a privacy model with its parameters")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<RequireJob, A::Error> {
        let mut model: Option<String> = None;
        let mut require = RequireJob::default();
        let mut publish_values: Option<bool> = None;
        while let Some(key) = map.next_key::<String>()? {
            let twice = match key.as_str() {
                MODEL => model.replace(map.next_value()?).is_some(),
                SENSITIVE => require.sensitive.replace(map.next_value()?).is_some(),
                PUBLISH_VALUES => publish_values.replace(map.next_value()?).is_some(),
                key => {
                    let parameter =
                        parameter(key).ok_or_else(|| de::Error::custom(format!("unknown field `{key}`")))?;
                    let written = match parameter.kind {
                        ParameterKind::Values | ParameterKind::Order => Written::List(map.next_value()?),
                        ParameterKind::Hierarchy => Written::Hierarchy(Box::new(map.next_value()?)),
                        _ => Written::One(map.next_value()?),
                    };
                    if let (Some(choice), Written::One(one)) = (choice(parameter), &written)
                        && choice.find(&one.to_string()).is_none()
                    {
                        return Err(de::Error::custom(format!("`{key}` is none of its names")));
                    }
                    require.written.insert(parameter.name, written).is_some()
                }
            };
            if twice {
                return Err(de::Error::custom(format!("duplicate field `{key}`")));
            }
        }
        require.publish_values = publish_values.unwrap_or(false);
        require.model = model.ok_or_else(|| de::Error::missing_field(MODEL))?;
        Ok(require)
    }
}

impl JsonSchema for RequireJob {
    fn schema_name() -> Cow<'static, str> {
        "RequireJob".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut properties = serde_json::Map::new();
        let mut add = |key: &str, about: &str, mut schema: Schema| {
            schema.insert("description".to_owned(), about.into());
            properties.insert(key.to_owned(), schema.into());
        };
        add(MODEL, "The model, by its name in `incog list`.", generator.subschema_for::<String>());
        for parameter in privacy::parameters() {
            let schema = match parameter.kind {
                ParameterKind::Column => generator.subschema_for::<Option<String>>(),
                ParameterKind::Whole | ParameterKind::Number => {
                    generator.subschema_for::<Option<NumberOrText>>()
                }
                ParameterKind::Values | ParameterKind::Order => {
                    generator.subschema_for::<Option<Vec<NumberOrText>>>()
                }
                ParameterKind::Hierarchy => generator.subschema_for::<Option<HierarchyJob>>(),
                ParameterKind::Choice(choice) | ParameterKind::Distance(choice) => {
                    let definition = definition(parameter.name);
                    let names = choice.names.iter().map(
                        |(name, about)| serde_json::json!({ "description": about, "type": "string", "const": name }),
                    );
                    let names: Vec<serde_json::Value> = names.collect();
                    let named = serde_json::json!({ "description": choice.about, "oneOf": names });
                    generator.definitions_mut().insert(definition.clone(), named);
                    json_schema!({
                        "anyOf": [{ "$ref": format!("#/$defs/{definition}") }, { "type": "null" }]
                    })
                }
            };
            add(parameter.name, parameter.about, schema);
        }
        add(
            PUBLISH_VALUES,
            "Whether the record tells the `values`, so that everybody can check the requirement; false unless given.",
            generator.subschema_for::<Option<bool>>(),
        );
        json_schema!({
            "description": "A privacy model that the release must satisfy, with its parameters.",
            "type": "object",
            "properties": properties,
            "additionalProperties": false,
            "required": [MODEL],
        })
    }
}

/// Where the schema has the names of a choice: `DistanceJob`.
fn definition(key: &str) -> String {
    let mut letters = key.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(letters).chain("Job".chars()).collect()
}

/// One requirement on its own, as a table of a job file.
const FORM: &str = "--require 'alpha-k:sensitive=occupation,alpha=0.5'";

/// What separates the entries of a list in a flag.
const BETWEEN: char = '|';

impl RequireJob {
    /// The keys that are given, but for the model's.
    pub(crate) fn given(&self) -> Vec<&'static str> {
        let sensitive = self.sensitive.as_ref().map(|_| SENSITIVE);
        sensitive.into_iter().chain(self.written.keys().copied()).collect()
    }

    /// The number or the name that is written for a key.
    pub(crate) fn one(&self, key: &str) -> Option<String> {
        match self.written.get(key)? {
            Written::One(one) => Some(one.to_string()),
            _ => None,
        }
    }

    /// The values that are listed for a key.
    pub(crate) fn list(&self, key: &str) -> Option<Vec<String>> {
        match self.written.get(key)? {
            Written::List(list) => Some(list.iter().map(ToString::to_string).collect()),
            _ => None,
        }
    }

    /// Does it list values?
    pub(crate) fn has_lists(&self) -> bool {
        self.written.values().any(|written| matches!(written, Written::List(_)))
    }

    /// All that is written, with the parameter that it is written for.
    pub(crate) fn written_mut(&mut self) -> impl Iterator<Item = (&'static Parameter, &mut Written)> {
        self.written.iter_mut().filter_map(|(key, written)| Some((parameter(key)?, written)))
    }

    /// The hierarchy that is written, if any.
    pub fn hierarchy(&self) -> Option<&HierarchyJob> {
        self.written.values().find_map(|written| match written {
            Written::Hierarchy(hierarchy) => Some(&**hierarchy),
            _ => None,
        })
    }

    /// The same, to be changed.
    pub fn hierarchy_mut(&mut self) -> Option<&mut HierarchyJob> {
        self.written.values_mut().find_map(|written| match written {
            Written::Hierarchy(hierarchy) => Some(&mut **hierarchy),
            _ => None,
        })
    }

    /// Reads a flag: `MODEL:KEY=VALUE,KEY=VALUE`, with `|` between the entries of a list and a file's name for a hierarchy.
    pub fn parse(flag: &str) -> Result<Self> {
        let parameters = privacy::parameters();
        let refused = |mistake: String| Error::input(format!("--require: {mistake}"));
        let like_this = |mistake: &str| refused(mistake.to_owned()).with_hint(format!("for example {FORM}"));
        let (model, rest) =
            flag.split_once(':').ok_or_else(|| like_this("there is no `:` after the model"))?;
        let mut table: IndexMap<&str, serde_json::Value> = IndexMap::new();
        table.insert("model", model.trim().into());
        for setting in rest.split(',') {
            let (key, value) = setting.split_once('=').ok_or_else(|| {
                like_this("a parameter is not KEY=VALUE")
                    .with_hint(format!("for example {FORM}; entries of a list are separated by `{BETWEEN}`"))
            })?;
            let key = key.trim();
            if key == PUBLISH_VALUES {
                let is_published = value.trim().parse::<bool>();
                let is_published =
                    is_published.map_err(|_| refused(format!("`{key}` is neither true nor false")))?;
                if table.insert(PUBLISH_VALUES, is_published.into()).is_some() {
                    return Err(refused(format!("`{key}` is given twice")));
                }
                continue;
            }
            let Some(parameter) = parameters.iter().find(|parameter| parameter.name == key) else {
                let near = nearest(parameters.iter().map(|parameter| parameter.name), key);
                let advice = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
                return Err(refused(format!("unknown parameter `{key}`{advice}")));
            };
            let value = match parameter.kind {
                ParameterKind::Values | ParameterKind::Order => {
                    value.split(BETWEEN).collect::<Vec<_>>().into()
                }
                ParameterKind::Hierarchy => serde_json::json!({ "file": value }),
                _ => value.trim().into(),
            };
            if table.insert(key, value).is_some() {
                return Err(refused(format!("`{key}` is given twice")));
            }
        }
        for parameter in &parameters {
            let name = table.get(parameter.name).and_then(|value| value.as_str());
            if let (Some(choice), Some(name)) = (choice(parameter), name)
                && choice.find(name).is_none()
            {
                let names: Vec<&str> = choice.names().collect();
                return Err(refused(format!("`{}` is none of {}", parameter.name, names.join(", "))));
            }
        }
        let table = serde_json::to_value(&table).map_err(|_| like_this("it cannot be read"))?;
        serde_json::from_value(table).map_err(|_| like_this("it cannot be read"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flag_says_what_a_job_file_says() {
        let flag = "t-closeness:sensitive=pay,t=0.2,distance=ordered,order=low|mid|high";
        let require = RequireJob::parse(flag).unwrap();
        assert_eq!((require.model.as_str(), require.sensitive.as_deref()), ("t-closeness", Some("pay")));
        assert_eq!(require.one("t").unwrap(), "0.2");
        assert_eq!(require.one("distance").unwrap(), "ordered");
        assert_eq!(require.list("order").unwrap(), ["low", "mid", "high"]);
        let require = RequireJob::parse("t-closeness:sensitive=pay,hierarchy=pay.csv").unwrap();
        assert_eq!(require.hierarchy().unwrap().file.as_ref().unwrap().to_str(), Some("pay.csv"));
    }

    #[test]
    fn a_flag_that_is_none_is_refused_without_its_values() {
        let refused = |flag: &str| {
            let error = RequireJob::parse(flag).unwrap_err().to_string();
            assert!(!error.contains("SECRET"), "{error}");
            error
        };
        assert_eq!(refused("alpha-k"), "--require: there is no `:` after the model");
        assert_eq!(refused("alpha-k:SECRET"), "--require: a parameter is not KEY=VALUE");
        assert_eq!(refused("alpha-k:alpa=1"), "--require: unknown parameter `alpa`; did you mean `alpha`?");
        assert_eq!(refused("alpha-k:alpha=1,alpha=0.5"), "--require: `alpha` is given twice");
        assert_eq!(
            refused("t-closeness:distance=SECRET"),
            "--require: `distance` is none of equal, ordered, hierarchical"
        );
    }
}
