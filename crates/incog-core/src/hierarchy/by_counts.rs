//! Hierarchies that depend on how many rows have a value: frequent values and the rest, rare siblings merged.
//!
//! What such a hierarchy looks like tells something about the data: that a value is frequent, that another is not. The release is judged
//! like any other, and whoever runs the job is told.
//!
//! **Frequent.** The most frequent values are kept, the rest is [`OTHER`]. Among equals the first by its text is kept. A missing value has
//! its own branch and is in neither.
//!
//! **Rare.** One level is put above the values of a hierarchy, on which every label has at least a given number of rows, if all together do:
//!
//! 1. A label of the hierarchy with fewer rows below it is *rare*; so is a value.
//! 2. Rare siblings are merged. Where together they are too few, the smallest sibling that is not rare joins them.
//! 3. What was merged is called `other` and the label above; where it is all there is, like that label itself.
//!
//! Levels above are those of the hierarchy, but for labels of which a part was merged with siblings: their values have the merged label
//! until the level where these meet. So labels nest. Cost: one pass over the values for each level.

use std::collections::BTreeMap;

use crate::error::{Error, Result};
use crate::hierarchy::spec::MISSING;
use crate::hierarchy::{ExplicitHierarchy, Hierarchy, SUPPRESSED};
use crate::table::Column;
use crate::table::label::EMPTY_TEXT;

/// What the values are called that are not frequent.
pub const OTHER: &str = "other";

/// A name that is no value of the column and no label of the hierarchy: the wanted one, in brackets if need be.
fn free(wanted: &str, column: &Column, base: Option<&Hierarchy>) -> String {
    let is_label = |name: &str| {
        base.is_some_and(|base| (0..=base.height()).any(|level| base.labels(level).code(name).is_some()))
    };
    let mut name = wanted.to_owned();
    while column.dictionary().code(&name).is_some() || is_label(&name) {
        name = format!("({name})");
    }
    name
}

fn is_missing(value: &str) -> bool {
    value.is_empty() || value == EMPTY_TEXT
}

fn finished(column: &Column, paths: &[Vec<String>]) -> Result<Hierarchy> {
    if paths.is_empty() {
        return Ok(Hierarchy::suppression([]));
    }
    let mut hierarchy = ExplicitHierarchy::new(column.name(), "rule");
    for (at, path) in paths.iter().enumerate() {
        hierarchy.push(at as u64 + 1, path.iter().map(String::as_str))?;
    }
    hierarchy.finish()
}

/// Keeps the `n` most frequent values of a column; `counts` are the rows of each value, by its code.
pub fn frequent(column: &Column, counts: &[u64], n: usize, missing: Option<&str>) -> Result<Hierarchy> {
    if n == 0 {
        return Err(
            Error::input("`frequent` keeps no value").with_hint("write how many are kept: frequent = 20")
        );
    }
    let values: Vec<&str> = column.dictionary().values().collect();
    let mut order: Vec<usize> = (0..values.len()).filter(|&at| !is_missing(values[at])).collect();
    order.sort_by(|&a, &b| counts[b].cmp(&counts[a]).then_with(|| values[a].cmp(values[b])));
    let mut is_kept = vec![false; values.len()];
    order.iter().take(n).for_each(|&at| is_kept[at] = true);
    let other = free(OTHER, column, None);
    let missing = missing.map_or_else(|| free(MISSING, column, None), str::to_owned);
    let label = |at: usize| match (is_missing(values[at]), is_kept[at]) {
        (true, _) => missing.clone(),
        (_, true) => values[at].to_owned(),
        _ => other.clone(),
    };
    let path = |at: usize| vec![values[at].to_owned(), label(at), SUPPRESSED.to_owned()];
    finished(column, &(0..values.len()).map(path).collect::<Vec<_>>())
}

