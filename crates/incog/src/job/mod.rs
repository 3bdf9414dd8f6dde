//! What is to be done, as the user wrote it.
//!
//! A job file is TOML. Reading it has two steps, so that *all* mistakes are reported at once, each with its line:
//! `check` walks the file beside the JSON Schema of the types below (unknown keys, wrong types, missing keys,
//! names that are none), and only what passes becomes a [`Job`]. Whether names and numbers make sense together
//! with the data is for the plan to find out.

mod check;
mod lines;
mod mistakes;
pub(crate) mod settings;
mod require;
mod search;
mod order;
mod hierarchy;
mod input;
mod database;
mod any;
mod place;
mod column;
pub(crate) mod patterns;
mod preset;

pub use any::AnyJob;
pub use column::{ColumnJob, ReplaceJob, RoleJob};
pub use database::{
    CostJob, DatabaseJob, DatabasePart, DatabasePolicy, DatabaseSearch, DiversityJob, MatchingJob,
    PairingJob, ParentJob, ParentsJob, ReleaseKind, TableFormat, TableJob,
};
pub use hierarchy::{BranchJob, Builtin, DateUnit, HierarchyJob, IntervalsOf, MaskSide, TreeJob};
use lines::LineEnds;
pub use lines::Lines;
pub(crate) use mistakes::Mistakes;
pub use order::{GridJob, OrderJob, OrderWord};
pub use place::{EngineJob, IfExists, Input, Output, OutputOrder, Paths, RecordJob, TypesJob};
pub use preset::Preset;
pub use require::RequireJob;
pub(crate) use require::{PUBLISH_VALUES, Written};
pub use search::{
    BitmapSets, CellMethodJob, CubeLevels, CutMethodJob, LookAheadJob, MondrianChoice, MondrianCuts,
    MondrianSides, OneLabel, SearchJob, SuppressionMethodJob,
};

use std::path::{Path, PathBuf};

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use incog_core::{Error, ErrorKind, Result};

pub use crate::file::FileFormat;
use crate::file::STANDARD;

/// A job for incog: what the data is, what its release must satisfy, and how to get there.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Job {
    /// The job file. Relative paths start from its folder.
    #[serde(skip)]
    pub path: PathBuf,
    /// Where things stand in the job file.
    #[serde(skip)]
    pub lines: Lines,
    /// What all columns are that nobody names; without it they are an error. No job file says so.
    #[serde(skip)]
    pub rest: Option<RoleJob>,
    /// A policy that others have written down: it gives roles and hierarchies to columns that nobody names, and refuses what contradicts it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<Preset>,
    /// The data.
    pub input: Input,
    /// The release.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Output>,
    /// What the release must satisfy.
    pub policy: PolicyJob,
    /// How to search.
    #[serde(default)]
    pub search: SearchJob,
    /// Every column of the data, by name. Quasi-identifiers are taken in this order. A name with `*` stands for all columns that fit: exact
    /// names win, then the longest pattern.
    #[serde(default)]
    pub columns: IndexMap<String, ColumnJob>,
}

/// What the release must satisfy.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PolicyJob {
    /// Every released row looks like at least k - 1 others.
    pub k: i64,
    /// Not all quasi-identifiers together but every combination of at most this many is k-anonymous. From 1 to the number of
    /// quasi-identifiers; that many is k-anonymity itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub combinations: Option<i64>,
    /// How many rows may be left out: a count (5) or a share ("1%", rounded down).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suppression: Option<CountOrText>,
    /// The column that says whom a row is about, where a person may have several: k then counts persons. Never
    /// released.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// What rows are that do not say whom they are about: an error (refuse, the default), or rows of nobody, who counts as
    /// no person (nobody).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing_unit: Option<MissingUnit>,
    /// More privacy models, of sensitive columns. With `unit` they count persons too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub require: Vec<RequireJob>,
}

/// What becomes of rows that do not say whom they are about.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MissingUnit {
    /// They are an error: they may be anybody's.
    #[default]
    Refuse,
    /// They are rows of their groups, and count as no person; their sensitive values count as nobody's.
    Nobody,
}

/// A whole number, or text.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum CountOrText {
    /// A whole number.
    Count(i64),
    /// Text.
    Text(String),
}

