//! Is e^x less than y?
//!
//! δ-disclosure and enhanced β-likeness have a logarithm in their thresholds: |ln r| < δ is r < e^δ, and a growth
//! g ≤ −ln p is e^g ≤ 1/p. All of r, δ, g and p are fractions, and e to a fraction other than 0 is irrational
//! (Lambert): the two sides are never equal, so that enough digits always decide.
//!
//! 1. Floats decide where x and ln y differ by more than [`MARGIN`] of either; their error is a few parts in 10¹⁶.
//! 2. Otherwise the series of e^x is summed in fixed point, once rounded down and once up, with 192 bits after the
//!    point, then with more, until y is outside of the two sums.
//! 3. If that takes more than 1,536 bits, nothing is said, and whoever asked has to take it to the safe side.

use std::cmp::Ordering;

use crate::Fraction;
use crate::natural::Natural;

const MARGIN: f64 = 1e-12;

/// Digits of 32 bits after the point.
const PRECISIONS: [usize; 4] = [6, 12, 24, 48];

/// No fraction is greater than e to this: 2¹²⁸ is less than e⁸⁹.
const MAX_EXPONENT: u64 = 89;

/// How e^x compares with y; `None` if that is too close to call.
pub(crate) fn compare_exp(x: Fraction, y: Fraction) -> Option<Ordering> {
    let one = Fraction::from(1);
    if x.numerator() == 0 {
        return Some(one.cmp(&y));
    }
    if y <= one || x >= Fraction::from(MAX_EXPONENT) {
        return Some(Ordering::Greater);
    }
    // ln (a/b) = ln (1 + (a − b)/b), which is as exact near 1 as anywhere.
    let (a, b) = (y.numerator(), y.denominator());
    let logarithm = ((a - b) as f64 / b as f64).ln_1p();
    let exponent = x.to_f64();
    if (exponent - logarithm).abs() > MARGIN * exponent.max(logarithm) {
        return exponent.partial_cmp(&logarithm);
    }
    PRECISIONS.into_iter().find_map(|digits| {
        let (low, high) = exp(x.reduced(), digits);
        let wanted = Natural::from(a).shifted(digits);
        if low.times(&Natural::from(b)) > wanted {
            return Some(Ordering::Greater);
        }
        (high.times(&Natural::from(b)) < wanted).then_some(Ordering::Less)
    })
}

/// Bounds of e^x, times 2³² for each digit after the point.
fn exp(x: Fraction, digits: usize) -> (Natural, Natural) {
    let one = Natural::from(1);
    // The n-th term is the one before times x/n. Rounded down it stays below, and above if 1 is added.
    let next = |term: &Natural, n: u128| {
        term.times(&Natural::from(x.numerator())).divided_by(x.denominator()).divided_by(n)
    };
    let (mut low_term, mut high_term) = (one.shifted(digits), one.shifted(digits));
    let (mut low, mut high) = (low_term.clone(), high_term.clone());
    for n in 1.. {
        low_term = next(&low_term, n);
        high_term = next(&high_term, n).plus(&one);
        low = low.plus(&low_term);
        high = high.plus(&high_term);
        // From n = 2x on each term is at most half the one before: all that follow are at most this one.
        if n >= 2 * u128::from(MAX_EXPONENT) && low_term.is_zero() && high_term == one {
            break;
        }
    }
    (low, high.plus(&one))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn compare(x: &str, y: &str) -> Option<Ordering> {
        compare_exp(x.parse().unwrap(), y.parse().unwrap())
    }

    /// e = 2.71828182845904523536028747135266249…, e² = 7.38905609893065022723042746057500781…, √e = 1.6487212707…
    #[test]
    fn digits_that_no_float_has_decide() {
        for (x, below, above) in [
            ("1", "2.71828182845904523536028747135", "2.71828182845904523536028747136"),
            ("2", "7.38905609893065022723042746057", "7.38905609893065022723042746058"),
            ("1/2", "1.64872127070012814684865078781", "1.64872127070012814684865078782"),
        ] {
            assert_eq!(compare(x, below), Some(Ordering::Greater), "{x}");
            assert_eq!(compare(x, above), Some(Ordering::Less), "{x}");
        }
    }

    #[test]
    fn the_ends_of_the_range_are_decided() {
        assert_eq!(compare("0", "1"), Some(Ordering::Equal));
        assert_eq!(compare("0", "1.1"), Some(Ordering::Less));
        assert_eq!(compare("0.1", "1"), Some(Ordering::Greater));
        assert_eq!(compare("0.1", "0.5"), Some(Ordering::Greater));
        assert_eq!(compare("89", "340282366920938463463374607431"), Some(Ordering::Greater));
        assert_eq!(compare("999999999999", "2"), Some(Ordering::Greater));
        // e^x is more than 1 + x, however small x is; and less than 1 + x + x².
        let (x, tiny) = (Fraction::new(1, 1 << 60).unwrap(), 1 << 60);
        assert_eq!(compare_exp(x, Fraction::new(tiny + 1, tiny).unwrap()), Some(Ordering::Greater));
        assert_eq!(compare_exp(x, Fraction::new(tiny + 2, tiny).unwrap()), Some(Ordering::Less));
        let huge = Fraction::new(u128::MAX - 1, u128::MAX).unwrap();
        assert_eq!(compare_exp(huge, Fraction::new(u128::MAX, 1).unwrap()), Some(Ordering::Less));
    }

    proptest! {
        #[test]
        fn bounds_enclose_the_float_and_are_tight(a in 1..8_000_u64, b in 100..1_000_u64) {
            let x = Fraction::new(a.into(), b.into()).unwrap();
            prop_assume!(x < Fraction::from(MAX_EXPONENT));
            let (low, high) = exp(x.reduced(), 6);
            // As floats: the upper 64 of the 192 bits after the point and all before it, for the small ones.
            prop_assert!(low < high);
            prop_assert!(high.times(&Natural::from(1 << 40)) < low.times(&Natural::from((1 << 40) + 1)));
            let float = (a as f64 / b as f64).exp();
            let scaled = |factor: f64| Natural::from((float * factor * 2_f64.powi(-10)) as u128).shifted(6);
            let divided = |bound: &Natural| bound.divided_by(1 << 10);
            prop_assert!(divided(&low) <= scaled(1.0 + 1e-9).plus(&Natural::from(1).shifted(6)));
            prop_assert!(divided(&high) >= scaled(1.0 - 1e-9));
        }
    }
}
