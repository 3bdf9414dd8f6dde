//! A release as Parquet: columns that are as collected keep their type, the others are text.

use incog_core::{Progress, Result};
use incog_parquet::{ColumnType, RecordBatch, Released, Writer, to_batches};
use incog_verify::Labels;
use rayon::prelude::*;

use crate::publish::sink::buckets::Buckets;
use crate::publish::sink::shuffle::Shuffled;
use crate::publish::sink::{Unfinished, WritingOrder};

/// How many rows are put together at a time. Some of these are encoded together; before each it is asked whether to go on.
const BATCH_ROWS: usize = 1 << 14;

/// Writes a release in the given order of rows; hands the file back.
pub(super) fn write(
    release: &dyn Labels,
    order: WritingOrder<'_>,
    types: &[Option<ColumnType>],
    file: Unfinished,
    progress: &Progress,
) -> Result<Unfinished> {
    let columns = columns(release, types);
    let mut writer = Writer::new(file, &columns)?;
    let width = columns.len();
    match order {
        WritingOrder::AsTheyCome => {
            let n_rows = release.n_rows();
            in_turns(n_rows.div_ceil(BATCH_ROWS), &mut writer, progress, |batch| {
                let first = batch * BATCH_ROWS;
                let mut codes = vec![vec![0; BATCH_ROWS.min(n_rows - first)]; width];
                for (at, codes) in codes.iter_mut().enumerate() {
                    release.codes_from(at, first, codes);
                }
                codes
            })?;
        }
        WritingOrder::Dealt(memory) => {
            let rows = Buckets::new(release, memory, progress)?;
            in_turns(rows.n_buckets(), &mut writer, progress, |bucket| rows.columns(bucket))?;
            rows.check()?;
        }
        WritingOrder::Shuffled => {
            let rows = Shuffled::new(release, progress)?;
            in_turns(rows.n_buckets(), &mut writer, progress, |bucket| {
                let rows = rows.bucket(bucket);
                let mut codes: Vec<Vec<u32>> = vec![Vec::with_capacity(rows.len()); width];
                rows.each(|row| {
                    for (codes, &code) in codes.iter_mut().zip(row) {
                        codes.push(code);
                    }
                });
                codes
            })?;
        }
    }
    writer.finish()
}

/// A release as record batches, rows as they come.
pub(super) fn to_record_batches(
    release: &dyn Labels,
    types: &[Option<ColumnType>],
) -> Result<Vec<RecordBatch>> {
    let columns = columns(release, types);
    let codes = |at: usize| {
        let mut codes = vec![0; release.n_rows()];
        release.codes_from(at, 0, &mut codes);
        codes
    };
    let codes: Vec<Vec<u32>> = (0..columns.len()).into_par_iter().map(codes).collect();
    to_batches(&columns, &codes)
}

/// The columns of a release, with the type of each that is as collected.
fn columns<'a>(release: &'a dyn Labels, types: &'a [Option<ColumnType>]) -> Vec<Released<'a>> {
    let header = release.header().into_iter().enumerate();
    let column = |(at, name)| {
        let kept = types.get(at).and_then(Option::as_ref);
        Released { name, kept, labels: release.labels(at) }
    };
    header.map(column).collect()
}

/// Several threads put batches together; those that are ready are encoded meanwhile, in order.
fn in_turns(
    n_batches: usize,
    writer: &mut Writer<Unfinished>,
    progress: &Progress,
    put_together: impl Fn(usize) -> Vec<Vec<u32>> + Sync,
) -> Result<()> {
    let at_once = 8 * rayon::current_num_threads();
    let mut write = |ready: &[Vec<Vec<u32>>]| -> Result<()> {
        progress.check()?;
        writer.write_parts(ready)?;
        progress.count_rows(ready.iter().map(|codes| codes.first().map_or(0, Vec::len) as u64).sum());
        Ok(())
    };
    let mut ready: Vec<Vec<Vec<u32>>> = Vec::new();
    for first in (0..n_batches).step_by(at_once) {
        let batches = (first..n_batches.min(first + at_once)).into_par_iter().with_max_len(1);
        let (written, next) =
            rayon::join(|| write(&ready), || batches.map(&put_together).collect::<Vec<_>>());
        written?;
        ready = next;
    }
    write(&ready)
}
