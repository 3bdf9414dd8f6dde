//! All tables joined (section 3.1 of the paper), an approach that fails.
//!
//! The tables are joined to one, and its rows are k-anonymized. *Why it fails*: a person has many joined rows, and the
//! search takes each for a person. k equal rows may all be of one person; and however general the labels are, persons
//! still differ in how many rows they have.
//!
//! 1. A record with no rows in a child table keeps its place with absent cells (an outer join). Rows of two child tables
//!    of the same record are combined, each with each.
//! 2. An absent cell is a value of its own below the top of the hierarchy, as a missing value would be.
//! 3. The best levels of the joined table, by loss over the joined cells, are applied to the tables they came from.
//!
//! Differs from the paper: quasi-identifiers alone are generalized; join keys are not.
//!
//! Cost: four bytes a joined cell. There may be very many: with several child tables the join multiplies. Beyond
//! [`MAX_JOINED_ROWS`] it is refused.

use crate::baseline::{FullDomain, best_levels, highest};
use incog_core::error::{Error, ErrorKind, Result};
use incog_core::hierarchy::{Attribute, ExplicitHierarchy, Hierarchy};
use incog_core::progress::Progress;
use incog_core::relational::{Database, Trees};
use incog_core::table::{Column, Role, Table};

/// A join with more rows is refused.
pub const MAX_JOINED_ROWS: u64 = 10_000_000;

/// No row of a child table.
const ABSENT: u32 = u32::MAX;

/// Joins all tables and generalizes until each group of joined rows has at least k rows.
///
/// If even the most general labels leave smaller groups, all tables are named in
/// [`short_tables`](FullDomain::short_tables).
pub fn universal(database: &Database, k: usize, progress: &Progress) -> Result<FullDomain> {
    let trees = Trees::new(database);
    let n_persons = database.n_persons() as u32;
    let n_joined =
        (0..n_persons).fold(0_u64, |sum, row| sum.saturating_add(n_joined(&trees, database.person(), row)));
    if n_joined > MAX_JOINED_ROWS {
        return Err(Error::new(
            ErrorKind::Limit,
            format!("the join of all tables has more than {MAX_JOINED_ROWS} rows"),
        ));
    }
    let mut join = Join { trees: &trees, columns: Vec::new() };
    join.declare(database.person());
    for row_idx in 0..n_persons {
        progress.check()?;
        for cells in join.rows(database.person(), row_idx) {
            for (column, &value) in join.columns.iter_mut().zip(&cells) {
                column.push(value)?;
            }
        }
    }
    let tables = 0..database.relations().len();
    let mut levels: Vec<Vec<u8>> = tables.clone().map(|table| highest(database, table)).collect();
    let places: Vec<(usize, usize)> = join.columns.iter().map(|column| (column.table, column.at)).collect();
    let (table, attributes) = join.finish()?;
    let short_tables = match best_levels(&table, attributes, k, progress)? {
        Some(found) => {
            for ((table, at), level) in places.into_iter().zip(found) {
                levels[table][at] = level;
            }
            Vec::new()
        }
        None => tables.collect(),
    };
    Ok(FullDomain::new(database, levels, short_tables))
}

/// How many joined rows a record has.
fn n_joined(trees: &Trees<'_>, table: usize, record: u32) -> u64 {
    let of_child = |&child: &usize| {
        let rows = trees.children(child, record).iter();
        rows.fold(0_u64, |sum, &row| sum.saturating_add(n_joined(trees, child, row))).max(1)
    };
    trees.database().children(table).iter().map(of_child).fold(1, u64::saturating_mul)
}

/// The join in the making.
struct Join<'a> {
    trees: &'a Trees<'a>,
    /// A column for each attribute: of a table, then of its child tables, one after the other.
    columns: Vec<JoinedColumn<'a>>,
}

struct JoinedColumn<'a> {
    table: usize,
    at: usize,
    attribute: &'a Attribute,
    column: Column,
    /// The code of each value in `column`, once it has occurred; the last is that of the absent cell.
    codes: Vec<Option<u32>>,
}

