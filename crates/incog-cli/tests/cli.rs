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
    assert_eq!(
        report["nodes_checked"], 8,
        "three minimal nodes, two highest that fail, and three on the way"
    );
    let incognito = json(&search(&job, &["--format", "json", "--algorithm", "incognito"]));
    assert_eq!(
        (&incognito["nodes_checked"], &incognito["minimal"]),
        (&serde_json::json!(17), &report["minimal"])
    );
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
    // What it was called in earlier job files.
    let former = json(&search(&job, &["--checker", "kept", "--format", "json"]));
    assert_eq!((&former["checker"], &former["satisfying"]), (&"snapshots".into(), &5.into()));
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
    let obstacle =
        "closest: sex=1, zip=2 would need 4 of 4 rows suppressed (100.0 %); the budget is 0 rows (0.0 %)";
    assert!(text.contains(obstacle), "{text}");
    assert_eq!(report["obstacle"], obstacle);

    // One zip code alone, and zip codes must stay; generalizing sex does not help, so the closest keeps it.
    job.replace("data.csv", "Sato,m,10117", "Sato,f,20095").replace("data.csv", "Li,m,10115", "Li,f,10117");
    job.replace("data.csv", "Kowalczyk,f,10115", "Kowalczyk,f,10117");
    job.replace("incog.toml", "file = \"zip.csv\"", "file = \"zip.csv\", levels = [0]");
    let text = String::from_utf8(job.search(&[]).stdout).unwrap();
    assert!(text.contains("closest: sex=0, zip=0 would need 1 of 4 rows suppressed (25.0 %)"), "{text}");
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

/// Both releases lose half of everything. Of sex only level 3 may be chosen, one step away, but the higher one.
#[test]
fn ties_go_to_the_lower_height_as_it_is_printed() {
    let job = Job::new();
    job.write("sex.csv", "f;F;x;*\nm;M;x;*\n");
    job.write("zip.csv", "10115;one;*\n10117;two;*\n");
    let column = "[columns.sex]\nrole = \"quasi-identifier\"\n";
    let rule = "hierarchy = { file = \"sex.csv\", levels = [0, 3] }\n";
    job.replace("incog.toml", column, &format!("{column}{rule}"));
    let best = &json(&job.search(&["--format", "json"]))["best"];
    assert_eq!(best["levels"].to_string(), r#"{"sex":0,"zip":2}"#);
    assert_eq!(best["height"], 2);
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
    spoil(b"10115\n10117\n", &["line 1 has a single field"], "`;`");
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
        &["line 2", "column 4 is not UTF-8"],
        "encoding = ",
    );
    spoil(
        b"name,sex,zap,illness\nKowalczyk,f,10115,flu\n",
        &["line 9 of", "the data has no column `zip`; did you mean `zap`?"],
        "",
    );
    spoil(
        b"name,sex,zip,illness,zip\na,f,10115,x,10115\n",
        &["data.csv", "columns 3 and 5 have the same name"],
        "differently",
    );
    spoil(b"name,sex,zip,illness,age\na,f,10115,x,1\n", &["the job says nothing about column `age`"], "role");
    // Without a header the first line is somebody's: it must not get out.
    spoil(
        b"Kowalczyk,f,10115,flu\nLi,m,10117,cold\n",
        &["none of the job's 4 columns is among the 4"],
        "first line",
    );
    spoil(b"10115,10115,10115,flu\n", &["columns 1 and 2 have the same name"], "first line");
    spoil(
        b"name,sex,zip,\"illness\nKowalczyk,f,10115,flu\n",
        &["data.csv", "the quoted field that starts on line 1 is never closed"],
        "quote",
    );
    spoil(
        b"name,sex,zip,illness\na,f,10115,flu\nb,f,10117,\"cold\nc,m,10117,flu\nd,m,10117,flu\n",
        &["data.csv", "the quoted field that starts on line 3 is never closed"],
        "doubled",
    );
    let job = Job::new();
    std::fs::remove_file(job.path("data.csv")).unwrap();
    job.refused(&["cannot read the data file", "data.csv", "no such file"], "relative to the job file");
    std::fs::create_dir(job.path("data.csv")).unwrap();
    job.refused(&["data.csv", "has no data files"], "");
}

