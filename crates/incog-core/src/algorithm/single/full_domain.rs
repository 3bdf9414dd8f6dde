//! The best node, for searches that must not end worse.

use crate::algorithm::single::{Aim, GeneticOptions, genetic};
use crate::algorithm::{has_quick_optimum_search, optimum};
use crate::check::Problem;
use crate::error::Result;
use crate::hierarchy::Attributes;
use crate::lattice::Lattice;
use crate::watch::Watch;

/// Of larger lattices not every node is judged that could be best, where one good node is all that is needed.
const MAX_JUDGED: usize = 1 << 18;

/// The best node that holds, if there is any; the best that is found where the lattice is too large to know.
pub(super) fn best_node(
    problem: Problem<'_>,
    attributes: &Attributes,
    aim: Aim<'_>,
    watch: &Watch,
) -> Result<Option<Vec<u8>>> {
    let heights = attributes.heights();
    let is_small = || Lattice::new(&heights).is_ok_and(|lattice| lattice.n_nodes() <= MAX_JUDGED);
    if has_quick_optimum_search(problem.policy, aim.metric, &heights) || is_small() {
        let found = optimum(problem, attributes, aim.costs, aim.metric, watch)?;
        return Ok(found.best.map(|node| node.statistics.levels));
    }
    let found = genetic(problem, attributes, GeneticOptions::new(aim), watch)?;
    Ok(found.map(|found| found.recoding))
}
