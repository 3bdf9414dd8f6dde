//! What is a text written in, if not in UTF-8?
//!
//! Spreadsheets export "Unicode text" as UTF-16. Read as UTF-8, its lines would be said to be ragged. The byte order mark
//! tells, and without one the NUL bytes do: in UTF-16 every second byte of a line in English is NUL, in UTF-32 three of four.
//! Encodings of one byte a character cannot be told from each other; somebody must name them. [`Decoded`] makes UTF-8 of a text
//! while it is read. A byte that is no character of the encoding is an error with its line: nothing is replaced.

use std::io::Read;

use encoding_rs::{Decoder, DecoderResult, Encoding, UTF_8, UTF_16BE, UTF_16LE};

/// An encoding that is certain from the first bytes of a text, and is not UTF-8.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Foreign {
    /// With the first byte of each character last, or first.
    Utf16(&'static Encoding),
    /// Nobody writes it, and nobody here reads it.
    Utf32,
}

impl Foreign {
    /// What it is called.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Foreign::Utf16(_) => "UTF-16",
            Foreign::Utf32 => "UTF-32",
        }
    }
}

/// The encoding, where it is not UTF-8 beyond doubt.
pub(crate) fn foreign(start: &[u8]) -> Option<Foreign> {
    match start {
        [0xFF, 0xFE, 0, 0, ..] | [0, 0, 0xFE, 0xFF, ..] => return Some(Foreign::Utf32),
        [0xFF, 0xFE, ..] => return Some(Foreign::Utf16(UTF_16LE)),
        [0xFE, 0xFF, ..] => return Some(Foreign::Utf16(UTF_16BE)),
        _ => {}
    }
    let line = first_line(start);
    if is_padded(line, 4) {
        Some(Foreign::Utf32)
    } else if is_padded(line, 2) {
        Some(Foreign::Utf16(if line[0] == 0 { UTF_16BE } else { UTF_16LE }))
    } else {
        None
    }
}

/// The encoding of that name; `None` if there is none.
pub(crate) fn named(name: &str) -> Option<&'static Encoding> {
    Encoding::for_label(name.trim().as_bytes())
}

/// Is it UTF-8, which needs no decoder?
pub(crate) fn is_utf_8(encoding: &'static Encoding) -> bool {
    encoding == UTF_8
}

/// How much is decoded at a time.
const CHUNK: usize = 1 << 16;

/// A text in some encoding, as UTF-8 and without its byte order mark.
pub(crate) struct Decoded<R> {
    inner: R,
    encoding: &'static Encoding,
    decoder: Decoder,
    /// What was read; from `start` on it is not decoded yet.
    raw: Vec<u8>,
    start: usize,
    is_at_end: bool,
    /// What was decoded; from `given` on nobody has it yet.
    text: Vec<u8>,
    given: usize,
    /// The line on which the text ends that was decoded so far.
    line: u64,
    is_done: bool,
}

impl<R: Read> Decoded<R> {
    pub(crate) fn new(inner: R, encoding: &'static Encoding) -> Self {
        Decoded {
            inner,
            encoding,
            decoder: encoding.new_decoder(),
            raw: Vec::new(),
            start: 0,
            is_at_end: false,
            text: Vec::new(),
            given: 0,
            line: 1,
            is_done: false,
        }
    }

    /// Decodes some more.
    fn decode(&mut self) -> std::io::Result<()> {
        if self.start == self.raw.len() && !self.is_at_end {
            self.raw.resize(CHUNK, 0);
            let n = self.inner.read(&mut self.raw)?;
            self.raw.truncate(n);
            self.start = 0;
            self.is_at_end = n == 0;
        }
        self.text.resize(4 * CHUNK, 0);
        let (result, n_read, n_written) = self.decoder.decode_to_utf8_without_replacement(
            &self.raw[self.start..],
            &mut self.text,
            self.is_at_end,
        );
        self.start += n_read;
        self.text.truncate(n_written);
        self.given = 0;
        let strange = self.first_strange();
        let up_to = strange.unwrap_or(self.text.len());
        self.line += memchr::memchr_iter(b'\n', &self.text[..up_to]).count() as u64;
        if strange.is_some() || matches!(result, DecoderResult::Malformed(..)) {
            let name = self.encoding.name();
            let problem = format!("line {} has bytes that are no character of {name}", self.line);
            return Err(std::io::Error::other(problem));
        }
        self.is_done = self.is_at_end && result == DecoderResult::InputEmpty;
        Ok(())
    }

    /// Where a control character stands that a Windows code page has in the place of no character: 0x81 in windows-1252.
    fn first_strange(&self) -> Option<usize> {
        if !self.encoding.name().starts_with("windows-") {
            return None;
        }
        let is_strange = |&at: &usize| self.text.get(at + 1).is_some_and(|next| (0x80..=0x9F).contains(next));
        memchr::memchr_iter(0xC2, &self.text).find(is_strange)
    }
}

