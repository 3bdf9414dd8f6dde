//! The case files, with every algorithm and judge.

use incog_core::algorithm::{self, MARKINGS, Outcome, Search, Trace, Traversal};
use incog_core::frequency::Rows;
use incog_core::judge::{self, Problem};
use incog_core::lattice::Lattice;
use incog_core::privacy::Policy;
use incog_core::{ErrorKind, Progress};
use incog_testkit::case::{Case, ExpectedFamily};
use incog_testkit::{Require, naive};

fn levels(lattice: &Lattice, nodes: impl IntoIterator<Item = usize>) -> Vec<Vec<u8>> {
    nodes.into_iter().map(|node| lattice.levels(node).collect()).collect()
}

fn sorted(mut nodes: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    nodes.sort();
    nodes
}

fn check_family(case: &Case, outcome: &Outcome, expected: &ExpectedFamily) {
    let attributes: Vec<usize> = expected
        .attributes
        .iter()
        .map(|name| case.quasi_identifiers.iter().position(|column| column == name).unwrap())
        .collect();
    let context = format!("{}: {:?}", case.name, expected.attributes);
    let record = outcome
        .families
        .iter()
        .find(|record| record.family.attributes() == attributes)
        .unwrap_or_else(|| panic!("{context} was not searched"));
    let family = &record.family;
    let named = |nodes: &[usize]| levels(family, nodes.iter().copied());
    assert_eq!(named(&record.candidates), expected.candidates, "{context}: candidates");
    assert_eq!(named(&record.roots), expected.roots, "{context}: roots");
    let super_root = record.roots.iter().copied().reduce(|a, b| family.meet(a, b)).unwrap();
    assert_eq!(named(&[super_root]), std::slice::from_ref(&expected.super_root), "{context}: super-root");
    if let Some(edges) = &expected.edges {
        let mut expected_edges: Vec<(Vec<u8>, Vec<u8>)> = edges.clone();
        expected_edges.sort();
        let mut found: Vec<(Vec<u8>, Vec<u8>)> = record
            .edges
            .iter()
            .map(|&(from, to)| (named(&[from]).remove(0), named(&[to]).remove(0)))
            .collect();
        found.sort();
        assert_eq!(found, expected_edges, "{context}: edges");
    }
    let checked = |verdict: bool| -> Vec<Vec<u8>> {
        let nodes = record.checked.iter().filter(|(_, holds)| *holds == verdict).map(|&(node, _)| node);
        sorted(levels(family, nodes))
    };
    assert_eq!(checked(false), expected.failing, "{context}: failing");
    assert_eq!(checked(true), expected.passing, "{context}: passing");
    let is_checked = |node: usize| record.checked.iter().any(|&(checked, _)| checked == node);
    let marked: Vec<usize> = record.candidates.iter().copied().filter(|&node| !is_checked(node)).collect();
    assert_eq!(named(&marked), expected.marked, "{context}: marked");
    assert_eq!(named(&record.holding), expected.result, "{context}: result");
}

