//! A job's preset: what it fills in, and what contradicts it.
//!
//! The columns are looked at once before they are read with their roles. Columns that nobody names get the role and the hierarchy that the preset
//! gives them; what the job says of others is compared with what the preset asks, and every contradiction is a mistake with its line. What is
//! looked at is all values, so a column that is called `c17` and holds e-mail addresses is an identifier.

use incog_core::table::Role;
use incog_core::{Progress, Result};

use crate::file::STANDARD;
use crate::job::{
    Builtin, ColumnJob, DateUnit, HierarchyJob, Job, Mistakes, Preset, ReplaceJob, RoleJob, listed,
};
use crate::recognize::header::check_header;
use crate::recognize::preset::{Coarser, Demand, apply, demands, first_young_year};
use crate::recognize::profile::{ColumnProfile, Profile, ValueKind};
use crate::recognize::propose::propose;
use crate::source::{Input, ReadOptions, RowsOfDatabase};

/// Fills in what the preset of a job says, and notes what contradicts it; what there is to tell about it.
pub(super) fn settle(
    job: &mut Job,
    input: &Input,
    mistakes: &mut Mistakes,
    progress: &Progress,
) -> Result<Option<String>> {
    let Some(preset) = job.preset else {
        return Ok(None);
    };
    let (name, least) = (preset.name(), preset.least_k());
    if u64::try_from(job.policy.k).is_ok_and(|k| k < least) {
        let mistake =
            format!("the preset `{name}` asks for k of at least {least}, and the job has {}", job.policy.k);
        mistakes.add(
            job.mistake(&["policy", "k"], mistake).with_hint("choose a larger k, or leave the preset out"),
        );
    }
    let profile = looked_at(job, input, progress)?;
    let proposals = propose(&profile);
    let demands = demands(preset, &profile, &proposals);
    let mut filled = proposals;
    apply(preset, &profile, &mut filled);
    let mut added = Vec::new();
    for ((column, demand), proposal) in profile.columns.iter().zip(&demands).zip(filled) {
        if job.policy.unit.as_ref() == Some(&column.name) {
            continue;
        }
        if job.columns.contains_key(&column.name) {
            mistakes.note(check(job, preset, column, demand, first_young_year(&profile)));
        } else if proposal.role != RoleJob::Decide {
            let hierarchy =
                proposal.hierarchy.to_toml().map(|rule| HierarchyJob::parse(&rule)).transpose()?;
            job.columns.insert(column.name.clone(), ColumnJob { hierarchy, ..ColumnJob::new(proposal.role) });
            added.push((column.name.clone(), proposal.role));
        }
    }
    Ok(note(preset, &added))
}

/// The columns, with all that is known of them by name and values.
fn looked_at(job: &Job, input: &Input, progress: &Progress) -> Result<Profile> {
    let is_standard = |path: &std::path::PathBuf| path.as_os_str() == STANDARD;
    if input.is_elsewhere() || (job.input.path.all().iter().any(is_standard) && input.is_of_files()) {
        let mistake = "a preset looks at all values before anything else is done, and these rows can be read only once, or not here";
        return Err(job
            .mistake(&["preset"], mistake)
            .with_hint("name a file, or write the roles without a preset"));
    }
    let loaded = input.clone().open(ReadOptions::of_job(job)?)?.read(
        None,
        RowsOfDatabase::Here,
        |_| Role::Other,
        |_| true,
        progress,
    )?;
    let is_named = loaded.table.columns().iter().any(|column| job.columns.contains_key(column.name()));
    if let Some(file) = loaded.files.first().filter(|_| !is_named && job.input.names.is_none()) {
        // Names of columns are told below, and must be none of somebody's cells.
        check_header(file, &loaded.table, loaded.format.file.is_delimited())?;
    }
    Profile::of(&loaded.table, progress)
}

/// Fails where the job says of a column what its preset does not allow.
fn check(job: &Job, preset: Preset, column: &ColumnProfile, demand: &Demand, before: i64) -> Result<()> {
    let (name, said) = (column.name.as_str(), &job.columns[&column.name]);
    let is_hashed = said.replace == Some(ReplaceJob::KeyedHash) && preset == Preset::HipaaSafeHarbor;
    if said.role == RoleJob::Identifier && !is_hashed {
        return Ok(());
    }
    let line = job.lines.of(&["preset"]).map_or(String::new(), |line| format!(" of line {line}"));
    let preset_says = format!("the preset `{}`{line}", preset.name());
    if is_hashed {
        // 45 CFR 164.514(c): a code must not be derived from information about the individual.
        let mistake = format!("{preset_says} allows no code that is made from column `{name}`");
        return Err(job
            .mistake(&["columns", name, "replace"], mistake)
            .with_hint("write replace = \"number\", or leave it out"));
    }
    match demand {
        Demand::Free => Ok(()),
        // A format of dates that the job names makes them dates.
        Demand::Drop(_)
            if column.kind == ValueKind::OtherDates && is_coarse(said, &Coarser::Years, before) =>
        {
            Ok(())
        }
        Demand::Drop(reason) => {
            let mistake = format!("{preset_says} does not release column `{name}`: {reason}");
            Err(job
                .mistake(&["columns", name, "role"], mistake)
                .with_hint("write role = \"identifier\", or leave the column out of the job"))
        }
        Demand::Coarser(coarser) if is_coarse(said, coarser, before) => Ok(()),
        Demand::Coarser(coarser) => {
            let (rule, _) = coarser.rule(column, before);
            let mistake =
                format!("{preset_says} contradicts what is said of column `{name}`: {}", coarser.reason());
            Err(job.mistake(&["columns", name, "hierarchy"], mistake).with_hint(format!(
                "write role = \"quasi-identifier\" and hierarchy = {rule}, or leave the column out of the job"
            )))
        }
    }
}

