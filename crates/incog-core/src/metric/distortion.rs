//! Distortion ratio (Wong, Li, Fu, Wang: (α,k)-Anonymity, KDD 2006): how much of the way up did cells go?
//!
//! The sum over all rows and attributes of the levels climbed, divided by the same sum with everything at its top. A
//! suppressed row counts as one at its top. Levels are those of the whole hierarchy, also where some of them are ruled
//! out. 0 is the table as collected, 1 a table of top labels; a table in which nothing can be generalized has 0.
//!
//! Unlike precision, an attribute with a high hierarchy counts for more than one with a flat one.

use std::cmp::Ordering;

use crate::hierarchy::{Attribute, Attributes};
use crate::metric::costs::{ORDERED_HEIGHT, climbed as climbed_by_side, ratio};
use crate::metric::{Costs, LabelCounts, Metric, Needs, Statistics};
use crate::recoding::Recoding;
use crate::registry::{Entry, Status};

/// The metric in the registry.
pub(super) const ENTRY: Entry<&'static dyn Metric> = Entry {
    name: "distortion",
    summary: "levels climbed by all cells, divided by those of a table of top labels",
    reference: "Wong, Li, Fu, Wang: (α,k)-Anonymity, KDD 2006",
    doc: include_str!("distortion.md"),
    status: Status::Preview,
    item: &DistortionRatio,
};

struct DistortionRatio;

impl Metric for DistortionRatio {
    fn score(&self, costs: &Costs, node: &Statistics) -> f64 {
        let most = u128::from(costs.n_rows) * total(costs.heights.iter().copied());
        if most == 0 { 0.0 } else { ratio(climbed(costs, node), most) }
    }

    fn compare(&self, costs: &Costs, a: &Statistics, b: &Statistics) -> Ordering {
        climbed(costs, a).cmp(&climbed(costs, b))
    }

    fn term(&self, costs: &Costs, attribute: usize, node: &Statistics) -> Option<f64> {
        let most = u128::from(costs.n_rows) * total(costs.heights.iter().copied());
        let suppressed = u128::from(node.suppressed_rows) * u128::from(costs.heights[attribute]);
        Some(ratio(costs.released_climb(attribute, node) + suppressed, most.max(1)))
    }

    fn needs(&self) -> Needs {
        Needs::Suppression
    }
}

/// The levels climbed, all rows and attributes together.
fn climbed(costs: &Costs, node: &Statistics) -> u128 {
    let released: u128 = (0..costs.heights.len()).map(|at| costs.released_climb(at, node)).sum();
    released + u128::from(node.suppressed_rows) * total(costs.heights.iter().copied())
}

fn total(levels: impl Iterator<Item = u8>) -> u128 {
    levels.map(u128::from).sum()
}

/// The distortion ratio of a recoding, column by column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Distortion {
    /// For each attribute, the levels that its cells climbed together, and the levels they could have climbed.
    columns: Vec<(u128, u128)>,
}

impl Distortion {
    /// The distortion of a table of `n_rows` rows.
    pub fn of(recoding: &Recoding, attributes: &Attributes, n_rows: u64) -> Self {
        let column = |(at, attribute): (usize, &Attribute)| {
            let height = match recoding {
                Recoding::PerBox(boxes) if boxes.domains()[at].is_some() => u128::from(ORDERED_HEIGHT),
                _ => u128::from(attribute.full_height()),
            };
            let number = |level: u8| u128::from(attribute.level_number(level));
            let (climbed, released) = match recoding {
                Recoding::PerLevel(recoding) => {
                    let released = u128::from(n_rows.saturating_sub(recoding.suppressed_rows()));
                    (released * number(recoding.levels()[at]), released)
                }
                Recoding::PerValue(recoding) => {
                    let by_level = recoding.rows_by_level(at).iter().zip(0..);
                    let climbed = by_level.map(|(&rows, level)| u128::from(rows) * number(level)).sum();
                    (climbed, recoding.rows_by_level(at).iter().map(|&rows| u128::from(rows)).sum())
                }
                Recoding::PerGroup(recoding) => {
                    let groups = 0..recoding.n_groups();
                    let rows = |group: usize| u128::from(recoding.rows(group));
                    let climbed =
                        groups.clone().map(|group| rows(group) * number(recoding.levels(group)[at]));
                    (climbed.sum(), groups.map(rows).sum())
                }
                Recoding::PerBox(recoding) => {
                    let domain = recoding.domains()[at].as_deref();
                    let boxes = 0..recoding.n_boxes();
                    let rows = |number: usize| u128::from(recoding.rows(number));
                    let climbed = boxes.clone().map(|number| {
                        rows(number)
                            * u128::from(climbed_by_side(recoding.side(number, at), attribute, domain))
                    });
                    (climbed.sum(), boxes.map(rows).sum())
                }
            };
            let all = u128::from(n_rows);
            (climbed + all.saturating_sub(released) * height, all * height)
        };
        Distortion { columns: attributes.iter().enumerate().map(column).collect() }
    }

    /// The distortion of released cells; rows that are not released count as suppressed.
    pub fn of_cells(cells: &LabelCounts, attributes: &Attributes, n_rows: u64) -> Self {
        let column = |(at, attribute): (usize, &Attribute)| {
            let domain = cells.domain(at);
            let height = u128::from(domain.map_or(attribute.full_height(), |_| ORDERED_HEIGHT));
            let (mut climbed, mut released) = (0, 0);
            for (side, rows) in cells.counts(at) {
                climbed += u128::from(rows) * u128::from(climbed_by_side(side, attribute, domain));
                released += u128::from(rows);
            }
            let all = u128::from(n_rows);
            (climbed + all.saturating_sub(released) * height, all * height)
        };
        Distortion { columns: attributes.iter().enumerate().map(column).collect() }
    }

    /// The share of the way up that the cells of an attribute went, from 0 to 1.
    pub fn column(&self, attribute: usize) -> f64 {
        let (climbed, most) = self.columns[attribute];
        if most == 0 { 0.0 } else { ratio(climbed, most) }
    }

    /// The distortion ratio of the table, as a fraction: levels climbed, and levels that could have been climbed.
    pub fn fraction(&self) -> (u128, u128) {
        self.columns.iter().fold((0, 0), |(climbed, most), column| (climbed + column.0, most + column.1))
    }

    /// The distortion ratio of the table, from 0 to 1.
    pub fn total(&self) -> f64 {
        let (climbed, most) = self.fraction();
        if most == 0 { 0.0 } else { ratio(climbed, most) }
    }
}
