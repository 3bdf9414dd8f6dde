//! How far is a group from the whole release, where values have an order?
//!
//! The earth mover's distance with ordered distances (Li, Li, Venkatasubramanian, ICDE 2007): with the values in
//! order, neighbours are 1/(m−1) apart, and the distance is the sum of the absolute running differences, over m − 1.
//! Only values that occur in the release have a place.
//!
//! The order is that of a list, or of decimal numbers, exactly; texts of one number (`1`, `1.0`) are one value then. A
//! running difference is N·C − n·P over n·N, with C and P the rows up to a value in the group and in the release. Between
//! two values of the group C stays and P grows, so that a binary search finds where the sign changes: a group costs as
//! much as it has values, not as the column has.

use std::cmp::Ordering;

use crate::Fraction;
use crate::hash;

/// The values of a column, in order.
pub(crate) struct Ranks {
    /// The place of each value that occurs.
    of_value: Vec<usize>,
    /// Rows up to each place.
    up_to: Vec<u128>,
    /// Sums of `up_to` before each place, and before the end.
    sums: Vec<u128>,
}

impl Ranks {
    /// In the order of numbers; `None` if a value that occurs is not a decimal number.
    pub(crate) fn of_numbers(labels: &[&str], overall: &[u64]) -> Option<Self> {
        let numbers: Vec<(Decimal<'_>, usize)> = occurring(labels, overall)
            .map(|(value, label)| Decimal::parse(label).map(|number| (number, value)))
            .collect::<Option<_>>()?;
        Some(Ranks::new(numbers, overall))
    }

    /// In the order of a list, which may have values that do not occur. What is wrong with it otherwise.
    pub(crate) fn of_list(list: &[String], labels: &[&str], overall: &[u64]) -> Result<Self, String> {
        let values: hash::Map<&str, usize> =
            occurring(labels, overall).map(|(value, label)| (label, value)).collect();
        let listed: Vec<(usize, usize)> = list
            .iter()
            .enumerate()
            .filter_map(|(place, value)| values.get(value.as_str()).map(|&value| (place, value)))
            .collect();
        let mut places = vec![None; labels.len()];
        for &(place, value) in &listed {
            if let Some(before) = places[value].replace(place) {
                return Err(format!("entries {} and {} of the order are the same", before + 1, place + 1));
            }
        }
        if listed.len() < values.len() {
            return Err(format!("{} values are not in the order", values.len() - listed.len()));
        }
        Ok(Ranks::new(listed, overall))
    }

    fn new<P: Ord>(mut placed: Vec<(P, usize)>, overall: &[u64]) -> Self {
        placed.sort_unstable();
        let mut ranks = Ranks { of_value: vec![0; overall.len()], up_to: Vec::new(), sums: vec![0] };
        let mut rows = 0;
        for (at, (place, value)) in placed.iter().enumerate() {
            if at > 0 && placed[at - 1].0 == *place {
                ranks.up_to.pop();
            }
            rows += u128::from(overall[*value]);
            ranks.of_value[*value] = ranks.up_to.len();
            ranks.up_to.push(rows);
        }
        let mut sum = 0;
        for rows in &ranks.up_to {
            sum += rows;
            ranks.sums.push(sum);
        }
        ranks
    }

    /// The distance of a group with these values and counts.
    pub(crate) fn distance(&self, counts: &[(u32, u64)]) -> Fraction {
        let mut places: Vec<(usize, u64)> =
            counts.iter().map(|&(value, n)| (self.of_value[value as usize], n)).collect();
        places.sort_unstable();
        let size: u128 = counts.iter().map(|&(_, n)| u128::from(n)).sum();
        let all = self.up_to.last().copied().unwrap_or(0);
        let mut distance = 0;
        let (mut from, mut here) = (0, 0_u128);
        for &(place, n) in &places {
            distance += self.stretch(from, place, here, size, all);
            from = place;
            here += u128::from(n);
        }
        distance += self.stretch(from, self.up_to.len(), here, size, all);
        let steps = self.up_to.len().saturating_sub(1).max(1) as u128;
        Fraction::new(distance, steps * size * all).unwrap_or(Fraction::from(0))
    }

    /// The sum of |all·here − size·up_to| over the places `from..to`.
    fn stretch(&self, from: usize, to: usize, here: u128, size: u128, all: u128) -> u128 {
        let level = all * here;
        let split = from + self.up_to[from..to].partition_point(|&rows| size * rows <= level);
        let below = level * (split - from) as u128 - size * (self.sums[split] - self.sums[from]);
        let above = size * (self.sums[to] - self.sums[split]) - level * (to - split) as u128;
        below + above
    }
}

/// The values that occur, and their labels.
fn occurring<'a>(labels: &'a [&'a str], overall: &'a [u64]) -> impl Iterator<Item = (usize, &'a str)> {
    labels.iter().copied().enumerate().filter(|&(value, _)| overall[value] > 0)
}

/// A decimal number, as written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Decimal<'a> {
    negative: bool,
    /// Without leading zeros.
    whole: &'a str,
    /// Without trailing zeros.
    part: &'a str,
}

