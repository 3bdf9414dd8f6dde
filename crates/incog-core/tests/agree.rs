//! Every algorithm, judge and marking finds the nodes that the definition names.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use std::thread::ThreadId;

use incog_core::algorithm::{self, Coverage, MARKINGS, Outcome, Search, Trace, Traversal};
use incog_core::frequency::{FrequencySet, FrequencySource, KeyLayout, KeyWidth, Method, Rows};
use incog_core::group::Demand;
use incog_core::hierarchy::Attributes;
use incog_core::judge::{
    self, BitmapOptions, CubeOptions, Intersect, JudgeKind, Materialize, Problem, Stop, Work,
};
use incog_core::lattice::{Grouping, Lattice};
use incog_core::metric::{self, Costs};
use incog_core::privacy::{self, KAnonymity, Parameters, Policy, PrivacyModel};
use incog_core::{ErrorKind, Progress};
use incog_testkit::{Sample, SampleColumn, naive, random};
use proptest::prelude::*;

/// Every registered judge, and the cube and bitmaps with other options.
fn judges() -> Vec<JudgeKind> {
    let intersects = [Intersect::OneLevel, Intersect::Reusing, Intersect::DepthFirst];
    let bitmaps = intersects.into_iter().flat_map(|intersect| {
        let options =
            [Stop::Early, Stop::AtTheEnd].map(|stop| BitmapOptions { intersect, stop, memory: None });
        options.map(JudgeKind::Bitmap)
    });
    let options = [
        CubeOptions { materialize: Materialize::EveryLevel, memory: None },
        CubeOptions { materialize: Materialize::EveryLevel, memory: Some(200) },
        CubeOptions { materialize: Materialize::ByBenefit, memory: None },
        CubeOptions { materialize: Materialize::ByBenefit, memory: Some(200) },
        CubeOptions { materialize: Materialize::ZeroLevel, memory: Some(0) },
    ];
    let registered = judge::ALL.iter().map(|entry| entry.item);
    registered.chain(options.map(JudgeKind::Cube)).chain(bitmaps).collect()
}

