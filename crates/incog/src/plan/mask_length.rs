//! How long is a mask whose `length` the job leaves open?
//!
//! As long as the longest value would be the obvious answer, and it tells how long that value is: by the width of released labels, by the
//! number of levels, by precision and distortion. Where only rows that are left out have such a value, that is nobody's business.
//! So: the greatest length that at least k rows (with a unit, and in a database: k persons) have or exceed. Fewer than k rows
//! have longer values; the hierarchy calls those [`LONGER`], so no group of k rows has that label, and they are released as `*` or
//! not at all.
//!
//! What follows from the length is that at least k rows are as long, and fewer than k longer: a statement about k rows, like that of a
//! group of the release. Rows that are left out count too, because which ones those are is only known once there is a hierarchy.
//!
//! Differs from the longest value only where fewer than k rows have one of that length.
//!
//! [`LONGER`]: incog_core::hierarchy::spec::LONGER

use std::collections::BTreeMap;

use incog_core::table::label::EMPTY_TEXT;
use incog_core::table::{Column, Table};
use incog_core::{Error, Result};

use crate::job::{HierarchyJob, Job};
use crate::source::Elsewhere;
use crate::source::spill::Spilled;

/// A row that is about nobody.
pub(crate) const NOBODY: u32 = u32::MAX;

/// Who has the values of a column.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Holders<'a> {
    /// Every row counts.
    Rows,
    /// Every row counts, and they are not in memory.
    Spilled(&'a Spilled, &'a Table),
    /// For each row, the number of a person, or [`NOBODY`].
    Persons(&'a [u32]),
    /// Every row counts, and an engine has counted the rows of each value.
    Elsewhere(&'a Elsewhere),
    /// Persons count, and an engine would have to count them.
    PersonsElsewhere,
}

impl<'a> Holders<'a> {
    /// Who has the values of this table.
    pub(crate) fn of(spilled: Option<&'a Spilled>, table: &'a Table, persons: Option<&'a [u32]>) -> Self {
        match (persons, spilled) {
            (Some(persons), _) => Holders::Persons(persons),
            (None, Some(spilled)) => Holders::Spilled(spilled, table),
            (None, None) => Holders::Rows,
        }
    }
}

/// The length of an open mask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SharedLength {
    /// In characters.
    pub(crate) length: usize,
    /// How many rows, or persons, have longer values: fewer than k.
    pub(crate) n_longer: u64,
}

impl SharedLength {
    /// The length of this rule for this column; `None` if it is no mask, or says itself how long values are.
    pub(crate) fn of(
        rule: &HierarchyJob,
        column: &Column,
        holders: Holders<'_>,
        k: u64,
    ) -> Result<Option<Self>> {
        if !is_open(rule) {
            return Ok(None);
        }
        let lengths: Vec<usize> = column.dictionary().values().map(characters).collect();
        let mut how_many: BTreeMap<usize, u64> = BTreeMap::new();
        match holders {
            Holders::Rows => {
                column
                    .codes()
                    .iter()
                    .for_each(|&code| *how_many.entry(lengths[code as usize]).or_default() += 1);
            }
            Holders::Spilled(spilled, table) => spilled.each_code(table, column.name(), |code| {
                *how_many.entry(lengths[code as usize]).or_default() += 1;
            })?,
            Holders::Elsewhere(elsewhere) => {
                let rows = elsewhere.rows_of_values(column.name());
                lengths.iter().zip(rows).for_each(|(&length, n)| *how_many.entry(length).or_default() += n);
            }
            Holders::PersonsElsewhere => {
                let name = column.name();
                let message =
                    format!("column `{name}`: persons in an engine are not counted by the length of values");
                return Err(Error::input(message)
                    .with_hint("say how long values are: hierarchy = { mask = \"right\", length = 5 }"));
            }
            Holders::Persons(persons) => {
                let n_persons = persons.iter().filter(|&&person| person != NOBODY).max();
                let mut longest: Vec<Option<usize>> =
                    vec![None; n_persons.map_or(0, |&last| last as usize + 1)];
                let rows = persons.iter().zip(column.codes()).filter(|(person, _)| **person != NOBODY);
                for (&person, &code) in rows {
                    let longest = &mut longest[person as usize];
                    *longest = (*longest).max(Some(lengths[code as usize]));
                }
                longest.into_iter().flatten().for_each(|length| *how_many.entry(length).or_default() += 1);
            }
        }
        // Of a table with fewer rows than k nothing is released, so that nothing is told. A table of a database may have few persons.
        let k = match holders {
            Holders::Rows | Holders::Spilled(..) | Holders::Elsewhere(_) => k.min(how_many.values().sum()),
            Holders::Persons(_) | Holders::PersonsElsewhere => k,
        };
        let mut n_longer = 0;
        for (&length, &n) in how_many.iter().rev() {
            if n_longer + n >= k {
                return Ok(Some(SharedLength { length, n_longer }));
            }
            n_longer += n;
        }
        // Fewer than k have any value at all.
        let n_longer = how_many.iter().filter(|(length, _)| **length > 0).map(|(_, n)| n).sum();
        Ok(Some(SharedLength { length: 0, n_longer }))
    }

