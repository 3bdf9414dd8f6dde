//! How many persons do the groups of a local recoding have?
//!
//! A released row does not say which of several input rows it was, so persons cannot be counted from a release and its input. Where it
//! is made, each row's person is known: the release with that column added is what the checker sees, "at least k persons" is a
//! claim on a column like any other, and what is required of sensitive values is claimed of these persons. Later, the same
//! search is run anew; if it gives exactly the released rows, its persons are theirs.

use std::borrow::Cow;
use std::collections::HashMap;

use incog_core::recoding::Recoding;
use incog_core::words::counted;
use incog_core::{Error, ErrorKind, Progress, Result};
use incog_verify::{
    ClaimKind, Claims, Counted, Finding, LabelColumn, Labels, RecodingClaim, Report, SensitiveClaim, check,
};

use crate::claim::labels::{Collected, Released};
use crate::claim::{claims, local_claims};
use crate::find::{Outcome, find};
use crate::plan::{Chosen, Plan};

/// What is claimed of the persons with sensitive values, given whom each released row is about.
fn claims_by_persons(plan: &Plan, release: &WithPersons<'_>) -> Result<Vec<SensitiveClaim>> {
    let input = Collected(Cow::Borrowed(&plan.table));
    let mut claims = claims(plan, &input, RecodingClaim::Local)?.sensitive;
    claims.retain(|claim| claim.counted == Counted::Persons);
    claims.iter_mut().for_each(|claim| claim.counted = Counted::Labelled(release.persons()));
    Ok(claims)
}

/// How many persons the groups of a recoding have, judged by the checker: nothing to say where rows are counted.
pub(crate) fn persons_of(
    plan: &Plan,
    chosen: Option<&Chosen>,
    recoding: &Recoding,
) -> Result<Option<Persons>> {
    let Some(unit) = &plan.job.policy.unit else {
        return Ok(None);
    };
    let release = WithPersons::new(plan, unit, recoding)?;
    let input = Collected(Cow::Borrowed(&plan.table));
    let mut claims = local_claims(plan, chosen, &input)?;
    let k = claims.k;
    claims.columns = claims.columns.map(|columns| columns.into_iter().chain([unit.clone()]).collect());
    // The checker leaves out rows that are about nobody.
    claims.sensitive = vec![SensitiveClaim {
        distinct_l: Some(k),
        counted: Counted::Labelled(release.persons()),
        ..SensitiveClaim::measured(unit.as_str())
    }];
    let report = check(&release, &claims);
    let fewest = report.fewest_persons;
    let finding = Finding::new(
        ClaimKind::Persons,
        persons_claim(k, unit),
        report.findings.iter().all(|finding| finding.holds),
        fewest.map_or("no rows".into(), |persons| format!("the smallest has {persons}")),
    );
    let mut findings = vec![finding];
    let of_values = Claims {
        quasi_identifiers: claims.quasi_identifiers,
        k,
        combinations: None,
        columns: None,
        sensitive: claims_by_persons(plan, &release)?,
        source: None,
    };
    if !of_values.sensitive.is_empty() {
        // That k rows look alike was claimed before.
        let of_values = check(&release, &of_values).findings;
        findings.extend(of_values.into_iter().filter(|finding| finding.kind != ClaimKind::Anonymity));
    }
    Ok(Some(Persons { findings, undecided: report.undecided, fewest, of_groups: report.persons_of_groups }))
}

/// The same for a released file: by the search that should have given it.
pub(crate) fn persons_anew(
    plan: &Plan,
    released: &dyn Labels,
    progress: &Progress,
) -> Result<Option<Persons>> {
    let Some(unit) = &plan.job.policy.unit else {
        return Ok(None);
    };
    let finding = |found: &str| {
        Finding::new(ClaimKind::Persons, persons_claim(plan.job.policy.k.unsigned_abs(), unit), false, found)
    };
    let refused = |found: &str| {
        Ok(Some(Persons {
            findings: vec![finding(found)],
            undecided: Vec::new(),
            fewest: None,
            of_groups: None,
        }))
    };
    let undecided = |found: &str| {
        Ok(Some(Persons {
            findings: Vec::new(),
            undecided: vec![finding(found)],
            fewest: None,
            of_groups: None,
        }))
    };
    let Some(chosen) = plan.route.local() else {
        return undecided("persons of a local recoding can only be counted by the job that made it");
    };
    let Outcome::Found(found) = find(plan, &plan.route, progress)? else {
        return refused("the job's search finds no release in this data");
    };
    let recoding = found.recoding;
    let anew = Released(recoding.apply(&plan.table, &plan.attributes)?);
    if !have_same_rows(released, &anew) {
        // An honest release may have been found in a longer time.
        if chosen.depends_on_time() {
            return undecided(
                "the job's search has a time limit, and gave other rows this time; with `max_steps` it gives the same",
            );
        }
        return refused("the job's search gives other rows than these, whose persons cannot be counted");
    }
    persons_of(plan, Some(chosen), &recoding)
}

