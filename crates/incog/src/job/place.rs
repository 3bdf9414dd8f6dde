//! Where is the data, and where does the release go: files, or tables of a database?

use std::path::PathBuf;

use incog_core::{Error, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::job::{CountOrText, FileFormat, Job, Mistakes};

/// The data.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// A file, of the format that its name says; a folder or a list of files is one table; `-` is standard input.
    #[serde(default, skip_serializing_if = "Paths::is_empty")]
    pub path: Paths,
    /// A database instead of files: `postgresql://user@host:port/database`. Passwords are better kept in `~/.pgpass`, a service file or
    /// PGPASSWORD.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The table or view of the database, named as in SQL: `clinic.patients`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<String>,
    /// A query of the database whose answer is the table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// Where rows of a database are counted: there (database), or here, as a copy (memory). What is cheaper, unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine: Option<EngineJob>,
    /// The format, if the name does not say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<FileFormat>,
    /// What separates the fields. Detected from the header unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delimiter: Option<char>,
    /// What a text is written in, if not in UTF-8 or UTF-16: "windows-1252", "latin1". The release is UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encoding: Option<String>,
    /// What fields are quoted by: one character, or "" for none. `"` unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quote: Option<String>,
    /// Lines that start with this character are no rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<char>,
    /// Lines before the header, or rows of a sheet, that are no part of the table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skip_rows: Option<u64>,
    /// Whether the first row names the columns; true unless given. Without it, `names` has them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header: Option<bool>,
    /// With `header = false`: the names of all columns, in the order of the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub names: Option<Vec<String>>,
    /// The sheet of a workbook; the first unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sheet: Option<String>,
    /// The cells of the sheet that are the table, its header included: "B3:F200". All that are filled unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<String>,
    /// The decimal mark of numbers in text: "." or ",". Also for a single column.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decimal: Option<char>,
    /// What separates thousands of numbers in text. Also for a single column.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thousands: Option<char>,
    /// Texts that stand for a missing value, beside the empty cell. A missing value is released as the first. Also for a single column.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<Vec<String>>,
    /// How dates are written in text: "%d.%m.%Y". Found out where there is no doubt. Also for a single column.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date_format: Option<String>,
    /// How much memory the run may take: bytes, or "512 MB". A table that needs more is kept in temporary files meanwhile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<CountOrText>,
}

impl Input {
    /// The same settings for these files, instead of whatever the table was.
    #[must_use]
    pub fn with_paths(self, path: Paths) -> Self {
        Input { path, url: None, table: None, query: None, engine: None, ..self }
    }
}

/// Where rows of a database are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EngineJob {
    /// In the database: rows stay there.
    Database,
    /// Here: rows are copied, without the columns that name persons.
    Memory,
}

/// What becomes of a table that is there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum IfExists {
    /// It stays, and the run ends with an error before anything is searched.
    #[default]
    Error,
    /// It is replaced in the same transaction. Its permissions and indexes go with it.
    Replace,
}

/// One path, or several.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Paths {
    /// One file or folder.
    One(PathBuf),
    /// Several files or folders.
    Several(Vec<PathBuf>),
}

impl Default for Paths {
    fn default() -> Self {
        Paths::Several(Vec::new())
    }
}

impl Paths {
    /// Is none named?
    pub(crate) fn is_empty(&self) -> bool {
        self.all().is_empty()
    }

    /// These paths; one is written without brackets.
    pub(crate) fn of(mut paths: Vec<PathBuf>) -> Self {
        match paths.len() {
            1 => Paths::One(paths.remove(0)),
            _ => Paths::Several(paths),
        }
    }

    /// All of them.
    pub fn all(&self) -> &[PathBuf] {
        match self {
            Paths::One(path) => std::slice::from_ref(path),
            Paths::Several(paths) => paths,
        }
    }
}

