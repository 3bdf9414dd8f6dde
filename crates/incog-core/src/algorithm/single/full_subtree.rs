//! Single-dimension full-subtree recoding: a cut through each attribute's tree (the model: Iyengar, KDD 2002, and section
//! 5.1.1 of the Incognito paper; the search: top-down specialization, Fung, Wang, Yu, ICDE 2005).
//!
//! *Promise*: who maps a value to a label maps everything below that label to it; the policy holds; and by the metric the
//! answer is no worse than the best full-domain generalization, wherever that one can be found (it is a cut, too).
//!
//! 1. If there are few cuts, try them all ([`exact`](super::exact)): the answer is the best there is.
//! 2. Otherwise specialize greedily ([`descent`](super::descent)) from the top, by gain and by gain per entropy, and from
//!    the best full-domain generalization, and take the best of these.
//!
//! Differs from top-down specialization: (1) any metric, not information for a classifier; (2) any policy, with
//! suppression; (3) what a step costs is the entropy of the split, not the loss of anonymity; (4) several starts.
//!
//! How good is greedy? By loss it reached the best cut on 1,090 of 1,092 random tables of up to 4 columns and 60 rows
//! (k = 2 to 4, with and without suppression). Lifting an attribute again afterwards to let others go down found one of
//! the two and nothing on Adult, so that is not done.
//!
//! Cost: see there, and that of [`optimum`](crate::algorithm::optimum). Memory: some numbers a cell and attribute.

use std::ops::Range;

use crate::algorithm::found::{Found, Quality};
use crate::algorithm::single::Aim;
use crate::algorithm::single::descent::{Descent, Order};
use crate::algorithm::single::exact::exact;
use crate::algorithm::single::full_domain::best_node;
use crate::check::Problem;
use crate::error::Result;
use crate::hierarchy::Attributes;
use crate::metric::Statistics;
use crate::privacy::Pruning;
use crate::recoding::{Levels, PerValue, ValueDomain, ValueTable};
use crate::watch::Watch;

/// How to search.
#[derive(Debug, Clone, Copy)]
pub struct FullSubtreeOptions<'a> {
    /// What is better.
    pub aim: Aim<'a>,
    /// All cuts are tried if there are at most so many, over all attributes. With 0, never.
    pub max_cuts: u64,
}

impl<'a> FullSubtreeOptions<'a> {
    /// All cuts are tried if there are at most 10,000.
    pub fn new(aim: Aim<'a>) -> Self {
        FullSubtreeOptions { aim, max_cuts: 10_000 }
    }
}

/// Finds a full-subtree recoding. `None` if it finds none that the policy admits: there is none, if the answer would have
/// been optimal or the policy allows [pruning](crate::privacy::Policy::pruning).
pub fn full_subtree(
    problem: Problem<'_>,
    attributes: &Attributes,
    options: FullSubtreeOptions<'_>,
    watch: &Watch,
) -> Result<Option<Found<PerValue>>> {
    let values = ValueTable::new(problem, attributes)?;
    let Some((levels, _, quality)) = search(problem, attributes, &values, options, watch)? else {
        return Ok(None);
    };
    Ok(Some(Found { recoding: PerValue::of_slots(problem, &values, &levels)?, quality }))
}

/// The same as levels of slots.
pub(super) fn search(
    problem: Problem<'_>,
    attributes: &Attributes,
    values: &ValueTable,
    options: FullSubtreeOptions<'_>,
    watch: &Watch,
) -> Result<Option<(Levels, Statistics, Quality)>> {
    let FullSubtreeOptions { aim, max_cuts } = options;
    if values.domains.iter().map(n_cuts).fold(1, u64::saturating_mul) <= max_cuts {
        let choices: Vec<Vec<Vec<u8>>> = values.domains.iter().map(cuts).collect();
        let found = exact(problem, values, aim, &choices, None, u64::MAX, watch)?.best;
        return Ok(found.map(|(levels, statistics)| (levels, statistics, Quality::Optimal)));
    }
    let descent = Descent::new(problem, values, aim, watch);
    let mut found = Vec::new();
    found.extend(descent.run(values.top(), Order::PerEntropy)?);
    found.extend(descent.run(values.top(), Order::Gain)?);
    // Where pruning is sound, nothing holds if the top does not.
    if found.is_empty() && problem.policy.pruning() == Pruning::Sound && is_plain(values) {
        return Ok(None);
    }
    if let Some(node) = best_node(problem, attributes, aim, watch)? {
        found.extend(descent.run(values.at_levels(&node), Order::PerEntropy)?);
        found.extend(descent.run(values.at_levels(&node), Order::Gain)?);
    }
    // The first of equally good ones.
    let best = found.into_iter().reduce(
        |best, other| {
            if aim.compare(&other.1, &best.1).is_lt() { other } else { best }
        },
    );
    Ok(best.map(|(levels, statistics)| (levels, statistics, Quality::Heuristic)))
}

fn is_plain(values: &ValueTable) -> bool {
    values.domains.iter().all(ValueDomain::is_plain)
}

/// The parts of some slots that have the same label at a level.
fn parts(domain: &ValueDomain, level: u8, slots: Range<usize>) -> Vec<Range<usize>> {
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
fn n_cuts(domain: &ValueDomain) -> u64 {
    fn below(domain: &ValueDomain, level: u8, slots: Range<usize>) -> u64 {
        let Some(down) = level.checked_sub(1) else { return 1 };
        let children = parts(domain, down, slots).into_iter().map(|child| below(domain, down, child));
        children.fold(1, u64::saturating_mul).saturating_add(1)
    }
    let tops = parts(domain, domain.height, 0..domain.rows.len());
    tops.into_iter().map(|top| below(domain, domain.height, top)).fold(1, u64::saturating_mul)
}

/// All cuts of a tree, as a level for each slot.
fn cuts(domain: &ValueDomain) -> Vec<Vec<u8>> {
    /// Every cut of a forest: the trees below labels of a level, one after the other.
    fn of_forest(domain: &ValueDomain, level: u8, slots: Range<usize>) -> Vec<Vec<u8>> {
        let mut all = vec![Vec::new()];
        for tree in parts(domain, level, slots) {
            // Lower ones first: of equally good cuts the first stays.
            let own = vec![level; tree.len()];
            let mut cuts = level.checked_sub(1).map_or_else(Vec::new, |down| of_forest(domain, down, tree));
            cuts.push(own);
            all = all
                .iter()
                .flat_map(|before| cuts.iter().map(move |cut| [before.as_slice(), cut].concat()))
                .collect();
        }
        all
    }
    of_forest(domain, domain.height, 0..domain.rows.len())
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
