//! A release as Parquet.
//!
//! Every distinct label is turned into a value once; rows then take values by code. Compressed with zstd,
//! dictionaries on, a million rows to a row group. A column can be null only if it is.

use std::io::Write;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch, UInt32Array};
use arrow_schema::{DataType, Field, Schema};
use arrow_select::take::take;
use incog_core::{Error, ErrorKind, Result, Watch};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};

use crate::read::io_error;
use crate::{ColumnType, text};

const ROW_GROUP_ROWS: usize = 1 << 20;

/// Rows encoded at a time; the watch is asked between two batches. Divides the rows of a row group.
const BATCH_ROWS: usize = 1 << 16;

/// One column of a release, to be written: row `i` has the label `labels[codes[i]]`.
#[derive(Debug, Clone)]
pub struct Released<'a> {
    /// The column's name.
    pub name: &'a str,
    /// The type to turn the labels back into; none for a generalized column, which is text without nulls.
    pub kept: Option<&'a ColumnType>,
    /// The distinct labels. One that no row has is not written.
    pub labels: Vec<&'a str>,
    /// The label of each row.
    pub codes: Vec<u32>,
}

/// Writes a release, and hands back what it was written to. Stops when the watch is cancelled.
pub fn write<W: Write + Send>(to: W, columns: &[Released<'_>], watch: &Watch) -> Result<W> {
    let n_rows = columns.first().map_or(0, |column| column.codes.len());
    if columns.is_empty() || columns.iter().any(|column| column.codes.len() != n_rows) {
        return Err(broken("the columns of a release are not equally long"));
    }
    let values: Vec<ArrayRef> = columns.iter().map(values).collect::<Result<_>>()?;
    let fields: Vec<Field> = columns
        .iter()
        .zip(&values)
        .map(|(column, values)| Field::new(column.name, values.data_type().clone(), values.null_count() > 0))
        .collect();
    let schema = Arc::new(Schema::new(fields));
    let mut writer =
        ArrowWriter::try_new(to, schema.clone(), Some(properties())).map_err(|error| failed(&error))?;
    for start in (0..n_rows).step_by(BATCH_ROWS) {
        watch.check()?;
        let rows = start..n_rows.min(start + BATCH_ROWS);
        let arrays = columns.iter().zip(&values).map(|(column, values)| {
            let codes = UInt32Array::from(column.codes[rows.clone()].to_vec());
            take(values, &codes, None)
        });
        let arrays =
            arrays.collect::<Result<_, _>>().map_err(|_| broken("a release's rows cannot be gathered"))?;
        let batch = RecordBatch::try_new(schema.clone(), arrays)
            .map_err(|_| broken("a release's columns do not have their types"))?;
        writer.write(&batch).map_err(|error| failed(&error))?;
    }
    watch.check()?;
    writer.into_inner().map_err(|error| failed(&error))
}

/// Statistics per column chunk, not per page: they are of released values only, and readers skip by them.
fn properties() -> WriterProperties {
    WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_dictionary_enabled(true)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_max_row_group_row_count(Some(ROW_GROUP_ROWS))
        .build()
}

/// The values behind the labels.
fn values(column: &Released<'_>) -> Result<ArrayRef> {
    // Checked before rows are gathered: taking a code without a label would panic.
    if column.codes.iter().any(|&code| code as usize >= column.labels.len()) {
        return Err(broken(&format!("column `{}` of a release has a code without a label", column.name)));
    }
    let is_null =
        |label: &str| label.is_empty() && column.kept.is_some_and(|kept| !kept.is_text() || kept.has_nulls());
    let labels: Vec<Option<&str>> =
        column.labels.iter().map(|&label| (!is_null(label)).then_some(label)).collect();
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
