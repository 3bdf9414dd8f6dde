//! A release as a workbook of one sheet.
//!
//! Numbers, dates and truth values are cells of their kind; everything else is text; null is an empty cell. A sheet has at most 1,048,576
//! rows and 16,384 columns: a larger release is an error. The same release is the same bytes: the workbook says of itself that it was made in 2000.

use incog_core::{Error, ErrorKind, Result};
use rust_xlsxwriter::{DocProperties, ExcelDateTime, Format, Workbook, Worksheet, XlsxError};

/// The most rows of a sheet, its header included.
const MOST_ROWS: u32 = 1_048_576;

/// A column to be written: its name, and what its labels are as cells.
#[derive(Debug)]
pub struct SheetColumn<'a> {
    /// The name.
    pub name: &'a str,
    /// A cell for each label.
    pub cells: Vec<SheetCells<'a>>,
}

/// What a label is as a cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SheetCells<'a> {
    /// An empty cell.
    Empty,
    /// Text.
    Text(&'a str),
    /// A number.
    Number(f64),
    /// A truth value.
    Boolean(bool),
    /// A day as `2003-04-17`.
    Date(&'a str),
    /// A point in time as `2003-04-17T12:30:00`.
    Time(&'a str),
}

/// A workbook that is being written.
pub struct SheetWriter {
    sheet: Worksheet,
    next_row: u32,
    date: Format,
    time: Format,
}

impl std::fmt::Debug for SheetWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SheetWriter").field("next_row", &self.next_row).finish_non_exhaustive()
    }
}

/// Can a sheet show this day, as `2003-04-17`, as a date? Its calendar starts in 1900, and has a day in that February that never was.
pub fn is_date_of_sheets(date: &str) -> bool {
    date.len() >= 10 && date >= "1900-03-01" && date.as_bytes()[0].is_ascii_digit()
}

impl SheetWriter {
    /// Starts a sheet with the names of the columns.
    pub fn new(columns: &[SheetColumn<'_>]) -> Result<Self> {
        let mut sheet = Worksheet::new();
        sheet.set_name("release").map_err(|error| failed(&error))?;
        for (at, column) in columns.iter().enumerate() {
            let at = u16::try_from(at).ok().filter(|&at| at < 1 << 14).ok_or_else(|| {
                Error::new(ErrorKind::Limit, "a sheet has at most 16,384 columns")
                    .with_hint("write another format")
            })?;
            sheet.write_string(0, at, column.name).map_err(|error| failed(&error))?;
        }
        let format = |format: &str| Format::new().set_num_format(format);
        Ok(SheetWriter {
            sheet,
            next_row: 1,
            date: format("yyyy-mm-dd"),
            time: format("yyyy-mm-dd hh:mm:ss.000"),
        })
    }

    /// Appends rows: for each column the codes of their labels.
    pub fn write(&mut self, columns: &[SheetColumn<'_>], codes: &[Vec<u32>]) -> Result<()> {
        let n_rows = codes.first().map_or(0, Vec::len);
        for row in 0..n_rows {
            if self.next_row == MOST_ROWS {
                return Err(Error::new(ErrorKind::Limit, "a sheet has at most 1,048,576 rows")
                    .with_hint("write another format, such as .csv or .parquet"));
            }
            for (at, (column, codes)) in columns.iter().zip(codes).enumerate() {
                let cell = column.cells[codes[row] as usize];
                self.write_cell(at as u16, cell).map_err(|error| failed(&error))?;
            }
            self.next_row += 1;
        }
        Ok(())
    }

    fn write_cell(&mut self, column: u16, cell: SheetCells<'_>) -> std::result::Result<(), XlsxError> {
        let (sheet, row) = (&mut self.sheet, self.next_row);
        match cell {
            SheetCells::Empty => {}
            SheetCells::Text(text) => _ = sheet.write_string(row, column, text)?,
            SheetCells::Number(number) => _ = sheet.write_number(row, column, number)?,
            SheetCells::Boolean(is_true) => _ = sheet.write_boolean(row, column, is_true)?,
            SheetCells::Date(date) => {
                let date = ExcelDateTime::parse_from_str(date)?;
                sheet.write_datetime_with_format(row, column, &date, &self.date)?;
            }
            SheetCells::Time(time) => {
                let time = ExcelDateTime::parse_from_str(time)?;
                sheet.write_datetime_with_format(row, column, &time, &self.time)?;
            }
        }
        Ok(())
    }

    /// The bytes of the workbook.
    pub fn finish(self) -> Result<Vec<u8>> {
        let mut book = Workbook::new();
        let made = ExcelDateTime::from_ymd(2000, 1, 1).map_err(|error| failed(&error))?;
        book.set_properties(&DocProperties::new().set_creation_datetime(&made));
        book.push_worksheet(self.sheet);
        book.save_to_buffer().map_err(|error| failed(&error))
    }
}

/// What may go wrong with cells: a text of more than 32,767 characters. Never with what it says.
fn failed(error: &XlsxError) -> Error {
    match error {
        XlsxError::MaxStringLengthExceeded => {
            Error::new(ErrorKind::Limit, "a cell of a sheet has at most 32,767 characters")
                .with_hint("write another format, such as .csv or .parquet")
        }
        _ => Error::new(ErrorKind::Internal, "the release cannot be written as a workbook"),
    }
}
