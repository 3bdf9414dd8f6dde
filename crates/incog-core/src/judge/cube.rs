//! Groups from frequency sets computed beforehand (Cube Incognito, section 3.3.2).
//!
//! 1. Scan the records once, at level 0 of every attribute.
//! 2. For every smaller subset of the attributes, largest first, project the smallest known set with one
//!    attribute more. Now each family has its zero-generalization frequency set.
//! 3. *Strategic materialization* (the paper's future work): do the same once more with every attribute at
//!    level 1, then at level 2, and so on (or its top, where that is lower), as far as the memory bound allows.
//!    A root is rolled up from the smallest stored set below it.
//! 4. Or choose *by benefit*, as Harinarayan, Rajaraman and Ullman do for data cubes (SIGMOD 1996, which the paper cites): the benefit of
//!    a set is the number of groups that need not be read, summed over all subsets that it would serve better than what is stored.
//!    Store the set with the greatest benefit for its size, again and again, until nothing fits the memory bound or helps. Sizes are
//!    estimated from the numbers of labels before a set is computed, so what is not stored costs nothing.
//!
//! Differs from the paper: (1) a subset whose keys keep all bits of the set it would be projected from (it only
//! lacks attributes with one value) shares that set; (2) with a memory bound, a set that would exceed it is not
//! stored, and its family uses the smallest stored superset instead (to know its size it is computed all the same).
//! The set of all attributes at level 0 is always stored.
//!
//! Whoever searches the same records again may keep the sets ([`cube_sets`]), and nothing is computed beforehand the next time.
//!
//! Cost: 2^q projections for q attributes; memory: all sets, unless bounded. Where the source limits memory, a quarter of its
//! room; if the set of all attributes at level 0 does not fit, the cube is refused with what it needs.

use std::sync::Arc;

use crate::error::{Error, ErrorKind, Result};
use crate::frequency::{FrequencySet, Scratch};
use crate::hash;
use crate::judge::roll_up::{Origin, RollUpJudge, Shared};
use crate::judge::{Judge, Judges, Keep, Problem, Work};
use crate::lattice::{Grouping, Lattice};
use crate::progress::Progress;

/// A cube of more attributes than this has over a million sets.
pub(super) const MAX_CUBE_ATTRIBUTES: usize = 20;

/// Attributes. With more, comparing every set with each of its subsets after each choice would take longer than the search.
const MAX_BENEFIT_ATTRIBUTES: usize = 10;

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
    /// Of level 0 those subsets that spare the most groups for their size.
    ByBenefit,
}

impl CubeOptions {
    /// The paper's cube: level 0 of every subset, all kept.
    pub const ZERO_LEVEL: CubeOptions = CubeOptions { materialize: Materialize::ZeroLevel, memory: None };
}

/// The frequency sets of a cube, each once, to be kept for other searches of the same records
/// ([`WithSets`](crate::frequency::WithSets)).
pub fn cube_sets(
    problem: Problem<'_>,
    options: CubeOptions,
    progress: &Progress,
) -> Result<Vec<Arc<FrequencySet>>> {
    let cube = Cube::build(problem, options, progress)?;
    let mut sets: Vec<Arc<FrequencySet>> = cube.sets.into_values().flatten().collect();
    // In an order that does not depend on hashing: of two sets, the one with more attributes, or at lower levels, first.
    let n_attributes = problem.source.layout().heights().len();
    sets.sort_by_cached_key(|set| -> Vec<Option<u8>> {
        (0..n_attributes).map(|attribute| set.grouping().level(attribute)).collect()
    });
    sets.dedup_by(|a, b| a.grouping() == b.grouping());
    Ok(sets)
}

