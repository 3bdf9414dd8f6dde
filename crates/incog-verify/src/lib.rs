//! Is a released table what it claims to be?
//!
//! Reads nothing but labels, as strings, and regroups them from scratch. Shares no code with the engine and
//! depends on nothing of incog: whoever distrusts the anonymizer need only read this crate. Tables come as columns of
//! labels and codes, so that millions of rows are checked in seconds; codes are not trusted, labels are numbered anew.
//!
//! | claim | how it is checked |
//! |---|---|
//! | columns | the release has exactly the declared columns, in order |
//! | k-anonymity | every combination of quasi-identifier labels stands at least k times |
//! | combinations | every combination of at most m quasi-identifier labels stands at least k times; where this is claimed, all of them together need not, and of suppressed groups only that they are whole is checked |
//! | α, general and pooled | in no group one value of a sensitive column, or some values together, have a greater share |
//! | distinct, entropy, recursive ℓ | every group has enough values, spread evenly enough |
//! | t | no group's distribution of values is farther from the whole release's, by equal, ordered or hierarchical distances |
//! | δ | no value's share of a group differs by a factor of e^δ from that of the whole release, up or down |
//! | β, basic and enhanced | no value's share of the whole release grows in a group by more than that part of itself |
//! | generalization | every released row is an input row with each quasi-identifier at one level of its hierarchy |
//! | the same, local | every released row can be assigned an input row of its own, each cell at some level |
//! | the same, by boxes | every released row can be assigned an input row of its own inside of its box; intervals have their ends on the step or the bounds; boxes are disjoint, or the labels of each column, if that is claimed |
//! | accounting | rows in = rows released + rows suppressed, within the budget; suppressed are whole groups, below k or refused by a claim (not with local recoding or boxes) |
//! | persons | where a person has several rows: every group has at least k persons, counted in the input, and rows that do not say whom they are about count for nobody (refused with local recoding and boxes); the claims on sensitive columns may be of persons too |
//!
//! The last five need the input and the hierarchies ([`Source`]). Thresholds on sensitive columns are optional
//! ([`SensitiveClaim`]); what a release reaches there is measured in any case ([`Measured`]). Every decision is made by
//! integers, or by floats that are far from the threshold.
//!
//! At which levels a release was made is found out ([`RecodingClaim`]). What takes more than a bounded amount of work is neither
//! accepted nor refused: it is told as undecided ([`Report::undecided`]), and does not make a release [`Verified`].
//!
//! Where one person stands in many tables, persons are compared by their trees of rows
//! ([`check_database`]), or sensitive values are released apart from them ([`check_anatomy`]).
//!
//! Where a column of pseudonyms repeats, all rows of one must look together like those of k pseudonyms ([`linked`]).
//!
//! Tables that do not fit the memory are checked in the order of their input ([`check_in_order`]), and tables of a database where they
//! are, by SQL of this crate's own ([`check_in_database`]).
//!
//! A claim is relative to the quasi-identifiers that were named. Nothing here can tell whether those were all.
//!
//! A [`Verified`] release cannot be made in any other way than by [`verify`], [`verify_in_order`], [`verify_database`] and
//! [`verify_anatomy`]; sinks accept nothing else.
#![forbid(unsafe_code)]

mod hash;
mod words;
mod keys;
mod fraction;
mod natural;
mod written;
mod entropy;
mod exponential;
mod ordered;
mod hierarchical;
mod histograms;
mod measure;
mod sensitive;
mod sensitive_columns;
mod requirement;
mod combinations;
mod linked;
mod local;
mod boxes;
mod levels;
mod against_input;
mod in_order;
mod in_database;
mod string_table;
mod relational;

pub use against_input::{Hierarchy, RecodingClaim, Source};
pub use boxes::{BoxesClaim, OrderClaim, OverlapClaim};
pub use fraction::Fraction;
#[doc(hidden)]
pub use hash::set_hash_seed;
pub use in_database::{Database, SourceInDatabase, TableInDatabase, check_in_database, verify_in_database};
pub use in_order::{check_in_order, verify_in_order};
pub use linked::linked;
pub use measure::Measured;
pub use relational::{
    AnatomyTable, DatabaseClaims, TableClaims, TableReport, TableSource, check_anatomy, check_database,
    verify_anatomy, verify_database,
};
pub use requirement::{NoClaim, RequirementValues};
pub use sensitive::{Counted, Distance, Likeness, SensitiveClaim};
pub use string_table::StringTable;
pub use written::Style;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use rayon::prelude::*;

