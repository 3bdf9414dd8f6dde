//! A table from Arrow record batches, and a release as record batches.
//!
//! The same cells as from a Parquet file: a value is its canonical text, null is the missing value, the empty text is a value. A
//! column that is not generalized comes out with the type it went in with. A dictionary of text comes out as a dictionary, generalized or
//! not, whose entries are the labels that released rows have and no others; dictionaries of anything else come out as what is in them. Texts that came as
//! views come out as views, whose buffers have released labels and no others.
//! Batches are what a program hands over: what is wrong with them is an error, and nothing of a batch is repeated in it but names
//! of columns and types.
//!
//! Cost: each distinct value is formatted once; each column is read by one thread. Nothing of a batch is copied before, but for texts of
//! dictionaries and integers of their keys that are of another width. Memory: the codes and the distinct values.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{Array, ArrayRef, DictionaryArray, Int32Array, RecordBatch, UInt32Array};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use arrow_select::take::take;
use incog_core::table::{Column, Role};
use incog_core::{Error, ErrorKind, Result, hash};
use rayon::prelude::*;

use crate::ColumnType;
use crate::read::CodesSoFar;
use crate::write::{Released, values};

/// Rows of a record batch that is made here (2^20: the texts of one column stay far below the 2 GiB that fit one array).
const BATCH_ROWS: usize = 1 << 20;

/// Columns without roles, and their types. Fails when there is no batch, when batches differ in names or types of columns, when a
/// name stands twice, or when a type has no text.
pub fn read_batches<'a>(
    batches: impl IntoIterator<Item = &'a RecordBatch>,
) -> Result<(Vec<Column>, Vec<ColumnType>)> {
    let batches: Vec<&RecordBatch> = batches.into_iter().collect();
    let Some(first) = batches.first() else {
        return Err(Error::input("no record batch is given")
            .with_hint("a table without rows has one batch without rows"));
    };
    let types = types(&first.schema())?;
    for (number, batch) in batches.iter().enumerate() {
        let (schema, expected) = (batch.schema(), first.schema());
        let is_alike =
            schema.fields().len() == expected.fields().len()
                && schema.fields().iter().zip(expected.fields()).all(|(field, other)| {
                    field.name() == other.name() && field.data_type() == other.data_type()
                });
        if !is_alike {
            let mistake = format!("record batch {} has other columns or types than the first", number + 1);
            return Err(Error::input(mistake).with_hint("all batches of one table have the same schema"));
        }
    }
    let n_rows: usize = batches.iter().map(|batch| batch.num_rows()).sum();
    let column = |(at, field): (usize, &Arc<Field>)| -> Result<Column> {
        let mut column = Column::new(field.name(), Role::Other);
        column.expect_rows(n_rows);
        let mut seen = CodesSoFar::default();
        for batch in &batches {
            let array = plain(batch.column(at)).map_err(|_| unreadable(field))?;
            seen.append(&array, &mut column)?;
        }
        Ok(column)
    };
    let schema = first.schema();
    let fields: Vec<(usize, &Arc<Field>)> = schema.fields().iter().enumerate().collect();
    // Whatever the number of threads, the first column that cannot be read is told.
    let columns: Vec<Result<Column>> = fields.into_par_iter().map(column).collect();
    Ok((columns.into_iter().collect::<Result<_>>()?, types))
}

/// The types of all columns, if each has a text and a name of its own.
fn types(schema: &Schema) -> Result<Vec<ColumnType>> {
    let mut places: hash::Map<&str, usize> = hash::Map::default();
    let mut types = Vec::with_capacity(schema.fields().len());
    for (at, field) in schema.fields().iter().enumerate() {
        if let Some(earlier) = places.insert(field.name(), at) {
            let mistake = format!("columns {} and {} have the same name", earlier + 1, at + 1);
            return Err(Error::input(mistake).with_hint("rename one of them"));
        }
        types.push(ColumnType::of_batches(field.data_type()).ok_or_else(|| unreadable(field))?);
    }
    Ok(types)
}

