//! A temporary folder with 60 people, a job that releases them, and the real binary.
#![allow(dead_code, reason = "not every test file needs all of it")]

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use incog_testkit::data::csv_rows;
use serde_json::Value;
use tempfile::TempDir;

pub(crate) const JOB: &str = r#"[input]
path = "data.csv"
[output]
path = "release.csv"
order = "input"
[policy]
k = 5
suppression = "5%"
[columns.age]
role = "quasi-identifier"
hierarchy = { file = "hierarchies/age.csv" }
[columns.sex]
role = "quasi-identifier"
[columns.zip]
role = "quasi-identifier"
hierarchy = { file = "hierarchies/zip.csv" }
[columns.name]
role = "identifier"
[columns.ill]
role = "sensitive"
"#;

/// The same job by flags, without data and output.
pub(crate) const FLAGS: [&str; 14] = [
    "--qi",
    "age,sex,zip",
    "--identifier",
    "name",
    "--sensitive",
    "ill",
    "-k",
    "5",
    "--suppression",
    "5%",
    "--hierarchies",
    "hierarchies/",
    "--order",
    "input",
];

/// What no message may contain.
pub(crate) const CELLS: [&str; 6] = ["Person-", "influenza", "bronchitis", "asthma", "10101", "99999"];

pub(crate) struct Folder(TempDir);

/// What a run said.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Folder {
    /// With `data.csv`, `hierarchies/` and `incog.toml`. One of the 60 lives far away.
    pub(crate) fn new() -> Folder {
        let folder = Folder(tempfile::tempdir().unwrap());
        std::fs::create_dir(folder.path("hierarchies")).unwrap();
        folder.write("data.csv", people(0..60));
        folder.write("hierarchies/age.csv", age_hierarchy());
        folder.write("hierarchies/zip.csv", ZIP_HIERARCHY);
        folder.write("incog.toml", JOB);
        folder
    }

    /// The same, and a table of 17 MB, `large.csv`.
    pub(crate) fn with_large_table() -> Folder {
        let folder = Folder::new();
        let mut data = "sex,note\n".to_owned();
        let mut state = 1_u64;
        for n in 0..300_000 {
            // Text that is hard to compress, so that writing takes a while.
            let words = [0; 3].map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                state
            });
            data += &format!("{},{:016x}{:016x}{:016x}\n", ["f", "m"][n % 2], words[0], words[1], words[2]);
        }
        folder.write("large.csv", data);
        folder
    }

    /// With nothing in it.
    pub(crate) fn empty() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self, file: &str) -> PathBuf {
        self.0.path().join(file)
    }

    pub(crate) fn write(&self, file: &str, text: impl AsRef<[u8]>) {
        std::fs::write(self.path(file), text).unwrap();
    }

    pub(crate) fn read(&self, file: &str) -> String {
        std::fs::read_to_string(self.path(file)).unwrap()
    }

    pub(crate) fn bytes(&self, file: &str) -> Vec<u8> {
        std::fs::read(self.path(file)).unwrap()
    }

    pub(crate) fn json(&self, file: &str) -> Value {
        serde_json::from_str(&self.read(file)).unwrap()
    }

    /// Replaces text in a file, which must be there.
    pub(crate) fn replace(&self, file: &str, from: &str, to: &str) {
        let text = self.read(file);
        assert!(text.contains(from), "{file} has no {from}");
        self.write(file, text.replacen(from, to, 1));
    }

    /// Every file below the folder, hidden ones too, and every folder.
    pub(crate) fn files(&self) -> Vec<String> {
        let mut names = Vec::new();
        let mut open = vec![self.0.path().to_owned()];
        while let Some(folder) = open.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                names.push(path.strip_prefix(self.0.path()).unwrap().to_string_lossy().into_owned());
                if path.is_dir() && !path.is_symlink() {
                    open.push(path);
                }
            }
        }
        names.sort();
        names
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_incog"));
        command.args(arguments).current_dir(&self.0).stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Said {
        Said::new(&self.command(arguments).output().unwrap())
    }

    pub(crate) fn run_with_input(&self, arguments: &[&str], file: &str) -> Said {
        let file = std::fs::File::open(self.path(file)).unwrap();
        Said::new(&self.command(arguments).stdin(Stdio::from(file)).output().unwrap())
    }

    /// A run that must succeed.
    pub(crate) fn done(&self, arguments: &[&str]) -> Said {
        let said = self.run(arguments);
        assert_eq!(said.code, Some(0), "{arguments:?}: {said:?}");
        said
    }

    /// A run that must end with exit code 2, all of `parts` on stderr, no cell anywhere, and the folder as it was.
    pub(crate) fn refused(&self, arguments: &[&str], parts: &[&str]) {
        self.ends_with(2, arguments, parts);
    }

    /// The same with another exit code.
    pub(crate) fn ends_with(&self, code: i32, arguments: &[&str], parts: &[&str]) {
        let before = self.files();
        let said = self.run(arguments);
        said.failed(code, parts);
        assert_eq!(self.files(), before, "{arguments:?}");
    }

    /// The rows of a CSV file as a set with counts, without the header.
    pub(crate) fn counted_rows(&self, file: &str) -> BTreeMap<Vec<String>, usize> {
        let mut rows = BTreeMap::new();
        for row in csv_rows(&self.path(file), b',').into_iter().skip(1) {
            *rows.entry(row).or_insert(0) += 1;
        }
        rows
    }

    /// The size of the smallest group by some columns of a CSV file, counted anew.
    pub(crate) fn smallest_group(&self, file: &str, columns: &[&str]) -> usize {
        let rows = csv_rows(&self.path(file), b',');
        let places: Vec<usize> =
            columns.iter().map(|name| rows[0].iter().position(|column| column == name).unwrap()).collect();
        let mut groups: BTreeMap<Vec<&String>, usize> = BTreeMap::new();
        for row in &rows[1..] {
            *groups.entry(places.iter().map(|&at| &row[at]).collect()).or_insert(0) += 1;
        }
        *groups.values().min().unwrap()
    }
}

