//! Does a label contain a value?
//!
//! | label | contains |
//! |---|---|
//! | `[20, 40)`, `(20, 40]`, `< 10`, `<= 9`, `> 89`, `>= 90` | numbers in between; with dates as bounds, dates |
//! | `537**`, `**715` | values with that start (or end) and as many characters, or as many as the longest value that is masked, or as the rule says |
//! | `2003-04`, `2003-Q2`, `2003`, `2000s` | dates in that month, quarter, year, decade |
//!
//! Anything else is a name, and a name contains what the hierarchy says. The last kind is only looked at where the
//! value is a date: elsewhere `2003` may be a name.

use incog_core::hierarchy::spec::{Decimal, IntervalKind, Intervals};

/// What can be said of a label and a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Containment {
    /// The label is a name, or the value itself.
    Nothing,
    /// The value lies inside.
    Inside,
    /// The value lies outside.
    Outside,
    /// The label is an interval and the value is neither number nor date, nor missing.
    Unclear,
}

/// Does the label contain the value? `longest` is how many characters values are padded to.
pub(super) fn containment(label: &str, value: &str, longest: usize) -> Containment {
    if label == value {
        return Containment::Nothing;
    }
    if let Some(interval) = Interval::parse(label) {
        return interval.containment(value);
    }
    let is_inside = mask_contains(label, value, longest).or_else(|| date_label_contains(label, value));
    match is_inside {
        None => Containment::Nothing,
        Some(true) => Containment::Inside,
        Some(false) => Containment::Outside,
    }
}

/// Numbers or days between bounds.
struct Interval {
    kind: IntervalKind,
    from: Option<Bound>,
    to: Option<Bound>,
}

struct Bound {
    at: Decimal,
    is_included: bool,
}

impl Interval {
    fn parse(label: &str) -> Option<Self> {
        let label = label.trim();
        [IntervalKind::Numbers, IntervalKind::Dates].into_iter().find_map(|kind| {
            let bound = |text: &str, is_included| {
                Some(Bound { at: Intervals::parse(kind, text.trim())?, is_included })
            };
            for (sign, is_included) in [("<=", true), ("<", false)] {
                if let Some(rest) = label.strip_prefix(sign) {
                    return Some(Interval { kind, from: None, to: Some(bound(rest, is_included)?) });
                }
            }
            for (sign, is_included) in [(">=", true), (">", false)] {
                if let Some(rest) = label.strip_prefix(sign) {
                    return Some(Interval { kind, from: Some(bound(rest, is_included)?), to: None });
                }
            }
            let starts_included = label.starts_with('[');
            let ends_included = label.ends_with(']');
            let inner = label.strip_prefix(['[', '('])?.strip_suffix([']', ')'])?;
            let (from, to) = inner.split_once(',').or_else(|| inner.split_once(';'))?;
            Some(Interval {
                kind,
                from: Some(bound(from, starts_included)?),
                to: Some(bound(to, ends_included)?),
            })
        })
    }

    fn containment(&self, value: &str) -> Containment {
        if value.is_empty() {
            return Containment::Outside;
        }
        let number = match self.kind {
            IntervalKind::Numbers => Decimal::parse(value),
            IntervalKind::Dates => day_of(value).and_then(|day| Intervals::parse(IntervalKind::Dates, day)),
        };
        let Some(number) = number else {
            return Containment::Unclear;
        };
        let is_after = |bound: &Bound| number > bound.at || bound.is_included && number == bound.at;
        let is_before = |bound: &Bound| number < bound.at || bound.is_included && number == bound.at;
        if self.from.as_ref().is_none_or(is_after) && self.to.as_ref().is_none_or(is_before) {
            Containment::Inside
        } else {
            Containment::Outside
        }
    }
}

/// The date of `2003-04-17` or `2003-04-17T10:30`, if it exists.
fn day_of(value: &str) -> Option<&str> {
    let (day, time) = value.split_at_checked(10)?;
    let is_date = time.is_empty() || time.starts_with(['T', ' ']);
    (is_date && Intervals::parse(IntervalKind::Dates, day).is_some()).then_some(day)
}

