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
//! can be followed and cancelled from another thread ([`Anonymizer::progress`]).
//!
//! # What is stable
//!
//! The items of this page. Structs and enums that may grow are `#[non_exhaustive]`. What the command
//! line, the tests and extensions need beyond that is in [`unstable`], the engine and the checker among it, and may change with every
//! version.
#![forbid(unsafe_code)]

mod file;
mod job;
mod source;
mod plan;
mod find;
mod claim;
mod publish;
mod report;
mod describe;
mod database;
mod anonymizer;

// What a program writes.
pub use anonymizer::{Anonymizer, Hierarchy, Model, Number, Release};
pub use incog_core::{Error, ErrorKind, Progress, Result, Stage};
pub use job::{DateUnit, FileFormat, Job, OrderJob, RoleJob};
pub use source::Input;

// What it is told.
pub use claim::measured::LocalColumn;
pub use find::Better;
pub use incog_core::algorithm::{Judged, Quality};
pub use incog_verify::{ClaimKind, Finding, Measured, RecodingClaim, Report};
pub use report::compare::{ComparedModel, ComparedRelease, Comparison};
pub use report::frontier::{FrontierPoint, FrontierReport};
pub use report::release::{Published, ReleaseReport};
pub use report::search::{BitmapReport, Listing, NodeReport, PolicyReport, SearchReport};

// Records, and whom to believe.
pub use plan::requirements::RequirePart;
pub use publish::check::check_against_record;
pub use publish::record::{
    ClaimsPart, InputPart, Key, LocalColumnPart, LocalPart, PrivateKey, PublicKey, Record, ReleasePart,
    SensitivePart, Trust,
};

// A first job for a table that nobody described.
pub use describe::init::{Init, Replace};
pub use describe::profile::FirstLine;

// Persons in many tables.
pub use job::{AnyJob, DatabaseJob};

/// What may change with every version: the engine, the checker, the keys of job files as types, and what only the command line needs.
///
/// ```
/// use incog::unstable::engine::algorithm;
///
/// assert!(algorithm::ALL.iter().any(|entry| entry.name == "best"));
/// ```
pub mod unstable {
    /// The engine: privacy models, metrics, algorithms, and the traits to add to them.
    pub use incog_core as engine;
    /// The independent checker.
    pub use incog_verify as checker;

    /// What each table and key of a job file is: the types of the fields of [`Job`](crate::Job) and
    /// [`DatabaseJob`](crate::DatabaseJob).
    pub mod job {
        pub use crate::job::{
            AnyJob, BitmapSets, BranchJob, ColumnJob, CostJob, CountOrText, CubeLevels, DatabaseJob,
            DatabasePart, DatabasePolicy, DatabaseSearch, DateUnit, DiversityJob, FileFormat, GridJob,
            HierarchyJob, Input, IntervalsOf, Job, Lines, MaskSide, MatchingJob, MissingUnit, MondrianChoice,
            MondrianCuts, MondrianSides, NumberOrText, OneLabel, OrderJob, OrderWord, Output, OutputOrder,
            PairingJob, ParentJob, ParentsJob, Paths, PolicyJob, RecordJob, ReleaseKind, RequireJob, RoleJob,
            SearchJob, TableFormat, TableJob, TreeJob, TypesJob,
        };
    }

    /// Where rows come from: the readers of files.
    pub mod source {
        pub use crate::source::{
            Csv, Data, Format, ReadOptions, parse_hierarchy, read_bytes, read_hierarchy,
        };
    }

    /// What is in a table that nobody described, and whether its hierarchies are what they should be.
    pub mod describe {
        pub use crate::describe::{profile, propose, workbench};
    }

    /// Persons in many tables.
    pub mod database {
        pub use crate::database::{
            AnonymizedDatabase, DatabaseClaimsPart, DatabasePlan, DatabaseRecord, FilePart,
            PublishedDatabase, PublishedTable, RECORD, TablePart, verify_database_against,
        };
    }

    /// What only the command line needs.
    pub mod cli {
        pub use crate::claim::file::read_release;
        pub use crate::claim::not_checked;
        pub use crate::plan::decide::{DECIDE, Decide};
        pub use crate::plan::requirements::find_hierarchies;
        pub use crate::publish::places::{key_of, record_of};
        pub use crate::publish::sink::{
            LeftNothing, check_standard_output, leave_nothing, leave_nothing_at_once,
        };
        pub use crate::report::compare::{FULL_DOMAIN, MODELS, RELAXED};
        pub use crate::report::findings::render_report;

        /// From now on, hashes of engine and checker are by this number instead of by secrets of this process: for tests that results
        /// do not depend on them. Only while nothing is running.
        pub fn set_hash_seed(seed: u64) {
            incog_core::hash::set_seed(seed);
            incog_verify::set_hash_seed(seed);
        }
    }
}
