//! Does a column that is released as it is give back what another one lost?
//!
//! Birth dates are generalized to decades, and the age stands beside them: whoever reads it knows the year. k-anonymity does not see
//! that, because the age is no quasi-identifier. So, before the search, for each level of each quasi-identifier and each column that is
//! released as it is: how much of the level's entropy is left once the other column is known?
//!
//! 1. Rows are a sample of at most [`SAMPLED`], in runs spread over the table; always the same ones.
//! 2. Numbers and dates of the other column that stand less than [`TOGETHER`] times are taken together with their neighbours, because a
//!    value that one row has tells everything of this row and nothing of others.
//! 3. What small groups would tell by chance is measured: the same with the rows of the level shuffled, always in the same way.
//! 4. The column tells the level if it takes away [`TELLS`] of what chance leaves, half of the rows share their value with another, and
//!    chance leaves enough to judge by ([`LEAST_CHANCE`]).
//!
//! A warning is made where the release is coarser than the finest level that is told. Nothing else depends on it: floats will do.
//! Texts that no two rows share cannot be judged by counting, and tables of fewer than [`FEWEST`] rows are not.
//!
//! Cost: a pass over the sample for each level and column.

use std::collections::BTreeMap;

use incog_core::Result;
use incog_core::hierarchy::Attribute;
use incog_core::table::label::EMPTY_TEXT;
use incog_core::table::{Column, Role};
use incog_verify::Labels;
use rayon::prelude::*;

use crate::claim::labels::input;
use crate::claim::measured::LocalColumn;
use crate::plan::Plan;
use crate::plan::level_name::level_name;

/// Rows that are looked at, at most.
const SAMPLED: usize = 20_000;

/// Rows that are looked at side by side: reading them from a disk takes one step.
const RUN: usize = 50;

/// Fewer rows tell nothing.
const FEWEST: usize = 50;

/// Rows that a number of the other column has, with its neighbours.
const TOGETHER: u64 = 10;

/// How much of what chance leaves of a level's entropy must be gone.
const TELLS: f64 = 0.75;

/// What chance must leave of the entropy of all rows together, in nats, for a judgement.
const LEAST_CHANCE: f64 = 20.0;

/// Levels with less entropy, in nats, are nearly the same for all.
const LEAST_ENTROPY: f64 = 0.07;

/// A column that tells how another one was before it was generalized.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Undoing {
    /// Which attribute is told.
    attribute: usize,
    column: String,
    /// The column that tells it.
    by: String,
    /// The number of the finest level that it tells.
    number: u8,
    /// What that level is.
    name: String,
}

/// What each column that is released as it is would tell of each quasi-identifier.
pub(crate) fn undoing(plan: &Plan) -> Result<Vec<Undoing>> {
    let n_rows = plan.table.n_rows();
    if n_rows < FEWEST || plan.elsewhere.is_some() {
        return Ok(Vec::new());
    }
    let input = input(plan);
    let runs = runs(n_rows);
    let columns = plan.table.columns();
    let place = |name: &str| columns.iter().position(|column| column.name() == name);
    let generalized: Vec<(usize, &Attribute, Vec<u32>)> = plan
        .attributes
        .iter()
        .enumerate()
        .filter_map(|(at, attribute)| Some((at, attribute, sample(&*input, place(attribute.name())?, &runs))))
        .collect();
    let is_released = |(_, column): &(usize, &Column)| matches!(column.role(), Role::Other | Role::Sensitive);
    let as_is: Vec<(usize, &Column)> = columns.iter().enumerate().filter(is_released).collect();
    let found = as_is.par_iter().map(|&(at, column)| {
        let teller = Teller::new(column, &sample(&*input, at, &runs));
        let told = generalized.iter().filter_map(|(number, attribute, codes)| {
            let level = teller.finest(attribute, codes)?;
            let name = level_name(&plan.job, attribute, level);
            Some(Undoing {
                attribute: *number,
                column: attribute.name().to_owned(),
                by: column.name().to_owned(),
                number: level,
                name,
            })
        });
        told.collect::<Vec<_>>()
    });
    Ok(found.flatten().collect())
}

