//! A table of PostgreSQL.

use std::sync::{Arc, Mutex, MutexGuard};

use incog_core::frequency::FrequencySource;
use incog_core::table::Column;
use incog_core::{Progress, Result};
use incog_sql::postgres::Postgres;
use incog_sql::star::Dimensions;
use incog_sql::{From, SharedEngine, Table, lock};

use crate::source::sql::{SqlFrom, SqlInput};
use crate::source::{Bindings, CellType, Engine};

/// Where a URL leads, without whoever logs in.
pub(crate) fn place_of_url(url: &str) -> Option<String> {
    Postgres::shown_of(url).ok()
}

/// A connection on which a release is written.
pub(crate) struct SqlConnection(SharedEngine);

impl SqlConnection {
    /// That of a table, whose snapshot it shares.
    pub(crate) fn of(table: &SqlTable) -> Self {
        SqlConnection(table.table.shared())
    }

    /// A new one.
    pub(crate) fn open(url: &str) -> Result<Self> {
        Ok(SqlConnection(Arc::new(Mutex::new(Box::new(Postgres::connect(url)?)))))
    }

    /// The engine. Everybody else waits meanwhile.
    pub(crate) fn engine(&self) -> MutexGuard<'_, Box<dyn incog_sql::Engine>> {
        lock(&self.0)
    }
}

/// A table of a database, on a connection of its own that sees one snapshot of it.
#[derive(Debug)]
pub(crate) struct SqlTable {
    table: Table,
    /// Where the database is, without whoever logs in.
    place: String,
    unit: Option<String>,
}

impl SqlTable {
    pub(crate) fn open(input: &SqlInput) -> Result<Self> {
        let engine = Postgres::connect(&input.url)?;
        let place = engine.shown().to_owned();
        let from = match &input.from {
            SqlFrom::Table(table) => From::Table(table.clone()),
            SqlFrom::Query(query) => From::Query(query.clone()),
        };
        let table = Table::open(Box::new(engine), &from, input.room)?;
        Ok(SqlTable { table, place, unit: input.unit.clone() })
    }

    /// What it is called in messages.
    pub(crate) fn name(&self) -> &str {
        &self.table.relation().shown
    }

    /// Where the database is, without whoever logs in.
    pub(crate) fn place(&self) -> &str {
        &self.place
    }

    pub(crate) fn table(&self) -> &Table {
        &self.table
    }

    /// The names of its columns.
    pub(crate) fn names(&self) -> Vec<String> {
        self.table.relation().columns.iter().map(|column| column.name.clone()).collect()
    }

    /// What the cells of each column may be read as.
    pub(crate) fn types(&self) -> Vec<CellType> {
        let of = |is_text: bool| if is_text { CellType::Text } else { CellType::Open };
        self.table.relation().columns.iter().map(|column| of(column.is_text)).collect()
    }

    /// Fails where a quasi-identifier has values that nobody can generalize.
    pub(crate) fn check_columns(&self, is_quasi: impl Fn(&str) -> bool) -> Result<()> {
        let columns = &self.table.relation().columns;
        columns
            .iter()
            .filter(|column| is_quasi(&column.name))
            .try_for_each(incog_sql::SourceColumn::check_groupable)
    }

    /// Can rows be counted in the database?
    pub(crate) fn may_count(&self) -> bool {
        self.table.engine().check_temporary().is_ok()
    }

    /// Copies all rows into empty columns.
    pub(crate) fn fetch(&self, columns: &mut [Column], progress: &Progress) -> Result<()> {
        self.table.fetch(columns, self.unit.as_deref(), progress)
    }
}

impl Engine for SqlTable {
    fn header(&self) -> Result<Vec<String>> {
        Ok(self.names())
    }

    fn values(&self, column: &str) -> Result<Vec<(Option<String>, u64)>> {
        self.table.values(column)
    }

    fn n_rows(&self) -> Result<u64> {
        self.table.n_rows()
    }

    fn rows_about_nobody(&self, unit: &str) -> Result<u64> {
        self.table.rows_about_nobody(unit)
    }

    fn source(&self, bindings: &Bindings<'_>) -> Result<Box<dyn FrequencySource>> {
        self.table.source(&Dimensions {
            attributes: bindings.attributes,
            layout: Arc::clone(&bindings.layout),
            quasi_identifiers: bindings.quasi_identifiers.clone(),
            sensitive: bindings.sensitive.clone(),
            unit: bindings.unit,
        })
    }
}
