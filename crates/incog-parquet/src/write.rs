//! A release as Parquet.
//!
//! Every distinct label is turned into a value once; rows then take values by code, and most texts are never looked at again
//! ([`TextChunk`]). Each column is encoded by one thread, a row group at a time. Compressed with zstd, dictionaries on, about a
//! million rows to a row group. A column may be null if a released row is: what the input had is not told.

use std::io::Write;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Date64Type, UInt32Type};
use arrow_array::{Array, ArrayRef, DictionaryArray, UInt32Array};
use arrow_schema::{DataType, Field, FieldRef, Schema};
use arrow_select::take::take;
use bytes::Bytes;
use incog_core::table::label;
use incog_core::{Error, ErrorKind, Result};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::{
    ArrowColumnChunk, ArrowColumnWriter, ArrowRowGroupWriterFactory, compute_leaves,
};
use parquet::basic::Compression;
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;
use rayon::prelude::*;

use crate::read::io_error;
use crate::text::MILLIS_A_DAY;
use crate::text_chunk::{TextChunk, Texts};
use crate::{ColumnType, text, text_chunk};

/// Rows in a row group, at most.
const ROW_GROUP_ROWS: usize = 1 << 20;

/// One column of a release, to be written: row `i` has the label `labels[codes[i]]`.
#[derive(Debug, Clone)]
pub struct Released<'a> {
    /// The column's name.
    pub name: &'a str,
    /// The type to turn the labels back into; none for a generalized column, which is text.
    pub kept: Option<&'a ColumnType>,
    /// The distinct labels. One that no row has is not written.
    pub labels: Vec<&'a str>,
    /// Does a row have null?
    pub has_null: bool,
}

/// A Parquet file that is being written.
pub struct Writer<W: Write + Send> {
    file: SerializedFileWriter<W>,
    factory: ArrowRowGroupWriterFactory,
    columns: Vec<Values>,
    /// The row group that is being filled: a chunk of each column.
    group: Vec<Chunk>,
    n_group_rows: usize,
}

/// The values behind the labels of a column.
struct Values {
    field: FieldRef,
    values: ArrayRef,
    /// The same as text, where they are no more than a dictionary of text.
    texts: Option<Texts>,
}

/// A column of the row group that is being filled.
enum Chunk {
    Text(Box<TextChunk>),
    Other(Box<ArrowColumnWriter>),
}

/// The same, encoded.
enum Closed {
    Text(Bytes, Box<ColumnCloseResult>),
    Other(Box<ArrowColumnChunk>),
}

impl<W: Write + Send> std::fmt::Debug for Writer<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Writer").field("n_columns", &self.columns.len()).finish_non_exhaustive()
    }
}

impl<W: Write + Send> Writer<W> {
    /// Starts a file with these columns.
    pub fn new(to: W, columns: &[Released<'_>]) -> Result<Self> {
        if columns.is_empty() {
            return Err(broken("a release has no columns"));
        }
        let values: Vec<ArrayRef> = columns.par_iter().map(values).collect::<Result<_>>()?;
        let columns: Vec<Values> = columns
            .iter()
            .zip(values)
            .map(|(column, values)| {
                let field = Field::new(column.name, values.data_type().clone(), column.has_null);
                let is_text = column.kept.is_none_or(ColumnType::is_text);
                let texts = (is_text && text_chunk::fits(&column.labels)).then(|| {
                    Texts::new(column.labels.iter().map(|label| label::text_of(label)), column.has_null)
                });
                Values { field: Arc::new(field), values, texts }
            })
            .collect();
        let schema = Schema::new(columns.iter().map(|column| Arc::clone(&column.field)).collect::<Vec<_>>());
        let writer = ArrowWriter::try_new(to, Arc::new(schema), Some(properties(days_of(&columns))));
        let (file, factory) =
            writer.and_then(ArrowWriter::into_serialized_writer).map_err(|error| failed(&error))?;
        Ok(Writer { file, factory, columns, group: Vec::new(), n_group_rows: 0 })
    }

    /// Appends rows: for each column the codes of their labels.
    pub fn write(&mut self, codes: Vec<Vec<u32>>) -> Result<()> {
        self.write_parts(&[codes])
    }

    /// Appends rows that come in parts, one part after the other: in each, for each column the codes of their labels.
    pub fn write_parts(&mut self, parts: &[Vec<Vec<u32>>]) -> Result<()> {
        let mut n_rows = 0;
        for part in parts {
            let n_part_rows = part.first().map_or(0, Vec::len);
            if part.len() != self.columns.len() || part.iter().any(|codes| codes.len() != n_part_rows) {
                return Err(broken("the columns of a release are not equally long"));
            }
            n_rows += n_part_rows;
        }
        if n_rows == 0 {
            return Ok(());
        }
        if self.group.is_empty() {
            self.group = self.chunks()?;
        }
        let columns = self.columns.par_iter().zip(&mut self.group).enumerate();
        columns.with_max_len(1).try_for_each(|(at, (column, chunk))| {
            parts.iter().try_for_each(|part| column.append(&part[at], chunk))
        })?;
        self.n_group_rows += n_rows;
        if self.n_group_rows >= ROW_GROUP_ROWS { self.end_group() } else { Ok(()) }
    }

    /// Empty chunks for a new row group.
    fn chunks(&self) -> Result<Vec<Chunk>> {
        let number = self.file.flushed_row_groups().len();
        let others = self.factory.create_column_writers(number).map_err(|error| failed(&error))?;
        let with_columns = self.columns.iter().zip(others);
        with_columns
            .map(|(column, other)| match &column.texts {
                Some(texts) => {
                    let chunk = TextChunk::new(texts).map_err(|error| failed(&error))?;
                    Ok(Chunk::Text(Box::new(chunk)))
                }
                None => Ok(Chunk::Other(Box::new(other))),
            })
            .collect()
    }

    fn end_group(&mut self) -> Result<()> {
        if self.group.is_empty() {
            return Ok(());
        }
        let schema = self.file.schema_descr();
        let columns = std::mem::take(&mut self.group).into_par_iter().zip(&self.columns).enumerate();
        let close = |(at, (chunk, column)): (usize, (Chunk, &Values))| match (chunk, &column.texts) {
            (Chunk::Text(chunk), Some(texts)) => {
                let (bytes, closed) =
                    chunk.close(texts, schema.column(at)).map_err(|error| failed(&error))?;
                Ok(Closed::Text(bytes, Box::new(closed)))
            }
            (Chunk::Text(_), None) => Err(broken("a column of text has no texts")),
            (Chunk::Other(chunk), _) => {
                Ok(Closed::Other(Box::new(chunk.close().map_err(|error| failed(&error))?)))
            }
        };
        let chunks: Vec<Closed> = columns.map(close).collect::<Result<_>>()?;
        self.n_group_rows = 0;
        let mut group = self.file.next_row_group().map_err(|error| failed(&error))?;
        for chunk in chunks {
            match chunk {
                Closed::Text(bytes, closed) => group.append_column(&bytes, *closed),
                Closed::Other(chunk) => chunk.append_to_row_group(&mut group),
            }
            .map_err(|error| failed(&error))?;
        }
        group.close().map_err(|error| failed(&error))?;
        Ok(())
    }

    /// Ends the file, and hands back what it was written to.
    pub fn finish(mut self) -> Result<W> {
        self.end_group()?;
        self.file.into_inner().map_err(|error| failed(&error))
    }
}

impl Values {
    /// Appends the cells of rows with these codes.
    fn append(&self, codes: &[u32], chunk: &mut Chunk) -> Result<()> {
        // Checked before rows are gathered: a code without a label would panic.
        if codes.iter().any(|&code| code as usize >= self.values.len()) {
            let name = self.field.name();
            return Err(broken(&format!("column `{name}` of a release has a code without a label")));
        }
        match chunk {
            Chunk::Text(chunk) => chunk.push(codes).map_err(|error| failed(&error)),
            Chunk::Other(writer) => {
                let cells = self.cells(codes)?;
                for leaf in compute_leaves(&self.field, &cells).map_err(|error| failed(&error))? {
                    writer.write(&leaf).map_err(|error| failed(&error))?;
                }
                Ok(())
            }
        }
    }