fn persons_claim(k: u64, unit: &str) -> String {
    format!("every group has at least {} ({unit})", counted(k, "person", "persons"))
}

/// The claims on persons, and the fewest of a group.
pub(crate) struct Persons {
    findings: Vec<Finding>,
    undecided: Vec<Finding>,
    fewest: Option<u64>,
    /// Those of all groups, added up.
    of_groups: Option<u64>,
}

impl Persons {
    /// Adds them to what else was found.
    pub(crate) fn add_to(self, report: &mut Report) {
        report.findings.extend(self.findings);
        report.undecided.extend(self.undecided);
        report.fewest_persons = self.fewest;
        report.persons_of_groups = self.of_groups;
    }
}

/// A release with one column more: whom each row is about. It is checked, and never written.
struct WithPersons<'a> {
    release: Released,
    n_released: usize,
    unit: &'a str,
    persons: LabelColumn<'a>,
}

impl<'a> WithPersons<'a> {
    fn new(plan: &'a Plan, unit: &'a str, recoding: &Recoding) -> Result<Self> {
        let column = plan.table.column(unit).ok_or_else(|| {
            Error::new(ErrorKind::Internal, "the column that names persons is not in the table")
        })?;
        let release = recoding.apply(&plan.table, &plan.attributes)?;
        let person = |&row_idx: &u32| column.codes()[row_idx as usize];
        let persons = LabelColumn {
            codes: release.rows().iter().map(person).collect::<Vec<_>>().into(),
            labels: column.dictionary().values().collect(),
        };
        let release = Released(release);
        Ok(WithPersons { n_released: release.header().len(), release, unit, persons })
    }

    /// Whom each row is about.
    fn persons(&self) -> Vec<String> {
        let LabelColumn { labels, codes } = &self.persons;
        codes.iter().map(|&code| labels[code as usize].to_owned()).collect()
    }
}

impl Labels for WithPersons<'_> {
    fn header(&self) -> Vec<&str> {
        let mut header = self.release.header();
        header.push(self.unit);
        header
    }

    fn n_rows(&self) -> usize {
        self.release.n_rows()
    }

    fn column(&self, column_idx: usize) -> LabelColumn<'_> {
        if column_idx == self.n_released {
            return self.persons.clone();
        }
        self.release.column(column_idx)
    }

    fn codes_from(&self, column_idx: usize, first: usize, to: &mut [u32]) {
        if column_idx == self.n_released {
            return to.copy_from_slice(&self.persons.codes[first..first + to.len()]);
        }
        self.release.codes_from(column_idx, first, to);
    }
}

/// Do two tables have the same columns, and the same rows in whatever order?
fn have_same_rows(a: &dyn Labels, b: &dyn Labels) -> bool {
    if a.header() != b.header() || a.n_rows() != b.n_rows() {
        return false;
    }
    // Rows are told apart by numbers that grow column by column: equal numbers, equal cells so far.
    let mut numbers = [vec![0_u32; a.n_rows()], vec![0_u32; b.n_rows()]];
    for at in 0..a.header().len() {
        let columns = [a.column(at), b.column(at)];
        let mut labels: HashMap<&str, u32> = HashMap::new();
        let mut rows: HashMap<(u32, u32), u32> = HashMap::new();
        for (column, numbers) in columns.iter().zip(&mut numbers) {
            let of_code: Vec<u32> = column
                .labels
                .iter()
                .map(|&label| {
                    let next = labels.len() as u32;
                    *labels.entry(label).or_insert(next)
                })
                .collect();
            for (number, &code) in numbers.iter_mut().zip(column.codes.iter()) {
                let next = rows.len() as u32;
                *number = *rows.entry((*number, of_code[code as usize])).or_insert(next);
            }
        }
    }
    let [mut a, mut b] = numbers;
    a.sort_unstable();
    b.sort_unstable();
    a == b
}
