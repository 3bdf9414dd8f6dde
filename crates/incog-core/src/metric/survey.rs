//! Which node is best, and what is known of the interesting ones?
//!
//! Scoring needs the groups of a node wherever rows may be suppressed or the metric asks for group sizes.
//! [`visit`] brings them for any ascending list of nodes: it walks down the attributes in column order and keeps
//! one frequency set per attribute, each rolled up from the one before, so consecutive nodes share almost all
//! work. Cost: a roll-up per visited node and per new prefix of levels; one scan in all; memory: one frequency
//! set per attribute. Where nothing may be suppressed, `loss` and `precision` need no groups at all.

use std::sync::Arc;

use crate::check::Problem;
use crate::error::Result;
use crate::frequency::{FrequencySet, Method, Scratch};
use crate::hierarchy::Attributes;
use crate::lattice::{Lattice, NodeSet};
use crate::metric::{Costs, Metric, Needs, Statistics};
use crate::watch::Watch;

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
    watch: &Watch,
) -> Result<Vec<Scored>> {
    let mut described = Vec::with_capacity(nodes.len());
    visit(problem, lattice, nodes, watch, &mut |node, set| {
        let levels: Vec<u8> = lattice.levels(node).collect();
        let statistics = Statistics::new(problem, attributes, levels, set)?;
        described.push(Scored { node, height: lattice.height(node), statistics });
        Ok(())
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
    watch: &Watch,
) -> Result<Option<Scored>> {
    let mut best: Option<Scored> = None;
    let mut consider = |node: usize, statistics: &Statistics| {
        let height = lattice.height(node);
        // Nodes come in column order, so a later one must be better or lower.
        let is_better = best.as_ref().is_none_or(|best| {
            metric.compare(costs, statistics, &best.statistics).then(height.cmp(&best.height)).is_lt()
        });
        if is_better {
            best = Some(Scored { node, height, statistics: statistics.clone() });
        }
    };
    let needs_groups = match metric.needs() {
        Needs::Levels => false,
        Needs::Suppression => problem.policy.budget() > 0,
        Needs::Groups => true,
    };
    if needs_groups {
        let nodes: Vec<usize> = holding.iter().collect();
        watch.begin_stage(nodes.len() as u64);
        visit(problem, lattice, &nodes, watch, &mut |node, set| {
            consider(node, &Statistics::new(problem, attributes, lattice.levels(node).collect(), set)?);
            Ok(())
        })?;
        return Ok(best);
    }
    let mut statistics = Statistics::of_levels(vec![0; lattice.attributes().len()]);
    for node in holding.iter() {
        watch.check()?;
        for (mine, level) in statistics.levels.iter_mut().zip(lattice.levels(node)) {
            *mine = level;
        }
        consider(node, &statistics);
    }
    match best {
        None => Ok(None),
        Some(best) => Ok(describe(problem, attributes, lattice, &[best.node], watch)?.pop()),
    }
}

/// Calls `look` with each node of the ascending list and its groups.
fn visit(
    problem: Problem<'_>,
    lattice: &Lattice,
    nodes: &[usize],
    watch: &Watch,
    look: &mut dyn FnMut(usize, &FrequencySet) -> Result<()>,
) -> Result<()> {
    debug_assert!(nodes.is_sorted());
    let Some(bottom) = nodes.iter().copied().reduce(|a, b| lattice.meet(a, b)) else {
        return Ok(());
    };
    let n_attributes = lattice.attributes().len();
    let start =
        Arc::new(problem.source.count(&lattice.grouping(bottom), &problem.policy.demand(), Method::Auto)?);
    let bottom: Vec<u8> = lattice.levels(bottom).collect();
    // `path[i]` has the first i attributes at the current node's levels and the others at the bottom's.
    let mut path: Vec<Arc<FrequencySet>> = (0..=n_attributes).map(|_| Arc::clone(&start)).collect();
    let mut current = bottom.clone();
    let mut scratch = Scratch::default();
    for &node in nodes {
        let levels: Vec<u8> = lattice.levels(node).collect();
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
        look(node, &path[n_attributes])?;
        watch.settled(1)?;
    }
    Ok(())
}
