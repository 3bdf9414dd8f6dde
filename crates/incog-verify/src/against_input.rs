//! Was the release made from this input, by generalizing whole columns and leaving out whole groups?
//!
//! 1. For each quasi-identifier, find the levels whose labels include all released ones, and at which no label is
//!    released more often than the input has it.
//! 2. Recode the input at such a combination of levels. Every released row, with all its columns, must be one of
//!    the recoded input rows, each used once.
//! 3. Input rows that are not released must be whole groups, each too small to be published or refused by a claim on a
//!    sensitive column, and all together within the budget. Where a claim compares groups with the whole release (t, δ,
//!    β), it depends on the groups that were left out before whether one had to be: only that they are whole is checked. So it
//!    is where k is claimed of combinations of quasi-identifiers.
//! 4. With a unit, each released group must have at least k persons, counted in the input. Since groups are released whole,
//!    the input also tells which persons have which sensitive values ([`People`]).
//!
//! With local recoding steps 1 to 4 do not apply: rows are assigned to each other ([`crate::local`]), and nothing says
//! which rows had to be left out, as long as they are within the budget. With boxes it is the same, and intervals and boxes
//! are looked at too ([`crate::boxes`]).
//!
//! Step 1 nearly always leaves one level per column. Where a hierarchy repeats labels it may leave several. Then the levels that
//! somebody claims are compared first, like any others, and after them those that [`crate::levels`] finds, until all of
//! steps 2 to 4 hold. Any combination may be the one: a release is judged, not how it came about.

mod comparison;

use std::cell::RefCell;
use std::collections::HashMap;

use rayon::prelude::*;

use crate::boxes::{Boxes, BoxesClaim};
use crate::hash;
use crate::histograms::{Grouped, Histograms, Persons};
use crate::keys::{BLOCK, Groups, Keys, Numbers, count};
use crate::levels::{self, Outcome, Tables};
use crate::local::{self, Unassigned};
use crate::words::counted;
use crate::{
    ClaimKind, Claims, Counted, Finding, Labels, Places, Report, SensitiveClaim, renumber, sensitive,
};
use comparison::{Comparison, Judged, Mismatch};

/// Combinations of levels that are compared to tell how a release differs, where none fits.
const MAX_COMPARED: usize = 16;

/// What a release was made from.
pub struct Source<'a> {
    /// The input.
    pub input: &'a dyn Labels,
    /// The hierarchy of each quasi-identifier, in the order of the claims.
    pub hierarchies: Vec<Hierarchy>,
    /// The column that says whom a row is about, where a person may have several. Where it is missing, a row is about nobody: no
    /// person, and no person's value.
    pub unit: Option<String>,
    /// How many rows may be left out.
    pub budget: u64,
    /// How the input was generalized.
    pub recoding: RecodingClaim,
}

/// How a release is said to have been generalized.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecodingClaim {
    /// All values of a column to the same level; groups that are too small are left out as a whole.
    FullDomain,
    /// The same, and the level of each quasi-identifier is said to be this one, in the order of the claims. Nothing is
    /// believed: these levels are compared first, and others if the release is not what they give.
    Levels(Vec<usize>),
    /// Each cell to a level of its own.
    Local,
    /// Each record is in a box, and is released as what the sides of the box are called: intervals of ordered columns,
    /// labels of hierarchies.
    Boxes(BoxesClaim),
}

/// For each value, its label at every level; level 0 is the value itself.
#[derive(Debug, Clone, Default)]
pub struct Hierarchy {
    /// The levels that may be chosen.
    pub levels: Vec<usize>,
    /// The labels of each value, by level.
    pub paths: HashMap<String, Vec<String>>,
}

/// What the comparison brought to light.
#[derive(Default)]
pub(crate) struct Compared {
    /// Persons of the group with the fewest, where persons are counted.
    pub(crate) fewest_persons: Option<u64>,
    /// Persons of all groups together: whoever is in two of them counts in both.
    pub(crate) persons_of_groups: Option<u64>,
    /// Who is in which group, if something is claimed of persons and it can be told.
    pub(crate) people: Option<People>,
}

/// Who is in which group.
pub(crate) struct People {
    /// The group of each input row.
    pub(crate) groups: Vec<u32>,
    pub(crate) n_groups: usize,
    /// Which groups were released, all their rows.
    pub(crate) is_released: Vec<bool>,
    /// Whom each input row is about.
    pub(crate) persons: Persons,
}

