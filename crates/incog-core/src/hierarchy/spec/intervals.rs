//! Numbers and dates in ever wider intervals.
//!
//! Labels are half-open, `[20, 25)`, and made by one formatter from the steps alone, never from the data's own
//! least and greatest values. Each width must be a multiple of the one before, so that levels nest. A value below
//! `bottom` or from `top` on is pooled: `< 18`, `>= 90`. Dates are intervals of days. Numbers of a column with a decimal comma have one
//! in labels too, with a semicolon between the ends: `[2,5; 5)`.

use crate::error::{Error, Result};
use crate::hierarchy::spec::{Decimal, Domain, Labels};
use crate::value::{Date, Notation};

/// What is divided into intervals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IntervalKind {
    /// Whole numbers and decimals.
    Numbers,
    /// Dates like 2003-04-17; widths are in days.
    Dates,
}

impl IntervalKind {
    /// Reads a number or date in some notation.
    pub fn read(self, text: &str, notation: &Notation) -> Option<Decimal> {
        match self {
            IntervalKind::Numbers => notation.number(text),
            IntervalKind::Dates => notation.date(text).map(|date| Decimal::whole(date.day_number())),
        }
    }

    /// A number as it stands in a label. Dates are shown as 2003-04-17, however the column writes them.
    pub fn show(self, number: &Decimal, notation: &Notation) -> String {
        match self {
            IntervalKind::Numbers => notation.show(number),
            IntervalKind::Dates => number
                .to_i64()
                .and_then(Date::from_day_number)
                .map_or_else(|| number.to_string(), |date| date.to_string()),
        }
    }

    /// What stands between the ends of an interval.
    pub(crate) fn separator(self, notation: &Notation) -> &'static str {
        if self == IntervalKind::Numbers && notation.decimal() == ',' { "; " } else { ", " }
    }

    /// The label of what lies from `start` up to but not including `end`: the one formatter of all intervals.
    pub(crate) fn label(self, start: &Decimal, end: &Decimal, notation: &Notation) -> String {
        let separator = self.separator(notation);
        format!("[{}{separator}{})", self.show(start, notation), self.show(end, notation))
    }

    /// What the values are called in messages.
    pub(crate) fn describe(self, notation: &Notation) -> String {
        match self {
            IntervalKind::Numbers => format!("numbers like 12 or 3{}5", notation.decimal()),
            IntervalKind::Dates => format!("dates like {}", notation.sample_date()),
        }
    }
}

/// Ever wider intervals.
///
/// # Invariants
/// At least one width; all positive, each a multiple of the one before. Below `bottom` and from `top` on nothing
/// is divided, and both are on the grid of the narrowest width. `bounds` is not empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Intervals {
    kind: IntervalKind,
    widths: Vec<Decimal>,
    origin: Decimal,
    bottom: Option<Decimal>,
    top: Option<Decimal>,
    bounds: Option<(Decimal, Decimal)>,
}

impl Intervals {
    /// Intervals of these widths, from 0 (or 1970-01-01) on in both directions.
    pub fn new(kind: IntervalKind, widths: Vec<Decimal>) -> Result<Self> {
        if widths.is_empty() {
            return Err(
                Error::input("no interval width is given").with_hint("for example intervals = [5, 10, 20]")
            );
        }
        if widths.iter().any(|width| !width.is_positive()) {
            return Err(Error::input("an interval width is not positive"));
        }
        if kind == IntervalKind::Dates && widths.iter().any(|width| !width.is_whole()) {
            return Err(Error::input("an interval width is not a whole number of days"));
        }
        if let Some(pair) =
            widths.windows(2).find(|pair| pair[1] == pair[0] || !pair[1].is_multiple_of(&pair[0]))
        {
            return Err(Error::input(format!("interval width {} is not a multiple of {}", pair[1], pair[0]))
                .with_hint(
                    "each width must be a greater multiple of the one before, so that intervals nest",
                ));
        }
        Ok(Intervals { kind, widths, origin: Decimal::ZERO, bottom: None, top: None, bounds: None })
    }

    /// Reads a number or date of this kind in plain notation, as jobs have them.
    pub fn parse(kind: IntervalKind, text: &str) -> Option<Decimal> {
        kind.read(text, &Notation::PLAIN)
    }

    /// Intervals start at `origin`.
    #[must_use]
    pub fn with_origin(mut self, origin: Decimal) -> Self {
        self.origin = origin;
        self
    }

    /// Values below `bottom`, and from `top` on, are pooled.
    pub fn with_pools(mut self, bottom: Option<Decimal>, top: Option<Decimal>) -> Result<Self> {
        if let (Some(bottom), Some(top)) = (&bottom, &top)
            && bottom >= top
        {
            return Err(Error::input("`bottom` is not below `top`"));
        }
        self.bottom = bottom;
        self.top = top;
        Ok(self)
    }

    /// The column's values are from `least` up to but not including `end`: other values are errors, and loss is
    /// measured against all whole numbers (or days) in between.
    pub fn with_bounds(mut self, least: Decimal, end: Decimal) -> Result<Self> {
        if least >= end {
            return Err(Error::input("the lower bound is not below the upper one"));
        }
        self.bounds = Some((least, end));
        Ok(self)
    }

