//! Which persons, and which of their rows, look alike?
//!
//! Two trees look alike if they are isomorphic as unordered trees of labels. A row's class stands for its tree:
//!
//! 1. Bottom-up (Aho, Hopcroft, Ullman 1974, section 3.2): the class of a row is its own labels, and for each table
//!    below it the sorted list of its children's classes. Lists are numbered by walking a trie, a number for each
//!    prefix, so that equal numbers are equal lists; nothing rests on a hash alone.
//! 2. Top-down ([`paths`]): the path class of a person is the person's class, that of another row is its parent's path
//!    class and its own class. Rows with equal ones are those that nobody can tell apart: some isomorphism of their
//!    persons' trees takes one to the other.
//!
//! Cost: a hash for each row, and sorting the children of each; memory: 12 bytes a row and at most 16 for each step of the trie.

use super::forest::Forest;
use super::shape::Shape;
use crate::hash;
use crate::keys::{Groups, Keys};

/// The rows of each table by their trees.
pub(super) struct Classes {
    /// For each table, the class of each row.
    pub(super) of_rows: Vec<Groups>,
    /// For each table, the classes of its rows, in the order of [`Forest::below`]; those of one parent are sorted.
    sorted: Vec<Vec<u32>>,
}

impl Classes {
    /// Starts from the groups of rows that are equal by themselves. The children of a row are sorted by rank first;
    /// the rank of a row may depend on nothing but its group.
    pub(super) fn new(
        forest: &Forest,
        shape: &Shape,
        own: Vec<Groups>,
        rank: impl Fn(usize, u32) -> u32,
    ) -> Self {
        let mut of_rows = own;
        let mut sorted: Vec<Vec<u32>> = vec![Vec::new(); of_rows.len()];
        for &table in shape.order.iter().rev() {
            if !shape.children[table].is_empty() {
                let own = &of_rows[table];
                let mut keys = Keys::from_numbers(own.of_row.iter().copied(), own.len());
                for &child in &shape.children[table] {
                    let (lists, n_lists) = number_lists(forest, table, child, &sorted[child]);
                    fold(&mut keys, &lists, n_lists);
                }
                of_rows[table] = keys.into_groups();
            }
            if shape.parents[table].is_some() {
                let classes = &of_rows[table];
                let class = |&row: &u32| classes.of_row[row as usize];
                let mut all: Vec<u32> = forest.sorted_rows(table).iter().map(class).collect();
                let n_parents = shape.parents[table].map_or(0, |parent| forest.n_rows[parent]);
                for parent_row in 0..n_parents as u32 {
                    let siblings = &mut all[forest.below(table, parent_row)];
                    siblings.sort_unstable_by_key(|&class| {
                        (rank(table, classes.first_rows[class as usize]), class)
                    });
                }
                sorted[table] = all;
            }
        }
        Classes { of_rows, sorted }
    }

    /// The classes of the rows of a table below a row of its parent table, sorted.
    pub(super) fn below(&self, forest: &Forest, table: usize, parent_row: u32) -> &[u32] {
        &self.sorted[table][forest.below(table, parent_row)]
    }
}

/// For each row of a table a number for its list of children, equal ones for equal lists; all are below the second.
fn number_lists(forest: &Forest, table: usize, child: usize, sorted: &[u32]) -> (Vec<u32>, usize) {
    let mut trie: hash::Map<(u32, u32), u32> = hash::Map::default();
    let lists = (0..forest.n_rows[table] as u32).map(|row| {
        sorted[forest.below(child, row)].iter().fold(0, |prefix, &class| {
            let next = trie.len() as u32 + 1;
            *trie.entry((prefix, class)).or_insert(next)
        })
    });
    let lists = lists.collect();
    (lists, trie.len() + 1)
}

/// Takes into account numbers of the rows, all below `n_numbers`.
fn fold(keys: &mut Keys, numbers: &[u32], n_numbers: usize) {
    let same: Vec<u32> = (0..n_numbers as u32).collect();
    keys.fold(&[(numbers, &same)], n_numbers);
}

/// For each table, its rows by their own numbers and those of all rows above them. A row has a number below the one
/// that comes with its table.
pub(super) fn paths(shape: &Shape, parent_rows: &[Vec<u32>], own: &[(&[u32], usize)]) -> Vec<Groups> {
    let none = || Groups { of_row: Vec::new(), first_rows: Vec::new() };
    let mut all: Vec<Groups> = own.iter().map(|_| none()).collect();
    for &table in &shape.order {
        let (numbers, n_numbers) = own[table];
        let keys = match shape.parents[table] {
            None => Keys::from_numbers(numbers.iter().copied(), n_numbers),
            Some(parent) => {
                let above = &all[parent];
                let rows = parent_rows[table].iter().map(|&row| above.of_row[row as usize]);
                let mut keys = Keys::from_numbers(rows, above.len());
                fold(&mut keys, numbers, n_numbers);
                keys
            }
        };
        all[table] = keys.into_groups();
    }
    all
}