    /// The cells of rows with these codes, each of which has a label.
    fn cells(&self, codes: &[u32]) -> Result<ArrayRef> {
        let codes = UInt32Array::from(codes.to_vec());
        let gathered = |_| broken("a release's rows cannot be gathered");
        if matches!(self.values.data_type(), DataType::Utf8 | DataType::LargeUtf8)
            && self.values.null_count() == 0
        {
            // Nobody copies the texts.
            let cells = DictionaryArray::<UInt32Type>::try_new(codes, Arc::clone(&self.values));
            return Ok(Arc::new(cells.map_err(gathered)?));
        }
        take(&self.values, &codes, None).map_err(gathered)
    }
}

/// What 64-bit dates are. Parquet has none; the Arrow schema in the file says that they were.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Days {
    /// Whole days, which are dates for every reader.
    Whole,
    /// Some have a time of day, which no date of Parquet has: they are numbers for readers that know nothing of Arrow.
    WithTimes,
}

fn days_of(columns: &[Values]) -> Days {
    let is_whole = |millis: i64| millis % MILLIS_A_DAY == 0 && i32::try_from(millis / MILLIS_A_DAY).is_ok();
    let dates = columns.iter().filter_map(|column| column.values.as_primitive_opt::<Date64Type>());
    let are_whole = dates.into_iter().all(|dates| dates.iter().flatten().all(is_whole));
    if are_whole { Days::Whole } else { Days::WithTimes }
}

/// Statistics per column chunk, not per page: they are of released values only, and readers skip by them. Without any per
/// page nobody needs to know where pages are.
fn properties(days: Days) -> WriterProperties {
    WriterProperties::builder()
        .set_coerce_types(days == Days::Whole)
        .set_compression(Compression::ZSTD(text_chunk::level()))
        .set_dictionary_enabled(true)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_offset_index_disabled(true)
        .set_max_row_group_row_count(Some(ROW_GROUP_ROWS))
        .build()
}

/// The values behind the labels.
pub(crate) fn values(column: &Released<'_>) -> Result<ArrayRef> {
    let labels: Vec<Option<&str>> = column.labels.iter().map(|label| label::text_of(label)).collect();
    let data_type = column.kept.map_or(&DataType::Utf8, ColumnType::data_type);
    text::parse(data_type, &labels).ok_or_else(|| {
        broken(&format!(
            "column `{}` of a release has a label that is not of its type {data_type}",
            column.name
        ))
    })
}

fn broken(what: &str) -> Error {
    Error::new(ErrorKind::Internal, what)
}

fn failed(problem: &ParquetError) -> Error {
    match io_error(problem) {
        Some(problem) => Error::new(ErrorKind::Io, format!("cannot write the Parquet file: {problem}")),
        None => broken("the release cannot be encoded as Parquet"),
    }
}
