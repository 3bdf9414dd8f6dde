//! A release that may be written.
//!
//! A recoding is applied, the labels are handed to the checker with every claim, and what comes back verified is the only thing
//! that a sink takes. Released and suppressed rows are accounted for on every run.

use std::sync::Arc;

use incog_core::algorithm::{Judged, Quality};
use incog_core::hierarchy::Attribute;
use incog_core::metric::{Costs, Statistics};
use incog_core::recoding::{PerLevel, Recoding, Release, Side};
use incog_core::table::Role;
use incog_core::{Error, ErrorKind, Progress, Result, Stage};
use incog_verify::{Labels, RecodingClaim, Report, Verified, verify, verify_in_order};
use rand::seq::SliceRandom;

use crate::claim::labels::{Released, input};
use crate::claim::measured::LocalRelease;
use crate::claim::persons::persons_of;
use crate::claim::replaced::check_linked;
use crate::claim::{claims, local_claims, not_verified};
use crate::find::{Better, FoundRecoding, better};
use crate::plan::{Chosen, Plan};
use crate::source::spill::{Spilled, SpilledRelease};

/// Released labels that the checker has found to be what is claimed.
pub(crate) type VerifiedLabels = Verified<Box<dyn Labels + Send>>;

/// A release that the checker has found to keep all its promises, and what is known of it.
pub(crate) struct VerifiedRelease<R = VerifiedLabels> {
    pub(crate) verified: R,
    /// What the checker found, persons included.
    pub(crate) report: Report,
    /// The algorithm, where recoding is not by whole columns.
    pub(crate) model: Option<&'static str>,
    pub(crate) statistics: Statistics,
    /// Whether there is no better one of its kind, by the plan's metric.
    pub(crate) quality: Quality,
    /// How many nodes were judged, of how many.
    pub(crate) judged: Option<Judged>,
    /// Whether each attribute is as collected.
    pub(crate) as_collected: Vec<bool>,
    /// What it would take to keep one column more detailed.
    pub(crate) better: Vec<Better>,
    /// What else there is to say, a line each.
    pub(crate) notes: Vec<String>,
    /// What is known of a local recoding.
    pub(crate) local: Option<LocalRelease>,
    /// What it is scored by.
    pub(crate) costs: Costs,
}

#[cfg(feature = "postgres")]
impl<R> VerifiedRelease<R> {
    /// What is known of it, without its rows.
    pub(crate) fn without_rows(self) -> VerifiedRelease<()> {
        let VerifiedRelease {
            report,
            model,
            statistics,
            quality,
            judged,
            as_collected,
            better,
            notes,
            local,
            costs,
            ..
        } = self;
        VerifiedRelease {
            verified: (),
            report,
            model,
            statistics,
            quality,
            judged,
            as_collected,
            better,
            notes,
            local,
            costs,
        }
    }

    /// Is a released column as collected? Those that are no quasi-identifier are.
    pub(crate) fn is_as_collected(&self, plan: &Plan, name: &str) -> bool {
        let mut attributes = plan.attributes.iter().zip(&self.as_collected);
        let is_replaced = plan.replaced.iter().any(|column| column.name == name);
        !is_replaced
            && attributes.all(|(attribute, is_as_collected)| attribute.name() != name || *is_as_collected)
    }
}

/// Applies a recoding and has the release verified.
pub(crate) fn verified(
    plan: &Plan,
    found: FoundRecoding,
    rows: RowOrder,
    progress: &Progress,
) -> Result<VerifiedRelease> {
    plan.here("a release is written and checked where its rows are")?;
    let FoundRecoding { recoding, local, domains, statistics, costs, quality, judged, known, notes } = found;
    match (recoding, statistics) {
        (Recoding::PerLevel(recoding), Some(statistics)) => {
            let made = of_levels(plan, recoding, &statistics, &costs, rows, &known, progress)?;
            let (verified, better) = made;
            let mut report = verified.report().clone();
            report.findings.extend(check_linked(plan, verified.release())?);
            let with_levels = plan.attributes.iter().zip(&statistics.levels);
            Ok(VerifiedRelease {
                report,
                verified,
                model: None,
                as_collected: with_levels
                    .map(|(attribute, &level)| attribute.level_number(level) == 0)
                    .collect(),
                better,
                notes,
                local: None,
                quality,
                judged,
                costs,
                statistics,
            })
        }
        (recoding, _) => {
            let with_numbers = plan.attributes.iter().enumerate();
            let as_collected =
                with_numbers.map(|(at, attribute)| is_as_collected(&recoding, at, attribute)).collect();
            let (verified, report) = of_rows(plan, local.as_ref(), recoding, rows, progress)?;
            let Some(measured) = LocalRelease::of(plan, &domains, verified.release(), &report) else {
                return Err(Error::new(
                    ErrorKind::Internal,
                    "a released label is in no hierarchy and no interval",
                ));
            };
            check_accounts(verified.release().n_rows(), measured.statistics.suppressed_rows, &costs)?;
            Ok(VerifiedRelease {
                verified,
                report,
                model: local.as_ref().map(Chosen::name),
                statistics: measured.statistics.clone(),
                as_collected,
                better: Vec::new(),
                notes,
                local: Some(measured),
                quality,
                judged,
                costs,
            })
        }
    }
}

