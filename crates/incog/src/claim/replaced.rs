//! Columns of pseudonyms as the checker sees them.
//!
//! A release with pseudonyms cannot be compared with the input cell by cell: numbers were drawn, and keyed hashes need the key. So such a column is
//! looked at apart ([`findings`]), and everything else is claimed of the release without it ([`Without`]).

use std::collections::BTreeSet;

use incog_core::{Error, ErrorKind, Result};
use incog_verify::{ClaimKind, Finding, LabelColumn, Labels, linked};

use crate::job::{Job, ReplaceJob, RoleJob};
use crate::plan::Plan;
use crate::plan::replace::keyed_hash;

/// Fails where all rows of a pseudonym together do not look like those of k pseudonyms.
pub(crate) fn check_linked(plan: &Plan, released: &dyn Labels) -> Result<Vec<Finding>> {
    let found = of_linked(plan, released);
    match found.iter().find(|finding| !finding.holds) {
        None => Ok(found),
        Some(finding) => {
            let reason = Error::new(
                ErrorKind::Policy,
                format!("not so: {} ({})", finding.claim, finding.found),
            )
            .with_hint(
                "leave `replace` out of the column, ask for a smaller k, or release one row for each person",
            );
            let problem =
                "pseudonyms put the rows of a person together, and then a person is not like k - 1 others";
            Err(Error::new(ErrorKind::Impossible, problem).with_source(reason))
        }
    }
}

fn of_linked(plan: &Plan, released: &dyn Labels) -> Vec<Finding> {
    let quasi: Vec<String> = plan.attributes.iter().map(|attribute| attribute.name().to_owned()).collect();
    let k = plan.job.policy.k.unsigned_abs();
    let repeated = plan.replaced.iter().filter(|column| column.repeats);
    repeated.map(|column| linked(released, &quasi, &column.name, k)).collect()
}

/// The same of a release without its data, by its job: of every column of pseudonyms, whether or not its values repeated.
pub(crate) fn linked_by_job(job: &Job, released: &dyn Labels) -> Vec<Finding> {
    let columns = job
        .columns
        .iter()
        .filter(|(_, column)| column.role == RoleJob::Identifier && column.replace.is_some());
    let is_repeated = |name: &&String| {
        let Some(at) = released.header().iter().position(|other| other == *name) else { return true };
        let column = released.column(at);
        let mut seen = BTreeSet::new();
        !column
            .codes
            .iter()
            .map(|&code| column.labels[code as usize])
            .filter(|label| !label.is_empty())
            .all(|label| seen.insert(label))
    };
    let quasi = job.quasi_identifiers();
    let repeated = columns.map(|(name, _)| name).filter(is_repeated);
    repeated.map(|name| linked(released, &quasi, name, job.policy.k.unsigned_abs())).collect()
}

/// What is claimed of columns of pseudonyms in a released file. With the subkey, keyed hashes are made anew.
pub(crate) fn findings(plan: &Plan, released: &dyn Labels, subkey: Option<[u8; 32]>) -> Vec<Finding> {
    let mut findings = of_linked(plan, released);
    for column in &plan.replaced {
        let name = &column.name;
        let place = released.header().iter().position(|other| other == name);
        let (Some(place), Some(input)) = (place, plan.table.column(name)) else {
            let claim = format!("column `{name}` has pseudonyms");
            findings.push(Finding::new(ClaimKind::Columns, claim, false, "it is missing"));
            continue;
        };
        let labels: BTreeSet<&str> =
            released.labels(place).into_iter().filter(|label| !label.is_empty()).collect();
        let values: Vec<&str> = input.dictionary().values().filter(|value| !value.is_empty()).collect();
        let (claim, n_wrong) = match (column.by, subkey) {
            (ReplaceJob::Number, _) => {
                let is_number =
                    |label: &&str| label.parse::<usize>().is_ok_and(|n| (1..=values.len()).contains(&n));
                let claim = format!("column `{name}` has numbers from 1 to that of its values");
                (claim, labels.iter().filter(|label| !is_number(label)).count())
            }
            (ReplaceJob::KeyedHash, Some(subkey)) => {
                let made: BTreeSet<String> = values.iter().map(|value| keyed_hash(&subkey, value)).collect();
                let claim = format!("column `{name}` has keyed hashes of its values");
                (claim, labels.iter().filter(|label| !made.contains(**label)).count())
            }
            (ReplaceJob::KeyedHash, None) => {
                let values: BTreeSet<&str> = values.into_iter().collect();
                let claim = format!(
                    "column `{name}` has no value of the data (that they are keyed hashes the key can tell)"
                );
                (claim, labels.iter().filter(|label| values.contains(**label)).count())
            }
        };
        let found = match n_wrong {
            0 => "all are so".to_owned(),
            n => format!("{n} are not"),
        };
        findings.push(Finding::new(ClaimKind::Keys, claim, n_wrong == 0, found));
    }
    findings
}

/// A release without its columns of pseudonyms.
pub(crate) struct Without<'a> {
    released: &'a dyn Labels,
    /// Which columns are left.
    places: Vec<usize>,
}

impl<'a> Without<'a> {
    /// The release of a plan without what it replaces.
    pub(crate) fn new(plan: &Plan, released: &'a dyn Labels) -> Self {
        let is_replaced = |name: &str| plan.replaced.iter().any(|column| column.name == name);
        let header = released.header();
        Without { released, places: (0..header.len()).filter(|&at| !is_replaced(header[at])).collect() }
    }
}

impl Labels for Without<'_> {
    fn header(&self) -> Vec<&str> {
        let header = self.released.header();
        self.places.iter().map(|&at| header[at]).collect()
    }

    fn n_rows(&self) -> usize {
        self.released.n_rows()
    }

    fn column(&self, column_idx: usize) -> LabelColumn<'_> {
        self.released.column(self.places[column_idx])
    }

    fn labels(&self, column_idx: usize) -> Vec<&str> {
        self.released.labels(self.places[column_idx])
    }

    fn codes_from(&self, column_idx: usize, first: usize, to: &mut [u32]) {
        self.released.codes_from(self.places[column_idx], first, to);
    }
}
