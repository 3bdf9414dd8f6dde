//! What is in a table, column by column, and which few columns single people out?
//!
//! Everything is counted exactly, over all rows: nothing is sampled, so nothing said here is a guess. A [`Profile`]
//! holds names of columns, kinds and counts; no cell, no least or greatest value, nothing that could not be shown.
//!
//! **Kinds** are decided by all values of a column that are not missing (see [`ValueKind`]). One value that is no date makes
//! a column of dates [`ValueKind::Mixed`]: what is proposed for a column must work for every cell of it.
//!
//! **Exposure.** For every set of one, two or three candidate columns: how many rows are *alone*, that is, have a
//! combination of values that no other row has. A row that is alone on a set stays alone when columns are added, so a
//! larger set only regroups the rows that are not alone yet. Cost: at most one pass over the rows for each set. As many
//! candidates are taken as keep that below [`MAX_VISITS`] rows visited, at most [`MAX_CANDIDATES`]: those with most
//! distinct values, which single out most. How many were taken is part of the answer.

use incog_core::table::label::EMPTY_TEXT;
use incog_core::table::{Column, Role, Table};
use incog_core::value::Notation;
use incog_core::{Progress, Result};

use crate::describe::header::check_header;
use crate::describe::values::{Digits, is_digits, is_other_date};
use crate::job::Job;
use crate::source::{Data, ReadOptions};

/// Never more candidate columns than this: 1,350 sets.
pub const MAX_CANDIDATES: usize = 20;
/// Fewer candidate columns, at least 3, where their sets would visit more rows than this.
pub const MAX_VISITS: u64 = 400_000_000;
/// Sets of each size (1, 2, 3 columns) that are reported.
const REPORTED: [usize; 3] = [2, 3, 3];

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
    /// Round widths that divide a column of numbers into some 25, then fewer intervals.
    pub(crate) widths: Vec<String>,
    /// Do its dates or years span more than fifteen years?
    pub(crate) is_long: bool,
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

/// Columns that together single people out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exposure {
    /// Which columns, by their position.
    pub columns: Vec<usize>,
    /// How many rows no other row equals on them.
    pub alone: u64,
}

/// The column sets that single most people out.
#[derive(Debug, Clone, Default)]
pub struct Exposures {
    /// How many columns were combined.
    pub considered: usize,
    /// The worst sets, small ones first.
    pub worst: Vec<Exposure>,
}

/// Is it known that the first line of a file holds the names of its columns?
///
/// ```
/// use incog::{FirstLine, Init, Progress};
///
/// # let folder = tempfile::tempdir().unwrap();
/// # let data = folder.path().join("patients.csv");
/// # std::fs::write(&data, "age,zip\n34,53715\n36,53715\n51,53703\n58,53706\n").unwrap();
/// let init = Init::new(&data, None, FirstLine::Unknown, &Progress::new())?;
/// assert_eq!(init.profile.rows, 4);
/// # Ok::<(), incog::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FirstLine {
    /// Somebody says so.
    Names,
    /// The file must show it.
    Unknown,
}

/// The table in the data of a job, and what was found out of its files. The one place here that knows how files are read.
pub(crate) fn read(job: &Job, first_line: FirstLine, progress: &Progress) -> Result<(Table, Vec<String>)> {
    let data = Data::open(&job.inputs(), ReadOptions::of_job(job)?)?;
    let path = data.files()[0].clone();
    let (table, format) = data.read(|_| Role::Other, progress)?;
    // Other formats have a place of their own for names.
    let is_text = format.file.is_delimited();
    if first_line == FirstLine::Unknown && job.input.names.is_none() {
        check_header(&path, &table, is_text)?;
    }
    Ok((table, format.notes))
}

