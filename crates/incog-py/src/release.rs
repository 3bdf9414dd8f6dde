//! A verified release that Python holds.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use incog::unstable::cli::{render_report, report_to_json};
use incog::{Anonymizer, Error, Progress, ReleaseRecoding, ReleaseReport, Result};
use pyo3::prelude::*;

use crate::failure::raised;
use crate::frame::{Frame, NotANumber, Stream};
use crate::job::{Question, placed};
use crate::run::{run, run_outside};

/// A release, verified.
#[pyclass(frozen)]
pub(crate) struct Release {
    release: Arc<Mutex<incog::Release>>,
    /// What there is to say of it, which is said at once, also while somebody is at work on the rows.
    said: ReleaseReport,
    n_rows: usize,
    /// How long the engine took, from record batches to the verified release.
    #[pyo3(get)]
    seconds: f64,
}

impl Release {
    /// Makes a release, and takes the time.
    fn made(make: impl FnOnce() -> Result<incog::Release>) -> Result<Self> {
        let start = Instant::now();
        let release = make()?;
        let seconds = start.elapsed().as_secs_f64();
        let (said, n_rows) = (release.report().clone(), release.n_rows());
        Ok(Release { release: Arc::new(Mutex::new(release)), said, n_rows, seconds })
    }

    /// Asks for something that takes all rows, with the interpreter free meanwhile.
    fn ask<T: Send + 'static>(
        &self,
        py: Python<'_>,
        what: impl FnOnce(&incog::Release) -> Result<T> + Send + 'static,
    ) -> PyResult<T> {
        let release = Arc::clone(&self.release);
        run_outside(py, None, move |progress, pool| {
            let mut release = release.lock().unwrap_or_else(PoisonError::into_inner);
            // Whoever waited for it may have gone.
            progress.check()?;
            release.set_progress(progress);
            let release = &mut *release;
            pool.install(|| what(release))
        })
    }
}

#[pymethods]
impl Release {
    /// The rows.
    fn stream(&self, py: Python<'_>) -> PyResult<Stream> {
        self.ask(py, |release| Ok(Stream::new(release.to_record_batches()?)))
    }

    /// The rows of each table of a database, with its name; the persons first.
    fn streams(&self, py: Python<'_>) -> PyResult<Vec<(String, Stream)>> {
        self.ask(py, |release| {
            let tables = release.tables();
            let stream = |table: &incog::ReleasedTable<'_>| {
                Ok((table.name().to_owned(), Stream::new(table.to_record_batches()?)))
            };
            tables.iter().map(stream).collect()
        })
    }

    /// What there is to say of it, as JSON and as text.
    fn report(&self) -> (String, String) {
        (self.said.to_json(), self.said.to_string())
    }

    /// What else there is to say, a line each.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.said.notes.clone()
    }

    /// Rows that were left out.
    #[getter]
    fn suppressed_rows(&self) -> u64 {
        self.said.suppressed_rows
    }

    /// What the checker found, as JSON and as text.
    fn findings(&self) -> (String, String) {
        findings(&self.said)
    }

    /// What everybody can recompute, as JSON.
    fn record(&self, py: Python<'_>) -> PyResult<String> {
        self.ask(py, |release| Ok(release.record()?.to_json()))
    }

    /// Writes it with its record, and tells where that is.
    fn write(&self, py: Python<'_>, path: PathBuf) -> PyResult<Option<PathBuf>> {
        self.ask(py, move |release| release.write(path))
    }

    /// What was done, to be done to other rows.
    fn recoding(&self, py: Python<'_>) -> PyResult<Recoding> {
        self.ask(py, |release| Ok(Recoding { recoding: release.recoding()? }))
    }

    fn __len__(&self) -> usize {
        self.n_rows
    }
}

/// What the checker found, as JSON and as text.
fn findings(report: &ReleaseReport) -> (String, String) {
    (report_to_json(&report.checked), render_report(&report.checked))
}

