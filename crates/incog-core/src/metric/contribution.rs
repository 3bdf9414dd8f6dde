//! What does a metric add up that no other metric needs?
//!
//! Many metrics are sums over cells of what a label costs: its share of the leaves, its entropy, anything that can be said of a
//! label alone. Such a metric gives a [`Contribution`]: a *weight* for each label, a whole number. The engine adds the weights up
//! over the released cells, wherever it keeps sums: of a node, of a search for one, of a local recoding, of boxes. The metric
//! asks for its sums ([`Costs::weighed`]) and makes a score of them.
//!
//! 1. [`Covers`] says what a label stands for: its level, its leaves, its rows in the table.
//! 2. The weights of all labels are found once, when a metric first asks.
//! 3. Of a node, the sum over all rows is known for each level in advance; what suppressed rows have is taken away.
//!
//! Weights are whole numbers, so that a sum does not depend on the order of groups. **A weight never falls on the way up, and
//! the weight of everything is the greatest**: nodes are bounded by that. A metric that cannot promise it has no
//! [terms](crate::metric::Metric::term), and needs [groups](crate::metric::Needs::Groups).
//!
//! Cost: a weight for each label of each level, once; then a multiplication for each suppressed label or released group, for
//! the metric that a search aims at. Metrics without a contribution pay nothing.

use std::sync::{Arc, RwLock};

use crate::metric::Costs;
use crate::metric::statistics::RowsByLabel;
use crate::recoding::Side;

/// A weight for each label.
#[derive(Debug, Clone, Copy)]
pub struct Contribution {
    /// The name of the weights: metrics that use the same name must give the same weights.
    pub name: &'static str,
    /// What a cell with a label weighs.
    pub weight: fn(&Covers) -> u64,
}

/// What a label stands for, or a range of an ordered domain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Covers {
    /// The number of its level in the whole hierarchy; for a range 0 if it is a single value, else 1.
    pub level: u8,
    /// The height of the whole hierarchy.
    pub height: u8,
    /// The leaves under it, whether or not they occur.
    pub leaves: u64,
    /// All leaves.
    pub all_leaves: u64,
    /// The rows of the table that have one of its values, suppressed ones included.
    pub rows: u64,
    /// All rows of the table.
    pub all_rows: u64,
}

/// The weights of all labels.
#[derive(Debug)]
pub(crate) struct Weights {
    name: &'static str,
    /// For each attribute and level, the weight of each label; 0 for those without rows.
    pub(crate) of_labels: Vec<Vec<Vec<u64>>>,
    /// For each attribute and level, the sum over all rows.
    totals: Vec<Vec<u128>>,
    /// For each attribute and level, how many rows have a label of which weight: the heaviest first.
    heaviest: Vec<Vec<Vec<(u64, u64)>>>,
    /// For each attribute, the weight of a cell that could be anything.
    everything: Vec<u64>,
    /// For each attribute, the sum over all rows as collected.
    least: Vec<u128>,
}

impl Weights {
    fn new(costs: &Costs, contribution: &Contribution) -> Self {
        let weight = contribution.weight;
        let mut weights = Weights {
            name: contribution.name,
            of_labels: Vec::new(),
            totals: Vec::new(),
            heaviest: Vec::new(),
            everything: (0..costs.heights.len()).map(|at| weight(&costs.covers_all(at))).collect(),
            least: Vec::new(),
        };
        for at in 0..costs.heights.len() {
            let (mut of_labels, mut totals, mut heaviest) = (Vec::new(), Vec::new(), Vec::new());
            for level in 0..costs.rows_of_labels[at].len() as u8 {
                let labels = costs.rows_of_labels[at][usize::from(level)].iter().zip(0..);
                let here: Vec<(u64, u64)> = labels
                    .map(|(&rows, label)| match rows {
                        0 => (0, 0),
                        rows => (weight(&costs.covers(at, Side::Label { level, label })), rows),
                    })
                    .collect();
                totals.push(here.iter().map(|&(weight, rows)| u128::from(weight) * u128::from(rows)).sum());
                of_labels.push(here.iter().map(|&(weight, _)| weight).collect());
                let mut sorted = here;
                sorted.sort_unstable_by(|a, b| b.cmp(a));
                heaviest.push(sorted);
            }
            weights.least.push(match &costs.rows_of_values[at] {
                None => totals.first().copied().unwrap_or(0),
                Some(values) => {
                    let value =
                        |&rows: &u64| weight(&Covers { level: 0, leaves: 1, rows, ..costs.covers_all(at) });
                    values.iter().map(|rows| u128::from(value(rows)) * u128::from(*rows)).sum()
                }
            });
            weights.of_labels.push(of_labels);
            weights.totals.push(totals);
            weights.heaviest.push(heaviest);
        }
        weights
    }

    /// The most that `rows` rows can weigh at a level of an attribute.
    pub(crate) fn most(&self, attribute: usize, level: u8, mut rows: u64) -> u128 {
        let mut sum = 0;
        for &(weight, n_rows) in &self.heaviest[attribute][usize::from(level)] {
            let taken = rows.min(n_rows);
            sum += u128::from(taken) * u128::from(weight);
            rows -= taken;
        }
        sum
    }
}

