//! The innermost loops of incog, and the memory they run on.
//!
//! Counting groups, intersecting sets of records and splitting a text are a few loops each, and nearly all the time of a run is
//! spent in them. They stand here because they use instructions of the machine (vectors, `PEXT`), and those need unsafe code.
//! So does the allocator that asks for large pages. **This crate is the only one with unsafe code.**
//!
//! | what | for |
//! |---|---|
//! | [`Bits`] | sets of records as bits: AND, OR, counting |
//! | [`Compress`], [`CompressWide`] | pushes the bits of a word together: a group's cell from its packed key |
//! | [`Numbering`] | numbers groups without gaps |
//! | [`add_rows`], [`count_below`], [`for_each_below`] | counts in cells, and looks through them |
//! | [`count_under`], [`counts_under`] | counts bits in runs of few words, and in each word under many masks |
//! | [`positions`] | finds the separators of a text |
//! | [`LargePages`], [`has_room`], [`when_out_of_memory`] | memory in large pages, and what is done when there is none |
//! | [`MappedPages`] | memory that goes back when it is freed, for a process that is somebody else's |
//!
//! Each loop has a version for AVX-512, one for AVX2, and a plain one, which compilers turn into NEON where that is. Which one
//! runs is found out once, at run time ([`Path`]). Tests compare all versions that the machine has with the definition.
//!
//! Unsafe code is in eight modules: `simd.rs`, `cells.rs`, `compress.rs`, `numbering.rs`, `runs.rs` and `positions.rs` load and
//! store vectors, look up in tables of known size, and call functions compiled for instructions that the machine was seen to
//! have; `pages.rs` and `mapped.rs` pass on calls of the system's allocator, or ask the system for pages.
//!
//! # Sets of records
//!
//! [`Bits`] is a set of records 0 to n − 1, a bit each, in lines of 64 bytes. Operations are single passes; those that
//! only count materialize nothing. Sets beyond the cache are counted nearly as fast as they can be read
//! (`benches/throughput.rs`).
//!
//! | operation | reads | writes |
//! |---|---|---|
//! | [`Bits::count`], [`Bits::is_empty`] | one set | – |
//! | [`Bits::and_count`], [`Bits::and_is_empty`] | two sets | – |
//! | [`Bits::and_count_until`] | two sets, as far as needed | – |
//! | [`Bits::and`], [`Bits::unite`] | two sets | one |
//! | [`Bits::equal`] | a byte a record | one set |
//!
//! Cost: n / 8 bytes a set, and time for all of them, however few records are in. So bits lose where sets are sparse. For the
//! AND-count of random sets, `roaring` takes about twice as long with one record in a hundred, and about an eighth of the time
//! with one in ten thousand. Such sets are better kept as lists of records.

mod cells;
mod compress;
mod mapped;
mod numbering;
mod pages;
mod positions;
mod runs;
mod simd;

pub use cells::{add_rows, count_below, for_each_below};
pub use compress::{Compress, CompressWide};
pub use mapped::MappedPages;
pub use numbering::{Field, Numbering};
pub use pages::{LargePages, has_room, when_out_of_memory};
pub use positions::positions;
pub use runs::{count_under, counts_under};
pub use simd::Path;

use simd::Line;

/// How many bits a line has.
const LINE_BITS: usize = 512;

/// How many lines [`Bits::and_count_until`] counts before it looks whether that is enough: 4 KiB of each set.
const FIRST_LOOK: usize = 64;

/// A set of records.
///
/// # Invariants
/// Bits beyond the last record are zero.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bits {
    lines: Vec<Line>,
    n_records: usize,
}

impl Bits {
    /// No record of `n_records`.
    pub fn none(n_records: usize) -> Self {
        Bits { lines: vec![Line::default(); n_records.div_ceil(LINE_BITS)], n_records }
    }

