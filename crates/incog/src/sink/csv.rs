//! A release as CSV: a header, quotes where they are needed, `\n` at line ends.

use std::path::Path;

use incog_core::{Result, Watch};
use incog_verify::{LabelColumn, Labels, Verified};

use crate::job::Order;
use crate::sink::{Unfinished, cannot_write};

/// Writes a verified release. Row order is the input's, or drawn from the operating system's randomness and
/// recorded nowhere.
pub fn write_csv<R: Labels>(
    verified: &Verified<R>,
    path: &Path,
    delimiter: u8,
    order: Order,
    watch: &Watch,
) -> Result<()> {
    let release = verified.release();
    let mut rows: Vec<u32> = (0..release.n_rows() as u32).collect();
    if order == Order::Shuffle {
        rand::seq::SliceRandom::shuffle(rows.as_mut_slice(), &mut rand::rng());
    }
    let mut writer = csv::WriterBuilder::new().delimiter(delimiter).from_writer(Unfinished::create(path)?);
    let failed = |error: csv::Error| cannot_write(path, &error.to_string());
    let header = release.header();
    writer.write_record(&header).map_err(failed)?;
    let columns: Vec<LabelColumn<'_>> =
        (0..header.len()).map(|column_idx| release.column(column_idx)).collect();
    for (n_written, row_idx) in rows.into_iter().enumerate() {
        if n_written % 1024 == 0 {
            watch.check()?;
        }
        let cells = columns.iter().map(|column| column.labels[column.codes[row_idx as usize] as usize]);
        writer.write_record(cells).map_err(failed)?;
    }
    let unfinished = writer.into_inner().map_err(|error| cannot_write(path, &error.error().to_string()))?;
    unfinished.finish()
}
