//! Hierarchies without writing them out: what a user says in a line, as labels for every value.
//!
//! | spec | 53715, 2003-04-17, 37 become |
//! |---|---|
//! | [`Mask`] | `5371*`, `537**`, ... |
//! | [`Dates`] | `2003-04`, `2003-Q2`, `2003`, `2000s` |
//! | [`Intervals`] | `[35, 40)`, `[30, 40)`, `[20, 40)` |
//! | [`Tree`] | whatever the tree says |
//! | [`Classification`] | `E11.9` becomes `E11`, `E08-E14`, `E00-E90` |
//! | suppression | `*` |
//!
//! Every spec is a function from a value to its labels, so the hierarchy made from it is total and nested by
//! construction; a value that the function is not made for is an error that counts and locates such values. All
//! end in `*`. A missing value (an empty cell) has a branch of its own: [`MISSING`] at every level below the top,
//! unless the user names it otherwise. The empty text, where there is such a thing, has the same labels above level 0.

mod builtin;
mod dates;
mod intervals;
mod mask;
mod tree;

pub use crate::value::Decimal;
pub use builtin::{Builtin, Classification};
pub use dates::{DateLevel, Dates};
pub use intervals::{IntervalKind, Intervals};
pub use mask::{LONGER, Mask, MaskFrom};
pub use tree::{Branch, Tree};

use crate::error::{Error, Result};
use crate::hierarchy::{ExplicitHierarchy, Hierarchy, SUPPRESSED};
use crate::table::Column;
use crate::table::label::EMPTY_TEXT;
use crate::value::Notation;

/// What a missing value is called once it is generalized; if that is a value, it stands in more brackets.
pub const MISSING: &str = "(missing)";

/// Makes labels for values.
trait Labels {
    /// The labels of a value at level 1, 2, ... below the top; `None` if the value is not of this kind.
    fn labels(&self, value: &str, notation: &Notation) -> Option<Vec<String>>;

    /// How many labels each value has: the levels between the values and the top.
    fn n_levels(&self) -> usize;

    /// What the values should have been, for messages: "whole numbers or decimals".
    fn kind(&self, notation: &Notation) -> String;

    /// Is this a value of the declared domain, whether or not it occurs?
    fn declares(&self, _: &str) -> bool {
        false
    }

    /// How many leaves the declared domain has, and how many of them lie under a label, where the user declared a
    /// domain. Without one, the leaves are the values that occur.
    fn domain<'a>(&'a self, _: &'a Notation) -> Option<Domain<'a>> {
        None
    }
}

/// The leaves of a declared domain.
struct Domain<'a> {
    n_leaves: u64,
    under: LeavesUnder<'a>,
}

/// How many leaves lie under the label that a value has at a level from 1 on, below the top.
type LeavesUnder<'a> = Box<dyn Fn(&str, usize) -> u64 + 'a>;

/// A hierarchy made from a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Spec {
    /// Numbers or dates in ever wider half-open intervals.
    Intervals(Box<Intervals>),
    /// Calendar units.
    Dates(Dates),
    /// One character after the other replaced.
    Mask(Mask),
    /// A tree of labels.
    Tree(Tree),
    /// Codes of a public classification.
    Codes(Classification),
    /// Kept, or `*`.
    Suppression,
}

impl Spec {
    /// The hierarchy for the values of a column. `missing` renames the branch of the missing value.
    pub fn build(&self, column: &Column, missing: Option<&str>) -> Result<Hierarchy> {
        let (masked, tree);
        let labels: &dyn Labels = match self {
            Spec::Intervals(intervals) => &**intervals,
            Spec::Dates(dates) => dates,
            Spec::Mask(mask) => {
                let mut longer = LONGER.to_owned();
                while missing == Some(&longer) || column.dictionary().code(&longer).is_some() {
                    longer = format!("({longer})");
                }
                masked = mask.fitted(column.dictionary().values().filter(|value| !is_empty(value)), longer);
                &masked
            }
            Spec::Tree(rule) => {
                tree = rule.fitted(column);
                &tree
            }
            Spec::Codes(classification) => classification,
            Spec::Suppression => &Nothing,
        };
        // Where nobody says what missing values are called, it is something that is no value.
        let is_value = |name: &str| column.dictionary().code(name).is_some() || labels.declares(name);
        let mut default = MISSING.to_owned();
        while missing.is_none() && is_value(&default) {
            default = format!("({default})");
        }
        build(labels, column, missing.unwrap_or(&default))
    }

