//! What are the records?
//!
//! A [`Table`] is a set of equally long, dictionary-coded columns. The engine never sees text: a cell is a
//! `u32` that stands for one distinct string of its column. Every column has a declared [`Role`]. A missing value is a value
//! like any other, never a wildcard; it is not the empty text, which only some formats have ([`label`]). What cells say that are
//! written in one way or another is the column's [`Reading`].

mod dictionary;
pub mod label;
mod reading;

pub use dictionary::Dictionary;
pub use reading::Reading;

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::value::Notation;

/// What a column is to the people in the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// Names a person outright (name, number). Never released.
    Identifier,
    /// May be known to an outsider and, together with others, single a person out. Generalized.
    QuasiIdentifier,
    /// What nobody should learn about a person. Released as it is.
    Sensitive,
    /// Neither. Released as it is.
    Other,
}

/// One column: its name, its role and a code per row.
///
/// # Invariants
/// Every code is below `dictionary.len()`.
#[derive(Debug, Clone)]
pub struct Column {
    name: String,
    role: Role,
    dictionary: Dictionary,
    codes: Vec<u32>,
    reading: Reading,
}

impl Column {
    /// An empty column, to be filled row by row.
    pub fn new(name: impl Into<String>, role: Role) -> Self {
        Column {
            name: name.into(),
            role,
            dictionary: Dictionary::default(),
            codes: Vec::new(),
            reading: Reading::default(),
        }
    }

    /// The same column, whose cells are read like this from now on.
    #[must_use]
    pub fn with_reading(mut self, reading: Reading) -> Self {
        self.reading = reading;
        self
    }

    /// The same rows, as if they had been read like this from the start.
    pub fn read_as(self, reading: Reading) -> Result<Self> {
        if reading.is_verbatim() {
            return Ok(self.with_reading(reading));
        }
        let mut column = Column::new(self.name, self.role).with_reading(reading);
        let mut codes = Vec::with_capacity(self.dictionary.len());
        for value in self.dictionary.values() {
            codes.push(match label::text_of(value) {
                None => column.push("")?,
                Some(text) => column.push_text(text)?,
            });
        }
        column.codes = self.codes.iter().map(|&code| codes[code as usize]).collect();
        // Codes are ranks of first appearance still: values keep their order.
        Ok(column)
    }

    /// How its cells are read.
    pub fn reading(&self) -> &Reading {
        &self.reading
    }

    /// How its numbers and dates are written.
    pub fn notation(&self) -> &Notation {
        &self.reading.notation
    }

    /// The same column, whose numbers and dates turn out to be written like this.
    pub fn set_notation(&mut self, notation: Notation) {
        self.reading.notation = notation;
    }

    /// A column from the text of its cells; empty ones are missing.
    pub fn from_cells<'a>(
        name: impl Into<String>,
        role: Role,
        cells: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self> {
        let mut column = Column::new(name, role);
        for cell in cells {
            column.push(cell)?;
        }
        Ok(column)
    }

    /// Appends a row and tells the code of its cell, with which equal rows may follow by
    /// [`push_code`](Self::push_code). An empty cell is the missing value.
    pub fn push(&mut self, cell: &str) -> Result<u32> {
        if cell.is_empty() { self.push_label(cell) } else { self.push_text(cell) }
    }

    /// The same for a text, which is a value even if it is empty, unless it is said to stand for a missing one.
    pub fn push_text(&mut self, text: &str) -> Result<u32> {
        if self.reading.is_verbatim() {
            return self.push_label(&label::of_text(text));
        }
        if self.reading.is_marker(text) {
            return self.push_label("");
        }
        let padded = self.reading.padded(text);
        self.push_label(&label::of_text(&padded))
    }

    fn push_label(&mut self, label: &str) -> Result<u32> {
        let code = self.dictionary.intern(label).ok_or_else(|| self.is_full())?;
        self.codes.push(code);
        Ok(code)
    }

    /// Appends the rows of another column, whose cells are read as this one's are.
    pub fn append(&mut self, other: &Column) -> Result<()> {
        let mut codes: Vec<Option<u32>> = vec![None; other.dictionary.len()];
        self.codes.reserve(other.codes.len());
        for &code in &other.codes {
            match codes[code as usize] {
                Some(known) => self.codes.push(known),
                None => {
                    let new = match label::text_of(other.dictionary.value(code)) {
                        None => self.push("")?,
                        Some(text) => self.push_text(text)?,
                    };
                    codes[code as usize] = Some(new);
                }
            }
        }
        Ok(())
    }

    /// Appends rows whose cells stand in a text, each from a place to another. Empty cells are missing.
    ///
    /// # Panics
    /// When there are no such places in the text, or they are inside of characters.
    pub fn push_fields(
        &mut self,
        text: &str,
        fields: impl ExactSizeIterator<Item = (u32, u32)>,
    ) -> Result<()> {
        self.codes.reserve(fields.len());
        if !self.reading.is_verbatim() {
            for (start, end) in fields {
                self.push(&text[start as usize..end as usize])?;
            }
            return Ok(());
        }
        for (start, end) in fields {
            let (start, end) = (start as usize, end as usize);
            // A text that could be taken for another's label is rare enough to be looked at twice.
            if text.as_bytes().get(start) == label::EMPTY_TEXT.as_bytes().first() {
                self.push(&text[start..end])?;
                continue;
            }
            let code = self.dictionary.intern_at(text, start, end);
            self.codes.push(code.ok_or_else(|| self.is_full())?);
        }
        Ok(())
    }

