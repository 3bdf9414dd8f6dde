//! Databases by the command: the paper's students from the job to the checked folder, what happens to it when it is tampered
//! with, and databases that are none.

mod folder;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command, Stdio};

use folder::{Folder, Said};
use incog_testkit::data::{csv_rows, outside_file, project};
use sha2::{Digest, Sha256};

/// Cells of the students that no message may contain; labels and names of columns are none.
const SECRETS: [&str; 6] = ["3.72", "2.34", "SC10", "Eur.Hist", "World Rel", "Religion"];

/// A folder with the students of the paper and their job.
fn students() -> Folder {
    let folder = Folder::empty();
    let from = project().join("testdata/students");
    std::fs::create_dir(folder.path("dgh")).unwrap();
    for file in ["student.csv", "takes.csv", "book.csv", "dgh/course.csv", "dgh/book.csv", "incog.toml"] {
        folder.write(file, std::fs::read(from.join(file)).unwrap());
    }
    folder
}

fn said_no_secret(said: &Said) {
    for secret in SECRETS {
        assert!(!said.text().contains(secret), "a cell got out: {said:?}");
    }
    said.has_no_cell();
}

/// Refused with exit code 2, all parts on stderr, no cell, and everything as it was.
fn refused(folder: &Folder, parts: &[&str]) {
    let before = folder.files();
    let said = folder.run(&["anonymize", "incog.toml"]);
    said.failed(2, parts);
    said_no_secret(&said);
    assert_eq!(folder.files(), before);
}

fn rows(folder: &Folder, file: &str) -> Vec<Vec<String>> {
    csv_rows(&folder.path(file), b',')
}

/// Each person as text: the courses with their books, sorted.
fn trees(folder: &Folder, release: &str) -> Vec<(String, String)> {
    let [students, takes, books] =
        ["student", "takes", "book"].map(|table| rows(folder, &format!("{release}/{table}.csv")));
    let below = |rows: &[Vec<String>], key: &str, text: &dyn Fn(&[String]) -> String| {
        let mut texts: Vec<String> =
            rows[1..].iter().filter(|row| row[1] == key).map(|row| text(row)).collect();
        texts.sort();
        texts.join(" ")
    };
    students[1..]
        .iter()
        .map(|student| {
            let course = |row: &[String]| {
                let books = below(&books, &row[0], &|row: &[String]| row[2].clone());
                format!("{}[{books}]", row[2])
            };
            (student[1].clone(), below(&takes, &student[0], &course))
        })
        .collect()
}

#[test]
fn the_papers_students_get_the_papers_release() {
    let folder = students();
    for algorithm in ["miraclex", "miracle"] {
        folder.replace("incog.toml", "\"miraclex\"", &format!("\"{algorithm}\""));
        let said = folder.done(&["anonymize", "incog.toml"]);
        assert!(said.stderr.contains("4 persons released, 0 left out"), "{said:?}");
        said_no_secret(&said);
        // By GPA: S1 and S2, S3 and S4 (the paper's Table 4; Calc and S3's Math are gone).
        let first = "Physics[Dyn] Science[Discrete] Social[Social-Book]";
        let second = "History[Social-Book] Religion[World Rel]";
        let expected = [("3.72", first), ("2.34", first), ("2.71", second), ("4.00", second)];
        let expected = expected.map(|(gpa, tree)| (gpa.to_owned(), tree.to_owned()));
        assert_eq!(trees(&folder, "release"), expected, "{algorithm}");
        let headers = ["student", "takes", "book"]
            .map(|table| rows(&folder, &format!("release/{table}.csv"))[0].join(","));
        assert_eq!(headers, ["sid,gpa", "scid,sid,course,grade", "bid,scid,book,price"]);
        for arguments in [
            &["--job", "incog.toml"][..],
            &["--record", "release/release.incog.json"],
            &["--job", "incog.toml", "--record", "release/release.incog.json", "--key", "incog.key"],
        ] {
            let said = folder.done(&[&["verify", "release"], arguments].concat());
            assert!(said.stdout.contains("pass") && !said.stdout.contains("FAIL"), "{said:?}");
            said_no_secret(&said);
        }
    }
}

#[test]
fn keys_are_new_and_in_no_order() {
    let folder = students();
    let mut orders = BTreeSet::new();
    for _ in 0..20 {
        folder.done(&["anonymize", "incog.toml"]);
        let keys: Vec<usize> =
            rows(&folder, "release/takes.csv")[1..].iter().map(|row| row[0].parse().unwrap()).collect();
        let mut sorted = keys.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (1..=10).collect::<Vec<_>>());
        orders.insert(keys);
    }
    // Ten keys have 3,628,800 orders.
    assert!(orders.len() > 15, "{orders:?}");
}

#[test]
fn rows_are_shuffled_unless_the_job_wants_them_as_they_were() {
    let folder = students();
    folder.replace("incog.toml", "order = \"input\"\n", "");
    let mut orders = BTreeSet::new();
    for _ in 0..20 {
        folder.done(&["anonymize", "incog.toml"]);
        orders.insert(
            rows(&folder, "release/book.csv")[1..].iter().map(|row| row[3].clone()).collect::<Vec<_>>(),
        );
    }
    assert!(orders.len() > 15);
}

/// What somebody does to the rows of a table, the header first.
type Change = fn(&mut Vec<Vec<String>>);

