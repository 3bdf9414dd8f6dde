//! The release record: beside the release, without a cell, and believed by nobody.

mod folder;

use folder::{Folder, people};
use incog_testkit::data::csv_rows;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

const RECORD: &str = "release.csv.incog.json";

/// A folder with a release and its record.
fn released() -> Folder {
    let folder = Folder::new();
    folder.done(&["anonymize", "incog.toml"]);
    folder
}

/// JSON with sorted keys and without white space.
fn canonical(value: &Value) -> String {
    match value {
        Value::Object(object) => {
            let mut members: Vec<(&String, &Value)> = object.iter().collect();
            members.sort_by_key(|(key, _)| *key);
            let members: Vec<String> =
                members.iter().map(|(key, value)| format!("{}:{}", json!(key), canonical(value))).collect();
            format!("{{{}}}", members.join(","))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(canonical).collect::<Vec<_>>().join(",")),
        plain => plain.to_string(),
    }
}

/// The record with a checksum that is right, as a forger without the key would write it.
fn forged(mut record: Value) -> String {
    let seal = record.as_object_mut().unwrap().remove("seal").unwrap();
    record.as_object_mut().unwrap().remove("checksum").unwrap();
    let digest: [u8; 32] = Sha256::digest(canonical(&record)).into();
    record["checksum"] = digest.iter().map(|byte| format!("{byte:02x}")).collect::<String>().into();
    record["seal"] = seal;
    canonical(&record) + "\n"
}

/// The same of a signed record, with the signature as it was.
fn signature_kept(mut record: Value) -> String {
    let signature = record.as_object_mut().unwrap().remove("signature");
    let mut record: Value = serde_json::from_str(&forged(record)).unwrap();
    if let Some(signature) = signature {
        record["signature"] = signature;
    }
    canonical(&record) + "\n"
}

/// Where every value of a record stands, as JSON pointers.
fn leaves(value: &Value, at: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(object) => {
            object.iter().for_each(|(key, value)| leaves(value, &format!("{at}/{key}"), found));
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(n, item)| leaves(item, &format!("{at}/{n}"), found));
        }
        _ => found.push(at.to_owned()),
    }
}

/// Another value of the same sort.
fn changed(pointer: &str, value: &Value) -> Value {
    match value {
        Value::Null if pointer.ends_with("persons") => json!(1),
        Value::Null => json!("1"),
        Value::Number(number) => json!(number.as_u64().unwrap() + 1),
        Value::String(text) if text.len() == 64 => {
            // Another digest.
            let first = if text.starts_with('0') { "1" } else { "0" };
            json!(first.to_owned() + &text[1..])
        }
        Value::String(text) => json!(format!("{text}1")),
        _ => panic!("a record has no such value"),
    }
}

/// Whether only the publisher's key can tell what is right there.
fn takes_key(pointer: &str) -> bool {
    pointer.ends_with("hmac_sha256") || pointer.starts_with("/hierarchies/")
}

/// Every single change of a record, with the pointer to it.
fn changes(record: &Value) -> Vec<(String, Value)> {
    let mut pointers = Vec::new();
    leaves(record, "", &mut pointers);
    let change = |pointer: String| {
        let mut edited = record.clone();
        let value = edited.pointer_mut(&pointer).unwrap();
        *value = changed(&pointer, value);
        (pointer, edited)
    };
    pointers.into_iter().map(change).collect()
}

#[test]
fn a_record_is_canonical_json_without_a_cell() {
    let folder = released();
    let text = folder.read(RECORD);
    let record = folder.json(RECORD);
    assert_eq!(text, canonical(&record) + "\n");
    // By chance a digest may have the digits of a zip code.
    let mut plain = record.clone();
    for (pointer, _) in changes(&record) {
        let value = plain.pointer_mut(&pointer).unwrap();
        if value.as_str().is_some_and(|text| text.len() == 64) {
            *value = Value::Null;
        }
    }
    let plain = canonical(&plain);
    let cells =
        ["data.csv", "release.csv"].map(|file| csv_rows(&folder.path(file), b',').split_off(1)).concat();
    let mut n_checked = 0;
    for cell in cells.iter().flatten().filter(|cell| cell.len() > 2) {
        assert!(!plain.contains(cell.as_str()), "{cell} is in the record");
        n_checked += 1;
    }
    assert!(n_checked > 200);
}

