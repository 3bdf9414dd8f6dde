//! What does Python hear when something goes wrong?
//!
//! The exceptions are classes of `incog.errors`; which of them an error is, that module decides by its kind. Messages speak of columns
//! and counts, as everywhere; no error of another library is repeated, because nobody knows whether it repeats a cell.

use std::error::Error as _;

use incog::{Error, ErrorKind};
use pyo3::prelude::*;

/// The exception of an error.
pub(crate) fn raised(py: Python<'_>, error: &Error) -> PyErr {
    let kind = match error.kind() {
        ErrorKind::Input => "input",
        ErrorKind::Limit => "limit",
        ErrorKind::Policy => "policy",
        ErrorKind::Impossible => "impossible",
        ErrorKind::Io => "io",
        ErrorKind::Cancelled => "cancelled",
        _ => "internal",
    };
    let source = error.source().map(ToString::to_string);
    let made = py.import("incog.errors").and_then(|errors| {
        errors.call_method1("_made", (kind, error.to_string(), error.hint(), source, error.data()))
    });
    match made {
        Ok(exception) => PyErr::from_value(exception),
        Err(problem) => problem,
    }
}

/// A mistake in a call.
pub(crate) fn input(py: Python<'_>, message: &str, hint: &str) -> PyErr {
    raised(py, &Error::input(message).with_hint(hint))
}
