//! Which groups have records like this one?
//!
//! The records stand in orders in which near ones are neighbours: two an attribute. The groups of a record's neighbours are
//! where it is offered. Exact nearest groups would take a look at every group.

use crate::algorithm::clusters::{SortedRecords, orders};
use crate::algorithm::vectors::Ground;

/// The records in several orders.
pub(super) struct Near {
    /// The cells of each order.
    orders: Vec<Vec<u32>>,
    /// Where each cell stands in each order.
    places: Vec<Vec<u32>>,
    /// For each group, the last question that named it.
    named: Vec<u32>,
    n_questions: u32,
}

impl Near {
    pub(super) fn new(ground: &Ground<'_>) -> Self {
        let n = ground.cells.rows.len();
        let cells: Vec<u32> = (0..n as u32).collect();
        let orders: Vec<Vec<u32>> =
            orders(ground, &cells).into_iter().map(SortedRecords::into_cells).collect();
        let place = |order: &Vec<u32>| {
            let mut places = vec![0; n];
            for (&cell, place) in order.iter().zip(0..) {
                places[cell as usize] = place;
            }
            places
        };
        Near { places: orders.iter().map(place).collect(), orders, named: Vec::new(), n_questions: 0 }
    }

    /// The groups of the cells that are up to `reach` places away from this one in some order, each once, without that one.
    pub(super) fn groups(
        &mut self,
        cell: u32,
        without: u32,
        reach: usize,
        groups_of: &[Vec<u32>],
        n_groups: usize,
        found: &mut Vec<u32>,
    ) {
        found.clear();
        self.named.resize(n_groups, 0);
        self.n_questions += 1;
        self.named[without as usize] = self.n_questions;
        for (order, places) in self.orders.iter().zip(&self.places) {
            let place = places[cell as usize] as usize;
            for &other in &order[place.saturating_sub(reach)..order.len().min(place + reach + 1)] {
                for &group in &groups_of[other as usize] {
                    if self.named[group as usize] != self.n_questions {
                        self.named[group as usize] = self.n_questions;
                        found.push(group);
                    }
                }
            }
        }
        found.sort_unstable();
    }
}
