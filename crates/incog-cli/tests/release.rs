//! Releases: written whole, verified, and refused when they are tampered with.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use incog_testkit::data::{csv_rows, outside_file, project};
use tempfile::TempDir;

const JOB: &str = r#"[input]
path = "data.csv"
[output]
path = "release.csv"
order = "input"
[policy]
k = 5
suppression = "5%"
[columns]
name.role = "identifier"
age = { role = "quasi-identifier", hierarchy = { intervals = [5, 10, 20] } }
zip = { role = "quasi-identifier", hierarchy = { mask = "right" } }
ill.role = "sensitive"
"#;

/// A folder with a table of 60 people, one of whom lives far away.
struct Job {
    folder: TempDir,
}

impl Job {
    fn new() -> Job {
        let job = Job { folder: tempfile::tempdir().unwrap() };
        let mut data = "name,age,zip,ill\n".to_owned();
        for n in 0..60 {
            let ill = ["flu", "cold", "\"asthma, \"\"chronic\"\"\""][n % 3];
            let zip = if n == 7 { "99999".to_owned() } else { format!("101{:02}", n % 4) };
            data += &format!("person {n},{},{zip},{ill}\n", 20 + n % 30);
        }
        job.write("data.csv", &data);
        job.write("incog.toml", JOB);
        job
    }

    fn path(&self, file: &str) -> PathBuf {
        self.folder.path().join(file)
    }

    fn write(&self, file: &str, text: &str) {
        std::fs::write(self.path(file), text).unwrap();
    }

    fn read(&self, file: &str) -> String {
        std::fs::read_to_string(self.path(file)).unwrap()
    }

    fn replace(&self, file: &str, from: &str, to: &str) {
        let text = self.read(file);
        assert!(text.contains(from), "{file} has no {from}");
        self.write(file, &text.replacen(from, to, 1));
    }

    fn run(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_incog")).args(arguments).current_dir(&self.folder).output().unwrap()
    }