fn unreadable(field: &Field) -> Error {
    Error::input(format!(
        "column `{}` has the type {}, which is not supported",
        field.name(),
        field.data_type()
    ))
    .with_hint("leave the column out, or convert it to text, numbers, dates or times")
}

/// The same cells in a form that [`CodesSoFar`] takes.
fn plain(array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    let (from, to) = match array.data_type() {
        DataType::Dictionary(_, values) if matches!(**values, DataType::Utf8 | DataType::LargeUtf8) => {
            let keys = Box::new(DataType::Int32);
            (array, DataType::Dictionary(keys, values.clone()))
        }
        // The texts of a dictionary are copied, not those of its rows.
        DataType::Dictionary(_, values) if matches!(**values, DataType::Utf8View) => {
            let (keys, values) = (Box::new(DataType::Int32), Box::new(DataType::LargeUtf8));
            (array, DataType::Dictionary(keys, values))
        }
        DataType::Dictionary(_, values) => (array, (**values).clone()),
        _ => return Ok(array.clone()),
    };
    if from.data_type() == &to {
        return Ok(from.clone());
    }
    arrow_cast::cast(from, &to)
}

/// How the texts of a column are laid out in record batches.
///
/// ```
/// use incog_parquet::TextLayout;
///
/// assert_eq!(TextLayout::default(), TextLayout::Plain);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TextLayout {
    /// One after the other.
    #[default]
    Plain,
    /// Each once, and numbers that say which of them a row has.
    Dictionary,
    /// Wherever they are: short ones with the row, long ones in a buffer.
    Views,
}

/// What stands for null, and for a label that no row has, among the entries of a dictionary.
const NULL: u32 = u32::MAX;

/// The values that rows have, and for each label which of them it is.
struct Used {
    /// Each once, without null, in the order of their labels. Nothing of any other label is in their buffers.
    values: ArrayRef,
    /// By label.
    entries: Vec<u32>,
    /// Has a row null?
    has_null: bool,
}

impl Used {
    fn new(labels: &[&str], values: &ArrayRef, codes: &[u32]) -> Result<Self> {
        let mut is_used = vec![false; values.len()];
        codes.iter().for_each(|&code| is_used[code as usize] = true);
        let mut kept: Vec<u32> = Vec::new();
        let mut entries = vec![NULL; values.len()];
        let mut known: hash::Map<&str, u32> = hash::Map::default();
        for at in (0..values.len()).filter(|&at| is_used[at] && values.is_valid(at)) {
            entries[at] = *known.entry(labels[at]).or_insert_with(|| {
                kept.push(at as u32);
                kept.len() as u32 - 1
            });
        }
        let has_null = (0..values.len()).any(|at| is_used[at] && values.is_null(at));
        let values = take(values, &UInt32Array::from(kept), None).map_err(|_| ungathered())?;
        // Views that are taken stand in the buffers that they stood in.
        let alone = values.as_string_view_opt().map(|views| Arc::new(views.gc()) as ArrayRef);
        let values = alone.unwrap_or(values);
        Ok(Used { values, entries, has_null })
    }

    /// The cells of rows with these codes. Keys of a dictionary are whole numbers with a sign, which every library takes.
    fn cells(&self, layout: TextLayout, codes: &[u32]) -> Result<ArrayRef> {
        let entry = |&code: &u32| Some(self.entries[code as usize]).filter(|&entry| entry != NULL);
        if layout == TextLayout::Dictionary {
            let keys: Int32Array = codes.iter().map(|code| entry(code).map(|entry| entry as i32)).collect();
            let cells = DictionaryArray::<Int32Type>::try_new(keys, self.values.clone());
            return cells.map(|cells| Arc::new(cells) as ArrayRef).map_err(|_| ungathered());
        }
        let entries: UInt32Array = if self.has_null {
            codes.iter().map(entry).collect()
        } else {
            UInt32Array::from(codes.iter().map(|&code| self.entries[code as usize]).collect::<Vec<u32>>())
        };
        take(&self.values, &entries, None).map_err(|_| ungathered())
    }
}

