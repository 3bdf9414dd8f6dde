//! How are dates written, if not as 2003-04-17?
//!
//! A format is what `strptime` takes, as far as days go: `%d.%m.%Y` reads 17.04.2003.
//!
//! | directive | reads |
//! |---|---|
//! | `%Y` | a year of four digits |
//! | `%y` | a year of two digits: 69 to 99 are 1969 to 1999, 00 to 68 are 2000 to 2068 |
//! | `%m`, `%d` | a month, a day, with or without its leading zero |
//! | `%b`, `%B` | a month's English name, short or whole, in any case |
//! | `%H`, `%I`, `%M`, `%S`, `%f`, `%p` | a time of day, which is no part of the day and is passed over |
//! | `%%` | a percent sign |
//!
//! A space reads any number of spaces; every other character reads itself.

use crate::error::{Error, Result};
use crate::value::Date;

/// A way to write dates.
///
/// # Invariants
/// Year, month and day stand in `items` once each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DateFormat {
    text: String,
    items: Vec<Item>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Item {
    Year,
    ShortYear,
    Month,
    MonthName,
    Day,
    /// Digits of a time, at most this number.
    Digits(usize),
    AmOrPm,
    Spaces,
    Character(char),
}

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

impl DateFormat {
    /// Forms that are common and, but for the order of day and month, cannot be taken for each other. Where a pair differs in
    /// nothing but that order, both are here, one after the other.
    pub const COMMON: [&'static str; 16] = [
        "%Y-%m-%d",
        "%Y/%m/%d",
        "%Y.%m.%d",
        "%Y%m%d",
        "%d.%m.%Y",
        "%d.%m.%y",
        "%d/%m/%Y",
        "%m/%d/%Y",
        "%d/%m/%y",
        "%m/%d/%y",
        "%d-%m-%Y",
        "%m-%d-%Y",
        "%d %b %Y",
        "%d-%b-%Y",
        "%d-%b-%y",
        "%b %d, %Y",
    ];

    /// Reads a format.
    pub fn parse(text: &str) -> Result<Self> {
        let wrong = |what: &str| {
            Error::input(format!("`{text}` is not a date format: {what}"))
                .with_hint("for example \"%d.%m.%Y\" for 17.04.2003, \"%m/%d/%y\" for 4/17/03")
        };
        let mut items = Vec::new();
        let mut characters = text.chars();
        while let Some(character) = characters.next() {
            items.push(match character {
                '%' => match characters.next() {
                    Some('Y') => Item::Year,
                    Some('y') => Item::ShortYear,
                    Some('m') => Item::Month,
                    Some('b' | 'B') => Item::MonthName,
                    Some('d' | 'e') => Item::Day,
                    Some('H' | 'I' | 'M' | 'S') => Item::Digits(2),
                    Some('f') => Item::Digits(9),
                    Some('p') => Item::AmOrPm,
                    Some('%') => Item::Character('%'),
                    Some(other) => return Err(wrong(&format!("`%{other}` is none of its parts"))),
                    None => return Err(wrong("it ends in `%`")),
                },
                _ if character.is_whitespace() => Item::Spaces,
                _ => Item::Character(character),
            });
        }
        let count = |some: &[Item]| items.iter().filter(|item| some.contains(item)).count();
        let has_all = count(&[Item::Year, Item::ShortYear]) == 1
            && count(&[Item::Month, Item::MonthName]) == 1
            && count(&[Item::Day]) == 1;
        if !has_all {
            return Err(wrong(
                "it needs one year (`%Y` or `%y`), one month (`%m` or `%b`) and one day (`%d`)",
            ));
        }
        Ok(DateFormat { text: text.to_owned(), items })
    }

    /// The format as it is written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Reads a date at the start of a text, and tells what follows it.
    pub fn read<'a>(&self, text: &'a str) -> Option<(Date, &'a str)> {
        let (mut year, mut month, mut day) = (0, 0, 0);
        let mut rest = text;
        for item in &self.items {
            match item {
                Item::Year => {
                    let (number, n_digits, behind) = digits(rest, 4);
                    (year, rest) = (number, behind);
                    if n_digits < 4 {
                        return None;
                    }
                }
                Item::ShortYear => {
                    let (number, n_digits, behind) = digits(rest, 2);
                    (year, rest) = (if number < 69 { 2000 + number } else { 1900 + number }, behind);
                    if n_digits < 2 {
                        return None;
                    }
                }
                Item::Month | Item::Day | Item::Digits(_) => {
                    let most = if let Item::Digits(most) = item { *most } else { 2 };
                    let (number, n_digits, behind) = digits(rest, most);
                    if n_digits == 0 {
                        return None;
                    }
                    rest = behind;
                    match item {
                        Item::Month => month = number as u8,
                        Item::Day => day = number as u8,
                        _ => {}
                    }
                }
                Item::MonthName => (month, rest) = month_name(rest)?,
                Item::AmOrPm => {
                    let (half, behind) = rest.split_at_checked(2)?;
                    rest = behind;
                    if !half.eq_ignore_ascii_case("am") && !half.eq_ignore_ascii_case("pm") {
                        return None;
                    }
                }
                Item::Spaces => {
                    let behind = rest.trim_start();
                    if behind.len() == rest.len() {
                        return None;
                    }
                    rest = behind;
                }
                Item::Character(character) => rest = rest.strip_prefix(*character)?,
            }
        }
        // A digit more is another number: 17.04.20031 is no date.
        if rest.starts_with(|character: char| character.is_ascii_digit()) {
            return None;
        }
        Some((Date::new(year, month, day)?, rest))
    }

    /// A date in this format, for messages.
    pub fn show(&self, date: Date) -> String {
        let shown = self.items.iter().map(|item| match item {
            Item::Year => format!("{:04}", date.year()),
            Item::ShortYear => format!("{:02}", date.year() % 100),
            Item::Month => format!("{:02}", date.month()),
            Item::MonthName => {
                let name = MONTHS[usize::from(date.month()) - 1];
                format!("{}{}", name[..1].to_uppercase(), &name[1..3])
            }
            Item::Day => format!("{:02}", date.day()),
            Item::Digits(_) => "00".to_owned(),
            Item::AmOrPm => "AM".to_owned(),
            Item::Spaces => " ".to_owned(),
            Item::Character(character) => character.to_string(),
        });
        shown.collect()
    }
}

