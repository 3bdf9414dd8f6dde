//! Which strings does a column have?
//!
//! All distinct values of a column in one text buffer, numbered in order of first appearance. Most cells of most tables
//! are short: a value of up to 15 bytes is found as a number, its bytes and its length side by side, without a look at the
//! text. Memory: the text once, plus some 50 bytes a value; no allocation per value.

use std::hash::{BuildHasher, Hasher};

use hashbrown::HashTable;

use crate::hash::{Mixer, State};

/// Distinct strings and their codes.
#[derive(Debug, Clone, Default)]
pub struct Dictionary {
    text: String,
    /// Where each value ends in `text`.
    ends: Vec<usize>,
    /// Values of up to 7 bytes.
    short: Words<u64>,
    /// Values of 8 to 15 bytes.
    middle: Words<u128>,
    /// All others.
    long: HashTable<u32>,
    state: State,
}

impl Dictionary {
    /// How many distinct values there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Is there no value at all?
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// About how many bytes it takes.
    pub fn n_bytes(&self) -> u64 {
        let words = size_of_val(self.short.slots.as_slice()) + size_of_val(self.middle.slots.as_slice());
        // Tables of codes have a byte a slot besides, and some slots are free.
        let long = self.long.capacity() * 6;
        (self.text.capacity() + size_of_val(self.ends.as_slice()) + words + long) as u64
    }

    /// The value behind a code.
    ///
    /// # Panics
    /// When the code did not come from this dictionary.
    pub fn value(&self, code: u32) -> &str {
        value(&self.text, &self.ends, code)
    }

    /// All values, in the order of their codes.
    pub fn values(&self) -> impl ExactSizeIterator<Item = &str> {
        (0..self.len()).map(|code| self.value(code as u32))
    }

    /// The code of a value, if it occurs.
    pub fn code(&self, value: &str) -> Option<u32> {
        match Packed::of(value.as_bytes()) {
            Packed::Short(word) => self.short.find(word).ok(),
            Packed::Middle(word) => self.middle.find(word).ok(),
            Packed::Long => {
                self.long.find(hash(&self.state, value), |&code| self.value(code) == value).copied()
            }
        }
    }

    /// The code of a value, new if it has not occurred yet; `None` when there are no codes left.
    #[inline]
    pub fn intern(&mut self, value: &str) -> Option<u32> {
        match Packed::of(value.as_bytes()) {
            Packed::Short(word) => match self.short.find(word) {
                Ok(code) => Some(code),
                Err(slot) => {
                    let code = self.append(value)?;
                    self.short.insert(slot, word, code);
                    Some(code)
                }
            },
            Packed::Middle(word) => match self.middle.find(word) {
                Ok(code) => Some(code),
                Err(slot) => {
                    let code = self.append(value)?;
                    self.middle.insert(slot, word, code);
                    Some(code)
                }
            },
            Packed::Long => {
                if let Some(code) = self.code(value) {
                    return Some(code);
                }
                let code = self.append(value)?;
                let (text, ends, state) = (&self.text, &self.ends, &self.state);
                let hash_of = |&code: &u32| hash(state, self::value(text, ends, code));
                self.long.insert_unique(hash(state, value), code, hash_of);
                Some(code)
            }
        }
    }

    /// The same for a value that stands in a text. That is quicker: 16 bytes are read at once, however long it is.
    ///
    /// # Panics
    /// When there is no such place in the text.
    #[inline]
    pub(super) fn intern_at(&mut self, text: &str, start: usize, end: usize) -> Option<u32> {
        let known = match Packed::at(text.as_bytes(), start, end) {
            Some(Packed::Short(word)) => self.short.find(word).ok(),
            Some(Packed::Middle(word)) => self.middle.find(word).ok(),
            Some(Packed::Long) | None => None,
        };
        match known {
            Some(code) => Some(code),
            None => self.intern(&text[start..end]),
        }
    }

    /// A new code for a value that does not occur.
    fn append(&mut self, value: &str) -> Option<u32> {
        // `u32::MAX` itself stays free, so that a count of codes fits a u32 too.
        let code = u32::try_from(self.len()).ok().filter(|&code| code < NONE)?;
        self.text.push_str(value);
        self.ends.push(self.text.len());
        Some(code)
    }
}

fn value<'a>(text: &'a str, ends: &[usize], code: u32) -> &'a str {
    let code = code as usize;
    let start = if code == 0 { 0 } else { ends[code - 1] };
    &text[start..ends[code]]
}

