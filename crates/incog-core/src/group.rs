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

use std::sync::Arc;

use crate::error::{Error, ErrorKind, Result};
use crate::table::Column;
use crate::table::label::EMPTY_TEXT;

/// In place of the code of a person, or of that person's value: there is none. No column has as many values as this.
pub(crate) const NOBODY: u32 = u32::MAX - 1;

/// The code of each row's person, given the column that says so; [`NOBODY`] where it is missing. An empty text names nobody
/// either.
pub(crate) fn persons_of(unit: &Column) -> Vec<u32> {
    let nobody = ["", EMPTY_TEXT].map(|label| unit.dictionary().code(label));
    unit.codes().iter().map(|&code| if nobody.contains(&Some(code)) { NOBODY } else { code }).collect()
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

/// One group whose rows come and go, for searches that move rows between groups.
///
/// Filled by [`push`](Self::push) and [`settle`](Self::settle), then changed by [`add`](Self::add) and
/// [`remove`](Self::remove).
///
/// # Invariants
/// The measures are of exactly one group.
#[derive(Debug, Clone)]
pub(crate) struct ChangingGroup {
    measures: Measures,
    is_sorted: bool,
}

/// What a policy sees of a row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowFacts<'a> {
    /// Whom the row is about, where persons are demanded; `None` if about nobody.
    pub(crate) person: Option<u32>,
    /// A code for each demanded histogram, in order; [`NOBODY`] if it is about nobody.
    pub(crate) sensitive: &'a [u32],
}

impl<'a> RowFacts<'a> {
    /// The histograms with the code of each that counts.
    fn counted<'b>(
        self,
        histograms: &'b mut [(usize, Tally)],
    ) -> impl Iterator<Item = (&'b mut Tally, u32)> + use<'a, 'b> {
        let tallies = histograms.iter_mut().map(|(_, tally)| tally);
        tallies.zip(self.sensitive.iter().copied()).filter(|(_, code)| *code != NOBODY)
    }
}

impl ChangingGroup {
    /// A group without rows, with the measures that `demand` asks for.
    pub(crate) fn new(demand: &Demand) -> Self {
        let empty = || Tally { starts: vec![0, 0], entries: Vec::new() };
        let measures = Measures {
            rows: vec![0],
            persons: demand.persons.then(empty),
            histograms: demand.histograms.iter().map(|&column| (column, empty())).collect(),
            // Models that want them are closed under nothing, so nobody who moves rows can use them.
            pairs: Vec::new(),
        };
        ChangingGroup { measures, is_sorted: true }
    }

    fn tallies(&mut self) -> impl Iterator<Item = &mut Tally> {
        self.measures.persons.iter_mut().chain(self.measures.histograms.iter_mut().map(|(_, tally)| tally))
    }

    /// No rows any more.
    pub(crate) fn clear(&mut self) {
        self.measures.rows[0] = 0;
        self.is_sorted = true;
        for tally in self.tallies() {
            tally.entries.clear();
            tally.starts[1] = 0;
        }
    }

    /// More rows of one kind, at the end of the lists: cheap, but [`settle`](Self::settle) must follow.
    pub(crate) fn push(&mut self, facts: RowFacts<'_>, n: u64) {
        let Measures { rows, persons, histograms, .. } = &mut self.measures;
        rows[0] += n;
        for (tally, code) in facts.counted(histograms) {
            self.is_sorted &= tally.push(code, n);
        }
        if let (Some(tally), Some(person)) = (persons, facts.person) {
            self.is_sorted &= tally.push(person, n);
        }
    }

    /// All rows of another group.
    pub(crate) fn push_all(&mut self, other: &ChangingGroup) {
        self.measures.rows[0] += other.measures.rows[0];
        self.is_sorted = false;
        let theirs = &other.measures;
        let theirs = theirs.persons.iter().chain(theirs.histograms.iter().map(|(_, tally)| tally));
        for (tally, theirs) in self.tallies().zip(theirs) {
            tally.entries.extend_from_slice(&theirs.entries);
        }
    }

