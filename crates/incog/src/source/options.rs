//! How is a table to be read, as far as somebody says so?
//!
//! What a job says in `[input]` of the files ([`Dialect`]) and, there and under `[columns]`, of the cells ([`Readings`]). Whatever makes no
//! sense is an error here, with its line, before a file is opened.

use encoding_rs::Encoding;
use incog_core::table::Reading;
use incog_core::value::{DateFormat, Notation};
use incog_core::{Error, Result};
use indexmap::IndexMap;

use crate::file::{FileFormat, encoding};
use crate::job::{ColumnJob, Job, patterns};

/// How files and cells are to be read.
#[derive(Debug, Clone, Default)]
pub struct ReadOptions {
    pub(crate) dialect: Dialect,
    pub(crate) readings: Readings,
}

/// How files are written.
#[derive(Debug, Clone)]
pub(crate) struct Dialect {
    /// The format, if the name does not say it.
    pub(crate) format: Option<FileFormat>,
    /// What separates fields; the header's most frequent one unless given.
    pub(crate) delimiter: Option<u8>,
    /// What fields are quoted by, if by anything.
    pub(crate) quote: Option<u8>,
    /// What lines start with that are no rows.
    pub(crate) comment: Option<u8>,
    /// Lines, or rows of a sheet, in front of the table.
    pub(crate) skip_rows: u64,
    /// The names of all columns, where no row has them.
    pub(crate) names: Option<Vec<String>>,
    /// What text is written in; found out unless given.
    pub(crate) encoding: Option<&'static Encoding>,
    /// The sheet of a workbook, and which of its cells.
    #[cfg_attr(not(feature = "sheets"), expect(dead_code, reason = "only workbooks have sheets"))]
    pub(crate) sheet: Option<String>,
    #[cfg_attr(not(feature = "sheets"), expect(dead_code, reason = "only workbooks have sheets"))]
    pub(crate) range: Option<String>,
    /// Are numbers written with a decimal comma, somewhere?
    pub(crate) has_decimal_comma: bool,
}

impl Default for Dialect {
    fn default() -> Self {
        Dialect {
            format: None,
            delimiter: None,
            quote: Some(b'"'),
            comment: None,
            skip_rows: 0,
            names: None,
            encoding: None,
            sheet: None,
            range: None,
            has_decimal_comma: false,
        }
    }
}

/// How cells are read, column by column.
#[derive(Debug, Clone, Default)]
pub(crate) struct Readings {
    of_columns: IndexMap<String, Reading>,
    others: Reading,
}

impl Readings {
    /// How the cells of a column are read.
    pub(crate) fn of(&self, column: &str) -> &Reading {
        patterns::longest(&self.of_columns, column).unwrap_or(&self.others)
    }
}

impl ReadOptions {
    /// Text with this delimiter, and all else as it comes.
    pub fn delimited(delimiter: Option<u8>) -> Self {
        ReadOptions { dialect: Dialect { delimiter, ..Dialect::default() }, ..ReadOptions::default() }
    }

    /// A file of this format, and all else as it comes.
    pub(crate) fn of_format(format: FileFormat) -> Self {
        ReadOptions {
            dialect: Dialect { format: Some(format), ..Dialect::default() },
            ..ReadOptions::default()
        }
    }

    /// What a job says.
    pub(crate) fn of_job(job: &Job) -> Result<Self> {
        let mut of_columns = IndexMap::new();
        for (name, column) in &job.columns {
            of_columns.insert(name.clone(), reading(job, Some((name, column)))?);
        }
        let readings = Readings { of_columns, others: reading(job, None)? };
        let is_comma = |reading: &Reading| reading.notation.decimal() == ',';
        let has_decimal_comma = is_comma(&readings.others) || readings.of_columns.values().any(is_comma);
        Ok(ReadOptions { dialect: Dialect { has_decimal_comma, ..dialect(job)? }, readings })
    }
}

/// What separates the fields of the data, if the job says so.
pub(crate) fn delimiter(job: &Job) -> Result<Option<u8>> {
    let Some(delimiter) = job.input.delimiter else {
        return Ok(None);
    };
    let byte = u8::try_from(delimiter).ok().filter(|byte| byte.is_ascii() && !b"\"\r\n".contains(byte));
    byte.map(Some).ok_or_else(|| {
        job.mistake(&["input", "delimiter"], "the delimiter is a quote, a line break or not ASCII")
    })
}