/// The release.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Output {
    /// The file to write, in the format that its name says; `-` is standard output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<PathBuf>,
    /// The format, if the name does not say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<FileFormat>,
    /// A database instead of a file: the release is a table there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The table of the database that the release is to be, named as in SQL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<String>,
    /// What becomes of a table of that name that is there already: error (the default), or replace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub if_exists: Option<IfExists>,
    /// Whether columns of text whose values are all numbers, dates or truth values are written as such, in formats that have types.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub types: Option<TypesJob>,
    /// In which order rows are released.
    #[serde(default)]
    pub order: OutputOrder,
    /// Where to write the release record, or false for none; the release's name with `.incog.json` unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record: Option<RecordJob>,
    /// The file with the publisher's key, made if it is not there; `incog.key` beside the job unless given. It stays
    /// with the publisher.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<PathBuf>,
    /// The file with the private key that signs the record, as `incog key new` makes it. It stays with the publisher.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sign: Option<PathBuf>,
}

/// What types columns of text get in formats that have types.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TypesJob {
    /// Those that all their values allow.
    Found,
    /// Every column is text.
    Text,
}

/// Where to write the release record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum RecordJob {
    /// Whether to write it.
    Wanted(bool),
    /// Where.
    Path(PathBuf),
}

/// In which order rows are released.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OutputOrder {
    /// Shuffled: the order of rows can tell whose they are.
    #[default]
    Shuffle,
    /// As in the data.
    Input,
}

/// Fails where a job says neither or both of its input, or half of either.
pub(super) fn check(job: &Job) -> Result<()> {
    let mut mistakes = Mistakes::default();
    let (input, output) = (&job.input, job.output.as_ref());
    let mut mistake = |key: &[&str], problem: &str, hint: &str| {
        mistakes.add(job.mistake(key, problem).with_hint(hint));
    };
    match (&input.url, input.path.is_empty()) {
        (None, true) => return Err(missing_path(job)),
        (None, false) => {
            let given = [
                ("table", input.table.is_some()),
                ("query", input.query.is_some()),
                ("engine", input.engine.is_some()),
            ];
            for (key, _) in given.into_iter().filter(|(_, is_given)| *is_given) {
                mistake(
                    &["input", key],
                    &format!("`{key}` is about a database, and the input is a file"),
                    "give `url` instead of `path`",
                );
            }
        }
        (Some(_), false) => {
            mistake(&["input", "url"], "the input is both a file and a database", "give `path` or `url`");
        }
        (Some(_), true) => {
            if input.table.is_some() == input.query.is_some() {
                mistake(
                    &["input", "url"],
                    "a database needs a `table` or a `query`, one of them",
                    "table = \"clinic.patients\"",
                );
            }
            for key in of_files(job) {
                mistake(
                    &["input", key],
                    &format!("`{key}` is about files, and the input is a database"),
                    "write a `query` that says it",
                );
            }
        }
    }
    let is_elsewhere = input.url.is_some();
    for (name, _) in job.columns.iter().filter(|(_, column)| is_elsewhere && column.missing.is_some()) {
        mistake(
            &["columns", name.as_str(), "missing"],
            "`missing` is about files, and the input is a database",
            "write a `query` that makes null of such values",
        );
    }
    if let Some(output) = output {
        let is_half = output.url.is_some() != output.table.is_some();
        if is_half {
            mistake(
                &["output"],
                "a table of a database takes both `url` and `table`",
                "or give `path` for a file",
            );
        }
        if output.path.is_some() && output.url.is_some() {
            mistake(
                &["output", "url"],
                "the output is both a file and a table of a database",
                "give `path` or `url`",
            );
        }
        if output.if_exists.is_some() && output.url.is_none() {
            mistake(
                &["output", "if_exists"],
                "`if_exists` is about a table of a database",
                "give `url` and `table`",
            );
        }
    }
    mistakes.stop()
}

/// The message that a missing key has everywhere.
fn missing_path(job: &Job) -> Error {
    job.mistake(&["input"], "`input.path` is missing")
}

/// The settings of files that a job has.
fn of_files(job: &Job) -> Vec<&'static str> {
    let input = &job.input;
    let given = [
        ("format", input.format.is_some()),
        ("delimiter", input.delimiter.is_some()),
        ("encoding", input.encoding.is_some()),
        ("quote", input.quote.is_some()),
        ("comment", input.comment.is_some()),
        ("skip_rows", input.skip_rows.is_some()),
        ("header", input.header.is_some()),
        ("names", input.names.is_some()),
        ("sheet", input.sheet.is_some()),
        ("range", input.range.is_some()),
        ("missing", input.missing.is_some()),
    ];
    given.into_iter().filter(|(_, is_given)| *is_given).map(|(key, _)| key).collect()
}
