//! The real binary in a temporary folder.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use incog_testkit::data::{outside_file, project};
use serde_json::Value;
use tempfile::TempDir;

/// A secret cell: no message may contain it.
const SECRET: &str = "Kowalczyk";

/// A folder with a job that works, to be spoilt one file at a time.
struct Job {
    folder: TempDir,
}

impl Job {
    fn new() -> Job {
        let job = Job { folder: tempfile::tempdir().unwrap() };
        job.write(
            "incog.toml",
            "[input]\npath = \"data.csv\"\n[policy]\nk = 2\n[columns.name]\nrole = \"identifier\"\n[columns.sex]\n\
             role = \"quasi-identifier\"\n[columns.zip]\nrole = \"quasi-identifier\"\nhierarchy = { file = \"zip.csv\" }\n\
             [columns.illness]\nrole = \"sensitive\"\n",
        );
        job.write(
            "data.csv",
            "name,sex,zip,illness\nKowalczyk,f,10115,flu\nSmith,f,10117,cold\nLi,m,10115,flu\nSato,m,10117,asthma\n",
        );
        job.write("zip.csv", "10115;1011*;*\n10117;1011*;*\n20095;2009*;*\n");
        job
    }

    fn path(&self, file: &str) -> PathBuf {
        self.folder.path().join(file)
    }

    fn write(&self, file: &str, text: impl AsRef<[u8]>) {
        std::fs::write(self.path(file), text).unwrap();
    }

    /// Replaces text in a file, which must be there.
    fn replace(&self, file: &str, from: &str, to: &str) -> &Job {
        let text = std::fs::read_to_string(self.path(file)).unwrap();
        assert!(text.contains(from), "{file} has no {from}");
        self.write(file, text.replace(from, to));
        self
    }

    fn search(&self, flags: &[&str]) -> Output {
        search(&self.path("incog.toml"), flags)
    }

    /// The job must fail with exit code 2, one error line with all of `parts`, a hint where `hint` is not empty,
    /// nothing on stdout, and no cell.
    fn refused(&self, parts: &[&str], hint: &str) {
        self.refused_with(&[], parts, hint);
    }

    fn refused_with(&self, flags: &[&str], parts: &[&str], hint: &str) {
        let output = self.search(flags);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert!(output.stdout.is_empty());
        let (error, advice) = stderr.split_once("\n").unwrap();
        assert!(error.starts_with("error: "), "{stderr}");
        for part in parts {
            assert!(error.contains(part), "no `{part}` in: {stderr}");
        }
        if hint.is_empty() {
            assert!(advice.is_empty() || advice.contains("hint: "), "{stderr}");
        } else {
            assert!(advice.contains("hint: ") && advice.contains(hint), "no hint `{hint}` in: {stderr}");
        }
        for cell in [SECRET, "10115", "10117", "asthma", "flu"] {
            assert!(!stderr.contains(cell), "a cell got out: {stderr}");
        }
        assert!(!stderr.contains("panicked"), "{stderr}");
    }
}

fn search(job: &Path, flags: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_incog")).arg("search").arg(job).args(flags).output().unwrap()
}

