//! Are the values of a group spread evenly enough?
//!
//! Entropy ℓ-diversity (Machanavajjhala et al., ICDE 2006) wants an entropy of at least ln ℓ. With counts c of n rows
//! and ℓ = a/b that is nⁿ·bⁿ ≥ aⁿ·Π cᶜ, in integers.
//!
//! 1. Floats decide where e^entropy and ℓ differ by more than [`MARGIN`]; their error is far below it.
//! 2. Otherwise integers decide, after dividing all counts by their greatest common divisor (which changes no share).
//! 3. If those would have more than [`MAX_BITS`] bits, the group is refused: an error to the safe side.

use crate::Fraction;

const MARGIN: f64 = 1e-9;
const MAX_BITS: f64 = 1e6;

/// e to the entropy of some counts.
pub(crate) fn exp_entropy(counts: impl Iterator<Item = u64> + Clone) -> f64 {
    let size: u64 = counts.clone().sum();
    let share = |n: u64| n as f64 / size as f64;
    counts.map(|n| -share(n) * share(n).ln()).sum::<f64>().exp()
}

/// Is e to the entropy at least `least`? `guess` is what [`exp_entropy`] says.
pub(crate) fn reaches(counts: impl Iterator<Item = u64> + Clone, guess: f64, least: Fraction) -> bool {
    let wanted = least.to_f64();
    if (guess - wanted).abs() > MARGIN * wanted {
        return guess > wanted;
    }
    let divisor = counts.clone().fold(0, greatest_common_divisor);
    let counts = counts.map(|n| n / divisor.max(1));
    let size: u64 = counts.clone().sum();
    let least = least.reduced();
    let bits = |number: u128| 128.0 - f64::from(number.leading_zeros());
    let widest = bits(u128::from(size)) + bits(least.numerator()) + bits(least.denominator());
    if size as f64 * widest > MAX_BITS {
        return false;
    }
    let left = Natural::from(u128::from(size)).times(&Natural::from(least.denominator())).power(size);
    let mut right = Natural::from(least.numerator()).power(size);
    for n in counts {
        right = right.times(&Natural::from(u128::from(n)).power(n));
    }
    left >= right
}

fn greatest_common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// A natural number of any size: digits to the base 2³², lowest first, no leading zeros.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Natural(Vec<u32>);

impl Natural {
    fn trim(&mut self) {
        while self.0.last() == Some(&0) {
            self.0.pop();
        }
    }

    fn times(&self, other: &Natural) -> Natural {
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
        let mut product = Natural(product);
        product.trim();
        product
    }

    fn power(&self, exponent: u64) -> Natural {
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
        let mut natural = Natural((0..4).map(|digit| (number >> (32 * digit)) as u32).collect());
        natural.trim();
        natural
    }
}

impl Ord for Natural {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.len().cmp(&other.0.len()).then_with(|| self.0.iter().rev().cmp(other.0.iter().rev()))
    }
}

impl PartialOrd for Natural {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(counts: &[u64], least: &str) -> bool {
        let counts = counts.iter().copied();
        reaches(counts.clone(), exp_entropy(counts), least.parse().unwrap())
    }

    #[test]
    fn equal_shares_reach_their_number_exactly_and_no_more() {
        for values in 1..40 {
            for n in [1, 3, 1000, 333_333] {
                let counts = vec![n; values];
                assert!(check(&counts, &values.to_string()), "{values} values");
                assert!(!check(&counts, &format!("{values}.0000000000001")), "{values} values");
            }
        }
        assert!(!check(&[3, 2], "2") && check(&[3, 2], "1.9"));
        // Closer to 2 than floats can tell: refused, although the integers would be large.
        assert!(!check(&[5_000_001, 4_999_999], "2"));
        assert!(!check(&[500_010, 499_990], "2"));
    }

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
        assert!(Natural::from(7).times(&Natural::from(0)).0.is_empty());
    }
}
