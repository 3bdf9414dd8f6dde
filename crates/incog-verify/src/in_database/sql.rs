//! The SQL of the checker, for PostgreSQL. It is written here and nowhere else: whoever wrote the release wrote other SQL.
//!
//! A cell is compared as a text that is never null: `''` is the missing value, `'.'` the empty text, `'.x'` the text `x`. Equality is that of
//! bytes.

/// A name as it stands in a statement.
pub(super) fn name(name: &str) -> String {
    let mut quoted = String::from("\"");
    for letter in name.chars() {
        if letter == '"' {
            quoted.push('"');
        }
        quoted.push(letter);
    }
    quoted.push('"');
    quoted
}

/// A text as it stands in a statement, for sessions with `standard_conforming_strings`.
pub(super) fn text(text: &str) -> String {
    let mut quoted = String::from("'");
    for letter in text.chars() {
        if letter == '\'' {
            quoted.push('\'');
        }
        quoted.push(letter);
    }
    quoted.push('\'');
    quoted
}

/// A cell as it is compared.
pub(super) fn cell(table: &str, column: &str) -> String {
    format!("coalesce('.' || CAST({table}.{} AS text), '') COLLATE \"C\"", name(column))
}

/// Whether a cell, as it is compared, is missing, empty, or nothing but white space.
pub(super) fn is_blank(cell: &str) -> String {
    let listed = [0x9, 0xA, 0xB, 0xC, 0xD, 0x20, 0x85, 0xA0, 0x1680, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000];
    let spaces = listed.into_iter().chain(0x2000..=0x200A).map(|number| format!("\\u{number:04X}"));
    format!("{cell} ~ '^[.]?[{}]*$'", spaces.collect::<String>())
}

/// The same for a label.
pub(super) fn cell_of_label(label: &str) -> String {
    if label.is_empty() {
        return String::new();
    }
    let is_marks = |text: &str| text.chars().all(|letter| crate::EMPTY_TEXT.starts_with(letter));
    // What consists of the mark only has one more of it.
    let text = label.strip_prefix(crate::EMPTY_TEXT).filter(|rest| is_marks(rest)).unwrap_or(label);
    format!(".{text}")
}

/// The label of a cell.
pub(super) fn label_of_cell(cell: &str) -> String {
    match cell.strip_prefix('.') {
        None => String::new(),
        Some(text) if text.chars().all(|letter| crate::EMPTY_TEXT.starts_with(letter)) => {
            format!("{}{text}", crate::EMPTY_TEXT)
        }
        Some(text) => text.to_owned(),
    }
}

/// Names of columns, separated by commas.
pub(super) fn columns(places: &[usize]) -> String {
    list(places.iter().map(|at| format!("c{at}")))
}

/// Parts of a list; a list of none is a constant, so that a statement is one all the same.
pub(super) fn list(parts: impl Iterator<Item = String>) -> String {
    let parts: Vec<String> = parts.collect();
    if parts.is_empty() { "0".to_owned() } else { parts.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_and_labels_say_the_same() {
        let mark = crate::EMPTY_TEXT;
        for (label, cell) in [
            ("", ""),
            (mark, "."),
            ("a", ".a"),
            (".", ".."),
            (&(mark.to_owned() + mark), &format!(".{mark}")),
        ] {
            assert_eq!((cell_of_label(label).as_str(), label_of_cell(cell).as_str()), (cell, label));
        }
        assert_eq!(name("\"; drop table x; --"), "\"\"\"; drop table x; --\"");
        assert_eq!(text("it's"), "'it''s'");
    }
}
