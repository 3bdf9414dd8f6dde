//! Every privacy model is decided as its definition says, and every search finds the nodes that follow: eIncognito, that is.

use incog_core::algorithm::{
    self, Limits, MARKINGS, Outcome, Quality, Search, Traversal, best_first, has_best_first_search, optimum,
};
use incog_core::frequency::{FrequencySource, Method, Rows};
use incog_core::hierarchy::Attributes;
use incog_core::judge::{self, BitmapOptions, Intersect, JudgeKind, Problem, Stop};
use incog_core::lattice::Grouping;
use incog_core::metric::{self, Costs};
use incog_core::privacy::{self, Closure, Parameters, Policy, PrivacyModel, Pruning};
use incog_core::recoding::{PerLevel, Recoding};
use incog_core::table::Table;
use incog_core::{ErrorKind, Progress};
use incog_testkit::labels::{Input, Released};
use incog_testkit::naive::{self, PersonAndValue};
use incog_testkit::random::require;
use incog_testkit::{Require, Sample, SampleColumn, random};
use incog_verify::{
    Claims, Counted, Hierarchy, RecodingClaim, RequirementValues, SensitiveClaim, Source, check as recheck,
};
use proptest::prelude::*;

/// The sensitive columns. The persons serve as a second one where rows are counted.
const SENSITIVE: [&str; 2] = ["illness", "person"];

/// A sample as both sides see it.
struct Setting<'a> {
    sample: &'a Sample,
    table: Table,
    attributes: Attributes,
    rows: Rows,
    /// The unit column, where persons are counted.
    unit: Option<&'static str>,
}

impl<'a> Setting<'a> {
    fn new(sample: &'a Sample, unit: Option<&'static str>) -> Self {
        let table = sample.table();
        let attributes = sample.attributes(&table);
        let mut rows = Rows::new(&table, &attributes).unwrap().with_sensitive(&table, &SENSITIVE).unwrap();
        if let Some(unit) = unit {
            rows = rows.with_unit(&table, unit).unwrap();
        }
        Setting { sample, table, attributes, rows, unit }
    }

    fn policy(&self, requires: &[Require], budget: u64) -> Policy {
        let models =
            requires.iter().map(|require| require.build(&self.table, &SENSITIVE, self.unit).unwrap());
        Policy::new(models.collect(), budget).unwrap()
    }

    /// Does it take values that nobody has to satisfy the model? Then it is refused, and says so.
    fn asks_for_values_of_nobody(&self, require: &Require) -> bool {
        let Err(error) = require.build(&self.table, &SENSITIVE, self.unit) else {
            return false;
        };
        assert!(self.sample.persons.iter().any(String::is_empty), "{error}");
        assert!(error.to_string().ends_with("different values"), "{error}");
        true
    }

    fn record(&self, require: &Require, row_idx: usize) -> PersonAndValue {
        let value = match require.sensitive.as_deref() {
            Some("person") => &self.sample.persons[row_idx],
            _ => &self.sample.illnesses[row_idx],
        };
        let person = match self.unit {
            None => row_idx.to_string(),
            Some(_) => self.sample.persons[row_idx].clone(),
        };
        (person, value.clone())
    }

    /// The rows that must be left out at a node, by definition.
    fn left_out(&self, levels: &[u8], requires: &[Require], budget: u64) -> Vec<usize> {
        let record = |require: &Require, row_idx: usize| self.record(require, row_idx);
        naive::left_out(self.sample, levels, requires, &record, budget)
    }
}

/// Every registered judge, and bitmaps made in every way.
fn judges() -> Vec<JudgeKind> {
    let ways = [Intersect::OneLevel, Intersect::Reusing].into_iter().flat_map(|intersect| {
        [Stop::Early, Stop::AtTheEnd]
            .map(|stop| JudgeKind::Bitmap(BitmapOptions { intersect, stop, memory: None }))
    });
    judge::ALL.iter().map(|entry| entry.item).chain(ways).collect()
}

fn levels_of(outcome: &Outcome, nodes: impl IntoIterator<Item = usize>) -> Vec<Vec<u8>> {
    nodes.into_iter().map(|node| outcome.lattice.levels(node).collect()).collect()
}

