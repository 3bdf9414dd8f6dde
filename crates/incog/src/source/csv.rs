//! A table from a CSV file with a header line.
//!
//! Cells are taken as they stand: no trimming, no number parsing, so that what is grouped is what will be
//! released. Every problem is an error with its line: ragged rows, bytes that are not UTF-8, a header that names
//! a column twice. No message contains a cell.

use std::io::Read;
use std::path::Path;

use incog_core::table::{Column, Role, Table};
use incog_core::{Error, ErrorKind, Result};

use crate::source::open;

/// The column names in the first line.
pub fn read_header(path: &Path, delimiter: u8) -> Result<Vec<String>> {
    header(&mut reader(open(path, "the data file")?, delimiter), path)
}

/// All rows, with a role for each column of the header.
pub fn read_table(path: &Path, delimiter: u8, role: impl Fn(&str) -> Role) -> Result<Table> {
    let mut reader = reader(open(path, "the data file")?, delimiter);
    let mut columns: Vec<Column> = header(&mut reader, path)?
        .into_iter()
        .map(|name| (role(&name), name))
        .map(|(role, name)| Column::new(name, role))
        .collect();
    let mut record = csv::ByteRecord::new();
    while reader.read_byte_record(&mut record).map_err(|error| unreadable(path, &error))? {
        for (column, cell) in columns.iter_mut().zip(&record) {
            let cell = std::str::from_utf8(cell).map_err(|_| {
                let line = record.position().map_or(0, csv::Position::line);
                Error::input(format!(
                    "data file `{}`, line {line}: column `{}` is not UTF-8",
                    path.display(),
                    column.name()
                ))
                .with_hint("convert the file, for example with iconv -t UTF-8")
            })?;
            column.push(cell)?;
        }
    }
    let table = Table::new(columns)?;
    if table.n_rows() == 0 {
        return Err(Error::input(format!("data file `{}` has a header and no rows", path.display())));
    }
    Ok(table)
}

fn reader<R: Read>(file: R, delimiter: u8) -> csv::Reader<R> {
    csv::ReaderBuilder::new().delimiter(delimiter).buffer_capacity(1 << 20).from_reader(file)
}

fn header<R: Read>(reader: &mut csv::Reader<R>, path: &Path) -> Result<Vec<String>> {
    let header = reader.byte_headers().map_err(|error| unreadable(path, &error))?;
    if header.is_empty() {
        return Err(Error::input(format!("data file `{}` is empty", path.display()))
            .with_hint("the first line must name the columns"));
    }
    header
        .iter()
        .map(|name| {
            std::str::from_utf8(name)
                .map(str::to_owned)
                .map_err(|_| Error::input(format!("data file `{}`: the header is not UTF-8", path.display())))
        })
        .collect()
}

fn unreadable(path: &Path, error: &csv::Error) -> Error {
    let path = path.display();
    match error.kind() {
        csv::ErrorKind::UnequalLengths { pos, expected_len, len } => {
            let line = pos.as_ref().map_or(0, csv::Position::line);
            Error::input(format!(
                "data file `{path}`, line {line} has {len} fields, the header has {expected_len}"
            ))
            .with_hint("a field that contains the delimiter or a line break must be quoted")
        }
        _ => Error::new(ErrorKind::Io, format!("cannot read the data file `{path}`: {error}")),
    }
}
