//! Records as positions, for searches that cut ordered domains and hierarchies alike.
//!
//! The values of an attribute that occur are numbered so that whatever may become one side of a box is a run of numbers:
//!
//! - ordered: the slots that have values, in order; the missing value comes last;
//! - by hierarchy: leaves sorted by their labels from the top down, so that every label is a run of leaves.

use std::sync::Arc;

use crate::error::{Error, ErrorKind, Result};
use crate::frequency::{DistinctRecords, records_for};
use crate::group::Measures;
use crate::hierarchy::{Attribute, Attributes};
use crate::judge::Problem;
use crate::metric::{MAX_WEIGHT, MIN_WEIGHT, is_weight};
use crate::privacy::{Closure, Policy};
use crate::recoding::{Domain, Domains, Side};

/// One attribute in positions.
#[derive(Debug)]
pub(super) struct Axis<'a> {
    pub(super) attribute: &'a Attribute,
    kind: AxisKind<'a>,
    /// Leaves of the whole domain, less one.
    others: f64,
    /// The position of each label at level 0 that a value has; [`u32::MAX`] for others.
    of_label: Vec<u32>,
}

#[derive(Debug)]
enum AxisKind<'a> {
    Ordered {
        domain: &'a Domain,
        /// The slot of each position but that of the missing value.
        slots: Vec<u64>,
        /// For each position, how many leaves lie below its slot and up to its end.
        leaves: Vec<(u64, u64)>,
    },
    Tree {
        /// For each level, the label of each position.
        labels: Vec<Vec<u32>>,
    },
}

impl<'a> Axis<'a> {
    /// Positions of the labels at level 0 that values have.
    fn new(attribute: &'a Attribute, domain: Option<&'a Domain>) -> Result<Self> {
        let leaves = attribute.labels_at(0);
        let mut of_label = vec![u32::MAX; leaves.iter().max().map_or(0, |&most| most as usize + 1)];
        let Some(domain) = domain else {
            let mut values: Vec<usize> = (0..leaves.len()).collect();
            let path = |&value: &usize| -> Vec<u32> {
                (0..=attribute.height()).rev().map(|level| attribute.labels_at(level)[value]).collect()
            };
            values.sort_by_cached_key(path);
            values.dedup_by_key(|value| leaves[*value]);
            for (&value, position) in values.iter().zip(0..) {
                of_label[leaves[value] as usize] = position;
            }
            let labels = (0..=attribute.height())
                .map(|level| values.iter().map(|&value| attribute.labels_at(level)[value]).collect())
                .collect();
            let others = attribute.hierarchy().n_leaves().saturating_sub(1) as f64;
            return Ok(Axis { attribute, kind: AxisKind::Tree { labels }, others, of_label });
        };
        if domain.n_values() != leaves.len() {
            return Err(Error::new(ErrorKind::Internal, "a domain is of another column"));
        }
        let slot = |value: usize| domain.slot(value as u32);
        let mut slots: Vec<u64> = (0..leaves.len()).filter_map(slot).collect();
        slots.sort_unstable();
        slots.dedup();
        for (value, &label) in leaves.iter().enumerate() {
            let position = match slot(value) {
                Some(slot) => slots.partition_point(|&other| other < slot) as u32,
                None => slots.len() as u32,
            };
            let known = &mut of_label[label as usize];
            if *known != u32::MAX && *known != position {
                return Err(Error::input(format!(
                    "column `{}` is ordered, and its lowest level is ruled out",
                    attribute.name()
                ))
                .with_hint("allow level 0, or leave the order out to use the hierarchy"));
            }
            *known = position;
        }
        let leaves = slots
            .iter()
            .map(|&slot| (if slot == 0 { 0 } else { domain.leaves(0, slot) }, domain.leaves(0, slot + 1)))
            .collect();
        let others = domain.n_leaves().saturating_sub(1) as f64;
        Ok(Axis { attribute, kind: AxisKind::Ordered { domain, slots, leaves }, others, of_label })
    }

    /// How many positions there are.
    pub(super) fn n_positions(&self) -> u32 {
        match &self.kind {
            AxisKind::Ordered { domain, slots, .. } => slots.len() as u32 + u32::from(domain.has_missing()),
            AxisKind::Tree { labels } => labels[0].len() as u32,
        }
    }

    /// The position of the missing value, if the attribute is ordered; none is at or behind it where none is missing.
    pub(super) fn missing(&self) -> Option<u32> {
        match &self.kind {
            AxisKind::Ordered { slots, .. } => Some(slots.len() as u32),
            AxisKind::Tree { .. } => None,
        }
    }

    /// For an attribute with a hierarchy, the label of each position at each level.
    pub(super) fn labels(&self) -> Option<&[Vec<u32>]> {
        match &self.kind {
            AxisKind::Ordered { .. } => None,
            AxisKind::Tree { labels } => Some(labels),
        }
    }

    /// Before which positions another label begins, ascending, if each value goes to a level of its own.
    pub(super) fn cuts_of_levels(&self, levels: &[u8]) -> Vec<u32> {
        let mut labels = vec![None; self.n_positions() as usize];
        for (value, (&level, &leaf)) in levels.iter().zip(self.attribute.labels_at(0)).enumerate() {
            if let Some(label) = labels.get_mut(self.of_label[leaf as usize] as usize) {
                *label = Some((level, self.attribute.labels_at(level)[value]));
            }
        }
        (1..labels.len()).filter(|&at| labels[at - 1] != labels[at]).map(|at| at as u32).collect()
    }

