//! Random boxes made by cuts are accepted as disjoint; the same boxes, forged, are not.

use std::fmt::Write;

use incog_verify::{
    BoxesClaim, Claims, Finding, Hierarchy, OrderClaim, OverlapClaim, RecodingClaim, Source, StringTable,
    Style, check,
};
use proptest::prelude::*;

const DAYS: [&str; 6] = ["2000-02-27", "2000-02-28", "2000-02-29", "2000-03-01", "2000-03-02", "2000-03-03"];
const GRADES: [&str; 4] = ["low", "mid", "high", "top"];
const ZIPS: [&str; 6] = ["11", "12", "13", "21", "22", "31"];
/// Fives from 3 up to but not including 48.
const N_SLOTS: [usize; 3] = [10, DAYS.len() - 1, GRADES.len()];

const NAMES: [&str; 4] = ["age", "day", "grade", "zip"];
const ZIP: usize = 3;

/// What a box allows in one column: of ordered ones slots, of the other values that begin so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Everything,
    Missing,
    Slots(usize, usize),
    Begin(&'static str),
}

/// For ordered columns a slot or nothing, for zip a value.
type RandomRow = [Option<usize>; 4];
type Sides = [Side; 4];

impl Side {
    fn contains(self, value: Option<usize>) -> bool {
        match (self, value) {
            (Side::Everything, _) | (Side::Missing, None) => true,
            (Side::Slots(start, end), Some(slot)) => start <= slot && slot < end,
            (Side::Begin(begin), Some(zip)) => ZIPS[zip].starts_with(begin),
            _ => false,
        }
    }

    fn label(self, column: usize) -> String {
        let age = |slot: usize| (5 * slot as i32).clamp(3, 48);
        match (self, column) {
            (Side::Everything, _) => "*".into(),
            (Side::Missing, _) => String::new(),
            (Side::Slots(start, end), 0) => format!("\"[{}, {})\"", age(start), age(end)),
            (Side::Slots(start, end), 1) if end == start + 1 => DAYS[start].into(),
            (Side::Slots(start, end), 1) => format!("\"[{}, {})\"", DAYS[start], DAYS[end]),
            (Side::Slots(start, end), _) if end == start + 1 => GRADES[start].into(),
            (Side::Slots(start, end), _) => format!("{}..{}", GRADES[start], GRADES[end - 1]),
            (Side::Begin(begin), _) if begin.len() == 2 => begin.into(),
            (Side::Begin(begin), _) => format!("{begin}*"),
        }
    }

    /// The sides into which a cut divides it; itself if it cannot be cut.
    fn cut(self, column: usize, at: usize) -> Vec<Side> {
        match self {
            Side::Everything => vec![Side::Missing, Side::Slots(0, N_SLOTS[column])],
            Side::Slots(start, end) if end - start > 1 => {
                let cut = start + 1 + at % (end - start - 1);
                vec![Side::Slots(start, cut), Side::Slots(cut, end)]
            }
            Side::Begin("") => ["1", "2", "3"].map(Side::Begin).to_vec(),
            Side::Begin(begin) if begin.len() == 1 => {
                ZIPS.iter().filter(|zip| zip.starts_with(begin)).map(|&zip| Side::Begin(zip)).collect()
            }
            side => vec![side],
        }
    }

    /// The least side that holds both.
    fn hull(self, other: Side) -> Side {
        match (self, other) {
            (a, b) if a == b => a,
            (Side::Slots(a, b), Side::Slots(c, d)) => Side::Slots(a.min(c), b.max(d)),
            (Side::Begin(a), Side::Begin(b)) if a.starts_with(b) => other,
            (Side::Begin(a), Side::Begin(b)) if b.starts_with(a) => self,
            (Side::Begin(a), Side::Begin(b)) if a[..1] == b[..1] => Side::Begin(&a[..1]),
            (Side::Begin(_), Side::Begin(_)) => Side::Begin(""),
            _ => Side::Everything,
        }
    }
}

