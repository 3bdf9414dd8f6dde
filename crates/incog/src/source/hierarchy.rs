//! A hierarchy from a file: `value;level 1;...;top`, one row a value, no header. The layout ARX reads.
//!
//! Separated by `;`, or by `,` if the first line has no `;` outside quotes.

use std::io::{BufRead, Read};
use std::path::Path;

use incog_core::hierarchy::{ExplicitHierarchy, Hierarchy};
use incog_core::{Error, Result};

use crate::source::{open, unreadable};

/// The hierarchy of `column` in a file.
pub fn read_hierarchy(path: &Path, column: &str) -> Result<Hierarchy> {
    parse_hierarchy(open(path, &what(column))?, path, column)
}

/// The same for text that comes from elsewhere; messages call it `path`.
pub fn parse_hierarchy(text: impl Read, path: &Path, column: &str) -> Result<Hierarchy> {
    let broken = |problem: &str| unreadable(path, &what(column), problem);
    let mut file = std::io::BufReader::with_capacity(1 << 16, text);
    let start = file.fill_buf().map_err(|error| broken(&error.to_string()))?;
    let first_line = start.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let delimiter = if first_line.contains(&b';') { b';' } else { b',' };
    let mut reader =
        csv::ReaderBuilder::new().delimiter(delimiter).has_headers(false).flexible(true).from_reader(file);
    let origin = path.display().to_string();
    let mut hierarchy = ExplicitHierarchy::new(column, &origin);
    let mut record = csv::ByteRecord::new();
    while reader.read_byte_record(&mut record).map_err(|error| broken(&error.to_string()))? {
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

fn what(column: &str) -> String {
    format!("the hierarchy of column `{column}`,")
}
