//! Counting for policies about numbers of rows: packed keys with small counters.

use super::Groups;
use crate::check::Problem;
use crate::error::Result;
use crate::frequency::{Count, Counters, FrequencySet, KeyLayout, Lot, Method, Tally};
use crate::lattice::Grouping;
use crate::privacy::Judgement;

/// From this many keys on, some of the groups are looked at first.
const SOME_FROM: usize = 1 << 18;
/// With so few bits, looking at all is as cheap.
const SOME_FROM_BITS: u32 = 20;

/// Groups of at least `k` rows are admitted.
pub(super) struct Small<'a, C> {
    problem: Problem<'a>,
    k: u64,
    counters: Counters<C>,
    /// What the counters are about.
    last: Grouping,
}

impl<'a, C: Count> Small<'a, C> {
    pub(super) fn new(problem: Problem<'a>, k: u64) -> Self {
        debug_assert!(k <= C::MOST);
        Small { problem, k, counters: Counters::default(), last: Grouping::NOTHING }
    }

    fn layout(&self) -> &KeyLayout {
        self.problem.source.layout()
    }
}

impl<C: Count> Groups for Small<'_, C> {
    type Set = Tally<C>;
    const BY_BITS: bool = true;

    fn count(&mut self, from: Option<&Tally<C>>, to: &Grouping) -> Result<()> {
        self.last = *to;
        let mask = self.layout().mask(to);
        let source = self.problem.source;
        match (from, source.packed()) {
            (Some(tally), _) => self.counters.merge(tally.lot(), mask),
            (None, Some(keys)) => self.counters.merge(Lot::records(keys), mask),
            (None, None) => {
                let set = source.count(to, &self.problem.policy.demand(), Method::Auto)?;
                self.counters.load(set.narrow_keys(), set.measures().rows().iter().copied());
            }
        }
        Ok(())
    }

    fn fails_early(&mut self, from: Option<&Tally<C>>, to: &Grouping) -> Result<bool> {
        let mask = self.layout().mask(to);
        let lot = match (from, self.problem.source.packed()) {
            (Some(tally), _) => tally.lot(),
            (None, Some(keys)) => Lot::records(keys),
            (None, None) => return Ok(false),
        };
        if lot.len() < SOME_FROM || mask.count_ones() < SOME_FROM_BITS {
            return Ok(false);
        }
        let budget = self.problem.policy.budget();
        for parts in [16, 4] {
            self.counters.merge_some(lot, mask, parts);
            let refused = self.counters.rows_below(self.k);
            if refused > budget {
                return Ok(true);
            }
            // A larger part will not be enough either.
            if refused.saturating_mul(parts) < budget.saturating_mul(4) {
                return Ok(false);
            }
        }
        Ok(false)
    }

    fn judge(&self) -> Result<Judgement> {
        let refused_rows = self.counters.rows_below(self.k);
        Ok(Judgement { holds: refused_rows <= self.problem.policy.budget(), refused_rows })
    }

    fn n_groups(&self) -> usize {
        self.counters.keys().len()
    }

    fn take(&mut self) -> Tally<C> {
        self.counters.tally()
    }

    fn refused(&self) -> Result<FrequencySet> {
        let groups = self.counters.keys().iter().zip(self.counters.rows());
        let refused = groups.map(|(&key, rows)| (key, rows.rows())).filter(|&(_, rows)| rows < self.k);
        Ok(FrequencySet::of_narrow_keys(self.problem.source.layout(), &self.last, refused))
    }
}
