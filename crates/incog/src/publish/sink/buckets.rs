//! Rows in an order that nobody can guess, where they do not fit the memory.
//!
//! As in [`shuffle`](super::shuffle): each row is dealt into one of many buckets, drawn anew, and each bucket is shuffled for itself,
//! which makes every order equally likely. Here buckets are in temporary files, and one at a time, or a few, is in memory. Each
//! thread that deals has a file of its own: buffers fill at about the same time, and nobody waits for another to write.
//!
//! Cost: a row is written once and read once, with 1, 2 or 4 bytes a cell. Memory: a buffer for each bucket while dealing, then some
//! buckets.

use std::sync::{Mutex, PoisonError};

use incog_core::frequency::Store;
use incog_core::{Error, Progress, Result};
use incog_verify::Labels;
use rand::Rng;
use rand::seq::SliceRandom;
use rayon::prelude::*;

use crate::source::spill::{Memory, SpillFile};

/// How many rows are looked up at a time.
const BLOCK: usize = 1 << 14;

/// More buckets than this would have buffers too small to write.
const MAX_BUCKETS: usize = 1 << 12;

/// Bytes that a buffer has room for, at least.
const LEAST_BUFFER: usize = 1 << 12;

/// Bytes that a buffer has room for, at most: the buffers of all buckets together are best small enough for the cache.
const MOST_BUFFER: usize = 1 << 16;

/// Bytes that are copied for a short row, by a single instruction: there is room for as many behind the last row.
const LANE: usize = 16;

/// Bytes that a row takes as text while a bucket is written, about, beside its codes.
const TEXT: usize = 64;

/// Buckets that are in memory at a time on each thread: those that are put together, and those that are written.
const AT_ONCE: usize = 8;

/// All rows of a table, dealt into buckets.
pub(super) struct Buckets {
    /// What each thread has dealt.
    hands: Vec<Dealt>,
    n_buckets: usize,
    widths: Vec<u8>,
    /// The first thing that could not be read.
    failure: Mutex<Option<Error>>,
}

/// Rows that are in a file.
struct Dealt {
    file: SpillFile,
    /// For each bucket, where its rows are: a place and a number of bytes.
    places: Vec<Vec<(u64, usize)>>,
}

impl Buckets {
    /// Deals the rows of a table.
    pub(super) fn new(table: &dyn Labels, memory: &Memory, progress: &Progress) -> Result<Self> {
        let (n_rows, n_columns) = (table.n_rows(), table.header().len());
        let widths: Vec<u8> = (0..n_columns)
            .map(|at| match table.labels(at).len() {
                0..=0x100 => 1,
                0x101..=0x1_0000 => 2,
                _ => 4,
            })
            .collect();
        let n_hands = rayon::current_num_threads();
        let room = usize::try_from(memory.for_buckets()).unwrap_or(usize::MAX);
        let rows_a_bucket = (room / (n_hands * AT_ONCE) / (4 * n_columns + TEXT)).max(1);
        let n_buckets = n_rows.div_ceil(rows_a_bucket).clamp(1, MAX_BUCKETS).next_power_of_two();
        let buffer = (room / n_hands / n_buckets).clamp(LEAST_BUFFER, MOST_BUFFER);

        let rows_a_hand = n_rows.div_ceil(n_hands).max(1);
        let firsts: Vec<usize> = (0..n_rows).step_by(rows_a_hand).collect();
        let hands = firsts.into_par_iter().map(|first| {
            let dealt = Dealt { file: memory.file()?, places: vec![Vec::new(); n_buckets] };
            let mut hand = Hand { dealt, buffers: vec![Buffer::default(); n_buckets], buffer };
            hand.deal(table, &places_in_row(&widths), first..n_rows.min(first + rows_a_hand), progress)?;
            Ok(hand.dealt)
        });
        let hands = hands.collect::<Result<_>>()?;
        Ok(Buckets { hands, n_buckets, widths, failure: Mutex::default() })
    }

