//! A hierarchy written out row by row: `leaf;level1;...;top`, the layout ARX reads.
//!
//! Checked while it is built: rows are equally long, a leaf stands once, equal labels of a level have equal
//! parents (else the level above would not be a function of this one), and no label is a value that it does not cover (it
//! would state what is not so). Errors name the file, the column and the line; never the label.

use crate::error::{Error, Result};
use crate::hierarchy::{Hierarchy, Level};

/// Builds a [`Hierarchy`] from rows.
#[derive(Debug)]
pub struct ExplicitHierarchy {
    column: String,
    origin: String,
    levels: Vec<Level>,
    /// For each level, the line on which each label first stood.
    first_lines: Vec<Vec<u64>>,
}

impl ExplicitHierarchy {
    /// A builder for the hierarchy of `column`, read from `origin` (a file name for messages).
    pub fn new(column: impl Into<String>, origin: impl Into<String>) -> Self {
        ExplicitHierarchy {
            column: column.into(),
            origin: origin.into(),
            levels: Vec::new(),
            first_lines: Vec::new(),
        }
    }

    /// Adds the row that stands on `line`: a leaf and its label at each level.
    pub fn push<'a>(&mut self, line: u64, row: impl IntoIterator<Item = &'a str>) -> Result<()> {
        let is_first = self.levels.is_empty();
        let mut width = 0;
        let mut below: Option<u32> = None;
        for label in row {
            if width == self.levels.len() {
                if !is_first {
                    return Err(self.ragged(line, width + 1));
                }
                if width == 254 {
                    return Err(self.error(line, "has more than 254 levels"));
                }
                self.levels.push(Level::default());
                self.first_lines.push(Vec::new());
            }
            let level = &mut self.levels[width];
            let n_known = level.labels.len();
            let Some(code) = level.labels.intern(label) else {
                return Err(self.error(line, "has too many labels"));
            };
            let is_new = code as usize == n_known;
            if is_new {
                self.first_lines[width].push(line);
            } else if width == 0 {
                let earlier = self.first_lines[0][code as usize];
                return Err(self
                    .error(line, &format!("repeats the value of line {earlier}"))
                    .with_hint("keep one row per value"));
            }
            if let Some(child) = below {
                let parents = &mut self.levels[width - 1].parents;
                if child as usize == parents.len() {
                    parents.push(code);
                } else if parents[child as usize] != code {
                    let earlier = self.first_lines[width - 1][child as usize];
                    return Err(self
                        .error(
                            line,
                            &format!(
                                "gives a label of level {} another parent at level {width} than line {earlier}",
                                width - 1
                            ),
                        )
                        .with_hint("equal labels of one level need equal labels at every level above"));
                }
            }
            below = Some(code);
            width += 1;
        }
        if width < self.levels.len() {
            return Err(self.ragged(line, width));
        }
        Ok(())
    }

    /// The finished hierarchy.
    pub fn finish(self) -> Result<Hierarchy> {
        if self.levels.is_empty() {
            return Err(Error::input(format!(
                "column `{}`: hierarchy `{}` is empty",
                self.column, self.origin
            ))
            .with_hint("write one row per value: value;level 1;...;*"));
        }
        let ExplicitHierarchy { column, origin, levels, first_lines } = self;
        let hierarchy = Hierarchy::from_levels(levels);
        let Some((level, label)) = hierarchy.false_label() else {
            return Ok(hierarchy);
        };
        let line = first_lines[usize::from(level)][label as usize];
        let value = hierarchy.labels(0).code(hierarchy.labels(level).value(label));
        let of = match value.map(|value| first_lines[0][value as usize]) {
            Some(value) => format!("is the value of line {value}, which it does not cover"),
            None => "is empty, as if there were no value".to_owned(),
        };
        Err(Error::input(format!(
            "column `{column}`: hierarchy `{origin}`, line {line}: the label of level {level} {of}"
        ))
        .with_hint("a release would state what is not so: call the label something else"))
    }

    fn ragged(&self, line: u64, width: usize) -> Error {
        let than = self.levels.len();
        let problem = if width > than {
            format!("has more than the {than} fields of line {}", self.first_lines[0][0])
        } else {
            format!("has {width} fields, line {} has {than}", self.first_lines[0][0])
        };
        self.error(line, &problem).with_hint("every row needs a label for every level, separated by `;`")
    }

    fn error(&self, line: u64, problem: &str) -> Error {
        Error::input(format!("column `{}`: hierarchy `{}`, line {line} {problem}", self.column, self.origin))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(rows: &[&str]) -> Result<Hierarchy> {
        let mut hierarchy = ExplicitHierarchy::new("zip", "zip.csv");
        for (at, row) in rows.iter().enumerate() {
            hierarchy.push(at as u64 + 1, row.split(';'))?;
        }
        hierarchy.finish()
    }

    fn refused(rows: &[&str]) -> String {
        check(rows).unwrap_err().to_string()
    }

    #[test]
    fn a_label_with_two_parents_is_refused_with_both_lines() {
        assert_eq!(
            refused(&["a;x;1;*", "b;y;2;*", "c;x;2;*"]),
            "column `zip`: hierarchy `zip.csv`, line 3 gives a label of level 1 another parent at level 2 than line 1"
        );
    }

    #[test]
    fn ragged_rows_repeated_values_and_empty_files_are_refused() {
        assert!(refused(&["a;x;*", "b;x"]).ends_with("line 2 has 2 fields, line 1 has 3"));
        assert!(refused(&["a;x", "b;x;*"]).ends_with("line 2 has more than the 2 fields of line 1"));
        assert!(refused(&["a;*", "b;*", "a;*"]).ends_with("line 3 repeats the value of line 1"));
        assert!(refused(&[]).ends_with("is empty"));
    }

    #[test]
    fn a_label_that_is_a_value_it_does_not_cover_is_refused_with_both_lines() {
        assert_eq!(
            refused(&["a;b;*", "b;c;*", "c;a;*"]),
            "column `zip`: hierarchy `zip.csv`, line 1: the label of level 1 is the value of line 2, which it does not cover"
        );
        assert!(refused(&["a;x;*", "b;x;a"]).contains("another parent"));
        assert!(
            refused(&["a;x;b", "b;y;*"])
                .ends_with("line 1: the label of level 2 is the value of line 2, which it does not cover")
        );
        // On one level it covers the value, on another it does not.
        assert!(
            refused(&["a;a;x;*", "b;b;a;*"]).contains("line 2: the label of level 2 is the value of line 1")
        );
        assert!(
            refused(&["a;;*", "b;x;*"])
                .ends_with("line 1: the label of level 1 is empty, as if there were no value")
        );
        assert!(
            refused(&["a;;*", ";x;*"])
                .ends_with("the label of level 1 is the value of line 2, which it does not cover")
        );
    }

    #[test]
    fn a_label_may_be_a_value_that_it_covers() {
        for rows in [&["b;b;*", "c;b;*"][..], &["a;a", "b;a"], &["a;a;*", "b;b;*", ";;*"], &["*;*", "a;*"]] {
            assert!(check(rows).is_ok(), "{rows:?}");
        }
    }

    #[test]
    fn the_same_label_may_stand_on_several_levels() {
        let padded = check(&["a;a;x;*", "b;b;x;*", "c;y;y;*"]).unwrap();
        assert_eq!(padded.height(), 3);
        assert_eq!(padded.leaves_under(2, 0), 2);
    }
}
