//! What is to be done, as the user wrote it.
//!
//! A job file is TOML. This module only reads it; [`Plan`](crate::Plan) checks it against the data. Unknown keys
//! are errors, since a misspelt `suppresion` must not silently mean none.

use std::path::{Path, PathBuf};

use indexmap::IndexMap;
use serde::Deserialize;

use incog_core::{Error, ErrorKind, Result};

/// A job file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// The folder that relative paths start from: the job file's.
    #[serde(skip)]
    pub folder: PathBuf,
    /// The data.
    pub input: Input,
    /// The release. Not used by a search.
    pub output: Option<Output>,
    /// What the release must satisfy.
    pub policy: PolicyJob,
    /// How to search.
    #[serde(default)]
    pub search: SearchJob,
    /// Every column of the data, by name; quasi-identifiers are taken in this order.
    #[serde(default)]
    pub columns: IndexMap<String, ColumnJob>,
}

/// The data.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// A CSV file with a header line.
    pub path: PathBuf,
    /// What separates its fields; a comma unless given.
    pub delimiter: Option<char>,
}

/// The release.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Output {
    /// The file to write.
    pub path: Option<PathBuf>,
    /// `shuffle` or `input`.
    pub order: Option<String>,
}

/// What the release must satisfy.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PolicyJob {
    /// The size of the smallest group.
    pub k: i64,
    /// How many rows may be left out: a count (`5`, `"5"`) or a share (`"1%"`).
    pub suppression: Option<CountOrText>,
}

/// A number, or text that may be one.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub enum CountOrText {
    /// `5`
    Count(i64),
    /// `"5"` or `"1%"`
    Text(String),
}

/// How to search.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SearchJob {
    /// The traversal.
    pub algorithm: Option<String>,
    /// How nodes are judged.
    pub checker: Option<String>,
    /// `direct` or `transitive`.
    pub marking: Option<String>,
    /// How the best node is picked.
    pub metric: Option<String>,
    /// What a step of each attribute costs; 1 unless given.
    #[serde(default)]
    pub weights: IndexMap<String, f64>,
    /// How many families to search at a time; 1 unless given.
    pub threads: Option<usize>,
    /// How much memory the sets of the checker `cube` may take: bytes, or `"512 MiB"`.
    pub cube_memory: Option<CountOrText>,
    /// `zero-level` or `every-level`: what the checker `cube` computes beforehand.
    pub cube_levels: Option<String>,
}

/// One column.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ColumnJob {
    /// What the column is to the people in the data.
    pub role: RoleJob,
    /// What its values may become; without one, a value is kept or replaced by `*`.
    pub hierarchy: Option<HierarchyJob>,
}

/// What a column is to the people in the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RoleJob {
    /// Names a person.
    Identifier,
    /// Could single a person out, together with others.
    QuasiIdentifier,
    /// What nobody should learn.
    Sensitive,
    /// Neither.
    Other,
}

/// What values may become.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HierarchyJob {
    /// A file `value;level 1;...;top`.
    pub file: PathBuf,
}

impl Job {
    /// Reads a job file.
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).map_err(|error| {
            Error::new(ErrorKind::Io, format!("cannot read the job file `{}`: {error}", path.display()))
        })?;
        let mut job = Job::parse(&text).map_err(|error| {
            let located = Error::input(format!("job file `{}`: {error}", path.display()));
            match error.hint() {
                Some(hint) => located.with_hint(hint),
                None => located,
            }
        })?;
        job.folder = path.parent().map(Path::to_owned).unwrap_or_default();
        Ok(job)
    }

    /// Reads the text of a job file.
    pub fn parse(text: &str) -> Result<Self> {
        toml::from_str(text).map_err(|error| {
            let line = error.span().map(|span| text[..span.start.min(text.len())].matches('\n').count() + 1);
            let place = line.map_or(String::new(), |line| format!("line {line}: "));
            // One line: the parser's message for an unknown key lists the known ones behind a line break.
            Error::input(format!("{place}{}", error.message().replace('\n', ", ")))
        })
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
    }

    #[test]
    fn mistakes_are_located() {
        let refused = |text: &str| Job::parse(text).unwrap_err().to_string();
        let misspelt = refused(&MINIMAL.replace("k = 5", "k = 5\nsuppresion = 1"));
        assert!(misspelt.starts_with("line 5: unknown field `suppresion`"), "{misspelt}");
        assert!(misspelt.contains("`suppression`"), "{misspelt}");
        let text = refused(&MINIMAL.replace("k = 5", "k = \"5\""));
        assert!(text.starts_with("line 4: invalid type: string"), "{text}");
        assert!(refused("[input]\npath = 1").starts_with("line 2: "));
        let missing = refused("[policy]\nk = 5");
        assert!(missing.contains("missing field `input`"), "{missing}");
        let twice =
            refused(&format!("{MINIMAL}[columns.age]\nrole = \"other\"\n[columns.age]\nrole = \"other\"\n"));
        assert!(twice.starts_with("line 7: duplicate key"), "{twice}");
    }

    #[test]
    fn the_design_documents_job_is_read() {
        let job = Job::parse(
            "[input]\npath = \"adult.csv\"\n[output]\npath = \"out.csv\"\norder = \"shuffle\"\n[policy]\nk = 10\n\
             suppression = \"1%\"\n[search]\nalgorithm = \"incognito\"\nmetric = \"loss\"\nweights = { gender = 5 }\n\
             [columns.education]\nrole = \"quasi-identifier\"\nhierarchy = { file = \"hierarchies/education.csv\" }\n",
        )
        .unwrap();
        assert_eq!(job.search.weights["gender"], 5.0);
        assert!(job.columns["education"].hierarchy.is_some());
    }
}
