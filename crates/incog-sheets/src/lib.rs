//! Reads sheets of workbooks (`.xlsx`, `.xls`, `.ods`) into dictionary-coded columns, writes releases as `.xlsx`, and takes the one table
//! out of a `.zip`.
//!
//! A cell is its canonical text, so that a hierarchy can name it:
//!
//! | cell | text |
//! |---|---|
//! | number | the shortest text that reads back as the same number: `34`, `0.1`, `1e300` |
//! | date | `2003-04-17`; with a time of day `2003-04-17T12:30:00`, also with milliseconds; a time alone `12:30:00` |
//! | truth value | `true`, `false` |
//! | formula | the value that the workbook has for it |
//! | text | as it is |
//! | error | as it is shown: `#N/A` |
//!
//! An empty cell is missing, and rows without any filled cell are no rows. What a workbook says of fonts, widths and colors is not read.
//!
//! A crate of its own because the formats' dependencies would slow down every test of the engine.
#![forbid(unsafe_code)]

mod archive;
mod cell;
mod read;
mod write;

pub use archive::only_table;
pub use read::{Selection, Sheet, WorkbookKind, read};
pub use write::{SheetCells, SheetColumn, SheetWriter, is_date_of_sheets};
