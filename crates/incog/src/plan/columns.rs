//! Is every column declared, and do the declarations go together?

use incog_core::registry::nearest;
use incog_core::table::label::is_blank;
use incog_core::table::{Role, Table};
use incog_core::{Error, Result, hash};

use crate::job::{Job, MissingUnit, Mistakes, RoleJob, listed};
use crate::source::Elsewhere;

/// Fails where rows do not say whom they are about, unless the job says what they are.
pub(super) fn check_unit(job: &Job, table: &Table, elsewhere: Option<&Elsewhere>) -> Result<()> {
    let unit = job.policy.unit.as_deref();
    let Some((unit, column)) = unit.and_then(|unit| Some((unit, table.column(unit)?))) else {
        return Ok(());
    };
    if job.policy.missing_unit == Some(MissingUnit::Nobody) {
        return Ok(());
    }
    if let Some(elsewhere) = elsewhere {
        return match elsewhere.engine.rows_about_nobody(unit)? {
            0 => Ok(()),
            n_rows => {
                let problem = format!("column `{unit}`: {n_rows} rows do not say whom they are about");
                Err(job.mistake(&["policy", "unit"], problem).with_hint(ANYBODYS))
            }
        };
    }
    // An empty text and white space name nobody either.
    let names_nobody: Vec<bool> = column.dictionary().values().map(is_blank).collect();
    let mut without = column.codes().iter().enumerate().filter(|(_, code)| names_nobody[**code as usize]);
    let Some((first, _)) = without.next() else {
        return Ok(());
    };
    let n_rows = without.count() + 1;
    let problem = format!(
        "column `{unit}`: {n_rows} rows do not say whom they are about (first in record {})",
        first + 1
    );
    Err(job.mistake(&["policy", "unit"], problem).with_hint(ANYBODYS))
}

/// What to do about rows that do not say whom they are about.
const ANYBODYS: &str = "they may be anybody's: fill in the column, leave the rows out, or write missing_unit = \"nobody\" in [policy] to \
     count them as no person";

/// What a column is to the engine.
pub(crate) fn role(job: &Job, column: &str) -> Role {
    if job.policy.unit.as_deref() == Some(column) {
        return Role::Identifier;
    }
    match job.columns.get(column).map(|column| column.role) {
        Some(RoleJob::Identifier) => Role::Identifier,
        Some(RoleJob::QuasiIdentifier) => Role::QuasiIdentifier,
        Some(RoleJob::Sensitive) => Role::Sensitive,
        Some(RoleJob::Other | RoleJob::Decide) | None => Role::Other,
    }
}

/// Whether a table may have no quasi-identifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WithoutQuasi {
    /// One of several tables may.
    Allowed,
    /// A table on its own needs one.
    Refused,
}

