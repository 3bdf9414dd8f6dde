//! How does a tree lie in memory?
//!
//! Comparing trees is nearly all the work of clustering, so trees are kept flat for it: table by table, a table after the
//! one it refers to, and within a table the children of the first node above before those of the second. The children of
//! a node in a table are then a range, their labels one after the other.
//!
//! A [`Layout`] is what all trees of a database share: the tables in that order and their [`Labels`]. A [`Flat`] is one
//! tree, of a person or of a cluster. A [`Node`] says the same with pointers and is what others see.
//!
//! Cost: four bytes a label, a record and a node, and eight a node for its cells.

use std::ops::Range;

use crate::hierarchy::Attribute;
use crate::relational::labels::Labels;
use crate::relational::{Cost, Database, Node, Trees};

/// The tables of a database in the order in which trees list them.
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) tables: Vec<Table>,
}

/// What trees need to know of a table.
#[derive(Debug)]
pub(super) struct Table {
    /// Its number in the database.
    pub(super) number: usize,
    /// The place of the table that it refers to; the person table, which is the first, has its own.
    pub(super) parent: usize,
    /// The places of the tables that refer to it, in declared order; all are greater than its own.
    pub(super) children: Vec<usize>,
    /// Its quasi-identifiers.
    pub(super) attributes: Vec<Labels>,
    /// Of its highest hierarchy.
    pub(super) height: u8,
}

impl Layout {
    /// The layout of all trees of a database.
    pub(super) fn new(database: &Database, cost: Cost) -> Self {
        let table = |number: usize, parent: usize| {
            let attributes = database.attributes(number);
            Table {
                number,
                parent,
                children: Vec::new(),
                height: attributes.iter().map(Attribute::height).max().unwrap_or(0),
                attributes: attributes
                    .iter()
                    .map(|attribute| Labels::new(attribute.hierarchy(), cost))
                    .collect(),
            }
        };
        let mut tables = vec![table(database.person(), 0)];
        let mut at = 0;
        while at < tables.len() {
            for &child in database.children(tables[at].number) {
                let place = tables.len();
                tables[at].children.push(place);
                tables.push(table(child, at));
            }
            at += 1;
        }
        Layout { tables }
    }
}

/// A tree, table by table.
///
/// # Invariants
/// `places[t]` says where the parts of table t begin; one more entry says where the last ends. The children of node n of the
/// table above are nodes `first[..][n]..first[..][n + 1]` of table t. Each node has a label for each quasi-identifier of its
/// table and `n_members` records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Flat {
    places: Vec<TableStart>,
    labels: Vec<u32>,
    records: Vec<u32>,
    first: Vec<u32>,
    cells: Vec<u64>,
    n_members: usize,
}

/// Where the parts of a table begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct TableStart {
    node: usize,
    label: usize,
    first: usize,
}

/// The nodes of a table whose parents are one node.
pub(super) type Nodes = Range<usize>;

impl Flat {
    fn with_capacity(n_tables: usize, n_members: usize) -> Self {
        Flat {
            places: Vec::with_capacity(n_tables + 1),
            labels: Vec::new(),
            records: Vec::new(),
            first: Vec::new(),
            cells: Vec::new(),
            n_members,
        }
    }

    /// The next table begins here.
    fn begin_table(&mut self) {
        let node = self.records.len() / self.n_members;
        self.places.push(TableStart { node, label: self.labels.len(), first: self.first.len() });
    }

    /// The children of the next node of the table above begin here, or those of the last one have ended.
    fn begin_children(&mut self) {
        let at = self.places.last().map_or(0, |place| place.node);
        self.first.push((self.records.len() / self.n_members - at) as u32);
    }

    /// All tables are in: counts the cells.
    fn finish(mut self, layout: &Layout) -> Self {
        self.begin_table();
        self.cells = vec![0; self.places.last().map_or(0, |place| place.node)];
        for (t, table) in layout.tables.iter().enumerate().rev() {
            for node in 0..self.n_nodes(t) {
                let below =
                    table.children.iter().map(|&child| self.cells_of(child, self.children(child, node)));
                self.cells[self.places[t].node + node] = table.attributes.len() as u64 + below.sum::<u64>();
            }
        }
        self
    }

    /// The tree of a person, labels as collected.
    pub(super) fn of_person(layout: &Layout, trees: &Trees<'_>, person: u32) -> Self {
        let database = trees.database();
        let mut flat = Flat::with_capacity(layout.tables.len(), 1);
        for (t, table) in layout.tables.iter().enumerate() {
            flat.begin_table();
            if t == 0 {
                flat.records.push(person);
            } else {
                for parent in flat.node_range(table.parent) {
                    flat.begin_children();
                    flat.records.extend_from_slice(trees.children(table.number, flat.records[parent]));
                }
                flat.begin_children();
            }
            for &record in &flat.records[flat.places[t].node..] {
                for (at, attribute) in database.attributes(table.number).iter().enumerate() {
                    let value = database.column(table.number, at).codes()[record as usize];
                    flat.labels.push(attribute.labels_at(0)[value as usize]);
                }
            }
        }
        flat.finish(layout)
    }

