//! `incog search`: every generalization that satisfies the policy, for machines and for people.
//!
//! Plain data. It speaks of columns, levels and counts; no label and no cell value ever gets in.

use std::fmt;
use std::time::{Duration, Instant};

use incog_core::algorithm::{Coverage, Outcome};
use incog_core::hierarchy::Attribute;
use incog_core::metric::{self, Costs, Direction, Scored};
use incog_core::words::counted;
use incog_core::{Progress, Result};
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Serialize;

use crate::find::decide::{WholePolicy, judged_one_by_one, notes, settle};
use crate::find::obstacle;
use crate::plan::{Chosen, Plan, Route};
use crate::report::json::{Described, written};
use crate::report::table::Table;
pub(crate) use crate::report::table::width_of;

/// Which nodes a report lists.
///
/// ```
/// # use incog::{Anonymizer, Hierarchy};
/// # let table = [("zip", vec!["53715", "53715", "53703", "53706"]), ("ill", vec!["flu", "cold", "flu", "none"])];
/// # let anonymizer = Anonymizer::new(table).quasi_identifier("zip", Hierarchy::mask_right()).sensitive("ill").k(2);
/// use incog::Listing;
///
/// let report = anonymizer.search_listing(Listing::Minimal)?;
/// assert!(report.all.is_none());
/// # Ok::<(), incog::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Listing {
    /// The minimal ones.
    Minimal,
    /// Every node that holds, too.
    All,
}

/// How every node is classified, and by which judge. Fails where the job's algorithm finds one release.
pub(crate) fn every(plan: &Plan) -> Result<(&Chosen, &'static str)> {
    let name = match &plan.route {
        Route::Every(chosen, judge) => {
            refuse_limits(plan, "lists every generalization, and cannot be cut short")?;
            return Ok((chosen, judge));
        }
        Route::Best(chosen) | Route::Recode(chosen) => chosen.name(),
    };
    let mistake = format!("`{name}` finds one release: there are no generalizations to list");
    Err(plan
        .job
        .mistake(&["search", "algorithm"], mistake)
        .with_hint("use `incog anonymize`, or a full-domain algorithm such as incognito"))
}

/// Fails where the job has a limit that would have no effect.
fn refuse_limits(plan: &Plan, why: &str) -> Result<()> {
    let search = &plan.job.search;
    let set = [("max_steps", search.max_steps.is_some()), ("time_limit", search.time_limit.is_some())];
    let Some((key, _)) = set.into_iter().find(|(_, is_set)| *is_set) else {
        return Ok(());
    };
    let mistake = format!("`{key}` has no effect here: this {why}");
    Err(plan.job.mistake(&["search", key], mistake).with_hint("leave it out"))
}

/// Searches, and looks at the nodes to be listed.
pub(crate) fn search(plan: &Plan, listing: Listing, progress: &Progress) -> Result<SearchReport> {
    let (chosen, _) = every(plan)?;
    let problem = plan.deciding_problem();
    let start = Instant::now();
    let outcome = chosen.search().run(problem, progress)?;
    let search_time = start.elapsed();
    let costs = plan.costs()?;
    let describe =
        |nodes: &[usize]| metric::describe(problem, &plan.attributes, &outcome.lattice, nodes, progress);
    let minimal = describe(&outcome.minimal)?;
    let all = match listing {
        Listing::Minimal => None,
        Listing::All => Some(describe(&outcome.holding.iter().collect::<Vec<_>>())?),
    };
    let (lattice, holding) = (&outcome.lattice, &outcome.holding);
    let best = metric::best(problem, &plan.attributes, lattice, holding, &costs, plan.metric, progress)?;
    let mut report =
        SearchReport::new(plan, &outcome, &costs, search_time, &minimal, all.as_deref(), best.as_ref());
    match &best {
        None => report.obstacle = Some(obstacle::closest(plan, progress)?.text),
        Some(best) => match settle(plan, &best.statistics)? {
            WholePolicy::Fails(obstacle) => report.obstacle = Some(obstacle.text),
            WholePolicy::Holds(released) => {
                let (chosen, released) = (best.statistics.suppressed_rows, released.suppressed_rows);
                report.notes = notes(plan, outcome.left_open, chosen, released);
            }
        },
    }
    if report.notes.is_empty() {
        report.notes = outcome.left_open.map(judged_one_by_one).into_iter().collect();
    }
    report.notes.splice(0..0, plan.notes.iter().cloned());
    Ok(report)
}

