//! Recoding by boxes: each record is in a box, and is released as what the sides of the box are called.
//!
//! A side is a label of a hierarchy, or a range of an ordered [`Domain`]. A missing value of an ordered column is
//! [`Side::Missing`] by itself, and part of [`Side::Everything`] together with others.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::error::{Error, ErrorKind, Result};
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
/// A side of an attribute that has a domain is no label, one of an attribute without is one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PerBox {
    domains: Domains,
    /// The sides of the first box, then those of the second, ...
    sides: Vec<Side>,
    /// How many records each box has.
    rows: Vec<u64>,
    /// The box of each record; [`SUPPRESSED_RECORD`] if it is left out.
    of_record: Vec<u32>,
}

const SUPPRESSED_RECORD: u32 = u32::MAX;

impl PerBox {
    /// The recoding that puts each record into a box, or leaves it out. `sides` has those of the first box, then those of
    /// the second, ... Boxes with equal sides become one; boxes without records are forgotten.
    pub fn new(
        domains: Domains,
        sides: &[Side],
        of_record: impl IntoIterator<Item = Option<u32>>,
    ) -> Result<Self> {
        let wrong = |what| Err(Error::new(ErrorKind::Internal, what));
        let n_attributes = domains.len();
        if n_attributes == 0 || !sides.len().is_multiple_of(n_attributes) {
            return wrong("a box has not one side for each attribute");
        }
        let n_boxes = sides.len() / n_attributes;
        if n_boxes >= SUPPRESSED_RECORD as usize {
            return wrong("a recoding has more boxes than records can be numbered");
        }
        let fits = |(side, domain): (&Side, &Option<Arc<Domain>>)| match (side, domain) {
            (Side::Label { .. }, domain) => domain.is_none(),
            (Side::Range { start, end }, Some(domain)) => start < end && *end <= domain.n_slots(),
            (_, domain) => domain.is_some(),
        };
        if !sides.iter().zip(domains.iter().cycle()).all(fits) {
            return wrong("a side of a box is of another kind than its attribute");
        }
        let mut numbers = vec![SUPPRESSED_RECORD; n_boxes];
        let mut known: FxHashMap<&[Side], u32> = FxHashMap::default();
        let mut recoding = PerBox { domains, sides: Vec::new(), rows: Vec::new(), of_record: Vec::new() };
        for number in of_record {
            let Some(number) = number else {
                recoding.of_record.push(SUPPRESSED_RECORD);
                continue;
            };
            let Some(new) = numbers.get_mut(number as usize) else {
                return wrong("a record is in a box that does not exist");
            };
            if *new == SUPPRESSED_RECORD {
                let of_box = &sides[number as usize * n_attributes..][..n_attributes];
                *new = *known.entry(of_box).or_insert_with(|| {
                    recoding.sides.extend_from_slice(of_box);
                    recoding.rows.push(0);
                    recoding.rows.len() as u32 - 1
                });
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

    /// The side of a box in each attribute.
    pub fn sides(&self, number: usize) -> &[Side] {
        &self.sides[number * self.domains.len()..][..self.domains.len()]
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
        let mut of_side: FxHashMap<Side, u32> = FxHashMap::default();
        let mut of_name: FxHashMap<String, u32> = FxHashMap::default();
        let mut names = Vec::new();
        let code = |number: usize| {
            let side = self.sides(number)[at];
            *of_side.entry(side).or_insert_with(|| {
                let name = side.name(&attributes[at], domain);
                *of_name.entry(name).or_insert_with_key(|name| {
                    names.push(name.clone());
                    names.len() as u32 - 1
                })
            })
        };
        let codes = (0..self.n_boxes()).map(code).collect();
        (names, codes)
    }
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
        let recoding = PerBox::new(ages(), &sides, of_record).unwrap();
        assert_eq!((recoding.n_boxes(), recoding.n_records(), recoding.suppressed_rows()), (3, 5, 1));
        assert_eq!(recoding.sides(0), [range(2, 3)]);
        assert_eq!([0, 1, 2].map(|number| recoding.rows(number)), [2, 1, 1]);
        assert_eq!(
            (0..5).map(|record| recoding.box_of(record)).collect::<Vec<_>>(),
            [Some(0), None, Some(1), Some(0), Some(2)]
        );
    }

    #[test]
    fn what_does_not_fit_together_is_refused() {
        assert!(PerBox::new(ages(), &[Side::Missing], [Some(1)]).is_err());
        assert!(PerBox::new(ages(), &[Side::Label { level: 0, label: 0 }], [Some(0)]).is_err());
        assert!(PerBox::new(ages(), &[Side::Range { start: 1, end: 1 }], [Some(0)]).is_err());
        assert!(PerBox::new(ages(), &[Side::Range { start: 0, end: 11 }], [Some(0)]).is_err());
        assert!(PerBox::new(vec![None], &[Side::Everything], [Some(0)]).is_err());
        assert!(PerBox::new(vec![], &[], []).is_err());
    }
}