fn ungathered() -> Error {
    Error::new(ErrorKind::Internal, "a release's rows cannot be gathered")
}

/// The cells of a column.
enum Cells {
    /// Those of these values that its codes say.
    Plain(ArrayRef),
    /// The same of values that were cut down to those that rows have.
    Used(Used, TextLayout),
}

impl Cells {
    fn new(labels: &[&str], values: ArrayRef, layout: TextLayout, codes: &[u32]) -> Result<Self> {
        let layout = match (layout, values.data_type()) {
            (TextLayout::Plain, DataType::Utf8View) => TextLayout::Views,
            (TextLayout::Plain, _) => return Ok(Cells::Plain(values)),
            _ => layout,
        };
        let mut used = Used::new(labels, &values, codes)?;
        if layout == TextLayout::Views {
            used.values = arrow_cast::cast(&used.values, &DataType::Utf8View).map_err(|_| ungathered())?;
        }
        Ok(Cells::Used(used, layout))
    }

    fn data_type(&self) -> DataType {
        match self {
            Cells::Used(used, TextLayout::Dictionary) => {
                DataType::Dictionary(Box::new(DataType::Int32), Box::new(used.values.data_type().clone()))
            }
            Cells::Plain(values) | Cells::Used(Used { values, .. }, _) => values.data_type().clone(),
        }
    }

    /// The cells of rows with these codes.
    fn of(&self, codes: &[u32]) -> Result<ArrayRef> {
        match self {
            Cells::Plain(values) => {
                take(values, &UInt32Array::from(codes.to_vec()), None).map_err(|_| ungathered())
            }
            Cells::Used(used, layout) => used.cells(*layout, codes),
        }
    }
}

/// A release as record batches, given the codes of each column's rows. A column may be null if a row is. Columns of text are laid out as
/// `layouts` says; texts that came as views are views in any case. Nothing of a label that no row has is in any buffer.
pub fn to_batches(
    columns: &[Released<'_>],
    codes: &[Vec<u32>],
    layouts: &[TextLayout],
) -> Result<Vec<RecordBatch>> {
    let broken = |what: &str| Error::new(ErrorKind::Internal, what);
    let n_rows = codes.first().map_or(0, Vec::len);
    let is_wide = columns.len() == codes.len() && columns.len() == layouts.len();
    if columns.is_empty() || !is_wide || codes.iter().any(|codes| codes.len() != n_rows) {
        return Err(broken("the columns of a release are not equally long"));
    }
    let cells = |at: usize| {
        let values = values(&columns[at])?;
        if codes[at].iter().any(|&code| code as usize >= values.len()) {
            return Err(broken("a column of a release has a code without a label"));
        }
        Cells::new(&columns[at].labels, values, layouts[at], &codes[at])
    };
    let cells: Vec<Cells> = (0..columns.len()).into_par_iter().map(cells).collect::<Result<_>>()?;
    let fields = columns.iter().zip(&cells);
    let fields: Vec<Field> =
        fields.map(|(column, cells)| Field::new(column.name, cells.data_type(), column.has_null)).collect();
    let schema = Arc::new(Schema::new(fields));
    let mut batches = Vec::new();
    // Also a release without rows has a schema.
    for first in (0..n_rows.max(1)).step_by(BATCH_ROWS) {
        let part = first..n_rows.min(first + BATCH_ROWS);
        let arrays = cells.par_iter().zip(codes).map(|(cells, codes)| cells.of(&codes[part.clone()]));
        let arrays: Vec<ArrayRef> = arrays.collect::<Result<_>>()?;
        let batch = RecordBatch::try_new(Arc::clone(&schema), arrays);
        batches.push(batch.map_err(|_| broken("a release cannot be put together"))?);
    }
    Ok(batches)
}
