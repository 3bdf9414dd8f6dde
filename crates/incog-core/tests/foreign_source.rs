//! A source that can do nothing but count serves every search as well as rows in memory do.
//!
//! [`Strings`] stands for an engine that is not ours: it groups rows by their labels as text, with a hash map, and hands
//! over plain data. It has neither packed keys nor records.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use incog_core::algorithm::quality::Found;
use incog_core::algorithm::{
    self, Aim, Answer, Coverage, Family, KRange, Limits, MARKINGS, Outcome, Quality, Search, Settings, Task,
    Traversal, best_first, every_k, has_best_first_search, optimum,
};
use incog_core::frequency::{
    Bottom, CountedGroup, FrequencySet, FrequencySource, KeyLayout, KeyWidth, Method, Rows, Scratch,
};
use incog_core::group::Demand;
use incog_core::hierarchy::Attributes;
use incog_core::judge::{self, CubeOptions, JudgeKind, Materialize, Problem, refused_rows};
use incog_core::lattice::{Grouping, Lattice};
use incog_core::metric::{self, Costs, Scored};
use incog_core::privacy::{self, Policy, Pruning, Sensitive, Unit};
use incog_core::recoding::{Domain, Order, PerLevel, Recoding};
use incog_core::table::{Column, Table};
use incog_core::{Error, ErrorKind, Progress, Result};
use incog_testkit::random::require;
use incog_testkit::{Require, Sample, SampleColumn, algorithms, random};
use proptest::prelude::*;

/// The sensitive columns. The persons serve as a second one where rows are counted.
const SENSITIVE: [&str; 2] = ["illness", "person"];

/// What a source hands over for a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HandsOver {
    /// The group, counted.
    Groups,
    /// Its rows one by one, as a query for details would.
    Rows,
}

/// A table of strings.
struct Strings<'a> {
    sample: &'a Sample,
    attributes: &'a Attributes,
    table: &'a Table,
    layout: Arc<KeyLayout>,
    /// A number for each person; none of the engine's.
    persons: HashMap<&'a str, u32>,
    /// Are there rows about nobody?
    has_unit: bool,
    hands_over: HandsOver,
    /// Each row counts as this number of rows.
    times: u64,
    room: Option<u64>,
    n_asked: AtomicU64,
}

impl<'a> Strings<'a> {
    fn new(setting: &'a Setting<'a>, hands_over: HandsOver) -> Self {
        let mut persons = HashMap::new();
        for person in setting.sample.persons.iter().rev() {
            let number = 1_000_000 - persons.len() as u32;
            persons.entry(person.as_str()).or_insert(number);
        }
        Strings {
            sample: setting.sample,
            attributes: &setting.attributes,
            table: &setting.table,
            layout: Arc::new(KeyLayout::at_least(&setting.attributes, setting.width)),
            persons,
            has_unit: setting.unit.is_some(),
            hands_over,
            times: 1,
            room: None,
            n_asked: AtomicU64::new(0),
        }
    }

    /// The label of a row, as text.
    fn label(&self, row: usize, attribute: usize, level: u8) -> &str {
        let column = &self.sample.columns[attribute];
        let path = column.hierarchy.iter().find(|path| path[0] == column.cells[row]).unwrap();
        &path[usize::from(level)]
    }

    fn code(&self, attribute: usize, level: u8, label: &str) -> u32 {
        self.attributes[attribute].hierarchy().labels(level).code(label).unwrap()
    }

    /// Whom a row is about.
    fn person(&self, row: usize) -> Option<u32> {
        let person = self.sample.persons[row].as_str();
        (!person.is_empty()).then(|| self.persons[person])
    }

    /// The value of a row in a sensitive column, unless it is about nobody.
    fn value(&self, row: usize, column: usize) -> Option<u32> {
        let cells = if column == 0 { &self.sample.illnesses } else { &self.sample.persons };
        let is_counted = !self.has_unit || self.person(row).is_some();
        is_counted
            .then(|| self.table.column(SENSITIVE[column]).unwrap().dictionary().code(&cells[row]).unwrap())
    }

    /// What is known of some rows of one group.
    fn counted(&self, grouping: &Grouping, demand: &Demand, rows: &[usize]) -> CountedGroup {
        let mut group = CountedGroup {
            labels: grouping
                .iter()
                .map(|(at, level)| self.code(at, level, self.label(rows[0], at, level)))
                .collect(),
            rows: rows.len() as u64 * self.times,
            ..CountedGroup::default()
        };
        if demand.persons {
            group.persons = rows.iter().filter_map(|&row| self.person(row)).collect();
            group.persons.sort_unstable();
            group.persons.dedup();
        }
        for &column in &demand.histograms {
            let mut histogram: HashMap<u32, u64> = HashMap::new();
            for value in rows.iter().filter_map(|&row| self.value(row, column)) {
                *histogram.entry(value).or_default() += self.times;
            }
            group.histograms.push(histogram.into_iter().collect());
        }
        for &column in &demand.persons_by_value {
            let pairs = rows.iter().filter_map(|&row| self.value(row, column).zip(self.person(row)));
            let pairs: HashMap<(u32, u32), ()> = pairs.map(|pair| (pair, ())).collect();
            group.persons_by_value.push(pairs.into_keys().collect());
        }
        group
    }
}

