//! What does each node of a lattice cost at least?

use crate::error::Result;
use crate::judge::{Problem, Sizes};
use crate::lattice::{Grid, Lattice, Marks};
use crate::metric::{Costs, GroupBounds, Metric, Needs, Ranking, Statistics};

/// Bounds of all nodes, which rise as nodes are judged.
pub(super) struct Bounds {
    of_nodes: Vec<f64>,
    /// What bounds are made of, if the metric needs groups.
    groups: Option<OfGroups>,
}

/// What is known of every node, by metrics that need groups.
struct OfGroups {
    rule: GroupBounds,
    /// The strongest sum of a node below.
    sums: Vec<u64>,
    /// How many rows are suppressed at least.
    suppressed: Vec<u64>,
}

impl Bounds {
    pub(super) fn new(
        problem: Problem<'_>,
        lattice: &Lattice,
        costs: &Costs,
        metric: &dyn Metric,
        ranking: &Ranking<'_>,
    ) -> Result<Self> {
        if metric.needs() != Needs::Groups {
            return Ok(Bounds { of_nodes: ranking.bounds(lattice), groups: None });
        }
        let n_nodes = lattice.n_nodes();
        let Some(grows) = metric.grows() else {
            return Ok(Bounds { of_nodes: vec![f64::NEG_INFINITY; n_nodes], groups: None });
        };
        let n_rows = problem.source.n_rows();
        let of_rows = problem.policy.least_admitted(n_rows)?;
        let least = match (of_rows, problem.policy.k_only()) {
            (None, Some(part)) => part.least_admitted(n_rows)?,
            (least, _) => least,
        };
        let rule = GroupBounds {
            grows,
            n_rows,
            // Where no group is admitted: a suppressed row costs no more than all rows.
            least: least.unwrap_or(1).min(n_rows).max(1),
            budget: problem.policy.budget(),
            is_rows_only: of_rows.is_some(),
        };
        let sums = rule.first_sums(lattice, costs);
        let of_nodes = sums.iter().map(|&sum| rule.bound(sum, 0)).collect();
        let groups = Some(OfGroups { rule, sums, suppressed: vec![0; n_nodes] });
        Ok(Bounds { of_nodes, groups })
    }

    /// The bound of a node.
    pub(super) fn of(&self, node: usize) -> f64 {
        self.of_nodes[node]
    }

    /// The fewest rows of a released group, if sizes of groups matter.
    pub(super) fn least(&self) -> Option<u64> {
        self.groups.as_ref().map(|groups| groups.rule.least)
    }

    /// The rows of some groups are suppressed at a node and below it. Returns those of the marked nodes whose bounds rise.
    pub(super) fn suppressed_below(
        &mut self,
        (lattice, grid, marks): (&Lattice, &Grid, &Marks),
        node: usize,
        ranking: &Ranking<'_>,
        suppressed: &Statistics,
    ) -> Vec<usize> {
        let mut raised = Vec::new();
        if let Some(OfGroups { rule, sums, suppressed: known }) = &mut self.groups {
            let rows = suppressed.suppressed_rows;
            if rows > 0 {
                raised = grid.nodes_below(marks, node);
            }
            raised.retain(|&below| known[below] < rows);
            for &below in &raised {
                known[below] = rows;
                self.of_nodes[below] = rule.bound(sums[below], rows);
            }
        } else if let Some(terms) = ranking.terms_below(suppressed) {
            raised = grid.nodes_below(marks, node);
            raised.retain(|&below| {
                let levels = lattice.levels(below).enumerate();
                let bound: f64 = levels.map(|(position, level)| terms[position][usize::from(level)]).sum();
                let is_higher = bound > self.of_nodes[below];
                if is_higher {
                    self.of_nodes[below] = bound;
                }
                is_higher
            });
        }
        raised
    }

    /// A node has groups of these sizes. Returns those of the marked nodes above it whose bounds rise.
    pub(super) fn groups_of(&mut self, grid: &Grid, marks: &Marks, node: usize, sizes: &Sizes) -> Vec<usize> {
        let Some(OfGroups { rule, sums, suppressed }) = &mut self.groups else {
            return Vec::new();
        };
        let sum = rule.sum(sizes);
        let mut raised = grid.nodes_above(marks, node);
        raised.retain(|&above| {
            let stronger = rule.stronger(sums[above], sum);
            let is_higher = stronger != sums[above];
            if is_higher {
                sums[above] = stronger;
                self.of_nodes[above] = rule.bound(stronger, suppressed[above]);
            }
            is_higher
        });
        raised
    }
}
