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
    /// About how many groups there were, if they were too many to be kept.
    too_many: Option<usize>,
}

impl<'a> General<'a> {
    pub(super) fn new(problem: Problem<'a>) -> Self {
        General { problem, scratch: Scratch::default(), last: None, too_many: None }
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

    fn count(&mut self, from: Option<&FrequencySet>, to: &Grouping, purpose: Purpose) -> Result<()> {
        self.too_many = None;
        self.last = Some(match from {
            Some(set) => set.roll_up(to, &mut self.scratch),
            None => match self.problem.count_within(to)? {
                Ok(set) => set,
                Err(too_many) if purpose == Purpose::Keeping => {
                    self.too_many = Some(too_many.n_groups);
                    return Ok(());
                }
                Err(too_many) => {
                    let hint = "allow more memory, use fewer quasi-identifiers, or ask for k-anonymity alone";
                    return Err(too_many.refuse("the search", hint));
                }
            },
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
        self.too_many.unwrap_or_else(|| self.last().n_groups())
    }

    fn are_all_there(&self) -> bool {
        self.too_many.is_none()
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
