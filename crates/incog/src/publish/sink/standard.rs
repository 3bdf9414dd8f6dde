//! Is there a standard output that somebody gets?
//!
//! A Rust program that is started without one is given `/dev/null` in its place, and what is written to one that cannot be
//! written to is lost without a word. A release that goes there would be lost, and the run would say that all is well.

use std::fs::File;

use incog_core::Result;

use crate::publish::sink::write_failed;
#[cfg(unix)]
use crate::publish::sink::{STANDARD, cannot_write};

/// Fails if what is written to standard output would be lost.
pub fn check_standard_output() -> Result<()> {
    output().map(|_| ())
}

/// Standard output, which says so when it cannot be written to.
#[cfg(unix)]
pub(super) fn output() -> Result<File> {
    use std::os::fd::AsFd;

    let failed = |error: std::io::Error| write_failed(STANDARD.as_ref(), &error);
    let file = File::from(std::io::stdout().as_fd().try_clone_to_owned().map_err(failed)?);
    if is_lost(&file).map_err(failed)? {
        return Err(cannot_write(STANDARD.as_ref(), "standard output is closed")
            .with_hint("redirect it to a file or a pipe, or name a file with --output"));
    }
    Ok(file)
}

/// Is it what stands in for a standard output that was closed? Shells open `/dev/null` for writing only.
#[cfg(unix)]
fn is_lost(file: &File) -> std::io::Result<bool> {
    use std::os::unix::fs::MetadataExt;

    use nix::fcntl::{FcntlArg, OFlag, fcntl};

    let flags = OFlag::from_bits_retain(fcntl(file, FcntlArg::F_GETFL)?);
    if flags & OFlag::O_ACCMODE != OFlag::O_RDWR {
        return Ok(false);
    }
    let null = std::fs::metadata("/dev/null").map(|null| (null.dev(), null.ino()));
    let mine = file.metadata()?;
    Ok(null.is_ok_and(|null| null == (mine.dev(), mine.ino())))
}

#[cfg(not(unix))]
pub(super) fn output() -> Result<File> {
    use std::os::windows::io::AsHandle;

    let failed = |error: std::io::Error| write_failed("-".as_ref(), &error);
    Ok(File::from(std::io::stdout().as_handle().try_clone_to_owned().map_err(failed)?))
}
