//! What a metric knows of a node, and of the table as a whole.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use crate::error::Result;
use crate::frequency::{FrequencySet, KeyLayout, TooMany};
use crate::hierarchy::{Attribute, Attributes};
use crate::judge::{Problem, Sizes};
use crate::lattice::Grouping;
use crate::metric::costs::Costs;
use crate::metric::label_tally::LabelTally;
use crate::metric::{LabelCounts, Metric, Weights};
use crate::recoding::{CellSums, PerBox, PerValue, Side, Sums, ValueTable};

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
    pub(super) suppressed_excess_leaves: Vec<u128>,
    /// For each attribute, sums over the released cells, where recoding is local.
    pub(super) cells: Option<Vec<CellSums>>,
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
