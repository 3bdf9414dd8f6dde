//! Any bytes are a record or an error. So that more than the first checks is reached, what is JSON is also given the version, the
//! checksum and the form of a record, as a forger would. A record that is accepted is written in the one form there is, and holds a job that
//! can be read.
#![no_main]

use incog::{Record, Trust};
use incog_fuzz::Scratch;
use libfuzzer_sys::fuzz_target;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

fuzz_target!(|bytes: &[u8]| {
    let scratch = Scratch::new("record.json");
    reads(&scratch, bytes);
    if let Ok(Value::Object(record)) = serde_json::from_slice(bytes) {
        reads(&scratch, forged(record).as_bytes());
    }
});

fn reads(scratch: &Scratch, bytes: &[u8]) {
    scratch.write(bytes);
    match Record::read(scratch.path(), Trust::default()) {
        Ok(record) => {
            assert!(bytes.ends_with(b"}\n"), "a record is accepted in one form");
            // A forger may write any job; what cannot be read is an error.
            let _ = record.job();
            assert!(record.first_difference(&record).is_none());
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// The text of a record with this content, with everything that anybody can compute.
fn forged(mut record: Map<String, Value>) -> String {
    for key in ["checksum", "seal", "signature", "publisher"] {
        record.remove(key);
    }
    record.insert("record".to_owned(), Value::from(2));
    let content = serde_json::to_string(&record).unwrap();
    let checksum: String = Sha256::digest(&content).iter().map(|byte| format!("{byte:02x}")).collect();
    record.insert("checksum".to_owned(), Value::from(checksum));
    record.insert("seal".to_owned(), Value::from("0".repeat(64)));
    serde_json::to_string(&record).unwrap() + "\n"
}
