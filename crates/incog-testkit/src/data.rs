//! Data that is not ours to commit.
//!
//! Rows that came from outside are read from the folder named by `INCOG_DATA`, or from `../shared/data` beside
//! the project. A test that needs them and does not find them is skipped, and says so where somebody sees it
//! ([`skipped`]).

use std::path::{Path, PathBuf};

use crate::{Sample, SampleColumn, skipped};

/// The project's folder.
pub fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the project's folder exists")
}

/// A file of the data folder, if it is there; otherwise says that the test is skipped.
pub fn outside_file(path: &str) -> Option<PathBuf> {
    let folder =
        std::env::var_os("INCOG_DATA").map_or_else(|| project().join("../shared/data"), PathBuf::from);
    let file = folder.join(path);
    if file.exists() {
        return Some(file);
    }
    skipped(&format!("needs {path}; set INCOG_DATA to the folder that has it"));
    None
}

/// A CSV file as rows of strings, header first.
pub fn csv_rows(path: &Path, delimiter: u8) -> Vec<Vec<String>> {
    let mut reader =
        csv::ReaderBuilder::new().delimiter(delimiter).has_headers(false).from_path(path).unwrap();
    reader.records().map(|row| row.unwrap().iter().map(str::to_owned).collect()).collect()
}

/// The table in a CSV file with the hierarchies of a folder (`<column>.csv`), its columns in file order.
pub fn table_with_hierarchies(table: &Path, hierarchies: &Path) -> Sample {
    let rows = csv_rows(table, b',');
    let columns = rows[0].iter().enumerate().filter_map(|(at, name)| {
        let hierarchy = hierarchies.join(format!("{name}.csv"));
        hierarchy.exists().then(|| SampleColumn {
            name: name.clone(),
            hierarchy: csv_rows(&hierarchy, b';'),
            cells: rows[1..].iter().map(|row| row[at].clone()).collect(),
        })
    });
    Sample::new(columns.collect())
}