/// A number that looks random.
fn mix(seed: u64, number: usize) -> u64 {
    (seed ^ number as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 33
}

fn nodes(lattice: &Lattice, indexes: impl IntoIterator<Item = usize>) -> Vec<Vec<u8>> {
    indexes.into_iter().map(|node| lattice.levels(node).collect()).collect()
}

fn run(search: Search, rows: &Rows, policy: &Policy) -> Outcome {
    search.run(Problem { source: rows, policy }, &Progress::new()).unwrap()
}

fn check(sample: &Sample, k: u64, budget: u64, width: KeyWidth) -> Result<(), TestCaseError> {
    let expected = naive::satisfying(sample, k, budget);
    let table = sample.table();
    let rows = Rows::with_width(&table, &sample.attributes(&table), width).unwrap();
    let policy = Policy::k_anonymity(k).unwrap().with_budget(budget);
    for algorithm in algorithm::traversals() {
        for judge in judges() {
            for marking in MARKINGS {
                let search =
                    Search { algorithm: algorithm.item, judge, marking: marking.item, ..Search::incognito() };
                let outcome = run(search, &rows, &policy);
                let found = nodes(&outcome.lattice, outcome.holding.iter());
                match outcome.coverage {
                    Coverage::Complete => {
                        prop_assert_eq!(&found, &expected, "{:?}", search);
                        let minimal = nodes(&outcome.lattice, outcome.minimal.iter().copied());
                        prop_assert_eq!(minimal, naive::minimal(&expected), "{:?}", search);
                    }
                    Coverage::OneOfMinimalHeight => {
                        let height = |node: &Vec<u8>| node.iter().map(|&level| u32::from(level)).sum::<u32>();
                        let lowest = expected.iter().min_by_key(|node| height(node));
                        prop_assert_eq!(found.first(), lowest, "{:?}", search);
                        prop_assert!(found.len() <= 1);
                    }
                }
            }
        }
    }
    Ok(())
}

fn key_width() -> impl Strategy<Value = KeyWidth> {
    prop_oneof![Just(KeyWidth::U64), Just(KeyWidth::U128), Just(KeyWidth::Wide)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn every_search_finds_exactly_the_nodes_of_the_definition(
        sample in random::sample(4, 40),
        k in prop_oneof![1..=6_u64, Just(100)],
        budget in prop_oneof![Just(0_u64), 1..=12_u64, Just(40)],
        width in key_width(),
    ) {
        check(&sample, k, budget, width)?;
    }

    #[test]
    fn several_threads_do_the_same_work_and_find_the_same(
        sample in random::sample(4, 40),
        k in 1..=6_u64,
        budget in 0..=5_u64,
    ) {
        let table = sample.table();
        let rows = Rows::new(&table, &sample.attributes(&table)).unwrap();
        let policy = Policy::k_anonymity(k).unwrap().with_budget(budget);
        for judge in judges() {
            let search = Search { judge, trace: Trace::Families, ..Search::incognito() };
            let alone = run(search, &rows, &policy);
            let together = run(Search { threads: 3, ..search }, &rows, &policy);
            prop_assert_eq!(&alone.holding, &together.holding);
            prop_assert_eq!(alone.work, together.work);
            prop_assert_eq!(&alone.iterations, &together.iterations);
            let checked = |outcome: &Outcome| -> Vec<Vec<(usize, bool)>> {
                outcome.families.iter().map(|family| family.checked.clone()).collect()
            };
            prop_assert_eq!(checked(&alone), checked(&together));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4))]

    #[test]
    fn keys_of_more_than_64_and_128_bits_change_nothing(
        medium in random::long_keys(3, 22),
        long in random::long_keys(2, 70),
        k in 2..=4_u64,
        budget in 0..=6_u64,
    ) {
        for (sample, bits, width) in [(medium, 66, KeyWidth::U128), (long, 140, KeyWidth::Wide)] {
            let table = sample.table();
            let attributes = sample.attributes(&table);
            let rows = Rows::new(&table, &attributes).unwrap();
            prop_assert_eq!((rows.layout().n_bits(), rows.layout().width()), (bits, width));
            let wide = Rows::with_width(&table, &attributes, KeyWidth::Wide).unwrap();
            let expected = naive::satisfying(&sample, k, budget);
            let policy = Policy::k_anonymity(k).unwrap().with_budget(budget);
            for rows in [&rows, &wide] {
                for judge in [JudgeKind::Scan, JudgeKind::RollUp, JudgeKind::SuperRoots] {
                    let outcome = run(Search { judge, ..Search::incognito() }, rows, &policy);
                    prop_assert_eq!(nodes(&outcome.lattice, outcome.holding.iter()), expected.clone());
                }
            }
        }
    }
}

#[test]
fn an_empty_table_holds_everywhere() {
    let mut sample = Sample::new(vec![]);
    for name in ["a", "b"] {
        let hierarchy = vec![vec!["x".to_owned(), "*".to_owned()], vec!["y".to_owned(), "*".to_owned()]];
        sample.columns.push(SampleColumn { name: name.into(), hierarchy, cells: vec![] });
    }
    check(&sample, 5, 0, KeyWidth::U64).unwrap();
    assert_eq!(naive::satisfying(&sample, 5, 0).len(), 4);
}

/// A source that is not ours: counts by the definition and hands over label codes, as a database would.
struct Elsewhere<'a> {
    sample: &'a Sample,
    attributes: Attributes,
    layout: Arc<KeyLayout>,
}

