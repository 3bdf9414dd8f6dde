//! What a metric knows of a node, and of the table as a whole.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use crate::error::{Error, Result};
use crate::frequency::{FrequencySet, KeyLayout, Method, TooMany, counted};
use crate::group::Demand;
use crate::hierarchy::{Attribute, Attributes};
use crate::judge::{Problem, Sizes};
use crate::lattice::Grouping;
use crate::metric::contribution::Known;
use crate::metric::label_tally::LabelTally;
use crate::metric::{LabelCounts, Metric, Weights};
use crate::recoding::{CellSums, Domain, Domains, PerBox, PerValue, Side, Sums, ValueTable};

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
    fn most_excess_leaves(&self, attribute: usize, level: u8, mut rows: u64) -> u128 {
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
struct LevelCosts {
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
    fn add(&mut self, side: Side, rows: u64, attribute: &Attribute, domain: Option<&Domain>) {
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

/// How much vaguer than a value each label is, by the codes of groups: for the suppressed rows of many nodes.
#[derive(Debug)]
pub(crate) struct NodeSums<'a> {
    layout: &'a KeyLayout,
    attributes: &'a Attributes,
    /// For each attribute and level. Made when first asked for.
    others: ByLevel,
    /// The same of the weights that the metric contributes, if it does.
    weights: Option<(Arc<Weights>, ByLevel)>,
}

/// A table for each attribute and level, made when first asked for.
type ByLevel = Vec<Vec<OnceLock<Others>>>;

/// How many other leaves are under the label of each code, or what it weighs.
#[derive(Debug)]
struct Others {
    of_codes: Vec<u64>,
    /// If it is the same for all, as it is at the lowest level and at the top: that.
    of_all: Option<u64>,
}

impl<'a> NodeSums<'a> {
    /// For searches by a metric.
    pub(crate) fn new(
        layout: &'a KeyLayout,
        attributes: &'a Attributes,
        costs: &Costs,
        metric: &dyn Metric,
    ) -> Self {
        let levels = |attribute: &Attribute| (0..=attribute.height()).map(|_| OnceLock::new()).collect();
        let unknown = || attributes.iter().map(levels).collect();
        let weights = metric.contributes().map(|contribution| (costs.weights_of(contribution), unknown()));
        NodeSums { layout, attributes, others: unknown(), weights }
    }

    fn others(&self, attribute: usize, level: u8) -> &Others {
        self.others[attribute][usize::from(level)].get_or_init(|| {
            let hierarchy = self.attributes[attribute].hierarchy();
            self.by_code(attribute, level, |label| hierarchy.leaves_under(level, label) - 1)
        })
    }

    fn by_code(&self, attribute: usize, level: u8, of_label: impl Fn(u32) -> u64) -> Others {
        let labels = self.layout.labels_of_codes(attribute, level);
        let of_codes: Vec<u64> = labels.iter().map(|&label| of_label(label)).collect();
        let of_all = of_codes.first().copied().filter(|first| of_codes.iter().all(|others| others == first));
        Others { of_codes, of_all }
    }

    /// What metrics that see no group need to know of a node, given the groups that are left out.
    pub(crate) fn statistics(&self, levels: Vec<u8>, refused: &FrequencySet) -> Statistics {
        let mut node = Statistics::of_levels(levels);
        let rows = refused.measures().rows();
        node.suppressed_rows = rows.iter().sum();
        let sum = |attribute: usize, others: &Others| {
            if let Some(others) = others.of_all {
                return u128::from(node.suppressed_rows) * u128::from(others);
            }
            let mut rows = rows.iter();
            let mut sum = 0_u128;
            refused.visit_codes(attribute, &mut |codes| {
                for (&code, &rows) in codes.iter().zip(&mut rows) {
                    sum += u128::from(rows) * u128::from(others.of_codes[code as usize]);
                }
            });
            sum
        };
        let attributes = 0..self.attributes.len();
        let suppressed_excess_leaves =
            attributes.clone().map(|at| sum(at, self.others(at, node.levels[at]))).collect();
        if let Some((weights, of_codes)) = &self.weights {
            let weighed = attributes.map(|at| {
                let level = node.levels[at];
                let of_labels = &weights.of_labels[at][usize::from(level)];
                let of_codes = of_codes[at][usize::from(level)]
                    .get_or_init(|| self.by_code(at, level, |label| of_labels[label as usize]));
                sum(at, of_codes)
            });
            node.rows_by_label = RowsByLabel::Sums(weighed.collect());
        }
        node.suppressed_excess_leaves = suppressed_excess_leaves;
        node
    }
}

/// Sums over the groups of one node, or of a local recoding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statistics {
    /// The level of each attribute; none where recoding is local.
    pub levels: Vec<u8>,
    /// Rows in groups that the policy refuses: left out.
    pub suppressed_rows: u64,
    /// Groups that are released.
    pub n_groups: u64,
    /// People in the smallest released group, if any group is released; rows where recoding is local.
    pub smallest_group: Option<u64>,
    /// Sum of the squared row counts of released groups.
    pub sum_of_squares: u128,
    /// For each attribute, the sum over suppressed rows of (leaves under the row's label − 1).
    suppressed_excess_leaves: Vec<u128>,
    /// For each attribute, sums over the released cells, where recoding is local.
    cells: Option<Vec<CellSums>>,
    /// What contributions are added up over.
    rows_by_label: RowsByLabel,
}

/// How many rows have which label, as far as metrics need to know that contribute weights.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RowsByLabel {
    /// Nobody has looked, or nothing is suppressed.
    Nothing,
    /// For each attribute, the weights of the metric that a search aims at: those of the suppressed rows of a node, of the
    /// released rows of a local recoding.
    Sums(Vec<u128>),
    /// For each attribute, the suppressed rows of a node by their labels, ascending.
    Suppressed(Vec<Vec<(u32, u64)>>),
    /// For each attribute, the released rows of a local recoding by their sides, ascending.
    Released(Vec<Vec<(Side, u64)>>),
}

