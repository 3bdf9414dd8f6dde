//! Rows in an order that nobody can guess.
//!
//! Each row is dealt into one of many buckets, drawn anew, and each bucket is then shuffled for itself. That makes every order
//! equally likely, as shuffling all rows at once would (Rao 1961; Sandelius 1962), but jumps around in a bucket, which fits the
//! processor's cache, and not in the whole table. Randomness is the operating system's, and recorded nowhere.
//!
//! Cost: two passes over the codes. Memory: 4 bytes a cell, 2 a row.

use std::ops::Range;

use incog_core::{Result, Watch};
use incog_verify::Labels;
use rand::Rng;
use rand::seq::SliceRandom;
use rayon::prelude::*;

/// About so many bytes of codes are in a bucket.
const BUCKET_BYTES: usize = 1 << 18;

/// More buckets than this would be too many to deal into at a time.
const MAX_BUCKETS: usize = 1 << 11;

/// How many rows' codes are looked up at a time.
const BLOCK: usize = 1 << 12;

/// All rows of a table, dealt.
pub(super) struct Shuffled {
    /// Rows that follow each other in the table were dealt by one thread, into buckets of its own.
    hands: Vec<Hand>,
    n_buckets: usize,
    width: usize,
}

/// What one thread dealt.
struct Hand {
    /// The codes of all cells, row by row, bucket by bucket.
    codes: Vec<u32>,
    /// After which row each bucket ends.
    ends: Vec<usize>,
}

impl Shuffled {
    /// Deals the rows of a table.
    pub(super) fn new(table: &dyn Labels, watch: &Watch) -> Result<Self> {
        let (n_rows, width) = (table.n_rows(), table.header().len());
        let n_buckets = (n_rows * width * 4 / BUCKET_BYTES).clamp(1, MAX_BUCKETS).next_power_of_two();
        let rows_a_hand = n_rows.div_ceil(rayon::current_num_threads()).max(1);
        let firsts: Vec<usize> = (0..n_rows).step_by(rows_a_hand).collect();
        let hands = firsts.into_par_iter().map(|first| {
            watch.check()?;
            Ok(Hand::deal(table, first..n_rows.min(first + rows_a_hand), width, n_buckets))
        });
        Ok(Shuffled { hands: hands.collect::<Result<_>>()?, n_buckets, width })
    }

    pub(super) fn n_buckets(&self) -> usize {
        self.n_buckets
    }

    /// The rows of a bucket, in an order drawn now.
    pub(super) fn bucket(&self, bucket: usize) -> Bucket<'_> {
        let mut rows: Vec<(u32, u32)> = Vec::new();
        for (at, hand) in self.hands.iter().enumerate() {
            let start = if bucket == 0 { 0 } else { hand.ends[bucket - 1] };
            rows.extend((start..hand.ends[bucket]).map(|row| (at as u32, row as u32)));
        }
        rows.shuffle(&mut rand::rng());
        Bucket { shuffled: self, rows }
    }
}

impl Hand {
    fn deal(table: &dyn Labels, rows: Range<usize>, width: usize, n_buckets: usize) -> Self {
        let mut rng = rand::rng();
        let mut random = vec![0_u8; 2 * rows.len()];
        rng.fill_bytes(&mut random);
        // A power of two: every bucket is equally likely.
        let bucket =
            |random: &[u8]| usize::from(u16::from_le_bytes([random[0], random[1]])) & (n_buckets - 1);
        let mut ends = vec![0; n_buckets];
        for random in random.chunks_exact(2) {
            ends[bucket(random)] += 1;
        }
        let mut start = 0;
        for end in &mut ends {
            start += std::mem::replace(end, start);
        }
        let mut codes = vec![0; rows.len() * width];
        let mut block = vec![0; BLOCK * width];
        for (random, first) in random.chunks(2 * BLOCK).zip(rows.step_by(BLOCK)) {
            let n_rows = random.len() / 2;
            for (at, codes) in block.chunks_mut(BLOCK).enumerate() {
                table.codes_from(at, first, &mut codes[..n_rows]);
            }
            for (row, random) in random.chunks_exact(2).enumerate() {
                let end = &mut ends[bucket(random)];
                for (at, code) in codes[*end * width..][..width].iter_mut().enumerate() {
                    *code = block[at * BLOCK + row];
                }
                *end += 1;
            }
        }
        Hand { codes, ends }
    }
}

