//! What is in a table, column by column, and which few columns single people out?
//!
//! Everything is counted exactly, over all rows: nothing is sampled, so nothing said here is a guess. A [`Profile`]
//! holds names of columns, kinds and counts; no cell, no least or greatest value, nothing that could not be shown.
//!
//! **Kinds** are decided by all values of a column that are not missing (see [`ValueKind`]), as the column writes numbers and dates. One value that is no date makes
//! a column of dates [`ValueKind::Mixed`]: what is proposed for a column must work for every cell of it.
//!
//! Beside kinds, a profile says what values are by their form ([`Content`]), and how they are spread. Columns are counted on all cores.

use incog_core::hierarchy::spec::Classification;
use incog_core::table::label::EMPTY_TEXT;
use incog_core::table::{Column, Table};
use incog_core::value::Notation;
use incog_core::{Progress, Result, Stage};
use rayon::prelude::*;

use crate::recognize::content::recognize;
pub use crate::recognize::content::{Content, Recognized};
pub use crate::recognize::exposure::{Exposure, Exposures, MAX_CANDIDATES, MAX_VISITS};
use crate::recognize::spread::{self, Spread};
use crate::recognize::values::{Digits, is_digits, is_number_in, is_other_date, is_whole_in, is_year_in};
use crate::recognize::words::words;

/// What the values of a column are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueKind {
    /// There are none: every cell is missing.
    Empty,
    /// Two values that say yes and no: yes/no, true/false, 1/0, y/n, t/f.
    YesNo,
    /// Dates, some with a time behind.
    Dates {
        /// Is there a time behind at least one?
        times: bool,
    },
    /// What looks like dates, such as 04/05/2003, in no form that is certain.
    OtherDates,
    /// Whole numbers from 1800 to 2199.
    Years,
    /// Whole numbers.
    Whole,
    /// Numbers, some of them with decimals.
    Decimals,
    /// Letters and digits, all equally long; or digits alone, if some start with 0.
    Codes {
        /// How many characters each has.
        length: usize,
    },
    /// At least four of five values are dates or numbers and the others are not.
    Mixed {
        /// What most are: "dates" or "numbers".
        mostly: &'static str,
        /// How many distinct values are not.
        others: u64,
    },
    /// Text that repeats: at most 100 distinct values, or ten rows for each.
    Categories,
    /// Sentences: most values are distinct, and most have three words or more or over a hundred characters.
    FreeText,
    /// Other text.
    Text,
}

impl std::fmt::Display for ValueKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ValueKind::Empty => f.write_str("empty"),
            ValueKind::YesNo => f.write_str("yes or no"),
            ValueKind::Dates { times: false } => f.write_str("dates"),
            ValueKind::Dates { times: true } => f.write_str("dates with times"),
            ValueKind::OtherDates => f.write_str("dates in doubt"),
            ValueKind::Years => f.write_str("years"),
            ValueKind::Whole => f.write_str("whole numbers"),
            ValueKind::Decimals => f.write_str("decimals"),
            ValueKind::Codes { length } => write!(f, "codes of {length}"),
            ValueKind::Mixed { mostly, .. } => write!(f, "mostly {mostly}"),
            ValueKind::Categories => f.write_str("categories"),
            ValueKind::FreeText => f.write_str("free text"),
            ValueKind::Text => f.write_str("text"),
        }
    }
}

