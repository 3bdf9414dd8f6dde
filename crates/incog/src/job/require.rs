//! What a job requires of a release beyond k: `[[policy.require]]`.
//!
//! One table a model, with the model's name as in `incog list` and its parameters. Which parameters a model takes is for
//! [`requirements`](crate::plan::requirements) to check: here is only how they are written.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use incog_core::privacy::Parameter;
use incog_core::registry::nearest;
use incog_core::{Error, Result};

use crate::job::{HierarchyJob, NumberOrText};

/// A privacy model that the release must satisfy, with its parameters.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RequireJob {
    /// The model, by its name in `incog list`.
    pub model: String,
    /// The column whose values are protected; its role is "sensitive".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sensitive: Option<String>,
    /// The greatest share of a group that a value may have: 0.5, "50%" or "1/2".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alpha: Option<NumberOrText>,
    /// The values that `alpha` is about, as if they were one; every value for itself unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub values: Option<Vec<NumberOrText>>,
    /// How many values a group has, in the sense of the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub l: Option<NumberOrText>,
    /// How many times as frequent as the rarer ones the most frequent value may be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub c: Option<NumberOrText>,
    /// How far a group's distribution may be from that of all rows, from 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub t: Option<NumberOrText>,
    /// How far values are apart; equally unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distance: Option<DistanceJob>,
    /// With `distance = "ordered"`: every value, from the lowest to the highest. Numbers need no list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<Vec<NumberOrText>>,
    /// How far the logarithm of a share may move.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delta: Option<NumberOrText>,
    /// By what part of itself a share may grow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beta: Option<NumberOrText>,
    /// Which bound by `beta`; the enhanced one unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub likeness: Option<LikenessJob>,
    /// With `distance = "hierarchical"`: the labels of the values, written as for a column.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hierarchy: Option<HierarchyJob>,
}

/// How far the values of a sensitive column are apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DistanceJob {
    /// All alike.
    Equal,
    /// By their places in the order.
    Ordered,
    /// By the level at which they first have one label.
    Hierarchical,
}

/// Which bound beta-likeness sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LikenessJob {
    /// A share grows by at most beta of itself.
    Basic,
    /// Also by at most the negative logarithm of itself: frequent values are bounded too.
    Enhanced,
}

/// One requirement on its own, as a table of a job file.
const FORM: &str = "--require 'alpha-k:sensitive=occupation,alpha=0.5'";

/// What separates the entries of a list in a flag.
const BETWEEN: char = '|';

impl RequireJob {
    /// The parameters of the engine that are given.
    pub(crate) fn given(&self) -> Vec<Parameter> {
        let is_given = |parameter: &Parameter| match parameter {
            Parameter::K => false,
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
        };
        Parameter::ALL.into_iter().filter(is_given).collect()
    }

    /// The numbers that are given, with their keys.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = (Parameter, &NumberOrText)> {
        [
            (Parameter::Alpha, &self.alpha),
            (Parameter::L, &self.l),
            (Parameter::C, &self.c),
            (Parameter::T, &self.t),
            (Parameter::Delta, &self.delta),
            (Parameter::Beta, &self.beta),
        ]
        .into_iter()
        .filter_map(|(parameter, number)| Some((parameter, number.as_ref()?)))
    }

    /// Reads a flag: `MODEL:KEY=VALUE,KEY=VALUE`, with `|` between the entries of a list and a file's name for a hierarchy.
    pub fn parse(flag: &str) -> Result<Self> {
        const LISTS: [&str; 2] = ["values", "order"];
        const KEYS: [&str; 12] = [
            "sensitive",
            "alpha",
            "values",
            "l",
            "c",
            "t",
            "distance",
            "order",
            "delta",
            "beta",
            "likeness",
            "hierarchy",
        ];
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
            if !KEYS.contains(&key) {
                let near =
                    nearest(KEYS, key).map_or(String::new(), |near| format!("; did you mean `{near}`?"));
                return Err(refused(format!("unknown parameter `{key}`{near}")));
            }
            let value = match key {
                _ if LISTS.contains(&key) => value.split(BETWEEN).collect::<Vec<_>>().into(),
                "hierarchy" => serde_json::json!({ "file": value }),
                _ => value.trim().into(),
            };
            if table.insert(key, value).is_some() {
                return Err(refused(format!("`{key}` is given twice")));
            }
        }
        let choice = |key: &str, names: &[&str]| match table.get(key).and_then(|value| value.as_str()) {
            Some(name) if !names.contains(&name) => {
                Err(refused(format!("`{key}` is none of {}", names.join(", "))))
            }
            _ => Ok(()),
        };
        choice("distance", &incog_core::privacy::Distance::NAMES)?;
        choice("likeness", &incog_core::privacy::Likeness::NAMES)?;
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
        assert_eq!(require.t.unwrap().to_string(), "0.2");
        assert_eq!(require.distance, Some(DistanceJob::Ordered));
        assert_eq!(
            require.order.unwrap().iter().map(ToString::to_string).collect::<Vec<_>>(),
            ["low", "mid", "high"]
        );
        let require = RequireJob::parse("t-closeness:sensitive=pay,hierarchy=pay.csv").unwrap();
        assert_eq!(require.hierarchy.unwrap().file.unwrap().to_str(), Some("pay.csv"));
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
