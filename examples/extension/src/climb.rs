//! *Climb*: all columns go up together, a level at a time, until the policy holds. An algorithm that is in no list.
//!
//! *Walk*: a traversal of the engine under another name, for who wants options of their own.

use incog::Result;
use incog::unstable::engine::algorithm::quality::Found;
use incog::unstable::engine::algorithm::{
    Algorithm, Answer, Claimed, ColumnNeeds, Family, Quality, Task, Traversal,
};
use incog::unstable::engine::registry::{Entry, Status};

/// Its entry.
pub static CLIMB: Entry<Algorithm> = Entry {
    name: "climb",
    summary: "raises all columns together until the policy holds",
    reference: "made up",
    doc: "",
    status: Status::Preview,
    item: Algorithm {
        family: Family::FullDomain,
        columns: ColumnNeeds::Nothing,
        settings: &[],
        claim: |_| Claimed::Levels,
        traversal: None,
        run: climb,
    },
};

fn climb(task: &Task<'_>) -> Result<Option<Answer>> {
    let heights = task.attributes.heights();
    for level in 0..=heights.iter().copied().max().unwrap_or(0) {
        task.progress.check()?;
        let levels: Vec<u8> = heights.iter().map(|&height| height.min(level)).collect();
        if task.problem.holds(&levels)? {
            let found = Found { recoding: levels, quality: Quality::Heuristic };
            return Answer::of_levels(task, found).map(Some);
        }
    }
    Ok(None)
}

/// Bottom-up under another name.
pub static WALK: Entry<Algorithm> = Entry {
    name: "walk",
    summary: "breadth-first, from the bottom",
    reference: "made up",
    doc: "",
    status: Status::Preview,
    item: Algorithm { traversal: Some(Traversal::BottomUp), ..CLIMB.item },
};
