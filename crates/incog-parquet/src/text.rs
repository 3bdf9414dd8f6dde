//! A value as text, and back.
//!
//! [`parse`] undoes what [`Formatter`] does, exactly. Formatting is Arrow's. Parsing is Arrow's where that is exact
//! over the whole range, and spelled out here for decimals (Arrow rounds) and for points in time (Arrow's parser
//! wants four-digit years, and the zone's rules for a zoned timestamp).

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, BooleanArray, Date32Array, LargeStringArray, NullArray,
    PrimitiveArray, StringArray, StringViewArray,
};
use arrow_buffer::i256;
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_cast::parse::Parser;
use arrow_schema::{ArrowError, DataType, TimeUnit};

const NANOS_A_SECOND: i128 = 1_000_000_000;
pub(crate) const MILLIS_A_DAY: i64 = 86_400_000;

/// Without this option an error would be written in place of the value.
const OPTIONS: FormatOptions<'_> = FormatOptions::new().with_display_error(false);

/// Writes single values of an array as text.
pub(crate) struct Formatter<'a> {
    plain: ArrayFormatter<'a>,
    date64: Option<&'a PrimitiveArray<Date64Type>>,
}

impl<'a> Formatter<'a> {
    /// For an array that [`in_utc`] has been applied to.
    pub(crate) fn new(array: &'a dyn Array) -> Result<Self, ArrowError> {
        let date64 = array.as_primitive_opt::<Date64Type>();
        Ok(Formatter { plain: ArrayFormatter::try_new(array, &OPTIONS)?, date64 })
    }

    /// Writes one value, which must not be null. Fails for a point in time beyond the calendar.
    pub(crate) fn write(&self, row_idx: usize, text: &mut String) -> Result<(), ArrowError> {
        text.clear();
        if let Some(millis) = self.date64.map(|dates| dates.value(row_idx))
            && millis % MILLIS_A_DAY == 0
            && let Ok(day) = i32::try_from(millis / MILLIS_A_DAY)
        {
            let day = Date32Array::from(vec![day]);
            return ArrayFormatter::try_new(&day, &OPTIONS)?.value(0).write(text);
        }
        self.plain.value(row_idx).write(text)
    }
}

/// The same instants, to be shown in UTC: one text per instant, whatever the zone's rules are or become.
pub(crate) fn in_utc(array: &ArrayRef) -> ArrayRef {
    fn utc<T: ArrowTimestampType>(array: &ArrayRef) -> ArrayRef {
        Arc::new(array.as_primitive::<T>().clone().with_timezone("+00:00"))
    }
    match array.data_type() {
        DataType::Timestamp(TimeUnit::Second, Some(_)) => utc::<TimestampSecondType>(array),
        DataType::Timestamp(TimeUnit::Millisecond, Some(_)) => utc::<TimestampMillisecondType>(array),
        DataType::Timestamp(TimeUnit::Microsecond, Some(_)) => utc::<TimestampMicrosecondType>(array),
        DataType::Timestamp(TimeUnit::Nanosecond, Some(_)) => utc::<TimestampNanosecondType>(array),
        _ => array.clone(),
    }
}

