//! Sums of fractions, compared exactly.

use std::cmp::Ordering;

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
/// divisor. `None` if the numbers do not fit.
pub(super) fn compare_sums(weights: &[u64], term: impl Fn(usize) -> (u128, u128, u128)) -> Option<Ordering> {
    let difference = |(at, &weight): (usize, &u64)| {
        let (a, b, divisor) = term(at);
        let difference = i128::try_from(a).ok()?.checked_sub(i128::try_from(b).ok()?)?;
        Some((difference.checked_mul(i128::from(weight))?, divisor))
    };
    let terms: Option<Vec<(i128, u128)>> = weights.iter().enumerate().map(difference).collect();
    sign_of_sum(terms?.into_iter())
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
        assert_eq!(compare_sums(&[2, 1], |at| terms[at]), Some(Ordering::Equal));
        assert_eq!(compare_sums(&[3, 1], |at| terms[at]), Some(Ordering::Less));
    }
}
