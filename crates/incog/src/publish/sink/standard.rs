//! Is there a standard output that somebody gets?
//!
//! A Rust program that is started without one is given `/dev/null` in its place, and what is written to one that cannot be
//! written to is lost without a word. A release that goes there would be lost, and the run would say that all is well.

use std::fs::File;

use incog_core::Result;

use crate::publish::sink::write_failed;
use crate::publish::sink::{STANDARD, cannot_write};
use crate::system::{self, StandardOutput};

/// Fails if what is written to standard output would be lost.
pub fn check_standard_output() -> Result<()> {
    output().map(|_| ())
}

/// Standard output, which says so when it cannot be written to.
pub(super) fn output() -> Result<File> {
    let output = system::standard_output();
    match output.map_err(|error| write_failed(STANDARD.as_ref(), &error))? {
        StandardOutput::Open(file) => Ok(file),
        StandardOutput::Lost => Err(cannot_write(STANDARD.as_ref(), "standard output is closed")
            .with_hint("redirect it to a file or a pipe, or name a file with --output")),
    }
}
