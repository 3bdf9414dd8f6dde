//! Which judge, when nobody names one, for Incognito?
//!
//! Where nobody names an algorithm either, none of this is asked: `cover` and the search for the best node judge by `snapshots`,
//! the product. Incognito is a paper's algorithm. It may run on `bitmap`, also the product, or on the paper's own `roll-up` and
//! `cube`, which are there as reference implementations.
//!
//! What a judge costs follows roughly from the number of records n, the labels with the share of the rarest, and k:
//!
//! - *Families*: the subsets of attributes for which Incognito has nodes to judge. A node hardly holds if, were its
//!   attributes independent, its rarest labels met in fewer than k records. An attribute with one label takes the verdict of
//!   the smaller subset. So a family counts if the least rare of its levels with several labels leave k records.
//! - `roll-up` scans the records once a family. With a suppression budget far more nodes hold, in every family.
//! - `cube` scans them once, and then projects a set of groups for each subset of the attributes: at most the product of
//!   their labels at level 0, and at most n.
//! - `bitmap` builds an index, and then makes an intersection for each group of a node that holds, which is far less than
//!   a scan while groups are few. How many they are: the attributes' levels are lowered, one attribute after the other, as
//!   far as k records are left. With a budget it cannot stop early, and loses.
//!
//! 1. Where the cube costs no more than a scan for each attribute and one for a pair of them, take `cube`: hardly anything
//!    can be cheaper, and counting labels to find out would cost as much.
//! 2. Where the policy asks for more than rows, has a budget, or the source has no records or over a million, `bitmap` is
//!    out; so it is where its index does not fit in `memory`. `cube` is out where its sets do not fit, or there are too many.
//! 3. Of what is left, the one with the smallest estimate; on a tie the first of `roll-up`, `cube`, `bitmap`.
//!
//! `scan` and `sort` never win. `super-roots` saves scans, but the few it saves are made up for by larger sets
//! (`bench/HISTORY.md`): it stays close to `roll-up` on small tables and falls behind on large ones.
//!
//! Cost: a count of each attribute, unless step 1 decides or there are over a million records, and some steps for each
//! subset of at most 16 attributes. Of more, 16 stand for all: the first ones that have several labels, and for the cube
//! those that have the most.

use crate::error::Result;
use crate::frequency::{FrequencySet, FrequencySource, Method, Scratch, counted};
use crate::group::Demand;
use crate::judge::{BitmapOptions, CubeOptions, JudgeKind, Materialize, Problem, bitmap, cube, tuning};
use crate::lattice::Grouping;

/// What the judges that can be chosen would cost, in nanoseconds of the machine that the constants were measured on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimates {
    /// A scan for each family; `None` where it was not worth finding out.
    pub roll_up: Option<f64>,
    /// A scan and a projection for each subset; `None` where it may not be used.
    pub cube: Option<f64>,
    /// An index and some intersections for each family; `None` where it may not be used, or was not worth finding out.
    pub bitmap: Option<f64>,
}

/// The judge to use with Incognito when nobody names one; what it keeps should take at most `memory` bytes.
pub fn choose(problem: Problem<'_>, memory: Option<u64>) -> Result<JudgeKind> {
    // Where the source limits memory, as much as a cube may take.
    let memory = memory.into_iter().chain(problem.source.room().map(|room| room / 4)).min();
    let estimates = estimate(problem, memory)?;
    let cube = CubeOptions { materialize: Materialize::ZeroLevel, memory };
    let bitmap = BitmapOptions { memory, ..BitmapOptions::BEST };
    let mut best = (f64::INFINITY, JudgeKind::RollUp);
    for (cost, judge) in [
        (estimates.roll_up, JudgeKind::RollUp),
        (estimates.cube, JudgeKind::Cube(cube)),
        (estimates.bitmap, JudgeKind::Bitmap(bitmap)),
    ] {
        if let Some(cost) = cost.filter(|cost| *cost < best.0) {
            best = (cost, judge);
        }
    }
    Ok(best.1)
}

