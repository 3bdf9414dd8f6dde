//! Are the values of a group spread evenly enough?
//!
//! Entropy ℓ-diversity (Machanavajjhala et al., ICDE 2006) wants an entropy of at least ln ℓ. With counts c of n rows
//! and ℓ = a/b that is nⁿ·bⁿ ≥ aⁿ·Π cᶜ, in integers.
//!
//! 1. Floats decide where e^entropy and ℓ differ by more than [`MARGIN`]; their error is far below it.
//! 2. Otherwise integers decide, after dividing all counts by their greatest common divisor (which changes no share).
//! 3. If those would have more than [`MAX_BITS`] bits, the group is refused: an error to the safe side.

use crate::Fraction;
use crate::natural::Natural;

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
}
