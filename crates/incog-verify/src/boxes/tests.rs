//! Releases by boxes, honest and forged.

use proptest::prelude::*;

use super::join::Columns;
use super::sides::Sides;
use super::*;
use crate::Style;
use crate::local::Fits;
use crate::{Claims, Hierarchy, LabelColumn, RecodingClaim, Report, StringTable, check};

const INPUT: &str = "who,age,grade,zip\n\
    a,21,low,11\nb,+28,mid,12\nc,035,high,11\nd,39,high,21\ne,,low,21\nf,41.5,mid,22\n";
const RELEASE: &str = "who,age,grade,zip\n\
    a,\"[20, 30)\",low..mid,1*\nb,\"[20, 30)\",low..mid,1*\nc,\"[30, 45)\",high,1*\n\
    d,\"[30, 45)\",mid..high,2*\ne,,low,21\nf,\"[30, 45)\",mid..high,2*\n";

fn table(text: &str) -> StringTable {
    StringTable::parse(text.as_bytes(), b',').unwrap()
}

/// `ab` becomes `a*` and `*`.
fn hierarchy(values: &[&str]) -> Hierarchy {
    let path = |value: &&str| {
        ((*value).to_owned(), vec![(*value).to_owned(), format!("{}*", &value[..1]), "*".to_owned()])
    };
    Hierarchy { levels: vec![0, 1, 2], paths: values.iter().map(path).collect() }
}

fn numbers(step: &str, bounds: Option<[&str; 2]>) -> OrderClaim {
    let bounds = bounds.map(|bounds| bounds.map(str::to_owned));
    OrderClaim::Numbers { step: step.into(), bounds, style: Style::default() }
}

fn categories(names: &[&str]) -> OrderClaim {
    OrderClaim::Categories(names.iter().map(|&name| name.to_owned()).collect())
}

fn orders() -> Vec<Option<OrderClaim>> {
    vec![Some(numbers("10", Some(["5", "45"]))), Some(categories(&["low", "mid", "high"])), None]
}

fn report(release: &str, input: &str, claim: BoxesClaim, unit: Option<&str>) -> Report {
    let (release, input) = (table(release), table(input));
    let claims = Claims {
        quasi_identifiers: ["age", "grade", "zip"].map(str::to_owned).to_vec(),
        k: 1,
        combinations: None,
        columns: None,
        sensitive: vec![],
        source: Some(Source {
            input: &input,
            hierarchies: vec![
                Hierarchy::default(),
                Hierarchy::default(),
                hierarchy(&["11", "12", "21", "22", "31"]),
            ],
            unit: unit.map(str::to_owned),
            budget: 1,
            recoding: RecodingClaim::Boxes(claim),
        }),
    };
    check(&release, &claims)
}

/// The findings behind k-anonymity and the budget that fail, and what was found.
fn failing(release: &str, overlap: OverlapClaim) -> Vec<(String, String)> {
    let found = report(release, INPUT, BoxesClaim { orders: orders(), overlap }, None).findings;
    assert_eq!(found.len(), if overlap == OverlapClaim::Allowed { 4 } else { 5 });
    let failing = found.into_iter().filter(|finding| !finding.holds);
    failing.map(|finding| (finding.claim, finding.found)).collect()
}

const GRID: &str = "every interval of an ordered column has its ends on the step or the bounds";
const BOXES: &str = "boxes are disjoint: nobody could be in two groups";
const LABELS: &str = "in each column two labels are equal or disjoint";
const ASSIGNED: &str = "every released row can be assigned an input row of its own, inside of its box";

fn one(claim: &str, found: &str) -> Vec<(String, String)> {
    vec![(claim.to_owned(), found.to_owned())]
}

