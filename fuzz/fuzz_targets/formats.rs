//! Any bytes are a table of a format or an error: JSON lines, Arrow IPC, workbooks, zip archives, and text in any dialect. A table has
//! columns of one length; no error repeats a cell.
//!
//! The first byte chooses the format, or how text is written; the rest is the file.
#![no_main]

use incog::unstable::source::read_bytes;
use incog::Job;
use incog_fuzz::{CANARY, keeps_quiet, plant};
use libfuzzer_sys::fuzz_target;

/// What `[input]` says.
const WAYS: [&str; 12] = [
    "format = \"jsonl\"",
    "format = \"arrow\"",
    "format = \"xlsx\"",
    "format = \"xls\"",
    "format = \"ods\"",
    "format = \"csv\"\nencoding = \"windows-1252\"\nmissing = [\"NA\", \"-9\"]",
    "format = \"csv\"\nencoding = \"shift_jis\"\ndelimiter = \";\"\ndecimal = \",\"\nthousands = \".\"",
    "format = \"csv\"\nencoding = \"utf-16\"",
    "format = \"csv\"\nquote = \"'\"\ncomment = \"#\"\nskip_rows = 1",
    "format = \"csv\"\nquote = \"\"\nheader = false\nnames = [\"a\", \"b\"]",
    "format = \"tsv\"\ncomment = \"#\"",
    ZIP,
];

/// Nothing: the name is that of an archive, and the table's is inside.
const ZIP: &str = "";

fuzz_target!(|bytes: &[u8]| {
    let Some((&choice, text)) = bytes.split_first() else { return };
    let way = WAYS[usize::from(choice) % WAYS.len()];
    let job = Job::parse(&format!("[input]\npath = \"-\"\n{way}\n[policy]\nk = 2\n")).unwrap();
    // What is in an archive has checksums: it is not changed.
    let (name, bytes) = if way == ZIP { ("data.zip", text.to_vec()) } else { ("data", plant(text)) };
    match read_bytes(bytes, name, &job) {
        Ok(table) => {
            assert!(table.columns().iter().all(|column| column.codes().len() == table.n_rows()));
        }
        Err(error) => {
            // The name of a column or a sheet may be told, once it is known to be one.
            if !way.contains("jsonl") && !way.contains("arrow") || !String::from_utf8_lossy(text).contains('"') {
                keeps_quiet(&error);
            } else {
                let hint = error.hint().unwrap_or_default().to_owned();
                assert!(!hint.contains(CANARY));
            }
        }
    }
});