/// What to say of a release whose attributes stand at these levels, or whose columns are these where each cell has its own.
pub(crate) fn warnings(
    plan: &Plan,
    undoing: &[Undoing],
    levels: &[u8],
    local: Option<&[LocalColumn]>,
) -> Vec<String> {
    let warning = |undoing: &Undoing| {
        let attribute = &plan.attributes[undoing.attribute];
        let released = match local {
            None => attribute.level_number(*levels.get(undoing.attribute)?),
            Some(columns) => columns[undoing.attribute].rows.last()?.0,
        };
        // Of a column that goes by its order only whether values are as collected is known.
        let is_coarser = match local.map(|columns| columns[undoing.attribute].intervals) {
            Some(Some(_)) => released > 0 && undoing.number == 0,
            _ => released > undoing.number,
        };
        let Undoing { column, by, name, .. } = undoing;
        let says = match local {
            None => format!("\"{}\"", level_name(&plan.job, attribute, released)),
            Some(_) => "less".to_owned(),
        };
        is_coarser.then(|| {
            format!(
                "`{by}` undoes `{column}`: it is released as it is and tells \"{name}\", where the release says {says}; make \
                 `{by}` a quasi-identifier, or drop it"
            )
        })
    };
    undoing.iter().filter_map(warning).collect()
}

/// The first rows of the runs that are sampled.
fn runs(n_rows: usize) -> Vec<usize> {
    let n_runs = SAMPLED / RUN;
    if n_rows <= SAMPLED {
        return (0..n_rows).step_by(RUN).collect();
    }
    // A place of its own in each part, so that nothing that repeats is hit always or never.
    let part = n_rows / n_runs;
    (0..n_runs).map(|at| at * part + mixed(at as u64) as usize % (part - RUN + 1)).collect()
}

/// The codes of the sampled rows.
fn sample(table: &dyn Labels, at: usize, runs: &[usize]) -> Vec<u32> {
    let mut codes = Vec::with_capacity(runs.len() * RUN);
    for &first in runs {
        let n = RUN.min(table.n_rows() - first);
        let from = codes.len();
        codes.resize(from + n, 0);
        table.codes_from(at, first, &mut codes[from..]);
    }
    codes
}

