//! Windows, and whatever else is no Unix: what the standard library can do.
//!
//! Files have no modes here, so what is unfinished is protected by the permissions of its folder alone. Which file it is cannot be
//! asked for, so a file that changed is known by its size and time. Nothing changes places at one stroke.

use std::fs::{File, Metadata};
use std::io::{Read, Result, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use crate::system::StandardOutput;

/// Nothing tells a file from another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Identity;

impl Identity {
    pub(crate) fn of(_metadata: &Metadata) -> Self {
        Identity
    }

    pub(crate) fn changed_with(&mut self, _other: &Identity) {}
}

/// A file to which bytes are added at the end, and which several threads read from anywhere, one after the other.
#[derive(Debug)]
pub(crate) struct PlacedFile(Mutex<File>);

impl PlacedFile {
    pub(crate) fn new(file: File) -> Self {
        PlacedFile(Mutex::new(file))
    }

    /// Adds bytes at the end, which is at `end`: somebody may have read elsewhere.
    pub(crate) fn append(&mut self, end: u64, bytes: &[u8]) -> Result<()> {
        let file = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(end))?;
        file.write_all(bytes)
    }

    pub(crate) fn read_at(&self, place: u64, to: &mut [u8]) -> Result<()> {
        // Everybody seeks before reading: whoever panicked in between left nothing to mind.
        let mut file = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(place))?;
        file.read_exact(to)
    }
}

pub(crate) fn standard_input() -> Option<File> {
    None
}

#[cfg(windows)]
pub(crate) fn standard_output() -> Result<StandardOutput> {
    use std::os::windows::io::AsHandle;

    Ok(StandardOutput::Open(std::io::stdout().as_handle().try_clone_to_owned()?.into()))
}

#[cfg(not(windows))]
pub(crate) fn standard_output() -> Result<StandardOutput> {
    // Nobody can be given a file of it.
    Ok(StandardOutput::Lost)
}

/// No path does.
pub(crate) fn is_of_process(_path: &Path) -> bool {
    false
}

/// A new file.
pub(crate) fn own_file(path: &Path) -> Result<File> {
    File::create_new(path)
}

pub(crate) fn own_alone(_builder: &mut tempfile::Builder<'_, '_>, _mode: u32) {}

pub(crate) fn usual_file(_path: &Path) -> Result<()> {
    Ok(())
}

pub(crate) fn usual_folder(_path: &Path) -> Result<()> {
    Ok(())
}

pub(crate) fn exchange(_one: &Path, _other: &Path) -> Result<bool> {
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_read_at_their_places_while_others_are_added() {
        let mut file = PlacedFile::new(tempfile::tempfile().unwrap());
        file.append(0, b"abcd").unwrap();
        let mut read = [0; 2];
        file.read_at(1, &mut read).unwrap();
        assert_eq!(&read, b"bc");
        file.append(4, b"ef").unwrap();
        file.read_at(3, &mut read).unwrap();
        assert_eq!(&read, b"de");
        assert!(file.read_at(5, &mut read).is_err(), "beyond the end");
    }

    #[test]
    fn folders_stay_where_they_are() {
        assert!(!exchange(Path::new("one"), Path::new("other")).unwrap());
        assert!(!is_of_process(Path::new("one")));
        let outside = tempfile::tempdir().unwrap();
        let path = outside.path().join("new");
        assert!(own_file(&path).is_ok() && own_file(&path).is_err());
    }
}
