//! Is a table of a database what its job, its data and its record say?
//!
//! Where the data are in the same database, the checker counts both there. Otherwise the released table is read here, and checked as a
//! file is.

use std::borrow::Cow;

use incog_core::table::{Column, Role, Table};
use incog_core::{Progress, Result};
use incog_verify::{Claims, Labels, RecodingClaim, Report, check};

use crate::claim::file::check_released;
use crate::claim::in_database;
use crate::claim::labels::Collected;
use crate::claim::replaced::{self, Without};
use crate::plan::Plan;
use crate::publish::check::{IS_WHAT_ALL_SAY, check_labels_against_record, compared, record_at_levels};
use crate::publish::record::{Key, Observed, Record};
use crate::source::sql::{SqlInput, SqlTable, place_of_url};

/// A released table of a database.
#[derive(Clone)]
pub(crate) struct ReleasedTable {
    pub(crate) url: String,
    pub(crate) table: String,
}

impl ReleasedTable {
    /// Its rows, copied here.
    fn read(&self) -> Result<Box<dyn Labels>> {
        let sql = SqlTable::open(&SqlInput::of_table(&self.url, &self.table))?;
        let mut columns: Vec<Column> =
            sql.names().iter().map(|name| Column::new(name, Role::Other)).collect();
        sql.fetch(&mut columns, &Progress::new())?;
        Ok(Box::new(Collected(Cow::Owned(Table::new(columns)?))))
    }

    /// Against the job and the data, and the record if there is one. The plan is at the record's levels then.
    pub(crate) fn check_with(
        &self,
        plan: &Plan,
        record: Option<&Record>,
        key: Option<&Key>,
        progress: &Progress,
    ) -> Result<Report> {
        let beside = plan.sql.as_ref().filter(|sql| place_of_url(&self.url).as_deref() == Some(sql.place()));
        let (mut report, columns) = match (&plan.elsewhere, beside) {
            (Some(_), Some(sql)) => in_database::check_table(plan, sql, &self.table)?,
            _ => {
                let released = self.read()?;
                let without = Without::new(plan, &*released);
                let mut report = check_released(plan, &without, RecodingClaim::FullDomain, progress)?;
                report.findings.extend(replaced::findings(plan, &*released, key.map(Key::of_pseudonyms)));
                (report, released.header().iter().map(|&name| name.to_owned()).collect())
            }
        };
        if let Some(record) = record.filter(|record| record.local().is_none()) {
            let seen = Observed { report: &report, columns, sha256: None, input: None };
            let difference = record.first_difference(&record_at_levels(plan, &seen, key)?);
            report.findings.push(compared(difference, IS_WHAT_ALL_SAY));
        }
        Ok(report)
    }

    /// Against the record alone: what everybody can recompute.
    pub(crate) fn check_against_record(&self, record: &Record) -> Result<Report> {
        check_labels_against_record(&*self.read()?, None, record)
    }

    /// What can be seen of the table alone.
    pub(crate) fn check_alone(&self, claims: &Claims<'_>) -> Result<Report> {
        Ok(check(&*self.read()?, claims))
    }
}