#[test]
fn an_honest_release_passes() {
    assert_eq!(failing(RELEASE, OverlapClaim::DisjointBoxes), []);
    assert_eq!(failing(RELEASE, OverlapClaim::Allowed), []);
    assert_eq!(
        failing(RELEASE, OverlapClaim::DisjointLabels),
        one(LABELS, "labels overlap in grade, zip"),
        "low and low..mid, 21 and 2*"
    );
    let one_each = RELEASE.replace("low..mid", "*").replace("mid..high", "*").replace("high,1", "*,1");
    let one_each = one_each.replace("low,21", "*,2*");
    assert_eq!(failing(&one_each, OverlapClaim::DisjointLabels), []);
    let beside_all = one_each.replace("e,,*", "e,*,*");
    assert_eq!(failing(&beside_all, OverlapClaim::DisjointLabels), one(LABELS, "labels overlap in age"));
    let whole = "who,age,grade,zip\na,*,*,*\ne,*,*,*\nf,*,*,*\nd,*,*,*\nc,*,*,*\n";
    assert_eq!(failing(whole, OverlapClaim::DisjointLabels), []);
}

#[test]
fn each_forgery_is_refused_for_what_it_is() {
    let strict = |release: &str| failing(release, OverlapClaim::DisjointBoxes);
    let off = RELEASE.replace("[20, 30)", "[20, 29)");
    assert_eq!(strict(&off), one(GRID, "column age has 1 label that has not"), "off the grid");
    let outside = RELEASE.replace("45)", "50)");
    assert_eq!(strict(&outside), one(GRID, "column age has 1 label that has not"), "out of bounds");
    let single = RELEASE.replace("c,\"[30, 45)\"", "c,35");
    assert_eq!(strict(&single), one(GRID, "column age has 1 label that has not"), "as fine as the data");
    let narrow = RELEASE.replace("a,\"[20, 30)\"", "a,\"[30, 40)\"");
    assert_eq!(strict(&narrow), one(ASSIGNED, "1 cannot, the first is row 1"), "outside of the interval");
    let wrong = RELEASE.replace("b,\"[20, 30)\",low..mid", "b,\"[20, 30)\",high");
    assert_eq!(strict(&wrong), one(ASSIGNED, "1 cannot, the first is row 2"), "another category");
    let present = RELEASE.replace("e,,", "e,\"[5, 20)\",");
    assert_eq!(strict(&present), one(ASSIGNED, "1 cannot, the first is row 5"), "missing is in no interval");
    let missing = RELEASE.replace("d,\"[30, 45)\"", "d,");
    assert_eq!(strict(&missing), one(ASSIGNED, "1 cannot, the first is row 4"), "39 is not missing");
    let wide = RELEASE.replace("a,\"[20, 30)\"", "a,\"[20, 45)\"");
    assert_eq!(strict(&wide), one(BOXES, "boxes of rows 1 and 2 overlap"));
    let all = RELEASE.replace("e,,low,21", "e,*,*,2*");
    assert_eq!(strict(&all), one(BOXES, "boxes of rows 4 and 5 overlap"));
    let twice = RELEASE.to_owned() + "a,\"[20, 30)\",low..mid,1*\n";
    assert_eq!(strict(&twice)[1..], one(ASSIGNED, "1 cannot, the first is row 7"), "row a twice");
}

#[test]
fn labels_that_cannot_be_read_stand_for_nothing_and_are_never_quoted() {
    for label in [
        "[",
        "[1, 2",
        "[2, 1)",
        "[20, 30) ",
        "1..",
        "..",
        "low..",
        "é..ü",
        "[٣, ٤)",
        "9999999999999999999999999999999999999999",
    ] {
        for column in [1, 2, 3] {
            let mut cells = ["z", "*", "*", "*"];
            cells[column] = label;
            let row: Vec<String> = cells.iter().map(|cell| format!("\"{cell}\"")).collect();
            let release = format!("who,age,grade,zip\n{}\n", row.join(","));
            let input = "who,age,grade,zip\nz,21,low,11\n";
            for overlap in [OverlapClaim::Allowed, OverlapClaim::DisjointBoxes, OverlapClaim::DisjointLabels]
            {
                let claim = BoxesClaim { orders: orders(), overlap };
                let found = report(&release, input, claim, None);
                let fails =
                    |claim: &str| found.findings.iter().any(|other| other.claim == claim && !other.holds);
                assert!(fails(ASSIGNED), "{label}");
                assert_eq!(fails(GRID), column < 3, "{label}");
                let quotes = found.findings.iter().any(|finding| finding.to_string().contains(label));
                assert!(!quotes, "{label}");
            }
        }
    }
}

