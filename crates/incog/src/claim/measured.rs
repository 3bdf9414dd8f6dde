//! What did a recoding that is not by whole columns cost?
//!
//! Measured from the released labels, so that `incog verify` finds the same from the file.

use std::fmt;

use incog_core::hierarchy::Attribute;
use incog_core::metric::{Distortion, LabelCounts, Statistics};
use incog_core::recoding::Domains;
use incog_core::words::percent;
use incog_verify::{LabelColumn, Labels, Report};

use crate::plan::Plan;
use crate::plan::level_name::level_name;

/// What a local release is measured by, from its labels.
#[derive(Debug, Clone)]
pub(crate) struct LocalRelease {
    pub(crate) statistics: Statistics,
    pub(crate) distortion: f64,
    pub(crate) columns: Vec<LocalColumn>,
}

/// One column of a local release.
///
/// ```
/// # use incog::{Anonymizer, Hierarchy};
/// # let table = [("zip", vec!["53715", "53715", "53703", "53706"]), ("ill", vec!["flu", "cold", "flu", "none"])];
/// # let anonymizer = Anonymizer::new(table).quasi_identifier("zip", Hierarchy::mask_right()).sensitive("ill").k(2);
/// let release = anonymizer.algorithm("top-down").anonymize()?;
/// let (columns, _) = release.report().local.as_ref().unwrap();
/// assert_eq!(columns[0].name, "zip");
/// # Ok::<(), incog::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct LocalColumn {
    /// Its name.
    pub name: String,
    /// The highest level there is; 1 where the column is recoded by its order: a value is as collected, or it is not.
    pub highest: u8,
    /// How many released rows stand at which level, ascending; levels without rows are left out.
    pub rows: Vec<(u8, u64)>,
    /// What those levels are, in words, one for each entry of `rows`.
    pub names: Vec<String>,
    /// How many different intervals there are, single values included, where the column is recoded by its order.
    pub intervals: Option<u64>,
    /// Its distortion ratio.
    pub distortion: f64,
}

impl fmt::Display for LocalColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let n_rows: u64 = self.rows.iter().map(|(_, rows)| rows).sum();
        write!(f, "{}:", self.name)?;
        for (at, (&(_, rows), name)) in self.rows.iter().zip(&self.names).enumerate() {
            write!(f, "{} {name} {}", if at == 0 { "" } else { ";" }, percent(rows, n_rows))?;
        }
        if self.rows.is_empty() {
            write!(f, " no rows")?;
        }
        match self.intervals {
            Some(n) => write!(f, " ({n} different, distortion {:.4})", self.distortion),
            None => write!(f, " (highest level {}, distortion {:.4})", self.highest, self.distortion),
        }
    }
}

impl LocalRelease {
    /// Measures a table of labels, which the checker has grouped. `None` if a label is in no hierarchy, or no interval of
    /// the domain.
    pub(crate) fn of(plan: &Plan, domains: &Domains, release: &dyn Labels, report: &Report) -> Option<Self> {
        let header = release.header();
        let columns: Vec<LabelColumn<'_>> = plan
            .attributes
            .iter()
            .map(|attribute| header.iter().position(|name| *name == attribute.name()))
            .map(|at| at.map(|at| release.column(at)))
            .collect::<Option<_>>()?;
        let count = |column: &LabelColumn<'_>| {
            let mut rows = vec![0_u64; column.labels.len()];
            column.codes.iter().for_each(|&code| rows[code as usize] += 1);
            rows
        };
        let counts: Vec<Vec<u64>> = columns.iter().map(count).collect();
        let with_labels = columns.iter().zip(&counts);
        let labels =
            with_labels.map(|(column, rows)| column.labels.iter().copied().zip(rows.iter().copied()));
        let cells = LabelCounts::of_labels(&plan.attributes, domains, labels)?;
        let n_rows = plan.table.n_rows() as u64;
        let sizes = report.group_sizes.iter().copied();
        let statistics = Statistics::of_cells(&cells, &plan.attributes, sizes, n_rows);
        let distortion = Distortion::of_cells(&cells, &plan.attributes, n_rows);
        let column = |(at, attribute): (usize, &Attribute)| LocalColumn {
            name: attribute.name().to_owned(),
            highest: cells.domain(at).map_or(attribute.full_height(), |_| 1),
            names: cells
                .rows_by_level(at, attribute)
                .iter()
                .map(|&(level, _)| match (level, cells.domain(at)) {
                    (0, Some(_)) => "single values".to_owned(),
                    (_, Some(_)) => "in intervals".to_owned(),
                    (level, None) => level_name(&plan.job, attribute, level),
                })
                .collect(),
            rows: cells.rows_by_level(at, attribute),
            intervals: cells.domain(at).map(|_| cells.n_labels(at) as u64),
            distortion: distortion.column(at),
        };
        Some(LocalRelease {
            statistics,
            distortion: distortion.total(),
            columns: plan.attributes.iter().enumerate().map(column).collect(),
        })
    }
}
