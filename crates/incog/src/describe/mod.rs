//! What is in a table that nobody has described?
//!
//! Counts exactly, proposes carefully, shows no cell: [`written`] finds out how columns are written, [`profile`] looks at the columns, [`propose`] at what they may be, [`init`]
//! writes a job. [`workbench`] shows, checks and makes hierarchies.

mod header;
pub(crate) mod init;
mod init_json;
pub mod profile;
pub mod propose;
mod values;
mod written;
pub mod workbench;
