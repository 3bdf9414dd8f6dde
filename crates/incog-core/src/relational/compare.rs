//! Who is paired with whom, and what does the pairing cost?
//!
//! Two flat trees are compared without building what they have in common and, but for growing lists, without allocating.
//! A comparison has a *limit*: it is given up as soon as its cost is known to reach it. Costs only ever add, so a cost below
//! the limit is exact, and one that was given up is not below it.
//!
//! With [`Pairing::Record`] all pairs of a set are chosen before anything below them is looked at: most comparisons are given
//! up there. With [`Pairing::Subtree`] each candidate is compared up to the price of the cheapest so far.

use crate::relational::Pairing;
use crate::relational::flat::{Flat, Layout, Nodes};
use crate::relational::labels::UNIT;

/// Lists that comparisons use as stacks and leave as they found them.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    left: Vec<u32>,
    pairs: Vec<(u32, u32)>,
}

/// Two trees.
#[derive(Debug)]
pub(super) struct Comparison<'a> {
    pub(super) layout: &'a Layout,
    pub(super) pairing: Pairing,
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

    fn cost_of_nodes(&mut self, t: usize, i: usize, j: usize, limit: u64) -> u64 {
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
    fn record_cost(&self, t: usize, i: usize, j: usize) -> u64 {
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

    /// Pairs two sets of children of one table, as many as the smaller has: pushes the pairs, and returns what they cost:
    /// with all that hangs on them ([`Pairing::Subtree`]), or the records alone. Not all pairs may be there if they cost
    /// `limit` or more.
    fn pair(&mut self, t: usize, of_a: Nodes, of_b: Nodes, limit: u64) -> u64 {
        let a_picks = of_a.len() <= of_b.len();
        let (picking, picked) = if a_picks { (of_a, of_b) } else { (of_b, of_a) };
        let base = self.scratch.left.len();
        self.scratch.left.extend(picked.map(|node| node as u32));
        let mut cost = 0;
        for node in picking {
            let (price, at) = self.cheapest(t, node, a_picks, base, limit.saturating_sub(cost));
            cost += price;
            if cost >= limit {
                break;
            }
            // Not `swap_remove`: those left stay in row order.
            let other = self.scratch.left.remove(at);
            self.scratch.pairs.push(if a_picks { (node as u32, other) } else { (other, node as u32) });
        }
        self.scratch.left.truncate(base);
        cost
    }

    /// The price and the place of the cheapest of those left from `base` on, the first of equally cheap ones, if it is
    /// below the limit.
    fn cheapest(&mut self, t: usize, node: usize, a_picks: bool, base: usize, limit: u64) -> (u64, usize) {
        let (mut best, mut best_at) = (limit, base);
        let end = self.scratch.left.len();
        for at in base..end {
            let other = self.scratch.left[at] as usize;
            let (i, j) = if a_picks { (node, other) } else { (other, node) };
            let price = match self.pairing {
                Pairing::Subtree => self.cost_of_nodes(t, i, j, best),
                Pairing::Record => self.record_cost(t, i, j),
            };
            if price < best {
                (best, best_at) = (price, at);
                if price == 0 {
                    break;
                }
            }
        }
        (best, best_at)
    }
}