    fn is_full(&self) -> Error {
        Error::new(
            crate::ErrorKind::Limit,
            format!("column `{}` has more distinct values than 4,294,967,295", self.name),
        )
    }

    /// Makes room for `n_rows` more rows, if there is any; it is not touched before they come.
    pub fn expect_rows(&mut self, n_rows: usize) {
        // Rows that were never to come must not be what a run fails by.
        let _ = self.codes.try_reserve(n_rows);
    }

    /// Appends a row whose cell has occurred before.
    ///
    /// # Panics
    /// When the code did not come from this column.
    pub fn push_code(&mut self, code: u32) {
        assert!((code as usize) < self.dictionary.len(), "the code is of another column");
        self.codes.push(code);
    }

    /// Gives back memory that was reserved for more rows.
    pub fn shrink(&mut self) {
        self.codes.shrink_to_fit();
    }

    /// Forgets the rows, which somebody else has by now; the values keep their codes.
    pub fn forget_rows(&mut self) {
        self.codes.clear();
    }

    /// Forgets the rows and the values.
    pub fn forget_all(&mut self) {
        self.codes.clear();
        self.dictionary = Dictionary::default();
    }

    /// The column's name, as in the header.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What the column is declared to be.
    pub fn role(&self) -> Role {
        self.role
    }

    /// The same column, declared to be something else.
    #[must_use]
    pub fn with_role(mut self, role: Role) -> Self {
        self.role = role;
        self
    }

    /// The distinct values, in order of first appearance.
    pub fn dictionary(&self) -> &Dictionary {
        &self.dictionary
    }

    /// The code of each row.
    pub fn codes(&self) -> &[u32] {
        &self.codes
    }

    /// The label of one cell: its text, but for what [`label`] says.
    pub fn cell(&self, row_idx: usize) -> &str {
        self.dictionary.value(self.codes[row_idx])
    }
}

/// The records: columns of equal length and distinct names. Where there are more records than fit the memory, somebody else
/// has their codes, and the columns have none ([`of_values`](Table::of_values)). A clone shares the columns.
#[derive(Debug, Clone)]
pub struct Table {
    columns: Arc<[Column]>,
    /// Where the columns stand, in the order of their names: there may be a hundred thousand.
    by_name: Vec<u32>,
    n_rows: usize,
    has_codes: bool,
}

impl Table {
    /// A table of these columns.
    pub fn new(columns: Vec<Column>) -> Result<Self> {
        let n_rows = columns.first().map_or(0, |column| column.codes.len());
        for column in &columns {
            if column.codes.len() != n_rows {
                return Err(Error::input(format!(
                    "column `{}` has {} rows, column `{}` has {n_rows}",
                    column.name,
                    column.codes.len(),
                    columns[0].name
                )));
            }
        }
        let mut by_name: Vec<u32> = (0..columns.len() as u32).collect();
        let name = |at: u32| columns[at as usize].name.as_str();
        by_name.sort_by_key(|&at| name(at));
        if let Some(two) = by_name.windows(2).find(|two| name(two[0]) == name(two[1])) {
            return Err(Error::input(format!("two columns are named `{}`", name(two[0])))
                .with_hint("rename one of them in the header"));
        }
        Ok(Table { columns: columns.into(), by_name, n_rows, has_codes: true })
    }

    /// A table of `n_rows` records whose codes are elsewhere: the columns have their values, and no rows. An identifier may
    /// have no values either.
    pub fn of_values(columns: Vec<Column>, n_rows: usize) -> Result<Self> {
        if columns.iter().any(|column| !column.codes.is_empty()) {
            return Err(Error::new(crate::ErrorKind::Internal, "a column has rows that should be elsewhere"));
        }
        Ok(Table { n_rows, has_codes: false, ..Table::new(columns)? })
    }

    /// Do the columns have a code for every record?
    pub fn has_codes(&self) -> bool {
        self.has_codes
    }

    /// Fails unless the columns have a code for every record.
    pub(crate) fn with_codes(&self) -> Result<&Self> {
        if self.has_codes {
            return Ok(self);
        }
        Err(Error::new(crate::ErrorKind::Internal, "the records of this table are not in memory"))
    }

    /// How many records there are.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// The same table, one of whose columns turns out to write its numbers and dates like this. Copies the columns if somebody shares them.
    pub fn set_notation(&mut self, column_idx: usize, notation: Notation) {
        if Arc::get_mut(&mut self.columns).is_none() {
            self.columns = self.columns.to_vec().into();
        }
        if let Some(columns) = Arc::get_mut(&mut self.columns) {
            columns[column_idx].set_notation(notation);
        }
    }

