//! Releases in the order of their input: what is found row by row is what is found in memory, and never less.

use std::collections::BTreeMap;

use super::*;
use crate::{BoxesClaim, Fraction, Hierarchy, OverlapClaim, StringTable, check};

/// A small generator: tests need variety, not quality.
struct Draw(u64);

impl Draw {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }
}

/// Rows of cells: the quasi-identifiers, an illness and a note.
struct Case {
    n_quasi: usize,
    input: Vec<Vec<String>>,
    release: Vec<Vec<String>>,
    k: u64,
    combinations: Option<usize>,
    alpha: Option<Fraction>,
    /// Have hierarchies another level with the same labels, but for other values, so that labels do not tell the level?
    has_like_levels: bool,
    /// Was each cell generalized by itself?
    is_local: bool,
}

fn path(value: &str) -> Vec<String> {
    vec![value.to_owned(), format!("{}*", &value[..1]), "*".to_owned()]
}

impl Case {
    /// A table with some levels, and its honest release.
    fn draw(draw: &mut Draw, n_quasi: usize, with_alpha: bool) -> Self {
        let n_rows = draw.below(60);
        let n_values = 2 + draw.below(4);
        let mut cell = |n: usize| format!("{}{}", draw.below(n), draw.below(2));
        let input: Vec<Vec<String>> =
            (0..n_rows).map(|_| (0..n_quasi + 2).map(|_| cell(n_values)).collect()).collect();
        let levels: Vec<usize> = (0..n_quasi).map(|_| draw.below(if n_quasi > 9 { 2 } else { 3 })).collect();
        let recoded: Vec<Vec<String>> = input
            .iter()
            .map(|row| {
                let cell = |(at, cell): (usize, &String)| match levels.get(at) {
                    Some(&level) => path(cell)[level].clone(),
                    None => cell.clone(),
                };
                row.iter().enumerate().map(cell).collect()
            })
            .collect();
        let k = 1 + draw.below(4) as u64;
        let alpha: Option<Fraction> = with_alpha.then(|| "2/3".parse().unwrap());
        let mut groups: BTreeMap<&[String], Vec<&String>> = BTreeMap::new();
        for row in &recoded {
            groups.entry(&row[..n_quasi]).or_default().push(&row[n_quasi]);
        }
        let is_published = |row: &&Vec<String>| {
            let ill = &groups[&row[..n_quasi]];
            let most =
                ill.iter().map(|one| ill.iter().filter(|other| *other == one).count()).max().unwrap_or(0);
            ill.len() as u64 >= k && (alpha.is_none() || 3 * most <= 2 * ill.len())
        };
        let release = recoded.iter().filter(is_published).cloned().collect();
        Case {
            n_quasi,
            input,
            release,
            k,
            combinations: None,
            alpha,
            has_like_levels: draw.below(2) == 0,
            is_local: false,
        }
    }

    /// A table whose cells go to levels of their own, some rows left out.
    fn draw_local(draw: &mut Draw, n_quasi: usize) -> Self {
        let mut case = Case::draw(draw, n_quasi, false);
        (case.k, case.is_local) = (1, true);
        case.release.clear();
        for row in &case.input {
            if draw.below(5) > 0 {
                let level = |at: usize, draw: &mut Draw| if at < n_quasi { draw.below(3) } else { 0 };
                let cells = row.iter().enumerate().map(|(at, cell)| path(cell)[level(at, draw)].clone());
                case.release.push(cells.collect());
            }
        }
        case
    }

    fn table(&self, rows: &[Vec<String>]) -> StringTable {
        let mut text: String = (0..self.n_quasi).map(|at| format!("q{at},")).collect();
        text += "ill,note\n";
        for row in rows {
            text += &(row.join(",") + "\n");
        }
        StringTable::parse(text.as_bytes(), b',').unwrap()
    }

    /// What is found in memory, and row by row.
    fn reports(&self) -> [Report; 2] {
        let n_more = usize::from(self.has_like_levels);
        let other = |value: &str| format!("{}{}", &value[..1], if value.ends_with('0') { 1 } else { 0 });
        let path_of = |value: &String| [vec![other(value); n_more], path(value)].concat();
        let hierarchy = |at: usize| Hierarchy {
            levels: (0..3 + n_more).collect(),
            paths: self.input.iter().map(|row| (row[at].clone(), path_of(&row[at]))).collect(),
        };
        self.reports_with(&hierarchy)
    }