impl JoinedColumn<'_> {
    fn push(&mut self, value: u32) -> Result<()> {
        let at = if value == ABSENT { self.codes.len() - 1 } else { value as usize };
        if let Some(code) = self.codes[at] {
            self.column.push_code(code);
            return Ok(());
        }
        let name = match value {
            ABSENT => absent(self.attribute.hierarchy()),
            _ => self.attribute.labels_at(0)[at].to_string(),
        };
        self.codes[at] = Some(self.column.push(&name)?);
        Ok(())
    }
}

impl<'a> Join<'a> {
    fn declare(&mut self, table: usize) {
        let database = self.trees.database();
        for (at, attribute) in database.attributes(table).iter().enumerate() {
            // Numbers: names of tables and columns put together could clash.
            let column = Column::new(format!("{table}.{at}"), Role::QuasiIdentifier);
            let codes = vec![None; attribute.n_values() + 1];
            self.columns.push(JoinedColumn { table, at, attribute, column, codes });
        }
        for &child in database.children(table) {
            self.declare(child);
        }
    }

    /// The joined rows of a record: the values of its table and the tables below it.
    fn rows(&self, table: usize, record: u32) -> Vec<Vec<u32>> {
        let database = self.trees.database();
        let own = (0..database.attributes(table).len())
            .map(|at| database.column(table, at).codes()[record as usize])
            .collect();
        let mut rows: Vec<Vec<u32>> = vec![own];
        for &child in database.children(table) {
            let children = self.trees.children(child, record).iter();
            let mut below: Vec<Vec<u32>> = children.flat_map(|&row| self.rows(child, row)).collect();
            if below.is_empty() {
                below.push(vec![ABSENT; width(database, child)]);
            }
            let with_each =
                |row: &Vec<u32>| below.iter().map(|below| [&row[..], below].concat()).collect::<Vec<_>>();
            rows = rows.iter().flat_map(with_each).collect();
        }
        rows
    }

    fn finish(self) -> Result<(Table, Vec<Attribute>)> {
        let mut columns = Vec::with_capacity(self.columns.len());
        let mut attributes = Vec::with_capacity(self.columns.len());
        for joined in self.columns {
            let has_absent = joined.codes.last().is_some_and(Option::is_some);
            let hierarchy = with_absent(joined.attribute.hierarchy(), has_absent)?;
            attributes.push(Attribute::bind(&joined.column, hierarchy, "the join of all tables")?);
            columns.push(joined.column);
        }
        Ok((Table::new(columns)?, attributes))
    }
}

/// How many attributes a table and the tables below it have.
fn width(database: &Database, table: usize) -> usize {
    let below: usize = database.children(table).iter().map(|&child| width(database, child)).sum();
    database.attributes(table).len() + below
}

/// A name that no label's number is.
fn absent(hierarchy: &Hierarchy) -> String {
    hierarchy.labels(0).len().to_string()
}

/// The hierarchy with numbers for labels, and, if needed, a branch for the absent cell that joins the others at the top.
fn with_absent(hierarchy: &Hierarchy, has_absent: bool) -> Result<Hierarchy> {
    let mut rows = ExplicitHierarchy::new("joined", "the join of all tables");
    let n_leaves = hierarchy.labels(0).len() as u32;
    let height = hierarchy.height();
    // A label must not look like a value.
    let name = |level: u8, label: &str| match level {
        0 => label.to_owned(),
        _ => format!("{level}.{label}"),
    };
    for leaf in 0..n_leaves {
        let label = |level| name(level, &hierarchy.generalize(leaf, 0, level).to_string());
        let path: Vec<String> = (0..=height).map(label).collect();
        rows.push(u64::from(leaf) + 1, path.iter().map(String::as_str))?;
    }
    if has_absent {
        let absent = absent(hierarchy);
        let label = |level: u8| name(level, if level == height && height > 0 { "0" } else { &absent });
        let path: Vec<String> = (0..=height).map(label).collect();
        rows.push(u64::from(n_leaves) + 1, path.iter().map(String::as_str))?;
    }
    rows.finish()
}
