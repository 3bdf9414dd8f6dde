//! What number or day does a cell stand for, as it is written?
//!
//! Everything is read from the text, digit by digit, and nothing is rounded. A [`Number`] is its digits without zeros at either end and
//! where the point stands among them, so that spellings of one number (`1`, `1.0`, `10e-1`) are equal. A day is its number since
//! 1970-01-01. Anything else is not read: a cell that is neither is equal to itself only.

use std::cmp::Ordering;

/// How numbers and dates are written in a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Style {
    /// The decimal mark.
    pub decimal: char,
    /// What may stand between thousands.
    pub thousands: Option<char>,
    /// Dates as `strptime` would read them, `%d.%m.%Y`; `2003-04-17` unless given.
    pub dates: Option<String>,
}

impl Default for Style {
    fn default() -> Self {
        Style { decimal: '.', thousands: None, dates: None }
    }
}

/// Digits of a number at most, and zeros that may come from its exponent.
const MOST_DIGITS: usize = 10_000;
const MOST_ZEROS: i64 = 1_000;

/// Some digits, none of which is a zero at either end: 0.d₁d₂d₃… · 10^`point`. Zero has no digits.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Number {
    is_negative: bool,
    digits: Vec<u8>,
    point: i64,
}

impl Number {
    /// From digits (0 to 9) in front of and behind the point.
    fn of(is_negative: bool, mut digits: Vec<u8>, mut point: i64) -> Self {
        let n_zeros = digits.iter().take_while(|&&digit| digit == 0).count();
        digits.drain(..n_zeros);
        point -= n_zeros as i64;
        while digits.last() == Some(&0) {
            digits.pop();
        }
        if digits.is_empty() {
            return Number { is_negative: false, digits, point: 0 };
        }
        Number { is_negative, digits, point }
    }

    /// Reads `-12`, `3.50`, `.5`, `5.`, `1.5e3`.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let (is_negative, unsigned) = match text.as_bytes() {
            [b'-', rest @ ..] => (true, rest),
            [b'+', rest @ ..] => (false, rest),
            all => (false, all),
        };
        if unsigned.len() > MOST_DIGITS {
            return None;
        }
        let mut parts = unsigned.splitn(2, |byte| byte.eq_ignore_ascii_case(&b'e'));
        let (mantissa, exponent) = (parts.next()?, parts.next());
        let shift = match exponent {
            None => 0,
            Some([b'-', digits @ ..]) => -whole(digits)?,
            Some([b'+', digits @ ..]) => whole(digits)?,
            Some(digits) => whole(digits)?,
        };
        let mut digits = Vec::with_capacity(mantissa.len());
        let mut point = None;
        for &byte in mantissa {
            match byte {
                b'.' if point.is_none() => point = Some(digits.len() as i64),
                b'0'..=b'9' => digits.push(byte - b'0'),
                _ => return None,
            }
        }
        let n_digits = digits.len() as i64;
        (n_digits > 0).then(|| Number::of(is_negative, digits, point.unwrap_or(n_digits) + shift))
    }

    /// Digits behind the point.
    fn n_behind(&self) -> i64 {
        (self.digits.len() as i64 - self.point).max(0)
    }

    /// One in the last decimal place that any of some numbers has.
    pub(crate) fn unit<'a>(numbers: impl Iterator<Item = &'a Number>) -> Self {
        let n_behind = numbers.map(Number::n_behind).max().unwrap_or(0);
        Number { is_negative: false, digits: vec![1], point: 1 - n_behind }
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.digits.is_empty()
    }

    pub(crate) fn is_positive(&self) -> bool {
        !self.is_negative && !self.digits.is_empty()
    }

    /// The digit at a place: 0 is the last in front of the point, -1 the first behind it.
    fn digit(&self, place: i64) -> u8 {
        let at = self.point - 1 - place;
        usize::try_from(at).ok().and_then(|at| self.digits.get(at)).copied().unwrap_or(0)
    }

    /// The sum with a number above zero.
    pub(crate) fn plus(&self, other: &Number) -> Self {
        let lowest = -self.n_behind().max(other.n_behind());
        let highest = self.point.max(other.point).max(0);
        // Digit by digit from the lowest place; a negative number is what is left below zero.
        let (mut digits, mut carry) = (Vec::new(), 0_i8);
        let is_below = self.is_negative && Number { is_negative: false, ..self.clone() } > *other;
        for place in lowest..=highest {
            let (mine, others) = (self.digit(place) as i8, other.digit(place) as i8);
            let sum = match (self.is_negative, is_below) {
                (false, _) => mine + others,
                (true, true) => mine - others,
                (true, false) => others - mine,
            } + carry;
            digits.push(sum.rem_euclid(10) as u8);
            carry = sum.div_euclid(10);
        }
        digits.reverse();
        Number::of(is_below, digits, highest + 1)
    }

    /// Is it a whole multiple of a number above zero of at most 37 digits? Other steps have no multiples.
    pub(crate) fn is_multiple_of(&self, step: &Number) -> bool {
        if self.digits.is_empty() {
            return true;
        }
        if step.digits.len() > 37 {
            return false;
        }
        // With b·10^f and a·10^e, both without zeros at their ends: f must not be less than e, and a divides b·10^(f − e).
        let exponent = |number: &Number| number.point - number.digits.len() as i64;
        let n_zeros = exponent(self) - exponent(step);
        if n_zeros < 0 {
            return false;
        }
        let by = step.digits.iter().fold(0_u128, |by, &digit| by * 10 + u128::from(digit));
        let zeros = std::iter::repeat_n(&0, n_zeros as usize);
        self.digits.iter().chain(zeros).fold(0, |rest, &digit| (rest * 10 + u128::from(digit)) % by) == 0
    }
}

