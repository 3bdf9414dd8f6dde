//! May a released row stand for an original one, for all that its own columns say?
//!
//! Columns as collected are folded to one number a row, its token: equal tokens are equal labels in all of them. A
//! generalized column keeps the number of each released label, and for each original value the released labels on its
//! path. Keys and foreign keys are not compared; they are minted anew, and say nothing but whose row it is.

use crate::keys::{Keys, Numbers};
use crate::local::PathColumn;
use crate::{Hierarchy, Labels};

/// A released column, where it stands in the original, and how its labels are generalized, if they are.
pub(super) struct Pair<'a> {
    pub(super) released: usize,
    pub(super) original: usize,
    pub(super) hierarchy: Option<&'a Hierarchy>,
}

/// A released table beside its original.
pub(super) struct Compared {
    /// The token of each released row.
    pub(super) released: Vec<u32>,
    /// The token of each original row.
    pub(super) original: Vec<u32>,
    /// All tokens are below.
    pub(super) n_tokens: usize,
    pub(super) generalized: Vec<Generalized>,
}

/// A column whose labels may be generalized.
pub(super) struct Generalized {
    /// The label of each released row.
    pub(super) labels: Vec<u32>,
    /// All labels are below.
    pub(super) n_labels: usize,
    /// The path of each original row.
    pub(super) values: Vec<u32>,
    /// Released labels that the values of a path may become, ascending.
    pub(super) paths: Vec<Vec<u32>>,
}

impl Compared {
    pub(super) fn new(release: &dyn Labels, original: &dyn Labels, pairs: &[Pair<'_>]) -> Self {
        let n_released = release.n_rows();
        let mut keys = Keys::new(n_released + original.n_rows());
        let mut generalized = Vec::new();
        for pair in pairs {
            let (released, collected) = (release.column(pair.released), original.column(pair.original));
            let Some(hierarchy) = pair.hierarchy else {
                let mut numbers = Numbers::default();
                let of_released = numbers.all(released.labels.iter().copied());
                let of_collected = numbers.all(collected.labels.iter().copied());
                keys.fold(
                    &[(&released.codes, &of_released), (&collected.codes, &of_collected)],
                    numbers.len(),
                );
                continue;
            };
            let column = PathColumn::new(&released.labels, &collected.labels, hierarchy);
            let pick = |codes: &[u32], numbers: &[u32]| -> Vec<u32> {
                codes.iter().map(|&code| numbers[code as usize]).collect()
            };
            generalized.push(Generalized {
                labels: pick(&released.codes, &column.of_label),
                n_labels: column.n_labels,
                values: pick(&collected.codes, &column.of_value),
                paths: column.paths,
            });
        }
        let tokens = keys.into_groups();
        let n_tokens = tokens.len();
        let mut released = tokens.of_row;
        let original = released.split_off(n_released);
        Compared { released, original, n_tokens, generalized }
    }

    /// Are the columns as collected equal?
    pub(super) fn is_same(&self, released: u32, original: u32) -> bool {
        self.released[released as usize] == self.original[original as usize]
    }

    /// Is every generalized label on the path of the original value?
    pub(super) fn generalizes(&self, released: u32, original: u32) -> bool {
        self.generalized.iter().all(|column| {
            let path = &column.paths[column.values[original as usize] as usize];
            path.contains(&column.labels[released as usize])
        })
    }
}