impl FrequencySource for Strings<'_> {
    fn layout(&self) -> &Arc<KeyLayout> {
        &self.layout
    }

    fn n_rows(&self) -> u64 {
        self.sample.n_rows() as u64 * self.times
    }

    fn count(&self, grouping: &Grouping, demand: &Demand, _: Method) -> Result<FrequencySet> {
        self.n_asked.fetch_add(1, Relaxed);
        let mut groups: HashMap<String, Vec<usize>> = HashMap::new();
        for row in 0..self.sample.n_rows() {
            let labels: Vec<&str> = grouping.iter().map(|(at, level)| self.label(row, at, level)).collect();
            groups.entry(labels.join("\u{1f}")).or_default().push(row);
        }
        let groups = groups.into_values().flat_map(|rows| match self.hands_over {
            HandsOver::Groups => vec![self.counted(grouping, demand, &rows)],
            HandsOver::Rows => rows.iter().map(|&row| self.counted(grouping, demand, &[row])).collect(),
        });
        FrequencySet::from_counted(&self.layout, grouping, demand, groups)
    }

    fn room(&self) -> Option<u64> {
        self.room
    }
}

/// A sample with the same rows in memory.
struct Setting<'a> {
    sample: &'a Sample,
    table: Table,
    attributes: Attributes,
    rows: Rows,
    width: KeyWidth,
    /// The unit column, where persons are counted.
    unit: Option<&'static str>,
}

impl<'a> Setting<'a> {
    fn new(sample: &'a Sample, unit: Option<&'static str>, width: KeyWidth) -> Self {
        let table = sample.table();
        let attributes = sample.attributes(&table);
        let rows = Rows::with_width(&table, &attributes, width).unwrap();
        let mut rows = rows.with_sensitive(&table, &SENSITIVE).unwrap();
        if let Some(unit) = unit {
            rows = rows.with_unit(&table, unit).unwrap();
        }
        Setting { sample, table, attributes, rows, width, unit }
    }

    /// A policy of these models; `None` if one of them takes values that nobody has.
    fn policy(&self, requires: &[Require], budget: u64) -> Option<Policy> {
        let models = requires.iter().map(|require| require.build(&self.table, &SENSITIVE, self.unit).ok());
        Some(Policy::new(models.collect::<Option<_>>()?, budget).unwrap())
    }
}

/// Every registered judge, and the cube with other options.
fn judges() -> Vec<JudgeKind> {
    let options = [
        CubeOptions { materialize: Materialize::EveryLevel, memory: Some(200) },
        CubeOptions { materialize: Materialize::ZeroLevel, memory: Some(0) },
    ];
    judge::ALL.iter().map(|entry| entry.item).chain(options.map(JudgeKind::Cube)).collect()
}

/// The sentence for whoever cannot do without the records.
fn needs_records(error: &Error) -> bool {
    error.kind() == ErrorKind::Policy
        && error.to_string().ends_with("needs the records, and this source has counts only")
        && error.hint().is_some_and(|hint| hint.starts_with("choose "))
}

/// What a search finds, in a form that can be compared.
fn found(outcome: &Outcome) -> (Vec<usize>, Vec<usize>, Option<u64>) {
    (outcome.holding.iter().collect(), outcome.minimal.clone(), outcome.left_open)
}

/// Every traversal with every judge, and the judge that is chosen where none is named.
fn check_searches(setting: &Setting<'_>, source: &Strings<'_>, policy: &Policy) -> Result<(), TestCaseError> {
    let problem = Problem { source, policy };
    let in_memory = Problem { source: &setting.rows, policy };
    let chosen = judge::choose(problem, None).unwrap();
    prop_assert!(!matches!(chosen, JudgeKind::Bitmap(_)));
    for algorithm in algorithm::traversals() {
        for judge in judges().into_iter().chain([chosen]) {
            for marking in MARKINGS {
                let search =
                    Search { algorithm: algorithm.item, judge, marking: marking.item, ..Search::incognito() };
                let expected = search.run(in_memory, &Progress::new());
                let n_before = source.n_asked.load(Relaxed);
                let outcome = search.run(problem, &Progress::new());
                let n_asked = source.n_asked.load(Relaxed) - n_before;
                let is_bitmap = matches!(judge, JudgeKind::Bitmap(_));
                match (expected, outcome) {
                    (expected, Ok(outcome)) => {
                        prop_assert!(!is_bitmap, "there are no records to make sets of");
                        let expected = expected.unwrap();
                        prop_assert_eq!(found(&expected), found(&outcome), "{:?}", search);
                        // To ask less often, `snapshots` keeps more.
                        if judge != JudgeKind::Snapshots {
                            prop_assert_eq!(expected.work, outcome.work, "{:?}", search);
                        }
                        prop_assert_eq!(
                            outcome.work.table_scans,
                            n_asked,
                            "a scan is a question: {:?}",
                            search
                        );
                    }
                    (_, Err(error)) if is_bitmap && needs_records(&error) => {}
                    // Checkers that are not for this policy, and Samarati where it must not prune.
                    (expected, Err(error)) => prop_assert_eq!(expected.unwrap_err(), error, "{:?}", search),
                }
            }
        }
    }
    Ok(())
}

fn node_of(best: &Option<Scored>) -> Option<(usize, metric::Statistics)> {
    best.as_ref().map(|best| (best.node, best.statistics.clone()))
}