/// The best release of a question, verified.
#[pyfunction]
pub(crate) fn anonymize(
    py: Python<'_>,
    question: &Bound<'_, PyAny>,
    callback: Option<&Bound<'_, PyAny>>,
) -> PyResult<Release> {
    let question = Question::new(question)?;
    run(py, callback, move |progress| Release::made(|| question.anonymizer(progress)?.anonymize()))
}

/// The levels of a release, to be done to other rows.
#[pyclass(frozen)]
pub(crate) struct Recoding {
    recoding: ReleaseRecoding,
}

#[pymethods]
impl Recoding {
    /// The job that it was made by, as TOML.
    fn job(&self, py: Python<'_>) -> PyResult<String> {
        self.recoding.to_job().map_err(|error| raised(py, &error))
    }

    /// The level of each quasi-identifier.
    fn levels(&self) -> BTreeMap<String, u8> {
        self.recoding.levels().clone()
    }

    /// Does the same to the rows of a frame, suppressed and verified anew.
    fn apply(
        &self,
        py: Python<'_>,
        frame: &Bound<'_, PyAny>,
        nan_is_missing: bool,
        callback: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Release> {
        let not_a_number = if nan_is_missing { NotANumber::Missing } else { NotANumber::Refuse };
        let (frame, recoding) = (Frame::new(frame, not_a_number)?, self.recoding.clone());
        run(py, callback, move |progress| Release::made(|| recoding.apply(frame.input(progress)?, progress)))
    }
}

/// The recoding that a job and levels say.
#[pyfunction]
pub(crate) fn recoding_of(py: Python<'_>, job: &str, levels: BTreeMap<String, u8>) -> PyResult<Recoding> {
    let recoding = ReleaseRecoding::of_job(job, levels).map_err(|error| raised(py, &error))?;
    Ok(Recoding { recoding })
}

/// A release that was written.
#[pyclass(frozen, get_all)]
pub(crate) struct Published {
    path: PathBuf,
    record: Option<PathBuf>,
    report: String,
    text: String,
    /// The same text, with the files that were written.
    summary: String,
    findings: (String, String),
}

impl Published {
    fn new(published: &incog::Published) -> Self {
        Published {
            path: published.path.clone(),
            record: published.record.clone(),
            report: published.report.to_json(),
            text: published.report.to_string(),
            summary: published.to_string(),
            findings: findings(&published.report),
        }
    }
}

/// Does what a job file says, with what a few calls change, as `incog anonymize` does.
#[pyfunction]
pub(crate) fn publish(
    py: Python<'_>,
    path: PathBuf,
    output: Option<PathBuf>,
    k: Option<u64>,
    callback: Option<&Bound<'_, PyAny>>,
) -> PyResult<Published> {
    run(py, callback, move |progress| {
        let mut job = incog::AnyJob::read(&path)?;
        if let Some(output) = output {
            let here =
                std::path::absolute(&output).map_err(|_| Error::input("there is no current folder"))?;
            job.set_output(here);
        }
        let mut anonymizer = Anonymizer::from_job(job).progress(progress);
        if let Some(k) = k {
            anonymizer = anonymizer.k(k);
        }
        Ok(Published::new(&anonymizer.publish()?))
    })
}

/// The release of a database whose tables are frames or files. Relative paths of the job start in the folder.
#[pyfunction]
pub(crate) fn database(
    py: Python<'_>,
    job: String,
    folder: Option<PathBuf>,
    frames: Vec<(String, Bound<'_, PyAny>)>,
    nan_is_missing: bool,
    callback: Option<&Bound<'_, PyAny>>,
) -> PyResult<Release> {
    let not_a_number = if nan_is_missing { NotANumber::Missing } else { NotANumber::Refuse };
    let frames = frames.into_iter().map(|(name, frame)| Ok((name, Frame::new(&frame, not_a_number)?)));
    let frames: Vec<(String, Frame)> = frames.collect::<PyResult<_>>()?;
    run(py, callback, move |progress: &Arc<Progress>| {
        Release::made(|| {
            let mut anonymizer = Anonymizer::from_job(placed(&job, folder)?).progress(progress);
            for (name, frame) in frames {
                anonymizer = anonymizer.table_data(&name, frame.input(progress)?);
            }
            anonymizer.anonymize()
        })
    })
}
