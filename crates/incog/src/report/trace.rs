//! `incog search --trace`: how Incognito came to its answer, iteration by iteration.
//!
//! The paper draws it: candidate graphs (Figure 5), nodes that are checked and marked (Figures 6 and 7), what survives into the next
//! iteration. Here are the same graphs as text, for lattices that a person can read. It speaks of columns and levels; no label and
//! no cell value gets in.

use std::fmt::{self, Write};

use incog_core::algorithm::{FamilyRecord, Outcome, Search, Trace};
use incog_core::lattice::Lattice;
use incog_core::{Error, Progress, Result};

use crate::plan::Plan;
use crate::report::search::every;

/// Candidates. More than this many are not printed: nobody would read them.
const MAX_PRINTED: u64 = 500;

/// The course of a search, as text.
///
/// ```
/// # use incog::{Anonymizer, Hierarchy};
/// # let table = [("zip", vec!["53715", "53715", "53703", "53706"])];
/// let trace = Anonymizer::new(table).quasi_identifier("zip", Hierarchy::mask_right()).k(2).trace()?;
/// assert!(trace.is_any() && trace.to_string().contains("checked    <zip 0> fails"));
/// # Ok::<(), incog::Error>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct TraceReport {
    text: String,
    is_any: bool,
}

impl TraceReport {
    /// Does a generalization satisfy the policy?
    pub fn is_any(&self) -> bool {
        self.is_any
    }
}

impl fmt::Display for TraceReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Searches, and tells how.
pub(crate) fn trace(plan: &Plan, progress: &Progress) -> Result<TraceReport> {
    let (chosen, checker) = every(plan)?;
    let heights = plan.attributes.heights();
    let most = heights.iter().fold(1_u64, |n, &height| n.saturating_mul(u64::from(height) + 2)) - 1;
    if most > MAX_PRINTED {
        return Err(Error::input(format!(
            "a trace of up to {most} candidates is too long to read; it is for {MAX_PRINTED} at most"
        ))
        .with_hint("use fewer quasi-identifiers or levels; --subsets tells what came of each subset"));
    }
    let search = Search { trace: Trace::Families, ..chosen.search() };
    let outcome = search.run(plan.deciding_problem(), progress)?;
    let mut text = String::new();
    write(&mut text, plan, &outcome, checker).expect("a text can be written to");
    Ok(TraceReport { is_any: !outcome.holding.is_empty(), text })
}

fn write(text: &mut String, plan: &Plan, outcome: &Outcome, checker: &str) -> fmt::Result {
    writeln!(text, "incognito with {checker}, for {}", plan.deciding().describe())?;
    writeln!(text, "a node is <column level, ...>; 0 = as collected")?;
    if outcome.left_open.is_some() {
        writeln!(
            text,
            "pruning is unsound for this policy: what follows is about the part of it that allows pruning"
        )?;
    }
    for iteration in &outcome.iterations {
        let size = iteration.subset_size;
        let families: Vec<&FamilyRecord> =
            outcome.families.iter().filter(|record| record.family.attributes().len() == size).collect();
        let columns = if size == 1 { "column" } else { "columns" };
        writeln!(
            text,
            "\niteration {size}: {} candidates of {size} {columns}, {} checked, {} hold",
            iteration.candidates, iteration.checked, iteration.holding
        )?;
        families.iter().try_for_each(|record| write_family(text, plan, record))?;
    }
    writeln!(text, "\nresult: {} nodes of all columns satisfy the policy", outcome.holding.len())?;
    for &node in &outcome.minimal {
        writeln!(text, "  minimal {}", name(plan, &outcome.lattice, node))?;
    }
    Ok(())
}

/// The graph of one subset, what was checked and marked, and what is left.
fn write_family(text: &mut String, plan: &Plan, record: &FamilyRecord) -> fmt::Result {
    let FamilyRecord { family, candidates, roots, edges, checked, holding } = record;
    let name = |&node: &usize| name(plan, family, node);
    let names = |nodes: &[usize]| nodes.iter().map(name).collect::<Vec<_>>().join(" ");
    let columns: Vec<&str> = family.attributes().iter().map(|&at| plan.attributes[at].name()).collect();
    writeln!(text, "  {}", columns.join(", "))?;
    writeln!(text, "    candidates {}", names(candidates))?;
    writeln!(text, "    roots      {}", names(roots))?;
    for (from, to) in edges {
        writeln!(text, "    edge       {} -> {}", name(from), name(to))?;
    }
    for (node, holds) in checked {
        writeln!(text, "    checked    {} {}", name(node), if *holds { "holds" } else { "fails" })?;
    }
    // What holds without having been checked lies above something that does.
    let is_checked = |node: &usize| checked.iter().any(|(other, _)| other == node);
    let marked: Vec<usize> = holding.iter().copied().filter(|node| !is_checked(node)).collect();
    if !marked.is_empty() {
        writeln!(text, "    marked     {}", names(&marked))?;
    }
    let left = if holding.is_empty() { "nothing".to_owned() } else { names(holding) };
    writeln!(text, "    survivors  {left}")
}

/// `<sex 1, zip 0>`.
fn name(plan: &Plan, family: &Lattice, node: usize) -> String {
    let levels = family.attributes().iter().zip(family.levels(node)).map(|(&at, level)| {
        let attribute = &plan.attributes[at];
        format!("{} {}", attribute.name(), attribute.level_number(level))
    });
    format!("<{}>", levels.collect::<Vec<_>>().join(", "))
}
