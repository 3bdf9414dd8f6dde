use super::*;

fn table(text: &str) -> StringTable {
    StringTable::parse(text.as_bytes(), b',').unwrap()
}

fn claims(k: u64) -> Claims<'static> {
    Claims {
        quasi_identifiers: vec!["sex".into(), "zip".into()],
        k,
        combinations: None,
        columns: None,
        sensitive: vec![SensitiveClaim::measured("ill")],
        source: None,
    }
}

const RELEASE: &str = "sex,zip,ill\nf,1*,a\nf,1*,b\nm,1*,a\nm,1*,a\nm,1*,a\n";

#[test]
fn the_smallest_group_decides() {
    let report = check(&table(RELEASE), &claims(2));
    assert!(report.holds());
    assert_eq!(report.smallest_group, Some(2));
    assert_eq!(report.group_sizes, [(2, 1), (3, 1)]);
    let refused = verify(table(RELEASE), &claims(3)).unwrap_err();
    assert_eq!(
        refused.findings[0].to_string(),
        "FAIL  3-anonymity relative to sex, zip (the smallest group has 2 rows)"
    );
    assert!(verify(table("sex,zip,ill\n"), &claims(3)).is_ok(), "nobody is exposed by no rows");
}

#[test]
fn columns_must_be_those_declared() {
    let declared = |columns: &[&str]| {
        let columns = Some(columns.iter().map(|&name| name.to_owned()).collect());
        check(&table(RELEASE), &Claims { columns, ..claims(2) }).holds()
    };
    assert!(declared(&["sex", "zip", "ill"]));
    assert!(!declared(&["sex", "zip"]));
    assert!(!declared(&["zip", "sex", "ill"]));
    let missing = Claims { quasi_identifiers: vec!["age".into()], ..claims(1) };
    assert!(!check(&table(RELEASE), &missing).holds());
    let twice = "sex,zip,ill,zip\nf,1*,a,11\nf,1*,b,12\n";
    assert!(!check(&table(twice), &claims(2)).holds(), "a second column zip singles everybody out");
}

/// Equal labels under different codes, a label in no row.
struct Odd;

impl Labels for Odd {
    fn header(&self) -> Vec<&str> {
        vec!["sex", "zip", "ill"]
    }
    fn n_rows(&self) -> usize {
        4
    }
    fn column(&self, column_idx: usize) -> LabelColumn<'_> {
        let codes: &[u32] = if column_idx == 2 { &[4, 2, 1, 0] } else { &[0, 2, 1, 3] };
        LabelColumn { labels: vec!["a", "b", "a", "b", "a", "z"], codes: Cow::Borrowed(codes) }
    }
}

#[test]
fn codes_are_not_trusted() {
    let report = check(&Odd, &claims(2));
    assert_eq!(report.group_sizes, [(2, 2)], "rows a a b b, whatever their codes");
    let measured = &report.measured[0];
    assert_eq!((measured.alpha, measured.distinct_l), (Some((2, 2)), Some(1)), "groups a a and b a");
}
