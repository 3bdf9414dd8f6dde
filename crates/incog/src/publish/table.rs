//! A release that is a table of a database.
//!
//! **Promise.** The table is there for others when the transaction is committed, and not before: after everything was verified, and after its
//! record has appeared. If anything fails before that, the database undoes it, and a record that was there is there again.
//!
//! Where the rows stay in their database, one statement writes the table and the checker counts it there. Where they are here,
//! the verified rows are copied into a table whose columns have the types of the input's, if both are in one database, and are text
//! otherwise; then the rows that are there are counted.

use std::borrow::Cow;
use std::path::Path;

use incog_core::{Error, ErrorKind, Progress, Result, Stage};
use incog_sql::{Kind, Target};
use incog_verify::{Labels, Report};
use rand::seq::SliceRandom;

use crate::claim::in_database::{cell, verified_in_database};
use crate::claim::not_verified;
use crate::claim::release::{RowOrder, VerifiedLabels, VerifiedRelease, verified};
use crate::find::obstacle::Obstacle;
use crate::find::{FoundRecoding, Outcome, find};
use crate::job::{IfExists, Output, OutputOrder};
use crate::plan::Plan;
use crate::publish::key_file::RunKey;
use crate::publish::places::Places;
use crate::publish::record::{Cost, Key, Observed, Record};
use crate::publish::sink::{self, Finished, Unfinished};
use crate::publish::under_the_key_on_disk;
use crate::source::sql::{SqlConnection, SqlTable, place_of_url};

/// Finds, writes and verifies the release of a plan; nothing is found where an obstacle stands in the way.
pub(crate) fn publish_table(
    plan: &Plan,
    output: &Output,
    places: &Places,
    progress: &Progress,
) -> Result<std::result::Result<VerifiedRelease<()>, Obstacle>> {
    if output.order == OutputOrder::Input {
        return Err(plan
            .job
            .mistake(&["output", "order"], "a table of a database has no order")
            .with_hint("leave `order` out, or write a file"));
    }
    let url = output.url.as_deref().unwrap_or_default();
    let name = output.table.as_deref().unwrap_or_default();
    let beside = plan.sql.as_ref().filter(|sql| place_of_url(url).as_deref() == Some(sql.place()));
    let connection = match beside {
        Some(sql) => SqlConnection::of(sql),
        None => SqlConnection::open(url).map_err(|error| plan.job.at(&["output", "url"], &error))?,
    };
    let replace = output.if_exists == Some(IfExists::Replace);
    let target = connection.engine().target(name, replace);
    let target = target.map_err(|error| plan.job.at(&["output", "table"], &error))?;
    let found = match find(plan, &plan.route, progress)? {
        Outcome::Found(found) => *found,
        Outcome::Nothing(obstacle) => return Ok(Err(obstacle)),
    };
    let made = match (&plan.elsewhere, beside) {
        (Some(_), Some(sql)) => written_there(plan, sql, found, &target, places, &connection, progress)?,
        _ => {
            let made = verified(plan, found, RowOrder::Input, progress)?;
            copied(plan, &made, beside.map(|sql| &**sql), &connection, &target, progress)?;
            appear(plan, &made, &made.verified.release().header(), places, &connection, &target)?;
            made.without_rows()
        }
    };
    Ok(Ok(made))
}

/// The release of rows that stay where they are.
fn written_there(
    plan: &Plan,
    sql: &SqlTable,
    found: FoundRecoding,
    target: &Target,
    places: &Places,
    connection: &SqlConnection,
    progress: &Progress,
) -> Result<VerifiedRelease<()>> {
    let made = verified_in_database(plan, sql, found, &target.working, progress)?;
    let columns: Vec<&str> = made.verified.release().columns.iter().map(String::as_str).collect();
    appear(plan, &made, &columns, places, connection, target)?;
    Ok(made.without_rows())
}

