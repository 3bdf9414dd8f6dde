//! Who looks alike?
//!
//! A *group* is all records with equal released labels. What is known of a group is a small closed set of
//! measures, since every privacy model needs some of these four:
//!
//! | measure | merging two groups | kept as |
//! |---|---|---|
//! | rows | adds | one count a group |
//! | persons | unites: a person may have rows in both | the (group, person) pairs |
//! | histogram of a sensitive column | adds, value by value | (group, value, count) triples |
//! | persons by value of a sensitive column | unites, value by value | the (group, value, person) triples |
//!
//! A row may be about nobody, where it does not say about whom (`persons_of`): it is a row of its group like any other, but
//! neither a person nor a person's value.
//!
//! [`Measures`] holds them for all groups of a frequency set side by side, so that roll-up, projection and scan
//! share one merge. What a policy does not [`Demand`] is neither counted nor carried.
//!
//! The *labels* of a group are no measure: they are its name, which a frequency set knows anyway (`Names`). A model that asks
//! for them ([`Group::label`]) works where groups are those of a node. Where recoding is local, groups are judged before
//! they have labels, and such a model is refused.

mod changing;

use std::sync::Arc;

use crate::error::{Error, ErrorKind, Result};
use crate::table::Column;
use crate::table::label::is_blank;

pub(crate) use changing::{ChangingGroup, RowFacts};

/// In place of the code of a person, or of that person's value: there is none. No column has as many values as this.
pub(crate) const NOBODY: u32 = u32::MAX - 1;

/// The code of each row's person, given the column that says so; [`NOBODY`] where it is missing. An empty text and white space name
/// nobody either.
pub(crate) fn persons_of(unit: &Column) -> Vec<u32> {
    let values = unit.dictionary().values().enumerate();
    let persons: Vec<u32> =
        values.map(|(code, label)| if is_blank(label) { NOBODY } else { code as u32 }).collect();
    unit.codes().iter().map(|&code| persons[code as usize]).collect()
}

/// Whom a row is about, given the code.
pub(crate) fn somebody(person: u32) -> Option<u32> {
    Some(person).filter(|&person| person != NOBODY)
}

/// Which measures a policy wants to see.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Demand {
    /// Count distinct persons, not only rows.
    pub persons: bool,
    /// Positions of the sensitive columns whose values are to be counted.
    pub histograms: Vec<usize>,
    /// Positions of the sensitive columns whose values are to be counted by distinct persons.
    pub persons_by_value: Vec<usize>,
    /// Which labels the group has ([`Group::label`]). Nothing is counted for that; but it rules out local recodings and
    /// bitmaps, which judge groups without names.
    pub labels: bool,
}

impl Demand {
    /// Is the number of rows all that a model looks at?
    pub fn is_rows_only(&self) -> bool {
        self.counts_rows_only() && !self.labels
    }

    /// Is the number of rows all that must be counted? Labels are known without counting.
    pub fn counts_rows_only(&self) -> bool {
        !self.persons && self.histograms.is_empty() && self.persons_by_value.is_empty()
    }

    /// Everything that either asks for.
    #[must_use]
    pub fn union(mut self, other: &Demand) -> Demand {
        self.persons |= other.persons;
        self.labels |= other.labels;
        let unite = |mine: &mut Vec<usize>, others: &[usize]| {
            mine.extend(others);
            mine.sort_unstable();
            mine.dedup();
        };
        unite(&mut self.histograms, &other.histograms);
        unite(&mut self.persons_by_value, &other.persons_by_value);
        self
    }
}

/// Every (value, person) pair of a sensitive column once, sorted, and each row's pair.
#[derive(Debug)]
pub(crate) struct Pairs {
    /// The value and the person of each pair.
    pub(crate) distinct: Arc<[(u32, u32)]>,
    /// The pair of each row; [`NOBODY`] for those without a person.
    pub(crate) of_row: Vec<u32>,
}

impl Pairs {
    /// The pairs of a column of values and a column of persons.
    pub(crate) fn new(values: &[u32], persons: &[u32]) -> Self {
        let all = || values.iter().copied().zip(persons.iter().copied());
        let mut distinct: Vec<(u32, u32)> = all().filter(|&(_, person)| person != NOBODY).collect();
        distinct.sort_unstable();
        distinct.dedup();
        let of_pair = |pair: (u32, u32)| match pair.1 {
            NOBODY => NOBODY,
            _ => distinct.partition_point(|other| *other < pair) as u32,
        };
        let of_row = all().map(of_pair).collect();
        Pairs { distinct: distinct.into(), of_row }
    }
}

