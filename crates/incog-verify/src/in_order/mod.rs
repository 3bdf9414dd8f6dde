//! Is a release what it claims to be, where it is too large for the memory?
//!
//! For releases in the order of their input, as they are before somebody shuffles them: full-domain ones, by the steps below, and those whose cells are
//! generalized one by one ([`local`]). That order makes it possible to compare row by row, some at a time: nothing is kept but the groups.
//!
//! 1. Levels that somebody claims are compared first. Otherwise the labels of a quasi-identifier mostly tell at which level it is.
//!    Where they do not, or not rightly, how often each of them stands there tells at which it can be, as in
//!    [`crate::against_input`]; combinations of these are compared, up to [`MAX_COMBINATIONS`], until everything holds.
//! 2. The released rows are grouped by their labels: the sizes tell whether k is reached.
//! 3. Input and release are read side by side. An input row, recoded, is equal to the next released row in all columns, or it was left
//!    out: then it must be in no released group, and is counted with its like.
//! 4. Groups that were left out must be too small, or refused by a claim; all their rows are together within the budget.
//!
//! Stricter than what is asked of releases in memory, which may come in any order. Every group is released whole or not at all
//! by step 3. Claims on sensitive columns are checked as elsewhere, from the released rows; persons cannot be counted.
//!
//! Cost: one look at the input and two at the release, and one more at both where labels do not tell their level. Memory: some 30
//! bytes a group, and 4 bytes a row while a sensitive column is looked at. Rows are shared out among threads; what is found does
//! not depend on how many there are.

mod index;
mod keys;
mod local;
#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use rayon::prelude::*;

use crate::against_input::{
    LEVELS_NOT_FOUND, ROWS_CLAIM, Source, combinations, possible_levels, recoded as recoded_at,
};
use crate::hash;
use crate::histograms::Histograms;
use crate::keys::Numbers;
use crate::levels::LevelColumn;
use crate::words::counted;
use crate::{
    ClaimKind, Claims, Counted, Finding, Hierarchy, LabelColumn, Labels, Places, RecodingClaim,
    ReleasedTable, Report, SensitiveClaim, Verified, columns_of, sensitive,
};
use index::{Index, NONE};
use keys::Folder;
/// Rows that are looked at at a time; so few in tests that small tables come in parts.
const ROWS: usize = if cfg!(test) { 14 } else { 1 << 18 };
/// Combinations of levels that are compared, each with a look at all rows.
const MAX_COMBINATIONS: usize = 256;
/// Rows that a thread looks at at a time.
const BLOCK: usize = if cfg!(test) { 5 } else { 1 << 15 };

/// Checks every claim. The report comes back in either case.
pub fn verify_in_order<R: Labels>(release: R, claims: &Claims<'_>) -> Result<Verified<R>, Box<Report>> {
    let report = check_in_order(&release, claims);
    Verified::of(vec![ReleasedTable::new(release)], report)
}

/// Checks every claim of a table that nobody is going to write.
pub fn check_in_order(release: &dyn Labels, claims: &Claims<'_>) -> Report {
    let mut report = Report::default();
    if let Err(found) = claims.source.as_ref().ok_or("there is no input").and_then(can_be_compared) {
        let claim = "the release can be compared with its input row by row".to_owned();
        report.findings.push(Finding { kind: ClaimKind::Rows, claim, found: found.to_owned(), holds: false });
        return report;
    }
    let Some(columns) = columns_of(release, claims, &mut report) else {
        return report;
    };
    let Some(source) = claims.source.as_ref().filter(|_| columns.are_declared) else {
        return report;
    };
    let header = release.header();
    let input_header = source.input.header();
    let places = Places::new(&input_header);
    let origins = header.iter().map(|name| places.of(name));
    let (Some(origins), true) =
        (origins.collect::<Option<Vec<usize>>>(), source.hierarchies.len() == columns.quasi.len())
    else {
        report.findings.push(Finding {
            kind: ClaimKind::Rows,
            claim:
                "every released column is a column of the input, and every quasi-identifier has a hierarchy"
                    .into(),
            found: "one is not, or has none".into(),
            holds: false,
        });
        return report;
    };
    Comparison { release, claims, source, quasi: &columns.quasi, origins: &origins }.check(&mut report);
    report
}