fn value(column: usize, value: Option<usize>) -> String {
    match (column, value) {
        (_, None) => String::new(),
        // Spelled as some people do; 3 and 4 are in the first slot.
        (0, Some(slot)) => format!("+0{}", 5 * slot + if slot == 0 { 3 } else { slot % 3 }),
        (1, Some(slot)) => DAYS[slot].into(),
        (2, Some(slot)) => GRADES[slot].into(),
        (_, Some(zip)) => ZIPS[zip].into(),
    }
}

/// The sides of each record, all by cuts through `boxes`.
fn cut(records: &[RandomRow], cuts: &[(usize, usize)]) -> Vec<Sides> {
    let whole = [Side::Everything, Side::Everything, Side::Everything, Side::Begin("")];
    let mut of_record = vec![whole; records.len()];
    let mut open: Vec<(Vec<usize>, Sides)> = vec![((0..records.len()).collect(), whole)];
    for &(column, at) in cuts {
        let Some((members, sides)) = open.pop() else { break };
        for side in sides[column].cut(column, at) {
            let inside: Vec<usize> =
                members.iter().copied().filter(|&record| side.contains(records[record][column])).collect();
            let mut sides = sides;
            sides[column] = side;
            for &record in &inside {
                of_record[record] = sides;
            }
            if !inside.is_empty() {
                open.insert(at % (open.len() + 1), (inside, sides));
            }
        }
    }
    of_record
}

fn table(rows: impl Iterator<Item = (usize, [String; 4])>) -> String {
    let mut text = "who,age,day,grade,zip\n".to_owned();
    for (who, cells) in rows {
        let _ = writeln!(text, "{who},{}", cells.join(","));
    }
    text
}

fn claim(overlap: OverlapClaim) -> BoxesClaim {
    let bounds = Some(["3", "48"].map(str::to_owned));
    BoxesClaim {
        orders: vec![
            Some(OrderClaim::Numbers { step: "5".into(), bounds, style: Style::default() }),
            Some(OrderClaim::Dates { step: 1, bounds: None, style: Style::default() }),
            Some(OrderClaim::Categories(GRADES.map(str::to_owned).to_vec())),
            None,
        ],
        overlap,
    }
}

/// The findings that fail: k-anonymity, budget, grid, overlap, rows.
fn failing(records: &[RandomRow], labels: &[[String; 4]], overlap: OverlapClaim) -> Vec<Finding> {
    let cells = |record: &RandomRow| std::array::from_fn(|column| value(column, record[column]));
    let parse = |text: String| StringTable::parse(text.as_bytes(), b',').unwrap();
    let input = parse(table(records.iter().map(cells).enumerate()));
    let release = parse(table(labels.iter().cloned().enumerate()));
    let path = |zip: &str| (zip.to_owned(), vec![zip.to_owned(), format!("{}*", &zip[..1]), "*".to_owned()]);
    let mut hierarchies = vec![Hierarchy::default(); 4];
    hierarchies[ZIP] = Hierarchy { levels: vec![0, 1, 2], paths: ZIPS.map(path).into() };
    let claims = Claims {
        quasi_identifiers: NAMES.map(str::to_owned).to_vec(),
        k: 1,
        combinations: None,
        columns: None,
        sensitive: vec![],
        source: Some(Source {
            input: &input,
            hierarchies,
            unit: None,
            budget: 0,
            recoding: RecodingClaim::Boxes(claim(overlap)),
        }),
    };
    check(&release, &claims).findings.into_iter().filter(|finding| !finding.holds).collect()
}

fn labels(sides: &[Sides]) -> Vec<[String; 4]> {
    let label = |sides: &Sides| {
        std::array::from_fn(|column| {
            let label = sides[column].label(column);
            if column == ZIP && sides[column] == Side::Begin("") { "*".into() } else { label }
        })
    };
    sides.iter().map(label).collect()
}

fn is_meant(found: &[Finding], word: &str) -> bool {
    found.len() == 1 && found[0].claim.contains(word)
}

