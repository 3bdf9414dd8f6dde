//! Keys of a database in columns that nobody declared as keys: refused before anything is written, and noticed in a release.

mod folder;

use folder::Folder;

/// Forty patients with two visits each. `ref` is a column of the visits, with the role and the value that is given.
fn hospital(role: &str, value: &dyn Fn(usize, usize) -> String) -> Folder {
    let folder = Folder::empty();
    let job = format!(
        "[database]\nperson = \"patient\"\noutput = \"release/\"\n[policy]\nk = 2\n\
         [tables.patient]\npath = \"patient.csv\"\nkey = \"id\"\ncolumns.sex = {{ role = \"quasi-identifier\" }}\n\
         [tables.visit]\npath = \"visit.csv\"\nkey = \"vid\"\nparent = {{ table = \"patient\", column = \"pid\" }}\n\
         columns.ref = {{ role = \"{role}\" }}\ncolumns.ill = {{ role = \"sensitive\" }}\n"
    );
    folder.write("incog.toml", job);
    let (mut patients, mut visits) = ("id,sex\n".to_owned(), "vid,pid,ref,ill\n".to_owned());
    for n in 1..=40 {
        patients += &format!("{},{}\n", id(n), ["f", "m"][n % 2]);
        for visit in [2 * n, 2 * n + 1] {
            visits += &format!("{visit},{},{},{}\n", id(n), value(n, visit), visit % 5);
        }
    }
    folder.write("patient.csv", patients);
    folder.write("visit.csv", visits);
    folder
}

fn id(n: usize) -> String {
    (7000 + 13 * n).to_string()
}

const MESSAGE: &str = "table `visit`: column `ref` holds keys of table `patient` in 80 of 80 rows, and would be released with them";

#[test]
fn a_copy_of_the_persons_key_is_refused_in_every_role_that_is_released() {
    for role in ["other", "sensitive", "quasi-identifier"] {
        let folder = hospital(role, &|n, _| id(n));
        let before = folder.files();
        folder
            .refused(&["anonymize", "incog.toml"], &[MESSAGE, "declare the column as role = \"identifier\""]);
        assert_eq!(folder.files(), before);
    }
    let folder = hospital("identifier", &|n, _| id(n));
    folder.done(&["anonymize", "incog.toml"]);
    folder.done(&["verify", "release", "--job", "incog.toml"]);
}

#[test]
fn an_anatomized_release_is_no_exception() {
    for role in ["other", "sensitive", "quasi-identifier"] {
        let folder = hospital(role, &|n, _| id(n));
        folder.replace("incog.toml", "output =", "release = \"anatomized\"\noutput =");
        let require = "k = 2\n[[policy.require]]\nmodel = \"distinct-l\"\nsensitive = \"ill\"\nl = 2\n";
        folder.replace("incog.toml", "k = 2\n", require);
        folder.refused(&["anonymize", "incog.toml"], &[MESSAGE]);
    }
}

#[test]
fn a_quantity_is_not_taken_for_a_key() {
    let folder = hospital("other", &|_, visit| (visit % 10 + 1).to_string());
    folder.done(&["anonymize", "incog.toml"]);
    folder.done(&["verify", "release", "--job", "incog.toml"]);
}

/// Forty patients whose keys are words and numbers, and a column of the visits.
fn hospital_of_words(value: &dyn Fn(usize, usize) -> String) -> Folder {
    let folder = hospital("other", value);
    for file in ["patient.csv", "visit.csv"] {
        let text = folder.read(file);
        let keys =
            (1..=40).fold(text, |text, n| text.replace(&format!("{},", id(n)), &format!("k-{}x,", id(n))));
        folder.write(file, keys);
    }
    folder
}

/// What a copy may look like. The first is the patient, the second the visit.
fn disguises() -> Vec<(&'static str, Folder)> {
    let other = |visit: usize| format!("note {}", visit % 17);
    let half = |visit: usize, key: String| if visit.is_multiple_of(2) { key } else { other(visit) };
    vec![
        ("behind a prefix", hospital("other", &|n, _| format!("PAT{}", id(n)))),
        ("behind a path, with zeros", hospital("other", &|n, _| format!("clinic/000{}.txt", id(n)))),
        ("in half of the rows", hospital("other", &|n, visit| half(visit, id(n)))),
        (
            "in half of the rows, else empty",
            hospital("other", &|n, v| if v.is_multiple_of(2) { id(n) } else { String::new() }),
        ),
        (
            "in a fifth of the rows",
            hospital("other", &|n, v| if v.is_multiple_of(5) { id(n) } else { other(v) }),
        ),
        ("both", hospital("other", &|n, visit| half(visit, format!("P-{}", id(n))))),
        ("in capitals", hospital_of_words(&|n, _| format!("K-{}X", id(n)))),
        (
            "in capitals, in half of the rows",
            hospital_of_words(&|n, visit| half(visit, format!("K-{}X", id(n)))),
        ),
        ("behind a letter", hospital_of_words(&|n, _| format!("qk-{}x", id(n)))),
    ]
}