/// Changes one line of a released table.
fn tamper(folder: &Folder, table: &str, change: impl Fn(&mut Vec<Vec<String>>)) {
    let file = format!("release/{table}.csv");
    let mut changed = rows(folder, &file);
    change(&mut changed);
    folder.write(&file, changed.iter().map(|row| row.join(",") + "\n").collect::<String>());
}

#[test]
fn whatever_is_changed_in_a_release_is_noticed() {
    let changes: [(&str, &str, Change); 8] = [
        ("a label", "takes", |rows| rows[1][2] = "*".into()),
        ("a label of a book", "book", |rows| rows[1][2] = "Science-Book".into()),
        ("an extra child", "book", |rows| {
            let mut row = rows[1].clone();
            row[0] = "99".into();
            rows.push(row);
        }),
        ("a key", "takes", |rows| rows[1][0] = "99".into()),
        ("a foreign key", "takes", |rows| {
            let other = rows[1..].iter().map(|row| row[1].clone()).find(|key| *key != rows[1][1]).unwrap();
            rows[1][1] = other;
        }),
        ("a sensitive value", "takes", |rows| rows[1][3] = "1".into()),
        ("a row that is gone", "student", |rows| {
            rows.pop();
        }),
        ("two keys that are one", "student", |rows| rows[1][0] = rows[2][0].clone()),
    ];
    for (what, table, change) in changes {
        let folder = students();
        folder.done(&["anonymize", "incog.toml"]);
        tamper(&folder, table, change);
        for arguments in [&["--job", "incog.toml"][..], &["--record", "release/release.incog.json"]] {
            let said = folder.run(&[&["verify", "release/"], arguments].concat());
            assert_eq!(said.code, Some(1), "{what}: {said:?}");
            assert!(said.stdout.contains("FAIL"), "{what}: {said:?}");
            said_no_secret(&said);
        }
    }
}

#[test]
fn a_record_that_was_changed_is_refused() {
    let folder = students();
    folder.done(&["anonymize", "incog.toml"]);
    let record = folder.json("release/release.incog.json");
    assert_eq!(record["class_sizes"], serde_json::json!([[2, 2]]));
    assert_eq!(record["tables"]["book"]["removed_rows"], 2);
    assert_eq!(record["claims"]["k"], 2);
    let text = record.to_string();
    for secret in SECRETS {
        assert!(!text.contains(secret), "a cell is in the record: {secret}");
    }
    folder.replace("release/release.incog.json", "\"removed_rows\":2", "\"removed_rows\":1");
    folder.refused(
        &["verify", "release", "--record", "release/release.incog.json"],
        &["was edited: its checksum is not that of its content"],
    );
}

#[test]
fn tables_that_do_not_hold_together_are_refused() {
    let check = |change: &dyn Fn(&Folder), parts: &[&str]| {
        let folder = students();
        change(&folder);
        refused(&folder, parts);
    };
    check(
        &|folder| folder.replace("takes.csv", "SC11,S4", "SC11,S9"),
        &["table `takes`, column `sid`: 1 rows refer to no row of table `student`"],
    );
    check(
        &|folder| folder.replace("student.csv", "S2,", "S1,"),
        &["table `student`, column `sid`: 1 rows repeat the key of an earlier row"],
    );
    check(
        &|folder| {
            let parents =
                "parent = [{ table = \"student\", column = \"sid\" }, { table = \"book\", column = \"x\" }]";
            folder.replace("incog.toml", "parent = { table = \"student\", column = \"sid\" }", parents);
        },
        &["line 17", "table `takes`: has 2 foreign keys; one is allowed"],
    );
    check(
        &|folder| folder.replace("incog.toml", "parent = { table = \"takes\", column = \"scid\" }\n", ""),
        &["table `book`: the job says nothing about column `scid`"],
    );
    check(
        &|folder| {
            let parent = "parent = { table = \"takes\", column = \"scid\" }\n";
            folder.replace("incog.toml", parent, "columns.scid = { role = \"other\" }\n");
        },
        &["table `book` is not connected to the person table `student`"],
    );
    check(
        &|folder| {
            folder.replace(
                "incog.toml",
                "columns.grade",
                "columns.scid = { role = \"quasi-identifier\" }\ncolumns.grade",
            );
        },
        &["table `takes`: column `scid`: a key cannot be a quasi-identifier"],
    );
    check(
        &|folder| {
            folder.replace(
                "incog.toml",
                "{ table = \"student\", column = \"sid\" }",
                "{ table = \"book\", column = \"sid\" }",
            );
        },
        &["its foreign keys run in a cycle"],
    );
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    let check = |from: &str, to: &str, parts: &[&str]| {
        let folder = students();
        folder.replace("incog.toml", from, to);
        refused(&folder, parts);
    };
    check("k = 2", "k = 0", &["line 7", "k is 0"]);
    check("k = 2", "k = -1", &["k is negative"]);
    check(
        "\"miraclex\"",
        "\"miracles\"",
        &["unknown algorithm for databases `miracles`; did you mean `miracle`?"],
    );
    check("\"miraclex\"", "\"dmiracle\"", &["`dmiracle` is for policies that require more than k"]);
    check("\"miraclex\"", "\"miraclex\"\nthreshold = 1.5", &["the threshold is above 1"]);
    check("\"miraclex\"", "\"miraclex\"\ncluster_limit = 0", &["`cluster_limit` is 0"]);
    check(
        "\"miraclex\"",
        "\"miraclex\"\npairing = \"level\"\nmatching = \"optimal\"",
        &["cannot be paired optimally"],
    );
    check(
        "\"student\"",
        "\"studnet\"",
        &["there is no table `studnet` to be the person table; did you mean `student`?"],
    );
    check(
        "order =",
        "release = \"anatomized\"\norder =",
        &["an anatomized release claims what is required, and nothing is"],
    );
    check("\"book.csv\"", "\"books.csv\"", &["table `book`: ", "books.csv", "there is no such file"]);
    check(
        "columns.grade",
        "columns.grades",
        &["table `takes`: ", "the data has no column `grades`; did you mean `grade`?"],
    );
    check("dgh/book.csv", "dgh/course.csv", &["table `book`: ", "column `book`"]);
    check(
        "k = 2",
        "k = 2\n[[policy.require]]\nmodel = \"distinct-l\"\nsensitive = \"gpa\"\nl = 2",
        &["`miraclex` knows k only"],
    );
    for name in ["", ".", "..", ".book", "../book", "a/b", "a\\nb", "\\u001b[31m"] {
        let said = ["its name cannot be a file's", "a file named after each table"];
        check("[tables.book]", &format!("[tables.\"{name}\"]"), &said);
    }
    check("path = \"student.csv\"", "path = \"-\"", &["a database is not read from standard input"]);
    check("output = \"release/\"\n", "", &["the job does not say where to write the release"]);
    check("output = \"release/\"", "output = \"no/release/\"", &["its parent folder does not exist"]);
    check("output = \"release/\"", "output = \".\"", &["cannot write"]);
    check("output = \"release/\"", "output = \"student.csv\"", &["it is a file, and should be a folder"]);
    check("output = \"release/\"", "output = \"dgh\"", &["files that no earlier release lists"]);
}

