//! Decimal numbers, exactly: bounds and steps of intervals must not depend on binary fractions.
//!
//! `46.074175824175`, `1e5`, `.5`, `5.` and whole numbers of 25 digits are numbers. Two texts of one number (`34`, `34.0`, `3.4e1`) are
//! equal. A number has at most [`MOST_DIGITS`] digits, written out: `1e999999999` is a text and not a gigabyte of zeros.
//!
//! Cost: sums and comparisons of numbers whose digits fit 128 bits take no memory.

use std::cmp::Ordering;
use std::fmt;

use super::integer::Integer;

/// A number with more digits, before and behind the point together, is not read.
pub const MOST_DIGITS: usize = 10_000;

/// Zeros that an exponent may add to the digits that are written. (The floats of 64 bits need 324.)
const MOST_ZEROS: i64 = 1_000;

/// `digits` / 10^`scale`.
///
/// # Invariants
/// `scale` is 0, or the last of `digits` is not 0. So equal numbers have equal parts.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Decimal {
    digits: Integer,
    scale: u32,
}

impl Decimal {
    /// 0.
    pub const ZERO: Decimal = Decimal { digits: Integer::ZERO, scale: 0 };

    /// A whole number.
    pub fn whole(number: i64) -> Self {
        Decimal { digits: number.into(), scale: 0 }
    }

