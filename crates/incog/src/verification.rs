//! What a job claims of its release, in the checker's terms, and `incog verify`.
//!
//! The only place where the engine's data meets the independent checker: it hands over strings, and codes that
//! say which string stands where. The checker numbers the strings anew.

use std::borrow::Cow;
use std::fmt;
use std::path::Path;

use incog_core::check::Problem;
use incog_core::frequency::Method;
use incog_core::hierarchy::{Attribute, Attributes};
use incog_core::lattice::{Grouping, Lattice};
use incog_core::metric;
use incog_core::recoding::Release;
use incog_core::table::{Column, Role, Table};
use incog_core::{Error, ErrorKind, Result, Watch};
use incog_verify::{
    Claims, Finding, Fraction, Hierarchy, LabelColumn, Labels, RecodingClaim, Report, SensitiveClaim, Source,
    StringTable, check,
};

use crate::plan::{self, Plan};
use crate::record::{Key, Record, Seen, sha256_of};
use crate::requirements::{self, RequirePart};
use crate::source::{self, Data, Format};

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
}

/// What the plan's job requires beyond k, in the checker's terms.
pub(crate) fn requirements(plan: &Plan) -> Result<Vec<SensitiveClaim>> {
    let unit = plan.job.policy.unit.as_deref();
    required(&requirements::parts(&plan.job)?, unit)
}

/// Requirements in the checker's terms.
///
/// **To be completed** as the checker learns more: pooled values, orders given as a list, hierarchical distances,
/// delta-disclosure, beta-likeness, and shares of persons. Until then such a requirement is refused here, and so no release
/// is written that nobody has checked.
fn required(parts: &[RequirePart], unit: Option<&str>) -> Result<Vec<SensitiveClaim>> {
    let mut claims = Vec::new();
    for part in parts {
        let has = |key: &str| part.parameters.contains_key(key);
        let number = |key: &str| -> Result<Fraction> {
            let number = part.parameters.get(key).and_then(|text| text.parse().ok());
            number.ok_or_else(|| Error::input(format!("`{}` has no number `{key}`", part.model)))
        };
        let whole = |key: &str| -> Result<u64> {
            let l = number(key)?.reduced();
            let whole = u64::try_from(l.numerator()).ok().filter(|_| l.denominator() == 1);
            whole.ok_or_else(|| Error::input(format!("`{key}` of `{}` is not a whole number", part.model)))
        };
        let mut claim = SensitiveClaim::measured(part.sensitive.clone());
        let distance = part.parameters.get("distance").map_or("equal", String::as_str);
        match (part.model.as_str(), unit) {
            ("distinct-l", _) => claim.distinct_l = Some(whole("l")?),
            ("alpha-k", None) if !has("values") => claim.alpha = Some(number("alpha")?),
            ("entropy-l", None) => claim.entropy_l = Some(number("l")?),
            ("recursive-cl", None) => claim.recursive = Some((number("c")?, whole("l")?)),
            ("t-closeness", None) if distance != "hierarchical" && !has("order") => {
                (claim.t, claim.ordered) = (Some(number("t")?), distance == "ordered");
            }
            (model, _) => {
                let of = match unit {
                    Some(_) => " counted by persons",
                    None if has("values") => " of pooled values",
                    None if has("order") => " by a list of values",
                    None if distance == "hierarchical" => " by hierarchical distances",
                    None => "",
                };
                return Err(Error::input(format!("`{model}`{of} cannot be verified independently yet"))
                    .with_hint("nothing is published unverified; `incog search` works with this job"));
            }
        }
        claims.push(claim);
    }
    Ok(claims)
}

