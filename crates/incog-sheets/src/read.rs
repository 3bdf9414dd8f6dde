//! One sheet of a workbook as columns.
//!
//! 1. Cells come row by row. Rows above the table, and cells beside the range, are passed over.
//! 2. The first row that is left names the columns, unless somebody gives names. Its columns are the table's.
//! 3. Every other row is a record. A filled cell beside the table's columns is an error with its row: it would be lost.
//!
//! Memory: the codes of all rows, and of the workbook what its reader keeps (its shared texts). A sheet whose cells stand far apart costs
//! no more than its cells: `.xlsx` is read cell by cell.

use std::io::{Cursor, Read, Seek};

use calamine::{Data, DataRef, Ods, Reader, Xls, Xlsx, XlsxCellReader, XlsxError, open_workbook_from_rs};
use incog_core::decoder::undisturbed;
use incog_core::table::{Column, Role};
use incog_core::{Error, Result};

use crate::cell::{self, Holds};

/// A format of workbooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkbookKind {
    /// Excel since 2007.
    Xlsx,
    /// Excel before that.
    Xls,
    /// OpenDocument.
    Ods,
}

/// Which cells of a workbook are the table.
#[derive(Debug, Clone, Copy, Default)]
pub struct Selection<'a> {
    /// The sheet; the first unless given.
    pub sheet: Option<&'a str>,
    /// The cells: `B3:F200`. All unless given.
    pub range: Option<&'a str>,
    /// Rows in front of the header.
    pub skip_rows: u64,
    /// The names of the columns, where no row has them.
    pub names: Option<&'a [String]>,
}

/// A table out of a workbook.
#[derive(Debug)]
pub struct Sheet {
    /// Its columns, in the order of the sheet.
    pub columns: Vec<Column>,
    /// Which columns have text in some cell; the others have numbers, dates and truth values only.
    pub has_text: Vec<bool>,
    /// The sheet's name, where there are several and nobody said which.
    pub picked: Option<String>,
    /// How many formulas are missing values, because they come to an empty text; in `.xls` those that nobody has worked out look the same.
    pub n_empty_formulas: u64,
}

/// The most columns and rows of a sheet that a workbook can have.
const MOST_COLUMNS: u32 = 1 << 14;

/// Reads a table. Errors speak of sheets, rows and columns, never of cells.
pub fn read(bytes: Vec<u8>, kind: WorkbookKind, selection: &Selection<'_>) -> Result<Sheet> {
    // Readers of such formats are large, and files are hostile: what they trip over is the file's fault.
    let read = || match kind {
        WorkbookKind::Xlsx => read_xlsx(bytes, selection),
        WorkbookKind::Xls => {
            if is_obfuscated(&bytes) {
                return Err(protected());
            }
            let book: Xls<_> = open_workbook_from_rs(Cursor::new(bytes))
                .map_err(|error: calamine::XlsError| unreadable(&error.to_string()))?;
            read_range(book, selection)
        }
        WorkbookKind::Ods => {
            let book: Ods<_> = open_workbook_from_rs(Cursor::new(bytes))
                .map_err(|error: calamine::OdsError| unreadable(&error.to_string()))?;
            read_range(book, selection)
        }
    };
    undisturbed(read).unwrap_or_else(|| Err(unreadable("")))
}

fn read_xlsx(bytes: Vec<u8>, selection: &Selection<'_>) -> Result<Sheet> {
    let is_sealed = bytes.starts_with(&[0xD0, 0xCF, 0x11, 0xE0]);
    let mut book: Xlsx<_> = open_workbook_from_rs(Cursor::new(bytes)).map_err(|error: XlsxError| {
        // What Excel encrypts is packed like the workbooks of old.
        if is_sealed { protected() } else { unreadable(&error.to_string()) }
    })?;
    let (name, picked) = sheet_of(&book.sheet_names(), selection.sheet)?;
    let mut table = Table::new(selection)?;
    let mut cells = book.worksheet_cells_reader(&name).map_err(|error| unreadable(&error.to_string()))?;
    // While cells are read, the columns take those that were read before.
    let (mut read, mut taken) = (Batch::default(), Batch::default());
    loop {
        let fill = || undisturbed(|| read.fill(&mut cells)).unwrap_or_else(|| Err(unreadable("")));
        let (is_more, took) = rayon::join(fill, || taken.pass_on(&mut table));
        took?;
        let is_more = is_more?;
        std::mem::swap(&mut read, &mut taken);
        if !is_more {
            taken.pass_on(&mut table)?;
            return table.finish(picked);
        }
    }
}