/// One column, counted.
#[derive(Debug, Clone)]
pub struct ColumnProfile {
    /// Its name in the header.
    pub name: String,
    /// What its values are.
    pub kind: ValueKind,
    /// How many distinct values it has, not counting the missing value.
    pub distinct: u64,
    /// How many rows have no value.
    pub missing: u64,
    /// How many rows have a value that no other row has.
    pub once: u64,
    /// How many characters the longest value has.
    pub longest: usize,
    /// In how many rows its most frequent value stands.
    pub most: u64,
    /// What its values are by their form, if that can be told.
    pub content: Option<Recognized>,
    /// Are some of its values texts of three words or more?
    pub(crate) has_sentences: bool,
    /// How its values are spread.
    pub(crate) spread: Spread,
    /// The levels of its content's built-in hierarchy that merge something, where that covers every value.
    pub(crate) builtin: Option<(&'static str, Vec<u8>)>,
    /// What its whole numbers may have been through.
    pub(crate) digits: Digits,
}

/// A table, counted.
#[derive(Debug, Clone)]
pub struct Profile {
    /// How many rows there are.
    pub rows: u64,
    /// The columns in the order of the file.
    pub columns: Vec<ColumnProfile>,
}

impl Profile {
    /// Counts a table. Stops when it is cancelled.
    pub(crate) fn of(table: &Table, progress: &Progress) -> Result<Self> {
        progress.enter(Stage::Describing);
        let columns = table
            .columns()
            .par_iter()
            .map(|column| {
                progress.check()?;
                let profile = ColumnProfile::of(column);
                progress.count_rows(1);
                Ok(profile)
            })
            .collect::<Result<_>>()?;
        Ok(Profile { rows: table.n_rows() as u64, columns })
    }
}

impl ColumnProfile {
    fn of(column: &Column) -> Self {
        let dictionary = column.dictionary();
        let missing_code = dictionary.code("");
        let mut counts = vec![0_u64; dictionary.len()];
        for &code in column.codes() {
            counts[code as usize] += 1;
        }
        let missing = missing_code.map_or(0, |code| counts[code as usize]);
        let once =
            (0..).zip(&counts).filter(|&(code, &count)| count == 1 && Some(code) != missing_code).count();
        let distinct = dictionary.len() as u64 - u64::from(missing_code.is_some());
        let filled = column.codes().len() as u64 - missing;
        // An empty text is a value, but says nothing of what the others are.
        let values: Vec<(&str, u64)> = dictionary
            .values()
            .zip(counts.iter().copied())
            .filter(|(value, _)| !value.is_empty() && *value != EMPTY_TEXT)
            .collect();
        let texts: Vec<&str> = values.iter().map(|(value, _)| *value).collect();
        let notation = column.notation();
        let kind = kind(&texts, distinct, filled, notation);
        let digits = Digits::of(&texts);
        let has_leading_zero =
            |value: &str| value.starts_with('0') && value.as_bytes().get(1).is_some_and(u8::is_ascii_digit);
        let is_text = match kind {
            ValueKind::Empty | ValueKind::YesNo | ValueKind::Dates { .. } | ValueKind::Years => false,
            // 01.11 is a code, 1.11 a number.
            ValueKind::Decimals => texts.iter().any(|value| has_leading_zero(value)),
            _ => true,
        };
        let content = if is_text { recognize(&texts, distinct * 2 < filled) } else { None };
        let by_form = content.and_then(|recognized| recognized.content.builtin());
        let builtin = by_form.or_else(|| by_name(column.name())).and_then(|(name, classification)| {
            Some((name, spread::levels(classification, &values)?)).filter(|(_, levels)| !levels.is_empty())
        });
        ColumnProfile {
            name: column.name().to_owned(),
            kind,
            distinct,
            missing,
            once: once as u64,
            longest: texts.iter().map(|value| value.chars().count()).max().unwrap_or(0),
            most: values.iter().map(|(_, n)| *n).max().unwrap_or(0),
            content,
            has_sentences: is_text && texts.iter().any(|value| is_sentence(value)),
            spread: Spread::of(kind, &values, digits, notation),
            builtin,
            digits,
        }
    }

    /// How many rows have a value.
    pub(crate) fn filled(&self, rows: u64) -> u64 {
        rows - self.missing
    }

    /// Do 19 of 20 values stand in one row only?
    pub(crate) fn is_nearly_unique(&self, rows: u64) -> bool {
        self.distinct > 0 && self.once * 20 >= self.filled(rows) * 19
    }
}

/// The classification that a column is called by.
fn by_name(name: &str) -> Option<(&'static str, Classification)> {
    const NAMES: [(&str, &str, Classification); 7] = [
        ("isco", "isco", Classification::Isco),
        ("isco08", "isco", Classification::Isco),
        ("nace", "nace", Classification::Nace),
        ("nuts", "nuts", Classification::Nuts),
        ("icd", "icd10", Classification::Icd10),
        ("country", "iso-country", Classification::IsoCountry),
        ("state", "us-state", Classification::UsState),
    ];
    let words = words(name);
    NAMES.iter().find(|(word, _, _)| words.iter().any(|other| other == word)).map(|&(_, name, of)| (name, of))
}

/// Three words or more, or over a hundred characters.
fn is_sentence(value: &str) -> bool {
    value.split_whitespace().nth(2).is_some() || value.chars().nth(100).is_some()
}

/// What the values of a column are.
fn kind(values: &[&str], distinct: u64, filled: u64, notation: &Notation) -> ValueKind {
    const OPPOSITES: [[&str; 2]; 5] = [["no", "yes"], ["false", "true"], ["0", "1"], ["n", "y"], ["f", "t"]];
    // A property that few of the first values have is not counted in all: it is neither of all nor of four in five, or as good as.
    let first = &values[..values.len().min(100)];
    let count = |holds: &dyn Fn(&str) -> bool| {
        let of_first = first.iter().filter(|value| holds(value)).count();
        if of_first * 2 < first.len() {
            return of_first as u64;
        }
        values.iter().filter(|value| holds(value)).count() as u64
    };
    if distinct == 0 {
        return ValueKind::Empty;
    }
    if distinct == 2 {
        let mut pair: Vec<String> = values.iter().map(|value| value.to_lowercase()).collect();
        pair.sort();
        if OPPOSITES.iter().any(|opposites| pair == opposites) {
            return ValueKind::YesNo;
        }
    }
    let n_dates = count(&|value| notation.date_and_time(value).is_some());
    if n_dates == distinct {
        return ValueKind::Dates { times: values.iter().any(|value| notation.date(value).is_none()) };
    }
    if count(&is_other_date) == distinct {
        return ValueKind::OtherDates;
    }
    let length = values.first().map_or(0, |value| value.chars().count());
    let is_code = |value: &str| {
        value.len() == length
            && value.bytes().all(|byte| byte.is_ascii_alphanumeric())
            && value.bytes().any(|byte| byte.is_ascii_digit())
    };
    let n_numbers = count(&|value| is_number_in(value, notation));
    if (3..=20).contains(&length)
        && count(&is_code) == distinct
        && (n_numbers < distinct || values.iter().any(|value| value.starts_with('0') && is_digits(value)))
    {
        return ValueKind::Codes { length };
    }
    if n_numbers == distinct {
        return if values.iter().all(|value| is_year_in(value, notation)) {
            ValueKind::Years
        } else if values.iter().all(|value| is_whole_in(value, notation)) {
            ValueKind::Whole
        } else {
            ValueKind::Decimals
        };
    }
    for (mostly, n_such) in [("dates", n_dates), ("numbers", n_numbers)] {
        if distinct >= 5 && n_such * 5 >= distinct * 4 {
            return ValueKind::Mixed { mostly, others: distinct - n_such };
        }
    }
    if distinct * 2 > filled && count(&is_sentence) * 2 > distinct {
        return ValueKind::FreeText;
    }
    // Long sentences are written, not chosen, however often some of them stand there.
    let n_letters: usize = values.iter().map(|value| value.len()).sum();
    if distinct > 20 && count(&is_sentence) * 2 > distinct && n_letters > 30 * values.len() {
        return ValueKind::FreeText;
    }
    if distinct <= 100 || distinct * 10 <= filled { ValueKind::Categories } else { ValueKind::Text }
}

/// A share for people, never rounded up: `100 %` and `0 %` are exact.
pub(crate) fn share(part: u64, whole: u64) -> String {
    if part == 0 || whole == 0 {
        return "0 %".into();
    }
    let tenths = u128::from(part) * 1000 / u128::from(whole);
    match (tenths / 10, tenths % 10) {
        (0, 0) => "under 0.1 %".into(),
        (percent, 0) => format!("{percent} %"),
        (percent, tenth) => format!("{percent}.{tenth} %"),
    }
}

#[cfg(test)]
mod tests {
    use incog_core::table::Role;

