//! What a job says of one column.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{HierarchyJob, OrderJob};

/// One column.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ColumnJob {
    /// What the column is to the people in the data.
    pub role: RoleJob,
    /// What its values may become. Without one, a value is kept or replaced by `*`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hierarchy: Option<HierarchyJob>,
    /// For `ordered-set` and `mondrian`: the order in which its values stand. A hierarchy of `intervals` says it too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<OrderJob>,
    /// Of a sensitive column: the values that nobody should learn about a person. `anonymize` then warns of groups in which all have one
    /// of them, and of no others. Unless given, it warns of all values, but not of zeros in a column of numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sensitive_values: Option<Vec<String>>,
    /// The decimal mark of its numbers, if not that of `[input]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decimal: Option<char>,
    /// What separates thousands of its numbers, if not as in `[input]`; a space that does not break counts as a space.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thousands: Option<char>,
    /// Texts that stand for a missing value in this column, instead of those of `[input]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<Vec<String>>,
    /// How its dates are written, if not as in `[input]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date_format: Option<String>,
    /// For an identifier: instead of being dropped, its values are replaced by pseudonyms. In a database for keys of tables.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replace: Option<ReplaceJob>,
}

/// By what the values of an identifier are replaced. Equal values have equal pseudonyms, and pseudonyms are not anonymity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReplaceJob {
    /// Numbers from 1 on, drawn anew for each release and recorded nowhere.
    Number,
    /// HMAC-SHA-256 under a key derived from `incog.key`: whoever has that key can tell them again, in every release.
    KeyedHash,
}

impl ColumnJob {
    /// A column of which nothing is known but its role.
    pub fn new(role: RoleJob) -> Self {
        ColumnJob {
            role,
            hierarchy: None,
            order: None,
            sensitive_values: None,
            decimal: None,
            thousands: None,
            missing: None,
            date_format: None,
            replace: None,
        }
    }
}

/// What a column is to the people in the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum RoleJob {
    /// Names a person; dropped.
    Identifier,
    /// Could single a person out, together with others; generalized.
    QuasiIdentifier,
    /// What nobody should learn about a person; released as it is.
    Sensitive,
    /// None of these; released as it is.
    Other,
    /// Not decided yet: the release is refused until it is.
    Decide,
}