/// Cells that were read and are in no column yet.
#[derive(Default)]
struct Batch {
    /// Row, column, and what is there.
    cells: Vec<(u32, u32, Value)>,
    /// The texts of all, one after the other.
    texts: String,
}

/// What is in a cell. A number becomes text where there is time for it.
enum Value {
    Number(f64),
    /// Up to where in the texts.
    Text(Holds, usize),
}

impl Batch {
    /// Cells that are read at a time.
    const CELLS: usize = 1 << 14;

    /// Reads cells; false if there are no more.
    fn fill<R: Read + Seek>(&mut self, reader: &mut XlsxCellReader<'_, R>) -> Result<bool> {
        while self.cells.len() < Self::CELLS {
            let next = reader.next_cell_with_formula_metadata();
            let Some(cell) = next.map_err(|error| unreadable(&error.to_string()))? else {
                return Ok(false);
            };
            let (row, column) = cell.pos;
            let value = match &cell.value {
                DataRef::Float(number) => Value::Number(*number),
                DataRef::Empty if cell.formula.is_some() => Value::Text(Holds::Formula, self.texts.len()),
                DataRef::String(text) if text.is_empty() && cell.formula.is_some() => {
                    Value::Text(Holds::EmptyFormula, self.texts.len())
                }
                value => Value::Text(cell::write(value, &mut self.texts), self.texts.len()),
            };
            self.cells.push((row, column, value));
        }
        Ok(true)
    }

    /// Gives the cells to the table, and has none any more.
    fn pass_on(&mut self, table: &mut Table<'_>) -> Result<()> {
        let mut start = 0;
        let mut number = String::new();
        for &(row, column, ref value) in &self.cells {
            match *value {
                Value::Number(value) => {
                    number.clear();
                    let holds = cell::write_float(value, &mut number);
                    table.take(row, column, holds, &number)?;
                }
                Value::Text(holds, end) => {
                    table.take(row, column, holds, &self.texts[start..end])?;
                    start = end;
                }
            }
        }
        self.cells.clear();
        self.texts.clear();
        Ok(())
    }
}

fn read_range<R>(mut book: R, selection: &Selection<'_>) -> Result<Sheet>
where
    R: Reader<Cursor<Vec<u8>>>,
    R::Error: std::fmt::Display,
{
    let (name, picked) = sheet_of(&book.sheet_names(), selection.sheet)?;
    let range = book.worksheet_range(&name).map_err(|error| unreadable(&error.to_string()))?;
    let formulas = book.worksheet_formula(&name).map_err(|error| unreadable(&error.to_string()))?;
    let mut table = Table::new(selection)?;
    let (first_row, first_column) = formulas.start().unwrap_or_default();
    for (row, column, formula) in formulas.used_cells() {
        let at = (first_row + row as u32, first_column + column as u32);
        if !formula.is_empty() && table.is_inside(at.0, at.1) {
            match range.get_value(at) {
                None | Some(Data::Empty) => return Err(not_worked_out(at.0, at.1)),
                Some(Data::String(text)) if text.is_empty() => table.n_empty_formulas += 1,
                Some(_) => {}
            }
        }
    }
    let (first_row, first_column) = range.start().unwrap_or_default();
    let mut text = String::new();
    for (row, column, value) in range.used_cells() {
        let holds = cell::write_owned(value, &mut text);
        table.take(first_row + row as u32, first_column + column as u32, holds, &text)?;
    }
    table.finish(picked)
}

/// The sheet to read, and its name where it was not said and there are others.
fn sheet_of(names: &[String], wanted: Option<&str>) -> Result<(String, Option<String>)> {
    let Some(first) = names.first() else {
        return Err(Error::input("the workbook has no sheets"));
    };
    match wanted {
        None => Ok((first.clone(), (names.len() > 1).then(|| first.clone()))),
        Some(wanted) if names.iter().any(|name| name == wanted) => Ok((wanted.to_owned(), None)),
        Some(wanted) => Err(Error::input(format!("the workbook has no sheet `{wanted}`"))
            .with_hint(format!("there are: {}", names.join(", ")))),
    }
}

/// A formula whose value the workbook does not have.
fn not_worked_out(row: u32, column: u32) -> Error {
    let mut letters = Vec::new();
    let mut rest = column + 1;
    while rest > 0 {
        letters.push(b'A' + ((rest - 1) % 26) as u8);
        rest = (rest - 1) / 26;
    }
    letters.reverse();
    let column = String::from_utf8_lossy(&letters).into_owned();
    Error::input(format!("the formula in cell {column}{} of the sheet has no value in the file", row + 1))
        .with_hint("programs that write formulas do not work them out: open it in a spreadsheet program, and save it again")
}

fn protected() -> Error {
    Error::input("the workbook is protected by a password")
        .with_hint("open it and save a copy without the password")
}

/// Is it a workbook of Excel 97 to 2003 whose records are scrambled by a password? Its reader knows of other ways to encrypt.
///
/// The stream of records begins at a sector with a BOF of the whole workbook; behind it, but for a note that the file is to be read only,
/// stands what says how it is encrypted.
fn is_obfuscated(bytes: &[u8]) -> bool {
    const SECTOR: usize = 512;
    const BOF: [u8; 8] = [0x09, 0x08, 16, 0, 0, 6, 5, 0];
    const WRITE_PROTECT: u16 = 0x0086;
    const FILE_PASS: u16 = 0x002F;
    let record = |at: usize| {
        let start = bytes.get(at..at + 4)?;
        let number = |from: usize| u16::from_le_bytes([start[from], start[from + 1]]);
        Some((number(0), at + 4 + usize::from(number(2))))
    };
    let is_scrambled = |start: usize| {
        let next = match record(start + 20)? {
            (WRITE_PROTECT, end) => record(end)?,
            next => next,
        };
        Some(next.0 == FILE_PASS)
    };
    (0..bytes.len())
        .step_by(SECTOR)
        .filter(|&at| bytes[at..].starts_with(&BOF))
        .any(|at| is_scrambled(at) == Some(true))
}

/// What is wrong with a workbook, without what its reader says of cells.
fn unreadable(problem: &str) -> Error {
    let problem = problem.to_lowercase();
    if problem.contains("password") || problem.contains("encrypted") {
        return protected();
    }
    Error::input("it is no workbook of that format, or damaged")
        .with_hint("open it in the program that made it, and save it again")
}

/// A table that is being filled, cell by cell, row by row.
struct Table<'a> {
    selection: &'a Selection<'a>,
    /// The first row and column that count, and the last.
    first: (u32, u32),
    last: (u32, u32),
    columns: Vec<Column>,
    has_text: Vec<bool>,
    /// The sheet's column of the table's first.
    start: u32,
    /// The cells of the current row: where, whether text, and up to where in `texts`.
    row: Option<u32>,
    cells: Vec<(u32, Holds, usize)>,
    texts: String,
    n_empty_formulas: u64,
}