fn check(setting: &Setting<'_>, requires: &[Require], budget: u64) -> Result<(), TestCaseError> {
    let policy = setting.policy(requires, budget);
    let problem = Problem { source: &setting.rows, policy: &policy };
    let mut expected = Vec::new();
    for levels in naive::all_nodes(&setting.sample.heights()) {
        let out = setting.left_out(&levels, requires, budget);
        let recoding = PerLevel::new(problem, &levels);
        prop_assert_eq!(out.len() as u64 <= budget, recoding.is_ok(), "{:?} {:?}", requires, levels);
        let Ok(recoding) = recoding else {
            continue;
        };
        // The release lacks just those rows.
        let release = Recoding::PerLevel(recoding).apply(&setting.table, &setting.attributes).unwrap();
        prop_assert_eq!(release.n_rows() + out.len(), setting.sample.n_rows());
        let at = release.header().iter().position(|name| *name == "illness").unwrap();
        let kept = (0..setting.sample.n_rows()).filter(|row_idx| !out.contains(row_idx));
        for (released, row_idx) in kept.enumerate() {
            prop_assert_eq!(release.cell(released, at), &setting.sample.illnesses[row_idx]);
        }
        expected.push((levels, out.len() as u64));
    }
    let nodes: Vec<Vec<u8>> = expected.iter().map(|(levels, _)| levels.clone()).collect();
    for algorithm in algorithm::traversals() {
        for judge in judges() {
            for marking in MARKINGS {
                let search =
                    Search { algorithm: algorithm.item, judge, marking: marking.item, ..Search::incognito() };
                let progress = Progress::new();
                let outcome = match search.run(problem, &progress) {
                    Ok(outcome) => outcome,
                    Err(error) => {
                        // A judge may say that it is not for this policy, and Samarati that it must prune.
                        prop_assert_eq!(error.kind(), ErrorKind::Policy, "{:?}: {}", search, error);
                        let demand = policy.demand();
                        let by_persons = demand.persons || !demand.persons_by_value.is_empty();
                        let is_bitmap = matches!(judge, JudgeKind::Bitmap(_));
                        let not_for_bitmaps = by_persons || policy.budget() > 0 && policy.compares();
                        let must_prune = algorithm.item == Traversal::Samarati;
                        prop_assert!(
                            is_bitmap && not_for_bitmaps
                                || must_prune && policy.pruning() == Pruning::Unsound,
                            "{:?}: {}",
                            search,
                            error
                        );
                        continue;
                    }
                };
                prop_assert_eq!(progress.nodes_judged(), outcome.work.nodes_checked, "{:?}", search);
                if algorithm.item == Traversal::Samarati {
                    let height = |node: &Vec<u8>| node.iter().map(|&level| u32::from(level)).sum::<u32>();
                    let lowest = nodes.iter().min_by_key(|node| height(node));
                    let found = levels_of(&outcome, outcome.holding.iter());
                    prop_assert_eq!(found.first(), lowest);
                    continue;
                }
                prop_assert_eq!(
                    &levels_of(&outcome, outcome.holding.iter()),
                    &nodes,
                    "{:?} {:?}",
                    search,
                    requires
                );
                let minimal = levels_of(&outcome, outcome.minimal.iter().copied());
                prop_assert_eq!(minimal, naive::minimal(&nodes), "{:?}", search);
                prop_assert_eq!(outcome.left_open.is_some(), policy.pruning() == Pruning::Unsound);
            }
        }
    }
    check_metrics(setting, &policy, &expected)
}

/// What the metrics count as suppressed is suppressed; the best node is found without all others.
fn check_metrics(
    setting: &Setting<'_>,
    policy: &Policy,
    expected: &[(Vec<u8>, u64)],
) -> Result<(), TestCaseError> {
    let problem = Problem { source: &setting.rows, policy };
    let all = Search { algorithm: Traversal::Exhaustive, ..Search::incognito() };
    let outcome = all.run(problem, &Progress::new()).unwrap();
    let (attributes, lattice) = (&setting.attributes, &outcome.lattice);
    let nodes: Vec<usize> = outcome.holding.iter().collect();
    let described = metric::describe(problem, attributes, lattice, &nodes, &Progress::new()).unwrap();
    let suppressed: Vec<u64> = described.iter().map(|node| node.statistics.suppressed_rows).collect();
    prop_assert_eq!(suppressed, expected.iter().map(|(_, rows)| *rows).collect::<Vec<_>>());
    let costs = Costs::new(problem, attributes).unwrap();
    for entry in metric::ALL {
        let found = optimum(problem, attributes, &costs, entry.item, &Progress::new()).unwrap();
        let holding = &outcome.holding;
        let best = metric::best(problem, attributes, lattice, holding, &costs, entry.item, &Progress::new());
        let name = entry.name;
        let best = best.unwrap();
        if has_best_first_search(entry.item) {
            let limits = Limits::default();
            let found =
                best_first(problem, attributes, &costs, entry.item, limits, &Progress::new()).unwrap();
            prop_assert_eq!(found.best.as_ref(), best.as_ref().map(|best| &best.statistics), "{}", name);
            prop_assert_eq!(found.quality, Quality::Optimal);
        }
        prop_assert_eq!(found.best.map(|best| best.node), best.map(|best| best.node), "{}", name);
        prop_assert_eq!(found.left_open.is_some(), policy.pruning() == Pruning::Unsound);
    }
    Ok(())
}

