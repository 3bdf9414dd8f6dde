//! Which node is best, and what is known of the interesting ones?
//!
//! Scoring needs the groups of a node wherever rows may be suppressed or the metric asks for group sizes. Where only
//! suppression matters, a node's levels bound its score, and few nodes need to be looked at. Otherwise [`visit`] brings
//! the groups for any ascending list of nodes: it walks down the attributes in column order and keeps
//! one frequency set per attribute, each rolled up from the one before, so consecutive nodes share almost all
//! work. Cost: a roll-up per visited node and per new prefix of levels; one scan in all; memory: one frequency
//! set per attribute. Where nothing may be suppressed, `loss` and `precision` need no groups at all.
//!
//! Where memory is limited, the list is halved until the groups from which a part of it can be made fit; a node whose own groups
//! do not is counted [in parts](Statistics::in_parts). Each part of the list takes a scan then.

use std::sync::Arc;

use crate::error::Result;
use crate::frequency::{FrequencySet, Scratch};
use crate::hierarchy::Attributes;
use crate::judge::Problem;
use crate::lattice::{Lattice, NodeSet};
use crate::metric::{Costs, Metric, Needs, Ranking, Statistics};
use crate::progress::Progress;

/// A node with what is known of it.
#[derive(Debug, Clone)]
pub struct Scored {
    /// The node.
    pub node: usize,
    /// The sum of its levels.
    pub height: usize,
    /// Sums over its groups.
    pub statistics: Statistics,
}

/// Looks at the groups of each of `nodes`, which must ascend.
pub fn describe(
    problem: Problem<'_>,
    attributes: &Attributes,
    lattice: &Lattice,
    nodes: &[usize],
    progress: &Progress,
) -> Result<Vec<Scored>> {
    let mut described = Vec::with_capacity(nodes.len());
    visit(problem, attributes, lattice, nodes, progress, &mut |node, statistics| {
        described.push(Scored { node, height: lattice.height(node), statistics });
    })?;
    Ok(described)
}

/// The best of the nodes of `holding`, which must hold, by a metric. `None` when there is none.
pub fn best(
    problem: Problem<'_>,
    attributes: &Attributes,
    lattice: &Lattice,
    holding: &NodeSet,
    costs: &Costs,
    metric: &dyn Metric,
    progress: &Progress,
) -> Result<Option<Scored>> {
    let mut ranking = Ranking::new(costs, metric);
    progress.expect(holding.len() as u64);
    match metric.needs() {
        Needs::Groups => {
            let nodes: Vec<usize> = holding.iter().collect();
            visit(problem, attributes, lattice, &nodes, progress, &mut |_, statistics| {
                _ = ranking.offer(&statistics);
            })?;
            return Ok(ranking.into_best(lattice));
        }
        Needs::Suppression if problem.policy.budget() > 0 => {
            // Best levels first: once a node's levels alone do not beat the best, its groups need not be seen.
            let mut nodes: Vec<(f64, usize)> =
                holding.iter().map(|node| (ranking.bound(lattice.levels(node).collect()), node)).collect();
            nodes.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            for (bound, node) in nodes {
                if ranking.can_win(bound, || lattice.levels(node).collect()) {
                    let grouping = lattice.grouping(node);
                    let levels = lattice.levels(node).collect();
                    let statistics = match problem.count_within(&grouping)? {
                        Ok(set) => Statistics::new(problem, attributes, levels, &set)?,
                        Err(too_many) => Statistics::in_parts(problem, attributes, levels, too_many)?,
                    };
                    ranking.offer(&statistics);
                }
                progress.done(1)?;
            }
            return Ok(ranking.into_best(lattice));
        }
        Needs::Levels | Needs::Suppression => {}
    }
    for node in holding.iter() {
        progress.done(1)?;
        ranking.offer(&Statistics::of_levels(lattice.levels(node).collect()));
    }
    match ranking.into_best(lattice) {
        None => Ok(None),
        Some(best) => Ok(describe(problem, attributes, lattice, &[best.node], progress)?.pop()),
    }
}

/// Calls `look` with each node of the ascending list and what is known of its groups.
fn visit(
    problem: Problem<'_>,
    attributes: &Attributes,
    lattice: &Lattice,
    nodes: &[usize],
    progress: &Progress,
    look: &mut dyn FnMut(usize, Statistics),
) -> Result<()> {
    debug_assert!(nodes.is_sorted());
    let Some(bottom) = nodes.iter().copied().reduce(|a, b| lattice.meet(a, b)) else {
        return Ok(());
    };
    let start = match problem.count_within(&lattice.grouping(bottom))? {
        Ok(start) => start,
        Err(too_many) if nodes.len() == 1 => {
            let levels = lattice.levels(bottom).collect();
            look(bottom, Statistics::in_parts(problem, attributes, levels, too_many)?);
            return progress.done(1);
        }
        // Nodes that have less in common begin at a finer one: half of them has more in common.
        Err(_) => {
            let (first, second) = nodes.split_at(nodes.len() / 2);
            visit(problem, attributes, lattice, first, progress, look)?;
            return visit(problem, attributes, lattice, second, progress, look);
        }
    };
    let n_attributes = lattice.attributes().len();
    let bottom: Vec<u8> = lattice.levels(bottom).collect();
    let is_limited = problem.source.room().is_some();
    let start = Arc::new(start);
    // `path[i]` has the first i attributes at the current node's levels and the others at the bottom's.
    let mut path: Vec<Arc<FrequencySet>> = (0..=n_attributes).map(|_| Arc::clone(&start)).collect();
    let mut current = bottom.clone();
    let mut scratch = Scratch::default();
    for &node in nodes {
        let levels: Vec<u8> = lattice.levels(node).collect();
        if is_limited {
            // A set for each attribute is more than there is room for beside the first.
            let set = start.roll_up(&lattice.grouping(node), &mut scratch);
            look(node, Statistics::new(problem, attributes, levels, &set)?);
            progress.done(1)?;
            continue;
        }
        if let Some(first) = (0..n_attributes).find(|&at| levels[at] != current[at]) {
            for at in first..n_attributes {
                path[at + 1] = if levels[at] == bottom[at] {
                    Arc::clone(&path[at])
                } else {
                    // At the first change the attribute has risen, so the old set is finer, and smaller than
                    // the one before it.
                    let is_finer = at == first && current[at] < levels[at];
                    let finer = if is_finer { &path[at + 1] } else { &path[at] };
                    let mut prefix = *path[at].grouping();
                    prefix.set(lattice.attributes()[at], levels[at]);
                    Arc::new(finer.roll_up(&prefix, &mut scratch))
                };
            }
            current.clone_from(&levels);
        }
        look(node, Statistics::new(problem, attributes, levels, &path[n_attributes])?);
        progress.done(1)?;
    }
    Ok(())
}