/// The number that up to `most` digits at the start of a text are, how many they are, and what follows.
fn digits(text: &str, most: usize) -> (u16, usize, &str) {
    let n = text.bytes().take(most).take_while(u8::is_ascii_digit).count();
    let number = text.bytes().take(n.min(4)).fold(0, |number, byte| number * 10 + u16::from(byte - b'0'));
    (number, n, &text[n..])
}

/// The month whose name a text starts with, whole or its first three letters, and what follows.
fn month_name(text: &str) -> Option<(u8, &str)> {
    let n_letters = text.bytes().take_while(u8::is_ascii_alphabetic).count();
    let (name, rest) = text.split_at(n_letters);
    let is_named = |month: &&str| {
        name.eq_ignore_ascii_case(month)
            || name.eq_ignore_ascii_case(&month[..3])
            || name.eq_ignore_ascii_case("sept") && month.starts_with("sept")
    };
    let at = MONTHS.iter().position(is_named)?;
    // An abbreviation may have its point.
    Some((at as u8 + 1, rest.strip_prefix('.').filter(|_| n_letters < 5).unwrap_or(rest)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(format: &str, text: &str, expected: Option<&str>) {
        let format = DateFormat::parse(format).unwrap();
        let read = format.read(text).filter(|(_, rest)| rest.is_empty());
        assert_eq!(read.map(|(date, _)| date.to_string()).as_deref(), expected, "{text}");
    }

    #[test]
    fn dates_are_read_as_their_format_says() {
        check("%d.%m.%Y", "17.04.2003", Some("2003-04-17"));
        check("%d.%m.%Y", "7.4.2003", Some("2003-04-07"));
        check("%m/%d/%y", "4/17/03", Some("2003-04-17"));
        check("%m/%d/%y", "4/17/69", Some("1969-04-17"));
        check("%m/%d/%y", "4/17/68", Some("2068-04-17"));
        check("%Y%m%d", "20030417", Some("2003-04-17"));
        check("%d %b %Y", "17 apr 2003", Some("2003-04-17"));
        check("%d-%b-%Y", "17-SEP-2003", Some("2003-09-17"));
        check("%B %d, %Y", "April 17,  2003", Some("2003-04-17"));
        check("%d. %b. %Y", "17. Apr.. 2003", Some("2003-04-17"));
        check("%d.%m.%Y %H:%M", "17.04.2003 10:30", Some("2003-04-17"));
        check("%m/%d/%Y %I:%M %p", "04/17/2003 10:30 PM", Some("2003-04-17"));
        for (format, text) in [
            ("%d.%m.%Y", "17.04.03"),
            ("%d.%m.%Y", "31.04.2003"),
            ("%d.%m.%Y", "17.13.2003"),
            ("%d.%m.%Y", "17.04.20031"),
            ("%d.%m.%Y", "17.04.2003 "),
            ("%d.%m.%Y", "17/04/2003"),
            ("%d.%m.%Y", ""),
            ("%d.%m.%Y", "ä"),
            ("%Y%m%d", "2003417"),
            ("%d %b %Y", "17 foo 2003"),
            ("%d %b %Y", "17apr2003"),
        ] {
            check(format, text, None);
        }
    }

    #[test]
    fn a_format_has_a_year_a_month_and_a_day_once() {
        for text in ["", "%d.%m", "%d.%m.%Y.%y", "%d.%d.%m.%Y", "%Y-%m-%q", "%Y-%m-%d%", "plain"] {
            assert!(DateFormat::parse(text).is_err(), "{text}");
        }
        let day = Date::parse("2003-04-17").unwrap();
        for text in DateFormat::COMMON {
            let format = DateFormat::parse(text).unwrap();
            assert_eq!(format.read(&format.show(day)), Some((day, "")), "{text}");
        }
    }
}
