//! Records that are not in memory: whatever the room, the answers are those of records that are.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use incog_core::algorithm::{KRange, Search, TopDownOptions, Traversal, every_k, optimum, top_down};
use incog_core::frequency::{FrequencySet, FrequencySource, Method, Rows, Store, Stored};
use incog_core::group::Demand;
use incog_core::hierarchy::Attributes;
use incog_core::judge::{BitmapOptions, CubeOptions, Intersect, JudgeKind, Materialize, Problem, Stop};
use incog_core::lattice::Grouping;
use incog_core::metric::{self, Costs};
use incog_core::privacy::{Policy, Unit};
use incog_core::recoding::PerLevel;
use incog_core::registry::find;
use incog_core::table::{Column, Role, Table};
use incog_core::{Error, ErrorKind, Progress, Result};
use incog_testkit::{Sample, SampleColumn, naive, random};
use proptest::prelude::*;

/// A store that counts what is read, and may fail.
#[derive(Default)]
struct Bytes {
    bytes: Vec<u8>,
    n_read: AtomicU64,
    /// Bytes after which nothing can be read any more.
    fails_after: Option<u64>,
}

impl Store for Bytes {
    fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    fn read(&self, place: u64, to: &mut [u8]) -> Result<()> {
        let n = self.n_read.fetch_add(to.len() as u64, Relaxed);
        if self.fails_after.is_some_and(|most| n > most) {
            return Err(Error::new(ErrorKind::Io, "the disk is gone"));
        }
        to.copy_from_slice(&self.bytes[place as usize..][..to.len()]);
        Ok(())
    }
}

fn stored(table: &Table, attributes: &Attributes, room: u64, fails_after: Option<u64>) -> Stored {
    let read = |attribute: usize, first: usize, to: &mut [u32]| {
        let column = table.column(attributes[attribute].name()).unwrap();
        to.copy_from_slice(&column.codes()[first..first + to.len()]);
        Ok(())
    };
    let store = Box::new(Bytes { fails_after, ..Bytes::default() });
    Stored::new(attributes, table.n_rows(), store, room, read).unwrap()
}

