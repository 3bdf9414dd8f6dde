//! Who shares a tree with whom, if sensitive values must be spread? (dMiRaCle: Algorithm 6 of the paper, and the two
//! alternatives of its section 5.2.)
//!
//! *Promise*: what [`miracle()`](super::miracle()) promises, and that every matched set of every cluster satisfies the
//! [`Requirements`]: models that compare with all rows compare with those of the clusters returned.
//!
//! 1. Persons are clustered as by MiRaCle, with k, at least 2. ([`Enforcement::Distance`] raises the distance d of a person to
//!    d + (1 − d) · s, where s is the share of the person's paired sensitive cells whose value the cluster has at that node.)
//! 2. [`Enforcement::Merge`]: the oldest cluster that is not diverse is merged with the nearest that is not (the oldest of
//!    equally near ones), and the result stands among the diverse ones, or is the youngest of the others; until at most one
//!    is left, which is suppressed. With the other two all that are not diverse are suppressed.
//! 3. If a model compares with all rows: the rows of the clusters kept are those that it compares with now. Clusters that
//!    are not diverse any more go through step 2 again, until there are none.
//!
//! Sound because a cluster is returned only if it was judged diverse after the last change. Ends because each round of
//! step 3 leaves fewer clusters. If nothing satisfies what is required, everybody is suppressed.
//!
//! Differs from the paper: (1) k may be more than 2; (2) any model, not only ℓ-diversity; (3) step 3.
//!
//! Cost: MiRaCle's, and for n clusters that are not diverse at most n searches among n; see `nearest`. 100,000 students in
//! 50,000 clusters of two, none of which has three grades in each matched set: 14 s.

use crate::error::Result;
use crate::progress::{Progress, Stage};
use crate::relational::bound::Bounds;
use crate::relational::diversity::{Judge, Values};
use crate::relational::flat::Flat;
use crate::relational::miracle::cluster;
use crate::relational::nearest::{NearestOptions, Pool};
use crate::relational::{Clustering, Database, Enforcement, Matcher, Options, Requirements};

/// Clusters the persons of a database so that the sensitive values of each matched set satisfy what is required.
pub fn dmiracle(
    database: &Database,
    options: &Options,
    requirements: &[Requirements],
    enforcement: Enforcement,
    progress: &Progress,
) -> Result<Clustering> {
    options.check(database)?;
    let matcher = Matcher::with(database, options);
    let values = Values::new(database, matcher.layout(), requirements)?;
    let bounds = Bounds::new(matcher.layout(), database);
    let search =
        NearestOptions { matcher: &matcher, bounds: &bounds, candidates: options.candidates, values: None };
    let raised = (enforcement == Enforcement::Distance).then_some(&values);
    let options = Options { k: options.k.max(2), ..*options };
    let (clusters, mut suppressed) =
        cluster(database, NearestOptions { values: raised, ..search }, &options, progress)?;
    let mut judge = Judge::new(&values, requirements);
    let (mut diverse, mut violating) = split(&judge, clusters, progress)?;
    loop {
        let left = match enforcement {
            Enforcement::Merge => merge(search, &judge, violating, &mut diverse, progress)?,
            Enforcement::Distance | Enforcement::Suppress => violating,
        };
        suppressed.extend(left.iter().flat_map(Flat::members));
        if !judge.compares() || diverse.is_empty() {
            break;
        }
        judge.compare_with(database, &diverse)?;
        (diverse, violating) = split(&judge, diverse, progress)?;
        if violating.is_empty() {
            break;
        }
    }
    let clusters = diverse.into_iter().map(|cluster| cluster.to_node(matcher.layout())).collect();
    Ok(Clustering { clusters, suppressed })
}

/// The diverse clusters and the others, in order.
fn split(judge: &Judge<'_>, clusters: Vec<Flat>, progress: &Progress) -> Result<(Vec<Flat>, Vec<Flat>)> {
    let (mut diverse, mut violating) = (Vec::new(), Vec::new());
    for cluster in clusters {
        progress.check()?;
        if judge.is_diverse(&cluster)? { diverse.push(cluster) } else { violating.push(cluster) }
    }
    Ok((diverse, violating))
}

/// Merges clusters that are not diverse with each other until at most one is left.
fn merge(
    search: NearestOptions<'_>,
    judge: &Judge<'_>,
    violating: Vec<Flat>,
    diverse: &mut Vec<Flat>,
    progress: &Progress,
) -> Result<Vec<Flat>> {
    progress.enter(Stage::Merging);
    progress.expect(violating.len() as u64);
    let mut pool = Pool::new(search);
    for cluster in violating {
        let vector = search.bounds.vector(&cluster);
        pool.push(cluster, &vector);
    }
    while let Some(oldest) = pool.take_oldest() {
        let nearest = pool.nearest(&oldest, &search.bounds.vector(&oldest));
        let Some(other) = nearest.and_then(|(_, at)| pool.take(at)) else { return Ok(vec![oldest]) };
        let merged = pool.common(&oldest, &other);
        if judge.is_diverse(&merged)? {
            diverse.push(merged);
            progress.done(2)?;
        } else {
            let vector = search.bounds.vector(&merged);
            pool.push(merged, &vector);
            progress.done(1)?;
        }
    }
    Ok(Vec::new())
}