use crate::keys::{Groups, Keys, MAX_ROWS, Numbers};
use crate::sensitive_columns::Sensitive;
use crate::words::counted;

/// The label of an empty text, where a file tells it from a missing value (Parquet does, CSV does not).
pub const EMPTY_TEXT: &str = "\u{FDD0}";

/// A table of labels, column by column.
///
/// The label of a cell is its text, and different cells have different labels. So that this holds, the empty label is that of
/// the missing value alone, that of an empty text is [`EMPTY_TEXT`], and a text that consists of this character only has one
/// more of it in front.
pub trait Labels: Sync {
    /// The columns' names.
    fn header(&self) -> Vec<&str>;
    /// How many rows there are.
    fn n_rows(&self) -> usize;
    /// One column.
    fn column(&self, column_idx: usize) -> LabelColumn<'_>;

    /// The labels of a column without its codes.
    fn labels(&self, column_idx: usize) -> Vec<&str> {
        self.column(column_idx).labels
    }

    /// The codes of a column for the rows from `first` on: as many as there is room for. It is asked for a few thousand rows at
    /// a time, so it is to be written anew where [`column`](Self::column) costs anything.
    fn codes_from(&self, column_idx: usize, first: usize, to: &mut [u32]) {
        to.copy_from_slice(&self.column(column_idx).codes[first..first + to.len()]);
    }
}

impl<L: Labels + ?Sized> Labels for Box<L> {
    fn header(&self) -> Vec<&str> {
        (**self).header()
    }

    fn n_rows(&self) -> usize {
        (**self).n_rows()
    }

    fn column(&self, column_idx: usize) -> LabelColumn<'_> {
        (**self).column(column_idx)
    }

    fn labels(&self, column_idx: usize) -> Vec<&str> {
        (**self).labels(column_idx)
    }

    fn codes_from(&self, column_idx: usize, first: usize, to: &mut [u32]) {
        (**self).codes_from(column_idx, first, to);
    }
}

/// A column: the cell of row i is `labels[codes[i]]`.
///
/// Codes only spare the checker the reading of every cell; it does not trust them. Equal labels may stand under
/// several codes, and labels may occur in no row.
///
/// # Invariants
/// As many codes as the table has rows, each below `labels.len()`; the checker panics otherwise.
#[derive(Debug, Clone)]
pub struct LabelColumn<'a> {
    /// All labels of the column, and possibly more.
    pub labels: Vec<&'a str>,
    /// For each row, where its label stands.
    pub codes: Cow<'a, [u32]>,
}

/// What is claimed of a release.
pub struct Claims<'a> {
    /// The columns that an outsider may know.
    pub quasi_identifiers: Vec<String>,
    /// Every combination of their labels stands at least this often.
    pub k: u64,
    /// Not all labels together but every combination of at most this many quasi-identifiers' stands at least k times.
    pub combinations: Option<usize>,
    /// Exactly these columns are released, in this order, if they were declared.
    pub columns: Option<Vec<String>>,
    /// Columns whose values nobody should learn, and what is claimed of them. A column may stand here several times.
    pub sensitive: Vec<SensitiveClaim>,
    /// What the release was made from, if it is at hand.
    pub source: Option<Source<'a>>,
}

/// What a claim is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ClaimKind {
    /// Which columns there are.
    Columns,
    /// How many rows, or persons of a database, look alike.
    Anonymity,
    /// How many persons a group of rows has.
    Persons,
    /// What nobody should learn about a person.
    Sensitive,
    /// Whether released rows are those of the input, recoded, and how many were left out.
    Rows,
    /// Whether labels, intervals and boxes are what they should be.
    Recoding,
    /// How the tables of a database hold together.
    Structure,
    /// Whether keys are new, and no column has copies of the old ones.
    Keys,
    /// Which files there are.
    Files,
    /// Whether a record is what it should be.
    Record,
    /// Who signed a record.
    Signature,
}

