//! Any bytes are a hierarchy or an error. The levels of a hierarchy are nested, and no error repeats a label.
#![no_main]

use std::io::Cursor;

use incog::unstable::source::parse_hierarchy;
use incog_core::hierarchy::Hierarchy;
use incog_fuzz::{keeps_quiet, plant};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    match parse_hierarchy(Cursor::new(plant(bytes)), "zip.csv", "zip") {
        Ok(hierarchy) => is_nested(&hierarchy),
        Err(error) => keeps_quiet(&error),
    }
});

/// Every label has one parent, every parent a child, and each level divides the same leaves.
fn is_nested(hierarchy: &Hierarchy) {
    let n_leaves = hierarchy.labels(0).len() as u64;
    assert_eq!(hierarchy.n_leaves(), n_leaves);
    for level in 0..=hierarchy.height() {
        let labels = 0..hierarchy.labels(level).len() as u32;
        assert!(labels.clone().all(|label| hierarchy.leaves_under(level, label) > 0));
        assert_eq!(labels.clone().map(|label| hierarchy.leaves_under(level, label)).sum::<u64>(), n_leaves);
        if level == hierarchy.height() {
            continue;
        }
        let mut leaves_above = vec![0; hierarchy.labels(level + 1).len()];
        for label in labels {
            leaves_above[hierarchy.parent(level, label) as usize] += hierarchy.leaves_under(level, label);
        }
        assert!((0..).zip(&leaves_above).all(|(label, &n)| hierarchy.leaves_under(level + 1, label) == n));
    }
}
