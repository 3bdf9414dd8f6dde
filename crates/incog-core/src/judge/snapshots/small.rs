//! Counting for policies about numbers of rows: packed keys with small counters.
//!
//! Records that are not in memory, or are very many, are looked at in parts. Where memory is limited and a node has more groups
//! than that, they are judged a part of the groups at a time, each with a look at all records, and only those that are
//! left out are kept: that is as exact, and takes as many looks as there are parts.

use std::collections::HashMap;

use super::{Groups, MemoryBudget, Purpose, Sizes, largest_k};
use crate::error::{Error, ErrorKind, Result};
use crate::frequency::{Count, Counters, FrequencySet, Lot, PackedWord, Picked, Picking, RecordKeys, Tally};
use crate::judge::{Problem, tuning};
use crate::lattice::Grouping;
use crate::privacy::Judgement;

/// Groups of at least `k` rows are admitted.
pub(super) struct Small<'a, W, C> {
    problem: Problem<'a>,
    k: u64,
    counters: Counters<W, C>,
    /// What the counters are about.
    last: Grouping,
    /// Some of the records, once they were asked for.
    sample: Option<Vec<W>>,
    /// MemoryBudget for keys of some groups.
    picked: Picked<W, C>,
    /// What is known of the groups, where only those that are left out are in the counters, or none.
    judged: Option<Judged>,
    /// Is it enough to be told of groups, to know whether a node holds? Not if those of nodes that fail are to be kept: where one node
    /// is looked for and rows may be suppressed, few of them would be used.
    verdict_only: bool,
}

/// Groups that were judged a part at a time, or of which only rows below k were counted.
#[derive(Debug, Default)]
struct Judged {
    /// About how many there are.
    n_groups: usize,
    /// Were they all looked at?
    all: bool,
    /// The rows that are left out, of those that were.
    refused_rows: u64,
    /// How many groups of which size are released.
    released: HashMap<u64, u64>,
}

impl<'a, W: PackedWord, C: Count> Small<'a, W, C> {
    pub(super) fn new(problem: Problem<'a>, k: u64, room: MemoryBudget) -> Self {
        debug_assert!(k <= C::MOST);
        // Where counters stop short of all rows, nobody asks for sizes.
        let verdict_only =
            room == MemoryBudget::Scarce && problem.policy.budget() > 0 && problem.source.n_rows() > C::MOST;
        Small {
            problem,
            k,
            counters: match (problem.source.room(), room) {
                (Some(bytes), _) => Counters::within(bytes / 4),
                (None, MemoryBudget::Ample) => Counters::default(),
                (None, MemoryBudget::Scarce) => Counters::for_rows(problem.source.n_rows()),
            },
            last: Grouping::NOTHING,
            sample: None,
            picked: Picked::default(),
            judged: None,
            verdict_only,
        }
    }

