//! What do two trees have in common, and what does it cost?
//!
//! The common anonymization of two trees (Algorithms 1 and 3 to 5 of the paper):
//!
//! 1. Each quasi-identifier of the two roots becomes the lowest label that stands above both.
//! 2. For each child table the children of both are paired, greedily: the smaller set picks, in row order (the first tree,
//!    if they are equally many), and each takes the cheapest that is left (the first of equally cheap ones).
//! 3. Pairs are anonymized with each other. Children that are left over are removed with all that hangs on them.
//!
//! A cell costs what it costs in LM: (m − 1) / (L − 1) if its label covers m of L leaves, and 1 if it is removed. The
//! cost is summed over the cells of both trees; the [`Distance`] is its mean, so that it lies between 0 and 1.
//!
//! [`Pairing::Subtree`] (MiRaCle) picks by the cost of the whole subtrees; [`Pairing::Record`] (MiRaCleX) by the cost of
//! the two records alone, and only looks below pairs that were chosen.
//!
//! Costs are whole numbers of [`UNIT`]s: sums do not depend on the order, so ties are ties.
//!
//! Cost: see [the module above](super). Comparing allocates lists of pairs only, no tree.

use std::cmp::Ordering;

use crate::hierarchy::Hierarchy;
use crate::privacy::Fraction;
use crate::relational::{Database, Label, Node};

/// The cost of a cell that is removed. Divisible by all numbers up to 24: the costs of hierarchies of up to 25 leaves are
/// exact.
const UNIT: u64 = 5_354_228_880;

/// By what the children of two records are paired.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pairing {
    /// By the cost of their whole subtrees: MiRaCle.
    Subtree,
    /// By the cost of the records alone: MiRaCleX.
    Record,
}

/// How far two trees are from each other: the mean cost of their cells in the common anonymization.
#[derive(Debug, Clone, Copy)]
pub struct Distance {
    cost: u64,
    /// Of both trees; not 0.
    n_cells: u64,
}

impl Distance {
    /// From 0, nothing is lost, to 1, nothing is left.
    pub fn to_f64(self) -> f64 {
        self.cost as f64 / (self.n_cells as f64 * UNIT as f64)
    }

    /// Is it more than `threshold`?
    pub fn exceeds(self, threshold: Fraction) -> bool {
        threshold.compare(self.cost.into(), u128::from(self.n_cells) * u128::from(UNIT)).is_gt()
    }
}

impl Ord for Distance {
    fn cmp(&self, other: &Self) -> Ordering {
        let product = |cost: u64, n_cells: u64| u128::from(cost) * u128::from(n_cells);
        product(self.cost, other.n_cells).cmp(&product(other.cost, self.n_cells))
    }
}

impl PartialOrd for Distance {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Distance {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Distance {}

/// Anonymizes trees of one database with each other.
#[derive(Debug)]
pub struct Matcher<'a> {
    database: &'a Database,
    pairing: Pairing,
    /// `costs[table][attribute][level][label]`.
    costs: Vec<Vec<Vec<Vec<u64>>>>,
}

/// A child of the first tree, one of the second, and what it costs to anonymize them with each other.
struct Pair {
    first: usize,
    second: usize,
    cost: u64,
}

impl<'a> Matcher<'a> {
    /// Prepares what the labels cost.
    pub fn new(database: &'a Database, pairing: Pairing) -> Self {
        let of_table = |table: usize| {
            database.attributes(table).iter().map(|attribute| label_costs(attribute.hierarchy())).collect()
        };
        Matcher { database, pairing, costs: (0..database.relations().len()).map(of_table).collect() }
    }

    /// How far the trees of two persons, or of two clusters, are from each other.
    pub fn distance(&self, first: &Node, second: &Node) -> Distance {
        let cost = self.cost(self.database.person(), first, second);
        // Two trees without cells cost nothing, whatever that is divided by.
        Distance { cost, n_cells: (first.n_cells() + second.n_cells()).max(1) }
    }

    /// The common anonymization of the trees of two persons or two clusters. Its members are those of the first, then
    /// those of the second; its children stand in the order of the first.
    pub fn common(&self, first: &Node, second: &Node) -> Node {
        self.merge(self.database.person(), first, second)
    }

    fn merge(&self, table: usize, first: &Node, second: &Node) -> Node {
        let labels = self.common_labels(table, first, second).collect();
        let records = [first.records(), second.records()].concat();
        let sets = first.children().iter().zip(second.children());
        let children =
            self.database.children(table).iter().zip(sets).map(|(&child, (of_first, of_second))| {
                let mut pairs = self.pairs(child, of_first, of_second);
                pairs.sort_unstable_by_key(|pair| pair.first);
                pairs
                    .iter()
                    .map(|pair| self.merge(child, &of_first[pair.first], &of_second[pair.second]))
                    .collect()
            });
        Node::new(labels, records, children.collect())
    }

