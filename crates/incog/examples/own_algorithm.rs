//! An algorithm of one's own: an entry that names it, says what it needs and claims, and a function that finds a node.
//!
//! Its release is verified like any other. `cargo run -p incog --example own_algorithm`
#![allow(clippy::print_stdout, reason = "that is what it is for")]

use std::sync::Arc;

use incog::unstable::engine::algorithm::quality::Found;
use incog::unstable::engine::algorithm::{Algorithm, Answer, Claimed, ColumnNeeds, Family, Quality, Task};
use incog::unstable::engine::registry::{Entry, Status};
use incog::{Anonymizer, Hierarchy, Progress, Result};

/// Goes up level by level, one attribute after the other, until the policy holds.
static ROUND_ROBIN: Entry<Algorithm> = Entry {
    name: "round-robin",
    summary: "raises one attribute after the other until the policy holds",
    reference: "an example",
    doc: "",
    status: Status::Preview,
    item: Algorithm {
        family: Family::SingleDimension,
        columns: ColumnNeeds::Nothing,
        settings: &[],
        claim: |_| Claimed::Levels,
        traversal: None,
        run: round_robin,
    },
};

fn round_robin(task: &Task<'_>) -> Result<Option<Answer>> {
    let heights = task.attributes.heights();
    let mut levels = vec![0; heights.len()];
    for at in (0..heights.len()).cycle() {
        task.progress.check()?;
        if task.problem.holds(&levels)? {
            let found = Found { recoding: levels, quality: Quality::Heuristic };
            return Answer::of_levels(task, found).map(Some);
        }
        if levels == heights {
            return Ok(None);
        }
        levels[at] = (levels[at] + 1).min(heights[at]);
    }
    Ok(None)
}

/// Releases a table by it.
pub(crate) fn main() -> Result<()> {
    let progress = Arc::new(Progress::new()); // could cancel it from another thread
    let release = Anonymizer::new([
        ("zip", vec!["53715", "53715", "53703", "53706"]),
        ("age", vec!["34", "36", "51", "58"]),
    ])
    .quasi_identifier("zip", Hierarchy::mask_right().length(5))
    .quasi_identifier("age", Hierarchy::intervals([5, 10, 20]))
    .k(2)
    .own_algorithm(&ROUND_ROBIN)
    .progress(&progress)
    .anonymize()?;
    println!("{}", release.report());
    assert_eq!(release.report().algorithm, "round-robin");
    Ok(())
}
