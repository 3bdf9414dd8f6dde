//! Any text is a job or an error with lines. A job that is written and read again is the same job.
#![no_main]

use incog::Job;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let job = match Job::parse(text) {
        Ok(job) => job,
        Err(error) => {
            assert!(error.to_string().lines().all(|line| line.starts_with("line ")));
            return;
        }
    };
    let written = toml::to_string(&job).unwrap();
    let again = Job::parse(&written).unwrap();
    // As text: a number may be `nan`, which equals nothing.
    assert_eq!(toml::to_string(&again).unwrap(), written);
});