#[test]
fn a_copy_in_another_form_or_in_a_part_of_the_rows_is_refused() {
    for (form, folder) in disguises() {
        let before = folder.files();
        let said = folder.run(&["anonymize", "incog.toml"]);
        said.failed(
            2,
            &["table `visit`: column `ref` holds keys of table `patient` in", "role = \"identifier\""],
        );
        assert_eq!(folder.files(), before, "{form}");
    }
    // Of rows that are not its own, each key once.
    let folder = hospital("other", &|n, visit| {
        if visit.is_multiple_of(2) { format!("P{}", id(41 - n)) } else { String::new() }
    });
    folder.refused(
        &["anonymize", "incog.toml"],
        &["column `ref` holds keys of table `patient` in 40 of 80 rows"],
    );
}

#[test]
fn what_is_no_key_is_not_taken_for_one_in_disguise() {
    let day = |n: usize| format!("2024-{:02}-{:02}", n % 12 + 1, n % 28 + 1);
    let forms: [&dyn Fn(usize, usize) -> String; 9] = [
        &|_, visit| format!("{} mg", visit % 10 + 1),
        &|_, visit| (visit * 37 % 1000).to_string(),
        &|n, visit| day(n * 7 + visit * 5),
        &|_, visit| format!("{}.{:02}", visit * 7919 % 90, visit * 31 % 100),
        &|_, visit| format!("ward {}", visit * 7 % 40),
        &|_, visit| (7000 + visit * 6131 % 520).to_string(),
        &|_, visit| format!("bed {}", 83 - visit),
        &|n, visit| format!("note {}", if n.is_multiple_of(2) { visit % 17 } else { visit % 12 }),
        &|_, visit| (2000 + visit * 7 % 82).to_string(),
    ];
    for (at, form) in forms.into_iter().enumerate() {
        // Keys far apart, and keys from 1 to 40.
        for is_dense in [false, true] {
            let folder = hospital("other", form);
            if is_dense {
                for file in ["patient.csv", "visit.csv"] {
                    let lines = folder.read(file);
                    let cells = lines.lines().map(|line| {
                        let as_key = |cell: &str| (1..=40).find(|&n| id(n) == cell).map(|n| n.to_string());
                        let at_most = if file == "patient.csv" { 1 } else { 2 };
                        let cells = line.split(',').enumerate().map(|(at, cell)| {
                            as_key(cell).filter(|_| at < at_most).unwrap_or_else(|| cell.to_owned())
                        });
                        cells.collect::<Vec<_>>().join(",") + "\n"
                    });
                    folder.write(file, cells.collect::<String>());
                }
            }
            let said = folder.run(&["anonymize", "incog.toml"]);
            assert_eq!(said.code, Some(0), "form {at}, dense: {is_dense}: {said:?}");
            folder.done(&["verify", "release", "--job", "incog.toml"]);
        }
    }
}

#[test]
fn keys_in_a_release_are_noticed_by_the_checker() {
    let folder = hospital("other", &|n, _| format!("note {}", n % 3));
    folder.done(&["anonymize", "incog.toml"]);
    folder.done(&["verify", "release", "--job", "incog.toml"]);
    is_noticed(&hospital("other", &|n, _| id(n)), "80");
}

#[test]
fn keys_in_another_form_are_noticed_by_the_checker() {
    let n_rows = ["80", "80", "40", "40", "16", "40", "80", "40", "80"];
    for ((_, folder), n_rows) in disguises().iter().zip(n_rows) {
        is_noticed(folder, n_rows);
    }
}

/// Lets another tool make a release in which the visits' copy of the patients' keys still is.
fn is_noticed(leaking: &Folder, n_rows: &str) {
    let read = |file: &str| -> Vec<Vec<String>> {
        leaking.read(file).lines().skip(1).map(|line| line.split(',').map(str::to_owned).collect()).collect()
    };
    let (patients, visits) = (read("patient.csv"), read("visit.csv"));
    std::fs::create_dir(leaking.path("release")).unwrap();
    let sex: String = (0..patients.len()).map(|row| format!("n{row},{}\n", patients[row][1])).collect();
    leaking.write("release/patient.csv", format!("id,sex\n{sex}"));
    let rows = visits.iter().enumerate();
    let rows: String =
        rows.map(|(row, cells)| format!("m{row},n{},{},{}\n", row / 2, cells[2], cells[3])).collect();
    leaking.write("release/visit.csv", format!("vid,pid,ref,ill\n{rows}"));
    let said = leaking.run(&["verify", "release", "--job", "incog.toml"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    let failed: Vec<&str> = said.stdout.lines().filter(|line| line.contains("FAIL")).collect();
    let expected =
        format!("column ref of visit holds keys of patient in {n_rows} of 80 rows: it is an identifier");
    assert_eq!(
        failed,
        [format!(
            "  FAIL  no other column repeats the keys of its rows, of rows above them, or of a table row by row ({expected})"
        )]
    );
}
