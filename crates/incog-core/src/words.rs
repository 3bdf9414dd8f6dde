//! How are numbers said to people?
//!
//! One thing and several have different names, and a percentage must not contradict the counts behind it: something is never
//! `0.0 %`, not quite all is never `100.0 %`, and two shares that differ are written with as many digits as it takes to see it.
//! Everything is integers.

/// Digits behind the point, at least and at most. With nine of them, any two shares of four billion rows differ.
const DIGITS: std::ops::RangeInclusive<u32> = 1..=9;

/// A number with the name of what is counted: `1 row`, `2 rows`.
pub fn counted(n: u64, one: &str, several: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { several })
}

/// A share as a percentage, `2.2 %`.
pub fn percent(n: u64, of: u64) -> String {
    let [share] = percents([n], of);
    share
}

/// Shares of the same whole, to be read beside each other.
pub fn percents<const N: usize>(counts: [u64; N], of: u64) -> [String; N] {
    for digits in DIGITS {
        let shares = counts.map(|n| rounded(n, of, digits));
        if digits == *DIGITS.end() || are_true(&counts, &shares, of, digits) {
            return shares.map(|share| written(share, digits));
        }
    }
    unreachable!("the last number of digits is always taken")
}

/// A percentage in units of its last digit, rounded half up.
fn rounded(n: u64, of: u64, digits: u32) -> u128 {
    if of == 0 {
        return 0;
    }
    let (n, of, scale) = (u128::from(n), u128::from(of), 100 * 10_u128.pow(digits));
    (2 * n * scale + of) / (2 * of)
}

/// Do rounded shares say nothing that the counts do not?
fn are_true(counts: &[u64], shares: &[u128], of: u64, digits: u32) -> bool {
    let all = 100 * 10_u128.pow(digits);
    let pairs = || counts.iter().zip(shares);
    of == 0
        || pairs().all(|(&n, &share)| (share == 0) == (n == 0) && (share == all) == (n == of))
            && pairs().all(|(n, share)| pairs().all(|(other, others)| (n == other) == (share == others)))
}

fn written(share: u128, digits: u32) -> String {
    let unit = 10_u128.pow(digits);
    format!("{}.{:0width$} %", share / unit, share % unit, width = digits as usize)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn one_thing_and_several_have_their_names() {
        assert_eq!(counted(1, "row", "rows"), "1 row");
        assert_eq!([0, 2].map(|n| counted(n, "class", "classes")), ["0 classes", "2 classes"]);
    }

    #[test]
    fn shares_that_differ_look_different() {
        assert_eq!(percents([100, 104], 10_000), ["1.00 %", "1.04 %"]);
        assert_eq!(percents([100, 101, 9_999], 10_000), ["1.00 %", "1.01 %", "99.99 %"]);
        assert_eq!(percents([116, 676], 3_872), ["3.0 %", "17.5 %"]);
        assert_eq!(percents([0, 1], 1_000_000), ["0.0000 %", "0.0001 %"]);
    }

    #[test]
    fn something_is_not_nothing_and_not_quite_all_is_not_all() {
        assert_eq!(
            (percent(0, 7), percent(7, 7), percent(0, 0)),
            ("0.0 %".into(), "100.0 %".into(), "0.0 %".into())
        );
        assert_eq!((percent(1, 100_000), percent(99_999, 100_000)), ("0.001 %".into(), "99.999 %".into()));
        assert_eq!(percent(1, 3), "33.3 %");
    }

    proptest! {
        #[test]
        fn percentages_are_in_the_order_of_their_counts(of in 1_u64..100_000, a in 0_u64..100_000, b in 0_u64..100_000) {
            let (a, b) = (a % (of + 1), b % (of + 1));
            let number = |text: &str| text.trim_end_matches(" %").parse::<f64>().unwrap();
            let [first, second] = percents([a, b], of);
            prop_assert_eq!(number(&first).partial_cmp(&number(&second)), Some(a.cmp(&b)));
            prop_assert!((number(&first) - 100.0 * a as f64 / of as f64).abs() <= 0.0501);
        }
    }
}
