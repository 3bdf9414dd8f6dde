//! Where do the records and fields of a CSV file start and end?
//!
//! Quoting as in RFC 4180; a record ends with `\n`, `\r\n` or `\r`; a quote inside an unquoted field is a character
//! like any other. Lines with nothing on them are no records. A file is cut into [`Block`]s of whole records, so that
//! one block can be read while the columns of the one before are filled, and memory stays flat.
//!
//! Strict where readers differ: text behind a closing quote, a quote that is never closed and (in tables, not in
//! hierarchies) a record with more or fewer fields than the first are errors with their line. No message contains a field.
//!
//! Cost: one search for all separators and one validation of UTF-8 a block; no copy of a field unless it has doubled quotes. A block
//! without quotes and `\r` is done with that: fields are what lies between separators.

use std::io::Read;

use incog_kernels::positions;
use memchr::{memchr, memchr_iter};

/// How much is read at a time: so little that it is still in the processor's cache when columns are filled from it.
const BLOCK: usize = 1 << 20;

/// A longer record is a quote that somebody forgot to close.
const MAX_RECORD: usize = 1 << 30;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Whole records.
#[derive(Debug, Default)]
pub(super) struct Block {
    /// The bytes of the records and, at the end, of records that are not whole.
    text: String,
    /// Start and end of each field in `text`, record by record.
    fields: Vec<(u32, u32)>,
    /// Where records may have any number of fields: the line on which each starts, and which field follows it.
    records: Vec<(u64, usize)>,
}

/// How many fields a record may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Widths {
    /// As many as the first.
    Equal,
    /// Any number.
    Any,
}

impl Block {
    /// How many fields all records have together.
    pub(super) fn n_fields(&self) -> usize {
        self.fields.len()
    }

    /// A field, counted through all records.
    pub(super) fn field(&self, at: usize) -> &str {
        let (start, end) = self.fields[at];
        &self.text[start as usize..end as usize]
    }

    /// The text that fields are in, and where: those of every `step`-th field from the field `first` on.
    pub(super) fn every(
        &self,
        first: usize,
        step: usize,
    ) -> (&str, impl ExactSizeIterator<Item = (u32, u32)>) {
        (&self.text, self.fields.iter().copied().skip(first).step_by(step))
    }

    /// How many bytes all records have together.
    pub(super) fn n_bytes(&self) -> usize {
        self.text.len()
    }

    /// How many records there are, where they may have any number of fields.
    pub(super) fn n_records(&self) -> usize {
        self.records.len()
    }

    /// A record and the line on which it starts, where records may have any number of fields.
    pub(super) fn record(&self, at: usize) -> (u64, Vec<&str>) {
        let start = if at == 0 { 0 } else { self.records[at - 1].1 };
        let (line, end) = self.records[at];
        (line, (start..end).map(|field| self.field(field)).collect())
    }

    /// Forgets the first `n` fields.
    pub(super) fn skip(&mut self, n: usize) {
        self.fields.drain(..n);
    }
}

/// What is wrong with a file.
#[derive(Debug)]
pub(super) enum Problem {
    /// It cannot be read.
    Io(std::io::Error),
    /// A record has another number of fields than the header.
    Ragged { line: u64, n_fields: usize, expected: usize },
    /// A field is not UTF-8; `column` counts from 0. In the first block, the first record if that is UTF-8.
    NotUtf8 { line: u64, column: usize, first: Option<Vec<String>> },
    /// A quoted field never ends.
    Unclosed { line: u64 },
    /// Text follows a closing quote.
    AfterQuote { line: u64 },
    /// A record is longer than [`MAX_RECORD`].
    TooLong { line: u64 },
}

/// Cuts what is read into blocks.
pub(super) struct Splitter<R> {
    inner: R,
    delimiter: u8,
    widths: Widths,
    /// What was read and belongs to the next block.
    rest: Vec<u8>,
    is_at_end: bool,
    /// The line on which the next block starts.
    line: u64,
    /// How many fields a record has, once the first is known.
    width: Option<usize>,
    empty_lines: u64,
    /// Where separators and quotes stand in the block; room that is used again.
    marks: Vec<u32>,
}

