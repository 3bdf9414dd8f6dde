//! A job file through the library: read it, change what is to be different, write the release somewhere else.
//!
//! `cargo run -p incog --example job_file`
#![allow(clippy::print_stdout, reason = "that is what it is for")]

use std::path::Path;

use incog::{Anonymizer, Job, Record, Result, Trust};

/// Releases the hospital example with another k, into a folder that is gone afterwards.
pub(crate) fn main() -> Result<()> {
    let job = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/hospital/incog.toml");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("release.csv");
    let anonymizer = Anonymizer::from_job(Job::read(&job)?).k(8).key_file(folder.path().join("incog.key"));
    println!("{}", anonymizer.to_job()?);
    let release = anonymizer.clone().anonymize()?;
    let record = release.write(&path)?.expect("a record is written unless it is unwanted");
    println!("{}", release.report());

    // Whoever has the data can check the file, and the record beside it.
    assert!(anonymizer.verify(&path)?.holds());
    assert_eq!(Record::read(&record, Trust::default())?.claims.k, 8);
    Ok(())
}
