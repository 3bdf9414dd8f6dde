//! Numbers without gaps for words made of fields: mixed radix, by two look-ups.
//!
//! Where fields of a word have fewer values than their bits could tell apart, pushing the bits together ([`Compress`]) leaves gaps:
//! five labels take three bits, and with ten such fields most numbers are never used. Here a field counts as many steps as it has
//! values, so n fields number as many words as the product of their values: counters of a byte for each of them fit the
//! cache where those of the bits do not.
//!
//! The fields are dealt to two halves. For each half there is a table with the number of each of its bit patterns, pushed together; the
//! number of a word is what the one table says plus what the other says. Cost: two instructions and two look-ups a word; the
//! tables take a step for each pattern of bits, so halves of more than 12 bits are refused. For words of 64 bits.
#![allow(unsafe_code)]

use crate::cells::add_rows;
use crate::compress::Compress;

/// No half has more bits.
pub(crate) const MOST_BITS: u32 = 12;

/// Bits of a word that stand together, and the values that they have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    mask: u64,
    /// The bits of each value, in their place; ascending.
    values: Vec<u64>,
    /// For each pattern of the bits, pushed together, which of the values it is; 0 if it is none.
    ranks: Vec<u32>,
}

impl Field {
    /// The field of these bits, with the values that words have there. `None` if there are more than 12 bits, if they do not stand
    /// together or if there are no words.
    pub fn new(mask: u64, words: impl Iterator<Item = u64>) -> Option<Self> {
        let n_bits = mask.count_ones();
        if n_bits > MOST_BITS || (n_bits > 0 && mask >> mask.trailing_zeros() >> n_bits != 0) {
            return None;
        }
        let place = mask.trailing_zeros() % u64::BITS;
        let mut occurs = vec![false; 1 << n_bits];
        words.for_each(|word| occurs[((word & mask) >> place) as usize] = true);
        let (mut values, mut ranks) = (Vec::new(), vec![0; 1 << n_bits]);
        for (pattern, _) in occurs.iter().enumerate().filter(|(_, occurs)| **occurs) {
            ranks[pattern] = values.len() as u32;
            values.push((pattern as u64) << place);
        }
        (!values.is_empty()).then_some(Field { mask, values, ranks })
    }
}

/// Numbers for words by the values of some fields.
#[derive(Debug, Clone)]
pub struct Numbering<'a> {
    low: Half<'a>,
    /// Its numbers are multiples of how many the other half has.
    high: Half<'a>,
}

/// Some of the fields.
#[derive(Debug, Clone)]
struct Half<'a> {
    /// Those that have bits, from the lowest ones up.
    fields: Vec<&'a Field>,
    compress: Compress,
    /// For each pattern of the bits, pushed together, its number: as many as there are patterns.
    numbers: Vec<u32>,
    n_numbers: usize,
}

impl<'a> Half<'a> {
    fn new(fields: Vec<&'a Field>, compress: fn(u64) -> Compress) -> Self {
        let (mut mask, mut numbers, mut n_numbers) = (0, vec![0], 1);
        for field in &fields {
            // The patterns of the fields so far, once more for each pattern of this one.
            let mut more = vec![0; numbers.len() * field.ranks.len()];
            for (more, rank) in more.chunks_mut(numbers.len()).zip(&field.ranks) {
                let step = rank * n_numbers as u32;
                more.iter_mut().zip(&numbers).for_each(|(more, number)| *more = number + step);
            }
            numbers = more;
            n_numbers *= field.values.len();
            mask |= field.mask;
        }
        Half { fields, compress: compress(mask), numbers, n_numbers }
    }

    /// The bits of each number.
    fn words(&self) -> Vec<u64> {
        let more = |words: Vec<u64>, field: &&Field| {
            field.values.iter().flat_map(|value| words.iter().map(move |word| word | value)).collect()
        };
        self.fields.iter().fold(vec![0], more)
    }
}

/// Deals fields with bits to two halves, the longest first to the half that has fewer bits, and puts each in order from the lowest ones
/// up. `None` if a half gets too many bits, or if fields overlap.
fn halves<'a>(fields: &[&'a Field]) -> Option<[Vec<&'a Field>; 2]> {
    let mut fields: Vec<&Field> = fields.iter().copied().filter(|field| field.mask != 0).collect();
    fields.sort_by_key(|field| (std::cmp::Reverse(field.mask.count_ones()), field.mask));
    let (mut halves, mut n_bits, mut mask) = ([Vec::new(), Vec::new()], [0, 0], 0);
    for field in fields {
        let half = usize::from(n_bits[1] < n_bits[0]);
        n_bits[half] += field.mask.count_ones();
        if n_bits[half] > MOST_BITS || mask & field.mask != 0 {
            return None;
        }
        mask |= field.mask;
        halves[half].push(field);
    }
    for half in &mut halves {
        half.sort_by_key(|field| field.mask);
    }
    Some(halves)
}