#[test]
fn every_case_comes_out_as_its_source_says() {
    for case in Case::all() {
        let sample = case.sample();
        let requires = case.requires();
        let record = |_: &Require, row_idx: usize| (row_idx.to_string(), sample.illnesses[row_idx].clone());
        let holds = |levels: &Vec<u8>| {
            let out = naive::left_out(&sample, levels, &requires, &record, case.suppression);
            out.len() as u64 <= case.suppression
        };
        let satisfying: Vec<Vec<u8>> =
            naive::all_nodes(&sample.heights()).into_iter().filter(holds).collect();
        assert_eq!(satisfying, case.expect.satisfying, "{}", case.name);
        let table = sample.table();
        let rows = Rows::new(&table, &sample.attributes(&table)).unwrap();
        let rows = rows.with_sensitive(&table, &["illness"]).unwrap();
        let models = requires.iter().map(|require| require.build(&table, &["illness"], None).unwrap());
        let policy = Policy::new(models.collect(), case.suppression).unwrap();
        let mut counts_seen = 0;
        for algorithm in algorithm::traversals() {
            for judge in judge::ALL {
                for marking in MARKINGS {
                    let context =
                        format!("{}: {} {} {}", case.name, algorithm.name, judge.name, marking.name);
                    let search = Search {
                        algorithm: algorithm.item,
                        judge: judge.item,
                        marking: marking.item,
                        trace: Trace::Families,
                        ..Search::incognito()
                    };
                    let outcome = search.run(Problem { source: &rows, policy: &policy }, &Progress::new());
                    let count = format!("{} {}", algorithm.name, marking.name);
                    let expected_count = case.expect.nodes_checked.get(&count);
                    counts_seen += usize::from(expected_count.is_some());
                    let outcome = match outcome {
                        Ok(outcome) => outcome,
                        Err(error) => {
                            // Bitmaps may not be for these models, and Samarati must prune.
                            assert!(!case.require.is_empty(), "{context}: {error}");
                            assert_eq!(error.kind(), ErrorKind::Policy, "{context}");
                            let is_samarati = algorithm.item == Traversal::Samarati;
                            assert!(is_samarati || judge.name == "bitmap", "{context}");
                            continue;
                        }
                    };
                    if let Some(&expected) = expected_count {
                        assert_eq!(outcome.work.nodes_checked, expected, "{context}");
                    }
                    if algorithm.item == Traversal::Samarati {
                        let found = levels(&outcome.lattice, outcome.holding.iter());
                        let height = |node: &Vec<u8>| node.iter().map(|&level| u32::from(level)).sum::<u32>();
                        let lowest = case.expect.satisfying.iter().min_by_key(|node| height(node));
                        assert_eq!(found.first(), lowest, "{context}");
                        continue;
                    }
                    let satisfying = levels(&outcome.lattice, outcome.holding.iter());
                    assert_eq!(satisfying, case.expect.satisfying, "{context}");
                    let minimal = levels(&outcome.lattice, outcome.minimal.iter().copied());
                    assert_eq!(minimal, case.expect.minimal, "{context}");
                    if algorithm.item == Traversal::Incognito {
                        for expected in &case.expect.family {
                            check_family(&case, &outcome, expected);
                        }
                    }
                }
            }
        }
        assert_eq!(
            counts_seen,
            case.expect.nodes_checked.len() * judge::ALL.len(),
            "{}: a misspelt count",
            case.name
        );
    }
}

/// Work on the paper's example, counted by hand for the three variants of Incognito.
#[test]
fn work_on_the_patients_is_as_little_as_the_variant_promises() {
    let case = Case::all().into_iter().find(|case| case.name == "patients-k2.toml").unwrap();
    let sample = case.sample();
    let table = sample.table();
    let rows = Rows::new(&table, &sample.attributes(&table)).unwrap();
    let policy = Policy::k_anonymity(2).unwrap();
    let work = |judge: &str, algorithm| {
        let judge = incog_core::registry::find(judge::ALL, judge).unwrap().item;
        let search = Search { algorithm, judge, ..Search::incognito() };
        search.run(Problem { source: &rows, policy: &policy }, &Progress::new()).unwrap().work
    };
    let scans = |judge, algorithm| work(judge, algorithm).table_scans;
    // Three single attributes and three pairs have one root each. Every root of the triple has an attribute at
    // its one-valued top (B1, S1 or Z2), so its verdict is taken over from a pair without a scan.
    assert_eq!(scans("roll-up", Traversal::Incognito), 6);
    assert_eq!(scans("super-roots", Traversal::Incognito), 6);
    assert_eq!(scans("cube", Traversal::Incognito), 1);
    // Of the 17 nodes checked, those not taken over: 3 singles, B0S0, B0Z0, B0Z1, S0Z0, S0Z1.
    assert_eq!(scans("scan", Traversal::Incognito), 8);
    assert_eq!(scans("sort", Traversal::BottomUp), 10);
    assert_eq!(scans("roll-up", Traversal::BottomUp), 1);
    assert_eq!(scans("super-roots", Traversal::Samarati), 1);
    // B0Z1 is rolled up from the 6 groups of B0Z0, S0Z1 from the 4 of S0Z0; nothing else is.
    assert_eq!(work("roll-up", Traversal::Incognito).groups_touched, 10);
    assert_eq!(work("super-roots", Traversal::Incognito).groups_touched, 10);
    assert_eq!(work("scan", Traversal::Incognito).groups_touched, 0);
    // The cube projects BSZ (6 groups) to three pairs. Then B comes from BS (4 groups, the smaller of its pairs), S
    // from BS too, and Z from SZ (4): 3 * 6 + 3 * 4, before the 10 of the search.
    assert_eq!(work("cube", Traversal::Incognito).groups_touched, 40);
}
