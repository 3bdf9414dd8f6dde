//! `incog anonymize`: the best release, verified, written, and explained in a few lines.

use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};

use incog_core::algorithm::{has_optimum_search, optimum};
use incog_core::metric::{self, Costs, Scored};
use incog_core::recoding::{PerLevel, Recoding};
use incog_core::registry::find;
use incog_core::table::Role;
use incog_core::{Error, ErrorKind, Result, Stage, Watch};
use incog_verify::{Fraction, Labels, RecodingClaim, Report, StringTable, check, verify};

use crate::plan::Plan;
use crate::sink::{self, Layout};
use crate::source::{self, Data, Format};
use crate::verification::{Collected, Released, claims};

/// A release that was verified and written.
#[derive(Debug)]
pub struct Published {
    /// Where it is.
    pub path: PathBuf,
    /// What each quasi-identifier became: its name, its level, and the highest level there is.
    pub levels: Vec<(String, u8, u8)>,
    /// Rows of the input.
    pub rows: u64,
    /// Rows that were left out.
    pub suppressed_rows: u64,
    /// The metric by which the release is the best.
    pub metric: &'static str,
    /// Its score.
    pub score: f64,
    /// Its loss.
    pub loss: f64,
    /// What the independent checker found.
    pub report: Report,
}

/// What came of a job.
#[derive(Debug)]
pub enum Anonymized {
    /// A release was written.
    Published(Box<Published>),
    /// No generalization satisfies the policy; nothing was written.
    Impossible(String),
}

impl Plan {
    /// Finds the best generalization, verifies the release and writes it to `output` or where the job says.
    pub fn anonymize(&self, output: Option<&Path>, watch: &Watch) -> Result<Anonymized> {
        let job_output = self.job.output.clone().unwrap_or_default();
        let path = match (output, &job_output.path) {
            (Some(path), _) => path.to_owned(),
            (None, Some(path)) if path.as_os_str() == source::STANDARD => path.clone(),
            (None, Some(path)) => self.job.resolve(path),
            (None, None) => {
                return Err(self
                    .job
                    .mistake(&["output"], "the job does not say where to write the release")
                    .with_hint("give [output] path = \"release.csv\", or --output"));
            }
        };
        if self.files.iter().any(|file| is_same_file(&path, file)) {
            return Err(self
                .job
                .mistake(&["output", "path"], "the release would replace the data")
                .with_hint("choose another output path"));
        }
        let problem = self.problem();
        let costs = self.costs()?;
        let best = self.best(&costs, watch)?;
        let Some(Scored { statistics, .. }) = best else {
            return Ok(Anonymized::Impossible(self.obstacle(watch)?));
        };

        let recoding = Recoding::PerLevel(PerLevel::new(problem, &statistics.levels)?);
        let release = recoding.apply(&self.table, &self.attributes)?;
        let n_released = release.n_rows() as u64;
        if n_released + statistics.suppressed_rows != costs.n_rows {
            return Err(Error::new(ErrorKind::Internal, "released and suppressed rows do not add up"));
        }
        let input = Collected(Cow::Borrowed(&self.table));
        let verified = verify(Released(release), &claims(self, &input, RecodingClaim::FullDomain)).map_err(
            |report| {
                let failed: Vec<String> = report
                    .findings
                    .iter()
                    .filter(|finding| !finding.holds)
                    .map(ToString::to_string)
                    .collect();
                Error::new(
                    ErrorKind::Internal,
                    format!("the release did not pass verification: {}", failed.join("; ")),
                )
                .with_hint("nothing was written; please report this")
            },
        )?;
        let layout = Layout::new(&path, &self.format, &self.released(&statistics.levels))?;
        sink::write(&verified, &path, &layout, job_output.order, watch)?.appear()?;

        let loss = find(metric::ALL, "loss").expect("loss is registered").item;
        Ok(Anonymized::Published(Box::new(Published {
            levels: self
                .attributes
                .iter()
                .zip(&statistics.levels)
                .map(|(attribute, &level)| {
                    (attribute.name().to_owned(), attribute.level_number(level), attribute.full_height())
                })
                .collect(),
            rows: costs.n_rows,
            suppressed_rows: statistics.suppressed_rows,
            metric: self.names.metric,
            score: self.metric.score(&costs, &statistics),
            loss: loss.score(&costs, &statistics),
            report: verified.report().clone(),
            path,
        })))
    }

    /// Where each released column stands in the table, and whether it is as collected at these levels.
    fn released(&self, levels: &[u8]) -> Vec<(usize, bool)> {
        let is_generalized = |name: &str| {
            let mut with_levels = self.attributes.iter().zip(levels);
            with_levels
                .any(|(attribute, &level)| attribute.name() == name && attribute.level_number(level) > 0)
        };
        let columns = self.table.columns().iter().enumerate();
        columns
            .filter(|(_, column)| column.role() != Role::Identifier)
            .map(|(at, column)| (at, !is_generalized(column.name())))
            .collect()
    }

