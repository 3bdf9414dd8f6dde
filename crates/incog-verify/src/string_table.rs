//! A table of strings from a CSV file, read by the `csv` crate and nothing of incog.
//!
//! Cells are dictionary-coded while they are read: 4 bytes a cell, and each distinct text of a column once. An empty cell, quoted
//! or not, is the missing value; no other cell is taken for an [`EMPTY_TEXT`], of which CSV has none.

use std::borrow::Cow;
use std::hash::{BuildHasher, Hasher};
use std::io::Read;

use crate::hash::Hashing;
use crate::{EMPTY_TEXT, LabelColumn, Labels};

/// A table of strings, column by column.
#[derive(Debug, Clone, Default)]
pub struct StringTable {
    header: Vec<String>,
    columns: Vec<CodedTexts>,
    n_rows: usize,
}

/// One column: its distinct texts, and which of them each row has.
#[derive(Debug, Clone, Default)]
struct CodedTexts {
    /// All distinct texts, one after the other.
    text: String,
    ends: Vec<usize>,
    /// Open addressing: codes at the place of their hash or right of it. A power of two, at most half full.
    slots: Vec<u32>,
    codes: Vec<u32>,
    hashing: Hashing,
}

const FREE: u32 = u32::MAX;

impl StringTable {
    /// Reads a CSV table with a header line. An error names the line, never a cell.
    pub fn parse(text: impl Read, delimiter: u8) -> Result<Self, String> {
        let mut reader = csv::ReaderBuilder::new().delimiter(delimiter).from_reader(text);
        let problem = |error: &csv::Error| match error.kind() {
            csv::ErrorKind::UnequalLengths { pos, expected_len, len } => {
                let line = pos.as_ref().map_or(0, csv::Position::line);
                format!("line {line} has {len} fields, the header has {expected_len}")
            }
            csv::ErrorKind::Utf8 { pos, .. } => {
                format!("line {} is not UTF-8", pos.as_ref().map_or(0, csv::Position::line))
            }
            _ => error.to_string(),
        };
        let header: Vec<String> =
            reader.headers().map_err(|error| problem(&error))?.iter().map(str::to_owned).collect();
        let mut table = StringTable { columns: vec![CodedTexts::default(); header.len()], header, n_rows: 0 };
        let mut record = csv::StringRecord::new();
        while reader.read_record(&mut record).map_err(|error| problem(&error))? {
            for ((column, cell), name) in table.columns.iter_mut().zip(&record).zip(&table.header) {
                let is_fine = match is_mistakable(cell) {
                    true => column.push(&format!("{EMPTY_TEXT}{cell}")),
                    false => column.push(cell),
                };
                if !is_fine {
                    return Err(format!("column `{name}` has too many distinct values"));
                }
            }
            table.n_rows += 1;
        }
        Ok(table)
    }
}

impl CodedTexts {
    /// Appends a row; `false` if there is no code left for a new text.
    fn push(&mut self, cell: &str) -> bool {
        if 2 * self.ends.len() >= self.slots.len() {
            self.grow();
        }
        let mut slot = hash(&self.hashing, cell) & (self.slots.len() - 1);
        while self.slots[slot] != FREE {
            if self.label(self.slots[slot]) == cell {
                self.codes.push(self.slots[slot]);
                return true;
            }
            slot = (slot + 1) & (self.slots.len() - 1);
        }
        let Some(code) = u32::try_from(self.ends.len()).ok().filter(|&code| code != FREE) else {
            return false;
        };
        self.text.push_str(cell);
        self.ends.push(self.text.len());
        self.slots[slot] = code;
        self.codes.push(code);
        true
    }

    fn grow(&mut self) {
        let n_slots = (2 * self.slots.len()).max(16);
        let mut slots = vec![FREE; n_slots];
        for code in 0..self.ends.len() as u32 {
            let mut slot = hash(&self.hashing, self.label(code)) & (n_slots - 1);
            while slots[slot] != FREE {
                slot = (slot + 1) & (n_slots - 1);
            }
            slots[slot] = code;
        }
        self.slots = slots;
    }

    fn label(&self, code: u32) -> &str {
        let code = code as usize;
        let start = if code == 0 { 0 } else { self.ends[code - 1] };
        &self.text[start..self.ends[code]]
    }
}

/// Could a cell be taken for an empty text, or for one that already was kept from it?
fn is_mistakable(cell: &str) -> bool {
    cell.starts_with(EMPTY_TEXT) && cell.replace(EMPTY_TEXT, "").is_empty()
}

fn hash(hashing: &Hashing, text: &str) -> usize {
    let mut hasher = hashing.build_hasher();
    hasher.write(text.as_bytes());
    hasher.finish() as usize
}

impl Labels for StringTable {
    fn header(&self) -> Vec<&str> {
        self.header.iter().map(String::as_str).collect()
    }

    fn n_rows(&self) -> usize {
        self.n_rows
    }

    fn column(&self, column_idx: usize) -> LabelColumn<'_> {
        let cells = &self.columns[column_idx];
        LabelColumn {
            labels: (0..cells.ends.len() as u32).map(|code| cells.label(code)).collect(),
            codes: Cow::Borrowed(&cells.codes),
        }
    }

    fn codes_from(&self, column_idx: usize, first: usize, to: &mut [u32]) {
        to.copy_from_slice(&self.columns[column_idx].codes[first..first + to.len()]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cell_is_read_back_as_it_was_written() {
        let cell =
            |row: usize| ["", "a,b", "\"q\"", "ä"].get(row % 5).map_or((row / 7).to_string(), |&c| c.into());
        let mut text = "x,y\n".to_owned();
        for row in 0..3000 {
            text += &format!("\"{}\",{}\n", cell(row).replace('"', "\"\""), row % 2);
        }
        let table = StringTable::parse(text.as_bytes(), b',').unwrap();
        assert_eq!((table.header(), table.n_rows()), (vec!["x", "y"], 3000));
        let LabelColumn { labels, codes } = table.column(0);
        for row in 0..3000 {
            assert_eq!(labels[codes[row] as usize], cell(row));
        }
        assert_eq!(table.column(1).labels, ["0", "1"]);
        let mut some = [0; 7];
        table.codes_from(0, 1234, &mut some);
        assert_eq!(some, codes[1234..1241]);
    }

    #[test]
    fn quoted_or_not_an_empty_cell_is_missing_and_no_cell_is_an_empty_text() {
        let text = format!("x,y\n1,\n2,\"\"\n3,{EMPTY_TEXT}\n4,{EMPTY_TEXT}{EMPTY_TEXT}\n5,a{EMPTY_TEXT}\n");
        let table = StringTable::parse(text.as_bytes(), b',').unwrap();
        let LabelColumn { labels, codes } = table.column(1);
        assert_eq!(codes[..], [0, 0, 1, 2, 3]);
        assert_eq!(labels[0], "");
        assert!(!labels.contains(&EMPTY_TEXT));
    }

    #[test]
    fn errors_name_lines_and_no_cells() {
        let problem = |text: &[u8]| StringTable::parse(text, b',').unwrap_err();
        assert_eq!(problem(b"a,b\n1,2\nsecret\n"), "line 3 has 1 fields, the header has 2");
        assert_eq!(problem(b"a,b\n1,2\nsecret,\xff\n"), "line 3 is not UTF-8");
    }
}
