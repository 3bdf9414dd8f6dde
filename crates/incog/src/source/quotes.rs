//! Does a file end inside a quoted field, and does it have empty lines?
//!
//! The CSV reader takes what is left of the file as the last field then, and rows silently disappear. This reader
//! passes bytes on unchanged and keeps track of quotes: a quoted field starts with a quote at the start of a field
//! and ends with a quote that is not doubled. Empty lines are skipped by the CSV reader too; where there is a single
//! column they could be missing values, so they are counted.

use std::cell::Cell;
use std::io::Read;
use std::rc::Rc;

const BYTE_ORDER_MARK: [u8; 3] = [0xEF, 0xBB, 0xBF];

/// Watches the quotes of what is read through it.
pub(super) struct QuoteWatch<R> {
    inner: R,
    delimiter: u8,
    state: State,
    line: u64,
    /// The line on which the last quoted field started.
    started: u64,
    /// Nothing but a carriage return since the last line break.
    is_line_empty: bool,
    seen: Rc<Seen>,
}

/// What a watch has seen so far.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// The line on which a quoted field started that is still open.
    pub(super) open_since: Cell<Option<u64>>,
    /// Lines with nothing on them.
    pub(super) empty_lines: Cell<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    FieldStart,
    Unquoted,
    Quoted,
    /// A quote inside a quoted field: its end, or the first of two.
    QuoteInQuoted,
}

impl<R: Read> QuoteWatch<R> {
    /// A watch, and what it will have seen.
    pub(super) fn new(inner: R, delimiter: u8) -> (Self, Rc<Seen>) {
        let seen = Rc::new(Seen::default());
        let watch = QuoteWatch {
            inner,
            delimiter,
            state: State::FieldStart,
            line: 1,
            started: 0,
            is_line_empty: true,
            seen: Rc::clone(&seen),
        };
        (watch, seen)
    }

    /// A line ends outside quotes.
    fn end_line(&mut self) {
        if self.is_line_empty {
            self.seen.empty_lines.set(self.seen.empty_lines.get() + 1);
        }
        self.is_line_empty = true;
        self.line += 1;
    }

    fn watch(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.state = match (self.state, byte) {
                (State::FieldStart, b'"') => {
                    self.started = self.line;
                    State::Quoted
                }
                (State::Quoted, b'"') => State::QuoteInQuoted,
                (State::QuoteInQuoted, b'"') | (State::Quoted, _) => State::Quoted,
                (_, b'\n' | b'\r') => State::FieldStart,
                (_, byte) if byte == self.delimiter => State::FieldStart,
                // A byte order mark stands before the first field.
                (State::FieldStart, byte) if self.line == 1 && BYTE_ORDER_MARK.contains(&byte) => {
                    State::FieldStart
                }
                _ => State::Unquoted,
            };
            match (self.state, byte) {
                (State::Quoted, byte) => {
                    self.line += u64::from(byte == b'\n');
                    self.is_line_empty = false;
                }
                (_, b'\n') => self.end_line(),
                (_, byte) => self.is_line_empty &= byte == b'\r',
            }
        }
        self.seen.open_since.set((self.state == State::Quoted).then_some(self.started));
    }
}

impl<R: Read> Read for QuoteWatch<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let n = self.inner.read(buffer)?;
        let bytes = &buffer[..n];
        if matches!(self.state, State::Quoted | State::QuoteInQuoted) || memchr::memchr(b'"', bytes).is_some()
        {
            self.watch(bytes);
        } else if let Some(&last) = bytes.last() {
            // No quote: only where the next field starts matters.
            let is_mark = self.line == 1
                && self.state == State::FieldStart
                && bytes.iter().all(|byte| BYTE_ORDER_MARK.contains(byte));
            let ends_field = last == b'\n' || last == b'\r' || last == self.delimiter || is_mark;
            self.state = if ends_field { State::FieldStart } else { State::Unquoted };
            let is_blank = |text: &[u8]| text.is_empty() || text == b"\r";
            let mut start = 0;
            for end in memchr::memchr_iter(b'\n', bytes) {
                self.is_line_empty &= is_blank(&bytes[start..end]);
                self.end_line();
                start = end + 1;
            }
            self.is_line_empty &= is_blank(&bytes[start..]);
            self.seen.open_since.set(None);
        }
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open_at_end(text: &str, step: usize) -> Option<u64> {
        let (mut watch, seen) = QuoteWatch::new(text.as_bytes(), b',');
        let mut buffer = vec![0; step];
        while watch.read(&mut buffer).unwrap() > 0 {}
        seen.open_since.get()
    }

    #[test]
    fn only_a_field_that_is_never_closed_is_open() {
        for step in [1, 2, 3, 100] {
            assert_eq!(open_at_end("a,b\n1,\"x\"\n2,\"y,\"\"z\n\"\n", step), None);
            assert_eq!(open_at_end("a,b\n1,\"x\n2,y\n", step), Some(2));
            assert_eq!(open_at_end("a,b\n1,5\" pipe\n2,y\n", step), None, "a quote inside an unquoted field");
            assert_eq!(open_at_end("a,b\n1,\"x\"\"\n", step), Some(2), "a doubled quote does not close");
            assert_eq!(open_at_end("\u{FEFF}\"a\nb", step), Some(1));
            assert_eq!(open_at_end("a,\"\"\n", step), None);
        }
    }

    #[test]
    fn empty_lines_are_counted_outside_quotes() {
        let count = |text: &str, step: usize| {
            let (mut watch, seen) = QuoteWatch::new(text.as_bytes(), b',');
            let mut buffer = vec![0; step];
            while watch.read(&mut buffer).unwrap() > 0 {}
            seen.empty_lines.get()
        };
        for step in [1, 2, 3, 100] {
            assert_eq!(count("a\n1\n2\n", step), 0);
            assert_eq!(count("a\n\n1\n\n2\n\n", step), 3);
            assert_eq!(count("a\r\n\r\n1\r\n", step), 1);
            assert_eq!(count("a\n\"x\n\ny\"\n\n", step), 1);
        }
    }
}
