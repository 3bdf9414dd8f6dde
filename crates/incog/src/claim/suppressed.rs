//! Whom did suppression hit?
//!
//! Rows are left out where they are rare, so some people are left out more than others, and whoever analyses the release should
//! know. For each column: the smallest part of the table that has half of the suppressed rows, taken from the labels with most
//! suppressed rows of their own. If suppression were spread evenly it would be half of all rows; a small part means that few labels bore most of it. Columns and
//! counts, no label.
//!
//! Cost: each column once through the input and once through the release, and only where something was left out.

use std::collections::HashMap;

use incog_core::hierarchy::Attribute;
use incog_core::table::Role;
use incog_verify::Labels;
use rayon::prelude::*;

use crate::claim::labels::input;
use crate::plan::Plan;

/// Columns with fewer rows than this to a label, on average, tell nothing here: almost every label is gone or is not.
const ROWS_TO_A_LABEL: usize = 10;

/// Rows whose codes are looked at together.
const BLOCK: usize = 1 << 14;

/// Where the suppressed rows stood in one column.
///
/// ```
/// # use incog::{Anonymizer, Hierarchy};
/// let zip = ["53715"; 30].into_iter().chain(["99999"]).collect::<Vec<_>>();
/// let release = Anonymizer::new([("zip", zip)])
///     .quasi_identifier("zip", Hierarchy::suppress())
///     .suppression("1")?
///     .k(2)
///     .anonymize()?;
/// let hit = &release.report().suppression[0];
/// assert_eq!((hit.column.as_str(), hit.rows), ("zip", 1), "the only row with this label is the one that is suppressed");
/// # Ok::<(), incog::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SuppressedShare {
    /// The column.
    pub column: String,
    /// How many rows of the table have the labels that half of the suppressed rows have, rounded up.
    pub rows: u64,
}

/// The columns of a release in which suppressed rows can be counted, the most unevenly hit first. `levels` are those of the attributes,
/// where each has one.
pub(crate) fn shares(plan: &Plan, release: &dyn Labels, levels: Option<&[u8]>) -> Vec<SuppressedShare> {
    if release.n_rows() >= plan.table.n_rows() {
        return Vec::new();
    }
    let input = input(plan);
    let header = release.header();
    let columns: Vec<(usize, &str)> = header.iter().copied().enumerate().collect();
    let share = |&(at, name): &(usize, &str)| {
        let place = plan.table.columns().iter().position(|column| column.name() == name)?;
        let role = plan.table.columns()[place].role();
        // Where rows are read anew for each column, only what people ask about first.
        if plan.spilled.is_some() && role == Role::Other {
            return None;
        }
        let all = match plan.attributes.iter().position(|attribute| attribute.name() == name) {
            None => by_label(&*input, place),
            Some(number) => of_level(&*input, place, &plan.attributes[number], *levels?.get(number)?),
        };
        if role != Role::QuasiIdentifier && all.len() * ROWS_TO_A_LABEL > plan.table.n_rows() {
            return None;
        }
        let released = by_label(release, at);
        Some(SuppressedShare { column: name.to_owned(), rows: rows_with_half(&all, &released) })
    };
    let mut shares: Vec<SuppressedShare> = columns.par_iter().filter_map(share).collect();
    shares.sort_by_key(|share| share.rows);
    shares
}

/// How many rows of the input have each label of a level.
fn of_level<'a>(
    input: &'a dyn Labels,
    place: usize,
    attribute: &'a Attribute,
    level: u8,
) -> HashMap<&'a str, u64> {
    let labels = attribute.hierarchy().labels(level);
    let mut of_label = HashMap::new();
    for (code, rows) in counts(input, place).into_iter().enumerate().filter(|&(_, rows)| rows > 0) {
        let label = labels.value(attribute.labels_at(level)[code]);
        *of_label.entry(label).or_insert(0) += rows;
    }
    of_label
}

/// How many rows have each label of a column.
fn by_label(table: &dyn Labels, at: usize) -> HashMap<&str, u64> {
    let labels = table.labels(at);
    let mut of_label = HashMap::new();
    for (number, rows) in counts(table, at).into_iter().enumerate().filter(|&(_, rows)| rows > 0) {
        *of_label.entry(labels[number]).or_insert(0) += rows;
    }
    of_label
}

/// How many rows have each code of a column.
fn counts(table: &dyn Labels, at: usize) -> Vec<u64> {
    let mut counts = vec![0; table.labels(at).len()];
    let mut codes = [0; BLOCK];
    let n_rows = table.n_rows();
    for first in (0..n_rows).step_by(BLOCK) {
        let codes = &mut codes[..BLOCK.min(n_rows - first)];
        table.codes_from(at, first, codes);
        codes.iter().for_each(|&code| counts[code as usize] += 1);
    }
    counts
}

/// The smallest part of the rows that has half of the suppressed ones, whole labels first and a part of the last.
fn rows_with_half(all: &HashMap<&str, u64>, released: &HashMap<&str, u64>) -> u64 {
    let mut labels: Vec<(u64, u64)> = all
        .iter()
        .map(|(label, &rows)| (rows.saturating_sub(released.get(label).copied().unwrap_or(0)), rows))
        .collect();
    // The greatest share of its own first.
    labels.sort_by(|(gone, rows), (other, others)| {
        let (one, two) = (u128::from(*gone) * u128::from(*others), u128::from(*other) * u128::from(*rows));
        two.cmp(&one).then(other.cmp(gone))
    });
    let mut left = labels.iter().map(|(gone, _)| gone).sum::<u64>();
    // Twice the half that is still looked for, so that it stays whole.
    let mut with_half = 0_u64;
    for (gone, rows) in labels {
        let taken = 2 * gone;
        if taken >= left {
            let part = u128::from(left) * u128::from(rows);
            return with_half + u64::try_from(part.div_ceil(u128::from(taken.max(1)))).unwrap_or(rows);
        }
        left -= taken;
        with_half += rows;
    }
    with_half
}

#[cfg(test)]
mod tests {
    use super::*;

    fn half(all: &[(&'static str, u64)], released: &[(&'static str, u64)]) -> u64 {
        rows_with_half(&all.iter().copied().collect(), &released.iter().copied().collect())
    }

    #[test]
    fn an_even_loss_takes_half_of_the_rows_and_a_concentrated_one_few() {
        assert_eq!(half(&[("f", 50), ("m", 50)], &[("f", 40), ("m", 40)]), 50, "evenly");
        assert_eq!(half(&[("f", 50), ("m", 50)], &[("f", 30), ("m", 50)]), 25, "half of one half");
        assert_eq!(half(&[("rare", 4), ("frequent", 996)], &[("frequent", 996)]), 2);
        // 10 of 20 are among the 12 rows of two labels that are gone, the next label has the others.
        assert_eq!(half(&[("a", 6), ("b", 6), ("c", 88)], &[("c", 80)]), 10);
    }
}
