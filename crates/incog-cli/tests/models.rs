//! `[[policy.require]]` and `decide`, with the real binary: each model from the job to the checked release, and what is
//! said of requirements that make no sense.

use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

/// What no message may contain.
const CELLS: [&str; 5] = ["Person", "influenza", "bronchitis", "gout", "plenty"];

/// Four zip codes with four people each. In 11 three of four have one illness, and nobody is paid more than 2000; two zip
/// codes together are mixed.
const DATA: &str = "name,zip,ill,pay,mood
Person01,11,influenza,1000,low
Person02,11,influenza,1000,low
Person03,11,influenza,2000,low
Person04,11,bronchitis,1000,plenty
Person05,12,bronchitis,3000,plenty
Person06,12,gout,3000,plenty
Person07,12,gout,2000,plenty
Person08,12,bronchitis,3000,low
Person09,21,influenza,1000,low
Person10,21,bronchitis,2000,plenty
Person11,21,gout,3000,low
Person12,21,influenza,2000,plenty
Person13,22,bronchitis,3000,low
Person14,22,gout,1000,plenty
Person15,22,influenza,2000,low
Person16,22,gout,2000,plenty
";

const JOB: &str = r#"[input]
path = "data.csv"
[output]
path = "release.csv"
order = "input"
[policy]
k = 2
#policy
[columns]
name.role = "identifier"
zip = { role = "quasi-identifier", hierarchy = { mask = "right" } }
ill.role = "sensitive"
pay.role = "sensitive"
mood.role = "sensitive"
"#;

struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        let folder = Folder(tempfile::tempdir().unwrap());
        folder.write("data.csv", DATA);
        folder.write("incog.toml", JOB);
        folder.write("ill.csv", "influenza;lung;*\nbronchitis;lung;*\ngout;joint;*\n");
        folder
    }

    /// With these lines under [policy], and whatever follows.
    fn with(policy: &str) -> Self {
        let folder = Folder::new();
        folder.write("incog.toml", &JOB.replace("#policy", policy));
        folder
    }

    fn write(&self, file: &str, text: &str) {
        std::fs::write(self.0.path().join(file), text).unwrap();
    }

    fn read(&self, file: &str) -> String {
        std::fs::read_to_string(self.0.path().join(file)).unwrap()
    }

    fn incog(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_incog")).args(arguments).current_dir(&self.0).output().unwrap()
    }

    /// The exit code and what was said; no cell is.
    fn said(&self, arguments: &[&str]) -> (Option<i32>, String) {
        let output = self.incog(arguments);
        let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        assert!(!text.contains("panicked"), "{text}");
        for cell in CELLS {
            assert!(!text.contains(cell), "a cell got out: {text}");
        }
        (output.status.code(), text)
    }

    fn search(&self, flags: &[&str]) -> Value {
        let output = self.incog(&[&["search", "incog.toml", "--format", "json"], flags].concat());
        serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)))
    }

    /// Exit code 2, one error with all of `parts`.
    fn refused(&self, arguments: &[&str], parts: &[&str]) {
        let (code, text) = self.said(arguments);
        assert_eq!(code, Some(2), "{text}");
        for part in parts {
            assert!(text.contains(part), "no `{part}` in: {text}");
        }
    }
}

/// A requirement as lines of a job.
fn require(lines: &str) -> String {
    format!("[[policy.require]]\n{}", lines.replace("; ", "\n"))
}

