//! Mistakes of a job, collected so that all are told at once.

use incog_core::{Error, Result};

use super::listed;

/// Mistakes found so far.
#[derive(Debug, Default)]
pub(crate) struct Mistakes(Vec<Error>);

impl Mistakes {
    /// One more.
    pub(crate) fn add(&mut self, error: Error) {
        self.0.push(error);
    }

    /// Are there none?
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The value, or a default with the mistake noted.
    pub(crate) fn note<T>(&mut self, result: Result<T>) -> Option<T> {
        result.map_err(|error| self.0.push(error)).ok()
    }

    /// Those of another list too, each with a prefix that says where.
    pub(crate) fn take(&mut self, others: &Mistakes, prefix: &str) {
        self.0.extend(others.0.iter().map(|error| error.prefixed(prefix)));
    }

    /// Fails if there were any: with the one, or with all of them, a line each, and the first hint.
    pub(crate) fn stop(self) -> Result<()> {
        let Some(first) = self.0.first() else {
            return Ok(());
        };
        if self.0.len() == 1 {
            return Err(first.clone());
        }
        let lines = listed(self.0.iter().map(ToString::to_string), "mistake", "mistakes");
        let error = Error::new(first.kind(), lines.join("\n"));
        Err(match self.0.iter().find_map(Error::hint) {
            Some(hint) => error.with_hint(hint),
            None => error,
        })
    }
}
