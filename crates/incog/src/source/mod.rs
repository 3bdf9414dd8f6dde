//! Where do tables and hierarchies come from?

mod csv;
mod hierarchy;

pub use csv::{read_header, read_table};
pub use hierarchy::read_hierarchy;

use std::fs::File;
use std::path::Path;

use incog_core::{Error, ErrorKind, Result};

fn open(path: &Path, what: &str) -> Result<File> {
    let failed = |problem: String| {
        Error::new(ErrorKind::Io, format!("cannot read {what} `{}`: {problem}", path.display()))
    };
    let file = File::open(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => failed("there is no such file".into())
            .with_hint("paths in a job file are relative to the job file"),
        _ => failed(error.to_string()),
    })?;
    if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
        return Err(failed("it is a folder".into()));
    }
    Ok(file)
}
