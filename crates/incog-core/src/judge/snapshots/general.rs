//! Counting for any policy: frequency sets with all that it demands.

use super::{Groups, Purpose, Sizes, largest_k};
use crate::error::Result;
use crate::frequency::{FrequencySet, Scratch};
use crate::judge::Problem;
use crate::lattice::Grouping;
use crate::privacy::Judgement;

pub(super) struct General<'a> {
    problem: Problem<'a>,
    scratch: Scratch,
    last: Option<FrequencySet>,
}

impl<'a> General<'a> {
    pub(super) fn new(problem: Problem<'a>) -> Self {
        General { problem, scratch: Scratch::default(), last: None }
    }

    fn last(&self) -> &FrequencySet {
        self.last.as_ref().expect("groups are counted before they are judged")
    }
}

impl Groups for General<'_> {
    // A key, its rows and some sensitive values.
    const BYTES_A_GROUP: u64 = 64;

    type Set = FrequencySet;
    type Mask = Grouping;

    fn mask(&self, grouping: &Grouping) -> Grouping {
        *grouping
    }

    fn is_finer(kept: Grouping, to: Grouping) -> bool {
        to.generalizes(&kept)
    }

    fn count(&mut self, from: Option<&FrequencySet>, to: &Grouping, _: Purpose) -> Result<()> {
        self.last = Some(match from {
            Some(set) => set.roll_up(to, &mut self.scratch),
            None => self.problem.count(to)?,
        });
        Ok(())
    }

    fn estimate(&mut self, _: &Grouping) -> Option<usize> {
        None
    }

    fn fails_early(&mut self, _: Option<&FrequencySet>, _: &Grouping) -> Result<Option<usize>> {
        Ok(None)
    }

    fn judge(&self) -> Result<Judgement> {
        self.problem.policy.judge(self.last())
    }

    fn largest_k(&self, most: u64) -> u64 {
        let groups = self.last().measures().groups().map(|group| (group.size(), group.rows()));
        largest_k(groups, self.problem.policy.budget(), most)
    }

    fn n_groups(&self) -> usize {
        self.last().n_groups()
    }

    fn take(&mut self) -> FrequencySet {
        self.last().clone()
    }

    fn refused(&self) -> Result<FrequencySet> {
        Ok(self.last().select(&self.problem.policy.refused(self.last())?))
    }

    fn sizes(&self, least: u64) -> Result<Sizes> {
        let refused = self.problem.policy.refused(self.last())?;
        let mut refused = refused.iter().peekable();
        let mut sizes = Sizes::default();
        for (group_idx, &rows) in (0_u32..).zip(self.last().measures().rows()) {
            sizes.add(rows, 1, least);
            if refused.next_if_eq(&&group_idx).is_none() {
                sizes.release(rows, 1);
            }
        }
        Ok(sizes)
    }
}
