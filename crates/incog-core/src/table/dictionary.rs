//! Which strings does a column have?
//!
//! All distinct values of a column in one text buffer, numbered in order of first appearance. Memory: the text
//! once, plus some 17 bytes a value; no allocation per value.

use std::hash::BuildHasher;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

/// Distinct strings and their codes.
#[derive(Debug, Clone, Default)]
pub struct Dictionary {
    text: String,
    /// Where each value ends in `text`.
    ends: Vec<usize>,
    index: HashTable<u32>,
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
        self.index.find(hash(value), |&code| self.value(code) == value).copied()
    }

    /// The code of a value, new if it has not occurred yet; `None` when there are no codes left.
    pub fn intern(&mut self, value: &str) -> Option<u32> {
        if let Some(code) = self.code(value) {
            return Some(code);
        }
        // `u32::MAX` itself stays free, so that a count of codes fits a u32 too.
        let code = u32::try_from(self.len()).ok().filter(|&code| code < u32::MAX)?;
        self.text.push_str(value);
        self.ends.push(self.text.len());
        let (text, ends) = (&self.text, &self.ends);
        self.index.insert_unique(hash(value), code, |&code| hash(self::value(text, ends, code)));
        Some(code)
    }
}

fn value<'a>(text: &'a str, ends: &[usize], code: u32) -> &'a str {
    let code = code as usize;
    let start = if code == 0 { 0 } else { ends[code - 1] };
    &text[start..ends[code]]
}

fn hash(value: &str) -> u64 {
    FxBuildHasher.hash_one(value)
}

#[cfg(test)]
mod tests {
    use super::*;

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
