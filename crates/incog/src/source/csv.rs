//! A table from a CSV file with a header line.
//!
//! Quoting as in RFC 4180, any ASCII delimiter, with or without a byte order mark, line ends of any system,
//! compressed or not. Cells are taken as they stand: no trimming, no number parsing, so that what is grouped is
//! what will be released. Every problem is an error with its line: ragged rows, bytes that are not UTF-8, a
//! header that names a column twice. No message contains a cell.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use incog_core::table::{Column, Role, Table};
use incog_core::{Error, Result, Watch};

use crate::source::quotes::{QuoteWatch, Seen};
use crate::source::{open_data, unreadable};

/// Delimiters that are looked for where none is given.
const DELIMITERS: [u8; 4] = [b',', b';', b'\t', b'|'];

/// An open CSV file whose header has been read.
pub struct Csv {
    path: PathBuf,
    reader: csv::Reader<Box<dyn Read>>,
    header: Vec<String>,
    delimiter: u8,
    /// Open quotes and empty lines, as far as reading has got.
    seen: Rc<Seen>,
}

impl std::fmt::Debug for Csv {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Csv").field("path", &self.path).field("header", &self.header).finish_non_exhaustive()
    }
}

impl Csv {
    /// Opens a file and reads its header. Without a delimiter, the header's most frequent one is taken.
    pub fn open(path: &Path, delimiter: Option<u8>) -> Result<Self> {
        Csv::from_reader(open_data(path, "the data file")?, path, delimiter)
    }

    /// The same for text that comes from elsewhere; messages call it `path`.
    pub fn from_reader(text: impl Read + 'static, path: &Path, delimiter: Option<u8>) -> Result<Self> {
        let (file, delimiter) = buffered(Box::new(text), path, "the data file", delimiter)?;
        let (file, seen) = QuoteWatch::new(file, delimiter);
        let file: Box<dyn Read> = Box::new(file);
        let mut reader = csv::ReaderBuilder::new().delimiter(delimiter).from_reader(file);
        let header = reader.byte_headers().map_err(|error| unreadable_csv(path, &error))?;
        if header.is_empty() {
            return Err(Error::input(format!("data file `{}` is empty", path.display()))
                .with_hint("the first line must name the columns"));
        }
        let header: Vec<String> = header
            .iter()
            .map(|name| {
                let name = std::str::from_utf8(name).map_err(|_| {
                    Error::input(format!("data file `{}`: the header is not UTF-8", path.display()))
                        .with_hint("convert the file, for example with iconv -t UTF-8")
                })?;
                if name.chars().any(char::is_control) {
                    return Err(Error::input(format!(
                        "data file `{}`: a column name contains a line break or control character",
                        path.display()
                    ))
                    .with_hint("is a quote in the header never closed?"));
                }
                Ok(name.to_owned())
            })
            .collect::<Result<_>>()?;
        // Names are not repeated in messages: without a header they would be somebody's cells.
        for (at, name) in header.iter().enumerate() {
            if let Some(earlier) = header[..at].iter().position(|column| column == name) {
                return Err(Error::input(format!(
                    "data file `{}`: columns {} and {} have the same name",
                    path.display(),
                    earlier + 1,
                    at + 1
                ))
                .with_hint("the first line must name the columns, each differently"));
            }
        }
        Ok(Csv { path: path.to_owned(), reader, header, delimiter, seen })
    }

    /// The columns' names.
    pub fn header(&self) -> &[String] {
        &self.header
    }

    /// What separates the fields.
    pub fn delimiter(&self) -> u8 {
        self.delimiter
    }

    /// All rows, with a role for each column. Stops when the watch is cancelled.
    pub fn read(mut self, role: impl Fn(&str) -> Role, watch: &Watch) -> Result<Table> {
        let mut columns: Vec<Column> =
            self.header.iter().map(|name| Column::new(name.clone(), role(name))).collect();
        let path = self.path;
        let mut record = csv::ByteRecord::new();
        while self.reader.read_byte_record(&mut record).map_err(|error| unreadable_csv(&path, &error))? {
            watch.check()?;
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
        if let Some(line) = self.seen.open_since.get() {
            return Err(Error::input(format!(
                "data file `{}`: the quoted field that starts on line {line} is never closed",
                path.display()
            ))
            .with_hint("a quote inside a quoted field must be doubled"));
        }
        let n_empty = self.seen.empty_lines.get();
        if columns.len() == 1 && n_empty > 0 {
            return Err(Error::input(format!(
                "data file `{}` has a single column and {n_empty} empty lines, which may be missing values",
                path.display()
            ))
            .with_hint("write \"\" for a missing value, or remove the empty lines"));
        }
        let table = Table::new(columns)?;
        if table.n_rows() == 0 {
            return Err(Error::input(format!("data file `{}` has a header and no rows", path.display()))
                .with_hint("is the first line a row and the header missing?"));
        }
        Ok(table)
    }
}

/// A reader of a file, and what separates its fields: the given delimiter or the header's most frequent one.
pub(crate) fn open_text(path: &Path, what: &str, delimiter: Option<u8>) -> Result<(Box<dyn Read>, u8)> {
    buffered(open_data(path, what)?, path, what, delimiter)
}

fn buffered(
    text: Box<dyn Read>,
    path: &Path,
    what: &str,
    delimiter: Option<u8>,
) -> Result<(Box<dyn Read>, u8)> {
    let mut file = BufReader::with_capacity(1 << 20, text);
    let start = file.fill_buf().map_err(|error| unreadable(path, what, &error.to_string()))?;
    let delimiter = delimiter.unwrap_or_else(|| detect(start));
    Ok((Box::new(file), delimiter))
}

/// The delimiter that stands most often in the first line, outside quotes.
fn detect(start: &[u8]) -> u8 {
    let mut counts = [0_usize; DELIMITERS.len()];
    let mut quoted = false;
    for &byte in start {
        match byte {
            b'"' => quoted = !quoted,
            b'\n' if !quoted => break,
            _ if !quoted => {
                if let Some(at) = DELIMITERS.iter().position(|&delimiter| delimiter == byte) {
                    counts[at] += 1;
                }
            }
            _ => {}
        }
    }
    // The first of equals: a comma unless another is more frequent.
    let most = counts.iter().copied().max().unwrap_or(0);
    DELIMITERS[counts.iter().position(|&count| count == most).unwrap_or(0)]
}

fn broken(path: &Path, problem: &str) -> Error {
    unreadable(path, "the data file", problem)
}

fn unreadable_csv(path: &Path, error: &csv::Error) -> Error {
    match error.kind() {
        csv::ErrorKind::UnequalLengths { pos, expected_len, len } => {
            let line = pos.as_ref().map_or(0, csv::Position::line);
            Error::input(format!(
                "data file `{}`, line {line} has {len} fields, the header has {expected_len}",
                path.display()
            ))
            .with_hint("a field that contains the delimiter or a line break must be quoted")
        }
        _ => broken(path, &error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_delimiter_is_the_headers_most_frequent_one() {
        assert_eq!(detect(b"a,b;c,d\n;;;;"), b',');
        assert_eq!(detect(b"a;b,c;d\n"), b';');
        assert_eq!(detect(b"\"a;b;c;d\",x\n"), b',');
        assert_eq!(detect(b"a\tb\r\n"), b'\t');
        assert_eq!(detect(b"name\n1;2\n"), b',');
        assert_eq!(detect(b""), b',');
    }
}
