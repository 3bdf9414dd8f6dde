//! What the tables of a release say, as strings: labels, values as collected, and new keys.
//!
//! Keys as collected tell who somebody is, and their order who came first. So every table gets new keys: the numbers from
//! 1 up, in an order drawn from the operating system's randomness and recorded nowhere; foreign keys follow. Whoever
//! verifies the release in this process is told which row each row was made from; the files do not tell.

use std::borrow::Cow;
use std::sync::Arc;

use incog_core::hierarchy::Hierarchy;
use incog_core::relational::{Label, Release, ReleasedTable};
use incog_core::table::Column;
use incog_core::{Error, ErrorKind, Result};
use incog_verify::{LabelColumn, Labels};
use rand::seq::SliceRandom;

use crate::database::plan::DatabasePlan;

/// One table of a release.
pub(crate) struct TableRelease<'a> {
    pub(super) columns: Vec<(Cow<'a, str>, PublishedCells<'a>)>,
    pub(super) n_rows: usize,
}

pub(super) enum PublishedCells<'a> {
    /// Values of a column as collected.
    Kept { column: &'a Column, codes: Vec<u32> },
    /// Labels of a hierarchy: those of all levels, one level after the other.
    Labels { hierarchy: &'a Hierarchy, codes: Vec<u32> },
    /// New keys, or the number of a group.
    Numbers { numbers: Arc<Numbers>, codes: Vec<u32> },
}

/// The numbers from 1 up, as text.
pub(super) struct Numbers {
    text: String,
    ends: Vec<usize>,
}

impl Numbers {
    fn up_to(n: usize) -> Arc<Self> {
        let (mut text, mut ends) = (String::new(), Vec::with_capacity(n));
        for number in 1..=n {
            text.push_str(&number.to_string());
            ends.push(text.len());
        }
        Arc::new(Numbers { text, ends })
    }

    fn labels(&self) -> Vec<&str> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.text[start..end]).collect()
    }
}

impl Labels for TableRelease<'_> {
    fn header(&self) -> Vec<&str> {
        self.columns.iter().map(|(name, _)| &**name).collect()
    }

    fn n_rows(&self) -> usize {
        self.n_rows
    }

    fn column(&self, column_idx: usize) -> LabelColumn<'_> {
        let (labels, codes) = match &self.columns[column_idx].1 {
            PublishedCells::Kept { column, codes } => (column.dictionary().values().collect(), codes),
            PublishedCells::Labels { hierarchy, codes } => {
                let levels = 0..=hierarchy.height();
                (levels.flat_map(|level| hierarchy.labels(level).values()).collect(), codes)
            }
            PublishedCells::Numbers { numbers, codes } => (numbers.labels(), codes),
        };
        LabelColumn { labels, codes: Cow::Borrowed(codes) }
    }

    fn codes_from(&self, column_idx: usize, first: usize, to: &mut [u32]) {
        let (PublishedCells::Kept { codes, .. }
        | PublishedCells::Labels { codes, .. }
        | PublishedCells::Numbers { codes, .. }) = &self.columns[column_idx].1;
        to.copy_from_slice(&codes[first..first + to.len()]);
    }
}

/// New keys of a table, or numbers of groups: which number each row or group has, less 1.
pub(super) struct Minted {
    numbers: Arc<Numbers>,
    pub(super) codes: Vec<u32>,
}

impl Minted {
    pub(super) fn new(n_rows: usize) -> Self {
        let mut codes: Vec<u32> = (0..n_rows as u32).collect();
        codes.shuffle(&mut rand::rng());
        Minted { numbers: Numbers::up_to(n_rows), codes }
    }

    /// Cells with these of the numbers.
    pub(super) fn with_codes<'a>(&self, codes: Vec<u32>) -> PublishedCells<'a> {
        PublishedCells::Numbers { numbers: Arc::clone(&self.numbers), codes }
    }
}