#[cfg(unix)]
#[test]
fn the_key_is_its_owners_alone_and_is_used_again() {
    use std::os::unix::fs::PermissionsExt;
    let folder = released();
    let mode = std::fs::metadata(folder.path("incog.key")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let (key, record) = (folder.read("incog.key"), folder.json(RECORD));
    folder.done(&["anonymize", "incog.toml"]);
    assert_eq!(folder.read("incog.key"), key);
    assert_eq!(folder.json(RECORD), record, "the same release has the same record");
    std::fs::remove_file(folder.path("incog.key")).unwrap();
    folder.done(&["anonymize", "incog.toml"]);
    let again = folder.json(RECORD);
    assert_ne!(again["input"]["hmac_sha256"], record["input"]["hmac_sha256"], "keyed by a new key");
    assert_eq!(again["release"], record["release"]);
}

#[test]
fn a_release_passes_against_its_record_its_job_and_its_key() {
    let folder = released();
    for more in [&[][..], &["--job", "incog.toml"], &["--job", "incog.toml", "--key", "incog.key"]] {
        let said = folder.done(&[&["verify", "release.csv", "--record", RECORD], more].concat());
        assert!(
            said.stdout.contains("pass  the record is what") && !said.stdout.contains("FAIL"),
            "{said:?}"
        );
        said.has_no_cell();
    }
}

#[test]
fn a_release_from_a_pipe_has_no_bytes_to_compare() {
    let folder = released();
    let piped = ["verify", "-", "--record", RECORD];
    folder.run_with_input(&piped, "release.csv").failed(2, &["standard input", "save it to a file"]);
    let by_job = folder.run_with_input(&["verify", "-", "--job", "incog.toml"], "release.csv");
    assert_eq!(by_job.code, Some(0), "{by_job:?}");
}

#[test]
fn a_release_that_was_tampered_with_is_refused_by_its_record() {
    let folder = released();
    let lines: Vec<String> = folder.read("release.csv").lines().map(str::to_owned).collect();
    let refused = |lines: &[String], key: &str| {
        folder.write("broken.csv", lines.join("\n") + "\n");
        for more in [&[][..], &["--job", "incog.toml"]] {
            let said = folder.run(&[&["verify", "broken.csv", "--record", RECORD], more].concat());
            assert_eq!(said.code, Some(1), "{said:?}");
            let mut fails = said.stdout.lines().filter(|line| line.contains("FAIL"));
            assert!(
                fails.any(|line| line.contains("the record is what") && line.contains(key)),
                "{key}: {said:?}"
            );
            said.has_no_cell();
        }
    };
    let mut cell = lines.clone();
    cell[1] = cell[1].replace("influenza", "plague");
    assert_ne!(cell, lines);
    refused(&cell, "claims.sensitive.ill");
    let mut dropped = lines.clone();
    dropped.remove(1);
    refused(&dropped, "claims.sensitive.ill");
    // Nothing that is counted changes with the order of rows.
    let mut swapped = lines.clone();
    swapped.swap(1, 2);
    refused(&swapped, "release.sha256");
    // Two labels of different groups, the groups as large as before.
    let mut labels = lines.clone();
    let other = (2..labels.len()).find(|&at| labels[at].split(',').next() != labels[1].split(',').next());
    let other = other.unwrap();
    let [mine, theirs] = [1, other].map(|at| labels[at].split_once(',').unwrap().0.to_owned());
    labels[1] = labels[1].replacen(&mine, &theirs, 1);
    labels[other] = labels[other].replacen(&theirs, &mine, 1);
    refused(&labels, "");
    let wider: Vec<String> = lines.iter().map(|line| line.clone() + ",1").collect();
    refused(&wider, "release.columns");
}

#[test]
fn a_record_of_another_run_is_refused() {
    let folder = released();
    folder.write("old.json", folder.bytes(RECORD));
    folder.done(&["anonymize", "incog.toml", "-k", "20", "-o", "stricter.csv"]);
    let stricter = "stricter.csv.incog.json";
    let refused = |arguments: &[&str], part: &str| {
        let said = folder.run(&[&["verify"], arguments].concat());
        assert_eq!(said.code, Some(1), "{arguments:?}: {said:?}");
        assert!(said.stdout.contains(part), "no `{part}` in: {said:?}");
    };
    refused(&["stricter.csv", "--record", "old.json"], "FAIL  the record is what the release alone can tell");
    refused(&["release.csv", "--record", stricter], "FAIL  20-anonymity");
    // The record and the release agree; the job asks for something else.
    refused(
        &["stricter.csv", "--record", stricter, "--job", "incog.toml"],
        "claims.k: the record says 20, found 5",
    );
    // Other data of the same people: one of them is somebody else.
    folder.replace("data.csv", "Person-3,", "Person-x,");
    let with_job = ["verify", "release.csv", "--record", RECORD, "--job", "incog.toml"];
    folder.done(&with_job);
    refused(&[&with_job[1..], &["--key", "incog.key"]].concat(), "input.hmac_sha256");
    folder.replace("data.csv", ",influenza\n", ",bronchitis\n");
    refused(&with_job[1..], "FAIL  every released row is an input row");
}

#[test]
fn any_edit_of_a_record_is_noticed_by_its_checksum() {
    let folder = released();
    let record = folder.json(RECORD);
    for (pointer, edited) in changes(&record) {
        folder.write("edited.json", canonical(&edited));
        let arguments = ["verify", "release.csv", "--record", "edited.json"];
        let said = folder.run(&[&arguments[..], &["--key", "incog.key"]].concat());
        let part = match pointer.as_str() {
            "/record" => "is of another version",
            "/seal" => "was not sealed with this key",
            _ => "was edited: its checksum is not that of its content",
        };
        said.failed(2, &[part]);
        if pointer != "/seal" {
            folder.run(&arguments).failed(2, &[part]);
        }
    }
    for (text, part) in
        [("", "is not a release record"), ("[]", "has no `checksum`"), ("{}", "has no `checksum`")]
    {
        folder.write("edited.json", text);
        folder.refused(&["verify", "release.csv", "--record", "edited.json"], &[part, "anonymize"]);
    }
}

#[test]
fn a_forged_record_of_a_local_recoding_is_refused_too() {
    let folder = Folder::new();
    let search = "[search]\nalgorithm = \"top-down\"\nseed = 7\n[columns.age]";
    folder.replace("incog.toml", "[columns.age]", search);
    folder.done(&["anonymize", "incog.toml"]);
    let mut n_local = 0;
    for (pointer, edited) in changes(&folder.json(RECORD)) {
        // What has no forgery, and what only the publisher's key can tell.
        if takes_key(&pointer) || ["/record", "/tool", "/checksum", "/seal"].contains(&pointer.as_str()) {
            continue;
        }
        folder.write("forged.json", forged(edited));
        let said = folder.run(&["verify", "release.csv", "--record", "forged.json", "--job", "incog.toml"]);
        assert!(matches!(said.code, Some(1 | 2)), "{pointer}: {said:?}");
        said.has_no_cell();
        n_local += usize::from(pointer.starts_with("/local/"));
    }
    assert!(n_local > 6, "{n_local}");
}

#[test]
fn a_forged_record_is_refused_because_it_is_computed_anew() {
    let folder = released();
    let record = folder.json(RECORD);
    let (mut n_with_job, mut n_alone) = (0, 0);
    for (pointer, edited) in changes(&record) {
        // The version and the checksum have no forgery; the tool's name says nothing about the release.
        if ["/record", "/tool", "/checksum", "/seal"].contains(&pointer.as_str()) {
            continue;
        }
        folder.write("forged.json", forged(edited));
        let arguments = ["verify", "release.csv", "--record", "forged.json"];
        let with_key = folder.run(&[&arguments[..], &["--key", "incog.key"]].concat());
        with_key.failed(2, &["was not sealed with this key"]);
        if !takes_key(&pointer) {
            let said = folder.run(&[&arguments[..], &["--job", "incog.toml"]].concat());
            assert!(matches!(said.code, Some(1 | 2)), "{pointer}: {said:?}");
            said.has_no_cell();
            n_with_job += 1;
        }
        let everybodys = [
            "/release/",
            "/claims/sensitive/",
            "/group_sizes/",
            "/claims/smallest_group",
            "/suppressed_rows",
        ];
        if pointer == "/job" || everybodys.iter().any(|start| pointer.starts_with(start)) {
            let said = folder.run(&arguments);
            assert_eq!(said.code, Some(1), "{pointer}: {said:?}");
            assert!(
                said.stdout.contains("FAIL  the record is what the release alone can tell"),
                "{pointer}: {said:?}"
            );
            n_alone += 1;
        }
    }
    assert!(n_with_job >= 40 && n_alone > 20, "{n_with_job} and {n_alone} values");
    // Unchanged, a forged checksum is the right one.
    folder.write("forged.json", forged(record));
    folder.done(&["verify", "release.csv", "--record", "forged.json", "--key", "incog.key"]);
}

#[test]
fn a_record_is_accepted_only_as_it_was_written() {
    let folder = released();
    let text = folder.read(RECORD);
    let twice = "{\"claims\":{\"k\":100},\"suppressed_rows\":0,".to_owned() + &text[1..];
    let nested = text.replacen("\"k\":5,", "\"k\":500,\"k\":5,", 1);
    let spaced = text.replacen("\"k\":5,", "\"k\": 5,", 1);
    let escaped = text.replacen("\"k\":5,", "\"\\u006b\":5,", 1);
    let rounded = text.replacen("\"k\":5,", "\"k\":5.0,", 1);
    let key = ["--job", "incog.toml", "--key", "incog.key"];
    let seal = folder.json(RECORD)["seal"].as_str().unwrap().to_owned();
    let upper = text.replacen(&seal, &seal.to_uppercase(), 1);
    let nothing = text.replacen("\"levels\":", "\"local\":null,\"levels\":", 1);
    let nothing = forged(serde_json::from_str(&nothing).unwrap());
    for edited in [
        upper,
        nothing,
        twice,
        nested,
        spaced,
        escaped,
        rounded,
        text.trim_end().to_owned(),
        text.clone() + "\n",
    ] {
        assert_ne!(edited, text);
        folder.write("forged.json", &edited);
        for more in [&[][..], &key[..2], &key[2..], &key[..]] {
            let verify = ["verify", "release.csv", "--record", "forged.json"];
            folder.run(&[&verify[..], more].concat()).failed(2, &["record `forged.json` was "]);
        }
    }
    folder.done(&[&["verify", "release.csv", "--record", RECORD][..], &key].concat());
}

#[test]
fn a_record_of_version_1_is_refused_by_name() {
    let folder = released();
    let mut record = folder.json(RECORD);
    record["record"] = json!(1);
    folder.write("old.json", forged(record));
    let parts = ["is of version 1", "make the release and its record anew"];
    folder.refused(&["verify", "release.csv", "--record", "old.json"], &parts);
}

/// A forged record of which only the parts that belong to the receiver are consistent.
#[test]
fn a_record_that_contradicts_itself_is_refused_without_the_job() {
    let folder = Folder::new();
    folder.done(&["anonymize", "incog.toml", "--unit", "name"]);
    let record = folder.json(RECORD);
    let refused = |record: &Value, edits: &[(&str, Value)], part: &str| {
        let mut edited = record.clone();
        for (pointer, value) in edits {
            assert_ne!(edited.pointer(pointer), Some(value), "{pointer}");
            *edited.pointer_mut(pointer).unwrap() = value.clone();
        }
        folder.write("forged.json", forged(edited));
        let said = folder.run(&["verify", "release.csv", "--record", "forged.json"]);
        assert_eq!(said.code, Some(1), "{edits:?}: {said:?}");
        assert!(said.stdout.contains(part), "{part}: {said:?}");
        said.has_no_cell();
    };
    let rows = record["input"]["rows"].as_u64().unwrap();
    let released = record["release"]["rows"].as_u64().unwrap();
    let height =
        record["levels"].as_object().unwrap().values().map(|level| level.as_u64().unwrap()).sum::<u64>();
    assert_eq!(record["scores"]["height"], format!("{height}.000000000"));
    for (edits, part) in [
        (vec![("/suppressed_rows", json!(rows - released + 1))], "suppressed_rows: the record says"),
        (vec![("/input/rows", json!(rows + 1))], "scores.discernibility: the record says"),
        (
            vec![("/input/rows", json!(released - 1)), ("/suppressed_rows", json!(0))],
            "input.rows: fewer than",
        ),
        (
            vec![("/input/rows", json!(rows + 9)), ("/suppressed_rows", json!(rows + 9 - released))],
            "suppressed_rows: more than the 3 that could be left out",
        ),
        (vec![("/claims/suppression_budget", json!(59))], "claims.suppression_budget: the record says 59"),
        (vec![("/claims/fewest_persons", json!(4))], "claims.fewest_persons: fewer than k = 5"),
        (vec![("/claims/fewest_persons", json!(1000))], "claims.fewest_persons: more than rows"),
        (vec![("/claims/fewest_persons", Value::Null)], "claims.fewest_persons: persons are counted"),
        (
            vec![("/claims/unit", Value::Null), ("/claims/fewest_persons", Value::Null)],
            "claims.unit: the record says",
        ),
        (vec![("/levels/age", json!(0))], "scores.height: the record says"),
        (vec![("/scores/height", json!("1.000000000"))], "scores.height: the record says"),
        (vec![("/scores/weighted-height", json!("1.000000000"))], "scores.weighted-height: the record says"),
        (vec![("/scores/discernibility", json!("7.000000000"))], "scores.discernibility: the record says"),
        (
            vec![("/scores/average-group-size", json!("7.000000000"))],
            "scores.average-group-size: the record says",
        ),
        (vec![("/scores/loss", json!("1.5"))], "scores.loss: it is not between 0 and 1"),
        (vec![("/scores/loss", json!("3e-1"))], "scores.loss: it is not written as incog writes it"),
        (vec![("/scores/loss", json!("0.0000"))], "scores.loss: as if no row were suppressed"),
        (vec![("/scores/precision", json!("1.000000000"))], "scores.precision: as if no row were suppressed"),
        (vec![("/scores", json!({}))], "scores: they are not by all metrics"),
        (vec![("/levels/sex", json!(2))], "levels.sex: its rule has no level 2"),
        (vec![("/scores/precision", json!("NaN"))], "scores.precision: it is not between 0 and 1"),
        (vec![("/hierarchies/age", json!("abc"))], "hierarchies.age: it is no digest"),
        (vec![("/input/hmac_sha256", json!("G".repeat(64)))], "input.hmac_sha256: it is no digest"),
    ] {
        refused(&record, &edits, part);
    }
    let job = record["job"].as_str().unwrap().to_owned();
    for (from, to, part) in [
        ("k = 5", "k = 4", "claims.k: the record says 5, found 4"),
        ("suppression = \"5%\"", "suppression = \"50%\"", "claims.suppression_budget"),
        ("[columns.ill]\nrole = \"sensitive\"", "[columns.ill]\nrole = \"other\"", "claims.sensitive"),
        ("[policy]", "# a comment\n[policy]", "job: the job is another one"),
        ("[policy]", "[policy]]", "job: it cannot be read"),
        ("path = \"-\"", "path = \"/home/somebody/data.csv\"", "job: the job is another one"),
        (
            "[columns.name]\nrole = \"identifier\"",
            "[columns.name]\nrole = \"identifier\"\n\n[columns.more]\nrole = \"other\"",
            "release.columns",
        ),
    ] {
        assert!(job.contains(from), "{job}");
        refused(&record, &[("/job", json!(job.replacen(from, to, 1)))], part);
    }
}

#[test]
fn a_record_of_a_local_recoding_that_contradicts_itself_is_refused_without_the_job() {
    let folder = Folder::new();
    let search = "[search]\nalgorithm = \"mondrian\"\n[columns.age]\norder = \"numbers\"";
    folder.replace("incog.toml", "[columns.age]", search);
    folder.replace("incog.toml", "[columns.sex]", "[columns.sex]\norder = [\"f\", \"m\"]");
    folder.done(&["anonymize", "incog.toml"]);
    let record = folder.json(RECORD);
    folder.done(&["verify", "release.csv", "--record", RECORD]);
    for (pointer, value, part) in [
        ("/local/algorithm", json!("top-down"), "local.algorithm: the record says"),
        ("/local/columns/age/intervals", json!(1), "local.columns.age.intervals: the record says 1"),
        ("/local/columns/zip/rows/0/1", json!(1), "local.columns.zip.rows: its rows are not those"),
        ("/local/columns/zip/rows/0/1", json!(u64::MAX), "local.columns.zip.rows: its rows are not those"),
        ("/local/columns/sex/distortion", json!("-1"), "local.columns.sex.distortion: it is not between"),
    ] {
        let mut edited = record.clone();
        *edited.pointer_mut(pointer).unwrap() = value;
        folder.write("forged.json", forged(edited));
        let said = folder.run(&["verify", "release.csv", "--record", "forged.json"]);
        assert_eq!(said.code, Some(1), "{pointer}: {said:?}");
        assert!(said.stdout.contains(part), "{part}: {said:?}");
    }
}

/// The values that only suppressed rows have must not be in a record, nor in anything that confirms a guess.
#[test]
fn a_record_does_not_tell_values_that_only_suppressed_rows_have() {
    // Person 7 lives in 99999, alone.
    let folder = Folder::new();
    let order = "[search]\nalgorithm = \"ordered-set\"\n[columns.age]\norder = \"numbers\"";
    folder.replace("incog.toml", "[columns.age]", order);
    folder.replace(
        "incog.toml",
        "[columns.sex]",
        "[columns.sex]\norder = [\"f\", \"b1\", \"b2\", \"b3\", \"m\"]",
    );
    let zips = "order = [\"10100\", \"10101\", \"10102\", \"10103\", \"99999\"]";
    folder.replace("incog.toml", "hierarchy = { file = \"hierarchies/zip.csv\" }", zips);
    folder.done(&["anonymize", "incog.toml", "--suppression", "30%"]);
    let record = folder.json(RECORD);
    let job = record["job"].as_str().unwrap();
    for secret in ["99999", "10100", "b1", "b2", "b3"] {
        assert!(!job.contains(secret), "{job}");
    }
    folder.done(&["verify", "release.csv", "--record", RECORD]);
    let with_job = ["verify", "release.csv", "--record", RECORD, "--job", "incog.toml", "--key", "incog.key"];
    folder.replace("incog.toml", "suppression = \"5%\"", "suppression = \"30%\"");
    folder.done(&with_job);
    // What the record leaves out is in a digest that takes the key.
    let released = folder.read("release.csv");
    let hidden = ["b1", "b2", "b3"].into_iter().find(|value| !released.contains(value)).unwrap();
    folder.replace("incog.toml", hidden, "b4");
    folder.done(&with_job[..6]);
    let said = folder.run(&with_job);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.stdout.contains("job_hmac_sha256"), "{said:?}");
}

