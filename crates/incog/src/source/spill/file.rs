//! A temporary file without a name: nobody else can open it, and it is gone when the run ends.

use std::fs::File;
use std::io::Write;
#[cfg(not(unix))]
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
#[cfg(not(unix))]
use std::sync::{Mutex, PoisonError};

use incog_core::frequency::Store;
use incog_core::{Error, ErrorKind, Result};

use crate::file::cause;

/// Bytes are added at the end, and read from anywhere by several threads.
#[derive(Debug)]
pub(crate) struct SpillFile {
    #[cfg(unix)]
    file: File,
    #[cfg(not(unix))]
    file: Mutex<File>,
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
        #[cfg(not(unix))]
        let file = Mutex::new(file);
        Ok(SpillFile { file, length: 0 })
    }

    /// How many bytes there are.
    pub(crate) fn len(&self) -> u64 {
        self.length
    }

    #[cfg(unix)]
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.file.write_all(bytes)
    }

    #[cfg(not(unix))]
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        let file = self.file.get_mut().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(self.length))?;
        file.write_all(bytes)
    }

    #[cfg(unix)]
    fn read_at(&self, place: u64, to: &mut [u8]) -> std::io::Result<()> {
        std::os::unix::fs::FileExt::read_exact_at(&self.file, to, place)
    }

    #[cfg(not(unix))]
    fn read_at(&self, place: u64, to: &mut [u8]) -> std::io::Result<()> {
        // Everybody seeks before reading: whoever panicked in between left nothing to mind.
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(place))?;
        file.read_exact(to)
    }
}

impl Store for SpillFile {
    fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.write(bytes).map_err(|error| {
            Error::new(ErrorKind::Io, format!("cannot write a temporary file: {error}"))
                .with_hint("set TMPDIR to a folder with room for the coded table")
        })?;
        self.length += bytes.len() as u64;
        Ok(())
    }

    fn read(&self, place: u64, to: &mut [u8]) -> Result<()> {
        self.read_at(place, to)
            .map_err(|error| Error::new(ErrorKind::Io, format!("cannot read a temporary file: {error}")))
    }
}
