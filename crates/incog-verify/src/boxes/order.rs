//! What does a label of an ordered column mean, and might it be written there?
//!
//! | label | stands for |
//! |---|---|
//! | `[20, 30)`, `[2003-04-10, 2003-05-08)` | numbers or dates from the first up to but not including the second |
//! | `37`, `2003-04-17` | this number, in any spelling, or day |
//! | `low..mid` | categories from the first to the second, both included |
//! | `low` | this category |
//! | empty | the missing value |
//! | `*` | everything, and the missing value |
//!
//! Ends must be on the grid: multiples of the step, or bounds. A single number is an interval too, one unit wide, and
//! its ends are judged like any others; so `30` is refused where the step is 10. A unit is 1 in the last decimal place
//! that the column's values, step or bounds have, a day for dates.

use super::numbers::{ONE, date, end_of_days, number};
use crate::OrderClaim;
use crate::hash;

const EVERYTHING: &str = "*";
const DOTS: &str = "..";

/// What a label means. Positions are billionths, days, or places among the categories.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    Everything,
    Missing,
    Single(i128),
    /// From the first up to but not including the second, which is greater.
    Interval(i128, i128),
    /// Nothing that can be read.
    Unknown,
}

/// An order that could be read.
pub(super) enum Order<'a> {
    Grid(Grid),
    Categories(hash::Map<&'a str, i128>),
}

pub(super) struct Grid {
    is_dates: bool,
    /// Above 0.
    step: i128,
    unit: i128,
    bounds: Option<(i128, i128)>,
}

impl<'a> Order<'a> {
    /// Reads a claim about a column with these values. Fails with what is wrong.
    pub(super) fn new(claim: &'a OrderClaim, values: &[&str]) -> Result<Self, &'static str> {
        match claim {
            OrderClaim::Numbers { step, bounds } => {
                let step = number(step).filter(|&step| step > 0).ok_or("the step is not a number above 0")?;
                let bounds = read_bounds(bounds.as_ref(), number)?;
                let of_bounds = bounds.iter().flat_map(|&(least, end)| [least, end]);
                let all = values.iter().filter_map(|value| number(value)).chain(of_bounds).chain([step]);
                Ok(Order::Grid(Grid { is_dates: false, step, unit: unit(all), bounds }))
            }
            OrderClaim::Dates { step, bounds } => {
                if *step == 0 {
                    return Err("the step is not a number of days above 0");
                }
                let bounds = read_bounds(bounds.as_ref(), date)?;
                Ok(Order::Grid(Grid { is_dates: true, step: i128::from(*step), unit: 1, bounds }))
            }
            OrderClaim::Categories(categories) => {
                let mut places = hash::Map::default();
                for (place, category) in categories.iter().enumerate() {
                    if category.is_empty() || category == EVERYTHING || category.contains(DOTS) {
                        return Err(
                            "a category is empty, `*` or contains `..`, which mean something in labels",
                        );
                    }
                    if places.insert(category.as_str(), place as i128).is_some() {
                        return Err("a category stands there twice");
                    }
                }
                Ok(Order::Categories(places))
            }
        }
    }

    /// Where a value stands that is not missing.
    pub(super) fn position(&self, value: &str) -> Option<i128> {
        match self {
            Order::Grid(grid) => grid.position(value),
            Order::Categories(places) => places.get(value).copied(),
        }
    }

    pub(super) fn meaning(&self, label: &str) -> Meaning {
        if label.is_empty() {
            return Meaning::Missing;
        }
        if label == EVERYTHING {
            return Meaning::Everything;
        }
        if let Some(position) = self.position(label) {
            return Meaning::Single(position);
        }
        let ends = match self {
            Order::Grid(grid) => grid.ends(label),
            Order::Categories(places) => range(label, places),
        };
        ends.filter(|(start, end)| start < end)
            .map_or(Meaning::Unknown, |(start, end)| Meaning::Interval(start, end))
    }

    /// Might a label with this meaning be written?
    pub(super) fn allows(&self, meaning: Meaning) -> bool {
        match (self, meaning) {
            (_, Meaning::Everything | Meaning::Missing) => true,
            (_, Meaning::Unknown) => false,
            (Order::Categories(_), _) => true,
            (Order::Grid(grid), Meaning::Single(position)) => grid.allows(position, position + grid.unit),
            (Order::Grid(grid), Meaning::Interval(start, end)) => grid.allows(start, end),
        }
    }
}

impl Grid {
    fn position(&self, value: &str) -> Option<i128> {
        if self.is_dates { date(value) } else { number(value) }
    }

