//! What did it cost? (Definitions 7 and 8 of the paper: LM and DM for databases.)
//!
//! - *LM*: a cell whose label covers m of the L leaves of its hierarchy costs (m − 1) / (L − 1), nothing if there is one
//!   leaf; a removed cell costs 1. The sum is divided by the number of *original* quasi-identifier cells, so that it lies
//!   between 0 and 1 and a release cannot look better by removing what is hard to keep.
//! - *DM*: each person costs the number of persons who look the same; a removed one costs n, as if hidden among all.
//!   Persons look the same if their released trees are equal up to the order of siblings: clusters that happen to have
//!   the same tree are one class.
//!
//! Differs from the paper: (1) LM is divided by original, not by released cells, since we remove what finds no partner;
//! (2) DM counts removed persons at all.
//!
//! Classes are found without comparing trees: each distinct subtree has a number, given to what it is made of (its
//! labels and the sorted numbers of its children). Sums are whole numbers, one an attribute; only the last division is
//! not.
//!
//! Cost: one look-up a node of the common trees, and a sort of each child set.

use crate::hash;
use crate::relational::{Clustering, Database, Node};

/// What a clustering costs.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// Table by table, in the order of [`Database::relations`].
    pub tables: Vec<TableLoss>,
    /// LM over all tables, from 0 to 1; 0 if there is no cell.
    pub loss: f64,
    /// DM over persons, at most the square of their number.
    pub discernibility: u64,
    /// How many persons there were.
    pub persons: u64,
    /// How many of them were removed.
    pub suppressed_persons: u64,
    /// How many different trees are released.
    pub n_classes: usize,
    /// How many persons share the tree that fewest share; `None` if nobody is released.
    pub smallest_class: Option<u64>,
}

/// What a table lost.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TableLoss {
    /// Its original quasi-identifier cells.
    pub cells: u64,
    /// LM over them, from 0 to 1; 0 if there are none.
    pub loss: f64,
    /// Its original rows.
    pub rows: u64,
    /// How many of them were removed.
    pub removed_rows: u64,
}

/// Measures a clustering of the persons of a database.
pub fn measure(database: &Database, clustering: &Clustering) -> Measured {
    let tables = 0..database.relations().len();
    let mut tallies: Vec<Tally> =
        tables.clone().map(|table| Tally::new(database.attributes(table).len())).collect();
    let mut shapes = Shapes::default();
    let mut classes: hash::Map<u32, u64> = hash::Map::default();
    for cluster in &clustering.clusters {
        tally(database, database.person(), cluster, &mut tallies);
        let shape = shapes.number(database.person(), cluster, database);
        *classes.entry(shape).or_default() += cluster.records().len() as u64;
    }
    let persons = database.n_persons() as u64;
    let suppressed_persons = persons - tallies[database.person()].rows;
    let costs: Vec<f64> = tables.clone().map(|table| tallies[table].cost(database, table)).collect();
    let losses: Vec<TableLoss> = tables
        .map(|table| {
            let rows = database.relations()[table].table.n_rows() as u64;
            let cells = rows * database.attributes(table).len() as u64;
            let loss = share(costs[table], cells);
            TableLoss { cells, loss, rows, removed_rows: rows - tallies[table].rows }
        })
        .collect();
    Measured {
        loss: share(costs.iter().sum(), losses.iter().map(|table| table.cells).sum()),
        tables: losses,
        discernibility: classes.values().map(|size| size * size).sum::<u64>() + suppressed_persons * persons,
        persons,
        suppressed_persons,
        n_classes: classes.len(),
        smallest_class: classes.values().copied().min(),
    }
}

fn share(cost: f64, cells: u64) -> f64 {
    if cells == 0 { 0.0 } else { cost / cells as f64 }
}

/// What is released of one table.
struct Tally {
    rows: u64,
    /// For each attribute, how many leaves the released cells cover beyond one each.
    others: Vec<u128>,
}

impl Tally {
    fn new(n_attributes: usize) -> Self {
        Tally { rows: 0, others: vec![0; n_attributes] }
    }

    /// What all original cells of the table cost.
    fn cost(&self, database: &Database, table: usize) -> f64 {
        let n_removed = database.relations()[table].table.n_rows() as u64 - self.rows;
        let of_attribute = |(at, &others): (usize, &u128)| {
            // With one leaf there are no others: nothing divided by whatever.
            let most = database.attributes(table)[at].hierarchy().n_leaves().saturating_sub(1).max(1);
            others as f64 / most as f64 + n_removed as f64
        };
        self.others.iter().enumerate().map(of_attribute).sum()
    }
}

