//! What does the operating system do differently from another?
//!
//! Everything in this crate that only Unix has stands here and nowhere else: who may read a file, which file it is, folders that
//! change places at one stroke, reading at a place, what the standard streams are, and paths that lead to what a process has open. [`unix`] has it. [`elsewhere`] has the same functions for
//! other systems, with the standard library alone and as much as that can do. The tests compile and call both, so that `elsewhere` stays
//! right where nobody runs it. (Locks and renames of files are the standard library's on every system. Signals are the command line's:
//! `incog-cli/src/signals.rs`.)

#[cfg(any(not(unix), test))]
#[cfg_attr(all(unix, test), allow(dead_code, unreachable_pub, reason = "only its own tests call it here"))]
mod elsewhere;
#[cfg(unix)]
mod unix;

#[cfg(not(unix))]
pub(crate) use elsewhere::{
    Identity, PlacedFile, exchange, is_of_process, own_alone, own_file, standard_input, standard_output,
    usual_file, usual_folder,
};
#[cfg(unix)]
pub(crate) use unix::{
    Identity, PlacedFile, exchange, is_of_process, own_alone, own_file, standard_input, standard_output,
    usual_file, usual_folder,
};

/// What standard output is.
#[derive(Debug)]
pub(crate) enum StandardOutput {
    /// Somebody gets what is written to it.
    Open(std::fs::File),
    /// It was closed before the program began, and what is written to it is lost.
    #[cfg_attr(windows, allow(dead_code, reason = "nobody can find that out there"))]
    Lost,
}