impl ClaimKind {
    /// Its name, for programs.
    pub const fn name(self) -> &'static str {
        match self {
            ClaimKind::Columns => "columns",
            ClaimKind::Anonymity => "anonymity",
            ClaimKind::Persons => "persons",
            ClaimKind::Sensitive => "sensitive",
            ClaimKind::Rows => "rows",
            ClaimKind::Recoding => "recoding",
            ClaimKind::Structure => "structure",
            ClaimKind::Keys => "keys",
            ClaimKind::Files => "files",
            ClaimKind::Record => "record",
            ClaimKind::Signature => "signature",
        }
    }
}

/// One claim, and what was found.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// What it is about.
    pub kind: ClaimKind,
    /// The claim in words.
    pub claim: String,
    /// What was found. Never a label or a value: columns, counts and row numbers.
    pub found: String,
    /// Do they agree?
    pub holds: bool,
}

impl Finding {
    /// A claim about something, what was found, and whether they agree.
    pub fn new(kind: ClaimKind, claim: impl Into<String>, holds: bool, found: impl Into<String>) -> Self {
        Finding { kind, claim: claim.into(), found: found.into(), holds }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}  {} ({})", if self.holds { "pass" } else { "FAIL" }, self.claim, self.found)
    }
}

/// All claims with what was found, and what was measured beside them.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Report {
    /// Claims.
    pub findings: Vec<Finding>,
    /// Claims that could not be checked within a bounded amount of work, and what would help. None of them holds, and
    /// none was found wrong.
    pub undecided: Vec<Finding>,
    /// Rows of the smallest group; of a database, persons of the smallest class. `None` if nothing is released, or no classes are
    /// claimed.
    pub smallest_group: Option<u64>,
    /// Persons of the group with the fewest, where persons were counted.
    pub fewest_persons: Option<u64>,
    /// Persons of all groups together, where persons were counted: whoever is in two groups counts in both.
    pub persons_of_groups: Option<u64>,
    /// How many groups have how many rows: (rows, groups), ascending. Of a database, how many classes have how many persons.
    pub group_sizes: Vec<(u64, u64)>,
    /// What the release reaches on each sensitive column, once for each, by rows.
    pub measured: Vec<Measured>,
    /// The tables of a database, in the order of the claims; none of one table.
    pub tables: Vec<TableReport>,
}

impl Report {
    /// Do all claims hold?
    pub fn holds(&self) -> bool {
        self.undecided.is_empty() && self.findings.iter().all(|finding| finding.holds)
    }

    /// Was no claim found wrong, and some could not be checked?
    pub fn is_undecided(&self) -> bool {
        !self.undecided.is_empty() && self.findings.iter().all(|finding| finding.holds)
    }

    /// Adds how large the groups are, and whether that is enough.
    fn add_sizes(&mut self, claims: &Claims<'_>, sizes: impl Iterator<Item = u32>) {
        let mut group_sizes: BTreeMap<u64, u64> = BTreeMap::new();
        for rows in sizes {
            *group_sizes.entry(u64::from(rows)).or_insert(0) += 1;
        }
        self.add_group_sizes(claims, group_sizes.into_iter().collect());
    }

    /// The same, given how many groups have how many rows, ascending.
    fn add_group_sizes(&mut self, claims: &Claims<'_>, group_sizes: Vec<(u64, u64)>) {
        self.group_sizes = group_sizes;
        self.smallest_group = self.group_sizes.first().map(|&(rows, _)| rows);
        if claims.combinations.is_some() {
            return;
        }
        self.findings.push(Finding {
            kind: ClaimKind::Anonymity,
            claim: format!("{}-anonymity relative to {}", claims.k, claims.quasi_identifiers.join(", ")),
            found: self.smallest_group.map_or("no rows".into(), |rows| {
                format!("the smallest group has {}", counted(rows, "row", "rows"))
            }),
            // Also where persons are counted: whoever is in a group has a row there.
            holds: self.smallest_group.is_none_or(|rows| rows >= claims.k),
        });
    }

