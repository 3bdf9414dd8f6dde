//! Groups from frequency sets computed beforehand (Cube Incognito, section 3.3.2).
//!
//! 1. Scan the records once, at level 0 of every attribute.
//! 2. For every smaller subset of the attributes, largest first, project the smallest known set with one
//!    attribute more. Now each family has its zero-generalization frequency set.
//! 3. *Strategic materialization* (the paper's future work): do the same once more with every attribute at
//!    level 1, then at level 2, and so on (or its top, where that is lower), as far as the memory bound allows.
//!    A root is rolled up from the smallest stored set below it.
//!
//! Differs from the paper: (1) a subset whose keys keep all bits of the set it would be projected from (it only
//! lacks attributes with one value) shares that set; (2) with a memory bound, a set that would exceed it is not
//! stored, and its family uses the smallest stored superset instead (to know its size it is computed all the same).
//! The set of all attributes at level 0 is always stored.
//!
//! Cost: 2^q projections for q attributes; memory: all sets, unless bounded.

use std::sync::Arc;

use crate::error::{Error, ErrorKind, Result};
use crate::frequency::{FrequencySet, Scratch};
use crate::hash;
use crate::judge::roll_up::{Origin, RollUpJudge};
use crate::judge::{Judge, Judges, Keep, Problem, Work};
use crate::lattice::{Grouping, Lattice};
use crate::progress::Progress;

/// A cube of more attributes than this has over a million sets.
pub(super) const MAX_CUBE_ATTRIBUTES: usize = 20;

/// What to compute beforehand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CubeOptions {
    /// Which levels to compute.
    pub materialize: Materialize,
    /// How many bytes the sets may take; without a bound all are kept.
    pub memory: Option<u64>,
}

/// Which levels to compute beforehand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Materialize {
    /// Level 0 only, as in the paper.
    ZeroLevel,
    /// Level 0, then all attributes at level 1, at level 2, ...
    EveryLevel,
}

impl CubeOptions {
    /// The paper's cube: level 0 of every subset, all kept.
    pub const ZERO_LEVEL: CubeOptions = CubeOptions { materialize: Materialize::ZeroLevel, memory: None };
}

pub(super) struct Cube<'a> {
    problem: Problem<'a>,
    /// For each subset of attributes (a bit each) the stored sets, one per level at most.
    sets: hash::Map<u64, Vec<Arc<FrequencySet>>>,
    work: Work,
}

impl<'a> Cube<'a> {
    pub(super) fn build(problem: Problem<'a>, options: CubeOptions, progress: &Progress) -> Result<Self> {
        let heights = problem.source.layout().heights();
        if heights.len() > MAX_CUBE_ATTRIBUTES {
            return Err(Error::new(
                ErrorKind::Limit,
                format!("a cube of {} attributes; at most {MAX_CUBE_ATTRIBUTES} are possible", heights.len()),
            )
            .with_hint("set checker = \"super-roots\""));
        }
        let mut cube = Cube { problem, sets: hash::Map::default(), work: Work::default() };
        let zero = Grouping::of_levels(&vec![0; heights.len()]);
        let base = Arc::new(problem.count(&zero)?);
        cube.work.table_scans += 1;
        let mut left = options.memory;
        let mut scratch = Scratch::default();
        cube.add_level(&base, &mut left, &mut scratch, progress)?;
        if options.materialize == Materialize::EveryLevel {
            let mut below = base;
            for level in 1..=heights.iter().copied().max().unwrap_or(0) {
                let levels: Vec<u8> = heights.iter().map(|&height| height.min(level)).collect();
                cube.work.groups_touched += below.n_groups() as u64;
                below = Arc::new(below.roll_up(&Grouping::of_levels(&levels), &mut scratch));
                if left.is_some_and(|left| below.n_bytes() > left) {
                    break;
                }
                cube.add_level(&below, &mut left, &mut scratch, progress)?;
            }
        }
        Ok(cube)
    }

