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
    let Report { findings, undecided, .. } = report;
    let input = source.input;
    let input_header = input.header();
    let header = release.header();
    // Where each released column stands in the input.
    let places = Places::new(&input_header);
    let origins: Option<Vec<usize>> = header.iter().map(|name| places.of(name)).collect();
    let Some(origins) = origins else {
        findings.push(Finding {
            kind: ClaimKind::Rows,
            claim: "every released column is a column of the input".into(),
            found: "one is not".into(),
            holds: false,
        });
        return None;
    };
    let n_suppressed = input.n_rows().checked_sub(release.n_rows());
    findings.push(Finding {
        kind: ClaimKind::Rows,
        claim: format!(
            "at most {} of {} are suppressed",
            source.budget,
            counted(input.n_rows() as u64, "row", "rows")
        ),
        found: match n_suppressed {
            Some(rows) => {
                format!("{} released, {rows} suppressed", counted(release.n_rows() as u64, "row", "rows"))
            }
            None => {
                format!("{} released, more than there are", counted(release.n_rows() as u64, "row", "rows"))
            }
        },
        holds: n_suppressed.is_some_and(|rows| rows as u64 <= source.budget),
    });
    if source.hierarchies.len() != quasi.len() {
        findings.push(Finding {
            kind: ClaimKind::Rows,
            claim: "every quasi-identifier has a hierarchy".into(),
            found: format!("{} hierarchies", source.hierarchies.len()),
            holds: false,
        });
        return None;
    }
    let unit = source.unit.as_ref().map(|unit| places.of(unit));
    if unit == Some(None) {
        findings.push(Finding {
            kind: ClaimKind::Rows,
            claim: "the column that names persons is a column of the input".into(),
            found: "it is not".into(),
            holds: false,
        });
        return None;
    }
    match &source.recoding {
        RecodingClaim::FullDomain | RecodingClaim::Levels(_) => {}
        RecodingClaim::Local => {
            let claim =
                "every released row can be assigned an input row of its own, generalized cell by cell";
            let unassigned = local::unassigned(release, input, quasi, &source.hierarchies, &origins);
            check_assigned(claim, &unassigned, claims, source, findings);
            return None;
        }
        RecodingClaim::Boxes(claim) => {
            let names = &claims.quasi_identifiers;
            let boxes = Boxes { release, source, claim, quasi, names, origins: &origins, groups };
            let unassigned = boxes.check(findings, undecided)?;
            let claim = "every released row can be assigned an input row of its own, inside of its box";
            check_assigned(claim, &unassigned, claims, source, findings);
            return None;
        }
    }
    let with_threshold = claims.sensitive.iter().filter(|claim| claim.has_threshold());
    let released = Places::new(&header);
    let refusals: Vec<(usize, &SensitiveClaim)> =
        with_threshold.filter_map(|claim| Some((origins[released.of(&claim.column)?], claim))).collect();
    let comparison = Comparison {
        release,
        source,
        quasi,
        origins: &origins,
        unit: unit.flatten(),
        groups,
        k: claims.k,
        by_combinations: claims.combinations.is_some(),
        refusals: &refusals,
    };
    let claim = ROWS_CLAIM;
    let columns = source.hierarchies.par_iter().zip(quasi);
    let sizes = groups.sizes();
    let (possible, collected): (Vec<Vec<usize>>, Vec<hash::Map<&str, u64>>) = columns
        .map(|(hierarchy, &at)| {
            let released = released_counts(release, at, groups, &sizes);
            let collected = label_counts(input, origins[at]);
            (possible_levels(&released, &collected, hierarchy), collected)
        })
        .unzip();
    if let Some(at) = possible.iter().position(Vec::is_empty) {
        findings.push(Finding {
            kind: ClaimKind::Rows,
            claim: claim.into(),
            found: format!("column {} has labels that no single level gives", claims.quasi_identifiers[at]),
            holds: false,
        });
        return None;
    }
    let Judged { best, levels, outcome } = comparison.judge(&possible, &collected, claims);
    if outcome == Outcome::Exceeded {
        undecided.push(Finding {
            kind: ClaimKind::Rows,
            claim: claim.into(),
            found: LEVELS_NOT_FOUND.into(),
            holds: false,
        });
        return None;
    }
    findings.push(Finding {
        kind: ClaimKind::Rows,
        claim: claim.into(),
        found: match best.first_strange_row {
            None => "all are".into(),
            Some(row_idx) => format!("{} are not, the first is row {}", best.strange_rows, row_idx + 1),
        },
        holds: best.first_strange_row.is_none(),
    });
    let (claim, found) = comparison.suppression(&best);
    findings.push(Finding {
        kind: ClaimKind::Rows,
        claim: claim.into(),
        found,
        holds: best.partial_groups == 0 && best.needless_groups == 0,
    });
    let Some(unit) = &source.unit else {
        return None;
    };
    findings.push(Finding {
        kind: ClaimKind::Rows,
        claim: format!("every group has at least {} ({unit})", counted(claims.k, "person", "persons")),
        found: best.fewest_persons.map_or("no rows".into(), |persons| format!("the smallest has {persons}")),
        holds: best.has_persons(claims.k),
    });
    let by_persons = claims.sensitive.iter().any(|claim| claim.counted == Counted::Persons);
    // A release with strange rows or parts of groups does not tell whose rows they are.
    let is_known = best.strange_rows == 0 && best.partial_groups == 0;
    Some(Compared {
        fewest_persons: best.fewest_persons,
        persons_of_groups: best.fewest_persons.map(|_| best.size_of_groups),
        people: if by_persons && is_known { comparison.people(&levels) } else { None },
    })
}

