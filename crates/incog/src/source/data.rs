//! One table from one file, several files or a folder.
//!
//! Files whose names end in `.parquet` are Parquet, if incog was built with it; all others are CSV.

use std::path::{Path, PathBuf};

use incog_core::table::{Column, Role, Table};
use incog_core::{Error, Progress, Result, Stage};
#[cfg(feature = "parquet")]
use incog_parquet::{ColumnType, Parquet};

use crate::file::{PACKED_PARQUET, STANDARD, Stamps, is_packed_parquet, is_parquet, unreadable};
#[cfg(feature = "parquet")]
use crate::source::checked_header;
use crate::source::csv::{Csv, TakesParts};
use crate::source::spill::{Memory, Spilled, Spiller};
use crate::source::with_rows;

/// Name endings of data files, as they are looked for in folders.
const ENDINGS: [&str; 8] = [".csv", ".csv.gz", ".csv.zst", ".tsv", ".tsv.gz", ".tsv.zst", ".parquet", ".txt"];

/// What a table is made of, its header known and its rows not yet read.
#[derive(Debug)]
pub struct Data {
    files: Vec<PathBuf>,
    header: Vec<String>,
    first: Reader,
    delimiter: Option<u8>,
    /// All files as they were before any was opened.
    stamps: Stamps,
}

/// How the cells of a table are written.
#[derive(Debug, Clone, PartialEq)]
pub enum Format {
    /// CSV.
    Csv {
        /// What separates the fields.
        delimiter: u8,
    },
    /// Parquet.
    #[cfg(feature = "parquet")]
    Parquet {
        /// The type of each column.
        types: Vec<ColumnType>,
    },
}

#[derive(Debug)]
enum Reader {
    Csv(Box<Csv>),
    #[cfg(feature = "parquet")]
    Parquet(Box<Parquet>),
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
        let stamps = Stamps::of(files.iter().map(PathBuf::as_path));
        let first = Reader::open(path, delimiter)?;
        Ok(Data { header: first.header().to_vec(), first, files, delimiter, stamps })
    }

    /// The files as they were before any was opened.
    pub(crate) fn stamps(&self) -> Stamps {
        self.stamps.clone()
    }

    /// The columns' names.
    pub fn header(&self) -> &[String] {
        &self.header
    }

    /// The files, in the order in which they are read.
    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// All rows of all files, with a role for each column, and how the cells were written. A table without rows is
    /// refused. Stops when it is cancelled.
    pub fn read(self, role: impl Fn(&str) -> Role, progress: &Progress) -> Result<(Table, Format)> {
        let file = self.files[0].display().to_string();
        let (table, format) = self.read_even_empty(role, progress)?;
        Ok((with_rows(table, &file)?, format))
    }

    /// The same with so much memory: what does not fit is spilled.
    pub(crate) fn read_within(
        self,
        memory: Memory,
        role: impl Fn(&str) -> Role,
        progress: &Progress,
    ) -> Result<(Table, Format, Option<Spilled>)> {
        let file = self.files[0].display().to_string();
        let mut spiller = Spiller::new(memory, self.header.len());
        let rows_at_a_time = spiller.rows_at_a_time();
        let (columns, format) =
            self.read_columns(role, rows_at_a_time, progress, &mut |columns| spiller.take(columns))?;
        let (table, spilled) = spiller.finish(columns)?;
        Ok((with_rows(table, &file)?, format, spilled))
    }

    /// All rows of a table that may have none.
    pub(crate) fn read_even_empty(
        self,
        role: impl Fn(&str) -> Role,
        progress: &Progress,
    ) -> Result<(Table, Format)> {
        let (mut columns, format) = self.read_columns(role, usize::MAX, progress, &mut |_| Ok(()))?;
        columns.iter_mut().for_each(Column::shrink);
        Ok((Table::new(columns)?, format))
    }

    /// Fills columns some rows at a time; `each` is shown them after each part.
    fn read_columns(
        self,
        role: impl Fn(&str) -> Role,
        rows_at_a_time: usize,
        progress: &Progress,
        each: &mut TakesParts<'_>,
    ) -> Result<(Vec<Column>, Format)> {
        progress.enter(Stage::Reading);
        let mut columns: Vec<Column> =
            self.header.iter().map(|name| Column::new(name.clone(), role(name))).collect();
        let mut first = Some(self.first);
        let mut format: Option<Format> = None;
        for path in &self.files {
            let reader = match first.take() {
                Some(first) => first,
                None => Reader::open(path, self.delimiter)?,
            };
            let differs = |what: &str| {
                Error::input(format!(
                    "data file `{}` has other {what} than `{}`",
                    path.display(),
                    self.files[0].display()
                ))
                .with_hint(
                    "all files of one table need the same columns in the same order, and the same types",
                )
            };
            if reader.header() != self.header {
                return Err(differs("columns"));
            }
            let read = reader.read_into(&mut columns, rows_at_a_time, progress, each)?;
            format = Some(match format {
                None => read,
                Some(format) => format.joined(read).ok_or_else(|| differs("types"))?,
            });
        }
        // One after the other they were whole; together, too.
        self.stamps.check("the data file")?;
        let format = format.ok_or_else(|| Error::input("no data file is given"))?;
        Ok((columns, format))
    }
}

