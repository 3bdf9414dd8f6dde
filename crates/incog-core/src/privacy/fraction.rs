//! Thresholds as exact fractions.
//!
//! As a float, 0.29 of 100 is 28.999…, and 29 of 100 would be too many. A threshold is read as a fraction of whole
//! numbers and compared with counts without rounding: by cross-multiplication where the products fit, else by Euclid's
//! algorithm on both fractions, which forms no product.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};

/// Numerator and denominator are at most this, so that a count of rows times either fits 128 bits.
const MOST: u64 = 1_000_000_000_000_000_000;

/// A fraction that is not negative.
///
/// # Invariants
/// The denominator is not 0, both numbers are at most 10¹⁸ and have no common divisor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fraction {
    numerator: u64,
    denominator: u64,
}

impl Fraction {
    /// One.
    pub const ONE: Fraction = Fraction { numerator: 1, denominator: 1 };

    /// `numerator / denominator`; `None` if that is no number or has more than 18 digits.
    pub fn new(numerator: u64, denominator: u64) -> Option<Self> {
        if denominator == 0 {
            return None;
        }
        let divisor = greatest_common_divisor(numerator, denominator);
        let (numerator, denominator) = (numerator / divisor, denominator / divisor);
        (numerator.max(denominator) <= MOST).then_some(Fraction { numerator, denominator })
    }

    /// The greatest fraction with a power of two below it that is not above a number of at least 0.
    pub(super) fn at_most(number: f64) -> Self {
        let fits = |&power: &i32| number * f64::from(power).exp2() <= MOST as f64;
        let power = (0..60).rev().find(fits).unwrap_or(0);
        let denominator = 1_u64 << power;
        // Multiplying by a power of two is exact.
        let numerator = (number * denominator as f64).floor().clamp(0.0, MOST as f64) as u64;
        Fraction::new(numerator, denominator).unwrap_or(Fraction { numerator: 0, denominator: 1 })
    }

    /// What is divided.
    pub fn numerator(self) -> u64 {
        self.numerator
    }

    /// By what it is divided.
    pub fn denominator(self) -> u64 {
        self.denominator
    }

    /// Is it 0?
    pub fn is_zero(self) -> bool {
        self.numerator == 0
    }

    /// The nearest float, for guesses that integers confirm.
    pub fn to_f64(self) -> f64 {
        self.numerator as f64 / self.denominator as f64
    }

    /// The whole number that it is, if it is one.
    pub fn whole(self) -> Option<u64> {
        (self.denominator == 1).then_some(self.numerator)
    }

    /// One more; at most 18 digits.
    pub(super) fn plus_one(self) -> Self {
        Fraction::new(self.numerator + self.denominator, self.denominator)
            .unwrap_or(Fraction { numerator: MOST, denominator: 1 })
    }

    /// Is `part / of` below, at or above this fraction? `of` is not 0.
    pub(crate) fn compare(self, part: u128, of: u128) -> Ordering {
        debug_assert!(of > 0);
        compare((part, of), (u128::from(self.numerator), u128::from(self.denominator)))
    }
}

impl From<u64> for Fraction {
    fn from(number: u64) -> Self {
        Fraction { numerator: number.min(MOST), denominator: 1 }
    }
}

impl Ord for Fraction {
    fn cmp(&self, other: &Self) -> Ordering {
        other.compare(self.numerator.into(), self.denominator.into())
    }
}

impl PartialOrd for Fraction {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Is `a / b` below, at or above `c / d`? Neither `b` nor `d` is 0.
pub(crate) fn compare((a, b): (u128, u128), (c, d): (u128, u128)) -> Ordering {
    match (a.checked_mul(d), c.checked_mul(b)) {
        (Some(left), Some(right)) => left.cmp(&right),
        _ => compare_by_euclid((a, b), (c, d)),
    }
}

/// Compares whole parts, then the inverses of the rests, and so on.
fn compare_by_euclid((mut a, mut b): (u128, u128), (mut c, mut d): (u128, u128)) -> Ordering {
    loop {
        let wholes = (a / b).cmp(&(c / d));
        let (left, right) = (a % b, c % d);
        if wholes.is_ne() {
            return wholes;
        }
        if left == 0 || right == 0 {
            return left.cmp(&right);
        }
        // left/b < right/d exactly if d/right < b/left.
        (a, b, c, d) = (d, right, b, left);
    }
}

pub(super) fn greatest_common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Reads `0.29`, `29%`, `1/3` and `3`, exactly.
impl FromStr for Fraction {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let fraction = match (text.split_once('/'), text.strip_suffix('%')) {
            (Some((numerator, denominator)), _) => whole(numerator)
                .zip(whole(denominator))
                .and_then(|(numerator, denominator)| Fraction::new(numerator, denominator)),
            (None, Some(percent)) => decimal(percent, 100),
            (None, None) => decimal(text, 1),
        };
        fraction.ok_or_else(|| {
            Error::input("not a number that can be read exactly")
                .with_hint("write 0.29, 29% or 1/3, with at most 18 digits and without a sign")
        })
    }
}