/// A number that looks like any other (SplitMix64), always the same.
fn mixed(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

/// A column that may tell something: its rows, in groups that look alike.
struct Teller {
    /// Rows, group by group.
    rows: Vec<u32>,
    /// Where each group starts, and the end.
    starts: Vec<usize>,
    /// The same number of rows in another order.
    shuffled: Vec<u32>,
}

impl Teller {
    fn new(column: &Column, codes: &[u32]) -> Self {
        let of_code = groups(column, codes);
        let group = |row: usize| of_code[&codes[row]];
        let mut rows: Vec<u32> = (0..codes.len() as u32).collect();
        rows.sort_by_key(|&row| group(row as usize));
        let mut starts = vec![0];
        starts.extend((1..rows.len()).filter(|&at| group(rows[at] as usize) != group(rows[at - 1] as usize)));
        starts.push(rows.len());
        let mut shuffled: Vec<u32> = (0..codes.len() as u32).collect();
        for at in (1..shuffled.len()).rev() {
            shuffled.swap(at, (mixed(at as u64) % (at as u64 + 1)) as usize);
        }
        Teller { rows, starts, shuffled }
    }

    /// The number of the finest level below the top that the column tells.
    fn finest(&self, attribute: &Attribute, codes: &[u32]) -> Option<u8> {
        let shared: usize = self.starts.windows(2).map(|at| at[1] - at[0]).filter(|&rows| rows > 1).sum();
        if 2 * shared < codes.len() {
            return None;
        }
        let tells = |&level: &u8| {
            let of_value = attribute.labels_at(level);
            let labels: Vec<u32> = codes.iter().map(|&code| of_value[code as usize]).collect();
            let n_labels = attribute.hierarchy().labels(level).len();
            let all = entropy(
                &labels,
                (0..labels.len() as u32).collect::<Vec<_>>().as_slice(),
                &[0, labels.len()],
                n_labels,
            );
            if all < LEAST_ENTROPY {
                return false;
            }
            let left = entropy(&labels, &self.rows, &self.starts, n_labels);
            let by_chance: Vec<u32> = self.shuffled.iter().map(|&row| labels[row as usize]).collect();
            let chance = entropy(&by_chance, &self.rows, &self.starts, n_labels);
            chance * codes.len() as f64 >= LEAST_CHANCE && left <= (1.0 - TELLS) * chance
        };
        (0..=attribute.height()).find(tells).map(|level| attribute.level_number(level))
    }
}

/// The entropy of labels that is left in groups of rows, in nats.
fn entropy(labels: &[u32], rows: &[u32], starts: &[usize], n_labels: usize) -> f64 {
    let n_log_n = |n: u32| f64::from(n) * f64::from(n).ln();
    let mut counts = vec![0_u32; n_labels];
    let mut left = 0.0;
    for bounds in starts.windows(2) {
        let group = &rows[bounds[0]..bounds[1]];
        for &row in group {
            counts[labels[row as usize] as usize] += 1;
        }
        left += n_log_n(group.len() as u32);
        for &row in group {
            let count = std::mem::take(&mut counts[labels[row as usize] as usize]);
            if count > 1 {
                left -= n_log_n(count);
            }
        }
    }
    left.max(0.0) / labels.len().max(1) as f64
}

/// The group of each code that occurs: a value of its own, or with its neighbours where values are numbers or dates and few rows have
/// each.
fn groups(column: &Column, codes: &[u32]) -> BTreeMap<u32, usize> {
    let mut n_rows: BTreeMap<u32, u64> = BTreeMap::new();
    codes.iter().for_each(|&code| *n_rows.entry(code).or_insert(0) += 1);
    let Some(ordered) = in_order(column, n_rows.keys().copied()) else {
        return n_rows.keys().enumerate().map(|(group, &code)| (code, group)).collect();
    };
    let mut groups = BTreeMap::new();
    let (mut group, mut together) = (0, 0);
    for code in ordered {
        let rows = n_rows[&code];
        if together > 0 && (together >= TOGETHER || rows >= TOGETHER) {
            (group, together) = (group + 1, 0);
        }
        groups.insert(code, group);
        together += rows;
    }
    groups
}

/// Codes in the order of their numbers or days; nothing where a value has neither. What is missing comes first.
fn in_order(column: &Column, codes: impl Iterator<Item = u32> + Clone) -> Option<Vec<u32>> {
    let (values, notation) = (column.dictionary(), column.notation());
    let is_missing = |code: u32| ["", EMPTY_TEXT].contains(&values.value(code));
    let numbers = codes.clone().map(|code| match is_missing(code) {
        true => Some((None, code)),
        false => notation.number(values.value(code)).map(|number| (Some(number), code)),
    });
    if let Some(mut numbers) = numbers.collect::<Option<Vec<_>>>() {
        numbers.sort();
        return Some(numbers.into_iter().map(|(_, code)| code).collect());
    }
    let days = codes.map(|code| match is_missing(code) {
        true => Some((None, code)),
        false => notation.date_and_time(values.value(code)).map(|day| (Some(day.day_number()), code)),
    });
    let mut days = days.collect::<Option<Vec<_>>>()?;
    days.sort();
    Some(days.into_iter().map(|(_, code)| code).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_nothing_where_groups_tell_and_all_where_they_do_not() {
        let labels = [0, 0, 1, 1];
        let rows = [0, 1, 2, 3];
        assert_eq!(entropy(&labels, &rows, &[0, 2, 4], 2), 0.0);
        assert!((entropy(&labels, &[0, 2, 1, 3], &[0, 2, 4], 2) - 2.0_f64.ln()).abs() < 1e-12);
        assert!((entropy(&labels, &rows, &[0, 4], 2) - 2.0_f64.ln()).abs() < 1e-12);
    }

    #[test]
    fn few_neighbours_are_taken_together_and_many_stay_apart() {
        let cells: Vec<String> =
            (0..25).map(|n| n.to_string()).chain(std::iter::repeat_n("7".to_owned(), 20)).collect();
        let column = Column::from_cells("n", Role::Other, cells.iter().map(String::as_str)).unwrap();
        let groups = groups(&column, column.codes());
        let of = |value: &str| groups[&column.dictionary().code(value).unwrap()];
        assert_eq!(of("0"), of("6"), "one row each");
        assert!(of("6") < of("7") && of("7") < of("8"), "21 rows have 7");
        assert!(of("8") == of("17") && of("17") < of("18"), "ten of them are enough");
    }

    #[test]
    fn a_sample_stays_inside_of_the_table() {
        for n_rows in [50, SAMPLED, SAMPLED + 1, 3 * SAMPLED - 7, 1_000_003] {
            let runs = runs(n_rows);
            assert!(runs.iter().all(|&first| first < n_rows), "{n_rows}");
            assert!(n_rows <= SAMPLED || runs.iter().all(|&first| first + RUN <= n_rows), "{n_rows}");
            assert!(runs.windows(2).all(|pair| pair[0] < pair[1]));
        }
    }
}
