//! A table from a CSV file with a header line.
//!
//! Any ASCII delimiter, with or without a byte order mark, compressed or not; [`split`](super::split) says how fields
//! are found. Cells are taken as they stand: no trimming, no number parsing, so that what is grouped is what will be
//! released. Every problem is an error with its line. No message contains a cell.
//!
//! While one block of the file is read and split by one thread, the columns are filled by others from the one before, each by one
//! thread: a value's code is its rank of first appearance, whatever the number of threads.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use incog_core::table::{Column, Role, Table};
use incog_core::{Error, Progress, Result};
use rayon::prelude::*;

use crate::file::{Packing, STANDARD, check_encoding, encoding, open_data, unreadable};
use crate::source::split::{Block, Problem, Splitter, Widths};
use crate::source::{check_width, checked_header, with_rows};

/// What is shown the columns after some rows.
pub(crate) type TakesParts<'a> = dyn FnMut(&mut [Column]) -> Result<()> + Send + 'a;

/// Delimiters that are looked for where none is given.
pub(crate) const DELIMITERS: [u8; 4] = [b',', b';', b'\t', b'|'];

/// An open CSV file whose header has been read.
pub struct Csv {
    /// What the file is called in messages.
    name: String,
    splitter: Splitter<Box<dyn Read + Send>>,
    header: Vec<String>,
    delimiter: u8,
    /// The first block, without the header.
    first: Block,
    /// How long the file is, if that is known.
    n_bytes: Option<u64>,
    /// What is wrong with the first block, to be told once columns are known to be columns.
    problem: Option<Problem>,
}

impl std::fmt::Debug for Csv {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Csv").field("name", &self.name).field("header", &self.header).finish_non_exhaustive()
    }
}

impl Csv {
    /// Opens a file and reads its header. Without a delimiter, the header's most frequent one is taken.
    pub fn open(path: &Path, delimiter: Option<u8>) -> Result<Self> {
        let (file, delimiter) = open_text(path, "the data file", delimiter)?;
        let mut csv = Csv::new(file, path.display().to_string(), delimiter)?;
        if path.as_os_str() != STANDARD && Packing::of(path) == Packing::None {
            csv.n_bytes = std::fs::metadata(path).ok().map(|metadata| metadata.len());
        }
        Ok(csv)
    }

    /// Reads the header of a file called `name`, whatever it is read from.
    pub fn from_reader(
        reader: impl Read + Send + 'static,
        name: impl Into<String>,
        delimiter: Option<u8>,
    ) -> Result<Self> {
        let name = name.into();
        let (file, delimiter) =
            with_delimiter(Box::new(reader), Path::new(&name), "the data file", delimiter)?;
        Csv::new(file, name, delimiter)
    }

    fn new(file: Box<dyn Read + Send>, name: String, delimiter: u8) -> Result<Self> {
        let mut splitter = Splitter::new(file, delimiter, Widths::Equal);
        let mut first = Block::default();
        let problem = match splitter.next(&mut first) {
            Err(Problem::NotUtf8 { line, column, first: Some(header) }) => {
                checked_header(&called(&name), &header)?;
                let problem = Some(Problem::NotUtf8 { line, column, first: None });
                return Ok(Csv { name, splitter, header, delimiter, first, n_bytes: None, problem });
            }
            Err(problem) => return Err(explain(&name, HasHeader::Unknown, problem)),
            Ok(()) => None,
        };
        let Some(width) = splitter.width() else {
            return Err(Error::input(format!("data file `{name}` is empty"))
                .with_hint("the first line must name the columns"));
        };
        check_width(&called(&name), width)?;
        let header: Vec<String> = (0..width).map(|at| first.field(at).to_owned()).collect();
        checked_header(&called(&name), &header)?;
        first.skip(width);
        Ok(Csv { name, splitter, header, delimiter, first, n_bytes: None, problem })
    }

    /// The columns' names.
    pub fn header(&self) -> &[String] {
        &self.header
    }

    /// What separates the fields.
    pub fn delimiter(&self) -> u8 {
        self.delimiter
    }

    /// All rows, with a role for each column. Stops when it is cancelled.
    pub fn read(self, role: impl Fn(&str) -> Role, progress: &Progress) -> Result<Table> {
        let mut columns: Vec<Column> =
            self.header.iter().map(|name| Column::new(name.clone(), role(name))).collect();
        let name = self.name.clone();
        self.read_into(&mut columns, progress)?;
        with_rows(Table::new(columns)?, &name)
    }

    /// Appends all rows to columns, one for each name of the header.
    pub(crate) fn read_into(self, columns: &mut [Column], progress: &Progress) -> Result<()> {
        self.read_parts(columns, usize::MAX, progress, &mut |_| Ok(()))
    }

    /// The same, some rows at a time: after each block `each` is shown the columns, and may make them forget their rows, or all. They
    /// are expected to have `rows_at_a_time` rows at a time.
    pub(crate) fn read_parts(
        mut self,
        columns: &mut [Column],
        rows_at_a_time: usize,
        progress: &Progress,
        each: &mut TakesParts<'_>,
    ) -> Result<()> {
        if let Some(problem) = self.problem {
            return Err(explain(&self.name, HasHeader::Known, problem));
        }
        // One thread of the pool and its others, not one more.
        rayon::scope(|_| self.read_blocks(columns, rows_at_a_time, progress, each))?;
        let n_empty = self.splitter.empty_lines();
        if columns.len() == 1 && n_empty > 0 {
            return Err(Error::input(format!(
                "data file `{}` has a single column and {n_empty} empty lines, which may be missing values",
                self.name
            ))
            .with_hint("write \"\" for a missing value, or remove the empty lines"));
        }
        Ok(())
    }