pub(super) struct Cube<'a> {
    problem: Problem<'a>,
    /// For each subset of attributes (a bit each) the stored sets, one per level at most.
    sets: hash::Map<u64, Vec<Arc<FrequencySet>>>,
    shared: Shared,
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
        if !problem.source.kept_sets().is_empty() {
            return Cube::of_kept(problem);
        }
        let zero = Grouping::of_levels(&vec![0; heights.len()]);
        let base = match problem.count_within(&zero)? {
            Ok(base) => Arc::new(base),
            Err(too_many) => {
                return Err(too_many.refuse("a cube", "allow more memory, or set checker = \"roll-up\""));
            }
        };
        // A quarter of the room is for the cube, a quarter for what judges keep, the rest for what is being counted.
        let room = problem.source.room().map(|room| room / 4);
        let mut left = options.memory.into_iter().chain(room).min();
        let shared = Shared::new(problem, room.unwrap_or(0));
        let mut cube = Cube { problem, sets: hash::Map::default(), shared, work: Work::default() };
        cube.work.table_scans += 1;
        let mut scratch = Scratch::default();
        if options.materialize == Materialize::ByBenefit {
            cube.add_by_benefit(&base, left, &mut scratch, progress)?;
            return Ok(cube);
        }
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

    /// A cube that was computed before: nothing is left to do.
    fn of_kept(problem: Problem<'a>) -> Result<Self> {
        if !problem.policy.demand().counts_rows_only() {
            return Err(Error::new(
                ErrorKind::Policy,
                "a cube that is kept between runs is for k-anonymity of rows",
            )
            .with_hint("leave out --cube, or the other requirements"));
        }
        let room = problem.source.room().map(|room| room / 4);
        let n_bytes = problem.source.kept_sets().iter().map(|set| set.n_bytes()).sum::<u64>();
        if let Some(room) = room.filter(|&room| n_bytes > room) {
            let message = format!("the cube takes {n_bytes} bytes; there is room for {room}");
            return Err(
                Error::new(ErrorKind::Limit, message).with_hint("allow more memory, or leave out --cube")
            );
        }
        let shared = Shared::new(problem, room.unwrap_or(0));
        Ok(Cube { problem, sets: hash::Map::default(), shared, work: Work::default() })
    }

    /// Stores `full` and those of its projections that help most for their size, as far as memory is left.
    fn add_by_benefit(
        &mut self,
        full: &Arc<FrequencySet>,
        mut left: Option<u64>,
        scratch: &mut Scratch,
        progress: &Progress,
    ) -> Result<()> {
        let layout = self.problem.source.layout();
        let n_attributes = layout.heights().len();
        if n_attributes > MAX_BENEFIT_ATTRIBUTES {
            return Err(Error::new(
                ErrorKind::Limit,
                format!(
                    "a cube of {n_attributes} attributes by benefit; at most {MAX_BENEFIT_ATTRIBUTES} are possible"
                ),
            )
            .with_hint("set cube_levels = \"zero-level\""));
        }
        let n_sets = 1_usize << n_attributes;
        let labels: Vec<usize> = (0..n_attributes).map(|attribute| layout.n_labels(attribute, 0)).collect();
        let sizes: Vec<f64> =
            (0..n_sets).map(|subset| estimated_groups(&labels, subset, full.n_groups())).collect();
        let bytes_a_group = full.n_bytes() as f64 / full.n_groups().max(1) as f64;
        // For each subset the smallest stored set that it can be made from.
        let mut serves: Vec<Arc<FrequencySet>> = vec![Arc::clone(full); n_sets];
        let mut is_open = vec![true; n_sets];
        is_open[n_sets - 1] = false;
        spend(&mut left, full.n_bytes());
        loop {
            progress.check()?;
            let costs: Vec<f64> = serves.iter().map(|set| set.n_groups() as f64).collect();
            let fits = |subset: usize| left.is_none_or(|left| sizes[subset] * bytes_a_group <= left as f64);
            let best = (1..n_sets)
                .filter(|&subset| is_open[subset] && fits(subset))
                .map(|subset| (benefit(&costs, subset, sizes[subset]) / sizes[subset].max(1.0), subset))
                .filter(|&(benefit, _)| benefit > 0.0)
                .max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
            let Some((_, subset)) = best else { break };
            is_open[subset] = false;
            let mut grouping = *full.grouping();
            for attribute in (0..n_attributes).filter(|attribute| subset >> attribute & 1 == 0) {
                grouping.clear(attribute);
            }
            self.work.groups_touched += serves[subset].n_groups() as u64;
            let set = Arc::new(serves[subset].roll_up(&grouping, scratch));
            if left.is_some_and(|left| set.n_bytes() > left) {
                continue;
            }
            spend(&mut left, set.n_bytes());
            for (other, serving) in serves.iter_mut().enumerate() {
                if other & subset == other && set.n_groups() < serving.n_groups() {
                    *serving = Arc::clone(&set);
                }
            }
        }
        for (subset, set) in serves.into_iter().enumerate().skip(1) {
            self.sets.insert(subset as u64, vec![set]);
        }
        Ok(())
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

/// How many groups a subset of the attributes has, were they independent and all labels alike: of as many combinations as there are,
/// those that `n_full` groups meet.
fn estimated_groups(labels: &[usize], subset: usize, n_full: usize) -> f64 {
    let members = labels.iter().enumerate().filter(|(attribute, _)| subset >> attribute & 1 == 1);
    let n_combinations: f64 = members.map(|(_, &n)| n as f64).product();
    let n_full = n_full as f64;
    // Of very many combinations each group meets another one.
    if n_combinations > 1e12 {
        return n_full;
    }
    let met = -n_combinations * (n_full * (-1.0 / n_combinations.max(1.0)).ln_1p()).exp_m1();
    if n_combinations <= 1.0 { 1.0_f64.min(n_full) } else { met.min(n_full) }
}

/// How many groups fewer would be read if a set of `size` groups were stored for a subset, over all of its subsets.
fn benefit(costs: &[f64], subset: usize, size: f64) -> f64 {
    let mut sum = 0.0;
    let mut served = subset;
    while served > 0 {
        sum += (costs[served] - size).max(0.0);
        // The next smaller subset of it.
        served = (served - 1) & subset;
    }
    sum
}

fn spend(left: &mut Option<u64>, bytes: u64) {
    if let Some(left) = left {
        *left = left.saturating_sub(bytes);
    }
}

impl Judges for Cube<'_> {
    fn open<'a>(&'a self, family: &'a Lattice, _: &[usize], keep: Keep) -> Result<Box<dyn Judge + 'a>> {
        let subset = family.attributes().iter().fold(0, |subset, attribute| subset | 1_u64 << attribute);
        // Sets that were kept: whichever has all attributes of the family.
        let has_all = |set: &&Arc<FrequencySet>| {
            family.attributes().iter().all(|&attribute| set.grouping().level(attribute).is_some())
        };
        let origin = Origin::Stored(match self.sets.get(&subset) {
            Some(sets) => sets.iter().collect(),
            None => self.problem.source.kept_sets().iter().filter(has_all).collect(),
        });
        Ok(Box::new(RollUpJudge::new(self.problem, &self.shared, family, keep, origin)))
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

    #[test]
    fn by_benefit_the_sets_come_first_that_spare_most_for_their_size() {
        assert_eq!(stored(Materialize::ByBenefit, None), [512, 64, 64, 64, 8, 8, 8], "all of them help");
        // A single column spares 504 groups with 8, a pair 3 times 448 with 64: columns come first.
        assert_eq!(stored(Materialize::ByBenefit, Some((512 + 64 + 16) * 16)), [512, 8, 8, 8]);
        assert_eq!(stored(Materialize::ByBenefit, Some((512 + 64 + 24) * 16)), [512, 64, 8, 8, 8]);
        assert_eq!(stored(Materialize::ByBenefit, Some((512 + 9) * 16)), [512, 8]);
        assert_eq!(stored(Materialize::ByBenefit, Some(0)), [512]);
    }

    #[test]
    fn sizes_are_estimated_between_one_and_all() {
        let labels = [2, 3, 1_000_000];
        assert_eq!(estimated_groups(&labels, 0b001, 1_000_000).round(), 2.0);
        assert_eq!(estimated_groups(&labels, 0b011, 1_000_000).round(), 6.0);
        let rows = estimated_groups(&labels, 0b111, 1000);
        assert!((999.0..=1000.0).contains(&rows), "{rows}");
        assert_eq!(estimated_groups(&[1, 1], 0b11, 500), 1.0);
        // Every subset of {0, 1} but itself is served by it: 10 - 4 twice, 10 - 4 for itself.
        assert_eq!(benefit(&[0.0, 10.0, 10.0, 10.0], 0b11, 4.0), 18.0);
    }
}
