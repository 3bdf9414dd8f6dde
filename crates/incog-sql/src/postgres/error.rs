//! What to tell of an error of the server, without telling a cell.
//!
//! A message of PostgreSQL may quote the value that it is about (`invalid input syntax for type integer: "..."`), and its details quote rows.
//! Messages are repeated only of classes that speak of names, permissions, connections and resources; of all others the code.

use incog_core::{Error, ErrorKind};
use postgres::error::DbError;

/// An error that came while something was done.
pub(super) fn failed(doing: &str, error: &postgres::Error) -> Error {
    match error.as_db_error() {
        Some(error) => of_server(doing, error),
        None if error.is_closed() => lost(doing),
        None => {
            let cause = std::error::Error::source(error).map(ToString::to_string);
            // Of the client's own kinds only input and output, TLS and logging in have causes that speak of neither rows nor passwords.
            let message = match cause {
                Some(cause) => format!("{doing}: {}: {cause}", first_words(error)),
                None => format!("{doing}: {}", first_words(error)),
            };
            Error::new(ErrorKind::Io, message)
        }
    }
}

/// The same of an error on the way of rows.
pub(super) fn failed_io(doing: &str, error: &std::io::Error) -> Error {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<postgres::Error>());
    match inner {
        Some(error) => failed(doing, error),
        None if error.kind() == std::io::ErrorKind::UnexpectedEof => lost(doing),
        None => Error::new(ErrorKind::Io, format!("{doing}: {error}")),
    }
}

fn lost(doing: &str) -> Error {
    Error::new(ErrorKind::Io, format!("{doing}: the connection to the database was lost"))
        .with_hint("nothing was written: the server undoes what was not committed; is it still running?")
}

fn first_words(error: &postgres::Error) -> String {
    let text = error.to_string();
    text.split(':').next().unwrap_or_default().to_owned()
}

fn of_server(doing: &str, error: &DbError) -> Error {
    let code = error.code().code();
    let (class, detail) = (&code[..2.min(code.len())], &code[2.min(code.len())..]);
    let (kind, is_told) = match class {
        // Connections, authorizations, names and syntax, catalogues and schemas.
        "08" => (ErrorKind::Io, true),
        "28" | "2B" | "3D" | "3F" => (ErrorKind::Input, true),
        // What is ambiguous, unknown or not permitted; but an index or function may quote values.
        "42" if !["P22", "804"].contains(&detail) => (ErrorKind::Input, true),
        // States of transactions, resources, locks, and what an operator does.
        "25" | "40" | "55" => (ErrorKind::Input, true),
        "53" | "54" | "58" => (ErrorKind::Io, true),
        "57" => (ErrorKind::Io, true),
        _ => (ErrorKind::Input, false),
    };
    let message = match is_told {
        true => format!("{doing}: the database says: {} ({code})", error.message()),
        false => format!(
            "{doing}: the database refused with the code {code}; its message is left out, since it may quote a value"
        ),
    };
    let problem = Error::new(kind, message);
    match hint(code, class) {
        Some(hint) => problem.with_hint(hint),
        None => problem,
    }
}

fn hint(code: &str, class: &str) -> Option<&'static str> {
    Some(match (code, class) {
        ("28P01" | "28000", _) => {
            "passwords are read from the URL, PGPASSWORD, a service file and ~/.pgpass, in that order"
        }
        ("42501", _) => "ask for the permission, or use a role that has it",
        ("42P01" | "3F000", _) => "tables are named as in SQL: schema.table, and \"Odd Name\" in quotes",
        ("53100", _) => "the database's disk is full; nothing was written",
        ("57014", _) => "the statement was cancelled; nothing was written",
        (_, "57" | "08") => "nothing was written: the server undoes what was not committed",
        (_, "22" | "P0" | "XX") => "read the table alone to see it: SELECT * FROM it",
        _ => return None,
    })
}
