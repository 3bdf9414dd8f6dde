//! The table as value vectors: what the searches of multi-dimension and local recoding share.
//!
//! Records that have equal labels at level 0 and are equal in all that the policy sees are one *cell*
//! ([`DistinctRecords`]); cells with equal labels are one *vector*. A search puts vectors (global recoding) or rows of cells (local
//! recoding) into groups, keeps the [`Sums`] that a metric needs up to date, and says at the end which record is in which
//! group.

use std::cmp::Ordering;
use std::hash::BuildHasher;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use crate::algorithm::Aim;
use crate::algorithm::groups::{Regions, RowGroups, Shares, n_rows};
use crate::algorithm::quality::{Found, Quality};
use crate::error::{Error, ErrorKind, Result};
use crate::frequency::{DistinctRecords, Records, records_for};
use crate::group::{ChangingGroup, RowFacts, somebody};
use crate::hash::{self, State};
use crate::hierarchy::{Attribute, Attributes};
use crate::judge::Problem;
use crate::metric::{Direction, Metric, Statistics};
use crate::privacy::{Closure, Policy};
use crate::recoding::{self, CellSums, PerGroup};

/// Which levels a search may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ladder {
    /// All of them.
    All,
    /// Level 0 and the top.
    Ends,
}

/// The table, the policy and the aim.
pub(super) struct Ground<'a> {
    pub(super) policy: &'a Policy,
    pub(super) aim: Aim<'a>,
    /// How many rows may be left out: none where the policy compares groups with all rows, since those would change.
    pub(super) budget: u64,
    pub(super) trees: Vec<Tree>,
    pub(super) cells: DistinctRecords,
    /// The sensitive values of each cell, cell by cell; those in `cells` are moved here.
    sensitive: Vec<u32>,
    n_sensitive: usize,
    /// Where the policy sees rows alone: how many it wants in a group.
    least: Option<u64>,
    pub(super) vector_of: Vec<u32>,
    /// Where each vector's cells start in `members`; one more at the end.
    starts: Vec<u32>,
    members: Vec<u32>,
    rows_of_vector: Vec<u32>,
}

/// The labels of one attribute, by steps: the levels that may be used, numbered without gaps.
#[derive(Debug)]
pub(super) struct Tree {
    pub(super) levels: Vec<u8>,
    /// For each step, the label of each leaf.
    labels: Vec<Vec<u32>>,
    /// For each step and leaf, leaves under its label − 1.
    excess_leaves: Vec<Vec<u64>>,
    /// The number of each step's level in the whole hierarchy.
    numbers: Vec<u8>,
    /// For each step and leaf, what its label weighs by the metric; empty if the metric contributes no weights.
    weights: Vec<Vec<u64>>,
    /// What a cell costs at each step, for each leaf.
    costs: Vec<Vec<f64>>,
}

impl Tree {
    fn new(attribute: &Attribute, ladder: Ladder) -> Self {
        let height = attribute.height();
        let levels: Vec<u8> = match ladder {
            Ladder::Ends if height > 0 => vec![0, height],
            _ => (0..=height).collect(),
        };
        let hierarchy = attribute.hierarchy();
        let mut labels: Vec<Vec<u32>> = vec![(0..hierarchy.labels(0).len() as u32).collect()];
        for pair in levels.windows(2) {
            let below = &labels[labels.len() - 1];
            labels.push(below.iter().map(|&label| hierarchy.generalize(label, pair[0], pair[1])).collect());
        }
        let others = |(&level, labels): (&u8, &Vec<u32>)| -> Vec<u64> {
            labels.iter().map(|&label| hierarchy.leaves_under(level, label) - 1).collect()
        };
        Tree {
            excess_leaves: levels.iter().zip(&labels).map(others).collect(),
            numbers: levels.iter().map(|&level| attribute.level_number(level)).collect(),
            weights: Vec::new(),
            costs: Vec::new(),
            labels,
            levels,
        }
    }

    pub(super) fn top(&self) -> u8 {
        (self.levels.len() - 1) as u8
    }

