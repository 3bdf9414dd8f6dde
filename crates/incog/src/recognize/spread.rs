//! How are the numbers, dates and codes of a column spread, and which ways to generalize them merge something?
//!
//! A level is worth proposing if it has fewer labels than the one below and more than one: otherwise it is the level below, or `*`, in other
//! words. Widths of intervals follow the middle nine tenths of the rows, so that a single strange value does not set them.
//!
//! **Ranges** are rounded outward until nobody's value is left: numbers to one digit of the larger end, dates and years to decades. Neither end is a
//! value of the column, but for 0. They show impossible values (an age below 900, a birth before 2100) and no cell.

use std::borrow::Cow;

use incog_core::hierarchy::spec::Classification;
use incog_core::value::Notation;

use crate::recognize::profile::ValueKind;
use crate::recognize::values::{Digits, magnitude};

/// Ages are pooled from here on.
pub(super) const TOP_AGE: u32 = 90;
/// Nobody is older.
const OLDEST: f64 = 130.0;

/// What is known of how values are spread.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Spread {
    /// From where to where values lie, rounded outward.
    pub(crate) range: Option<String>,
    /// Round widths by the spread of numbers.
    pub(crate) widths: Vec<String>,
    /// 5, 10 and 20, as far as they merge something below [`TOP_AGE`].
    pub(crate) ages: Vec<String>,
    /// 5, 10 and 20, for years.
    pub(crate) years: Vec<String>,
    /// Calendar units.
    pub(crate) dates: Vec<&'static str>,
    /// How many characters from the right may be masked, where something is merged; and whether all values are equally long.
    pub(crate) mask: Vec<u8>,
    pub(crate) is_even: bool,
    /// Are all numbers such as people's ages can be?
    pub(crate) fits_ages: bool,
    /// Are some of them over 89?
    pub(crate) has_old: bool,
    /// Are all values texts of five digits, such as ZIP codes are?
    pub(crate) is_zip: bool,
    /// The years of the first and the last date, or the first and the last year; 0 where there are none.
    pub(crate) first_year: i64,
    pub(crate) last_year: i64,
    /// Are numbers dense, like those that are counted up for people: every second one from the first to the last is there?
    pub(crate) is_counted_up: bool,
}

impl Spread {
    /// Of distinct values with their numbers of rows.
    pub(super) fn of(kind: ValueKind, values: &[(&str, u64)], digits: Digits, notation: &Notation) -> Self {
        let is_zip = |value: &str| value.len() == 5 && value.bytes().all(|byte| byte.is_ascii_digit());
        let mut spread = Spread {
            is_zip: values.len() >= 3 && values.iter().all(|(value, _)| is_zip(value)),
            ..Spread::default()
        };
        match kind {
            ValueKind::Years | ValueKind::Whole | ValueKind::Decimals => {
                spread.add_numbers(kind, values, notation);
            }
            ValueKind::Dates { times } => spread.add_dates(times, values, notation),
            _ => {}
        }
        if !matches!(
            kind,
            ValueKind::Dates { .. } | ValueKind::Decimals | ValueKind::FreeText | ValueKind::Empty
        ) {
            spread.add_mask(values, digits);
        }
        spread
    }

    fn add_numbers(&mut self, kind: ValueKind, values: &[(&str, u64)], notation: &Notation) {
        let mut numbers: Vec<(f64, u64)> =
            values.iter().filter_map(|(value, n)| Some((magnitude(value, notation)?, *n))).collect();
        numbers.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let (Some(&(least, _)), Some(&(greatest, _))) = (numbers.first(), numbers.last()) else { return };
        let all: Vec<f64> = numbers.iter().map(|(number, _)| *number).collect();
        self.range = if kind == ValueKind::Years {
            decades(least as i64, greatest as i64)
        } else {
            rounded(least, greatest)
        };
        self.fits_ages = least >= 0.0 && greatest <= OLDEST;
        self.has_old = self.fits_ages && greatest >= f64::from(TOP_AGE);
        if kind == ValueKind::Years {
            (self.first_year, self.last_year) = (least as i64, greatest as i64);
        }
        self.is_counted_up =
            kind == ValueKind::Whole && greatest - least + 1.0 <= 2.0 * all.len() as f64 && all.len() >= 20;
        let (low, high) = middle(&numbers);
        let span = if high > low { high - low } else { greatest - least };
        let numbers = if kind == ValueKind::Decimals { Numbers::Decimal } else { Numbers::Whole };
        self.widths = merging(&all, &widths(span, numbers), None);
        let of_years = ["5", "10", "20"].map(str::to_owned);
        self.ages = merging(&all, &of_years, Some(f64::from(TOP_AGE)));
        let n_years = if greatest - least > 15.0 { 3 } else { 2 };
        self.years = merging(&all, &of_years[..n_years], None);
    }