/// The measures of many groups.
///
/// # Invariants
/// Every measure covers the same groups. Counts are `u64`: rows may come from a cluster.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Measures {
    /// Rows of each group, never 0.
    pub(crate) rows: Vec<u64>,
    persons: Option<Tally>,
    /// The sensitive column's position and its histograms.
    histograms: Vec<(usize, Tally)>,
    pairs: Vec<PairTally>,
}

/// How often groups have each (value, person) pair of a sensitive column.
#[derive(Debug, Clone, PartialEq, Eq)]
struct PairTally {
    column: usize,
    /// The value and the person of each pair.
    distinct: Arc<[(u32, u32)]>,
    tally: Tally,
}

/// For each group a list of codes with counts, sorted by code; groups are slices of one array.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Tally {
    /// Where each group's entries start; one more at the end.
    starts: Vec<usize>,
    entries: Vec<(u32, u64)>,
}

impl Measures {
    /// The measures of a single group: its rows, and for each sensitive column its values with their counts, sorted.
    pub(crate) fn of_one(rows: u64, histograms: Vec<(usize, Vec<(u32, u64)>)>) -> Self {
        let tally = |entries: Vec<(u32, u64)>| Tally { starts: vec![0, entries.len()], entries };
        let histograms = histograms.into_iter().map(|(column, entries)| (column, tally(entries))).collect();
        Measures { histograms, ..Measures::of_rows(vec![rows]) }
    }

    /// Measures that only count rows.
    pub(crate) fn of_rows(rows: Vec<u64>) -> Self {
        Measures { rows, persons: None, histograms: Vec::new(), pairs: Vec::new() }
    }

    /// Counts what `demand` asks for, given the group of each row and the codes of each row's person and of its
    /// sensitive values.
    pub(crate) fn of_assignment<'a>(
        rows: Vec<u64>,
        assignment: &[u32],
        persons: Option<&[u32]>,
        sensitive: impl IntoIterator<Item = (usize, &'a [u32])>,
        pairs: impl IntoIterator<Item = (usize, &'a Pairs)>,
    ) -> Self {
        let n_groups = rows.len();
        let tally = |codes: &[u32]| {
            Tally::collect(n_groups, || {
                let known = assignment.iter().zip(codes).filter(|&(_, &code)| code != NOBODY);
                known.map(|(&group, &code)| (group, code, 1))
            })
        };
        let persons = persons.map(tally);
        let histograms = sensitive.into_iter().map(|(column, codes)| (column, tally(codes))).collect();
        let pairs = pairs
            .into_iter()
            .map(|(column, pairs)| PairTally {
                column,
                distinct: Arc::clone(&pairs.distinct),
                tally: tally(&pairs.of_row),
            })
            .collect();
        Measures { rows, persons, histograms, pairs }
    }

    /// Are these the measures that `demand` asks for, and no others?
    pub(crate) fn are_what(&self, demand: &Demand) -> bool {
        self.persons.is_some() == demand.persons
            && self.histograms.iter().map(|(column, _)| column).eq(&demand.histograms)
            && self.pairs.iter().map(|pairs| &pairs.column).eq(&demand.persons_by_value)
    }

    /// Of these measures those that `demand` asks for; `None` if one is not there.
    pub(crate) fn only(&self, demand: &Demand) -> Option<Measures> {
        let histogram = |wanted: &usize| self.histograms.iter().find(|(column, _)| column == wanted).cloned();
        let pairs = |wanted: &usize| self.pairs.iter().find(|pairs| pairs.column == *wanted).cloned();
        Some(Measures {
            rows: self.rows.clone(),
            persons: if demand.persons { Some(self.persons.clone()?) } else { None },
            histograms: demand.histograms.iter().map(histogram).collect::<Option<_>>()?,
            pairs: demand.persons_by_value.iter().map(pairs).collect::<Option<_>>()?,
        })
    }

    /// How many groups there are.
    pub fn n_groups(&self) -> usize {
        self.rows.len()
    }

    /// The rows of each group.
    pub fn rows(&self) -> &[u64] {
        &self.rows
    }

    /// How much memory the measures take, in bytes.
    pub(crate) fn n_bytes(&self) -> usize {
        let histograms = self.histograms.iter().map(|(_, tally)| tally);
        let tallies =
            self.persons.iter().chain(histograms).chain(self.pairs.iter().map(|pairs| &pairs.tally));
        let of_tally =
            |tally: &Tally| size_of_val(tally.starts.as_slice()) + size_of_val(tally.entries.as_slice());
        size_of_val(self.rows.as_slice()) + tallies.map(of_tally).sum::<usize>()
    }

    /// Does every group carry a row count only?
    pub(crate) fn is_rows_only(&self) -> bool {
        self.persons.is_none() && self.histograms.is_empty() && self.pairs.is_empty()
    }

    /// One group, without its labels.
    pub fn group(&self, group_idx: usize) -> Group<'_> {
        Group { measures: self, group_idx, names: None }
    }