    pub(super) fn label(&self, step: u8, leaf: u32) -> u32 {
        self.labels[usize::from(step)][leaf as usize]
    }

    /// What a cell weighs at a step; nothing if the metric contributes no weights.
    fn weight(&self, step: u8, leaf: u32) -> u64 {
        self.weights.get(usize::from(step)).map_or(0, |weights| weights[leaf as usize])
    }

    /// What a cell costs at a step.
    pub(super) fn cost(&self, step: u8, leaf: u32) -> f64 {
        self.costs[usize::from(step)][leaf as usize]
    }

    /// The lowest step from `step` on at which two leaves have one label; `None` if they have none in common.
    pub(super) fn meet(&self, step: u8, a: u32, b: u32) -> Option<u8> {
        (step..=self.top()).find(|&step| self.label(step, a) == self.label(step, b))
    }
}

impl<'a> Ground<'a> {
    /// Fails when the policy is not closed under merging or the source has counts only.
    pub(super) fn new(
        problem: Problem<'a>,
        attributes: &Attributes,
        aim: Aim<'a>,
        ladder: Ladder,
        name: &str,
    ) -> Result<Self> {
        let Problem { source, policy } = problem;
        check(problem, name)?;
        let mut cells = records_of(problem, name)?.cells(&policy.demand())?;
        let n_attributes = attributes.len();
        let n_cells = cells.rows.len();
        let (vector_of, n_vectors) = number_vectors(&cells, n_attributes);
        let mut starts = vec![0_u32; n_vectors + 1];
        let mut rows_of_vector = vec![0; n_vectors];
        for (&vector, &rows) in vector_of.iter().zip(&cells.rows) {
            starts[vector as usize + 1] += 1;
            rows_of_vector[vector as usize] += rows;
        }
        for vector in 0..n_vectors {
            starts[vector + 1] += starts[vector];
        }
        let mut next = starts.clone();
        let mut members = vec![0; n_cells];
        for (&vector, cell) in vector_of.iter().zip(0..) {
            members[next[vector as usize] as usize] = cell;
            next[vector as usize] += 1;
        }
        let sensitive = std::mem::take(&mut cells.sensitive);
        let codes = |cell: usize| sensitive.iter().map(move |codes| codes[cell]);
        let mut ground = Ground {
            policy,
            aim,
            budget: budget(policy),
            trees: attributes.iter().map(|attribute| Tree::new(attribute, ladder)).collect(),
            n_sensitive: sensitive.len(),
            sensitive: (0..n_cells).flat_map(codes).collect(),
            least: policy.least_admitted(source.n_rows())?,
            vector_of,
            starts,
            members,
            rows_of_vector,
            cells,
        };
        ground.find_weights();
        ground.find_costs();
        Ok(ground)
    }

    /// What labels weigh, if the metric contributes weights.
    fn find_weights(&mut self) {
        let Some(contribution) = self.aim.metric.contributes() else { return };
        let weights = self.aim.costs.weights_of(contribution);
        for (tree, of_labels) in self.trees.iter_mut().zip(&weights.of_labels) {
            let of_step = |(&level, labels): (&u8, &Vec<u32>)| {
                labels.iter().map(|&label| of_labels[usize::from(level)][label as usize]).collect()
            };
            tree.weights = tree.levels.iter().zip(&tree.labels).map(of_step).collect();
        }
    }

