//! Which cluster is nearest?
//!
//! A [`Pool`] holds clusters, oldest first, and finds the nearest to a tree: the oldest of equally near ones.
//!
//! 1. A lower bound of the distance to each cluster comes from the head of its vector, the steps that weigh most (see
//!    `bound`). Heads lie side by side: for 50,000 clusters that is 3 MB to read.
//! 2. The most promising cluster is compared first. Of the others those are compared whose bound, by the head and then by the
//!    whole vector, is below the least distance so far; a comparison is given up as soon as it reaches that distance.
//!
//! The answer is that of comparing all, since nothing is skipped that could be nearer, or as near and older.
//!
//! With a limit on the candidates, no more clusters than that are considered in step 2: those with the least bounds by the whole
//! vector, the oldest of equal ones.
//!
//! Measured on 100,000 students (k = 10, limit 150, MiRaCleX): all 1.0 s with a loss of 0.371, 32 candidates 1.4 s and 0.371,
//! 16 1.2 s and 0.369, 8 1.0 s and 0.377, 1 1.0 s and 0.575. Few comparisons are left to save: candidates pay where they are
//! dear. A limit of 1,500 open clusters takes 1.6 s and brings the loss to 0.333.
//!
//! Cost: a vector a cluster, and for each search all heads, some vectors and a few comparisons.

use std::cmp::Ordering;

use crate::relational::bound::{Bounds, Vector};
use crate::relational::compare::Scratch;
use crate::relational::diversity::Values;
use crate::relational::flat::Flat;
use crate::relational::{Matcher, TreeDistance};

/// Not a number of cells: the cluster was taken.
const GAP: u64 = u64::MAX;

/// How to search.
#[derive(Debug, Clone, Copy)]
pub(super) struct NearestOptions<'a> {
    pub(super) matcher: &'a Matcher,
    pub(super) bounds: &'a Bounds,
    /// Clusters that are compared at most.
    pub(super) candidates: Option<usize>,
    /// Whose values raise the distance.
    pub(super) values: Option<&'a Values<'a>>,
}

/// Clusters to choose from.
#[derive(Debug)]
pub(super) struct Pool<'a> {
    search: NearestOptions<'a>,
    /// Oldest first; those that were taken leave a gap.
    clusters: Vec<Option<Flat>>,
    /// For each cluster the head of its vector, one after the other; and the rest of it.
    heads: Vec<u16>,
    tails: Vec<u16>,
    /// For each cluster the cost of its vector and its cells, or [`GAP`].
    totals: Vec<(u64, u64)>,
    n_clusters: usize,
    /// No cluster stands before it.
    oldest: usize,
    scratch: Scratch,
    least: Vec<Least>,
}

/// How near a cluster may be.
#[derive(Debug, Clone, Copy)]
struct Least {
    /// The least cost by the number of cells, rounded.
    distance: f64,
    cost: u64,
    at: u32,
}

/// More than any rounding of a distance, as a part of it.
const ROUNDING: f64 = 1e-9;

impl<'a> Pool<'a> {
    pub(super) fn new(search: NearestOptions<'a>) -> Self {
        Pool {
            search,
            clusters: Vec::new(),
            heads: Vec::new(),
            tails: Vec::new(),
            totals: Vec::new(),
            n_clusters: 0,
            oldest: 0,
            scratch: Scratch::default(),
            least: Vec::new(),
        }
    }

    /// How many clusters there are.
    pub(super) fn len(&self) -> usize {
        self.n_clusters
    }

    /// One more, the youngest; where it stands.
    pub(super) fn push(&mut self, cluster: Flat, vector: &Vector) -> usize {
        self.close_gaps();
        let (head, tail) = vector.entries.split_at(self.search.bounds.n_head());
        self.totals.push((vector.cost, cluster.n_cells()));
        self.heads.extend_from_slice(head);
        self.tails.extend_from_slice(tail);
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
        self.close_gaps();
        let at = self.oldest + self.clusters[self.oldest..].iter().position(Option::is_some)?;
        self.oldest = at;
        self.take(at)
    }

    /// Puts a cluster where one was taken.
    pub(super) fn put_back(&mut self, at: usize, cluster: Flat) {
        debug_assert!(self.clusters[at].is_none());
        let vector = self.search.bounds.vector(&cluster);
        let (head, tail) = vector.entries.split_at(self.search.bounds.n_head());
        self.heads[at * head.len()..][..head.len()].copy_from_slice(head);
        self.tails[at * tail.len()..][..tail.len()].copy_from_slice(tail);
        self.totals[at] = (vector.cost, cluster.n_cells());
        self.clusters[at] = Some(cluster);
        self.n_clusters += 1;
        self.oldest = self.oldest.min(at);
    }