#[test]
fn empty_lines_of_a_single_column_are_not_skipped() {
    let job = Job::new();
    job.write(
        "incog.toml",
        "[input]\npath = \"data.csv\"\n[policy]\nk = 2\n[columns.zip]\nrole = \"quasi-identifier\"\n",
    );
    job.write("data.csv", "zip\n1\n\n1\n\n");
    job.refused(&["data.csv", "a single column and 2 empty lines"], "missing value");
    job.write("data.csv", "zip\n1\n\"\"\n1\n\"\"\n");
    assert_eq!(json(&job.search(&["--format", "json"]))["rows"], 4);
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
    spoil("k = 2", "k = \"two\"", &["line 4 of", "incog.toml", "`policy.k` is text, not a whole number"], "");
    spoil("k = 2", "k = 2\nsuppression = \"101%\"", &["suppression is over 100 %"], "100%");
    spoil("k = 2", "k = 2\nsuppression = 5", &["suppression of 5 rows is over 100 %", "the table has 4"], "");
    spoil("k = 2", "k = 2\nsuppression = -1", &["suppression is negative"], "percentage");
    spoil("k = 2", "k = 2\nsuppression = \"0.05\"", &["suppression is neither"], "1%");
    spoil(
        "k = 2",
        "k = 2\nsuppression = 0.05",
        &["line 5 of", "is a decimal number, not a whole number or text"],
        "",
    );
    spoil(
        "k = 2",
        "k = 2\nsupression = 1",
        &["line 5 of", "incog.toml", "unknown key `supression` in `policy`; did you mean `suppression`?"],
        "",
    );
    spoil("[columns.zip]", "[columns.sex]", &["incog.toml", "line 9", "duplicate key"], "");
    spoil("[columns.sex]", "[columns.gender]", &["line 7 of", "the data has no column `gender`"], "");
    spoil(
        "\"sensitive\"",
        "\"secret\"",
        &["line 13 of", "`columns.illness.role` is none of identifier, "],
        "",
    );
    spoil(
        "\"sensitive\"",
        "\"sensitive\"\nhierarchy = { file = \"zip.csv\" }",
        &["`illness`", "no quasi-identifier"],
        "",
    );
    spoil("quasi-identifier", "other", &["column `zip` has a hierarchy"], "only quasi-identifiers");
    spoil("[input]", "[input", &["incog.toml", "line 1"], "");
    spoil(
        "\"sensitive\"",
        "\"decide\"",
        &["line 13 of", "role of column `illness` is not decided"],
        "write identifier",
    );
    spoil(
        "path = \"data.csv\"",
        "path = \"data.csv\"\ndelimiter = \"|\"",
        &["line 2 of", "none of the job's 4 columns is among the 1 of the data"],
        "delimiter",
    );
    spoil("path = \"data.csv\"", "path = \"data.csv\"\ndelimiter = \"ä\"", &["line 3 of", "not ASCII"], "");
    spoil("k = 2", "k = 2\nunit = \"sex\"", &["the unit `sex` is a quasi-identifier"], "never released");
    spoil("k = 2", "k = 2\nunit = \"patient\"", &["line 5 of", "the data has no column `patient`"], "");
    let hierarchy =
        |spec: &str, parts: &[&str], hint: &str| spoil("{ file = \"zip.csv\" }", spec, parts, hint);
    hierarchy(
        "{ file = \"zip.csv\", mask = \"right\" }",
        &["line 11 of", "`zip`", "one of file, mask, not several"],
        "",
    );
    hierarchy(
        "{ mask = \"up\" }",
        &["line 11 of", "`columns.zip.hierarchy.mask` is none of right, left"],
        "",
    );
    hierarchy("{ mask = \"right\", top = 3 }", &["line 11 of", "`top` is for intervals"], "");
    hierarchy("{ mask = \"right\", levels = [9] }", &["line 11 of", "no level 9; the highest is 5"], "");
    hierarchy("{ intervals = [5, 12] }", &["line 11 of", "12 is not a multiple of 5"], "nest");
    hierarchy("{ dates = [\"year\"] }", &["line 11 of", "2 of 2 values are not dates", "record 1"], "clean");
    hierarchy(
        "{ dates = [\"year\", \"month\"] }",
        &["line 11 of", "from fine to coarse"],
        "day, week, month",
    );
    hierarchy("{ tree = { a = [\"x\"] } }", &["line 11 of", "2 of 2 values are not leaves"], "");
    hierarchy("{ tree = \"none.txt\" }", &["cannot read the tree", "no such file"], "");
    hierarchy("{ file = \"zip.csv\", missing = \"?\" }", &["`missing` is not for files"], "row of its own");
    hierarchy("{ suppress = false }", &["can only be true"], "levels = [0]");
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
    search("threads = 0", &["line 6 of", "threads is not from 1 to 1024"], "1 is the default");
    search("threads = 1000000", &["threads is not from 1 to 1024"], "");
    search("weights = { sex = 1e300 }", &["weight of `sex` is negative, too small, too large"], "");
    search("checker = \"scan\"\nmemory = \"1 GiB\"", &["line 7 of", "`scan` keeps no sets"], "`cube`");
    search(
        "bitmap_sets = \"reusing\"",
        &["line 6 of", "goes with checker = \"bitmap\""],
        "checker = \"bitmap\"",
    );
    search("checker = \"cube\"\nbitmap_pruning = false", &["goes with checker = \"bitmap\""], "");
    search("checker = \"cube\"\nmemory = \"lots\"", &["`memory` is not a size"], "MiB");
    search(
        "checker = \"cube\"\ncube_levels = \"top\"",
        &["line 7 of", "is none of zero-level, every-level"],
        "",
    );

    let job = Job::new();
    job.replace("incog.toml", "quasi-identifier\"\nhierarchy = { file = \"zip.csv\" }", "other\"");
    job.replace("incog.toml", "quasi-identifier", "other");
    job.refused(&["no column is a quasi-identifier"], "role");
    // What a flag says is on no line of the job.
    Job::new().refused_with(&["-k", "0"], &["error: k is 0"], "");
    Job::new().refused_with(&["--algorithm", "worst"], &["error: unknown algorithm `worst`"], "incognito");
    Job::new().refused_with(&["--algorithm", "best"], &["error: `best` finds one release"], "incognito");
    std::fs::remove_file(job.path("incog.toml")).unwrap();
    job.refused(&["cannot read the job file"], "");
}

