//! What do two trees have in common, and what does it cost?
//!
//! The common anonymization of two trees (Algorithms 1 and 3 to 5 of the paper):
//!
//! 1. Each quasi-identifier of the two roots becomes the lowest label that stands above both.
//! 2. For each child table the children of both are paired, as many as the smaller set has. In the paper the smaller set
//!    picks greedily; `pairing` has that and two other ways.
//! 3. Pairs are anonymized with each other. Children that are left over are removed with all that hangs on them.
//!
//! A cell costs what its label costs ([`Cost`](super::Cost), LM in the paper), and 1 if it is removed. The cost is summed over
//! the cells of both trees; the [`TreeDistance`] is its mean, so that it lies between 0 and 1.
//!
//! [`Pairing::Subtree`] (MiRaCle) picks by the cost of the whole subtrees; [`Pairing::Record`] (MiRaCleX) by the cost of
//! the two records alone, and only looks below pairs that were chosen.
//!
//! Costs are whole numbers of [`UNIT`]s: sums do not depend on the order, so ties are ties.
//!
//! Cost: see [the module above](super). The work is done on flat trees; see `compare`.

use std::cmp::Ordering;

use crate::privacy::{Fraction, compare_fractions};
use crate::relational::compare::{Comparison, Scratch};
use crate::relational::flat::{Flat, Layout};
use crate::relational::labels::UNIT;
use crate::relational::{Database, Matching, Node, Options, Pairing};

/// How far two trees are from each other: the mean cost of their cells in the common anonymization.
#[derive(Debug, Clone, Copy)]
pub struct TreeDistance {
    /// In units of cost.
    part: u128,
    /// The cells of both trees, or a multiple of their number; not 0.
    of: u128,
}

impl TreeDistance {
    pub(super) fn new(cost: u64, n_cells: u64) -> Self {
        // Two trees without cells cost nothing, whatever that is divided by.
        TreeDistance { part: cost.into(), of: n_cells.max(1).into() }
    }

    /// The distance d as d + (1 − d) · s, where s is `same / all`; unchanged if there are none at all.
    pub(super) fn raised(self, same: u64, all: u64) -> Self {
        if all == 0 {
            return self;
        }
        let (same, all, most) = (u128::from(same), u128::from(all), self.of * u128::from(UNIT));
        TreeDistance { part: self.part * all + (most - self.part) * same, of: self.of * all }
    }

    /// The least cost of two trees with `n_cells` cells that is no nearer, or that is farther if ties go to the new one.
    pub(super) fn limit(self, n_cells: u64, wins_ties: bool) -> u64 {
        let Some(product) = self.part.checked_mul(n_cells.max(1).into()) else { return u64::MAX };
        // Whole numbers of 64 bits are divided several times as fast, and nearly always suffice.
        let (quotient, is_exact) = match (u64::try_from(product), u64::try_from(self.of)) {
            (Ok(product), Ok(of)) => (u128::from(product / of), product % of == 0),
            _ => (product / self.of, product % self.of == 0),
        };
        let limit = quotient + u128::from(wins_ties || !is_exact);
        u64::try_from(limit).unwrap_or(u64::MAX)
    }

    /// The mean cost of a cell, rounded.
    pub(super) fn in_units(self) -> f64 {
        self.part as f64 / self.of as f64
    }

    /// From 0, nothing is lost, to 1, nothing is left.
    pub fn to_f64(self) -> f64 {
        self.part as f64 / (self.of as f64 * UNIT as f64)
    }

    /// Is it more than `threshold`?
    pub fn exceeds(self, threshold: Fraction) -> bool {
        threshold.compare(self.part, self.of * u128::from(UNIT)).is_gt()
    }
}

impl Ord for TreeDistance {
    fn cmp(&self, other: &Self) -> Ordering {
        compare_fractions((self.part, self.of), (other.part, other.of))
    }
}

impl PartialOrd for TreeDistance {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for TreeDistance {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for TreeDistance {}

/// Anonymizes trees of one database with each other.
#[derive(Debug)]
pub struct Matcher {
    layout: Layout,
    pairing: Pairing,
    matching: Matching,
}

impl Matcher {
    /// Prepares what the labels cost: greedy pairs, and cells that cost as in LM.
    pub fn new(database: &Database, pairing: Pairing) -> Self {
        Matcher::with(database, &Options { pairing, ..Options::new(1) })
    }

    /// Prepares what the labels cost, to pair as the options say.
    pub fn with(database: &Database, options: &Options) -> Self {
        let layout = Layout::new(database, options.cost);
        Matcher { layout, pairing: options.pairing, matching: options.matching }
    }

    /// How far the trees of two persons, or of two clusters, are from each other.
    pub fn distance(&self, first: &Node, second: &Node) -> TreeDistance {
        let [first, second] = [first, second].map(|tree| Flat::of_node(&self.layout, tree));
        let cost = self.compare(&first, &second, &mut Scratch::default()).cost(u64::MAX);
        TreeDistance::new(cost, first.n_cells() + second.n_cells())
    }