    pub(super) fn n_buckets(&self) -> usize {
        self.n_buckets
    }

    /// Hands over the codes of one row of a bucket after the other, in an order drawn now. Tells how many there were; none if they could
    /// not be read ([`check`](Self::check)).
    pub(super) fn each(&self, bucket: usize, mut take: impl FnMut(&[u32])) -> usize {
        let (n_rows, bytes) = self.shuffled(bucket);
        let (places, row_bytes) = (places_in_row(&self.widths), self.row_bytes());
        let mut codes = vec![0; self.widths.len()];
        for row in 0..n_rows {
            for (code, &(start, width)) in codes.iter_mut().zip(&places) {
                *code = code_at(&bytes, row * row_bytes + start, width);
            }
            take(&codes);
        }
        n_rows
    }

    /// The same, column by column.
    pub(super) fn columns(&self, bucket: usize) -> Vec<Vec<u32>> {
        let (n_rows, bytes) = self.shuffled(bucket);
        let row_bytes = self.row_bytes();
        let column = |(start, width)| match width {
            1 => column_of::<1>(&bytes, start, row_bytes, n_rows),
            2 => column_of::<2>(&bytes, start, row_bytes, n_rows),
            _ => column_of::<4>(&bytes, start, row_bytes, n_rows),
        };
        places_in_row(&self.widths).into_par_iter().map(column).collect()
    }

    fn row_bytes(&self) -> usize {
        self.widths.iter().map(|&width| usize::from(width)).sum()
    }

    /// How many rows are in a bucket, and their bytes in an order drawn now.
    fn shuffled(&self, bucket: usize) -> (usize, Vec<u8>) {
        let (bytes, row_bytes) = (self.bytes(bucket), self.row_bytes());
        let mut rows: Vec<u32> = (0..(bytes.len().saturating_sub(LANE) / row_bytes.max(1)) as u32).collect();
        rows.shuffle(&mut rand::rng());
        // Rows as a whole, not each column for itself: they are all over the memory.
        let mut shuffled = vec![0; bytes.len()];
        for (at, &row) in rows.iter().enumerate() {
            copy_row(&bytes[row as usize * row_bytes..], &mut shuffled[at * row_bytes..], row_bytes);
        }
        (rows.len(), shuffled)
    }

    /// Fails if anything could not be read.
    pub(super) fn check(&self) -> Result<()> {
        match &*self.failure.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(error) => Err(error.clone()),
            None => Ok(()),
        }
    }

    /// The rows of a bucket, and a lane more; none if they cannot be read, which is noted.
    fn bytes(&self, bucket: usize) -> Vec<u8> {
        self.read(bucket).unwrap_or_else(|error| {
            self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            Vec::new()
        })
    }

    fn read(&self, bucket: usize) -> Result<Vec<u8>> {
        let n_bytes: usize = self.hands.iter().flat_map(|hand| &hand.places[bucket]).map(|&(_, n)| n).sum();
        let mut bytes = vec![0; n_bytes + LANE];
        let mut rest = bytes.as_mut_slice();
        for hand in &self.hands {
            for &(place, n) in &hand.places[bucket] {
                let (part, later) = rest.split_at_mut(n);
                hand.file.read(place, part)?;
                rest = later;
            }
        }
        Ok(bytes)
    }
}

/// The code that stands at a place and takes the given number of bytes.
#[inline]
fn code_at(bytes: &[u8], at: usize, width: u8) -> u32 {
    match width {
        1 => u32::from(bytes[at]),
        2 => u32::from(u16::from_le_bytes([bytes[at], bytes[at + 1]])),
        _ => u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]),
    }
}

/// The codes of a column of rows that follow each other: a loop for each width.
fn column_of<const WIDTH: u8>(bytes: &[u8], start: usize, row_bytes: usize, n_rows: usize) -> Vec<u32> {
    (0..n_rows).map(|row| code_at(bytes, row * row_bytes + start, WIDTH)).collect()
}

