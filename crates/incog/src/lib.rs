//! incog publishes microdata that cannot be joined back to people, and proves it.
//!
//! Give it a table, say what each column is and what its values may become, and it finds the release that gives up least among all
//! that satisfy your policy, has it checked by an independent checker ([`unstable::checker`]), and writes it with a record of what was done.
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
//! let job = incog::AnyJob::read("incog.toml".as_ref())?;
//! let published = incog::Anonymizer::from_job(job).publish()?; // written where the job says
//! println!("{published}");
//! # Ok(())
//! # }
//! ```
//!
//! A job about the tables of a database goes the same way; its release is a folder.
//!
//! # Other questions
//!
//! [`Anonymizer::search`] lists every generalization that satisfies the policy, [`Anonymizer::frontier`] what each k costs,
//! [`Anonymizer::compare`] what other recoding models give, [`Anonymizer::verify`] checks a released file against its data, and [`Verifier`] against whatever is at hand. A long run
//! can be followed and cancelled from another thread ([`Anonymizer::progress`]).
//!
//! # What is stable
//!
//! The items of this page. Structs and enums that may grow are `#[non_exhaustive]`. What the command
//! line, the tests and extensions need beyond that is in [`unstable`], the engine and the checker among it, and may change with every
//! version.
#![forbid(unsafe_code)]

mod system;
mod file;
mod job;
mod source;
mod recognize;
mod plan;
mod find;
mod claim;
mod publish;
mod report;
mod describe;
mod database;
mod anonymizer;

// What a program writes.
pub use anonymizer::{
    Anonymizer, Decided, Hierarchy, Model, Number, Release, ReleaseRecoding, ReleasedTable, Verifier,
};

/// What every call that can fail tells: a message, a [kind](ErrorKind), a hint where there is one, and where it comes from.
///
/// ```
/// use incog::Job;
///
/// let error = Job::parse("[policy]\nk = 5\n").unwrap_err();
/// assert_eq!(error.to_string(), "line 1: `input` is missing");
/// ```
pub use incog_core::Error;

/// Who can do something about an error.
///
/// ```
/// # use incog::{Anonymizer, Hierarchy};
/// # let table = [("zip", vec!["53715", "53715", "53703", "53706"]), ("ill", vec!["flu", "cold", "flu", "none"])];
/// # let anonymizer = Anonymizer::new(table).quasi_identifier("zip", Hierarchy::mask_right()).sensitive("ill").k(2);
/// use incog::ErrorKind;
///
/// let error = anonymizer.k(5).anonymize().unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Impossible);
/// ```
pub use incog_core::ErrorKind;

/// How far a long run is, and how to stop it.
///
/// ```
/// # use incog::{Anonymizer, Hierarchy};
/// # let table = [("zip", vec!["53715", "53715", "53703", "53706"]), ("ill", vec!["flu", "cold", "flu", "none"])];
/// # let anonymizer = Anonymizer::new(table).quasi_identifier("zip", Hierarchy::mask_right()).sensitive("ill").k(2);
/// use std::sync::Arc;
/// use incog::{ErrorKind, Progress};
///
/// let progress = Arc::new(Progress::new());
/// progress.cancel(); // from another thread, say
/// let error = anonymizer.progress(&progress).anonymize().unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Cancelled);
/// ```
pub use incog_core::Progress;

/// What every call that can fail returns.
///
/// ```
/// fn rows(table: impl Into<incog::Input>) -> incog::Result<usize> {
///     let anonymizer = incog::Anonymizer::new(table).quasi_identifier("age", incog::Hierarchy::suppress());
///     Ok(anonymizer.k(1).anonymize()?.n_rows())
/// }
/// assert_eq!(rows([("age", vec!["34", "36"])])?, 2);
/// # Ok::<(), incog::Error>(())
/// ```
pub use incog_core::Result;

/// What a run is doing.
///
/// ```
/// # use incog::{Anonymizer, Hierarchy};
/// # let table = [("zip", vec!["53715", "53715", "53703", "53706"]), ("ill", vec!["flu", "cold", "flu", "none"])];
/// # let anonymizer = Anonymizer::new(table).quasi_identifier("zip", Hierarchy::mask_right()).sensitive("ill").k(2);
/// use std::sync::Arc;
/// use incog::{Progress, Stage};
///
/// let progress = Arc::new(Progress::new());
/// anonymizer.progress(&progress).anonymize()?;
/// assert_eq!(progress.stage(), Some(Stage::Verifying));
/// # Ok::<(), incog::Error>(())
/// ```
pub use incog_core::Stage;

