//! Sums of fractions, compared exactly.

use std::cmp::Ordering;

/// Is a sum of weighted fractions below, at or above zero? `None` if the numbers do not fit.
pub(super) fn sign_of_sum(terms: impl Iterator<Item = (i128, u128)>) -> Option<Ordering> {
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

/// The difference of two products, if it fits.
pub(super) fn weighted_difference(weight: u64, a: u128, b: u128) -> Option<i128> {
    let difference = i128::try_from(a).ok()?.checked_sub(i128::try_from(b).ok()?)?;
    difference.checked_mul(i128::from(weight))
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
}