/// Models, the claim that must fail once the group 1* has one value only, and the column.
const MODELS: [(&str, &str, &str); 13] = [
    ("model = \"alpha-k\"; sensitive = \"ill\"; alpha = 0.5", "alpha of ill is at most 0.5", "ill"),
    ("model = \"distinct-l\"; sensitive = \"ill\"; l = 3", "distinct l of ill is at least 3", "ill"),
    ("model = \"entropy-l\"; sensitive = \"ill\"; l = \"2.5\"", "entropy l of ill is at least 2.5", "ill"),
    (
        "model = \"recursive-cl\"; sensitive = \"ill\"; c = 2; l = 2",
        "recursive (2, 2)-diversity of ill",
        "ill",
    ),
    ("model = \"t-closeness\"; sensitive = \"ill\"; t = 0.2", "t of ill is at most 0.2, by equal", "ill"),
    (
        "model = \"t-closeness\"; sensitive = \"pay\"; t = \"10%\"; distance = \"ordered\"",
        "t of pay is at most 0.1, by ordered",
        "pay",
    ),
    (
        "model = \"t-closeness\"; sensitive = \"ill\"; t = \"1/5\"; distance = \"equal\"",
        "t of ill is at most 0.2, by equal",
        "ill",
    ),
    // What follows speaks of cells, which no record tells, or is counted in the same way.
    (
        "model = \"alpha-k\"; sensitive = \"ill\"; alpha = 0.7; values = [\"influenza\"]",
        "alpha of one value of ill is at most 0.7",
        "ill",
    ),
    (
        "model = \"alpha-k\"; sensitive = \"ill\"; alpha = 0.9; values = [\"influenza\", \"bronchitis\"]",
        "alpha of 2 values together of ill is at most 0.9",
        "ill",
    ),
    (
        "model = \"t-closeness\"; sensitive = \"ill\"; t = 0.2; distance = \"hierarchical\"; hierarchy = { file = \"ill.csv\" }",
        "t of ill is at most 0.2, by hierarchical",
        "ill",
    ),
    (
        "model = \"t-closeness\"; sensitive = \"mood\"; t = 0.2; distance = \"ordered\"; order = [\"low\", \"plenty\"]",
        "t of mood is at most 0.2, by",
        "mood",
    ),
    ("model = \"delta-disclosure\"; sensitive = \"ill\"; delta = 0.5", "delta-disclosure of ill", "ill"),
    (
        "model = \"beta-likeness\"; sensitive = \"ill\"; beta = 0.5; likeness = \"basic\"",
        "basic beta-likeness of ill",
        "ill",
    ),
];

#[test]
fn each_model_is_enforced_verified_and_recorded_and_a_changed_release_fails() {
    let (code, text) = Folder::new().said(&["anonymize", "incog.toml"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("zip: as collected"), "k alone needs no generalization: {text}");
    for (lines, claim, column) in MODELS {
        let folder = Folder::with(&require(lines));
        let (code, text) = folder.said(&["anonymize", "incog.toml"]);
        assert_eq!(code, Some(0), "{lines}: {text}");
        assert!(text.contains("(level 1 of 2)"), "{lines}: {text}");
        assert!(text.contains(&format!("pass  {claim}")), "{lines}: no {claim} in {text}");
        let with_job = ["verify", "release.csv", "--job", "incog.toml"];
        let with_record = ["verify", "release.csv", "--record", "release.csv.incog.json"];
        let with_both = [&with_job[..], &with_record[2..]].concat();
        let has_cells = ["values", "order =", "hierarchy"].iter().any(|key| lines.contains(key));
        for arguments in [&with_job[..], &with_record, &with_both] {
            let (code, text) = folder.said(arguments);
            assert_eq!(code, Some(0), "{lines}: {text}");
            if has_cells && arguments == with_record {
                assert!(
                    text.contains("1 of 1 requirements can be checked with the job and the data only"),
                    "{text}"
                );
            } else {
                assert!(text.contains(&format!("pass  {claim}")), "{lines}: {text}");
            }
        }
        for cell in CELLS {
            assert!(!folder.read("release.csv.incog.json").contains(cell), "{lines}");
        }

        let (at, value) = match column {
            "ill" => (1, "influenza"),
            "pay" => (2, "1000"),
            _ => (3, "low"),
        };
        let changed: Vec<String> = folder
            .read("release.csv")
            .lines()
            .map(|line| {
                let mut cells: Vec<&str> = line.split(',').collect();
                if cells[0] == "1*" {
                    cells[at] = value;
                }
                cells.join(",")
            })
            .collect();
        folder.write("release.csv", &(changed.join("\n") + "\n"));
        for arguments in [&with_job[..], &with_record] {
            let (code, text) = folder.said(arguments);
            assert_eq!(code, Some(1), "{lines}: {text}");
            let is_told = !has_cells || arguments == with_job;
            assert!(!is_told || text.contains(&format!("FAIL  {claim}")), "{lines}: {text}");
        }
    }
}

#[test]
fn several_models_of_several_columns_hold_together() {
    let policy = [
        require("model = \"alpha-k\"; sensitive = \"ill\"; alpha = \"3/8\""),
        require("model = \"alpha-k\"; sensitive = \"ill\"; alpha = \"0.6\""),
        require("model = \"distinct-l\"; sensitive = \"mood\"; l = 2"),
    ];
    let folder = Folder::with(&policy.join("\n"));
    let (code, text) = folder.said(&["anonymize", "incog.toml"]);
    assert_eq!(code, Some(0), "{text}");
    for claim in
        ["alpha of ill is at most 0.375", "alpha of ill is at most 0.6", "distinct l of mood is at least 2"]
    {
        assert!(text.contains(&format!("pass  {claim}")), "{text}");
    }
    assert_eq!(text.matches("  ill: alpha").count(), 1, "each column is told once: {text}");
    assert_eq!(folder.said(&["verify", "release.csv", "--record", "release.csv.incog.json"]).0, Some(0));
}

#[test]
fn requirements_can_be_given_by_flags_alone() {
    let folder = Folder::new();
    let flags = [
        "data.csv",
        "--qi",
        "zip",
        "--hierarchy",
        "zip={ mask = \"right\" }",
        "--identifier",
        "name",
        "--rest",
        "sensitive",
        "-k",
        "2",
        "--require",
        "alpha-k:sensitive=ill,alpha=0.5",
        "--require",
        "distinct-l:sensitive=mood,l=2",
        "-o",
        "by-flags.csv",
        "--order",
        "input",
    ];
    let (code, text) = folder.said(&[&["anonymize"], &flags[..]].concat());
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("pass  alpha of ill") && text.contains("pass  distinct l of mood"), "{text}");
    let two = [
        require("model = \"alpha-k\"; sensitive = \"ill\"; alpha = 0.5"),
        require("model = \"distinct-l\"; sensitive = \"mood\"; l = 2"),
    ];
    folder.write("incog.toml", &JOB.replace("#policy", &two.join("\n")));
    assert_eq!(folder.said(&["anonymize", "incog.toml"]).0, Some(0));
    assert_eq!(folder.read("by-flags.csv"), folder.read("release.csv"));
    // A flag takes the place of what the job requires, and of its lines.
    folder.refused(
        &["search", "incog.toml", "--require", "alpha-k:sensitive=ill,alpha=0.1"],
        &["error: alpha is 0.1, but 6 of 16 rows (37.5 %)"],
    );
}