/// A job about one table or about a database.
///
/// ```
/// use incog::AnyJob;
///
/// let job = AnyJob::parse("[input]\npath = \"data.csv\"\n[policy]\nk = 5\n")?;
/// assert!(!job.is_about_database());
/// # Ok::<(), incog::Error>(())
/// ```
pub use job::AnyJob;

/// A job about persons in many tables.
///
/// ```
/// let job = incog::DatabaseJob::parse(
///     "[database]\nperson = \"student\"\n[policy]\nk = 2\n\
///      [tables.student]\npath = \"student.csv\"\ncolumns.age = { role = \"quasi-identifier\" }\n",
/// )?;
/// assert_eq!(job.database.person, "student");
/// # Ok::<(), incog::Error>(())
/// ```
pub use job::DatabaseJob;

/// A calendar unit, for hierarchies of dates.
///
/// ```
/// use incog::{DateUnit, Hierarchy};
///
/// let born = Hierarchy::dates([DateUnit::Month, DateUnit::Year, DateUnit::Decade]);
/// ```
pub use job::DateUnit;

/// Hierarchies that everybody uses.
///
/// ```
/// use incog::{Builtin, Hierarchy};
///
/// let diagnosis = Hierarchy::builtin(Builtin::Icd10);
/// ```
pub use job::Builtin;

/// Policies that others have written down.
///
/// ```
/// assert_eq!(incog::Preset::CellSize11.least_k(), 11);
/// ```
pub use job::Preset;

/// By what the values of an identifier are replaced.
///
/// ```
/// use incog::{Anonymizer, Hierarchy, ReplaceJob};
///
/// let table = [("id", vec!["Ann", "Bob"]), ("zip", vec!["53715", "53715"])];
/// let anonymizer = Anonymizer::new(table).identifier("id").replace("id", ReplaceJob::Number);
/// let release = anonymizer.quasi_identifier("zip", Hierarchy::suppress()).k(2).anonymize()?;
/// assert_eq!(release.n_rows(), 2);
/// # Ok::<(), incog::Error>(())
/// ```
pub use job::ReplaceJob;

/// A format of files, by its name in job files.
///
/// ```
/// use incog::FileFormat;
///
/// let job = incog::Job::parse("[input]\npath = \"data\"\nformat = \"jsonl\"\n[policy]\nk = 5\n")?;
/// assert_eq!(job.input.format, Some(FileFormat::Jsonl));
/// # Ok::<(), incog::Error>(())
/// ```
pub use job::FileFormat;

/// A job about one table.
///
/// ```
/// let job = incog::Job::parse(
///     "[input]\npath = \"data.csv\"\n[policy]\nk = 5\n[columns]\nage = { role = \"quasi-identifier\" }\n",
/// )?;
/// assert_eq!(job.policy.k, 5);
/// # Ok::<(), incog::Error>(())
/// ```
pub use job::Job;

/// The order of a quasi-identifier's values, for `ordered-set` and `mondrian`.
///
/// ```
/// use incog::{Anonymizer, Hierarchy, OrderJob};
///
/// let table = [("grade", vec!["low", "high", "middle", "low"])];
/// let order = OrderJob::Categories(["low", "middle", "high"].map(str::to_owned).to_vec());
/// let release = Anonymizer::new(table)
///     .quasi_identifier("grade", Hierarchy::suppress())
///     .order("grade", order)
///     .algorithm("mondrian")
///     .k(2)
///     .anonymize()?;
/// assert_eq!(release.n_rows(), 4);
/// # Ok::<(), incog::Error>(())
/// ```
pub use job::OrderJob;

/// What a column is to the people in the data.
///
/// ```
/// use incog::{Anonymizer, Hierarchy, RoleJob};
///
/// let table = [("age", vec!["34", "36"]), ("note", vec!["a", "b"])];
/// let anonymizer =
///     Anonymizer::new(table).quasi_identifier("age", Hierarchy::suppress()).rest(RoleJob::Other).k(2);
/// anonymizer.check()?;
/// # Ok::<(), incog::Error>(())
/// ```
pub use job::RoleJob;
pub use source::Input;

