//! Any bytes are a released file or an error, read by the checker's own reader. What is read is checked: an answer, whatever it is, and
//! no message that repeats a cell.
//!
//! The first byte chooses the delimiter, the rest is the file.
#![no_main]

use incog::unstable::checker::{Claims, check};
use incog::unstable::cli::read_release;
use incog_fuzz::{CANARY, Scratch, keeps_quiet, plant};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some((&choice, text)) = bytes.split_first() else { return };
    let delimiter = b",;\t| ".contains(&choice).then_some(choice);
    let scratch = Scratch::new("release.csv");
    scratch.write(&plant(text));
    let released = match read_release(scratch.path(), delimiter) {
        Ok(released) => released,
        Err(error) => return keeps_quiet(&error),
    };
    let header: Vec<String> = released.header().into_iter().map(str::to_owned).collect();
    if header.iter().any(|name| name.contains(CANARY)) {
        return;
    }
    let claims = Claims {
        quasi_identifiers: header,
        k: 2,
        combinations: None,
        columns: None,
        sensitive: Vec::new(),
        source: None,
    };
    let report = check(&*released, &claims);
    assert!(!format!("{report:?}").contains(CANARY), "a finding contains a cell");
});
