//! The order of a column's values, as a job says it.

use incog_core::{Error, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{IntervalsOf, NumberOrText, check};

/// The order of a column's values: "numbers", "dates", "hierarchy" for that of the lines of its hierarchy's file or tree, a list
/// of all of them from the lowest on, or numbers or dates with a step: { of = "numbers", step = 5, bounds = [0, 120] }.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
#[non_exhaustive]
pub enum OrderJob {
    /// By a word.
    Word(OrderWord),
    /// All values that can occur, lowest first.
    Categories(Vec<String>),
    /// As numbers or dates, cut at multiples of a step.
    Grid(GridJob),
}

/// An order that a word can say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OrderWord {
    /// Whole numbers and decimals.
    Numbers,
    /// Dates.
    Dates,
    /// As the values stand in the hierarchy's file or tree.
    Hierarchy,
}

/// Numbers or dates that are cut at multiples of a step.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GridJob {
    /// Which of the two.
    pub of: IntervalsOf,
    /// Intervals begin and end at multiples of it; days for dates. A round number that gives at most 32 steps unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<NumberOrText>,
    /// Values lie from the first up to but not including the second; intervals may end there too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bounds: Option<[NumberOrText; 2]>,
}

/// An order on its own, under the key that it has in a job file.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Ordered {
    order: OrderJob,
}

impl OrderJob {
    /// Reads what stands behind `order =` in a job file, with the same mistakes; `numbers` and `dates` may do without quotes.
    pub fn parse(order: &str) -> Result<Self> {
        let order = order.trim();
        let is_word = !order.is_empty() && order.chars().all(|c| c.is_ascii_alphabetic());
        let text = if is_word { format!("order = \"{order}\"") } else { format!("order = {order}") };
        let refused = |mistake: &str| format!("the order: {}", mistake.replace('\n', ", "));
        check::check::<Ordered>(&text).map_err(|mistakes| {
            let lines: Vec<String> = mistakes.iter().map(|(_, mistake)| refused(mistake)).collect();
            Error::input(lines.join("\n"))
                .with_hint("for example 'age=numbers' or 'age={ of = \"numbers\", step = 5 }'")
        })?;
        let ordered: Ordered =
            toml::from_str(&text).map_err(|error| Error::input(refused(error.message())))?;
        Ok(ordered.order)
    }
}