// What it is told.
pub use claim::measured::LocalColumn;
pub use claim::suppressed::SuppressedShare;
pub use find::Better;

/// How many nodes a search judged, of how many.
///
/// ```
/// # use incog::{Anonymizer, Hierarchy};
/// # let table = [("zip", vec!["53715", "53715", "53703", "53706"]), ("ill", vec!["flu", "cold", "flu", "none"])];
/// # let anonymizer = Anonymizer::new(table).quasi_identifier("zip", Hierarchy::mask_right()).sensitive("ill").k(2);
/// let release = anonymizer.anonymize()?;
/// let judged = release.report().judged.unwrap();
/// assert_eq!(judged.of, 6);
/// assert!(u128::from(judged.nodes) <= judged.of);
/// # Ok::<(), incog::Error>(())
/// ```
pub use incog_core::algorithm::Judged;

/// How good an answer is, of its kind.
///
/// ```
/// # use incog::{Anonymizer, Hierarchy};
/// # let table = [("zip", vec!["53715", "53715", "53703", "53706"]), ("ill", vec!["flu", "cold", "flu", "none"])];
/// # let anonymizer = Anonymizer::new(table).quasi_identifier("zip", Hierarchy::mask_right()).sensitive("ill").k(2);
/// use incog::Quality;
///
/// assert_eq!(anonymizer.anonymize()?.report().quality, Quality::Optimal);
/// # Ok::<(), incog::Error>(())
/// ```
pub use incog_core::algorithm::Quality;

/// What a claim of a release is about.
///
/// ```
/// # use incog::{Anonymizer, Hierarchy};
/// # let table = [("zip", vec!["53715", "53715", "53703", "53706"]), ("ill", vec!["flu", "cold", "flu", "none"])];
/// # let anonymizer = Anonymizer::new(table).quasi_identifier("zip", Hierarchy::mask_right()).sensitive("ill").k(2);
/// use incog::ClaimKind;
///
/// let release = anonymizer.anonymize()?;
/// let kinds: Vec<ClaimKind> = release.report().checked.findings.iter().map(|finding| finding.kind).collect();
/// assert!(kinds.contains(&ClaimKind::Anonymity));
/// # Ok::<(), incog::Error>(())
/// ```
pub use incog_verify::ClaimKind;

/// One claim, and what the checker found.
///
/// ```
/// # use incog::{Anonymizer, Hierarchy};
/// # let table = [("zip", vec!["53715", "53715", "53703", "53706"]), ("ill", vec!["flu", "cold", "flu", "none"])];
/// # let anonymizer = Anonymizer::new(table).quasi_identifier("zip", Hierarchy::mask_right()).sensitive("ill").k(2);
/// let release = anonymizer.anonymize()?;
/// for finding in &release.report().checked.findings {
///     assert!(finding.holds, "{finding}");
/// }
/// # Ok::<(), incog::Error>(())
/// ```
pub use incog_verify::Finding;

/// What a release reaches on a sensitive column.
///
/// ```
/// # use incog::{Anonymizer, Hierarchy};
/// # let table = [("zip", vec!["53715", "53715", "53703", "53706"]), ("ill", vec!["flu", "cold", "flu", "none"])];
/// # let anonymizer = Anonymizer::new(table).quasi_identifier("zip", Hierarchy::mask_right()).sensitive("ill").k(2);
/// let release = anonymizer.anonymize()?;
/// let ill = &release.report().checked.measured[0];
/// assert_eq!((ill.alpha, ill.distinct_l), (Some((1, 2)), Some(2)));
/// # Ok::<(), incog::Error>(())
/// ```
pub use incog_verify::Measured;

