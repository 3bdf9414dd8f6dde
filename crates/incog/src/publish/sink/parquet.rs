//! A release as Parquet, as Arrow IPC or as record batches: columns that are as collected have a type, the others are text.

use incog_core::{Progress, Result};
use incog_parquet::{ColumnType, IpcWriter, RecordBatch, Released, TextLayout, Writer, to_batches};
use incog_verify::Labels;
use rayon::prelude::*;

use crate::file::FileFormat;
use crate::publish::sink::Unfinished;
use crate::publish::sink::layout::{TypedColumn, Wanted};
use crate::publish::sink::rows::WritingOrder;
use crate::source::kind::Kind;

/// Writes a release in the given order of rows; hands the file back.
pub(super) fn write(
    release: &dyn Labels,
    rows: WritingOrder<'_>,
    columns: &[TypedColumn<'_>],
    file: Unfinished,
    progress: &Progress,
) -> Result<Unfinished> {
    let types = types(columns);
    let mut writer = Writer::new(file, &released(columns, &types))?;
    rows.each(release, progress, |batches| writer.write_parts(batches))?;
    writer.finish()
}

/// The same as Arrow IPC.
pub(super) fn write_ipc(
    release: &dyn Labels,
    rows: WritingOrder<'_>,
    columns: &[TypedColumn<'_>],
    file: Unfinished,
    progress: &Progress,
) -> Result<Unfinished> {
    let types = types(columns);
    let columns = released(columns, &types);
    let mut writer = IpcWriter::new(file, &columns)?;
    rows.each(release, progress, |batches| {
        batches.iter().try_for_each(|batch| writer.write(&columns, batch))
    })?;
    writer.finish()
}

/// A release as record batches, in an order of its rows unless they are to come as they are; of each column, how its texts are laid out.
pub(super) fn to_record_batches(
    release: &dyn Labels,
    order: Option<&[u32]>,
    wanted: &[Wanted],
    layouts: &[TextLayout],
) -> Result<Vec<RecordBatch>> {
    let columns = TypedColumn::all(release, wanted, FileFormat::Arrow)?;
    let types = types(&columns);
    let codes = |at: usize| {
        let mut codes = vec![0; release.n_rows()];
        release.codes_from(at, 0, &mut codes);
        match order {
            None => codes,
            Some(order) => order.iter().map(|&row| codes[row as usize]).collect(),
        }
    };
    let codes: Vec<Vec<u32>> = (0..columns.len()).into_par_iter().map(codes).collect();
    to_batches(&released(&columns, &types), &codes, layouts)
}

/// The types of columns that did not come with one; text has none here.
pub(super) fn types(columns: &[TypedColumn<'_>]) -> Vec<Option<ColumnType>> {
    let of = |column: &TypedColumn<'_>| match (&column.kept, column.kind) {
        (Some(kept), _) => Some(kept.clone()),
        (None, Kind::Text | Kind::Exact) => None,
        (None, Kind::Boolean) => Some(ColumnType::boolean()),
        (None, Kind::Whole) => Some(ColumnType::int64()),
        (None, Kind::Number) => Some(ColumnType::float64()),
        (None, Kind::Date) => Some(ColumnType::date()),
        (None, Kind::Time) => Some(ColumnType::timestamp()),
    };
    columns.iter().map(of).collect()
}

/// The columns of a release, with their types.
pub(super) fn released<'a>(
    columns: &'a [TypedColumn<'_>],
    types: &'a [Option<ColumnType>],
) -> Vec<Released<'a>> {
    let column = |(column, kept): (&'a TypedColumn<'_>, &'a Option<ColumnType>)| Released {
        name: column.name,
        kept: kept.as_ref(),
        labels: column.labels.iter().map(AsRef::as_ref).collect(),
        has_null: column.has_null,
    };
    columns.iter().zip(types).map(column).collect()
}
