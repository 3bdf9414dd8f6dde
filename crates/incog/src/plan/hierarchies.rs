//! From what a job says of a column to its hierarchy.

use incog_core::hierarchy::spec::{
    Branch, Builtin, DateLevel, Dates, Decimal, IntervalKind, Intervals, Mask, MaskFrom, Spec, Tree,
};
use incog_core::hierarchy::{Attribute, Hierarchy};
use incog_core::table::Column;
use incog_core::{Error, ErrorKind, Result};
use indexmap::IndexMap;

use crate::file;
use crate::job::{
    BranchJob, ColumnJob, DateUnit, HierarchyJob, IntervalsOf, Job, MaskSide, NumberOrText, TreeJob,
};
use crate::plan::Plan;
use crate::plan::by_counts;
use crate::plan::mask_length::{self, Holders, SharedLength};
use crate::source;

/// A hierarchy has at most 254 levels.
const MAX_MASK: usize = 253;

/// The attribute of a quasi-identifier: its hierarchy, tied to its data, which has these holders. With a `fixed` level, there is
/// no other to choose.
pub(crate) fn attribute(
    job: &Job,
    name: &str,
    column: &ColumnJob,
    (data, holders): (&Column, Holders<'_>),
    fixed: Option<u8>,
) -> Result<Attribute> {
    let default = HierarchyJob::default();
    let spec = column.hierarchy.as_ref().unwrap_or(&default);
    let key = ["columns", name, "hierarchy"];
    if by_counts::is_by_counts(spec) {
        return by_counts::attribute(job, &key, spec, (data, holders), fixed);
    }
    let Some(shared) = SharedLength::of(spec, data, holders, job.policy.k.unsigned_abs())? else {
        return attribute_at(job, &key, name, spec, data, fixed);
    };
    let rule = rule(job, name, spec, Some(shared))?;
    let attribute = built(job, &key, name, &rule, spec, data)?;
    check_markers(job, &key, data, attribute.hierarchy())?;
    with_levels(job, &key, attribute, spec, fixed).map_err(|error| match shared.n_longer {
        0 => error,
        _ => error.with_hint(
            "a mask is as long as at least k values are; say how long values are with `length`, whatever the data has",
        ),
    })
}

/// What there is to say of values that are longer than their masks.
pub(crate) fn longer_values(plan: &Plan) -> Result<Vec<String>> {
    let persons = mask_length::persons(&plan.job, &plan.table);
    let of = if persons.is_some() { "persons" } else { "rows" };
    let mut notes = Vec::new();
    for (name, column) in &plan.job.columns {
        let Some(rule) = &column.hierarchy else { continue };
        let Some(data) = plan.table.column(name) else { continue };
        let holders = Holders::of(plan.spilled.as_deref(), &plan.table, persons.as_deref());
        let shared = SharedLength::of(rule, data, holders, plan.job.policy.k.unsigned_abs())?;
        notes.extend(shared.and_then(|shared| shared.note(name, of)));
        notes.extend(uneven_digits(name, rule, data));
        notes.extend(by_counts::note(name, rule));
    }
    Ok(notes)
}

/// The same for a hierarchy that stands at another key, whose labels are not released: a mask is as long as the longest value.
pub(crate) fn attribute_at(
    job: &Job,
    key: &[&str],
    name: &str,
    spec: &HierarchyJob,
    data: &Column,
    fixed: Option<u8>,
) -> Result<Attribute> {
    if by_counts::is_by_counts(spec) {
        return by_counts::attribute(job, key, spec, (data, Holders::Rows), fixed);
    }
    one_kind(name, spec).map_err(|error| job.at(key, &error))?;
    let attribute = match &spec.file {
        // Errors of a file name the file; those of a rule come from the job.
        Some(file) => {
            let path = job.resolve(file);
            let hierarchy = source::read_hierarchy(&path, name)?;
            check_markers(job, key, data, &hierarchy)?;
            Attribute::bind(data, hierarchy, &path.display().to_string())?
        }
        None => built(job, key, name, &rule_at(job, key, name, spec, None)?, spec, data)?,
    };
    check_markers(job, key, data, attribute.hierarchy())?;
    with_levels(job, key, attribute, spec, fixed)
}

/// What stands for a missing value must be no value and no label: whoever reads the release could not tell which it is.
pub(super) fn check_markers(job: &Job, key: &[&str], data: &Column, hierarchy: &Hierarchy) -> Result<()> {
    let markers = data.reading().missing.iter().filter(|marker| !marker.is_empty());
    let is_label =
        |marker: &str| (0..=hierarchy.height()).any(|level| hierarchy.labels(level).code(marker).is_some());
    let n = markers.filter(|marker| is_label(marker)).count();
    if n == 0 {
        return Ok(());
    }
    let (name, n_all) = (data.name(), data.reading().missing.len());
    let problem = format!(
        "column `{name}`: {n} of the {n_all} texts in `missing` are values or labels of its hierarchy, too"
    );
    Err(job.mistake(key, problem).with_hint(
        "take them out of `missing`, or out of the hierarchy: a missing value has the row that starts with an empty field, or the \
         hierarchy's own `missing`",
    ))
}

/// What to say of a mask over numbers of different lengths, of which some may have lost their leading zeros.
pub(crate) fn uneven_digits(name: &str, spec: &HierarchyJob, data: &Column) -> Option<String> {
    if spec.mask.is_none() || spec.pad.is_some() {
        return None;
    }
    // Whole numbers that were made floats (1001.0) have lost theirs the same way.
    let is_number = |value: &&str| !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
    let values = data.dictionary().values().map(|value| value.strip_suffix(".0").unwrap_or(value));
    let mut lengths = values.filter(is_number).map(str::len);
    let first = lengths.next()?;
    lengths.any(|length| length != first).then(|| {
        format!(
            "warning: {name}: its numbers have different lengths; if leading zeros were lost, they are in the wrong group: \
             `pad` beside `mask` restores them"
        )
    })
}

/// What a rule makes of a column.
fn built(
    job: &Job,
    key: &[&str],
    name: &str,
    rule: &Spec,
    spec: &HierarchyJob,
    data: &Column,
) -> Result<Attribute> {
    one_kind(name, spec).map_err(|error| job.at(key, &error))?;
    let hierarchy = rule.build(data, spec.missing.as_deref()).map_err(|error| job.at(key, &error))?;
    Attribute::bind(data, hierarchy, "rule")
}

pub(super) fn with_levels(
    job: &Job,
    key: &[&str],
    attribute: Attribute,
    spec: &HierarchyJob,
    fixed: Option<u8>,
) -> Result<Attribute> {
    match (fixed, &spec.levels) {
        (Some(level), _) => attribute.with_levels(&[level]),
        (None, None) => Ok(attribute),
        (None, Some(levels)) => attribute.with_levels(levels).map_err(|error| job.at(key, &error)),
    }
}

/// What to say of labels that are values and cover others, too. At a level, or at any.
pub(crate) fn warning(attribute: &Attribute, level: Option<u8>) -> Option<String> {
    let ambiguous = attribute.hierarchy().ambiguous();
    let n: u64 = match level {
        Some(level) => ambiguous[usize::from(level)],
        None => ambiguous.iter().sum(),
    };
    let labels = match n {
        0 => return None,
        1 => "1 label is also a value, and covers".to_owned(),
        n => format!("{n} labels are also values, and cover"),
    };
    let name = attribute.name();
    Some(format!("warning: {name}: {labels} others: a cell with such a label need not have this value"))
}

/// Is one kind of hierarchy described, with nothing that belongs to another?
pub(crate) fn check(job: &Job, name: &str, spec: &HierarchyJob) -> Result<()> {
    one_kind(name, spec).map_err(|error| job.at(&["columns", name, "hierarchy"], &error))
}

pub(super) fn one_kind(name: &str, spec: &HierarchyJob) -> Result<()> {
    let kinds = [
        ("file", spec.file.is_some()),
        ("intervals", spec.intervals.is_some()),
        ("dates", spec.dates.is_some()),
        ("mask", spec.mask.is_some()),
        ("tree", spec.tree.is_some()),
        ("builtin", spec.builtin.is_some()),
        ("frequent", spec.frequent.is_some()),
        ("suppress", spec.suppress.is_some()),
    ];
    let chosen: Vec<&str> = kinds.iter().filter(|(_, is_chosen)| *is_chosen).map(|(kind, _)| *kind).collect();
    if spec.rare.is_some() && chosen.iter().any(|kind| !["file", "tree", "builtin"].contains(kind)) {
        return Err(Error::input(format!("column `{name}`: `rare` does not go with `{}`", chosen[0]))
            .with_hint("it stands alone, or beside file, tree or builtin"));
    }
    if chosen.len() > 1 {
        return Err(Error::input(format!(
            "column `{name}`: a hierarchy is one of {}, not several",
            chosen.join(", ")
        )));
    }
    if spec.suppress == Some(false) {
        return Err(Error::input(format!("column `{name}`: `suppress` can only be true"))
            .with_hint("leave the hierarchy out, or allow no level but 0: levels = [0]"));
    }
    let with_intervals = [
        ("of", spec.of.is_some()),
        ("origin", spec.origin.is_some()),
        ("bounds", spec.bounds.is_some()),
        ("bottom", spec.bottom.is_some() && spec.dates.is_none()),
        ("top", spec.top.is_some()),
    ];
    if let Some((key, _)) = with_intervals.iter().find(|(_, is_set)| *is_set && spec.intervals.is_none()) {
        return Err(Error::input(format!("column `{name}`: `{key}` is for intervals")));
    }
    if let Some(length) = spec.length {
        if spec.mask.is_none() {
            return Err(Error::input(format!("column `{name}`: `length` is for masks")));
        }
        if !(1..=MAX_MASK).contains(&length) {
            return Err(Error::input(format!("column `{name}`: `length` is not from 1 to {MAX_MASK}")));
        }
    }
    if let Some(pad) = spec.pad {
        if spec.mask.is_none() {
            return Err(Error::input(format!("column `{name}`: `pad` is for masks")));
        }
        if !(1..=MAX_MASK).contains(&pad) {
            return Err(Error::input(format!("column `{name}`: `pad` is not from 1 to {MAX_MASK}")));
        }
    }
    if spec.file.is_some() && spec.missing.is_some() {
        return Err(Error::input(format!("column `{name}`: `missing` is not for files"))
            .with_hint("give the missing value a row of its own in the file, starting with an empty field"));
    }
    Ok(())
}

/// The rule that a job gives for a column. Must not be asked for where it names a file. `shared` is the length of a mask whose length is
/// left open.
pub(crate) fn rule(job: &Job, name: &str, spec: &HierarchyJob, shared: Option<SharedLength>) -> Result<Spec> {
    rule_at(job, &["columns", name, "hierarchy"], name, spec, shared)
}

pub(super) fn rule_at(
    job: &Job,
    key: &[&str],
    name: &str,
    spec: &HierarchyJob,
    shared: Option<SharedLength>,
) -> Result<Spec> {
    let spec_of = |error: Error| -> Error { job.at(key, &error.prefixed(&format!("column `{name}`: "))) };
    Ok(if let Some(widths) = &spec.intervals {
        Spec::Intervals(Box::new(intervals(spec, widths).map_err(spec_of)?))
    } else if let Some(units) = &spec.dates {
        let dates = Dates::new(units.iter().map(|unit| date_level(*unit)).collect()).map_err(spec_of)?;
        Spec::Dates(match &spec.bottom {
            Some(bottom) => dates.with_bottom(&bottom.to_string()).map_err(spec_of)?,
            None => dates,
        })
    } else if let Some(side) = spec.mask {
        let mask = Mask::new(match side {
            MaskSide::Right => MaskFrom::Right,
            MaskSide::Left => MaskFrom::Left,
        });
        Spec::Mask(match (spec.length, shared) {
            (Some(length), _) => mask.with_length(length),
            (None, Some(shared)) => mask.with_shared_length(shared.length),
            (None, None) => mask,
        })
    } else if let Some(tree) = &spec.tree {
        Spec::Tree(match tree {
            TreeJob::Branches(labels) => Tree::new(&branches(labels)).map_err(spec_of)?,
            TreeJob::File(file) => {
                let text =
                    file::read_text(&job.resolve(file), "the tree").map_err(|error| job.at(key, &error))?;
                Tree::parse(&text).map_err(spec_of)?
            }
        })
    } else if let Some(builtin) = spec.builtin {
        let known = Builtin::named(builtin.name());
        known.ok_or_else(|| Error::new(ErrorKind::Internal, "a built-in hierarchy is missing"))?.spec()?
    } else {
        Spec::Suppression
    })
}

fn date_level(unit: DateUnit) -> DateLevel {
    match unit {
        DateUnit::Day => DateLevel::Day,
        DateUnit::Week => DateLevel::Week,
        DateUnit::HalfYear => DateLevel::HalfYear,
        DateUnit::TwoYears => DateLevel::TwoYears,
        DateUnit::FiveYears => DateLevel::FiveYears,
        DateUnit::TwentyYears => DateLevel::TwentyYears,
        DateUnit::Month => DateLevel::Month,
        DateUnit::Quarter => DateLevel::Quarter,
        DateUnit::Year => DateLevel::Year,
        DateUnit::Decade => DateLevel::Decade,
    }
}

fn branches(labels: &IndexMap<String, BranchJob>) -> Vec<Branch> {
    let leaf = |value: &String| Branch { label: value.clone(), below: Vec::new() };
    let branch = |(label, below): (&String, &BranchJob)| Branch {
        label: label.clone(),
        below: match below {
            BranchJob::Leaves(values) => values.iter().map(leaf).collect(),
            BranchJob::Branches(labels) => branches(labels),
        },
    };
    labels.iter().map(branch).collect()
}

fn intervals(spec: &HierarchyJob, widths: &[NumberOrText]) -> Result<Intervals> {
    let kind = match spec.of {
        Some(IntervalsOf::Dates) => IntervalKind::Dates,
        Some(IntervalsOf::Numbers) | None => IntervalKind::Numbers,
    };
    let read = |key: &str, number: &NumberOrText| {
        Intervals::parse(kind, &number.to_string()).ok_or_else(|| {
            Error::input(format!(
                "`{key}` is not {}",
                match kind {
                    IntervalKind::Numbers => "a number",
                    IntervalKind::Dates => "a date like 2003-04-17",
                }
            ))
        })
    };
    let widths = widths
        .iter()
        .map(|width| {
            Decimal::parse(&width.to_string())
                .ok_or_else(|| Error::input("an interval width is not a number"))
        })
        .collect::<Result<_>>()?;
    let mut intervals = Intervals::new(kind, widths)?;
    if let Some(origin) = &spec.origin {
        intervals = intervals.with_origin(read("origin", origin)?);
    }
    let bottom = spec.bottom.as_ref().map(|bottom| read("bottom", bottom)).transpose()?;
    let top = spec.top.as_ref().map(|top| read("top", top)).transpose()?;
    intervals = intervals.with_pools(bottom, top)?;
    if let Some([least, end]) = &spec.bounds {
        intervals = intervals.with_bounds(read("bounds", least)?, read("bounds", end)?)?;
    }
    Ok(intervals)
}

/// The labels of a value, by level.
pub(crate) fn path(attribute: &Attribute, code: usize) -> Vec<String> {
    let label = |level| {
        let label = attribute.labels_at(level)[code];
        attribute.hierarchy().labels(level).value(label).to_owned()
    };
    (0..=attribute.height()).map(label).collect()
}
