//! Rows that do not say whom they are about: an error, or rows of nobody.

mod folder;

use std::collections::{BTreeMap, BTreeSet};

use folder::{Folder, people};
use incog_testkit::data::csv_rows;

const ANONYMIZE: [&str; 2] = ["anonymize", "incog.toml"];
const VERIFY: [&str; 4] = ["verify", "release.csv", "--job", "incog.toml"];

/// The 60 people with every row twice, the unit being the name, which every seventh row lacks.
fn with_unit(more: &str) -> Folder {
    let folder = Folder::new();
    let people = people(0..60);
    let (header, rows) = people.split_once('\n').unwrap();
    let at = header.split(',').position(|name| name == "name").unwrap();
    let rows = rows.lines().flat_map(|row| [row, row]).enumerate().map(|(number, row)| {
        let mut cells: Vec<&str> = row.split(',').collect();
        if number % 7 == 3 {
            cells[at] = "";
        }
        cells.join(",") + "\n"
    });
    folder.write("data.csv", format!("{header}\n{}", rows.collect::<String>()));
    folder.replace("incog.toml", "k = 5", &format!("k = 5\nunit = \"name\"{more}"));
    folder
}

/// The fewest persons of a group, by the definition. The rows must be those of the input, in order.
fn fewest_persons(folder: &Folder) -> usize {
    let [input, release] = ["data.csv", "release.csv"].map(|file| csv_rows(&folder.path(file), b','));
    assert_eq!(input.len(), release.len());
    let place = |header: &[String], name: &str| header.iter().position(|column| column == name).unwrap();
    let name = place(&input[0], "name");
    let quasi: Vec<usize> = ["age", "sex", "zip"].iter().map(|column| place(&release[0], column)).collect();
    let mut groups: BTreeMap<Vec<&String>, BTreeSet<&String>> = BTreeMap::new();
    for (row, of) in release[1..].iter().zip(&input[1..]) {
        let group = groups.entry(quasi.iter().map(|&at| &row[at]).collect()).or_default();
        group.extend(Some(&of[name]).filter(|name| !name.is_empty()));
    }
    groups.values().map(BTreeSet::len).min().unwrap()
}

#[test]
fn rows_without_a_person_are_refused_with_their_number() {
    let folder = with_unit("");
    let parts = ["column `name`: 17 rows do not say whom they are about (first in record 4)", "missing_unit"];
    folder.refused(&ANONYMIZE, &parts);
    folder.refused(&["search", "incog.toml"], &parts);
    folder.replace("incog.toml", "unit = \"name\"", "unit = \"name\"\nmissing_unit = \"refuse\"");
    folder.refused(&ANONYMIZE, &parts);
    folder.refused(&[&ANONYMIZE[..], &["--algorithm", "top-down"]].concat(), &parts);
    folder.replace("incog.toml", "unit = \"name\"\nmissing_unit = \"refuse\"", "missing_unit = \"nobody\"");
    folder.refused(&ANONYMIZE, &["`missing_unit` is given without `unit`"]);
    folder.replace("incog.toml", "missing_unit = \"nobody\"", "unit = \"name\"\nmissing_unit = \"anybody\"");
    folder.refused(&ANONYMIZE, &["missing_unit"]);
}

#[test]
fn rows_of_nobody_are_no_persons_in_a_release() {
    // Two groups of two rows; one of them has a single person and a row of nobody.
    let folder = Folder::empty();
    folder.write("data.csv", "name,sex,zip\np1,f,1\n,f,1\np2,m,1\np3,m,1\n");
    folder.write(
        "incog.toml",
        "[input]\npath = \"data.csv\"\n[output]\npath = \"release.csv\"\norder = \"input\"\n[policy]\nk = 2\n\
         unit = \"name\"\nmissing_unit = \"nobody\"\n[columns]\nname.role = \"identifier\"\n\
         sex.role = \"quasi-identifier\"\nzip.role = \"quasi-identifier\"\n",
    );
    folder.done(&ANONYMIZE);
    assert_eq!(folder.read("release.csv"), "sex,zip\n*,1\n*,1\n*,1\n*,1\n");
    let record = folder.json("release.csv.incog.json");
    assert_eq!(record["claims"]["fewest_persons"], 3);
    folder.done(&[&VERIFY[..], &["--record", "release.csv.incog.json"]].concat());
    // The checker counts on its own: two rows are not two persons.
    folder.write("release.csv", "sex,zip\nf,1\nf,1\nm,1\nm,1\n");
    let said = folder.run(&VERIFY);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(
        said.stdout.contains("FAIL  every group has at least 2 persons (name) (the smallest has 1)"),
        "{said:?}"
    );
    // With a budget the group is left out, and that is in order.
    folder.done(&[&ANONYMIZE[..], &["--suppression", "2"]].concat());
    assert_eq!(folder.read("release.csv"), "sex,zip\nm,1\nm,1\n");
}

#[test]
fn rows_of_nobody_are_no_persons_whatever_recodes() {
    let folder = with_unit("\nmissing_unit = \"nobody\"");
    folder.replace("incog.toml", "suppression = \"5%\"", "suppression = 0");
    folder.replace("incog.toml", "[columns.sex]", "[columns.sex]\nhierarchy = { suppress = true }");
    let algorithms = [
        "cover",
        "incognito",
        "datafly",
        "genetic",
        "top-down",
        "full-subtree",
        "unrestricted",
        "full-subgraph",
        "unrestricted-multi",
        "cell-generalization",
        "local",
        "mondrian",
    ];
    for algorithm in algorithms {
        let job = folder.read("incog.toml");
        folder.replace(
            "incog.toml",
            "[columns.age]",
            &format!("[search]\nalgorithm = \"{algorithm}\"\n[columns.age]"),
        );
        let said = folder.done(&ANONYMIZE);
        assert!(
            said.text().contains("pass  every group has at least 5 persons (name)"),
            "{algorithm}: {said:?}"
        );
        let fewest = fewest_persons(&folder);
        assert!(fewest >= 5, "{algorithm}");
        let record = folder.json("release.csv.incog.json");
        assert_eq!(record["claims"]["fewest_persons"], fewest, "{algorithm}");
        let said = folder.done(&[&VERIFY[..], &["--record", "release.csv.incog.json"]].concat());
        assert!(
            said.text().contains("pass  every group has at least 5 persons (name)"),
            "{algorithm}: {said:?}"
        );
        folder.write("incog.toml", job);
    }
}

