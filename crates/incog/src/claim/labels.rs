//! The engine's tables as the independent checker sees them: strings, and codes that say which string stands where.
//!
//! The checker numbers the strings anew.

use std::borrow::Cow;

use incog_core::recoding::Release;
use incog_core::table::{Column, Table};
use incog_verify::{LabelColumn, Labels};

use crate::plan::Plan;
use crate::source::spill::SpilledInput;

/// The table of a plan as the checker sees it.
pub(crate) fn input(plan: &Plan) -> Box<dyn Labels + '_> {
    match &plan.spilled {
        None => Box::new(Collected(Cow::Borrowed(&plan.table))),
        Some(spilled) => Box::new(SpilledInput::new(&plan.table, spilled)),
    }
}

/// A release as strings.
pub(crate) struct Released(pub(crate) Release);

impl Labels for Released {
    fn header(&self) -> Vec<&str> {
        self.0.header()
    }

    fn n_rows(&self) -> usize {
        self.0.n_rows()
    }

    fn column(&self, column_idx: usize) -> LabelColumn<'_> {
        LabelColumn {
            labels: self.0.labels(column_idx).collect(),
            codes: Cow::Owned(self.0.codes(column_idx)),
        }
    }

    fn labels(&self, column_idx: usize) -> Vec<&str> {
        self.0.labels(column_idx).collect()
    }

    fn codes_from(&self, column_idx: usize, first: usize, to: &mut [u32]) {
        self.0.codes_from(column_idx, first, to);
    }
}

/// A table as strings.
pub(crate) struct Collected<'a>(pub(crate) Cow<'a, Table>);

impl Labels for Collected<'_> {
    fn header(&self) -> Vec<&str> {
        self.0.columns().iter().map(Column::name).collect()
    }

    fn n_rows(&self) -> usize {
        self.0.n_rows()
    }

    fn column(&self, column_idx: usize) -> LabelColumn<'_> {
        let column = &self.0.columns()[column_idx];
        LabelColumn { labels: column.dictionary().values().collect(), codes: Cow::Borrowed(column.codes()) }
    }

    fn codes_from(&self, column_idx: usize, first: usize, to: &mut [u32]) {
        to.copy_from_slice(&self.0.columns()[column_idx].codes()[first..first + to.len()]);
    }
}