    /// The values of a declared domain (the leaves of a tree, the whole numbers or days within bounds), where there is
    /// one of at most `limit` values.
    pub fn declared_values(&self, limit: u64) -> Option<Vec<String>> {
        let values = match self {
            Spec::Intervals(intervals) => intervals.declared_values(limit)?,
            Spec::Tree(tree) => tree.leaves().map(str::to_owned).collect(),
            Spec::Dates(_) | Spec::Mask(_) | Spec::Codes(_) | Spec::Suppression => return None,
        };
        (values.len() as u64 <= limit).then_some(values)
    }
}

/// No level between the values and the top.
struct Nothing;

impl Labels for Nothing {
    fn labels(&self, _: &str, _: &Notation) -> Option<Vec<String>> {
        Some(Vec::new())
    }

    fn n_levels(&self) -> usize {
        0
    }

    fn kind(&self, _: &Notation) -> String {
        "values".into()
    }
}

fn build(spec: &dyn Labels, column: &Column, missing: &str) -> Result<Hierarchy> {
    let notation = column.notation();
    let paths: Vec<Option<Vec<String>>> = column
        .dictionary()
        .values()
        .map(|value| {
            let labels = if is_empty(value) {
                Some(vec![missing.to_owned(); spec.n_levels()])
            } else {
                spec.labels(value, notation)
            }?;
            debug_assert_eq!(labels.len(), spec.n_levels());
            let top = std::iter::once(SUPPRESSED.to_owned());
            Some(std::iter::once(value.to_owned()).chain(labels).chain(top).collect())
        })
        .collect();
    let n_strange = paths.iter().filter(|path| path.is_none()).count();
    if n_strange > 0 {
        let is_strange = |code: &u32| paths[*code as usize].is_none();
        let first = column.codes().iter().position(is_strange);
        let first = first.map_or(String::new(), |row_idx| format!(" (first in record {})", row_idx + 1));
        return Err(Error::input(format!(
            "column `{}`: {n_strange} of {} values are not {}{first}",
            column.name(),
            paths.len(),
            spec.kind(notation)
        ))
        .with_hint("clean them, give the column another hierarchy, or leave the cell empty where the value is missing"));
    }
    let mut hierarchy = ExplicitHierarchy::new(column.name(), "rule");
    for (at, path) in paths.iter().flatten().enumerate() {
        hierarchy.push(at as u64 + 1, path.iter().map(String::as_str))?;
    }
    if paths.is_empty() {
        return Ok(Hierarchy::suppression([]));
    }
    let has_empty = column.dictionary().values().any(is_empty);
    let is_declared = has_empty && spec.n_levels() > 0 && spec.declares(missing);
    // A rule covers what it names; only what missing values are called is the user's choice.
    let hierarchy = hierarchy.finish().ok().filter(|_| !is_declared).ok_or_else(|| {
        Error::input(format!("column `{}`: what missing values are called is itself a value", column.name()))
            .with_hint("a release would state what is not so: call them something else (`missing`)")
    })?;
    let Some(domain) = spec.domain(notation) else {
        return Ok(hierarchy);
    };
    // The missing value and the empty text are leaves beside the declared ones, if they occur.
    let n_empty = column.dictionary().values().filter(|value| is_empty(value)).count() as u64;
    Ok(hierarchy.with_domain(domain.n_leaves + n_empty, |level, value| {
        if is_empty(value) { n_empty } else { (domain.under)(value, usize::from(level)) }
    }))
}

