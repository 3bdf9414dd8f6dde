//! A tree of labels, written by indentation or as nested tables.
//!
//! Leaves at unequal depths are brought to one: a shallow leaf keeps its own value as label until its parent's
//! level is reached, so that every label is at the height of its deepest subtree. A label that is also a value must cover it.

use std::collections::BTreeMap;

use crate::error::{Error, Result};
use crate::hash;
use crate::hierarchy::spec::{Domain, Labels};
use crate::hierarchy::spelling::spelled_otherwise;
use crate::table::Column;
use crate::value::Notation;

/// A tree of labels.
///
/// # Invariants
/// Every path has `n_levels` labels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tree {
    /// For each leaf, its labels from level 1 up, below the top.
    paths: BTreeMap<String, Vec<String>>,
    n_levels: usize,
}

/// A label with what is below it; a leaf has nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Branch {
    /// The label, or the value of a leaf.
    pub label: String,
    /// What is below.
    pub below: Vec<Branch>,
}

impl Branch {
    fn height(&self) -> usize {
        self.below.iter().map(|branch| branch.height() + 1).max().unwrap_or(0)
    }
}

impl Tree {
    /// The tree with these branches below its top.
    pub fn new(branches: &[Branch]) -> Result<Self> {
        let tree = Tree::of(branches)?;
        match tree.false_label() {
            Some(_) => Err(states_what_is_not_so("a label of the tree")),
            None => Ok(tree),
        }
    }

    /// The same tree, whatever its labels are.
    fn of(branches: &[Branch]) -> Result<Self> {
        let n_levels = branches.iter().map(Branch::height).max().unwrap_or(0);
        let mut tree = Tree { paths: BTreeMap::new(), n_levels };
        for branch in branches {
            tree.add(branch, &mut Vec::new())?;
        }
        if tree.paths.is_empty() {
            return Err(Error::input("the tree has no values"));
        }
        Ok(tree)
    }

    /// Adds the leaves below a branch. `above` has the labels over it with the height of each, topmost first.
    fn add(&mut self, branch: &Branch, above: &mut Vec<(String, usize)>) -> Result<()> {
        if branch.below.is_empty() {
            let mut labels = Vec::with_capacity(self.n_levels);
            for level in 1..=self.n_levels {
                // The lowest label above the leaf that has risen to this level; the leaf itself before that.
                let label = above.iter().rev().take_while(|(_, height)| *height <= level).last();
                labels.push(label.map_or(&branch.label, |(label, _)| label).clone());
            }
            if self.paths.insert(branch.label.clone(), labels).is_some() {
                return Err(Error::input("a value stands twice in the tree"));
            }
            return Ok(());
        }
        above.push((branch.label.clone(), branch.height()));
        for below in &branch.below {
            self.add(below, above)?;
        }
        above.pop();
        Ok(())
    }

    /// A label that is a value which it does not cover.
    fn false_label(&self) -> Option<&str> {
        let is_false = |level: usize, label: &str| {
            self.paths.get(label).is_some_and(|of_value| of_value[level] != label)
        };
        self.paths.values().find_map(|labels| {
            let mut labels = labels.iter().enumerate();
            labels.find(|(level, label)| is_false(*level, label)).map(|(_, label)| label.as_str())
        })
    }

    /// The values, in order of their text.
    pub(super) fn leaves(&self) -> impl Iterator<Item = &str> {
        self.paths.keys().map(String::as_str)
    }

    /// Reads a tree written by indentation: a line a label, what is indented deeper is below it.
    pub fn parse(text: &str) -> Result<Self> {
        // Branches that are still open, each with its indentation; the outermost stands for the top.
        let mut open = vec![(None, Branch { label: String::new(), below: Vec::new() })];
        for (at, line) in text.lines().enumerate() {
            let label = line.trim();
            if label.is_empty() {
                continue;
            }
            let indentation = Some(line.len() - line.trim_start().len());
            let mut closed = None;
            while open.last().is_some_and(|(above, _)| *above >= indentation) {
                closed = open.last().map(|(above, _)| *above);
                close_last(&mut open);
            }
            // Who follows a sibling stands exactly below it.
            if closed.is_some_and(|closed| closed != indentation) {
                return Err(Error::input(format!(
                    "line {} of the tree is indented unlike the lines above it",
                    at + 1
                )));
            }
            open.push((indentation, Branch { label: label.to_owned(), below: Vec::new() }));
        }
        while open.len() > 1 {
            close_last(&mut open);
        }
        let tree = Tree::of(&open[0].1.below)?;
        let Some(label) = tree.false_label() else {
            return Ok(tree);
        };
        // As a value it stands on another line, with nothing below.
        let indentation = |line: &str| line.len() - line.trim_start().len();
        let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()).peekable();
        while let Some((at, line)) = lines.next() {
            let has_more = lines.peek().is_some_and(|(_, next)| indentation(next) > indentation(line));
            if has_more && line.trim() == label {
                return Err(states_what_is_not_so(&format!("the label on line {} of the tree", at + 1)));
            }
        }
        Err(states_what_is_not_so("a label of the tree"))
    }
}

fn states_what_is_not_so(label: &str) -> Error {
    Error::input(format!("{label} is also a value, which it does not cover")).with_hint(
        "a release would state what is not so: call the label something else, or put the value below it",
    )
}

/// Hangs the last open branch below the one before it.
fn close_last(open: &mut Vec<(Option<usize>, Branch)>) {
    if let Some((_, branch)) = open.pop()
        && let Some((_, parent)) = open.last_mut()
    {
        parent.below.push(branch);
    }
}

