//! `incog compare`: what does flexibility buy? Several recoding models on the same table and policy, side by side.
//!
//! Each model's release is made and verified like one that would be written, and then only measured. Loss is measured by
//! hierarchies, but by the width of intervals where `ordered-set` or `mondrian` go by an order. Section 5 of the
//! Incognito paper orders the models: the fewer cells a decision is about, the less has to be given up, and the harder the
//! release is to analyse.

use std::fmt;
use std::path::Path;
use std::time::{Duration, Instant};

use incog_core::algorithm::{self, Family, Quality};
use incog_core::metric::{self, Costs, Statistics};
use incog_core::registry;
use incog_core::table::label::EMPTY_TEXT;
use incog_core::words::counted;
use incog_core::{Error, ErrorKind, Progress, Result};
use schemars::JsonSchema;
use serde::Serialize;

use crate::claim::release::{RowOrder, VerifiedRelease, verified};
use crate::find::{self, Outcome};
use crate::job::settings;
use crate::job::{HierarchyJob, Job, MondrianCuts, OrderJob, OrderWord, RoleJob};
use crate::plan::route::{AlgorithmChoice, unknown};
use crate::plan::{Plan, Route};
use crate::report::chart::{Anchor, FAINT, GRID, INK, PALE, Picture, STRONG, Scale, ticks};
use crate::report::json::{Described, written};
use crate::report::release_text::percent_at_most;
use crate::report::table::WIDTH;

/// What stands for the best full-domain generalization.
pub const FULL_DOMAIN: &str = "full-domain";

/// What stands for `mondrian` with relaxed cuts, whatever the job says of them.
pub const RELAXED: &str = "mondrian-relaxed";

/// The models that are compared unless the user names some: from fast to slow.
pub const MODELS: [&str; 14] = [
    "datafly",
    FULL_DOMAIN,
    "attribute-suppression",
    "mondrian",
    RELAXED,
    "top-down",
    "full-subtree",
    "full-subgraph",
    "cell-suppression",
    "cell-generalization",
    "unrestricted-multi",
    "local",
    "ordered-set",
    "unrestricted",
];

/// Steps of work after which a model is given up, unless the job has a limit of its own. A step is about as much as looking at one
/// record; it takes some tens of nanoseconds.
pub(crate) const MAX_STEPS: u64 = 300_000_000;

