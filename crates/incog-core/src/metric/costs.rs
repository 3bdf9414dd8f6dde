//! What is the same for every node of a table.

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::frequency::{FrequencySet, Method, counted};
use crate::group::Demand;
use crate::hierarchy::{Attribute, Attributes};
use crate::judge::Problem;
use crate::lattice::Grouping;
use crate::metric::contribution::Known;
use crate::metric::statistics::Statistics;
use crate::recoding::{CellSums, Domain, Domains, Side};

/// Weights beyond this say nothing that this does not say.
pub const MAX_WEIGHT: f64 = 1e9;

/// Nor do weights below this, unless they are 0. Products with far smaller ones are rounded to nothing, and any node seems as good as
/// another.
pub const MIN_WEIGHT: f64 = 1e-9;

/// Is it 0, or between the least weight and the greatest?
pub fn is_weight(weight: f64) -> bool {
    weight == 0.0 || (MIN_WEIGHT..=MAX_WEIGHT).contains(&weight)
}

/// Bits of a key that are counted at a time: their counters fit the first-level cache several times.
const BITS_AT_A_TIME: u32 = 11;

/// What is the same for every node: hierarchies, weights, and the cost of each level before suppression.
#[derive(Debug, Clone)]
pub struct Costs {
    /// How many rows the table has.
    pub n_rows: u64,
    /// The height of each attribute's whole hierarchy.
    pub heights: Vec<u8>,
    /// The number of each of an attribute's levels in its whole hierarchy.
    pub(super) numbers: Vec<Vec<u8>>,
    /// How many leaves each attribute's hierarchy has.
    pub leaves: Vec<u64>,
    /// The user's weight of each attribute; 1 unless given.
    pub weights: Vec<f64>,
    /// For each attribute and level, the sum over all rows of (leaves under the row's label − 1).
    excess_leaves: Vec<Vec<u128>>,
    /// For each attribute and level, the rows of the label that has the fewest.
    pub(crate) rarest_rows: Vec<Vec<u64>>,
    /// For each attribute and level, the sum over its labels of the square roots of their rows.
    pub(crate) sqrt_mass: Vec<Vec<f64>>,
    /// For each attribute and level, how many labels have rows, and the sum of the squares of those rows.
    pub(super) size_moments: Vec<Vec<(u64, u128)>>,
    /// For each attribute and level, pairs (leaves under a label − 1, rows with such a label), most leaves first.
    rows_by_excess: Vec<Vec<Vec<(u64, u64)>>>,
    /// For each attribute and level, the rows of each label.
    pub(super) rows_of_labels: Arc<Vec<Vec<Vec<u64>>>>,
    /// For each attribute and level, the leaves under each label.
    pub(super) leaves_of_labels: Arc<Vec<Vec<Vec<u64>>>>,
    /// For each attribute, the label of each value at the lowest level.
    pub(super) labels_of_values: Arc<Vec<Vec<u32>>>,
    /// For each attribute whose lowest level is ruled out, the rows of each value, if the source can tell.
    pub(super) rows_of_values: Arc<Vec<Option<Vec<u64>>>>,
    /// The attributes that are ordered domains.
    pub(super) domains: Domains,
    /// What metrics contribute.
    pub(super) known: Known,
}

impl Costs {
    /// Counts the values of each attribute once; of several attributes at a time, where that is as cheap as one.
    pub fn new(problem: Problem<'_>, attributes: &Attributes) -> Result<Self> {
        let (mut excess_leaves, mut rarest_rows, mut rows_by_excess) = (Vec::new(), Vec::new(), Vec::new());
        let (mut size_moments, mut sqrt_mass) = (Vec::new(), Vec::new());
        let mut rows_of_labels = Vec::new();
        let layout = problem.source.layout();
        let mut start = 0;
        while start < attributes.len() {
            let mut together = Grouping::single(start, 0);
            let mut end = start + 1;
            while end < attributes.len() {
                let mut more = together;
                more.set(end, 0);
                if layout.n_bits_at(&more) > BITS_AT_A_TIME {
                    break;
                }
                together = more;
                end += 1;
            }
            let values = counted(problem.source, &together, &Demand::default(), Method::Auto)?;
            for at in start..end {
                let levels = LevelCosts::of(at, &attributes[at], &values);
                excess_leaves.push(levels.excess_leaves);
                rarest_rows.push(levels.rarest_rows);
                sqrt_mass.push(levels.sqrt_mass);
                size_moments.push(levels.size_moments);
                rows_by_excess.push(levels.rows_by_excess);
                rows_of_labels.push(levels.rows);
            }
            start = end;
        }
        Ok(Costs {
            n_rows: problem.source.n_rows(),
            heights: attributes.iter().map(Attribute::full_height).collect(),
            numbers: attributes
                .iter()
                .map(|attribute| {
                    (0..=attribute.height()).map(|level| attribute.level_number(level)).collect()
                })
                .collect(),
            leaves: attributes.iter().map(|attribute| attribute.hierarchy().n_leaves()).collect(),
            weights: vec![1.0; attributes.len()],
            excess_leaves,
            rarest_rows,
            sqrt_mass,
            size_moments,
            rows_by_excess,
            rows_of_labels: Arc::new(rows_of_labels),
            leaves_of_labels: Arc::new(attributes.iter().map(leaves_of_labels).collect()),
            labels_of_values: Arc::new(
                attributes.iter().map(|attribute| attribute.labels_at(0).to_vec()).collect(),
            ),
            rows_of_values: Arc::new(
                (0..attributes.len())
                    .map(|at| problem.source.rows_of_values(at).map(<[u64]>::to_vec))
                    .collect(),
            ),
            domains: vec![None; attributes.len()],
            known: Known::default(),
        })
    }

