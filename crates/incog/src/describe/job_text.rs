//! The text of a proposed job.
//!
//! Each column has a table with what is known of it and the reason above. In a table of more than [`WIDE`] columns those that wait for the same
//! decision, and those that are dropped for the same reason, and that are written alike, are grouped by how their names begin: `"e0*" = ...` has all of them, so that
//! one word decides. Other columns keep tables of their own, and exact names win over patterns.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};

use crate::describe::init::{Init, count, describe, key, quoted, role_name};
use crate::file::STANDARD;
use crate::job::RoleJob;
use crate::recognize::profile::Profile;
use crate::recognize::propose::{Proposal, ProposedHierarchy};
use crate::recognize::words::person_rank;

/// Wider tables are grouped.
const WIDE: usize = 30;
/// Fewer columns than this are not worth a pattern.
const FEW: usize = 3;

/// Columns under one pattern, or one alone.
enum Entry {
    Column(usize),
    Pattern(String, Vec<usize>),
}

/// Writes the job.
pub(super) fn write(init: &Init, text: &mut String, input: &str, k: u64) -> fmt::Result {
    let entries = entries(init);
    head(init, text, &entries)?;
    if let Some(preset) = init.preset {
        writeln!(text, "\n# {}.\n# {}", preset.source(), preset.limits())?;
        writeln!(text, "preset = \"{}\"", preset.name())?;
    }
    writeln!(text, "\n[input]")?;
    let remark = if input == STANDARD { "   # standard input: give the data to every command" } else { "" };
    writeln!(text, "path = {}{remark}", quoted(input))?;
    text.push_str(&init.input_keys());
    writeln!(text, "\n[output]\npath = {}", quoted(&init.release_name()))?;
    writeln!(text, "\n[policy]")?;
    writeln!(text, "k = {k}   # everybody looks like at least {} others", k.saturating_sub(1))?;
    writeln!(text, "suppression = \"1%\"   # the share of rows that may be left out")?;
    if let Some(at) = unit(&init.profile, &init.proposals) {
        let unit = quoted(&init.profile.columns[at].name);
        writeln!(text, "# unit = {unit}   # if this says whom a row is about: k then counts persons")?;
    }
    for entry in &entries {
        match entry {
            Entry::Column(at) => column(init, text, *at)?,
            Entry::Pattern(name, columns) => pattern(init, text, name, columns)?,
        }
    }
    Ok(())
}

/// How many decisions are open: a pattern is one.
pub(super) fn n_decisions(init: &Init) -> usize {
    let is_open = |at: &usize| init.proposals[*at].role == RoleJob::Decide;
    let entries = entries(init);
    entries
        .iter()
        .filter(|entry| match entry {
            Entry::Column(at) => is_open(at),
            Entry::Pattern(_, columns) => columns.first().is_some_and(is_open),
        })
        .count()
}

/// Which of the columns that may say whom a row is about is nearest to a person: persons before contracts before households, then
/// the first.
fn unit(profile: &Profile, proposals: &[Proposal]) -> Option<usize> {
    let candidates = (0..proposals.len()).filter(|&at| proposals[at].may_be_unit);
    candidates.min_by_key(|&at| (person_rank(&profile.columns[at].name).unwrap_or(3), at))
}

fn head(init: &Init, text: &mut String, entries: &[Entry]) -> fmt::Result {
    let Profile { rows, columns } = &init.profile;
    writeln!(text, "# A proposal by `incog init`, from the names and values of {} columns.", columns.len())?;
    writeln!(text, "# Only you know what outsiders may know: read the reasons and change what is wrong.")?;
    if init.n_undecided() > 0 {
        writeln!(
            text,
            "# {} wait for you: write identifier, quasi-identifier, sensitive or other instead of decide.",
            count(init.n_undecided() as u64, "column", "columns")
        )?;
    }
    if entries.iter().any(|entry| matches!(entry, Entry::Pattern(..))) {
        writeln!(
            text,
            "# A name with * has all columns that begin so and have no table of their own; the longest such name wins."
        )?;
    }
    if !init.exposures.worst.is_empty() {
        writeln!(
            text,
            "#\n# Combined: {}\n# How many of the {rows} rows are alone, with values that no other row has, on",
            init.combined()
        )?;
    }
    for (set, alone) in init.exposure_lines() {
        writeln!(text, "#   {set}: {alone}")?;
    }
    Ok(())
}

