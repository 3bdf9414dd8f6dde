//! What a crate outside the engine can add, touching no other file: a privacy model that looks at labels.
//!
//! *k-map* (Sweeney: k-Anonymity, 2002; ARX has it): every group's labels fit at least k rows of a population table that an
//! attacker may know. It asks for the labels of groups, nothing else, so it could not be written on counts.

use incog_core::algorithm::{
    self, Aim, Limits, MARKINGS, MondrianOptions, Search, TopDownOptions, best_first, mondrian, optimum,
    top_down,
};
use incog_core::check::{self, CheckerKind, Problem};
use incog_core::frequency::Rows;
use incog_core::group::{Demand, Group};
use incog_core::hierarchy::Attributes;
use incog_core::metric::{self, Costs};
use incog_core::privacy::{Closure, KAnonymity, Policy, PrivacyModel};
use incog_core::recoding::PerLevel;
use incog_core::{ErrorKind, Result, Watch};
use incog_testkit::{Sample, naive, random};
use proptest::prelude::*;

/// Every group's labels fit at least k rows of the population.
///
/// Absorbing: a more general label, or one attribute less, fits every row that the label fitted before.
#[derive(Debug)]
struct KMap {
    k: usize,
    /// The population: for each attribute, the label of each row at each level.
    labels: Vec<Vec<Vec<u32>>>,
    n_rows: usize,
}

