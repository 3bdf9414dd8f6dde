//! The bundled hospital example: its data is what its generator makes, and its job does what the comments say.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use incog_testkit::data::{csv_rows, project};
use incog_testkit::skipped;

fn example(file: &str) -> PathBuf {
    project().join("examples/hospital").join(file)
}

fn incog(arguments: &[&Path]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_incog")).args(arguments).output().unwrap()
}

#[test]
fn the_generator_reproduces_the_data_byte_for_byte() {
    let Ok(made) = Command::new("python3").arg(example("generate.py")).output() else {
        return skipped("needs python3");
    };
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let data = std::fs::read(example("discharges.csv")).unwrap();
    assert!(
        made.stdout == data,
        "generate.py makes {} bytes, the file has {}",
        made.stdout.len(),
        data.len()
    );
}

#[test]
fn the_job_releases_something_useful_without_identifiers_and_the_release_verifies() {
    let folder = tempfile::tempdir().unwrap();
    let release = folder.path().join("discharges.release.csv");
    let job = example("incog.toml");
    let output = incog(&[Path::new("anonymize"), &job, Path::new("-o"), &release]);
    let summary = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{summary}");
    assert!(!summary.contains("fully generalized"), "no column is lost: {summary}");
    assert!(summary.contains("sex: as collected"), "{summary}");

    let rows = csv_rows(&release, b',');
    assert!(rows.len() > 3_700);
    for identifier in ["patient_id", "name"] {
        assert!(!rows[0].contains(&identifier.to_owned()), "{identifier} is released");
    }
    let column = |name: &str| rows[0].iter().position(|column| column == name).unwrap();
    assert!(
        rows[1..].iter().all(|row| row[column("zip_code")].ends_with("**")),
        "three digits and two stars"
    );
    assert!(rows[1..].iter().all(|row| row[column("birth_date")].ends_with("0s")), "decades");

    let output = incog(&[Path::new("verify"), &release, Path::new("--job"), &job]);
    let report = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{report}");
    assert!(report.contains("every group has at least 5 persons"), "{report}");
}

#[test]
fn the_university_is_what_its_generator_makes() {
    let folder = tempfile::tempdir().unwrap();
    let generator = project().join("bench/gen_students.py");
    let made = Command::new("python3")
        .arg(generator)
        .args(["--students", "500", "--out"])
        .arg(folder.path())
        .output();
    let Ok(made) = made else {
        return skipped("needs python3");
    };
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    for file in ["student.csv", "takes.csv", "book.csv", "dgh/course.csv", "dgh/book.csv"] {
        let [made, bundled] = [folder.path().to_owned(), project().join("examples/university")]
            .map(|folder| std::fs::read(folder.join(file)).unwrap());
        assert!(made == bundled, "{file} is not what gen_students.py makes");
    }
}
