//! Where does a row stand, if quasi-identifiers are exact? And could the values of a group be those of its rows?
//!
//! The *place* of a row is its own columns and those of all rows above it, but for keys and what was taken out. A released
//! row comes from an original one with the same place. So each value of a group must be one that an original row has at the
//! place of one of the group's rows, a different one for each value: a matching within the group. This is necessary, not
//! sufficient: whoever has the same place as somebody else, or swaps the children of two persons whose rows are alike,
//! is told apart only by the rows that released ones are said to come from.
//!
//! Cost: a hash for each row and column; then for each group at most the cube of its size. In groups of more than
//! [`MAX_MATCHED`] rows only one row is looked for each value.

use super::comparison::Pair;
use super::forest::Forest;
use super::shape::Shape;
use crate::hash;
use crate::keys::{Groups, Keys, Numbers};
use crate::{LabelColumn, Labels};

/// Larger groups are not matched.
const MAX_MATCHED: usize = 512;

/// The places of the rows of one table, numbered alike on both sides.
pub(super) struct Places {
    pub(super) released: Vec<u32>,
    pub(super) original: Vec<u32>,
    n_places: usize,
}

/// Finds the places of all rows of all tables, given the columns that are compared.
pub(super) fn places(
    shape: &Shape,
    tables: [&[&dyn Labels]; 2],
    forests: [&Forest; 2],
    pairs: &[Vec<Pair<'_>>],
) -> Vec<Places> {
    let mut all: Vec<Option<Places>> = tables[0].iter().map(|_| None).collect();
    for &table in &shape.order {
        let [released, original] = tables.map(|tables| tables[table]);
        let mut keys = Keys::new(released.n_rows() + original.n_rows());
        for pair in &pairs[table] {
            let (one, other) = (released.column(pair.released), original.column(pair.original));
            let mut numbers = Numbers::default();
            let of_one = numbers.all(one.labels.iter().copied());
            let of_other = numbers.all(other.labels.iter().copied());
            keys.fold(&[(&one.codes, &of_one), (&other.codes, &of_other)], numbers.len());
        }
        if let Some(above) = shape.parents[table].and_then(|parent| all[parent].as_ref()) {
            let rows = forests.map(|forest| forest.parent_rows[table].as_slice());
            keys.fold(&[(rows[0], &above.released), (rows[1], &above.original)], above.n_places);
        }
        let groups = keys.into_groups();
        let (of_released, of_original) = groups.of_row.split_at(released.n_rows());
        all[table] = Some(Places {
            released: of_released.to_vec(),
            original: of_original.to_vec(),
            n_places: groups.len(),
        });
    }
    all.into_iter().flatten().collect()
}

impl Places {
    /// How many values can be those of no row of their group: `groups` are the groups of the rows, `group_of` the one of
    /// each released value.
    pub(super) fn strange_values(
        &self,
        groups: &Groups,
        group_of: &[u32],
        released: &LabelColumn<'_>,
        collected: &LabelColumn<'_>,
    ) -> u64 {
        let mut numbers = Numbers::default();
        let of_released = numbers.all(released.labels.iter().copied());
        let of_collected = numbers.all(collected.labels.iter().copied());
        let possible: hash::Set<(u32, u32)> = self
            .original
            .iter()
            .zip(&*collected.codes)
            .map(|(&place, &code)| (place, of_collected[code as usize]))
            .collect();
        // Values of groups that no row has are in the last.
        let n_groups = groups.len() + 1;
        let (rows_of, values_of) = (by_group(&groups.of_row, n_groups), by_group(group_of, n_groups));
        let mut n_strange = 0;
        for (rows, values) in rows_of.iter().zip(&values_of) {
            let value = |value: u32| of_released[released.codes[value as usize] as usize];
            let can_be = |row: u32, of: u32| possible.contains(&(self.released[row as usize], value(of)));
            if rows.len() > MAX_MATCHED {
                let is_strange = |&&of: &&u32| !rows.iter().any(|&row| can_be(row, of));
                n_strange += values.iter().filter(is_strange).count() as u64;
                continue;
            }
            let mut taken: Vec<Option<usize>> = vec![None; rows.len()];
            for at in 0..values.len() {
                let mut is_tried = vec![false; rows.len()];
                if !find(at, &mut taken, &mut is_tried, &|value, row| can_be(rows[row], values[value])) {
                    n_strange += 1;
                }
            }
        }
        n_strange
    }
}

/// Finds a row for a value, moving others to other rows where that helps.
fn find(
    value: usize,
    taken: &mut [Option<usize>],
    is_tried: &mut [bool],
    can_be: &dyn Fn(usize, usize) -> bool,
) -> bool {
    for row in 0..taken.len() {
        if is_tried[row] || !can_be(value, row) {
            continue;
        }
        is_tried[row] = true;
        let is_free = match taken[row] {
            None => true,
            Some(other) => find(other, taken, is_tried, can_be),
        };
        if is_free {
            taken[row] = Some(value);
            return true;
        }
    }
    false
}

/// The rows of each group.
fn by_group(group_of: &[u32], n_groups: usize) -> Vec<Vec<u32>> {
    let mut rows = vec![Vec::new(); n_groups];
    for (row_idx, &group) in group_of.iter().enumerate() {
        rows[group as usize].push(row_idx as u32);
    }
    rows
}
