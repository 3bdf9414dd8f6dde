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

/// What separates and surrounds fields.
#[derive(Debug, Clone, Copy)]
pub(super) struct Marking {
    pub(super) delimiter: u8,
    /// `None`: a quote is a character like any other.
    pub(super) quote: Option<u8>,
    /// A record does not start with this: such a line is none.
    pub(super) comment: Option<u8>,
}

impl Marking {
    /// As in RFC 4180, with this delimiter.
    pub(super) fn new(delimiter: u8) -> Self {
        Marking { delimiter, quote: Some(b'"'), comment: None }
    }
}

/// Cuts what is read into blocks.
pub(super) struct Splitter<R> {
    inner: R,
    delimiter: u8,
    quote: Option<u8>,
    comment: Option<u8>,
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
        Splitter::with(inner, Marking::new(delimiter), widths, 1)
    }

    /// The same with other marks, for a text that starts on this line.
    pub(super) fn with(inner: R, marking: Marking, widths: Widths, line: u64) -> Self {
        let Marking { delimiter, quote, comment } = marking;
        Splitter {
            inner,
            delimiter,
            quote,
            comment,
            widths,
            rest: Vec::new(),
            is_at_end: false,
            line,
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
            *end = unescape(&mut bytes, *start as usize, *end as usize, self.quote) as u32;
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
        // Without quotes, the delimiter is looked for twice.
        positions(bytes, [self.delimiter, b'\n', b'\r', self.quote.unwrap_or(self.delimiter)], &mut places);
        fields.clear();
        fields.reserve(places.len());
        lines.clear();
        if let Some(records) = self.plain_records(bytes, start, &places, fields) {
            self.marks = places;
            return Ok(records);
        }
        fields.clear();
        let mut marks = Marks { bytes, places: &places, next: 0, quote: self.quote };
        let mut current_line = self.line;
        let mut records = Records { end: start, escaped: Vec::new(), empty_lines: 0 };
        let mut at = start;
        // Where the current record's fields start.
        let mut first_field = 0;
        let first_line = self.line;
        let line = |at: usize| first_line + count_lines(&bytes[..at]);
        while at < bytes.len() {
            if self.comment == Some(bytes[at]) && fields.len() == first_field && at == records.end.max(start)
            {
                let Some(end) = self.end_of_line(bytes, at) else {
                    break;
                };
                current_line += count_lines(&bytes[at..end]);
                (at, records.end) = (end, end);
                continue;
            }
            let Some((field, end, has_quotes)) = bounds(&self.field(&mut marks, at), at, line)? else {
                break;
            };
            if has_quotes {
                records.escaped.push(fields.len());
            }
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
                self.check_width(n_fields, || line(records.end))?;
                if self.widths == Widths::Any {
                    lines.push((current_line, fields.len()));
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

    /// Fails if a record has another number of fields than the first, where that matters.
    fn check_width(&mut self, n_fields: usize, line: impl Fn() -> u64) -> Result<(), Problem> {
        let expected = *self.width.get_or_insert(n_fields);
        match self.widths {
            Widths::Equal if n_fields != expected => {
                Err(Problem::Ragged { line: line(), n_fields, expected })
            }
            Widths::Equal | Widths::Any => Ok(()),
        }
    }

    /// Where the line ends that starts at `start`, its line break included; `None` where more must be read.
    fn end_of_line(&self, bytes: &[u8], start: usize) -> Option<usize> {
        match memchr::memchr2(b'\n', b'\r', &bytes[start..]) {
            None => self.is_at_end.then_some(bytes.len()),
            Some(length) => match (bytes[start + length], bytes.get(start + length + 1)) {
                (b'\r', Some(b'\n')) => Some(start + length + 2),
                (b'\r', None) if !self.is_at_end => None,
                _ => Some(start + length + 1),
            },
        }
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
        // In a table of one column an empty line is no record; where there are comments, every line is looked at.
        let is_simple = self.widths == Widths::Equal && self.comment.is_none();
        let width = self.width.filter(|&width| width > 1 && is_simple)?;
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
        let Some(quote_byte) = self.quote.filter(|quote| *quote == bytes[start]) else {
            return match marks.separator(start) {
                Some(end) => Field::Plain { end },
                None if self.is_at_end => Field::Plain { end: bytes.len() },
                None => Field::Unfinished,
            };
        };
        let mut at = start + 1;
        let mut has_quotes = false;
        loop {
            let Some(length) = memchr(quote_byte, &bytes[at..]) else {
                return if self.is_at_end { Field::Unclosed } else { Field::Unfinished };
            };
            let quote = at + length;
            match bytes.get(quote + 1) {
                Some(&byte) if byte == quote_byte => {
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
    quote: Option<u8>,
}

impl Marks<'_> {
    /// Where the first separator from `start` on stands; what was asked for before lies before it.
    fn separator(&mut self, start: usize) -> Option<usize> {
        loop {
            let place = *self.places.get(self.next)? as usize;
            if place >= start && Some(self.bytes[place]) != self.quote {
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
fn unescape(bytes: &mut [u8], start: usize, end: usize, quote: Option<u8>) -> usize {
    let mut to = start;
    let mut from = start;
    while from < end {
        bytes[to] = bytes[from];
        from += if Some(bytes[from]) == quote { 2 } else { 1 };
        to += 1;
    }
    // What is left over must not look like another character's end.
    bytes[to..end].fill(b' ');
    to
}

/// From where to where the text of a field goes, where the field ends, and whether there are quotes in the text.
type Bounds = ((usize, usize), usize, bool);

/// The bounds of a field that starts at `at`; `None` where more must be read.
fn bounds(field: &Field, at: usize, line: impl Fn(usize) -> u64) -> Result<Option<Bounds>, Problem> {
    match *field {
        Field::Unfinished => Ok(None),
        Field::Unclosed => Err(Problem::Unclosed { line: line(at) }),
        Field::TextBehind => Err(Problem::AfterQuote { line: line(at) }),
        Field::Plain { end } => Ok(Some(((at, end), end, false))),
        Field::Quoted { end, has_quotes } => Ok(Some(((at + 1, end), end + 1, has_quotes))),
    }
}

/// How many line ends there are; old files have nothing but `\r`.
fn count_lines(bytes: &[u8]) -> u64 {
    match memchr_iter(b'\n', bytes).count() {
        0 => memchr_iter(b'\r', bytes).count() as u64,
        n => n as u64,
    }
}

#[cfg(test)]
mod tests;
