//! Every combination of a few quasi-identifiers is k-anonymous: searches, suppression and choices against the definition on strings.

use incog_core::Progress;
use incog_core::algorithm::{
    self, Aim, Answer, MARKINGS, OneLabel, Search, Settings, Task, Traversal, traversals,
};
use incog_core::frequency::{FrequencySource, Method, Rows};
use incog_core::judge::{self, JudgeKind, Problem};
use incog_core::lattice::{Grouping, Lattice};
use incog_core::metric::{self, Costs};
use incog_core::privacy::{Policy, Pruning};
use incog_core::recoding::{PerLevel, Recoding};
use incog_testkit::{Sample, naive, random};
use proptest::prelude::*;

fn policy(k: u64, most: usize, budget: u64, sample: &Sample) -> Policy {
    let policy = Policy::k_anonymity(k).unwrap().with_budget(budget);
    policy.with_combinations(most, sample.columns.len()).unwrap()
}

/// The nodes that hold with at most `budget` rows left out, by trying all sets of rows.
fn expected(sample: &Sample, k: u64, most: usize, budget: u64) -> Vec<Vec<u8>> {
    let nodes = naive::all_nodes(&sample.heights()).into_iter();
    nodes
        .filter(|levels| {
            let out =
                naive::rows_outside_combinations(sample, levels, k, most).expect("one set is the smallest");
            out.len() as u64 <= budget
        })
        .collect()
}

fn levels(lattice: &Lattice, nodes: impl IntoIterator<Item = usize>) -> Vec<Vec<u8>> {
    nodes.into_iter().map(|node| lattice.levels(node).collect()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(80))]

    #[test]
    fn every_search_finds_the_nodes_of_the_definition(
        sample in random::sample(3, 7),
        k in 1..=3_u64,
        pick in 0..4_usize,
        budget in prop_oneof![Just(0_u64), 1..=5_u64],
    ) {
        let most = 1 + pick % sample.columns.len();
        let table = sample.table();
        let rows = Rows::new(&table, &sample.attributes(&table)).unwrap();
        let policy = policy(k, most, budget, &sample);
        prop_assert_eq!(policy.pruning(), Pruning::Sound);
        let problem = Problem { source: &rows, policy: &policy };
        let expected = expected(&sample, k, most, budget);
        for judge in judge::ALL.iter().filter(|entry| !matches!(entry.item, JudgeKind::Bitmap(_))) {
            for (traversal, marking) in traversals().zip(MARKINGS.iter().cycle()) {
                for one_label in [OneLabel::TakeOver, OneLabel::Group] {
                    let search = Search {
                        algorithm: traversal.item,
                        judge: judge.item,
                        marking: marking.item,
                        one_label,
                        ..Search::default()
                    };
                    let found = search.run(problem, &Progress::new()).unwrap();
                    let holding = levels(&found.lattice, found.holding.iter());
                    if traversal.item == Traversal::Samarati {
                        prop_assert_eq!(holding.is_empty(), expected.is_empty());
                        prop_assert!(holding.iter().all(|node| expected.contains(node)));
                    } else {
                        prop_assert_eq!(&holding, &expected, "{} by {}", traversal.name, judge.name);
                    }
                }
            }
        }
    }

    #[test]
    fn the_fewest_rows_are_left_out(
        sample in random::sample(3, 8),
        k in 2..=3_u64,
        pick in 0..4_usize,
    ) {
        let most = 1 + pick % sample.columns.len();
        let table = sample.table();
        let attributes = sample.attributes(&table);
        let rows = Rows::new(&table, &attributes).unwrap();
        let policy = policy(k, most, sample.n_rows() as u64, &sample);
        let problem = Problem { source: &rows, policy: &policy };
        for node in naive::all_nodes(&sample.heights()) {
            let out = naive::rows_outside_combinations(&sample, &node, k, most).expect("one set is the smallest");
            let groups = problem.count(&Grouping::of_levels(&node)).unwrap();
            let recoding = PerLevel::of_groups(&policy, &node, &groups).unwrap();
            let release = Recoding::PerLevel(recoding).apply(&table, &attributes).unwrap();
            let kept: Vec<usize> = release.rows().iter().map(|&row| row as usize).collect();
            let expected: Vec<usize> = (0..sample.n_rows()).filter(|row| !out.contains(row)).collect();
            prop_assert_eq!(kept, expected, "at {:?}", node);
        }
    }

    #[test]
    fn the_best_node_is_the_best_of_those_that_hold(
        sample in random::sample(4, 40),
        k in 2..=5_u64,
        pick in 0..4_usize,
        budget in prop_oneof![Just(0_u64), 1..=12_u64],
    ) {
        let most = 1 + pick % sample.columns.len();
        let table = sample.table();
        let attributes = sample.attributes(&table);
        let rows = Rows::new(&table, &attributes).unwrap();
        let policy = policy(k, most, budget, &sample);
        let problem = Problem { source: &rows, policy: &policy };
        let costs = Costs::new(problem, &attributes).unwrap();
        let outcome = Search { algorithm: Traversal::Exhaustive, judge: JudgeKind::Scan, ..Search::default() }
            .run(problem, &Progress::new()).unwrap();
        for entry in metric::ALL {
            let (lattice, holding) = (&outcome.lattice, &outcome.holding);
            let best = metric::best(problem, &attributes, lattice, holding, &costs, entry.item, &Progress::new()).unwrap();
            let task = Task {
                problem,
                attributes: &attributes,
                aim: Aim { metric: entry.item, costs: &costs },
                metric: entry.name,
                domains: &vec![None; attributes.len()],
                settings: &Settings::default(),
                progress: &Progress::new(),
            };
            let found = (algorithm::ALL[0].item.run)(&task).unwrap();
            let found = found.map(|answer| match answer {
                Answer::Node(node) => node.statistics,
                Answer::Recoding { .. } => panic!("best finds a node"),
            });
            prop_assert_eq!(found.as_ref().map(|node| &node.levels), best.as_ref().map(|best| &best.statistics.levels));
            prop_assert_eq!(
                found.map(|node| node.suppressed_rows),
                best.map(|best| best.statistics.suppressed_rows)
            );
        }
    }
}