/// Copies verified rows into a new table, in an order that is drawn.
fn copied(
    plan: &Plan,
    made: &VerifiedRelease<VerifiedLabels>,
    beside: Option<&SqlTable>,
    connection: &SqlConnection,
    target: &Target,
    progress: &Progress,
) -> Result<()> {
    progress.enter(Stage::Writing);
    let release = made.verified.release();
    let header = release.header();
    let mut engine = connection.engine();
    let dialect = engine.dialect();
    // Columns that are as collected have labels that are their texts: the input's type can read them.
    let typed = beside.map(|sql| sql.table().relation());
    let column = |at: usize| {
        let name = dialect.identifier(header[at]);
        match typed {
            Some(_) if made.is_as_collected(plan, header[at]) => format!("q.{name}"),
            _ => format!("CAST(NULL AS text) AS {name}"),
        }
    };
    let columns: Vec<String> = (0..header.len()).map(column).collect();
    let from = typed.map_or_else(String::new, |relation| format!(" FROM {}", relation.from()));
    let query = format!("SELECT {}{from} LIMIT 0", columns.join(", "));
    engine.run("making the table of the release", &dialect.create(&target.working, &query))?;
    let labels: Vec<Vec<&str>> = (0..header.len()).map(|at| release.labels(at)).collect();
    let codes: Vec<_> = (0..header.len()).map(|at| release.column(at).codes).collect();
    let mut order: Vec<u32> = (0..release.n_rows() as u32).collect();
    order.shuffle(&mut rand::rng());
    let mut rows = order.into_iter();
    engine.copy_in(&target.working, &mut |row| {
        let Some(row_idx) = rows.next() else { return Ok(false) };
        row.clear();
        let cells = labels
            .iter()
            .zip(&codes)
            .map(|(labels, codes)| cell(labels[codes[row_idx as usize] as usize]).map(Cow::into_owned));
        row.extend(cells);
        if row_idx.is_multiple_of(4096) {
            progress.check()?;
        }
        Ok(true)
    })?;
    let mut n_rows = 0;
    let query = format!("SELECT count(*) FROM {}", target.working);
    engine.rows("counting the release", &query, &[Kind::Number], &mut |cells| {
        n_rows = cells[0].count()?;
        Ok(())
    })?;
    if n_rows == release.n_rows() as u64 {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Internal, "the database has not the rows that were sent to it"))
}

/// The record appears, and then the table. What fails in between leaves both as they were.
fn appear<R>(
    plan: &Plan,
    made: &VerifiedRelease<R>,
    columns: &[&str],
    places: &Places,
    connection: &SqlConnection,
    target: &Target,
) -> Result<()> {
    let mut engine = connection.engine();
    engine.put_in_place(target)?;
    if !made.report.holds() {
        return Err(not_verified(&made.report.findings, &made.report.undecided));
    }
    let Some(path) = &places.record else {
        plan.check_hierarchies()?;
        return engine.commit();
    };
    let put = |key: &Key| -> Result<Finished> {
        let mut file = Unfinished::create_in(path, None)?;
        let record = record_of(plan, made, &made.report, columns, Some(key))?;
        file.put(record.signed(key, places.sign.as_ref()).as_bytes())?;
        file.finish()
    };
    let key = RunKey::read_or_draw(&places.key)?;
    let record = under_the_key_on_disk(key, put, || plan.check_hierarchies())?;
    let before = std::fs::read(path).ok();
    sink::appear(vec![record], None)?;
    engine.commit().inspect_err(|_| put_back(path, before))
}

/// A record whose release did not appear is none.
fn put_back(path: &Path, before: Option<Vec<u8>>) {
    let Some(bytes) = before else {
        let _ = std::fs::remove_file(path);
        return;
    };
    let again = || -> Result<()> {
        let mut file = Unfinished::create_in(path, None)?;
        file.put(&bytes)?;
        sink::appear(vec![file.finish()?], None)
    };
    let _ = again();
}

/// The record of a table, unsigned. It has no digest of rows that were never here.
fn record_of<R>(
    plan: &Plan,
    made: &VerifiedRelease<R>,
    report: &Report,
    columns: &[&str],
    key: Option<&Key>,
) -> Result<Record> {
    let columns = columns.iter().map(|&name| name.to_owned()).collect();
    let seen = Observed { report, columns, sha256: None, input: None };
    let cost = Cost { costs: &made.costs, statistics: &made.statistics, local: made.local.as_ref() };
    Record::new(plan, &seen, &cost, key)
}