/// Labels and sizes of groups, sorted.
fn names(set: &FrequencySet) -> Vec<(Vec<u32>, u64)> {
    let sorted = set.sorted();
    let labels = |group| sorted.grouping().iter().map(|(at, _)| sorted.label(group, at)).collect();
    (0..sorted.n_groups()).map(|group| (labels(group), sorted.measures().group(group).size())).collect()
}

/// Metrics, the best node by each of them in every way, and which rows are released there.
fn check_best(setting: &Setting<'_>, source: &Strings<'_>, policy: &Policy) -> Result<(), TestCaseError> {
    let attributes = &setting.attributes;
    let [mine, theirs] = [
        Problem { source: &setting.rows, policy },
        Problem { source: source as &dyn FrequencySource, policy },
    ];
    let lattice = Lattice::new(&attributes.heights()).unwrap();
    let nodes: Vec<usize> = (0..lattice.n_nodes()).collect();
    let groupings: Vec<Grouping> = nodes.iter().map(|&node| lattice.grouping(node)).collect();
    prop_assert_eq!(refused_rows(mine, &groupings).unwrap(), refused_rows(theirs, &groupings).unwrap());
    let describe =
        |problem| metric::describe(problem, attributes, &lattice, &nodes, &Progress::new()).unwrap();
    for (mine, theirs) in describe(mine).iter().zip(describe(theirs)) {
        prop_assert_eq!((mine.node, &mine.statistics), (theirs.node, &theirs.statistics));
    }
    let holding = Search::incognito().run(mine, &Progress::new()).unwrap().holding;
    let [my_costs, their_costs] = [mine, theirs].map(|problem| Costs::new(problem, attributes).unwrap());
    prop_assert_eq!(format!("{my_costs:?}"), format!("{their_costs:?}"));
    for entry in metric::ALL {
        let best = |problem| {
            metric::best(problem, attributes, &lattice, &holding, &my_costs, entry.item, &Progress::new())
                .unwrap()
        };
        let expected = best(mine);
        prop_assert_eq!(node_of(&expected), node_of(&best(theirs)), "{}", entry.name);
        let [mine_found, their_found] = [mine, theirs]
            .map(|problem| optimum(problem, attributes, &my_costs, entry.item, &Progress::new()).unwrap());
        prop_assert_eq!(node_of(&mine_found.best), node_of(&their_found.best), "{}", entry.name);
        prop_assert_eq!(&mine_found.judged, &their_found.judged, "{}", entry.name);
        prop_assert_eq!(mine_found.left_open, their_found.left_open);
        prop_assert_eq!(
            mine_found.groups.as_ref().map(names),
            their_found.groups.as_ref().map(names),
            "{}",
            entry.name
        );
        if has_best_first_search(entry.item) {
            for max_steps in [None, Some(3)] {
                let limits = Limits { max_steps, deadline: None };
                let [mine, theirs] = [mine, theirs].map(|problem| {
                    best_first(problem, attributes, &my_costs, entry.item, limits, &Progress::new()).unwrap()
                });
                prop_assert_eq!(mine.best, theirs.best, "{}", entry.name);
                prop_assert_eq!((mine.quality, mine.n_judged), (theirs.quality, theirs.n_judged));
            }
        }
        if let Some(best) = expected {
            let [mine, theirs] = [mine, theirs].map(|problem| {
                let recoding = PerLevel::new(problem, &best.statistics.levels).unwrap();
                Recoding::PerLevel(recoding).apply(&setting.table, attributes).unwrap().rows().to_vec()
            });
            prop_assert_eq!(mine, theirs, "{}", entry.name);
        }
    }
    Ok(())
}

/// Recodings of single attributes' values.
fn check_single(setting: &Setting<'_>, source: &Strings<'_>, policy: &Policy) -> Result<(), TestCaseError> {
    let attributes = &setting.attributes;
    let sources = [&setting.rows as &dyn FrequencySource, source];
    let single = algorithm::ALL.iter().filter(|entry| entry.item.family == Family::SingleDimension);
    for entry in single {
        let [mine, theirs] = sources.map(|source| {
            let problem = Problem { source, policy };
            let costs = Costs::new(problem, attributes).unwrap();
            let aim = Aim { metric: metric::ALL[0].item, costs: &costs };
            let limits = Limits { max_steps: Some(50), deadline: None };
            let settings = Settings { seed: Some(7), limits, ..Settings::default() };
            let found =
                algorithms::run(entry, problem, attributes, aim, &settings, &Progress::new()).unwrap();
            found.map(|found| match found {
                Answer::Node(node) => (vec![node.statistics.levels.clone()], node.quality),
                Answer::Recoding { recoding, quality, .. } => match *recoding {
                    Recoding::PerValue(values) => {
                        ((0..values.n_attributes()).map(|at| values.levels(at).to_vec()).collect(), quality)
                    }
                    other => panic!("{other:?}"),
                },
            })
        });
        prop_assert_eq!(mine, theirs, "{}", entry.name);
    }
    Ok(())
}

