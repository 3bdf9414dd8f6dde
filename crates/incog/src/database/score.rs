//! What did the release of a database cost? LM and DM of the paper (Definitions 7 and 8), from released labels, so that
//! `incog verify` finds the same from the files.
//!
//! LM: a quasi-identifier's cell costs (m − 1) / (L − 1) if its label covers m of the L leaves of its hierarchy, a removed
//! one costs 1; the mean over all cells of the data, per table and of all. DM: the sum of the sizes of all persons' classes,
//! where a person who was left out costs as much as all persons.
//!
//! Where a hierarchy has one label at several levels, the lowest counts.

use std::collections::HashMap;

use incog_core::hierarchy::Attribute;
use incog_verify::Labels;
use incog_verify::Report;

use crate::database::plan::DatabasePlan;
use crate::job::ReleaseKind;
use crate::publish::record::consistency::discernibility;

/// What a release cost.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Scores {
    /// LM of each table.
    pub(crate) tables: Vec<f64>,
    /// LM of all tables.
    pub(crate) loss: f64,
    /// DM over persons; not of an anatomized release, in which everybody may be alone.
    pub(crate) discernibility: Option<u128>,
    /// Persons who were left out.
    pub(crate) suppressed_persons: u64,
}

impl Scores {
    /// Of a release, table by table in the order of the plan's; `None` if a label is in no hierarchy, or a column missing.
    pub(crate) fn of(plan: &DatabasePlan, release: &[&dyn Labels], report: &Report) -> Option<Self> {
        let (mut tables, mut all_cells, mut all_costs) = (Vec::new(), 0.0, 0.0);
        for (table, released) in release.iter().enumerate() {
            let attributes = plan.database.attributes(table);
            let n_rows = plan.database.relations()[table].table.n_rows();
            let removed = n_rows.checked_sub(released.n_rows())?;
            let mut cost = (removed * attributes.len()) as f64;
            // What is released exactly costs nothing.
            if plan.job.database.release == ReleaseKind::Generalized {
                for attribute in attributes {
                    cost += cost_of(attribute, *released)?;
                }
            }
            let cells = (n_rows * attributes.len()) as f64;
            tables.push(if cells == 0.0 { 0.0 } else { cost / cells });
            (all_cells, all_costs) = (all_cells + cells, all_costs + cost);
        }
        let n_persons = plan.database.n_persons() as u64;
        let n_released = release.get(plan.database.person())?.n_rows() as u64;
        let suppressed_persons = n_persons.checked_sub(n_released)?;
        let is_in_classes = !report.group_sizes.is_empty() || n_released == 0;
        Some(Scores {
            tables,
            loss: if all_cells == 0.0 { 0.0 } else { all_costs / all_cells },
            discernibility: is_in_classes
                .then(|| discernibility(&report.group_sizes, suppressed_persons, n_persons)),
            suppressed_persons,
        })
    }
}

/// What the released cells of a quasi-identifier cost together. Summed as whole numbers: the order of labels, which is
/// another one in a file, must not matter.
fn cost_of(attribute: &Attribute, release: &dyn Labels) -> Option<f64> {
    let hierarchy = attribute.hierarchy();
    let mut others: HashMap<&str, u64> = HashMap::new();
    for level in (0..=hierarchy.height()).rev() {
        for (code, label) in hierarchy.labels(level).values().enumerate() {
            others.insert(label, hierarchy.leaves_under(level, code as u32).saturating_sub(1));
        }
    }
    let at = release.header().iter().position(|name| *name == attribute.name())?;
    let column = release.column(at);
    let mut counts = vec![0_u64; column.labels.len()];
    for &code in &*column.codes {
        *counts.get_mut(code as usize)? += 1;
    }
    let mut cost = 0_u128;
    for (label, &count) in column.labels.iter().zip(&counts).filter(|(_, count)| **count > 0) {
        cost += u128::from(*others.get(label)?) * u128::from(count);
    }
    Some(cost as f64 / hierarchy.n_leaves().saturating_sub(1).max(1) as f64)
}
