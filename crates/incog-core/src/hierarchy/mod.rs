//! What may a value become?
//!
//! A [`Hierarchy`] is the paper's domain generalization hierarchy: level 0 holds the values as collected (the
//! leaves), each further level fewer and vaguer labels, and every label has exactly one parent one level up
//! (the function γ). Following parents several times is γ⁺, and composing the steps gives the same label as
//! jumping at once. A level is a code map, so generalizing a cell is an array access.
//!
//! **A label never states what is not so.** A label that is also a value says, in a release, that a cell has this value. Where it
//! does not cover the value, that would be false, and the hierarchy is refused; where it covers others as well, it may be, and
//! is counted ([`Hierarchy::ambiguous`]). An empty label says that there is no value.
//!
//! [`Attribute`] ties a hierarchy to a column of a table: it refuses a hierarchy that does not cover every
//! value. [`Attributes`] is the quasi-identifier: all of them, in declared order.

mod attribute;
mod explicit;
pub mod spec;
pub mod by_counts;
pub(crate) mod spelling;

pub use attribute::{Attribute, Attributes};
pub use explicit::ExplicitHierarchy;

use crate::table::Dictionary;
use crate::table::label::EMPTY_TEXT;

/// More quasi-identifiers than this are refused. (If each can be generalized, they have 2⁶⁴ combinations of levels.)
pub const MAX_ATTRIBUTES: usize = 64;

/// The label of everything, where a hierarchy gives no other top.
pub const SUPPRESSED: &str = "*";

/// Labels level by level, each with its parent.
///
/// # Invariants
/// At least one level, of fewer than 255 in all. `parents` of a level has one entry per label, each a label
/// code of the next level; the last level has none. Every label has a leaf below it.
#[derive(Debug, Clone)]
pub struct Hierarchy {
    levels: Vec<Level>,
    /// Leaves of the whole domain, whether or not they are among level 0's labels.
    n_leaves: u64,
}

#[derive(Debug, Clone, Default)]
struct Level {
    labels: Dictionary,
    parents: Vec<u32>,
    /// How many leaves lie below each label.
    leaves: Vec<u64>,
}

