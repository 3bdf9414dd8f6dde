//! The search against all combinations of levels, on hierarchies whose labels stand on several levels.

use std::collections::{BTreeMap, BTreeSet};

use super::{LevelColumn, Outcome, Tables, search};
use crate::against_input::recoded;
use crate::{
    Claims, Counted, Finding, Fraction, Hierarchy, Labels, RecodingClaim, Report, SensitiveClaim, Source,
    StringTable, check, check_in_order,
};

/// A small generator: tests need variety, not quality.
struct Draw(u64);

impl Draw {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }
}

/// Rows of quasi-identifiers, then a person and an illness.
#[derive(Clone)]
struct Case {
    /// For each quasi-identifier, the path of each value.
    paths: Vec<Vec<Vec<String>>>,
    /// For each row the value of each quasi-identifier, the person and the illness.
    input: Vec<(Vec<usize>, usize, usize)>,
    release: Vec<(Vec<String>, usize)>,
    k: u64,
    by_persons: bool,
    alpha: Option<Fraction>,
    recoding: RecodingClaim,
}

impl Case {
    /// A table with random levels, and its honest release.
    fn draw(draw: &mut Draw, n_quasi: usize, n_levels: usize) -> Self {
        let labels = ["a", "b", "c"];
        let n_values = 2 + draw.below(2);
        let is_nested = draw.below(2) == 0;
        let mut path = |value: usize| -> Vec<String> {
            let mut path = vec![labels[value].to_owned()];
            while path.len() < n_levels {
                let label = labels[draw.below(labels.len())];
                path.push(label.to_owned());
            }
            path
        };
        let mut paths: Vec<Vec<Vec<String>>> =
            (0..n_quasi).map(|_| (0..n_values).map(&mut path).collect()).collect();
        if is_nested {
            // Equal labels have equal labels above them, as in hierarchies of ours.
            for column in &mut paths {
                for level in 1..n_levels {
                    for value in 0..n_values {
                        let like =
                            (0..value).find(|&other| column[other][level - 1] == column[value][level - 1]);
                        if let Some(like) = like {
                            column[value][level] = column[like][level].clone();
                        }
                    }
                }
            }
        }
        let n_rows = 1 + draw.below(14);
        let n_persons = 1 + draw.below(n_rows);
        let input: Vec<(Vec<usize>, usize, usize)> = (0..n_rows)
            .map(|_| {
                // The last value is rare.
                let value = |draw: &mut Draw| (0..3).map(|_| draw.below(n_values)).min().unwrap_or(0);
                let values = (0..n_quasi).map(|_| value(draw)).collect();
                (values, draw.below(n_persons), draw.below(2))
            })
            .collect();
        let levels: Vec<usize> = (0..n_quasi).map(|_| draw.below(n_levels)).collect();
        let mut case = Case {
            paths,
            input,
            release: Vec::new(),
            k: 1 + draw.below(3) as u64,
            by_persons: draw.below(3) == 0,
            alpha: (draw.below(3) == 0).then(|| "2/3".parse().unwrap()),
            recoding: RecodingClaim::FullDomain,
        };
        let groups = case.groups(&levels);
        let mut released: Vec<(usize, Vec<String>)> = groups
            .iter()
            .filter(|(_, rows)| case.is_published(rows))
            .flat_map(|(labels, rows)| rows.iter().map(|&row| (row, labels.clone())))
            .collect();
        released.sort();
        case.release = released.into_iter().map(|(row, labels)| (labels, case.input[row].2)).collect();
        case
    }

    fn groups(&self, levels: &[usize]) -> BTreeMap<Vec<String>, Vec<usize>> {
        let mut groups: BTreeMap<Vec<String>, Vec<usize>> = BTreeMap::new();
        for (row, (values, ..)) in self.input.iter().enumerate() {
            let labels = (0..values.len()).map(|at| self.paths[at][values[at]][levels[at]].clone()).collect();
            groups.entry(labels).or_default().push(row);
        }
        groups
    }

    /// Has a group enough rows or persons, and does no illness have too great a share of them?
    fn is_published(&self, rows: &[usize]) -> bool {
        let all = |row: &usize| if self.by_persons { self.input[*row].1 } else { *row };
        let count = |rows: &mut dyn Iterator<Item = &usize>| rows.map(all).collect::<BTreeSet<_>>().len();
        let size = count(&mut rows.iter());
        let most = (0..2).map(|ill| count(&mut rows.iter().filter(|&&row| self.input[row].2 == ill))).max();
        size as u64 >= self.k && (self.alpha.is_none() || 3 * most.unwrap_or(0) <= 2 * size)
    }