    /// One group with its labels.
    pub(crate) fn named_group<'a>(&'a self, group_idx: usize, names: &'a dyn Names) -> Group<'a> {
        Group { measures: self, group_idx, names: Some(names) }
    }

    /// All groups, without their labels.
    pub fn groups(&self) -> impl ExactSizeIterator<Item = Group<'_>> {
        (0..self.n_groups()).map(|group_idx| self.group(group_idx))
    }

    /// The measures after merging each group into group `assignment[group]`; `rows` has the sums already.
    pub(crate) fn merge(&self, rows: Vec<u64>, assignment: &[u32]) -> Self {
        debug_assert_eq!(assignment.len(), self.n_groups());
        let n_groups = rows.len();
        let merged = |tally: &Tally| {
            Tally::collect(n_groups, || {
                assignment
                    .iter()
                    .enumerate()
                    .flat_map(|(from, &to)| tally.group(from).iter().map(move |&(code, n)| (to, code, n)))
            })
        };
        Measures {
            persons: self.persons.as_ref().map(merged),
            histograms: self.histograms.iter().map(|(column, tally)| (*column, merged(tally))).collect(),
            pairs: self.each_pairs(merged),
            rows,
        }
    }

    /// The measures of new groups, made of some of the groups: `from[i]` goes to `to[i]`; `rows` has the sums already.
    pub(crate) fn merge_some(&self, rows: Vec<u64>, from: &[u32], to: &[u32]) -> Self {
        debug_assert_eq!(from.len(), to.len());
        let n_groups = rows.len();
        let merged = |tally: &Tally| {
            Tally::collect(n_groups, || {
                let pairs = from.iter().zip(to);
                pairs.flat_map(|(&from, &to)| {
                    tally.group(from as usize).iter().map(move |&(code, n)| (to, code, n))
                })
            })
        };
        Measures {
            persons: self.persons.as_ref().map(merged),
            histograms: self.histograms.iter().map(|(column, tally)| (*column, merged(tally))).collect(),
            pairs: self.each_pairs(merged),
            rows,
        }
    }

    /// The same groups in the order that `order` lists them.
    pub(crate) fn reordered(&self, order: &[u32]) -> Self {
        let reorder = |tally: &Tally| {
            let mut starts = vec![0];
            let mut entries = Vec::with_capacity(tally.entries.len());
            for &group in order {
                entries.extend_from_slice(tally.group(group as usize));
                starts.push(entries.len());
            }
            Tally { starts, entries }
        };
        Measures {
            rows: order.iter().map(|&group| self.rows[group as usize]).collect(),
            persons: self.persons.as_ref().map(reorder),
            histograms: self.histograms.iter().map(|(column, tally)| (*column, reorder(tally))).collect(),
            pairs: self.each_pairs(reorder),
        }
    }

    /// The pairs with other tallies.
    fn each_pairs(&self, change: impl Fn(&Tally) -> Tally) -> Vec<PairTally> {
        let changed = |pairs: &PairTally| PairTally {
            column: pairs.column,
            distinct: Arc::clone(&pairs.distinct),
            tally: change(&pairs.tally),
        };
        self.pairs.iter().map(changed).collect()
    }
}

/// What somebody else has counted beyond rows: entries, some of which will be of one group.
///
/// # Invariants
/// Lists are as long as those of the demand, and codes are below [`NOBODY`].
pub(crate) struct Facts<'a> {
    demand: &'a Demand,
    /// An entry, and a person it has.
    persons: Vec<(u32, u32)>,
    /// For each histogram demanded: an entry, a value it has, and how often.
    histograms: Vec<Vec<(u32, u32, u64)>>,
    /// For each column whose values are demanded by persons: an entry, and a value with a person.
    pairs: Vec<Vec<(u32, (u32, u32))>>,
}

