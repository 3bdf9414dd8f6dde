//! A hierarchy from a file: `value;level 1;...;top`, one row a value, no header. The layout ARX reads.

use std::path::Path;

use incog_core::hierarchy::{ExplicitHierarchy, Hierarchy};
use incog_core::{Error, ErrorKind, Result};

use crate::source::open;

/// The hierarchy of `column` in a file delimited by `;`.
pub fn read_hierarchy(path: &Path, column: &str) -> Result<Hierarchy> {
    let file = open(path, &format!("the hierarchy of column `{column}`,"))?;
    let mut reader =
        csv::ReaderBuilder::new().delimiter(b';').has_headers(false).flexible(true).from_reader(file);
    let origin = path.display().to_string();
    let mut hierarchy = ExplicitHierarchy::new(column, &origin);
    let mut record = csv::ByteRecord::new();
    let unreadable = |error: csv::Error| {
        Error::new(ErrorKind::Io, format!("column `{column}`: cannot read hierarchy `{origin}`: {error}"))
    };
    while reader.read_byte_record(&mut record).map_err(unreadable)? {
        let line = record.position().map_or(0, csv::Position::line);
        let row: Vec<&str> =
            record.iter().map(std::str::from_utf8).collect::<Result<_, _>>().map_err(|_| {
                Error::input(format!("column `{column}`: hierarchy `{origin}`, line {line} is not UTF-8"))
                    .with_hint("convert the file, for example with iconv -t UTF-8")
            })?;
        if row.len() < 2 {
            return Err(Error::input(format!(
                "column `{column}`: hierarchy `{origin}`, line {line} has a single field"
            ))
            .with_hint("separate the levels by `;`: value;level 1;...;*"));
        }
        hierarchy.push(line, row)?;
    }
    hierarchy.finish()
}