fn tally(database: &Database, table: usize, node: &Node, tallies: &mut [Tally]) {
    let n_records = node.records().len() as u64;
    let of_table = &mut tallies[table];
    of_table.rows += n_records;
    let cells = node.labels().iter().zip(database.attributes(table));
    for (others, (label, attribute)) in of_table.others.iter_mut().zip(cells) {
        let leaves = attribute.hierarchy().leaves_under(label.level, label.code);
        *others += u128::from(leaves.saturating_sub(1)) * u128::from(n_records);
    }
    for (&child, nodes) in database.children(table).iter().zip(node.children()) {
        for node in nodes {
            tally(database, child, node, tallies);
        }
    }
}

/// A number for each different subtree, whatever the order of siblings.
#[derive(Default)]
struct Shapes(hash::Map<Vec<u32>, u32>);

impl Shapes {
    fn number(&mut self, table: usize, node: &Node, database: &Database) -> u32 {
        // The table comes first and tells how many labels and child tables follow.
        let mut shape = vec![table as u32];
        shape.extend(node.labels().iter().flat_map(|label| [u32::from(label.level), label.code]));
        for (&child, nodes) in database.children(table).iter().zip(node.children()) {
            shape.push(nodes.len() as u32);
            let start = shape.len();
            for node in nodes {
                let number = self.number(child, node, database);
                shape.push(number);
            }
            shape[start..].sort_unstable();
        }
        let next = self.0.len() as u32;
        *self.0.entry(shape).or_insert(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privacy::Fraction;
    use crate::progress::Progress;
    use crate::relational::samples::{relation, students};
    use crate::relational::{Options, Pairing, miracle};

    fn check(database: &Database, k: usize, threshold: (u64, u64), cluster_limit: usize) -> Measured {
        let threshold = Fraction::new(threshold.0, threshold.1).unwrap();
        let options = Options { threshold, cluster_limit, pairing: Pairing::Subtree, ..Options::new(k) };
        measure(database, &miracle(database, &options, &Progress::new()).unwrap())
    }

    fn is_near(loss: f64, expected: f64) {
        assert!((loss - expected).abs() < 1e-12, "{loss} is not {expected}");
    }

    /// The costs are those of the two pairs in the tests of `matching`.
    #[test]
    fn the_students_lose_what_their_pairs_lose() {
        let database = Database::new(students(), "student").unwrap();
        let measured = check(&database, 2, (3, 10), 150);
        // Of {S1, S2}: Science 2/4 and Social 1/4 twice; of {S3, S4}: Math of S3 is gone.
        is_near(measured.tables[1].loss, (2.0 * (0.5 + 0.25) + 1.0) / 11.0);
        // Social-Book 2/5 twice and Calc; Social-Book 2/5 twice and the book of Math.
        is_near(measured.tables[2].loss, (2.0 * 0.4 + 1.0 + 2.0 * 0.4 + 1.0) / 12.0);
        is_near(measured.loss, (2.5 + 3.6) / 23.0);
        let counts = |table: usize| {
            let TableLoss { cells, rows, removed_rows, .. } = measured.tables[table];
            (cells, rows, removed_rows)
        };
        assert_eq!([counts(0), counts(1), counts(2)], [(0, 4, 0), (11, 11, 1), (12, 12, 2)]);
        is_near(measured.tables[0].loss, 0.0);
        assert_eq!((measured.discernibility, measured.n_classes), (2 * 2 + 2 * 2, 2));
        assert_eq!((measured.persons, measured.suppressed_persons, measured.smallest_class), (4, 0, Some(2)));
    }

    #[test]
    fn a_removed_person_costs_all_cells_and_the_number_of_persons() {
        let database = Database::new(students(), "student").unwrap();
        // The first three share a cluster, the fourth is suppressed with 2 courses and 2 books.
        let measured = check(&database, 3, (0, 1), 1);
        assert_eq!((measured.suppressed_persons, measured.discernibility), (1, 3 * 3 + 4));
        assert!(measured.tables[1].removed_rows >= 2 && measured.tables[2].removed_rows >= 2);
        let nobody = Clustering { clusters: Vec::new(), suppressed: (0..4).collect() };
        let nobody = measure(&database, &nobody);
        assert_eq!((nobody.loss, nobody.discernibility, nobody.smallest_class), (1.0, 16, None));
    }

    #[test]
    fn trees_that_differ_in_the_order_of_siblings_only_are_one_class() {
        let takes = "scid,sid,course a,S1,Math b,S1,CS c,S2,CS d,S2,Math e,S3,CS f,S3,CS g,S4,CS";
        let takes = relation("takes", takes, Some("scid"), Some(("sid", "student")), &["course"]);
        let database = Database::new(vec![students().remove(0), takes], "student").unwrap();
        let measured = check(&database, 1, (1, 1), 150);
        // S1 and S2 look the same; S3 has two courses CS and S4 one.
        assert_eq!((measured.n_classes, measured.discernibility), (3, 4 + 1 + 1));
        assert_eq!(measured.smallest_class, Some(1));
        is_near(measured.loss, 0.0);
    }
}