impl Hierarchy {
    /// Keep a value or replace it by `*`: two levels.
    pub fn suppression<'a>(values: impl IntoIterator<Item = &'a str>) -> Self {
        let mut labels = Dictionary::default();
        for value in values {
            labels.intern(value).expect("the values came from a dictionary");
        }
        let mut top = Dictionary::default();
        if !labels.is_empty() {
            top.intern(SUPPRESSED);
        }
        let parents = vec![0; labels.len()];
        Hierarchy::from_levels(vec![
            Level { labels, parents, leaves: Vec::new() },
            Level { labels: top, parents: Vec::new(), leaves: Vec::new() },
        ])
    }

    /// Completes the levels by counting leaves.
    fn from_levels(mut levels: Vec<Level>) -> Self {
        debug_assert!(!levels.is_empty() && levels.len() < 255);
        levels[0].leaves = vec![1; levels[0].labels.len()];
        for level in 1..levels.len() {
            let mut leaves = vec![0; levels[level].labels.len()];
            let below = &levels[level - 1];
            debug_assert_eq!(below.parents.len(), below.labels.len());
            for (&parent, &n) in below.parents.iter().zip(&below.leaves) {
                leaves[parent as usize] += n;
            }
            debug_assert!(leaves.iter().all(|&n| n > 0));
            levels[level].leaves = leaves;
        }
        Hierarchy { n_leaves: levels[0].labels.len() as u64, levels }
    }

    /// The same hierarchy over a declared domain of `n_leaves` leaves, of which `under` says how many lie below the
    /// label that a value has at a level between the values and the top.
    fn with_domain(mut self, n_leaves: u64, under: impl Fn(u8, &str) -> u64) -> Self {
        for level in 1..=self.height() {
            for leaf in 0..self.labels(0).len() as u32 {
                let label = self.generalize(leaf, 0, level) as usize;
                let n =
                    if level == self.height() { n_leaves } else { under(level, self.labels(0).value(leaf)) };
                self.levels[usize::from(level)].leaves[label] = n;
            }
        }
        self.n_leaves = n_leaves;
        self
    }

    /// The same hierarchy with a leaf for the empty text, where it has one for the missing value: both have the labels that a
    /// hierarchy gives to an empty field, but where that label is empty as well, each keeps its own.
    fn with_empty_text(mut self) -> Self {
        let Some(mut missing) = self.labels(0).code("").filter(|_| self.labels(0).code(EMPTY_TEXT).is_none())
        else {
            return self;
        };
        self.n_leaves += 1;
        let top = self.levels.len() - 1;
        let mut is_apart = true;
        for at in 0..=top {
            let above = self.levels.get(at + 1).map(|_| self.levels[at].parents[missing as usize]);
            let stays_apart = at + 1 < top
                && above.is_some_and(|above| {
                    let labels = &self.levels[at + 1].labels;
                    labels.value(above).is_empty() && labels.code(EMPTY_TEXT).is_none()
                });
            let n_above = self.levels.get(at + 1).map_or(0, |level| level.labels.len()) as u32;
            let level = &mut self.levels[at];
            if is_apart {
                level.labels.intern(EMPTY_TEXT);
                level.leaves.push(1);
                level.parents.extend(above.map(|above| if stays_apart { n_above } else { above }));
            } else {
                level.leaves[missing as usize] += 1;
            }
            is_apart &= stays_apart;
            missing = above.unwrap_or(missing);
        }
        self
    }

    /// The same hierarchy for values that stand for leaves and are written otherwise: each takes the place of its leaf, or stands beside
    /// it where that is a value itself, or is taken. `spelled` has the value and the place of its leaf. Unchanged where a label would
    /// then state what is not so.
    fn respelled(self, spelled: &[(&str, usize)], occurs: impl Fn(&str) -> bool) -> Self {
        let mut names: Vec<String> = self.labels(0).values().map(str::to_owned).collect();
        let mut is_taken: Vec<bool> = names.iter().map(|name| occurs(name)).collect();
        let mut respelled = self.clone();
        for &(value, leaf) in spelled {
            if !std::mem::replace(&mut is_taken[leaf], true) {
                names[leaf] = value.to_owned();
                continue;
            }
            names.push(value.to_owned());
            respelled.n_leaves += 1;
            respelled.levels[0].leaves.push(1);
            if let Some(&parent) = respelled.levels[0].parents.get(leaf) {
                respelled.levels[0].parents.push(parent);
            }
            for level in 1..=respelled.height() {
                let label = respelled.generalize(leaf as u32, 0, level) as usize;
                respelled.levels[usize::from(level)].leaves[label] += 1;
            }
        }
        let mut labels = Dictionary::default();
        for name in &names {
            labels.intern(name);
        }
        respelled.levels[0].labels = labels;
        if respelled.false_label().is_some() { self } else { respelled }
    }

    /// Only some of the levels, ascending: the others cannot be chosen. Loss is still measured against all leaves.
    fn restricted(&self, numbers: &[u8]) -> Self {
        debug_assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]));
        let levels = numbers.iter().enumerate().map(|(at, &number)| {
            let level = &self.levels[usize::from(number)];
            let parents = numbers.get(at + 1).map_or_else(Vec::new, |&up| {
                (0..level.labels.len() as u32).map(|label| self.generalize(label, number, up)).collect()
            });
            Level { labels: level.labels.clone(), parents, leaves: level.leaves.clone() }
        });
        Hierarchy { levels: levels.collect(), n_leaves: self.n_leaves }
    }

    /// The first label of a level from 1 on that is a value which it does not cover: (level, label). Takes as long as the
    /// hierarchy is large.
    fn false_label(&self) -> Option<(u8, u32)> {
        self.above().find_map(|(level, of_leaf)| {
            let labels = self.labels(level);
            let is_false = |label: &u32| {
                let value = labels.value(*label);
                match self.labels(0).code(value) {
                    Some(leaf) => of_leaf[leaf as usize] != *label,
                    // Nobody's value is missing, and the label says it is.
                    None => value.is_empty(),
                }
            };
            (0..labels.len() as u32).find(is_false).map(|label| (level, label))
        })
    }

    /// How many labels of each level are a value and cover others, too: whoever reads one of them may take it for that value.
    /// From level 0 on, where there are none.
    pub fn ambiguous(&self) -> Vec<u64> {
        let above = self.above().map(|(level, of_leaf)| {
            let is_value = |label: u32| {
                let leaf = self.labels(0).code(self.labels(level).value(label));
                leaf.is_some_and(|leaf| of_leaf[leaf as usize] == label)
            };
            let n_labels = self.labels(level).len() as u32;
            (0..n_labels).filter(|&label| self.leaves_under(level, label) > 1 && is_value(label)).count()
                as u64
        });
        std::iter::once(0).chain(above).collect()
    }

    /// Each level from 1 on, with the label of each leaf.
    fn above(&self) -> impl Iterator<Item = (u8, Vec<u32>)> {
        let mut of_leaf: Vec<u32> = (0..self.labels(0).len() as u32).collect();
        (1..=self.height()).map(move |level| {
            of_leaf.iter_mut().for_each(|label| *label = self.parent(level - 1, *label));
            (level, of_leaf.clone())
        })
    }

    /// The number of the highest level; 0 when nothing can be generalized.
    pub fn height(&self) -> u8 {
        (self.levels.len() - 1) as u8
    }

    /// How many leaves the hierarchy has, whether or not they occur in the data.
    pub fn n_leaves(&self) -> u64 {
        self.n_leaves
    }

    /// The labels of a level.
    pub fn labels(&self, level: u8) -> &Dictionary {
        &self.levels[usize::from(level)].labels
    }

    /// How many leaves a label of a level stands for.
    pub fn leaves_under(&self, level: u8, label: u32) -> u64 {
        self.levels[usize::from(level)].leaves[label as usize]
    }

    /// The label one level up: the paper's γ.
    ///
    /// # Panics
    /// At the highest level.
    pub fn parent(&self, level: u8, label: u32) -> u32 {
        self.levels[usize::from(level)].parents[label as usize]
    }

    /// The label at level `to` of a label at level `from`: γ applied `to - from` times.
    ///
    /// # Panics
    /// When `to` lies below `from` or above the top.
    pub fn generalize(&self, label: u32, from: u8, to: u8) -> u32 {
        assert!(from <= to, "generalizing goes up");
        (from..to).fold(label, |label, level| self.parent(level, label))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn zipcodes() -> Hierarchy {
        let mut rows = ExplicitHierarchy::new("zip", "zip.csv");
        for (line, zip) in ["53715", "53710", "53706", "53703"].into_iter().enumerate() {
            rows.push(line as u64 + 1, [zip, &format!("{}*", &zip[..4]), "537**"]).unwrap();
        }
        rows.finish().unwrap()
    }

    #[test]
    fn generalizing_step_by_step_equals_jumping_at_once() {
        let zip = zipcodes();
        for leaf in 0..4 {
            for middle in 0..=2 {
                let detour = zip.generalize(zip.generalize(leaf, 0, middle), middle, 2);
                assert_eq!(detour, zip.generalize(leaf, 0, 2));
            }
        }
    }

    #[test]
    fn values_that_are_written_otherwise_take_the_place_of_their_leaves() {
        use crate::table::{Column, Role};
        let ages = || {
            let mut rows = ExplicitHierarchy::new("age", "age.csv");
            for (line, path) in
                [["17", "young", "*"], ["34", "old", "*"], ["35", "old", "*"]].into_iter().enumerate()
            {
                rows.push(line as u64 + 1, path).unwrap();
            }
            rows.finish().unwrap()
        };
        let bound = |cells: &[&'static str]| {
            let column = Column::from_cells("age", Role::QuasiIdentifier, cells.iter().copied()).unwrap();
            Attribute::bind(&column, ages(), "age.csv")
        };
        let floats = bound(&["34.0", "17.0"]).unwrap();
        assert!(floats.hierarchy().labels(0).values().eq(["17.0", "34.0", "35"]), "as written");
        assert_eq!(floats.hierarchy().n_leaves(), 3);
        assert_eq!(floats.labels_at(1), [1, 0]);
        let both = bound(&["34.0", "34", "+34"]).unwrap();
        assert_eq!(both.hierarchy().n_leaves(), 5, "two more ways to write it");
        assert_eq!(both.hierarchy().leaves_under(1, 1), 4);
        assert_eq!(both.labels_at(1), [1, 1, 1]);
        assert!(bound(&["34.0", "x"]).is_err() && bound(&["34.5"]).is_err());
    }

    #[test]
    fn a_label_knows_its_leaves() {
        let zip = zipcodes();
        assert_eq!(zip.height(), 2);
        assert_eq!(zip.n_leaves(), 4);
        assert_eq!(zip.labels(1).values().collect::<Vec<_>>(), ["5371*", "5370*"]);
        assert_eq!(zip.leaves_under(1, 1), 2);
        assert_eq!(zip.leaves_under(2, 0), 4);
    }

    #[test]
    fn the_empty_text_has_the_branch_of_the_missing_value_and_is_not_merged_with_it_below_a_label() {
        let mut rows = ExplicitHierarchy::new("zip", "zip.csv");
        for (line, path) in [["", "", "none", "*"], ["a", "A", "A", "*"]].into_iter().enumerate() {
            rows.push(line as u64 + 1, path).unwrap();
        }
        let hierarchy = rows.finish().unwrap().with_empty_text();
        let path = |value: &str| {
            let leaf = hierarchy.labels(0).code(value).unwrap();
            let label = |level| hierarchy.labels(level).value(hierarchy.generalize(leaf, 0, level));
            [0, 1, 2, 3].map(label)
        };
        assert_eq!(path(""), ["", "", "none", "*"]);
        assert_eq!(path(EMPTY_TEXT), [EMPTY_TEXT, EMPTY_TEXT, "none", "*"]);
        assert_eq!(path("a"), ["a", "A", "A", "*"]);
        let leaves =
            |level, label| hierarchy.leaves_under(level, hierarchy.labels(level).code(label).unwrap());
        assert_eq!((leaves(1, ""), leaves(1, EMPTY_TEXT), leaves(2, "none"), leaves(3, "*")), (1, 1, 2, 3));
        assert_eq!(hierarchy.n_leaves(), 3);
        assert_eq!(
            zipcodes().with_empty_text().n_leaves(),
            4,
            "without a branch for the missing value there is none"
        );
    }

    #[test]
    fn labels_that_are_values_and_cover_others_are_counted_by_level() {
        let mut rows = ExplicitHierarchy::new("c", "c.csv");
        for (line, path) in
            [["a", "a", "a", "*"], ["b", "b", "*", "*"], ["c", "b", "*", "*"], ["*", "*", "*", "*"]]
                .into_iter()
                .enumerate()
        {
            rows.push(line as u64 + 1, path).unwrap();
        }
        // `b` covers c at level 1; `*` is a value, and covers others from level 2 on.
        assert_eq!(rows.finish().unwrap().ambiguous(), [0, 1, 1, 1]);
        assert_eq!(zipcodes().ambiguous(), [0, 0, 0]);
        assert_eq!(Hierarchy::suppression(["a", "*"]).ambiguous(), [0, 1]);
    }

    #[test]
    fn suppression_has_one_step() {
        let sex = Hierarchy::suppression(["f", "m", ""]);
        assert_eq!((sex.height(), sex.n_leaves()), (1, 3));
        assert_eq!(sex.labels(1).value(sex.generalize(2, 0, 1)), "*");
        assert_eq!(Hierarchy::suppression([]).n_leaves(), 0);
    }
}
