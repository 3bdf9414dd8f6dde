//! Linux, macOS and their relatives.

use std::fs::{File, Metadata, OpenOptions, Permissions};
use std::io::{Result, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sys::stat::{Mode, umask};

use crate::system::StandardOutput;

/// Which file it is, and when anything about it was changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Identity {
    /// The disk, and the number of the file there.
    file: (u64, u64),
    /// Seconds and nanoseconds. Nobody can put this time back.
    changed: (i64, i64),
}

impl Identity {
    pub(crate) fn of(metadata: &Metadata) -> Self {
        Identity {
            file: (metadata.dev(), metadata.ino()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }

    /// As if it had been changed when the other one was: for a file whose last name is gone, which is a change, too.
    pub(crate) fn changed_with(&mut self, other: &Identity) {
        self.changed = other.changed;
    }
}

/// A file to which bytes are added at the end, and which several threads read from anywhere.
#[derive(Debug)]
pub(crate) struct PlacedFile(File);

impl PlacedFile {
    pub(crate) fn new(file: File) -> Self {
        PlacedFile(file)
    }

    /// Adds bytes at the end, which is at `_end`.
    pub(crate) fn append(&mut self, _end: u64, bytes: &[u8]) -> Result<()> {
        self.0.write_all(bytes)
    }

    pub(crate) fn read_at(&self, place: u64, to: &mut [u8]) -> Result<()> {
        self.0.read_exact_at(to, place)
    }
}

/// Standard input as a file, which it may be.
pub(crate) fn standard_input() -> Option<File> {
    std::io::stdin().as_fd().try_clone_to_owned().ok().map(File::from)
}

pub(crate) fn standard_output() -> Result<StandardOutput> {
    let file = File::from(std::io::stdout().as_fd().try_clone_to_owned()?);
    Ok(if is_lost(&file)? { StandardOutput::Lost } else { StandardOutput::Open(file) })
}

/// Is it what stands in for a standard output that was closed? Shells open `/dev/null` for writing only.
fn is_lost(file: &File) -> Result<bool> {
    let flags = OFlag::from_bits_retain(fcntl(file, FcntlArg::F_GETFL)?);
    if flags & OFlag::O_ACCMODE != OFlag::O_RDWR {
        return Ok(false);
    }
    let null = std::fs::metadata("/dev/null").map(|null| (null.dev(), null.ino()));
    let mine = file.metadata()?;
    Ok(null.is_ok_and(|null| null == (mine.dev(), mine.ino())))
}

/// Does a path lead to something that a process has open, such as `/dev/stdout` or `/dev/fd/3`? Whatever that is, a file that takes the
/// path's name would take the place of the link, for all processes.
pub(crate) fn is_of_process(path: &Path) -> bool {
    /// As many as systems follow.
    const MOST_LINKS: usize = 40;
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let Ok(folder) = folder.canonicalize() else { return false };
        if folder.starts_with("/proc") || folder.starts_with("/dev/fd") {
            return true;
        }
        match std::fs::read_link(&path) {
            Ok(link) => path = folder.join(link),
            Err(_) => return false,
        }
    }
    false
}

/// A new file that is its owner's alone, from its first moment on.
pub(crate) fn own_file(path: &Path) -> Result<File> {
    OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(path)
}

/// What is made is its owner's alone, from its first moment on.
pub(crate) fn own_alone(builder: &mut tempfile::Builder<'_, '_>, mode: u32) {
    builder.permissions(Permissions::from_mode(mode));
}

/// Lets those read a file who may read a new file.
pub(crate) fn usual_file(path: &Path) -> Result<()> {
    std::fs::set_permissions(path, allowed(0o666))
}

/// Lets those look into a folder who may look into a new folder.
pub(crate) fn usual_folder(path: &Path) -> Result<()> {
    std::fs::set_permissions(path, allowed(0o777))
}

/// What the user's mask allows of `most`.
fn allowed(most: u32) -> Permissions {
    static ASKING: Mutex<()> = Mutex::new(());
    let _asking = ASKING.lock().unwrap_or_else(PoisonError::into_inner);
    // It can be asked for only by changing it. What others create in between is their owner's alone, at worst.
    let mask = umask(Mode::S_IRWXG | Mode::S_IRWXO);
    umask(mask);
    #[allow(clippy::useless_conversion, reason = "modes have 16 bits on some systems")]
    Permissions::from_mode(most & !u32::from(mask.bits()))
}

/// Two folders change places at one stroke. `false` where the system or the file system cannot do that, and nothing has happened.
#[cfg(target_os = "linux")]
pub(crate) fn exchange(one: &Path, other: &Path) -> Result<bool> {
    use nix::errno::Errno;
    use nix::fcntl::{AT_FDCWD, RenameFlags, renameat2};

    match renameat2(AT_FDCWD, one, AT_FDCWD, other, RenameFlags::RENAME_EXCHANGE) {
        Ok(()) => Ok(true),
        Err(Errno::EINVAL | Errno::ENOSYS) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn exchange(_one: &Path, _other: &Path) -> Result<bool> {
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn asking_for_the_mask_does_not_change_it() {
        let outside = tempfile::tempdir().unwrap();
        let path = outside.path().join("like any other");
        let allowed = [allowed(0o666), allowed(0o666)].map(|allowed| allowed.mode());
        std::fs::write(&path, "").unwrap();
        assert_eq!(allowed, [path.metadata().unwrap().permissions().mode() & 0o777; 2]);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn links_to_what_a_process_has_open_are_known() {
        let outside = tempfile::tempdir().unwrap();
        let at = |name: &str| outside.path().join(name);
        std::os::unix::fs::symlink("/dev/stdout", at("one")).unwrap();
        std::os::unix::fs::symlink("one", at("two")).unwrap();
        std::os::unix::fs::symlink("file.csv", at("other")).unwrap();
        std::os::unix::fs::symlink("loop", at("loop")).unwrap();
        for path in [at("two"), "/dev/stdout".into(), "/dev/fd/7".into(), "/proc/self/fd/1".into()] {
            assert!(is_of_process(&path), "{path:?}");
        }
        for path in [at("other"), at("file.csv"), at("loop"), "file.csv".into(), "/dev/null".into()] {
            assert!(!is_of_process(&path), "{path:?}");
        }
    }

    #[test]
    fn folders_change_places_at_one_stroke_or_not_at_all() {
        let outside = tempfile::tempdir().unwrap();
        let [one, other] = ["one", "other"].map(|name| outside.path().join(name));
        std::fs::create_dir(&one).unwrap();
        std::fs::create_dir(&other).unwrap();
        std::fs::write(one.join("a"), "x").unwrap();
        let exchanged = exchange(&one, &other).unwrap();
        assert_eq!((one.join("a").exists(), other.join("a").exists()), (!exchanged, exchanged));
    }
}
