//! What came of a job, in a few lines for people: what became of each column, how large groups are, whom suppression hit, what the
//! checker found, and one line that says it all, at the end.

use std::fmt::{self, Write};
use std::path::Path;

use incog_core::algorithm::Quality;
use incog_core::words::{counted, percent, percents};

use crate::find::Better;
use crate::plan::level_name::name_and_number;
use crate::publish::places::from_here;
use crate::report::findings::write_report;
use crate::report::release::{Published, ReleaseReport, TableSummary};

/// Columns of which it is said how suppression hit them, and ways to more detail.
const SHOWN: usize = 3;

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

impl Published {
    /// The last line of the text alone, with the release's name.
    pub fn verdict(&self) -> String {
        format!("{}: {}", from_here(&self.path).display(), self.report.verdict())
    }
}

impl ReleaseReport {
    /// As text; `record` is where the record of the release is.
    fn write(&self, f: &mut fmt::Formatter<'_>, record: Option<&Path>) -> fmt::Result {
        let (n_released, n_left_out) = (self.rows - self.suppressed_rows, self.suppressed_rows);
        let (released, left_out) = match self.tables.is_empty() {
            true => (counted(n_released, "row", "rows"), "suppressed"),
            false => (counted(n_released, "person", "persons"), "left out"),
        };
        write!(f, "{released} released, {n_left_out} {left_out}")?;
        match n_left_out {
            0 => writeln!(f)?,
            n => writeln!(f, " ({})", percent(n, self.rows))?,
        }
        self.write_columns(f)?;
        self.write_groups(f)?;
        self.write_suppression(f)?;
        self.write_scores(f)?;
        // Clusters of persons are always a heuristic.
        if self.tables.is_empty() {
            self.write_quality(f)?;
        }
        for note in &self.notes {
            write!(f, "\n{note}")?;
        }
        writeln!(f, "\n\nverified independently, from the released labels:")?;
        write_report(f, &self.checked)?;
        if let Some(record) = record {
            writeln!(f, "record: {}", from_here(record).display())?;
        }
        self.write_better(f)?;
        writeln!(f, "verdict: {}", self.verdict())
    }

    /// What became of each quasi-identifier or table.
    fn write_columns(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for ((name, level, highest), meaning) in self.levels.iter().zip(&self.level_names) {
            writeln!(f, "  {name}: {}", name_and_number(meaning, *level, *highest))?;
        }
        for TableSummary { name, rows, removed_rows, loss } in &self.tables {
            let released = counted(rows - removed_rows, "row", "rows");
            write!(f, "  {name}: {released} released, {removed_rows} removed")?;
            loss.map_or(Ok(()), |loss| write!(f, ", loss {loss:.4}"))?;
            writeln!(f)?;
        }
        let columns = self.local.iter().flat_map(|(columns, _)| columns);
        columns.into_iter().try_for_each(|column| writeln!(f, "  {column}"))
    }

    /// How large groups are, and how likely it is to pick the right one of a group.
    fn write_groups(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(groups) = self.groups() else {
            return Ok(());
        };
        let (one, several, of) = match self.tables.is_empty() {
            true => ("group", "groups", ["row", "rows"]),
            false => ("class", "classes", ["person", "persons"]),
        };
        let size = |n: u64| counted(n, of[0], of[1]);
        let median = match groups.median() {
            whole if whole.fract() == 0.0 => size(whole as u64),
            half => format!("{half:.1} {}", of[1]),
        };
        writeln!(
            f,
            "{}: median {median}, mean {:.1}, smallest {}, largest {}",
            counted(groups.n, one, several),
            groups.mean(),
            groups.smallest,
            groups.largest
        )?;
        let who = match (&self.unit, self.tables.is_empty()) {
            (None, true) => size(groups.fewest),
            _ => counted(groups.fewest, "person", "persons"),
        };
        writeln!(
            f,
            "prosecutor risk: at most {} (1 of {who}), {} on average",
            percent(1, groups.fewest),
            percent(groups.n, groups.all)
        )
    }

    /// Whom suppression hit, by the columns that it hit most unevenly.
    fn write_suppression(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.suppression.is_empty() {
            return Ok(());
        }
        let rows = counted(self.suppressed_rows, "suppressed row comes", "suppressed rows come");
        writeln!(f, "half of the {rows} from this part of the table (50 % if spread evenly):")?;
        for share in self.suppression.iter().take(SHOWN) {
            writeln!(f, "  {} of all rows by {}", percent(share.rows, self.rows), share.column)?;
        }
        Ok(())
    }

    /// What it cost.
    fn write_scores(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((_, distortion)) = &self.local {
            write!(f, "distortion {distortion:.4}, ")?;
        }
        write!(f, "loss {:.4}", self.loss)?;
        if let Some(discernibility) = self.discernibility {
            write!(f, ", discernibility {discernibility}")?;
        }
        let is_told = self.metric == "loss" || (self.metric == "distortion" && self.local.is_some());
        if is_told { Ok(()) } else { write!(f, ", {} {:.4}", self.metric, self.score) }
    }

    /// How good it is, of its kind.
    fn write_quality(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_replayed {
            return write!(f, "\nthe levels are those of the record; nobody looked for better ones");
        }
        let Self { model, metric, .. } = self;
        match self.quality {
            Quality::Optimal => {
                let among = match *model {
                    "ordered-set" => ", of all that are cut halfway between values",
                    _ => "",
                };
                write!(
                    f,
                    "\noptimal: no {model} release that satisfies the policy is better by {metric}{among}"
                )
            }
            Quality::Within { gap, bound } => write!(
                f,
                "\nat most {} from optimal: no {model} release that satisfies the policy has a {metric} better than {bound:.4}",
                percent_at_most(gap),
            ),
            Quality::Heuristic => write!(f, "\nheuristic: there may be a better {model} release"),
        }?;
        self.judged.map_or(Ok(()), |judged| write!(f, " ({judged})"))
    }

    /// What it would take to keep more detail.
    fn write_better(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.better.is_empty() {
            return Ok(());
        }
        let mut text = String::new();
        let mut allowed = String::new();
        for Better { column, level, name, suppressed_rows, .. } in self.better.iter().take(SHOWN) {
            let [budget, share] = percents([self.budget, *suppressed_rows], self.rows);
            // The budget with as many digits as the closest one takes.
            allowed = if budget.len() > allowed.len() { budget } else { allowed };
            let level = match level {
                0 => name.clone(),
                _ if name.starts_with("level ") => name.clone(),
                _ => format!("{name} (level {level})"),
            };
            writeln!(
                text,
                "  {column}: {level} would take {share} ({})",
                counted(*suppressed_rows, "row", "rows")
            )?;
        }
        let rows = counted(self.budget, "row", "rows");
        writeln!(f, "\nfor more detail, allow more suppression than {allowed} ({rows}):")?;
        writeln!(f, "{text}or a smaller k, or hierarchies with more levels in between\n")
    }
}
