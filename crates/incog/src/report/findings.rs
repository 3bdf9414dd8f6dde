//! What the checker found, as text.

use std::cmp::Reverse;
use std::fmt;

use incog_core::words::counted;
use incog_verify::{Finding, Fraction, Measured, Report};

/// The findings, what was measured, and what should be read twice.
pub(crate) fn write_report(f: &mut dyn fmt::Write, report: &Report) -> fmt::Result {
    for finding in &report.findings {
        writeln!(f, "  {finding}")?;
    }
    write_undecided(f, &report.undecided)?;
    write_measured(f, &report.measured, "")?;
    for table in &report.tables {
        write_measured(f, &table.measured, &format!("{}.", table.name))?;
    }
    warnings(report).iter().try_for_each(|warning| writeln!(f, "  warning: {warning}"))
}

/// What could not be checked.
fn write_undecided(f: &mut dyn fmt::Write, undecided: &[Finding]) -> fmt::Result {
    for Finding { claim, found, .. } in undecided {
        writeln!(f, "  open  {claim} (could not be checked: {found})")?;
    }
    Ok(())
}

/// What sensitive columns reach. `of` comes before the columns' names.
fn write_measured(f: &mut dyn fmt::Write, all: &[Measured], of: &str) -> fmt::Result {
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
    }
    Ok(())
}

/// Groups in which everybody has the same, and it is nothing harmless: those that most are in first.
pub(crate) fn warnings(report: &Report) -> Vec<String> {
    let of_release = report.measured.iter().map(|measured| (measured, String::new(), ["group", "groups"]));
    let of_tables = report.tables.iter().flat_map(|table| {
        let named = |measured| (measured, format!("{}.", table.name), ["set of rows", "sets of rows"]);
        table.measured.iter().map(named)
    });
    let mut exposed: Vec<_> =
        of_release.chain(of_tables).filter(|(measured, ..)| measured.telling_groups > 0).collect();
    exposed.sort_by_key(|(measured, ..)| Reverse(measured.telling_size));
    let warning = |(measured, of, [one, several]): (&Measured, String, [&str; 2])| {
        let n = measured.telling_groups;
        let groups = counted(n, one, several);
        let (have, one_of) = if n == 1 { ("has", "it") } else { ("have", "one of them") };
        let rows = counted(measured.telling_size, "row", "rows");
        let mut text = format!(
            "{groups} ({rows}) {have} a single value of {of}{}: whoever is in {one_of} is known to have it",
            measured.column
        );
        let harmless = measured.uniform_groups - n;
        if harmless > 0 {
            let more = if harmless == 1 { "1 more has".to_owned() } else { format!("{harmless} more have") };
            text.push_str(&format!(" ({more} a harmless one)"));
        }
        text
    };
    exposed.into_iter().map(warning).collect()
}
