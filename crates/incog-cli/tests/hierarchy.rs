//! `incog hierarchy` with the real binary in a temporary folder.

use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

/// A folder with data whose cells may stand in no message.
struct Folder(TempDir);

/// Cells and labels of the folder's files, none of which is part of a number, a file name or a word that is printed.
const CELLS: [&str; 8] = ["Kowalczyk", "Zürich", "10115", "10117", "1011*", "Schweiz", "Mitte", "Norden"];

impl Folder {
    fn new() -> Folder {
        let folder = Folder(tempfile::tempdir().unwrap());
        folder.write(
            "data.csv",
            "name,age,zip,born,town\nKowalczyk,37,10115,2003-04-17,Zürich\nb,9,10117,2003-12-31,\"a;b\"\n\
             c,91,10115,1999-01-01T10:30,\"say \"\"x\"\"\"\nd,,9,,\"two\nlines\"\ne,-3,,2010-06-30,\ng,37.5,1011,2003-04-18, x \n",
        );
        folder.write("small.csv", "place\n10115\n10117\n10115\n");
        folder
    }

    fn path(&self, file: &str) -> PathBuf {
        self.0.path().join(file)
    }

    fn write(&self, file: &str, text: impl AsRef<[u8]>) {
        std::fs::write(self.path(file), text).unwrap();
    }

    fn run(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_incog"))
            .arg("hierarchy")
            .args(arguments)
            .current_dir(self.0.path())
            .output()
            .unwrap()
    }

    /// What a run that must succeed prints.
    fn prints(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {stderr}");
        no_cells(&stderr);
        String::from_utf8(output.stdout).unwrap()
    }

