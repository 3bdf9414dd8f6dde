//! How does a column write its numbers and dates?

use crate::error::{Error, Result};
use crate::value::{Date, DateFormat, Decimal};

/// How numbers and dates are written: `1234.5` and `2003-04-17` unless somebody says otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notation {
    decimal: char,
    thousands: Option<char>,
    dates: Option<DateFormat>,
}

impl Default for Notation {
    fn default() -> Self {
        Notation::PLAIN
    }
}

impl Notation {
    /// A decimal point, no separator of thousands, ISO dates.
    pub const PLAIN: Notation = Notation { decimal: '.', thousands: None, dates: None };

    /// Numbers with this decimal mark and this separator of thousands.
    pub fn new(decimal: char, thousands: Option<char>) -> Result<Self> {
        if !matches!(decimal, '.' | ',') {
            return Err(Error::input("a decimal mark is a point or a comma"));
        }
        if let Some(mark) = thousands {
            if mark == decimal {
                return Err(Error::input("thousands are separated by another character than the decimals"));
            }
            if mark.is_ascii_digit() || mark.is_alphabetic() || mark.is_control() || "+-*".contains(mark) {
                return Err(Error::input("thousands are not separated by a digit, a letter or a sign")
                    .with_hint("common are \",\", \".\", \" \" and \"'\""));
            }
        }
        Ok(Notation { decimal, thousands, dates: None })
    }

    /// The same with dates in this format.
    #[must_use]
    pub fn with_dates(mut self, format: DateFormat) -> Self {
        self.dates = (format.as_str() != DateFormat::COMMON[0]).then_some(format);
        self
    }

    /// The decimal mark.
    pub fn decimal(&self) -> char {
        self.decimal
    }

    /// What separates thousands, if anything may.
    pub fn thousands(&self) -> Option<char> {
        self.thousands
    }

    /// The format of dates, if it is not ISO's.
    pub fn dates(&self) -> Option<&DateFormat> {
        self.dates.as_ref()
    }

    /// Reads a number.
    pub fn number(&self, text: &str) -> Option<Decimal> {
        if self.decimal == '.' && self.thousands.is_none() {
            return Decimal::parse(text);
        }
        Decimal::parse(&self.plain(text)?)
    }

    /// The same number with a decimal point and without separators; `None` if separators stand where no thousands end.
    fn plain(&self, text: &str) -> Option<String> {
        let (whole, part) = match text.split_once(self.decimal) {
            Some((whole, part)) => (whole, Some(part)),
            None => (text, None),
        };
        let mut plain = String::with_capacity(text.len());
        match self.thousands {
            Some(mark) => {
                let is_mark = |letter: char| {
                    // Programs write a space that does not break.
                    letter == mark || mark == ' ' && matches!(letter, '\u{A0}' | '\u{202F}' | '\u{2009}')
                };
                let (sign, unsigned) =
                    whole.split_at(whole.len() - whole.trim_start_matches(['-', '+']).len());
                plain.push_str(sign);
                for (at, three) in unsigned.split(is_mark).enumerate() {
                    let is_whole = at == 0 || three.bytes().take_while(u8::is_ascii_digit).count() == 3;
                    if !is_whole || at > 0 && plain[sign.len()..].is_empty() {
                        return None;
                    }
                    plain.push_str(three);
                }
                // 1234.567 is not a number with thousands.
                let first = unsigned.split(is_mark).next().unwrap_or_default();
                if first.len() > 3 && first.len() < unsigned.len() {
                    return None;
                }
            }
            None => plain.push_str(whole),
        }
        // A point is no decimal mark here.
        if self.decimal != '.' && (plain.contains('.') || part.is_some_and(|part| part.contains('.'))) {
            return None;
        }
        if let Some(part) = part {
            plain.push('.');
            plain.push_str(part);
        }
        Some(plain)
    }

    /// Reads a date.
    pub fn date(&self, text: &str) -> Option<Date> {
        match &self.dates {
            None => Date::parse(text),
            Some(format) => format.read(text).and_then(|(date, rest)| rest.is_empty().then_some(date)),
        }
    }

    /// Reads a date which a time may follow, behind a space or a `T`.
    pub fn date_and_time(&self, text: &str) -> Option<Date> {
        let (date, time) = match &self.dates {
            None => {
                let (date, time) = text.split_at_checked(10)?;
                (Date::parse(date)?, time)
            }
            Some(format) => format.read(text)?,
        };
        (time.is_empty() || time.starts_with(['T', ' '])).then_some(date)
    }

    /// A number as it stands in labels.
    pub fn show(&self, number: &Decimal) -> String {
        let shown = number.to_string();
        if self.decimal == '.' { shown } else { shown.replace('.', &self.decimal.to_string()) }
    }

    /// What a date looks like, for messages.
    pub fn sample_date(&self) -> String {
        let sample = Date::new(2003, 4, 17).map(|date| match &self.dates {
            None => date.to_string(),
            Some(format) => format.show(date),
        });
        sample.unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(notation: &Notation, text: &str, expected: Option<&str>) {
        let expected = expected.map(|text| Decimal::parse(text).unwrap());
        assert_eq!(notation.number(text), expected, "{text}");
    }

    #[test]
    fn a_decimal_comma_is_a_decimal_mark_and_a_point_is_not() {
        let comma = Notation::new(',', None).unwrap();
        check(&comma, "2,5", Some("2.5"));
        check(&comma, "-,5", Some("-0.5"));
        check(&comma, "7", Some("7"));
        check(&comma, "1,5e3", Some("1500"));
        for text in ["2.5", "1.234,5", "1,2,3", "", ",", "1.5e3"] {
            check(&comma, text, None);
        }
        assert_eq!(comma.show(&Decimal::parse("-2.50").unwrap()), "-2,5");
    }

    #[test]
    fn thousands_end_where_thousands_end() {
        let german = Notation::new(',', Some('.')).unwrap();
        check(&german, "1.234.567,89", Some("1234567.89"));
        check(&german, "-1.234", Some("-1234"));
        check(&german, "1234567,89", Some("1234567.89"));
        check(&german, "12", Some("12"));
        for text in ["1.23", "12.34,5", "1234.567", ".123", "1..234", "1.234.", "1.2345", "1,234.5"] {
            check(&german, text, None);
        }
        let english = Notation::new('.', Some(',')).unwrap();
        check(&english, "1,234.5", Some("1234.5"));
        check(&english, "999,999", Some("999999"));
        let space = Notation::new(',', Some(' ')).unwrap();
        check(&space, "1 234\u{A0}567,5", Some("1234567.5"));
        assert!(Notation::new(';', None).is_err() && Notation::new(',', Some(',')).is_err());
        assert!(Notation::new('.', Some('5')).is_err() && Notation::new('.', Some('-')).is_err());
    }

    #[test]
    fn a_time_may_follow_a_date_where_it_is_cut_off() {
        let german = Notation::PLAIN.with_dates(DateFormat::parse("%d.%m.%Y").unwrap());
        assert!(german.date("17.04.2003").is_some() && german.date("17.04.2003 10:30").is_none());
        assert!(german.date_and_time("17.04.2003 10:30").is_some() && german.date("2003-04-17").is_none());
        assert!(german.date_and_time("17.04.2003x").is_none());
        assert!(Notation::PLAIN.date_and_time("2003-04-17T10:30").is_some());
        assert_eq!(
            (german.sample_date().as_str(), Notation::PLAIN.sample_date().as_str()),
            ("17.04.2003", "2003-04-17")
        );
    }
}
