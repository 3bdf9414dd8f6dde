//! The codes of a table's rows in a temporary file.
//!
//! Blocks of rows, column after column; within a block all codes of a column take 0, 1, 2 or 4 bytes, as many as its largest one
//! needs. So a code is found without reading what is before it, and columns are read one at a time.

use incog_core::Result;
use incog_core::frequency::Store;
use incog_core::table::Column;
use rayon::prelude::*;

use super::SpillFile;

/// Rows to a block.
pub(super) const BLOCK: usize = if cfg!(test) { 16 } else { 1 << 16 };

/// All rows, to be read.
#[derive(Debug)]
pub(super) struct Codes {
    file: SpillFile,
    blocks: Vec<Block>,
    n_rows: usize,
}

/// Where a block stands.
#[derive(Debug)]
struct Block {
    /// For each column where its codes start, and how many bytes each takes.
    columns: Box<[(u64, u8)]>,
}

impl Codes {
    pub(super) fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// The codes of a column for the rows from `first` on: as many as there is room for.
    pub(super) fn read(&self, column: usize, first: usize, to: &mut [u32]) -> Result<()> {
        debug_assert!(first + to.len() <= self.n_rows);
        let mut bytes = Vec::new();
        let mut at = first;
        let mut to = to;
        while !to.is_empty() {
            let (block, start) = (at / BLOCK, at % BLOCK);
            let n = (BLOCK - start).min(to.len());
            let (now, later) = to.split_at_mut(n);
            let (place, width) = self.blocks[block].columns[column];
            bytes.resize(n * usize::from(width), 0);
            self.file.read(place + start as u64 * u64::from(width), &mut bytes)?;
            decode(&bytes, width, now);
            to = later;
            at += n;
        }
        Ok(())
    }
}

/// Takes rows as they come.
pub(super) struct CodesWriter {
    file: SpillFile,
    /// Rows that do not fill a block yet, column by column.
    pending: Vec<Vec<u32>>,
    blocks: Vec<Block>,
    n_rows: usize,
}

impl CodesWriter {
    pub(super) fn new(file: SpillFile, n_columns: usize) -> Self {
        CodesWriter { file, pending: vec![Vec::new(); n_columns], blocks: Vec::new(), n_rows: 0 }
    }

    /// Adds all rows of some columns; those that have no codes here get zeros.
    pub(super) fn push(&mut self, columns: &[Column], n_rows: usize) -> Result<()> {
        self.pending.par_iter_mut().zip(columns).for_each(|(pending, column)| {
            pending.extend_from_slice(column.codes());
            pending.resize(pending.len() + n_rows - column.codes().len(), 0);
        });
        self.n_rows += n_rows;
        let n_pending = self.pending.first().map_or(0, Vec::len);
        self.flush(n_pending / BLOCK * BLOCK)
    }

    /// All rows have come.
    pub(super) fn finish(mut self) -> Result<Codes> {
        let n_pending = self.pending.first().map_or(0, Vec::len);
        self.flush(n_pending)?;
        Ok(Codes { file: self.file, blocks: self.blocks, n_rows: self.n_rows })
    }

    /// Writes the first rows, in blocks.
    fn flush(&mut self, n_rows: usize) -> Result<()> {
        for start in (0..n_rows).step_by(BLOCK) {
            let rows = start..n_rows.min(start + BLOCK);
            let encoded: Vec<(Vec<u8>, u8)> =
                self.pending.par_iter().map(|codes| encode(&codes[rows.clone()])).collect();
            let mut columns = Vec::with_capacity(encoded.len());
            for (bytes, width) in &encoded {
                columns.push((self.file.len(), *width));
                self.file.append(bytes)?;
            }
            self.blocks.push(Block { columns: columns.into() });
        }
        for codes in &mut self.pending {
            codes.drain(..n_rows);
        }
        Ok(())
    }
}

/// Codes as bytes, and how many bytes each takes.
fn encode(codes: &[u32]) -> (Vec<u8>, u8) {
    match codes.iter().copied().max().unwrap_or(0) {
        0 => (Vec::new(), 0),
        1..=0xFF => (codes.iter().map(|&code| code as u8).collect(), 1),
        0x100..=0xFFFF => (codes.iter().flat_map(|&code| (code as u16).to_le_bytes()).collect(), 2),
        _ => (codes.iter().flat_map(|&code| code.to_le_bytes()).collect(), 4),
    }
}

fn decode(bytes: &[u8], width: u8, to: &mut [u32]) {
    match width {
        0 => to.fill(0),
        1 => to.iter_mut().zip(bytes).for_each(|(to, &byte)| *to = u32::from(byte)),
        2 => to
            .iter_mut()
            .zip(bytes.as_chunks::<2>().0)
            .for_each(|(to, &bytes)| *to = u32::from(u16::from_le_bytes(bytes))),
        _ => to
            .iter_mut()
            .zip(bytes.as_chunks::<4>().0)
            .for_each(|(to, &bytes)| *to = u32::from_le_bytes(bytes)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use incog_core::table::Role;

    #[test]
    fn what_was_written_is_read_from_anywhere_whatever_the_parts() {
        let codes = |column: usize, row: usize| (row * row % [3, 300, 70_000][column]) as u32;
        let mut known: Vec<Column> = (0..3).map(|at| Column::new(format!("c{at}"), Role::Other)).collect();
        // Values first, so that codes are as wanted.
        for (column, n) in known.iter_mut().zip([3, 300, 70_000]) {
            (0..n).for_each(|value| _ = column.push(&value.to_string()).unwrap());
            column.forget_rows();
        }
        for parts in [&[1, 5, 0, 40, 3, 51][..], &[100], &[16, 16, 16], &[0]] {
            let mut writer = CodesWriter::new(SpillFile::create(&std::env::temp_dir()).unwrap(), 3);
            let mut n_rows = 0;
            for &n in parts {
                for (at, column) in known.iter_mut().enumerate() {
                    (n_rows..n_rows + n).for_each(|row| column.push_code(codes(at, row)));
                }
                writer.push(&known, n).unwrap();
                known.iter_mut().for_each(Column::forget_rows);
                n_rows += n;
            }
            let written = writer.finish().unwrap();
            assert_eq!(written.n_rows(), n_rows);
            for first in 0..n_rows {
                for n in [0, 1, 15, 16, 17, n_rows - first] {
                    let n = n.min(n_rows - first);
                    for column in 0..3 {
                        let mut read = vec![9; n];
                        written.read(column, first, &mut read).unwrap();
                        let expected: Vec<u32> = (first..first + n).map(|row| codes(column, row)).collect();
                        assert_eq!(read, expected, "column {column}, {n} rows from {first}");
                    }
                }
            }
        }
    }
}
