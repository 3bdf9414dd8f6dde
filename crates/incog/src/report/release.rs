//! What came of a job: plain data, which is then said in a few lines ([`release_text`](crate::report::release_text)) or as JSON.

use std::path::PathBuf;

use incog_core::Result;
use incog_core::algorithm::{Judged, Quality};
use incog_core::hierarchy::Attribute;
use incog_core::metric;
use incog_core::registry::find;
use incog_core::words::counted;
use incog_verify::Report;

use crate::claim::measured::LocalColumn;
use crate::claim::release::VerifiedRelease;
use crate::claim::suppressed::{SuppressedShare, shares};
use crate::find::Better;
use crate::plan::level_name::level_name;
use crate::plan::{Plan, hierarchies};
use crate::report::compare::FULL_DOMAIN;
use crate::report::findings::warnings;
use crate::report::groups::Groups;

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
    /// What those levels are, in words: `decade`, `first 3 digits`.
    pub level_names: Vec<String>,
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
    /// What the release satisfies, in words.
    pub policy: String,
    /// The quasi-identifiers, which every claim is relative to; none of a database, whose tables have their own.
    pub quasi_identifiers: Vec<String>,
    /// The column that says whom a row is about, where persons are counted.
    pub unit: Option<String>,
    /// Where the suppressed rows stood, the most unevenly hit column first.
    pub suppression: Vec<SuppressedShare>,
    /// Were the levels those of an earlier release? Then nobody looked for better ones.
    pub is_replayed: bool,
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

impl ReleaseReport {
    /// What there is to say of a release of this plan. `beside` is what was found beside it.
    pub(crate) fn new(plan: &Plan, made: &VerifiedRelease, beside: Vec<String>) -> Result<Self> {
        let levels = made.local.is_none().then_some(made.statistics.levels.as_slice());
        let suppression = shares(plan, made.verified.release(), levels);
        Ok(ReleaseReport { suppression, ..ReleaseReport::counted(plan, made, beside)? })
    }

    /// The same without what only released rows tell: they may be in a database.
    pub(crate) fn counted<R>(plan: &Plan, made: &VerifiedRelease<R>, beside: Vec<String>) -> Result<Self> {
        let VerifiedRelease { statistics, local, costs, .. } = made;
        let mut notes = plan.notes.clone();
        notes.extend(made.notes.iter().cloned());
        notes.extend(hierarchies::longer_values(plan)?);
        notes.extend(plan.attributes.iter().enumerate().filter_map(|(at, attribute)| {
            let level = statistics.levels.get(at).copied().filter(|_| local.is_none());
            hierarchies::warning(attribute, level)
        }));
        notes.extend(unknown_values(plan));
        notes.extend(beside);
        let with_levels = || plan.attributes.iter().zip(&statistics.levels);
        let level = |(attribute, &level): (&Attribute, &u8)| {
            (attribute.name().to_owned(), attribute.level_number(level), attribute.full_height())
        };
        let name = |(attribute, &level): (&Attribute, &u8)| {
            level_name(&plan.job, attribute, attribute.level_number(level))
        };
        let loss = find(metric::ALL, "loss").expect("loss is registered").item;
        Ok(ReleaseReport {
            levels: with_levels().map(level).collect(),
            level_names: with_levels().map(name).collect(),
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
            policy: plan.policy.describe(),
            quasi_identifiers: plan.attributes.iter().map(Attribute::name).map(str::to_owned).collect(),
            unit: plan.job.policy.unit.clone(),
            suppression: Vec::new(),
            is_replayed: plan.is_replayed,
            checked: made.report.clone(),
            better: made.better.clone(),
            local: local.as_ref().map(|local| (local.columns.clone(), local.distortion)),
        })
    }

    /// How large the groups are; of a database, the classes of persons. Nothing where there are none.
    pub(crate) fn groups(&self) -> Option<Groups> {
        Groups::of(&self.checked)
    }

    /// Groups of rows, or classes of persons.
    pub(crate) fn n_groups(&self) -> u64 {
        self.groups().map_or(0, |groups| groups.n)
    }

    /// What should be read before the release goes out, the worst first.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let is_warning = |note: &&String| note.starts_with(WARNING);
        warnings(&self.checked)
            .into_iter()
            .chain(self.notes.iter().filter(is_warning).map(|note| note[WARNING.len()..].to_owned()))
            .collect()
    }

    /// In one line: what holds, and whether there is something to read.
    pub(crate) fn verdict(&self) -> String {
        let policy = &self.policy;
        let relative = match self.quasi_identifiers.len() as u64 {
            0 => String::new(),
            n => format!(" relative to {}", counted(n, "quasi-identifier", "quasi-identifiers")),
        };
        let warnings = match self.warnings().len() as u64 {
            0 => "no warning".to_owned(),
            n => format!("{} above", counted(n, "warning", "warnings")),
        };
        format!("holds: {policy}{relative}; verified independently; {warnings}")
    }
}

/// What to say of sensitive values that no row has: whoever mistypes one is not warned of it.
fn unknown_values(plan: &Plan) -> impl Iterator<Item = String> {
    plan.job.columns.iter().filter_map(|(name, column)| {
        let values = column.sensitive_values.as_ref()?;
        let there = plan.table.column(name)?.dictionary();
        let n = values.iter().filter(|value| there.code(value).is_none()).count() as u64;
        let of = values.len();
        (n > 0).then(|| {
            let stand = if n == 1 { "stands" } else { "stand" };
            format!("warning: {name}: {n} of the {of} entries of `sensitive_values` {stand} in no row; they are compared letter by letter")
        })
    })
}

/// What a note that is a warning starts with.
const WARNING: &str = "warning: ";
