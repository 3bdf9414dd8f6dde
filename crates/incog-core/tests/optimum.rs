//! The best node is found without all the others, and is the same.

use incog_core::Progress;
use incog_core::algorithm::{Search, Traversal, optimum};
use incog_core::frequency::Rows;
use incog_core::hierarchy::spec::{Mask, MaskFrom, Spec};
use incog_core::hierarchy::{Attribute, Attributes};
use incog_core::judge::Problem;
use incog_core::metric::{self, Costs, Direction, Needs};
use incog_core::privacy::Policy;
use incog_core::table::{Column, Role, Table};
use incog_testkit::{Sample, SampleColumn, random};
use proptest::prelude::*;

/// Compares with the best of every node that holds, for every metric.
fn check(sample: &Sample, k: u64, budget: u64, weights: Option<Vec<f64>>) -> Result<(), TestCaseError> {
    let table = sample.table();
    let attributes = sample.attributes(&table);
    let rows = Rows::new(&table, &attributes).unwrap();
    let policy = Policy::k_anonymity(k).unwrap().with_budget(budget);
    let problem = Problem { source: &rows, policy: &policy };
    let mut costs = Costs::new(problem, &attributes).unwrap();
    if let Some(weights) = weights {
        costs = costs.with_weights(weights).unwrap();
    }
    let search = Search { algorithm: Traversal::Exhaustive, ..Search::incognito() };
    let all = search.run(problem, &Progress::new()).unwrap();
    for entry in metric::ALL {
        let best = metric::best(
            problem,
            &attributes,
            &all.lattice,
            &all.holding,
            &costs,
            entry.item,
            &Progress::new(),
        )
        .unwrap();
        let progress = Progress::new();
        let found = optimum(problem, &attributes, &costs, entry.item, &progress).unwrap();
        prop_assert_eq!(progress.nodes_judged(), found.judged.len() as u64);
        let mut judged: Vec<usize> = found.judged.iter().map(|&(node, _)| node).collect();
        judged.sort_unstable();
        prop_assert!(judged.windows(2).all(|pair| pair[0] < pair[1]), "no node is judged twice");
        prop_assert_eq!(
            found.best.map(|best| (best.node, best.statistics)),
            best.map(|best| (best.node, best.statistics)),
            "{}",
            entry.name
        );
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn it_is_the_best_of_all_that_hold(
        sample in random::sample(4, 25),
        k in 1..=4_u64,
        budget in 0..=6_u64,
        weights in proptest::option::of(random::weights(4)),
    ) {
        check(&sample, k, budget, random::weights_of(&sample, weights))?;
    }

    #[test]
    fn ties_are_decided_alike(
        sample in random::sample(1, 12),
        n_copies in 2..=3_usize,
        k in 1..=3_u64,
        budget in 0..=6_u64,
    ) {
        let sample = sample.with_copies(n_copies);
        check(&sample, k, budget, None)?;
    }

    /// What the search relies on: suppressing rows never makes a node better than its levels alone.
    #[test]
    fn suppression_never_improves_a_score(
        sample in random::sample(3, 20),
        k in 1..=4_u64,
    ) {
        let table = sample.table();
        let attributes = sample.attributes(&table);
        let rows = Rows::new(&table, &attributes).unwrap();
        let suppressing = Policy::k_anonymity(k).unwrap().with_budget(sample.n_rows() as u64);
        let keeping = Policy::k_anonymity(1).unwrap();
        let costs = Costs::new(Problem { source: &rows, policy: &keeping }, &attributes).unwrap();
        let lattice = incog_core::lattice::Lattice::new(&attributes.heights()).unwrap();
        let nodes: Vec<usize> = (0..lattice.n_nodes()).collect();
        let describe = |policy: &Policy| {
            let problem = Problem { source: &rows, policy };
            metric::describe(problem, &attributes, &lattice, &nodes, &Progress::new()).unwrap()
        };
        for (kept, suppressed) in describe(&keeping).iter().zip(&describe(&suppressing)) {
            for entry in metric::ALL.iter().filter(|entry| entry.item.needs() != Needs::Groups) {
                let [kept, suppressed] = [kept, suppressed].map(|node| {
                    let score = entry.item.score(&costs, &node.statistics);
                    if entry.item.direction() == Direction::LowerIsBetter { score } else { -score }
                });
                prop_assert!(kept <= suppressed + 1e-12, "{}: {} > {}", entry.name, kept, suppressed);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// More rows than a byte counts: of most nodes only the rows in small groups are told.
    #[test]
    fn it_is_the_best_of_all_that_hold_where_counters_stop(
        sample in random::sample(5, 700),
        k in 2..=30_u64,
        budget in 1..=150_u64,
    ) {
        check(&sample, k, budget, None)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(80))]

    /// From the least weight to the greatest, in one job.
    #[test]
    fn it_is_the_best_of_all_that_hold_however_far_apart_weights_lie(
        sample in random::sample(4, 25),
        k in 1..=4_u64,
        budget in 0..=6_u64,
        weights in proptest::collection::vec(
            prop_oneof![Just(0.0), Just(1e-9), Just(1.0), Just(0.1), Just(1e9), 1e-9..1e9_f64],
            4,
        ),
    ) {
        let weights = weights[..sample.columns.len()].to_vec();
        let weights = Some(weights).filter(|weights| weights.iter().any(|&weight| weight > 0.0));
        check(&sample, k, budget, weights)?;
    }
}

/// Of the nodes that hold, one is better by the second attribute alone, whose weight is 2⁻²⁹ beside one of 2²⁹: more than the digits
/// of a float can tell in a sum. By their heights the other would be chosen.
#[test]
fn a_small_weight_is_heard_beside_a_large_one() {
    let column = |name: &str, cells: [&str; 4], hierarchy: &[&[&str]]| SampleColumn {
        name: name.into(),
        hierarchy: hierarchy.iter().map(|path| path.iter().map(|&label| label.into()).collect()).collect(),
        cells: cells.map(str::to_owned).to_vec(),
    };
    let sample = Sample::new(vec![
        column("who", ["1", "2", "3", "4"], &[&["1", "*"], &["2", "*"], &["3", "*"], &["4", "*"]]),
        column("sex", ["f", "m", "f", "m"], &[&["f", "*"], &["m", "*"]]),
        column("zip", ["a", "a", "b", "b"], &[&["a", "a-", "*"], &["b", "b-", "*"]]),
    ]);
    let table = sample.table();
    let attributes = sample.attributes(&table);
    let rows = Rows::new(&table, &attributes).unwrap();
    let policy = Policy::k_anonymity(2).unwrap();
    let problem = Problem { source: &rows, policy: &policy };
    let weights = vec![f64::from(1 << 29), 1.0 / f64::from(1 << 29), 0.0];
    let costs = Costs::new(problem, &attributes).unwrap().with_weights(weights).unwrap();
    for entry in metric::ALL.iter().filter(|entry| entry.item.uses_weights()) {
        let best = optimum(problem, &attributes, &costs, entry.item, &Progress::new()).unwrap().best.unwrap();
        assert_eq!(best.statistics.levels, [1, 0, 2], "{}", entry.name);
    }
}

#[test]
fn weights_that_vanish_in_sums_are_refused() {
    let sample =
        Sample::new(vec![SampleColumn::skewed(0, 10, 3, &[3]), SampleColumn::skewed(1, 10, 3, &[3])]);
    let table = sample.table();
    let attributes = sample.attributes(&table);
    let rows = Rows::new(&table, &attributes).unwrap();
    let policy = Policy::k_anonymity(2).unwrap();
    let costs = Costs::new(Problem { source: &rows, policy: &policy }, &attributes).unwrap();
    for weight in [5e-324, 1e-300, 0.9e-9, 1.1e9, 1e300, f64::INFINITY, f64::NAN, -1.0] {
        let error = costs.clone().with_weights(vec![weight, 1.0]).unwrap_err();
        assert_eq!(error.hint(), Some("weights are 0, or from 1e-9 to 1e9"), "{weight}");
    }
    for weight in [0.0, 1e-9, 0.1, 1e9] {
        assert!(costs.clone().with_weights(vec![weight, 1.0]).is_ok(), "{weight}");
    }
}

/// Many columns of few values, and rows enough for nodes near the bottom to hold: their keys have more bits than there are groups by
/// far, so groups are told of by their numbers, and sets are made for what will be asked.
#[test]
fn nodes_of_many_bits_are_judged_alike() {
    for (n_columns, n_values, steps, n_rows) in
        [(7, 5, &[3, 5][..], 4000), (6, 9, &[3, 9], 6000), (8, 5, &[5], 3000), (5, 17, &[4, 17], 20_000)]
    {
        let columns = (0..n_columns).map(|at| SampleColumn::skewed(at, n_rows, n_values, steps)).collect();
        let sample = Sample::new(columns);
        for (k, budget) in [(2, n_rows / 2), (3, n_rows / 5), (9, n_rows / 20)] {
            check(&sample, k, budget, None).unwrap();
        }
    }
}

/// Many rows, but few that differ: sets are made for what will be asked once equal ones are put together.
#[test]
fn many_rows_of_few_kinds_are_judged_alike() {
    let n_rows = 140_000;
    let columns = (0..4).map(|at| SampleColumn::skewed(at, n_rows, 11, &[4, 12])).collect();
    let sample = Sample::new(columns);
    for (k, budget) in [(5, n_rows / 50), (40, n_rows / 20)] {
        check(&sample, k, budget, None).unwrap();
    }
}

/// Large enough that nodes are seen to fail from some of their groups: the answer is that of the complete search.
#[test]
fn failing_early_changes_no_answer() {
    let mut seed = 11_u64;
    let mut draw = |n: u64| {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 33) % n
    };
    let n_rows = 1 << 19;
    // Three columns say the same of each row and one says something else: the best node keeps the three.
    let rows: Vec<[u64; 4]> = (0..n_rows)
        .map(|_| {
            let hidden = draw(10_000);
            [hidden, hidden * 7 % 100_003, hidden * 31 % 99_991, draw(900)]
        })
        .collect();
    let columns: Vec<Column> = (0..4)
        .map(|at| {
            let mut column = Column::new(format!("c{at}"), Role::QuasiIdentifier);
            for row in &rows {
                column.push(&format!("{:06}", row[at])).unwrap();
            }
            column
        })
        .collect();
    let table = Table::new(columns).unwrap();
    let mask = Spec::Mask(Mask::new(MaskFrom::Right));
    let attributes = table
        .columns()
        .iter()
        .map(|column| {
            let attribute = Attribute::bind(column, mask.build(column, None).unwrap(), "rule").unwrap();
            attribute.with_levels(&[0, 2, 6]).unwrap()
        })
        .collect();
    let attributes = Attributes::new(attributes).unwrap();
    let rows = Rows::new(&table, &attributes).unwrap();
    let mut n_early = 0;
    for (k, budget) in [(10, 500), (50, 5000), (2, 0)] {
        let policy = Policy::k_anonymity(k).unwrap().with_budget(budget);
        let problem = Problem { source: &rows, policy: &policy };
        let costs = Costs::new(problem, &attributes).unwrap();
        let metric = incog_core::registry::find(metric::ALL, "loss").unwrap().item;
        let found = optimum(problem, &attributes, &costs, metric, &Progress::new()).unwrap();
        let every = Search::incognito().run(problem, &Progress::new()).unwrap();
        let (lattice, holding) = (&every.lattice, &every.holding);
        let best =
            metric::best(problem, &attributes, lattice, holding, &costs, metric, &Progress::new()).unwrap();
        assert_eq!(found.best.map(|best| best.node), best.map(|best| best.node), "k = {k}");
        n_early += found.judged.iter().filter(|(_, refused)| refused.is_none()).count();
    }
    assert!(n_early > 0, "some nodes failed early");
}
