//! What is in a table that nobody has described?
//!
//! Proposes, and shows no cell: [`init`] writes a job from what `recognize` finds, for a table.
//! [`workbench`] shows, checks and makes hierarchies.

pub(crate) mod init;
mod job_text;
pub mod workbench;