    /// By the definition: is there any combination at which the release is what it should be?
    fn fits_somewhere(&self) -> bool {
        let n_levels = self.paths[0][0].len();
        (0..n_levels.pow(self.paths.len() as u32)).any(|number| {
            let level = |at: usize| number / n_levels.pow(at as u32) % n_levels;
            let levels: Vec<usize> = (0..self.paths.len()).map(level).collect();
            let mut expected = Vec::new();
            for (labels, rows) in self.groups(&levels) {
                if self.is_published(&rows) {
                    expected.extend(rows.iter().map(|&row| (labels.clone(), self.input[row].2)));
                }
            }
            expected.sort();
            let mut found = self.release.clone();
            found.sort();
            expected == found
        })
    }

    fn with_tables<T>(&self, check: impl FnOnce(&StringTable, &Claims<'_>) -> T) -> T {
        let names: Vec<String> = (0..self.paths.len()).map(|at| format!("q{at}")).collect();
        let parse = |text: String| StringTable::parse(text.as_bytes(), b',').unwrap();
        let mut input = names.join(",") + ",who,ill\n";
        for (values, who, ill) in &self.input {
            let values: Vec<&str> =
                values.iter().enumerate().map(|(at, &value)| self.paths[at][value][0].as_str()).collect();
            input += &format!("{},{who},{ill}\n", values.join(","));
        }
        let mut release = names.join(",") + ",ill\n";
        for (labels, ill) in &self.release {
            release += &format!("{},{ill}\n", labels.join(","));
        }
        let (input, release) = (parse(input), parse(release));
        let counted = if self.by_persons { Counted::Persons } else { Counted::Rows };
        let hierarchy = |paths: &Vec<Vec<String>>| Hierarchy {
            levels: (0..paths[0].len()).collect(),
            paths: paths.iter().map(|path| (path[0].clone(), path.clone())).collect(),
        };
        let claims = Claims {
            quasi_identifiers: names.clone(),
            k: self.k,
            combinations: None,
            columns: Some(names.into_iter().chain(["ill".to_owned()]).collect()),
            sensitive: vec![SensitiveClaim { alpha: self.alpha, counted, ..SensitiveClaim::measured("ill") }],
            source: Some(Source {
                input: &input,
                hierarchies: self.paths.iter().map(hierarchy).collect(),
                unit: self.by_persons.then(|| "who".to_owned()),
                budget: self.input.len() as u64,
                recoding: self.recoding.clone(),
            }),
        };
        check(&release, &claims)
    }

    fn in_memory(&self) -> Report {
        self.with_tables(|release, claims| check(release, claims))
    }

    /// Row by row; released rows must be in the order of the input.
    fn in_order(&self) -> Report {
        self.with_tables(|release, claims| check_in_order(release, claims))
    }
}

#[test]
fn a_release_is_accepted_where_any_of_all_combinations_fits_and_nowhere_else() {
    let mut draw = Draw(1);
    let (mut n_accepted, mut n_refused) = (0, 0);
    for round in 0..6000 {
        let (n_quasi, n_levels) = [(1, 3), (2, 3), (3, 2), (4, 2), (3, 3)][round % 5];
        let mut case = Case::draw(&mut draw, n_quasi, n_levels);
        let is_honest = round % 3 > 0 || case.release.is_empty();
        if !is_honest {
            // Something is changed, which may fit or not.
            let row = draw.below(case.release.len());
            match draw.below(4) {
                0 => _ = case.release.remove(row),
                1 => case.release[row].0[0] = ["a", "b", "c"][draw.below(3)].to_owned(),
                2 => case.release[row].1 ^= 1,
                _ => {
                    let other = draw.below(case.release.len());
                    case.release[row].0 = case.release[other].0.clone();
                }
            }
        }
        if round % 4 == 0 {
            // Levels that are claimed change nothing, right or wrong.
            case.recoding = RecodingClaim::Levels((0..n_quasi).map(|_| draw.below(n_levels)).collect());
        }
        let report = case.in_memory();
        let fits = case.fits_somewhere();
        assert!(report.undecided.is_empty());
        assert_eq!(report.holds(), fits, "round {round}: {:?}", report.findings);
        if !case.by_persons {
            // What is in the order of the input is accepted row by row, and nothing else than in memory.
            let in_order = case.in_order();
            assert!(in_order.undecided.is_empty());
            assert!(fits || !in_order.holds(), "round {round}");
            assert!(in_order.holds() || !is_honest, "round {round}: {:?}", in_order.findings);
        }
        *(if fits { &mut n_accepted } else { &mut n_refused }) += 1;
    }
    assert!(n_accepted > 3000 && n_refused > 1000, "{n_accepted} accepted, {n_refused} refused");
}

fn failed(report: &Report) -> Vec<&Finding> {
    report.findings.iter().chain(&report.undecided).filter(|finding| !finding.holds).collect()
}

/// A case in which every column has the same hierarchy, and every row one value, but for some columns.
fn repeated(n_quasi: usize, paths: &[&str], rows: &[(usize, std::ops::Range<usize>, usize)]) -> Case {
    let path = |path: &&str| path.split(';').map(str::to_owned).collect();
    let row = |(value, columns, ill): &(usize, std::ops::Range<usize>, usize)| {
        let values = (0..n_quasi).map(|at| if columns.contains(&at) { *value } else { 0 }).collect();
        (values, 0, *ill)
    };
    Case {
        paths: vec![paths.iter().map(path).collect(); n_quasi],
        input: rows.iter().map(row).collect(),
        release: Vec::new(),
        k: 2,
        by_persons: false,
        alpha: None,
        recoding: RecodingClaim::FullDomain,
    }
}

/// The first column is at level 1, since a released row has `c` there, and the only illness of its kind. In the others only the two rows that were left out
/// have `c`, so that each may be at level 0 or 1.
#[test]
fn levels_are_found_among_more_combinations_than_can_be_tried() {
    for n_quasi in [9, 24, 60] {
        let left_out = [(1, 1..n_quasi, 0), (1, 1..n_quasi - 1, 0)];
        let released = [(0, 0..0, 0), (0, 0..0, 1), (0, 0..0, 1), (1, 0..1, 2)];
        let mut case = repeated(n_quasi, &["b;b;*", "c;b;*"], &[released.as_slice(), &left_out].concat());
        case.release = [0, 1, 1, 2].map(|ill| (vec!["b".to_owned(); n_quasi], ill)).to_vec();
        let report = case.in_memory();
        assert!(report.holds(), "{n_quasi} columns: {:?}", failed(&report));
        let changes: [fn(&mut Case); 3] = [
            // A row of a group is missing.
            |case| _ = case.release.remove(1),
            |case| case.release[0].1 = 1,
            // Two equal rows that were left out are as many as k.
            |case| case.input[5] = case.input[4].clone(),
        ];
        for (number, change) in changes.iter().enumerate() {
            let mut forged = case.clone();
            change(&mut forged);
            let report = forged.in_memory();
            assert!(report.undecided.is_empty() && !report.holds(), "{n_quasi} columns, change {number}");
        }
    }
}

/// Rows with `x` and with `y` were left out together, because of their illness. Rows with `x` alone could have been
/// released, so that all columns are at level 1: the last combination of all.
#[test]
fn levels_that_explain_what_was_left_out_are_found() {
    for n_quasi in [1, 9, 24] {
        let all = 0..n_quasi;
        let ill_of_left_out = [(1, 0), (1, 1), (2, 0), (2, 0)];
        let left_out = ill_of_left_out.map(|(value, ill)| (value, all.clone(), ill));
        let released = [(0, 0..0, 0), (0, 0..0, 1)];
        let rows = [released.as_slice(), &left_out].concat();
        let mut case = repeated(n_quasi, &["b;b", "x;x", "y;x"], &rows);
        case.alpha = Some("2/3".parse().unwrap());
        case.release = [0, 1].map(|ill| (vec!["b".to_owned(); n_quasi], ill)).to_vec();
        let report = case.in_memory();
        assert!(report.holds(), "{n_quasi} columns: {:?}", failed(&report));
        if n_quasi <= 9 {
            let report = case.in_order();
            assert_eq!(report.holds(), n_quasi == 1, "{n_quasi} columns: {:?}", failed(&report));
            assert_eq!(report.is_undecided(), n_quasi > 1, "row by row only some combinations are compared");
        }
        case.recoding = RecodingClaim::Levels(vec![1; n_quasi]);
        assert!(case.in_order().holds(), "levels that are claimed are compared first");
        // Half of those with `y` are well: they could have been released in any case.
        case.input[5].2 = 1;
        let report = case.in_memory();
        assert!(report.undecided.is_empty() && !report.holds(), "{n_quasi} columns");
    }
}

/// What comes of a search for the levels 0 and 1 with so much work, where every proposal is accepted or none is.
fn searched(case: &Case, work: u64, is_accepted: bool) -> Outcome {
    let n_quasi = case.paths.len();
    case.with_tables(|release, claims| {
        let Some(source) = &claims.source else { unreachable!() };
        let quasi: Vec<usize> = (0..n_quasi).collect();
        let origins: Vec<usize> = (0..n_quasi).chain([n_quasi + 1]).collect();
        let column = |at: usize| {
            let hierarchy = &source.hierarchies[at];
            let (released, collected) = (release.labels(at), source.input.labels(at));
            let label = |value, level| recoded(hierarchy, value, level);
            LevelColumn::new(&[0, 1], &released, &collected, |_| true, label)
        };
        let columns: Vec<LevelColumn> = (0..n_quasi).map(column).collect();
        let tables = Tables { release, input: source.input, quasi: &quasi, origins: &origins };
        search(tables, &columns, Some(1), work, 1, |_| is_accepted)
    })
}

/// The least work with which it is decided that nothing that is proposed is accepted.
fn work_for_all(case: &Case) -> u64 {
    let is_enough = |work: u64| searched(case, work, false) == Outcome::None;
    let (mut too_little, mut enough) = (0, 1 << 30);
    assert!(is_enough(enough));
    while too_little + 1 < enough {
        let work = (too_little + enough) / 2;
        *(if is_enough(work) { &mut enough } else { &mut too_little }) = work;
    }
    enough
}

/// Steps 3 and 4 of the search are for its work alone, so work is what shows whether they are done. Limits are a little above what it
/// takes with all of them; beside each stands what it takes without the step that the case is about.
#[test]
fn each_step_that_leaves_something_out_saves_work() {
    const N: usize = 12;
    let of = |rows: &[(usize, std::ops::Range<usize>, usize)], released: &[usize]| {
        let mut case = repeated(N, &["b;b;*", "c;b;*"], rows);
        case.release = released.iter().map(|&ill| (vec!["b".to_owned(); N], ill)).collect();
        work_for_all(&case)
    };
    let check = |what: &str, work: u64, limit: u64| assert!(work <= limit, "{what}: {work} looks at a row");

    // Each column has a released row with `c`: counts of labels leave level 0 out (696; without, 4,524).
    let mut rows: Vec<_> = (0..N).map(|at| (1, at..at + 1, at)).collect();
    rows.push((1, 0..N, 0));
    check("levels that counts rule out", of(&rows, &(0..N).collect::<Vec<_>>()), 1_000);
    // Two rows were left out, which most columns tell apart from the others alike (3,568; without, 6,080).
    let rows = [(0, 0..0, 0), (0, 0..0, 0), (1, 1..N, 0), (1, 0..N - 1, 0)];
    check("levels that divide alike", of(&rows, &[0, 0]), 4_500);
    // Rows that were left out have `c` in two columns each: either column divides alike (17,822; without, 65,224).
    let mut rows = vec![(0, 0..0, 0), (0, 0..0, 0)];
    rows.extend((0..N / 2).map(|at| (1, 2 * at..2 * at + 2, 0)));
    check("divisions seen before", of(&rows, &[0, 0]), 22_000);
}

#[test]
fn what_takes_too_much_work_is_not_decided() {
    let rows = [(0, 0..0, 0), (0, 0..0, 0), (1, 1..9, 0), (1, 0..8, 0)];
    let mut case = repeated(9, &["b;b;*", "c;b;*"], &rows);
    case.release = vec![(vec!["b".to_owned(); 9], 0); 2];
    assert_eq!(searched(&case, 1 << 20, true), Outcome::Accepted);
    assert_eq!(searched(&case, 1 << 20, false), Outcome::None);
    assert_eq!(searched(&case, 100, true), Outcome::Exceeded);
    assert_eq!(searched(&case, 0, true), Outcome::Exceeded);
}
