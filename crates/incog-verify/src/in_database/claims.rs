//! What is found, in the words of the checker of rows in memory.

use super::{Checker, Levels, Mismatch, SourceInDatabase, TableInDatabase};
use crate::against_input::{ROWS_CLAIM, RecodingClaim};
use crate::histograms::Histograms;
use crate::in_database::LEVELS_NOT_FOUND;
use crate::words::counted;
use crate::{ClaimKind, Claims, Counted, Finding, Report, SensitiveClaim, sensitive};

/// The columns of a release, as far as claims need them.
pub(super) struct Columns {
    pub(super) quasi: Vec<usize>,
    pub(super) are_declared: bool,
}

/// A table in a database has no two columns of one name.
pub(super) fn columns(
    release: &TableInDatabase,
    claims: &Claims<'_>,
    report: &mut Report,
) -> Option<Columns> {
    let are_declared = claims.columns.as_ref().is_none_or(|columns| *columns == release.columns);
    if let Some(columns) = &claims.columns {
        report.findings.push(Finding {
            kind: ClaimKind::Columns,
            claim: format!("the columns are {}", columns.join(", ")),
            found: counted(release.columns.len() as u64, "column", "columns"),
            holds: are_declared,
        });
    }
    let place = |name: &String| release.columns.iter().position(|column| column == name);
    let quasi: Vec<Option<usize>> = claims.quasi_identifiers.iter().map(place).collect();
    let with_names = quasi.iter().zip(&claims.quasi_identifiers);
    let missing: Vec<&str> =
        with_names.filter(|(at, _)| at.is_none()).map(|(_, name)| name.as_str()).collect();
    if !missing.is_empty() {
        report.findings.push(Finding {
            kind: ClaimKind::Columns,
            claim: "every quasi-identifier is a column of the release".into(),
            found: format!("there is no {}", missing.join(", ")),
            holds: false,
        });
        return None;
    }
    Some(Columns { quasi: quasi.into_iter().flatten().collect(), are_declared })
}

/// Is a suppressed group enough to tell whether it had to be?
pub(super) fn judges_groups(claims: &Claims<'_>, source: &SourceInDatabase) -> bool {
    let is_judged = |claim: &SensitiveClaim| {
        !claim.compares_with_release() && (claim.counted == Counted::Rows || source.unit.is_some())
    };
    let mut refusals = claims.sensitive.iter().filter(|claim| claim.has_threshold());
    claims.combinations.is_none() && refusals.all(is_judged)
}

