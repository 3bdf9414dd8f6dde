//! Bitmaps on tables of odd shapes: where bits, bytes, lists and keys change their form.

use std::collections::HashMap;

use incog_core::Progress;
use incog_core::algorithm::{Search, Traversal};
use incog_core::frequency::{FrequencySource, KeyWidth, Rows};
use incog_core::judge::{BitmapOptions, Intersect, JudgeKind, Problem, Stop};
use incog_core::privacy::Policy;
use incog_testkit::{Sample, SampleColumn, naive};

fn mix(number: u64) -> u64 {
    let mixed = (number ^ 0x51_7C_C1_B7).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed ^ mixed >> 29).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 11
}

/// A column of `n_values` values, the first ones the most frequent if `skewed`; value 0 is a missing one.
fn column(at: usize, n_rows: usize, n_values: usize, skewed: bool, steps: &[usize]) -> SampleColumn {
    let value = |value: usize| if value == 0 { String::new() } else { format!("v{value}") };
    let labels = |leaf: usize| {
        let above = steps.iter().map(|step| format!("{} by {step}", leaf / step));
        std::iter::once(value(leaf)).chain(above).collect()
    };
    let cell = |row: usize| {
        let share = (mix((row * 16 + at) as u64) & 0xFFFF_FFFF) as f64 / 4_294_967_296.0;
        let share = if skewed { share.powi(4) } else { share };
        // All values occur where there are enough rows.
        if row < n_values { row } else { (share * n_values as f64) as usize }
    };
    SampleColumn {
        name: format!("q{at}"),
        hierarchy: (0..n_values).map(labels).collect(),
        cells: (0..n_rows).map(|row| value(cell(row) % n_values)).collect(),
    }
}

/// The definition, with each column's labels looked up once.
fn rows_to_suppress(sample: &Sample, k: u64) -> HashMap<Vec<u8>, u64> {
    let coded: Vec<Vec<Vec<&str>>> = sample
        .columns
        .iter()
        .map(|column| {
            let paths: HashMap<&str, &Vec<String>> =
                column.hierarchy.iter().map(|path| (path[0].as_str(), path)).collect();
            (0..column.hierarchy[0].len())
                .map(|level| column.cells.iter().map(|cell| paths[cell.as_str()][level].as_str()).collect())
                .collect()
        })
        .collect();
    let of_node = |levels: Vec<u8>| {
        let mut groups: HashMap<Vec<&str>, u64> = HashMap::new();
        for row in 0..sample.n_rows() {
            let labels = coded.iter().zip(&levels).map(|(column, level)| column[usize::from(*level)][row]);
            *groups.entry(labels.collect()).or_default() += 1;
        }
        let refused = groups.values().filter(|rows| **rows < k).sum();
        (levels, refused)
    };
    naive::all_nodes(&sample.heights()).into_iter().map(of_node).collect()
}

fn bitmaps(memory: Option<u64>) -> Vec<JudgeKind> {
    let intersects = [Intersect::OneLevel, Intersect::Reusing, Intersect::DepthFirst];
    let both =
        |intersect| [Stop::Early, Stop::AtTheEnd].map(|stop| BitmapOptions { intersect, stop, memory });
    intersects.into_iter().flat_map(both).map(JudgeKind::Bitmap).collect()
}

