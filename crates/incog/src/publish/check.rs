//! Is a published file what its job, its data and its record say?
//!
//! | there is | what is checked |
//! |---|---|
//! | the job with its data | every claim, against the data ([`check_file`]) |
//! | the job with its data, and the record | the same, and every key of the record, made anew ([`check_with_record`]) |
//! | the record | what everybody can recompute ([`check_against_record`]) |
//!
//! The folder of a database is checked in the same three ways by the room `database`, with the same words.

use std::borrow::Cow;
use std::path::Path;

use incog_core::lattice::Grouping;
use incog_core::metric::Statistics;
use incog_core::{Progress, Result};
use incog_verify::{
    ClaimKind, Claims, Counted, Finding, Labels, RecodingClaim, Report, SensitiveClaim, check,
};

use crate::claim::file::{CHECKED_IN_MEMORY, ReleasedFile, check_released, open_release};
use crate::claim::labels::Collected;
use crate::claim::measured::LocalRelease;
use crate::claim::replaced::{self, Without};
use crate::claim::requirement::required;
use crate::claim::{claims, on_columns};
use crate::file::{FileFormat, Stamps};
use crate::job::AnyJob;
use crate::plan::Plan;
use crate::publish::record::{Cost, Key, Observed, Record, hex, sha256_of};
use crate::source::options::delimiter as delimiter_of;

/// What is claimed of a record where everything is at hand.
pub(crate) const IS_WHAT_ALL_SAY: &str = "the record is what the job, the data and the release say";

/// Checks a released file against a plan's job and data. Without a delimiter it is the data's.
pub(crate) fn check_file(
    plan: &Plan,
    release: &Path,
    delimiter: Option<u8>,
    recoding: RecodingClaim,
    progress: &Progress,
) -> Result<Report> {
    plan.in_memory(CHECKED_IN_MEMORY)?;
    let released = open_release(release, format_of(plan), delimiter.or(plan.format.delimiter()))?;
    let released = released.into_collected(&plan.table);
    let mut report = check_released(plan, &Without::new(plan, &*released), recoding, progress)?;
    report.findings.extend(replaced::findings(plan, &*released, None));
    Ok(report)
}

/// The same of a release in memory.
pub(crate) fn check_table(
    plan: &Plan,
    released: ReleasedFile,
    recoding: RecodingClaim,
    progress: &Progress,
) -> Result<Report> {
    plan.in_memory(CHECKED_IN_MEMORY)?;
    let released = released.into_collected(&plan.table);
    let mut report = check_released(plan, &Without::new(plan, &*released), recoding, progress)?;
    report.findings.extend(replaced::findings(plan, &*released, None));
    Ok(report)
}

/// The same for a release with a record, of whose levels this plan is: every claim, and the first thing in which the record
/// differs from what is found anew.
pub(crate) fn check_with_record(
    plan: &Plan,
    release: &Path,
    delimiter: Option<u8>,
    record: &Record,
    key: Option<&Key>,
    progress: &Progress,
) -> Result<Report> {
    plan.in_memory(CHECKED_IN_MEMORY)?;
    let (released, sha256) =
        read_with_digest(release, format_of(plan), delimiter.or(plan.format.delimiter()))?;
    let released = released.into_collected(&plan.table);
    if record.local().is_some() {
        return check_with_local_record(plan, sha256, &*released, record, key, progress);
    }
    let input = Collected(Cow::Borrowed(&plan.table));
    let without = Without::new(plan, &*released);
    let mut report = check(&without, &claims(plan, &input, RecodingClaim::FullDomain)?);
    report.findings.extend(replaced::findings(plan, &*released, key.map(Key::of_pseudonyms)));
    let anew = record_at_levels(plan, &seen(&report, &*released, Some(sha256)), key)?;
    report.findings.push(compared(record.first_difference(&anew), IS_WHAT_ALL_SAY));
    files_first(&mut report, record, &sha256, Some(&anew));
    Ok(report)
}