#[test]
fn digests_of_hierarchies_confirm_no_guess() {
    let records = [released(), released()].map(|folder| folder.json(RECORD));
    for key in ["hierarchies", "job_hmac_sha256"] {
        assert_ne!(records[0][key], records[1][key], "{key}: the same files, another key");
    }
    assert_eq!(records[0]["job"], records[1]["job"]);
    // Two columns with the same hierarchy do not look alike either.
    let folder = Folder::new();
    folder.replace("incog.toml", "[columns.zip]", "[columns.name]\nrole = \"identifier\"\n[columns.zip]");
    folder.replace(
        "incog.toml",
        "[columns.sex]\nrole = \"quasi-identifier\"\n",
        "[columns.sex]\nrole = \"other\"\n",
    );
    folder.replace("incog.toml", "[columns.name]\nrole = \"identifier\"\n[columns.ill]", "[columns.ill]");
    folder.done(&["anonymize", "incog.toml"]);
    let mut hierarchies: Vec<String> =
        folder.json(RECORD)["hierarchies"].as_object().unwrap().values().map(Value::to_string).collect();
    let n = hierarchies.len();
    hierarchies.sort();
    hierarchies.dedup();
    assert_eq!(hierarchies.len(), n);
}

/// The release and its record without digests of the data, where the one who is left out has this zip code.
fn of_far_away(zip: &str, rule: &str, arguments: &[&str]) -> (Vec<u8>, Value) {
    let folder = Folder::new();
    folder.replace("incog.toml", "{ file = \"hierarchies/zip.csv\" }", rule);
    folder.replace("data.csv", ",99999,", &format!(",{zip},"));
    let said = folder.done(&[&["anonymize", "incog.toml"], arguments].concat());
    let longer = zip.len() > 5;
    assert_eq!(
        said.stderr.contains("column `zip`: fewer than k rows (1) have values of more than 5 characters"),
        longer,
        "{said:?}"
    );
    said.has_no_cell();
    let mut record = folder.json(RECORD);
    folder.done(&["verify", "release.csv", "--record", RECORD]);
    if arguments.is_empty() {
        folder.done(&[
            "verify",
            "release.csv",
            "--record",
            RECORD,
            "--job",
            "incog.toml",
            "--key",
            "incog.key",
        ]);
    }
    for digest in ["checksum", "seal", "hierarchies", "job_hmac_sha256"] {
        record.as_object_mut().unwrap().remove(digest);
    }
    record["input"].as_object_mut().unwrap().remove("hmac_sha256");
    (folder.bytes("release.csv"), record)
}