impl<R: Read> Splitter<R> {
    /// Nothing is read yet.
    pub(super) fn new(inner: R, delimiter: u8, widths: Widths) -> Self {
        Splitter {
            inner,
            delimiter,
            widths,
            rest: Vec::new(),
            is_at_end: false,
            line: 1,
            width: None,
            empty_lines: 0,
            marks: Vec::new(),
        }
    }

    /// How many fields a record has, once the first is known.
    pub(super) fn width(&self) -> Option<usize> {
        self.width
    }

    /// Lines with nothing on them so far.
    pub(super) fn empty_lines(&self) -> u64 {
        self.empty_lines
    }

    /// Fills a block with the next records; it is empty at the end of the file.
    pub(super) fn next(&mut self, block: &mut Block) -> Result<(), Problem> {
        let mut bytes = std::mem::take(&mut block.text).into_bytes();
        block.fields.clear();
        block.records.clear();
        bytes.clear();
        bytes.append(&mut self.rest);
        let is_first = self.width.is_none();
        let mut wanted = BLOCK;
        let records = loop {
            self.fill(&mut bytes, wanted)?;
            let start =
                if is_first && bytes.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
            let records = self.records(&bytes, start, block)?;
            if !block.fields.is_empty() || self.is_at_end {
                break records;
            }
            if bytes.len() >= MAX_RECORD {
                return Err(Problem::TooLong { line: self.line });
            }
            // A record longer than the block: twice as much, so that it is not looked at too often.
            wanted = 2 * bytes.len();
        };
        self.empty_lines += records.empty_lines;
        for &field in &records.escaped {
            let (start, end) = &mut block.fields[field];
            *end = unescape(&mut bytes, *start as usize, *end as usize) as u32;
        }
        self.rest.extend_from_slice(&bytes[records.end..]);
        bytes.truncate(records.end);
        let first_line = self.line;
        self.line += count_lines(&bytes);
        block.text = String::from_utf8(bytes).map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            let field = block
                .fields
                .partition_point(|&(_, end)| end as usize <= at)
                .min(block.fields.len().max(1) - 1);
            let start = block.fields.get(field).map_or(0, |&(start, _)| start as usize);
            let bytes = error.as_bytes();
            let column = self.width.map_or(0, |width| field % width);
            let width = self.width.filter(|_| is_first).unwrap_or(0);
            let text =
                |&(start, end): &(u32, u32)| String::from_utf8(bytes[start as usize..end as usize].to_vec());
            let first = block.fields[..width].iter().map(text).collect::<Result<Vec<_>, _>>().ok();
            Problem::NotUtf8 {
                line: first_line + count_lines(&bytes[..start]),
                column,
                first: first.filter(|_| is_first),
            }
        })?;
        Ok(())
    }

    /// Reads until there are `wanted` bytes or no more.
    fn fill(&mut self, bytes: &mut Vec<u8>, wanted: usize) -> Result<(), Problem> {
        let mut length = bytes.len();
        if length < wanted && !self.is_at_end {
            bytes.resize(wanted, 0);
        }
        while length < wanted && !self.is_at_end {
            match self.inner.read(&mut bytes[length..]) {
                Ok(0) => self.is_at_end = true,
                Ok(n) => length += n,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Problem::Io(error)),
            }
        }
        bytes.truncate(length);
        Ok(())
    }

    /// Finds the fields of all whole records from `start` on.
    fn records(&mut self, bytes: &[u8], start: usize, block: &mut Block) -> Result<Records, Problem> {
        let Block { fields, records: lines, .. } = block;
        let mut places = std::mem::take(&mut self.marks);
        positions(bytes, [self.delimiter, b'\n', b'\r', b'"'], &mut places);
        fields.clear();
        fields.reserve(places.len());
        lines.clear();
        if let Some(records) = self.plain_records(bytes, start, &places, fields) {
            self.marks = places;
            return Ok(records);
        }
        fields.clear();
        let mut marks = Marks { bytes, places: &places, next: 0 };
        let mut current_line = self.line;
        let mut records = Records { end: start, escaped: Vec::new(), empty_lines: 0 };
        let mut at = start;
        // Where the current record's fields start.
        let mut first_field = 0;
        let first_line = self.line;
        let line = |at: usize| first_line + count_lines(&bytes[..at]);
        while at < bytes.len() {
            let (field, end) = match self.field(&mut marks, at) {
                Field::Unfinished => break,
                Field::Unclosed => return Err(Problem::Unclosed { line: line(at) }),
                Field::TextBehind => return Err(Problem::AfterQuote { line: line(at) }),
                Field::Plain { end } => ((at, end), end),
                Field::Quoted { end, has_quotes } => {
                    if has_quotes {
                        records.escaped.push(fields.len());
                    }
                    ((at + 1, end), end + 1)
                }
            };
            fields.push((field.0 as u32, field.1 as u32));
            let separator = bytes.get(end).copied();
            at = end + 1;
            if separator == Some(self.delimiter) {
                if at == bytes.len() && self.is_at_end {
                    // The last field of a file without a line break at its end.
                    fields.push((at as u32, at as u32));
                } else {
                    continue;
                }
            }
            if separator == Some(b'\r') {
                match bytes.get(at) {
                    Some(b'\n') => at += 1,
                    None if !self.is_at_end => break,
                    _ => {}
                }
            }
            let n_fields = fields.len() - first_field;
            if n_fields == 1 && end == records.end {
                records.empty_lines += 1;
                fields.pop();
            } else {
                let expected = *self.width.get_or_insert(n_fields);
                match self.widths {
                    Widths::Any => lines.push((current_line, fields.len())),
                    Widths::Equal if n_fields != expected => {
                        return Err(Problem::Ragged { line: line(records.end), n_fields, expected });
                    }
                    Widths::Equal => {}
                }
            }
            if self.widths == Widths::Any {
                current_line += count_lines(&bytes[records.end..at.min(bytes.len())]);
            }
            first_field = fields.len();
            records.end = at.min(bytes.len());
        }
        self.marks = places;
        fields.truncate(first_field);
        records.escaped.retain(|&field| field < first_field);
        Ok(records)
    }

    /// The same where that is simple: `None` unless every record has as many fields as the first of the file, all of them end
    /// with a delimiter or `\n`, and there are no quotes.
    fn plain_records(
        &self,
        bytes: &[u8],
        start: usize,
        places: &[u32],
        fields: &mut Vec<(u32, u32)>,
    ) -> Option<Records> {
        // In a table of one column an empty line is no record.
        let width = self.width.filter(|&width| width > 1 && self.widths == Widths::Equal)?;
        let mut at = start as u32;
        for ends in places.chunks_exact(width) {
            let (last, others) = ends.split_last()?;
            let is_plain = others.iter().all(|&end| bytes[end as usize] == self.delimiter);
            if !is_plain || bytes[*last as usize] != b'\n' {
                return None;
            }
            for &end in ends {
                fields.push((at, end));
                at = end + 1;
            }
        }
        let end = at as usize;
        // The last record of a file may have no line break at its end.
        let is_whole = end == bytes.len() || !self.is_at_end;
        is_whole.then_some(Records { end, escaped: Vec::new(), empty_lines: 0 })
    }

    /// The field that starts at `start`.
    fn field(&self, marks: &mut Marks<'_>, start: usize) -> Field {
        let bytes = marks.bytes;
        if bytes[start] != b'"' {
            return match marks.separator(start) {
                Some(end) => Field::Plain { end },
                None if self.is_at_end => Field::Plain { end: bytes.len() },
                None => Field::Unfinished,
            };
        }
        let mut at = start + 1;
        let mut has_quotes = false;
        loop {
            let Some(length) = memchr(b'"', &bytes[at..]) else {
                return if self.is_at_end { Field::Unclosed } else { Field::Unfinished };
            };
            let quote = at + length;
            match bytes.get(quote + 1) {
                Some(b'"') => {
                    has_quotes = true;
                    at = quote + 2;
                }
                Some(&byte) if byte == self.delimiter || byte == b'\n' || byte == b'\r' => {
                    return Field::Quoted { end: quote, has_quotes };
                }
                Some(_) => return Field::TextBehind,
                None if self.is_at_end => return Field::Quoted { end: quote, has_quotes },
                None => return Field::Unfinished,
            }
        }
    }
}

