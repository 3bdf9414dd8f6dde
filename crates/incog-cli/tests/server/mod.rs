//! A schema of its own in the server that `INCOG_POSTGRES` names, and a folder for jobs.
#![allow(dead_code, reason = "not every test file needs all of it")]

use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use postgres::{Client, NoTls};
use tempfile::TempDir;

/// Where the server of tests is; nothing, and a note, where there is none.
pub(crate) fn url() -> Option<String> {
    let url = std::env::var("INCOG_POSTGRES").ok().filter(|url| !url.is_empty());
    if url.is_none() {
        incog_testkit::skipped("INCOG_POSTGRES names no server; `.ci/postgres start FOLDER PORT` starts one");
    }
    url
}

/// A schema, which goes when this is dropped.
pub(crate) struct Schema {
    pub(crate) url: String,
    pub(crate) name: String,
    pub(crate) folder: TempDir,
    pub(crate) client: Client,
}

/// What a run said.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

static NEXT: AtomicU32 = AtomicU32::new(0);

impl Schema {
    pub(crate) fn new() -> Option<Schema> {
        let url = url()?;
        let mut client = Client::connect(&url, NoTls).unwrap();
        let name = format!("t{}_{}", std::process::id(), NEXT.fetch_add(1, Relaxed));
        client.batch_execute(&format!("DROP SCHEMA IF EXISTS {name} CASCADE; CREATE SCHEMA {name}")).unwrap();
        client.batch_execute(&format!("SET search_path = {name}")).unwrap();
        Some(Schema { url, name, folder: tempfile::tempdir().unwrap(), client })
    }

    pub(crate) fn run(&mut self, sql: &str) {
        self.client.batch_execute(sql).unwrap_or_else(|error| panic!("{sql}: {error:?}"));
    }

    /// All rows of a query as texts.
    pub(crate) fn rows(&mut self, query: &str) -> Vec<Vec<Option<String>>> {
        let messages = self.client.simple_query(query).unwrap_or_else(|error| panic!("{query}: {error:?}"));
        let row = |message| match message {
            postgres::SimpleQueryMessage::Row(row) => {
                Some((0..row.len()).map(|at| row.get(at).map(str::to_owned)).collect())
            }
            _ => None,
        };
        messages.into_iter().filter_map(row).collect()
    }

    pub(crate) fn one(&mut self, query: &str) -> String {
        self.rows(query)[0][0].clone().unwrap_or_default()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a job, with `URL` and `SCHEMA` filled in.
    pub(crate) fn job(&self, text: &str) -> PathBuf {
        let path = self.path("incog.toml");
        std::fs::write(&path, self.filled(text)).unwrap();
        path
    }

    pub(crate) fn filled(&self, text: &str) -> String {
        text.replace("URL", &self.url).replace("SCHEMA", &self.name)
    }

    /// Runs the binary in the folder.
    pub(crate) fn incog(&self, arguments: &[&str]) -> Said {
        self.incog_with(arguments, &[])
    }

    /// The same with variables.
    pub(crate) fn incog_with(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Said {
        let output = Command::new(env!("CARGO_BIN_EXE_incog"))
            .args(arguments)
            .envs(variables.iter().copied())
            .current_dir(self.folder.path())
            .output()
            .unwrap();
        Said {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Drop for Schema {
    fn drop(&mut self) {
        let _ = self.client.batch_execute(&format!("DROP SCHEMA IF EXISTS {} CASCADE", self.name));
    }
}
