//! Where do tables and hierarchies come from?

mod csv;
mod hierarchy;
mod quotes;

pub use csv::Csv;
pub(crate) use csv::open_text;
pub use hierarchy::{parse_hierarchy, read_hierarchy};

use std::fs::File;
use std::io::Read;
use std::path::Path;

use incog_core::{Error, ErrorKind, Result};

/// The path that stands for standard input and standard output.
pub const STANDARD: &str = "-";

fn open(path: &Path, what: &str) -> Result<File> {
    let file = File::open(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => unreadable(path, what, "there is no such file")
            .with_hint("paths in a job file are relative to the job file"),
        _ => unreadable(path, what, &error.to_string()),
    })?;
    if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
        return Err(unreadable(path, what, "it is a folder"));
    }
    Ok(file)
}

fn unreadable(path: &Path, what: &str, problem: &str) -> Error {
    Error::new(ErrorKind::Io, format!("cannot read {what} `{}`: {problem}", path.display()))
}

/// A reader of a file, decompressed if its name ends in `.gz` or `.zst`; `-` is standard input.
fn open_data(path: &Path, what: &str) -> Result<Box<dyn Read>> {
    if path.as_os_str() == STANDARD {
        return Ok(Box::new(std::io::stdin().lock()));
    }
    let file = open(path, what)?;
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    Ok(match extension {
        "gz" => Box::new(flate2::read::MultiGzDecoder::new(file)),
        "zst" => Box::new(
            zstd::stream::read::Decoder::new(file)
                .map_err(|error| unreadable(path, what, &error.to_string()))?,
        ),
        _ => Box::new(file),
    })
}

/// A small text file.
pub(crate) fn read_text(path: &Path, what: &str) -> Result<String> {
    let mut text = String::new();
    open(path, what)?
        .read_to_string(&mut text)
        .map_err(|error| unreadable(path, what, &error.to_string()))?;
    Ok(text)
}