fn check(sample: &Sample, ks: &[u64], judges: &[JudgeKind], width: Option<KeyWidth>) {
    let table = sample.table();
    let attributes = sample.attributes(&table);
    let rows = match width {
        Some(width) => Rows::with_width(&table, &attributes, width).unwrap(),
        None => Rows::new(&table, &attributes).unwrap(),
    };
    let n_rows = sample.n_rows() as u64;
    for &k in ks {
        let refused = rows_to_suppress(sample, k);
        for budget in [0, 1, n_rows / 10, n_rows] {
            let policy = Policy::k_anonymity(k).unwrap().with_budget(budget);
            for &judge in judges {
                for (threads, algorithm) in [
                    (1, Traversal::Incognito),
                    (3, Traversal::Incognito),
                    (1, Traversal::Exhaustive),
                    (1, Traversal::BottomUp),
                ] {
                    let search = Search { judge, threads, algorithm, ..Search::incognito() };
                    let outcome =
                        search.run(Problem { source: &rows, policy: &policy }, &Progress::new()).unwrap();
                    for (node, levels) in naive::all_nodes(&sample.heights()).iter().enumerate() {
                        let is_in = outcome
                            .holding
                            .iter()
                            .any(|other| outcome.lattice.levels(other).collect::<Vec<u8>>() == *levels);
                        assert_eq!(
                            is_in,
                            refused[levels] <= budget,
                            "node {node} {levels:?}, k {k}, budget {budget}, {n_rows} rows, {search:?}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn bitmaps_judge_right_where_a_line_of_bits_ends() {
    for n_rows in [0, 1, 2, 511, 512, 513, 1024, 1025] {
        let sample = Sample::new(vec![
            column(0, n_rows, 1, false, &[1, 1]),
            column(1, n_rows, 2, true, &[2]),
            column(2, n_rows, 9, true, &[3, 9]),
            column(3, n_rows, 5, false, &[5]),
        ]);
        check(&sample, &[1, 2, 7, n_rows as u64 + 1], &bitmaps(None), None);
    }
}

#[test]
fn bitmaps_judge_right_where_a_byte_cannot_tell_labels_apart() {
    for n_values in [255, 256, 257, 258] {
        let sample = Sample::new(vec![
            column(0, 1500, n_values, false, &[16, 1000]),
            column(1, 1500, 3, true, &[3]),
            column(2, 1500, 300, true, &[50, 300]),
        ]);
        check(&sample, &[1, 2, 5], &bitmaps(None), None);
    }
}

/// Labels come rarest first, in the whole table. Within a set, the last of them may be the rare one.
#[test]
fn a_single_record_of_a_label_that_is_frequent_elsewhere_is_a_group() {
    let column = |name: &str, value: &dyn Fn(usize) -> usize| SampleColumn {
        name: name.into(),
        hierarchy: (0..4).map(|value| vec![value.to_string(), "*".into()]).collect(),
        cells: (0..1200).map(|row| value(row).to_string()).collect(),
    };
    // Of the first half, record 77 alone has the label that all of the second half have.
    let frequent_elsewhere = |row: usize| if row == 77 || row >= 600 { 3 } else { row % 3 };
    let half = column("half", &|row| row / 600);
    let other = column("other", &frequent_elsewhere);
    let even = column("even", &|row| usize::from(row >= 600 && row % 2 == 0));
    check(&Sample::new(vec![half.clone(), other.clone()]), &[1, 2, 3], &bitmaps(None), None);
    check(&Sample::new(vec![half, other, even]), &[1, 2, 3], &bitmaps(None), None);
}

/// Thousands of small sets, each looked up among thousands of labels.
#[test]
fn bitmaps_judge_right_with_many_labels_of_two_columns() {
    let sample = Sample::new(vec![
        column(0, 60_000, 20_000, false, &[50, 20_000]),
        column(1, 60_000, 30_000, false, &[50, 30_000]),
    ]);
    check(&sample, &[1, 2], &[JudgeKind::Bitmap(BitmapOptions::BEST)], None);
}

#[test]
fn bitmaps_judge_right_with_seventy_thousand_labels() {
    let sample =
        Sample::new(vec![column(0, 75_000, 70_000, false, &[100, 70_000]), column(1, 75_000, 2, true, &[2])]);
    check(&sample, &[1, 2], &bitmaps(None), None);
}

#[test]
fn bitmaps_judge_right_whatever_the_keys_width() {
    for (n_columns, width) in [(1, None), (3, None), (3, Some(KeyWidth::Wide))] {
        let columns = (0..n_columns).map(|at| column(at, 600, 9, at % 2 == 0, &[2, 4, 9]));
        check(&Sample::new(columns.collect()), &[1, 3, 50], &bitmaps(None), width);
    }
    for (n_columns, height, width) in [(3, 22, KeyWidth::U128), (2, 70, KeyWidth::Wide)] {
        let columns = (0..n_columns).map(|at| {
            let label = |leaf: usize, level: usize| {
                if level < leaf.max(1) { format!("v{leaf}") } else { format!("up{level}") }
            };
            let hierarchy: Vec<Vec<String>> =
                (0..=height).map(|leaf| (0..=height).map(|level| label(leaf, level)).collect()).collect();
            let cells = (0..200).map(|row| {
                let leaf =
                    if row <= height { row } else { mix((row * 8 + at) as u64) as usize % (height + 1) };
                format!("v{leaf}")
            });
            SampleColumn { name: format!("q{at}"), hierarchy, cells: cells.collect() }
        });
        let sample = Sample::new(columns.collect());
        let table = sample.table();
        let rows = Rows::new(&table, &sample.attributes(&table)).unwrap();
        assert_eq!(rows.layout().width(), width);
        for (k, budget) in [(2, 0), (5, 20)] {
            let policy = Policy::k_anonymity(k).unwrap().with_budget(budget);
            let refused = rows_to_suppress(&sample, k);
            for judge in bitmaps(None) {
                for algorithm in [Traversal::Incognito, Traversal::BottomUp] {
                    let search = Search { judge, algorithm, ..Search::incognito() };
                    let outcome =
                        search.run(Problem { source: &rows, policy: &policy }, &Progress::new()).unwrap();
                    let found: Vec<Vec<u8>> =
                        outcome.holding.iter().map(|node| outcome.lattice.levels(node).collect()).collect();
                    assert!(found.iter().all(|levels| refused[levels] <= budget), "{search:?}");
                    let n_holding = refused.values().filter(|rows| **rows <= budget).count();
                    assert_eq!(found.len(), n_holding, "{search:?}");
                }
            }
        }
    }
}

/// At every bound from the index's own need on, whatever is kept or not, verdicts are the same.
#[test]
fn a_tight_bound_changes_no_verdict() {
    let sample = Sample::new(vec![
        column(0, 600, 3, true, &[3]),
        column(1, 600, 9, true, &[3, 9]),
        column(2, 600, 5, false, &[5]),
    ]);
    let table = sample.table();
    let rows = Rows::new(&table, &sample.attributes(&table)).unwrap();
    let policy = Policy::k_anonymity(3).unwrap();
    let problem = Problem { source: &rows, policy: &policy };
    let run = |memory| {
        let options = BitmapOptions { memory, intersect: Intersect::OneLevel, ..BitmapOptions::BEST };
        JudgeKind::Bitmap(options).prepare(problem, &Progress::new()).map(|judge| judge.peak_bytes())
    };
    let need = run(None).unwrap();
    let least = (0..2 * need).find(|&memory| run(Some(memory)).is_ok()).unwrap();
    assert_eq!(least, need, "an index that fits is taken, one that does not is refused");
    for memory in (least..least + 6000).step_by(1500) {
        check(&sample, &[1, 3], &bitmaps(Some(memory)), None);
    }
}

#[test]
fn reusing_keeps_less_under_a_bound() {
    let columns = (0..4).map(|at| column(at, 2000, 4, true, &[2, 4]));
    let sample = Sample::new(columns.collect());
    let table = sample.table();
    let rows = Rows::new(&table, &sample.attributes(&table)).unwrap();
    let policy = Policy::k_anonymity(5).unwrap();
    let problem = Problem { source: &rows, policy: &policy };
    let peak = |intersect, memory| {
        let options = BitmapOptions { memory, intersect, stop: Stop::AtTheEnd };
        let judge = JudgeKind::Bitmap(options).prepare(problem, &Progress::new()).unwrap();
        Search::incognito().run_with(&*judge, problem, &Progress::new()).unwrap();
        judge.peak_bytes()
    };
    let index = peak(Intersect::OneLevel, None);
    let (bounded, free) = (peak(Intersect::Reusing, Some(index)), peak(Intersect::Reusing, None));
    // What a node is made from, and its own groups, are there while it is judged: 4 bytes a record at most, each of them.
    assert!(bounded <= index + 2 * 4 * 2000, "{bounded} bytes, the index alone {index}");
    assert!(free > index + 2 * 4 * 2000, "{free} bytes without a bound: too few to tell");
}
