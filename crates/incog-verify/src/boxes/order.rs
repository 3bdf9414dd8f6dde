//! What does a label of an ordered column mean, and might it be written there?
//!
//! | label | stands for |
//! |---|---|
//! | `[20, 30)`, `[2003-04-10, 2003-05-08)` | numbers or dates from the first up to but not including the second |
//! | `[2,5; 5)` | the same in a column with decimal commas |
//! | `37`, `2003-04-17` | this number, in any spelling, or day |
//! | `low..mid` | categories from the first to the second, both included |
//! | `low` | this category |
//! | empty | the missing value |
//! | `*` | everything, and the missing value |
//!
//! Ends must be on the grid: multiples of the step, or bounds. A single number is an interval too, one unit wide, and
//! its ends are judged like any others; so `30` is refused where the step is 10. A unit is 1 in the last decimal place
//! that the column's values, step or bounds have, a day for dates.

use crate::OrderClaim;
use crate::hash;
use crate::written::{Number, Style, day, end_of_days};

const EVERYTHING: &str = "*";
const DOTS: &str = "..";

/// What a label means. Positions are numbers, days, or places among the categories.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Meaning {
    Everything,
    Missing,
    Single(Number),
    /// From the first up to but not including the second, which is greater.
    Interval(Number, Number),
    /// Nothing that can be read.
    Unknown,
}

/// An order that could be read.
pub(super) enum Order<'a> {
    Grid(Grid<'a>),
    Categories(Categories<'a>),
}

pub(super) struct Grid<'a> {
    is_dates: bool,
    style: &'a Style,
    /// Above 0.
    step: Number,
    unit: Number,
    bounds: Option<(Number, Number)>,
}

/// The places of categories.
pub(super) struct Categories<'a> {
    of_name: hash::Map<&'a str, i64>,
    /// In a column of numbers, those of the numbers that one name is written for.
    of_number: hash::Map<Number, Option<i64>>,
}

impl<'a> Order<'a> {
    /// Reads a claim about a column with these values. Fails with what is wrong.
    pub(super) fn new(claim: &'a OrderClaim, values: &[&str]) -> Result<Self, &'static str> {
        match claim {
            OrderClaim::Numbers { step, bounds, style } => {
                let read = Number::read;
                let step =
                    read(step).filter(Number::is_positive).ok_or("the step is not a number above 0")?;
                let bounds = read_bounds(bounds.as_ref(), read)?;
                let mut numbers: Vec<Number> =
                    values.iter().filter_map(|value| style.number(value)).collect();
                numbers.extend(bounds.iter().flat_map(|(least, end)| [least.clone(), end.clone()]));
                let unit = Number::unit(numbers.iter().chain([&step]));
                Ok(Order::Grid(Grid { is_dates: false, style, step, unit, bounds }))
            }
            OrderClaim::Dates { step, bounds, style } => {
                if *step == 0 {
                    return Err("the step is not a number of days above 0");
                }
                let step = i64::try_from(*step).map_err(|_| "the step is longer than the calendar")?.into();
                let bounds = read_bounds(bounds.as_ref(), |text| day(text).map(Number::from))?;
                Ok(Order::Grid(Grid { is_dates: true, style, step, unit: 1.into(), bounds }))
            }
            OrderClaim::Categories(categories) => {
                let mut of_name = hash::Map::default();
                for (place, category) in categories.iter().enumerate() {
                    if category.is_empty() || category == EVERYTHING || category.contains(DOTS) {
                        return Err(
                            "a category is empty, `*` or contains `..`, which mean something in labels",
                        );
                    }
                    if of_name.insert(category.as_str(), place as i64).is_some() {
                        return Err("a category stands there twice");
                    }
                }
                let mut of_number = hash::Map::default();
                if values.iter().all(|value| value.is_empty() || Number::read(value).is_some()) {
                    for (place, category) in categories.iter().enumerate() {
                        if let Some(number) = Number::read(category) {
                            let places = of_number.entry(number);
                            places.and_modify(|place| *place = None).or_insert(Some(place as i64));
                        }
                    }
                }
                Ok(Order::Categories(Categories { of_name, of_number }))
            }
        }
    }

    /// Where a value stands that is not missing.
    pub(super) fn position(&self, value: &str) -> Option<Number> {
        match self {
            Order::Grid(grid) if grid.is_dates => grid.style.day(value).map(Number::from),
            Order::Grid(grid) => grid.style.number(value),
            Order::Categories(places) => places.position(value),
        }
    }

    /// The same as it stands in a label, where dates are 2003-04-17 whatever the column has.
    fn shown(&self, label: &str) -> Option<Number> {
        match self {
            Order::Grid(grid) if grid.is_dates => day(label).map(Number::from),
            _ => self.position(label),
        }
    }

    pub(super) fn meaning(&self, label: &str) -> Meaning {
        if label.is_empty() {
            return Meaning::Missing;
        }
        if label == EVERYTHING {
            return Meaning::Everything;
        }
        if let Some(position) = self.shown(label) {
            return Meaning::Single(position);
        }
        let ends = match self {
            Order::Grid(grid) => grid.ends(label),
            Order::Categories(places) => range(label, &places.of_name),
        };
        ends.filter(|(start, end)| start < end)
            .map_or(Meaning::Unknown, |(start, end)| Meaning::Interval(start, end))
    }

    /// Might a label with this meaning be written?
    pub(super) fn allows(&self, meaning: &Meaning) -> bool {
        match (self, meaning) {
            (_, Meaning::Everything | Meaning::Missing) => true,
            (_, Meaning::Unknown) => false,
            (Order::Categories(_), _) => true,
            (Order::Grid(grid), Meaning::Single(position)) => {
                grid.allows(position, &position.plus(&grid.unit))
            }
            (Order::Grid(grid), Meaning::Interval(start, end)) => grid.allows(start, end),
        }
    }
}

impl Categories<'_> {
    fn position(&self, value: &str) -> Option<Number> {
        let of_number = || *self.of_number.get(&Number::read(value)?)?;
        self.of_name.get(value).copied().or_else(of_number).map(Number::from)
    }
}

