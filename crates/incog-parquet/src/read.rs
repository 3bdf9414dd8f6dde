//! A table from a Parquet file.
//!
//! A cell is formatted only when its value is new to the column: numbers, dates and the like are looked up by
//! their bits, and texts of a chunk that the file itself keeps as a dictionary by their number in it. All other
//! texts are looked up as they stand in the decoded page. Each column is read by one thread. Memory: the codes, the distinct
//! values twice while reading, and one batch of rows.
//!
//! No message contains a cell. What the decoder says about damaged pages is therefore left out. Some damage makes the decoder, or that of
//! the Arrow schema in the file, panic: that is caught here ([`guarded`]) and told like any other damage.
//!
//! The Arrow schema is read all the same, inside that border. Without it (`with_skip_arrow_metadata`) these would come back as others:
//!
//! | column | without its Arrow schema |
//! |---|---|
//! | date64, timestamps in seconds, durations | int64: cells would be whole numbers |
//! | time32 in seconds | int32, likewise |
//! | timestamps in a zone, `Europe/Berlin` or `+02:00` | the same instant in UTC: other cells, and another type in the release |
//! | large and view strings, dictionaries | plain strings: equal cells, another type in the release |

use std::fs::File;
use std::hash::Hash;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, PrimitiveArray, RecordBatch};
use arrow_buffer::i256;
use arrow_schema::{DataType, Field, Fields, Schema, TimeUnit};
use incog_core::decoder::undisturbed;
use incog_core::table::Column;
use incog_core::{Error, ErrorKind, Progress, Result, hash};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use parquet::basic::{Compression, Encoding};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, RowGroupMetaData};
use rayon::prelude::*;

use crate::ColumnType;
use crate::nesting::is_too_deep;
use crate::shared_file::SharedFile;
use crate::text::{Formatter, in_utc};

/// Rows of one column decoded at a time; between two batches it is asked whether to go on.
const BATCH_ROWS: usize = 1 << 15;

/// Columns. Up to this many are read by a reader each. A reader looks through the whole schema: where there are more, columns
/// share readers.
const MOST_READERS: usize = 1024;
/// Readers, where columns share them.
const SHARED_READERS: usize = 64;
/// Rows of columns with a shared reader that are decoded at a time, at least.
const LEAST_ROWS: usize = 1 << 8;

/// An open Parquet file whose schema has been read.
pub struct Parquet {
    path: PathBuf,
    file: File,
    metadata: ArrowReaderMetadata,
    header: Vec<String>,
    types: Vec<ColumnType>,
    n_rows: u64,
}

impl std::fmt::Debug for Parquet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Parquet")
            .field("path", &self.path)
            .field("header", &self.header)
            .finish_non_exhaustive()
    }
}

impl Parquet {
    /// Opens a file and reads its schema. Fails when it is not Parquet, has no columns, names one twice, or has
    /// one of a type that has no text.
    pub fn open(path: &Path) -> Result<Self> {
        let mistake = |problem: &str| Error::input(format!("data file `{}` {problem}", path.display()));
        let file = File::open(path).map_err(|error| unreadable(path, &error))?;
        if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
            return Err(mistake("is a folder").with_hint("name a single Parquet file"));
        }
        if footer(&file).is_ok_and(|footer| is_too_deep(&footer)) {
            return Err(mistake("has columns nested in more than 64 others, which is not supported")
                .with_hint("leave nested columns out"));
        }
        let metadata = guarded(path, || {
            ArrowReaderMetadata::load(&file, ArrowReaderOptions::new())
                .map_err(|error| not_parquet(path, &error))
        })?;
        let fields = metadata.schema().fields().clone();
        let (header, types) = check(path, &fields)?;
        check_codecs(path, metadata.metadata())?;
        let n_rows = u64::try_from(metadata.metadata().file_metadata().num_rows())
            .map_err(|_| mistake("is damaged: it has a negative number of rows"))?;