impl People {
    /// The released rows, by their persons.
    pub(crate) fn released(&self) -> Grouped<'_> {
        Grouped {
            of_row: &self.groups,
            n_groups: self.n_groups,
            kept: Some(&self.is_released),
            persons: Some(&self.persons),
        }
    }
}

pub(crate) fn check(
    release: &dyn Labels,
    claims: &Claims<'_>,
    source: &Source<'_>,
    quasi: &[usize],
    groups: &Groups,
    report: &mut Report,
) -> Compared {
    compare(release, claims, source, quasi, groups, report).unwrap_or_default()
}

fn compare(
    release: &dyn Labels,
    claims: &Claims<'_>,
    source: &Source<'_>,
    quasi: &[usize],
    groups: &Groups,
    report: &mut Report,
) -> Option<Compared> {
    let Origins { of_column: origins, unit } = check_columns(release, source, quasi, &mut report.findings)?;
    match &source.recoding {
        RecodingClaim::FullDomain | RecodingClaim::Levels(_) => {}
        RecodingClaim::Local => {
            let unassigned = local::unassigned(release, source.input, quasi, &source.hierarchies, &origins);
            check_assigned(CELLS_CLAIM, &unassigned, claims, source, &mut report.findings);
            return None;
        }
        RecodingClaim::Boxes(claim) => {
            let names = &claims.quasi_identifiers;
            let boxes = Boxes { release, source, claim, quasi, names, origins: &origins, groups };
            let unassigned = boxes.check(&mut report.findings, &mut report.undecided)?;
            let claim = "every released row can be assigned an input row of its own, inside of its box";
            check_assigned(claim, &unassigned, claims, source, &mut report.findings);
            return None;
        }
    }
    let header = release.header();
    let released = Places::new(&header);
    let with_threshold = claims.sensitive.iter().filter(|claim| claim.has_threshold());
    let refusals: Vec<(usize, &SensitiveClaim)> =
        with_threshold.filter_map(|claim| Some((origins[released.of(&claim.column)?], claim))).collect();
    let comparison = Comparison {
        release,
        source,
        quasi,
        origins: &origins,
        unit,
        groups,
        k: claims.k,
        by_combinations: claims.combinations.is_some(),
        refusals: &refusals,
    };
    let Judged { best, levels, .. } = find_levels(&comparison, claims, report)?;
    check_levels(&comparison, &best, claims, &mut report.findings);
    source.unit.as_ref()?;
    let by_persons = claims.sensitive.iter().any(|claim| claim.counted == Counted::Persons);
    // A release with strange rows or parts of groups does not tell whose rows they are.
    let is_known = best.strange_rows == 0 && best.partial_groups == 0;
    Some(Compared {
        fewest_persons: best.fewest_persons,
        persons_of_groups: best.fewest_persons.map(|_| best.size_of_groups),
        people: if by_persons && is_known { comparison.people(&levels) } else { None },
    })
}

/// A finding about the rows of the input.
fn of_rows(claim: impl Into<String>, found: impl Into<String>, holds: bool) -> Finding {
    Finding { kind: ClaimKind::Rows, claim: claim.into(), found: found.into(), holds }
}

/// Where the input has what the claims are about.
struct Origins {
    /// For each released column.
    of_column: Vec<usize>,
    /// The column that names persons.
    unit: Option<usize>,
}