impl Tree {
    /// The tree for the values of a column, some of which may be leaves that are written otherwise.
    pub(super) fn fitted(&self, column: &Column) -> FittedTree<'_> {
        let leaves: Vec<&str> = self.leaves().collect();
        let spelled =
            spelled_otherwise(column, leaves.iter().copied(), |value| self.paths.contains_key(value));
        let values = column.dictionary();
        let spelled = spelled.into_iter().map(|(code, at)| (values.value(code).to_owned(), leaves[at]));
        FittedTree { tree: self, spelled: spelled.collect() }
    }
}

/// A tree, and the leaves that values stand for which are written otherwise.
pub(super) struct FittedTree<'a> {
    tree: &'a Tree,
    spelled: hash::Map<String, &'a str>,
}

impl FittedTree<'_> {
    fn path(&self, value: &str) -> Option<&Vec<String>> {
        self.tree.paths.get(self.spelled.get(value).copied().unwrap_or(value))
    }
}

impl Labels for FittedTree<'_> {
    fn labels(&self, value: &str, _: &Notation) -> Option<Vec<String>> {
        self.path(value).cloned()
    }

    fn n_levels(&self) -> usize {
        self.tree.n_levels
    }

    fn kind(&self, _: &Notation) -> String {
        "leaves of the tree".into()
    }

    fn declares(&self, value: &str) -> bool {
        self.tree.paths.contains_key(value)
    }

    fn domain<'a>(&'a self, _: &'a Notation) -> Option<Domain<'a>> {
        let paths = &self.tree.paths;
        Some(Domain {
            n_leaves: paths.len() as u64,
            under: Box::new(|value, level| {
                let label = self.path(value).map(|labels| &labels[level - 1]);
                paths.values().filter(|labels| Some(&labels[level - 1]) == label).count() as u64
            }),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hierarchy::spec::Spec;
    use crate::hierarchy::spec::tests::paths;
    use crate::table::Role;

    #[test]
    fn whole_floats_are_the_whole_numbers_of_the_tree() {
        let tree = Spec::Tree(Tree::parse("young\n  17\n  18\nold\n  90").unwrap());
        let labels = paths(&tree, &["17.0", "18", "9e1", ""]).unwrap();
        assert_eq!(labels, [["young", "*"], ["young", "*"], ["old", "*"], ["(missing)", "*"]]);
        assert!(paths(&tree, &["17.0", "x"]).is_err(), "not a column of numbers");
    }

    const PLACES: &str = "
Europe
    Germany
        Berlin
        Hamburg
    Vatican
Asia
    Japan
        Tokyo
";

    #[test]
    fn a_shallow_leaf_waits_for_its_parents_level() {
        let tree = Spec::Tree(Tree::parse(PLACES).unwrap());
        assert_eq!(
            paths(&tree, &["Hamburg", "Vatican", "Tokyo"]).unwrap(),
            [["Germany", "Europe", "*"], ["Vatican", "Europe", "*"], ["Japan", "Asia", "*"]]
        );
    }

    #[test]
    fn leaves_that_do_not_occur_count_all_the_same() {
        let column = Column::from_cells("place", Role::QuasiIdentifier, ["Berlin", "Tokyo"]).unwrap();
        let hierarchy = Spec::Tree(Tree::parse(PLACES).unwrap()).build(&column, None).unwrap();
        assert_eq!(hierarchy.n_leaves(), 4);
        assert_eq!([0, 1].map(|label| hierarchy.leaves_under(1, label)), [2, 1]);
        assert_eq!([0, 1].map(|label| hierarchy.leaves_under(2, label)), [3, 1]);
        let tree = Spec::Tree(Tree::parse(PLACES).unwrap());
        assert_eq!(tree.declared_values(4).unwrap(), ["Berlin", "Hamburg", "Tokyo", "Vatican"]);
        assert_eq!(tree.declared_values(3), None);
    }

    #[test]
    fn a_label_that_is_a_value_elsewhere_in_the_tree_is_refused_with_its_line() {
        let refused = |text: &str| Tree::parse(text).unwrap_err().to_string();
        assert_eq!(
            refused("b\n  a\n\nc\n  b"),
            "the label on line 1 of the tree is also a value, which it does not cover"
        );
        assert!(Tree::parse("b\n  a\n  b").is_ok(), "it covers the value");
        let above = |label: &str, leaf: &str| {
            let leaf = Branch { label: leaf.to_owned(), below: vec![] };
            Branch { label: label.to_owned(), below: vec![leaf] }
        };
        let branches = [above("b", "a"), above("c", "b")];
        assert!(
            Tree::new(&branches).unwrap_err().to_string().starts_with("a label of the tree is also a value")
        );
    }

    #[test]
    fn trees_that_are_none_are_refused() {
        let refused = |text: &str| Tree::parse(text).unwrap_err().to_string();
        assert_eq!(refused("a\n    b\n  c"), "line 3 of the tree is indented unlike the lines above it");
        assert_eq!(refused("  a\nb"), "line 2 of the tree is indented unlike the lines above it");
        assert_eq!(refused("a\n  b\nc\n  b"), "a value stands twice in the tree");
        assert_eq!(refused(" \n"), "the tree has no values");
        let error = paths(&Spec::Tree(Tree::parse(PLACES).unwrap()), &["Paris"]).unwrap_err().to_string();
        assert_eq!(error, "column `c`: 1 of 1 values are not leaves of the tree (first in record 1)");
    }
}
