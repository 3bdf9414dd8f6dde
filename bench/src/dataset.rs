//! The tables of the paper's experiments.
//!
//! Adult comes from the folder named by `INCOG_DATA` or `../shared/data` beside the project. Lands End is made
//! by `bench/gen_landsend.py` in the target folder, once.

use std::path::{Path, PathBuf};
use std::process::Command;

use incog_core::hierarchy::{Attribute, Attributes, ExplicitHierarchy};
use incog_core::table::{Column, Role, Table};
use incog_core::{Error, ErrorKind, Progress, Result};

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
        let table = incog::unstable::source::Csv::open(data, Some(b','))?
            .read(|_| Role::QuasiIdentifier, &Progress::new())?;
        Dataset::bind(name, table, hierarchies)
    }

    fn bind(name: &str, table: Table, hierarchies: &Path) -> Result<Self> {
        let attributes = table.columns().iter().map(|column| {
            let file = hierarchies.join(format!("{}.csv", column.name()));
            let hierarchy = incog::unstable::source::read_hierarchy(&file, column.name())?;
            Attribute::bind(column, hierarchy, &file.display().to_string())
        });
        let attributes = Attributes::new(attributes.collect::<Result<_>>()?)?;
        Ok(Dataset { name: format!("{name} ({} rows)", table.n_rows()), table, attributes })
    }

    /// These columns of Adult. More rows than Adult has are drawn from its own, whole, so that all correlations stay.
    pub(crate) fn adult_of(names: &[&str], n_rows: Option<usize>) -> Result<Self> {
        let adult = Dataset::adult()?;
        let n_adult = adult.table.n_rows();
        let mut random = Random(1);
        let drawn: Vec<usize> = match n_rows {
            Some(n_rows) => (0..n_rows).map(|_| random.below(n_adult)).collect(),
            None => (0..n_adult).collect(),
        };
        let columns = names.iter().map(|name| {
            let column = adult.table.column(name).ok_or_else(|| Error::input("Adult has no such column"))?;
            let cells = drawn.iter().map(|&row_idx| column.cell(row_idx));
            Column::from_cells(*name, Role::QuasiIdentifier, cells)
        });
        let table = Table::new(columns.collect::<Result<_>>()?)?;
        Dataset::bind("Adult", table, &project().join("testdata/hierarchies/adult"))
    }

    /// A table made up: `n_attributes` columns of `n_values` each, of which the first are the most frequent, and a
    /// hierarchy that joins four at a time.
    pub(crate) fn made_up(n_rows: usize, n_attributes: usize, n_values: usize) -> Result<Self> {
        Dataset::joining(n_rows, n_attributes, n_values, 4)
    }

    /// The same with a hierarchy that joins `factor` at a time.
    fn joining(n_rows: usize, n_attributes: usize, n_values: usize, factor: usize) -> Result<Self> {
        let mut random = Random(7);
        let mut columns = Vec::new();
        let mut attributes = Vec::new();
        for at in 0..n_attributes {
            let cells: Vec<String> = (0..n_rows)
                .map(|_| {
                    let share = random.below(1 << 20) as f64 / (1 << 20) as f64;
                    ((share * share * n_values as f64) as usize).to_string()
                })
                .collect();
            let cells = cells.iter().map(String::as_str);
            let column = Column::from_cells(format!("column {at}"), Role::QuasiIdentifier, cells)?;
            let mut hierarchy = ExplicitHierarchy::new(column.name(), "made up");
            for value in 0..n_values {
                let mut row = vec![value.to_string()];
                let mut width = factor;
                while width < n_values {
                    row.push(format!("{} of {width}", value / width));
                    width *= factor;
                }
                row.push("*".into());
                hierarchy.push(value as u64 + 1, row.iter().map(String::as_str))?;
            }
            attributes.push(Attribute::bind(&column, hierarchy.finish()?, "made up")?);
            columns.push(column);
        }
        let name = format!("{n_rows} rows, {n_attributes} columns of {n_values} values");
        Ok(Dataset { name, table: Table::new(columns)?, attributes: Attributes::new(attributes)? })
    }

    /// A table whose lattice can have any size from 2^7 to 10^7 nodes, whatever its rows: seven columns of 512 values, of which the first
    /// are the most frequent, and a hierarchy that joins two at a time; of its ten levels, `n_levels` are left to choose from,
    /// evenly spread, the first and the last among them.
    pub(crate) fn of_levels(n_rows: usize, n_levels: u8) -> Result<Self> {
        const HEIGHT: u8 = 9;
        let data = Dataset::joining(n_rows, 7, 1 << HEIGHT, 2)?;
        let numbers: Vec<u8> = (0..n_levels).map(|at| at * HEIGHT / (n_levels - 1)).collect();
        let attributes = data.attributes.iter().map(|attribute| attribute.clone().with_levels(&numbers));
        Ok(Dataset { attributes: Attributes::new(attributes.collect::<Result<_>>()?)?, ..data })
    }

    /// `n_rows` of the table's rows, evenly spread.
    pub(crate) fn thinned(&self, n_rows: usize) -> Result<Self> {
        let n_all = self.table.n_rows();
        let columns = self.table.columns().iter().map(|column| {
            let cells =
                (0..n_rows).map(|at| column.cell((at as u128 * n_all as u128 / n_rows as u128) as usize));
            Column::from_cells(column.name(), Role::QuasiIdentifier, cells)
        });
        let table = Table::new(columns.collect::<Result<_>>()?)?;
        let attributes = table.columns().iter().zip(self.attributes.iter()).map(|(column, attribute)| {
            Attribute::bind(column, attribute.hierarchy().clone(), attribute.name())
        });
        let attributes = Attributes::new(attributes.collect::<Result<_>>()?)?;
        Ok(Dataset { name: self.name.clone(), table, attributes })
    }

    /// Some attributes by name, and the keys that base groups by for them.
    pub(crate) fn of(&self, names: &[&str]) -> Result<(Attributes, Vec<u64>)> {
        let attributes = names.iter().map(|name| {
            let found = self.attributes.iter().find(|attribute| attribute.name() == *name);
            found.cloned().ok_or_else(|| Error::input("the table has no such column"))
        });
        let columns = names.iter().filter_map(|name| self.table.column(name));
        Ok((Attributes::new(attributes.collect::<Result<_>>()?)?, self.keys_of(columns)))
    }

    /// The rows at level 0 as mixed-radix numbers: what base groups by. No code of the engine takes part.
    pub(crate) fn plain_keys(&self, n_attributes: usize) -> Vec<u64> {
        self.keys_of(self.table.columns()[..n_attributes].iter())
    }

    fn keys_of<'a>(&self, columns: impl Iterator<Item = &'a Column>) -> Vec<u64> {
        let mut keys = vec![0_u64; self.table.n_rows()];
        for column in columns {
            let n_values = column.dictionary().len() as u64;
            for (key, &code) in keys.iter_mut().zip(column.codes()) {
                *key = key.checked_mul(n_values).expect("the benchmark tables fit 64 bits") + u64::from(code);
            }
        }
        keys
    }
}

/// SplitMix64: the same numbers everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^= mixed >> 31;
        ((u128::from(mixed) * n as u128) >> 64) as usize
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

/// The project's folder.
pub(crate) fn project() -> PathBuf {
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