impl KMap {
    fn new(k: usize, population: &[Vec<String>], attributes: &Attributes) -> Self {
        let labels = attributes.iter().enumerate().map(|(at, attribute)| {
            let hierarchy = attribute.hierarchy();
            let leaves = population.iter().map(|row| hierarchy.labels(0).code(&row[at]).unwrap());
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

/// Rows of any leaves of the sample's hierarchies, whether or not they occur in it.
fn population(sample: &Sample, picks: &[u8]) -> Vec<Vec<String>> {
    let row = |(number, &pick): (usize, &u8)| {
        let leaf = |(at, column): (usize, &incog_testkit::SampleColumn)| {
            let place = (usize::from(pick) >> (2 * at)) + number * at;
            column.hierarchy[place % column.hierarchy.len()][0].clone()
        };
        sample.columns.iter().enumerate().map(leaf).collect()
    };
    picks.iter().enumerate().map(row).collect()
}

/// The rows that k-map leaves out at a node, by its definition on strings.
fn left_out(sample: &Sample, levels: &[u8], k: usize, population: &[Vec<String>]) -> Vec<usize> {
    let mut as_sample = sample.clone();
    for (at, column) in as_sample.columns.iter_mut().enumerate() {
        column.cells = population.iter().map(|row| row[at].clone()).collect();
    }
    as_sample.persons = vec![String::new(); population.len()];
    let known = naive::labels(&as_sample, &naive::present(levels));
    let groups = naive::groups(sample, &naive::present(levels)).into_iter();
    let refused = groups.filter(|(labels, _)| known.iter().filter(|row| *row == labels).count() < k);
    refused.flat_map(|(_, rows)| rows).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn every_search_finds_exactly_the_nodes_of_k_map(
        sample in random::sample(3, 25),
        picks in proptest::collection::vec(any::<u8>(), 0..40),
        k in 1..=6_usize,
        budget in prop_oneof![Just(0_u64), 1..=8_u64],
    ) {
        prop_assume!(sample.n_rows() > 0);
        let table = sample.table();
        let attributes = sample.attributes(&table);
        let population = population(&sample, &picks);
        let rows = Rows::new(&table, &attributes).unwrap();
        let policy = Policy::new(vec![Box::new(KMap::new(k, &population, &attributes))], budget).unwrap();
        let problem = Problem { source: &rows, policy: &policy };
        let mut expected = Vec::new();
        for levels in naive::all_nodes(&sample.heights()) {
            let out = left_out(&sample, &levels, k, &population).len() as u64;
            let recoding = PerLevel::new(problem, &levels);
            prop_assert_eq!(recoding.as_ref().ok().map(PerLevel::suppressed_rows), (out <= budget).then_some(out));
            expected.extend((out <= budget).then_some(levels));
        }
        let height = |node: &Vec<u8>| node.iter().map(|&level| u32::from(level)).sum::<u32>();
        for algorithm in algorithm::ALL {
            for checker in check::ALL {
                for marking in MARKINGS {
                    let search = Search {
                        algorithm: algorithm.item,
                        checker: checker.item,
                        marking: marking.item,
                        ..Search::default()
                    };
                    let outcome = match search.run(problem, &Watch::new()) {
                        Ok(outcome) => outcome,
                        Err(error) => {
                            prop_assert!(matches!(checker.item, CheckerKind::Bitmap(_)), "{:?}: {}", search, error);
                            prop_assert_eq!(error.kind(), ErrorKind::Policy);
                            continue;
                        }
                    };
                    let found: Vec<Vec<u8>> =
                        outcome.holding.iter().map(|node| outcome.lattice.levels(node).collect()).collect();
                    if algorithm.item == algorithm::Algorithm::Samarati {
                        prop_assert_eq!(found.first(), expected.iter().min_by_key(|node| height(node)));
                    } else {
                        prop_assert_eq!(&found, &expected, "{:?}", search);
                    }
                }
            }
        }
        // The best node, found without all others.
        let costs = Costs::new(problem, &attributes).unwrap();
        let all = Search { algorithm: algorithm::Algorithm::Exhaustive, ..Search::default() };
        let all = all.run(problem, &Watch::new()).unwrap();
        for entry in metric::ALL {
            let found = optimum(problem, &attributes, &costs, entry.item, &Watch::new()).unwrap().best;
            let (lattice, holding) = (&all.lattice, &all.holding);
            let best = metric::best(problem, &attributes, lattice, holding, &costs, entry.item, &Watch::new());
            prop_assert_eq!(found.map(|found| found.node), best.unwrap().map(|best| best.node), "{}", entry.name);
        }
        let first = metric::ALL[0].item;
        let found = best_first(problem, &attributes, &costs, first, Limits::default(), &Watch::new()).unwrap();
        prop_assert_eq!(found.best.is_some(), !expected.is_empty());
    }
}

#[test]
fn recodings_that_judge_groups_without_labels_refuse_the_model_by_its_name() {
    let sample = incog_testkit::Sample::new(vec![incog_testkit::SampleColumn::skewed(0, 20, 8, &[2, 8])]);
    let table = sample.table();
    let attributes = sample.attributes(&table);
    let rows = Rows::new(&table, &attributes).unwrap();
    let population = vec![vec!["v0".to_owned()], vec!["v1".to_owned()]];
    let models: Vec<Box<dyn PrivacyModel>> =
        vec![Box::new(KAnonymity::new(2).unwrap()), Box::new(KMap::new(2, &population, &attributes))];
    let policy = Policy::new(models, 0).unwrap();
    let problem = Problem { source: &rows, policy: &policy };
    let costs = Costs::new(problem, &attributes).unwrap();
    let aim = Aim { costs: &costs, metric: metric::ALL[0].item };
    let watch = Watch::new();
    let check = |what: &str, error: incog_core::Error| {
        assert_eq!(error.kind(), ErrorKind::Policy, "{what}: {error}");
        assert!(error.to_string().contains("cannot promise 2-map"), "{what}: {error}");
        assert!(error.hint().is_some_and(|hint| hint.contains("full-domain")), "{what}");
    };
    check("top-down", top_down(problem, TopDownOptions::default(), &watch).unwrap_err());
    for entry in algorithm::BY_GROUPS {
        check(entry.name, entry.item.run(problem, &attributes, aim, &watch).unwrap_err());
    }
    for name in ["full-subtree", "unrestricted"] {
        let entry = incog_core::registry::find(algorithm::SINGLE, name).unwrap();
        let limits = Limits::default();
        check(name, entry.item.run(problem, &attributes, aim, 1, limits, &watch).unwrap_err());
    }
    let domains = vec![None; attributes.len()];
    let options = MondrianOptions { domains, ..MondrianOptions::default() };
    check("mondrian", mondrian(problem, &attributes, options, &watch).unwrap_err());
}