    /// The records, where they are at hand and not too many.
    fn records(&self) -> Option<Lot<'a, W, C>> {
        Some(Lot::records(W::of_records(self.problem.source.keys()?.at_once()?)?))
    }

    /// Some of the records, evenly spread. `None` where they are not at hand.
    fn sample_of_records(&self) -> Option<Vec<W>> {
        let n_rows = self.problem.source.n_rows();
        let step =
            (n_rows / tuning::SAMPLE.get().max(n_rows / tuning::RECORDS_PER_SAMPLED.get())).max(1) as usize;
        if let Some(records) = self.records() {
            return Some(records.every(step));
        }
        let keys = self.problem.source.keys()?;
        let mut sample = Vec::new();
        // What cannot be read now cannot be read later, and will be told then.
        visit_records(keys, &mut |lot: Lot<'_, W, C>| sample.extend(lot.every(step))).ok()?;
        Some(sample)
    }

    /// Counts groups from others.
    fn merge(&mut self, lot: Lot<'_, W, C>, mask: W, purpose: Purpose) {
        let Problem { source, policy } = self.problem;
        let below_k = (self.verdict_only && purpose == Purpose::Verdict).then(|| {
            let numbering = |most| source.layout().numbering(&self.last, most);
            self.counters.count_below_k(lot, mask, numbering, self.k, policy.budget())
        });
        match below_k.flatten() {
            Some((n_groups, refused_rows)) => {
                self.judged = Some(Judged { n_groups, all: true, refused_rows, ..Judged::default() });
            }
            None => self.counters.merge(lot, mask),
        }
    }

    /// How many groups may be gathered at a time.
    fn most_groups(&self) -> usize {
        let bytes_a_group = tuning::TIMES_GATHERED.get() * Self::BYTES_A_GROUP;
        let most = self.problem.source.room().map_or(u64::MAX, |room| room / 2 / bytes_a_group);
        usize::try_from(most).unwrap_or(usize::MAX)
    }

    /// Counts all groups from parts of the records. Are there few enough? Otherwise about how many there are.
    fn count_in_parts(
        &mut self,
        records: &dyn RecordKeys,
        mask: W,
        purpose: Purpose,
    ) -> Result<Result<(), usize>> {
        let most = self.most_groups();
        let (source, counters) = (self.problem.source, &mut self.counters);
        if purpose == Purpose::Keeping && most < source.n_rows() as usize {
            // A small part of the groups tells how many there are, and takes less time than counting in vain.
            let picked = &mut self.picked;
            picked.clear();
            visit_records(records, &mut |lot: Lot<'_, W, C>| {
                picked.pick(lot, mask, 0, tuning::GROUPS_PER_COUNTED.get(), Picking::Sample);
            })?;
            counters.merge_picked(picked, mask);
            let n_groups = counters.keys().len() * tuning::GROUPS_PER_COUNTED.get() as usize;
            if n_groups > most {
                return Ok(Err(n_groups));
            }
        }
        let mut n_seen = 0;
        counters.begin();
        visit_records(records, &mut |lot: Lot<'_, W, C>| {
            // What is too much stays too much.
            if counters.n_so_far() <= most {
                counters.add(lot, mask);
                n_seen += lot.len() as u64;
            }
        })?;
        let n_groups = counters.n_so_far();
        counters.end(mask);
        if n_groups <= most {
            return Ok(Ok(()));
        }
        let all = n_groups as u64 * source.n_rows() / n_seen.max(1);
        Ok(Err(usize::try_from(all).unwrap_or(usize::MAX)))
    }

    /// Judges the groups, about `n_groups`, some of them at a time; those that are left out are in the counters in the end.
    fn judge_in_parts(
        &mut self,
        records: &dyn RecordKeys,
        mask: W,
        n_groups: usize,
        purpose: Purpose,
    ) -> Result<()> {
        if purpose == Purpose::Keeping {
            self.judged = Some(Judged { n_groups, ..Judged::default() });
            return Ok(());
        }
        let of = n_groups.div_ceil((self.most_groups() / 2).max(1)).next_power_of_two() as u64;
        let counters = &mut self.counters;
        let (mut keys, mut rows) = (Vec::new(), Vec::new());
        let mut judged = Judged { all: true, ..Judged::default() };
        let mut n_refused = 0;
        let picked = &mut self.picked;
        for part in 0..of {
            counters.begin();
            visit_records(records, &mut |lot: Lot<'_, W, C>| {
                picked.clear();
                picked.pick(lot, mask, part, of, Picking::All);
                counters.add(picked.lot(), mask);
            })?;
            counters.end(mask);
            for (&key, rows_of) in counters.keys().iter().zip(counters.rows()) {
                let rows_of = rows_of.rows();
                if rows_of < self.k {
                    n_refused += rows_of;
                    keys.push(key);
                    rows.push(rows_of);
                } else {
                    *judged.released.entry(rows_of).or_default() += 1;
                }
            }
            judged.n_groups += counters.keys().len();
            if purpose == Purpose::Verdict && n_refused > self.problem.policy.budget() && part + 1 < of {
                // Not by what these parts have, which depends on a seed.
                judged.n_groups = n_groups;
                judged.all = false;
                break;
            }
        }
        counters.load(&keys, rows.into_iter());
        judged.refused_rows = n_refused;
        self.judged = Some(judged);
        Ok(())
    }
}

