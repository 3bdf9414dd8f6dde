//! Does a value stand for a name that is written otherwise?
//!
//! A table that went through a data frame has `34.0` where its hierarchy has `34`. In a column whose values are all numbers, equal
//! numbers are one value; in any other column `34.0` and `34` are two texts. A number that several names are written for (`1` and `01`)
//! is none of them.

use crate::hash;
use crate::table::Column;
use crate::table::label::EMPTY_TEXT;
use crate::value::{Decimal, Notation};

/// The codes of the column's values that are no name but equal the number of one, each with the place of that name. In the order of
/// codes.
pub(crate) fn spelled_otherwise<'n>(
    column: &Column,
    names: impl Iterator<Item = &'n str>,
    is_name: impl Fn(&str) -> bool,
) -> Vec<(u32, usize)> {
    let is_empty = |value: &str| value.is_empty() || value == EMPTY_TEXT;
    let values = || (0..).zip(column.dictionary().values()).filter(|(_, value)| !is_empty(value));
    if values().all(|(_, value)| is_name(value)) {
        return Vec::new();
    }
    let notation = column.notation();
    let numbers: Option<Vec<(u32, Decimal)>> =
        values().map(|(code, value)| Some((code, notation.number(value)?))).collect();
    let Some(numbers) = numbers else {
        return Vec::new();
    };
    let mut places: hash::Map<Decimal, Option<usize>> = hash::Map::default();
    for (at, name) in names.enumerate() {
        if let Some(number) = notation.number(name).or_else(|| Notation::PLAIN.number(name)) {
            places.entry(number).and_modify(|place| *place = None).or_insert(Some(at));
        }
    }
    let strange = numbers.into_iter().filter(|(code, _)| !is_name(column.dictionary().value(*code)));
    strange.filter_map(|(code, number)| Some((code, (*places.get(&number)?)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Role;

    #[test]
    fn equal_numbers_are_one_value_where_all_are_numbers() {
        let spelled = |cells: &[&'static str], names: &[&'static str]| {
            let column = Column::from_cells("c", Role::Other, cells.iter().copied()).unwrap();
            spelled_otherwise(&column, names.iter().copied(), |value| names.contains(&value))
        };
        assert_eq!(spelled(&["34.0", "", "35", "3.6e1", "99"], &["35", "34", "36"]), [(0, 1), (3, 2)]);
        assert_eq!(spelled(&["34.0", "x"], &["34", "x"]), [], "not all are numbers");
        assert_eq!(spelled(&["1.0"], &["1", "01"]), [], "two names for one number");
        assert_eq!(spelled(&["34"], &["34"]), []);
    }
}