fn records() -> impl Strategy<Value = Vec<RandomRow>> {
    let ordered = |column: usize| prop_oneof![7 => (0..N_SLOTS[column]).prop_map(Some), 1 => Just(None)];
    let record = (ordered(0), ordered(1), ordered(2), (0..ZIPS.len()).prop_map(Some));
    proptest::collection::vec(record.prop_map(|(age, day, grade, zip)| [age, day, grade, zip]), 2..60)
}

fn cuts() -> impl Strategy<Value = Vec<(usize, usize)>> {
    proptest::collection::vec((0..4_usize, 0..1000_usize), 1..40)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn boxes_made_by_cuts_pass(records in records(), cuts in cuts()) {
        let sides = cut(&records, &cuts);
        prop_assert_eq!(failing(&records, &labels(&sides), OverlapClaim::DisjointBoxes), []);
        prop_assert_eq!(failing(&records, &labels(&sides), OverlapClaim::Allowed), []);
    }

    #[test]
    fn an_end_off_the_grid_is_refused(records in records(), cuts in cuts(), at in 0..60_usize) {
        let sides = cut(&records, &cuts);
        let at = at % sides.len();
        let Side::Slots(start, end) = sides[at][0] else { return Ok(()) };
        let (start, end) = ((5 * start).max(3), (5 * end).min(48));
        let mut labels = labels(&sides);
        for (labels, _) in labels.iter_mut().zip(&sides).filter(|(_, other)| **other == sides[at]) {
            // One record of age 3 or so may now be outside too, so only the grid is asked for.
            labels[0] = format!("\"[{}, {end})\"", start + 1);
        }
        let found = failing(&records, &labels, OverlapClaim::DisjointBoxes);
        prop_assert!(found.iter().any(|finding| finding.claim.contains("step or the bounds")));
    }

    #[test]
    fn an_end_moved_past_a_record_is_refused(records in records(), cuts in cuts(), at in 0..60_usize) {
        let mut sides = cut(&records, &cuts);
        let at = at % sides.len();
        let old = sides[at];
        let (Some(slot), Some(column)) =
            (0..3).filter(|&column| matches!(old[column], Side::Slots(start, _) if Some(start) < records[at][column]))
                .map(|column| (records[at][column], Some(column))).next().unwrap_or((None, None))
        else {
            return Ok(());
        };
        let Side::Slots(start, _) = old[column] else { return Ok(()) };
        for sides in sides.iter_mut().filter(|sides| **sides == old) {
            sides[column] = Side::Slots(start, slot);
        }
        let found = failing(&records, &labels(&sides), OverlapClaim::DisjointBoxes);
        prop_assert!(is_meant(&found, "assigned"), "{:?}", found);
    }

    #[test]
    fn swapped_rows_are_refused(records in records(), cuts in cuts(), a in 0..60_usize, b in 0..60_usize) {
        let mut sides = cut(&records, &cuts);
        let (a, b) = (a % sides.len(), b % sides.len());
        let differ = sides[a] != sides[b];
        sides.swap(a, b);
        let found = failing(&records, &labels(&sides), OverlapClaim::DisjointBoxes);
        prop_assert_eq!(is_meant(&found, "assigned"), differ, "{:?}", found);
    }

    #[test]
    fn a_box_that_reaches_over_another_is_refused(
        records in records(), cuts in cuts(), a in 0..60_usize, b in 0..60_usize,
    ) {
        let mut sides = cut(&records, &cuts);
        let (a, b) = (a % sides.len(), b % sides.len());
        let (old, other) = (sides[a], sides[b]);
        let hull: Sides = std::array::from_fn(|column| old[column].hull(other[column]));
        for sides in sides.iter_mut().filter(|sides| **sides == old) {
            *sides = hull;
        }
        let labels = labels(&sides);
        let found = failing(&records, &labels, OverlapClaim::DisjointBoxes);
        prop_assert_eq!(is_meant(&found, "disjoint"), old != other, "{:?}", found);
        prop_assert_eq!(failing(&records, &labels, OverlapClaim::Allowed), [], "every record is still inside");
    }
}

