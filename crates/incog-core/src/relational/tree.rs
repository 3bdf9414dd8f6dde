//! Who has which records?
//!
//! [`Trees`] finds the children of every record: the rows of each child table that refer to it, in row order. With them a
//! person is a tree, whose root is the row of the person table. A [`Node`] is such a tree with labels, of one person or of
//! several that share it: paired nodes hold one record of each member.
//!
//! Cost: two passes over the links of each table. Memory: four bytes a row and four a row of the table above.

use crate::hierarchy::Attribute;
use crate::relational::Database;

/// The children of every record.
#[derive(Debug, Clone)]
pub struct Trees<'a> {
    database: &'a Database,
    /// For each table, its rows sorted by the row that they refer to.
    children: Vec<Children>,
}

/// Rows of one table, by the row of the table above that they refer to.
///
/// # Invariants
/// The children of row r are `rows[starts[r]..starts[r + 1]]`, ascending.
#[derive(Debug, Clone, Default)]
struct Children {
    starts: Vec<u32>,
    rows: Vec<u32>,
}

impl<'a> Trees<'a> {
    /// Sorts the rows of all child tables by their parents.
    pub fn new(database: &'a Database) -> Self {
        let sorted = |table: usize| match database.parent(table) {
            None => Children::default(),
            Some(parent) => {
                Children::new(database.parent_rows(table), database.relations()[parent].table.n_rows())
            }
        };
        Trees { database, children: (0..database.relations().len()).map(sorted).collect() }
    }

    /// The database.
    pub fn database(&self) -> &'a Database {
        self.database
    }

    /// The rows of a child table that refer to row `parent` of the table above, in row order.
    ///
    /// # Panics
    /// For the person table, and for rows that do not exist.
    pub fn children(&self, table: usize, parent: u32) -> &[u32] {
        let Children { starts, rows } = &self.children[table];
        &rows[starts[parent as usize] as usize..starts[parent as usize + 1] as usize]
    }

    /// The tree of one person, labels as collected.
    pub fn person(&self, row_idx: u32) -> Node {
        self.node(self.database.person(), row_idx)
    }

    fn node(&self, table: usize, record: u32) -> Node {
        let attributes = self.database.attributes(table).iter().enumerate();
        let label = |(at, attribute): (usize, &Attribute)| {
            let value = self.database.column(table, at).codes()[record as usize];
            Label { level: 0, code: attribute.labels_at(0)[value as usize] }
        };
        let children = self.database.children(table).iter().map(|&child| {
            self.children(child, record).iter().map(|&record| self.node(child, record)).collect()
        });
        Node::new(attributes.map(label).collect(), vec![record], children.collect())
    }
}

impl Children {
    fn new(parents: &[u32], n_parents: usize) -> Self {
        let mut starts = vec![0_u32; n_parents + 1];
        for &parent in parents {
            starts[parent as usize + 1] += 1;
        }
        for row in 0..n_parents {
            starts[row + 1] += starts[row];
        }
        let mut next = starts.clone();
        let mut rows = vec![0; parents.len()];
        for (row_idx, &parent) in parents.iter().enumerate() {
            let at = &mut next[parent as usize];
            rows[*at as usize] = row_idx as u32;
            *at += 1;
        }
        Children { starts, rows }
    }
}

/// A label of a hierarchy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Label {
    /// The level it stands on.
    pub level: u8,
    /// Its code among the labels of that level.
    pub code: u32,
}

/// A record with all that hangs on it: of one person, or of several that share it.
///
/// # Invariants
/// All nodes of a tree hold equally many records, at least one, those of the same member at the same place. The record
/// of a child refers to the record of its parent. `children` has an entry for each child table of the node's table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    labels: Vec<Label>,
    records: Vec<u32>,
    children: Vec<Vec<Node>>,
    n_cells: u64,
}

impl Node {
    pub(super) fn new(labels: Vec<Label>, records: Vec<u32>, children: Vec<Vec<Node>>) -> Self {
        debug_assert!(children.iter().flatten().all(|child| child.records.len() == records.len()));
        let below: u64 = children.iter().flatten().map(Node::n_cells).sum();
        Node { n_cells: labels.len() as u64 + below, labels, records, children }
    }

    /// A label for each quasi-identifier of the table.
    pub fn labels(&self) -> &[Label] {
        &self.labels
    }

    /// The row that the node stands for, for each member.
    pub fn records(&self) -> &[u32] {
        &self.records
    }

    /// The children: for each child table of the node's table, in the order of [`Database::children`].
    pub fn children(&self) -> &[Vec<Node>] {
        &self.children
    }

    /// How many labels the whole tree has.
    pub fn n_cells(&self) -> u64 {
        self.n_cells
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::relational::samples::{relation, students};

    #[test]
    fn children_are_the_rows_that_refer_to_a_record_in_row_order() {
        let takes = relation(
            "takes",
            "scid,sid,course c,S2,Math a,S1,Math b,S2,CS",
            Some("scid"),
            Some(("sid", "student")),
            &["course"],
        );
        let database = Database::new(vec![students().remove(0), takes], "student").unwrap();
        let trees = Trees::new(&database);
        let of_persons: Vec<&[u32]> = (0..4).map(|person| trees.children(1, person)).collect();
        assert_eq!(of_persons, [&[1][..], &[0, 2], &[], &[]]);
    }

    #[test]
    fn a_person_is_a_tree_of_all_their_records() {
        let database = Database::new(students(), "student").unwrap();
        let first = Trees::new(&database).person(0);
        assert_eq!((first.records(), first.n_cells()), (&[0][..], 7));
        let courses = &first.children()[0];
        let records = |nodes: &[Node]| nodes.iter().map(|node| node.records()[0]).collect::<Vec<_>>();
        assert_eq!(records(courses), [0, 1, 2]);
        assert_eq!(records(&courses[1].children()[0]), [1, 2]);
        let labels = database.attributes(1)[0].hierarchy().labels(0);
        let course = |node: &Node| labels.value(node.labels()[0].code);
        assert_eq!(courses.iter().map(course).collect::<Vec<_>>(), ["Math", "Physics", "History"]);
    }
}