    /// The interval of a value at a level from 1 on: its start and end, either of which may be open.
    fn interval(&self, value: &Decimal, level: usize) -> (Option<Decimal>, Option<Decimal>) {
        if let Some(bottom) = &self.bottom
            && value < bottom
        {
            return (None, Some(bottom.clone()));
        }
        if let Some(top) = &self.top
            && value >= top
        {
            return (Some(top.clone()), None);
        }
        let width = &self.widths[level - 1];
        let start = value.floor_to(&self.origin, width);
        let end = start.plus(width);
        // What is pooled is cut off.
        let start = self.bottom.as_ref().map_or(start.clone(), |bottom| start.max(bottom.clone()));
        let end = self.top.as_ref().map_or(end.clone(), |top| end.min(top.clone()));
        (Some(start), Some(end))
    }

    /// The whole numbers (or days) within the bounds, if there are bounds with at most `limit` of them.
    pub(super) fn declared_values(&self, limit: u64) -> Option<Vec<String>> {
        let (least, end) = self.bounds.as_ref()?;
        if !least.is_whole() || end.whole_minus(least)? > limit {
            return None;
        }
        let one = Decimal::whole(1);
        let numbers = std::iter::successors(Some(least.clone()), |number| Some(number.plus(&one)));
        let shown =
            numbers.take_while(|number| number < end).map(|number| self.kind.show(&number, &Notation::PLAIN));
        Some(shown.collect())
    }
}

impl Labels for Intervals {
    fn labels(&self, value: &str, notation: &Notation) -> Option<Vec<String>> {
        let value = self.kind.read(value, notation)?;
        if self.bounds.as_ref().is_some_and(|(least, end)| value < *least || value >= *end) {
            return None;
        }
        let show = |number: &Decimal| self.kind.show(number, notation);
        Some(
            (1..=self.widths.len())
                .map(|level| match self.interval(&value, level) {
                    (Some(start), Some(end)) => self.kind.label(&start, &end, notation),
                    (Some(start), None) => format!(">= {}", show(&start)),
                    (None, Some(end)) => format!("< {}", show(&end)),
                    (None, None) => unreachable!("an interval is open at one end at most"),
                })
                .collect(),
        )
    }

    fn n_levels(&self) -> usize {
        self.widths.len()
    }

    fn kind(&self, notation: &Notation) -> String {
        let kind = self.kind.describe(notation);
        match &self.bounds {
            None => kind,
            Some((least, end)) => format!("{kind} in {}", self.kind.label(least, end, notation)),
        }
    }

