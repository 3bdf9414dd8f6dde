//! Every door leads to the same release: the command line, a job file through the library, the builder on columns of text, on Arrow
//! record batches and on a file. Bytes of the release and all of the record that does not take the key.

mod folder;

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use folder::Folder;
use incog::{Anonymizer, ErrorKind, Hierarchy, Input, Job, Model};
use proptest::prelude::*;

/// A table of text; the same cells as columns.
#[derive(Debug, Clone)]
struct Text {
    columns: Vec<(&'static str, Vec<String>)>,
}

impl Text {
    fn csv(&self) -> String {
        let names: Vec<&str> = self.columns.iter().map(|(name, _)| *name).collect();
        let mut text = names.join(",") + "\n";
        for row in 0..self.columns[0].1.len() {
            let cells: Vec<&str> = self.columns.iter().map(|(_, cells)| cells[row].as_str()).collect();
            text += &(cells.join(",") + "\n");
        }
        text
    }

    fn input(&self) -> Input {
        Input::columns(self.columns.iter().map(|(name, cells)| (*name, cells)))
    }

    /// Arrow tells missing from empty; here, empty is missing.
    fn batches(&self) -> Vec<RecordBatch> {
        let n_rows = self.columns[0].1.len();
        let half = n_rows / 2;
        let part = |rows: std::ops::Range<usize>| {
            let arrays = self.columns.iter().map(|(name, cells)| {
                let cells = cells[rows.clone()]
                    .iter()
                    .map(|cell| Some(cell.as_str()).filter(|cell| !cell.is_empty()));
                (*name, Arc::new(cells.collect::<StringArray>()) as ArrayRef, true)
            });
            RecordBatch::try_from_iter_with_nullable(arrays).unwrap()
        };
        vec![part(0..half), part(half..n_rows)]
    }
}

/// What a row has of zip, age, sex and illness.
type Picks = (u8, u8, u8, u8);

fn tables() -> impl Strategy<Value = Text> {
    let row = (0_u8..4, 0_u8..8, 0_u8..3, 0_u8..3);
    prop::collection::vec(row, 1..40).prop_map(|rows| {
        let cells = |cell: &dyn Fn(&Picks) -> String| rows.iter().map(cell).collect::<Vec<_>>();
        let zips = ["53715", "53703", "02139", ""];
        Text {
            columns: vec![
                ("name", (0..rows.len()).map(|at| format!("p{at}")).collect()),
                ("zip", cells(&|row| zips[usize::from(row.0)].to_owned())),
                ("age", cells(&|row| if row.1 == 0 { String::new() } else { (20 + 5 * row.1).to_string() })),
                ("sex", cells(&|row| ["m", "f", ""][usize::from(row.2)].to_owned())),
                ("ill", cells(&|row| ["flu", "cold", "none"][usize::from(row.3)].to_owned())),
            ],
        }
    })
}

/// What is asked for: k, rows that may be left out, an algorithm, and whether a model is required.
type Asked = (u64, u8, Option<&'static str>, bool);

fn builder(
    input: impl Into<Input>,
    (k, suppression, algorithm, requires): Asked,
) -> incog::Result<Anonymizer> {
    let mut builder = Anonymizer::new(input)
        .identifier("name")
        .quasi_identifier("zip", Hierarchy::mask_right().length(5))
        .quasi_identifier("age", Hierarchy::intervals([5, 10, 20]).top(50))
        .quasi_identifier("sex", Hierarchy::suppress())
        .sensitive("ill")
        .k(k)
        .suppression(&format!("{suppression}%"))?
        .keep_order();
    if let Some(algorithm) = algorithm {
        builder = builder.algorithm(algorithm);
    }
    Ok(if requires { builder.require(Model::alpha_k("ill", "2/3")?) } else { builder })
}

/// The release as bytes and the record without what takes the key; or why there is none.
fn through_library(anonymizer: Anonymizer, to: &Folder) -> Result<(String, incog::Record), incog::Error> {
    let anonymizer = anonymizer.key_file(to.path("no.key"));
    let release = anonymizer.anonymize()?;
    let record = release.record().unwrap();
    let path = to.path("library.csv");
    let written = release.write(&path).unwrap().expect("a record is written");
    let text = std::fs::read_to_string(&path).unwrap();
    let sealed = incog::Record::read(&written, incog::Trust::default()).unwrap();
    assert_eq!(sealed.first_difference(&record), None, "the record in memory is the one beside the file");
    for file in [path, written, to.path("no.key")] {
        std::fs::remove_file(file).unwrap();
    }
    Ok((text, record))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn every_door_gives_the_same_release(
        table in tables(),
        k in 1_u64..6,
        suppression in prop::sample::select(vec![0_u8, 10, 50]),
        algorithm in prop::sample::select(vec![
            None, None, Some("incognito"), Some("datafly"), Some("full-subtree"), Some("mondrian"), Some("top-down"),
        ]),
        requires in any::<bool>(),
    ) {
        let asked = (k.min(table.columns[0].1.len() as u64), suppression, algorithm, requires);
        let folder = Folder::empty();
        folder.write("data.csv", table.csv());
        let file = builder(folder.path("data.csv").as_path(), asked).unwrap();
        let toml = file.to_job().unwrap();
        folder.write("incog.toml", &toml);
        let by_columns = through_library(builder(table.input(), asked).unwrap(), &folder);
        let by_batches = through_library(builder(table.batches(), asked).unwrap(), &folder);
        let by_file = through_library(file, &folder);
        let job = Job::read(&folder.path("incog.toml")).unwrap();
        let by_job = through_library(Anonymizer::from_job(job), &folder);
        let said = folder.run(&["anonymize", "incog.toml", "-o", "cli.csv"]);
        let by_command = match said.code {
            Some(0) => {
                let record = incog::Record::read(&folder.path("cli.csv.incog.json"), incog::Trust::default()).unwrap();
                Ok((folder.read("cli.csv"), record))
            }
            code => Err(code),
        };
        for (door, found) in [("columns", &by_columns), ("batches", &by_batches), ("file", &by_file), ("job", &by_job)] {
            match (found, &by_command) {
                (Ok((text, record)), Ok((expected, sealed))) => {
                    prop_assert_eq!(text, expected, "{}", door);
                    let difference = sealed.first_difference(record);
                    // Where the data and the output are is not in a record, but how they are named in the job is its digest.
                    prop_assert_eq!(difference, None, "{}", door);
                }
                (Err(error), Err(code)) => {
                    let expected = if error.kind() == ErrorKind::Impossible { 1 } else { 2 };
                    prop_assert_eq!(*code, Some(expected), "{} {:?}", door, error);
                    let told = match std::error::Error::source(error) {
                        Some(obstacle) => obstacle.to_string(),
                        None => error.to_string(),
                    };
                    let told = told.rsplit("incog.toml`: ").next().unwrap();
                    prop_assert!(said.stderr.contains(told), "{}: {} {}", door, told, said.stderr);
                }
                _ => prop_assert!(false, "{} {:?} {:?}", door, found.is_ok(), by_command.is_ok()),
            }
        }
    }
}

/// What the builder says of itself, which a job says with a line in front.
#[track_caller]
fn same_mistake(builder: Anonymizer, job: &str) {
    let by_builder = builder.anonymize().unwrap_err();
    let folder = Folder::empty();
    folder.write("data.csv", "age,sex\n34,m\n36,f\n");
    folder.write("incog.toml", format!("[input]\npath = \"data.csv\"\n{job}"));
    let by_job = Job::read(&folder.path("incog.toml"))
        .and_then(|job| Anonymizer::from_job(job).anonymize().map(|_| ()));
    let by_job = by_job.unwrap_err().to_string();
    // `line 4 of `incog.toml`: `, or nothing.
    let without_line = by_job.split_once("incog.toml`: ").map_or(by_job.as_str(), |(_, rest)| rest);
    assert_eq!(by_builder.to_string(), without_line);
    assert!(!by_builder.to_string().contains("line "), "{by_builder}");
}

fn two_people() -> Anonymizer {
    Anonymizer::new([("age", vec!["34", "36"]), ("sex", vec!["m", "f"])])
}

#[test]
fn what_is_wrong_with_a_call_is_what_is_wrong_with_a_job() {
    let suppress = Hierarchy::suppress;
    same_mistake(
        two_people().other("age").other("sex").k(2),
        "[policy]\nk = 2\n[columns]\nage.role = \"other\"\nsex.role = \"other\"\n",
    );
    let quasi = "[columns]\nage = { role = \"quasi-identifier\", hierarchy = { suppress = true } }\nsex.role = \"other\"\n";
    same_mistake(
        two_people().quasi_identifier("age", suppress()).other("sex").k(0),
        &format!("[policy]\nk = 0\n{quasi}"),
    );
    same_mistake(
        two_people().quasi_identifier("age", suppress()).other("sex").other("zip").k(2),
        &format!("[policy]\nk = 2\n{quasi}zip.role = \"other\"\n"),
    );
    same_mistake(
        two_people().quasi_identifier("age", suppress()).k(2),
        "[policy]\nk = 2\n[columns]\nage = { role = \"quasi-identifier\", hierarchy = { suppress = true } }\n",
    );
    same_mistake(
        two_people().quasi_identifier("age", suppress()).other("sex").k(2).metric("los"),
        &format!("[policy]\nk = 2\n[search]\nmetric = \"los\"\n{quasi}"),
    );
    same_mistake(
        two_people()
            .quasi_identifier("age", suppress())
            .sensitive("sex")
            .k(2)
            .require(Model::distinct_l("age", 2)),
        "[policy]\nk = 2\n[[policy.require]]\nmodel = \"distinct-l\"\nsensitive = \"age\"\nl = 2\n\
         [columns]\nage = { role = \"quasi-identifier\", hierarchy = { suppress = true } }\nsex.role = \"sensitive\"\n",
    );
}

#[test]
fn what_only_a_call_can_get_wrong_is_told_too() {
    let said = |builder: Anonymizer| builder.anonymize().unwrap_err().to_string();
    let twice = two_people().quasi_identifier("age", Hierarchy::suppress()).other("age").other("sex").k(2);
    assert_eq!(said(twice), "column `age` is declared twice");
    let without_k = two_people().quasi_identifier("age", Hierarchy::suppress()).other("sex");
    assert_eq!(said(without_k), "`policy.k` is missing");
    let uneven = Anonymizer::new([("age", vec!["34"]), ("sex", vec!["m", "f"])]);
    let uneven = uneven.quasi_identifier("age", Hierarchy::suppress()).other("sex").k(1);
    assert_eq!(said(uneven), "column `sex` has 2 rows, column `age` has 1");
    let named_alike = Anonymizer::new([("age", vec!["34"]), ("age", vec!["35"])])
        .quasi_identifier("age", Hierarchy::suppress())
        .k(1);
    assert_eq!(said(named_alike), "the table: columns 1 and 2 have the same name");
    let empty =
        Anonymizer::new([("age", Vec::<&str>::new())]).quasi_identifier("age", Hierarchy::suppress()).k(1);
    assert_eq!(said(empty), "the table has no rows");
    assert!(two_people().suppression("a bit").is_err());
    let order = two_people()
        .order("age", incog::unstable::job::OrderJob::Word(incog::unstable::job::OrderWord::Numbers))
        .k(1);
    assert_eq!(said(order), "an order is given for `age`, which is not declared");
}

#[test]
fn rows_of_a_release_in_memory_are_shuffled_once_and_then_stay() {
    let ids: Vec<String> = (0..200).map(|at| at.to_string()).collect();
    let table = [("id", ids.clone()), ("sex", vec!["m".to_owned(); 200])];
    let anonymizer = Anonymizer::new(table)
        .other("id")
        .quasi_identifier("sex", Hierarchy::suppress())
        .k(2)
        .without_record();
    let release = anonymizer.clone().anonymize().unwrap();
    let order: Vec<&str> = release.column("id").unwrap().into_iter().flatten().collect();
    assert_ne!(order, ids, "one of 200! orders");
    let folder = Folder::empty();
    release.write(folder.path("release.csv")).unwrap();
    let written = folder.read("release.csv");
    let written: Vec<&str> = written.lines().skip(1).filter_map(|line| line.split(',').next()).collect();
    assert_eq!(written, order);
    let kept = anonymizer.keep_order().anonymize().unwrap();
    assert!(kept.column("id").unwrap().into_iter().flatten().eq(ids.iter().map(String::as_str)));
}

#[test]
fn a_policy_that_nothing_satisfies_is_an_error_of_its_own_kind() {
    let error = two_people()
        .quasi_identifier("age", Hierarchy::suppress())
        .quasi_identifier("sex", Hierarchy::suppress().levels([0]));
    let error = error.k(2).anonymize().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Impossible);
    assert_eq!(error.to_string(), "nothing satisfies 2-anonymity");
    let obstacle = std::error::Error::source(&error).unwrap().to_string();
    assert!(obstacle.starts_with("closest: "), "{obstacle}");
}
