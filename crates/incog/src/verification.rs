//! What a job claims of its release, in the checker's terms, and `incog verify`.
//!
//! The only place where the engine's data meets the independent checker: it hands over strings, and codes that
//! say which string stands where. The checker numbers the strings anew.

use std::borrow::Cow;
use std::fmt;
use std::path::Path;

use incog_core::frequency::Method;
use incog_core::hierarchy::Attribute;
use incog_core::lattice::Grouping;
use incog_core::metric::Statistics;
use incog_core::recoding::Release;
use incog_core::table::label::EMPTY_TEXT;
use incog_core::table::{Column, Role, Table};
use incog_core::{Error, ErrorKind, Result, Watch};
use incog_verify::{
    Cells, Claims, Counted, Finding, Fraction, Hierarchy, LabelColumn, Labels, Measured, NoClaim,
    RecodingClaim, Report, SensitiveClaim, Source, StringTable, check,
};

use crate::job::{Job, MissingUnit};
use crate::local::LocalRelease;
use crate::plan::{self, Plan};
use crate::record::{Cost, Key, Record, Seen, sha256_of};
use crate::requirements::{self, RequirePart};
use crate::source::{self, Data};

/// A release as strings.
pub(crate) struct Released<'a>(pub(crate) Release<'a>);

impl Labels for Released<'_> {
    fn header(&self) -> Vec<&str> {
        self.0.header()
    }

    fn n_rows(&self) -> usize {
        self.0.n_rows()
    }

    fn column(&self, column_idx: usize) -> LabelColumn<'_> {
        LabelColumn {
            labels: self.0.labels(column_idx).collect(),
            codes: Cow::Owned(self.0.codes(column_idx)),
        }
    }

    fn labels(&self, column_idx: usize) -> Vec<&str> {
        self.0.labels(column_idx).collect()
    }

    fn codes_from(&self, column_idx: usize, first: usize, to: &mut [u32]) {
        self.0.codes_from(column_idx, first, to);
    }
}

/// A table as strings.
pub(crate) struct Collected<'a>(pub(crate) Cow<'a, Table>);

impl Labels for Collected<'_> {
    fn header(&self) -> Vec<&str> {
        self.0.columns().iter().map(Column::name).collect()
    }

    fn n_rows(&self) -> usize {
        self.0.n_rows()
    }

    fn column(&self, column_idx: usize) -> LabelColumn<'_> {
        let column = &self.0.columns()[column_idx];
        LabelColumn { labels: column.dictionary().values().collect(), codes: Cow::Borrowed(column.codes()) }
    }

    fn codes_from(&self, column_idx: usize, first: usize, to: &mut [u32]) {
        to.copy_from_slice(&self.0.columns()[column_idx].codes()[first..first + to.len()]);
    }
}

/// What a job claims of the sensitive columns of its table: every one is measured; then what is required beyond k.
pub(crate) fn on_sensitive(job: &Job, table: &Table) -> Result<Vec<SensitiveClaim>> {
    let sensitive = table.columns().iter().filter(|column| column.role() == Role::Sensitive);
    Ok(on_columns(sensitive.map(|column| column.name().to_owned()), requirements(job, table)?))
}

/// What a job requires beyond k, in the checker's terms.
fn requirements(job: &Job, table: &Table) -> Result<Vec<SensitiveClaim>> {
    let counted = if job.policy.unit.is_some() { Counted::Persons } else { Counted::Rows };
    let mut claims = Vec::new();
    for (at, part) in requirements::parts(job)?.iter().enumerate() {
        let cells = requirements::cells(job, at, table)?;
        match required(part, Some(cells), &counted)? {
            Some(mut claim) => {
                // Values that nobody has are none: then it matters who has them.
                if job.policy.missing_unit == Some(MissingUnit::Nobody) {
                    claim.counted = counted.clone();
                }
                claims.push(claim);
            }
            None => return Err(Error::new(ErrorKind::Internal, "a requirement cannot be verified")),
        }
    }
    Ok(claims)
}