    /// What to tell who runs the job, if there are longer values.
    pub(crate) fn note(self, name: &str, of: &str) -> Option<String> {
        let SharedLength { length, n_longer } = self;
        (n_longer > 0).then(|| {
            format!(
                "column `{name}`: fewer than k {of} ({n_longer}) have values of more than {length} characters; the mask does not show how \
                 long those are, so they are released as `*` or left out: correct them, or say how long values are with `length`"
            )
        })
    }
}

/// Is this a mask whose length the job leaves open?
pub(crate) fn is_open(rule: &HierarchyJob) -> bool {
    rule.mask.is_some() && rule.length.is_none()
}

/// The person of each row by the unit of the job, if it has one.
pub(crate) fn persons(job: &Job, table: &Table) -> Option<Vec<u32>> {
    let column = table.column(job.policy.unit.as_deref()?)?;
    let nobody = ["", EMPTY_TEXT].map(|label| column.dictionary().code(label));
    let person = |&code: &u32| if nobody.contains(&Some(code)) { NOBODY } else { code };
    Some(column.codes().iter().map(person).collect())
}

/// How many characters a value has; none if it is missing.
fn characters(value: &str) -> usize {
    if value == EMPTY_TEXT { 0 } else { value.chars().count() }
}

#[cfg(test)]
mod tests {
    use incog_core::table::Role;

    use super::*;

    fn check(cells: &[&str], persons: Option<&[u32]>, k: u64) -> (usize, u64) {
        let column = Column::from_cells("zip", Role::QuasiIdentifier, cells.iter().copied()).unwrap();
        let rule = HierarchyJob::parse("{ mask = \"right\" }").unwrap();
        let holders = persons.map_or(Holders::Rows, Holders::Persons);
        let shared = SharedLength::of(&rule, &column, holders, k).unwrap().unwrap();
        (shared.length, shared.n_longer)
    }

    #[test]
    fn the_length_is_the_greatest_that_k_rows_have_or_exceed() {
        let cells = ["1", "22", "22", "333", "333", "4444"];
        for (k, shared) in [(1, (4, 0)), (2, (3, 1)), (3, (3, 1)), (4, (2, 3)), (5, (2, 3)), (6, (1, 5))] {
            assert_eq!(check(&cells, None, k), shared, "k = {k}");
        }
        assert_eq!(check(&["äöü", "äöü"], None, 2), (3, 0), "characters, not bytes");
    }

    #[test]
    fn where_fewer_than_k_have_a_value_there_is_no_length() {
        assert_eq!(check(&["", "", "", "333", "22"], None, 3), (0, 2));
        assert_eq!(check(&["333", "22"], Some(&[0, 1]), 3), (0, 2));
        assert_eq!(check(&["333", "22"], None, 3), (2, 1), "nothing is released");
        assert_eq!(check(&["", ""], None, 2), (0, 0));
    }

    #[test]
    fn a_person_with_many_rows_counts_once() {
        let cells = ["55555", "55555", "55555", "22", "22", "7777777"];
        assert_eq!(check(&cells, None, 3), (5, 1));
        assert_eq!(check(&cells, Some(&[0, 0, 0, 1, 2, NOBODY]), 3), (2, 1));
        assert_eq!(check(&cells, Some(&[0, 0, 1, 1, 2, NOBODY]), 2), (5, 0));
    }

    #[test]
    fn a_job_that_says_how_long_values_are_is_believed() {
        let column = Column::from_cells("zip", Role::QuasiIdentifier, ["1"]).unwrap();
        for rule in ["{ mask = \"right\", length = 5 }", "{ suppress = true }"] {
            let rule = HierarchyJob::parse(rule).unwrap();
            assert_eq!(SharedLength::of(&rule, &column, Holders::Rows, 2).unwrap(), None);
        }
    }
}
