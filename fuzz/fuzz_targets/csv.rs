//! Any bytes are a table or an error. A table has columns of one length and survives being written and read again;
//! no error repeats a cell.
//!
//! The first byte chooses the delimiter, the rest is the file.
#![no_main]

use std::io::Cursor;

use incog::unstable::source::Csv;
use incog::{Progress, Result};
use incog_core::table::{Role, Table};
use incog_fuzz::{CANARY, keeps_quiet, plant};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some((&choice, text)) = bytes.split_first() else { return };
    // Anything else: to be found out.
    let delimiter = b",;\t| ".contains(&choice).then_some(choice);
    let csv = match open(plant(text), delimiter) {
        Ok(csv) => csv,
        Err(error) => return keeps_quiet(&error),
    };
    // A column that was given a role may be named.
    let is_name = csv.header().iter().any(|name| name.contains(CANARY));
    let delimiter = csv.delimiter();
    match csv.read(|_| Role::Other, &Progress::new()) {
        Ok(table) => survives(&table, delimiter),
        Err(error) if !is_name => keeps_quiet(&error),
        Err(_) => {}
    }
});

fn open(text: Vec<u8>, delimiter: Option<u8>) -> Result<Csv> {
    Csv::from_reader(Cursor::new(text), "data.csv", delimiter)
}

fn survives(table: &Table, delimiter: u8) {
    assert!(table.columns().iter().all(|column| column.codes().len() == table.n_rows()));
    let mut writer = csv::WriterBuilder::new().delimiter(delimiter).from_writer(Vec::new());
    writer.write_record(table.columns().iter().map(|column| column.name())).unwrap();
    for row_idx in 0..table.n_rows() {
        writer.write_record(table.columns().iter().map(|column| column.cell(row_idx))).unwrap();
    }
    let text = writer.into_inner().unwrap();
    let again =
        open(text, Some(delimiter)).and_then(|csv| csv.read(|_| Role::Other, &Progress::new())).unwrap();
    assert_eq!(again.n_rows(), table.n_rows());
    for (column, same) in table.columns().iter().zip(again.columns()) {
        assert_eq!(column.name(), same.name());
        assert!((0..table.n_rows()).all(|row_idx| column.cell(row_idx) == same.cell(row_idx)));
    }
}
