//! Attribute suppression: each attribute as collected or not at all (Meyerson, Williams, PODS 2004; section 5.1.1 of the
//! Incognito paper).
//!
//! *Promise*: every attribute is at level 0 or at its top, the policy holds, and by the metric there is no better choice
//! (unless a limit was reached, which is said).
//!
//! The choices are tried attribute by attribute ([`exact`](super::exact)): with n attributes that can be suppressed there
//! are 2ⁿ, of which the policy and the metric rule out most.
//!
//! An attribute whose hierarchy has several labels at its top cannot be suppressed: it stays as collected. One whose level
//! 0 is ruled out is always suppressed. If neither is allowed, the model has nothing to offer, which is an error.

use crate::algorithm::contract::{Algorithm, Answer, Claimed, ColumnNeeds, Family, Task};
use crate::algorithm::quality::{Found, Quality};
use crate::algorithm::single::Aim;
use crate::algorithm::single::exact::exact;
use crate::error::{Error, Result};
use crate::hierarchy::Attributes;
use crate::judge::Problem;
use crate::progress::Progress;
use crate::registry::{Entry, Status};

/// How to search.
#[derive(Debug, Clone, Copy)]
pub struct AttributeSuppressionOptions<'a> {
    /// What is better.
    pub aim: Aim<'a>,
    /// The most partial choices that are looked at. Then the answer is the best so far.
    pub max_steps: u64,
}

impl<'a> AttributeSuppressionOptions<'a> {
    /// At most a million partial choices.
    pub fn new(aim: Aim<'a>) -> Self {
        AttributeSuppressionOptions { aim, max_steps: 1_000_000 }
    }
}

/// Finds which attributes to suppress: the level of each, 0 or its top. `None` if nothing is found that the policy admits.
pub fn attribute_suppression(
    problem: Problem<'_>,
    attributes: &Attributes,
    options: AttributeSuppressionOptions<'_>,
    progress: &Progress,
) -> Result<Option<Found<Vec<u8>>>> {
    let values = options.aim.values(problem, attributes)?;
    let mut levels: Vec<Vec<u8>> = Vec::new();
    for attribute in attributes.iter() {
        let top = attribute.height();
        let mut allowed = Vec::new();
        if attribute.level_number(0) == 0 {
            allowed.push(0);
        }
        if top > 0 && attribute.hierarchy().labels(top).len() <= 1 || allowed.is_empty() && top == 0 {
            allowed.push(top);
        }
        let is_wrong =
            |&level: &u8| attribute.level_number(level) != 0 && attribute.hierarchy().labels(level).len() > 1;
        if allowed.is_empty() || allowed.iter().any(is_wrong) {
            return Err(Error::input(format!(
                "column `{}` may be neither as collected nor a single label",
                attribute.name()
            ))
            .with_hint("allow level 0, or end its hierarchy in one label; or choose full-subtree"));
        }
        levels.push(allowed);
    }
    let choices: Vec<Vec<Vec<u8>>> = values
        .domains
        .iter()
        .zip(&levels)
        .map(|(domain, levels)| levels.iter().map(|&level| vec![level; domain.rows.len()]).collect())
        .collect();
    let found = exact(problem, &values, options.aim, &choices, None, options.max_steps, progress)?;
    let quality = if found.is_complete { Quality::Optimal } else { Quality::Heuristic };
    // A table without records has no values: then an attribute is as collected.
    let level_of = |(slots, allowed): (&Vec<u8>, &Vec<u8>)| slots.first().copied().unwrap_or(allowed[0]);
    Ok(found
        .best
        .map(|(by_slot, _)| Found { recoding: by_slot.iter().zip(&levels).map(level_of).collect(), quality }))
}

/// How it is listed and run.
pub(in crate::algorithm) const ENTRY: Entry<Algorithm> = Entry {
    name: "attribute-suppression",
    summary: "each attribute as collected or not at all; the best choice",
    reference: "Meyerson, Williams: On the complexity of optimal k-anonymity, PODS 2004",
    doc: include_str!("attribute_suppression.md"),
    status: Status::Preview,
    item: Algorithm {
        family: Family::SingleDimension,
        columns: ColumnNeeds::Nothing,
        settings: &[],
        claim: |_| Claimed::Levels,
        traversal: None,
        run,
    },
};

fn run(task: &Task<'_>) -> Result<Option<Answer>> {
    let options = AttributeSuppressionOptions::new(task.aim);
    let found = attribute_suppression(task.problem, task.attributes, options, task.progress)?;
    found.map(|found| Answer::of_levels(task, found)).transpose()
}
