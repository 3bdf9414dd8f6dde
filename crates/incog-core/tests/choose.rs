//! The judge that is chosen when nobody names one: each branch of the rule, with the table that it is for.

use std::sync::Arc;

use incog_core::Result;
use incog_core::frequency::{FrequencySet, FrequencySource, KeyLayout, Method, Records, Rows};
use incog_core::group::Demand;
use incog_core::judge::{self, JudgeKind, Problem};
use incog_core::lattice::Grouping;
use incog_core::privacy::{KAnonymity, Policy};
use incog_testkit::{Sample, SampleColumn};

/// Columns of `n_values` each; the square makes the last values rare.
fn sample(n_rows: usize, n_columns: usize, n_values: usize) -> Sample {
    let column = |at: usize| SampleColumn {
        name: format!("column {at}"),
        hierarchy: (0..n_values).map(|value| vec![value.to_string(), "*".into()]).collect(),
        cells: (0..n_rows)
            .map(|row| {
                let mixed = ((row * 64 + at) as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
                let share = (mixed >> 40) as f64 / (1_u64 << 24) as f64;
                ((share * share * n_values as f64) as usize).to_string()
            })
            .collect(),
    };
    Sample::new((0..n_columns).map(column).collect())
}

fn rows(sample: &Sample) -> Rows {
    let table = sample.table();
    Rows::new(&table, &sample.attributes(&table)).unwrap()
}

fn chosen(source: &dyn FrequencySource, policy: &Policy, memory: Option<u64>) -> &'static str {
    judge::choose(Problem { source, policy }, memory).unwrap().name()
}

/// Eight columns of four values: too many groups for the cube, few enough a node for bitmaps.
fn survey() -> Rows {
    rows(&sample(20_000, 8, 4))
}

#[test]
fn few_groups_and_many_records_are_for_the_cube() {
    let rows = rows(&sample(20_000, 4, 3));
    assert_eq!(chosen(&rows, &Policy::k_anonymity(5).unwrap(), None), "cube");
}

#[test]
fn a_cube_that_does_not_fit_is_not_chosen() {
    let rows = rows(&sample(20_000, 4, 3));
    assert_ne!(chosen(&rows, &Policy::k_anonymity(5).unwrap(), Some(100)), "cube");
}

#[test]
fn many_columns_of_few_labels_are_for_bitmaps() {
    assert_eq!(chosen(&survey(), &Policy::k_anonymity(50).unwrap(), None), "bitmap");
}

#[test]
fn bitmaps_that_do_not_fit_are_not_chosen() {
    // Each column alone has four sets of 20,000 bits, and a byte a record.
    assert_eq!(chosen(&survey(), &Policy::k_anonymity(50).unwrap(), Some(100_000)), "roll-up");
}

#[test]
fn a_budget_is_not_for_bitmaps() {
    let policy = Policy::k_anonymity(50).unwrap().with_budget(200);
    assert_ne!(chosen(&survey(), &policy, None), "bitmap");
}

#[test]
fn a_policy_that_asks_for_more_than_rows_is_not_for_bitmaps() {
    let policy = Policy::new(vec![Box::new(KAnonymity::of_persons(50).unwrap())], 0).unwrap();
    assert_ne!(chosen(&survey(), &policy, None), "bitmap");
}

#[test]
fn many_labels_are_for_roll_up() {
    let rows = rows(&sample(5000, 4, 300));
    assert_eq!(chosen(&rows, &Policy::k_anonymity(5).unwrap(), None), "roll-up");
}

/// Counts from elsewhere: no records to make bitmaps from, and as many as we like.
struct Counts {
    rows: Rows,
    n_rows: u64,
    has_records: bool,
}

impl FrequencySource for Counts {
    fn layout(&self) -> &Arc<KeyLayout> {
        self.rows.layout()
    }

    fn n_rows(&self) -> u64 {
        self.n_rows
    }

    fn records(&self) -> Option<&dyn Records> {
        self.rows.records().filter(|_| self.has_records)
    }

    fn count(&self, grouping: &Grouping, demand: &Demand, method: Method) -> Result<FrequencySet> {
        assert!(self.n_rows <= 1_000_000, "of more records nothing is counted");
        self.rows.count(grouping, demand, method)
    }
}

#[test]
fn a_source_without_records_is_not_for_bitmaps() {
    let counts = Counts { rows: survey(), n_rows: 20_000, has_records: false };
    assert_ne!(chosen(&counts, &Policy::k_anonymity(50).unwrap(), None), "bitmap");
}

#[test]
fn over_a_million_records_are_not_counted() {
    let counts = Counts { rows: rows(&sample(5000, 4, 300)), n_rows: 2_000_000, has_records: false };
    assert_eq!(chosen(&counts, &Policy::k_anonymity(5).unwrap(), None), "roll-up");
}

#[test]
fn over_a_million_records_are_not_for_bitmaps() {
    // So large a k that only few groups are left to intersect, and no room for a cube.
    let policy = |n_rows: u64| Policy::k_anonymity(n_rows / 400).unwrap();
    let of = |n_rows: u64| {
        let counts = Counts { rows: survey(), n_rows, has_records: true };
        chosen(&counts, &policy(n_rows), Some(500_000))
    };
    assert_eq!(of(20_000), "bitmap");
    assert_eq!(of(2_000_000), "roll-up");
}

#[test]
fn too_many_attributes_for_a_cube_still_have_a_judge() {
    let rows = rows(&sample(2000, 24, 2));
    let judge = judge::choose(Problem { source: &rows, policy: &Policy::k_anonymity(5).unwrap() }, None);
    assert!(!matches!(judge.unwrap(), JudgeKind::Cube(_)));
}

#[test]
fn an_empty_table_has_a_judge() {
    let rows = rows(&sample(0, 3, 4));
    judge::choose(Problem { source: &rows, policy: &Policy::k_anonymity(5).unwrap() }, None).unwrap();
}

#[test]
fn columns_with_one_label_do_not_hide_those_after_them() {
    let mut sample = sample(5000, 20, 1);
    sample.columns.splice(16.., self::sample(5000, 4, 300).columns);
    for (at, column) in sample.columns.iter_mut().enumerate() {
        column.name = format!("column {at}");
    }
    let rows = rows(&sample);
    let policy = Policy::k_anonymity(5).unwrap();
    let estimates = judge::estimate(Problem { source: &rows, policy: &policy }, None).unwrap();
    assert!(estimates.roll_up.unwrap() >= 5000.0, "the columns of 300 labels take a scan at least");
    // At most 5000 groups for each subset of theirs, and as many again for each column with one label.
    assert!(estimates.cube.unwrap() > 5000.0 * 65_536.0, "and the cube has all their groups");
}
