//! Which is the one table in a zip archive?
//!
//! Folders, and what systems put beside files (`__MACOSX`, `.DS_Store`, `Thumbs.db`), do not count. Two tables are an error: nobody says
//! which one is meant.

use std::io::{Cursor, Read};

use incog_core::{Error, ErrorKind, Result};
use zip::ZipArchive;

/// A table that is longer when unpacked is refused (4 GiB): archives can claim anything.
const MOST_BYTES: u64 = 1 << 32;

/// The name of the only file in an archive, and its bytes.
pub fn only_table(archive: Vec<u8>) -> Result<(String, Vec<u8>)> {
    let mut archive = ZipArchive::new(Cursor::new(archive))
        .map_err(|_| Error::input("it is no zip archive, or damaged"))?;
    let mut places = Vec::new();
    for at in 0..archive.len() {
        let file = archive.by_index_raw(at).map_err(|_| damaged())?;
        let name = file.name().map_err(|_| damaged())?.into_owned();
        let last = name.rsplit('/').next().unwrap_or_default();
        let is_beside = name.starts_with("__MACOSX/") || last.starts_with('.') || last == "Thumbs.db";
        if !is_beside && !last.is_empty() {
            if file.encrypted() {
                return Err(Error::input("it is protected by a password").with_hint("unpack it first"));
            }
            places.push((at, last.to_owned()));
        }
    }
    let [(at, name)] = places.as_slice() else {
        return Err(Error::input(format!("it has {} files in it, and one table is read", places.len()))
            .with_hint("unpack it, and name the file that is the table"));
    };
    let file = archive.by_index(*at).map_err(|_| {
        Error::input("what is in it is compressed in a way that is not supported")
            .with_hint("unpack it first")
    })?;
    let mut bytes = Vec::new();
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(|_| damaged())?;
    if bytes.len() as u64 > MOST_BYTES {
        let problem = "what is in it is longer than 4 GiB";
        return Err(Error::new(ErrorKind::Limit, problem).with_hint("unpack it first"));
    }
    Ok((name.clone(), bytes))
}

fn damaged() -> Error {
    Error::input("the archive is damaged")
}
