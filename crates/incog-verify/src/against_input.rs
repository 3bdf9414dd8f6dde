//! Was the release made from this input, by generalizing whole columns and leaving out whole groups?
//!
//! 1. For each quasi-identifier, find the levels whose labels include all released ones, and at which no label is
//!    released more often than the input has it.
//! 2. Recode the input at such a combination of levels. Every released row, with all its columns, must be one of
//!    the recoded input rows, each used once.
//! 3. Input rows that are not released must be whole groups, each too small to be published, and all together
//!    within the budget.
//! 4. With a unit, each released group must have at least k persons, counted in the input.
//!
//! Step 1 nearly always leaves one level per column. Where a hierarchy repeats labels it may leave several; up to
//! [`MAX_COMBINATIONS`] combinations are tried.

use std::collections::{HashMap, HashSet};

use crate::{Claims, Finding, Labels};

const MAX_COMBINATIONS: usize = 256;

/// What a release was made from.
pub struct Source<'a> {
    /// The input.
    pub input: &'a dyn Labels,
    /// The hierarchy of each quasi-identifier, in the order of the claims.
    pub hierarchies: Vec<Hierarchy>,
    /// The column that says whom a row is about, where a person may have several.
    pub unit: Option<String>,
    /// How many rows may be left out.
    pub budget: u64,
}

/// For each value, its label at every level; level 0 is the value itself.
#[derive(Debug, Clone, Default)]
pub struct Hierarchy {
    /// The levels that may be chosen.
    pub levels: Vec<usize>,
    /// The labels of each value, by level.
    pub paths: HashMap<String, Vec<String>>,
}

pub(crate) fn check(
    release: &dyn Labels,
    claims: &Claims<'_>,
    source: &Source<'_>,
    quasi: &[usize],
    findings: &mut Vec<Finding>,
) {
    let input = source.input;
    let input_header = input.header();
    let header = release.header();
    // Where each released column stands in the input.
    let origins: Option<Vec<usize>> =
        header.iter().map(|name| input_header.iter().position(|column| column == name)).collect();
    let Some(origins) = origins else {
        findings.push(Finding {
            claim: "every released column is a column of the input".into(),
            found: "one is not".into(),
            holds: false,
        });
        return;
    };
    let n_suppressed = input.n_rows().checked_sub(release.n_rows());
    findings.push(Finding {
        claim: format!("at most {} of {} rows are suppressed", source.budget, input.n_rows()),
        found: match n_suppressed {
            Some(rows) => format!("{} rows released, {rows} suppressed", release.n_rows()),
            None => format!("{} rows released, more than there are", release.n_rows()),
        },
        holds: n_suppressed.is_some_and(|rows| rows as u64 <= source.budget),
    });
    let claim = "every released row is an input row, generalized column by column to one level";
    let mut possible = Vec::new();
    for (hierarchy, (&at, name)) in source.hierarchies.iter().zip(quasi.iter().zip(&claims.quasi_identifiers))
    {
        let levels = possible_levels(release, input, hierarchy, at, origins[at]);
        if levels.is_empty() {
            findings.push(Finding {
                claim: claim.into(),
                found: format!("column {name} has labels that no single level gives"),
                holds: false,
            });
            return;
        }
        possible.push(levels);
    }
    let mut best: Option<Mismatch> = None;
    for levels in combinations(&possible) {
        let mismatch = compare(release, claims, source, quasi, &origins, &levels);
        if best.as_ref().is_none_or(|best| mismatch.severity() < best.severity()) {
            best = Some(mismatch);
        }
        if best.as_ref().is_some_and(|best| best.severity() == 0) {
            break;
        }
    }
    let Some(best) = best else {
        return;
    };
    findings.push(Finding {
        claim: claim.into(),
        found: match best.strange_rows.first() {
            None => "all are".into(),
            Some(row_idx) => format!("{} are not, the first is row {}", best.strange_rows.len(), row_idx + 1),
        },
        holds: best.strange_rows.is_empty(),
    });
    findings.push(Finding {
        claim: "suppressed rows are whole groups, each too small to be published".into(),
        found: format!(
            "{} groups are released in part, {} were large enough",
            best.partial_groups, best.needless_groups
        ),
        holds: best.partial_groups == 0 && best.needless_groups == 0,
    });
    if let Some(unit) = &source.unit {
        findings.push(Finding {
            claim: format!("every group has at least {} persons ({unit})", claims.k),
            found: best
                .fewest_persons
                .map_or("no rows".into(), |persons| format!("the smallest has {persons}")),
            holds: best.fewest_persons.is_none_or(|persons| persons >= claims.k),
        });
    }
}