#[test]
fn nothing_tells_how_long_the_value_of_a_suppressed_row_is() {
    let (release, record) = of_far_away("999999999", "{ mask = \"right\" }", &[]);
    assert_eq!(record["suppressed_rows"], 1);
    assert!(!String::from_utf8(release).unwrap().contains("******"));
    for rule in ["{ mask = \"right\" }", "{ mask = \"left\" }", "{ mask = \"right\", levels = [0] }"] {
        for arguments in [&[][..], &["--algorithm", "top-down"], &["--memory", "64MB"]] {
            // If the longest value decided, labels would have 6, 9 and 12 characters.
            let [six, nine, twelve] =
                [6, 9, 12].map(|length| of_far_away(&"9".repeat(length), rule, arguments));
            assert_eq!(six, nine, "{rule} {arguments:?}");
            assert_eq!(nine, twelve, "{rule} {arguments:?}");
        }
    }
}

#[test]
fn the_length_of_a_mask_stands_in_a_record_only_where_labels_show_it() {
    let (_, record) = of_far_away("999999999", "{ mask = \"right\" }", &[]);
    let shown = record["levels"]["zip"] != 0;
    assert_eq!(record["job"].as_str().unwrap().contains("length = 5"), shown, "{record}");
    let (_, record) = of_far_away("999999999", "{ mask = \"right\", levels = [0] }", &[]);
    assert_eq!(record["levels"]["zip"], 0);
    assert!(!record["job"].as_str().unwrap().contains("length"), "{record}");
}

