//! Runs an algorithm of the list on columns without orders.

use incog_core::algorithm::{Aim, Algorithm, Answer, Settings, Task};
use incog_core::hierarchy::Attributes;
use incog_core::judge::Problem;
use incog_core::registry::Entry;
use incog_core::{Progress, Result};

/// What an algorithm answers, aiming at loss or whatever `aim` says.
pub fn run(
    entry: &Entry<Algorithm>,
    problem: Problem<'_>,
    attributes: &Attributes,
    aim: Aim<'_>,
    settings: &Settings,
    progress: &Progress,
) -> Result<Option<Answer>> {
    let domains = vec![None; attributes.len()];
    (entry.item.run)(&Task {
        problem,
        attributes,
        aim,
        metric: "loss",
        domains: &domains,
        settings,
        progress,
    })
}
