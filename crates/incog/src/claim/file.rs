//! A released file as the checker sees it, and what is claimed of it.

use std::borrow::Cow;
use std::path::Path;

use incog_core::table::label::EMPTY_TEXT;
use incog_core::table::{Role, Table};
use incog_core::{Error, Progress, Result};
use incog_verify::{LabelColumn, Labels, RecodingClaim, Report, StringTable, check};

use crate::claim::labels::Collected;
use crate::claim::{claims, local_claims, persons};
use crate::file::is_parquet;
use crate::plan::Plan;
use crate::source::{self, Data};

/// Why a release cannot be checked against data that are not in memory: its rows come in any order.
pub(crate) const CHECKED_IN_MEMORY: &str = "a file is checked against the data in memory";

/// Checks a released table against a plan's job and data, trusting nothing but the input. `recoding` says how it is supposed to
/// have been made; where the job asks for local recoding, it was.
pub(crate) fn check_released(
    plan: &Plan,
    released: &dyn Labels,
    recoding: RecodingClaim,
    progress: &Progress,
) -> Result<Report> {
    let input = Collected(Cow::Borrowed(&plan.table));
    if recoding == RecodingClaim::FullDomain && plan.route.local().is_none() {
        return Ok(check(released, &claims(plan, &input, recoding)?));
    }
    let mut report = check(released, &local_claims(plan, plan.route.local(), &input)?);
    if let Some(persons) = persons::persons_anew(plan, released, progress)? {
        persons.add_to(&mut report);
    }
    Ok(report)
}

/// A released file as strings; without a delimiter, a CSV file's header's most frequent one is taken. CSV is read by
/// the checker itself.
pub fn read_release(path: &Path, delimiter: Option<u8>) -> Result<Box<dyn Labels>> {
    if is_parquet(path) {
        // A release may have no rows.
        let data = Data::open(&[path.to_owned()], None)?;
        let (table, _) = data.read_even_empty(|_| Role::Other, &Progress::new())?;
        return Ok(Box::new(Collected(Cow::Owned(table))));
    }
    let (file, delimiter) = source::open_text(path, "the release", delimiter)?;
    let table = StringTable::parse(file, delimiter).map_err(|problem| {
        Error::input(format!("cannot read the release `{}`: {problem}", path.display()))
    })?;
    Ok(Box::new(table))
}

/// A released file of a table. In a CSV file an empty cell is a missing value; in a column of the table that has no missing
/// values, but empty texts, it is one of those. (With both the column would not have been written.)
pub(crate) fn with_empty_texts(path: &Path, released: Box<dyn Labels>, table: &Table) -> Box<dyn Labels> {
    if is_parquet(path) {
        return released;
    }
    let has_texts_only = |name: &str| {
        table.column(name).is_some_and(|column| {
            column.dictionary().code(EMPTY_TEXT).is_some() && column.dictionary().code("").is_none()
        })
    };
    let is_text: Vec<bool> = released.header().iter().map(|name| has_texts_only(name)).collect();
    if is_text.contains(&true) { Box::new(EmptyTexts { released, is_text }) } else { released }
}

/// A table in whose columns, or some of them, an empty cell is an empty text.
struct EmptyTexts {
    released: Box<dyn Labels>,
    is_text: Vec<bool>,
}

impl Labels for EmptyTexts {
    fn header(&self) -> Vec<&str> {
        self.released.header()
    }

    fn n_rows(&self) -> usize {
        self.released.n_rows()
    }

    fn column(&self, column_idx: usize) -> LabelColumn<'_> {
        LabelColumn { labels: self.labels(column_idx), codes: self.released.column(column_idx).codes }
    }

    fn labels(&self, column_idx: usize) -> Vec<&str> {
        let mut labels = self.released.labels(column_idx);
        if self.is_text[column_idx] {
            labels.iter_mut().filter(|label| label.is_empty()).for_each(|label| *label = EMPTY_TEXT);
        }
        labels
    }

    fn codes_from(&self, column_idx: usize, first: usize, to: &mut [u32]) {
        self.released.codes_from(column_idx, first, to);
    }
}
