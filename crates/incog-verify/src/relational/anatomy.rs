//! Is an anatomized database what it claims to be?
//!
//! Quasi-identifiers stay exact; what is hidden is whose a sensitive value is (section 5.1 of the paper; Xiao, Tao:
//! *Anatomy*, VLDB 2006). A released table has a last column `group` in place of its sensitive columns, and for each
//! of these there is a table with the columns `group` and that one. Whoever finds a person finds the person's groups,
//! and in each of them all values of its rows.
//!
//! Persons can be told apart, so nothing is said about k. What is checked:
//!
//! 1. Columns, keys and foreign keys, as for other releases. Tables without sensitive columns have no `group`.
//! 2. Every group has as many rows in its table as in the tables of its sensitive columns.
//! 3. No group has two rows of one person: values of the same person do not hide each other.
//! 4. The claims on a sensitive column hold for the groups; t, δ and β compare with all of the column's table.
//! 5. With the original: trees are original ones with subtrees removed and nothing generalized. The values of a
//!    sensitive column are those of the groups' rows if it is said where these come from; else they can be (see
//!    [`super::places`]), and no value stands more often than in the original.
//!
//! Which groups the rows of one person are in, in several tables, is not looked at: claims are on each column alone.

use super::forest::Forest;
use super::shape::{Columns, Sought, find_columns, sensitive_columns};
use super::source::{self, Origins, Recoding, Released};
use super::{DatabaseClaims, Report, TableClaims, Tally, check_shape, names};
use crate::keys::{Groups, Keys, Numbers};
use crate::words::counted;
use crate::{ClaimKind, Finding, LabelColumn, Labels, ReleasedTable, Verified};

/// The column that links a table with those of its sensitive columns.
const GROUP: &str = "group";

/// A released table, and the tables of its sensitive columns.
pub struct AnatomyTable<'a> {
    /// The table, with the last column `group` instead of its sensitive ones, if it has any.
    pub rows: &'a dyn Labels,
    /// For each sensitive column the table with `group` and that column.
    pub sensitive: Vec<(String, &'a dyn Labels)>,
}

/// Checks every claim of an anatomized database. The report comes back in either case.
pub fn verify_anatomy<R: Labels>(
    release: Vec<ReleasedTable<R>>,
    claims: &DatabaseClaims<'_>,
) -> Result<Verified<R>, Box<Report>> {
    let tables = release.iter().map(|table| AnatomyTable {
        rows: &table.rows,
        sensitive: table
            .sensitive
            .iter()
            .map(|(column, values)| (column.clone(), values as &dyn Labels))
            .collect(),
    });
    let report = check_anatomy(&tables.collect::<Vec<_>>(), claims);
    Verified::of(release, report)
}

