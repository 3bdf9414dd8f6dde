//! Dates in calendar units: day > month > quarter > year > decade.
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
    /// `2003-04`
    Month,
    /// `2003-Q2`
    Quarter,
    /// `2003`
    Year,
    /// `2000s`
    Decade,
}

impl DateLevel {
    /// All units with their names in job files.
    pub const ALL: [(&'static str, DateLevel); 5] = [
        ("day", DateLevel::Day),
        ("month", DateLevel::Month),
        ("quarter", DateLevel::Quarter),
        ("year", DateLevel::Year),
        ("decade", DateLevel::Decade),
    ];

    fn label(self, date: Date) -> String {
        let (year, month) = (date.year(), date.month());
        match self {
            DateLevel::Day => date.to_string(),
            DateLevel::Month => format!("{year:04}-{month:02}"),
            DateLevel::Quarter => format!("{year:04}-Q{}", month.div_ceil(3)),
            DateLevel::Year => format!("{year:04}"),
            DateLevel::Decade => format!("{:03}0s", year / 10),
        }
    }
}

/// Dates in some of the calendar's units.
///
/// # Invariants
/// At least one unit, from fine to coarse.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dates {
    levels: Vec<DateLevel>,
}

impl Dates {
    /// Dates in these units.
    pub fn new(levels: Vec<DateLevel>) -> Result<Self> {
        if levels.is_empty() || !levels.windows(2).all(|pair| pair[0] < pair[1]) {
            return Err(Error::input("the units of dates are not from fine to coarse")
                .with_hint("choose from day, month, quarter, year, decade, in this order"));
        }
        Ok(Dates { levels })
    }
}

impl Labels for Dates {
    fn labels(&self, value: &str, notation: &Notation) -> Option<Vec<String>> {
        let date = notation.date_and_time(value)?;
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
        let dates = Spec::Dates(Dates::new(DateLevel::ALL.map(|(_, level)| level).to_vec()).unwrap());
        assert_eq!(
            paths(&dates, &["2003-04-17T10:30", "1999-12-31"]).unwrap(),
            [
                ["2003-04-17", "2003-04", "2003-Q2", "2003", "2000s", "*"],
                ["1999-12-31", "1999-12", "1999-Q4", "1999", "1990s", "*"],
            ]
        );
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