/// The claim of step 2.
pub(crate) const ROWS_CLAIM: &str =
    "every released row is an input row, generalized column by column to one level";

/// What is said where neither a combination of levels nor its absence was found.
pub(crate) const LEVELS_NOT_FOUND: &str = "the levels could not be found within a bounded amount of work, since labels \
     stand on several levels of their hierarchies; the release record tells the levels";

/// Rows that are assigned to each other instead of recoded; see [`crate::local`].
fn check_assigned(
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

/// What came of comparing a release with its input, recoded.
struct Judged {
    best: Mismatch,
    levels: Vec<usize>,
    outcome: Outcome,
}

/// How a release differs from the input recoded at some levels.
#[derive(Default)]
struct Mismatch {
    strange_rows: u64,
    first_strange_row: Option<usize>,
    partial_groups: u64,
    needless_groups: u64,
    fewest_persons: Option<u64>,
    /// The sizes of all released groups, added up.
    size_of_groups: u64,
}

impl Mismatch {
    fn severity(&self) -> u64 {
        self.strange_rows + self.partial_groups + self.needless_groups
    }

    /// Has every group enough persons, where they are counted?
    fn has_persons(&self, k: u64) -> bool {
        self.fewest_persons.is_none_or(|persons| persons >= k)
    }
}

/// The release beside its input.
struct Comparison<'a> {
    release: &'a dyn Labels,
    source: &'a Source<'a>,
    /// The quasi-identifiers among the released columns.
    quasi: &'a [usize],
    /// Where each released column stands in the input.
    origins: &'a [usize],
    /// The column of the input that says whom a row is about.
    unit: Option<usize>,
    /// The released rows by their quasi-identifiers.
    groups: &'a Groups,
    k: u64,
    /// Is k claimed of combinations of quasi-identifiers? Then the size of a group does not tell whether it had to go.
    by_combinations: bool,
    /// Claims for which groups may have been left out, and where their columns stand in the input.
    refusals: &'a [(usize, &'a SensitiveClaim)],
}

/// Input rows and released groups by the labels of the quasi-identifiers.
struct Recoded {
    /// All groups are below.
    n_groups: usize,
    /// The number of each released group.
    of_group: Vec<u32>,
    of_input_row: Vec<u32>,
    /// The released rows of each group.
    released: Vec<u32>,
}

