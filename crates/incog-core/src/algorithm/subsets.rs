//! Which generalizations of each subset of the quasi-identifiers satisfy the policy?
//!
//! Incognito classifies the generalizations of every subset on its way to all attributes (section 3; the bitmap paper stops at "the
//! subset the user wants"). Here they are the answer, up to a number of attributes: that is what statistical offices ask, who look at
//! all tables of at most three columns.
//!
//! 1. Where pruning is sound, subsets are searched as [`incognito`] does. A subset that has no candidates has no
//!    generalization that holds.
//! 2. Where it is not, a smaller subset says nothing of a larger one, and every node of every subset is judged.
//!
//! A subset is judged by the groups of its own attributes, as if the others were not released, with the whole budget.
//! Cost: that of Incognito; in case 2 one check for each node of each subset.

use crate::algorithm::breadth_first::judge_each;
use crate::algorithm::{MAX_CANDIDATES, Run, Search, incognito, n_candidates};
use crate::error::{Error, ErrorKind, Result};
use crate::judge::{Keep, Problem, Work};
use crate::lattice::{Lattice, NodeSet};
use crate::privacy::Pruning;
use crate::progress::Progress;

/// The generalizations of one subset that hold.
#[derive(Debug, Clone)]
pub struct Subset {
    /// The attributes, with the lattice of their levels.
    pub family: Lattice,
    /// The nodes of that lattice that hold.
    pub holding: NodeSet,
    /// Those with no other one below them, in column order of their levels.
    pub minimal: Vec<usize>,
}

/// What was found of each subset.
#[derive(Debug, Clone)]
pub struct Subsets {
    /// The subsets, the smallest first, then in column order. All of them up to the size that was asked for.
    pub subsets: Vec<Subset>,
    /// What it took, preparation included.
    pub work: Work,
}

/// Classifies the generalizations of every subset of at most `most` attributes. The judge, the marking, the threads and
/// what is done with a single label are those of `search`.
pub fn subsets(search: &Search, problem: Problem<'_>, most: usize, progress: &Progress) -> Result<Subsets> {
    let heights = problem.source.layout().heights();
    let judges = search.judge.prepare(problem, progress)?;
    let lattice = Lattice::new(&heights)?;
    let run = Run { search, problem, judges: &*judges, progress, lattice: &lattice };
    let mut work = judges.preparation();
    let most = most.min(heights.len());
    let mut subsets = match problem.policy.pruning() {
        Pruning::Sound => {
            let mut subsets = Vec::new();
            incognito::by_size(&run, most, |_, searched| {
                for found in searched {
                    work += found.work;
                    let (family, holding) = (found.family.clone(), found.holding.clone());
                    subsets.push(Subset { minimal: holding.lowest(&family), family, holding });
                }
            })?;
            with_missing(subsets, &heights, most)?
        }
        Pruning::Unsound => one_by_one(&run, &heights, most, &mut work)?,
    };
    progress.expect(0);
    subsets.sort_by(|a, b| {
        let key = |subset: &Subset| (subset.family.attributes().len(), subset.family.attributes().to_vec());
        key(a).cmp(&key(b))
    });
    Ok(Subsets { subsets, work })
}

/// Judges every node of every subset.
fn one_by_one(run: &Run<'_>, heights: &[u8], most: usize, work: &mut Work) -> Result<Vec<Subset>> {
    if n_candidates(heights) > MAX_CANDIDATES {
        let n = heights.len();
        return Err(Error::new(
            ErrorKind::Limit,
            format!("there are too many subsets of {n} quasi-identifiers"),
        )
        .with_hint("use fewer quasi-identifiers, or fewer levels"));
    }
    let mut subsets = Vec::new();
    for attributes in all(heights.len(), most) {
        let family = Lattice::of_family(attributes, heights)?;
        run.progress.expect(family.n_nodes() as u64);
        let mut judge = run.judges.open(&family, &[0], Keep::Everything)?;
        let holding = judge_each(&family, &NodeSet::all(&family), &mut *judge, run.progress)?;
        *work += judge.work();
        drop(judge);
        subsets.push(Subset { minimal: holding.minimal(&family), holding, family });
    }
    Ok(subsets)
}

/// Adds the subsets that had no candidates: nothing of them holds.
fn with_missing(mut subsets: Vec<Subset>, heights: &[u8], most: usize) -> Result<Vec<Subset>> {
    let known: crate::hash::Set<Vec<usize>> =
        subsets.iter().map(|subset| subset.family.attributes().to_vec()).collect();
    for attributes in all(heights.len(), most).filter(|attributes| !known.contains(attributes)) {
        let family = Lattice::of_family(attributes, heights)?;
        subsets.push(Subset { holding: NodeSet::empty(&family), minimal: Vec::new(), family });
    }
    Ok(subsets)
}

/// Every set of at least one and at most `most` attributes.
fn all(n_attributes: usize, most: usize) -> impl Iterator<Item = Vec<usize>> {
    // A search with more attributes than there are bits was refused before.
    let n_sets = 1_u64.checked_shl(n_attributes as u32).unwrap_or(0);
    let members = move |set: u64| (0..n_attributes).filter(|at| set >> at & 1 == 1).collect::<Vec<_>>();
    (1..n_sets).filter(move |set| set.count_ones() as usize <= most).map(members)
}