    /// The records for which `is_in` says so.
    pub fn from_fn(n_records: usize, is_in: impl Fn(usize) -> bool) -> Self {
        let mut bits = Bits::none(n_records);
        for record in (0..n_records).filter(|&record| is_in(record)) {
            bits.insert(record);
        }
        bits
    }

    /// The records whose code, one for each, is `code`.
    pub fn equal(codes: &[u8], code: u8) -> Self {
        Bits::equal_on(Path::best(), codes, code)
    }

    /// [`equal`](Self::equal) with given vectors.
    pub fn equal_on(path: Path, codes: &[u8], code: u8) -> Self {
        let mut bits = Bits::none(codes.len());
        let (whole, rest) = codes.as_chunks::<64>();
        for (codes, line) in whole.chunks(8).zip(&mut bits.lines) {
            path.equal(codes, code, &mut line.0);
        }
        for (at, _) in rest.iter().enumerate().filter(|(_, other)| **other == code) {
            bits.insert(whole.len() * 64 + at);
        }
        bits
    }

    /// How many records there could be.
    pub fn n_records(&self) -> usize {
        self.n_records
    }

    /// How many bytes the set takes.
    pub fn n_bytes(&self) -> usize {
        self.lines.len() * size_of::<Line>()
    }

    /// Puts a record in.
    ///
    /// # Panics
    /// When there is no such record.
    pub fn insert(&mut self, record: usize) {
        assert!(record < self.n_records, "there is no such record");
        self.lines[record / LINE_BITS].0[record % LINE_BITS / 64] |= 1 << (record % 64);
    }

    /// Is a record in?
    ///
    /// # Panics
    /// When there is no such record.
    pub fn contains(&self, record: usize) -> bool {
        assert!(record < self.n_records, "there is no such record");
        self.lines[record / LINE_BITS].0[record % LINE_BITS / 64] >> (record % 64) & 1 == 1
    }

    /// Calls `each` with every record in the set, ascending.
    pub fn for_each(&self, mut each: impl FnMut(usize)) {
        let words = self.lines.iter().flat_map(|line| line.0);
        words.enumerate().for_each(|(at, mut word)| {
            while word != 0 {
                each(at * 64 + word.trailing_zeros() as usize);
                word &= word - 1;
            }
        });
    }

    /// The first record, if there is one.
    pub fn first(&self) -> Option<usize> {
        let words = self.lines.iter().flat_map(|line| line.0);
        let (at, word) = words.enumerate().find(|&(_, word)| word != 0)?;
        Some(at * 64 + word.trailing_zeros() as usize)
    }

    /// The records in the set, ascending.
    pub fn records(&self) -> Vec<usize> {
        let mut records = Vec::new();
        self.for_each(|record| records.push(record));
        records
    }

    /// Is no record in?
    pub fn is_empty(&self) -> bool {
        self.lines.iter().all(|line| *line == Line::default())
    }

    /// How many records are in.
    pub fn count(&self) -> u64 {
        self.count_on(Path::best())
    }

    /// How many records are in both sets.
    ///
    /// # Panics
    /// When the sets are of different tables: this goes for every operation on two sets.
    pub fn and_count(&self, other: &Bits) -> u64 {
        self.and_count_on(Path::best(), other)
    }

    /// How many records are in both sets. Once `enough` are found, the count may stop: any number of at least `enough`.
    ///
    /// Reads at most 4 KiB of each set, or twice what had to be read.
    pub fn and_count_until(&self, other: &Bits, enough: u64) -> u64 {
        self.and_count_until_on(Path::best(), other, enough)
    }

    /// Is no record in both sets?
    pub fn and_is_empty(&self, other: &Bits) -> bool {
        self.and_count_until(other, 1) == 0
    }

    /// Makes `to` the records that are in both sets, and says how many they are.
    pub fn and(&self, other: &Bits, to: &mut Bits) -> u64 {
        self.and_on(Path::best(), other, to)
    }

