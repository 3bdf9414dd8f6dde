//! PostgreSQL.
//!
//! **Promise.** All that is asked is asked in one transaction of one connection, at the isolation level at which it sees one snapshot
//! (`REPEATABLE READ`): what others change meanwhile is not seen. Objects are temporary and go with the transaction; a
//! release is there for others only after [`commit`](Postgres::commit), and nothing is there if the connection ends before. Tables that were
//! read are locked against being changed in shape until then, as by any reader.
//!
//! **Essence.** Answers come as `COPY ... TO STDOUT (FORMAT binary)`, rows of dimension tables go as `COPY ... FROM STDIN`. What cells look like
//! as text is settled for the session (time zone UTC, ISO dates, shortest floats that are exact), whatever server and role prefer.
//!
//! **Limits.** No channel binding (it would take a parser of certificates), one host in a URL, no client certificates.

mod copy;
mod error;
mod login;
mod tls;

use std::collections::HashMap;
use std::io::{BufRead, Write};

use incog_core::{Error, ErrorKind, Result};
use postgres::Client;

use crate::dialect::postgres::PostgreSql;
use crate::postgres::copy::{Tuples, write_row};
use crate::postgres::error::{failed, failed_io};
use crate::postgres::login::Login;
use crate::postgres::tls::Tls;
use crate::{Cell, Dialect, Engine, From, Kind, Relation, SourceColumn, Target};

/// What cells look like as text, and that nobody waits for a client that waits for nothing.
const SESSION: &str = "\
SET standard_conforming_strings = on; SET client_encoding = 'UTF8'; SET TimeZone = 'UTC'; SET DateStyle = 'ISO, YMD'; \
SET IntervalStyle = 'postgres'; SET extra_float_digits = 1; SET bytea_output = 'hex'; SET client_min_messages = 'error'; \
SET idle_in_transaction_session_timeout = 0; SET statement_timeout = 0; SET work_mem = '256MB'; SET enable_sort = on";

/// How many bytes are sent at a time.
const BLOCK: usize = 1 << 16;

/// A connection with a transaction.
pub struct Postgres {
    client: Client,
    shown: String,
}

/// Without the login.
impl std::fmt::Debug for Postgres {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Postgres").field("shown", &self.shown).finish_non_exhaustive()
    }
}

impl Postgres {
    /// Connects, and begins the transaction.
    pub fn connect(url: &str) -> Result<Self> {
        let login = Login::of(url, &|name| std::env::var(name).ok())?;
        let doing = format!("cannot connect to {}", login.shown);
        let tls = Tls::new(&login.trusted)?;
        let mut client = login.config.connect(tls).map_err(|error| failed(&doing, &error))?;
        let begin = format!("{SESSION}; BEGIN ISOLATION LEVEL REPEATABLE READ");
        client.batch_execute(&begin).map_err(|error| failed(&doing, &error))?;
        Ok(Postgres { client, shown: login.shown })
    }

    /// Where it leads, without whoever logs in.
    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// Where a URL leads, without whoever logs in.
    pub fn shown_of(url: &str) -> Result<String> {
        Ok(Login::of(url, &|name| std::env::var(name).ok())?.shown)
    }

    /// A table or view by its name, as it stands in statements and with what it is called.
    fn find_table(&mut self, name: &str) -> Result<Option<FoundTable>> {
        let doing = format!("looking for the table {name}");
        let query = "SELECT c.oid, c.relkind::text, quote_ident(n.nspname) || '.' || quote_ident(c.relname) FROM pg_class c \
                     JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = to_regclass($1)";
        let row = self.client.query_opt(query, &[&name]).map_err(|error| failed(&doing, &error))?;
        Ok(row.map(|row| FoundTable { oid: row.get(0), kind: row.get(1), sql: row.get(2) }))
    }

