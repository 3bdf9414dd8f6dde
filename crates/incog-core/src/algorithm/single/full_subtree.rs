//! Single-dimension full-subtree recoding: a cut through each attribute's tree (the model: Iyengar, KDD 2002, and section
//! 5.1.1 of the Incognito paper; the search: top-down specialization, Fung, Wang, Yu, ICDE 2005).
//!
//! *Promise*: who maps a value to a label maps everything below that label to it; the policy holds; and by the metric the
//! answer is no worse than the best full-domain generalization, wherever that one can be found (it is a cut, too).
//!
//! 1. If there are few cuts, try them all ([`exact`](super::exact)): the answer is the best there is.
//! 2. Otherwise specialize greedily ([`descent`](super::descent)) from the top, by gain and by gain per entropy.
//! 3. If nothing may be suppressed, look for better ones by [branch and bound](super::branch), within a number of steps. If
//!    that comes to its end, the answer is the best there is.
//! 4. Otherwise specialize greedily from the best full-domain generalization, too, and take the best of all.
//!
//! Differs from top-down specialization: (1) any metric, not information for a classifier; (2) any policy, with
//! suppression; (3) what a step costs is the entropy of the split, not the loss of anonymity; (4) several starts.
//!
//! How good is greedy? By loss it reached the best cut on 1,090 of 1,092 random tables of up to 4 columns and 60 rows
//! (k = 2 to 4, with and without suppression). Lifting an attribute again afterwards to let others go down found one of
//! the two and nothing on Adult, so that is not done.
//!
//! What does it gain over full-domain generalization? On Adult (eight attributes, by loss) nothing, if nothing may be
//! suppressed: for k = 2, 5 and 10 the best full-domain generalization is proven to be the best of all cuts (for k = 100 it
//! is not). With 1 % suppressed it gains 5 % for k = 2, nothing for k = 5, and 1 % for k = 10. There better cuts exist:
//! for k = 2, simulated annealing found a loss of 0.2563, where this search ends at 0.2667.
//!
//! Cost: see there, and that of [`optimum`](crate::algorithm::optimum). Memory: some numbers a cell and attribute.

use std::ops::Range;

use crate::algorithm::contract::{Algorithm, Answer, Claimed, ColumnNeeds, Family, Task};
use crate::algorithm::quality::{Found, Quality};
use crate::algorithm::single::Aim;
use crate::algorithm::single::branch::{branch, can_branch, cuts_above, n_cuts_above};
use crate::algorithm::single::descent::{Descent, StepOrder};
use crate::algorithm::single::exact::{Best, exact};
use crate::algorithm::single::full_domain::best_node;
use crate::algorithm::single::of_values;
use crate::error::Result;
use crate::hierarchy::Attributes;
use crate::judge::Problem;
use crate::metric::Statistics;
use crate::privacy::Pruning;
use crate::progress::Progress;
use crate::recoding::{Levels, PerValue, ValueDomain, ValueTable};
use crate::registry::{Entry, Status};

/// How to search.
#[derive(Debug, Clone, Copy)]
pub struct FullSubtreeOptions<'a> {
    /// What is better.
    pub aim: Aim<'a>,
    /// All cuts are tried if there are at most this many, over all attributes. With 0 they never are.
    pub max_cuts: u64,
    /// The most steps of branch and bound that are spent on the best cuts, where nothing may be suppressed.
    pub max_steps: u64,
}

impl<'a> FullSubtreeOptions<'a> {
    /// All cuts are tried if there are at most 10,000; otherwise 2,000 steps of branch and bound.
    pub fn new(aim: Aim<'a>) -> Self {
        FullSubtreeOptions { aim, max_cuts: 10_000, max_steps: 2000 }
    }
}

/// Finds a full-subtree recoding. `None` if it finds none that the policy admits: there is none, if the answer would have
/// been optimal or the policy allows [pruning](crate::privacy::Policy::pruning).
pub fn full_subtree(
    problem: Problem<'_>,
    attributes: &Attributes,
    options: FullSubtreeOptions<'_>,
    progress: &Progress,
) -> Result<Option<Found<PerValue>>> {
    let node = node_in_advance(problem, attributes, options.aim, progress)?;
    let values = options.aim.values(problem, attributes)?;
    let Some((levels, _, quality)) = search(problem, attributes, &values, node, options, progress)? else {
        return Ok(None);
    };
    Ok(Some(Found { recoding: PerValue::of_slots(problem, &values, &levels)?, quality }))
}

/// The best node, where it will be needed: both it and the values take memory, and not at the same time if it comes first.
pub(super) fn node_in_advance(
    problem: Problem<'_>,
    attributes: &Attributes,
    aim: Aim<'_>,
    progress: &Progress,
) -> Result<Option<Vec<u8>>> {
    if problem.policy.budget() == 0 { Ok(None) } else { best_node(problem, attributes, aim, progress) }
}

