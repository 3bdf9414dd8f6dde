//! How often has each group each value of a sensitive column?
//!
//! By rows that is plain. Where a person may have several rows, a value counts once for each person of the group who has
//! it, and the group is as large as it has distinct persons. A person with two values counts for both, so the counts of a
//! group may add up to more than its size; shares of the group (α) are of its persons, distributions (ℓ, t, δ, β) are of
//! its (person, value) pairs. In the whole release every (person, value) pair counts once, also if it stands in several
//! groups. A row that does not say whom it is about is about nobody: it is no person, and its value is no person's. (If it were
//! one more person, a group of one and of rows without a name would pass for two.)
//!
//! Rows that would count again are left out first; from there on both are the same.

use crate::keys::{Keys, Numbers};
use crate::{EMPTY_TEXT, LabelColumn};

/// The values of a group, and how many groups are like it.
pub(crate) struct GroupValues {
    pub(crate) values: Vec<GroupValue>,
    pub(crate) n_groups: u64,
}

/// A value of a group.
#[derive(Debug, Clone, Copy)]
pub(crate) enum GroupValue {
    /// This number of rows has it.
    Rows { value: u32, n: u64 },
    /// A person has it.
    Person { value: u32, person: u32 },
}

/// Rows, as far as it matters who looks alike.
pub(crate) struct Grouped<'a> {
    /// The group of each row.
    pub(crate) of_row: &'a [u32],
    /// All groups are below; some may have no rows.
    pub(crate) n_groups: usize,
    /// Only rows of these groups count, if some do not.
    pub(crate) kept: Option<&'a [bool]>,
    /// Whom each row is about, where persons are counted.
    pub(crate) persons: Option<&'a Persons>,
}

/// Whom each row is about.
pub(crate) struct Persons {
    /// Numbers below `n_persons`.
    of_row: Vec<u32>,
    n_persons: usize,
    /// Is each number somebody's? Not those of the missing value, of the empty text and of white space.
    is_somebody: Vec<bool>,
}

impl Persons {
    pub(crate) fn of_column(column: &LabelColumn<'_>) -> Self {
        let mut numbers = Numbers::default();
        let of_code = numbers.all(column.labels.iter().copied());
        Persons::new(column.codes.iter().map(|&code| of_code[code as usize]).collect(), &numbers)
    }

    /// From any label for each row.
    pub(crate) fn of_labels(labels: &[String]) -> Self {
        let mut numbers = Numbers::default();
        let of_row = numbers.all(labels.iter().map(String::as_str));
        Persons::new(of_row, &numbers)
    }

    fn new(of_row: Vec<u32>, numbers: &Numbers<'_>) -> Self {
        let mut is_somebody = vec![true; numbers.len()];
        for (label, number) in numbers.iter() {
            is_somebody[number as usize] = label != EMPTY_TEXT && !label.trim().is_empty();
        }
        Persons { of_row, n_persons: numbers.len(), is_somebody }
    }

    /// Is a row about anybody?
    fn is_somebody(&self, row_idx: usize) -> bool {
        self.is_somebody[self.of_row[row_idx] as usize]
    }

    /// How many persons each group has, given the group of each row.
    pub(crate) fn of_groups(&self, groups: &[u32], n_groups: usize) -> Vec<u32> {
        let mut keys = Keys::from_numbers(groups.iter().copied(), n_groups);
        self.fold(&mut keys, 0..groups.len());
        let mut persons = vec![0; n_groups];
        for row_idx in keys.into_groups().first_rows {
            persons[groups[row_idx as usize] as usize] += u32::from(self.is_somebody(row_idx as usize));
        }
        persons
    }

    /// Takes whom a row is about into account, for some rows.
    fn fold(&self, keys: &mut Keys, rows: impl Iterator<Item = usize>) {
        let persons: Vec<u32> = rows.map(|row_idx| self.of_row[row_idx]).collect();
        let same: Vec<u32> = (0..self.n_persons as u32).collect();
        keys.fold(&[(&persons, &same)], self.n_persons);
    }
}