    /// The best node that holds. Found without all the others, where the job names no algorithm and that is possible.
    fn best(&self, costs: &Costs, watch: &Watch) -> Result<Option<Scored>> {
        let (problem, attributes) = (self.problem(), &self.attributes);
        watch.enter(Stage::Searching);
        let is_free = self.job.search.algorithm.is_none() && self.job.search.checker.is_none();
        if is_free && has_optimum_search(&self.policy, self.metric, &attributes.heights()) {
            return Ok(optimum(problem, attributes, costs, self.metric, watch)?.best);
        }
        let outcome = self.search.run(problem, watch)?;
        watch.enter(Stage::Ranking);
        metric::best(problem, attributes, &outcome.lattice, &outcome.holding, costs, self.metric, watch)
    }

    /// Checks a released file against this plan's job and data, trusting nothing but the input. `recoding` says how it
    /// is supposed to have been made.
    pub fn verify(&self, release: &Path, recoding: RecodingClaim) -> Result<Report> {
        let delimiter = match self.format {
            Format::Csv { delimiter } => Some(delimiter),
            #[cfg(feature = "parquet")]
            Format::Parquet { .. } => None,
        };
        let released = read_release(release, delimiter)?;
        let input = Collected(Cow::Borrowed(&self.table));
        Ok(check(&*released, &claims(self, &input, recoding)))
    }

    /// Why nothing holds: how far even the most general release is from the policy.
    pub(crate) fn obstacle(&self, watch: &Watch) -> Result<String> {
        let lattice = incog_core::lattice::Lattice::new(&self.attributes.heights())?;
        let top = lattice.n_nodes() - 1;
        let described = metric::describe(self.problem(), &self.attributes, &lattice, &[top], watch)?;
        let needed = described.first().map_or(0, |node| node.statistics.suppressed_rows);
        let n_rows = self.table.n_rows();
        let share = |rows: u64| 100.0 * rows as f64 / n_rows.max(1) as f64;
        let levels: Vec<String> = self
            .attributes
            .iter()
            .map(|attribute| format!("{}={}", attribute.name(), attribute.level_number(attribute.height())))
            .collect();
        Ok(format!(
            "closest: {} would need {needed} of {n_rows} rows suppressed ({:.1} %); the budget is {} rows ({:.1} %)",
            levels.join(", "),
            share(needed),
            self.policy.budget(),
            share(self.policy.budget())
        ))
    }
}

/// Do both paths lead to one file?
pub(crate) fn is_same_file(a: &Path, b: &Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

/// A released file as strings; without a delimiter, a CSV file's header's most frequent one is taken. CSV is read by
/// the checker itself.
pub fn read_release(path: &Path, delimiter: Option<u8>) -> Result<Box<dyn Labels>> {
    if source::is_parquet(path) {
        let (table, _) = Data::open(&[path.to_owned()], None)?.read(|_| Role::Other, &Watch::new())?;
        return Ok(Box::new(Collected(Cow::Owned(table))));
    }
    let (file, delimiter) = source::open_text(path, "the release", delimiter)?;
    let table = StringTable::parse(file, delimiter).map_err(|problem| {
        Error::input(format!("cannot read the release `{}`: {problem}", path.display()))
    })?;
    Ok(Box::new(table))
}

impl fmt::Display for Published {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let n_released = self.rows - self.suppressed_rows;
        writeln!(
            f,
            "{}: {n_released} rows released, {} suppressed",
            self.path.display(),
            self.suppressed_rows
        )?;
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
        write!(f, "loss {:.4}", self.loss)?;
        if self.metric != "loss" {
            write!(f, ", {} {:.4}", self.metric, self.score)?;
        }
        writeln!(f, "\n\nverified independently, from the released labels:")?;
        write_report(f, &self.report)
    }
}

/// The findings, and what was measured.
pub(crate) fn write_report(f: &mut dyn fmt::Write, report: &Report) -> fmt::Result {
    for finding in &report.findings {
        writeln!(f, "  {finding}")?;
    }
    for measured in &report.measured {
        let Some((n, of)) = measured.alpha else {
            continue;
        };
        write!(
            f,
            "  {}: alpha {:.3} ({n} of {of}), distinct l {}, entropy l {:.2}, t {:.3}",
            measured.column,
            n as f64 / of as f64,
            measured.distinct_l.unwrap_or(0),
            measured.entropy_l.unwrap_or(0.0),
            measured.t.map_or(0.0, Fraction::to_f64)
        )?;
        if let Some(t) = measured.ordered_t {
            write!(f, " (ordered {:.3})", t.to_f64())?;
        }
        if let Some(c) = measured.recursive_c.first() {
            write!(f, ", recursive (c, 2) for c above {:.3}", c.to_f64())?;
        }
        writeln!(f)?;
        if measured.uniform_groups > 0 {
            writeln!(
                f,
                "  warning: {} groups have a single value of {}: whoever is in one of them is known to have it",
                measured.uniform_groups, measured.column
            )?;
        }
    }
    Ok(())
}

/// A report as text.
pub fn render_report(report: &Report) -> String {
    let mut text = String::new();
    write_report(&mut text, report).expect("writing to a string cannot fail");
    text
}