fn json(output: &Output) -> Value {
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.stderr.is_empty(), "{stderr}");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn the_patients_example_prints_what_the_paper_says() {
    let job = project().join("examples/patients/incog.toml");
    let output = search(&job, &["--format", "json"]);
    assert_eq!(output.status.code(), Some(0));
    let report = json(&output);
    assert_eq!(report["quasi_identifiers"], serde_json::json!(["birthdate", "sex", "zipcode"]));
    assert_eq!(report["lattice_nodes"], 12);
    assert_eq!(report["satisfying"], 5);
    assert_eq!(report["nodes_checked"], 17);
    assert!(report["search_ms"].as_f64().unwrap() >= 0.0);
    let minimal = report["minimal"].as_array().unwrap();
    let levels: Vec<String> = minimal.iter().map(|node| node["levels"].to_string()).collect();
    assert_eq!(
        levels,
        [
            r#"{"birthdate":0,"sex":1,"zipcode":2}"#,
            r#"{"birthdate":1,"sex":0,"zipcode":2}"#,
            r#"{"birthdate":1,"sex":1,"zipcode":0}"#
        ]
    );
    // <B1, S0, Z2> leaves three men and three women.
    assert_eq!(minimal[1]["smallest_group"], 3);
    assert_eq!(minimal[1]["suppressed_rows"], 0);
    assert_eq!(minimal[1]["scores"]["discernibility"], 18.0);
    // Equal loss (two attributes fully generalized, one untouched): the lower height wins.
    assert_eq!(report["best"]["levels"], minimal[2]["levels"]);
    assert!(report.get("all").is_none());
}

#[test]
fn flags_choose_algorithm_checker_marking_metric_and_k() {
    let job = project().join("examples/patients/incog.toml");
    for algorithm in ["exhaustive", "bottom-up", "incognito"] {
        for checker in ["scan", "sort", "roll-up", "super-roots", "cube"] {
            for marking in ["direct", "transitive"] {
                let flags = ["--algorithm", algorithm, "--checker", checker, "--marking", marking];
                let report = json(&search(&job, &[&flags[..], &["--format", "json", "--all"]].concat()));
                assert_eq!(report["satisfying"], 5);
                assert_eq!(report["all"].as_array().unwrap().len(), 5);
                assert_eq!(report["algorithm"], algorithm);
                assert_eq!(report["checker"], checker);
                assert_eq!(report["marking"], marking);
            }
        }
    }
    let one = json(&search(&job, &["--algorithm", "samarati", "--format", "json"]));
    assert_eq!(one["complete"], false);
    assert_eq!(one["best"]["height"], 2);
    let by_precision = json(&search(&job, &["--metric", "precision", "--format", "json", "--threads", "2"]));
    assert_eq!(by_precision["metric"], "precision");
    let k3 = json(&search(&job, &["-k", "3", "--format", "json"]));
    assert_eq!(k3["policy"]["requires"], "3-anonymity");
    assert_eq!(k3["satisfying"], 2);
}

#[test]
fn nothing_that_satisfies_is_exit_code_1_not_an_error() {
    let job = Job::new();
    for format in ["json", "text"] {
        let output = job.search(&["-k", "5", "--format", format]);
        assert_eq!(output.status.code(), Some(1));
        assert!(output.stderr.is_empty());
    }
    let report = json(&job.search(&["-k", "5", "--format", "json"]));
    assert_eq!(report["satisfying"], 0);
    assert!(report["best"].is_null());
    let text = String::from_utf8(job.search(&["-k", "5"]).stdout).unwrap();
    assert!(
        text.starts_with("none of 6 generalizations satisfies 5-anonymity without suppression"),
        "{text}"
    );
}

#[test]
fn the_readable_form_names_the_quasi_identifiers_and_no_value() {
    let output = Job::new().search(&[]);
    assert_eq!(output.status.code(), Some(0));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("relative to the quasi-identifiers sex, zip"), "{text}");
    assert!(text.contains("minimal") && text.contains("best by loss"), "{text}");
    assert!(!text.contains(SECRET) && !text.contains("1011"), "{text}");
}

#[test]
fn suppression_is_a_count_or_a_share() {
    let suppressed = |setting: &str| {
        let job = Job::new();
        job.replace("incog.toml", "k = 2", &format!("k = 2\nsuppression = {setting}"));
        json(&job.search(&["--format", "json"]))["policy"]["suppression_rows"].clone()
    };
    assert_eq!(suppressed("3"), 3);
    assert_eq!(suppressed("\"3\""), 3);
    assert_eq!(suppressed("\"50%\""), 2);
    assert_eq!(suppressed("\"74.9%\""), 2, "rounded down");
}

