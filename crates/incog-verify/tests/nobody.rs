//! Cells without a value, texts without a letter, and rows without a person.

use incog_verify::{
    Claims, Counted, EMPTY_TEXT, Finding, Hierarchy, LabelColumn, Labels, RecodingClaim, SensitiveClaim,
    Source, StringTable, check,
};

fn table(text: &str) -> StringTable {
    StringTable::parse(text.as_bytes(), b',').unwrap()
}

fn claims(k: u64) -> Claims<'static> {
    Claims {
        quasi_identifiers: vec!["town".into()],
        k,
        combinations: None,
        columns: None,
        sensitive: vec![],
        source: None,
    }
}

/// A column of which every row has another label.
struct Different(Vec<&'static str>);

impl Labels for Different {
    fn header(&self) -> Vec<&str> {
        vec!["town"]
    }

    fn n_rows(&self) -> usize {
        self.0.len()
    }

    fn column(&self, _: usize) -> LabelColumn<'_> {
        LabelColumn { labels: self.0.clone(), codes: (0..self.0.len() as u32).collect() }
    }
}

#[test]
fn a_missing_value_and_an_empty_text_are_no_group_of_two() {
    assert!(!check(&Different(vec!["", EMPTY_TEXT]), &claims(2)).holds());
    assert!(check(&Different(vec!["", ""]), &claims(2)).holds());
    assert!(check(&Different(vec![EMPTY_TEXT, EMPTY_TEXT]), &claims(2)).holds());
}

const INPUT: &str = "who,town,ill\np1,a,flu\n,a,cold\np2,b,flu\np3,b,cold\np3,b,flu\n";

/// What fails of a release of the input.
fn failed(release: &str, k: u64, sensitive: Vec<SensitiveClaim>) -> Vec<Finding> {
    let input = table(INPUT);
    let path = |value: &str| (value.to_owned(), vec![value.to_owned(), "*".to_owned()]);
    let source = Source {
        input: &input,
        hierarchies: vec![Hierarchy {
            levels: vec![0, 1],
            paths: ["a", "b"].map(path).into_iter().collect(),
        }],
        unit: Some("who".into()),
        budget: 2,
        recoding: RecodingClaim::FullDomain,
    };
    let claims = Claims { sensitive, source: Some(source), ..claims(k) };
    let report = check(&table(release), &claims);
    report.findings.into_iter().filter(|finding| !finding.holds).collect()
}

#[test]
fn a_row_that_names_nobody_is_no_person() {
    let released = "town,ill\na,flu\na,cold\nb,flu\nb,cold\nb,flu\n";
    let found = failed(released, 2, vec![]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].claim, "every group has at least 2 persons (who)");
    assert_eq!(found[0].found, "the smallest has 1");
    assert_eq!(failed(released, 1, vec![]), []);
    assert_eq!(failed(&released.replace("a,", "*,").replace("b,", "*,"), 3, vec![]), []);
    // The group of one person is rightly left out; that of two would not be.
    assert_eq!(failed("town,ill\nb,flu\nb,cold\nb,flu\n", 2, vec![]), []);
}

#[test]
fn what_nobody_has_is_no_value() {
    let released = "town,ill\na,flu\na,cold\nb,flu\nb,cold\nb,flu\n";
    let distinct = |counted: Counted| {
        vec![SensitiveClaim { distinct_l: Some(2), counted, ..SensitiveClaim::measured("ill") }]
    };
    assert_eq!(failed(released, 1, distinct(Counted::Rows)), []);
    assert_eq!(failed(released, 1, distinct(Counted::Persons)).len(), 1);
    let who = |names: [&str; 5]| Counted::Labelled(names.map(str::to_owned).to_vec());
    assert_eq!(failed(released, 1, distinct(who(["p1", "p4", "p2", "p3", "p3"]))), []);
    assert_eq!(failed(released, 1, distinct(who(["p1", "", "p2", "p3", "p3"]))).len(), 1);
    // A group of nobody is no group of persons, however diverse.
    let found = failed(released, 1, distinct(who(["", EMPTY_TEXT, "p2", "p3", "p3"])));
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].found, "a group has none");
}
