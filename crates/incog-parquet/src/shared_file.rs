//! A file that several threads read at different places.
//!
//! Two handles of one open file share the place where they read, and a file opened again by its name may be another one by
//! then. So there is one handle, and whoever reads says where, and has it for that long.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use parquet::file::reader::{ChunkReader, Length};

/// How much is read at a time by who does not say how much it needs.
const BUFFER: usize = 1 << 16;

/// A file to be read from anywhere.
#[derive(Clone)]
pub(crate) struct SharedFile {
    file: Arc<Mutex<File>>,
    length: u64,
}

impl SharedFile {
    pub(crate) fn new(file: File) -> std::io::Result<Self> {
        let length = file.metadata()?.len();
        Ok(SharedFile { file: Arc::new(Mutex::new(file)), length })
    }

    fn read_at(&self, place: u64, to: &mut [u8]) -> std::io::Result<usize> {
        // Everybody seeks before reading: whoever panicked in between left nothing to mind.
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(place))?;
        file.read(to)
    }
}

impl Length for SharedFile {
    fn len(&self) -> u64 {
        self.length
    }
}

impl ChunkReader for SharedFile {
    type T = BufReader<From>;

    fn get_read(&self, start: u64) -> parquet::errors::Result<Self::T> {
        Ok(BufReader::with_capacity(BUFFER, From { file: self.clone(), place: start }))
    }

    fn get_bytes(&self, start: u64, length: usize) -> parquet::errors::Result<Bytes> {
        // A damaged file may announce any length: no room is made for what is not there.
        let mut bytes = Vec::new();
        let mut reader = From { file: self.clone(), place: start }.take(length as u64);
        reader.read_to_end(&mut bytes)?;
        if bytes.len() < length {
            return Err(parquet::errors::ParquetError::EOF("the file ends too early".into()));
        }
        Ok(bytes.into())
    }
}

/// A file from some place on.
pub(crate) struct From {
    file: SharedFile,
    place: u64,
}

impl Read for From {
    fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
        let n = self.file.read_at(self.place, to)?;
        self.place += n as u64;
        Ok(n)
    }
}