/// A requirement in the checker's terms, as the checker reads it. `None` if it takes cells or persons, and they are not at hand.
pub(crate) fn required(
    part: &RequirePart,
    cells: Option<Cells>,
    counted: &Counted,
) -> Result<Option<SensitiveClaim>> {
    let claim = SensitiveClaim::required(&part.model, &part.sensitive, &part.parameters, cells, counted);
    claim.map_err(|problem| {
        let error = Error::input(problem.to_string());
        match problem {
            NoClaim::UnknownModel(_) => error.with_hint("use the version of incog that wrote the record"),
            NoClaim::Parameter(_) => error,
        }
    })
}

/// Every sensitive column is measured; then what is required of it.
pub(crate) fn on_columns(
    columns: impl Iterator<Item = String>,
    required: Vec<SensitiveClaim>,
) -> Vec<SensitiveClaim> {
    columns.map(SensitiveClaim::measured).chain(required).collect()
}

/// What the plan's job claims of any release of it. `input` is the plan's table.
pub(crate) fn claims<'a>(plan: &Plan, input: &'a dyn Labels, recoding: RecodingClaim) -> Result<Claims<'a>> {
    let released = plan.table.columns().iter().filter(|column| column.role() != Role::Identifier);
    let name = |column: &Column| column.name().to_owned();
    Ok(Claims {
        quasi_identifiers: plan.attributes.iter().map(|attribute| attribute.name().to_owned()).collect(),
        // The policy was made from a k that is not negative.
        k: plan.job.policy.k.unsigned_abs(),
        columns: Some(released.map(name).collect()),
        sensitive: on_sensitive(&plan.job, &plan.table)?,
        source: Some(Source {
            input,
            hierarchies: hierarchies(plan.attributes.iter(), &plan.table),
            unit: plan.job.policy.unit.clone(),
            budget: plan.policy.budget(),
            recoding,
        }),
    })
}

/// The labels of a value, by level.
pub(crate) fn path(attribute: &Attribute, code: usize) -> Vec<String> {
    let label = |level| {
        let label = attribute.labels_at(level)[code];
        attribute.hierarchy().labels(level).value(label).to_owned()
    };
    (0..=attribute.height()).map(label).collect()
}

/// The hierarchies of a table, in the checker's terms.
pub(crate) fn hierarchies<'a>(
    attributes: impl Iterator<Item = &'a Attribute>,
    table: &Table,
) -> Vec<Hierarchy> {
    attributes
        .map(|attribute| {
            let column = table.column(attribute.name()).expect("an attribute is bound to a column");
            let values = column.dictionary().values().enumerate();
            Hierarchy {
                levels: (0..=usize::from(attribute.height())).collect(),
                paths: values.map(|(code, value)| (value.to_owned(), path(attribute, code))).collect(),
            }
        })
        .collect()
}

/// Why a release cannot be checked against data that are not in memory: its rows come in any order.
const CHECKED_IN_MEMORY: &str = "a file is checked against the data in memory";

impl Plan {
    /// Checks a released file against this plan's job and data, trusting nothing but the input. `recoding` says how it
    /// is supposed to have been made; where the job asks for local recoding, it was. Without a delimiter it is the data's.
    pub fn verify(&self, release: &Path, delimiter: Option<u8>, recoding: RecodingClaim) -> Result<Report> {
        self.in_memory(CHECKED_IN_MEMORY)?;
        let released = read_release(release, delimiter.or(self.format.delimiter()))?;
        let released = with_empty_texts(release, released, &self.table);
        let input = Collected(Cow::Borrowed(&self.table));
        if recoding == RecodingClaim::FullDomain && self.local.is_none() {
            return Ok(check(&*released, &claims(self, &input, recoding)?));
        }
        let mut report = check(&*released, &self.local_claims(self.local, &input)?);
        if let Some(persons) = self.persons_anew(&*released, &Watch::new())? {
            persons.add_to(&mut report);
        }
        Ok(report)
    }

