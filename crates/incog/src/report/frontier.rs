//! `incog search -k 2..100`: what does each k cost at least?
//!
//! One walk finds the largest k of every generalization ([`every_k`]); the frontier is the best one for each k.

use std::fmt;
use std::ops::RangeInclusive;
use std::path::Path;
use std::time::Instant;

use incog_core::algorithm::{KRange, every_k};
use incog_core::hierarchy::Attribute;
use incog_core::metric::Needs;
use incog_core::privacy::Unit;
use incog_core::words::counted;
use incog_core::{Error, Progress, Result};
use schemars::JsonSchema;
use serde::Serialize;

use crate::plan::Plan;
use crate::report::chart::{Anchor, FAINT, GRID, INK, Picture, STRONG, Scale, ticks};
use crate::report::json::{Described, written};
use crate::report::search::{NodeReport, every, node_report};
use crate::report::table::Table;

/// More values of k than this are a typing error.
const MAX_RANGE: u64 = 10_000;

/// What each k of a range costs at least.
///
/// ```
/// # use incog::{Anonymizer, Hierarchy};
/// # let table = [("zip", vec!["53715", "53715", "53703", "53706"]), ("ill", vec!["flu", "cold", "flu", "none"])];
/// # let anonymizer = Anonymizer::new(table).quasi_identifier("zip", Hierarchy::mask_right()).sensitive("ill").k(2);
/// let report = anonymizer.frontier(2..=4)?;
/// assert!(report.is_any());
/// println!("{report}");
/// # Ok::<(), incog::Error>(())
/// ```
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct FrontierReport {
    /// The quasi-identifiers, in declared order: what every claim is relative to.
    pub quasi_identifiers: Vec<String>,
    /// What the data are called: names of files without their folders.
    pub data: String,
    /// Rows of the table.
    pub rows: u64,
    /// How many rows may be left out.
    pub suppression_rows: u64,
    /// What k counts: rows or persons.
    pub unit: &'static str,
    /// How the best generalization is picked.
    pub metric: &'static str,
    /// Nodes of the lattice.
    pub lattice_nodes: u64,
    /// Nodes whose groups were counted.
    pub nodes_counted: u64,
    /// Each k, ascending.
    pub frontier: Vec<FrontierPoint>,
    /// How long the search took, in milliseconds, without reading and reporting.
    pub search_ms: f64,
}

/// One k.
///
/// ```
/// # use incog::{Anonymizer, Hierarchy};
/// # let table = [("zip", vec!["53715", "53715", "53703", "53706"]), ("ill", vec!["flu", "cold", "flu", "none"])];
/// # let anonymizer = Anonymizer::new(table).quasi_identifier("zip", Hierarchy::mask_right()).sensitive("ill").k(2);
/// let report = anonymizer.frontier(2..=4)?;
/// let levels: Vec<u8> = report.frontier.iter().map(|point| point.best.as_ref().unwrap().levels["zip"]).collect();
/// assert_eq!(levels, [1, 2, 2]);
/// # Ok::<(), incog::Error>(())
/// ```
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct FrontierPoint {
    /// The k.
    pub k: u64,
    /// Nodes that satisfy it.
    pub satisfying: u64,
    /// The best of them.
    pub best: Option<NodeReport>,
}

/// The best generalization for each k of a range, whatever k the job asks for.
pub(crate) fn frontier(plan: &Plan, k: RangeInclusive<u64>, progress: &Progress) -> Result<FrontierReport> {
    every(plan)?;
    if !plan.job.policy.require.is_empty() {
        let mistake = "a range of k is for k-anonymity alone, and the job requires more";
        return Err(Error::input(mistake)
            .with_hint("search for one k at a time, or use a job without [[policy.require]]"));
    }
    if plan.job.policy.combinations.is_some() {
        let mistake = "a range of k is for all quasi-identifiers together, and the job has `combinations`";
        return Err(plan
            .job
            .mistake(&["policy", "combinations"], mistake)
            .with_hint("search for one k at a time, or leave out `combinations`"));
    }
    if plan.metric.needs() == Needs::Groups {
        let mistake = format!("`{}` cannot be compared over a range of k", plan.names.metric);
        let hint = "use a metric that needs no groups: loss, geometric-loss, precision, distortion or height";
        return Err(plan.job.mistake(&["search", "metric"], mistake).with_hint(hint));
    }
    if k.end().saturating_sub(*k.start()) >= MAX_RANGE {
        return Err(Error::input(format!("the range of k has more than {MAX_RANGE} values")));
    }
    let unit = if plan.job.policy.unit.is_some() { Unit::Persons } else { Unit::Rows };
    let question = KRange { source: &*plan.rows, unit, budget: plan.policy.budget(), k };
    let start = Instant::now();
    let found = every_k(&question, progress)?;
    let costs = plan.costs()?;
    let frontier = found.frontier(&question, &plan.attributes, &costs, plan.metric, progress)?;
    let search_time = start.elapsed();
    let point = |at: incog_core::algorithm::AtK| FrontierPoint {
        k: at.k,
        satisfying: at.n_holding,
        best: at.best.as_ref().map(|best| node_report(plan, &costs, best)),
    };
    Ok(FrontierReport {
        quasi_identifiers: plan.attributes.iter().map(Attribute::name).map(str::to_owned).collect(),
        data: plan.data_name(),
        rows: costs.n_rows,
        suppression_rows: plan.policy.budget(),
        unit: match unit {
            Unit::Rows => "rows",
            Unit::Persons => "persons",
        },
        metric: plan.names.metric,
        lattice_nodes: found.lattice.n_nodes() as u64,
        nodes_counted: found.n_counted,
        frontier: frontier.into_iter().map(point).collect(),
        search_ms: search_time.as_secs_f64() * 1000.0,
    })
}

