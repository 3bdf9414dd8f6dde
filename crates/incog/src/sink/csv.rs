//! A release as CSV: a header, quotes where they are needed, `\n` at line ends.
//!
//! Whoever reads it without being told the delimiter finds it out from the header. So names with another delimiter in
//! them are quoted, and in a table of one column, whose header has none, all such fields.
//!
//! Each label is quoted once, not each cell; blocks of rows are put together by several threads and written in order.

use std::ops::Range;

use incog_core::{Result, Watch};
use incog_verify::{LabelColumn, Labels};
use rayon::prelude::*;

use crate::sink::{Rows, Unfinished};
use crate::source::DELIMITERS;

/// How many rows a thread puts together at a time.
const BLOCK: usize = 1 << 14;

/// How many columns' codes are held at a time beside those of all rows.
const COLUMNS: usize = 2;

/// Writes a release in the given order of rows.
pub(super) fn write(
    release: &dyn Labels,
    rows: &Rows,
    delimiter: u8,
    file: &mut Unfinished,
    watch: &Watch,
) -> Result<()> {
    let header = release.header();
    let mut line = Vec::new();
    for (at, name) in header.iter().enumerate() {
        if at > 0 {
            line.push(delimiter);
        }
        let quoting = if header.len() == 1 { Quoting::OnlyColumn } else { Quoting::Header };
        quote(name, delimiter, quoting, &mut line);
    }
    line.push(b'\n');
    file.put(&line)?;
    let width = header.len();
    let quoting = if width == 1 { Quoting::OnlyColumn } else { Quoting::Cell };
    let mut columns: Vec<Quoted> = Vec::with_capacity(width);
    let mut codes = vec![0; release.n_rows() * width];
    let places: Vec<usize> = (0..width).collect();
    for some in places.chunks(COLUMNS) {
        let released: Vec<LabelColumn<'_>> = some.iter().map(|&at| release.column(at)).collect();
        columns.extend(released.iter().map(|column| Quoted::new(&column.labels, delimiter, quoting)));
        side_by_side(&released, some[0], width, &mut codes);
    }
    // One block a thread at a time, so that memory stays flat.
    let blocks: Vec<Range<usize>> =
        (0..rows.len()).step_by(BLOCK).map(|start| start..rows.len().min(start + BLOCK)).collect();
    let mut buffers: Vec<Vec<u8>> = vec![Vec::new(); 2 * rayon::current_num_threads()];
    for some in blocks.chunks(buffers.len()) {
        watch.check()?;
        buffers.par_iter_mut().zip(some).for_each(|(buffer, block)| {
            buffer.clear();
            for at in block.clone() {
                let row = rows.get(at) * width;
                for (column, &code) in columns.iter().zip(&codes[row..row + width]) {
                    buffer.extend_from_slice(column.field(code as usize));
                }
                // The last delimiter becomes the end of the line.
                if let Some(last) = buffer.last_mut() {
                    *last = b'\n';
                }
            }
        });
        for (buffer, block) in buffers.iter().zip(some) {
            file.put(buffer)?;
            watch.count_rows(block.len() as u64);
        }
    }
    Ok(())
}

/// Puts the codes of some columns, the first of which stands at `first`, side by side with those of the others: shuffled
/// rows are then one jump in memory apart, not one a column.
fn side_by_side(columns: &[LabelColumn<'_>], first: usize, width: usize, codes: &mut [u32]) {
    codes.par_chunks_mut(width * BLOCK).enumerate().for_each(|(block, codes)| {
        for (at, column) in columns.iter().enumerate() {
            let from = &column.codes[block * BLOCK..];
            for (to, &code) in codes[first + at..].iter_mut().step_by(width).zip(from) {
                *to = code;
            }
        }
    });
}

/// A column's labels, quoted where they must be, each followed by the delimiter.
struct Quoted {
    text: Vec<u8>,
    /// Where each label starts and ends.
    ends: Vec<usize>,
}

impl Quoted {
    fn new(labels: &[&str], delimiter: u8, quoting: Quoting) -> Self {
        let mut text = Vec::new();
        let mut ends = vec![0];
        for label in labels {
            quote(label, delimiter, quoting, &mut text);
            text.push(delimiter);
            ends.push(text.len());
        }
        Quoted { text, ends }
    }

    fn field(&self, code: usize) -> &[u8] {
        &self.text[self.ends[code]..self.ends[code + 1]]
    }
}

/// What must be quoted beside the delimiter, quotes and line ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quoting {
    /// Any other delimiter: it could be taken for the table's.
    Header,
    /// Nothing.
    Cell,
    /// Any other delimiter, and nothing at all: an empty line would be no row.
    OnlyColumn,
}

/// Appends a field.
fn quote(field: &str, delimiter: u8, quoting: Quoting, to: &mut Vec<u8>) {
    let is_special = |byte: u8| {
        byte == delimiter
            || matches!(byte, b'"' | b'\n' | b'\r')
            || (quoting != Quoting::Cell && DELIMITERS.contains(&byte))
    };
    let is_plain = !field.bytes().any(is_special);
    if is_plain && !(field.is_empty() && quoting == Quoting::OnlyColumn) {
        to.extend_from_slice(field.as_bytes());
        return;
    }
    to.push(b'"');
    for byte in field.bytes() {
        if byte == b'"' {
            to.push(b'"');
        }
        to.push(byte);
    }
    to.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_where_they_must_be_and_nowhere_else() {
        let quoted = |field: &str, quoting: Quoting| {
            let mut text = Vec::new();
            quote(field, b';', quoting, &mut text);
            String::from_utf8(text).unwrap()
        };
        assert_eq!(quoted("a,b", Quoting::Cell), "a,b");
        assert_eq!(quoted("a;b", Quoting::Cell), "\"a;b\"");
        assert_eq!(quoted("5\" pipe", Quoting::Cell), "\"5\"\" pipe\"");
        assert_eq!(quoted("two\nlines", Quoting::Cell), "\"two\nlines\"");
        assert_eq!(quoted("", Quoting::Cell), "");
        assert_eq!(quoted("", Quoting::OnlyColumn), "\"\"");
        assert_eq!(quoted("[0, 5)", Quoting::OnlyColumn), "\"[0, 5)\"");
        assert_eq!(quoted("a|b", Quoting::Header), "\"a|b\"");
    }
}
