//! Counting for policies about numbers of rows: packed keys with small counters.

use super::Groups;
use crate::check::Problem;
use crate::error::Result;
use crate::frequency::{Count, Counters, FrequencySet, Lot, Method, PackedWord, Tally};
use crate::lattice::Grouping;
use crate::privacy::Judgement;

/// From this many keys on, some of the groups are looked at first.
const SOME_FROM: usize = 1 << 18;
/// With so few bits, looking at all is as cheap.
const SOME_FROM_BITS: u32 = 20;

/// Groups of at least `k` rows are admitted.
pub(super) struct Small<'a, W, C> {
    problem: Problem<'a>,
    k: u64,
    counters: Counters<W, C>,
    /// What the counters are about.
    last: Grouping,
}

impl<'a, W: PackedWord, C: Count> Small<'a, W, C> {
    pub(super) fn new(problem: Problem<'a>, k: u64) -> Self {
        debug_assert!(k <= C::MOST);
        Small { problem, k, counters: Counters::default(), last: Grouping::NOTHING }
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
        for parts in [16, 4] {
            self.counters.merge_some(lot, mask, parts);
            let refused = self.counters.rows_below(self.k);
            if refused > budget {
                return Ok(Some(self.counters.keys().len() * parts as usize));
            }
            // A larger part will not be enough either.
            if refused.saturating_mul(parts) < budget.saturating_mul(4) {
                return Ok(None);
            }
        }
        Ok(None)
    }

    fn judge(&self) -> Result<Judgement> {
        let refused_rows = self.counters.rows_below(self.k);
        Ok(Judgement { holds: refused_rows <= self.problem.policy.budget(), refused_rows })
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
}