impl DatabasePlan {
    /// The tables of a release, with new keys; rows as in the data.
    pub(crate) fn tables_of(&self, release: &Release) -> Result<Vec<TableRelease<'_>>> {
        let minted = self.mint(release);
        (0..release.tables.len()).map(|table| self.table_of(release, table, &minted)).collect()
    }

    pub(super) fn mint(&self, release: &Release) -> Vec<Minted> {
        release.tables.iter().map(|table| Minted::new(table.records.len())).collect()
    }

    fn table_of(&self, release: &Release, table: usize, minted: &[Minted]) -> Result<TableRelease<'_>> {
        let columns = self.released_columns(table);
        let columns = columns.iter().map(|&at| {
            let column = &self.database.relations()[table].table.columns()[at];
            Ok((Cow::Borrowed(column.name()), self.cells(release, table, column, minted)?))
        });
        Ok(TableRelease {
            columns: columns.collect::<Result<_>>()?,
            n_rows: release.tables[table].records.len(),
        })
    }

    pub(super) fn cells<'a>(
        &'a self,
        release: &Release,
        table: usize,
        column: &'a Column,
        minted: &[Minted],
    ) -> Result<PublishedCells<'a>> {
        let relation = &self.database.relations()[table];
        let ReleasedTable { records, labels } = &release.tables[table];
        if relation.key.as_deref() == Some(column.name()) {
            return Ok(minted[table].with_codes(minted[table].codes.clone()));
        }
        if relation.foreign_keys.iter().any(|key| key.column == column.name()) {
            return Ok(minted[self.parent(table)?].with_codes(self.parents_of(release, table, minted)?));
        }
        let mut attributes = self.database.attributes(table).iter().zip(labels);
        Ok(match attributes.find(|(attribute, _)| attribute.name() == column.name()) {
            Some((attribute, labels)) => {
                let hierarchy = attribute.hierarchy();
                let starts = level_starts(hierarchy);
                let flat = |label: &Label| starts[usize::from(label.level)] + label.code;
                PublishedCells::Labels { hierarchy, codes: labels.iter().map(flat).collect() }
            }
            None => PublishedCells::Kept { column, codes: of_records(column, records) },
        })
    }

    fn parent(&self, table: usize) -> Result<usize> {
        self.database
            .parent(table)
            .ok_or_else(|| Error::new(ErrorKind::Internal, "a foreign key of the person table"))
    }

    /// The new key, less 1, of the row that each released row refers to.
    fn parents_of(&self, release: &Release, table: usize, minted: &[Minted]) -> Result<Vec<u32>> {
        let parent = self.parent(table)?;
        let parents = &release.tables[parent].records;
        let rows = self.database.parent_rows(table);
        let key = |&record: &u32| {
            let at = parents.binary_search(&rows[record as usize]);
            at.map(|at| minted[parent].codes[at])
                .map_err(|_| Error::new(ErrorKind::Internal, "a released row refers to one that is not"))
        };
        release.tables[table].records.iter().map(key).collect()
    }

    /// Whether each released column of a table is as collected, with its place in the data.
    pub(crate) fn as_collected(&self, release: &Release, table: usize) -> Vec<(usize, bool)> {
        let relation = &self.database.relations()[table];
        let is_kept = |at: usize| {
            let name = relation.table.columns()[at].name();
            let mut attributes = self.database.attributes(table).iter().zip(&release.tables[table].labels);
            let generalized = attributes.any(|(attribute, labels)| {
                attribute.name() == name
                    && labels.iter().any(|label| attribute.level_number(label.level) != 0)
            });
            !generalized && !self.job.tables[&relation.name].is_key(name)
        };
        self.released_columns(table).into_iter().map(|at| (at, is_kept(at))).collect()
    }
}

/// Where the labels of each level start, if those of all levels stand one after the other.
fn level_starts(hierarchy: &Hierarchy) -> Vec<u32> {
    let lengths = (0..=hierarchy.height()).map(|level| hierarchy.labels(level).len() as u32);
    lengths.scan(0, |next, length| Some(std::mem::replace(next, *next + length))).collect()
}

pub(super) fn of_records(column: &Column, records: &[u32]) -> Vec<u32> {
    records.iter().map(|&record| column.codes()[record as usize]).collect()
}
