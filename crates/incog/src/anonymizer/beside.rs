//! What stands beside the quasi-identifiers, and may tell more than they do?
//!
//! Looked at before the search, because no search changes it: columns that undo a generalization ([`undoing`]), and sets of columns that
//! single people out although each is released as it is, which is what `init` counts when it proposes roles.

use incog_core::table::Role;
use incog_core::words::percent;
use incog_core::{Progress, Result};

use crate::claim::release::VerifiedRelease;
use crate::claim::undoing::{Undoing, undoing, warnings};
use crate::plan::Plan;
use crate::recognize::exposure::exposures;

/// Rows that are visited to count who is alone, at most: a fraction of what a search does.
const MAX_VISITS: usize = 10_000_000;

/// Columns that are combined, at most.
const MAX_COLUMNS: usize = 10;

/// What stands beside the quasi-identifiers of a plan.
pub(crate) struct Beside {
    undoing: Vec<Undoing>,
    singling: Option<String>,
}

impl Beside {
    /// Looks at the columns that are released as they are.
    pub(crate) fn of(plan: &Plan, progress: &Progress) -> Result<Self> {
        Ok(Beside { undoing: undoing(plan)?, singling: singling(plan, progress)? })
    }

    /// What there is to say beside a release, a line each.
    pub(crate) fn notes(&self, plan: &Plan, made: &VerifiedRelease) -> Vec<String> {
        let local = made.local.as_ref().map(|local| local.columns.as_slice());
        let undone = warnings(plan, &self.undoing, &made.statistics.levels, local);
        let undone = undone.into_iter().map(|warning| format!("warning: {warning}"));
        undone.chain(self.singling.clone()).collect()
    }
}

/// Which columns, released as they are, single people out.
fn singling(plan: &Plan, progress: &Progress) -> Result<Option<String>> {
    if plan.spilled.is_some() || plan.elsewhere.is_some() {
        return Ok(None);
    }
    let columns = plan.table.columns();
    let is_released = |&at: &usize| matches!(columns[at].role(), Role::Other | Role::Sensitive);
    let mut candidates: Vec<usize> = (0..columns.len()).filter(is_released).collect();
    candidates.sort_by_key(|&at| std::cmp::Reverse(columns[at].dictionary().len()));
    candidates.truncate(n_candidates(plan.table.n_rows()));
    if candidates.is_empty() {
        return Ok(None);
    }
    let n_rows = plan.table.n_rows() as u64;
    let mut sets: Vec<String> = Vec::new();
    let mut most = 0;
    let worst = exposures(&plan.table, &candidates, progress)?.worst;
    for n_columns in 1..=3 {
        let of_size = worst.iter().filter(|set| set.columns.len() == n_columns);
        let Some(set) = of_size.max_by_key(|set| set.alone).filter(|set| set.alone > most) else {
            continue;
        };
        most = set.alone;
        let names: Vec<&str> = set.columns.iter().map(|&at| columns[at].name()).collect();
        sets.push(format!("{} in {} of rows", names.join(" + "), percent(set.alone, n_rows)));
    }
    if sets.is_empty() {
        return Ok(None);
    }
    Ok(Some(format!(
        "note: columns that are released as they are single people out: {}; if anybody may know them, they are \
         quasi-identifiers",
        sets.join(", ")
    )))
}

/// How many columns can be combined.
fn n_candidates(n_rows: usize) -> usize {
    let n_sets =
        |n: usize| n + n * n.saturating_sub(1) / 2 + n * n.saturating_sub(1) * n.saturating_sub(2) / 6;
    (0..=MAX_COLUMNS).rev().find(|&n| n_sets(n).saturating_mul(n_rows) <= MAX_VISITS).unwrap_or(0)
}
