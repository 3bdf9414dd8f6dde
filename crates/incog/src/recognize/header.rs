//! Is the first line of a file a header, or somebody's row?

use std::path::Path;

use incog_core::table::label::EMPTY_TEXT;
use incog_core::table::{Column, Role, Table};
use incog_core::{Error, Progress, Result};

use crate::job::Job;
use crate::recognize::propose;
use crate::recognize::values::{is_date, is_number, is_other_date, is_year};
use crate::source::{Data, ReadOptions};

/// Is it known that the first line of a file holds the names of its columns?
///
/// ```
/// use incog::{FirstLine, Init, Progress};
///
/// # let folder = tempfile::tempdir().unwrap();
/// # let data = folder.path().join("patients.csv");
/// # std::fs::write(&data, "age,zip\n34,53715\n36,53715\n51,53703\n58,53706\n").unwrap();
/// let init = Init::new(&data, None, FirstLine::Unknown, &Progress::new())?;
/// assert_eq!(init.profile.rows, 4);
/// # Ok::<(), incog::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FirstLine {
    /// Somebody says so.
    Names,
    /// The file must show it.
    Unknown,
}

/// The table in the data of a job, and what was found out of its files. The one place here that knows how files are read.
pub(crate) fn read(job: &Job, first_line: FirstLine, progress: &Progress) -> Result<(Table, Vec<String>)> {
    let data = Data::open(&job.inputs(), ReadOptions::of_job(job)?)?;
    let path = data.files()[0].clone();
    let (table, format) = data.read(|_| Role::Other, progress)?;
    // Other formats have a place of their own for names.
    let is_text = format.file.is_delimited();
    if first_line == FirstLine::Unknown && job.input.names.is_none() {
        check_header(&path, &table, is_text)?;
    }
    Ok((table, format.notes))
}

/// Names of columns are shown and written down; the cells of a first row that is taken for a header must not be.
///
/// Refused if half of the names look like cells of their column ([`looks_like_a_cell`]); and, in a text file, unless more
/// names are evidently none ([`is_evidently_a_name`]) than look like cells: one is enough where nothing speaks against it. In Parquet, whose names do
/// not stand among the cells, only if all are written like cells.
///
/// What can still go wrong: a first row without a header in which some cell happens to be unlike all others of its column, and no
/// cell is like them.
pub(crate) fn check_header(path: &Path, table: &Table, is_text: bool) -> Result<()> {
    let n_columns = table.columns().len();
    let n_cells = table.columns().iter().filter(|column| looks_like_a_cell(column)).count();
    let is_written_alike = |column: &Column| looks_like_a_cell(column) || has_the_shape_of_cells(column);
    let is_header = if is_text {
        table.columns().iter().filter(|column| is_evidently_a_name(column)).count() > n_cells
    } else {
        !table.columns().iter().all(is_written_alike)
    };
    if n_cells * 2 < n_columns && is_header {
        return Ok(());
    }
    let problem = match n_cells {
        0 => format!("nothing tells the first line from the others: {n_columns} names, or values"),
        _ => format!("{n_cells} of {n_columns} column names look like values, not like names"),
    };
    Err(Error::input(format!("data file `{}`: {problem}", path.display())).with_hint(
        "the first line must name the columns: write one above the data; if it does name them, say so with --header; if there is none, \
         say --read header=false --read names=age,zip,...",
    ))
}

/// Is the name of a column evidently none of its cells? One of:
///
/// 1. a word that columns are called, and that nobody is, such as `zip` or `birth_date`;
/// 2. no digit in it, and nothing but numbers and dates below;
/// 3. a written word (two small letters in a row), and of at least three distinct values none is like it in that it has digits, has an underscore,
///    or begins with a large or a small letter or something else;
/// 4. no value of at least ten rows stands alone in its column, as this one would.
///
/// Words for "no value" are cells.
fn is_evidently_a_name(column: &Column) -> bool {
    let name = column.name();
    let has_letters = name.chars().any(char::is_alphabetic);
    if !has_letters || is_no_value(name) || looks_like_a_cell(column) {
        return false;
    }
    if propose::is_called_so(name) {
        return true;
    }
    let values = || column.dictionary().values().filter(|value| !value.is_empty() && *value != EMPTY_TEXT);
    let has_digit = |text: &str| text.bytes().any(|byte| byte.is_ascii_digit());
    let is_measured = |value: &str| is_number(value) || is_date(value) || is_other_date(value);
    if !has_digit(name) && values().next().is_some() && values().all(is_measured) {
        return true;
    }
    let is_small = |character: char| character.is_lowercase();
    let is_word = name.chars().zip(name.chars().skip(1)).any(|(a, b)| is_small(a) && is_small(b));
    let start = |text: &str| text.chars().next().map(|first| (first.is_uppercase(), first.is_lowercase()));
    let differs = |of: &dyn Fn(&str) -> bool| values().all(|value| of(value) != of(name));
    let is_unlike = || {
        differs(&has_digit)
            || (name.contains('_') && differs(&|text| text.contains('_')))
            || values().all(|value| start(value) != start(name))
    };
    if is_word && values().count() >= 3 && is_unlike() {
        return true;
    }
    let mut counts = vec![0_u64; column.dictionary().len()];
    column.codes().iter().for_each(|&code| counts[code as usize] += 1);
    column.codes().len() >= 10 && counts.iter().all(|&count| count > 1)
}

/// Is this a word for "no value"?
fn is_no_value(text: &str) -> bool {
    let words = [
        "na",
        "n/a",
        "nan",
        "null",
        "nil",
        "none",
        "no",
        "unknown",
        "missing",
        "empty",
        "other",
        "others",
        "undefined",
        "not known",
    ];
    words.iter().any(|word| text.trim().eq_ignore_ascii_case(word))
}

/// Is the name of a column rather one of its cells? It is if it occurs among them, is a date, has an `@`, is a number like all others (but no
/// year above other numbers), or has digits and the [shape] of nine in ten of the others.
fn looks_like_a_cell(column: &Column) -> bool {
    let name = column.name();
    if name.is_empty() {
        return false;
    }
    let values = || column.dictionary().values().filter(|value| !value.is_empty());
    column.dictionary().code(name).is_some()
        || is_date(name)
        || is_other_date(name)
        || name.contains('@')
        || (is_number(name)
            && values().next().is_some()
            && values().all(is_number)
            && (!is_year(name) || values().all(is_year)))
        || (name.bytes().any(|byte| byte.is_ascii_digit()) && has_the_shape_of_cells(column))
}

/// Is the name of a column written like nine in ten of at least five distinct values?
fn has_the_shape_of_cells(column: &Column) -> bool {
    let name = shape(column.name());
    let values = || column.dictionary().values().filter(|value| !value.is_empty());
    let (n_values, n_alike) = (values().count(), values().filter(|value| shape(value) == name).count());
    n_values >= 5 && n_alike * 10 >= n_values * 9
}

/// How a text is written: which letters are large or small, where digits are, and all other characters as they are.
fn shape(text: &str) -> String {
    let kind = |character: char| match character {
        _ if character.is_numeric() => '0',
        _ if character.is_uppercase() => 'A',
        _ if character.is_alphabetic() => 'a',
        other => other,
    };
    text.chars().map(kind).collect()
}