impl<'a> Table<'a> {
    fn new(selection: &'a Selection<'a>) -> Result<Self> {
        let (first, last) = match selection.range {
            None => ((0, 0), (u32::MAX, u32::MAX)),
            Some(range) => parse_range(range).ok_or_else(|| {
                Error::input("`range` is no range of cells").with_hint("for example \"B3:F200\"")
            })?,
        };
        let first = (first.0.saturating_add(u32::try_from(selection.skip_rows).unwrap_or(u32::MAX)), first.1);
        Ok(Table {
            selection,
            first,
            last,
            columns: Vec::new(),
            has_text: Vec::new(),
            start: first.1,
            row: None,
            cells: Vec::new(),
            texts: String::new(),
            n_empty_formulas: 0,
        })
    }

    /// Does the cell count?
    fn is_inside(&self, row: u32, column: u32) -> bool {
        row >= self.first.0 && row <= self.last.0 && column >= self.first.1 && column <= self.last.1
    }

    /// Takes a cell; rows come in order.
    fn take(&mut self, row: u32, column: u32, holds: Holds, text: &str) -> Result<()> {
        if holds == Holds::Nothing || !self.is_inside(row, column) {
            return Ok(());
        }
        match holds {
            Holds::Formula => return Err(not_worked_out(row, column)),
            Holds::EmptyFormula => {
                self.n_empty_formulas += 1;
                return Ok(());
            }
            Holds::Nothing | Holds::Text | Holds::Value => {}
        }
        if self.row != Some(row) {
            self.end_row()?;
            self.row = Some(row);
        }
        self.texts.push_str(text);
        self.cells.push((column, holds, self.texts.len()));
        Ok(())
    }

    fn end_row(&mut self) -> Result<()> {
        let Some(row) = self.row.take() else {
            return Ok(());
        };
        let mut cells = std::mem::take(&mut self.cells);
        let texts = std::mem::take(&mut self.texts);
        // Cells of a row come in order, but for damaged files.
        let is_in_order = cells.windows(2).all(|two| two[0].0 < two[1].0);
        if !is_in_order {
            return Err(unreadable(""));
        }
        let made = if self.columns.is_empty() { self.begin(&cells, &texts)? } else { Made::Nothing };
        if made == Made::Nothing {
            self.push_row(row, &cells, &texts)?;
        }
        cells.clear();
        (self.cells, self.texts) = (cells, texts);
        self.texts.clear();
        Ok(())
    }