impl Statistics {
    /// What contributions are added up over.
    pub(super) fn rows_by_label(&self) -> &RowsByLabel {
        &self.rows_by_label
    }

    /// All that is known of a node at which nothing is suppressed and whose groups were not looked at.
    pub(crate) fn of_levels(levels: Vec<u8>) -> Self {
        Statistics {
            suppressed_excess_leaves: vec![0; levels.len()],
            levels,
            suppressed_rows: 0,
            n_groups: 0,
            smallest_group: None,
            sum_of_squares: 0,
            cells: None,
            rows_by_label: RowsByLabel::Nothing,
        }
    }

    /// What metrics that see sizes of groups need to know of a node.
    pub(crate) fn of_sizes(levels: Vec<u8>, suppressed_rows: u64, sizes: &Sizes) -> Self {
        Statistics {
            suppressed_rows,
            n_groups: sizes.n_released,
            sum_of_squares: sizes.squares,
            ..Statistics::of_levels(levels)
        }
    }

    /// The least that the same with a lower level of one attribute can cost, where rows that are suppressed stay suppressed
    /// when levels are lowered: those rows, with the widest labels that they can have. For the cost of that attribute.
    pub(crate) fn lowered(&self, costs: &Costs, metric: &dyn Metric, attribute: usize, level: u8) -> Self {
        debug_assert!(level <= self.levels[attribute]);
        let mut lowered = self.clone();
        lowered.levels[attribute] = level;
        let most = costs.most_excess_leaves(attribute, level, self.suppressed_rows);
        lowered.suppressed_excess_leaves[attribute] = self.suppressed_excess_leaves[attribute].min(most);
        if let (RowsByLabel::Sums(sums), Some(contribution)) =
            (&mut lowered.rows_by_label, metric.contributes())
        {
            let most = costs.weights_of(contribution).most(attribute, level, self.suppressed_rows);
            sums[attribute] = sums[attribute].min(most);
        }
        lowered
    }

