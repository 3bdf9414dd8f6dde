//! A job by flags alone, and flags over a job file.

mod folder;

use folder::{FLAGS, Folder};
use incog_testkit::data::csv_rows;

/// The folder's data, released by flags.
const RELEASE: [&str; 2] = ["anonymize", "data.csv"];

/// Runs the folder's job with these flags more, and reads the record.
fn record_with(folder: &Folder, flags: &[&str]) -> serde_json::Value {
    folder.done(&[&["anonymize", "incog.toml", "-o", "over.csv"], flags].concat());
    folder.json("over.csv.incog.json")
}

#[test]
fn flags_alone_release_the_same_as_the_job_file() {
    let folder = Folder::new();
    folder.done(&["anonymize", "incog.toml"]);
    folder.done(&[&RELEASE[..], &FLAGS[..], &["-o", "flags.csv"]].concat());
    assert_eq!(folder.bytes("flags.csv"), folder.bytes("release.csv"));
    let [by_job, by_flags] =
        ["release.csv.incog.json", "flags.csv.incog.json"].map(|record| folder.json(record));
    for key in ["release", "claims", "levels", "scores", "hierarchies", "suppressed_rows", "input"] {
        assert_eq!(by_job[key], by_flags[key], "{key}");
    }
    assert_ne!(by_job["levels"], serde_json::json!({"age": 3, "sex": 1, "zip": 2}), "something is kept");
}

#[test]
fn rules_by_flag_are_those_of_a_job_file() {
    let folder = Folder::new();
    folder.replace("incog.toml", "{ file = \"hierarchies/age.csv\" }", "{ intervals = [5, 10] }");
    folder.done(&["anonymize", "incog.toml"]);
    let rule = ["--hierarchy", "age={ intervals = [5, 10] }", "-o", "flags.csv"];
    folder.done(&[&RELEASE[..], &FLAGS[..], &rule].concat());
    assert_eq!(folder.bytes("flags.csv"), folder.bytes("release.csv"));
    // A rule takes the place of the job's own.
    folder.done(&["anonymize", "incog.toml", "--hierarchy", "age={ intervals = [60] }", "-o", "over.csv"]);
    let ages = |file: &str| csv_rows(&folder.path(file), b',')[1][0].clone();
    assert_eq!((ages("over.csv").as_str(), ages("release.csv").as_str()), ("[0, 60)", "*"));
}

#[test]
fn columns_that_nobody_declares_are_refused_with_the_flags_that_would() {
    let folder = Folder::new();
    let flags = ["anonymize", "data.csv", "--qi", "age,sex", "-k", "5", "-o", "out.csv"];
    folder.refused(
        &flags,
        &["nothing about column `name`, `zip`, `ill`", "--identifier", "--sensitive", "--other", "--rest"],
    );
    folder.refused(&[&flags[..], &["--identifier", "name"]].concat(), &["nothing about column `zip`, `ill`"]);
}

#[test]
fn the_rest_has_the_role_that_a_flag_gives_it() {
    let folder = Folder::new();
    let header = |rest: &str| {
        let flags = ["anonymize", "data.csv", "--qi", "age,sex", "-k", "5", "-o", "out.csv", "--rest", rest];
        folder.done(&flags);
        let sensitive = folder.json("out.csv.incog.json")["claims"]["sensitive"].clone();
        (csv_rows(&folder.path("out.csv"), b',').remove(0), sensitive.as_object().unwrap().len())
    };
    let everything = ["name", "age", "sex", "zip", "ill"].map(str::to_owned).to_vec();
    assert_eq!(header("identifier"), (vec!["age".to_owned(), "sex".to_owned()], 0));
    assert_eq!(header("other"), (everything.clone(), 0));
    assert_eq!(header("sensitive"), (everything, 3));
    let piped = ["anonymize", "-", "--qi", "age", "-k", "5", "-o", "-", "--rest", "identifier"];
    let said = folder.run_with_input(&piped, "data.csv");
    assert_eq!((said.code, said.stdout.lines().next()), (Some(0), Some("age")), "{said:?}");
}

#[test]
fn flags_take_the_place_of_what_the_job_says() {
    let folder = Folder::new();
    let plain = record_with(&folder, &[]);
    assert_eq!(plain["claims"]["k"], 5);
    assert!(plain["claims"]["smallest_group"].as_u64().unwrap() < 20);

    let k = record_with(&folder, &["-k", "20"]);
    assert_eq!(k["claims"]["k"], 20);
    assert!(folder.smallest_group("over.csv", &["age", "sex", "zip"]) >= 20);

    assert_eq!(plain["suppressed_rows"], 1);
    let none = record_with(&folder, &["--suppression", "0"]);
    assert_eq!(none["suppressed_rows"], 0);
    assert_eq!(csv_rows(&folder.path("over.csv"), b',').len(), 61);
    assert_eq!(record_with(&folder, &["--suppression", "10%"])["claims"]["suppression_budget"], 6);

    let unit = record_with(&folder, &["--unit", "name"]);
    assert_eq!(unit["claims"]["unit"], "name");
    assert!(unit["claims"]["fewest_persons"].as_u64().unwrap() >= 5);
    assert!(plain["claims"]["fewest_persons"].is_null());

    let fewer = record_with(&folder, &["--qi", "zip,age", "--other", "sex"]);
    assert_eq!(fewer["quasi_identifiers"], serde_json::json!(["zip", "age"]));
    assert!(folder.smallest_group("over.csv", &["age", "zip"]) >= 5);

    let by_height = folder.done(&["anonymize", "incog.toml", "--metric", "height", "-o", "over.csv"]);
    assert!(by_height.stderr.contains(", height "), "{by_height:?}");
    for (flag, name) in [("--algorithm", "bottom-up"), ("--checker", "cube"), ("--marking", "direct")] {
        let record = record_with(&folder, &[flag, name]);
        let said = format!("{} = \"{name}\"", &flag[2..]);
        assert!(record["job"].as_str().unwrap().contains(&said), "{record}");
        assert_eq!(record["levels"], plain["levels"], "{flag} finds the same");
        folder.refused(&["anonymize", "incog.toml", flag, "none"], &["error: unknown ", "`none`"]);
    }

    let sorted = |file: &str| folder.counted_rows(file);
    folder.done(&["anonymize", "incog.toml", "--order", "shuffle", "-o", "shuffled.csv"]);
    folder.done(&["anonymize", "incog.toml", "-o", "over.csv"]);
    assert_eq!(sorted("shuffled.csv"), sorted("over.csv"));
    assert_ne!(folder.read("shuffled.csv"), folder.read("over.csv"));

    folder.write("half.csv", folder::people(0..30));
    let half = record_with(&folder, &["--input", "half.csv"]);
    assert_eq!(half["input"]["rows"], 30);
    assert_eq!(folder.read("data.csv"), folder::people(0..60), "the data is as it was");
}

