//! A table with hierarchies as plain strings: what both the engine and the oracles are given.

use incog_core::hierarchy::{Attribute, Attributes, ExplicitHierarchy};
use incog_core::table::{Column, Role, Table};

/// A table whose columns are all quasi-identifiers, plus a person and an illness per row.
#[derive(Debug, Clone)]
pub struct Sample {
    /// The quasi-identifiers.
    pub columns: Vec<SampleColumn>,
    /// Who each row is about; several rows may be about one person.
    pub persons: Vec<String>,
    /// A sensitive value per row.
    pub illnesses: Vec<String>,
}

/// One column with its hierarchy.
#[derive(Debug, Clone)]
pub struct SampleColumn {
    /// The column's name.
    pub name: String,
    /// One row a leaf: the leaf and its label at each level.
    pub hierarchy: Vec<Vec<String>>,
    /// One cell a row.
    pub cells: Vec<String>,
}

impl SampleColumn {
    /// Column number `at` of a large table: values `v0`, `v1`, ..., few of which have most of the rows, and above them a level for each
    /// step, whose labels stand for that number of values.
    pub fn skewed(at: u64, n_rows: u64, n_values: u64, steps: &[u64]) -> Self {
        let cell = |row: u64| {
            let mixed = (row * 8 + at).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            let mixed = (mixed ^ mixed >> 31).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 33;
            mixed % (1 + mixed / 7 % n_values)
        };
        let labels = |value: u64| {
            let above = steps.iter().map(|step| format!("{} by {step}", value / step));
            std::iter::once(format!("v{value}")).chain(above).collect()
        };
        SampleColumn {
            name: format!("q{at}"),
            hierarchy: (0..n_values).map(labels).collect(),
            cells: (0..n_rows).map(|row| format!("v{}", cell(row))).collect(),
        }
    }
}

impl Sample {
    /// The same with its first column several times, so that ties abound.
    #[must_use]
    pub fn with_copies(mut self, n_copies: usize) -> Self {
        for at in 1..n_copies {
            let mut copy = self.columns[0].clone();
            copy.name = format!("copy{at}");
            self.columns.push(copy);
        }
        self
    }

    /// The same sample, in which the rows of one of the persons do not say whom they are about.
    #[must_use]
    pub fn with_nobody(mut self, person: &str) -> Self {
        self.persons.iter_mut().filter(|other| *other == person).for_each(String::clear);
        self
    }

    /// A sample without persons and illnesses.
    pub fn new(columns: Vec<SampleColumn>) -> Self {
        let n_rows = columns.first().map_or(0, |column| column.cells.len());
        let numbers: Vec<String> = (0..n_rows).map(|row_idx| row_idx.to_string()).collect();
        Sample { columns, persons: numbers.clone(), illnesses: numbers }
    }

    /// How many rows there are.
    pub fn n_rows(&self) -> usize {
        self.persons.len()
    }

    /// The height of each column's hierarchy.
    pub fn heights(&self) -> Vec<u8> {
        self.columns.iter().map(|column| (column.hierarchy[0].len() - 1) as u8).collect()
    }

    /// The engine's table.
    pub fn table(&self) -> Table {
        let quasi =
            self.columns.iter().map(|column| (column.name.as_str(), Role::QuasiIdentifier, &column.cells));
        let others =
            [("person", Role::Identifier, &self.persons), ("illness", Role::Sensitive, &self.illnesses)];
        let columns = quasi.chain(others).map(|(name, role, cells)| {
            Column::from_cells(name, role, cells.iter().map(String::as_str)).unwrap()
        });
        Table::new(columns.collect()).unwrap()
    }

    /// The engine's attributes, bound to a table made from this sample.
    pub fn attributes(&self, table: &Table) -> Attributes {
        let attributes = self.columns.iter().map(|column| {
            let mut hierarchy = ExplicitHierarchy::new(&column.name, "sample");
            for (at, row) in column.hierarchy.iter().enumerate() {
                hierarchy.push(at as u64 + 1, row.iter().map(String::as_str)).unwrap();
            }
            Attribute::bind(table.column(&column.name).unwrap(), hierarchy.finish().unwrap(), "sample")
                .unwrap()
        });
        Attributes::new(attributes.collect()).unwrap()
    }
}
