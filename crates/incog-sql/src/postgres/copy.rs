//! `COPY ... (FORMAT binary)` from the server, and `COPY ... (FORMAT text)` to it.
//!
//! The binary form is a header, then for each row the number of its cells and each cell with its length; -1 is null, and -1 cells are the end
//! (PostgreSQL's manual, `COPY`, "Binary Format").

use std::io::{self, BufRead, Read};

/// How the header begins.
const SIGNATURE: &[u8; 11] = b"PGCOPY\n\xff\r\n\0";

/// Reads rows of cells.
pub(super) struct Tuples<R> {
    from: R,
    bytes: Vec<u8>,
    /// Where each cell lies in `bytes`; nothing for null.
    cells: Vec<Option<(usize, usize)>>,
}

impl<R: BufRead> Tuples<R> {
    /// Reads the header.
    pub(super) fn new(mut from: R) -> io::Result<Self> {
        let mut header = [0; 19];
        from.read_exact(&mut header)?;
        if header[..11] != *SIGNATURE {
            return Err(broken());
        }
        let extension = u32::from_be_bytes([header[15], header[16], header[17], header[18]]);
        io::copy(&mut from.by_ref().take(extension.into()), &mut io::sink())?;
        Ok(Tuples { from, bytes: Vec::new(), cells: Vec::new() })
    }

    /// Goes to the next row; false at the end.
    pub(super) fn advance(&mut self) -> io::Result<bool> {
        let mut count = [0; 2];
        self.from.read_exact(&mut count)?;
        let Ok(n_cells) = u16::try_from(i16::from_be_bytes(count)) else {
            // What follows the end is only the end of the answer; to read it is to learn of an error.
            io::copy(&mut self.from, &mut io::sink())?;
            return Ok(false);
        };
        self.bytes.clear();
        self.cells.clear();
        for _ in 0..n_cells {
            let mut length = [0; 4];
            self.from.read_exact(&mut length)?;
            let Ok(length) = usize::try_from(i32::from_be_bytes(length)) else {
                self.cells.push(None);
                continue;
            };
            let start = self.bytes.len();
            self.bytes.resize(start + length, 0);
            self.from.read_exact(&mut self.bytes[start..])?;
            self.cells.push(Some((start, start + length)));
        }
        Ok(true)
    }

    /// How many cells the row has.
    pub(super) fn len(&self) -> usize {
        self.cells.len()
    }

    /// A cell of the row.
    pub(super) fn cell(&self, at: usize) -> Option<&[u8]> {
        self.cells[at].map(|(start, end)| &self.bytes[start..end])
    }
}

fn broken() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "the server's answer is not what the protocol says")
}

/// Writes a row of texts as `COPY` reads it.
pub(super) fn write_row(row: &[Option<String>], to: &mut Vec<u8>) {
    for (at, cell) in row.iter().enumerate() {
        if at > 0 {
            to.push(b'\t');
        }
        match cell {
            None => to.extend_from_slice(b"\\N"),
            Some(text) => text.bytes().for_each(|byte| match byte {
                b'\\' => to.extend_from_slice(b"\\\\"),
                b'\t' => to.extend_from_slice(b"\\t"),
                b'\n' => to.extend_from_slice(b"\\n"),
                b'\r' => to.extend_from_slice(b"\\r"),
                byte => to.push(byte),
            }),
        }
    }
    to.push(b'\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(rows: &[&[Option<&[u8]>]]) -> Vec<u8> {
        let mut bytes = SIGNATURE.to_vec();
        bytes.extend_from_slice(&[0, 0, 0, 0, 0, 0, 0, 2, 9, 9]);
        for row in rows {
            bytes.extend_from_slice(&(row.len() as i16).to_be_bytes());
            for cell in *row {
                match cell {
                    None => bytes.extend_from_slice(&(-1_i32).to_be_bytes()),
                    Some(cell) => {
                        bytes.extend_from_slice(&(cell.len() as i32).to_be_bytes());
                        bytes.extend_from_slice(cell);
                    }
                }
            }
        }
        bytes.extend_from_slice(&(-1_i16).to_be_bytes());
        bytes
    }

    #[test]
    fn rows_are_read_cell_by_cell_and_a_cut_answer_is_an_error() {
        let bytes = message(&[&[Some(b"a"), None, Some(b"")], &[], &[Some(&7_i64.to_be_bytes())]]);
        let mut tuples = Tuples::new(bytes.as_slice()).unwrap();
        assert!(tuples.advance().unwrap());
        let cells: Vec<Option<&[u8]>> = (0..tuples.len()).map(|at| tuples.cell(at)).collect();
        assert_eq!(cells, [Some(&b"a"[..]), None, Some(&b""[..])]);
        assert!(tuples.advance().unwrap() && tuples.len() == 0);
        assert!(tuples.advance().unwrap());
        assert_eq!(tuples.cell(0), Some(&7_i64.to_be_bytes()[..]));
        assert!(!tuples.advance().unwrap());
        for cut in 0..bytes.len() - 1 {
            let read = || -> io::Result<()> {
                let mut tuples = Tuples::new(&bytes[..cut])?;
                while tuples.advance()? {}
                Ok(())
            };
            assert!(read().is_err(), "cut after {cut} bytes");
        }
    }

    #[test]
    fn what_copy_would_take_for_something_else_is_escaped() {
        let mut bytes = Vec::new();
        write_row(&[Some("a\tb\\N\nc\r".into()), None, Some(String::new()), Some("\\.".into())], &mut bytes);
        assert_eq!(bytes, b"a\\tb\\\\N\\nc\\r\t\\N\t\t\\\\.\n");
    }
}
