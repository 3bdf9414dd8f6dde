//! incog publishes microdata that cannot be joined back to people, and proves it.
//!
//! This is the library that people depend on: it reads data and job files, runs the engine
//! ([`incog_core`]), has releases checked by [`incog_verify`] and writes them. Given a table, its quasi-identifiers
//! and a hierarchy for each, it finds every full-domain generalization that is k-anonymous, and publishes the best.
//!
//! ```no_run
//! use std::path::Path;
//!
//! # fn main() -> incog::Result<()> {
//! let job = incog::Job::read(Path::new("incog.toml"))?;
//! let watch = incog::Watch::new(); // tells how far it is, and can cancel it from another thread
//! let plan = incog::Plan::new(&job, &watch)?;
//! let report = plan.search(incog::Listing::Minimal, &watch)?;
//! println!("{} of {} generalizations hold", report.satisfying, report.lattice_nodes);
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]

pub mod source;
pub mod job;
mod spill;
mod mask_length;
mod hierarchies;
mod requirements;
mod plan;
mod settings;
mod orders;
mod boxes;
mod local;
mod decide;
mod search;
mod frontier;
mod report;
mod verification;
mod sink;
mod record;
mod key_file;
mod places;
mod published;
mod anonymize;
mod checkers;
pub mod compare;
pub mod database;
pub mod workbench;
pub mod profile;
pub mod propose;
mod init;

pub use anonymize::Anonymized;
pub use decide::{DECIDE, Decide};
pub use frontier::{FrontierPoint, FrontierReport};
pub use incog_core::registry;
pub use incog_core::{Error, ErrorKind, Result, Stage, Watch, algorithm, check, metric, privacy, relational};
pub use incog_verify as verify;
pub use init::{Init, Replace};
pub use job::Job;
pub use local::LocalColumn;
pub use places::record_of;
pub use plan::Plan;
pub use published::{Better, Judged, Published};
pub use record::{Key, PrivateKey, PublicKey, Record, Trust};
pub use report::{NodeReport, SearchReport};
pub use requirements::RequirePart;
pub use search::Listing;
pub use sink::{LeftNothing, check_standard_output, leave_nothing, leave_nothing_at_once};
pub use verification::{not_checked, read_release, render_report, verify_against};

/// From now on, hashes of engine and checker are by this number instead of by secrets of this process: for tests that results do not depend on
/// them. Only while nothing is running.
#[doc(hidden)]
pub fn set_hash_seed(seed: u64) {
    incog_core::hash::set_seed(seed);
    incog_verify::set_hash_seed(seed);
}