fn any_model() -> impl Strategy<Value = (usize, [u8; 5])> {
    (0..privacy::ALL.len(), any::<[u8; 5]>())
}

/// A person of the sample whose rows say nothing of whom they are about; or nobody.
fn any_nobody() -> impl Strategy<Value = &'static str> {
    prop_oneof![Just("p0"), Just("p1"), Just("none of them")]
}

fn any_budget() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0_u64), 1..=4_u64, 5..=20_u64]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    /// Each model alone, by rows.
    #[test]
    fn every_search_finds_exactly_the_nodes_of_every_models_definition(
        sample in random::sample(3, 25),
        picks in any::<[u8; 5]>(),
        budget in any_budget(),
    ) {
        prop_assume!(sample.n_rows() > 0);
        let setting = Setting::new(&sample, None);
        for entry in privacy::ALL {
            check(&setting, &[require(entry.name, &sample, &picks)], budget)?;
        }
    }

    /// Each model with k-anonymity, by persons.
    #[test]
    fn persons_are_counted_once_in_every_model(
        sample in random::sample(2, 20),
        picks in any::<[u8; 5]>(),
        k in 1..=3_u64,
        budget in any_budget(),
        nobody in any_nobody(),
    ) {
        prop_assume!(sample.n_rows() > 0);
        let sample = sample.with_nobody(nobody);
        let setting = Setting::new(&sample, Some("person"));
        // The persons are the unit now, not a sensitive column.
        let picks = [1, picks[1], picks[2], picks[3], picks[4]];
        for entry in privacy::ALL {
            let require = require(entry.name, &sample, &picks);
            if setting.asks_for_values_of_nobody(&require) {
                continue;
            }
            check(&setting, &[Require::k_anonymity(k), require], budget)?;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(250))]

    /// Several models and two sensitive columns with one budget.
    #[test]
    fn several_models_share_one_budget(
        sample in random::sample(3, 25),
        models in proptest::collection::vec(any_model(), 2..=4),
        budget in any_budget(),
    ) {
        prop_assume!(sample.n_rows() > 0);
        let requires: Vec<Require> =
            models.iter().map(|(at, picks)| require(privacy::ALL[*at].name, &sample, picks)).collect();
        check(&Setting::new(&sample, None), &requires, budget)?;
    }

    /// What is said to be impossible is.
    #[test]
    fn no_node_holds_where_none_is_feasible(
        sample in random::sample(2, 20),
        (model, picks) in any_model(),
        budget in any_budget(),
    ) {
        prop_assume!(sample.n_rows() > 0);
        let setting = Setting::new(&sample, None);
        let policy = setting.policy(&[require(privacy::ALL[model].name, &sample, &picks)], budget);
        let outcome = Search::incognito()
            .run(Problem { source: &setting.rows, policy: &policy }, &Progress::new())
            .unwrap();
        if let Err(error) = policy.feasible(sample.n_rows() as u64) {
            prop_assert!(outcome.holding.is_empty(), "{}", error);
            prop_assert!(error.hint().is_some());
        }
    }

    /// With nothing left out, α is impossible just where the lemma says so: where the whole table breaks it.
    #[test]
    fn alpha_is_feasible_if_and_only_if_the_whole_table_has_it(
        sample in random::sample(1, 20),
        picks in any::<[u8; 5]>(),
    ) {
        prop_assume!(sample.n_rows() > 0);
        let setting = Setting::new(&sample, None);
        let require = require("alpha-k", &sample, &picks);
        let all: Vec<PersonAndValue> = (0..sample.n_rows()).map(|row_idx| setting.record(&require, row_idx)).collect();
        let feasible = setting.policy(std::slice::from_ref(&require), 0).feasible(sample.n_rows() as u64);
        prop_assert_eq!(feasible.is_ok(), naive::admits(&require, &all, &all));
    }

    /// The node is chosen without looking at sensitive values; the release satisfies everything.
    #[test]
    fn a_choice_by_k_alone_does_not_depend_on_sensitive_values(
        sample in random::sample(3, 25),
        (model, picks) in any_model(),
        k in 1..=3_u64,
        budget in any_budget(),
        rotation in 0..25_usize,
    ) {
        prop_assume!(sample.n_rows() > 0 && privacy::ALL[model].name != "k-anonymity");
        let mut other = sample.clone();
        other.illnesses.rotate_left(rotation % sample.n_rows());
        let mut chosen = Vec::new();
        for sample in [&sample, &other] {
            let setting = Setting::new(sample, None);
            let picks = [1, picks[1], picks[2], picks[3], picks[4]];
            let requires = [Require::k_anonymity(k), require(privacy::ALL[model].name, sample, &picks)];
            let policy = setting.policy(&requires, budget);
            let k_only = policy.k_only().unwrap();
            prop_assert_eq!(k_only.describe(), format!("{k}-anonymity"));
            prop_assert_eq!(k_only.budget(), budget);
            let problem = Problem { source: &setting.rows, policy: &k_only };
            let costs = Costs::new(problem, &setting.attributes).unwrap();
            let loss = incog_core::registry::find(metric::ALL, "loss").unwrap().item;
            let best = optimum(problem, &setting.attributes, &costs, loss, &Progress::new()).unwrap().best;
            let levels = best.map(|best| best.statistics.levels);
            if let Some(levels) = &levels {
                let out = setting.left_out(levels, &requires, budget);
                let whole = Problem { source: &setting.rows, policy: &policy };
                let recoding = PerLevel::new(whole, levels);
                prop_assert_eq!(recoding.is_ok(), out.len() as u64 <= budget);
                if let Ok(recoding) = recoding {
                    let recoding = Recoding::PerLevel(recoding);
                    let release = recoding.apply(&setting.table, &setting.attributes).unwrap();
                    prop_assert_eq!(release.n_rows() + out.len(), sample.n_rows());
                }
            }
            chosen.push(levels);
        }
        prop_assert_eq!(&chosen[0], &chosen[1]);
    }
}