fn whole(digits: &str) -> Option<u64> {
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let digits = digits.trim_start_matches('0');
    match digits.len() {
        _ if !is_number => None,
        0 => Some(0),
        1..=18 => digits.parse().ok(),
        _ => None,
    }
}

/// A decimal number divided by `divisor`.
fn decimal(text: &str, divisor: u64) -> Option<Fraction> {
    let (before, after) = match text.split_once('.') {
        Some((_, "")) => return None,
        Some(parts) => parts,
        None => (text, ""),
    };
    whole(before)?;
    let denominator = 10_u64.checked_pow(u32::try_from(after.len()).ok()?)?.checked_mul(divisor)?;
    Fraction::new(whole(&format!("{before}{after}"))?, denominator)
}

/// As a decimal where that is exact, otherwise as `1/3`.
impl fmt::Display for Fraction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Fraction { numerator, denominator } = *self;
        for digits in 0..=12_usize {
            let power = 10_u64.pow(digits as u32);
            if power.is_multiple_of(denominator) {
                let scaled = u128::from(numerator) * u128::from(power / denominator);
                let (before, after) = (scaled / u128::from(power), scaled % u128::from(power));
                return match digits {
                    0 => write!(f, "{before}"),
                    _ => write!(f, "{before}.{after:0digits$}"),
                };
            }
        }
        write!(f, "{numerator}/{denominator}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fraction(text: &str) -> Fraction {
        text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn numbers_are_read_exactly_and_printed_as_they_are() {
        for (text, numerator, denominator, printed) in [
            ("0.29", 29, 100, "0.29"),
            ("29%", 29, 100, "0.29"),
            ("1/3", 1, 3, "1/3"),
            ("2/6", 1, 3, "1/3"),
            ("3", 3, 1, "3"),
            ("12.5%", 1, 8, "0.125"),
            ("0.000", 0, 1, "0"),
            ("1.05", 21, 20, "1.05"),
            ("0.000000000000000001", 1, 1_000_000_000_000_000_000, "1/1000000000000000000"),
        ] {
            let read = fraction(text);
            assert_eq!((read.numerator(), read.denominator()), (numerator, denominator), "{text}");
            assert_eq!(read.to_string(), printed);
        }
        let long = "0.1234567890123456789";
        for text in ["", ".5", "1.", "-1", "+1", "1/0", "1/", "/2", "a", "1e3", "0,5", "%", "½", " 1", long]
        {
            assert!(text.parse::<Fraction>().is_err(), "{text}");
        }
    }

    #[test]
    fn comparison_never_overflows_and_is_by_cross_multiplication() {
        for (a, b) in (0..9_u128).flat_map(|a| (1..9).map(move |b| (a, b))) {
            for (c, d) in (0..9_u64).flat_map(|c| (1..9).map(move |d| (c, d))) {
                let expected = (a * u128::from(d)).cmp(&(u128::from(c) * b));
                assert_eq!(Fraction::new(c, d).unwrap().compare(a, b), expected, "{a}/{b} {c}/{d}");
                assert_eq!(compare_by_euclid((a, b), (c.into(), d.into())), expected, "{a}/{b} {c}/{d}");
            }
        }
        let third = fraction("1/3");
        assert_eq!(third.compare(u128::MAX / 3, u128::MAX), Ordering::Equal);
        assert_eq!(third.compare(u128::MAX / 3 + 1, u128::MAX), Ordering::Greater);
        assert_eq!(third.compare(u128::MAX / 3 - 1, u128::MAX), Ordering::Less);
    }

    #[test]
    fn a_float_is_rounded_down_and_hardly() {
        for number in [0.0, 1e-9, 0.1, 1.0, 1.1051709180756477, 40_f64.exp(), 3.0] {
            let below = Fraction::at_most(number);
            assert!(below.to_f64() <= number && below.to_f64() >= number * (1.0 - 1e-9), "{number} {below}");
        }
        assert_eq!(Fraction::at_most(1e300), Fraction::from(u64::MAX));
    }
}