    /// Adds the records of another set.
    pub fn unite(&mut self, other: &Bits) {
        self.unite_on(Path::best(), other);
    }

    /// [`count`](Self::count) with given vectors.
    pub fn count_on(&self, path: Path) -> u64 {
        path.count(&self.lines)
    }

    /// [`and_count`](Self::and_count) with given vectors.
    pub fn and_count_on(&self, path: Path, other: &Bits) -> u64 {
        self.same_table(other);
        path.and_count(&self.lines, &other.lines)
    }

    /// [`and_count_until`](Self::and_count_until) with given vectors.
    pub fn and_count_until_on(&self, path: Path, other: &Bits, enough: u64) -> u64 {
        self.same_table(other);
        let (mut count, mut from, mut to) = (0, 0, FIRST_LOOK);
        while from < self.lines.len() {
            let stretch = from..to.min(self.lines.len());
            count += path.and_count(&self.lines[stretch.clone()], &other.lines[stretch]);
            if count >= enough {
                break;
            }
            // As much again: long stretches are read faster, and at most twice what was needed is read.
            (from, to) = (to, 2 * to);
        }
        count
    }

    /// [`and`](Self::and) with given vectors.
    pub fn and_on(&self, path: Path, other: &Bits, to: &mut Bits) -> u64 {
        self.same_table(other);
        self.same_table(to);
        path.and(&self.lines, &other.lines, &mut to.lines)
    }

    /// [`unite`](Self::unite) with given vectors.
    pub fn unite_on(&mut self, path: Path, other: &Bits) {
        self.same_table(other);
        path.unite(&mut self.lines, &other.lines);
    }

    /// Reads both sets with given vectors and does next to nothing with them: what the speed of
    /// [`and_count`](Self::and_count) is measured by.
    #[doc(hidden)]
    pub fn read_on(&self, path: Path, other: &Bits) -> u64 {
        self.same_table(other);
        path.read(&self.lines, &other.lines)
    }

    fn same_table(&self, other: &Bits) {
        assert_eq!(self.n_records, other.n_records, "both sets are of one table");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The Incognito paper's Patients, as the bitmap paper draws them: the first record is the first digit.
    fn set(digits: &str) -> Bits {
        let digits: Vec<u8> = digits.bytes().collect();
        Bits::from_fn(digits.len(), |record| digits[record] == b'1')
    }

    #[test]
    fn uniting_zip_codes_generalizes_them() {
        // Section 3.1: 001100 OR 000011 = 001111, the records of 5370*.
        let mut zip = set("001100");
        zip.unite(&set("000011"));
        assert_eq!(zip, set("001111"));
        assert_eq!(zip.count(), 4);
    }

    #[test]
    fn male_and_53715_is_the_first_record() {
        // Section 3.1: male is 101100, 53715 is 110000.
        let (male, zip) = (set("101100"), set("110000"));
        let mut both = Bits::none(6);
        assert_eq!(male.and(&zip, &mut both), 1);
        assert_eq!(both, set("100000"));
        assert_eq!(both.records(), [0]);
        assert!(set("001100").and_is_empty(&zip), "an empty intersection is no group");
    }

    /// Up to several blocks of lines, and often where a word, a line or a block ends.
    fn n_records() -> impl Strategy<Value = usize> {
        let beside = prop_oneof![Just(0), Just(1), Just(63), Just(64), Just(65), Just(511), 0..512_usize];
        (0..100_usize, beside).prop_map(|(lines, beside)| lines * LINE_BITS + beside)
    }

    fn mix(number: u64, seed: u64) -> u64 {
        let mixed = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ seed;
        let mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB) >> 8
    }

    /// About `density` records in a thousand.
    fn random(n_records: usize, seed: u64, density: u64) -> Bits {
        Bits::from_fn(n_records, |record| mix(record as u64, seed) % 1000 < density)
    }

