//! What came of a job, in a few lines for people.

use std::fmt;
use std::path::{Path, PathBuf};

use incog_core::Result;
use incog_core::algorithm::{Judged, Quality};
use incog_core::hierarchy::Attribute;
use incog_core::metric;
use incog_core::registry::find;
use incog_verify::Report;

use crate::claim::measured::LocalColumn;
use crate::claim::release::VerifiedRelease;
use crate::find::Better;
use crate::plan::{Plan, hierarchies};
use crate::publish::places::from_here;
use crate::report::compare::FULL_DOMAIN;
use crate::report::findings::write_report;

/// A release that was verified and written.
///
/// ```
/// # use incog::{Anonymizer, Hierarchy};
/// # let table = [("zip", vec!["53715", "53715", "53703", "53706"]), ("ill", vec!["flu", "cold", "flu", "none"])];
/// # let anonymizer = Anonymizer::new(table).quasi_identifier("zip", Hierarchy::mask_right()).sensitive("ill").k(2);
/// # let folder = tempfile::tempdir().unwrap();
/// # let output = folder.path().join("out.csv");
/// # let anonymizer = anonymizer.key_file(folder.path().join("incog.key"));
/// let published = anonymizer
///     .settings(|job| job.output.get_or_insert_default().path = Some(output))
///     .publish()?;
/// assert!(published.path.exists() && published.record.unwrap().exists());
/// # Ok::<(), incog::Error>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct Published {
    /// Where it is: a file, or the folder of a database.
    pub path: PathBuf,
    /// Where its record is, if one was written.
    pub record: Option<PathBuf>,
    /// What there is to say of it.
    pub report: ReleaseReport,
}

/// What there is to say of a release.
///
/// ```
/// # use incog::{Anonymizer, Hierarchy};
/// # let table = [("zip", vec!["53715", "53715", "53703", "53706"]), ("ill", vec!["flu", "cold", "flu", "none"])];
/// # let anonymizer = Anonymizer::new(table).quasi_identifier("zip", Hierarchy::mask_right()).sensitive("ill").k(2);
/// let release = anonymizer.anonymize()?;
/// let report = release.report();
/// assert_eq!(report.levels, [("zip".to_owned(), 1, 5)]);
/// assert!(report.checked.holds());
/// println!("{report}");
/// # Ok::<(), incog::Error>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ReleaseReport {
    /// What each quasi-identifier became: its name, its level, and the highest level there is. None where recoding is
    /// local.
    pub levels: Vec<(String, u8, u8)>,
    /// What each quasi-identifier became, and the distortion ratio of all, where recoding is local.
    pub local: Option<(Vec<LocalColumn>, f64)>,
    /// What became of each table of a database; none where the release is of one table.
    pub tables: Vec<TableSummary>,
    /// Rows of the input; of a database, persons.
    pub rows: u64,
    /// Rows that were left out; of a database, persons.
    pub suppressed_rows: u64,
    /// How many could have been left out.
    pub budget: u64,
    /// The metric by which the release is the best.
    pub metric: &'static str,
    /// Its score.
    pub score: f64,
    /// Its loss; of a database, that of all tables.
    pub loss: f64,
    /// How many persons of a database look like each, summed up over all persons, unless the release is anatomized.
    pub discernibility: Option<u128>,
    /// Whether there is no better release of its kind, by the metric.
    pub quality: Quality,
    /// How many nodes were judged, of how many there are, where that is how it was found.
    pub judged: Option<Judged>,
    /// What found it, by its name in `incog list`.
    pub algorithm: &'static str,
    /// Its kind: full-domain, or the algorithm of another recoding; of a database, generalized or anatomized.
    pub model: &'static str,
    /// What else there is to say, a line each.
    pub notes: Vec<String>,
    /// What the independent checker found.
    pub checked: Report,
    /// What it would take to keep one column more detailed, the cheapest first.
    pub better: Vec<Better>,
}

