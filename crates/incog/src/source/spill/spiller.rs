//! From rows that are read to rows that are on the disk.
//!
//! Rows stay in memory as long as all of them would fit. When it is clear that they do not, those that are there are written, and so
//! are all that follow. Identifiers are not written: nobody needs their values, only the digest of their cells.

use incog_core::frequency::{FrequencySource, KeyLayout, Rows, Store, Stored};
use incog_core::hierarchy::Attributes;
use incog_core::table::{Column, Role, Table};
use incog_core::{Error, ErrorKind, Result};

use super::codes::{Codes, CodesWriter};
use super::tables::Failure;
use super::{Memory, TextDigest};

/// Rows of a table that are not in memory.
#[derive(Debug)]
pub(crate) struct Spilled {
    pub(super) codes: Codes,
    /// For each column, a digest of its cells, if it is an identifier.
    pub(crate) identifiers: Vec<Option<[u8; 32]>>,
    pub(crate) memory: Memory,
    pub(super) failure: Failure,
}

impl Spilled {
    /// The codes of a column for the rows from `first` on: as many as there is room for.
    pub(crate) fn read(&self, column: usize, first: usize, to: &mut [u32]) -> Result<()> {
        self.codes.read(column, first, to)
    }

    /// Fails if anything could not be read by those who cannot be told.
    pub(crate) fn check(&self) -> Result<()> {
        self.failure.check()
    }

    /// A column of the table with all its rows.
    pub(crate) fn column(&self, table: &Table, name: &str) -> Result<Column> {
        let at = place(table, name)?;
        let mut column = table.columns()[at].clone();
        self.each_code(table, name, |code| column.push_code(code))?;
        Ok(column)
    }

    /// Tells the code of every row in a column of the table, one after the other.
    pub(crate) fn each_code(&self, table: &Table, name: &str, mut tell: impl FnMut(u32)) -> Result<()> {
        let at = place(table, name)?;
        let mut codes = vec![0; PART];
        for first in (0..table.n_rows()).step_by(PART) {
            let codes = &mut codes[..PART.min(table.n_rows() - first)];
            self.read(at, first, codes)?;
            codes.iter().copied().for_each(&mut tell);
        }
        Ok(())
    }

    /// A source for searches: keys in memory if they fit, else in another temporary file. `sensitive` are the codes of the columns that a
    /// policy is about. Who `takes_cells` has all the room that keys leave, and keys leave all of it if they can.
    pub(crate) fn source(
        &self,
        table: &Table,
        attributes: &Attributes,
        sensitive: Vec<Vec<u32>>,
        takes_cells: bool,
    ) -> Result<Box<dyn FrequencySource>> {
        let places: Vec<usize> =
            attributes.iter().filter_map(|attribute| table.place(attribute.name())).collect();
        if places.len() != attributes.len() {
            return Err(Error::new(ErrorKind::Internal, "an attribute is bound to another table"));
        }
        let read = |attribute: usize, first: usize, to: &mut [u32]| self.read(places[attribute], first, to);
        let n_rows = table.n_rows() as u64;
        let room = self.memory.for_groups();
        let key_bytes = KeyLayout::new(attributes).n_bits().div_ceil(64).next_power_of_two() as u64 * 8;
        let bytes_a_row = key_bytes + 4 * sensitive.len() as u64;
        let for_keys = self.memory.for_keys();
        let room = match (takes_cells, sensitive.is_empty()) {
            (false, _) => room,
            (true, true) => room + for_keys,
            (true, false) => room + for_keys.saturating_sub(n_rows * bytes_a_row),
        };
        let are_needed = !takes_cells || !sensitive.is_empty();
        if are_needed && n_rows * bytes_a_row <= for_keys {
            return Ok(Box::new(
                Rows::of_parts(attributes, table.n_rows(), sensitive, read)?.with_room(room),
            ));
        }
        if !sensitive.is_empty() {
            return Err(self
                .memory
                .refuse("models of sensitive columns need a key and a value of each row there"));
        }
        let file: Box<dyn Store> = Box::new(self.memory.file()?);
        Ok(Box::new(Stored::new(attributes, table.n_rows(), file, room, read)?))
    }
}

/// Where a column of the table stands.
fn place(table: &Table, name: &str) -> Result<usize> {
    table.place(name).ok_or_else(|| Error::input(format!("the table has no column `{name}`")))
}

/// Rows whose codes are read at a time.
const PART: usize = 1 << 16;

/// Watches over the memory while rows are read.
pub(crate) struct Spiller {
    memory: Memory,
    rows_at_a_time: usize,
    digests: Vec<TextDigest>,
    /// Once there are too many rows.
    writer: Option<CodesWriter>,
}

impl Spiller {
    pub(crate) fn new(memory: Memory, n_columns: usize) -> Self {
        let rows_at_a_time = memory.part_rows(n_columns);
        Spiller { memory, rows_at_a_time, digests: vec![TextDigest::default(); n_columns], writer: None }
    }

    pub(crate) fn rows_at_a_time(&self) -> usize {
        self.rows_at_a_time
    }

    /// Looks at what has been read, and writes it if there is too much.
    pub(crate) fn take(&mut self, columns: &mut [Column]) -> Result<()> {
        let n_rows = columns.first().map_or(0, |column| column.codes().len());
        if self.writer.is_some() {
            return if n_rows < self.rows_at_a_time { Ok(()) } else { self.write(columns, n_rows) };
        }
        if self.memory.fits(n_rows, columns) {
            return Ok(());
        }
        self.writer = Some(CodesWriter::new(self.memory.file()?, columns.len()));
        self.write(columns, n_rows)?;
        // There was room for many more.
        columns.iter_mut().for_each(Column::shrink);
        Ok(())
    }

    fn write(&mut self, columns: &mut [Column], n_rows: usize) -> Result<()> {
        for (column, digest) in columns.iter_mut().zip(&mut self.digests) {
            if column.role() == Role::Identifier {
                digest.push(column);
                column.forget_all();
            }
        }
        if let Some(writer) = &mut self.writer {
            writer.push(columns, n_rows)?;
        }
        columns.iter_mut().for_each(Column::forget_rows);
        self.memory.check_values(columns)
    }

    /// The table, and its rows if they are not in it.
    pub(crate) fn finish(mut self, mut columns: Vec<Column>) -> Result<(Table, Option<Spilled>)> {
        if self.writer.is_none() {
            columns.iter_mut().for_each(Column::shrink);
            return Ok((Table::new(columns)?, None));
        }
        let n_rows = columns.first().map_or(0, |column| column.codes().len());
        self.write(&mut columns, n_rows)?;
        columns.iter_mut().for_each(Column::shrink);
        let Some(writer) = self.writer else {
            return Err(Error::new(ErrorKind::Internal, "rows were spilled to nowhere"));
        };
        let codes = writer.finish()?;
        let of_identifier = |(column, digest): (&Column, &TextDigest)| {
            (column.role() == Role::Identifier).then(|| digest.finish())
        };
        let identifiers = columns.iter().zip(&self.digests).map(of_identifier).collect();
        let table = Table::of_values(columns, codes.n_rows())?;
        Ok((table, Some(Spilled { codes, identifiers, memory: self.memory, failure: Failure::default() })))
    }
}
