//! Dates in calendar units: day > month > quarter > half-year > year > 2 years > 5 years > decade > 20 years.
//!
//! Several years begin at a multiple of their number: 2000-2004, 2002-2003, 2000-2019. Units of a job must nest, so 2 years are not
//! followed by 5 years. A week is in no month and in no year, and so stands alone or behind the day.
//!
//! Values are dates in the column's notation, `2003-04-17` unless it says otherwise; a time behind it (`2003-04-17T10:30`,
//! `2003-04-17 10:30:00`) is cut off by the first level. Labels are `2003-04-17`, `2003-04`, `2003-Q2`, `2003`, `2000s`, however the
//! dates are written.

use crate::error::{Error, Result};
use crate::hierarchy::spec::Labels;
use crate::value::{Date, Notation};

/// A calendar unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DateLevel {
    /// `2003-04-17`: cuts off a time.
    Day,
    /// `2003-W16`: the week of ISO 8601, from Monday on, in the year that has its Thursday.
    Week,
    /// `2003-04`
    Month,
    /// `2003-Q2`
    Quarter,
    /// `2003-H1`
    HalfYear,
    /// `2003`
    Year,
    /// `2002-2003`
    TwoYears,
    /// `2000-2004`
    FiveYears,
    /// `2000s`
    Decade,
    /// `2000-2019`
    TwentyYears,
}

impl DateLevel {
    /// All units with their names in job files.
    pub const ALL: [(&'static str, DateLevel); 10] = [
        ("day", DateLevel::Day),
        ("week", DateLevel::Week),
        ("month", DateLevel::Month),
        ("quarter", DateLevel::Quarter),
        ("half-year", DateLevel::HalfYear),
        ("year", DateLevel::Year),
        ("2 years", DateLevel::TwoYears),
        ("5 years", DateLevel::FiveYears),
        ("decade", DateLevel::Decade),
        ("20 years", DateLevel::TwentyYears),
    ];

    /// Does every span of this unit lie in one span of a coarser one?
    fn nests_in(self, coarser: DateLevel) -> bool {
        let is_years = |unit| matches!(unit, DateLevel::TwoYears | DateLevel::FiveYears);
        self < coarser && self != DateLevel::Week && !(is_years(self) && is_years(coarser))
    }

    fn label(self, date: Date) -> String {
        let (year, month) = (date.year(), date.month());
        match self {
            DateLevel::Day => date.to_string(),
            DateLevel::Month => format!("{year:04}-{month:02}"),
            DateLevel::Quarter => format!("{year:04}-Q{}", month.div_ceil(3)),
            DateLevel::Week => week(date),
            DateLevel::HalfYear => format!("{year:04}-H{}", month.div_ceil(6)),
            DateLevel::Year => format!("{year:04}"),
            DateLevel::TwoYears => years(year, 2),
            DateLevel::FiveYears => years(year, 5),
            DateLevel::TwentyYears => years(year, 20),
            DateLevel::Decade => format!("{:03}0s", year / 10),
        }
    }
}

/// The `n` years from a multiple of `n` on that a year is in.
fn years(year: u16, n: u16) -> String {
    let first = year / n * n;
    format!("{first:04}-{:04}", first + n - 1)
}

/// The week of ISO 8601.
fn week(date: Date) -> String {
    // Day 0 is a Thursday, the fourth day of its week.
    let number = date.day_number();
    let thursday = number - (number + 3).rem_euclid(7) + 3;
    // Beyond the calendar's ends there is no Thursday; the day itself says its year.
    let thursday = Date::from_day_number(thursday).unwrap_or(date);
    let before = (1..thursday.month()).map(|month| days_of(thursday.year(), month)).sum::<u16>();
    let day_of_year = before + u16::from(thursday.day());
    format!("{:04}-W{:02}", thursday.year(), day_of_year.div_ceil(7))
}

fn days_of(year: u16, month: u8) -> u16 {
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Dates in some of the calendar's units.
///
/// # Invariants
/// At least one unit, from fine to coarse; each nests in the next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dates {
    levels: Vec<DateLevel>,
    bottom: Option<Date>,
}

impl Dates {
    /// Dates in these units.
    pub fn new(levels: Vec<DateLevel>) -> Result<Self> {
        if levels.is_empty() || !levels.windows(2).all(|pair| pair[0] < pair[1]) {
            return Err(Error::input("the units of dates are not from fine to coarse").with_hint(
                "choose from day, week, month, quarter, half-year, year, 2 years, 5 years, decade, 20 years, in this order",
            ));
        }
        if !levels.windows(2).all(|pair| pair[0].nests_in(pair[1])) {
            return Err(Error::input("a unit of dates does not lie within the next one").with_hint(
                "a week is in no single month or year, so nothing follows it; 2 years are in no single 5 years",
            ));
        }
        Ok(Dates { levels, bottom: None })
    }