    /// The schema of a table that is yet to be made, and its name. Fails where the role may not make it.
    fn new_table(&mut self, name: &str) -> Result<(String, String)> {
        let parts = parts_of_name(name)?;
        let (schema, table) = match parts.as_slice() {
            [table] => (None, table),
            [schema, table] => (Some(schema), table),
            _ => {
                return Err(Error::input(format!(
                    "`{name}` is no name of a table: write it as schema.table"
                )));
            }
        };
        let doing = format!("looking where to make the table {name}");
        let query = "SELECT n.nspname::text, has_schema_privilege(n.oid, 'CREATE') FROM pg_namespace n \
                     WHERE n.nspname = coalesce($1, current_schema()::text)";
        let found = self.client.query_opt(query, &[&schema]).map_err(|error| failed(&doing, &error))?;
        let Some(row) = found else {
            return Err(Error::input(format!("there is no schema for the table {name}")));
        };
        if !row.get::<_, bool>(1) {
            return Err(Error::input(format!("this role may not make tables in the schema of {name}"))
                .with_hint("ask for the permission: GRANT CREATE ON SCHEMA"));
        }
        Ok((row.get(0), table.clone()))
    }

    /// Has a table been read in this transaction, itself or behind a view? Then it must not be replaced.
    fn was_read(&mut self, oid: u32) -> Result<bool> {
        let query = "SELECT count(*) > 0 FROM pg_locks WHERE pid = pg_backend_pid() AND relation = $1 \
                     AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
        let row = self.client.query_one(query, &[&oid]);
        row.map(|row| row.get(0)).map_err(|error| failed("looking at locks", &error))
    }

    /// What types the columns of an answer have, by their numbers: what they are called, and their kinds.
    fn types(&mut self, oids: &[u32]) -> Result<HashMap<u32, (String, String)>> {
        let query = "SELECT oid, format_type(oid, NULL), typcategory::text FROM pg_type WHERE oid = ANY($1)";
        let rows = self.client.query(query, &[&oids]).map_err(|error| failed("looking at types", &error))?;
        Ok(rows.iter().map(|row| (row.get(0), (row.get(1), row.get(2)))).collect())
    }

    /// The columns of a query.
    fn columns(&mut self, doing: &str, query: &str) -> Result<Vec<SourceColumn>> {
        let statement = self.client.prepare(query).map_err(|error| failed(doing, &error))?;
        if !statement.params().is_empty() {
            return Err(Error::input("the query has parameters ($1), and nobody can say what they are")
                .with_hint("write values into the query"));
        }
        let oids: Vec<u32> = statement.columns().iter().map(|column| column.type_().oid()).collect();
        let types = self.types(&oids)?;
        let column = |column: &postgres::Column| {
            let unknown = || ("unknown".to_owned(), "X".to_owned());
            let (of_type, category) = types.get(&column.type_().oid()).cloned().unwrap_or_else(unknown);
            SourceColumn {
                name: column.name().to_owned(),
                is_text: category == "S",
                can_group: !["A", "C", "G", "P", "X"].contains(&category.as_str())
                    && !["json", "jsonb", "xml", "bytea", "tsvector", "tsquery"].contains(&of_type.as_str()),
                of_type,
            }
        };
        Ok(statement.columns().iter().map(column).collect())
    }
}

/// A table that is there.
struct FoundTable {
    oid: u32,
    /// `r` for a table, `v` for a view, ...
    kind: String,
    /// Schema and name as they stand in statements.
    sql: String,
}

/// Why what was read must stay.
fn would_replace_the_source(name: &str) -> Error {
    Error::input(format!("the release would replace {name}, which the data are read from"))
        .with_hint("choose another table")
}

/// The parts of a name as SQL writes it: folded to lower case unless in quotes.
fn parts_of_name(name: &str) -> Result<Vec<String>> {
    let wrong = || {
        Error::input(format!("`{name}` is no name of a table"))
            .with_hint("tables are named as in SQL: schema.table, and \"Odd Name\" in quotes")
    };
    let mut parts = Vec::new();
    let mut rest = name.trim();
    loop {
        let mut part = String::new();
        if let Some(mut quoted) = rest.strip_prefix('"') {
            loop {
                let (text, after) = quoted.split_once('"').ok_or_else(wrong)?;
                part += text;
                match after.strip_prefix('"') {
                    Some(more) => {
                        part.push('"');
                        quoted = more;
                    }
                    None => {
                        rest = after;
                        break;
                    }
                }
            }
        } else {
            let is_letter = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '$';
            let end = rest.find(|letter| !is_letter(letter)).unwrap_or(rest.len());
            part = rest[..end].to_lowercase();
            rest = &rest[end..];
        }
        if part.is_empty() || part.contains('\0') {
            return Err(wrong());
        }
        parts.push(part);
        match rest.strip_prefix('.') {
            Some(more) => rest = more,
            None if rest.is_empty() => return Ok(parts),
            None => return Err(wrong()),
        }
    }
}

