//! Local recoding: each group of records has levels of its own.

use crate::error::{Error, ErrorKind, Result};

/// A group of its own for every record, and a level for every attribute of a group.
///
/// Two groups may come to have the same labels; in the release they are one.
///
/// # Invariants
/// Every group has a record; all have as many levels as there are attributes. Groups are numbered in the order of their
/// first records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PerGroup {
    n_attributes: usize,
    /// The levels of the first group, then those of the second, ...
    levels: Vec<u8>,
    /// How many records each group has.
    rows: Vec<u64>,
    /// The group of each record; [`SUPPRESSED`] if it is left out.
    of_record: Vec<u32>,
}

const SUPPRESSED: u32 = u32::MAX;

impl PerGroup {
    /// The recoding that puts each record into a group, or leaves it out, given the levels of each group. Groups without
    /// records are forgotten.
    pub fn new(
        n_attributes: usize,
        groups: &[impl AsRef<[u8]>],
        of_record: impl IntoIterator<Item = Option<u32>>,
    ) -> Result<Self> {
        let wrong = |what| Err(Error::new(ErrorKind::Internal, what));
        if groups.len() >= SUPPRESSED as usize {
            return wrong("a recoding has more groups than records can be numbered");
        }
        if groups.iter().any(|levels| levels.as_ref().len() != n_attributes) {
            return wrong("a group has not one level for each attribute");
        }
        let mut numbers = vec![SUPPRESSED; groups.len()];
        let of_records = of_record.into_iter();
        let of_record = Vec::with_capacity(of_records.size_hint().0);
        let mut recoding = PerGroup { n_attributes, levels: Vec::new(), rows: Vec::new(), of_record };
        for group in of_records {
            let Some(group) = group else {
                recoding.of_record.push(SUPPRESSED);
                continue;
            };
            let Some(number) = numbers.get_mut(group as usize) else {
                return wrong("a record is in a group that does not exist");
            };
            if *number == SUPPRESSED {
                *number = recoding.rows.len() as u32;
                recoding.rows.push(0);
                recoding.levels.extend_from_slice(groups[group as usize].as_ref());
            }
            recoding.rows[*number as usize] += 1;
            recoding.of_record.push(*number);
        }
        Ok(recoding)
    }

    /// How many groups there are.
    pub fn n_groups(&self) -> usize {
        self.rows.len()
    }

    /// The level of each attribute in a group.
    pub fn levels(&self, group: usize) -> &[u8] {
        &self.levels[group * self.n_attributes..][..self.n_attributes]
    }

    /// How many records a group has.
    pub fn rows(&self, group: usize) -> u64 {
        self.rows[group]
    }

    /// How many records there are, released or not.
    pub fn n_records(&self) -> usize {
        self.of_record.len()
    }

    /// How many records are left out.
    pub fn suppressed_rows(&self) -> u64 {
        self.of_record.len() as u64 - self.rows.iter().sum::<u64>()
    }

    /// The group of a record; `None` if the record is left out.
    pub fn group_of(&self, record: usize) -> Option<usize> {
        Some(self.of_record[record]).filter(|&group| group != SUPPRESSED).map(|group| group as usize)
    }

    pub(super) fn n_attributes(&self) -> usize {
        self.n_attributes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_numbered_by_their_first_records_and_empty_ones_forgotten() {
        let groups = [[0_u8], [1], [2]];
        let recoding = PerGroup::new(1, &groups, [Some(2), None, Some(0), Some(2)]).unwrap();
        assert_eq!((recoding.n_groups(), recoding.n_records(), recoding.suppressed_rows()), (2, 4, 1));
        assert_eq!([recoding.levels(0), recoding.levels(1)], [[2], [0]]);
        assert_eq!([recoding.rows(0), recoding.rows(1)], [2, 1]);
        assert_eq!(
            (0..4).map(|at| recoding.group_of(at)).collect::<Vec<_>>(),
            [Some(0), None, Some(1), Some(0)]
        );
    }

    #[test]
    fn what_does_not_fit_together_is_refused() {
        assert!(PerGroup::new(2, &[[0_u8]], [Some(0)]).is_err());
        assert!(PerGroup::new(1, &[[0_u8]], [Some(1)]).is_err());
    }
}