/// Is a column released only as coarse as that?
fn is_coarse(said: &ColumnJob, coarser: &Coarser, before: i64) -> bool {
    if said.role != RoleJob::QuasiIdentifier {
        return false;
    }
    let Some(rule) = &said.hierarchy else { return false };
    // Where levels are not listed, level 0 may be chosen: as collected.
    let Some(&lowest) = rule.levels.as_ref().and_then(|levels| levels.iter().min()) else { return false };
    if lowest == 0 {
        return false;
    }
    let unit = || rule.dates.as_ref().and_then(|units| units.get(usize::from(lowest) - 1)).copied();
    let is_at_least = |finest: &[DateUnit]| unit().is_some_and(|unit| finest.contains(&unit));
    let years =
        [DateUnit::Year, DateUnit::TwoYears, DateUnit::FiveYears, DateUnit::Decade, DateUnit::TwentyYears];
    let months = [DateUnit::Month, DateUnit::Quarter, DateUnit::HalfYear];
    let is_pooled = || {
        let bottom = rule.bottom.as_ref().map(ToString::to_string);
        let year = bottom.and_then(|bottom| bottom.get(..4)?.parse::<i64>().ok());
        year.is_some_and(|year| year >= before)
    };
    match coarser {
        Coarser::Years => is_at_least(&years),
        Coarser::Months => is_at_least(&years) || is_at_least(&months),
        Coarser::Births => is_at_least(&years) && is_pooled(),
        Coarser::Ages => {
            let top = rule.top.as_ref().and_then(|top| top.to_string().parse::<f64>().ok());
            rule.builtin == Some(Builtin::Age)
                || (rule.intervals.is_some() && top.is_some_and(|top| top <= 90.0))
        }
        Coarser::Zip3 => rule.builtin == Some(Builtin::UsZip3),
    }
}

/// What the preset has filled in, and what it does not do.
fn note(preset: Preset, added: &[(String, RoleJob)]) -> Option<String> {
    let of = |role: RoleJob, what: &str| {
        let names = added.iter().filter(|(_, of)| *of == role).map(|(name, _)| format!("`{name}`"));
        let names: Vec<String> = names.collect();
        (!names.is_empty())
            .then(|| format!("{what} {}", listed(names.into_iter(), "column", "columns").join(", ")))
    };
    let parts = [
        of(RoleJob::Identifier, "drops"),
        of(RoleJob::QuasiIdentifier, "generalizes"),
        of(RoleJob::Sensitive, "takes as sensitive"),
        of(RoleJob::Other, "releases"),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let filled = if parts.is_empty() { String::new() } else { format!(" {}.", parts.join("; ")) };
    Some(format!("preset `{}`:{filled} {}", preset.name(), preset.limits()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn says(rule: &str) -> ColumnJob {
        ColumnJob {
            hierarchy: Some(HierarchyJob::parse(rule).unwrap()),
            ..ColumnJob::new(RoleJob::QuasiIdentifier)
        }
    }

    #[test]
    fn what_is_as_coarse_as_the_preset_asks_is_allowed() {
        for (rule, coarser, is_allowed) in [
            ("{ dates = [\"year\"], levels = [1, 2] }", Coarser::Years, true),
            ("{ dates = [\"month\", \"year\"], levels = [2, 3] }", Coarser::Years, true),
            ("{ dates = [\"month\", \"year\"], levels = [1, 2] }", Coarser::Years, false),
            ("{ dates = [\"month\", \"year\"], levels = [1, 2] }", Coarser::Months, true),
            ("{ dates = [\"year\"] }", Coarser::Years, false),
            ("{ dates = [\"year\"], levels = [1] }", Coarser::Births, false),
            ("{ dates = [\"year\"], bottom = \"1937-01-01\", levels = [1] }", Coarser::Births, true),
            ("{ dates = [\"year\"], bottom = \"1930-01-01\", levels = [1] }", Coarser::Births, false),
            ("{ intervals = [5], top = 90, levels = [1, 2] }", Coarser::Ages, true),
            ("{ intervals = [5], top = 95, levels = [1, 2] }", Coarser::Ages, false),
            ("{ intervals = [5], top = 90 }", Coarser::Ages, false),
            ("{ builtin = \"us-zip3\", levels = [1, 2] }", Coarser::Zip3, true),
            ("{ mask = \"right\", levels = [2, 3] }", Coarser::Zip3, false),
        ] {
            assert_eq!(is_coarse(&says(rule), &coarser, 1937), is_allowed, "{rule}");
        }
    }
}
