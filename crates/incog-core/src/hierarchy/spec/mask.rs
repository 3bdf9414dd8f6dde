//! One character after the other replaced by `*`, from the right or from the left.
//!
//! For zip codes and other codes in which a prefix (or suffix) is a region. Any alphabet: characters, not bytes.
//! Values of unequal length are padded to the longest, or to a given length, with a fill character that no value contains, at the end
//! that is masked first, so that equal numbers of characters are hidden at a level: 53715 and 1234 masked twice
//! from the right are `537**` and `123**`.

use crate::hierarchy::spec::Labels;

/// Where masking starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// 53715, 5371*, 537**
    Right,
    /// 53715, *3715, **715
    Left,
}

/// Masks characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mask {
    side: Side,
    length: Option<usize>,
}

impl Mask {
    /// Masks from this side.
    pub fn new(side: Side) -> Self {
        Mask { side, length: None }
    }

    /// The same for values of at most `length` characters, whatever the longest is: a level then hides the same
    /// characters in every data set.
    #[must_use]
    pub fn with_length(mut self, length: usize) -> Self {
        self.length = Some(length);
        self
    }

    /// The mask for these values.
    pub(super) fn fitted<'a>(self, values: impl Iterator<Item = &'a str>) -> FittedMask {
        let longest = || values.map(|value| value.chars().count()).max().unwrap_or(0);
        FittedMask { side: self.side, length: self.length.unwrap_or_else(longest) }
    }
}

/// A mask that knows the longest value.
pub(super) struct FittedMask {
    side: Side,
    length: usize,
}

impl Labels for FittedMask {
    fn labels(&self, value: &str) -> Option<Vec<String>> {
        let characters: Vec<char> = value.chars().collect();
        if characters.len() > self.length {
            return None;
        }
        Some(
            (1..self.length)
                .map(|n_hidden| {
                    // Padding is hidden first; what is left of the value is what more than padding leaves.
                    let n_kept = (self.length - n_hidden).min(characters.len());
                    let stars = "*".repeat(self.length - n_kept);
                    match self.side {
                        Side::Right => characters[..n_kept].iter().collect::<String>() + &stars,
                        Side::Left => {
                            stars + &characters[characters.len() - n_kept..].iter().collect::<String>()
                        }
                    }
                })
                .collect(),
        )
    }

    fn n_levels(&self) -> usize {
        self.length.saturating_sub(1)
    }

    fn kind(&self) -> String {
        format!("text of at most {} characters", self.length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hierarchy::spec::Spec;
    use crate::hierarchy::spec::tests::paths;

    #[test]
    fn characters_disappear_one_by_one() {
        let right = Spec::Mask(Mask::new(Side::Right));
        assert_eq!(
            paths(&right, &["53715", "1234"]).unwrap(),
            [["5371*", "537**", "53***", "5****", "*"], ["1234*", "123**", "12***", "1****", "*"]]
        );
        let left = Spec::Mask(Mask::new(Side::Left));
        assert_eq!(paths(&left, &["äöü", "b"]).unwrap(), [["*öü", "**ü", "*"], ["**b", "**b", "*"]]);
        assert_eq!(paths(&right, &["x"]).unwrap(), [["*"]]);
    }

    #[test]
    fn a_given_length_hides_the_same_characters_in_every_data_set() {
        let right = Spec::Mask(Mask::new(Side::Right).with_length(5));
        assert_eq!(paths(&right, &["123"]).unwrap(), [["123**", "123**", "12***", "1****", "*"]]);
        assert!(paths(&right, &["123456"]).is_err(), "longer than said");
    }
}