/// Levels whose labels include all released ones, none released more often than it occurs.
fn possible_levels(
    release: &dyn Labels,
    input: &dyn Labels,
    hierarchy: &Hierarchy,
    released_at: usize,
    input_at: usize,
) -> Vec<usize> {
    let mut released: HashMap<&str, u64> = HashMap::new();
    for row_idx in 0..release.n_rows() {
        *released.entry(release.cell(row_idx, released_at)).or_insert(0) += 1;
    }
    let mut values: HashMap<&str, u64> = HashMap::new();
    for row_idx in 0..input.n_rows() {
        *values.entry(input.cell(row_idx, input_at)).or_insert(0) += 1;
    }
    let is_possible = |level: usize| {
        let mut labels: HashMap<&str, u64> = HashMap::new();
        for (value, n) in &values {
            if let Some(label) = hierarchy.paths.get(*value).and_then(|path| path.get(level)) {
                *labels.entry(label).or_insert(0) += n;
            }
        }
        released.iter().all(|(label, n)| labels.get(label).is_some_and(|most| n <= most))
    };
    hierarchy.levels.iter().copied().filter(|&level| is_possible(level)).collect()
}

/// All ways to pick one of each, as far as they are few.
fn combinations(possible: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for levels in possible {
        all = all
            .into_iter()
            .flat_map(|picked: Vec<usize>| {
                levels.iter().map(move |&level| [picked.as_slice(), &[level]].concat())
            })
            .take(MAX_COMBINATIONS)
            .collect();
    }
    all
}

/// How a release differs from the input recoded at some levels.
struct Mismatch {
    strange_rows: Vec<usize>,
    partial_groups: usize,
    needless_groups: usize,
    fewest_persons: Option<u64>,
}

impl Mismatch {
    fn severity(&self) -> usize {
        self.strange_rows.len() + self.partial_groups + self.needless_groups
    }
}

#[derive(Default)]
struct InputGroup<'a> {
    rows: u64,
    released: u64,
    persons: HashSet<&'a str>,
}

fn compare(
    release: &dyn Labels,
    claims: &Claims<'_>,
    source: &Source<'_>,
    quasi: &[usize],
    origins: &[usize],
    levels: &[usize],
) -> Mismatch {
    let input = source.input;
    let unit = source.unit.as_ref().and_then(|unit| input.header().iter().position(|column| column == unit));
    // A released column's cell of an input row: generalized if it is a quasi-identifier.
    let recoded = |row_idx: usize, column: usize| -> &str {
        let value = input.cell(row_idx, origins[column]);
        match quasi.iter().position(|&at| at == column) {
            None => value,
            Some(at) => {
                source.hierarchies[at].paths.get(value).map_or(value, |path| path[levels[at]].as_str())
            }
        }
    };
    let mut left: HashMap<Vec<&str>, u64> = HashMap::new();
    let mut groups: HashMap<Vec<&str>, InputGroup<'_>> = HashMap::new();
    for row_idx in 0..input.n_rows() {
        *left.entry((0..origins.len()).map(|column| recoded(row_idx, column)).collect()).or_insert(0) += 1;
        let group = groups.entry(quasi.iter().map(|&column| recoded(row_idx, column)).collect()).or_default();
        group.rows += 1;
        if let Some(unit) = unit {
            group.persons.insert(input.cell(row_idx, unit));
        }
    }
    let mut mismatch =
        Mismatch { strange_rows: Vec::new(), partial_groups: 0, needless_groups: 0, fewest_persons: None };
    for row_idx in 0..release.n_rows() {
        let row: Vec<&str> = (0..origins.len()).map(|column| release.cell(row_idx, column)).collect();
        match left.get_mut(&row) {
            Some(n) if *n > 0 => *n -= 1,
            _ => mismatch.strange_rows.push(row_idx),
        }
        let group: Vec<&str> = quasi.iter().map(|&column| release.cell(row_idx, column)).collect();
        if let Some(group) = groups.get_mut(&group) {
            group.released += 1;
        }
    }
    for group in groups.values() {
        let size = if unit.is_some() { group.persons.len() as u64 } else { group.rows };
        match group.released {
            0 => mismatch.needless_groups += usize::from(size >= claims.k),
            released => {
                mismatch.partial_groups += usize::from(released != group.rows);
                mismatch.fewest_persons = Some(mismatch.fewest_persons.map_or(size, |least| least.min(size)));
            }
        }
    }
    mismatch
}

#[cfg(test)]
mod tests {
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
            columns: Some(vec!["zip".into(), "ill".into()]),
            sensitive: vec![],
            source: Some(Source {
                input: &input,
                hierarchies: vec![hierarchy],
                unit: unit.map(str::to_owned),
                budget,
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
        assert_eq!(
            holds(&group_dropped, 2, 3, None),
            [true, true, true, true, false],
            "a group large enough"
        );
        let mixed = RELEASE.replacen("1*,x", "*,x", 1);
        assert_eq!(holds(&mixed, 1, 1, None)[3..], [false], "two levels in one column");
        let doubled = RELEASE.to_owned() + "2*,z\n2*,z\n2*,z\n";
        assert!(!holds(&doubled, 2, 1, None)[2], "more rows than there are");
        assert_eq!(holds("zip,ill,age\n1*,x,1\n", 1, 9, None)[0..1], [false], "a new column");
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
                columns: None,
                sensitive: vec![],
                source: Some(Source {
                    input: &input,
                    hierarchies: vec![hierarchy],
                    unit: Some("who".into()),
                    budget: 1,
                }),
            };
            crate::check(&table(RELEASE), &claims).holds()
        };
        assert!(claims_hold(INPUT));
        assert!(!claims_hold(&input), "one person has all three rows of a group");
    }
}
