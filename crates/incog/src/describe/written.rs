//! How does a column write its numbers, dates and missing values, where nobody says so?
//!
//! What is certain is taken, and written into the job; what is not is a reason for somebody to decide. Only columns of numbers and dates
//! are looked at: in a column of words `NA` may be a word.
//!
//! | taken | where |
//! |---|---|
//! | `missing` | words such as `NA` or `NULL` ([`MARKERS`]), and all other values are numbers or dates |
//! | `decimal`, `thousands` | all values are numbers so, not all are otherwise, and some value can be nothing else: `2,5` or `1.234,5`, not `2,500` |
//! | `date_format` | one common form fits all values |
//!
//! Cost: each distinct value once for each way to write it; most ways end at the first value.

use incog_core::Result;
use incog_core::table::label::EMPTY_TEXT;
use incog_core::table::{Column, Reading, Table};
use incog_core::value::Notation;

use crate::plan::notation::{Forms, Reads};
use crate::recognize::values::is_other_date;

/// What programs write where a value is missing. None of it is a number or a date.
const MARKERS: [&str; 16] = [
    "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NaT", "NULL", "null", "#NULL!", "None", ".", "-",
    "--", "?",
];

/// What was found out of a column, beyond what was said of it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Written {
    /// Keys of its table in a job, and their values as TOML.
    pub(crate) keys: Vec<(&'static str, String)>,
    /// Why somebody must say how its values are written.
    pub(crate) doubt: Option<String>,
}

/// The table, read as its columns turn out to be written, and what was found out of each.
pub(crate) fn settled(table: Table) -> Result<(Table, Vec<Written>)> {
    let mut found = Vec::new();
    let mut readings: Vec<Option<Reading>> = Vec::new();
    for column in table.columns() {
        let (written, reading) = look(column)?;
        found.push(written);
        readings.push(reading);
    }
    if readings.iter().all(Option::is_none) {
        return Ok((table, found));
    }
    let settle = |(column, reading): (&Column, Option<Reading>)| match reading {
        None => Ok(column.clone()),
        // Notations alone change no value.
        Some(reading) if reading.missing == column.reading().missing => {
            Ok(column.clone().with_reading(reading))
        }
        Some(reading) => column.clone().read_as(reading),
    };
    let columns = table.columns().iter().zip(readings).map(settle).collect::<Result<_>>()?;
    Ok((Table::new(columns)?, found))
}

/// What is found out of a column, and how it is to be read for that.
fn look(column: &Column) -> Result<(Written, Option<Reading>)> {
    let values: Vec<&str> =
        column.dictionary().values().filter(|value| !value.is_empty() && *value != EMPTY_TEXT).collect();
    let (markers, rest): (Vec<&str>, Vec<&str>) =
        values.into_iter().partition(|value| MARKERS.contains(value));
    let given = column.reading();
    let mut written = Written::default();
    if rest.is_empty() {
        return Ok((written, None));
    }
    let Some(notation) = measured(&rest, &given.notation, &mut written)? else {
        return Ok((written, None));
    };
    let mut missing = given.missing.clone();
    missing.extend(markers.iter().map(|&marker| marker.to_owned()));
    if !markers.is_empty() {
        let all: Vec<String> = missing.iter().map(|marker| toml_text(marker)).collect();
        written.keys.push(("missing", format!("[{}]", all.join(", "))));
    }
    let is_as_given = missing == given.missing && notation == given.notation;
    Ok((written, (!is_as_given).then(|| Reading { missing, notation, ..given.clone() })))
}

/// How numbers or dates are written, if all these values are such; tells what was found out of it.
fn measured(values: &[&str], given: &Notation, written: &mut Written) -> Result<Option<Notation>> {
    let all_numbers = |notation: &Notation| values.iter().all(|value| notation.number(value).is_some());
    let all_dates = |notation: &Notation| values.iter().all(|value| notation.date_and_time(value).is_some());
    if all_numbers(given) && !values.iter().all(|value| is_other_date(value)) || all_dates(given) {
        return Ok(Some(given.clone()));
    }
    let with_dates = |notation: Notation| {
        given.dates().map_or(notation.clone(), |format| notation.with_dates(format.clone()))
    };
    if given.decimal() == '.' && given.thousands().is_none() {
        for (decimal, thousands) in [(',', None), (',', Some('.')), ('.', Some(','))] {
            let notation = with_dates(Notation::new(decimal, thousands)?);
            if all_numbers(&notation) && values.iter().any(|value| is_certain(value, decimal, thousands)) {
                written.keys.push(("decimal", toml_text(&decimal.to_string())));
                if let Some(thousands) = thousands {
                    written.keys.push(("thousands", toml_text(&thousands.to_string())));
                }
                return Ok(Some(notation));
            }
        }
        if all_numbers(&Notation::new(',', None)?) {
            written.doubt = Some("numbers with a comma, which may separate thousands or decimals: say `thousands` or `decimal`".into());
            return Ok(None);
        }
    }
    // A date has a digit: words need not be tried.
    if given.dates().is_some() || !values[0].bytes().any(|byte| byte.is_ascii_digit()) {
        return Ok(None);
    }
    Ok(match Forms::of(values, Reads::DayAndTime)? {
        Forms::One(format) => {
            written.keys.push(("date_format", toml_text(format.as_str())));
            Some(given.clone().with_dates(format))
        }
        Forms::Two(one, other) => {
            written.doubt = Some(format!(
                "dates whose day and month could change places: say date_format = \"{}\" or \"{}\", then they can be a \
                 quasi-identifier in calendar units",
                one.as_str(),
                other.as_str()
            ));
            None
        }
        Forms::Iso | Forms::Best(_) => None,
    })
}