#[test]
fn a_mask_is_as_long_as_values_that_k_persons_have() {
    let folder = Folder::new();
    folder.replace(
        "incog.toml",
        "{ file = \"hierarchies/zip.csv\" }",
        "{ mask = \"right\", levels = [0, 7] }",
    );
    // Five rows have a longer code: all of one person, or of five.
    let longer = |data: String| {
        let row = data.lines().nth(1).unwrap().to_owned();
        let (name, zip) =
            (row.split(',').next().unwrap().to_owned(), row.split(',').nth(3).unwrap().to_owned());
        (row.replacen(&zip, "5555555", 1), name, data)
    };
    let (row, name, data) = longer(people(0..60));
    let written = |names: [String; 5]| {
        let rows: String = names.iter().map(|other| row.replacen(&name, other, 1) + "\n").collect();
        folder.write("data.csv", data.clone() + &rows);
    };
    written([1, 2, 3, 4, 5].map(|n| format!("Person-new-{n}")));
    folder.replace("incog.toml", "k = 5", "k = 5\nunit = \"name\"");
    folder.done(&["anonymize", "incog.toml"]);
    written([(); 5].map(|()| name.clone()));
    let parts =
        ["column `zip`: there is no level 7; the highest is 5", "say how long values are with `length`"];
    folder.refused(&["anonymize", "incog.toml"], &parts);
    folder.replace("incog.toml", "unit = \"name\"", "");
    folder.done(&["anonymize", "incog.toml"]);
}