/// Checks every claim of an anatomized database that nobody is going to write: its tables, in the order of the claims.
/// Of the claims k is not looked at. Declared columns may be those of the original or of the released table.
pub fn check_anatomy(release: &[AnatomyTable<'_>], claims: &DatabaseClaims<'_>) -> Report {
    let n_rows = release.iter().map(|table| table.rows.n_rows());
    let mut report = Report::of_tables(&claims.tables, n_rows);
    if let Err(finding) = check_tables(release, claims, &mut report) {
        report.findings.push(finding);
    }
    report
}

/// Stops at what leaves nothing to check.
fn check_tables(
    release: &[AnatomyTable<'_>],
    claims: &DatabaseClaims<'_>,
    report: &mut Report,
) -> Result<(), Finding> {
    let tables: Vec<&dyn Labels> = release.iter().map(|table| table.rows).collect();
    let values = release.iter().flat_map(|table| table.sensitive.iter().map(|(_, values)| *values));
    let shape = check_shape(&tables, values, claims)?;
    for (table, claims) in tables.iter().zip(&claims.tables) {
        report.findings.extend(declared(&table.header(), claims));
    }
    let is_declared = report.holds();
    let columns = find_columns(&tables, &claims.tables, Sought::NotSensitive, "released")?;
    let parts = find_parts(release, &claims.tables, &columns)?;
    let names = names(&claims.tables);
    let planted = Forest::plant(&tables, &columns, &shape, &names, "released", &mut report.findings);
    let Some(forest) = planted else {
        return Ok(());
    };

    let persons = forest.persons(&shape);
    let mut shared = Tally::new(tables.len());
    let mut grouped = Vec::with_capacity(tables.len());
    for (table, parts) in parts.iter().enumerate() {
        let here = parts.as_ref().map(|parts| parts.group(report, table));
        if let Some(groups) = &here {
            report.tables[table].smallest_set = groups.of_rows.sizes().into_iter().min().map(u64::from);
            let mut keys = Keys::from_numbers(groups.of_rows.of_row.iter().copied(), groups.of_rows.len());
            let same: Vec<u32> = (0..forest.n_rows[shape.root] as u32).collect();
            keys.fold(&[(&persons[table], &same)], same.len());
            let rows = keys.into_groups();
            let mut is_first = vec![true; rows.len()];
            for (row_idx, &row) in rows.of_row.iter().enumerate() {
                if !std::mem::take(&mut is_first[row as usize]) {
                    shared.add(table, row_idx);
                }
            }
        }
        grouped.push(here);
    }
    report.findings.push(shared.finding(
        "no group has two rows of one person".into(),
        &names,
        ["has another one of its person in its group", "have another one of their person in their group"],
        "none has",
    ));
    for ((parts, grouped), (table, claims)) in
        parts.iter().zip(&grouped).zip(claims.tables.iter().enumerate())
    {
        let (Some(parts), Some(grouped)) = (parts, grouped) else {
            continue;
        };
        let Report { findings, tables, .. } = &mut *report;
        let values = parts.sensitive.iter().zip(&grouped.of_values);
        for ((part, groups), (_, claims)) in values.zip(sensitive_columns(claims)) {
            tables[table].check_sensitive(&part.column(1), groups, &claims, findings);
        }
    }
    // Without the right columns there is nothing to compare row by row.
    let Some(sources) = claims.source.as_ref().filter(|_| is_declared) else {
        return Ok(());
    };
    let added = parts.iter().map(|parts| parts.as_ref().map(|parts| parts.group_at)).collect();
    let recoding = Recoding::Exact;
    let apart = parts.iter().enumerate().flat_map(|(table, parts)| {
        let names = sensitive_columns(&claims.tables[table]).into_iter().map(|(name, _)| name);
        let values = parts.iter().flat_map(|parts| parts.sensitive.iter().copied());
        names.zip(values).map(move |(name, values)| (table, name, values)).collect::<Vec<_>>()
    });
    let released = Released {
        tables: &tables,
        columns: &columns,
        shape: &shape,
        forest: &forest,
        added,
        apart: apart.collect(),
        recoding,
    };
    let origins = source::check(&released, claims, sources, report)?;
    for (table, (parts, grouped)) in parts.iter().zip(&grouped).enumerate() {
        let (Some(parts), Some(grouped)) = (parts, grouped) else {
            continue;
        };
        let claims = &claims.tables[table];
        parts.check_values(claims, table, grouped, sources[table].input, &origins, &mut report.findings);
    }
    Ok(())
}

/// Are the columns those declared, with `group` at the end instead of sensitive ones?
fn declared(header: &[&str], claims: &TableClaims) -> Option<Finding> {
    let is_sensitive = |name: &str| claims.sensitive.iter().any(|claim| claim.column == name);
    let mut columns: Vec<&str> =
        claims.columns.as_ref()?.iter().map(String::as_str).filter(|name| !is_sensitive(name)).collect();
    if !claims.sensitive.is_empty() {
        columns.retain(|name| *name != GROUP);
        columns.push(GROUP);
    }
    Some(Finding {
        kind: ClaimKind::Structure,
        claim: format!("the columns of {} are {}", claims.name, columns.join(", ")),
        found: counted(header.len() as u64, "column", "columns"),
        holds: columns == header,
    })
}

/// A table with sensitive columns, and their tables in the order of the claims.
struct Parts<'a> {
    rows: &'a dyn Labels,
    /// Where `group` stands in the table.
    group_at: usize,
    /// The columns `group` and the sensitive one.
    sensitive: Vec<&'a dyn Labels>,
}

/// The groups of a table, and those of the tables of its sensitive columns. Equal ones have no equal numbers.
struct Grouped {
    of_rows: Groups,
    of_values: Vec<Groups>,
}

/// Finds the group columns and the sensitive tables; nothing for tables without sensitive columns.
fn find_parts<'a>(
    release: &[AnatomyTable<'a>],
    claims: &[TableClaims],
    columns: &[Columns],
) -> Result<Vec<Option<Parts<'a>>>, Finding> {
    let wrong =
        |claim: String, found: String| Finding { kind: ClaimKind::Structure, claim, found, holds: false };
    let mut all = Vec::with_capacity(release.len());
    for ((table, claims), columns) in release.iter().zip(claims).zip(columns) {
        let (header, name) = (table.rows.header(), &claims.name);
        let sensitive = sensitive_columns(claims);
        let n_groups = header.iter().filter(|column| **column == GROUP).count();
        let hidden = |column: &&str| sensitive.iter().any(|(name, _)| name == column);
        if header.iter().any(hidden) {
            return Err(wrong(format!("no sensitive column stands in {name} itself"), "one does".into()));
        }
        if sensitive.is_empty() {
            if n_groups > 0 || !table.sensitive.is_empty() {
                return Err(wrong(
                    format!("{name}, without sensitive columns, has no groups"),
                    format!("{n_groups} columns, {} tables", table.sensitive.len()),
                ));
            }
            all.push(None);
            continue;
        }
        let group_at = header.len().checked_sub(1).filter(|&last| header[last] == GROUP && n_groups == 1);
        let has_role = |at: usize| columns.is_key(at) || columns.quasi.contains(&at);
        let Some(group_at) = group_at.filter(|&at| !has_role(at)) else {
            return Err(wrong(
                format!("the last column of {name}, and no other, is {GROUP}"),
                format!("{n_groups} columns have that name"),
            ));
        };
        let mut values = Vec::with_capacity(sensitive.len());
        for (column, _) in &sensitive {
            let mut tables = table.sensitive.iter().filter(|(name, _)| name == column);
            let claim = || format!("{name}.{column} is a table with the columns {GROUP}, {column}");
            match (tables.next(), tables.next()) {
                (Some((_, values_here)), None) if values_here.header() == [GROUP, *column] => {
                    values.push(*values_here);
                }
                (Some((_, values_here)), None) => {
                    return Err(wrong(
                        claim(),
                        counted(values_here.header().len() as u64, "column", "columns"),
                    ));
                }
                (None, _) => return Err(wrong(claim(), "it is not there".into())),
                _ => return Err(wrong(claim(), "it stands twice".into())),
            }
        }
        if table.sensitive.len() > values.len() {
            return Err(wrong(
                format!("{} tables of sensitive columns of {name} are released", values.len()),
                format!("{} are", table.sensitive.len()),
            ));
        }
        all.push(Some(Parts { rows: table.rows, group_at, sensitive: values }));
    }
    Ok(all)
}

