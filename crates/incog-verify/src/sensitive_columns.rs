//! Which columns of a release are sensitive, and by whom are their claims counted?
//!
//! A column is measured once for all its claims by rows, once for those by persons of the input, and once for each claim by persons
//! whom the caller has named.

use rayon::prelude::*;

use crate::against_input::{People, Source};
use crate::histograms::{Grouped, Histograms, Persons};
use crate::keys::Groups;
use crate::words::counted;
use crate::{ClaimKind, Counted, Finding, Labels, Report, SensitiveClaim, hash, sensitive};

/// Columns of at most this many rows are measured side by side.
const FEW_ROWS: usize = 1 << 12;

/// The sensitive columns of a release, with what is claimed of each.
pub(crate) struct Sensitive<'a> {
    pub(crate) release: &'a dyn Labels,
    pub(crate) groups: &'a Groups,
    /// Where the column of a claim stands.
    pub(crate) claims: &'a [(usize, &'a SensitiveClaim)],
}

impl Sensitive<'_> {
    /// The columns in the order of their first claims, and the claims of each that are `meant`.
    fn columns(&self, meant: impl Fn(&SensitiveClaim) -> bool) -> Vec<(usize, Vec<&SensitiveClaim>)> {
        let mut columns: Vec<(usize, Vec<&SensitiveClaim>)> = Vec::new();
        let mut places: hash::Map<usize, usize> = hash::Map::default();
        for &(at, claim) in self.claims.iter().filter(|(_, claim)| meant(claim)) {
            let place = *places.entry(at).or_insert(columns.len());
            match columns.get_mut(place) {
                Some((_, claims)) => claims.push(claim),
                None => columns.push((at, vec![claim])),
            }
        }
        columns
    }

    /// All columns are measured by rows, whatever is claimed.
    pub(crate) fn by_rows(&self, report: &mut Report) {
        let grouped =
            Grouped { of_row: &self.groups.of_row, n_groups: self.groups.len(), kept: None, persons: None };
        let of_column = |(at, claims): &(usize, Vec<&SensitiveClaim>)| {
            let column = self.release.column(*at);
            let histograms = Histograms::new(&column, &grouped);
            let mut by_rows: Vec<&SensitiveClaim> =
                claims.iter().copied().filter(|claim| claim.counted == Counted::Rows).collect();
            let nothing = SensitiveClaim::measured(&claims[0].column);
            if by_rows.is_empty() {
                by_rows.push(&nothing);
            }
            let mut findings = Vec::new();
            (sensitive::check(&histograms, &by_rows, &mut findings), findings)
        };
        // A hundred thousand columns of few rows are measured side by side; histograms of many rows would not fit side by side.
        let columns = self.columns(|_| true);
        let measured: Vec<_> = match self.release.n_rows() <= FEW_ROWS {
            true => columns.par_iter().with_min_len(64).map(of_column).collect(),
            false => columns.iter().map(of_column).collect(),
        };
        for (measured, findings) in measured {
            report.measured.extend(measured);
            report.findings.extend(findings);
        }
    }

    /// Claims by persons whom the caller has named, each for itself.
    pub(crate) fn by_labels(&self, report: &mut Report) {
        for &(at, claim) in self.claims {
            let Counted::Labelled(labels) = &claim.counted else {
                continue;
            };
            if labels.len() != self.release.n_rows() {
                report.findings.push(Finding {
                    kind: ClaimKind::Sensitive,
                    claim: format!("every row has a person, for claims on {} by persons", claim.column),
                    found: format!(
                        "{}, {}",
                        counted(self.release.n_rows() as u64, "row", "rows"),
                        counted(labels.len() as u64, "person", "persons")
                    ),
                    holds: false,
                });
                continue;
            }
            let persons = Persons::of_labels(labels);
            let of_groups = persons.of_groups(&self.groups.of_row, self.groups.len());
            let fewest = of_groups.iter().copied().min().map(u64::from);
            report.persons_of_groups = Some(of_groups.iter().copied().map(u64::from).sum());
            report.fewest_persons = report.fewest_persons.into_iter().chain(fewest).min();
            if fewest == Some(0) {
                report.findings.push(Finding {
                    kind: ClaimKind::Sensitive,
                    claim: format!("every group has persons, for claims on {} by persons", claim.column),
                    found: "a group has none".into(),
                    holds: false,
                });
            }
            let grouped = Grouped {
                of_row: &self.groups.of_row,
                n_groups: self.groups.len(),
                kept: None,
                persons: Some(&persons),
            };
            let column = self.release.column(at);
            let measured =
                sensitive::check(&Histograms::new(&column, &grouped), &[claim], &mut report.findings);
            report.add_by_persons(measured);
        }
    }

    /// Claims by persons whom the input names. `people` are known only if the release was made from the input as it
    /// should be.
    pub(crate) fn by_persons(
        &self,
        source: Option<&Source<'_>>,
        people: Option<&People>,
        report: &mut Report,
    ) {
        for (at, claims) in self.columns(|claim| claim.counted == Counted::Persons) {
            let name = self.release.header()[at].to_owned();
            let input = source.map(|source| source.input);
            let origin = input.and_then(|input| input.header().iter().position(|column| *column == name));
            let (Some(people), Some(input), Some(origin)) = (people, input, origin) else {
                // What claims nothing cannot fail; and of a release that could not be compared nothing was found wrong.
                if report.undecided.is_empty() && claims.iter().any(|claim| claim.has_threshold()) {
                    report.findings.push(Finding {
                        kind: ClaimKind::Sensitive,
                        claim: format!("what is claimed of {name} by persons"),
                        found: "persons could not be counted: that takes the input, the column that names them, and \
                                a release that was made from it by full-domain generalization"
                            .into(),
                        holds: false,
                    });
                }
                continue;
            };
            let column = input.column(origin);
            let histograms = Histograms::new(&column, &people.released());
            let measured = sensitive::check(&histograms, &claims, &mut report.findings);
            report.add_by_persons(measured);
        }
    }
}
