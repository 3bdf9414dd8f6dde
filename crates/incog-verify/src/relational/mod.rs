//! Is a released database what it claims to be, if one person stands in many tables?
//!
//! A person table, and tables below it to any depth, each with one foreign key (Nergiz, Clifton, Nergiz: *Multirelational
//! k-Anonymity*, TKDE 2009). As everywhere in this crate only labels are read, and nothing that the anonymizer says is
//! trusted.
//!
//! | claim | how it is checked |
//! |---|---|
//! | columns, keys | tables have the declared columns; keys are unique; every foreign key has one parent row |
//! | k-anonymity | every person's tree of quasi-identifiers is that of at least k persons (Theorem 1's classes) |
//! | α, ℓ, t, δ, β | they hold for the rows of a table with equal places in equal trees (Definition 10) |
//! | correctness | every released tree is an original one with subtrees removed and labels generalized: by the rows they are said to come from, or by finding an assignment |
//! | accounting | released and removed rows of a table are its input rows; no more persons are left out than declared |
//! | keys | none is one of the original, except among the numbers from 1 up, which are in another order there; no other column repeats the keys of its rows, of rows above them, or of a table row by row |
//!
//! The last three need the original ([`TableSource`]). What is released in place of generalized trees, sensitive values
//! apart from exact quasi-identifiers, is checked by [`check_anatomy`].
//!
//! The tree of a person tells how many children there are, too: whoever has a row more than all others is unique. A
//! class is relative to the quasi-identifiers that were named; nothing here can tell whether those were all.

mod shape;
mod forest;
mod signatures;
mod comparison;
mod matching;
mod candidates;
mod assignment;
mod copies;
mod disguised;
mod source;
mod places;
mod anatomy;

pub use anatomy::{AnatomyTable, check_anatomy, verify_anatomy};

use std::collections::BTreeMap;

use self::forest::{Forest, check_form};
use self::shape::{Columns, Shape, Sought, find_columns, roles_differ, sensitive_columns};
use self::signatures::{Classes, paths};
use self::source::{Recoding, Released};
use crate::histograms::{Grouped, Histograms};
use crate::keys::Groups;
use crate::words::counted;
use crate::{
    ClaimKind, Counted, Finding, Hierarchy, LabelColumn, Labels, Measured, ReleasedTable, Report,
    SensitiveClaim, Verified, sensitive,
};

/// What is claimed of a released database.
pub struct DatabaseClaims<'a> {
    /// The person table: each of its rows is a person.
    pub person: String,
    /// Every person looks like at least this number of persons, that one included.
    pub k: u64,
    /// The most persons of the original that are left out, if that was declared.
    pub suppression: Option<u64>,
    /// All tables.
    pub tables: Vec<TableClaims>,
    /// What the release was made from, if it is at hand; in the order of `tables`.
    pub source: Option<Vec<TableSource<'a>>>,
}

/// What is claimed of a table.
#[derive(Debug, Clone)]
pub struct TableClaims {
    /// Its name.
    pub name: String,
    /// Exactly these columns are released, in this order, if they were declared.
    pub columns: Option<Vec<String>>,
    /// The column that names a row. Tables with others below them need one.
    pub key: Option<String>,
    /// The table above, and the column here that has its keys; none for the person table.
    pub parent: Option<(String, String)>,
    /// The columns that an outsider may know.
    pub quasi_identifiers: Vec<String>,
    /// Columns whose values nobody should learn, and what is claimed of them, by rows. A column may stand here several
    /// times.
    pub sensitive: Vec<SensitiveClaim>,
}

/// What a released table was made from.
pub struct TableSource<'a> {
    /// The input.
    pub input: &'a dyn Labels,
    /// The hierarchy of each quasi-identifier, in the order of the claims.
    pub hierarchies: Vec<Hierarchy>,
    /// For each released row the input row that it is said to come from: checked, never trusted. With these for all
    /// tables no assignment has to be found.
    pub origins: Option<&'a [u32]>,
}

/// What was found out about a table.
#[derive(Debug, Clone, PartialEq)]
pub struct TableReport {
    /// Its name.
    pub name: String,
    /// Released rows.
    pub rows: u64,
    /// Input rows that are not released, where the input is at hand.
    pub removed_rows: Option<u64>,
    /// Rows of the smallest set among which nobody can tell whose is whose; `None` if no row is released.
    pub smallest_set: Option<u64>,
    /// What the sets reach on each sensitive column, once for each.
    pub measured: Vec<Measured>,
}

