//! A table that does not fit the memory it is given: the same release, or a clear no.

mod folder;

use folder::{Folder, people};

/// More rows than the least limit has room for, with the note that each of them has.
const N_ROWS: usize = 220_000;
const NOTE_LENGTH: usize = 70;
const LITTLE: &str = "64MB";

/// A person with a long text of their own in each row: few rows take much memory, and a test little time.
fn noted(rows: &str, length: usize) -> String {
    let mut lines = rows.lines();
    let mut data = format!("{},note\n", lines.next().unwrap());
    for (line, n) in lines.zip(0..) {
        data += &format!("{line},{n:0length$}\n");
    }
    data
}

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("data.csv", noted(&people(0..N_ROWS), NOTE_LENGTH));
    folder.write("incog.toml", folder.read("incog.toml") + "[columns.note]\nrole = \"other\"\n");
    folder
}

/// Releases the data with and without a limit; returns what was said with it.
fn both(folder: &Folder, arguments: &[&str], ending: &str) -> String {
    let (all, some) = (format!("all.{ending}"), format!("some.{ending}"));
    folder.done(&[&["anonymize", "incog.toml", "-o", &all], arguments].concat());
    let limited = ["anonymize", "incog.toml", "-o", &some, "--memory", LITTLE];
    folder.done(&[&limited, arguments].concat()).stderr
}

/// Nothing but what was asked for is left behind.
fn has_no_temporary_file(folder: &Folder) {
    assert!(folder.files().iter().all(|name| !name.contains(".tmp") && !name.contains(".incog-")));
}

#[test]
fn the_release_and_its_record_are_those_of_enough_memory() {
    let folder = folder();
    let said = both(&folder, &[], "csv");
    assert_eq!(folder.bytes("all.csv"), folder.bytes("some.csv"));
    assert_eq!(
        folder.json("all.csv.incog.json"),
        folder.json("some.csv.incog.json"),
        "the input's digest too"
    );
    assert!(said.contains("pass  every released row is an input row"), "{said}");
    assert!(!said.contains("would take"), "only what the search has looked at is told: {said}");
    folder.done(&["verify", "some.csv", "--record", "some.csv.incog.json", "--job", "incog.toml"]);
    has_no_temporary_file(&folder);
}

/// How long a mask is depends on how many rows have long values, and those are not in memory.
#[test]
fn a_mask_is_as_long_as_with_enough_memory() {
    let folder = folder();
    folder.replace("incog.toml", "{ file = \"hierarchies/zip.csv\" }", "{ mask = \"right\" }");
    folder.replace("data.csv", ",99999,", ",999999999,");
    let said = both(&folder, &[], "csv");
    assert!(
        said.contains("column `zip`: fewer than k rows (1) have values of more than 5 characters"),
        "{said}"
    );
    assert_eq!(folder.bytes("all.csv"), folder.bytes("some.csv"));
    assert_eq!(folder.json("all.csv.incog.json"), folder.json("some.csv.incog.json"));
    folder.done(&["verify", "some.csv", "--record", "some.csv.incog.json", "--job", "incog.toml"]);
}

#[test]
fn models_of_sensitive_columns_are_judged_and_verified() {
    let folder = folder();
    for require in
        ["distinct-l:sensitive=ill,l=3", "t-closeness:sensitive=ill,t=0.3", "alpha-k:sensitive=ill,alpha=0.5"]
    {
        both(&folder, &["--require", require], "csv");
        assert_eq!(folder.bytes("all.csv"), folder.bytes("some.csv"), "{require}");
        assert_eq!(folder.json("all.csv.incog.json"), folder.json("some.csv.incog.json"), "{require}");
    }
}

