//! What only Incognito can answer: results for every subset of the columns, and how it came to them.

use std::sync::Arc;

use incog_core::Result;

use crate::anonymizer::{Anonymizer, for_one_table};
use crate::job::AnyJob;
use crate::plan::Asked;
use crate::report::subsets::{SubsetsReport, search_subsets};
use crate::report::trace::{TraceReport, trace};

impl Anonymizer {
    /// Finds the generalizations of every subset of at most `most` quasi-identifiers that satisfy the policy, judged by these columns
    /// alone; of every subset, if it is `None`. Incognito does, unless the job names another algorithm, which is refused.
    ///
    /// ```
    /// # use incog::{Anonymizer, Hierarchy};
    /// let table = [("sex", vec!["f", "f", "m", "m"]), ("town", vec!["a", "b", "a", "b"])];
    /// let found = Anonymizer::new(table)
    ///     .quasi_identifier("sex", Hierarchy::suppress())
    ///     .quasi_identifier("town", Hierarchy::suppress())
    ///     .k(2)
    ///     .search_subsets(None)?;
    /// let satisfying: Vec<u64> = found.subsets.iter().map(|subset| subset.satisfying).collect();
    /// assert_eq!(satisfying, [2, 2, 3], "each column as it is, but not both");
    /// # Ok::<(), incog::Error>(())
    /// ```
    pub fn search_subsets(self, most: Option<usize>) -> Result<SubsetsReport> {
        let anonymizer = self.by_incognito("subsets of the quasi-identifiers are searched")?;
        let progress = Arc::clone(&anonymizer.progress);
        search_subsets(&anonymizer.plan(Asked::EVERY)?, most, &progress)
    }

    /// How Incognito finds every generalization that satisfies the policy: candidates, checks, marks and survivors of each iteration, for
    /// lattices small enough to be read.
    pub fn trace(self) -> Result<TraceReport> {
        let anonymizer = self.by_incognito("the course of a search is told")?;
        let progress = Arc::clone(&anonymizer.progress);
        trace(&anonymizer.plan(Asked::EVERY)?, &progress)
    }

    /// The same with the algorithm `incognito`. Fails if the job names another one.
    fn by_incognito(mut self, what: &str) -> Result<Self> {
        const INCOGNITO: &str = "incognito";
        let AnyJob::Table(job) = &mut self.job else {
            return Err(for_one_table("a search of subsets"));
        };
        match job.search.algorithm.as_deref() {
            None => job.search.algorithm = Some(INCOGNITO.to_owned()),
            Some(INCOGNITO) => {}
            Some(_) => {
                return Err(job
                    .mistake(&["search", "algorithm"], format!("{what} by the algorithm `{INCOGNITO}` alone"))
                    .with_hint(format!("leave out `algorithm`, or set algorithm = \"{INCOGNITO}\"")));
            }
        }
        Ok(self)
    }
}