#[test]
fn all_mistakes_are_told_at_once() {
    let job = Job::new();
    job.replace("incog.toml", "k = 2", "k = 0\nsuppression = \"1 percent\"");
    job.replace("incog.toml", "[columns.sex]", "[columns.sxe]");
    job.replace("incog.toml", "[columns.name]", "[search]\nmetric = \"entropy\"\n[columns.name]");
    let output = job.search(&[]);
    assert_eq!(output.status.code(), Some(2));
    let stderr = String::from_utf8(output.stderr).unwrap();
    let errors: Vec<&str> = stderr.lines().filter(|line| line.starts_with("error: ")).collect();
    assert_eq!(errors.len(), 5, "{stderr}");
    for part in [
        "unknown metric",
        "k is 0",
        "suppression is neither",
        "no column `sxe`",
        "nothing about column `sex`",
    ] {
        assert!(errors.iter().any(|error| error.contains(part)), "no `{part}` in: {stderr}");
    }
}

#[test]
fn rules_make_hierarchies() {
    let job = Job::new();
    job.replace("incog.toml", "{ file = \"zip.csv\" }", "{ mask = \"right\", levels = [0, 1, 3] }");
    let report = json(&job.search(&["--format", "json", "--all"]));
    assert_eq!(report["lattice_nodes"], 6);
    // Levels keep their numbers: three characters masked is level 3, although it is the third one allowed.
    let levels: Vec<&Value> =
        report["all"].as_array().unwrap().iter().map(|node| &node["levels"]["zip"]).collect();
    assert!(levels.contains(&&Value::from(3)) && !levels.contains(&&Value::from(2)), "{levels:?}");
    let tree = "{ tree = { inner = [\"10115\"], outer = [\"10117\"] } }";
    job.replace("incog.toml", "{ mask = \"right\", levels = [0, 1, 3] }", tree);
    assert_eq!(json(&job.search(&["--format", "json"]))["lattice_nodes"], 6);
}

#[test]
fn k_counts_persons_where_a_unit_is_named() {
    let job = Job::new();
    // Each sex is one person with two rows.
    job.write("data.csv", "name,sex,zip,illness\nKowalczyk,f,10115,flu\nKowalczyk,f,10117,cold\nLi,m,10115,flu\nLi,m,10117,asthma\n");
    assert_eq!(json(&job.search(&["--format", "json"]))["satisfying"], 5);
    job.replace("incog.toml", "k = 2", "k = 2\nunit = \"name\"");
    let report = json(&job.search(&["--format", "json", "--all"]));
    // Only with sex gone are there two persons in a group.
    assert_eq!(report["satisfying"], 3);
    assert!(report["all"].as_array().unwrap().iter().all(|node| node["levels"]["sex"] == 1));
    assert_eq!(report["best"]["smallest_group"], 2);
}

#[test]
fn compressed_data_is_read() {
    let job = Job::new();
    let text = std::fs::read(job.path("data.csv")).unwrap();
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut gz, &text).unwrap();
    job.write("data.csv.gz", gz.finish().unwrap());
    job.write("data.csv.zst", zstd::encode_all(text.as_slice(), 1).unwrap());
    for name in ["data.csv.gz", "data.csv.zst"] {
        let job_text = std::fs::read_to_string(job.path("incog.toml")).unwrap();
        job.write("packed.toml", job_text.replace("data.csv", name));
        assert_eq!(json(&search(&job.path("packed.toml"), &["--format", "json"]))["satisfying"], 5);
    }
    job.write("data.csv.gz", b"no gzip");
    job.replace("incog.toml", "\"data.csv\"", "\"data.csv.gz\"");
    job.refused(&["cannot read the data file", "data.csv.gz"], "");
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
        incog_core::judge::ALL.iter().map(|entry| entry.name).collect(),
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
    job.write("zip.csv", zip.replace(';', ","));
    assert_eq!(json(&job.search(&["--format", "json"]))["satisfying"], 5, "delimiters are detected");
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