    /// The lowest level at which two positions of a hierarchy have the same label, and all between them.
    pub(super) fn common_level(&self, least: u32, greatest: u32) -> Option<u8> {
        let labels = self.labels()?;
        let is_common = |&level: &u8| {
            let labels = &labels[usize::from(level)];
            labels[least as usize] == labels[greatest as usize]
        };
        (0..=self.attribute.height()).find(is_common)
    }

    /// The share of the domain that a side must cover that has both positions: its loss.
    pub(super) fn width(&self, least: u32, greatest: u32) -> f64 {
        if self.others == 0.0 {
            return 0.0;
        }
        let leaves = match &self.kind {
            AxisKind::Ordered { slots, .. } if greatest as usize == slots.len() => {
                return f64::from(u8::from(least < greatest));
            }
            AxisKind::Ordered { leaves, .. } => leaves[greatest as usize].1 - leaves[least as usize].0,
            AxisKind::Tree { labels } => {
                let Some(level) = self.common_level(least, greatest) else { return 1.0 };
                let label = labels[usize::from(level)][least as usize];
                self.attribute.hierarchy().leaves_under(level, label)
            }
        };
        leaves.saturating_sub(1) as f64 / self.others
    }

    /// The side of a box that has these positions and no others of an ordered domain; of a hierarchy, their lowest common
    /// label.
    pub(super) fn tight_side(&self, least: u32, greatest: u32) -> Side {
        match &self.kind {
            AxisKind::Ordered { slots, .. } if greatest as usize == slots.len() => {
                if least == greatest {
                    Side::Missing
                } else {
                    Side::Everything
                }
            }
            AxisKind::Ordered { slots, .. } => {
                Side::Range { start: slots[least as usize], end: slots[greatest as usize] + 1 }
            }
            AxisKind::Tree { labels } => {
                let level = self.common_level(least, greatest).unwrap_or(self.attribute.height());
                Side::Label { level, label: labels[usize::from(level)][least as usize] }
            }
        }
    }

    /// The side from one cut to the next: with the positions from `start` up to but not including `end`. A cut is in the
    /// middle between the slots that it divides, so that sides that share no position share no slot, and all slots are
    /// in one.
    pub(super) fn covering_side(&self, start: u32, end: u32) -> Side {
        let AxisKind::Ordered { domain, slots, .. } = &self.kind else {
            return self.tight_side(start, end - 1);
        };
        let n = slots.len() as u32;
        if end > n {
            return if start == n { Side::Missing } else { Side::Everything };
        }
        let cut = |position: u32| {
            let (below, above) = (slots[position as usize - 1] + 1, slots[position as usize]);
            below + (above - below) / 2
        };
        Side::Range {
            start: if start == 0 { 0 } else { cut(start) },
            end: if end == n { domain.n_slots() } else { cut(end) },
        }
    }
}

/// The records of a source in positions.
pub(super) struct Positions<'a> {
    pub(super) axes: Vec<Axis<'a>>,
    /// The cells; their labels are positions.
    pub(super) cells: DistinctRecords,
}

impl<'a> Positions<'a> {
    /// The cells of a source. `name` is that of the algorithm, for messages.
    pub(super) fn new(
        problem: Problem<'_>,
        attributes: &'a Attributes,
        domains: &'a Domains,
        name: &str,
    ) -> Result<Self> {
        let Problem { source, policy } = problem;
        if policy.closure() == Closure::None {
            let describe = policy.describe();
            let message =
                format!("{name} cannot promise {describe}: groups that satisfy it may violate it together");
            return Err(Error::new(ErrorKind::Policy, message)
                .with_hint("choose a full-domain algorithm such as incognito"));
        }
        policy.check_without_labels(name)?;
        if domains.len() != attributes.len() {
            return Err(Error::new(ErrorKind::Internal, "there is not one domain for each attribute"));
        }
        let instead = "choose a full-domain algorithm such as incognito";
        let mut cells = records_for(source, name, instead)?.cells(&policy.demand())?;
        let axes: Vec<Axis<'_>> = attributes
            .iter()
            .zip(domains)
            .map(|(attribute, domain)| Axis::new(attribute, domain.as_ref().map(Arc::as_ref)))
            .collect::<Result<_>>()?;
        for of_cell in cells.labels.chunks_exact_mut(attributes.len()) {
            for (label, axis) in of_cell.iter_mut().zip(&axes) {
                *label = axis.of_label[*label as usize];
            }
        }
        Ok(Positions { axes, cells })
    }
}

/// The weight of each attribute; an empty list is 1 for all.
pub(super) fn checked_weights(weights: &[f64], n_attributes: usize) -> Result<Vec<f64>> {
    if weights.is_empty() {
        return Ok(vec![1.0; n_attributes]);
    }
    if weights.len() != n_attributes {
        return Err(Error::new(ErrorKind::Internal, "there is not one weight for each attribute"));
    }
    if !weights.iter().copied().all(is_weight) {
        return Err(Error::input("a weight is negative, too small, too large or not a number")
            .with_hint(format!("weights are 0, or from {MIN_WEIGHT:e} to {MAX_WEIGHT:e}")));
    }
    Ok(weights.to_vec())
}

/// A group of fewer rows is refused whatever else is in it; 1 if nothing is known.
pub(super) fn least_admitted(policy: &Policy, n_rows: u64) -> Result<u64> {
    let Some(k_only) = policy.k_only().filter(|policy| policy.demand().is_rows_only()) else { return Ok(1) };
    let admits = |rows: u64| k_only.admits(Measures::of_rows(vec![rows]).group(0));
    let (mut refused, mut admitted) = (0, n_rows.max(1));
    if !admits(admitted)? {
        return Ok(1);
    }
    while admitted - refused > 1 {
        let middle = refused + (admitted - refused) / 2;
        if admits(middle)? { admitted = middle } else { refused = middle }
    }
    Ok(admitted)
}
