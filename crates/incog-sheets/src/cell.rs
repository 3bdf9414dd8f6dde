//! A cell of a sheet as text.

use std::fmt::Write;

use calamine::{Data, DataRef, ExcelDateTime};

/// What a cell holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holds {
    /// Nothing.
    Nothing,
    /// Text, or an error.
    Text,
    /// A number, a date or a truth value.
    Value,
    /// A formula that nobody has worked out: what it comes to is not in the file.
    Formula,
    /// A formula that comes to an empty text.
    EmptyFormula,
}

/// Writes a cell's text behind what is there; tells what the cell holds.
pub(crate) fn write(cell: &DataRef<'_>, text: &mut String) -> Holds {
    let before = text.len();
    match cell {
        DataRef::Empty => return Holds::Nothing,
        DataRef::String(string) => text.push_str(string),
        DataRef::SharedString(string) => text.push_str(string),
        DataRef::Error(error) => text.push_str(&error.to_string()),
        DataRef::Int(number) => return value(text, &number.to_string()),
        DataRef::Float(number) => return write_float(*number, text),
        DataRef::Bool(is_true) => return value(text, if *is_true { "true" } else { "false" }),
        DataRef::DateTime(time) => return value(text, &of_time(time)),
        DataRef::DateTimeIso(iso) => return value(text, &of_iso(iso)),
        DataRef::DurationIso(iso) => return value(text, iso),
    }
    if text.len() == before { Holds::Nothing } else { Holds::Text }
}

/// The same for a cell that has its text.
pub(crate) fn write_owned(cell: &Data, text: &mut String) -> Holds {
    text.clear();
    match cell {
        Data::Empty => return Holds::Nothing,
        Data::String(string) => text.push_str(string),
        Data::Error(error) => text.push_str(&error.to_string()),
        Data::Int(number) => return value(text, &number.to_string()),
        Data::Float(number) => return write_float(*number, text),
        Data::Bool(is_true) => return value(text, if *is_true { "true" } else { "false" }),
        Data::DateTime(time) => return value(text, &of_time(time)),
        Data::DateTimeIso(iso) => return value(text, &of_iso(iso)),
        Data::DurationIso(iso) => return value(text, iso),
    }
    if text.is_empty() { Holds::Nothing } else { Holds::Text }
}

fn value(text: &mut String, written: &str) -> Holds {
    text.push_str(written);
    Holds::Value
}

/// Writes the shortest text that reads back as the same number, behind what is there; whole numbers have no point.
pub(crate) fn write_float(number: f64, text: &mut String) -> Holds {
    if number == 0.0 {
        return value(text, "0");
    }
    let _ = write!(text, "{number:?}");
    if text.ends_with(".0") {
        text.truncate(text.len() - 2);
    }
    Holds::Value
}

fn of_time(time: &ExcelDateTime) -> String {
    if time.is_duration() {
        let millis = (time.as_f64() * 86_400_000.0).round() as i64;
        let (hours, rest) = (millis / 3_600_000, (millis % 3_600_000).abs());
        return format!(
            "{hours:02}:{:02}:{:02}{}",
            rest / 60_000,
            rest / 1000 % 60,
            fraction((rest % 1000) as u16)
        );
    }
    let (year, month, day, hour, minute, second, milli) = time.to_ymd_hms_milli();
    let clock = format!("{hour:02}:{minute:02}:{second:02}{}", fraction(milli));
    if (0.0..1.0).contains(&time.as_f64()) && time.as_f64() > 0.0 {
        clock
    } else if (hour, minute, second, milli) == (0, 0, 0, 0) {
        format!("{year:04}-{month:02}-{day:02}")
    } else {
        format!("{year:04}-{month:02}-{day:02}T{clock}")
    }
}

/// Milliseconds, without zeros at their end.
fn fraction(milli: u16) -> String {
    if milli == 0 { String::new() } else { format!(".{milli:03}").trim_end_matches('0').to_owned() }
}

/// OpenDocument writes midnight out.
fn of_iso(iso: &str) -> String {
    iso.strip_suffix("T00:00:00").unwrap_or(iso).to_owned()
}

#[cfg(test)]
mod tests {
    use calamine::ExcelDateTimeType;

    use super::*;

    #[test]
    fn cells_have_one_canonical_text() {
        for (number, text) in [
            (34.0, "34"),
            (0.1, "0.1"),
            (-2.5, "-2.5"),
            (-0.0, "0"),
            (1e300, "1e300"),
            (1234567.0, "1234567"),
        ] {
            let mut written = "1.0".to_owned();
            write_float(number, &mut written);
            assert_eq!(written, format!("1.0{text}"));
            assert_eq!(text.parse::<f64>().unwrap(), number);
        }
        let time = |value: f64| of_time(&ExcelDateTime::new(value, ExcelDateTimeType::DateTime, false));
        assert_eq!(time(37728.0), "2003-04-17");
        assert_eq!(time(37728.5), "2003-04-17T12:00:00");
        assert_eq!(time(0.5), "12:00:00");
        assert_eq!(of_time(&ExcelDateTime::new(1.5, ExcelDateTimeType::TimeDelta, false)), "36:00:00");
        assert_eq!(of_iso("2003-04-17T00:00:00"), "2003-04-17");
    }
}
