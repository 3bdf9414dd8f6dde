//! The file that a key is in: 32 random bytes as hexadecimal digits, readable by its owner only.
//!
//! Runs that start at the same time in a folder without a key must end with one key, and every record must be sealed with
//! that one. So a new key appears only where there is none, and whoever finds another there takes that one
//! ([`RunKey::settle`]). A key that has appeared is never removed: another run may have sealed with it.

use std::path::{Path, PathBuf};

use incog_core::{Error, Result};

use crate::publish::record::Key;
use crate::publish::sink::{Appeared, Finished, Unfinished};

/// A file that is nobody else's business, whole and on disk, which has yet to appear.
fn private(path: &Path, bytes: &[u8]) -> Result<Finished> {
    let mut file = Unfinished::create_private(path)?;
    file.put(bytes)?;
    file.finish()
}

/// The key of a run: read from its file, or drawn, and then yet to appear.
pub(crate) struct RunKey {
    key: Key,
    path: PathBuf,
    new: Option<Finished>,
}

/// Which key a run has in the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyOnDisk {
    /// The one that it had.
    Same,
    /// That of another run, which was first. What was made with the one before must be made anew.
    Another,
}

impl RunKey {
    /// Reads a key, or draws one if the file is not there.
    pub(crate) fn read_or_draw(path: &Path) -> Result<Self> {
        let path = path.to_owned();
        if path.exists() {
            return Ok(RunKey { key: Key::read(&path)?, path, new: None });
        }
        let hint = |error: Error| {
            error.with_hint("the publisher's key goes there; choose another file with --key, or --no-record")
        };
        let key = Key::draw();
        let new = private(&path, (key.to_hex() + "\n").as_bytes()).map_err(hint)?;
        Ok(RunKey { key, path, new: Some(new) })
    }

    pub(crate) fn key(&self) -> &Key {
        &self.key
    }

    /// After this, the key is the one on disk.
    pub(crate) fn settle(&mut self) -> Result<KeyOnDisk> {
        match self.new.take().map(Finished::appear_new).transpose()? {
            None | Some(Appeared::New) => Ok(KeyOnDisk::Same),
            Some(Appeared::NotNew) => {
                self.key = Key::read(&self.path)?;
                Ok(KeyOnDisk::Another)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_two_new_keys_the_first_to_appear_is_the_key_of_both() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("incog.key");
        let [mut first, mut second] = [(); 2].map(|()| RunKey::read_or_draw(&path).unwrap());
        assert_ne!(first.key.to_hex(), second.key.to_hex());
        assert_eq!(
            (first.settle().unwrap(), second.settle().unwrap()),
            (KeyOnDisk::Same, KeyOnDisk::Another)
        );
        assert_eq!(first.key.to_hex(), second.key.to_hex());
        assert_eq!(std::fs::read_to_string(&path).unwrap().trim(), first.key.to_hex());
        assert_eq!(RunKey::read_or_draw(&path).unwrap().settle().unwrap(), KeyOnDisk::Same);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