/// What happens while models are compared.
///
/// ```
/// use incog::{Anonymizer, Comparing, Hierarchy};
///
/// let table = [("zip", vec!["53715", "53715", "53703", "53706"])];
/// let mut n_came = 0;
/// let anonymizer = Anonymizer::new(table).quasi_identifier("zip", Hierarchy::mask_right()).k(2);
/// anonymizer.compare_telling(&["datafly"], &mut |step| n_came += usize::from(matches!(step, Comparing::Came(_))))?;
/// assert_eq!(n_came, 1);
/// # Ok::<(), incog::Error>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum Comparing<'a> {
    /// Nothing has run yet: the lines above the rows.
    Begins(&'a str),
    /// A model is running.
    Runs(&'a str),
    /// That came of it.
    Came(&'a ComparedModel),
}

/// Models side by side.
///
/// ```
/// # use incog::{Anonymizer, Hierarchy};
/// # let table = [("zip", vec!["53715", "53715", "53703", "53706"]), ("ill", vec!["flu", "cold", "flu", "none"])];
/// # let anonymizer = Anonymizer::new(table).quasi_identifier("zip", Hierarchy::mask_right()).sensitive("ill").k(2);
/// let comparison = anonymizer.compare_models(&["full-domain", "top-down"])?;
/// assert_eq!(comparison.models.len(), 2);
/// println!("{comparison}");
/// # Ok::<(), incog::Error>(())
/// ```
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Comparison {
    /// What every release satisfies.
    pub policy: String,
    /// What the models aim at.
    pub metric: &'static str,
    /// What the data are called: names of files without their folders.
    pub data: String,
    /// Rows of the table.
    pub rows: u64,
    /// The models, in the order in which they were asked for.
    pub models: Vec<ComparedModel>,
}

/// What came of one model.
///
/// ```
/// # use incog::{Anonymizer, Hierarchy};
/// # let table = [("zip", vec!["53715", "53715", "53703", "53706"]), ("ill", vec!["flu", "cold", "flu", "none"])];
/// # let anonymizer = Anonymizer::new(table).quasi_identifier("zip", Hierarchy::mask_right()).sensitive("ill").k(2);
/// let comparison = anonymizer.compare_models(&["full-domain", "top-down"])?;
/// assert_eq!(comparison.models[0].model, "full-domain");
/// # Ok::<(), incog::Error>(())
/// ```
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct ComparedModel {
    /// Its name.
    pub model: String,
    /// The release, if there is one.
    #[serde(flatten)]
    pub release: Option<ComparedRelease>,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub obstacle: Option<String>,
    /// Steps of work that it took.
    pub steps: u64,
    /// Steps after which it is given up, where that is no limit of the job's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
}

/// What a release is measured by.
///
/// ```
/// # use incog::{Anonymizer, Hierarchy};
/// # let table = [("zip", vec!["53715", "53715", "53703", "53706"]), ("ill", vec!["flu", "cold", "flu", "none"])];
/// # let anonymizer = Anonymizer::new(table).quasi_identifier("zip", Hierarchy::mask_right()).sensitive("ill").k(2);
/// let comparison = anonymizer.compare_models(&["full-domain", "top-down"])?;
/// let release = comparison.models[0].release.as_ref().unwrap();
/// assert_eq!((release.groups, release.suppressed_rows), (2, 0));
/// # Ok::<(), incog::Error>(())
/// ```
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct ComparedRelease {
    /// LM.
    pub loss: f64,
    /// The distortion ratio.
    pub distortion: f64,
    /// DM.
    pub discernibility: f64,
    /// Released rows by released groups.
    pub average_group_size: f64,
    /// Rows left out.
    pub suppressed_rows: u64,
    /// Released groups.
    pub groups: u64,
    /// How long it took to find and to verify.
    pub milliseconds: f64,
    /// Whether there is no better one of its kind by the metric: optimal, at most so far from it, or heuristic.
    pub quality: String,
}

/// The job of a plan to compare by. It may have settings of all models; which algorithm it names does not matter.
pub(crate) fn bare(job: &Job) -> Job {
    let mut bare = settings::of_algorithm(job, None);
    bare.search.algorithm = None;
    bare
}

/// Makes, verifies and measures a release by each of these models; none is written. `job` has the settings of all models.
pub(crate) fn compare(
    plan: &mut Plan,
    mut job: Job,
    models: &[String],
    progress: &Progress,
    told: &mut dyn FnMut(Comparing<'_>),
) -> Result<Comparison> {
    plan.in_memory("models are compared in memory")?;
    // A name that is none should not cost the time of those before it.
    models.iter().try_for_each(|name| check_name(&job, name))?;
    let without_orders = (plan.job.columns.clone(), job.columns.clone());
    let (metric, rows) = (plan.names.metric, plan.table.n_rows() as u64);
    let policy = plan.policy.describe();
    told(Comparing::Begins(&Comparison::head(&policy, rows, metric)));
    let has_limit = job.search.max_steps.is_some() || job.search.time_limit.is_some();
    let limit = (!has_limit).then_some(MAX_STEPS);
    let mut compared = Vec::new();
    for name in models {
        told(Comparing::Runs(name));
        (plan.job.columns, job.columns) = without_orders.clone();
        derive(plan, &mut job, name);
        let start = Instant::now();
        progress.limit(limit);
        let came = release_by(plan, &job, name, progress);
        let steps = progress.steps();
        progress.limit(None);
        let (release, obstacle) = match came {
            Ok(Ok(made)) => {
                let VerifiedRelease { costs, statistics, quality, .. } = &made;
                (Some(measured(costs, statistics, *quality, start.elapsed())?), None)
            }
            Ok(Err(obstacle)) => (None, Some(obstacle)),
            // What this model cannot take is no reason to leave out the others: a policy, a size, no order.
            Err(error) if matches!(error.kind(), ErrorKind::Policy | ErrorKind::Limit | ErrorKind::Input) => {
                (None, Some(error.to_string()))
            }
            Err(error) => return Err(error),
        };
        let model = ComparedModel { model: name.clone(), release, obstacle, steps, limit };
        told(Comparing::Came(&model));
        compared.push(model);
    }
    Ok(Comparison { policy, metric, data: plan.data_name(), rows, models: compared })
}

/// Gives a model the orders and hierarchies that follow from the data, where the job has none: numbers and dates have an order, what
/// has no hierarchy is kept or `*`.
fn derive(plan: &mut Plan, job: &mut Job, model: &str) {
    let is_ordered_set = model == "ordered-set";
    if !is_ordered_set && !["mondrian", RELAXED].contains(&model) {
        return;
    }
    for (name, column) in &mut plan.job.columns {
        let Some(data) = plan.table.column(name) else { continue };
        let is_cut = column.hierarchy.as_ref().is_some_and(|hierarchy| hierarchy.intervals.is_some());
        if column.role != RoleJob::QuasiIdentifier || column.order.is_some() || is_cut && !is_ordered_set {
            continue;
        }
        let values = || data.dictionary().values().filter(|value| !value.is_empty() && *value != EMPTY_TEXT);
        let notation = data.notation();
        // An order tells values apart that the lowest level does not: then the model goes by the hierarchy.
        let levels = column.hierarchy.as_ref().and_then(|hierarchy| hierarchy.levels.as_ref());
        if levels.is_some_and(|levels| !levels.contains(&0)) {
            continue;
        }
        let is_mask = column.hierarchy.as_ref().is_some_and(|hierarchy| hierarchy.mask.is_some());
        column.order = if !is_mask && values().all(|value| notation.number(value).is_some()) {
            Some(OrderJob::Word(OrderWord::Numbers))
        } else if values().all(|value| notation.date(value).is_some()) {
            Some(OrderJob::Word(OrderWord::Dates))
        } else {
            column
                .hierarchy
                .get_or_insert_with(|| HierarchyJob { suppress: Some(true), ..HierarchyJob::default() });
            None
        };
        if let Some(other) = job.columns.get_mut(name) {
            other.clone_from(column);
        }
    }
}

/// A verified release by a model, or what stands in its way.
fn release_by(
    plan: &Plan,
    job: &Job,
    name: &str,
    progress: &Progress,
) -> Result<std::result::Result<VerifiedRelease, String>> {
    let route = route(plan, job, name)?;
    match find::find(plan, &route, progress)? {
        Outcome::Found(found) => Ok(Ok(verified(plan, *found, RowOrder::Input, progress)?)),
        Outcome::Nothing(obstacle) => Ok(Err(obstacle.text)),
    }
}

/// The way to a release by a model.
fn route(plan: &Plan, job: &Job, name: &str) -> Result<Route> {
    if name == FULL_DOMAIN {
        return Ok(plan.route.clone());
    }
    let algorithm = if name == RELAXED { "mondrian" } else { name };
    let mut job = settings::of_algorithm(job, registry::find(algorithm::ALL, algorithm));
    job.search.algorithm = Some(algorithm.to_owned());
    if name == RELAXED {
        job.search.mondrian_cuts = Some(MondrianCuts::Relaxed);
    }
    AlgorithmChoice::new(&job, None)?.recode().ok_or_else(|| no_model(name))
}

/// Is there a model of that name?
fn check_name(job: &Job, name: &str) -> Result<()> {
    if [FULL_DOMAIN, RELAXED].contains(&name) {
        return Ok(());
    }
    match registry::find(algorithm::ALL, name) {
        Some(entry) if entry.item.family == Family::FullDomain => Err(no_model(name)),
        Some(_) => Ok(()),
        None => {
            let models = MODELS.join(", ");
            Err(unknown(job, name).with_hint(format!("there are: {models}, genetic")))
        }
    }
}

fn no_model(name: &str) -> Error {
    Error::input(format!("`{name}` is one of several ways to the same full-domain generalizations"))
        .with_hint(format!("name {FULL_DOMAIN} for the best of them"))
}

fn measured(
    costs: &Costs,
    statistics: &Statistics,
    quality: Quality,
    time: Duration,
) -> Result<ComparedRelease> {
    let score = |name: &str| {
        let entry = registry::find(metric::ALL, name);
        let entry = entry.ok_or_else(|| Error::new(ErrorKind::Internal, "a metric is not registered"))?;
        Ok::<f64, Error>(entry.item.score(costs, statistics))
    };
    Ok(ComparedRelease {
        loss: score("loss")?,
        distortion: score("distortion")?,
        discernibility: score("discernibility")?,
        average_group_size: score("average-group-size")?,
        suppressed_rows: statistics.suppressed_rows,
        groups: statistics.n_groups,
        milliseconds: time.as_micros() as f64 / 1000.0,
        quality: match quality {
            Quality::Optimal => "optimal".to_owned(),
            Quality::Within { gap, .. } => format!("within {}", percent_at_most(gap)),
            Quality::Heuristic => "heuristic".to_owned(),
        },
    })
}

impl Described for Comparison {
    const NAME: &'static str = "compare";
}

impl Comparison {
    /// The lines above the rows.
    pub(crate) fn head(policy: &str, rows: u64, metric: &str) -> String {
        let rows = counted(rows, "row", "rows");
        format!(
            "{policy}, {rows}, best by {metric}; every release is verified\n\n{:<WIDEST$}{:>8}{:>8}{:>8}{:>11}{:>11}  {}\n",
            "model", "loss", "groups", "size", "suppressed", "time", "found"
        )
    }

    /// As one JSON object.
    pub fn to_json(&self) -> String {
        written(self)
    }

    /// Writes the chart, whole or not at all: as PNG where the name ends so, as SVG otherwise.
    pub fn write_chart(&self, path: &Path) -> Result<()> {
        self.picture().write(path)
    }

    /// A chart of the losses, one bar a model.
    pub fn to_svg(&self) -> String {
        self.picture().to_svg()
    }

    /// The same as PNG.
    pub fn to_png(&self) -> Vec<u8> {
        self.picture().to_png()
    }

    fn picture(&self) -> Picture {
        const WIDTH: f64 = 720.0;
        const LEFT: f64 = 170.0;
        const ROW: f64 = 26.0;
        let rows = counted(self.rows, "row", "rows");
        let title = format!("Loss by recoding model: {}, {rows}, {}", self.data, self.policy);
        let loss = |model: &ComparedModel| match &model.release {
            Some(release) => format!("{} {:.4}", model.model, release.loss),
            None => format!("{} no release", model.model),
        };
        let losses: Vec<String> = self.models.iter().map(loss).collect();
        let (mut picture, top) = Picture::new(WIDTH, &title, format!("{title}. {}.", losses.join(", ")));
        let (top, right) = (top + 14.0, WIDTH - 150.0);
        let bottom = top + ROW * self.models.len() as f64 + 4.0;
        let most = self.models.iter().filter_map(|model| model.release.as_ref()).map(|release| release.loss);
        let most = Some(most.fold(0.0_f64, f64::max)).filter(|&most| most > 0.0).unwrap_or(1.0);
        let x = Scale { from: [0.0, most], to: [LEFT, right] };
        for (number, text) in ticks(0.0, most, 6, 0.0) {
            picture.up(x.place(number), [top, bottom], 1.0, GRID);
            picture.text(x.place(number), bottom + 18.0, Anchor::Middle, FAINT, text);
        }
        for (at, ComparedModel { model, release, .. }) in self.models.iter().enumerate() {
            let y = top + 6.0 + ROW * at as f64;
            picture.text(LEFT - 8.0, y + 13.5, Anchor::End, INK, model);
            let Some(release) = release else {
                picture.text(LEFT + 6.0, y + 13.5, Anchor::Start, FAINT, "no release");
                continue;
            };
            let colour = if release.quality == "optimal" { STRONG } else { PALE };
            let length = x.place(release.loss) - LEFT;
            picture.rectangle(LEFT, y, length, 18.0, colour);
            let text = format!("{:.4}", release.loss);
            picture.text(LEFT + length + 6.0, y + 13.5, Anchor::Start, INK, text);
        }
        picture.up(LEFT, [top, bottom], 1.5, INK);
        picture.text(
            (LEFT + right) / 2.0,
            bottom + 38.0,
            Anchor::Middle,
            INK,
            "loss (0: all as collected, 1: nothing left)",
        );
        let legend = right + 66.0;
        for (at, (colour, text)) in [(STRONG, "optimal"), (PALE, "other")].into_iter().enumerate() {
            let y = top + 20.0 * at as f64;
            picture.rectangle(legend, y, 12.0, 12.0, colour);
            picture.text(legend + 18.0, y + 11.0, Anchor::Start, INK, text);
        }
        picture.set_height(bottom + 54.0);
        picture
    }
}

/// As wide as the longest name.
const WIDEST: usize = 21;

impl fmt::Display for ComparedModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ComparedModel { model, release, obstacle, .. } = self;
        let Some(release) = release else {
            let obstacle = obstacle.as_deref().unwrap_or("no release");
            let indent = " ".repeat(WIDEST);
            let mut line = format!("{model:<WIDEST$}");
            let mut is_empty = true;
            for word in obstacle.split_whitespace() {
                if !is_empty && line.chars().count() + 1 + word.chars().count() > WIDTH {
                    writeln!(f, "{line}")?;
                    line.clone_from(&indent);
                    is_empty = true;
                }
                if !is_empty {
                    line.push(' ');
                }
                line.push_str(word);
                is_empty = false;
            }
            return writeln!(f, "{line}");
        };
        let time = match release.milliseconds {
            short if short < 10_000.0 => format!("{short:.0} ms"),
            long => format!("{:.1} s", long / 1000.0),
        };
        writeln!(
            f,
            "{model:<WIDEST$}{:>8.4}{:>8}{:>8.1}{:>11}{time:>11}  {}",
            release.loss,
            release.groups,
            release.average_group_size,
            release.suppressed_rows,
            release.quality
        )
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&Comparison::head(&self.policy, self.rows, self.metric))?;
        self.models.iter().try_for_each(|model| write!(f, "{model}"))
    }
}
