//! Rows in an order that nobody can guess.
//!
//! Each row is dealt into one of many buckets, drawn anew, and each bucket is then shuffled for itself. That makes every order
//! equally likely, as shuffling all rows at once would (Rao 1961; Sandelius 1962), but jumps around in a bucket, which fits the
//! processor's cache, and not in the whole table. Randomness is the operating system's, and recorded nowhere.
//!
//! A row is dealt as one word, or few: its codes side by side, each with as many bits as its column has labels for.
//!
//! Cost: two passes over the words. Memory: 8 bytes a word, and 2 a row.

use std::ops::Range;

use incog_core::{Progress, Result};
use incog_verify::Labels;
use rand::Rng;
use rand::seq::SliceRandom;
use rayon::prelude::*;

/// Bytes of words in a bucket, about.
const BUCKET_BYTES: usize = 1 << 17;

/// More buckets than this would be too many to deal into at a time.
const MAX_BUCKETS: usize = 1 << 11;

/// How many rows' codes are looked up at a time, at most.
const BLOCK: usize = 1 << 12;

/// Fewer, where those would take more words than this (2 MiB): very many columns.
const BLOCK_WORDS: usize = 1 << 18;

/// All rows of a table, dealt.
pub(super) struct Shuffled {
    /// Rows that follow each other in the table were dealt by one thread, into buckets of its own.
    hands: Vec<Hand>,
    n_buckets: usize,
    words: Words,
}

/// How the codes of a row are laid side by side.
struct Words {
    /// Where the code of each column stands.
    places: Vec<BitField>,
    /// How many words a row has.
    n_words: usize,
}

/// Some bits of a word.
#[derive(Clone, Copy)]
struct BitField {
    word: usize,
    shift: u32,
    mask: u64,
}

/// What one thread dealt.
struct Hand {
    /// The words of all rows, bucket by bucket.
    words: Vec<u64>,
    /// After which row each bucket ends.
    ends: Vec<usize>,
}

impl Words {
    /// Room for the codes of all columns, given how many there are in each.
    fn new(n_codes: impl Iterator<Item = usize>) -> Self {
        let (mut word, mut shift) = (0, 0);
        let place = |n_codes: usize| {
            // At least one, so that no place is beyond the end of a word.
            let n_bits = (usize::BITS - n_codes.saturating_sub(1).leading_zeros()).max(1);
            if shift + n_bits > u64::BITS {
                (word, shift) = (word + 1, 0);
            }
            let place = BitField { word, shift, mask: u64::MAX >> (u64::BITS - n_bits) };
            shift += n_bits;
            place
        };
        let places: Vec<BitField> = n_codes.map(place).collect();
        Words { n_words: places.last().map_or(1, |place| place.word + 1), places }
    }

    /// The codes of a row.
    #[inline]
    fn codes(&self, words: &[u64]) -> impl Iterator<Item = u32> {
        self.places.iter().map(|place| (words[place.word] >> place.shift & place.mask) as u32)
    }
}

impl Shuffled {
    /// Deals the rows of a table.
    pub(super) fn new(table: &dyn Labels, progress: &Progress) -> Result<Self> {
        let (n_rows, width) = (table.n_rows(), table.header().len());
        let words = Words::new((0..width).map(|at| table.labels(at).len()));
        let n_bytes = n_rows * words.n_words * 8;
        let n_buckets = (n_bytes / BUCKET_BYTES).clamp(1, MAX_BUCKETS).next_power_of_two();
        let rows_a_hand = n_rows.div_ceil(rayon::current_num_threads()).max(1);
        let firsts: Vec<usize> = (0..n_rows).step_by(rows_a_hand).collect();
        let hands = firsts.into_par_iter().map(|first| {
            progress.check()?;
            Ok(Hand::deal(table, first..n_rows.min(first + rows_a_hand), &words, n_buckets))
        });
        Ok(Shuffled { hands: hands.collect::<Result<_>>()?, n_buckets, words })
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
    fn deal(table: &dyn Labels, rows: Range<usize>, words: &Words, n_buckets: usize) -> Self {
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
        let Words { places, n_words } = words;
        let n_words = *n_words;
        let mut dealt = vec![0; rows.len() * n_words];
        let at_once = (BLOCK_WORDS / n_words).clamp(1, BLOCK).min(rows.len().max(1));
        let mut codes = vec![0; at_once];
        let mut block = vec![0_u64; at_once * n_words];
        for (random, first) in random.chunks(2 * at_once).zip(rows.step_by(at_once)) {
            let codes = &mut codes[..random.len() / 2];
            block.fill(0);
            for (at, place) in places.iter().enumerate() {
                table.codes_from(at, first, codes);
                let words = block[place.word..].iter_mut().step_by(n_words);
                for (word, &code) in words.zip(&*codes) {
                    *word |= u64::from(code) << place.shift;
                }
            }
            for (words, random) in block.chunks_exact(n_words).zip(random.chunks_exact(2)) {
                let end = &mut ends[bucket(random)];
                dealt[*end * n_words..][..n_words].copy_from_slice(words);
                *end += 1;
            }
        }
        Hand { words: dealt, ends }
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
        let Shuffled { hands, words, .. } = self.shuffled;
        let mut codes = vec![0; words.places.len()];
        for &(hand, row) in &self.rows {
            let row = &hands[hand as usize].words[row as usize * words.n_words..][..words.n_words];
            for (to, code) in codes.iter_mut().zip(words.codes(row)) {
                *to = code;
            }
            take(&codes);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use incog_verify::LabelColumn;

    use super::*;

    #[test]
    fn codes_come_back_from_words_however_many_there_are() {
        let most = u32::MAX as usize;
        for n_codes in [
            vec![],
            vec![1],
            vec![0, 1, 2, 3],
            vec![most; 5],
            vec![1 << 31, 1 << 31, 1 << 2, 1, 7],
            vec![2; 130],
        ] {
            let words = Words::new(n_codes.iter().copied());
            for from_top in 0..3 {
                let codes: Vec<u32> = n_codes.iter().map(|n| n.saturating_sub(1 + from_top) as u32).collect();
                let mut row = vec![0; words.n_words];
                for (place, &code) in words.places.iter().zip(&codes) {
                    row[place.word] |= u64::from(code) << place.shift;
                }
                assert!(words.codes(&row).eq(codes.iter().copied()), "{n_codes:?}");
            }
        }
        assert_eq!(Words::new([2; 130].into_iter()).n_words, 3);
    }

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
        let shuffled = Shuffled::new(table, &Progress::new()).unwrap();
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