impl Parts<'_> {
    /// Groups all rows, and checks that every group has as many of them everywhere.
    fn group(&self, report: &mut Report, table: usize) -> Grouped {
        let of_rows = crate::group(self.rows, &[self.group_at]);
        let of_values: Vec<Groups> =
            self.sensitive.iter().map(|values| crate::group(*values, &[0])).collect();
        let column = self.rows.column(self.group_at);
        let mut n_different = 0;
        for values in &self.sensitive {
            n_different += differences(&[&column], &[&values.column(0)]).0;
        }
        report.findings.push(Finding {
            kind: ClaimKind::Structure,
            claim: format!(
                "every group of {} has a row for each of its rows in the tables of its sensitive columns",
                report.tables[table].name
            ),
            found: match n_different {
                0 => counted(of_rows.len() as u64, "group has", "groups have"),
                n => counted(n, "group has not", "groups have not"),
            },
            holds: n_different == 0,
        });
        Grouped { of_rows, of_values }
    }

    /// Are the sensitive values those of the original?
    fn check_values(
        &self,
        claims: &TableClaims,
        table: usize,
        grouped: &Grouped,
        original: &dyn Labels,
        origins: &Origins<'_>,
        findings: &mut Vec<Finding>,
    ) {
        let header = original.header();
        for (values, (name, _)) in self.sensitive.iter().zip(sensitive_columns(claims)) {
            let mut places = (0..header.len()).filter(|&at| header[at] == name);
            let name = format!("{}.{name}", claims.name);
            let (Some(at), None) = (places.next(), places.next()) else {
                findings.push(Finding {
                    kind: ClaimKind::Structure,
                    claim: format!("the values of {name} are those of the original"),
                    found: "the original has not one column of that name".into(),
                    holds: false,
                });
                continue;
            };
            let (collected, released) = (original.column(at), values.column(1));
            let too_many = differences(&[&released], &[&collected]).1;
            let (claim, n_different, unit) = match origins {
                Origins::Known(origins) => {
                    let codes = origins[table].iter().map(|&row| collected.codes[row as usize]);
                    let of_origins = LabelColumn { labels: collected.labels.clone(), codes: codes.collect() };
                    let groups = [&values.column(0), &self.rows.column(self.group_at)];
                    let pairs = differences(&[groups[0], &released], &[groups[1], &of_origins]).0;
                    let claim = format!("the values of {name} in a group are those of its rows' originals");
                    (
                        claim,
                        pairs,
                        [
                            "value of a group does not stand there as often",
                            "values of a group do not stand there as often",
                        ],
                    )
                }
                Origins::Places(places) if too_many == 0 => {
                    let numbers =
                        group_numbers(&values.column(0), &self.rows.column(self.group_at), &grouped.of_rows);
                    let n_strange =
                        places[table].strange_values(&grouped.of_rows, &numbers, &released, &collected);
                    let claim =
                        format!("the values of {name} in a group can be those of its rows' originals");
                    (
                        claim,
                        n_strange,
                        ["value is that of no row of its group", "values are those of no row of their group"],
                    )
                }
                Origins::Places(_) | Origins::Unknown => {
                    let claim = format!("no value of {name} stands more often than in the original");
                    (claim, too_many, ["row is too many", "rows are too many"])
                }
            };
            findings.push(Finding {
                kind: ClaimKind::Structure,
                claim,
                found: if n_different == 0 {
                    "that is so".into()
                } else {
                    counted(n_different, unit[0], unit[1])
                },
                holds: n_different == 0,
            });
        }
    }
}

