//! Which claim is a requirement that a record states?
//!
//! A record names a model and its parameters as text; here is what that means, by the definitions of this crate. It knows the
//! models by their names alone: whoever adds one to the engine adds its definition here, and a test of `incog` fails until
//! then. Cost: none worth mentioning.

use std::collections::BTreeMap;
use std::fmt;

use crate::{Counted, Distance, Fraction, Likeness, SensitiveClaim};

/// The values of the sensitive column that a requirement names. They come from the job: no record has them.
#[derive(Debug, Clone, Default)]
pub struct RequirementValues {
    /// Values that count as one.
    pub values: Vec<String>,
    /// The values in their order.
    pub order: Vec<String>,
    /// The labels of each value, by level.
    pub paths: Vec<Vec<String>>,
}

/// Why a requirement is no claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoClaim {
    /// There is no definition of a model of this name.
    UnknownModel(String),
    /// A parameter is missing, or is not what it should be.
    Parameter(String),
}

impl fmt::Display for NoClaim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoClaim::UnknownModel(model) => write!(f, "nobody here knows how to verify `{model}`"),
            NoClaim::Parameter(mistake) => f.write_str(mistake),
        }
    }
}

impl std::error::Error for NoClaim {}

impl SensitiveClaim {
    /// What is claimed of a column that must satisfy a model. Numbers among the parameters are fractions as text; a list is
    /// there by its name alone, with what it says in `cells`. `None` if it takes cells or persons, and they are not at hand.
    pub fn required(
        model: &str,
        column: &str,
        parameters: &BTreeMap<String, String>,
        cells: Option<RequirementValues>,
        counted: &Counted,
    ) -> Result<Option<SensitiveClaim>, NoClaim> {
        let has = |key: &str| parameters.contains_key(key);
        let number = |key: &str| -> Result<Fraction, NoClaim> {
            let number = parameters.get(key).and_then(|text| text.parse().ok());
            number.ok_or_else(|| NoClaim::Parameter(format!("`{model}` has no number `{key}`")))
        };
        let whole = |key: &str| -> Result<u64, NoClaim> {
            let number = number(key)?.reduced();
            let whole = u64::try_from(number.numerator()).ok().filter(|_| number.denominator() == 1);
            whole.ok_or_else(|| NoClaim::Parameter(format!("`{key}` of `{model}` is not a whole number")))
        };
        let distance = parameters.get("distance").map_or("equal", String::as_str);
        // Distinct values are the same, whoever is counted.
        let counted = if model == "distinct-l" { &Counted::Rows } else { counted };
        let takes_cells = has("values") || has("order") || distance == "hierarchical";
        if cells.is_none() && (takes_cells || *counted != Counted::Rows) {
            return Ok(None);
        }
        let cells = cells.unwrap_or_default();
        let mut claim = SensitiveClaim::measured(column);
        claim.counted = counted.clone();
        match model {
            "alpha-k" if has("values") => claim.pooled_alpha = Some((number("alpha")?, cells.values)),
            "alpha-k" => claim.alpha = Some(number("alpha")?),
            "distinct-l" => claim.distinct_l = Some(whole("l")?),
            "entropy-l" => claim.entropy_l = Some(number("l")?),
            "recursive-cl" => claim.recursive = Some((number("c")?, whole("l")?)),
            "t-closeness" => {
                claim.t = Some(number("t")?);
                claim.distance = Some(match distance {
                    "ordered" if has("order") => Distance::Order(cells.order),
                    "ordered" => Distance::Numbers,
                    "hierarchical" => Distance::Hierarchy(cells.paths),
                    _ => Distance::Equal,
                });
            }
            "delta-disclosure" => claim.delta = Some(number("delta")?),
            "beta-likeness" => {
                let is_basic = parameters.get("likeness").is_some_and(|name| name == "basic");
                let likeness = if is_basic { Likeness::Basic } else { Likeness::Enhanced };
                claim.beta = Some((number("beta")?, likeness));
            }
            model => return Err(NoClaim::UnknownModel(model.to_owned())),
        }
        Ok(Some(claim))
    }
}
