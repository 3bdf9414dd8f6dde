//! Case files: a table, its hierarchies, a policy, and what every search must find.
//!
//! `testdata/cases/*.toml` hold the papers' own tables first of all. A case says where its numbers come from and
//! is run with every algorithm and judge. `testdata/cases/models/*.toml` have a table each on which a freer recoding model
//! is strictly better than a stricter one.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::data::project;
use crate::{Require, Sample, SampleColumn};

/// One case file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// The file's name, for messages.
    #[serde(skip)]
    pub name: String,
    /// Where table and expectation come from.
    pub source: String,
    /// The quasi-identifiers, in order.
    pub quasi_identifiers: Vec<String>,
    /// k.
    pub k: u64,
    /// How many rows may be suppressed.
    #[serde(default)]
    pub suppression: u64,
    /// What is required beside k; of one sensitive column.
    #[serde(default)]
    pub require: Vec<Require>,
    /// The table.
    pub table: CaseTable,
    /// The hierarchy of each quasi-identifier: one row a leaf.
    pub hierarchies: BTreeMap<String, Vec<Vec<String>>>,
    /// What must come out.
    pub expect: Expectation,
}

/// A small table.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CaseTable {
    /// Column names.
    pub header: Vec<String>,
    /// Cells.
    pub rows: Vec<Vec<String>>,
}

/// What must come out.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expectation {
    /// Every node that holds, in column order.
    pub satisfying: Vec<Vec<u8>>,
    /// The minimal ones.
    pub minimal: Vec<Vec<u8>>,
    /// Nodes checked, by "algorithm marking".
    #[serde(default)]
    pub nodes_checked: BTreeMap<String, u64>,
    /// The quasi-identifiers' labels that Top-Down releases, row by row, where the source shows them.
    pub top_down: Option<Vec<Vec<String>>>,
    /// The course of Incognito, family by family.
    #[serde(default)]
    pub family: Vec<ExpectedFamily>,
}

/// What Incognito must do with one family.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedFamily {
    /// The attributes.
    pub attributes: Vec<String>,
    /// Nodes after join and prune.
    pub candidates: Vec<Vec<u8>>,
    /// Those without an edge to them.
    pub roots: Vec<Vec<u8>>,
    /// The component-wise minimum of the roots.
    pub super_root: Vec<u8>,
    /// Edges between candidates, where the source shows them.
    pub edges: Option<Vec<(Vec<u8>, Vec<u8>)>>,
    /// Nodes that are checked and fail.
    pub failing: Vec<Vec<u8>>,
    /// Nodes that are checked and hold.
    pub passing: Vec<Vec<u8>>,
    /// Nodes that are marked and not checked.
    pub marked: Vec<Vec<u8>>,
    /// Nodes that hold.
    pub result: Vec<Vec<u8>>,
}

/// A table on which a freer model has a better optimum, by loss.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelCase {
    /// The file's name, for messages.
    #[serde(skip)]
    pub name: String,
    /// Where it comes from, and why it is so.
    pub source: String,
    /// The stricter model.
    pub stricter: String,
    /// The freer model.
    pub freer: String,
    /// k.
    pub k: u64,
    /// The table; all columns are quasi-identifiers.
    pub table: CaseTable,
    /// The hierarchy of each: one row a leaf. Ordered domains have this order.
    pub hierarchies: BTreeMap<String, Vec<Vec<String>>>,
    /// The optima.
    pub expect: ModelOptima,
}

/// The least losses, as fractions.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelOptima {
    /// Of the stricter model.
    pub stricter: String,
    /// Of the freer model.
    pub freer: String,
}

impl ModelCase {
    /// All of them, by name.
    pub fn all() -> Vec<ModelCase> {
        let read = |(name, text): (String, String)| {
            let case: ModelCase = toml::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
            ModelCase { name, ..case }
        };
        files("testdata/cases/models").into_iter().map(read).collect()
    }

    /// The table and hierarchies.
    pub fn sample(&self) -> Sample {
        sample(&self.table.header, &self.table, &self.hierarchies)
    }
}

/// Names and texts of the files of a folder, by name.
fn files(folder: &str) -> Vec<(String, String)> {
    let paths = std::fs::read_dir(project().join(folder)).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<(String, String)> = paths
        .filter(|path| path.is_file())
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, std::fs::read_to_string(&path).unwrap())
        })
        .collect();
    files.sort();
    assert!(!files.is_empty(), "no case files in {folder}");
    files
}

fn sample(names: &[String], table: &CaseTable, hierarchies: &BTreeMap<String, Vec<Vec<String>>>) -> Sample {
    let columns = names.iter().map(|name| {
        let at = table.header.iter().position(|column| column == name).unwrap();
        SampleColumn {
            name: name.clone(),
            hierarchy: hierarchies[name].clone(),
            cells: table.rows.iter().map(|row| row[at].clone()).collect(),
        }
    });
    Sample::new(columns.collect())
}

impl Case {
    /// All case files, by name.
    pub fn all() -> Vec<Case> {
        let read = |(name, text): (String, String)| {
            let case: Case = toml::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
            Case { name, ..case }
        };
        files("testdata/cases").into_iter().map(read).collect()
    }

    /// The table and hierarchies.
    pub fn sample(&self) -> Sample {
        let mut sample = sample(&self.quasi_identifiers, &self.table, &self.hierarchies);
        if let Some(name) = self.require.iter().find_map(|require| require.sensitive.as_ref()) {
            let at = self.table.header.iter().position(|column| column == name).unwrap();
            sample.illnesses = self.table.rows.iter().map(|row| row[at].clone()).collect();
        }
        sample
    }

    /// k and all that is required beside it, of the sample's illness.
    pub fn requires(&self) -> Vec<Require> {
        let others = self.require.iter().cloned().map(|require| Require {
            sensitive: require.sensitive.is_some().then(|| "illness".to_owned()),
            ..require
        });
        [Require::k_anonymity(self.k)].into_iter().chain(others).collect()
    }
}
