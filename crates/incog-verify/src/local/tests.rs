use super::*;
use crate::StringTable;
use proptest::prelude::*;

/// `ab` becomes `a*` and `*`.
fn path(value: &str) -> Vec<String> {
    vec![value.to_owned(), format!("{}*", &value[..1]), "*".to_owned()]
}

fn hierarchy(values: impl IntoIterator<Item = String>) -> Hierarchy {
    let paths = values.into_iter().map(|value| (value.clone(), path(&value))).collect();
    Hierarchy { levels: vec![0, 1, 2], paths }
}

fn values() -> Vec<String> {
    ["1", "2"].iter().flat_map(|a| ["1", "2"].map(|b| format!("{a}{b}"))).collect()
}

type Row = (String, String, u8);

fn table(rows: &[Row]) -> StringTable {
    let text: String = rows.iter().map(|(a, b, ill)| format!("{a},{b},{ill}\n")).collect();
    StringTable::parse(format!("a,b,ill\n{text}").as_bytes(), b',').unwrap()
}

fn by_flow(released: &[Row], input: &[Row]) -> Unassigned {
    let hierarchies = [hierarchy(values()), hierarchy(values())];
    unassigned(&table(released), &table(input), &[0, 1], &hierarchies, &[0, 1, 2])
}

fn fits(released: &Row, input: &Row) -> bool {
    path(&input.0).contains(&released.0) && path(&input.1).contains(&released.1) && released.2 == input.2
}

/// Row by row; `retract` lets earlier rows move on (Kuhn's algorithm), otherwise the first that fits is taken.
fn by_rows(released: &[Row], input: &[Row], retract: bool) -> u64 {
    fn place(
        row: usize,
        fits: &dyn Fn(usize, usize) -> bool,
        taken: &mut [Option<usize>],
        seen: &mut [bool],
        retract: bool,
    ) -> bool {
        for at in 0..taken.len() {
            if !fits(row, at) || seen[at] {
                continue;
            }
            seen[at] = true;
            let free = match taken[at] {
                None => true,
                Some(other) => retract && place(other, fits, taken, seen, retract),
            };
            if free {
                taken[at] = Some(row);
                return true;
            }
        }
        false
    }
    let mut taken = vec![None; input.len()];
    let is_fit = |row: usize, at: usize| fits(&released[row], &input[at]);
    let placed = (0..released.len())
        .filter(|&row| place(row, &is_fit, &mut taken, &mut vec![false; input.len()], retract))
        .count();
    (released.len() - placed) as u64
}

fn row(a: &str, b: &str) -> Row {
    (a.to_owned(), b.to_owned(), 0)
}

#[test]
fn rows_are_assigned_where_taking_the_first_that_fits_would_fail() {
    let input = [row("11", "11"), row("21", "11")];
    let released = [row("*", "11"), row("1*", "11")];
    assert_eq!(by_rows(&released, &input, false), 1, "`*` takes what `1*` needs");
    assert_eq!(by_flow(&released, &input), Unassigned { rows: 0, first_row: None });
    let released = [row("1*", "*"), row("11", "11"), row("2*", "11")];
    assert_eq!(by_flow(&released, &input), Unassigned { rows: 1, first_row: Some(1) });
    let other = [("11".to_owned(), "11".to_owned(), 1)];
    assert_eq!(by_flow(&other, &input).rows, 1, "untouched columns must be equal");
}

fn rows(size: std::ops::Range<usize>) -> impl Strategy<Value = Vec<(usize, usize, u8)>> {
    proptest::collection::vec((0..4_usize, 0..4_usize, 0..2_u8), size)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn as_many_rows_are_assigned_as_by_brute_force(
        input in rows(0..60),
        released in rows(0..60),
        levels in proptest::collection::vec((0..3_usize, 0..3_usize), 60),
    ) {
        let values = values();
        let input: Vec<Row> =
            input.into_iter().map(|(a, b, ill)| (values[a].clone(), values[b].clone(), ill)).collect();
        let released: Vec<Row> = released
            .into_iter()
            .zip(levels)
            .map(|((a, b, ill), (la, lb))| (path(&values[a])[la].clone(), path(&values[b])[lb].clone(), ill))
            .collect();
        let found = by_flow(&released, &input);
        prop_assert_eq!(found.rows, by_rows(&released, &input, true));
        prop_assert_eq!(found.first_row.is_some(), found.rows > 0);
    }
}

/// Every cell at a level of its own: many input rows fit each released one.
#[test]
fn tens_of_thousands_of_rows_are_assigned() {
    let mut state = 7_u64;
    let mut random = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let names = ["a", "b", "c", "d", "e"];
    let (mut input, mut release) = (names.join(",") + "\n", names.join(",") + "\n");
    for _ in 0..45_000 {
        let values: Vec<String> = names.iter().map(|_| (10 + random(90)).to_string()).collect();
        let levels = names.map(|_| random(6).saturating_sub(3) as usize);
        input += &(values.join(",") + "\n");
        let labels: Vec<String> =
            values.iter().zip(levels).map(|(value, level)| path(value)[level].clone()).collect();
        release += &(labels.join(",") + "\n");
    }
    let parse = |text: &str| StringTable::parse(text.as_bytes(), b',').unwrap();
    let hierarchies = vec![hierarchy((10..100).map(|value| value.to_string())); names.len()];
    let all = [0, 1, 2, 3, 4];
    let found = unassigned(&parse(&release), &parse(&input), &all, &hierarchies, &all);
    assert_eq!(found, Unassigned { rows: 0, first_row: None });
    let changed = release.replacen("\n*,", "\n99999,", 1);
    assert_ne!(changed, release);
    assert_eq!(unassigned(&parse(&changed), &parse(&input), &all, &hierarchies, &all).rows, 1);
}
