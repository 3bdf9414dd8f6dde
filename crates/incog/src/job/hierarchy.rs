//! What the values of a column may become, as a job says it.

use std::path::{Path, PathBuf};

use incog_core::{Error, Result};
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{NumberOrText, check};

/// What values may become: exactly one of `file`, `intervals`, `dates`, `mask`, `tree`, `builtin`, `frequent`, `rare` and `suppress`;
/// `rare` also beside `file`, `tree` or `builtin`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HierarchyJob {
    /// A file: `value;level 1;...;*`, one row a value, separated by `;` or `,`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
    /// Ever wider intervals, each width a multiple of the one before: [5, 10, 20].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intervals: Option<Vec<NumberOrText>>,
    /// With `intervals`: what is divided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<IntervalsOf>,
    /// With `intervals`: where an interval starts; 0 or 1970-01-01 unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<NumberOrText>,
    /// With `intervals`: values lie from the first up to but not including the second, and loss is measured against
    /// all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bounds: Option<[NumberOrText; 2]>,
    /// With `intervals` or `dates`: values below are pooled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bottom: Option<NumberOrText>,
    /// With `intervals`: values from here on are pooled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub top: Option<NumberOrText>,
    /// Calendar units from fine to coarse: ["month", "quarter", "year"].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dates: Option<Vec<DateUnit>>,
    /// One character after the other replaced by `*`, from this side.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mask: Option<MaskSide>,
    /// With `mask`: the most characters that a value has; shorter values are padded. Unless given, the greatest length that k rows (or
    /// persons) have or exceed; longer values are released as `*` or not at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length: Option<usize>,
    /// With `mask`: whole numbers with fewer digits get leading zeros up to this many, before anything else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pad: Option<usize>,
    /// A tree of labels: nested tables with lists of values, or a file written by indentation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<TreeJob>,
    /// A hierarchy that everybody uses, by its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub builtin: Option<Builtin>,
    /// This many values, the most frequent ones, are kept, and the rest is called `other`. What it looks like depends on the data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frequent: Option<u64>,
    /// Rare siblings are merged until each label has at least this many rows. What it looks like depends on the data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rare: Option<u64>,
    /// Kept or replaced by `*`; the same as no hierarchy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suppress: Option<bool>,
    /// Only these levels may be chosen; 0 is as collected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub levels: Option<Vec<u8>>,
    /// What a missing value is called once it is generalized; "(missing)" unless given. Not for `file`, which has a
    /// row for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
}

/// What is divided into intervals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum IntervalsOf {
    /// Whole numbers and decimals.
    Numbers,
    /// Dates; widths are in days.
    Dates,
}

/// A calendar unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum DateUnit {
    /// 2003-04-17
    Day,
    /// 2003-W16
    Week,
    /// 2003-04
    Month,
    /// 2003-Q2
    Quarter,
    /// 2003-H1
    HalfYear,
    /// 2003
    Year,
    /// 2002-2003
    #[serde(rename = "2 years")]
    TwoYears,
    /// 2000-2004
    #[serde(rename = "5 years")]
    FiveYears,
    /// 2000s
    Decade,
    /// 2000-2019
    #[serde(rename = "20 years")]
    TwentyYears,
}

/// A hierarchy that everybody uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Builtin {
    /// Ages: intervals of 5, 10 and 20 years; from 90 on pooled
    Age,
    /// Days of birth: year, 5 years, decade, 20 years
    DateOfBirth,
    /// Countries of ISO 3166 (DE or DEU): regions of the United Nations
    IsoCountry,
    /// States of the USA (TX or Texas): divisions and regions of the Census Bureau
    UsState,
    /// ZIP codes of the USA: three digits, sparse areas as 000
    UsZip3,
    /// ICD-10 and ICD-10-CM: category, block, chapter
    Icd10,
    /// Regions of the EU: NUTS 2, NUTS 1, country
    Nuts,
    /// Activities of companies, NACE Rev. 2: group, division, section
    Nace,
    /// Occupations, ISCO-08: three digits, two, one
    Isco,
}

impl Builtin {
    /// Its name in job files.
    pub fn name(self) -> &'static str {
        match self {
            Builtin::Age => "age",
            Builtin::DateOfBirth => "date-of-birth",
            Builtin::IsoCountry => "iso-country",
            Builtin::UsState => "us-state",
            Builtin::UsZip3 => "us-zip3",
            Builtin::Icd10 => "icd10",
            Builtin::Nuts => "nuts",
            Builtin::Nace => "nace",
            Builtin::Isco => "isco",
        }
    }
}

/// Where masking starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MaskSide {
    /// 5371*, 537**
    Right,
    /// *3715, **715
    Left,
}

/// A tree of labels.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum TreeJob {
    /// A file written by indentation.
    File(PathBuf),
    /// Labels with what is below each.
    Branches(IndexMap<String, BranchJob>),
}

/// What is below a label of a tree.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum BranchJob {
    /// Values.
    Leaves(Vec<String>),
    /// More labels.
    Branches(IndexMap<String, BranchJob>),
}

impl HierarchyJob {
    /// The file it is in, if it is in one.
    pub(crate) fn file(&self) -> Option<&Path> {
        match (&self.file, &self.tree) {
            (Some(file), _) | (None, Some(TreeJob::File(file))) => Some(file),
            _ => None,
        }
    }

    /// The same, to be changed.
    pub(crate) fn files_mut(&mut self) -> Option<&mut PathBuf> {
        match (&mut self.file, &mut self.tree) {
            (Some(file), _) | (None, Some(TreeJob::File(file))) => Some(file),
            _ => None,
        }
    }
}

/// A rule on its own, under the key that it has in a job file.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Rule {
    hierarchy: HierarchyJob,
}

impl HierarchyJob {
    /// Reads what stands behind `hierarchy =` in a job file, with the same mistakes.
    pub fn parse(rule: &str) -> Result<Self> {
        let text = format!("hierarchy = {rule}");
        let refused = |mistake: &str| format!("the rule: {}", mistake.replace('\n', ", "));
        check::check::<Rule>(&text).map_err(|mistakes| {
            let lines: Vec<String> = mistakes.iter().map(|(_, mistake)| refused(mistake)).collect();
            Error::input(lines.join("\n"))
                .with_hint("write it as in a job file, for example --rule '{ intervals = [5, 10, 20] }'")
        })?;
        let rule: Rule = toml::from_str(&text).map_err(|error| Error::input(refused(error.message())))?;
        Ok(rule.hierarchy)
    }
}