    /// The same tree as a node.
    pub(super) fn of_node(layout: &Layout, root: &Node) -> Self {
        let mut flat = Flat::with_capacity(layout.tables.len(), root.records().len());
        let mut nodes: Vec<Vec<&Node>> = Vec::with_capacity(layout.tables.len());
        for (t, table) in layout.tables.iter().enumerate() {
            flat.begin_table();
            let mut here = Vec::new();
            let mut add = |flat: &mut Flat, node| {
                flat.records.extend_from_slice(Node::records(node));
                let labels = node.labels().iter().zip(&table.attributes);
                flat.labels.extend(labels.map(|(&label, labels)| labels.number(label)));
                here.push(node);
            };
            if t == 0 {
                add(&mut flat, root);
            } else {
                let siblings = &layout.tables[table.parent].children;
                let at = siblings.iter().position(|&sibling| sibling == t).unwrap_or(0);
                for parent in &nodes[table.parent] {
                    flat.begin_children();
                    for node in &parent.children()[at] {
                        add(&mut flat, node);
                    }
                }
                flat.begin_children();
            }
            nodes.push(here);
        }
        flat.finish(layout)
    }

    /// The tree in the words of all others.
    pub(super) fn to_node(&self, layout: &Layout) -> Node {
        self.node(layout, 0, 0)
    }

    fn node(&self, layout: &Layout, t: usize, node: usize) -> Node {
        let table = &layout.tables[t];
        let labels = self.labels(layout, t, node).iter().zip(&table.attributes);
        let children = table
            .children
            .iter()
            .map(|&child| self.children(child, node).map(|node| self.node(layout, child, node)).collect());
        Node::new(
            labels.map(|(&label, labels)| labels.label(label)).collect(),
            self.records(t, node).to_vec(),
            children.collect(),
        )
    }

    /// What two trees have in common, given their pairs of nodes: for each table and pair of nodes of the table above, in
    /// order, the pairs of their children.
    pub(super) fn common(
        layout: &Layout,
        a: &Flat,
        b: &Flat,
        mut pairs: impl FnMut(usize, Nodes, Nodes, &mut Vec<(u32, u32)>),
    ) -> Self {
        let mut flat = Flat::with_capacity(layout.tables.len(), a.n_members + b.n_members);
        // All pairs, table by table, as the nodes of the common tree.
        let mut all: Vec<(u32, u32)> = Vec::with_capacity(a.n_nodes(0));
        for (t, table) in layout.tables.iter().enumerate() {
            flat.begin_table();
            let begin = all.len();
            if t == 0 {
                all.push((0, 0));
            } else {
                let mut n_nodes = 0;
                for parent in flat.node_range(table.parent) {
                    flat.first.push(n_nodes);
                    let (i, j) = all[parent];
                    let from = all.len();
                    pairs(t, a.children(t, i as usize), b.children(t, j as usize), &mut all);
                    n_nodes += (all.len() - from) as u32;
                }
                flat.first.push(n_nodes);
            }
            for &(i, j) in &all[begin..] {
                let (i, j) = (i as usize, j as usize);
                flat.records.extend_from_slice(a.records(t, i));
                flat.records.extend_from_slice(b.records(t, j));
                let labels = a.labels(layout, t, i).iter().zip(b.labels(layout, t, j)).zip(&table.attributes);
                flat.labels.extend(labels.map(|((&a, &b), labels)| labels.common(a, b)));
            }
        }
        flat.finish(layout)
    }

    /// How many persons share the tree.
    pub(super) fn n_members(&self) -> usize {
        self.n_members
    }

    /// The rows of the person table.
    pub(super) fn members(&self) -> &[u32] {
        &self.records[..self.n_members]
    }

    /// How many nodes a table has.
    pub(super) fn n_nodes(&self, t: usize) -> usize {
        self.places[t + 1].node - self.places[t].node
    }

    /// The nodes of a table among all nodes.
    fn node_range(&self, t: usize) -> Range<usize> {
        let end = self.places.get(t + 1).map_or(self.records.len() / self.n_members, |place| place.node);
        self.places[t].node..end
    }

    /// The children that a node of the table above has in table t.
    #[inline]
    pub(super) fn children(&self, t: usize, parent: usize) -> Nodes {
        let at = self.places[t].first + parent;
        self.first[at] as usize..self.first[at + 1] as usize
    }

    /// The labels of a node.
    #[inline]
    pub(super) fn labels(&self, layout: &Layout, t: usize, node: usize) -> &[u32] {
        let width = layout.tables[t].attributes.len();
        let at = self.places[t].label + node * width;
        &self.labels[at..at + width]
    }

    /// The labels of all nodes of a table, node by node.
    pub(super) fn all_labels(&self, t: usize) -> &[u32] {
        &self.labels[self.places[t].label..self.places[t + 1].label]
    }

    /// The records of a node, one a member.
    pub(super) fn records(&self, t: usize, node: usize) -> &[u32] {
        let at = (self.places[t].node + node) * self.n_members;
        &self.records[at..at + self.n_members]
    }

    /// How many labels some nodes have with all that hangs on them.
    #[inline]
    pub(super) fn cells_of(&self, t: usize, nodes: Nodes) -> u64 {
        let at = self.places[t].node;
        self.cells[at + nodes.start..at + nodes.end].iter().sum()
    }

    /// How many labels the whole tree has.
    pub(super) fn n_cells(&self) -> u64 {
        self.cells[0]
    }
}
