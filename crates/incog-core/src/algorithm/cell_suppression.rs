//! Cell suppression (LeFevre, DeWitt, Ramakrishnan, SIGMOD 2005, section 5.2): cells stay or become `*`.
//!
//! *Promise*: every group of the release is one that the policy admits; cells are at level 0 or at the top of their
//! hierarchy. With [`SuppressionMethod::Forest`] and [`SuppressionMethod::Cover`], under k-anonymity of rows, no row is left
//! out and the weight of all `*` is at most a proven multiple of the least possible ([`bound`]):
//!
//! | method | paper | bound |
//! |---|---|---|
//! | `Forest` | Aggarwal, Feder, Kenthapadi, Motwani, Panigrahy, Thomas, Zhu: Anonymizing tables, ICDT 2005 | 3k − 3 |
//! | `Cover` | Meyerson, Williams: On the complexity of optimal k-anonymity, PODS 2004 | 4 (2k − 1)(k − 1)/k · H(2k − 1) |
//! | `Clusters` | k-member (module `clusters`) on two levels, of the whole table or within boxes | none |
//!
//! H(n) = 1 + 1/2 + ... + 1/n. The proofs are in the modules; they hold for weighted attributes too, and for each part of
//! the table where tops have several labels, so that records of different parts can never be alike. [`SuppressionMethod::Auto`]
//! takes the better of forest and clusters by the metric where the forest is allowed and affordable; else clusters. By loss
//! it thus keeps the forest's bound where tops cover all leaves.
//!
//! Both bounds count `*` by the user's weights. By loss a `*` costs the same wherever the top covers all leaves.

mod cover;
mod forest;

use crate::algorithm::Aim;
use crate::algorithm::cell_generalization::{answer, best_clusters, checked};
use crate::algorithm::clusters::lowest_steps;
use crate::algorithm::contract::{Algorithm, Answer, Claimed, ColumnNeeds, Family, Setting, Task};
use crate::algorithm::full_subgraph::boxes;
use crate::algorithm::groups::RowGroups;
use crate::algorithm::quality::Found;
use crate::algorithm::vectors::{Ground, Ladder};
use crate::error::{Error, ErrorKind, Result};
use crate::hierarchy::Attributes;
use crate::judge::Problem;
use crate::progress::Progress;
use crate::recoding::PerGroup;
use crate::registry::{Entry, Status};

/// How to search.
#[derive(Debug, Clone, Copy)]
pub struct CellSuppressionOptions<'a> {
    /// What makes a recoding good; its weights count in the bounds.
    pub aim: Aim<'a>,
    /// How groups are found.
    pub method: SuppressionMethod,
}

/// How groups are found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SuppressionMethod {
    /// By the size of the table and by the policy.
    #[default]
    Auto,
    /// A forest of near neighbours, cut into trees of k to 3k − 3 records.
    Forest,
    /// A greedy cover with small balls.
    Cover,
    /// Greedy clusters, each of records chosen from this number of candidates.
    Clusters {
        /// How many records a cluster looks at.
        candidates: usize,
    },
}

/// Records. The forest compares each with each other, and refuses more.
const MAX_FOREST: usize = 1 << 13;

/// Records. The cover compares each with each other for every ball, and refuses more.
const MAX_COVER: usize = 1 << 10;

/// Records that a cluster chooses from, unless the caller says how many.
const CANDIDATES: usize = 512;

impl SuppressionMethod {
    /// Clusters with as many candidates as are worth their time.
    pub const CLUSTERS: SuppressionMethod = SuppressionMethod::Clusters { candidates: CANDIDATES };
}

/// How many times the least weight of `*` an answer for k-anonymity of rows can have, if there is a bound.
pub fn bound(method: SuppressionMethod, k: u64) -> Option<f64> {
    let of = k as f64;
    match method {
        _ if k <= 1 => Some(1.0),
        SuppressionMethod::Forest => Some(3.0 * of - 3.0),
        SuppressionMethod::Cover => {
            let harmonic: f64 = (1..2 * k).map(|n| 1.0 / n as f64).sum();
            Some(4.0 * (2.0 * of - 1.0) * (of - 1.0) / of * harmonic)
        }
        SuppressionMethod::Auto | SuppressionMethod::Clusters { .. } => None,
    }
}

/// Suppresses as few cells as it can find.
///
/// `None` if the policy refuses some records whatever is suppressed, more than the budget. Fails when the policy is not
/// closed under merging, when a bound is asked for and the policy is not k-anonymity of rows or the table too large, when
/// the source has counts only, or when it is cancelled.
pub fn cell_suppression(
    problem: Problem<'_>,
    attributes: &Attributes,
    options: CellSuppressionOptions<'_>,
    progress: &Progress,
) -> Result<Option<Found<PerGroup>>> {
    let ground = Ground::new(problem, attributes, options.aim, Ladder::Ends, "cell-suppression")?;
    let n_rows = ground.n_rows() as usize;
    let groups = match options.method {
        SuppressionMethod::Clusters { candidates } => {
            let candidates = checked("cell-suppression", candidates)?;
            let regions = boxes(&ground, None, u64::MAX, progress)?;
            best_clusters(&ground, regions, candidates, progress)?
        }
        SuppressionMethod::Forest => {
            check_size(n_rows, MAX_FOREST)?;
            bounded(&ground, needed_rows(&ground)?, forest::partition, progress)?
        }
        SuppressionMethod::Cover => {
            check_size(n_rows, MAX_COVER)?;
            bounded(&ground, needed_rows(&ground)?, cover::partition, progress)?
        }
        SuppressionMethod::Auto => {
            let regions = boxes(&ground, None, u64::MAX, progress)?;
            let found = best_clusters(&ground, regions, CANDIDATES, progress)?;
            match needed_rows(&ground) {
                Ok(k) if n_rows <= MAX_FOREST => {
                    better(&ground, bounded(&ground, k, forest::partition, progress)?, found)
                }
                _ => found,
            }
        }
    };
    groups.map(|groups| answer(&ground, groups)).transpose()
}