impl<'a> Facts<'a> {
    pub(crate) fn new(demand: &'a Demand) -> Self {
        Facts {
            demand,
            persons: Vec::new(),
            histograms: vec![Vec::new(); demand.histograms.len()],
            pairs: vec![Vec::new(); demand.persons_by_value.len()],
        }
    }

    pub(crate) fn is_rows_only(&self) -> bool {
        self.demand.is_rows_only()
    }

    /// Adds what is known of an entry.
    pub(crate) fn add(
        &mut self,
        entry: u32,
        persons: &[u32],
        histograms: &[Vec<(u32, u64)>],
        persons_by_value: &[Vec<(u32, u32)>],
    ) {
        self.persons.extend(persons.iter().map(|&person| (entry, person)));
        for (all, histogram) in self.histograms.iter_mut().zip(histograms) {
            // A value that no record has is none.
            let counted = histogram.iter().filter(|(_, n)| *n > 0);
            all.extend(counted.map(|&(value, n)| (entry, value, n)));
        }
        for (all, pairs) in self.pairs.iter_mut().zip(persons_by_value) {
            all.extend(pairs.iter().map(|&pair| (entry, pair)));
        }
    }

    /// The measures of the groups that entries belong to; `rows` has their sums already.
    pub(crate) fn into_measures(self, rows: Vec<u64>, assignment: &[u32]) -> Result<Measures> {
        let n_groups = rows.len();
        let group = |entry: u32| assignment[entry as usize];
        let tally_of = |entries: &[(u32, u32)]| {
            Tally::collect(n_groups, || entries.iter().map(|&(entry, code)| (group(entry), code, 1)))
        };
        let histograms = self.demand.histograms.iter().zip(&self.histograms).map(|(&column, entries)| {
            let triples = || entries.iter().map(|&(entry, value, n)| (group(entry), value, n));
            (column, Tally::collect(n_groups, triples))
        });
        let pairs = self.demand.persons_by_value.iter().zip(&self.pairs).map(|(&column, entries)| {
            let mut distinct: Vec<(u32, u32)> = entries.iter().map(|&(_, pair)| pair).collect();
            distinct.sort_unstable();
            distinct.dedup();
            if distinct.len() >= NOBODY as usize {
                let message = "there are more pairs of a person and a value than can be counted";
                return Err(Error::new(ErrorKind::Limit, message));
            }
            let number = |pair: (u32, u32)| distinct.partition_point(|other| *other < pair) as u32;
            let numbered: Vec<(u32, u32)> =
                entries.iter().map(|&(entry, pair)| (entry, number(pair))).collect();
            Ok(PairTally { column, tally: tally_of(&numbered), distinct: distinct.into() })
        });
        Ok(Measures {
            persons: self.demand.persons.then(|| tally_of(&self.persons)),
            histograms: histograms.collect(),
            pairs: pairs.collect::<Result<_>>()?,
            rows,
        })
    }
}

impl Tally {
    /// Sorts (group, code, count) triples into groups and adds up equal codes.
    fn collect<I: Iterator<Item = (u32, u32, u64)>>(n_groups: usize, triples: impl Fn() -> I) -> Self {
        let mut starts = vec![0_usize; n_groups + 1];
        for (group, _, _) in triples() {
            starts[group as usize + 1] += 1;
        }
        for group in 0..n_groups {
            starts[group + 1] += starts[group];
        }
        let mut entries = vec![(0, 0); starts[n_groups]];
        let mut next = starts.clone();
        for (group, code, n) in triples() {
            entries[next[group as usize]] = (code, n);
            next[group as usize] += 1;
        }
        let mut tally = Tally { starts: vec![0], entries: Vec::with_capacity(entries.len()) };
        for group in 0..n_groups {
            let list = &mut entries[starts[group]..starts[group + 1]];
            list.sort_unstable_by_key(|&(code, _)| code);
            for same in list.chunk_by(|a, b| a.0 == b.0) {
                tally.entries.push((same[0].0, same.iter().map(|&(_, n)| n).sum()));
            }
            tally.starts.push(tally.entries.len());
        }
        tally
    }

    /// Puts a count at the end of the only group's list. Is the list still in order?
    fn push(&mut self, code: u32, n: u64) -> bool {
        match self.entries.last_mut() {
            Some((last, count)) if *last == code => {
                *count += n;
                true
            }
            last => {
                let is_sorted = last.is_none_or(|last| last.0 < code);
                self.entries.push((code, n));
                is_sorted
            }
        }
    }

