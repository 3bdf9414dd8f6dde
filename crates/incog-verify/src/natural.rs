//! Natural numbers of any size, for the few decisions that 128 bits do not hold.
//!
//! Digits to the base 2³², lowest first, and schoolbook arithmetic: numbers have a few thousand digits at most.

use std::cmp::Ordering;

/// A natural number.
///
/// # Invariants
/// No leading zeros.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Natural(Vec<u32>);

impl Natural {
    fn trimmed(mut digits: Vec<u32>) -> Self {
        while digits.last() == Some(&0) {
            digits.pop();
        }
        Natural(digits)
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn plus(&self, other: &Natural) -> Natural {
        let mut sum = Vec::with_capacity(self.0.len().max(other.0.len()) + 1);
        let mut carry = 0_u64;
        for at in 0..self.0.len().max(other.0.len()) {
            let digit = |number: &Natural| u64::from(number.0.get(at).copied().unwrap_or(0));
            carry += digit(self) + digit(other);
            sum.push(carry as u32);
            carry >>= 32;
        }
        sum.push(carry as u32);
        Natural::trimmed(sum)
    }

    pub(crate) fn times(&self, other: &Natural) -> Natural {
        let mut product = vec![0_u32; self.0.len() + other.0.len()];
        for (at, &digit) in self.0.iter().enumerate() {
            let mut carry = 0_u64;
            for (&by, sum) in other.0.iter().zip(&mut product[at..]) {
                // At most (2³² − 1)² + 2·(2³² − 1) = 2⁶⁴ − 1.
                carry += u64::from(digit) * u64::from(by) + u64::from(*sum);
                *sum = carry as u32;
                carry >>= 32;
            }
            product[at + other.0.len()] = carry as u32;
        }
        Natural::trimmed(product)
    }

    /// Times 2³² for each digit.
    pub(crate) fn shifted(&self, digits: usize) -> Natural {
        Natural::trimmed([vec![0; digits], self.0.clone()].concat())
    }

    /// The quotient, rounded down; the divisor is not 0.
    pub(crate) fn divided_by(&self, divisor: u128) -> Natural {
        let mut quotient = vec![0_u32; self.0.len()];
        let mut rest = 0_u128;
        for (digit, bits) in quotient.iter_mut().zip(&self.0).rev() {
            for bit in (0..u32::BITS).rev() {
                // The rest is below the divisor, so twice the rest is below twice the divisor: one bit of quotient.
                let overflows = rest >> 127 == 1;
                rest = rest << 1 | u128::from(bits >> bit & 1);
                if overflows || rest >= divisor {
                    rest = rest.wrapping_sub(divisor);
                    *digit |= 1 << bit;
                }
            }
        }
        Natural::trimmed(quotient)
    }

    pub(crate) fn power(&self, exponent: u64) -> Natural {
        let mut power = Natural::from(1);
        for bit in (0..u64::BITS - exponent.leading_zeros()).rev() {
            power = power.times(&power);
            if exponent >> bit & 1 == 1 {
                power = power.times(self);
            }
        }
        power
    }
}

impl From<u128> for Natural {
    fn from(number: u128) -> Self {
        Natural::trimmed((0..4).map(|digit| (number >> (32 * digit)) as u32).collect())
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
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn products_and_powers_are_those_of_integers() {
        let mut number = 1_u128;
        for exponent in 0..=27 {
            assert_eq!(Natural::from(25).power(exponent), Natural::from(number), "25^{exponent}");
            number = number.wrapping_mul(25);
        }
        let large = u128::from(u64::MAX);
        assert_eq!(Natural::from(large).times(&Natural::from(large)), Natural::from(large * large));
        assert!(Natural::from(1 << 64) > Natural::from((1 << 64) - 1));
        assert!(Natural::from(7).times(&Natural::from(0)).is_zero());
    }

    proptest! {
        #[test]
        fn sums_shifts_and_quotients_are_those_of_integers(
            a in 0..u128::MAX >> 1,
            b in 0..u128::MAX >> 1,
            shift in 0..128_u32,
            divisor in 1..u128::MAX,
        ) {
            prop_assert_eq!(Natural::from(a).plus(&Natural::from(b)), Natural::from(a + b));
            prop_assert_eq!(
                Natural::from(a).shifted(3),
                Natural::from(a).times(&Natural::from(1 << 96)),
            );
            let small = (divisor >> shift).max(1);
            prop_assert_eq!(Natural::from(a).divided_by(small), Natural::from(a / small));
            // (a·d + r) / d = a, also where the product is wider than 128 bits.
            let product = Natural::from(a).times(&Natural::from(divisor));
            prop_assert_eq!(product.plus(&Natural::from(b % divisor)).divided_by(divisor), Natural::from(a));
        }
    }
}