impl FrequencySource for Elsewhere<'_> {
    fn layout(&self) -> &Arc<KeyLayout> {
        &self.layout
    }

    fn n_rows(&self) -> u64 {
        self.sample.n_rows() as u64
    }

    fn count(&self, grouping: &Grouping, _: &Demand, _: Method) -> incog_core::Result<FrequencySet> {
        let levels: Vec<Option<u8>> = (0..self.attributes.len()).map(|at| grouping.level(at)).collect();
        let groups: Vec<(Vec<u32>, u64)> = naive::groups(self.sample, &levels)
            .into_iter()
            .map(|(labels, rows)| {
                let codes = grouping.iter().zip(&labels).map(|((at, level), label)| {
                    self.attributes[at].hierarchy().labels(level).code(label).unwrap()
                });
                (codes.collect(), rows.len() as u64)
            })
            .collect();
        FrequencySet::from_groups(
            &self.layout,
            grouping,
            groups.iter().map(|(codes, n)| (codes.as_slice(), *n)),
        )
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn counts_from_elsewhere_serve_as_well(sample in random::sample(3, 25), k in 1..=4_u64, budget in 0..=5_u64) {
        let table = sample.table();
        let attributes = sample.attributes(&table);
        let layout = Arc::new(KeyLayout::new(&attributes));
        let source = Elsewhere { sample: &sample, attributes, layout };
        let policy = Policy::k_anonymity(k).unwrap().with_budget(budget);
        let expected = naive::satisfying(&sample, k, budget);
        for judge in judges() {
            let search = Search { judge, ..Search::incognito() };
            let outcome = search.run(Problem { source: &source, policy: &policy }, &Progress::new());
            if let JudgeKind::Bitmap(_) = judge {
                // Bitmaps need the records themselves.
                prop_assert_eq!(outcome.unwrap_err().kind(), ErrorKind::Policy);
                continue;
            }
            let outcome = outcome.unwrap();
            prop_assert_eq!(nodes(&outcome.lattice, outcome.holding.iter()), expected.clone());
        }
    }
}

/// Passes questions on and remembers which threads asked them.
struct Witness<'a> {
    rows: &'a Rows,
    threads: Mutex<HashSet<ThreadId>>,
}

impl FrequencySource for Witness<'_> {
    fn layout(&self) -> &Arc<KeyLayout> {
        self.rows.layout()
    }

    fn n_rows(&self) -> u64 {
        self.rows.n_rows()
    }

    fn count(
        &self,
        grouping: &Grouping,
        demand: &Demand,
        method: Method,
    ) -> incog_core::Result<FrequencySet> {
        self.threads.lock().unwrap().insert(std::thread::current().id());
        self.rows.count(grouping, demand, method)
    }
}

#[test]
fn with_several_threads_families_are_searched_on_other_threads() {
    let case = incog_testkit::case::Case::all().remove(0);
    let sample = case.sample();
    let table = sample.table();
    let rows = Rows::new(&table, &sample.attributes(&table)).unwrap();
    let policy = Policy::k_anonymity(2).unwrap();
    let me = std::thread::current().id();
    let asked_by = |threads: usize| {
        let source = Witness { rows: &rows, threads: Mutex::default() };
        let search = Search { threads, ..Search::incognito() };
        search.run(Problem { source: &source, policy: &policy }, &Progress::new()).unwrap();
        source.threads.into_inner().unwrap()
    };
    assert_eq!(asked_by(1), HashSet::from([me]));
    assert!(!asked_by(2).contains(&me), "a pool of its own does the work");
}

#[test]
fn what_is_recommended_is_what_runs_by_default() {
    let Search { algorithm, judge, .. } = Search::default();
    assert_eq!(algorithm, algorithm::choose(&[3, 2, 1]));
    assert_eq!((algorithm, judge), (Traversal::Cover, JudgeKind::Snapshots));
}

