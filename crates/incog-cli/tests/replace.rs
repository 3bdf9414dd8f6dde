//! Identifiers that are replaced by pseudonyms: one to one, linked rows judged together, checked again; patterns and `--check` beside them.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Command, Output};

use tempfile::TempDir;

struct Folder(TempDir);

impl Folder {
    /// Of people with one row each.
    fn new() -> Folder {
        let folder = Folder(tempfile::tempdir().unwrap());
        let rows: String =
            (0..40).map(|n| format!("P{n:03},{},{}\n", 20 + n % 4, ["flu", "cold"][n % 2])).collect();
        folder.write("data.csv", &format!("id,age,illness\n{rows}"));
        folder
    }

    fn path(&self, file: &str) -> PathBuf {
        self.0.path().join(file)
    }

    fn write(&self, file: &str, text: &str) {
        std::fs::write(self.path(file), text).unwrap();
    }

    fn rows(&self, file: &str) -> Vec<Vec<String>> {
        let text = std::fs::read_to_string(self.path(file)).unwrap();
        text.lines().skip(1).map(|line| line.split(',').map(str::to_owned).collect()).collect()
    }

    fn run(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_incog")).args(arguments).current_dir(&self.0).output().unwrap()
    }

    fn done(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", stderr(&output));
        stderr(&output)
    }

