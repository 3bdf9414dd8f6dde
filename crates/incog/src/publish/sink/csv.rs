//! A release as CSV: a header, quotes where they are needed, `\n` at line ends.
//!
//! A missing value is what its column calls it, an empty cell unless somebody says otherwise; an empty text is an empty cell. Where a column has both, readers could not tell them apart, and
//! it is refused ([`refuse_loss`]).
//!
//! Whoever reads it without being told the delimiter finds it out from the header. So names with another delimiter in
//! them are quoted, and in a table of one column, whose header has none, all such fields.
//!
//! Each label is quoted once, not each cell; blocks of rows are put together by several threads while the ones before are
//! written, in order.

use incog_core::table::label::{self, EMPTY_TEXT};
use incog_core::{Error, Progress, Result};
use incog_verify::Labels;
use rayon::prelude::*;

use crate::publish::sink::Unfinished;
use crate::publish::sink::buckets::Buckets;
use crate::publish::sink::layout::TextLayout;
use crate::publish::sink::rows::WritingOrder;
use crate::publish::sink::shuffle::Shuffled;
use crate::source::DELIMITERS;

/// How many rows a thread puts together at a time.
const BLOCK: usize = 1 << 14;

/// Writes a release in the given order of rows.
pub(super) fn write(
    release: &dyn Labels,
    order: WritingOrder<'_>,
    layout: &TextLayout,
    file: &mut Unfinished,
    progress: &Progress,
) -> Result<()> {
    let TextLayout { delimiter, has_mark, markers } = layout;
    let delimiter = *delimiter;
    let header = release.header();
    for (at, name) in header.iter().enumerate() {
        refuse_loss(name, release.labels(at))?;
    }
    let mut line = if *has_mark { b"\xEF\xBB\xBF".to_vec() } else { Vec::new() };
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
    let columns = (0..width).into_par_iter();
    let marker = |at: usize| markers.get(at).map_or("", String::as_str);
    let quoted = |at: usize| Quoted::new(&release.labels(at), marker(at), delimiter, quoting);
    let lines = Lines::new(columns.map(quoted).collect());
    match order {
        WritingOrder::AsTheyCome => {
            let n_rows = release.n_rows();
            in_turns(n_rows.div_ceil(BLOCK), file, progress, |block, text| {
                let first = block * BLOCK;
                let n_rows = BLOCK.min(n_rows - first);
                let mut codes = vec![0; n_rows * width];
                for (at, codes) in codes.chunks_mut(n_rows.max(1)).enumerate() {
                    release.codes_from(at, first, codes);
                }
                for row in 0..n_rows {
                    lines.append((0..width).map(|at| codes[at * n_rows + row]), text);
                }
                n_rows
            })
        }
        WritingOrder::Shuffled => {
            let rows = Shuffled::new(release, progress)?;
            in_turns(rows.n_buckets(), file, progress, |bucket, text| {
                let rows = rows.bucket(bucket);
                rows.each(|codes| lines.append(codes.iter().copied(), text));
                rows.len()
            })
        }
        WritingOrder::Dealt(memory) => {
            let rows = Buckets::new(release, memory, progress)?;
            in_turns(rows.n_buckets(), file, progress, |bucket, text| {
                rows.each(bucket, |codes| lines.append(codes.iter().copied(), text))
            })?;
            rows.check()
        }
    }
}

/// Fails where a column has a missing value and an empty text, whether or not a released row has them: only so can a reader
/// who has the input tell which of the two an empty cell is.
pub(super) fn refuse_loss<'a>(column: &str, labels: impl IntoIterator<Item = &'a str>) -> Result<()> {
    let (mut has_missing, mut has_empty) = (false, false);
    for label in labels {
        has_missing |= label.is_empty();
        has_empty |= label == EMPTY_TEXT;
    }
    if !(has_missing && has_empty) {
        return Ok(());
    }
    Err(Error::input(format!(
        "column `{column}` has missing values and empty texts, which are the same in a CSV file"
    ))
    .with_hint("write the release as Parquet, or make the empty texts null (or something else) in the data"))
}

/// Several threads put blocks together; those that are ready are written in order meanwhile. `put_together` tells how many rows
/// a block has.
fn in_turns(
    n_blocks: usize,
    file: &mut Unfinished,
    progress: &Progress,
    put_together: impl Fn(usize, &mut Text) -> usize + Sync,
) -> Result<()> {
    // One thread of the pool and its others, not one more.
    rayon::scope(|_| in_pool(n_blocks, file, progress, &put_together))
}

