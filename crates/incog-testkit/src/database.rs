//! Random databases that shrink, as text.
//!
//! One to seven tables, nested up to six deep and several below one; tables without rows, rows without children and rows
//! with very many; hierarchies of any shape below one top, missing values among their leaves; tables with and without
//! quasi-identifiers and sensitive columns.

use std::ops::Range;

use incog_core::hierarchy::{Attribute, ExplicitHierarchy};
use incog_core::relational::{Database, ForeignKey, Relation};
use incog_core::table::{Column, Role, Table};
use proptest::prelude::*;
use proptest::sample::Index;

/// A database of words. Table 0 has the persons; every other refers to an earlier one.
#[derive(Debug, Clone)]
pub struct TextDatabase(pub Vec<TextTable>);

/// A table of words.
#[derive(Debug, Clone)]
pub struct TextTable {
    /// The table that it refers to; not for table 0.
    pub parent: usize,
    /// For each quasi-identifier the path of each leaf, from the leaf to the top.
    pub quasi: Vec<Vec<Vec<String>>>,
    /// Has it a sensitive column?
    pub is_sensitive: bool,
    /// The rows.
    pub rows: Vec<TextRow>,
}

/// A row of words.
#[derive(Debug, Clone)]
pub struct TextRow {
    /// The row that it refers to.
    pub parent: usize,
    /// A value for each quasi-identifier.
    pub quasi: Vec<String>,
    /// The sensitive value.
    pub secret: String,
}

/// The hierarchies that columns may have: eight leaves in halves, five in uneven branches, one of which goes up alone,
/// three of which one is missing, and a single one.
pub const HIERARCHIES: [&[&[&str]]; 4] = [
    &[
        &["a", "ab", "a-d", "*"],
        &["b", "ab", "a-d", "*"],
        &["c", "cd", "a-d", "*"],
        &["d", "cd", "a-d", "*"],
        &["e", "ef", "e-h", "*"],
        &["f", "ef", "e-h", "*"],
        &["g", "gh", "e-h", "*"],
        &["h", "gh", "e-h", "*"],
    ],
    &[&["p", "pqr", "*"], &["q", "pqr", "*"], &["r", "pqr", "*"], &["s", "s", "*"], &["t", "tu", "*"]],
    &[&["", "*"], &["x", "*"], &["y", "*"]],
    &[&["z"]],
];

/// Which row each row refers to: any, or mostly the first.
fn parents(n_rows: Range<usize>) -> impl Strategy<Value = Vec<(Index, bool)>> {
    (prop::bool::weighted(0.3), prop::collection::vec((any::<Index>(), any::<bool>()), n_rows)).prop_map(
        |(is_skewed, rows)| rows.into_iter().map(|(parent, first)| (parent, is_skewed && first)).collect(),
    )
}

/// Databases of up to `max_persons` persons.
pub fn databases(max_persons: usize) -> impl Strategy<Value = TextDatabase> {
    let table = |n_rows: Range<usize>| {
        (
            any::<Index>(),
            prop::collection::vec(0..HIERARCHIES.len(), 0..3),
            any::<bool>(),
            parents(n_rows.clone()),
            prop::collection::vec(any::<([Index; 2], Index)>(), n_rows.end),
        )
    };
    let children = prop::collection::vec(table(0..40), 0..7);
    (table(2..max_persons + 1), children).prop_map(|(persons, children)| {
        let mut tables: Vec<TextTable> = Vec::new();
        for (parent, quasi, is_sensitive, parents, cells) in std::iter::once(persons).chain(children) {
            let parent = if tables.is_empty() { 0 } else { parent.index(tables.len()) };
            let n_parents = tables.get(parent).map_or(1, |table| table.rows.len());
            let row = |((of, is_first), (leaves, secret)): (&(Index, bool), &([Index; 2], Index))| TextRow {
                parent: if *is_first { 0 } else { of.index(n_parents) },
                quasi: quasi
                    .iter()
                    .zip(leaves)
                    .map(|(&column, leaf)| {
                        HIERARCHIES[column][leaf.index(HIERARCHIES[column].len())][0].to_owned()
                    })
                    .collect(),
                secret: format!("secret-{}", secret.index(4)),
            };
            let rows =
                if n_parents == 0 { Vec::new() } else { parents.iter().zip(&cells).map(row).collect() };
            let words = |&column: &usize| {
                let path = |path: &&[&str]| path.iter().map(|&label| label.to_owned()).collect();
                HIERARCHIES[column].iter().map(path).collect()
            };
            let quasi = quasi.iter().map(words).collect();
            tables.push(TextTable { parent, quasi, is_sensitive, rows });
        }
        if tables.iter().all(|table| table.quasi.is_empty()) {
            let paths =
                HIERARCHIES[2].iter().map(|path| path.iter().map(|&label| label.to_owned()).collect());
            tables[0].quasi.push(paths.collect());
            tables[0].rows.iter_mut().for_each(|row| row.quasi.push("x".to_owned()));
        }
        TextDatabase(tables)
    })
}

