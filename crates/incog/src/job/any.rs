//! A job of either kind: about one table, or about the tables of a database.
//!
//! What both kinds say has the same meaning, but for what is counted: rows of a table, persons of a database. Flags
//! of the command line and calls of the builder change those keys here, in one place.

use std::path::{Path, PathBuf};

use incog_core::{Error, Result};
use schemars::JsonSchema;

use crate::job::database::is_about_database;
use crate::job::{
    CountOrText, DatabaseJob, DatabasePolicy, Job, Lines, OutputOrder, PolicyJob, RecordJob, RequireJob,
};

/// A job file of either kind.
#[derive(Debug, Clone, JsonSchema)]
#[schemars(untagged)]
#[expect(clippy::large_enum_variant, reason = "there is one of it in a run")]
pub enum AnyJob {
    /// One table.
    Table(Job),
    /// Many tables.
    Database(DatabaseJob),
}

impl AnyJob {
    /// Reads a job file: with `[database]` or `[tables]` it is about a database.
    pub fn read(path: &Path) -> Result<Self> {
        AnyJob::parse_file(&super::text_of(path)?, path)
    }

    /// Reads the text of a job file that is nowhere on disk; paths are relative to the current folder.
    pub fn parse(text: &str) -> Result<Self> {
        AnyJob::parse_file(text, Path::new(""))
    }

    /// Reads the text of a job that a program has written for somebody: nobody sees its lines, so no message speaks of them.
    pub fn parse_generated(text: &str) -> Result<Self> {
        let unplaced = |message: &str| {
            let without = |line: &str| match line.strip_prefix("line ").and_then(|rest| rest.split_once(": "))
            {
                Some((number, mistake)) if number.parse::<usize>().is_ok() => mistake.to_owned(),
                _ => line.to_owned(),
            };
            message.lines().map(without).collect::<Vec<_>>().join("\n")
        };
        let mut job = AnyJob::parse(text).map_err(|error| {
            let plain = Error::new(error.kind(), unplaced(&error.to_string()));
            error.hint().map_or_else(|| plain.clone(), |hint| plain.clone().with_hint(hint))
        })?;
        *job.lines_mut() = Lines::default();
        Ok(job)
    }

    fn parse_file(text: &str, path: &Path) -> Result<Self> {
        if is_about_database(text) {
            return Ok(AnyJob::Database(DatabaseJob::parse_file(text, path)?));
        }
        Ok(AnyJob::Table(Job::parse_file(text, path)?))
    }

    /// The job, if it is about one table.
    pub fn table(self) -> Option<Job> {
        match self {
            AnyJob::Table(job) => Some(job),
            AnyJob::Database(_) => None,
        }
    }

    /// The job, if it is about a database.
    pub fn database(self) -> Option<DatabaseJob> {
        match self {
            AnyJob::Table(_) => None,
            AnyJob::Database(job) => Some(job),
        }
    }

    /// Asks for this k. It no longer comes from the job file, and so has no line there; the same of all others here.
    pub fn set_k(&mut self, k: i64) {
        *self.policy().k = k;
        self.lines_mut().forget(&["policy", "k"]);
    }

    /// Allows as many rows, or persons, to be left out.
    pub fn set_suppression(&mut self, suppression: CountOrText) {
        *self.policy().suppression = Some(suppression);
        self.lines_mut().forget(&["policy", "suppression"]);
    }

    /// Requires one more privacy model.
    pub fn add_requirement(&mut self, require: RequireJob) {
        self.policy().require.push(require);
    }

    /// Requires these privacy models and no others.
    pub fn set_requirements(&mut self, require: Vec<RequireJob>) {
        *self.policy().require = require;
        self.lines_mut().forget_below(&["policy", "require"]);
    }

    /// Names the algorithm.
    pub fn set_algorithm(&mut self, name: String) {
        match self {
            AnyJob::Table(job) => job.search.algorithm = Some(name),
            AnyJob::Database(job) => job.search.algorithm = Some(name),
        }
        self.lines_mut().forget(&["search", "algorithm"]);
    }

    /// Says where the release goes: a file, or the folder of a database.
    pub fn set_output(&mut self, path: PathBuf) {
        match self {
            AnyJob::Table(job) => job.output.get_or_insert_default().path = Some(path),
            AnyJob::Database(job) => job.database.output = Some(path),
        }
        let place = if self.is_about_database() { ["database", "output"] } else { ["output", "path"] };
        self.lines_mut().forget(&place);
    }