fn in_pool(
    n_blocks: usize,
    file: &mut Unfinished,
    progress: &Progress,
    put_together: impl Fn(usize, &mut Text) -> usize + Sync,
) -> Result<()> {
    let at_once = 4 * rayon::current_num_threads();
    let mut ready: Vec<(Text, usize)> = Vec::new();
    let mut next: Vec<(Text, usize)> = Vec::new();
    let mut write = |ready: &[(Text, usize)]| {
        ready.iter().try_for_each(|(text, n_rows)| {
            file.put(text.bytes())?;
            progress.count_rows(*n_rows as u64);
            Ok(())
        })
    };
    // Whether this thread put together what is ready.
    let mut is_mine = false;
    for first in (0..n_blocks).step_by(at_once) {
        progress.check()?;
        next.resize_with(at_once.min(n_blocks - first), Default::default);
        let put_together = || {
            next.par_iter_mut().with_max_len(1).enumerate().for_each(|(at, (text, n_rows))| {
                text.clear();
                *n_rows = put_together(first + at, text);
            });
        };
        // Whoever put blocks together has them in its cache, and writes them while others put together the next.
        let written = if is_mine {
            rayon::join(|| write(&ready), put_together).0
        } else {
            rayon::join(put_together, || write(&ready)).1
        };
        is_mine = !is_mine;
        written?;
        std::mem::swap(&mut ready, &mut next);
    }
    write(&ready)
}

/// Text that grows at its end, in a buffer that is longer.
#[derive(Default)]
struct Text {
    buffer: Vec<u8>,
    length: usize,
}

impl Text {
    fn clear(&mut self) {
        self.length = 0;
    }

    fn bytes(&self) -> &[u8] {
        &self.buffer[..self.length]
    }

    /// Makes room for `n` bytes.
    fn reserve(&mut self, n: usize) {
        if self.buffer.len() < self.length + n {
            self.buffer.resize(2 * (self.length + n), 0);
        }
    }
}

/// All lines that there can be.
struct Lines {
    columns: Vec<Quoted>,
    /// No line needs more room.
    longest: usize,
}

impl Lines {
    fn new(columns: Vec<Quoted>) -> Self {
        let longest = columns.iter().map(|column| column.longest.max(SHORT)).sum();
        Lines { columns, longest }
    }

    /// Appends the line with these labels.
    #[inline]
    fn append(&self, codes: impl Iterator<Item = u32>, text: &mut Text) {
        text.reserve(self.longest);
        let Text { buffer, length } = text;
        for (column, code) in self.columns.iter().zip(codes) {
            let cell = &column.cells[code as usize];
            let n_bytes = usize::from(cell[SHORT - 1]);
            if n_bytes == LONG {
                let long = column.long(code as usize);
                buffer[*length..*length + long.len()].copy_from_slice(long);
                *length += long.len();
            } else {
                // All of it, as that is one instruction; what is too much is overwritten by the next.
                buffer[*length..*length + SHORT].copy_from_slice(cell);
                *length += n_bytes;
            }
        }
        // The last delimiter becomes the end of the line.
        if !self.columns.is_empty() {
            buffer[*length - 1] = b'\n';
        }
    }
}

/// Bytes. Shorter fields stand in the table itself.
const SHORT: usize = 16;

/// Instead of its length: the field is longer.
const LONG: usize = 255;

/// A column's labels, quoted where they must be, each followed by the delimiter.
struct Quoted {
    /// A short field and, in the last byte, its length.
    cells: Vec<[u8; SHORT]>,
    text: Vec<u8>,
    /// Where each field ends.
    ends: Vec<usize>,
    longest: usize,
}

impl Quoted {
    fn new(labels: &[&str], marker: &str, delimiter: u8, quoting: Quoting) -> Self {
        let mut text = Vec::new();
        let mut ends = vec![0];
        let mut cells = Vec::with_capacity(labels.len());
        let mut longest = 0;
        for label in labels {
            let start = text.len();
            quote(label::text_of(label).unwrap_or(marker), delimiter, quoting, &mut text);
            text.push(delimiter);
            let field = &text[start..];
            let mut cell = [0; SHORT];
            if field.len() < SHORT {
                cell[..field.len()].copy_from_slice(field);
                cell[SHORT - 1] = field.len() as u8;
            } else {
                cell[SHORT - 1] = LONG as u8;
            }
            cells.push(cell);
            longest = longest.max(field.len());
            ends.push(text.len());
        }
        Quoted { cells, text, ends, longest }
    }

    fn long(&self, code: usize) -> &[u8] {
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
