//! A table from JSON lines: an object a line, whose keys are the columns.
//!
//! Columns stand in the order in which their keys first appear. A key that a line does not have, and `null`, are the missing value; the empty
//! text is a value. Numbers are kept digit for digit. A line that is no object, a value that is an object or a list, and a key that
//! stands twice in a line are errors with their line.

use std::borrow::Cow;
use std::fmt;

use incog_core::table::{Column, Role};
use incog_core::{Error, Result, hash};
use serde::Deserialize;
use serde::de::{MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::source::CellType;

/// The keys and values of a line, values as they are written.
struct Line<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

/// A key that borrows from the line where it can.
#[derive(Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'de> Deserialize<'de> for Line<'de> {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> std::result::Result<Self, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Line<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> std::result::Result<Line<'de>, M::Error> {
                let mut pairs = Vec::new();
                while let Some((Key(key), value)) = map.next_entry::<Key<'de>, &RawValue>()? {
                    pairs.push((key, value));
                }
                Ok(Line(pairs))
            }
        }
        from.deserialize_map(Object)
    }
}

/// What cells of a column have been so far.
#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    text: bool,
    number: bool,
    boolean: bool,
}

impl Seen {
    fn cell_type(self) -> CellType {
        match (self.text, self.number, self.boolean) {
            (false, true, false) => CellType::Number,
            (false, false, true) => CellType::Open,
            _ => CellType::Text,
        }
    }
}

/// The columns of a text and their types; `table` is what it is called in messages.
pub(crate) fn read(text: &str, table: &str) -> Result<(Vec<Column>, Vec<CellType>)> {
    let mut columns: Vec<Column> = Vec::new();
    let mut seen: Vec<Seen> = Vec::new();
    let mut places: hash::Map<String, usize> = hash::Map::default();
    let mut n_rows = 0;
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
    for (number, line) in (1..).zip(text.lines()) {
        if line.trim().is_empty() {
            continue;
        }
        let wrong = |problem: &str| Error::input(format!("{table}, line {number}{problem}"));
        let Line(pairs) = serde_json::from_str(line).map_err(|_| {
            wrong(" is not a JSON object")
                .with_hint("each line is an object of its own: {\"age\": 34, \"sex\": \"f\"}")
        })?;
        for (at, (key, value)) in pairs.iter().enumerate() {
            let place = match places.get(key.as_ref()) {
                Some(&place) => place,
                None => {
                    let mut column = Column::new(key.as_ref(), Role::Other);
                    for _ in 0..n_rows {
                        column.push("")?;
                    }
                    columns.push(column);
                    seen.push(Seen::default());
                    places.insert(key.clone().into_owned(), columns.len() - 1);
                    super::check_width(table, columns.len())?;
                    columns.len() - 1
                }
            };
            let column = &mut columns[place];
            if column.codes().len() > n_rows {
                return Err(wrong(&format!(": the key of value {} stands there twice", at + 1)));
            }
            if !push(column, &mut seen[place], value.get())? {
                // A text that cannot be one: `\ud800` is half of a character that JSON writes in two halves.
                let (problem, hint) = match value.get().starts_with('"') {
                    true => ("has half of a character", "write the text in UTF-8, without escapes"),
                    false => (
                        "is an object or a list",
                        "a cell is a text, a number, true, false or null: flatten the data first",
                    ),
                };
                return Err(wrong(&format!(": value {} {problem}", at + 1)).with_hint(hint));
            }
        }
        n_rows += 1;
        for column in columns.iter_mut().filter(|column| column.codes().len() < n_rows) {
            column.push("")?;
        }
    }
    if columns.is_empty() {
        return Err(Error::input(format!("{table} has no objects")).with_hint("each line is an object"));
    }
    Ok((columns, seen.into_iter().map(Seen::cell_type).collect()))
}

/// Appends a cell; tells whether it is one.
fn push(column: &mut Column, seen: &mut Seen, value: &str) -> Result<bool> {
    match value.as_bytes().first() {
        Some(b'n') => _ = column.push("")?,
        Some(b't' | b'f') => {
            seen.boolean = true;
            column.push_text(value)?;
        }
        Some(b'"') => {
            seen.text = true;
            // Whatever is raw has been read once.
            let text: Cow<'_, str> = match serde_json::from_str::<Key<'_>>(value) {
                Ok(Key(text)) => text,
                Err(_) => return Ok(false),
            };
            column.push_text(&text)?;
        }
        Some(b'{' | b'[') | None => return Ok(false),
        Some(_) => {
            seen.number = true;
            column.push_text(value)?;
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use incog_core::table::label::EMPTY_TEXT;

    use super::*;

    #[test]
    fn objects_are_rows_and_keys_are_columns() {
        let text = "\u{FEFF}{\"a\": 1.50, \"b\": \"x\\n\"}\n\n{\"b\": \"\", \"c\": true}\r\n{\"a\": null, \"b\": null}\n";
        let (columns, types) = read(text, "t").unwrap();
        let cells = |at: usize| (0..3).map(|row| columns[at].cell(row)).collect::<Vec<_>>();
        assert_eq!(cells(0), ["1.50", "", ""]);
        assert_eq!(cells(1), ["x\n", EMPTY_TEXT, ""]);
        assert_eq!(cells(2), ["", "true", ""]);
        assert_eq!(types, [CellType::Number, CellType::Text, CellType::Open]);
    }

    #[test]
    fn what_is_no_table_is_refused_with_its_line_and_without_its_cells() {
        for (text, says) in [
            ("{\"a\": 1}\n[1]\n", "t, line 2 is not a JSON object"),
            ("{\"a\": 1}\n{\"a\": secret}\n", "t, line 2 is not a JSON object"),
            ("{\"a\": 1}\n3\n", "t, line 2 is not a JSON object"),
            ("{\"a\": {\"b\": 1}}\n", "t, line 1: value 1 is an object or a list"),
            ("{\"b\": 1, \"a\": [1]}\n", "t, line 1: value 2 is an object or a list"),
            ("{\"a\": 1, \"a\": 2}\n", "t, line 1: the key of value 2 stands there twice"),
            ("{\"a\": 1} {\"a\": 2}\n", "t, line 1 is not a JSON object"),
            ("\n", "t has no objects"),
        ] {
            assert_eq!(read(text, "t").unwrap_err().to_string(), says);
        }
    }
}