/// The record that is made anew of a release at the levels of this plan.
pub(crate) fn record_at_levels(plan: &Plan, seen: &Observed<'_>, key: Option<&Key>) -> Result<Record> {
    let costs = plan.costs()?;
    let (problem, bottom) = (plan.problem(), vec![0; plan.attributes.len()]);
    let set = problem.count(&Grouping::of_levels(&bottom))?;
    let node = Statistics::new(problem, &plan.attributes, bottom, &set)?;
    let cost = Cost { costs: &costs, statistics: &node, local: None };
    let anew = Record::new(plan, seen, &cost, key)?;
    plan.check_hierarchies()?;
    Ok(anew)
}

/// The same where recoding is local: what is measured is measured from the released labels.
fn check_with_local_record(
    plan: &Plan,
    sha256: [u8; 32],
    released: &dyn Labels,
    record: &Record,
    key: Option<&Key>,
    progress: &Progress,
) -> Result<Report> {
    let mut report = check_released(plan, released, RecodingClaim::Local, progress)?;
    if !report.undecided.is_empty() {
        // What could not be counted is not compared.
        report.fewest_persons = record.claims.fewest_persons;
    }
    let domains = plan.domains(plan.route.local())?;
    let mut found_anew = None;
    let difference = match LocalRelease::of(plan, &domains, released, &report) {
        Some(local) => {
            let costs = plan.costs()?.with_domains(&domains);
            let cost = Cost { costs: &costs, statistics: &local.statistics, local: Some(&local) };
            let anew = Record::new(plan, &seen(&report, released, Some(sha256)), &cost, key)?;
            plan.check_hierarchies()?;
            record.first_difference(found_anew.insert(anew))
        }
        None => Some("a released column is missing or has labels of no level".to_owned()),
    };
    report.findings.push(compared(difference, IS_WHAT_ALL_SAY));
    files_first(&mut report, record, &sha256, found_anew.as_ref());
    Ok(report)
}

/// What anybody can see of a released file.
pub(crate) fn seen<'a>(report: &'a Report, released: &dyn Labels, sha256: Option<[u8; 32]>) -> Observed<'a> {
    let columns = released.header().iter().map(|&name| name.to_owned()).collect();
    Observed { report, columns, sha256, input: None }
}

/// Checks a released file against its record alone: what everybody can recompute. Without a delimiter it is the one that
/// the record's job gives, if any.
pub(crate) fn check_against_record(release: &Path, record: &Record, delimiter: Option<u8>) -> Result<Report> {
    // A job that cannot be read was forged, which is found below.
    let job = record.job().ok().and_then(AnyJob::table);
    let given = job.as_ref().and_then(|job| delimiter_of(job).ok().flatten());
    let (released, sha256) = read_with_digest(release, None, delimiter.or(given))?;
    check_labels_against_record(&*released.labels, Some(sha256), record)
}

/// The same for a release that was read already; a table of a database has no digest.
pub(crate) fn check_labels_against_record(
    released: &dyn Labels,
    sha256: Option<[u8; 32]>,
    record: &Record,
) -> Result<Report> {
    let job = record.job().ok().and_then(AnyJob::table);
    let counted = if record.claims.unit.is_some() { Counted::Persons } else { Counted::Rows };
    let known: Vec<SensitiveClaim> = record
        .claims
        .requires
        .iter()
        .filter_map(|part| required(part, None, &counted).transpose())
        .collect::<Result<_>>()?;
    let n_unknown = record.claims.requires.len() - known.len();
    // Not what the record says of itself, but what its job does.
    let table = record.table();
    let (quasi_identifiers, sensitive) = match &job {
        Some(job) => (job.quasi_identifiers(), job.sensitive_columns()),
        None => table.map_or_else(Default::default, |table| {
            (table.quasi_identifiers.clone(), table.sensitive.keys().cloned().collect())
        }),
    };
    let claims = Claims {
        quasi_identifiers,
        k: record.claims.k,
        combinations: record.claims.combinations.map(|most| most as usize),
        columns: table.map(|table| table.file.columns.clone()),
        sensitive: on_columns(sensitive.into_iter(), known),
        source: None,
    };
    let mut report = check(released, &claims);
    report.findings.extend(job.iter().flat_map(|job| replaced::linked_by_job(job, released)));
    if record.claims.unit.is_some() {
        // Only the publisher can count persons. But as many persons as k have at least as many rows.
        for finding in report.findings.iter_mut().filter(|finding| finding.kind == ClaimKind::Anonymity) {
            finding.claim += " (of rows; persons can be counted with the job and the data)";
        }
    }
    let seen = seen(&report, released, sha256);
    let labels = |name: &str| {
        let at = released.header().iter().position(|column| *column == name)?;
        Some(released.column(at).labels.len() as u64)
    };
    let difference = record.against_release(&seen, labels);
    let claim = record_claim(n_unknown, record.claims.requires.len());
    report.findings.push(compared(difference, &claim));
    if let Some(sha256) = sha256 {
        files_first(&mut report, record, &sha256, None);
    }
    Ok(report)
}