#[test]
fn what_cannot_be_read_is_equal_to_itself_only() {
    let input = "who,age,grade,zip\nz,young,low,99\n";
    let found = |age: &str| {
        let release = format!("who,age,grade,zip\nz,{age},low,99\n");
        let claim = BoxesClaim { orders: orders(), overlap: OverlapClaim::Allowed };
        let findings = report(&release, input, claim, None).findings;
        findings.iter().map(|finding| finding.holds).collect::<Vec<bool>>()
    };
    assert_eq!(found("young"), [true, true, false, true], "assigned, but no label of an order");
    assert_eq!(found("*"), [true; 4]);
    assert_eq!(found("\"[5, 45)\""), [true, true, true, false]);
}

#[test]
fn claims_that_mean_nothing_are_findings() {
    let found = |orders: Vec<Option<OrderClaim>>| {
        let claim = BoxesClaim { orders, overlap: OverlapClaim::DisjointBoxes };
        let report = report(RELEASE, INPUT, claim, None);
        let last = report.findings.last().unwrap();
        assert!(!last.holds);
        last.found.clone()
    };
    assert_eq!(found(vec![None]), "1 of 3 are told");
    assert_eq!(
        found(vec![Some(numbers("0", None)), None, None]),
        "column age: the step is not a number above 0"
    );
    assert_eq!(
        found(vec![None, Some(numbers("1", Some(["x", "2"]))), None]),
        "column grade: a bound cannot be read"
    );
    assert_eq!(
        found(vec![None, None, Some(categories(&["a", "a"]))]),
        "column zip: a category stands there twice"
    );
}

#[test]
fn persons_are_refused_as_with_local_recoding() {
    let claim = BoxesClaim { orders: orders(), overlap: OverlapClaim::DisjointBoxes };
    let report = report(RELEASE, INPUT, claim, Some("who"));
    let failing: Vec<&str> = report
        .findings
        .iter()
        .filter(|finding| !finding.holds)
        .map(|finding| finding.found.as_str())
        .collect();
    assert_eq!(failing, ["persons cannot be recounted for local recoding"]);
}

#[test]
fn a_hierarchy_that_is_no_tree_is_judged_by_its_values() {
    // p = {1, 3}, q = {2, 3}, r = {1, 2}: no order of values makes all of them intervals.
    let paths = [("1", ["p", "r"]), ("2", ["q", "r"]), ("3", ["p", "q"]), ("4", ["s", "s"])];
    let hierarchy = Hierarchy {
        levels: vec![0, 1],
        paths: paths.map(|(value, path)| (value.to_owned(), path.map(str::to_owned).to_vec())).into(),
    };
    let column = |labels: &[&'static str]| LabelColumn {
        labels: labels.to_vec(),
        codes: (0..labels.len() as u32).collect::<Vec<u32>>().into(),
    };
    let input = column(&["1", "2", "3", "4"]);
    let sides = Sides::of_hierarchy(&column(&["p", "q", "r", "s", "t"]), &input, &hierarchy);
    for (label, values) in [[0, 2].as_slice(), &[1, 2], &[0, 1], &[3], &[]].into_iter().enumerate() {
        let found: Vec<usize> =
            (0..4).filter(|&value| sides.stands_for(label as u32, sides.of_value[value])).collect();
        assert_eq!(found, values, "label {label}");
    }
    assert!(sides.overlap(0, 1) && sides.overlap(1, 2) && sides.overlap(0, 2));
    assert!((0..3).all(|label| !sides.overlap(label, 3) && !sides.overlap(3, label)));
    assert!(sides.any_overlap());
    let disjoint = Sides::of_hierarchy(&column(&["s", "p"]), &column(&["1"]), &hierarchy);
    assert!(!disjoint.any_overlap());
    let unseen = Sides::of_hierarchy(&column(&["p", "q"]), &column(&["1", "2"]), &hierarchy);
    assert!(unseen.any_overlap(), "3 is not in the input, but could be");
}

