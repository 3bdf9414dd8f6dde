//! Counts as a database of the papers' time makes them: join every value with its label, sort the tuples, count runs.
//!
//! A source of its own, so that any search can run on it. Tuples are label codes, not text, and stay in memory: kinder
//! than the papers' databases, which sorted text on disk.

use std::sync::Arc;

use incog_core::Result;
use incog_core::frequency::{FrequencySet, FrequencySource, KeyLayout, Method};
use incog_core::group::Demand;
use incog_core::hierarchy::Attributes;
use incog_core::lattice::Grouping;
use incog_core::table::Column;

use crate::dataset::Dataset;

/// Attributes, at most.
const WIDTH: usize = 4;

pub(crate) struct Tuples<'a> {
    columns: Vec<&'a [u32]>,
    attributes: &'a Attributes,
    layout: Arc<KeyLayout>,
}

impl<'a> Tuples<'a> {
    pub(crate) fn new(data: &'a Dataset) -> Self {
        assert!(data.attributes.len() <= WIDTH, "tuples have four columns");
        Tuples {
            columns: data.table.columns().iter().map(Column::codes).collect(),
            attributes: &data.attributes,
            layout: Arc::new(KeyLayout::new(&data.attributes)),
        }
    }
}

impl FrequencySource for Tuples<'_> {
    fn layout(&self) -> &Arc<KeyLayout> {
        &self.layout
    }

    fn n_rows(&self) -> u64 {
        self.columns[0].len() as u64
    }

    fn count(&self, grouping: &Grouping, _: &Demand, _: Method) -> Result<FrequencySet> {
        let mut tuples = vec![[0_u32; WIDTH]; self.columns[0].len()];
        let width = grouping.iter().count();
        for (at, (attribute, level)) in grouping.iter().enumerate() {
            let labels = self.attributes[attribute].labels_at(level);
            for (tuple, &code) in tuples.iter_mut().zip(self.columns[attribute]) {
                tuple[at] = labels[code as usize];
            }
        }
        tuples.sort();
        let groups = tuples.chunk_by(|a, b| a == b).map(|same| (&same[0][..width], same.len() as u64));
        FrequencySet::from_groups(&self.layout, grouping, groups)
    }
}