fn hash(state: &State, value: &str) -> u64 {
    let mut hasher = state.build_hasher();
    hasher.write(value.as_bytes());
    hasher.finish()
}

/// A value as a number: its bytes and, in the highest one, how many they are.
enum Packed {
    Short(u64),
    Middle(u128),
    Long,
}

impl Packed {
    #[inline]
    fn of(bytes: &[u8]) -> Self {
        let n = bytes.len();
        let last = n.wrapping_sub(1);
        match n {
            0 => Packed::Short(0),
            1..=3 => {
                // Of up to three bytes, the first, the middle and the last are all, some of them twice.
                let byte = |at: usize| u64::from(bytes[at]) << (8 * at);
                Packed::Short(byte(0) | byte(n / 2) | byte(last) | (n as u64) << 56)
            }
            4..=7 => {
                // Two words that overlap, and agree where they do.
                let word = |at: usize| {
                    let word: [u8; 4] = bytes[at..at + 4].try_into().expect("four bytes");
                    u64::from(u32::from_le_bytes(word)) << (8 * at)
                };
                Packed::Short(word(0) | word(n - 4) | (n as u64) << 56)
            }
            8..=15 => {
                let word = |at: usize| {
                    let word: [u8; 8] = bytes[at..at + 8].try_into().expect("eight bytes");
                    u128::from(u64::from_le_bytes(word)) << (8 * at)
                };
                Packed::Middle(word(0) | word(n - 8) | (n as u128) << 120)
            }
            _ => Packed::Long,
        }
    }
}

impl Packed {
    /// The same for a value that stands somewhere in a text; `None` if that ends too soon behind it.
    #[inline]
    fn at(text: &[u8], start: usize, end: usize) -> Option<Self> {
        let n = end - start;
        let window: &[u8; 16] = text.get(start..)?.first_chunk()?;
        let word = u128::from_le_bytes(*window);
        Some(match n {
            0..=7 => Packed::Short(word as u64 & !(u64::MAX << (8 * n)) | (n as u64) << 56),
            8..=15 => Packed::Middle(word & !(u128::MAX << (8 * n)) | (n as u128) << 120),
            _ => Packed::Long,
        })
    }
}

/// No code.
const NONE: u32 = u32::MAX;

/// Codes of values that are numbers: a table that is at most half full, searched from where the hash says.
#[derive(Debug, Clone)]
struct Words<W> {
    /// A power of two of slots, or none; free ones have the code [`NONE`].
    slots: Vec<(W, u32)>,
    n_used: usize,
    mixer: Mixer,
}

impl<W> Default for Words<W> {
    fn default() -> Self {
        Words { slots: Vec::new(), n_used: 0, mixer: Mixer::new(SPREAD) }
    }
}

impl<W: Word> Words<W> {
    /// The slot where a word is, or would be.
    #[inline]
    fn slot(&self, word: W) -> usize {
        let last = self.slots.len().wrapping_sub(1);
        let mut at = word.hash(self.mixer) as usize & last;
        while self.slots.get(at).is_some_and(|&(other, code)| code != NONE && other != word) {
            at = (at + 1) & last;
        }
        at
    }

    /// The code of a word, or the slot where it would be.
    #[inline]
    fn find(&self, word: W) -> Result<u32, usize> {
        let slot = self.slot(word);
        match self.slots.get(slot) {
            Some(&(_, code)) if code != NONE => Ok(code),
            _ => Err(slot),
        }
    }

    /// Puts a word where [`find`](Self::find) said.
    fn insert(&mut self, slot: usize, word: W, code: u32) {
        if 2 * (self.n_used + 1) > self.slots.len() {
            self.grow();
            return self.insert(self.slot(word), word, code);
        }
        self.slots[slot] = (word, code);
        self.n_used += 1;
    }

    #[cold]
    fn grow(&mut self) {
        let n_slots = (2 * self.slots.len()).max(16);
        let full = std::mem::replace(&mut self.slots, vec![(W::default(), NONE); n_slots]);
        for (word, code) in full.into_iter().filter(|&(_, code)| code != NONE) {
            let slot = self.slot(word);
            self.slots[slot] = (word, code);
        }
    }
}

#[cfg(test)]
impl<W: Word> Words<W> {
    /// How many slots are looked at to find each value once.
    fn n_looks(&self) -> usize {
        let last = self.slots.len().wrapping_sub(1);
        let looks = |(at, &(word, _)): (usize, &(W, u32))| {
            (at.wrapping_sub(word.hash(self.mixer) as usize & last) & last) + 1
        };
        self.slots.iter().enumerate().filter(|(_, (_, code))| *code != NONE).map(looks).sum()
    }
}

