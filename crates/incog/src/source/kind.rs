//! What are the values of a column, if they are not only text?
//!
//! Text has no types, and formats that have them are read by programs that want them. A column of text that is released as it was collected
//! is written as what all its released values are:
//!
//! | kind | all values are |
//! |---|---|
//! | truth values | `true`, `false` |
//! | whole numbers | whole, of 64 bits |
//! | numbers | decimals that a float of 64 bits gives back digit for digit |
//! | days | dates, as the column writes them |
//! | points in time | `2003-04-17T12:30:00`, also with a space or with fractions of a second |
//!
//! A value with a leading zero is a code, not a number. And no two values of the column, released or not, may be the same number or day
//! (`1.0` and `1.00`): from the release and the data, everybody can tell which cell was which ([`keys`]).

use std::borrow::Cow;

use incog_core::hash;
use incog_core::table::label;
use incog_core::value::{Date, Decimal, Notation};

/// What the values of a column are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    Boolean,
    Whole,
    Number,
    /// Numbers of any length, digit for digit.
    Exact,
    Date,
    Time,
}

impl Kind {
    /// What all used labels are that are not null.
    pub(crate) fn found(labels: &[&str], used: &[bool], notation: &Notation) -> Self {
        let texts = || {
            labels.iter().zip(used).filter(|(_, used)| **used).filter_map(|(label, _)| label::text_of(label))
        };
        let Some(first) = texts().next() else {
            return Kind::Text;
        };
        let kinds = [Kind::Boolean, Kind::Whole, Kind::Number, Kind::Date, Kind::Time];
        // Most kinds are ruled out by the first value.
        let fits =
            |kind: &&Kind| kind.reads(first, notation) && texts().all(|text| kind.reads(text, notation));
        let Some(kind) = kinds.iter().find(fits) else {
            return Kind::Text;
        };
        let mut seen: hash::Set<String> = hash::Set::default();
        let mut all = labels.iter().filter_map(|label| label::text_of(label));
        let is_told_apart = all.all(|text| kind.key(text, notation).is_none_or(|key| seen.insert(key)));
        if is_told_apart { *kind } else { Kind::Text }
    }

    /// What the values of an Arrow type are.
    #[cfg(feature = "parquet")]
    pub(crate) fn of_type(of: &incog_parquet::ColumnType, labels: &[&str], used: &[bool]) -> Self {
        let kind = if of.is_boolean() {
            Kind::Boolean
        } else if of.is_number() {
            Kind::Number
        } else if of.is_date() {
            Kind::Date
        } else {
            return Kind::Text;
        };
        let texts = labels.iter().zip(used).filter(|(_, used)| **used);
        let mut texts = texts.filter_map(|(label, _)| label::text_of(label));
        // NaN is no number elsewhere, nor is a year beyond 9999 a date.
        if texts.all(|text| kind.reads(text, &Notation::PLAIN)) { kind } else { Kind::Text }
    }

    /// What texts of the kind have in common that are the same.
    fn key(self, text: &str, notation: &Notation) -> Option<String> {
        match self {
            Kind::Text | Kind::Boolean => None,
            Kind::Whole | Kind::Number | Kind::Exact => {
                notation.number(text).map(|number| format!("n{number}"))
            }
            Kind::Date => notation.date(text).map(|date| format!("d{date}")),
            Kind::Time => time(text).map(|time| format!("t{time}")),
        }
    }

    /// Is this text of the kind?
    fn reads(self, text: &str, notation: &Notation) -> bool {
        match self {
            Kind::Text => true,
            Kind::Boolean => matches!(text, "true" | "false"),
            Kind::Whole => {
                // 34.0 is a float, and is written as one.
                let is_plain = !text.contains([notation.decimal(), 'e', 'E']) && !is_code(text);
                let number = notation.number(text).filter(|_| is_plain);
                number.is_some_and(|number| number.to_string().parse::<i64>().is_ok())
            }
            Kind::Number => notation.number(text).is_some_and(|number| !is_code(text) && is_float(&number)),
            Kind::Exact => notation.number(text).is_some(),
            Kind::Date => notation.date(text).is_some(),
            Kind::Time => time(text).is_some(),
        }
    }

    /// The label as the kind writes it; null stays null.
    pub(crate) fn canonical<'a>(self, label: &'a str, notation: &Notation) -> Cow<'a, str> {
        let is_plain = *notation == Notation::PLAIN;
        let written = match self {
            _ if label.is_empty() => None,
            Kind::Text | Kind::Boolean | Kind::Exact => None,
            Kind::Whole | Kind::Number if is_plain && is_json_number(label) => None,
            Kind::Whole | Kind::Number => notation.number(label).map(|number| number.to_string()),
            Kind::Date => notation.date(label).map(|date| date.to_string()),
            Kind::Time => time(label),
        };
        written.map_or(Cow::Borrowed(label), Cow::Owned)
    }
}

/// What two texts have in common that are the same number, day or point in time: each by itself, as 20030417 may be several.
pub(crate) fn keys(text: &str, notation: &Notation) -> impl Iterator<Item = String> {
    [Kind::Number, Kind::Date, Kind::Time].into_iter().filter_map(|kind| kind.key(text, notation))
}

/// Has it a leading zero or a sign that no number needs?
fn is_code(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text).as_bytes();
    matches!(digits, [b'0', b'0'..=b'9', ..] | [b'+', ..])
}

