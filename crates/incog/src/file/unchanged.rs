//! Is a file still what it was when it was opened?
//!
//! A file that somebody writes to while it is read is neither what it was nor what it will be: rows may be missing, and the last
//! cell may be cut. So its size, its times of modification and of change (nobody can put the second one back) and which file it is
//! are compared before and after, and how much was read. What is no file, such as a pipe, has none of these; it ends when its writer says so.

use std::fs::{File, Metadata};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use incog_core::Result;

use crate::file::{STANDARD, unreadable};
use crate::system::Identity;

/// What is said of a file that is not the same.
pub(super) const CHANGED: &str = "it changed while it was read";

/// What to do about it.
pub(super) const WAIT: &str = "wait until nobody writes to it, and run again";

/// What tells a file from another, or from itself at another time.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Stamp {
    length: u64,
    modified: Option<SystemTime>,
    identity: Identity,
}

impl Stamp {
    /// `None` for what is no file.
    fn of(metadata: &Metadata) -> Option<Self> {
        metadata.is_file().then(|| Stamp {
            length: metadata.len(),
            modified: metadata.modified().ok(),
            identity: Identity::of(metadata),
        })
    }

    fn at(path: &Path) -> Option<Self> {
        std::fs::metadata(path).ok().and_then(|metadata| Stamp::of(&metadata))
    }
}

/// An open file that says so at its end if it changed while it was read.
#[derive(Debug)]
pub(crate) struct Unchanged {
    file: File,
    /// `None` where a file is handed over without its name.
    path: Option<PathBuf>,
    stamp: Option<Stamp>,
    n_read: u64,
}

impl Unchanged {
    /// A file that was just opened by its name.
    pub(super) fn opened(file: File, path: &Path) -> Self {
        Unchanged { path: Some(path.to_owned()), ..Unchanged::handed(file) }
    }

    /// A file that somebody else opened, and may have begun to read.
    pub(super) fn handed(file: File) -> Self {
        let stamp = file.metadata().ok().and_then(|metadata| Stamp::of(&metadata));
        Unchanged { file, path: None, stamp, n_read: 0 }
    }

    fn is_same(&self) -> std::io::Result<bool> {
        let Some(stamp) = &self.stamp else {
            return Ok(true);
        };
        let Some(path) = &self.path else {
            return Ok(Stamp::of(&self.file.metadata()?).as_ref() == Some(stamp));
        };
        // Some files of the system have no length and text all the same.
        let is_whole = stamp.length == 0 || stamp.length == self.n_read;
        let Some(mut now) = Stamp::of(&self.file.metadata()?) else {
            return Ok(false);
        };
        // Another file of that name would be what a later look finds. One that is gone was whole until then; that it is gone is a
        // change of it, too.
        let named = Stamp::at(path);
        if named.is_none() {
            now.identity.changed_with(&stamp.identity);
        }
        Ok(is_whole && named.is_none_or(|named| named == *stamp) && now == *stamp)
    }
}

impl Read for Unchanged {
    fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
        let n = self.file.read(to)?;
        self.n_read += n as u64;
        if n == 0 && !to.is_empty() && !self.is_same()? {
            return Err(std::io::Error::other(CHANGED));
        }
        Ok(n)
    }
}

/// Files that belong together, as they were at some time.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stamps(Vec<(PathBuf, Option<Stamp>)>);

impl Stamps {
    /// Files as they are now.
    pub(crate) fn of<'a>(paths: impl IntoIterator<Item = &'a Path>) -> Self {
        let files = paths.into_iter().filter(|path| path.as_os_str() != STANDARD);
        Stamps(files.map(|path| (path.to_owned(), Stamp::at(path))).collect())
    }

    /// Those of several.
    pub(crate) fn add(&mut self, others: Stamps) {
        self.0.extend(others.0);
    }

    /// Fails if one of them is another file by now, or has changed.
    pub(crate) fn check(&self, what: &str) -> Result<()> {
        for (path, stamp) in &self.0 {
            // One that is gone was whole until then.
            if Stamp::at(path).is_some_and(|now| Some(&now) != stamp.as_ref()) {
                return Err(unreadable(path, what, CHANGED));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    /// Reads a file that `change` changes after its first half; returns the bytes read.
    fn read_while(change: impl FnOnce(&Path)) -> std::io::Result<usize> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, [b'x'; 100]).unwrap();
        // Long ago, so that any change has another time.
        let file = File::options().write(true).open(&path).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
        let mut file = Unchanged::opened(File::open(&path).unwrap(), &path);
        file.read_exact(&mut [0; 50]).unwrap();
        change(&path);
        file.read_to_end(&mut Vec::new())
    }

    #[test]
    fn whatever_changes_while_a_file_is_read_is_an_error() {
        assert_eq!(read_while(|_| ()).unwrap(), 50);
        assert_eq!(read_while(|path| std::fs::remove_file(path).unwrap()).unwrap(), 50);
        let changes: &[fn(&Path)] = &[
            |path| File::options().write(true).open(path).unwrap().set_len(70).unwrap(),
            |path| File::options().append(true).open(path).unwrap().write_all(b"x").unwrap(),
            |path| std::fs::write(path, [b'y'; 100]).unwrap(),
            #[cfg(unix)]
            |path| {
                // With its time put back.
                std::fs::write(path, [b'y'; 100]).unwrap();
                let file = File::options().write(true).open(path).unwrap();
                file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
            },
            |path| {
                let other = path.with_extension("other");
                std::fs::write(&other, [b'x'; 100]).unwrap();
                std::fs::rename(other, path).unwrap();
            },
        ];
        for (at, change) in changes.iter().enumerate() {
            let error = read_while(change).unwrap_err();
            assert_eq!(error.to_string(), CHANGED, "change {at}");
        }
    }
}
