//! What there is to say of a job before anything is searched.

use incog_core::Result;

use crate::anonymizer::Anonymizer;
use crate::database::DatabasePlan;
use crate::job::AnyJob;
use crate::plan::{Asked, hierarchies};
use crate::publish::places::Places;
use crate::publish::sink::Layout;

impl Anonymizer {
    /// Reads the data and checks everything that is said against them; nothing is searched or written.
    pub fn check(self) -> Result<()> {
        self.warnings().map(|_| ())
    }

    /// The same, with what there is to warn of, a line each. Where the job says where the release goes, that is checked, too.
    ///
    /// ```
    /// # use incog::{Anonymizer, Hierarchy};
    /// let table = [("town", vec!["Ulm", "Bonn", "Bonn"])];
    /// let warnings = Anonymizer::new(table).quasi_identifier("town", Hierarchy::frequent(1)).k(1).warnings()?;
    /// assert!(warnings[0].contains("depends on the data"));
    /// # Ok::<(), incog::Error>(())
    /// ```
    pub fn warnings(self) -> Result<Vec<String>> {
        if let AnyJob::Database(job) = &self.job {
            self.check_calls()?;
            return Ok(DatabasePlan::new(job, self.tables.clone(), &self.progress)?.notes);
        }
        let plan = self.plan(Asked::COUNTED)?;
        if let Some(output) = plan.job.output.as_ref().filter(|output| output.path.is_some()) {
            let places = Places::new(&plan, output)?;
            Layout::check(places.form.format, &plan.table)?;
        }
        let mut warnings = plan.notes.clone();
        warnings.extend(hierarchies::longer_values(&plan)?);
        warnings.extend(plan.attributes.iter().filter_map(|attribute| hierarchies::warning(attribute, None)));
        Ok(warnings)
    }
}

/// Warnings as one JSON object.
pub fn warnings_to_json(warnings: &[String]) -> String {
    serde_json::json!({ "warnings": warnings }).to_string()
}
