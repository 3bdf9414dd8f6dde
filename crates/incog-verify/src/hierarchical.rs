//! How far is a group from the whole release, where values have a hierarchy?
//!
//! The earth mover's distance with hierarchical distances (Li, Li, Venkatasubramanian, ICDE 2007): two values are as far
//! apart as the level of their lowest common label, over the height. In the tree, a label whose branches have too much
//! in one place and too little in another settles the lesser of both sums, at the cost of its level; what is left goes
//! on to the label above.
//!
//! A branch has too much by N·C − n·P over n·N, with C and P its rows in the group and in the release. A label under
//! which the group has nothing only lacks, and settles nothing: a group costs its values times the height.
//!
//! Values that have no common label up to the top are one level farther apart, and that is the height then: as if there
//! was one more label above all.

use crate::Fraction;
use crate::hash;
use crate::words::counted;

/// The labels above the values of a column.
pub(crate) struct Tree {
    /// `parents[level][label]` is the label one level up; those of level 0 are the column's values.
    parents: Vec<Vec<u32>>,
    /// `rows[level][label]`: how many rows of the release are below.
    rows: Vec<Vec<u64>>,
    n_rows: u64,
}

impl Tree {
    /// From rows `value, level 1, ..., top`, which may have values that do not occur. What is wrong with them otherwise.
    pub(crate) fn new(paths: &[Vec<String>], labels: &[&str], overall: &[u64]) -> Result<Self, String> {
        let height = paths.first().map_or(0, Vec::len).saturating_sub(1);
        if let Some(at) = paths.iter().position(|path| path.len() != height + 1) {
            return Err(format!("row {} of the hierarchy has not as many labels as the first", at + 1));
        }
        // Values get the numbers that the column has for them, others follow.
        let mut numbers: Vec<hash::Map<&str, u32>> = vec![hash::Map::default(); height + 1];
        for (value, &label) in labels.iter().enumerate() {
            numbers[0].insert(label, value as u32);
        }
        let mut parents: Vec<Vec<Option<u32>>> = vec![Vec::new(); height];
        for (at, path) in paths.iter().enumerate() {
            let mut below = None;
            for (level, label) in path.iter().enumerate() {
                let next = numbers[level].len() as u32;
                let number = *numbers[level].entry(label).or_insert(next);
                if let Some(below) = below.replace(number) {
                    let parents: &mut Vec<Option<u32>> = &mut parents[level - 1];
                    parents.resize(parents.len().max(below as usize + 1), None);
                    if parents[below as usize].replace(number).is_some_and(|other| other != number) {
                        return Err(format!(
                            "row {} of the hierarchy puts a label of level {} below a second label",
                            at + 1,
                            level - 1
                        ));
                    }
                }
            }
        }
        let known: hash::Set<&str> = paths.iter().map(|path| path[0].as_str()).collect();
        let missing =
            labels.iter().zip(overall).filter(|&(label, &n)| n > 0 && !known.contains(label)).count();
        if missing > 0 {
            return Err(format!(
                "{} not in the hierarchy",
                counted(missing as u64, "value is", "values are")
            ));
        }
        // Values that do not occur have no rows, so it does not matter what they are below.
        let mut parents: Vec<Vec<u32>> = parents
            .into_iter()
            .map(|parents| parents.into_iter().map(|parent| parent.unwrap_or(0)).collect())
            .collect();
        let top: hash::Set<&str> = paths.iter().map(|path| path[height].as_str()).collect();
        if top.len() > 1 {
            parents.push(vec![0; numbers[height].len()]);
        }
        let mut rows = vec![overall.to_vec()];
        for (level, parents) in parents.iter().enumerate() {
            let mut above = vec![0; parents.iter().max().map_or(0, |&most| most as usize + 1)];
            for (&parent, &n) in parents.iter().zip(&rows[level]) {
                above[parent as usize] += n;
            }
            rows.push(above);
        }
        Ok(Tree { parents, rows, n_rows: overall.iter().sum() })
    }

