//! Why not treat the tables as one, or each for itself?
//!
//! The approaches of section 3 of the paper, which use what exists for single tables. They are here to be compared with,
//! and to be shown to fail: no job file can name them, and no release is ever written from [`universal()`] or [`local()`].
//!
//! | approach | what it does | what is wrong with it |
//! |---|---|---|
//! | [`universal()`] | joins all tables and k-anonymizes the joined rows | rows are not persons: k rows may all be of one person, and who has how many rows is seen at once |
//! | [`local()`] | k-anonymizes each table for itself | what hides a row in its table does not hide whose row it is: a person is the only one with this *set* of rows |
//! | [`bitmap()`] | one row a person, one Boolean column a value path, then clusters | it keeps its promise, but has no generalization (Math and CS share nothing), cannot keep a book without its course, and cannot express two equal rows of one person |
//!
//! [`universal()`] and [`local()`] use full-domain generalization: the levels of least loss at which every group of rows
//! has at least k rows. The second variants of the paper, which generalize join keys as well, are left out: there is no
//! way to write their output as the same tables with one true join path.
//!
//! Cost: of the search for the best node, see [`optimum`]; of bitmaps, as of [`miracle`](incog_core::relational::miracle()) with a
//! comparison of a few words.

mod bitmap;
mod universal;
mod local;

pub use bitmap::{Bitmap, BitmapCluster, Completeness, Parameters, bitmap};
pub use local::local;
pub use universal::{MAX_JOINED_ROWS, universal};

use incog_core::algorithm::{has_optimum_search, optimum};
use incog_core::error::{Error, ErrorKind, Result};
use incog_core::frequency::Rows;
use incog_core::hierarchy::{Attribute, Attributes};
use incog_core::judge::Problem;
use incog_core::metric::{self, Costs};
use incog_core::privacy::Policy;
use incog_core::progress::Progress;
use incog_core::registry::find;
use incog_core::relational::{Database, Release};
use incog_core::table::Table;

/// One level an attribute, for all rows of all tables. It claims nothing about persons.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FullDomain {
    /// `levels[table][attribute]`.
    pub levels: Vec<Vec<u8>>,
    /// All rows at these levels.
    pub release: Release,
    /// Tables with groups of fewer than k rows even though everything is as general as it can be.
    pub short_tables: Vec<usize>,
}

impl FullDomain {
    fn new(database: &Database, levels: Vec<Vec<u8>>, short_tables: Vec<usize>) -> Self {
        FullDomain { release: Release::of_levels(database, &levels), levels, short_tables }
    }
}

/// The levels of least loss at which every group has at least k rows; `None` if there are none.
fn best_levels(
    table: &Table,
    attributes: Vec<Attribute>,
    k: usize,
    progress: &Progress,
) -> Result<Option<Vec<u8>>> {
    let attributes = Attributes::new(attributes)?;
    let policy = Policy::k_anonymity(k as u64)?;
    let rows = Rows::new(table, &attributes)?;
    let problem = Problem { source: &rows, policy: &policy };
    let loss = find(metric::ALL, "loss").expect("loss is registered").item;
    if !has_optimum_search(&attributes.heights()) {
        return Err(Error::new(
            ErrorKind::Limit,
            format!("the hierarchies of {} quasi-identifiers make too many combinations", attributes.len()),
        ));
    }
    let costs = Costs::new(problem, &attributes)?;
    let found = optimum(problem, &attributes, &costs, loss, progress)?;
    Ok(found.best.map(|best| best.statistics.levels))
}

/// The highest level of each attribute of a table.
fn highest(database: &Database, table: usize) -> Vec<u8> {
    database.attributes(table).iter().map(Attribute::height).collect()
}
