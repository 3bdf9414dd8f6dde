//! One group whose rows come and go.
//!
//! Searches that move rows between groups ask the policy after each move, so a move costs what it changes and no more: a look-up in
//! each sorted list of the group.

use super::{Demand, Group, Measures, NOBODY, Tally};

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
