//! Numbers that were found by measuring stand in one place, and say what they are.
//!
//! Each component of the engine that has such constants keeps them in a `tuning.rs`. A number without a unit cannot be checked, and one without a
//! benchmark cannot be measured again; `bench/tuning.py` reads both from the same lines.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Folders of the engine whose tuned constants stand in their own `tuning.rs`.
const COMPONENTS: [&str; 3] = ["frequency", "judge", "algorithm/optimum"];

/// Types of constants that could have been found by measuring.
const NUMBERS: [&str; 11] =
    ["usize", "u64", "u32", "u16", "u8", "i64", "i32", "f64", "f32", "Duration", "Share"];

/// Numbers that stand elsewhere: file, name, and why nobody found them by measuring time.
const ELSEWHERE: [(&str, &str, &str); 14] = [
    ("frequency/key.rs", "SPREAD", "defines a hash"),
    ("frequency/kept.rs", "ABSENT", "defines a format"),
    ("frequency/tally.rs", "SPREAD", "defines a hash"),
    ("frequency/tally.rs", "MOST", "the largest number of a counter's type"),
    ("judge/snapshots/general.rs", "BYTES_A_GROUP", "what a type takes in memory, added up"),
    ("judge/snapshots/small.rs", "BYTES_A_GROUP", "what a type takes in memory, added up"),
    ("judge/snapshots/told.rs", "MOST_PERSONS", "a limit: beyond it the source is asked for groups"),
    ("judge/cube.rs", "MAX_CUBE_ATTRIBUTES", "a limit: more is refused"),
    ("judge/cube.rs", "MAX_BENEFIT_ATTRIBUTES", "a limit: more is refused"),
    ("algorithm/optimum/mod.rs", "MAX_NODES", "a limit: more is refused"),
    ("algorithm/optimum/node_boxes.rs", "MAX_JUDGED", "a limit: decides what is answered, not how soon"),
    ("algorithm/optimum/node_boxes.rs", "EXACT_NODES", "a limit: decides what is answered, not how soon"),
    ("algorithm/optimum/node_boxes.rs", "MAX_BYTES", "a limit: decides what is answered, not how soon"),
    (
        "algorithm/optimum/node_boxes.rs",
        "BOXES_A_JUDGEMENT",
        "a limit: decides what is answered, not how soon",
    ),
];

fn engine() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../incog-core/src")
}

fn sources(folder: &Path, to: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, to);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            to.push(path);
        }
    }
}

/// A constant with a number, and the documentation above it in one line.
struct Constant {
    name: String,
    docs: String,
    is_plain: bool,
}

/// The name that a line declares with a number: `const NAME: usize = 1;` or, where constants are tuned, `NAME: usize = 1;`.
fn declared(line: &str) -> Option<(&str, bool)> {
    let line = line.trim_start();
    let rest = line.strip_prefix("pub").map_or(line, |rest| match rest.strip_prefix('(') {
        Some(rest) => rest.split_once(") ").map_or(rest, |(_, rest)| rest),
        None => rest.trim_start(),
    });
    let plain = rest.strip_prefix("const ");
    let (name, rest) = plain.unwrap_or(rest).split_once(": ")?;
    let (kind, _) = rest.split_once(" =")?;
    let is_name = !name.is_empty() && name.chars().all(|letter| letter.is_ascii_uppercase() || letter == '_');
    (is_name && NUMBERS.contains(&kind)).then_some((name, plain.is_some()))
}

/// The constants with a number that a text declares outside of its tests.
fn constants(text: &str) -> Vec<Constant> {
    let text = text.split("#[cfg(test)]\nmod tests").next().unwrap();
    let mut found = Vec::new();
    let mut docs = String::new();
    for line in text.lines() {
        if let Some(doc) = line.trim_start().strip_prefix("///") {
            docs = format!("{docs} {}", doc.trim());
            continue;
        }
        if let Some((name, is_plain)) = declared(line) {
            found.push(Constant { name: name.to_owned(), docs: docs.trim().to_owned(), is_plain });
        }
        docs.clear();
    }
    found
}

fn tuned(component: &str) -> Vec<Constant> {
    constants(&fs::read_to_string(engine().join(component).join("tuning.rs")).unwrap())
}