/// The same as levels of slots, given the best node if it is known.
pub(super) fn search(
    problem: Problem<'_>,
    attributes: &Attributes,
    values: &ValueTable,
    node: Option<Vec<u8>>,
    options: FullSubtreeOptions<'_>,
    progress: &Progress,
) -> Result<Option<(Levels, Statistics, Quality)>> {
    let FullSubtreeOptions { aim, max_cuts, max_steps } = options;
    if values.domains.iter().map(n_cuts).fold(1, u64::saturating_mul) <= max_cuts {
        let choices: Vec<Vec<Vec<u8>>> = values.domains.iter().map(cuts).collect();
        let found = exact(problem, values, aim, &choices, None, u64::MAX, progress)?.best;
        return Ok(found.map(|(levels, statistics)| (levels, statistics, Quality::Optimal)));
    }
    let descent = Descent::new(problem, values, aim, progress);
    let mut found = Vec::new();
    found.extend(descent.run(values.top(), StepOrder::PerEntropy)?);
    found.extend(descent.run(values.top(), StepOrder::Gain)?);
    // Where pruning is sound, nothing holds if the top does not.
    if found.is_empty() && problem.policy.pruning() == Pruning::Sound && is_plain(values) {
        return Ok(None);
    }
    if max_steps > 0 && can_branch(problem, values, aim) {
        let known = best_of(found, aim);
        let Best { best, is_complete } = branch(problem, values, aim, known, max_steps, progress)?;
        if is_complete {
            return Ok(best.map(|(levels, statistics)| (levels, statistics, Quality::Optimal)));
        }
        found = best.into_iter().collect();
    }
    let node = match node {
        Some(node) => Some(node),
        None => best_node(problem, attributes, aim, progress)?,
    };
    if let Some(node) = node {
        found.extend(descent.run(values.at_levels(&node), StepOrder::PerEntropy)?);
        found.extend(descent.run(values.at_levels(&node), StepOrder::Gain)?);
    }
    Ok(best_of(found, aim).map(|(levels, statistics)| (levels, statistics, Quality::Heuristic)))
}

/// The first of equally good ones.
fn best_of(found: Vec<(Levels, Statistics)>, aim: Aim<'_>) -> Option<(Levels, Statistics)> {
    found.into_iter().reduce(|best, other| if aim.compare(&other.1, &best.1).is_lt() { other } else { best })
}

fn is_plain(values: &ValueTable) -> bool {
    values.domains.iter().all(ValueDomain::is_plain)
}

/// The parts of some slots that have the same label at a level.
pub(super) fn parts(domain: &ValueDomain, level: u8, slots: Range<usize>) -> Vec<Range<usize>> {
    let mut start = slots.start;
    let labels = domain.labels[usize::from(level)][slots].chunk_by(|a, b| a == b);
    labels
        .map(|same| {
            start += same.len();
            start - same.len()..start
        })
        .collect()
}

/// How many cuts a tree has.
pub(super) fn n_cuts(domain: &ValueDomain) -> u64 {
    n_cuts_above(domain, &vec![0; domain.rows.len()])
}

/// All cuts of a tree, as a level for each slot. Lower ones first: of equally good cuts the first stays.
fn cuts(domain: &ValueDomain) -> Vec<Vec<u8>> {
    cuts_above(domain, &vec![0; domain.rows.len()])
}

/// How it is listed and run.
pub(in crate::algorithm) const ENTRY: Entry<Algorithm> = Entry {
    name: "full-subtree",
    summary: "single-dimension: specializes labels one by one, each with everything below it",
    reference: "Fung, Wang, Yu: Top-down specialization, ICDE 2005; the model: Iyengar, KDD 2002",
    doc: include_str!("full_subtree.md"),
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
        full_subtree(task.problem, task.attributes, FullSubtreeOptions::new(task.aim), task.progress)?;
    Ok(found.map(|found| of_values(task, found)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frequency::Rows;
    use crate::hierarchy::{Attribute, ExplicitHierarchy};
    use crate::privacy::Policy;
    use crate::table::{Column, Role, Table};

    fn check(tree: &[&str], cells: &[&str], expected: &[&[u8]]) {
        let column = Column::from_cells("q", Role::QuasiIdentifier, cells.iter().copied()).unwrap();
        let mut rows = ExplicitHierarchy::new("q", "test");
        for (line, path) in tree.iter().enumerate() {
            rows.push(line as u64 + 1, path.split(' ')).unwrap();
        }
        let attribute = Attribute::bind(&column, rows.finish().unwrap(), "test").unwrap();
        let attributes = Attributes::new(vec![attribute]).unwrap();
        let table = Table::new(vec![column]).unwrap();
        let rows = Rows::new(&table, &attributes).unwrap();
        let problem = Problem { source: &rows, policy: &Policy::k_anonymity(1).unwrap() };
        let domain = &ValueTable::new(problem, &attributes).unwrap().domains[0];
        assert_eq!(cuts(domain), expected);
        assert_eq!(n_cuts(domain), expected.len() as u64);
    }

    #[test]
    fn every_cut_is_listed_once_and_lower_ones_come_first() {
        let tree = ["a x *", "b x *", "c y *", "d y *"];
        check(&tree, &["a", "b", "c"], &[&[0, 0, 0], &[0, 0, 1], &[1, 1, 0], &[1, 1, 1], &[2, 2, 2]]);
        // Values that do not occur have no cuts of their own; several tops are cut independently.
        check(&tree, &["a"], &[&[0], &[1], &[2]]);
        check(&["a x", "b y"], &["a", "b"], &[&[0, 0], &[0, 1], &[1, 0], &[1, 1]]);
        check(&["a", "b"], &["a", "b"], &[&[0, 0]]);
        check(&tree, &[], &[&[]]);
    }
}