/// Whether a released file is the one that a record is of; `name` is what it is called.
pub(crate) fn same_file(name: &str, sha256: &str, recorded: &str) -> Finding {
    let is_same = sha256 == recorded;
    let found = match is_same {
        true => "it has the digest that the record has",
        false => "it has another digest: it was changed since, or the record is of another release",
    };
    Finding::new(ClaimKind::Files, format!("{name} is the file that the record is of"), is_same, found)
}

/// Whether what a release was made from is what its record says, as far as the publisher's key tells: a finding for each thing that
/// was changed.
pub(crate) fn changed_sources(record: &Record, anew: &Record) -> Vec<Finding> {
    let is_other = |mine: &str, anew: &str| !anew.is_empty() && mine != anew;
    let mut changed: Vec<String> = Vec::new();
    for (name, table) in &record.tables {
        let data =
            if name.is_empty() { "the data are".to_owned() } else { format!("the data of {name} are") };
        let anew = anew.tables.get(name);
        if anew.is_some_and(|anew| is_other(&table.input_hmac_sha256, &anew.input_hmac_sha256)) {
            changed.push(format!("{data} those that the record is of"));
        }
    }
    if is_other(&record.job_hmac_sha256, &anew.job_hmac_sha256) {
        changed.push("the job is the one that the record is of".to_owned());
    }
    for (column, digest) in &record.hierarchies {
        if anew.hierarchies.get(column).is_some_and(|anew| is_other(digest, anew)) {
            changed.push(format!("the hierarchy of {column} is the one that the record is of"));
        }
    }
    let finding =
        |claim| Finding::new(ClaimKind::Files, claim, false, "it has another digest: it was changed since");
    changed.into_iter().map(finding).collect()
}

/// Puts what was found of files in front of what was found in them.
pub(crate) fn files_first(report: &mut Report, record: &Record, sha256: &[u8; 32], anew: Option<&Record>) {
    let recorded = record.table().map(|table| table.file.sha256.as_str()).unwrap_or_default();
    let release = same_file("the release", &hex(sha256), recorded);
    let sources = anew.map_or(Vec::new(), |anew| changed_sources(record, anew));
    report.findings.splice(0..0, [release].into_iter().chain(sources));
}

/// What is claimed of a record that is compared with the release alone, where `n_unknown` of the requirements need more.
pub(crate) fn record_claim(n_unknown: usize, of: usize) -> String {
    match n_unknown {
        0 => "the record is what the release alone can tell".to_owned(),
        n => format!(
            "the record is what the release alone can tell ({n} of {of} requirements can be checked with the job and the data only)"
        ),
    }
}

/// Whether a record is what it should be, given the first difference.
pub(crate) fn compared(difference: Option<String>, claim: &str) -> Finding {
    let holds = difference.is_none();
    Finding::new(ClaimKind::Record, claim, holds, difference.unwrap_or_else(|| "no difference".to_owned()))
}

/// The same, and the digest of the same file.
pub(crate) fn read_with_digest(
    path: &Path,
    format: Option<FileFormat>,
    delimiter: Option<u8>,
) -> Result<(ReleasedFile, [u8; 32])> {
    let stamps = Stamps::of([path]);
    let released = open_release(path, format, delimiter)?;
    let sha256 = sha256_of(path)?;
    stamps.check("the release")?;
    Ok((released, sha256))
}

/// The format of releases, if the job says it.
fn format_of(plan: &Plan) -> Option<FileFormat> {
    plan.job.output.as_ref().and_then(|output| output.format)
}
