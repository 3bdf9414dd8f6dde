//! What went wrong, where, and what to do about it.
//!
//! One opaque error for the whole library. The message is lower case, without a final period, and speaks of
//! columns, lines, levels and counts: never of a cell's value, since a privacy tool's own stderr must not be
//! the leak.

use std::fmt;

/// The result of everything here that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error with its kind, a message, where one is known a hint what to do, and where it comes from another, that one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error(Box<Inner>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Inner {
    kind: ErrorKind,
    message: String,
    hint: Option<String>,
    /// The same for programs.
    data: Option<String>,
    /// What it comes from.
    source: Option<Error>,
}

/// Who can do something about an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The data, a hierarchy or a setting is not usable; the user can mend it.
    Input,
    /// The request is sound but beyond what this build can hold.
    Limit,
    /// The policy and the algorithm do not go together.
    Policy,
    /// Nothing satisfies the policy; the message says what stands in the way.
    Impossible,
    /// A file could not be read or written.
    Io,
    /// Somebody asked the [`Progress`](crate::Progress) to stop.
    Cancelled,
    /// A promise of ours is broken; please report it.
    Internal,
}

impl Error {
    /// An error of the given kind.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Error(Box::new(Inner { kind, message: message.into(), hint: None, data: None, source: None }))
    }

    /// Data, hierarchy or setting that the user can mend.
    pub fn input(message: impl Into<String>) -> Self {
        Error::new(ErrorKind::Input, message)
    }

    /// The same error, with advice what to do next.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    /// The same error, with what it says as a JSON object, for programs. Columns, levels and counts, as in the message.
    #[must_use]
    pub fn with_data(mut self, json: impl Into<String>) -> Self {
        self.0.data = Some(json.into());
        self
    }

    /// The same error, which comes from another.
    #[must_use]
    pub fn with_source(mut self, source: Error) -> Self {
        self.0.source = Some(source);
        self
    }

    /// The same error, saying more exactly where: `prefix` comes first.
    #[must_use]
    pub fn prefixed(&self, prefix: &str) -> Self {
        let mut error = self.clone();
        error.0.message.insert_str(0, prefix);
        error
    }

    /// Who can do something about it.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// What it says as a JSON object, where programs may want to know.
    pub fn data(&self) -> Option<&str> {
        self.0.data.as_deref()
    }

    /// What to do about it, where that is known.
    pub fn hint(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_ref().map(|source| source as _)
    }
}
