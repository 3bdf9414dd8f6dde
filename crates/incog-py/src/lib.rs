//! `incog._incog`: the binding beneath the Python package `incog`.
//!
//! Thin on purpose: a question comes as a job (JSON with the keys of a job file) and a frame (the Arrow PyCapsule interface), goes through
//! [`incog::Anonymizer`] like every other question, and comes back as plain data (JSON, text, SVG) or as a stream of record batches.
//! What Python people expect beyond that, frames of many kinds, classes and words, is Python and stands in `python/incog`.
//!
//! | module | question |
//! |---|---|
//! | [`frame`] | Which rows does Python hand over, and how are rows handed back? |
//! | [`job`] | What does Python want done? |
//! | [`run`] | Who waits for the work, and who may stop it? |
//! | [`failure`] | What does Python hear when something goes wrong? |
//! | [`ask`] | Searches, frontiers, comparisons, profiles, findings. |
//! | [`release`] | A verified release that Python holds. |
//!
//! A crate outside the workspace: it is built by maturin with its own lock file, so that nobody needs a Python to test the engine. Its
//! `unsafe` is all in what pyo3's macros write, and in pyo3-arrow.
#![deny(unsafe_op_in_unsafe_fn)]

mod ask;
mod failure;
mod frame;
mod job;
mod release;
mod run;

/// Python goes on when a release is made, and the memory that it took is Python's again.
#[global_allocator]
static ALLOCATOR: incog_kernels::MappedPages = incog_kernels::MappedPages;

/// The module `incog._incog`.
#[pyo3::pymodule]
mod _incog {
    #[pymodule_export]
    use crate::ask::{
        Described, check, check_file, compare, describe, explain, frontier, names, propose, search, to_toml,
    };
    #[pymodule_export]
    use crate::frame::{Stream, addresses};
    #[pymodule_export]
    use crate::release::{Published, Recoding, Release, anonymize, database, publish, recoding_of};
    #[pymodule_export]
    use crate::run::{after_fork, join};

    /// The version of incog.
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}