#[test]
fn empty_and_broken_tables_are_told_by_name() {
    let check = |file: &str, text: &str, parts: &[&str]| {
        let folder = students();
        folder.write(file, text);
        refused(&folder, parts);
    };
    check("takes.csv", "", &["table `takes`: ", "takes.csv"]);
    check("takes.csv", "scid;sid;course;grade\n1;2;3;4\n5;6;7\n", &["table `takes`: "]);
    check("student.csv", "sid,gpa\n", &["table `student`: ", "has a header and no rows"]);
    check("student.csv", "sid,gpa\n,1\nS1,1\nS2,1\nS3,1\nS4,1\n", &["the key is missing in 1 rows"]);
}

#[test]
fn a_child_table_may_be_empty() {
    let folder = students();
    folder.write("book.csv", "bid,scid,book,price\n");
    folder.done(&["anonymize", "incog.toml"]);
    assert_eq!(folder.read("release/book.csv"), "bid,scid,book,price\n");
    folder.done(&["verify", "release", "--job", "incog.toml"]);
}

#[test]
fn fewer_persons_than_k_cannot_be_released() {
    let folder = students();
    let before = folder.files();
    let said = folder.run(&["anonymize", "incog.toml", "-k", "5"]);
    said.failed(1, &["nothing satisfies the policy", "table `student` has 4 persons, fewer than k = 5"]);
    assert_eq!(folder.files(), before);
    // Three of four can be released, if one may be left out. Whoever is near enough joins: the first three are together.
    folder.replace("incog.toml", "\"miraclex\"", "\"miraclex\"\nthreshold = 1");
    assert_eq!(folder.run(&["anonymize", "incog.toml", "-k", "3"]).code, Some(0));
    let said = folder.run(&["anonymize", "incog.toml", "-k", "3", "--suppression", "0"]);
    said.failed(1, &["1 of 4 persons would be left out, and the job allows 0"]);
}

#[test]
fn an_earlier_release_is_replaced_and_nothing_else() {
    let folder = students();
    folder.done(&["anonymize", "incog.toml"]);
    let first = folder.read("release/release.incog.json");
    folder.done(&["anonymize", "incog.toml", "-k", "4"]);
    assert_ne!(folder.read("release/release.incog.json"), first);
    let files = folder.files();
    folder.write("release/notes.txt", "mine");
    let before = folder.read("release/student.csv");
    let said = folder.run(&["anonymize", "incog.toml"]);
    said.failed(2, &["the folder holds 1 files that no earlier release lists"]);
    assert_eq!(
        (folder.read("release/notes.txt").as_str(), folder.read("release/student.csv")),
        ("mine", before)
    );
    std::fs::remove_file(folder.path("release/notes.txt")).unwrap();
    assert_eq!(folder.files(), files, "no hidden folder is left");
    // The job lies in the folder that it would replace.
    std::fs::copy(folder.path("incog.toml"), folder.path("release/incog.toml")).unwrap();
    folder.refused(&["anonymize", "incog.toml"], &["no earlier release lists"]);
}

#[test]
fn a_release_that_cannot_be_written_leaves_the_earlier_one() {
    let folder = students();
    folder.done(&["anonymize", "incog.toml"]);
    let before: BTreeMap<String, Vec<u8>> = folder
        .files()
        .into_iter()
        .filter(|file| folder.path(file).is_file())
        .map(|file| (file.clone(), folder.bytes(&file)))
        .collect();
    // A file may have no more than a block: the first table is too large.
    let mut command = Command::new("bash");
    command.arg("-c").arg("ulimit -f 0; exec \"$0\" anonymize incog.toml").arg(env!("CARGO_BIN_EXE_incog"));
    let said = Said::new(&command.current_dir(folder.path("")).stdin(Stdio::null()).output().unwrap());
    said.failed(2, &["cannot write"]);
    for (file, bytes) in &before {
        assert_eq!(&folder.bytes(file), bytes, "{file}");
    }
    let n_files = folder.files().iter().filter(|file| folder.path(file).is_file()).count();
    assert_eq!(n_files, before.len(), "{:?}", folder.files());
}

