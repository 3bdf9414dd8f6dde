//! What a workbook's reader trips over is the file's fault, and nothing is printed of it.

use std::io::{Cursor, Read, Write};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use incog_sheets::{Selection, WorkbookKind, read};
use rust_xlsxwriter::Workbook;
use zip::write::SimpleFileOptions;

/// What has been printed of panics.
static PRINTED: AtomicU64 = AtomicU64::new(0);

fn workbook() -> Vec<u8> {
    let mut book = Workbook::new();
    let sheet = book.add_worksheet();
    for row in 0..9 {
        sheet.write_string(row, 0, if row == 0 { "name" } else { "b" }).unwrap();
        sheet.write_string(row, 1, if row == 0 { "age" } else { "7" }).unwrap();
    }
    book.save_to_buffer().unwrap()
}

/// The same workbook with another text in its sheet, which must be there.
fn with(from: &str, to: &str) -> Vec<u8> {
    let mut old = zip::ZipArchive::new(Cursor::new(workbook())).unwrap();
    let mut new = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for at in 0..old.len() {
        let mut part = old.by_index(at).unwrap();
        let name = part.name().unwrap().into_owned();
        let mut text = Vec::new();
        part.read_to_end(&mut text).unwrap();
        if name.ends_with("sheet1.xml") {
            let sheet = String::from_utf8(text).unwrap();
            assert!(sheet.contains(from), "{sheet}");
            text = sheet.replacen(from, to, 1).into_bytes();
        }
        new.start_file(name, SimpleFileOptions::default()).unwrap();
        new.write_all(&text).unwrap();
    }
    new.finish().unwrap().into_inner()
}

#[test]
fn damaged_sheets_are_refused_in_silence() {
    let others = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        PRINTED.fetch_add(1, Relaxed);
        others(panic);
    }));
    let columns = |bytes: Vec<u8>| {
        read(bytes, WorkbookKind::Xlsx, &Selection::default()).map(|sheet| sheet.columns.len())
    };
    assert_eq!(columns(workbook()).unwrap(), 2);
    for (from, to) in [
        ("ref=\"A1:B9\"", "ref=\"Z9:A1\""),
        ("r=\"A1\"", "r=\"ZZZZZZZZZ99999999999\""),
        ("r=\"A1\"", "r=\"A0\""),
    ] {
        let read = columns(with(from, to));
        let refused = read.as_ref().err().map(ToString::to_string);
        let is_refused =
            refused.is_some_and(|error| error.contains("it is no workbook of that format, or damaged"));
        assert!(is_refused, "{to}: {read:?}");
    }
    assert_eq!(PRINTED.load(Relaxed), 0, "the words of a reader may come from the file");
}

/// Workbooks of Excel 97 to 2003 with a weak password have records that are scrambled, and read like others.
#[test]
fn scrambled_records_are_called_a_password() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/messy/files/old.xls");
    let mut book = std::fs::read(path).unwrap();
    let columns = |bytes: Vec<u8>| {
        read(bytes, WorkbookKind::Xls, &Selection::default()).map(|sheet| sheet.columns.len())
    };
    assert_eq!(columns(book.clone()).unwrap(), 10);
    // Behind the first record of the workbook: one that says how it is scrambled, here by exclusive or.
    let start =
        (0..book.len()).step_by(512).find(|&at| book[at..].starts_with(&[9, 8, 16, 0, 0, 6, 5, 0])).unwrap();
    book[start + 20] = 0x2F;
    book[start + 21] = 0;
    book[start + 24..start + 26].fill(0);
    let said = columns(book).unwrap_err().to_string();
    assert!(said.contains("protected by a password"), "{said}");
}
