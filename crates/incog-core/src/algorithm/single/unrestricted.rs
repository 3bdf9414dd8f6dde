//! Unrestricted single-dimension recoding: each value itself or any ancestor (section 5.1.1 of the Incognito paper).
//!
//! *Promise*: every value has one level, the same in every record; the policy holds; and by the metric the answer is no
//! worse than the full-subtree recoding it starts from.
//!
//! 1. If there are few recodings, try them all ([`exact`](super::exact)): the answer is the best there is.
//! 2. Otherwise start from the [full-subtree](super::full_subtree) answer and move, attribute by attribute: one value to
//!    any other level, or all values of a label that are below one of its children down to that child. A move is made if
//!    the policy holds and the metric is better; those that gain most come first. Stop when a round makes no move.
//!
//! A label may come to stand beside its own descendants; [`PerValue::partial_labels`] counts those.
//!
//! Cost: a move is judged in one pass over the cells; a round tries each value at each level. `max_moves` bounds them.

use rayon::prelude::*;

use crate::algorithm::contract::{Algorithm, Answer, Claimed, ColumnNeeds, Family, Task};
use crate::algorithm::quality::{Found, Quality};
use crate::algorithm::single::exact::exact;
use crate::algorithm::single::of_values;
use crate::algorithm::single::{Aim, FullSubtreeOptions, full_subtree};
use crate::error::Result;
use crate::hierarchy::Attributes;
use crate::judge::Problem;
use crate::metric::Statistics;
use crate::progress::Progress;
use crate::recoding::{Levels, Numbers, PerValue, ValueDomain, ValueTable};
use crate::registry::{Entry, Status};

/// How to search.
#[derive(Debug, Clone, Copy)]
pub struct UnrestrictedOptions<'a> {
    /// What is better.
    pub aim: Aim<'a>,
    /// All recodings are tried if there are at most this many. With 0 they never are.
    pub max_recodings: u64,
    /// All cuts are tried for the start if there are at most this many.
    pub max_cuts: u64,
    /// The most moves that are tried.
    pub max_moves: u64,
}

impl<'a> UnrestrictedOptions<'a> {
    /// All recodings are tried if there are at most 10,000; otherwise at most 100,000 moves.
    pub fn new(aim: Aim<'a>) -> Self {
        UnrestrictedOptions { aim, max_recodings: 10_000, max_cuts: 10_000, max_moves: 100_000 }
    }
}

/// Finds an unrestricted single-dimension recoding. `None` if it finds none that the policy admits: there is none, if the
/// answer would have been optimal or the policy allows [pruning](crate::privacy::Policy::pruning).
pub fn unrestricted(
    problem: Problem<'_>,
    attributes: &Attributes,
    options: UnrestrictedOptions<'_>,
    progress: &Progress,
) -> Result<Option<Found<PerValue>>> {
    let aim = options.aim;
    let node = full_subtree::node_in_advance(problem, attributes, aim, progress)?;
    let values = aim.values(problem, attributes)?;
    let n_recodings = values.domains.iter().map(n_recodings).fold(1, u64::saturating_mul);
    let (found, quality) = if n_recodings <= options.max_recodings {
        let choices: Vec<Vec<Vec<u8>>> = values.domains.iter().map(recodings).collect();
        (exact(problem, &values, aim, &choices, None, u64::MAX, progress)?.best, Quality::Optimal)
    } else {
        let start = FullSubtreeOptions { max_cuts: options.max_cuts, ..FullSubtreeOptions::new(aim) };
        let start = full_subtree::search(problem, attributes, &values, node, start, progress)?;
        let mut search = Moves { problem, values: &values, aim, progress, moves_left: options.max_moves };
        let moved = start.map(|(levels, statistics, _)| search.improve(levels, statistics)).transpose()?;
        (moved, Quality::Heuristic)
    };
    found
        .map(|(levels, _)| Ok(Found { recoding: PerValue::of_slots(problem, &values, &levels)?, quality }))
        .transpose()
}

fn n_recodings(domain: &ValueDomain) -> u64 {
    let n_levels = u64::from(domain.height) + 1;
    domain.rows.iter().fold(1, |n: u64, _| n.saturating_mul(n_levels))
}

/// Every level for every slot.
fn recodings(domain: &ValueDomain) -> Vec<Vec<u8>> {
    domain.rows.iter().fold(vec![Vec::new()], |all, _| {
        let levels = 0..=domain.height;
        all.iter()
            .flat_map(|before: &Vec<u8>| {
                levels.clone().map(move |level| [before.as_slice(), &[level]].concat())
            })
            .collect()
    })
}

