//! Formats that are read at once: JSON lines, Arrow IPC, sheets of workbooks.
//!
//! Their columns, types and names are known together, so a table of these is in memory before anything is asked of it. A limit of memory
//! holds from there on.

use std::io::Read;
use std::path::Path;

use incog_core::table::Column;
#[cfg(feature = "sheets")]
use incog_core::words::counted;
use incog_core::{Error, Result};

use crate::file::encoding::{self, Decoded, Foreign};
#[cfg(feature = "sheets")]
use crate::file::foreign;
use crate::file::{FileFormat, open_data, unreadable};
#[cfg(any(feature = "parquet", feature = "sheets"))]
use crate::source::CellType;
use crate::source::options::Dialect;
use crate::source::{Format, check_width, checked_header, json_lines};

/// What data files are called in messages.
const WHAT: &str = "the data file";

/// A table that was read at once, without roles.
#[derive(Debug)]
pub(crate) struct Whole {
    pub(crate) header: Vec<String>,
    pub(crate) columns: Vec<Column>,
    pub(crate) format: Format,
}

impl Whole {
    /// Reads a file.
    pub(crate) fn open(path: &Path, format: FileFormat, dialect: &Dialect) -> Result<Self> {
        Whole::of_bytes(bytes_of(path)?, path, format, dialect)
    }

    /// The same from the bytes of a file.
    pub(crate) fn of_bytes(
        bytes: Vec<u8>,
        path: &Path,
        format: FileFormat,
        dialect: &Dialect,
    ) -> Result<Self> {
        let read = match format {
            FileFormat::Jsonl => read_json_lines(bytes, path, dialect)?,
            FileFormat::Arrow => read_arrow(bytes, path)?,
            FileFormat::Xlsx | FileFormat::Xls | FileFormat::Ods => read_sheet(bytes, path, format, dialect)?,
            FileFormat::Csv | FileFormat::Tsv | FileFormat::Parquet => {
                return Err(unreadable(path, WHAT, "it is not read at once"));
            }
        };
        let name = format!("data file `{}`", path.display());
        check_width(&name, read.header.len())?;
        checked_header(&name, &read.header)?;
        Ok(read)
    }

    /// Columns that have just been read.
    fn new(columns: Vec<Column>, format: Format) -> Self {
        let header = columns.iter().map(|column| column.name().to_owned()).collect();
        Whole { header, columns, format }
    }

    /// Appends all rows to columns, one for each name of the header.
    pub(crate) fn append_to(self, columns: &mut [Column]) -> Result<Format> {
        use rayon::prelude::*;
        columns.par_iter_mut().zip(&self.columns).try_for_each(|(column, mine)| column.append(mine))?;
        Ok(self.format)
    }
}

fn read_json_lines(bytes: Vec<u8>, path: &Path, dialect: &Dialect) -> Result<Whole> {
    let failed = |problem: &str| unreadable(path, WHAT, problem);
    let mut notes = Vec::new();
    let found = match (dialect.encoding, encoding::foreign(&bytes)) {
        (Some(given), _) => Some(given),
        (None, Some(Foreign::Utf16(found))) => {
            notes.push(format!("note: `{}` is UTF-16; the release is UTF-8", path.display()));
            Some(found)
        }
        (None, Some(Foreign::Utf32)) => return Err(failed("it is UTF-32, and should be UTF-8")),
        (None, None) => None,
    };
    let text = match found.filter(|found| !encoding::is_utf_8(found)) {
        None => String::from_utf8(bytes).map_err(|error| {
            let n_lines = error.as_bytes()[..error.utf8_error().valid_up_to()]
                .iter()
                .filter(|&&byte| byte == b'\n')
                .count();
            Error::input(format!("data file `{}`, line {}: it is not UTF-8", path.display(), n_lines + 1))
                .with_hint("say in [input] what it is written in, such as encoding = \"windows-1252\"")
        })?,
        Some(encoding) => {
            let mut text = String::new();
            let mut decoded = Decoded::new(bytes.as_slice(), encoding);
            decoded.read_to_string(&mut text).map_err(|error| failed(&error.to_string()))?;
            text
        }
    };
    let (columns, types) = json_lines::read(&text, &format!("data file `{}`", path.display()))?;
    Ok(Whole::new(columns, Format { notes, ..Format::typed(FileFormat::Jsonl, types) }))
}

