//! `incog search -k 2..100`: what does each k cost at least?
//!
//! One walk finds the largest k of every generalization ([`every_k`]); the frontier is the best one for each k.

use std::fmt::{self, Write};
use std::ops::RangeInclusive;
use std::path::Path;
use std::time::Instant;

use incog_core::algorithm::{KRange, every_k};
use incog_core::hierarchy::Attribute;
use incog_core::metric::Needs;
use incog_core::privacy::Unit;
use incog_core::{Error, Progress, Result};
use serde::Serialize;

use crate::plan::Plan;
use crate::publish::sink::Unfinished;
use crate::report::compare::escaped;
use crate::report::search::{NodeReport, every, node_report, width_of};

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
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct FrontierReport {
    /// The quasi-identifiers, in declared order: what every claim is relative to.
    pub quasi_identifiers: Vec<String>,
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
#[derive(Debug, Clone, Serialize)]
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

impl FrontierReport {
    /// Is there any k that some generalization satisfies?
    pub fn is_any(&self) -> bool {
        self.frontier.iter().any(|point| point.best.is_some())
    }

    /// The report as JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("a report has only text and finite numbers")
    }

    /// Writes the chart, whole or not at all.
    pub fn write_chart(&self, path: &Path) -> Result<()> {
        let mut file = Unfinished::create(path)?;
        file.put(self.to_svg().as_bytes())?;
        file.finish()?.appear()
    }

    /// A chart of the score of the best generalization against k.
    pub fn to_svg(&self) -> String {
        const LEFT: f64 = 70.0;
        const TOP: f64 = 40.0;
        const WIDTH: f64 = 560.0;
        const HEIGHT: f64 = 300.0;
        let points: Vec<(u64, f64)> = self
            .frontier
            .iter()
            .filter_map(|point| Some((point.k, *point.best.as_ref()?.scores.get(self.metric)?)))
            .collect();
        let (first, last) =
            (self.frontier.first().map_or(0, |at| at.k), self.frontier.last().map_or(1, |at| at.k));
        let low = points.iter().map(|&(_, score)| score).fold(0.0_f64, f64::min);
        let high = points.iter().map(|&(_, score)| score).fold(low + f64::MIN_POSITIVE, f64::max);
        let x = |k: u64| LEFT + WIDTH * (k - first) as f64 / (last - first).max(1) as f64;
        let y = |score: f64| TOP + HEIGHT * (high - score) / (high - low);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {:.0} {:.0}\" font-family=\"sans-serif\" \
             font-size=\"13\">\n<text x=\"10\" y=\"24\" font-size=\"15\">{} of the best generalization by k, {}</text>\n",
            LEFT + WIDTH + 40.0,
            TOP + HEIGHT + 50.0,
            escaped(self.metric),
            self.budget()
        );
        let _ = writeln!(
            svg,
            "<path d=\"M{LEFT} {TOP}V{}H{}\" fill=\"none\" stroke=\"#888\"/>",
            TOP + HEIGHT,
            LEFT + WIDTH
        );
        for step in 0..=4 {
            let score = low + (high - low) * f64::from(step) / 4.0;
            let _ = writeln!(
                svg,
                "<text x=\"{:.0}\" y=\"{:.1}\" text-anchor=\"end\">{score:.3}</text>",
                LEFT - 6.0,
                y(score) + 4.0
            );
            let k = first + (last - first) * step as u64 / 4;
            let _ = writeln!(
                svg,
                "<text x=\"{:.1}\" y=\"{:.0}\" text-anchor=\"middle\">{k}</text>",
                x(k),
                TOP + HEIGHT + 18.0
            );
        }
        let _ = writeln!(
            svg,
            "<text x=\"{:.0}\" y=\"{:.0}\" text-anchor=\"middle\">k</text>",
            LEFT + WIDTH / 2.0,
            TOP + HEIGHT + 38.0
        );
        let mut line = String::new();
        for &(k, score) in &points {
            let _ = write!(line, "{}{:.1} {:.1}", if line.is_empty() { "M" } else { "L" }, x(k), y(score));
        }
        let _ = writeln!(svg, "<path d=\"{line}\" fill=\"none\" stroke=\"#1b6ca8\" stroke-width=\"2\"/>");
        svg + "</svg>\n"
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
        writeln!(f, "counted the groups of {} nodes in {:.1} ms\n", self.nodes_counted, self.search_ms)?;
        let mut rows: Vec<Vec<String>> =
            vec![["k", self.metric, "satisfying", "suppressed"].map(str::to_owned).to_vec()];
        rows[0].extend(self.quasi_identifiers.iter().cloned());
        for point in &self.frontier {
            let mut row = vec![point.k.to_string()];
            match &point.best {
                None => {
                    row.extend(["-".to_owned(), "0".to_owned(), "-".to_owned()]);
                    row.extend(self.quasi_identifiers.iter().map(|_| "-".to_owned()));
                }
                Some(best) => {
                    row.push(format!("{:.6}", best.scores[self.metric]));
                    row.extend([point.satisfying, best.suppressed_rows].map(|n| n.to_string()));
                    row.extend(best.levels.values().map(u8::to_string));
                }
            }
            rows.push(row);
        }
        let width = |at: usize| width_of(rows.iter().map(|row| row[at].as_str()));
        let widths: Vec<usize> = (0..rows[0].len()).map(width).collect();
        for row in &rows {
            let cells = row.iter().zip(&widths);
            let line: Vec<String> = cells.map(|(cell, &width)| format!("{cell:>width$}")).collect();
            writeln!(f, "  {}", line.join("  "))?;
        }
        Ok(())
    }
}