    /// What a single cell adds to the metric's score. Metrics that see no cells, only groups, leave it to loss.
    fn find_costs(&mut self) {
        let score = |metric: &dyn Metric, at: usize, one: CellSums, weight: u64| {
            let mut sums = Sums::new(self);
            sums.columns[at] = one;
            if let Some(sum) = sums.weighed.get_mut(at) {
                *sum = weight.into();
            }
            (sums.n_groups, sums.sum_of_squares) = (1, 1);
            let score = metric.score(self.aim.costs, &sums.statistics());
            match metric.direction() {
                Direction::LowerIsBetter => score,
                Direction::HigherIsBetter => -score,
            }
        };
        let all = |metric: &dyn Metric| -> Vec<Vec<Vec<f64>>> {
            let of_tree = |(at, tree): (usize, &Tree)| {
                let nothing = score(metric, at, CellSums::default(), 0);
                let mut known: hash::Map<(u8, u64, u64), f64> = hash::Map::default();
                let mut cost = |number: u8, excess_leaves: u64, weight: u64| {
                    *known.entry((number, excess_leaves, weight)).or_insert_with(|| {
                        let one = CellSums { climbed: number.into(), excess_leaves: excess_leaves.into() };
                        // Times the rows, since scores are means over them.
                        (score(metric, at, one, weight) - nothing) * self.aim.costs.n_rows as f64
                    })
                };
                let of_step = |((excess_leaves, &number), step): ((&Vec<u64>, &u8), u8)| -> Vec<f64> {
                    let leaves = excess_leaves.iter().zip(0..);
                    leaves
                        .map(|(&excess_leaves, leaf)| cost(number, excess_leaves, tree.weight(step, leaf)))
                        .collect()
                };
                tree.excess_leaves.iter().zip(&tree.numbers).zip(0..).map(of_step).collect()
            };
            self.trees.iter().enumerate().map(of_tree).collect()
        };
        let is_blind = |costs: &Vec<Vec<Vec<f64>>>| costs.iter().flatten().flatten().all(|&cost| cost == 0.0);
        let mut costs = all(self.aim.metric);
        if is_blind(&costs) {
            costs = all(crate::metric::ALL[0].item);
        }
        for (tree, costs) in self.trees.iter_mut().zip(costs) {
            tree.costs = costs;
        }
    }

    pub(super) fn n_vectors(&self) -> u32 {
        self.rows_of_vector.len() as u32
    }

    pub(super) fn n_rows(&self) -> u64 {
        self.cells.of_record.len() as u64
    }

    /// The leaf of a cell in each attribute.
    pub(super) fn leaves(&self, cell: u32) -> &[u32] {
        &self.cells.labels[cell as usize * self.trees.len()..][..self.trees.len()]
    }

    pub(super) fn cells_of(&self, vector: u32) -> &[u32] {
        &self.members[self.starts[vector as usize] as usize..self.starts[vector as usize + 1] as usize]
    }

    /// The leaf of a vector in each attribute.
    pub(super) fn leaves_of_vector(&self, vector: u32) -> &[u32] {
        self.leaves(self.cells_of(vector)[0])
    }

