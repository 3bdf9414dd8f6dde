//! What stands for a cell?
//!
//! Every cell is a string inside, its *label*. Most labels are the cell's text. Two cells have no text that could be: one
//! without a value, and one whose value is the empty text. CSV cannot tell these apart; Parquet and Arrow can, and then so
//! must everybody who compares labels.
//!
//! | cell | label |
//! |---|---|
//! | the missing value: null, or an empty cell of a CSV file, quoted or not | the empty string |
//! | the empty text | [`EMPTY_TEXT`], one character that Unicode keeps free for such uses |
//! | a text of nothing but that character | one more of them |
//! | any other text | the text |
//!
//! So different cells have different labels, whatever their text ([`of_text`]), and a label says which cell it was
//! ([`text_of`]).

use std::borrow::Cow;

/// The label of the empty text, where a format tells it from the missing value, whose label is empty.
pub const EMPTY_TEXT: &str = "\u{FDD0}";

/// The label of a text, which is not missing even if it is empty.
pub fn of_text(text: &str) -> Cow<'_, str> {
    if is_repeated_mark(text) { Cow::Owned(format!("{EMPTY_TEXT}{text}")) } else { Cow::Borrowed(text) }
}

/// The text of a label; `None` for the missing value.
pub fn text_of(label: &str) -> Option<&str> {
    match label.strip_prefix(EMPTY_TEXT) {
        _ if label.is_empty() => None,
        Some(text) if is_repeated_mark(text) => Some(text),
        _ => Some(label),
    }
}

/// Does a label say nothing: the missing value, the empty text, or nothing but white space?
///
/// Such a label is a value like any other, but nobody's name.
pub fn is_blank(label: &str) -> bool {
    label == EMPTY_TEXT || label.chars().all(char::is_whitespace)
}

/// Is this nothing but any number of marks?
fn is_repeated_mark(text: &str) -> bool {
    text.as_bytes().chunks(EMPTY_TEXT.len()).all(|chunk| chunk == EMPTY_TEXT.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn different_cells_have_different_labels_which_say_what_they_were() {
        let marks = |n| EMPTY_TEXT.repeat(n);
        let cells = [
            None,
            Some(String::new()),
            Some(marks(1)),
            Some(marks(2)),
            Some(marks(1) + "a"),
            Some("a".to_owned() + &marks(1)),
            Some("\u{FDD1}".to_owned()),
            Some("\"\"".to_owned()),
        ];
        let label =
            |cell: &Option<String>| cell.as_ref().map_or(String::new(), |text| of_text(text).into_owned());
        for cell in &cells {
            assert_eq!(text_of(&label(cell)), cell.as_deref());
            assert_eq!(cells.iter().filter(|other| label(other) == label(cell)).count(), 1);
        }
        assert_eq!(of_text(""), EMPTY_TEXT);
        assert_eq!(of_text("a"), "a");
    }
}