/// What the judges would cost.
pub fn estimate(problem: Problem<'_>, memory: Option<u64>) -> Result<Estimates> {
    let Problem { source, policy } = problem;
    let n = source.n_rows() as f64;
    let cube = cube(source, memory);
    let few_scans = source.layout().heights().len() as f64 + 1.0;
    if cube.is_some_and(|cost| cost <= few_scans * n * tuning::SCAN.get()) {
        return Ok(Estimates { roll_up: None, cube, bitmap: None });
    }
    let attributes = attributes(source)?;
    let n_subsets = (1_u64 << attributes.len()) as f64 - 1.0;
    if policy.budget() > 0 {
        let roll_up = tuning::BUDGET_SCANS.get() * n_subsets * n * tuning::SCAN.get();
        return Ok(Estimates { roll_up: Some(roll_up), cube, bitmap: None });
    }
    let least = policy.least_admitted(source.n_rows())?;
    let (n_families, n_lines) = families(&attributes, n, least.unwrap_or(1) as f64);
    let can_be_bitmap = source.n_rows() <= tuning::COUNTED_RECORDS.get()
        && least.is_some()
        && source.records().is_some()
        && memory.map_or(Ok(true), |memory| bitmap::fits(source, memory))?;
    let n_labels: usize = attributes.iter().flatten().map(|level| level.n_labels).sum();
    let index = attributes.len() as f64 * n * tuning::INDEX.get() + n_labels as f64 * tuning::LABEL.get();
    Ok(Estimates {
        roll_up: Some(n_families * (n * tuning::SCAN.get() + tuning::FAMILY.get())),
        cube,
        bitmap: can_be_bitmap.then_some(index + n_lines),
    })
}

/// What the cube would cost, without looking at a record.
fn cube(source: &dyn FrequencySource, memory: Option<u64>) -> Option<f64> {
    let layout = source.layout();
    let n = source.n_rows() as f64;
    let n_attributes = layout.heights().len();
    if n_attributes > cube::MAX_CUBE_ATTRIBUTES {
        return None;
    }
    let mut n_labels: Vec<f64> =
        (0..n_attributes).map(|attribute| layout.n_labels(attribute, 0) as f64).collect();
    n_labels.sort_by(|a, b| b.total_cmp(a));
    n_labels.truncate(tuning::ESTIMATED_ATTRIBUTES.get());
    let n_groups = groups_of_subsets(&n_labels, n);
    let fits = memory.is_none_or(|memory| n_groups * tuning::PROJECTED_BYTES.get() <= memory as f64);
    let sets = (1_u64 << n_labels.len()) as f64 * tuning::SET.get();
    fits.then_some(
        tuning::CUBE_SCANS.get() * n * tuning::SCAN.get() + n_groups * tuning::PROJECT.get() + sets,
    )
}

/// The sum over all subsets of the product of their numbers, or `most` where that is less.
fn groups_of_subsets(numbers: &[f64], most: f64) -> f64 {
    let mut sum = 0.0;
    let mut stack = vec![(1.0, numbers)];
    while let Some((product, numbers)) = stack.pop() {
        match numbers {
            // Whatever joins, it stays the most.
            _ if product >= most => sum += most * (1_u64 << numbers.len()) as f64,
            [] => sum += product,
            [next, rest @ ..] => stack.extend([(product, rest), (product * next, rest)]),
        }
    }
    // The empty subset is no set of groups.
    sum - 1.0_f64.min(most)
}

/// A level of an attribute that has several labels.
#[derive(Debug, Clone, Copy)]
struct LevelLabels {
    n_labels: usize,
    /// The share of the records that the rarest has.
    rarest: f64,
}

