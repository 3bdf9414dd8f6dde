//! What the checker found, as text.

use std::fmt;

use incog_verify::{Finding, Fraction, Measured, Report};
use serde_json::{Value, json};

/// The findings, and what was measured.
pub(crate) fn write_report(f: &mut dyn fmt::Write, report: &Report) -> fmt::Result {
    for finding in &report.findings {
        writeln!(f, "  {finding}")?;
    }
    write_undecided(f, &report.undecided)?;
    write_measured(f, &report.measured, "", ["group", "groups"])?;
    for table in &report.tables {
        write_measured(f, &table.measured, &format!("{}.", table.name), ["set of rows", "sets of rows"])?;
    }
    Ok(())
}

/// What could not be checked.
fn write_undecided(f: &mut dyn fmt::Write, undecided: &[Finding]) -> fmt::Result {
    for Finding { claim, found, .. } in undecided {
        writeln!(f, "  open  {claim} (could not be checked: {found})")?;
    }
    Ok(())
}

/// What sensitive columns reach. `of` comes before the columns' names; one group and several are what is compared.
fn write_measured(
    f: &mut dyn fmt::Write,
    all: &[Measured],
    of: &str,
    [group, groups]: [&str; 2],
) -> fmt::Result {
    for measured in all {
        let Some((n, size)) = measured.alpha else {
            continue;
        };
        write!(
            f,
            "  {of}{}: alpha {:.3} ({n} of {size}), distinct l {}, entropy l {:.2}, t {:.3}",
            measured.column,
            n as f64 / size as f64,
            measured.distinct_l.unwrap_or(0),
            measured.entropy_l.unwrap_or(0.0),
            measured.t.map_or(0.0, Fraction::to_f64)
        )?;
        if let Some(t) = measured.ordered_t {
            write!(f, " (ordered {:.3})", t.to_f64())?;
        }
        if let Some(c) = measured.recursive_c.first() {
            write!(f, ", recursive (c, 2) for c above {:.3}", c.to_f64())?;
        }
        writeln!(f)?;
        if measured.uniform_groups > 0 {
            let these = match measured.uniform_groups {
                1 => format!("1 {group} has"),
                n => format!("{n} {groups} have"),
            };
            let column = &measured.column;
            writeln!(
                f,
                "  warning: {these} a single value of {of}{column}: whoever is in one of them is known to have it"
            )?;
        }
    }
    Ok(())
}

/// A report as one JSON object. Columns and counts; no label and no cell value.
pub fn report_to_json(report: &Report) -> String {
    serde_json::to_string_pretty(&report_fields(report)).expect("fields are text, numbers and lists of them")
}

pub(crate) fn report_fields(report: &Report) -> Value {
    let tables = report.tables.iter();
    let tables =
        tables.map(|table| json!({"name": table.name, "measured": measured_fields(&table.measured)}));
    json!({
        "holds": report.holds(),
        "findings": report.findings.iter().map(finding_fields).collect::<Vec<_>>(),
        "undecided": report.undecided.iter().map(finding_fields).collect::<Vec<_>>(),
        "smallest_group": report.smallest_group,
        "fewest_persons": report.fewest_persons,
        "group_sizes": report.group_sizes,
        "measured": measured_fields(&report.measured),
        "tables": tables.collect::<Vec<_>>(),
    })
}

pub(crate) fn finding_fields(Finding { kind, claim, found, holds, .. }: &Finding) -> Value {
    json!({"kind": kind.name(), "claim": claim, "found": found, "holds": holds})
}

/// What sensitive columns reach; shares are exact, as pairs of a count and a size.
fn measured_fields(all: &[Measured]) -> Vec<Value> {
    let fields = |measured: &Measured| {
        json!({
            "column": measured.column,
            "alpha": measured.alpha,
            "distinct_l": measured.distinct_l,
            "entropy_l": measured.entropy_l,
            "recursive_c": measured.recursive_c.iter().map(|c| c.to_f64()).collect::<Vec<_>>(),
            "t": measured.t.map(Fraction::to_f64),
            "ordered_t": measured.ordered_t.map(Fraction::to_f64),
            "uniform_groups": measured.uniform_groups,
        })
    };
    all.iter().map(fields).collect()
}

/// A report as text.
pub fn render_report(report: &Report) -> String {
    let mut text = String::new();
    write_report(&mut text, report).expect("writing to a string cannot fail");
    text
}
