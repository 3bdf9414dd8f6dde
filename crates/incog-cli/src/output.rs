//! stdout is data, stderr is for people.

use std::io::Write;

use incog::unstable::cli::is_seen;
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

/// Writes lines for people to stderr. If even that fails there is nobody left to tell. Names may come from files that somebody hostile has
/// written: what would do something to a terminal is shown as its number.
pub(crate) fn eprint_error(lines: &str) {
    let is_plain = |letter: char| matches!(letter, '\n' | '\t') || is_seen(letter);
    let is_usual = |byte: &u8| matches!(byte, b' '..=b'~' | b'\n');
    // A summary of very many columns is mostly this.
    if lines.as_bytes().iter().all(is_usual) || lines.chars().all(is_plain) {
        let _ = writeln!(std::io::stderr(), "{lines}");
        return;
    }
    let mut shown = String::with_capacity(lines.len() + 16);
    for letter in lines.chars() {
        if is_plain(letter) {
            shown.push(letter);
        } else {
            shown.extend(letter.escape_unicode());
        }
    }
    let _ = writeln!(std::io::stderr(), "{shown}");
}