    /// Sums over the cells of a local recoding of a table of `n_rows` rows. `group_sizes` says how many groups have how
    /// many rows: (rows, groups).
    pub fn of_cells(
        cells: &LabelCounts,
        attributes: &Attributes,
        group_sizes: impl IntoIterator<Item = (u64, u64)>,
        n_rows: u64,
    ) -> Self {
        let mut all = Statistics::of_levels(Vec::new());
        let mut released = 0;
        for (rows, groups) in group_sizes {
            released += rows * groups;
            all.n_groups += groups;
            all.sum_of_squares += u128::from(groups) * u128::from(rows) * u128::from(rows);
            all.smallest_group = Some(all.smallest_group.map_or(rows, |least| least.min(rows)));
        }
        all.suppressed_rows = n_rows.saturating_sub(released);
        let sums = |(at, attribute): (usize, &Attribute)| {
            let mut sums = CellSums::default();
            for (side, rows) in cells.counts(at) {
                sums.add(side, rows, attribute, cells.domain(at));
            }
            sums
        };
        all.rows_by_label =
            RowsByLabel::Released((0..attributes.len()).map(|at| cells.counts(at).collect()).collect());
        all.cells = Some(attributes.iter().enumerate().map(sums).collect());
        all
    }

    /// Sums over a recoding that has a level for each value.
    pub fn of_values(problem: Problem<'_>, attributes: &Attributes, recoding: &PerValue) -> Result<Self> {
        let values = ValueTable::new(problem, attributes)?;
        let levels: Vec<Vec<u8>> =
            (0..recoding.n_attributes()).map(|at| recoding.levels(at).to_vec()).collect();
        let levels = values.by_slot(&levels)?;
        let judged = values.judge(problem, &levels)?;
        let sides = values.released(&levels, &judged);
        Ok(Statistics { rows_by_label: RowsByLabel::Released(sides), ..Statistics::of_sums(judged.sums) })
    }

    /// What a search has added up.
    pub(crate) fn of_sums(sums: Sums) -> Self {
        Statistics {
            suppressed_rows: sums.suppressed_rows,
            n_groups: sums.n_groups,
            smallest_group: sums.smallest_group,
            sum_of_squares: sums.sum_of_squares,
            cells: Some(sums.cells),
            rows_by_label: if sums.weighed.is_empty() {
                RowsByLabel::Nothing
            } else {
                RowsByLabel::Sums(sums.weighed)
            },
            ..Statistics::of_levels(Vec::new())
        }
    }

    /// Sums over the boxes of a recoding. To be scored with [`Costs::with_domains`].
    ///
    /// Groups are boxes: two boxes with different sides that bear the same labels (levels of a hierarchy that repeat a
    /// label) count as two.
    pub fn of_boxes(recoding: &PerBox, attributes: &Attributes) -> Self {
        let boxes = || (0..recoding.n_boxes()).map(|number| (number, recoding.rows(number)));
        let mut all = Statistics::of_levels(Vec::new());
        all.n_groups = recoding.n_boxes() as u64;
        all.sum_of_squares = boxes().map(|(_, rows)| u128::from(rows) * u128::from(rows)).sum();
        all.smallest_group = boxes().map(|(_, rows)| rows).min();
        all.suppressed_rows = recoding.suppressed_rows();
        let sums = |(at, attribute): (usize, &Attribute)| {
            let domain = recoding.domains()[at].as_deref();
            let mut sums = CellSums::default();
            for (number, rows) in boxes() {
                sums.add(recoding.side(number, at), rows, attribute, domain);
            }
            sums
        };
        let sides = |at: usize| {
            let mut sides: BTreeMap<Side, u64> = BTreeMap::new();
            for (number, rows) in boxes() {
                *sides.entry(recoding.side(number, at)).or_insert(0) += rows;
            }
            sides.into_iter().collect()
        };
        all.rows_by_label = RowsByLabel::Released((0..attributes.len()).map(sides).collect());
        all.cells = Some(attributes.iter().enumerate().map(sums).collect());
        all
    }

