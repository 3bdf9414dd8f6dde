//! Searches, frontiers, comparisons, profiles, findings: questions whose answers are plain data.

use std::path::{Path, PathBuf};

use incog::unstable::checker::{Claims, Distance, Fraction, Likeness, SensitiveClaim};
use incog::unstable::cli::{read_release, report_to_json};
use incog::{Error, Init, Key, Listing, PublicKey, Result, Verification, Verifier};
use pyo3::prelude::*;
use serde::Deserialize;

use crate::failure::raised;
use crate::frame::{Frame, NotANumber};
use crate::job::{Question, toml_of};
use crate::run::run;

/// Every generalization that satisfies the policy: JSON and text. All are listed, or the minimal ones.
#[pyfunction]
pub(crate) fn search(
    py: Python<'_>,
    question: &Bound<'_, PyAny>,
    all: bool,
    callback: Option<&Bound<'_, PyAny>>,
) -> PyResult<(String, String)> {
    let question = Question::new(question)?;
    let listing = if all { Listing::All } else { Listing::Minimal };
    run(py, callback, move |progress| {
        let report = question.anonymizer(progress)?.search_listing(listing)?;
        Ok((report.to_json(), report.to_string()))
    })
}

/// What each k costs: JSON, text and a chart.
#[pyfunction]
pub(crate) fn frontier(
    py: Python<'_>,
    question: &Bound<'_, PyAny>,
    least: u64,
    most: u64,
    callback: Option<&Bound<'_, PyAny>>,
) -> PyResult<(String, String, String)> {
    let question = Question::new(question)?;
    run(py, callback, move |progress| {
        let report = question.anonymizer(progress)?.frontier(least..=most)?;
        Ok((report.to_json(), report.to_string(), report.to_svg()))
    })
}

/// Recoding models side by side: JSON, text and a chart. All that there are, unless some are named.
#[pyfunction]
pub(crate) fn compare(
    py: Python<'_>,
    question: &Bound<'_, PyAny>,
    models: Option<Vec<String>>,
    callback: Option<&Bound<'_, PyAny>>,
) -> PyResult<(String, String, String)> {
    let question = Question::new(question)?;
    run(py, callback, move |progress| {
        let anonymizer = question.anonymizer(progress)?;
        let report = match models {
            None => anonymizer.compare()?,
            Some(models) => {
                let models: Vec<&str> = models.iter().map(String::as_str).collect();
                anonymizer.compare_models(&models)?
            }
        };
        Ok((report.to_json(), report.to_string(), report.to_svg()))
    })
}

/// What is claimed of a release, as Python says it.
#[derive(Deserialize)]
struct Claimed {
    quasi_identifiers: Vec<String>,
    k: u64,
    combinations: Option<usize>,
    sensitive: Vec<ClaimedColumn>,
}

#[derive(Deserialize)]
struct ClaimedColumn {
    column: String,
    alpha: Option<String>,
    values: Option<Vec<String>>,
    distinct_l: Option<u64>,
    entropy_l: Option<String>,
    recursive: Option<(String, u64)>,
    t: Option<String>,
    #[serde(default)]
    ordered: bool,
    order: Option<Vec<String>>,
    delta: Option<String>,
    beta: Option<String>,
    #[serde(default)]
    basic: bool,
}

impl Claimed {
    fn parse(json: &str) -> Result<Claims<'static>> {
        let claimed: Claimed = serde_json::from_str(json)
            .map_err(|_| Error::input("the claims are not what incog.verify writes"))?;
        if claimed.k == 0 {
            return Err(Error::input("k is 0").with_hint("common choices are 3, 5, 11 and 20"));
        }
        match claimed.combinations {
            Some(0) => {
                return Err(Error::input("combinations is 0")
                    .with_hint("give how many quasi-identifiers are looked at together, such as 3"));
            }
            Some(most) if most > claimed.quasi_identifiers.len() => {
                let n_columns = claimed.quasi_identifiers.len();
                return Err(Error::input(format!(
                    "combinations is {most}, and there are {n_columns} quasi-identifiers"
                ))
                .with_hint("leave it out to check all of them together"));
            }
            _ => {}
        }
        Ok(Claims {
            quasi_identifiers: claimed.quasi_identifiers,
            k: claimed.k,
            combinations: claimed.combinations,
            columns: None,
            sensitive: claimed.sensitive.into_iter().map(ClaimedColumn::claim).collect::<Result<_>>()?,
            source: None,
        })
    }
}

impl ClaimedColumn {
    fn claim(self) -> Result<SensitiveClaim> {
        let number = |what: &str, text: Option<String>| -> Result<Option<Fraction>> {
            let exact = |text: String| {
                text.parse::<Fraction>().map_err(|problem| Error::input(format!("{what} is {problem}")))
            };
            text.map(exact).transpose()
        };
        let likeness = if self.basic { Likeness::Basic } else { Likeness::Enhanced };
        let alpha = number("alpha", self.alpha)?;
        let recursive = match self.recursive {
            Some((c, l)) => number("c", Some(c))?.map(|c| (c, l)),
            None => None,
        };
        Ok(SensitiveClaim {
            column: self.column,
            alpha: alpha.filter(|_| self.values.is_none()),
            pooled_alpha: alpha.zip(self.values),
            distinct_l: self.distinct_l,
            entropy_l: number("entropy_l", self.entropy_l)?,
            recursive,
            t: number("t", self.t)?,
            ordered: self.ordered && self.order.is_none(),
            distance: self.order.map(Distance::Order),
            delta: number("delta", self.delta)?,
            beta: number("beta", self.beta)?.map(|beta| (beta, likeness)),
            ..SensitiveClaim::default()
        })
    }
}

