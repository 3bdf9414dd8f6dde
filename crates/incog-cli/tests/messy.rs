//! Tables as people have them, from the file to the verified release: `testdata/messy` has the files, the jobs, and what must come of them.
//!
//! A release is compared byte for byte with one that was written without incog; it is verified with and without its record; and it is
//! written in every other format, verified there too, and read in again: what comes out then is the same. What must be refused is refused
//! with exit code 2, says what is wrong, shows no cell and leaves nothing behind.

mod folder;

use std::path::PathBuf;

use folder::{Folder, Said};
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Cases {
    case: Vec<Case>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    file: String,
    job: String,
    /// What the summary must say.
    #[serde(default)]
    says: Vec<String>,
    /// What the refusal must say.
    refused: Option<Vec<String>>,
}

/// What no message may contain: cells of these tables.
const CELLS: [&str; 6] = ["Person-", "Grippe", "Asthma", "digkeit", "53715", "2139"];

fn messy() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testdata/messy")
}

fn cases() -> Vec<Case> {
    let text = std::fs::read_to_string(messy().join("cases.toml")).unwrap();
    toml::from_str::<Cases>(&text).unwrap().case
}

/// A folder with the file and the job of a case.
fn prepared(case: &Case) -> Folder {
    let folder = Folder::empty();
    std::fs::copy(messy().join("files").join(&case.file), folder.path(&case.file)).unwrap();
    std::fs::copy(messy().join("sex.csv"), folder.path("sex.csv")).unwrap();
    folder.write("job.toml", &case.job);
    folder
}

fn shows_no_cell(case: &Case, said: &Said) {
    for cell in CELLS {
        assert!(!said.text().contains(cell), "{}: a cell got out: {said:?}", case.name);
    }
    assert!(!said.text().contains("panicked"), "{}: {said:?}", case.name);
}

/// Releases in the order of the input, and verifies with and without the record.
fn released(case: &Case, folder: &Folder, output: &str) -> Said {
    let said = folder.run(&["anonymize", "job.toml", "--order", "input", "-o", output]);
    assert_eq!(said.code, Some(0), "{}: {output}: {said:?}", case.name);
    let record = format!("{output}.incog.json");
    for arguments in [
        &["verify", output, "--job", "job.toml"][..],
        &["verify", output, "--job", "job.toml", "--record", &record],
        &["verify", output, "--record", &record],
    ] {
        let verified = folder.run(arguments);
        assert_eq!(verified.code, Some(0), "{}: {arguments:?}: {verified:?}", case.name);
        shows_no_cell(case, &verified);
    }
    said
}

#[test]
fn there_are_cases_enough() {
    let n_refused = cases().iter().filter(|case| case.refused.is_some()).count();
    assert!(cases().len() - n_refused >= 60 && n_refused >= 30, "{} {n_refused}", cases().len());
    let mut files = std::fs::read_dir(messy().join("files")).unwrap();
    let is_used = |name: &str| cases().iter().any(|case| case.file == name);
    assert!(files.all(|file| is_used(&file.unwrap().file_name().to_string_lossy())), "a file is in no case");
}