/// Shows the keys of all records in parts.
fn visit_records<W: PackedWord, C: Count>(
    records: &dyn RecordKeys,
    visit: &mut dyn FnMut(Lot<'_, W, C>),
) -> Result<()> {
    records.visit(&mut |keys| {
        let keys = W::of_records(keys);
        let keys =
            keys.ok_or_else(|| Error::new(ErrorKind::Internal, "records have keys of another width"))?;
        visit(Lot::records(keys));
        Ok(())
    })
}

impl<W: PackedWord, C: Count> Groups for Small<'_, W, C> {
    const BYTES_A_GROUP: u64 = (size_of::<W>() + size_of::<C>()) as u64;

    type Set = Tally<W, C>;
    type Mask = W;

    fn mask(&self, grouping: &Grouping) -> W {
        W::mask(self.problem.source.layout(), grouping)
    }

    fn is_finer(kept: W, to: W) -> bool {
        kept & to == to
    }

    fn count(&mut self, from: Option<&Tally<W, C>>, to: &Grouping, purpose: Purpose) -> Result<()> {
        self.last = *to;
        self.judged = None;
        let mask = self.mask(to);
        match (from, self.records()) {
            (Some(tally), _) => self.merge(tally.lot(), mask, purpose),
            (None, Some(records)) => self.merge(records, mask, purpose),
            (None, None) => match self.problem.source.keys() {
                Some(records) => {
                    if let Err(n_groups) = self.count_in_parts(records, mask, purpose)? {
                        self.judge_in_parts(records, mask, n_groups, purpose)?;
                    }
                }
                None => {
                    let set = self.problem.count(to)?;
                    self.counters.load(set.packed_keys(), set.measures().rows().iter().copied());
                }
            },
        }
        Ok(())
    }

    fn estimate(&mut self, to: &Grouping) -> Option<usize> {
        if self.sample.is_none() {
            self.sample = Some(self.sample_of_records()?);
        }
        let sample = self.sample.as_ref()?;
        let mask = W::mask(self.problem.source.layout(), to);
        self.counters.merge(Lot::records(sample), mask);
        // Chao's estimate: the more groups were seen once rather than twice, the more were not seen at all.
        let groups_of = |size| self.counters.rows().iter().filter(|rows| rows.rows() == size).count();
        let (once, twice) = (groups_of(1), groups_of(2));
        Some(self.counters.keys().len() + once * once.saturating_sub(1) / (2 * (twice + 1)))
    }

    fn fails_early(&mut self, from: Option<&Tally<W, C>>, to: &Grouping) -> Result<Option<usize>> {
        let mask = self.mask(to);
        /// What keys come from.
        enum From<'a, W, C> {
            Lot(Lot<'a, W, C>),
            Parts(&'a dyn RecordKeys),
        }
        let keys = match (from, self.records(), self.problem.source.keys()) {
            (Some(tally), ..) => From::Lot(tally.lot()),
            (None, Some(records), _) => From::Lot(records),
            (None, None, Some(records)) => From::Parts(records),
            (None, None, None) => return Ok(None),
        };
        let n_keys = match &keys {
            From::Lot(lot) => lot.len() as u64,
            From::Parts(_) => self.problem.source.n_rows(),
        };
        if n_keys < tuning::SOME_FROM.get() as u64 || mask.n_ones() < tuning::SOME_FROM_BITS.get() {
            return Ok(None);
        }
        let budget = self.problem.policy.budget();
        // Not more keys than there is room for.
        let most_keys = self
            .problem
            .source
            .room()
            .map_or(u64::MAX, |room| room / tuning::TIMES_PICKED.get() / Self::BYTES_A_GROUP);
        let least_parts = n_keys.div_ceil(most_keys.max(1)).next_power_of_two();
        let first_parts = tuning::FIRST_PARTS.get().max(least_parts);
        let mut parts = first_parts;
        loop {
            match keys {
                From::Lot(lot) => self.counters.merge_some(lot, mask, parts),
                From::Parts(records) => {
                    let picked = &mut self.picked;
                    picked.clear();
                    visit_records(records, &mut |lot: Lot<'_, W, C>| {
                        picked.pick(lot, mask, 0, parts, Picking::Sample);
                    })?;
                    self.counters.merge_picked(picked, mask);
                }
            }
            let refused = self.counters.rows_below(self.k);
            if refused > budget {
                return Ok(Some(self.counters.keys().len() * parts as usize));
            }
            // A part as large as needed, and somewhat larger; if that is not much less than all, then all.
            let likely = refused.saturating_mul(parts) / budget.saturating_add(budget / 4).max(1);
            if parts < first_parts || likely < tuning::LEAST_PARTS.get() {
                return Ok(None);
            }
            parts = (1 << likely.ilog2()).max(least_parts);
            if parts >= first_parts {
                return Ok(None);
            }
        }
    }

    fn judge(&self) -> Result<Judgement> {
        let judged = self.judged.as_ref().map(|judged| judged.refused_rows);
        let refused_rows = judged.unwrap_or_else(|| self.counters.rows_below(self.k));
        Ok(Judgement { holds: refused_rows <= self.problem.policy.budget(), refused_rows })
    }

    fn largest_k(&self, most: u64) -> u64 {
        // No group has more rows than there are: where k is larger still, bytes may do.
        debug_assert!(most.min(self.problem.source.n_rows() + 1) <= C::MOST);
        let groups = self.counters.rows().iter().map(|rows| (rows.rows(), rows.rows()));
        largest_k(groups, self.problem.policy.budget(), most)
    }

    fn n_groups(&self) -> usize {
        self.judged.as_ref().map_or(self.counters.keys().len(), |judged| judged.n_groups)
    }

    fn verdict_only(&self) -> bool {
        self.verdict_only
    }

    fn are_all_there(&self) -> bool {
        self.judged.is_none()
    }

    fn are_all_counted(&self) -> bool {
        self.judged.as_ref().is_none_or(|judged| judged.all)
    }

    fn take(&mut self) -> Tally<W, C> {
        self.counters.tally()
    }

    fn refused(&self) -> Result<FrequencySet> {
        let groups = self.counters.keys().iter().zip(self.counters.rows());
        let refused = groups.map(|(&key, rows)| (key, rows.rows())).filter(|&(_, rows)| rows < self.k);
        Ok(FrequencySet::of_packed_keys(self.problem.source.layout(), &self.last, refused))
    }

    fn sizes(&self, least: u64) -> Result<Sizes> {
        debug_assert!(self.problem.source.n_rows() <= C::MOST);
        let mut sizes = Sizes::default();
        let in_parts = self.judged.iter().flat_map(|judged| &judged.released);
        let counted = self.counters.rows().iter().map(|rows| (rows.rows(), 1));
        for (rows, n_groups) in counted.chain(in_parts.map(|(&rows, &n_groups)| (rows, n_groups))) {
            sizes.add(rows, n_groups, least);
            if rows >= self.k {
                sizes.release(rows, n_groups);
            }
        }
        Ok(sizes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frequency::Rows;
    use crate::hierarchy::spec::{Mask, MaskFrom, Spec};
    use crate::hierarchy::{Attribute, Attributes};
    use crate::privacy::Policy;
    use crate::table::{Column, Role, Table};

    /// Rows below k at one node say nothing of another.
    #[test]
    fn estimates_do_not_depend_on_what_was_judged_before() {
        let mut column = Column::new("c", Role::QuasiIdentifier);
        for row in 0..3000 {
            column.push(&format!("{:03}", row * 7 % 400)).unwrap();
        }
        let table = Table::new(vec![column]).unwrap();
        let column = &table.columns()[0];
        let hierarchy = Spec::Mask(Mask::new(MaskFrom::Right)).build(column, None).unwrap();
        let attributes = Attributes::new(vec![Attribute::bind(column, hierarchy, "rule").unwrap()]).unwrap();
        let rows = Rows::new(&table, &attributes).unwrap();
        let policy = Policy::k_anonymity(5).unwrap().with_budget(10);
        let mut small =
            Small::<u64, u8>::new(Problem { source: &rows, policy: &policy }, 5, MemoryBudget::Scarce);
        let at = |level: u8| {
            let mut grouping = Grouping::NOTHING;
            grouping.set(0, level);
            grouping
        };
        let before = small.estimate(&at(0));
        assert_eq!(before, Some(400));
        small.count(None, &at(2), Purpose::Verdict).unwrap();
        assert_eq!((small.n_groups(), small.are_all_there()), (4, false), "only rows below k were counted");
        assert_eq!(small.estimate(&at(0)), before);
    }
}
