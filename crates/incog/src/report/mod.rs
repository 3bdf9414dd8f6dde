//! What is said about it?
//!
//! Plain data first, then text: what a search found, what each k costs, how models compare, what a release is, what the checker
//! found. It speaks of columns, levels and counts; no label and no cell value ever gets in.

mod chart;
pub(crate) mod compare;
pub(crate) mod findings;
pub(crate) mod frontier;
mod groups;
pub(crate) mod json;
pub(crate) mod release;
mod release_json;
mod release_text;
pub(crate) mod search;
pub(crate) mod subsets;
pub(crate) mod table;
pub(crate) mod trace;
pub(crate) mod verification;