/// What takes all rows at once cannot be checked here.
fn can_be_compared(source: &Source<'_>) -> Result<(), &'static str> {
    if matches!(source.recoding, RecodingClaim::Boxes(_)) {
        return Err("rows in boxes are compared in memory");
    }
    if source.unit.is_some() {
        return Err("persons cannot be counted row by row");
    }
    Ok(())
}

/// The release beside its input.
struct Comparison<'a> {
    release: &'a dyn Labels,
    claims: &'a Claims<'a>,
    source: &'a Source<'a>,
    /// The quasi-identifiers among the released columns.
    quasi: &'a [usize],
    /// Where each released column stands in the input.
    origins: &'a [usize],
}

/// What was found at some levels.
struct Compared {
    /// The first released row that is not the input row that should come there.
    first_strange_row: Option<usize>,
    /// Groups that were left out, and how many rows they had.
    left_out: Index,
    /// Numbers of the rows' labels.
    folder: Folder,
    /// The released groups.
    released: Index,
}

/// The same, with what follows for the groups that were left out.
struct Judged {
    compared: Compared,
    left_out: Finding,
    /// Were all combinations of levels compared that there could be, as far as needed?
    is_decided: bool,
}

impl Judged {
    fn rows_fit(&self) -> bool {
        self.compared.first_strange_row.is_none()
    }
}