#[test]
fn too_many_subsets_are_refused_and_not_chosen() {
    assert_eq!(algorithm::choose(&[1; 20]), Traversal::Cover);
    assert_eq!(algorithm::choose(&[1; 30]), Traversal::BottomUp);
    let with = |judge, n_attributes| algorithm::choose_for(judge, &vec![1; n_attributes]);
    assert_eq!(with(JudgeKind::RollUp, 18), Traversal::Incognito);
    assert_eq!(with(JudgeKind::RollUp, 20), Traversal::BottomUp);
    assert_eq!(with(JudgeKind::Snapshots, 20), Traversal::Cover);
    let hierarchy = vec![vec!["x".to_owned(), "*".to_owned()]];
    let columns = (0..20).map(|at| SampleColumn {
        name: format!("q{at}"),
        hierarchy: hierarchy.clone(),
        cells: vec!["x".into(), "x".into()],
    });
    let sample = Sample::new(columns.collect());
    let table = sample.table();
    let rows = Rows::new(&table, &sample.attributes(&table)).unwrap();
    let policy = Policy::k_anonymity(2).unwrap();
    let problem = Problem { source: &rows, policy: &policy };
    let error = Search::incognito().run(problem, &Progress::new()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
    assert!(error.hint().unwrap().contains("bottom-up"));
    let bottom_up = Search { algorithm: Traversal::BottomUp, ..Search::incognito() };
    assert_eq!(bottom_up.run(problem, &Progress::new()).unwrap().minimal, [0]);
}

#[test]
fn a_cancelled_search_stops_with_an_error_and_changes_nothing() {
    let case = incog_testkit::case::Case::all().remove(0);
    let sample = case.sample();
    let table = sample.table();
    let rows = Rows::new(&table, &sample.attributes(&table)).unwrap();
    let policy = Policy::k_anonymity(2).unwrap();
    for algorithm in algorithm::traversals() {
        let progress = Progress::new();
        progress.cancel();
        let search = Search { algorithm: algorithm.item, ..Search::incognito() };
        let error = search.run(Problem { source: &rows, policy: &policy }, &progress).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Cancelled);
        assert_eq!(progress.nodes_judged(), 1, "it asked before it judged");
    }
    let problem = Problem { source: &rows, policy: &policy };
    let cancelled = Progress::new();
    cancelled.cancel();
    let cube = Search { judge: JudgeKind::Cube(CubeOptions::ZERO_LEVEL), ..Search::incognito() };
    assert!(cube.run(problem, &cancelled).is_err());
    assert_eq!(cancelled.nodes_judged(), 0, "the cube stops while it is being built");
    for algorithm in algorithm::traversals() {
        let progress = Progress::new();
        let search = Search { algorithm: algorithm.item, ..Search::incognito() };
        let outcome = search.run(problem, &progress).unwrap();
        assert_eq!(progress.nodes_judged(), outcome.work.nodes_checked, "{}", algorithm.name);
        assert_eq!(progress.nodes_open(), 0, "{}", algorithm.name);
        let attributes = sample.attributes(&table);
        let costs = Costs::new(problem, &attributes).unwrap();
        let (lattice, holding) = (&outcome.lattice, &outcome.holding);
        assert!(metric::describe(problem, &attributes, lattice, &outcome.minimal, &cancelled).is_err());
        for entry in metric::ALL {
            assert!(
                metric::best(problem, &attributes, lattice, holding, &costs, entry.item, &cancelled).is_err()
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(30))]

    /// Sets of many lines, dense and sparse, intersected and looked up; more labels than a byte can tell apart.
    #[test]
    fn bitmaps_of_some_thousand_records_agree_with_scans(
        seed in any::<u64>(),
        n_rows in 500..6000_usize,
        n_values in proptest::collection::vec(prop_oneof![2..5_usize, 5..40_usize, 260..400_usize], 2..4),
        k in 2..60_u64,
        budget in prop_oneof![Just(0_u64), 1..200_u64],
    ) {
        let columns = n_values.iter().enumerate().map(|(at, &n_values)| {
            let cell = |row: usize| {
                let mixed = (seed ^ (row * 31 + at) as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
                let share = (mixed >> 40) as f64 / (1_u64 << 24) as f64;
                // Some values are much more frequent than others.
                ((share.powi(3) * n_values as f64) as usize).to_string()
            };
            let labels = |value: usize| vec![value.to_string(), format!("{} of 5", value / 5), "*".into()];
            SampleColumn {
                name: format!("column {at}"),
                hierarchy: (0..n_values).map(labels).collect(),
                cells: (0..n_rows).map(cell).collect(),
            }
        });
        let mut sample = Sample::new(columns.collect());
        sample.illnesses = (0..n_rows).map(|row| (mix(seed, row) % 7).min(4).to_string()).collect();
        let table = sample.table();
        let rows = Rows::new(&table, &sample.attributes(&table)).unwrap();
        let rows = rows.with_sensitive(&table, &["illness"]).unwrap();
        let sensitive = privacy::Sensitive::of_rows(0, table.column("illness").unwrap());
        let parameters = Parameters::of(sensitive).with("alpha", "0.55".parse::<privacy::Fraction>().unwrap());
        let alpha = privacy::build("alpha-k", &parameters);
        let models: Vec<Box<dyn PrivacyModel>> = vec![Box::new(KAnonymity::new(k).unwrap()), alpha.unwrap()];
        let of_rows = Policy::k_anonymity(k).unwrap().with_budget(budget);
        for policy in [of_rows, Policy::new(models, budget).unwrap()] {
            let scan = Search { judge: JudgeKind::Scan, ..Search::incognito() };
            let expected = run(scan, &rows, &policy);
            for judge in judges().into_iter().filter(|judge| matches!(judge, JudgeKind::Bitmap(_))) {
                let found = run(Search { judge, ..scan }, &rows, &policy);
                prop_assert_eq!(&found.holding, &expected.holding, "{:?}", judge);
            }
        }
    }
}

#[test]
fn bitmaps_that_would_not_fit_are_an_error_with_the_column_and_the_need() {
    let column = |name: &str, n_values: usize| SampleColumn {
        name: name.into(),
        hierarchy: (0..n_values).map(|value| vec![value.to_string(), "*".into()]).collect(),
        cells: (0..5000).map(|row| (row * 7 / 3 % n_values).to_string()).collect(),
    };
    let sample = Sample::new(vec![column("gender", 2), column("zip", 50)]);
    let table = sample.table();
    let rows = Rows::new(&table, &sample.attributes(&table)).unwrap();
    let policy = Policy::k_anonymity(60).unwrap();
    let with = |memory: u64, intersect: Intersect| {
        let options = BitmapOptions { memory: Some(memory), intersect, ..BitmapOptions::BEST };
        let search = Search { judge: JudgeKind::Bitmap(options), ..Search::incognito() };
        search.run(Problem { source: &rows, policy: &policy }, &Progress::new())
    };
    // 5000 bits in lines of 64 bytes are 640 bytes. Zip codes are 50 lists of 100 records, 4 bytes each, and the top. Both
    // columns have a byte a record besides.
    let need = (2 * 640 + 640 + 5000) + (20_000 + 640 + 5000);
    let error = with(need - 1, Intersect::DepthFirst).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
    assert_eq!(
        error.to_string(),
        "bitmaps of all columns take 32560 bytes, those of column `zip` alone 25640; the bound is 32559"
    );
    let expected = run(Search::incognito(), &rows, &policy).holding;
    for intersect in [Intersect::OneLevel, Intersect::Reusing, Intersect::DepthFirst] {
        // Where the index just fits, nothing else is kept.
        assert_eq!(with(need, intersect).unwrap().holding, expected, "{intersect:?}");
    }
}

#[test]
fn reusing_saves_operations_and_costs_memory() {
    let case = incog_testkit::case::Case::all().remove(0);
    let sample = case.sample();
    let table = sample.table();
    let rows = Rows::new(&table, &sample.attributes(&table)).unwrap();
    let policy = Policy::k_anonymity(2).unwrap();
    let problem = Problem { source: &rows, policy: &policy };
    let with = |intersect, stop| {
        let judge = JudgeKind::Bitmap(BitmapOptions { intersect, stop, memory: None });
        let judge = judge.prepare(problem, &Progress::new()).unwrap();
        let outcome = Search::incognito().run_with(&*judge, problem, &Progress::new()).unwrap();
        (outcome.work, judge.peak_bytes())
    };
    let (afresh, index) = with(Intersect::OneLevel, Stop::AtTheEnd);
    let (reusing, kept) = with(Intersect::Reusing, Stop::AtTheEnd);
    assert!(reusing.ands < afresh.ands, "{} against {}", reusing.ands, afresh.ands);
    assert!(reusing.ors > afresh.ors, "generalizing is an OR");
    assert!(kept > index, "{kept} against {index} bytes");
    for intersect in [Intersect::OneLevel, Intersect::Reusing, Intersect::DepthFirst] {
        let (all, _) = with(intersect, Stop::AtTheEnd);
        let (pruned, _) = with(intersect, Stop::Early);
        let operations = |work: Work| work.ands + work.ors + work.counts + work.look_ups;
        assert!(operations(pruned) < operations(all), "{intersect:?}");
    }
}
