//! The tables of the paper's experiments.
//!
//! Adult comes from the folder named by `INCOG_DATA` or `../shared/data` beside the project. Lands End is made
//! by `bench/gen_landsend.py` in the target folder, once.

use std::path::{Path, PathBuf};
use std::process::Command;

use incog_core::hierarchy::{Attribute, Attributes};
use incog_core::table::{Role, Table};
use incog_core::{Error, ErrorKind, Result, Watch};

/// A table with its quasi-identifiers, all columns in file order.
pub(crate) struct Dataset {
    pub(crate) name: String,
    pub(crate) table: Table,
    pub(crate) attributes: Attributes,
}

impl Dataset {
    pub(crate) fn adult() -> Result<Self> {
        let folder =
            std::env::var_os("INCOG_DATA").map_or_else(|| project().join("../shared/data"), PathBuf::from);
        let hierarchies = project().join("testdata/hierarchies/adult");
        Dataset::read("Adult", &folder.join("adult/adult.csv"), &hierarchies)
    }

    pub(crate) fn landsend(n_rows: usize) -> Result<Self> {
        let folder = project().join("target/bench");
        let (data, hierarchies) =
            (folder.join(format!("landsend-{n_rows}.csv")), folder.join("landsend-hierarchies"));
        if !data.exists() || !hierarchies.exists() {
            let failed = |problem: String| {
                Error::new(ErrorKind::Io, format!("cannot make the Lands End table: {problem}"))
            };
            std::fs::create_dir_all(&folder).map_err(|error| failed(error.to_string()))?;
            let unfinished = folder.join("landsend.part");
            let made = Command::new("python3")
                .arg(project().join("bench/gen_landsend.py"))
                .args(["--rows", &n_rows.to_string(), "--out"])
                .arg(&unfinished)
                .arg("--hierarchies")
                .arg(&hierarchies)
                .status()
                .map_err(|error| failed(error.to_string()))?;
            if !made.success() {
                return Err(failed("bench/gen_landsend.py failed".into()));
            }
            std::fs::rename(&unfinished, &data).map_err(|error| failed(error.to_string()))?;
        }
        Dataset::read("Lands End", &data, &hierarchies)
    }

    fn read(name: &str, data: &Path, hierarchies: &Path) -> Result<Self> {
        let table =
            incog::source::Csv::open(data, Some(b','))?.read(|_| Role::QuasiIdentifier, &Watch::new())?;
        let attributes = table.columns().iter().map(|column| {
            let file = hierarchies.join(format!("{}.csv", column.name()));
            let hierarchy = incog::source::read_hierarchy(&file, column.name())?;
            Attribute::bind(column, hierarchy, &file.display().to_string())
        });
        let attributes = Attributes::new(attributes.collect::<Result<_>>()?)?;
        Ok(Dataset { name: format!("{name} ({} rows)", table.n_rows()), table, attributes })
    }

    /// The rows at level 0 as mixed-radix numbers: what base groups by. No code of the engine takes part.
    pub(crate) fn plain_keys(&self, n_attributes: usize) -> Vec<u64> {
        let mut keys = vec![0_u64; self.table.n_rows()];
        for column in &self.table.columns()[..n_attributes] {
            let n_values = column.dictionary().len() as u64;
            for (key, &code) in keys.iter_mut().zip(column.codes()) {
                *key = key.checked_mul(n_values).expect("the benchmark tables fit 64 bits") + u64::from(code);
            }
        }
        keys
    }
}

/// Base: one hash group-by with linear probing, presized to the number of rows.
pub(crate) fn group_by(keys: &[u64]) -> usize {
    let n_slots = (keys.len() * 2).next_power_of_two();
    let shift = 64 - n_slots.trailing_zeros();
    let mut slots = vec![(0_u64, 0_u64); n_slots];
    let mut n_groups = 0;
    for &key in keys {
        let mut at = (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> shift) as usize;
        loop {
            let (slot, count) = &mut slots[at];
            if *count == 0 {
                (*slot, *count) = (key, 1);
                n_groups += 1;
                break;
            }
            if *slot == key {
                *count += 1;
                break;
            }
            at = (at + 1) & (n_slots - 1);
        }
    }
    n_groups
}

fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The most memory that the process ever had, data and benchmark's own keys included.
pub(crate) fn peak_memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    peak.map_or("unknown".to_owned(), |peak| peak.trim().to_owned())
}

/// What this ran on.
pub(crate) fn machine() -> String {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let cpu = read("/proc/cpuinfo");
    let model = cpu
        .lines()
        .find_map(|line| line.strip_prefix("model name"))
        .map_or("unknown CPU", |rest| rest.trim_start_matches([' ', '\t', ':']));
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let commit = Command::new("git").args(["describe", "--always", "--dirty"]).output();
    let commit =
        commit.map_or("unknown".to_owned(), |out| String::from_utf8_lossy(&out.stdout).trim().to_owned());
    let memory = read("/proc/meminfo");
    let memory = memory.lines().next().unwrap_or("MemTotal: unknown").to_owned();
    format!("machine: {model}, {cores} cores, {memory}; commit {commit}; searches use one thread")
}