/// Puts the code at a place where it takes the given number of bytes.
#[inline]
fn put_code(bytes: &mut [u8], at: usize, width: u8, code: u32) {
    match width {
        1 => bytes[at] = code as u8,
        2 => bytes[at..at + 2].copy_from_slice(&(code as u16).to_le_bytes()),
        _ => bytes[at..at + 4].copy_from_slice(&code.to_le_bytes()),
    }
}

/// Where the code of each column stands in a row, and how many bytes it takes.
fn places_in_row(widths: &[u8]) -> Vec<(usize, u8)> {
    let mut start = 0;
    let place = |&width: &u8| {
        start += usize::from(width);
        (start - usize::from(width), width)
    };
    widths.iter().map(place).collect()
}

/// Copies the first `n_bytes`, and perhaps some more, up to a lane, that are of no use.
#[inline]
fn copy_row(from: &[u8], to: &mut [u8], n_bytes: usize) {
    match (from.first_chunk::<LANE>(), to.first_chunk_mut::<LANE>()) {
        (Some(from), Some(to)) if n_bytes <= LANE => *to = *from,
        _ => to[..n_bytes].copy_from_slice(&from[..n_bytes]),
    }
}

/// What deals rows that follow each other.
struct Hand {
    dealt: Dealt,
    /// Rows that are not written yet, for each bucket.
    buffers: Vec<Buffer>,
    /// Bytes that a buffer has room for.
    buffer: usize,
}

/// Rows of one bucket.
#[derive(Debug, Clone, Default)]
struct Buffer {
    bytes: Vec<u8>,
    n_bytes: usize,
}

impl Hand {
    /// Deals some rows, whose codes have their places.
    fn deal(
        &mut self,
        table: &dyn Labels,
        places: &[(usize, u8)],
        rows: std::ops::Range<usize>,
        progress: &Progress,
    ) -> Result<()> {
        let mut rng = rand::rng();
        let row_bytes = places.last().map_or(0, |&(start, width)| start + usize::from(width));
        let mut random = vec![0_u8; 2 * BLOCK];
        let mut codes = vec![0_u32; BLOCK];
        let mut block = vec![0_u8; BLOCK * row_bytes + LANE];
        let room = self.buffer.max(row_bytes) + LANE;
        // A power of two: every bucket is equally likely.
        let mask = self.buffers.len() - 1;
        for first in rows.clone().step_by(BLOCK) {
            progress.check()?;
            let n = BLOCK.min(rows.end - first);
            for (at, &(start, width)) in places.iter().enumerate() {
                table.codes_from(at, first, &mut codes[..n]);
                for (row, &code) in codes[..n].iter().enumerate() {
                    put_code(&mut block, row * row_bytes + start, width, code);
                }
            }
            rng.fill_bytes(&mut random);
            for (row, drawn) in random.as_chunks::<2>().0[..n].iter().enumerate() {
                let bucket = usize::from(u16::from_le_bytes(*drawn)) & mask;
                if self.buffers[bucket].n_bytes + row_bytes + LANE > room {
                    self.write(bucket)?;
                }
                let buffer = &mut self.buffers[bucket];
                if buffer.bytes.is_empty() {
                    buffer.bytes.resize(room, 0);
                }
                copy_row(&block[row * row_bytes..], &mut buffer.bytes[buffer.n_bytes..], row_bytes);
                buffer.n_bytes += row_bytes;
            }
        }
        (0..self.buffers.len()).try_for_each(|bucket| self.write(bucket))
    }