    fn add_dates(&mut self, times: bool, values: &[(&str, u64)], notation: &Notation) {
        let mut days: Vec<(i64, i64)> = Vec::with_capacity(values.len());
        for (value, _) in values {
            if let Some(date) = notation.date_and_time(value) {
                days.push((date.day_number(), i64::from(date.year()) * 12 + i64::from(date.month()) - 1));
            }
        }
        days.sort_unstable();
        let (Some(&(least, first)), Some(&(greatest, last))) = (days.first(), days.last()) else { return };
        self.range = decades(first / 12, last / 12);
        (self.first_year, self.last_year) = (first / 12, last / 12);
        let is_short = greatest - least <= 62;
        let is_long = greatest - least > 15 * 366;
        let mut n_before = values.len();
        let mut add = |unit: &'static str, key: &dyn Fn(&(i64, i64)) -> i64| {
            let n = 1 + days.windows(2).filter(|pair| key(&pair[0]) != key(&pair[1])).count();
            if n < n_before && n > 1 {
                self.dates.push(unit);
                n_before = n;
            }
        };
        if times {
            add("day", &|(day, _)| *day);
        }
        if is_short {
            // Day 0 is a Thursday.
            add("week", &|(day, _)| (day + 3).div_euclid(7));
            return;
        }
        add("month", &|(_, month)| *month);
        add("quarter", &|(_, month)| month / 3);
        add("year", &|(_, month)| month / 12);
        if is_long {
            add("decade", &|(_, month)| month / 120);
        }
    }

    fn add_mask(&mut self, values: &[(&str, u64)], digits: Digits) {
        let values: Vec<Cow<'_, str>> = values.iter().map(|(value, _)| digits.restored(value)).collect();
        let length = values.first().map_or(0, |value| value.len());
        self.is_even = values.iter().all(|value| value.len() == length && value.is_ascii());
        // Of texts of different lengths it is not worked out which levels merge something, but whether one does.
        let longest = values.iter().map(|value| value.chars().count()).max().unwrap_or(0);
        if !(2..=super::propose::MAX_MASKED).contains(&longest) {
            return;
        }
        let mut sorted: Vec<&str> = values.iter().map(|value| &**value).collect();
        sorted.sort_unstable();
        sorted.dedup();
        let mut n_before = sorted.len();
        for masked in 1..longest {
            let keep = longest - masked;
            let prefix = |value: &'_ str| value.char_indices().nth(keep).map_or(value.len(), |(at, _)| at);
            let n = 1 + sorted
                .windows(2)
                .filter(|pair| pair[0][..prefix(pair[0])] != pair[1][..prefix(pair[1])])
                .count();
            if n < n_before && n > 1 {
                self.mask.push(masked as u8);
                n_before = n;
            }
        }
    }
}

/// The levels of a classification that merge something; nothing if it does not cover every value.
pub(super) fn levels(classification: Classification, values: &[(&str, u64)]) -> Option<Vec<u8>> {
    let paths: Vec<Vec<String>> =
        values.iter().map(|(value, _)| classification.labels_of(value)).collect::<Option<_>>()?;
    let mut n_before = values.len();
    let mut levels = Vec::new();
    for level in 0..classification.n_labels() {
        let labels: std::collections::HashSet<&str> = paths.iter().map(|path| path[level].as_str()).collect();
        if labels.len() < n_before && labels.len() > 1 {
            n_before = labels.len();
            levels.push(level as u8 + 1);
        }
    }
    Some(levels)
}