/// What the independent checker is told of a model: its name and its parameters as text.
fn claim(require: &Require, counted: Counted) -> Option<SensitiveClaim> {
    if require.model == "k-anonymity" {
        return None;
    }
    let cells = RequirementValues {
        values: require.values.clone().unwrap_or_default(),
        order: require.order.clone().unwrap_or_default(),
        paths: require.hierarchy.clone().unwrap_or_default(),
    };
    let stated = require.stated();
    let claim = SensitiveClaim::required(&require.model, "illness", &stated, Some(cells), &counted);
    Some(SensitiveClaim { counted, ..claim.unwrap().unwrap() })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// What the engine releases passes the checker that shares no code with it; what it refuses without a budget does not.
    #[test]
    fn engine_and_checker_agree_on_what_a_model_means(
        sample in random::sample(2, 25),
        picks in any::<[u8; 5]>(),
        budget in any_budget(),
        by_persons in any::<bool>(),
        by_number in any::<bool>(),
        nobody in any_nobody(),
    ) {
        prop_assume!(sample.n_rows() > 0);
        let mut sample = sample.with_nobody(nobody);
        sample.illnesses = sample.illnesses.iter().map(|illness| illness.replace('i', "1")).collect();
        let setting = Setting::new(&sample, by_persons.then_some("person"));
        let keep_all = Policy::k_anonymity(1).unwrap();
        let input = Input(&setting.table);
        for entry in privacy::ALL {
            let picks = [1, picks[1], picks[2], picks[3], picks[4]];
            let mut require = require(entry.name, &sample, &picks);
            if by_number {
                require.order = None;
            }
            let counted = if by_persons { Counted::Persons } else { Counted::Rows };
            let Some(claim) = claim(&require, counted) else {
                continue;
            };
            let paths = |column: &SampleColumn| Hierarchy {
                levels: (0..column.hierarchy[0].len()).collect(),
                paths: column.hierarchy.iter().map(|path| (path[0].clone(), path.clone())).collect(),
            };
            let claims = Claims {
                quasi_identifiers: sample.columns.iter().map(|column| column.name.clone()).collect(),
                k: 1, combinations: None,
                columns: None,
                sensitive: vec![claim],
                source: Some(Source {
                    input: &input,
                    hierarchies: sample.columns.iter().map(paths).collect(),
                    unit: by_persons.then(|| "person".to_owned()),
                    budget,
                    recoding: RecodingClaim::FullDomain,
                }),
            };
            if setting.asks_for_values_of_nobody(&require) {
                continue;
            }
            let policy = setting.policy(&[Require::k_anonymity(1), require], budget);
            for levels in naive::all_nodes(&sample.heights()) {
                let problem = Problem { source: &setting.rows, policy: &policy };
                let (recoding, holds) = match PerLevel::new(problem, &levels) {
                    Ok(recoding) => (recoding, true),
                    Err(_) if budget > 0 => continue,
                    Err(_) => {
                        let all = Problem { source: &setting.rows, policy: &keep_all };
                        (PerLevel::new(all, &levels).unwrap(), false)
                    }
                };
                let recoding = Recoding::PerLevel(recoding);
                let release = recoding.apply(&setting.table, &setting.attributes).unwrap();
                let report = recheck(&Released(release), &claims);
                let failed: Vec<String> =
                    report.findings.iter().filter(|finding| !finding.holds).map(ToString::to_string).collect();
                prop_assert_eq!(failed.is_empty(), holds, "{} {:?} {:?}", policy.describe(), levels, failed);
            }
        }
    }
}