/// The values of a column, group by group.
pub(crate) struct Histograms<'a> {
    /// The label of each value.
    pub(crate) labels: Vec<&'a str>,
    /// How often each value occurs in all groups together.
    pub(crate) overall: Vec<u64>,
    /// The sum of that.
    pub(crate) n_overall: u64,
    /// A value for each row, or for each value of a person, those of a group side by side.
    values: Vec<u32>,
    /// Whom each of `values` is about, where persons are counted.
    persons: Option<Vec<u32>>,
    /// Where each group starts in `values`; the end of the last one too.
    starts: Vec<usize>,
}

/// The values of one group.
pub(crate) struct Group<'a> {
    /// Its number.
    pub(crate) group_idx: usize,
    /// How many rows or persons it has.
    pub(crate) size: u64,
    /// Its values and how many rows or persons have them, in the order of first appearance.
    pub(crate) counts: &'a [(u32, u64)],
    values: &'a [u32],
    persons: Option<&'a [u32]>,
}

impl<'a> Histograms<'a> {
    pub(crate) fn new(column: &LabelColumn<'a>, grouped: &Grouped<'_>) -> Self {
        let mut numbers = Numbers::default();
        let of_code = numbers.all(column.labels.iter().copied());
        let mut labels = vec![""; numbers.len()];
        for (label, &value) in column.labels.iter().zip(&of_code) {
            labels[value as usize] = label;
        }
        let value = |row_idx: usize| of_code[column.codes[row_idx] as usize];
        let group = |row_idx: usize| grouped.of_row[row_idx] as usize;
        let is_kept = |&row_idx: &usize| grouped.kept.is_none_or(|kept| kept[group(row_idx)]);
        let n_rows = grouped.of_row.len();

        let mut histograms = Histograms {
            overall: vec![0; labels.len()],
            labels,
            n_overall: 0,
            values: Vec::new(),
            persons: None,
            starts: Vec::new(),
        };
        let Some(persons) = grouped.persons else {
            histograms.fill(grouped.n_groups, || (0..n_rows).filter(is_kept), group, value);
            for &value in &histograms.values {
                histograms.overall[value as usize] += 1;
            }
            histograms.n_overall = histograms.values.len() as u64;
            return histograms;
        };
        let mut keys = Keys::from_numbers(grouped.of_row.iter().copied(), grouped.n_groups);
        keys.fold(&[(&column.codes, &of_code)], histograms.labels.len());
        persons.fold(&mut keys, 0..n_rows);
        let firsts = keys.into_groups().first_rows;
        let is_counted = |row_idx: &usize| persons.is_somebody(*row_idx) && is_kept(row_idx);
        let firsts = || firsts.iter().map(|&row_idx| row_idx as usize).filter(is_counted);
        histograms.fill(grouped.n_groups, firsts, group, value);
        let mut of_person = vec![0; histograms.values.len()];
        let mut next = histograms.starts.clone();
        for row_idx in firsts() {
            let next = &mut next[group(row_idx)];
            of_person[*next] = persons.of_row[row_idx];
            *next += 1;
        }
        histograms.persons = Some(of_person);

        let rows: Vec<usize> = firsts().collect();
        let mut pairs =
            Keys::from_numbers(rows.iter().map(|&row_idx| value(row_idx)), histograms.labels.len());
        persons.fold(&mut pairs, rows.iter().copied());
        for first in pairs.into_groups().first_rows {
            histograms.overall[value(rows[first as usize]) as usize] += 1;
            histograms.n_overall += 1;
        }
        histograms
    }

