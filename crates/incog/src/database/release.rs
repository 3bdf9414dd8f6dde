//! What the tables of a release say, as strings: labels, values as collected, and new keys.
//!
//! Keys as collected tell who somebody is, and their order who came first. So every table gets new keys: the numbers from
//! 1 up, in an order drawn from the operating system's randomness and recorded nowhere, or keyed hashes of the old ones where
//! the job asks for them (`replace`); foreign keys follow. Whoever verifies the release in this process is told which row each
//! row was made from; the files do not tell.

use std::borrow::Cow;
use std::sync::Arc;

use incog_core::hierarchy::Hierarchy;
use incog_core::relational::{Database, Label, Release, ReleasedTable};
use incog_core::table::Column;
use incog_core::{Error, ErrorKind, Result};
use incog_verify::{LabelColumn, Labels};
use rand::seq::SliceRandom;

use crate::database::plan::DatabasePlan;
use crate::job::ReplaceJob;
use crate::plan::replace::keyed_hash;
use crate::publish::key_file::RunKey;

/// One table of a release.
pub(crate) struct TableRelease {
    /// Whose labels they are.
    database: Arc<Database>,
    table: usize,
    columns: Vec<(String, PublishedCells)>,
    n_rows: usize,
}

/// The cells of a released column: where their labels stand, and which of them each row has.
pub(super) struct PublishedCells {
    source: LabelSource,
    codes: Vec<u32>,
}

/// Where labels stand.
enum LabelSource {
    /// The values of a column of the table, by its place there.
    Kept(usize),
    /// Those of an attribute of the table: of all levels, one level after the other.
    Generalized(usize),
    /// New keys, or the number of a group.
    New(Arc<NewLabels>),
}

/// Labels that stand in no table of the data, one after the other.
pub(super) struct NewLabels {
    text: String,
    ends: Vec<usize>,
}

impl NewLabels {
    fn of(labels: impl Iterator<Item = String>) -> Arc<Self> {
        let (mut text, mut ends) = (String::new(), Vec::new());
        for label in labels {
            text.push_str(&label);
            ends.push(text.len());
        }
        Arc::new(NewLabels { text, ends })
    }

    fn labels(&self) -> Vec<&str> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.text[start..end]).collect()
    }
}

impl TableRelease {
    pub(super) fn new(
        plan: &DatabasePlan,
        table: usize,
        columns: Vec<(String, PublishedCells)>,
        n_rows: usize,
    ) -> Self {
        TableRelease { database: Arc::clone(&plan.database), table, columns, n_rows }
    }
}

impl Labels for TableRelease {
    fn header(&self) -> Vec<&str> {
        self.columns.iter().map(|(name, _)| name.as_str()).collect()
    }

    fn n_rows(&self) -> usize {
        self.n_rows
    }

    fn column(&self, column_idx: usize) -> LabelColumn<'_> {
        let PublishedCells { source, codes } = &self.columns[column_idx].1;
        let labels = match source {
            LabelSource::Kept(at) => {
                let column = &self.database.relations()[self.table].table.columns()[*at];
                column.dictionary().values().collect()
            }
            LabelSource::Generalized(at) => {
                let hierarchy = self.database.attributes(self.table)[*at].hierarchy();
                (0..=hierarchy.height()).flat_map(|level| hierarchy.labels(level).values()).collect()
            }
            LabelSource::New(new) => new.labels(),
        };
        LabelColumn { labels, codes: Cow::Borrowed(codes) }
    }

    fn codes_from(&self, column_idx: usize, first: usize, to: &mut [u32]) {
        to.copy_from_slice(&self.columns[column_idx].1.codes[first..first + to.len()]);
    }
}

impl PublishedCells {
    /// A column as collected: the cells of some of its rows.
    pub(super) fn kept(at: usize, column: &Column, records: &[u32]) -> Self {
        PublishedCells { source: LabelSource::Kept(at), codes: of_records(column, records) }
    }
}

/// New keys of a table, or numbers of groups, and which of them each row or group has.
pub(super) struct Minted {
    labels: Arc<NewLabels>,
    pub(super) codes: Vec<u32>,
}

impl Minted {
    /// The numbers from 1 up, in a drawn order.
    pub(super) fn numbers(n_rows: usize) -> Self {
        let mut codes: Vec<u32> = (0..n_rows as u32).collect();
        codes.shuffle(&mut rand::rng());
        Minted { labels: NewLabels::of((1..=n_rows).map(|number| number.to_string())), codes }
    }