#[cfg(unix)]
#[test]
fn a_signal_leaves_nothing() {
    let folder = students();
    let pipe = folder.path("pipe.csv");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    folder.replace("incog.toml", "path = \"book.csv\"", "path = \"pipe.csv\"");
    let before = folder.files();
    let child = folder.command(&["anonymize", "incog.toml"]).stderr(Stdio::piped()).spawn().unwrap();
    // Opening it waits for the process to read, and so for its handler to be in place.
    let mut writer = std::fs::OpenOptions::new().write(true).open(&pipe).unwrap();
    std::io::Write::write_all(&mut writer, b"bid,scid,book,price\n").unwrap();
    let killed = Command::new("kill").arg("-TERM").arg(child.id().to_string()).status().unwrap();
    assert!(killed.success());
    while std::io::Write::write_all(&mut writer, b"B1,SC1,Discrete,60\n").is_ok() {}
    let said = Said::new(&child.wait_with_output().unwrap());
    said.failed(143, &["error: cancelled"]);
    assert_eq!(folder.files(), before);
}

#[test]
fn required_models_hold_in_every_matched_set() {
    let folder = students();
    folder.replace("incog.toml", "algorithm = \"miraclex\"\n", "");
    for diversity in ["merge", "distance", "suppress"] {
        for model in [
            "distinct-l:sensitive=takes.grade,l=2",
            "entropy-l:sensitive=gpa,l=2",
            "alpha-k:sensitive=book.price,alpha=0.5",
        ] {
            let job = folder.read("incog.toml");
            folder.replace("incog.toml", "[search]\n", &format!("[search]\ndiversity = \"{diversity}\"\n"));
            let said = folder.done(&["anonymize", "incog.toml", "--require", model]);
            let (_, column) = model.split_once("sensitive=").unwrap();
            let column = column.split(',').next().unwrap().rsplit('.').next().unwrap();
            assert!(said.stderr.contains(column), "{said:?}");
            assert!(!said.stderr.contains("FAIL"), "{said:?}");
            folder.done(&["verify", "release", "--record", "release/release.incog.json"]);
            folder.write("incog.toml", job);
        }
    }
    // Four grades of one set cannot be five values.
    let before = folder.files();
    let said = folder.run(&["anonymize", "incog.toml", "--require", "distinct-l:sensitive=grade,l=5"]);
    said.failed(1, &["nothing satisfies the policy"]);
    assert_eq!(folder.files(), before);
    refused_by_flag(&folder, "distinct-l:sensitive=grad,l=2", "no table has the column `grad`");
    refused_by_flag(&folder, "distinct-l:sensitive=course,l=2", "also a quasi-identifier");
}

fn refused_by_flag(folder: &Folder, require: &str, part: &str) {
    folder.refused(&["anonymize", "incog.toml", "--require", require], &[part]);
}

#[test]
fn an_anatomized_release_has_exact_quasi_identifiers_and_claims_no_k() {
    let folder = students();
    folder.replace("incog.toml", "algorithm = \"miraclex\"\n", "");
    folder.replace("incog.toml", "order = ", "release = \"anatomized\"\norder = ");
    let require = ["gpa", "takes.grade", "book.price"].map(|column| {
        format!("[[policy.require]]\nmodel = \"distinct-l\"\nsensitive = \"{column}\"\nl = 2\n")
    });
    folder.replace("incog.toml", "[search]\n", &(require.concat() + "[search]\n"));
    let said = folder.done(&["anonymize", "incog.toml"]);
    assert!(said.stderr.contains("this is not k-anonymity"), "{said:?}");
    assert!(!said.stderr.contains("2-anonym"), "{said:?}");
    said_no_secret(&said);
    let header = |file: &str| rows(&folder, file)[0].join(",");
    assert_eq!(header("release/takes.csv"), "scid,sid,course,group");
    assert_eq!(header("release/takes.grade.csv"), "group,grade");
    let courses: Vec<String> =
        rows(&folder, "release/takes.csv")[1..].iter().map(|row| row[2].clone()).collect();
    let exact = [
        "Math", "Physics", "History", "CS", "Physics", "Religion", "History", "Religion", "History",
        "Religion",
    ];
    assert_eq!(courses, exact, "as collected, without S3's Math");
    for arguments in [
        &["--job", "incog.toml"][..],
        &["--record", "release/release.incog.json"],
        &["--job", "incog.toml", "--record", "release/release.incog.json", "--key", "incog.key"],
    ] {
        folder.done(&[&["verify", "release"], arguments].concat());
    }
    // With rows as in the data, values must not stand next to theirs.
    let aligned = |_: usize| {
        folder.done(&["anonymize", "incog.toml"]);
        let groups = |file: &str, at: usize| {
            rows(&folder, file)[1..].iter().map(|row| row[at].clone()).collect::<Vec<_>>()
        };
        groups("release/takes.csv", 3) == groups("release/takes.grade.csv", 0)
    };
    let n_aligned = (0..10).filter(|&run| aligned(run)).count();
    assert!(n_aligned < 5, "{n_aligned} of 10 times");
    // The grades of Math, with CS, and of Physics change groups: nobody there has them.
    let values = rows(&folder, "release/takes.grade.csv");
    let place = |grade: &str| values.iter().position(|row| row[1] == grade).unwrap();
    let (math, physics) = (place("93"), place("91"));
    let mut swapped = values.clone();
    (swapped[math][1], swapped[physics][1]) = ("91".to_owned(), "93".to_owned());
    folder
        .write("release/takes.grade.csv", swapped.iter().map(|row| row.join(",") + "\n").collect::<String>());
    assert_eq!(folder.run(&["verify", "release", "--job", "incog.toml"]).code, Some(1));
    folder.done(&["anonymize", "incog.toml"]);
    // Two equal grades in one group.
    let grades = rows(&folder, "release/takes.grade.csv");
    let partner = grades[2..].iter().find(|row| row[0] == grades[1][0]).unwrap();
    folder.replace("release/takes.grade.csv", &grades[1].join(","), &partner.join(","));
    assert_eq!(folder.run(&["verify", "release", "--job", "incog.toml"]).code, Some(1));
    assert_eq!(folder.run(&["verify", "release", "--record", "release/release.incog.json"]).code, Some(1));
}

