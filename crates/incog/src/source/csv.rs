//! A table from delimited text, with a header line or with names that somebody gives.
//!
//! Any ASCII delimiter, with or without a byte order mark, compressed or not, in any encoding; [`split`](super::split) says how fields
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

use crate::file::encoding::{Decoded, Foreign};
use crate::file::{FileFormat, Packing, STANDARD, check_encoding, encoding, foreign, open_data, unreadable};
use crate::source::options::Dialect;
use crate::source::split::{Block, Marking, Problem, Splitter, Widths};
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
    has_mark: bool,
    has_decimal_comma: bool,
    /// What was found out of the file and is worth a note.
    notes: Vec<String>,
}

impl std::fmt::Debug for Csv {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Csv").field("name", &self.name).field("header", &self.header).finish_non_exhaustive()
    }
}

impl Csv {
    /// Opens a file and reads its header. Without a delimiter, the header's most frequent one is taken.
    pub fn open(path: &Path, delimiter: Option<u8>) -> Result<Self> {
        Csv::open_as(path, &Dialect { delimiter, ..Dialect::default() })
    }

    /// The same for a file that is written in some way.
    pub(crate) fn open_as(path: &Path, dialect: &Dialect) -> Result<Self> {
        let text = Text::new(open_data(path, WHAT)?, path, WHAT, dialect)?;
        let mut csv = Csv::new(text, path.display().to_string(), dialect)?;
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
        Csv::from_reader_as(Box::new(reader), name.into(), &Dialect { delimiter, ..Dialect::default() })
    }

    /// The same for a file that is written in some way.
    pub(crate) fn from_reader_as(
        reader: Box<dyn Read + Send>,
        name: String,
        dialect: &Dialect,
    ) -> Result<Self> {
        let text = Text::new(reader, Path::new(&name), WHAT, dialect)?;
        Csv::new(text, name, dialect)
    }

    fn new(text: Text, name: String, dialect: &Dialect) -> Result<Self> {
        let Text { file, delimiter, line, has_mark, notes } = text;
        let marking = Marking { delimiter, quote: dialect.quote, comment: dialect.comment };
        let mut splitter = Splitter::with(file, marking, Widths::Equal, line);
        let mut first = Block::default();
        let mut problem = None;
        let has_header = dialect.names.is_none();
        let mut header = match splitter.next(&mut first) {
            Err(Problem::NotUtf8 { line, column, first: Some(header) }) => {
                problem = Some(Problem::NotUtf8 { line, column, first: None });
                header
            }
            Err(problem) => {
                return Err(explain(&name, HasHeader::Unknown, dialect.has_decimal_comma, problem));
            }
            Ok(()) => {
                let Some(width) = splitter.width() else {
                    return Err(Error::input(format!("data file `{name}` is empty"))
                        .with_hint("the first line must name the columns"));
                };
                check_width(&called(&name), width)?;
                let header = (0..width).map(|at| first.field(at).to_owned()).collect();
                if has_header {
                    first.skip(width);
                }
                header
            }
        };
        if let Some(names) = &dialect.names {
            header = given_names(&called(&name), names, header.len())?;
        }
        checked_header(&called(&name), &header)?;
        let has_decimal_comma = dialect.has_decimal_comma;
        Ok(Csv {
            name,
            splitter,
            header,
            delimiter,
            first,
            n_bytes: None,
            problem,
            has_mark,
            has_decimal_comma,
            notes,
        })
    }

    /// The columns' names.
    pub fn header(&self) -> &[String] {
        &self.header
    }

    /// What separates the fields.
    pub fn delimiter(&self) -> u8 {
        self.delimiter
    }

    /// Did the text start with the byte order mark of UTF-8?
    pub(crate) fn has_mark(&self) -> bool {
        self.has_mark
    }

