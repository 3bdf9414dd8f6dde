//! Tables and releases of the engine as the independent checker wants them.

use incog_core::recoding::Release;
use incog_core::table::{Column, Table};
use incog_verify::{LabelColumn, Labels};

/// A release.
pub struct Released(pub Release);

impl Labels for Released {
    fn header(&self) -> Vec<&str> {
        self.0.header()
    }

    fn n_rows(&self) -> usize {
        self.0.n_rows()
    }

    fn column(&self, column_idx: usize) -> LabelColumn<'_> {
        LabelColumn { labels: self.0.labels(column_idx).collect(), codes: self.0.codes(column_idx).into() }
    }

    fn codes_from(&self, column_idx: usize, first: usize, to: &mut [u32]) {
        self.0.codes_from(column_idx, first, to);
    }
}

/// A table as collected.
pub struct Input<'a>(pub &'a Table);

impl Labels for Input<'_> {
    fn header(&self) -> Vec<&str> {
        self.0.columns().iter().map(Column::name).collect()
    }

    fn n_rows(&self) -> usize {
        self.0.n_rows()
    }

    fn column(&self, column_idx: usize) -> LabelColumn<'_> {
        let column = &self.0.columns()[column_idx];
        LabelColumn { labels: column.dictionary().values().collect(), codes: column.codes().into() }
    }

    fn codes_from(&self, column_idx: usize, first: usize, to: &mut [u32]) {
        to.copy_from_slice(&self.0.columns()[column_idx].codes()[first..first + to.len()]);
    }
}
