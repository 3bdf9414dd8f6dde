//! Tables so large that threads share the counting: what one thread finds, several find, and so does the definition.

use std::collections::HashMap;

use incog_core::Progress;
use incog_core::algorithm::{Search, Traversal, optimum};
use incog_core::frequency::{FrequencySource, KeyWidth, Method, Rows};
use incog_core::judge::{JudgeKind, Problem};
use incog_core::lattice::Grouping;
use incog_core::metric::{self, Costs};
use incog_core::privacy::Policy;
use incog_core::recoding::{PerLevel, Recoding};
use incog_core::registry::find;
use incog_testkit::{Sample, SampleColumn};

/// Above what is worth a thread's while.
const N_ROWS: usize = (1 << 19) + 4321;

fn column(at: u64, n_values: u64, steps: &[u64]) -> SampleColumn {
    SampleColumn::skewed(at, N_ROWS as u64, n_values, steps)
}

/// Sizes of groups at a node, by the definition.
fn sizes(sample: &Sample, levels: &[u8]) -> HashMap<Vec<String>, u64> {
    let labels: Vec<HashMap<&str, &str>> = sample
        .columns
        .iter()
        .zip(levels)
        .map(|(column, &level)| {
            column
                .hierarchy
                .iter()
                .map(|path| (path[0].as_str(), path[usize::from(level)].as_str()))
                .collect()
        })
        .collect();
    let mut groups: HashMap<Vec<&str>, u64> = HashMap::new();
    for row in 0..sample.n_rows() {
        let key =
            sample.columns.iter().zip(&labels).map(|(column, labels)| labels[column.cells[row].as_str()]);
        *groups.entry(key.collect()).or_default() += 1;
    }
    groups.into_iter().map(|(key, n)| (key.into_iter().map(str::to_owned).collect(), n)).collect()
}

#[test]
fn several_threads_count_search_and_recode_like_one() {
    let sample =
        Sample::new(vec![column(0, 900, &[30, 900]), column(1, 700, &[7, 70, 700]), column(2, 40, &[5, 40])]);
    let table = sample.table();
    let attributes = sample.attributes(&table);
    let pool = |n| rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap();
    let (one, three) = (pool(1), pool(3));
    let loss = find(metric::ALL, "loss").unwrap().item;
    for width in [KeyWidth::U64, KeyWidth::U128] {
        let rows = three.install(|| Rows::with_width(&table, &attributes, width).unwrap());
        for levels in [[1, 1, 1], [1, 2, 0], [2, 3, 2], [0, 3, 1], [0, 0, 0]] {
            let grouping = Grouping::of_levels(&levels);
            let demand = Policy::k_anonymity(2).unwrap().demand();
            let mut counts = three.install(|| {
                let set = rows.count(&grouping, &demand, Method::Auto).unwrap();
                set.measures().rows().to_vec()
            });
            let mut expected: Vec<u64> = sizes(&sample, &levels).into_values().collect();
            counts.sort_unstable();
            expected.sort_unstable();
            assert_eq!(counts, expected, "{levels:?}");
        }
        for (k, budget) in [(5, 0), (5, N_ROWS as u64 / 20), (300, N_ROWS as u64 / 100)] {
            let policy = Policy::k_anonymity(k).unwrap().with_budget(budget);
            let problem = Problem { source: &rows, policy: &policy };
            let costs = Costs::new(problem, &attributes).unwrap();
            let search = || optimum(problem, &attributes, &costs, loss, &Progress::new()).unwrap();
            let (alone, shared) = (one.install(search), three.install(search));
            let (alone, best) = (alone.best.unwrap(), shared.best.unwrap());
            assert_eq!((alone.node, &alone.statistics), (best.node, &best.statistics), "k = {k}, {budget}");
            // By the definition.
            let groups = sizes(&sample, &best.statistics.levels);
            let refused: u64 = groups.values().filter(|rows| **rows < k).sum();
            assert_eq!(refused, best.statistics.suppressed_rows);
            let recoding = three.install(|| PerLevel::new(problem, &best.statistics.levels).unwrap());
            let release = Recoding::PerLevel(recoding).apply(&table, &attributes).unwrap();
            assert_eq!(release.n_rows() as u64 + refused, N_ROWS as u64);
        }
    }
}

#[test]
fn equal_records_are_looked_at_a_few_times_however_many_they_are() {
    let sample = Sample::new((0..5).map(|at| column(at, 5, &[2, 5])).collect());
    let table = sample.table();
    let attributes = sample.attributes(&table);
    let rows = Rows::new(&table, &attributes).unwrap();
    let policy = Policy::k_anonymity(200).unwrap().with_budget(N_ROWS as u64 / 100);
    let problem = Problem { source: &rows, policy: &policy };
    let search = Search { algorithm: Traversal::Cover, judge: JudgeKind::Snapshots, ..Search::incognito() };
    let found = search.run(problem, &Progress::new()).unwrap();
    assert!(found.work.nodes_checked > 15, "{:?}", found.work);
    assert!(found.work.table_scans < 8, "{:?}", found.work);
}