    /// The same with the user's weights, one per attribute.
    pub fn with_weights(mut self, weights: Vec<f64>) -> Result<Self> {
        assert_eq!(weights.len(), self.weights.len());
        if !weights.iter().copied().all(is_weight) {
            return Err(Error::input("a weight is negative, too small, too large or not a number")
                .with_hint(format!("weights are 0, or from {MIN_WEIGHT:e} to {MAX_WEIGHT:e}")));
        }
        if weights.iter().all(|&weight| weight == 0.0) {
            return Err(Error::input("every weight is 0").with_hint("leave `weights` out to weigh all alike"));
        }
        self.weights = weights;
        Ok(self)
    }

    /// The same where some attributes are ordered domains, recoded by boxes ([`Statistics::of_boxes`]): their leaves are
    /// those of the domain, and they have two levels, as collected or not.
    #[must_use]
    pub fn with_domains(mut self, domains: &Domains) -> Self {
        for (at, domain) in domains.iter().enumerate() {
            if let Some(domain) = domain {
                self.leaves[at] = domain.n_leaves();
                self.heights[at] = ORDERED_HEIGHT;
            }
        }
        self.domains.clone_from(domains);
        // The weights of before were those of hierarchies.
        self.known = Known::default();
        self
    }

    /// How far an attribute has climbed at a node: the number of its level in the whole hierarchy.
    pub(super) fn climbed(&self, attribute: usize, node: &Statistics) -> u8 {
        self.numbers[attribute][usize::from(node.levels[attribute])]
    }

    /// How far the released cells of an attribute have climbed together.
    pub(super) fn released_climb(&self, attribute: usize, node: &Statistics) -> u128 {
        match &node.cells {
            Some(cells) => cells[attribute].climbed,
            None => u128::from(self.released_rows(node)) * u128::from(self.climbed(attribute, node)),
        }
    }

    /// The same per row: the level of a node, the mean level of local recoding.
    pub(super) fn mean_climb(&self, attribute: usize, node: &Statistics) -> f64 {
        match &node.cells {
            Some(_) if self.released_rows(node) == 0 => 0.0,
            Some(cells) => ratio(cells[attribute].climbed, u128::from(self.released_rows(node))),
            None => f64::from(self.climbed(attribute, node)),
        }
    }

    fn released_rows(&self, node: &Statistics) -> u64 {
        self.n_rows.saturating_sub(node.suppressed_rows)
    }

    /// The mean of the levels that the released cells of an attribute have climbed, as a fraction.
    pub(super) fn climb_of_rows(&self, attribute: usize, node: &Statistics) -> (u128, u128) {
        match &node.cells {
            Some(_) if self.released_rows(node) == 0 => (0, 1),
            Some(cells) => (cells[attribute].climbed, self.released_rows(node).into()),
            None => (self.climbed(attribute, node).into(), 1),
        }
    }

    /// The most that (leaves under the label − 1) can add up to over `rows` rows, at a level of an attribute.
    pub(super) fn most_excess_leaves(&self, attribute: usize, level: u8, mut rows: u64) -> u128 {
        let mut sum = 0;
        for &(others, n_rows) in &self.rows_by_excess[attribute][usize::from(level)] {
            let taken = rows.min(n_rows);
            sum += u128::from(taken) * u128::from(others);
            rows -= taken;
        }
        sum
    }