impl From<i64> for Number {
    fn from(number: i64) -> Self {
        let digits: Vec<u8> = number.unsigned_abs().to_string().bytes().map(|byte| byte - b'0').collect();
        let point = digits.len() as i64;
        Number::of(number < 0, digits, point)
    }
}

impl Ord for Number {
    fn cmp(&self, other: &Self) -> Ordering {
        let sign = |number: &Number| i8::from(number.is_positive()) - i8::from(number.is_negative);
        // Without zeros in front, the point tells which is greater; then the first digit that differs.
        let size = || self.point.cmp(&other.point).then_with(|| self.digits.cmp(&other.digits));
        match sign(self).cmp(&sign(other)) {
            Ordering::Equal if self.is_negative => size().reverse(),
            Ordering::Equal => size(),
            order => order,
        }
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Digits only, at least one, of an exponent that is not too large.
fn whole(digits: &[u8]) -> Option<i64> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let number =
        digits.iter().fold(0, |number, &byte| (number * 10 + i64::from(byte - b'0')).min(MOST_ZEROS + 1));
    (number <= MOST_ZEROS).then_some(number)
}

impl Style {
    /// Reads a number.
    pub(crate) fn number(&self, text: &str) -> Option<Number> {
        if self.decimal == '.' && self.thousands.is_none() {
            return Number::read(text);
        }
        let is_mark = |letter: char| {
            self.thousands.is_some_and(|mark| {
                letter == mark || mark == ' ' && ['\u{A0}', '\u{202F}', '\u{2009}'].contains(&letter)
            })
        };
        let mut plain = String::new();
        // Digits since the last separator; `None` before the first.
        let (mut since, mut n_before, mut is_behind) = (None, 0, false);
        for letter in text.chars() {
            if letter == self.decimal && !is_behind {
                if since.is_some_and(|n| n != 3) {
                    return None;
                }
                is_behind = true;
                plain.push('.');
            } else if is_mark(letter) && !is_behind {
                let fits = since.map_or((1..=3).contains(&n_before), |n| n == 3);
                if !fits {
                    return None;
                }
                since = Some(0);
            } else if letter == '.' {
                return None;
            } else {
                let is_exponent = letter.eq_ignore_ascii_case(&'e');
                if is_exponent && !is_behind {
                    if since.is_some_and(|n| n != 3) {
                        return None;
                    }
                    is_behind = true;
                }
                if letter.is_ascii_digit() && !is_behind {
                    match &mut since {
                        Some(n) => *n += 1,
                        None => n_before += 1,
                    }
                }
                plain.push(letter);
            }
        }
        if !is_behind && since.is_some_and(|n| n != 3) {
            return None;
        }
        Number::read(&plain)
    }

