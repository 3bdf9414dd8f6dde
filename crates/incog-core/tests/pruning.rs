//! Where pruning is unsound, nobody prunes.
//!
//! The counterexample: at most half of a group may have the value `h`, groups of at least two, two rows may be
//! suppressed. A = {h, h} fails and B = {h, h, x, y} holds, so suppressing A's two rows is enough. One level up,
//! A and B are one group with 4 of 6: all six rows would have to go.

use incog_core::algorithm::{self, MARKINGS, Search, Traversal};
use incog_core::frequency::Rows;
use incog_core::group::{Demand, Group};
use incog_core::judge::{self, Problem};
use incog_core::privacy::{Closure, KAnonymity, Policy, PrivacyModel};
use incog_core::{ErrorKind, Progress, Result};
use incog_testkit::{Sample, SampleColumn, naive, random};
use proptest::prelude::*;

/// At most half of a group's rows have the illness with code 0.
#[derive(Debug)]
struct AtMostHalf;

impl PrivacyModel for AtMostHalf {
    fn describe(&self) -> String {
        "at most half".into()
    }

    fn closure(&self) -> Closure {
        Closure::Merge
    }

    fn demand(&self) -> Demand {
        Demand { histograms: vec![0], ..Demand::default() }
    }

    fn admits(&self, group: Group<'_>) -> Result<bool> {
        let ill = group.histogram(0)?.iter().find(|(code, _)| *code == 0).map_or(0, |&(_, rows)| rows);
        Ok(2 * ill <= group.rows())
    }
}

fn policy(k: u64, budget: u64) -> Policy {
    Policy::new(vec![Box::new(KAnonymity::new(k).unwrap()), Box::new(AtMostHalf)], budget).unwrap()
}

/// The nodes that hold by definition: refuse groups that are too small or have too much of the first illness.
fn expected(sample: &Sample, k: u64, budget: u64) -> Vec<Vec<u8>> {
    let refused = |rows: &Vec<usize>| {
        let ill = rows.iter().filter(|&&row_idx| sample.illnesses[row_idx] == sample.illnesses[0]).count();
        (rows.len() as u64) < k || 2 * ill > rows.len()
    };
    naive::all_nodes(&sample.heights())
        .into_iter()
        .filter(|levels| {
            let groups = naive::groups(sample, &naive::present(levels)).into_values();
            groups.filter(&refused).map(|rows| rows.len() as u64).sum::<u64>() <= budget
        })
        .collect()
}

fn check(sample: &Sample, k: u64, budget: u64) -> std::result::Result<(), TestCaseError> {
    let table = sample.table();
    let rows =
        Rows::new(&table, &sample.attributes(&table)).unwrap().with_sensitive(&table, &["illness"]).unwrap();
    let policy = policy(k, budget);
    let expected = expected(sample, k, budget);
    for algorithm in algorithm::traversals() {
        for judge in judge::ALL {
            for marking in MARKINGS {
                let search = Search {
                    algorithm: algorithm.item,
                    judge: judge.item,
                    marking: marking.item,
                    ..Search::incognito()
                };
                let outcome = search.run(Problem { source: &rows, policy: &policy }, &Progress::new());
                if algorithm.item == Traversal::Samarati {
                    if budget > 0 {
                        prop_assert_eq!(outcome.unwrap_err().kind(), ErrorKind::Policy);
                    }
                    continue;
                }
                let outcome = outcome.unwrap();
                let found: Vec<Vec<u8>> =
                    outcome.holding.iter().map(|node| outcome.lattice.levels(node).collect()).collect();
                prop_assert_eq!(&found, &expected, "{:?}", search);
                let minimal: Vec<Vec<u8>> =
                    outcome.minimal.iter().map(|&node| outcome.lattice.levels(node).collect()).collect();
                prop_assert_eq!(minimal, naive::minimal(&expected), "{:?}", search);
            }
        }
    }
    Ok(())
}

fn counterexample() -> Sample {
    let hierarchy = |leaves: [&str; 2]| leaves.map(|leaf| vec![leaf.to_owned(), "*".to_owned()]).to_vec();
    let cells = ["A", "A", "B", "B", "B", "B"].map(str::to_owned).to_vec();
    let mut sample =
        Sample::new(vec![SampleColumn { name: "group".into(), hierarchy: hierarchy(["A", "B"]), cells }]);
    sample.illnesses = ["h", "h", "h", "h", "x", "y"].map(str::to_owned).to_vec();
    sample
}

#[test]
fn a_node_may_hold_although_its_generalization_fails() {
    let sample = counterexample();
    assert_eq!(expected(&sample, 2, 2), [[0]], "level 0 holds, level 1 does not");
    check(&sample, 2, 2).unwrap();
    check(&sample, 2, 0).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn with_a_merge_closed_model_every_search_still_agrees_with_the_definition(
        sample in random::sample(3, 25),
        k in 1..=4_u64,
        budget in prop_oneof![Just(0_u64), 1..=8_u64],
    ) {
        prop_assume!(sample.n_rows() > 0);
        check(&sample, k, budget)?;
    }
}
