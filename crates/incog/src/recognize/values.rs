//! What does a text look like: a number, a date, digits?

use std::borrow::Cow;

use incog_core::hierarchy::spec::{Decimal, IntervalKind, Intervals};
use incog_core::value::Notation;

/// What may have been done to whole numbers that are codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Digits {
    /// Nothing that shows, or they are no whole numbers.
    Whole,
    /// They have different lengths, and none starts with 0.
    Uneven,
    /// They were made floats: 1001.0. The longest has this many digits before its point.
    Floats(usize),
}

impl Digits {
    /// Of a column with these values.
    pub(super) fn of(values: &[&str]) -> Self {
        if !values.iter().all(|value| !whole(value).is_empty() && is_digits(whole(value))) {
            return Digits::Whole;
        }
        let lengths = || values.iter().map(|value| whole(value).len());
        if values.iter().any(|value| value.ends_with(".0")) {
            return Digits::Floats(lengths().max().unwrap_or(0));
        }
        let is_uneven =
            lengths().min() != lengths().max() && !values.iter().any(|value| value.starts_with('0'));
        if is_uneven { Digits::Uneven } else { Digits::Whole }
    }

    /// A value as it is once its digits are restored.
    pub(super) fn restored(self, value: &str) -> Cow<'_, str> {
        match self {
            Digits::Floats(length) => Cow::Owned(format!("{:0>length$}", whole(value))),
            Digits::Whole | Digits::Uneven => Cow::Borrowed(value),
        }
    }
}

/// The digits before the point of a whole float.
fn whole(value: &str) -> &str {
    value.strip_suffix(".0").unwrap_or(value)
}

pub(crate) fn is_year(value: &str) -> bool {
    value.len() == 4 && is_digits(value) && ("1800"..="2199").contains(&value)
}

pub(crate) fn is_digits(value: &str) -> bool {
    value.bytes().all(|byte| byte.is_ascii_digit())
}

/// Is it a number that intervals can be made of?
pub(crate) fn is_number(value: &str) -> bool {
    is_short_number(value) || Decimal::parse(value).is_some()
}

/// The number that a column with this notation writes so, as far as widths need to know.
pub(super) fn magnitude(value: &str, notation: &Notation) -> Option<f64> {
    if is_plain(notation) { value.parse().ok() } else { notation.number(value)?.to_string().parse().ok() }
}

/// Is it a number in a column with this notation?
pub(super) fn is_number_in(value: &str, notation: &Notation) -> bool {
    if is_plain(notation) { is_number(value) } else { notation.number(value).is_some() }
}

/// Is it a whole one, 12 or 12.0?
pub(super) fn is_whole_in(value: &str, notation: &Notation) -> bool {
    let is_short = is_plain(notation) && is_short_number(value) && !value.contains('.');
    is_short || notation.number(value).is_some_and(|number| number.is_whole())
}

/// Is it one from 1800 to 2199?
pub(super) fn is_year_in(value: &str, notation: &Notation) -> bool {
    let year = notation.number(value).and_then(|number| number.to_i64());
    year.is_some_and(|year| (1800..2200).contains(&year))
}

fn is_plain(notation: &Notation) -> bool {
    notation.decimal() == '.' && notation.thousands().is_none()
}

/// Is it one as most are: up to fifteen digits, perhaps a sign, perhaps a point between digits?
fn is_short_number(value: &str) -> bool {
    let digits = value.strip_prefix('-').unwrap_or(value);
    let (whole, rest) = digits.split_once('.').unwrap_or((digits, "0"));
    digits.len() <= 16 && !whole.is_empty() && !rest.is_empty() && is_digits(whole) && is_digits(rest)
}

/// Is it a date that calendar units can be made of?
pub(crate) fn is_date(value: &str) -> bool {
    Notation::PLAIN.date_and_time(value).is_some()
}

/// Is it a date written otherwise: 17.04.2003, 4/17/03, 2003/4/17, or 20030417?
pub(crate) fn is_other_date(value: &str) -> bool {
    if value.len() == 8 && is_digits(value) {
        return Intervals::parse(
            IntervalKind::Dates,
            &format!("{}-{}-{}", &value[..4], &value[4..6], &value[6..]),
        )
        .is_some_and(|_| ("1800".."2200").contains(&&value[..4]));
    }
    let date = value.split([' ', 'T']).next().unwrap_or_default();
    ['.', '/', '-'].iter().any(|&separator| {
        let parts: Vec<&str> = date.split(separator).collect();
        parts.len() == 3
            && parts.iter().all(|part| (1..=4).contains(&part.len()) && is_digits(part))
            && parts.iter().filter(|part| part.len() > 2).count() <= 1
    })
}
