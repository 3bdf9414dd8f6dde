//! stdout is data, stderr is for people.
//!
//! A terminal gets colours and lines that fit it; what goes into a file or a pipe is the plain text. `NO_COLOR` and `TERM=dumb` switch
//! colours off, `COLUMNS` says how wide lines may be, also where there is no terminal.

use std::borrow::Cow;
use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use console::Term;
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

/// Is nobody to be told anything but what was asked for?
static IS_QUIET: AtomicBool = AtomicBool::new(false);

pub(crate) fn be_quiet(quiet: bool) {
    IS_QUIET.store(quiet, Relaxed);
}

pub(crate) fn is_quiet() -> bool {
    IS_QUIET.load(Relaxed)
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

/// Writes a text for people to stdout.
pub(crate) fn print_text(text: &str) -> Result<()> {
    print(&shown(text, std::io::stdout().is_terminal(), &Term::stdout()))
}

/// Writes a line for people to stderr. If even that fails there is nobody left to tell.
pub(crate) fn eprint_error(line: &str) {
    let line = shown(&format!("{line}\n"), std::io::stderr().is_terminal(), &Term::stderr());
    let _ = write!(std::io::stderr(), "{line}");
}

/// The same for what nobody needs who wants quiet.
pub(crate) fn eprint_text(text: &str) {
    if !is_quiet() {
        eprint_error(text);
    }
}

/// A text as it is to be shown here. Names may come from files that somebody hostile has written: what would do something to a
/// terminal is shown as its number.
fn shown(text: &str, is_terminal: bool, term: &Term) -> String {
    let text = &*harmless(text);
    let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let terminal = || term.size_checked().filter(|_| is_terminal).map(|(_, columns)| usize::from(columns));
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    let text = match columns.or_else(terminal) {
        Some(width) if width >= 20 => wrapped(text, width),
        _ => text.to_owned(),
    };
    if is_terminal && !is_set("NO_COLOR") && !is_dumb { coloured(&text) } else { text }
}

/// The same text, in which every letter does nothing but stand there.
fn harmless(text: &str) -> Cow<'_, str> {
    let is_plain = |letter: char| matches!(letter, '\n' | '\t') || is_seen(letter);
    let is_usual = |byte: &u8| matches!(byte, b' '..=b'~' | b'\n');
    // A summary of very many columns is mostly this.
    if text.as_bytes().iter().all(is_usual) || text.chars().all(is_plain) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        if is_plain(letter) {
            shown.push(letter);
        } else {
            shown.extend(letter.escape_unicode());
        }
    }
    Cow::Owned(shown)
}

/// Lines that are too long go on below, a little further to the right. Words are not cut.
fn wrapped(text: &str, width: usize) -> String {
    let mut wrapped = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let (line, end) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
        if line.chars().count() <= width {
            wrapped.push_str(line);
            wrapped.push_str(end);
            continue;
        }
        let indent = line.chars().take_while(|character| *character == ' ').count();
        let mark = ["pass  ", "FAIL  ", "open  "].iter().any(|mark| line[indent..].starts_with(mark));
        let hanging = indent + if mark { 6 } else { 2 };
        let mut length = 0;
        for (at, word) in line[indent..].split(' ').enumerate() {
            let letters = word.chars().count();
            if at == 0 {
                wrapped.push_str(&" ".repeat(indent));
                length = indent;
            } else if length + 1 + letters > width {
                wrapped.push('\n');
                wrapped.push_str(&" ".repeat(hanging));
                length = hanging;
            } else {
                wrapped.push(' ');
                length += 1;
            }
            wrapped.push_str(word);
            length += letters;
        }
        wrapped.push_str(end);
    }
    wrapped
}

/// What begins a line, and its colour: good green, bad red, to be read yellow, the rest faint or bold.
const COLOURS: [(&str, &str); 9] = [
    ("verdict: holds", "1;32"),
    ("verdict: does not hold", "1;31"),
    ("verdict: not decided", "1;33"),
    ("pass", "32"),
    ("FAIL", "31"),
    ("open", "33"),
    ("warning:", "33"),
    ("error:", "31"),
    ("hint:", "36"),
];

/// The same with colours at the beginnings of lines.
fn coloured(text: &str) -> String {
    let line = |line: &str| {
        let begins = line.trim_start_matches(' ');
        let (indent, begins) = (&line[..line.len() - begins.len()], begins);
        let colour = COLOURS.iter().find(|(word, _)| {
            begins.strip_prefix(word).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
        });
        colour.map_or(line.to_owned(), |(word, colour)| {
            format!("{indent}\x1b[{colour}m{word}\x1b[0m{}", &begins[word.len()..])
        })
    };
    text.split_inclusive('\n').map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_go_on_below_and_short_ones_stay() {
        let text = "short\n  pass  one two three four five six (seven)\nverdict: holds: all of the claims\n";
        assert_eq!(
            wrapped(text, 24),
            "short\n  pass  one two three\n        four five six\n        (seven)\nverdict: holds: all of\n  the claims\n"
        );
        assert_eq!(wrapped(text, 80), text);
        assert_eq!(
            wrapped("averyveryverylongwordthatdoesnotfit x", 20),
            "averyveryverylongwordthatdoesnotfit\n  x"
        );
    }

    #[test]
    fn only_the_beginnings_of_lines_have_colours() {
        assert_eq!(coloured("  pass  fine\nhe must pass\n"), "  \x1b[32mpass\x1b[0m  fine\nhe must pass\n");
        assert_eq!(coloured("error: no\npassage\n"), "\x1b[31merror:\x1b[0m no\npassage\n");
        assert_eq!(coloured("verdict: holds: all\n"), "\x1b[1;32mverdict: holds\x1b[0m: all\n");
    }
}
