//! The best node, for searches that must not end worse.

use crate::algorithm::single::{Aim, GeneticOptions, genetic};
use crate::algorithm::{has_quick_optimum_search, optimum};
use crate::error::Result;
use crate::hierarchy::Attributes;
use crate::judge::Problem;
use crate::lattice::Lattice;
use crate::progress::Progress;

/// Of larger lattices not every node is judged that could be best, where one good node is all that is needed.
const MAX_JUDGED: usize = 1 << 18;

/// The best node that holds, if there is any; the best that is found where the lattice is too large to know.
pub(super) fn best_node(
    problem: Problem<'_>,
    attributes: &Attributes,
    aim: Aim<'_>,
    progress: &Progress,
) -> Result<Option<Vec<u8>>> {
    let heights = attributes.heights();
    let is_small = || Lattice::new(&heights).is_ok_and(|lattice| lattice.n_nodes() <= MAX_JUDGED);
    if has_quick_optimum_search(problem.policy, aim.metric, &heights) || is_small() {
        let found = optimum(problem, attributes, aim.costs, aim.metric, progress)?;
        return Ok(found.best.map(|node| node.statistics.levels));
    }
    let found = genetic(problem, attributes, GeneticOptions::new(aim), progress)?;
    Ok(found.map(|found| found.recoding))
}
