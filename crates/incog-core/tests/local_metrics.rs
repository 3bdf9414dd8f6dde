//! Local recodings are scored by the same numbers as nodes: where all rows have the levels of a node they have its scores,
//! and otherwise those that the definitions give, row by row, on the released labels.

use std::collections::BTreeMap;

use incog_core::Progress;
use incog_core::algorithm::{Search, TopDownOptions, top_down};
use incog_core::frequency::Rows;
use incog_core::hierarchy::Attributes;
use incog_core::judge::Problem;
use incog_core::metric::{self, Costs, Distortion, LabelCounts, Statistics};
use incog_core::privacy::Policy;
use incog_core::recoding::{PerGroup, Recoding};
use incog_core::table::Table;
use incog_testkit::{Sample, naive, random};
use proptest::prelude::*;

/// The levels of each row; `None` for one that is left out.
type RowLevels = Vec<Option<Vec<u8>>>;

fn recoding(row_levels: &RowLevels, n_attributes: usize) -> PerGroup {
    let groups: Vec<&Vec<u8>> = row_levels.iter().flatten().collect();
    let mut next = 0..;
    let of_record = row_levels.iter().map(|levels| levels.as_ref().and_then(|_| next.next()));
    PerGroup::new(n_attributes, &groups, of_record).unwrap()
}

/// The labels of each released row.
fn labels(sample: &Sample, row_levels: &RowLevels) -> Vec<Option<Vec<String>>> {
    let label = |row_idx: usize, at: usize, level: u8| {
        let column = &sample.columns[at];
        let path = column.hierarchy.iter().find(|path| path[0] == column.cells[row_idx]).unwrap();
        path[usize::from(level)].clone()
    };
    let row = |(row_idx, levels): (usize, &Option<Vec<u8>>)| {
        let levels = levels.as_ref()?;
        Some(levels.iter().enumerate().map(|(at, &level)| label(row_idx, at, level)).collect())
    };
    row_levels.iter().enumerate().map(row).collect()
}

/// How many groups have how many rows.
fn group_sizes(labels: &[Option<Vec<String>>]) -> Vec<(u64, u64)> {
    let mut groups: BTreeMap<&Vec<String>, u64> = BTreeMap::new();
    labels.iter().flatten().for_each(|row| *groups.entry(row).or_default() += 1);
    groups.into_values().map(|rows| (rows, 1)).collect()
}

fn statistics(sample: &Sample, table: &Table, attributes: &Attributes, row_levels: &RowLevels) -> Statistics {
    let recoding = recoding(row_levels, attributes.len());
    let cells = LabelCounts::of_recoding(&recoding, table, attributes).unwrap();
    let sizes = group_sizes(&labels(sample, row_levels));
    Statistics::of_cells(&cells, attributes, sizes, sample.n_rows() as u64)
}

