//! Numbers and dates as whole numbers, so that they are compared exactly.
//!
//! A number counts in billionths: nine digits behind the point are all that can be told apart. A date counts in days since
//! 1970-01-01. Anything else is not read: a cell that is neither is equal to itself only.

/// A number of this size is 1.
pub(super) const ONE: i128 = 1_000_000_000;

/// With nine behind the point these fit 128 bits, and so do sums of two.
const MAX_DIGITS: usize = 28;

/// Reads `-12`, `3.50`, `+7`, `007`: no exponent, no spaces, at most nine digits behind the point that are not its last
/// zeros.
pub(super) fn number(text: &str) -> Option<i128> {
    let (sign, unsigned) = match text.as_bytes() {
        [b'-', rest @ ..] => (-1, rest),
        [b'+', rest @ ..] => (1, rest),
        all => (1, all),
    };
    let point = unsigned.iter().position(|&byte| byte == b'.').unwrap_or(unsigned.len());
    let (whole, behind) = (&unsigned[..point], unsigned.get(point + 1..).unwrap_or(&[]));
    if whole.is_empty() || point < unsigned.len() && behind.is_empty() {
        return None;
    }
    let whole = digits(whole)?;
    // Every further digit must be a zero.
    let (kept, rest) = behind.split_at(behind.len().min(9));
    if rest.iter().any(|&byte| byte != b'0') {
        return None;
    }
    let scale = 10_i128.pow(9 - kept.len() as u32);
    Some(sign * (whole * ONE + digits(kept)? * scale))
}

/// A number of digits only; 0 if there are none.
fn digits(bytes: &[u8]) -> Option<i128> {
    let first = bytes.iter().position(|&byte| byte != b'0').unwrap_or(bytes.len());
    if bytes.len() - first > MAX_DIGITS {
        return None;
    }
    bytes.iter().try_fold(0, |number: i128, byte| {
        byte.is_ascii_digit().then(|| number * 10 + i128::from(byte - b'0'))
    })
}

/// Reads a day of the calendar that we have now, from `0000-01-01` to `9999-12-31`.
pub(super) fn date(text: &str) -> Option<i128> {
    let bytes = text.as_bytes();
    if bytes.len() != 10 || bytes[4] != b'-' || bytes[7] != b'-' {
        return None;
    }
    let (year, month, day) = (digits(&bytes[..4])?, digits(&bytes[5..7])?, digits(&bytes[8..])?);
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let lengths = [31, if is_leap { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let month = usize::try_from(month).ok()?.checked_sub(1)?;
    if day < 1 || day > *lengths.get(month)? {
        return None;
    }
    Some(new_year(year) + lengths[..month].iter().sum::<i128>() + day - 1)
}

/// Reads where an interval of days begins or ends. A day that no year of four digits has is written as its number.
pub(super) fn end_of_days(text: &str) -> Option<i128> {
    let beyond = || {
        let day = number(text).filter(|number| number % ONE == 0)? / ONE;
        (day < new_year(0) || day >= new_year(10_000)).then_some(day)
    };
    date(text).or_else(beyond)
}

/// The day number of a year's first day.
fn new_year(year: i128) -> i128 {
    // Leap years before it, the year 0 being one.
    let leaps =
        |year: i128| if year == 0 { 0 } else { (year - 1) / 4 - (year - 1) / 100 + (year - 1) / 400 + 1 };
    365 * (year - 1970) + leaps(year) - leaps(1970)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_a_number_are_one_number() {
        for (text, billionths) in [
            ("37", 37 * ONE),
            ("+37", 37 * ONE),
            ("037.000", 37 * ONE),
            ("0.13", 130_000_000),
            ("-0.130000000000", -130_000_000),
            ("-1250000", -1_250_000 * ONE),
            ("-0", 0),
            ("999999999999999999.999999999", 999_999_999_999_999_999_999_999_999),
        ] {
            assert_eq!(number(text), Some(billionths), "{text}");
        }
        for text in [
            "",
            "-",
            "+",
            ".",
            "1.",
            ".5",
            "--1",
            "1e3",
            " 1",
            "1 ",
            "1,5",
            "٣",
            "1.0000000001",
            "0x1",
            "1.-5",
        ] {
            assert_eq!(number(text), None, "{text}");
        }
        assert_eq!(number(&"9".repeat(29)), None);
        assert_eq!(number(&format!("{}7", "0".repeat(50))), Some(7 * ONE));
        assert!(number(&"9".repeat(28)).is_some());
    }

    /// Day after day from year 0 on, as a calendar is written.
    #[test]
    fn days_follow_each_other() {
        let mut expected = date("0000-01-01").unwrap();
        for year in 0..10_000 {
            for month in 1..=12 {
                for day in 1..=31 {
                    if let Some(found) = date(&format!("{year:04}-{month:02}-{day:02}")) {
                        assert_eq!(found, expected, "{year}-{month}-{day}");
                        expected += 1;
                    }
                }
            }
        }
        assert_eq!(expected, new_year(10_000));
        assert_eq!(
            (date("1970-01-01"), date("2000-03-01")),
            (Some(0), Some(11_017)),
            "date -d 2000-03-01 +%s"
        );
        for text in [
            "2001-02-29",
            "2000-13-01",
            "2000-00-01",
            "2000-01-00",
            "2000-1-01",
            "20000101",
            "2000-01-01T",
            "２０00-01",
        ] {
            assert_eq!(date(text), None, "{text}");
        }
        assert!(date("2000-02-29").is_some() && date("1900-02-29").is_none());
    }

    #[test]
    fn only_ends_beyond_the_calendar_are_day_numbers() {
        assert_eq!(end_of_days("2932897"), Some(2_932_897), "the day after 9999-12-31");
        assert_eq!(date("9999-12-31"), Some(2_932_896));
        for text in ["2932896", "0", "12", "2932897.5", ""] {
            assert_eq!(end_of_days(text), None, "{text}");
        }
    }
}