    /// The same for a release with a record, of whose levels this plan is: every claim, and the first thing in which
    /// the record differs from what is found anew.
    pub fn verify_record(
        &self,
        release: &Path,
        delimiter: Option<u8>,
        record: &Record,
        key: Option<&Key>,
    ) -> Result<Report> {
        self.in_memory(CHECKED_IN_MEMORY)?;
        let (released, sha256) = read_with_digest(release, delimiter.or(self.format.delimiter()))?;
        let released = with_empty_texts(release, released, &self.table);
        let input = Collected(Cow::Borrowed(&self.table));
        if record.local.is_some() {
            return self.verify_local_record(sha256, &*released, record, key);
        }
        let mut report = check(&*released, &claims(self, &input, RecodingClaim::FullDomain)?);
        let costs = self.costs()?;
        let (problem, bottom) = (self.problem(), vec![0; self.attributes.len()]);
        let set =
            problem.source.count(&Grouping::of_levels(&bottom), &problem.policy.demand(), Method::Auto)?;
        let node = Statistics::new(problem, &self.attributes, bottom, &set)?;
        let seen = Seen {
            report: &report,
            columns: released.header().iter().map(|&name| name.to_owned()).collect(),
            sha256,
            input: None,
        };
        let anew = Record::new(self, &seen, &Cost { costs: &costs, statistics: &node, local: None }, key)?;
        self.check_hierarchies()?;
        let finding = compared(
            record.first_difference(&anew),
            "the record is what the job, the data and the release say",
        );
        report.findings.push(finding);
        Ok(report)
    }

    /// The same where recoding is local: what is measured is measured from the released labels.
    fn verify_local_record(
        &self,
        sha256: [u8; 32],
        released: &dyn Labels,
        record: &Record,
        key: Option<&Key>,
    ) -> Result<Report> {
        let input = Collected(Cow::Borrowed(&self.table));
        let mut report = check(released, &self.local_claims(self.local, &input)?);
        if let Some(persons) = self.persons_anew(released, &Watch::new())? {
            persons.add_to(&mut report);
        }
        if !report.undecided.is_empty() {
            // What could not be counted is not compared.
            report.fewest_persons = record.claims.fewest_persons;
        }
        let claim = "the record is what the job, the data and the release say";
        let domains = match self.local {
            Some(search) => self.domains(search)?,
            None => vec![None; self.attributes.len()],
        };
        let Some(local) = LocalRelease::of(self, &domains, released, &report) else {
            let found = "a released column is missing or has labels of no level".to_owned();
            report.findings.push(Finding { claim: claim.to_owned(), found, holds: false });
            return Ok(report);
        };
        let seen = Seen {
            report: &report,
            columns: released.header().iter().map(|&name| name.to_owned()).collect(),
            sha256,
            input: None,
        };
        let costs = self.costs()?.with_domains(&domains);
        let cost = Cost { costs: &costs, statistics: &local.statistics, local: Some(&local) };
        let anew = Record::new(self, &seen, &cost, key)?;
        self.check_hierarchies()?;
        report.findings.push(compared(record.first_difference(&anew), claim));
        Ok(report)
    }
}