#[test]
fn all_columns_together_are_k_anonymity() {
    let sample = random_like();
    let table = sample.table();
    let rows = Rows::new(&table, &sample.attributes(&table)).unwrap();
    let run = |policy: &Policy| {
        let found = Search::default().run(Problem { source: &rows, policy }, &Progress::new()).unwrap();
        levels(&found.lattice, found.holding.iter())
    };
    let k = Policy::k_anonymity(2).unwrap();
    assert_eq!(run(&policy(2, 3, 0, &sample)), run(&k));
    assert!(run(&policy(2, 2, 0, &sample)).len() > run(&k).len(), "pairs ask for less than all three");
}

/// Eight rows, all combinations of three columns of two values: every pair of labels stands twice, every triple once.
fn random_like() -> Sample {
    let column = |at: usize| incog_testkit::SampleColumn {
        name: format!("q{at}"),
        hierarchy: ["a", "b"].map(|leaf| vec![leaf.to_owned(), "*".to_owned()]).to_vec(),
        cells: (0..8).map(|row: usize| if row >> at & 1 == 0 { "a" } else { "b" }.to_owned()).collect(),
    };
    Sample::new((0..3).map(column).collect())
}

#[test]
fn recodings_that_judge_groups_without_labels_refuse() {
    let sample = random_like();
    let table = sample.table();
    let attributes = sample.attributes(&table);
    let rows = Rows::new(&table, &attributes).unwrap();
    let policy = policy(2, 2, 0, &sample);
    let problem = Problem { source: &rows, policy: &policy };
    let costs = Costs::new(problem, &attributes).unwrap();
    let loss = incog_core::registry::find(metric::ALL, "loss").unwrap();
    let mut n_refused = 0;
    for entry in algorithm::ALL {
        let task = Task {
            problem,
            attributes: &attributes,
            aim: Aim { metric: loss.item, costs: &costs },
            metric: loss.name,
            domains: &vec![None; attributes.len()],
            settings: &Settings::default(),
            progress: &Progress::new(),
        };
        match (entry.item.run)(&task) {
            Ok(Some(Answer::Node(node))) => {
                let set =
                    rows.count(&Grouping::of_levels(&node.statistics.levels), &policy.demand(), Method::Auto);
                assert!(policy.judge(&set.unwrap()).unwrap().holds, "{}", entry.name);
            }
            Ok(_) => panic!("{} promises what it cannot judge", entry.name),
            Err(error) => {
                n_refused += 1;
                assert!(!error.to_string().contains("internal"), "{}: {error}", entry.name);
            }
        }
    }
    assert!(n_refused > 5);
    let bitmap = Search { judge: judge::ALL[1].item, algorithm: Traversal::Incognito, ..Search::default() };
    assert!(bitmap.run(problem, &Progress::new()).is_err());
}
