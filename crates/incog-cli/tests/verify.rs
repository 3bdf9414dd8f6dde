//! `incog verify`: thresholds on sensitive columns, local recoding, and what is said of bad arguments.

use std::process::{Command, Output};

use tempfile::TempDir;

/// Two groups by zip. `ill` has 2, 1, 1 and 1, 1; `age` is a number.
const RELEASE: &str = "zip,ill,age\n1*,flu,30\n1*,flu,40\n1*,cold,40\n1*,gout,50\n2*,flu,30\n2*,cold,50\n";

const JOB: &str = r#"[input]
path = "data.csv"
[policy]
k = 2
[columns]
name.role = "identifier"
zip = { role = "quasi-identifier", hierarchy = { mask = "right" } }
ill.role = "sensitive"
"#;

const DATA: &str = "name,zip,ill\nann,11,flu\nbob,12,cold\ncid,12,flu\ndee,21,cold\n";

struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        let folder = Folder(tempfile::tempdir().unwrap());
        folder.write("release.csv", RELEASE);
        folder.write("data.csv", DATA);
        folder.write("incog.toml", JOB);
        folder
    }

    fn write(&self, file: &str, text: &str) {
        std::fs::write(self.0.path().join(file), text).unwrap();
    }

    fn verify(&self, arguments: &str) -> Output {
        Command::new(env!("CARGO_BIN_EXE_incog"))
            .arg("verify")
            .args(arguments.split_whitespace())
            .current_dir(&self.0)
            .output()
            .unwrap()
    }

    /// The exit code, and what stdout or stderr say.
    fn said(&self, arguments: &str) -> (Option<i32>, String) {
        let output = self.verify(arguments);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout) + &text(&output.stderr))
    }
}

/// The exit code of thresholds on a column of the release.
fn check(column: &str, thresholds: &str, expected: i32) {
    let (code, text) =
        Folder::new().said(&format!("release.csv --qi zip -k 2 --sensitive {column} {thresholds}"));
    assert_eq!(code, Some(expected), "{column} {thresholds}: {text}");
    assert_eq!(text.contains("FAIL"), expected == 1, "{column} {thresholds}: {text}");
    for cell in ["flu", "cold", "gout", "1*"] {
        assert!(!text.contains(cell), "a cell got out: {text}");
    }
}

#[test]
fn thresholds_hold_up_to_what_the_release_reaches() {
    for (thresholds, expected) in [
        ("--alpha 0.5", 0),
        ("--alpha 1/2", 0),
        ("--alpha 49.999%", 1),
        ("--distinct-l 2", 0),
        ("--distinct-l 3", 1),
        ("--entropy-l 2", 0),
        ("--entropy-l 2.0000001", 1),
        // 2 / (1 + 1) and 1 / 1: for every c greater than 1.
        ("--recursive 1.001,2", 0),
        ("--recursive 1,2", 1),
        ("--recursive 99,3", 1),
        // Over all 3/6, 2/6, 1/6; the second group has 1/2, 1/2, 0.
        ("--t 1/6", 0),
        ("--t 0.1666", 1),
        ("--alpha 0.5 --distinct-l 2 --entropy-l 2 --recursive 3,2 --t 0.3", 0),
        ("--alpha 0.5 --distinct-l 2 --entropy-l 2 --recursive 3,2 --t 0.1", 1),
    ] {
        check("ill", thresholds, expected);
    }
}

#[test]
fn ordered_distances_are_for_numbers_only() {
    // 30, 40, 50 stand 2, 2, 2 times. The second group has 1, 0, 1: differences 1/6, −1/3, 1/6; moved 1/6 and 1/6,
    // over 2. All equally far apart it would be a third.
    check("age", "--t 1/6 --ordered", 0);
    check("age", "--t 0.16 --ordered", 1);
    check("age", "--t 1/6", 1);
    check("age", "--t 1/3", 0);
    check("ill", "--t 1 --ordered", 1);
    check("ill,age", "--t 1", 0);
    check("ill,age", "--t 1 --ordered", 1);
}

