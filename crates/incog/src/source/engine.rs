//! Where do rows come from that stay where they are?
//!
//! **Question.** A table is in a database that can count it, and nobody wants to copy it. What must such an engine answer so that a
//! job can be searched, and its recoding decided, from here?
//!
//! **Promise.** A plan made of an [`Engine`] finds the same generalizations, frontiers, best nodes and refused groups as one made of the
//! same rows in memory. No row ever comes here: the engine tells names of columns, distinct values, and counts.
//!
//! **Essence**, in the order in which a plan asks:
//!
//! 1. [`header`](Engine::header): the columns' names, so that roles are checked first.
//! 2. [`values`](Engine::values) of each quasi-identifier and of each sensitive column: the
//!    distinct values with their rows (`SELECT c, count(*) GROUP BY c`). The values are bound to hierarchies here.
//! 3. [`rows_about_nobody`](Engine::rows_about_nobody), where the policy counts persons.
//! 4. [`source`](Engine::source): the engine gets everything as [`Bindings`] and makes a [`FrequencySource`] of it. From there on it only
//!    counts. With prefix codes a node is one AND, so a table of keys, one row for each value
//!    ([`KeyLayout::value_keys`]), makes every question a `GROUP BY key & mask`.
//!
//! What a plan decides is handed back as a [`Decided`](crate::Decided): levels and the groups to leave out, which is what one
//! `INSERT ... SELECT` or `COPY` needs.
//!
//! **Limits.** What takes rows is refused here, by name: releases and records of this crate, comparisons of models, the check of a released
//! file, recodings of groups of records or boxes, and masks of open length where persons are counted. An engine writes its
//! release itself and has it recounted where it is, by SQL of the checker's own; that is not part of this trait yet.
//!
//! **Cost.** One question for each of 1 to 3, and then one for each `count`; see [`FrequencySource`].
//!
//! **Soundness.** Answers are not believed: values that come twice, rows of values that do not add up to all, and
//! counts that are not what was asked for ([`Problem::count`](incog_core::judge::Problem::count)) are errors.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use incog_core::frequency::{FrequencySource, KeyLayout};
use incog_core::hierarchy::Attributes;
use incog_core::table::{Column, Role, Table};
use incog_core::{Error, ErrorKind, Progress, Result, Stage};

use crate::source::options::Readings;

/// A table whose rows stay where they are.
///
/// # Contract
/// The table does not change while a plan lives, and all answers are about the same rows.
pub trait Engine: fmt::Debug + Send + Sync {
    /// The names of the columns, in order.
    fn header(&self) -> Result<Vec<String>>;

    /// The distinct values of a column, each once and in any order, with the number of its rows. The missing value is `None`; the empty
    /// text is another value, for engines that know the difference.
    fn values(&self, column: &str) -> Result<Vec<(Option<String>, u64)>>;

    /// How many rows there are.
    fn n_rows(&self) -> Result<u64>;

    /// How many rows have no value, or an empty text, in the column that says whom a row is about.
    fn rows_about_nobody(&self, unit: &str) -> Result<u64>;

    /// What counts the table from now on, tied to these columns.
    fn source(&self, bindings: &Bindings<'_>) -> Result<Box<dyn FrequencySource>>;
}

/// Which columns an engine is to count, and by which codes.
#[derive(Debug)]
#[non_exhaustive]
pub struct Bindings<'a> {
    /// The quasi-identifiers, each tied to its hierarchy.
    pub attributes: &'a Attributes,
    /// How groups are named; the source must have this one.
    pub layout: Arc<KeyLayout>,
    /// The column of each attribute, in the same order: its dictionary has the codes of values.
    pub quasi_identifiers: Vec<&'a Column>,
    /// The sensitive columns that are asked about, in the order in which a demand numbers them.
    pub sensitive: Vec<&'a Column>,
    /// The column that says whom a row is about, where persons are counted. Rows that do not say it are about nobody.
    pub unit: Option<&'a str>,
}

/// A table in an engine, as far as a plan knows it.
#[derive(Debug)]
pub(crate) struct Elsewhere {
    pub(crate) engine: Arc<dyn Engine>,
    /// For each column that was asked about, the rows of each value, by its code.
    rows_of_values: BTreeMap<String, Vec<u64>>,
}

impl Elsewhere {
    /// Asks an engine for the values of the columns that `is_asked` names. The table has no rows.
    pub(crate) fn read(
        engine: Arc<dyn Engine>,
        header: &[String],
        readings: &Readings,
        role: impl Fn(&str) -> Role,
        is_asked: impl Fn(&str) -> bool,
        progress: &Progress,
    ) -> Result<(Table, Elsewhere)> {
        progress.enter(Stage::Reading);
        let n_rows = engine.n_rows()?;
        if n_rows == 0 {
            return Err(Error::input("the table has no rows"));
        }
        let mut rows_of_values = BTreeMap::new();
        let mut columns = Vec::new();
        for name in header {
            let mut column = Column::new(name, role(name)).with_reading(readings.of(name).clone());
            if is_asked(name) {
                progress.check()?;
                let mut rows = Vec::new();
                for (value, n) in engine.values(name)? {
                    let code = match &value {
                        Some(value) => column.push_text(value),
                        None => column.push(""),
                    };
                    if code? as usize != rows.len() {
                        return Err(broken(name, "a value twice"));
                    }
                    rows.push(n);
                }
                column.forget_rows();
                if rows.iter().try_fold(0_u64, |sum, &n| sum.checked_add(n)) != Some(n_rows) {
                    return Err(broken(name, "values whose rows are not all rows of the table"));
                }
                rows_of_values.insert(name.clone(), rows);
            }
            columns.push(column);
        }
        progress.count_rows(n_rows);
        let n_rows = usize::try_from(n_rows)
            .map_err(|_| Error::new(ErrorKind::Limit, "the table has more rows than can be counted"))?;
        Ok((Table::of_values(columns, n_rows)?, Elsewhere { engine, rows_of_values }))
    }

    /// The rows of each value of a column, by its code.
    pub(crate) fn rows_of_values(&self, column: &str) -> &[u64] {
        self.rows_of_values.get(column).map_or(&[], Vec::as_slice)
    }

    /// What counts the table. It must be named by the layout that it was given.
    pub(crate) fn source(&self, bindings: &Bindings<'_>) -> Result<Box<dyn FrequencySource>> {
        let source = self.engine.source(bindings)?;
        if !Arc::ptr_eq(source.layout(), &bindings.layout) {
            return Err(Error::new(
                ErrorKind::Internal,
                "an engine counts by another layout than it was given",
            ));
        }
        Ok(source)
    }
}

/// Why something cannot be done to rows that are not here.
pub(crate) fn refuse(what: &str) -> Error {
    Error::new(ErrorKind::Policy, format!("the rows of the table are in an engine that counts, and {what}"))
        .with_hint("search, frontier and decide work from counts; copy the rows here for anything else")
}

fn broken(column: &str, what: &str) -> Error {
    Error::input(format!("column `{column}`: the engine answered with {what}"))
        .with_hint("the table must not change while it is searched")
}
