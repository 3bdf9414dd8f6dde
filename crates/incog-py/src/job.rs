//! What does Python want done?
//!
//! A question names what it is about as a job file does. Python writes it as JSON with the same keys; here it becomes the text of a job
//! file, so that the same reader finds the same mistakes.

use std::path::PathBuf;
use std::sync::Arc;

use incog::{Anonymizer, AnyJob, Error, Progress, Result, RoleJob};
use pyo3::prelude::*;

use crate::frame::{Frame, NotANumber};

/// A job, and the frame that it is about, if that is in memory.
pub(crate) struct Question {
    job: String,
    rest: Option<String>,
    folder: Option<PathBuf>,
    frame: Option<Frame>,
}

impl Question {
    /// Takes everything from Python; nothing is read yet.
    pub(crate) fn new(asked: &Bound<'_, PyAny>) -> PyResult<Self> {
        let frame = asked.getattr("frame")?;
        let not_a_number = if asked.getattr("nan_is_missing")?.extract()? {
            NotANumber::Missing
        } else {
            NotANumber::Refuse
        };
        Ok(Question {
            job: asked.getattr("job")?.extract()?,
            rest: asked.getattr("rest")?.extract()?,
            folder: asked.getattr("folder")?.extract()?,
            frame: if frame.is_none() { None } else { Some(Frame::new(&frame, not_a_number)?) },
        })
    }

    /// The builder that answers it.
    pub(crate) fn anonymizer(self, progress: &Arc<Progress>) -> Result<Anonymizer> {
        let mut anonymizer = Anonymizer::from_job(placed(&self.job, self.folder)?).progress(progress);
        if let Some(role) = self.rest {
            anonymizer = anonymizer.rest(role_of(&role)?);
        }
        if let Some(frame) = self.frame {
            anonymizer = anonymizer.data(frame.input(progress)?);
        }
        Ok(anonymizer)
    }
}

/// The job that JSON says. Its relative paths start in the folder of a job file, if there is one, also where its data are frames.
pub(crate) fn placed(json: &str, folder: Option<PathBuf>) -> Result<AnyJob> {
    let mut job = AnyJob::parse_generated(&toml_of(json)?)?;
    if let Some(folder) = folder {
        let path = folder.join("incog.toml");
        match &mut job {
            AnyJob::Table(job) => job.path = path,
            AnyJob::Database(job) => job.path = path,
        }
    }
    Ok(job)
}

/// The text of a job file that says the same as JSON.
pub(crate) fn toml_of(json: &str) -> Result<String> {
    let unwritable = |_| Error::input("the job has a number or a name that no job file can have");
    let table: toml::Table = serde_json::from_str(json).map_err(|error| unwritable(error.to_string()))?;
    toml::to_string(&table).map_err(|error| unwritable(error.to_string()))
}

fn role_of(name: &str) -> Result<RoleJob> {
    match name {
        "identifier" => Ok(RoleJob::Identifier),
        "quasi-identifier" => Ok(RoleJob::QuasiIdentifier),
        "sensitive" => Ok(RoleJob::Sensitive),
        "other" => Ok(RoleJob::Other),
        _ => Err(Error::input("`rest` is none of identifier, quasi-identifier, sensitive, other")),
    }
}
