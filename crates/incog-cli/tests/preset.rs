//! Presets: what they fill in, what contradicts them, and that the safe harbor releases none of its 18 identifiers.

use std::path::PathBuf;
use std::process::{Command, Output};

use incog_testkit::data::project;
use incog_testkit::described::{Described, Truth, safe_harbor};
use incog_testkit::skipped;
use tempfile::TempDir;

struct Folder(TempDir);

impl Folder {
    fn with(table: &Described) -> Folder {
        let folder = Folder(tempfile::tempdir().unwrap());
        folder.write("data.csv", &table.csv());
        folder
    }

    fn path(&self, file: &str) -> PathBuf {
        self.0.path().join(file)
    }

    fn write(&self, file: &str, text: &str) {
        std::fs::write(self.path(file), text).unwrap();
    }

    fn read(&self, file: &str) -> String {
        std::fs::read_to_string(self.path(file)).unwrap()
    }

    fn run(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_incog")).args(arguments).current_dir(&self.0).output().unwrap()
    }

    fn done(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", stderr(&output));
        stderr(&output)
    }

    /// Runs a job and must be refused with all these parts.
    fn refused(&self, job: &str, parts: &[&str]) {
        self.write("job.toml", job);
        let output = self.run(&["anonymize", "job.toml"]);
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        for part in parts {
            assert!(stderr(&output).contains(part), "no `{part}` in: {}", stderr(&output));
        }
        assert!(!self.path("out.csv").exists());
    }

    /// What the plain Python check says of a release; nothing where there is no Python.
    fn python(&self, table: &Described, release: &str) -> Option<Output> {
        let mut command = Command::new("python3");
        command.arg(project().join("testdata/presets/safe_harbor.py"));
        command.args([self.path("data.csv"), self.path(release)]);
        command.args(
            table.columns.iter().filter(|(_, truth)| *truth == Truth::Identifier).map(|(name, _)| name),
        );
        match command.output() {
            Ok(output) => Some(output),
            Err(_) => {
                skipped("needs python3");
                None
            }
        }
    }
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

const JOB: &str = "preset = \"hipaa-safe-harbor\"\n[input]\npath = \"data.csv\"\n[policy]\nk = 2\nsuppression = \"20%\"\n[output]\npath = \"out.csv\"\n";

#[test]
fn a_release_by_the_safe_harbor_has_none_of_the_18_identifiers() {
    let table = safe_harbor();
    let folder = Folder::with(&table);
    // By a job that `init` proposes, and by a job that names no column at all.
    folder.done(&["init", "data.csv", "--preset", "hipaa-safe-harbor", "-k", "2"]);
    let job = folder.read("incog.toml");
    assert!(
        job.contains("preset = \"hipaa-safe-harbor\"") && job.contains("# 45 CFR 164.514(b)(2)"),
        "{job}"
    );
    assert!(!job.contains("\"decide\""), "{job}");
    folder.done(&["anonymize", "incog.toml", "--suppression", "20%"]);
    folder.write("job.toml", JOB);
    let said = folder.done(&["anonymize", "job.toml"]);
    assert!(said.contains("preset `hipaa-safe-harbor`: drops `patient_name`, `c1`"), "{said}");
    for release in ["data.release.csv", "out.csv"] {
        let released = folder.read(release);
        let header: Vec<&str> = released.lines().next().unwrap().split(',').collect();
        for (name, truth) in &table.columns {
            let is_there = header.contains(&name.as_str());
            assert_eq!(is_there, *truth != Truth::Identifier, "{release}: `{name}` {truth:?} in {header:?}");
        }
        let Some(output) = folder.python(&table, release) else { return };
        assert_eq!(output.status.code(), Some(0), "{release}: {}", String::from_utf8_lossy(&output.stdout));
    }
    // The check can fail: the table itself has all of them.
    let Some(output) = folder.python(&table, "data.csv") else { return };
    assert_eq!(output.status.code(), Some(1));
    let verified = folder.run(&["verify", "out.csv", "--job", "job.toml"]);
    assert_eq!(verified.status.code(), Some(0), "{}", stderr(&verified));
}

#[test]
fn a_job_that_contradicts_its_preset_is_refused_with_lines() {
    let folder = Folder::with(&safe_harbor());
    let with = |columns: &str| format!("{JOB}[columns]\n{columns}\n");
    folder.refused(
        &with("c7 = { role = \"sensitive\" }\nage = { role = \"quasi-identifier\", hierarchy = { intervals = [5] } }"),
        &[
            "line 10 of `job.toml`: the preset `hipaa-safe-harbor` of line 1 does not release column `c7`: its values are e-mail addresses",
            "line 11 of `job.toml`: the preset `hipaa-safe-harbor` of line 1 contradicts what is said of column `age`",
        ],
    );
    folder.refused(
        &with("birth_date = { role = \"quasi-identifier\", hierarchy = { dates = [\"year\"], levels = [1, 2] } }"),
        &["line 10", "bottom = \"1937-01-01\""],
    );
    folder.refused(
        &with("c13 = { role = \"identifier\", replace = \"keyed-hash\" }"),
        &["line 10", "no code that is made from"],
    );
    folder.refused(
        &JOB.replace("hipaa-safe-harbor", "cell-size-11"),
        &["line 5", "k of at least 11, and the job has 2"],
    );
    folder.refused(
        &JOB.replace("hipaa-safe-harbor", "hippa-safe-harbor"),
        &["line 1", "did you mean `hipaa-safe-harbor`?"],
    );
    let unknown = folder.run(&["init", "data.csv", "--preset", "cell-size-1"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(stderr(&unknown).contains("did you mean `cell-size-11`?"), "{}", stderr(&unknown));
    let few = folder.run(&["init", "data.csv", "--preset", "public-use", "-k", "3"]);
    assert!(stderr(&few).contains("k of at least 20, not 3"), "{}", stderr(&few));
    assert!(!folder.path("incog.toml").exists());
}

#[test]
fn every_preset_makes_a_job_that_says_where_it_comes_from() {
    let table = safe_harbor();
    let folder = Folder::with(&table);
    for (preset, k) in
        [("public-use", 20), ("scientific-use", 5), ("cell-size-11", 11), ("hipaa-safe-harbor", 5)]
    {
        folder.done(&["init", "data.csv", "--preset", preset, "--force"]);
        let job = folder.read("incog.toml");
        assert!(
            job.contains(&format!("preset = \"{preset}\"\n")) && job.contains(&format!("k = {k} ")),
            "{job}"
        );
        folder.write("incog.toml", &job.replace("\"decide\"", "\"identifier\""));
        folder.done(&["anonymize", "incog.toml", "--check"]);
        assert!(!folder.path("data.release.csv").exists(), "nothing is written");
    }
}