    /// The columns, for whoever outlives the table.
    pub(crate) fn shared_columns(&self) -> Arc<[Column]> {
        Arc::clone(&self.columns)
    }

    /// All columns, in the order of the file.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The column of that name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.place(name).map(|at| &self.columns[at])
    }

    /// Where the column of that name stands.
    pub fn place(&self, name: &str) -> Option<usize> {
        let name_of = |&at: &u32| self.columns[at as usize].name.as_str();
        let at = self.by_name.binary_search_by_key(&name, name_of).ok()?;
        Some(self.by_name[at] as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_cells_share_a_code_and_an_empty_cell_is_a_value() {
        let column = Column::from_cells("c", Role::Other, ["b", "", "b", "a", ""]).unwrap();
        assert_eq!(column.codes(), [0, 1, 0, 2, 1]);
        assert_eq!(column.dictionary().len(), 3);
        assert_eq!(column.cell(4), "");
    }

    #[test]
    fn rows_pushed_from_a_text_are_the_rows_pushed_one_by_one() {
        let text = "some;text with;;some;fields and a tail";
        let places = [(0, 4), (5, 14), (15, 15), (16, 20), (21, 38)];
        let mut column = Column::new("c", Role::Other);
        column.expect_rows(3);
        column.push_fields(text, places.into_iter()).unwrap();
        assert_eq!(column.codes(), [0, 1, 2, 0, 3]);
        assert!((0..4).map(|code| column.dictionary().value(code)).eq([
            "some",
            "text with",
            "",
            "fields and a tail"
        ]));
    }

    #[test]
    fn an_empty_text_is_not_missing_and_no_cell_is_taken_for_it() {
        let mut column = Column::new("c", Role::Other);
        for text in ["", "a", "\u{FDD0}"] {
            column.push_text(text).unwrap();
        }
        column.push("").unwrap();
        column.push("\u{FDD0}").unwrap();
        let text = ",\u{FDD0},a,\u{FDD0}\u{FDD0}\u{FDD0}";
        column.push_fields(text, [(0, 0), (1, 4), (5, 6), (7, 16), (16, 16)].into_iter()).unwrap();
        assert_eq!(column.codes(), [0, 1, 2, 3, 2, 3, 2, 1, 4, 3]);
        assert_eq!(column.cell(0), label::EMPTY_TEXT);
        assert_eq!(column.cell(3), "");
    }

    #[test]
    fn a_row_pushed_by_its_code_is_the_row_pushed_by_its_text() {
        let mut column = Column::new("c", Role::Other);
        let code = column.push("b").unwrap();
        column.push("a").unwrap();
        column.push_code(code);
        assert_eq!(column.codes(), [0, 1, 0]);
    }

    #[test]
    fn rows_of_another_column_are_appended_as_if_they_had_been_read_here() {
        let mut other = Column::new("c", Role::Other);
        for text in ["", "NA", "b", "a", "b"] {
            other.push_text(text).unwrap();
        }
        other.push("").unwrap();
        let reading = Reading { missing: vec!["NA".into()], ..Reading::default() };
        let mut column = Column::new("c", Role::Other).with_reading(reading);
        column.push("a").unwrap();
        column.append(&other).unwrap();
        let cells: Vec<&str> = (0..7).map(|row| column.cell(row)).collect();
        assert_eq!(cells, ["a", label::EMPTY_TEXT, "", "b", "a", "b", ""]);
    }

    #[test]
    #[should_panic(expected = "of another column")]
    fn a_code_without_a_value_never_enters_a_column() {
        Column::new("c", Role::Other).push_code(0);
    }

    #[test]
    fn columns_must_be_equally_long_and_differently_named() {
        let column = |name, cells: &[&'static str]| {
            Column::from_cells(name, Role::Other, cells.iter().copied()).unwrap()
        };
        let uneven = Table::new(vec![column("a", &["1"]), column("b", &[])]).unwrap_err();
        assert_eq!(uneven.to_string(), "column `b` has 0 rows, column `a` has 1");
        assert!(Table::new(vec![column("a", &[]), column("a", &[])]).is_err());
        assert_eq!(Table::new(vec![]).unwrap().n_rows(), 0);
    }

    #[test]
    fn values_keep_their_codes_when_rows_are_forgotten() {
        let mut column = Column::from_cells("c", Role::Other, ["b", "a"]).unwrap();
        assert!(Table::of_values(vec![column.clone()], 2).is_err(), "its rows would be there twice");
        column.forget_rows();
        assert_eq!((column.push("a").unwrap(), column.push("c").unwrap()), (1, 2));
        column.forget_rows();
        let table = Table::of_values(vec![column.clone()], 4).unwrap();
        assert_eq!((table.n_rows(), table.has_codes()), (4, false));
        assert_eq!(table.with_codes().unwrap_err().kind(), crate::ErrorKind::Internal);
        column.forget_all();
        assert_eq!(column.push("c").unwrap(), 0);
    }
}
