//! Tables of databases: their rows are counted there, or copied here.
//!
//! **Promise.** Both ways see the same texts in the same snapshot, and find the same release. Columns that name persons are never copied.
//!
//! What a build without the feature `postgres` has in its place says so (`absent`).

#[cfg(not(feature = "postgres"))]
mod absent;
#[cfg(feature = "postgres")]
mod present;

#[cfg(not(feature = "postgres"))]
pub(crate) use absent::{SqlTable, place_of_url};
#[cfg(feature = "postgres")]
pub(crate) use present::{SqlConnection, SqlTable, place_of_url};

use crate::job::{EngineJob, Job};

/// What a job says of a table in a database.
#[derive(Clone)]
#[cfg_attr(not(feature = "postgres"), expect(dead_code, reason = "nobody can open it"))]
pub(crate) struct SqlInput {
    url: String,
    from: SqlFrom,
    /// The column that says whom a row is about.
    unit: Option<String>,
    /// How many bytes of groups may be here.
    room: Option<u64>,
    pub(crate) engine: Option<EngineJob>,
}

#[derive(Debug, Clone)]
#[cfg_attr(not(feature = "postgres"), expect(dead_code, reason = "nobody can open it"))]
enum SqlFrom {
    Table(String),
    Query(String),
}

/// Without the URL, which may have a password.
impl std::fmt::Debug for SqlInput {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SqlInput").field("from", &self.from).finish_non_exhaustive()
    }
}

impl SqlInput {
    /// A table, as it is.
    #[cfg(feature = "postgres")]
    pub(crate) fn of_table(url: &str, table: &str) -> Self {
        let (url, from) = (url.to_owned(), SqlFrom::Table(table.to_owned()));
        SqlInput { url, from, unit: None, room: None, engine: None }
    }

    /// The table of a database, if the job names one.
    pub(crate) fn of_job(job: &Job) -> Option<Self> {
        let input = &job.input;
        let from = match (&input.table, &input.query) {
            (Some(table), _) => SqlFrom::Table(table.clone()),
            (None, query) => SqlFrom::Query(query.clone().unwrap_or_default()),
        };
        let said = input.memory.as_ref().and_then(crate::job::CountOrText::bytes);
        // For tests: no table of a test is so large that the least memory a job may ask for is too little.
        let room = std::env::var("INCOG_SQL_ROOM").ok().and_then(|room| room.parse().ok()).or(said);
        let unit = job.policy.unit.clone();
        Some(SqlInput { url: input.url.clone()?, from, unit, room, engine: input.engine })
    }
}
