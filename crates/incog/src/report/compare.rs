//! `incog compare`: what does flexibility buy? Several recoding models on the same table and policy, side by side.
//!
//! Each model's release is made and verified like one that would be written, and then only measured. Loss is measured by
//! hierarchies, but by the width of intervals where `ordered-set` or `mondrian` go by an order. Section 5 of the
//! Incognito paper orders the models: the fewer cells a decision is about, the less has to be given up, and the harder the
//! release is to analyse.

use std::fmt::{self, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use incog_core::algorithm::{self, Family, Quality};
use incog_core::metric::{self, Costs, Statistics};
use incog_core::registry;
use incog_core::{Error, ErrorKind, Progress, Result};
use serde::Serialize;

use crate::claim::release::{RowOrder, VerifiedRelease, verified};
use crate::find::{self, Outcome};
use crate::job::settings;
use crate::job::{Job, MondrianCuts};
use crate::plan::route::{AlgorithmChoice, unknown};
use crate::plan::{Plan, Route};
use crate::publish::sink::Unfinished;
use crate::report::release_text::percent_at_most;

/// What stands for the best full-domain generalization.
pub const FULL_DOMAIN: &str = "full-domain";

/// What stands for `mondrian` with relaxed cuts, whatever the job says of them.
pub const RELAXED: &str = "mondrian-relaxed";

/// The models that are compared unless the user names some.
pub const MODELS: [&str; 13] = [
    FULL_DOMAIN,
    "attribute-suppression",
    "datafly",
    "full-subtree",
    "unrestricted",
    "ordered-set",
    "full-subgraph",
    "unrestricted-multi",
    "mondrian",
    RELAXED,
    "cell-suppression",
    "cell-generalization",
    "top-down",
];

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
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Comparison {
    /// What every release satisfies.
    pub policy: String,
    /// What the models aim at.
    pub metric: &'static str,
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
#[derive(Debug, Clone, Serialize)]
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
#[derive(Debug, Clone, Serialize)]
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
pub(crate) fn compare(plan: &Plan, job: &Job, models: &[String], progress: &Progress) -> Result<Comparison> {
    plan.in_memory("models are compared in memory")?;
    // A name that is none should not cost the time of those before it.
    models.iter().try_for_each(|name| check_name(job, name))?;
    let mut compared = Vec::new();
    for name in models {
        let start = Instant::now();
        let (release, obstacle) = match release_by(plan, job, name, progress) {
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
        compared.push(ComparedModel { model: name.clone(), release, obstacle });
    }
    Ok(Comparison {
        policy: plan.policy.describe(),
        metric: plan.names.metric,
        rows: plan.table.n_rows() as u64,
        models: compared,
    })
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
        Outcome::Nothing(obstacle) => Ok(Err(obstacle)),
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
            Quality::Within { gap, .. } => format!("at most {} from optimal", percent_at_most(gap)),
            Quality::Heuristic => "heuristic".to_owned(),
        },
    })
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{}, {} rows, best by {}; every release is verified\n",
            self.policy, self.rows, self.metric
        )?;
        let width = self.models.iter().map(|model| model.model.len()).max().unwrap_or(0).max(5);
        writeln!(
            f,
            "{:<width$}  {:>8}  {:>10}  {:>14}  {:>10}  {:>10}  {:>8}  {:>10}  found",
            "model", "loss", "distortion", "discernibility", "group size", "suppressed", "groups", "time"
        )?;
        for ComparedModel { model, release, obstacle } in &self.models {
            match (release, obstacle) {
                (Some(release), _) => writeln!(
                    f,
                    "{model:<width$}  {:>8.4}  {:>10.4}  {:>14.0}  {:>10.1}  {:>10}  {:>8}  {:>7.0} ms  {}",
                    release.loss,
                    release.distortion,
                    release.discernibility,
                    release.average_group_size,
                    release.suppressed_rows,
                    release.groups,
                    release.milliseconds,
                    release.quality
                )?,
                (None, obstacle) => {
                    writeln!(f, "{model:<width$}  {}", obstacle.as_deref().unwrap_or("no release"))?;
                }
            }
        }
        Ok(())
    }
}

impl Comparison {
    /// As one JSON object.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("a comparison is plain data")
    }

    /// Writes the chart, whole or not at all.
    pub fn write_chart(&self, path: &Path) -> Result<()> {
        let mut file = Unfinished::create(path)?;
        file.put(self.to_svg().as_bytes())?;
        file.finish()?.appear()
    }

    /// A chart of the losses, one bar a model.
    pub fn to_svg(&self) -> String {
        const ROW: f64 = 26.0;
        const LEFT: f64 = 190.0;
        const BAR: f64 = 460.0;
        let height = ROW * self.models.len() as f64 + 56.0;
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {:.0} {height:.0}\" font-family=\"sans-serif\" \
             font-size=\"13\">\n<text x=\"10\" y=\"24\" font-size=\"15\">Loss by recoding model: {}</text>\n",
            LEFT + BAR + 160.0,
            escaped(&self.policy)
        );
        let losses =
            self.models.iter().filter_map(|model| model.release.as_ref()).map(|release| release.loss);
        let most = losses.fold(0.0_f64, f64::max).max(f64::MIN_POSITIVE);
        for (at, ComparedModel { model, release, .. }) in self.models.iter().enumerate() {
            let y = 42.0 + ROW * at as f64;
            let text = y + 14.0;
            let _ = writeln!(
                svg,
                "<text x=\"{:.0}\" y=\"{text:.0}\" text-anchor=\"end\">{}</text>",
                LEFT - 8.0,
                escaped(model)
            );
            let Some(release) = release else {
                let _ =
                    writeln!(svg, "<text x=\"{LEFT:.0}\" y=\"{text:.0}\" fill=\"#888\">no release</text>");
                continue;
            };
            let length = BAR * release.loss / most;
            let colour = if release.quality == "optimal" { "#1b6ca8" } else { "#8fb8d8" };
            let _ = writeln!(
                svg,
                "<rect x=\"{LEFT:.0}\" y=\"{y:.0}\" width=\"{length:.1}\" height=\"18\" fill=\"{colour}\"/>\
                 <text x=\"{:.1}\" y=\"{text:.0}\">{:.4}, {}</text>",
                LEFT + length + 6.0,
                release.loss,
                release.quality
            );
        }
        svg + "</svg>\n"
    }
}

/// Text inside XML.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