/// The weights that were asked for so far. A copy finds its own.
#[derive(Debug, Default)]
pub(crate) struct Known(RwLock<Vec<Arc<Weights>>>);

impl Clone for Known {
    fn clone(&self) -> Self {
        Known::default()
    }
}

impl Known {
    fn find(&self, name: &str) -> Option<Arc<Weights>> {
        let known = self.0.read().unwrap_or_else(std::sync::PoisonError::into_inner);
        known.iter().find(|weights| weights.name == name).cloned()
    }

    fn add(&self, weights: Arc<Weights>) {
        self.0.write().unwrap_or_else(std::sync::PoisonError::into_inner).push(weights);
    }
}

impl Costs {
    /// The weights of a contribution.
    pub(crate) fn weights_of(&self, contribution: &Contribution) -> Arc<Weights> {
        self.known.find(contribution.name).unwrap_or_else(|| {
            // Two threads may both find them: they find the same.
            let weights = Arc::new(Weights::new(self, contribution));
            self.known.add(Arc::clone(&weights));
            weights
        })
    }

    /// What the cells of an attribute weigh together: released ones by their labels, suppressed ones like those that could be
    /// anything.
    pub fn weighed(
        &self,
        contribution: &Contribution,
        attribute: usize,
        node: &crate::metric::Statistics,
    ) -> u128 {
        let weights = self.weights_of(contribution);
        let suppressed = u128::from(node.suppressed_rows) * u128::from(weights.everything[attribute]);
        let at_level = |level: u8| weights.totals[attribute][usize::from(level)];
        let released = match (node.rows_by_label(), node.levels.get(attribute)) {
            (RowsByLabel::Nothing, Some(&level)) => at_level(level),
            (RowsByLabel::Nothing, None) => 0,
            (RowsByLabel::Sums(sums), Some(&level)) => at_level(level) - sums[attribute],
            (RowsByLabel::Sums(sums), None) => sums[attribute],
            (RowsByLabel::Suppressed(labels), level) => {
                let level = level.copied().unwrap_or(0);
                let of_labels = &weights.of_labels[attribute][usize::from(level)];
                let weight =
                    |&(label, rows): &(u32, u64)| u128::from(of_labels[label as usize]) * u128::from(rows);
                at_level(level) - labels[attribute].iter().map(weight).sum::<u128>()
            }
            (RowsByLabel::Released(sides), _) => {
                let weight = |&(side, rows): &(Side, u64)| {
                    u128::from((contribution.weight)(&self.covers(attribute, side))) * u128::from(rows)
                };
                sides[attribute].iter().map(weight).sum()
            }
        };
        released + suppressed
    }

    /// What they weigh as collected: the least that they can, whichever levels may be chosen. Where the lowest level is ruled out
    /// and the source has counts only, as collected means at the lowest level left.
    pub fn least_weight(&self, contribution: &Contribution, attribute: usize) -> u128 {
        self.weights_of(contribution).least[attribute]
    }

    /// What they would weigh if each could be anything: the most that they can.
    pub fn most_weight(&self, contribution: &Contribution, attribute: usize) -> u128 {
        u128::from(self.n_rows) * u128::from(self.weights_of(contribution).everything[attribute])
    }

    fn covers_all(&self, at: usize) -> Covers {
        Covers {
            level: self.heights[at],
            height: self.heights[at],
            leaves: self.leaves[at],
            all_leaves: self.leaves[at],
            rows: self.n_rows,
            all_rows: self.n_rows,
        }
    }

    fn covers(&self, at: usize, side: Side) -> Covers {
        let all = self.covers_all(at);
        match (side, &self.domains[at]) {
            (Side::Label { level, label }, _) => {
                let (level, label) = (usize::from(level), label as usize);
                Covers {
                    level: self.numbers[at][level],
                    leaves: self.leaves_of_labels[at][level][label],
                    rows: self.rows_of_labels[at][level][label],
                    ..all
                }
            }
            (Side::Everything, _) | (_, None) => all,
            (Side::Missing, Some(domain)) => Covers {
                level: 0,
                leaves: 1,
                rows: self.rows_of_values(at, |value| domain.slot(value).is_none()),
                ..all
            },
            (Side::Range { start, end }, Some(domain)) => {
                let leaves = domain.leaves(start, end);
                let is_within = |value| domain.slot(value).is_some_and(|slot| (start..end).contains(&slot));
                Covers {
                    level: u8::from(leaves > 1),
                    leaves,
                    rows: self.rows_of_values(at, is_within),
                    ..all
                }
            }
        }
    }

    /// How many rows have one of some values.
    fn rows_of_values(&self, at: usize, is_meant: impl Fn(u32) -> bool) -> u64 {
        if let Some(rows) = &self.rows_of_values[at] {
            return rows.iter().zip(0..).filter(|&(_, value)| is_meant(value)).map(|(&rows, _)| rows).sum();
        }
        let lowest = &self.rows_of_labels[at][0];
        let values = self.labels_of_values[at].iter().zip(0..).filter(|&(_, value)| is_meant(value));
        let mut labels: Vec<u32> = values.map(|(&label, _)| label).collect();
        // Where the source cannot tell values apart, those with one label count together.
        labels.sort_unstable();
        labels.dedup();
        labels.iter().map(|&label| lowest[label as usize]).sum()
    }
}