impl Grid<'_> {
    /// Reads `[a, b)`, or `[a; b)` where a comma is a decimal mark.
    fn ends(&self, label: &str) -> Option<(Number, Number)> {
        let has_commas = !self.is_dates && self.style.decimal == ',';
        let separator = if has_commas { "; " } else { ", " };
        let (start, end) = label.strip_prefix('[')?.strip_suffix(')')?.split_once(separator)?;
        let read = |text: &str| {
            if self.is_dates { end_of_days(text).map(Number::from) } else { self.style.number(text) }
        };
        Some((read(start)?, read(end)?))
    }

    fn allows(&self, start: &Number, end: &Number) -> bool {
        let bounds = self.bounds.as_ref();
        let is_end = |end: &Number| {
            end.is_multiple_of(&self.step) || bounds.is_some_and(|(a, b)| end == a || end == b)
        };
        let is_within = bounds.is_none_or(|(least, last)| least <= start && end <= last);
        is_end(start) && is_end(end) && is_within
    }
}

fn read_bounds(
    bounds: Option<&[String; 2]>,
    read: impl Fn(&str) -> Option<Number>,
) -> Result<Option<(Number, Number)>, &'static str> {
    let Some([least, end]) = bounds else { return Ok(None) };
    match (read(least), read(end)) {
        (Some(least), Some(end)) if least < end => Ok(Some((least, end))),
        (Some(_), Some(_)) => Err("the lower bound is not below the upper one"),
        _ => Err("a bound cannot be read"),
    }
}

