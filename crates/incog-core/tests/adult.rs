//! The Adult table of the paper's experiments: node counts, minimal nodes and best nodes, exactly.
//!
//! Expected tables are in `testdata/expected/adult` (made by two independent implementations; the paper's own
//! counts are among them as far as they agree). The rows are not ours to commit: see `incog_testkit::data`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use incog_core::Progress;
use incog_core::algorithm::{Marking, Outcome, Search, Traversal};
use incog_core::frequency::Rows;
use incog_core::hierarchy::{Attribute, Attributes};
use incog_core::judge::{JudgeKind, Problem};
use incog_core::metric::{self, Costs};
use incog_core::privacy::{Budget, Fraction, KAnonymity, Parameters, Policy, Sensitive, build};
use incog_core::registry::find;
use incog_core::table::Table;
use incog_testkit::data::{csv_rows, outside_file, project, table_with_hierarchies};

/// The attributes in the order of the paper's Figure 9.
const COLUMNS: [&str; 9] = [
    "age",
    "gender",
    "race",
    "marital_status",
    "education",
    "native_country",
    "work_class",
    "occupation",
    "salary_class",
];

fn expected(file: &str) -> PathBuf {
    project().join("testdata/expected/adult").join(file)
}

/// The rows of an expected table as numbers by column name.
fn numbers(file: &str) -> Vec<BTreeMap<String, u64>> {
    let rows = csv_rows(&expected(file), b',');
    let named = |row: &Vec<String>| {
        let cells = rows[0].iter().zip(row).filter(|(_, cell)| !cell.is_empty());
        cells.map(|(name, cell)| (name.clone(), cell.parse().unwrap())).collect()
    };
    rows[1..].iter().map(named).collect()
}

struct Adult {
    table: Table,
    attributes: Attributes,
}

impl Adult {
    fn load() -> Option<Adult> {
        let file = outside_file("adult/adult.csv")?;
        let sample = table_with_hierarchies(&file, &project().join("testdata/hierarchies/adult"));
        let table = sample.table();
        assert_eq!(table.n_rows(), 45_222);
        let attributes = sample.attributes(&table);
        assert!(attributes.iter().map(Attribute::name).eq(COLUMNS));
        Some(Adult { table, attributes })
    }

    /// The first `n` attributes.
    fn first(&self, n: usize) -> (Attributes, Rows) {
        let attributes = Attributes::new(self.attributes[..n].to_vec()).unwrap();
        let rows = Rows::new(&self.table, &attributes).unwrap();
        (attributes, rows)
    }
}

fn run(rows: &Rows, k: u64, algorithm: Traversal, judge: JudgeKind, marking: Marking) -> Outcome {
    let policy = Policy::k_anonymity(k).unwrap();
    let search = Search { algorithm, judge, marking, ..Search::incognito() };
    search.run(Problem { source: rows, policy: &policy }, &Progress::new()).unwrap()
}

#[test]
fn node_counts_are_those_of_the_expected_table() {
    let Some(adult) = Adult::load() else { return };
    let table = numbers("expected_counts.csv");
    assert_eq!(table.len(), 14);
    for row in table {
        let (_, rows) = adult.first(row["qid_size"] as usize);
        let columns = [
            ("bottom_up_direct", Traversal::BottomUp, JudgeKind::RollUp, Marking::Direct),
            ("bottom_up_all", Traversal::BottomUp, JudgeKind::SuperRoots, Marking::Transitive),
            ("incognito_direct", Traversal::Incognito, JudgeKind::RollUp, Marking::Direct),
            ("incognito_direct", Traversal::Incognito, JudgeKind::SuperRoots, Marking::Direct),
            ("incognito_all", Traversal::Incognito, JudgeKind::SuperRoots, Marking::Transitive),
            (
                "incognito_all",
                Traversal::Incognito,
                JudgeKind::Cube(incog_core::judge::CubeOptions::ZERO_LEVEL),
                Marking::Transitive,
            ),
        ];
        for (column, algorithm, judge, marking) in columns {
            let outcome = run(&rows, row["k"], algorithm, judge, marking);
            let context = format!("k = {}, {} attributes, {column}, {judge:?}", row["k"], row["qid_size"]);
            assert_eq!(outcome.lattice.n_nodes() as u64, row["lattice_nodes"], "{context}");
            assert_eq!(outcome.holding.len() as u64, row["anonymous_nodes"], "{context}");
            assert_eq!(outcome.minimal.len() as u64, row["minimal_nodes"], "{context}");
            assert_eq!(outcome.work.nodes_checked, row[column], "{context}");
        }
    }
}