#[cfg(feature = "parquet")]
fn read_arrow(bytes: Vec<u8>, path: &Path) -> Result<Whole> {
    let (columns, types) = incog_parquet::read_ipc(bytes)
        .map_err(|error| error.prefixed(&format!("cannot read the data file `{}`: ", path.display())))?;
    let types = types.into_iter().map(CellType::Kept).collect();
    Ok(Whole::new(columns, Format::typed(FileFormat::Arrow, types)))
}

#[cfg(not(feature = "parquet"))]
fn read_arrow(_: Vec<u8>, path: &Path) -> Result<Whole> {
    Err(unreadable(path, WHAT, "this incog was built without Arrow"))
}

#[cfg(feature = "sheets")]
fn read_sheet(bytes: Vec<u8>, path: &Path, format: FileFormat, dialect: &Dialect) -> Result<Whole> {
    use incog_sheets::{Selection, WorkbookKind};
    if let Some((is, hint)) = foreign::no_workbook(&bytes, format) {
        return Err(unreadable(path, WHAT, &format!("it is {is}, not what its name says")).with_hint(hint));
    }
    let kind = match format {
        FileFormat::Xls => WorkbookKind::Xls,
        FileFormat::Ods => WorkbookKind::Ods,
        _ => WorkbookKind::Xlsx,
    };
    let selection = Selection {
        sheet: dialect.sheet.as_deref(),
        range: dialect.range.as_deref(),
        skip_rows: dialect.skip_rows,
        names: dialect.names.as_deref(),
    };
    let sheet = incog_sheets::read(bytes, kind, &selection)
        .map_err(|error| error.prefixed(&format!("cannot read the data file `{}`: ", path.display())))?;
    let picked = sheet.picked.map(|name| {
        format!(
            "note: `{}` has several sheets; `{name}` is read (`sheet` in [input] says which)",
            path.display()
        )
    });
    let empty = (sheet.n_empty_formulas > 0).then(|| {
        let or = if kind == WorkbookKind::Xls { " or have not been worked out" } else { "" };
        let cells = counted(sheet.n_empty_formulas, "cell", "cells");
        format!(
            "note: `{}` has formulas that come to an empty text{or}: {cells}, missing values",
            path.display()
        )
    });
    let types = sheet.has_text.iter().map(|&has_text| if has_text { CellType::Text } else { CellType::Open });
    let format =
        Format { notes: picked.into_iter().chain(empty).collect(), ..Format::typed(format, types.collect()) };
    Ok(Whole::new(sheet.columns, format))
}

#[cfg(not(feature = "sheets"))]
fn read_sheet(_: Vec<u8>, path: &Path, _: FileFormat, _: &Dialect) -> Result<Whole> {
    Err(unreadable(path, WHAT, "this incog was built without workbooks"))
}

/// The bytes of a file.
pub(crate) fn bytes_of(path: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_data(path, WHAT)?
        .read_to_end(&mut bytes)
        .map_err(|error| unreadable(path, WHAT, &error.to_string()))?;
    Ok(bytes)
}

/// The name of the one table in a zip archive, and its bytes.
#[cfg(feature = "sheets")]
pub(crate) fn unzipped(archive: Vec<u8>, path: &Path) -> Result<(String, Vec<u8>)> {
    incog_sheets::only_table(archive)
        .map_err(|error| error.prefixed(&format!("cannot read the data file `{}`: ", path.display())))
}

#[cfg(not(feature = "sheets"))]
pub(crate) fn unzipped(_: Vec<u8>, path: &Path) -> Result<(String, Vec<u8>)> {
    Err(unreadable(path, WHAT, "this incog was built without zip archives"))
}