/// Checks the columns of both tables and how many rows are left out. Nothing else can be checked where columns are not there.
fn check_columns(
    release: &dyn Labels,
    source: &Source<'_>,
    quasi: &[usize],
    findings: &mut Vec<Finding>,
) -> Option<Origins> {
    let (input, input_header) = (source.input, source.input.header());
    let places = Places::new(&input_header);
    let of_column: Option<Vec<usize>> = release.header().iter().map(|name| places.of(name)).collect();
    let Some(of_column) = of_column else {
        findings.push(of_rows("every released column is a column of the input", "one is not", false));
        return None;
    };
    let n_suppressed = input.n_rows().checked_sub(release.n_rows());
    let released = counted(release.n_rows() as u64, "row", "rows");
    findings.push(of_rows(
        format!(
            "at most {} of {} are suppressed",
            source.budget,
            counted(input.n_rows() as u64, "row", "rows")
        ),
        match n_suppressed {
            Some(rows) => format!("{released} released, {rows} suppressed"),
            None => format!("{released} released, more than there are"),
        },
        n_suppressed.is_some_and(|rows| rows as u64 <= source.budget),
    ));
    if source.hierarchies.len() != quasi.len() {
        let found = format!("{} hierarchies", source.hierarchies.len());
        findings.push(of_rows("every quasi-identifier has a hierarchy", found, false));
        return None;
    }
    let unit = source.unit.as_ref().map(|unit| places.of(unit));
    if unit == Some(None) {
        let claim = "the column that names persons is a column of the input";
        findings.push(of_rows(claim, "it is not", false));
        return None;
    }
    Some(Origins { of_column, unit: unit.flatten() })
}

/// The levels at which the release is, and what follows from them; `None` if there are none, or they were not found.
fn find_levels(comparison: &Comparison<'_>, claims: &Claims<'_>, report: &mut Report) -> Option<Judged> {
    let columns = comparison.source.hierarchies.par_iter().zip(comparison.quasi);
    let sizes = comparison.groups.sizes();
    let (possible, collected): (Vec<Vec<usize>>, Vec<hash::Map<&str, u64>>) = columns
        .map(|(hierarchy, &at)| {
            let released = released_counts(comparison.release, at, comparison.groups, &sizes);
            let collected = label_counts(comparison.source.input, comparison.origins[at]);
            (possible_levels(&released, &collected, hierarchy), collected)
        })
        .unzip();
    if let Some(at) = possible.iter().position(Vec::is_empty) {
        let found = format!("column {} has labels that no single level gives", claims.quasi_identifiers[at]);
        report.findings.push(of_rows(ROWS_CLAIM, found, false));
        return None;
    }
    let judged = comparison.judge(&possible, &collected, claims);
    if judged.outcome == Outcome::Exceeded {
        report.undecided.push(of_rows(ROWS_CLAIM, LEVELS_NOT_FOUND, false));
        return None;
    }
    Some(judged)
}

/// What is claimed of rows, groups and persons, at the levels that fit best.
fn check_levels(
    comparison: &Comparison<'_>,
    best: &Mismatch,
    claims: &Claims<'_>,
    findings: &mut Vec<Finding>,
) {
    let found = match best.first_strange_row {
        None => "all are".into(),
        Some(row_idx) => format!("{} are not, the first is row {}", best.strange_rows, row_idx + 1),
    };
    findings.push(of_rows(ROWS_CLAIM, found, best.first_strange_row.is_none()));
    let (claim, found) = comparison.suppression(best);
    findings.push(of_rows(claim, found, best.partial_groups == 0 && best.needless_groups == 0));
    if let Some(unit) = &comparison.source.unit {
        let claim = format!("every group has at least {} ({unit})", counted(claims.k, "person", "persons"));
        let smallest = |persons| format!("the smallest has {persons}");
        let found = best.fewest_persons.map_or("no rows".into(), smallest);
        findings.push(of_rows(claim, found, best.has_persons(claims.k)));
    }
}

/// The claim of step 2.
pub(crate) const ROWS_CLAIM: &str =
    "every released row is an input row, generalized column by column to one level";

/// The claim of a release whose cells are generalized one by one.
pub(crate) const CELLS_CLAIM: &str =
    "every released row can be assigned an input row of its own, generalized cell by cell";

/// What is said where neither a combination of levels nor its absence was found.
pub(crate) const LEVELS_NOT_FOUND: &str = "the levels could not be found within a bounded amount of work, since labels \
     stand on several levels of their hierarchies; the release record tells the levels";

/// Rows that are assigned to each other instead of recoded; see [`crate::local`].
pub(crate) fn check_assigned(
    claim: &str,
    unassigned: &Unassigned,
    claims: &Claims<'_>,
    source: &Source<'_>,
    findings: &mut Vec<Finding>,
) {
    findings.push(Finding {
        kind: ClaimKind::Rows,
        claim: claim.into(),
        found: match unassigned.first_row {
            None => "all can".into(),
            Some(row_idx) => format!("{} cannot, the first is row {}", unassigned.rows, row_idx + 1),
        },
        holds: unassigned.rows == 0,
    });
    if let Some(unit) = &source.unit {
        findings.push(Finding {
            kind: ClaimKind::Rows,
            claim: format!("every group has at least {} ({unit})", counted(claims.k, "person", "persons")),
            found: "persons cannot be recounted for local recoding".into(),
            holds: false,
        });
    }
}