/// Those of some widths, each a multiple of the one before, with which sorted numbers have ever fewer labels, and more than one.
fn merging(sorted: &[f64], widths: &[String], top: Option<f64>) -> Vec<String> {
    let mut n_before = sorted.len();
    let merges = |width: &&String| {
        let Ok(width) = width.parse::<f64>() else { return false };
        let label = |number: f64| match top {
            Some(top) if number >= top => f64::INFINITY,
            _ => (number / width).floor(),
        };
        let n = 1 + sorted.windows(2).filter(|pair| label(pair[0]) != label(pair[1])).count();
        let does = n < n_before && n > 1;
        if does {
            n_before = n;
        }
        does
    };
    widths.iter().filter(merges).cloned().collect()
}

/// Between which numbers the middle nine tenths of the rows lie.
fn middle(sorted: &[(f64, u64)]) -> (f64, f64) {
    let n_rows: u64 = sorted.iter().map(|(_, n)| n).sum();
    let at = |share: u64| {
        let mut below = 0;
        let found = sorted.iter().find(|(_, n)| {
            below += n;
            below * 20 > n_rows * share
        });
        found.or(sorted.last()).map_or(0.0, |(number, _)| *number)
    };
    (at(1), at(19))
}

/// From a number below the least to one above the greatest, both of one digit and as many zeros as the larger has places.
fn rounded(least: f64, greatest: f64) -> Option<String> {
    let largest = least.abs().max(greatest.abs());
    if !largest.is_finite() {
        return None;
    }
    let power = if largest > 0.0 { largest.log10().floor() as i32 } else { 0 };
    let step = 10_f64.powi(power);
    let end = (greatest / step).floor() + 1.0;
    let mut start = (least / step).floor();
    if start * step == least && least != 0.0 {
        start -= 1.0;
    }
    let show = |n: f64| {
        let digits = round_number(n.abs() as u32, power);
        if n < 0.0 { format!("-{digits}") } else { digits }
    };
    Some(format!("from {} to under {}", show(start), show(end)))
}