        let asked: Fields = fields
            .iter()
            .zip(&types)
            .enumerate()
            .map(|(column_idx, (field, kept))| {
                let asked = asked_type(kept, is_dictionary_coded(metadata.metadata(), column_idx));
                Field::clone(field).with_data_type(asked)
            })
            .collect();
        let options = ArrowReaderOptions::new().with_schema(Arc::new(Schema::new(asked)));
        let metadata = guarded(path, || {
            ArrowReaderMetadata::try_new(metadata.metadata().clone(), options)
                .map_err(|error| not_parquet(path, &error))
        })?;
        Ok(Parquet { path: path.to_owned(), file, metadata, header, types, n_rows })
    }

    /// The columns' names.
    pub fn header(&self) -> &[String] {
        &self.header
    }

    /// The columns' types.
    pub fn types(&self) -> &[ColumnType] {
        &self.types
    }

    /// How many rows there are.
    pub fn n_rows(&self) -> u64 {
        self.n_rows
    }

    /// Appends all rows to `columns`, one per header entry, and returns the columns' types. Stops when it is
    /// cancelled.
    pub fn read_into(self, columns: &mut [Column], progress: &Progress) -> Result<Vec<ColumnType>> {
        self.read_parts(columns, usize::MAX, progress, &mut |_| Ok(()))
    }

    /// The same, some rows at a time: after each part `each` is shown the columns, and may make them forget their rows, or all.
    pub fn read_parts(
        self,
        columns: &mut [Column],
        rows_at_a_time: usize,
        progress: &Progress,
        each: &mut dyn FnMut(&mut [Column]) -> Result<()>,
    ) -> Result<Vec<ColumnType>> {
        let Parquet { path, file, metadata, header, types, n_rows } = self;
        if columns.len() != header.len() {
            return Err(Error::new(
                ErrorKind::Internal,
                format!("{} columns cannot take the rows of a file that has {}", columns.len(), header.len()),
            ));
        }
        let file = SharedFile::new(file).map_err(|error| unreadable(&path, &error))?;
        let n_columns = columns.len();
        let n_shared = if n_columns <= MOST_READERS { 1 } else { n_columns.div_ceil(SHARED_READERS) };
        let batch_rows = (BATCH_ROWS / n_shared).max(LEAST_ROWS);
        let open = |first: usize| -> Result<Pulled> {
            let some = first..n_columns.min(first + n_shared);
            let n_some = some.len();
            let only = ProjectionMask::leaves(metadata.metadata().file_metadata().schema_descr(), some);
            let batches = guarded(&path, || {
                ParquetRecordBatchReaderBuilder::new_with_metadata(file.clone(), metadata.clone())
                    .with_batch_size(batch_rows)
                    .with_projection(only)
                    .build()
                    .map_err(|error| damaged(&path, &error))
            })?;
            let seen = std::iter::repeat_with(CodesSoFar::default).take(n_some).collect();
            Ok(Pulled { batches, seen, rest: None, n_read: 0 })
        };
        let mut pulled: Vec<Pulled> = (0..n_columns).step_by(n_shared).map(open).collect::<Result<_>>()?;
        let mut n_done = 0;
        loop {
            let n_part = usize::try_from(n_rows - n_done).unwrap_or(usize::MAX).min(rows_at_a_time);
            // At the end one more row is asked for: there must be none.
            let n_asked = n_part.saturating_add(usize::from(n_done + n_part as u64 == n_rows));
            let parts = columns.par_chunks_mut(n_shared).zip(&mut pulled);
            // Whatever the number of threads, the first column that cannot be read is told.
            let read: Vec<Result<()>> = parts
                .map(|(columns, pulled)| guarded(&path, || pulled.append(n_asked, columns, &path, progress)))
                .collect();
            read.into_iter().collect::<Result<Vec<()>>>()?;
            n_done += n_part as u64;
            if let Some(pulled) = pulled.iter().find(|pulled| pulled.n_read != n_done) {
                let n_read = match pulled.n_read {
                    n_read if n_read > n_done => "more".to_owned(),
                    n_read => n_read.to_string(),
                };
                return Err(Error::input(format!(
                    "data file `{}` is damaged: it announces {n_rows} rows and has {n_read}",
                    path.display()
                )));
            }
            progress.count_rows(n_part as u64);
            each(columns)?;
            if n_done == n_rows {
                break;
            }
        }
        Ok(types)
    }
}