/// What a label means by its definition: whole numbers, compared as such.
fn naive(label: &str, value: &str) -> bool {
    if label == "*" || label == value {
        return true;
    }
    let (Ok(number), false) = (value.parse::<i32>(), label.is_empty()) else { return false };
    if let Ok(single) = label.parse::<i32>() {
        return single == number;
    }
    let Some((start, end)) =
        label.strip_prefix('[').and_then(|rest| rest.strip_suffix(')')?.split_once(", "))
    else {
        return false;
    };
    match (start.parse::<i32>(), end.parse::<i32>()) {
        (Ok(start), Ok(end)) => start <= number && number < end,
        _ => false,
    }
}

fn label() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => (-9..9_i32, -9..9_i32).prop_map(|(a, b)| format!("[{a}, {b})")),
        3 => value(),
        1 => Just("*".to_owned()),
        1 => Just("[x, 3)".to_owned()),
    ]
}

fn value() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => (-9..9_i32).prop_map(|number| number.to_string()),
        2 => (0..9_i32).prop_map(|number| format!("+0{number}")),
        1 => Just(String::new()),
        1 => Just("x".to_owned()),
        1 => Just("1e3.5".to_owned()),
    ]
}

fn column_of(labels: &[String]) -> LabelColumn<'_> {
    LabelColumn {
        labels: labels.iter().map(String::as_str).collect(),
        codes: (0..labels.len() as u32).collect::<Vec<u32>>().into(),
    }
}