#[test]
fn the_record_can_be_replayed_with_its_requirements() {
    let folder = Folder::with(&require("model = \"alpha-k\"; sensitive = \"ill\"; alpha = 0.5"));
    assert_eq!(folder.said(&["anonymize", "incog.toml"]).0, Some(0));
    let replay = ["anonymize", "--replay", "release.csv.incog.json", "data.csv", "-o", "again.csv"];
    let (code, text) = folder.said(&replay);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("pass  alpha of ill is at most 0.5"), "{text}");
}

/// The job's line 8 is the first of the requirement: model, then one key a line.
fn refused(lines: &str, parts: &[&str]) {
    for command in ["search", "anonymize"] {
        Folder::with(&require(lines)).refused(&[command, "incog.toml"], parts);
    }
}

#[test]
fn requirements_that_make_no_sense_are_refused_with_their_line() {
    let of = |rest: &str| format!("model = \"alpha-k\"; sensitive = \"ill\"; {rest}");
    let at = |line: u32| format!("line {line} of `incog.toml`: ");
    for alpha in ["0", "\"0%\"", "1.5", "\"101%\""] {
        refused(&of(&format!("alpha = {alpha}")), &[&at(11), "alpha is ", "not above 0 and at most 1"]);
    }
    for alpha in ["-0.5", "\"half\"", "nan", "1e300"] {
        refused(
            &of(&format!("alpha = {alpha}")),
            &[&at(11), "`alpha` is no number that can be read exactly"],
        );
    }
    refused(&of("alpha = true"), &[&at(11), "`policy.require.1.alpha` is true or false, not"]);
    refused(
        &of("alpha = 0.3"),
        &[&at(11), "alpha is 0.3, but 6 of 16 rows (37.5 %) have the most frequent value"],
    );
    let one = "alpha = 0.3; values = [\"influenza\"]";
    refused(&of(one), &[&at(11), "alpha is 0.3, but 6 of 16 rows (37.5 %) have the given value"]);
    let unknown = "alpha = 0.9; values = [\"influenza\", \"plentyful\"]";
    refused(&of(unknown), &[&at(12), "entry 2 of `values` is none of the 3 values of column `ill`"]);
    refused(&of("alpha = 0.9; values = []"), &[&at(11), "`values` is empty"]);
    refused(&of("alpa = 0.5"), &[&at(11), "unknown key `alpa` in `policy.require.1`; did you mean `alpha`?"]);
    refused(&of("l = 2"), &[&at(11), "`alpha-k` takes no `l`"]);
    refused("model = \"alpha-k\"; sensitive = \"ill\"", &[&at(9), "`alpha-k` needs `alpha`"]);
    refused(
        "model = \"alfa-k\"; sensitive = \"ill\"",
        &[&at(9), "unknown privacy model `alfa-k`; did you mean `alpha-k`?"],
    );
    refused("model = \"k-anonymity\"", &[&at(9), "`k-anonymity` is required already"]);
    let column = |name: &str| format!("model = \"distinct-l\"; sensitive = \"{name}\"; l = 2");
    refused(&column("zip"), &[&at(10), "the sensitive column `zip` is also a quasi-identifier"]);
    refused(&column("name"), &[&at(10), "column `name` is not declared as sensitive"]);
    refused(&column("mod"), &[&at(10), "the job has no column `mod`; did you mean `mood`?"]);
    let diverse = |model: &str, rest: &str| format!("model = \"{model}\"; sensitive = \"ill\"; {rest}");
    for model in ["distinct-l", "entropy-l"] {
        refused(&diverse(model, "l = 4"), &[&at(11), "l is 4, but column `ill` has only 3 different values"]);
        refused(&diverse(model, "l = 0"), &[&at(11), "l is 0"]);
    }
    refused(&diverse("recursive-cl", "c = 2; l = 4"), &[&at(12), "column `ill` has only 3 different values"]);
    refused(&diverse("t-closeness", "t = 1.01"), &[&at(11), "t is 1.01, which is above 1"]);
    refused(&diverse("t-closeness", "t = -0.1"), &[&at(11), "`t` is no number"]);
    refused(
        &diverse("t-closeness", "t = 0.5; distance = \"ordered\""),
        &[&at(12), "3 of 3 values are not numbers", "they have no order", "list all values in `order`"],
    );
    refused(
        &diverse("t-closeness", "t = 0.5; distance = \"ordered\"; order = [\"gout\"]"),
        &[&at(13), "the order of column `ill` lacks 2 of 3 values"],
    );
    refused(
        &diverse("t-closeness", "t = 0.5; order = [\"gout\"]"),
        &[&at(12), "`order` is for ordered distances"],
    );
    refused(
        &diverse("t-closeness", "t = 0.5; distance = \"hierarchical\""),
        &[&at(12), "`hierarchical` distances need a `hierarchy`"],
    );
    refused(
        &diverse(
            "t-closeness",
            "t = 0.5; distance = \"hierarchical\"; hierarchy = { mask = \"right\", file = \"a\" }",
        ),
        &[&at(13), "a hierarchy is one of file, mask, not several"],
    );
    refused(
        &diverse("t-closeness", "t = 0.5; distance = \"orderd\""),
        &[&at(12), "is none of equal, ordered, hierarchical; did you mean `ordered`?"],
    );
    refused(&diverse("beta-likeness", "beta = 0"), &[&at(11), "beta is 0"]);
    refused(&diverse("delta-disclosure", "delta = 0"), &[&at(11), "delta is 0"]);
}

