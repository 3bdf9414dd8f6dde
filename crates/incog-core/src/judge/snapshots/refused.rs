//! How many rows would be suppressed at nodes that a search did not count?
//!
//! A search stops counting where a node fails. Whoever wants to tell by how much it does asks here: each node is counted from
//! the records, with counters as small as the policy allows.

use super::general::General;
use super::small::Small;
use super::{Groups, MemoryBudget, Purpose};
use crate::error::Result;
use crate::frequency::KeyWidth;
use crate::judge::Problem;
use crate::lattice::Grouping;

/// The rows that the policy refuses at each of these nodes.
pub fn refused_rows(problem: Problem<'_>, nodes: &[Grouping]) -> Result<Vec<u64>> {
    let least = problem.policy.least_admitted(problem.source.n_rows())?;
    match (problem.source.layout().width(), least) {
        (KeyWidth::U64, Some(k)) if k <= u64::from(u8::MAX) => {
            refused(Small::<u64, u8>::new(problem, k, MemoryBudget::Scarce), nodes)
        }
        (KeyWidth::U64, Some(k)) if k <= u64::from(u32::MAX) => {
            refused(Small::<u64, u32>::new(problem, k, MemoryBudget::Scarce), nodes)
        }
        (KeyWidth::U128, Some(k)) if k <= u64::from(u8::MAX) => {
            refused(Small::<u128, u8>::new(problem, k, MemoryBudget::Scarce), nodes)
        }
        (KeyWidth::U128, Some(k)) if k <= u64::from(u32::MAX) => {
            refused(Small::<u128, u32>::new(problem, k, MemoryBudget::Scarce), nodes)
        }
        _ => refused(General::new(problem), nodes),
    }
}

fn refused(mut groups: impl Groups, nodes: &[Grouping]) -> Result<Vec<u64>> {
    let rows = |node: &Grouping| {
        groups.count(None, node, Purpose::Sizes)?;
        Ok(groups.judge()?.refused_rows)
    };
    nodes.iter().map(rows).collect()
}