impl<'a> Numbering<'a> {
    /// Numbers for words by these fields. `None` if it takes more than `most` numbers, if the fields overlap or if dealing them to the
    /// halves, the longest first to the one with fewer bits, makes one of more than 12 bits.
    pub fn new(fields: &[&'a Field], most: usize) -> Option<Self> {
        Numbering::by(fields, most, Compress::new)
    }

    /// The same without the instruction, on any machine.
    pub fn portable(fields: &[&'a Field], most: usize) -> Option<Self> {
        Numbering::by(fields, most, Compress::portable)
    }

    fn by(fields: &[&'a Field], most: usize, compress: fn(u64) -> Compress) -> Option<Self> {
        let n_numbers = fields.iter().try_fold(1_usize, |n, field| n.checked_mul(field.values.len()))?;
        if n_numbers > most {
            return None;
        }
        let [low, high] = halves(fields)?.map(|fields| Half::new(fields, compress));
        let numbers = high.numbers.iter().map(|number| number * low.n_numbers as u32).collect();
        Some(Numbering { high: Half { numbers, ..high }, low })
    }

    /// How many numbers there are: the values of all fields, multiplied.
    pub fn n_numbers(&self) -> usize {
        self.low.n_numbers * self.high.n_numbers
    }

    /// Adds the rows of each word, or 1, to the cell of its number; cells stop at 255. A word with a value that its field has not is
    /// counted as another.
    ///
    /// # Panics
    /// When there are fewer cells than numbers, or not as many rows as words.
    pub fn count(&self, words: &[u64], rows: Option<&[u8]>, cells: &mut [u8]) {
        assert!(cells.len() >= self.n_numbers(), "each number has its cell");
        assert!(rows.is_none_or(|rows| rows.len() == words.len()), "each word has its rows");
        match rows {
            None => self.count_with(words, std::iter::repeat(1), cells),
            Some(rows) => self.count_with(words, rows.iter().copied(), cells),
        }
    }

    fn count_with(&self, words: &[u64], mut rows: impl Iterator<Item = u8>, cells: &mut [u8]) {
        #[cfg(target_arch = "x86_64")]
        if self.low.compress.has_instruction() {
            // SAFETY: the machine was seen to have BMI2, and there are as many cells as numbers.
            unsafe { count_with_instruction(self, words, rows, cells) };
            return;
        }
        let (mut low, mut high) = ([0; BLOCK], [0; BLOCK]);
        for words in words.chunks(BLOCK) {
            let (low, high) = (&mut low[..words.len()], &mut high[..words.len()]);
            self.low.compress.words(words, low);
            self.high.compress.words(words, high);
            for ((&low, &high), rows) in low.iter().zip(&*high).zip(rows.by_ref()) {
                let cell = self.low.numbers[low as usize] + self.high.numbers[high as usize];
                add_rows(&mut cells[cell as usize], rows);
            }
        }
    }

    /// The bits of the fields for each of some numbers.
    ///
    /// # Panics
    /// When there is no such number, or less room than for all of them.
    pub fn words(&self, numbers: &[u32], to: &mut [u64]) {
        assert!(to.len() >= numbers.len(), "there is room for each word");
        let (low, high) = (self.low.words(), self.high.words());
        let n_low = low.len() as u32;
        for (to, &number) in to.iter_mut().zip(numbers) {
            *to = low[(number % n_low) as usize] | high[(number / n_low) as usize];
        }
    }
}

/// Words whose numbers are told at a time.
const BLOCK: usize = if cfg!(miri) { 8 } else { 256 };

/// # Safety
/// There must be a cell for each number.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "bmi2")]
unsafe fn count_with_instruction(
    numbering: &Numbering<'_>,
    words: &[u64],
    rows: impl Iterator<Item = u8>,
    cells: &mut [u8],
) {
    use std::arch::x86_64::_pext_u64;
    let Numbering { low, high } = numbering;
    let (low_mask, high_mask) = (low.compress.mask(), high.compress.mask());
    for (&word, rows) in words.iter().zip(rows) {
        let (of_low, of_high) = (_pext_u64(word, low_mask) as usize, _pext_u64(word, high_mask) as usize);
        // SAFETY: a table has as many numbers as there are patterns of the bits of its mask, and the sum of two of them is less than
        // how many numbers there are, so than the cells.
        unsafe {
            let cell = low.numbers.get_unchecked(of_low) + high.numbers.get_unchecked(of_high);
            add_rows(cells.get_unchecked_mut(cell as usize), rows);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{BTreeMap, BTreeSet};

    fn draw(n: usize, seed: u64) -> Vec<u64> {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state ^ state >> 29
        };
        (0..n).map(|_| next()).collect()
    }

    /// Fields at these places (offset, bits), and words that have up to `n_values` of their patterns.
    fn fields_and_words(places: &[(u32, u32)], n_values: u64) -> (Vec<Field>, Vec<u64>) {
        // Enough for more than one block of words, even in Miri, which is slow.
        let n_words = if cfg!(miri) { 19 } else { 3000 };
        let drawn = draw(n_words * places.len(), n_values);
        let words: Vec<u64> = drawn
            .chunks(places.len())
            .map(|drawn| {
                let field = |(&(at, n_bits), drawn): (&(u32, u32), &u64)| {
                    (drawn % n_values).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - n_bits) << at
                };
                places.iter().zip(drawn).map(field).fold(0, |word, field| word | field)
            })
            .collect();
        let fields = places
            .iter()
            .map(|&(at, n_bits)| Field::new(u64::MAX >> (64 - n_bits) << at, words.iter().copied()).unwrap());
        (fields.collect(), words)
    }

    #[test]
    fn words_have_the_same_number_if_and_only_if_their_fields_are_equal() {
        let layouts: [&[(u32, u32)]; 5] = [
            &[(3, 4)],
            &[(60, 4), (0, 1), (20, 7)],
            &[(0, 3), (3, 3), (6, 3), (9, 3), (40, 2), (50, 5)],
            &[(1, 12), (30, 10)],
            &[(10, 5), (20, 6), (30, 5), (40, 6)],
        ];
        let n_values: &[u64] = if cfg!(miri) { &[2, 3] } else { &[1, 2, 5, 1000] };
        // Tables of long halves take Miri minutes.
        let layouts = if cfg!(miri) { &layouts[..3] } else { &layouts[..] };
        for (places, n_values) in
            layouts.iter().flat_map(|&places| n_values.iter().map(move |&n| (places, n)))
        {
            let (fields, words) = fields_and_words(places, n_values);
            let fields: Vec<&Field> = fields.iter().collect();
            let mask = fields.iter().fold(0, |mask, field| mask | field.mask);
            let product: usize = fields.iter().map(|field| field.values.len()).product();
            let rows: Vec<u8> = (0..words.len()).map(|at| (at % 97) as u8).collect();
            let mut expected: BTreeMap<u64, u64> = BTreeMap::new();
            for (word, &rows) in words.iter().zip(&rows) {
                *expected.entry(word & mask).or_default() += u64::from(rows);
            }
            expected.retain(|_, rows| *rows > 0);
            for numbering in
                [Numbering::new(&fields, product).unwrap(), Numbering::portable(&fields, product).unwrap()]
            {
                assert_eq!(numbering.n_numbers(), product);
                assert!(Numbering::new(&fields, product - 1).is_none());
                let mut cells = vec![0; product];
                numbering.count(&words, Some(&rows), &mut cells);
                let numbers: Vec<u32> =
                    (0..).zip(&cells).filter(|&(_, &cell)| cell > 0).map(|(number, _)| number).collect();
                let mut found = vec![0; numbers.len()];
                numbering.words(&numbers, &mut found);
                let found: BTreeMap<u64, u64> = found
                    .into_iter()
                    .zip(&numbers)
                    .map(|(word, &number)| (word, u64::from(cells[number as usize])))
                    .collect();
                let capped = expected.iter().map(|(&word, &rows)| (word, rows.min(255)));
                assert_eq!(found, capped.collect());
                let mut once = vec![0; product];
                numbering.count(&words, None, &mut once);
                let distinct: BTreeSet<u64> = words.iter().map(|word| word & mask).collect();
                assert_eq!(once.iter().filter(|&&cell| cell > 0).count(), distinct.len());
            }
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes too long; what is refused reads and writes nothing")]
    fn what_is_too_long_or_overlaps_is_refused() {
        let field = |at: u32, n_bits: u32| Field::new(u64::MAX >> (64 - n_bits) << at, std::iter::once(0));
        assert_eq!(field(0, MOST_BITS + 1), None);
        assert_eq!(Field::new(0b101, std::iter::once(0)), None);
        assert_eq!(Field::new(0b11, std::iter::empty()), None);
        let (low, middle, high) = (field(0, 12).unwrap(), field(12, 12).unwrap(), field(60, 1).unwrap());
        assert!(Numbering::new(&[&low, &middle], 1).is_some());
        assert!(Numbering::new(&[&low, &middle, &high], 1).is_none());
        assert!(Numbering::new(&[&low, &low], 1).is_none());
        let nothing = Field::new(0, std::iter::once(7)).unwrap();
        assert_eq!(Numbering::new(&[&nothing], 1).unwrap().n_numbers(), 1);
        assert_eq!(Numbering::new(&[], 1).unwrap().n_numbers(), 1);
    }
}