/// A quasi-identifier, its labels numbered.
struct Numbered {
    /// The number of each released group's label.
    representatives: Vec<u32>,
    /// The number of the label that an input row's code is recoded to.
    of_collected: Vec<u32>,
}

impl Comparison<'_> {
    /// Compares at the levels that are claimed, then at those that fit, until everything holds. `collected` is how often each
    /// value of a quasi-identifier occurs. Where nothing holds, what comes closest is told.
    fn judge(
        &self,
        possible: &[Vec<usize>],
        collected: &[hash::Map<&str, u64>],
        claims: &Claims<'_>,
    ) -> Judged {
        let closest: RefCell<Option<(u64, Mismatch, Vec<usize>)>> = RefCell::default();
        let compare = |levels: &[usize], is_only: bool| {
            let mismatch = self.at(levels);
            let mut severity = mismatch.severity() + u64::from(!mismatch.has_persons(self.k));
            if severity == 0 && !is_only {
                severity += u64::from(!self.persons_hold(levels, claims));
            }
            let mut closest = closest.borrow_mut();
            if closest.as_ref().is_none_or(|(least, ..)| severity < *least) {
                *closest = Some((severity, mismatch, levels.to_vec()));
            }
            severity == 0
        };
        let is_possible = |levels: &Vec<usize>| {
            levels.len() == possible.len()
                && levels.iter().zip(possible).all(|(level, possible)| possible.contains(level))
        };
        let first: Vec<usize> = possible.iter().map(|levels| levels[0]).collect();
        let outcome = if possible.iter().all(|levels| levels.len() == 1) {
            compare(&first, true);
            Outcome::None
        } else if let RecodingClaim::Levels(levels) = &self.source.recoding
            && is_possible(levels)
            && compare(levels, false)
        {
            Outcome::Accepted
        } else {
            self.search(possible, collected, |levels| compare(levels, false))
        };
        if outcome == Outcome::None && closest.borrow().is_none() {
            for levels in combinations(possible, MAX_COMPARED) {
                compare(&levels, true);
            }
        }
        let (_, best, levels) = closest.into_inner().unwrap_or((0, Mismatch::default(), first));
        Judged { best, levels, outcome }
    }

    /// Looks for levels that `accepts` accepts.
    fn search(
        &self,
        possible: &[Vec<usize>],
        collected: &[hash::Map<&str, u64>],
        accepts: impl FnMut(&[usize]) -> bool,
    ) -> Outcome {
        let Comparison { release, source, quasi, origins, .. } = *self;
        let columns: Vec<levels::LevelColumn> = (0..quasi.len())
            .map(|column| {
                let (at, hierarchy) = (quasi[column], &source.hierarchies[column]);
                levels::LevelColumn::new(
                    &possible[column],
                    &release.labels(at),
                    &source.input.labels(origins[at]),
                    |value| collected[column].contains_key(value),
                    |value, level| recoded(hierarchy, value, level),
                )
            })
            .collect();
        let n_rows = (release.n_rows() + source.input.n_rows()) as u64;
        let cost = n_rows.saturating_mul(origins.len() as u64);
        // Groups that were left out are judged by their size alone, unless somebody else has a say.
        let by_size = self.unit.is_none() && self.refusals.is_empty() && !self.by_combinations;
        let most_left_out = self.k.checked_sub(1).filter(|_| by_size);
        let tables = Tables { release, input: source.input, quasi, origins };
        levels::search(tables, &columns, most_left_out, levels::MAX_WORK, cost, accepts)
    }

    /// Does everything hold that is claimed of persons with sensitive values, at these levels?
    fn persons_hold(&self, levels: &[usize], claims: &Claims<'_>) -> bool {
        let is_meant = |claim: &&SensitiveClaim| claim.counted == Counted::Persons && claim.has_threshold();
        let mut meant = claims.sensitive.iter().filter(is_meant).peekable();
        if meant.peek().is_none() {
            return true;
        }
        let Some(people) = self.people(levels) else {
            return false;
        };
        let header = self.source.input.header();
        meant.all(|claim| {
            header.iter().position(|name| *name == claim.column).is_some_and(|at| {
                let column = self.source.input.column(at);
                let mut found = Vec::new();
                sensitive::check(&Histograms::new(&column, &people.released()), &[claim], &mut found);
                found.iter().all(|finding| finding.holds)
            })
        })
    }

    fn recoded(&self, levels: &[usize]) -> Recoded {
        let input = self.source.input;
        let with_levels = self.quasi.par_iter().zip(&self.source.hierarchies).zip(levels);
        let (numbered, radices): (Vec<Numbered>, Vec<usize>) = with_levels
            .map(|((&at, hierarchy), &level)| {
                let (released, collected) = (self.release.labels(at), input.labels(self.origins[at]));
                let recoded = collected.iter().map(|&value| recoded(hierarchy, value, level));
                let mut numbers = Numbers::default();
                let of_released = numbers.all(released.iter().copied());
                let of_collected = numbers.all(recoded);
                let mut representatives = codes_of(self.release, at, &self.groups.first_rows);
                renumber(&mut representatives, &of_released);
                (Numbered { representatives, of_collected }, numbers.len())
            })
            .unzip();
        // One representative of each released group, then all input rows, recoded.
        let n_first = self.groups.len();
        let mut keys = Keys::new(n_first + input.n_rows());
        keys.fold_rows(&radices, |column, first, to| {
            let Numbered { representatives, of_collected } = &numbered[column];
            let of_groups = &representatives[first.min(n_first)..(first + to.len()).min(n_first)];
            let (to_groups, to_rows) = to.split_at_mut(of_groups.len());
            to_groups.copy_from_slice(of_groups);
            input.codes_from(
                self.origins[self.quasi[column]],
                (first + of_groups.len()).saturating_sub(n_first),
                to_rows,
            );
            renumber(to_rows, of_collected);
        });
        let both = keys.into_groups();
        let n_groups = both.len();
        let mut of_group = both.of_row;
        let of_input_row = of_group.split_off(self.groups.len());
        let mut released = vec![0_u32; n_groups];
        for (&group, rows) in of_group.iter().zip(self.groups.sizes()) {
            released[group as usize] = rows;
        }
        Recoded { n_groups, of_group, of_input_row, released }
    }

    /// Who is in which group, at these levels.
    fn people(&self, levels: &[usize]) -> Option<People> {
        let persons = Persons::of_column(&self.source.input.column(self.unit?));
        let Recoded { n_groups, of_input_row, released, .. } = self.recoded(levels);
        Some(People {
            groups: of_input_row,
            n_groups,
            is_released: released.iter().map(|&rows| rows > 0).collect(),
            persons,
        })
    }

    /// Is a suppressed group enough to tell whether it had to be? Not if others matter, or persons who are not known.
    fn judges_groups(&self) -> bool {
        let is_judged = |claim: &SensitiveClaim| {
            !claim.compares_with_release() && (claim.counted == Counted::Rows || self.unit.is_some())
        };
        !self.by_combinations && self.refusals.iter().all(|(_, claim)| is_judged(claim))
    }

    /// What is claimed of suppressed rows, and what was found.
    fn suppression(&self, mismatch: &Mismatch) -> (&'static str, String) {
        let Mismatch { partial_groups, needless_groups, .. } = mismatch;
        if !self.judges_groups() {
            let found = format!("{} released in part", counted(*partial_groups, "group is", "groups are"));
            return ("suppressed rows are whole groups", found);
        }
        if self.refusals.is_empty() {
            let found = format!(
                "{} released in part, {} large enough",
                counted(*partial_groups, "group is", "groups are"),
                counted(*needless_groups, "was", "were")
            );
            return ("suppressed rows are whole groups, each too small to be published", found);
        }
        let found = format!(
            "{} released in part, {needless_groups} might have been published",
            counted(*partial_groups, "group is", "groups are")
        );
        ("suppressed rows are whole groups, each too small or refused by a claim", found)
    }

    /// How many of some groups, which are large enough, need not have been left out.
    fn needless(&self, recoded: &Recoded, mut is_open: Vec<bool>) -> u64 {
        let is_any = |is_open: &[bool]| is_open.iter().any(|&is_open| is_open);
        if !is_any(&is_open) || !self.judges_groups() {
            return 0;
        }
        let persons = self.unit.map(|unit| Persons::of_column(&self.source.input.column(unit)));
        for (at, claim) in self.refusals {
            if !is_any(&is_open) {
                break;
            }
            let column = self.source.input.column(*at);
            let histograms = Histograms::new(
                &column,
                &Grouped {
                    of_row: &recoded.of_input_row,
                    n_groups: recoded.n_groups,
                    kept: Some(&is_open),
                    persons: persons.as_ref().filter(|_| claim.counted != Counted::Rows),
                },
            );
            let mut refused = Vec::new();
            histograms.each_group(|group| {
                if claim.explains_suppression(group, &histograms.labels) {
                    refused.push(group.group_idx);
                }
            });
            for group_idx in refused {
                is_open[group_idx] = false;
            }
        }
        is_open.iter().filter(|&&is_open| is_open).count() as u64
    }

    fn at(&self, levels: &[usize]) -> Mismatch {
        let input = self.source.input;
        let mut mismatch = Mismatch::default();
        let recoded = self.recoded(levels);
        let Recoded { n_groups, of_group, of_input_row, released } = &recoded;
        let n_groups = *n_groups;
        let collected = count(of_input_row, n_groups);

        let others: Vec<usize> = (0..self.origins.len()).filter(|at| !self.quasi.contains(at)).collect();
        let of_released_row = self.groups.of_row.iter().map(|&group| of_group[group as usize]);
        if others.is_empty() {
            let mut left = collected.clone();
            mismatch.use_up(&mut left, of_released_row);
        } else {
            let numbers = of_released_row.chain(of_input_row.iter().copied());
            let mut keys = Keys::from_numbers(numbers, n_groups);
            for at in others {
                let (released, collected) = (self.release.column(at), input.column(self.origins[at]));
                let mut numbers = Numbers::default();
                let of_released = numbers.all(released.labels.iter().copied());
                let of_collected = numbers.all(collected.labels.iter().copied());
                keys.fold(
                    &[(&released.codes, &of_released), (&collected.codes, &of_collected)],
                    numbers.len(),
                );
            }
            let rows = keys.into_groups();
            let (of_released_row, of_input_row) = rows.of_row.split_at(self.release.n_rows());
            let mut left = count(of_input_row, rows.len());
            mismatch.use_up(&mut left, of_released_row.iter().copied());
        }

        let persons =
            self.unit.map(|unit| Persons::of_column(&input.column(unit)).of_groups(of_input_row, n_groups));
        let mut is_large_enough = vec![false; n_groups];
        for (group, (&rows, &released)) in collected.iter().zip(released).enumerate() {
            // A group that the input does not have: its rows are strange, and counted as such.
            if rows == 0 {
                continue;
            }
            let size = u64::from(persons.as_ref().map_or(rows, |persons| persons[group]));
            if released == 0 {
                is_large_enough[group] = size >= self.k;
                continue;
            }
            mismatch.partial_groups += u64::from(released != rows);
            mismatch.size_of_groups += size;
            mismatch.fewest_persons = Some(mismatch.fewest_persons.map_or(size, |least| least.min(size)));
        }
        mismatch.needless_groups = self.needless(&recoded, is_large_enough);
        mismatch
    }
}

impl Mismatch {
    /// Takes a row from what is left for each released one.
    fn use_up(&mut self, left: &mut [u32], released: impl Iterator<Item = u32>) {
        for (row_idx, row) in released.enumerate() {
            match &mut left[row as usize] {
                0 => {
                    self.strange_rows += 1;
                    self.first_strange_row.get_or_insert(row_idx);
                }
                n => *n -= 1,
            }
        }
    }
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
        let local =
            |release: &str, budget: u64, unit: Option<&str>| local_at(&[0, 1, 2], release, budget, unit);
        let holds =
            |findings: &[Finding]| -> Vec<bool> { findings.iter().map(|found| found.holds).collect() };
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
}