/// One group of the first rows, and one of the others, at level 0; all of them at level 1.
fn two_groups<T: AsRef<str>>(first: &[T], others: &[T]) -> Sample {
    let hierarchy = ["A", "B"].map(|leaf| vec![leaf.to_owned(), "*".to_owned()]).to_vec();
    let cells = first.iter().map(|_| "A").chain(others.iter().map(|_| "B")).map(str::to_owned).collect();
    let mut sample = Sample::new(vec![SampleColumn { name: "zip".into(), hierarchy, cells }]);
    sample.illnesses = first.iter().chain(others).map(|value| value.as_ref().to_owned()).collect();
    sample
}

/// Does a model admit the first of two groups?
fn admits_first(sample: &Sample, require: &Require, unit: Option<&'static str>) -> bool {
    let setting = Setting::new(sample, unit);
    let model = require.build(&setting.table, &SENSITIVE, unit).unwrap();
    admits_group(&setting, &*model, "A")
}

fn admits_group(setting: &Setting<'_>, model: &dyn PrivacyModel, zip: &str) -> bool {
    let set = setting.rows.count(&Grouping::of_levels(&[0]), &model.demand(), Method::Auto).unwrap();
    let code = setting.attributes[0].hierarchy().labels(0).code(zip).unwrap();
    let at = (0..set.n_groups()).find(|&at| set.label(at, 0) == code).unwrap();
    model.admits(set.measures().group(at)).unwrap()
}

#[test]
fn twenty_nine_of_a_hundred_are_within_0_29_and_thirty_are_not() {
    let group = |n_ill: usize| -> Vec<String> {
        (0..100).map(|at| if at < n_ill { "ill".into() } else { format!("v{at}") }).collect()
    };
    for (n_ill, alpha, holds) in [
        (29, "0.29", true),
        (30, "0.29", false),
        (29, "29%", true),
        (29, "29/100", true),
        (29, "0.289999999999999999", false),
    ] {
        let cells = group(n_ill);
        let sample = two_groups(&cells, &["well".to_owned()]);
        for values in [None, Some(vec!["ill".to_owned()])] {
            let require = Require { alpha: Some(alpha.into()), values, ..Require::of("alpha-k", "illness") };
            assert_eq!(admits_first(&sample, &require, None), holds, "{n_ill} {alpha}");
        }
    }
}

#[test]
fn values_that_are_pooled_count_together() {
    let sample = two_groups(&["a", "b", "c", "d"], &["a", "b", "x", "x"]);
    let alpha = |alpha: &str, values: &[&str]| Require {
        alpha: Some(alpha.into()),
        values: Some(values.iter().map(|&value| value.to_owned()).collect()),
        ..Require::of("alpha-k", "illness")
    };
    assert!(admits_first(&sample, &alpha("0.5", &["a", "b", "a"]), None));
    assert!(!admits_first(&sample, &alpha("0.49", &["a", "b"]), None));
    assert!(admits_first(&sample, &alpha("0.25", &["a"]), None));
    assert!(admits_first(&sample, &alpha("0.01", &["x"]), None));
}