    /// Reads `[a, b)`.
    fn ends(&self, label: &str) -> Option<(i128, i128)> {
        let (start, end) = label.strip_prefix('[')?.strip_suffix(')')?.split_once(", ")?;
        let read = if self.is_dates { end_of_days } else { number };
        Some((read(start)?, read(end)?))
    }

    fn allows(&self, start: i128, end: i128) -> bool {
        let is_end =
            |end: i128| end % self.step == 0 || self.bounds.is_some_and(|(a, b)| end == a || end == b);
        let is_within = self.bounds.is_none_or(|(least, last)| least <= start && end <= last);
        is_end(start) && is_end(end) && is_within
    }
}

/// 1 in the last decimal place that any of the numbers has.
fn unit(numbers: impl Iterator<Item = i128>) -> i128 {
    numbers.fold(ONE, |mut unit, number| {
        while number % unit != 0 {
            unit /= 10;
        }
        unit
    })
}

fn read_bounds(
    bounds: Option<&[String; 2]>,
    read: fn(&str) -> Option<i128>,
) -> Result<Option<(i128, i128)>, &'static str> {
    let Some([least, end]) = bounds else { return Ok(None) };
    match (read(least), read(end)) {
        (Some(least), Some(end)) if least < end => Ok(Some((least, end))),
        (Some(_), Some(_)) => Err("the lower bound is not below the upper one"),
        _ => Err("a bound cannot be read"),
    }
}