    /// What was found out of the file and is worth a note.
    pub(crate) fn notes(&self) -> &[String] {
        &self.notes
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
            return Err(explain(&self.name, HasHeader::Known, self.has_decimal_comma, problem));
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
            read.map_err(|problem| explain(&self.name, HasHeader::Known, self.has_decimal_comma, problem))?;
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

/// What data files are called in messages.
const WHAT: &str = "the data file";

/// A text that is open, as UTF-8, from its header on.
pub(crate) struct Text {
    pub(crate) file: Box<dyn Read + Send>,
    /// What separates its fields: the given delimiter or the header's most frequent one.
    pub(crate) delimiter: u8,
    /// The line on which it starts.
    line: u64,
    has_mark: bool,
    notes: Vec<String>,
}

impl Text {
    /// Finds out what a text is written in, passes over what is in front of the table, and looks at the header.
    pub(crate) fn new(
        file: Box<dyn Read + Send>,
        path: &Path,
        what: &str,
        dialect: &Dialect,
    ) -> Result<Self> {
        let failed = |error: std::io::Error| unreadable(path, what, &error.to_string());
        let (mut file, note) = decoded(file, path, what, dialect)?;
        let mut notes: Vec<String> = note.into_iter().collect();
        let has_mark = file.fill_buf().map_err(failed)?.starts_with(b"\xEF\xBB\xBF");
        if has_mark && dialect.skip_rows > 0 {
            file.consume(3);
        }
        let n_skipped = skip_lines(&mut file, dialect.skip_rows).map_err(failed)?;
        if n_skipped < dialect.skip_rows {
            return Err(Error::input(format!(
                "data file `{}` has {n_skipped} lines, and `skip_rows` passes over {}",
                path.display(),
                dialect.skip_rows
            )));
        }
        let start = file.fill_buf().map_err(failed)?;
        if encoding::has_nul(start) {
            return Err(unreadable(path, what, "its first line has NUL bytes, which no text has")
                .with_hint("is it UTF-16, or no CSV at all? the first line must name the columns"));
        }
        // Spreadsheets say in a line of its own what separates fields.
        let said = separator_line(start);
        if let Some((separator, length)) = said {
            file.consume(length);
            notes.push(separator_note(path, separator, dialect.delimiter));
        }
        let start = file.fill_buf().map_err(failed)?;
        let by_name =
            || FileFormat::by_name(path) == Some(FileFormat::Tsv) || dialect.format == Some(FileFormat::Tsv);
        let delimiter = match dialect.delimiter.or(said.map(|(delimiter, _)| delimiter)) {
            Some(delimiter) => delimiter,
            None if by_name() => b'\t',
            None => detect(start, dialect),
        };
        Ok(Text {
            file: Box::new(file),
            delimiter,
            line: 1 + n_skipped + u64::from(said.is_some()),
            has_mark,
            notes,
        })
    }
}

/// A reader of a released file, and what separates its fields: the given delimiter or the header's most frequent one.
pub(crate) fn open_text(
    path: &Path,
    what: &str,
    delimiter: Option<u8>,
) -> Result<(Box<dyn Read + Send>, u8)> {
    let dialect = Dialect { delimiter, ..Dialect::default() };
    let text = Text::new(open_data(path, what)?, path, what, &dialect)?;
    Ok((text.file, text.delimiter))
}

/// Text in UTF-8, whatever it was written in.
type Utf8 = BufReader<Box<dyn Read + Send>>;

/// The text as UTF-8, and what was found out of it. Fails if it is certainly something else than text.
fn decoded(
    file: Box<dyn Read + Send>,
    path: &Path,
    what: &str,
    dialect: &Dialect,
) -> Result<(Utf8, Option<String>)> {
    let mut file = BufReader::with_capacity(1 << 18, file);
    let failed = |error: std::io::Error| unreadable(path, what, &error.to_string());
    let start = file.fill_buf().map_err(failed)?;
    if let Some((is, hint)) = foreign::not_text(start) {
        return Err(unreadable(path, what, &format!("it is {is}, not delimited text")).with_hint(hint));
    }
    let found = encoding::foreign(start);
    let given = dialect.encoding.filter(|given| !encoding::is_utf_8(given));
    let (encoding, note) = match (given, found) {
        (Some(given), _) => (given, None),
        (None, Some(Foreign::Utf16(found))) if dialect.encoding.is_none() => {
            (found, Some(format!("note: `{}` is UTF-16; the release is UTF-8", path.display())))
        }
        (None, _) => {
            check_encoding(start, path, what)?;
            return Ok((file, None));
        }
    };
    let decoded: Box<dyn Read + Send> = Box::new(Decoded::new(file, encoding));
    Ok((BufReader::with_capacity(1 << 18, decoded), note))
}

/// Passes over lines; tells how many there were.
fn skip_lines(file: &mut impl BufRead, n_lines: u64) -> std::io::Result<u64> {
    let mut line = Vec::new();
    for n_skipped in 0..n_lines {
        line.clear();
        // Old files have nothing but `\r`: they are one line here, and their table is not found.
        if file.read_until(b'\n', &mut line)? == 0 {
            return Ok(n_skipped);
        }
    }
    Ok(n_lines)
}

/// What separates fields, where a text begins with a line `sep=;` as spreadsheets write it, and how long that line is.
fn separator_line(start: &[u8]) -> Option<(u8, usize)> {
    let text = start.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(start);
    let (key, rest) = text.split_at_checked(4)?;
    let (&delimiter, rest) = rest.split_first()?;
    let end = if rest.starts_with(b"\r\n") { 2 } else { usize::from(rest.starts_with(b"\n")) };
    let is_separator = (delimiter.is_ascii_punctuation() || b" \t".contains(&delimiter)) && delimiter != b'"';
    let is_one = key.eq_ignore_ascii_case(b"sep=") && is_separator;
    (is_one && end > 0).then(|| (delimiter, start.len() - rest.len() + end))
}

/// That a line says what separates fields, and what becomes of it.
fn separator_note(path: &Path, separator: u8, given: Option<u8>) -> String {
    let is_taken = given.is_none_or(|given| given == separator);
    let separator = if separator == b'\t' { "\\t".to_owned() } else { char::from(separator).to_string() };
    let taken = if is_taken { "it is no row" } else { "`delimiter` says another, which is taken" };
    format!("note: the first line of `{}` says that `{separator}` separates fields; {taken}", path.display())
}

/// The names that somebody gives, one for each column.
pub(crate) fn given_names(table: &str, names: &[String], n_columns: usize) -> Result<Vec<String>> {
    if names.len() != n_columns {
        return Err(Error::input(format!(
            "{table} has {n_columns} columns, and `names` has {}",
            names.len()
        ))
        .with_hint("give a name for each column, in the order of the file"));
    }
    Ok(names.to_vec())
}

/// The delimiter that stands most often in the first line that is no comment, outside quotes.
fn detect(start: &[u8], dialect: &Dialect) -> u8 {
    let mut counts = [0_usize; DELIMITERS.len()];
    let (mut is_quoted, mut is_comment, mut is_at_start) = (false, false, true);
    for &byte in start {
        if is_at_start {
            is_comment = dialect.comment == Some(byte);
        }
        is_at_start = matches!(byte, b'\n' | b'\r') && !is_quoted;
        match byte {
            _ if is_comment => {}
            _ if dialect.quote == Some(byte) => is_quoted = !is_quoted,
            // The line break of a comment may be two.
            b'\n' | b'\r' if !is_quoted && (dialect.comment.is_none() || counts != [0; DELIMITERS.len()]) => {
                break;
            }
            _ if !is_quoted => {
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

fn explain(name: &str, has_header: HasHeader, has_decimal_comma: bool, problem: Problem) -> Error {
    match problem {
        Problem::Io(error) => unreadable(Path::new(name), "the data file", &error.to_string()),
        Problem::Ragged { line, n_fields, expected } => Error::input(format!(
            "data file `{name}`, line {line} has {n_fields} fields, the header has {expected}"
        ))
        .with_hint(if expected == 1 {
            "if titles stand above the header, skip_rows in [input], or --read skip_rows=2, passes over that many lines"
        } else if has_decimal_comma {
            "where commas separate fields, a number with a decimal comma must be quoted; or separate fields by `;`"
        } else {
            "a field that contains the delimiter, such as a decimal comma, or a line break must be quoted"
        }),
        Problem::NotUtf8 { line, column, .. } => {
            // By its number: without a header, what would be its name is somebody's cell.
            let column = match has_header {
                HasHeader::Known => format!(", line {line}: column {}", column + 1),
                HasHeader::Unknown => ": the header".to_owned(),
            };
            Error::input(format!("data file `{name}`{column} is not UTF-8"))
                .with_hint(
                    "say what it is written in: encoding = \"windows-1252\" in [input] of the job, or --read encoding=windows-1252",
                )
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
    fn a_line_of_a_spreadsheet_says_what_separates_fields() {
        for (text, found) in [
            ("sep=;\na;b", Some((b';', 6))),
            ("SEP=|\r\na|b", Some((b'|', 7))),
            ("\u{FEFF}sep=\t\na", Some((b'\t', 9))),
            ("sep=;,a\n", None),
            ("sep=;", None),
            ("sep=5\n", None),
            ("sep=\"\n", None),
            ("sep=", None),
            ("separator\n", None),
            ("", None),
        ] {
            assert_eq!(separator_line(text.as_bytes()), found, "{text:?}");
        }
        let text = "sep=,\na,b;c\n1,2;3\n";
        let csv = Csv::from_reader(Box::new(text.as_bytes()), "data.csv", None).unwrap();
        assert_eq!((csv.delimiter(), csv.header()), (b',', &["a".to_owned(), "b;c".to_owned()][..]));
    }

    #[test]
    fn the_delimiter_is_the_headers_most_frequent_one() {
        let of = |start: &[u8]| detect(start, &Dialect::default());
        assert_eq!(of(b"a,b;c,d\n;;;;"), b',');
        assert_eq!(of(b"a;b,c;d\n"), b';');
        assert_eq!(of(b"\"a;b;c;d\",x\n"), b',');
        assert_eq!(of(b"a\tb\r\n"), b'\t');
        assert_eq!(of(b"name\n1;2\n"), b',');
        assert_eq!(of(b"a;b\r1,5;2,5\r"), b';', "old files have nothing but \\r");
        assert_eq!(of(b""), b',');
        let with = Dialect { comment: Some(b'#'), quote: Some(b'\''), ..Dialect::default() };
        assert_eq!(detect(b"# a;b;c\r\n#;\nx,'y;;z'\n;;;;", &with), b',');
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