/// Columns, mostly one, that are read some rows at a time.
struct Pulled {
    batches: ParquetRecordBatchReader,
    /// What has been read of each.
    seen: Vec<CodesSoFar>,
    /// What was decoded and not yet taken.
    rest: Option<RecordBatch>,
    n_read: u64,
}

impl Pulled {
    /// Appends the given number of rows, or all that are left.
    fn append(
        &mut self,
        n_rows: usize,
        columns: &mut [Column],
        path: &Path,
        progress: &Progress,
    ) -> Result<()> {
        // Values that were forgotten have other codes by now.
        for (column, seen) in columns.iter().zip(&mut self.seen) {
            if column.dictionary().is_empty() {
                *seen = CodesSoFar::default();
            }
        }
        let mut n_left = n_rows;
        while n_left > 0 {
            let batch = match self.rest.take() {
                Some(rest) => rest,
                None => {
                    progress.check()?;
                    let Some(batch) = self.batches.next() else {
                        break;
                    };
                    batch.map_err(|error| damaged(path, &error.into()))?
                }
            };
            let n = batch.num_rows().min(n_left);
            for ((array, column), seen) in batch.columns().iter().zip(&mut *columns).zip(&mut self.seen) {
                seen.append(&array.slice(0, n), column)?;
            }
            self.n_read += n as u64;
            n_left -= n;
            if n < batch.num_rows() {
                self.rest = Some(batch.slice(n, batch.num_rows() - n));
            }
        }
        Ok(())
    }
}

/// The metadata at the end of a file; empty if there is none.
fn footer(mut file: &File) -> std::io::Result<Vec<u8>> {
    let n_bytes = file.seek(SeekFrom::End(0))?;
    let mut end = [0; 8];
    file.seek(SeekFrom::Start(n_bytes.saturating_sub(8)))?;
    file.read_exact(&mut end)?;
    let [a, b, c, d, magic @ ..] = end;
    let length = u64::from(u32::from_le_bytes([a, b, c, d]));
    let mut footer = Vec::new();
    if let (b"PAR1", Some(start)) = (&magic, n_bytes.checked_sub(8 + length)) {
        file.seek(SeekFrom::Start(start))?;
        file.take(length).read_to_end(&mut footer)?;
    }
    Ok(footer)
}

/// Decodes something of a file. Whoever gets the error gives up the file and its columns.
fn guarded<T>(path: &Path, decode: impl FnOnce() -> Result<T>) -> Result<T> {
    undisturbed(decode).unwrap_or_else(|| {
        Err(Error::input(format!("data file `{}` is damaged: it cannot be decoded", path.display()))
            .with_hint("is the file complete? write it again"))
    })
}

/// Names and types of all columns.
fn check(path: &Path, fields: &Fields) -> Result<(Vec<String>, Vec<ColumnType>)> {
    let mistake = |problem: &str| Error::input(format!("data file `{}`{problem}", path.display()));
    if fields.is_empty() {
        return Err(mistake(" has no columns"));
    }
    let mut header: Vec<String> = Vec::with_capacity(fields.len());
    let mut places: hash::Map<&str, usize> = hash::Map::default();
    let mut types = Vec::with_capacity(fields.len());
    for (at, field) in fields.iter().enumerate() {
        let name = field.name();
        if name.chars().any(char::is_control) {
            return Err(mistake(&format!(": the name of column {} contains a control character", at + 1))
                .with_hint("rename the column"));
        }
        if let Some(earlier) = places.insert(name, at) {
            return Err(mistake(&format!(
                ": columns {} and {} are both named `{name}`",
                earlier + 1,
                at + 1
            ))
            .with_hint("rename one of them"));
        }
        let kept = ColumnType::of(field.data_type()).ok_or_else(|| {
            mistake(&format!(": column `{name}` has the type {}, which is not supported", field.data_type()))
                .with_hint("leave the column out, or convert it to text, numbers, dates or times")
        })?;
        header.push(name.clone());
        types.push(kept);
    }
    Ok((header, types))
}

