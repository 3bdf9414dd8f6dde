//! What is to be done with a database, as the user wrote it.
//!
//! A job file with a `[database]` table is about persons in many tables. It is read like any other job: all mistakes at
//! once, each with its line. What it says of one table is a [`Job`] of its own ([`DatabaseJob::of_table`]), with the lines
//! of the same file, so that columns, hierarchies and requirements are checked by one piece of code, whatever the kind of
//! job.

use std::path::{Path, PathBuf};

use incog_core::registry::nearest;
use incog_core::{Error, ErrorKind, Result};
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::job::{
    ColumnJob, CountOrText, Input, Job, Lines, NumberOrText, OutputOrder, Paths, PolicyJob, RequireJob,
    RoleJob, SearchJob, parse, place, resolve,
};

/// A job for incog on a database: a person table with child tables, nested to any depth.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct DatabaseJob {
    /// The job file. Relative paths start from its folder.
    #[serde(skip)]
    pub path: PathBuf,
    /// Where things stand in the job file.
    #[serde(skip)]
    pub lines: Lines,
    /// What the database is, and where its release goes.
    pub database: DatabasePart,
    /// What the release must satisfy.
    pub policy: DatabasePolicy,
    /// How to find it.
    #[serde(default)]
    pub search: DatabaseSearch,
    /// Every table of the database, by name.
    pub tables: IndexMap<String, TableJob>,
}

/// What the database is, and where its release goes.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DatabasePart {
    /// The table with a row per person.
    pub person: String,
    /// The folder to write, with a file per table. It is made, its parent must exist; an earlier release there is
    /// replaced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<PathBuf>,
    /// What the files of the release are; CSV unless given.
    #[serde(default)]
    pub format: TableFormat,
    /// In which order rows are released.
    #[serde(default)]
    pub order: OutputOrder,
    /// Whether the data are complete: whoever has no row about something is then known not to have it.
    #[serde(default)]
    pub complete: bool,
    /// What is released: quasi-identifiers generalized, or exact ones with the sensitive values in tables of their own.
    #[serde(default)]
    pub release: ReleaseKind,
    /// Whether to write the release record, `release.incog.json` in the folder; true unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record: Option<bool>,
    /// The file with the publisher's key, made if it is not there; `incog.key` beside the job unless given. It stays
    /// with the publisher.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<PathBuf>,
    /// The file with the private key that signs the record, as `incog key new` makes it. It stays with the publisher.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sign: Option<PathBuf>,
}

/// What the files of a release are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TableFormat {
    /// CSV with a header line.
    #[default]
    Csv,
    /// Parquet.
    Parquet,
}

/// What is released of a database.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReleaseKind {
    /// Quasi-identifiers are generalized; claims k, and whatever is required.
    #[default]
    Generalized,
    /// Quasi-identifiers stay exact; sensitive values are linked to groups instead of rows. Claims what is required, not k.
    Anatomized,
}

/// What the release of a database must satisfy.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DatabasePolicy {
    /// Every released person has the same tree of rows as at least k - 1 others.
    pub k: i64,
    /// How many persons may be left out: a count (5) or a share ("1%", rounded down); as many as it takes unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suppression: Option<CountOrText>,
    /// More privacy models, of sensitive columns ("takes.grade"). They need the algorithm `dmiracle`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub require: Vec<RequireJob>,
}

/// How to find the release of a database.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DatabaseSearch {
    /// miracle, miraclex or dmiracle; miraclex unless given, dmiracle where models are required.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub algorithm: Option<String>,
    /// A person farther than this from every open cluster opens a new one, from 0 to 1; 0.3 unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threshold: Option<NumberOrText>,
    /// The number of clusters that may be open at a time; 150 unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster_limit: Option<usize>,
    /// By what rows of two persons are paired; the algorithm's own way unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pairing: Option<PairingJob>,
    /// How well rows are paired; greedily, as in the paper, unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matching: Option<MatchingJob>,
    /// What a generalized cell costs; loss unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metric: Option<CostJob>,
    /// With how many open clusters a person is compared, the most promising first; with all unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub candidates: Option<usize>,
    /// For `dmiracle`: what becomes of clusters that are not diverse; they are merged unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diversity: Option<DiversityJob>,
}