    /// LM of one attribute, times the number of rows, as a fraction.
    pub(super) fn total_loss_of(&self, attribute: usize, node: &Statistics) -> (u128, u128) {
        let most = u128::from(self.leaves[attribute].saturating_sub(1));
        let suppressed = u128::from(node.suppressed_rows);
        if most == 0 {
            return (suppressed, 1);
        }
        let kept = match &node.cells {
            Some(cells) => cells[attribute].excess_leaves,
            None => {
                let level = usize::from(node.levels[attribute]);
                self.excess_leaves[attribute][level] - node.suppressed_excess_leaves[attribute]
            }
        };
        (kept + suppressed * most, most)
    }

    /// LM of one attribute: the mean over all rows of (leaves under the label − 1) / (leaves − 1), a suppressed
    /// cell costing 1 and an attribute with one leaf nothing else.
    pub(super) fn loss_of(&self, attribute: usize, node: &Statistics) -> f64 {
        if self.n_rows == 0 {
            return 0.0;
        }
        let (part, of) = self.total_loss_of(attribute, node);
        ratio(part, u128::from(self.n_rows) * of)
    }
}

/// What [`Costs`] knows of each level of one attribute.
#[derive(Default)]
pub(super) struct LevelCosts {
    excess_leaves: Vec<u128>,
    rarest_rows: Vec<u64>,
    sqrt_mass: Vec<f64>,
    size_moments: Vec<(u64, u128)>,
    rows_by_excess: Vec<Vec<(u64, u64)>>,
    rows: Vec<Vec<u64>>,
}

/// For each level, the leaves under each label.
fn leaves_of_labels(attribute: &Attribute) -> Vec<Vec<u64>> {
    let hierarchy = attribute.hierarchy();
    let at_level = |level: u8| {
        let labels = 0..hierarchy.labels(level).len() as u32;
        labels.map(|label| hierarchy.leaves_under(level, label)).collect()
    };
    (0..=attribute.height()).map(at_level).collect()
}

impl LevelCosts {
    fn of(at: usize, attribute: &Attribute, values: &FrequencySet) -> Self {
        let hierarchy = attribute.hierarchy();
        let mut by_label = vec![0_u64; hierarchy.labels(0).len()];
        for (group_idx, &rows) in values.measures().rows().iter().enumerate() {
            by_label[values.label(group_idx, at) as usize] += rows;
        }
        let mut costs = LevelCosts::default();
        for level in 0..=attribute.height() {
            let labels = || by_label.iter().enumerate().filter(|(_, rows)| **rows > 0);
            let others = |label: usize| hierarchy.leaves_under(level, label as u32) - 1;
            let mut rows_by_excess: Vec<(u64, u64)> =
                labels().map(|(label, &rows)| (others(label), rows)).collect();
            costs.excess_leaves.push(
                rows_by_excess.iter().map(|&(others, rows)| u128::from(rows) * u128::from(others)).sum(),
            );
            costs.rarest_rows.push(rows_by_excess.iter().map(|&(_, rows)| rows).min().unwrap_or(0));
            costs.sqrt_mass.push(rows_by_excess.iter().map(|&(_, rows)| (rows as f64).sqrt()).sum());
            let squares = rows_by_excess.iter().map(|&(_, rows)| u128::from(rows) * u128::from(rows)).sum();
            costs.size_moments.push((rows_by_excess.len() as u64, squares));
            rows_by_excess.sort_unstable_by(|a, b| b.cmp(a));
            rows_by_excess.dedup_by(|next, kept| {
                let is_same = next.0 == kept.0;
                kept.1 += if is_same { next.1 } else { 0 };
                is_same
            });
            costs.rows_by_excess.push(rows_by_excess);
            if level < attribute.height() {
                let mut above = vec![0; hierarchy.labels(level + 1).len()];
                for (label, &rows) in labels() {
                    above[hierarchy.parent(level, label as u32) as usize] += rows;
                }
                costs.rows.push(std::mem::replace(&mut by_label, above));
            } else {
                costs.rows.push(std::mem::take(&mut by_label));
            }
        }
        costs
    }
}

/// How high the hierarchy of an ordered domain is: a value is as collected, or it is not.
pub(super) const ORDERED_HEIGHT: u8 = 1;

impl CellSums {
    pub(super) fn add(&mut self, side: Side, rows: u64, attribute: &Attribute, domain: Option<&Domain>) {
        self.climbed += u128::from(rows) * u128::from(climbed(side, attribute, domain));
        self.excess_leaves += u128::from(rows) * u128::from(side.leaves(attribute, domain) - 1);
    }
}

/// How far a side of a box has climbed.
pub(super) fn climbed(side: Side, attribute: &Attribute, domain: Option<&Domain>) -> u8 {
    match side {
        Side::Label { level, .. } => attribute.level_number(level),
        _ => u8::from(side.leaves(attribute, domain) > 1),
    }
}

/// The one place where integer sums become a float.
pub(super) fn ratio(part: u128, of: u128) -> f64 {
    part as f64 / of as f64
}
