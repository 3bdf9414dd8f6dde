//! What is in a file, and is it still the same?
//!
//! Opens files, unpacks them by their names, and reads small ones whole. A file that changes while it is read is an error
//! ([`unchanged`]); a text in another encoding than UTF-8 is decoded, or called by its name ([`encoding`]), and so is what is no text at
//! all ([`foreign`]). What format a file has is said by its name ([`format`](mod@format)).

pub(crate) mod encoding;
pub(crate) mod foreign;
pub(crate) mod format;
mod unchanged;

pub use format::FileFormat;
pub(crate) use unchanged::Stamps;
use unchanged::{CHANGED, Unchanged, WAIT};

use std::fs::File;
use std::io::Read;
use std::path::Path;

use incog_core::{Error, ErrorKind, Result};

use crate::system;

/// The path that stands for standard input and standard output.
pub(crate) const STANDARD: &str = "-";

/// How a file is compressed, by the ending of its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Packing {
    None,
    Gzip,
    Zstd,
}

impl Packing {
    pub(crate) fn of(path: &Path) -> Self {
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        match extension.to_ascii_lowercase().as_str() {
            "gz" => Packing::Gzip,
            "zst" => Packing::Zstd,
            _ => Packing::None,
        }
    }
}

pub(crate) fn open(path: &Path, what: &str) -> Result<Unchanged> {
    let file = File::open(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => unreadable(path, what, "there is no such file")
            .with_hint("paths in a job file are relative to the job file"),
        _ => unreadable(path, what, &error.to_string()),
    })?;
    if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
        return Err(unreadable(path, what, "it is a folder"));
    }
    Ok(Unchanged::opened(file, path))
}

pub(crate) fn unreadable(path: &Path, what: &str, problem: &str) -> Error {
    let error = Error::new(ErrorKind::Io, format!("cannot read {what} `{}`: {problem}", path.display()));
    if problem.ends_with(CHANGED) { error.with_hint(WAIT) } else { error }
}

/// Fails if what starts like this is a text in another encoding.
pub(crate) fn check_encoding(start: &[u8], path: &Path, what: &str) -> Result<()> {
    match encoding::foreign(start) {
        None => Ok(()),
        Some(foreign) => {
            let name = foreign.name();
            let error = unreadable(path, what, &format!("it is {name}, and should be UTF-8"));
            Err(error.with_hint(format!(
                "convert it, for example with iconv -f {name} -t UTF-8, or export it as \"CSV UTF-8\""
            )))
        }
    }
}

/// Standard input, which may be a file.
fn standard_input() -> Box<dyn Read + Send> {
    match system::standard_input() {
        Some(file) => Box::new(Unchanged::handed(file)),
        None => Box::new(std::io::stdin()),
    }
}

/// A reader of a file, decompressed if its name ends in `.gz` or `.zst`; `-` is standard input.
pub(crate) fn open_data(path: &Path, what: &str) -> Result<Box<dyn Read + Send>> {
    if path.as_os_str() == STANDARD {
        return Ok(standard_input());
    }
    let file = open(path, what)?;
    Ok(match Packing::of(path) {
        Packing::Gzip => Box::new(flate2::read::MultiGzDecoder::new(file)),
        Packing::Zstd => Box::new(
            zstd::stream::read::Decoder::new(file)
                .map_err(|error| unreadable(path, what, &error.to_string()))?,
        ),
        Packing::None => Box::new(file),
    })
}

/// So much memory is asked for before anything is read, at most.
const MOST_RESERVED: u64 = 1 << 26;

/// A small text file.
pub(crate) fn read_text(path: &Path, what: &str) -> Result<String> {
    // What a file says of its length is only a hint: it may be a pipe.
    let n_bytes = std::fs::metadata(path).map_or(0, |metadata| metadata.len().min(MOST_RESERVED));
    let mut bytes = Vec::with_capacity(n_bytes as usize + 1);
    open(path, what)?.read_to_end(&mut bytes).map_err(|error| unreadable(path, what, &error.to_string()))?;
    check_encoding(&bytes, path, what)?;
    String::from_utf8(bytes).map_err(|_| {
        unreadable(path, what, "it is not UTF-8").with_hint("convert it, for example with iconv -t UTF-8")
    })
}

/// What went wrong with a file, in words that tell no name of a hidden one. Its source has the system's own words, names included.
pub(crate) fn cause(error: &std::io::Error) -> Error {
    let all = Error::new(ErrorKind::Io, error.to_string());
    match (error.raw_os_error(), error.get_ref()) {
        // What wraps another says where it happened, and the kind is all that it lets through.
        (None, Some(_)) if error.kind() != std::io::ErrorKind::Other => {
            Error::new(ErrorKind::Io, error.kind().to_string()).with_source(all)
        }
        _ => all,
    }
}