/// By what the rows of two persons are paired.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PairingJob {
    /// By what the rows and all that hangs on them lose: MiRaCle.
    Subtree,
    /// By what the rows alone lose: MiRaCleX.
    Record,
    /// Level by level, where hierarchies are lower than there are rows: MiRaCleX's faster way.
    Level,
}

/// How well rows are paired.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MatchingJob {
    /// One after the other takes what is cheapest.
    Greedy,
    /// What is cheapest for all together.
    Optimal,
}

/// What a generalized cell costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CostJob {
    /// The share of the other values that it could have been.
    Loss,
    /// The share of its levels that it went up.
    Precision,
}

/// What becomes of clusters that are not diverse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DiversityJob {
    /// They are merged until they are.
    Merge,
    /// Persons with equal sensitive values are kept apart, and what is not diverse all the same is left out.
    Distance,
    /// They are left out.
    Suppress,
}

/// One table.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TableJob {
    /// CSV with a header line, also as .gz or .zst, or Parquet; a folder or a list of files is one table.
    pub path: Paths,
    /// What separates the fields. Detected from the header unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delimiter: Option<char>,
    /// What a text is written in, as in the `[input]` of a job about one table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encoding: Option<String>,
    /// The decimal mark of numbers in text. Also for a single column.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decimal: Option<char>,
    /// What separates thousands of numbers in text. Also for a single column.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thousands: Option<char>,
    /// Texts that stand for a missing value, beside the empty cell. Also for a single column.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<Vec<String>>,
    /// How dates are written in text. Also for a single column.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date_format: Option<String>,
    /// The column that tells rows apart. The person table and tables with children need one. New keys take its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The table that this one belongs to, and the column that holds its key; none for the person table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<ParentsJob>,
    /// Every column but the keys.
    #[serde(default)]
    pub columns: IndexMap<String, ColumnJob>,
}

/// The table that a table belongs to.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ParentsJob {
    /// As it should be.
    One(ParentJob),
    /// Refused unless there is one.
    Several(Vec<ParentJob>),
}

/// A foreign key.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ParentJob {
    /// The table.
    pub table: String,
    /// The column that holds its key.
    pub column: String,
}

impl TableJob {
    /// The foreign keys.
    pub(crate) fn parents(&self) -> &[ParentJob] {
        match &self.parent {
            None => &[],
            Some(ParentsJob::One(parent)) => std::slice::from_ref(parent),
            Some(ParentsJob::Several(parents)) => parents,
        }
    }

    /// The columns that are quasi-identifiers, in the order of the job.
    pub(crate) fn quasi_identifiers(&self) -> Vec<String> {
        super::quasi_identifiers(&self.columns)
    }

    /// Is the column a key or a foreign key?
    pub(crate) fn is_key(&self, column: &str) -> bool {
        self.key.as_deref() == Some(column) || self.parents().iter().any(|parent| parent.column == column)
    }
}

impl DatabaseJob {
    /// Reads a job file. All mistakes are in the one error, a line each.
    pub fn read(path: &Path) -> Result<Self> {
        DatabaseJob::parse_file(&super::text_of(path)?, path)
    }

    /// Reads the text of a job file that is nowhere on disk; paths are relative to the current folder.
    pub fn parse(text: &str) -> Result<Self> {
        DatabaseJob::parse_file(text, Path::new(""))
    }

    pub(super) fn parse_file(text: &str, path: &Path) -> Result<Self> {
        let (mut job, lines): (DatabaseJob, Lines) = parse(text, path)?;
        (job.lines, job.path) = (lines, path.to_owned());
        Ok(job)
    }

    /// The text of a job file that says the same.
    pub fn to_toml(&self) -> Result<String> {
        toml::to_string(self).map_err(|_| Error::new(ErrorKind::Internal, "a job cannot be written"))
    }

    /// A file that the job names.
    pub(crate) fn resolve(&self, path: &Path) -> PathBuf {
        resolve(&self.path, path)
    }

    /// A mistake in what the job says at a key.
    pub(crate) fn mistake(&self, key: &[&str], message: impl AsRef<str>) -> Error {
        Error::input(place(&self.path, self.lines.of(key)) + message.as_ref())
    }