/// What the checker found, as JSON; what came of it, as JSON and as text.
type Found = (String, String, String);

fn found(examined: &Verification) -> Found {
    (report_to_json(&examined.report), examined.to_json(), examined.to_string())
}

/// What the independent checker finds in a release that is in memory, against claims or against data and a job.
#[pyfunction]
pub(crate) fn check(
    py: Python<'_>,
    frame: &Bound<'_, PyAny>,
    nan_is_missing: bool,
    claims: Option<String>,
    against: Option<&Bound<'_, PyAny>>,
    local: bool,
    callback: Option<&Bound<'_, PyAny>>,
) -> PyResult<Found> {
    let not_a_number = if nan_is_missing { NotANumber::Missing } else { NotANumber::Refuse };
    let frame = Frame::new(frame, not_a_number)?;
    let against = against.map(Question::new).transpose()?;
    run(py, callback, move |progress| {
        let mut verifier = Verifier::of_table(frame.input(progress)?);
        if let Some(claims) = claims {
            verifier = verifier.claims(Claimed::parse(&claims)?);
        }
        if let Some(against) = against {
            verifier = verifier.against(against.anonymizer(progress)?);
        }
        if local {
            verifier = verifier.local();
        }
        Ok(found(&verifier.examine()?))
    })
}

/// The same of a file, or of the folder of a database; also against its record.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "Python says them by name, in one place")]
pub(crate) fn check_file(
    py: Python<'_>,
    path: PathBuf,
    claims: Option<String>,
    against: Option<&Bound<'_, PyAny>>,
    job: Option<PathBuf>,
    record: Option<PathBuf>,
    key: Option<PathBuf>,
    publisher: Option<PathBuf>,
    local: bool,
    callback: Option<&Bound<'_, PyAny>>,
) -> PyResult<Found> {
    let against = against.map(Question::new).transpose()?;
    run(py, callback, move |progress| {
        let mut verifier = Verifier::new(&path);
        if let Some(claims) = claims {
            // A file that is not there is told before claims about it.
            drop(read_release(&path, None)?);
            verifier = verifier.claims(Claimed::parse(&claims)?);
        }
        if let Some(against) = against {
            verifier = verifier.against(against.anonymizer(progress)?);
        }
        if let Some(job) = job {
            let job = incog::AnyJob::read(&job)?;
            verifier = verifier.against(incog::Anonymizer::from_job(job).progress(progress));
        }
        if let Some(record) = record {
            verifier = verifier.record(record);
        }
        if let Some(key) = key {
            verifier = verifier.key(Key::read(&key)?);
        }
        if let Some(publisher) = publisher {
            verifier = verifier.publisher(PublicKey::read(&publisher)?);
        }
        if local {
            verifier = verifier.local();
        }
        Ok(found(&verifier.examine()?))
    })
}

/// What is in a frame that nobody described, and what is proposed: JSON, text, and a job.
#[pyfunction]
pub(crate) fn describe(
    py: Python<'_>,
    frame: &Bound<'_, PyAny>,
    nan_is_missing: bool,
    k: u64,
    callback: Option<&Bound<'_, PyAny>>,
) -> PyResult<(String, String, String)> {
    let not_a_number = if nan_is_missing { NotANumber::Missing } else { NotANumber::Refuse };
    let frame = Frame::new(frame, not_a_number)?;
    run(py, callback, move |progress| {
        told(&Init::of_table(frame.input(progress)?, progress)?, Path::new("incog.toml"), k)
    })
}

/// The same of a file.
#[pyfunction]
pub(crate) fn propose(
    py: Python<'_>,
    path: PathBuf,
    k: u64,
    callback: Option<&Bound<'_, PyAny>>,
) -> PyResult<(String, String, String)> {
    run(py, callback, move |progress| {
        let init = Init::new(&path, None, incog::FirstLine::Unknown, progress)?;
        told(&init, Path::new("incog.toml"), k)
    })
}

fn told(init: &Init, job: &Path, k: u64) -> Result<(String, String, String)> {
    Ok((init.to_json(), init.to_string(), init.to_toml(job, k)?))
}

/// The job file that says the same as JSON.
#[pyfunction]
pub(crate) fn to_toml(py: Python<'_>, job: &str) -> PyResult<String> {
    toml_of(job).map_err(|error| raised(py, &error))
}

/// The names of all models, metrics and algorithms.
#[pyfunction]
pub(crate) fn names() -> Vec<(&'static str, &'static str)> {
    use incog::unstable::engine::{algorithm, metric, privacy};
    let models = privacy::ALL.iter().map(|entry| ("model", entry.name));
    let metrics = metric::ALL.iter().map(|entry| ("metric", entry.name));
    let algorithms = algorithm::ALL.iter().map(|entry| ("algorithm", entry.name));
    models.chain(metrics).chain(algorithms).collect()
}

/// What one of them promises.
#[pyfunction]
pub(crate) fn explain(py: Python<'_>, name: &str) -> PyResult<String> {
    use incog::unstable::engine::{algorithm, metric, privacy};
    let known = (privacy::ALL.iter().map(|entry| (entry.name, entry.doc)))
        .chain(metric::ALL.iter().map(|entry| (entry.name, entry.doc)))
        .chain(algorithm::ALL.iter().map(|entry| (entry.name, entry.doc)));
    let found = known.into_iter().find(|(known, _)| *known == name);
    found.map(|(_, docs)| docs.to_owned()).ok_or_else(|| {
        let unknown = Error::input("there is no model, metric or algorithm of this name");
        raised(py, &unknown.with_hint("incog.names() lists them"))
    })
}