/// Separators and quotes of a block, from the first to the last.
struct Marks<'a> {
    bytes: &'a [u8],
    places: &'a [u32],
    /// Those before it were passed.
    next: usize,
}

impl Marks<'_> {
    /// Where the first separator from `start` on stands; what was asked for before lies before it.
    fn separator(&mut self, start: usize) -> Option<usize> {
        loop {
            let place = *self.places.get(self.next)? as usize;
            if place >= start && self.bytes[place] != b'"' {
                return Some(place);
            }
            self.next += 1;
        }
    }
}

/// What was found in a block.
struct Records {
    /// Where the last whole record ends.
    end: usize,
    /// Fields with doubled quotes.
    escaped: Vec<usize>,
    empty_lines: u64,
}

enum Field {
    /// Up to `end`, where its separator stands.
    Plain { end: usize },
    /// From behind its first quote up to its last, at `end`.
    Quoted { end: usize, has_quotes: bool },
    /// More must be read.
    Unfinished,
    /// The file ends inside quotes.
    Unclosed,
    /// Text follows the closing quote.
    TextBehind,
}

/// Replaces doubled quotes by single ones; returns the new end.
fn unescape(bytes: &mut [u8], start: usize, end: usize) -> usize {
    let mut to = start;
    let mut from = start;
    while from < end {
        bytes[to] = bytes[from];
        from += if bytes[from] == b'"' { 2 } else { 1 };
        to += 1;
    }
    // What is left over must not look like another character's end.
    bytes[to..end].fill(b' ');
    to
}

