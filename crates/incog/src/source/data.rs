//! One table from one file, several files or a folder.
//!
//! What format a file has is said by its name, or by the job ([`FileFormat`]). Text and Parquet are read in parts; the others at once.

use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};

use incog_core::table::{Column, Role, Table};
use incog_core::value::Notation;
use incog_core::{Error, Progress, Result, Stage};
#[cfg(feature = "parquet")]
use incog_parquet::{ColumnType, Parquet};

use crate::file::format::{Use, endings};
use crate::file::{FileFormat, Packing, STANDARD, Stamps, unreadable};
use crate::job::Job;
#[cfg(feature = "parquet")]
use crate::source::checked_header;
use crate::source::csv::{Csv, TakesParts};
use crate::source::options::{Dialect, ReadOptions, Readings};
use crate::source::spill::{Memory, Spilled, Spiller};
use crate::source::whole::{self, Whole, unzipped};
use crate::source::with_rows;

/// What a table is made of, its header known and its rows not yet read.
#[derive(Debug)]
pub struct Data {
    files: Vec<PathBuf>,
    header: Vec<String>,
    first: Reader,
    options: ReadOptions,
    /// All files as they were before any was opened.
    stamps: Stamps,
}

/// How the cells of a table are written.
#[derive(Debug, Clone, PartialEq)]
pub struct Format {
    /// The format of its files.
    pub(crate) file: FileFormat,
    /// What separates the fields of text.
    pub(crate) delimiter: Option<u8>,
    /// Does it start with the byte order mark of UTF-8?
    pub(crate) has_mark: bool,
    /// The type of each column; none where nothing is known of any.
    pub(crate) types: Vec<CellType>,
    /// What was found out of the files, a line each, for people.
    pub(crate) notes: Vec<String>,
}

/// What type the cells of a column have.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum CellType {
    /// Whatever all of them can be read as: text has no types.
    Open,
    /// Text.
    Text,
    /// Numbers of any length, digit for digit.
    Number,
    /// A type of Arrow.
    #[cfg(feature = "parquet")]
    Kept(ColumnType),
}

#[derive(Debug)]
enum Reader {
    /// Text, and which of the formats of text it is.
    Csv(Box<Csv>, FileFormat),
    #[cfg(feature = "parquet")]
    Parquet(Box<Parquet>),
    Whole(Box<Whole>),
}