/// Codecs that few files use are not part of this build.
fn check_codecs(path: &Path, metadata: &ParquetMetaData) -> Result<()> {
    for chunk in metadata.row_groups().iter().flat_map(RowGroupMetaData::columns) {
        let codec = match chunk.compression() {
            Compression::BROTLI(_) => "Brotli",
            Compression::LZO => "LZO",
            _ => continue,
        };
        return Err(Error::input(format!(
            "data file `{}` is compressed with {codec}, which is not supported",
            path.display()
        ))
        .with_hint("write it with zstd, snappy, gzip or lz4"));
    }
    Ok(())
}

/// Are all pages of a column numbers into a dictionary of the file? Most writers say so page by page, others only by the
/// encodings of the whole chunk; if those leave it open: no.
fn is_dictionary_coded(metadata: &ParquetMetaData, column_idx: usize) -> bool {
    let is_dictionary =
        |encoding: Encoding| matches!(encoding, Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY);
    let is_coded = |chunk: &ColumnChunkMetaData| match chunk.page_encoding_stats_mask() {
        Some(mask) => mask.encodings().all(is_dictionary),
        // Levels are coded by themselves, and say nothing of values.
        None => {
            let is_of_levels = |encoding: &Encoding| *encoding == Encoding::RLE;
            let mut of_values = chunk.encodings().filter(|encoding| !is_of_levels(encoding)).peekable();
            of_values.peek().is_some() && of_values.all(is_dictionary)
        }
    };
    let mut row_groups = metadata.row_groups().iter();
    row_groups.all(|row_group| row_group.columns().get(column_idx).is_some_and(is_coded))
}

/// How the decoder should hand over a column. Dictionaries are asked for only where the file has them: the
/// decoder would otherwise build one per batch, only for us to look up every entry again.
fn asked_type(kept: &ColumnType, is_dictionary_coded: bool) -> DataType {
    let text = match kept.data_type() {
        DataType::LargeUtf8 => DataType::LargeUtf8,
        _ if kept.is_text() => DataType::Utf8,
        other => return other.clone(),
    };
    if is_dictionary_coded { DataType::Dictionary(Box::new(DataType::Int32), Box::new(text)) } else { text }
}

/// The codes of what has been read of a column so far.
#[derive(Default)]
pub(crate) struct CodesSoFar {
    null: Option<u32>,
    booleans: [Option<u32>; 2],
    by_bits: hash::Map<u64, u32>,
    by_128_bits: hash::Map<i128, u32>,
    by_256_bits: hash::Map<i256, u32>,
    /// The file's dictionary of the latest batch, and our codes of those entries that a row had.
    dictionary: Option<(ArrayRef, Vec<Option<u32>>)>,
}

