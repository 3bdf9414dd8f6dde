//! One table from one file, several files or a folder.

use std::path::{Path, PathBuf};

use incog_core::table::{Column, Role, Table};
use incog_core::{Error, Result, Watch};

use crate::source::csv::Csv;
use crate::source::{STANDARD, table_of, unreadable};

/// Name endings of data files, as they are looked for in folders.
const ENDINGS: [&str; 8] = [".csv", ".csv.gz", ".csv.zst", ".tsv", ".tsv.gz", ".tsv.zst", ".parquet", ".txt"];

/// What a table is made of, its header known and its rows not yet read.
#[derive(Debug)]
pub struct Data {
    files: Vec<PathBuf>,
    header: Vec<String>,
    format: Format,
    first: Reader,
    delimiter: Option<u8>,
}

/// How the cells of a table are written.
#[derive(Debug, Clone, PartialEq)]
pub enum Format {
    /// CSV.
    Csv {
        /// What separates the fields.
        delimiter: u8,
    },
}

#[derive(Debug)]
enum Reader {
    Csv(Box<Csv>),
}

impl Data {
    /// Opens files and folders, which together are one table; without a delimiter, CSV files have their header's most
    /// frequent one.
    pub fn open(paths: &[PathBuf], delimiter: Option<u8>) -> Result<Self> {
        let mut files = Vec::new();
        for path in paths {
            if path.is_dir() {
                files.extend(files_of(path)?);
            } else {
                files.push(path.clone());
            }
        }
        let Some(path) = files.first() else {
            return Err(Error::input("no data file is given"));
        };
        if files.len() > 1 && files.iter().any(|path| path.as_os_str() == STANDARD) {
            return Err(Error::input("standard input cannot be one of several data files"));
        }
        let first = Reader::open(path, delimiter)?;
        Ok(Data { header: first.header().to_vec(), format: first.format(), first, files, delimiter })
    }

    /// The columns' names.
    pub fn header(&self) -> &[String] {
        &self.header
    }

    /// How the cells are written.
    pub fn format(&self) -> &Format {
        &self.format
    }

    /// The files, in the order in which they are read.
    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// All rows of all files, with a role for each column. Stops when the watch is cancelled.
    pub fn read(self, role: impl Fn(&str) -> Role, watch: &Watch) -> Result<Table> {
        let mut columns: Vec<Column> =
            self.header.iter().map(|name| Column::new(name.clone(), role(name))).collect();
        let (mut first, header) = (Some(self.first), self.header);
        for path in &self.files {
            let reader = match first.take() {
                Some(first) => first,
                None => Reader::open(path, self.delimiter)?,
            };
            if reader.header() != header {
                return Err(Error::input(format!(
                    "data file `{}` has other columns than `{}`",
                    path.display(),
                    self.files[0].display()
                ))
                .with_hint("all files of one table need the same columns in the same order"));
            }
            if !reader.format().can_follow(&self.format) {
                return Err(Error::input(format!(
                    "data file `{}` has columns of other types than `{}`",
                    path.display(),
                    self.files[0].display()
                )));
            }
            reader.read_into(&mut columns, watch)?;
        }
        columns.iter_mut().for_each(Column::shrink);
        table_of(columns, &self.files[0].display().to_string())
    }
}

impl Format {
    /// Can a file of this format be one table with files of another?
    fn can_follow(&self, first: &Format) -> bool {
        match (self, first) {
            (Format::Csv { .. }, Format::Csv { .. }) => true,
        }
    }
}

impl Reader {
    fn open(path: &Path, delimiter: Option<u8>) -> Result<Self> {
        Ok(Reader::Csv(Box::new(Csv::open(path, delimiter)?)))
    }

    fn header(&self) -> &[String] {
        match self {
            Reader::Csv(csv) => csv.header(),
        }
    }

    fn format(&self) -> Format {
        match self {
            Reader::Csv(csv) => Format::Csv { delimiter: csv.delimiter() },
        }
    }

    fn read_into(self, columns: &mut [Column], watch: &Watch) -> Result<()> {
        match self {
            Reader::Csv(csv) => csv.read_into(columns, watch),
        }
    }
}

/// The data files of a folder, by name. Files whose names start with `.` or `_` are not data; any other file that is
/// none is an error, because leaving out rows silently would be worse.
fn files_of(folder: &Path) -> Result<Vec<PathBuf>> {
    let failed = |error: std::io::Error| unreadable(folder, "the data folder", &error.to_string());
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with(['.', '_']) {
            continue;
        }
        let is_data = ENDINGS.iter().any(|ending| name.to_lowercase().ends_with(ending));
        if !is_data || entry.path().is_dir() {
            return Err(Error::input(format!(
                "the data folder `{}` contains `{name}`, which is no data file",
                folder.display()
            ))
            .with_hint(format!("data files end in {}", ENDINGS.join(", "))));
        }
        files.push(entry.path());
    }
    files.sort();
    if files.is_empty() {
        return Err(Error::input(format!("the data folder `{}` has no data files", folder.display())));
    }
    Ok(files)
}
