//! Sums of fractions, compared exactly.
//!
//! Numbers of 128 bits do where weights are short. Otherwise numbers grow as far as they must: weights of 0.1 have 53 bits, and those of
//! 10⁻⁹ and 10⁹ beside each other lie 60 bits apart.

use std::cmp::Ordering;

use crate::privacy::natural::Natural;

/// Is a sum of fractions below, at or above zero? `None` if the numbers do not fit.
fn sign_of_sum(terms: impl Iterator<Item = (i128, u128)>) -> Option<Ordering> {
    let (mut sum, mut of) = (0_i128, 1_i128);
    for (part, divisor) in terms {
        if part == 0 {
            continue;
        }
        let divisor = i128::try_from(divisor).ok()?;
        let common = gcd(of, divisor);
        let (mine, others) = (of / common, divisor / common);
        sum = sum.checked_mul(others)?.checked_add(part.checked_mul(mine)?)?;
        of = of.checked_mul(others)?;
    }
    Some(sum.cmp(&0))
}

fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Compares two weighted sums of fractions, term by term: for each weight the two numerators and their common
/// divisor.
pub(super) fn compare_sums(weights: &[u128], term: impl Fn(usize) -> (u128, u128, u128)) -> Ordering {
    let terms: Vec<(u128, u128, u128)> = (0..weights.len()).map(term).collect();
    let difference = |(&weight, &(a, b, divisor)): (&u128, &(u128, u128, u128))| {
        let difference = i128::try_from(a).ok()?.checked_sub(i128::try_from(b).ok()?)?;
        Some((difference.checked_mul(i128::try_from(weight).ok()?)?, divisor))
    };
    let short: Option<Vec<(i128, u128)>> = weights.iter().zip(&terms).map(difference).collect();
    short.and_then(|terms| sign_of_sum(terms.into_iter())).unwrap_or_else(|| compare_long(weights, &terms))
}

/// The same whatever the size of the numbers: both sums times all divisors.
fn compare_long(weights: &[u128], terms: &[(u128, u128, u128)]) -> Ordering {
    let mut divisors: Vec<u128> = terms.iter().map(|&(_, _, divisor)| divisor).collect();
    divisors.sort_unstable();
    divisors.dedup();
    let nothing = Natural::from(0_u64);
    let (mut first, mut second) = (nothing.clone(), nothing);
    for (&weight, &(a, b, divisor)) in weights.iter().zip(terms) {
        let others = divisors.iter().filter(|&&other| other != divisor);
        let share = others.fold(Natural::from(weight), |share, &other| share.times(&Natural::from(other)));
        // What both have alike says nothing.
        let alike = a.min(b);
        first = first.plus(&share.times(&Natural::from(a - alike)));
        second = second.plus(&share.times(&Natural::from(b - alike)));
    }
    first.cmp(&second)
}

/// Weights as whole numbers in exactly the same proportion. They must be 0 or lie not too far apart.
pub(super) fn whole_weights(weights: &[f64]) -> Vec<u128> {
    // A float is a whole number of up to 53 bits times a power of two.
    let parts = |&weight: &f64| {
        let bits = weight.to_bits();
        let (exponent, digits) = ((bits >> 52 & 0x7FF) as i32, bits & ((1 << 52) - 1));
        let digits = if exponent == 0 { digits } else { digits | 1 << 52 };
        let n_zeros = if digits == 0 { 0 } else { digits.trailing_zeros() };
        (digits >> n_zeros, exponent.max(1) + n_zeros as i32)
    };
    let parts: Vec<(u64, i32)> = weights.iter().map(parts).collect();
    let least = parts.iter().filter(|(digits, _)| *digits > 0).map(|&(_, power)| power).min().unwrap_or(0);
    let whole = |&(digits, power): &(u64, i32)| match digits {
        0 => 0,
        digits => u128::from(digits) << (power - least),
    };
    parts.iter().map(whole).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thirds_and_sevenths_cancel_exactly() {
        let sign = |terms: &[(i128, u128)]| sign_of_sum(terms.iter().copied());
        assert_eq!(sign(&[(1, 3), (1, 3), (1, 3), (-1, 1)]), Some(Ordering::Equal));
        assert_eq!(sign(&[(1, 3), (-2, 6), (1, 1_000_000_007)]), Some(Ordering::Greater));
        assert_eq!(sign(&[(-1, 7), (1, 8)]), Some(Ordering::Less));
        assert_eq!(sign(&[]), Some(Ordering::Equal));
        assert_eq!(sign(&[(i128::MAX, 3), (i128::MAX, 5)]), None);
    }

    #[test]
    fn weights_count() {
        // 2 * 1/3 + 1 * 2/3 against 2 * 2/3 + 1 * 0/3.
        let terms = [(1, 2, 3), (2, 0, 3)];
        assert_eq!(compare_sums(&[2, 1], |at| terms[at]), Ordering::Equal);
        assert_eq!(compare_sums(&[3, 1], |at| terms[at]), Ordering::Less);
        // However large they are.
        for huge in [1 << 70, 1 << 110] {
            assert_eq!(compare_sums(&[2 * huge, huge], |at| terms[at]), Ordering::Equal);
            assert_eq!(compare_sums(&[2 * huge + 1, huge], |at| terms[at]), Ordering::Less);
            assert_eq!(compare_sums(&[2 * huge - 1, huge], |at| terms[at]), Ordering::Greater);
        }
    }

    #[test]
    fn weights_become_whole_numbers_in_the_same_proportion() {
        assert_eq!(whole_weights(&[1.0, 0.0, 2.5, 0.25]), [4, 0, 10, 1]);
        assert_eq!(whole_weights(&[0.1, 0.1]), whole_weights(&[0.1, 0.1]));
        let [tenth, one] = whole_weights(&[0.1, 1.0])[..] else { panic!("two weights") };
        assert_eq!(tenth as f64 / one as f64, 0.1);
        let [least, most] = whole_weights(&[1e-9, 1e9])[..] else { panic!("two weights") };
        assert_eq!((least as f64 / most as f64, least > 1 << 50), (1e-18, true));
        assert_eq!(whole_weights(&[0.0, 0.0]), [0, 0]);
    }
}
