//! One character after the other replaced by `*`, from the right or from the left.
//!
//! For zip codes and other codes in which a prefix (or suffix) is a region. Any alphabet: characters, not bytes.
//! Values of unequal length are padded to the longest, or to a given length, with a fill character that no value contains, at the end
//! that is masked first, so that equal numbers of characters are hidden at a level: 53715 and 1234 masked twice
//! from the right are `537**` and `123**`.
//!
//! The longest value may be one that nobody should learn of, not even how long it is. A mask can be told which length is enough
//! ([`Mask::with_shared_length`]); longer values then have a branch of their own, like missing ones, and the hierarchy is as
//! high as if they were not there.

use crate::hierarchy::spec::Labels;
use crate::value::Notation;

/// What values are called, once generalized, that are longer than the shared length; if that is a value, it stands in more brackets.
pub const LONGER: &str = "(longer)";

/// Where masking starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MaskFrom {
    /// 53715, 5371*, 537**
    Right,
    /// 53715, *3715, **715
    Left,
}

/// Masks characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mask {
    side: MaskFrom,
    length: Length,
}

/// How many characters values have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Length {
    /// As many as the longest.
    Longest,
    /// At most this number; longer values are an error.
    AtMost(usize),
    /// This number, apart from a few values that are longer.
    Shared(usize),
}

impl Mask {
    /// Masks from this side.
    pub fn new(side: MaskFrom) -> Self {
        Mask { side, length: Length::Longest }
    }

    /// The same for values of at most `length` characters, whatever the longest is: a level then hides the same
    /// characters in every data set.
    #[must_use]
    pub fn with_length(mut self, length: usize) -> Self {
        self.length = Length::AtMost(length);
        self
    }

    /// The same for values of which enough have `length` characters or more: longer ones are [`LONGER`] at every level below the top.
    /// Whether 0 or 1, there is no level in between.
    #[must_use]
    pub fn with_shared_length(mut self, length: usize) -> Self {
        self.length = Length::Shared(length);
        self
    }

    /// The mask for these values. `longer` is what values are called that are longer than the shared length.
    pub(super) fn fitted<'a>(self, values: impl Iterator<Item = &'a str>, longer: String) -> FittedMask {
        let (length, longer) = match self.length {
            Length::Longest => (values.map(|value| value.chars().count()).max().unwrap_or(0), None),
            Length::AtMost(length) => (length, None),
            Length::Shared(length) => (length, Some(longer)),
        };
        FittedMask { side: self.side, length, longer }
    }
}

/// A mask that knows how long values are.
pub(super) struct FittedMask {
    side: MaskFrom,
    length: usize,
    /// What longer values are called, if they are not an error.
    longer: Option<String>,
}

impl Labels for FittedMask {
    fn labels(&self, value: &str, _: &Notation) -> Option<Vec<String>> {
        let characters: Vec<char> = value.chars().collect();
        if characters.len() > self.length {
            return self.longer.as_ref().map(|longer| vec![longer.clone(); self.n_levels()]);
        }
        Some(
            (1..self.length)
                .map(|n_hidden| {
                    // Padding is hidden first; what is left of the value is what more than padding leaves.
                    let n_kept = (self.length - n_hidden).min(characters.len());
                    let stars = "*".repeat(self.length - n_kept);
                    match self.side {
                        MaskFrom::Right => characters[..n_kept].iter().collect::<String>() + &stars,
                        MaskFrom::Left => {
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

    fn kind(&self, _: &Notation) -> String {
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
        let right = Spec::Mask(Mask::new(MaskFrom::Right));
        assert_eq!(
            paths(&right, &["53715", "1234"]).unwrap(),
            [["5371*", "537**", "53***", "5****", "*"], ["1234*", "123**", "12***", "1****", "*"]]
        );
        let left = Spec::Mask(Mask::new(MaskFrom::Left));
        assert_eq!(paths(&left, &["äöü", "b"]).unwrap(), [["*öü", "**ü", "*"], ["**b", "**b", "*"]]);
        assert_eq!(paths(&right, &["x"]).unwrap(), [["*"]]);
    }

    #[test]
    fn a_given_length_hides_the_same_characters_in_every_data_set() {
        let right = Spec::Mask(Mask::new(MaskFrom::Right).with_length(5));
        assert_eq!(paths(&right, &["123"]).unwrap(), [["123**", "123**", "12***", "1****", "*"]]);
        assert!(paths(&right, &["123456"]).is_err(), "longer than said");
    }
    #[test]
    fn values_beyond_the_shared_length_have_a_branch_of_their_own() {
        let shared = |length| Spec::Mask(Mask::new(MaskFrom::Right).with_shared_length(length));
        assert_eq!(
            paths(&shared(3), &["537", "12", "9999999"]).unwrap(),
            [["53*", "5**", "*"], ["12*", "1**", "*"], ["(longer)", "(longer)", "*"]]
        );
        assert_eq!(
            paths(&shared(3), &["537", "12"]),
            paths(&Spec::Mask(Mask::new(MaskFrom::Right)), &["537", "12"])
        );
        for length in [0, 1] {
            assert_eq!(paths(&shared(length), &["537", "1", ""]).unwrap(), [["*"], ["*"], ["*"]]);
        }
        // A value that is called so already, and is long, too.
        let called = paths(&shared(3), &["537", "9999999", "(longer)"]).unwrap();
        assert_eq!(called[1], ["((longer))", "((longer))", "*"]);
        assert_eq!(called[2], called[1]);
    }
}
