//! What can be added to incog from outside, touching no other file: privacy models, a metric with sums of its own, an algorithm.
//!
//! A crate like this one depends on `incog` and takes what it needs from [`incog::unstable`]. It is never published; its tests run with
//! those of the workspace and hold the engine to that promise.
#![forbid(unsafe_code)]

mod k_map;
mod at_most;
mod contributed_loss;
mod climb;

pub use at_most::AT_MOST;
pub use climb::{CLIMB, WALK};
pub use contributed_loss::ContributedLoss;
pub use k_map::KMap;