    /// Adds what a column reaches by persons to what it reaches by rows.
    fn add_by_persons(&mut self, by_persons: Option<Measured>) {
        let Some(by_persons) = by_persons else {
            return;
        };
        if let Some(measured) = self.measured.iter_mut().find(|other| other.column == by_persons.column) {
            measured.by_persons.get_or_insert(Box::new(by_persons));
        }
    }
}

/// One table of a release.
#[derive(Debug, Clone)]
pub struct ReleasedTable<R> {
    /// Its rows. In an anatomized database, with the last column `group` instead of the sensitive ones, if there are any.
    pub rows: R,
    /// In an anatomized database, for each sensitive column a table with `group` and that column.
    pub sensitive: Vec<(String, R)>,
}

impl<R> ReleasedTable<R> {
    /// A table that has its sensitive columns itself.
    pub fn new(rows: R) -> Self {
        ReleasedTable { rows, sensitive: Vec::new() }
    }
}

/// A release whose claims were all found true: one table, or those of a database.
///
/// # Invariants
/// There is at least one table.
#[derive(Debug)]
pub struct Verified<R> {
    tables: Vec<ReleasedTable<R>>,
    report: Report,
}

impl<R> Verified<R> {
    /// The only way to it is a report in which everything holds.
    fn of(tables: Vec<ReleasedTable<R>>, report: Report) -> Result<Self, Box<Report>> {
        if report.holds() && !tables.is_empty() {
            Ok(Verified { tables, report })
        } else {
            Err(Box::new(report))
        }
    }

    /// The rows of the release, where it is one table; of a database, those of the first.
    pub fn release(&self) -> &R {
        &self.tables[0].rows
    }

    /// The tables, in the order of the claims.
    pub fn tables(&self) -> &[ReleasedTable<R>] {
        &self.tables
    }

    /// What was checked.
    pub fn report(&self) -> &Report {
        &self.report
    }
}

/// Checks every claim. The report comes back in either case.
pub fn verify<R: Labels>(release: R, claims: &Claims<'_>) -> Result<Verified<R>, Box<Report>> {
    let report = check(&release, claims);
    Verified::of(vec![ReleasedTable::new(release)], report)
}

/// Checks every claim of a table that nobody is going to write.
pub fn check(release: &dyn Labels, claims: &Claims<'_>) -> Report {
    let mut report = Report::default();
    let Some(Columns { quasi, are_declared }) = columns_of(release, claims, &mut report) else {
        return report;
    };
    let header = release.header();
    let places = Places::new(&header);

    let groups = group(release, &quasi);
    report.add_sizes(claims, groups.sizes().into_iter());
    if claims.combinations.is_some() {
        let numbers: Vec<Vec<u32>> = quasi.iter().map(|&at| label_numbers(release, at, &groups)).collect();
        combinations::check(claims, &mut report, |set, smallest| {
            let columns: Vec<&[u32]> = set.iter().map(|&at| numbers[at].as_slice()).collect();
            smallest.add(set, combinations::sizes(&columns, &groups.sizes()).into_iter());
        });
    }
    let mut positions = Vec::new();
    for claim in &claims.sensitive {
        match places.of(&claim.column) {
            Some(at) => positions.push((at, claim)),
            None => report.findings.push(Finding {
                kind: ClaimKind::Sensitive,
                claim: format!("the sensitive column {} is released", claim.column),
                found: "it is not there".into(),
                holds: false,
            }),
        }
    }
    let sensitive = Sensitive { release, groups: &groups, claims: &positions };
    sensitive.by_rows(&mut report);
    // Without the right columns there is nothing to compare row by row.
    let compared = match (&claims.source, are_declared) {
        (Some(source), true) => against_input::check(release, claims, source, &quasi, &groups, &mut report),
        _ => against_input::Compared::default(),
    };
    report.fewest_persons = compared.fewest_persons;
    report.persons_of_groups = compared.persons_of_groups;
    sensitive.by_labels(&mut report);
    sensitive.by_persons(claims.source.as_ref(), compared.people.as_ref(), &mut report);
    report
}

/// Where columns stand, by their names: there may be a hundred thousand.
struct Places<'a>(hash::Map<&'a str, (usize, bool)>);

