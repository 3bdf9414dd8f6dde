//! `incog init`: what it writes can be run, says why, and shows no cell.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use incog::FirstLine;
use incog::unstable::job::RoleJob;
use incog::{Anonymizer, Init, Job, Progress, Replace};
use incog_testkit::data::{csv_rows, outside_file, project};
use proptest::collection::vec;
use proptest::prelude::*;
use tempfile::TempDir;

struct Folder(TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    /// With a table of 60 people for whom everything is clear.
    fn with_data() -> Folder {
        let folder = Folder::new();
        let mut data = "name,age,zip,illness\n".to_owned();
        for n in 0..60 {
            data += &format!(
                "person {n},{},10{}0{},{}\n",
                20 + n % 30,
                1 + n % 2,
                n / 2 % 2,
                ["flu", "cold", "asthma"][n % 3]
            );
        }
        folder.write("data.csv", &data);
        folder
    }

    fn path(&self, file: &str) -> PathBuf {
        self.0.path().join(file)
    }

    fn write(&self, file: &str, text: &str) {
        std::fs::write(self.path(file), text).unwrap();
    }

    fn read(&self, file: &str) -> String {
        std::fs::read_to_string(self.path(file)).unwrap()
    }

    fn run(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_incog")).args(arguments).current_dir(&self.0).output().unwrap()
    }

    fn run_with_input(&self, arguments: &[&str], input: &str) -> Output {
        Command::new(env!("CARGO_BIN_EXE_incog"))
            .args(arguments)
            .current_dir(&self.0)
            .stdin(Stdio::from(std::fs::File::open(self.path(input)).unwrap()))
            .output()
            .unwrap()
    }

    /// Runs and must succeed; what it says to people.
    fn done(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", stderr(&output));
        stderr(&output)
    }

    /// Runs and must be refused with all these parts; nothing on stdout.
    fn refused(&self, arguments: &[&str], parts: &[&str]) {
        let output = self.run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", stderr(&output));
        assert!(output.stdout.is_empty());
        for part in parts {
            assert!(stderr(&output).contains(part), "no `{part}` in: {}", stderr(&output));
        }
    }
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_clear_table_gets_a_job_that_runs_as_it_is() {
    let folder = Folder::with_data();
    let said = folder.done(&["init", "data.csv", "-k", "3"]);
    for part in [
        "60 rows and 4 columns",
        "quasi-identifier",
        "age + zip",
        "of rows are alone",
        "incog anonymize incog.toml",
    ] {
        assert!(said.contains(part), "no `{part}` in: {said}");
    }
    let job = folder.read("incog.toml");
    for part in
        ["k = 3 ", "path = \"data.csv\"", "path = \"data.release.csv\"", "mask = \"right\"", "top = 90"]
    {
        assert!(job.contains(part), "no `{part}` in: {job}");
    }
    folder.done(&["anonymize", "incog.toml"]);
    assert!(folder.read("data.release.csv").starts_with("age,zip,illness\n"));
}

#[test]
fn a_job_that_is_there_is_replaced_by_force_only_and_the_data_never() {
    let folder = Folder::with_data();
    folder.write("incog.toml", "mine");
    folder.refused(&["init", "data.csv"], &["`incog.toml` is there already", "--force"]);
    assert_eq!(folder.read("incog.toml"), "mine");
    folder.done(&["init", "data.csv", "--force"]);
    assert_ne!(folder.read("incog.toml"), "mine");
    let data = folder.read("data.csv");
    folder.refused(&["init", "data.csv", "-o", "data.csv", "--force"], &["would replace the data"]);
    folder.refused(&["init", "data.csv", "-o", "none/job.toml"], &["its folder does not exist"]);
    folder.refused(&["init", "data.csv", "-o", "new.toml", "-k", "0"], &["error: k"]);
    folder.refused(&["init", "data.csv", "-o", "new.toml", "-k", "9999999999999999999"], &["k is too large"]);
    assert_eq!(folder.read("data.csv"), data);
    assert!(!folder.path("new.toml").exists());
}

#[test]
fn paths_are_relative_to_the_job_and_pipes_work() {
    let folder = Folder::with_data();
    std::fs::create_dir(folder.path("jobs")).unwrap();
    folder.done(&["init", "data.csv", "-o", "jobs/mine.toml"]);
    assert!(folder.read("jobs/mine.toml").contains("path = \"../data.csv\""));
    folder.done(&["anonymize", "jobs/mine.toml"]);
    assert!(folder.path("jobs/data.release.csv").exists());

    folder.done(&["init", "data.csv"]);
    let output = folder.run(&["init", "data.csv", "-o", "-"]);
    assert_eq!(String::from_utf8(output.stdout.clone()).unwrap(), folder.read("incog.toml"));
    assert!(stderr(&output).contains("the job is on standard output"));

    let output = folder.run_with_input(&["init", "-", "-o", "jobs/piped.toml"], "data.csv");
    assert!(stderr(&output).contains("incog anonymize jobs/piped.toml < DATA"), "{}", stderr(&output));
    assert!(folder.read("jobs/piped.toml").contains("path = \"-\""));
    let output = folder.run_with_input(&["anonymize", "jobs/piped.toml"], "data.csv");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}

#[test]
fn what_cannot_be_told_waits_for_a_decision_with_the_reason_above() {
    let folder = Folder::with_data();
    let rows: String =
        (0..60).map(|n| format!("{};{};{}\n", n / 3, 20 + n, ["red", "blue"][n % 2])).collect();
    folder.write("visits.csv", &format!("visitor_id;age;colour\n{rows}"));
    let said = folder.done(&["init", "visits.csv"]);
    assert!(said.contains("give the 2 marked `decide` a role"), "{said}");
    let job = folder.read("incog.toml");
    let lines: Vec<&str> = job.lines().collect();
    let at = lines.iter().position(|line| *line == "[columns.visitor_id]").unwrap();
    assert!(lines[at - 1].starts_with("# looks like a person number that repeats"), "{}", lines[at - 1]);
    assert_eq!(lines[at + 1], "role = \"decide\"");
    assert!(job.contains("# unit = \"visitor_id\""), "{job}");
    folder.refused(
        &["anonymize", "incog.toml"],
        &["column `visitor_id` is not decided", "column `colour` is not decided", "comment above"],
    );
    let decided = job
        .replacen("\"decide\"", "\"identifier\"", 1)
        .replacen("\"decide\"", "\"other\"", 1)
        .replace("# unit", "unit");
    folder.write("incog.toml", &decided);
    folder.done(&["anonymize", "incog.toml"]);
}

#[test]
fn shares_of_rows_that_are_alone_are_exact() {
    let folder = Folder::new();
    // By age 2 of 8 rows are alone, by city none, by both 6: the pair stands once unless twice below.
    folder.write("data.csv", "age,city\n20,a\n20,b\n30,a\n30,b\n40,a\n40,a\n50,c\n60,c\n");
    let said = folder.done(&["init", "data.csv"]);
    assert!(said.contains("  age: 25 % of rows are alone"), "{said}");
    assert!(said.contains("  age + city: 75 % of rows are alone"), "{said}");
    assert!(!said.contains("  city: "), "{said}");
}

#[test]
fn unusual_tables_are_taken_or_refused_with_a_reason() {
    let folder = Folder::new();
    let job = |data: &str| {
        folder.write("data.csv", data);
        folder.done(&["init", "data.csv", "--force"]);
        Job::read(&folder.path("incog.toml")).unwrap()
    };
    // One column, one row.
    assert_eq!(job("name\nx\n").columns["name"].role, RoleJob::Decide);
    // Missing everywhere.
    let empty = job("age,note,sex\n,,f\n,,m\n");
    assert_eq!(empty.columns["note"].role, RoleJob::Other);
    assert_eq!(empty.columns["sex"].role, RoleJob::QuasiIdentifier);
    // Names that TOML needs quotes for.
    let names = ["", "a b", "a.b", "say \"\"age\"\"", "größe", "#", "[columns.x]", "'"];
    let header: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
    let strange = job(&format!("{}\n1,2,3,4,5,6,7,8\n1,2,3,5,5,6,7,8\n", header.join(",")));
    let read: Vec<String> = names.iter().map(|name| name.replace("\"\"", "\"")).collect();
    assert_eq!(strange.columns.keys().cloned().collect::<Vec<_>>(), read);
    // Three hundred columns, all of them something outsiders know.
    let header: Vec<String> = (0..300).map(|n| format!("age {n}")).collect();
    let rows: String = (0..40)
        .map(|row| (0..300).map(|at| (row * at % 97).to_string()).collect::<Vec<_>>().join(",") + "\n")
        .collect();
    let wide = job(&format!("{}\n{rows}", header.join(",")));
    let n_known = wide.columns.values().filter(|column| column.role == RoleJob::QuasiIdentifier).count();
    assert!((5..30).contains(&n_known), "{n_known} quasi-identifiers can be searched");
    assert!(wide.columns.values().all(|column| {
        matches!(column.role, RoleJob::QuasiIdentifier | RoleJob::Decide | RoleJob::Other)
    }));

    let refused = |data: &str, parts: &[&str]| {
        folder.write("data.csv", data);
        folder.refused(&["init", "data.csv", "--force"], parts);
    };
    refused("age,sex\n", &["has a header and no rows"]);
    refused("", &["is empty"]);
    refused("age,sex\n1\n", &["line 2"]);
    // Without a header the first person's cells would be taken for names, and shown.
    folder.write("data.csv", "39,Male,Kowalczyk\n40,Male,Smith\n39,Female,Li\n");
    let output = folder.run(&["init", "data.csv", "--force"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("2 of 3 column names look like values"), "{}", stderr(&output));
    assert!(!stderr(&output).contains("Kowalczyk"));
    folder.refused(&["init", "nothing.csv"], &["there is no such file"]);
    folder.refused(&["init", "data.csv", "--delimiter", "ö"], &["the delimiter is"]);
}

#[test]
fn a_delimiter_that_was_named_stands_in_the_job() {
    let folder = Folder::new();
    folder.write("data.csv", "a,age:sex\n1,20:f\n2,20:m\n");
    folder.done(&["init", "data.csv", "--delimiter", ":"]);
    let job = Job::read(&folder.path("incog.toml")).unwrap();
    assert_eq!(job.input.delimiter, Some(':'));
    assert_eq!(job.columns.len(), 2);
}

#[test]
fn the_hospital_gets_a_careful_job_without_a_single_cell() {
    let folder = Folder::new();
    let example = project().join("examples/hospital");
    let data = example.join("discharges.csv");
    let said = folder.done(&["init", data.to_str().unwrap()]);
    let text = folder.read("incog.toml");
    let proposed = Job::read(&folder.path("incog.toml")).unwrap();
    let ours = Job::read(&example.join("incog.toml")).unwrap();
    for (name, column) in &ours.columns {
        let role = proposed.columns[name].role;
        if column.role == RoleJob::QuasiIdentifier {
            assert!(matches!(role, RoleJob::QuasiIdentifier | RoleJob::Decide), "{name}: {role:?}");
        }
        if column.role == RoleJob::Identifier {
            assert!(matches!(role, RoleJob::Identifier | RoleJob::Decide), "{name}: {role:?}");
        }
    }
    for name in ["birth_date", "sex", "zip_code", "admission_date"] {
        assert_eq!(proposed.columns[name].role, RoleJob::QuasiIdentifier, "{name}");
    }
    assert_eq!(proposed.columns["diagnosis"].role, RoleJob::Sensitive);
    assert!(text.contains("# unit = \"patient_id\""));
    let rows = csv_rows(&data, b',');
    // Shorter cells are parts of words and counts.
    for cell in rows[1..].iter().flatten().filter(|cell| cell.len() >= 5) {
        assert!(!text.contains(cell) && !said.contains(cell), "a cell got out");
    }
    // With the decisions made it runs, from wherever the data is.
    let decided = text.replace("\"decide\"", "\"identifier\"");
    folder.write("incog.toml", &decided);
    folder.done(&["anonymize", "incog.toml"]);
    assert!(folder.path("discharges.release.csv").exists());
}

#[test]
fn adult_needs_no_decision() {
    let Some(data) = outside_file("adult/adult.csv") else { return };
    let folder = Folder::new();
    folder.done(&["init", data.to_str().unwrap()]);
    let job = Job::read(&folder.path("incog.toml")).unwrap();
    for (name, column) in &job.columns {
        let expected = if name == "salary_class" { RoleJob::Sensitive } else { RoleJob::QuasiIdentifier };
        assert_eq!(column.role, expected, "{name}");
    }
    folder.done(&["anonymize", "incog.toml"]);
    assert!(folder.read("adult.release.csv").lines().count() > 44_000);
}

/// Names with and without a meaning, easy and hard to quote.
const NAMES: [&str; 22] = [
    "age",
    "birth_date",
    "zip",
    "sex",
    "income",
    "patient_id",
    "name",
    "note",
    "x y",
    "a.b",
    "q\"uote",
    "größe",
    "",
    "weight",
    "year",
    "city",
    "#",
    "flag",
    "latitude",
    "country_code",
    "born",
    "height",
];

/// A cell of one of many sorts.
fn cell(sort: u8, pick: u16) -> String {
    let n = u64::from(pick);
    if n % 11 == 10 {
        return String::new();
    }
    match sort % 18 {
        0 => (n % 90).to_string(),
        1 => format!("-{}", n * 977),
        2 => format!("{}.{:012}", n % 7, n * 7_919),
        3 => format!("{}.{:02}", n % 300, n % 100),
        4 => format!("{:04}-{:02}-{:02}", 1900 + n % 120, 1 + n % 12, 1 + n % 28),
        5 => format!("2003-04-{:02} 10:{:02}", 1 + n % 28, n % 60),
        6 => format!("{:05}", n % 300),
        7 => format!("A{}Z{}", n % 10, n / 10 % 10),
        8 => ["yes", "no"][pick as usize % 2].into(),
        9 => ["red", "green", "blue"][pick as usize % 3].into(),
        10 => format!("came in with {n} complaints"),
        11 => ["old", "young", "17", "23", "42", "90+"][pick as usize % 6].into(),
        12 => "9".repeat(1 + pick as usize % 20),
        13 => "long ".repeat(1 + pick as usize % 80),
        14 => ["\"", "ä,ö", "line\nbreak", "日本", " "][pick as usize % 5].into(),
        15 => format!("{}/{}/2003", 1 + n % 12, 1 + n % 28),
        16 => (1950 + n % 60).to_string(),
        _ => ["*", "(missing)", "+5", "-0", "007", "5*"][pick as usize % 6].into(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Whatever the table, the job is read back, and nothing but open decisions keeps it from running.
    #[test]
    fn every_proposed_job_runs_but_for_decisions(
        names in proptest::sample::subsequence(NAMES.to_vec(), 1..=8),
        sorts in vec(any::<u8>(), 8),
        picks in vec(vec(any::<u16>(), 8), 1..50),
    ) {
        let quote = |cell: &str| format!("\"{}\"", cell.replace('"', "\"\""));
        let line = |cells: Vec<String>| cells.join(",") + "\n";
        let mut data = line(names.iter().map(|name| quote(name)).collect());
        for row in &picks {
            data += &line((0..names.len()).map(|at| quote(&cell(sorts[at], row[at]))).collect());
        }
        let folder = Folder::new();
        folder.write("data.csv", &data);
        let path = folder.path("incog.toml");
        let init = Init::new(&folder.path("data.csv"), Some(','), FirstLine::Names, &Progress::new()).unwrap();
        init.write(&path, 5, Replace::Never).unwrap();
        let plan = |path: &Path| Anonymizer::from_job(Job::read(path).unwrap()).check();
        match plan(&path) {
            Ok(_) => prop_assert_eq!(init.n_undecided(), 0),
            Err(error) => {
                let error = error.to_string();
                prop_assert!(error.lines().all(|line| line.ends_with("is not decided yet")), "{}", error);
                prop_assert_eq!(error.lines().count(), init.n_undecided());
            }
        }
        // What was proposed beside the open decisions is sound too.
        let decided = folder.read("incog.toml").replace("\"decide\"", "\"identifier\"");
        if decided.contains("role = \"quasi-identifier\"") {
            folder.write("incog.toml", &decided);
            prop_assert!(plan(&path).is_ok(), "{:?}", plan(&path).err());
        }
    }
}

/// A table as a program in Germany exports it, in windows-1252.
fn german(folder: &Folder) {
    let mut data = "Name;Geburtsdatum;Age;PLZ;Height;Income\r\n".to_owned();
    for n in 0..60 {
        let (day, month, zip) = (1 + n % 28, 1 + n % 12, [1067, 10115, 80331][n % 3]);
        let age = if n % 10 == 0 { "k.A.".to_owned() } else { (20 + n % 30).to_string() };
        let height = if n % 7 == 0 { "NA".to_owned() } else { format!("1,{}", 50 + n % 40) };
        data += &format!(
            "M\u{fc}ller {n};{day:02}.{month:02}.19{};{age};{zip};{height};1.{:03},50 \r\n",
            50 + n % 40,
            n * 7
        )
        .replace(" \r", "\r");
    }
    let bytes: Vec<u8> = data.chars().map(|character| character as u8).collect();
    std::fs::write(folder.path("export.csv"), bytes).unwrap();
}

#[test]
fn a_table_is_proposed_as_it_is_written() {
    let folder = Folder::new();
    german(&folder);
    folder.refused(&["init", "export.csv"], &["is not UTF-8", "--read encoding=windows-1252"]);
    folder.done(&[
        "init",
        "export.csv",
        "-k",
        "2",
        "--read",
        "encoding=windows-1252",
        "--read",
        "missing=k.A.",
    ]);
    let job = folder.read("incog.toml");
    for part in [
        "encoding = \"windows-1252\"\nmissing = [\"k.A.\"]\n",
        "path = \"export.release.csv\"",
        "hierarchy = { dates = [\"year\", \"decade\"] }\ndate_format = \"%d.%m.%Y\"\n",
        "hierarchy = { intervals = [5, 10, 20], top = 90 }\n",
        "decimal = \",\"\nmissing = [\"k.A.\", \"NA\"]\n",
        "decimal = \",\"\nthousands = \".\"\n",
        "`pad` beside `mask` restores them",
    ] {
        assert!(job.contains(part), "no `{part}` in: {job}");
    }
    assert!(!job.contains("ller"), "a cell got out: {job}");
    folder.write("incog.toml", &job.replace("suppression = \"1%\"", "suppression = \"100%\""));
    folder.done(&["anonymize", "incog.toml"]);
    folder.done(&["verify", "export.release.csv", "--job", "incog.toml"]);
}

#[test]
fn dates_that_nobody_can_tell_apart_wait_for_a_decision_and_floats_get_their_zeros_back() {
    let folder = Folder::new();
    let rows: String = (0..60)
        .map(|n| {
            format!(
                "0{}/0{}/19{},{}.0\n",
                1 + n % 9,
                1 + n % 8,
                50 + n % 40,
                [1001, 1002, 53715, 53716][n % 4]
            )
        })
        .collect();
    folder.write("data.csv", &format!("birth,zip\n{rows}"));
    let said = folder.done(&["init", "data.csv", "-k", "2"]);
    assert!(said.contains("say date_format = \"%d/%m/%Y\" or \"%m/%d/%Y\""), "{said}");
    let job = folder.read("incog.toml");
    assert!(
        job.contains("hierarchy = { mask = \"right\", pad = 5, length = 5, levels = [0, 1, 5] }"),
        "{job}"
    );
    let said = folder.done(&["init", "data.csv", "-k", "2", "--force", "--read", "date_format=%m/%d/%Y"]);
    assert!(!said.contains("decide"), "{said}");
    folder.done(&["anonymize", "incog.toml"]);
    assert!(!folder.read("data.release.csv").contains(".0"), "a zip code is no float");
}
