//! `incog explain` with the real binary.

use std::process::{Command, Output};

use incog::unstable::engine::registry::SECTIONS;

fn incog(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_incog")).args(arguments).output().unwrap()
}

/// The names that `incog list` prints: they are indented by two, texts about them further.
fn listed() -> Vec<String> {
    let list = String::from_utf8(incog(&["list"]).stdout).unwrap();
    list.lines()
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .map(|line| line.split_whitespace().next().unwrap().to_owned())
        .collect()
}

#[test]
fn every_listed_name_is_explained_with_kind_status_and_all_sections() {
    let names = listed();
    assert!(names.len() >= 19, "{names:?}");
    for name in names {
        let output = incog(&["explain", &name]);
        assert_eq!(output.status.code(), Some(0), "{name}");
        assert!(output.stderr.is_empty(), "{name}");
        let text = String::from_utf8(output.stdout).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], name);
        assert!(lines[1].starts_with("kind: "), "{text}");
        assert!(lines[2].starts_with("status: preview") || lines[2].starts_with("status: vetted"), "{text}");
        let headings: Vec<&str> = lines.iter().filter_map(|line| line.strip_prefix("# ")).collect();
        assert_eq!(headings, SECTIONS, "{name}");
        assert!(!text.ends_with("# Reference\n"), "{name} has no reference");
    }
}

#[test]
fn list_and_explain_tell_the_product_from_the_papers_reference_implementations() {
    let list = String::from_utf8(incog(&["list"]).stdout).unwrap();
    for (judge, section, kind) in [
        ("snapshots", "(checker): the product", "the product"),
        ("bitmap", "(checker): the product", "the product"),
        ("roll-up", "(checker): reference implementations", "a paper's reference implementation"),
        ("sort", "(checker): reference implementations", "a paper's reference implementation"),
    ] {
        let before = list.split(&format!("\n  {judge} ")).next().unwrap();
        let title = before.lines().rfind(|line| !line.starts_with(' ')).unwrap();
        assert!(title.contains(section), "{judge} stands under {title}");
        let explained = String::from_utf8(incog(&["explain", judge]).stdout).unwrap();
        assert!(explained.lines().nth(1).unwrap().ends_with(kind), "{explained}");
    }
    let by_former_name = incog(&["explain", "kept"]).stdout;
    assert_eq!(by_former_name, incog(&["explain", "snapshots"]).stdout);
}

#[test]
fn no_name_and_an_unknown_name_are_errors_that_name_the_list() {
    for (arguments, says) in [
        (&["explain"][..], "error: nothing to explain is named"),
        (&["explain", "los"], "error: there is nothing named `los`; did you mean `loss`?"),
        (&["explain", "K-anonimity"], "did you mean `k-anonymity`?"),
        (&["explain", "swapping"], "error: there is nothing named `swapping`\n"),
    ] {
        let output = incog(arguments);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert!(output.stdout.is_empty());
        assert!(stderr.contains(says), "{stderr}");
        for name in listed() {
            assert!(stderr.contains(&name), "{name} is not in the list: {stderr}");
        }
    }
}

#[test]
fn the_words_that_everything_is_said_in_are_explained_too() {
    let names = listed();
    for concept in ["quasi-identifier", "suppression", "unit", "hierarchy", "release-record"] {
        assert!(!names.contains(&concept.to_owned()), "{concept} names two things");
        let output = incog(&["explain", concept]);
        let text = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(0));
        assert!(
            text.starts_with(&format!("{concept}\nkind: concept\n")) && text.lines().count() > 5,
            "{text}"
        );
    }
}

/// The examples in the texts about metrics, computed again.
#[test]
fn the_scores_of_patients_in_the_texts_are_those_that_search_prints() {
    let job = incog_testkit::data::project().join("examples/patients/incog.toml");
    for (metric, score) in [
        ("loss", "0.666667"),
        ("geometric-loss", "0.587401"),
        ("height", "2"),
        ("precision", "0.333333"),
        ("discernibility", "12"),
        ("average-group-size", "2"),
    ] {
        let explained = String::from_utf8(incog(&["explain", metric]).stdout).unwrap();
        let example = explained.split("# Example").nth(1).unwrap().split("# Limits").next().unwrap();
        assert!(example.contains(score), "{metric}: {example}");
        let found = incog(&["search", job.to_str().unwrap(), "--metric", metric]).stdout;
        let best = String::from_utf8(found).unwrap().lines().last().unwrap().to_owned();
        let printed: f64 = best.split_whitespace().last().unwrap().parse().unwrap();
        assert_eq!(printed, score.parse::<f64>().unwrap(), "{metric}");
    }
}
