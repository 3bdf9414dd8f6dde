//! Recoding by boxes: each record is in a box, and is released as what the sides of the box are called.
//!
//! A side is a label of a hierarchy, or a range of an ordered [`Domain`]. A missing value of an ordered column is
//! [`Side::Missing`] by itself, and part of [`Side::Everything`] together with others.

use std::hash::BuildHasher;
use std::sync::Arc;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use crate::error::{Error, ErrorKind, Result};
use crate::hash::{self, State};
use crate::hierarchy::{Attribute, SUPPRESSED};
use crate::recoding::Domain;

/// The order of each attribute's values; `None` where a hierarchy is used.
pub type Domains = Vec<Option<Arc<Domain>>>;

/// What a box allows in one attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    /// The values under a label of the attribute's hierarchy.
    Label {
        /// The level of the label.
        level: u8,
        /// Its code there.
        label: u32,
    },
    /// The slots from `start` up to but not including `end` of the attribute's domain.
    Range {
        /// The first slot.
        start: u64,
        /// The first slot that is not in the range any more.
        end: u64,
    },
    /// The missing value of an ordered attribute.
    Missing,
    /// Every value of an ordered attribute, and the missing one.
    Everything,
}

impl Side {
    /// How many leaves the side covers.
    pub fn leaves(self, attribute: &Attribute, domain: Option<&Domain>) -> u64 {
        match (self, domain) {
            (Side::Label { level, label }, _) => attribute.hierarchy().leaves_under(level, label),
            (Side::Range { start, end }, Some(domain)) => domain.leaves(start, end),
            (Side::Everything, Some(domain)) => domain.n_leaves(),
            (Side::Missing, _) | (_, None) => 1,
        }
    }

    /// What is released for it.
    pub fn name(self, attribute: &Attribute, domain: Option<&Domain>) -> String {
        match (self, domain) {
            (Side::Label { level, label }, _) => attribute.hierarchy().labels(level).value(label).to_owned(),
            (Side::Range { start, end }, Some(domain)) => domain.label(start, end),
            (Side::Missing, _) => String::new(),
            (Side::Everything | Side::Range { .. }, _) => SUPPRESSED.to_owned(),
        }
    }
}

/// A box for every record, or none if it is left out.
///
/// # Invariants
/// Every box has a record, no two boxes have the same sides, and boxes are numbered in the order of their first records.
/// A side of an attribute that has a domain is no label, one of an attribute without is one. Sides of an attribute are
/// distinct, and numbered in the order of the first boxes that have them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PerBox {
    domains: Domains,
    /// The sides that boxes have in each attribute. There are far fewer than boxes, so a box has their numbers only.
    distinct: Vec<Vec<Side>>,
    /// Which of them the first box has, then the second, ...
    sides: Vec<u32>,
    /// How many records each box has.
    rows: Vec<u64>,
    /// The box of each record; [`SUPPRESSED_RECORD`] if it is left out.
    of_record: Vec<u32>,
}

const SUPPRESSED_RECORD: u32 = u32::MAX;
const UNKNOWN: u32 = u32::MAX;

impl PerBox {
    /// The recoding that puts each record into a box, or leaves it out. `sides` has those of the first box, then those of
    /// the second, ... Boxes with equal sides become one; boxes without records are forgotten.
    pub fn new(
        domains: Domains,
        sides: impl IntoIterator<Item = Side>,
        of_record: impl IntoIterator<Item = Option<u32>>,
    ) -> Result<Self> {
        let wrong = |what| Err(Error::new(ErrorKind::Internal, what));
        let n_attributes = domains.len();
        let (given, boxes) = numbered(sides, n_attributes.max(1));
        if n_attributes == 0 || !boxes.len().is_multiple_of(n_attributes) {
            return wrong("a box has not one side for each attribute");
        }
        let n_boxes = boxes.len() / n_attributes;
        if n_boxes >= SUPPRESSED_RECORD as usize {
            return wrong("a recoding has more boxes than records can be numbered");
        }
        let fits = |side: &Side, domain: &Option<Arc<Domain>>| match (side, domain) {
            (Side::Label { .. }, domain) => domain.is_none(),
            (Side::Range { start, end }, Some(domain)) => start < end && *end <= domain.n_slots(),
            (_, domain) => domain.is_some(),
        };
        if !given.iter().zip(&domains).all(|(sides, domain)| sides.iter().all(|side| fits(side, domain))) {
            return wrong("a side of a box is of another kind than its attribute");
        }
        let of_record = of_record.into_iter();
        let mut numbers = vec![SUPPRESSED_RECORD; n_boxes];
        let mut new_sides: Vec<Vec<u32>> = given.iter().map(|sides| vec![UNKNOWN; sides.len()]).collect();
        // Boxes by what they hash to; their sides are looked up.
        let mut known: HashTable<u32> = HashTable::new();
        let state = State::default();
        let hash = |sides: &[u32]| state.hash_one(sides);
        let mut recoding = PerBox {
            domains,
            distinct: vec![Vec::new(); n_attributes],
            sides: Vec::new(),
            rows: Vec::new(),
            of_record: Vec::with_capacity(of_record.size_hint().0),
        };
        for number in of_record {
            let Some(number) = number else {
                recoding.of_record.push(SUPPRESSED_RECORD);
                continue;
            };
            let Some(new) = numbers.get_mut(number as usize) else {
                return wrong("a record is in a box that does not exist");
            };
            if *new == SUPPRESSED_RECORD {
                let start = recoding.sides.len();
                for (at, &side) in boxes[number as usize * n_attributes..][..n_attributes].iter().enumerate()
                {
                    let new_side = &mut new_sides[at][side as usize];
                    if *new_side == UNKNOWN {
                        *new_side = recoding.distinct[at].len() as u32;
                        recoding.distinct[at].push(given[at][side as usize]);
                    }
                    recoding.sides.push(*new_side);
                }
                let (others, of_box) = recoding.sides.split_at(start);
                let of_other = |other: u32| &others[other as usize * n_attributes..][..n_attributes];
                let entry = known.entry(
                    hash(of_box),
                    |&other| of_other(other) == of_box,
                    |&other| hash(of_other(other)),
                );
                match entry {
                    Entry::Occupied(other) => {
                        *new = *other.get();
                        recoding.sides.truncate(start);
                    }
                    Entry::Vacant(place) => {
                        *new = recoding.rows.len() as u32;
                        place.insert(*new);
                        recoding.rows.push(0);
                    }
                }
            }
            recoding.rows[*new as usize] += 1;
            recoding.of_record.push(*new);
        }
        recoding.of_record.shrink_to_fit();
        Ok(recoding)
    }