    /// Compares all operations on all paths with what single bits say.
    fn check(a: &Bits, b: &Bits) {
        let n_records = a.n_records();
        let which = |is_in: &dyn Fn(usize) -> bool| -> Vec<usize> {
            (0..n_records).filter(|&record| is_in(record)).collect()
        };
        let single = which(&|record| a.contains(record));
        let both = which(&|record| a.contains(record) && b.contains(record));
        let either = which(&|record| a.contains(record) || b.contains(record));
        assert_eq!(a.records(), single);
        assert!(Path::available().contains(&Path::PORTABLE));
        for path in Path::available() {
            let name = path.name();
            assert_eq!(a.count_on(path), single.len() as u64, "{name}");
            assert_eq!(a.and_count_on(path, b), both.len() as u64, "{name}");
            assert_eq!(a.and_count_until_on(path, b, u64::MAX), both.len() as u64, "{name}");
            // What was there before is gone.
            let mut to = Bits::from_fn(n_records, |_| true);
            assert_eq!(a.and_on(path, b, &mut to), both.len() as u64, "{name}");
            assert_eq!(to, Bits::from_fn(n_records, |record| both.binary_search(&record).is_ok()), "{name}");
            to.clone_from(a);
            to.unite_on(path, b);
            assert_eq!(
                to,
                Bits::from_fn(n_records, |record| either.binary_search(&record).is_ok()),
                "{name}"
            );
            assert_eq!(a.read_on(path, b), a.read_on(Path::PORTABLE, b), "{name}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        #[test]
        #[cfg_attr(miri, ignore = "takes too long; see every_path_is_equal_to_the_portable_one…")]
        fn every_path_does_what_single_bits_do(
            n_records in n_records(),
            seeds in (any::<u64>(), any::<u64>()),
            densities in (0..=1000_u64, 0..=1000_u64),
        ) {
            check(&random(n_records, seeds.0, densities.0), &random(n_records, seeds.1, densities.1));
        }

        #[test]
        #[cfg_attr(miri, ignore = "takes too long; see equal_bytes_are_found_around_words_and_lines")]
        fn every_path_finds_equal_bytes(codes in proptest::collection::vec(0..7_u8, 0..1500)) {
            for path in Path::available() {
                for code in 0..8 {
                    let equal = Bits::from_fn(codes.len(), |record| codes[record] == code);
                    prop_assert_eq!(Bits::equal_on(path, &codes, code), equal);
                }
            }
        }

        /// One record alone, wherever it is: no place of a vector or a block is left out or counted twice.
        #[test]
        #[cfg_attr(miri, ignore = "takes too long; see every_path_is_equal_to_the_portable_one…")]
        fn every_path_finds_a_single_record(n_records in n_records(), place in 0.0..1.0) {
            prop_assume!(n_records > 0);
            let record = ((n_records as f64 * place) as usize).min(n_records - 1);
            let one = Bits::from_fn(n_records, |other| other == record);
            check(&one, &Bits::from_fn(n_records, |_| true));
            check(&one, &Bits::from_fn(n_records, |other| other != record));
        }
    }

    #[test]
    fn equal_bytes_are_found_around_words_and_lines() {
        for n_records in [0, 1, 63, 64, 65, 511, 512, 513, 576] {
            let codes: Vec<u8> = (0..n_records).map(|record| (record * 7 % 11) as u8).collect();
            for path in Path::available() {
                let equal = Bits::from_fn(n_records, |record| codes[record] == 3);
                assert_eq!(Bits::equal_on(path, &codes, 3), equal, "{n_records} on {}", path.name());
            }
        }
    }

    /// The same for the interpreter Miri, which finds reads and writes that go astray but takes a second for some
    /// thousand single bits: whole words, and the portable path to compare with.
    #[test]
    fn every_path_is_equal_to_the_portable_one_for_every_number_of_lines() {
        let set = |n_records: usize, word: &dyn Fn(u64) -> u64| {
            let mut bits = Bits::none(n_records);
            for at in 0..n_records.div_ceil(64) {
                let last = if at == n_records / 64 { !(u64::MAX << (n_records % 64)) } else { u64::MAX };
                bits.lines[at / 8].0[at % 8] = word(at as u64) & last;
            }
            bits
        };
        // Where the interpreter has all vectors, none may be left out.
        let has_all = cfg!(all(target_feature = "avx2", target_feature = "avx512vpopcntdq"));
        assert!(!has_all || Path::available().len() == 3);
        // At least two blocks of lines, and what is left.
        let n_lines = |&n_lines: &usize| !cfg!(miri) || n_lines < 18 && matches!(n_lines % 8, 0 | 1 | 7);
        for n_lines in (0..100).filter(n_lines) {
            let n_records = n_lines * LINE_BITS + [0, 1, 64, 511][n_lines % 4];
            let a = set(n_records, &|at| mix(at, 1) | at << 60);
            let full = set(n_records, &|_| u64::MAX);
            assert_eq!(full.count_on(Path::PORTABLE), n_records as u64);
            for b in [set(n_records, &|at| mix(at, 2)), full] {
                let (mut expected, mut to, mut united) = (a.clone(), a.clone(), a.clone());
                let both = a.and_on(Path::PORTABLE, &b, &mut expected);
                let mut either = a.clone();
                either.unite_on(Path::PORTABLE, &b);
                for path in Path::available() {
                    assert_eq!(b.count_on(path), b.count_on(Path::PORTABLE), "{}", path.name());
                    assert_eq!(a.and_count_on(path, &b), both, "{}", path.name());
                    assert_eq!(a.and_count_until_on(path, &b, u64::MAX), both, "{}", path.name());
                    to.clone_from(&b);
                    assert_eq!(a.and_on(path, &b, &mut to), both, "{}", path.name());
                    assert_eq!(to, expected, "{}", path.name());
                    united.clone_from(&a);
                    united.unite_on(path, &b);
                    assert_eq!(united, either, "{}", path.name());
                    assert_eq!(a.read_on(path, &b), a.read_on(Path::PORTABLE, &b), "{}", path.name());
                }
            }
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes too long; see every_path_is_equal_to_the_portable_one…")]
    fn counting_until_stops_at_every_threshold_within_twice_what_had_to_be_read() {
        let n_lines = 10 * FIRST_LOOK + 3;
        let n_records = n_lines * LINE_BITS - 100;
        // A record in some 150.
        let (a, b) = (random(n_records, 1, 80), random(n_records, 2, 80));
        let both: Vec<usize> = a.records().into_iter().filter(|&record| b.contains(record)).collect();
        assert!(both.len() > 1000, "there are thresholds");
        for enough in 0..=both.len() + 2 {
            // The lines up to the record that makes it enough, if there is one.
            let needed = both.get(enough.max(1) - 1).map_or(n_lines, |record| record / LINE_BITS + 1);
            let may_read = (2 * needed).max(FIRST_LOOK) * LINE_BITS;
            let at_most = both.iter().filter(|&&record| record < may_read).count();
            for path in Path::available() {
                let until = a.and_count_until_on(path, &b, enough as u64) as usize;
                assert!(until >= enough.min(both.len()) && until <= at_most, "{enough}: {until}");
            }
        }
    }

    #[test]
    fn nothing_is_empty() {
        let none = Bits::none(0);
        check(&none, &none);
        assert!(none.and_is_empty(&none) && none.is_empty());
        for record in [0, 511, 512, 999] {
            assert!(!Bits::from_fn(1000, |other| other == record).is_empty());
        }
        assert!(Bits::none(1000).is_empty());
    }

    #[test]
    #[should_panic(expected = "both sets are of one table")]
    fn sets_of_different_tables_do_not_mix() {
        set("101").and_count(&set("1011"));
    }
}
