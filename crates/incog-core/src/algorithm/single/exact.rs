//! The best of all combinations of choices, a choice for each attribute.
//!
//! The oracle of this family: the choices are what the model allows (cuts, levels of each value, 0 or top), and every
//! combination is tried that could be the best.
//!
//! 1. Choose for one attribute after the other. What is not yet chosen is at its top: if the policy refuses that, it
//!    refuses whatever is chosen below, where [pruning](crate::privacy::Policy::pruning) is sound and texts are plain (else
//!    recoding more finely may merge groups whose labels happen to be written alike).
//! 2. What is not yet chosen, as collected and with nothing suppressed, bounds the score, for metrics that allow it.
//! 3. The first of equally good combinations stays.
//!
//! Cost: at most two judgements a combination of the first attributes; `max_steps` bounds them.

use crate::algorithm::single::Aim;
use crate::error::Result;
use crate::judge::Problem;
use crate::metric::Statistics;
use crate::privacy::Pruning;
use crate::progress::Progress;
use crate::recoding::{Levels, Numbers, ValueDomain, ValueTable};

pub(super) struct Exact<'a> {
    problem: Problem<'a>,
    values: &'a ValueTable,
    aim: Aim<'a>,
    progress: &'a Progress,
    /// For each attribute, what may be chosen.
    choices: &'a [Vec<Vec<u8>>],
    prunes: bool,
    steps_left: u64,
    best: Option<(Levels, Statistics)>,
}

/// The best levels, if any hold, and whether all combinations were covered.
pub(super) struct Best {
    pub(super) best: Option<(Levels, Statistics)>,
    pub(super) is_complete: bool,
}

/// The best combination, or a `known` recoding if nothing beats it.
pub(super) fn exact(
    problem: Problem<'_>,
    values: &ValueTable,
    aim: Aim<'_>,
    choices: &[Vec<Vec<u8>>],
    known: Option<(Levels, Statistics)>,
    max_steps: u64,
    progress: &Progress,
) -> Result<Best> {
    let prunes =
        problem.policy.pruning() == Pruning::Sound && values.domains.iter().all(ValueDomain::is_plain);
    let mut search =
        Exact { problem, values, aim, progress, choices, prunes, steps_left: max_steps, best: known };
    let bottom = values.at_levels(&vec![0; values.domains.len()]);
    let start = Numbers { of_cell: vec![0; values.n_cells()], n: 1 };
    let is_complete = search.choose(0, &start, &mut bottom.clone())?;
    Ok(Best { best: search.best, is_complete })
}

impl Exact<'_> {
    /// Tries everything from an attribute on, given the groups by those before it; `levels` are at the bottom from there
    /// on. Says whether it came to the end.
    fn choose(&mut self, attribute: usize, groups: &Numbers, levels: &mut Levels) -> Result<bool> {
        let (problem, values) = (self.problem, self.values);
        let bottom = levels[attribute].clone();
        for choice in &self.choices[attribute] {
            levels[attribute].clone_from(choice);
            if let Some((_, best)) = &self.best
                && !self.aim.can_beat(problem.policy, values.unsuppressed(levels), best)
            {
                continue;
            }
            if self.steps_left == 0 {
                return Ok(false);
            }
            self.steps_left -= 1;
            self.progress.check()?;
            let mut finer = groups.clone();
            values.tell_apart(&mut finer, attribute, choice);
            if attribute + 1 == self.choices.len() {
                let judged = values.judge_groups(problem, levels, finer)?;
                let statistics = Statistics::of_sums(judged.sums);
                let is_better =
                    self.best.as_ref().is_none_or(|(_, best)| self.aim.compare(&statistics, best).is_lt());
                if judged.holds && is_better {
                    self.best = Some((levels.clone(), statistics));
                }
                continue;
            }
            if self.prunes && !self.holds_at_the_top(attribute + 1, finer.clone(), levels)? {
                continue;
            }
            if !self.choose(attribute + 1, &finer, levels)? {
                return Ok(false);
            }
        }
        levels[attribute] = bottom;
        Ok(true)
    }

    /// Does the policy hold with all attributes from one on at their tops?
    fn holds_at_the_top(&self, from: usize, mut groups: Numbers, levels: &Levels) -> Result<bool> {
        let mut levels = levels.clone();
        for (attribute, top) in self.values.top().into_iter().enumerate().skip(from) {
            self.values.tell_apart(&mut groups, attribute, &top);
            levels[attribute] = top;
        }
        Ok(self.values.judge_groups(self.problem, &levels, groups)?.holds)
    }
}