/// A score by its definition, cell by cell.
fn score(sample: &Sample, row_levels: &RowLevels, weights: &[f64], metric: &str) -> f64 {
    let labels = labels(sample, row_levels);
    let heights: Vec<f64> = sample.heights().iter().map(|&height| f64::from(height)).collect();
    let n_rows = row_levels.len() as f64;
    let n_released = labels.iter().flatten().count() as f64;
    let columns = 0..heights.len();
    // The sum over rows of what a cell costs; the last is for a suppressed one.
    let sum = |at: usize, cell: &dyn Fn(&str, u8) -> f64, suppressed: f64| -> f64 {
        let rows = row_levels.iter().zip(&labels);
        rows.map(|(levels, labels)| match (levels, labels) {
            (Some(levels), Some(labels)) => cell(&labels[at], levels[at]),
            _ => suppressed,
        })
        .sum()
    };
    let share = |part: f64, of: f64| if of == 0.0 { 0.0 } else { part / of };
    let loss = |at: usize| {
        let hierarchy = &sample.columns[at].hierarchy;
        let cost = |label: &str, level: u8| {
            let under = hierarchy.iter().filter(|path| path[usize::from(level)] == label).count() as f64;
            share(under - 1.0, hierarchy.len() as f64 - 1.0)
        };
        share(sum(at, &cost, 1.0), n_rows)
    };
    let level = |_: &str, level: u8| f64::from(level);
    let sizes = group_sizes(&labels);
    match metric {
        "height" => columns.map(|at| share(sum(at, &level, 0.0), n_released)).sum(),
        "weighted-height" => columns.map(|at| weights[at] * share(sum(at, &level, 0.0), n_released)).sum(),
        "precision" => {
            let lost =
                |at: usize| share(sum(at, &level, heights[at].max(1.0)), n_rows * heights[at].max(1.0));
            1.0 - columns.map(|at| weights[at] * lost(at)).sum::<f64>() / weights.iter().sum::<f64>()
        }
        "distortion" => {
            let climbed: f64 = columns.map(|at| sum(at, &level, heights[at])).sum();
            share(climbed, n_rows * heights.iter().sum::<f64>())
        }
        "loss" => columns.map(|at| weights[at] * loss(at)).sum::<f64>() / weights.iter().sum::<f64>(),
        "geometric-loss" => {
            let product: f64 = columns.map(|at| (1.0 + loss(at)).powf(weights[at])).product();
            product.powf(1.0 / weights.iter().sum::<f64>()) - 1.0
        }
        "discernibility" => {
            let squares: u64 = sizes.iter().map(|(rows, _)| rows * rows).sum();
            squares as f64 + (n_rows - n_released) * n_rows
        }
        "average-group-size" if sizes.is_empty() => n_rows,
        "average-group-size" => n_released / sizes.len() as f64,
        other => naive::score_of_rows(sample, row_levels, weights, other),
    }
}