    /// The same error, said to come from what the job says at a key.
    pub(crate) fn at(&self, key: &[&str], error: &Error) -> Error {
        error.prefixed(&place(&self.path, self.lines.of(key)))
    }

    /// What the job says of one table, as a job of its own. Keys are identifiers there: as collected, they are not
    /// released. Requirements are those of the table's columns, which are then named without the table.
    pub(crate) fn of_table(&self, name: &str) -> Result<Job> {
        let Some(table) = self.tables.get(name) else {
            return Err(Error::new(ErrorKind::Internal, "a table is not declared"));
        };
        let mut lines = self.lines.below(&["tables", name], &[]);
        for key in ["path", "delimiter", "encoding", "decimal", "thousands", "missing", "date_format"] {
            lines.copy_from(&self.lines, &["tables", name, key], &["input", key]);
        }
        lines.copy_from(&self.lines, &["policy"], &["policy"]);
        let mut require = Vec::new();
        for (at, required) in self.policy.require.iter().enumerate() {
            let Some((of, column)) = required.sensitive.as_deref().and_then(|name| self.column(name)) else {
                continue;
            };
            if of == name {
                require.push(RequireJob { sensitive: Some(column.to_owned()), ..required.clone() });
                let [from, to] = [(at + 1).to_string(), require.len().to_string()];
                lines.copy_from(&self.lines, &["policy", "require", &from], &["policy", "require", &to]);
            }
        }
        let mut columns = table.columns.clone();
        let keys = table.key.iter().chain(table.parents().iter().map(|parent| &parent.column));
        for key in keys {
            columns.insert(key.clone(), ColumnJob::new(RoleJob::Identifier));
        }
        Ok(Job {
            path: self.path.clone(),
            lines,
            rest: None,
            preset: None,
            input: Input {
                path: table.path.clone(),
                delimiter: table.delimiter,
                encoding: table.encoding.clone(),
                decimal: table.decimal,
                thousands: table.thousands,
                missing: table.missing.clone(),
                date_format: table.date_format.clone(),
                ..Input::default()
            },
            output: None,
            policy: PolicyJob {
                combinations: None,
                k: self.policy.k,
                suppression: None,
                unit: None,
                missing_unit: None,
                require,
            },
            search: SearchJob::default(),
            columns,
        })
    }

    /// The table and the column that a requirement's name means: `takes.grade`, or `grade` if one table has it. Nothing if
    /// it may mean several.
    pub(crate) fn column<'a>(&'a self, name: &'a str) -> Option<(&'a str, &'a str)> {
        let mut columns = self.columns_named(name);
        columns.next().filter(|_| columns.next().is_none())
    }

    /// All tables and columns that a name may mean.
    fn columns_named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.tables.iter().flat_map(move |(table, job)| {
            let qualified = name.strip_prefix(table.as_str()).and_then(|rest| rest.strip_prefix('.'));
            let columns = qualified.into_iter().chain([name]);
            columns
                .filter(|column| super::patterns::longest(&job.columns, column).is_some())
                .map(|column| (table.as_str(), column))
        })
    }

    /// The same, or what is wrong with requirement number `at`.
    pub(crate) fn required_column(&self, at: usize) -> Result<(&str, &str)> {
        let key = ["policy", "require", &(at + 1).to_string(), "sensitive"];
        let Some(name) = self.policy.require[at].sensitive.as_deref() else {
            return Err(self
                .mistake(&key[..3], "the requirement names no sensitive column")
                .with_hint("write the table and the column: sensitive = \"takes.grade\""));
        };
        self.column(name).ok_or_else(|| {
            let all: Vec<String> = self
                .tables
                .iter()
                .flat_map(|(table, job)| job.columns.keys().map(move |column| format!("{table}.{column}")))
                .collect();
            let n_columns = self.columns_named(name).count();
            let mistake = match (n_columns, nearest(all.iter().map(String::as_str), name)) {
                (2.., _) => format!("{n_columns} columns may be meant by `{name}`"),
                (_, Some(near)) => format!("no table has the column `{name}`; did you mean `{near}`?"),
                _ => format!("no table has the column `{name}`"),
            };
            self.mistake(&key, mistake)
                .with_hint("write the table and the column: sensitive = \"takes.grade\"")
        })
    }
}