fn check_size(n_rows: usize, most: usize) -> Result<()> {
    if n_rows > most {
        return Err(Error::new(
            ErrorKind::Limit,
            format!("{n_rows} rows are too many for a cell suppression with a bound; {most} can be done"),
        )
        .with_hint("set suppression_method = \"clusters\", which promises no bound"));
    }
    Ok(())
}

/// How many rows the policy wants in a group, if that is all it wants.
fn needed_rows(ground: &Ground<'_>) -> Result<usize> {
    let policy = ground.policy;
    if !policy.demand().is_rows_only() {
        return Err(Error::new(
            ErrorKind::Policy,
            format!("a cell suppression with a bound cannot promise {}", policy.describe()),
        )
        .with_hint("set suppression_method = \"clusters\", which promises no bound"));
    }
    let n_rows = ground.n_rows();
    let admits = |rows: u64| policy.admits(crate::group::Measures::of_rows(vec![rows]).group(0));
    // All models of rows alone are absorbing: what is admitted stays so with more rows.
    let (mut refused, mut admitted) = (0, n_rows + 1);
    while refused + 1 < admitted {
        let middle = refused + (admitted - refused) / 2;
        if admits(middle)? {
            admitted = middle;
        } else {
            refused = middle;
        }
    }
    Ok(admitted as usize)
}

fn better(ground: &Ground<'_>, a: Option<RowGroups>, b: Option<RowGroups>) -> Option<RowGroups> {
    match (a, b) {
        (Some(a), Some(b)) => {
            Some(if ground.compare(&ground.sums(&b), &ground.sums(&a)).is_lt() { b } else { a })
        }
        (a, b) => a.or(b),
    }
}

/// The records of one part of the table.
struct Points<'a> {
    leaves: Vec<&'a [u32]>,
    weights: &'a [f64],
}

impl Points<'_> {
    fn len(&self) -> usize {
        self.leaves.len()
    }

    /// The weight of the attributes in which two records differ.
    fn distance(&self, a: usize, b: usize) -> f64 {
        let columns = self.leaves[a].iter().zip(self.leaves[b]).zip(self.weights);
        columns.filter(|((a, b), _)| a != b).map(|(_, weight)| weight).sum()
    }
}

/// A partition of n records into groups of at least k.
type Partition = fn(&Points<'_>, usize, &Progress) -> Result<Vec<Vec<u32>>>;

/// Partitions each part of the table. Parts with too few records are left out, if the budget allows.
fn bounded(
    ground: &Ground<'_>,
    k: usize,
    partition: Partition,
    progress: &Progress,
) -> Result<Option<RowGroups>> {
    let mut groups = RowGroups::new(ground.trees.len());
    let mut left_out = 0;
    for vectors in ground.by_labels(0..ground.n_vectors(), &ground.top()) {
        let mut records: Vec<u32> = Vec::new();
        for &vector in &vectors {
            for &cell in ground.cells_of(vector) {
                records.extend(std::iter::repeat_n(cell, ground.cells.rows[cell as usize] as usize));
            }
        }
        if records.len() < k {
            left_out += records.len() as u64;
            continue;
        }
        let leaves = records.iter().map(|&cell| ground.leaves(cell)).collect();
        let points = Points { leaves, weights: &ground.aim.costs.weights };
        for group in partition(&points, k, progress)? {
            let mut cells: Vec<u32> = group.iter().map(|&at| records[at as usize]).collect();
            cells.sort_unstable();
            let rows: Vec<(u32, u32)> =
                cells.chunk_by(|a, b| a == b).map(|same| (same[0], same.len() as u32)).collect();
            groups.push(&lowest_steps(ground, &rows), rows);
        }
    }
    Ok((left_out <= ground.budget).then_some(groups))
}

/// How it is listed and run.
pub(super) const ENTRY: Entry<Algorithm> = Entry {
    name: "cell-suppression",
    summary: "local recoding: cells stay or become `*`, as few as can be found",
    reference: "Aggarwal et al.: Anonymizing tables, ICDT 2005; Meyerson, Williams, PODS 2004",
    doc: include_str!("cell_suppression.md"),
    status: Status::Preview,
    item: Algorithm {
        family: Family::MultiDimension,
        columns: ColumnNeeds::Nothing,
        settings: &[Setting::SuppressionMethod],
        claim: |_| Claimed::Local,
        traversal: None,
        run,
    },
};

fn run(task: &Task<'_>) -> Result<Option<Answer>> {
    let options = CellSuppressionOptions { aim: task.aim, method: task.settings.suppression_method };
    let found = cell_suppression(task.problem, task.attributes, options, task.progress)?;
    Ok(found.map(Answer::of_groups))
}
