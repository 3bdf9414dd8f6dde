//! How are the cells of a release written?
//!
//! In the format of the file ([`FileFormat`]). Text has no types: a missing value is its column's first marker. All other formats have
//! null, and types: a column that is as collected keeps the type that it came with, and a column of text gets the one that all its released
//! values allow ([`Kind`]), unless the job wants text. Generalized columns are text.

use std::borrow::Cow;

use incog_core::table::{Role, Table};
use incog_core::value::Notation;
use incog_core::{Error, ErrorKind, Result};
use incog_verify::Labels;
use rayon::prelude::*;

use crate::file::FileFormat;
use crate::publish::sink::csv;
use crate::source::kind::Kind;
use crate::source::{CellType, Format};

/// How the cells of a release are written.
#[derive(Debug)]
pub(crate) enum Layout {
    /// Delimited text.
    Csv(TextLayout),
    /// Any other format.
    Typed { format: FileFormat, columns: Vec<Wanted> },
}

/// How delimited text is written.
#[derive(Debug)]
pub(crate) struct TextLayout {
    pub(crate) delimiter: u8,
    /// Does it start with a byte order mark?
    pub(crate) has_mark: bool,
    /// What a missing value is written as, column by column; nothing where there is none.
    pub(crate) markers: Vec<String>,
}

/// What type a column is to get.
#[derive(Debug, Clone)]
pub(crate) enum Wanted {
    Text,
    /// The one that all its values allow, written like this.
    Found(Notation),
    /// Numbers, digit for digit where the format can.
    Number,
    #[cfg(feature = "parquet")]
    Kept(incog_parquet::ColumnType),
}

/// The format of a file, and what types it is to have.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Form {
    pub(crate) format: FileFormat,
    pub(crate) types: Types,
}

/// What types columns get that are as collected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Types {
    /// Their own, or what all their values allow.
    Found,
    /// Their own; text stays text.
    AsCollected,
    /// None.
    Text,
}

impl Form {
    /// Text by commas.
    pub(crate) const CSV: Form = Form { format: FileFormat::Csv, types: Types::Found };
}

impl Layout {
    /// Fails where a file of that format could not tell apart what the columns of a table do that are to be released.
    pub(crate) fn check(format: FileFormat, table: &Table) -> Result<()> {
        // An empty cell of a sheet is no text either.
        if !format.is_delimited() && format != FileFormat::Xlsx {
            return Ok(());
        }
        let mut released = table.columns().iter().filter(|column| column.role() != Role::Identifier);
        released.try_for_each(|column| csv::refuse_loss(column.name(), column.dictionary().values()))
    }

    /// The layout of a file of that format, made from a table of another. `released` are the places of its columns in the table, and
    /// whether they are as collected.
    pub(crate) fn new(form: Form, from: &Format, table: &Table, released: &[(usize, bool)]) -> Self {
        let column = |at: usize| table.columns().get(at);
        if !form.format.is_delimited() {
            let wanted = |&(at, is_as_collected): &(usize, bool)| match from.type_of(at) {
                _ if !is_as_collected || form.types == Types::Text => Wanted::Text,
                CellType::Text => Wanted::Text,
                CellType::Number => Wanted::Number,
                CellType::Open if form.types == Types::AsCollected => Wanted::Text,
                CellType::Open => {
                    Wanted::Found(column(at).map_or(Notation::PLAIN, |column| column.notation().clone()))
                }
                #[cfg(feature = "parquet")]
                CellType::Kept(of) => Wanted::Kept(of.clone()),
            };
            return Layout::Typed { format: form.format, columns: released.iter().map(wanted).collect() };
        }
        let marker = |&(at, _): &(usize, bool)| {
            column(at).map_or(String::new(), |column| column.reading().marker().to_owned())
        };
        // Whoever names a file .tsv means tabs, and .csv from one means commas.
        let delimiter = match (form.format, from.file, from.delimiter) {
            (FileFormat::Tsv, ..) => b'\t',
            (_, FileFormat::Csv, Some(delimiter)) => delimiter,
            _ => b',',
        };
        Layout::Csv(TextLayout {
            delimiter,
            has_mark: from.has_mark,
            markers: released.iter().map(marker).collect(),
        })
    }
}