/// The example of the design: 1 to 4 in A with 1 and 2 ill, 1 to 4 in B with 3 and 4 ill; half of each, all of both.
#[test]
fn counted_by_persons_two_admitted_groups_may_merge_to_a_refused_one() {
    let mut sample = two_groups(&["ill", "ill", "well", "well"], &["well", "well", "ill", "ill"]);
    sample.persons = ["1", "2", "3", "4", "1", "2", "3", "4"].map(str::to_owned).to_vec();
    let require = Require {
        alpha: Some("0.5".into()),
        values: Some(vec!["ill".into()]),
        ..Require::of("alpha-k", "illness")
    };
    let setting = Setting::new(&sample, Some("person"));
    let policy = setting.policy(&[Require::k_anonymity(2), require], 0);
    assert_eq!(policy.closure(), Closure::None);
    let problem = Problem { source: &setting.rows, policy: &policy };
    let outcome = Search::incognito().run(problem, &Progress::new()).unwrap();
    assert_eq!(levels_of(&outcome, outcome.holding.iter()), [[0]], "level 1 fails");
    assert_eq!(outcome.left_open, Some(2));
    assert!(policy.feasible(8).is_ok(), "lemma 1 is about rows");
}

/// k-anonymity leaves two of the three nodes open; the lowest need not be judged for α.
#[test]
fn nodes_that_k_anonymity_rules_out_are_not_judged_again() {
    let hierarchy: Vec<Vec<String>> =
        [["1", "12", "*"], ["2", "12", "*"], ["3", "34", "*"], ["4", "34", "*"]]
            .map(|path| path.map(str::to_owned).to_vec())
            .to_vec();
    let cells = ["1", "2", "3", "4"].map(str::to_owned).to_vec();
    let mut sample = Sample::new(vec![SampleColumn { name: "zip".into(), hierarchy, cells }]);
    sample.illnesses = ["h", "x", "h", "y"].map(str::to_owned).to_vec();
    let setting = Setting::new(&sample, None);
    let alpha = Require { alpha: Some("0.5".into()), ..Require::of("alpha-k", "illness") };
    let policy = setting.policy(&[Require::k_anonymity(2), alpha], 1);
    for algorithm in [Traversal::BottomUp, Traversal::Incognito] {
        let search = Search { algorithm, ..Search::incognito() };
        let outcome =
            search.run(Problem { source: &setting.rows, policy: &policy }, &Progress::new()).unwrap();
        assert_eq!(outcome.left_open, Some(2));
        // Levels 0 and 1 for k, which marks level 2; then levels 1 and 2 for all.
        assert_eq!(outcome.work.nodes_checked, 4);
        assert_eq!(levels_of(&outcome, outcome.holding.iter()), [[1], [2]]);
        let last = outcome.iterations.last().unwrap();
        assert_eq!((last.candidates, last.holding, last.checked), (2, 2, 2));
    }
}

/// Leaving a group out moves the whole, and with it the distance of those that are left.
#[test]
fn groups_are_compared_with_what_is_released() {
    // A = {a, a, b} and B = {b, b} are 1/3 from all, which is a 2, b 4. C = {b} is too small and goes; then all is a 2,
    // b 3, and B is 2/5 away.
    let hierarchy: Vec<Vec<String>> =
        ["A", "B", "C"].map(|leaf| vec![leaf.to_owned(), "*".to_owned()]).to_vec();
    let cells = ["A", "A", "A", "B", "B", "C"].map(str::to_owned).to_vec();
    let mut sample = Sample::new(vec![SampleColumn { name: "zip".into(), hierarchy, cells }]);
    sample.illnesses = ["a", "a", "b", "b", "b", "b"].map(str::to_owned).to_vec();
    let setting = Setting::new(&sample, None);
    let requires =
        [Require::k_anonymity(2), Require { t: Some("1/3".into()), ..Require::of("t-closeness", "illness") }];
    let judge = |budget| {
        let policy = setting.policy(&requires, budget);
        let set = setting.rows.count(&Grouping::of_levels(&[0]), &policy.demand(), Method::Auto).unwrap();
        let judgement = policy.judge(&set).unwrap();
        (judgement.refused_rows, judgement.holds)
    };
    assert_eq!(judge(0), (1, false), "compared with the input, as nothing is left out");
    assert_eq!(judge(2), (3, false), "leaving out C is not enough");
    assert_eq!(judge(3), (3, true), "A alone is as it is");
    assert_eq!(setting.left_out(&[0], &requires, 3), [3, 4, 5]);
}

