//! What if a table does not fit the memory?
//!
//! With `memory` in `[input]` (`--memory 512MB`) a table that would take more is coded while it is read, and its codes go to a
//! temporary file, some rows at a time. From there on everything works in parts:
//!
//! | step | what is in memory |
//! |---|---|
//! | reading | the distinct values of each column, the codes of some rows |
//! | searching | a key for each row if they fit, else some of them ([`incog_core::frequency::Stored`]); groups |
//! | applying | a bit for each row: is it released? For `top-down` a number for each row: which is its group? |
//! | verifying | groups ([`incog_verify::verify_in_order`]); a code for each row while a sensitive column is looked at |
//! | shuffling | one of many buckets of rows, which are in another temporary file |
//!
//! The release has the same bytes as one made in memory, where the order of rows is the input's. What cannot be done in parts is
//! refused: recoding that is not by whole columns, but for `top-down`, which recodes cells of equal rows; persons with several rows, columns with too many distinct values.
//!
//! **What is on the disk meanwhile**: codes, which say nothing without the values, in files that have no name and are
//! gone when the run ends, however it ends. They are in the folder that `TMPDIR` names, or else beside the release: what is called a
//! temporary folder is sometimes memory.
//!
//! Cost: writing and reading 1, 2 or 4 bytes a cell, instead of 4 in memory. Memory is counted, not enforced: what the parts
//! are expected to take.

mod file;
mod codes;
mod text_digest;
mod spiller;
mod tables;

pub(crate) use file::SpillFile;
pub(crate) use spiller::{Spilled, Spiller};
pub(crate) use tables::{SpilledInput, SpilledRelease};
pub(crate) use text_digest::TextDigest;

use std::path::{Path, PathBuf};

use incog_core::table::{Column, Role};
use incog_core::{Error, ErrorKind, Result};

use crate::job::Job;

/// How much memory a run may take, and where to put what does not fit.
#[derive(Debug, Clone)]
pub(crate) struct Memory {
    bytes: u64,
    folder: PathBuf,
    /// What the search takes for each row beside the table.
    beside_a_row: u64,
}

/// Less cannot be kept: reading a table by itself takes some 40 MB, whatever the limit (`bench/memory.py`).
const LEAST: u64 = 64_000_000;

/// What the program takes by itself, before there is any data.
const OWN: u64 = 8 << 20;

/// What a value of a quasi-identifier takes beside its text, in bytes: its labels at all levels, in the search and in the checker. Measured with
/// 220,000 values of one column: 490.
const OF_VALUE: u64 = 512;

/// What the distinct values of a column take: in the table and, with their labels, in the search and in the checker.
fn bytes_of_values(column: &Column) -> u64 {
    let values = column.dictionary();
    let labels = match column.role() {
        Role::QuasiIdentifier => values.len() as u64 * OF_VALUE,
        _ => 0,
    };
    2 * values.n_bytes() + labels
}

/// What a job's search makes of each row beside the table, in bytes, where all rows are in memory: more than other searches do. Measured with a million rows
/// of five quasi-identifiers (`bench/memory.py`): 175 by `cube`, 80 by `top-down`.
fn beside_a_row(job: &Job) -> u64 {
    match (job.search.checker.as_deref(), job.search.algorithm.as_deref()) {
        (Some("cube"), _) => 176,
        (_, Some("top-down")) => 80,
        _ => 0,
    }
}

impl Memory {
    /// What a job says, if it says anything.
    pub(crate) fn of(job: &Job) -> Result<Option<Self>> {
        let Some(size) = &job.input.memory else {
            return Ok(None);
        };
        let key = ["input", "memory"];
        let bytes = size.bytes().ok_or_else(|| {
            job.mistake(&key, "`memory` is not a size")
                .with_hint("write bytes, or a number with KB, MB, GB, KiB, MiB or GiB")
        })?;
        if bytes < LEAST {
            return Err(job
                .mistake(&key, "`memory` is less than 64 MB")
                .with_hint("reading a table takes 40 MB of that by itself; try \"512 MB\""));
        }
        let beside =
            job.output.as_ref().and_then(|output| output.path.as_ref()).map(|path| job.resolve(path));
        let beside = beside.as_deref().and_then(Path::parent).filter(|folder| folder.is_dir());
        let folder = match std::env::var_os("TMPDIR") {
            Some(folder) => folder.into(),
            None => beside.map_or_else(std::env::temp_dir, Path::to_owned),
        };
        Ok(Some(Memory { bytes, folder, beside_a_row: beside_a_row(job) }))
    }

    #[cfg(test)]
    pub(crate) fn for_tests(bytes: u64) -> Self {
        Memory { bytes, folder: std::env::temp_dir(), beside_a_row: 0 }
    }

    /// Would a table of `n_rows` rows fit, with all that is done to it in memory?
    pub(crate) fn fits(&self, n_rows: usize, columns: &[Column]) -> bool {
        // The codes twice, once shuffled; keys; what the checker takes for both tables.
        let bytes_a_row = 8 * columns.len() as u64 + 44 + self.beside_a_row;
        let values: u64 = columns.iter().map(|column| column.dictionary().n_bytes()).sum();
        OWN + n_rows as u64 * bytes_a_row + 2 * values <= self.bytes
    }

    /// How many rows may be in memory while others are spilled.
    pub(crate) fn part_rows(&self, n_columns: usize) -> usize {
        let rows = self.bytes / 32 / (4 * n_columns.max(1) as u64);
        usize::try_from(rows).unwrap_or(usize::MAX).clamp(1 << 12, 1 << 20)
    }

    /// Fails if the distinct values take too much of it.
    pub(crate) fn check_values(&self, columns: &[Column]) -> Result<()> {
        let need = OWN + columns.iter().map(bytes_of_values).sum::<u64>();
        if need <= self.bytes {
            return Ok(());
        }
        let named = columns.iter().filter(|column| column.role() != Role::Identifier);
        let most = named.max_by_key(|column| bytes_of_values(column));
        let name = most.map_or("", Column::name);
        let n_values = most.map_or(0, |column| column.dictionary().len());
        Err(Error::new(
            ErrorKind::Limit,
            format!(
                "the distinct values of all columns do not fit {self} of memory: they take {} MB so far; column `{name}` has most of them, {n_values} so far",
                need.div_ceil(1_000_000)
            ),
        )
        .with_hint("allow more memory, or make it an identifier if it need not be released"))
    }

    /// How much there is for keys: with fewer bytes they stay in memory.
    pub(crate) fn for_keys(&self) -> u64 {
        self.bytes / 20 * 9
    }

    /// How much there is for the groups of a search.
    pub(crate) fn for_groups(&self) -> u64 {
        self.bytes / 5
    }

    /// How much there is for a bucket of rows that is being shuffled.
    pub(crate) fn for_buckets(&self) -> u64 {
        self.bytes / 8
    }

    /// A new temporary file.
    pub(crate) fn file(&self) -> Result<SpillFile> {
        SpillFile::create(&self.folder)
    }

    /// Why a table that does not fit cannot be released all the same.
    pub(crate) fn refuse(&self, what: &str) -> Error {
        Error::new(ErrorKind::Limit, format!("the table does not fit {self} of memory, and {what}"))
            .with_hint("allow more memory, or none to be counted: leave `memory` out")
    }
}

impl std::fmt::Display for Memory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.bytes {
            bytes if bytes % (1 << 30) == 0 => write!(f, "{} GiB", bytes >> 30),
            bytes if bytes % 1_000_000 == 0 => write!(f, "{} MB", bytes / 1_000_000),
            bytes => write!(f, "{} MiB", bytes >> 20),
        }
    }
}