/// Reads `low..high` with two different categories, if there is one way to read it. (With categories `a`, `a.`, `.b` and
/// `b` there are two for `a...b`.)
fn range(label: &str, places: &hash::Map<&str, i128>) -> Option<(i128, i128)> {
    // Both bytes are ASCII, so that labels are cut between characters.
    let dots = label.as_bytes().windows(2).enumerate().filter(|(_, bytes)| *bytes == DOTS.as_bytes());
    let mut readings = dots.filter_map(|(at, _)| {
        let (low, high) = (places.get(&label[..at])?, places.get(&label[at + 2..])?);
        (low < high).then_some((*low, *high + 1))
    });
    let first = readings.next()?;
    readings.next().is_none().then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(step: &str, bounds: Option<[&str; 2]>) -> OrderClaim {
        OrderClaim::Numbers { step: step.into(), bounds: bounds.map(|bounds| bounds.map(str::to_owned)) }
    }

    fn dates(step: u64, bounds: Option<[&str; 2]>) -> OrderClaim {
        OrderClaim::Dates { step, bounds: bounds.map(|bounds| bounds.map(str::to_owned)) }
    }

    fn categories(names: &[&str]) -> OrderClaim {
        OrderClaim::Categories(names.iter().map(|&name| name.to_owned()).collect())
    }

    /// Which of the labels may be written.
    fn check(claim: &OrderClaim, values: &[&str], allowed: &[&str], refused: &[&str]) {
        let order = Order::new(claim, values).unwrap_or_else(|problem| panic!("{problem}"));
        let allows = |label: &&&str| order.allows(order.meaning(label));
        assert_eq!(allowed.iter().find(|label| !allows(label)), None, "must be allowed");
        assert_eq!(refused.iter().find(allows), None, "must be refused");
    }

    #[test]
    fn every_kind_of_label_has_its_meaning() {
        let claim = numbers("10", None);
        let order = Order::new(&claim, &[]).unwrap_or_else(|problem| panic!("{problem}"));
        assert_eq!(order.meaning("[20, 30)"), Meaning::Interval(20 * ONE, 30 * ONE));
        assert_eq!(order.meaning("[-0.5, +3)"), Meaning::Interval(-ONE / 2, 3 * ONE));
        assert_eq!(order.meaning("037"), Meaning::Single(37 * ONE));
        assert_eq!((order.meaning(""), order.meaning("*")), (Meaning::Missing, Meaning::Everything));
        let claim = dates(28, None);
        let order = Order::new(&claim, &[]).unwrap_or_else(|problem| panic!("{problem}"));
        assert_eq!(order.meaning("[1970-01-01, 1970-01-29)"), Meaning::Interval(0, 28));
        assert_eq!(order.meaning("1970-01-02"), Meaning::Single(1));
        assert_eq!(order.meaning("37"), Meaning::Unknown);
        let claim = categories(&["low", "mid", "high"]);
        let order = Order::new(&claim, &[]).unwrap_or_else(|problem| panic!("{problem}"));
        assert_eq!(order.meaning("low..mid"), Meaning::Interval(0, 2));
        assert_eq!(order.meaning("high"), Meaning::Single(2));
    }

    #[test]
    fn what_is_no_label_is_not_read() {
        let huge = "9".repeat(40);
        let huge = format!("[1, {huge})");
        let (number, date) = (numbers("1", None), dates(1, None));
        let category = categories(&["low", "mid", "é", "[1, 2)"]);
        for claim in [&number, &date, &category] {
            let order = Order::new(claim, &[]).unwrap_or_else(|problem| panic!("{problem}"));
            for label in [
                "[",
                "[1, 2",
                "[2, 1)",
                "[1, 1)",
                "[1, 2) ",
                " [1, 2)",
                "[1,2)",
                "[1, 2]",
                "(1, 2)",
                "[, )",
                "[1, 2, 3)",
                "1..",
                "..",
                "..1",
                "...",
                "low..",
                "..low",
                "low..low",
                "mid..low",
                "low...mid",
                "low..mid..é",
                "low..ü",
                "é.",
                "[é, ü)",
                "[٣, ٤)",
                "**",
                "* ",
                " ",
                "[1970-01-01, 2)",
                "[1970-01-02, 1970-01-01)",
                &huge,
                "𝟛..𝟜",
            ] {
                assert_eq!(order.meaning(label), Meaning::Unknown, "{label}");
            }
        }
        let order = Order::new(&category, &[]).unwrap_or_else(|problem| panic!("{problem}"));
        assert_eq!(order.meaning("[1, 2)"), Meaning::Single(3), "a category of that name");
        let twofold = categories(&["a", "a.", ".b", "b"]);
        let order = Order::new(&twofold, &[]).unwrap_or_else(|problem| panic!("{problem}"));
        assert_eq!(order.meaning("a...b"), Meaning::Unknown, "may be read in two ways");
        assert_eq!(order.meaning("a.....b"), Meaning::Unknown);
        assert_eq!(order.meaning("a....b"), Meaning::Interval(1, 3));
    }

    #[test]
    fn ends_are_multiples_of_the_step_or_bounds() {
        check(
            &numbers("10", None),
            &["37", "12"],
            &["[10, 20)", "[-10, 100)", "*", ""],
            &["[10, 25)", "[5, 10)", "30", "37", "[37, 38)", "x"],
        );
        check(
            &numbers("10", Some(["16", "91"])),
            &["37", "12"],
            &["[16, 20)", "[16, 91)", "[80, 91)", "90"],
            &["[10, 20)", "[90, 100)", "[17, 20)", "91", "16", "100"],
        );
        check(&numbers("1", None), &["37", "+38"], &["37", "[37, 39)"], &["37.5"]);
        check(&numbers("1", None), &["37", "37.50"], &["[37, 38)"], &["37", "37.5", "[37, 37.5)"]);
        check(&numbers("0.02", None), &[], &["[0.12, 0.14)", "[-0.02, 0)"], &["0.12", "[0.13, 0.14)"]);
        check(&numbers("0.01", None), &[], &["0.13", "-0.13"], &["0.135"]);
        check(
            &dates(28, Some(["2003-04-17", "9999-12-31"])),
            &[],
            &["[2003-04-17, 2003-05-08)", "[2003-05-08, 9999-12-31)"],
            &["[2003-04-10, 2003-05-08)", "[2003-05-08, 2932897)", "2003-05-08", "2003-04-17"],
        );
        check(&dates(1, None), &[], &["2003-04-17", "[9999-12-31, 2932897)"], &["2932897", "2003"]);
    }

    #[test]
    fn claims_that_mean_nothing_are_refused() {
        for claim in [
            numbers("0", None),
            numbers("-1", None),
            numbers("", None),
            numbers("ten", None),
            numbers("1", Some(["1", "x"])),
            numbers("1", Some(["2", "2"])),
            dates(0, None),
            dates(1, Some(["2003-01-01", "2003-13-01"])),
            dates(1, Some(["2003-01-02", "2003-01-01"])),
            categories(&["a", "a"]),
            categories(&["a", ""]),
            categories(&["*"]),
            categories(&["a..b"]),
        ] {
            assert!(Order::new(&claim, &[]).is_err(), "{claim:?}");
        }
    }
}