    /// Appends the rows of all blocks.
    fn read_blocks(
        &mut self,
        columns: &mut [Column],
        rows_at_a_time: usize,
        progress: &Progress,
        each: &mut TakesParts<'_>,
    ) -> Result<()> {
        let mut current = std::mem::take(&mut self.first);
        let mut next = Block::default();
        if let Some(n_bytes) = self.n_bytes {
            let n_rows = current.n_fields() / columns.len();
            // About as many bytes a row in the rest of the file, and some more.
            let n_rows = (n_bytes as f64 / current.n_bytes().max(1) as f64 * n_rows as f64 * 1.02) as usize;
            columns.iter_mut().for_each(|column| column.expect_rows(n_rows.min(rows_at_a_time)));
        }
        // Whether this thread split the current block.
        let mut is_mine = true;
        // A file whose first block is nothing but its header has more blocks behind it, unless it is at its end.
        loop {
            progress.check()?;
            // Whoever split a block has it in its cache, and fills the columns from it, while another splits the next; then they
            // change places. Handing blocks over would take longer than filling columns where caches are far apart.
            let (split, fill) = (|| self.splitter.next(&mut next), || fill(columns, &current));
            let (read, filled) = if is_mine {
                let (filled, read) = rayon::join(fill, split);
                (read, filled)
            } else {
                rayon::join(split, fill)
            };
            is_mine = !is_mine;
            filled?;
            progress.count_rows((current.n_fields() / columns.len()) as u64);
            each(columns)?;
            read.map_err(|problem| explain(&self.name, HasHeader::Known, problem))?;
            if next.n_fields() == 0 {
                return Ok(());
            }
            std::mem::swap(&mut current, &mut next);
        }
    }
}

/// Appends a block's records, column by column.
fn fill(columns: &mut [Column], block: &Block) -> Result<()> {
    let width = columns.len();
    columns.par_iter_mut().enumerate().try_for_each(|(at, column)| {
        let (text, fields) = block.every(at, width);
        column.push_fields(text, fields)
    })
}

/// A reader of a file, and what separates its fields: the given delimiter or the header's most frequent one.
pub(crate) fn open_text(
    path: &Path,
    what: &str,
    delimiter: Option<u8>,
) -> Result<(Box<dyn Read + Send>, u8)> {
    with_delimiter(open_data(path, what)?, path, what, delimiter)
}

fn with_delimiter(
    file: Box<dyn Read + Send>,
    path: &Path,
    what: &str,
    delimiter: Option<u8>,
) -> Result<(Box<dyn Read + Send>, u8)> {
    let mut file = BufReader::with_capacity(1 << 18, file);
    let start = file.fill_buf().map_err(|error| unreadable(path, what, &error.to_string()))?;
    check_encoding(start, path, what)?;
    if encoding::has_nul(start) {
        return Err(unreadable(path, what, "its first line has NUL bytes, which no text has")
            .with_hint("is it UTF-16, or no CSV at all? the first line must name the columns"));
    }
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
            b'\n' | b'\r' if !quoted => break,
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

/// Has the header been read?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HasHeader {
    Known,
    Unknown,
}

fn explain(name: &str, has_header: HasHeader, problem: Problem) -> Error {
    match problem {
        Problem::Io(error) => unreadable(Path::new(name), "the data file", &error.to_string()),
        Problem::Ragged { line, n_fields, expected } => Error::input(format!(
            "data file `{name}`, line {line} has {n_fields} fields, the header has {expected}"
        ))
        .with_hint("a field that contains the delimiter or a line break must be quoted"),
        Problem::NotUtf8 { line, column, .. } => {
            // By its number: without a header, what would be its name is somebody's cell.
            let column = match has_header {
                HasHeader::Known => format!(", line {line}: column {}", column + 1),
                HasHeader::Unknown => ": the header".to_owned(),
            };
            Error::input(format!("data file `{name}`{column} is not UTF-8"))
                .with_hint("convert the file, for example with iconv -t UTF-8")
        }
        Problem::Unclosed { line } => Error::input(format!(
            "data file `{name}`: the quoted field that starts on line {line} is never closed"
        ))
        .with_hint("a quote inside a quoted field must be doubled"),
        Problem::AfterQuote { line } => {
            Error::input(format!("data file `{name}`, line {line}: text follows a closing quote"))
                .with_hint("a quote inside a quoted field must be doubled")
        }
        Problem::TooLong { line } => Error::input(format!(
            "data file `{name}`: the record that starts on line {line} is longer than 1 GiB"
        ))
        .with_hint("is a quote never closed?"),
    }
}

/// What a data file is called in messages.
fn called(name: &str) -> String {
    format!("data file `{name}`")
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
        assert_eq!(detect(b"a;b\r1,5;2,5\r"), b';', "old files have nothing but \\r");
        assert_eq!(detect(b""), b',');
    }

    #[test]
    fn codes_are_ranks_of_first_appearance_across_blocks() {
        let mut text = "n,m\n".to_owned();
        for row in 0..1_000_000 {
            text.push_str(&format!("{},{}\n", row % 1000, row % 7));
        }
        let csv = Csv::from_reader(std::io::Cursor::new(text), "rows", None).unwrap();
        let table = csv.read(|_| Role::Other, &Progress::new()).unwrap();
        assert_eq!(table.n_rows(), 1_000_000);
        assert!(
            table.columns()[0].codes().iter().enumerate().all(|(row, &code)| code as usize == row % 1000)
        );
        assert!(table.columns()[1].codes().iter().enumerate().all(|(row, &code)| code as usize == row % 7));
    }
}
