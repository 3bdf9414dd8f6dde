//! Greedy clusters of records that look almost alike (k-member: Byun, Kamra, Bertino, Li: Efficient k-anonymization using
//! clustering techniques, DASFAA 2007).
//!
//! 1. The seed of a cluster is the record furthest from the seed before it, among some that are tried.
//! 2. Add the record that adds the least loss, until the policy admits the cluster. Where sensitive values matter: first
//!    until the part of the policy that sees none does; then, of the records that would be enough, the one that adds least;
//!    and if none is, one whose values have the smallest share of their rows in the cluster (D'Hondt's rule), so that the
//!    cluster comes to look like the whole table, which is admitted.
//! 3. Records that are left when no further cluster can be made go to the cluster where they add the least loss.
//! 4. What no cluster can take is merged with whole clusters, nearest first, until the policy admits that.
//!
//! Differs from the paper: (1) any policy that is closed under merging, not only k-anonymity; (2) equal records are cells
//! with a count; (3) the paper compares with all records, n² in all. Here a cluster chooses among the neighbours of its
//! seed: those next to it in some orders of the records. Half of the orders sort by one attribute after the other, the other
//! half by one level after the other from the top down; each begins with another attribute. Where there are no more records
//! than candidates, it is the paper's comparison with all. (4) The seed is chosen among [`MAX_SEEDS`] records, evenly spaced.
//!
//! Cost: for each record a look at each candidate of its cluster; memory: a number a record for each order.

mod orders;
mod rest;

use std::collections::BTreeMap;

use crate::algorithm::groups::{Regions, RowGroups};
use crate::algorithm::vectors::Ground;
use crate::error::Result;
use crate::group::ChangingGroup;
use crate::progress::Progress;

pub(super) use orders::{SortedRecords, orders};
pub(super) use rest::{lowest_steps, merge_rest};

/// Records that are compared to find the next seed.
const MAX_SEEDS: usize = 256;

/// A cluster that grows.
struct Cluster {
    steps: Vec<u8>,
    /// What a row costs.
    cost: f64,
    rows: Vec<(u32, u32)>,
    measured: ChangingGroup,
}

/// Puts the rows of each of the groups, which the policy admits, into clusters of their own: never worse than the groups.
pub(super) fn clusters_within(
    ground: &Ground<'_>,
    groups: &Regions,
    candidates: usize,
    progress: &Progress,
) -> Result<RowGroups> {
    let mut found = RowGroups::new(ground.trees.len());
    for (_, vectors) in groups.iter() {
        let cells = sorted_cells(ground, vectors);
        match Clustering::new(ground, &cells, candidates).run(0, progress)? {
            Some(clusters) => found.append(clusters),
            None => found.push(&ground.top(), ground.whole(vectors)),
        }
    }
    Ok(found)
}

/// Puts the records into clusters. `None` if more rows than the budget are in no cluster that the policy admits.
///
/// Every cluster takes its records from at least `candidates` others, if there are as many.
pub(super) fn clusters(
    ground: &Ground<'_>,
    candidates: usize,
    progress: &Progress,
) -> Result<Option<RowGroups>> {
    let top = ground.top();
    let mut groups = RowGroups::new(ground.trees.len());
    let mut left_out = 0;
    // Records that have no label in common can never be in one group.
    for vectors in ground.by_labels(0..ground.n_vectors(), &top) {
        let (cells, n_rows) = (sorted_cells(ground, &vectors), ground.rows_of_all(&vectors));
        drop(vectors);
        let budget = ground.budget - left_out;
        let Some(found) = Clustering::new(ground, &cells, candidates).run(budget, progress)? else {
            return Ok(None);
        };
        left_out += n_rows - found.all_rows();
        groups.append(found);
    }
    Ok(Some(groups))
}

fn sorted_cells(ground: &Ground<'_>, vectors: &[u32]) -> Vec<u32> {
    let mut cells: Vec<u32> = vectors.iter().flat_map(|&vector| ground.cells_of(vector)).copied().collect();
    cells.sort_unstable();
    cells
}

