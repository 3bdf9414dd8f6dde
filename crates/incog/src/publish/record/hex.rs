//! Bytes as hexadecimal digits.

use std::fmt::Write;

/// Two lower-case digits a byte.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        write!(text, "{byte:02x}").expect("writing to a string cannot fail");
        text
    })
}

/// The bytes of a text of exactly that many, in digits of either case and nothing else: no sign, no space.
pub(crate) fn bytes<const N: usize>(text: &str) -> Option<[u8; N]> {
    if text.len() != 2 * N {
        return None;
    }
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
    let mut bytes = [0; N];
    for (byte, digits) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
        *byte = digit(digits[0])? << 4 | digit(digits[1])?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_read_as_they_are_written_and_nothing_else_is() {
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(bytes::<256>(&hex(&all)).unwrap().to_vec(), all);
        assert_eq!(bytes::<2>("aBcD"), Some([0xab, 0xcd]));
        for text in ["", "ab", "abcde", "abcdef", "+1+1", "-1-1", " 1 1", "0x0x", "gggg", "é1"] {
            assert_eq!(bytes::<2>(text), None, "{text}");
        }
    }
}
