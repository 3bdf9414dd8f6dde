//! Where do tables and hierarchies come from?
//!
//! [`Data`] is one table, whatever it is made of: a file, several files, or all files of a folder, of any format that is known by its
//! name. How they are to be read is said by [`ReadOptions`]. All files of a table have the same columns in the same order. A file that changes while it is read
//! is an error.

pub(crate) mod kind;
pub(crate) mod options;
pub(crate) mod spill;
mod split;
mod csv;
mod json_lines;
mod whole;
mod data;
pub mod engine;
pub(crate) mod sql;
mod input;
mod hierarchy;

pub use csv::Csv;
pub(crate) use csv::{DELIMITERS, open_text};
pub(crate) use data::CellType;
pub use data::{Data, Format, read_bytes};
pub(crate) use engine::Elsewhere;
pub(crate) use engine::{Bindings, Engine};
pub(crate) use hierarchy::HierarchyRows;
pub use hierarchy::{parse_hierarchy, read_hierarchy};
pub use input::Input;
pub(crate) use input::{Loaded, Opened, Rows, RowsOfDatabase};
pub use options::ReadOptions;

use incog_core::table::Table;
use incog_core::{Error, ErrorKind, Result, hash};

/// More columns than any table has that somebody wants to publish; each takes about a kilobyte.
pub(crate) const MAX_COLUMNS: usize = 1 << 18;

/// A file of more columns is refused before anything is made of them: commas alone would fill the memory.
fn check_width(table: &str, n_columns: usize) -> Result<()> {
    if n_columns <= MAX_COLUMNS {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::Limit,
        format!("{table} has {n_columns} columns; at most {MAX_COLUMNS} are supported"),
    )
    .with_hint("is the first line really the header, and the delimiter the right one?"))
}

/// Names that can be columns' names; `table` is what the table is called in messages. They are not repeated in messages: without a header they would be somebody's
/// cells.
fn checked_header(table: &str, header: &[String]) -> Result<()> {
    check_width(table, header.len())?;
    let mut places: hash::Map<&str, usize> = hash::Map::default();
    for (at, name) in header.iter().enumerate() {
        if name.chars().any(|letter| letter.is_control() || letter == '\u{FEFF}') {
            return Err(Error::input(format!(
                "{table}: a column name contains a line break, a control character or a byte order mark"
            ))
            .with_hint("is a quote in the header never closed?"));
        }
        if let Some(earlier) = places.insert(name, at) {
            return Err(Error::input(format!(
                "{table}: columns {} and {} have the same name",
                earlier + 1,
                at + 1
            ))
            .with_hint("the first line must name the columns, each differently"));
        }
    }
    Ok(())
}

/// The table; one without rows is refused.
fn with_rows(table: Table, file: &str) -> Result<Table> {
    if table.n_rows() == 0 {
        return Err(Error::input(format!("data file `{file}` has a header and no rows"))
            .with_hint("is the first line a row and the header missing?"));
    }
    Ok(table)
}