#[test]
fn files_of_an_anatomized_release_have_names_of_their_own() {
    let anatomized = || {
        let folder = students();
        folder.replace("incog.toml", "algorithm = \"miraclex\"\n", "");
        folder.replace("incog.toml", "order = ", "release = \"anatomized\"\norder = ");
        let require =
            "[[policy.require]]\nmodel = \"distinct-l\"\nsensitive = \"takes.grade\"\nl = 2\n[search]\n";
        folder.replace("incog.toml", "[search]\n", require);
        folder
    };
    let folder = anatomized();
    folder.replace("incog.toml", "[tables.book]", "[tables.\"takes.grade\"]");
    refused(&folder, &["table `takes`: the column `grade` and another table would have the same file"]);
    let folder = anatomized();
    folder.replace("takes.csv", "grade", "group");
    folder.replace("incog.toml", "columns.grade", "columns.group");
    folder.replace("incog.toml", "takes.grade", "takes.group");
    refused(&folder, &["the column `group` is in the way of the number of a row's group"]);
    let folder = anatomized();
    folder.replace("student.csv", "gpa", "gp/a");
    folder.replace("incog.toml", "columns.gpa", "columns.\"gp/a\"");
    refused(&folder, &["the column `gp/a` cannot be part of a file's name"]);
}

#[test]
fn an_empty_table_of_a_parquet_folder_is_verified() {
    let folder = students();
    folder.write("book.csv", "bid,scid,book,price\n");
    folder.replace("incog.toml", "order = ", "format = \"parquet\"\norder = ");
    folder.done(&["anonymize", "incog.toml"]);
    folder.done(&["verify", "release", "--job", "incog.toml"]);
    folder.done(&["verify", "release", "--record", "release/release.incog.json"]);
}