    /// Makes the columns from the first row.
    fn begin(&mut self, cells: &[(u32, Holds, usize)], texts: &str) -> Result<Made> {
        let (Some(first), Some(last)) = (cells.first(), cells.last()) else {
            return Ok(Made::Nothing);
        };
        let has_range = self.selection.range.is_some();
        self.start = if has_range { self.first.1 } else { first.0 };
        let end = if has_range { self.last.1.min(MOST_COLUMNS - 1) } else { last.0 };
        if end >= MOST_COLUMNS {
            return Err(unreadable(""));
        }
        let width = (end - self.start + 1) as usize;
        let names: Vec<String> = match self.selection.names {
            Some(names) if names.len() >= width => names.to_vec(),
            Some(names) => {
                return Err(Error::input(format!(
                    "the sheet has {width} columns, and `names` has {}",
                    names.len()
                ))
                .with_hint("give a name for each column, in the order of the sheet"));
            }
            None => {
                let mut names = vec![String::new(); width];
                let mut from = 0;
                for &(column, _, to) in cells {
                    names[(column - self.start) as usize] = texts[from..to].to_owned();
                    from = to;
                }
                names
            }
        };
        self.columns = names.iter().map(|name| Column::new(name.clone(), Role::Other)).collect();
        self.has_text = vec![false; names.len()];
        Ok(if self.selection.names.is_some() { Made::Nothing } else { Made::Header })
    }

    fn push_row(&mut self, row: u32, cells: &[(u32, Holds, usize)], texts: &str) -> Result<()> {
        let (mut at, mut from) = (0, 0);
        for &(column, holds, to) in cells {
            let place = column.checked_sub(self.start).map(|place| place as usize);
            let Some(place) = place.filter(|&place| place < self.columns.len()) else {
                return Err(Error::input(format!(
                    "row {} of the sheet has a cell beside the table's columns",
                    row + 1
                ))
                .with_hint("say which cells are the table, such as range = \"A1:F200\" in [input]"));
            };
            while at < place {
                self.columns[at].push("")?;
                at += 1;
            }
            self.columns[place].push_text(&texts[from..to])?;
            self.has_text[place] |= holds == Holds::Text;
            (at, from) = (place + 1, to);
        }
        while at < self.columns.len() {
            self.columns[at].push("")?;
            at += 1;
        }
        Ok(())
    }

    fn finish(mut self, picked: Option<String>) -> Result<Sheet> {
        self.end_row()?;
        if self.columns.is_empty() {
            return Err(Error::input("the sheet has no filled cells where the table should be"));
        }
        Ok(Sheet {
            columns: self.columns,
            has_text: self.has_text,
            picked,
            n_empty_formulas: self.n_empty_formulas,
        })
    }
}

/// What the first row was made into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Made {
    /// Names of columns.
    Header,
    /// It is a record.
    Nothing,
}

/// The first and the last cell of `B3:F200`, as row and column from 0.
fn parse_range(text: &str) -> Option<((u32, u32), (u32, u32))> {
    let (first, last) = text.split_once(':')?;
    let (first, last) = (parse_cell(first)?, parse_cell(last)?);
    (first.0 <= last.0 && first.1 <= last.1).then_some((first, last))
}

fn parse_cell(text: &str) -> Option<(u32, u32)> {
    let text = text.trim();
    let n_letters = text.bytes().take_while(u8::is_ascii_alphabetic).count();
    let (letters, digits) = text.split_at(n_letters);
    if !(1..=3).contains(&n_letters) || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let column = letters
        .bytes()
        .fold(0, |column, letter| column * 26 + u32::from(letter.to_ascii_uppercase() - b'A') + 1);
    let row: u32 = digits.parse().ok()?;
    Some((row.checked_sub(1)?, column - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read_as_spreadsheets_write_them() {
        assert_eq!(parse_range("B3:F200"), Some(((2, 1), (199, 5))));
        assert_eq!(parse_range("a1:aa1"), Some(((0, 0), (0, 26))));
        for text in ["B3", "3B:F2", "B0:C1", "C1:B2", "B2:C1", ":", "B3:F", "ABCD1:ABCD2"] {
            assert_eq!(parse_range(text), None, "{text}");
        }
    }
}
