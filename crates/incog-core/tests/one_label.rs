//! A candidate with an attribute at a level of a single label: taking over the verdict of the smaller subset and grouping it
//! all the same find the same nodes by the same checks.

use incog_core::Progress;
use incog_core::algorithm::{MARKINGS, OneLabel, Outcome, Search, Trace, Traversal};
use incog_core::frequency::Rows;
use incog_core::judge::{self, Problem};
use incog_core::privacy::Policy;
use incog_testkit::{Sample, SampleColumn, naive, random};
use proptest::prelude::*;

fn nodes(outcome: &Outcome, nodes: impl IntoIterator<Item = usize>) -> Vec<Vec<u8>> {
    nodes.into_iter().map(|node| outcome.lattice.levels(node).collect()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn grouping_to_the_letter_finds_the_same_sets_by_the_same_checks(
        sample in random::sample(4, 40),
        k in 1..=6_u64,
        budget in prop_oneof![Just(0_u64), 1..=12_u64],
    ) {
        let table = sample.table();
        let rows = Rows::new(&table, &sample.attributes(&table)).unwrap();
        let policy = Policy::k_anonymity(k).unwrap().with_budget(budget);
        let problem = Problem { source: &rows, policy: &policy };
        let expected = naive::satisfying(&sample, k, budget);
        for (judge, marking) in judge::ALL.iter().zip(MARKINGS.iter().cycle()) {
            let run = |one_label| {
                let search = Search {
                    algorithm: Traversal::Incognito,
                    judge: judge.item,
                    marking: marking.item,
                    trace: Trace::Families,
                    one_label,
                    ..Search::default()
                };
                search.run(problem, &Progress::new()).unwrap()
            };
            let (taking_over, to_the_letter) = (run(OneLabel::TakeOver), run(OneLabel::Group));
            prop_assert_eq!(nodes(&to_the_letter, to_the_letter.holding.iter()), expected.clone());
            prop_assert_eq!(&to_the_letter.holding, &taking_over.holding);
            prop_assert_eq!(&to_the_letter.minimal, &taking_over.minimal);
            prop_assert_eq!(to_the_letter.work.nodes_checked, taking_over.work.nodes_checked);
            prop_assert_eq!(to_the_letter.work.nodes_grouped, to_the_letter.work.nodes_checked);
            prop_assert!(taking_over.work.nodes_grouped <= taking_over.work.nodes_checked);
            for (a, b) in to_the_letter.families.iter().zip(&taking_over.families) {
                prop_assert_eq!(&a.checked, &b.checked, "{}", judge.name);
                prop_assert_eq!(&a.holding, &b.holding, "{}", judge.name);
            }
            for iteration in &to_the_letter.iterations {
                prop_assert_eq!(iteration.checked, iteration.grouped);
            }
        }
    }
}

#[test]
fn a_level_of_a_single_label_is_taken_over_and_grouped_only_on_demand() {
    // Two columns of one label: of the three nodes checked, the pair needs no grouping.
    let column = |name: &str| SampleColumn {
        name: name.into(),
        hierarchy: vec![vec!["x".into()]],
        cells: vec!["x".into(); 3],
    };
    let sample = Sample::new(vec![column("a"), column("b")]);
    let table = sample.table();
    let rows = Rows::new(&table, &sample.attributes(&table)).unwrap();
    let policy = Policy::k_anonymity(2).unwrap();
    let work = |one_label| {
        let search = Search { one_label, ..Search::incognito() };
        let work = search.run(Problem { source: &rows, policy: &policy }, &Progress::new()).unwrap().work;
        (work.nodes_checked, work.nodes_grouped)
    };
    assert_eq!(work(OneLabel::TakeOver), (3, 2));
    assert_eq!(work(OneLabel::Group), (3, 3));
}