#[test]
fn parameters_out_of_range_are_refused_with_the_number() {
    let sample = two_groups(&["a", "a", "b"], &["c", "c", "c", "c"]);
    let table = sample.table();
    let error = |require: Require| require.build(&table, &SENSITIVE, None).unwrap_err();
    let of = |model: &str| Require::of(model, "illness");
    let number = |text: &str| Some(text.to_owned());
    for (require, message) in [
        (Require::k_anonymity(0), "k is 0"),
        (Require { alpha: number("0"), ..of("alpha-k") }, "alpha is 0, which is not above 0 and at most 1"),
        (
            Require { alpha: number("1.01"), ..of("alpha-k") },
            "alpha is 1.01, which is not above 0 and at most 1",
        ),
        (Require { alpha: number("0.5"), values: Some(vec![]), ..of("alpha-k") }, "`values` is empty"),
        (Require { l: number("0"), ..of("distinct-l") }, "l is 0"),
        (
            Require { l: number("4"), ..of("distinct-l") },
            "l is 4, but column `illness` has only 3 different values",
        ),
        (Require { l: number("1.5"), ..of("distinct-l") }, "l is 1.5, not a whole number"),
        (
            Require { l: number("3.1"), ..of("entropy-l") },
            "l is 3.1, but column `illness` has only 3 different values",
        ),
        (Require { l: number("0.5"), ..of("entropy-l") }, "l is 0.5"),
        (Require { c: number("0"), l: number("2"), ..of("recursive-cl") }, "c is 0"),
        (
            Require { c: number("1"), l: number("9"), ..of("recursive-cl") },
            "l is 9, but column `illness` has only 3 different values",
        ),
        (Require { t: number("1.1"), ..of("t-closeness") }, "t is 1.1, which is above 1"),
        (Require { delta: number("0"), ..of("delta-disclosure") }, "delta is 0"),
        (Require { beta: number("0.0"), ..of("beta-likeness") }, "beta is 0"),
        (Require { alpha: number("0.5"), ..of("t-closeness") }, "`t-closeness` takes no `alpha`"),
        (of("t-closeness"), "`t-closeness` needs `t`"),
        (Require { sensitive: None, l: number("2"), ..of("entropy-l") }, "`entropy-l` needs `sensitive`"),
        (of("t-closenes"), "unknown privacy model `t-closenes`; did you mean `t-closeness`?"),
        (
            Require { t: number("0.2"), distance: number("ordered"), ..of("t-closeness") },
            "column `illness`: 3 of 3 values are not numbers (first in row 1): they have no order",
        ),
    ] {
        let error = error(require);
        assert_eq!(error.to_string(), message);
        assert_eq!(error.kind(), ErrorKind::Input, "{message}");
        assert!(error.hint().is_some(), "{message}");
    }
    assert!(privacy::build("k-anonymity", &Parameters::default().with("k", 3)).is_ok());
}

#[test]
fn alpha_below_the_share_of_the_whole_table_is_refused_with_both_numbers() {
    // 14 of 50.
    let cells: Vec<String> =
        (0..50).map(|at| if at < 14 { "ill".to_owned() } else { format!("v{at}") }).collect();
    let sample = two_groups(&cells, &[]);
    let setting = Setting::new(&sample, None);
    let feasible = |alpha: &str, values: Option<Vec<String>>, budget| {
        let require = Require { alpha: Some(alpha.into()), values, ..Require::of("alpha-k", "illness") };
        setting.policy(&[require], budget).feasible(50)
    };
    assert_eq!(
        feasible("0.2", None, 0).unwrap_err().to_string(),
        "alpha is 0.2, but 14 of 50 rows (28.0 %) have the most frequent value of `illness`"
    );
    assert!(feasible("0.28", None, 0).is_ok(), "just the share");
    // (14 − b)/(50 − b) ≤ 1/5 from b = 5 on: 9 of 45.
    assert_eq!(
        feasible("0.2", Some(vec!["ill".into()]), 4).unwrap_err().to_string(),
        "alpha is 0.2, but 14 of 50 rows (28.0 %) have the given value of `illness`; leaving out 4 rows is not enough"
    );
    assert!(feasible("0.2", Some(vec!["ill".into()]), 5).is_ok());
    let pooled = feasible("0.28", Some(vec!["ill".into(), "v20".into()]), 0).unwrap_err();
    assert!(pooled.to_string().contains("15 of 50 rows (30.0 %) have one of the 2 given values"), "{pooled}");
    assert!(feasible("0.0001", None, 50).is_ok(), "everything may be left out");
    for (require, message) in [
        (
            Require { l: Some("37".into()), ..Require::of("entropy-l", "illness") },
            "l is 37, but the values of `illness` in all 50 rows are as evenly spread as 23.88 equally frequent ones",
        ),
        (
            Require { c: Some("0.4".into()), l: Some("3".into()), ..Require::of("recursive-cl", "illness") },
            "c is 0.4 and l is 3, but 14 of 50 rows have the most frequent value of `illness`, and 35 all from the 3. on \
             together",
        ),
    ] {
        let policy = setting.policy(&[require], 0);
        assert_eq!(policy.feasible(50).unwrap_err().to_string(), message);
        assert!(policy.with_budget(1).feasible(50).is_ok(), "not known before the search");
    }
}

