//! Databases: one person in many tables.
//!
//! The same walk as for one table, by the same doors, with a folder at the end: a [`DatabaseJob`](crate::job::DatabaseJob) becomes a
//! [`DatabasePlan`] once it makes sense with its data; persons are clustered by the engine; the release gets new keys, is
//! checked by `incog-verify` from its labels and keys, and only then appears, all tables and their record at once.
//!
//! What is here is what several tables need beyond one: keys that hold together ([`plan`], [`copies`], [`hidden_keys`]), new ones
//! ([`release`], [`hashed`]), tables of sensitive columns ([`anatomy`]), costs over all tables ([`score`]), and which claims follow
//! ([`verification`]). Record, report and what is written how are those of one table.

mod copies;
mod hashed;
mod hidden_keys;
mod plan;
mod release;
mod anatomy;
mod score;
mod record;
mod consistency;
mod publish;
mod verification;

pub(crate) use plan::{DatabasePlan, Inputs};
pub(crate) use publish::MadeDatabase;
pub(crate) use release::TableRelease;
pub(crate) use verification::check_against_record;