impl CountOrText {
    /// As a number of bytes: `1048576`, `"512 MB"`, `"2GiB"`. `None` if it is none.
    pub(crate) fn bytes(&self) -> Option<u64> {
        /// A unit that ends like another stands before it.
        const UNITS: [(&str, u64); 8] = [
            ("KiB", 1 << 10),
            ("MiB", 1 << 20),
            ("GiB", 1 << 30),
            ("KB", 1_000),
            ("MB", 1_000_000),
            ("GB", 1_000_000_000),
            ("B", 1),
            ("", 1),
        ];
        let text = match self {
            CountOrText::Count(bytes) => return u64::try_from(*bytes).ok(),
            CountOrText::Text(text) => text.trim(),
        };
        let mut units = UNITS.iter();
        let (number, unit) =
            units.find_map(|&(suffix, unit)| Some((text.strip_suffix(suffix)?.trim(), unit)))?;
        number.parse::<u64>().ok()?.checked_mul(unit)
    }
}

/// A number, exactly as written, or text.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum NumberOrText {
    /// A whole number.
    Whole(i64),
    /// A decimal number.
    Decimal(f64),
    /// Text: a number or a date.
    Text(String),
}

impl std::fmt::Display for NumberOrText {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            NumberOrText::Whole(number) => number.fmt(f),
            // The shortest digits that are this float: what the user wrote.
            NumberOrText::Decimal(number) => number.fmt(f),
            NumberOrText::Text(text) => text.fmt(f),
        }
    }
}

impl Job {
    /// Reads a job file. All mistakes are in the one error, a line each.
    pub fn read(path: &Path) -> Result<Self> {
        let text = text_of(path)?;
        if database::is_about_database(&text) {
            return Err(Error::input(format!(
                "the job `{}` is about a database, not one table",
                path.display()
            ))
            .with_hint("`incog anonymize` and `incog verify` take it"));
        }
        Job::parse_file(&text, path)
    }

    /// The text of a job file that says the same.
    pub fn to_toml(&self) -> Result<String> {
        toml::to_string(self).map_err(|_| Error::new(ErrorKind::Internal, "a job cannot be written"))
    }

    /// Reads the text of a job file that is nowhere on disk; paths are relative to the current folder.
    pub fn parse(text: &str) -> Result<Self> {
        Job::parse_file(text, Path::new(""))
    }

    fn parse_file(text: &str, path: &Path) -> Result<Self> {
        let (mut job, lines): (Job, Lines) = parse(text, path)?;
        (job.lines, job.path) = (lines, path.to_owned());
        place::check(&job)?;
        Ok(job)
    }

    /// A file that the job names. Standard input is the same from every folder.
    pub(crate) fn resolve(&self, path: &Path) -> PathBuf {
        resolve(&self.path, path)
    }

    /// The columns that are sensitive, in the order of the job.
    pub(crate) fn sensitive_columns(&self) -> Vec<String> {
        let sensitive = self.columns.iter().filter(|(_, column)| column.role == RoleJob::Sensitive);
        sensitive.map(|(name, _)| name.clone()).collect()
    }

    /// The columns that are quasi-identifiers, in the order of the job.
    pub(crate) fn quasi_identifiers(&self) -> Vec<String> {
        quasi_identifiers(&self.columns)
    }

    /// The files and folders of the data.
    pub(crate) fn inputs(&self) -> Vec<PathBuf> {
        self.input.path.all().iter().map(|path| self.resolve(path)).collect()
    }

    /// A mistake in what the job says at a key.
    pub(crate) fn mistake(&self, key: &[&str], message: impl AsRef<str>) -> Error {
        Error::input(place(&self.path, self.lines.of(key)) + message.as_ref())
    }

    /// The same error, said to come from what the job says at a key.
    pub(crate) fn at(&self, key: &[&str], error: &Error) -> Error {
        error.prefixed(&place(&self.path, self.lines.of(key)))
    }
}

/// Those of some columns that are quasi-identifiers.
fn quasi_identifiers(columns: &IndexMap<String, ColumnJob>) -> Vec<String> {
    let quasi = columns.iter().filter(|(_, column)| column.role == RoleJob::QuasiIdentifier);
    quasi.map(|(name, _)| name.clone()).collect()
}

/// The text of a job file.
fn text_of(path: &Path) -> Result<String> {
    if !path.exists() {
        let problem = format!("cannot read the job file `{}`: there is no such file", path.display());
        return Err(Error::new(ErrorKind::Io, problem));
    }
    crate::file::read_text(path, "the job file")
}

