//! Hierarchies whose labels stand on several levels: an honest release is verified, whatever levels its labels could be of.

mod folder;

use folder::Folder;

/// Nine columns or more with `b;b;*` and `c;b;*`. The first is released at level 1, since a released row has `c` there; in
/// the others only the two rows that are suppressed have it. Its illness tells that row from others.
fn folder(n_columns: usize) -> Folder {
    let folder = Folder::empty();
    folder.write("h.csv", "b;b;*\nc;b;*\n");
    let columns: Vec<String> = (0..n_columns).map(|at| format!("q{at}")).collect();
    let mut job = "[input]\npath = \"data.csv\"\n[output]\npath = \"release.csv\"\norder = \"input\"\n\
                   [policy]\nk = 2\nsuppression = 2\n[search]\nmetric = \"height\"\n[columns]\n"
        .to_owned();
    for column in &columns {
        job += &format!("{column} = {{ role = \"quasi-identifier\", hierarchy = {{ file = \"h.csv\" }} }}\n");
    }
    folder.write("incog.toml", job + "ill.role = \"sensitive\"\n");
    let row = |ill: &str, is_c: &dyn Fn(usize) -> bool| {
        let cells: Vec<&str> = (0..n_columns).map(|at| if is_c(at) { "c" } else { "b" }).collect();
        cells.join(",") + "," + ill + "\n"
    };
    let plain = row("flu", &|_| false);
    let mut data = columns.join(",") + ",ill\n" + &plain.repeat(4) + &row("gout", &|at| at == 0);
    data += &row("flu", &|at| at > 0);
    data += &row("flu", &|at| at > 0 && at + 2 < n_columns);
    folder.write("data.csv", data);
    folder
}

#[test]
fn a_release_whose_labels_are_of_several_levels_is_written_and_verified() {
    for n_columns in [9, 20] {
        let folder = folder(n_columns);
        let said = folder.done(&["anonymize", "incog.toml"]);
        assert!(said.text().contains("pass") && !said.text().contains("FAIL"), "{said:?}");
        let record = folder.json("release.csv.incog.json");
        let levels = record["levels"].as_object().unwrap();
        assert!(levels.iter().all(|(column, level)| *level == u8::from(column == "q0")), "{levels:?}");
        folder.done(&["verify", "release.csv", "--job", "incog.toml"]);
        let record = ["--record", "release.csv.incog.json"];
        folder.done(&[&["verify", "release.csv", "--job", "incog.toml"], &record[..]].concat());
        // A released row that the data does not have is noticed all the same.
        folder.replace("release.csv", "b,b", "*,b");
        let said = folder.run(&["verify", "release.csv", "--job", "incog.toml"]);
        assert_eq!(said.code, Some(1), "{said:?}");
    }
}