/// A number that is a value.
trait Word: Copy + Default + PartialEq {
    /// Mixes all bits.
    fn hash(self, mixer: Mixer) -> u64;
}

/// Odd, with its bits spread out.
const SPREAD: u64 = 0x9E6C_63D0_876A_68DB;

impl Word for u64 {
    #[inline]
    fn hash(self, mixer: Mixer) -> u64 {
        mixer.word(self)
    }
}

impl Word for u128 {
    #[inline]
    fn hash(self, mixer: Mixer) -> u64 {
        mixer.wide(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All values up to some length that are made of few bytes, so that many are alike but for one byte or for their length.
    #[test]
    fn values_of_every_length_are_told_apart() {
        let letters = ["\0", "a", "é", "\u{FF}"];
        let mut values = vec![String::new()];
        for length in 0..6 {
            let longest: Vec<String> =
                values.iter().filter(|value| value.chars().count() == length).cloned().collect();
            values.extend(longest.iter().flat_map(|value| letters.map(|letter| format!("{value}{letter}"))));
        }
        for n in 0..40 {
            values.extend((0..n).map(|at| format!("{}b{}", "a".repeat(at), "a".repeat(n - at))));
        }
        let (mut dictionary, mut within) = (Dictionary::default(), Dictionary::default());
        let mut expected: std::collections::HashMap<&str, u32> = std::collections::HashMap::new();
        for value in values.iter().chain(&values) {
            let next = expected.len() as u32;
            let code = *expected.entry(value).or_insert(next);
            assert_eq!(dictionary.code(value), (code < next).then_some(code), "{value:?}");
            assert_eq!(dictionary.intern(value), Some(code), "{value:?}");
            assert_eq!(dictionary.value(code), value);
            for behind in ["", "é", "more than enough text behind it"] {
                let text = format!("ä{value}{behind}");
                assert_eq!(dictionary.intern_at(&text, 2, 2 + value.len()), Some(code), "{text:?}");
            }
            let text = format!("{value}, and so on, and so on");
            assert_eq!(within.intern_at(&text, 0, value.len()), Some(code), "{text:?}");
        }
        assert!(expected.len() > 5000);
    }

    /// Values of each length that all fell into one slot when hashes had no seed, in a table of twice as many slots.
    #[test]
    fn values_crafted_against_a_known_hash_are_found_after_a_few_looks() {
        use crate::hash::hostile::{crafted, n_looks};
        const N: usize = 2048;
        let slot = 2 * N as u64 - 1;
        let fold = |word: u64| {
            let product = u128::from(word ^ SPREAD) * u128::from(SPREAD);
            product as u64 ^ (product >> 64) as u64
        };
        let known = |value: &String| match Packed::of(value.as_bytes()) {
            Packed::Short(word) => fold(word),
            Packed::Middle(word) => fold(word as u64).rotate_left(29) ^ fold((word >> 64) as u64),
            Packed::Long => unreachable!("values are short"),
        };
        let short = crafted((0..10_000_000).map(|n| format!("{n:07}")), known, slot, N);
        let middle = crafted((0..10_000_000).map(|n| format!("id-{n:010}")), known, slot, N);
        for values in [&short, &middle] {
            let before = n_looks(values.iter().map(|value| known(value) as usize));
            assert!(before > N * N / 3, "{before} looks: crafted in vain");
        }
        let mut dictionary = Dictionary::default();
        for value in short.iter().chain(&middle) {
            dictionary.intern(value).unwrap();
        }
        let looks = dictionary.short.n_looks() + dictionary.middle.n_looks();
        assert!(looks < 3 * 2 * N, "{looks} looks for {} values", 2 * N);
    }

    #[test]
    fn a_value_gets_the_same_code_each_time_and_is_found_again() {
        let mut dictionary = Dictionary::default();
        for round in 0..2 {
            for n in 0..1000_u32 {
                assert_eq!(dictionary.intern(&n.to_string()), Some(n), "round {round}");
            }
        }
        assert_eq!(dictionary.len(), 1000);
        assert_eq!(dictionary.value(731), "731");
        assert_eq!(dictionary.code("731"), Some(731));
        assert_eq!(dictionary.code("-1"), None);
        assert_eq!(dictionary.values().nth(12), Some("12"));
    }
}