impl Engine for Postgres {
    fn dialect(&self) -> &'static dyn Dialect {
        &PostgreSql
    }

    fn relation(&mut self, from: &From) -> Result<Relation> {
        let (sql, shown) = match from {
            From::Table(name) => {
                parts_of_name(name)?;
                let found = self.find_table(name)?.ok_or_else(|| {
                    Error::input(format!("there is no table {name} in {}", self.shown)).with_hint(
                        "tables are named as in SQL: schema.table, and \"Odd Name\" in quotes; a role sees the schemas that it may use",
                    )
                })?;
                (found.sql.clone(), found.sql)
            }
            // A line of its own: the query may end in a comment.
            From::Query(query) => {
                (format!("({}\n)", query.trim().trim_end_matches(';')), "the query".to_owned())
            }
        };
        let doing = format!("looking at the columns of {shown}");
        let columns = self.columns(&doing, &format!("SELECT q.* FROM {sql} AS q LIMIT 0"))?;
        Ok(Relation { sql, shown, columns })
    }

    fn check_temporary(&mut self) -> Result<()> {
        let query = "SELECT has_database_privilege(current_database(), 'TEMP')";
        let row = self.client.query_one(query, &[]);
        let may: bool =
            row.map(|row| row.get(0)).map_err(|error| failed("looking at permissions", &error))?;
        if may {
            return Ok(());
        }
        Err(Error::new(ErrorKind::Input, "this role may not make temporary tables in the database").with_hint(
            "ask for it (GRANT TEMPORARY ON DATABASE), or have the rows copied: engine = \"memory\" in [input]",
        ))
    }

    fn run(&mut self, doing: &str, statement: &str) -> Result<()> {
        self.client.batch_execute(statement).map_err(|error| failed(doing, &error))
    }

    fn rows(
        &mut self,
        doing: &str,
        query: &str,
        kinds: &[Kind],
        each: &mut dyn FnMut(&[Cell<'_>]) -> Result<()>,
    ) -> Result<()> {
        let statement = format!("COPY ({query}) TO STDOUT (FORMAT binary)");
        let reader = self.client.copy_out(&statement).map_err(|error| failed(doing, &error))?;
        read_rows(doing, reader, kinds, each)
    }

    fn texts(
        &mut self,
        doing: &str,
        query: &str,
        each: &mut dyn FnMut(&[Option<&str>]) -> Result<()>,
    ) -> Result<()> {
        let statement = format!("COPY ({query}) TO STDOUT (FORMAT binary)");
        let reader = self.client.copy_out(&statement).map_err(|error| failed(doing, &error))?;
        let mut tuples = Tuples::new(reader).map_err(|error| failed_io(doing, &error))?;
        while tuples.advance().map_err(|error| failed_io(doing, &error))? {
            let cell = |at: usize| tuples.cell(at).map(std::str::from_utf8).transpose();
            let cells: std::result::Result<Vec<_>, _> = (0..tuples.len()).map(cell).collect();
            each(
                &cells
                    .map_err(|_| Error::new(ErrorKind::Internal, format!("{doing}: an answer is no text")))?,
            )?;
        }
        Ok(())
    }

    fn fill(
        &mut self,
        doing: &str,
        table: &str,
        rows: &mut dyn Iterator<Item = Vec<Option<String>>>,
    ) -> Result<()> {
        let mut writer = self
            .client
            .copy_in(&format!("COPY {table} FROM STDIN"))
            .map_err(|error| failed(doing, &error))?;
        let mut bytes = Vec::with_capacity(BLOCK * 2);
        for row in rows {
            write_row(&row, &mut bytes);
            if bytes.len() >= BLOCK {
                writer.write_all(&bytes).map_err(|error| failed_io(doing, &error))?;
                bytes.clear();
            }
        }
        writer.write_all(&bytes).map_err(|error| failed_io(doing, &error))?;
        writer.finish().map_err(|error| failed(doing, &error))?;
        Ok(())
    }

    fn target(&mut self, name: &str, replace: bool) -> Result<Target> {
        let (schema, table) = self.new_table(name)?;
        let own_name = PostgreSql.identifier(&table);
        let schema = PostgreSql.identifier(&schema);
        let name = format!("{schema}.{own_name}");
        let replaces = match self.find_table(&name)? {
            None => None,
            Some(_) if !replace => {
                return Err(Error::input(format!("the table {name} is there already"))
                    .with_hint("choose another name, or write if_exists = \"replace\" in [output]"));
            }
            Some(found) if found.kind != "r" => {
                return Err(Error::input(format!("{name} is no plain table, and only tables are replaced"))
                    .with_hint("choose another name"));
            }
            Some(found) => Some(found.oid),
        };
        if let Some(oid) = replaces
            && self.was_read(oid)?
        {
            return Err(would_replace_the_source(&name));
        }
        let pid = self.client.query_one("SELECT pg_backend_pid()", &[]);
        let pid: i32 = pid.map(|row| row.get(0)).map_err(|error| failed("looking for a name", &error))?;
        let working = format!("{schema}.incog_unfinished_{pid}");
        Ok(Target { working, name, own_name, replaces })
    }

    fn copy_in(
        &mut self,
        table: &str,
        next: &mut dyn FnMut(&mut Vec<Option<String>>) -> Result<bool>,
    ) -> Result<()> {
        let doing = "writing the release";
        let statement = format!("COPY {table} FROM STDIN");
        let mut writer = self.client.copy_in(&statement).map_err(|error| failed(doing, &error))?;
        let (mut row, mut bytes) = (Vec::new(), Vec::with_capacity(BLOCK * 2));
        while next(&mut row)? {
            write_row(&row, &mut bytes);
            if bytes.len() >= BLOCK {
                writer.write_all(&bytes).map_err(|error| failed_io(doing, &error))?;
                bytes.clear();
            }
        }
        writer.write_all(&bytes).map_err(|error| failed_io(doing, &error))?;
        writer.finish().map_err(|error| failed(doing, &error))?;
        Ok(())
    }

    fn put_in_place(&mut self, target: &Target) -> Result<()> {
        let Target { working, name, own_name, replaces } = target;
        let mut statement = format!("ALTER TABLE {working} RENAME TO {own_name}");
        if let Some(oid) = *replaces {
            // Read meanwhile, by a view perhaps.
            if self.was_read(oid)? {
                return Err(would_replace_the_source(name));
            }
            statement = format!("DROP TABLE {name}; {statement}");
        }
        self.run("putting the release in its place", &statement)
    }

    fn commit(&mut self) -> Result<()> {
        self.client.batch_execute("COMMIT").map_err(|error| failed("committing the release", &error))
    }
}

/// Shows every row of an answer.
fn read_rows(
    doing: &str,
    reader: impl BufRead,
    kinds: &[Kind],
    each: &mut dyn FnMut(&[Cell<'_>]) -> Result<()>,
) -> Result<()> {
    let broken = || {
        Error::new(ErrorKind::Internal, format!("{doing}: the answer has other columns than were asked for"))
    };
    let mut tuples = Tuples::new(reader).map_err(|error| failed_io(doing, &error))?;
    while tuples.advance().map_err(|error| failed_io(doing, &error))? {
        if tuples.len() != kinds.len() {
            return Err(broken());
        }
        let mut cells = Vec::with_capacity(kinds.len());
        for (at, kind) in kinds.iter().enumerate() {
            cells.push(match (tuples.cell(at), kind) {
                (None, _) => Cell::Null,
                (Some(bytes), Kind::Number) => {
                    Cell::Number(i64::from_be_bytes(bytes.try_into().map_err(|_| broken())?))
                }
                (Some(bytes), Kind::Text) => Cell::Text(std::str::from_utf8(bytes).map_err(|_| broken())?),
            });
        }
        each(&cells)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::parts_of_name;

    #[test]
    fn names_are_read_as_sql_reads_them() {
        assert_eq!(parts_of_name("Clinic.Patients").unwrap(), ["clinic", "patients"]);
        assert_eq!(parts_of_name("\"Odd.Na\"\"me\".t_1$").unwrap(), ["Odd.Na\"me", "t_1$"]);
        for wrong in ["", "a..b", "a b", "a;b", "\"a", "\"\"", "a.", "drop table x; --"] {
            assert!(parts_of_name(wrong).is_err(), "{wrong}");
        }
    }
}