/// Is this label a mask?
pub(super) fn is_mask(label: &str) -> bool {
    mask_contains(label, "", 0).is_some()
}

/// `537**` or `**715`: stars at one end, something else at the other.
fn mask_contains(label: &str, value: &str, longest: usize) -> Option<bool> {
    let (start, end) = (label.trim_end_matches('*'), label.trim_start_matches('*'));
    let agrees = match (start.len() < label.len(), end.len() < label.len()) {
        (true, false) => value.starts_with(start),
        (false, true) => value.ends_with(end),
        _ => return None,
    };
    let length = label.chars().count();
    Some(agrees && (length == value.chars().count() || length == longest))
}

/// A calendar unit, where the value is a date.
fn date_label_contains(label: &str, value: &str) -> Option<bool> {
    let day = day_of(value)?;
    let (year, month) = (&day[..4], &day[5..7]);
    let all_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let (label_year, rest) = label.split_at_checked(4)?;
    if !all_digits(label_year) {
        return None;
    }
    match rest.as_bytes() {
        [] => Some(label_year == year),
        [b's'] if label_year.ends_with('0') => Some(label_year[..3] == year[..3]),
        [b'-', b'Q', quarter @ b'1'..=b'4'] => {
            let of_value = month.parse::<u8>().ok()?.div_ceil(3);
            Some(label_year == year && quarter - b'0' == of_value)
        }
        [b'-', a, b] if a.is_ascii_digit() && b.is_ascii_digit() => {
            Some(label_year == year && &rest[1..] == month)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Containment::{Inside, Nothing, Outside, Unclear};

    #[track_caller]
    fn check(label: &str, expected: &[(&str, Containment)]) {
        for &(value, expected) in expected {
            assert_eq!(containment(label, value, 5), expected, "{value} in {label}");
        }
    }

    #[test]
    fn intervals_contain_what_lies_between_their_bounds() {
        check(
            "[20, 40)",
            &[("20", Inside), ("39.9", Inside), ("40", Outside), ("19", Outside), ("", Outside)],
        );
        check("(20,40]", &[("20", Outside), ("40", Inside), ("old", Unclear), ("90+", Unclear)]);
        check("< 10", &[("9", Inside), ("-5", Inside), ("10", Outside)]);
        check("<= 10", &[("10", Inside), ("11", Outside)]);
        check(">= 90", &[("90", Inside), ("89", Outside)]);
        check("> 90", &[("90", Outside), ("91", Inside)]);
        check("[40, 20)", &[("30", Outside)]);
        check(
            "[2003-01-01, 2003-02-01)",
            &[("2003-01-31T23:59", Inside), ("2003-02-01", Outside), ("2003", Unclear)],
        );
        check("[low, high)", &[("3", Nothing)]);
        check("<unknown>", &[("3", Nothing)]);
    }

    #[test]
    fn masks_agree_in_what_they_show_and_in_length() {
        check("537**", &[("53715", Inside), ("53815", Outside), ("5371", Inside), ("", Outside)]);
        check("53**", &[("5371", Inside), ("53715", Outside)]);
        check("***15", &[("53715", Inside), ("53716", Outside)]);
        check("äö*", &[("äöü", Inside)]);
        check("*", &[("53715", Nothing)]);
        check("*****", &[("53715", Nothing)]);
        check("*a*", &[("xax", Nothing)]);
    }

    #[test]
    fn calendar_units_contain_their_dates() {
        check("2003-04", &[("2003-04-17", Inside), ("2003-05-17", Outside), ("2003-04-31", Nothing)]);
        check("2003-Q2", &[("2003-04-17", Inside), ("2003-07-01", Outside), ("2004-04-17", Outside)]);
        check("2003", &[("2003-04-17 10:30", Inside), ("2004-04-17", Outside), ("53715", Nothing)]);
        check("2000s", &[("2009-12-31", Inside), ("2010-01-01", Outside), ("2003", Nothing)]);
        check("spring", &[("2003-04-17", Nothing)]);
    }

    #[test]
    fn a_label_that_is_the_value_says_nothing() {
        check("537**", &[("537**", Nothing)]);
    }
}