/// Levels whose labels include all released ones, none released more often than it occurs; given how often each label is
/// released and each value occurs.
pub(crate) fn possible_levels(
    released: &hash::Map<&str, u64>,
    values: &hash::Map<&str, u64>,
    hierarchy: &Hierarchy,
) -> Vec<usize> {
    // Looked up once, not for every level.
    let paths: Vec<(&[String], u64)> = values
        .iter()
        .filter_map(|(value, &n)| hierarchy.paths.get(*value).map(|path| (path.as_slice(), n)))
        .collect();
    let is_possible = |level: usize| {
        let mut labels: hash::Map<&str, u64> = hash::Map::default();
        for (path, n) in &paths {
            if let Some(label) = path.get(level) {
                *labels.entry(label).or_insert(0) += n;
            }
        }
        released.iter().all(|(label, n)| labels.get(label).is_some_and(|most| n <= most))
    };
    hierarchy.levels.iter().copied().filter(|&level| is_possible(level)).collect()
}

/// How often each label of a column stands in a row.
fn label_counts(table: &dyn Labels, column_idx: usize) -> hash::Map<&str, u64> {
    let labels = table.labels(column_idx);
    let mut of_code = vec![0_u32; labels.len()];
    let mut codes = vec![0; BLOCK];
    for first in (0..table.n_rows()).step_by(BLOCK) {
        let codes = &mut codes[..BLOCK.min(table.n_rows() - first)];
        table.codes_from(column_idx, first, codes);
        for &mut code in codes {
            of_code[code as usize] += 1;
        }
    }
    by_label(labels, of_code)
}

/// The same for a quasi-identifier of the release: all rows of a group have the label of its first.
fn released_counts<'a>(
    release: &'a dyn Labels,
    column_idx: usize,
    groups: &Groups,
    sizes: &[u32],
) -> hash::Map<&'a str, u64> {
    let labels = release.labels(column_idx);
    let mut of_code = vec![0_u32; labels.len()];
    for (code, &rows) in codes_of(release, column_idx, &groups.first_rows).into_iter().zip(sizes) {
        of_code[code as usize] += rows;
    }
    by_label(labels, of_code)
}

/// How often each label stands in a row, given that of each code; equal labels may have several.
fn by_label(labels: Vec<&str>, of_code: Vec<u32>) -> hash::Map<&str, u64> {
    let mut counts = hash::Map::default();
    for (label, n) in labels.into_iter().zip(of_code).filter(|&(_, n)| n > 0) {
        *counts.entry(label).or_insert(0) += u64::from(n);
    }
    counts
}

/// The codes of some rows of a column, which come in ascending order.
pub(crate) fn codes_of(table: &dyn Labels, column_idx: usize, rows: &[u32]) -> Vec<u32> {
    let mut some = Vec::with_capacity(rows.len());
    let mut codes = vec![0; BLOCK];
    for rows in rows.chunk_by(|a, b| *a as usize / BLOCK == *b as usize / BLOCK) {
        // No chunk is empty.
        let (first, last) = (rows[0], rows[rows.len() - 1]);
        let codes = &mut codes[..=(last - first) as usize];
        table.codes_from(column_idx, first as usize, codes);
        some.extend(rows.iter().map(|row_idx| codes[(row_idx - first) as usize]));
    }
    some
}

/// The first ways to pick one of each.
pub(crate) fn combinations(possible: &[Vec<usize>], most: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for levels in possible {
        all = all
            .into_iter()
            .flat_map(|picked: Vec<usize>| {
                levels.iter().map(move |&level| [picked.as_slice(), &[level]].concat())
            })
            .take(most)
            .collect();
    }
    all
}

/// What a value is recoded to at a level.
pub(crate) fn recoded<'a>(hierarchy: &'a Hierarchy, value: &'a str, level: usize) -> &'a str {
    hierarchy.paths.get(value).and_then(|path| path.get(level)).map_or(value, String::as_str)
}

#[cfg(test)]
mod tests;