/// Does a float of 64 bits give the number back?
fn is_float(number: &Decimal) -> bool {
    let float: Option<f64> = number.to_string().parse().ok();
    float
        .is_some_and(|float| float.is_finite() && Decimal::parse(&float.to_string()).as_ref() == Some(number))
}

/// Is it a number as JSON writes them?
pub(crate) fn is_json_number(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let whole = digits.bytes().take_while(u8::is_ascii_digit).count();
    if whole == 0 || whole > 1 && digits.starts_with('0') {
        return false;
    }
    let mut rest = &digits[whole..];
    if let Some(behind) = rest.strip_prefix('.') {
        let n = behind.bytes().take_while(u8::is_ascii_digit).count();
        rest = &behind[n..];
        if n == 0 {
            return false;
        }
    }
    if let Some(exponent) = rest.strip_prefix(['e', 'E']) {
        let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        return !exponent.is_empty() && exponent.bytes().all(|byte| byte.is_ascii_digit());
    }
    rest.is_empty()
}

/// A point in time of no zone as `2003-04-17T12:30:00.25`, without zeros at the end of a fraction; to the microsecond.
pub(crate) fn time(text: &str) -> Option<String> {
    let (date, time) = text.split_at_checked(10)?;
    Date::parse(date)?;
    let time = time.strip_prefix(['T', ' '])?;
    let (clock, fraction) = match time.split_once('.') {
        Some((clock, fraction)) => (clock, fraction),
        None => (time, ""),
    };
    let parts: Vec<&str> = clock.split(':').collect();
    let [hour, minute, second] = parts[..] else {
        return None;
    };
    let below = |part: &str, end: u8| {
        part.len() == 2
            && part.bytes().all(|byte| byte.is_ascii_digit())
            && part.parse::<u8>().is_ok_and(|n| n < end)
    };
    let is_time = below(hour, 24) && below(minute, 60) && below(second, 60);
    let is_fraction = fraction.len() <= 6 && fraction.bytes().all(|byte| byte.is_ascii_digit());
    if !is_time || !is_fraction || time.ends_with('.') {
        return None;
    }
    let fraction = fraction.trim_end_matches('0');
    let point = if fraction.is_empty() { "" } else { "." };
    Some(format!("{date}T{clock}{point}{fraction}"))
}

#[cfg(test)]
mod tests {
    use incog_core::value::DateFormat;

    use super::*;

    #[track_caller]
    fn check(labels: &[&str], expected: Kind) {
        assert_eq!(Kind::found(labels, &vec![true; labels.len()], &Notation::PLAIN), expected, "{labels:?}");
    }

    #[test]
    fn a_column_is_what_all_its_values_are() {
        check(&["true", "", "false"], Kind::Boolean);
        check(&["34", "-1", "", "0"], Kind::Whole);
        check(&["34", "2.5", "1e5", ".5"], Kind::Number);
        check(&["34.0", "35.0"], Kind::Number);
        check(&["900e0"], Kind::Number);
        check(&["46.074175824175"], Kind::Number);
        check(&["2003-04-17", "2004-02-29"], Kind::Date);
        check(&["2003-04-17T12:30:00", "2003-04-17 12:30:00.25"], Kind::Time);
        for labels in [
            &["01001", "53715"][..],
            &["34", "x"],
            &["1.0", "1.00"],
            &["1", "1.0"],
            &["12345678901234567890.5"],
            &["0.1234567890123456789"],
            &["1e400"],
            &["+5"],
            &["True", "False"],
            &["2003-04-17", "17.04.2003"],
            &["2003-04-17T25:00:00"],
            &["2003-04-17T12:00:00Z"],
            &[""],
            &[],
        ] {
            check(labels, Kind::Text);
        }
        check(&["9223372036854775807"], Kind::Whole);
    }

    #[test]
    fn values_that_are_not_released_do_not_count_but_must_be_told_apart() {
        let found = |labels: &[&str], used: &[bool]| Kind::found(labels, used, &Notation::PLAIN);
        assert_eq!(found(&["34", "x"], &[true, false]), Kind::Whole);
        assert_eq!(found(&["34", "34.0"], &[true, false]), Kind::Text);
    }

    #[test]
    fn what_is_written_is_canonical() {
        let german =
            Notation::new(',', Some('.')).unwrap().with_dates(DateFormat::parse("%d.%m.%Y").unwrap());
        assert_eq!(Kind::Number.canonical("1.234,50", &german), "1234.5");
        assert_eq!(Kind::Date.canonical("17.04.2003", &german), "2003-04-17");
        assert_eq!(Kind::Number.canonical("1.50", &Notation::PLAIN), "1.50");
        assert_eq!(Kind::Number.canonical(".5", &Notation::PLAIN), "0.5");
        assert_eq!(
            Kind::Time.canonical("2003-04-17 12:30:00.250", &Notation::PLAIN),
            "2003-04-17T12:30:00.25"
        );
        assert_eq!(Kind::Text.canonical("", &Notation::PLAIN), "");
        for text in ["0", "-1.5", "1e5", "1E-5", "10"] {
            assert!(is_json_number(text), "{text}");
        }
        for text in ["", "-", "01", "1.", ".5", "1e", "+1", "1e+", "NaN", "1 "] {
            assert!(!is_json_number(text), "{text}");
        }
    }
}