impl Said {
    pub(crate) fn new(output: &Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Said { code: output.status.code(), stdout: text(&output.stdout), stderr: text(&output.stderr) }
    }

    /// All that was said.
    pub(crate) fn text(&self) -> String {
        self.stdout.clone() + &self.stderr
    }

    pub(crate) fn failed(&self, code: i32, parts: &[&str]) {
        assert_eq!(self.code, Some(code), "{self:?}");
        assert!(self.stdout.is_empty(), "{self:?}");
        for part in parts {
            assert!(self.stderr.contains(part), "no `{part}` in: {}", self.stderr);
        }
        if code == 2 {
            assert!(self.stderr.starts_with("error: "), "{}", self.stderr);
        }
        self.has_no_cell();
    }

    pub(crate) fn has_no_cell(&self) {
        for cell in CELLS {
            assert!(!self.text().contains(cell), "a cell got out: {self:?}");
        }
        assert!(!self.text().contains("panicked"), "{self:?}");
    }
}

/// People with these numbers.
pub(crate) fn people(numbers: std::ops::Range<usize>) -> String {
    let mut data = "name,age,sex,zip,ill\n".to_owned();
    for n in numbers {
        let ill = ["influenza", "bronchitis", "asthma"][n % 3];
        let zip = if n == 7 { "99999".to_owned() } else { format!("1010{}", n % 4) };
        let sex = ["f", "m"][n % 2];
        data += &format!("Person-{n},{},{sex},{zip},{ill}\n", 20 + n % 30);
    }
    data
}

pub(crate) const ZIP_HIERARCHY: &str =
    "10100;1010*;*\n10101;1010*;*\n10102;1010*;*\n10103;1010*;*\n99999;9999*;*\n";

fn age_hierarchy() -> String {
    (20..60).map(|age| format!("{age};{}-;{}+;*\n", age / 5 * 5, age / 10 * 10)).collect()
}