    /// Days before this one, written as 2003-04-17, are pooled: `< 1937`, or `< 1937-04-17` where no year begins.
    pub fn with_bottom(mut self, day: &str) -> Result<Self> {
        let day = Date::parse(day).ok_or_else(|| {
            Error::input("`bottom` is not a date like 2003-04-17")
                .with_hint("write it in quotes: bottom = \"1937-01-01\"")
        })?;
        self.bottom = Some(day);
        Ok(self)
    }
}

impl Labels for Dates {
    fn labels(&self, value: &str, notation: &Notation) -> Option<Vec<String>> {
        let date = notation.date_and_time(value)?;
        if let Some(bottom) = self.bottom.filter(|bottom| date.day_number() < bottom.day_number()) {
            let is_new_year = (bottom.month(), bottom.day()) == (1, 1);
            let label = if is_new_year { format!("< {:04}", bottom.year()) } else { format!("< {bottom}") };
            return Some(vec![label; self.levels.len()]);
        }
        Some(self.levels.iter().map(|level| level.label(date)).collect())
    }

    fn n_levels(&self) -> usize {
        self.levels.len()
    }

    fn kind(&self, notation: &Notation) -> String {
        format!("dates like {}", notation.sample_date())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hierarchy::spec::Spec;
    use crate::hierarchy::spec::tests::paths;

    #[test]
    fn all_units_nest() {
        let all = DateLevel::ALL.map(|(_, level)| level);
        let but = |left_out: [DateLevel; 2]| {
            all.into_iter().filter(move |level| !left_out.contains(level)).collect()
        };
        let dates = Spec::Dates(Dates::new(but([DateLevel::Week, DateLevel::TwoYears])).unwrap());
        assert_eq!(
            paths(&dates, &["2003-04-17T10:30", "1999-12-31"]).unwrap(),
            [
                [
                    "2003-04-17",
                    "2003-04",
                    "2003-Q2",
                    "2003-H1",
                    "2003",
                    "2000-2004",
                    "2000s",
                    "2000-2019",
                    "*"
                ],
                [
                    "1999-12-31",
                    "1999-12",
                    "1999-Q4",
                    "1999-H2",
                    "1999",
                    "1995-1999",
                    "1990s",
                    "1980-1999",
                    "*"
                ],
            ]
        );
        let dates = Spec::Dates(Dates::new(but([DateLevel::Week, DateLevel::FiveYears])).unwrap());
        assert_eq!(paths(&dates, &["2003-04-17"]).unwrap()[0][5], "2002-2003");
        for refused in [[DateLevel::Week, DateLevel::Month], [DateLevel::TwoYears, DateLevel::FiveYears]] {
            let error = Dates::new(refused.to_vec()).unwrap_err();
            assert_eq!(error.to_string(), "a unit of dates does not lie within the next one");
        }
    }

    #[test]
    fn days_before_the_bottom_are_pooled() {
        let dates = Dates::new(vec![DateLevel::Year, DateLevel::Decade]).unwrap();
        let dates = Spec::Dates(dates.clone().with_bottom("1937-01-01").unwrap());
        assert_eq!(
            paths(&dates, &["1936-12-31", "1901-02-03", "1937-01-01"]).unwrap(),
            [["< 1937", "< 1937", "*"], ["< 1937", "< 1937", "*"], ["1937", "1930s", "*"]]
        );
        assert!(Dates::new(vec![DateLevel::Year]).unwrap().with_bottom("1937").is_err());
    }

    /// Weeks as Python's `date.isocalendar()` has them, at the ends of years.
    #[test]
    fn weeks_are_those_of_iso_8601() {
        let weeks = Spec::Dates(Dates::new(vec![DateLevel::Week]).unwrap());
        for (date, week) in [
            ("2003-04-17", "2003-W16"),
            ("2004-12-31", "2004-W53"),
            ("2005-01-02", "2004-W53"),
            ("2005-01-03", "2005-W01"),
            ("2008-12-29", "2009-W01"),
            ("2010-01-03", "2009-W53"),
            ("1969-12-29", "1970-W01"),
            ("1968-12-29", "1968-W52"),
        ] {
            assert_eq!(paths(&weeks, &[date]).unwrap()[0][0], week, "{date}");
        }
    }

    #[test]
    fn dates_in_the_columns_own_format_have_the_same_labels() {
        use crate::table::{Column, Role};
        use crate::value::DateFormat;
        let mut column =
            Column::from_cells("c", Role::QuasiIdentifier, ["17.4.2003 10:30", "31.12.1999"]).unwrap();
        column.set_notation(Notation::PLAIN.with_dates(DateFormat::parse("%d.%m.%Y").unwrap()));
        let dates = Spec::Dates(Dates::new(vec![DateLevel::Month, DateLevel::Year]).unwrap());
        let hierarchy = dates.build(&column, None).unwrap();
        assert!(hierarchy.labels(0).values().eq(["17.4.2003 10:30", "31.12.1999"]), "as written");
        assert!(hierarchy.labels(1).values().eq(["2003-04", "1999-12"]));
        let column = Column::from_cells("c", Role::QuasiIdentifier, ["17.4.2003"]).unwrap();
        assert!(dates.build(&column, None).is_err());
    }

    #[test]
    fn units_are_from_fine_to_coarse() {
        assert!(Dates::new(vec![DateLevel::Year, DateLevel::Month]).is_err());
    }
}
