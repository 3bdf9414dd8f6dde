//! What does a text look like: a number, a date, digits?

use incog_core::hierarchy::spec::{Decimal, IntervalKind, Intervals};

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
    pub(super) fn of<'a, I: Iterator<Item = &'a str>>(values: &impl Fn() -> I) -> Self {
        let whole = |value: &'a str| value.strip_suffix(".0").unwrap_or(value);
        if !values().all(|value| !whole(value).is_empty() && is_digits(whole(value))) {
            return Digits::Whole;
        }
        let lengths = || values().map(|value| whole(value).len());
        if values().any(|value| value.ends_with(".0")) {
            return Digits::Floats(lengths().max().unwrap_or(0));
        }
        let is_uneven = lengths().min() != lengths().max() && !values().any(|value| value.starts_with('0'));
        if is_uneven { Digits::Uneven } else { Digits::Whole }
    }
}

pub(super) fn is_year(value: &str) -> bool {
    value.len() == 4 && is_digits(value) && ("1800"..="2199").contains(&value)
}

pub(super) fn is_digits(value: &str) -> bool {
    value.bytes().all(|byte| byte.is_ascii_digit())
}

/// Is it a number that intervals can be made of?
pub(super) fn is_number(value: &str) -> bool {
    Decimal::parse(value).is_some()
}

/// Is it a date that calendar units can be made of?
pub(super) fn is_date(value: &str) -> bool {
    day_number(value).is_some()
}

pub(super) fn day_number(value: &str) -> Option<i64> {
    let (date, time) = value.split_at_checked(10)?;
    if !(time.is_empty() || time.starts_with(['T', ' '])) {
        return None;
    }
    Intervals::parse(IntervalKind::Dates, date)?.to_i64()
}

/// Is it a date written otherwise: 17.04.2003, 4/17/03, 2003/4/17, or 20030417?
pub(super) fn is_other_date(value: &str) -> bool {
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