/// For each row of a table of values the number that its group has among those of the rows; one beyond all if none has it.
fn group_numbers(values: &LabelColumn<'_>, rows: &LabelColumn<'_>, of_rows: &Groups) -> Vec<u32> {
    let mut numbers = Numbers::default();
    let of_rows_label = numbers.all(rows.labels.iter().copied());
    let of_values_label = numbers.all(values.labels.iter().copied());
    let mut group_of = vec![of_rows.len() as u32; numbers.len()];
    for (group, &row) in of_rows.first_rows.iter().enumerate() {
        group_of[of_rows_label[rows.codes[row as usize] as usize] as usize] = group as u32;
    }
    values.codes.iter().map(|&code| group_of[of_values_label[code as usize] as usize]).collect()
}

/// Two tables with the same columns: how many different rows do not stand equally often in both, and how many rows
/// of the first have no counterpart in the second.
fn differences(one: &[&LabelColumn<'_>], other: &[&LabelColumn<'_>]) -> (u64, u64) {
    let n_rows = |columns: &[&LabelColumn<'_>]| columns.first().map_or(0, |column| column.codes.len());
    let n_first = n_rows(one);
    let mut keys = Keys::new(n_first + n_rows(other));
    for (one, other) in one.iter().zip(other) {
        let mut numbers = Numbers::default();
        let of_one = numbers.all(one.labels.iter().copied());
        let of_other = numbers.all(other.labels.iter().copied());
        keys.fold(&[(&one.codes, &of_one), (&other.codes, &of_other)], numbers.len());
    }
    let rows = keys.into_groups();
    let mut balance = vec![0_i64; rows.len()];
    for (row_idx, &row) in rows.of_row.iter().enumerate() {
        balance[row as usize] += if row_idx < n_first { 1 } else { -1 };
    }
    let n_different = balance.iter().filter(|&&n| n != 0).count() as u64;
    (n_different, balance.iter().filter(|&&n| n > 0).map(|n| n.unsigned_abs()).sum())
}
