//! In which order do rows come, and who puts them together?
//!
//! As in the input, shuffled in memory, or shuffled on the disk. Formats that are written column by column get them in batches of codes,
//! which several threads put together while the ones before are written, in order.

use incog_core::{Progress, Result};
use incog_verify::Labels;
use rayon::prelude::*;

use crate::job::OutputOrder;
use crate::publish::sink::buckets::Buckets;
use crate::publish::sink::shuffle::Shuffled;
use crate::source::spill::Memory;

/// How many rows are put together at a time. Some of these are written together; before each it is asked whether to go on.
const BATCH_ROWS: usize = 1 << 14;

/// In which order rows are written.
#[derive(Clone, Copy)]
pub(super) enum WritingOrder<'a> {
    /// The input's.
    AsTheyCome,
    /// Shuffled in memory.
    Shuffled,
    /// Shuffled on the disk.
    Dealt(&'a Memory),
}

/// WritingOrder, column by column: the codes of their labels.
pub(super) type Batch = Vec<Vec<u32>>;

impl<'a> WritingOrder<'a> {
    pub(super) fn new(order: OutputOrder, memory: Option<&'a Memory>) -> Self {
        match (order, memory) {
            (OutputOrder::Input, _) => WritingOrder::AsTheyCome,
            (OutputOrder::Shuffle, None) => WritingOrder::Shuffled,
            (OutputOrder::Shuffle, Some(memory)) => WritingOrder::Dealt(memory),
        }
    }

    /// Shows all rows, some batches at a time, in order.
    pub(super) fn each(
        self,
        release: &dyn Labels,
        progress: &Progress,
        write: impl FnMut(&[Batch]) -> Result<()> + Send,
    ) -> Result<()> {
        let width = release.header().len();
        match self {
            WritingOrder::AsTheyCome => {
                let n_rows = release.n_rows();
                in_turns(n_rows.div_ceil(BATCH_ROWS), write, progress, |batch| {
                    let first = batch * BATCH_ROWS;
                    let mut codes = vec![vec![0; BATCH_ROWS.min(n_rows - first)]; width];
                    for (at, codes) in codes.iter_mut().enumerate() {
                        release.codes_from(at, first, codes);
                    }
                    codes
                })
            }
            WritingOrder::Dealt(memory) => {
                let rows = Buckets::new(release, memory, progress)?;
                in_turns(rows.n_buckets(), write, progress, |bucket| rows.columns(bucket))?;
                rows.check()
            }
            WritingOrder::Shuffled => {
                let rows = Shuffled::new(release, progress)?;
                in_turns(rows.n_buckets(), write, progress, |bucket| {
                    let rows = rows.bucket(bucket);
                    let mut codes: Batch = vec![Vec::with_capacity(rows.len()); width];
                    rows.each(|row| {
                        for (codes, &code) in codes.iter_mut().zip(row) {
                            codes.push(code);
                        }
                    });
                    codes
                })
            }
        }
    }
}

/// Several threads put batches together; those that are ready are written meanwhile, in order.
fn in_turns(
    n_batches: usize,
    mut write: impl FnMut(&[Batch]) -> Result<()> + Send,
    progress: &Progress,
    put_together: impl Fn(usize) -> Batch + Sync,
) -> Result<()> {
    let at_once = 8 * rayon::current_num_threads();
    let mut write = |ready: &[Batch]| -> Result<()> {
        progress.check()?;
        write(ready)?;
        progress.count_rows(ready.iter().map(|codes| codes.first().map_or(0, Vec::len) as u64).sum());
        Ok(())
    };
    let mut ready: Vec<Batch> = Vec::new();
    for first in (0..n_batches).step_by(at_once) {
        let batches = (first..n_batches.min(first + at_once)).into_par_iter().with_max_len(1);
        let (written, next) =
            rayon::join(|| write(&ready), || batches.map(&put_together).collect::<Vec<_>>());
        written?;
        ready = next;
    }
    write(&ready)
}
