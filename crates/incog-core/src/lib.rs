//! The engine of incog: finds every way to generalize a table that satisfies a privacy policy.
//!
//! Pure: no files, no sockets, no clock, no randomness but the secrets that hashes have
//! ([`hash`]), on which nothing depends. It is read top down, and a module uses only those
//! above it:
//!
//! | module | question |
//! |---|---|
//! | [`decoder`] | What if a decoder that is not ours trips over a stranger's file? |
//! | [`tuning`] | Which numbers can only a clock tell? |
//! | [`value`] | What number or day does a text stand for? |
//! | [`table`] | What are the records? |
//! | [`hierarchy`] | What may a value become? |
//! | [`group`] | Who looks alike? |
//! | [`lattice`] | Which level combinations exist? |
//! | [`frequency`] | How many look the same at a node? |
//! | [`privacy`] | Which groups may be published? |
//! | [`judge`] | Does this node satisfy the policy? |
//! | [`recoding`] | What exactly is changed? |
//! | [`metric`] | What did it cost? |
//! | [`algorithm`] | Who finds it? |
//! | [`relational`] | What if one person is in many tables? |
#![forbid(unsafe_code)]
pub mod error;
pub mod words;
pub mod registry;
pub mod progress;
pub mod decoder;
pub mod hash;
pub mod tuning;
pub mod value;
pub mod table;
pub mod hierarchy;
pub mod group;
pub mod lattice;
pub mod frequency;
pub mod privacy;
pub mod judge;
pub mod recoding;
pub mod metric;
pub mod algorithm;
pub mod relational;

pub use error::{Error, ErrorKind, Result};
pub use progress::{Progress, Stage};

/// The tuned constants of all components.
#[cfg(feature = "tuning")]
fn tuned_constants() -> impl Iterator<Item = &'static (dyn tuning::Adjustable + Sync)> {
    [frequency::tuning::ALL, judge::tuning::ALL, algorithm::optimum::tuning::ALL]
        .into_iter()
        .flatten()
        .copied()
}