proptest! {
    #[test]
    fn labels_contain_what_their_definition_says(
        labels in proptest::collection::vec(label(), 1..12),
        values in proptest::collection::vec(value(), 1..12),
    ) {
        let claim = numbers("1", None);
        let order = Order::new(&claim, &[]).unwrap_or_else(|problem| panic!("{problem}"));
        let sides = Sides::of_order(&column_of(&labels), &column_of(&values), &order);
        for (label, number) in labels.iter().zip(&sides.of_label) {
            for (value, place) in values.iter().zip(&sides.of_value) {
                prop_assert_eq!(sides.stands_for(*number, *place), naive(label, value), "{} {}", label, value);
            }
        }
        // Two labels overlap where some value is in both; whole numbers and these strings are all there are.
        let everything: Vec<String> =
            (-9..9).map(|number: i32| number.to_string()).chain(["", "x"].map(str::to_owned)).chain(values).collect();
        for (a, first) in labels.iter().zip(&sides.of_label) {
            for (b, second) in labels.iter().zip(&sides.of_label) {
                let common = everything.iter().any(|value| {
                    // A strange value can only be there if the input has it.
                    let is_known =
                        order.position(value).is_some() || value.is_empty() || everything[20..].contains(value);
                    is_known && naive(a, value) && naive(b, value)
                });
                prop_assert_eq!(sides.overlap(*first, *second), common, "{} {}", a, b);
            }
        }
    }

    /// Boxes of random intervals, against all pairs.
    #[test]
    fn rows_in_boxes_and_overlaps_are_those_of_all_pairs(
        boxes in proptest::collection::vec([(-9..9_i32, 1..9_i32), (-9..9_i32, 1..9_i32)], 1..90),
        rows in proptest::collection::vec([-9..9_i32, -9..9_i32], 1..90),
    ) {
        let claim = numbers("1", None);
        let order = Order::new(&claim, &[]).unwrap_or_else(|problem| panic!("{problem}"));
        let columns = Columns((0..2).map(|at| {
            let labels: Vec<String> =
                boxes.iter().map(|sides| format!("[{}, {})", sides[at].0, sides[at].0 + sides[at].1)).collect();
            let values: Vec<String> = rows.iter().map(|row| row[at].to_string()).collect();
            Sides::of_order(&column_of(&labels), &column_of(&values), &order)
        }).collect());
        let labels: Vec<Vec<u32>> = columns.0.iter().map(|sides| sides.of_label.clone()).collect();
        let values: Vec<Vec<u32>> = columns.0.iter().map(|sides| sides.of_value.clone()).collect();
        let is_inside = |a: usize, row: usize| {
            (0..2).all(|at| (boxes[a][at].0..boxes[a][at].0 + boxes[a][at].1).contains(&rows[row][at]))
        };
        let exact = columns.lists(&labels, &values);
        let wide = columns.lists_by_one_column(&labels, &values);
        for a in 0..boxes.len() {
            let expected: Vec<u32> = (0..rows.len()).filter(|&row| is_inside(a, row)).map(|row| row as u32).collect();
            let mut found = exact.of(a as u32).to_vec();
            found.sort_unstable();
            prop_assert_eq!(&found, &expected);
            prop_assert!(expected.iter().all(|row| wide.of(a as u32).contains(row)));
        }
        let meet = |a: usize, b: usize| (0..2).all(|at| {
            let (a, b) = (boxes[a][at], boxes[b][at]);
            a.0 < b.0 + b.1 && b.0 < a.0 + a.1
        });
        let any = (0..boxes.len()).any(|a| (0..a).any(|b| meet(a, b)));
        match disjoint::overlap(&columns.0, &labels) {
            Overlap::None => prop_assert!(!any),
            Overlap::Between(a, b) => prop_assert!(a < b && meet(a as usize, b as usize)),
            Overlap::Unknown(_) => prop_assert!(false),
        }
    }
}

/// What is found of boxes with these sides in two columns of numbers.
fn overlap_of(boxes: &[[(u32, u32); 2]]) -> Overlap {
    let claim = numbers("1", None);
    let order = Order::new(&claim, &[]).unwrap_or_else(|problem| panic!("{problem}"));
    let columns: Vec<Sides> = (0..2)
        .map(|at| {
            let label = |sides: &[(u32, u32); 2]| format!("[{}, {})", sides[at].0, sides[at].1);
            let labels: Vec<String> = boxes.iter().map(label).collect();
            Sides::of_order(&column_of(&labels), &column_of(&[]), &order)
        })
        .collect();
    let labels: Vec<Vec<u32>> = columns.iter().map(|sides| sides.of_label.clone()).collect();
    disjoint::overlap(&columns, &labels)
}

#[test]
fn boxes_that_no_column_divides_are_compared_in_pairs() {
    // Four around a fifth, like a pinwheel.
    let wheel = [[(0, 2), (0, 1)], [(2, 3), (0, 2)], [(1, 3), (2, 3)], [(0, 1), (1, 3)], [(1, 2), (1, 2)]];
    assert_eq!(overlap_of(&wheel), Overlap::None);
    let mut larger = wheel;
    larger[4] = [(1, 2), (1, 3)];
    assert_eq!(overlap_of(&larger), Overlap::Between(2, 4));
}

#[test]
fn too_many_boxes_that_no_column_divides_are_not_said_to_be_disjoint() {
    // Each has a corner in common with the next.
    let chain: Vec<[(u32, u32); 2]> =
        (0..5_000).map(|at| [(2 * at, 2 * at + 3), (at % 2 * 3, at % 2 * 3 + 4)]).collect();
    assert_eq!(overlap_of(&chain), Overlap::Unknown(5_000));
    assert!(matches!(overlap_of(&chain[..4_000]), Overlap::Between(a, b) if b == a + 1));
}