/// Is this the missing value or the empty text, which no rule is made for?
fn is_empty(value: &str) -> bool {
    value.is_empty() || value == EMPTY_TEXT
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::table::Role;

    /// The labels of each cell's value at every level, top included.
    pub(in crate::hierarchy) fn paths(spec: &Spec, cells: &[&str]) -> Result<Vec<Vec<String>>> {
        let mut column = Column::new("c", Role::QuasiIdentifier);
        for &cell in cells {
            if cell == EMPTY_TEXT { column.push_text("") } else { column.push(cell) }.unwrap();
        }
        let hierarchy = spec.build(&column, None)?;
        Ok(cells
            .iter()
            .map(|cell| {
                let leaf = hierarchy.labels(0).code(cell).unwrap();
                let label =
                    |level| hierarchy.labels(level).value(hierarchy.generalize(leaf, 0, level)).to_owned();
                (1..=hierarchy.height()).map(label).collect()
            })
            .collect())
    }

    #[test]
    fn strange_values_are_counted_and_located_not_shown() {
        let years = Spec::Dates(Dates::new(vec![DateLevel::Year]).unwrap());
        let error = paths(&years, &["2003-01-02", "soon", "2003-01-03", "later"]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "column `c`: 2 of 4 values are not dates like 2003-04-17 (first in record 2)"
        );
    }

    #[test]
    fn a_missing_value_has_a_branch_of_its_own() {
        let years = Spec::Dates(Dates::new(vec![DateLevel::Year]).unwrap());
        assert_eq!(paths(&years, &["2003-01-02", ""]).unwrap(), [["2003", "*"], ["(missing)", "*"]]);
        assert_eq!(paths(&Spec::Suppression, &["a", ""]).unwrap(), [["*"], ["*"]]);
    }

    #[test]
    fn missing_values_are_not_called_like_a_value() {
        let refused = |spec: &Spec, cells: &[&str], missing: &str| {
            let column = Column::from_cells("c", Role::QuasiIdentifier, cells.iter().copied()).unwrap();
            spec.build(&column, Some(missing)).err().map(|error| error.to_string())
        };
        let says = Some("column `c`: what missing values are called is itself a value".to_owned());
        let mask = Spec::Mask(Mask::new(MaskFrom::Right));
        assert_eq!(refused(&mask, &["53", "99", ""], "99"), says);
        assert_eq!(refused(&mask, &["53", "99"], "99"), None, "nothing is missing");
        assert_eq!(refused(&mask, &["53", ""], "99"), None);
        // Without a name of the user's there is another one.
        assert_eq!(paths(&mask, &["(missing)", ""]).unwrap()[1][0], "((missing))");
        // A value of the tree that does not occur is a value all the same.
        let tree = Spec::Tree(Tree::parse("x\n  a\n  b").unwrap());
        assert_eq!(refused(&tree, &["a", ""], "b"), says);
        assert_eq!(refused(&tree, &["a", ""], "x"), None);
    }

    #[test]
    fn a_mask_covers_what_it_looks_like_whatever_the_values_contain() {
        let values = ["5***", "53**", "53*1", "****", "*", "53", "5301", "*301", "3*", "5*"];
        for side in [MaskFrom::Right, MaskFrom::Left] {
            for mask in [Mask::new(side), Mask::new(side).with_length(6)] {
                assert!(paths(&Spec::Mask(mask), &values).is_ok(), "{side:?}");
            }
        }
    }

    #[test]
    fn the_empty_text_has_the_labels_of_the_missing_value_and_no_length() {
        let mask = Spec::Mask(Mask::new(MaskFrom::Right));
        let labels = [["5*", "*"], ["(missing)", "*"], ["(missing)", "*"]];
        assert_eq!(paths(&mask, &["53", "", EMPTY_TEXT]).unwrap(), labels);
        assert_eq!(paths(&mask, &["", EMPTY_TEXT]).unwrap(), [["*"], ["*"]]);
    }

    #[test]
    fn no_values_make_no_problem() {
        assert!(paths(&Spec::Suppression, &[]).unwrap().is_empty());
        assert!(paths(&Spec::Mask(Mask::new(MaskFrom::Right)), &[]).unwrap().is_empty());
    }
}