    /// How many boxes there are.
    pub fn n_boxes(&self) -> usize {
        self.rows.len()
    }

    /// The side of a box in one attribute.
    pub fn side(&self, number: usize, at: usize) -> Side {
        self.distinct[at][self.sides[number * self.domains.len() + at] as usize]
    }

    /// The side of a box in each attribute.
    pub fn sides(&self, number: usize) -> impl Iterator<Item = Side> {
        (0..self.domains.len()).map(move |at| self.side(number, at))
    }

    /// How many records a box has.
    pub fn rows(&self, number: usize) -> u64 {
        self.rows[number]
    }

    /// How many records there are, released or not.
    pub fn n_records(&self) -> usize {
        self.of_record.len()
    }

    /// How many records are left out.
    pub fn suppressed_rows(&self) -> u64 {
        self.of_record.len() as u64 - self.rows.iter().sum::<u64>()
    }

    /// The box of a record; `None` if the record is left out.
    pub fn box_of(&self, record: usize) -> Option<usize> {
        Some(self.of_record[record])
            .filter(|&number| number != SUPPRESSED_RECORD)
            .map(|number| number as usize)
    }

    /// The order of each attribute's values; `None` where a hierarchy is used.
    pub fn domains(&self) -> &Domains {
        &self.domains
    }

    /// What each box is called in one attribute: distinct labels, and the position of each box's there.
    pub(super) fn labels(&self, attributes: &[Attribute], at: usize) -> (Vec<String>, Vec<u32>) {
        let domain = self.domains[at].as_deref();
        let mut of_name: hash::Map<String, u32> = hash::Map::default();
        let mut names = Vec::new();
        let code = |side: &Side| {
            let name = side.name(&attributes[at], domain);
            *of_name.entry(name).or_insert_with_key(|name| {
                names.push(name.clone());
                names.len() as u32 - 1
            })
        };
        let of_side: Vec<u32> = self.distinct[at].iter().map(code).collect();
        let of_box = self.sides.iter().skip(at).step_by(self.domains.len());
        let codes = of_box.map(|&side| of_side[side as usize]).collect();
        (names, codes)
    }
}

/// The distinct sides of each attribute, and the number of each side that was given.
fn numbered(sides: impl IntoIterator<Item = Side>, n_attributes: usize) -> (Vec<Vec<Side>>, Vec<u32>) {
    let mut distinct: Vec<Vec<Side>> = vec![Vec::new(); n_attributes];
    let mut known: Vec<hash::Map<Side, u32>> = vec![hash::Map::default(); n_attributes];
    let sides = sides.into_iter();
    let mut numbers = Vec::with_capacity(sides.size_hint().0);
    for (side, at) in sides.zip((0..n_attributes).cycle()) {
        numbers.push(*known[at].entry(side).or_insert_with(|| {
            distinct[at].push(side);
            distinct[at].len() as u32 - 1
        }));
    }
    (distinct, numbers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recoding::Order;
    use crate::table::{Column, Role};

    fn ages() -> Domains {
        let column = Column::from_cells("age", Role::QuasiIdentifier, ["1", "2", "3", ""]).unwrap();
        vec![Some(Arc::new(Domain::new(&column, &Order::NUMBERS).unwrap()))]
    }

    #[test]
    fn boxes_are_numbered_by_their_first_records_and_equal_ones_are_one() {
        let range = |start, end| Side::Range { start, end };
        let sides = [range(0, 2), Side::Missing, range(2, 3), range(2, 3), range(1, 3)];
        let of_record = [Some(3), None, Some(0), Some(2), Some(1)];
        let recoding = PerBox::new(ages(), sides, of_record).unwrap();
        assert_eq!((recoding.n_boxes(), recoding.n_records(), recoding.suppressed_rows()), (3, 5, 1));
        assert!(recoding.sides(0).eq([range(2, 3)]));
        assert_eq!([0, 1, 2].map(|number| recoding.rows(number)), [2, 1, 1]);
        assert_eq!(
            (0..5).map(|record| recoding.box_of(record)).collect::<Vec<_>>(),
            [Some(0), None, Some(1), Some(0), Some(2)]
        );
    }

    #[test]
    fn what_does_not_fit_together_is_refused() {
        assert!(PerBox::new(ages(), [Side::Missing], [Some(1)]).is_err());
        assert!(PerBox::new(ages(), [Side::Label { level: 0, label: 0 }], [Some(0)]).is_err());
        assert!(PerBox::new(ages(), [Side::Range { start: 1, end: 1 }], [Some(0)]).is_err());
        assert!(PerBox::new(ages(), [Side::Range { start: 0, end: 11 }], [Some(0)]).is_err());
        assert!(PerBox::new(vec![None], [Side::Everything], [Some(0)]).is_err());
        assert!(PerBox::new(vec![], [], []).is_err());
    }
}