fn is_close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-12 * b.abs().max(1.0)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a_recoding_with_the_levels_of_a_node_has_its_scores(
        sample in random::sample(3, 30),
        k in 1..=5_u64,
        budget in prop_oneof![Just(0_u64), 1..=30_u64],
        weights in proptest::collection::vec(0.25..4.0_f64, 3),
    ) {
        let table = sample.table();
        let attributes = sample.attributes(&table);
        let rows = Rows::new(&table, &attributes).unwrap();
        let policy = Policy::k_anonymity(k).unwrap().with_budget(budget);
        let problem = Problem { source: &rows, policy: &policy };
        let weights = weights[..attributes.len()].to_vec();
        let costs = Costs::new(problem, &attributes).unwrap().with_weights(weights).unwrap();
        let outcome = Search::incognito().run(problem, &Progress::new()).unwrap();
        let nodes: Vec<usize> = outcome.holding.iter().collect();
        for node in metric::describe(problem, &attributes, &outcome.lattice, &nodes, &Progress::new()).unwrap() {
            let levels = &node.statistics.levels;
            let out = naive::rows_to_suppress(&sample, levels, k);
            let row_levels: RowLevels =
                (0..sample.n_rows()).map(|row_idx| (!out.contains(&row_idx)).then(|| levels.clone())).collect();
            let local = statistics(&sample, &table, &attributes, &row_levels);
            prop_assert_eq!(local.suppressed_rows, node.statistics.suppressed_rows);
            prop_assert_eq!(local.n_groups, node.statistics.n_groups);
            for entry in metric::ALL {
                if out.len() == sample.n_rows() && entry.name.ends_with("height") {
                    // A mean over no rows.
                    continue;
                }
                let scores = [&local, &node.statistics].map(|known| entry.item.score(&costs, known));
                prop_assert!(is_close(scores[0], scores[1]), "{}: {scores:?}", entry.name);
            }
        }
    }

    #[test]
    fn any_recoding_has_the_scores_of_its_labels(
        sample in random::sample(3, 30),
        picks in proptest::collection::vec(any::<u8>(), 120),
        weights in proptest::collection::vec(0.25..4.0_f64, 3),
    ) {
        let table = sample.table();
        let attributes = sample.attributes(&table);
        let rows = Rows::new(&table, &attributes).unwrap();
        let policy = Policy::k_anonymity(1).unwrap();
        let problem = Problem { source: &rows, policy: &policy };
        let weights = weights[..attributes.len()].to_vec();
        let costs = Costs::new(problem, &attributes).unwrap().with_weights(weights.clone()).unwrap();
        let mut picks = picks.into_iter().cycle();
        let mut pick = || picks.next().unwrap();
        let row_levels: RowLevels = (0..sample.n_rows())
            .map(|_| {
                let levels = sample.heights().iter().map(|&height| pick() % (height + 1)).collect();
                (pick() % 5 > 0).then_some(levels)
            })
            .collect();
        let local = statistics(&sample, &table, &attributes, &row_levels);
        for entry in metric::ALL {
            let (found, expected) =
                (entry.item.score(&costs, &local), score(&sample, &row_levels, &weights, entry.name));
            prop_assert!(is_close(found, expected), "{}: {found} {expected}", entry.name);
        }
        let groups = recoding(&row_levels, attributes.len());
        let cells = LabelCounts::of_recoding(&groups, &table, &attributes).unwrap();
        let n_rows = sample.n_rows() as u64;
        prop_assert_eq!(
            Distortion::of_cells(&cells, &attributes, n_rows),
            Distortion::of(&Recoding::PerGroup(groups), &attributes, n_rows)
        );
    }

    /// Read from labels alone, a cell is at the lowest level that has its label; for what top-down releases, that is where
    /// it is.
    #[test]
    fn cells_are_read_from_labels(
        sample in random::sample(3, 30),
        k in 1..=5_u64,
        seed in proptest::option::of(any::<u64>()),
    ) {
        let table = sample.table();
        let attributes = sample.attributes(&table);
        let rows = Rows::new(&table, &attributes).unwrap();
        let policy = Policy::k_anonymity(k).unwrap();
        let problem = Problem { source: &rows, policy: &policy };
        let Some(found) = top_down(problem, TopDownOptions { seed, ..TopDownOptions::default() }, &Progress::new()).unwrap() else {
            return Ok(());
        };
        let row_levels: RowLevels = (0..sample.n_rows())
            .map(|row_idx| found.group_of(row_idx).map(|group| found.levels(group).to_vec()))
            .collect();
        let labels = labels(&sample, &row_levels);
        let columns = (0..attributes.len())
            .map(|at| labels.iter().flatten().map(move |row| (row[at].as_str(), 1_u64)));
        let unordered = vec![None; attributes.len()];
        let by_labels = LabelCounts::of_labels(&attributes, &unordered, columns).unwrap();
        prop_assert_eq!(&by_labels, &LabelCounts::of_recoding(&found, &table, &attributes).unwrap());
        for (at, attribute) in attributes.iter().enumerate() {
            let mut expected = vec![0; usize::from(attribute.height()) + 1];
            let level_number = |level: usize| attribute.level_number(level as u8);
            for row in labels.iter().flatten() {
                let has = |level: &usize| sample.columns[at].hierarchy.iter().any(|path| path[*level] == row[at]);
                let lowest = (0..expected.len()).find(has).unwrap();
                expected[lowest] += 1;
            }
            let expected: Vec<(u8, u64)> = expected
                .into_iter()
                .enumerate()
                .filter(|&(_, rows)| rows > 0)
                .map(|(level, rows)| (level_number(level), rows))
                .collect();
            prop_assert_eq!(by_labels.rows_by_level(at, attribute), expected);
        }
        let strange = vec![vec![("no such label", 1_u64)]; attributes.len()];
        prop_assert_eq!(LabelCounts::of_labels(&attributes, &unordered, strange), None);
    }
}