    /// Checks `place.csv` with this text; returns the exit code and what is printed.
    fn check(&self, text: &str, against: &[&str]) -> (i32, String) {
        self.write("place.csv", text);
        let output = self.run(&[&["check", "place.csv"], against].concat());
        let (stdout, stderr) =
            (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
        assert!(stderr.is_empty(), "{stderr}");
        no_cells(&stdout);
        (output.status.code().unwrap(), stdout)
    }

    /// Must end with exit code 2, all of `parts` on stderr, no output and no cell.
    fn refused(&self, arguments: &[&str], parts: &[&str]) {
        let output = self.run(arguments);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {stderr}");
        assert!(output.stdout.is_empty());
        for part in parts {
            assert!(stderr.contains(part), "no `{part}` in: {stderr}");
        }
        no_cells(&stderr);
        assert!(!stderr.contains("panicked"), "{stderr}");
    }
}

fn no_cells(text: &str) {
    for cell in CELLS {
        assert!(!text.contains(cell), "a cell got out: {text}");
    }
}

/// The names of the checks that ended so.
fn ended(report: &str, verdict: &str) -> Vec<String> {
    let mut checks: Vec<String> = report
        .lines()
        .filter_map(|line| line.trim_start().strip_prefix(verdict)?.strip_prefix("  "))
        .map(|line| line.split(':').next().unwrap().to_owned())
        .collect();
    checks.dedup();
    checks
}

const RULES: [(&str, &str); 12] = [
    ("age", "{ intervals = [5, 10, 20] }"),
    ("age", "{ intervals = [5, 10, 20], bottom = 0, top = 90, missing = \"not; said\" }"),
    ("age", "{ intervals = [0.5, 4], origin = 1.5 }"),
    ("born", "{ dates = [\"day\", \"month\", \"quarter\", \"year\", \"decade\"] }"),
    ("zip", "{ mask = \"right\" }"),
    ("zip", "{ mask = \"left\", missing = \"\\\"none\\\"\" }"),
    ("town", "{ mask = \"right\" }"),
    ("town", "{ suppress = true }"),
    ("age", "{ suppress = true }"),
    (
        "zip",
        "{ tree = { Here = { Mitte = [\"10115\", \"10117\", \"10119\"], Norden = [\"9\"] }, There = [\"1011\", \"777\"] } }",
    ),
    ("whole", "{ intervals = [5, 10], bounds = [0, 120], top = 100 }"),
    ("day", "{ intervals = [7, 14], of = \"dates\", bounds = [\"2003-01-01\", \"2004-01-01\"] }"),
];

/// What a search finds with this hierarchy: every generalization with its loss.
fn searched(folder: &Folder, column: &str, hierarchy: &str) -> Value {
    let data = std::fs::read_to_string(folder.path("all.csv")).unwrap();
    let mut job = "[input]\npath = \"all.csv\"\n[policy]\nk = 2\nsuppression = \"80%\"\n".to_owned();
    for name in data.lines().next().unwrap().split(',') {
        let role = if name == column { "quasi-identifier" } else { "other" };
        job += &format!("[columns.{name}]\nrole = \"{role}\"\n");
        if name == column {
            job += &format!("hierarchy = {hierarchy}\n");
        }
    }
    folder.write("incog.toml", job);
    let output = Command::new(env!("CARGO_BIN_EXE_incog"))
        .args(["search", "incog.toml", "--all", "--format", "json"])
        .current_dir(folder.0.path())
        .output()
        .unwrap();
    assert!(output.status.code().unwrap() < 2, "{}", String::from_utf8_lossy(&output.stderr));
    let mut report: Value = serde_json::from_slice(&output.stdout).unwrap();
    report["search_ms"] = Value::Null;
    report
}

#[test]
fn what_is_made_from_a_rule_is_read_back_as_the_same_hierarchy() {
    let folder = Folder::new();
    // The missing value, quotes, separators, line breaks; columns for rules with bounds, which know no others.
    folder.write(
        "all.csv",
        "age,zip,born,town,whole,day\n37,10115,2003-04-17,Zürich,37,2003-04-17\n9,10117,2003-12-31,\"a;b\",9,2003-12-31\n\
         91,10115,1999-01-01T10:30,\"say \"\"x\"\"\",119,2003-01-01\n,9,,\"two\nlines\",,\n-3,,2010-06-30,,0,2003-01-08\n\
         37.5,1011,2003-04-18, x ,37,2003-04-17\n",
    );
    // All rows twice, so that k = 2 of them have every value, also the longest: a mask of a job is not longer than that.
    let all = std::fs::read_to_string(folder.path("all.csv")).unwrap();
    folder.write("all.csv", all.clone() + all.split_once('\n').unwrap().1);
    for (column, rule) in RULES {
        let from_rule = ["--rule", rule, "--against", "all.csv", "--column", column];
        let made = folder.prints(&[&["make", "-o", "made.csv"], &from_rule[..]].concat());
        assert!(made.is_empty());
        let file = std::fs::read_to_string(folder.path("made.csv")).unwrap();
        assert_eq!(file, folder.prints(&[&["make"], &from_rule[..]].concat()), "{rule}");
        // Value for value, level for level, in the same order.
        let shown = |arguments: &[&str]| {
            let text = folder.prints(&[&["show", "--limit", "1000"], arguments].concat());
            text.split_once('\n').unwrap().1.to_owned()
        };
        let as_file = ["made.csv", "--against", "all.csv", "--column", column];
        assert_eq!(shown(&from_rule), shown(&as_file), "{rule}");
        // The loss of every generalization, which depends on the leaves under each label.
        let (by_rule, by_file) =
            (searched(&folder, column, rule), searched(&folder, column, "{ file = \"made.csv\" }"));
        assert_eq!(by_rule, by_file, "{rule}");
        // A made file is sound.
        let (code, report) = {
            let output = folder.run(&[&["check"], &as_file[..]].concat());
            (output.status.code(), String::from_utf8(output.stdout).unwrap())
        };
        assert_eq!(code, Some(0), "{rule}: {report}");
        assert_eq!(ended(&report, "FAIL"), [""; 0], "{rule}");
    }
}

#[test]
fn rows_are_sorted_by_value_separated_by_semicolons_and_quoted_where_necessary() {
    let folder = Folder::new();
    let ages = folder.prints(&[
        "make",
        "--rule",
        "{ intervals = [50] }",
        "--against",
        "data.csv",
        "--column",
        "age",
    ]);
    assert_eq!(
        ages,
        ";(missing);*\n-3;[-50, 0);*\n9;[0, 50);*\n37;[0, 50);*\n37.5;[0, 50);*\n91;[50, 100);*\n"
    );
    let towns = folder.prints(&[
        "make",
        "--rule",
        "{ suppress = true }",
        "--against",
        "data.csv",
        "--column",
        "town",
    ]);
    assert_eq!(towns, ";*\n x ;*\nZürich;*\n\"a;b\";*\n\"say \"\"x\"\"\";*\n\"two\nlines\";*\n");
}

/// A sound hierarchy of the small data.
const SOUND: &str = "10115;1011*;Mitte;*\n10117;1011*;Mitte;*\n20095;2009*;Norden;*\n";

#[test]
fn a_sound_file_passes_every_check() {
    let folder = Folder::new();
    let (code, report) = folder.check(SOUND, &["--against", "small.csv"]);
    assert_eq!(code, 0, "{report}");
    assert_eq!(ended(&report, "FAIL").len() + ended(&report, "warn").len(), 1, "{report}");
    // 1011* and 2009* are as many as Mitte and Norden.
    assert!(report.contains("warn  every level merges: level 2 has 2 labels, level 1 has 2"), "{report}");
    assert!(report.contains("note  values without data: 1 of 3 values do not occur in the data"), "{report}");
    let (code, report) =
        folder.check("10115;1011*;*\n10117;1011*;*\n20095;2009*;*\n", &["--against", "small.csv"]);
    assert_eq!((code, ended(&report, "warn").len()), (0, 0), "{report}");
    assert_eq!(ended(&report, "pass").len(), 8, "{report}");
    // Without data everything but totality is checked.
    let (code, report) = folder.check(SOUND, &[]);
    assert_eq!(code, 0);
    assert!(report.contains("note  total: not checked"), "{report}");
}

#[test]
fn each_kind_of_broken_file_fails_exactly_its_own_check() {
    let folder = Folder::new();
    let cases = [
        (
            "total",
            "10117;1011*;*\n20095;2009*;*\n",
            "1 of 2 values of the data have no row (2 records, first in record 1)",
        ),
        ("one row a value", "10115;1011*;*\n10117;1011*;*\n10115;1011*;*\n", "(line 3)"),
        ("one row a value", "10115;Mitte;*\n10117;Mitte;*\n10115;Norden;*\n", "(line 3)"),
        ("no gaps", "10115;1011*;*\n10117;1011*\n20095;2009*;*\n", "1 of 3 rows do not have the 3 fields"),
        ("no gaps", "10115;Mitte;*\n10117;;*\n20095;Mitte;*\n", "1 labels of level 1 are empty (line 2)"),
        ("no gaps", "10115\n10117\n20095\n", "rows have a single field"),
        (
            "nested",
            "10115;Mitte;a;*\n10117;Mitte;b;*\n20095;Mitte;a;*\n",
            "1 labels of level 1 have another parent at level 2",
        ),
        (
            "labels contain their values",
            "10115;1012*;*\n10117;1012*;*\n",
            "2 values lie outside their label at level 1 (lines 1, 2)",
        ),
        (
            "labels contain their values",
            "10115;[10115, 10117);*\n10117;[10115, 10117);*\n",
            "1 values lie outside their label at level 1 (line 2)",
        ),
        ("labels contain their values", "10115;101***;*\n10117;101***;*\n", "2 values lie outside"),
        (
            "labels contain their values",
            "10115;a;*\n10117;a;*\n2003-04-17;2003-Q1;*\n2003-01-17;2003-Q1;*\n",
            "(line 3)",
        ),
        (
            "labels contain their values",
            "10115;10117;*\n10117;10115;*\n",
            "2 values have another value as label of level 1, which it does not cover (lines 1, 2)",
        ),
    ];
    for (check, file, says) in cases {
        let (code, report) = folder.check(file, &["--against", "small.csv"]);
        assert_eq!(code, 1, "{check}: {report}");
        assert_eq!(ended(&report, "FAIL"), [check], "{report}");
        assert!(report.contains(says), "{check}: no `{says}` in {report}");
    }
}

#[test]
fn what_is_odd_but_usable_is_a_warning() {
    let folder = Folder::new();
    for (check, file) in [
        ("every level merges", "10115;10115;*\n10117;10117;*\n"),
        ("every level merges", "10115;a;*\n10117;b;*\n"),
        ("one root", "10115;1011*;a\n10117;1011*;a\n20095;2009*;b\n20096;2009*;b\n30000;30000;b\n"),
        (
            "one label, one meaning",
            "10115;Mitte;Norden;*\n10117;Mitte;Norden;*\n1;Norden;Norden;*\n2;x;x2;*\n",
        ),
        ("labels contain their values", "10115;[1, 99999);*\n10117;[1, 99999);*\nmany;[1, 99999);*\nx;x;*\n"),
        ("labels contain their values", "10115;10115;*\n10117;10115;*\n"),
    ] {
        let (code, report) = folder.check(file, &["--against", "small.csv"]);
        assert_eq!(code, 0, "{report}");
        assert!(ended(&report, "warn").contains(&check.to_owned()), "{check}: {report}");
    }
}

#[test]
fn all_problems_are_told_at_once() {
    let folder = Folder::new();
    let (code, report) = folder.check(
        "10117;Mitte;a;*\n1;Mitte;b;*\n1;Mitte;a;*\n2;;a;*\n3;x\n50;[60, 70);a;*\n",
        &["--against", "small.csv"],
    );
    assert_eq!(code, 1);
    assert_eq!(
        ended(&report, "FAIL"),
        ["total", "one row a value", "no gaps", "nested", "labels contain their values"],
        "{report}"
    );
    assert_eq!(report.matches("FAIL  no gaps").count(), 2, "{report}");
}

#[test]
fn the_columns_of_a_job_are_shown_and_checked() {
    let folder = Folder::new();
    folder.write(
        "incog.toml",
        "[input]\npath = \"small.csv\"\n[policy]\nk = 2\n[columns.place]\nrole = \"quasi-identifier\"\n\
         hierarchy = { file = \"place.csv\", levels = [0, 2] }\n",
    );
    folder.write("place.csv", SOUND);
    let shown = folder.prints(&["show", "incog.toml", "--limit", "2"]);
    for part in [
        "levels that may be chosen: 0, 2",
        "3 labels",
        "10115",
        "10117     1011*     Mitte",
        "... and 1 more value",
    ] {
        assert!(shown.contains(part), "no {part} in {shown}");
    }
    assert!(!shown.contains("20095"), "{shown}");
    let output = folder.run(&["check", "incog.toml", "--column", "place"]);
    assert_eq!(output.status.code(), Some(0));
    let job = std::fs::read_to_string(folder.path("incog.toml")).unwrap();
    folder.write("incog.toml", job.replace("[0, 2]", "[0, 4]"));
    let output = folder.run(&["check", "incog.toml"]);
    let report = String::from_utf8(output.stdout).unwrap();
    assert_eq!(
        (output.status.code(), ended(&report, "FAIL")),
        (Some(1), vec!["levels of the job".to_owned()])
    );
    folder.refused(&["check", "incog.toml", "--column", "plcae"], &["did you mean `place`?"]);
    folder.refused(&["check", "incog.toml", "--against", "small.csv"], &["the job names its own data"]);
    folder.refused(&["make", "incog.toml", "-o", "small.csv"], &["would replace the data"]);
    folder.refused(&["make", "incog.toml", "-o", "incog.toml"], &["would replace the job"]);
}

#[test]
fn a_job_with_several_columns_is_checked_as_a_whole_and_made_column_by_column() {
    let folder = Folder::new();
    folder.write(
        "incog.toml",
        "[input]\npath = \"data.csv\"\n[policy]\nk = 2\n[columns.age]\nrole = \"quasi-identifier\"\n\
         hierarchy = { intervals = [5, 10] }\n[columns.town]\nrole = \"quasi-identifier\"\n",
    );
    let report = folder.prints(&["check", "incog.toml"]);
    assert_eq!(report.matches("pass  total").count(), 2, "{report}");
    folder.refused(&["make", "incog.toml"], &["several quasi-identifiers", "--column: age, town"]);
    let made = folder.prints(&["make", "incog.toml", "--column", "age"]);
    assert!(made.contains("37;[35, 40);[30, 40);*\n"), "{made}");
    // A rule that is not made for the data is a failed check, one that is none an error.
    let job = std::fs::read_to_string(folder.path("incog.toml")).unwrap();
    folder.write("incog.toml", job.replace("intervals = [5, 10]", "dates = [\"year\"]"));
    let output = folder.run(&["check", "incog.toml"]);
    let report = String::from_utf8(output.stdout).unwrap();
    assert_eq!(
        (output.status.code(), ended(&report, "FAIL")),
        (Some(1), vec!["total".to_owned()]),
        "{report}"
    );
    folder.write("incog.toml", job.replace("[5, 10]", "[5, 7]"));
    folder.refused(&["check", "incog.toml"], &["line 7", "interval width 7 is not a multiple of 5"]);
}

#[test]
fn a_tree_needs_no_data_and_other_rules_do() {
    let folder = Folder::new();
    let made =
        folder.prints(&["make", "--rule", "{ tree = { A = [\"x\", \"y\"], B = [\"z\"] } }", "--column", "c"]);
    assert_eq!(made, "x;A;*\ny;A;*\nz;B;*\n");
    folder.refused(
        &["make", "--rule", "{ mask = \"right\" }", "--column", "zip"],
        &["the rule needs the values of the data", "--against"],
    );
}

#[test]
fn nonsense_is_refused_without_a_cell() {
    let folder = Folder::new();
    let against = ["--against", "data.csv"];
    let make = |rule, column| [&["make", "--rule", rule, "--column", column], &against[..]].concat();
    folder.refused(&make("{ mask = \"rigth\" }", "zip"), &["is none of right, left; did you mean `right`?"]);
    folder.refused(
        &make("{ interval = [5] }", "zip"),
        &["unknown key `interval`", "did you mean `intervals`?"],
    );
    folder.refused(&make("{ mask = ", "zip"), &["the rule: "]);
    folder.refused(
        &make("{ mask = \"left\", dates = [\"year\"] }", "zip"),
        &["one of dates, mask, not several"],
    );
    folder.refused(&make("{ intervals = [5] }", "town"), &["values are not numbers"]);
    folder.refused(&make("{ mask = \"left\" }", "zipp"), &["has no column `zipp`"]);
    folder.refused(&["make", "--rule", "{ mask = \"left\" }"], &["--column"]);
    folder.refused(
        &["make", "--rule", "{ mask = \"left\" }", "--column", "a", "x.csv"],
        &["cannot be used with"],
    );
    folder.refused(&["show"], &["required"]);
    folder.refused(&["check", "zip.csv"], &["there is no such file"]);
    folder.refused(&["check", "zip.toml"], &["cannot read the job file"]);
    std::fs::create_dir(folder.path("zip.csv")).unwrap();
    folder.write("small.txt", SOUND);
    folder.refused(&["check", "zip.csv"], &["it is a folder"]);
    folder.refused(&["make", "small.txt", "-o", "zip.csv"], &["it is a folder"]);
    for (file, text, says) in [
        ("empty.csv", &b""[..], "is empty"),
        ("latin.csv", b"Z\xfcrich;*\n", "line 1 is not UTF-8"),
        ("open.csv", b"a;*\n\"Z\xc3\xbcrich;*\nb;*\n", "starts on line 2 is never closed"),
    ] {
        folder.write(file, text);
        for action in ["show", "check", "make"] {
            folder.refused(&[action, file], &[says]);
        }
    }
    folder.write("place.csv", SOUND);
    folder.refused(&["check", "place.csv", "--against", "data.csv"], &["has no column `place`", "--column"]);
    folder.refused(&["check", "place.csv", "--against", "none.csv"], &["there is no such file"]);
    folder.refused(&["check", "place.csv", "--against", "zip.csv"], &["has no data files"]);
    folder.refused(&["check", "place.csv", "--against", "empty.csv"], &["is empty"]);
    folder.refused(
        &[
            "make",
            "--rule",
            "{ mask = \"left\" }",
            "--column",
            "zip",
            "--against",
            "data.csv",
            "-o",
            "no/zip.csv",
        ],
        &["its folder does not exist"],
    );
    assert!(!folder.path("no").exists());
}

#[test]
fn a_hierarchy_that_would_state_what_is_not_so_is_refused_and_one_that_might_is_warned_of() {
    let folder = Folder::new();
    folder.write("place.csv", "place\n10115\n10115\n10117\n10117\n");
    let run = |hierarchy: &str| {
        let job = format!(
            "[input]\npath = \"place.csv\"\n[output]\npath = \"release.csv\"\norder = \"input\"\n[policy]\nk = 4\n\
             [columns.place]\nrole = \"quasi-identifier\"\nhierarchy = {{ {hierarchy} }}\n"
        );
        folder.write("incog.toml", job);
        let _ = std::fs::remove_file(folder.path("release.csv"));
        let output = Command::new(env!("CARGO_BIN_EXE_incog"))
            .args(["anonymize", "incog.toml"])
            .current_dir(folder.0.path())
            .output()
            .unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        no_cells(&said);
        assert_eq!(folder.path("release.csv").exists(), output.status.code() == Some(0));
        (output.status.code(), said)
    };
    let refused = |hierarchy: &str, part: &str| {
        let (code, said) = run(hierarchy);
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains(part) && said.contains("would state what is not so"), "{said}");
    };
    // A permutation; every value as one that is not among them; a tree in the job, and in a file.
    let of_file = "file = \"h.csv\"";
    folder.write("h.csv", "10115;10117\n10117;10115\n");
    refused(of_file, "line 1: the label of level 1 is the value of line 2, which it does not cover");
    folder.write("h.csv", "10115;20095\n10117;20095\n20095;x\n");
    refused(of_file, "line 1: the label of level 1 is the value of line 3, which it does not cover");
    refused("tree = { 10117 = [\"10115\"], x = [\"10117\"] }", "a label of the tree is also a value");
    folder.write("tree.txt", "x\n  10117\n10117\n  10115\n");
    refused("tree = \"tree.txt\"", "the label on line 3 of the tree is also a value");
    let warning = "warning: place: 1 label is also a value, and covers others";
    for (rows, is_warned) in [("10115;10115\n10117;10115\n", true), ("10115;both\n10117;both\n", false)] {
        folder.write("h.csv", rows);
        let (code, said) = run(of_file);
        assert_eq!((code, said.contains(warning)), (Some(0), is_warned), "{said}");
    }
    // Where the level is not used, there is nothing to warn of.
    folder.write("h.csv", "10115;10115;*\n10117;10115;*\n");
    let (code, said) = run("file = \"h.csv\", levels = [2]");
    assert_eq!((code, said.contains("warning:")), (Some(0), false), "{said}");
}