/// Checks a released file against its record alone: what everybody can recompute. Without a delimiter it is the one that
/// the record's job gives, if any.
pub fn verify_against(release: &Path, record: &Record, delimiter: Option<u8>) -> Result<Report> {
    // A job that cannot be read was forged, which is found below.
    let job = record.job().ok();
    let given = job.as_ref().and_then(|job| plan::delimiter(job).ok().flatten());
    let (released, sha256) = read_with_digest(release, delimiter.or(given))?;
    let counted = if record.claims.unit.is_some() { Counted::Persons } else { Counted::Rows };
    let known: Vec<SensitiveClaim> = record
        .claims
        .requires
        .iter()
        .filter_map(|part| required(part, None, &counted).transpose())
        .collect::<Result<_>>()?;
    let n_unknown = record.claims.requires.len() - known.len();
    // Not what the record says of itself, but what its job does.
    let (quasi_identifiers, sensitive) = match &job {
        Some(job) => (job.quasi_identifiers(), job.sensitive_columns()),
        None => (record.quasi_identifiers.clone(), record.claims.sensitive.keys().cloned().collect()),
    };
    let claims = Claims {
        quasi_identifiers,
        k: record.claims.k,
        columns: Some(record.release.columns.clone()),
        sensitive: on_columns(sensitive.into_iter(), known),
        source: None,
    };
    let mut report = check(&*released, &claims);
    if record.claims.unit.is_some() {
        // Only the publisher can count persons. But as many persons as k have at least as many rows.
        for finding in report.findings.iter_mut().filter(|finding| finding.claim.contains("-anonymity")) {
            finding.claim += " (of rows; persons can be counted with the job and the data)";
        }
    }
    let seen = Seen {
        report: &report,
        columns: released.header().iter().map(|&name| name.to_owned()).collect(),
        sha256,
        input: None,
    };
    let labels = |name: &str| {
        let at = released.header().iter().position(|column| *column == name)?;
        Some(released.column(at).labels.len() as u64)
    };
    let difference = record.against_release(&seen, labels);
    let claim = record_claim(n_unknown, record.claims.requires.len());
    report.findings.push(compared(difference, &claim));
    Ok(report)
}

/// What is claimed of a record that is compared with the release alone, where some of so many requirements need more.
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
    Finding {
        claim: claim.to_owned(),
        holds: difference.is_none(),
        found: difference.unwrap_or_else(|| "no difference".to_owned()),
    }
}

/// What to say of claims that could not be checked.
pub fn not_checked(undecided: &[Finding]) -> Error {
    let open = |finding: &Finding| format!("{} ({})", finding.claim, finding.found);
    let open: Vec<String> = undecided.iter().map(open).collect();
    Error::new(ErrorKind::Limit, format!("it could not be checked that {}", open.join("; ")))
}

/// What to say of a release of ours that the checker refuses, or cannot check.
pub(crate) fn not_verified(findings: &[Finding], undecided: &[Finding]) -> Error {
    if findings.iter().all(|finding| finding.holds) {
        return not_checked(undecided).with_hint("nothing was written");
    }
    let failed: Vec<String> =
        findings.iter().filter(|finding| !finding.holds).map(ToString::to_string).collect();
    Error::new(ErrorKind::Internal, format!("the release did not pass verification: {}", failed.join("; ")))
        .with_hint("nothing was written; please report this")
}

/// A released file as strings; without a delimiter, a CSV file's header's most frequent one is taken. CSV is read by
/// the checker itself.
pub fn read_release(path: &Path, delimiter: Option<u8>) -> Result<Box<dyn Labels>> {
    if source::is_parquet(path) {
        // A release may have no rows.
        let data = Data::open(&[path.to_owned()], None)?;
        let (table, _) = data.read_even_empty(|_| Role::Other, &Watch::new())?;
        return Ok(Box::new(Collected(Cow::Owned(table))));
    }
    let (file, delimiter) = source::open_text(path, "the release", delimiter)?;
    let table = StringTable::parse(file, delimiter).map_err(|problem| {
        Error::input(format!("cannot read the release `{}`: {problem}", path.display()))
    })?;
    Ok(Box::new(table))
}

/// The same, and the digest of the same file.
pub(crate) fn read_with_digest(path: &Path, delimiter: Option<u8>) -> Result<(Box<dyn Labels>, [u8; 32])> {
    let stamps = source::Stamps::of([path]);
    let labels = read_release(path, delimiter)?;
    let sha256 = sha256_of(path)?;
    stamps.check("the release")?;
    Ok((labels, sha256))
}