impl Comparison<'_> {
    fn check(&self, report: &mut Report) {
        if self.source.recoding == RecodingClaim::Local {
            self.check_cells(report);
            return;
        }
        let mut closest = None;
        let candidates = [self.claimed_levels(), self.told_levels()];
        let mut accepted =
            candidates.into_iter().flatten().find_map(|levels| self.judge(&levels, &mut closest));
        if accepted.is_none() {
            match self.at_possible_levels(&mut closest) {
                Ok(judged) => accepted = judged,
                Err(finding) => {
                    report.findings.push(finding);
                    return;
                }
            }
        }
        let Some(Judged { compared, left_out, is_decided }) = accepted.or(closest) else {
            return;
        };
        report.add_sizes(self.claims, compared.released.sizes());
        self.combinations(report);
        self.sensitive(&compared, report);
        self.budget(report);
        if !is_decided {
            let (claim, found) = (ROWS_CLAIM.into(), LEVELS_NOT_FOUND.into());
            report.undecided.push(Finding { kind: ClaimKind::Rows, claim, found, holds: false });
            return;
        }
        report.findings.push(Finding {
            kind: ClaimKind::Rows,
            claim: ROWS_CLAIM.into(),
            found: match compared.first_strange_row {
                None => "all are".into(),
                Some(row) => format!("row {} is not the one that comes next in the input", row + 1),
            },
            holds: compared.first_strange_row.is_none(),
        });
        report.findings.push(left_out);
    }

    /// Compares at some levels. What does not hold in everything is kept if it comes closer than what was kept before.
    fn judge(&self, levels: &[usize], closest: &mut Option<Judged>) -> Option<Judged> {
        let compared = self.at(levels);
        if compared.first_strange_row.is_some() && closest.is_some() {
            return None;
        }
        let judged = Judged { left_out: self.left_out(&compared), compared, is_decided: true };
        if judged.rows_fit() && judged.left_out.holds {
            return Some(judged);
        }
        if closest.as_ref().is_none_or(|closest| judged.rows_fit() && !closest.rows_fit()) {
            *closest = Some(judged);
        }
        None
    }

    /// The levels that somebody claims, if there are such and every value of the input has a label there.
    fn claimed_levels(&self) -> Option<Vec<usize>> {
        let RecodingClaim::Levels(levels) = &self.source.recoding else {
            return None;
        };
        let mut columns = self.quasi.iter().zip(&self.source.hierarchies).zip(levels);
        let is_possible = levels.len() == self.quasi.len()
            && columns.all(|((&at, hierarchy), level)| {
                hierarchy.levels.contains(level) && self.is_known(at, hierarchy, *level)
            });
        is_possible.then(|| levels.clone())
    }

    /// Has every value of the input a label at this level?
    fn is_known(&self, at: usize, hierarchy: &Hierarchy, level: usize) -> bool {
        let values = self.source.input.labels(self.origins[at]);
        values.iter().all(|&value| hierarchy.paths.get(value).is_some_and(|path| level < path.len()))
    }

    /// The level of each quasi-identifier that has the most labels of the release. `None` where two have as many, or where the level
    /// of a value of the input is not known. It is a guess, and worth one comparison.
    fn told_levels(&self) -> Option<Vec<usize>> {
        let level_of = |(&at, hierarchy): (&usize, &Hierarchy)| {
            let released = self.release.labels(at);
            let n_shared = |level: usize| {
                let labels: hash::Set<&str> =
                    hierarchy.paths.values().filter_map(|path| path.get(level)).map(String::as_str).collect();
                released.iter().filter(|&label| labels.contains(label)).count()
            };
            let shared: Vec<(usize, usize)> =
                hierarchy.levels.iter().map(|&level| (n_shared(level), level)).collect();
            let &(most, level) = shared.iter().max()?;
            let is_told = shared.iter().filter(|&&(n, _)| n == most).count() == 1;
            (is_told && self.is_known(at, hierarchy, level)).then_some(level)
        };
        self.quasi.iter().zip(&self.source.hierarchies).map(level_of).collect()
    }

    /// Compares at each combination of levels that there could be, until everything holds. An error if there can be none.
    fn at_possible_levels(&self, closest: &mut Option<Judged>) -> Result<Option<Judged>, Finding> {
        let (input, release) = (self.source.input, self.release);
        let quasi_inputs: Vec<usize> = self.quasi.iter().map(|&at| self.origins[at]).collect();
        let of_release = counts(release, self.quasi);
        let of_input = counts(input, &quasi_inputs);
        let mut possible: Vec<Vec<usize>> = Vec::with_capacity(self.quasi.len());
        for (column, (&at, hierarchy)) in self.quasi.iter().zip(&self.source.hierarchies).enumerate() {
            let levels = possible_levels(&of_release[column], &of_input[column], hierarchy);
            if levels.is_empty() {
                let name = &self.claims.quasi_identifiers[column];
                return Err(Finding {
                    kind: ClaimKind::Rows,
                    claim: ROWS_CLAIM.into(),
                    found: format!("column {name} has labels that no single level gives"),
                    holds: false,
                });
            }
            let distinct = LevelColumn::new(
                &levels,
                &release.labels(at),
                &input.labels(self.origins[at]),
                |value| of_input[column].contains_key(value),
                |value, level| recoded_at(hierarchy, value, level),
            );
            possible.push(distinct.levels().to_vec());
        }
        for levels in combinations(&possible, MAX_COMBINATIONS) {
            if let Some(judged) = self.judge(&levels, closest) {
                return Ok(Some(judged));
            }
        }
        let n_combinations = possible.iter().try_fold(1_usize, |n, levels| n.checked_mul(levels.len()));
        if let Some(closest) = closest {
            closest.is_decided = n_combinations.is_some_and(|n| n <= MAX_COMBINATIONS);
        }
        Ok(None)
    }

    fn budget(&self, report: &mut Report) {
        let (n_input, n_released) = (self.source.input.n_rows(), self.release.n_rows());
        let n_suppressed = n_input.checked_sub(n_released);
        report.findings.push(Finding {
            kind: ClaimKind::Rows,
            claim: format!(
                "at most {} of {} are suppressed",
                self.source.budget,
                counted(n_input as u64, "row", "rows")
            ),
            found: match n_suppressed {
                Some(rows) => {
                    format!("{} released, {rows} suppressed", counted(n_released as u64, "row", "rows"))
                }
                None => {
                    format!("{} released, more than there are", counted(n_released as u64, "row", "rows"))
                }
            },
            holds: n_suppressed.is_some_and(|rows| rows as u64 <= self.source.budget),
        });
    }

    /// Groups the release and compares it with the input, recoded at these levels.
    fn at(&self, levels: &[usize]) -> Compared {
        let (input, release) = (self.source.input, self.release);
        let mut folder = Folder::default();
        let columns = self.quasi.iter().zip(&self.source.hierarchies).zip(levels);
        for ((&at, hierarchy), &level) in columns {
            let (released, collected) = (release.labels(at), input.labels(self.origins[at]));
            let recoded = collected.iter().map(|&value| recoded_at(hierarchy, value, level));
            let mut numbers = Numbers::default();
            let of_released = numbers.all(released.iter().copied());
            let of_collected = numbers.all(recoded);
            folder.add([(at, of_released), (self.origins[at], of_collected)], numbers.len());
        }
        let mut released = Index::default();
        for first in (0..release.n_rows()).step_by(ROWS) {
            let keys = folder.keys(release, 0, first..release.n_rows().min(first + ROWS));
            released.add(&keys);
        }

        let others: Vec<Other> = self.others();
        let mut left_out = Index::default();
        let mut first_strange_row = None;
        let mut next = 0;
        for first in (0..input.n_rows()).step_by(ROWS) {
            let rows = first..input.n_rows().min(first + ROWS);
            let keys = folder.keys(input, 1, rows.clone());
            if first_strange_row.is_some() {
                // What was left out can still be told.
                left_out.add(&without_group(&keys, &released.find(&keys)));
                continue;
            }
            let found = folder.keys(release, 0, next..release.n_rows().min(next + keys.len()));
            let Aligned { with, without, before } = align(&keys, &found);
            let groups = released.find(&without);
            // A row that is not there has a group that is.
            let missing = groups.iter().position(|&group| group != NONE).map(|at| before[at] as usize);
            left_out.add(&without_group(&without, &groups));
            let last = next + with.len();
            let in_others =
                others.par_iter().map(|other| other.first_difference(self, &with, rows.start, next..last));
            first_strange_row =
                in_others.chain(rayon::iter::once(missing)).flatten().min().map(|at| next + at);
            next = last;
        }
        if first_strange_row.is_none() && next < release.n_rows() {
            first_strange_row = Some(next);
        }
        Compared { first_strange_row, left_out, folder, released }
    }

    /// The columns that are released as they were collected, all but the quasi-identifiers.
    fn others(&self) -> Vec<Other> {
        let is_other = |at: &usize| !self.quasi.contains(at);
        let other = |at: usize| {
            let (released, collected) = (self.release.labels(at), self.source.input.labels(self.origins[at]));
            let mut numbers = Numbers::default();
            Other {
                at,
                of_released: numbers.all(released.iter().copied()),
                of_collected: numbers.all(collected.iter().copied()),
            }
        };
        (0..self.origins.len()).filter(is_other).map(other).collect()
    }

    /// The claim on combinations of quasi-identifiers, with a look at the release for each set of them.
    fn combinations(&self, report: &mut Report) {
        crate::combinations::check(self.claims, report, |set, smallest| {
            let mut folder = Folder::default();
            for &column in set {
                let at = self.quasi[column];
                let mut numbers = Numbers::default();
                let of_released = numbers.all(self.release.labels(at));
                folder.add([(at, of_released), (at, Vec::new())], numbers.len());
            }
            let mut groups = Index::default();
            for first in (0..self.release.n_rows()).step_by(ROWS) {
                groups.add(&folder.keys(self.release, 0, first..self.release.n_rows().min(first + ROWS)));
            }
            smallest.add(set, groups.sizes().map(u64::from));
        });
    }

    /// Claims on sensitive columns.
    fn sensitive(&self, compared: &Compared, report: &mut Report) {
        let places = Places::new(&self.release.header());
        let mut of_columns: hash::Map<&str, Vec<&SensitiveClaim>> = hash::Map::default();
        for claim in &self.claims.sensitive {
            of_columns.entry(&claim.column).or_default().push(claim);
        }
        for claim in &self.claims.sensitive {
            let Some(at) = places.of(&claim.column) else {
                report.findings.push(Finding {
                    kind: ClaimKind::Rows,
                    claim: format!("the sensitive column {} is released", claim.column),
                    found: "it is not there".into(),
                    holds: false,
                });
                continue;
            };
            // All of a column at once, where the first stands.
            let Some(all) = of_columns.remove(claim.column.as_str()) else {
                continue;
            };
            if all.iter().any(|claim| claim.counted != Counted::Rows) {
                report.findings.push(Finding {
                    kind: ClaimKind::Rows,
                    claim: format!("what is claimed of {} by persons", claim.column),
                    found: "persons cannot be counted row by row".into(),
                    holds: false,
                });
                continue;
            }
            let labels = self.release.labels(at);
            let starts = compared.released.starts();
            let sizes: Vec<u32> = compared.released.sizes().collect();
            let histograms = Histograms::of_sizes(&labels, &sizes, |put| {
                let mut codes = Vec::new();
                for first in (0..self.release.n_rows()).step_by(ROWS) {
                    let rows = first..self.release.n_rows().min(first + ROWS);
                    let keys = compared.folder.keys(self.release, 0, rows.clone());
                    let groups = compared.released.find(&keys);
                    codes.resize(rows.len(), 0);
                    self.release.codes_from(at, first, &mut codes);
                    for (&group, &code) in groups.iter().zip(&codes) {
                        put(starts.number(group), code);
                    }
                }
            });
            report.measured.extend(sensitive::check(&histograms, &all, &mut report.findings));
        }
    }

    /// Had the groups that were left out to be?
    fn left_out(&self, compared: &Compared) -> Finding {
        let n_large = compared.left_out.sizes().filter(|&rows| u64::from(rows) >= self.claims.k).count();
        let refusals: Vec<&SensitiveClaim> =
            self.claims.sensitive.iter().filter(|claim| claim.has_threshold()).collect();
        let finding = |claim: &str, found: String, holds: bool| Finding {
            kind: ClaimKind::Rows,
            claim: claim.into(),
            found,
            holds,
        };
        if self.claims.combinations.is_some() || refusals.iter().any(|claim| claim.compares_with_release()) {
            let claim = "suppressed rows are whole groups";
            return finding(claim, "0 groups are released in part".into(), true);
        }
        if refusals.is_empty() {
            let claim = "suppressed rows are whole groups, each too small to be published";
            let found = format!("0 groups are released in part, {n_large} were large enough");
            return finding(claim, found, n_large == 0);
        }
        let n_needless = if n_large == 0 { 0 } else { self.needless(compared, &refusals) };
        let claim = "suppressed rows are whole groups, each too small or refused by a claim";
        let found = format!("0 groups are released in part, {n_needless} might have been published");
        finding(claim, found, n_needless == 0)
    }

    /// How many groups that were left out are large enough and refused by no claim.
    fn needless(&self, compared: &Compared, refusals: &[&SensitiveClaim]) -> u64 {
        let input = self.source.input;
        let starts = compared.left_out.starts();
        let sizes: Vec<u32> = compared.left_out.sizes().collect();
        let mut is_open: Vec<bool> = sizes.iter().map(|&rows| u64::from(rows) >= self.claims.k).collect();
        // Rows of groups that are large enough: few, since all that were left out are within the budget.
        let mut of_row = Vec::new();
        let mut rows_of = Vec::new();
        for first in (0..input.n_rows()).step_by(ROWS) {
            let keys = compared.folder.keys(input, 1, first..input.n_rows().min(first + ROWS));
            for (row, &group) in compared.left_out.find(&keys).iter().enumerate() {
                if group != NONE && is_open[starts.number(group)] {
                    of_row.push(starts.number(group) as u32);
                    rows_of.push(first + row);
                }
            }
        }
        for claim in refusals {
            let header = input.header();
            let Some(at) = header.iter().position(|name| *name == claim.column) else {
                continue;
            };
            let codes = rows_of.iter().map(|&row| {
                let mut code = [0];
                input.codes_from(at, row, &mut code);
                code[0]
            });
            let column = LabelColumn { labels: input.labels(at), codes: codes.collect::<Vec<u32>>().into() };
            let grouped = crate::histograms::Grouped {
                of_row: &of_row,
                n_groups: sizes.len(),
                kept: Some(&is_open.clone()),
                persons: None,
            };
            let histograms = Histograms::new(&column, &grouped);
            histograms.each_group(|group| {
                if claim.explains_suppression(group, &histograms.labels) {
                    is_open[group.group_idx] = false;
                }
            });
        }
        is_open.iter().filter(|&&is_open| is_open).count() as u64
    }
}

