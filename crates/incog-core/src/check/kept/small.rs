//! Counting for policies about numbers of rows: packed keys with small counters.

use super::{Groups, Room, Sizes, largest_k};
use crate::check::Problem;
use crate::error::Result;
use crate::frequency::{Count, Counters, FrequencySet, Lot, Method, PackedWord, Tally};
use crate::lattice::Grouping;
use crate::privacy::Judgement;

/// From this many keys on, some of the groups are looked at first.
const SOME_FROM: usize = 1 << 18;
/// With so few bits, looking at all is as cheap.
const SOME_FROM_BITS: u32 = 20;

/// At first one group in so many is looked at,
const FIRST_PARTS: u64 = 32;
/// and at most one in so many later.
const LEAST_PARTS: u64 = 4;
/// So many records tell about how many groups there are.
const SAMPLE: usize = 1 << 13;

/// Groups of at least `k` rows are admitted.
pub(super) struct Small<'a, W, C> {
    problem: Problem<'a>,
    k: u64,
    counters: Counters<W, C>,
    /// What the counters are about.
    last: Grouping,
    /// Some of the records, once they were asked for.
    sample: Option<Vec<W>>,
}

impl<'a, W: PackedWord, C: Count> Small<'a, W, C> {
    pub(super) fn new(problem: Problem<'a>, k: u64, room: Room) -> Self {
        debug_assert!(k <= C::MOST);
        Small {
            problem,
            k,
            counters: match room {
                Room::Ample => Counters::default(),
                Room::Scarce => Counters::for_rows(problem.source.n_rows()),
            },
            last: Grouping::NOTHING,
            sample: None,
        }
    }

    /// The records, where they are at hand.
    fn records(&self) -> Option<Lot<'a, W, C>> {
        Some(Lot::records(W::of_records(self.problem.source.packed()?)?))
    }
}

impl<W: PackedWord, C: Count> Groups for Small<'_, W, C> {
    type Set = Tally<W, C>;
    type Mask = W;

    fn mask(&self, grouping: &Grouping) -> W {
        W::mask(self.problem.source.layout(), grouping)
    }

    fn is_finer(kept: W, to: W) -> bool {
        kept & to == to
    }

    fn count(&mut self, from: Option<&Tally<W, C>>, to: &Grouping) -> Result<()> {
        self.last = *to;
        let mask = self.mask(to);
        let source = self.problem.source;
        match (from, self.records()) {
            (Some(tally), _) => self.counters.merge(tally.lot(), mask),
            (None, Some(records)) => self.counters.merge(records, mask),
            (None, None) => {
                let set = source.count(to, &self.problem.policy.demand(), Method::Auto)?;
                self.counters.load(set.packed_keys(), set.measures().rows().iter().copied());
            }
        }
        Ok(())
    }

    fn estimate(&mut self, to: &Grouping) -> Option<usize> {
        let records = self.records()?;
        let sample = self.sample.get_or_insert_with(|| records.every(records.len() / SAMPLE));
        let mask = W::mask(self.problem.source.layout(), to);
        self.counters.merge(Lot::records(sample), mask);
        // Chao's estimate: the more groups were seen once rather than twice, the more were not seen at all.
        let groups_of = |size| self.counters.rows().iter().filter(|rows| rows.rows() == size).count();
        let (once, twice) = (groups_of(1), groups_of(2));
        Some(self.n_groups() + once * once.saturating_sub(1) / (2 * (twice + 1)))
    }

    fn fails_early(&mut self, from: Option<&Tally<W, C>>, to: &Grouping) -> Result<Option<usize>> {
        let mask = self.mask(to);
        let lot = match (from, self.records()) {
            (Some(tally), _) => tally.lot(),
            (None, Some(records)) => records,
            (None, None) => return Ok(None),
        };
        if lot.len() < SOME_FROM || mask.n_ones() < SOME_FROM_BITS {
            return Ok(None);
        }
        let budget = self.problem.policy.budget();
        let mut parts = FIRST_PARTS;
        loop {
            self.counters.merge_some(lot, mask, parts);
            let refused = self.counters.rows_below(self.k);
            if refused > budget {
                return Ok(Some(self.counters.keys().len() * parts as usize));
            }
            // A part as large as needed, and somewhat larger; if that is not much less than all, then all.
            let likely = refused.saturating_mul(parts) / budget.saturating_add(budget / 4).max(1);
            if parts < FIRST_PARTS || likely < LEAST_PARTS {
                return Ok(None);
            }
            parts = 1 << likely.ilog2();
        }
    }

    fn judge(&self) -> Result<Judgement> {
        let refused_rows = self.counters.rows_below(self.k);
        Ok(Judgement { holds: refused_rows <= self.problem.policy.budget(), refused_rows })
    }

    fn largest_k(&self, most: u64) -> u64 {
        // No group has more rows than there are: where k is larger still, bytes may do.
        debug_assert!(most.min(self.problem.source.n_rows() + 1) <= C::MOST);
        let groups = self.counters.rows().iter().map(|rows| (rows.rows(), rows.rows()));
        largest_k(groups, self.problem.policy.budget(), most)
    }

    fn n_groups(&self) -> usize {
        self.counters.keys().len()
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
        for rows in self.counters.rows().iter().map(|rows| rows.rows()) {
            sizes.add(rows, least);
            if rows >= self.k {
                sizes.release(rows);
            }
        }
        Ok(sizes)
    }
}