/// Mistakes, or names, that a message lists at most: whoever has more has made one of them over and over.
const MOST_TOLD: usize = 100;

/// The first of many, and how many more there are.
pub(crate) fn listed(items: impl ExactSizeIterator<Item = String>, one: &str, many: &str) -> Vec<String> {
    let n_more = items.len().saturating_sub(MOST_TOLD);
    let mut told: Vec<String> = items.take(MOST_TOLD).collect();
    if n_more > 0 {
        told.push(format!("and {n_more} more {}", if n_more == 1 { one } else { many }));
    }
    told
}

/// What a job file says, and where its keys stand; or all its mistakes, a line each.
fn parse<T: JsonSchema + for<'de> Deserialize<'de>>(text: &str, path: &Path) -> Result<(T, Lines)> {
    let several = |mistakes: Vec<(usize, String)>| {
        let lines = mistakes.into_iter().map(|(line, mistake)| place(path, Some(line)) + &mistake);
        let lines = listed(lines, "mistake", "mistakes");
        Error::input(lines.join("\n"))
    };
    let (document, lines) = check::check::<T>(text).map_err(several)?;
    let job = T::deserialize(toml::Deserializer::from(document)).map_err(|error| {
        // Whatever the schema cannot say, such as a number that is too large.
        let line = error.span().map_or(1, |span| LineEnds::of(text).line_at(span.start));
        several(vec![(line, error.message().replace('\n', ", "))])
    })?;
    Ok((job, lines))
}

/// A file that a job file names.
fn resolve(job: &Path, path: &Path) -> PathBuf {
    if path.as_os_str() == STANDARD {
        return path.to_owned();
    }
    job.parent().unwrap_or(Path::new("")).join(path)
}