#[test]
fn every_table_is_released_as_if_it_had_been_plain() {
    let mut wrong = Vec::new();
    for case in cases().iter().filter(|case| case.refused.is_none()) {
        let folder = prepared(case);
        let said = released(case, &folder, "release.csv");
        shows_no_cell(case, &said);
        for part in &case.says {
            assert!(said.stderr.contains(part), "{}: no `{part}` in {}", case.name, said.stderr);
        }
        let expected = std::fs::read(messy().join("expected").join(format!("{}.csv", case.name))).unwrap();
        let found = folder.bytes("release.csv");
        if found != expected {
            let first =
                |bytes: &[u8]| String::from_utf8_lossy(bytes).lines().take(8).collect::<Vec<_>>().join("\n");
            wrong.push(format!("{}:\n{}\n-- expected\n{}\n", case.name, first(&found), first(&expected)));
        }
    }
    assert!(wrong.is_empty(), "{} releases differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// A job that releases a table as it is.
fn as_it_is(file: &str) -> String {
    let mut job = format!("[input]\npath = \"{file}\"\n[policy]\nk = 1\n");
    for name in ["birth", "weight", "zip", "sex", "seen", "height", "count", "smoker"] {
        job += &format!("[columns.{name}]\nrole = \"other\"\n");
    }
    job + "[columns.ill]\nrole = \"quasi-identifier\"\nhierarchy = { levels = [0] }\n"
}

#[test]
fn every_format_holds_every_release_and_gives_it_back() {
    for case in cases().iter().filter(|case| case.refused.is_none()) {
        let folder = prepared(case);
        for output in ["release.parquet", "release.arrow", "release.jsonl", "release.xlsx", "release.tsv"] {
            released(case, &folder, output);
            // Out, in, and out again.
            let again = format!("again-{output}");
            folder.write("again.toml", as_it_is(output));
            let said = folder.run(&["anonymize", "again.toml", "--order", "input", "-o", &again]);
            assert_eq!(said.code, Some(0), "{}: {output}: {said:?}", case.name);
            assert_eq!(folder.bytes(&again), folder.bytes(output), "{}: {output}", case.name);
        }
    }
}

#[test]
fn what_cannot_be_read_is_refused_and_nothing_is_left() {
    for case in cases() {
        let Some(parts) = &case.refused else {
            continue;
        };
        let folder = prepared(&case);
        let before = folder.files();
        let said = folder.run(&["anonymize", "job.toml", "-o", "release.csv"]);
        assert_eq!(said.code, Some(2), "{}: {said:?}", case.name);
        assert!(said.stdout.is_empty() && said.stderr.starts_with("error: "), "{}: {said:?}", case.name);
        for part in parts {
            assert!(said.stderr.contains(part), "{}: no `{part}` in {}", case.name, said.stderr);
        }
        shows_no_cell(&case, &said);
        assert_eq!(folder.files(), before, "{}", case.name);
    }
}

#[test]
fn what_cannot_be_written_is_refused_before_anything_is_searched() {
    let case = cases().into_iter().find(|case| case.name == "plain").unwrap();
    let folder = prepared(&case);
    folder.refused(&["anonymize", "job.toml", "-o", "release.doc"], &["cannot write", ".doc", ".parquet"]);
    folder.refused(&["anonymize", "job.toml", "-o", "release.ods"], &["only read", ".xlsx"]);
    folder.refused(&["anonymize", "job.toml", "-o", "release.parquet.gz"], &["not compressed once more"]);
    folder.write("job.toml", case.job.clone() + "[output]\npath = \"release.doc\"\nformat = \"jsonl\"\n");
    folder.done(&["anonymize", "job.toml"]);
    folder.done(&["verify", "release.doc", "--job", "job.toml"]);
    assert!(folder.read("release.doc").starts_with("{\"birth\":\"1"));
    folder.write("job.toml", case.job.clone() + "[output]\ntypes = \"text\"\n");
    folder.done(&["anonymize", "job.toml", "-o", "text.jsonl"]);
    assert!(folder.read("text.jsonl").contains("\"count\":\"9"));
    folder.done(&["verify", "text.jsonl", "--job", "job.toml"]);
}

#[test]
fn standard_input_with_a_rest_is_like_a_file() {
    let case = cases().into_iter().find(|case| case.name == "plain").unwrap();
    let folder = prepared(&case);
    let flags = [
        "--qi",
        "sex",
        "--identifier",
        "id",
        "--rest",
        "other",
        "-k",
        "2",
        "--order",
        "input",
        "--no-record",
    ];
    let run = |data: &str, output: &str| {
        let arguments = [&["anonymize", data], &flags[..], &["-o", output]].concat();
        let said = folder.run_with_input(&arguments, "plain.csv");
        assert_eq!(said.code, Some(0), "{said:?}");
        folder.read(output)
    };
    assert_eq!(run("-", "piped.csv"), run("plain.csv", "read.csv"));
}

#[test]
fn numbers_that_may_have_lost_their_zeros_are_a_warning() {
    let case = cases().into_iter().find(|case| case.name == "lost-zeros").unwrap();
    let folder = prepared(&case);
    folder.write("job.toml", case.job.replace("pad = 5, ", ""));
    let says = "its numbers have different lengths";
    assert!(folder.done(&["anonymize", "job.toml", "-o", "release.csv"]).stderr.contains(says));
    let said = folder.done(&["hierarchy", "check", "job.toml"]);
    assert!(said.text().contains("warn  leading zeros"), "{said:?}");
    folder.write("job.toml", &case.job);
    assert!(!folder.done(&["anonymize", "job.toml", "-o", "release.csv"]).stderr.contains(says));
    assert!(!folder.done(&["hierarchy", "check", "job.toml"]).text().contains("leading zeros"));
}

#[test]
fn whole_floats_may_have_lost_their_zeros_too() {
    let case = cases().into_iter().find(|case| case.name == "zip-codes-as-floats").unwrap();
    let folder = prepared(&case);
    assert!(case.job.contains("length = 5, pad = 5, "));
    folder.write("job.toml", case.job.replace("length = 5, pad = 5, ", ""));
    let said = folder.done(&["anonymize", "job.toml", "-o", "release.csv"]);
    assert!(said.stderr.contains("zip: its numbers have different lengths"), "{said:?}");
}

#[test]
fn what_input_says_can_be_said_by_flags() {
    for (name, keys) in [
        ("windows-1252", &["encoding"][..]),
        ("decimal-comma", &["decimal"]),
        ("missing-as-several", &["missing"]),
        ("dates-words", &["date_format"]),
        ("excel-sheet-and-range", &["sheet", "range"]),
        ("no-header", &["header", "names"]),
    ] {
        let case = cases().into_iter().find(|case| case.name == name).unwrap();
        let folder = prepared(&case);
        let mut job: toml::Table = toml::from_str(&case.job).unwrap();
        let input = job["input"].as_table_mut().unwrap();
        let given: Vec<String> = keys
            .iter()
            .map(|key| format!("{key}={}", input.remove(*key).expect("the case has the key")))
            .collect();
        folder.write("job.toml", toml::to_string(&job).unwrap());
        let flags: Vec<&str> = given.iter().flat_map(|given| ["--read", given]).collect();
        let arguments = ["anonymize", "job.toml", "--order", "input", "--no-record", "-o", "release.csv"];
        folder.done(&[&arguments[..], &flags].concat());
        let expected = std::fs::read(messy().join("expected").join(format!("{name}.csv"))).unwrap();
        assert_eq!(folder.bytes("release.csv"), expected, "{name}");
    }
    let case = cases().into_iter().find(|case| case.name == "plain").unwrap();
    let folder = prepared(&case);
    folder.refused(
        &["anonymize", "job.toml", "-o", "x.csv", "--read", "encodng=latin1"],
        &["encodng", "KEY=VALUE"],
    );
    folder.refused(&["anonymize", "job.toml", "-o", "x.csv", "--read", "skip_rows=two"], &["skip_rows"]);
}

#[test]
fn a_file_named_like_a_workbook_is_called_what_it_is() {
    let case = cases().into_iter().find(|case| case.name == "plain").unwrap();
    let folder = prepared(&case);
    for (name, from, parts) in [
        ("page.xls", "page.csv", &["it is an HTML page, not what its name says"][..]),
        ("text.xlsx", "plain.csv", &["it is text, not what its name says", "name it .csv"]),
        ("old.xlsx", "old.xls", &["it is an older Excel workbook", "name it .xls"]),
        ("new.xls", "book.xlsx", &["it is a newer Excel workbook", "name it .xlsx"]),
        ("page.ods", "page.csv", &["it is an HTML page, not what its name says"]),
        ("sealed.xlsx", "sealed.xlsx", &["protected by a password"]),
    ] {
        std::fs::copy(messy().join("files").join(from), folder.path(name)).unwrap();
        folder.refused(&["anonymize", "job.toml", "--input", name, "-o", "release.csv"], parts);
    }
}

#[test]
fn a_missing_value_among_ordered_ones_is_told_from_a_word() {
    let folder = Folder::empty();
    folder.write("data.csv", "age,income\n34,1000.5\n34,NA\n36,1e3\n36,2000\n");
    let flags = ["--qi", "age", "--sensitive", "income", "-k", "2", "-o", "release.csv", "--require"];
    let require = "t-closeness:sensitive=income,t=1,distance=ordered";
    let arguments = [&["anonymize", "data.csv"], &flags[..], &[require]].concat();
    folder.refused(&arguments, &["1 of 4 values are not numbers (first in row 2)", "name what stands for"]);
    let with_marker = [&arguments[..], &["--read", "missing=NA"]].concat();
    folder.refused(&with_marker, &["1 of 4 values are not numbers", "a missing value is no number either"]);
    folder.write("data.csv", "age,income\n34,1000.5\n34,1000\n36,1e3\n36,2000\n");
    folder.done(&arguments);
}

#[test]
fn titles_above_a_header_are_no_question_of_quotes() {
    let folder = Folder::empty();
    folder.write("data.csv", "Survey of 2023\n\nage,zip\n34,53715\n34,53715\n");
    let flags = ["--qi", "age", "--rest", "other", "-k", "2", "--no-record", "-o", "release.csv"];
    folder.refused(&[&["anonymize", "data.csv"], &flags[..]].concat(), &["line 3 has 2 fields", "skip_rows"]);
    folder.done(&[&["anonymize", "data.csv", "--read", "skip_rows=2"], &flags[..]].concat());
    assert_eq!(folder.read("release.csv"), "age,zip\n34,53715\n34,53715\n");
}

#[test]
fn two_spellings_of_one_value_are_two_values() {
    let folder = Folder::empty();
    folder.write("data.csv", "day\n13.01.2003\n13.01.2003\n14.01.2003\n14.01.2003\n");
    folder.write(
        "job.toml",
        "[input]\npath = \"data.csv\"\ndate_format = \"%d.%m.%Y\"\n[policy]\nk = 2\n\
         [columns.day]\nrole = \"quasi-identifier\"\nhierarchy = { dates = [\"year\"] }\n",
    );
    folder.done(&["anonymize", "job.toml", "--order", "input", "-o", "release.jsonl"]);
    folder.done(&["verify", "release.jsonl", "--job", "job.toml"]);
    let honest = folder.read("release.jsonl");
    assert_eq!(honest.matches("\"2003-01-13\"").count(), 2, "{honest}");
    // The first row stands alone now, for whoever looks at the text.
    folder.write("release.jsonl", honest.replacen("2003-01-13", "2003-01-13T00:00:00", 1));
    let said = folder.run(&["verify", "release.jsonl", "--job", "job.toml"]);
    assert_eq!(said.code, Some(1), "{said:?}");
}
