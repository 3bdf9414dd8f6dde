//! What the checker found, as text.

use std::fmt;

use incog_verify::{Finding, Fraction, Measured, Report};

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

/// A report as text.
pub fn render_report(report: &Report) -> String {
    let mut text = String::new();
    write_report(&mut text, report).expect("writing to a string cannot fail");
    text
}