impl Described for FrontierReport {
    const NAME: &'static str = "search-k";
}

impl FrontierReport {
    /// Is there any k that some generalization satisfies?
    pub fn is_any(&self) -> bool {
        self.frontier.iter().any(|point| point.best.is_some())
    }

    /// The report as JSON.
    pub fn to_json(&self) -> String {
        written(self)
    }

    /// Writes the chart, whole or not at all: as PNG where the name ends so, as SVG otherwise.
    pub fn write_chart(&self, path: &Path) -> Result<()> {
        self.picture().write(path)
    }

    /// A chart of the score of the best generalization against k.
    pub fn to_svg(&self) -> String {
        self.picture().to_svg()
    }

    /// The same as PNG.
    pub fn to_png(&self) -> Vec<u8> {
        self.picture().to_png()
    }

    fn picture(&self) -> Picture {
        const WIDTH: f64 = 720.0;
        const HEIGHT: f64 = 300.0;
        const LEFT: f64 = 76.0;
        let score = |point: &FrontierPoint| Some((point.k, *point.best.as_ref()?.scores.get(self.metric)?));
        let points: Vec<(u64, f64)> = self.frontier.iter().filter_map(score).collect();
        let (first, last) =
            (self.frontier.first().map_or(1, |at| at.k), self.frontier.last().map_or(1, |at| at.k));
        let scores = || points.iter().map(|&(_, score)| score);
        let (low, high) = (scores().fold(0.0_f64, f64::min), scores().fold(0.0_f64, f64::max));
        let high = if high > low { high } else { low + 1.0 };
        let what = format!("{} of the best generalization for each k from {first} to {last}", self.metric);
        let rows = counted(self.rows, "row", "rows");
        let title = format!("{what}: {}, {rows}, {}", self.data, self.budget());
        let seen = match (points.first(), points.last()) {
            (Some(begin), Some(end)) => {
                format!("It goes from {:.4} at k = {} to {:.4} at k = {}.", begin.1, begin.0, end.1, end.0)
            }
            _ => "Nothing satisfies any k.".to_owned(),
        };
        let (mut picture, top) = Picture::new(WIDTH, &title, format!("{title}. {seen}"));
        let (top, right) = (top + 26.0, WIDTH - 24.0);
        let bottom = top + HEIGHT;
        // A whole number has room on both sides.
        let x = Scale { from: [first as f64 - 0.5, last as f64 + 0.5], to: [LEFT, right] };
        let y = Scale { from: [low, high], to: [bottom, top] };
        for (number, text) in ticks(low, high, 6, 0.0) {
            picture.across([LEFT, right], y.place(number), 1.0, GRID);
            picture.text(LEFT - 8.0, y.place(number) + 4.5, Anchor::End, FAINT, text);
        }
        for (number, text) in ticks(first as f64, last as f64, 10, 1.0) {
            picture.up(x.place(number), [top, bottom], 1.0, GRID);
            picture.text(x.place(number), bottom + 18.0, Anchor::Middle, FAINT, text);
        }
        let mut before: Option<(u64, f64)> = None;
        for &(k, score) in &points {
            let (from, to) = (x.place(k as f64 - 0.5), x.place(k as f64 + 0.5));
            if let Some((_, old)) = before.filter(|(other, _)| other + 1 == k) {
                picture.up(from, [y.place(old), y.place(score)], 2.0, STRONG);
            }
            picture.across([from, to], y.place(score), 2.0, STRONG);
            before = Some((k, score));
        }
        picture.across([LEFT, right], bottom, 1.5, INK);
        picture.up(LEFT, [top, bottom], 1.5, INK);
        picture.text(LEFT, top - 10.0, Anchor::Middle, INK, self.metric);
        let unit = format!("k: {} of the smallest group", self.unit);
        picture.text((LEFT + right) / 2.0, bottom + 38.0, Anchor::Middle, INK, unit);
        picture.set_height(bottom + 54.0);
        picture
    }

    fn budget(&self) -> String {
        match self.suppression_rows {
            0 => "without suppression".to_owned(),
            budget => format!("with at most {budget} of {} rows suppressed", self.rows),
        }
    }
}

impl fmt::Display for FrontierReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "best by {} of {} generalizations for each k, counted in {}, {}",
            self.metric,
            self.lattice_nodes,
            self.unit,
            self.budget()
        )?;
        writeln!(f, "relative to the quasi-identifiers {}", self.quasi_identifiers.join(", "))?;
        let nodes = counted(self.nodes_counted, "node", "nodes");
        writeln!(f, "counted the groups of {nodes} in {:.1} ms\n", self.search_ms)?;
        let known = ["k", self.metric, "satisfying", "suppressed"];
        let mut table = Table::new(&self.quasi_identifiers, &known, []);
        for point in &self.frontier {
            let k = point.k.to_string();
            let levels = || point.best.iter().flat_map(|best| best.levels.values());
            let none = || self.quasi_identifiers.iter().map(|_| "-".to_owned());
            match &point.best {
                None => table.push([k, "-".to_owned(), "0".to_owned(), "-".to_owned()], none(), []),
                Some(best) => {
                    let [satisfying, suppressed] =
                        [point.satisfying, best.suppressed_rows].map(|n| n.to_string());
                    let score = format!("{:.6}", best.scores[self.metric]);
                    table.push([k, score, satisfying, suppressed], levels().map(u8::to_string), []);
                }
            }
        }
        write!(f, "{table}")
    }
}
