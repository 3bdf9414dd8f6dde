//! What the checker found, as text.
//!
//! Names come from the release and its record, which somebody hostile may have written. What would begin a new line, move the cursor or
//! turn the direction of writing is shown as its number, so that no name can look like a finding.

use std::cmp::Reverse;
use std::fmt;

use incog_core::words::counted;
use incog_verify::{Finding, Fraction, Measured, Report};
use serde_json::{Value, json};

/// A text in a line of its own, whatever is in it.
struct Shown<'a>(&'a str);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.chars().all(is_seen) {
            return f.write_str(self.0);
        }
        self.0.chars().try_for_each(|letter| match is_seen(letter) {
            true => fmt::Write::write_char(f, letter),
            false => write!(f, "{}", letter.escape_unicode()),
        })
    }
}

/// Does a letter do nothing to a terminal but stand there?
pub fn is_seen(letter: char) -> bool {
    let breaks_lines = matches!(letter, '\u{2028}' | '\u{2029}');
    let turns_writing = matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    !letter.is_control() && !breaks_lines && !turns_writing
}

/// The findings, what was measured, and what should be read twice.
pub(crate) fn write_report(f: &mut dyn fmt::Write, report: &Report) -> fmt::Result {
    for finding in &report.findings {
        writeln!(f, "  {}", Shown(&finding.to_string()))?;
    }
    write_undecided(f, &report.undecided)?;
    write_measured(f, &report.measured, "")?;
    for table in &report.tables {
        write_measured(f, &table.measured, &format!("{}.", Shown(&table.name)))?;
    }
    warnings(report).iter().try_for_each(|warning| writeln!(f, "  warning: {warning}"))
}

/// What could not be checked.
fn write_undecided(f: &mut dyn fmt::Write, undecided: &[Finding]) -> fmt::Result {
    for Finding { claim, found, .. } in undecided {
        writeln!(f, "  open  {} (could not be checked: {})", Shown(claim), Shown(found))?;
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
            Shown(&measured.column),
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
            "{groups} ({rows}) {have} a single value of {}: whoever is in {one_of} is known to have it",
            Shown(&format!("{of}{}", measured.column))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_be_more_than_a_letter_is_shown_as_a_number() {
        let shown = |text: &str| Shown(text).to_string();
        assert_eq!(shown("Größe, naïve; 年齢 \u{1f600}"), "Größe, naïve; 年齢 \u{1f600}");
        assert_eq!(shown("a\n  pass\r\x1b[2K"), "a\\u{a}  pass\\u{d}\\u{1b}[2K");
        assert_eq!(shown("a\u{85}\u{2028}\u{202e}b"), "a\\u{85}\\u{2028}\\u{202e}b");
    }
}