    /// Closes gaps when they are more than half: that is one move a cluster.
    fn close_gaps(&mut self) {
        if self.clusters.len() <= 2 * self.n_clusters + 32 {
            return;
        }
        let n_head = self.search.bounds.n_head();
        let n_tail = self.search.bounds.n_entries() - n_head;
        let mut to = 0;
        for from in 0..self.clusters.len() {
            if self.clusters[from].is_some() {
                self.clusters.swap(from, to);
                self.totals[to] = self.totals[from];
                self.heads.copy_within(from * n_head..(from + 1) * n_head, to * n_head);
                self.tails.copy_within(from * n_tail..(from + 1) * n_tail, to * n_tail);
                to += 1;
            }
        }
        self.clusters.truncate(to);
        self.totals.truncate(to);
        self.heads.truncate(to * n_head);
        self.tails.truncate(to * n_tail);
        self.oldest = 0;
    }

    /// What both have in common.
    pub(super) fn common(&mut self, first: &Flat, second: &Flat) -> Flat {
        self.search.matcher.compare(first, second, &mut self.scratch).common()
    }

    /// The nearest cluster to a tree, the oldest of equally near ones; with its distance and where it stands.
    pub(super) fn nearest(&mut self, tree: &Flat, vector: &Vector) -> Option<(TreeDistance, usize)> {
        let NearestOptions { matcher, candidates, values, .. } = self.search;
        self.look_at_heads(tree, vector);
        let is_limited = candidates.is_some_and(|n| n < self.least.len());
        if let Some(n) = candidates.filter(|_| is_limited) {
            self.keep_most_promising(n, tree, vector);
        }
        let first = (0..self.least.len()).min_by(|&x, &y| by_distance(&self.least[x], &self.least[y]))?;
        self.least.swap(0, first);
        let mut best: Option<(TreeDistance, usize)> = None;
        let mut farthest = f64::INFINITY;
        for least in &self.least {
            // Floats rule out most; whole numbers decide the rest.
            if least.distance > farthest {
                continue;
            }
            let at = least.at as usize;
            let Some(cluster) = &self.clusters[at] else { continue };
            let n_cells = cluster.n_cells() + tree.n_cells();
            let limit = best.map_or(u64::MAX, |(nearest, older)| nearest.limit(n_cells, at < older));
            let cost = if is_limited { least.cost } else { least.cost + self.tail_apart(at, vector) };
            if cost >= limit {
                continue;
            }
            let mut comparison = matcher.compare(cluster, tree, &mut self.scratch);
            let cost = comparison.cost(limit);
            if cost >= limit {
                continue;
            }
            let mut distance = TreeDistance::new(cost, n_cells);
            if let Some(values) = values {
                let (same, all) = values.shared(cluster, tree, &comparison.all_pairs());
                distance = distance.raised(same, all);
            }
            if best.is_none_or(|nearest| (distance, at) < nearest) {
                farthest = distance.in_units() * (1.0 + ROUNDING);
                best = Some((distance, at));
            }
        }
        best
    }

    /// How near each cluster may be to a tree, by the heads of their vectors.
    fn look_at_heads(&mut self, tree: &Flat, vector: &Vector) {
        let bounds = self.search.bounds;
        let head = &vector.entries[..bounds.n_head()];
        self.least.clear();
        for (at, &(of_cluster, n_cells)) in self.totals.iter().enumerate() {
            if n_cells == GAP {
                continue;
            }
            let apart = bounds.steps_apart(&self.heads[at * head.len()..][..head.len()], head);
            let cost = apart + of_cluster + vector.cost;
            let distance = cost as f64 / (n_cells + tree.n_cells()).max(1) as f64;
            self.least.push(Least { distance, cost, at: at as u32 });
        }
    }

    /// What the rest of the vector adds to the cost.
    fn tail_apart(&self, at: usize, vector: &Vector) -> u64 {
        let tail = &vector.entries[self.search.bounds.n_head()..];
        self.search.bounds.steps_apart(&self.tails[at * tail.len()..][..tail.len()], tail)
    }

    /// Keeps the `n` that are nearest by their whole vectors, fewer than there are.
    fn keep_most_promising(&mut self, n: usize, tree: &Flat, vector: &Vector) {
        let whole = |pool: &Self, mut least: Least| {
            least.cost += pool.tail_apart(least.at as usize, vector);
            let n_cells = pool.totals[least.at as usize].1 + tree.n_cells();
            least.distance = least.cost as f64 / n_cells.max(1) as f64;
            least
        };
        let mut heads = std::mem::take(&mut self.least);
        // Of the nearest by head none is farther than this by the whole vector, so no cluster whose head is farther is
        // among the nearest by the whole vector.
        heads.select_nth_unstable_by(n, by_distance);
        let mut kept: Vec<Least> = heads[..n].iter().map(|&least| whole(self, least)).collect();
        let farthest = kept.iter().map(|least| least.distance).fold(0.0, f64::max);
        let near = heads[n..].iter().filter(|least| least.distance <= farthest);
        kept.extend(near.map(|&least| whole(self, least)));
        if kept.len() > n {
            kept.select_nth_unstable_by(n, by_distance);
            kept.truncate(n);
        }
        heads.clear();
        heads.extend(kept);
        self.least = heads;
    }
}

/// The nearest first, then the oldest.
fn by_distance(a: &Least, b: &Least) -> Ordering {
    a.distance.total_cmp(&b.distance).then(a.at.cmp(&b.at))
}
