//! The best node, for searches that must not end worse.

use crate::algorithm::single::{Aim, GeneticOptions, genetic};
use crate::algorithm::{Search, choose, has_optimum_search, optimum};
use crate::check::Problem;
use crate::error::Result;
use crate::hierarchy::Attributes;
use crate::lattice::Lattice;
use crate::metric;
use crate::watch::Watch;

/// Larger lattices are not classified where one node is all that is needed.
const MAX_CLASSIFIED: usize = 1 << 18;

/// The best node that holds, if there is any; the best that is found where the lattice is too large to know.
pub(super) fn best_node(
    problem: Problem<'_>,
    attributes: &Attributes,
    aim: Aim<'_>,
    watch: &Watch,
) -> Result<Option<Vec<u8>>> {
    let heights = attributes.heights();
    let found = if has_optimum_search(problem.policy, aim.metric, &heights) {
        optimum(problem, attributes, aim.costs, aim.metric, watch)?.best
    } else if Lattice::new(&heights).is_ok_and(|lattice| lattice.n_nodes() <= MAX_CLASSIFIED) {
        let outcome = Search { algorithm: choose(&heights), ..Search::default() }.run(problem, watch)?;
        let (lattice, holding) = (&outcome.lattice, &outcome.holding);
        metric::best(problem, attributes, lattice, holding, aim.costs, aim.metric, watch)?
    } else {
        let found = genetic(problem, attributes, GeneticOptions::new(aim), watch)?;
        return Ok(found.map(|found| found.recoding));
    };
    Ok(found.map(|node| node.statistics.levels))
}
