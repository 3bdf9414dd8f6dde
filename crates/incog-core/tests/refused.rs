//! What a node would suppress, counted as small as can be, is what its groups say.

use incog_core::frequency::{FrequencySource, KeyWidth, Method, Rows};
use incog_core::judge::{Problem, refused_rows};
use incog_core::lattice::{Grouping, Lattice};
use incog_core::privacy::Policy;
use incog_testkit::random;
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn rows_that_are_refused_are_those_of_the_groups_that_are_too_small(
        sample in random::sample(4, 40),
        k in 1..=6_u64,
        is_large in any::<bool>(),
    ) {
        let table = sample.table();
        let attributes = sample.attributes(&table);
        // Counters of four bytes, and groups that are never large enough.
        let k = if is_large { 250 + k } else { k };
        let policy = Policy::k_anonymity(k).unwrap();
        for width in [KeyWidth::U64, KeyWidth::U128, KeyWidth::Wide] {
            let rows = Rows::with_width(&table, &attributes, width).unwrap();
            let problem = Problem { source: &rows, policy: &policy };
            let lattice = Lattice::new(&attributes.heights()).unwrap();
            let nodes: Vec<Grouping> = (0..lattice.n_nodes()).map(|node| lattice.grouping(node)).collect();
            let expected: Vec<u64> = nodes
                .iter()
                .map(|node| {
                    let groups = rows.count(node, &policy.demand(), Method::Hash).unwrap();
                    groups.measures().rows().iter().filter(|&&rows| rows < k).sum()
                })
                .collect();
            prop_assert_eq!(refused_rows(problem, &nodes).unwrap(), expected);
        }
    }
}