/// A group's labels, as codes, and its rows.
fn groups(set: &FrequencySet, n_attributes: usize) -> BTreeMap<Vec<u32>, u64> {
    let labels = |group| (0..n_attributes).map(|attribute| set.label(group, attribute)).collect();
    let groups: BTreeMap<_, _> =
        (0..set.n_groups()).map(|group| (labels(group), set.measures().rows()[group])).collect();
    assert_eq!(groups.len(), set.n_groups(), "no group comes twice");
    groups
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn all_nodes_and_the_best_are_those_of_records_in_memory(
        sample in random::sample(4, 40),
        k in 1..=4_u64,
        budget in 0..6_u64,
        room in prop::sample::select(vec![0_u64, 200, 4000, 1 << 30]),
    ) {
        let table = sample.table();
        let attributes = sample.attributes(&table);
        let source = stored(&table, &attributes, room, None);
        let limited = Rows::new(&table, &attributes).unwrap().with_room(room);
        let policy = Policy::k_anonymity(k).unwrap().with_budget(budget);
        let problem = Problem { source: &source, policy: &policy };
        let search = Search { algorithm: Traversal::Cover, judge: JudgeKind::Snapshots, ..Search::incognito() };
        for problem in [problem, Problem { source: &limited, policy: &policy }] {
            let found = search.run(problem, &Progress::new()).unwrap();
            let holding: Vec<Vec<u8>> =
                found.holding.iter().map(|node| found.lattice.levels(node).collect()).collect();
            prop_assert_eq!(&holding, &naive::satisfying(&sample, k, budget));
        }

        let rows = Rows::new(&table, &attributes).unwrap();
        let in_memory = Problem { source: &rows, policy: &policy };
        for entry in metric::ALL {
            let best = |problem| {
                let costs = Costs::new(problem, &attributes).unwrap();
                let best = optimum(problem, &attributes, &costs, entry.item, &Progress::new()).unwrap().best;
                best.map(|best| (best.node, best.statistics))
            };
            prop_assert_eq!(best(problem), best(in_memory), "{}", entry.name);
        }
        let every_k = |source| {
            let question = KRange { source, unit: Unit::Rows, budget, k: 1..=6 };
            let found = every_k(&question, &Progress::new()).unwrap();
            (0..found.lattice.n_nodes()).map(|node| found.largest(node)).collect::<Vec<_>>()
        };
        prop_assert_eq!(every_k(&source as &dyn FrequencySource), every_k(&rows));

        for levels in naive::all_nodes(&attributes.heights()) {
            let grouping = Grouping::of_levels(&levels);
            let all = source.count(&grouping, &Demand::default(), Method::Auto).unwrap();
            let all = groups(&all, attributes.len());
            let expected = rows.count(&grouping, &Demand::default(), Method::Auto).unwrap();
            prop_assert_eq!(&all, &groups(&expected, attributes.len()));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(80))]

    /// Wherever the records are, and whether their cells fit or not: the same recoding, or the need.
    #[test]
    fn top_down_makes_the_same_of_records_elsewhere_or_says_what_it_needs(
        sample in random::sample(4, 40),
        k in 1..=4_u64,
        room in prop::sample::select(vec![0_u64, 2000, 8000, 1 << 30]),
        seed in prop::option::of(any::<u64>()),
    ) {
        let table = sample.table();
        let attributes = sample.attributes(&table);
        let policy = Policy::k_anonymity(k).unwrap();
        let run = |source: &dyn FrequencySource| {
            let options = TopDownOptions { seed, ..TopDownOptions::default() };
            top_down(Problem { source, policy: &policy }, options, &Progress::new())
        };
        let in_memory = Rows::new(&table, &attributes).unwrap();
        let expected = run(&in_memory).unwrap();
        let limited = Rows::new(&table, &attributes).unwrap().with_room(room);
        for source in [&limited as &dyn FrequencySource, &stored(&table, &attributes, room, None)] {
            match run(source) {
                Ok(found) => prop_assert_eq!(&found, &expected),
                Err(error) => {
                    prop_assert!(room < 1 << 30 && error.to_string().contains("there is room for"), "{}", error);
                }
            }
        }
    }
}

