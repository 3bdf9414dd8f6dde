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

use crate::Fraction;
use crate::hash;
use crate::words::counted;
use crate::written::{Number, Style};

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
    pub(crate) fn of_numbers(labels: &[&str], overall: &[u64], style: &Style) -> Option<Self> {
        let numbers: Vec<(Number, usize)> = occurring(labels, overall)
            .map(|(value, label)| style.number(label).map(|number| (number, value)))
            .collect::<Option<_>>()?;
        Some(Ranks::new(numbers, overall))
    }

    /// In the order of a list, which may have values that do not occur. Where all values are numbers, one may be written otherwise than
    /// in the list. What is wrong with it otherwise.
    pub(crate) fn of_list(
        list: &[String],
        labels: &[&str],
        overall: &[u64],
        style: &Style,
    ) -> Result<Self, String> {
        let mut values: hash::Map<&str, usize> =
            occurring(labels, overall).map(|(value, label)| (label, value)).collect();
        let otherwise = written_otherwise(list, labels, overall, style);
        // Several spellings of one number stand at one place.
        let mut twins: Vec<(usize, usize)> = Vec::new();
        for (value, place) in otherwise {
            values.remove(labels[value]);
            twins.push((place, value));
        }
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
            return Err(format!(
                "{} not in the order",
                counted((values.len() - listed.len()) as u64, "value is", "values are")
            ));
        }
        Ok(Ranks::new([listed, twins].concat(), overall))
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

/// Values that occur and are not in the list, each with the place of the only entry that is the same number; none unless all values
/// are numbers.
fn written_otherwise(
    list: &[String],
    labels: &[&str],
    overall: &[u64],
    style: &Style,
) -> Vec<(usize, usize)> {
    let listed: hash::Set<&str> = list.iter().map(String::as_str).collect();
    if occurring(labels, overall).all(|(_, label)| listed.contains(label)) {
        return Vec::new();
    }
    let mut others = Vec::new();
    for (value, label) in occurring(labels, overall) {
        match style.number(label) {
            None if label.is_empty() => {}
            None => return Vec::new(),
            Some(number) if !listed.contains(label) => others.push((value, number)),
            Some(_) => {}
        }
    }
    let mut places: hash::Map<Number, Option<usize>> = hash::Map::default();
    for (place, entry) in list.iter().enumerate() {
        if let Some(number) = style.number(entry).or_else(|| Number::read(entry)) {
            places.entry(number).and_modify(|place| *place = None).or_insert(Some(place));
        }
    }
    others.into_iter().filter_map(|(value, number)| Some((value, (*places.get(&number)?)?))).collect()
}

/// The values that occur, and their labels.
fn occurring<'a>(labels: &'a [&'a str], overall: &'a [u64]) -> impl Iterator<Item = (usize, &'a str)> {
    labels.iter().copied().enumerate().filter(|&(value, _)| overall[value] > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Li et al., ICDE 2007, section 4: salaries 3k to 11k; 6k, 8k, 11k is nearer to all than 3k, 4k, 5k.
    #[test]
    fn the_distances_of_the_paper_are_found() {
        let labels: Vec<String> = (3..12).map(|salary| (salary * 1000).to_string()).collect();
        let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
        let ranks = Ranks::of_numbers(&labels, &[1; 9], &Style::default()).unwrap();
        assert_eq!(ranks.distance(&[(0, 1), (1, 1), (2, 1)]), Fraction::new(3, 8).unwrap());
        assert_eq!(ranks.distance(&[(3, 1), (5, 1), (8, 1)]), Fraction::new(1, 6).unwrap());
        let same = Ranks::of_numbers(&["1", "1.0", "x"], &[1, 1, 0], &Style::default()).unwrap();
        assert_eq!(same.distance(&[(0, 1)]), Fraction::from(0), "one number, written in two ways");
        assert!(Ranks::of_numbers(&["1", "x"], &[1, 1], &Style::default()).is_none());
        let comma = Style { decimal: ',', ..Style::default() };
        let commas = Ranks::of_numbers(&["1,5", "2", "1e1"], &[1, 1, 1], &comma).unwrap();
        assert_eq!(commas.of_value, [0, 1, 2]);
        let listed = ["3", "2", "1"].map(str::to_owned);
        let floats = Ranks::of_list(&listed, &["1.0", "2", "3.0"], &[1, 1, 1], &Style::default()).unwrap();
        assert_eq!(floats.of_value, [2, 1, 0], "whole floats are whole numbers of the list");
        assert!(Ranks::of_list(&listed, &["1.0", "x"], &[1, 1], &Style::default()).is_err());
    }

    #[test]
    fn a_list_orders_what_numbers_do_not() {
        let list = |entries: &str| -> Vec<String> { entries.split(' ').map(str::to_owned).collect() };
        let labels = ["high", "low", "never", "middle"];
        let ranks =
            Ranks::of_list(&list("low unseen middle unseen high"), &labels, &[1, 1, 0, 1], &Style::default())
                .unwrap();
        // All of it from low: a third by 1/2, a third by 1.
        assert_eq!(ranks.distance(&[(1, 1)]), Fraction::new(1, 2).unwrap());
        assert_eq!(ranks.distance(&[(3, 1)]), Fraction::new(1, 3).unwrap());
        let problem =
            |entries: &str| Ranks::of_list(&list(entries), &labels, &[1, 1, 0, 1], &Style::default()).err();
        assert_eq!(problem("low high").unwrap(), "1 value is not in the order");
        assert_eq!(problem("low middle high low").unwrap(), "entries 1 and 4 of the order are the same");
    }
}