/// The same for years, by decades.
fn decades(least: i64, greatest: i64) -> Option<String> {
    let start = if least % 10 == 0 { least - 10 } else { least / 10 * 10 };
    Some(format!("from {start} to under {}", greatest / 10 * 10 + 10))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Numbers {
    Whole,
    Decimal,
}

/// Up to three round widths, each a multiple of the one before: the first makes at most some 25 intervals of a span.
fn widths(span: f64, numbers: Numbers) -> Vec<String> {
    // The steps of a decade: 1 5 10, 2 10 20, 5 10 20.
    const STEPS: [[u32; 3]; 3] = [[1, 5, 10], [2, 10, 20], [5, 10, 20]];
    let smallest = if numbers == Numbers::Whole { 0 } else { -9 };
    let first = (smallest..=15_i32)
        .flat_map(|power| STEPS.iter().map(move |steps| (power, steps)))
        .find(|(power, steps)| span <= 25.0 * f64::from(steps[0]) * 10_f64.powi(*power));
    let (power, steps) = first.unwrap_or((15, &STEPS[2]));
    steps
        .iter()
        .filter(|&&step| !(numbers == Numbers::Whole && step == 1 && power == 0))
        // A width beyond the span is the next level's `*` in other words.
        .filter(|&&step| f64::from(step) * 10_f64.powi(power) < span)
        .map(|step| round_number(*step, power))
        .collect()
}

/// `step` times ten to the `power`, in digits.
fn round_number(step: u32, power: i32) -> String {
    let digits = step.to_string();
    if power >= 0 {
        return if step == 0 { digits } else { digits + &"0".repeat(power.unsigned_abs() as usize) };
    }
    let places = power.unsigned_abs() as usize;
    let padded = format!("{digits:0>width$}", width = places + 1);
    let (whole, fraction) = padded.split_at(padded.len() - places);
    let fraction = fraction.trim_end_matches('0');
    if fraction.is_empty() { whole.to_owned() } else { format!("{whole}.{fraction}") }
}

#[cfg(test)]
mod tests {
    use incog_core::hierarchy::spec::{Decimal, IntervalKind, Intervals};

    use super::*;

    #[test]
    fn widths_are_round_nest_and_follow_the_span() {
        let whole = |span| widths(span, Numbers::Whole);
        assert_eq!(whole(73.0), ["5", "10", "20"]);
        assert_eq!(whole(40.0), ["2", "10", "20"]);
        assert_eq!(whole(25.0), ["5", "10"]);
        assert_eq!(whole(4.0), [""; 0]);
        assert_eq!(whole(99_000.0), ["5000", "10000", "20000"]);
        assert_eq!(widths(0.8, Numbers::Decimal), ["0.05", "0.1", "0.2"]);
        assert_eq!(widths(2.0, Numbers::Decimal), ["0.1", "0.5", "1"]);
        for power in -12..19 {
            for factor in [1.0, 1.7, 2.4, 5.5, 9.9] {
                for numbers in [Numbers::Whole, Numbers::Decimal] {
                    let widths = widths(factor * 10_f64.powi(power), numbers);
                    let widths: Vec<Decimal> =
                        widths.iter().map(|width| Decimal::parse(width).unwrap()).collect();
                    if !widths.is_empty() {
                        Intervals::new(IntervalKind::Numbers, widths).unwrap();
                    }
                }
            }
        }
    }

    fn spread(kind: ValueKind, values: &[&str]) -> Spread {
        let values: Vec<(&str, u64)> = values.iter().map(|value| (*value, 1)).collect();
        let digits = Digits::of(&values.iter().map(|(value, _)| *value).collect::<Vec<_>>());
        Spread::of(kind, &values, digits, &Notation::PLAIN)
    }

    #[test]
    fn a_range_contains_every_value_and_is_none() {
        let check = |kind, values: &[&str], range: &str| {
            assert_eq!(spread(kind, values).range.as_deref(), Some(range), "{values:?}");
        };
        check(ValueKind::Whole, &["17", "93"], "from 10 to under 100");
        check(ValueKind::Whole, &["20", "90"], "from 10 to under 100");
        check(ValueKind::Whole, &["0", "999"], "from 0 to under 1000");
        check(ValueKind::Whole, &["0", "0"], "from 0 to under 1");
        check(ValueKind::Whole, &["1000003", "1000004"], "from 1000000 to under 2000000");
        check(ValueKind::Whole, &["-7", "412"], "from -100 to under 500");
        check(ValueKind::Decimals, &["0.034", "0.9"], "from 0 to under 1");
        check(ValueKind::Years, &["1930", "2004"], "from 1920 to under 2010");
        check(ValueKind::Dates { times: false }, &["1931-05-06", "2099-01-01"], "from 1930 to under 2100");
    }

    #[test]
    fn only_levels_that_merge_something_are_kept() {
        let ages: Vec<String> = (20..60).map(|age| age.to_string()).collect();
        let ages: Vec<&str> = ages.iter().map(String::as_str).collect();
        assert_eq!(spread(ValueKind::Whole, &ages).ages, ["5", "10", "20"]);
        assert_eq!(spread(ValueKind::Whole, &["20", "30", "40"]).ages, ["20"]);
        assert_eq!(spread(ValueKind::Whole, &["1", "2", "3"]).ages, [""; 0]);
        let dates = ["2003-04-01", "2003-04-02", "2003-04-12", "2003-04-28"];
        assert_eq!(spread(ValueKind::Dates { times: false }, &dates).dates, ["week"]);
        let dates = ["2003-04-01", "2003-04-02", "2003-11-12", "2004-12-28"];
        assert_eq!(spread(ValueKind::Dates { times: false }, &dates).dates, ["month", "year"]);
        assert_eq!(
            spread(ValueKind::Codes { length: 5 }, &["10110", "10111", "10220", "20330"]).mask,
            [1, 3]
        );
        assert_eq!(spread(ValueKind::Codes { length: 5 }, &["10110", "10111"]).mask, [0; 0]);
        let floats = spread(ValueKind::Whole, &["1067.0", "1069.0", "80331.0"]);
        assert_eq!((floats.mask, floats.is_even), (vec![1], true), "as they are with their zeros");
        assert_eq!(levels(Classification::UsState, &[("TX", 1), ("OK", 1), ("NY", 1)]), Some(vec![1]));
    }

    /// One value far away does not make intervals wide.
    #[test]
    fn widths_follow_the_middle_of_the_rows() {
        let mut values: Vec<(String, u64)> = (0..100).map(|n| (n.to_string(), 10)).collect();
        values.push(("1000000".into(), 1));
        let values: Vec<(&str, u64)> = values.iter().map(|(value, n)| (value.as_str(), *n)).collect();
        let spread = Spread::of(ValueKind::Whole, &values, Digits::Whole, &Notation::PLAIN);
        assert_eq!(spread.widths, ["5", "10", "20"]);
    }
}
