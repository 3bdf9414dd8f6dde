//! What does a cell say, before anything else is asked of it?
//!
//! Files have `NA`, `-9` or `NULL` where a value is missing, and zip codes that lost their leading zeros on the way through a
//! spreadsheet. Both are put right while a column is filled, so that everybody behind sees the same values, and the release shows
//! them. How numbers and dates are written is not changed: an unchanged cell is released as it came.

use std::borrow::Cow;

use crate::value::Notation;

/// How the cells of a column are read. Unless somebody says otherwise, nothing but an empty cell is missing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reading {
    /// Texts that stand for a missing value, beside the empty cell. The first is what a missing value is released as, where a format
    /// has no null.
    pub missing: Vec<String>,
    /// Whole numbers with fewer digits get leading zeros up to this many.
    pub pad: Option<usize>,
    /// How numbers and dates are written.
    pub notation: Notation,
}

impl Reading {
    /// Are cells taken as they are?
    pub(super) fn is_verbatim(&self) -> bool {
        self.missing.is_empty() && self.pad.is_none()
    }

    /// What a missing value is written as in a format without null.
    pub fn marker(&self) -> &str {
        self.missing.first().map_or("", String::as_str)
    }

    /// Does this text stand for a missing value?
    pub(super) fn is_marker(&self, text: &str) -> bool {
        self.missing.iter().any(|marker| marker == text)
    }

    /// The text with its leading zeros.
    pub(super) fn padded<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let Some(length) = self.pad else {
            return Cow::Borrowed(text);
        };
        // What was a whole number among missing values came out as a float: 1001.0.
        let digits = text.strip_suffix(".0").unwrap_or(text);
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Cow::Borrowed(text);
        }
        if digits.len() >= length { Cow::Borrowed(digits) } else { Cow::Owned(format!("{digits:0>length$}")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Column, Role};

    #[test]
    fn markers_are_missing_and_leading_zeros_come_back() {
        let reading = Reading { missing: vec!["NA".into(), "-9".into()], pad: Some(5), ..Reading::default() };
        let mut column = Column::new("zip", Role::Other).with_reading(reading.clone());
        let text = "1001,NA,-9,,01001,1001.0,123456,x1,-1";
        let mut at = 0;
        let fields: Vec<(u32, u32)> = text
            .split(',')
            .map(|field| {
                at += field.len() + 1;
                ((at - field.len() - 1) as u32, at as u32 - 1)
            })
            .collect();
        column.push_fields(text, fields.into_iter()).unwrap();
        let cells = ["01001", "", "", "", "01001", "01001", "123456", "x1", "-1"];
        assert!((0..9).map(|row| column.cell(row)).eq(cells));
        column.push_text("NA").unwrap();
        column.push_text("").unwrap();
        assert_eq!((column.cell(9), column.cell(10)), ("", super::super::label::EMPTY_TEXT));
        assert_eq!((reading.marker(), Reading::default().marker()), ("NA", ""));
        // The same from a column that is full already.
        let full = Column::from_cells("zip", Role::Other, ["NA", "1001", "", "1001"]).unwrap();
        let full = full.read_as(reading).unwrap();
        assert!((0..4).map(|row| full.cell(row)).eq(["", "01001", "", "01001"]));
        assert_eq!(full.dictionary().len(), 2);
    }
}