    fn write(&mut self, bucket: usize) -> Result<()> {
        let Buffer { bytes, n_bytes } = &mut self.buffers[bucket];
        if *n_bytes == 0 {
            return Ok(());
        }
        let Dealt { file, places } = &mut self.dealt;
        places[bucket].push((file.len(), *n_bytes));
        file.append(&bytes[..*n_bytes])?;
        *n_bytes = 0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use incog_verify::LabelColumn;

    use super::*;

    /// Row i has the numbers i, i modulo 200 and i modulo 3000, repeated: 7 bytes each time.
    struct Numbers(usize, usize);

    impl Labels for Numbers {
        fn header(&self) -> Vec<&str> {
            ["n", "few", "some"].repeat(self.1)
        }

        fn n_rows(&self) -> usize {
            self.0
        }

        fn column(&self, column_idx: usize) -> LabelColumn<'_> {
            let mut codes = vec![0; self.0];
            self.codes_from(column_idx, 0, &mut codes);
            LabelColumn { labels: self.labels(column_idx), codes: Cow::Owned(codes) }
        }

        fn labels(&self, column_idx: usize) -> Vec<&str> {
            vec![""; [self.0.max(70_000), 200, 3000][column_idx % 3]]
        }

        fn codes_from(&self, column_idx: usize, first: usize, to: &mut [u32]) {
            for (at, to) in to.iter_mut().enumerate() {
                *to = ((first + at) % [usize::MAX, 200, 3000][column_idx % 3]) as u32;
            }
        }
    }

    fn rows(n_rows: usize, n_times: usize) -> (Vec<u32>, usize) {
        let memory = Memory::for_tests(16 << 20);
        let buckets = Buckets::new(&Numbers(n_rows, n_times), &memory, &Progress::new()).unwrap();
        let mut rows = Vec::new();
        for bucket in 0..buckets.n_buckets() {
            let n_before = rows.len();
            let n = buckets.each(bucket, |codes| {
                let expected = [codes[0], codes[0] % 200, codes[0] % 3000].repeat(n_times);
                assert_eq!(codes, expected, "a row stays together");
                rows.push(codes[0]);
            });
            assert_eq!(rows.len() - n_before, n);
        }
        buckets.check().unwrap();
        #[cfg(feature = "parquet")]
        {
            let columns = (0..buckets.n_buckets()).map(|bucket| buckets.columns(bucket));
            let mut seen: Vec<u32> = Vec::new();
            for column in columns {
                let row = |at: usize| -> Vec<u32> { column.iter().map(|codes| codes[at]).collect() };
                let expected = |n: u32| [n, n % 200, n % 3000].repeat(n_times);
                let is_row = |at: usize| row(at) == expected(column[0][at]);
                assert!((0..column[0].len()).all(is_row), "a row stays together, column by column");
                seen.extend(&column[0]);
            }
            seen.sort_unstable();
            assert!(seen.into_iter().eq(0..n_rows as u32));
        }
        (rows, buckets.n_buckets())
    }

    #[test]
    fn every_row_comes_once_in_another_order_each_time() {
        // Short rows and long ones are copied in different ways.
        for (n_rows, n_times) in [(0, 1), (1, 1), (1000, 1), (100_000, 1), (1, 3), (1000, 3), (100_000, 3)] {
            let (mut first, n_buckets) = rows(n_rows, n_times);
            assert_eq!(n_buckets > 1, n_rows == 100_000);
            if n_rows > 1 {
                assert_ne!(first, rows(n_rows, n_times).0, "one chance in 1000!");
            }
            first.sort_unstable();
            assert!(first.into_iter().eq(0..n_rows as u32));
        }
    }

    /// Where a row ends up does not depend on where it was; far beyond chance.
    #[test]
    fn rows_from_everywhere_go_everywhere() {
        let n_rows = 200_000;
        let (order, _) = rows(n_rows, 1);
        let mut counts = [[0_i64; 4]; 4];
        for (at, row) in order.iter().enumerate() {
            counts[4 * at / n_rows][4 * *row as usize / n_rows] += 1;
        }
        let expected = n_rows as i64 / 16;
        // Some 100 is a standard deviation.
        assert!(counts.iter().flatten().all(|count| (count - expected).abs() < 1000), "{counts:?}");
        let n_ascending = order.windows(2).filter(|pair| pair[0] < pair[1]).count();
        assert!(n_ascending.abs_diff(n_rows / 2) < 2000, "{n_ascending} rows in their old order");
    }
}
