//! Sets of records as bits: AND, OR and counting, on whatever vectors the machine has.
//!
//! [`Bits`] is a set of records 0 to n − 1, a bit each, in lines of 64 bytes. Operations are single passes; those that
//! only count materialize nothing. For each there is a version for AVX-512 (with its population count), AVX2, NEON
//! and none of them; which one runs is found out once, at run time ([`Path`]), and tests compare all that the machine has
//! with the plain one.
//!
//! | operation | reads | writes |
//! |---|---|---|
//! | [`Bits::count`] | one set | – |
//! | [`Bits::and_count`], [`Bits::and_is_empty`] | two sets | – |
//! | [`Bits::and_count_until`] | two sets, as far as needed | – |
//! | [`Bits::and`], [`Bits::unite`] | two sets | one |
//! | [`Bits::equal`] | a byte a record | one set |
//!
//! This crate is the only one with unsafe code: the calls in `simd.rs` of functions that were compiled for vectors the
//! machine was seen to have. Their bodies are plain loops, but for the comparison of bytes.
//!
//! Cost: n / 8 bytes a set. Sets that are mostly empty are better kept as lists of records.

mod simd;

pub use simd::Path;

use simd::Line;

/// How many bits a line has.
const LINE_BITS: usize = 512;

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

    /// The records in the set, ascending.
    pub fn records(&self) -> Vec<usize> {
        let mut records = Vec::new();
        self.for_each(|record| records.push(record));
        records
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

    /// How many records are in both sets, or some number that is at least `enough` as soon as there are so many.
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
        /// 4 KiB of each set between two looks at the count.
        const STRIDE: usize = 64;
        self.same_table(other);
        let mut count = 0;
        for (mine, others) in self.lines.chunks(STRIDE).zip(other.lines.chunks(STRIDE)) {
            count += path.and_count(mine, others);
            if count >= enough {
                break;
            }
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

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        #[test]
        fn every_path_does_what_single_bits_do(
            n_records in 0..5000_usize,
            seeds in (any::<u64>(), any::<u64>()),
            densities in (1..1000_u64, 1..1000_u64),
            enough in 0..200_u64,
        ) {
            let is_in = |seed: u64, density: u64, record: usize| {
                let mixed = (seed ^ record as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
                (mixed >> 40) % 1000 < density
            };
            let a = Bits::from_fn(n_records, |record| is_in(seeds.0, densities.0, record));
            let b = Bits::from_fn(n_records, |record| is_in(seeds.1, densities.1, record));
            let both: Vec<usize> =
                (0..n_records).filter(|&record| a.contains(record) && b.contains(record)).collect();
            let either: Vec<usize> =
                (0..n_records).filter(|&record| a.contains(record) || b.contains(record)).collect();
            prop_assert!(Path::available().contains(&Path::PORTABLE));
            for path in Path::available() {
                prop_assert_eq!(a.count_on(path) as usize, a.records().len());
                prop_assert_eq!(a.and_count_on(path, &b) as usize, both.len());
                let until = a.and_count_until_on(path, &b, enough);
                prop_assert!(until == both.len() as u64 || (until >= enough && until < both.len() as u64));
                let mut to = Bits::from_fn(n_records, |_| true);
                prop_assert_eq!(a.and_on(path, &b, &mut to) as usize, both.len());
                prop_assert_eq!(to.records(), both.clone());
                let codes: Vec<u8> = (0..n_records).map(|record| (record as u64 ^ seeds.0) as u8 % 7).collect();
                for code in 0..8 {
                    let equal: Vec<usize> =
                        (0..n_records).filter(|&record| codes[record] == code).collect();
                    prop_assert_eq!(Bits::equal_on(path, &codes, code).records(), equal);
                }
                to.clone_from(&a);
                to.unite_on(path, &b);
                prop_assert_eq!(to.records(), either.clone());
            }
        }
    }

    #[test]
    #[should_panic(expected = "both sets are of one table")]
    fn sets_of_different_tables_do_not_mix() {
        set("101").and_count(&set("1011"));
    }
}