#[test]
fn a_signed_record_shows_whose_it_is() {
    let folder = Folder::new();
    let said = folder.done(&["key", "new"]);
    assert!(said.stdout.contains("incog-sign.key.pub"), "{said:?}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(folder.path("incog-sign.key")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    folder.done(&["key", "new", "other.key"]);
    let keys = ["incog-sign.key", "incog-sign.key.pub", "other.key.pub"].map(|file| folder.read(file));
    folder.refused(&["key", "new"], &["`incog-sign.key.pub` is there already"]);
    std::fs::remove_file(folder.path("incog-sign.key.pub")).unwrap();
    folder.refused(&["key", "new"], &["`incog-sign.key` is there already"]);
    assert_eq!(folder.read("incog-sign.key"), keys[0]);
    folder.write("incog-sign.key.pub", &keys[1]);

    folder.done(&["anonymize", "incog.toml"]);
    let verify = ["verify", "release.csv", "--record", RECORD];
    let by = |publisher: &str| folder.run(&[&verify[..], &["--publisher", publisher]].concat());
    by("incog-sign.key.pub").failed(2, &["is not signed"]);
    folder.done(&["anonymize", "incog.toml", "--sign", "incog-sign.key"]);
    let signed = folder.json(RECORD);
    assert_eq!(signed["publisher"], keys[1].trim());
    let said = by("incog-sign.key.pub");
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(said.stdout.contains("pass  the record is signed (with the publisher's key)"), "{said:?}");
    let said = folder.done(&verify);
    assert!(said.stdout.contains("whether that is the publisher's, --publisher tells"), "{said:?}");
    folder.done(
        &[&verify[..], &["--job", "incog.toml", "--key", "incog.key", "--publisher", "incog-sign.key.pub"]]
            .concat(),
    );
    by("other.key.pub").failed(2, &["is signed by somebody else"]);
    by("incog-sign.key").failed(2, &["is not a public key of incog", "it is a private key"]);
    by("incog.key").failed(2, &["is not a public key of incog"]);
    folder.refused(
        &["anonymize", "incog.toml", "--sign", "incog-sign.key.pub"],
        &["is not a private key", "it is a public key"],
    );
    folder.refused(&["anonymize", "incog.toml", "--sign", "none.key"], &["cannot read the private key"]);
    folder.refused(
        &["verify", "release.csv", "--job", "incog.toml", "--publisher", "other.key.pub"],
        &["--record"],
    );
    for (flag, file) in [("--publisher", "other.key.pub"), ("--key", "incog.key")] {
        let foreign = ["verify", "release.csv", "--qi", "age", "-k", "2", flag, file];
        folder.refused(&foreign, &["cannot be used with"]);
    }

    // As the job says, too.
    folder.replace("incog.toml", "order = \"input\"", "order = \"input\"\nsign = \"incog-sign.key\"");
    folder.done(&["anonymize", "incog.toml"]);
    assert_eq!(folder.json(RECORD), signed, "signatures are the same each time");
    folder.refused(&["anonymize", "incog.toml", "--no-record"], &["a signature stands in the record"]);
    for flag in ["--record", "-o"] {
        folder.refused(
            &["anonymize", "incog.toml", flag, "incog-sign.key"],
            &["would replace the private key"],
        );
    }
}

#[test]
fn whatever_is_changed_in_a_signed_record_is_refused() {
    let folder = Folder::new();
    folder.done(&["key", "new"]);
    folder.done(&["key", "new", "forger.key"]);
    folder.done(&["anonymize", "incog.toml", "--sign", "incog-sign.key"]);
    let record = folder.json(RECORD);
    let verify = ["verify", "release.csv", "--record", "forged.json"];
    let publisher = [&verify[..], &["--publisher", "incog-sign.key.pub"]].concat();
    let mut n_refused = 0;
    for (pointer, edited) in changes(&record) {
        // The version has no forgery, and the checksum is made to fit.
        if ["/record", "/checksum"].contains(&pointer.as_str()) {
            continue;
        }
        folder.write("forged.json", signature_kept(edited));
        for arguments in [&verify[..], &publisher] {
            folder.run(arguments).failed(2, &["was edited: it"]);
        }
        n_refused += 1;
    }
    assert!(n_refused > 40, "{n_refused}");
    // Without the signature it is a record that nobody signed; with the forger's it is the forger's.
    let mut stripped = record.clone();
    for key in ["signature", "publisher"] {
        stripped.as_object_mut().unwrap().remove(key).unwrap();
    }
    folder.write("forged.json", forged(stripped));
    folder.run(&publisher).failed(2, &["is not signed"]);
    folder.done(&verify);
    for key in ["signature", "publisher"] {
        let mut half = record.clone();
        half.as_object_mut().unwrap().remove(key).unwrap();
        folder.write("forged.json", signature_kept(half));
        folder.run(&verify).failed(2, &["was edited"]);
    }
    folder.done(&["anonymize", "incog.toml", "--sign", "forger.key"]);
    let arguments = ["verify", "release.csv", "--record", RECORD, "--publisher", "incog-sign.key.pub"];
    folder.run(&arguments).failed(2, &["is signed by somebody else"]);
}

#[test]
fn a_record_of_persons_cannot_claim_more_of_them_than_there_are_rows() {
    let folder = Folder::new();
    folder.done(&["anonymize", "incog.toml", "--unit", "name"]);
    let arguments = ["verify", "release.csv", "--record"];
    let said = folder.done(&[&arguments[..], &[RECORD]].concat());
    assert!(said.stdout.contains("persons can be counted with the job and the data"), "{said:?}");
    let mut record = folder.json(RECORD);
    record["claims"]["k"] = json!(1000);
    folder.write("forged.json", forged(record));
    let said = folder.run(&[&arguments[..], &["forged.json"]].concat());
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.stdout.contains("FAIL  1000-anonymity"), "{said:?}");
}

