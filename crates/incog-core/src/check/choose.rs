//! Which checker, when nobody names one?
//!
//! What a checker costs follows roughly from the number of records n, the numbers of labels, and k, all known without
//! looking at a record:
//!
//! - *families*: the subsets of attributes for which Incognito has nodes to judge. A node whose labels give more than n / k
//!   groups hardly holds, and an attribute with one label takes the verdict of the smaller subset; so these are the
//!   subsets whose fewest labels (more than one, each) multiply to at most n / k.
//! - `roll-up` scans the records for each family.
//! - `cube` scans them once and then projects a set of groups for each subset of the attributes: at most the product of
//!   their labels at level 0, and at most n.
//! - `bitmap` builds an index, and then makes an intersection per group of a node, which is far less than a scan while
//!   groups are few. With a suppression budget it cannot stop early, and loses.
//!
//! 1. Where the policy asks for more than rows, or the bitmaps do not fit in `memory`, `bitmap` is out; where the sets do not,
//!    `cube` is.
//! 2. Of what is left, the one with the smallest estimate; on a tie the first of `roll-up`, `cube`, `bitmap`.
//!
//! `scan` and `sort` never win. `super-roots` saves scans, but the few it saves are made up for by larger sets
//! (`bench/README.md`); it stays close to `roll-up` on small tables and falls behind on large ones.
//!
//! Cost: subsets are counted by the sum of their logarithms, not one by one: some thousand steps.

use crate::check::{BitmapOptions, CheckerKind, CubeOptions, Materialize, Problem, bitmap};
use crate::error::Result;

/// What the checkers that can be chosen would cost, in nanoseconds of the machine that the constants were measured on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimates {
    /// A scan for each family.
    pub roll_up: f64,
    /// A scan and a projection for each subset; `None` where it may not be used.
    pub cube: Option<f64>,
    /// An index and some intersections for each family; `None` where it may not be used.
    pub bitmap: Option<f64>,
}

/// Nanoseconds to scan a record.
const SCAN: f64 = 1.0;
/// Nanoseconds to project a group, and bytes it takes.
const PROJECT: f64 = 20.0;
const GROUP_BYTES: f64 = 16.0;
/// Nanoseconds to index a record for an attribute.
const INDEX: f64 = 1.2;
/// Nanoseconds to intersect 512 records of two sets, and to look up one record.
const INTERSECT: f64 = 1.5;
const LOOK_UP: f64 = 2.5;
/// A node that holds has so many times fewer groups than n / k: groups are not of equal size.
const SKEW: f64 = 16.0;

/// The checker to use when nobody names one; what it keeps should take at most `memory` bytes.
pub fn choose(problem: Problem<'_>, memory: Option<u64>) -> Result<CheckerKind> {
    let estimates = estimate(problem, memory)?;
    let cube = CubeOptions { materialize: Materialize::ZeroLevel, memory };
    let candidates = [
        (Some(estimates.roll_up), CheckerKind::RollUp),
        (estimates.cube, CheckerKind::Cube(cube)),
        (estimates.bitmap, CheckerKind::Bitmap(BitmapOptions { memory, ..BitmapOptions::BEST })),
    ];
    let mut best = (estimates.roll_up, CheckerKind::RollUp);
    for (cost, checker) in candidates {
        if let Some(cost) = cost.filter(|cost| *cost < best.0) {
            best = (cost, checker);
        }
    }
    Ok(best.1)
}

/// What the checkers would cost.
pub fn estimate(problem: Problem<'_>, memory: Option<u64>) -> Result<Estimates> {
    let layout = problem.source.layout();
    let n = problem.source.n_rows() as f64;
    let least = bitmap::least_admitted(problem.policy, problem.source.n_rows())?;
    let most_groups = n / least.unwrap_or(1) as f64;
    let (mut fewest, mut all) = (Vec::new(), Vec::new());
    for (attribute, &height) in layout.heights().iter().enumerate() {
        let labels: Vec<usize> = (0..=height).map(|level| layout.n_labels(attribute, level)).collect();
        // An attribute of one value adds nothing to any node.
        if let Some(&few) = labels.iter().filter(|&&labels| labels > 1).min() {
            fewest.push(few as f64);
            all.push(labels[0] as f64);
        }
    }
    let n_attributes = all.len();
    let families = Subsets::of(&fewest);
    let n_families = families.sum(|labels, _| f64::from(u8::from(labels <= most_groups)));
    let subsets = Subsets::of(&all);
    let n_groups = subsets.sum(|cells, _| cells.min(n));
    let fits = |bytes: f64| memory.is_none_or(|memory| bytes <= memory as f64);

    let cube_fits = n_attributes <= super::cube::MAX_CUBE_ATTRIBUTES && fits(n_groups * GROUP_BYTES);
    let is_bitmap_possible = least.is_some() && problem.policy.budget() == 0 && problem.source.has_records();
    let bitmap_fits = is_bitmap_possible
        && match memory {
            None => true,
            Some(memory) => bitmap::need(problem.source)?.iter().sum::<u64>() <= memory,
        };
    let node = |labels: f64, size: usize| {
        if labels > most_groups {
            return 0.0;
        }
        let n_groups = labels.max(most_groups / SKEW);
        (n_groups * n / 512.0 * INTERSECT).min(size as f64 * n * LOOK_UP)
    };
    Ok(Estimates {
        roll_up: n_families * n * SCAN,
        cube: cube_fits.then_some(n * SCAN + n_groups * PROJECT),
        bitmap: bitmap_fits.then(|| n_attributes as f64 * n * INDEX + families.sum(node)),
    })
}

/// How many subsets of some numbers have about which product, by their size.
struct Subsets {
    /// `counts[size][step]`: subsets of that size with a product of about 2 to the power of step / STEPS.
    counts: Vec<Vec<f64>>,
}

impl Subsets {
    /// Steps between two powers of two.
    const STEPS: f64 = 4.0;
    /// Products beyond this power of two are not told apart.
    const MAX_POWER: usize = 40;

    fn of(numbers: &[f64]) -> Self {
        let last = Self::MAX_POWER * Self::STEPS as usize;
        let mut counts = vec![vec![0.0; last + 1]; numbers.len() + 1];
        counts[0][0] = 1.0;
        for (n_before, number) in numbers.iter().enumerate() {
            let power = (number.log2() * Self::STEPS).round() as usize;
            for size in (0..=n_before).rev() {
                for step in (0..=last).rev() {
                    let count = counts[size][step];
                    counts[size + 1][(step + power).min(last)] += count;
                }
            }
        }
        Subsets { counts }
    }

    /// The sum over all subsets but the empty one, given their product and size.
    fn sum(&self, of: impl Fn(f64, usize) -> f64) -> f64 {
        let mut sum = 0.0;
        for (size, counts) in self.counts.iter().enumerate().skip(1) {
            for (step, count) in counts.iter().enumerate().filter(|(_, count)| **count > 0.0) {
                sum += count * of((step as f64 / Self::STEPS).exp2(), size);
            }
        }
        sum
    }
}