/// Every way to judge, under Incognito, which knows them all. `true`: it may say that there is not enough room.
fn judges() -> Vec<(JudgeKind, bool)> {
    let cube = |materialize| JudgeKind::Cube(CubeOptions { materialize, memory: None });
    let bitmap = |intersect, stop| JudgeKind::Bitmap(BitmapOptions { intersect, stop, memory: None });
    vec![
        (JudgeKind::Snapshots, false),
        (JudgeKind::RollUp, false),
        (JudgeKind::SuperRoots, false),
        (JudgeKind::Scan, false),
        (JudgeKind::Sort, false),
        (bitmap(Intersect::DepthFirst, Stop::Early), false),
        (bitmap(Intersect::DepthFirst, Stop::AtTheEnd), false),
        (bitmap(Intersect::OneLevel, Stop::Early), true),
        (bitmap(Intersect::Reusing, Stop::AtTheEnd), true),
        (cube(Materialize::ZeroLevel), true),
        (cube(Materialize::EveryLevel), true),
        (cube(Materialize::ByBenefit), true),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Groups that do not fit are judged in parts, and a checker that cannot do that says what it needs.
    #[test]
    fn every_judge_is_right_in_any_room_or_refuses(
        sample in random::sample(4, 60),
        k in 1..=4_u64,
        budget in 0..6_u64,
        room in prop::sample::select(vec![0_u64, 3000, 9000, 1 << 30]),
        threads in 1..=2_usize,
    ) {
        let table = sample.table();
        let attributes = sample.attributes(&table);
        let source = stored(&table, &attributes, room, None);
        let limited = Rows::new(&table, &attributes).unwrap().with_room(room);
        let policy = Policy::k_anonymity(k).unwrap().with_budget(budget);
        let expected = naive::satisfying(&sample, k, budget);
        for source in [&source as &dyn FrequencySource, &limited] {
            let problem = Problem { source, policy: &policy };
            for (judge, may_refuse) in judges() {
                for algorithm in [Traversal::Incognito, Traversal::BottomUp] {
                    let search = Search { algorithm, judge, threads, ..Search::incognito() };
                    let found = match search.run(problem, &Progress::new()) {
                        Ok(found) => found,
                        Err(error) => {
                            prop_assert!(may_refuse, "{judge:?}: {error}");
                            prop_assert!(matches!(error.kind(), ErrorKind::Limit | ErrorKind::Policy), "{error}");
                            continue;
                        }
                    };
                    let holding: Vec<Vec<u8>> =
                        found.holding.iter().map(|node| found.lattice.levels(node).collect()).collect();
                    prop_assert_eq!(&holding, &expected, "{:?} with {:?}", judge, algorithm);
                    for entry in metric::ALL {
                        let costs = Costs::new(problem, &attributes).unwrap();
                        let best = |problem| {
                            let (lattice, holding) = (&found.lattice, &found.holding);
                            metric::best(problem, &attributes, lattice, holding, &costs, entry.item, &Progress::new())
                                .unwrap()
                                .map(|best| (best.node, best.statistics))
                        };
                        let rows = Rows::new(&table, &attributes).unwrap();
                        prop_assert_eq!(best(problem), best(Problem { source: &rows, policy: &policy }));
                    }
                }
            }
        }
    }

    /// What is left out is the same, whether the groups were there at once or in parts.
    #[test]
    fn a_node_is_recoded_alike_in_any_room(
        sample in random::sample(3, 80),
        k in 2..=4_u64,
        room in prop::sample::select(vec![0_u64, 3000, 9000]),
    ) {
        let table = sample.table();
        let attributes = sample.attributes(&table);
        let source = stored(&table, &attributes, room, None);
        let rows = Rows::new(&table, &attributes).unwrap();
        let policy = Policy::k_anonymity(k).unwrap().with_budget(5);
        for levels in naive::all_nodes(&attributes.heights()) {
            let of = |source| PerLevel::new(Problem { source, policy: &policy }, &levels);
            match (of(&source as &dyn FrequencySource), of(&rows)) {
                (Ok(found), Ok(expected)) => prop_assert_eq!(
                    groups(found.suppressed(), attributes.len()),
                    groups(expected.suppressed(), attributes.len())
                ),
                (Err(found), Err(expected)) => prop_assert_eq!(found.to_string(), expected.to_string()),
                (found, expected) => prop_assert!(false, "{found:?} {expected:?}"),
            }
        }
    }
}

/// Compares the best node by loss with that of records in memory, for some k and budgets, with each room in bytes.
/// Returns the fewest nodes that were judged to find it in memory.
fn check_rooms(columns: Vec<SampleColumn>, policies: &[(u64, u64)], rooms: &[u64]) -> usize {
    let sample = Sample::new(columns);
    let table = sample.table();
    let attributes = sample.attributes(&table);
    let rows = Rows::new(&table, &attributes).unwrap();
    let loss = find(metric::ALL, "loss").unwrap().item;
    let mut fewest = usize::MAX;
    for &(k, budget) in policies {
        let policy = Policy::k_anonymity(k).unwrap().with_budget(budget);
        let best = |source: &dyn FrequencySource| {
            let problem = Problem { source, policy: &policy };
            let costs = Costs::new(problem, &attributes).unwrap();
            let found = optimum(problem, &attributes, &costs, loss, &Progress::new()).unwrap();
            (found.best.map(|best| (best.node, best.statistics)), found.judged.len())
        };
        let (expected, n_judged) = best(&rows);
        fewest = fewest.min(n_judged);
        for &room in rooms {
            assert_eq!(best(&stored(&table, &attributes, room, None)).0, expected, "k = {k}, room {room}");
            let limited = Rows::new(&table, &attributes).unwrap().with_room(room);
            assert_eq!(best(&limited).0, expected, "k = {k}, room {room}, in memory");
        }
    }
    fewest
}

/// Many rows: nodes fail early, and there are more groups than room.
#[test]
fn large_tables_are_judged_in_parts() {
    let n_rows = (1 << 18) + 999;
    let column = |at, n_values, steps: &[u64]| SampleColumn::skewed(at, n_rows, n_values, steps);
    let columns = vec![column(0, 900, &[30, 900]), column(1, 700, &[7, 70, 700]), column(2, 40, &[5, 40])];
    let policies = [(2, 0), (5, n_rows / 20), (300, n_rows / 100)];
    check_rooms(columns, &policies, &[1 << 19, 1 << 22, 1 << 30]);
}

/// There are enough rows for sets to be made for what will be asked, if there is room for them.
#[test]
fn whatever_the_room_for_sets_the_best_is_the_same() {
    let n_rows = 5000;
    let columns = (0..5).map(|at| SampleColumn::skewed(at, n_rows, 9, &[3, 9])).collect();
    let n_judged = check_rooms(columns, &[(2, n_rows / 2), (5, n_rows / 20)], &[0, 2000, 40_000, 1 << 30]);
    assert!(n_judged > 10, "there is something to prepare for");
}

/// A set that is worth keeping, and larger than the room: it is made once, and not asked for again.
#[test]
fn what_cannot_be_kept_is_done_without() {
    let n_rows = 2000;
    let columns = (0..3).map(|at| SampleColumn::skewed(at, n_rows, 60, &[8, 64])).collect();
    let sample = Sample::new(columns);
    let table = sample.table();
    let attributes = sample.attributes(&table);
    let policy = Policy::k_anonymity(3).unwrap().with_budget(20);
    let expected = naive::satisfying(&sample, 3, 20);
    for room in [0, 100, 1000] {
        let rows = Rows::new(&table, &attributes).unwrap().with_room(room);
        let stored = stored(&table, &attributes, room, None);
        for source in [&rows as &dyn FrequencySource, &stored] {
            let search =
                Search { algorithm: Traversal::Cover, judge: JudgeKind::Snapshots, ..Search::incognito() };
            let found = search.run(Problem { source, policy: &policy }, &Progress::new()).unwrap();
            let holding: Vec<Vec<u8>> =
                found.holding.iter().map(|node| found.lattice.levels(node).collect()).collect();
            assert_eq!(holding, expected, "room {room}");
        }
    }
}

#[test]
fn what_cannot_be_read_is_an_error() {
    let cells = ["a", "b", "a", "c"];
    let column = Column::from_cells("q", Role::QuasiIdentifier, cells).unwrap();
    let sample = SampleColumn {
        name: "q".into(),
        hierarchy: ["a", "b", "c"].map(|value| vec![value.to_owned(), "*".to_owned()]).to_vec(),
        cells: cells.map(str::to_owned).to_vec(),
    };
    let attributes = Sample::new(vec![sample]).attributes(&Table::new(vec![column.clone()]).unwrap());
    let table = Table::new(vec![column]).unwrap();
    let source = stored(&table, &attributes, 1 << 20, Some(0));
    let policy = Policy::k_anonymity(2).unwrap();
    let problem = Problem { source: &source, policy: &policy };
    let read = |_| Search::incognito().run(problem, &Progress::new());
    // The first look at the records may pass.
    let failed = (0..2).map(read).find_map(Result::err);
    assert_eq!(failed.expect("the second look fails").kind(), ErrorKind::Io);
}