impl Report {
    /// A report on a database of which nothing is known yet.
    fn of_tables(claims: &[TableClaims], n_rows: impl Iterator<Item = usize>) -> Self {
        let table = |(claims, rows): (&TableClaims, usize)| TableReport {
            name: claims.name.clone(),
            rows: rows as u64,
            removed_rows: None,
            smallest_set: None,
            measured: Vec::new(),
        };
        Report { tables: claims.iter().zip(n_rows).map(table).collect(), ..Report::default() }
    }
}

/// Checks every claim of a database. The report comes back in either case.
pub fn verify_database<R: Labels>(
    release: Vec<R>,
    claims: &DatabaseClaims<'_>,
) -> Result<Verified<R>, Box<Report>> {
    let tables: Vec<&dyn Labels> = release.iter().map(|table| table as &dyn Labels).collect();
    let report = check_database(&tables, claims);
    Verified::of(release.into_iter().map(ReleasedTable::new).collect(), report)
}

/// Checks every claim of a database that nobody is going to write: its tables, in the order of the claims.
pub fn check_database(release: &[&dyn Labels], claims: &DatabaseClaims<'_>) -> Report {
    let n_rows = release.iter().map(|table| table.n_rows());
    let mut report = Report::of_tables(&claims.tables, n_rows);
    if let Err(finding) = check_tables(release, claims, &mut report) {
        report.findings.push(finding);
    }
    report
}

/// Stops at what leaves nothing to check.
fn check_tables(
    release: &[&dyn Labels],
    claims: &DatabaseClaims<'_>,
    report: &mut Report,
) -> Result<(), Finding> {
    let shape = check_shape(release, std::iter::empty(), claims)?;
    for (table, claims) in release.iter().zip(&claims.tables) {
        report.findings.extend(declared(table.header(), claims));
    }
    let is_declared = report.holds();
    let columns = find_columns(release, &claims.tables, Sought::All, "released")?;
    let names = names(&claims.tables);
    let planted = Forest::plant(release, &columns, &shape, &names, "released", &mut report.findings);
    let Some(forest) = planted else {
        return Ok(());
    };

    let own = |(table, columns): (&&dyn Labels, &Columns)| crate::group(*table, &columns.quasi);
    let own = release.iter().zip(&columns).map(own).collect();
    let classes = Classes::new(&forest, &shape, own, |_, _| 0);
    report.add_classes(&classes.of_rows[shape.root], claims);
    let trees: Vec<(&[u32], usize)> =
        classes.of_rows.iter().map(|rows| (rows.of_row.as_slice(), rows.len())).collect();
    let sets = paths(&shape, &forest.parent_rows, &trees);
    for (at, (table, sets)) in release.iter().zip(&sets).enumerate() {
        let Report { findings, tables, .. } = report;
        tables[at].smallest_set = sets.sizes().into_iter().min().map(u64::from);
        let places = &columns[at].sensitive;
        for ((_, claims_of_column), &place) in sensitive_columns(&claims.tables[at]).iter().zip(places) {
            let column = table.column(place);
            tables[at].check_sensitive(&column, sets, claims_of_column, findings);
        }
    }
    // Without the right columns there is nothing to compare row by row.
    if let Some(sources) = claims.source.as_ref().filter(|_| is_declared) {
        let released = Released {
            tables: release,
            columns: &columns,
            shape: &shape,
            forest: &forest,
            added: vec![None; release.len()],
            apart: Vec::new(),
            recoding: Recoding::Generalized,
        };
        source::check(&released, claims, sources, report)?;
    }
    Ok(())
}

/// What must be so before any row is looked at.
///
/// `others` are tables that are released beside those of the claims.
fn check_shape<'a>(
    release: &[&'a dyn Labels],
    others: impl Iterator<Item = &'a dyn Labels>,
    claims: &'a DatabaseClaims<'_>,
) -> Result<Shape, Finding> {
    if release.len() != claims.tables.len() {
        return Err(Finding {
            kind: ClaimKind::Structure,
            claim: counted(claims.tables.len() as u64, "table is released", "tables are released"),
            found: format!("{} are", release.len()),
            holds: false,
        });
    }
    let shape = Shape::of(claims)?;
    roles_differ(&claims.tables)?;
    if let Some(sources) = claims.source.as_ref().filter(|sources| sources.len() != release.len()) {
        return Err(Finding {
            kind: ClaimKind::Structure,
            claim: "every table has an original".into(),
            found: format!("{} tables, {} originals", release.len(), sources.len()),
            holds: false,
        });
    }
    let originals = claims.source.iter().flatten().map(|source| source.input);
    check_form(release.iter().copied().chain(others).chain(originals))?;
    Ok(shape)
}