/// What the checker found.
///
/// ```
/// # use incog::{Anonymizer, Hierarchy};
/// # let table = [("zip", vec!["53715", "53715", "53703", "53706"]), ("ill", vec!["flu", "cold", "flu", "none"])];
/// # let anonymizer = Anonymizer::new(table).quasi_identifier("zip", Hierarchy::mask_right()).sensitive("ill").k(2);
/// let release = anonymizer.anonymize()?;
/// let report = &release.report().checked;
/// assert!(report.holds());
/// assert_eq!(report.group_sizes, [(2, 2)], "two groups of two rows");
/// # Ok::<(), incog::Error>(())
/// ```
pub use incog_verify::Report;
pub use report::compare::{ComparedModel, ComparedRelease, Comparing, Comparison};
pub use report::frontier::{FrontierPoint, FrontierReport};
pub use report::release::{Published, ReleaseReport, TableSummary};
pub use report::search::{BitmapReport, Listing, NodeReport, PolicyReport, SearchReport};
pub use report::subsets::{SubsetReport, SubsetsReport};
pub use report::trace::TraceReport;
pub use report::verification::Verification;

// Records, and whom to believe.
pub use publish::record::{Key, PrivateKey, PublicKey, Record, Trust};

/// The parts of a [`Record`]: the types of its fields.
///
/// ```
/// # use incog::{Anonymizer, Hierarchy};
/// # let table = [("zip", vec!["53715", "53715", "53703", "53706"]), ("ill", vec!["flu", "cold", "flu", "none"])];
/// # let anonymizer = Anonymizer::new(table).quasi_identifier("zip", Hierarchy::mask_right()).sensitive("ill").k(2);
/// use incog::record::ClaimsPart;
///
/// let release = anonymizer.anonymize()?;
/// let claims: &ClaimsPart = &release.record()?.claims;
/// assert_eq!(claims.k, 2);
/// # Ok::<(), incog::Error>(())
/// ```
pub mod record {
    pub use crate::plan::requirements::RequirePart;
    pub use crate::publish::record::{
        ClaimsPart, FilePart, LocalColumnPart, LocalPart, PlacesPart, RecodingPart, SensitivePart, TablePart,
    };
}

// A first job for a table that nobody described.
pub use describe::init::{Init, Replace};
pub use recognize::header::FirstLine;

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
            AnyJob, BitmapSets, BranchJob, CellMethodJob, ColumnJob, CostJob, CountOrText, CubeLevels,
            CutMethodJob, DatabaseJob, DatabasePart, DatabasePolicy, DatabaseSearch, DateUnit, DiversityJob,
            EngineJob, FileFormat, GridJob, HierarchyJob, IfExists, Input, IntervalsOf, Job, Lines,
            LookAheadJob, MaskSide, MatchingJob, MissingUnit, MondrianChoice, MondrianCuts, MondrianSides,
            NumberOrText, OneLabel, OrderJob, OrderWord, Output, OutputOrder, PairingJob, ParentJob,
            ParentsJob, Paths, PolicyJob, RecordJob, ReleaseKind, RequireJob, RoleJob, SearchJob,
            SuppressionMethodJob, TableFormat, TableJob, TreeJob, TypesJob,
        };
    }

    /// Where rows come from: the readers of files, and engines whose rows stay where they are.
    pub mod source {
        pub use crate::source::{
            Csv, Data, Format, ReadOptions, engine, parse_hierarchy, read_bytes, read_hierarchy,
        };
    }

    /// What is in a table that nobody described, and whether its hierarchies are what they should be.
    pub mod describe {
        pub use crate::describe::workbench;
        pub use crate::recognize::{exposure, profile, propose};
    }

    /// What only the command line needs.
    pub mod cli {
        pub use crate::anonymizer::warnings_to_json;
        pub use crate::claim::file::read_release;
        pub use crate::claim::not_checked;
        pub use crate::plan::decide::{DECIDE, Decide};
        pub use crate::plan::requirements::find_hierarchies;
        pub use crate::publish::places::{key_of, record_of};
        pub use crate::publish::sink::{
            LeftNothing, check_standard_output, leave_nothing, leave_nothing_at_once,
        };
        pub use crate::report::compare::{FULL_DOMAIN, MODELS, RELAXED};
        pub use crate::report::findings::{is_seen, render_report, report_to_json};
        pub use crate::report::json::{Described, schema_of, schemas, written};

        /// From now on, hashes of engine and checker are by this number instead of by secrets of this process: for tests that results
        /// do not depend on them. Only while nothing is running.
        pub fn set_hash_seed(seed: u64) {
            incog_core::hash::set_seed(seed);
            incog_verify::set_hash_seed(seed);
        }
    }
}

/// The Rust of `docs/library.md`, which is run with the other doc tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/library.md")]
pub struct LibraryPage;
