//! What if the source would rather tell how large groups are than hand them over?
//!
//! A database that has more groups than fit the memory judges by itself, as far as k goes: how many groups have how many rows, or persons, is a
//! short answer ([`FrequencySource::sizes`]). A node fails by its small groups alone if their rows are more than may be left out,
//! whatever else the policy asks. Only nodes that pass are asked for as groups, and such groups are large and few.
//!
//! [`FrequencySource::sizes`]: crate::frequency::FrequencySource::sizes

use crate::error::Result;
use crate::group::{Demand, Facts};
use crate::judge::Problem;
use crate::lattice::Grouping;
use crate::privacy::Policy;

/// A k by persons that is larger is not looked for: then groups are asked for.
const MOST_PERSONS: u32 = 1 << 16;

/// What small groups are.
#[derive(Debug, Clone, Copy)]
pub(super) struct Told {
    by_persons: bool,
    /// The fewest rows, or persons, of a group that may be published.
    least: u64,
    /// How many rows may be left out.
    budget: u64,
}

impl Told {
    /// Nothing where the source hands groups over, or where k is about combinations of columns.
    pub(super) fn of(problem: Problem<'_>) -> Result<Option<Self>> {
        let policy = problem.policy;
        if !problem.source.tells_sizes() || policy.combinations().is_some() {
            return Ok(None);
        }
        let Some(k_only) = policy.k_only() else { return Ok(None) };
        let demand = k_only.demand();
        let least = match demand {
            Demand { labels: true, .. } => None,
            Demand { persons: true, .. } => least_persons(&k_only)?,
            _ => k_only.least_admitted(problem.source.n_rows())?,
        };
        let by_persons = demand.persons;
        Ok(least.map(|least| Told { by_persons, least, budget: policy.budget() }))
    }

    /// Does a node fail by its small groups? Then how many groups it has.
    pub(super) fn fails(&self, problem: Problem<'_>, node: &Grouping) -> Result<Option<usize>> {
        let Some(sizes) = problem.source.sizes(node, self.by_persons)? else { return Ok(None) };
        // A group that nobody is in has a row all the same, and a person may have several.
        let small = sizes.iter().filter(|(size, _)| *size < self.least);
        let refused =
            small.fold(0_u64, |sum, &(size, groups)| sum.saturating_add(size.max(1).saturating_mul(groups)));
        let n_groups = sizes.iter().fold(0_u64, |sum, &(_, groups)| sum.saturating_add(groups));
        Ok((refused > self.budget).then(|| usize::try_from(n_groups).unwrap_or(usize::MAX)))
    }
}

/// The fewest persons of a group that a policy of k alone admits.
fn least_persons(k_only: &Policy) -> Result<Option<u64>> {
    let admits = |n_persons: u32| -> Result<bool> {
        let demand = Demand { persons: true, ..Demand::default() };
        let mut facts = Facts::new(&demand);
        facts.add(0, &(0..n_persons).collect::<Vec<u32>>(), &[], &[]);
        k_only.admits(facts.into_measures(vec![u64::from(n_persons)], &[0])?.group(0))
    };
    let (mut refused, mut admitted) = (0, 1);
    while !admits(admitted)? {
        if admitted >= MOST_PERSONS {
            return Ok(None);
        }
        (refused, admitted) = (admitted, admitted * 2);
    }
    while refused + 1 < admitted {
        let middle = refused + (admitted - refused) / 2;
        if admits(middle)? { admitted = middle } else { refused = middle }
    }
    Ok(Some(u64::from(admitted)))
}
