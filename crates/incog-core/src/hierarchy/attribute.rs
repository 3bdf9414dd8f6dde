//! A column of the quasi-identifier, tied to its hierarchy.
//!
//! Binding checks that every value of the column is a leaf, then precomputes, for each level, the label of each
//! value code. A value may be a leaf of the hierarchy without occurring in the data, never the other way round. Only the empty
//! text, which no hierarchy can name, takes the branch of the missing value; the two stay apart as collected. In a column of numbers a
//! leaf may be written otherwise than the value (`34` and `34.0`): the value is released as it is written.

use std::sync::Arc;

use crate::error::{Error, ErrorKind, Result};
use crate::hierarchy::spelling::spelled_otherwise;
use crate::hierarchy::{Hierarchy, MAX_ATTRIBUTES};
use crate::table::Column;
use crate::table::label::EMPTY_TEXT;

/// One quasi-identifier attribute: a name, a hierarchy, and each data value's label at each level.
#[derive(Debug, Clone)]
pub struct Attribute {
    name: String,
    hierarchy: Hierarchy,
    /// `labels[level][value code]` is a label code of that level.
    labels: Vec<Vec<u32>>,
    /// What each level is called: its number before some levels were ruled out.
    numbers: Vec<u8>,
    /// The height before some levels were ruled out.
    full_height: u8,
}

impl Attribute {
    /// Ties `hierarchy`, which came from `origin`, to `column`.
    pub fn bind(column: &Column, hierarchy: Hierarchy, origin: &str) -> Result<Self> {
        let hierarchy = match column.dictionary().code(EMPTY_TEXT) {
            Some(_) => hierarchy.with_empty_text(),
            None => hierarchy,
        };
        let hierarchy = with_spellings(column, hierarchy);
        let leaves: Vec<Option<u32>> =
            column.dictionary().values().map(|value| hierarchy.labels(0).code(value)).collect();
        let n_missing = leaves.iter().filter(|leaf| leaf.is_none()).count();
        if n_missing > 0 {
            return Err(not_covered(column, &leaves, n_missing, origin));
        }
        let mut labels: Vec<Vec<u32>> = vec![leaves.into_iter().flatten().collect()];
        for level in 0..hierarchy.height() {
            let up = labels[usize::from(level)].iter().map(|&label| hierarchy.parent(level, label));
            labels.push(up.collect());
        }
        let full_height = hierarchy.height();
        let numbers = (0..=full_height).collect();
        Ok(Attribute { name: column.name().to_owned(), hierarchy, labels, numbers, full_height })
    }

    /// The same attribute with only these levels to choose from. Levels keep their numbers in reports.
    pub fn with_levels(self, numbers: &[u8]) -> Result<Self> {
        let mut numbers = numbers.to_vec();
        numbers.sort_unstable();
        numbers.dedup();
        let Some(&highest) = numbers.last() else {
            return Err(Error::input(format!("column `{}`: no level is allowed", self.name)));
        };
        if highest > self.full_height {
            return Err(Error::input(format!(
                "column `{}`: there is no level {highest}; the highest is {}",
                self.name, self.full_height
            )));
        }
        Ok(Attribute {
            hierarchy: self.hierarchy.restricted(&numbers),
            labels: numbers.iter().map(|&number| self.labels[usize::from(number)].clone()).collect(),
            numbers,
            ..self
        })
    }

    /// What users call a level: its number in the whole hierarchy.
    pub fn level_number(&self, level: u8) -> u8 {
        self.numbers[usize::from(level)]
    }

    /// The height of the whole hierarchy.
    pub fn full_height(&self) -> u8 {
        self.full_height
    }

    /// The column's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The hierarchy.
    pub fn hierarchy(&self) -> &Hierarchy {
        &self.hierarchy
    }

    /// The number of the highest level.
    pub fn height(&self) -> u8 {
        self.hierarchy.height()
    }

    /// How many distinct values the column has.
    pub fn n_values(&self) -> usize {
        self.labels[0].len()
    }

    /// The label code at `level` of each value code of the column.
    pub fn labels_at(&self, level: u8) -> &[u32] {
        &self.labels[usize::from(level)]
    }
}

/// The hierarchy with the leaves that values stand for, as the column writes them.
fn with_spellings(column: &Column, hierarchy: Hierarchy) -> Hierarchy {
    let names = hierarchy.labels(0);
    let spelled = spelled_otherwise(column, names.values(), |value| names.code(value).is_some());
    if spelled.is_empty() {
        return hierarchy;
    }
    let values = column.dictionary();
    let spelled: Vec<(&str, usize)> =
        spelled.into_iter().map(|(code, leaf)| (values.value(code), leaf)).collect();
    hierarchy.respelled(&spelled, |value| values.code(value).is_some())
}

fn not_covered(column: &Column, leaves: &[Option<u32>], n_missing: usize, origin: &str) -> Error {
    let is_missing = |&code: &u32| leaves[code as usize].is_none();
    let first = column.codes().iter().position(&is_missing);
    let n_rows = column.codes().iter().filter(|code| is_missing(code)).count();
    let is_one = |label: &str| column.dictionary().code(label).is_some_and(|code| is_missing(&code));
    let empty: Vec<&str> = [("", "the missing value"), (EMPTY_TEXT, "the empty text")]
        .into_iter()
        .filter_map(|(label, what)| is_one(label).then_some(what))
        .collect();
    let only_the_empty_cell = n_missing == empty.len();
    let what = if only_the_empty_cell {
        empty.join(" and ")
    } else {
        format!("{n_missing} of {} values", leaves.len())
    };
    // Where the records are elsewhere, nothing is said of them.
    let position = first
        .map_or(String::new(), |row_idx| format!(" ({n_rows} records, first in record {})", row_idx + 1));
    Error::input(format!("column `{}`: hierarchy `{origin}` has no row for {what}{position}", column.name()))
        .with_hint(if only_the_empty_cell {
            "a missing value is a value of its own: add a row that starts with an empty field"
        } else {
            "add a row for each value that occurs in the data"
        })
}

