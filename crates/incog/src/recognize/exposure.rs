//! Which few columns single people out?
//!
//! For every set of one, two or three candidate columns: how many rows are *alone*, that is, have a
//! combination of values that no other row has. A row that is alone on a set stays alone when columns are added, so a
//! larger set only regroups the rows that are not alone yet. Cost: at most one pass over the rows for each set, on all cores. As many
//! candidates are taken as keep that below [`MAX_VISITS`] rows visited, at most [`MAX_CANDIDATES`]: those with most
//! distinct values, which single out most. Which were taken is part of the answer.

use incog_core::table::{Column, Table};
use incog_core::{Progress, Result, Stage};
use rayon::prelude::*;

/// Never more candidate columns than this: 1,350 sets.
pub const MAX_CANDIDATES: usize = 20;
/// Fewer candidate columns, at least 3, where their sets would visit more rows than this.
pub const MAX_VISITS: u64 = 60_000_000;
/// Sets of each size (1, 2, 3 columns) that are reported.
const REPORTED: [usize; 3] = [2, 3, 3];

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
    /// Which columns were combined, by their position.
    pub considered: Vec<usize>,
    /// Columns that were not combined, because that would have taken too long.
    pub left_out: usize,
    /// The worst sets, small ones first.
    pub worst: Vec<Exposure>,
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

    progress.enter(Stage::Combining);
    let everybody = Groups::everybody(table.n_rows());
    // With the first column of each set on a core of its own.
    let with_first = (0..chosen.len()).into_par_iter().map(|at| -> Result<[Vec<Exposure>; 3]> {
        let mut sets: [Vec<Exposure>; 3] = Default::default();
        let first = chosen[at];
        let (alone_on_one, groups) = everybody.divide(column(first));
        sets[0].push(Exposure { columns: vec![first], alone: alone_on_one });
        for (next, &second) in chosen.iter().enumerate().skip(at + 1) {
            progress.check()?;
            let (more, groups) = groups.divide(column(second));
            let alone_on_two = alone_on_one + more;
            sets[1].push(Exposure { columns: vec![first, second], alone: alone_on_two });
            for &third in &chosen[next + 1..] {
                progress.check()?;
                let more = groups.alone(column(third));
                sets[2].push(Exposure { columns: vec![first, second, third], alone: alone_on_two + more });
            }
            progress.count_rows(1 + (chosen.len() - next - 1) as u64);
        }
        Ok(sets)
    });
    // In the order of the columns, whichever core was first.
    let mut sets: [Vec<Exposure>; 3] = Default::default();
    for of_first in with_first.collect::<Result<Vec<_>>>()? {
        sets.iter_mut().zip(of_first).for_each(|(all, more)| all.extend(more));
    }
    let left_out = candidates.len() - chosen.len();
    Ok(Exposures { worst: worst(sets, n_rows), considered: chosen, left_out })
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

    /// For each row, its group and its value as one number, all below the second.
    fn keys(&self, column: &Column) -> (Vec<u64>, Option<usize>) {
        let n_codes = column.dictionary().len();
        let key = |(&row, &group): (&u32, &u32)| {
            u64::from(group) * n_codes as u64 + u64::from(column.codes()[row as usize])
        };
        let keys: Vec<u64> = self.rows.iter().zip(&self.group_of).map(key).collect();
        // With few cells there is a count for each.
        let few = (4 * keys.len()).max(1 << 12);
        let n_cells = self.n_groups.checked_mul(n_codes).filter(|&n_cells| n_cells <= few);
        (keys, n_cells)
    }

    /// How many rows are alone once every group is divided by a column.
    fn alone(&self, column: &Column) -> u64 {
        match self.keys(column) {
            (keys, Some(n_cells)) => {
                // A count of two says as much as a larger one.
                let mut cells = vec![0_u8; n_cells];
                keys.iter().for_each(|&key| cells[key as usize] = (cells[key as usize] + 1).min(2));
                cells.iter().filter(|&&count| count == 1).count() as u64
            }
            (mut keys, None) => {
                keys.sort_unstable();
                keys.chunk_by(|a, b| a == b).filter(|run| run.len() == 1).count() as u64
            }
        }
    }

    /// Divides every group by a column: how many rows are alone then, and the groups of the others.
    fn divide(&self, column: &Column) -> (u64, Groups) {
        // With few cells, a count for each; else the sorted keys. Both number groups in the order of their keys.
        let divided: Vec<u32> = match self.keys(column) {
            (keys, Some(n_cells)) => number_by_counting(&keys, n_cells),
            (keys, None) => number_by_sorting(&keys),
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

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use incog_core::table::Role;

    use super::*;

    fn table(columns: &[&[&str]]) -> Table {
        let column = |(at, cells): (usize, &&[&str])| {
            Column::from_cells(format!("c{at}"), Role::Other, cells.iter().copied()).unwrap()
        };
        Table::new(columns.iter().enumerate().map(column).collect()).unwrap()
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
            assert_eq!(found.considered, [0, 1, 2, 3]);
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
    fn work_is_bounded() {
        assert_eq!(n_candidates(1000), 20);
        assert_eq!(n_candidates(280_005), 10);
        assert_eq!(n_candidates(u64::MAX), 3);
    }
}