#[test]
fn mistakes_of_several_requirements_are_told_together() {
    let policy = [
        require("model = \"alpha-k\"; sensitive = \"zip\"; alpha = 2"),
        require("model = \"entropy-l\"; sensitive = \"ill\"; l = 4"),
    ];
    let folder = Folder::with(&(policy.join("\n") + "\n[search]\ndecide = \"k-onyl\""));
    folder.refused(
        &["search", "incog.toml"],
        &[
            "line 10 of `incog.toml`: the sensitive column `zip` is also",
            "line 11 of `incog.toml`: alpha is 2",
            "line 17 of `incog.toml`: unknown decide `k-onyl`; did you mean `k-only`?",
        ],
    );
}

/// Wong et al., restated: A = {h,h} fails alpha = 1/2 and B = {h,h,x,y} holds; together they are 4 of 6.
fn counterexample(more: &str) -> Folder {
    let folder = Folder::with(&format!(
        "suppression = 2\n{}\n{more}",
        require("model = \"alpha-k\"; sensitive = \"ill\"; alpha = \"1/2\"")
    ));
    let rows = ["11,h", "11,h", "12,h", "12,h", "12,x", "12,y"];
    let text: String =
        rows.iter().enumerate().map(|(at, row)| format!("Person{at},{row},{at},low\n")).collect();
    folder.write("data.csv", &format!("name,zip,ill,pay,mood\n{text}"));
    folder
}