fn text(part: i128, of: i128) -> String {
    format!("{part}/{of}")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// A group's own share is within α, and any less is not.
    #[test]
    fn alpha_is_decided_exactly_at_the_threshold(n_ill in 1..200_usize, n_well in 0..200_usize) {
        let cells: Vec<&str> = (0..n_ill).map(|_| "ill").chain((0..n_well).map(|_| "well")).collect();
        let sample = two_groups(&cells, &["well"]);
        let (part, of) = (n_ill as i128, cells.len() as i128);
        let admits = |alpha: String| {
            let values = Some(vec!["ill".to_owned()]);
            let require = Require { alpha: Some(alpha), values, ..Require::of("alpha-k", "illness") };
            admits_first(&sample, &require, None)
        };
        prop_assert!(admits(text(part, of)));
        let fine = 1_000_000_000_000;
        prop_assert!(!admits(text(part * fine - 1, of * fine)));
    }

    /// A group is as far from all as the cheapest transport says, and any smaller t refuses it.
    #[test]
    fn closeness_is_decided_exactly_at_the_threshold(
        first in proptest::collection::vec(0..6_u8, 1..30),
        others in proptest::collection::vec(0..6_u8, 0..30),
        picks in any::<[u8; 5]>(),
    ) {
        let cells = |values: &[u8]| values.iter().map(|value| format!("v{value}")).collect::<Vec<_>>();
        let (first, others) = (cells(&first), cells(&others));
        let sample = two_groups(&first, &others);
        let picks = [1, picks[1], picks[2], picks[3], picks[4]];
        let require = require("t-closeness", &sample, &picks);
        let count = |cells: &mut dyn Iterator<Item = &String>| {
            let mut counts = std::collections::BTreeMap::new();
            cells.for_each(|cell| *counts.entry(cell.clone()).or_insert(0_i128) += 1);
            counts
        };
        let all = count(&mut sample.illnesses.iter());
        let (part, of) = naive::earth_mover(&require, &count(&mut first.iter()), &all);
        let admits = |t: String| admits_first(&sample, &Require { t: Some(t), ..require.clone() }, None);
        prop_assert!(admits(text(part, of)), "{part}/{of} {:?}", require);
        let fine = 1_000_000_000;
        if part > 0 {
            prop_assert!(!admits(text(part * fine - 1, of * fine)), "{part}/{of} {:?}", require);
        }
    }

    /// Basic likeness is exact; so is recursive diversity.
    #[test]
    fn growth_and_recursion_are_decided_exactly_at_the_threshold(
        n_ill in 1..60_i128,
        n_well in 1..60_i128,
        others in 1..60_i128,
    ) {
        let cells = |n_ill: i128, n_well: i128| -> Vec<&str> {
            (0..n_ill).map(|_| "ill").chain((0..n_well).map(|_| "well")).collect()
        };
        let sample = two_groups(&cells(n_ill, n_well), &cells(0, others));
        // q = ill/(ill + well), p = ill/(ill + well + others): (q − p)/p = others/(ill + well).
        let fine = 1_000_000_000;
        let likeness = |beta: String| {
            let likeness = Some("basic".to_owned());
            let require = Require { beta: Some(beta), likeness, ..Require::of("beta-likeness", "illness") };
            admits_first(&sample, &require, None)
        };
        prop_assert!(likeness(text(others, n_ill + n_well)));
        prop_assert!(!likeness(text(others * fine - 1, (n_ill + n_well) * fine)));
        // r₁ < c·r₂, so not at c = r₁/r₂.
        let (most, least) = (n_ill.max(n_well), n_ill.min(n_well));
        let recursive = |c: String| {
            let require = Require { c: Some(c), l: Some("2".into()), ..Require::of("recursive-cl", "illness") };
            admits_first(&sample, &require, None)
        };
        prop_assert!(!recursive(text(most, least)));
        prop_assert!(recursive(text(most * fine + 1, least * fine)));
    }
}