#[test]
fn every_iteration_of_incognito_is_that_of_the_expected_table() {
    let Some(adult) = Adult::load() else { return };
    let (_, rows) = adult.first(9);
    let table = numbers("expected_per_size.csv");
    assert_eq!(table.len(), 18);
    for k in [2, 10] {
        let outcome = run(&rows, k, Traversal::Incognito, JudgeKind::SuperRoots, Marking::Transitive);
        let expected: Vec<_> = table.iter().filter(|row| row["k"] == k).collect();
        assert_eq!(outcome.iterations.len(), expected.len());
        for (iteration, row) in outcome.iterations.iter().zip(expected) {
            assert_eq!(iteration.subset_size as u64, row["subset_size"]);
            assert_eq!(iteration.candidates, row["candidates"], "k = {k}, {iteration:?}");
            assert_eq!(iteration.holding, row["anonymous"], "k = {k}, {iteration:?}");
            assert_eq!(iteration.checked, row["checked_all"], "k = {k}, {iteration:?}");
        }
    }
}

/// Work counters of this implementation, recorded when it was written: they change if roots are scanned elsewhere,
/// super-roots are placed lower than they need be, or roll-ups start from larger sets.
#[test]
fn work_on_nine_attributes_is_as_recorded() {
    let Some(adult) = Adult::load() else { return };
    let (_, rows) = adult.first(9);
    for (judge, scans, groups) in [(JudgeKind::RollUp, 178, 6_512), (JudgeKind::SuperRoots, 163, 11_442)] {
        let work = run(&rows, 2, Traversal::Incognito, judge, Marking::Transitive).work;
        assert_eq!((work.table_scans, work.groups_touched), (scans, groups), "{judge:?}");
    }
    let (_, rows) = adult.first(6);
    let work = run(&rows, 2, Traversal::BottomUp, JudgeKind::RollUp, Marking::Transitive).work;
    assert_eq!((work.table_scans, work.groups_touched), (1, 1_141_449));
}

#[test]
fn the_minimal_nodes_and_their_smallest_groups_are_those_of_the_expected_lists() {
    let Some(adult) = Adult::load() else { return };
    let (attributes, rows) = adult.first(9);
    for (k, n_minimal) in [(2, 55), (10, 38)] {
        let outcome = run(&rows, k, Traversal::Incognito, JudgeKind::SuperRoots, Marking::Transitive);
        let policy = Policy::k_anonymity(k).unwrap();
        let problem = Problem { source: &rows, policy: &policy };
        let described =
            metric::describe(problem, &attributes, &outcome.lattice, &outcome.minimal, &Progress::new())
                .unwrap();
        let mut found: Vec<Vec<u64>> = described
            .iter()
            .map(|node| {
                let levels = node.statistics.levels.iter().map(|&level| u64::from(level));
                levels.chain(node.statistics.smallest_group).collect()
            })
            .collect();
        let mut expected: Vec<Vec<u64>> = numbers(&format!("expected_minimal_k{k}.csv"))
            .iter()
            .map(|row| COLUMNS.iter().chain(&["smallest_group"]).map(|&name| row[name]).collect())
            .collect();
        assert_eq!(expected.len(), n_minimal);
        found.sort();
        expected.sort();
        assert_eq!(found, expected, "k = {k}");
    }
}