#[test]
fn parquet_in_and_out_and_files_in_pieces() {
    let folder = folder();
    folder.done(&[
        "anonymize",
        "data.csv",
        "--rest",
        "other",
        "--qi",
        "age",
        "-k",
        "1",
        "--order",
        "input",
        "-o",
        "data.parquet",
    ]);
    folder.replace("incog.toml", "data.csv", "data.parquet");
    both(&folder, &[], "parquet");
    assert_eq!(folder.bytes("all.parquet"), folder.bytes("some.parquet"));
    both(&folder, &[], "csv");
    assert_eq!(folder.bytes("all.csv"), folder.bytes("some.csv"));

    let rows = noted(&people(0..N_ROWS), NOTE_LENGTH);
    let (first, second) = rows.split_at(rows[..rows.len() / 3].rfind('\n').unwrap() + 1);
    folder.write("first.csv", first);
    folder.write("second.csv", format!("name,age,sex,zip,ill,note\n{second}"));
    folder.replace("incog.toml", "\"data.parquet\"", "[\"first.csv\", \"second.csv\"]");
    both(&folder, &[], "csv.zst");
    assert_eq!(folder.bytes("all.csv.zst"), folder.bytes("some.csv.zst"));
}

#[test]
fn shuffled_rows_are_the_same_rows() {
    let folder = folder();
    both(&folder, &["--order", "shuffle"], "csv");
    assert_ne!(folder.bytes("all.csv"), folder.bytes("some.csv"));
    assert_eq!(folder.counted_rows("all.csv"), folder.counted_rows("some.csv"));
    folder.done(&["verify", "some.csv", "--record", "some.csv.incog.json", "--job", "incog.toml"]);
    both(&folder, &["--order", "shuffle"], "parquet");
    folder.done(&["verify", "some.parquet", "--record", "some.parquet.incog.json", "--job", "incog.toml"]);
    has_no_temporary_file(&folder);
}