    use super::*;

    fn table(columns: &[&[&str]]) -> Table {
        let column = |(at, cells): (usize, &&[&str])| {
            Column::from_cells(format!("c{at}"), Role::Other, cells.iter().copied()).unwrap()
        };
        Table::new(columns.iter().enumerate().map(column).collect()).unwrap()
    }

    fn kind_of(cells: &[&str]) -> ValueKind {
        Profile::of(&table(&[cells]), &Progress::new()).unwrap().columns[0].kind
    }

    #[test]
    fn kinds_are_what_all_values_are() {
        assert_eq!(kind_of(&["", ""]), ValueKind::Empty);
        assert_eq!(kind_of(&["Yes", "no", ""]), ValueKind::YesNo);
        assert_eq!(kind_of(&["2003-04-17", ""]), ValueKind::Dates { times: false });
        assert_eq!(kind_of(&["2003-04-17", "2003-04-18T10:00"]), ValueKind::Dates { times: true });
        assert_eq!(kind_of(&["17.4.2003", "1.12.1999"]), ValueKind::OtherDates);
        assert_eq!(kind_of(&["20030417"]), ValueKind::OtherDates);
        assert_eq!(kind_of(&["1999", "2004"]), ValueKind::Years);
        assert_eq!(kind_of(&["1999", "204"]), ValueKind::Whole);
        assert_eq!(kind_of(&["-1", "2.50"]), ValueKind::Decimals);
        assert_eq!(kind_of(&["01234", "91234"]), ValueKind::Codes { length: 5 });
        assert_eq!(kind_of(&["A1B", "X9Y"]), ValueKind::Codes { length: 3 });
        assert_eq!(kind_of(&["1", "2", "3", "4", "n/a"]), ValueKind::Mixed { mostly: "numbers", others: 1 });
        assert_eq!(kind_of(&["red", "blue", "red"]), ValueKind::Categories);
        assert_eq!(kind_of(&["came with a cough", "fell off a ladder", "was well"]), ValueKind::FreeText);
    }

    #[test]
    fn counts_leave_the_missing_value_out() {
        let profile = Profile::of(&table(&[&["a", "", "b", "a", "ccc"]]), &Progress::new()).unwrap();
        let column = &profile.columns[0];
        assert_eq!((column.distinct, column.missing, column.once, column.longest), (3, 1, 2, 3));
    }

    #[test]
    fn shares_are_never_rounded_up() {
        assert_eq!([share(0, 9), share(9, 9), share(0, 0)], ["0 %", "100 %", "0 %"]);
        assert_eq!([share(9999, 10_000), share(1, 10_000), share(1, 2)], ["99.9 %", "under 0.1 %", "50 %"]);
    }
}