    /// The distance of a group with these values and counts.
    pub(crate) fn distance(&self, counts: &[(u32, u64)]) -> Fraction {
        let size: u64 = counts.iter().map(|&(_, n)| n).sum();
        let excess = |level: usize, label: u32, n: u64| {
            let all = self.rows[level][label as usize];
            // Below 2⁶⁴ each: there are fewer than 2³² rows.
            i128::from(n) * i128::from(self.n_rows) - i128::from(all) * i128::from(size)
        };
        let mut here: Vec<(u32, u64)> = counts.to_vec();
        let mut moved = 0_u128;
        for (level, parents) in self.parents.iter().enumerate() {
            // What branches of a label have too much, together, and how many rows the label has.
            let mut above: hash::Map<u32, (i128, u64)> = hash::Map::default();
            for &(label, n) in &here {
                let (too_much, rows) = above.entry(parents[label as usize]).or_default();
                *too_much += excess(level, label, n).max(0);
                *rows += n;
            }
            here.clear();
            for (label, (too_much, rows)) in above {
                // Too much less too little is what the label itself has too much.
                let too_little = too_much - excess(level + 1, label, rows);
                moved += too_much.min(too_little).unsigned_abs() * (level as u128 + 1);
                here.push((label, rows));
            }
        }
        let whole = u128::from(size) * u128::from(self.n_rows) * self.parents.len().max(1) as u128;
        Fraction::new(moved, whole).unwrap_or(Fraction::from(0))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn paths(rows: &[&[&str]]) -> Vec<Vec<String>> {
        rows.iter().map(|path| path.iter().map(|&label| label.to_owned()).collect()).collect()
    }

    /// Li et al., ICDE 2007, figure 1 and section 5: digestive and respiratory diseases.
    #[test]
    fn values_below_one_label_are_nearer_than_others() {
        let rows = paths(&[
            &["flu", "respiratory", "*"],
            &["cough", "respiratory", "*"],
            &["ulcer", "digestive", "*"],
            &["cancer", "digestive", "*"],
        ]);
        let tree = Tree::new(&rows, &["flu", "cough", "ulcer", "cancer"], &[1, 1, 1, 1]).unwrap();
        // A quarter moves by 1/2 (flu to cough), a half by 1.
        assert_eq!(tree.distance(&[(0, 1)]), Fraction::new(5, 8).unwrap());
        assert_eq!(tree.distance(&[(0, 1), (1, 1)]), Fraction::new(1, 2).unwrap());
        assert_eq!(tree.distance(&[(0, 1), (2, 1)]), Fraction::new(1, 4).unwrap());
        assert_eq!(tree.distance(&[(0, 1), (1, 1), (2, 1), (3, 1)]), Fraction::from(0));
    }

    #[test]
    fn without_a_common_top_there_is_one_level_more() {
        let rows = paths(&[&["a", "x"], &["b", "x"], &["c", "y"]]);
        let tree = Tree::new(&rows, &["c", "b", "a"], &[2, 1, 1]).unwrap();
        // Half of it moves from below x to c, by two of two levels.
        assert_eq!(tree.distance(&[(1, 1), (2, 1)]), Fraction::new(1, 2).unwrap());
        // A quarter by one level, half by two.
        assert_eq!(tree.distance(&[(1, 1)]), Fraction::new(5, 8).unwrap());
        let flat = Tree::new(&paths(&[&["a"], &["b"]]), &["a", "b"], &[3, 1]).unwrap();
        assert_eq!(flat.distance(&[(1, 1)]), Fraction::new(3, 4).unwrap(), "all equally far apart");
        let single = Tree::new(&paths(&[&["a"]]), &["a"], &[3]).unwrap();
        assert_eq!(single.distance(&[(0, 1)]), Fraction::from(0));
    }

    #[test]
    fn a_hierarchy_that_is_no_tree_or_lacks_values_is_refused_without_telling_them() {
        let problem = |rows: &[&[&str]]| Tree::new(&paths(rows), &["a", "b", "c"], &[1, 1, 0]).err();
        assert_eq!(problem(&[&["a", "x"], &["b", "x"]]), None, "c does not occur");
        assert_eq!(problem(&[&["a", "x"], &["d", "x"]]).unwrap(), "1 value is not in the hierarchy");
        assert_eq!(problem(&[]).unwrap(), "2 values are not in the hierarchy");
        assert_eq!(
            problem(&[&["a", "x"], &["b"]]).unwrap(),
            "row 2 of the hierarchy has not as many labels as the first"
        );
        assert_eq!(
            problem(&[&["a", "x", "*"], &["b", "x", "+"]]).unwrap(),
            "row 2 of the hierarchy puts a label of level 1 below a second label"
        );
        assert_eq!(
            problem(&[&["a", "x"], &["b", "x"], &["a", "y"]]).unwrap(),
            "row 3 of the hierarchy puts a label of level 0 below a second label"
        );
        assert_eq!(problem(&[&["a", "x"], &["b", "x"], &["a", "x"]]), None, "the same twice");
    }

    /// A way to move: always between the nearest places that have too much and too little.
    fn by_moving(group: &[i128], all: &[i128], apart: impl Fn(usize, usize) -> i128, height: i128) -> i128 {
        let (size, n_rows): (i128, i128) = (group.iter().sum(), all.iter().sum());
        let mut left: Vec<i128> = group.iter().zip(all).map(|(n, all)| n * n_rows - all * size).collect();
        let mut cost = 0;
        for level in 1..=height {
            for from in 0..left.len() {
                for to in 0..left.len() {
                    if left[from] > 0 && left[to] < 0 && apart(from, to) == level {
                        let moved = left[from].min(-left[to]);
                        left[from] -= moved;
                        left[to] += moved;
                        cost += moved * level;
                    }
                }
            }
        }
        assert!(left.iter().all(|&rest| rest == 0));
        cost
    }

    proptest! {
        /// Values 0..12; labels of level 1 and 2 by division, so that every label has one parent.
        #[test]
        fn distances_are_those_of_moving_the_earth(
            counts in proptest::collection::vec((0..5_u64, 0..5_u64), 12),
            by in 2..5_usize,
            with_top in any::<bool>(),
        ) {
            let group: Vec<u64> = counts.iter().map(|&(group, _)| group).collect();
            let overall: Vec<u64> = counts.iter().map(|&(group, others)| group + others).collect();
            prop_assume!(group.iter().sum::<u64>() > 0);
            let names: Vec<String> = (0..12).map(|value| format!("v{value}")).collect();
            let rows: Vec<Vec<String>> = (0..12)
                .map(|value| {
                    let mut path =
                        vec![names[value].clone(), (value / by).to_string(), (value / by / 2).to_string()];
                    if with_top {
                        path.push("*".to_owned());
                    }
                    path
                })
                .collect();
            let labels: Vec<&str> = names.iter().map(String::as_str).collect();
            let tree = Tree::new(&rows, &labels, &overall).unwrap();
            let present: Vec<(u32, u64)> =
                group.iter().enumerate().filter(|(_, n)| **n > 0).map(|(at, &n)| (at as u32, n)).collect();
            // Three values or more per label of level 2 leave one label there or several: the top is level 2 or 3.
            let height = if 11 / by / 2 == 0 && !with_top { 2 } else { 3 };
            let apart = |a: usize, b: usize| match () {
                () if a / by == b / by => 1,
                () if a / by / 2 == b / by / 2 => 2,
                () => 3,
            };
            let signed = |counts: &[u64]| counts.iter().map(|&n| i128::from(n)).collect::<Vec<_>>();
            let (group, overall) = (signed(&group), signed(&overall));
            let cost = by_moving(&group, &overall, apart, height);
            // None is cheaper: whatever is too much below a label must leave it, by half a level up and half a level down.
            let (size, n_rows): (i128, i128) = (group.iter().sum(), overall.iter().sum());
            let leaves = |branch: &dyn Fn(usize) -> usize| -> i128 {
                let excess = |label| -> i128 {
                    let below = (0..12).filter(|&value| branch(value) == label);
                    below.map(|value| group[value] * n_rows - overall[value] * size).sum()
                };
                (0..12).map(|label| excess(label).abs()).sum()
            };
            let up = leaves(&|value| value) + leaves(&|value| value / by);
            prop_assert_eq!(2 * cost, up + if height == 3 { leaves(&|value| value / by / 2) } else { 0 });
            let expected = Fraction::new(cost as u128, (height * size * n_rows) as u128).unwrap();
            prop_assert_eq!(tree.distance(&present), expected);
        }
    }
}