struct Clustering<'a, 'b> {
    ground: &'a Ground<'b>,
    /// The cells that are in clusters, by their places here.
    cells: &'a [u32],
    /// Rows of each cell that are in no cluster yet.
    left: Vec<u32>,
    /// Cells that have some.
    waiting: Vec<u32>,
    place_in_waiting: Vec<u32>,
    orders: Vec<SortedRecords>,
    /// How many cells of the orders have no rows left.
    n_taken: usize,
    n_candidates: usize,
    /// For each cell, the last search that has seen it.
    seen: Vec<u32>,
    n_searches: u32,
    /// Cells with equal sensitive values have equal kinds.
    kinds: Vec<u32>,
    rows_of_kind: Vec<u64>,
}

impl<'a, 'b> Clustering<'a, 'b> {
    fn new(ground: &'a Ground<'b>, cells: &'a [u32], n_candidates: usize) -> Self {
        let mut kinds_by_values = std::collections::BTreeMap::new();
        let mut kinds = Vec::with_capacity(cells.len());
        let mut rows_of_kind = Vec::new();
        for &cell in cells {
            let next = kinds_by_values.len() as u32;
            let kind = *kinds_by_values.entry(ground.facts(cell).sensitive).or_insert(next);
            if kind == next {
                rows_of_kind.push(0);
            }
            rows_of_kind[kind as usize] += u64::from(ground.cells.rows[cell as usize]);
            kinds.push(kind);
        }
        let n = cells.len();
        Clustering {
            ground,
            cells,
            left: cells.iter().map(|&cell| ground.cells.rows[cell as usize]).collect(),
            waiting: (0..n as u32).collect(),
            place_in_waiting: (0..n as u32).collect(),
            orders: if n <= n_candidates { Vec::new() } else { orders(ground, cells) },
            n_taken: 0,
            n_candidates,
            seen: vec![0; n],
            n_searches: 0,
            kinds,
            rows_of_kind,
        }
    }