fn dialect(job: &Job) -> Result<Dialect> {
    let input = &job.input;
    let delimiter = delimiter(job)?;
    let mark = |key: &str, mark: char| {
        let byte = u8::try_from(mark).ok().filter(|byte| byte.is_ascii() && !byte.is_ascii_control());
        byte.filter(|byte| delimiter != Some(*byte)).ok_or_else(|| {
            job.mistake(
                &["input", key],
                format!("`{key}` is not one ASCII character other than the delimiter"),
            )
        })
    };
    let quote = match input.quote.as_deref() {
        None => Some(b'"'),
        Some("") => None,
        Some(text) => {
            let mut letters = text.chars();
            let first = letters.next().filter(|_| letters.next().is_none());
            let mistake =
                || job.mistake(&["input", "quote"], "`quote` is not one character, or \"\" for none");
            Some(mark("quote", first.ok_or_else(mistake)?)?)
        }
    };
    let comment = input.comment.map(|comment| mark("comment", comment)).transpose()?;
    if comment.is_some() && comment == quote {
        return Err(job.mistake(&["input", "comment"], "comments start with the quote"));
    }
    let encoding = match &input.encoding {
        None => None,
        Some(name) => Some(encoding::named(name).ok_or_else(|| {
            job.mistake(&["input", "encoding"], "nobody knows the encoding of that name")
                .with_hint("common are \"utf-8\", \"utf-16\", \"windows-1252\", \"latin1\" and \"shift_jis\"")
        })?),
    };
    Ok(Dialect {
        format: input.format,
        delimiter,
        quote,
        comment,
        skip_rows: input.skip_rows.unwrap_or(0),
        names: names(job)?,
        encoding,
        sheet: input.sheet.clone(),
        range: input.range.clone(),
        has_decimal_comma: false,
    })
}

/// The names of the columns, where the file has none.
fn names(job: &Job) -> Result<Option<Vec<String>>> {
    match (job.input.header, &job.input.names) {
        (None | Some(true), None) => Ok(None),
        (Some(false), Some(names)) if !names.is_empty() => Ok(Some(names.clone())),
        (Some(false), _) => Err(job
            .mistake(
                &["input", "header"],
                "the data has no header, and nobody says what its columns are called",
            )
            .with_hint("give names = [\"...\", \"...\"] in [input], one for each column")),
        (None | Some(true), Some(_)) => Err(job
            .mistake(&["input", "names"], "`names` is for data without a header")
            .with_hint("write header = false beside it, or leave it out")),
    }
}

/// How the cells of a column are read; of all that nobody declared, where none is given.
fn reading(job: &Job, column: Option<(&str, &ColumnJob)>) -> Result<Reading> {
    let input = &job.input;
    // What is said of the column itself comes first.
    let place = |key: &'static str, is_own: bool| match column {
        Some((name, _)) if is_own => vec!["columns".to_owned(), name.to_owned(), key.to_owned()],
        _ => vec!["input".to_owned(), key.to_owned()],
    };
    let at = |key: &'static str, is_own: bool, error: &Error| {
        let place = place(key, is_own);
        let key: Vec<&str> = place.iter().map(String::as_str).collect();
        job.at(&key, error)
    };
    let own = column.map(|(_, column)| column);
    let own_decimal = own.and_then(|own| own.decimal);
    let own_thousands = own.and_then(|own| own.thousands);
    let decimal = own_decimal.or(input.decimal).unwrap_or('.');
    let thousands = own_thousands.or(input.thousands);
    let mut notation = Notation::new(decimal, thousands).map_err(|error| {
        let key = if matches!(decimal, '.' | ',') && thousands.is_some() { "thousands" } else { "decimal" };
        let is_own = if key == "decimal" { own_decimal.is_some() } else { own_thousands.is_some() };
        at(key, is_own, &error)
    })?;
    let own_format = own.and_then(|own| own.date_format.as_ref());
    if let Some(format) = own_format.or(input.date_format.as_ref()) {
        let format =
            DateFormat::parse(format).map_err(|error| at("date_format", own_format.is_some(), &error))?;
        notation = notation.with_dates(format);
    }
    let own_missing = own.and_then(|own| own.missing.as_ref());
    let missing = own_missing.or(input.missing.as_ref()).cloned().unwrap_or_default();
    if missing.iter().any(|marker| marker.chars().any(char::is_control)) {
        let error = Error::input("what stands for a missing value contains a control character");
        return Err(at("missing", own_missing.is_some(), &error));
    }
    let pad = own.and_then(|own| own.hierarchy.as_ref()).and_then(|hierarchy| hierarchy.pad);
    Ok(Reading { missing, pad, notation })
}
