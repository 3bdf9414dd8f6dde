//! Numbers that are compared exactly.
//!
//! As floats, 29 of 100 is more than 0.29. Fractions are compared by Euclid's algorithm, digit by digit of their
//! continued fractions: no product is formed, so nothing can overflow.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

/// A fraction that is not negative.
///
/// # Invariants
/// The denominator is not 0. Nothing is reduced: 2/4 equals 1/2, but says "2 of 4".
#[derive(Debug, Clone, Copy)]
pub struct Fraction {
    numerator: u128,
    denominator: u128,
}

impl Fraction {
    /// `numerator / denominator`; `None` if that is no number.
    pub fn new(numerator: u128, denominator: u128) -> Option<Self> {
        (denominator > 0).then_some(Fraction { numerator, denominator })
    }

    /// What is divided.
    pub fn numerator(self) -> u128 {
        self.numerator
    }

    /// By what it is divided.
    pub fn denominator(self) -> u128 {
        self.denominator
    }

    /// The nearest float, for printing and for guesses that integers confirm.
    pub fn to_f64(self) -> f64 {
        self.numerator as f64 / self.denominator as f64
    }

    /// The same number with the least denominator.
    pub fn reduced(self) -> Self {
        let divisor = greatest_common_divisor(self.numerator, self.denominator);
        Fraction { numerator: self.numerator / divisor, denominator: self.denominator / divisor }
    }
}

impl From<u64> for Fraction {
    fn from(number: u64) -> Self {
        Fraction { numerator: number.into(), denominator: 1 }
    }
}

fn greatest_common_divisor(mut a: u128, mut b: u128) -> u128 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

impl Ord for Fraction {
    fn cmp(&self, other: &Self) -> Ordering {
        let (mut left, mut right) = (*self, *other);
        let mut swapped = false;
        loop {
            let wholes = (left.numerator / left.denominator).cmp(&(right.numerator / right.denominator));
            let rests = (left.numerator % left.denominator, right.numerator % right.denominator);
            let decided = match (wholes, rests) {
                (Ordering::Equal, (0, 0)) => Some(Ordering::Equal),
                (Ordering::Equal, (0, _)) => Some(Ordering::Less),
                (Ordering::Equal, (_, 0)) => Some(Ordering::Greater),
                (Ordering::Equal, _) => None,
                (different, _) => Some(different),
            };
            if let Some(order) = decided {
                return if swapped { order.reverse() } else { order };
            }
            // Both rests lie between 0 and 1: the one whose inverse is greater is the lesser.
            left = Fraction { numerator: left.denominator, denominator: rests.0 };
            right = Fraction { numerator: right.denominator, denominator: rests.1 };
            swapped = !swapped;
        }
    }
}

impl PartialOrd for Fraction {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Fraction {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Fraction {}

/// Reads `0.29`, `29%`, `1/3` and `3`, exactly.
impl FromStr for Fraction {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let fraction = match text.split_once('/') {
            Some((numerator, denominator)) => whole(numerator)
                .zip(whole(denominator))
                .and_then(|(numerator, denominator)| Fraction::new(numerator, denominator)),
            None => match text.strip_suffix('%') {
                Some(percent) => decimal(percent, 100),
                None => decimal(text, 1),
            },
        };
        fraction
            .map(Fraction::reduced)
            .ok_or_else(|| "not a number like 0.29, 29% or 1/3, of at most 30 digits".to_owned())
    }
}

fn whole(digits: &str) -> Option<u128> {
    let is_number =
        !digits.is_empty() && digits.len() <= 30 && digits.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { digits.parse().ok() } else { None }
}

/// A decimal number divided by `divisor`.
fn decimal(text: &str, divisor: u128) -> Option<Fraction> {
    let (before, after) = match text.split_once('.') {
        Some((before, after)) if !after.is_empty() => (before, after),
        Some(_) => return None,
        None => (text, ""),
    };
    whole(before)?;
    let denominator = 10_u128.checked_pow(after.len() as u32)?.checked_mul(divisor)?;
    Fraction::new(whole(&format!("{before}{after}"))?, denominator)
}

/// As a decimal where that is exact, otherwise as `1/3`.
impl fmt::Display for Fraction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Fraction { numerator, denominator } = self.reduced();
        let mut power = 1_u128;
        for digits in 0..=12 {
            if power.is_multiple_of(denominator) {
                let Some(scaled) = numerator.checked_mul(power / denominator) else {
                    break;
                };
                let (before, after) = (scaled / power, scaled % power);
                return if digits == 0 {
                    write!(f, "{before}")
                } else {
                    write!(f, "{before}.{after:0digits$}")
                };
            }
            power *= 10;
        }
        write!(f, "{numerator}/{denominator}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fraction(text: &str) -> Fraction {
        text.parse().unwrap_or_else(|problem| panic!("{text}: {problem}"))
    }

    #[test]
    fn numbers_are_read_exactly() {
        for (text, numerator, denominator) in
            [("0.29", 29, 100), ("29%", 29, 100), ("1/3", 1, 3), ("3", 3, 1), ("12.5%", 1, 8), ("0.0", 0, 1)]
        {
            let read = fraction(text);
            assert_eq!((read.numerator(), read.denominator()), (numerator, denominator), "{text}");
        }
        for text in
            ["", ".5", "1.", "-1", "+1", "1/0", "1/", "a", "1e3", "0,5", "%", "1.5/2", "½", " 1", "1 %"]
        {
            assert!(text.parse::<Fraction>().is_err(), "{text}");
        }
        assert!("1".repeat(31).parse::<Fraction>().is_err());
        assert!(format!("0.{}", "1".repeat(200)).parse::<Fraction>().is_err());
    }

    #[test]
    fn comparison_is_by_cross_multiplication_and_never_overflows() {
        for (a, b) in (0..12_u128).flat_map(|a| (1..12).map(move |b| (a, b))) {
            for (c, d) in (0..12_u128).flat_map(|c| (1..12).map(move |d| (c, d))) {
                let (left, right) = (Fraction::new(a, b).unwrap(), Fraction::new(c, d).unwrap());
                assert_eq!(left.cmp(&right), (a * d).cmp(&(c * b)), "{a}/{b} {c}/{d}");
            }
        }
        let huge = |less| Fraction::new(u128::MAX - 1 - less, u128::MAX).unwrap();
        assert!(huge(1) < huge(0));
    }

    #[test]
    fn a_fraction_is_printed_exactly() {
        for text in ["0.29", "1/3", "3", "0.125", "0", "1.05"] {
            assert_eq!(fraction(text).to_string(), text);
        }
        assert_eq!(fraction("50%").to_string(), "0.5");
    }
}