    /// From the sizes of the groups, for rows that come one after the other: `each` is given what takes the group and the code of a
    /// row, and calls it with every row. By rows, not by persons.
    pub(crate) fn of_sizes(
        labels: &[&'a str],
        sizes: &[u32],
        each: impl FnOnce(&mut dyn FnMut(usize, u32)),
    ) -> Self {
        let mut numbers = Numbers::default();
        let of_code = numbers.all(labels.iter().copied());
        let mut names = vec![""; numbers.len()];
        for (label, &value) in labels.iter().zip(&of_code) {
            names[value as usize] = label;
        }
        let mut starts = Vec::with_capacity(sizes.len() + 1);
        let mut n_rows = 0;
        starts.push(0);
        for &rows in sizes {
            n_rows += rows as usize;
            starts.push(n_rows);
        }
        let mut next = starts.clone();
        let mut values = vec![0; n_rows];
        let mut overall = vec![0; names.len()];
        each(&mut |group, code| {
            let value = of_code[code as usize];
            values[next[group]] = value;
            next[group] += 1;
            overall[value as usize] += 1;
        });
        Histograms { labels: names, overall, n_overall: n_rows as u64, values, persons: None, starts }
    }

    /// From groups that somebody else has listed, all of rows or all of persons. The label of a value stands at its number.
    pub(crate) fn of_groups(labels: &[&'a str], groups: &[GroupValues]) -> Self {
        let mut overall = vec![0; labels.len()];
        let (mut values, mut persons, mut starts) = (Vec::new(), Vec::new(), vec![0]);
        for group in groups {
            for _ in 0..group.n_groups {
                for value in &group.values {
                    match *value {
                        GroupValue::Rows { value, n } => {
                            values.extend(std::iter::repeat_n(value, n as usize));
                            overall[value as usize] += n;
                        }
                        GroupValue::Person { value, person } => {
                            values.push(value);
                            persons.push(person);
                        }
                    }
                }
                starts.push(values.len());
            }
        }
        let persons = (!persons.is_empty()).then_some(persons);
        if let Some(persons) = &persons {
            // In the whole release every pair counts once, also if it stands in several groups.
            let mut pairs: Vec<(u32, u32)> = values.iter().copied().zip(persons.iter().copied()).collect();
            pairs.sort_unstable();
            pairs.dedup();
            pairs.iter().for_each(|&(value, _)| overall[value as usize] += 1);
        }
        let n_overall = overall.iter().sum();
        Histograms { labels: labels.to_vec(), overall, n_overall, values, persons, starts }
    }

    /// Sorts rows by group, keeping their order.
    fn fill<I: Iterator<Item = usize>>(
        &mut self,
        n_groups: usize,
        rows: impl Fn() -> I,
        group: impl Fn(usize) -> usize,
        value: impl Fn(usize) -> u32,
    ) {
        self.starts = vec![0; n_groups + 1];
        for row_idx in rows() {
            self.starts[group(row_idx) + 1] += 1;
        }
        for at in 0..n_groups {
            self.starts[at + 1] += self.starts[at];
        }
        self.values = vec![0; self.starts[n_groups]];
        let mut next = self.starts.clone();
        for row_idx in rows() {
            let next = &mut next[group(row_idx)];
            self.values[*next] = value(row_idx);
            *next += 1;
        }
    }

    /// Calls `see` with each group that has rows; by persons, with each that has persons.
    pub(crate) fn each_group(&self, mut see: impl FnMut(&Group<'_>)) {
        let mut counts = vec![0_u64; self.overall.len()];
        let mut group = Vec::new();
        for (group_idx, bounds) in self.starts.windows(2).enumerate() {
            let values = &self.values[bounds[0]..bounds[1]];
            if values.is_empty() {
                continue;
            }
            group.clear();
            for &value in values {
                if counts[value as usize] == 0 {
                    group.push((value, 0));
                }
                counts[value as usize] += 1;
            }
            for (value, n) in &mut group {
                *n = std::mem::take(&mut counts[*value as usize]);
            }
            let persons = self.persons.as_ref().map(|persons| &persons[bounds[0]..bounds[1]]);
            let size = persons.map_or(values.len() as u64, |persons| distinct(persons.iter().copied()));
            see(&Group { group_idx, size, counts: &group, values, persons });
        }
    }

    /// Are persons counted?
    pub(crate) fn is_of_persons(&self) -> bool {
        self.persons.is_some()
    }
}

impl Group<'_> {
    /// How many rows or persons have one of some values. A person with two of them is one person.
    pub(crate) fn pooled(&self, is_meant: impl Fn(u32) -> bool) -> u64 {
        match self.persons {
            None => self.counts.iter().filter(|&&(value, _)| is_meant(value)).map(|&(_, n)| n).sum(),
            Some(persons) => {
                let meant = self.values.iter().zip(persons).filter(|&(&value, _)| is_meant(value));
                distinct(meant.map(|(_, &person)| person))
            }
        }
    }

    /// How often the values occur, without the values.
    pub(crate) fn frequencies(&self) -> impl Iterator<Item = u64> + Clone {
        self.counts.iter().map(|&(_, n)| n)
    }
}

fn distinct(numbers: impl Iterator<Item = u32>) -> u64 {
    let mut numbers: Vec<u32> = numbers.collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers.len() as u64
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Rows of (group, value, person), some groups left out.
        #[test]
        fn persons_count_once_for_each_value_of_a_group(
            rows in proptest::collection::vec((0..4_u32, 0..5_u32, 0..6_u32), 0..50),
            kept in proptest::collection::vec(any::<bool>(), 4),
            by_persons in any::<bool>(),
        ) {
            let labels = vec!["a", "b", "c", "d", "e", "b"];
            let same_value = |value: u32| if value == 5 { 1 } else { value };
            let codes = rows.iter().map(|&(_, value, person)| if person == 5 && value == 1 { 5 } else { value });
            let column = LabelColumn { labels, codes: Cow::Owned(codes.collect()) };
            let of_row: Vec<u32> = rows.iter().map(|row| row.0).collect();
            let names: Vec<String> = rows.iter().map(|row| format!("p{}", row.2)).collect();
            let persons = Persons::of_labels(&names);
            let grouped = Grouped {
                of_row: &of_row,
                n_groups: 4,
                kept: Some(&kept),
                persons: by_persons.then_some(&persons),
            };
            let histograms = Histograms::new(&column, &grouped);

            // A row is told apart from its copies by its number, a person is not.
            let who = |row_idx: usize, person: u32| if by_persons { person } else { 100 + row_idx as u32 };
            let facts: BTreeSet<(u32, u32, u32)> = rows
                .iter()
                .enumerate()
                .filter(|(_, row)| kept[row.0 as usize])
                .map(|(row_idx, &(group, value, person))| (group, same_value(value), who(row_idx, person)))
                .collect();
            let mut expected: BTreeMap<u32, BTreeMap<&str, u64>> = BTreeMap::new();
            for &(group, value, _) in &facts {
                *expected.entry(group).or_default().entry(column.labels[value as usize]).or_insert(0) += 1;
            }
            let mut seen = BTreeMap::new();
            let mut problems = Vec::new();
            histograms.each_group(|group| {
                let here = || facts.iter().filter(|fact| fact.0 as usize == group.group_idx);
                let size = here().map(|fact| fact.2).collect::<BTreeSet<_>>().len() as u64;
                // The first two values, pooled.
                let pooled = here().filter(|fact| fact.1 < 2).map(|fact| fact.2).collect::<BTreeSet<_>>().len();
                let is_meant = |value: u32| ["a", "b"].contains(&histograms.labels[value as usize]);
                if (group.size, group.pooled(is_meant)) != (size, pooled as u64) {
                    problems.push(group.group_idx);
                }
                let counts = group.counts.iter().map(|&(value, n)| (histograms.labels[value as usize], n));
                seen.insert(group.group_idx as u32, counts.collect::<BTreeMap<_, _>>());
            });
            prop_assert_eq!(problems, Vec::<usize>::new());
            prop_assert_eq!(seen, expected);
            for (value, label) in histograms.labels.iter().enumerate() {
                let pairs: BTreeSet<u32> = facts
                    .iter()
                    .filter(|fact| column.labels[fact.1 as usize] == *label)
                    .map(|fact| fact.2)
                    .collect();
                prop_assert_eq!(histograms.overall[value], pairs.len() as u64);
            }
            prop_assert_eq!(histograms.n_overall, histograms.overall.iter().sum::<u64>());
        }
    }
}
