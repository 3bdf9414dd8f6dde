//! A recoding that was decided and not applied: for engines that have the rows.

use incog_core::algorithm::Quality;
use incog_core::hierarchy::Attributes;
use incog_core::metric::Statistics;
use incog_core::recoding::Recoding;

use crate::find::FoundRecoding;
use crate::plan::Plan;

/// The best recoding of a table, not applied yet.
///
/// Whoever has the rows generalizes each quasi-identifier to its level and leaves out the refused groups. That is a release, but no
/// verified one: have it checked.
///
/// ```
/// use incog::{Anonymizer, Hierarchy};
///
/// # fn main() -> incog::Result<()> {
/// let table = [("zip", vec!["53715", "53715", "53703"])];
/// let decided = Anonymizer::new(table)
///     .quasi_identifier("zip", Hierarchy::suppress())
///     .k(2)
///     .suppression("1")?
///     .decide()?;
/// assert_eq!(decided.levels(), Some(vec![("zip", 0)]));
/// assert_eq!(decided.refused_groups().collect::<Vec<_>>(), [(vec!["53703"], 1)]);
/// # Ok(())
/// # }
/// ```
pub struct Decided {
    attributes: Attributes,
    recoding: Recoding,
    statistics: Option<Statistics>,
    quality: Quality,
    score: Option<f64>,
    notes: Vec<String>,
}

/// Without labels, which may be cells.
impl std::fmt::Debug for Decided {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Decided").field("levels", &self.levels()).finish_non_exhaustive()
    }
}

impl Decided {
    pub(super) fn new(plan: Plan, found: FoundRecoding) -> Self {
        let FoundRecoding { recoding, statistics, costs, quality, notes, .. } = found;
        let score = statistics.as_ref().map(|statistics| plan.metric.score(&costs, statistics));
        Decided { attributes: plan.attributes, recoding, statistics, quality, score, notes }
    }

    /// The level of each quasi-identifier, as its hierarchy numbers them; nothing where recoding is not by whole columns.
    pub fn levels(&self) -> Option<Vec<(&str, u8)>> {
        let levels = match &self.recoding {
            Recoding::PerLevel(recoding) => recoding.levels(),
            _ => return None,
        };
        let named = self.attributes.iter().zip(levels);
        Some(named.map(|(attribute, &level)| (attribute.name(), attribute.level_number(level))).collect())
    }

    /// The groups that are to be left out: the label of each quasi-identifier, and how many rows have them all.
    pub fn refused_groups(&self) -> impl Iterator<Item = (Vec<&str>, u64)> {
        let of_levels = match &self.recoding {
            Recoding::PerLevel(recoding) => Some(recoding),
            _ => None,
        };
        of_levels.into_iter().flat_map(move |recoding| {
            let groups = recoding.suppressed();
            (0..groups.n_groups()).map(move |group| {
                let levels = recoding.levels().iter().enumerate();
                let labels = levels.map(|(at, &level)| {
                    self.attributes[at].hierarchy().labels(level).value(groups.label(group, at))
                });
                (labels.collect(), groups.measures().rows()[group])
            })
        })
    }

    /// How many rows are left out; nothing where recoding is not by whole columns.
    pub fn suppressed_rows(&self) -> Option<u64> {
        self.statistics.as_ref().map(|statistics| statistics.suppressed_rows)
    }

    /// Its score by the job's metric; nothing where recoding is not by whole columns.
    pub fn score(&self) -> Option<f64> {
        self.score
    }

    /// Whether there is no better one of its kind.
    pub fn quality(&self) -> Quality {
        self.quality
    }

    /// What else there is to say, a line each.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The recoding, as the engine crate has it.
    pub fn recoding(&self) -> &Recoding {
        &self.recoding
    }
}