impl<R: Read> Read for Decoded<R> {
    fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
        while self.given == self.text.len() && !self.is_done {
            self.decode()?;
        }
        let n = to.len().min(self.text.len() - self.given);
        to[..n].copy_from_slice(&self.text[self.given..self.given + n]);
        self.given += n;
        Ok(n)
    }
}

/// Has the first line NUL bytes, which no text has?
pub(crate) fn has_nul(start: &[u8]) -> bool {
    first_line(start).contains(&0)
}

fn first_line(start: &[u8]) -> &[u8] {
    let end = start.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
    &start[..end.unwrap_or(start.len())]
}

/// Is one byte of each character the only one that is not NUL?
fn is_padded(line: &[u8], n_bytes: usize) -> bool {
    let mut characters = line.chunks_exact(n_bytes);
    let place = |character: &[u8]| character.iter().position(|&byte| byte != 0);
    let is_alone = |character: &[u8]| character.iter().filter(|&&byte| byte != 0).count() == 1;
    let Some(first) = characters.next() else {
        return false;
    };
    // The line break ends the line in the middle of a character whose first bytes are NUL.
    let is_whole = characters.remainder().iter().all(|&byte| byte == 0);
    is_whole
        && is_alone(first)
        && characters.all(|character| is_alone(character) && place(character) == place(first))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wide(text: &str, n_bytes: usize, is_big: bool) -> Vec<u8> {
        let of = |byte: u8| {
            let mut character = vec![0; n_bytes];
            character[if is_big { n_bytes - 1 } else { 0 }] = byte;
            character
        };
        text.bytes().flat_map(of).collect()
    }

    #[test]
    fn wide_text_is_told_with_and_without_its_mark() {
        for is_big in [false, true] {
            for text in ["name,age\nx,1\n", "a\n", "a,b", "age\r\n17\r\n"] {
                let utf_16 = Foreign::Utf16(if is_big { UTF_16BE } else { UTF_16LE });
                assert_eq!(foreign(&wide(text, 2, is_big)), Some(utf_16), "{text}");
                assert_eq!(foreign(&wide(text, 4, is_big)), Some(Foreign::Utf32), "{text}");
            }
        }
        assert_eq!(foreign(&[0xFF, 0xFE, 0x38, 0x04]), Some(Foreign::Utf16(UTF_16LE)));
        assert_eq!(foreign(&[0xFE, 0xFF, 0x04, 0x38]), Some(Foreign::Utf16(UTF_16BE)));
        assert_eq!(foreign(&[0xFF, 0xFE, 0, 0, b'a', 0, 0, 0]), Some(Foreign::Utf32));
        assert_eq!(foreign(&[0, 0, 0xFE, 0xFF, 0, 0, 0, b'a']), Some(Foreign::Utf32));
    }

    #[test]
    fn utf_8_is_told_from_wide_text() {
        for text in ["", "a", "name,age\n", "\u{FEFF}name\n", "größe,größer\n", "a\0b\n", "\n\0\n", "ab\0\0"]
        {
            assert_eq!(foreign(text.as_bytes()), None, "{text:?}");
        }
        assert!(has_nul(b"a\0b\n") && !has_nul(b"a\n\0"));
    }

    fn decoded(bytes: &[u8], encoding: &str) -> Result<String, String> {
        let mut text = String::new();
        let mut decoded = Decoded::new(bytes, named(encoding).unwrap());
        decoded.read_to_string(&mut text).map_err(|error| error.to_string())?;
        Ok(text)
    }

    #[test]
    fn what_is_decoded_is_the_text_and_bytes_without_a_character_are_an_error_with_their_line() {
        assert_eq!(decoded(b"gr\xF6\xDFe,\x80\n", "latin1").unwrap(), "gr\u{F6}\u{DF}e,\u{20AC}\n");
        assert_eq!(decoded(b"\xFF\xFEa\0\n\0", "utf-16").unwrap(), "a\n");
        assert_eq!(decoded(b"\xFE\xFF\0a\0\n", "utf-16").unwrap(), "a\n");
        assert_eq!(decoded(b"\x82\xA0\n", "shift_jis").unwrap(), "\u{3042}\n");
        let long = "\u{E9}".repeat(3 * CHUNK);
        let bytes: Vec<u8> = long.chars().map(|letter| letter as u8).collect();
        assert_eq!(decoded(&bytes, "windows-1252").unwrap(), long);
        let problem = decoded(b"a\nb\nc\x81\n", "windows-1252").unwrap_err();
        assert_eq!(problem, "line 3 has bytes that are no character of windows-1252");
        assert!(decoded(b"a\0b", "utf-16").unwrap_err().starts_with("line 1 "), "half a character");
        assert!(decoded(b"a\n\xFF\n", "shift_jis").unwrap_err().starts_with("line 2 "));
        assert!(named("latin-nine").is_none() && named(" UTF-8 ").is_some_and(is_utf_8));
    }
}
