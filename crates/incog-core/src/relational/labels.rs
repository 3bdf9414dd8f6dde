//! Which label stands above two others, and what does it cost?
//!
//! The labels of one hierarchy, all levels together, as flat numbers: level by level from the leaves up, so that a parent has
//! a greater number than its children and the label of code c on level 0 is number c. The lowest label above two is found
//! by raising the smaller number until both are one.
//!
//! Two labels that become one are the innermost step of every comparison. Where a table of all pairs is small
//! ([`MAX_PAIRS`]), their price is one look-up; else it is a climb.
//!
//! Cost: the parents and costs take 13 bytes a label, the table of pairs 8 bytes a pair.

use crate::hierarchy::Hierarchy;
use crate::relational::{Cost, Label};

/// What a cell that is removed costs. Divisible by all numbers up to 24: the costs of hierarchies of up to 25 leaves are
/// exact.
pub(super) const UNIT: u64 = 5_354_228_880;

/// Pairs in a table at most: 2 MB.
const MAX_PAIRS: usize = 1 << 18;

/// The labels of one hierarchy.
///
/// # Invariants
/// `parents[label] > label`, but for the top, which is its own parent and the last. `prices` is empty or has the price of
/// each pair of labels, row by row.
#[derive(Debug, Clone)]
pub(super) struct Labels {
    /// The first label of each level.
    starts: Vec<u32>,
    levels: Vec<u8>,
    parents: Vec<u32>,
    costs: Vec<u64>,
    prices: Vec<u64>,
}

impl Labels {
    /// The labels of a hierarchy with a single label at its top.
    pub(super) fn new(hierarchy: &Hierarchy, cost: Cost) -> Self {
        let mut labels =
            Labels { starts: vec![], levels: vec![], parents: vec![], costs: vec![], prices: vec![] };
        for level in 0..=hierarchy.height() {
            let n_labels = hierarchy.labels(level).len() as u32;
            let start = labels.levels.len() as u32;
            labels.starts.push(start);
            for code in 0..n_labels {
                let is_top = level == hierarchy.height();
                let parent = if is_top { code } else { n_labels + hierarchy.parent(level, code) };
                labels.levels.push(level);
                labels.parents.push(start + parent);
                labels.costs.push(match cost {
                    Cost::Loss => loss(hierarchy, level, code),
                    Cost::Precision => UNIT * u64::from(level) / u64::from(hierarchy.height().max(1)),
                });
            }
        }
        labels.tabulate(MAX_PAIRS);
        labels
    }

    /// Makes the table of prices if it has at most `max_pairs` entries.
    fn tabulate(&mut self, max_pairs: usize) {
        self.prices = Vec::new();
        let n = self.n_labels();
        if n.saturating_mul(n) <= max_pairs {
            let all = 0..n as u32;
            self.prices = all
                .clone()
                .flat_map(|a| all.clone().map(move |b| (a, b)))
                .map(|(a, b)| self.climb(a, b))
                .collect();
        }
    }

    /// How many labels all levels have.
    pub(super) fn n_labels(&self) -> usize {
        self.levels.len()
    }

    /// The number of a label.
    pub(super) fn number(&self, label: Label) -> u32 {
        self.starts[usize::from(label.level)] + label.code
    }

    /// The label of a number.
    pub(super) fn label(&self, number: u32) -> Label {
        let level = self.levels[number as usize];
        Label { level, code: number - self.starts[usize::from(level)] }
    }

    /// The label one level up; the top is its own.
    pub(super) fn parent(&self, label: u32) -> u32 {
        self.parents[label as usize]
    }

    /// The label above, or the label itself, that stands on that level or higher; it must not stand more than one lower,
    /// or at the top.
    pub(super) fn at_least(&self, label: u32, level: u8) -> u32 {
        if self.levels[label as usize] < level { self.parent(label) } else { label }
    }

    /// What a cell with this label costs.
    pub(super) fn cost(&self, label: u32) -> u64 {
        self.costs[label as usize]
    }

    /// The lowest label that stands above both, or is one of them.
    pub(super) fn common(&self, mut a: u32, mut b: u32) -> u32 {
        // The smaller number stands at most as high, so raising it skips no common label.
        while a != b {
            if a < b {
                a = self.parent(a);
            } else {
                b = self.parent(b);
            }
        }
        a
    }

    /// What two cells cost with the label that they have in common.
    #[inline]
    pub(super) fn price(&self, a: u32, b: u32) -> u64 {
        if self.prices.is_empty() {
            return self.climb(a, b);
        }
        self.prices[a as usize * self.levels.len() + b as usize]
    }

    fn climb(&self, a: u32, b: u32) -> u64 {
        2 * self.cost(self.common(a, b))
    }
}

/// What a label costs in LM: (m − 1) / (L − 1) if it covers m of L leaves.
fn loss(hierarchy: &Hierarchy, level: u8, code: u32) -> u64 {
    // With a single leaf every label covers just that leaf and costs nothing.
    let most = u128::from(hierarchy.n_leaves().saturating_sub(1).max(1));
    let others = u128::from(hierarchy.leaves_under(level, code).saturating_sub(1));
    (others.min(most) * u128::from(UNIT) / most) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::relational::Database;
    use crate::relational::samples::students;

    #[test]
    fn lower_labels_than_the_common_one_stand_above_only_one_of_both() {
        let database = Database::new(students(), "student").unwrap();
        let hierarchy = database.attributes(2)[0].hierarchy();
        let labels = Labels::new(hierarchy, Cost::Loss);
        let all: Vec<Label> = (0..labels.n_labels() as u32).map(|number| labels.label(number)).collect();
        let is_above = |above: &Label, label: &Label| {
            above.level >= label.level
                && hierarchy.generalize(label.code, label.level, above.level) == above.code
        };
        for a in &all {
            for b in &all {
                // Labels are numbered from the lowest level up.
                let by_search = all.iter().find(|label| is_above(label, a) && is_above(label, b));
                let common = labels.common(labels.number(*a), labels.number(*b));
                assert_eq!(Some(&labels.label(common)), by_search);
            }
        }
    }

    #[test]
    fn the_table_has_the_prices_of_the_climb() {
        let database = Database::new(students(), "student").unwrap();
        let table = Labels::new(database.attributes(2)[0].hierarchy(), Cost::Loss);
        let mut climbing = table.clone();
        climbing.tabulate(0);
        assert!(climbing.prices.is_empty() && !table.prices.is_empty());
        let all = 0..table.n_labels() as u32;
        assert_eq!(climbing.price(0, 5), 2 * UNIT, "Discrete and WorldRel have only the top in common");
        for (a, b) in all.clone().flat_map(|a| all.clone().map(move |b| (a, b))) {
            assert_eq!(table.price(a, b), climbing.price(a, b));
        }
    }
}