    /// Counts a code of the only group `n` times, whose list is in order.
    fn add(&mut self, code: u32, n: u64) {
        match self.entries.binary_search_by_key(&code, |&(code, _)| code) {
            Ok(at) => self.entries[at].1 += n,
            Err(at) => self.entries.insert(at, (code, n)),
        }
        self.starts[1] = self.entries.len();
    }

    /// Takes back a code of the only group `n` times, whose list is in order.
    fn remove(&mut self, code: u32, n: u64) {
        let at = self.entries.binary_search_by_key(&code, |&(code, _)| code);
        let at = at.expect("only rows of the group are removed");
        self.entries[at].1 -= n;
        if self.entries[at].1 == 0 {
            self.entries.remove(at);
            self.starts[1] = self.entries.len();
        }
    }

    fn group(&self, group_idx: usize) -> &[(u32, u64)] {
        &self.entries[self.starts[group_idx]..self.starts[group_idx + 1]]
    }
}

/// Which labels groups have.
pub(crate) trait Names: std::fmt::Debug {
    /// The level of an attribute and the code of the group's label there; `None` if groups do not differ by the attribute.
    fn name(&self, group_idx: usize, attribute: usize) -> Option<(u8, u32)>;
}

/// What a privacy model sees of one group.
#[derive(Debug, Clone, Copy)]
pub struct Group<'a> {
    measures: &'a Measures,
    group_idx: usize,
    /// `None` where groups are judged before they have labels.
    names: Option<&'a dyn Names>,
}

impl<'a> Group<'a> {
    /// How many rows.
    pub fn rows(&self) -> u64 {
        self.measures.rows[self.group_idx]
    }

    /// How many distinct persons, if they were demanded.
    pub fn persons(&self) -> Option<u64> {
        self.measures.persons.as_ref().map(|persons| persons.group(self.group_idx).len() as u64)
    }

    /// How many people hide in this group: persons where they are counted, else rows.
    pub fn size(&self) -> u64 {
        self.persons().unwrap_or_else(|| self.rows())
    }

    /// The label that all rows of the group have in an attribute: its level, and its code among the
    /// [labels](crate::hierarchy::Hierarchy::labels) of that level. `None` if the attribute is left out, as a search by subsets
    /// does: then any label is possible.
    ///
    /// Fails where recoding is local or by boxes, and under the judge `bitmap`: groups have no labels yet when they are
    /// judged. A model that uses it sets [`Demand::labels`].
    pub fn label(&self, attribute: usize) -> Result<Option<(u8, u32)>> {
        let names = self.names.ok_or_else(unnamed)?;
        Ok(names.name(self.group_idx, attribute))
    }

    /// The values of a sensitive column with their row counts, sorted by code.
    pub fn histogram(&self, column: usize) -> Result<&'a [(u32, u64)]> {
        self.measures
            .histograms
            .iter()
            .find(|(at, _)| *at == column)
            .map(|(_, tally)| tally.group(self.group_idx))
            .ok_or_else(not_demanded)
    }

    /// Every value of a sensitive column with every person who has it in the group, sorted by value, then person.
    pub fn values_with_persons(&self, column: usize) -> Result<impl Iterator<Item = (u32, u32)> + use<'a>> {
        let pairs =
            self.measures.pairs.iter().find(|pairs| pairs.column == column).ok_or_else(not_demanded)?;
        let entries = pairs.tally.group(self.group_idx).iter();
        Ok(entries.map(|&(pair, _)| pairs.distinct[pair as usize]))
    }

    /// The values of a sensitive column, each with how many distinct persons have it in the group, sorted by code.
    pub fn persons_by_value(&self, column: usize) -> Result<Vec<(u32, u64)>> {
        let mut counts: Vec<(u32, u64)> = Vec::new();
        for (value, _) in self.values_with_persons(column)? {
            match counts.last_mut() {
                Some((last, n)) if *last == value => *n += 1,
                _ => counts.push((value, 1)),
            }
        }
        Ok(counts)
    }
}

/// What to say where a model asks for the labels of groups that have none.
pub(crate) fn unnamed() -> Error {
    let what = "the policy asks for the labels of groups, and these are judged before they have labels";
    Error::new(ErrorKind::Policy, what)
        .with_hint("choose a full-domain algorithm such as incognito, and another `checker` than bitmap")
}

fn not_demanded() -> Error {
    Error::new(ErrorKind::Internal, "a histogram was used that no model demanded")
}

#[cfg(test)]
mod tests;
