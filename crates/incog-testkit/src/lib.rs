//! What incog's tests and benchmarks share: random tables, oracles that share no code with the engine, case files, and the
//! [approaches](baseline) that the paper on many tables compares with.
//!
//! Never published. Used from `tests/` folders and `bench/` only (inside a crate's unit tests Cargo would build the
//! engine twice).
#![forbid(unsafe_code)]

pub mod sample;
pub mod require;
pub mod naive;
pub mod relational;
pub mod baseline;
pub mod students;
pub mod database;
pub mod labels;
pub mod local;
pub mod random;
pub mod algorithms;
pub mod case;
pub mod data;
pub mod described;
mod skip;

pub use require::Require;
pub use sample::{Sample, SampleColumn};
pub use skip::skipped;