/// A released file of a table. In a CSV file an empty cell is a missing value; in a column of the table that has no missing
/// values, but empty texts, it is one of those. (With both the column would not have been written.)
pub(crate) fn with_empty_texts(path: &Path, released: Box<dyn Labels>, table: &Table) -> Box<dyn Labels> {
    if source::is_parquet(path) {
        return released;
    }
    let has_texts_only = |name: &str| {
        table.column(name).is_some_and(|column| {
            column.dictionary().code(EMPTY_TEXT).is_some() && column.dictionary().code("").is_none()
        })
    };
    let is_text: Vec<bool> = released.header().iter().map(|name| has_texts_only(name)).collect();
    if is_text.contains(&true) { Box::new(EmptyTexts { released, is_text }) } else { released }
}

/// A table in whose columns, or some of them, an empty cell is an empty text.
struct EmptyTexts {
    released: Box<dyn Labels>,
    is_text: Vec<bool>,
}

impl Labels for EmptyTexts {
    fn header(&self) -> Vec<&str> {
        self.released.header()
    }

    fn n_rows(&self) -> usize {
        self.released.n_rows()
    }

    fn column(&self, column_idx: usize) -> LabelColumn<'_> {
        LabelColumn { labels: self.labels(column_idx), codes: self.released.column(column_idx).codes }
    }

    fn labels(&self, column_idx: usize) -> Vec<&str> {
        let mut labels = self.released.labels(column_idx);
        if self.is_text[column_idx] {
            labels.iter_mut().filter(|label| label.is_empty()).for_each(|label| *label = EMPTY_TEXT);
        }
        labels
    }

    fn codes_from(&self, column_idx: usize, first: usize, to: &mut [u32]) {
        self.released.codes_from(column_idx, first, to);
    }
}

/// The findings, and what was measured.
pub(crate) fn write_report(f: &mut dyn fmt::Write, report: &Report) -> fmt::Result {
    for finding in &report.findings {
        writeln!(f, "  {finding}")?;
    }
    write_undecided(f, &report.undecided)?;
    write_measured(f, &report.measured, "", ["group", "groups"])
}

/// What could not be checked.
pub(crate) fn write_undecided(f: &mut dyn fmt::Write, undecided: &[Finding]) -> fmt::Result {
    for Finding { claim, found, .. } in undecided {
        writeln!(f, "  open  {claim} (could not be checked: {found})")?;
    }
    Ok(())
}

/// What sensitive columns reach. `of` comes before the columns' names; one group and several are what is compared.
pub(crate) fn write_measured(
    f: &mut dyn fmt::Write,
    all: &[Measured],
    of: &str,
    [group, groups]: [&str; 2],
) -> fmt::Result {
    for measured in all {
        let Some((n, size)) = measured.alpha else {
            continue;
        };
        write!(
            f,
            "  {of}{}: alpha {:.3} ({n} of {size}), distinct l {}, entropy l {:.2}, t {:.3}",
            measured.column,
            n as f64 / size as f64,
            measured.distinct_l.unwrap_or(0),
            measured.entropy_l.unwrap_or(0.0),
            measured.t.map_or(0.0, Fraction::to_f64)
        )?;
        if let Some(t) = measured.ordered_t {
            write!(f, " (ordered {:.3})", t.to_f64())?;
        }
        if let Some(c) = measured.recursive_c.first() {
            write!(f, ", recursive (c, 2) for c above {:.3}", c.to_f64())?;
        }
        writeln!(f)?;
        if measured.uniform_groups > 0 {
            let these = match measured.uniform_groups {
                1 => format!("1 {group} has"),
                n => format!("{n} {groups} have"),
            };
            let column = &measured.column;
            writeln!(
                f,
                "  warning: {these} a single value of {of}{column}: whoever is in one of them is known to have it"
            )?;
        }
    }
    Ok(())
}

/// A report as text.
pub fn render_report(report: &Report) -> String {
    let mut text = String::new();
    write_report(&mut text, report).expect("writing to a string cannot fail");
    text
}

#[cfg(test)]
mod tests {
    use incog_core::privacy::{self, Kind, Model};
    use incog_core::registry::Entry;

    use super::*;
    use crate::job::RequireJob;

    /// Two groups, in each of which every illness has the same share.
    const RELEASE: &str = "zip,ill\n1*,1\n1*,2\n2*,1\n2*,2\n2*,1\n2*,2\n";

