//! A temporary file without a name: nobody else can open it, and it is gone when the run ends.

use std::path::Path;

use incog_core::frequency::Store;
use incog_core::{Error, ErrorKind, Result};

use crate::file::cause;
use crate::system::PlacedFile;

/// Bytes are added at the end, and read from anywhere by several threads.
#[derive(Debug)]
pub(crate) struct SpillFile {
    file: PlacedFile,
    length: u64,
}

impl SpillFile {
    /// An empty file in a folder.
    pub(crate) fn create(folder: &Path) -> Result<Self> {
        let file = tempfile::tempfile_in(folder).map_err(|error| {
            let cause = cause(&error);
            Error::new(
                ErrorKind::Io,
                format!("cannot make a temporary file in `{}`: {cause}", folder.display()),
            )
            .with_hint("set TMPDIR to a folder with room for the coded table")
            .with_source(cause)
        })?;
        Ok(SpillFile { file: PlacedFile::new(file), length: 0 })
    }

    /// How many bytes there are.
    pub(crate) fn len(&self) -> u64 {
        self.length
    }
}

impl Store for SpillFile {
    fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.file.append(self.length, bytes).map_err(|error| {
            Error::new(ErrorKind::Io, format!("cannot write a temporary file: {error}"))
                .with_hint("set TMPDIR to a folder with room for the coded table")
        })?;
        self.length += bytes.len() as u64;
        Ok(())
    }

    fn read(&self, place: u64, to: &mut [u8]) -> Result<()> {
        self.file
            .read_at(place, to)
            .map_err(|error| Error::new(ErrorKind::Io, format!("cannot read a temporary file: {error}")))
    }
}
