//! Who shares a tree with whom? (MiRaCle and MiRaCleX: Algorithm 2 of the paper, with its Algorithms 4 and 5 by the choice
//! of [`Pairing`](super::Pairing).)
//!
//! *Promise*: each person is in exactly one cluster or suppressed, each cluster has at least k members, and its tree is
//! what they have in common: each label is the lowest above the labels of the records it stands for.
//!
//! 1. Persons come in row order. Each looks for the nearest open cluster (the oldest of equally near ones). If it is
//!    farther than the threshold and fewer clusters are open than the limit allows, the person opens a new one; else it
//!    joins, and the cluster's tree becomes the common anonymization of both.
//! 2. A cluster with k members is closed.
//! 3. Clusters still open at the end are merged: the oldest takes in the nearest, until it has k members and is closed.
//! 4. Persons in a last one that has too few are suppressed: fewer than k.
//!
//! Sound because a cluster is closed only with k members, and its tree holds one record of each in each of its nodes.
//!
//! Cost: persons × open clusters at worst, then the square of the open clusters; most are ruled out uncompared, see
//! `nearest`.

use crate::error::Result;
use crate::progress::{Progress, Stage};
use crate::relational::bound::Bounds;
use crate::relational::flat::Flat;
use crate::relational::nearest::{NearestOptions, Pool};
use crate::relational::{Database, Matcher, Node, Options, TreeDistance, Trees};

/// Who is in which cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clustering {
    /// The common tree of each cluster, in the order in which they were closed. The records of its root are the members:
    /// rows of the person table.
    pub clusters: Vec<Node>,
    /// Rows of the person table that are in no cluster: fewer than k, unless clusters were suppressed because a policy
    /// refuses them ([`dmiracle()`](super::dmiracle())).
    pub suppressed: Vec<u32>,
}

/// Clusters the persons of a database.
pub fn miracle(database: &Database, options: &Options, progress: &Progress) -> Result<Clustering> {
    options.check(database)?;
    let matcher = Matcher::with(database, options);
    let bounds = Bounds::new(matcher.layout(), database);
    let search =
        NearestOptions { matcher: &matcher, bounds: &bounds, candidates: options.candidates, values: None };
    let (clusters, suppressed) = cluster(database, search, options, progress)?;
    debug_assert!(clusters.iter().all(|cluster| cluster.n_members() >= options.k));
    let clusters = clusters.into_iter().map(|cluster| cluster.to_node(matcher.layout())).collect();
    Ok(Clustering { clusters, suppressed })
}

/// The clusters and who is in none.
pub(super) fn cluster(
    database: &Database,
    search: NearestOptions<'_>,
    options: &Options,
    progress: &Progress,
) -> Result<(Vec<Flat>, Vec<u32>)> {
    let NearestOptions { matcher, bounds, .. } = search;
    let trees = Trees::new(database);
    progress.enter(Stage::Clustering);
    progress.expect(database.n_persons() as u64);
    let mut clusters = Vec::new();
    let mut open = Pool::new(search);
    for row_idx in 0..database.n_persons() as u32 {
        progress.done(1)?;
        progress.count_rows(1);
        let person = Flat::of_person(matcher.layout(), &trees, row_idx);
        let vector = bounds.vector(&person);
        let is_near = |distance: TreeDistance| !distance.exceeds(options.threshold);
        let nearest = open.nearest(&person, &vector);
        let nearest =
            nearest.filter(|&(distance, _)| is_near(distance) || open.len() >= options.cluster_limit);
        let joined = nearest.and_then(|(_, at)| Some((open.take(at)?, at)));
        match joined {
            Some((cluster, at)) => {
                let cluster = open.common(&cluster, &person);
                if cluster.n_members() >= options.k {
                    clusters.push(cluster);
                } else {
                    open.put_back(at, cluster);
                }
            }
            None if options.k == 1 => clusters.push(person),
            None => {
                open.push(person, &vector);
            }
        }
    }
    let suppressed = merge_leftovers(bounds, open, options.k, &mut clusters, progress)?;
    Ok((clusters, suppressed))
}

/// Closes what can be closed; the members of a last cluster that cannot are left.
fn merge_leftovers(
    bounds: &Bounds,
    mut open: Pool<'_>,
    k: usize,
    clusters: &mut Vec<Flat>,
    progress: &Progress,
) -> Result<Vec<u32>> {
    while let Some(mut oldest) = open.take_oldest() {
        while oldest.n_members() < k {
            progress.check()?;
            let nearest = open.nearest(&oldest, &bounds.vector(&oldest));
            let Some(other) = nearest.and_then(|(_, at)| open.take(at)) else {
                return Ok(oldest.members().to_vec());
            };
            oldest = open.common(&oldest, &other);
        }
        clusters.push(oldest);
    }
    Ok(Vec::new())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privacy::Fraction;
    use crate::relational::samples::students;
    use crate::relational::{Matching, Pairing};

    fn options(k: usize, threshold: (u64, u64), cluster_limit: usize) -> Options {
        let threshold = Fraction::new(threshold.0, threshold.1).unwrap();
        Options { threshold, cluster_limit, pairing: Pairing::Subtree, ..Options::new(k) }
    }

    fn members(options: &Options) -> (Vec<Vec<u32>>, Vec<u32>) {
        let database = Database::new(students(), "student").unwrap();
        let Clustering { clusters, suppressed } = miracle(&database, options, &Progress::new()).unwrap();
        (clusters.iter().map(|cluster| cluster.records().to_vec()).collect(), suppressed)
    }

    #[test]
    fn the_students_pair_up_whether_they_meet_at_once_or_as_leftovers() {
        for (threshold, cluster_limit) in [((3, 10), 150), ((0, 1), 150), ((0, 1), 1)] {
            let pairs = (vec![vec![0, 1], vec![2, 3]], vec![]);
            assert_eq!(members(&options(2, threshold, cluster_limit)), pairs);
        }
    }

    #[test]
    fn the_cluster_limit_lets_far_persons_join() {
        // All four are farther than 0 from each other. With a limit of 1 the first three share a cluster.
        assert_eq!(members(&options(3, (0, 1), 1)), (vec![vec![0, 1, 2]], vec![3]));
    }

    #[test]
    fn with_k_of_1_everybody_stays_alone() {
        let alone = (0..4).map(|person| vec![person]).collect();
        assert_eq!(members(&options(1, (1, 1), 150)), (alone, vec![]));
    }

    #[test]
    fn impossible_settings_are_refused() {
        let database = Database::new(students(), "student").unwrap();
        let refused =
            |options: Options| miracle(&database, &options, &Progress::new()).unwrap_err().to_string();
        assert_eq!(refused(options(0, (0, 1), 1)), "k is 0");
        assert_eq!(refused(options(2, (0, 1), 0)), "the cluster limit is 0");
        assert_eq!(refused(options(2, (11, 10), 1)), "the threshold is above 1");
        let unclear = Options { pairing: Pairing::Level, matching: Matching::Optimal, ..Options::new(2) };
        assert_eq!(refused(unclear), "pairing level by level leaves nothing to match optimally");
        assert_eq!(refused(options(5, (0, 1), 1)), "table `student` has 4 persons, fewer than k = 5");
    }

    #[test]
    fn a_cancelled_run_stops_the_clustering() {
        let database = Database::new(students(), "student").unwrap();
        let progress = Progress::new();
        progress.cancel();
        let error = miracle(&database, &options(2, (0, 1), 1), &progress).unwrap_err();
        assert_eq!(error.kind(), crate::ErrorKind::Cancelled);
    }
}