#[test]
fn weights_change_the_best_node() {
    let job = Job::new();
    let best = |settings: &str| {
        let text = std::fs::read_to_string(job.path("incog.toml")).unwrap();
        let weighted = job.path("weighted.toml");
        std::fs::write(&weighted, text.replace("[columns.name]", &format!("{settings}\n[columns.name]")))
            .unwrap();
        json(&search(&weighted, &["--format", "json"]))["best"]["levels"].to_string()
    };
    let keep_sex = best("[search]\nmetric = \"weighted-height\"\nweights = { sex = 5 }");
    assert_eq!(keep_sex, r#"{"sex":0,"zip":1}"#);
    let keep_zip = best("[search]\nmetric = \"weighted-height\"\nweights = { zip = 5 }");
    assert_eq!(keep_zip, r#"{"sex":1,"zip":0}"#);
}

#[test]
fn bad_hierarchies_are_refused() {
    let spoil = |text: &[u8], parts: &[&str], hint: &str| {
        let job = Job::new();
        job.write("zip.csv", text);
        job.refused(parts, hint);
    };
    spoil(
        b"10115;1011*;*\n",
        &["column `zip`", "zip.csv", "no row for 1 of 2 values", "2 records"],
        "add a row",
    );
    spoil(
        b"10115;1011*;*\n10117;1011*;**\n",
        &["column `zip`", "zip.csv", "line 2", "another parent", "line 1"],
        "equal labels",
    );
    spoil(
        b"10115;1011*;*\n10117;1011*\n",
        &["column `zip`", "zip.csv", "line 2 has 2 fields, line 1 has 3"],
        "`;`",
    );
    spoil(b"10115;*\n10117;*\n10115;*\n", &["line 3 repeats the value of line 1"], "one row per value");
    spoil(b"", &["column `zip`", "zip.csv", "is empty"], "one row per value");
    spoil(b"10115,1011*,*\n", &["line 1 has a single field"], "`;`");
    spoil(b"10115;1011*;*\n10117;\xFF;*\n", &["zip.csv", "line 2 is not UTF-8"], "convert");
    let job = Job::new();
    std::fs::remove_file(job.path("zip.csv")).unwrap();
    job.refused(&["cannot read the hierarchy of column `zip`", "no such file"], "relative to the job file");
}

#[test]
fn bad_data_files_are_refused() {
    let spoil = |text: &[u8], parts: &[&str], hint: &str| {
        let job = Job::new();
        job.write("data.csv", text);
        job.refused(parts, hint);
    };
    spoil(b"", &["data.csv", "is empty"], "name the columns");
    spoil(b"name,sex,zip,illness\n", &["data.csv", "a header and no rows"], "");
    spoil(
        b"name,sex,zip,illness\nKowalczyk,f,10115\n",
        &["data.csv", "line 2 has 3 fields, the header has 4"],
        "quoted",
    );
    spoil(
        b"name,sex,zip,illness\nKowalczyk,f,10115,fl\xFC\n",
        &["line 2", "column `illness` is not UTF-8"],
        "convert",
    );
    spoil(b"name;sex;zip;illness\nKowalczyk;f;10115;flu\n", &["no column `name`, `sex`"], "delimiter");
    spoil(b"name,sex,zap,illness\nKowalczyk,f,10115,flu\n", &["has no column `zip`"], "did you mean `zap`?");
    spoil(b"name,sex,zip,illness,zip\na,f,10115,x,10115\n", &["two columns are named `zip`"], "rename");
    spoil(b"name,sex,zip,illness,age\na,f,10115,x,1\n", &["the job says nothing about column `age`"], "role");
    let job = Job::new();
    std::fs::remove_file(job.path("data.csv")).unwrap();
    job.refused(&["cannot read the data file", "data.csv", "no such file"], "relative to the job file");
    std::fs::create_dir(job.path("data.csv")).unwrap();
    job.refused(&["data.csv", "it is a folder"], "");
}

#[test]
fn missing_values_need_a_branch_of_their_own() {
    let job = Job::new();
    job.replace("data.csv", "Sato,m,10117", "Sato,m,");
    job.refused(
        &["column `zip`", "no row for the missing value", "1 records, first in record 4"],
        "value of its own",
    );
    job.write("zip.csv", "10115;1011*;*\n10117;1011*;*\n;unknown;*\n");
    assert_eq!(job.search(&[]).status.code(), Some(0));
}

#[test]
fn bad_settings_are_refused() {
    let spoil = |from: &str, to: &str, parts: &[&str], hint: &str| {
        let job = Job::new();
        job.replace("incog.toml", from, to);
        job.refused(parts, hint);
    };
    spoil("k = 2", "k = 0", &["k is 0"], "common choices");
    spoil("k = 2", "k = -3", &["k is negative"], "");
    spoil("k = 2", "k = \"two\"", &["incog.toml", "line 4", "invalid type"], "");
    spoil("k = 2", "k = 2\nsuppression = \"101%\"", &["suppression is over 100 %"], "100%");
    spoil("k = 2", "k = 2\nsuppression = 5", &["suppression of 5 rows is over 100 %", "the table has 4"], "");
    spoil("k = 2", "k = 2\nsuppression = -1", &["suppression is negative"], "percentage");
    spoil("k = 2", "k = 2\nsuppression = \"0.05\"", &["suppression is neither"], "1%");
    spoil("k = 2", "k = 2\nsupression = 1", &["incog.toml", "line 5", "unknown field `supression`"], "");
    spoil("[columns.zip]", "[columns.sex]", &["incog.toml", "line 9", "duplicate key"], "");
    spoil(
        "[columns.sex]",
        "[columns.gender]",
        &["no column `gender`"],
        "its columns are: name, sex, zip, illness",
    );
    spoil("\"sensitive\"", "\"secret\"", &["incog.toml", "line 13", "unknown variant `secret`"], "");
    spoil(
        "\"sensitive\"",
        "\"sensitive\"\nhierarchy = { file = \"zip.csv\" }",
        &["`illness`", "no quasi-identifier"],
        "",
    );
    spoil("quasi-identifier", "other", &["column `zip` has a hierarchy"], "only quasi-identifiers");
    spoil("[input]", "[input", &["incog.toml", "line 1"], "");
    let search = |line: &str, parts: &[&str], hint: &str| {
        spoil("[columns.name]", &format!("[search]\n{line}\n[columns.name]"), parts, hint);
    };
    search(
        "algorithm = \"incognitto\"",
        &["unknown algorithm `incognitto`; did you mean `incognito`?"],
        "samarati",
    );
    search("checker = \"rollup\"", &["unknown checker `rollup`; did you mean `roll-up`?"], "cube");
    search("marking = \"none\"", &["unknown marking `none`"], "direct");
    search("metric = \"entropy\"", &["unknown metric `entropy`"], "geometric-loss");
    search("weights = { illness = 2 }", &["`illness`, which is no quasi-identifier"], "");
    search("weights = { sex = -2 }", &["weight of `sex` is negative"], "");
    search("weights = { sex = 0, zip = 0 }", &["every weight is 0"], "leave `weights` out");
    search("metric = \"height\"\nweights = { sex = 2 }", &["`height` knows no weights"], "weighted-height");
    search("threads = 0", &["threads is 0"], "");
    search("cube_memory = \"1 GiB\"", &["are for the checker `cube`"], "");
    search("checker = \"cube\"\ncube_memory = \"lots\"", &["`cube_memory` is not a size"], "MiB");
    search("checker = \"cube\"\ncube_levels = \"top\"", &["neither `zero-level` nor `every-level`"], "");

    let job = Job::new();
    job.replace("incog.toml", "quasi-identifier\"\nhierarchy = { file = \"zip.csv\" }", "other\"");
    job.replace("incog.toml", "quasi-identifier", "other");
    job.refused(&["no column is a quasi-identifier"], "role");
    Job::new().refused_with(&["-k", "0"], &["k is 0"], "");
    Job::new().refused_with(&["--algorithm", "best"], &["unknown algorithm `best`"], "incognito");
    std::fs::remove_file(job.path("incog.toml")).unwrap();
    job.refused(&["cannot read the job file"], "");
}

#[test]
fn usage_errors_are_exit_code_2_and_help_is_0() {
    let run =
        |arguments: &[&str]| Command::new(env!("CARGO_BIN_EXE_incog")).args(arguments).output().unwrap();
    assert_eq!(run(&["serch", "x"]).status.code(), Some(2));
    assert_eq!(run(&["search"]).status.code(), Some(2));
    assert_eq!(run(&["--help"]).status.code(), Some(0));
    let help = String::from_utf8(run(&["search", "--help"]).stdout).unwrap();
    // The help lists every registered name.
    for names in [
        incog_core::algorithm::ALL.iter().map(|entry| entry.name).collect::<Vec<_>>(),
        incog_core::check::ALL.iter().map(|entry| entry.name).collect(),
        incog_core::algorithm::MARKINGS.iter().map(|entry| entry.name).collect(),
        incog_core::metric::ALL.iter().map(|entry| entry.name).collect(),
    ] {
        for name in names {
            assert!(help.contains(name), "{name} is not in the help");
        }
    }
}

#[test]
fn files_as_other_systems_write_them_are_read() {
    let job = Job::new();
    let text = std::fs::read_to_string(job.path("data.csv")).unwrap();
    job.write("data.csv", format!("\u{FEFF}{}", text.replace('\n', "\r\n")));
    let zip = std::fs::read_to_string(job.path("zip.csv")).unwrap();
    job.write("zip.csv", format!("\u{FEFF}{}", zip.replace('\n', "\r\n")));
    assert_eq!(json(&job.search(&["--format", "json"]))["satisfying"], 5);
    job.write("data.csv", text.replace(',', ";"));
    job.replace("incog.toml", "path = \"data.csv\"", "path = \"data.csv\"\ndelimiter = \";\"");
    assert_eq!(json(&job.search(&["--format", "json"]))["satisfying"], 5);
}

/// The whole path from files to JSON on the paper's table, with the numbers of the expected tables.
#[test]
fn adult_comes_out_as_expected_through_the_command_line() {
    let Some(data) = outside_file("adult/adult.csv") else { return };
    let folder = tempfile::tempdir().unwrap();
    let hierarchies = project().join("testdata/hierarchies/adult");
    let columns = std::fs::read_to_string(&data).unwrap().lines().next().unwrap().to_owned();
    let mut job =
        format!("[input]\npath = {:?}\n[policy]\nk = 5\nsuppression = \"1%\"\n", data.to_str().unwrap());
    for column in columns.split(',') {
        let file = hierarchies.join(format!("{column}.csv"));
        job += &format!(
            "[columns.{column}]\nrole = \"quasi-identifier\"\nhierarchy = {{ file = {:?} }}\n",
            file.to_str().unwrap()
        );
    }
    let path = folder.path().join("incog.toml");
    std::fs::write(&path, job).unwrap();
    let report = json(&search(&path, &["--format", "json", "--threads", "2"]));
    // expected_best_k5.jsonl, third line.
    assert_eq!(report["satisfying"], 2161);
    assert_eq!(report["best"]["suppressed_rows"], 318);
    assert!((report["best"]["scores"]["loss"].as_f64().unwrap() - 0.384_872_919).abs() < 5e-10);
    let levels: Vec<u64> =
        report["best"]["levels"].as_object().unwrap().values().map(|level| level.as_u64().unwrap()).collect();
    assert_eq!(levels.iter().sum::<u64>(), 11);
    assert_eq!(report["best"]["levels"]["age"], 4);
}
