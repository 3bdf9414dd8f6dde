//! A required privacy model in the checker's terms.

use incog_core::{Error, Result};
use incog_verify::{Counted, Distance, Fraction, Likeness, SensitiveClaim};

use crate::plan::requirements::{Cells, RequirePart};

/// A requirement in the checker's terms. `None` if it takes cells or persons, and they are not at hand.
pub(crate) fn required(
    part: &RequirePart,
    cells: Option<Cells>,
    counted: &Counted,
) -> Result<Option<SensitiveClaim>> {
    let has = |key: &str| part.parameters.contains_key(key);
    let number = |key: &str| -> Result<Fraction> {
        let number = part.parameters.get(key).and_then(|text| text.parse().ok());
        number.ok_or_else(|| Error::input(format!("`{}` has no number `{key}`", part.model)))
    };
    let whole = |key: &str| -> Result<u64> {
        let l = number(key)?.reduced();
        let whole = u64::try_from(l.numerator()).ok().filter(|_| l.denominator() == 1);
        whole.ok_or_else(|| Error::input(format!("`{key}` of `{}` is not a whole number", part.model)))
    };
    let distance = part.parameters.get("distance").map_or("equal", String::as_str);
    // Distinct values are the same, whoever is counted.
    let counted = if part.model == "distinct-l" { &Counted::Rows } else { counted };
    let takes_cells = has("values") || has("order") || distance == "hierarchical";
    if cells.is_none() && (takes_cells || *counted != Counted::Rows) {
        return Ok(None);
    }
    let cells = cells.unwrap_or_default();
    let mut claim = SensitiveClaim::measured(part.sensitive.clone());
    claim.counted = counted.clone();
    match part.model.as_str() {
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
            let is_basic = part.parameters.get("likeness").is_some_and(|name| name == "basic");
            let likeness = if is_basic { Likeness::Basic } else { Likeness::Enhanced };
            claim.beta = Some((number("beta")?, likeness));
        }
        model => {
            return Err(Error::input(format!("nobody here knows how to verify `{model}`"))
                .with_hint("use the version of incog that wrote the record"));
        }
    }
    Ok(Some(claim))
}