/// A column of a release in a format with types.
pub(crate) struct TypedColumn<'a> {
    pub(crate) name: &'a str,
    /// What its cells are, where the format is not Arrow's.
    pub(crate) kind: Kind,
    /// The labels, each in the canonical form of its kind; a label that no released row has may be null.
    pub(crate) labels: Vec<Cow<'a, str>>,
    /// Does a released row have null?
    #[cfg_attr(not(feature = "parquet"), expect(dead_code, reason = "of all formats, these say it"))]
    pub(crate) has_null: bool,
    /// The type that it came with.
    #[cfg(feature = "parquet")]
    pub(crate) kept: Option<incog_parquet::ColumnType>,
}

impl<'a> TypedColumn<'a> {
    /// All columns of a release, for a file of that format.
    pub(crate) fn all(release: &'a dyn Labels, wanted: &[Wanted], format: FileFormat) -> Result<Vec<Self>> {
        let header = release.header();
        if header.len() != wanted.len() {
            return Err(Error::new(ErrorKind::Internal, "a release has other columns than its layout"));
        }
        let columns = header.into_par_iter().zip(wanted).enumerate();
        Ok(columns.map(|(at, (name, wanted))| TypedColumn::of(release, at, name, wanted, format)).collect())
    }

    fn of(release: &'a dyn Labels, at: usize, name: &'a str, wanted: &Wanted, format: FileFormat) -> Self {
        let labels = release.labels(at);
        let has_null_label = labels.contains(&"");
        let column = |kind: Kind, labels: Vec<Cow<'a, str>>, has_null: bool| TypedColumn {
            name,
            kind,
            labels,
            has_null,
            #[cfg(feature = "parquet")]
            kept: if let Wanted::Kept(of) = wanted { Some(of.clone()) } else { None },
        };
        let is_as_it_is = match wanted {
            Wanted::Text => true,
            Wanted::Found(_) | Wanted::Number => false,
            #[cfg(feature = "parquet")]
            Wanted::Kept(_) => matches!(format, FileFormat::Parquet | FileFormat::Arrow),
        };
        let as_they_are = |labels: Vec<&'a str>| labels.into_iter().map(Cow::Borrowed).collect();
        if is_as_it_is && !has_null_label {
            return column(Kind::Text, as_they_are(labels), false);
        }
        let used = used(release, at, labels.len());
        let has_null = labels.iter().zip(&used).any(|(label, used)| *used && label.is_empty());
        if is_as_it_is {
            return column(Kind::Text, as_they_are(labels), has_null);
        }
        let (kind, notation) = match wanted {
            Wanted::Text => (Kind::Text, &Notation::PLAIN),
            // Digits that no float has are kept where they can be.
            Wanted::Number if format == FileFormat::Jsonl => (Kind::Exact, &Notation::PLAIN),
            Wanted::Number => (Kind::found(&labels, &used, &Notation::PLAIN), &Notation::PLAIN),
            Wanted::Found(notation) => (Kind::found(&labels, &used, notation), notation),
            #[cfg(feature = "parquet")]
            Wanted::Kept(of) => (Kind::of_type(of, &labels, &used), &Notation::PLAIN),
        };
        let labels = labels.into_iter().zip(used);
        let labels = labels.map(
            |(label, used)| {
                if used { kind.canonical(label, notation) } else { Cow::Borrowed("") }
            },
        );
        column(kind, labels.collect(), has_null)
    }
}

/// Rows that are looked at together.
const STEP: usize = 1 << 14;

/// Which labels of a column a released row has.
fn used(release: &dyn Labels, at: usize, n_labels: usize) -> Vec<bool> {
    let mut used = vec![false; n_labels];
    let mut codes = vec![0; STEP];
    let n_rows = release.n_rows();
    for first in (0..n_rows).step_by(STEP) {
        let codes = &mut codes[..STEP.min(n_rows - first)];
        release.codes_from(at, first, codes);
        for &code in codes.iter() {
            used[code as usize] = true;
        }
    }
    used
}