/// The quasi-identifier: its attributes in declared order.
///
/// # Invariants
/// Between 1 and [`MAX_ATTRIBUTES`] attributes with distinct names. A clone shares them.
#[derive(Debug, Clone)]
pub struct Attributes(Arc<[Attribute]>);

impl Attributes {
    /// A quasi-identifier of these attributes.
    pub fn new(attributes: Vec<Attribute>) -> Result<Self> {
        if attributes.is_empty() {
            return Err(Error::input("no column is a quasi-identifier")
                .with_hint("declare at least one column with role = \"quasi-identifier\""));
        }
        if attributes.len() > MAX_ATTRIBUTES {
            return Err(Error::new(
                ErrorKind::Limit,
                format!("{} quasi-identifiers; at most {MAX_ATTRIBUTES} are supported", attributes.len()),
            ));
        }
        for (at, attribute) in attributes.iter().enumerate() {
            if attributes[..at].iter().any(|earlier| earlier.name == attribute.name) {
                return Err(Error::input(format!("quasi-identifier `{}` is named twice", attribute.name)));
            }
        }
        Ok(Attributes(attributes.into()))
    }

    /// The heights of the hierarchies, in order.
    pub fn heights(&self) -> Vec<u8> {
        self.iter().map(Attribute::height).collect()
    }
}

impl std::ops::Deref for Attributes {
    type Target = [Attribute];

    fn deref(&self) -> &[Attribute] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Role;

    fn column(cells: &[&'static str]) -> Column {
        Column::from_cells("zip", Role::QuasiIdentifier, cells.iter().copied()).unwrap()
    }

    #[test]
    fn values_without_a_leaf_are_counted_and_located() {
        let error = Attribute::bind(&column(&["a", "b", "c", "b"]), Hierarchy::suppression(["a"]), "zip.csv");
        assert_eq!(
            error.unwrap_err().to_string(),
            "column `zip`: hierarchy `zip.csv` has no row for 2 of 3 values (3 records, first in record 2)"
        );
    }

    #[test]
    fn a_missing_value_needs_a_branch_of_its_own() {
        let error =
            Attribute::bind(&column(&["a", ""]), Hierarchy::suppression(["a"]), "zip.csv").unwrap_err();
        assert!(error.to_string().contains("no row for the missing value (1 records, first in record 2)"));
        assert!(Attribute::bind(&column(&["a", ""]), Hierarchy::suppression(["", "a"]), "zip.csv").is_ok());
    }

    #[test]
    fn the_empty_text_takes_the_branch_of_the_missing_value_and_is_not_the_missing_value() {
        let mut both = column(&["a", ""]);
        both.push_text("").unwrap();
        let error = Attribute::bind(&both, Hierarchy::suppression(["a"]), "zip.csv").unwrap_err();
        assert!(error.to_string().contains("no row for the missing value and the empty text (2 records"));
        let bound = Attribute::bind(&both, Hierarchy::suppression(["", "a"]), "zip.csv").unwrap();
        let bound = &bound;
        let labels = |level: u8| {
            bound.labels_at(level).iter().map(move |&label| bound.hierarchy().labels(level).value(label))
        };
        assert_eq!(labels(0).collect::<Vec<_>>(), ["a", "", EMPTY_TEXT]);
        assert_eq!(labels(1).collect::<Vec<_>>(), ["*"; 3]);
    }

    #[test]
    fn levels_can_be_ruled_out_and_keep_their_numbers_and_leaves() {
        let mut rows = crate::hierarchy::ExplicitHierarchy::new("zip", "zip.csv");
        for (line, path) in
            [["a", "ab", "abc", "*"], ["b", "ab", "abc", "*"], ["c", "c", "abc", "*"], ["d", "d", "d", "*"]]
                .into_iter()
                .enumerate()
        {
            rows.push(line as u64 + 1, path).unwrap();
        }
        let zip = Attribute::bind(&column(&["c", "b", "a"]), rows.finish().unwrap(), "zip.csv").unwrap();
        let some = zip.clone().with_levels(&[3, 1]).unwrap();
        assert_eq!((some.height(), some.full_height()), (1, 3));
        assert_eq!([some.level_number(0), some.level_number(1)], [1, 3]);
        let label =
            |level: u8, value: usize| some.hierarchy().labels(level).value(some.labels_at(level)[value]);
        assert_eq!([label(0, 0), label(0, 1), label(0, 2), label(1, 0)], ["c", "ab", "ab", "*"]);
        assert_eq!(some.hierarchy().n_leaves(), 4);
        assert_eq!(some.hierarchy().leaves_under(0, some.labels_at(0)[1]), 2);
        assert!(zip.clone().with_levels(&[]).is_err());
        let error = zip.with_levels(&[4]).unwrap_err().to_string();
        assert_eq!(error, "column `zip`: there is no level 4; the highest is 3");
    }

    #[test]
    fn a_quasi_identifier_has_at_least_one_attribute_and_no_name_twice() {
        assert!(Attributes::new(vec![]).is_err());
        let zip = Attribute::bind(&column(&["a"]), Hierarchy::suppression(["a"]), "zip.csv").unwrap();
        assert!(Attributes::new(vec![zip.clone(), zip.clone()]).is_err());
        assert_eq!(Attributes::new(vec![zip]).unwrap().heights(), [1]);
    }
}
