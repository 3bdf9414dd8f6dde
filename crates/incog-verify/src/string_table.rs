//! A table of strings from a CSV file, read by the `csv` crate and nothing of incog.

use std::io::Read;

use crate::Labels;

/// A table of strings, column by column.
#[derive(Debug, Clone, Default)]
pub struct StringTable {
    header: Vec<String>,
    columns: Vec<Cells>,
    n_rows: usize,
}

/// The cells of a column in one buffer.
#[derive(Debug, Clone, Default)]
struct Cells {
    text: String,
    ends: Vec<usize>,
}

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
        let mut table = StringTable { columns: vec![Cells::default(); header.len()], header, n_rows: 0 };
        let mut record = csv::StringRecord::new();
        while reader.read_record(&mut record).map_err(|error| problem(&error))? {
            for (column, cell) in table.columns.iter_mut().zip(&record) {
                column.text.push_str(cell);
                column.ends.push(column.text.len());
            }
            table.n_rows += 1;
        }
        Ok(table)
    }
}

impl Labels for StringTable {
    fn header(&self) -> Vec<&str> {
        self.header.iter().map(String::as_str).collect()
    }

    fn n_rows(&self) -> usize {
        self.n_rows
    }

    fn cell(&self, row_idx: usize, column_idx: usize) -> &str {
        let Cells { text, ends } = &self.columns[column_idx];
        let start = if row_idx == 0 { 0 } else { ends[row_idx - 1] };
        &text[start..ends[row_idx]]
    }
}
