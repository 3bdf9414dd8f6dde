//! What is not finished: hidden, nobody else's business, and known to be somebody's.
//!
//! A file or folder that is being written stands beside its target as `.incog-XXXXXX.unfinished`, open to its owner alone from
//! its first moment on. Its process has it locked for as long as it lives, however it ends. So the next run that writes to
//! the folder can tell what was left behind by a process that was killed, and removes it. The lock is the operating
//! system's: it goes with the process, and a number that a later process has again does not matter.
//!
//! Whoever makes, removes or renames such things in a folder waits for its [`turn`] there, which is a lock of the folder itself
//! and leaves no file behind. Where a file system has no locks, nobody waits, and nothing is taken for left behind.
//!
//! A signal ends the process at once: [`leave_nothing`] removes what it has not finished.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tempfile::{NamedTempFile, TempDir};

use crate::system::{own_alone, own_file};

const PREFIX: &str = ".incog-";
const SUFFIX: &str = ".unfinished";
const N_RANDOM: usize = 6;

/// Others are done within milliseconds.
const PATIENCE: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(2);

/// What this process has not finished.
static UNFINISHED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Held while anything is made or gets its own name.
static CHANGING: Mutex<()> = Mutex::new(());

fn unfinished() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    // A set of paths is whole, whoever panicked.
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Until it is dropped, nothing else in this process is made or gets its own name.
pub(super) fn changing() -> MutexGuard<'static, ()> {
    CHANGING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Nothing unfinished is there, and nothing is begun or finished before this is dropped.
#[derive(Debug)]
pub struct LeftNothing {
    _changing: MutexGuard<'static, ()>,
}

/// Removes every file and folder that this process has begun and not finished. For whoever is about to end the process, and holds
/// on to the answer until then.
pub fn leave_nothing() -> LeftNothing {
    let changing = changing();
    remove(std::mem::take(&mut *unfinished()));
    LeftNothing { _changing: changing }
}

/// The same for who cannot wait, because it may be itself that is just making or renaming something. Then that is left behind.
pub fn leave_nothing_at_once() -> Option<LeftNothing> {
    let changing = CHANGING.try_lock().ok()?;
    remove(std::mem::take(&mut *UNFINISHED.try_lock().ok()?));
    Some(LeftNothing { _changing: changing })
}

fn remove(paths: BTreeSet<PathBuf>) {
    for path in paths {
        // What is gone already is gone, and nobody is left to hear of the rest.
        let _ = if path.is_dir() { std::fs::remove_dir_all(&path) } else { std::fs::remove_file(&path) };
    }
}

/// This process's turn in a folder, which ends when it is dropped.
pub(super) struct Turn {
    /// `None` where there are no locks.
    locked: Option<File>,
}

/// Waits until no other process, and nobody else in this one, makes or renames anything in a folder.
pub(super) fn turn(folder: &Path) -> std::io::Result<Turn> {
    // A folder that may be written to but not read is nothing that could be locked; on Windows no folder can be opened.
    let Ok(file) = File::open(folder) else {
        return Ok(Turn { locked: None });
    };
    let start = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(Turn { locked: Some(file) }),
            Err(TryLockError::WouldBlock) if start.elapsed() < PATIENCE => std::thread::sleep(PAUSE),
            Err(TryLockError::WouldBlock) => {
                return Err(std::io::Error::new(
                    std::io::ErrorKind::TimedOut,
                    "another process has locked its folder, and does not let go",
                ));
            }
            Err(TryLockError::Error(_)) => return Ok(Turn { locked: None }),
        }
    }
}

/// A turn in each of some folders.
pub(super) fn turns(folders: &[PathBuf]) -> std::io::Result<Vec<Turn>> {
    // Everybody takes turns in the same order: nobody waits for somebody who waits for them.
    let places: BTreeSet<PathBuf> =
        folders.iter().map(|folder| folder.canonicalize().unwrap_or_else(|_| folder.clone())).collect();
    places.iter().map(|folder| turn(folder)).collect()
}

/// A file that is not finished. Dropped, it is gone.
#[derive(Debug)]
pub(super) struct HiddenFile {
    /// `None` once it has its own name.
    file: Option<NamedTempFile>,
    path: PathBuf,
}

impl HiddenFile {
    /// A new file in a folder, readable by its owner only.
    pub(super) fn create_in(folder: &Path) -> std::io::Result<Self> {
        let turn = turn(folder)?;
        let _changing = changing();
        sweep(folder, &turn);
        HiddenFile::create_now(folder)
    }

    /// The same in a folder that is hidden itself: there is nobody to wait for.
    pub(super) fn create_in_own(folder: &Path) -> std::io::Result<Self> {
        let _changing = changing();
        HiddenFile::create_now(folder)
    }

    fn create_now(folder: &Path) -> std::io::Result<Self> {
        let file = builder(0o600).make_in(folder, own_file)?;
        // Where there are no locks nobody asks for this one.
        let _ = file.as_file().try_lock();
        let path = file.path().to_owned();
        unfinished().insert(path.clone());
        Ok(HiddenFile { file: Some(file), path })
    }

    pub(super) fn as_file(&self) -> &File {
        self.file.as_ref().expect("it has no other name yet").as_file()
    }

    /// Gives it its own name; another file of that name is replaced.
    pub(super) fn rename(&mut self, to: &Path) -> std::io::Result<()> {
        self.named(|file| file.persist(to))
    }

    /// The same if there is no file of that name; otherwise nothing happens.
    pub(super) fn rename_new(&mut self, to: &Path) -> std::io::Result<()> {
        self.named(|file| file.persist_noclobber(to))
    }

