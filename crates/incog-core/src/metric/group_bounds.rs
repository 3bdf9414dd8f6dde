//! What does a node cost at least by a metric of its groups, given those of other nodes?
//!
//! Discernibility and the average group size say nothing of a node before its groups are counted. But generalizing only
//! merges groups, so the groups of one node bound the cost of all above it; and where a row is known to be suppressed
//! wherever something is released, that costs more. Let n be the rows of the table, m the fewest rows of a group that the
//! policy releases (1 if it does not say), Y a node whose groups were counted, and X a node above it that holds, at which r rows
//! are known to be suppressed.
//!
//! *Discernibility.* A row of a group of s rows at Y is in X in a group of at least s; released it costs at least that, and
//! at least m; suppressed it costs n, which is no less. So X costs at least F(Y) = Σ s·max(s, m). Where the policy is about numbers of rows
//! alone, the r rows were suppressed at Y too (less merging never admits more), in groups of fewer than m rows: F counts
//! m for each of them, and n is right. So X costs at least F(Y) + (n − m)·r. Otherwise at least max(F(Y), m·n + (n − m)·r).
//!
//! *Average group size.* C(Y) = Σ min(s, m) falls as groups merge. A released group of X takes m of C(X), a suppressed
//! one at least 1. So X has at most C(Y)/m released groups, and at least n − b released rows, b being the suppression
//! budget: m·(n − b)/C(Y). Where the policy is about numbers of rows alone, suppressed groups have fewer than m rows,
//! so σ suppressed rows take σ of C(X): m·(n − σ)/(C(Y) − σ), which grows with σ since C(Y) ≤ n; and σ is at least r.
//!
//! *Before any node was counted*: X has at most as many groups as its labels have combinations, P. By Cauchy's inequality
//! Σ s² ≥ q/p, if q is the sum of squares of one attribute's labels and p the combinations of the others'; the best
//! attribute counts. And C(X) ≤ min(n, m·P).
//!
//! Bounds are never above the score as a float: sums are integers, and rounding keeps their order. The tests below check the
//! law on random groups, `tests/optimum.rs` and `tests/models.rs` what is found by it.

use crate::judge::Sizes;
use crate::lattice::Lattice;
use crate::metric::costs::ratio;
use crate::metric::{Costs, Grows};

/// Quotients of larger numbers are rounded more than once.
const EXACT: u128 = 1 << 53;
/// How much too large rounding can make a bound.
const ROUNDING: f64 = 1e-9;

pub(crate) struct GroupBounds {
    pub(crate) grows: Grows,
    pub(crate) n_rows: u64,
    /// The fewest rows of a group that is released.
    pub(crate) least: u64,
    /// How many rows may be suppressed.
    pub(crate) budget: u64,
    /// Is the policy about numbers of rows alone?
    pub(crate) is_rows_only: bool,
}

impl GroupBounds {
    /// F, or C, of a node's groups.
    pub(crate) fn sum(&self, sizes: &Sizes) -> u64 {
        match self.grows {
            Grows::WithSquares => u64::try_from(sizes.floor).unwrap_or(u64::MAX),
            Grows::WithFewerGroups => sizes.capped,
        }
    }

    /// Of two such sums that bound the same node, the one that bounds it more.
    pub(crate) fn stronger(&self, a: u64, b: u64) -> u64 {
        match self.grows {
            Grows::WithSquares => a.max(b),
            Grows::WithFewerGroups => a.min(b),
        }
    }

    /// Such a sum for every node, from labels alone.
    pub(crate) fn first_sums(&self, lattice: &Lattice, costs: &Costs) -> Vec<u64> {
        let (n, least) = (self.n_rows as f64, self.least as f64);
        let crowd = |position: usize, level: usize| {
            let (n_labels, squares) = costs.size_moments[lattice.attributes()[position]][level];
            let n_labels = n_labels.max(1) as f64;
            // How much more than evenly the rows are dealt out to the labels.
            (n_labels, squares as f64 * n_labels / (n * n).max(1.0))
        };
        let sums = lattice.sums((1.0, 1.0), crowd, |a: (f64, f64), b| (a.0 * b.0, a.1.max(b.1)));
        let sum = |(n_combinations, unevenness): (f64, f64)| match self.grows {
            Grows::WithSquares => (n * n / n_combinations * unevenness * (1.0 - ROUNDING))
                .max(least * n * (1.0 - ROUNDING)) as u64,
            Grows::WithFewerGroups => (least * n_combinations * (1.0 + ROUNDING)).min(n) as u64,
        };
        sums.into_iter().map(sum).collect()
    }