    /// Files in the folder, hidden ones too.
    fn files(&self) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(self.folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    fn verify(&self, release: &str) -> (Option<i32>, String) {
        let output = self.run(&["verify", release, "--job", "incog.toml"]);
        (output.status.code(), String::from_utf8(output.stdout.clone()).unwrap() + &stderr(&output))
    }
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_release_is_written_verified_and_summarized() {
    let job = Job::new();
    let output = job.run(&["anonymize", "incog.toml"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(output.stdout.is_empty());
    let summary = stderr(&output);
    for part in ["rows released", "age: ", "zip: ", "loss 0.", "pass  5-anonymity", "ill: alpha"] {
        assert!(summary.contains(part), "no `{part}` in: {summary}");
    }
    assert!(!summary.contains("person ") && !summary.contains("flu"), "{summary}");
    let release = job.read("release.csv");
    assert!(release.starts_with("age,zip,ill\n"), "identifiers are dropped");
    assert!(release.contains("\"asthma, \"\"chronic\"\"\""), "quoting survives");
    let files = ["data.csv", "incog.key", "incog.toml", "release.csv", "release.csv.incog.json"];
    assert_eq!(job.files(), files);
    let (code, text) = job.verify("release.csv");
    assert_eq!(code, Some(0), "{text}");
    assert!(!text.contains("FAIL"));
}

#[test]
fn the_same_job_gives_the_same_bytes_in_input_order_and_the_same_rows_shuffled() {
    let job = Job::new();
    job.run(&["anonymize", "incog.toml", "-o", "a.csv"]);
    job.run(&["anonymize", "incog.toml", "-o", "b.csv", "--threads", "2", "--algorithm", "bottom-up"]);
    assert_eq!(job.read("a.csv"), job.read("b.csv"));
    job.replace("incog.toml", "order = \"input\"", "order = \"shuffle\"");
    job.run(&["anonymize", "incog.toml", "-o", "c.csv"]);
    let sorted = |file: &str| {
        let mut lines: Vec<String> = job.read(file).lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert_eq!(sorted("a.csv"), sorted("c.csv"));
    assert_ne!(
        job.read("a.csv"),
        job.read("c.csv"),
        "in their old order by chance: less than 1 in a million"
    );
    assert_eq!(job.verify("c.csv").0, Some(0));
}

#[test]
fn tampering_is_noticed_and_the_claim_is_named() {
    let job = Job::new();
    job.run(&["anonymize", "incog.toml"]);
    let rows = csv_rows(&job.path("release.csv"), b',');
    let quoted = |rows: &[Vec<String>]| -> String {
        let cell = |cell: &String| format!("\"{}\"", cell.replace('"', "\"\""));
        rows.iter().map(|row| row.iter().map(cell).collect::<Vec<_>>().join(",") + "\n").collect()
    };
    let refused = |rows: &[Vec<String>], claim: &str| {
        job.write("broken.csv", &quoted(rows));
        let (code, report) = job.verify("broken.csv");
        assert_eq!(code, Some(1), "{report}");
        let fails: Vec<&str> = report.lines().filter(|line| line.contains("FAIL")).collect();
        assert!(fails.iter().any(|line| line.contains(claim)), "{claim}: {report}");
        assert!(!report.contains("flu") && !report.contains("101"), "a cell got out: {report}");
    };
    let other = (2..rows.len()).find(|&at| rows[at][0] != rows[1][0] && rows[at][2] != rows[1][2]).unwrap();

    let mut changed = rows.clone();
    changed[1][2] = "plague".into();
    refused(&changed, "every released row is an input row");
    let mut dropped = rows.clone();
    dropped.remove(1);
    refused(&dropped, "suppressed rows are whole groups");
    let mut swapped = rows.clone();
    (swapped[1][2], swapped[other][2]) = (rows[other][2].clone(), rows[1][2].clone());
    refused(&swapped, "every released row is an input row");
    let wider: Vec<Vec<String>> =
        rows.iter().map(|row| [row.as_slice(), &["1".to_owned()]].concat()).collect();
    refused(&wider, "the columns are");

    // Somebody else's release, without a job: only what the file itself shows.
    let foreign = |qi: &str, k: &str| job.run(&["verify", "release.csv", "--qi", qi, "-k", k]).status.code();
    assert_eq!(foreign("age,zip", "5"), Some(0));
    assert_eq!(foreign("age,zip", "60"), Some(1));
    assert_eq!(foreign("age,city", "5"), Some(1));
    assert_eq!(job.run(&["verify", "none.csv", "--qi", "age", "-k", "5"]).status.code(), Some(2));
    // The record beside it says what there is to check; without one nobody does.
    assert_eq!(job.run(&["verify", "release.csv"]).status.code(), Some(0));
    std::fs::remove_file(job.path("release.csv.incog.json")).unwrap();
    assert_eq!(job.run(&["verify", "release.csv"]).status.code(), Some(2));
}

#[test]
fn what_cannot_be_written_leaves_nothing() {
    let job = Job::new();
    let refused = |output: &str, part: &str| {
        let before = job.files();
        let result = job.run(&["anonymize", "incog.toml", "-o", output]);
        assert_eq!(result.status.code(), Some(2));
        assert!(stderr(&result).contains(part), "no `{part}` in: {}", stderr(&result));
        assert_eq!(job.files(), before);
    };
    refused("none/release.csv", "its folder does not exist");
    refused(".", "would replace the data");
    let data = job.read("data.csv");
    refused("data.csv", "would replace the data");
    assert_eq!(job.read("data.csv"), data);
    job.replace("incog.toml", "path = \"release.csv\"\n", "");
    let result = job.run(&["anonymize", "incog.toml"]);
    assert!(stderr(&result).contains("does not say where to write"), "{}", stderr(&result));
    // As on a full disk: no file may grow beyond a block.
    let limited = Command::new("bash")
        .arg("-c")
        .arg(format!(
            "ulimit -f 1; trap '' XFSZ; exec {} anonymize incog.toml -o big.csv",
            env!("CARGO_BIN_EXE_incog")
        ))
        .current_dir(&job.folder)
        .output()
        .unwrap();
    assert_eq!(limited.status.code(), Some(2), "{}", stderr(&limited));
    assert!(stderr(&limited).contains("cannot write"), "{}", stderr(&limited));
    assert_eq!(job.files(), ["data.csv", "incog.toml"]);
}

/// Ended by a signal while it reads from a pipe that stays open: nothing is written, and it says so.
#[test]
fn a_signal_ends_the_run_and_leaves_nothing() {
    let job = Job::new();
    job.replace("incog.toml", "path = \"data.csv\"", "path = \"-\"");
    let mut child = Command::new(env!("CARGO_BIN_EXE_incog"))
        .args(["anonymize", "incog.toml"])
        .current_dir(&job.folder)
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let data = job.read("data.csv");
    // Only what the process has read tells that its handler is in place: more than a pipe holds.
    for _ in 0..200 {
        std::io::Write::write_all(&mut stdin, data.as_bytes()).unwrap();
    }
    let killed = Command::new("kill").arg("-TERM").arg(child.id().to_string()).status().unwrap();
    assert!(killed.success());
    // It ends though its input does not.
    while std::io::Write::write_all(&mut stdin, data.as_bytes()).is_ok() {}
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(143));
    assert!(stderr(&output).contains("error: cancelled"), "{}", stderr(&output));
    assert_eq!(job.files(), ["data.csv", "incog.toml"]);
}

#[test]
fn an_impossible_policy_writes_nothing_and_says_what_is_in_the_way() {
    let job = Job::new();
    let output = job.run(&["anonymize", "incog.toml", "-k", "61"]);
    assert_eq!(output.status.code(), Some(1));
    let text = stderr(&output);
    assert!(text.contains("closest: age=4, zip=5 would need 60 of 60 rows suppressed"), "{text}");
    assert_eq!(job.files(), ["data.csv", "incog.toml"]);
}

#[test]
fn pipes_and_compression_work() {
    let job = Job::new();
    job.run(&["anonymize", "incog.toml"]);
    let release = job.read("release.csv");
    for name in ["release.csv.gz", "release.csv.zst"] {
        assert_eq!(job.run(&["anonymize", "incog.toml", "-o", name]).status.code(), Some(0));
        assert_eq!(job.verify(name).0, Some(0), "{name}");
        assert!(std::fs::metadata(job.path(name)).unwrap().len() < release.len() as u64);
    }
    job.replace("incog.toml", "path = \"data.csv\"", "path = \"-\"");
    let piped = Command::new(env!("CARGO_BIN_EXE_incog"))
        .args(["anonymize", "incog.toml", "-o", "-"])
        .current_dir(&job.folder)
        .stdin(Stdio::from(std::fs::File::open(job.path("data.csv")).unwrap()))
        .output()
        .unwrap();
    assert_eq!(piped.status.code(), Some(0), "{}", stderr(&piped));
    assert_eq!(String::from_utf8(piped.stdout).unwrap(), release);
}

#[test]
fn persons_are_counted_where_a_unit_is_named() {
    let job = Job::new();
    job.replace("incog.toml", "k = 5", "k = 5\nunit = \"name\"");
    // Everybody has two rows.
    let data = job.read("data.csv");
    let (header, rows) = data.split_once('\n').unwrap();
    job.write("data.csv", &format!("{header}\n{rows}{rows}"));
    let output = job.run(&["anonymize", "incog.toml"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("pass  every group has at least 5 persons (name)"),
        "{}",
        stderr(&output)
    );
    assert!(!job.read("release.csv").contains("person"));
}

#[test]
fn lists_and_schema_are_printed() {
    let job = Job::new();
    let list = String::from_utf8(job.run(&["list"]).stdout).unwrap();
    for name in ["k-anonymity", "incognito", "super-roots", "transitive", "geometric-loss"] {
        assert!(list.contains(name), "{name}");
    }
    let schema: serde_json::Value = serde_json::from_slice(&job.run(&["schema"]).stdout).unwrap();
    // A job is about one table or about a database.
    let kinds: Vec<&serde_json::Value> = schema["anyOf"].as_array().unwrap().iter().collect();
    let has_key = |kind: &serde_json::Value, key: &str| {
        let name = kind["$ref"].as_str().unwrap().rsplit('/').next().unwrap();
        schema["$defs"][name]["properties"][key].is_object()
    };
    assert_eq!(kinds.iter().map(|kind| has_key(kind, "policy")).collect::<Vec<_>>(), [true, true]);
    assert_eq!(kinds.iter().map(|kind| has_key(kind, "database")).collect::<Vec<_>>(), [false, true]);
}

/// The whole way on the paper's table; then an outside look at the released file.
#[test]
fn adult_is_released_within_one_percent() {
    let Some(data) = outside_file("adult/adult.csv") else { return };
    let folder = tempfile::tempdir().unwrap();
    let header = csv_rows(&data, b',').remove(0);
    let hierarchies = project().join("testdata/hierarchies/adult");
    let mut job = format!("[input]\npath = {data:?}\n[output]\npath = \"out.csv\"\n");
    job += "[policy]\nk = 10\nsuppression = \"1%\"\n";
    for column in &header {
        let file = hierarchies.join(format!("{column}.csv"));
        job +=
            &format!("[columns.{column}]\nrole = \"quasi-identifier\"\nhierarchy = {{ file = {file:?} }}\n");
    }
    let path = folder.path().join("incog.toml");
    std::fs::write(&path, job).unwrap();
    let run =
        |arguments: &[&Path]| Command::new(env!("CARGO_BIN_EXE_incog")).args(arguments).output().unwrap();
    let output = run(&[Path::new("anonymize"), &path]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let rows = csv_rows(&folder.path().join("out.csv"), b',');
    assert_eq!(rows[0], header);
    assert!(rows.len() > 45_222 - 452 && rows.len() <= 45_223);
    let mut groups = std::collections::HashMap::new();
    for row in &rows[1..] {
        *groups.entry(row).or_insert(0) += 1;
    }
    assert!(*groups.values().min().unwrap() >= 10);
}