/// The values behind texts (none: null); nothing if one of the texts is not of the type.
pub(crate) fn parse(data_type: &DataType, texts: &[Option<&str>]) -> Option<ArrayRef> {
    use DataType::*;
    let array: ArrayRef = match data_type {
        Null if texts.iter().all(Option::is_none) => Arc::new(NullArray::new(texts.len())),
        Utf8 => Arc::new(texts.iter().copied().collect::<StringArray>()),
        LargeUtf8 => Arc::new(texts.iter().copied().collect::<LargeStringArray>()),
        Utf8View => Arc::new(texts.iter().copied().collect::<StringViewArray>()),
        Boolean => {
            let values = values(texts, |text| match text {
                "true" => Some(true),
                "false" => Some(false),
                _ => None,
            });
            Arc::new(BooleanArray::from(values?))
        }
        Int8 => parsed::<Int8Type>(texts)?,
        Int16 => parsed::<Int16Type>(texts)?,
        Int32 => parsed::<Int32Type>(texts)?,
        Int64 => parsed::<Int64Type>(texts)?,
        UInt8 => parsed::<UInt8Type>(texts)?,
        UInt16 => parsed::<UInt16Type>(texts)?,
        UInt32 => parsed::<UInt32Type>(texts)?,
        UInt64 => parsed::<UInt64Type>(texts)?,
        Float16 => parsed::<Float16Type>(texts)?,
        Float32 => parsed::<Float32Type>(texts)?,
        Float64 => parsed::<Float64Type>(texts)?,
        Decimal32(precision, scale) => decimals::<Decimal32Type>(texts, *precision, *scale, narrow)?,
        Decimal64(precision, scale) => decimals::<Decimal64Type>(texts, *precision, *scale, narrow)?,
        Decimal128(precision, scale) => decimals::<Decimal128Type>(texts, *precision, *scale, i256::to_i128)?,
        Decimal256(precision, scale) => decimals::<Decimal256Type>(texts, *precision, *scale, Some)?,
        Date32 => parsed::<Date32Type>(texts)?,
        Date64 => with::<Date64Type>(texts, |text| instant(text, TimeUnit::Millisecond))?,
        Time32(TimeUnit::Second) => parsed::<Time32SecondType>(texts)?,
        Time32(TimeUnit::Millisecond) => parsed::<Time32MillisecondType>(texts)?,
        Time64(TimeUnit::Microsecond) => parsed::<Time64MicrosecondType>(texts)?,
        Time64(TimeUnit::Nanosecond) => parsed::<Time64NanosecondType>(texts)?,
        Timestamp(TimeUnit::Second, zone) => timestamps::<TimestampSecondType>(texts, zone.as_ref())?,
        Timestamp(TimeUnit::Millisecond, zone) => {
            timestamps::<TimestampMillisecondType>(texts, zone.as_ref())?
        }
        Timestamp(TimeUnit::Microsecond, zone) => {
            timestamps::<TimestampMicrosecondType>(texts, zone.as_ref())?
        }
        Timestamp(TimeUnit::Nanosecond, zone) => timestamps::<TimestampNanosecondType>(texts, zone.as_ref())?,
        _ => return None,
    };
    Some(array)
}

/// Every text's value; nothing if there is a text without one.
fn values<T>(texts: &[Option<&str>], value: impl Fn(&str) -> Option<T>) -> Option<Vec<Option<T>>> {
    texts.iter().map(|text| text.map_or(Some(None), |text| value(text).map(Some))).collect()
}

fn with<T: ArrowPrimitiveType>(
    texts: &[Option<&str>],
    value: impl Fn(&str) -> Option<T::Native>,
) -> Option<ArrayRef> {
    Some(Arc::new(PrimitiveArray::<T>::from_iter(values(texts, value)?)))
}

fn parsed<T: ArrowPrimitiveType + Parser>(texts: &[Option<&str>]) -> Option<ArrayRef> {
    with::<T>(texts, T::parse)
}

fn decimals<T: DecimalType>(
    texts: &[Option<&str>],
    precision: u8,
    scale: i8,
    native: impl Fn(i256) -> Option<T::Native>,
) -> Option<ArrayRef> {
    let values = values(texts, |text| {
        unscaled(text, scale)
            .and_then(&native)
            .filter(|&value| T::is_valid_decimal_precision(value, precision))
    })?;
    let array = PrimitiveArray::<T>::from_iter(values);
    Some(Arc::new(array.with_precision_and_scale(precision, scale).ok()?))
}

fn narrow<N: TryFrom<i128>>(value: i256) -> Option<N> {
    N::try_from(value.to_i128()?).ok()
}

/// The integer that, divided by ten to the power of the scale, is the decimal. Exact, never rounded.
fn unscaled(text: &str, scale: i8) -> Option<i256> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if fraction.len() != usize::try_from(scale).unwrap_or(0) || !is_digits(fraction) {
        return None;
    }
    let digits = whole.strip_prefix('-').unwrap_or(whole);
    if digits.is_empty() || !is_digits(digits) {
        return None;
    }
    if digits.bytes().all(|digit| digit == b'0') && scale < 0 {
        return Some(i256::ZERO);
    }
    // A negative scale shows as that many zeros at the end.
    let n_zeros = usize::from(scale.min(0).unsigned_abs());
    let (whole, zeros) = whole.split_at_checked(whole.len().checked_sub(n_zeros)?)?;
    if zeros.bytes().any(|digit| digit != b'0') {
        return None;
    }
    i256::from_string(&format!("{whole}{fraction}"))
}

fn timestamps<T: ArrowTimestampType>(texts: &[Option<&str>], zone: Option<&Arc<str>>) -> Option<ArrayRef> {
    let values = values(texts, |text| {
        let text = if zone.is_some() { text.strip_suffix('Z')? } else { text };
        instant(text, T::UNIT)
    })?;
    Some(Arc::new(PrimitiveArray::<T>::from_iter(values).with_timezone_opt(zone.cloned())))
}