    fn domain<'a>(&'a self, notation: &'a Notation) -> Option<Domain<'a>> {
        let (least, end) = self.bounds.as_ref()?;
        let n_leaves = end.whole_minus(least)?;
        Some(Domain {
            n_leaves,
            under: Box::new(move |value, level| {
                let value = self.kind.read(value, notation).expect("the value has labels");
                let (start, stop) = self.interval(&value, level);
                let start = start.map_or(least.clone(), |start| start.max(least.clone()));
                let stop = stop.map_or(end.clone(), |stop| stop.min(end.clone()));
                stop.whole_minus(&start).unwrap_or(1).max(1)
            }),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hierarchy::spec::Spec;
    use crate::hierarchy::spec::tests::paths;
    use crate::table::{Column, Role};

    fn numbers(widths: &[i64]) -> Intervals {
        Intervals::new(IntervalKind::Numbers, widths.iter().map(|&width| Decimal::whole(width)).collect())
            .unwrap()
    }

    fn decimal(text: &str) -> Decimal {
        Decimal::parse(text).unwrap()
    }

    #[test]
    fn declared_values_are_those_within_bounds() {
        let ages = numbers(&[5]).with_bounds(decimal("-1"), decimal("3")).unwrap();
        assert_eq!(ages.declared_values(4).unwrap(), ["-1", "0", "1", "2"]);
        assert_eq!(ages.declared_values(3), None);
        assert_eq!(numbers(&[5]).declared_values(3), None);
    }

    #[test]
    fn intervals_are_half_open_and_nest() {
        let ages = Spec::Intervals(Box::new(numbers(&[5, 10, 20])));
        assert_eq!(
            paths(&ages, &["37", "40", "-1"]).unwrap(),
            [
                ["[35, 40)", "[30, 40)", "[20, 40)", "*"],
                ["[40, 45)", "[40, 50)", "[40, 60)", "*"],
                ["[-5, 0)", "[-10, 0)", "[-20, 0)", "*"],
            ]
        );
    }

    #[test]
    fn decimals_and_origins_are_exact() {
        let widths = vec![decimal("0.1"), decimal("0.5")];
        let prices = Intervals::new(IntervalKind::Numbers, widths).unwrap().with_origin(decimal("0.05"));
        let spec = Spec::Intervals(Box::new(prices));
        assert_eq!(paths(&spec, &["0.3", "1.05"]).unwrap()[0], ["[0.25, 0.35)", "[0.05, 0.55)", "*"]);
        assert_eq!(paths(&spec, &["1.05"]).unwrap()[0], ["[1.05, 1.15)", "[1.05, 1.55)", "*"]);
    }

    #[test]
    fn numbers_of_any_length_and_with_exponents_have_intervals() {
        let spec = Spec::Intervals(Box::new(numbers(&[5, 100])));
        let labels =
            paths(&spec, &["46.074175824175", "1e2", ".5", "5.", "1234567890123456789012345"]).unwrap();
        assert_eq!(labels[0], ["[45, 50)", "[0, 100)", "*"]);
        assert_eq!(labels[1], ["[100, 105)", "[100, 200)", "*"]);
        assert_eq!(labels[2], ["[0, 5)", "[0, 100)", "*"]);
        assert_eq!(labels[3], ["[5, 10)", "[0, 100)", "*"]);
        assert_eq!(labels[4][0], "[1234567890123456789012345, 1234567890123456789012350)");
    }

    #[test]
    fn a_decimal_comma_is_in_labels_too() {
        let widths = vec![decimal("2.5"), decimal("5")];
        let spec = Intervals::new(IntervalKind::Numbers, widths).unwrap();
        let spec = Spec::Intervals(Box::new(spec.with_pools(Some(decimal("0.5")), None).unwrap()));
        let mut column = Column::from_cells("c", Role::QuasiIdentifier, ["2,7", "0,1", "7"]).unwrap();
        column.set_notation(Notation::new(',', None).unwrap());
        let hierarchy = spec.build(&column, None).unwrap();
        assert!(hierarchy.labels(0).values().eq(["2,7", "0,1", "7"]));
        assert!(hierarchy.labels(1).values().eq(["[2,5; 5)", "< 0,5", "[5; 7,5)"]));
        assert!(hierarchy.labels(2).values().eq(["[0,5; 5)", "< 0,5", "[5; 10)"]));
    }

    #[test]
    fn both_ends_can_be_pooled() {
        let ages = numbers(&[10, 40]).with_pools(Some(decimal("18")), Some(decimal("90"))).unwrap();
        let labels = paths(&Spec::Intervals(Box::new(ages)), &["17", "18", "85", "90", "104"]).unwrap();
        assert_eq!(labels[0], ["< 18", "< 18", "*"]);
        assert_eq!(labels[1], ["[18, 20)", "[18, 40)", "*"]);
        assert_eq!(labels[2], ["[80, 90)", "[80, 90)", "*"]);
        assert_eq!(labels[3], [">= 90", ">= 90", "*"]);
        assert_eq!(labels[3], labels[4]);
    }

    #[test]
    fn dates_are_intervals_of_days() {
        let weeks = Intervals::new(IntervalKind::Dates, vec![Decimal::whole(7), Decimal::whole(28)]).unwrap();
        let monday = Intervals::parse(IntervalKind::Dates, "2024-01-01").unwrap();
        let spec = Spec::Intervals(Box::new(weeks.with_origin(monday)));
        assert_eq!(
            paths(&spec, &["2024-02-29"]).unwrap()[0],
            ["[2024-02-26, 2024-03-04)", "[2024-02-26, 2024-03-25)", "*"]
        );
    }

    #[test]
    fn declared_bounds_are_the_leaves_and_are_enforced() {
        let ages = numbers(&[10]).with_bounds(decimal("0"), decimal("95")).unwrap();
        let column = Column::from_cells("age", Role::QuasiIdentifier, ["7", "92", ""]).unwrap();
        let hierarchy = Spec::Intervals(Box::new(ages.clone())).build(&column, None).unwrap();
        assert_eq!(hierarchy.n_leaves(), 96, "95 ages and the missing one");
        assert_eq!([0, 1, 2].map(|label| hierarchy.leaves_under(1, label)), [10, 5, 1]);
        assert_eq!(hierarchy.leaves_under(2, 0), 96);
        assert_eq!(hierarchy.leaves_under(0, 0), 1);
        let error = paths(&Spec::Intervals(Box::new(ages)), &["95"]).unwrap_err().to_string();
        assert!(error.contains("1 of 1 values are not numbers like 12 or 3.5 in [0, 95)"), "{error}");
    }

    #[test]
    fn widths_that_do_not_nest_are_refused() {
        let refused = |widths: &[i64]| {
            let widths = widths.iter().map(|&width| Decimal::whole(width)).collect();
            Intervals::new(IntervalKind::Numbers, widths).unwrap_err().to_string()
        };
        assert_eq!(refused(&[5, 12]), "interval width 12 is not a multiple of 5");
        assert_eq!(refused(&[5, 5]), "interval width 5 is not a multiple of 5");
        assert_eq!(refused(&[0]), "an interval width is not positive");
        assert_eq!(refused(&[]), "no interval width is given");
        assert!(numbers(&[5]).with_pools(Some(decimal("9")), Some(decimal("9"))).is_err());
        assert!(numbers(&[5]).with_bounds(decimal("9"), decimal("9")).is_err());
    }
}