    fn named(
        &mut self,
        name: impl FnOnce(NamedTempFile) -> Result<File, tempfile::PersistError>,
    ) -> std::io::Result<()> {
        match name(self.file.take().expect("it has no other name yet")) {
            Ok(_) => {
                unfinished().remove(&self.path);
                Ok(())
            }
            Err(tempfile::PersistError { error, file }) => {
                self.file = Some(file);
                Err(error)
            }
        }
    }
}

impl Write for HiddenFile {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.as_file().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.as_file().flush()
    }
}

impl Drop for HiddenFile {
    fn drop(&mut self) {
        // First the file: until then somebody has to remove it.
        drop(self.file.take());
        unfinished().remove(&self.path);
    }
}

/// A folder that is not finished. Dropped, it is gone.
#[derive(Debug)]
pub(super) struct HiddenFolder {
    /// `None` once it has its own name.
    folder: Option<TempDir>,
    path: PathBuf,
    /// It is let go after the folder is gone.
    _locked: Option<File>,
}

impl HiddenFolder {
    /// A new folder in another, open to its owner only.
    pub(super) fn create_in(folder: &Path) -> std::io::Result<Self> {
        let turn = turn(folder)?;
        let _changing = changing();
        sweep(folder, &turn);
        HiddenFolder::create_now(folder)
    }

    /// The same for who has the turn and is changing things already.
    pub(super) fn create_now(folder: &Path) -> std::io::Result<Self> {
        let folder = builder(0o700).tempdir_in(folder)?;
        // On Windows no folder can be opened, and none is taken for left behind.
        let locked = File::open(folder.path()).ok().filter(|file| file.try_lock().is_ok());
        let path = folder.path().to_owned();
        unfinished().insert(path.clone());
        Ok(HiddenFolder { folder: Some(folder), path, _locked: locked })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Gives it its own name, which is free, or that of an empty folder.
    pub(super) fn rename(&mut self, to: &Path) -> std::io::Result<()> {
        std::fs::rename(&self.path, to)?;
        // There is nothing left at its old name to remove.
        let _ = self.folder.take().map(TempDir::keep);
        unfinished().remove(&self.path);
        Ok(())
    }
}

impl Drop for HiddenFolder {
    fn drop(&mut self) {
        drop(self.folder.take());
        unfinished().remove(&self.path);
    }
}

fn builder(mode: u32) -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(PREFIX).suffix(SUFFIX).rand_bytes(N_RANDOM);
    own_alone(&mut builder, mode);
    builder
}

/// A hidden name in a folder by which a file is also known from now on, or alone where a file has one name at most.
pub(super) fn set_aside(path: &Path, folder: &Path) -> std::io::Result<PathBuf> {
    let aside = builder(0o600).make_in(folder, |aside| match std::fs::hard_link(path, aside) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => std::fs::rename(path, aside),
        other => other,
    })?;
    let (_, aside) = aside.keep().map_err(|error| error.error)?;
    Ok(aside)
}

fn is_hidden_name(name: &OsStr) -> bool {
    let random = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.strip_suffix(SUFFIX));
    random.is_some_and(|random| {
        random.len() == N_RANDOM && random.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

/// Removes what processes that are no more have left in a folder. What cannot be removed stays.
fn sweep(folder: &Path, turn: &Turn) {
    // Without locks nothing tells what is left behind from what somebody is at.
    if turn.locked.is_none() {
        return;
    }
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten().filter(|entry| is_hidden_name(&entry.file_name())) {
        let Ok(kind) = entry.file_type() else {
            continue;
        };
        // Links and the like are none of ours.
        if !kind.is_file() && !kind.is_dir() {
            continue;
        }
        let path = entry.path();
        let opened = OpenOptions::new().read(true).write(kind.is_file()).open(&path);
        if opened.is_ok_and(|file| file.try_lock().is_ok()) {
            let _ = if kind.is_dir() { std::fs::remove_dir_all(&path) } else { std::fs::remove_file(&path) };
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    fn mode(path: &Path) -> u32 {
        path.metadata().unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn what_nobody_has_locked_is_swept_and_nothing_else() {
        let outside = tempfile::tempdir().unwrap();
        let folder = outside.path();
        std::fs::write(folder.join(".incog-aaaaaa.unfinished"), "of a dead process").unwrap();
        std::fs::create_dir(folder.join(".incog-bbbbbb.unfinished")).unwrap();
        std::fs::write(folder.join(".incog-bbbbbb.unfinished/t.csv"), "of a dead process").unwrap();
        for mine in [".incog-notes", ".incog-cccccc", ".incog-ccccccc.unfinished", "incog.toml"] {
            std::fs::write(folder.join(mine), "somebody's").unwrap();
        }
        let target = folder.join("incog.toml");
        std::os::unix::fs::symlink(&target, folder.join(".incog-dddddd.unfinished")).unwrap();
        let file = HiddenFile::create_in(folder).unwrap();
        let other = HiddenFolder::create_in(folder).unwrap();
        let third = HiddenFile::create_in(folder).unwrap();
        assert_eq!(names(folder).len(), 5 + 3, "{:?}", names(folder));
        assert!(file.path.exists() && other.path().exists() && third.path.exists());
        drop((file, other, third));
        assert_eq!(names(folder).len(), 5, "{:?}", names(folder));
    }

    #[test]
    fn what_is_hidden_is_its_owners_alone() {
        let outside = tempfile::tempdir().unwrap();
        let file = HiddenFile::create_in(outside.path()).unwrap();
        let folder = HiddenFolder::create_in(outside.path()).unwrap();
        assert_eq!((mode(&file.path), mode(folder.path())), (0o600, 0o700));
    }
}