    /// What a node costs at least, given a sum of a node below it and the rows that are known to be suppressed.
    pub(crate) fn bound(&self, sum: u64, suppressed: u64) -> f64 {
        let (n, least) = (u128::from(self.n_rows), u128::from(self.least));
        let (sum, suppressed) = (u128::from(sum), u128::from(suppressed));
        match self.grows {
            Grows::WithSquares => {
                let of_suppressed = n.saturating_sub(least) * suppressed;
                let bound = if self.is_rows_only {
                    sum + of_suppressed
                } else {
                    sum.max(least.min(n) * n + of_suppressed)
                };
                bound as f64
            }
            Grows::WithFewerGroups => {
                let taken = if self.is_rows_only { suppressed } else { 0 };
                let n_suppressed = if self.is_rows_only { suppressed } else { u128::from(self.budget) };
                let rows = least * n.saturating_sub(n_suppressed);
                let groups = sum.saturating_sub(taken);
                if groups == 0 {
                    return n as f64;
                }
                let rounding = if rows < EXACT { 0.0 } else { ROUNDING };
                (ratio(rows, groups) * (1.0 - rounding)).min(n as f64)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers that look random.
    struct Draw(u64);

    impl Draw {
        fn below(&mut self, n: u64) -> u64 {
            self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (self.0 >> 33) % n
        }
    }

    fn sizes(groups: &[u64], least: u64) -> Sizes {
        Sizes {
            n_released: 0,
            squares: 0,
            floor: groups.iter().map(|&rows| u128::from(rows * rows.max(least))).sum(),
            capped: groups.iter().map(|&rows| rows.min(least)).sum(),
        }
    }

    /// The score of groups, those of the second list being suppressed, by the definitions.
    fn score(grows: Grows, released: &[u64], suppressed: u64) -> f64 {
        let rows: u64 = released.iter().sum();
        let n = rows + suppressed;
        match grows {
            Grows::WithSquares => {
                (released.iter().map(|rows| rows * rows).sum::<u64>() + suppressed * n) as f64
            }
            Grows::WithFewerGroups if released.is_empty() => n as f64,
            Grows::WithFewerGroups => rows as f64 / released.len() as f64,
        }
    }

    fn merged(groups: &[u64], draw: &mut Draw) -> Vec<u64> {
        let n = 1 + draw.below(groups.len() as u64);
        let mut merged = vec![0; n as usize];
        groups.iter().for_each(|rows| merged[draw.below(n) as usize] += rows);
        merged.retain(|&rows| rows > 0);
        merged
    }

    /// Three nodes above each other: the groups of the lowest and what the highest suppresses bound the middle one.
    #[test]
    fn no_node_costs_less_than_its_bound() {
        let mut draw = Draw(5);
        for round in 0..20_000 {
            let groups: Vec<u64> = (0..=draw.below(12)).map(|_| 1 + draw.below(6)).collect();
            let n_rows = groups.iter().sum();
            let k = 1 + draw.below(6);
            let least = k.min(n_rows);
            let middle = merged(&groups, &mut draw);
            let highest = merged(&middle, &mut draw);
            let is_rows_only = round % 2 == 0;
            // Where not only rows count, some other model refuses at will; what the highest suppresses, all do.
            let refuses = |rows: &u64, draw: &mut Draw| *rows < k || (!is_rows_only && draw.below(3) == 0);
            let known = highest.iter().filter(|&&rows| rows < k).sum();
            let (mut released, mut suppressed) = (Vec::new(), 0);
            for rows in middle {
                if refuses(&rows, &mut draw) {
                    suppressed += rows;
                } else {
                    released.push(rows);
                }
            }
            for grows in [Grows::WithSquares, Grows::WithFewerGroups] {
                let rule = GroupBounds { grows, n_rows, least, budget: suppressed, is_rows_only };
                let bound = rule.bound(rule.sum(&sizes(&groups, least)), known);
                let score = score(grows, &released, suppressed);
                assert!(bound <= score, "{grows:?}: {groups:?} {released:?} {suppressed} {known}");
            }
        }
    }
}