impl CodesSoFar {
    /// Appends the cells of an array to the column that has been read so far.
    pub(crate) fn append(&mut self, array: &ArrayRef, column: &mut Column) -> Result<()> {
        use DataType::*;
        let null = &mut self.null;
        let bits = &mut self.by_bits;
        match array.data_type() {
            Utf8 => append_text(array.as_string::<i32>().iter(), null, column),
            LargeUtf8 => append_text(array.as_string::<i64>().iter(), null, column),
            Utf8View => append_text(array.as_string_view().iter(), null, column),
            Dictionary(..) => self.append_dictionary(array, column),
            // A column of which nobody knows what it would have.
            Null => (0..array.len()).try_for_each(|_| push_null(null, column)),
            Boolean => {
                for value in array.as_boolean() {
                    let Some(value) = value else {
                        push_null(null, column)?;
                        continue;
                    };
                    push_known(&mut self.booleans[usize::from(value)], &value.to_string(), column)?;
                }
                Ok(())
            }
            Int8 => append::<Int8Type, _>(array, |value| value as u64, bits, null, column),
            Int16 => append::<Int16Type, _>(array, |value| value as u64, bits, null, column),
            Int32 => append::<Int32Type, _>(array, |value| value as u64, bits, null, column),
            Int64 => append::<Int64Type, _>(array, |value| value as u64, bits, null, column),
            UInt8 => append::<UInt8Type, _>(array, u64::from, bits, null, column),
            UInt16 => append::<UInt16Type, _>(array, u64::from, bits, null, column),
            UInt32 => append::<UInt32Type, _>(array, u64::from, bits, null, column),
            UInt64 => append::<UInt64Type, _>(array, u64::from, bits, null, column),
            Float16 => {
                append::<Float16Type, _>(array, |value| u64::from(value.to_bits()), bits, null, column)
            }
            Float32 => {
                append::<Float32Type, _>(array, |value| u64::from(value.to_bits()), bits, null, column)
            }
            Float64 => append::<Float64Type, _>(array, f64::to_bits, bits, null, column),
            Decimal32(..) => append::<Decimal32Type, _>(array, |value| value as u64, bits, null, column),
            Decimal64(..) => append::<Decimal64Type, _>(array, |value| value as u64, bits, null, column),
            Decimal128(..) => {
                append::<Decimal128Type, _>(array, |value| value, &mut self.by_128_bits, null, column)
            }
            Decimal256(..) => {
                append::<Decimal256Type, _>(array, |value| value, &mut self.by_256_bits, null, column)
            }
            Date32 => append::<Date32Type, _>(array, |value| value as u64, bits, null, column),
            Date64 => append::<Date64Type, _>(array, |value| value as u64, bits, null, column),
            Time32(TimeUnit::Second) => {
                append::<Time32SecondType, _>(array, |value| value as u64, bits, null, column)
            }
            Time32(_) => append::<Time32MillisecondType, _>(array, |value| value as u64, bits, null, column),
            Time64(TimeUnit::Microsecond) => {
                append::<Time64MicrosecondType, _>(array, |value| value as u64, bits, null, column)
            }
            Time64(_) => append::<Time64NanosecondType, _>(array, |value| value as u64, bits, null, column),
            Timestamp(TimeUnit::Second, _) => {
                append::<TimestampSecondType, _>(array, |value| value as u64, bits, null, column)
            }
            Timestamp(TimeUnit::Millisecond, _) => {
                append::<TimestampMillisecondType, _>(array, |value| value as u64, bits, null, column)
            }
            Timestamp(TimeUnit::Microsecond, _) => {
                append::<TimestampMicrosecondType, _>(array, |value| value as u64, bits, null, column)
            }
            Timestamp(TimeUnit::Nanosecond, _) => {
                append::<TimestampNanosecondType, _>(array, |value| value as u64, bits, null, column)
            }
            other => Err(unexpected(column, other)),
        }
    }