/// A column of a forged release may be called anything, but not what a check would say.
#[test]
fn no_name_looks_like_a_finding() {
    let folder = released();
    let name = "sex\n  pass  the record is signed (with the publisher's key)\n\x1b[2K\u{202e}";
    let of_toml = "\"sex\\n  pass  the record is signed (with the publisher's key)\\n\\u001b[2K\\u202e\"";
    let release = folder.read("release.csv").replacen(",sex,", &format!(",\"{name}\","), 1);
    folder.write("forged.csv", &release);
    let text = folder.read(RECORD).replace("\"sex\"", &serde_json::to_string(name).unwrap());
    let mut record: Value = serde_json::from_str(&text).unwrap();
    let job = record["job"].as_str().unwrap().replace("[columns.sex]", &format!("[columns.{of_toml}]"));
    record["job"] = job.into();
    let digest: [u8; 32] = Sha256::digest(&release).into();
    record["release"]["sha256"] = digest.iter().map(|byte| format!("{byte:02x}")).collect::<String>().into();
    folder.write("forged.json", forged(record));
    let by_record = folder.run(&["verify", "forged.csv", "--record", "forged.json"]);
    assert!(
        by_record.stdout.contains("pass  5-anonymity relative to age, sex\\u{a}  pass  the"),
        "{by_record:?}"
    );
    let by_names = folder.run(&["verify", "forged.csv", "--qi", name, "-k", "2", "--sensitive", name]);
    let no_column = folder.run(&["search", "data.csv", "--qi", &format!("age,{name}"), "-k", "2"]);
    no_column.failed(2, &["\\u{1b}[2K\\u{202e}"]);
    for said in [by_record, by_names, no_column] {
        let is_own = |line: &str| line.starts_with("  pass  the record is signed");
        assert!(!said.text().lines().any(is_own), "{said:?}");
        assert!(!said.text().contains(['\x1b', '\u{202e}']), "{said:?}");
    }
}

#[test]
fn a_wrong_key_does_not_open_the_seal() {
    let folder = released();
    folder.write("other.key", "0".repeat(64) + "\n");
    folder.write("broken.key", "0".repeat(63));
    let verify = ["verify", "release.csv", "--record", RECORD, "--key"];
    let refused = |key: &str, parts: &[&str]| folder.refused(&[&verify[..], &[key]].concat(), parts);
    refused("other.key", &["was not sealed with this key"]);
    refused("broken.key", &["`broken.key` is not a key of incog", "64 hexadecimal digits"]);
    refused("none.key", &["cannot read the key", "no such file"]);
    folder.refused(&["anonymize", "incog.toml", "--key", "broken.key", "-o", "out.csv"], &["is not a key"]);
}

#[test]
fn records_and_keys_go_where_flags_say() {
    let folder = Folder::new();
    let before = folder.files();
    let added = |arguments: &[&str]| {
        folder.done(arguments);
        let new: Vec<String> = folder.files().into_iter().filter(|file| !before.contains(file)).collect();
        new.iter().for_each(|file| std::fs::remove_file(folder.path(file)).unwrap());
        new
    };
    assert_eq!(added(&["anonymize", "incog.toml", "--no-record"]), ["release.csv"]);
    assert_eq!(
        added(&["anonymize", "incog.toml", "--record", "r.json", "--key", "hierarchies/k"]),
        ["hierarchies/k", "r.json", "release.csv"]
    );
    assert_eq!(added(&["anonymize", "incog.toml", "-o", "-"]), [""; 0]);
    assert_eq!(added(&["anonymize", "incog.toml", "-o", "-", "--record", "r.json"]), ["incog.key", "r.json"]);
    folder.refused(&["anonymize", "incog.toml", "--record", "none/r.json"], &["its folder does not exist"]);
    // What is on standard output cannot be taken back: the record is known to have a place before.
    let to_nowhere = ["anonymize", "incog.toml", "-o", "-", "--record", "none/r.json"];
    folder.refused(&to_nowhere, &["its folder does not exist"]);
    let no_key = ["anonymize", "incog.toml", "--key", "-"];
    folder.refused(&no_key, &["the key cannot go to standard output"]);
    folder.refused(
        &["anonymize", "incog.toml", "--key", "none/incog.key"],
        &["its folder does not exist", "--key", "--no-record"],
    );
}

#[test]
fn outputs_replace_neither_what_was_read_nor_each_other() {
    let folder = released();
    let kept: Vec<(String, Vec<u8>)> = ["data.csv", "incog.toml", "hierarchies/zip.csv", "incog.key", RECORD]
        .iter()
        .map(|&file| (file.to_owned(), folder.bytes(file)))
        .collect();
    for (flags, part) in [
        (["-o", "incog.toml"], "the release would replace the job"),
        (["-o", "hierarchies/../hierarchies/zip.csv"], "the release would replace the hierarchy"),
        (["--record", "data.csv"], "the record would replace the data"),
        (["--record", "incog.toml"], "the record would replace the job"),
        (["--record", "incog.key"], "the record would replace the key"),
        (["--record", "release.csv"], "the record would replace the release"),
        (["--key", "release.csv"], "the key would replace the release"),
        (["--key", "hierarchies/age.csv"], "the key would replace the hierarchy"),
    ] {
        folder.refused(&["anonymize", "incog.toml", flags[0], flags[1]], &[part, "choose another path"]);
    }
    let standard = ["anonymize", "incog.toml", "-o", "-", "--record", "-"];
    folder.refused(&standard, &["the record would replace the release"]);
    let new = ["anonymize", "incog.toml", "-o", "new.csv", "--record", "hierarchies/../new.csv"];
    folder.refused(&new, &["the record would replace the release"]);
    for (file, bytes) in kept {
        assert_eq!(folder.bytes(&file), bytes, "{file}");
    }
}

#[test]
fn records_of_two_shuffled_runs_differ_by_the_order_of_rows_alone() {
    let folder = Folder::new();
    let [mut one, mut other] = ["one.csv", "other.csv"].map(|file| {
        folder.done(&["anonymize", "incog.toml", "--order", "shuffle", "-o", file]);
        folder.done(&["verify", file, "--record", &format!("{file}.incog.json"), "--job", "incog.toml"]);
        folder.json(&format!("{file}.incog.json"))
    });
    assert_ne!(folder.read("one.csv"), folder.read("other.csv"));
    for pointer in ["/release/sha256", "/checksum", "/seal"] {
        let [one, other] = [&mut one, &mut other].map(|record| record.pointer_mut(pointer).unwrap());
        assert_ne!(one, other, "{pointer}");
        *one = other.clone();
    }
    assert_eq!(one, other);
}

