//! What must an engine be able to do?
//!
//! **Promise.** Whatever implements this trait can count a table and write its release: all SQL is made elsewhere, by the engine's
//! [`Dialect`]. All calls are about one unchanging state of the tables (a snapshot), from the first to the last.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard};

use incog_core::{Error, ErrorKind, Result};

use crate::{Dialect, Relation};

/// What a column of an answer has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Whole numbers of 64 bits.
    Number,
    /// Texts.
    Text,
}

/// A cell of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cell<'a> {
    /// Nothing.
    Null,
    /// A number.
    Number(i64),
    /// A text.
    Text(&'a str),
}

impl<'a> Cell<'a> {
    /// The number; there must be one.
    pub fn number(self) -> Result<i64> {
        match self {
            Cell::Number(number) => Ok(number),
            Cell::Null | Cell::Text(_) => Err(Error::new(
                ErrorKind::Input,
                "the database answered with nothing where there must be a number",
            )
            .with_hint("a table or view must give the same rows each time it is read")),
        }
    }

    /// A count: a number that is not negative.
    pub fn count(self) -> Result<u64> {
        u64::try_from(self.number()?)
            .map_err(|_| Error::new(ErrorKind::Internal, "the database answered with a negative count"))
    }

    /// The text, if there is one.
    pub fn text(self) -> Option<&'a str> {
        match self {
            Cell::Text(text) => Some(text),
            Cell::Null | Cell::Number(_) => None,
        }
    }
}

/// A table that is yet to be written.
#[derive(Debug, Clone)]
pub struct Target {
    /// What it is called while it is written, as it stands in statements.
    pub working: String,
    /// What it is to be called, as it stands in statements.
    pub name: String,
    /// Its name without a schema, as it stands in statements.
    pub(crate) own_name: String,
    /// The number of the table that it replaces.
    pub(crate) replaces: Option<u32>,
}

/// An engine with a connection, and what it sees does not change.
///
/// # Contract
/// - From [`Engine::relation`] on, every statement sees the same rows: a snapshot, or an error where files changed meanwhile.
/// - What is created as temporary is gone when the engine is dropped, whatever happened.
/// - Nothing is written to a source. What [`run`](Self::run) creates beside temporary objects is seen by others only after
///   [`commit`](Self::commit).
/// - Errors tell no cell: messages of the engine that may quote values are left out.
pub trait Engine: fmt::Debug + Send {
    /// How its SQL is written.
    fn dialect(&self) -> &'static dyn Dialect;

    /// Finds a table or the columns of a query.
    fn relation(&mut self, from: &crate::From) -> Result<Relation>;

    /// May temporary tables be made here? If not, why.
    fn check_temporary(&mut self) -> Result<()>;

    /// Runs a statement; `doing` says in a few words what for, in errors.
    fn run(&mut self, doing: &str, statement: &str) -> Result<()>;

    /// Shows every row of an answer, whose columns are of these kinds.
    fn rows(
        &mut self,
        doing: &str,
        query: &str,
        kinds: &[Kind],
        each: &mut dyn FnMut(&[Cell<'_>]) -> Result<()>,
    ) -> Result<()>;

    /// The same for an answer of texts alone.
    fn texts(
        &mut self,
        doing: &str,
        query: &str,
        each: &mut dyn FnMut(&[Option<&str>]) -> Result<()>,
    ) -> Result<()>;

    /// Fills a temporary table, whose columns are texts and numbers, with rows of texts.
    fn fill(
        &mut self,
        doing: &str,
        table: &str,
        rows: &mut dyn Iterator<Item = Vec<Option<String>>>,
    ) -> Result<()>;

    /// Finds the place of a table that is yet to be written, and fails if it may not be: because of what is there, or permissions.
    fn target(&mut self, name: &str, replace: bool) -> Result<Target>;

    /// Copies rows of texts into a table that was made here; `next` fills in a row until there is none.
    fn copy_in(
        &mut self,
        table: &str,
        next: &mut dyn FnMut(&mut Vec<Option<String>>) -> Result<bool>,
    ) -> Result<()>;

    /// Gives a table that was written the name that it is to have, in the place of what it replaces.
    fn put_in_place(&mut self, target: &Target) -> Result<()>;

    /// Makes what was written visible for others.
    fn commit(&mut self) -> Result<()>;
}

/// An engine that several callers share.
pub type SharedEngine = Arc<Mutex<Box<dyn Engine>>>;

/// Locks an engine. Whoever panicked with it left it between two statements, or its connection is of no use any more, which it says itself.
pub fn lock(engine: &SharedEngine) -> MutexGuard<'_, Box<dyn Engine>> {
    engine.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
