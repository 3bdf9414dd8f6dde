//! Rows as numbers, some rows at a time.
//!
//! As in [`crate::keys`]: a row's key has the numbers of its labels as digits, column after column. Where the next column would not
//! fit 64 bits, the keys so far are replaced by numbers in order of first appearance. Since rows come in parts, those numbers are
//! remembered from one part to the next.

use std::ops::Range;
use std::sync::Mutex;

use rayon::prelude::*;

use super::BLOCK;
use crate::Labels;
use crate::hash;
use crate::keys::MAX_ROWS;
/// Which columns of two tables make keys that can be compared.
#[derive(Default)]
pub(super) struct Folder {
    segments: Vec<Segment>,
}

/// Columns whose digits fit 64 bits, behind the number of what was before.
#[derive(Default)]
struct Segment {
    columns: Vec<Digit>,
    bound: u64,
    /// Numbers of the keys of this segment, if another one follows.
    numbers: Mutex<hash::Map<u64, u32>>,
}

/// A column of both tables.
struct Digit {
    /// Where it stands in each table, and the number of each of its codes there.
    tables: [(usize, Vec<u32>); 2],
    /// All numbers are below.
    radix: u64,
}

impl Folder {
    /// Takes a column into account: for each table its place and the number of each code, all numbers below `n_numbers`.
    pub(super) fn add(&mut self, tables: [(usize, Vec<u32>); 2], n_numbers: usize) {
        let radix = n_numbers.max(1) as u64;
        let fits = |segment: &Segment| segment.bound.checked_mul(radix).is_some();
        if !self.segments.last().is_some_and(fits) {
            // What was before has at most as many numbers as there are rows.
            let bound = if self.segments.is_empty() { 1 } else { MAX_ROWS as u64 };
            self.segments.push(Segment { bound, ..Segment::default() });
        }
        if let Some(segment) = self.segments.last_mut() {
            segment.bound *= radix;
            segment.columns.push(Digit { tables, radix });
        }
    }

    /// The keys of some rows of a table, the first (0) or the second (1).
    pub(super) fn keys(&self, table: &dyn Labels, number: usize, rows: Range<usize>) -> Vec<u64> {
        let mut keys = vec![0_u64; rows.len()];
        for (at, segment) in self.segments.iter().enumerate() {
            let blocks = keys.par_chunks_mut(BLOCK).enumerate();
            blocks.for_each_init(
                || vec![0_u32; BLOCK],
                |codes, (block, keys)| {
                    let codes = &mut codes[..keys.len()];
                    for Digit { tables, radix } in &segment.columns {
                        let (column, numbers) = &tables[number];
                        table.codes_from(*column, rows.start + block * BLOCK, codes);
                        for (key, &code) in keys.iter_mut().zip(&*codes) {
                            *key = *key * radix + u64::from(numbers[code as usize]);
                        }
                    }
                },
            );
            if at + 1 < self.segments.len() {
                // Whoever panicked had not changed the numbers.
                let mut numbers = segment.numbers.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                for key in &mut keys {
                    let next = numbers.len() as u32;
                    *key = u64::from(*numbers.entry(*key).or_insert(next));
                }
            }
        }
        keys
    }
}