/// The result of a search.
///
/// ```
/// # use incog::{Anonymizer, Hierarchy};
/// # let table = [("zip", vec!["53715", "53715", "53703", "53706"]), ("ill", vec!["flu", "cold", "flu", "none"])];
/// # let anonymizer = Anonymizer::new(table).quasi_identifier("zip", Hierarchy::mask_right()).sensitive("ill").k(2);
/// let report = anonymizer.search()?;
/// assert_eq!((report.satisfying, report.lattice_nodes), (5, 6));
/// println!("{}", report.to_json());
/// # Ok::<(), incog::Error>(())
/// ```
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct SearchReport {
    /// The quasi-identifiers, in declared order: what every claim is relative to.
    pub quasi_identifiers: Vec<String>,
    /// Rows of the table.
    pub rows: u64,
    /// What was asked for.
    pub policy: PolicyReport,
    /// The traversal.
    pub algorithm: &'static str,
    /// How nodes were judged.
    pub checker: &'static str,
    /// What a node that holds says of others.
    pub marking: &'static str,
    /// How `best` was picked.
    pub metric: &'static str,
    /// What the generalization is chosen by.
    pub decide: &'static str,
    /// Nodes of the lattice.
    pub lattice_nodes: u64,
    /// Is every node classified? If not, `satisfying` counts only what was looked for: one node of minimal height.
    pub complete: bool,
    /// Nodes that satisfy the policy.
    pub satisfying: u64,
    /// Nodes that were checked, all iterations together.
    pub nodes_checked: u64,
    /// Of those, the nodes whose groups were counted. The others took over the verdict of a smaller subset.
    pub nodes_grouped: u64,
    /// How many nodes were judged one by one because pruning is unsound, if it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judged_one_by_one: Option<u64>,
    /// Passes over the table.
    pub table_scans: u64,
    /// Groups read while rolling up.
    pub groups_touched: u64,
    /// What was done with sets of records, if the judge has any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bitmaps: Option<BitmapReport>,
    /// Satisfying nodes with no satisfying node below them.
    pub minimal: Vec<NodeReport>,
    /// The satisfying node with the best score.
    pub best: Option<NodeReport>,
    /// Every satisfying node, if asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub all: Option<Vec<NodeReport>>,
    /// What there is to say of the search, a line each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Where nothing satisfies the policy: how far even the most general release is from it. Also where the
    /// generalization was decided by k alone and the whole policy refuses too much of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub obstacle: Option<String>,
    /// How long the search took, in milliseconds, without reading and reporting.
    pub search_ms: f64,
}

/// What `bitmap` did.
///
/// ```
/// # use incog::{Anonymizer, Hierarchy};
/// # let table = [("zip", vec!["53715", "53715", "53703", "53706"]), ("ill", vec!["flu", "cold", "flu", "none"])];
/// # let anonymizer = Anonymizer::new(table).quasi_identifier("zip", Hierarchy::mask_right()).sensitive("ill").k(2);
/// let report = anonymizer.settings(|job| job.search.checker = Some("bitmap".into())).search()?;
/// assert!(report.bitmaps.unwrap().most_bytes > 0);
/// # Ok::<(), incog::Error>(())
/// ```
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct BitmapReport {
    /// Sets intersected.
    pub ands: u64,
    /// Sets united.
    pub ors: u64,
    /// Sets counted.
    pub counts: u64,
    /// Records of small sets whose labels were looked up.
    pub look_ups: u64,
    /// The most bytes that sets took.
    pub most_bytes: u64,
}

