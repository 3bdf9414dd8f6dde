//! Whatever the files and the claims are, there is a report and no panic.

use incog_verify::{
    AnatomyTable, DatabaseClaims, Hierarchy, Labels, SensitiveClaim, StringTable, TableClaims, TableSource,
    check_anatomy, check_database,
};
use proptest::prelude::*;
use proptest::sample::select;

use crate::students::table;

fn name() -> impl Strategy<Value = String> {
    select(vec!["p", "a", "b", "id", "up", "q", "s", "group"]).prop_map(str::to_owned)
}

/// A header with names that may stand twice, and few different cells.
fn any_table() -> impl Strategy<Value = StringTable> {
    // Mostly what is asked for, so that checks go on.
    let good = Just(["id", "up", "q", "s", "group"].map(str::to_owned).to_vec());
    let header = prop_oneof![3 => good, 1 => proptest::collection::vec(name(), 1..6)];
    let cells = proptest::collection::vec(select(vec!["", "1", "2", "3", "*"]), 0..30);
    (header, cells).prop_map(|(header, cells)| {
        let mut text = header.join(",") + "\n";
        for row in cells.chunks_exact(header.len()) {
            // A row of one empty cell would be an empty line.
            text += &row.iter().map(|cell| format!("\"{cell}\"")).collect::<Vec<_>>().join(",");
            text += "\n";
        }
        table(&text)
    })
}

fn any_claims() -> impl Strategy<Value = TableClaims> {
    let names = || proptest::collection::vec(name(), 0..3);
    let parent = proptest::option::of((select(vec!["p", "a", "b"]).prop_map(str::to_owned), name()));
    let sensitive = proptest::collection::vec((name(), any::<bool>()), 0..3);
    let free = (
        name(),
        proptest::option::weighted(0.2, names()),
        proptest::option::of(name()),
        parent,
        names(),
        sensitive,
    );
    free.prop_map(|(name, columns, key, parent, quasi_identifiers, sensitive)| TableClaims {
        name,
        columns,
        key,
        parent,
        quasi_identifiers,
        sensitive: sensitive
            .into_iter()
            .map(|(column, is_claimed)| SensitiveClaim {
                distinct_l: is_claimed.then_some(2),
                t: is_claimed.then_some(1.into()),
                ..SensitiveClaim::measured(column)
            })
            .collect(),
    })
}

/// Claims as they should be, or any.
fn all_claims() -> impl Strategy<Value = Vec<TableClaims>> {
    let claims = |name: &str, parent: Option<&str>| TableClaims {
        name: name.into(),
        columns: None,
        key: Some("id".into()),
        parent: parent.map(|parent| (parent.into(), "up".into())),
        quasi_identifiers: vec!["q".into()],
        sensitive: vec![SensitiveClaim::measured("s")],
    };
    let good = vec![claims("p", None), claims("a", Some("p")), claims("b", Some("a"))];
    let no_keys: Vec<TableClaims> =
        good[..1].iter().map(|table| TableClaims { key: None, ..table.clone() }).collect();
    prop_oneof![Just(good), Just(no_keys), proptest::collection::vec(any_claims(), 0..4)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]
    #[test]
    fn anything_gets_a_report(
        tables in all_claims(),
        release in proptest::collection::vec(any_table(), 0..4),
        originals in proptest::collection::vec(any_table(), 0..4),
        values in proptest::collection::vec((name(), any_table()), 0..4),
        origins in proptest::option::of(proptest::collection::vec(0..8_u32, 0..8)),
        levels in proptest::collection::vec(0..9_usize, 0..3),
        with_source in any::<bool>(),
        n_hierarchies in 0..3_usize,
    ) {
        let path = |value: &str| (value.to_owned(), vec![value.to_owned(), "*".to_owned()]);
        let hierarchy = Hierarchy { levels, paths: ["1", "2"].map(path).into() };
        let source = |input| TableSource {
            input,
            hierarchies: vec![hierarchy.clone(); n_hierarchies],
            origins: origins.as_deref(),
        };
        let sources = originals.iter().map(|table| source(table as &dyn Labels)).collect();
        let claims = DatabaseClaims { person: "p".into(), k: 2, suppression: None, tables, source: with_source.then_some(sources) };
        let tables: Vec<&dyn Labels> = release.iter().map(|table| table as &dyn Labels).collect();
        let report = check_database(&tables, &claims);
        prop_assert!(!report.findings.is_empty());
        let anatomy = tables.iter().map(|&rows| AnatomyTable {
            rows,
            sensitive: values.iter().map(|(name, values)| (name.clone(), values as &dyn Labels)).collect(),
        });
        let report = check_anatomy(&anatomy.collect::<Vec<_>>(), &claims);
        prop_assert!(!report.findings.is_empty());
    }
}
