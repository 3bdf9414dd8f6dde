//! `incog search -k 2..100`: the best generalization for each k.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn search(flags: &[&str]) -> Output {
    let job = project().join("examples/patients/incog.toml");
    Command::new(env!("CARGO_BIN_EXE_incog")).arg("search").arg(job).args(flags).output().unwrap()
}

fn json(flags: &[&str]) -> Value {
    let output = search(&[flags, &["--format", "json"]].concat());
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn each_k_has_the_node_that_a_search_for_it_finds() {
    for suppression in ["0", "2"] {
        let range = json(&["-k", "1..7", "--suppression", suppression]);
        let points = range["frontier"].as_array().unwrap();
        assert_eq!(points.len(), 7);
        for point in points {
            let k = point["k"].to_string();
            let one = json(&["-k", &k, "--suppression", suppression]);
            assert_eq!(point["best"], one["best"], "k = {k}");
            assert_eq!(point["satisfying"], one["satisfying"], "k = {k}");
        }
        // Six patients: nothing satisfies k = 7.
        assert_eq!(points[6]["best"], Value::Null);
    }
}

#[test]
fn the_table_has_a_line_for_each_k_and_the_chart_a_line() {
    let folder = tempfile::tempdir().unwrap();
    for flag in ["--chart", "--svg"] {
        let chart = folder.path().join(format!("{flag}.svg"));
        let output = search(&["--k", "2..6", flag, chart.to_str().unwrap()]);
        assert_eq!(output.status.code(), Some(0));
        let text = String::from_utf8(output.stdout).unwrap();
        let lines: Vec<&str> = text.lines().skip_while(|line| !line.is_empty()).skip(1).collect();
        assert!(lines[0].contains("loss") && lines[0].contains("suppressed"), "{text}");
        let ks: Vec<&str> = lines[1..].iter().filter_map(|line| line.split_whitespace().next()).collect();
        assert_eq!(ks, ["2", "3", "4", "5", "6"]);
        let svg = std::fs::read_to_string(&chart).unwrap();
        assert!(
            svg.starts_with("<svg")
                && svg.ends_with("</svg>\n")
                && svg.contains("role=\"img\"")
                && svg.contains(">loss<")
        );
    }
}

#[test]
fn nothing_for_any_k_is_exit_code_1() {
    let output = search(&["-k", "7..9"]);
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn what_makes_no_sense_is_an_error() {
    let refused = |flags: &[&str], part: &str| {
        let output = search(flags);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{flags:?}: {stderr}");
        assert!(output.stdout.is_empty());
        assert!(stderr.contains(part), "no `{part}` in: {stderr}");
    };
    refused(&["-k", "5..2"], "error: the range of k ends before it starts");
    refused(&["-k", "0..3"], "error: k is 0");
    refused(&["-k", "2..many"], "two whole numbers");
    refused(&["--k=-2..3"], "two whole numbers");
    refused(&["-k", "2..100000"], "more than 10000 values");
    refused(&["-k", "2..5", "--all"], "--all is for one k");
    refused(&["-k", "2", "--chart", "chart.svg"], "--chart is for a range of k");
    refused(&["-k", "2..5", "--metric", "discernibility"], "`discernibility` cannot be compared");
    refused(&["-k", "2..5", "--algorithm", "mondrian"], "finds one release");
    let require = ["--sensitive", "disease", "--require", "distinct-l:sensitive=disease,l=2"];
    refused(&[["-k", "2..5"].as_slice(), &require].concat(), "a range of k is for k-anonymity alone");

    let job = project().join("examples/patients/incog.toml");
    let output = Command::new(env!("CARGO_BIN_EXE_incog"))
        .arg("compare")
        .arg(job)
        .args(["-k", "2..5"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains("a range of k is for `incog search`"));
}
