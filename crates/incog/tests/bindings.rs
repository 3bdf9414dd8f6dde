//! What bindings for other languages stand on: obstacles as data, releases and profiles of tables in memory, databases of tables in memory,
//! and releases that go to another thread.

use std::collections::BTreeMap;
use std::sync::Arc;

use incog::{Anonymizer, AnyJob, ErrorKind, Hierarchy, Init, Progress, ReleaseRecoding, Verifier};
use serde_json::Value;

const ZIPS: [&str; 4] = ["53715", "53715", "53703", "53706"];

fn by_zip() -> Anonymizer {
    Anonymizer::new([("zip", ZIPS.to_vec()), ("ill", vec!["flu", "cold", "flu", "none"])])
        .quasi_identifier("zip", Hierarchy::mask_right())
        .sensitive("ill")
        .k(2)
        .keep_order()
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn what_stands_in_the_way_is_data_and_says_what_the_message_says() {
    let error = by_zip().k(5).anonymize().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Impossible);
    let data = json(error.data().unwrap());
    assert_eq!((&data["refused_rows"], &data["rows"], &data["budget"]), (&4.into(), &4.into(), &0.into()));
    let message = std::error::Error::source(&error).unwrap().to_string();
    for (column, level) in data["levels"].as_object().unwrap() {
        assert!(message.contains(&format!("{column}={level}")), "{message}");
    }
    assert!(by_zip().k(0).anonymize().unwrap_err().data().is_none());
}

#[test]
fn a_release_in_memory_is_checked_against_its_data_and_a_forged_one_is_found() {
    let release = by_zip().anonymize().unwrap();
    let column = |name: &str| -> Vec<String> {
        release.column(name).unwrap().into_iter().map(|cell| cell.unwrap_or("").to_owned()).collect()
    };
    let released = vec![("zip", column("zip")), ("ill", column("ill"))];
    assert!(Verifier::of_table(released.clone()).against(by_zip()).verify().unwrap().holds());
    let mut forged = released;
    forged[1].1[0] = "plague".to_owned();
    assert!(!Verifier::of_table(forged.clone()).against(by_zip()).verify().unwrap().holds());
    let error = Verifier::of_table(forged).record("release.incog.json").verify().unwrap_err();
    assert!(error.to_string().starts_with("a record is of a file"), "{error}");
}

#[test]
fn a_recoding_that_was_kept_does_the_same() {
    let recoding = by_zip().anonymize().unwrap().recoding().unwrap();
    assert_eq!(recoding.levels(), &BTreeMap::from([("zip".to_owned(), 1)]));
    let kept = ReleaseRecoding::of_job(&recoding.to_job().unwrap(), recoding.levels().clone()).unwrap();
    // A longer value of other rows does not change what a level is.
    let others = [("zip", vec!["53711", "53712"]), ("ill", vec!["flu", "none"])];
    let release = kept.apply(others, &Arc::default()).unwrap();
    assert_eq!(release.column("zip").unwrap(), [Some("5371*"); 2]);
    let wrong = BTreeMap::from([("town".to_owned(), 1)]);
    let error = ReleaseRecoding::of_job(&recoding.to_job().unwrap(), wrong)
        .unwrap()
        .apply([("zip", vec!["1"]), ("ill", vec!["flu"])], &Arc::default())
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Input);
    let local = by_zip().algorithm("top-down").anonymize().unwrap().recoding().unwrap_err();
    assert_eq!(local.kind(), ErrorKind::Policy);
}

#[test]
fn a_profile_as_json_has_no_cell() {
    let table = [("zip", ZIPS.to_vec()), ("ill", vec!["flu", "cold", "flu", "none"])];
    let said = Init::of_table(table, &Progress::new()).unwrap().to_json();
    assert_eq!(json(&said)["columns"][0]["distinct"], 3);
    assert!(!said.contains("53715") && !said.contains("cold"), "{said}");
}

const DATABASE: &str = "[database]\nperson = \"student\"\nrecord = false\n[policy]\nk = 2\n\
    [tables.student]\npath = \"-\"\nkey = \"id\"\ncolumns.town = { role = \"quasi-identifier\" }\n\
    [tables.takes]\npath = \"-\"\nparent = { table = \"student\", column = \"id\" }\ncolumns.course = { role = \"quasi-identifier\" }\n";

fn database(folder: &std::path::Path) -> Anonymizer {
    let mut job = AnyJob::parse(DATABASE).unwrap();
    job.set_output(folder.join("release"));
    Anonymizer::from_job(job)
        .table_data("student", [("id", vec!["1", "2"]), ("town", vec!["Ulm", "Ulm"])])
        .table_data("takes", [("id", vec!["1", "2"]), ("course", vec!["logic", "logic"])])
}

#[test]
fn tables_of_a_database_come_from_memory() {
    let folder = tempfile::tempdir().unwrap();
    let published = database(folder.path()).publish().unwrap();
    assert_eq!((published.report.rows, published.report.suppressed_rows), (2, 0));
    assert!(folder.path().join("release/takes.csv").exists());
    assert!(database(folder.path()).verify(folder.path().join("release")).unwrap().holds());
    let error = database(folder.path()).table_data("studnt", [("id", vec!["1"])]).publish().unwrap_err();
    assert!(error.to_string().ends_with("did you mean `student`?"), "{error}");
    let error = by_zip().table_data("student", [("id", vec!["1"])]).anonymize().unwrap_err();
    assert!(error.to_string().contains("about one table"), "{error}");
}

#[test]
fn writing_of_a_release_is_cancelled_by_whom_it_is_told_and_goes_to_another_thread() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.csv");
    let mut release = by_zip().without_record().anonymize().unwrap();
    let progress = Arc::new(Progress::new());
    progress.cancel();
    release.set_progress(&progress);
    let (release, error) = std::thread::spawn({
        let path = path.clone();
        move || {
            let error = release.write(&path).unwrap_err();
            (release, error)
        }
    })
    .join()
    .unwrap();
    assert_eq!(error.kind(), ErrorKind::Cancelled);
    assert!(!path.exists());
    let mut release = release;
    release.set_progress(&Arc::default());
    release.write(&path).unwrap();
    assert!(path.exists());
}