fn check_every_k(
    setting: &Setting<'_>,
    source: &Strings<'_>,
    budget: u64,
    start: u64,
) -> Result<(), TestCaseError> {
    let attributes = &setting.attributes;
    let unit = if setting.unit.is_some() { Unit::Persons } else { Unit::Rows };
    let policy = Policy::k_anonymity(1).unwrap();
    let costs = Costs::new(Problem { source: &setting.rows, policy: &policy }, attributes).unwrap();
    let answer = |source| {
        let question = KRange { source, unit, budget, k: start..=start + 5 };
        let found = every_k(&question, &Progress::new()).unwrap();
        let largest: Vec<Option<u64>> =
            (0..found.lattice.n_nodes()).map(|node| found.largest(node)).collect();
        let loss = metric::ALL[0].item;
        let frontier = found.frontier(&question, attributes, &costs, loss, &Progress::new()).unwrap();
        let best = frontier.into_iter().map(|at| {
            let best = at.best.map(|best| (best.node, best.statistics));
            (at.k, at.n_holding, best)
        });
        (largest, found.n_counted, best.collect::<Vec<_>>())
    };
    prop_assert_eq!(answer(&setting.rows as &dyn FrequencySource), answer(source));
    Ok(())
}

/// The groups at the bottom are enough for everything.
fn check_bottom(setting: &Setting<'_>, source: &Strings<'_>, policy: &Policy) -> Result<(), TestCaseError> {
    let n_before = source.n_asked.load(Relaxed);
    let bottom = Bottom::new(source, &policy.demand()).unwrap();
    let [mine, theirs] = [&setting.rows as &dyn FrequencySource, &bottom].map(|source| {
        let problem = Problem { source, policy };
        let outcome =
            Search { judge: JudgeKind::Snapshots, ..Search::incognito() }.run(problem, &Progress::new());
        let costs = Costs::new(problem, &setting.attributes).unwrap();
        let loss = metric::ALL[0].item;
        let found = optimum(problem, &setting.attributes, &costs, loss, &Progress::new()).unwrap();
        (outcome.unwrap().holding, node_of(&found.best))
    });
    prop_assert_eq!(mine, theirs);
    prop_assert_eq!(source.n_asked.load(Relaxed) - n_before, 1, "it asks once");
    Ok(())
}

fn check_all(
    setting: &Setting<'_>,
    hands_over: HandsOver,
    requires: &[Require],
    budget: u64,
) -> Result<(), TestCaseError> {
    let Some(policy) = setting.policy(requires, budget) else { return Ok(()) };
    let source = Strings::new(setting, hands_over);
    check_searches(setting, &source, &policy)?;
    check_best(setting, &source, &policy)?;
    check_bottom(setting, &source, &policy)?;
    check_single(setting, &source, &policy)
}

fn any_width() -> impl Strategy<Value = KeyWidth> {
    prop_oneof![3 => Just(KeyWidth::U64), 1 => Just(KeyWidth::U128), 1 => Just(KeyWidth::Wide)]
}

fn any_entries() -> impl Strategy<Value = HandsOver> {
    prop_oneof![Just(HandsOver::Groups), Just(HandsOver::Rows)]
}