    /// Sums over the groups of a node, and those groups, if they fit the memory.
    pub fn of_node(
        problem: Problem<'_>,
        attributes: &Attributes,
        levels: Vec<u8>,
    ) -> Result<(Self, Option<FrequencySet>)> {
        Ok(match problem.count_within(&Grouping::of_levels(&levels))? {
            Ok(set) => (Statistics::new(problem, attributes, levels, &set)?, Some(set)),
            Err(too_many) => (Statistics::in_parts(problem, attributes, levels, too_many)?, None),
        })
    }

    /// The same where there are too many groups to be there at once: added up over parts of them.
    pub(crate) fn in_parts(
        problem: Problem<'_>,
        attributes: &Attributes,
        levels: Vec<u8>,
        too_many: TooMany,
    ) -> Result<Self> {
        let grouping = Grouping::of_levels(&levels);
        let mut all = Statistics::of_levels(levels);
        problem.visit_parts(&grouping, too_many, "measuring", &mut |set| {
            all.add(Statistics::new(problem, attributes, all.levels.clone(), set)?);
            Ok(true)
        })?;
        Ok(all)
    }

    /// Adds what is known of other groups of the same node.
    fn add(&mut self, part: Statistics) {
        self.suppressed_rows += part.suppressed_rows;
        self.n_groups += part.n_groups;
        self.sum_of_squares += part.sum_of_squares;
        self.smallest_group = self.smallest_group.into_iter().chain(part.smallest_group).min();
        for (sum, more) in self.suppressed_excess_leaves.iter_mut().zip(part.suppressed_excess_leaves) {
            *sum += more;
        }
        let RowsByLabel::Suppressed(more) = part.rows_by_label else { return };
        if let RowsByLabel::Suppressed(known) = &mut self.rows_by_label {
            for (known, more) in known.iter_mut().zip(more) {
                let mut rows: BTreeMap<u32, u64> = known.drain(..).collect();
                more.into_iter().for_each(|(label, n)| *rows.entry(label).or_insert(0) += n);
                known.extend(rows);
            }
        } else {
            self.rows_by_label = RowsByLabel::Suppressed(more);
        }
    }

    /// Sums over the groups of a node.
    pub fn new(
        problem: Problem<'_>,
        attributes: &Attributes,
        levels: Vec<u8>,
        set: &FrequencySet,
    ) -> Result<Self> {
        let mut node = Statistics::of_levels(levels);
        // Asked for all groups at once: whether one is left out may depend on the others.
        let refused = problem.policy.refused(set)?;
        let tally = |(at, attribute): (usize, &Attribute)| {
            LabelTally::new(attribute.hierarchy().labels(node.levels[at]).len(), refused.len())
        };
        let mut labels: Vec<LabelTally> = attributes.iter().enumerate().map(tally).collect();
        let mut refused = refused.iter().copied().peekable();
        for (group_idx, group) in set.measures().groups().enumerate() {
            let rows = group.rows();
            if refused.next_if_eq(&(group_idx as u32)).is_none() {
                node.n_groups += 1;
                node.sum_of_squares += u128::from(rows) * u128::from(rows);
                node.smallest_group =
                    Some(node.smallest_group.map_or(group.size(), |least| least.min(group.size())));
                continue;
            }
            node.suppressed_rows += rows;
            for (at, attribute) in attributes.iter().enumerate() {
                let label = set.label(group_idx, at);
                let others = attribute.hierarchy().leaves_under(node.levels[at], label) - 1;
                node.suppressed_excess_leaves[at] += u128::from(rows) * u128::from(others);
                labels[at].add(label, rows);
            }
        }
        if node.suppressed_rows > 0 {
            let labels = labels.into_iter().map(LabelTally::rows_by_label).collect();
            node.rows_by_label = RowsByLabel::Suppressed(labels);
        }
        Ok(node)
    }
}
