//! Whole numbers of any size, fast where they are small.
//!
//! Nearly all numbers of a table fit 128 bits, and a sum or product of two that do not fit any more is noticed by the checked
//! operation. Only then does it become a large one. A number that fits is never large, so that equal numbers look alike.

use std::cmp::Ordering;
use std::fmt;

use num_bigint::BigInt;

/// A whole number.
///
/// # Invariants
/// `Large` only if it does not fit an `i128`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Integer {
    Small(i128),
    Large(BigInt),
}

use Integer::{Large, Small};

impl Integer {
    pub(super) const ZERO: Integer = Small(0);

    fn of(number: BigInt) -> Self {
        match i128::try_from(&number) {
            Ok(small) => Small(small),
            Err(_) => Large(number),
        }
    }

    fn big(&self) -> BigInt {
        match self {
            Small(small) => BigInt::from(*small),
            Large(large) => large.clone(),
        }
    }

    /// The number that these digits stand for; there is at least one, and nothing else.
    pub(super) fn of_digits(digits: &[u8]) -> Self {
        // 38 digits fit 128 bits.
        if digits.len() <= 38 {
            return Small(digits.iter().fold(0, |number, digit| number * 10 + i128::from(digit - b'0')));
        }
        BigInt::parse_bytes(digits, 10).map_or(Integer::ZERO, Integer::of)
    }

    /// Ten to the power of `n`.
    pub(super) fn ten_to(n: u32) -> Self {
        10_i128.checked_pow(n).map_or_else(|| Large(BigInt::from(10).pow(n)), Small)
    }

    /// Times ten to the power of `n`.
    pub(super) fn shifted(&self, n: u32) -> Self {
        if n == 0 { self.clone() } else { self.times(&Integer::ten_to(n)) }
    }

    pub(super) fn negated(&self) -> Self {
        match self {
            Small(small) if *small != i128::MIN => Small(-small),
            _ => Integer::of(-self.big()),
        }
    }

    pub(super) fn plus(&self, other: &Integer) -> Self {
        if let (Small(a), Small(b)) = (self, other)
            && let Some(sum) = a.checked_add(*b)
        {
            return Small(sum);
        }
        Integer::of(self.big() + other.big())
    }

    pub(super) fn minus(&self, other: &Integer) -> Self {
        if let (Small(a), Small(b)) = (self, other)
            && let Some(difference) = a.checked_sub(*b)
        {
            return Small(difference);
        }
        Integer::of(self.big() - other.big())
    }

    pub(super) fn times(&self, other: &Integer) -> Self {
        if let (Small(a), Small(b)) = (self, other)
            && let Some(product) = a.checked_mul(*b)
        {
            return Small(product);
        }
        Integer::of(self.big() * other.big())
    }

    /// The quotient, rounded down, and what is left; the divisor is positive.
    pub(super) fn divided_by(&self, divisor: &Integer) -> (Self, Self) {
        if let (Small(a), Small(b)) = (self, divisor) {
            return (Small(a.div_euclid(*b)), Small(a.rem_euclid(*b)));
        }
        let (number, divisor) = (self.big(), divisor.big());
        let (mut quotient, mut left) = (&number / &divisor, &number % &divisor);
        if left < BigInt::ZERO {
            quotient -= 1;
            left += divisor;
        }
        (Integer::of(quotient), Integer::of(left))
    }

    pub(super) fn is_zero(&self) -> bool {
        matches!(self, Small(0))
    }

    pub(super) fn is_negative(&self) -> bool {
        *self < Integer::ZERO
    }

    pub(super) fn to_i64(&self) -> Option<i64> {
        if let Small(small) = self { i64::try_from(*small).ok() } else { None }
    }

    pub(super) fn to_u64(&self) -> Option<u64> {
        if let Small(small) = self { u64::try_from(*small).ok() } else { None }
    }
}

impl From<i64> for Integer {
    fn from(number: i64) -> Self {
        Small(number.into())
    }
}

impl From<u64> for Integer {
    fn from(number: u64) -> Self {
        Small(number.into())
    }
}

impl Ord for Integer {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Small(a), Small(b)) => a.cmp(b),
            (Large(a), Large(b)) => a.cmp(b),
            // A large one is beyond all small ones, on one side or the other.
            (Large(a), Small(_)) => a.cmp(&BigInt::ZERO),
            (Small(_), Large(b)) => BigInt::ZERO.cmp(b),
        }
    }
}

impl PartialOrd for Integer {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Integer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Small(small) => small.fmt(f),
            Large(large) => large.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers around the ends of 128 bits, as both kinds of arithmetic have them.
    #[test]
    fn small_and_large_numbers_are_one_arithmetic() {
        let edge = BigInt::from(2).pow(127);
        let mut numbers: Vec<BigInt> = vec![BigInt::ZERO, BigInt::from(7), BigInt::from(-7)];
        for near in -2..=2 {
            numbers.extend([&edge + near, -&edge + near, &edge * 3 + near]);
        }
        for a in &numbers {
            for b in &numbers {
                let (x, y) = (Integer::of(a.clone()), Integer::of(b.clone()));
                assert_eq!(x.plus(&y), Integer::of(a + b));
                assert_eq!(x.minus(&y), Integer::of(a - b));
                assert_eq!(x.times(&y), Integer::of(a * b));
                assert_eq!(x.cmp(&y), a.cmp(b));
                if *b > BigInt::ZERO {
                    let (quotient, left) = x.divided_by(&y);
                    assert!(left >= Integer::ZERO && left < y);
                    assert_eq!(quotient.times(&y).plus(&left), x);
                }
            }
            assert_eq!(Integer::of(a.clone()).negated(), Integer::of(-a));
            assert_eq!(Integer::of(a.clone()).to_string(), a.to_string());
        }
    }

    #[test]
    fn digits_are_read_whatever_their_number() {
        for n in [1, 18, 38, 39, 40, 100] {
            let digits = "9".repeat(n);
            assert_eq!(Integer::of_digits(digits.as_bytes()).to_string(), digits);
            assert_eq!(Integer::ten_to(n as u32).minus(&Small(1)).to_string(), digits);
        }
        assert_eq!(Integer::of_digits(b"000"), Integer::ZERO);
    }
}