/// The k-d tree of random points, five columns of 1,000 numbers each, cut at medians down to `k` points.
fn median_cuts(points: &[[u32; 5]], k: usize) -> Vec<[(u32, u32); 5]> {
    let mut of_point = vec![[(0, 1000); 5]; points.len()];
    let mut open = vec![((0..points.len()).collect::<Vec<usize>>(), [(0, 1000); 5])];
    while let Some((mut members, sides)) = open.pop() {
        let spread = |column: usize| sides[column].1 - sides[column].0;
        let column = (0..5).max_by_key(|&column| spread(column)).unwrap();
        members.sort_unstable_by_key(|&point| points[point][column]);
        let cut = points[members[members.len() / 2]][column];
        let n_below = members.iter().filter(|&&point| points[point][column] < cut).count();
        if n_below < k || members.len() - n_below < k {
            for &point in &members {
                of_point[point] = sides;
            }
            continue;
        }
        let above = members.split_off(n_below);
        let (mut left, mut right) = (sides, sides);
        (left[column].1, right[column].0) = (cut, cut);
        open.extend([(members, left), (above, right)]);
    }
    of_point
}

/// Boxes of `n` points are found disjoint, `n_groups` at least, and one point in another's box is noticed.
fn check_many(n: usize, k: usize, n_groups: u64) {
    let mut state = 7_u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u32 % 1000
    };
    let points: Vec<[u32; 5]> = (0..n).map(|_| std::array::from_fn(|_| random())).collect();
    let sides = median_cuts(&points, k);
    let names = ["a", "b", "c", "d", "e"];
    let (mut input, mut release) = (names.join(",") + "\n", names.join(",") + "\n");
    for (point, sides) in points.iter().zip(&sides) {
        let [a, b, c, d, e] = point;
        let _ = writeln!(input, "{a},{b},{c},{d},{e}");
        let labels: Vec<String> = sides
            .iter()
            .map(
                |(start, end)| {
                    if end - start == 1 { start.to_string() } else { format!("\"[{start}, {end})\"") }
                },
            )
            .collect();
        let _ = writeln!(release, "{}", labels.join(","));
    }
    let parse = |text: &str| StringTable::parse(text.as_bytes(), b',').unwrap();
    let input = parse(&input);
    let claims = Claims {
        quasi_identifiers: names.map(str::to_owned).to_vec(),
        k: k as u64,
        combinations: None,
        columns: None,
        sensitive: vec![],
        source: Some(Source {
            input: &input,
            hierarchies: vec![Hierarchy::default(); 5],
            unit: None,
            budget: 0,
            recoding: RecodingClaim::Boxes(BoxesClaim {
                orders: vec![
                    Some(OrderClaim::Numbers {
                        step: "1".into(),
                        bounds: None,
                        style: Style::default()
                    });
                    5
                ],
                overlap: OverlapClaim::DisjointBoxes,
            }),
        }),
    };
    let honest = parse(&release);
    let report = check(&honest, &claims);
    assert!(report.holds(), "{:?}", report.findings);
    assert!(report.group_sizes.iter().map(|&(_, groups)| groups).sum::<u64>() >= n_groups);
    // The first row gets the box of the last.
    let (header, rows) = release.split_once('\n').unwrap();
    let last = rows.trim_end().rsplit_once('\n').unwrap().1;
    let forged = format!("{header}\n{last}\n{}", rows.split_once('\n').unwrap().1);
    let report = check(&parse(&forged), &Claims { k: 1, ..claims });
    let failing: Vec<&str> = report
        .findings
        .iter()
        .filter(|finding| !finding.holds)
        .map(|finding| finding.found.as_str())
        .collect();
    assert_eq!(failing.len(), 1, "{failing:?}");
    assert!(failing[0].starts_with("1 cannot"), "{failing:?}");
}

#[test]
fn tens_of_thousands_of_boxes_are_checked() {
    check_many(60_000, 2, 20_000);
}

#[test]
#[ignore = "takes a while; to measure"]
fn half_a_million_boxes_are_checked() {
    check_many(1_500_000, 2, 500_000);
}