impl Format {
    /// What separates fields, if that is known.
    pub(crate) fn delimiter(&self) -> Option<u8> {
        match self {
            Format::Csv { delimiter } => Some(*delimiter),
            #[cfg(feature = "parquet")]
            Format::Parquet { .. } => None,
        }
    }

    /// The format of a table in several files; `None` if files of these formats are no table.
    fn joined(self, next: Format) -> Option<Format> {
        match (self, next) {
            (Format::Csv { delimiter }, Format::Csv { .. }) => Some(Format::Csv { delimiter }),
            #[cfg(feature = "parquet")]
            (Format::Parquet { types }, Format::Parquet { types: next }) => {
                (types == next).then_some(Format::Parquet { types })
            }
            #[cfg(feature = "parquet")]
            _ => None,
        }
    }
}

impl Reader {
    fn open(path: &Path, delimiter: Option<u8>) -> Result<Self> {
        if is_parquet(path) {
            return Reader::open_parquet(path);
        }
        if is_packed_parquet(path) {
            return Err(unreadable(path, "the data file", "it is Parquet, compressed once more")
                .with_hint(PACKED_PARQUET));
        }
        Ok(Reader::Csv(Box::new(Csv::open(path, delimiter)?)))
    }

    #[cfg(feature = "parquet")]
    fn open_parquet(path: &Path) -> Result<Self> {
        let parquet = Parquet::open(path)?;
        checked_header(&format!("data file `{}`", path.display()), parquet.header())?;
        Ok(Reader::Parquet(Box::new(parquet)))
    }

    #[cfg(not(feature = "parquet"))]
    fn open_parquet(path: &Path) -> Result<Self> {
        Err(unreadable(path, "the data file", "this incog was built without Parquet"))
    }

    fn header(&self) -> &[String] {
        match self {
            Reader::Csv(csv) => csv.header(),
            #[cfg(feature = "parquet")]
            Reader::Parquet(parquet) => parquet.header(),
        }
    }

    fn read_into(
        self,
        columns: &mut [Column],
        rows_at_a_time: usize,
        progress: &Progress,
        each: &mut TakesParts<'_>,
    ) -> Result<Format> {
        match self {
            Reader::Csv(csv) => {
                let delimiter = csv.delimiter();
                csv.read_parts(columns, rows_at_a_time, progress, each)?;
                Ok(Format::Csv { delimiter })
            }
            #[cfg(feature = "parquet")]
            Reader::Parquet(parquet) => {
                Ok(Format::Parquet { types: parquet.read_parts(columns, rows_at_a_time, progress, each)? })
            }
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