#[test]
fn values_that_are_longer_than_a_mask_are_shown_made_and_checked_as_a_job_has_them() {
    let folder = Folder::new();
    folder.write("data.csv", "zip\n101\n102\n10\n10115\n");
    let job = "[input]\npath = \"data.csv\"\n[policy]\nk = 2\n[columns.zip]\nrole = \"quasi-identifier\"\nhierarchy = { mask = \"right\" }\n";
    folder.write("incog.toml", job);
    let made = folder.prints(&["make", "incog.toml", "--column", "zip"]);
    assert_eq!(made, "10;10*;1**;*\n101;10*;1**;*\n102;10*;1**;*\n10115;(longer);(longer);*\n");
    assert!(folder.prints(&["show", "incog.toml"]).contains("(longer)"));
    folder.prints(&["check", "incog.toml"]);
    folder.write("zip.csv", &made);
    folder.prints(&["check", "zip.csv", "--against", "data.csv"]);
    folder.write("incog.toml", job.replace("\"right\"", "\"right\", length = 6"));
    assert!(
        folder
            .prints(&["make", "incog.toml", "--column", "zip"])
            .contains("10;10****;10****;10****;10****;1*****;*\n")
    );
    folder.prints(&["check", "incog.toml"]);
    // A rule on its own knows no k.
    let rule = ["make", "--rule", "{ mask = \"right\" }", "--column", "zip", "--against", "data.csv"];
    assert!(folder.prints(&rule).contains("10115;1011*;"));
}
