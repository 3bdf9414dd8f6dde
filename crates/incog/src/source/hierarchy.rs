//! A hierarchy from a file: `value;level 1;...;top`, one row a value, no header. The layout ARX reads.
//!
//! Separated by `;`, or by `,` if the first row has no `;` outside quotes. A file that ends inside quotes is an error.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use incog_core::hierarchy::{ExplicitHierarchy, Hierarchy};
use incog_core::{Error, Result};

use crate::file::{check_encoding, open, unreadable};
use crate::source::split::{Block, Problem, Splitter, Widths};

/// The hierarchy of `column` in a file.
pub fn read_hierarchy(path: &Path, column: &str) -> Result<Hierarchy> {
    collect(HierarchyRows::open(path, column)?)
}

/// The hierarchy of `column` in a file called `name`, whatever it is read from.
pub fn parse_hierarchy(reader: impl Read + Send + 'static, name: &str, column: &str) -> Result<Hierarchy> {
    collect(HierarchyRows::new(Box::new(reader), name.to_owned(), column)?)
}

fn collect(mut rows: HierarchyRows) -> Result<Hierarchy> {
    let (column, origin) = (rows.column.clone(), rows.name.clone());
    let mut hierarchy = ExplicitHierarchy::new(&column, &origin);
    while let Some((line, row)) = rows.next_row()? {
        if row.len() < 2 {
            let problem = format!("column `{column}`: hierarchy `{origin}`, line {line} has a single field");
            return Err(Error::input(problem).with_hint("separate the levels by `;`: value;level 1;...;*"));
        }
        hierarchy.push(line, row)?;
    }
    hierarchy.finish()
}

/// The rows of a hierarchy file, whether or not they make a hierarchy.
pub(crate) struct HierarchyRows {
    name: String,
    column: String,
    splitter: Splitter<Box<dyn Read + Send>>,
    block: Block,
    /// How many of the block's records are done.
    n_done: usize,
}

impl HierarchyRows {
    /// Opens the file with the hierarchy of `column`.
    pub(crate) fn open(path: &Path, column: &str) -> Result<Self> {
        HierarchyRows::new(Box::new(open(path, &what(column))?), path.display().to_string(), column)
    }

    fn new(file: Box<dyn Read + Send>, name: String, column: &str) -> Result<Self> {
        let mut file = BufReader::with_capacity(1 << 20, file);
        let start = file
            .fill_buf()
            .map_err(|error| unreadable(Path::new(&name), &what(column), &error.to_string()))?;
        check_encoding(start, Path::new(&name), &what(column))?;
        let delimiter = if is_in_first_row(b';', start) { b';' } else { b',' };
        let splitter = Splitter::new(Box::new(file) as Box<dyn Read + Send>, delimiter, Widths::Any);
        Ok(HierarchyRows { name, column: column.to_owned(), splitter, block: Block::default(), n_done: 0 })
    }

    /// The next row with the line on which it starts.
    pub(crate) fn next_row(&mut self) -> Result<Option<(u64, Vec<&str>)>> {
        if self.n_done == self.block.n_records() {
            self.splitter.next(&mut self.block).map_err(|problem| self.explain(&problem))?;
            self.n_done = 0;
        }
        if self.block.n_records() == 0 {
            return Ok(None);
        }
        self.n_done += 1;
        Ok(Some(self.block.record(self.n_done - 1)))
    }

    fn explain(&self, problem: &Problem) -> Error {
        let column = &self.column;
        let hierarchy = format!("column `{column}`: hierarchy `{}`", self.name);
        let quote_hint = "a quote inside a quoted field must be doubled";
        match problem {
            Problem::Io(error) => unreadable(Path::new(&self.name), &what(column), &error.to_string()),
            Problem::NotUtf8 { line, .. } => Error::input(format!("{hierarchy}, line {line} is not UTF-8"))
                .with_hint("convert the file, for example with iconv -t UTF-8"),
            Problem::Unclosed { line } | Problem::TooLong { line } => Error::input(format!(
                "{hierarchy}: the quoted field that starts on line {line} is never closed"
            ))
            .with_hint(quote_hint),
            Problem::AfterQuote { line } => {
                Error::input(format!("{hierarchy}, line {line}: text follows a closing quote"))
                    .with_hint(quote_hint)
            }
            Problem::Ragged { line, .. } => {
                Error::input(format!("{hierarchy}, line {line} has another number of fields"))
            }
        }
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