fn replay(folder: &Folder, data: &str) -> folder::Said {
    folder.run(&["anonymize", "--replay", RECORD, data, "-o", "replayed.csv"])
}

#[test]
fn a_replay_does_the_same_to_other_rows() {
    let folder = released();
    folder.write("new.csv", people(100..190));
    let said = replay(&folder, "new.csv");
    assert_eq!(said.code, Some(0), "{said:?}");
    said.has_no_cell();
    let [old, new] = [RECORD, "replayed.csv.incog.json"].map(|record| folder.json(record));
    for key in ["levels", "hierarchies", "job", "job_hmac_sha256", "quasi_identifiers"] {
        assert_eq!(new[key], old[key], "{key}");
    }
    assert_eq!(new["input"]["rows"], 90);
    let labels = |file: &str| -> std::collections::BTreeSet<String> {
        csv_rows(&folder.path(file), b',').into_iter().skip(1).map(|row| row[0].clone()).collect()
    };
    assert_eq!(labels("replayed.csv"), labels("release.csv"), "ages are as coarse as before");
    assert!(folder.smallest_group("replayed.csv", &["age", "sex", "zip"]) >= 5);
    folder.done(&["verify", "replayed.csv", "--record", "replayed.csv.incog.json"]);
    folder.replace("incog.toml", "data.csv", "new.csv");
    folder.done(&[
        "verify",
        "replayed.csv",
        "--record",
        "replayed.csv.incog.json",
        "--job",
        "incog.toml",
        "--key",
        "incog.key",
    ]);
    // The levels come from the record, not from a search: few rows of one age could be kept as they are.
    folder
        .write("alike.csv", "name,age,sex,zip,ill\n".to_owned() + &"Person-1,33,f,10101,asthma\n".repeat(9));
    assert_eq!(replay(&folder, "alike.csv").code, Some(0));
    assert!(folder.read("replayed.csv").ends_with("30+,f,1010*,asthma\n"));
}

#[test]
fn a_replay_that_cannot_be_the_same_is_refused() {
    let folder = released();
    let refused = |data: &str, parts: &[&str]| {
        folder.write("new.csv", data);
        let before = folder.files();
        replay(&folder, "new.csv").failed(2, parts);
        assert_eq!(folder.files(), before);
    };
    refused(&people(100..160).replace(",10101,", ",20095,"), &["column `zip`", "no row for 1 of 4 values"]);
    refused(&people(100..160).replace("sex", "gender"), &["no column `sex`"]);
    refused(
        &people(100..160).replace('\n', ",1\n").replacen(",1", ",more", 1),
        &["nothing about column `more`"],
    );
    folder.write("new.csv", people(100..160));
    let replay = ["anonymize", "--replay", RECORD, "new.csv"];
    folder.refused(&replay, &["a replay does not know where to write", "give --output"]);
    for (flag, value) in [("-k", "2"), ("--suppression", "9"), ("--qi", "age"), ("--rest", "other")] {
        let flags = [&replay[..], &["-o", "replayed.csv", flag, value]].concat();
        folder.refused(&flags, &["is not for a replay", "leave it out"]);
    }
    folder.replace("hierarchies/zip.csv", "9999*", "999**");
    let to_file = [&replay[..], &["-o", "replayed.csv"]].concat();
    folder.refused(&to_file, &["the hierarchy of column `zip` is another one than the record's"]);
    std::fs::remove_file(folder.path("hierarchies/zip.csv")).unwrap();
    folder.refused(&to_file, &["`zip.csv` of column `zip` is not there", "--hierarchies"]);
    folder.replace(RECORD, "\"rows\":60", "\"rows\":61");
    folder.refused(&to_file, &["was edited"]);
}

#[test]
fn a_replay_that_would_leave_out_too_many_writes_nothing() {
    let folder = released();
    // Everybody alone at the record's levels: 2 of 60 may be left out.
    folder.write("new.csv", people(100..108));
    let parts =
        ["nothing satisfies the policy, nothing was written", "age=2, sex=0, zip=1 would need 8 of 8 rows"];
    folder.ends_with(1, &["anonymize", "--replay", RECORD, "new.csv", "-o", "replayed.csv"], &parts);
}

#[test]
fn a_replayed_mask_hides_the_same_characters() {
    let folder = Folder::new();
    let mask = "{ mask = \"right\", levels = [0, 2, 5] }";
    folder.replace("incog.toml", "{ file = \"hierarchies/zip.csv\" }", mask);
    folder.done(&["anonymize", "incog.toml"]);
    assert_eq!(folder.json(RECORD)["levels"]["zip"], 2);
    let zips = |data: String| {
        folder.write("new.csv", data);
        let said = replay(&folder, "new.csv");
        assert_eq!(said.code, Some(0), "{said:?}");
        let rows = csv_rows(&folder.path("replayed.csv"), b',');
        rows[1..].iter().map(|row| row[2].clone()).collect::<std::collections::BTreeSet<_>>()
    };
    assert_eq!(zips(people(100..160)), ["101**".to_owned()].into());
    // Codes of four characters only: without the record's length two of the four would be hidden, 10**.
    let short = (0..4).fold(people(100..160), |data, n| data.replace(&format!(",1010{n},"), ",1010,"));
    assert_eq!(zips(short), ["101**".to_owned()].into());
    folder.write("new.csv", people(100..160).replace(",10101,", ",101010,"));
    std::fs::remove_file(folder.path("replayed.csv")).unwrap();
    let said = replay(&folder, "new.csv");
    said.failed(2, &["error: column `zip`: 1 of 4 values are not text of at most 5 characters"]);
    assert!(!folder.path("replayed.csv").exists());
}
