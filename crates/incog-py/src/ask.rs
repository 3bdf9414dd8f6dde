//! Searches, frontiers, comparisons, profiles, findings: questions whose answers are plain data.

use std::path::{Path, PathBuf};

use incog::unstable::checker::{Claims, Distance, Fraction, Likeness, SensitiveClaim};
use incog::unstable::cli::{read_release, report_to_json};
use incog::unstable::engine::registry::nearest;
use incog::unstable::job::{Input as Written, Paths};
use incog::{Error, FirstLine, Init, Key, Listing, Preset, PublicKey, Result, Verification, Verifier};
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

/// What is in a table that nobody described, and what is proposed for it.
#[pyclass(frozen)]
pub(crate) struct Described {
    init: Init,
}

#[pymethods]
impl Described {
    /// As JSON and as text.
    fn said(&self) -> (String, String) {
        (self.init.to_json(), self.init.to_string())
    }

    /// The job that is proposed; without a k, with the one that `incog init` would ask for.
    fn job(&self, py: Python<'_>, k: Option<u64>) -> PyResult<String> {
        let k = k.unwrap_or_else(|| self.init.preset.map_or(5, |preset| preset.least_k().max(5)));
        self.init.to_toml(Path::new("incog.toml"), k).map_err(|error| raised(py, &error))
    }
}

/// Describes a frame, and follows a policy that others have written down, if it is named.
#[pyfunction]
pub(crate) fn describe(
    py: Python<'_>,
    frame: &Bound<'_, PyAny>,
    nan_is_missing: bool,
    preset: Option<String>,
    callback: Option<&Bound<'_, PyAny>>,
) -> PyResult<Described> {
    let not_a_number = if nan_is_missing { NotANumber::Missing } else { NotANumber::Refuse };
    let frame = Frame::new(frame, not_a_number)?;
    run(py, callback, move |progress| {
        let preset = preset.as_deref().map(preset_of).transpose()?;
        Ok(described(Init::of_table(frame.input(progress)?, progress)?, preset))
    })
}

/// The same of a file, which is written as `input` says with the keys of a job file.
#[pyfunction]
pub(crate) fn propose(
    py: Python<'_>,
    path: PathBuf,
    input: &str,
    preset: Option<String>,
    callback: Option<&Bound<'_, PyAny>>,
) -> PyResult<Described> {
    let input = input.to_owned();
    run(py, callback, move |progress| {
        let preset = preset.as_deref().map(preset_of).transpose()?;
        let table = toml_of(&input)?.parse::<toml::Table>();
        let table = table.map_err(|_| Error::input("`input` is not what a job file can say"))?;
        // Who says that there is a header says that its names may be shown.
        let has_header = table.get("header").and_then(toml::Value::as_bool) == Some(true);
        let first_line = if has_header { FirstLine::Names } else { FirstLine::Unknown };
        let mut written = Written { path: Paths::One(path), ..Written::default() };
        for (key, value) in &table {
            written = written.with(&format!("{key}={value}"))?;
        }
        Ok(described(Init::of_input(&written, first_line, progress)?, preset))
    })
}

fn described(init: Init, preset: Option<Preset>) -> Described {
    Described {
        init: match preset {
            Some(preset) => init.with_preset(preset),
            None => init,
        },
    }
}

fn preset_of(name: &str) -> Result<Preset> {
    Preset::named(name).ok_or_else(|| {
        let names = Preset::ALL.map(Preset::name);
        let near = nearest(names, name).map_or(String::new(), |near| format!("; did you mean `{near}`?"));
        Error::input(format!("unknown preset `{name}`{near}"))
            .with_hint(format!("there are: {}", names.join(", ")))
    })
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