#[test]
fn a_release_with_the_old_keys_or_without_persons_is_refused() {
    let folder = students();
    folder.replace("incog.toml", "k = 2", "k = 2\nsuppression = 0");
    folder.done(&["anonymize", "incog.toml"]);
    folder.done(&["verify", "release", "--job", "incog.toml"]);
    // Persons in the order of the data get their own keys back.
    let new: Vec<String> =
        rows(&folder, "release/student.csv")[1..].iter().map(|row| row[0].clone()).collect();
    let old = |key: &String| format!("S{}", new.iter().position(|other| other == key).unwrap() + 1);
    tamper(&folder, "student", |rows| rows[1..].iter_mut().for_each(|row| row[0] = old(&row[0])));
    tamper(&folder, "takes", |rows| rows[1..].iter_mut().for_each(|row| row[1] = old(&row[1])));
    let said = folder.run(&["verify", "release", "--job", "incog.toml"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.stdout.contains("FAIL  keys are new ones (4 rows of student"), "{said:?}");
    for table in ["student", "takes", "book"] {
        tamper(&folder, table, |rows| rows.truncate(1));
    }
    let said = folder.run(&["verify", "release", "--job", "incog.toml"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.stdout.contains("FAIL  at most 0 persons are left out (4 are)"), "{said:?}");
}

#[test]
fn files_that_nobody_checked_are_noticed() {
    let folder = students();
    folder.done(&["anonymize", "incog.toml"]);
    std::fs::copy(folder.path("student.csv"), folder.path("release/original.csv")).unwrap();
    for arguments in [&["--job", "incog.toml"][..], &["--record", "release/release.incog.json"]] {
        let said = folder.run(&[&["verify", "release"], arguments].concat());
        assert_eq!(said.code, Some(1), "{said:?}");
        assert!(said.stdout.contains("it holds 1 other file"), "{said:?}");
    }
}

/// Whoever edits a record can make its checksum anew; what it says of itself is not believed.
/// A record with a checksum that is right, as a forger without the key would write it.
fn forged(mut record: serde_json::Value) -> String {
    let object = record.as_object_mut().unwrap();
    object.remove("checksum");
    let seal = object.remove("seal").unwrap();
    // `serde_json` sorts keys and writes no white space, as records are.
    let checksum = Sha256::digest(record.to_string());
    record["checksum"] = checksum.iter().map(|byte| format!("{byte:02x}")).collect::<String>().into();
    record["seal"] = seal;
    record.to_string() + "\n"
}

#[test]
fn a_record_that_contradicts_itself_or_is_not_as_written_is_refused_without_the_job() {
    use serde_json::json;
    let folder = students();
    folder.done(&["anonymize", "incog.toml"]);
    let file = "release/release.incog.json";
    let (text, record) = (folder.read(file), folder.json(file));
    let verify = ["verify", "release", "--record", file];
    let persons = record["tables"]["student"]["input_rows"].as_u64().unwrap();
    for (pointer, value, part) in [
        ("/suppressed_persons", json!(persons), "suppressed_persons: the record says"),
        ("/tables/book/removed_rows", json!(1), "tables.book.removed_rows: the record says 1"),
        ("/tables/book/input_rows", json!(0), "tables.book.input_rows: fewer than"),
        ("/tables/student/input_rows", json!(persons + 1), "the record says"),
        ("/tables/takes/loss", json!("-0.1"), "tables.takes.loss: it is not between 0 and 1"),
        ("/scores/discernibility", json!("1"), "scores.discernibility: the record says"),
        ("/scores/loss", json!("2"), "scores.loss"),
        ("/algorithm", json!("miracle"), "algorithm: the record says"),
        ("/claims/k", json!(3), "claims.k: the record says 3"),
        ("/job_hmac_sha256", json!("0"), "job_hmac_sha256: it is no digest"),
    ] {
        let mut edited = record.clone();
        assert_ne!(edited.pointer(pointer), Some(&value), "{pointer}");
        *edited.pointer_mut(pointer).unwrap() = value;
        folder.write(file, forged(edited));
        let said = folder.run(&verify);
        assert_eq!(said.code, Some(1), "{pointer}: {said:?}");
        assert!(said.stdout.contains(part), "{part}: {said:?}");
    }
    let twice = "{\"claims\":{\"k\":100},".to_owned() + &text[1..];
    for edited in [twice, text.replacen("\"k\":2", "\"k\": 2", 1), text.trim_end().to_owned()] {
        assert_ne!(edited, text);
        folder.write(file, edited);
        folder.run(&verify).failed(2, &["was edited"]);
        folder
            .run(&[&verify[..], &["--job", "incog.toml", "--key", "incog.key"]].concat())
            .failed(2, &["was edited"]);
    }
    let mut old = record.clone();
    old["record"] = json!(1);
    folder.write(file, forged(old));
    folder.run(&verify).failed(2, &["is of version 1"]);
    folder.write(file, text);
    folder.done(&[&verify[..], &["--job", "incog.toml", "--key", "incog.key"]].concat());
}

#[test]
fn the_record_of_a_database_can_be_signed() {
    let folder = students();
    folder.done(&["key", "new"]);
    folder.done(&["key", "new", "other.key"]);
    folder.done(&["anonymize", "incog.toml", "--sign", "incog-sign.key"]);
    let verify = ["verify", "release", "--record", "release/release.incog.json", "--publisher"];
    let said = folder.done(&[&verify[..], &["incog-sign.key.pub"]].concat());
    assert!(said.stdout.contains("pass  the record is signed (with the publisher's key)"), "{said:?}");
    folder.run(&[&verify[..], &["other.key.pub"]].concat()).failed(2, &["is signed by somebody else"]);
    folder.replace("incog.toml", "order = ", "sign = \"other.key\"\norder = ");
    folder.done(&["anonymize", "incog.toml"]);
    folder.done(&[&verify[..], &["other.key.pub"]].concat());
    folder.run(&["anonymize", "incog.toml", "--no-record"]).failed(2, &["a signature stands in the record"]);
}

#[test]
fn a_record_that_names_fewer_quasi_identifiers_than_its_job_is_refused() {
    let folder = students();
    folder.done(&["anonymize", "incog.toml"]);
    let mut record = folder.json("release/release.incog.json");
    record["tables"]["takes"]["quasi_identifiers"] = serde_json::json!([]);
    folder.write("release/release.incog.json", forged(record));
    let said = folder.run(&["verify", "release", "--record", "release/release.incog.json"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.stdout.contains("tables.takes.quasi_identifiers"), "{said:?}");
}

#[test]
fn parquet_folders_are_written_and_verified() {
    let folder = students();
    folder.done(&["anonymize", "incog.toml"]);
    folder.replace("incog.toml", "order = ", "format = \"parquet\"\norder = ");
    folder.done(&["anonymize", "incog.toml"]);
    let files: Vec<String> = folder.files().into_iter().filter(|file| file.starts_with("release/")).collect();
    assert_eq!(
        files,
        [
            "release/book.parquet",
            "release/release.incog.json",
            "release/student.parquet",
            "release/takes.parquet"
        ]
    );
    for arguments in [&["--job", "incog.toml"][..], &["--record", "release/release.incog.json"]] {
        folder.done(&[&["verify", "release"], arguments].concat());
    }
    // A release of Parquet tables can be made from Parquet tables.
    for table in ["student", "takes", "book"] {
        std::fs::copy(
            folder.path(&format!("release/{table}.parquet")),
            folder.path(&format!("{table}.parquet")),
        )
        .unwrap();
        folder.replace("incog.toml", &format!("{table}.csv\"\nkey"), &format!("{table}.parquet\"\nkey"));
    }
    folder.replace("incog.toml", "{ file = \"dgh/course.csv\" }", "{ suppress = true }");
    folder.replace("incog.toml", "{ file = \"dgh/book.csv\" }", "{ suppress = true }");
    folder.done(&["anonymize", "incog.toml", "-o", "again"]);
    folder.replace("incog.toml", "output = \"release/\"", "output = \"again/\"");
    folder.done(&["verify", "again", "--job", "incog.toml"]);
}

/// A table of the release as Parquet, with one cell of a column made another.
#[cfg(feature = "parquet")]
fn change_text(folder: &Folder, file: &str, column: &str, texts: &dyn Fn(usize) -> Option<&'static str>) {
    use arrow_array::{ArrayRef, RecordBatch, StringArray};
    use parquet::arrow::ArrowWriter;
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
    let path = folder.path(file);
    let reader = ParquetRecordBatchReaderBuilder::try_new(std::fs::File::open(&path).unwrap()).unwrap();
    let batch = reader.build().unwrap().next().unwrap().unwrap();
    let names: Vec<String> = batch.schema().fields().iter().map(|field| field.name().clone()).collect();
    let texts: ArrayRef = std::sync::Arc::new((0..batch.num_rows()).map(texts).collect::<StringArray>());
    let columns = names.iter().zip(batch.columns());
    let columns = columns.map(|(name, old)| (name, if name == column { texts.clone() } else { old.clone() }));
    let changed = RecordBatch::try_from_iter(columns).unwrap();
    let mut writer =
        ArrowWriter::try_new(std::fs::File::create(&path).unwrap(), changed.schema(), None).unwrap();
    writer.write(&changed).unwrap();
    writer.close().unwrap();
}

#[cfg(feature = "parquet")]
#[test]
fn null_and_the_empty_text_stay_apart_in_databases_and_are_not_both_written_as_csv() {
    let folder = students();
    folder.replace("incog.toml", "order = ", "format = \"parquet\"\norder = ");
    folder.done(&["anonymize", "incog.toml"]);
    for table in ["student", "takes", "book"] {
        let [from, to] = ["release/", ""].map(|of| folder.path(&format!("{of}{table}.parquet")));
        std::fs::copy(from, to).unwrap();
        folder.replace("incog.toml", &format!("{table}.csv\"\nkey"), &format!("{table}.parquet\"\nkey"));
    }
    folder.replace("incog.toml", "{ file = \"dgh/course.csv\" }", "{ suppress = true }");
    folder.replace("incog.toml", "{ file = \"dgh/book.csv\" }", "{ suppress = true }");
    folder.replace("incog.toml", "output = \"release/\"", "output = \"again/\"");
    let as_csv = ("format = \"parquet\"", "format = \"csv\"");
    for column in ["grade", "course"] {
        change_text(&folder, "takes.parquet", column, &|row| (row % 2 == 0).then_some(""));
        folder.done(&["anonymize", "incog.toml"]);
        folder.done(&["verify", "again", "--job", "incog.toml"]);
        folder.replace("incog.toml", as_csv.0, as_csv.1);
        folder.refused(
            &["anonymize", "incog.toml"],
            &["takes", &format!("column `{column}` has missing values and empty texts"), "Parquet"],
        );
        // One of the two can be written.
        change_text(&folder, "takes.parquet", column, &|_| Some(""));
        folder.done(&["anonymize", "incog.toml"]);
        folder.done(&["verify", "again", "--job", "incog.toml"]);
        folder.replace("incog.toml", as_csv.1, as_csv.0);
    }
}

#[test]
fn other_delimiters_are_found_out_and_kept() {
    let folder = students();
    for table in ["student.csv", "takes.csv", "book.csv"] {
        let text = folder.read(table).replace(',', ";");
        folder.write(table, text);
    }
    folder.done(&["anonymize", "incog.toml"]);
    assert!(folder.read("release/takes.csv").starts_with("scid;sid;course;grade\n"));
    folder.done(&["verify", "release", "--job", "incog.toml"]);
    folder.done(&["verify", "release", "--record", "release/release.incog.json"]);
}

/// 1,171 patients in five tables. What a neighbour may know is a quasi-identifier.
#[test]
fn the_synthea_sample_is_released_and_verified_at_k_5() {
    let Some(patients) = outside_file("synthea/patients.csv") else { return };
    let data = patients.parent().unwrap().display().to_string();
    let quasi = |column: &str, file: &str| {
        format!(
            "columns.{column} = {{ role = \"quasi-identifier\", hierarchy = {{ file = '{data}/dgh/{file}.csv' }} }}\n"
        )
    };
    let dates = |column: &str| {
        format!(
            "columns.{column} = {{ role = \"quasi-identifier\", hierarchy = {{ dates = [\"year\", \"decade\"] }} }}\n"
        )
    };
    let role = |column: &str, role: &str| format!("columns.{column} = {{ role = \"{role}\" }}\n");
    let table = |name: &str, key: &str, parent: Option<(&str, &str)>, columns: &[String]| {
        let parent = parent.map_or(String::new(), |(table, column)| {
            format!("parent = {{ table = \"{table}\", column = \"{column}\" }}\n")
        });
        format!("[tables.{name}]\npath = '{data}/{name}.csv'\nkey = \"{key}\"\n{parent}{}", columns.concat())
    };
    let of_patients = ["birthdate", "gender", "race", "ethnicity", "marital", "city", "county", "zip"];
    let mut of_patients: Vec<String> = of_patients.iter().map(|column| quasi(column, column)).collect();
    of_patients.push(role("healthcare_expenses", "sensitive"));
    let patient = Some(("patients", "patient_id"));
    let job = [
        "[database]\nperson = \"patients\"\noutput = \"release\"\n[policy]\nk = 5\n".to_owned(),
        table("patients", "patient_id", None, &of_patients),
        table("encounters", "encounter_id", patient, &[quasi("date", "encounter_date")]),
        table(
            "conditions",
            "condition_id",
            Some(("encounters", "encounter_id")),
            &[role("code", "identifier"), quasi("description", "condition"), role("stop", "identifier")],
        ),
        table(
            "careplans",
            "careplan_id",
            patient,
            &[
                dates("start"),
                role("code", "identifier"),
                quasi("description", "careplan"),
                role("reason", "sensitive"),
            ],
        ),
        table(
            "immunizations",
            "immunization_id",
            patient,
            &[dates("date"), role("code", "identifier"), quasi("description", "immunization")],
        ),
    ];
    let folder = Folder::empty();
    folder.write("incog.toml", job.concat());
    folder.done(&["anonymize", "incog.toml"]);
    let record = folder.json("release/release.incog.json");
    assert!(record["claims"]["smallest_class"].as_u64().unwrap() >= 5, "{record}");
    assert!(record["suppressed_persons"].as_u64().unwrap() < 5, "{record}");
    assert_eq!(record["tables"]["immunizations"]["input_rows"], 15_478);
    let loss: f64 = record["scores"]["loss"].as_str().unwrap().parse().unwrap();
    assert!(loss < 0.7, "something is left of the data: {loss}");
    folder.done(&["verify", "release", "--job", "incog.toml", "--record", "release/release.incog.json"]);
}

#[test]
fn complete_databases_are_told_that_their_release_is_not() {
    let folder = students();
    folder.replace("incog.toml", "order = ", "complete = true\norder = ");
    let said = folder.done(&["anonymize", "incog.toml"]);
    assert!(
        said.stderr.contains("the data are complete, the release is not: 3 rows are removed"),
        "{said:?}"
    );
}

#[test]
fn identifiers_are_not_released_and_other_columns_are() {
    let folder = students();
    folder.write("student.csv", "sid,name,gpa,campus\nS1,Person-1,3.72,N\nS2,Person-2,2.34,S\nS3,Person-3,2.71,N\nS4,Person-4,4.00,S\n");
    folder.replace(
        "incog.toml",
        "columns.gpa",
        "columns.name = { role = \"identifier\" }\ncolumns.campus = { role = \"other\" }\ncolumns.gpa",
    );
    folder.done(&["anonymize", "incog.toml"]);
    assert_eq!(rows(&folder, "release/student.csv")[0], ["sid", "gpa", "campus"]);
    assert!(!folder.read("release/student.csv").contains("Person-"));
    folder.done(&["verify", "release", "--job", "incog.toml"]);
}

#[test]
fn commands_for_one_table_say_so() {
    let folder = students();
    folder.refused(&["search", "incog.toml"], &["is about a database, not one table"]);
    folder.refused(&["anonymize", "incog.toml", "--qi", "course"], &["--qi is for one table"]);
    folder.refused(&["anonymize", "incog.toml", "-o", "-"], &["is a folder, not standard output"]);
    folder.refused(&["anonymize", "incog.toml", "--record", "r.json"], &["--record is for one table"]);
    folder.done(&["anonymize", "incog.toml"]);
    folder.refused(&["verify", "release/student.csv", "--job", "incog.toml"], &["is no folder"]);
    folder.refused(&["verify", "release", "--qi", "course", "-k", "2"], &["the release is a folder"]);
    std::fs::remove_file(folder.path("release/book.csv")).unwrap();
    folder.refused(
        &["verify", "release", "--job", "incog.toml"],
        &["table `book`: ", "has no file `book.csv`"],
    );
    assert!(Path::new(&folder.path("incog.key")).exists());
}

/// Persons with visits: everybody has one to a ward of four letters, and one person several to a ward of eleven.
#[test]
fn a_mask_in_a_child_table_is_as_long_as_values_that_k_persons_have() {
    let release = |long: &str, folder: &Folder| {
        folder.write("person.csv", "id\n1\n2\n3\n4\n");
        folder.write("stay.csv", "sid,id\na,1\nb,2\nc,3\nd,4\n");
        folder.write(
            "visit.csv",
            format!("sid,ward\na,east\nb,east\nc,west\nd,west\na,{long}\na,{long}\na,{long}\n"),
        );
        folder.write(
            "incog.toml",
            "[database]\nperson = \"person\"\noutput = \"release/\"\norder = \"input\"\n[policy]\nk = 2\n\
             [tables.person]\npath = \"person.csv\"\nkey = \"id\"\n\
             [tables.stay]\npath = \"stay.csv\"\nkey = \"sid\"\nparent = { table = \"person\", column = \"id\" }\n\
             [tables.visit]\npath = \"visit.csv\"\nparent = { table = \"stay\", column = \"sid\" }\n\
             columns.ward = { role = \"quasi-identifier\", hierarchy = { mask = \"right\" } }\n",
        );
        let said = folder.done(&["anonymize", "incog.toml"]);
        assert_eq!(
            said.stderr.contains(
                "table `visit`: column `ward`: fewer than k persons (1) have values of more than 4 characters"
            ),
            long.len() > 4,
            "{said:?}"
        );
        folder.done(&["verify", "release", "--job", "incog.toml"]);
        // Digests differ with the data and with keys, which are drawn.
        let is_digest = |text: &str| text.len() >= 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let record = folder.read("release/release.incog.json");
        let told: Vec<String> =
            record.split('"').filter(|text| !is_digest(text)).map(ToOwned::to_owned).collect();
        let mut wards: Vec<String> =
            rows(folder, "release/visit.csv")[1..].iter().map(|row| row[1].clone()).collect();
        wards.sort();
        (told, wards)
    };
    let [nine, eleven] = ["ninechars", "elevenchars"].map(|long| release(long, &Folder::empty()));
    assert_eq!(nine, eleven);
    release("west", &Folder::empty());
}