fn column(init: &Init, text: &mut String, at: usize) -> fmt::Result {
    let (column, proposal) = (&init.profile.columns[at], &init.proposals[at]);
    writeln!(text, "\n# {}", describe(column, init.profile.rows))?;
    writeln!(text, "# {}", proposal.reason)?;
    writeln!(text, "[columns.{}]", key(&column.name))?;
    writeln!(text, "role = \"{}\"", role_name(proposal.role))?;
    if let Some(hierarchy) = proposal.hierarchy.to_toml() {
        writeln!(text, "hierarchy = {hierarchy}")?;
    }
    if let Some(hierarchy) = proposal.offered.to_toml() {
        let remark = if proposal.role == RoleJob::QuasiIdentifier {
            "instead: a public classification"
        } else {
            "if it becomes a quasi-identifier"
        };
        writeln!(text, "# hierarchy = {hierarchy}   # {remark}")?;
    }
    text.push_str(&written_keys(init, at));
    Ok(())
}

/// How a column is written, a line for each key.
fn written_keys(init: &Init, at: usize) -> String {
    init.written[at].keys.iter().map(|(key, value)| format!("{key} = {value}\n")).collect()
}

fn pattern(init: &Init, text: &mut String, name: &str, columns: &[usize]) -> fmt::Result {
    let proposal = &init.proposals[columns[0]];
    writeln!(text, "\n# {} columns. {}", columns.len(), proposal.reason)?;
    for &at in columns {
        let column = &init.profile.columns[at];
        // Whoever makes one of them a quasi-identifier gives it a table of its own.
        let offered = init.proposals[at].offered.to_toml().map_or(String::new(), |rule| format!("; {rule}"));
        writeln!(text, "#   {}: {}{offered}", key(&column.name), describe(column, init.profile.rows))?;
    }
    writeln!(text, "[columns.{}]", quoted(name))?;
    writeln!(text, "role = \"{}\"", role_name(proposal.role))?;
    text.push_str(&written_keys(init, columns[0]));
    Ok(())
}

/// How a name begins: its letters.
fn beginning(name: &str) -> &str {
    &name[..name.find(|c: char| !c.is_alphabetic()).unwrap_or(name.len())]
}

/// What stands below `[columns]`.
fn entries(init: &Init) -> Vec<Entry> {
    let columns = &init.profile.columns;
    let alone = |at: usize| Entry::Column(at);
    if columns.len() <= WIDE {
        return (0..columns.len()).map(alone).collect();
    }
    let mut groups: BTreeMap<(&str, &str, &str, String), Vec<usize>> = BTreeMap::new();
    for (at, (column, proposal)) in columns.iter().zip(&init.proposals).enumerate() {
        let start = beginning(&column.name);
        let may_be_grouped = matches!(proposal.role, RoleJob::Decide | RoleJob::Identifier | RoleJob::Other)
            && proposal.hierarchy == ProposedHierarchy::Suppression
            && !proposal.may_be_unit
            && !start.is_empty()
            && start.len() < column.name.len();
        if may_be_grouped {
            // Undecided columns wait for the same decision, whatever the reason.
            let reason = if proposal.role == RoleJob::Decide { "" } else { proposal.reason.as_str() };
            groups
                .entry((start, role_name(proposal.role), reason, written_keys(init, at)))
                .or_default()
                .push(at);
        }
    }
    // Of the groups with one beginning only the largest has the pattern, which would have the others, too.
    let mut largest: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for ((start, ..), group) in groups {
        let pattern = format!("{start}*");
        let is_name = columns.iter().any(|column| column.name == pattern);
        if group.len() >= FEW && !is_name && largest.get(start).is_none_or(|other| other.len() < group.len())
        {
            largest.insert(start, group);
        }
    }
    let mut entries = Vec::new();
    for (at, column) in columns.iter().enumerate() {
        let start = beginning(&column.name);
        match largest.get(start) {
            Some(group) if group[0] == at => entries.push(Entry::Pattern(format!("{start}*"), group.clone())),
            Some(group) if group.contains(&at) => {}
            _ => entries.push(Entry::Column(at)),
        }
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_begin_with_letters() {
        assert_eq!(["e00200", "age", "x_1", "1a", ""].map(beginning), ["e", "age", "x", "", ""]);
    }
}
