//! What a reader of the papers looks for, by commands and jobs.

mod folder;

use folder::{Folder, Said};
use incog_testkit::data::project;
use serde_json::Value;

/// `incog search` of the paper's Patients table.
fn patients(flags: &[&str]) -> Said {
    let job = project().join("examples/patients/incog.toml");
    Folder::empty().run(&[&["search", job.to_str().unwrap()], flags].concat())
}

fn json(said: &Said) -> Value {
    assert_eq!(said.stderr, "");
    serde_json::from_str(&said.stdout).unwrap()
}

#[test]
fn a_column_at_one_label_is_grouped_where_the_job_says_so() {
    let run = |what: &str| {
        let report = json(&patients(&[
            "--algorithm",
            "incognito",
            "--checker",
            "roll-up",
            "--one-label",
            what,
            "--format",
            "json",
        ]));
        (report["nodes_checked"].as_u64().unwrap(), report["nodes_grouped"].as_u64().unwrap())
    };
    let (checked, grouped) = run("take-over");
    assert_eq!(run("group"), (checked, checked));
    assert!(checked == 17 && grouped < checked, "{grouped} of {checked}");
    let text = patients(&["--algorithm", "incognito", "--one-label", "group"]).stdout;
    assert!(text.contains("checked 17 and grouped 17 nodes"), "{text}");
}

#[test]
fn one_label_is_refused_where_it_has_no_effect() {
    patients(&["--one-label", "group"]).failed(2, &["one_label", "algorithm = \"incognito\""]);
    patients(&["--one-label", "group", "--algorithm", "bottom-up"]).failed(2, &["one_label", "incognito"]);
    let folder = Folder::new();
    folder.replace("incog.toml", "[columns.age]", "[search]\none_label = \"group\"\n[columns.age]");
    folder.refused(&["anonymize", "incog.toml"], &["line 10", "`one_label`", "incognito"]);
    folder.replace(
        "incog.toml",
        "one_label = \"group\"",
        "one_label = \"groups\"\nalgorithm = \"incognito\"",
    );
    folder
        .refused(&["search", "incog.toml"], &["line 10", "none of take-over, group", "did you mean `group`"]);
    folder.replace("incog.toml", "\"groups\"", "\"group\"");
    folder.done(&["anonymize", "incog.toml"]);
}