#[test]
fn with_a_budget_every_node_that_k_leaves_open_is_judged_and_that_is_said() {
    for algorithm in ["incognito", "bottom-up", "exhaustive"] {
        let folder = counterexample("");
        let report = folder.search(&["--all", "--algorithm", algorithm]);
        assert_eq!(report["satisfying"], 1, "{algorithm}: what lies above fails: {report}");
        assert_eq!(report["all"][0]["levels"]["zip"], 0);
        assert_eq!(report["all"][0]["suppressed_rows"], 2);
        assert_eq!(report["judged_one_by_one"], 3, "{algorithm}");
        let (_, text) = folder.said(&["search", "incog.toml", "--algorithm", algorithm]);
        assert!(text.contains("pruning is unsound for this policy"), "{text}");
        assert!(text.contains("3 generalizations were judged one by one"), "{text}");
    }
    let report =
        counterexample("").search(&["--suppression", "0", "--require", "alpha-k:sensitive=ill,alpha=0.7"]);
    assert_eq!(report["judged_one_by_one"], Value::Null, "without suppression the search prunes");
    counterexample("")
        .refused(&["search", "incog.toml", "--algorithm", "samarati"], &["`samarati` cannot search"]);
}

#[test]
fn the_counterexample_is_published_without_the_group_that_fails() {
    let folder = counterexample("");
    let (code, text) = folder.said(&["anonymize", "incog.toml"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("4 rows released, 2 suppressed"), "{text}");
    assert!(text.contains("pruning is unsound for this policy"), "{text}");
    assert_eq!(folder.said(&["verify", "release.csv", "--job", "incog.toml"]).0, Some(0));
}

#[test]
fn without_a_solution_each_model_says_what_it_refuses() {
    let of = |policy: &str| {
        let folder = Folder::with(policy);
        // One person of 11 lives somewhere else: k fails there too.
        folder.write("data.csv", &DATA.replace("Person01,11", "Person01,99"));
        folder.write(
            "incog.toml",
            &folder.read("incog.toml").replace("mask = \"right\"", "mask = \"right\", levels = [0]"),
        );
        let (code, text) = folder.said(&["search", "incog.toml"]);
        assert_eq!(code, Some(1), "{text}");
        assert_eq!(folder.said(&["anonymize", "incog.toml"]).0, Some(1));
        text
    };
    let alpha = require("model = \"alpha-k\"; sensitive = \"ill\"; alpha = 0.5");
    let text = of(&alpha);
    assert!(
        text.contains("closest: zip=0 would need 4 of 16 rows suppressed (25.0 %); the budget is 0 rows"),
        "{text}"
    );
    assert!(text.contains("\n  2-anonymity refuses 1 row there"), "{text}");
    assert!(text.contains("\n  alpha 0.5 of `ill` refuses 4 rows there"), "{text}");
    let text = of(&format!("suppression = 1\n{alpha}"));
    assert!(text.contains("the most general: zip=0 would need 4 of 16 rows suppressed"), "{text}");
    let text = of("");
    assert!(
        text.contains("closest: zip=0 would need 1 of 16 rows suppressed") && !text.contains("refuses"),
        "{text}"
    );
}

#[test]
fn decided_by_k_alone_the_levels_do_not_depend_on_sensitive_values() {
    let alpha = require("model = \"alpha-k\"; sensitive = \"ill\"; alpha = 0.5");
    let folder = Folder::with(&format!("suppression = 4\n{alpha}\n[search]\ndecide = \"k-only\""));
    let report = folder.search(&[]);
    assert_eq!((&report["decide"], &report["best"]["levels"]["zip"]), (&"k-only".into(), &0.into()));
    assert_eq!(report["best"]["suppressed_rows"], 0, "scored before the second suppression");
    let notes = report["notes"].to_string();
    assert!(notes.contains(
        "decided by 2-anonymity alone, which leaves out 0 rows; the other models leave out 4 more"
    ));
    assert_eq!(folder.search(&["--decide", "all"])["best"]["levels"]["zip"], 0);

    // Whatever the illnesses are: the same levels.
    folder.write(
        "data.csv",
        &DATA.replace("influenza", "gout").replace("Person04,11,bronchitis", "Person04,11,influenza"),
    );
    let report = folder.search(&["--require", "alpha-k:sensitive=ill,alpha=0.75"]);
    assert_eq!(report["best"]["levels"]["zip"], 0, "{report}");

    let folder = Folder::with(&format!("suppression = 3\n{alpha}\n[search]\ndecide = \"k-only\""));
    for command in ["search", "anonymize"] {
        let (code, text) = folder.said(&[command, "incog.toml"]);
        assert_eq!(code, Some(1), "{text}");
        assert!(
            text.contains("decided by 2-anonymity alone: zip=0 would need 4 of 16 rows suppressed (25.0 %)"),
            "{text}"
        );
        assert!(text.contains("alpha 0.5 of `ill` refuses 4 rows there"), "{text}");
    }
    let (code, text) = folder.said(&["anonymize", "incog.toml", "--decide", "all"]);
    assert_eq!(code, Some(0), "all finds one where k-only does not: {text}");
    assert!(text.contains("(level 1 of 2)"), "{text}");
}

#[test]
fn decided_by_k_alone_a_release_is_published_where_nothing_more_fails() {
    let alpha = require("model = \"alpha-k\"; sensitive = \"ill\"; alpha = 0.75");
    let folder = Folder::with(&format!("suppression = 4\n{alpha}\n[search]\ndecide = \"k-only\""));
    let (code, text) = folder.said(&["anonymize", "incog.toml"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("decided by 2-anonymity alone"), "{text}");
    assert!(text.contains("pass  alpha of ill is at most 0.75"), "{text}");
    let both = ["verify", "release.csv", "--job", "incog.toml", "--record", "release.csv.incog.json"];
    assert_eq!(folder.said(&both).0, Some(0));
}

#[test]
fn decided_by_k_alone_the_groups_that_fail_are_missing_from_the_release() {
    let alpha = require("model = \"alpha-k\"; sensitive = \"ill\"; alpha = 0.5");
    let folder = Folder::with(&format!("suppression = 4\n{alpha}\n[search]\ndecide = \"k-only\""));
    let (code, text) = folder.said(&["anonymize", "incog.toml"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("12 rows released, 4 suppressed") && text.contains("zip: as collected"), "{text}");
    assert!(!folder.read("release.csv").contains("\n11,"));
    assert_eq!(folder.said(&["verify", "release.csv", "--job", "incog.toml"]).0, Some(0));
}

#[test]
fn explain_says_what_deciding_by_k_alone_hides_and_what_not() {
    let folder = Folder::new();
    let text = String::from_utf8(folder.incog(&["explain", "k-only"]).stdout).unwrap();
    assert!(text.contains("does not depend on any sensitive value"), "{text}");
    assert!(text.contains("Which groups are missing still depends on sensitive values"), "{text}");
    let list = String::from_utf8(folder.incog(&["list"]).stdout).unwrap();
    assert!(list.contains("  k-only ") && list.contains("  all "), "{list}");
}

/// One person with three of four rows: 3 of 4 rows have the flu, but 1 of 2 persons.
#[test]
fn with_a_unit_shares_are_those_of_persons() {
    let require = require("model = \"alpha-k\"; sensitive = \"ill\"; alpha = 0.5");
    let folder = Folder::with(&format!("unit = \"name\"\n{require}"));
    folder.write(
        "data.csv",
        "name,zip,ill,pay,mood\nPersonA,11,influenza,1,low\nPersonA,11,influenza,2,low\nPersonA,11,influenza,3,low\n\
         PersonB,11,gout,4,low\n",
    );
    assert_eq!(folder.search(&[])["minimal"][0]["levels"]["zip"], 0);
    let (code, text) = folder.said(&["anonymize", "incog.toml"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("pass  alpha of ill (by persons) is at most 0.5"), "{text}");
    let with_both = ["verify", "release.csv", "--job", "incog.toml", "--record", "release.csv.incog.json"];
    assert_eq!(folder.said(&with_both).0, Some(0));
    folder.write("incog.toml", &folder.read("incog.toml").replace("unit = \"name\"", ""));
    folder.refused(&["search", "incog.toml"], &["alpha is 0.5, but 3 of 4 rows"]);
    // Distinct values are the same, whoever is counted.
    let distinct = Folder::with(
        "unit = \"name\"\n[[policy.require]]\nmodel = \"distinct-l\"\nsensitive = \"ill\"\nl = 3",
    );
    let (code, text) = distinct.said(&["anonymize", "incog.toml"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("pass  distinct l of ill is at least 3"), "{text}");
}

#[test]
fn the_schema_has_the_requirements() {
    let schema = String::from_utf8(Folder::new().incog(&["schema"]).stdout).unwrap();
    for key in ["\"require\"", "\"alpha\"", "\"likeness\"", "\"hierarchical\"", "\"decide\""] {
        assert!(schema.contains(key), "{key}");
    }
}