    fn refused(&self, arguments: &[&str], code: i32, parts: &[&str]) {
        let output = self.run(arguments);
        assert_eq!(output.status.code(), Some(code), "{}", stderr(&output));
        for part in parts {
            assert!(stderr(&output).contains(part), "no `{part}` in: {}", stderr(&output));
        }
    }
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn job(policy: &str, columns: &str) -> String {
    format!(
        "[input]\npath = \"data.csv\"\n[output]\npath = \"out.csv\"\norder = \"input\"\n[policy]\n{policy}\n[columns]\n{columns}\n"
    )
}

const COLUMNS: &str = "id = { role = \"identifier\", replace = \"number\" }\nage = { role = \"quasi-identifier\" }\n\
                       illness = { role = \"sensitive\" }";

#[test]
fn numbers_are_new_one_to_one_and_the_release_is_checked_again() {
    let folder = Folder::new();
    folder.write("job.toml", &job("k = 5", COLUMNS));
    let said = folder.done(&["anonymize", "job.toml"]);
    assert!(said.contains("pseudonyms are not anonymity"), "{said}");
    let rows = folder.rows("out.csv");
    let mut numbers: Vec<u64> = rows.iter().map(|row| row[0].parse().unwrap()).collect();
    assert_ne!(numbers, (1..=40).collect::<Vec<_>>(), "in a drawn order");
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=40).collect::<Vec<_>>());
    folder.done(&["verify", "out.csv", "--job", "job.toml"]);
    folder.done(&["verify", "out.csv", "--job", "job.toml", "--record", "out.csv.incog.json"]);
    // A value of the data in its place is noticed.
    let text = std::fs::read_to_string(folder.path("out.csv")).unwrap();
    let first = text.lines().nth(1).unwrap();
    let forged = first.replacen(first.split(',').next().unwrap(), "P001", 1);
    folder.write("forged.csv", &text.replacen(first, &forged, 1));
    let output = folder.run(&["verify", "forged.csv", "--job", "job.toml"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
}

#[test]
fn keyed_hashes_are_the_same_in_every_release_under_one_key() {
    let folder = Folder::new();
    folder.write("job.toml", &job("k = 5", &COLUMNS.replace("number", "keyed-hash")));
    folder.done(&["anonymize", "job.toml"]);
    let first = folder.rows("out.csv");
    assert!(
        first.iter().all(|row| row[0].len() == 32 && row[0].bytes().all(|byte| byte.is_ascii_hexdigit()))
    );
    folder.done(&["verify", "out.csv", "--job", "job.toml", "--record", "out.csv.incog.json"]);
    std::fs::remove_file(folder.path("out.csv")).unwrap();
    folder.done(&["anonymize", "job.toml"]);
    assert_eq!(folder.rows("out.csv"), first);
    std::fs::remove_file(folder.path("incog.key")).unwrap();
    folder.done(&["anonymize", "job.toml"]);
    assert_ne!(folder.rows("out.csv"), first, "another key, other pseudonyms");
}

#[test]
fn what_repeats_needs_a_unit_and_all_rows_of_a_person_are_judged_together() {
    let folder = Folder::new();
    let visits = |age: &dyn Fn(usize, usize) -> usize| {
        let row = |person: usize, visit: usize| format!("P{person:03},{},flu\n", age(person, visit));
        let rows: String = (0..20).flat_map(|person| [row(person, 0), row(person, 1)]).collect();
        folder.write("data.csv", &format!("id,age,illness\n{rows}"));
    };
    visits(&|person, _| 20 + person % 2);
    folder.write("job.toml", &job("k = 5", COLUMNS));
    folder.refused(
        &["anonymize", "job.toml"],
        2,
        &["line 9 of `job.toml`: the values of column `id` repeat", "unit = \"...\" in [policy]"],
    );
    folder.write("job.toml", &job("k = 5\nunit = \"id\"", COLUMNS));
    folder.done(&["anonymize", "job.toml"]);
    let mut rows_of: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for row in folder.rows("out.csv") {
        rows_of.entry(row[0].clone()).or_default().push(row[1].clone());
    }
    let mut alike: BTreeMap<Vec<String>, usize> = BTreeMap::new();
    rows_of.into_values().for_each(|mut ages| {
        ages.sort();
        *alike.entry(ages).or_default() += 1;
    });
    assert!(alike.values().all(|&n| n >= 5), "{alike:?}");
    folder.done(&["verify", "out.csv", "--job", "job.toml"]);
    std::fs::remove_file(folder.path("out.csv")).unwrap();

    // Each age has enough persons, but four persons alone have both: their rows together are like nobody else's.
    visits(&|person, visit| if person < 4 { 20 + visit } else { 20 + person % 2 });
    folder.refused(
        &["anonymize", "job.toml"],
        1,
        &["all rows of a pseudonym of `id` together look like those of at least 5 pseudonyms (the fewest alike are 4"],
    );
    assert!(!folder.path("out.csv").exists());
}

#[test]
fn what_makes_no_sense_is_refused_with_lines() {
    let folder = Folder::new();
    let refused = |columns: &str, parts: &[&str]| {
        folder.write("job.toml", &job("k = 5", columns));
        folder.refused(&["anonymize", "job.toml"], 2, parts);
    };
    refused(
        &COLUMNS.replace("role = \"identifier\", replace", "role = \"other\", replace"),
        &["line 9", "`replace` and is no identifier"],
    );
    refused(&COLUMNS.replace("number", "numbers"), &["line 9", "did you mean `number`?"]);
    refused(
        "\"i*\" = { role = \"other\" }\nage = { role = \"quasi-identifier\" }\n\"*s\" = { role = \"sensitive\" }",
        &["line 11 of `job.toml`: the patterns `i*` of line 9 and `*s` are equally long and fit the same"],
    );
    refused(
        "age = { role = \"quasi-identifier\" }\n\"*\" = { role = \"other\" }\n\"x*\" = { role = \"other\" }",
        &["line 11 of `job.toml`: the pattern `x*` fits no column"],
    );
    refused(
        "age = { role = \"quasi-identifier\", hierarchy = { builtin = \"ages\" } }\n\"*\" = { role = \"identifier\" }",
        &["line 9", "none of age, date-of-birth", "did you mean `age`?"],
    );
}

#[test]
fn a_check_tells_mistakes_and_warnings_and_writes_nothing() {
    let folder = Folder::new();
    let columns = "id = { role = \"identifier\" }\nage = { role = \"quasi-identifier\", hierarchy = { frequent = 2 } }\n\"ill*\" = { role = \"sensitive\" }";
    folder.write("job.toml", &job("k = 5", columns));
    let said = folder.done(&["anonymize", "job.toml", "--check"]);
    assert!(
        said.contains("depends on the data")
            && said.contains("1 warning above; nothing was searched or written"),
        "{said}"
    );
    assert!(!folder.path("out.csv").exists() && !folder.path("incog.key").exists());
    let output = folder.run(&["anonymize", "job.toml", "--check", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["warnings"].as_array().unwrap().len(), 1);
    folder.write("job.toml", &job("k = 5", &columns.replace("frequent = 2", "frequent = 0")));
    folder.refused(&["anonymize", "job.toml", "--check"], 2, &["line 10", "`frequent` keeps no value"]);
}

#[test]
fn rare_and_frequent_values_are_pooled_and_verified() {
    let folder = Folder::new();
    let towns: String = (0..60)
        .map(|n| format!("{},x\n", if n < 50 { ["Ulm", "Bonn"][n % 2].into() } else { format!("T{n}") }))
        .collect();
    folder.write("data.csv", &format!("town,note\n{towns}"));
    for rule in ["{ frequent = 2 }", "{ rare = 10 }"] {
        let columns = format!(
            "town = {{ role = \"quasi-identifier\", hierarchy = {rule} }}\nnote = {{ role = \"other\" }}"
        );
        folder.write("job.toml", &job("k = 10", &columns));
        let said = folder.done(&["anonymize", "job.toml"]);
        assert!(said.contains("depends on the data"), "{said}");
        assert_eq!(folder.rows("out.csv").iter().filter(|row| row[0] == "other").count(), 10, "{rule}");
        folder.done(&["verify", "out.csv", "--job", "job.toml"]);
    }
}

const DATABASE: &str = "[database]\nperson = \"people\"\noutput = \"release/\"\norder = \"input\"\n[policy]\nk = 5\n\
    [tables.people]\npath = \"people.csv\"\nkey = \"id\"\ncolumns.id = { role = \"identifier\", replace = \"keyed-hash\" }\n\
    columns.age = { role = \"quasi-identifier\" }\n\
    [tables.visits]\npath = \"visits.csv\"\nkey = \"visit\"\nparent = { table = \"people\", column = \"id\" }\n\
    columns.ward = { role = \"quasi-identifier\" }\ncolumns.code = { role = \"other\" }\n";

#[test]
fn a_person_has_one_pseudonym_in_all_tables_of_a_database_and_in_every_release() {
    let folder = Folder::new();
    let people: String = (0..40).map(|n| format!("{n},{}\n", 20 + n % 4)).collect();
    folder.write("people.csv", &format!("id,age\n{people}"));
    let visits: String = (0..80).map(|n| format!("{n},{},w{},c{}\n", n / 2, n % 2, n / 2 % 3)).collect();
    folder.write("visits.csv", &format!("visit,id,ward,code\n{visits}"));
    folder.write("job.toml", DATABASE);
    let said = folder.done(&["anonymize", "job.toml"]);
    assert!(said.contains("the key `id` has pseudonyms (keyed hashes"), "{said}");
    let [people, visits] = ["people", "visits"].map(|table| folder.rows(&format!("release/{table}.csv")));
    let of_people: BTreeMap<&str, usize> = people.iter().map(|row| (row[0].as_str(), 1)).collect();
    assert_eq!(of_people.len(), people.len());
    let is_hash = |cell: &str| cell.len() == 32 && cell.bytes().all(|byte| byte.is_ascii_hexdigit());
    assert!(people.iter().all(|row| is_hash(&row[0])));
    assert!(visits.iter().all(|row| of_people.contains_key(row[1].as_str())), "foreign keys follow");
    // Keys of the other table are numbers.
    assert!(visits.iter().all(|row| row[0].parse::<usize>().is_ok()));
    let record = ["--record", "release/release.incog.json"];
    for more in [&[][..], &["--job", "job.toml"], &["--job", "job.toml", "--key", "incog.key"]] {
        folder.done(&[&["verify", "release"], &record[..], more].concat());
    }
    folder.done(&["verify", "release", "--job", "job.toml"]);

    // The next release has the same, another key gives others; and they are nobody else's hashes.
    folder.done(&["anonymize", "job.toml"]);
    assert_eq!(folder.rows("release/people.csv"), people);
    let forged = std::fs::read_to_string(folder.path("release/people.csv")).unwrap();
    let other = format!("{:0>32}", "f");
    folder.write("release/people.csv", &forged.replacen(&people[0][0], &other, 1));
    let below = std::fs::read_to_string(folder.path("release/visits.csv")).unwrap();
    folder.write("release/visits.csv", &below.replace(&people[0][0], &other));
    let forged = [&["verify", "release", "--job", "job.toml"], &record[..], &["--key", "incog.key"]].concat();
    let output = folder.run(&forged);
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("FAIL") && said.contains("the key `id` has keyed hashes of its values"), "{said}");
    std::fs::remove_dir_all(folder.path("release")).unwrap();
    std::fs::remove_file(folder.path("incog.key")).unwrap();
    folder.done(&["anonymize", "job.toml"]);
    assert_ne!(folder.rows("release/people.csv")[0][0], people[0][0]);
}

#[test]
fn equal_keys_of_two_tables_have_other_hashes() {
    let folder = Folder::new();
    let people: String = (0..40).map(|n| format!("{n},{}\n", 20 + n % 4)).collect();
    folder.write("people.csv", &format!("id,age\n{people}"));
    let visits: String = (0..40).map(|n| format!("{n},{n},w{},c\n", n % 2)).collect();
    folder.write("visits.csv", &format!("visit,id,ward,code\n{visits}"));
    let both = DATABASE.replace(
        "columns.ward",
        "columns.visit = { role = \"identifier\", replace = \"keyed-hash\" }\ncolumns.ward",
    );
    folder.write("job.toml", &both);
    folder.done(&["anonymize", "job.toml"]);
    let visits = folder.rows("release/visits.csv");
    assert!(visits.iter().all(|row| row[0].len() == 32 && row[0] != row[1]), "visit n is of person n");
}

#[test]
fn in_a_database_only_keys_are_replaced() {
    let folder = Folder::new();
    folder.write("people.csv", "id,age\n1,2\n");
    folder.write("visits.csv", "visit,id,ward,code\n1,1,w,c\n");
    let refused = |from: &str, to: &str, parts: &[&str]| {
        assert!(DATABASE.contains(from));
        folder.write("job.toml", &DATABASE.replace(from, to));
        folder.refused(&["anonymize", "job.toml"], 2, parts);
    };
    refused(
        "columns.code = { role = \"other\" }",
        "columns.code = { role = \"identifier\", replace = \"number\" }",
        &[
            "line 17 of `job.toml`: table `visits`: column `code` is not the key of its table",
            "other identifiers are dropped",
        ],
    );
    refused(
        "columns.ward",
        "columns.id = { role = \"identifier\", replace = \"keyed-hash\" }\ncolumns.ward",
        &[
            "line 16 of `job.toml`: table `visits`: column `id` holds keys of table `people`",
            "say `replace` at the key",
        ],
    );
    refused(
        "columns.id = { role = \"identifier\"",
        "columns.id = { role = \"other\"",
        &["line 10 of `job.toml`: table `people`: column `id` has `replace` and is no identifier"],
    );
}