    /// Brings the lists in order after rows were pushed.
    pub(crate) fn settle(&mut self) {
        let is_sorted = self.is_sorted;
        for tally in self.tallies() {
            if !is_sorted {
                tally.entries.sort_unstable_by_key(|&(code, _)| code);
                tally.entries.dedup_by(|later, earlier| {
                    let is_same = later.0 == earlier.0;
                    if is_same {
                        earlier.1 += later.1;
                    }
                    is_same
                });
            }
            tally.starts[1] = tally.entries.len();
        }
        self.is_sorted = true;
    }

    /// One more row.
    pub(crate) fn add(&mut self, facts: RowFacts<'_>) {
        self.add_rows(facts, 1);
    }

    /// Adds `n` rows of one kind.
    pub(crate) fn add_rows(&mut self, facts: RowFacts<'_>, n: u64) {
        debug_assert!(self.is_sorted);
        let Measures { rows, persons, histograms, .. } = &mut self.measures;
        rows[0] += n;
        for (tally, code) in facts.counted(histograms) {
            tally.add(code, n);
        }
        if let (Some(tally), Some(person)) = (persons, facts.person) {
            tally.add(person, n);
        }
    }

    /// One row less; the group must have such a row.
    pub(crate) fn remove(&mut self, facts: RowFacts<'_>) {
        self.remove_rows(facts, 1);
    }

    /// Takes away `n` rows of one kind; the group must have them.
    pub(crate) fn remove_rows(&mut self, facts: RowFacts<'_>, n: u64) {
        debug_assert!(self.is_sorted);
        let Measures { rows, persons, histograms, .. } = &mut self.measures;
        rows[0] -= n;
        for (tally, code) in facts.counted(histograms) {
            tally.remove(code, n);
        }
        if let (Some(tally), Some(person)) = (persons, facts.person) {
            tally.remove(person, n);
        }
    }

    /// How many rows.
    pub(crate) fn rows(&self) -> u64 {
        self.measures.rows[0]
    }

    /// Has this person a row here? Never where persons are not counted.
    pub(crate) fn has_person(&self, person: Option<u32>) -> bool {
        let (Some(person), Some(tally)) = (person, &self.measures.persons) else { return false };
        tally.entries.binary_search_by_key(&person, |&(code, _)| code).is_ok()
    }

    /// Would a row of this person bring nobody new? Never where persons are not counted.
    pub(crate) fn gains_nobody(&self, person: Option<u32>) -> bool {
        self.measures.persons.is_some() && (person.is_none() || self.has_person(person))
    }

    /// What a model sees.
    pub(crate) fn group(&self) -> Group<'_> {
        debug_assert!(self.is_sorted);
        self.measures.group(0)
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
mod tests {
    use super::*;

    /// Rows 0..6 in groups 0, 0, 1, 1, 1, 2; person 7 has rows in groups 0 and 1.
    fn sample() -> Measures {
        let assignment = [0, 0, 1, 1, 1, 2];
        let persons = [7, 8, 7, 9, 9, 5];
        let illness = [1, 1, 1, 0, 2, 2];
        let pairs = Pairs::new(&illness, &persons);
        let histograms = [(0, illness.as_slice())];
        Measures::of_assignment(vec![2, 3, 1], &assignment, Some(&persons), histograms, [(0, &pairs)])
    }

    #[test]
    fn a_person_counts_once_for_each_value_in_a_group() {
        let sample = sample();
        assert_eq!(sample.group(0).persons_by_value(0).unwrap(), [(1, 2)]);
        assert_eq!(sample.group(1).persons_by_value(0).unwrap(), [(0, 1), (1, 1), (2, 1)]);
        // Person 7 has illness 1 in both groups, person 9 two illnesses in one.
        let merged = sample.merge(vec![5, 1], &[0, 0, 1]);
        assert_eq!(merged.group(0).persons_by_value(0).unwrap(), [(0, 1), (1, 2), (2, 1)]);
        let pairs: Vec<(u32, u32)> = merged.group(0).values_with_persons(0).unwrap().collect();
        assert_eq!(pairs, [(0, 9), (1, 7), (1, 8), (2, 9)]);
        assert!(Measures::of_rows(vec![1]).group(0).persons_by_value(0).is_err());
    }

