//! What would it take to keep one column more detailed?

use incog_core::Result;
use incog_core::judge::refused_rows;
use incog_core::lattice::Grouping;
use incog_core::metric::Statistics;

use crate::plan::Plan;
use crate::plan::level_name::level_name;

/// A release with one column at a lower level, which the policy does not allow.
///
/// ```
/// # use incog::{Anonymizer, Hierarchy};
/// # let table = [("zip", vec!["53715", "53715", "53703", "53706"]), ("ill", vec!["flu", "cold", "flu", "none"])];
/// # let anonymizer = Anonymizer::new(table).quasi_identifier("zip", Hierarchy::mask_right()).sensitive("ill").k(2);
/// let release = anonymizer.anonymize()?;
/// let better = &release.report().better[0];
/// assert_eq!((better.column.as_str(), better.level, better.suppressed_rows), ("zip", 0, 2));
/// # Ok::<(), incog::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Better {
    /// The column.
    pub column: String,
    /// The level it would have.
    pub level: u8,
    /// What that level is, in words: `quarter`.
    pub name: String,
    /// How many rows would have to be left out.
    pub suppressed_rows: u64,
}

/// What it would take to keep one column one level more detailed.
pub(crate) fn better(plan: &Plan, best: &Statistics, known: &[(Vec<u8>, u64)]) -> Result<Vec<Better>> {
    let mut better = Vec::new();
    // Those that the search stopped counting.
    let mut unknown: Vec<(usize, Grouping)> = Vec::new();
    for at in (0..plan.attributes.len()).filter(|&at| best.levels[at] > 0) {
        let mut levels = best.levels.clone();
        levels[at] -= 1;
        match known.iter().find(|(node, _)| *node == levels) {
            Some(&(_, rows)) => better.push((at, rows)),
            // Where the records are not in memory, each look at them takes its time.
            None if plan.spilled.is_some() => {}
            None => unknown.push((at, Grouping::of_levels(&levels))),
        }
    }
    let (columns, nodes): (Vec<usize>, Vec<Grouping>) = unknown.into_iter().unzip();
    better.extend(columns.into_iter().zip(refused_rows(plan.deciding_problem(), &nodes)?));
    // Of equals, the first column first.
    better.sort_unstable();
    let is_allowed = |&(_, rows): &(usize, u64)| rows <= plan.policy.budget();
    let mut better: Vec<Better> = better
        .into_iter()
        .filter(|better| !is_allowed(better))
        .map(|(at, suppressed_rows)| {
            let attribute = &plan.attributes[at];
            let level = attribute.level_number(best.levels[at] - 1);
            let name = level_name(&plan.job, attribute, level);
            Better { column: attribute.name().to_owned(), level, name, suppressed_rows }
        })
        .collect();
    better.sort_by_key(|better| better.suppressed_rows);
    Ok(better)
}
