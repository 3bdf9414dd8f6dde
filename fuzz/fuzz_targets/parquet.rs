//! Any bytes are a Parquet file or an error: one sentence, no panic, no memory out of proportion (the fuzzer's limit is 1 GiB).
#![no_main]

use incog::unstable::cli::read_release;
use incog_fuzz::Scratch;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let scratch = Scratch::new("release.parquet");
    scratch.write(bytes);
    if let Err(error) = read_release(scratch.path(), None) {
        assert_eq!(error.to_string().lines().count(), 1, "{error}");
    }
});