    /// Reads `-12`, `3.50`, `+7`, `.5`, `5.`, `1e5`, `1.5E-3`: digits with at most one point, and an exponent behind them.
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        let (is_negative, unsigned) = match bytes.first()? {
            b'-' => (true, &bytes[1..]),
            b'+' => (false, &bytes[1..]),
            _ => (false, bytes),
        };
        if unsigned.len() > MOST_DIGITS {
            return None;
        }
        let end = unsigned.iter().position(|byte| matches!(byte, b'e' | b'E'));
        let (written, exponent) = match end {
            None => (unsigned, 0),
            Some(end) => (&unsigned[..end], exponent(&unsigned[end + 1..])?),
        };
        let point = written.iter().position(|&byte| byte == b'.');
        let (whole, part) = match point {
            None => (written, &[][..]),
            Some(point) => (&written[..point], &written[point + 1..]),
        };
        let all_digits = |bytes: &[u8]| bytes.iter().all(u8::is_ascii_digit);
        if whole.len() + part.len() == 0 || !all_digits(whole) || !all_digits(part) {
            return None;
        }
        // Zeros at either end are no digits.
        let n_zeros = whole.iter().take_while(|&&byte| byte == b'0').count();
        let whole = &whole[n_zeros..];
        let n_digits = part.len() - part.iter().rev().take_while(|&&byte| byte == b'0').count();
        let part = &part[..n_digits];
        let digits = match (whole.len(), part.len()) {
            (0, 0) => return Some(Decimal::ZERO),
            (_, 0) => Integer::of_digits(whole),
            (0, _) => Integer::of_digits(part),
            _ => Integer::of_digits(&[whole, part].concat()),
        };
        let digits = if is_negative { digits.negated() } else { digits };
        let scale = part.len() as i64 - exponent;
        if scale < 0 {
            return Some(Decimal { digits: digits.shifted(u32::try_from(-scale).ok()?), scale: 0 });
        }
        Some(Decimal::of(digits, u32::try_from(scale).ok()?))
    }

    fn of(mut digits: Integer, mut scale: u32) -> Self {
        let ten = Integer::from(10_u64);
        while scale > 0 {
            let (tenth, left) = digits.divided_by(&ten);
            if !left.is_zero() {
                break;
            }
            digits = tenth;
            scale -= 1;
        }
        Decimal { digits, scale }
    }

    /// Is it a whole number?
    pub fn is_whole(&self) -> bool {
        self.scale == 0
    }

    /// Is it above zero?
    pub fn is_positive(&self) -> bool {
        self.digits > Integer::ZERO
    }

    /// The whole number, if it is one that fits.
    pub fn to_i64(&self) -> Option<i64> {
        if self.scale == 0 { self.digits.to_i64() } else { None }
    }

    /// The digits at a scale of at least this number's.
    fn at(&self, scale: u32) -> Integer {
        self.digits.shifted(scale - self.scale)
    }

    /// The digits at any scale, rounded down. What lies on multiples of that scale's unit does not notice.
    fn floor_at(&self, scale: u32) -> Integer {
        match self.scale.checked_sub(scale) {
            None | Some(0) => self.at(scale),
            Some(n_behind) => self.digits.divided_by(&Integer::ten_to(n_behind)).0,
        }
    }

    /// The largest `origin` + n · `step` (n whole) that is not above this number. `step` must be positive.
    pub(crate) fn floor_to(&self, origin: &Decimal, step: &Decimal) -> Self {
        let scale = origin.scale.max(step.scale);
        let (value, origin, step) = (self.floor_at(scale), origin.at(scale), step.at(scale));
        let (steps, _) = value.minus(&origin).divided_by(&step);
        Decimal::of(origin.plus(&steps.times(&step)), scale)
    }

    /// The sum.
    pub(crate) fn plus(&self, other: &Decimal) -> Self {
        let scale = self.scale.max(other.scale);
        Decimal::of(self.at(scale).plus(&other.at(scale)), scale)
    }

    /// The difference.
    pub(crate) fn minus(&self, other: &Decimal) -> Self {
        let scale = self.scale.max(other.scale);
        Decimal::of(self.at(scale).minus(&other.at(scale)), scale)
    }

    /// The difference as a whole number, if it is one that can be counted.
    pub(crate) fn whole_minus(&self, other: &Decimal) -> Option<u64> {
        let difference = self.minus(other);
        if difference.is_whole() { difference.digits.to_u64() } else { None }
    }

    /// How many whole steps lie between `origin` and this number, if it is not below `origin` and they can be counted.
    /// `step` must be positive.
    pub(crate) fn steps_from(&self, origin: &Decimal, step: &Decimal) -> Option<u64> {
        let scale = origin.scale.max(step.scale);
        let distance = self.floor_at(scale).minus(&origin.at(scale));
        if distance.is_negative() { None } else { distance.divided_by(&step.at(scale)).0.to_u64() }
    }

    /// This number and `n` steps.
    pub(crate) fn plus_steps(&self, step: &Decimal, n: u64) -> Self {
        let scale = self.scale.max(step.scale);
        Decimal::of(self.at(scale).plus(&step.at(scale).times(&n.into())), scale)
    }

    /// The smallest number above zero with as many digits behind the point.
    pub(crate) fn unit(&self) -> Self {
        Decimal { digits: Integer::from(1_u64), scale: self.scale }
    }

    /// The number multiplied by `n`.
    pub(crate) fn times(&self, n: u32) -> Self {
        Decimal::of(self.digits.times(&u64::from(n).into()), self.scale)
    }

    /// Is it a whole multiple of `step`?
    pub(crate) fn is_multiple_of(&self, step: &Decimal) -> bool {
        let scale = self.scale.max(step.scale);
        self.at(scale).divided_by(&step.at(scale)).1.is_zero()
    }
}

