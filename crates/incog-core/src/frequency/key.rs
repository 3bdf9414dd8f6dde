//! The name of a group: the prefix codes of its labels in one bit string.
//!
//! `u64` where the codes fit, `u128` where they do not, and a boxed slice beyond that. All three behave alike
//! (`tests/laws.rs` runs the same tables through each); the wide one is slower.

use std::fmt::Debug;

use crate::frequency::Keys;
use crate::frequency::tally::Word;
use crate::hash::Mixer;

/// A bit string with the few operations that grouping needs. Bit 0 is the least significant.
pub(crate) trait BitKey: Clone + Ord + Debug + Send + Sync + 'static {
    /// `n_bits` zeros.
    fn zeros(n_bits: u32) -> Self;
    /// Sets the bits from `offset` on to `value`; they must be zero before.
    fn put(&mut self, offset: u32, value: u32);
    /// Sets every bit that is set in `other`.
    fn unite(&mut self, other: &Self);
    /// The bits that are also set in `mask`.
    fn masked(&self, mask: &Self) -> Self;
    /// The bits from `offset` on, moved down, that are also set in `mask`.
    fn extract(&self, offset: u32, mask: u32) -> u32;
    /// A hash with all bits well mixed. Keys are dealt out by its low bits, and tables indexed by the high ones.
    fn mix(&self, mixer: Mixer) -> u64;
    /// Calls `visit` with the bits of each key that are set in `mask`, pushed together; some keys at a time. `false` where there is no
    /// quick way to do that.
    fn compress(keys: &[Self], mask: &Self, visit: impl FnMut(&[u32])) -> bool;
    /// The keys as the variant of this type.
    fn wrap(keys: Vec<Self>) -> Keys;
}

/// An odd constant with its bits spread out (2⁶⁴ divided by the golden ratio).
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

/// What keys are mixed by.
pub(crate) fn mixer() -> Mixer {
    Mixer::new(SPREAD)
}

/// Both machine words behave alike but for the mixing of their bits.
macro_rules! key_of_word {
    ($word:ty, $variant:ident, $mix:ident) => {
        impl BitKey for $word {
            fn zeros(_: u32) -> Self {
                0
            }

            fn put(&mut self, offset: u32, value: u32) {
                // An empty field may lie just above the highest bit.
                if value > 0 {
                    *self |= <$word>::from(value) << offset;
                }
            }

            fn unite(&mut self, other: &Self) {
                *self |= other;
            }

            #[inline]
            fn masked(&self, mask: &Self) -> Self {
                self & mask
            }

            #[inline]
            fn extract(&self, offset: u32, mask: u32) -> u32 {
                (self >> offset) as u32 & mask
            }

            #[inline]
            fn mix(&self, mixer: Mixer) -> u64 {
                mixer.$mix(*self)
            }

            fn compress(keys: &[Self], mask: &Self, mut visit: impl FnMut(&[u32])) -> bool {
                Word::compress(keys, *mask, |_, numbers| visit(numbers));
                true
            }

            fn wrap(keys: Vec<Self>) -> Keys {
                Keys::$variant(keys)
            }
        }
    };
}

key_of_word!(u64, U64, word);
key_of_word!(u128, U128, wide);

/// A key of any length, most significant word first so that it sorts like a number.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Wide(Box<[u64]>);

impl Wide {
    fn word_mut(&mut self, word: usize) -> &mut u64 {
        let last = self.0.len() - 1;
        &mut self.0[last - word]
    }

    fn word(&self, word: usize) -> u64 {
        // Reading past the top is reading zeros: a field may end in the last word.
        (self.0.len() - 1).checked_sub(word).map_or(0, |at| self.0[at])
    }
}

impl BitKey for Wide {
    fn zeros(n_bits: u32) -> Self {
        Wide(vec![0; n_bits.div_ceil(64).max(1) as usize].into())
    }

    fn put(&mut self, offset: u32, value: u32) {
        let (word, shift) = ((offset / 64) as usize, offset % 64);
        let spread = u128::from(value) << shift;
        if spread as u64 != 0 {
            *self.word_mut(word) |= spread as u64;
        }
        let carry = (spread >> 64) as u64;
        if carry > 0 {
            *self.word_mut(word + 1) |= carry;
        }
    }

    fn unite(&mut self, other: &Self) {
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            *mine |= theirs;
        }
    }

    fn masked(&self, mask: &Self) -> Self {
        Wide(self.0.iter().zip(&mask.0).map(|(word, mask)| word & mask).collect())
    }

    fn extract(&self, offset: u32, mask: u32) -> u32 {
        let (word, shift) = ((offset / 64) as usize, offset % 64);
        let both = u128::from(self.word(word + 1)) << 64 | u128::from(self.word(word));
        (both >> shift) as u32 & mask
    }

    fn mix(&self, mixer: Mixer) -> u64 {
        mixer.words(&self.0)
    }

    fn compress(_: &[Self], _: &Self, _: impl FnMut(&[u32])) -> bool {
        false
    }

    fn wrap(keys: Vec<Self>) -> Keys {
        Keys::Wide(keys)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Puts the same fields into a key of each type and reads them back.
    fn check<K: BitKey>(fields: &[(u32, u32)]) -> (Vec<u32>, Vec<u32>) {
        let mut key = K::zeros(64);
        let mut mask = K::zeros(64);
        for (at, &(offset, value)) in fields.iter().enumerate() {
            let mut one = K::zeros(64);
            one.put(offset, value);
            key.unite(&one);
            if at % 2 == 0 {
                mask.put(offset, value);
            }
        }
        let read = |key: &K| fields.iter().map(|&(offset, _)| key.extract(offset, 0xFF)).collect();
        (read(&key), read(&key.masked(&mask)))
    }

    #[test]
    fn all_key_types_agree() {
        let fields = [(0, 0x5A), (9, 0xFF), (30, 0x81), (56, 0x7E)];
        let narrow = check::<u64>(&fields);
        assert_eq!(narrow, (vec![0x5A, 0xFF, 0x81, 0x7E], vec![0x5A, 0, 0x81, 0]));
        assert_eq!(check::<u128>(&fields), narrow);
        assert_eq!(check::<Wide>(&fields), narrow);
    }

    #[test]
    fn wide_keys_carry_fields_across_words_and_sort_like_numbers() {
        let mut key = Wide::zeros(200);
        key.put(60, 0xABC);
        key.put(180, 3);
        assert_eq!(key.extract(60, 0xFFF), 0xABC);
        assert_eq!(key.extract(64, 0xFF), 0xAB);
        assert_eq!(key.extract(180, 0xFFFF), 3);
        let mut low = Wide::zeros(200);
        low.put(0, u32::MAX);
        assert!(low < key);
    }

    #[test]
    fn hashes_of_keys_with_cleared_bits_still_differ_at_both_ends() {
        for shift in [0, 8, 24, 40, 56] {
            for (end, down) in [("low", 0), ("high", 52)] {
                let ends: std::collections::BTreeSet<u64> =
                    (0..256_u64).map(|n| (n << shift).mix(mixer()) >> down & 0xFFF).collect();
                assert!(ends.len() > 200, "{} of 256 {end} ends at shift {shift}", ends.len());
            }
        }
    }
}