/// What is wrong with a constant's documentation: it has a meaning, a unit, and a case that measures it.
fn problem(constant: &Constant, cases: &BTreeSet<&str>) -> Option<&'static str> {
    let Some((meaning, rest)) = constant.docs.split_once("Unit: ") else { return Some("has no unit") };
    if !meaning.trim().ends_with('.') || meaning.split_whitespace().count() < 5 {
        return Some("has no meaning");
    }
    let case = rest.split_once(". Measured by: `").and_then(|(_, rest)| rest.strip_suffix("`."));
    if !case.is_some_and(|case| cases.contains(case)) {
        return Some("names no case of `incog-bench tuning` that measures it");
    }
    (constant.is_plain != meaning.contains("needs a rebuild"))
        .then_some("is set without a rebuild, or is not")
}

/// The names of the cases in the benchmark's source.
fn cases(benchmark: &str) -> BTreeSet<&str> {
    let rest = benchmark.split("Case { name: \"").skip(1);
    rest.map(|rest| rest.split('"').next().unwrap()).collect()
}

#[test]
fn every_tuned_constant_has_a_meaning_a_unit_and_a_benchmark() {
    let benchmark = fs::read_to_string(engine().join("../../../bench/src/tuning.rs")).unwrap();
    let cases = cases(&benchmark);
    assert!(cases.len() > 10, "cases are read");
    let mut n_constants = 0;
    for component in COMPONENTS {
        for constant in tuned(component) {
            let problem = problem(&constant, &cases);
            assert_eq!(problem, None, "{component}/tuning.rs: `{}`", constant.name);
            n_constants += 1;
        }
    }
    assert!(n_constants > 80, "constants are read: {n_constants}");
}

#[test]
fn a_tuned_constant_has_one_name_in_all_components() {
    let mut seen: BTreeMap<String, &str> = BTreeMap::new();
    for component in COMPONENTS {
        for constant in tuned(component) {
            let other = seen.insert(constant.name.clone(), component);
            assert_eq!(other, None, "{component}/tuning.rs: `{}`", constant.name);
        }
    }
}

#[test]
fn tuned_constants_stand_nowhere_else_in_their_component() {
    let mut unused: BTreeSet<(String, String)> =
        ELSEWHERE.iter().map(|(file, name, _)| ((*file).to_owned(), (*name).to_owned())).collect();
    assert_eq!(unused.len(), ELSEWHERE.len());
    for component in COMPONENTS {
        let mut paths = Vec::new();
        sources(&engine().join(component), &mut paths);
        for path in paths.iter().filter(|path| !path.ends_with("tuning.rs") && !path.ends_with("tests.rs")) {
            let file = path.strip_prefix(engine()).unwrap().display().to_string();
            for constant in constants(&fs::read_to_string(path).unwrap()) {
                let place = (file.clone(), constant.name);
                let is_known = ELSEWHERE.iter().any(|(file, name, _)| place.0 == *file && place.1 == *name);
                assert!(
                    is_known,
                    "{}: `{}` belongs in {component}/tuning.rs, or in the list above",
                    file, place.1
                );
                unused.remove(&place);
            }
        }
    }
    assert!(unused.is_empty(), "there are no longer {unused:?}");
}

#[test]
fn a_constant_without_unit_reason_or_benchmark_is_found() {
    let cases = BTreeSet::from(["adult-best"]);
    let problem_of = |docs: &str| {
        let text = format!("tuned! {{\n{docs}\n    FEW: usize = 1 << 3;\n}}");
        let constants = constants(&text);
        assert_eq!(constants.len(), 1);
        problem(&constants[0], &cases)
    };
    let meaning = "    /// Fewer nodes than this are few.\n    ///";
    assert_eq!(problem_of(&format!("{meaning}\n    /// Unit: nodes. Measured by: `adult-best`.")), None);
    assert!(problem_of(meaning).is_some());
    assert!(problem_of(&format!("{meaning}\n    /// Unit: nodes.")).is_some());
    assert!(problem_of(&format!("{meaning}\n    /// Unit: nodes. Measured by: `nobody`.")).is_some());
    assert!(problem_of("    /// Unit: nodes. Measured by: `adult-best`.").is_some());
    let plain =
        constants("pub(super) const FEW: u32 = 3;\n#[cfg(test)]\nmod tests {\nconst N: usize = 4;\n}");
    assert_eq!(plain.len(), 1, "tests may have numbers");
    assert!(plain[0].is_plain);
}