/// The units since 1970 of a date, or of a date and a time of day.
fn instant(text: &str, unit: TimeUnit) -> Option<i64> {
    let (date, time) = text.split_once('T').unwrap_or((text, "00:00:00"));
    let day = i128::from(Date32Type::parse(date)?);
    let nanos = day * 86_400 * NANOS_A_SECOND + i128::from(Time64NanosecondType::parse(time)?);
    let nanos_a_unit = match unit {
        TimeUnit::Second => NANOS_A_SECOND,
        TimeUnit::Millisecond => 1_000_000,
        TimeUnit::Microsecond => 1_000,
        TimeUnit::Nanosecond => 1,
    };
    if nanos % nanos_a_unit != 0 {
        return None;
    }
    i64::try_from(nanos / nanos_a_unit).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(array: &ArrayRef) -> Vec<String> {
        let array = in_utc(array);
        let formatter = Formatter::new(&array).unwrap();
        let mut text = String::new();
        (0..array.len())
            .map(|row_idx| {
                formatter.write(row_idx, &mut text).unwrap();
                text.clone()
            })
            .collect()
    }

    #[track_caller]
    fn check(data_type: &DataType, expected: &[&str]) {
        let wanted: Vec<_> = expected.iter().copied().map(Some).collect();
        let array = parse(data_type, &wanted).expect("every text is of the type");
        assert_eq!(array.data_type(), data_type);
        assert_eq!(texts(&array), expected, "{data_type}");
    }

    #[test]
    fn a_value_has_one_canonical_text() {
        check(&DataType::Boolean, &["true", "false"]);
        check(&DataType::Int64, &["-9223372036854775808", "0", "9223372036854775807"]);
        check(&DataType::UInt64, &["18446744073709551615"]);
        check(&DataType::Float64, &["0.1", "-0.0", "1e300", "NaN", "inf", "-inf", "5e-324"]);
        check(&DataType::Decimal128(5, 2), &["12.50", "-0.05", "0.00", "999.99"]);
        check(&DataType::Decimal128(5, -2), &["1200", "-100"]);
        check(&DataType::Date32, &["2003-04-17", "0001-01-01", "-0044-03-15", "+12003-04-17"]);
        check(&DataType::Date64, &["2003-04-17", "2003-04-17T12:30:00", "1969-12-31"]);
        check(&DataType::Time32(TimeUnit::Millisecond), &["12:30:00", "12:30:00.250", "23:59:59.999"]);
        check(
            &DataType::Timestamp(TimeUnit::Second, None),
            &["2003-04-17T12:30:00", "+12003-04-17T12:30:00"],
        );
        let berlin = DataType::Timestamp(TimeUnit::Nanosecond, Some("Europe/Berlin".into()));
        check(&berlin, &["2003-04-17T10:30:00Z", "2003-04-17T10:30:00.000000001Z"]);
    }

    #[test]
    fn a_text_that_is_not_of_the_type_is_refused() {
        for (data_type, text) in [
            (DataType::Boolean, "yes"),
            (DataType::Int8, "128"),
            (DataType::UInt8, "-1"),
            (DataType::Float64, "[0, 10)"),
            (DataType::Decimal128(5, 2), "1.5"),
            (DataType::Decimal128(5, 2), "1.505"),
            (DataType::Decimal128(5, 2), "1000.00"),
            (DataType::Decimal128(5, -2), "1250"),
            (DataType::Decimal256(5, 2), "-.00"),
            (DataType::Date32, "2003-02-29"),
            (DataType::Date64, "2003-04-17T12:30:00.0001"),
            (DataType::Timestamp(TimeUnit::Second, None), "2003-04-17T12:30:00.5"),
            (DataType::Timestamp(TimeUnit::Second, Some("UTC".into())), "2003-04-17T12:30:00"),
        ] {
            assert!(parse(&data_type, &[Some(text)]).is_none(), "{data_type}: {text}");
        }
    }

    #[test]
    fn decimals_of_any_scale_keep_every_digit() {
        for scale in [-3, -1, 0, 1, 4, 9] {
            let array = Arc::new(
                PrimitiveArray::<Decimal32Type>::from(vec![0, 1, -1, 10, -100, 123_456_789, -999_999_999])
                    .with_precision_and_scale(9, scale)
                    .unwrap(),
            ) as ArrayRef;
            let texts = texts(&array);
            let texts: Vec<_> = texts.iter().map(|text| Some(text.as_str())).collect();
            assert_eq!(&parse(array.data_type(), &texts).unwrap(), &array, "scale {scale}");
        }
    }
}
