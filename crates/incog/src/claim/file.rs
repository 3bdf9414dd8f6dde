//! A released file as the checker sees it, and what is claimed of it.

use std::borrow::Cow;
use std::path::Path;

use incog_core::table::label::EMPTY_TEXT;
use incog_core::table::{Column, Role, Table};
use incog_core::value::Notation;
use incog_core::{Error, Progress, Result, hash};
use incog_verify::{LabelColumn, Labels, RecodingClaim, Report, StringTable, check};

use crate::claim::labels::Collected;
use crate::claim::{claims, local_claims, persons};
use crate::file::FileFormat;
use crate::plan::Plan;
use crate::source::kind;
use crate::source::{self, Data, Format, ReadOptions};

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

/// A released file as strings.
pub(crate) struct ReleasedFile {
    pub(crate) labels: Box<dyn Labels>,
    format: FileFormat,
    /// Whether a column has a type, so that numbers and dates are written as the format does, not as the data did.
    is_typed: Vec<bool>,
}

/// The same, as anybody sees it who has no data.
pub fn read_release(path: &Path, delimiter: Option<u8>) -> Result<Box<dyn Labels>> {
    Ok(open_release(path, None, delimiter)?.labels)
}

/// A released file as strings, in the given format or the one that its name says; without a delimiter, the most frequent one of a text's
/// header is taken. Text is read by the checker itself.
pub(crate) fn open_release(
    path: &Path,
    format: Option<FileFormat>,
    delimiter: Option<u8>,
) -> Result<ReleasedFile> {
    // A release may be called anything, if its job says what it is.
    let format = format.or_else(|| FileFormat::by_name(path)).unwrap_or(FileFormat::Csv);
    if !format.is_delimited() {
        let data = Data::open(&[path.to_owned()], ReadOptions::of_format(format))?;
        // A release may have no rows.
        let (table, read) = data.read_even_empty(|_| Role::Other, &Progress::new())?;
        let is_typed = (0..table.columns().len()).map(|at| read.type_of(at).has_values()).collect();
        return Ok(ReleasedFile { labels: Box::new(Collected(Cow::Owned(table))), format, is_typed });
    }
    let delimiter = if format == FileFormat::Tsv { Some(b'\t') } else { delimiter };
    let (file, delimiter) = source::open_text(path, "the release", delimiter)?;
    let table = StringTable::parse(file, delimiter).map_err(|problem| {
        Error::input(format!("cannot read the release `{}`: {problem}", path.display()))
    })?;
    let is_typed = vec![false; table.header().len()];
    Ok(ReleasedFile { labels: Box::new(table), format, is_typed })
}

impl ReleasedFile {
    /// A release that a program has in memory.
    pub(crate) fn in_memory(table: Table, read: &Format) -> Self {
        let is_typed = (0..table.columns().len()).map(|at| read.type_of(at).has_values()).collect();
        // Columns of text are read like text by commas: an empty cell is a missing value.
        ReleasedFile { labels: Box::new(Collected(Cow::Owned(table))), format: read.file, is_typed }
    }

    /// The labels as they are in a table's columns.
    ///
    /// - What a column's missing value is written as is the missing value.
    /// - In text an empty cell is a missing value; in a column that has no missing values, but empty texts, it is one of those. (With
    ///   both the column would not have been written.)
    /// - A number or a date of a column with a type is the one cell of the data that is the same number or day.
    pub(crate) fn into_collected(self, table: &Table) -> Box<dyn Labels> {
        let header = self.labels.header();
        let columns = header.iter().enumerate().map(|(at, name)| {
            let column = table.column(name)?;
            self.changed(&self.labels.labels(at), self.is_typed[at], column)
        });
        let columns: Vec<Option<Vec<String>>> = columns.collect();
        if columns.iter().all(Option::is_none) {
            return self.labels;
        }
        Box::new(Respelled { released: self.labels, columns })
    }

    /// The labels of a column as the data has them; nothing where they are the same.
    fn changed(&self, labels: &[&str], is_typed: bool, column: &Column) -> Option<Vec<String>> {
        let dictionary = column.dictionary();
        let is_text = self.format.is_delimited();
        let marker = Some(column.reading().marker()).filter(|marker| is_text && !marker.is_empty());
        let has_texts_only = (is_text || self.format == FileFormat::Xlsx)
            && dictionary.code(EMPTY_TEXT).is_some()
            && dictionary.code("").is_none();
        // JSON has numbers, but writes days as text.
        let is_json = self.format == FileFormat::Jsonl;
        let is_day = |label: &str| is_json && Notation::PLAIN.date_and_time(label).is_some();
        let mut spelled: Option<hash::Map<String, Option<u32>>> = None;
        let mut has_changed = false;
        let respelled = labels.iter().map(|&label| {
            let new = if Some(label) == marker {
                ""
            } else if label.is_empty() && has_texts_only {
                EMPTY_TEXT
            } else if (is_typed || is_day(label)) && !label.is_empty() && dictionary.code(label).is_none() {
                let spelled = spelled.get_or_insert_with(|| spellings(column));
                let mut found = kind::keys(label, &Notation::PLAIN).filter_map(|key| *spelled.get(&key)?);
                found.next().map_or(label, |code| dictionary.value(code))
            } else {
                label
            };
            has_changed |= new != label;
            new.to_owned()
        });
        let respelled: Vec<String> = respelled.collect();
        // Two spellings of one value tell rows apart: whoever forges a release so is not to have them taken for the same.
        let distinct: std::collections::BTreeSet<&String> = respelled.iter().collect();
        let is_one_to_one = distinct.len() == respelled.len();
        (has_changed && is_one_to_one).then_some(respelled)
    }
}

/// The labels of a file whose columns of text were written as text.
pub(crate) fn as_collected(path: &Path, labels: Box<dyn Labels>, table: &Table) -> Box<dyn Labels> {
    let format = FileFormat::by_name(path).unwrap_or(FileFormat::Csv);
    let is_typed = vec![false; labels.header().len()];
    ReleasedFile { labels, format, is_typed }.into_collected(table)
}

/// The values of a column by what number, day or point in time they are; none where several are the same.
fn spellings(column: &Column) -> hash::Map<String, Option<u32>> {
    let mut spelled: hash::Map<String, Option<u32>> = hash::Map::default();
    for (code, value) in (0..).zip(column.dictionary().values()) {
        for key in kind::keys(value, column.notation()) {
            spelled.entry(key).and_modify(|code| *code = None).or_insert(Some(code));
        }
    }
    spelled
}

/// A table some of whose columns have other labels.
struct Respelled {
    released: Box<dyn Labels>,
    columns: Vec<Option<Vec<String>>>,
}

impl Labels for Respelled {
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
        match &self.columns[column_idx] {
            Some(labels) => labels.iter().map(String::as_str).collect(),
            None => self.released.labels(column_idx),
        }
    }

    fn codes_from(&self, column_idx: usize, first: usize, to: &mut [u32]) {
        self.released.codes_from(column_idx, first, to);
    }
}