/// The rows of a bucket, in random order.
pub(super) struct Bucket<'a> {
    shuffled: &'a Shuffled,
    /// Whose hand a row is in, and where there.
    rows: Vec<(u32, u32)>,
}

impl Bucket<'_> {
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Hands over the codes of one row after the other.
    pub(super) fn each(&self, mut take: impl FnMut(&[u32])) {
        let width = self.shuffled.width;
        for &(hand, row) in &self.rows {
            take(&self.shuffled.hands[hand as usize].codes[row as usize * width..][..width]);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use incog_verify::LabelColumn;

    use super::*;

    /// Row i has the numbers i and 2 i.
    struct Numbers(usize);

    impl Labels for Numbers {
        fn header(&self) -> Vec<&str> {
            vec!["n", "twice"]
        }

        fn n_rows(&self) -> usize {
            self.0
        }

        fn column(&self, column_idx: usize) -> LabelColumn<'_> {
            let mut codes = vec![0; self.0];
            self.codes_from(column_idx, 0, &mut codes);
            LabelColumn { labels: vec![""; 2 * self.0], codes: Cow::Owned(codes) }
        }

        fn codes_from(&self, column_idx: usize, first: usize, to: &mut [u32]) {
            for (at, to) in to.iter_mut().enumerate() {
                *to = ((column_idx + 1) * (first + at)) as u32;
            }
        }
    }

    /// The rows in their new order, and how many each bucket has.
    fn rows(table: &Numbers) -> (Vec<u32>, Vec<usize>) {
        let shuffled = Shuffled::new(table, &Watch::new()).unwrap();
        let (mut rows, mut sizes) = (Vec::new(), Vec::new());
        for bucket in 0..shuffled.n_buckets() {
            let bucket = shuffled.bucket(bucket);
            let n_before = rows.len();
            bucket.each(|codes| {
                assert_eq!(codes[1], 2 * codes[0], "a row stays together");
                rows.push(codes[0]);
            });
            assert_eq!(rows.len() - n_before, bucket.len());
            sizes.push(bucket.len());
        }
        (rows, sizes)
    }

    #[test]
    fn every_row_comes_once_in_another_order_each_time() {
        for n_rows in [0, 1, 1000, 200_000] {
            let (mut first, sizes) = rows(&Numbers(n_rows));
            assert_eq!(sizes.len() > 1, n_rows == 200_000);
            if n_rows > 1 {
                assert_ne!(first, rows(&Numbers(n_rows)).0, "one chance in 1000!");
            }
            first.sort_unstable();
            assert!(first.into_iter().eq(0..n_rows as u32));
        }
    }

    /// Where a row ends up does not depend on where it was, nor on where its neighbour ends up; far beyond chance.
    #[test]
    fn rows_from_everywhere_go_everywhere() {
        let n_rows = 200_000;
        let (order, sizes) = rows(&Numbers(n_rows));
        let mut counts = [[0_i64; 4]; 4];
        for (at, row) in order.iter().enumerate() {
            counts[4 * at / n_rows][4 * *row as usize / n_rows] += 1;
        }
        let expected = n_rows as i64 / 16;
        // Some 100 is a standard deviation.
        assert!(counts.iter().flatten().all(|count| (count - expected).abs() < 1000), "{counts:?}");

        let mut bucket_of = vec![0; n_rows];
        let mut rows = order.iter();
        for (bucket, &size) in sizes.iter().enumerate() {
            rows.by_ref().take(size).for_each(|&row| bucket_of[row as usize] = bucket);
        }
        let n_together = bucket_of.windows(2).filter(|pair| pair[0] == pair[1]).count() as f64;
        let expected = n_rows as f64 / sizes.len() as f64;
        assert!((n_together / expected - 1.0).abs() < 0.1, "{n_together} neighbours, expected {expected}");
        let n_ascending = order.windows(2).filter(|pair| pair[0] < pair[1]).count();
        assert!(n_ascending.abs_diff(n_rows / 2) < 2000, "{n_ascending} rows in their old order");
    }
}
