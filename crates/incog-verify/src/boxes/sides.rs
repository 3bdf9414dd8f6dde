//! Which values may each released label of a column stand for?
//!
//! The values of a column are put on *places* 0, 1, 2, ... such that each label stands for the places from one up to
//! another, its *reach*. Values that no label tells apart share a place.
//!
//! - **Ordered columns**: the ends of all labels cut the line into places. Behind them is one for the missing value, and
//!   one for each value that has no position in the order: only a label that is spelled the same stands for it.
//! - **Hierarchies**: values whose paths meet the same released labels share a place. Sorted by those labels, the most
//!   frequent first, the values under a label of a tree stand in a row. Where a hierarchy is no tree they may not; then
//!   the reach has holes, and the labels of each place are kept. All values of the hierarchy have places, not only those
//!   of the input: disjoint labels are disjoint for everybody.

use std::ops::Range;

use super::order::{Meaning, Order};
use crate::hash;
use crate::keys::{Numbers, count};
use crate::local::PathColumn;
use crate::written::Number;
use crate::{Hierarchy, LabelColumn};

/// A column's labels and what they stand for.
pub(super) struct Sides {
    /// The number of each label code of the release, and how many numbers there are. Only labels that occur have one.
    pub(super) of_label: Vec<u32>,
    pub(super) n_labels: usize,
    /// The place of each label code of the input.
    pub(super) of_value: Vec<u32>,
    pub(super) n_places: usize,
    /// For each label; empty where it stands for nothing.
    reach: Vec<Range<u32>>,
    /// The labels of each place, ascending, if the reach of a label has holes.
    labels_at: Option<Vec<Vec<u32>>>,
}

impl Sides {
    pub(super) fn of_order(released: &LabelColumn<'_>, input: &LabelColumn<'_>, order: &Order<'_>) -> Self {
        let (of_label, labels) = occurring(released);
        let meanings: Vec<Meaning> = labels.iter().map(|label| order.meaning(label)).collect();
        // A cut lies just before a position, or just behind it.
        let ends = |meaning: &Meaning| match meaning {
            Meaning::Single(position) => Some(((position.clone(), false), (position.clone(), true))),
            Meaning::Interval(start, end) => Some(((start.clone(), false), (end.clone(), false))),
            _ => None,
        };
        let mut cuts: Vec<(Number, bool)> =
            meanings.iter().filter_map(ends).flat_map(|(a, b)| [a, b]).collect();
        cuts.sort_unstable();
        cuts.dedup();
        // Place 0 lies below all cuts.
        let place = |position: &(Number, bool)| cuts.partition_point(|cut| cut <= position) as u32;
        let missing = cuts.len() as u32 + 1;
        let mut strangers = Numbers::default();
        let of_value = input
            .labels
            .iter()
            .map(|&value| match order.position(value) {
                _ if value.is_empty() => missing,
                Some(position) => place(&(position, false)),
                None => missing + 1 + strangers.number(value),
            })
            .collect();
        let n_places = missing + 1 + strangers.len() as u32;
        let reach = meanings.iter().zip(&labels).map(|(meaning, label)| match meaning {
            Meaning::Everything => 0..n_places,
            Meaning::Missing => missing..missing + 1,
            Meaning::Single(_) | Meaning::Interval(..) => {
                ends(meaning).map_or(0..0, |(start, end)| place(&start)..place(&end))
            }
            Meaning::Unknown => {
                strangers.find(label).map_or(0..0, |number| missing + 1 + number..missing + 2 + number)
            }
        });
        let reach = reach.collect();
        Sides {
            of_label,
            n_labels: labels.len(),
            of_value,
            n_places: n_places as usize,
            reach,
            labels_at: None,
        }
    }

    pub(super) fn of_hierarchy(
        released: &LabelColumn<'_>,
        input: &LabelColumn<'_>,
        hierarchy: &Hierarchy,
    ) -> Self {
        let (of_label, labels) = occurring(released);
        let mut others: Vec<&str> = hierarchy.paths.keys().map(String::as_str).collect();
        others.sort_unstable();
        let values: Vec<&str> = input.labels.iter().copied().chain(others).collect();
        let PathColumn { of_value, paths, .. } = PathColumn::new(&labels, &values, hierarchy);

        let mut n_paths = vec![0_u32; labels.len()];
        for &label in paths.iter().flatten() {
            n_paths[label as usize] += 1;
        }
        let from_the_top = |path: &Vec<u32>| {
            let mut path: Vec<(u32, u32)> =
                path.iter().map(|&label| (u32::MAX - n_paths[label as usize], label)).collect();
            path.sort_unstable();
            path
        };
        let mut order: Vec<u32> = (0..paths.len() as u32).collect();
        order.sort_by_cached_key(|&path| from_the_top(&paths[path as usize]));
        let mut place_of = vec![0; paths.len()];
        let mut reach = vec![0..0; labels.len()];
        for (place, &path) in order.iter().enumerate() {
            let place = place as u32;
            place_of[path as usize] = place;
            for &label in &paths[path as usize] {
                let Range { start, end } = reach[label as usize];
                reach[label as usize] = if end == 0 { place } else { start }..place + 1;
            }
        }
        let is_exact = reach.iter().zip(&n_paths).all(|(reach, &n)| reach.len() == n as usize);
        let mut paths = paths;
        let mut labels_at = || order.iter().map(|&path| std::mem::take(&mut paths[path as usize])).collect();
        Sides {
            of_label,
            n_labels: labels.len(),
            of_value: of_value[..input.labels.len()].iter().map(|&path| place_of[path as usize]).collect(),
            n_places: order.len(),
            reach,
            labels_at: (!is_exact).then(&mut labels_at),
        }
    }

    /// All places of a label lie here.
    pub(super) fn reach(&self, label: u32) -> &Range<u32> {
        &self.reach[label as usize]
    }

    /// May a label stand for the values of a place?
    pub(super) fn stands_for(&self, label: u32, place: u32) -> bool {
        self.reach(label).contains(&place)
            && self.labels_at.as_ref().is_none_or(|labels| labels[place as usize].contains(&label))
    }

    /// Is there a value for which both labels may stand?
    pub(super) fn overlap(&self, a: u32, b: u32) -> bool {
        let (first, second) = (self.reach(a), self.reach(b));
        let mut common = first.start.max(second.start)..first.end.min(second.end);
        match &self.labels_at {
            None => !common.is_empty(),
            Some(_) => common.any(|place| self.stands_for(a, place) && self.stands_for(b, place)),
        }
    }

    /// Do any two labels overlap?
    pub(super) fn any_overlap(&self) -> bool {
        // A reach with holes only occurs where labels overlap: disjoint ones are a tree of height 1.
        let mut all: Vec<&Range<u32>> = self.reach.iter().filter(|reach| !reach.is_empty()).collect();
        all.sort_unstable_by_key(|reach| (reach.start, reach.end));
        all.windows(2).any(|pair| pair[1].start < pair[0].end)
    }
}

/// Labels that stand in a row, each once, and the number of each code among them.
pub(super) fn occurring<'a>(column: &LabelColumn<'a>) -> (Vec<u32>, Vec<&'a str>) {
    let mut numbers: hash::Map<&str, u32> = hash::Map::default();
    let mut labels = Vec::new();
    let occurs = count(&column.codes, column.labels.len());
    let of_label = column
        .labels
        .iter()
        .zip(occurs)
        .map(|(&label, rows)| {
            if rows == 0 {
                return 0;
            }
            *numbers.entry(label).or_insert_with(|| {
                labels.push(label);
                labels.len() as u32 - 1
            })
        })
        .collect();
    (of_label, labels)
}