/// Rows of the input beside those of the release.
#[derive(Default)]
struct Aligned {
    /// Rows of the input that are the released ones, in order.
    with: Vec<u32>,
    /// The keys of the others,
    without: Vec<u64>,
    /// and for each how many released ones were before it.
    before: Vec<u32>,
}

/// Finds the released rows in the input, each behind the one before. Where none is missing, an input row that is equal to the next
/// released one is that one: what was left out is in no released group.
fn align(keys: &[u64], released: &[u64]) -> Aligned {
    let mut aligned = Aligned { with: Vec::with_capacity(keys.len()), ..Aligned::default() };
    for (row, key) in (0..).zip(keys) {
        let n_before = aligned.with.len();
        if released.get(n_before) == Some(key) {
            aligned.with.push(row);
        } else {
            aligned.without.push(*key);
            aligned.before.push(n_before as u32);
        }
    }
    aligned
}

/// The keys that are in no group.
fn without_group(keys: &[u64], groups: &[u32]) -> Vec<u64> {
    keys.iter().zip(groups).filter(|(_, group)| **group == NONE).map(|(&key, _)| key).collect()
}

/// A column that is released as it was collected, with a number for each label of the release and of the input.
struct Other {
    at: usize,
    of_released: Vec<u32>,
    of_collected: Vec<u32>,
}

