//! `incog search --subsets`: which generalizations of each subset of the quasi-identifiers satisfy the policy.
//!
//! Plain data, as in [`search`](crate::report::search): columns, levels and counts.

use std::fmt;
use std::time::Instant;

use incog_core::algorithm::{Subset, subsets};
use incog_core::hierarchy::Attribute;
use incog_core::{Error, Progress, Result};
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Serialize;

use crate::plan::Plan;
use crate::report::json::{Described, written};
use crate::report::search::{PolicyReport, every};

/// What was found of each subset.
///
/// ```
/// # use incog::{Anonymizer, Hierarchy};
/// # let table = [("zip", vec!["53715", "53715", "53703", "53706"]), ("sex", vec!["f", "f", "m", "m"])];
/// # let anonymizer = Anonymizer::new(table)
/// #     .quasi_identifier("zip", Hierarchy::mask_right())
/// #     .quasi_identifier("sex", Hierarchy::suppress());
/// let found = anonymizer.k(2).search_subsets(Some(1))?;
/// assert_eq!((found.max_subset, found.subsets.len()), (1, 2));
/// # Ok::<(), incog::Error>(())
/// ```
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct SubsetsReport {
    /// The quasi-identifiers, in declared order.
    pub quasi_identifiers: Vec<String>,
    /// Rows of the table.
    pub rows: u64,
    /// What was asked for.
    pub policy: PolicyReport,
    /// How nodes were judged.
    pub checker: &'static str,
    /// How many columns the largest subsets have.
    pub max_subset: usize,
    /// Nodes that were checked, all subsets together.
    pub nodes_checked: u64,
    /// Of those, the nodes whose groups were counted.
    pub nodes_grouped: u64,
    /// The subsets, the smallest first, then in declared order.
    pub subsets: Vec<SubsetReport>,
    /// How long the search took, in milliseconds, without reading and reporting.
    pub search_ms: f64,
}

/// What was found of one subset.
///
/// ```
/// # use incog::{Anonymizer, Hierarchy};
/// # let table = [("zip", vec!["53715", "53715", "53703", "53706"])];
/// let found = Anonymizer::new(table).quasi_identifier("zip", Hierarchy::mask_right()).k(2).search_subsets(None)?;
/// let zip = &found.subsets[0];
/// assert_eq!((zip.columns[0].as_str(), zip.satisfying, zip.lattice_nodes), ("zip", 5, 6));
/// # Ok::<(), incog::Error>(())
/// ```
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct SubsetReport {
    /// Its columns.
    pub columns: Vec<String>,
    /// How many generalizations there are of it.
    pub lattice_nodes: u64,
    /// How many of them satisfy the policy, judged by these columns alone.
    pub satisfying: u64,
    /// Those with no satisfying one below them: the level of each column.
    pub minimal: Vec<IndexMap<String, u8>>,
}

/// Searches the subsets of at most `most` columns; of all, if it is `None`.
pub(crate) fn search_subsets(plan: &Plan, most: Option<usize>, progress: &Progress) -> Result<SubsetsReport> {
    let (chosen, checker) = every(plan)?;
    let n_columns = plan.attributes.len();
    let most = most.unwrap_or(n_columns);
    if most == 0 {
        return Err(Error::input("the largest subset has no column")
            .with_hint("give how many columns are looked at together, such as 3"));
    }
    if most > n_columns {
        return Err(Error::input(format!(
            "subsets of {most} columns are asked for, and there are {n_columns} quasi-identifiers"
        ))
        .with_hint(format!("{n_columns} or nothing stands for all of them")));
    }
    let problem = plan.deciding_problem();
    let start = Instant::now();
    let found = subsets(&chosen.search(), problem, most, progress)?;
    Ok(SubsetsReport {
        quasi_identifiers: plan.attributes.iter().map(Attribute::name).map(str::to_owned).collect(),
        rows: problem.source.n_rows(),
        policy: PolicyReport { requires: plan.deciding().describe(), suppression_rows: plan.policy.budget() },
        checker,
        max_subset: most,
        nodes_checked: found.work.nodes_checked,
        nodes_grouped: found.work.nodes_grouped,
        subsets: found.subsets.iter().map(|subset| subset_report(plan, subset)).collect(),
        search_ms: start.elapsed().as_secs_f64() * 1000.0,
    })
}

fn subset_report(plan: &Plan, subset: &Subset) -> SubsetReport {
    let attributes = || subset.family.attributes().iter().map(|&at| &plan.attributes[at]);
    let levels = |&node: &usize| {
        let levels = attributes().zip(subset.family.levels(node));
        levels
            .map(|(attribute, level)| (attribute.name().to_owned(), attribute.level_number(level)))
            .collect()
    };
    SubsetReport {
        columns: attributes().map(|attribute| attribute.name().to_owned()).collect(),
        lattice_nodes: subset.family.n_nodes() as u64,
        satisfying: subset.holding.len() as u64,
        minimal: subset.minimal.iter().map(levels).collect(),
    }
}

impl Described for SubsetsReport {
    const NAME: &'static str = "search-subsets";
}

impl SubsetsReport {
    /// Does a generalization of some of the largest subsets satisfy the policy?
    pub fn is_any(&self) -> bool {
        self.subsets.iter().any(|subset| subset.columns.len() == self.max_subset && subset.satisfying > 0)
    }

    /// The report as JSON.
    pub fn to_json(&self) -> String {
        written(self)
    }
}

impl fmt::Display for SubsetsReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let budget = match self.policy.suppression_rows {
            0 => "without suppression".to_owned(),
            rows => format!("with at most {rows} of {} rows suppressed", self.rows),
        };
        writeln!(f, "generalizations that satisfy {} {budget}", self.policy.requires)?;
        writeln!(f, "each subset is judged by its own columns, as if the others were not released")?;
        writeln!(
            f,
            "incognito with {} checked {} and grouped {} nodes in {:.1} ms",
            self.checker, self.nodes_checked, self.nodes_grouped, self.search_ms
        )?;
        for subset in &self.subsets {
            let SubsetReport { columns, lattice_nodes, satisfying, minimal } = subset;
            write!(f, "\n{}: {satisfying} of {lattice_nodes}", columns.join(", "))?;
            for (at, levels) in minimal.iter().enumerate() {
                let levels: Vec<String> =
                    levels.iter().map(|(column, level)| format!("{column} {level}")).collect();
                write!(f, "{} <{}>", if at == 0 { ", minimal" } else { "," }, levels.join(", "))?;
            }
        }
        writeln!(f)
    }
}
