//! Does an answer keep to the rules of its model?
//!
//! One function a model, each written from the model's definition (section 5 of the Incognito paper) alone: no validator
//! shares code with the search whose answers it checks. They look at levels and hierarchies; whether the policy holds is
//! another question.

mod attribute_suppression;
mod full_subtree;
mod unrestricted;
mod vectors;
mod cells;
mod boxes;

pub use attribute_suppression::check_attribute_suppression;
pub use boxes::{Overlap, check_mondrian, check_ordered_set};
pub use cells::{check_cell_generalization, check_cell_suppression};
pub use full_subtree::check_full_subtree;
pub use unrestricted::check_unrestricted;
pub use vectors::{check_full_subgraph, check_unrestricted_multi};

use crate::hierarchy::Attributes;
use crate::recoding::PerGroup;
use crate::table::{Column, Table};

/// A level and a label for each attribute.
type Image = Vec<(u8, u32)>;

/// The value of each record in each attribute, as labels at level 0.
fn values(recoding: &PerGroup, table: &Table, attributes: &Attributes) -> Result<Vec<Vec<u32>>, String> {
    if recoding.n_records() != table.n_rows() || recoding.n_attributes() != attributes.len() {
        return Err("the recoding is one of another table".to_owned());
    }
    let mut values = vec![Vec::with_capacity(attributes.len()); table.n_rows()];
    for attribute in attributes.iter() {
        let codes = table
            .column(attribute.name())
            .map(Column::codes)
            .ok_or_else(|| format!("the table has no column `{}`", attribute.name()))?;
        for (row, &code) in values.iter_mut().zip(codes) {
            row.push(attribute.labels_at(0)[code as usize]);
        }
    }
    Ok(values)
}

/// What a vector of values becomes at the levels of a group.
fn image(values: &[u32], levels: &[u8], attributes: &Attributes) -> Result<Image, String> {
    let column = |((at, &value), &level): ((usize, &u32), &u8)| {
        let attribute = &attributes[at];
        if level > attribute.height() {
            return Err(format!("column `{}` has no level {level}", attribute.name()));
        }
        Ok((level, attribute.hierarchy().generalize(value, 0, level)))
    };
    values.iter().enumerate().zip(levels).map(column).collect()
}

/// The image of each record; `None` for one that is left out.
fn images(
    recoding: &PerGroup,
    values: &[Vec<u32>],
    attributes: &Attributes,
) -> Result<Vec<Option<Image>>, String> {
    let one = |(record, values): (usize, &Vec<u32>)| {
        let group = recoding.group_of(record);
        group.map(|group| image(values, recoding.levels(group), attributes)).transpose()
    };
    values.iter().enumerate().map(one).collect()
}