/// What became of one table of a database.
///
/// ```no_run
/// let published = incog::Anonymizer::from_job(incog::AnyJob::read("database.toml".as_ref())?).publish()?;
/// for table in &published.report.tables {
///     println!("{}: {} of {} rows removed", table.name, table.removed_rows, table.rows);
/// }
/// # Ok::<(), incog::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct TableSummary {
    /// Its name.
    pub name: String,
    /// Rows of the data.
    pub rows: u64,
    /// Rows that were removed.
    pub removed_rows: u64,
    /// What its quasi-identifiers lost, between 0 and 1; none if it has none.
    pub loss: Option<f64>,
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
    /// What there is to say of a release of this plan.
    pub(crate) fn new<R>(plan: &Plan, made: &VerifiedRelease<R>) -> Result<Self> {
        let VerifiedRelease { statistics, local, costs, .. } = made;
        let mut notes = plan.notes.clone();
        notes.extend(made.notes.iter().cloned());
        notes.extend(hierarchies::longer_values(plan)?);
        notes.extend(plan.attributes.iter().enumerate().filter_map(|(at, attribute)| {
            let level = statistics.levels.get(at).copied().filter(|_| local.is_none());
            hierarchies::warning(attribute, level)
        }));
        let level = |(attribute, &level): (&Attribute, &u8)| {
            (attribute.name().to_owned(), attribute.level_number(level), attribute.full_height())
        };
        let loss = find(metric::ALL, "loss").expect("loss is registered").item;
        Ok(ReleaseReport {
            levels: plan.attributes.iter().zip(&statistics.levels).map(level).collect(),
            tables: Vec::new(),
            rows: costs.n_rows,
            suppressed_rows: statistics.suppressed_rows,
            budget: plan.policy.budget(),
            metric: plan.names.metric,
            score: plan.metric.score(costs, statistics),
            loss: loss.score(costs, statistics),
            discernibility: None,
            quality: made.quality,
            judged: made.judged,
            algorithm: plan.route.chosen().name(),
            model: made.model.unwrap_or(FULL_DOMAIN),
            notes,
            checked: made.report.clone(),
            better: made.better.clone(),
            local: local.as_ref().map(|local| (local.columns.clone(), local.distortion)),
        })
    }

    /// As text; `record` is where the record of the release is.
    fn write(&self, f: &mut fmt::Formatter<'_>, record: Option<&Path>) -> fmt::Result {
        let (n_released, n_left_out) = (self.rows - self.suppressed_rows, self.suppressed_rows);
        match self.tables.is_empty() {
            true => writeln!(f, "{n_released} rows released, {n_left_out} suppressed")?,
            false => writeln!(f, "{n_released} persons released, {n_left_out} left out")?,
        }
        self.write_columns(f)?;
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
        self.write_better(f)
    }

    /// What became of each quasi-identifier or table, and what that cost.
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
        for TableSummary { name, rows, removed_rows, loss } in &self.tables {
            write!(f, "  {name}: {} rows released, {removed_rows} removed", rows - removed_rows)?;
            loss.map_or(Ok(()), |loss| write!(f, ", loss {loss:.4}"))?;
            writeln!(f)?;
        }
        if let Some((columns, distortion)) = &self.local {
            columns.iter().try_for_each(|column| writeln!(f, "  {column}"))?;
            write!(f, "{} groups, distortion {distortion:.4}, ", self.n_groups())?;
        }
        write!(f, "loss {:.4}", self.loss)?;
        if let Some(discernibility) = self.discernibility {
            write!(f, ", {} classes, discernibility {discernibility}", self.n_groups())?;
        }
        let is_told = self.metric == "loss" || (self.metric == "distortion" && self.local.is_some());
        if is_told { Ok(()) } else { write!(f, ", {} {:.4}", self.metric, self.score) }
    }

    /// Groups of rows, or classes of persons.
    pub(crate) fn n_groups(&self) -> u64 {
        self.checked.group_sizes.iter().map(|(_, groups)| groups).sum()
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