#[test]
fn every_generalization_and_every_k_are_found_too() {
    let folder = folder();
    let found = |arguments: &[&str]| {
        let said = folder.done(&[&["search", "incog.toml"], arguments].concat());
        // How long it took is another matter.
        let is_told = |line: &&str| !line.contains(" judged ") && !line.contains(" ms");
        said.stdout.lines().filter(is_told).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(found(&["--all", "--memory", LITTLE]), found(&["--all"]));
    assert_eq!(found(&["-k", "2..20", "--memory", LITTLE]), found(&["-k", "2..20"]));
}

#[test]
fn a_table_that_fits_is_not_spilled() {
    let folder = Folder::new();
    let said = folder.done(&["anonymize", "incog.toml", "--memory", LITTLE, "--algorithm", "top-down"]);
    assert!(said.stderr.contains("rows released"), "{said:?}");
}

/// Its records are merged into cells, of which there are few; each record has a number beside.
#[test]
fn top_down_makes_the_same_of_cells() {
    let folder = folder();
    for more in [
        &["--algorithm", "top-down"][..],
        &["--algorithm", "top-down", "--require", "alpha-k:sensitive=ill,alpha=0.5"],
        &["--algorithm", "top-down", "--suppression", "5%", "-k", "4000"],
    ] {
        let said = both(&folder, more, "csv");
        assert!(said.contains("every released row can be assigned an input row of its own"), "{said}");
        assert_eq!(folder.bytes("all.csv"), folder.bytes("some.csv"), "{more:?}");
        assert_eq!(folder.json("all.csv.incog.json"), folder.json("some.csv.incog.json"), "{more:?}");
    }
    has_no_temporary_file(&folder);
}

/// Every record is a cell of its own.
#[test]
fn top_down_says_what_more_cells_need() {
    let folder = Folder::new();
    // Few values, and each row has others together.
    let rows: String = (0..N_ROWS).map(|n| format!("{},{},{}\n", n % 61, n / 61 % 61, n / 3721)).collect();
    folder.write("data.csv", noted(&format!("a,b,c\n{rows}"), NOTE_LENGTH + 14));
    let quasi = |name: &str| {
        format!("{name} = {{ role = \"quasi-identifier\", hierarchy = {{ intervals = [5, 20] }} }}\n")
    };
    let columns = ["a", "b", "c"].map(quasi).concat() + "note = { role = \"other\" }\n";
    let job = "[input]\npath = \"data.csv\"\n[output]\npath = \"release.csv\"\n[policy]\nk = 5\n[columns]\n";
    folder.write("incog.toml", job.to_owned() + &columns);
    folder.refused(
        &["anonymize", "incog.toml", "--memory", LITTLE, "--algorithm", "top-down"],
        &[
            "top-down needs",
            "for 220000 records in 220000 cells",
            "there is room for",
            "hint: allow more memory",
        ],
    );
}

/// Labels of quasi-identifiers take memory, too, wherever they are looked up.
#[test]
fn many_values_of_a_quasi_identifier_are_refused_with_what_they_take() {
    let folder = folder();
    folder.replace(
        "incog.toml",
        "[columns.note]\nrole = \"other\"",
        "[columns.note]\nrole = \"quasi-identifier\"",
    );
    let parts = [
        "do not fit 64 MB of memory: they take ",
        "column `note` has most of them",
        "hint: allow more memory",
    ];
    folder.refused(&["anonymize", "incog.toml", "--memory", LITTLE], &parts);
    folder.done(&["anonymize", "incog.toml"]);
}

#[test]
fn what_takes_all_rows_at_once_is_refused() {
    let folder = folder();
    let with = |more: &[&'static str]| [&["anonymize", "incog.toml", "--memory", LITTLE], more].concat();
    folder.refused(
        &with(&["--algorithm", "full-subtree"]),
        &["does not fit 64 MB", "takes all rows at once", "hint: allow more memory"],
    );
    folder.refused(&with(&["--unit", "name"]), &["does not fit 64 MB", "persons"]);
    folder.refused(
        &["compare", "incog.toml", "--memory", LITTLE],
        &["does not fit 64 MB", "compared in memory"],
    );
    folder.done(&["anonymize", "incog.toml"]);
    folder.replace("incog.toml", "path = \"data.csv\"", "path = \"data.csv\"\nmemory = \"64 MB\"");
    folder.refused(
        &["verify", "release.csv", "--job", "incog.toml"],
        &["does not fit 64 MB", "checked against the data"],
    );
}

#[test]
fn sizes_that_are_none_and_folders_that_are_none_are_refused() {
    let folder = folder();
    for (size, part) in [
        ("lots", "is not a size"),
        ("-1", "is not a size"),
        ("1KB", "less than 64 MB"),
        ("0", "less than"),
        ("63MB", "less than 64 MB"),
    ] {
        folder.refused(&["anonymize", "incog.toml", &format!("--memory={size}")], &["`memory`", part]);
    }
    let before = folder.files();
    let mut command = folder.command(&["anonymize", "incog.toml", "--memory", LITTLE]);
    let said = folder::Said::new(&command.env("TMPDIR", folder.path("nowhere")).output().unwrap());
    said.failed(2, &["cannot make a temporary file", "hint: set TMPDIR"]);
    assert_eq!(folder.files(), before);
}

#[test]
fn columns_with_too_many_values_are_named() {
    let folder = folder();
    folder.write("data.csv", noted(&people(0..N_ROWS), 2 * NOTE_LENGTH));
    folder.refused(
        &["anonymize", "incog.toml", "--memory", LITTLE],
        &["distinct values", "column `note` has most of them", "hint: allow more memory"],
    );
}

/// A checker that needs more says so before it takes it; all others find what they find with enough memory.
#[test]
fn every_checker_finds_the_same_within_a_limit_or_says_what_it_needs() {
    let folder = folder();
    let found = |said: &str| {
        let said: serde_json::Value = serde_json::from_str(said).unwrap();
        said["minimal"].clone()
    };
    let expected = found(&folder.done(&["search", "incog.toml", "--format", "json"]).stdout);
    assert!(!expected.as_array().unwrap().is_empty());
    for checker in ["snapshots", "bitmap", "roll-up", "super-roots", "cube", "scan", "sort"] {
        let search =
            ["search", "incog.toml", "--memory", LITTLE, "--checker", checker, "--algorithm", "incognito"];
        let said = folder.run(&[&search[..], &["--format", "json"]].concat());
        if checker == "cube" && said.code == Some(2) {
            said.failed(2, &["a cube needs all groups", "there is room for", "hint: allow more memory"]);
            continue;
        }
        assert_eq!(said.code, Some(0), "{checker}: {said:?}");
        assert_eq!(found(&said.stdout), expected, "{checker}");
    }
    has_no_temporary_file(&folder);
}