    /// What it costs to anonymize two trees with each other.
    fn cost(&self, table: usize, first: &Node, second: &Node) -> u64 {
        let sets = first.children().iter().zip(second.children());
        let below = self.database.children(table).iter().zip(sets).map(|(&child, (of_first, of_second))| {
            let all: u64 = of_first.iter().chain(of_second).map(Node::n_cells).sum();
            let pairs = self.pairs(child, of_first, of_second);
            let in_pairs = |pair: &Pair| of_first[pair.first].n_cells() + of_second[pair.second].n_cells();
            let removed = all - pairs.iter().map(in_pairs).sum::<u64>();
            removed * UNIT + pairs.iter().map(|pair| pair.cost).sum::<u64>()
        });
        self.record_cost(table, first, second) + below.sum::<u64>()
    }

    /// What it costs to anonymize two records with each other, whatever hangs on them.
    fn record_cost(&self, table: usize, first: &Node, second: &Node) -> u64 {
        let labels = self.common_labels(table, first, second).zip(&self.costs[table]);
        labels.map(|(label, costs)| 2 * costs[usize::from(label.level)][label.code as usize]).sum()
    }

    fn common_labels(&self, table: usize, first: &Node, second: &Node) -> impl Iterator<Item = Label> {
        let cells = first.labels().iter().zip(second.labels());
        let attributes = self.database.attributes(table).iter();
        attributes.zip(cells).map(|(attribute, (&a, &b))| lowest_common(attribute.hierarchy(), a, b))
    }

    /// Pairs the children of two records in one table, as many as the smaller set has.
    fn pairs(&self, table: usize, first: &[Node], second: &[Node]) -> Vec<Pair> {
        let first_picks = first.len() <= second.len();
        let (n_picking, n_picked) =
            if first_picks { (first.len(), second.len()) } else { (second.len(), first.len()) };
        let mut left: Vec<usize> = (0..n_picked).collect();
        let mut pairs = Vec::with_capacity(n_picking);
        for picking in 0..n_picking {
            let pair = |picked: usize| if first_picks { (picking, picked) } else { (picked, picking) };
            let price = |&picked: &usize| {
                let (of_first, of_second) = pair(picked);
                match self.pairing {
                    Pairing::Subtree => self.cost(table, &first[of_first], &second[of_second]),
                    Pairing::Record => self.record_cost(table, &first[of_first], &second[of_second]),
                }
            };
            // The first of the cheapest: `min` on (price, place).
            let cheapest = left.iter().map(price).zip(0_usize..).min();
            let Some((price, at)) = cheapest else { break };
            // Not `swap_remove`: those left stay in row order.
            let (first_idx, second_idx) = pair(left.remove(at));
            let cost = match self.pairing {
                Pairing::Subtree => price,
                Pairing::Record => self.cost(table, &first[first_idx], &second[second_idx]),
            };
            pairs.push(Pair { first: first_idx, second: second_idx, cost });
        }
        pairs
    }
}

/// What each label of each level costs.
fn label_costs(hierarchy: &Hierarchy) -> Vec<Vec<u64>> {
    // With a single leaf every label covers just that leaf and costs nothing.
    let most = u128::from(hierarchy.n_leaves().saturating_sub(1).max(1));
    let cost = |level: u8, label: u32| {
        let others = u128::from(hierarchy.leaves_under(level, label).saturating_sub(1));
        (others.min(most) * u128::from(UNIT) / most) as u64
    };
    let of_level =
        |level: u8| (0..hierarchy.labels(level).len() as u32).map(|label| cost(level, label)).collect();
    (0..=hierarchy.height()).map(of_level).collect()
}

/// The lowest label that stands above both, or is one of them. The top has one label, so there is one.
fn lowest_common(hierarchy: &Hierarchy, a: Label, b: Label) -> Label {
    let mut level = a.level.max(b.level);
    let mut code = hierarchy.generalize(a.code, a.level, level);
    let mut other = hierarchy.generalize(b.code, b.level, level);
    while code != other {
        code = hierarchy.parent(level, code);
        other = hierarchy.parent(level, other);
        level += 1;
    }
    Label { level, code }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::relational::Trees;
    use crate::relational::samples::{relation, students};

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

    fn is_near(distance: Distance, expected: f64) {
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

    #[test]
    fn lower_labels_than_the_common_one_stand_above_only_one_of_both() {
        let database = Database::new(students(), "student").unwrap();
        let hierarchy = database.attributes(2)[0].hierarchy();
        let labels = (0..=hierarchy.height()).flat_map(|level| {
            (0..hierarchy.labels(level).len() as u32).map(move |code| Label { level, code })
        });
        let labels: Vec<Label> = labels.collect();
        let is_above = |above: &Label, label: &Label| {
            above.level >= label.level
                && hierarchy.generalize(label.code, label.level, above.level) == above.code
        };
        for a in &labels {
            for b in &labels {
                // Labels are listed from the lowest level up.
                let by_search = labels.iter().find(|label| is_above(label, a) && is_above(label, b));
                assert_eq!(Some(&lowest_common(hierarchy, *a, *b)), by_search);
            }
        }
    }
}