    /// Entries that no row has do not become values of the column: somebody else's rows may have had them.
    fn append_dictionary(&mut self, array: &ArrayRef, column: &mut Column) -> Result<()> {
        let array =
            array.as_dictionary_opt::<Int32Type>().ok_or_else(|| unexpected(column, array.data_type()))?;
        let entries = array.values();
        // Batches of a row group share their dictionary, which may be longer than a batch.
        let codes = match &mut self.dictionary {
            Some((known, codes)) if known.to_data().ptr_eq(&entries.to_data()) => codes,
            latest => &mut latest.insert((entries.clone(), vec![None; entries.len()])).1,
        };
        let small = entries.as_string_opt::<i32>();
        let large = entries.as_string_opt::<i64>();
        for key in array.keys() {
            let entry = key.map(|key| key as usize).filter(|&entry| entries.is_valid(entry));
            let Some(entry) = entry else {
                push_null(&mut self.null, column)?;
                continue;
            };
            if let Some(code) = codes[entry] {
                column.push_code(code);
                continue;
            }
            let text = match (small, large) {
                (Some(texts), _) => texts.value(entry),
                (_, Some(texts)) => texts.value(entry),
                _ => return Err(unexpected(column, entries.data_type())),
            };
            codes[entry] = Some(column.push_text(text)?);
        }
        Ok(())
    }
}

fn append_text<'a>(
    cells: impl Iterator<Item = Option<&'a str>>,
    null: &mut Option<u32>,
    column: &mut Column,
) -> Result<()> {
    for cell in cells {
        match cell {
            Some(cell) => _ = column.push_text(cell)?,
            None => push_null(null, column)?,
        }
    }
    Ok(())
}

fn append<T: ArrowPrimitiveType, K: Hash + Eq>(
    array: &ArrayRef,
    key: impl Fn(T::Native) -> K,
    codes: &mut hash::Map<K, u32>,
    null: &mut Option<u32>,
    column: &mut Column,
) -> Result<()> {
    let array = in_utc(array);
    let array: &PrimitiveArray<T> = array.as_primitive();
    let beyond = |column: &Column| {
        Error::input(format!(
            "column `{}`: a value of type {} lies beyond the calendar or the clock",
            column.name(),
            array.data_type()
        ))
        .with_hint("years go from -262143 to 262142, times of day up to 23:59:59; use null for unknown")
    };
    let formatter = Formatter::new(array).map_err(|_| unexpected(column, array.data_type()))?;
    let mut text = String::new();
    for (row_idx, value) in array.values().iter().enumerate() {
        if array.is_null(row_idx) {
            push_null(null, column)?;
            continue;
        }
        let key = key(*value);
        if let Some(&code) = codes.get(&key) {
            column.push_code(code);
            continue;
        }
        formatter.write(row_idx, &mut text).map_err(|_| beyond(column))?;
        codes.insert(key, column.push(&text)?);
    }
    Ok(())
}

fn push_null(null: &mut Option<u32>, column: &mut Column) -> Result<()> {
    push_known(null, "", column)
}

fn push_known(code: &mut Option<u32>, text: &str, column: &mut Column) -> Result<()> {
    match *code {
        Some(code) => column.push_code(code),
        None => *code = Some(column.push(text)?),
    }
    Ok(())
}

fn unexpected(column: &Column, data_type: &DataType) -> Error {
    Error::new(
        ErrorKind::Internal,
        format!("column `{}` was decoded as {data_type}, which cannot be read", column.name()),
    )
}

fn unreadable(path: &Path, problem: &std::io::Error) -> Error {
    Error::new(ErrorKind::Io, format!("cannot read data file `{}`: {problem}", path.display()))
}

fn not_parquet(path: &Path, problem: &ParquetError) -> Error {
    if let Some(problem) = io_error(problem) {
        return unreadable(path, problem);
    }
    Error::input(format!("data file `{}` is not a Parquet file, is damaged or is encrypted", path.display()))
        .with_hint("is the file complete, and does its name end as its format does?")
}

fn damaged(path: &Path, problem: &ParquetError) -> Error {
    if let Some(problem) = io_error(problem) {
        return unreadable(path, problem);
    }
    Error::input(format!("data file `{}` is damaged: some of its rows cannot be decoded", path.display()))
        .with_hint("write the file again, with text as UTF-8")
}

pub(crate) fn io_error(error: &ParquetError) -> Option<&std::io::Error> {
    match error {
        ParquetError::External(inner) => inner.downcast_ref(),
        _ => None,
    }
}
