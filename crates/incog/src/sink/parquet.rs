//! A release as Parquet: columns that are as collected keep their type, the others are text.

use incog_core::{Result, Watch};
use incog_parquet::{ColumnType, Released, Writer};
use incog_verify::Labels;

use crate::sink::buckets::Buckets;
use crate::sink::shuffle::Shuffled;
use crate::sink::{Rows, Unfinished};

/// About how many rows are encoded at a time; the watch is asked between two batches.
const BATCH_ROWS: usize = 1 << 16;

/// Writes a release in the given order of rows; hands the file back.
pub(super) fn write(
    release: &dyn Labels,
    order: Rows<'_>,
    types: &[Option<ColumnType>],
    file: Unfinished,
    watch: &Watch,
) -> Result<Unfinished> {
    let header = release.header();
    let columns: Vec<Released<'_>> = header
        .iter()
        .enumerate()
        .map(|(at, name)| {
            let kept = types.get(at).and_then(Option::as_ref);
            Released { name, kept, labels: release.labels(at) }
        })
        .collect();
    let mut writer = Writer::new(file, &columns)?;
    let mut write = |codes: Vec<Vec<u32>>| -> Result<()> {
        watch.check()?;
        let n_rows = codes.first().map_or(0, Vec::len);
        writer.write(codes)?;
        watch.count_rows(n_rows as u64);
        Ok(())
    };
    match order {
        Rows::AsTheyCome => {
            for first in (0..release.n_rows()).step_by(BATCH_ROWS) {
                let mut codes = vec![vec![0; BATCH_ROWS.min(release.n_rows() - first)]; header.len()];
                for (at, codes) in codes.iter_mut().enumerate() {
                    release.codes_from(at, first, codes);
                }
                write(codes)?;
            }
        }
        Rows::Dealt(memory) => {
            let rows = Buckets::new(release, memory, watch)?;
            let mut codes = rows.columns(0)?;
            for bucket in 1..=rows.n_buckets() {
                let next = || if bucket < rows.n_buckets() { rows.columns(bucket) } else { Ok(Vec::new()) };
                // The next bucket is shuffled while this one is encoded.
                let (written, next) = rayon::join(|| write(codes), next);
                written?;
                codes = next?;
            }
        }
        Rows::Shuffled => {
            let rows = Shuffled::new(release, watch)?;
            let mut codes: Vec<Vec<u32>> = vec![Vec::new(); header.len()];
            for bucket in 0..rows.n_buckets() {
                rows.bucket(bucket).each(|row| {
                    for (codes, &code) in codes.iter_mut().zip(row) {
                        codes.push(code);
                    }
                });
                if codes.first().is_some_and(|codes| codes.len() >= BATCH_ROWS) {
                    write(std::mem::replace(&mut codes, vec![Vec::new(); header.len()]))?;
                }
            }
            write(codes)?;
        }
    }
    writer.finish()
}