impl<'a> Decimal<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let (negative, digits) = match text.strip_prefix('-') {
            Some(digits) => (true, digits),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
        let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if whole.len() + part.len() == 0 || !is_digits(whole) || !is_digits(part) {
            return None;
        }
        let (whole, part) = (whole.trim_start_matches('0'), part.trim_end_matches('0'));
        Some(Decimal { negative: negative && whole.len() + part.len() > 0, whole, part })
    }
}

impl Ord for Decimal<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        let size = || {
            let wholes = self.whole.len().cmp(&other.whole.len()).then_with(|| self.whole.cmp(other.whole));
            wholes.then_with(|| self.part.cmp(other.part))
        };
        match (self.negative, other.negative) {
            (false, true) => Ordering::Greater,
            (true, false) => Ordering::Less,
            (false, false) => size(),
            (true, true) => size().reverse(),
        }
    }
}

impl PartialOrd for Decimal<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_ordered_as_numbers() {
        let ascending =
            ["-10.5", "-10", "-9", "-0.01", "0", "0.001", "0.01", "0.1", "1", "1.5", "9", "10", "10.5"];
        for (at, left) in ascending.iter().enumerate() {
            for (other, right) in ascending.iter().enumerate() {
                let order = Decimal::parse(left).unwrap().cmp(&Decimal::parse(right).unwrap());
                assert_eq!(order, at.cmp(&other), "{left} {right}");
            }
        }
        for (left, right) in [("-0", "0"), ("007", "7.00"), (".5", "0.50"), ("+1", "1."), ("-0.0", "0")] {
            assert_eq!(Decimal::parse(left), Decimal::parse(right), "{left} {right}");
        }
        for text in ["", "-", ".", "1e3", "1 ", "a", "--1", "1.2.3", "١"] {
            assert_eq!(Decimal::parse(text), None, "{text}");
        }
    }

    /// Li et al., ICDE 2007, section 4: salaries 3k to 11k; 6k, 8k, 11k is nearer to all than 3k, 4k, 5k.
    #[test]
    fn the_distances_of_the_paper_are_found() {
        let labels: Vec<String> = (3..12).map(|salary| (salary * 1000).to_string()).collect();
        let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
        let ranks = Ranks::of_numbers(&labels, &[1; 9]).unwrap();
        assert_eq!(ranks.distance(&[(0, 1), (1, 1), (2, 1)]), Fraction::new(3, 8).unwrap());
        assert_eq!(ranks.distance(&[(3, 1), (5, 1), (8, 1)]), Fraction::new(1, 6).unwrap());
        let same = Ranks::of_numbers(&["1", "1.0", "x"], &[1, 1, 0]).unwrap();
        assert_eq!(same.distance(&[(0, 1)]), Fraction::from(0), "one number, written in two ways");
        assert!(Ranks::of_numbers(&["1", "x"], &[1, 1]).is_none());
    }

    #[test]
    fn a_list_orders_what_numbers_do_not() {
        let list = |entries: &str| -> Vec<String> { entries.split(' ').map(str::to_owned).collect() };
        let labels = ["high", "low", "never", "middle"];
        let ranks = Ranks::of_list(&list("low unseen middle unseen high"), &labels, &[1, 1, 0, 1]).unwrap();
        // All of it from low: a third by 1/2, a third by 1.
        assert_eq!(ranks.distance(&[(1, 1)]), Fraction::new(1, 2).unwrap());
        assert_eq!(ranks.distance(&[(3, 1)]), Fraction::new(1, 3).unwrap());
        let problem = |entries: &str| Ranks::of_list(&list(entries), &labels, &[1, 1, 0, 1]).err();
        assert_eq!(problem("low high").unwrap(), "1 values are not in the order");
        assert_eq!(problem("low middle high low").unwrap(), "entries 1 and 4 of the order are the same");
    }
}