impl TextDatabase {
    /// What a table is called.
    pub fn name(table: usize) -> String {
        format!("t{table}")
    }

    /// The key of a row: neither its number nor ascending.
    pub fn key(row_idx: usize) -> String {
        format!("k{}", row_idx * 7919 % 10_007)
    }

    /// The columns of a table: `id`, `of` (not of the persons), `q0`, `q1`, and `secret` if it is sensitive.
    pub fn header(&self, table: usize) -> Vec<String> {
        let of = (table > 0).then(|| "of".to_owned());
        let quasi = (0..self.0[table].quasi.len()).map(|at| format!("q{at}"));
        let secret = self.0[table].is_sensitive.then(|| "secret".to_owned());
        std::iter::once("id".to_owned()).chain(of).chain(quasi).chain(secret).collect()
    }

    /// A row as it stands in its table.
    pub fn row(&self, table: usize, row_idx: usize) -> Vec<String> {
        let TextRow { parent, quasi, secret } = &self.0[table].rows[row_idx];
        let of = (table > 0).then(|| TextDatabase::key(*parent));
        let secret = self.0[table].is_sensitive.then(|| secret.clone());
        std::iter::once(TextDatabase::key(row_idx))
            .chain(of)
            .chain(quasi.iter().cloned())
            .chain(secret)
            .collect()
    }

    /// The engine's database, tables in the same order.
    pub fn database(&self) -> Database {
        let relation = |at: usize| {
            let table = &self.0[at];
            let rows: Vec<Vec<String>> = (0..table.rows.len()).map(|row_idx| self.row(at, row_idx)).collect();
            let column = |(place, name): (usize, &String)| {
                let role = match name.as_str() {
                    "secret" => Role::Sensitive,
                    "id" | "of" => Role::Identifier,
                    _ => Role::QuasiIdentifier,
                };
                Column::from_cells(name, role, rows.iter().map(|row| row[place].as_str())).unwrap()
            };
            let columns: Vec<Column> = self.header(at).iter().enumerate().map(column).collect();
            let attribute = |(number, paths): (usize, &Vec<Vec<String>>)| {
                let name = format!("q{number}");
                let mut lines = ExplicitHierarchy::new(name.clone(), "dgh");
                for (line, path) in paths.iter().enumerate() {
                    lines.push(line as u64 + 1, path.iter().map(String::as_str)).unwrap();
                }
                let column = columns.iter().find(|column| column.name() == name).unwrap();
                Attribute::bind(column, lines.finish().unwrap(), "dgh").unwrap()
            };
            let attributes = table.quasi.iter().enumerate().map(attribute).collect();
            let of = ForeignKey { column: "of".into(), table: TextDatabase::name(table.parent) };
            Relation {
                name: TextDatabase::name(at),
                key: Some("id".into()),
                foreign_keys: if at > 0 { vec![of] } else { Vec::new() },
                attributes,
                table: Table::new(columns).unwrap(),
            }
        };
        Database::new((0..self.0.len()).map(relation).collect(), &TextDatabase::name(0)).unwrap()
    }
}
