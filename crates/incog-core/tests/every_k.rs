//! One walk finds for each node the largest k, and for each k the best node: the same as a search for each k.

use incog_core::algorithm::{KRange, Search, Traversal, every_k};
use incog_core::frequency::{KeyWidth, Rows};
use incog_core::judge::{JudgeKind, Problem};
use incog_core::metric::{self, Costs, Needs};
use incog_core::privacy::{KAnonymity, Policy, Unit};
use incog_core::{ErrorKind, Progress};
use incog_testkit::{Sample, SampleColumn, random};
use proptest::prelude::*;

fn policy(unit: Unit, k: u64, budget: u64) -> Policy {
    let model = match unit {
        Unit::Rows => KAnonymity::new(k),
        Unit::Persons => KAnonymity::of_persons(k),
    };
    Policy::new(vec![Box::new(model.unwrap())], budget).unwrap()
}

/// Compares with an exhaustive search for every k, and with the best of what that finds.
fn check(
    sample: &Sample,
    width: KeyWidth,
    unit: Unit,
    budget: u64,
    start: u64,
    end: u64,
) -> Result<(), TestCaseError> {
    let table = sample.table();
    let attributes = sample.attributes(&table);
    let mut rows = Rows::with_width(&table, &attributes, width).unwrap();
    if unit == Unit::Persons {
        rows = rows.with_unit(&table, "person").unwrap();
    }
    let question = KRange { source: &rows, unit, budget, k: start..=end };
    let progress = Progress::new();
    let found = every_k(&question, &progress).unwrap();
    prop_assert_eq!(progress.nodes_judged(), found.n_counted);
    prop_assert!(found.n_counted <= found.lattice.n_nodes() as u64);
    let mut expected = vec![None; found.lattice.n_nodes()];
    let search = Search { algorithm: Traversal::Exhaustive, judge: JudgeKind::Scan, ..Search::incognito() };
    let costs_policy = policy(unit, start, budget);
    let costs = Costs::new(Problem { source: &rows, policy: &costs_policy }, &attributes).unwrap();
    let metrics: Vec<_> = metric::ALL.iter().filter(|entry| entry.item.needs() != Needs::Groups).collect();
    let frontiers: Vec<_> = metrics
        .iter()
        .map(|entry| found.frontier(&question, &attributes, &costs, entry.item, &Progress::new()).unwrap())
        .collect();
    for k in start..=end {
        let policy = policy(unit, k, budget);
        let problem = Problem { source: &rows, policy: &policy };
        let all = search.run(problem, &Progress::new()).unwrap();
        for node in all.holding.iter() {
            expected[node] = Some(k);
        }
        for (entry, frontier) in metrics.iter().zip(&frontiers) {
            let (lattice, holding) = (&all.lattice, &all.holding);
            let best =
                metric::best(problem, &attributes, lattice, holding, &costs, entry.item, &Progress::new())
                    .unwrap();
            let at = &frontier[(k - start) as usize];
            prop_assert_eq!((at.k, at.n_holding), (k, all.holding.len() as u64));
            prop_assert_eq!(
                at.best.as_ref().map(|best| (best.node, &best.statistics)),
                best.as_ref().map(|best| (best.node, &best.statistics)),
                "{}, k = {}",
                entry.name,
                k
            );
        }
    }
    let largest: Vec<Option<u64>> = (0..found.lattice.n_nodes()).map(|node| found.largest(node)).collect();
    prop_assert_eq!(largest, expected);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(80))]

    #[test]
    fn it_is_what_a_search_for_each_k_finds(
        sample in random::sample(4, 25),
        budget in 0..=6_u64,
        start in 1..=4_u64,
        n in 0..=8_u64,
    ) {
        check(&sample, KeyWidth::U64, Unit::Rows, budget, start, start + n)?;
        check(&sample, KeyWidth::U64, Unit::Rows, 0, start, start + n)?;
    }

    #[test]
    fn keys_of_any_width_and_persons_too(
        sample in random::sample(3, 20),
        budget in 0..=4_u64,
        start in 1..=3_u64,
    ) {
        check(&sample, KeyWidth::U128, Unit::Rows, budget, start, start + 5)?;
        check(&sample, KeyWidth::Wide, Unit::Rows, budget, start, start + 5)?;
        check(&sample, KeyWidth::U64, Unit::Persons, budget, start, start + 5)?;
        check(&sample.with_nobody("p0"), KeyWidth::U64, Unit::Persons, budget, start, start + 5)?;
    }

    /// Beyond 255 a byte does not hold k.
    #[test]
    fn large_k_are_counted_in_larger_numbers(sample in random::sample(2, 20), budget in 0..=30_u64) {
        check(&sample, KeyWidth::U64, Unit::Rows, budget, 254, 258)?;
    }
}

#[test]
fn a_range_that_makes_no_sense_is_an_error() {
    let hierarchy = ["a", "b"].map(|value| vec![value.to_owned(), "*".to_owned()]).to_vec();
    let cells = ["a", "b", "b"].map(str::to_owned).to_vec();
    let sample = Sample::new(vec![SampleColumn { name: "column".into(), hierarchy, cells }]);
    let table = sample.table();
    let attributes = sample.attributes(&table);
    let rows = Rows::new(&table, &attributes).unwrap();
    #[allow(clippy::reversed_empty_ranges, reason = "that is what is tested")]
    for (k, message) in [
        (0..=3, "k is 0"),
        (5..=2, "the range of k ends before it starts"),
        (2..=u64::MAX, "k is larger than any table"),
    ] {
        let question = KRange { source: &rows, unit: Unit::Rows, budget: 0, k };
        assert_eq!(every_k(&question, &Progress::new()).unwrap_err().to_string(), message);
    }
    let progress = Progress::new();
    progress.cancel();
    let question = KRange { source: &rows, unit: Unit::Rows, budget: 0, k: 2..=3 };
    assert_eq!(every_k(&question, &progress).unwrap_err().kind(), ErrorKind::Cancelled);
}
