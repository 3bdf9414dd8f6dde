//! stdout is data, stderr is for people.

use std::io::Write;

use incog::{Error, ErrorKind, Result};

/// How a command prints what it has found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// For people
    Text,
    /// One JSON object
    Json,
}

/// Writes data to stdout. A reader that has seen enough (`| head`) is no error.
pub(crate) fn print(text: &str) -> Result<()> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Error::new(ErrorKind::Io, format!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Writes a line for people to stderr. If even that fails there is nobody left to tell.
pub(crate) fn eprint_error(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}
