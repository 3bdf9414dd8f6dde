//! The rules of the models that recode by boxes.
//!
//! | model | rules |
//! |---|---|
//! | `ordered-set` | every released record is in its box; in each attribute, two sides (ranges, or labels of a hierarchy) are equal or disjoint; ranges leave no slot out |
//! | `mondrian`, strict | every released record is in its box; boxes are pairwise disjoint; if asked for: boxes leave nothing out |
//! | `mondrian`, relaxed | every released record is in its box |
//!
//! That boxes leave nothing out can be asked for where all attributes are ordered and no value is missing: the volumes of
//! disjoint boxes then add up to that of the domain.
//!
//! Disjointness is checked pair by pair, after sorting by the first slots of one attribute: quadratic at worst.

use crate::hierarchy::Attributes;
use crate::recoding::{PerBox, Side};
use crate::table::Table;

/// What boxes of Mondrian promise of each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overlap {
    /// No two have anything in common.
    Disjoint,
    /// The same, and they leave nothing out.
    DisjointAndCovering,
    /// Nothing.
    Allowed,
}

/// Says what is wrong with an answer of `mondrian`.
pub fn check_mondrian(
    recoding: &PerBox,
    table: &Table,
    attributes: &Attributes,
    overlap: Overlap,
) -> Result<(), String> {
    check_records(recoding, table, attributes)?;
    if overlap == Overlap::Allowed {
        return Ok(());
    }
    let boxes: Vec<Vec<Reach>> = (0..recoding.n_boxes())
        .map(|number| {
            let sides = recoding.sides(number).enumerate();
            sides.map(|(at, side)| reach(recoding, attributes, at, side)).collect()
        })
        .collect();
    // By the attribute that tells most boxes apart.
    let n_distinct = |at: usize| {
        let mut starts: Vec<u128> = boxes.iter().map(|sides| sides[at].start).collect();
        starts.sort_unstable();
        starts.dedup();
        starts.len()
    };
    let Some(by) = (0..attributes.len()).max_by_key(|&at| n_distinct(at)) else { return Ok(()) };
    let mut order: Vec<usize> = (0..boxes.len()).collect();
    order.sort_by_key(|&number| boxes[number][by].start);
    for (at, &first) in order.iter().enumerate() {
        let (a, end) = (&boxes[first], boxes[first][by].end);
        for &second in order[at + 1..].iter().take_while(|&&number| boxes[number][by].start < end) {
            let meet = a.iter().zip(&boxes[second]).all(|(a, b)| a.start < b.end && b.start < a.end);
            if meet {
                return Err(format!("boxes {first} and {second} overlap"));
            }
        }
    }
    if overlap == Overlap::DisjointAndCovering && !boxes.is_empty() {
        let mut volume = 0.0;
        for sides in &boxes {
            volume += sides.iter().map(|side| (side.end - side.start) as f64).product::<f64>();
        }
        let n_slots =
            |at: usize| recoding.domains()[at].as_ref().map_or(f64::NAN, |domain| domain.n_slots() as f64);
        let whole: f64 = (0..attributes.len()).map(n_slots).product();
        if (volume - whole).abs() > 1e-9 * whole || whole.is_nan() {
            return Err(format!("the boxes have a volume of {volume}, the domain one of {whole}"));
        }
    }
    Ok(())
}

/// Says what is wrong with an answer of `ordered-set`.
pub fn check_ordered_set(recoding: &PerBox, table: &Table, attributes: &Attributes) -> Result<(), String> {
    check_records(recoding, table, attributes)?;
    for (at, domain) in recoding.domains().iter().enumerate() {
        let Some(domain) = domain else {
            check_labels(recoding, attributes, at)?;
            continue;
        };
        let mut sides: Vec<Side> = (0..recoding.n_boxes()).map(|number| recoding.side(number, at)).collect();
        if sides.contains(&Side::Everything) && sides.iter().any(|&side| side != Side::Everything) {
            return Err(format!("attribute {at}: a range stands beside everything"));
        }
        sides.sort_by_key(|side| if let Side::Range { start, end } = side { (*start, *end) } else { (0, 0) });
        sides.dedup();
        let ranges: Vec<(u64, u64)> = sides
            .iter()
            .filter_map(
                |side| if let Side::Range { start, end } = side { Some((*start, *end)) } else { None },
            )
            .collect();
        for pair in ranges.windows(2) {
            if pair[1].0 < pair[0].1 {
                return Err(format!("attribute {at}: ranges {:?} and {:?} overlap", pair[0], pair[1]));
            }
        }
        // Ranges whose records are all left out are not seen.
        let is_whole = recoding.suppressed_rows() > 0
            || ranges.windows(2).all(|pair| pair[0].1 == pair[1].0)
                && ranges.first().is_none_or(|first| first.0 == 0)
                && ranges.last().is_none_or(|last| last.1 == domain.n_slots());
        if !is_whole {
            return Err(format!("attribute {at}: the ranges leave slots out"));
        }
    }
    Ok(())
}