    /// Flags that require the model, with each sample of its entry and each name that it lets choose; cells are those above.
    fn flags(entry: &Entry<Model>) -> Vec<String> {
        let texts = |kind: Kind, samples: &[&str]| -> Vec<String> {
            match kind {
                Kind::Column => vec!["ill".to_owned()],
                Kind::Whole | Kind::Number => samples.iter().map(|&text| text.to_owned()).collect(),
                Kind::Values => vec!["1".to_owned()],
                Kind::Order => vec!["1|2".to_owned()],
                Kind::Choice(choice) | Kind::Distance(choice) => choice.names().map(str::to_owned).collect(),
                Kind::Hierarchy => vec!["ill.csv".to_owned()],
            }
        };
        let required = entry.item.required.iter().map(|parameter| {
            let texts = texts(parameter.kind, parameter.samples);
            assert!(!texts.is_empty(), "{}: `{}` has no samples", entry.name, parameter.name);
            (parameter.name, texts)
        });
        let required: Vec<(&str, Vec<String>)> = required.collect();
        let most = required.iter().map(|(_, texts)| texts.len()).max().unwrap_or(1);
        let flag = |at: usize| -> String {
            let settings = required.iter().map(|(name, texts)| format!("{name}={}", texts[at % texts.len()]));
            format!("{}:{}", entry.name, settings.collect::<Vec<_>>().join(","))
        };
        let mut flags: Vec<String> = (0..most).map(flag).collect();
        for parameter in entry.item.optional {
            let texts = texts(parameter.kind, parameter.samples);
            flags.extend(texts.iter().map(|text| format!("{},{}={text}", flag(0), parameter.name)));
        }
        flags
    }

    #[test]
    fn the_checker_can_decide_whatever_a_registered_model_can_be_asked_for() {
        let release = StringTable::parse(RELEASE.as_bytes(), b',').unwrap();
        let report = |sensitive: Vec<SensitiveClaim>| {
            let quasi_identifiers = vec!["zip".to_owned()];
            check(&release, &Claims { quasi_identifiers, k: 1, columns: None, sensitive, source: None })
        };
        let nothing = report(vec![SensitiveClaim::measured("ill")]).findings.len();
        // The first is what `k` in [policy] asks for.
        for entry in privacy::ALL.iter().skip(1) {
            for flag in flags(entry) {
                let require = RequireJob::parse(&flag).unwrap();
                let part = requirements::part(&require).unwrap();
                let text = serde_json::to_string(&part).unwrap();
                assert_eq!(serde_json::from_str::<RequirePart>(&text).unwrap(), part, "{flag}");
                let paths = ["1", "2"].map(|value| vec![value.to_owned(), "*".to_owned()]).to_vec();
                let (values, order) = (vec!["1".to_owned()], vec!["1".to_owned(), "2".to_owned()]);
                let claim = required(&part, Some(Cells { values, order, paths }), &Counted::Rows);
                let claim = claim.unwrap_or_else(|error| panic!("{flag}: {error}"));
                let claim = claim.unwrap_or_else(|| panic!("{flag}: nothing is claimed"));
                // A claim of its own: decided one way or the other, not only measured.
                let decided = report(vec![claim]).findings.len();
                assert_eq!(decided, nothing + 1, "{flag}");
            }
        }
    }

    #[test]
    fn a_job_with_a_requirement_says_the_same_after_it_was_written() {
        for flag in privacy::ALL.iter().skip(1).flat_map(flags) {
            let require = RequireJob::parse(&flag).unwrap();
            let text = toml::to_string(&require).unwrap();
            let again: RequireJob = toml::from_str(&text).unwrap();
            assert_eq!(toml::to_string(&again).unwrap(), text, "{flag}");
            let keys: Vec<&str> = text.lines().filter_map(|line| line.split([' ', '.']).next()).collect();
            assert!(require.given().iter().all(|key| text.contains(key)), "{flag}: {keys:?}");
        }
    }
}