    /// Reads a day.
    pub(crate) fn day(&self, text: &str) -> Option<i64> {
        match &self.dates {
            None => day(text),
            Some(format) => day_as(format, text),
        }
    }
}

/// Reads a day of the calendar that we have now, from `0000-01-01` to `9999-12-31`.
pub(crate) fn day(text: &str) -> Option<i64> {
    let bytes = text.as_bytes();
    if bytes.len() != 10 || bytes[4] != b'-' || bytes[7] != b'-' {
        return None;
    }
    day_of(short(&bytes[..4])?, short(&bytes[5..7])?, short(&bytes[8..])?)
}

fn day_of(year: i64, month: i64, day: i64) -> Option<i64> {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let lengths = [31, if is_leap { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let month = usize::try_from(month).ok()?.checked_sub(1)?;
    if day < 1 || day > *lengths.get(month)? {
        return None;
    }
    Some(new_year(year) + lengths[..month].iter().sum::<i64>() + day - 1)
}

/// Reads where an interval of days begins or ends. A day that no year of four digits has is written as its number.
pub(crate) fn end_of_days(text: &str) -> Option<i64> {
    let beyond = || {
        let day: i64 = text.parse().ok()?;
        (day < new_year(0) || day >= new_year(10_000)).then_some(day)
    };
    day(text).or_else(beyond)
}

/// A few digits and nothing else.
fn short(bytes: &[u8]) -> Option<i64> {
    bytes
        .iter()
        .try_fold(0, |number, byte| byte.is_ascii_digit().then(|| number * 10 + i64::from(byte - b'0')))
}

/// The day number of a year's first day.
fn new_year(year: i64) -> i64 {
    // Leap years before it, the year 0 being one.
    let leaps =
        |year: i64| if year == 0 { 0 } else { (year - 1) / 4 - (year - 1) / 100 + (year - 1) / 400 + 1 };
    365 * (year - 1970) + leaps(year) - leaps(1970)
}

/// Reads a day that is written in a format, all of it.
fn day_as(format: &str, text: &str) -> Option<i64> {
    const NAMES: [&str; 12] =
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    const WHOLE: [&str; 12] = [
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
    let (mut year, mut month, mut day) = (None, None, None);
    let mut rest = text;
    let take = |rest: &mut &str, least: usize, most: usize| -> Option<i64> {
        let n = rest.bytes().take(most).take_while(u8::is_ascii_digit).count();
        let (digits, behind) = rest.split_at(n);
        *rest = behind;
        if n < least { None } else { short(digits.as_bytes()) }
    };
    let mut letters = format.chars();
    while let Some(letter) = letters.next() {
        let directive = if letter == '%' { letters.next()? } else { '\0' };
        match directive {
            'Y' => year = Some(take(&mut rest, 4, 4)?),
            'y' => {
                let short = take(&mut rest, 2, 2)?;
                year = Some(if short >= 69 { 1900 + short } else { 2000 + short });
            }
            'm' => month = Some(take(&mut rest, 1, 2)?),
            'd' | 'e' => day = Some(take(&mut rest, 1, 2)?),
            'H' | 'I' | 'M' | 'S' => _ = take(&mut rest, 1, 2)?,
            'f' => _ = take(&mut rest, 1, 9)?,
            'p' => {
                let half = rest.get(..2)?.to_ascii_lowercase();
                rest = &rest[2..];
                if half != "am" && half != "pm" {
                    return None;
                }
            }
            'b' | 'B' => {
                let n = rest.bytes().take_while(u8::is_ascii_alphabetic).count();
                let name = rest[..n].to_ascii_lowercase();
                let name = if name == "sept" { "sep".to_owned() } else { name };
                let at = NAMES.iter().position(|other| *other == name);
                let at = at.or_else(|| WHOLE.iter().position(|other| *other == name))?;
                month = Some(at as i64 + 1);
                rest = &rest[n..];
                if n < 5 {
                    rest = rest.strip_prefix('.').unwrap_or(rest);
                }
            }
            '%' => rest = rest.strip_prefix('%')?,
            '\0' if letter.is_whitespace() => {
                let behind = rest.trim_start();
                if behind.len() == rest.len() {
                    return None;
                }
                rest = behind;
            }
            '\0' => rest = rest.strip_prefix(letter)?,
            _ => return None,
        }
    }
    if rest.is_empty() { day_of(year?, month?, day?) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Number {
        Number::read(text).unwrap_or_else(|| panic!("{text} is a number"))
    }

    #[test]
    fn spellings_of_a_number_are_one_number() {
        for (text, same) in [
            ("37", "+37"),
            ("37", "037.000"),
            ("0.13", ".13"),
            ("-0.130000000000", "-.13"),
            ("-0", "0"),
            ("5.", "5"),
            ("1e5", "100000"),
            ("1.5E-3", "0.0015"),
            ("12.5e+1", "125"),
            ("0e9", "0.0"),
        ] {
            assert_eq!(number(text), number(same), "{text}");
        }
        let long = "9".repeat(MOST_DIGITS + 1);
        for text in [
            "", "-", "+", ".", "e5", "1e", "1e+", "1e1e1", "--1", " 1", "1 ", "1,5", "٣", "0x1", "1.-5",
            "1.2.3", "inf", "1e1001", &long,
        ] {
            assert_eq!(Number::read(text), None, "{text}");
        }
    }

    #[test]
    fn numbers_of_any_length_are_ordered() {
        let ascending = [
            "-1e300",
            "-10.5",
            "-10",
            "-9",
            "-0.01",
            "0",
            "5e-324",
            "0.001",
            "0.01",
            "0.1",
            "0.10000000000000000000000000000000000000001",
            "1",
            "1.5",
            "9",
            "10",
            "10.5",
            "123456789012345678901234567890",
            "123456789012345678901234567890.5",
            "1e300",
        ];
        for (at, left) in ascending.iter().enumerate() {
            for (other, right) in ascending.iter().enumerate() {
                assert_eq!(number(left).cmp(&number(right)), at.cmp(&other), "{left} {right}");
            }
        }
    }

    #[test]
    fn sums_and_multiples_are_those_of_integers() {
        let small: Vec<i64> = vec![-1234, -100, -11, -10, -9, -1, 0, 1, 9, 10, 99, 100, 12345];
        for &a in &small {
            for b in [1_i64, 3, 9, 10, 11, 99, 100, 101, 2500] {
                assert_eq!(Number::from(a).plus(&Number::from(b)), Number::from(a + b), "{a} + {b}");
                assert_eq!(Number::from(a).is_multiple_of(&Number::from(b)), a % b == 0, "{a} / {b}");
            }
        }
        assert_eq!(number("-0.05").plus(&number("0.01")), number("-0.04"));
        assert_eq!(number("-0.05").plus(&number("0.1")), number("0.05"));
        assert_eq!(
            number("99999999999999999999999999999999999999999.9").plus(&number("0.1")),
            number("1e41")
        );
        assert!(
            number("1e40").is_multiple_of(&number("0.25")) && !number("1e40").is_multiple_of(&number("0.3"))
        );
        assert!(!number("0.005").is_multiple_of(&number("0.01")));
        assert_eq!(Number::unit([number("1.25"), number("100")].iter()), number("0.01"));
        assert_eq!(Number::unit([number("1e5")].iter()), number("1"));
    }

    #[test]
    fn marks_are_read_as_the_style_says() {
        let german = Style { decimal: ',', thousands: Some('.'), dates: None };
        for (text, plain) in [
            ("1.234.567,89", "1234567.89"),
            ("-1.234", "-1234"),
            ("1234567,8", "1234567.8"),
            ("1,5e3", "1500"),
        ] {
            assert_eq!(german.number(text), Number::read(plain), "{text}");
        }
        for text in ["1.23", "12.34,5", "1234.567", ".123", "1..234", "1.234.", "1.2345", "1,234.5", "1,2,3"]
        {
            assert_eq!(german.number(text), None, "{text}");
        }
        let comma = Style { decimal: ',', ..Style::default() };
        assert_eq!((comma.number("2,5"), comma.number("2.5")), (Number::read("2.5"), None));
    }

    #[test]
    fn days_are_read_as_the_format_says() {
        let style = |dates: &str| Style { dates: Some(dates.into()), ..Style::default() };
        let expected = day("2003-04-07");
        for (format, text) in [
            ("%d.%m.%Y", "07.04.2003"),
            ("%d.%m.%Y", "7.4.2003"),
            ("%m/%d/%y", "4/7/03"),
            ("%Y%m%d", "20030407"),
            ("%d %b %Y", "7 apr 2003"),
            ("%B %d, %Y", "April 7, 2003"),
            ("%d.%m.%Y %H:%M", "07.04.2003 10:30"),
        ] {
            assert_eq!(style(format).day(text), expected, "{text}");
        }
        for (format, text) in [
            ("%d.%m.%Y", "31.04.2003"),
            ("%d.%m.%Y", "7.4.03"),
            ("%d.%m.%Y", "07.04.20031"),
            ("%d.%m", "07.04"),
            ("%q", "7"),
        ] {
            assert_eq!(style(format).day(text), None, "{text}");
        }
    }

    /// Day after day from year 0 on, as a calendar is written.
    #[test]
    fn days_follow_each_other() {
        let mut expected = day("0000-01-01").unwrap();
        for year in 0..10_000 {
            for month in 1..=12 {
                for number in 1..=31 {
                    if let Some(found) = day(&format!("{year:04}-{month:02}-{number:02}")) {
                        assert_eq!(found, expected, "{year}-{month}-{number}");
                        expected += 1;
                    }
                }
            }
        }
        assert_eq!(expected, new_year(10_000));
        assert_eq!((day("1970-01-01"), day("2000-03-01")), (Some(0), Some(11_017)), "date -d 2000-03-01 +%s");
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
            assert_eq!(day(text), None, "{text}");
        }
        assert!(day("2000-02-29").is_some() && day("1900-02-29").is_none());
    }

    #[test]
    fn only_ends_beyond_the_calendar_are_day_numbers() {
        assert_eq!(end_of_days("2932897"), Some(2_932_897), "the day after 9999-12-31");
        assert_eq!(day("9999-12-31"), Some(2_932_896));
        for text in ["2932896", "0", "12", "2932897.5", ""] {
            assert_eq!(end_of_days(text), None, "{text}");
        }
    }
}