/// Can the checker account for what is left out at these levels?
///
/// **To be removed** once it knows of other models than k: until then it takes every suppressed group of at least k rows for
/// one that was large enough to be published.
pub(crate) fn check_suppression(plan: &Plan, levels: &[u8]) -> Result<()> {
    let Problem { source, policy } = plan.problem();
    let Some(k_only) = policy.k_only() else {
        return Ok(());
    };
    let set = source.count(&Grouping::of_levels(levels), &policy.demand(), Method::Auto)?;
    let n_large = policy.refused(&set)?.len() - k_only.refused(&set)?.len();
    if n_large == 0 {
        return Ok(());
    }
    Err(Error::input(format!(
        "{n_large} groups of enough rows are left out for other models than k-anonymity, which cannot be verified \
         independently yet"
    ))
    .with_hint("nothing is published unverified; `incog search` works with this job; or set suppression to 0"))
}

/// One claim for each sensitive column, with the requirements on it where they have room in one; all are measured.
fn on_columns(columns: impl Iterator<Item = String>, required: Vec<SensitiveClaim>) -> Vec<SensitiveClaim> {
    let mut claims: Vec<SensitiveClaim> = columns.map(SensitiveClaim::measured).collect();
    for claim in required {
        let is_free = |other: &&mut SensitiveClaim| {
            other.column == claim.column
                && !(other.alpha.is_some() && claim.alpha.is_some()
                    || other.distinct_l.is_some() && claim.distinct_l.is_some()
                    || other.entropy_l.is_some() && claim.entropy_l.is_some()
                    || other.recursive.is_some() && claim.recursive.is_some()
                    || other.t.is_some() && claim.t.is_some())
        };
        match claims.iter_mut().find(is_free) {
            None => claims.push(claim),
            Some(other) => {
                other.alpha = other.alpha.or(claim.alpha);
                other.distinct_l = other.distinct_l.or(claim.distinct_l);
                other.entropy_l = other.entropy_l.or(claim.entropy_l);
                other.recursive = other.recursive.or(claim.recursive);
                other.ordered |= claim.ordered;
                other.t = other.t.or(claim.t);
            }
        }
    }
    claims
}

/// What the plan's job claims of any release of it. `input` is the plan's table.
pub(crate) fn claims<'a>(plan: &Plan, input: &'a dyn Labels, recoding: RecodingClaim) -> Result<Claims<'a>> {
    let released = plan.table.columns().iter().filter(|column| column.role() != Role::Identifier);
    let sensitive = plan.table.columns().iter().filter(|column| column.role() == Role::Sensitive);
    let name = |column: &Column| column.name().to_owned();
    Ok(Claims {
        quasi_identifiers: plan.attributes.iter().map(|attribute| attribute.name().to_owned()).collect(),
        // The policy was made from a k that is not negative.
        k: plan.job.policy.k.unsigned_abs(),
        columns: Some(released.map(name).collect()),
        sensitive: on_columns(sensitive.map(name), requirements(plan)?),
        source: Some(Source {
            input,
            hierarchies: hierarchies(&plan.attributes, &plan.table),
            unit: plan.job.policy.unit.clone(),
            budget: plan.policy.budget(),
            recoding,
        }),
    })
}