struct Moves<'a> {
    problem: Problem<'a>,
    values: &'a ValueTable,
    aim: Aim<'a>,
    progress: &'a Progress,
    moves_left: u64,
}

/// Some slots of an attribute go to a level.
#[derive(Debug, Clone)]
struct Move {
    slots: Vec<usize>,
    to: u8,
}

impl Moves<'_> {
    fn improve(&mut self, mut levels: Levels, mut statistics: Statistics) -> Result<(Levels, Statistics)> {
        loop {
            let mut has_moved = false;
            for attribute in 0..levels.len() {
                while self.improve_attribute(&mut levels, &mut statistics, attribute)? {
                    has_moved = true;
                }
            }
            if !has_moved {
                return Ok((levels, statistics));
            }
        }
    }

    /// Tries all moves of an attribute, then makes those that help, best first. Says whether one was made.
    fn improve_attribute(
        &mut self,
        levels: &mut Levels,
        statistics: &mut Statistics,
        attribute: usize,
    ) -> Result<bool> {
        let rest = self.values.numbers_without(levels, Some(attribute));
        let mut moves = self.moves(&levels[attribute], attribute);
        moves.truncate(usize::try_from(self.moves_left).unwrap_or(usize::MAX));
        self.moves_left -= moves.len() as u64;
        let gains: Vec<Option<f64>> = moves
            .par_iter()
            .map(|step| {
                self.progress.spend(self.problem.source.n_rows())?;
                let after = self.after(levels, statistics, attribute, &rest, step)?;
                Ok(after.map(|(_, after)| self.aim.cost(statistics) - self.aim.cost(&after)))
            })
            .collect::<Result<_>>()?;
        let mut helpful: Vec<(f64, Move)> =
            moves.into_iter().zip(gains).filter_map(|(step, gain)| Some((gain?, step))).collect();
        helpful.sort_by(|a, b| b.0.total_cmp(&a.0));
        let mut has_moved = false;
        for (_, step) in helpful {
            if let Some((of_attribute, after)) = self.after(levels, statistics, attribute, &rest, &step)? {
                levels[attribute] = of_attribute;
                *statistics = after;
                has_moved = true;
            }
        }
        Ok(has_moved)
    }

    /// The attribute's levels and the statistics after a move, if the policy holds and the metric is better.
    fn after(
        &self,
        levels: &Levels,
        statistics: &Statistics,
        attribute: usize,
        rest: &Numbers,
        step: &Move,
    ) -> Result<Option<(Vec<u8>, Statistics)>> {
        let mut after = levels.clone();
        step.slots.iter().for_each(|&slot| after[attribute][slot] = step.to);
        if !self.aim.can_beat(self.problem.policy, self.values.unsuppressed(&after), statistics) {
            return Ok(None);
        }
        let mut groups = rest.clone();
        self.values.tell_apart(&mut groups, attribute, &after[attribute]);
        let judged = self.values.judge_groups(self.problem, &after, groups)?;
        let better = Statistics::of_sums(judged.sums);
        let is_better = judged.holds && self.aim.compare(&better, statistics).is_lt();
        Ok(is_better.then(|| (after.swap_remove(attribute), better)))
    }

    fn moves(&self, levels: &[u8], attribute: usize) -> Vec<Move> {
        let domain = &self.values.domains[attribute];
        let mut moves = Vec::new();
        for (slot, &level) in levels.iter().enumerate() {
            let others = (0..=domain.height).filter(|&to| to != level);
            moves.extend(others.map(|to| Move { slots: vec![slot], to }));
            // The values that are at this label and below this child, if this is the first of them.
            let Some(down) = level.checked_sub(1) else { continue };
            let child = domain.subtree(down, slot);
            let slots: Vec<usize> = child.filter(|&other| levels[other] == level).collect();
            if slots.len() > 1 && slots[0] == slot {
                moves.push(Move { slots, to: down });
            }
        }
        moves
    }
}

/// How it is listed and run.
pub(in crate::algorithm) const ENTRY: Entry<Algorithm> = Entry {
    name: "unrestricted",
    summary: "single-dimension: each value itself or any ancestor",
    reference: "LeFevre, DeWitt, Ramakrishnan, SIGMOD 2005, section 5.1.1",
    doc: include_str!("unrestricted.md"),
    status: Status::Preview,
    item: Algorithm {
        family: Family::SingleDimension,
        columns: ColumnNeeds::SomeHierarchy,
        settings: &[],
        claim: |_| Claimed::Local,
        traversal: None,
        run,
    },
};

fn run(task: &Task<'_>) -> Result<Option<Answer>> {
    let found =
        unrestricted(task.problem, task.attributes, UnrestrictedOptions::new(task.aim), task.progress)?;
    Ok(found.map(|found| of_values(task, found)))
}
