//! What is a text written in, if not in UTF-8?
//!
//! Spreadsheets export "Unicode text" as UTF-16. Read as UTF-8, its lines would be said to be ragged. The byte order mark
//! tells, and without one the NUL bytes do: in UTF-16 every second byte of a line in English is NUL, in UTF-32 three of four.

/// The name of the encoding, where it is not UTF-8 beyond doubt.
pub(super) fn foreign(start: &[u8]) -> Option<&'static str> {
    match start {
        [0xFF, 0xFE, 0, 0, ..] | [0, 0, 0xFE, 0xFF, ..] => return Some("UTF-32"),
        [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] => return Some("UTF-16"),
        _ => {}
    }
    let line = first_line(start);
    if is_padded(line, 4) {
        Some("UTF-32")
    } else if is_padded(line, 2) {
        Some("UTF-16")
    } else {
        None
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
                assert_eq!(foreign(&wide(text, 2, is_big)), Some("UTF-16"), "{text}");
                assert_eq!(foreign(&wide(text, 4, is_big)), Some("UTF-32"), "{text}");
            }
        }
        assert_eq!(foreign(&[0xFF, 0xFE, 0x38, 0x04]), Some("UTF-16"));
        assert_eq!(foreign(&[0xFE, 0xFF, 0x04, 0x38]), Some("UTF-16"));
        assert_eq!(foreign(&[0xFF, 0xFE, 0, 0, b'a', 0, 0, 0]), Some("UTF-32"));
        assert_eq!(foreign(&[0, 0, 0xFE, 0xFF, 0, 0, 0, b'a']), Some("UTF-32"));
    }

    #[test]
    fn utf_8_is_told_from_wide_text() {
        for text in ["", "a", "name,age\n", "\u{FEFF}name\n", "größe,größer\n", "a\0b\n", "\n\0\n", "ab\0\0"]
        {
            assert_eq!(foreign(text.as_bytes()), None, "{text:?}");
        }
        assert!(has_nul(b"a\0b\n") && !has_nul(b"a\n\0"));
    }
}
