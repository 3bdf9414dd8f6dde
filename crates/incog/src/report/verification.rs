//! What came of checking a release: what it was compared with, what was found, and one line that says it all, at the end.

use std::fmt;
use std::path::PathBuf;

use incog_core::words::counted;
use incog_verify::{ClaimKind, Report};
use schemars::JsonSchema;
use serde::Serialize;

use crate::report::findings::{warnings, write_report};
use crate::report::json::{Described, written};
use crate::report::release_json::{FindingJson, SensitiveJson, findings, sensitive};

/// A release that was checked.
///
/// ```no_run
/// let examined = incog::Verifier::new("release.csv").examine()?;
/// println!("{examined}");
/// # Ok::<(), incog::Error>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Verification {
    /// The released file, or the folder of a database.
    pub release: PathBuf,
    /// The record that it was compared with, if any.
    pub record: Option<PathBuf>,
    /// What there is to say of how it was checked, a line each.
    pub notes: Vec<String>,
    /// What the checker found. What was found of files comes first.
    pub report: Report,
}

/// What came of checking a release.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct VerificationJson {
    release: String,
    record: Option<String>,
    /// Do all claims hold? False also where some could not be checked.
    holds: bool,
    /// Which files were changed since the record was written, in words.
    changed: Vec<String>,
    notes: Vec<String>,
    findings: Vec<FindingJson>,
    /// Claims that could not be checked, and what would help.
    undecided: Vec<FindingJson>,
    sensitive: Vec<SensitiveJson>,
    warnings: Vec<String>,
    smallest_group: Option<u64>,
    fewest_persons: Option<u64>,
    verdict: String,
}

impl Described for VerificationJson {
    const NAME: &'static str = "verify";
}

impl Verification {
    /// Claims about files that do not hold: what was changed.
    fn changed(&self) -> Vec<String> {
        let failed = self.report.findings.iter().filter(|finding| !finding.holds);
        failed
            .filter(|finding| finding.kind == ClaimKind::Files)
            .map(|finding| finding.claim.clone())
            .collect()
    }

    /// In one line: does it hold?
    pub fn verdict(&self) -> String {
        let claims = |n: usize| counted(n as u64, "claim", "claims");
        let (findings, undecided) = (&self.report.findings, self.report.undecided.len());
        let failed = findings.iter().filter(|finding| !finding.holds).count();
        if failed > 0 {
            let of = findings.len() + undecided;
            let verb = if failed == 1 { "fails" } else { "fail" };
            let first = findings.iter().find(|finding| !finding.holds).map_or("", |finding| &finding.claim);
            return format!("does not hold: {failed} of {} {verb}, first of all that {first}", claims(of));
        }
        if undecided > 0 {
            return format!("not decided: {} could not be checked, all others hold", claims(undecided));
        }
        let warnings = match warnings(&self.report).len() as u64 {
            0 => "no warning".to_owned(),
            n => format!("{} above", counted(n, "warning", "warnings")),
        };
        match findings.len() {
            1 => format!("holds: the one claim; {warnings}"),
            n => format!("holds: all {}; {warnings}", claims(n)),
        }
    }

    /// As one JSON object.
    pub fn to_json(&self) -> String {
        written(&VerificationJson {
            release: self.release.display().to_string(),
            record: self.record.as_ref().map(|path| path.display().to_string()),
            holds: self.report.holds(),
            changed: self.changed(),
            notes: self.notes.clone(),
            findings: findings(&self.report.findings),
            undecided: findings(&self.report.undecided),
            sensitive: sensitive(&self.report),
            warnings: warnings(&self.report),
            smallest_group: self.report.smallest_group,
            fewest_persons: self.report.fewest_persons,
            verdict: self.verdict(),
        })
    }
}

impl fmt::Display for Verification {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(record) = &self.record {
            writeln!(f, "record: {}", record.display())?;
        }
        for note in &self.notes {
            writeln!(f, "{note}")?;
        }
        write_report(f, &self.report)?;
        writeln!(f, "verdict: {}", self.verdict())
    }
}