impl<'a> Places<'a> {
    fn new(header: &[&'a str]) -> Self {
        let mut places = hash::Map::default();
        for (at, &name) in header.iter().enumerate() {
            places.entry(name).and_modify(|(_, stands_twice)| *stands_twice = true).or_insert((at, false));
        }
        Places(places)
    }

    /// The first place of a name.
    fn of(&self, name: &str) -> Option<usize> {
        self.0.get(name).map(|&(at, _)| at)
    }

    fn stands_twice(&self, name: &str) -> bool {
        self.0.get(name).is_some_and(|&(_, stands_twice)| stands_twice)
    }
}

/// The columns of a release, as far as claims need them.
struct Columns {
    /// Where the quasi-identifiers stand.
    quasi: Vec<usize>,
    /// Are the columns those that were declared?
    are_declared: bool,
}

/// Finds the quasi-identifiers, and adds what is found of the columns. `None` if nothing else can be checked.
fn columns_of(release: &dyn Labels, claims: &Claims<'_>, report: &mut Report) -> Option<Columns> {
    let header = release.header();
    let are_declared = claims
        .columns
        .as_ref()
        .is_none_or(|columns| columns.iter().map(String::as_str).eq(header.iter().copied()));
    if let Some(columns) = &claims.columns {
        report.findings.push(Finding {
            kind: ClaimKind::Columns,
            claim: format!("the columns are {}", columns.join(", ")),
            found: counted(header.len() as u64, "column", "columns"),
            holds: are_declared,
        });
    }
    let places = Places::new(&header);
    let quasi: Vec<Option<usize>> = claims.quasi_identifiers.iter().map(|name| places.of(name)).collect();
    let with_names = quasi.iter().zip(&claims.quasi_identifiers);
    let missing: Vec<&str> =
        with_names.filter(|(at, _)| at.is_none()).map(|(_, name)| name.as_str()).collect();
    if !missing.is_empty() {
        report.findings.push(Finding {
            kind: ClaimKind::Columns,
            claim: "every quasi-identifier is a column of the release".into(),
            found: format!("there is no {}", missing.join(", ")),
            holds: false,
        });
        return None;
    }
    let quasi: Vec<usize> = quasi.into_iter().flatten().collect();
    let n_ambiguous = quasi.iter().filter(|&&at| places.stands_twice(header[at])).count();
    if n_ambiguous > 0 {
        report.findings.push(Finding {
            kind: ClaimKind::Columns,
            claim: "no other column has the name of a quasi-identifier".into(),
            found: format!("{n_ambiguous} names stand twice"),
            holds: false,
        });
        return None;
    }
    let n_rows = release.n_rows() + claims.source.as_ref().map_or(0, |source| source.input.n_rows());
    if n_rows > MAX_ROWS {
        report.undecided.push(Finding {
            kind: ClaimKind::Rows,
            claim: format!("there are at most {MAX_ROWS} rows, input and release together"),
            found: format!("{n_rows} rows, more than can be checked"),
            holds: false,
        });
        return None;
    }
    Some(Columns { quasi, are_declared })
}

/// Groups the rows by the labels of some columns.
fn group(table: &dyn Labels, columns: &[usize]) -> Groups {
    let number = |&at: &usize| {
        let mut numbers = Numbers::default();
        let of_code = numbers.all(table.labels(at));
        (of_code, numbers.len())
    };
    let (of_codes, radices): (Vec<Vec<u32>>, Vec<usize>) = columns.par_iter().map(number).unzip();
    let mut keys = Keys::new(table.n_rows());
    keys.fold_rows(&radices, |column, first, to| {
        table.codes_from(columns[column], first, to);
        renumber(to, &of_codes[column]);
    });
    keys.into_groups()
}

/// A number for the label that each group has in a column; equal labels have equal numbers.
fn label_numbers(release: &dyn Labels, at: usize, groups: &Groups) -> Vec<u32> {
    let of_code = Numbers::default().all(release.labels(at));
    let mut numbers = against_input::codes_of(release, at, &groups.first_rows);
    renumber(&mut numbers, &of_code);
    numbers
}

/// Replaces codes by what stands for them.
fn renumber(codes: &mut [u32], of_code: &[u32]) {
    for code in codes {
        *code = of_code[*code as usize];
    }
}

#[cfg(test)]
mod tests;
