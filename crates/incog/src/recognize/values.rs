//! What does a text look like: a number, a date, digits?

use incog_core::hierarchy::spec::{Decimal, IntervalKind, Intervals};

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

/// Is it one as most are: up to fifteen digits, perhaps a sign, perhaps a point between digits?
fn is_short_number(value: &str) -> bool {
    let digits = value.strip_prefix('-').unwrap_or(value);
    let (whole, rest) = digits.split_once('.').unwrap_or((digits, "0"));
    digits.len() <= 16 && !whole.is_empty() && !rest.is_empty() && is_digits(whole) && is_digits(rest)
}

/// Is it a date that calendar units can be made of?
pub(crate) fn is_date(value: &str) -> bool {
    day_number(value).is_some()
}

pub(crate) fn day_number(value: &str) -> Option<i64> {
    let (date, time) = value.split_at_checked(10)?;
    if !(time.is_empty() || time.starts_with(['T', ' '])) {
        return None;
    }
    Intervals::parse(IntervalKind::Dates, date)?.to_i64()
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

/// The year and the month of a date that calendar units can be made of.
pub(crate) fn year_and_month(value: &str) -> Option<(i64, i64)> {
    Some((value.get(..4)?.parse().ok()?, value.get(5..7)?.parse().ok()?))
}
