//! Damaged and forged files that are kept: `testdata/hostile` has them, how they are made, and what is said of each.
//!
//! Whoever reads one ends with exit code 2, or 1 where a record is read and contradicted, and a short answer that shows no cell. Nothing is
//! written.

mod folder;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use folder::Folder;
use incog_testkit::data::project;
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Cases {
    case: Vec<Case>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    file: PathBuf,
    /// What the answer says.
    says: String,
    /// Is it read, and found to be untrue?
    #[serde(default)]
    is_read: bool,
}

fn hostile() -> PathBuf {
    project().join("testdata/hostile")
}

fn cases() -> Vec<Case> {
    let text = std::fs::read_to_string(hostile().join("cases.toml")).unwrap();
    toml::from_str::<Cases>(&text).unwrap().case
}

/// What no message may contain: cells of these files.
const CELLS: [&str; 5] = ["Person-", "Grippe", "Asthma", "Hepatitis", "Sprained"];

#[test]
fn every_file_has_a_case() {
    let listed: Vec<PathBuf> = cases().into_iter().map(|case| case.file).collect();
    let mut found = BTreeSet::new();
    for folder in ["arrow", "json", "zip", "workbook", "records"] {
        for entry in std::fs::read_dir(hostile().join(folder)).unwrap() {
            found.insert(Path::new(folder).join(entry.unwrap().file_name()));
        }
    }
    for honest in ["records/release.csv", "records/release.csv.incog.json"] {
        assert!(found.remove(Path::new(honest)), "{honest}");
    }
    assert_eq!(listed.len(), found.len());
    assert_eq!(listed.into_iter().collect::<BTreeSet<_>>(), found);
    assert!(found.len() >= 40, "{} files", found.len());
}

#[test]
fn damaged_tables_are_refused_in_a_sentence() {
    for case in cases().iter().filter(|case| !case.file.starts_with("records")) {
        let folder = Folder::empty();
        let file = case.file.file_name().unwrap().to_str().unwrap();
        std::fs::copy(hostile().join(&case.file), folder.path(file)).unwrap();
        for arguments in [
            &["init", file][..],
            &["anonymize", file, "--qi", "sex", "--rest", "other", "-k", "2", "-o", "out.csv"],
            &["verify", file, "--qi", "sex", "-k", "2"],
        ] {
            let said = folder.run(arguments);
            assert_eq!(said.code, Some(2), "{file}: {said:?}");
            // A release in an archive is no release.
            if arguments[0] != "verify" || !file.ends_with(".zip") {
                assert!(said.stderr.contains(&case.says), "{file}: {said:?}");
            }
            assert!(said.stderr.len() < 500 && said.stderr.lines().count() <= 4, "{file}: {said:?}");
            assert!(!said.text().contains("panicked"), "{file}: {said:?}");
            assert!(CELLS.iter().all(|cell| !said.text().contains(cell)), "{file}: {said:?}");
            assert_eq!(folder.files(), [file]);
        }
    }
}

#[test]
fn forged_records_are_refused() {
    let folder = Folder::empty();
    for honest in ["release.csv", "release.csv.incog.json"] {
        std::fs::copy(hostile().join("records").join(honest), folder.path(honest)).unwrap();
    }
    folder.done(&["verify", "release.csv"]);
    for case in cases().iter().filter(|case| case.file.starts_with("records")) {
        std::fs::copy(hostile().join(&case.file), folder.path("forged.json")).unwrap();
        let said = folder.run(&["verify", "release.csv", "--record", "forged.json"]);
        assert_eq!(said.code, Some(if case.is_read { 1 } else { 2 }), "{case:?}: {said:?}");
        assert!(said.text().contains(&case.says), "{case:?}: {said:?}");
        assert!(!said.text().contains("panicked"), "{case:?}: {said:?}");
        assert!(CELLS.iter().all(|cell| !said.text().contains(cell)), "{case:?}: {said:?}");
    }
}
