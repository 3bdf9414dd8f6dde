//! What is a level called, for people who have not read the job?
//!
//! "decade" and "first 3 digits" say what a column became; "level 3 of 4" does not. Names come from the rule in the job and from
//! counts of labels, never from a label.

use incog_core::hierarchy::Attribute;
use incog_core::words::counted;

use crate::job::{HierarchyJob, IntervalsOf, Job, MaskSide, NumberOrText};

/// What a level of a quasi-identifier is, by its number in the hierarchy: `decade`, `first 3 digits`, `intervals of 5`.
pub(crate) fn level_name(job: &Job, attribute: &Attribute, number: u8) -> String {
    if number == 0 {
        return "as collected".to_owned();
    }
    let highest = attribute.full_height();
    if number == highest {
        return "fully generalized".to_owned();
    }
    let rule = job.columns.get(attribute.name()).and_then(|column| column.hierarchy.as_ref());
    rule.and_then(|rule| by_rule(rule, attribute, number)).unwrap_or_else(|| by_labels(attribute, number))
}

/// The same with its number, where the name does not have it: `decade (level 3 of 4)`.
pub(crate) fn name_and_number(name: &str, number: u8, highest: u8) -> String {
    match number {
        0 => name.to_owned(),
        _ if name.starts_with("level ") => name.to_owned(),
        _ => format!("{name} (level {number} of {highest})"),
    }
}

/// From a rule that says it.
fn by_rule(rule: &HierarchyJob, attribute: &Attribute, number: u8) -> Option<String> {
    let at = usize::from(number) - 1;
    if let Some(units) = &rule.dates {
        // As job files write them.
        let unit = serde_json::to_value(units.get(at)?).ok()?;
        return unit.as_str().map(str::to_owned);
    }
    if let Some(widths) = &rule.intervals {
        return Some(intervals(rule, widths.get(at)?));
    }
    let side = rule.mask?;
    let kept = u64::from(attribute.full_height() - number);
    let values = attribute.hierarchy().labels(0).values().filter(|value| !value.is_empty());
    let are_digits = values.fold(None, |are, value| {
        Some(are.unwrap_or(true) && value.bytes().all(|byte| byte.is_ascii_digit() || byte == b'*'))
    });
    let (one, several) =
        if are_digits == Some(true) { ("digit", "digits") } else { ("character", "characters") };
    let side = match side {
        MaskSide::Right => "first",
        MaskSide::Left => "last",
    };
    Some(if kept == 1 { format!("{side} {one}") } else { format!("{side} {}", counted(kept, one, several)) })
}

fn intervals(rule: &HierarchyJob, width: &NumberOrText) -> String {
    let unit = match rule.of {
        Some(IntervalsOf::Dates) if width.to_string() == "1" => " day",
        Some(IntervalsOf::Dates) => " days",
        Some(IntervalsOf::Numbers) | None => "",
    };
    let mut name = format!("intervals of {width}{unit}");
    if let Some(bottom) = &rule.bottom {
        name.push_str(&format!(", below {bottom} pooled"));
    }
    if let Some(top) = &rule.top {
        name.push_str(&format!(", {top} and more pooled"));
    }
    name
}

/// Of a tree or a file: how many labels are left of how many values.
fn by_labels(attribute: &Attribute, number: u8) -> String {
    let highest = attribute.full_height();
    let level = (0..=attribute.height()).find(|&level| attribute.level_number(level) == number);
    let Some(level) = level else {
        return format!("level {number} of {highest}");
    };
    let mut labels = attribute.labels_at(level).to_vec();
    labels.sort_unstable();
    labels.dedup();
    format!("level {number} of {highest}, {}", counted(labels.len() as u64, "label", "labels"))
}
