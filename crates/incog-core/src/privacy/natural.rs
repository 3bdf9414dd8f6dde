//! Natural numbers of any size: as much of them as comparisons of powers and of sums of fractions take.

use std::cmp::Ordering;

/// A natural number: digits to the base 2⁶⁴, lowest first, the last one not 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Natural(Vec<u64>);

impl Natural {
    /// The product, by long multiplication.
    pub(crate) fn times(&self, other: &Natural) -> Natural {
        let mut digits = vec![0_u64; self.0.len() + other.0.len()];
        for (at, &digit) in self.0.iter().enumerate() {
            let mut carry = 0_u128;
            for (&by, sum) in other.0.iter().zip(&mut digits[at..]) {
                // At most (2⁶⁴ − 1)² + 2·(2⁶⁴ − 1) = 2¹²⁸ − 1.
                carry += u128::from(digit) * u128::from(by) + u128::from(*sum);
                *sum = carry as u64;
                carry >>= 64;
            }
            digits[at + other.0.len()] = carry as u64;
        }
        Natural::trimmed(digits)
    }

    /// The sum.
    pub(crate) fn plus(&self, other: &Natural) -> Natural {
        let mut carry = 0_u128;
        let digit = |number: &Natural, at: usize| u128::from(number.0.get(at).copied().unwrap_or(0));
        let mut digits = Vec::new();
        for at in 0..self.0.len().max(other.0.len()) {
            carry += digit(self, at) + digit(other, at);
            digits.push(carry as u64);
            carry >>= 64;
        }
        digits.push(carry as u64);
        Natural::trimmed(digits)
    }

    /// The number to a power, by squaring.
    pub(super) fn power(&self, exponent: u64) -> Natural {
        let mut power = Natural::from(1_u64);
        for bit in (0..u64::BITS - exponent.leading_zeros()).rev() {
            power = power.times(&power);
            if exponent >> bit & 1 == 1 {
                power = power.times(self);
            }
        }
        power
    }

    fn trimmed(mut digits: Vec<u64>) -> Self {
        while digits.last() == Some(&0) {
            digits.pop();
        }
        Natural(digits)
    }
}

impl From<u64> for Natural {
    fn from(number: u64) -> Self {
        Natural::trimmed(vec![number])
    }
}

impl From<u128> for Natural {
    fn from(number: u128) -> Self {
        Natural::trimmed(vec![number as u64, (number >> 64) as u64])
    }
}

impl Ord for Natural {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.len().cmp(&other.0.len()).then_with(|| self.0.iter().rev().cmp(other.0.iter().rev()))
    }
}

impl PartialOrd for Natural {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_and_powers_are_those_of_integers() {
        let wide = |number: u128| Natural::trimmed(vec![number as u64, (number >> 64) as u64]);
        for base in [0_u64, 1, 2, 7, 25, u64::from(u32::MAX)] {
            let exponents = (0..40).take_while(|&exponent| u128::from(base).checked_pow(exponent).is_some());
            for exponent in exponents {
                let expected = wide(u128::from(base).pow(exponent));
                assert_eq!(Natural::from(base).power(exponent.into()), expected, "{base}^{exponent}");
            }
        }
        let large = u128::from(u64::MAX);
        assert_eq!(Natural::from(u64::MAX).times(&Natural::from(u64::MAX)), wide(large * large));
        assert!(wide(1 << 64) > Natural::from(u64::MAX));
        assert!(wide((1 << 64) + 1) > wide(1 << 64));
        assert_eq!(Natural::from(7_u64).times(&Natural::from(0_u64)), Natural::from(0_u64));
        for (a, b) in [(0, 0), (5, 0), (large, 1), (u128::MAX / 2, u128::MAX / 2), (large << 64, large)] {
            assert_eq!(Natural::from(a).plus(&Natural::from(b)), wide(a + b));
        }
    }
}
