//! Databases: one person in many tables.
//!
//! The same walk as for one table, with a folder at both ends: a [`DatabaseJob`](crate::job::DatabaseJob) becomes a
//! [`DatabasePlan`] once it makes sense with its data; persons are clustered by the engine; the release gets new keys, is
//! checked by `incog-verify` from its labels and keys, and only then appears, all tables and their record at once.

mod copies;
mod plan;
mod release;
mod anatomy;
mod score;
mod record;
mod consistency;
mod publish;
mod verification;

pub use plan::DatabasePlan;
pub use publish::{AnonymizedDatabase, PublishedDatabase, PublishedTable};
pub use record::{DatabaseClaimsPart, DatabaseRecord, FilePart, RECORD, TablePart};
pub use verification::verify_database_against;