/// Where a mistake is: `line 4 of `incog.toml`: `, as far as that is known.
fn place(path: &Path, line: Option<usize>) -> String {
    match (line, path.as_os_str().is_empty()) {
        (None, _) => String::new(),
        (Some(line), true) => format!("line {line}: "),
        (Some(line), false) => format!("line {line} of `{}`: ", path.display()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINIMAL: &str = "[input]\npath = \"data.csv\"\n[policy]\nk = 5\n";

    #[test]
    fn columns_keep_the_order_of_the_job_file() {
        let text = format!(
            "{MINIMAL}[columns]\nzip.role = \"quasi-identifier\"\nage.role = \"quasi-identifier\"\nname.role = \"identifier\"\nbirth.role = \"other\"\n"
        );
        let job = Job::parse(&text).unwrap();
        assert_eq!(job.columns.keys().collect::<Vec<_>>(), ["zip", "age", "name", "birth"]);
        assert_eq!(job.lines.of(&["columns", "name"]), Some(8));
        assert_eq!(job.lines.of(&["policy", "k"]), Some(4));
    }

    fn refused(text: &str) -> String {
        Job::parse(text).unwrap_err().to_string()
    }

    #[test]
    fn all_mistakes_are_reported_at_once_with_their_lines() {
        let text = "[inptu]\npath = \"data.csv\"\n[policy]\nk = \"5\"\nsuppresion = 1\n[columns.age]\nrole = \"quasi\"\n\
                    hierarchy = { mask = \"rigth\", intervals = 5 }\n[columns.zip]\nhierarchie = 1\n";
        assert_eq!(
            refused(text).lines().collect::<Vec<_>>(),
            [
                "line 1: unknown key `inptu`; did you mean `input`?",
                "line 1: `input` is missing",
                "line 4: `policy.k` is text, not a whole number",
                "line 5: unknown key `suppresion` in `policy`; did you mean `suppression`?",
                "line 7: `columns.age.role` is none of identifier, quasi-identifier, sensitive, other, decide",
                "line 8: `columns.age.hierarchy.mask` is none of right, left; did you mean `right`?",
                "line 8: `columns.age.hierarchy.intervals` is a whole number, not a list",
                "line 9: `columns.zip.role` is missing",
                "line 10: unknown key `hierarchie` in `columns.zip`; did you mean `hierarchy`?",
            ]
        );
    }

    #[test]
    fn what_is_no_toml_is_located_too() {
        assert!(refused("[input\npath = 1").starts_with("line 1: "));
        let twice =
            refused(&format!("{MINIMAL}[columns.age]\nrole = \"other\"\n[columns.age]\nrole = \"other\"\n"));
        assert!(twice.starts_with("line 7: duplicate key"), "{twice}");
        assert!(refused(&MINIMAL.replace("k = 5", "k = 99999999999999999999")).starts_with("line 4: "));
    }

    #[test]
    fn every_kind_of_hierarchy_is_read() {
        let columns = r#"
            [columns]
            a = { role = "quasi-identifier", hierarchy = { file = "a.csv", levels = [1, 3] } }
            b = { role = "quasi-identifier", hierarchy = { intervals = [5, 0.5, "7"], origin = 1, bounds = [0, 120], top = 90 } }
            c = { role = "quasi-identifier", hierarchy = { dates = ["month", "year"], missing = "unknown" } }
            d = { role = "quasi-identifier", hierarchy = { mask = "left" } }
            e = { role = "quasi-identifier", hierarchy = { tree = { Europe = ["DE", "FR"], Asia = { Far = ["JP"] } } } }
            f = { role = "quasi-identifier", hierarchy = { tree = "tree.txt" } }
            g = { role = "quasi-identifier", hierarchy = { suppress = true } }
            h = { role = "quasi-identifier", hierarchy = { builtin = "icd10", rare = 50 } }
            i = { role = "quasi-identifier", hierarchy = { frequent = 20 } }
            j = { role = "quasi-identifier", hierarchy = { dates = ["half-year", "2 years", "20 years"] } }
        "#;
        let job = Job::parse(&format!("{MINIMAL}{columns}")).unwrap();
        assert_eq!(job.columns.len(), 10);
        let widths = job.columns["b"].hierarchy.as_ref().unwrap().intervals.as_ref().unwrap();
        assert_eq!(widths.iter().map(ToString::to_string).collect::<Vec<_>>(), ["5", "0.5", "7"]);
    }

    #[test]
    fn a_rule_is_read_as_in_a_job_file_with_the_same_mistakes() {
        let rule = HierarchyJob::parse("{ intervals = [5, 0.5], top = 90 }").unwrap();
        assert_eq!(rule.intervals.unwrap()[1].to_string(), "0.5");
        let refused = |rule: &str| HierarchyJob::parse(rule).unwrap_err().to_string();
        assert_eq!(
            refused("{ mask = \"rigth\", interval = [5] }").lines().collect::<Vec<_>>(),
            [
                "the rule: `hierarchy.mask` is none of right, left; did you mean `right`?",
                "the rule: unknown key `interval` in `hierarchy`; did you mean `intervals`?",
            ]
        );
        assert_eq!(refused("5"), "the rule: `hierarchy` is a whole number, not a table");
        assert!(refused("{ mask = ").starts_with("the rule: "));
        assert!(refused("{}\npolicy = 1").contains("unknown key `policy`"));
    }

    /// The engine has every built-in hierarchy that a job can name, under the same name, and no other.
    #[test]
    fn builtin_hierarchies_have_the_names_of_the_engine() {
        for (name, _) in incog_core::hierarchy::spec::Builtin::ALL {
            let rule = HierarchyJob::parse(&format!("{{ builtin = \"{name}\" }}")).unwrap();
            assert_eq!(rule.builtin.map(Builtin::name), Some(name));
        }
        let refused = HierarchyJob::parse("{ builtin = \"icd-10\" }").unwrap_err().to_string();
        assert!(
            refused.contains("none of age, date-of-birth") && refused.contains("did you mean `icd10`?"),
            "{refused}"
        );
    }

    #[test]
    fn the_schema_describes_every_key() {
        let schema = AnyJob::schema();
        for key in ["suppression", "quasi-identifier", "intervals", "shuffle", "Every released row"] {
            assert!(schema.contains(key), "{key}");
        }
    }

    #[test]
    fn a_job_survives_being_written_and_read() {
        let text = format!(
            "{MINIMAL}[columns.age]\nrole = \"quasi-identifier\"\nhierarchy = {{ intervals = [5, 10] }}\n"
        );
        let job = Job::parse(&text).unwrap();
        let again = Job::parse(&toml::to_string(&job).unwrap()).unwrap();
        assert_eq!(format!("{:?}", job.columns), format!("{:?}", again.columns));
    }
}