impl Data {
    /// Opens files and folders, which together are one table; without a delimiter, text has its header's most frequent one.
    pub fn open(paths: &[PathBuf], options: ReadOptions) -> Result<Self> {
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
        let first = Reader::open(path, &options.dialect)?;
        Ok(Data { header: first.header().to_vec(), first, files, options, stamps })
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

    /// The same with a limit on memory: what does not fit is spilled.
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
        let ReadOptions { dialect, readings } = &self.options;
        let column =
            |name: &String| Column::new(name.clone(), role(name)).with_reading(readings.of(name).clone());
        let mut columns: Vec<Column> = self.header.iter().map(column).collect();
        let mut first = Some(self.first);
        let mut format: Option<Format> = None;
        for path in &self.files {
            let reader = match first.take() {
                Some(first) => first,
                None => Reader::open(path, dialect)?,
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
        let mut format = format.ok_or_else(|| Error::input("no data file is given"))?;
        format.settle(&mut columns, readings);
        Ok((columns, format))
    }
}

impl Format {
    /// Text, with nothing else known of it.
    pub(crate) fn text(delimiter: u8) -> Self {
        Format {
            file: FileFormat::Csv,
            delimiter: Some(delimiter),
            has_mark: false,
            types: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Columns of these types.
    pub(crate) fn typed(file: FileFormat, types: Vec<CellType>) -> Self {
        Format { file, delimiter: None, has_mark: false, types, notes: Vec::new() }
    }

    /// What separates the fields of a release as CSV, if that is known. (Of a table by tabs it is the comma: tabs are what `.tsv` has.)
    pub(crate) fn delimiter(&self) -> Option<u8> {
        if self.file == FileFormat::Tsv { Some(b',') } else { self.delimiter }
    }

    /// The type of a column.
    pub(crate) fn type_of(&self, column_idx: usize) -> &CellType {
        self.types.get(column_idx).unwrap_or(&CellType::Open)
    }

    /// The format of a table in several files; `None` if files of these formats are no table.
    fn joined(mut self, next: Format) -> Option<Format> {
        let is_alike = self.file == next.file || self.file.is_delimited() && next.file.is_delimited();
        if !is_alike || self.types.len() != next.types.len() {
            return None;
        }
        for (mine, next) in self.types.iter_mut().zip(next.types) {
            if *mine != next {
                #[cfg(feature = "parquet")]
                if matches!((&*mine, &next), (CellType::Kept(_), _) | (_, CellType::Kept(_))) {
                    return None;
                }
                *mine = CellType::Text;
            }
        }
        self.notes.extend(next.notes);
        Some(self)
    }

    /// Cells that have a type are written as that type is: what is said of numbers and dates in text is not said of them. What was
    /// given its leading zeros back is text.
    pub(crate) fn settle(&mut self, columns: &mut [Column], readings: &Readings) {
        for (column, of) in columns.iter_mut().zip(&mut self.types) {
            if of.has_own_notation() {
                column.set_notation(Notation::PLAIN);
            }
            if readings.of(column.name()).pad.is_some() {
                *of = CellType::Text;
            }
        }
    }
}

impl Format {
    /// The same for a table whose rows are elsewhere: how the numbers and dates of its values are written.
    pub(crate) fn settle_table(&mut self, table: &mut Table, readings: &Readings) {
        for at in 0..table.columns().len() {
            if self.types.get(at).is_some_and(CellType::has_own_notation) {
                table.set_notation(at, Notation::PLAIN);
            }
            let is_padded = readings.of(table.columns()[at].name()).pad.is_some();
            if let Some(of) = self.types.get_mut(at).filter(|_| is_padded) {
                *of = CellType::Text;
            }
        }
    }
}

impl CellType {
    /// Are its values not only text?
    pub(crate) fn has_values(&self) -> bool {
        match self {
            CellType::Text => false,
            CellType::Open | CellType::Number => true,
            #[cfg(feature = "parquet")]
            CellType::Kept(of) => !of.is_text(),
        }
    }

    /// Are its values numbers, dates or truth values by themselves?
    fn has_own_notation(&self) -> bool {
        match self {
            CellType::Open | CellType::Text => false,
            CellType::Number => true,
            #[cfg(feature = "parquet")]
            CellType::Kept(of) => !of.is_text(),
        }
    }
}

impl Reader {
    fn open(path: &Path, dialect: &Dialect) -> Result<Self> {
        if is_zip(path, dialect) {
            return Reader::of_zip(whole::bytes_of(path)?, path, dialect);
        }
        match FileFormat::of(path, dialect.format, Use::Read)? {
            format @ (FileFormat::Csv | FileFormat::Tsv) => {
                Ok(Reader::Csv(Box::new(Csv::open_as(path, dialect)?), format))
            }
            FileFormat::Parquet => Reader::open_parquet(path),
            format => Ok(Reader::Whole(Box::new(Whole::open(path, format, dialect)?))),
        }
    }

    /// The one table in an archive.
    fn of_zip(archive: Vec<u8>, path: &Path, dialect: &Dialect) -> Result<Self> {
        let (name, bytes) = unzipped(archive, path)?;
        // What it is called in messages.
        let inside = path.join(&name);
        match FileFormat::of(&inside, dialect.format, Use::Read)? {
            format @ (FileFormat::Csv | FileFormat::Tsv) => {
                let bytes = unpacked(bytes, Path::new(&name));
                let csv = Csv::from_reader_as(bytes, inside.display().to_string(), dialect)?;
                Ok(Reader::Csv(Box::new(csv), format))
            }
            FileFormat::Parquet => {
                Err(unreadable(&inside, "the data file", "it is Parquet, compressed once more")
                    .with_hint("unpack the archive first"))
            }
            format => Ok(Reader::Whole(Box::new(Whole::of_bytes(bytes, &inside, format, dialect)?))),
        }
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
            Reader::Csv(csv, _) => csv.header(),
            #[cfg(feature = "parquet")]
            Reader::Parquet(parquet) => parquet.header(),
            Reader::Whole(whole) => &whole.header,
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
            Reader::Csv(csv, file) => {
                let format = Format {
                    file,
                    has_mark: csv.has_mark(),
                    notes: csv.notes().to_vec(),
                    ..Format::text(csv.delimiter())
                };
                csv.read_parts(columns, rows_at_a_time, progress, each)?;
                Ok(format)
            }
            #[cfg(feature = "parquet")]
            Reader::Parquet(parquet) => {
                let types = parquet.read_parts(columns, rows_at_a_time, progress, each)?;
                Ok(Format::typed(FileFormat::Parquet, types.into_iter().map(CellType::Kept).collect()))
            }
            Reader::Whole(whole) => {
                let before = columns.first().map_or(0, |column| column.codes().len());
                let format = whole.append_to(columns)?;
                let after = columns.first().map_or(0, |column| column.codes().len());
                progress.count_rows((after - before) as u64);
                progress.check()?;
                each(columns)?;
                Ok(format)
            }
        }
    }
}

/// A table from the bytes of a file that is called `name`, read as a job's `[input]` says: for programs that have no file.
pub fn read_bytes(bytes: Vec<u8>, name: &str, job: &Job) -> Result<Table> {
    let options = ReadOptions::of_job(job)?;
    let path = Path::new(name);
    let reader = if is_zip(path, &options.dialect) {
        Reader::of_zip(bytes, path, &options.dialect)?
    } else {
        match FileFormat::of(path, options.dialect.format, Use::Read)? {
            format @ (FileFormat::Csv | FileFormat::Tsv) => {
                let csv = Csv::from_reader_as(unpacked(bytes, path), name.to_owned(), &options.dialect)?;
                Reader::Csv(Box::new(csv), format)
            }
            FileFormat::Parquet => {
                return Err(unreadable(path, "the data file", "Parquet is read from files"));
            }
            format => Reader::Whole(Box::new(Whole::of_bytes(bytes, path, format, &options.dialect)?)),
        }
    };
    let header = reader.header().to_vec();
    let data =
        Data { files: vec![path.to_owned()], header, first: reader, options, stamps: Stamps::default() };
    Ok(data.read(|_| Role::Other, &Progress::new())?.0)
}

/// Is it an archive? A format that is an archive itself may have any name.
fn is_zip(path: &Path, dialect: &Dialect) -> bool {
    let is_named_so = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("zip"));
    is_named_so && dialect.format.is_none_or(FileFormat::is_text)
}

/// A file in an archive may be compressed by itself, too.
fn unpacked(bytes: Vec<u8>, name: &Path) -> Box<dyn Read + Send> {
    let bytes = Cursor::new(bytes);
    match Packing::of(name) {
        Packing::Gzip => Box::new(flate2::read::MultiGzDecoder::new(bytes)),
        Packing::Zstd | Packing::None => Box::new(bytes),
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
        let path = entry.path();
        let is_named = name.contains('.') && FileFormat::by_name(&path).is_some();
        let is_data = is_named || name.to_lowercase().ends_with(".zip");
        if !is_data || path.is_dir() {
            return Err(Error::input(format!(
                "the data folder `{}` contains `{name}`, which is no data file",
                folder.display()
            ))
            .with_hint(format!("data files end in {}; text also in .gz and .zst", endings(Use::Read))));
        }
        files.push(path);
    }
    files.sort();
    if files.is_empty() {
        return Err(Error::input(format!("the data folder `{}` has no data files", folder.display())));
    }
    Ok(files)
}
