//! Micro-benchmarks of grouping: scans by method and number of groups, roll-ups, and a whole small search.
//!
//! `cargo bench -p incog-core`

use divan::{Bencher, black_box};
use incog_core::Progress;
use incog_core::algorithm::Search;
use incog_core::frequency::{FrequencySource, KeyWidth, Method, Rows, Scratch};
use incog_core::group::Demand;
use incog_core::hierarchy::{Attribute, Attributes, ExplicitHierarchy};
use incog_core::judge::Problem;
use incog_core::lattice::Grouping;
use incog_core::privacy::Policy;
use incog_core::table::{Column, Role, Table};

fn main() {
    divan::main();
}

const N_ROWS: usize = 100_000;

/// Four attributes of 64 values in a tree of 64, 16, 4 and 1 labels; skewed, deterministic.
fn rows(width: KeyWidth) -> Rows {
    let mut state = 42_u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 33
    };
    let mut columns = Vec::new();
    for name in ["a", "b", "c", "d"] {
        let mut column = Column::new(name, Role::QuasiIdentifier);
        for _ in 0..N_ROWS {
            column.push(&(random() % 64).min(random() % 64).to_string()).unwrap();
        }
        columns.push(column);
    }
    let table = Table::new(columns).unwrap();
    let attributes = table.columns().iter().map(|column| {
        let mut hierarchy = ExplicitHierarchy::new(column.name(), "bench");
        for leaf in 0..64 {
            let path =
                [leaf.to_string(), format!("{}/4", leaf / 4), format!("{}/16", leaf / 16), "*".to_owned()];
            hierarchy.push(leaf + 1, path.iter().map(String::as_str)).unwrap();
        }
        Attribute::bind(column, hierarchy.finish().unwrap(), "bench").unwrap()
    });
    let attributes = Attributes::new(attributes.collect()).unwrap();
    Rows::with_width(&table, &attributes, width).unwrap()
}

/// From a few groups to one for nearly every row.
const LEVELS: [[u8; 4]; 3] = [[2, 2, 2, 2], [1, 1, 1, 1], [0, 0, 0, 0]];

#[divan::bench(args = LEVELS, consts = [0, 1, 2])]
fn scan<const METHOD: usize>(bencher: Bencher<'_, '_>, levels: [u8; 4]) {
    let rows = rows(KeyWidth::U64);
    let method = [Method::Auto, Method::Hash, Method::Sort][METHOD];
    bencher.bench(|| rows.count(&Grouping::of_levels(&levels), &Demand::default(), method).unwrap());
}

#[divan::bench(args = [KeyWidth::U64, KeyWidth::U128, KeyWidth::Wide])]
fn scan_by_key_width(bencher: Bencher<'_, '_>, width: KeyWidth) {
    let rows = rows(width);
    bencher
        .bench(|| rows.count(&Grouping::of_levels(&[1, 1, 1, 1]), &Demand::default(), Method::Auto).unwrap());
}

#[divan::bench(args = [[0, 0, 0, 1], [1, 1, 1, 1], [2, 2, 2, 2]])]
fn roll_up(bencher: Bencher<'_, '_>, to: [u8; 4]) {
    let rows = rows(KeyWidth::U64);
    let base = rows.count(&Grouping::of_levels(&[0; 4]), &Demand::default(), Method::Auto).unwrap();
    let mut scratch = Scratch::default();
    bencher.bench_local(|| base.roll_up(black_box(&Grouping::of_levels(&to)), &mut scratch));
}

#[divan::bench]
fn search(bencher: Bencher<'_, '_>) {
    let rows = rows(KeyWidth::U64);
    let policy = Policy::k_anonymity(5).unwrap();
    bencher.bench(|| {
        Search::incognito().run(Problem { source: &rows, policy: &policy }, &Progress::new()).unwrap()
    });
}