/// Merges rare siblings of a hierarchy; `counts` are the rows of each value of the column, by its code.
pub fn rare(
    column: &Column,
    base: &Hierarchy,
    counts: &[u64],
    least: u64,
    missing: Option<&str>,
) -> Result<Hierarchy> {
    if least == 0 {
        return Err(Error::input("`rare` is 0, so nothing is rare")
            .with_hint("write how many rows are enough: rare = 50"));
    }
    let values: Vec<&str> = column.dictionary().values().collect();
    let height = usize::from(base.height());
    let mut paths = Vec::with_capacity(values.len());
    for value in &values {
        let Some(leaf) = base.labels(0).code(value) else {
            return Err(Error::input(format!(
                "column `{}`: the hierarchy does not cover every value",
                column.name()
            )));
        };
        let label =
            |level: usize| base.labels(level as u8).value(base.generalize(leaf, 0, level as u8)).to_owned();
        paths.push((0..=height).map(label).collect::<Vec<String>>());
    }
    let missing = missing.map_or_else(|| free(MISSING, column, Some(base)), str::to_owned);
    let mut walk = Walk { paths: &paths, counts, least, merged: vec![None; values.len()], column, base };
    walk.node(height, &(0..values.len()).collect::<Vec<_>>());
    let merged = walk.merged;
    let path = |at: usize| {
        let (label, from) = match &merged[at] {
            Some((label, level)) => (label.clone(), *level),
            None if is_missing(values[at]) => (missing.clone(), 0),
            None => (values[at].to_owned(), 0),
        };
        let above =
            (1..height).map(|level| if level < from { label.clone() } else { paths[at][level].clone() });
        let ends = [paths[at][0].clone(), label.clone()];
        ends.into_iter().chain(above).chain([paths[at][height].clone()]).collect()
    };
    finished(column, &(0..values.len()).map(path).collect::<Vec<_>>())
}

/// Merges rare siblings from the values up.
struct Walk<'a> {
    paths: &'a [Vec<String>],
    counts: &'a [u64],
    least: u64,
    /// For each value that is merged with others: the label, and the level at which all of them meet.
    merged: Vec<Option<(String, usize)>>,
    column: &'a Column,
    base: &'a Hierarchy,
}

