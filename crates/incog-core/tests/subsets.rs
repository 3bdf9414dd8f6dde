//! The generalizations of every subset of the quasi-identifiers that satisfy the policy, against the definition on strings.

use incog_core::Progress;
use incog_core::algorithm::{Search, Traversal, subsets};
use incog_core::frequency::Rows;
use incog_core::judge::{self, JudgeKind, Problem};
use incog_core::privacy::{self, KAnonymity, Parameters, Policy, Sensitive, Value};
use incog_testkit::{Sample, naive, random};
use proptest::prelude::*;

/// The sample with some of its columns.
fn part(sample: &Sample, columns: &[usize]) -> Sample {
    Sample { columns: columns.iter().map(|&at| sample.columns[at].clone()).collect(), ..sample.clone() }
}

/// Columns, generalizations that hold and minimal ones, as strings tell.
type Found = (Vec<usize>, Vec<Vec<u8>>, Vec<Vec<u8>>);

fn by_definition(sample: &Sample, most: usize, holds: impl Fn(&Sample, &[u8]) -> bool) -> Vec<Found> {
    let mut all = naive::combinations(sample.columns.len(), most);
    all.sort_by_key(|columns| (columns.len(), columns.clone()));
    let found = |columns: Vec<usize>| {
        let part = part(sample, &columns);
        let holding: Vec<Vec<u8>> =
            naive::all_nodes(&part.heights()).into_iter().filter(|levels| holds(&part, levels)).collect();
        let minimal = naive::minimal(&holding);
        (columns, holding, minimal)
    };
    all.into_iter().map(found).collect()
}

fn by_search(search: &Search, problem: Problem<'_>, most: usize) -> Vec<Found> {
    let found = subsets(search, problem, most, &Progress::new()).unwrap();
    let of_subset = |subset: incog_core::algorithm::Subset| {
        let levels = |nodes: &mut dyn Iterator<Item = usize>| -> Vec<Vec<u8>> {
            nodes.map(|node| subset.family.levels(node).collect()).collect()
        };
        (
            subset.family.attributes().to_vec(),
            levels(&mut subset.holding.iter()),
            levels(&mut subset.minimal.iter().copied()),
        )
    };
    found.subsets.into_iter().map(of_subset).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn subsets_are_those_of_the_definition(
        sample in random::sample(4, 30),
        k in 1..=5_u64,
        budget in prop_oneof![Just(0_u64), 1..=8_u64],
        most in 1..=5_usize,
    ) {
        let table = sample.table();
        let rows = Rows::new(&table, &sample.attributes(&table)).unwrap();
        let policy = Policy::k_anonymity(k).unwrap().with_budget(budget);
        let problem = Problem { source: &rows, policy: &policy };
        let expected = by_definition(&sample, most, |part, levels| {
            naive::rows_to_suppress(part, levels, k).len() as u64 <= budget
        });
        for judge in judge::ALL {
            let search = Search { algorithm: Traversal::Incognito, judge: judge.item, ..Search::default() };
            prop_assert_eq!(&by_search(&search, problem, most), &expected, "{}", judge.name);
        }
    }

    #[test]
    fn where_pruning_is_unsound_every_node_is_judged(
        sample in random::sample(3, 24),
        k in 1..=3_u64,
        budget in 1..=8_u64,
    ) {
        let table = sample.table();
        let rows = Rows::new(&table, &sample.attributes(&table)).unwrap();
        let rows = rows.with_sensitive(&table, &["illness"]).unwrap();
        let mut parameters = Parameters::default();
        parameters.sensitive = Some(Sensitive::of_rows(0, table.column("illness").unwrap()));
        parameters.set("alpha", Value::Number("1/2".parse().unwrap()));
        let alpha = privacy::build("alpha-k", &parameters).unwrap();
        let policy = Policy::new(vec![Box::new(KAnonymity::new(k).unwrap()), alpha], budget).unwrap();
        let problem = Problem { source: &rows, policy: &policy };
        let expected = by_definition(&sample, 3, |part, levels| {
            let groups = naive::groups(part, &naive::present(levels));
            let is_refused = |rows: &&Vec<usize>| {
                let most = rows.iter().map(|&row| {
                    rows.iter().filter(|&&other| part.illnesses[other] == part.illnesses[row]).count()
                });
                (rows.len() as u64) < k || most.max().unwrap_or(0) * 2 > rows.len()
            };
            let refused: usize = groups.values().filter(is_refused).map(Vec::len).sum();
            refused as u64 <= budget
        });
        let search = Search { algorithm: Traversal::Incognito, judge: JudgeKind::RollUp, ..Search::default() };
        prop_assert_eq!(by_search(&search, problem, 3), expected);
    }
}