/// Does a job file have `[database]` or `[tables]`?
pub(super) fn is_about_database(text: &str) -> bool {
    let names = ["database", "tables"];
    // Most do not even have the words.
    if !names.iter().any(|name| text.contains(name)) {
        return false;
    }
    // What is no TOML has no tables; reading it as a job says where it breaks.
    let (document, _) = toml::de::DeTable::parse_recoverable(text);
    document.get_ref().iter().any(|(key, _)| names.contains(&key.get_ref().as_ref()))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(crate) const STUDENTS: &str = r#"[database]
person = "student"
output = "release/"
[policy]
k = 2
[[policy.require]]
model = "distinct-l"
sensitive = "gpa"
l = 2
[[policy.require]]
model = "distinct-l"
sensitive = "takes.grade"
l = 2
[tables.student]
path = "student.csv"
key = "sid"
columns.gpa = { role = "sensitive" }
[tables.takes]
path = "takes.csv"
key = "scid"
parent = { table = "student", column = "sid" }
columns.course = { role = "quasi-identifier", hierarchy = { file = "dgh/course.csv" } }
columns.grade = { role = "sensitive" }
"#;

    fn refused(text: &str) -> String {
        DatabaseJob::parse(text).unwrap_err().to_string()
    }

    #[test]
    fn a_table_is_a_job_of_its_own_with_the_lines_of_the_file() {
        let job = DatabaseJob::parse(STUDENTS).unwrap();
        let takes = job.of_table("takes").unwrap();
        assert_eq!(takes.columns.keys().collect::<Vec<_>>(), ["course", "grade", "scid", "sid"]);
        assert_eq!(takes.columns["sid"].role, RoleJob::Identifier);
        assert_eq!(takes.lines.of(&["columns", "course", "hierarchy"]), Some(22));
        assert_eq!(takes.lines.of(&["input", "path"]), Some(19));
        assert_eq!(takes.policy.require.len(), 1);
        assert_eq!(takes.policy.require[0].sensitive.as_deref(), Some("grade"));
        assert_eq!(
            takes.lines.of(&["policy", "require", "1", "l"]),
            Some(13),
            "the job's second requirement"
        );
        assert_eq!(takes.lines.of(&["policy", "k"]), Some(5));
    }

    #[test]
    fn sensitive_columns_are_found_by_table_or_alone() {
        let job = DatabaseJob::parse(STUDENTS).unwrap();
        assert_eq!(job.required_column(0).unwrap(), ("student", "gpa"));
        assert_eq!(job.required_column(1).unwrap(), ("takes", "grade"));
        let refused = |from: &str, to: &str| {
            let job = DatabaseJob::parse(&STUDENTS.replace(from, to)).unwrap();
            job.required_column(1).unwrap_err().to_string()
        };
        assert_eq!(
            refused("\"takes.grade\"", "\"takes.grades\""),
            "line 12: no table has the column `takes.grades`; did you mean `takes.grade`?"
        );
        let both = "\"gpa\"\nl = 2\n[[policy.require]]\nmodel = \"distinct-l\"\nsensitive = \"grade\"";
        let twice = STUDENTS.replace("\"gpa\"", both).replace("columns.gpa", "columns.grade");
        let job = DatabaseJob::parse(&twice).unwrap();
        assert_eq!(
            job.required_column(1).unwrap_err().to_string(),
            "line 12: 2 columns may be meant by `grade`"
        );
    }

    #[test]
    fn all_mistakes_are_told_at_once() {
        let text = STUDENTS
            .replace("person = \"student\"\n", "")
            .replace("columns.grade = { role", "columns.grade = { rule")
            .replace("parent = {", "parent = { tabel = \"a\",");
        assert_eq!(
            refused(&text).lines().collect::<Vec<_>>(),
            [
                "line 1: `database.person` is missing",
                "line 20: unknown key `tabel` in `tables.takes.parent`; did you mean `table`?",
                "line 22: unknown key `rule` in `tables.takes.columns.grade`; did you mean `role`?",
                "line 22: `tables.takes.columns.grade.role` is missing",
            ]
        );
    }
}