impl Other {
    /// The first of the released rows that differs from what stands in the input: in the rows `with` from `start` on.
    fn first_difference(
        &self,
        of: &Comparison<'_>,
        with: &[u32],
        start: usize,
        released: std::ops::Range<usize>,
    ) -> Option<usize> {
        let n_input = with.last().map_or(0, |&row| row as usize + 1);
        let mut collected = vec![0; n_input];
        of.source.input.codes_from(of.origins[self.at], start, &mut collected);
        let mut codes = vec![0; released.len()];
        of.release.codes_from(self.at, released.start, &mut codes);
        let is_equal = |(&code, &row): (&u32, &u32)| {
            self.of_released[code as usize] == self.of_collected[collected[row as usize] as usize]
        };
        codes.iter().zip(with).position(|pair| !is_equal(pair))
    }
}

/// How often each label stands in each of some columns.
fn counts<'a>(table: &'a dyn Labels, columns: &[usize]) -> Vec<hash::Map<&'a str, u64>> {
    let of_column = |&at: &usize| {
        let labels = table.labels(at);
        let counts: Vec<AtomicU32> = labels.iter().map(|_| AtomicU32::new(0)).collect();
        let firsts: Vec<usize> = (0..table.n_rows()).step_by(BLOCK).collect();
        firsts.into_par_iter().for_each_init(
            || (vec![0; BLOCK], vec![0_u32; labels.len()]),
            |(codes, own), first| {
                let codes = &mut codes[..BLOCK.min(table.n_rows() - first)];
                table.codes_from(at, first, codes);
                if labels.len() > BLOCK {
                    codes.iter().for_each(|&code| _ = counts[code as usize].fetch_add(1, Relaxed));
                    return;
                }
                codes.iter().for_each(|&code| own[code as usize] += 1);
                for (all, own) in counts.iter().zip(own.iter_mut()).filter(|(_, own)| **own > 0) {
                    all.fetch_add(std::mem::take(own), Relaxed);
                }
            },
        );
        let mut of_labels = hash::Map::default();
        for (label, n) in labels.into_iter().zip(counts) {
            let n = u64::from(n.into_inner());
            if n > 0 {
                *of_labels.entry(label).or_insert(0) += n;
            }
        }
        of_labels
    };
    columns.iter().map(of_column).collect()
}