#[test]
fn what_nobody_has_makes_no_group_diverse() {
    let folder = Folder::empty();
    // In each half all persons have the same illness; only rows of nobody differ.
    let rows = |sex: &str, ill: &str, other: &str| {
        format!(
            "{sex}1,{sex},{ill}\n{sex}2,{sex},{ill}\n{sex}3,{sex},{ill}\n,{sex},{other}\n,{sex},{other}\n"
        )
    };
    folder
        .write("data.csv", format!("name,sex,ill\n{}{}", rows("f", "flu", "cold"), rows("m", "cold", "flu")));
    let job = "[input]\npath = \"data.csv\"\n[output]\npath = \"release.csv\"\norder = \"input\"\n[policy]\nk = 2\n\
               unit = \"name\"\nmissing_unit = \"nobody\"\n[columns]\nname.role = \"identifier\"\n\
               sex.role = \"quasi-identifier\"\nill.role = \"sensitive\"\n";
    folder.write("incog.toml", job);
    folder.done(&ANONYMIZE);
    assert!(folder.read("release.csv").contains("f,flu"));
    for require in [
        "distinct-l:sensitive=ill,l=2",
        "alpha-k:sensitive=ill,alpha=0.5",
        "entropy-l:sensitive=ill,l=2",
        "t-closeness:sensitive=ill,t=0.1",
    ] {
        let require = ["--require", require];
        for algorithm in ["cover", "top-down"] {
            if algorithm == "top-down" && !require[1].starts_with("distinct") {
                // By persons these are closed under nothing, and no local recoding can search by them.
                continue;
            }
            let flags = [&require[..], &["--algorithm", algorithm]].concat();
            folder.done(&[&ANONYMIZE[..], &flags].concat());
            assert!(!folder.read("release.csv").contains("f,flu"), "{flags:?}");
        }
    }
    // The checker does not take it either.
    folder.write(
        "incog.toml",
        job.to_owned() + "[[policy.require]]\nmodel = \"distinct-l\"\nsensitive = \"ill\"\nl = 2\n",
    );
    folder.done(&ANONYMIZE);
    folder.done(&VERIFY);
    let data = folder.read("data.csv");
    let released: String =
        data.lines().map(|line| line.split_once(',').unwrap().1.to_owned() + "\n").collect();
    folder.write("release.csv", released);
    let said = folder.run(&VERIFY);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.stdout.contains("FAIL"), "{said:?}");
}

/// A unit that says nothing: markers of the job, and white space of every kind.
#[test]
fn markers_and_white_space_name_nobody() {
    let folder = Folder::empty();
    let spaces = ["   ", "\t", "\u{a0}", "\u{3000}", " \u{2009} "];
    let rows = |ids: [&str; 5]| ids.map(|id| format!("\"{id}\",f\n")).concat();
    let job = "[input]\npath = \"data.csv\"\n[output]\npath = \"release.csv\"\norder = \"input\"\n[policy]\nk = 3\n\
               unit = \"name\"\nmissing_unit = \"nobody\"\n[columns]\nname.role = \"identifier\"\n\
               sex.role = \"quasi-identifier\"\n";
    folder.write("incog.toml", job.replace("missing_unit = \"nobody\"\n", ""));
    folder.write("data.csv", format!("name,sex\np1,f\np2,f\np3,f\n{}", rows(spaces)));
    folder.refused(&ANONYMIZE, &["column `name`: 5 rows do not say whom they are about (first in record 4)"]);
    folder.write("incog.toml", job);
    let said = folder.done(&ANONYMIZE);
    assert!(said.text().contains("persons (name) (the smallest has 3)"), "{said:?}");
    folder.done(&[&VERIFY[..], &["--record", "release.csv.incog.json"]].concat());
    // Two persons and five of white space are two, for engine and checker.
    folder.write("data.csv", format!("name,sex\np1,f\np2,f\np2,f\n{}", rows(spaces)));
    assert_eq!(folder.run(&ANONYMIZE).code, Some(1));
    let said = folder.run(&VERIFY);
    assert!(
        said.stdout.contains("FAIL  every group has at least 3 persons (name) (the smallest has 2)"),
        "{said:?}"
    );
    // `NA` is somebody's name until the job says that it is none.
    folder.write("data.csv", format!("name,sex\np1,f\np2,f\n{}", rows(["NA", "NA", "NA", "p2", "p1"])));
    folder.done(&ANONYMIZE);
    for (key, value) in [
        ("path = \"data.csv\"", "path = \"data.csv\"\nmissing = [\"NA\"]"),
        ("name.role", "name.missing = [\"NA\"]\nname.role"),
    ] {
        folder.write("incog.toml", job.replace(key, value));
        assert_eq!(folder.run(&ANONYMIZE).code, Some(1), "{value}");
        folder.write("incog.toml", job.replace(key, value).replace("missing_unit = \"nobody\"\n", ""));
        folder.refused(
            &ANONYMIZE,
            &["column `name`: 3 rows do not say whom they are about (first in record 3)"],
        );
    }
}
