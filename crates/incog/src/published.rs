//! What came of a job, in a few lines for people.

use std::fmt;
use std::path::{Path, PathBuf};

use incog_core::algorithm::Quality;
use incog_verify::Report;

use crate::local::LocalColumn;
use crate::places::from_here;
use crate::verification::write_report;

/// A release that was verified and written.
#[derive(Debug)]
pub struct Published {
    /// Where it is.
    pub path: PathBuf,
    /// Where its record is, if one was written.
    pub record: Option<PathBuf>,
    /// What there is to say of it.
    pub report: ReleaseReport,
}

/// What there is to say of a release.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ReleaseReport {
    /// What each quasi-identifier became: its name, its level, and the highest level there is. None where recoding is
    /// local.
    pub levels: Vec<(String, u8, u8)>,
    /// What each quasi-identifier became, and the distortion ratio of all, where recoding is local.
    pub local: Option<(Vec<LocalColumn>, f64)>,
    /// Rows of the input.
    pub rows: u64,
    /// Rows that were left out.
    pub suppressed_rows: u64,
    /// Rows that could have been left out.
    pub budget: u64,
    /// The metric by which the release is the best.
    pub metric: &'static str,
    /// Its score.
    pub score: f64,
    /// Its loss.
    pub loss: f64,
    /// Whether there is no better release of its kind, by the metric.
    pub quality: Quality,
    /// How many nodes were judged, of how many there are, where that is how it was found.
    pub judged: Option<Judged>,
    /// Its kind: full-domain, or the algorithm of another recoding.
    pub model: &'static str,
    /// What there is to say of the search, a line each.
    pub notes: Vec<String>,
    /// What the independent checker found.
    pub checked: Report,
    /// What it would take to keep one column more detailed, the cheapest first.
    pub better: Vec<Better>,
}

/// A release with one column at a lower level, which the policy does not allow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Better {
    /// The column.
    pub column: String,
    /// The level it would have.
    pub level: u8,
    /// How many rows would have to be left out.
    pub suppressed_rows: u64,
}

/// How much of a lattice was judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Judged {
    /// Nodes that were judged.
    pub nodes: u64,
    /// Nodes that there are; if there are more than this can hold, the most it can.
    pub of: u128,
}

impl Judged {
    pub(crate) fn of(nodes: u64, heights: &[u8]) -> Self {
        let of = heights.iter().fold(1_u128, |n, &height| n.saturating_mul(u128::from(height) + 1));
        Judged { nodes, of }
    }
}

impl fmt::Display for Judged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Judged { nodes, of } = self;
        if *of < 1_000_000_000 {
            write!(f, "{nodes} of {of} nodes judged")
        } else {
            write!(f, "{nodes} of {:.1e} nodes judged", *of as f64)
        }
    }
}

/// A share as a percentage that is not smaller.
pub(crate) fn percent_at_most(share: f64) -> String {
    format!("{:.1} %", (share * 1000.0).ceil() / 10.0)
}

impl fmt::Display for Published {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", from_here(&self.path).display())?;
        self.report.write(f, self.record.as_deref())
    }
}

impl fmt::Display for ReleaseReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, None)
    }
}

impl ReleaseReport {
    /// As text; `record` is where the record of the release is.
    fn write(&self, f: &mut fmt::Formatter<'_>, record: Option<&Path>) -> fmt::Result {
        let n_released = self.rows - self.suppressed_rows;
        writeln!(f, "{n_released} rows released, {} suppressed", self.suppressed_rows)?;
        self.write_columns(f)?;
        self.write_quality(f)?;
        for note in &self.notes {
            write!(f, "\n{note}")?;
        }
        writeln!(f, "\n\nverified independently, from the released labels:")?;
        write_report(f, &self.checked)?;
        if let Some(record) = record {
            writeln!(f, "record: {}", from_here(record).display())?;
        }
        self.write_better(f)
    }

    /// What became of each quasi-identifier, and what that cost.
    fn write_columns(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, level, highest) in &self.levels {
            let how = match (*level, *highest) {
                (0, _) => "as collected".to_owned(),
                (level, highest) if level == highest => {
                    format!("level {level} of {highest}: fully generalized")
                }
                (level, highest) => format!("level {level} of {highest}"),
            };
            writeln!(f, "  {name}: {how}")?;
        }
        if let Some((columns, distortion)) = &self.local {
            columns.iter().try_for_each(|column| writeln!(f, "  {column}"))?;
            let n_groups: u64 = self.checked.group_sizes.iter().map(|(_, groups)| groups).sum();
            write!(f, "{n_groups} groups, distortion {distortion:.4}, ")?;
        }
        write!(f, "loss {:.4}", self.loss)?;
        let is_told = self.metric == "loss" || (self.metric == "distortion" && self.local.is_some());
        if is_told { Ok(()) } else { write!(f, ", {} {:.4}", self.metric, self.score) }
    }

    /// How good it is, of its kind.
    fn write_quality(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.quality {
            Quality::Optimal => {
                write!(
                    f,
                    "\noptimal: no {} release that satisfies the policy is better by {}{}",
                    self.model,
                    self.metric,
                    if self.model == "ordered-set" {
                        ", of all that are cut halfway between values"
                    } else {
                        ""
                    }
                )
            }
            Quality::Within { gap, bound } => write!(
                f,
                "\nat most {} from optimal: no {} release that satisfies the policy has a {} better than {bound:.4}",
                percent_at_most(gap),
                self.model,
                self.metric
            ),
            Quality::Heuristic => write!(f, "\nheuristic: there may be a better {} release", self.model),
        }?;
        self.judged.map_or(Ok(()), |judged| write!(f, " ({judged})"))
    }

    /// What it would take to keep more detail.
    fn write_better(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.better.is_empty() {
            return Ok(());
        }
        let share = |rows: u64| 100.0 * rows as f64 / self.rows.max(1) as f64;
        writeln!(f, "\nfor more detail, allow more suppression than {:.1} %:", share(self.budget))?;
        for Better { column, level, suppressed_rows } in self.better.iter().take(3) {
            let share = share(*suppressed_rows);
            writeln!(f, "  {column} at level {level} would take {share:.1} % ({suppressed_rows} rows)")?;
        }
        writeln!(f, "or a smaller k, or hierarchies with more levels in between")
    }
}
