//! Which cluster is nearest?
//!
//! A [`Pool`] holds clusters, oldest first, and finds the nearest to a tree: the oldest of equally near ones.
//!
//! 1. A lower bound of the distance to each cluster comes from its vector (see `bound`).
//! 2. The most promising cluster is compared first. Of the others those are compared whose bound is below the least
//!    distance so far; a comparison is given up as soon as it reaches that distance.
//!
//! The answer is that of comparing all, since nothing is skipped that could be nearer, or as near and older.
//!
//! Cost: a vector a cluster, and for each search all vectors and a few comparisons.

use crate::relational::bound::{Bounds, Vector};
use crate::relational::compare::Scratch;
use crate::relational::flat::Flat;
use crate::relational::{Distance, Matcher};

/// Not a number of cells: the cluster was taken.
const GAP: u64 = u64::MAX;

/// Clusters to choose from.
#[derive(Debug)]
pub(super) struct Pool<'a> {
    matcher: &'a Matcher,
    bounds: &'a Bounds,
    /// Oldest first; those that were taken leave a gap.
    clusters: Vec<Option<Flat>>,
    /// For each cluster its vector, one after the other.
    entries: Vec<u16>,
    /// For each cluster the cost of its vector and its cells, or [`GAP`].
    totals: Vec<(u64, u64)>,
    n_clusters: usize,
    scratch: Scratch,
    least_costs: Vec<u64>,
}

impl<'a> Pool<'a> {
    pub(super) fn new(matcher: &'a Matcher, bounds: &'a Bounds) -> Self {
        Pool {
            matcher,
            bounds,
            clusters: Vec::new(),
            entries: Vec::new(),
            totals: Vec::new(),
            n_clusters: 0,
            scratch: Scratch::default(),
            least_costs: Vec::new(),
        }
    }

    /// How many clusters there are.
    pub(super) fn len(&self) -> usize {
        self.n_clusters
    }

    /// One more, the youngest; where it stands.
    pub(super) fn push(&mut self, cluster: Flat, vector: &Vector) -> usize {
        // Gaps are closed when they are more than half: that is one move a cluster.
        if self.clusters.len() > 2 * self.n_clusters + 32 {
            self.close_gaps();
        }
        self.totals.push((vector.cost, cluster.n_cells()));
        self.entries.extend_from_slice(&vector.entries);
        self.clusters.push(Some(cluster));
        self.n_clusters += 1;
        self.clusters.len() - 1
    }

    /// Takes out a cluster.
    pub(super) fn take(&mut self, at: usize) -> Option<Flat> {
        let cluster = self.clusters.get_mut(at)?.take()?;
        self.totals[at] = (0, GAP);
        self.n_clusters -= 1;
        Some(cluster)
    }

    /// Takes out the oldest.
    pub(super) fn take_oldest(&mut self) -> Option<Flat> {
        let at = self.clusters.iter().position(Option::is_some)?;
        self.take(at)
    }

    /// Puts a cluster where one was taken.
    pub(super) fn put_back(&mut self, at: usize, cluster: Flat) {
        debug_assert!(self.clusters[at].is_none());
        let vector = self.bounds.vector(&cluster);
        let n_entries = self.bounds.n_entries();
        self.entries[at * n_entries..][..n_entries].copy_from_slice(&vector.entries);
        self.totals[at] = (vector.cost, cluster.n_cells());
        self.clusters[at] = Some(cluster);
        self.n_clusters += 1;
    }

    fn close_gaps(&mut self) {
        let n_entries = self.bounds.n_entries();
        let mut to = 0;
        for from in 0..self.clusters.len() {
            if self.clusters[from].is_some() {
                self.clusters.swap(from, to);
                self.totals[to] = self.totals[from];
                self.entries.copy_within(from * n_entries..(from + 1) * n_entries, to * n_entries);
                to += 1;
            }
        }
        self.clusters.truncate(to);
        self.totals.truncate(to);
        self.entries.truncate(to * n_entries);
    }

    /// What both have in common.
    pub(super) fn common(&mut self, first: &Flat, second: &Flat) -> Flat {
        self.matcher.compare(first, second, &mut self.scratch).common()
    }

    /// The nearest cluster to a tree, the oldest of equally near ones; with its distance and where it stands.
    pub(super) fn nearest(&mut self, tree: &Flat, vector: &Vector) -> Option<(Distance, usize)> {
        let n_entries = self.bounds.n_entries();
        self.least_costs.clear();
        let mut first: Option<(f64, usize)> = None;
        for at in 0..self.clusters.len() {
            let (cost, n_cells) = self.totals[at];
            if n_cells == GAP {
                self.least_costs.push(u64::MAX);
                continue;
            }
            let apart =
                self.bounds.steps_apart(&self.entries[at * n_entries..][..n_entries], &vector.entries);
            let least = apart + cost + vector.cost;
            self.least_costs.push(least);
            let mean = least as f64 / (n_cells + tree.n_cells()).max(1) as f64;
            if first.is_none_or(|(nearest, _)| mean < nearest) {
                first = Some((mean, at));
            }
        }
        let (_, first) = first?;
        let mut best: Option<(Distance, usize)> = None;
        for at in std::iter::once(first).chain((0..self.clusters.len()).filter(|&at| at != first)) {
            let Some(cluster) = &self.clusters[at] else { continue };
            let n_cells = cluster.n_cells() + tree.n_cells();
            let limit = match best {
                None => u64::MAX,
                Some((distance, older)) => {
                    let limit = distance.limit(n_cells, at < older);
                    if self.least_costs[at] >= limit {
                        continue;
                    }
                    limit
                }
            };
            let cost = self.matcher.compare(cluster, tree, &mut self.scratch).cost(limit);
            if cost < limit {
                best = Some((Distance::new(cost, n_cells), at));
            }
        }
        best
    }
}