/// Is this a number in no other notation? A mark that three digits follow may be the other one.
fn is_certain(value: &str, decimal: char, thousands: Option<char>) -> bool {
    let n_marks = |mark: char| value.matches(mark).count();
    let has_part = value
        .rsplit_once(decimal)
        .is_some_and(|(_, part)| part.len() != 3 || thousands.is_some_and(|mark| n_marks(mark) > 0));
    match thousands {
        None => has_part,
        // Two marks, or the same one twice.
        Some(mark) => n_marks(mark) > 1 || n_marks(mark) == 1 && n_marks(decimal) == 1 && has_part,
    }
}

/// A text of this file as TOML; none has a quote in it.
fn toml_text(text: &str) -> String {
    format!("\"{text}\"")
}

#[cfg(test)]
mod tests {
    use incog_core::table::Role;

    use super::*;

    #[track_caller]
    fn check(cells: &[&str], keys: &[(&str, &str)], doubt: Option<&str>) {
        let column = Column::from_cells("c", Role::Other, cells.iter().copied()).unwrap();
        let (table, found) = settled(Table::new(vec![column]).unwrap()).unwrap();
        let of = &found[0];
        let written: Vec<(&str, &str)> = of.keys.iter().map(|(key, value)| (*key, value.as_str())).collect();
        assert_eq!(written, keys, "{cells:?}");
        assert_eq!(of.doubt.is_some(), doubt.is_some(), "{cells:?}");
        assert!(doubt.is_none_or(|part| of.doubt.as_ref().unwrap().contains(part)), "{:?}", of.doubt);
        let n_missing = (0..table.n_rows()).filter(|&row| table.columns()[0].cell(row).is_empty()).count();
        let is_marker = |cell: &&&str| cell.is_empty() || !keys.is_empty() && MARKERS.contains(*cell);
        assert_eq!(n_missing, cells.iter().filter(is_marker).count(), "{cells:?}");
    }

    #[test]
    fn what_is_certain_is_taken() {
        check(&["34", "NA", "", "36"], &[("missing", "[\"NA\"]")], None);
        check(&["2003-04-17", "NaT"], &[("missing", "[\"NaT\"]")], None);
        check(&["2,5", "3", "1,125"], &[("decimal", "\",\"")], None);
        check(&["1.234,5", "3"], &[("decimal", "\",\""), ("thousands", "\".\"")], None);
        check(&["1,234.5", "3"], &[("decimal", "\".\""), ("thousands", "\",\"")], None);
        check(&["1,234,567", "3"], &[("decimal", "\".\""), ("thousands", "\",\"")], None);
        check(&["31.12.2003", "?"], &[("date_format", "\"%d.%m.%Y\""), ("missing", "[\"?\"]")], None);
        check(&["31.12.2003 10:30", "1.1.2004 11:00"], &[("date_format", "\"%d.%m.%Y\"")], None);
        check(&["12/31/2003", "01/02/2004"], &[("date_format", "\"%m/%d/%Y\"")], None);
    }

    #[test]
    fn what_is_not_certain_is_left_to_somebody() {
        check(&["2,500", "1,125"], &[], Some("`thousands` or `decimal`"));
        check(&["01/02/2003", "03/04/2004"], &[], Some("%d/%m/%Y"));
        for cells in [
            &["34", "36.0", "1.234"][..],
            &["NA", "US", "DE"],
            &["NA", "-"],
            &["none", "1", "2"],
            &["1.2.3", "4.5.6.7"],
            &["2003-04-17"],
            &["", ""],
        ] {
            check(cells, &[], None);
        }
    }
}