/// Reads `low..high` with two different categories, if there is one way to read it. (With categories `a`, `a.`, `.b` and
/// `b` there are two for `a...b`.)
fn range(label: &str, places: &hash::Map<&str, i64>) -> Option<(Number, Number)> {
    // Both bytes are ASCII, so that labels are cut between characters.
    let dots = label.as_bytes().windows(2).enumerate().filter(|(_, bytes)| *bytes == DOTS.as_bytes());
    let mut readings = dots.filter_map(|(at, _)| {
        let (low, high) = (places.get(&label[..at])?, places.get(&label[at + 2..])?);
        (low < high).then(|| (Number::from(*low), Number::from(*high + 1)))
    });
    let first = readings.next()?;
    readings.next().is_none().then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(step: &str, bounds: Option<[&str; 2]>) -> OrderClaim {
        let bounds = bounds.map(|bounds| bounds.map(str::to_owned));
        OrderClaim::Numbers { step: step.into(), bounds, style: Style::default() }
    }

    fn dates(step: u64, bounds: Option<[&str; 2]>) -> OrderClaim {
        let bounds = bounds.map(|bounds| bounds.map(str::to_owned));
        OrderClaim::Dates { step, bounds, style: Style::default() }
    }

    fn categories(names: &[&str]) -> OrderClaim {
        OrderClaim::Categories(names.iter().map(|&name| name.to_owned()).collect())
    }

    fn interval(start: &str, end: &str) -> Meaning {
        Meaning::Interval(Number::read(start).unwrap(), Number::read(end).unwrap())
    }

    /// Which of the labels may be written.
    fn check(claim: &OrderClaim, values: &[&str], allowed: &[&str], refused: &[&str]) {
        let order = Order::new(claim, values).unwrap_or_else(|problem| panic!("{problem}"));
        let allows = |label: &&&str| order.allows(&order.meaning(label));
        assert_eq!(allowed.iter().find(|label| !allows(label)), None, "must be allowed");
        assert_eq!(refused.iter().find(allows), None, "must be refused");
    }

    #[test]
    fn every_kind_of_label_has_its_meaning() {
        let claim = numbers("10", None);
        let order = Order::new(&claim, &[]).unwrap_or_else(|problem| panic!("{problem}"));
        assert_eq!(order.meaning("[20, 30)"), interval("20", "30"));
        assert_eq!(order.meaning("[-0.5, +3)"), interval("-0.5", "3"));
        assert_eq!(order.meaning("037"), Meaning::Single(37.into()));
        assert_eq!((order.meaning(""), order.meaning("*")), (Meaning::Missing, Meaning::Everything));
        let claim = dates(28, None);
        let order = Order::new(&claim, &[]).unwrap_or_else(|problem| panic!("{problem}"));
        assert_eq!(order.meaning("[1970-01-01, 1970-01-29)"), interval("0", "28"));
        assert_eq!(order.meaning("1970-01-02"), Meaning::Single(1.into()));
        assert_eq!(order.meaning("37"), Meaning::Unknown);
        let claim = categories(&["low", "mid", "high"]);
        let order = Order::new(&claim, &[]).unwrap_or_else(|problem| panic!("{problem}"));
        assert_eq!(order.meaning("low..mid"), interval("0", "2"));
        assert_eq!(order.meaning("high"), Meaning::Single(2.into()));
    }

    #[test]
    fn what_is_no_label_is_not_read() {
        let huge = "9".repeat(20_000);
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
        assert_eq!(order.meaning("[1, 2)"), Meaning::Single(3.into()), "a category of that name");
        let twofold = categories(&["a", "a.", ".b", "b"]);
        let order = Order::new(&twofold, &[]).unwrap_or_else(|problem| panic!("{problem}"));
        assert_eq!(order.meaning("a...b"), Meaning::Unknown, "may be read in two ways");
        assert_eq!(order.meaning("a.....b"), Meaning::Unknown);
        assert_eq!(order.meaning("a....b"), interval("1", "3"));
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
            &numbers("0.5", None),
            &["46.074175824175"],
            &["[46, 46.5)"],
            &["46", "46.074175824175", "[46.07, 46.5)"],
        );
        check(
            &numbers("1e20", None),
            &["1e25"],
            &["[1e20, 200000000000000000000)"],
            &["[1, 100000000000000000000)"],
        );
        let style = Style { decimal: ',', ..Style::default() };
        let comma = OrderClaim::Numbers { step: "2.5".into(), bounds: None, style };
        check(&comma, &["2,7"], &["[2,5; 5)", "[0; 10)"], &["[2.5; 5)", "[2,5, 5)", "[2,4; 5)"]);
        let style = Style { dates: Some("%d.%m.%Y".into()), ..Style::default() };
        let german = OrderClaim::Dates { step: 7, bounds: None, style };
        check(
            &german,
            &["17.04.2003"],
            &["[1970-01-01, 1970-01-08)"],
            &["17.04.2003", "[01.01.1970, 08.01.1970)"],
        );
        let order = Order::new(&german, &[]).unwrap_or_else(|problem| panic!("{problem}"));
        assert_eq!(order.position("08.01.1970"), Some(7.into()));
        let grades = categories(&["1", "2", "3"]);
        let order = Order::new(&grades, &["1.0", "2", ""]).unwrap_or_else(|problem| panic!("{problem}"));
        assert_eq!(order.position("1.0"), Some(0.into()), "a number written otherwise");
        let order = Order::new(&grades, &["1.0", "x"]).unwrap_or_else(|problem| panic!("{problem}"));
        assert_eq!(order.position("1.0"), None, "not a column of numbers");
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