#[test]
fn the_claim_that_fails_is_named_with_column_threshold_and_what_was_found() {
    let (_, text) = Folder::new().said("release.csv --qi zip -k 2 --sensitive ill,age --distinct-l 3");
    assert!(
        text.contains("FAIL  distinct l of ill is at least 3 (the fewest values of a group are 2)"),
        "{text}"
    );
    assert!(text.contains("FAIL  distinct l of age is at least 3"), "every sensitive column: {text}");
    assert!(text.contains("pass  2-anonymity"), "{text}");
    assert_eq!(Folder::new().said("release.csv --qi zip -k 2 --sensitive name --alpha 1").0, Some(1));
}

#[test]
fn bad_thresholds_are_errors() {
    let folder = Folder::new();
    for (arguments, part) in [
        ("--sensitive ill --alpha 1.5", "between 0 and 1"),
        ("--sensitive ill --alpha 101%", "between 0 and 1"),
        ("--sensitive ill --alpha half", "not a number"),
        ("--sensitive ill --alpha=-0.5", "not a number"),
        ("--sensitive ill --t 2", "between 0 and 1"),
        ("--sensitive ill --distinct-l 0", "0 is not in 1.."),
        ("--sensitive ill --entropy-l 0", "less than 1"),
        ("--sensitive ill --recursive 3", "a comma between them"),
        ("--sensitive ill --recursive 3,0", "at least 1"),
        ("--sensitive ill --recursive 0,2", "c is 0"),
        ("--sensitive ill --recursive x,2", "c is not a number"),
        ("--sensitive ill --ordered", "--t"),
        ("--alpha 0.5", "--sensitive"),
        ("--t 0.5", "--sensitive"),
        ("--local", "cannot be used with"),
    ] {
        let (code, text) = folder.said(&format!("release.csv --qi zip -k 2 {arguments}"));
        assert_eq!(code, Some(2), "{arguments}: {text}");
        assert!(text.contains(part), "no `{part}` for {arguments}: {text}");
    }
    let (code, text) = folder.said("release.csv --job incog.toml --alpha 0.5");
    assert!(code == Some(2) && text.contains("cannot be used with"), "the job would be ignored: {text}");
}

#[test]
fn cells_at_different_levels_pass_as_local_recoding_only() {
    let folder = Folder::new();
    // The first row must not take cid, whom the third one needs.
    folder.write("local.csv", "zip,ill\n*,flu\n1*,cold\n1*,flu\n*,cold\n");
    let (code, text) = folder.said("local.csv --job incog.toml --local");
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("pass  every released row can be assigned an input row of its own"), "{text}");
    assert_eq!(folder.said("local.csv --job incog.toml").0, Some(1), "two levels in one column");

    folder.write("data.csv", &(DATA.to_owned() + "eve,22,flu\nfay,22,flu\n"));
    let mixed = "zip,ill\n*,cold\n*,flu\n12,cold\n12,flu\n22,flu\n22,flu\n";
    folder.write("local.csv", mixed);
    let (code, text) = folder.said("local.csv --job incog.toml --local");
    assert_eq!(code, Some(0), "{text}");
    folder.write("local.csv", &mixed.replace("12,flu", "12,cold"));
    let (code, text) = folder.said("local.csv --job incog.toml --local");
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("1 cannot, the first is row"), "{text}");
    folder.write("local.csv", mixed);
    folder.write("incog.toml", &JOB.replace("k = 2", "k = 2\nunit = \"name\""));
    let (code, text) = folder.said("local.csv --job incog.toml --local");
    assert_eq!(code, Some(2), "nothing was found wrong, and persons could not be counted: {text}");
    assert!(text.contains("can only be counted by the job that made it"), "{text}");
}

#[test]
fn the_help_names_every_flag() {
    let (code, text) = Folder::new().said("--help");
    assert_eq!(code, Some(0));
    for flag in ["--alpha", "--distinct-l", "--entropy-l", "--recursive", "--t ", "--ordered", "--local"] {
        assert!(text.contains(flag), "{flag}: {text}");
    }
}