/// A full-domain release, verified, and what would be better.
fn of_levels(
    plan: &Plan,
    recoding: PerLevel,
    statistics: &Statistics,
    costs: &Costs,
    rows: RowOrder,
    known: &[(Vec<u8>, u64)],
    progress: &Progress,
) -> Result<(VerifiedLabels, Vec<Better>)> {
    let apply = || -> Result<Box<dyn Labels + Send>> {
        Ok(match &plan.spilled {
            None => {
                let release = Recoding::PerLevel(recoding).apply(&plan.table, &plan.attributes)?;
                Box::new(Released(rows.arrange(release)))
            }
            Some(spilled) => {
                Box::new(SpilledRelease::new(&plan.table, spilled, &plan.attributes, &recoding)?)
            }
        })
    };
    let input = input(plan);
    let levels = statistics.levels.iter().map(|&level| level.into()).collect();
    let (release, claims) = rayon::join(apply, || claims(plan, &*input, RecodingClaim::Levels(levels)));
    let (release, claims) = (release?, claims?);
    check_accounts(release.n_rows(), statistics.suppressed_rows, costs)?;
    progress.enter(Stage::Verifying);
    let check = || match &plan.spilled {
        None => verify(release, &claims),
        Some(_) => verify_in_order(release, &claims),
    };
    let (verified, better) = rayon::join(check, || better(plan, statistics, known));
    // What could not be read looks like a wrong release.
    plan.spilled.as_deref().map_or(Ok(()), Spilled::check)?;
    let verified = verified.map_err(|report| not_verified(&report.findings, &report.undecided))?;
    Ok((verified, better?))
}

/// A release whose rows stand at levels of their own, verified, and what was found, persons included.
fn of_rows(
    plan: &Plan,
    chosen: Option<&Chosen>,
    recoding: Recoding,
    rows: RowOrder,
    progress: &Progress,
) -> Result<(VerifiedLabels, Report)> {
    if let Some(spilled) = &plan.spilled {
        return of_spilled_rows(plan, spilled, chosen, recoding, progress);
    }
    let release = rows.arrange(recoding.apply(&plan.table, &plan.attributes)?);
    progress.enter(Stage::Verifying);
    let input = input(plan);
    let release: Box<dyn Labels + Send> = Box::new(Released(release));
    let verified = verify(release, &local_claims(plan, chosen, &*input)?)
        .map_err(|report| not_verified(&report.findings, &report.undecided))?;
    let mut report = verified.report().clone();
    if let Some(persons) = persons_of(plan, chosen, &recoding)? {
        persons.add_to(&mut report);
    }
    if !report.holds() {
        return Err(not_verified(&report.findings, &report.undecided));
    }
    Ok((verified, report))
}

/// The same of rows that are not in memory. Nobody counts persons there.
fn of_spilled_rows(
    plan: &Plan,
    spilled: &Arc<Spilled>,
    chosen: Option<&Chosen>,
    recoding: Recoding,
    progress: &Progress,
) -> Result<(VerifiedLabels, Report)> {
    let Recoding::PerGroup(recoding) = recoding else {
        return Err(spilled.memory.refuse("such a recoding is applied in memory"));
    };
    let release: Box<dyn Labels + Send> =
        Box::new(SpilledRelease::of_groups(&plan.table, spilled, &plan.attributes, recoding)?);
    progress.enter(Stage::Verifying);
    let input = input(plan);
    let verified = verify_in_order(release, &local_claims(plan, chosen, &*input)?);
    // What could not be read looks like a wrong release.
    spilled.check()?;
    let verified = verified.map_err(|report| not_verified(&report.findings, &report.undecided))?;
    let report = verified.report().clone();
    Ok((verified, report))
}

/// In which order the rows of a release stand while they are in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RowOrder {
    /// The input's. Whoever writes them shuffles them.
    Input,
    /// Drawn from the operating system's randomness, and recorded nowhere.
    Drawn,
}

impl RowOrder {
    fn arrange(self, release: Release) -> Release {
        match self {
            RowOrder::Input => release,
            RowOrder::Drawn => {
                let mut order: Vec<u32> = (0..release.n_rows() as u32).collect();
                order.shuffle(&mut rand::rng());
                release.arranged(&order)
            }
        }
    }
}

/// Rows in are rows released and rows suppressed.
pub(super) fn check_accounts(n_released: usize, suppressed_rows: u64, costs: &Costs) -> Result<()> {
    if n_released as u64 + suppressed_rows == costs.n_rows {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Internal, "released and suppressed rows do not add up"))
}

/// Where each released column stands in the table, and whether it is as collected, given that of each attribute.
pub(crate) fn released(plan: &Plan, as_collected: &[bool]) -> Vec<(usize, bool)> {
    let is_generalized = |name: &str| {
        let mut attributes = plan.attributes.iter().zip(as_collected);
        attributes.any(|(attribute, is_as_collected)| attribute.name() == name && !is_as_collected)
            || plan.replaced.iter().any(|column| column.name == name)
    };
    let columns = plan.table.columns().iter().enumerate();
    columns
        .filter(|(_, column)| column.role() != Role::Identifier)
        .map(|(at, column)| (at, !is_generalized(column.name())))
        .collect()
}

/// Is a column of a local release as collected?
fn is_as_collected(recoding: &Recoding, at: usize, attribute: &Attribute) -> bool {
    let is_lowest = |level: u8| attribute.level_number(level) == 0;
    match recoding {
        Recoding::PerLevel(recoding) => is_lowest(recoding.levels()[at]),
        Recoding::PerValue(recoding) => recoding.levels(at).iter().all(|&level| is_lowest(level)),
        Recoding::PerGroup(recoding) => {
            (0..recoding.n_groups()).all(|group| is_lowest(recoding.levels(group)[at]))
        }
        // An interval of one value may be written in another way than the value.
        Recoding::PerBox(recoding) => (0..recoding.n_boxes())
            .all(|number| matches!(recoding.side(number, at), Side::Label { level, .. } if is_lowest(level))),
    }
}