    #[test]
    fn persons_unite_while_rows_and_histograms_add() {
        let merged = sample().merge(vec![5, 1], &[0, 0, 1]);
        let both = merged.group(0);
        assert_eq!(both.rows(), 5);
        assert_eq!(both.persons(), Some(3), "2 + 2 persons, one of them in both groups");
        assert_eq!(both.histogram(0).unwrap(), [(0, 1), (1, 3), (2, 1)]);
        assert_eq!(merged.group(1).histogram(0).unwrap(), [(2, 1)]);
    }

    #[test]
    fn a_group_is_as_large_as_its_persons_where_they_are_counted() {
        assert_eq!(sample().groups().map(|group| group.size()).collect::<Vec<_>>(), [2, 2, 1]);
        let rows_only = Measures::of_rows(vec![2, 3, 1]);
        assert_eq!(rows_only.group(1).size(), 3);
        assert!(rows_only.group(1).histogram(0).is_err());
    }

    #[test]
    fn a_changing_group_measures_what_its_rows_are_at_every_moment() {
        let demand = Demand { persons: true, histograms: vec![0], ..Demand::default() };
        let facts = |person, illness: &'static [u32]| RowFacts { person: Some(person), sensitive: illness };
        let mut group = ChangingGroup::new(&demand);
        group.push(facts(9, &[1]), 2);
        group.push(facts(7, &[0]), 1);
        let mut others = ChangingGroup::new(&demand);
        others.push(facts(9, &[0]), 1);
        others.settle();
        group.push_all(&others);
        group.settle();
        let seen = |group: &ChangingGroup| {
            let group = group.group();
            (group.rows(), group.persons().unwrap(), group.histogram(0).unwrap().to_vec())
        };
        assert_eq!(seen(&group), (4, 2, vec![(0, 2), (1, 2)]));
        group.remove(facts(7, &[0]));
        assert_eq!(seen(&group), (3, 1, vec![(0, 1), (1, 2)]));
        group.add(facts(8, &[2]));
        assert_eq!(seen(&group), (4, 2, vec![(0, 1), (1, 2), (2, 1)]));
        assert_eq!(
            [group.has_person(Some(8)), group.has_person(Some(7)), group.has_person(None)],
            [true, false, false]
        );
        group.clear();
        group.push(facts(3, &[5]), 1);
        group.settle();
        assert_eq!(seen(&group), (1, 1, vec![(5, 1)]));
    }

    #[test]
    fn a_row_about_nobody_is_a_row_and_neither_a_person_nor_a_value() {
        let persons = [7, NOBODY, NOBODY];
        let illness = [1, NOBODY, NOBODY];
        let pairs = Pairs::new(&[1, 1, 2], &persons);
        let histograms = [(0, illness.as_slice())];
        let measures =
            Measures::of_assignment(vec![2, 1], &[0, 0, 1], Some(&persons), histograms, [(0, &pairs)]);
        for measures in [measures.clone(), measures.merge(vec![2, 1], &[0, 1])] {
            let seen = |at: usize| {
                let group = measures.group(at);
                let by_value = group.persons_by_value(0).unwrap();
                (group.rows(), group.persons(), group.histogram(0).unwrap().to_vec(), by_value)
            };
            assert_eq!(seen(0), (2, Some(1), vec![(1, 1)], vec![(1, 1)]));
            assert_eq!(seen(1), (1, Some(0), vec![], vec![]));
        }
        let mut group =
            ChangingGroup::new(&Demand { persons: true, histograms: vec![0], ..Demand::default() });
        let nobody = RowFacts { person: somebody(NOBODY), sensitive: &[NOBODY] };
        group.push(nobody, 2);
        group.settle();
        group.add(nobody);
        group.remove_rows(nobody, 2);
        assert_eq!((group.rows(), group.group().persons()), (1, Some(0)));
        assert!(group.group().histogram(0).unwrap().is_empty());
        assert!(group.gains_nobody(None) && !group.gains_nobody(Some(7)));
        assert!(
            !ChangingGroup::new(&Demand::default()).gains_nobody(None),
            "where rows are counted, each counts"
        );
    }

    #[test]
    fn reordering_moves_every_measure_along() {
        let reordered = sample().reordered(&[2, 0, 1]);
        assert_eq!(reordered.rows(), [1, 2, 3]);
        assert_eq!(reordered.group(2).histogram(0).unwrap(), sample().group(1).histogram(0).unwrap());
        assert_eq!(reordered.group(0).persons(), Some(1));
    }
}
