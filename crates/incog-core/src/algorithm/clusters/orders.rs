//! Orders of the records in which near ones stand next to each other: where a cluster looks for its neighbours.

use std::cmp::Ordering;

use crate::algorithm::vectors::{Ground, Tree};

/// An order of the cells, in which near ones stand next to each other. Some have no rows left.
pub(in crate::algorithm) struct SortedRecords {
    by: By,
    /// Which attribute comes first.
    first: usize,
    pub(super) cells: Vec<u32>,
}

/// What cells are sorted by.
#[derive(Debug, Clone, Copy)]
enum By {
    /// One attribute after the other, in each from the top down.
    Attribute,
    /// One level after the other, from the top down.
    Level,
}

/// The cells in orders in which near ones stand next to each other.
pub(in crate::algorithm) fn orders(ground: &Ground<'_>, cells: &[u32]) -> Vec<SortedRecords> {
    let kinds = (0..ground.trees.len()).flat_map(|first| [(first, By::Attribute), (first, By::Level)]);
    kinds
        .map(|(first, by)| {
            let mut order = SortedRecords { by, first, cells: Vec::new() };
            // Compared in place: keys for all cells would take more memory than the table.
            let mut sorted: Vec<u32> = (0..cells.len() as u32).collect();
            sorted.sort_unstable_by(|&a, &b| order.compare(ground, cells, a, b));
            order.cells = sorted;
            order
        })
        .collect()
}

impl SortedRecords {
    /// The cells, by their places among those that were sorted.
    pub(in crate::algorithm) fn into_cells(self) -> Vec<u32> {
        self.cells
    }

    /// Which of two cells, given by their places, comes first.
    pub(super) fn compare(&self, ground: &Ground<'_>, cells: &[u32], a: u32, b: u32) -> Ordering {
        let (of_a, of_b) = (ground.leaves(cells[a as usize]), ground.leaves(cells[b as usize]));
        let n = ground.trees.len();
        let attributes = (self.first..n).chain(0..self.first);
        let unequal = |at: usize, step: u8| {
            let tree = &ground.trees[at];
            let step = step.min(tree.top());
            Some(tree.label(step, of_a[at]).cmp(&tree.label(step, of_b[at]))).filter(|order| order.is_ne())
        };
        let different = attributes.filter(|&at| of_a[at] != of_b[at]);
        let found = match self.by {
            By::Attribute => different
                .map(|at| (0..=ground.trees[at].top()).rev().find_map(|step| unequal(at, step)))
                .find_map(|order| order),
            By::Level => {
                let highest = ground.trees.iter().map(Tree::top).max().unwrap_or(0);
                (0..=highest).rev().find_map(|step| different.clone().find_map(|at| unequal(at, step)))
            }
        };
        found.unwrap_or_else(|| a.cmp(&b))
    }
}
