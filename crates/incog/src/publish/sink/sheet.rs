//! A release as a workbook of one sheet.

use incog_core::table::label;
use incog_core::{Progress, Result};
use incog_sheets::{SheetCells, SheetColumn, SheetWriter, is_date_of_sheets};
use incog_verify::Labels;

use crate::publish::sink::Unfinished;
use crate::publish::sink::layout::TypedColumn;
use crate::publish::sink::rows::WritingOrder;
use crate::source::kind::Kind;

/// Writes a release in the given order of rows.
pub(super) fn write(
    release: &dyn Labels,
    rows: WritingOrder<'_>,
    columns: &[TypedColumn<'_>],
    mut file: Unfinished,
    progress: &Progress,
) -> Result<Unfinished> {
    let columns: Vec<SheetColumn<'_>> = columns.iter().map(cells).collect();
    let mut writer = SheetWriter::new(&columns)?;
    rows.each(release, progress, |batches| {
        batches.iter().try_for_each(|batch| writer.write(&columns, batch))
    })?;
    file.put(&writer.finish()?)?;
    Ok(file)
}

/// What each label of a column is as a cell.
fn cells<'a>(column: &'a TypedColumn<'_>) -> SheetColumn<'a> {
    let texts = || column.labels.iter().map(|label| label::text_of(label));
    let is_of_sheets = || texts().flatten().all(is_date_of_sheets);
    // A sheet counts milliseconds.
    let is_coarse = || texts().flatten().all(|time| time.len() <= "2003-04-17T12:30:00.000".len());
    let kind = match column.kind {
        Kind::Date if !is_of_sheets() => Kind::Text,
        Kind::Time if !is_of_sheets() || !is_coarse() => Kind::Text,
        kind => kind,
    };
    let cell = |text: &'a str| match kind {
        Kind::Boolean => SheetCells::Boolean(text == "true"),
        Kind::Whole | Kind::Number => text.parse().map_or(SheetCells::Text(text), SheetCells::Number),
        Kind::Date => SheetCells::Date(text),
        Kind::Time => SheetCells::Time(text),
        Kind::Text | Kind::Exact => SheetCells::Text(text),
    };
    let cells = texts().map(|text| match text {
        None | Some("") => SheetCells::Empty,
        Some(text) => cell(text),
    });
    SheetColumn { name: column.name, cells: cells.collect() }
}