    /// Keyed hashes of the old keys of these rows.
    fn hashes(keys: &Column, records: &[u32], subkey: &[u8; 32]) -> Self {
        let hash = |&record: &u32| keyed_hash(subkey, keys.cell(record as usize));
        let codes = (0..records.len() as u32).collect();
        Minted { labels: NewLabels::of(records.iter().map(hash)), codes }
    }

    /// Cells with these of the labels.
    pub(super) fn with_codes(&self, codes: Vec<u32>) -> PublishedCells {
        PublishedCells { source: LabelSource::New(Arc::clone(&self.labels)), codes }
    }
}

impl DatabasePlan {
    /// The tables of a release, with new keys; rows as in the data.
    pub(crate) fn tables_of(&self, release: &Release) -> Result<Vec<TableRelease>> {
        let minted = self.mint(release)?;
        (0..release.tables.len()).map(|table| self.table_of(release, table, &minted)).collect()
    }

    pub(super) fn mint(&self, release: &Release) -> Result<Vec<Minted>> {
        let key_file = self.key_of_hashes()?;
        let relations = self.database.relations().iter().zip(&release.tables);
        let minted =
            relations.map(|(relation, released)| match (self.hashed_key(&relation.name), &key_file) {
                (None, _) => Ok(Minted::numbers(released.records.len())),
                (Some(key), Some(key_file)) => {
                    let missing = || Error::new(ErrorKind::Internal, "a key is not in its table");
                    let keys = relation.table.column(key).ok_or_else(missing)?;
                    Ok(Minted::hashes(keys, &released.records, &key_file.key().of_keys(&relation.name)))
                }
                (Some(_), None) => Err(Error::new(ErrorKind::Internal, "a keyed hash without a key")),
            });
        minted.collect()
    }

    /// The key of a table, where it is released as keyed hashes.
    pub(super) fn hashed_key(&self, table: &str) -> Option<&str> {
        let said = &self.job.tables[table];
        let key = said.key.as_deref()?;
        (said.columns.get(key)?.replace == Some(ReplaceJob::KeyedHash)).then_some(key)
    }

    /// The key that keys are hashed under, if any are: read, or drawn and put on disk.
    fn key_of_hashes(&self) -> Result<Option<RunKey>> {
        if !self.job.tables.keys().any(|table| self.hashed_key(table).is_some()) {
            return Ok(None);
        }
        let mut key = RunKey::read_or_draw(&self.key_path())?;
        key.settle()?;
        Ok(Some(key))
    }

    fn table_of(&self, release: &Release, table: usize, minted: &[Minted]) -> Result<TableRelease> {
        let columns = self.released_columns(table).into_iter().map(|at| {
            let name = self.database.relations()[table].table.columns()[at].name();
            Ok((name.to_owned(), self.cells(release, table, at, minted)?))
        });
        let columns = columns.collect::<Result<_>>()?;
        Ok(TableRelease::new(self, table, columns, release.tables[table].records.len()))
    }

    /// The released cells of the column at a place of a table.
    pub(super) fn cells(
        &self,
        release: &Release,
        table: usize,
        at: usize,
        minted: &[Minted],
    ) -> Result<PublishedCells> {
        let relation = &self.database.relations()[table];
        let column = &relation.table.columns()[at];
        let ReleasedTable { records, labels } = &release.tables[table];
        if relation.key.as_deref() == Some(column.name()) {
            return Ok(minted[table].with_codes(minted[table].codes.clone()));
        }
        if relation.foreign_keys.iter().any(|key| key.column == column.name()) {
            return Ok(minted[self.parent(table)?].with_codes(self.parents_of(release, table, minted)?));
        }
        let attributes = self.database.attributes(table);
        Ok(match attributes.iter().position(|attribute| attribute.name() == column.name()) {
            Some(number) => {
                let starts = level_starts(attributes[number].hierarchy());
                let flat = |label: &Label| starts[usize::from(label.level)] + label.code;
                PublishedCells {
                    source: LabelSource::Generalized(number),
                    codes: labels[number].iter().map(flat).collect(),
                }
            }
            None => PublishedCells::kept(at, column, records),
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

fn of_records(column: &Column, records: &[u32]) -> Vec<u32> {
    records.iter().map(|&record| column.codes()[record as usize]).collect()
}