/// What was asked for.
///
/// ```
/// # use incog::{Anonymizer, Hierarchy};
/// # let table = [("zip", vec!["53715", "53715", "53703", "53706"]), ("ill", vec!["flu", "cold", "flu", "none"])];
/// # let anonymizer = Anonymizer::new(table).quasi_identifier("zip", Hierarchy::mask_right()).sensitive("ill").k(2);
/// assert_eq!(anonymizer.search()?.policy.requires, "2-anonymity");
/// # Ok::<(), incog::Error>(())
/// ```
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct PolicyReport {
    /// In words.
    pub requires: String,
    /// How many rows may be left out.
    pub suppression_rows: u64,
}

/// One node.
///
/// ```
/// # use incog::{Anonymizer, Hierarchy};
/// # let table = [("zip", vec!["53715", "53715", "53703", "53706"]), ("ill", vec!["flu", "cold", "flu", "none"])];
/// # let anonymizer = Anonymizer::new(table).quasi_identifier("zip", Hierarchy::mask_right()).sensitive("ill").k(2);
/// let best = anonymizer.search()?.best.unwrap();
/// assert_eq!((best.levels["zip"], best.smallest_group), (1, Some(2)));
/// # Ok::<(), incog::Error>(())
/// ```
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct NodeReport {
    /// The level of each column.
    pub levels: IndexMap<String, u8>,
    /// The sum of the levels.
    pub height: u64,
    /// The smallest released group, if anything is released.
    pub smallest_group: Option<u64>,
    /// Rows that are left out.
    pub suppressed_rows: u64,
    /// The score by each metric.
    pub scores: IndexMap<&'static str, f64>,
}

/// The best first, by the plan's metric; of equals, those that were found first.
fn by_score(plan: &Plan, mut nodes: Vec<NodeReport>) -> Vec<NodeReport> {
    let metric = plan.names.metric;
    nodes.sort_by(|one, other| {
        let order = one.scores[metric].total_cmp(&other.scores[metric]);
        if plan.metric.direction() == Direction::LowerIsBetter { order } else { order.reverse() }
    });
    nodes
}

/// What there is to say of a node.
pub(crate) fn node_report(plan: &Plan, costs: &Costs, scored: &Scored) -> NodeReport {
    let levels = || plan.attributes.iter().zip(&scored.statistics.levels);
    NodeReport {
        levels: levels()
            .map(|(attribute, &level)| (attribute.name().to_owned(), attribute.level_number(level)))
            .collect(),
        height: levels().map(|(attribute, &level)| u64::from(attribute.level_number(level))).sum(),
        smallest_group: scored.statistics.smallest_group,
        suppressed_rows: scored.statistics.suppressed_rows,
        scores: metric::ALL
            .iter()
            .map(|entry| (entry.name, entry.item.score(costs, &scored.statistics)))
            .collect(),
    }
}

impl Described for SearchReport {
    const NAME: &'static str = "search";
}

