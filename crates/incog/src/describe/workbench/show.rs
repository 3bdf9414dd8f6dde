//! A hierarchy as a table for people. Prints values: whoever asks for it wants to see them.

use std::fmt::Write;

use incog_core::Result;
use incog_core::table::label::EMPTY_TEXT;

use crate::describe::workbench::{Subject, paths};
use crate::report::search::width_of;

impl Subject<'_> {
    /// Each value with its labels, from level 0 up.
    pub fn paths(&self) -> Result<Vec<Vec<String>>> {
        let hierarchy = self.hierarchy()?;
        let paths = paths(&hierarchy).into_iter();
        Ok(paths.map(|path| path.iter().map(|label| printable(label)).collect()).collect())
    }

    /// How many labels each level has, and the labels of up to `limit` values at every level.
    pub fn show(&self, limit: usize) -> Result<String> {
        let hierarchy = self.hierarchy()?;
        let paths = paths(&hierarchy);
        let mut rows: Vec<Vec<String>> = vec![
            (0..=hierarchy.height()).map(|level| format!("level {level}")).collect(),
            (0..=hierarchy.height()).map(|level| counted(hierarchy.labels(level).len(), "label")).collect(),
        ];
        rows.extend(paths.iter().take(limit).map(|path| path.iter().map(|label| printable(label)).collect()));
        let width = |level: usize| width_of(rows.iter().map(|row| row[level].as_str()));
        let widths: Vec<usize> = (0..=usize::from(hierarchy.height())).map(width).collect();

        let mut text = format!("column `{}`, hierarchy of {}\n", self.name, self.origin());
        if let Some(levels) = &self.spec.levels {
            let levels: Vec<String> = levels.iter().map(ToString::to_string).collect();
            let _ = writeln!(text, "levels that may be chosen: {}", levels.join(", "));
        }
        for row in rows {
            let cells: Vec<String> =
                row.iter().zip(&widths).map(|(cell, &width)| format!("{cell:<width$}")).collect();
            let _ = writeln!(text, "  {}", cells.join("  ").trim_end());
        }
        if paths.len() > limit {
            let _ = writeln!(text, "  ... and {} (--limit)", counted(paths.len() - limit, "more value"));
        }
        Ok(text)
    }
}

fn counted(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// A label on one line, without what would steer a terminal.
fn printable(label: &str) -> String {
    if label == EMPTY_TEXT {
        return "(empty text)".to_owned();
    }
    label
        .chars()
        .flat_map(|character| {
            let escaped = character.is_control().then(|| character.escape_default().collect::<String>());
            escaped.unwrap_or_else(|| character.to_string()).chars().collect::<Vec<_>>()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_stay_on_their_line() {
        assert_eq!(printable("a\nb\u{1b}[1mü"), "a\\nb\\u{1b}[1mü");
    }
}
