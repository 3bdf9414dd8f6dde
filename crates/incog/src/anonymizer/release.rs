//! A verified release in memory.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use incog_core::table::label;
use incog_core::{Error, ErrorKind, Progress, Result};
use incog_verify::Labels;

use crate::anonymizer::beside::Beside;
use crate::anonymizer::recoding::{ReleaseRecoding, is_local};
use crate::claim::release::VerifiedRelease;
use crate::claim::release::released;
use crate::file::STANDARD;
use crate::job::{Output, OutputOrder};
use crate::plan::Plan;
use crate::publish::places::{Places, key_of};
use crate::publish::record::Record;
use crate::publish::sink::{self, Part, Unfinished};
use crate::publish::{publish, record_of};
use crate::report::release::ReleaseReport;

/// A release that the independent checker has found to keep all its promises, in the order in which its rows are released.
///
/// It holds the labels that would be written, never an identifier, and can be [written](Self::write) or taken as columns.
///
/// ```
/// # use incog::{Anonymizer, Hierarchy};
/// # let table = [("zip", vec!["53715", "53715", "53703", "53706"]), ("ill", vec!["flu", "cold", "flu", "none"])];
/// # let anonymizer = Anonymizer::new(table).quasi_identifier("zip", Hierarchy::mask_right()).sensitive("ill").k(2);
/// let release = anonymizer.anonymize()?;
/// assert_eq!(release.header(), ["zip", "ill"]);
/// assert_eq!((release.n_rows(), release.report().suppressed_rows), (4, 0));
/// # Ok::<(), incog::Error>(())
/// ```
pub struct Release {
    plan: Plan,
    made: VerifiedRelease,
    report: ReleaseReport,
    progress: Arc<Progress>,
}

impl std::fmt::Debug for Release {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Release").field("n_rows", &self.n_rows()).finish_non_exhaustive()
    }
}

impl Release {
    pub(super) fn new(
        plan: Plan,
        made: VerifiedRelease,
        beside: &Beside,
        progress: Arc<Progress>,
    ) -> Result<Self> {
        let report = ReleaseReport::new(&plan, &made, beside.notes(&plan, &made))?;
        Ok(Release { plan, made, report, progress })
    }

    /// From now on this is told how far writing is, and can cancel it.
    pub fn set_progress(&mut self, progress: &Arc<Progress>) {
        self.progress = Arc::clone(progress);
    }

    fn labels(&self) -> &dyn Labels {
        &**self.made.verified.release()
    }

    /// How many rows are released.
    pub fn n_rows(&self) -> usize {
        self.labels().n_rows()
    }

    /// The released columns' names, in the order of the table.
    pub fn header(&self) -> Vec<&str> {
        self.labels().header()
    }

    /// The released cells of a column as text, row by row; the missing value is `None`. Nothing if no such column is released.
    pub fn column(&self, name: &str) -> Option<Vec<Option<&str>>> {
        let at = self.header().iter().position(|&other| other == name)?;
        let column = self.labels().column(at);
        let cell = |&code: &u32| label::text_of(column.labels[code as usize]);
        Some(column.codes.iter().map(cell).collect())
    }

    /// What there is to say of it: levels, loss, suppressed rows, what the checker found.
    pub fn report(&self) -> &ReleaseReport {
        &self.report
    }

    /// What was done, to be done to other rows. Fails where recoding is not by whole columns.
    pub fn recoding(&self) -> Result<ReleaseRecoding> {
        if self.report.local.is_some() {
            return Err(is_local());
        }
        Ok(ReleaseRecoding::new(&self.plan, &self.report.levels))
    }

    /// What everybody can recompute. The digest is that of the release as comma-separated text, which is what [`write`](Self::write)
    /// makes of a `.csv`. Digests that take the publisher's key are left empty where there is none yet.
    pub fn record(&self) -> Result<Record> {
        let key = key_of(&self.plan.job)?;
        self.plan.in_memory("what it would be as a file is not known before it is written")?;
        let released = released(&self.plan, &self.made.as_collected);
        let layout = sink::Layout::new(sink::Form::CSV, &self.plan.format, &self.plan.table, &released);
        let text = Unfinished::nowhere();
        let text = sink::write(
            &self.made.verified,
            Part::FIRST,
            text,
            &layout,
            OutputOrder::Input,
            None,
            &self.progress,
        )?;
        record_of(&self.plan, &self.made, Some(text.finish()?.sha256()), None, key.as_ref())
    }

    /// Writes the release, in the format that the file's name says, and its record beside it: both appear whole, or neither does.
    /// Tells where the record is.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<Option<PathBuf>> {
        let mut output = self.plan.job.output.clone().unwrap_or_default();
        output.path = Some(from_here(path.as_ref())?);
        self.publish(&output)
    }

    fn publish(&self, output: &Output) -> Result<Option<PathBuf>> {
        let places = Places::new(&self.plan, output)?;
        sink::Layout::check(places.form.format, &self.plan.table)?;
        // The rows were shuffled once, if they were to be.
        let order = if self.plan.spilled.is_some() { output.order } else { OutputOrder::Input };
        publish(&self.plan, &self.made, &places, order, &self.progress)?;
        Ok(places.record)
    }

    /// The release as Arrow record batches. Columns that are not generalized have the types that they came with; all others are text. What
    /// came as a dictionary of text is one again, with the labels of released rows alone.
    #[cfg(feature = "parquet")]
    pub fn to_record_batches(&self) -> Result<Vec<incog_parquet::RecordBatch>> {
        sink::to_record_batches(
            &self.made.verified,
            &self.plan.format,
            &self.plan.table,
            &released(&self.plan, &self.made.as_collected),
        )
    }
}

/// A path that a program gives starts in the current folder.
fn from_here(path: &Path) -> Result<PathBuf> {
    if path.as_os_str() == STANDARD || path.is_absolute() {
        return Ok(path.to_owned());
    }
    let is_folder = path.to_string_lossy().ends_with(std::path::MAIN_SEPARATOR);
    let absolute = std::path::absolute(path)
        .map_err(|error| Error::new(ErrorKind::Io, format!("cannot find `{}`: {error}", path.display())))?;
    Ok(if is_folder { absolute.join("") } else { absolute })
}
