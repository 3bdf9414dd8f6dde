//! Tables whose rows stay where they are, in an engine that speaks SQL.
//!
//! **Promise.** A table in an engine is searched with the same result as the same rows in memory, and its release is the same set of
//! rows. What comes here are names and types of columns, distinct values with their counts, keys of groups with their counts, and, where
//! persons are counted, numbers that stand for them. No row comes here, and no value of a column that names persons, unless the rows are
//! [fetched](fetch) on purpose.
//!
//! **Paper.** LeFevre, DeWitt, Ramakrishnan, SIGMOD 2005, sections 1.2 to 3: a table is the fact table of a star schema, hierarchies are its
//! dimension tables, frequency sets are `GROUP BY` queries, a roll-up is a query over an earlier result.
//!
//! **Essence.**
//!
//! 1. [`relation`]: which table or query, its columns and their types.
//! 2. [`Table::values`]: the dictionary of a column is `SELECT text, count(*) ... GROUP BY text`. A cell is its *text*, always by the same
//!    expression ([`Dialect::text`]): what an engine takes for equal (`citext`, collations that ignore case) is told apart by its text.
//! 3. [`star`]: for each quasi-identifier a dimension table: value, prefix code, label of every level. Joined with them the table gives the
//!    *packed keys*, one row for each row, materialized once.
//! 4. [`counts`]: a node is `GROUP BY key & mask`. If the groups at level 0 fit the memory they are fetched once, and everything else is
//!    merged here; if not, the engine judges nodes and only counts of sizes come back, from the smallest set of groups kept below.
//! 5. [`release`]: one statement joins the dimensions, leaves refused groups out and writes the target in random order, inside of the
//!    transaction in which everything was counted. Whoever verifies it does so on the same connection before it is committed.
//!
//! **Deviations.** The paper's engine judged every node and its program only steered; here the engine counts once wherever it can. Keys
//! are prefix codes, so that one AND generalizes all columns at once, and dimension tables are joined twice (keys, release) instead of once a
//! node. Keys of more than 63 bits stand in several columns.
//!
//! **Cost.** One scan of the table for each dictionary, one with joins for the keys, one with joins for the release; then, on keys
//! alone, one fetch of all groups, or one `GROUP BY` for each judged node.
//!
//! An engine is a file below this one that implements [`Engine`], and a dialect is one that implements [`Dialect`]. What answers may be
//! is numbers and texts; there is no Arrow in this trait, so that the default build needs none for it.
#![forbid(unsafe_code)]

pub mod engine;
pub mod dialect;
pub mod relation;
mod words;
pub mod star;
pub mod counts;
pub mod release;
pub mod fetch;
mod table;
pub mod postgres;

pub use dialect::Dialect;
pub use engine::{Cell, Engine, Kind, SharedEngine, Target, lock};
pub use relation::{From, Relation, SourceColumn};
pub use table::Table;