fn names(claims: &[TableClaims]) -> Vec<&str> {
    claims.iter().map(|table| table.name.as_str()).collect()
}

/// Are the columns those that were declared, if any were?
fn declared(header: Vec<&str>, claims: &TableClaims) -> Option<Finding> {
    let columns = claims.columns.as_ref()?;
    Some(Finding {
        kind: ClaimKind::Structure,
        claim: format!("the columns of {} are {}", claims.name, columns.join(", ")),
        found: counted(header.len() as u64, "column", "columns"),
        holds: columns.iter().map(String::as_str).eq(header),
    })
}

impl Report {
    fn add_classes(&mut self, persons: &Groups, claims: &DatabaseClaims<'_>) {
        let mut sizes: BTreeMap<u64, u64> = BTreeMap::new();
        for n_persons in persons.sizes() {
            *sizes.entry(n_persons.into()).or_insert(0) += 1;
        }
        self.group_sizes = sizes.into_iter().collect();
        self.smallest_group = self.group_sizes.first().map(|&(persons, _)| persons);
        let quasi = claims.tables.iter().flat_map(|table| {
            table.quasi_identifiers.iter().map(move |column| format!("{}.{column}", table.name))
        });
        let quasi: Vec<String> = quasi.collect();
        self.findings.push(Finding {
            kind: ClaimKind::Structure,
            claim: format!("{}-anonymity of persons relative to {}", claims.k, quasi.join(", ")),
            found: self.smallest_group.map_or("no persons".into(), |persons| {
                format!("the smallest class of equal trees has {}", counted(persons, "person", "persons"))
            }),
            holds: self.smallest_group.is_none_or(|persons| persons >= claims.k),
        });
    }
}

impl TableReport {
    /// Checks the claims of one column, on groups of the rows.
    fn check_sensitive(
        &mut self,
        column: &LabelColumn<'_>,
        groups: &Groups,
        claims: &[&SensitiveClaim],
        findings: &mut Vec<Finding>,
    ) {
        let (by_rows, others): (Vec<&SensitiveClaim>, Vec<&SensitiveClaim>) =
            claims.iter().partition(|claim| claim.counted == Counted::Rows);
        findings.extend(others.iter().map(|claim| Finding {
            kind: ClaimKind::Structure,
            claim: format!("in {}, what is claimed of {} by persons", self.name, claim.column),
            found: "only rows are counted in tables of a database".into(),
            holds: !claim.has_threshold(),
        }));
        let Some(first) = claims.first() else {
            return;
        };
        let nothing = SensitiveClaim::measured(&first.column);
        let by_rows = if by_rows.is_empty() { vec![&nothing] } else { by_rows };
        let grouped = Grouped { of_row: &groups.of_row, n_groups: groups.len(), kept: None, persons: None };
        let mut found = Vec::new();
        self.measured.extend(sensitive::check(&Histograms::new(column, &grouped), &by_rows, &mut found));
        // Columns of several tables may have one name.
        findings.extend(found.into_iter().map(|finding| Finding {
            kind: ClaimKind::Structure,
            claim: format!("in {}, {}", self.name, finding.claim),
            ..finding
        }));
    }
}

/// How many rows of each table are not as they should be, and which is the first.
struct Tally(Vec<Option<(u64, usize)>>);

impl Tally {
    fn new(n_tables: usize) -> Self {
        Tally(vec![None; n_tables])
    }

    fn add(&mut self, table: usize, row_idx: usize) {
        let (n_rows, _) = self.0[table].get_or_insert((0, row_idx));
        *n_rows += 1;
    }

    fn is_empty(&self) -> bool {
        self.0.iter().all(Option::is_none)
    }

    /// What the rows are or do: `strange` says it of one row and of several, `fine` where there is none.
    fn finding(&self, claim: String, names: &[&str], strange: [&str; 2], fine: &str) -> Finding {
        let tables = self.0.iter().zip(names).filter_map(|(rows, name)| {
            let (n_rows, first) = (*rows)?;
            let does = strange[usize::from(n_rows != 1)];
            Some(format!(
                "{} of {name} {does}, the first is row {}",
                counted(n_rows, "row", "rows"),
                first + 1
            ))
        });
        let tables: Vec<String> = tables.collect();
        Finding {
            kind: ClaimKind::Structure,
            claim,
            found: if tables.is_empty() { fine.into() } else { tables.join("; ") },
            holds: tables.is_empty(),
        }
    }
}

#[cfg(test)]
mod tests;
