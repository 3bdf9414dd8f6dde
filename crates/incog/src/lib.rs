//! incog publishes microdata that cannot be joined back to people, and proves it.
//!
//! Give it a table, say what each column is and what its values may become, and it finds the release that gives up least among all
//! that satisfy your policy, has it checked by an independent checker ([`verify`]), and writes it with a record of what was done.
//!
//! # A table in memory
//!
//! ```standalone_crate
//! use incog::{Anonymizer, Hierarchy, Model};
//!
//! # fn main() -> incog::Result<()> {
//! let table = [
//!     ("name", vec!["Ada", "Bo", "Cy", "Di"]),
//!     ("zip", vec!["53715", "53715", "53703", "53706"]),
//!     ("age", vec!["34", "36", "51", "58"]),
//!     ("illness", vec!["flu", "asthma", "flu", "none"]),
//! ];
//! let release = Anonymizer::new(table) // columns of text, Arrow record batches, or a path
//!     .identifier("name")
//!     .quasi_identifier("zip", Hierarchy::mask_right())
//!     .quasi_identifier("age", Hierarchy::intervals([5, 10, 20]).top(90))
//!     .sensitive("illness")
//!     .require(Model::alpha_k("illness", "1/2")?)
//!     .k(2)
//!     .suppression("1%")?
//!     .anonymize()?; // verified, or an error that says why there is none
//! println!("{}", release.report());
//! assert_eq!(release.record()?.claims.k, 2);
//! # let folder = tempfile::tempdir().unwrap();
//! # std::env::set_current_dir(&folder).unwrap();
//! release.write("out.csv")?; // with its record: both appear, or neither does
//! # assert!(std::fs::exists("out.csv.incog.json").unwrap());
//! # Ok(())
//! # }
//! ```
//!
//! # A job file
//!
//! The same can stand in a file, which is what the command line reads. Both are doors to one plan, with the same mistakes:
//!
//! ```no_run
//! # fn main() -> incog::Result<()> {
//! let job = incog::Job::read("incog.toml".as_ref())?;
//! let published = incog::Anonymizer::from_job(job).publish()?; // written where the job says
//! println!("{published}");
//! # Ok(())
//! # }
//! ```
//!
//! # Other questions
//!
//! [`Anonymizer::search`] lists every generalization that satisfies the policy, [`Anonymizer::frontier`] what each k costs,
//! [`Anonymizer::compare`] what other recoding models give, [`Anonymizer::verify`] checks a released file against its data. A long run
//! can be watched and cancelled from another thread ([`Anonymizer::watch`]).
//!
//! # What is stable
//!
//! The items of this page. The engine crates ([`incog_core`], [`incog_verify`]) are re-exported for those who extend it: what is in
//! [`algorithm`], [`check`], [`metric`], [`privacy`], [`relational`] and [`registry`] may change with every version.
#![forbid(unsafe_code)]

mod file;
pub mod job;
pub mod source;
mod plan;
mod find;
mod claim;
mod publish;
mod report;
pub mod describe;
pub mod database;
mod anonymizer;

pub use anonymizer::{Anonymizer, Hierarchy, Model, Number, Release, header_of};
pub use claim::file::read_release;
pub use claim::measured::LocalColumn;
pub use claim::not_checked;
pub use describe::init::{Init, Replace};
pub use describe::{profile, propose, workbench};
pub use find::Better;
pub use incog_core::algorithm::Judged;
pub use incog_core::registry;
pub use incog_core::{Error, ErrorKind, Result, Stage, Watch, algorithm, check, metric, privacy, relational};
pub use incog_verify as verify;
pub use job::{DateUnit, Job};
pub use plan::decide::{DECIDE, Decide};
pub use plan::requirements::{RequirePart, find_hierarchies};
pub use publish::check::check_against_record;
pub use publish::places::{key_of, record_of};
pub use publish::record::{Key, PrivateKey, PublicKey, Record, Trust};
pub use publish::sink::{LeftNothing, check_standard_output, leave_nothing, leave_nothing_at_once};
pub use report::compare::{self, ComparedModel, ComparedRelease, Comparison};
pub use report::findings::render_report;
pub use report::frontier::{FrontierPoint, FrontierReport};
pub use report::release::{Published, ReleaseReport};
pub use report::search::{Listing, NodeReport, SearchReport};
pub use source::Input;

/// From now on, hashes of engine and checker are by this number instead of by secrets of this process: for tests that results do not depend on
/// them. Only while nothing is running.
#[doc(hidden)]
pub fn set_hash_seed(seed: u64) {
    incog_core::hash::set_seed(seed);
    incog_verify::set_hash_seed(seed);
}