/// Roles that do not go together.
pub(crate) fn check_roles(job: &Job, without_quasi: WithoutQuasi) -> Result<()> {
    let mut mistakes = Mistakes::default();
    for (name, column) in &job.columns {
        if column.replace.is_some() && column.role != RoleJob::Identifier {
            let mistake = format!("column `{name}` has `replace` and is no identifier");
            mistakes.add(job.mistake(&["columns", name, "replace"], mistake).with_hint(
                "only what names people is replaced by pseudonyms: write role = \"identifier\", or leave `replace` out",
            ));
        }
        let key = ["columns", name.as_str(), "role"];
        if column.sensitive_values.is_some() && column.role != RoleJob::Sensitive {
            mistakes.add(
                job.mistake(
                    &["columns", name, "sensitive_values"],
                    format!("column `{name}` has sensitive values and is not sensitive"),
                )
                .with_hint("role = \"sensitive\" makes it so; or leave `sensitive_values` out"),
            );
        }
        match column.role {
            RoleJob::Decide => mistakes.add(
                job.mistake(&key, format!("the role of column `{name}` is not decided yet")).with_hint(
                    "write identifier, quasi-identifier, sensitive or other instead of decide; \
                         in a job by `incog init` the comment above the column says what to think of",
                ),
            ),
            RoleJob::QuasiIdentifier => {}
            _ if column.hierarchy.is_some() => mistakes.add(
                job.mistake(
                    &["columns", name, "hierarchy"],
                    format!("column `{name}` has a hierarchy and is no quasi-identifier"),
                )
                .with_hint("only quasi-identifiers are generalized"),
            ),
            _ => {}
        }
    }
    let has_quasi = job.columns.values().any(|column| column.role == RoleJob::QuasiIdentifier);
    if !has_quasi && without_quasi == WithoutQuasi::Refused && mistakes.is_empty() {
        mistakes.add(
            job.mistake(&["columns"], "no column is a quasi-identifier")
                .with_hint("declare at least one column with role = \"quasi-identifier\""),
        );
    }
    if job.policy.missing_unit.is_some() && job.policy.unit.is_none() {
        mistakes.add(
            job.mistake(&["policy", "missing_unit"], "`missing_unit` is given without `unit`")
                .with_hint("name the column that says whom a row is about, or leave `missing_unit` out"),
        );
    }
    if let Some(unit) = &job.policy.unit
        && job.columns.get(unit).is_some_and(|column| column.role == RoleJob::QuasiIdentifier)
    {
        mistakes.add(
            job.mistake(&["policy", "unit"], format!("the unit `{unit}` is a quasi-identifier"))
                .with_hint("the unit says whom a row is about and is never released: make it an identifier"),
        );
    }
    mistakes.stop()
}

/// What to do about a column that nobody has declared.
pub(super) const DECLARE: &str = "declare every column under [columns] with role \"identifier\", \"quasi-identifier\", \"sensitive\" or \
     \"other\"; or with --qi, --identifier, --sensitive, --other, and --rest for all others";

/// Unknown names that get advice, at most.
const MOST_ADVISED: usize = 10;

/// Every column of the file is declared, and every declared column is in the file; `declare` says how.
pub(crate) fn check_columns(job: &Job, header: &[String], declare: &str, mistakes: &mut Mistakes) {
    let there: hash::Set<&str> = header.iter().map(String::as_str).collect();
    let is_there = |name: &str| there.contains(name);
    if !job.columns.is_empty() && !job.columns.keys().any(|name| is_there(name)) {
        // What stands there may be somebody's cells: it is not repeated.
        mistakes.add(
            job.mistake(
                &["input", "path"],
                format!(
                    "none of the job's {} columns is among the {} of the data",
                    job.columns.len(),
                    header.len()
                ),
            )
            .with_hint(
                "the first line of the data must name the columns; if it does, set `delimiter` in [input] or --delimiter",
            ),
        );
        return;
    }
    let named = job.columns.keys().map(|name| (["columns", name.as_str()], name));
    let unit = job.policy.unit.iter().map(|name| (["policy", "unit"], name));
    let mut n_advised = 0;
    for (key, name) in named.chain(unit) {
        if !is_there(name) {
            // Advice takes a look at every column, so not for all of very many.
            n_advised += 1;
            let near = if n_advised <= MOST_ADVISED {
                nearest(header.iter().map(String::as_str), name)
            } else {
                None
            };
            let advice = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
            mistakes.add(job.mistake(&key, format!("the data has no column `{name}`{advice}")));
        }
    }
    let is_declared = |name: &str| job.columns.contains_key(name) || job.policy.unit.as_deref() == Some(name);
    let undeclared: Vec<&String> = header.iter().filter(|name| !is_declared(name)).collect();
    let undeclared = listed(undeclared.into_iter().map(|name| format!("`{name}`")), "column", "columns");
    if !undeclared.is_empty() {
        mistakes.add(
            Error::input(format!("the job says nothing about column {}", undeclared.join(", ")))
                .with_hint(declare),
        );
    }
}
