//! How near can two trees be at best?
//!
//! A lower bound of what it costs to anonymize two trees with each other, from two short vectors. It is what makes clustering
//! fast: most clusters are ruled out without being compared, and the result is the same.
//!
//! 1. Costs grow on the way up a hierarchy, so a cell with label a that is released as X costs c(a) and, for each step on the
//!    way from a to X, the difference of the two costs: the step's weight. A removed cell goes all the way up and out, for
//!    1 in total.
//! 2. Consider one step, from a label to its parent. If one tree has n cells below it and the other m, at least |n − m| cells
//!    find no partner below it, whatever the pairing, and take the step.
//! 3. So the cost is at least Σ c over the cells of both trees + Σ weight · |n − m| over all steps: an L1 distance of two
//!    vectors with an entry weight · n for each step. For a single table with one quasi-identifier it is the cost of the
//!    best pairing there is; else it leaves out who belongs to whom.
//!
//! Vectors are of small whole numbers: weights are rounded down, large entries stop at the largest number, and where there
//! are too many steps several share an entry. Each of these only lowers the bound. Costs that do not grow on the way up
//! (a hierarchy may be declared so) are lowered until they do.
//!
//! Cost: two bytes a step of all hierarchies for each tree, at most 512.

use std::cmp::Reverse;

use crate::relational::Database;
use crate::relational::flat::{Flat, Layout};
use crate::relational::labels::{Labels, UNIT};

/// Entries that a vector has at most.
const MAX_ENTRIES: usize = 256;

/// Entries in a block: a fixed number lets the compiler use vector instructions.
const BLOCK: usize = 16;

/// The first entries of a vector are its head: a cache line.
const HEAD: usize = 32;

/// A weight of 1 is at most this in a vector.
const MAX_SCALE: u64 = 8192;

/// Makes and compares vectors.
#[derive(Debug)]
pub(super) struct Bounds {
    /// For each table of the layout, attribute and label.
    steps: Vec<Vec<Vec<Step>>>,
    n_entries: usize,
    /// What 1 in a vector stands for, in units of cost; rounded down.
    unit: u64,
}

/// The step from a label to its parent, or out.
#[derive(Debug, Clone, Copy, Default)]
struct Step {
    weight: u16,
    entry: u16,
    parent: u32,
    /// Of a cell with this label.
    cost: u64,
}

/// What is needed of a tree.
#[derive(Debug, Clone, Default)]
pub(super) struct Vector {
    pub(super) entries: Vec<u16>,
    pub(super) cost: u64,
}

impl Bounds {
    /// Vectors for the trees of a database.
    pub(super) fn new(layout: &Layout, database: &Database) -> Self {
        Bounds::with_entries(layout, database, MAX_ENTRIES)
    }

    fn with_entries(layout: &Layout, database: &Database, max_entries: usize) -> Self {
        let scale = scale(layout, database);
        let of_table =
            |t: usize| layout.tables[t].attributes.iter().map(|labels| steps(labels, scale)).collect();
        let mut steps: Vec<Vec<Vec<Step>>> = (0..layout.tables.len()).map(of_table).collect();
        let n_entries = assign_entries(&mut steps, max_entries);
        Bounds { steps, n_entries, unit: UNIT / scale }
    }

    /// How long vectors are.
    pub(super) fn n_entries(&self) -> usize {
        self.n_entries
    }

    /// How many entries the head of a vector has.
    pub(super) fn n_head(&self) -> usize {
        self.n_entries.min(HEAD)
    }

    /// The vector of a tree.
    pub(super) fn vector(&self, tree: &Flat) -> Vector {
        let mut vector = Vector { entries: vec![0; self.n_entries], cost: 0 };
        for (t, attributes) in self.steps.iter().enumerate() {
            for (at, &label) in tree.all_labels(t).iter().enumerate() {
                let steps = &attributes[at % attributes.len()];
                let mut label = label;
                vector.cost += steps[label as usize].cost;
                loop {
                    let step = steps[label as usize];
                    let entry = &mut vector.entries[usize::from(step.entry)];
                    *entry = entry.saturating_add(step.weight);
                    if step.parent == label {
                        break;
                    }
                    label = step.parent;
                }
            }
        }
        vector
    }