    /// The same with given hierarchies.
    fn reports_with(&self, hierarchy: &dyn Fn(usize) -> Hierarchy) -> [Report; 2] {
        let (input, release) = (self.table(&self.input), self.table(&self.release));
        let claims = Claims {
            quasi_identifiers: (0..self.n_quasi).map(|at| format!("q{at}")).collect(),
            k: self.k,
            combinations: self.combinations,
            columns: Some(release.header().iter().map(|&name| name.to_owned()).collect()),
            sensitive: vec![
                SensitiveClaim::measured("ill"),
                SensitiveClaim { alpha: self.alpha, ..SensitiveClaim::measured("ill") },
                SensitiveClaim::measured("note"),
            ],
            source: Some(Source {
                input: &input,
                hierarchies: (0..self.n_quasi).map(hierarchy).collect(),
                unit: None,
                budget: self.input.len() as u64,
                recoding: if self.is_local { RecodingClaim::Local } else { RecodingClaim::FullDomain },
            }),
        };
        [check(&release, &claims), check_in_order(&release, &claims)]
    }
}

#[test]
fn cells_of_levels_of_their_own_pass_with_the_findings_of_memory_and_forged_ones_do_not() {
    let mut draw = Draw(7);
    let mut n_refused = 0;
    for round in 0..300 {
        let n_quasi = if round % 50 == 7 { 70 } else { 1 + draw.below(3) };
        let mut case = Case::draw_local(&mut draw, n_quasi);
        let [in_memory, in_order] = case.reports();
        assert!(in_memory.holds() && in_order.holds(), "{round}: {:?}", in_order.findings);
        assert_eq!(in_order.findings, in_memory.findings, "{round}");
        assert_eq!(in_order.group_sizes, in_memory.group_sizes, "{round}");
        if case.release.is_empty() {
            continue;
        }
        // A cell of another branch, a row twice, two rows in each other's place.
        let row = draw.below(case.release.len());
        match draw.below(3) {
            0 => {
                let at = draw.below(case.release[0].len());
                case.release[row][at] = format!("{}{}", draw.below(6), draw.below(2));
            }
            1 => case.release.insert(row, case.release[row].clone()),
            _ => case.release.swap(0, row),
        }
        let [in_memory, in_order] = case.reports();
        assert!(in_memory.holds() || !in_order.holds(), "{round}: row by row no less is refused");
        n_refused += usize::from(!in_order.holds());
    }
    assert!(n_refused > 100, "{n_refused}");
}

#[test]
fn honest_releases_pass_with_the_findings_of_memory() {
    let mut draw = Draw(1);
    let mut n_suppressed = 0;
    for round in 0..300 {
        // With seventy columns keys take more than 64 bits.
        let n_quasi = if round % 10 == 0 { 70 } else { 1 + draw.below(3) };
        let case = Case::draw(&mut draw, n_quasi, round % 3 == 0);
        let [in_memory, in_order] = case.reports();
        assert!(in_order.holds(), "{:?}", in_order.findings);
        assert_eq!(in_order, in_memory, "round {round}");
        n_suppressed += case.input.len() - case.release.len();
    }
    assert!(n_suppressed > 500);
}

#[test]
fn combinations_are_counted_row_by_row_as_in_memory() {
    let mut draw = Draw(5);
    let (mut n_holding, mut n_failing) = (0, 0);
    for round in 0..200 {
        let n_quasi = 1 + draw.below(4);
        let mut case = Case::draw(&mut draw, n_quasi, false);
        case.k += 2;
        case.combinations = Some(1 + draw.below(3));
        let [in_memory, in_order] = case.reports();
        assert_eq!(in_order, in_memory, "round {round}");
        let finding = in_order.findings.iter().find(|finding| finding.claim.contains("every combination"));
        *if finding.unwrap().holds { &mut n_holding } else { &mut n_failing } += 1;
    }
    assert!(n_holding > 20 && n_failing > 20, "{n_holding} hold, {n_failing} fail");
}

