//! How are the dates of a column written, where nobody says so?
//!
//! Only columns that are read as dates are looked at: those with a hierarchy of `dates`, with intervals of dates, or with an order of dates.
//! If all their values are ISO dates, nothing is to be said. Otherwise the common forms are tried on all values:
//!
//! | forms that fit all values | what follows |
//! |---|---|
//! | one | it is taken, and said |
//! | two, which differ in the order of day and month | an error: nobody can know, so somebody must say it |
//! | none, but one fits more values than ISO does | an error with how many do not fit |
//!
//! Cost: each distinct value once for each form; most forms end at the first value.

use incog_core::table::label::EMPTY_TEXT;
use incog_core::table::{Column, Table};
use incog_core::value::{DateFormat, Notation};
use incog_core::{Error, Result};

use crate::job::{ColumnJob, IntervalsOf, Job, Mistakes, OrderJob, OrderWord};

/// Finds out how dates are written; tells what was found, a line each.
pub(crate) fn settle(job: &Job, table: &mut Table, mistakes: &mut Mistakes) -> Vec<String> {
    let mut notes = Vec::new();
    for (name, column) in &job.columns {
        let Some(reads) = dates_of(column) else { continue };
        let Some(at) = table.place(name) else { continue };
        let data = &table.columns()[at];
        if data.notation().dates().is_some() {
            continue;
        }
        let found = found(data, reads)
            .map_err(|error| job.at(&["columns", name], &error.prefixed(&format!("column `{name}`: "))));
        if let Some(Some(format)) = mistakes.note(found) {
            notes.push(format!("note: column `{name}`: its dates are read as {}", format.as_str()));
            let notation = data.notation().clone().with_dates(format);
            table.set_notation(at, notation);
        }
    }
    notes
}

/// What is read of a date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reads {
    /// A day.
    Day,
    /// A day, which a time may follow.
    DayAndTime,
}

/// Which forms of dates fit some values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Forms {
    /// All are ISO dates.
    Iso,
    /// One other form fits all.
    One(DateFormat),
    /// Two fit all.
    Two(DateFormat, DateFormat),
    /// None fits all; the one that fits most, and how many, if it fits more than ISO does.
    Best(Option<(usize, DateFormat)>),
}

impl Forms {
    /// The forms of these values.
    pub(crate) fn of(values: &[&str], reads: Reads) -> Result<Self> {
        let fits = |notation: &Notation, value: &str| match reads {
            Reads::Day => notation.date(value).is_some(),
            Reads::DayAndTime => notation.date_and_time(value).is_some(),
        };
        let count = |notation: &Notation| values.iter().filter(|value| fits(notation, value)).count();
        let n_iso = count(&Notation::PLAIN);
        if n_iso == values.len() {
            return Ok(Forms::Iso);
        }
        let mut whole: Vec<DateFormat> = Vec::new();
        let mut best: Option<(usize, DateFormat)> = None;
        for text in &DateFormat::COMMON[1..] {
            let format = DateFormat::parse(text)?;
            let n_fitting = count(&Notation::PLAIN.with_dates(format.clone()));
            if n_fitting == values.len() {
                whole.push(format);
            } else if n_fitting > best.as_ref().map_or(n_iso, |(n, _)| *n) {
                best = Some((n_fitting, format));
            }
        }
        let mut whole = whole.into_iter();
        Ok(match (whole.next(), whole.next()) {
            (Some(one), Some(other)) => Forms::Two(one, other),
            (Some(one), None) => Forms::One(one),
            (None, _) => Forms::Best(best),
        })
    }
}

/// Are the values of a column read as dates?
fn dates_of(column: &ColumnJob) -> Option<Reads> {
    let hierarchy = column.hierarchy.as_ref();
    if hierarchy.is_some_and(|hierarchy| hierarchy.of == Some(IntervalsOf::Dates)) {
        return Some(Reads::Day);
    }
    match &column.order {
        Some(OrderJob::Word(OrderWord::Dates)) => return Some(Reads::Day),
        Some(OrderJob::Grid(grid)) if grid.of == IntervalsOf::Dates => return Some(Reads::Day),
        _ => {}
    }
    hierarchy.is_some_and(|hierarchy| hierarchy.dates.is_some()).then_some(Reads::DayAndTime)
}

/// The form of all values, if it is not ISO's. Nothing where no form fits better: the hierarchy has its own words for that.
fn found(column: &Column, reads: Reads) -> Result<Option<DateFormat>> {
    let values: Vec<&str> =
        column.dictionary().values().filter(|value| !value.is_empty() && *value != EMPTY_TEXT).collect();
    match Forms::of(&values, reads)? {
        Forms::Iso | Forms::Best(None) => Ok(None),
        Forms::One(format) => Ok(Some(format)),
        Forms::Two(one, other) => Err(Error::input(format!(
            "all {} values are dates by {} and by {} alike: no day is above 12",
            values.len(),
            one.as_str(),
            other.as_str()
        ))
        .with_hint(format!(
            "say which it is, such as date_format = \"{}\" under its [columns]",
            one.as_str()
        ))),
        Forms::Best(Some((n, format))) => Err(Error::input(format!(
            "no common form of dates fits all {} values; {} fits all but {}",
            values.len(),
            format.as_str(),
            values.len() - n
        ))
        .with_hint("clean those values, name them in `missing`, or say `date_format` under its [columns]")),
    }
}

#[cfg(test)]
mod tests {
    use incog_core::table::Role;

    use super::*;

    fn of(cells: &[&str]) -> Result<Option<String>> {
        let column = Column::from_cells("c", Role::Other, cells.iter().copied()).unwrap();
        Ok(found(&column, Reads::Day)?.map(|format| format.as_str().to_owned()))
    }

    #[test]
    fn forms_are_found_where_there_is_no_doubt() {
        assert_eq!(of(&["2003-04-17", ""]).unwrap(), None);
        assert_eq!(of(&["17.04.2003", "1.2.2004", ""]).unwrap().as_deref(), Some("%d.%m.%Y"));
        assert_eq!(of(&["04/17/2003", "01/02/2003"]).unwrap().as_deref(), Some("%m/%d/%Y"));
        assert_eq!(of(&["17/04/2003", "01/02/2003"]).unwrap().as_deref(), Some("%d/%m/%Y"));
        assert_eq!(of(&["20030417"]).unwrap().as_deref(), Some("%Y%m%d"));
        assert_eq!(of(&["soon", "later"]).unwrap(), None, "the hierarchy says what is wrong");
        let problem = of(&["01/02/2003", "03/04/2003"]).unwrap_err().to_string();
        assert_eq!(problem, "all 2 values are dates by %d/%m/%Y and by %m/%d/%Y alike: no day is above 12");
        let problem = of(&["17.04.2003", "18.04.2003", "soon"]).unwrap_err().to_string();
        assert_eq!(problem, "no common form of dates fits all 3 values; %d.%m.%Y fits all but 1");
        assert!(of(&["17/04/2003", "04/17/2003"]).is_err(), "both orders in one column");
    }
}