/// The levels with several labels of each attribute that has any, the most detailed first.
fn attributes(source: &dyn FrequencySource) -> Result<Vec<Vec<LevelLabels>>> {
    let layout = source.layout();
    let mut scratch = Scratch::default();
    let mut attributes = Vec::new();
    for (attribute, height) in layout.heights().into_iter().enumerate() {
        if attributes.len() == tuning::ESTIMATED_ATTRIBUTES.get() {
            break;
        }
        let grouping = |level: u8| {
            let mut grouping = Grouping::NOTHING;
            grouping.set(attribute, level);
            grouping
        };
        let mut levels = Vec::new();
        let mut below: Option<FrequencySet> = None;
        for level in (0..=height).filter(|&level| layout.n_labels(attribute, level) > 1) {
            let n_labels = layout.n_labels(attribute, level);
            if source.n_rows() > tuning::COUNTED_RECORDS.get() {
                levels.push(LevelLabels { n_labels, rarest: 1.0 / n_labels as f64 });
                continue;
            }
            let set = match &below {
                None => counted(source, &grouping(level), &Demand::default(), Method::Auto)?,
                Some(below) => below.roll_up(&grouping(level), &mut scratch),
            };
            let fewest = set.measures().rows().iter().copied().min().unwrap_or(0);
            levels.push(LevelLabels { n_labels, rarest: fewest as f64 / source.n_rows() as f64 });
            below = Some(set);
        }
        if !levels.is_empty() {
            attributes.push(levels);
        }
    }
    Ok(attributes)
}

/// How many families have nodes to judge, and what intersecting their sets costs.
fn families(attributes: &[Vec<LevelLabels>], n: f64, least: f64) -> (f64, f64) {
    let (mut n_families, mut cost) = (0.0, 0.0);
    for subset in 1_u64..1 << attributes.len() {
        let members = || (0..attributes.len()).filter(|at| subset >> at & 1 == 1).map(|at| &attributes[at]);
        let least_rare =
            |levels: &[LevelLabels]| *levels.last().expect("only attributes with levels are here");
        let mut records = members().fold(n, |records, levels| records * least_rare(levels).rarest);
        if records < least {
            continue;
        }
        let mut n_groups = 1.0;
        for levels in members() {
            let top = least_rare(levels);
            let of = |level: &LevelLabels| records / top.rarest * level.rarest;
            let level = levels.iter().find(|level| of(level) >= least).copied().unwrap_or(top);
            records = of(&level);
            n_groups *= level.n_labels as f64;
        }
        n_families += 1.0;
        let n_attributes = f64::from(subset.count_ones());
        cost +=
            (n_groups * n / 512.0 * tuning::INTERSECT.get()).min(n_attributes * n * tuning::LOOK_UP.get());
    }
    (n_families, cost)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_groups_of_all_subsets_add_up() {
        // 2 + 3 + 5 + 6 + 10 + 15 + 30, and with 7 at most 2 + 3 + 5 + 6 + 7 + 7 + 7.
        assert_eq!(groups_of_subsets(&[2.0, 3.0, 5.0], 1000.0), 71.0);
        assert_eq!(groups_of_subsets(&[2.0, 3.0, 5.0], 7.0), 37.0);
        assert_eq!(groups_of_subsets(&[], 7.0), 0.0);
    }

    #[test]
    fn a_family_counts_where_its_least_rare_labels_leave_k_records() {
        let half = vec![LevelLabels { n_labels: 2, rarest: 0.5 }];
        let fine = vec![LevelLabels { n_labels: 10, rarest: 0.01 }, LevelLabels { n_labels: 2, rarest: 0.5 }];
        // Of 100 records a half each leave 50 and 25.
        let (n_families, _) = families(&[half.clone(), half.clone()], 100.0, 26.0);
        assert_eq!(n_families, 2.0, "each alone, not both");
        let (n_families, _) = families(&[half.clone(), fine], 100.0, 25.0);
        assert_eq!(n_families, 3.0);
    }

    #[test]
    fn levels_are_lowered_as_far_as_k_records_are_left() {
        let levels =
            vec![LevelLabels { n_labels: 10, rarest: 0.01 }, LevelLabels { n_labels: 2, rarest: 0.5 }];
        let (_, detailed) = families(std::slice::from_ref(&levels), 51_200.0, 512.0);
        let (_, general) = families(&[levels], 51_200.0, 513.0);
        assert_eq!(detailed, 10.0 * 100.0 * tuning::INTERSECT.get());
        assert_eq!(general, 2.0 * 100.0 * tuning::INTERSECT.get());
    }
}