#[test]
fn whatever_fails_in_memory_fails_row_by_row() {
    let mut draw = Draw(2);
    let mut failed = [0; 6];
    for round in 0..2400 {
        let mut case = Case::draw(&mut draw, 2, round % 4 == 0);
        if case.release.len() < 2 {
            continue;
        }
        let n_rows = case.release.len();
        let row = draw.below(n_rows);
        let kind = round % failed.len();
        match kind {
            // A cell of any column.
            0 => {
                let other = draw.below(n_rows);
                let at = draw.below(4);
                case.release[row][at] = case.release[other][at].clone();
            }
            1 => _ = case.release.remove(row),
            2 => {
                let again = case.release[row].clone();
                case.release.insert(row, again);
            }
            // A whole group that was large enough.
            3 => {
                let group = case.release[row][..2].to_vec();
                case.release.retain(|row| row[..2] != group);
            }
            // The labels of two rows, not what they are ill with.
            4 => {
                let other = draw.below(n_rows);
                let (mine, theirs) = (case.release[row][..2].to_vec(), case.release[other][..2].to_vec());
                case.release[row][..2].clone_from_slice(&theirs);
                case.release[other][..2].clone_from_slice(&mine);
            }
            _ => case.k += 1,
        }
        let [in_memory, in_order] = case.reports();
        assert!(in_memory.holds() || !in_order.holds(), "round {round}: {:?}", in_memory.findings);
        failed[kind] += usize::from(!in_order.holds());
    }
    assert!(failed.iter().all(|&n| n > 30), "{failed:?}");
}

/// A value without a path is not a label of some level because it looks like one.
#[test]
fn values_that_no_hierarchy_has_are_not_released() {
    let rows =
        |cells: &[&str]| cells.iter().map(|cell| [cell, "i", "n"].map(String::from).to_vec()).collect();
    for (values, input, release) in [
        (vec!["10"], vec!["1*", "1*"], vec!["1*", "1*"]),
        (vec!["10", "11"], vec!["1*", "10", "11"], vec!["1*", "1*", "1*"]),
    ] {
        let case = Case {
            n_quasi: 1,
            input: rows(&input),
            release: rows(&release),
            k: 2,
            combinations: None,
            alpha: None,
            has_like_levels: false,
            is_local: false,
        };
        let hierarchy = |_| Hierarchy {
            levels: vec![0, 1, 2],
            paths: values.iter().map(|&value| (value.to_owned(), path(value))).collect(),
        };
        let [in_memory, in_order] = case.reports_with(&hierarchy);
        assert!(!in_memory.holds() && !in_order.holds());
    }
}

#[test]
fn another_order_is_no_order_of_the_input() {
    let mut draw = Draw(3);
    let mut case = Case::draw(&mut draw, 1, false);
    case.release.sort();
    let [in_memory, in_order] = case.reports();
    assert!(in_memory.holds() && !in_order.holds());
    let found = in_order.findings.iter().find(|finding| !finding.holds).unwrap();
    assert!(found.found.contains("is not the one that comes next in the input"), "{found}");
}

#[test]
fn persons_and_boxes_are_not_for_here() {
    let case = Case::draw(&mut Draw(5), 1, false);
    let (input, release) = (case.table(&case.input), case.table(&case.release));
    let claims = |unit: Option<&str>, recoding| Claims {
        quasi_identifiers: vec!["q0".into()],
        k: 1,
        combinations: None,
        columns: None,
        sensitive: vec![],
        source: Some(Source {
            input: &input,
            hierarchies: vec![Hierarchy::default()],
            unit: unit.map(str::to_owned),
            budget: 100,
            recoding,
        }),
    };
    assert!(!check_in_order(&release, &claims(Some("note"), RecodingClaim::FullDomain)).holds());
    let boxes = BoxesClaim { orders: vec![None], overlap: OverlapClaim::Allowed };
    assert!(!check_in_order(&release, &claims(None, RecodingClaim::Boxes(boxes))).holds());
}
