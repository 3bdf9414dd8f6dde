//! Which child goes with which?
//!
//! Two sets of children of one table are paired, as many as the smaller has, in one of three ways:
//!
//! 1. *Greedily* (Algorithms 4 and 5): the smaller set picks, in row order (the first tree's, if they are equally many), and
//!    each takes the cheapest that is left, the first of equally cheap ones. n² prices.
//! 2. *Optimally*: the pairs of least total cost, an assignment problem. By subtrees the total includes what is removed, so
//!    that the common anonymization is the cheapest there is; by records it is that of the records. n² prices, then n³ steps.
//! 3. *Level by level*: children with equal labels are paired in row order; then, of those left, those whose labels are equal
//!    when all that stand lower are raised to level 1; and so on. At the top all are equal. n log n steps a level.

use pathfinding::kuhn_munkres::kuhn_munkres_min;
use pathfinding::matrix::Matrix;

use crate::relational::compare::Comparison;
use crate::relational::flat::Nodes;
use crate::relational::labels::UNIT;
use crate::relational::{Matching, Pairing};

/// What pairing level by level needs: the children of both that are left, those of the first tree first, with their labels.
#[derive(Debug, Default)]
pub(super) struct Levels {
    nodes: Vec<u32>,
    labels: Vec<u32>,
    order: Vec<usize>,
    is_paired: Vec<bool>,
}

impl Comparison<'_> {
    /// Pairs two sets of children of one table: pushes the pairs, and returns what they cost: with all that hangs on them
    /// ([`Pairing::Subtree`]), or the records alone. Not all pairs may be there if they cost `limit` or more.
    pub(super) fn pair(&mut self, t: usize, of_a: Nodes, of_b: Nodes, limit: u64) -> u64 {
        let height = self.layout.tables[t].height;
        match (self.pairing, self.matching) {
            (Pairing::Level, _) if usize::from(height) < of_a.len().min(of_b.len()) => {
                self.pair_by_level(t, of_a, of_b, limit)
            }
            (Pairing::Level, _) | (_, Matching::Greedy) => self.pair_greedily(t, of_a, of_b, limit),
            (_, Matching::Optimal) => self.pair_optimally(t, of_a, of_b),
        }
    }

    fn pair_greedily(&mut self, t: usize, of_a: Nodes, of_b: Nodes, limit: u64) -> u64 {
        let a_picks = of_a.len() <= of_b.len();
        let (picking, picked) = if a_picks { (of_a, of_b) } else { (of_b, of_a) };
        let base = self.scratch.left.len();
        self.scratch.left.extend(picked.map(|node| node as u32));
        let mut cost = 0;
        for node in picking {
            let (price, at) = self.cheapest(t, node, a_picks, base, limit - cost);
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
        for at in base..self.scratch.left.len() {
            let other = self.scratch.left[at] as usize;
            let (i, j) = if a_picks { (node, other) } else { (other, node) };
            let price = self.price(t, i, j, best);
            if price < best {
                (best, best_at) = (price, at);
                if price == 0 {
                    break;
                }
            }
        }
        (best, best_at)
    }

    /// By what a pair is chosen; exact if it is below the limit.
    fn price(&mut self, t: usize, i: usize, j: usize, limit: u64) -> u64 {
        match self.pairing {
            Pairing::Subtree => self.cost_of_nodes(t, i, j, limit),
            Pairing::Record | Pairing::Level => self.record_cost(t, i, j),
        }
    }

    fn pair_optimally(&mut self, t: usize, of_a: Nodes, of_b: Nodes) -> u64 {
        let a_picks = of_a.len() <= of_b.len();
        let (picking, picked) = if a_picks { (of_a, of_b) } else { (of_b, of_a) };
        if picking.is_empty() {
            return 0;
        }
        let (mut prices, mut weights) = (Vec::new(), Vec::new());
        for node in picking.clone() {
            for other in picked.clone() {
                let (i, j) = if a_picks { (node, other) } else { (other, node) };
                let price = self.price(t, i, j, u64::MAX);
                // A child that is paired is not removed: that much is saved. Records of one table have equally many cells.
                let saved = match self.pairing {
                    Pairing::Subtree => {
                        let tree = if a_picks { self.b } else { self.a };
                        tree.cells_of(t, other..other + 1) * UNIT
                    }
                    Pairing::Record | Pairing::Level => 0,
                };
                prices.push(price);
                weights.push(price as i64 - saved as i64);
            }
        }
        let weights = Matrix::from_fn(picking.len(), picked.len(), |(row, column)| {
            weights[row * picked.len() + column]
        });
        let (_, chosen) = kuhn_munkres_min(&weights);
        let mut cost = 0;
        for (row, &column) in chosen.iter().enumerate() {
            cost += prices[row * picked.len() + column];
            let (node, other) = ((picking.start + row) as u32, (picked.start + column) as u32);
            self.scratch.pairs.push(if a_picks { (node, other) } else { (other, node) });
        }
        cost
    }

    fn pair_by_level(&mut self, t: usize, of_a: Nodes, of_b: Nodes, limit: u64) -> u64 {
        let (layout, table) = (self.layout, &self.layout.tables[t]);
        let width = table.attributes.len();
        let (mut n_left, n_nodes) = (of_a.len().min(of_b.len()), of_a.len());
        // How many of those left are of the first tree.
        let mut n_of_a = n_nodes;
        let mut levels = std::mem::take(&mut self.scratch.levels);
        let Levels { nodes, labels, order, is_paired } = &mut levels;
        nodes.clear();
        labels.clear();
        for i in of_a {
            nodes.push(i as u32);
            labels.extend_from_slice(self.a.labels(layout, t, i));
        }
        for j in of_b {
            nodes.push(j as u32);
            labels.extend_from_slice(self.b.labels(layout, t, j));
        }
        let mut cost = 0;
        for level in 0..=table.height {
            if level > 0 {
                for (at, label) in labels.iter_mut().enumerate() {
                    *label = table.attributes[at % width].at_least(*label, level);
                }
            }
            let key = |at: usize| &labels[at * width..(at + 1) * width];
            order.clear();
            order.extend(0..nodes.len());
            order.sort_unstable_by(|&x, &y| key(x).cmp(key(y)).then(x.cmp(&y)));
            is_paired.clear();
            is_paired.resize(nodes.len(), false);
            for equal in order.chunk_by(|&x, &y| key(x) == key(y)) {
                let (first, second) = equal.split_at(equal.partition_point(|&at| at < n_of_a));
                for (&x, &y) in first.iter().zip(second) {
                    (is_paired[x], is_paired[y]) = (true, true);
                    cost += self.record_cost(t, nodes[x] as usize, nodes[y] as usize);
                    self.scratch.pairs.push((nodes[x], nodes[y]));
                    n_left -= 1;
                }
            }
            if n_left == 0 || cost >= limit {
                break;
            }
            // Those left move up, in order.
            n_of_a -= is_paired[..n_of_a].iter().filter(|&&is_paired| is_paired).count();
            let mut to = 0;
            for from in 0..nodes.len() {
                if !is_paired[from] {
                    nodes[to] = nodes[from];
                    labels.copy_within(from * width..(from + 1) * width, to * width);
                    to += 1;
                }
            }
            nodes.truncate(to);
            labels.truncate(to * width);
        }
        self.scratch.levels = levels;
        cost
    }
}