#[test]
fn a_delimiter_by_flag_is_used_instead_of_the_jobs() {
    let folder = Folder::new();
    folder.replace("incog.toml", "path = \"data.csv\"", "path = \"data.csv\"\ndelimiter = \"|\"");
    folder.refused(&["anonymize", "incog.toml"], &["none of the job's 5 columns", "--delimiter"]);
    folder.done(&["anonymize", "incog.toml", "--delimiter", ","]);
    folder.write("data.csv", folder::people(0..60).replace(',', "|"));
    folder.done(&["anonymize", "incog.toml", "-o", "pipes.csv"]);
    assert_eq!(folder.read("pipes.csv"), folder.read("release.csv").replace(',', "|"), "as the data is");
}

#[test]
fn a_quasi_identifier_of_the_job_that_the_flag_leaves_out_is_refused() {
    let folder = Folder::new();
    let parts = ["column `zip` is a quasi-identifier of the job", "not named by --qi", "--other zip"];
    folder.refused(&["anonymize", "incog.toml", "--qi", "age,sex"], &parts);
    folder.done(&["anonymize", "incog.toml", "--qi", "age,sex", "--identifier", "zip"]);
    assert!(folder.read("release.csv").starts_with("age,sex,ill\n"));
}

#[test]
fn a_column_named_twice_is_refused() {
    let folder = Folder::new();
    let twice = ["column `age` is named twice", "one role"];
    folder.refused(&["anonymize", "incog.toml", "--qi", "age,sex,zip", "--other", "age"], &twice);
    folder.refused(&["anonymize", "incog.toml", "--qi", "age,sex,zip,age"], &twice);
}

#[test]
fn nonsense_is_refused_with_a_reason() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("empty")).unwrap();
    let with = |flags: &[&str], parts: &[&str]| {
        folder.refused(&[&RELEASE[..], &FLAGS[..], &["-o", "out.csv"], flags].concat(), parts);
    };
    folder.refused(&["anonymize", "data.csv", "-k", "5", "-o", "out.csv"], &["quasi-identifiers", "--qi"]);
    folder.refused(&["anonymize", "data.csv", "--qi", "age", "-o", "out.csv"], &["k is not given", "-k 5"]);
    folder.refused(
        &[&RELEASE[..], &FLAGS[..10], &["--hierarchies", "none", "-o", "x"]].concat(),
        &["no folder `none`"],
    );
    folder.refused(
        &[&RELEASE[..], &FLAGS[..10], &["--hierarchies", "empty", "-o", "x"]].concat(),
        &["`empty` has no hierarchy for any quasi-identifier", "age.csv"],
    );
    with(&["--hierarchy", "age"], &["--hierarchy is not NAME=RULE", "intervals"]);
    with(&["--hierarchy", "age={ intervals = [5, 10"], &["the rule: "]);
    with(
        &["--hierarchy", "age={ interval = [5] }"],
        &["unknown key `interval`", "did you mean `intervals`?"],
    );
    with(&["--hierarchy", "ill={ suppress = true }"], &["`ill`, which is no quasi-identifier"]);
    with(&["--hierarchy", "zip={ file = \"none.csv\" }"], &["no such file"]);
    with(&["--unit", "nobody"], &["no column `nobody`"]);
    with(&["--other", "wife"], &["no column `wife`"]);
    with(&["--delimiter", "\""], &["the delimiter is a quote"]);
    folder.refused(&["anonymize", "incog.toml", "incog.toml"], &["a job file cannot be one of several"]);
    folder.refused(
        &["anonymize", "data.csv", "incog.toml"],
        &["a job file cannot be one of several", "--input"],
    );
    folder.refused(&["anonymize", "none.csv", "--qi", "age", "-k", "5", "-o", "out.csv"], &["no such file"]);
    for flags in [["--order", "random"], ["--rest", "qi"], ["-k", "five"]] {
        let said = folder.run(&["anonymize", "incog.toml", flags[0], flags[1]]);
        assert_eq!(said.code, Some(2), "{said:?}");
    }
    let both = folder.run(&["anonymize", "incog.toml", "--no-record", "--record", "r.json"]);
    assert_eq!(both.code, Some(2));
    assert!(!folder.files().contains(&"out.csv".to_owned()));
}