    /// Says in which order rows are released.
    pub fn set_order(&mut self, order: OutputOrder) {
        match self {
            AnyJob::Table(job) => job.output.get_or_insert_default().order = order,
            AnyJob::Database(job) => job.database.order = order,
        }
    }

    /// Says where the publisher's key is.
    pub fn set_key(&mut self, path: PathBuf) {
        match self {
            AnyJob::Table(job) => job.output.get_or_insert_default().key = Some(path),
            AnyJob::Database(job) => job.database.key = Some(path),
        }
    }

    /// Says with which private key the record is signed.
    pub fn set_sign(&mut self, path: PathBuf) {
        match self {
            AnyJob::Table(job) => job.output.get_or_insert_default().sign = Some(path),
            AnyJob::Database(job) => job.database.sign = Some(path),
        }
        let place = if self.is_about_database() { ["database", "sign"] } else { ["output", "sign"] };
        self.lines_mut().forget(&place);
    }

    /// Wants no record.
    pub fn set_no_record(&mut self) {
        match self {
            AnyJob::Table(job) => {
                job.output.get_or_insert_default().record = Some(RecordJob::Wanted(false));
            }
            AnyJob::Database(job) => job.database.record = Some(false),
        }
    }

    /// Is it about a database?
    pub fn is_about_database(&self) -> bool {
        matches!(self, AnyJob::Database(_))
    }

    fn policy(&mut self) -> Policy<'_> {
        match self {
            AnyJob::Table(Job { policy: PolicyJob { k, suppression, require, .. }, .. })
            | AnyJob::Database(DatabaseJob { policy: DatabasePolicy { k, suppression, require }, .. }) => {
                Policy { k, suppression, require }
            }
        }
    }

    /// Where things stand in the job file.
    pub(crate) fn lines_mut(&mut self) -> &mut Lines {
        match self {
            AnyJob::Table(job) => &mut job.lines,
            AnyJob::Database(job) => &mut job.lines,
        }
    }

    /// The text of a job file that says the same.
    pub fn to_toml(&self) -> Result<String> {
        match self {
            AnyJob::Table(job) => job.to_toml(),
            AnyJob::Database(job) => job.to_toml(),
        }
    }

    /// The JSON Schema of job files of both kinds, for editors.
    pub fn schema() -> String {
        serde_json::to_string_pretty(&schemars::schema_for!(AnyJob)).expect("a schema is plain data")
    }
}

/// What jobs of both kinds say of their policy.
struct Policy<'a> {
    k: &'a mut i64,
    suppression: &'a mut Option<CountOrText>,
    require: &'a mut Vec<RequireJob>,
}

impl From<Job> for AnyJob {
    fn from(job: Job) -> Self {
        AnyJob::Table(job)
    }
}

impl From<DatabaseJob> for AnyJob {
    fn from(job: DatabaseJob) -> Self {
        AnyJob::Database(job)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::database::tests::STUDENTS;

    #[test]
    fn mistakes_in_a_generated_job_have_no_lines() {
        let text = "[input]\npath = \"-\"\n[policy]\nk = 2\nsupression = 1\n[search]\nmetrics = \"loss\"\n";
        let of = |error: Error| error.to_string().lines().map(str::to_owned).collect::<Vec<_>>();
        assert!(of(AnyJob::parse(text).unwrap_err())[0].starts_with("line 5: "));
        let mistakes = of(AnyJob::parse_generated(text).unwrap_err());
        assert!(mistakes[0].starts_with("unknown key `supression`"), "{mistakes:?}");
        assert!(mistakes[1].starts_with("unknown key `metrics`"), "{mistakes:?}");
    }

    #[test]
    fn a_job_file_is_of_one_kind_or_the_other() {
        let folder = tempfile::tempdir().unwrap();
        let read = |text: &str| {
            let path = folder.path().join("job.toml");
            std::fs::write(&path, text).unwrap();
            AnyJob::read(&path)
        };
        assert!(matches!(read(STUDENTS), Ok(AnyJob::Database(_))));
        assert!(matches!(read("[input]\npath = \"a.csv\"\n[policy]\nk = 2\n"), Ok(AnyJob::Table(_))));
        assert!(read("[input\n").is_err());
        for key in ["cluster_limit", "\"person\"", "suppression", "anatomized"] {
            assert!(AnyJob::schema().contains(key), "{key}");
        }
    }
}
