//! The best node of a lattice of which nothing is stored: the same as the best of all nodes, or as near as it says.

use incog_core::Progress;
use incog_core::algorithm::{
    BestFirst, Limits, Quality, Search, Traversal, best_first, has_best_first_search,
};
use incog_core::frequency::Rows;
use incog_core::hierarchy::spec::{Mask, MaskFrom, Spec};
use incog_core::hierarchy::{Attribute, Attributes};
use incog_core::judge::Problem;
use incog_core::metric::{self, Costs, Direction};
use incog_core::privacy::Policy;
use incog_core::registry::find;
use incog_core::table::{Column, Role, Table};
use incog_testkit::{Sample, random};
use proptest::prelude::*;

fn steps(max_steps: Option<u64>) -> Limits {
    Limits { max_steps, deadline: None }
}

/// Compares with the best of every node that holds, for every metric that has bounds; without a limit and with some.
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
    let (lattice, holding) = (&all.lattice, &all.holding);
    for entry in metric::ALL.iter().filter(|entry| has_best_first_search(entry.item)) {
        let best = metric::best(problem, &attributes, lattice, holding, &costs, entry.item, &Progress::new())
            .unwrap();
        let best = best.map(|best| best.statistics);
        let progress = Progress::new();
        let found = best_first(problem, &attributes, &costs, entry.item, steps(None), &progress).unwrap();
        prop_assert_eq!(progress.nodes_judged(), found.n_judged);
        prop_assert_eq!(found.quality, Quality::Optimal);
        prop_assert_eq!(&found.best, &best, "{}", entry.name);
        for n_steps in (1..12).chain([100_000]) {
            let limits = steps(Some(n_steps));
            let found =
                best_first(problem, &attributes, &costs, entry.item, limits, &Progress::new()).unwrap();
            let (Some(found_best), Some(best)) = (&found.best, &best) else {
                prop_assert!(
                    best.is_none() && found.quality == Quality::Optimal,
                    "the top holds, or nothing"
                );
                continue;
            };
            let score = entry.item.score(&costs, found_best);
            let optimum = entry.item.score(&costs, best);
            prop_assert!(n_steps < 100_000 || found.quality == Quality::Optimal, "enough for a proof");
            match found.quality {
                Quality::Optimal => prop_assert_eq!(found_best, best),
                Quality::Within { gap, bound } => {
                    let larger = score.abs().max(optimum.abs());
                    prop_assert!((score - optimum).abs() <= gap * larger + 1e-12, "{}: {gap}", entry.name);
                    let is_true = match entry.item.direction() {
                        Direction::LowerIsBetter => bound <= optimum + 1e-12,
                        Direction::HigherIsBetter => bound >= optimum - 1e-12,
                    };
                    prop_assert!(is_true, "{}: {} is not beyond {}", entry.name, bound, optimum);
                }
                Quality::Heuristic => prop_assert!(false, "there is a bound"),
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn it_is_the_best_of_all_that_hold_or_as_near_as_it_says(
        sample in random::sample(4, 25),
        k in 1..=4_u64,
        budget in 0..=6_u64,
        weights in proptest::option::of(random::weights(4)),
    ) {
        check(&sample, k, budget, random::weights_of(&sample, weights))?;
    }

    /// Steps that cost nothing lead from a box's lowest node to others of the same bound.
    #[test]
    fn columns_may_weigh_nothing(
        sample in random::sample(5, 150),
        k in 2..=9_u64,
        budget in 0..=2_u64,
        weights in random::weights(5),
    ) {
        check(&sample, k, budget, random::weights_of(&sample, Some(weights)))?;
    }

    #[test]
    fn ties_are_decided_alike(
        sample in random::sample(1, 12),
        n_copies in 2..=3_usize,
        k in 1..=3_u64,
        budget in 0..=6_u64,
    ) {
        check(&sample.with_copies(n_copies), k, budget, None)?;
    }
}

/// A table of words, each letter of which depends on a hidden kind of row, and on chance.
fn words(n_rows: usize, n_columns: usize) -> Table {
    let mut seed = 7_u64;
    let mut draw = |n: usize| {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 33) as usize % n
    };
    let mut columns: Vec<Column> =
        (0..n_columns).map(|at| Column::new(format!("c{at}"), Role::QuasiIdentifier)).collect();
    for _ in 0..n_rows {
        let kind = draw(50);
        for (at, column) in columns.iter_mut().enumerate() {
            let letter = |digit: usize| {
                let n = 2 + (at + digit) % 4;
                let letter = if draw(3) > 0 { kind * (at + 3) / 7 % n } else { draw(n).min(draw(n)) };
                char::from(b'a' + letter as u8)
            };
            column.push(&(0..3).map(letter).collect::<String>()).unwrap();
        }
    }
    Table::new(columns).unwrap()
}

/// 4^20 nodes: more than any lattice may have. Within a limit there is an answer, which more steps only improve, whatever the
/// threads.
#[test]
fn a_trillion_nodes_have_an_answer_and_a_gap() {
    let table = words(3_000, 20);
    let mask = Spec::Mask(Mask::new(MaskFrom::Right));
    let attributes = table
        .columns()
        .iter()
        .map(|column| Attribute::bind(column, mask.build(column, None).unwrap(), "rule").unwrap());
    let attributes = Attributes::new(attributes.collect()).unwrap();
    assert_eq!(attributes.heights(), [3; 20]);
    let rows = Rows::new(&table, &attributes).unwrap();
    let policy = Policy::k_anonymity(5).unwrap().with_budget(60);
    let problem = Problem { source: &rows, policy: &policy };
    let costs = Costs::new(problem, &attributes).unwrap();
    let loss = find(metric::ALL, "loss").unwrap().item;
    let run = |n_steps: u64| {
        best_first(problem, &attributes, &costs, loss, steps(Some(n_steps)), &Progress::new()).unwrap()
    };
    let of = |found: &BestFirst| match (found.quality, &found.best) {
        (Quality::Within { gap, bound }, Some(best)) => (loss.score(&costs, best), gap, bound),
        _ => panic!("neither proven nor without an answer: {:?}", found.quality),
    };
    let (few, more) = (run(150), run(600));
    let ((few_loss, few_gap, few_bound), (loss, gap, bound)) = (of(&few), of(&more));
    assert!(loss <= few_loss && bound >= few_bound && gap <= few_gap && bound <= loss);
    assert!(bound > few_bound, "more steps raise the bound");
    assert!(more.n_judged >= 600 && more.n_judged < 700, "{}", more.n_judged);
    let pool = |n| rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap();
    for n_threads in [1, 3] {
        let again = pool(n_threads).install(|| run(600));
        assert_eq!(
            (again.best, again.n_judged, again.known),
            (more.best.clone(), more.n_judged, more.known.clone())
        );
        assert_eq!(again.quality, more.quality);
    }
}
