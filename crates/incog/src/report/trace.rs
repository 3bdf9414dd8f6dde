//! `incog search --trace`: how Incognito came to its answer, iteration by iteration.
//!
//! The paper draws it: candidate graphs (Figure 5), nodes that are checked and marked (Figures 6 and 7), what survives into the next
//! iteration. Here are the same graphs as text, for lattices that a person can read. It speaks of columns and levels; no label and
//! no cell value gets in.

use std::fmt::{self, Write};

use incog_core::algorithm::{FamilyRecord, Outcome, Search, Trace};
use incog_core::lattice::Lattice;
use incog_core::words::counted;
use incog_core::{Error, Progress, Result};
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Serialize;

use crate::plan::Plan;
use crate::report::json::{Described, written};
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
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct TraceReport {
    #[serde(skip)]
    text: String,
    /// Does a generalization satisfy the policy?
    is_any: bool,
    /// Subsets of one column, of two, and so on.
    iterations: Vec<IterationTrace>,
    /// Nodes of all columns that satisfy the policy and have none below that does.
    minimal: Vec<Node>,
}

/// The level of each column.
type Node = IndexMap<String, u8>;

/// All subsets of one size.
#[derive(Debug, Clone, Serialize, JsonSchema)]
struct IterationTrace {
    subset_size: usize,
    candidates: u64,
    checked: u64,
    holding: u64,
    families: Vec<FamilyTrace>,
}

/// The graph of one subset.
#[derive(Debug, Clone, Serialize, JsonSchema)]
struct FamilyTrace {
    columns: Vec<String>,
    candidates: Vec<Node>,
    roots: Vec<Node>,
    edges: Vec<EdgeTrace>,
    checked: Vec<CheckedTrace>,
    /// What is left for the next iteration: checked and found to hold, or marked because it lies above such a node.
    survivors: Vec<Node>,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
struct EdgeTrace {
    from: Node,
    to: Node,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
struct CheckedTrace {
    node: Node,
    holds: bool,
}

impl Described for TraceReport {
    const NAME: &'static str = "search-trace";
}

impl TraceReport {
    /// Does a generalization satisfy the policy?
    pub fn is_any(&self) -> bool {
        self.is_any
    }

    /// As one JSON object.
    pub fn to_json(&self) -> String {
        written(self)
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
    let minimal = outcome.minimal.iter().map(|&node| levels(plan, &outcome.lattice, node));
    Ok(TraceReport {
        is_any: !outcome.holding.is_empty(),
        text,
        iterations: outcome
            .iterations
            .iter()
            .map(|iteration| IterationTrace {
                subset_size: iteration.subset_size,
                candidates: iteration.candidates,
                checked: iteration.checked,
                holding: iteration.holding,
                families: outcome
                    .families
                    .iter()
                    .filter(|record| record.family.attributes().len() == iteration.subset_size)
                    .map(|record| family_trace(plan, record))
                    .collect(),
            })
            .collect(),
        minimal: minimal.collect(),
    })
}

/// The graph of one subset, as data.
fn family_trace(plan: &Plan, record: &FamilyRecord) -> FamilyTrace {
    let FamilyRecord { family, candidates, roots, edges, checked, holding } = record;
    let node = |&node: &usize| levels(plan, family, node);
    let nodes = |all: &[usize]| all.iter().map(node).collect::<Vec<Node>>();
    FamilyTrace {
        columns: family.attributes().iter().map(|&at| plan.attributes[at].name().to_owned()).collect(),
        candidates: nodes(candidates),
        roots: nodes(roots),
        edges: edges.iter().map(|(from, to)| EdgeTrace { from: node(from), to: node(to) }).collect(),
        checked: checked.iter().map(|(at, holds)| CheckedTrace { node: node(at), holds: *holds }).collect(),
        survivors: nodes(holding),
    }
}

/// The level of each column of a node.
fn levels(plan: &Plan, family: &Lattice, node: usize) -> Node {
    let levels = family.attributes().iter().zip(family.levels(node)).map(|(&at, level)| {
        let attribute = &plan.attributes[at];
        (attribute.name().to_owned(), attribute.level_number(level))
    });
    levels.collect()
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
    let nodes = counted(
        outcome.holding.len() as u64,
        "node of all columns satisfies",
        "nodes of all columns satisfy",
    );
    writeln!(text, "\nresult: {nodes} the policy")?;
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