    /// The common anonymization of the trees of two persons or two clusters. Its members are those of the first, then
    /// those of the second; its children stand in the order of the first.
    pub fn common(&self, first: &Node, second: &Node) -> Node {
        let [first, second] = [first, second].map(|tree| Flat::of_node(&self.layout, tree));
        self.compare(&first, &second, &mut Scratch::default()).common().to_node(&self.layout)
    }

    pub(super) fn layout(&self) -> &Layout {
        &self.layout
    }

    pub(super) fn compare<'a>(
        &'a self,
        a: &'a Flat,
        b: &'a Flat,
        scratch: &'a mut Scratch,
    ) -> Comparison<'a> {
        Comparison { layout: &self.layout, pairing: self.pairing, matching: self.matching, a, b, scratch }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::relational::samples::{relation, students};
    use crate::relational::{Label, Trees};

    /// A tree as text: each node's labels, and its children in brackets.
    fn text(database: &Database, table: usize, node: &Node) -> String {
        let label = |(label, attribute): (&Label, &crate::hierarchy::Attribute)| {
            attribute.hierarchy().labels(label.level).value(label.code).to_owned()
        };
        let mut words: Vec<String> =
            node.labels().iter().zip(database.attributes(table)).map(label).collect();
        for (&child, nodes) in database.children(table).iter().zip(node.children()) {
            let nodes: Vec<String> = nodes.iter().map(|node| text(database, child, node)).collect();
            words.push(format!("[{}]", nodes.join(" ")));
        }
        words.concat()
    }

    fn is_near(distance: TreeDistance, expected: f64) {
        let distance = distance.to_f64();
        assert!((distance - expected).abs() < 1e-9, "{distance} is not {expected}");
    }

    #[test]
    fn the_first_two_students_have_the_papers_figure_3_in_common() {
        let database = Database::new(students(), "student").unwrap();
        let trees = Trees::new(&database);
        for pairing in [Pairing::Subtree, Pairing::Record] {
            let matcher = Matcher::new(&database, pairing);
            let common = matcher.common(&trees.person(0), &trees.person(1));
            assert_eq!(
                text(&database, 0, &common),
                "[Science[Discrete] Physics[Dyn] Social[Social-Book]]",
                "{pairing:?}"
            );
            // SC2 with SC5, and of their books B3 with B6: B2, the book Calc, is gone.
            let physics = &common.children()[0][1];
            assert_eq!((physics.records(), physics.children()[0][0].records()), (&[1, 4][..], &[2, 5][..]));
            // By hand: twice Science 2/4, Social 1/4 and Social-Book 2/5, and Calc, of 7 + 6 cells.
            is_near(
                matcher.distance(&trees.person(0), &trees.person(1)),
                (2.0 * (0.5 + 0.25 + 0.4) + 1.0) / 13.0,
            );
        }
    }

    #[test]
    fn the_smaller_set_picks_whichever_tree_it_is_of() {
        let database = Database::new(students(), "student").unwrap();
        let trees = Trees::new(&database);
        let matcher = Matcher::new(&database, Pairing::Subtree);
        for (first, second) in [(2, 3), (3, 2)] {
            let common = matcher.common(&trees.person(first), &trees.person(second));
            assert_eq!(text(&database, 0, &common), "[History[Social-Book] Religion[WorldRel]]");
            // By hand: Social-Book twice, and Math with its book, of 6 + 4 cells.
            is_near(matcher.distance(&trees.person(first), &trees.person(second)), 2.8 / 10.0);
        }
    }

    #[test]
    fn only_subtree_pairing_looks_below_the_records() {
        let takes = "scid,sid,course a,S1,Math b,S2,Math c,S2,Math";
        let book = "bid,scid,book 1,a,Calc 2,b,Am.Hist 3,c,Calc";
        let database = Database::new(
            vec![
                students().remove(0),
                relation("takes", takes, Some("scid"), Some(("sid", "student")), &["course"]),
                relation("book", book, None, Some(("scid", "takes")), &["book"]),
            ],
            "student",
        )
        .unwrap();
        let trees = Trees::new(&database);
        let common = |pairing| {
            let matcher = Matcher::new(&database, pairing);
            text(&database, 0, &matcher.common(&trees.person(0), &trees.person(1)))
        };
        assert_eq!(common(Pairing::Subtree), "[Math[Calc]]");
        assert_eq!(common(Pairing::Record), "[Math[*]]");
    }

    #[test]
    fn persons_without_cells_are_near_each_other_and_far_from_all_others() {
        let takes = relation(
            "takes",
            "scid,sid,course a,S1,Math",
            Some("scid"),
            Some(("sid", "student")),
            &["course"],
        );
        let database = Database::new(vec![students().remove(0), takes], "student").unwrap();
        let trees = Trees::new(&database);
        let matcher = Matcher::new(&database, Pairing::Record);
        is_near(matcher.distance(&trees.person(1), &trees.person(2)), 0.0);
        let far = matcher.distance(&trees.person(0), &trees.person(1));
        is_near(far, 1.0);
        assert!(!far.exceeds(Fraction::ONE) && far.exceeds(Fraction::new(999_999, 1_000_000).unwrap()));
    }
}
