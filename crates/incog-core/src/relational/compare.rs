//! What does it cost to anonymize two trees with each other?
//!
//! Two flat trees are compared without building what they have in common and, but for growing lists, without allocating.
//! A comparison has a *limit*: it is given up as soon as its cost is known to reach it. Costs only ever add, so a cost below
//! the limit is exact, and one that was given up is not below it.
//!
//! Who is paired with whom is for `pairing` to say. With [`Pairing::Record`] all pairs of a set are chosen before anything below them is looked at: most comparisons are given
//! up there. With [`Pairing::Subtree`] each candidate is compared up to the price of the cheapest so far.

use crate::relational::flat::{Flat, Layout, Nodes};
use crate::relational::labels::UNIT;
use crate::relational::pairing::Levels;
use crate::relational::{Matching, Pairing};

/// Lists that comparisons use as stacks and leave as they found them.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    pub(super) left: Vec<u32>,
    pub(super) pairs: Vec<(u32, u32)>,
    pub(super) levels: Levels,
}

/// Two trees.
#[derive(Debug)]
pub(super) struct Comparison<'a> {
    pub(super) layout: &'a Layout,
    pub(super) pairing: Pairing,
    pub(super) matching: Matching,
    pub(super) a: &'a Flat,
    pub(super) b: &'a Flat,
    pub(super) scratch: &'a mut Scratch,
}

impl Comparison<'_> {
    /// What it costs to anonymize the two trees with each other; at least `limit` if it costs that much.
    pub(super) fn cost(&mut self, limit: u64) -> u64 {
        self.cost_of_nodes(0, 0, 0, limit)
    }

    /// What both trees have in common: members of the first, then of the second, and children in the order of the first.
    pub(super) fn common(&mut self) -> Flat {
        let (layout, a, b) = (self.layout, self.a, self.b);
        Flat::common(layout, a, b, |t, of_a, of_b, pairs| {
            let base = self.scratch.pairs.len();
            self.pair(t, of_a, of_b, u64::MAX);
            let begin = pairs.len();
            pairs.extend(self.scratch.pairs.drain(base..));
            pairs[begin..].sort_unstable();
        })
    }

    /// All pairs of nodes, table by table.
    pub(super) fn all_pairs(&mut self) -> Vec<Vec<(u32, u32)>> {
        let mut all = vec![vec![(0, 0)]];
        for (t, table) in self.layout.tables.iter().enumerate().skip(1) {
            let base = self.scratch.pairs.len();
            for &(i, j) in &all[table.parent] {
                self.pair(t, self.a.children(t, i as usize), self.b.children(t, j as usize), u64::MAX);
            }
            all.push(self.scratch.pairs.drain(base..).collect());
        }
        all
    }

    pub(super) fn cost_of_nodes(&mut self, t: usize, i: usize, j: usize, limit: u64) -> u64 {
        let cost = self.record_cost(t, i, j);
        self.add_cost_below(t, i, j, cost, limit)
    }

    /// What it costs to anonymize the children of two nodes with each other, added to `cost`.
    fn add_cost_below(&mut self, t: usize, i: usize, j: usize, mut cost: u64, limit: u64) -> u64 {
        let layout = self.layout;
        for &child in &layout.tables[t].children {
            if cost >= limit {
                break;
            }
            cost +=
                self.cost_of_sets(child, self.a.children(child, i), self.b.children(child, j), limit - cost);
        }
        cost
    }

    /// What it costs to anonymize two records with each other, whatever hangs on them.
    #[inline]
    pub(super) fn record_cost(&self, t: usize, i: usize, j: usize) -> u64 {
        let labels = self.a.labels(self.layout, t, i).iter().zip(self.b.labels(self.layout, t, j));
        self.layout.tables[t]
            .attributes
            .iter()
            .zip(labels)
            .map(|(attribute, (&a, &b))| attribute.price(a, b))
            .sum()
    }

    /// What it costs to anonymize two sets of children of one table with each other.
    fn cost_of_sets(&mut self, t: usize, of_a: Nodes, of_b: Nodes, limit: u64) -> u64 {
        let table = &self.layout.tables[t];
        // Of a table without children every node has the same cells.
        let is_last = table.children.is_empty();
        let n_removed = of_a.len().abs_diff(of_b.len()) as u64;
        let surely_removed = n_removed * table.attributes.len() as u64 * UNIT;
        if surely_removed >= limit {
            return surely_removed;
        }
        let base = self.scratch.pairs.len();
        let paired = self.pair(t, of_a.clone(), of_b.clone(), limit - surely_removed);
        let mut cost = surely_removed + paired;
        if cost >= limit || is_last {
            self.scratch.pairs.truncate(base);
            return cost;
        }
        if n_removed > 0 {
            let cells = |(i, j): (u32, u32)| {
                let (i, j) = (i as usize, j as usize);
                self.a.cells_of(t, i..i + 1) + self.b.cells_of(t, j..j + 1)
            };
            let all = self.a.cells_of(t, of_a) + self.b.cells_of(t, of_b);
            let kept: u64 = self.scratch.pairs[base..].iter().map(|&pair| cells(pair)).sum();
            cost += (all - kept) * UNIT - surely_removed;
        }
        if self.pairing != Pairing::Subtree {
            for at in base..self.scratch.pairs.len() {
                let (i, j) = self.scratch.pairs[at];
                cost = self.add_cost_below(t, i as usize, j as usize, cost, limit);
            }
        }
        self.scratch.pairs.truncate(base);
        cost
    }
}