    /// Stores `full` and its projections to all subsets of the attributes, as far as memory is left.
    fn add_level(
        &mut self,
        full: &Arc<FrequencySet>,
        left: &mut Option<u64>,
        scratch: &mut Scratch,
        progress: &Progress,
    ) -> Result<()> {
        let layout = self.problem.source.layout();
        let n_attributes = layout.heights().len();
        let everything = (1_u64 << n_attributes) - 1;
        let mut level_sets: hash::Map<u64, Arc<FrequencySet>> = hash::Map::default();
        level_sets.insert(everything, Arc::clone(full));
        spend(left, full.n_bytes());
        let mut subsets: Vec<u64> = (1..everything).collect();
        subsets.sort_unstable_by_key(|subset| (std::cmp::Reverse(subset.count_ones()), *subset));
        for subset in subsets {
            progress.check()?;
            let mut grouping = *full.grouping();
            for attribute in (0..n_attributes).filter(|attribute| subset >> attribute & 1 == 0) {
                grouping.clear(attribute);
            }
            let larger = (0..n_attributes)
                .filter(|attribute| subset >> attribute & 1 == 0)
                .map(|attribute| &level_sets[&(subset | 1 << attribute)])
                .min_by_key(|set| set.n_groups())
                .expect("a proper subset lacks an attribute");
            let set = if layout.n_bits_at(&grouping) == layout.n_bits_at(larger.grouping()) {
                Arc::clone(larger)
            } else {
                self.work.groups_touched += larger.n_groups() as u64;
                let set = Arc::new(larger.roll_up(&grouping, scratch));
                if left.is_some_and(|left| set.n_bytes() > left) {
                    Arc::clone(larger)
                } else {
                    spend(left, set.n_bytes());
                    set
                }
            };
            level_sets.insert(subset, set);
        }
        for (subset, set) in level_sets {
            self.sets.entry(subset).or_default().push(set);
        }
        Ok(())
    }
}

fn spend(left: &mut Option<u64>, bytes: u64) {
    if let Some(left) = left {
        *left = left.saturating_sub(bytes);
    }
}

impl Judges for Cube<'_> {
    fn open<'a>(&'a self, family: &'a Lattice, _: &[usize], keep: Keep) -> Result<Box<dyn Judge + 'a>> {
        let subset = family.attributes().iter().fold(0, |subset, attribute| subset | 1_u64 << attribute);
        let origin = Origin::Stored(self.sets[&subset].iter().collect());
        Ok(Box::new(RollUpJudge::new(self.problem, family, keep, origin)))
    }

    fn preparation(&self) -> Work {
        self.work
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frequency::Rows;
    use crate::hierarchy::{Attribute, Attributes, ExplicitHierarchy};
    use crate::privacy::Policy;
    use crate::table::{Column, Role, Table};

    /// Three columns of 8 values each; level 1 halves the values. All 512 combinations occur.
    fn rows() -> Rows {
        let mut columns = Vec::new();
        for at in 0..3 {
            let cells: Vec<String> = (0..512).map(|row| (row >> (3 * at) & 7).to_string()).collect();
            columns.push(
                Column::from_cells(format!("c{at}"), Role::QuasiIdentifier, cells.iter().map(String::as_str))
                    .unwrap(),
            );
        }
        let table = Table::new(columns).unwrap();
        let attributes = table.columns().iter().map(|column| {
            let mut hierarchy = ExplicitHierarchy::new(column.name(), "test");
            for value in 0..8 {
                hierarchy
                    .push(value + 1, [value.to_string().as_str(), if value < 4 { "low" } else { "high" }])
                    .unwrap();
            }
            Attribute::bind(column, hierarchy.finish().unwrap(), "test").unwrap()
        });
        let attributes = Attributes::new(attributes.collect()).unwrap();
        Rows::new(&table, &attributes).unwrap()
    }

    /// The distinct sets that a cube stores, by groups, largest first.
    fn stored(materialize: Materialize, memory: Option<u64>) -> Vec<usize> {
        let rows = rows();
        let policy = Policy::k_anonymity(2).unwrap();
        let problem = Problem { source: &rows, policy: &policy };
        let cube = Cube::build(problem, CubeOptions { materialize, memory }, &Progress::new()).unwrap();
        let mut sets: Vec<&Arc<FrequencySet>> = cube.sets.values().flatten().collect();
        sets.sort_by_key(|set| Arc::as_ptr(set));
        sets.dedup_by_key(|set| Arc::as_ptr(set));
        let n_bytes: u64 = sets.iter().map(|set| set.n_bytes()).sum();
        assert!(memory.is_none_or(|memory| n_bytes <= memory.max(512 * 16)), "{n_bytes} bytes");
        let mut sizes: Vec<usize> = sets.iter().map(|set| set.n_groups()).collect();
        sizes.sort_unstable_by(|a, b| b.cmp(a));
        sizes
    }

    #[test]
    fn a_cube_stores_every_subset_and_level_as_far_as_memory_allows() {
        let zero = [512, 64, 64, 64, 8, 8, 8];
        assert_eq!(stored(Materialize::ZeroLevel, None), zero);
        assert_eq!(stored(Materialize::EveryLevel, None), [512, 64, 64, 64, 8, 8, 8, 8, 4, 4, 4, 2, 2, 2]);
        // 16 bytes a group: the full set, one pair, and what is small enough beside them.
        assert_eq!(stored(Materialize::ZeroLevel, Some((512 + 64 + 16) * 16)), [512, 64, 8, 8]);
        assert_eq!(stored(Materialize::EveryLevel, Some(0)), [512], "the full set is always stored");
    }
}
