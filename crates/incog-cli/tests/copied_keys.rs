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

#[test]
fn keys_in_a_release_are_noticed_by_the_checker() {
    let folder = hospital("other", &|n, _| format!("note {}", n % 3));
    folder.done(&["anonymize", "incog.toml"]);
    folder.done(&["verify", "release", "--job", "incog.toml"]);
    // The release of another tool: the visits' copy of the patients' keys is still there.
    let leaking = hospital("other", &|n, _| id(n));
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
    let expected = "column ref of visit holds keys of patient in 80 of 80 rows: it is an identifier";
    assert_eq!(
        failed,
        [format!(
            "  FAIL  no other column repeats the keys of its rows, of rows above them, or of a table row by row ({expected})"
        )]
    );
}
