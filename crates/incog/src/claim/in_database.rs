//! A release that is a table in the database of its input: written there, and verified there before anybody sees it.

use std::borrow::Cow;

use incog_core::recoding::Recoding;
use incog_core::table::Role;
use incog_core::{Error, ErrorKind, Progress, Result, Stage};
use incog_sql::Engine;
use incog_sql::release::{Recoded, ReleasedColumn};
use incog_verify::{
    Database, RecodingClaim, Report, SourceInDatabase, TableInDatabase, Verified, check_in_database,
    verify_in_database,
};

use crate::claim::release::{VerifiedRelease, check_accounts};
use crate::claim::{claims_of_release, hierarchies, not_verified};
use crate::find::{FoundRecoding, better};
use crate::plan::Plan;
use crate::source::sql::SqlTable;

/// A connection, as the checker asks. It tells the checker that something failed, and us what.
struct Asked<'a> {
    engine: &'a mut dyn Engine,
    failed: Option<Error>,
}

impl Asked<'_> {
    fn noted<T>(&mut self, result: Result<T>) -> std::result::Result<T, String> {
        result.map_err(|error| {
            let message = error.to_string();
            self.failed = Some(error);
            message
        })
    }

    /// What failed: the database, or the checker's reading of it.
    fn error(self, problem: String) -> Error {
        self.failed.unwrap_or_else(|| Error::new(ErrorKind::Internal, problem))
    }
}

const VERIFYING: &str = "verifying the release";

impl Database for Asked<'_> {
    fn run(&mut self, statement: &str) -> std::result::Result<(), String> {
        let done = self.engine.run(VERIFYING, statement);
        self.noted(done)
    }

    fn rows(
        &mut self,
        query: &str,
        each: &mut dyn FnMut(&[Option<&str>]),
    ) -> std::result::Result<(), String> {
        let done = self.engine.texts(VERIFYING, query, &mut |cells| {
            each(cells);
            Ok(())
        });
        self.noted(done)
    }
}

/// Writes a recoding into a table that nobody sees yet, and has it verified there.
pub(crate) fn verified_in_database(
    plan: &Plan,
    sql: &SqlTable,
    found: FoundRecoding,
    working: &str,
    progress: &Progress,
) -> Result<VerifiedRelease<Verified<TableInDatabase>>> {
    let FoundRecoding { recoding, statistics, costs, quality, judged, known, notes, .. } = found;
    let (Recoding::PerLevel(recoding), Some(statistics)) = (&recoding, statistics) else {
        return Err(Error::new(ErrorKind::Internal, "a recoding of single rows was found without the rows"));
    };
    let columns = released_columns(plan, &statistics.levels);
    let refused = recoding.suppressed();
    let mut labels = (0..refused.n_groups())
        .map(|group| (0..plan.attributes.len()).map(|at| refused.label(group, at)).collect());
    progress.enter(Stage::Writing);
    let recoded = Recoded { columns: &columns, levels: recoding.levels(), refused: &mut labels };
    sql.table().write(working, recoded)?;
    progress.check()?;
    progress.enter(Stage::Verifying);
    let release = TableInDatabase {
        table: working.to_owned(),
        columns: columns.into_iter().map(|column| column.name).collect(),
        rows: 0,
    };
    let levels = statistics.levels.iter().map(|&level| level.into()).collect();
    let source = source(plan, sql, RecodingClaim::Levels(levels));
    let verified = {
        let mut engine = sql.table().engine();
        let mut asked = Asked { engine: &mut **engine, failed: None };
        match verify_in_database(&mut asked, release, &claims_of_release(plan)?, &source) {
            Ok(verified) => verified,
            Err(problem) => return Err(asked.error(problem)),
        }
    };
    let verified = verified.map_err(|report| not_verified(&report.findings, &report.undecided))?;
    let n_released = usize::try_from(verified.release().rows).unwrap_or(usize::MAX);
    check_accounts(n_released, statistics.suppressed_rows, &costs)?;
    progress.check()?;
    let better = better(plan, &statistics, &known)?;
    let with_levels = plan.attributes.iter().zip(&statistics.levels);
    Ok(VerifiedRelease {
        report: verified.report().clone(),
        verified,
        model: None,
        as_collected: with_levels.map(|(attribute, &level)| attribute.level_number(level) == 0).collect(),
        better,
        notes,
        local: None,
        quality,
        judged,
        costs,
        statistics,
    })
}

/// Checks a table of the database that the plan's input is in.
///
/// Returns its columns, too.
pub(crate) fn check_table(plan: &Plan, sql: &SqlTable, table: &str) -> Result<(Report, Vec<String>)> {
    let relation = sql.table().engine().relation(&incog_sql::From::Table(table.to_owned()))?;
    let columns = relation.columns.iter().map(|column| column.name.clone()).collect();
    let mut release = TableInDatabase { table: relation.sql, columns, rows: 0 };
    let source = source(plan, sql, RecodingClaim::FullDomain);
    let mut engine = sql.table().engine();
    let mut asked = Asked { engine: &mut **engine, failed: None };
    match check_in_database(&mut asked, &mut release, &claims_of_release(plan)?, Some(&source)) {
        Ok(report) => Ok((report, release.columns)),
        Err(problem) => Err(asked.error(problem)),
    }
}

fn source(plan: &Plan, sql: &SqlTable, recoding: RecodingClaim) -> SourceInDatabase {
    let relation = sql.table().relation();
    SourceInDatabase {
        table: relation.sql.clone(),
        columns: relation.columns.iter().map(|column| column.name.clone()).collect(),
        hierarchies: hierarchies(plan.attributes.iter(), &plan.table),
        unit: plan.job.policy.unit.clone(),
        budget: plan.policy.budget(),
        recoding,
    }
}

/// The columns of the release. What is released as collected keeps its type.
fn released_columns(plan: &Plan, levels: &[u8]) -> Vec<ReleasedColumn> {
    let columns = plan.table.columns().iter().filter(|column| column.role() != Role::Identifier);
    let column = |column: &incog_core::table::Column| {
        let mut attributes = plan.attributes.iter().enumerate();
        let generalized = attributes.find(|(at, attribute)| {
            attribute.name() == column.name() && attribute.level_number(levels[*at]) > 0
        });
        ReleasedColumn { name: column.name().to_owned(), labels_of: generalized.map(|(at, _)| at) }
    };
    columns.map(column).collect()
}

/// What a label is as a cell of a database: nothing for the missing value.
pub(crate) fn cell(label: &str) -> Option<Cow<'_, str>> {
    incog_core::table::label::text_of(label).map(Cow::Borrowed)
}