    /// At least this is what two trees cost, apart from the costs of their vectors.
    #[inline]
    pub(super) fn steps_apart(&self, a: &[u16], b: &[u16]) -> u64 {
        // Sixteen sums side by side, of numbers as short as the entries: four times as fast as one wide sum.
        let mut sums = [0_u16; BLOCK];
        for (a, b) in a.chunks_exact(BLOCK).zip(b.chunks_exact(BLOCK)) {
            for (sum, (&a, &b)) in sums.iter_mut().zip(a.iter().zip(b)) {
                *sum = sum.saturating_add(a.abs_diff(b));
            }
        }
        let apart: u32 = sums.iter().map(|&sum| u32::from(sum)).sum();
        u64::from(apart) * self.unit
    }
}

/// What a weight of 1 is in a vector: as much as four times the average tree has room for. Larger trees saturate.
fn scale(layout: &Layout, database: &Database) -> u64 {
    let n_rows = |t: usize| database.relations()[layout.tables[t].number].table.n_rows() as u64;
    let cells: u64 =
        (0..layout.tables.len()).map(|t| n_rows(t) * layout.tables[t].attributes.len() as u64).sum();
    let average = cells.div_ceil((database.n_persons() as u64).max(1)).max(1);
    (u64::from(u16::MAX) / (4 * average)).clamp(1, MAX_SCALE)
}

fn steps(labels: &Labels, scale: u64) -> Vec<Step> {
    let mut steps = vec![Step::default(); labels.n_labels()];
    // From the top down: parents have greater numbers.
    for label in (0..labels.n_labels() as u32).rev() {
        let parent = labels.parent(label);
        let above = if parent == label { UNIT } else { steps[parent as usize].cost };
        let cost = labels.cost(label).min(above);
        let weight = u128::from(above - cost) * u128::from(scale) / u128::from(UNIT);
        steps[label as usize] = Step { weight: weight as u16, entry: 0, parent, cost };
    }
    steps
}

/// Gives each step an entry of its own, the weightiest first; if there are too many, the others share what is left.
fn assign_entries(steps: &mut [Vec<Vec<Step>>], max_entries: usize) -> usize {
    let all = steps.iter_mut().flatten().flatten();
    let mut weighty: Vec<&mut Step> = all.filter(|step| step.weight > 0).collect();
    let n_steps = weighty.len();
    // Stable: of equal ones the first attribute's.
    weighty.sort_by_key(|step| Reverse(step.weight));
    let n_own = if n_steps <= max_entries { n_steps } else { max_entries / 2 };
    for (at, step) in weighty.into_iter().enumerate() {
        let entry = if at < n_own { at } else { n_own + at % (max_entries - n_own) };
        step.entry = entry as u16;
    }
    n_steps.min(max_entries).next_multiple_of(BLOCK)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::relational::compare::Scratch;
    use crate::relational::samples::students;
    use crate::relational::{Matcher, Matching, Options, Pairing, Trees};

    /// The bound and the cost of all pairs of persons and of all clusters of two.
    fn check(tables: usize, max_entries: usize, options: &Options, test: impl Fn(u64, u64)) {
        let mut relations = students();
        relations.truncate(tables);
        let database = Database::new(relations, "student").unwrap();
        let (trees, matcher) = (Trees::new(&database), Matcher::with(&database, options));
        let layout = matcher.layout();
        let bounds = Bounds::with_entries(layout, &database, max_entries);
        assert!(bounds.n_entries() <= max_entries.next_multiple_of(BLOCK));
        let mut scratch = Scratch::default();
        let mut all: Vec<Flat> = (0..4).map(|person| Flat::of_person(layout, &trees, person)).collect();
        for (a, b) in [(0, 1), (0, 2), (1, 3), (2, 3)] {
            all.push(matcher.compare(&all[a], &all[b], &mut scratch).common());
        }
        for a in &all {
            for b in &all {
                let [of_a, of_b] = [a, b].map(|tree| bounds.vector(tree));
                let bound = bounds.steps_apart(&of_a.entries, &of_b.entries) + of_a.cost + of_b.cost;
                test(bound, matcher.compare(a, b, &mut scratch).cost(u64::MAX));
            }
        }
    }

    #[test]
    fn no_pairing_costs_less_than_the_bound() {
        for max_entries in [16, 256] {
            check(3, max_entries, &Options::new(1), |bound, cost| {
                assert!(bound <= cost, "{bound} is above {cost}");
            });
        }
    }

    #[test]
    fn the_bound_of_a_single_column_is_the_cost_of_the_best_pairing() {
        let options = Options { pairing: Pairing::Subtree, matching: Matching::Optimal, ..Options::new(1) };
        // Up to rounding: 1 in a vector is a 5,000th of a cell here.
        check(2, 256, &options, |bound, cost| {
            assert!(bound <= cost && cost - bound < UNIT / 100, "{bound} is not {cost}");
        });
    }
}