impl Profile {
    /// Counts a table. Stops when it is cancelled.
    pub(crate) fn of(table: &Table, progress: &Progress) -> Result<Self> {
        let columns = table
            .columns()
            .iter()
            .map(|column| {
                progress.check()?;
                Ok(ColumnProfile::of(column))
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
        let values = || dictionary.values().filter(|value| !value.is_empty() && *value != EMPTY_TEXT);
        let notation = column.notation();
        let kind = kind(&values, distinct, filled, notation);
        let (mut least, mut greatest) = (f64::INFINITY, f64::NEG_INFINITY);
        for number in values().filter_map(|value| magnitude(value, kind, notation)) {
            (least, greatest) = (least.min(number), greatest.max(number));
        }
        let span = if least <= greatest { greatest - least } else { 0.0 };
        ColumnProfile {
            name: column.name().to_owned(),
            kind,
            distinct,
            missing,
            once: once as u64,
            longest: values().map(|value| value.chars().count()).max().unwrap_or(0),
            widths: match kind {
                ValueKind::Whole => widths(span, Numbers::Whole),
                ValueKind::Decimals => widths(span, Numbers::Decimal),
                _ => Vec::new(),
            },
            is_long: match kind {
                ValueKind::Dates { .. } => span > 15.0 * 366.0,
                ValueKind::Years => span > 15.0,
                _ => false,
            },
            digits: Digits::of(&values),
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

/// What the values of a column are.
fn kind<'a, I>(values: &impl Fn() -> I, distinct: u64, filled: u64, notation: &Notation) -> ValueKind
where
    I: Iterator<Item = &'a str>,
{
    const OPPOSITES: [[&str; 2]; 5] = [["no", "yes"], ["false", "true"], ["0", "1"], ["n", "y"], ["f", "t"]];
    let count = |holds: &dyn Fn(&str) -> bool| values().filter(|value| holds(value)).count() as u64;
    if distinct == 0 {
        return ValueKind::Empty;
    }
    if distinct == 2 {
        let mut pair: Vec<String> = values().map(str::to_lowercase).collect();
        pair.sort();
        if OPPOSITES.iter().any(|opposites| pair == opposites) {
            return ValueKind::YesNo;
        }
    }
    let n_dates = count(&|value| notation.date_and_time(value).is_some());
    if n_dates == distinct {
        return ValueKind::Dates { times: values().any(|value| notation.date(value).is_none()) };
    }
    if count(&is_other_date) == distinct {
        return ValueKind::OtherDates;
    }
    let length = values().next().map_or(0, |value| value.chars().count());
    let is_code = |value: &str| {
        value.len() == length
            && value.bytes().all(|byte| byte.is_ascii_alphanumeric())
            && value.bytes().any(|byte| byte.is_ascii_digit())
    };
    let n_numbers = count(&|value| notation.number(value).is_some());
    if (3..=20).contains(&length)
        && count(&is_code) == distinct
        && (n_numbers < distinct || values().any(|value| value.starts_with('0') && is_digits(value)))
    {
        return ValueKind::Codes { length };
    }
    if n_numbers == distinct {
        let numbers = || values().filter_map(|value| notation.number(value));
        let is_year = |year: Option<i64>| year.is_some_and(|year| (1800..2200).contains(&year));
        return if numbers().all(|number| is_year(number.to_i64())) {
            ValueKind::Years
        } else if numbers().all(|number| number.is_whole()) {
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
    let is_sentence =
        |value: &str| value.split_whitespace().nth(2).is_some() || value.chars().nth(100).is_some();
    if distinct * 2 > filled && count(&is_sentence) * 2 > distinct {
        return ValueKind::FreeText;
    }
    if distinct <= 100 || distinct * 10 <= filled { ValueKind::Categories } else { ValueKind::Text }
}

/// Where a value stands on its scale, as far as widths need to know.
fn magnitude(value: &str, kind: ValueKind, notation: &Notation) -> Option<f64> {
    match kind {
        ValueKind::Dates { .. } => notation.date_and_time(value).map(|date| date.day_number() as f64),
        ValueKind::Years | ValueKind::Whole | ValueKind::Decimals => {
            notation.number(value)?.to_string().parse().ok()
        }
        _ => None,
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Numbers {
    Whole,
    Decimal,
}

/// Up to three round widths, each a multiple of the one before: the first makes at most some 25 intervals of a span.
fn widths(span: f64, numbers: Numbers) -> Vec<String> {
    // The steps of a decade: 1 5 10, 2 10 20, 5 10 20.
    const STEPS: [[u32; 3]; 3] = [[1, 5, 10], [2, 10, 20], [5, 10, 20]];
    let smallest = if numbers == Numbers::Whole { 0 } else { -9 };
    let first = (smallest..=15_i32)
        .flat_map(|power| STEPS.iter().map(move |steps| (power, steps)))
        .find(|(power, steps)| span <= 25.0 * f64::from(steps[0]) * 10_f64.powi(*power));
    let (power, steps) = first.unwrap_or((15, &STEPS[2]));
    steps
        .iter()
        .filter(|&&step| !(numbers == Numbers::Whole && step == 1 && power == 0))
        // A width beyond the span is the next level's `*` in other words.
        .filter(|&&step| f64::from(step) * 10_f64.powi(power) < span)
        .map(|step| round_number(*step, power))
        .collect()
}

/// `step` times ten to the `power`, in digits.
fn round_number(step: u32, power: i32) -> String {
    let digits = step.to_string();
    if power >= 0 {
        return digits + &"0".repeat(power.unsigned_abs() as usize);
    }
    let places = power.unsigned_abs() as usize;
    let padded = format!("{digits:0>width$}", width = places + 1);
    let (whole, fraction) = padded.split_at(padded.len() - places);
    let fraction = fraction.trim_end_matches('0');
    if fraction.is_empty() { whole.to_owned() } else { format!("{whole}.{fraction}") }
}

/// The sets of up to three of the candidate columns on which most rows are alone. Stops when it is cancelled.
pub(crate) fn exposures(table: &Table, candidates: &[usize], progress: &Progress) -> Result<Exposures> {
    let n_rows = table.n_rows() as u64;
    let column = |at: usize| &table.columns()[at];
    let mut chosen = candidates.to_vec();
    // Stable, so that the first in the file are taken among equals.
    chosen.sort_by_key(|&at| std::cmp::Reverse(column(at).dictionary().len()));
    chosen.truncate(n_candidates(n_rows));
    chosen.sort_unstable();

    let mut sets: [Vec<Exposure>; 3] = Default::default();
    let everybody = Groups::everybody(table.n_rows());
    for (at, &first) in chosen.iter().enumerate() {
        progress.check()?;
        let (alone_on_one, groups) = everybody.divide(column(first));
        sets[0].push(Exposure { columns: vec![first], alone: alone_on_one });
        for (next, &second) in chosen.iter().enumerate().skip(at + 1) {
            progress.check()?;
            let (more, groups) = groups.divide(column(second));
            let alone_on_two = alone_on_one + more;
            sets[1].push(Exposure { columns: vec![first, second], alone: alone_on_two });
            for &third in &chosen[next + 1..] {
                progress.check()?;
                let (more, _) = groups.divide(column(third));
                sets[2].push(Exposure { columns: vec![first, second, third], alone: alone_on_two + more });
            }
        }
    }
    Ok(Exposures { considered: chosen.len(), worst: worst(sets, n_rows) })
}

/// How many candidates can be combined.
fn n_candidates(n_rows: u64) -> usize {
    let n_sets = |n: u64| n + n * (n - 1) / 2 + n * (n - 1) * n.saturating_sub(2) / 6;
    (3..=MAX_CANDIDATES).rev().find(|&n| n_sets(n as u64).saturating_mul(n_rows) <= MAX_VISITS).unwrap_or(3)
}

/// The worst sets of each size. Where a set leaves nine rows of ten alone already, larger ones say nothing new.
fn worst(sets: [Vec<Exposure>; 3], n_rows: u64) -> Vec<Exposure> {
    let mut worst: Vec<Exposure> = Vec::new();
    for (mut of_size, n_reported) in sets.into_iter().zip(REPORTED) {
        of_size.sort_by_key(|set| std::cmp::Reverse(set.alone));
        let says_something = |set: &Exposure| {
            let covers = |smaller: &Exposure| smaller.columns.iter().all(|at| set.columns.contains(at));
            set.alone > 0 && !worst.iter().any(|smaller| smaller.alone * 10 >= n_rows * 9 && covers(smaller))
        };
        let of_size: Vec<Exposure> = of_size.into_iter().filter(says_something).take(n_reported).collect();
        worst.extend(of_size);
    }
    worst
}

/// Rows that are not alone, each with the group it is in.
///
/// # Invariants
/// Every group has at least two rows, and groups are numbered from 0 without gaps.
struct Groups {
    rows: Vec<u32>,
    group_of: Vec<u32>,
    n_groups: usize,
}

impl Groups {
    fn everybody(n_rows: usize) -> Self {
        Groups { rows: (0..n_rows as u32).collect(), group_of: vec![0; n_rows], n_groups: 1 }
    }

    /// Divides every group by a column: how many rows are alone then, and the groups of the others.
    fn divide(&self, column: &Column) -> (u64, Groups) {
        let n_codes = column.dictionary().len();
        let key = |(&row, &group): (&u32, &u32)| {
            u64::from(group) * n_codes as u64 + u64::from(column.codes()[row as usize])
        };
        let keys: Vec<u64> = self.rows.iter().zip(&self.group_of).map(key).collect();
        // With few cells, a count for each; else the sorted keys. Both number groups in the order of their keys.
        let few = (4 * keys.len()).max(1 << 12);
        let divided: Vec<u32> = match self.n_groups.checked_mul(n_codes).filter(|&n_cells| n_cells <= few) {
            Some(n_cells) => number_by_counting(&keys, n_cells),
            None => number_by_sorting(&keys),
        };
        let mut groups = Groups { rows: Vec::new(), group_of: Vec::new(), n_groups: 0 };
        for (&row, &group) in self.rows.iter().zip(&divided) {
            if group != ALONE {
                groups.rows.push(row);
                groups.group_of.push(group);
                groups.n_groups = groups.n_groups.max(group as usize + 1);
            }
        }
        ((self.rows.len() - groups.rows.len()) as u64, groups)
    }
}

/// The group of a row that has none.
const ALONE: u32 = u32::MAX;

/// For each key, which of the keys that stand more than once it is.
fn number_by_counting(keys: &[u64], n_cells: usize) -> Vec<u32> {
    let mut cells = vec![0_u32; n_cells];
    for &key in keys {
        cells[key as usize] += 1;
    }
    let mut n_groups = 0;
    for cell in &mut cells {
        if *cell < 2 {
            *cell = ALONE;
        } else {
            *cell = n_groups;
            n_groups += 1;
        }
    }
    keys.iter().map(|&key| cells[key as usize]).collect()
}

/// The same, for any keys.
fn number_by_sorting(keys: &[u64]) -> Vec<u32> {
    let mut sorted = keys.to_vec();
    sorted.sort_unstable();
    let repeated: Vec<u64> =
        sorted.chunk_by(|a, b| a == b).filter(|run| run.len() > 1).map(|run| run[0]).collect();
    keys.iter().map(|key| repeated.binary_search(key).map_or(ALONE, |at| at as u32)).collect()
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
    use incog_core::hierarchy::spec::{Decimal, IntervalKind, Intervals};

    use super::*;
    use std::collections::HashMap;

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
    fn widths_are_round_nest_and_follow_the_span() {
        let whole = |span| widths(span, Numbers::Whole);
        assert_eq!(whole(73.0), ["5", "10", "20"]);
        assert_eq!(whole(40.0), ["2", "10", "20"]);
        assert_eq!(whole(25.0), ["5", "10"]);
        assert_eq!(whole(4.0), [""; 0]);
        assert_eq!(whole(99_000.0), ["5000", "10000", "20000"]);
        assert_eq!(widths(0.8, Numbers::Decimal), ["0.05", "0.1", "0.2"]);
        assert_eq!(widths(2.0, Numbers::Decimal), ["0.1", "0.5", "1"]);
        for power in -12..19 {
            for factor in [1.0, 1.7, 2.4, 5.5, 9.9] {
                for numbers in [Numbers::Whole, Numbers::Decimal] {
                    let widths = widths(factor * 10_f64.powi(power), numbers);
                    let widths: Vec<Decimal> =
                        widths.iter().map(|width| Decimal::parse(width).unwrap()).collect();
                    if !widths.is_empty() {
                        Intervals::new(IntervalKind::Numbers, widths).unwrap();
                    }
                }
            }
        }
    }

    /// The same numbers by comparing every row with every other.
    #[test]
    fn rows_that_are_alone_are_counted_exactly() {
        let mut state = 7_u64;
        let mut cell = |n: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((state >> 33) % n).to_string()
        };
        for n_rows in [1_usize, 2, 40, 200, 3000] {
            let cells: Vec<Vec<String>> =
                [3, 9, 40, 5000].iter().map(|&n| (0..n_rows).map(|_| cell(n)).collect()).collect();
            let borrowed: Vec<Vec<&str>> =
                cells.iter().map(|column| column.iter().map(String::as_str).collect()).collect();
            let columns: Vec<&[&str]> = borrowed.iter().map(Vec::as_slice).collect();
            let table = table(&columns);
            let found = exposures(&table, &[0, 1, 2, 3], &Progress::new()).unwrap();
            assert_eq!(found.considered, 4);
            for set in &found.worst {
                let mut counts: HashMap<Vec<&str>, u64> = HashMap::new();
                let combination =
                    |row: usize| set.columns.iter().map(|&at| columns[at][row]).collect::<Vec<_>>();
                for combination in (0..n_rows).map(combination) {
                    *counts.entry(combination).or_default() += 1;
                }
                let alone = counts.values().filter(|&&count| count == 1).count() as u64;
                assert_eq!(set.alone, alone, "{n_rows} rows, columns {:?}", set.columns);
            }
            assert!(!found.worst.is_empty());
        }
    }

    #[test]
    fn work_is_bounded_and_shares_are_never_rounded_up() {
        assert_eq!(n_candidates(1000), 20);
        assert_eq!(n_candidates(4_500_000), 7);
        assert_eq!(n_candidates(u64::MAX), 3);
        assert_eq!([share(0, 9), share(9, 9), share(0, 0)], ["0 %", "100 %", "0 %"]);
        assert_eq!([share(9999, 10_000), share(1, 10_000), share(1, 2)], ["99.9 %", "under 0.1 %", "50 %"]);
    }
}