/// Two labels of an attribute with a hierarchy are equal or have no leaf in common.
fn check_labels(recoding: &PerBox, attributes: &Attributes, at: usize) -> Result<(), String> {
    let mut sides: Vec<Side> = (0..recoding.n_boxes()).map(|number| recoding.side(number, at)).collect();
    sides.sort_unstable();
    sides.dedup();
    let mut reaches: Vec<Reach> = sides.iter().map(|&side| reach(recoding, attributes, at, side)).collect();
    reaches.sort_by_key(|reach| (reach.start, reach.end));
    if reaches.windows(2).any(|pair| pair[1].start < pair[0].end) {
        return Err(format!("attribute {at}: two labels have a value in common"));
    }
    Ok(())
}

/// Every released record is in its box.
fn check_records(recoding: &PerBox, table: &Table, attributes: &Attributes) -> Result<(), String> {
    if recoding.n_records() != table.n_rows() {
        return Err("the recoding is of another table".into());
    }
    for (at, attribute) in attributes.iter().enumerate() {
        let column = table
            .column(attribute.name())
            .ok_or_else(|| format!("there is no column {}", attribute.name()))?;
        for (record, &value) in column.codes().iter().enumerate() {
            let Some(number) = recoding.box_of(record) else { continue };
            let slot = recoding.domains()[at].as_ref().map(|domain| domain.slot(value));
            let is_inside = match (recoding.side(number, at), slot) {
                (Side::Label { level, label }, None) => {
                    let hierarchy = attribute.hierarchy();
                    hierarchy.generalize(attribute.labels_at(0)[value as usize], 0, level) == label
                }
                (Side::Range { start, end }, Some(Some(slot))) => start <= slot && slot < end,
                (Side::Missing, Some(None)) | (Side::Everything, Some(_)) => true,
                _ => false,
            };
            if !is_inside {
                return Err(format!("record {record} is outside of its box in attribute {at}"));
            }
        }
    }
    Ok(())
}

/// Which values a side allows, as numbers: two sides have one in common exactly where they overlap.
struct Reach {
    start: u128,
    end: u128,
}

fn reach(recoding: &PerBox, attributes: &Attributes, at: usize, side: Side) -> Reach {
    let n_slots = recoding.domains()[at].as_ref().map_or(0, |domain| u128::from(domain.n_slots()));
    match side {
        Side::Range { start, end } => Reach { start: start.into(), end: end.into() },
        Side::Missing => Reach { start: n_slots, end: n_slots + 1 },
        Side::Everything => Reach { start: 0, end: n_slots + 1 },
        Side::Label { level, label } => {
            // Leaves in an order in which every label is a run.
            let hierarchy = attributes[at].hierarchy();
            let mut leaves: Vec<u32> = (0..hierarchy.labels(0).len() as u32).collect();
            leaves.sort_by_key(|&leaf| {
                let path = (0..=hierarchy.height()).rev().map(|level| hierarchy.generalize(leaf, 0, level));
                path.collect::<Vec<u32>>()
            });
            let is_below = |leaf: &u32| hierarchy.generalize(*leaf, 0, level) == label;
            let start = leaves.iter().position(is_below).unwrap_or(0);
            let n = leaves.iter().filter(|leaf| is_below(leaf)).count();
            Reach { start: start as u128, end: (start + n) as u128 }
        }
    }
}
