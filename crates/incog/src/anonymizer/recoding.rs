//! What was done to a table, to be done to other rows.

use std::collections::BTreeMap;
use std::sync::Arc;

use incog_core::{Error, ErrorKind, Progress, Result};

use crate::anonymizer::{Anonymizer, Release};
use crate::job::AnyJob;
use crate::plan::Plan;
use crate::source::Input;

/// The levels of a release, and what it had to satisfy: the same is done to other rows of the same columns, which are suppressed where
/// they must be and verified anew.
///
/// ```
/// use incog::{Anonymizer, Hierarchy};
///
/// # fn main() -> incog::Result<()> {
/// let release = Anonymizer::new([("zip", vec!["53715", "53715", "53703", "53706"])])
///     .quasi_identifier("zip", Hierarchy::mask_right())
///     .k(2)
///     .anonymize()?;
/// let recoding = release.recoding()?;
/// let next = recoding.apply([("zip", vec!["53711", "53712"])], &Default::default())?;
/// assert_eq!(next.column("zip").unwrap(), [Some("5371*"), Some("5371*")]);
/// assert!(recoding.apply([("zip", vec!["53711", "60601"])], &Default::default()).is_err(), "both stand alone");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct ReleaseRecoding {
    job: AnyJob,
    levels: BTreeMap<String, u8>,
}

impl ReleaseRecoding {
    /// That of a plan's release at these levels, as hierarchies number them.
    pub(super) fn new(plan: &Plan, levels: &[(String, u8, u8)]) -> Self {
        let mut job = plan.job.clone();
        for attribute in plan.attributes.iter() {
            let said = job.columns.get_mut(attribute.name());
            // Other rows may have longer values: level 2 of a mask is to mean the same.
            if let Some(hierarchy) = said.and_then(|column| column.hierarchy.as_mut())
                && hierarchy.mask.is_some()
                && hierarchy.length.is_none()
            {
                hierarchy.length = Some(attribute.full_height().into());
            }
        }
        let levels = levels.iter().map(|(name, level, _)| (name.clone(), *level)).collect();
        ReleaseRecoding { job: job.into(), levels }
    }

    /// The recoding that [`to_job`](Self::to_job) and [`levels`](Self::levels) told of.
    pub fn of_job(job: &str, levels: BTreeMap<String, u8>) -> Result<Self> {
        let job = AnyJob::parse_generated(job)?;
        if job.is_about_database() {
            return Err(Error::input(
                "the recoding of one table was announced, and the job is about a database",
            ));
        }
        Ok(ReleaseRecoding { job, levels })
    }

    /// The job that the release was made by, with the length of every mask.
    pub fn to_job(&self) -> Result<String> {
        self.job.to_toml()
    }

    /// The level of each quasi-identifier.
    pub fn levels(&self) -> &BTreeMap<String, u8> {
        &self.levels
    }

    /// Does the same to other rows.
    pub fn apply(&self, rows: impl Into<Input>, progress: &Arc<Progress>) -> Result<Release> {
        let mut anonymizer = Anonymizer::from_job(self.job.clone()).data(rows).progress(progress);
        let quasi = match &anonymizer.job {
            AnyJob::Table(job) => job.quasi_identifiers(),
            AnyJob::Database(_) => Vec::new(),
        };
        if quasi.len() != self.levels.len() || !quasi.iter().all(|name| self.levels.contains_key(name)) {
            return Err(Error::input("the recoding has levels of other columns than its job")
                .with_hint("use the job and the levels of one release"));
        }
        anonymizer.levels = Some(self.levels.clone());
        anonymizer.anonymize()
    }
}

/// Why a release has no levels that other rows could have.
pub(super) fn is_local() -> Error {
    Error::new(ErrorKind::Policy, "the release is recoded row by row: what was done belongs to its rows")
        .with_hint("run the same search on the other rows, or use full-domain recoding")
}
