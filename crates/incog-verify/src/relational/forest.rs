//! Whose row is it?
//!
//! Keys and foreign keys are resolved by their labels, once: from here on a row's parent is a row number. Each person's
//! rows then form a tree, and the database is a forest.
//!
//! Cost: a hash for each distinct label of a key; memory: 12 bytes a row.

use super::Tally;
use super::shape::{Columns, Shape};
use crate::keys::{MAX_ROWS, Numbers};
use crate::{ClaimKind, Finding, LabelColumn, Labels};

/// The rows of all tables as trees, one a person.
///
/// # Invariants
/// Every row but a person's has one parent, a row of the parent table. All vectors are by table.
#[derive(Debug)]
pub(super) struct Forest {
    /// How many rows each table has.
    pub(super) n_rows: Vec<usize>,
    /// The parent row of each row; empty for the person table.
    pub(super) parent_rows: Vec<Vec<u32>>,
    /// Where the rows below each parent row start in `rows`, and the end of the last.
    starts: Vec<Vec<u32>>,
    /// All rows, those of one parent side by side.
    rows: Vec<Vec<u32>>,
}

impl Forest {
    /// Resolves all keys. Findings say so, or why it could not be done; `which` says whose tables they are.
    pub(super) fn plant(
        tables: &[&dyn Labels],
        columns: &[Columns],
        shape: &Shape,
        names: &[&str],
        which: &str,
        findings: &mut Vec<Finding>,
    ) -> Option<Forest> {
        let (mut bad_keys, mut orphans) = (Tally::new(tables.len()), Tally::new(tables.len()));
        let mut forest = Forest {
            n_rows: tables.iter().map(|table| table.n_rows()).collect(),
            parent_rows: vec![Vec::new(); tables.len()],
            starts: vec![Vec::new(); tables.len()],
            rows: vec![Vec::new(); tables.len()],
        };
        for &table in &shape.order {
            let Some(key) = columns[table].key else {
                continue;
            };
            let key = tables[table].column(key);
            let mut numbers = Numbers::default();
            let of_label = numbers.all(key.labels.iter().copied());
            let mut row_of = vec![NO_ROW; numbers.len()];
            for (row_idx, &code) in key.codes.iter().enumerate() {
                let row = &mut row_of[of_label[code as usize] as usize];
                if *row != NO_ROW || key.labels[code as usize].is_empty() {
                    bad_keys.add(table, row_idx);
                } else {
                    *row = row_idx as u32;
                }
            }
            for &child in &shape.children[table] {
                let Some(foreign) = columns[child].foreign else {
                    continue;
                };
                let foreign = tables[child].column(foreign);
                let row = |label: &&str| numbers.find(label).map_or(NO_ROW, |number| row_of[number as usize]);
                let of_label: Vec<u32> = foreign.labels.iter().map(row).collect();
                forest.parent_rows[child] =
                    foreign.codes.iter().map(|&code| of_label[code as usize]).collect();
                for (row_idx, &parent) in forest.parent_rows[child].iter().enumerate() {
                    if parent == NO_ROW {
                        orphans.add(child, row_idx);
                    }
                }
            }
        }
        let is_sound = bad_keys.is_empty() && orphans.is_empty();
        findings.push(bad_keys.finding(
            format!("every key in {which} tables is unique and not empty"),
            names,
            ["is not", "are not"],
            "all are",
        ));
        findings.push(orphans.finding(
            format!("every foreign key in {which} tables is the key of a parent row"),
            names,
            ["has no parent", "have no parent"],
            "all are",
        ));
        if !is_sound {
            return None;
        }
        for (table, parent) in shape.parents.iter().enumerate() {
            if let Some(parent) = *parent {
                forest.sort_by_parent(table, parent);
            }
        }
        Some(forest)
    }

    fn sort_by_parent(&mut self, table: usize, parent: usize) {
        let parent_rows = &self.parent_rows[table];
        let mut starts = vec![0_u32; self.n_rows[parent] + 1];
        for &row in parent_rows {
            starts[row as usize + 1] += 1;
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut next = starts.clone();
        let mut rows = vec![0; parent_rows.len()];
        for (row_idx, &row) in parent_rows.iter().enumerate() {
            rows[next[row as usize] as usize] = row_idx as u32;
            next[row as usize] += 1;
        }
        self.starts[table] = starts;
        self.rows[table] = rows;
    }

    /// All rows of a table, those of one parent side by side.
    pub(super) fn sorted_rows(&self, table: usize) -> &[u32] {
        &self.rows[table]
    }

    /// Where among the sorted rows of a table those below a row of its parent table stand.
    pub(super) fn below(&self, table: usize, parent_row: u32) -> std::ops::Range<usize> {
        let starts = &self.starts[table][parent_row as usize..];
        starts[0] as usize..starts[1] as usize
    }

    /// The rows of a table below a row of its parent table.
    pub(super) fn children(&self, table: usize, parent_row: u32) -> &[u32] {
        &self.rows[table][self.below(table, parent_row)]
    }

    /// For each table, the person of each row.
    pub(super) fn persons(&self, shape: &Shape) -> Vec<Vec<u32>> {
        let mut persons: Vec<Vec<u32>> = vec![Vec::new(); self.n_rows.len()];
        for &table in &shape.order {
            persons[table] = match shape.parents[table] {
                None => (0..self.n_rows[table] as u32).collect(),
                Some(parent) => {
                    self.parent_rows[table].iter().map(|&row| persons[parent][row as usize]).collect()
                }
            };
        }
        persons
    }
}

const NO_ROW: u32 = u32::MAX;

/// Can the tables be numbered, and does every column have a label for each row?
pub(super) fn check_form<'a>(tables: impl IntoIterator<Item = &'a dyn Labels>) -> Result<(), Finding> {
    let mut n_rows = 0_usize;
    let mut n_ragged = 0;
    for table in tables {
        n_rows = n_rows.saturating_add(table.n_rows());
        for at in 0..table.header().len() {
            let LabelColumn { labels, codes } = table.column(at);
            let is_whole =
                codes.len() == table.n_rows() && codes.iter().all(|&code| (code as usize) < labels.len());
            n_ragged += usize::from(!is_whole);
        }
    }
    if n_ragged > 0 {
        return Err(Finding {
            kind: ClaimKind::Structure,
            claim: "every column has a label for each row".into(),
            found: format!("{n_ragged} columns do not"),
            holds: false,
        });
    }
    if n_rows > MAX_ROWS {
        return Err(Finding {
            kind: ClaimKind::Structure,
            claim: format!("there are at most {MAX_ROWS} rows in all tables together"),
            found: format!("{n_rows} rows, more than can be checked"),
            holds: false,
        });
    }
    Ok(())
}