impl SearchReport {
    pub(crate) fn new(
        plan: &Plan,
        outcome: &Outcome,
        costs: &Costs,
        search_time: Duration,
        minimal: &[Scored],
        all: Option<&[Scored]>,
        best: Option<&Scored>,
    ) -> Self {
        let node = |scored: &Scored| node_report(plan, costs, scored);
        SearchReport {
            quasi_identifiers: plan.attributes.iter().map(Attribute::name).map(str::to_owned).collect(),
            rows: costs.n_rows,
            policy: PolicyReport {
                requires: plan.deciding().describe(),
                suppression_rows: plan.policy.budget(),
            },
            algorithm: plan.route.chosen().name(),
            checker: match &plan.route {
                Route::Every(_, judge) => judge,
                Route::Best(_) | Route::Recode(_) => "none",
            },
            marking: plan.names.marking,
            metric: plan.names.metric,
            decide: plan.names.decide,
            lattice_nodes: outcome.lattice.n_nodes() as u64,
            complete: outcome.coverage == Coverage::Complete,
            satisfying: outcome.holding.len() as u64,
            nodes_checked: outcome.work.nodes_checked,
            nodes_grouped: outcome.work.nodes_grouped,
            judged_one_by_one: outcome.left_open,
            table_scans: outcome.work.table_scans,
            groups_touched: outcome.work.groups_touched,
            bitmaps: (outcome.set_bytes > 0).then_some(BitmapReport {
                ands: outcome.work.ands,
                ors: outcome.work.ors,
                counts: outcome.work.counts,
                look_ups: outcome.work.look_ups,
                most_bytes: outcome.set_bytes,
            }),
            minimal: by_score(plan, minimal.iter().map(node).collect()),
            best: best.map(node),
            all: all.map(|all| all.iter().map(node).collect()),
            notes: Vec::new(),
            obstacle: None,
            search_ms: search_time.as_secs_f64() * 1000.0,
        }
    }

    /// The report as JSON.
    pub fn to_json(&self) -> String {
        written(self)
    }

    /// One line: what was found.
    fn headline(&self) -> String {
        let Self { satisfying, lattice_nodes, rows, policy, .. } = self;
        let requires = &policy.requires;
        let budget = match policy.suppression_rows {
            0 => "without suppression".to_owned(),
            budget => format!("with at most {budget} of {} suppressed", counted(*rows, "row", "rows")),
        };
        if self.satisfying == 0 {
            format!("none of {lattice_nodes} generalizations satisfies {requires} {budget}")
        } else if self.complete {
            format!("{satisfying} of {lattice_nodes} generalizations satisfy {requires} {budget}")
        } else {
            format!(
                "one of {lattice_nodes} generalizations of minimal height that satisfies {requires} {budget}"
            )
        }
    }
}

impl fmt::Display for SearchReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.headline())?;
        writeln!(f, "relative to the quasi-identifiers {}", self.quasi_identifiers.join(", "))?;
        writeln!(
            f,
            "{} with {} checked {} and grouped {} in {:.1} ms",
            self.algorithm,
            self.checker,
            self.nodes_checked,
            counted(self.nodes_grouped, "node", "nodes"),
            self.search_ms
        )?;
        let (title, nodes) = match &self.all {
            Some(all) => ("all", all),
            None => ("minimal", &self.minimal),
        };
        for note in &self.notes {
            writeln!(f, "{note}")?;
        }
        if let Some(obstacle) = &self.obstacle {
            writeln!(f, "{obstacle}")?;
        }
        if nodes.is_empty() {
            return Ok(());
        }
        writeln!(f, "\n{title} (levels; 0 = as collected):")?;
        write_table(f, &self.quasi_identifiers, nodes, self.metric)?;
        if let Some(best) = &self.best {
            writeln!(f, "\nbest by {}:", self.metric)?;
            write_table(f, &self.quasi_identifiers, std::slice::from_ref(best), self.metric)?;
        }
        Ok(())
    }
}

/// Right-aligned columns: a level for each attribute, then what is known of the node.
fn write_table(
    f: &mut fmt::Formatter<'_>,
    columns: &[String],
    nodes: &[NodeReport],
    metric: &str,
) -> fmt::Result {
    let mut table = Table::new(columns, &[], ["height", "smallest group", "suppressed", metric]);
    for node in nodes {
        let known = [
            node.height.to_string(),
            node.smallest_group.map_or("-".to_owned(), |size| size.to_string()),
            node.suppressed_rows.to_string(),
            format!("{:.6}", node.scores[metric]),
        ];
        table.push([], node.levels.values().map(u8::to_string), known);
    }
    write!(f, "{table}")
}