    /// What the policy sees of a row of the cell.
    pub(super) fn facts(&self, cell: u32) -> RowFacts<'_> {
        let n = self.n_sensitive;
        RowFacts {
            person: self.cells.persons.as_ref().and_then(|persons| somebody(persons[cell as usize])),
            sensitive: &self.sensitive[cell as usize * n..][..n],
        }
    }

    pub(super) fn rows_of(&self, vector: u32) -> u64 {
        self.rows_of_vector[vector as usize].into()
    }

    /// How many rows some vectors have.
    pub(super) fn rows_of_all(&self, vectors: &[u32]) -> u64 {
        vectors.iter().map(|&vector| self.rows_of(vector)).sum()
    }

    /// A group without rows.
    pub(super) fn no_rows(&self) -> ChangingGroup {
        ChangingGroup::new(&self.policy.demand())
    }

    /// Measures all rows of some vectors.
    pub(super) fn measure(&self, vectors: impl IntoIterator<Item = u32>, group: &mut ChangingGroup) {
        group.clear();
        for vector in vectors {
            for &cell in self.cells_of(vector) {
                group.push(self.facts(cell), u64::from(self.cells.rows[cell as usize]));
            }
        }
        group.settle();
    }

    /// May these vectors be published as one group? Nothing may.
    pub(super) fn admits(
        &self,
        vectors: impl IntoIterator<Item = u32>,
        scratch: &mut ChangingGroup,
    ) -> Result<bool> {
        if let Some(least) = self.least {
            let rows: u64 = vectors.into_iter().map(|vector| self.rows_of(vector)).sum();
            return Ok(rows == 0 || rows >= least);
        }
        self.measure(vectors, scratch);
        self.admits_measured(scratch)
    }

    /// May rows that change be published as one group? None may.
    pub(super) fn admits_changing(&self, measured: &Measured) -> Result<bool> {
        match (&measured.more, self.least) {
            (Some(group), _) => self.admits_measured(group),
            (None, least) => Ok(measured.rows == 0 || least.is_some_and(|least| measured.rows >= least)),
        }
    }

    /// No rows, for a group that changes.
    pub(super) fn unmeasured(&self) -> Measured {
        Measured { rows: 0, more: self.least.is_none().then(|| Box::new(self.no_rows())) }
    }

    pub(super) fn admits_measured(&self, group: &ChangingGroup) -> Result<bool> {
        Ok(group.rows() == 0 || self.policy.admits(group.group())?)
    }

    /// Vectors by their labels at the given steps, in the order of the labels.
    pub(super) fn by_labels(&self, vectors: impl IntoIterator<Item = u32>, steps: &[u8]) -> Vec<Vec<u32>> {
        let mut groups: hash::Map<Vec<u32>, Vec<u32>> = hash::Map::default();
        for vector in vectors {
            groups.entry(self.labels(self.leaves_of_vector(vector), steps)).or_default().push(vector);
        }
        let mut groups: Vec<(Vec<u32>, Vec<u32>)> = groups.into_iter().collect();
        groups.sort_unstable();
        groups.into_iter().map(|(_, vectors)| vectors).collect()
    }

    pub(super) fn labels(&self, leaves: &[u32], steps: &[u8]) -> Vec<u32> {
        let columns = self.trees.iter().zip(leaves).zip(steps);
        columns.map(|((tree, &leaf), &step)| tree.label(step, leaf)).collect()
    }

    pub(super) fn top(&self) -> Vec<u8> {
        self.trees.iter().map(Tree::top).collect()
    }

    /// `Less` if the first is better.
    pub(super) fn compare(&self, a: &Sums, b: &Sums) -> Ordering {
        self.aim.metric.compare(self.aim.costs, &a.statistics(), &b.statistics())
    }

    /// A cost: less is better.
    pub(super) fn cost(&self, sums: &Sums) -> f64 {
        let score = self.aim.metric.score(self.aim.costs, &sums.statistics());
        match self.aim.metric.direction() {
            Direction::LowerIsBetter => score,
            Direction::HigherIsBetter => -score,
        }
    }

    /// The sums of groups and of what they leave out.
    pub(super) fn sums(&self, groups: &RowGroups) -> Sums {
        let mut sums = Sums::new(self);
        sums.suppressed = self.n_rows();
        for (steps, rows) in groups.iter() {
            let Some(&(cell, _)) = rows.first() else { continue };
            let n_rows = n_rows(rows);
            sums.add(self, steps, self.leaves(cell), n_rows);
            sums.suppressed -= n_rows;
        }
        sums
    }

    /// All rows of some vectors.
    pub(super) fn whole<'b>(&'b self, vectors: &'b [u32]) -> impl Iterator<Item = (u32, u32)> + 'b {
        let cells = vectors.iter().flat_map(|&vector| self.cells_of(vector));
        cells.map(|&cell| (cell, self.cells.rows[cell as usize]))
    }

    /// Says for every record which group it is in: of equal records the first are in the first group that has some.
    pub(super) fn recoding(&self, groups: &RowGroups) -> Result<PerGroup> {
        let shares = groups
            .iter()
            .zip(0..)
            .flat_map(|((_, rows), group)| rows.iter().map(move |&(cell, rows)| (cell, group, rows)));
        let steps = groups.iter().map(|(steps, _)| steps);
        self.recoding_of(steps, Shares::new(self.cells.rows.len(), shares))
    }

    /// The same where vectors are in groups as a whole.
    pub(super) fn recoding_of_regions(&self, regions: &Regions) -> Result<PerGroup> {
        let shares = regions.iter().zip(0..).flat_map(|((_, vectors), group)| {
            self.whole(vectors).map(move |(cell, rows)| (cell, group, rows))
        });
        let steps = regions.iter().map(|(steps, _)| steps);
        self.recoding_of(steps, Shares::new(self.cells.rows.len(), shares))
    }

    fn recoding_of<'b>(&self, steps: impl Iterator<Item = &'b [u8]>, mut shares: Shares) -> Result<PerGroup> {
        let level = |(tree, &step): (&Tree, &u8)| tree.levels[usize::from(step)];
        let levels: Vec<u8> = steps.flat_map(|steps| self.trees.iter().zip(steps).map(level)).collect();
        let levels: Vec<&[u8]> = levels.chunks_exact(self.trees.len()).collect();
        let of_record = self.cells.of_record.iter().map(|&cell| shares.next(cell));
        PerGroup::new(self.trees.len(), &levels, of_record)
    }

    /// Is this the table as collected?
    pub(super) fn is_untouched(&self, mut steps: impl Iterator<Item = u8>, n_rows: u64) -> bool {
        steps.all(|step| step == 0) && n_rows == self.n_rows()
    }

    /// The answer that regions are.
    pub(super) fn found(&self, regions: &Regions) -> Result<Found<PerGroup>> {
        let n_rows = regions.iter().map(|(_, vectors)| self.rows_of_all(vectors)).sum();
        let steps = regions.iter().flat_map(|(steps, _)| steps).copied();
        let quality = if self.is_untouched(steps, n_rows) { Quality::Optimal } else { Quality::Heuristic };
        Ok(Found { recoding: self.recoding_of_regions(regions)?, quality })
    }
}

