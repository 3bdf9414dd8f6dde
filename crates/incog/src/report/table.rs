//! Tables of levels that fit a terminal of 80 columns.
//!
//! One column for each quasi-identifier, under its name. Where the names do not fit, a number stands in the place of each, and a
//! line above says which is which; names may have any length, and there may be many of them.

use std::fmt::{self, Write};

/// What a terminal shows side by side, at least.
pub(crate) const WIDTH: usize = 80;

/// A longer cell sticks out of its column, instead of making all lines as long.
const MAX_WIDTH: usize = 60;

/// How wide a column of a printed table is.
pub(crate) fn width_of<'a>(cells: impl Iterator<Item = &'a str>) -> usize {
    cells.map(|cell| cell.chars().count()).max().unwrap_or(0).min(MAX_WIDTH)
}

/// Rows of right-aligned cells: some that are known, a level for each name, and some more that are known.
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
    /// Which cells of a row are levels.
    levels: std::ops::Range<usize>,
}

impl Table {
    /// A table without rows; its names in the middle are those of columns.
    pub(crate) fn new<const B: usize>(names: &[String], before: &[&str], behind: [&str; B]) -> Self {
        let mut header: Vec<String> = before.iter().map(|&name| name.to_owned()).collect();
        let levels = header.len()..header.len() + names.len();
        header.extend(names.iter().cloned());
        header.extend(behind.map(str::to_owned));
        Table { rows: vec![header], levels }
    }

    pub(crate) fn push<const A: usize, const B: usize>(
        &mut self,
        before: [String; A],
        levels: impl Iterator<Item = String>,
        behind: [String; B],
    ) {
        self.rows.push(before.into_iter().chain(levels).chain(behind).collect());
    }

    fn widths(&self) -> Vec<usize> {
        let width = |at: usize| width_of(self.rows.iter().filter_map(|row| row.get(at)).map(String::as_str));
        (0..self.rows[0].len()).map(width).collect()
    }

    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widths = self.widths();
        for row in &self.rows {
            let mut line = String::new();
            for (cell, width) in row.iter().zip(&widths) {
                write!(line, "  {cell:>width$}")?;
            }
            writeln!(f, "{line}")?;
        }
        Ok(())
    }

    /// The same with numbers in the place of names.
    fn numbered(&self) -> Self {
        let mut rows = self.rows.clone();
        for (number, at) in self.levels.clone().enumerate() {
            rows[0][at] = format!("{}", number + 1);
        }
        Table { rows, levels: self.levels.clone() }
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.widths().iter().map(|width| width + 2).sum::<usize>() <= WIDTH {
            return self.write(f);
        }
        let mut line = String::from(" ");
        for (number, name) in self.rows[0][self.levels.clone()].iter().enumerate() {
            let end = if number + 1 == self.levels.len() { "" } else { "," };
            let item = format!(" {}: {name}{end}", number + 1);
            if line.chars().count() + item.chars().count() > WIDTH && line.trim() != "" {
                writeln!(f, "{line}")?;
                line = String::from(" ");
            }
            line.push_str(&item);
        }
        writeln!(f, "{line}")?;
        self.numbered().write(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(names: &[&str]) -> String {
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        let mut table = Table::new(&names, &["k"], ["loss"]);
        table.push(["5".into()], names.iter().map(|_| "2".to_owned()), ["0.5".into()]);
        table.to_string()
    }

    #[test]
    fn names_stand_above_their_levels_where_they_fit() {
        assert_eq!(table(&["age", "zip"]), "  k  age  zip  loss\n  5    2    2   0.5\n");
    }

    #[test]
    fn numbers_stand_for_names_where_they_do_not() {
        let names: Vec<String> = (0..12).map(|n| format!("column_{n}")).collect();
        let text = table(&names.iter().map(String::as_str).collect::<Vec<_>>());
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
        assert!(text.starts_with("  1: column_0, 2: column_1"), "{text}");
        assert!(text.ends_with("  5  2  2  2  2  2  2  2  2  2   2   2   2   0.5\n"), "{text}");
    }
}
