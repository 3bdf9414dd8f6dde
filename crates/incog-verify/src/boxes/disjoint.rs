//! Are boxes pairwise disjoint?
//!
//! 1. Sweep over the boxes along one column: where all that have begun have ended, they fall apart. Boxes of different
//!    components are disjoint.
//! 2. Go on with each component by itself, along any column that divides it. Boxes made by cuts always have such a
//!    column: the one of the first cut through the component.
//! 3. What no column divides is compared pair by pair, if it is at most [`MAX_BOXES`]. Otherwise it cannot be told.
//!
//! Cost: one sorting of the boxes for each column and each depth of cuts.

use super::sides::Sides;

/// Boxes that are compared pair by pair.
const MAX_BOXES: usize = 1 << 12;

/// What was found out about boxes.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Overlap {
    None,
    /// These two overlap.
    Between(u32, u32),
    /// The number of boxes that no column tells apart.
    Unknown(usize),
}

/// Looks for two boxes that overlap; `labels` has the label of each box for each column.
pub(super) fn overlap(columns: &[Sides], labels: &[Vec<u32>]) -> Overlap {
    let n_boxes = labels.first().map_or(0, Vec::len);
    let reach = |column: usize, number: u32| columns[column].reach(labels[column][number as usize]);
    // A box that nobody can be in overlaps nothing.
    let is_empty = |number: u32| (0..columns.len()).any(|column| reach(column, number).is_empty());
    let mut open: Vec<Vec<u32>> = vec![(0..n_boxes as u32).filter(|&number| !is_empty(number)).collect()];
    let mut largest_unknown = 0;
    while let Some(boxes) = open.pop() {
        if boxes.len() < 2 {
            continue;
        }
        let mut divided = (0..columns.len()).map(|column| components(&boxes, |number| reach(column, number)));
        if let Some(components) = divided.find(|components| components.len() > 1) {
            open.extend(components);
            continue;
        }
        if boxes.len() > MAX_BOXES {
            largest_unknown = largest_unknown.max(boxes.len());
            continue;
        }
        for (at, &a) in boxes.iter().enumerate() {
            let meets = |b: &&u32| {
                let sides = columns.iter().zip(labels);
                sides
                    .into_iter()
                    .all(|(column, labels)| column.overlap(labels[a as usize], labels[**b as usize]))
            };
            if let Some(&b) = boxes[at + 1..].iter().find(meets) {
                return Overlap::Between(a.min(b), a.max(b));
            }
        }
    }
    if largest_unknown > 0 { Overlap::Unknown(largest_unknown) } else { Overlap::None }
}

/// Boxes that hang together along one column.
fn components<'a>(boxes: &[u32], reach: impl Fn(u32) -> &'a std::ops::Range<u32>) -> Vec<Vec<u32>> {
    let mut sorted: Vec<u64> =
        boxes.iter().map(|&number| u64::from(reach(number).start) << 32 | u64::from(number)).collect();
    sorted.sort_unstable();
    let mut components = Vec::new();
    let mut component = Vec::new();
    let mut last_end = 0;
    for key in sorted {
        let number = key as u32;
        let reach = reach(number);
        if reach.start >= last_end && !component.is_empty() {
            components.push(std::mem::take(&mut component));
        }
        last_end = last_end.max(reach.end);
        component.push(number);
    }
    components.push(component);
    components
}