impl Checker<'_> {
    /// All sensitive columns are measured by rows, whatever is claimed.
    pub(super) fn by_rows(&mut self, report: &mut Report) -> Result<(), String> {
        let claims = self.claims;
        let mut done: Vec<&str> = Vec::new();
        for claim in &claims.sensitive {
            let Some(at) = self.release.columns.iter().position(|column| *column == claim.column) else {
                report.findings.push(Finding {
                    kind: ClaimKind::Sensitive,
                    claim: format!("the sensitive column {} is released", claim.column),
                    found: "it is not there".into(),
                    holds: false,
                });
                continue;
            };
            if done.contains(&claim.column.as_str()) {
                continue;
            }
            done.push(&claim.column);
            let values = self.values(at)?;
            let labels: Vec<&str> = values.iter().map(String::as_str).collect();
            let groups = self.groups_of_rows(at, "b", None, false)?;
            let histograms = Histograms::of_groups(&labels, &groups);
            let of_column = claims.sensitive.iter().filter(|other| other.column == claim.column);
            let mut meant: Vec<&SensitiveClaim> =
                of_column.clone().filter(|other| other.counted == Counted::Rows).collect();
            let nothing =
                SensitiveClaim { style: claim.style.clone(), ..SensitiveClaim::measured(&claim.column) };
            if meant.is_empty() {
                meant.push(&nothing);
            }
            report.measured.extend(sensitive::check(&histograms, &meant, &mut report.findings));
        }
        Ok(())
    }

    /// What was found beside the input.
    pub(super) fn against(
        &self,
        source: &SourceInDatabase,
        levels: &Levels,
        found: Option<&(Mismatch, Vec<usize>)>,
        report: &mut Report,
    ) {
        let finding = |claim: &str, found: String, holds: bool| Finding {
            kind: ClaimKind::Rows,
            claim: claim.to_owned(),
            found,
            holds,
        };
        let n_input = self.n_input;
        let n_released = self.release.rows;
        let n_suppressed = n_input.checked_sub(n_released);
        report.findings.push(finding(
            &format!("at most {} of {n_input} rows are suppressed", source.budget),
            match n_suppressed {
                Some(rows) => format!("{n_released} rows released, {rows} suppressed"),
                None => format!("{n_released} rows released, more than there are"),
            },
            n_suppressed.is_some_and(|rows| rows <= source.budget),
        ));
        match levels {
            Levels::Some(_) => {}
            Levels::None => {
                let found = format!("{} hierarchies", source.hierarchies.len());
                report.findings.push(finding("every quasi-identifier has a hierarchy", found, false));
                return;
            }
            Levels::Impossible(at) => {
                let name = &self.claims.quasi_identifiers[*at];
                let found = format!("column {name} has labels that no single level gives");
                report.findings.push(finding(ROWS_CLAIM, found, false));
                return;
            }
            Levels::TooMany => {
                report.undecided.push(finding(ROWS_CLAIM, LEVELS_NOT_FOUND.to_owned(), false));
                return;
            }
        }
        let Some((mismatch, _)) = found else { return };
        let rows = match mismatch.strange_rows {
            0 => "all are".to_owned(),
            n => format!("{n} are not"),
        };
        report.findings.push(finding(ROWS_CLAIM, rows, mismatch.strange_rows == 0));
        let (claim, found) = self.suppression(source, mismatch);
        let holds = mismatch.partial_groups == 0 && mismatch.needless_groups == 0;
        report.findings.push(finding(claim, found, holds));
        if let Some(unit) = &source.unit {
            let fewest = mismatch.fewest_persons;
            let k = self.claims.k;
            report.findings.push(finding(
                &format!("every group has at least {k} persons ({unit})"),
                fewest.map_or("no rows".into(), |persons| format!("the smallest has {persons}")),
                fewest.is_none_or(|persons| persons >= k),
            ));
            report.fewest_persons = fewest;
        }
    }

    /// What is claimed of suppressed rows, and what was found.
    fn suppression(&self, source: &SourceInDatabase, mismatch: &Mismatch) -> (&'static str, String) {
        let Mismatch { partial_groups, needless_groups, .. } = mismatch;
        let part = format!("{partial_groups} groups are released in part");
        if !judges_groups(self.claims, source) {
            return ("suppressed rows are whole groups", part);
        }
        if self.claims.sensitive.iter().any(SensitiveClaim::has_threshold) {
            let claim = "suppressed rows are whole groups, each too small or refused by a claim";
            return (claim, format!("{part}, {needless_groups} might have been published"));
        }
        let claim = "suppressed rows are whole groups, each too small to be published";
        (claim, format!("{part}, {needless_groups} were large enough"))
    }

    /// Claims by persons whom the input names.
    pub(super) fn by_persons(
        &mut self,
        source: &SourceInDatabase,
        found: Option<&(Mismatch, Vec<usize>)>,
        report: &mut Report,
    ) -> Result<(), String> {
        let claims = self.claims;
        let is_known = source.unit.is_some()
            && found.is_some_and(|(mismatch, _)| mismatch.strange_rows == 0 && mismatch.partial_groups == 0);
        let mut done: Vec<&str> = Vec::new();
        for claim in claims.sensitive.iter().filter(|claim| claim.counted == Counted::Persons) {
            if done.contains(&claim.column.as_str()) {
                continue;
            }
            done.push(&claim.column);
            let of_column = claims
                .sensitive
                .iter()
                .filter(|other| other.column == claim.column && other.counted == Counted::Persons);
            let meant: Vec<&SensitiveClaim> = of_column.collect();
            let place = self.release.columns.iter().position(|column| *column == claim.column);
            let (Some(at), true) = (place, is_known) else {
                if report.undecided.is_empty() && meant.iter().any(|claim| claim.has_threshold()) {
                    report.findings.push(Finding {
                        kind: ClaimKind::Sensitive,
                        claim: format!("what is claimed of {} by persons", claim.column),
                        found: "persons could not be counted: that takes the input, the column that names them, and \
                                a release that was made from it by full-domain generalization"
                            .into(),
                        holds: false,
                    });
                }
                continue;
            };
            let values = self.values(at)?;
            let labels: Vec<&str> = values.iter().map(String::as_str).collect();
            let groups = self.groups_of_persons(at, None, false)?;
            let histograms = Histograms::of_groups(&labels, &groups);
            let measured = sensitive::check(&histograms, &meant, &mut report.findings);
            report.add_by_persons(measured);
        }
        Ok(())
    }
}

impl SourceInDatabase {
    /// Is whole columns' generalization claimed? Nothing else can be checked where the rows are.
    pub(super) fn is_by_columns(&self) -> bool {
        matches!(self.recoding, RecodingClaim::FullDomain | RecodingClaim::Levels(_))
    }
}
