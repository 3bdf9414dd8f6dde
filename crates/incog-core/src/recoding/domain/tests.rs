use super::*;
use crate::table::Role;

fn column(cells: &[&'static str]) -> Column {
    Column::from_cells("c", Role::QuasiIdentifier, cells.iter().copied()).unwrap()
}

fn decimal(text: &str) -> Decimal {
    Decimal::parse(text).unwrap()
}

fn numbers(step: Option<&str>, bounds: Option<(&str, &str)>) -> Order {
    Order::Grid {
        kind: IntervalKind::Numbers,
        step: step.map(decimal),
        bounds: bounds.map(|(least, end)| (decimal(least), decimal(end))),
    }
}

#[test]
fn empty_texts_have_no_order_and_the_advice_is_to_make_them_null() {
    let mut values = column(&["1", "", "2"]);
    values.push_text("").unwrap();
    let error = Domain::new(&values, &Order::NUMBERS).unwrap_err();
    assert!(error.to_string().contains("empty texts are not numbers like 12 or 3.5 (first in record 4)"));
    assert!(error.hint().is_some_and(|hint| hint.contains("make it null")));
}

#[test]
fn ends_are_on_the_grid_or_are_bounds_never_the_data() {
    let ages = column(&["37", "17", "93", "17"]);
    let domain = Domain::new(&ages, &numbers(Some("10"), None)).unwrap();
    assert_eq!((domain.n_slots(), domain.n_leaves()), (9, 90));
    assert_eq!((domain.label(0, 9), domain.label(2, 3)), ("[10, 100)".into(), "[30, 40)".into()));
    assert_eq!([0, 1, 2].map(|value| domain.slot(value)), [Some(2), Some(0), Some(8)]);
    let bounded = Domain::new(&ages, &numbers(Some("10"), Some(("16", "95")))).unwrap();
    assert_eq!((bounded.n_slots(), bounded.n_leaves()), (9, 79));
    assert_eq!((bounded.label(0, 1), bounded.label(8, 9)), ("[16, 20)".into(), "[90, 95)".into()));
    assert_eq!(bounded.leaves(0, 1) + bounded.leaves(1, 9), 79);
    let even = Domain::new(&ages, &numbers(Some("10"), Some(("10", "100")))).unwrap();
    assert_eq!((even.n_slots(), even.label(0, 9)), (9, "[10, 100)".into()));
}

#[test]
fn a_step_that_nobody_gives_is_a_round_one() {
    let derived = |cells: &[&'static str]| {
        let domain = Domain::new(&column(cells), &Order::NUMBERS).unwrap();
        let slot = domain.slot(0).unwrap();
        domain.label(slot, slot + 1)
    };
    assert_eq!(derived(&["17", "90"]), "[15, 20)");
    assert_eq!(derived(&["3", "5"]), "3");
    assert_eq!(derived(&["-1234567.25", "99"]), "[-1250000, -1200000)");
    assert_eq!(derived(&["0.13", "0.42"]), "0.13");
    assert_eq!(derived(&["0.13", "0.52"]), "[0.12, 0.14)");
    let dates = Domain::new(&column(&["2003-04-17", "2005-01-01"]), &Order::DATES).unwrap();
    assert_eq!(dates.label(0, 1), "[2003-04-10, 2003-05-08)", "on multiples of 28 days since 1970");
    let far = Domain::new(&column(&["1001-04-17", "9005-01-01"]), &Order::DATES).unwrap();
    assert!(far.n_slots() <= MAX_SLOTS);
}

#[test]
fn the_whole_domain_shows_no_extreme_even_where_every_value_may_stand_alone() {
    let whole = |cells: &[&'static str], order: &Order| {
        let domain = Domain::new(&column(cells), order).unwrap();
        domain.label(0, domain.n_slots())
    };
    assert_eq!(whole(&["23", "48"], &Order::NUMBERS), "[20, 50)");
    assert_eq!(whole(&["-3", "5"], &Order::NUMBERS), "[-10, 10)");
    assert_eq!(whole(&["0.13", "0.42"], &Order::NUMBERS), "[0.1, 0.5)");
    assert_eq!(whole(&["17", "90"], &Order::NUMBERS), "[10, 100)");
    assert_eq!(whole(&["2003-04-17", "2003-04-20"], &Order::DATES), "[2003-04-10, 2003-05-08)");
    assert_eq!(whole(&["3", "5"], &numbers(None, Some(("2", "7")))), "[2, 7)", "bounds are bounds");
    assert_eq!(whole(&["3", "5"], &numbers(Some("1"), None)), "[0, 10)", "also with so fine a step");
    assert_eq!(whole(&["3", "15"], &numbers(Some("3"), None)), "[0, 24)", "a multiple of the step");
    for (cells, order) in
        [(["9999-12-31", "2003-04-17"], Order::DATES), (["0000-01-01", "2003-04-17"], Order::DATES)]
    {
        let error = Domain::new(&column(&cells), &order).unwrap_err();
        assert!(error.to_string().contains("for an interval to end beyond it"), "{error}");
    }
}

#[test]
fn a_single_unit_is_shown_as_itself_and_anything_wider_is_not() {
    let label = |cells: &[&'static str], step| {
        let domain = Domain::new(&column(cells), &numbers(Some(step), None)).unwrap();
        let slot = domain.slot(0).unwrap();
        domain.label(slot, slot + 1)
    };
    assert_eq!(label(&["37", "+37", "038"], "1"), "37");
    assert_eq!(label(&["37", "37.5"], "1"), "[37, 38)");
    assert_eq!(label(&["37", "37.5"], "0.5"), "[37, 37.5)", "37.1 could be there");
    assert_eq!(label(&["37"], "2.5"), "[35, 37.5)");
}

#[test]
fn categories_stand_in_the_order_given() {
    let order = Order::Categories(["low", "mid", "high"].map(str::to_owned).to_vec());
    let domain = Domain::new(&column(&["high", "low", ""]), &order).unwrap();
    assert_eq!([0, 1, 2].map(|value| domain.slot(value)), [Some(2), Some(0), None]);
    assert_eq!(
        [domain.label(0, 1), domain.label(0, 2), domain.label(1, 3)],
        ["low", "low..mid", "mid..high"]
    );
    assert_eq!((domain.n_leaves(), domain.leaves(0, 2)), (4, 2), "the missing value is a leaf");
    for wrong in [&["low", "low"][..], &["a..b"], &["a."], &[".b"], &["*"], &[""]] {
        let order = Order::Categories(wrong.iter().map(|&category| category.to_owned()).collect());
        assert!(Domain::new(&column(&[]), &order).is_err());
    }
}

#[test]
fn labels_can_be_read_back() {
    let categories = Order::Categories(["low", "mid", "high"].map(str::to_owned).to_vec());
    let domains = [
        Domain::new(&column(&["37", "17", "93", ""]), &numbers(Some("10"), Some(("16", "95")))).unwrap(),
        Domain::new(&column(&["37", "17", "93"]), &numbers(Some("1"), None)).unwrap(),
        Domain::new(&column(&["-0.13", "0.42"]), &Order::NUMBERS).unwrap(),
        Domain::new(&column(&["2003-04-17", "2005-01-01"]), &Order::DATES).unwrap(),
        Domain::new(&column(&["high", "low"]), &categories).unwrap(),
    ];
    for domain in &domains {
        for start in 0..domain.n_slots() {
            for end in start + 1..=domain.n_slots() {
                let side = domain.side(&domain.label(start, end));
                assert_eq!(side, Some(Side::Range { start, end }));
            }
        }
        assert_eq!(domain.side(""), Some(Side::Missing));
        assert_eq!(domain.side("*"), Some(Side::Everything));
        for strange in ["[16, 21.5)", "[20, 16)", "[", "[16, 20", "4.7", "high..low", "a", "[16,20)", "016"] {
            assert_eq!(domain.side(strange), None, "{strange}");
        }
    }
}

#[test]
fn a_column_without_an_order_is_told_what_would_work() {
    let error = Domain::new(&column(&["12", "Private", ""]), &Order::NUMBERS).unwrap_err();
    assert_eq!(
        error.to_string(),
        "column `c` has no order: 1 of 3 values are not numbers like 12 or 3.5 (first in record 2)"
    );
    assert!(error.hint().unwrap().contains("full-subtree"));
    assert!(Domain::new(&column(&["12"]), &numbers(None, Some(("13", "20")))).is_err());
    assert!(Domain::new(&column(&["12"]), &numbers(Some("0"), None)).is_err());
    assert!(Domain::new(&column(&["12"]), &numbers(None, Some(("13", "13")))).is_err());
    let half_days = Order::Grid { kind: IntervalKind::Dates, step: Some(decimal("0.5")), bounds: None };
    assert!(Domain::new(&column(&[]), &half_days).is_err());
}

#[test]
fn no_values_and_huge_ones_make_no_panic() {
    assert_eq!(Domain::new(&column(&[]), &Order::NUMBERS).unwrap().n_leaves(), 1);
    assert_eq!(Domain::new(&column(&[""]), &Order::NUMBERS).unwrap().n_leaves(), 2);
    let wide = column(&["-999999999999999999", "999999999999999999.999999999"]);
    assert!(Domain::new(&wide, &numbers(Some("0.000000001"), None)).is_err());
    let domain = Domain::new(&wide, &Order::NUMBERS).unwrap();
    assert!(domain.n_leaves() <= MAX_LEAVES && domain.n_slots() <= MAX_SLOTS, "leaves of more than a unit");
    assert_eq!(domain.leaves(0, domain.n_slots()), domain.n_leaves());
    let long = column(&["46.074175824175", "47.1", "1e2", ".5", "1234567890123456789012345"]);
    let domain = Domain::new(&long, &Order::NUMBERS).unwrap();
    assert_eq!(domain.label(0, domain.n_slots()), "[0, 1250000000000000000000000)");
    let fine = Domain::new(&column(&["46.074175824175", "47.1"]), &numbers(Some("0.5"), None)).unwrap();
    assert_eq!(fine.label(fine.slot(0).unwrap(), fine.slot(0).unwrap() + 1), "[46, 46.5)");
}