impl Walk<'_> {
    /// Merges what is rare below one label of a level; how many rows the label has.
    fn node(&mut self, level: usize, values: &[usize]) -> u64 {
        let n_rows = values.iter().map(|&at| self.counts[at]).sum();
        if level == 0 {
            return n_rows;
        }
        // By label, so that nothing depends on the order of rows.
        let mut children: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for &at in values {
            children.entry(&self.paths[at][level - 1]).or_default().push(at);
        }
        let children: Vec<Vec<usize>> = children.into_values().collect();
        let rows: Vec<u64> = children.iter().map(|child| self.node(level - 1, child)).collect();
        // What is rare as a whole is merged further up.
        if n_rows < self.least && level < self.paths[values[0]].len() - 1 {
            return n_rows;
        }
        let mut pool: Vec<usize> = (0..children.len()).filter(|&child| rows[child] < self.least).collect();
        if pool.is_empty() {
            return n_rows;
        }
        if pool.iter().map(|&child| rows[child]).sum::<u64>() < self.least {
            let others = (0..children.len()).filter(|child| rows[*child] >= self.least);
            pool.extend(others.min_by_key(|&child| rows[child]));
        }
        let above = &self.paths[values[0]][level];
        let label = match (pool.len() == children.len(), level == self.paths[values[0]].len() - 1) {
            (true, _) => above.clone(),
            (false, true) => free(OTHER, self.column, Some(self.base)),
            (false, false) => free(&format!("{OTHER} {above}"), self.column, Some(self.base)),
        };
        for &at in pool.iter().flat_map(|&child| &children[child]) {
            self.merged[at] = Some((label.clone(), level));
        }
        n_rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hierarchy::spec::{Spec, Tree};
    use crate::table::Role;

    /// A column in which each value stands so often, and its counts.
    fn column(values: &[(&str, u64)]) -> (Column, Vec<u64>) {
        let cells = values.iter().flat_map(|(value, n)| (0..*n).map(move |_| *value));
        let column = Column::from_cells("c", Role::QuasiIdentifier, cells).unwrap();
        (column, values.iter().map(|(_, n)| *n).collect())
    }

    fn paths(hierarchy: &Hierarchy, values: &[(&str, u64)]) -> Vec<Vec<String>> {
        let path = |(value, _): &(&str, u64)| {
            let leaf = hierarchy.labels(0).code(value).unwrap();
            let label =
                |level| hierarchy.labels(level).value(hierarchy.generalize(leaf, 0, level)).to_owned();
            (1..=hierarchy.height()).map(label).collect()
        };
        values.iter().map(path).collect()
    }

    #[test]
    fn frequent_values_are_kept_and_the_rest_is_other() {
        let values = [("a", 5), ("b", 3), ("c", 3), ("other", 1), ("", 2)];
        let (column, counts) = column(&values);
        let hierarchy = frequent(&column, &counts, 2, None).unwrap();
        assert_eq!(
            paths(&hierarchy, &values),
            [["a", "*"], ["b", "*"], ["(other)", "*"], ["(other)", "*"], ["(missing)", "*"]]
        );
        assert!(frequent(&column, &counts, 0, None).is_err());
    }

    #[test]
    fn rare_siblings_are_merged_until_each_label_has_enough_rows() {
        let values = [("DE", 60), ("FR", 20), ("AT", 10), ("JP", 55), ("CN", 5), ("BR", 8), ("PE", 9)];
        let (column, counts) = column(&values);
        let tree = Tree::parse("Europe\n  DE\n  FR\n  AT\nAsia\n  JP\n  CN\nAmerica\n  BR\n  PE").unwrap();
        let base = Spec::Tree(tree).build(&column, None).unwrap();
        let check = |least: u64, expected: [[&str; 3]; 7]| {
            let hierarchy = rare(&column, &base, &counts, least, None).unwrap();
            assert_eq!(paths(&hierarchy, &values), expected, "{least}");
        };
        // France and Austria together are enough; China needs Japan, which is all of Asia; America joins the smallest continent.
        check(
            30,
            [
                ["DE", "Europe", "*"],
                ["other Europe", "Europe", "*"],
                ["other Europe", "Europe", "*"],
                ["other", "other", "*"],
                ["other", "other", "*"],
                ["other", "other", "*"],
                ["other", "other", "*"],
            ],
        );
        check(
            8,
            [
                ["DE", "Europe", "*"],
                ["FR", "Europe", "*"],
                ["AT", "Europe", "*"],
                ["Asia", "Asia", "*"],
                ["Asia", "Asia", "*"],
                ["BR", "America", "*"],
                ["PE", "America", "*"],
            ],
        );
        check(1000, [["*", "*", "*"]; 7]);
    }

    /// On random trees: each label of the new level has enough rows, and levels nest (or there would be no hierarchy).
    #[test]
    fn every_label_has_enough_rows_whatever_the_tree() {
        let mut state = 11_u64;
        let mut below = |n: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % n
        };
        for _ in 0..300 {
            let names: Vec<(String, u64)> = (0..3 + below(40))
                .map(|at| (format!("{}{}{}", below(3), below(3), at), 1 + below(30)))
                .collect();
            let values: Vec<(&str, u64)> = names.iter().map(|(name, n)| (name.as_str(), *n)).collect();
            let (column, counts) = column(&values);
            let mut base = ExplicitHierarchy::new("c", "test");
            for (at, (value, _)) in values.iter().enumerate() {
                base.push(at as u64, [value, &value[..2], &value[..1], "*"]).unwrap();
            }
            let least = 1 + below(60);
            let hierarchy = rare(&column, &base.finish().unwrap(), &counts, least, None).unwrap();
            let mut rows: BTreeMap<String, u64> = BTreeMap::new();
            for (path, (_, n)) in paths(&hierarchy, &values).iter().zip(&values) {
                *rows.entry(path[0].clone()).or_default() += n;
            }
            let enough = least.min(counts.iter().sum());
            assert!(rows.values().all(|&n| n >= enough), "{rows:?} {least}");
        }
    }
}
