//! A release as Parquet: columns that are as collected keep their type, the others are text.

use incog_core::{Result, Watch};
use incog_parquet::{ColumnType, Released};
use incog_verify::Labels;

use crate::sink::{Rows, Unfinished};

/// Writes a release in the given order of rows; hands the file back.
pub(super) fn write(
    release: &dyn Labels,
    rows: &Rows,
    types: &[Option<ColumnType>],
    file: Unfinished,
    watch: &Watch,
) -> Result<Unfinished> {
    let header = release.header();
    let columns: Vec<Released<'_>> = header
        .iter()
        .enumerate()
        .map(|(at, name)| {
            let column = release.column(at);
            let codes = (0..rows.len()).map(|place| column.codes[rows.get(place)]).collect();
            Released { name, kept: types.get(at).and_then(Option::as_ref), labels: column.labels, codes }
        })
        .collect();
    let file = incog_parquet::write(file, &columns, watch)?;
    watch.count_rows(rows.len() as u64);
    Ok(file)
}
