use super::*;
use crate::StringTable;

const INPUT: &str = "who,zip,ill\na,11,x\nb,12,y\nc,12,x\nd,21,y\ne,21,z\nf,33,x\n";
const RELEASE: &str = "zip,ill\n1*,x\n1*,y\n1*,x\n2*,y\n2*,z\n";

fn table(text: &str) -> StringTable {
    StringTable::parse(text.as_bytes(), b',').unwrap()
}

/// Which claims hold: columns, k, suppression, rows, whole groups, and persons with a unit.
fn holds(release: &str, k: u64, budget: u64, unit: Option<&str>) -> Vec<bool> {
    let input = table(INPUT);
    let path = |value: &str| {
        let path = [value.to_owned(), format!("{}*", &value[..1]), "*".to_owned()];
        (value.to_owned(), path.to_vec())
    };
    let hierarchy = Hierarchy { levels: vec![0, 1, 2], paths: ["11", "12", "21", "33"].map(path).into() };
    let claims = Claims {
        quasi_identifiers: vec!["zip".into()],
        k,
        combinations: None,
        columns: Some(vec!["zip".into(), "ill".into()]),
        sensitive: vec![],
        source: Some(Source {
            input: &input,
            hierarchies: vec![hierarchy],
            unit: unit.map(str::to_owned),
            budget,
            recoding: RecodingClaim::FullDomain,
        }),
    };
    crate::check(&table(release), &claims).findings.iter().map(|finding| finding.holds).collect()
}

#[test]
fn an_honest_release_passes() {
    assert_eq!(holds(RELEASE, 2, 1, None), [true; 5]);
    assert_eq!(holds(RELEASE, 2, 1, Some("who")), [true; 6]);
}

#[test]
fn a_changed_cell_a_dropped_row_and_swapped_labels_are_noticed() {
    assert_eq!(holds(RELEASE, 2, 0, None), [true, true, false, true, true], "the budget");
    assert_eq!(
        holds(&RELEASE.replace("2*,z", "2*,x"), 2, 1, None),
        [true, true, true, false, true],
        "a cell"
    );
    let twice = RELEASE.replace("1*,y", "1*,x");
    assert_eq!(holds(&twice, 2, 1, None), [true, true, true, false, true], "an input row used twice");
    let dropped = RELEASE.replacen("1*,x\n", "", 1);
    assert_eq!(holds(&dropped, 2, 2, None), [true, true, true, true, false], "a row of a group");
    let swapped = "zip,ill\n1*,x\n1*,y\n2*,x\n2*,y\n1*,z\n";
    assert_eq!(holds(swapped, 2, 1, None), [true, true, true, false, true], "two labels");
    let group_dropped = RELEASE.replace("2*,y\n2*,z\n", "");
    assert_eq!(holds(&group_dropped, 2, 3, None), [true, true, true, true, false], "a group large enough");
    let mixed = RELEASE.replacen("1*,x", "*,x", 1);
    assert_eq!(holds(&mixed, 1, 1, None)[3..], [false], "two levels in one column");
    let doubled = RELEASE.to_owned() + "2*,z\n2*,z\n2*,z\n";
    assert!(!holds(&doubled, 2, 1, None)[2], "more rows than there are");
    assert_eq!(holds("zip,ill,age\n1*,x,1\n", 1, 9, None)[0..1], [false], "a new column");
}

#[test]
fn cells_may_differ_in_level_only_with_local_recoding() {
    let local_at = |levels: &[usize], release: &str, budget: u64, unit: Option<&str>| {
        let input = table(INPUT);
        let path = |value: &str| {
            let path = [value.to_owned(), format!("{}*", &value[..1]), "*".to_owned()];
            (value.to_owned(), path.to_vec())
        };
        let claims = Claims {
            quasi_identifiers: vec!["zip".into()],
            k: 1,
            combinations: None,
            columns: None,
            sensitive: vec![],
            source: Some(Source {
                input: &input,
                hierarchies: vec![Hierarchy {
                    levels: levels.to_vec(),
                    paths: ["11", "12", "21", "33"].map(path).into(),
                }],
                unit: unit.map(str::to_owned),
                budget,
                recoding: RecodingClaim::Local,
            }),
        };
        crate::check(&table(release), &claims).findings[1..].to_vec()
    };
    let local = |release: &str, budget: u64, unit: Option<&str>| local_at(&[0, 1, 2], release, budget, unit);
    let holds = |findings: &[Finding]| -> Vec<bool> { findings.iter().map(|found| found.holds).collect() };
    let mixed = "zip,ill\n*,x\n11,x\n12,y\n2*,y\n*,z\n33,x\n";
    assert_eq!(holds(&local(mixed, 0, None)), [true, true], "suppression and rows");
    assert_eq!(holds(&local(&mixed.replace("33,x\n", ""), 0, None)), [false, true], "the budget");
    let moved = local(&mixed.replace("2*,y", "1*,y"), 0, None);
    assert_eq!(holds(&moved), [true, false]);
    assert_eq!(moved[1].found, "1 cannot, the first is row 4");
    let forbidden = local_at(&[1, 2], mixed, 0, None);
    assert_eq!(forbidden[1].found, "3 cannot, the first is row 2", "level 0 is not allowed");
    let unit = local(mixed, 0, Some("who"));
    assert_eq!(holds(&unit), [true, true, false]);
    assert_eq!(unit[2].found, "persons cannot be recounted for local recoding");
}

#[test]
fn persons_are_counted_in_the_input() {
    let input = INPUT.replace("b,12", "a,12").replace("c,12", "a,12");
    let claims_hold = |text: &str| {
        let input = table(text);
        let path = |value: &str| (value.to_owned(), vec![value.to_owned(), format!("{}*", &value[..1])]);
        let hierarchy = Hierarchy { levels: vec![1], paths: ["11", "12", "21", "33"].map(path).into() };
        let claims = Claims {
            quasi_identifiers: vec!["zip".into()],
            k: 2,
            combinations: None,
            columns: None,
            sensitive: vec![],
            source: Some(Source {
                input: &input,
                hierarchies: vec![hierarchy],
                unit: Some("who".into()),
                budget: 1,
                recoding: RecodingClaim::FullDomain,
            }),
        };
        crate::check(&table(RELEASE), &claims).holds()
    };
    assert!(claims_hold(INPUT));
    assert!(!claims_hold(&input), "one person has all three rows of a group");
}
