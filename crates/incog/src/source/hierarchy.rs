//! A hierarchy from a file: `value;level 1;...;top`, one row a value, no header. The layout ARX reads.
//!
//! Separated by `;`, or by `,` if the first row has no `;` outside quotes. A file that ends inside quotes is an error.

use std::io::{BufRead, Read};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use incog_core::hierarchy::{ExplicitHierarchy, Hierarchy};
use incog_core::{Error, Result};

use crate::source::quotes::{QuoteWatch, Seen};
use crate::source::{open, unreadable};

/// The hierarchy of `column` in a file.
pub fn read_hierarchy(path: &Path, column: &str) -> Result<Hierarchy> {
    let origin = path.display().to_string();
    let mut hierarchy = ExplicitHierarchy::new(column, &origin);
    let mut rows = HierarchyRows::open(path, column)?;
    while let Some((line, row)) = rows.next_row()? {
        let pushed = if row.len() < 2 {
            let problem = format!("column `{column}`: hierarchy `{origin}`, line {line} has a single field");
            Err(Error::input(problem).with_hint("separate the levels by `;`: value;level 1;...;*"))
        } else {
            hierarchy.push(line, row)
        };
        if let Err(error) = pushed {
            // If a quote is never closed, that is why the last row is odd: read on to know.
            while rows.next_row()?.is_some() {}
            return Err(error);
        }
    }
    hierarchy.finish()
}

/// The rows of a hierarchy file, whether or not they make a hierarchy.
pub(crate) struct HierarchyRows {
    path: PathBuf,
    column: String,
    reader: csv::Reader<Box<dyn Read>>,
    record: csv::ByteRecord,
    seen: Rc<Seen>,
}

impl HierarchyRows {
    /// Opens the file with the hierarchy of `column`.
    pub(crate) fn open(path: &Path, column: &str) -> Result<Self> {
        let what = what(column);
        let mut file = std::io::BufReader::with_capacity(1 << 16, open(path, &what)?);
        let start = file.fill_buf().map_err(|error| unreadable(path, &what, &error.to_string()))?;
        let delimiter = if is_in_first_row(b';', start) { b';' } else { b',' };
        let (file, seen) = QuoteWatch::new(file, delimiter);
        let file: Box<dyn Read> = Box::new(file);
        let reader = csv::ReaderBuilder::new()
            .delimiter(delimiter)
            .has_headers(false)
            .flexible(true)
            .from_reader(file);
        Ok(HierarchyRows {
            path: path.to_owned(),
            column: column.to_owned(),
            reader,
            record: csv::ByteRecord::new(),
            seen,
        })
    }

    /// The next row with the line on which it starts.
    pub(crate) fn next_row(&mut self) -> Result<Option<(u64, Vec<&str>)>> {
        let (path, column) = (&self.path, &self.column);
        let read = self.reader.read_byte_record(&mut self.record);
        if !read.map_err(|error| unreadable(path, &what(column), &error.to_string()))? {
            let Some(line) = self.seen.open_since.get() else {
                return Ok(None);
            };
            return Err(Error::input(format!(
                "column `{column}`: hierarchy `{}`: the quoted field that starts on line {line} is never closed",
                path.display()
            ))
            .with_hint("a quote inside a quoted field must be doubled"));
        }
        let line = self.record.position().map_or(0, csv::Position::line);
        let row = self.record.iter().map(std::str::from_utf8).collect::<Result<_, _>>().map_err(|_| {
            Error::input(format!(
                "column `{column}`: hierarchy `{}`, line {line} is not UTF-8",
                path.display()
            ))
            .with_hint("convert the file, for example with iconv -t UTF-8")
        })?;
        Ok(Some((line, row)))
    }
}

fn what(column: &str) -> String {
    format!("the hierarchy of column `{column}`,")
}

/// Does a byte stand outside quotes in the first row that is not empty?
fn is_in_first_row(wanted: u8, start: &[u8]) -> bool {
    let mut is_quoted = false;
    let mut is_empty = true;
    for &byte in start {
        match byte {
            b'"' => is_quoted = !is_quoted,
            b'\n' | b'\r' if !is_quoted && is_empty => continue,
            b'\n' | b'\r' if !is_quoted => return false,
            _ if !is_quoted && byte == wanted => return true,
            _ => {}
        }
        is_empty = false;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_row_decides_what_separates_levels() {
        assert!(is_in_first_row(b';', b"a;*\n"));
        assert!(is_in_first_row(b';', b"\r\n\na;*\n"));
        assert!(is_in_first_row(b';', b"\"a\nb\";*\n"));
        assert!(!is_in_first_row(b';', b"\"a;b\",*\n"));
        assert!(!is_in_first_row(b';', b"a,*\nb;c,*\n"));
    }
}
