//! The models, the metric and the algorithm of this crate against their definitions, in every search.

use incog::unstable::engine::algorithm::{
    self, Aim, Answer, Family, Limits, MARKINGS, MondrianOptions, Quality, Search, Settings, TopDownOptions,
    Traversal, best_first, mondrian, optimum, top_down,
};
use incog::unstable::engine::frequency::Rows;
use incog::unstable::engine::judge::{self, JudgeKind, Problem};
use incog::unstable::engine::metric::{self, Costs, LabelCounts, Metric, Statistics};
use incog::unstable::engine::privacy::{KAnonymity, Parameters, Policy, PrivacyModel, Sensitive};
use incog::unstable::engine::recoding::{PerLevel, Recoding};
use incog::unstable::engine::registry::{self, Entry};
use incog::{Anonymizer, ErrorKind, Hierarchy, Progress};
use incog_extension::{AT_MOST, CLIMB, ContributedLoss, KMap};
use incog_testkit::{Sample, algorithms, naive, random};
use proptest::prelude::*;

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
        for algorithm in algorithm::traversals() {
            for judge in judge::ALL {
                for marking in MARKINGS {
                    let search = Search {
                        algorithm: algorithm.item,
                        judge: judge.item,
                        marking: marking.item,
                        ..Search::incognito()
                    };
                    let outcome = match search.run(problem, &Progress::new()) {
                        Ok(outcome) => outcome,
                        Err(error) => {
                            prop_assert!(matches!(judge.item, JudgeKind::Bitmap(_)), "{:?}: {}", search, error);
                            prop_assert_eq!(error.kind(), ErrorKind::Policy);
                            continue;
                        }
                    };
                    let found: Vec<Vec<u8>> =
                        outcome.holding.iter().map(|node| outcome.lattice.levels(node).collect()).collect();
                    if algorithm.item == Traversal::Samarati {
                        prop_assert_eq!(found.first(), expected.iter().min_by_key(|node| height(node)));
                    } else {
                        prop_assert_eq!(&found, &expected, "{:?}", search);
                    }
                }
            }
        }
        // The best node, found without all others.
        let costs = Costs::new(problem, &attributes).unwrap();
        let all = Search { algorithm: Traversal::Exhaustive, ..Search::incognito() };
        let all = all.run(problem, &Progress::new()).unwrap();
        for entry in metric::ALL {
            let found = optimum(problem, &attributes, &costs, entry.item, &Progress::new()).unwrap().best;
            let (lattice, holding) = (&all.lattice, &all.holding);
            let best = metric::best(problem, &attributes, lattice, holding, &costs, entry.item, &Progress::new());
            prop_assert_eq!(found.map(|found| found.node), best.unwrap().map(|best| best.node), "{}", entry.name);
        }
        let first = metric::ALL[0].item;
        let found = best_first(problem, &attributes, &costs, first, Limits::default(), &Progress::new()).unwrap();
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
    let progress = Progress::new();
    let check = |what: &str, error: incog::Error| {
        assert_eq!(error.kind(), ErrorKind::Policy, "{what}: {error}");
        assert!(error.to_string().contains("cannot promise 2-map"), "{what}: {error}");
        assert!(error.hint().is_some_and(|hint| hint.contains("full-domain")), "{what}");
    };
    check("top-down", top_down(problem, TopDownOptions::default(), &progress).unwrap_err());
    let others = ["full-subtree", "unrestricted"];
    let without_labels = |entry: &&Entry<algorithm::Algorithm>| {
        entry.item.family == Family::MultiDimension || others.contains(&entry.name)
    };
    for entry in algorithm::ALL.iter().filter(without_labels) {
        let settings = Settings::default();
        check(
            entry.name,
            algorithms::run(entry, problem, &attributes, aim, &settings, &progress).unwrap_err(),
        );
    }
    let domains = vec![None; attributes.len()];
    let options = MondrianOptions { domains, ..MondrianOptions::default() };
    check("mondrian", mondrian(problem, &attributes, options, &progress).unwrap_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(80))]

    #[test]
    fn a_model_with_a_number_of_its_own_is_built_by_its_entry_and_searched_for(
        sample in random::sample(3, 20),
        m in 1..=4_u64,
        budget in prop_oneof![Just(0_u64), 1..=8_u64],
    ) {
        prop_assume!(sample.n_rows() > 0);
        let table = sample.table();
        let attributes = sample.attributes(&table);
        let rows = Rows::new(&table, &attributes).unwrap().with_sensitive(&table, &["illness"]).unwrap();
        let parameters = Parameters::of(Sensitive::of_rows(0, table.column("illness").unwrap()));
        prop_assert_eq!(AT_MOST.build(&parameters).unwrap_err().to_string(), "`at-most-m` needs `m`");
        let other = parameters.clone().with("m", m).with("l", 2);
        prop_assert_eq!(AT_MOST.build(&other).unwrap_err().to_string(), "`at-most-m` takes no `l`");
        let policy = Policy::new(vec![AT_MOST.build(&parameters.with("m", m)).unwrap()], budget).unwrap();
        let refused = |rows: &Vec<usize>| {
            let ill = |of: usize| rows.iter().filter(|&&row| sample.illnesses[row] == sample.illnesses[of]).count();
            rows.iter().any(|&row| ill(row) as u64 > m)
        };
        let holds = |levels: &Vec<u8>| {
            let groups = naive::groups(&sample, &naive::present(levels)).into_values();
            groups.filter(&refused).map(|rows| rows.len() as u64).sum::<u64>() <= budget
        };
        let expected: Vec<Vec<u8>> = naive::all_nodes(&sample.heights()).into_iter().filter(holds).collect();
        for algorithm in algorithm::traversals().filter(|entry| entry.item != Traversal::Samarati) {
            for judge in judge::ALL {
                let search = Search { algorithm: algorithm.item, judge: judge.item, ..Search::incognito() };
                let outcome = search.run(Problem { source: &rows, policy: &policy }, &Progress::new()).unwrap();
                let found: Vec<Vec<u8>> =
                    outcome.holding.iter().map(|node| outcome.lattice.levels(node).collect()).collect();
                prop_assert_eq!(&found, &expected, "{:?}", search);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Equal weights, so that ties abound; scores that are nearly equal are equal here.
    #[test]
    fn a_contributed_metric_leads_every_search_to_as_good_an_answer(
        sample in random::sample(3, 25),
        k in 1..=5_u64,
        budget in prop_oneof![Just(0_u64), 1..=8_u64],
    ) {
        prop_assume!(sample.n_rows() > 0);
        let table = sample.table();
        let attributes = sample.attributes(&table);
        let rows = Rows::new(&table, &attributes).unwrap();
        let policy = Policy::k_anonymity(k).unwrap().with_budget(budget);
        let problem = Problem { source: &rows, policy: &policy };
        let costs = Costs::new(problem, &attributes).unwrap();
        let (own, other): (&dyn Metric, &dyn Metric) = (metric::ALL[0].item, &ContributedLoss);
        let is_close = |a: f64, b: f64| (a - b).abs() <= 1e-12;
        // Every node, with what it suppresses.
        let all = Search { algorithm: Traversal::Exhaustive, ..Search::incognito() };
        let all = all.run(problem, &Progress::new()).unwrap();
        let nodes: Vec<usize> = (0..all.lattice.n_nodes()).collect();
        for node in metric::describe(problem, &attributes, &all.lattice, &nodes, &Progress::new()).unwrap() {
            let scores = [own, other].map(|metric| metric.score(&costs, &node.statistics));
            prop_assert!(is_close(scores[0], scores[1]), "{:?}", scores);
        }
        let score = |statistics: &Statistics| own.score(&costs, statistics);
        let progress = Progress::new();
        let nodes = [own, other].map(|metric| optimum(problem, &attributes, &costs, metric, &progress).unwrap().best);
        let scores = nodes.map(|node| node.map(|node| score(&node.statistics)));
        let limits = Limits::default();
        let first = best_first(problem, &attributes, &costs, other, limits, &progress).unwrap().best;
        for score in [scores[1], first.as_ref().map(score)] {
            prop_assert_eq!(score.is_some(), scores[0].is_some());
            prop_assert!(score.zip(scores[0]).is_none_or(|(a, b)| is_close(a, b)), "{:?} {:?}", score, scores[0]);
        }
        // A level for each value: an exact search finds as good an answer, and its sums are those of its release. Where there are too many
        // recodings to try them all, `unrestricted` goes by steps, and ties may lead it elsewhere.
        for name in ["attribute-suppression", "full-subtree", "unrestricted"] {
            let entry = registry::find(algorithm::ALL, name).unwrap();
            let found = [own, other].map(|metric| {
                let aim = Aim { costs: &costs, metric };
                let found = algorithms::run(entry, problem, &attributes, aim, &Settings::default(), &progress).unwrap();
                found.map(|found| match found {
                    Answer::Node(node) => (node.statistics, true),
                    Answer::Recoding { recoding, quality, .. } => match *recoding {
                        Recoding::PerValue(values) => {
                            (Statistics::of_values(problem, &attributes, &values).unwrap(), quality == Quality::Optimal)
                        }
                        other => panic!("{other:?}"),
                    },
                })
            });
            for (statistics, _) in found.iter().flatten() {
                prop_assert!(is_close(score(statistics), other.score(&costs, statistics)), "{}", name);
            }
            prop_assert_eq!(found[0].is_some(), found[1].is_some(), "{}", name);
            if let [Some((a, true)), Some((b, true))] = &found {
                prop_assert!(is_close(score(a), score(b)), "{}: {} {}", name, score(a), score(b));
            }
        }
        // Groups with levels of their own: what is found by both is measured alike.
        for entry in algorithm::ALL.iter().filter(|entry| entry.item.family == Family::MultiDimension) {
            let aim = Aim { costs: &costs, metric: other };
            let found = algorithms::run(entry, problem, &attributes, aim, &Settings::default(), &progress).unwrap();
            let Some(Answer::Recoding { recoding, .. }) = found else { continue };
            let Recoding::PerGroup(groups) = *recoding else { panic!("{}", entry.name) };
            let cells = LabelCounts::of_recoding(&groups, &table, &attributes).unwrap();
            let sizes = (0..groups.n_groups()).map(|group| (groups.rows(group), 1));
            let statistics = Statistics::of_cells(&cells, &attributes, sizes, sample.n_rows() as u64);
            prop_assert!(is_close(score(&statistics), other.score(&costs, &statistics)), "{}", entry.name);
        }
    }
}

/// A table that no row of looks like another as collected.
fn table() -> Anonymizer {
    Anonymizer::new([
        ("zip", vec!["53715", "53710", "53703", "53706"]),
        ("age", vec!["34", "36", "51", "58"]),
    ])
    .quasi_identifier("zip", Hierarchy::mask_right().length(5))
    .quasi_identifier("age", Hierarchy::intervals([5, 10, 20]))
    .k(2)
}

#[test]
fn an_algorithm_from_outside_is_run_verified_and_named() {
    let folder = tempfile::tempdir().unwrap();
    let anonymizer = table().own_algorithm(&CLIMB).key_file(folder.path().join("incog.key"));
    assert!(anonymizer.to_job().unwrap().contains("algorithm = \"climb\""));
    let release = anonymizer.clone().anonymize().unwrap();
    let levels: Vec<u8> = release.report().levels.iter().map(|(_, level, _)| *level).collect();
    assert_eq!(levels, [2, 2], "the lowest of the equal levels at which two rows look alike");
    assert_eq!(release.report().algorithm, "climb");
    assert!(release.report().checked.holds());
    let path = folder.path().join("release.csv");
    let record = release.write(&path).unwrap().unwrap();
    let record_text = std::fs::read_to_string(&record).unwrap();
    assert!(record_text.contains("algorithm = \\\"climb\\\""), "{record_text}");
    // Whoever has the record alone does not know the algorithm, and needs not to.
    assert!(incog::Verifier::new(&path).record(&record).verify().unwrap().holds());
    assert!(incog::Verifier::new(&path).record(&record).against(anonymizer).verify().unwrap().holds());
}

#[test]
fn a_traversal_under_a_name_of_ones_own_is_what_a_search_reports() {
    let report = table().own_algorithm(&incog_extension::WALK).search().unwrap();
    let json: serde_json::Value = serde_json::from_str(&report.to_json()).unwrap();
    assert_eq!(json["algorithm"], "walk");
    let listed = table().algorithm("bottom-up").search().unwrap();
    assert_eq!((listed.algorithm, report.satisfying), ("bottom-up", listed.satisfying));
    let error = table().own_algorithm(&CLIMB).search().unwrap_err();
    assert_eq!(error.to_string(), "`climb` finds one release: there are no generalizations to list");
}
