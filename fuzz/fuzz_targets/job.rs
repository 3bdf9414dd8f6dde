//! Any text is a job, about one table or a database, or an error with lines. A job that is written and read again is the
//! same job.
#![no_main]

use incog::unstable::job::DatabaseJob;
use incog::{Job, Result};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    reads(text, Job::parse);
    reads(text, DatabaseJob::parse);
});

fn reads<T: serde::Serialize>(text: &str, parse: impl Fn(&str) -> Result<T>) {
    let job = match parse(text) {
        Ok(job) => job,
        Err(error) => {
            assert!(error.to_string().lines().all(|line| line.starts_with("line ")));
            return;
        }
    };
    let written = toml::to_string(&job).unwrap();
    let again = parse(&written).unwrap();
    // As text: a number may be `nan`, which equals nothing.
    assert_eq!(toml::to_string(&again).unwrap(), written);
}