/// Fails when the policy is not closed under merging or the source has counts only.
pub(super) fn check(problem: Problem<'_>, name: &str) -> Result<()> {
    let policy = problem.policy;
    if policy.closure() == Closure::None {
        let describe = policy.describe();
        return Err(refused(format!(
            "{name} cannot promise {describe}: groups that satisfy it may violate it together"
        )));
    }
    policy.check_without_labels(name)?;
    records_of(problem, name).map(|_| ())
}

/// What to do where a model cannot be used.
const INSTEAD: &str = "choose a full-domain algorithm such as incognito";

/// The records of the source, if it has any.
pub(super) fn records_of<'a>(problem: Problem<'a>, name: &str) -> Result<&'a dyn Records> {
    records_for(problem.source, name, INSTEAD)
}

fn refused(what: String) -> Error {
    Error::new(ErrorKind::Policy, what).with_hint(INSTEAD)
}

/// How many rows may be left out: none where the policy compares groups with all rows, since those would change.
pub(super) fn budget(policy: &Policy) -> u64 {
    if policy.compares() { 0 } else { policy.budget() }
}

/// The number of each cell's vector, in the order of the first cells, and how many there are.
fn number_vectors(cells: &DistinctRecords, n_attributes: usize) -> (Vec<u32>, usize) {
    let labels = |cell: u32| &cells.labels[cell as usize * n_attributes..][..n_attributes];
    let state = State::default();
    let hash = |cell: u32| state.hash_one(labels(cell));
    // Vectors by their first cells.
    let mut known: HashTable<(u32, u32)> = HashTable::new();
    let mut n_vectors = 0;
    let mut vector_of = Vec::with_capacity(cells.rows.len());
    for cell in 0..cells.rows.len() as u32 {
        let is_same = |&(first, _): &(u32, u32)| labels(first) == labels(cell);
        let vector = match known.entry(hash(cell), is_same, |&(first, _)| hash(first)) {
            Entry::Occupied(other) => other.get().1,
            Entry::Vacant(place) => {
                place.insert((cell, n_vectors));
                n_vectors += 1;
                n_vectors - 1
            }
        };
        vector_of.push(vector);
    }
    (vector_of, n_vectors as usize)
}

/// What the policy sees of a group that changes.
pub(super) struct Measured {
    rows: u64,
    /// Nothing where it sees rows alone: there may be very many groups.
    more: Option<Box<ChangingGroup>>,
}