fn any_budget() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0_u64), 1..=4_u64, 5..=20_u64]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Each model alone, by rows: k, (α,k), distinct, entropy and recursive ℓ, t-closeness, and all others.
    #[test]
    fn every_model_is_searched_as_well_by_counts_of_rows(
        sample in random::sample(3, 25),
        width in any_width(),
        hands_over in any_entries(),
        picks in any::<[u8; 5]>(),
        budget in any_budget(),
    ) {
        prop_assume!(sample.n_rows() > 0);
        let setting = Setting::new(&sample, None, width);
        for entry in privacy::ALL {
            check_all(&setting, hands_over, &[require(entry.name, &sample, &picks)], budget)?;
        }
    }

    /// Each model with k-anonymity, by persons; some rows may be about nobody.
    #[test]
    fn every_model_is_searched_as_well_by_counts_of_persons(
        sample in random::sample(3, 25),
        width in any_width(),
        hands_over in any_entries(),
        picks in any::<[u8; 5]>(),
        k in 1..=3_u64,
        budget in any_budget(),
        nobody in prop_oneof![Just("p0"), Just("none of them")],
    ) {
        prop_assume!(sample.n_rows() > 0);
        let sample = sample.with_nobody(nobody);
        let setting = Setting::new(&sample, Some("person"), width);
        // The persons are the unit now, not a sensitive column.
        let picks = [1, picks[1], picks[2], picks[3], picks[4]];
        for entry in privacy::ALL {
            let requires = [Require::k_anonymity(k), require(entry.name, &sample, &picks)];
            check_all(&setting, hands_over, &requires, budget)?;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    /// Several models about two sensitive columns.
    #[test]
    fn several_models_are_searched_as_well_by_counts(
        sample in random::sample(3, 25),
        width in any_width(),
        hands_over in any_entries(),
        models in proptest::collection::vec((0..privacy::ALL.len(), any::<[u8; 5]>()), 2..=3),
        budget in any_budget(),
    ) {
        prop_assume!(sample.n_rows() > 0);
        let setting = Setting::new(&sample, None, width);
        let requires: Vec<Require> =
            models.iter().map(|(at, picks)| require(privacy::ALL[*at].name, &sample, picks)).collect();
        check_all(&setting, hands_over, &requires, budget)?;
    }

    #[test]
    fn every_k_is_found_as_well_by_counts(
        sample in random::sample(4, 30),
        width in any_width(),
        hands_over in any_entries(),
        by_persons in any::<bool>(),
        budget in 0..=6_u64,
        start in 1..=3_u64,
    ) {
        let setting = Setting::new(&sample, by_persons.then_some("person"), width);
        check_every_k(&setting, &Strings::new(&setting, hands_over), budget, start)?;
    }

    /// A number of rows is a number: the same holds where every row is there many times, more often than a computer has room for.
    #[test]
    fn tables_of_any_size_are_searched_like_small_ones(
        sample in random::sample(3, 20),
        times in prop_oneof![Just(100_u64), Just(1 << 16), Just(1 << 24), Just(1 << 40)],
        model in 0..privacy::ALL.len(),
        picks in any::<[u8; 5]>(),
        k in 1..=4_u64,
        budget in 0..=5_u64,
        share in 0.0..1.0_f64,
        room in proptest::option::of(1..=4000_u64),
    ) {
        prop_assume!(sample.n_rows() > 0);
        let setting = Setting::new(&sample, None, KeyWidth::U64);
        let source = Strings { times, room, ..Strings::new(&setting, HandsOver::Groups) };
        let require = require(privacy::ALL[model].name, &sample, &picks);
        let requires = [Require::k_anonymity(k), require];
        let small = setting.policy(&requires, budget).unwrap();
        // Any number up to the next multiple asks for as much.
        let spare = (share * times as f64) as u64;
        let models = requires.map(|require| {
            let mut parameters = require.parameters(&setting.table, &SENSITIVE, None).unwrap();
            if let Some(k) = require.k {
                parameters.set("k", k * times - spare);
            }
            if let Some(name) = &require.sensitive {
                let position = SENSITIVE.iter().position(|other| other == name).unwrap();
                let n_values = setting.table.column(name).unwrap().dictionary().len();
                parameters.sensitive =
                    Some(Sensitive::of_source(&source, name, position, Unit::Rows, n_values).unwrap());
            }
            privacy::build(&require.model, &parameters).unwrap()
        });
        let large = Policy::new(models.into(), budget * times + spare).unwrap();
        let problem = Problem { source: &source, policy: &large };
        let exhaustive = Search { algorithm: Traversal::Exhaustive, ..Search::incognito() };
        let expected = exhaustive.run(Problem { source: &setting.rows, policy: &small }, &Progress::new()).unwrap();
        for algorithm in algorithm::traversals() {
            for judge in judges().into_iter().filter(|judge| !matches!(judge, JudgeKind::Bitmap(_))) {
                let search = Search { algorithm: algorithm.item, judge, threads: 2, ..Search::incognito() };
                match search.run(problem, &Progress::new()) {
                    Ok(outcome) if outcome.coverage == Coverage::Complete => {
                        prop_assert_eq!(&outcome.holding, &expected.holding, "{:?}", search);
                    }
                    Ok(outcome) => prop_assert_eq!(outcome.holding.is_empty(), expected.holding.is_empty()),
                    Err(_) => prop_assert_eq!(large.pruning(), Pruning::Unsound, "{:?}", search),
                }
            }
        }
        let (attributes, lattice, holding) = (&setting.attributes, &expected.lattice, &expected.holding);
        let costs = Costs::new(problem, attributes).unwrap();
        for entry in metric::ALL {
            let best = metric::best(problem, attributes, lattice, holding, &costs, entry.item, &Progress::new());
            let found = optimum(problem, attributes, &costs, entry.item, &Progress::new()).unwrap().best;
            prop_assert_eq!(node_of(&best.unwrap()), node_of(&found), "{}", entry.name);
            prop_assert!(found.is_none_or(|best| best.statistics.suppressed_rows % times == 0));
        }
    }

    /// What a model compares with can be asked of a source.
    #[test]
    fn values_of_all_rows_are_counted_by_any_source(
        sample in random::sample(2, 25),
        hands_over in any_entries(),
        by_persons in any::<bool>(),
    ) {
        let sample = sample.with_nobody("p0");
        let setting = Setting::new(&sample, by_persons.then_some("person"), KeyWidth::U64);
        let source = Strings::new(&setting, hands_over);
        let column = setting.table.column("illness").unwrap();
        let (unit, expected) = match setting.unit {
            None => (Unit::Rows, Sensitive::of_rows(0, column)),
            Some(unit) => {
                let unit = setting.table.column(unit).unwrap();
                (Unit::Persons, Sensitive::of_persons(0, column, unit))
            }
        };
        let n_values = column.dictionary().len();
        for source in [&source as &dyn FrequencySource, &setting.rows] {
            let found = Sensitive::of_source(source, "illness", 0, unit, n_values).unwrap();
            prop_assert_eq!(format!("{found:?}"), format!("{expected:?}"));
        }
        if unit == Unit::Rows && n_values > 0 {
            let error = Sensitive::of_source(&source, "illness", 0, unit, n_values - 1);
            prop_assert!(error.is_err(), "a value beyond the dictionary");
        }
    }

    /// Rolling up what somebody counted is the same as having it counted, and as rolling up rows.
    #[test]
    fn counted_sets_roll_up(
        sample in random::sample(3, 25),
        width in any_width(),
        hands_over in any_entries(),
        steps in any::<[u8; 3]>(),
        left_out in 0..4_usize,
    ) {
        let sample = sample.with_nobody("p0");
        let setting = Setting::new(&sample, Some("person"), width);
        let source = Strings::new(&setting, hands_over);
        let demand = Demand { persons: true, histograms: vec![0, 1], persons_by_value: vec![0, 1], labels: false };
        let heights = sample.heights();
        let levels: Vec<u8> = heights.iter().zip(steps).map(|(&height, step)| step % (height + 1)).collect();
        let bottom = Grouping::of_levels(&vec![0; heights.len()]);
        let mut to = Grouping::of_levels(&levels);
        if left_out < heights.len() {
            to.clear(left_out);
        }
        let facts = |set: &FrequencySet| {
            let set = set.sorted();
            let groups = (0..set.n_groups()).map(|group_idx| {
                let group = set.measures().group(group_idx);
                let labels: Vec<u32> = set.grouping().iter().map(|(at, _)| set.label(group_idx, at)).collect();
                let columns = [0, 1].map(|column| {
                    (group.histogram(column).unwrap().to_vec(), group.persons_by_value(column).unwrap())
                });
                (labels, group.rows(), group.persons(), columns)
            });
            groups.collect::<Vec<_>>()
        };
        let rolled = |source: &dyn FrequencySource| {
            let below = source.count(&bottom, &demand, Method::Auto).unwrap();
            facts(&below.roll_up(&to, &mut Scratch::default()))
        };
        let expected = facts(&setting.rows.count(&to, &demand, Method::Auto).unwrap());
        prop_assert_eq!(&expected, &facts(&source.count(&to, &demand, Method::Auto).unwrap()));
        prop_assert_eq!(&expected, &rolled(&source));
        let bottom = Bottom::new(&source, &demand).unwrap();
        prop_assert_eq!(&expected, &facts(&bottom.count(&to, &demand, Method::Auto).unwrap()));
        let fewer = Demand { histograms: vec![1], ..Demand::default() };
        let [mine, theirs] = [&setting.rows as &dyn FrequencySource, &bottom].map(|source| {
            let set = source.count(&to, &fewer, Method::Auto).unwrap().sorted();
            let groups = set.measures().groups().map(|group| (group.size(), group.histogram(1).unwrap().to_vec()));
            groups.collect::<Vec<_>>()
        });
        prop_assert_eq!(mine, theirs);
        let rows_only = Bottom::new(&source, &Demand::default()).unwrap();
        prop_assert!(rows_only.count(&to, &demand, Method::Auto).is_err(), "it was not asked for");
        prop_assert_eq!(&expected, &rolled(&setting.rows));
    }
}

/// Two attributes of two values each, with a level above; four rows.
fn small() -> Sample {
    let column = |name: &str, cells: [&str; 4]| SampleColumn {
        name: name.into(),
        hierarchy: [["x", "*"], ["y", "*"]].map(|row| row.map(str::to_owned).to_vec()).to_vec(),
        cells: cells.map(str::to_owned).to_vec(),
    };
    Sample {
        columns: vec![column("a", ["x", "x", "y", "y"]), column("b", ["x", "y", "x", "y"])],
        persons: ["p0", "p1", "p2", "p3"].map(str::to_owned).to_vec(),
        illnesses: ["i0", "i1", "i0", "i1"].map(str::to_owned).to_vec(),
    }
}

/// An engine that is asked again and again is slow, however fast it answers.
#[test]
fn the_judge_snapshots_asks_few_questions() {
    let columns: [(u64, &[u64]); 5] =
        [(20, &[2, 10, 20]), (8, &[2, 8]), (30, &[3, 6, 12, 36]), (5, &[5]), (12, &[4, 12])];
    for (n_rows, times) in [(60, 1), (300, 1), (60, 10_000), (300, 10_000)] {
        let columns = (0..).zip(columns);
        let columns =
            columns.map(|(at, (n_values, steps))| SampleColumn::skewed(at, n_rows, n_values, steps));
        let sample = Sample::new(columns.collect());
        let setting = Setting::new(&sample, None, KeyWidth::U64);
        for budget in [0, 5 * times] {
            let source = Strings { times, ..Strings::new(&setting, HandsOver::Groups) };
            let policy = Policy::k_anonymity(3 * times).unwrap().with_budget(budget);
            let problem = Problem { source: &source, policy: &policy };
            let costs = Costs::new(problem, &setting.attributes).unwrap();
            let n_asked = |ask: &dyn Fn()| {
                let n_before = source.n_asked.load(Relaxed);
                ask();
                source.n_asked.load(Relaxed) - n_before
            };
            // There are 480 nodes. Incognito has a judge for each of 31 subsets, and is not in a hurry.
            let whole = algorithm::traversals().filter(|entry| entry.item != Traversal::Incognito);
            for entry in whole {
                let search =
                    Search { algorithm: entry.item, judge: JudgeKind::Snapshots, ..Search::incognito() };
                let n_asked = n_asked(&|| _ = search.run(problem, &Progress::new()).unwrap());
                assert!(n_asked <= 5, "{}: {n_asked} questions, budget {budget}", entry.name);
            }
            for entry in metric::ALL {
                let best = || {
                    _ = optimum(problem, &setting.attributes, &costs, entry.item, &Progress::new()).unwrap();
                };
                // One more for the groups of the best node.
                let n_asked = n_asked(&best);
                assert!(n_asked <= 6, "{}: {n_asked} questions, budget {budget}", entry.name);
            }
        }
    }
}

#[test]
fn what_needs_the_records_says_so_and_what_to_do() {
    let sample = small();
    let setting = Setting::new(&sample, None, KeyWidth::U64);
    let source = Strings::new(&setting, HandsOver::Groups);
    let policy = Policy::k_anonymity(2).unwrap();
    let problem = Problem { source: &source, policy: &policy };
    let attributes = &setting.attributes;
    let costs = Costs::new(problem, attributes).unwrap();
    let aim = Aim { metric: metric::ALL[0].item, costs: &costs };
    let progress = Progress::new();
    let is_refused = |name: &str, error: Error| {
        assert!(needs_records(&error), "{name}: {error}");
        assert!(error.to_string().contains(name), "{name}: {error}");
    };
    let order =
        |column: &Column| Domain::new(column, &Order::Categories(vec!["x".into(), "y".into()])).unwrap();
    let domains: Vec<_> =
        setting.table.columns()[..2].iter().map(|column| Some(Arc::new(order(column)))).collect();
    let settings = Settings::default();
    let by_rows = [Family::MultiDimension, Family::Boxes, Family::Local];
    let mut n_refused = 0;
    for entry in algorithm::ALL.iter().filter(|entry| by_rows.contains(&entry.item.family)) {
        let task = Task {
            problem,
            attributes,
            aim,
            metric: "loss",
            domains: &domains,
            settings: &settings,
            progress: &progress,
        };
        is_refused(entry.name, (entry.item.run)(&task).map(|_| ()).unwrap_err());
        n_refused += 1;
    }
    assert_eq!(n_refused, 8);
    let bitmap = judge::ALL.iter().find(|entry| entry.name == "bitmap").unwrap().item;
    let search = Search { judge: bitmap, ..Search::incognito() };
    is_refused("`bitmap`", search.run(problem, &progress).unwrap_err());
}

/// Everything that a demand can ask for, of one group at the bottom of [`small`].
fn group() -> (Demand, CountedGroup) {
    let demand = Demand { persons: true, histograms: vec![0], persons_by_value: vec![0], labels: false };
    let group = CountedGroup {
        labels: vec![0, 0],
        rows: 3,
        persons: vec![5, 9],
        histograms: vec![vec![(1, 2), (0, 1)]],
        persons_by_value: vec![vec![(1, 5), (0, 9)]],
    };
    (demand, group)
}

#[test]
fn counted_groups_are_checked_and_nothing_panics() {
    let sample = small();
    let setting = Setting::new(&sample, None, KeyWidth::U64);
    let layout = Arc::new(KeyLayout::new(&setting.attributes));
    let bottom = Grouping::of_levels(&[0, 0]);
    let (demand, good) = group();
    let set = |grouping: &Grouping, groups: Vec<CountedGroup>| {
        FrequencySet::from_counted(&layout, grouping, &demand, groups)
    };
    let found = set(&bottom, vec![good.clone(), good.clone()]).unwrap();
    let merged = found.measures().group(0);
    assert_eq!(
        (found.n_groups(), merged.rows(), merged.persons()),
        (1, 6, Some(2)),
        "rows add, persons unite"
    );
    assert_eq!(merged.histogram(0).unwrap(), [(0, 2), (1, 4)]);
    assert_eq!(merged.persons_by_value(0).unwrap(), [(0, 1), (1, 1)]);
    assert_eq!(set(&bottom, vec![]).unwrap().n_groups(), 0);
    let kind = |change: &dyn Fn(&mut CountedGroup)| {
        let mut group = good.clone();
        change(&mut group);
        set(&bottom, vec![group]).map(|set| set.n_groups()).map_err(|error| error.kind())
    };
    let nothing = || CountedGroup { labels: vec![0, 0], ..CountedGroup::default() };
    let empty = |group: &mut CountedGroup| {
        *group = CountedGroup { histograms: vec![vec![(7, 0)]], persons_by_value: vec![vec![]], ..nothing() };
    };
    assert_eq!(kind(&empty), Ok(0), "a group without rows is none");
    assert_eq!(kind(&|group| group.histograms[0].push((7, 0))), Ok(1), "a value that no row has is none");
    use ErrorKind::{Input, Internal, Limit};
    assert_eq!(kind(&|group| group.labels = vec![0]), Err(Internal), "too few labels");
    assert_eq!(kind(&|group| group.labels = vec![0, 0, 0]), Err(Internal), "too many labels");
    assert_eq!(kind(&|group| group.labels = vec![0, 2]), Err(Input), "a label that no value has");
    assert_eq!(kind(&|group| group.labels = vec![0, u32::MAX]), Err(Input), "a label beyond all");
    assert_eq!(kind(&|group| group.rows = 0), Err(Internal), "persons without rows");
    assert_eq!(kind(&|group| group.rows = 1), Err(Internal), "more persons than rows");
    assert_eq!(kind(&|group| group.histograms[0].push((0, 1))), Err(Internal), "more values than rows");
    assert_eq!(kind(&|group| group.histograms[0].push((0, u64::MAX))), Err(Internal), "their sum overflows");
    assert_eq!(kind(&|group| group.histograms.clear()), Err(Internal), "a histogram is missing");
    assert_eq!(kind(&|group| group.persons_by_value.push(vec![])), Err(Internal), "one was not demanded");
    assert_eq!(kind(&|group| group.persons[0] = u32::MAX), Err(Limit), "a person beyond all numbers");
    assert_eq!(kind(&|group| group.histograms[0][0].0 = u32::MAX - 1), Err(Limit), "so is a value");
    assert_eq!(kind(&|group| group.persons_by_value[0][0].1 = u32::MAX - 1), Err(Limit), "so is half a pair");
    let many = CountedGroup { rows: u64::MAX, ..good.clone() };
    assert_eq!(set(&bottom, vec![many.clone(), many]).unwrap_err().kind(), Limit, "rows that overflow");
    for grouping in [Grouping::of_levels(&[0, 2]), Grouping::single(2, 0)] {
        assert_eq!(set(&grouping, vec![]).unwrap_err().kind(), Internal, "not of this layout");
        let rows_only = FrequencySet::from_groups(&layout, &grouping, []);
        assert_eq!(rows_only.unwrap_err().kind(), Internal);
    }
    let not_asked = FrequencySet::from_counted(
        &layout,
        &bottom,
        &Demand::default(),
        [CountedGroup { persons: vec![1], rows: 1, ..nothing() }],
    );
    assert_eq!(not_asked.unwrap_err().kind(), Internal, "persons were not demanded");
    let everybody =
        FrequencySet::from_groups(&layout, &Grouping::NOTHING, [(&[][..], 3), (&[][..], 4)]).unwrap();
    assert_eq!((everybody.n_groups(), everybody.measures().rows()), (1, &[7][..]));
}

/// A source that answers something else than was asked.
struct Wrong<'a> {
    rows: &'a Rows,
    other: Arc<KeyLayout>,
    answer: fn(&Wrong<'_>, &Grouping, &Demand) -> Result<FrequencySet>,
}

impl FrequencySource for Wrong<'_> {
    fn layout(&self) -> &Arc<KeyLayout> {
        self.rows.layout()
    }

    fn n_rows(&self) -> u64 {
        self.rows.n_rows()
    }

    fn count(&self, grouping: &Grouping, demand: &Demand, _: Method) -> Result<FrequencySet> {
        (self.answer)(self, grouping, demand)
    }
}