#[test]
fn the_best_nodes_by_loss_are_those_of_the_expected_table() {
    let Some(adult) = Adult::load() else { return };
    let (attributes, rows) = adult.first(9);
    let text = std::fs::read_to_string(expected("expected_best_k5.jsonl")).unwrap();
    let mut n_lines = 0;
    for line in text.lines() {
        let field = |name: &str| -> &str {
            let start = line.find(&format!("\"{name}\": ")).unwrap() + name.len() + 4;
            let rest = &line[start..];
            let end =
                if rest.starts_with('[') { rest.find(']').unwrap() } else { rest.find([',', '}']).unwrap() };
            rest[..end].trim_matches(['"', '['])
        };
        let number = |name: &str| field(name).parse::<f64>().unwrap();
        let percent = format!("{}%", (number("suppression") * 100.0).round());
        let budget = Budget::parse(&percent).unwrap().rows(45_222);
        let policy = Policy::k_anonymity(5).unwrap().with_budget(budget);
        let problem = Problem { source: &rows, policy: &policy };
        let outcome = Search::incognito().run(problem, &Progress::new()).unwrap();
        assert_eq!(outcome.holding.len() as f64, number("satisfying"), "{line}");
        let metric = find(metric::ALL, field("metric")).unwrap().item;
        let costs = Costs::new(problem, &attributes).unwrap();
        let best = metric::best(
            problem,
            &attributes,
            &outcome.lattice,
            &outcome.holding,
            &costs,
            metric,
            &Progress::new(),
        )
        .unwrap()
        .unwrap();
        let levels: Vec<u8> = field("levels").split(',').map(|level| level.trim().parse().unwrap()).collect();
        assert_eq!(best.statistics.levels, levels, "{line}");
        assert_eq!(best.statistics.suppressed_rows as f64, number("suppressed"), "{line}");
        let score = metric.score(&costs, &best.statistics);
        assert!((score - number("score")).abs() < 5e-10, "{score}: {line}");
        n_lines += 1;
    }
    assert_eq!(n_lines, 10);
}

/// eIncognito of Wong et al.: at most half of a group earns more than 50K, or has one occupation.
#[test]
fn with_sensitive_values_incognito_finds_what_judging_every_node_finds() {
    let Some(adult) = Adult::load() else { return };
    let (_, rows) = adult.first(5);
    let names = ["salary_class", "occupation"];
    let rows = rows.with_sensitive(&adult.table, &names).unwrap();
    for (position, name, alpha, value) in
        [(0, "salary_class", "0.5", Some(">50K")), (1, "occupation", "0.2", None)]
    {
        let column = adult.table.column(name).unwrap();
        let mut parameters = Parameters::of(Sensitive::of_rows(position, column))
            .with("alpha", alpha.parse::<Fraction>().unwrap());
        if let Some(value) = value {
            parameters.set("values", vec![column.dictionary().code(value).unwrap()]);
        }
        for (k, budget) in [(2, 0), (10, 452)] {
            let models =
                vec![Box::new(KAnonymity::new(k).unwrap()) as Box<_>, build("alpha-k", &parameters).unwrap()];
            let policy = Policy::new(models, budget).unwrap();
            policy.feasible(45_222).unwrap();
            let problem = Problem { source: &rows, policy: &policy };
            let find = |algorithm| {
                Search { algorithm, ..Search::incognito() }.run(problem, &Progress::new()).unwrap()
            };
            let (incognito, exhaustive) = (find(Traversal::Incognito), find(Traversal::Exhaustive));
            assert_eq!(incognito.holding, exhaustive.holding, "{name} {k} {budget}");
            assert_eq!(incognito.minimal, exhaustive.minimal, "{name} {k} {budget}");
            assert!(!incognito.holding.is_empty(), "{name} {k} {budget}: else this shows little");
            assert!(incognito.left_open.is_none_or(|n_open| n_open < exhaustive.lattice.n_nodes() as u64));
            assert_eq!(incognito.left_open.is_some(), budget > 0);
        }
    }
}

#[test]
fn little_room_for_groups_changes_no_node() {
    let Some(adult) = Adult::load() else { return };
    let search = Search { algorithm: Traversal::Cover, judge: JudgeKind::Snapshots, ..Search::incognito() };
    for budget in [0, 45_222 / 20] {
        let policy = Policy::k_anonymity(5).unwrap().with_budget(budget);
        let rows = || Rows::new(&adult.table, &adult.attributes).unwrap();
        let holding = |rows: &Rows| {
            let found = search.run(Problem { source: rows, policy: &policy }, &Progress::new()).unwrap();
            found.holding.iter().collect::<Vec<usize>>()
        };
        assert_eq!(holding(&rows().with_room(1 << 20)), holding(&rows()), "budget {budget}");
    }
}