impl Measured {
    pub(super) fn rows(&self) -> u64 {
        self.rows
    }

    pub(super) fn add_rows(&mut self, facts: RowFacts<'_>, n: u64) {
        self.rows += n;
        if let Some(group) = &mut self.more {
            group.add_rows(facts, n);
        }
    }

    pub(super) fn remove_rows(&mut self, facts: RowFacts<'_>, n: u64) {
        self.rows -= n;
        if let Some(group) = &mut self.more {
            group.remove_rows(facts, n);
        }
    }
}

/// All that a metric needs to know of a recoding.
#[derive(Debug, Clone)]
pub(super) struct Sums {
    columns: Vec<CellSums>,
    /// What the cells of each attribute weigh; empty if the metric contributes no weights.
    weighed: Vec<u128>,
    n_groups: u64,
    sum_of_squares: u128,
    pub(super) suppressed: u64,
}

impl Sums {
    pub(super) fn new(ground: &Ground<'_>) -> Self {
        let n_attributes = ground.trees.len();
        let is_weighed = ground.aim.metric.contributes().is_some();
        Sums {
            columns: vec![CellSums::default(); n_attributes],
            weighed: if is_weighed { vec![0; n_attributes] } else { Vec::new() },
            n_groups: 0,
            sum_of_squares: 0,
            suppressed: 0,
        }
    }

    /// One more group, of rows at these steps, one of which has these leaves.
    pub(super) fn add(&mut self, ground: &Ground<'_>, steps: &[u8], leaves: &[u32], rows: u64) {
        self.n_groups += 1;
        self.sum_of_squares += u128::from(rows) * u128::from(rows);
        for (at, sums) in self.columns.iter_mut().enumerate() {
            let (climbed, excess_leaves) = one_cell(&ground.trees[at], steps[at], leaves[at]);
            sums.climbed += u128::from(rows) * climbed;
            sums.excess_leaves += u128::from(rows) * excess_leaves;
        }
        for (at, sum) in self.weighed.iter_mut().enumerate() {
            *sum += u128::from(rows) * u128::from(ground.trees[at].weight(steps[at], leaves[at]));
        }
    }

    /// One group less.
    pub(super) fn remove(&mut self, ground: &Ground<'_>, steps: &[u8], leaves: &[u32], rows: u64) {
        self.n_groups -= 1;
        self.sum_of_squares -= u128::from(rows) * u128::from(rows);
        for (at, sums) in self.columns.iter_mut().enumerate() {
            let (climbed, excess_leaves) = one_cell(&ground.trees[at], steps[at], leaves[at]);
            sums.climbed -= u128::from(rows) * climbed;
            sums.excess_leaves -= u128::from(rows) * excess_leaves;
        }
        for (at, sum) in self.weighed.iter_mut().enumerate() {
            *sum -= u128::from(rows) * u128::from(ground.trees[at].weight(steps[at], leaves[at]));
        }
    }

    /// What a metric sees. The smallest group is not kept up to date.
    fn statistics(&self) -> Statistics {
        Statistics::of_sums(recoding::Sums {
            suppressed_rows: self.suppressed,
            n_groups: self.n_groups,
            smallest_group: None,
            sum_of_squares: self.sum_of_squares,
            cells: self.columns.clone(),
            weighed: self.weighed.clone(),
        })
    }
}

fn one_cell(tree: &Tree, step: u8, leaf: u32) -> (u128, u128) {
    let step = usize::from(step);
    (tree.numbers[step].into(), tree.excess_leaves[step][leaf as usize].into())
}

/// A limit of steps, where there is one.
pub(super) fn check_limit(name: &str, limit: Option<u64>) -> Result<u64> {
    match limit {
        Some(0) => Err(Error::input(format!("{name} may make 0 steps, so it cannot search"))
            .with_hint("give a limit of at least 1, or none")),
        limit => Ok(limit.unwrap_or(u64::MAX)),
    }
}
