//! What is in a table that nobody has described?
//!
//! Proposes, and shows no cell: [`init`] writes a job from what `recognize` finds, for a table whose columns are read as `written` finds
//! out that they are. [`workbench`] shows, checks and makes hierarchies.

pub(crate) mod init;
mod init_json;
mod job_text;
mod written;
pub mod workbench;