/// Reads `5`, `-3`, `+12` behind an `e`, unless it would make too many zeros.
fn exponent(bytes: &[u8]) -> Option<i64> {
    let (sign, digits) = match bytes.first()? {
        b'-' => (-1, &bytes[1..]),
        b'+' => (1, &bytes[1..]),
        _ => (1, bytes),
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let number = digits
        .iter()
        .fold(0_i64, |number, digit| (number * 10 + i64::from(digit - b'0')).min(MOST_ZEROS + 1));
    (number <= MOST_ZEROS).then_some(sign * number)
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        if self.scale == other.scale {
            return self.digits.cmp(&other.digits);
        }
        let scale = self.scale.max(other.scale);
        self.at(scale).cmp(&other.at(scale))
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.scale == 0 {
            return self.digits.fmt(f);
        }
        let digits = self.digits.to_string();
        let (sign, digits) = digits.strip_prefix('-').map_or(("", digits.as_str()), |digits| ("-", digits));
        let scale = self.scale as usize;
        match digits.len().checked_sub(scale) {
            None | Some(0) => write!(f, "{sign}0.{digits:0>scale$}"),
            Some(point) => write!(f, "{sign}{}.{}", &digits[..point], &digits[point..]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(text: &str) -> Decimal {
        Decimal::parse(text).unwrap()
    }

    #[test]
    fn numbers_are_read_exactly_and_nothing_else_is() {
        for (text, shown) in [
            ("3.50", "3.5"),
            ("-0.07", "-0.07"),
            ("+007", "7"),
            (".5", "0.5"),
            ("5.", "5"),
            ("-.25", "-0.25"),
            ("1e5", "100000"),
            ("1.5E-3", "0.0015"),
            ("150e-2", "1.5"),
            ("12.5e+1", "125"),
            ("-0.0", "0"),
            ("0e7", "0"),
            ("0.000e-900", "0"),
            ("46.074175824175", "46.074175824175"),
            ("1234567890123456789012345", "1234567890123456789012345"),
            (
                "-0.000000000000000000000000000000000000000000012",
                "-0.000000000000000000000000000000000000000000012",
            ),
            ("1.0000000001", "1.0000000001"),
            ("5e-324", &format!("0.{}5", "0".repeat(323))),
            ("1e300", &format!("1{}", "0".repeat(300))),
        ] {
            assert_eq!(decimal(text).to_string(), shown, "{text}");
            assert_eq!(decimal(shown), decimal(text), "{text}");
        }
        assert!(decimal("0.1").plus(&decimal("0.2")) == decimal("0.3"), "as floats they differ");
        let long = "9".repeat(MOST_DIGITS + 1);
        for text in [
            "",
            ".",
            "-",
            "+",
            "e5",
            "1e",
            "1e+",
            "1e5.",
            "1e1e1",
            ".e1",
            "1,5",
            "--1",
            "+-1",
            "0x1",
            " 1",
            "1 ",
            "1.2.3",
            "١",
            "NaN",
            "inf",
            "1e1001",
            "1e-1001",
            "1e99999999999999999999",
            &long,
        ] {
            assert!(Decimal::parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn numbers_of_any_length_are_in_order() {
        let ascending = [
            "-1e300",
            "-99999999999999999999999999999999999999999",
            "-10.5",
            "-10",
            "-0.01",
            "0",
            "5e-324",
            "0.1",
            "0.10000000000000000000000000000000000000000001",
            "1",
            "1.5",
            "12345678901234567890",
            "99999999999999999999999999999999999999999",
            "1e300",
        ];
        for (at, left) in ascending.iter().enumerate() {
            for (other, right) in ascending.iter().enumerate() {
                assert_eq!(decimal(left).cmp(&decimal(right)), at.cmp(&other), "{left} {right}");
            }
        }
    }

    #[test]
    fn steps_go_down_from_negative_numbers_too() {
        let floor = |value: &str, origin: &str, step: &str| {
            decimal(value).floor_to(&decimal(origin), &decimal(step)).to_string()
        };
        assert_eq!(floor("37", "0", "5"), "35");
        assert_eq!(floor("35", "0", "5"), "35");
        assert_eq!(floor("-1", "0", "5"), "-5");
        assert_eq!(floor("0.29", "0", "0.1"), "0.2");
        assert_eq!(floor("0.3", "0", "0.1"), "0.3");
        assert_eq!(floor("12", "3", "10"), "3");
        assert_eq!(floor("46.074175824175", "0", "0.05"), "46.05");
        assert_eq!(floor("1234567890123456789012345", "0", "1000"), "1234567890123456789012000");
        assert_eq!(floor("-1e40", "0", "3"), "-10000000000000000000000000000000000000002");
        assert!(
            decimal("20").is_multiple_of(&decimal("2.5")) && !decimal("20").is_multiple_of(&decimal("3"))
        );
    }
}