/// How many line ends there are; old files have nothing but `\r`.
fn count_lines(bytes: &[u8]) -> u64 {
    match memchr_iter(b'\n', bytes).count() {
        0 => memchr_iter(b'\r', bytes).count() as u64,
        n => n as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A reader that gives a few bytes at a time.
    struct Drops<'a>(&'a [u8], usize);

    impl Read for Drops<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let n = self.1.min(self.0.len()).min(buffer.len());
            buffer[..n].copy_from_slice(&self.0[..n]);
            self.0 = &self.0[n..];
            Ok(n)
        }
    }

    fn split(text: &[u8], step: usize) -> Result<(Vec<Vec<String>>, u64), Problem> {
        let mut splitter = Splitter::new(Drops(text, step), b',', Widths::Equal);
        let mut block = Block::default();
        let mut rows = Vec::new();
        loop {
            splitter.next(&mut block)?;
            if block.n_fields() == 0 {
                return Ok((rows, splitter.empty_lines()));
            }
            let fields: Vec<String> = (0..block.n_fields()).map(|at| block.field(at).to_owned()).collect();
            rows.extend(fields.chunks(splitter.width.unwrap()).map(<[String]>::to_vec));
        }
    }

    fn rows(text: &str) -> Vec<Vec<String>> {
        let (rows, _) = split(text.as_bytes(), 1000).unwrap();
        rows
    }

    #[test]
    fn quotes_line_ends_and_byte_order_marks() {
        assert_eq!(rows("\u{FEFF}a,b\r\n1,2\r\n"), [["a", "b"], ["1", "2"]]);
        assert_eq!(rows("\u{FEFF}\"a\",b\n1,2"), [["a", "b"], ["1", "2"]]);
        assert_eq!(rows("a,b\r1,2\r"), [["a", "b"], ["1", "2"]]);
        assert_eq!(
            rows("a,b\n\"x,\"\"y\"\"\n\",5\" pipe\n,\n"),
            [["a", "b"], ["x,\"y\"\n", "5\" pipe"], ["", ""]]
        );
        assert_eq!(rows("a,b\n1,"), [["a", "b"], ["1", ""]]);
        assert_eq!(rows("a\n\"\"\n"), [["a"], [""]], "a quoted empty field is a record");
        assert_eq!(rows(""), Vec::<Vec<String>>::new());
        assert_eq!(split(b"a\n\n1\r\n\r\n\n", 3).unwrap().1, 3, "empty lines are counted");
    }

    #[test]
    fn one_record_that_is_not_plain_changes_nothing_about_the_others() {
        let plain = "1,2,3\n".repeat(50);
        for (odd, row) in [
            ("\"x,\"\"y\",,z\n", ["x,\"y", "", "z"]),
            ("a,b,c\r\n", ["a", "b", "c"]),
            ("\n\na,b,c\n", ["a", "b", "c"]),
            ("a,5\" pipe,c\n", ["a", "5\" pipe", "c"]),
        ] {
            for (before, behind) in [(0, 2), (1, 0), (2, 1)] {
                let text = format!("h,i,j\n{}{odd}{}", plain.repeat(before), plain.repeat(behind));
                for step in [5, 1000] {
                    let (rows, _) = split(text.as_bytes(), step).unwrap();
                    assert_eq!(rows.len(), 2 + 50 * (before + behind), "{odd:?}");
                    assert_eq!(rows[1 + 50 * before], row);
                    let others = rows.iter().skip(1).filter(|other| **other != row);
                    assert!(others.into_iter().all(|row| *row == ["1", "2", "3"]), "{odd:?}");
                }
            }
        }
        let (rows, _) = split(format!("h,i,j\n{plain}4,5,6").as_bytes(), 1000).unwrap();
        assert_eq!(rows[51], ["4", "5", "6"], "without a line break at its end");
        let problem = split(format!("h,i,j\n{plain}4,5\n6\n{plain}").as_bytes(), 1000).unwrap_err();
        assert!(matches!(problem, Problem::Ragged { line: 52, n_fields: 2, expected: 3 }), "{problem:?}");
    }

    #[test]
    fn what_readers_disagree_about_is_refused_with_its_line() {
        let problem = |text: &[u8]| split(text, 7).unwrap_err();
        assert!(matches!(problem(b"a,b\n1,2\n1\n"), Problem::Ragged { line: 3, n_fields: 1, expected: 2 }));
        assert!(matches!(problem(b"a,b\n\"x\ny\",2\n1,\"x"), Problem::Unclosed { line: 4 }));
        assert!(matches!(problem(b"a,b\n1,\"x\"y\n"), Problem::AfterQuote { line: 2 }));
        assert!(matches!(problem(b"a,b\n1,2\n3,\xFF\n"), Problem::NotUtf8 { line: 3, column: 1, .. }));
        assert!(matches!(problem(b"a,b\n1,2\n\xC3,4\n"), Problem::NotUtf8 { line: 3, column: 0, .. }));
    }

    #[test]
    fn agrees_with_the_csv_crate_however_the_file_is_cut() {
        let pieces = ["a", ",", "\n", "\r\n", "\"\"", "\"x,y\"", "\"p\"\"q\"", "é", "", "long text"];
        let mut seed = 7_u64;
        let mut n_compared = 0;
        for _ in 0..3000 {
            let mut text = "h,i\n".to_owned();
            for _ in 0..8 {
                seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                text.push_str(pieces[(seed >> 33) as usize % pieces.len()]);
            }
            let Ok((mine, _)) = split(text.as_bytes(), 1 + seed as usize % 9) else {
                continue;
            };
            let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
            let theirs: Result<Vec<Vec<String>>, _> =
                reader.records().map(|row| row.map(|row| row.iter().map(str::to_owned).collect())).collect();
            assert_eq!(mine, theirs.unwrap(), "{text:?}");
            n_compared += 1;
        }
        assert!(n_compared > 200);
    }

    #[test]
    fn records_larger_than_a_block_are_read() {
        let long = "x".repeat(2 * BLOCK + 17);
        let text = format!("a,b\n1,\"{long}\"\n2,y\n");
        let rows = rows(&text);
        assert_eq!(rows.len(), 3);
        assert_eq!(rows[1][1].len(), long.len());
    }
}
