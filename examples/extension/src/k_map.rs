//! *k-map* (Sweeney: k-Anonymity, 2002; ARX has it): every group's labels fit at least k rows of a population table that an
//! attacker may know. It asks for the labels of groups, nothing else, so it could not be written on counts.

use incog::Result;
use incog::unstable::engine::group::{Demand, Group};
use incog::unstable::engine::hierarchy::Attributes;
use incog::unstable::engine::privacy::{Closure, PrivacyModel};

/// Every group's labels fit at least k rows of the population.
///
/// Absorbing: a more general label, or one attribute less, fits every row that the label fitted before.
#[derive(Debug)]
pub struct KMap {
    k: usize,
    /// The population: for each attribute, the label of each row at each level.
    labels: Vec<Vec<Vec<u32>>>,
    n_rows: usize,
}

impl KMap {
    /// The model of a population, whose rows have a value for each attribute.
    ///
    /// # Panics
    /// When a value is in no hierarchy.
    pub fn new(k: usize, population: &[Vec<String>], attributes: &Attributes) -> Self {
        let labels = attributes.iter().enumerate().map(|(at, attribute)| {
            let hierarchy = attribute.hierarchy();
            let leaves = population.iter().map(|row| {
                hierarchy.labels(0).code(&row[at]).expect("the population has values of the hierarchies")
            });
            let leaves: Vec<u32> = leaves.collect();
            let at_level = |level| leaves.iter().map(|&leaf| hierarchy.generalize(leaf, 0, level)).collect();
            (0..=attribute.height()).map(at_level).collect()
        });
        KMap { k, labels: labels.collect(), n_rows: population.len() }
    }
}

impl PrivacyModel for KMap {
    fn describe(&self) -> String {
        format!("{}-map", self.k)
    }

    fn closure(&self) -> Closure {
        Closure::Absorbing
    }

    fn demand(&self) -> Demand {
        Demand { labels: true, ..Demand::default() }
    }

    fn admits(&self, group: Group<'_>) -> Result<bool> {
        let mut fits = vec![true; self.n_rows];
        for (attribute, labels) in self.labels.iter().enumerate() {
            if let Some((level, label)) = group.label(attribute)? {
                let labels = &labels[usize::from(level)];
                fits.iter_mut().zip(labels).for_each(|(fits, other)| *fits &= *other == label);
            }
        }
        Ok(fits.into_iter().filter(|&fits| fits).count() >= self.k)
    }
}