#[test]
fn wrong_answers_are_refused_by_every_search() {
    let sample = small();
    let setting = Setting::new(&sample, Some("person"), KeyWidth::U64);
    let policy = setting.policy(&[Require::k_anonymity(2)], 0).unwrap();
    assert!(policy.demand().persons, "where persons are missing, rows would be counted in their place");
    type Answer = fn(&Wrong<'_>, &Grouping, &Demand) -> Result<FrequencySet>;
    let answers: [(Answer, ErrorKind, &str); 6] = [
        (
            |source, grouping, _| source.rows.count(grouping, &Demand::default(), Method::Auto),
            ErrorKind::Internal,
            "other measures",
        ),
        (
            |source, grouping, demand| {
                let more = Demand { histograms: vec![0], ..demand.clone() };
                source.rows.count(grouping, &more, Method::Auto)
            },
            ErrorKind::Internal,
            "other measures",
        ),
        (
            |source, _, demand| source.rows.count(&Grouping::NOTHING, demand, Method::Auto),
            ErrorKind::Internal,
            "other levels",
        ),
        (
            |source, grouping, demand| FrequencySet::from_counted(&source.other, grouping, demand, []),
            ErrorKind::Internal,
            "another layout",
        ),
        (
            |source, grouping, demand| FrequencySet::from_counted(source.layout(), grouping, demand, []),
            ErrorKind::Input,
            "0 rows, and the table has 4",
        ),
        (|_, _, _| Err(Error::new(ErrorKind::Io, "the server is gone")), ErrorKind::Io, "the server is gone"),
    ];
    for (at, (answer, kind, message)) in answers.into_iter().enumerate() {
        let other = Arc::new(KeyLayout::new(&setting.attributes));
        let source = Wrong { rows: &setting.rows, other, answer };
        let problem = Problem { source: &source, policy: &policy };
        let is_refused = |error: Error| {
            assert_eq!(error.kind(), kind, "{error}");
            assert!(error.to_string().contains(message), "{error}");
        };
        for algorithm in algorithm::traversals() {
            for judge in judges().into_iter().filter(|judge| !matches!(judge, JudgeKind::Bitmap(_))) {
                let search = Search { algorithm: algorithm.item, judge, ..Search::incognito() };
                is_refused(search.run(problem, &Progress::new()).unwrap_err());
            }
        }
        is_refused(refused_rows(problem, &[Grouping::of_levels(&[0, 1])]).unwrap_err());
        is_refused(PerLevel::new(problem, &[1, 1]).map(|_| ()).unwrap_err());
        let question = KRange { source: &source, unit: Unit::Persons, budget: 0, k: 2..=3 };
        is_refused(every_k(&question, &Progress::new()).map(|_| ()).unwrap_err());
        // The groups of a node that an algorithm of somebody else's has found.
        let costs =
            Costs::new(Problem { source: &setting.rows, policy: &policy }, &setting.attributes).unwrap();
        let task = Task {
            problem,
            attributes: &setting.attributes,
            aim: Aim { metric: metric::ALL[0].item, costs: &costs },
            metric: "loss",
            domains: &vec![None, None],
            settings: &Settings::default(),
            progress: &Progress::new(),
        };
        let found = Found { recoding: vec![1, 1], quality: Quality::Heuristic };
        is_refused(algorithm::Answer::of_levels(&task, found).map(|_| ()).unwrap_err());
        // To choose a judge, rows are counted whatever the policy counts: to leave out persons is right there.
        let rows_only = at == 0;
        let chosen = judge::choose(problem, Some(0));
        assert_eq!(chosen.is_ok(), rows_only, "{message}");
        chosen.err().into_iter().for_each(is_refused);
    }
}