fn hierarchies(attributes: &Attributes, table: &Table) -> Vec<Hierarchy> {
    let path = |attribute: &Attribute, code: usize| -> Vec<String> {
        let label = |level| {
            let label = attribute.labels_at(level)[code];
            attribute.hierarchy().labels(level).value(label).to_owned()
        };
        (0..=attribute.height()).map(label).collect()
    };
    attributes
        .iter()
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

impl Plan {
    /// Checks a released file against this plan's job and data, trusting nothing but the input. `recoding` says how it
    /// is supposed to have been made. Without a delimiter it is the data's.
    pub fn verify(&self, release: &Path, delimiter: Option<u8>, recoding: RecodingClaim) -> Result<Report> {
        let released = read_release(release, delimiter.or(self.delimiter()))?;
        let input = Collected(Cow::Borrowed(&self.table));
        Ok(check(&*released, &claims(self, &input, recoding)?))
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
        let released = read_release(release, delimiter.or(self.delimiter()))?;
        let input = Collected(Cow::Borrowed(&self.table));
        let mut report = check(&*released, &claims(self, &input, RecodingClaim::FullDomain)?);
        let costs = self.costs()?;
        let lattice = Lattice::new(&self.attributes.heights())?;
        let described = metric::describe(self.problem(), &self.attributes, &lattice, &[0], &Watch::new())?;
        let Some(node) = described.first() else {
            return Err(Error::new(ErrorKind::Internal, "a lattice without nodes"));
        };
        let seen = Seen {
            report: &report,
            columns: released.header().iter().map(|&name| name.to_owned()).collect(),
            sha256: sha256_of(release)?,
        };
        let anew = Record::new(self, &self.job, &seen, &costs, &node.statistics, key)?;
        let finding = compared(record, &anew, "the record is what the job, the data and the release say");
        report.findings.push(finding);
        Ok(report)
    }

    /// What separates fields in the release, if that is known.
    fn delimiter(&self) -> Option<u8> {
        match self.format {
            Format::Csv { delimiter } => Some(delimiter),
            #[cfg(feature = "parquet")]
            Format::Parquet { .. } => None,
        }
    }
}

/// Checks a released file against its record alone: what everybody can recompute. Without a delimiter it is the one that
/// the record's job gives, if any.
pub fn verify_against(release: &Path, record: &Record, delimiter: Option<u8>) -> Result<Report> {
    // A job that cannot be read was forged; its digest will tell.
    let given = record.job().and_then(|job| plan::delimiter(&job)).ok().flatten();
    let released = read_release(release, delimiter.or(given))?;
    let required = required(&record.claims.requires, record.claims.unit.as_deref())?;
    let claims = Claims {
        quasi_identifiers: record.quasi_identifiers.clone(),
        k: record.claims.k,
        columns: Some(record.release.columns.clone()),
        sensitive: on_columns(record.claims.sensitive.keys().cloned(), required),
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
        sha256: sha256_of(release)?,
    };
    let anew = record.with_seen(&seen);
    report.findings.push(compared(record, &anew, "the record is what the release says"));
    Ok(report)
}

fn compared(record: &Record, anew: &Record, claim: &str) -> Finding {
    let difference = record.first_difference(anew);
    Finding {
        claim: claim.to_owned(),
        holds: difference.is_none(),
        found: difference.unwrap_or_else(|| "all of it".to_owned()),
    }
}

/// A released file as strings; without a delimiter, a CSV file's header's most frequent one is taken. CSV is read by
/// the checker itself.
pub fn read_release(path: &Path, delimiter: Option<u8>) -> Result<Box<dyn Labels>> {
    if source::is_parquet(path) {
        let (table, _) = Data::open(&[path.to_owned()], None)?.read(|_| Role::Other, &Watch::new())?;
        return Ok(Box::new(Collected(Cow::Owned(table))));
    }
    let (file, delimiter) = source::open_text(path, "the release", delimiter)?;
    let table = StringTable::parse(file, delimiter).map_err(|problem| {
        Error::input(format!("cannot read the release `{}`: {problem}", path.display()))
    })?;
    Ok(Box::new(table))
}

/// The findings, and what was measured.
pub(crate) fn write_report(f: &mut dyn fmt::Write, report: &Report) -> fmt::Result {
    for finding in &report.findings {
        writeln!(f, "  {finding}")?;
    }
    for (at, measured) in report.measured.iter().enumerate() {
        // A column with several claims of one kind is measured for each.
        let is_told = report.measured[..at].iter().any(|earlier| earlier.column == measured.column);
        let Some((n, of)) = measured.alpha.filter(|_| !is_told) else {
            continue;
        };
        write!(
            f,
            "  {}: alpha {:.3} ({n} of {of}), distinct l {}, entropy l {:.2}, t {:.3}",
            measured.column,
            n as f64 / of as f64,
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
            let groups = match measured.uniform_groups {
                1 => "1 group has".to_owned(),
                n => format!("{n} groups have"),
            };
            let column = &measured.column;
            writeln!(
                f,
                "  warning: {groups} a single value of {column}: whoever is in one of them is known to have it"
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
