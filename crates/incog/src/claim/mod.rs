//! What is promised, and is it kept?
//!
//! The only room where engine and checker meet. It says in the checker's terms what a plan claims of its release
//! ([`claims`]), hands the release over as strings ([`labels`]), and has it verified ([`release`]): only what comes back from there can
//! be written. `incog verify` asks the same of a file ([`file`]).

pub(crate) mod file;
#[cfg(feature = "postgres")]
pub(crate) mod in_database;
pub(crate) mod labels;
pub(crate) mod measured;
pub(crate) mod orders;
pub(crate) mod persons;
pub(crate) mod release;
pub(crate) mod replaced;
pub(crate) mod requirement;
pub(crate) mod suppressed;
pub(crate) mod undoing;

use incog_core::algorithm::{Claimed, Overlap};
use incog_core::hierarchy::Attribute;
use incog_core::table::{Column, Role, Table};
use incog_core::{Error, ErrorKind, Result};
use incog_verify::{
    BoxesClaim, Claims, Counted, Finding, Hierarchy, Labels, OverlapClaim, RecodingClaim, SensitiveClaim,
    Source,
};

use crate::claim::requirement::required;
use crate::job::{Job, MissingUnit};
use crate::plan::hierarchies::path;
use crate::plan::{Chosen, Plan, requirements};

/// What a job claims of the sensitive columns of its table: every one is measured; then what is required beyond k.
pub(crate) fn on_sensitive(job: &Job, table: &Table) -> Result<Vec<SensitiveClaim>> {
    let sensitive = || table.columns().iter().filter(|column| column.role() == Role::Sensitive);
    let names = sensitive().map(|column| column.name().to_owned());
    let mut claims = on_columns(names, of_requirements(job, table)?);
    // The first claims are those of the columns, in order: of very many, none is looked for by its name.
    let mut columns = sensitive();
    for claim in &mut claims {
        let column = columns.next().or_else(|| table.column(&claim.column));
        claim.style = column.map_or_else(Default::default, |column| orders::style(column.notation()));
        claim.telling = job.columns.get(&claim.column).and_then(|column| column.sensitive_values.clone());
    }
    Ok(claims)
}

/// What a job requires beyond k, in the checker's terms.
fn of_requirements(job: &Job, table: &Table) -> Result<Vec<SensitiveClaim>> {
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

/// Every sensitive column is measured; then what is required of it.
pub(crate) fn on_columns(
    columns: impl Iterator<Item = String>,
    required: Vec<SensitiveClaim>,
) -> Vec<SensitiveClaim> {
    columns.map(SensitiveClaim::measured).chain(required).collect()
}

/// What the plan's job claims of any release of it. `input` is the plan's table.
pub(crate) fn claims<'a>(plan: &Plan, input: &'a dyn Labels, recoding: RecodingClaim) -> Result<Claims<'a>> {
    Ok(Claims {
        source: Some(Source {
            input,
            hierarchies: hierarchies(plan.attributes.iter(), &plan.table),
            unit: plan.job.policy.unit.clone(),
            budget: plan.policy.budget(),
            recoding,
        }),
        ..claims_of_release(plan)?
    })
}

/// The same as far as it is about the release alone.
pub(crate) fn claims_of_release(plan: &Plan) -> Result<Claims<'static>> {
    let released = plan.table.columns().iter().filter(|column| column.role() != Role::Identifier);
    let name = |column: &Column| column.name().to_owned();
    Ok(Claims {
        quasi_identifiers: plan.attributes.iter().map(|attribute| attribute.name().to_owned()).collect(),
        // The policy was made from a k that is not negative.
        k: plan.job.policy.k.unsigned_abs(),
        combinations: plan.policy.combinations(),
        columns: Some(released.map(name).collect()),
        sensitive: on_sensitive(&plan.job, &plan.table)?,
        source: None,
    })
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

/// What is claimed of how an algorithm recodes, but for the levels of a node; of any local recoding, where none is known.
pub(crate) fn recoding_claim(plan: &Plan, chosen: Option<&Chosen>) -> Result<RecodingClaim> {
    let Some(Claimed::Boxes(overlap)) = chosen.map(Chosen::claim) else {
        return Ok(RecodingClaim::Local);
    };
    let overlap = match overlap {
        Overlap::DisjointLabels => OverlapClaim::DisjointLabels,
        Overlap::DisjointBoxes => OverlapClaim::DisjointBoxes,
        Overlap::Allowed => OverlapClaim::Allowed,
    };
    let orders = orders::claims(&plan.domains(chosen)?);
    Ok(RecodingClaim::Boxes(BoxesClaim { orders, overlap }))
}

/// What is claimed of a release that an algorithm made; of any that is local, where none is known. Persons are counted
/// apart: see [`persons`].
pub(crate) fn local_claims<'a>(
    plan: &Plan,
    chosen: Option<&Chosen>,
    input: &'a dyn Labels,
) -> Result<Claims<'a>> {
    let mut claims = claims(plan, input, recoding_claim(plan, chosen)?)?;
    if let Some(source) = &mut claims.source {
        source.unit = None;
    }
    // What counts persons is claimed where it is known whom each row is about.
    claims.sensitive.retain(|claim| claim.counted != Counted::Persons);
    Ok(claims)
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
