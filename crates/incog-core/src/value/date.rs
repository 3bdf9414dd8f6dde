//! A day of the calendar.

use std::fmt;

/// A day of the (proleptic Gregorian) calendar.
///
/// # Invariants
/// The day exists, in the years 0 to 9999.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Date {
    year: u16,
    month: u8,
    day: u8,
}

impl Date {
    /// The day, if it exists.
    pub(super) fn new(year: u16, month: u8, day: u8) -> Option<Self> {
        let exists = year <= 9999 && (1..=12).contains(&month) && day >= 1 && day <= days_in(year, month);
        exists.then_some(Date { year, month, day })
    }

    /// Reads `2003-04-17`.
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        let is_shaped = bytes.len() == 10
            && bytes
                .iter()
                .enumerate()
                .all(|(at, byte)| if at == 4 || at == 7 { *byte == b'-' } else { byte.is_ascii_digit() });
        if !is_shaped {
            return None;
        }
        Date::new(text[..4].parse().ok()?, text[5..7].parse().ok()?, text[8..].parse().ok()?)
    }

    /// The year.
    pub fn year(self) -> u16 {
        self.year
    }

    /// The month, from 1 to 12.
    pub fn month(self) -> u8 {
        self.month
    }

    /// The day of the month.
    pub fn day(self) -> u8 {
        self.day
    }

    /// Days since 1970-01-01.
    pub fn day_number(self) -> i64 {
        // Counted from March on, so that the leap day is a year's last.
        let (year, month) = (i64::from(self.year), i64::from(self.month));
        let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
        let days_before_month = (153 * month + 2) / 5;
        let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
        365 * year + leap_days + days_before_month + i64::from(self.day) - 1 - 719_468
    }

    /// The day that is `number` days after 1970-01-01, in the years 0 to 9999.
    pub fn from_day_number(number: i64) -> Option<Self> {
        // A first guess of the year is off by one at most.
        let guess = u16::try_from(number.checked_add(719_528)?.div_euclid(365).min(9999)).ok()?;
        let new_year = |year: u16| Date { year, month: 1, day: 1 }.day_number();
        let year = (guess.saturating_sub(30)..=guess).rev().find(|&year| new_year(year) <= number)?;
        let mut left = number - new_year(year);
        for month in 1..=12 {
            let days = i64::from(days_in(year, month));
            if left < days {
                return Some(Date { year, month, day: left as u8 + 1 });
            }
            left -= days;
        }
        None
    }
}

fn days_in(year: u16, month: u8) -> u8 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => 29,
        2 => 28,
        _ => 31,
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_that_do_not_exist_are_no_dates() {
        for text in
            ["2003-02-29", "1900-02-29", "2003-13-01", "2003-00-10", "2003-04-31", "03-04-17", "2003/04/17"]
        {
            assert!(Date::parse(text).is_none(), "{text}");
        }
        assert!(Date::parse("2000-02-29").is_some() && Date::parse("2004-02-29").is_some());
    }

    #[test]
    fn day_numbers_count_every_day_once() {
        assert_eq!(Date::parse("1970-01-01").unwrap().day_number(), 0);
        assert_eq!(Date::parse("2000-03-01").unwrap().day_number(), 11_017);
        let first = Date::parse("0000-01-01").unwrap().day_number();
        let last = Date::parse("9999-12-31").unwrap().day_number();
        let mut before = None;
        for number in first..=last {
            let date = Date::from_day_number(number).unwrap();
            assert_eq!(date.day_number(), number);
            assert!(before < Some((date.year, date.month, date.day)));
            before = Some((date.year, date.month, date.day));
        }
        assert!(Date::from_day_number(first - 1).is_none() && Date::from_day_number(last + 1).is_none());
        assert!(Date::from_day_number(i64::MAX).is_none() && Date::from_day_number(i64::MIN).is_none());
    }
}