    fn leaves(&self, at: u32) -> &'a [u32] {
        self.ground.leaves(self.cells[at as usize])
    }

    fn run(mut self, budget: u64, progress: &Progress) -> Result<Option<RowGroups>> {
        let ground = self.ground;
        let k_only = ground.policy.k_only();
        let mut clusters = RowGroups::new(ground.trees.len());
        let mut seed = self.waiting.first().copied().unwrap_or(0);
        while !self.waiting.is_empty() {
            progress.spend(256)?;
            seed = self.furthest(seed);
            let mut cluster = Cluster {
                steps: vec![0; ground.trees.len()],
                cost: self.cost(&vec![0; ground.trees.len()], self.leaves(seed)),
                rows: Vec::new(),
                measured: ground.no_rows(),
            };
            let mut n_candidates = self.n_candidates;
            let is_complete = loop {
                let mut candidates = self.candidates(seed, n_candidates);
                if cluster.rows.is_empty() {
                    self.add(&mut cluster, seed);
                }
                if self.grow(&mut cluster, &mut candidates, k_only.as_ref())? {
                    break true;
                }
                if n_candidates >= self.waiting.len() {
                    break false;
                }
                // These did not do; more may.
                n_candidates = n_candidates.saturating_mul(8);
            };
            if !is_complete {
                self.dissolve(&cluster);
                break;
            }
            clusters.push(&cluster.steps, cluster.rows);
        }
        self.orders = Vec::new();
        self.place_the_rest(clusters, budget, progress)
    }

    /// What a row costs at these steps.
    fn cost(&self, steps: &[u8], leaves: &[u32]) -> f64 {
        let columns = self.ground.trees.iter().zip(steps).zip(leaves);
        columns.map(|((tree, &step), &leaf)| tree.cost(step, leaf)).sum()
    }

    /// What a row of a cluster would cost if a cell were in it.
    fn joint_cost(&self, steps: &[u8], of: &[u32], with: &[u32]) -> f64 {
        let mut cost = 0.0;
        for (at, tree) in self.ground.trees.iter().enumerate() {
            // They have a label in common, at the top at least.
            let step = tree.meet(steps[at], of[at], with[at]).unwrap_or(tree.top());
            cost += tree.cost(step, of[at]);
        }
        cost
    }

    /// The steps of a cluster if a cell were in it.
    fn joint_steps(&self, steps: &[u8], of: &[u32], with: &[u32]) -> Vec<u8> {
        let trees = self.ground.trees.iter().enumerate();
        trees.map(|(at, tree)| tree.meet(steps[at], of[at], with[at]).unwrap_or(tree.top())).collect()
    }

    /// The loss that a row adds to a cluster.
    fn added(&self, cluster: &Cluster, at: u32) -> f64 {
        let of = self.ground.leaves(cluster.rows[0].0);
        self.added_to(&cluster.steps, of, cluster.cost, cluster.measured.rows(), at)
    }

    /// The same, given its steps, the leaves of one of its cells, what a row costs there, and how many it has.
    fn added_to(&self, steps: &[u8], of: &[u32], cost: f64, n_rows: u64, at: u32) -> f64 {
        let rows = n_rows as f64;
        self.joint_cost(steps, of, self.leaves(at)) * (rows + 1.0) - cost * rows
    }

    fn furthest(&self, from: u32) -> u32 {
        let steps = vec![0; self.ground.trees.len()];
        let stride = self.waiting.len().div_ceil(MAX_SEEDS).max(1);
        let mut best: Option<(f64, u32)> = None;
        for &at in self.waiting.iter().step_by(stride) {
            let distance = self.joint_cost(&steps, self.leaves(from), self.leaves(at));
            if best.is_none_or(|(most, _)| distance > most) {
                best = Some((distance, at));
            }
        }
        best.map_or(from, |(_, at)| at)
    }

    /// Cells near a seed that have rows left, in the order of their places.
    fn candidates(&mut self, seed: u32, n_candidates: usize) -> Vec<u32> {
        if self.orders.is_empty() || n_candidates >= self.waiting.len() {
            let mut all = self.waiting.clone();
            all.sort_unstable();
            return all;
        }
        let (ground, cells, left) = (self.ground, self.cells, &self.left);
        let has_rows = |&at: &u32| left[at as usize] > 0;
        // A look at an order passes over few cells that have no rows left.
        if 4 * self.n_taken > self.orders[0].cells.len() {
            self.orders.iter_mut().for_each(|order| order.cells.retain(has_rows));
            self.n_taken = 0;
        }
        self.n_searches += 1;
        let each = n_candidates.div_ceil(2 * self.orders.len()).max(1);
        let mut found = vec![seed];
        let seen = &mut self.seen;
        seen[seed as usize] = self.n_searches;
        for order in &self.orders {
            let place = order.cells.partition_point(|&at| order.compare(ground, cells, at, seed).is_lt());
            let before = order.cells[..place].iter().copied().rev().filter(has_rows).take(each);
            let after =
                order.cells[place..].iter().copied().filter(|at| *at != seed && has_rows(at)).take(each);
            for at in before.chain(after) {
                if seen[at as usize] != self.n_searches {
                    seen[at as usize] = self.n_searches;
                    found.push(at);
                }
            }
        }
        found.sort_unstable();
        found
    }

    /// One row of a cell goes into a cluster.
    fn add(&mut self, cluster: &mut Cluster, at: u32) {
        let cell = self.cells[at as usize];
        self.left[at as usize] -= 1;
        if self.left[at as usize] == 0 {
            let place = self.place_in_waiting[at as usize];
            self.waiting.swap_remove(place as usize);
            if let Some(&other) = self.waiting.get(place as usize) {
                self.place_in_waiting[other as usize] = place;
            }
            self.n_taken += 1;
        }
        if let Some(&(first, _)) = cluster.rows.first() {
            let of = self.ground.leaves(first);
            cluster.steps = self.joint_steps(&cluster.steps, of, self.leaves(at));
            cluster.cost = self.cost(&cluster.steps, of);
        }
        match cluster.rows.iter_mut().find(|(other, _)| *other == cell) {
            Some((_, rows)) => *rows += 1,
            None => cluster.rows.push((cell, 1)),
        }
        cluster.measured.add(self.ground.facts(cell));
    }

    /// Gives the rows of a cluster back: they are the last to find a place.
    fn dissolve(&mut self, cluster: &Cluster) {
        for &(cell, rows) in &cluster.rows {
            let at = self.cells.partition_point(|&other| other < cell) as u32;
            if self.left[at as usize] == 0 {
                self.place_in_waiting[at as usize] = self.waiting.len() as u32;
                self.waiting.push(at);
            }
            self.left[at as usize] += rows;
        }
    }

    /// Adds rows of candidates until the policy admits the cluster. Does it in the end?
    fn grow(
        &mut self,
        cluster: &mut Cluster,
        candidates: &mut Vec<u32>,
        k_only: Option<&crate::privacy::Policy>,
    ) -> Result<bool> {
        let ground = self.ground;
        let mut last: Option<u32> = None;
        while !ground.admits_measured(&cluster.measured)? {
            let is_large = match k_only {
                Some(policy) => policy.admits(cluster.measured.group())?,
                None => true,
            };
            candidates.retain(|&at| self.left[at as usize] > 0);
            // A further row of the same cell adds no loss but that of the cluster as it is.
            let again = last.filter(|&at| !is_large && self.left[at as usize] > 0);
            let again = again.filter(|&at| !cluster.measured.gains_nobody(self.person(at)));
            let next = match again {
                Some(at) => Some(at),
                None if is_large => self.nearest_that_helps(cluster, candidates)?,
                None => self.nearest(cluster, candidates.iter().copied()),
            };
            let Some(at) = next else { return Ok(false) };
            self.add(cluster, at);
            last = Some(at);
        }
        Ok(true)
    }

    fn person(&self, at: u32) -> Option<u32> {
        self.ground.facts(self.cells[at as usize]).person
    }

    /// The candidate that adds the least loss; nobody twice where persons count.
    fn nearest(&self, cluster: &Cluster, candidates: impl Iterator<Item = u32>) -> Option<u32> {
        let mut best: Option<(f64, u32)> = None;
        for at in candidates {
            if cluster.measured.gains_nobody(self.person(at)) {
                continue;
            }
            let added = self.added(cluster, at);
            if best.is_none_or(|(least, _)| added < least) {
                best = Some((added, at));
            }
        }
        best.map(|(_, at)| at)
    }

    /// The candidate that adds the least loss among those that are enough; or the nearest of the values with the smallest
    /// share.
    fn nearest_that_helps(&self, cluster: &mut Cluster, candidates: &[u32]) -> Result<Option<u32>> {
        let mut of_kind: Vec<Option<(f64, u32)>> = vec![None; self.rows_of_kind.len()];
        for &at in candidates {
            if cluster.measured.gains_nobody(self.person(at)) {
                continue;
            }
            let added = self.added(cluster, at);
            let best = &mut of_kind[self.kinds[at as usize] as usize];
            if best.is_none_or(|(least, _)| added < least) {
                *best = Some((added, at));
            }
        }
        let mut enough: Option<(f64, u32)> = None;
        for &(added, at) in of_kind.iter().flatten() {
            if enough.is_some_and(|(least, _)| added >= least) {
                continue;
            }
            let facts = self.ground.facts(self.cells[at as usize]);
            cluster.measured.add(facts);
            if self.ground.admits_measured(&cluster.measured)? {
                enough = Some((added, at));
            }
            cluster.measured.remove(facts);
        }
        if let Some((_, at)) = enough {
            return Ok(Some(at));
        }
        let mut in_cluster = vec![0_u64; self.rows_of_kind.len()];
        for &(cell, rows) in &cluster.rows {
            let at = self.cells.partition_point(|&other| other < cell);
            in_cluster[self.kinds[at] as usize] += u64::from(rows);
        }
        let share = |kind: usize| (in_cluster[kind] + 1) as f64 / self.rows_of_kind[kind] as f64;
        let kinds = of_kind.iter().enumerate().filter_map(|(kind, best)| Some((kind, (*best)?.1)));
        Ok(kinds.min_by(|a, b| share(a.0).total_cmp(&share(b.0)).then(a.0.cmp(&b.0))).map(|(_, at)| at))
    }

    /// Puts rows that are left over into clusters; what no cluster can take is merged with whole clusters, or left out.
    fn place_the_rest(
        mut self,
        clusters: RowGroups,
        budget: u64,
        progress: &Progress,
    ) -> Result<Option<RowGroups>> {
        let mut rest: Vec<(u32, u32)> = Vec::new();
        // Clusters that have got rows since: few, since few rows are left.
        let mut changed: BTreeMap<usize, Cluster> = BTreeMap::new();
        let mut waiting = self.waiting.clone();
        waiting.sort_unstable();
        for at in waiting {
            for _ in 0..self.left[at as usize] {
                progress.spend(1 + clusters.len() as u64 / 8)?;
                let added = |number: usize| match changed.get(&number) {
                    Some(cluster) => self.added(cluster, at),
                    None => {
                        let (steps, of) =
                            (clusters.steps(number), self.ground.leaves(clusters.members(number)[0].0));
                        self.added_to(steps, of, self.cost(steps, of), clusters.n_rows(number), at)
                    }
                };
                let mut by_loss: Vec<(f64, usize)> = (0..clusters.len()).map(|n| (added(n), n)).collect();
                let n_tried = by_loss.len().min(MAX_TRIED);
                if n_tried < by_loss.len() {
                    by_loss.select_nth_unstable_by(n_tried, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
                }
                by_loss.truncate(n_tried);
                by_loss.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
                let cell = self.cells[at as usize];
                let mut is_placed = false;
                for (_, number) in by_loss {
                    let (mut cluster, was_changed) = match changed.remove(&number) {
                        Some(cluster) => (cluster, true),
                        None => (self.opened(&clusters, number), false),
                    };
                    cluster.measured.add(self.ground.facts(cell));
                    is_placed = self.ground.admits_measured(&cluster.measured)?;
                    cluster.measured.remove(self.ground.facts(cell));
                    if is_placed {
                        self.add(&mut cluster, at);
                    }
                    if is_placed || was_changed {
                        changed.insert(number, cluster);
                    }
                    if is_placed {
                        break;
                    }
                }
                if !is_placed {
                    match rest.last_mut() {
                        Some((other, rows)) if *other == cell => *rows += 1,
                        _ => rest.push((cell, 1)),
                    }
                }
            }
        }
        let groups = if changed.is_empty() {
            clusters
        } else {
            let mut groups = RowGroups::new(self.ground.trees.len());
            for (number, (steps, rows)) in clusters.iter().enumerate() {
                match changed.get(&number) {
                    Some(cluster) => groups.push(&cluster.steps, cluster.rows.iter().copied()),
                    None => groups.push(steps, rows.iter().copied()),
                }
            }
            groups
        };
        merge_rest(self.ground, groups, &rest, budget, progress)
    }

    /// A cluster as it was when it was finished.
    fn opened(&self, clusters: &RowGroups, number: usize) -> Cluster {
        let (steps, rows) = (clusters.steps(number), clusters.members(number));
        let mut measured = self.ground.no_rows();
        for &(cell, rows) in rows {
            measured.push(self.ground.facts(cell), u64::from(rows));
        }
        measured.settle();
        let cost = self.cost(steps, self.ground.leaves(rows[0].0));
        Cluster { steps: steps.to_vec(), cost, rows: rows.to_vec(), measured }
    }
}

/// Clusters that a leftover row is offered to.
const MAX_TRIED: usize = 32;
