//! Decimal numbers, exactly: bounds and steps of intervals must not depend on binary fractions.

use std::cmp::Ordering;
use std::fmt;

/// `digits` / 10^`scale`.
///
/// # Invariants
/// `scale` is at most [`MAX_SCALE`] and `digits` below 10^27 in size, so that sums, comparisons and steps at a
/// common scale fit an `i128`.
#[derive(Debug, Clone, Copy)]
pub struct Decimal {
    digits: i128,
    scale: u32,
}

const MAX_SCALE: u32 = 9;
const MAX_DIGITS: i128 = 1_000_000_000_000_000_000_000_000_000;

impl Decimal {
    /// 0.
    pub const ZERO: Decimal = Decimal { digits: 0, scale: 0 };

    /// A whole number.
    pub fn whole(number: i64) -> Self {
        Decimal { digits: number.into(), scale: 0 }
    }

    /// Reads `-12`, `3.50`, `+7`: digits with at most one point, at most nine of them behind it. No exponent.
    pub fn parse(text: &str) -> Option<Self> {
        let (sign, unsigned) = match text.strip_prefix('-') {
            Some(rest) => (-1, rest),
            None => (1, text.strip_prefix('+').unwrap_or(text)),
        };
        let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
        let all_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || !all_digits(whole) || !all_digits(fraction) || unsigned.ends_with('.') {
            return None;
        }
        let fraction = fraction.trim_end_matches('0');
        if fraction.len() as u32 > MAX_SCALE || whole.len() > 18 {
            return None;
        }
        let digits: i128 = format!("{whole}{fraction}").parse().ok()?;
        (digits < MAX_DIGITS).then_some(Decimal { digits: sign * digits, scale: fraction.len() as u32 })
    }

    /// Is it a whole number?
    pub fn is_whole(self) -> bool {
        self.scale == 0
    }

    /// Is it above zero?
    pub fn is_positive(self) -> bool {
        self.digits > 0
    }

    /// The whole number, if it is one that fits.
    pub fn to_i64(self) -> Option<i64> {
        if self.scale == 0 { self.digits.try_into().ok() } else { None }
    }

    /// The digits at a scale of at least this number's.
    fn at(self, scale: u32) -> i128 {
        self.digits * 10_i128.pow(scale - self.scale)
    }

    fn from_digits(mut digits: i128, mut scale: u32) -> Self {
        while scale > 0 && digits % 10 == 0 {
            digits /= 10;
            scale -= 1;
        }
        Decimal { digits, scale }
    }

    /// The largest `origin` + n · `step` (n whole) that is not above this number. `step` must be positive.
    pub(crate) fn floor_to(self, origin: Decimal, step: Decimal) -> Self {
        let scale = self.scale.max(origin.scale).max(step.scale);
        let (value, origin, step) = (self.at(scale), origin.at(scale), step.at(scale));
        Decimal::from_digits(origin + (value - origin).div_euclid(step) * step, scale)
    }

    /// The sum.
    pub(crate) fn plus(self, other: Decimal) -> Self {
        let scale = self.scale.max(other.scale);
        Decimal::from_digits(self.at(scale) + other.at(scale), scale)
    }

    /// The difference as a whole number, if it is one.
    pub(super) fn whole_minus(self, other: Decimal) -> Option<u64> {
        let scale = self.scale.max(other.scale);
        let difference = Decimal::from_digits(self.at(scale) - other.at(scale), scale);
        if difference.is_whole() { difference.digits.try_into().ok() } else { None }
    }

    /// How many whole steps lie between `origin` and this number, if it is not below `origin` and they can be counted.
    /// `step` must be positive.
    pub(crate) fn steps_from(self, origin: Decimal, step: Decimal) -> Option<u64> {
        let scale = self.scale.max(origin.scale).max(step.scale);
        let distance = self.at(scale) - origin.at(scale);
        if distance < 0 { None } else { u64::try_from(distance / step.at(scale)).ok() }
    }

    /// This number and `n` steps, if that is a number.
    pub(crate) fn plus_steps(self, step: Decimal, n: u64) -> Option<Self> {
        let scale = self.scale.max(step.scale);
        let digits = step.at(scale).checked_mul(n.into())?.checked_add(self.at(scale))?;
        let sum = Decimal::from_digits(digits, scale);
        (sum.digits.abs() < MAX_DIGITS).then_some(sum)
    }

    /// The smallest number above zero with as many digits behind the point.
    pub(crate) fn unit(self) -> Self {
        Decimal { digits: 1, scale: self.scale }
    }

    /// The number so many times.
    pub(crate) fn times(self, n: u32) -> Self {
        Decimal::from_digits(self.digits * i128::from(n), self.scale)
    }

    /// Is it a whole multiple of `step`?
    pub(super) fn is_multiple_of(self, step: Decimal) -> bool {
        let scale = self.scale.max(step.scale);
        self.at(scale) % step.at(scale) == 0
    }
}

impl PartialEq for Decimal {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Decimal {}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        let scale = self.scale.max(other.scale);
        self.at(scale).cmp(&other.at(scale))
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.digits < 0 { "-" } else { "" };
        let (whole, fraction) = {
            let unit = 10_u128.pow(self.scale);
            (self.digits.unsigned_abs() / unit, self.digits.unsigned_abs() % unit)
        };
        if self.scale == 0 {
            write!(f, "{sign}{whole}")
        } else {
            write!(f, "{sign}{whole}.{fraction:0width$}", width = self.scale as usize)
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
        assert_eq!(decimal("3.50"), decimal("3.5"));
        assert_eq!(decimal("-0.07").to_string(), "-0.07");
        assert_eq!(decimal("+007").to_string(), "7");
        assert!(decimal("0.1").plus(decimal("0.2")) == decimal("0.3"), "as floats they differ");
        for text in
            ["", ".", "1.", ".5", "1e3", "1,5", "--1", "0x1", " 1", "1.0000000001", "1234567890123456789"]
        {
            assert!(Decimal::parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn steps_go_down_from_negative_numbers_too() {
        let floor = |value: &str, origin: &str, step: &str| {
            decimal(value).floor_to(decimal(origin), decimal(step)).to_string()
        };
        assert_eq!(floor("37", "0", "5"), "35");
        assert_eq!(floor("35", "0", "5"), "35");
        assert_eq!(floor("-1", "0", "5"), "-5");
        assert_eq!(floor("0.29", "0", "0.1"), "0.2");
        assert_eq!(floor("0.3", "0", "0.1"), "0.3");
        assert_eq!(floor("12", "3", "10"), "3");
        assert!(decimal("20").is_multiple_of(decimal("2.5")) && !decimal("20").is_multiple_of(decimal("3")));
    }
}
