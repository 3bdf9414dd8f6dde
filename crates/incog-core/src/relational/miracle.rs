//! Who shares a tree with whom? (MiRaCle and MiRaCleX: Algorithm 2 of the paper, with its Algorithms 4 and 5 by the choice
//! of [`Pairing`].)
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
//! Cost: persons × open clusters comparisons; then at most the square of the open clusters.

use crate::error::{Error, Result};
use crate::privacy::Fraction;
use crate::relational::{Database, Distance, Matcher, Node, Pairing, Trees};
use crate::watch::Watch;

/// How to cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// How many persons share a tree, at least.
    pub k: usize,
    /// A person farther than this from every open cluster opens a new one; from 0 to 1.
    pub threshold: Fraction,
    /// So many clusters may be open at a time, at least 1.
    pub cluster_limit: usize,
    /// By what children are paired.
    pub pairing: Pairing,
}

/// Who is in which cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clustering {
    /// The common tree of each cluster, in the order in which they were closed. The records of its root are the members:
    /// rows of the person table.
    pub clusters: Vec<Node>,
    /// Rows of the person table that are in no cluster, fewer than k.
    pub suppressed: Vec<u32>,
}

/// Clusters the persons of a database.
pub fn miracle(database: &Database, options: &Options, watch: &Watch) -> Result<Clustering> {
    check(database, options)?;
    let trees = Trees::new(database);
    let matcher = Matcher::new(database, options.pairing);
    let mut clusters = Vec::new();
    // Oldest first.
    let mut open: Vec<Node> = Vec::new();
    for row_idx in 0..database.n_persons() as u32 {
        watch.check()?;
        let person = trees.person(row_idx);
        let nearest = nearest(&matcher, &open, &person);
        let is_near = |distance: Distance| !distance.exceeds(options.threshold);
        let at = match nearest {
            Some((distance, at)) if is_near(distance) || open.len() >= options.cluster_limit => {
                open[at] = matcher.common(&open[at], &person);
                at
            }
            _ => {
                open.push(person);
                open.len() - 1
            }
        };
        if open[at].records().len() >= options.k {
            clusters.push(open.remove(at));
        }
    }
    let suppressed = merge_leftovers(&matcher, open, options.k, &mut clusters, watch)?;
    debug_assert!(clusters.iter().all(|cluster| cluster.records().len() >= options.k));
    Ok(Clustering { clusters, suppressed })
}

/// Closes what can be closed; the members of a last cluster that cannot are left.
fn merge_leftovers(
    matcher: &Matcher<'_>,
    mut open: Vec<Node>,
    k: usize,
    clusters: &mut Vec<Node>,
    watch: &Watch,
) -> Result<Vec<u32>> {
    while !open.is_empty() {
        let mut oldest = open.remove(0);
        while oldest.records().len() < k {
            watch.check()?;
            let Some((_, at)) = nearest(matcher, &open, &oldest) else {
                return Ok(oldest.records().to_vec());
            };
            oldest = matcher.common(&oldest, &open.remove(at));
        }
        clusters.push(oldest);
    }
    Ok(Vec::new())
}

/// The nearest of some clusters, the oldest of equally near ones; with its distance and its place.
fn nearest(matcher: &Matcher<'_>, clusters: &[Node], tree: &Node) -> Option<(Distance, usize)> {
    clusters.iter().map(|cluster| matcher.distance(cluster, tree)).zip(0..).min()
}

fn check(database: &Database, options: &Options) -> Result<()> {
    let n_persons = database.n_persons();
    if options.k == 0 {
        return Err(Error::input("k is 0").with_hint("k is the least number of persons that share a tree"));
    }
    if options.cluster_limit == 0 {
        return Err(Error::input("the cluster limit is 0").with_hint("allow at least 1 open cluster"));
    }
    if options.threshold > Fraction::ONE {
        return Err(Error::input("the threshold is above 1").with_hint("distances lie between 0 and 1"));
    }
    if n_persons < options.k {
        let person = &database.relations()[database.person()].name;
        return Err(Error::input(format!(
            "table `{person}` has {n_persons} persons, fewer than k = {}",
            options.k
        ))
        .with_hint("no release can hide a person among so many; choose a smaller k"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::relational::samples::students;

    fn options(k: usize, threshold: (u64, u64), cluster_limit: usize) -> Options {
        let threshold = Fraction::new(threshold.0, threshold.1).unwrap();
        Options { k, threshold, cluster_limit, pairing: Pairing::Subtree }
    }

    fn members(options: &Options) -> (Vec<Vec<u32>>, Vec<u32>) {
        let database = Database::new(students(), "student").unwrap();
        let Clustering { clusters, suppressed } = miracle(&database, options, &Watch::new()).unwrap();
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
        let refused = |options: Options| miracle(&database, &options, &Watch::new()).unwrap_err().to_string();
        assert_eq!(refused(options(0, (0, 1), 1)), "k is 0");
        assert_eq!(refused(options(2, (0, 1), 0)), "the cluster limit is 0");
        assert_eq!(refused(options(2, (11, 10), 1)), "the threshold is above 1");
        assert_eq!(refused(options(5, (0, 1), 1)), "table `student` has 4 persons, fewer than k = 5");
    }

    #[test]
    fn a_cancelled_watch_stops_the_clustering() {
        let database = Database::new(students(), "student").unwrap();
        let watch = Watch::new();
        watch.cancel();
        let error = miracle(&database, &options(2, (0, 1), 1), &watch).unwrap_err();
        assert_eq!(error.kind(), crate::ErrorKind::Cancelled);
    }
}
