//! What a step needs to know of the table: its cells, and how their labels branch.

use crate::frequency::{DistinctRecords, KeyLayout};
use crate::group::{NOBODY, RowFacts, somebody};
use crate::hash;

/// The cells of a table, sorted by what the policy sees of a row: first by sensitive values, then by person, then in the
/// order of their first records. A group that lists its cells in this order has its histograms in order too.
#[derive(Debug)]
pub(super) struct Ground {
    pub(super) trees: Vec<Tree>,
    /// The label at level 0 of each cell in each attribute, cell by cell.
    all_leaves: Vec<u32>,
    pub(super) rows: Vec<u32>,
    /// Cells with equal sensitive values have equal kinds; ascending.
    pub(super) kinds: Vec<u32>,
    persons: Option<Vec<u32>>,
    /// The sensitive values of each cell, cell by cell.
    sensitive: Vec<u32>,
    n_sensitive: usize,
    /// Of two cells that are equally good to take back, the one with the greater number goes.
    pub(super) lateness: Vec<u64>,
    /// The cell's number in the source.
    pub(super) origins: Vec<u32>,
}

/// How the labels of one attribute branch.
#[derive(Debug)]
pub(super) struct Tree {
    pub(super) height: u8,
    /// For each level, the label of each leaf.
    labels: Vec<Vec<u32>>,
    /// For each level but the highest, where each leaf's label stands among the children of its parent.
    siblings: Vec<Vec<u32>>,
    /// The most children that a label has.
    pub(super) most_children: usize,
}

impl Ground {
    /// `lateness` says how late a cell of the source is.
    pub(super) fn new(cells: &DistinctRecords, layout: &KeyLayout, lateness: impl Fn(u32) -> u64) -> Self {
        let heights = layout.heights();
        let n_attributes = heights.len();
        let mut origins: Vec<u32> = (0..cells.rows.len() as u32).collect();
        let person = |cell: u32| cells.persons.as_ref().map(|persons| persons[cell as usize]);
        let compare_kinds = |a: u32, b: u32| {
            let values = |cell: u32| cells.sensitive.iter().map(move |codes| codes[cell as usize]);
            values(a).cmp(values(b))
        };
        // Stable: cells that are alike stay in the order of their first records.
        origins.sort_by(|&a, &b| compare_kinds(a, b).then_with(|| person(a).cmp(&person(b))));
        let mut kind = 0;
        let kinds = (0..origins.len())
            .map(|at| {
                kind += u32::from(at > 0 && compare_kinds(origins[at - 1], origins[at]).is_ne());
                kind
            })
            .collect();
        let n_sensitive = cells.sensitive.len();
        let leaves_of = |&cell: &u32| &cells.labels[cell as usize * n_attributes..][..n_attributes];
        Ground {
            trees: heights
                .iter()
                .enumerate()
                .map(|(at, &height)| {
                    let leaves = cells.labels.iter().skip(at).step_by(n_attributes).copied();
                    Tree::new(layout, at, height, leaves)
                })
                .collect(),
            all_leaves: origins.iter().flat_map(leaves_of).copied().collect(),
            rows: origins.iter().map(|&cell| cells.rows[cell as usize]).collect(),
            kinds,
            persons: cells
                .persons
                .as_ref()
                .map(|_| origins.iter().filter_map(|&cell| person(cell)).collect()),
            sensitive: origins
                .iter()
                .flat_map(|&cell| cells.sensitive.iter().map(move |codes| codes[cell as usize]))
                .collect(),
            n_sensitive,
            lateness: origins.iter().map(|&cell| lateness(cell)).collect(),
            origins,
        }
    }

    /// The label of a cell at a level of an attribute.
    pub(super) fn label(&self, cell: u32, attribute: usize, level: u8) -> u32 {
        self.trees[attribute].labels[usize::from(level)][self.leaf(cell, attribute)]
    }

    /// Which child of its label at `level` a cell falls into.
    pub(super) fn child(&self, cell: u32, attribute: usize, level: u8) -> u32 {
        self.children(attribute, level)[self.leaf(cell, attribute)]
    }

    /// For each leaf, which child of its label at `level` it is below.
    pub(super) fn children(&self, attribute: usize, level: u8) -> &[u32] {
        &self.trees[attribute].siblings[usize::from(level) - 1]
    }

    fn leaf(&self, cell: u32, attribute: usize) -> usize {
        self.leaves(cell)[attribute] as usize
    }

    /// The label at level 0 of a cell in each attribute.
    pub(super) fn leaves(&self, cell: u32) -> &[u32] {
        &self.all_leaves[cell as usize * self.trees.len()..][..self.trees.len()]
    }

    /// Does the policy see the same in rows of both cells?
    pub(super) fn are_alike(&self, a: u32, b: u32) -> bool {
        let (a, b) = (a as usize, b as usize);
        self.kinds[a] == self.kinds[b] && self.persons.as_ref().is_none_or(|persons| persons[a] == persons[b])
    }

    /// What the policy sees of a row of the cell.
    pub(super) fn facts(&self, cell: u32) -> RowFacts<'_> {
        RowFacts {
            person: self.persons.as_ref().and_then(|persons| somebody(persons[cell as usize])),
            sensitive: &self.sensitive[cell as usize * self.n_sensitive..][..self.n_sensitive],
        }
    }

    /// Facts of a row like those of the cell, about somebody who is not in the table; about nobody, if the values are
    /// nobody's.
    pub(super) fn facts_of_stranger(&self, cell: u32) -> RowFacts<'_> {
        let facts = self.facts(cell);
        let is_of_somebody = self.persons.is_some() && !facts.sensitive.contains(&NOBODY);
        RowFacts { person: is_of_somebody.then_some(u32::MAX), ..facts }
    }
}

impl Tree {
    fn new(layout: &KeyLayout, attribute: usize, height: u8, leaves: impl Iterator<Item = u32>) -> Self {
        let labels: Vec<Vec<u32>> = (0..=height).map(|level| layout.labels_up(attribute, level)).collect();
        let mut occurs = vec![false; labels[0].len()];
        for leaf in leaves {
            occurs[leaf as usize] = true;
        }
        let occurring: Vec<usize> = (0..occurs.len()).filter(|&leaf| occurs[leaf]).collect();
        let mut most_children = 1;
        let siblings = (0..usize::from(height))
            .map(|level| {
                // Children are numbered in the order of their codes, those that occur only.
                let mut children: Vec<(u32, u32)> =
                    occurring.iter().map(|&leaf| (labels[level + 1][leaf], labels[level][leaf])).collect();
                children.sort_unstable();
                children.dedup();
                let mut positions: hash::Map<u32, u32> = hash::Map::default();
                for family in children.chunk_by(|a, b| a.0 == b.0) {
                    most_children = most_children.max(family.len());
                    positions.extend(family.iter().zip(0..).map(|(&(_, label), position)| (label, position)));
                }
                let position = |label: &u32| positions.get(label).copied().unwrap_or(0);
                labels[level].iter().map(position).collect()
            })
            .collect();
        Tree { height, labels, siblings, most_children }
    }
}
